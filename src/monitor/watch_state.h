/* The state of one watch, shared by watch.c (the loop), watch_look.c (looks and what is written of
 * them) and watch_end.c (the verdict).
 */
#ifndef RSSMON_WATCH_STATE_H
#define RSSMON_WATCH_STATE_H

#include <sys/resource.h>

#include "monitor/death.h"
#include "monitor/figures.h"
#include "monitor/launch.h"
#include "monitor/tree.h"
#include "monitor/watch.h"

enum { PHASES_MAX = 256, PIDS_MAX = 512 };

struct phase {
    char label[201];
    int64_t from_ns, to_ns; /* to_ns: RSSMON_NO_TIME while it runs */
    uint64_t peak, cg_peak, looks;
    const char *source;
    double area, time;
};

struct peak {
    uint64_t rss; /* 0: none yet */
    const char *source;
    int64_t at_ns, from_ns, to_ns; /* to_ns: RSSMON_NO_TIME until the look after */
    uint64_t rss_from, rss_to;
    struct rssmon_totals parts;
    uint64_t parts_rss; /* the total that the parts belong to; 0: none */
    uint64_t cg_current, gpu;
    uint64_t ring_index;
    int pending; /* grown since it was last written */
    uint64_t logged, ring_logged;
};

struct watch {
    const struct rssmon_watch_config *c;
    struct rssmon_watch_result *result;
    const struct rssmon_clock *clock;
    struct rssmon_proc_root root;
    struct rssmon_system system;
    struct rssmon_now base, now, last;
    int64_t t; /* now, since base */

    struct rssmon_cgroup cgroup;
    struct rssmon_cgroup_figures cg;
    struct rssmon_cgroup_events cg_events;
    struct rssmon_machine machine;
    struct rssmon_tree tree;
    struct rssmon_evidence evidence;
    struct rssmon_marks *marks;
    struct rssmon_gpu *gpu;
    struct rssmon_log *log;
    uint64_t gpu_bytes, gpu_open, pss;
    int cgroup_scope;

    /* the root */
    uint64_t pid, start_ticks;
    int pidfd, signals, actions; /* actions: alert commands not yet reaped */
    struct rssmon_child child;
    int launched, reaped, child_status;
    struct rusage child_usage;
    uint64_t before_exec, usage_error; /* see use_resource_usage */
    int children_seen;
    int root_dead; /* its pidfd said so */
    enum rssmon_life life;
    uint64_t generation;
    uint64_t pids[PIDS_MAX]; /* that were watched in this generation, root first; a ring after it */
    size_t pid_count;

    /* figures of this generation */
    int64_t begin_ns, end_ns;
    uint64_t looks, samples;
    uint64_t rss; /* of the last look that saw any; 0 before */
    int64_t rss_ns;
    int64_t hwm_ns; /* when the high water mark was read last */
    uint64_t hwm_rss;
    uint64_t low, high, envelope_looks;
    struct peak peak;
    struct rssmon_quick_ring ring;
    struct rssmon_series series;
    struct rssmon_durations durations;
    int64_t over_ns;
    uint64_t uncertain; /* of the tree at its peak */
    struct phase phases[PHASES_MAX];
    size_t phase_count;
    int phase_runs;
    int alert_over[RSSMON_ALERTS_MAX];

    /* pace */
    int64_t interval, flat_since, due, full_due, dirty_due, stat_due, sample_due, refresh_due,
        heavy_due, gpu_due, pss_due, marks_due, plain_due, row_due, budget_due;
    double stretch;    /* of all intervals, by the budget of CPU time */
    double quick_cost; /* ns, smoothed */
    int64_t budget_cpu;
    uint64_t wakeups;
    uint64_t suppressed; /* process records left out to keep the log small */
    uint64_t kills_told;
    int continued, stop, log_broken, marks_ready, sum_told, pss_told;
    int64_t looked_at; /* mono of the last look, for gaps */
};

/* watch_look.c */
void watch_log(struct watch *w, struct rssmon_record *r); /* sets the times, appends */
int watch_room(const struct watch *w, uint64_t bytes);    /* whether the log may grow by so much */
void watch_note(struct watch *w, const char *topic, const char *text, uint64_t count);
void watch_look(struct watch *w);
void watch_sample(struct watch *w);
void watch_settle_peak(struct watch *w, int at_end);
void watch_process_record(struct watch *w, const char *event, const struct rssmon_member *m);
void watch_mark(struct watch *w, struct rssmon_record *r);
void watch_phase_end(struct watch *w);
void watch_reset_figures(struct watch *w);
void watch_pace(struct watch *w, int moved);

/* watch_end.c */
void watch_verdict(struct watch *w, int alive);

#endif
