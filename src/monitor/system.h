/* Facts about the machine, the clocks, and how exact this kernel's RSS counters are. */
#ifndef RSSMON_SYSTEM_H
#define RSSMON_SYSTEM_H

#include <poll.h>
#include <stdint.h>

#include "monitor/proc.h"

struct rssmon_now {
    int64_t mono, boot, wall; /* nanoseconds of CLOCK_MONOTONIC, _BOOTTIME, _REALTIME */
};

/* Time, and waiting. A test puts its own in, so that a day passes in a second. */
struct rssmon_clock {
    void *context;
    void (*now)(void *context, struct rssmon_now *now);
    /* As poll(2), until the deadline of CLOCK_MONOTONIC. */
    int (*wait)(void *context, struct pollfd *fds, unsigned count, int64_t deadline_ns);
    /* CPU time of the calling thread, ns: what looks cost sets their pace. */
    int64_t (*cpu)(void *context);
};
extern const struct rssmon_clock rssmon_real_clock;

/* Takes the numbers 0 to 2 where whoever started us closed them, with what can neither be read nor
 * written: the next file would get that number, and be written to as standard output or error. */
void rssmon_hold_streams(void);

struct rssmon_system {
    char kernel[65], arch[65], host[65], boot_id[40];
    uint64_t cpus, page_size, mem_total, swap_total;
    unsigned version_major, version_minor;
};
void rssmon_system_read(struct rssmon_system *s, const struct rssmon_proc_root *root);

/* The model of record.h's header.error_model, and the bound in bytes of one RSS figure. */
const char *rssmon_error_model(unsigned major, unsigned minor, uint64_t cpus, uint64_t threads,
                               uint64_t page_size, uint64_t *bound);

/* meminfo's MemAvailable; totals of pressure/memory in microseconds; vmstat's oom_kill. Unknown
 * where the file or line is not there. */
struct rssmon_machine {
    uint64_t mem_available, psi_some_us, psi_full_us, oom_kill;
};
void rssmon_machine_read(struct rssmon_machine *m, const struct rssmon_proc_root *root);

#endif
