/* A whole log in memory, for looking at it afterwards: the curve (sample, ring and peak records put
 * in order of time), phases, gaps, the program's own account, processes, and the verdict; where the
 * log has no verdict (the monitor was killed), the figures are worked out from the records that are
 * there, and `complete` is false.
 *
 * Owner: the caller; all strings and arrays belong to the history.
 */
#ifndef RSSMON_HISTORY_H
#define RSSMON_HISTORY_H

#include <stdbool.h>

#include "monitor/log.h"

struct rssmon_point {
    double t; /* seconds since the header's moment */
    uint64_t bytes;
};

struct rssmon_history_phase {
    char *label;
    double from, to; /* `to` is the end of the log for a phase that was not ended */
    uint64_t peak, mean;
    uint64_t cg_peak;    /* RSSMON_UNKNOWN where not known */
    double seconds_seen; /* time that `mean` is over */
};

struct rssmon_history_mark {
    char *label;
    double t;
};

struct rssmon_history_gap {
    double from, to;
    char *cause;
};

struct rssmon_history_process {
    char *name, *command, *death;
    uint64_t pid, peak, code; /* RSSMON_UNKNOWN where not known */
    double from, to;
};

struct rssmon_history {
    char *path;
    char *name, *command, *host, *kernel, *tool, *scope, *counter;
    char *tags; /* "name=value name=value" or NULL */
    uint64_t pid, error_bytes, mem_total;
    int64_t start_wall_ns; /* RSSMON_NO_TIME where not known */
    uint64_t interval_us;

    struct rssmon_point *points; /* by time */
    size_t point_count, point_capacity;
    struct rssmon_point *account;
    size_t account_count, account_capacity;
    struct rssmon_history_phase *phases;
    size_t phase_count, phase_capacity;
    struct rssmon_history_mark *marks;
    size_t mark_count, mark_capacity;
    struct rssmon_history_gap *gaps;
    size_t gap_count, gap_capacity;
    struct rssmon_history_process *processes;
    size_t process_count, process_capacity;

    bool complete;
    uint64_t peak, peak_error; /* peak 0 and no points: nothing was seen */
    double peak_at;            /* NAN where not known */
    char *peak_source;
    uint64_t mean, looks, samples;
    double slope, duration, monitor_cpu; /* NAN where not known */
    double over;                         /* seconds over the limit, NAN without one */
    uint64_t over_bytes;
    char *death, *evidence, *victim;
    uint64_t code, lost;
    struct rssmon_log_statistics read; /* damage found while reading */
};

/* Reads a log, or the segments of one. On failure *out is NULL. */
rssmon_status rssmon_history_read(struct rssmon_history **out, const char *path,
                                  struct rssmon_error *err);
rssmon_status rssmon_history_read_memory(struct rssmon_history **out, const char *name,
                                         const void *data, size_t size, struct rssmon_error *err);
void rssmon_history_free(struct rssmon_history *h); /* NULL is fine */

/* Adds the account records of another file (the engine's own) to h's, moved by the difference of
 * the two headers' wall clocks. */
rssmon_status rssmon_history_add_account(struct rssmon_history *h, const char *path,
                                         struct rssmon_error *err);

#endif
