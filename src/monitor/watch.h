/* Watching one target from before its start to after its end: the loop that everything else serves.
 *
 * Looks are quick (statm of each member) and follow each other closely while memory moves, rarely
 * when it doesn't; full looks (status, stat, cgroup …) come at their own pace. Intervals stretch
 * when a look costs much, so that the monitor stays within its budget of CPU time. Each sample
 * record carries the envelope of the looks since the last, and the kernel's high water mark tells
 * of what fell between two looks.
 */
#ifndef RSSMON_WATCH_H
#define RSSMON_WATCH_H

#include <stdio.h>

#include "monitor/gpu.h"
#include "monitor/log.h"
#include "monitor/marks.h"
#include "monitor/system.h"
#include "monitor/target.h"

enum { RSSMON_ALERTS_MAX = 8 };

struct rssmon_alert_config {
    const char *text;   /* the option as given */
    uint64_t bound;     /* bytes */
    int available;      /* the machine's MemAvailable below it; else RSS above it */
    const char *action; /* command for sh, or NULL */
};

struct rssmon_watch_config {
    /* surroundings; NULL or 0 for the real ones */
    const char *proc_path;    /* "/proc" */
    const char *cgroup_mount; /* found in mountinfo */
    const char *kmsg_path;    /* "/dev/kmsg" */
    const char *gpu_library;  /* libnvidia-ml.so.1 */
    const struct rssmon_clock *clock;

    /* target: a command, or something to find */
    char *const *command;
    struct rssmon_target target;
    int tree, until_all, wait, follow, pss, gpu;
    int64_t duration_ns; /* 0: until it ends */

    int64_t interval_ns;     /* shortest time between looks; 0: 1 ms */
    int64_t max_interval_ns; /* longest; 0: 200 ms */
    int64_t log_interval_ns; /* between sample records; 0: adaptive */

    const char
        *log_path; /* template with {name} {pid} {time} {host} {tag} {tag:NAME}; NULL: none */
    struct rssmon_log_options log;
    const struct rssmon_name_value *tags;
    size_t tag_count;

    struct rssmon_marks_config marks;
    struct rssmon_alert_config alerts[RSSMON_ALERTS_MAX];
    size_t alert_count;

    FILE *plain; /* lines like "02:24:19 RSS=666.4 GiB", or NULL */
    int64_t plain_interval_ns;
    FILE *messages; /* what a person should know, or NULL */
};

struct rssmon_watch_result {
    uint64_t peak, peak_error;
    char death[16];
    uint64_t code;
    char log_path[1024]; /* as named by the template */
    int command_status;  /* wait status of the command; -1 without one */
    int limit_crossed;
    int generations;
    uint64_t log_lost;
};

/* Blocks until the target ended (or a signal, or the duration). Signals are blocked in this thread
 * meanwhile and taken through a descriptor. */
rssmon_status rssmon_watch(const struct rssmon_watch_config *config,
                           struct rssmon_watch_result *result, struct rssmon_error *err);

/* Fills the template of a log's name; characters that are awkward in names become '_'. 0 or -1 when
 * it is too long or holds an unknown placeholder. */
int rssmon_log_name(const char *template, const char *name, uint64_t pid, int64_t wall_ns,
                    const char *host, const struct rssmon_name_value *tags, size_t tag_count,
                    char *out, size_t capacity);

#endif
