/* The reader of log.h. Works line by line; a line counts only when it is whole and its CRC holds,
 * so that damage costs the lines it hits and no others.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "monitor/json.h"
#include "monitor/log.h"
#include "monitor/mem.h"
#include "monitor/text.h"

enum {
    LINE_MAX_BYTES = 1 << 20, /* a longer line is damage */
    COLUMNS_MAX = 128
};

struct rssmon_log_reader {
    char *path; /* NULL: memory */
    int fd;
    uint64_t segment, last_segment; /* PATH.segment is open; == last: PATH itself */
    char *buffer;                   /* bytes start … end are not yet given out */
    size_t buffer_capacity, start, end;
    const char *memory; /* source in memory */
    size_t memory_left;
    int at_end;    /* of the current file */
    int skipping;  /* inside a line longer than LINE_MAX_BYTES */
    uint64_t line; /* number of the line given out last */
    struct rssmon_json json, header_json;
    struct rssmon_record header;
    int has_header;
    /* lists of the record given out last, and of the header */
    int64_t *ring_t;
    uint64_t *ring_rss;
    size_t ring_t_capacity, ring_rss_capacity;
    struct rssmon_name_bytes *purposes;
    size_t purposes_capacity;
    struct rssmon_name_value *tags;
    size_t tags_capacity;
    /* columns of a CSV log: place in the sample's table; 0 … 2 are t, w, s; or -1 */
    int columns[COLUMNS_MAX];
    size_t column_count;
    char row_state[64];
    struct rssmon_log_statistics statistics;
};

/* ---- bytes to lines ---- */

static rssmon_status fill(struct rssmon_log_reader *r, struct rssmon_error *err)
{
    enum { CHUNK = 1 << 16 };
    if (r->start > 0) {
        memmove(r->buffer, r->buffer + r->start, r->end - r->start);
        r->end -= r->start;
        r->start = 0;
    }
    if (rssmon_grow(&r->buffer, &r->buffer_capacity, r->end + CHUNK, 1) != 0)
        return rssmon_fail(err, RSSMON_E_MEMORY, "no memory to read the log");
    if (r->fd < 0) {
        size_t n = r->memory_left < CHUNK ? r->memory_left : CHUNK;
        if (n > 0)
            memcpy(r->buffer + r->end, r->memory, n);
        r->memory += n;
        r->memory_left -= n;
        r->end += n;
        r->at_end = n == 0;
        return RSSMON_OK;
    }
    ssize_t n;
    do
        n = read(r->fd, r->buffer + r->end, CHUNK);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return rssmon_fail(err, rssmon_status_of_errno(errno), "%s: cannot be read: %s", r->path,
                           strerror(errno));
    r->end += (size_t)n;
    r->at_end = n == 0;
    return RSSMON_OK;
}

/* The next whole line without its newline. */
static rssmon_status next_line(struct rssmon_log_reader *r, const char **line, size_t *n,
                               struct rssmon_error *err)
{
    size_t looked = r->start;
    for (;;) {
        char *nl = r->end > looked ? memchr(r->buffer + looked, '\n', r->end - looked) : NULL;
        if (nl != NULL) {
            *line = r->buffer + r->start;
            *n = (size_t)(nl - *line);
            r->start += *n + 1;
            r->line++;
            if (!r->skipping)
                return RSSMON_OK;
            r->skipping = 0;
            looked = r->start;
            continue;
        }
        if (r->at_end) {
            r->statistics.torn_bytes += r->end - r->start;
            r->start = r->end;
            return RSSMON_END;
        }
        if (r->end - r->start > LINE_MAX_BYTES) {
            if (!r->skipping)
                r->statistics.damaged++;
            r->skipping = 1;
            r->start = r->end;
        }
        size_t kept = r->end - r->start;
        rssmon_status status = fill(r, err);
        if (status != RSSMON_OK)
            return status;
        looked = r->start + kept;
    }
}

/* ---- lines to records ---- */

static int hex_crc(const char *s, uint32_t *crc)
{
    *crc = 0;
    for (int i = 0; i < 8; i++) {
        uint32_t d;
        if (s[i] >= '0' && s[i] <= '9')
            d = (uint32_t)(s[i] - '0');
        else if (s[i] >= 'a' && s[i] <= 'f')
            d = (uint32_t)(s[i] - 'a' + 10);
        else
            return -1;
        *crc = *crc << 4 | d;
    }
    return 0;
}

static int set_field(struct rssmon_record *out, const struct rssmon_field *f,
                     const struct rssmon_json_field *j)
{
    char *at = (char *)out + f->offset;
    switch (f->type) {
    case RSSMON_U64:
        return rssmon_json_u64(j, (uint64_t *)(void *)at);
    case RSSMON_NS:
        return rssmon_json_nano(j, (int64_t *)(void *)at);
    case RSSMON_DOUBLE:
        return rssmon_json_double(j, (double *)(void *)at);
    case RSSMON_STRING:
        if (j->type != RSSMON_JSON_STRING)
            return -1;
        *(const char **)(void *)at = j->text;
        return 0;
    }
    return -1;
}

/* The field's index in the table, beginning the search where the last one was found: lines follow
 * the table's order. */
static size_t find_field(const struct rssmon_field *fields, size_t count, size_t hint,
                         const char *key)
{
    for (size_t i = 0; i < count; i++) {
        size_t k = hint + i < count ? hint + i : hint + i - count;
        if (strcmp(fields[k].name, key) == 0)
            return k;
    }
    return count;
}

static int set_list(struct rssmon_log_reader *r, struct rssmon_record *out,
                    const struct rssmon_json_field *f)
{
    if (out->kind == RSSMON_RING && f->in_array && strcmp(f->key, "t_s") == 0) {
        if (rssmon_grow(&r->ring_t, &r->ring_t_capacity, f->index + 1, sizeof *r->ring_t) != 0)
            return -2;
        out->u.ring.count = f->index + 1;
        return rssmon_json_nano(f, &r->ring_t[f->index]);
    }
    if (out->kind == RSSMON_RING && f->in_array && strcmp(f->key, "rss") == 0) {
        if (rssmon_grow(&r->ring_rss, &r->ring_rss_capacity, f->index + 1, sizeof *r->ring_rss) !=
            0)
            return -2;
        return f->index < out->u.ring.count ? rssmon_json_u64(f, &r->ring_rss[f->index]) : -1;
    }
    if (out->kind == RSSMON_HEADER && f->parent != NULL && strcmp(f->parent, "tags") == 0) {
        struct rssmon_header *h = &out->u.header;
        if (f->type != RSSMON_JSON_STRING || f->in_array)
            return -1;
        if (rssmon_grow(&r->tags, &r->tags_capacity, h->tag_count + 1, sizeof *r->tags) != 0)
            return -2;
        r->tags[h->tag_count++] = (struct rssmon_name_value){f->key, f->text};
        h->tags = r->tags;
        return 0;
    }
    if (out->kind == RSSMON_ACCOUNT && f->parent != NULL && strcmp(f->parent, "purposes") == 0) {
        struct rssmon_account *a = &out->u.account;
        if (f->in_array)
            return -1;
        if (rssmon_grow(&r->purposes, &r->purposes_capacity, a->purpose_count + 1,
                        sizeof *r->purposes) != 0)
            return -2;
        r->purposes[a->purpose_count].name = f->key;
        a->purposes = r->purposes;
        return rssmon_json_u64(f, &r->purposes[a->purpose_count++].bytes);
    }
    return 0; /* of a newer version */
}

/* 1: a record; 0: none (unknown kind); -1: damaged; -2: no memory. */
static int from_json(struct rssmon_log_reader *r, const char *line, size_t n,
                     struct rssmon_record *out)
{
    static const char tail[] = ",\"crc\":\"";
    const size_t tail_bytes = sizeof tail - 1 + 8 + 2; /* and "} */
    struct rssmon_json *j = &r->json;
    uint32_t crc;
    int sealed = n > tail_bytes && memcmp(line + n - tail_bytes, tail, sizeof tail - 1) == 0;
    if (sealed &&
        (hex_crc(line + n - 10, &crc) != 0 || rssmon_crc32c(0, line, n - tail_bytes) != crc))
        return -1;
    int rc = rssmon_json_parse(j, line, n);
    if (rc != 0)
        return rc;
    const struct rssmon_json_field *k = rssmon_json_find(j, "k");
    if (k == NULL || k->type != RSSMON_JSON_STRING)
        return -1;
    enum rssmon_kind kind = rssmon_kind_of_name(k->text);
    /* programs write their account and marks without a CRC, if they like */
    if (!sealed && kind != RSSMON_ACCOUNT && kind != RSSMON_MARK)
        return -1;
    if (kind == RSSMON_KINDS)
        return 0;
    if (kind == RSSMON_HEADER) {
        /* parsed again into its own storage, which outlives this line */
        j = &r->header_json;
        r->has_header = 0;
        rc = rssmon_json_parse(j, line, n);
        if (rc != 0)
            return rc;
    }
    size_t count, at = 0;
    const struct rssmon_field *fields = rssmon_fields(kind, &count);
    rssmon_record_init(out, kind);
    out->t_ns = out->wall_ns = RSSMON_NO_TIME;
    for (size_t i = 0; i < j->count; i++) {
        const struct rssmon_json_field *f = &j->fields[i];
        if (f->parent != NULL || f->in_array) {
            rc = set_list(r, out, f);
        } else if (strcmp(f->key, "t") == 0) {
            rc = rssmon_json_nano(f, &out->t_ns);
        } else if (strcmp(f->key, "w") == 0) {
            rc = rssmon_json_nano(f, &out->wall_ns);
        } else if (strcmp(f->key, "s") == 0) {
            rc = rssmon_json_nano(f, &out->suspended_ns);
        } else {
            size_t k_at = find_field(fields, count, at, f->key);
            rc = k_at < count ? set_field(out, &fields[k_at], f) : 0;
            at = k_at < count ? k_at : at;
        }
        if (rc != 0)
            return rc;
    }
    if (kind == RSSMON_RING) {
        out->u.ring.t_ns = r->ring_t;
        out->u.ring.rss = r->ring_rss;
        /* both lists have the same length */
        size_t values = 0;
        for (size_t i = 0; i < j->count; i++)
            values += j->fields[i].in_array && strcmp(j->fields[i].key, "rss") == 0;
        if (values != out->u.ring.count)
            return -1;
    }
    if (kind == RSSMON_HEADER) {
        r->header = *out;
        r->has_header = 1;
    }
    return 1;
}

static int set_columns(struct rssmon_log_reader *r, const char *line, size_t n)
{
    size_t count, used = 0;
    const struct rssmon_field *fields = rssmon_fields(RSSMON_SAMPLE, &count);
    if (n < 4 || memcmp(line + n - 4, ",crc", 4) != 0)
        return -1;
    const char *p = line, *end = line + n - 4;
    while (p <= end) {
        const char *comma = memchr(p, ',', (size_t)(end - p));
        size_t length = (size_t)((comma != NULL ? comma : end) - p);
        if (used == COLUMNS_MAX)
            return -1;
        int place = -1;
        if (length == 1 && strchr("tws", *p) != NULL)
            place = *p == 't' ? 0 : *p == 'w' ? 1 : 2;
        for (size_t i = 0; i < count; i++)
            if (strlen(fields[i].name) == length && memcmp(fields[i].name, p, length) == 0)
                place = (int)i + 3;
        r->columns[used++] = place;
        p += length + 1;
    }
    r->column_count = used;
    return 0;
}

static int from_row(struct rssmon_log_reader *r, const char *line, size_t n,
                    struct rssmon_record *out)
{
    size_t count, column = 0;
    const struct rssmon_field *fields = rssmon_fields(RSSMON_SAMPLE, &count);
    uint32_t crc;
    char cell[64];
    if (n < 9 || line[n - 9] != ',' || hex_crc(line + n - 8, &crc) != 0 ||
        rssmon_crc32c(0, line, n - 9) != crc || r->column_count == 0)
        return -1;
    rssmon_record_init(out, RSSMON_SAMPLE);
    out->t_ns = out->wall_ns = RSSMON_NO_TIME;
    const char *p = line, *end = line + n - 9;
    for (; p <= end; column++) {
        const char *comma = memchr(p, ',', (size_t)(end - p));
        size_t length = (size_t)((comma != NULL ? comma : end) - p);
        if (column >= r->column_count || length >= sizeof cell)
            return -1;
        memcpy(cell, p, length);
        cell[length] = '\0';
        p += length + 1;
        int place = r->columns[column];
        if (length == 0 || place < 0)
            continue;
        struct rssmon_json_field f = {.text = cell, .type = RSSMON_JSON_NUMBER};
        int rc;
        if (place < 3) {
            int64_t *times[3] = {&out->t_ns, &out->wall_ns, &out->suspended_ns};
            rc = rssmon_json_nano(&f, times[place]);
        } else if (fields[place - 3].type == RSSMON_STRING) {
            memcpy(r->row_state, cell, length + 1);
            f.text = r->row_state;
            f.type = RSSMON_JSON_STRING;
            rc = set_field(out, &fields[place - 3], &f);
        } else {
            rc = set_field(out, &fields[place - 3], &f);
        }
        if (rc != 0)
            return -1;
    }
    return column == r->column_count ? 1 : -1;
}

static int from_line(struct rssmon_log_reader *r, const char *line, size_t n,
                     struct rssmon_record *out)
{
    if (n > 0 && line[n - 1] == '\r') /* a log that went through Windows */
        n--;
    if (n == 0)
        return 0;
    if (line[0] == '{')
        return from_json(r, line, n, out);
    if (n > 2 && line[0] == '#' && line[1] == ' ')
        return line[2] == '{' ? from_json(r, line + 2, n - 2, out) : 0;
    if (n > 4 && memcmp(line, "t,w,", 4) == 0)
        return set_columns(r, line, n);
    return from_row(r, line, n, out);
}

/* ---- files ---- */

static rssmon_status open_segment(struct rssmon_log_reader *r, const char *path,
                                  struct rssmon_error *err)
{
    if (r->fd > 0)
        close(r->fd);
    r->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    r->start = r->end = 0;
    r->at_end = r->skipping = 0;
    r->line = 0;
    r->column_count = 0;
    if (r->fd < 0)
        return rssmon_fail(err, rssmon_status_of_errno(errno), "%s: cannot be opened: %s%s", path,
                           strerror(errno),
                           errno == ENOENT ? "; name a log that rssmon wrote" : "");
    r->statistics.segments++;
    return RSSMON_OK;
}

/* Opens the next segment that is there; RSSMON_END after the last. */
static rssmon_status next_segment(struct rssmon_log_reader *r, struct rssmon_error *err)
{
    while (r->path != NULL && r->segment < r->last_segment) {
        char path[PATH_MAX];
        r->segment++;
        if (r->segment == r->last_segment)
            return open_segment(r, r->path, err);
        (void)snprintf(path, sizeof path, "%s.%04" PRIu64, r->path, r->segment);
        rssmon_status status = open_segment(r, path, NULL);
        if (status == RSSMON_OK)
            return status;
        r->statistics.missing_segments++;
    }
    return RSSMON_END;
}

/* Looks at the first whole line without consuming it: is this a log, and which segment? */
static rssmon_status look_first(struct rssmon_log_reader *r, uint64_t *segment,
                                struct rssmon_error *err)
{
    struct rssmon_record record;
    char *nl;
    *segment = 1;
    while ((nl = r->end > 0 ? memchr(r->buffer, '\n', r->end) : NULL) == NULL && !r->at_end &&
           r->end <= LINE_MAX_BYTES) {
        rssmon_status status = fill(r, err);
        if (status != RSSMON_OK)
            return status;
    }
    if (nl == NULL && r->end <= LINE_MAX_BYTES)
        return RSSMON_OK;
    size_t n = nl != NULL ? (size_t)(nl - r->buffer) : r->end;
    int rc = n > 0 ? from_line(r, r->buffer, n, &record) : 0;
    if (rc == -2)
        return rssmon_fail(err, RSSMON_E_MEMORY, "no memory to read the log");
    if (rc == 1 && record.kind == RSSMON_HEADER && record.u.header.segment != RSSMON_UNKNOWN)
        *segment = record.u.header.segment;
    static const char begins[] = "{\"k\":\"";
    const char *from =
        n > 2 && r->buffer[0] == '#' && r->buffer[1] == ' ' ? r->buffer + 2 : r->buffer;
    size_t left = n - (size_t)(from - r->buffer);
    int looks_like = left > sizeof begins && memcmp(from, begins, sizeof begins - 1) == 0;
    if (n > 0 && rc != 1 && !looks_like)
        return rssmon_fail(err, RSSMON_E_FORMAT,
                           "%s: its first line is not that of a log; name a file that rssmon "
                           "record wrote",
                           r->path != NULL ? r->path : "memory");
    return RSSMON_OK;
}

static struct rssmon_log_reader *new_reader(const char *path)
{
    struct rssmon_log_reader *r = rssmon_calloc(1, sizeof *r);
    if (r == NULL)
        return NULL;
    r->fd = -1;
    if (path != NULL && (r->path = rssmon_strdup(path)) == NULL) {
        rssmon_free(r);
        return NULL;
    }
    return r;
}

rssmon_status rssmon_log_open_read(struct rssmon_log_reader **reader, const char *path,
                                   struct rssmon_error *err)
{
    uint64_t segment;
    *reader = NULL;
    struct rssmon_log_reader *r = new_reader(path);
    if (r == NULL)
        return rssmon_fail(err, RSSMON_E_MEMORY, "%s: no memory to read it", path);
    rssmon_status status = RSSMON_OK;
    if (strcmp(path, "-") == 0) {
        r->fd = STDIN_FILENO;
        r->statistics.segments = 1;
    } else {
        status = open_segment(r, path, err);
    }
    if (status == RSSMON_OK)
        status = look_first(r, &segment, err);
    if (status != RSSMON_OK) {
        rssmon_log_close_read(r);
        return status;
    }
    r->has_header = 0;
    r->segment = r->last_segment = 1;
    enum { SEGMENTS_MAX = 1000000 }; /* a damaged number must not make us look for ever */
    if (segment > 1 && segment <= SEGMENTS_MAX && r->fd != STDIN_FILENO) {
        r->segment = 0;
        r->last_segment = segment;
        r->statistics.segments = 0;
        status = next_segment(r, err);
        if (status != RSSMON_OK) {
            rssmon_log_close_read(r);
            return status == RSSMON_END
                       ? rssmon_fail(err, RSSMON_E_IO, "%s: vanished while it was opened", path)
                       : status;
        }
    }
    *reader = r;
    return RSSMON_OK;
}

rssmon_status rssmon_log_open_memory(struct rssmon_log_reader **reader, const void *data,
                                     size_t size, struct rssmon_error *err)
{
    uint64_t segment;
    *reader = NULL;
    struct rssmon_log_reader *r = new_reader(NULL);
    if (r == NULL)
        return rssmon_fail(err, RSSMON_E_MEMORY, "no memory to read a log");
    r->memory = data;
    r->memory_left = size;
    r->statistics.segments = 1;
    r->segment = r->last_segment = 1;
    rssmon_status status = look_first(r, &segment, err);
    if (status != RSSMON_OK) {
        rssmon_log_close_read(r);
        return status;
    }
    r->has_header = 0;
    *reader = r;
    return RSSMON_OK;
}

rssmon_status rssmon_log_next(struct rssmon_log_reader *r, struct rssmon_record *record,
                              struct rssmon_error *err)
{
    for (;;) {
        const char *line;
        size_t n;
        rssmon_status status = next_line(r, &line, &n, err);
        if (status == RSSMON_END)
            status = next_segment(r, err);
        else if (status == RSSMON_OK) {
            switch (from_line(r, line, n, record)) {
            case 1:
                record->line = r->line;
                r->statistics.records++;
                if (record->kind == RSSMON_HEADER)
                    r->header.line = r->line;
                r->statistics.complete |= record->kind == RSSMON_VERDICT;
                return RSSMON_OK;
            case 0:
                r->statistics.unknown_kinds += n > 0 && line[0] == '{';
                break;
            case -2:
                return rssmon_fail(err, RSSMON_E_MEMORY, "no memory to read the log");
            default:
                r->statistics.damaged++;
            }
            continue;
        }
        if (status != RSSMON_OK)
            return status;
    }
}

const struct rssmon_record *rssmon_log_header(const struct rssmon_log_reader *r)
{
    return r->has_header ? &r->header : NULL;
}

const struct rssmon_log_statistics *rssmon_log_statistics(const struct rssmon_log_reader *r)
{
    return &r->statistics;
}

void rssmon_log_close_read(struct rssmon_log_reader *r)
{
    if (r == NULL)
        return;
    if (r->fd > 0)
        close(r->fd);
    rssmon_json_clear(&r->json);
    rssmon_json_clear(&r->header_json);
    rssmon_free(r->ring_t);
    rssmon_free(r->ring_rss);
    rssmon_free(r->purposes);
    rssmon_free(r->tags);
    rssmon_free(r->buffer);
    rssmon_free(r->path);
    rssmon_free(r);
}
