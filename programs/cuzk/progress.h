/* Progress of anything that takes longer than two seconds, on a terminal only: share done, rate and
 * time left, in one line of stderr that is overwritten and at last cleared.
 */
#ifndef CUZK_PROGRAM_PROGRESS_H
#define CUZK_PROGRAM_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *what; /* "checking the key" */
    const char *unit; /* "bytes" are shown with their units; others by name: "points" */
    double start, shown;
    bool terminal, visible;
};

void progress_start(struct progress *p, const char *what, const char *unit);
/* Called as often as one likes, from one thread. */
void progress_update(struct progress *p, uint64_t done, uint64_t total);
/* Clears the line. */
void progress_end(struct progress *p);

#endif
