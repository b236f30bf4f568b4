/* Finding what to watch. */
#ifndef RSSMON_TARGET_H
#define RSSMON_TARGET_H

#include "monitor/cgroup.h"

enum rssmon_target_kind {
    RSSMON_BY_PID,
    RSSMON_BY_PIDFILE,
    RSSMON_BY_MATCH, /* extended regular expression over command line, executable and name */
    RSSMON_BY_EXE,   /* the executable's path, or its base name, exactly */
    RSSMON_BY_CGROUP,
    RSSMON_BY_UNIT
};

struct rssmon_target {
    enum rssmon_target_kind kind;
    const char *value;
    int newest, all; /* what to do about several matches */
};

struct rssmon_match {
    uint64_t pid, start_ticks;
};

/* Finds processes: one, or with `all` up to capacity. NOT_FOUND, AMBIGUOUS (the message lists
 * them), ARGUMENT (a bad pattern). Never this process or its ancestors, whose command lines hold
 * the pattern. Not for RSSMON_BY_CGROUP and _BY_UNIT. */
rssmon_status rssmon_target_find(const struct rssmon_target *target,
                                 const struct rssmon_proc_root *root, struct rssmon_match *found,
                                 size_t capacity, size_t *count, struct rssmon_error *err);

#endif
