/* cuzk-bench: runs a proving command over a matrix of settings, rssmon beside each run, and keeps
 * every result in one SQLite file. What its commands share.
 *
 * An experiment is one call of `run`: a command, a matrix, a machine. A cell is one combination of
 * settings; a run is one execution of a cell. Rows are only ever added: an interrupted experiment
 * is gone on with, never rewritten.
 */
#ifndef CUZK_BENCH_H
#define CUZK_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "monitor/stats.h"

enum {
    BENCH_OK = 0,
    BENCH_VERDICT = 1,   /* slower or bigger than allowed */
    BENCH_USAGE = 2,     /* bad options */
    BENCH_NOT_FOUND = 3, /* no such file or experiment */
    BENCH_NOT_COMPARABLE = 4,
    BENCH_FAILED = 5, /* a measured command failed */
    BENCH_IO = 6
};

/* Prints "cuzk-bench: …" on stderr and returns code. */
int bench_error(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

enum { MAX_SETTINGS = 12, MAX_VALUES = 32, MAX_CELLS = 512 };

/* --set threads=1,2,4: replaces {threads} in the command. {j} is how many copies run at once. */
struct setting {
    char name[32];
    char *values[MAX_VALUES];
    int value_count;
};

struct cell {
    int value[MAX_SETTINGS];
    char text[256]; /* "threads=2 j=1", the cell's name everywhere */
    int j;
};

struct matrix {
    struct setting settings[MAX_SETTINGS];
    int setting_count;
    struct cell *cells;
    int cell_count;
};

/* What an experiment is; what must agree before two are compared. */
struct experiment {
    int64_t id; /* 0: not stored yet */
    char name[64], created[32], revision[64], key_digest[72];
    char machine[128], kernel[128], cpu[64], cpu_flags[72], host[64];
    int64_t cores, memory;
    char command[2048], matrix[1024];
    int64_t proofs, warmup, proofs_per_run;
    char tag[64];
};

struct result {
    char cell[256];
    int64_t number; /* 0-based within the cell; warm-up runs are negative */
    double seconds; /* wall time of the run, over its proofs */
    int64_t peak_rss, peak_error;
    double cpu_seconds;
    int64_t exit_code;
    char log[1024];
};

/* machine.c */
void machine_read(struct experiment *out);
/* Tells key files apart: FNV-1a of the size and of both ends, and the size; "none" for NULL. */
int key_digest(char out[72], const char *path);
void git_revision(char out[64]);

/* store.c: all return BENCH_OK or an exit code, having said why. */
struct store;
int store_open(struct store **out, const char *path, bool create);
void store_close(struct store *store);
int store_add_experiment(struct store *store, struct experiment *e);
int store_add_result(struct store *store, int64_t experiment, const struct result *r,
                     const char *output);
/* id > 0: that one. id = 0: the newest whose name, tag or revision starts with text (NULL: any). */
int store_find(struct store *store, struct experiment *out, int64_t id, const char *text);
/* What a user names: a number, or what store_find takes as text (NULL: the newest). Says so when
 * there is none. */
int store_pick(struct store *store, struct experiment *out, const char *name);
typedef int experiment_visitor(void *context, const struct experiment *e, int64_t runs);
int store_each_experiment(struct store *store, experiment_visitor *visit, void *context);
typedef int result_visitor(void *context, const struct result *r);
int store_each_result(struct store *store, int64_t experiment, result_visitor *visit,
                      void *context);

/* One cell's figures over its successful, counted runs. */
struct figures {
    char cell[256];
    struct rssmon_summary seconds, peak;
    double proofs_per_hour_gib; /* 3600 · j / seconds / peak in GiB */
    int64_t failed;
};
/* In order of first run. *out is freed by the caller with free(). */
int figures_read(struct figures **out, int *count, struct store *store, int64_t experiment);

/* The commands. */
int cmd_run(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_sweep(int argc, char **argv);
int cmd_smoke(int argc, char **argv);
int cmd_spawn(int argc, char **argv); /* internal: several copies of one command */

void json_string(FILE *out, const char *s);
void json_number(FILE *out, double v); /* not finite: null */

#endif
