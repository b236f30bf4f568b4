/* Reads one line that holds one JSON object into a flat list of fields. Objects nest once
 * ("tags":{"j":"2"}: parent "tags", key "j") and arrays hold numbers or strings ("rss":[1,2]: index
 * 0, 1). That is all that the log's format uses; deeper nesting is refused. Own code because a
 * monitor wants no dependency at its core, and because names of processes are bytes, not text:
 * \u0080 to \u00ff written by text.h come back as the single byte.
 */
#ifndef RSSMON_JSON_H
#define RSSMON_JSON_H

#include <stddef.h>
#include <stdint.h>

enum rssmon_json_type {
    RSSMON_JSON_STRING,
    RSSMON_JSON_NUMBER,
    RSSMON_JSON_BOOL,
    RSSMON_JSON_NULL
};

struct rssmon_json_field {
    const char *parent; /* NULL at the top */
    const char *key;
    const char *text; /* decoded string, or the number as written; NUL-terminated */
    size_t index;     /* place in an array; 0 for a scalar */
    enum rssmon_json_type type;
    int in_array;
};

/* Owned by the caller, reused from line to line. Zero-initialise; release with _clear. */
struct rssmon_json {
    struct rssmon_json_field *fields;
    size_t count, capacity;
    char *arena;
    size_t arena_capacity;
};

/* 0; -1 when the line is not such an object; -2 when memory is out. Fields point into the arena and
 * are good until the next call. */
int rssmon_json_parse(struct rssmon_json *j, const char *line, size_t n);
void rssmon_json_clear(struct rssmon_json *j);

/* The scalar with this key at the top level, or NULL. */
const struct rssmon_json_field *rssmon_json_find(const struct rssmon_json *j, const char *key);

/* Numbers as written: whole (fraction refused), and with up to 9 decimals as billionths. 0 or -1
 * when it is not such a number or does not fit. Exponents are refused. */
int rssmon_json_u64(const struct rssmon_json_field *f, uint64_t *v);
int rssmon_json_nano(const struct rssmon_json_field *f, int64_t *v);
int rssmon_json_double(const struct rssmon_json_field *f, double *v);

#endif
