/* For the one file of a program that has main, where the program draws: fontconfig, which cairo's
 * text needs, keeps what it has read until the process ends. LeakSanitizer is told that it isn't
 * ours.
 */
#ifndef RSSMON_KNOWN_LEAKS_H
#define RSSMON_KNOWN_LEAKS_H

#ifdef CUZK_SANITIZED
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libfontconfig\n";
}
#endif

#endif
