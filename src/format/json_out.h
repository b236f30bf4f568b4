/* Writes JSON into one growing buffer: two-space indentation, keys in the order of the calls.
 *
 * Calls may be chained without checks: the first failure (memory; a number that JSON cannot hold is
 * written as null) sticks, and cuzk_json_text reports it. In an object every value needs a key, in
 * an array and at the top none (NULL). Text that is not UTF-8 (file names) is written with U+FFFD
 * in place of each bad byte, so the output is always valid.
 *
 * Owner: the creator; not shared between threads.
 */
#ifndef CUZK_FORMAT_JSON_OUT_H
#define CUZK_FORMAT_JSON_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuzk/errors.h"

#define CUZK_JSON_OUT_DEPTH 32

struct cuzk_json {
    char *text;
    size_t size, capacity;
    unsigned depth;
    bool failed;
    bool any[CUZK_JSON_OUT_DEPTH + 1]; /* a value was written at this depth */
};

void cuzk_json_init(struct cuzk_json *j);
void cuzk_json_free(struct cuzk_json *j); /* tolerates a zeroed or initialised one */

void cuzk_json_object(struct cuzk_json *j, const char *key); /* opens { */
void cuzk_json_object_end(struct cuzk_json *j);
void cuzk_json_array(struct cuzk_json *j, const char *key); /* opens [ */
void cuzk_json_array_end(struct cuzk_json *j);

void cuzk_json_string(struct cuzk_json *j, const char *key, const char *value); /* NULL: null */
void cuzk_json_u64(struct cuzk_json *j, const char *key, uint64_t value);
void cuzk_json_double(struct cuzk_json *j, const char *key, double value, int decimals);
void cuzk_json_bool(struct cuzk_json *j, const char *key, bool value);
void cuzk_json_null(struct cuzk_json *j, const char *key);
void cuzk_json_hex(struct cuzk_json *j, const char *key, const uint8_t *bytes, size_t size);

/* The text, NUL-terminated and ending in a newline, owned by j; all objects and arrays must be
 * closed. */
cuzk_status cuzk_json_text(struct cuzk_json *j, const char **text, size_t *size,
                           struct cuzk_error *err);
/* The text written to a file, replaced whole. */
cuzk_status cuzk_json_write(struct cuzk_json *j, const char *path, struct cuzk_error *err);

#endif
