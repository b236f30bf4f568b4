/* Starting the command that is to be watched: held back until its log exists, then executed with
 * the signals, terminal and files that rssmon itself was given.
 */
#ifndef RSSMON_LAUNCH_H
#define RSSMON_LAUNCH_H

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

#include "monitor/error.h"

struct rssmon_child {
    pid_t pid;
    int go;     /* a byte lets it execute; closing it ends it */
    int failed; /* carries errno when exec fails, ends when it succeeds */
};

/* Forks a child that waits. mask: the signal mask it is to have. */
rssmon_status rssmon_launch(struct rssmon_child *child, char *const *argv, const sigset_t *mask,
                            struct rssmon_error *err);
/* Lets it execute; waits for the outcome. On failure it has been reaped. NOT_FOUND or PERMISSION
 * when the command cannot be executed. */
rssmon_status rssmon_launch_go(struct rssmon_child *child, const char *name,
                               struct rssmon_error *err);
/* Ends a child that has not been let go, and reaps it. */
void rssmon_launch_cancel(struct rssmon_child *child);

/* Runs `sh -c command` beside, with RSSMON_… variables as given ("NAME=value", NULL-ended). Its
 * PID, or -1. The caller reaps it. */
pid_t rssmon_run_action(const char *command, char *const *environment);

/* Keeps the monitor alive under memory pressure where it is allowed to: locked pages, a lower OOM
 * score (a launched command gets the old one back). */
void rssmon_protect_self(void);

#endif
