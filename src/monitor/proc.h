/* What /proc says about one process. Parsers work on bytes and are fuzzed; readers keep the opened
 * files, because an open file of /proc/PID never shows a later process of the same PID (it gives
 * ESRCH), and because a kept statm costs a third of one opened anew.
 *
 * RSS is taken from statm and status alone: since Linux 6.2 the copy in stat misses what the CPUs
 * have not yet added up. stat serves identity, faults and flags.
 */
#ifndef RSSMON_PROC_H
#define RSSMON_PROC_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "monitor/error.h"
#include "monitor/record.h"

/* Where /proc is: the real one, or a tree of files made by a test. */
struct rssmon_proc_root {
    int fd;
    int real; /* procfs: files can be kept open, pidfds exist */
    uint64_t page_size;
    char path[256];
};

rssmon_status rssmon_proc_open_root(struct rssmon_proc_root *root, const char *path,
                                    struct rssmon_error *err);
void rssmon_proc_close_root(struct rssmon_proc_root *root);

/* /proc/PID/stat. comm lies between the first '(' and the last ')': it may hold anything. */
struct rssmon_stat {
    uint64_t pid;
    char comm[64];
    char state;
    uint64_t ppid, session;
    uint64_t flags; /* PF_…: 0x40 forked and has not executed, 0x200000 kernel thread */
    uint64_t minor_faults, user_ticks, system_ticks;
    uint64_t threads, start_ticks;
    uint64_t start_stack; /* 0 or 1 when not to be seen; changes with exec */
    uint64_t exit_code;   /* wait status, of a zombie whose owner may see it; else unknown */
};
#define RSSMON_PF_FORKNOEXEC 0x40u
#define RSSMON_PF_KTHREAD 0x200000u

/* /proc/PID/statm, in pages as written. */
struct rssmon_statm {
    uint64_t size, resident, shared;
};

/* /proc/PID/status: bytes; unknown where the line is absent (a zombie has no VmRSS). */
struct rssmon_status_file {
    char state;
    uint64_t uid, threads, ns_pid; /* ns_pid: PID in the innermost namespace */
    uint64_t vsize, locked, hwm, rss, anon, file, shmem, page_tables, swap, hugetlb;
};

/* 0, or -1 when the text is not of that form; then the result is not to be used. */
int rssmon_stat_parse(const char *text, size_t n, struct rssmon_stat *out);
int rssmon_statm_parse(const char *text, size_t n, struct rssmon_statm *out);
int rssmon_status_parse(const char *text, size_t n, struct rssmon_status_file *out);

/* Reads at most capacity - 1 bytes of PATH under the root, NUL-terminates. Bytes, or -errno. */
ssize_t rssmon_proc_read(const struct rssmon_proc_root *root, const char *path, char *out,
                         size_t capacity);
/* The value after "KEY" and spaces in a text of lines, times 1024 where "kB" follows. 0 or -1. */
int rssmon_line_value(const char *text, const char *key, uint64_t *value);

/* What a process is, as far as its memory can be seen. */
enum rssmon_life {
    RSSMON_LIFE_RUNS,
    RSSMON_LIFE_STOPPED,
    RSSMON_LIFE_ZOMBIE_LEADER, /* the leader exited, threads go on: read from one of them */
    RSSMON_LIFE_EXITING,       /* no memory map any more, not yet gone */
    RSSMON_LIFE_ZOMBIE,
    RSSMON_LIFE_KERNEL, /* a kernel thread: never has one */
    RSSMON_LIFE_GONE,
    RSSMON_LIFE_UNREADABLE
};
const char *rssmon_life_name(enum rssmon_life life);

struct rssmon_process {
    uint64_t pid, start_ticks;
    const struct rssmon_proc_root *root;
    int dir, statm, status; /* kept files, or -1 */
    uint64_t thread;        /* the thread that is read when the leader is dead; 0: the leader */
    enum rssmon_life life;
    struct rssmon_stat stat;
    struct rssmon_status_file s; /* of the last good look */
    uint64_t rss;                /* bytes, of the last good look */
    uint64_t hwm;                /* running maximum of VmHWM */
    uint64_t peak;               /* running maximum of both */
    uint64_t exe_device, exe_inode;
    uint64_t executions; /* exec calls noticed */
    char exe[256];
    char command[1024];
};

/* Opens process `pid`; fails with GONE when there is none, PERMISSION when it hides. With
 * start_ticks != 0 only that incarnation is accepted. Nothing is allocated. */
rssmon_status rssmon_process_open(struct rssmon_process *p, const struct rssmon_proc_root *root,
                                  uint64_t pid, uint64_t start_ticks, struct rssmon_error *err);
void rssmon_process_close(struct rssmon_process *p);

/* Reads statm alone; sets rss and peak. Returns what it is; figures change only for RUNS, STOPPED
 * and ZOMBIE_LEADER. */
enum rssmon_life rssmon_process_quick(struct rssmon_process *p);
/* Reads status alone: everything but identity, faults and CPU time. Goes on to a full look when the
 * kernel's high water mark fell, which exec does. */
enum rssmon_life rssmon_process_memory(struct rssmon_process *p);
/* Reads stat and status; sets everything, notices exec (executions grows, names are read again). */
enum rssmon_life rssmon_process_full(struct rssmon_process *p);

static inline int rssmon_life_measured(enum rssmon_life l)
{
    return l <= RSSMON_LIFE_ZOMBIE_LEADER;
}

/* Calls each(context, pid) for every process under the root until it returns non-zero. */
int rssmon_proc_each(const struct rssmon_proc_root *root, int (*each)(void *context, uint64_t pid),
                     void *context);
/* The children of a process: by task/TID/children, or -1 where the kernel has no such file. */
int rssmon_proc_children(const struct rssmon_process *p, int (*each)(void *context, uint64_t pid),
                         void *context);

/* Command line with NULs as spaces; exe link. Empty when they cannot be read. */
void rssmon_proc_command(const struct rssmon_proc_root *root, uint64_t pid, char *out,
                         size_t capacity);
void rssmon_proc_exe(const struct rssmon_proc_root *root, uint64_t pid, char *out, size_t capacity);

/* Sum of Pss of smaps_rollup (walks page tables under the target's lock). 0 or -errno. */
int rssmon_proc_pss(const struct rssmon_process *p, uint64_t *bytes);

#endif
