/* Memory cgroups, version 1 and 2: where a process's is, and what its files say.
 *
 * A figure whose file is not there (memory.peak before 5.19) is unknown, never 0. The parts are
 * made alike for both versions: anon, file without shmem, shmem, kernel. current and peak hold page
 * cache and kernel memory too, and are charged in batches of up to 64 pages a CPU.
 */
#ifndef RSSMON_CGROUP_H
#define RSSMON_CGROUP_H

#include "monitor/proc.h"

struct rssmon_cgroup {
    int version;    /* 1, 2; 0: none found */
    char path[512]; /* as in /proc/PID/cgroup */
    char dir[1024]; /* where its files are */
    int phase_peak; /* version 2: memory.peak opened for writing; a write resets what this
                       descriptor reads, and nobody else's. -1: not to be had */
};

struct rssmon_cgroup_figures {
    uint64_t current, peak, anon, file, mapped, shmem, kernel, swap, limit;
};
struct rssmon_cgroup_events {
    uint64_t oom_kill;       /* processes of this cgroup (version 2: and below) that were killed */
    uint64_t oom_kill_local; /* version 2: of this cgroup alone */
    uint64_t oom;            /* version 2: times that the limit was met without relief */
};

/* The memory cgroup of a process. mount: NULL to find the mount point in /proc/self/mountinfo, or
 * a folder (a test's). NOT_FOUND when there is none to be seen. */
rssmon_status rssmon_cgroup_of(struct rssmon_cgroup *cg, const struct rssmon_proc_root *root,
                               uint64_t pid, const char *mount, struct rssmon_error *err);
/* A cgroup by its path, as written in /proc/PID/cgroup or as a folder's whole name. */
rssmon_status rssmon_cgroup_by_path(struct rssmon_cgroup *cg, const struct rssmon_proc_root *root,
                                    const char *path, const char *mount, struct rssmon_error *err);
/* A systemd unit's: the folder of that name below the mount point ("x" is "x.service"). */
rssmon_status rssmon_cgroup_of_unit(struct rssmon_cgroup *cg, const struct rssmon_proc_root *root,
                                    const char *unit, const char *mount, struct rssmon_error *err);
void rssmon_cgroup_close(struct rssmon_cgroup *cg);

void rssmon_cgroup_read(const struct rssmon_cgroup *cg, struct rssmon_cgroup_figures *f);
void rssmon_cgroup_read_events(const struct rssmon_cgroup *cg, struct rssmon_cgroup_events *e);
/* Begins a private peak (per phase) and reads it; unknown where the kernel cannot. */
void rssmon_cgroup_phase_begin(struct rssmon_cgroup *cg);
uint64_t rssmon_cgroup_phase_peak(const struct rssmon_cgroup *cg);

/* each(context, pid) for the processes of this cgroup and those below it. -1 when it is gone. */
int rssmon_cgroup_each(const struct rssmon_cgroup *cg, int (*each)(void *context, uint64_t pid),
                       void *context);

#endif
