/* What plot, report and compare share: reading logs with the program's exit codes, sizes and times
 * as people read them, JSON strings.
 */
#ifndef RSSMON_LOOK_H
#define RSSMON_LOOK_H

#include <stdio.h>

#include "monitor/history.h"

/* The exit code that fits an error. */
int look_exit(rssmon_status status);
/* Reads a log; on failure says so on stderr as `rssmon NAME: …` and returns the exit code, else 0.
 * A damaged or torn log is read as far as it goes, and a note on stderr says what was lost. */
int look_read(struct rssmon_history **out, const char *command, const char *path);

/* What a log says in words, made fit for a terminal or a picture: a process names itself as it
 * likes. Not before JSON, which keeps every byte. */
void look_plain(struct rssmon_history *h);

/* "666.4 GiB"; "–" for RSSMON_UNKNOWN. */
const char *look_size(char out[32], uint64_t bytes);
/* "1:02:03" or "12.3 s"; "–" for NAN. */
const char *look_time(char out[32], double seconds);
void look_json_string(FILE *out, const char *s); /* NULL: null */
void look_json_u64(FILE *out, uint64_t v);       /* RSSMON_UNKNOWN: null */
void look_json_double(FILE *out, double v);      /* not finite: null */

/* "exit 0", "signal 9 (SIGKILL)", "killed by the kernel for want of memory" … */
const char *look_death(char out[160], const struct rssmon_history *h);

#endif
