/* Writing and reading a log (doc/formats/rssmon-log.md).
 *
 * Writer: one write(2) per record to a file opened for append, a CRC in each line, nothing buffered
 * and nothing allocated after the start. Whatever kills the monitor leaves a file of whole records
 * and at most one torn line, which the reader drops. A full disk loses records, is counted, and is
 * told once there is room again. When the file passes segment_bytes it becomes PATH.0001, PATH.0002
 * … and PATH begins anew with the header, so PATH always holds the newest part.
 *
 * Reader: takes the segments of a run in order, recovers every whole record of a damaged file, and
 * skips kinds and fields that it doesn't know. Not thread-safe; one owner.
 */
#ifndef RSSMON_LOG_H
#define RSSMON_LOG_H

#include "monitor/error.h"
#include "monitor/record.h"

enum rssmon_format { RSSMON_JSONL, RSSMON_CSV };

struct rssmon_log_options {
    enum rssmon_format format;
    uint64_t segment_bytes; /* 0: 64 MiB */
    uint64_t keep_segments; /* closed segments to keep; 0: all */
    int overwrite, append;  /* what to do when the file is there; neither: it is an error */
};

struct rssmon_log; /* writer */

/* Creates the file and writes the header (a RSSMON_HEADER record; the log keeps a copy of its line
 * for later segments). On failure *log is NULL. */
rssmon_status rssmon_log_create(struct rssmon_log **log, const char *path,
                                const struct rssmon_log_options *options,
                                const struct rssmon_record *header, struct rssmon_error *err);

/* Appends one record. A record that cannot be written is counted as lost and gives RSSMON_E_IO; the
 * log stays usable. */
rssmon_status rssmon_log_append(struct rssmon_log *log, const struct rssmon_record *record,
                                struct rssmon_error *err);

uint64_t rssmon_log_bytes(const struct rssmon_log *log); /* written in all segments */
uint64_t rssmon_log_lost(const struct rssmon_log *log);
/* fdatasync; used before the verdict and on a peak under pressure. */
rssmon_status rssmon_log_sync(struct rssmon_log *log, struct rssmon_error *err);
void rssmon_log_close(struct rssmon_log *log); /* NULL is fine */

/* One record as a line, '\n' included, for tests and for printing. Returns its length, or 0 when it
 * does not fit. */
size_t rssmon_record_line(const struct rssmon_record *record, enum rssmon_format format, char *out,
                          size_t capacity);

struct rssmon_log_reader;

struct rssmon_log_statistics {
    uint64_t records;       /* given out */
    uint64_t damaged;       /* whole lines whose CRC or form is wrong, skipped */
    uint64_t torn_bytes;    /* of a last line without its end */
    uint64_t unknown_kinds; /* records of a newer version, skipped */
    uint64_t segments;      /* files read so far */
    uint64_t missing_segments;
    int complete; /* a verdict was read */
};

/* Opens a log of either format; "-" reads the standard input. An empty or torn file is no error
 * (there are simply no records); a file whose first whole line is not a log's is RSSMON_E_FORMAT.
 * When the file's header says that it is segment n > 1, PATH.0001 … are read before it. */
rssmon_status rssmon_log_open_read(struct rssmon_log_reader **reader, const char *path,
                                   struct rssmon_error *err);

/* The same for bytes in memory (not copied; they outlive the reader). No segments. */
rssmon_status rssmon_log_open_memory(struct rssmon_log_reader **reader, const void *data,
                                     size_t size, struct rssmon_error *err);

/* The next record. RSSMON_OK, RSSMON_END, or RSSMON_E_IO / RSSMON_E_MEMORY. Ring records come
 * where they lie in the file: their times are older than the record before them. */
rssmon_status rssmon_log_next(struct rssmon_log_reader *reader, struct rssmon_record *record,
                              struct rssmon_error *err);

/* The header that holds for the records read last: its strings live as long as the reader does, or
 * until the next header record. NULL before the first. */
const struct rssmon_record *rssmon_log_header(const struct rssmon_log_reader *reader);
const struct rssmon_log_statistics *rssmon_log_statistics(const struct rssmon_log_reader *reader);
void rssmon_log_close_read(struct rssmon_log_reader *reader); /* NULL is fine */

#endif
