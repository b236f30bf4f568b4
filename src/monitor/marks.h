/* Markers from outside: the control socket (`rssmon mark`), a FIFO, and patterns over a log of the
 * target; and the program's own account of its memory, followed in its file.
 */
#ifndef RSSMON_MARKS_H
#define RSSMON_MARKS_H

#include <poll.h>

#include "monitor/error.h"
#include "monitor/record.h"

struct rssmon_marks_config {
    const char *fifo;                                  /* made if it is not there; or NULL */
    const char *watch;                                 /* the target's log, or NULL */
    const char *pattern, *pattern_begin, *pattern_end; /* each may be NULL */
    const char *account;                               /* file of account records, or NULL */
    int from_start; /* read the watched files from their start, not from their end */
};

/* What is told: a RSSMON_MARK or RSSMON_ACCOUNT record without times (an account keeps its own wall
 * clock). Strings live during the call. */
typedef void rssmon_marks_told(void *context, struct rssmon_record *record);

struct rssmon_marks;

/* Opens what the configuration names and the control socket. ARGUMENT for a bad pattern, IO and
 * PERMISSION for the FIFO. A watched file may be missing as yet. */
rssmon_status rssmon_marks_open(struct rssmon_marks **marks,
                                const struct rssmon_marks_config *config, rssmon_marks_told *told,
                                void *context, struct rssmon_error *err);
void rssmon_marks_close(struct rssmon_marks *marks);
/* Name of the abstract socket, or NULL when there is none. */
const char *rssmon_marks_control(const struct rssmon_marks *marks);
/* Adds its descriptors to a poll set; how many (at most 2). */
unsigned rssmon_marks_fds(const struct rssmon_marks *marks, struct pollfd *fds);
/* Takes in what there is; files are looked at too, so call it now and then. */
void rssmon_marks_poll(struct rssmon_marks *marks);

/* One line of the FIFO or one datagram: "[begin|end|point] LABEL[\tTEXT]". Changes the line. 0, or
 * -1 when it holds no label. Sets record's label, action and text. */
int rssmon_mark_parse(char *line, struct rssmon_record *record);

#endif
