/* The records of a log, as doc/formats/rssmon-log.md defines them: one struct a kind, and for each
 * kind a table of its fields from which both the writer and the reader work, so that they cannot
 * drift apart.
 *
 * Sizes are bytes, counts plain; RSSMON_UNKNOWN (never 0) says that a figure was not to be had, and
 * the field is then absent from the line. Times: `t_ns` is nanoseconds of CLOCK_MONOTONIC since the
 * header's moment, `suspended_ns` what CLOCK_BOOTTIME has gained on it since (0 without suspend, so
 * t_ns + suspended_ns is boot time elapsed), `wall_ns` CLOCK_REALTIME since the epoch. Strings of
 * records that were read belong to the reader and live until its next call; NULL when absent.
 */
#ifndef RSSMON_RECORD_H
#define RSSMON_RECORD_H

#include <stddef.h>
#include <stdint.h>

#define RSSMON_UNKNOWN UINT64_MAX
#define RSSMON_NO_TIME INT64_MIN
#define RSSMON_LOG_VERSION 1

enum rssmon_kind {
    RSSMON_HEADER, /* opens a segment: units, machine, target */
    RSSMON_SAMPLE, /* one look at the target, with the envelope since the last sample record */
    RSSMON_RING,   /* quick samples around a peak or the end; older than the record before it */
    RSSMON_PEAK,   /* a new peak: its parts, at one instant */
    RSSMON_MARK,   /* marker or phase boundary */
    RSSMON_GAP,    /* time in which nothing was seen */
    RSSMON_PROC,   /* one process: started, executed another program, ended, a row of the tree */
    RSSMON_STATE,  /* why there is no figure: exiting, zombie leader … */
    RSSMON_GENERATION, /* the named daemon's next life */
    RSSMON_SEGMENT,    /* closes a segment: the log goes on in another file */
    RSSMON_ALERT,      /* a limit was crossed */
    RSSMON_ACCOUNT,    /* the program's own account of its memory */
    RSSMON_NOTE,       /* the monitor about itself: records lost, something not readable */
    RSSMON_PHASE,      /* one phase's figures, before the verdict */
    RSSMON_VERDICT,    /* the end: peak, death, own cost */
    RSSMON_KINDS
};

struct rssmon_name_value { /* tags */
    const char *name, *value;
};

struct rssmon_name_bytes { /* an account's purposes */
    const char *name;
    uint64_t bytes;
};

struct rssmon_header {
    uint64_t version;
    const char *tool;   /* "rssmon 0.1.0" */
    const char *log_id; /* random, the same in all segments of one run */
    uint64_t segment;   /* 1, 2 … */
    const char *unit;   /* "bytes" */
    const char *kernel, *arch, *host, *boot_id;
    uint64_t cpus, page_size, mem_total, swap_total;
    uint64_t mono_ns, boot_ns; /* the clocks at t = 0 */
    uint64_t utc_offset_s;     /* seconds east of UTC, plus 86400 so that it is not negative */
    const char *scope;         /* "process", "tree" or "cgroup" */
    const char *name;          /* of the target: comm of its first life */
    uint64_t pid, start_ticks, uid;
    const char *exe, *command; /* command: arguments joined by a space */
    const char *pid_namespace; /* of the target, "pid:[4026531836]" */
    const char *cgroup;        /* path; with it cgroup_version 1 or 2 */
    uint64_t cgroup_version;
    uint64_t monitor_pid;
    const char *control;     /* name of the socket that takes markers, as `rssmon mark` uses it */
    const char *counter;     /* where rss is read: "statm", "status", "smaps_rollup", "cgroup" */
    const char *error_model; /* "exact", "batch", "thread-cache", "unknown": MONITOR facts 3.1 */
    uint64_t error_bytes;    /* bound of one rss figure's error on this kernel */
    uint64_t interval_us;    /* shortest time between two looks */
    const struct rssmon_name_value *tags;
    size_t tag_count;
};

struct rssmon_sample {
    uint64_t rss;       /* of the scope; in a tree, shared memory counted once */
    uint64_t low, high; /* least and greatest rss seen since the last sample record */
    uint64_t looks;     /* how many looks that envelope stands for */
    uint64_t rss_sum;   /* tree: plain sum over processes; absent when it equals rss */
    uint64_t hwm;       /* running maximum of VmHWM (root process; a tree's sum is no peak) */
    uint64_t anon, file, shmem;
    uint64_t swap, page_tables, hugetlb, locked;
    uint64_t pss; /* only with --pss */
    uint64_t vsize;
    uint64_t processes, threads;
    uint64_t cg_current, cg_peak, cg_anon, cg_file, cg_shmem, cg_kernel, cg_swap, cg_oom_kill;
    uint64_t psi_some_us, psi_full_us; /* totals of stall since boot, microseconds */
    uint64_t mem_available;
    uint64_t gpu;              /* device memory of the scope's processes, all devices */
    uint64_t gpu_unattributed; /* device memory in use that no visible process accounts for */
    uint64_t cpu_us;           /* user + system time of the root process */
    const char *state;         /* absent when it runs; "zombie-leader", "stopped" */
};

struct rssmon_ring {
    const int64_t *t_ns; /* rising */
    const uint64_t *rss;
    size_t count;
    const char *why; /* "peak" or "end" */
};

struct rssmon_peak {
    uint64_t rss;              /* the peak so far */
    const char *source;        /* "rss", "hwm", "cgroup", "rusage": what showed it */
    int64_t at_ns;             /* when; for hwm the middle of the interval */
    int64_t from_ns, to_ns;    /* the looks between which it happened */
    uint64_t rss_from, rss_to; /* rss at those two looks */
    uint64_t anon, file, shmem, swap, page_tables, hugetlb, cg_current, gpu;
    uint64_t rss_sum, processes;
};

struct rssmon_mark {
    const char *label;
    const char
        *action; /* "point", "begin", "end": a phase runs from begin to end or the next begin */
    const char *source; /* "command", "fifo", "pattern", "signal" */
    const char *text;   /* the matched line, or what the caller added */
};

struct rssmon_gap {
    const char *cause; /* "suspend", "clock-step", "missed-deadline", "stopped" */
    int64_t from_ns;   /* the look before; the record's own t is the look after */
    int64_t length_ns; /* time unseen; for clock-step the step of the wall clock, signed */
};

struct rssmon_proc {
    const char *event; /* "start", "exec", "exit", "left" (the tree), "row" */
    uint64_t pid, ppid, start_ticks, uid;
    const char *name, *command;
    uint64_t rss, peak; /* peak: the greatest of its rss and VmHWM that was seen */
    uint64_t anon, file, shmem, swap;
    uint64_t threads;
    const char *death; /* exit: as rssmon_verdict.death, when known */
    uint64_t code;
};

struct rssmon_state {
    uint64_t pid;
    const char *state; /* "exiting", "zombie", "zombie-leader", "no-mm", "kernel-thread",
                          "stopped", "running", "unreadable" */
    const char *text;
};

struct rssmon_generation {
    uint64_t generation; /* 2 for the second life */
    uint64_t pid, start_ticks;
    const char *exe, *command;
};

struct rssmon_segment {
    uint64_t segment; /* of the file that ends here */
    const char *next; /* base name of the file that goes on */
};

struct rssmon_alert {
    const char *limit; /* the option's text, "--max 8G" */
    uint64_t value, bound;
    const char *action; /* the command started, if any */
    uint64_t code;      /* its exit code when known */
};

struct rssmon_account {
    uint64_t total;
    uint64_t high; /* the program's own high water, when it says so */
    const char *source;
    const struct rssmon_name_bytes *purposes;
    size_t purpose_count;
};

struct rssmon_note {
    const char *topic; /* "disk-full", "permission", "limit", "gpu", "cost" … */
    const char *text;
    uint64_t count; /* records lost, or times */
};

struct rssmon_phase {
    const char *label;
    int64_t from_ns, to_ns;
    uint64_t peak, mean, cg_peak;
    uint64_t looks;
    const char *source; /* what showed the peak: "rss", "hwm", "cgroup" */
};

struct rssmon_verdict {
    uint64_t peak;       /* bytes */
    uint64_t peak_error; /* bound on its error */
    const char *peak_source;
    int64_t peak_at_ns;
    uint64_t mean;        /* time-weighted */
    double slope;         /* bytes a second, least squares over the second half */
    int64_t duration_ns;  /* from the first look to the last */
    uint64_t looks;       /* quick ones included */
    uint64_t samples;     /* sample records */
    uint64_t over;        /* with --max: bound */
    int64_t over_ns;      /* and the time above it */
    const char *death;    /* "exit", "signal", "oom_kernel", "oom_cgroup", "unknown", "alive" */
    uint64_t code;        /* exit code or signal number */
    const char *evidence; /* one sentence; says which counters moved, or that none did */
    uint64_t victim_pid;  /* OOM: whom the kernel killed */
    const char *victim;
    int64_t monitor_cpu_ns; /* own user + system time */
    uint64_t monitor_rss, monitor_wakeups;
    uint64_t look_median_ns, look_p99_ns; /* time of one look */
    uint64_t lost;                        /* records that could not be written */
    uint64_t generation;
};

struct rssmon_record {
    enum rssmon_kind kind;
    int64_t t_ns, wall_ns, suspended_ns;
    uint64_t line; /* reader: line in its file, from 1 */
    union {
        struct rssmon_header header;
        struct rssmon_sample sample;
        struct rssmon_ring ring;
        struct rssmon_peak peak;
        struct rssmon_mark mark;
        struct rssmon_gap gap;
        struct rssmon_proc proc;
        struct rssmon_state state;
        struct rssmon_generation generation;
        struct rssmon_segment segment;
        struct rssmon_alert alert;
        struct rssmon_account account;
        struct rssmon_note note;
        struct rssmon_phase phase;
        struct rssmon_verdict verdict;
    } u;
};

/* A record of this kind with every figure unknown, every time absent, every string NULL. */
void rssmon_record_init(struct rssmon_record *r, enum rssmon_kind kind);

const char *rssmon_kind_name(enum rssmon_kind kind); /* "sample" */
/* RSSMON_KINDS when there is none of that name. */
enum rssmon_kind rssmon_kind_of_name(const char *name);

/* The fields of each kind, for the writer and the reader. */
enum rssmon_field_type { RSSMON_U64, RSSMON_NS, RSSMON_DOUBLE, RSSMON_STRING };
struct rssmon_field {
    const char *name;
    size_t offset; /* in struct rssmon_record */
    enum rssmon_field_type type;
};
const struct rssmon_field *rssmon_fields(enum rssmon_kind kind, size_t *count);

#endif
