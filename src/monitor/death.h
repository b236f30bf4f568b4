/* How a process died, for one that the monitor need not have started, with the evidence.
 *
 * Sources, in order of trust: the wait status (own child), the pidfd's exit information (6.15 and
 * later, once the parent has reaped), the exit code in /proc of a zombie. Whether a SIGKILL was the
 * kernel's: the kernel log's line, the cgroup's oom_kill counter, the machine's oom_kill counter;
 * each is compared with its value when watching began. When none moved, the kill came from
 * elsewhere.
 */
#ifndef RSSMON_DEATH_H
#define RSSMON_DEATH_H

#include "monitor/cgroup.h"
#include "monitor/system.h"

/* The newest kill that the kernel log tells of. */
struct rssmon_kill {
    uint64_t pid; /* 0: none seen */
    char name[64];
    int in_cgroup; /* a cgroup's limit; else the machine was out of memory */
    char cgroup[256];
    char line[400]; /* the kernel's "Killed process" line */
};

enum { RSSMON_KILLS = 16 };

struct rssmon_evidence {
    int kmsg; /* kernel log at its end, or -1 */
    struct rssmon_machine before;
    struct rssmon_cgroup_events cg_before;
    struct rssmon_kill kills[RSSMON_KILLS]; /* a ring of the newest */
    uint64_t kill_count;
    struct rssmon_kill partial; /* "oom-kill:" line seen, "Killed process" not yet */
};

void rssmon_evidence_begin(struct rssmon_evidence *e, const struct rssmon_proc_root *root,
                           const struct rssmon_cgroup *cg, const char *kmsg_path);
void rssmon_evidence_end(struct rssmon_evidence *e);
/* Takes in what the kernel log has since; new kills found. */
unsigned rssmon_evidence_poll(struct rssmon_evidence *e);
/* One line of the kernel log (text after "prio,seq,time,flag;"). 1 when it completes a kill. */
int rssmon_evidence_line(struct rssmon_evidence *e, const char *text);
const struct rssmon_kill *rssmon_evidence_kill_of(const struct rssmon_evidence *e, uint64_t pid);

int rssmon_pidfd_open(uint64_t pid); /* or -1 with errno */
/* Wait status of a dead process through its pidfd; unknown while its parent has not reaped it, or
 * on kernels that cannot say. */
uint64_t rssmon_pidfd_status(int pidfd);

struct rssmon_death {
    const char *kind; /* as verdict.death */
    uint64_t code;
    uint64_t victim_pid;
    char victim[64];
    char evidence[900];
};

/* status: wait status, or unknown. pids: the processes that were watched (the first is the root),
 * to recognise a victim among them. machine: the counters now; cg may have version 0. */
void rssmon_death_judge(struct rssmon_death *d, const struct rssmon_evidence *e, uint64_t status,
                        const char *status_source, const uint64_t *pids, size_t pid_count,
                        const struct rssmon_machine *machine, const struct rssmon_cgroup *cg,
                        const struct rssmon_cgroup_events *cg_now);

#endif
