/* The writer of log.h. Every record is rendered into one buffer and handed to one write(2); a short
 * write is taken back by ftruncate, so that the file holds whole records even on a full disk.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/log.h"
#include "monitor/mem.h"
#include "monitor/text.h"

enum { LINE_CAPACITY = 1 << 16 };

struct rssmon_log {
    int fd;
    struct rssmon_log_options options;
    char *path;
    struct rssmon_record header; /* its strings point into header_strings */
    char *header_strings;
    struct rssmon_name_value *tags;
    uint64_t size;    /* of the current file */
    uint64_t written; /* in all */
    uint64_t lost, lost_told;
    int torn; /* a partial line could not be taken back: begin the next with a newline */
    char line[LINE_CAPACITY];
};

/* ---- rendering ---- */

static const void *field_at(const struct rssmon_record *r, const struct rssmon_field *f)
{
    return (const char *)r + f->offset;
}

/* Whether the field is there; its value without a key. */
static int render_value(struct rssmon_text *t, const struct rssmon_record *r,
                        const struct rssmon_field *f, int csv)
{
    const void *at = field_at(r, f);
    switch (f->type) {
    case RSSMON_U64: {
        uint64_t v = *(const uint64_t *)at;
        if (v == RSSMON_UNKNOWN)
            return 0;
        if (t != NULL)
            rssmon_text_u64(t, v);
        return 1;
    }
    case RSSMON_NS: {
        int64_t v = *(const int64_t *)at;
        if (v == RSSMON_NO_TIME)
            return 0;
        if (t != NULL)
            rssmon_text_seconds(t, v);
        return 1;
    }
    case RSSMON_DOUBLE: {
        double v = *(const double *)at;
        if (!isfinite(v))
            return 0;
        if (t != NULL)
            rssmon_text_fixed3(t, v);
        return 1;
    }
    case RSSMON_STRING: {
        const char *v = *(const char *const *)at;
        if (v == NULL)
            return 0;
        if (t != NULL && csv)
            rssmon_text_string(t, v);
        else if (t != NULL)
            rssmon_text_json(t, v);
        return 1;
    }
    }
    return 0;
}

static void render_key(struct rssmon_text *t, const char *key)
{
    rssmon_text_bytes(t, ",", 1);
    rssmon_text_json(t, key);
    rssmon_text_bytes(t, ":", 1);
}

static void render_lists(struct rssmon_text *t, const struct rssmon_record *r)
{
    if (r->kind == RSSMON_HEADER && r->u.header.tag_count > 0) {
        rssmon_text_string(t, ",\"tags\":{");
        for (size_t i = 0; i < r->u.header.tag_count; i++) {
            if (i > 0)
                rssmon_text_bytes(t, ",", 1);
            rssmon_text_json(t, r->u.header.tags[i].name);
            rssmon_text_bytes(t, ":", 1);
            rssmon_text_json(t, r->u.header.tags[i].value);
        }
        rssmon_text_bytes(t, "}", 1);
    } else if (r->kind == RSSMON_ACCOUNT && r->u.account.purpose_count > 0) {
        rssmon_text_string(t, ",\"purposes\":{");
        for (size_t i = 0; i < r->u.account.purpose_count; i++) {
            if (i > 0)
                rssmon_text_bytes(t, ",", 1);
            rssmon_text_json(t, r->u.account.purposes[i].name);
            rssmon_text_bytes(t, ":", 1);
            rssmon_text_u64(t, r->u.account.purposes[i].bytes);
        }
        rssmon_text_bytes(t, "}", 1);
    } else if (r->kind == RSSMON_RING) {
        rssmon_text_string(t, ",\"t_s\":[");
        for (size_t i = 0; i < r->u.ring.count; i++) {
            if (i > 0)
                rssmon_text_bytes(t, ",", 1);
            rssmon_text_seconds(t, r->u.ring.t_ns[i]);
        }
        rssmon_text_string(t, "],\"rss\":[");
        for (size_t i = 0; i < r->u.ring.count; i++) {
            if (i > 0)
                rssmon_text_bytes(t, ",", 1);
            rssmon_text_u64(t, r->u.ring.rss[i]);
        }
        rssmon_text_bytes(t, "]", 1);
    }
}

static void render_crc(struct rssmon_text *t, uint32_t crc)
{
    static const char hex[] = "0123456789abcdef";
    char out[8];
    for (unsigned i = 0; i < 8; i++)
        out[i] = hex[crc >> (28 - 4 * i) & 15];
    rssmon_text_bytes(t, out, 8);
}

static void render_json(struct rssmon_text *t, const struct rssmon_record *r)
{
    size_t start = t->length, count;
    rssmon_text_string(t, "{\"k\":\"");
    rssmon_text_string(t, rssmon_kind_name(r->kind));
    rssmon_text_string(t, "\",\"t\":");
    rssmon_text_seconds(t, r->t_ns);
    rssmon_text_string(t, ",\"w\":");
    rssmon_text_seconds(t, r->wall_ns);
    if (r->suspended_ns != 0) {
        rssmon_text_string(t, ",\"s\":");
        rssmon_text_seconds(t, r->suspended_ns);
    }
    const struct rssmon_field *fields = rssmon_fields(r->kind, &count);
    for (size_t i = 0; i < count; i++) {
        if (!render_value(NULL, r, &fields[i], 0))
            continue;
        render_key(t, fields[i].name);
        render_value(t, r, &fields[i], 0);
    }
    render_lists(t, r);
    if (t->overflow)
        return;
    uint32_t crc = rssmon_crc32c(0, t->data + start, t->length - start);
    rssmon_text_string(t, ",\"crc\":\"");
    render_crc(t, crc);
    rssmon_text_string(t, "\"}\n");
}

static void render_row(struct rssmon_text *t, const struct rssmon_record *r)
{
    size_t start = t->length, count;
    rssmon_text_seconds(t, r->t_ns);
    rssmon_text_bytes(t, ",", 1);
    rssmon_text_seconds(t, r->wall_ns);
    rssmon_text_bytes(t, ",", 1);
    if (r->suspended_ns != 0)
        rssmon_text_seconds(t, r->suspended_ns);
    const struct rssmon_field *fields = rssmon_fields(r->kind, &count);
    for (size_t i = 0; i < count; i++) {
        rssmon_text_bytes(t, ",", 1);
        render_value(t, r, &fields[i], 1);
    }
    if (t->overflow)
        return;
    uint32_t crc = rssmon_crc32c(0, t->data + start, t->length - start);
    rssmon_text_bytes(t, ",", 1);
    render_crc(t, crc);
    rssmon_text_bytes(t, "\n", 1);
}

static void render_columns(struct rssmon_text *t)
{
    size_t count;
    const struct rssmon_field *fields = rssmon_fields(RSSMON_SAMPLE, &count);
    rssmon_text_string(t, "t,w,s");
    for (size_t i = 0; i < count; i++) {
        rssmon_text_bytes(t, ",", 1);
        rssmon_text_string(t, fields[i].name);
    }
    rssmon_text_string(t, ",crc\n");
}

size_t rssmon_record_line(const struct rssmon_record *record, enum rssmon_format format, char *out,
                          size_t capacity)
{
    struct rssmon_text t;
    rssmon_text_init(&t, out, capacity);
    if (format == RSSMON_JSONL) {
        render_json(&t, record);
    } else if (record->kind == RSSMON_SAMPLE) {
        render_row(&t, record);
    } else {
        rssmon_text_string(&t, "# ");
        render_json(&t, record);
        if (record->kind == RSSMON_HEADER)
            render_columns(&t);
    }
    return t.overflow ? 0 : t.length;
}

/* ---- the file ---- */

/* 0, or the errno; then the file is as it was (or `torn` is set). */
static int write_whole(struct rssmon_log *log, const char *data, size_t n)
{
    size_t done = 0;
    while (done < n) {
        ssize_t k = write(log->fd, data + done, n - done);
        if (k > 0) {
            done += (size_t)k;
            continue;
        }
        if (k < 0 && errno == EINTR)
            continue;
        int error = k < 0 ? errno : EIO;
        if (done > 0 && ftruncate(log->fd, (off_t)log->size) != 0)
            log->torn = 1;
        return error;
    }
    log->size += n;
    log->written += n;
    return 0;
}

static int write_line(struct rssmon_log *log, const struct rssmon_record *record)
{
    size_t prefix = log->torn ? 1 : 0;
    log->line[0] = '\n';
    size_t n = rssmon_record_line(record, log->options.format, log->line + prefix,
                                  sizeof log->line - prefix);
    if (n == 0)
        return EMSGSIZE;
    int error = write_whole(log, log->line, n + prefix);
    if (error == 0)
        log->torn = 0;
    return error;
}

static int open_new(const char *path, int flags)
{
    return open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | flags, 0644);
}

/* What a file begins with; -1 where it cannot be read. */
static int first_byte(const char *path)
{
    unsigned char byte;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    ssize_t n = fd >= 0 ? read(fd, &byte, 1) : -1;
    if (fd >= 0)
        close(fd);
    return n == 1 ? byte : -1;
}

static void segment_path(const struct rssmon_log *log, uint64_t segment, char out[PATH_MAX])
{
    (void)snprintf(out, PATH_MAX, "%s.%04" PRIu64, log->path, segment);
}

/* The current file becomes PATH.NNNN and a new one begins. Where that fails, the old one goes on:
 * a log that is too long is better than none. */
static void rotate(struct rssmon_log *log, const struct rssmon_record *last)
{
    char closed[PATH_MAX];
    struct rssmon_record end;
    uint64_t segment = log->header.u.header.segment;
    const char *base = strrchr(log->path, '/');
    segment_path(log, segment, closed);
    if (rename(log->path, closed) != 0)
        return;
    int fd = open_new(log->path, O_EXCL);
    if (fd < 0) {
        (void)rename(closed, log->path);
        return;
    }
    rssmon_record_init(&end, RSSMON_SEGMENT);
    end.t_ns = last->t_ns;
    end.wall_ns = last->wall_ns;
    end.suspended_ns = last->suspended_ns;
    end.u.segment.segment = segment;
    end.u.segment.next = base != NULL ? base + 1 : log->path;
    (void)write_line(log, &end);
    int old = log->fd;
    uint64_t old_size = log->size;
    log->fd = fd;
    log->size = 0;
    log->header.u.header.segment = segment + 1;
    if (write_line(log, &log->header) != 0) {
        log->header.u.header.segment = segment;
        log->fd = old;
        log->size = old_size;
        (void)unlink(log->path);
        (void)rename(closed, log->path);
        close(fd);
        return;
    }
    close(old);
    if (log->options.keep_segments != 0 && segment > log->options.keep_segments) {
        segment_path(log, segment - log->options.keep_segments, closed);
        (void)unlink(closed);
    }
}

rssmon_status rssmon_log_append(struct rssmon_log *log, const struct rssmon_record *record,
                                struct rssmon_error *err)
{
    int error = 0;
    if (log->lost > log->lost_told) {
        struct rssmon_record note;
        rssmon_record_init(&note, RSSMON_NOTE);
        note.t_ns = record->t_ns;
        note.wall_ns = record->wall_ns;
        note.suspended_ns = record->suspended_ns;
        note.u.note.topic = "records-lost";
        note.u.note.text = "these records could not be written before this line";
        note.u.note.count = log->lost - log->lost_told;
        error = write_line(log, &note);
        if (error == 0)
            log->lost_told = log->lost;
    }
    if (error == 0)
        error = write_line(log, record);
    if (error != 0) {
        log->lost++;
        return rssmon_fail(err, RSSMON_E_IO,
                           "%s: cannot append a record: %s; it is counted as lost, and sampling "
                           "goes on: make room or end rssmon",
                           log->path, strerror(error));
    }
    if (log->size >= log->options.segment_bytes && record->kind != RSSMON_VERDICT)
        rotate(log, record);
    return RSSMON_OK;
}

/* Deep copy of the header: its strings in one block. */
static int keep_header(struct rssmon_log *log, const struct rssmon_record *header)
{
    size_t count, bytes = 1;
    const struct rssmon_field *fields = rssmon_fields(RSSMON_HEADER, &count);
    const struct rssmon_header *h = &header->u.header;
    log->header = *header;
    for (size_t i = 0; i < count; i++)
        if (fields[i].type == RSSMON_STRING && render_value(NULL, header, &fields[i], 0))
            bytes += strlen(*(const char *const *)field_at(header, &fields[i])) + 1;
    for (size_t i = 0; i < h->tag_count; i++)
        bytes += strlen(h->tags[i].name) + strlen(h->tags[i].value) + 2;
    log->header_strings = rssmon_calloc(bytes, 1);
    log->tags = rssmon_calloc(h->tag_count, sizeof *log->tags);
    if (log->header_strings == NULL || log->tags == NULL)
        return -1;
    char *at = log->header_strings;
    for (size_t i = 0; i < count; i++) {
        if (fields[i].type != RSSMON_STRING || !render_value(NULL, header, &fields[i], 0))
            continue;
        const char **to = (const char **)(void *)((char *)&log->header + fields[i].offset);
        size_t n = strlen(*to) + 1;
        memcpy(at, *to, n);
        *to = at;
        at += n;
    }
    for (size_t i = 0; i < h->tag_count; i++) {
        size_t n = strlen(h->tags[i].name) + 1, m = strlen(h->tags[i].value) + 1;
        log->tags[i].name = memcpy(at, h->tags[i].name, n);
        log->tags[i].value = memcpy(at + n, h->tags[i].value, m);
        at += n + m;
    }
    log->header.u.header.tags = log->tags;
    return 0;
}

rssmon_status rssmon_log_create(struct rssmon_log **out, const char *path,
                                const struct rssmon_log_options *options,
                                const struct rssmon_record *header, struct rssmon_error *err)
{
    rssmon_status status = RSSMON_E_MEMORY;
    struct stat st;
    *out = NULL;
    struct rssmon_log *log = rssmon_calloc(1, sizeof *log);
    if (log == NULL)
        return rssmon_fail(err, status, "no memory for the log's buffer");
    log->fd = -1;
    log->options = *options;
    if (log->options.segment_bytes == 0)
        log->options.segment_bytes = UINT64_C(64) << 20;
    log->path = rssmon_strdup(path);
    if (log->path == NULL || keep_header(log, header) != 0) {
        rssmon_fail(err, status, "%s: no memory for the log's header", path);
        goto fail;
    }
    log->fd = open_new(path, options->overwrite ? O_TRUNC : options->append ? 0 : O_EXCL);
    if (log->fd < 0) {
        int error = errno;
        status = error == EEXIST ? RSSMON_E_ARGUMENT : rssmon_status_of_errno(error);
        rssmon_fail(err, status, "%s: cannot create the log: %s; %s", path, strerror(error),
                    error == EEXIST   ? "name another with --log, or give --append or --overwrite"
                    : error == ENOENT ? "make the folder first"
                                      : "name a file in a folder that can be written with --log");
        goto fail;
    }
    if (fstat(log->fd, &st) == 0 && S_ISREG(st.st_mode))
        log->size = (uint64_t)st.st_size;
    log->torn = log->size > 0; /* appended to: the last line may have been torn */
    if (log->size > 0 && first_byte(path) != (options->format == RSSMON_CSV ? '#' : '{')) {
        status = rssmon_fail(err, RSSMON_E_ARGUMENT,
                             "%s: cannot append to it: it is no log of this --format; name another "
                             "with --log",
                             path);
        goto fail;
    }
    int error = write_line(log, &log->header);
    if (error != 0) {
        if (!options->append && !options->overwrite)
            (void)unlink(path); /* it was made just now, and says nothing */
        status = RSSMON_E_IO;
        rssmon_fail(err, status,
                    "%s: cannot write the log's header: %s; make room or name another "
                    "file with --log",
                    path, strerror(error));
        goto fail;
    }
    *out = log;
    return RSSMON_OK;
fail:
    rssmon_log_close(log);
    return status;
}

uint64_t rssmon_log_bytes(const struct rssmon_log *log)
{
    return log->written;
}

uint64_t rssmon_log_lost(const struct rssmon_log *log)
{
    return log->lost;
}

rssmon_status rssmon_log_sync(struct rssmon_log *log, struct rssmon_error *err)
{
    if (fdatasync(log->fd) != 0 && errno != EINVAL && errno != EROFS)
        return rssmon_fail(err, RSSMON_E_IO, "%s: cannot be synced: %s", log->path,
                           strerror(errno));
    return RSSMON_OK;
}

void rssmon_log_close(struct rssmon_log *log)
{
    if (log == NULL)
        return;
    if (log->fd >= 0)
        close(log->fd);
    rssmon_free(log->path);
    rssmon_free(log->header_strings);
    rssmon_free(log->tags);
    rssmon_free(log);
}
