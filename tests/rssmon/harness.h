/* For the situations: targets that do as they are told, rssmon beside them, and its log as one
 * structure. A target is a forked child that runs a function; it meets the test at gates.
 */
#ifndef RSSMON_HARNESS_H
#define RSSMON_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/types.h>

#include "monitor/log.h"

#define MIB (UINT64_C(1) << 20)

/* ---- targets ---- */

struct target {
    pid_t pid;
    int gate;   /* the test opens it by a byte … */
    int signal; /* … and the target tells that it came there */
};

/* Runs body(argument) in a child; its return is the exit code. */
struct target target_start(int (*body)(const void *argument), const void *argument);
/* In the target: tells the test that this point is reached and waits to be let on. */
void target_gate(void);
/* In the test: waits until the target stands at its gate; lets it on. */
void target_wait(const struct target *t);
void target_go(const struct target *t);
/* Reaps it; its wait status. Closes the pipes. */
int target_end(struct target *t);

/* Maps and touches memory; flags as of mmap (0: private, anonymous). Never optimised away. */
volatile char *touch(size_t bytes, int flags);
void untouch(volatile char *p, size_t bytes);
void nap(int milliseconds);
uint64_t own_status(const char *key); /* bytes, of /proc/self/status, e.g. "VmHWM:" */

/* ---- rssmon ---- */

extern char log_path[256]; /* of the test that runs; in a folder of its own */
extern char test_folder[128];

/* Starts rssmon with these arguments (NULL-ended; RSSMON_BINARY comes first). Standard error goes
 * to
 * `<folder>/stderr`, standard output to `<folder>/stdout`. */
pid_t monitor_start(const char *const *arguments);
/* Starts it for a PID, with the log, quietly, and waits until the log has its first sample. */
pid_t monitor_attach(pid_t pid, const char *const *more);
/* Waits for it (at most 60 s); its exit code, or 1000 + signal. */
int monitor_end(pid_t pid);
int monitor_run(const char *const *arguments);
/* Text of <folder>/NAME, static. */
const char *output_of(const char *name);

/* ---- what the log says ---- */

struct point {
    int64_t t_ns;
    uint64_t rss;
};

struct outcome {
    int has_verdict;
    struct rssmon_verdict verdict; /* strings below */
    char death[32], evidence[1024], victim[64], peak_source[32];
    struct rssmon_header header;
    char name[128], scope[16], cgroup[512], pid_namespace[64], command[2048];
    struct point *points; /* sample and ring records */
    size_t point_count;
    uint64_t least, most; /* rss, low and high of samples and rings */
    uint64_t zeros;
    char text[200000]; /* every record but samples and rings, one line each, readable:
                          "proc exit pid=… name=… peak=…" */
    uint64_t samples, records, headers, most_processes, most_pss;
    struct rssmon_log_statistics statistics;
    uint64_t bytes;
    struct rssmon_sample last;
};

/* Reads the log; fails the test when it cannot be read. Static, until the next call. */
struct outcome *outcome_read(const char *path);
int outcome_has(const struct outcome *o, const char *text);
/* Times that a text is there. */
unsigned outcome_count(const struct outcome *o, const char *text);
void assert_about(uint64_t value, uint64_t truth, double share);

int folder_setup(void **state);    /* per test: a new folder, empty paths */
int folder_teardown(void **state); /* removes it */
#define situation(f) cmocka_unit_test_setup_teardown(f, folder_setup, folder_teardown)

#endif
