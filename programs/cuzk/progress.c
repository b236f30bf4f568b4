/* A progress line on a terminal. */
#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "output.h"

void progress_start(struct progress *p, const char *what, const char *unit)
{
    *p = (struct progress){.what = what, .unit = unit, .start = cuzk_os_seconds()};
    p->terminal = isatty(STDERR_FILENO) == 1;
}

void progress_update(struct progress *p, uint64_t done, uint64_t total)
{
    if (!p->terminal)
        return;
    double now = cuzk_os_seconds(), passed = now - p->start;
    if (passed < 2 || now - p->shown < 0.25 || total == 0 || done == 0)
        return;
    p->shown = now;
    p->visible = true;
    char rate[48], left[32];
    double per_second = (double)done / passed;
    if (strcmp(p->unit, "bytes") == 0)
        (void)format_bytes(rate, sizeof rate, (uint64_t)per_second);
    else if (per_second >= 10)
        (void)snprintf(rate, sizeof rate, "%.0f %s", per_second, p->unit);
    else
        (void)snprintf(rate, sizeof rate, "%.2f %s", per_second, p->unit);
    double rest = done < total ? (double)(total - done) / per_second : 0;
    (void)fprintf(stderr, "\r%s: %.1f %%, %s/s, %s left\033[K", p->what,
                  100 * (double)done / (double)total, rate,
                  format_seconds(left, sizeof left, rest));
    (void)fflush(stderr);
}

void progress_end(struct progress *p)
{
    if (p->visible)
        (void)fprintf(stderr, "\r\033[K");
    p->visible = false;
}
