/* Reads small JSON files (waste, statements, manifests) as a stream of leaves with their paths; no
 * tree is built. Depth is bounded, and memory is that of the longest string. The grammar is yajl's;
 * what it takes from the allocator is kept in a list of its own, so that a failed allocation ends
 * in an error (yajl itself does not look).
 */
#ifndef CUZK_FORMAT_JSON_IN_H
#define CUZK_FORMAT_JSON_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "curve/bls12_381/fields.h"
#include "cuzk/errors.h"

#define CUZK_JSON_DEPTH 16
#define CUZK_JSON_SMALL_FILE ((size_t)64 << 20) /* more than any file that is read this way */

enum cuzk_json_type {
    CUZK_JSON_NULL,
    CUZK_JSON_BOOL,
    CUZK_JSON_NUMBER,
    CUZK_JSON_STRING,
    CUZK_JSON_OBJECT, /* its start: no text */
    CUZK_JSON_ARRAY
};

struct cuzk_json_value {
    enum cuzk_json_type type;
    const char *text; /* of a number or string; not NUL-terminated */
    size_t size;
    bool boolean;
};

/* `path` is "waste.alpha", "public_inputs[0][3]", "" for the whole; a key with other characters
 * than letters, digits, _ and - is quoted, as ["a.b"]. A failure's message gets file and path put
 * before it by the scanner. */
typedef cuzk_status cuzk_json_visitor(void *context, const char *path,
                                      const struct cuzk_json_value *value, struct cuzk_error *err);

/* The whole of data is one JSON text. Errors name `name`, the offset or the path. */
cuzk_status cuzk_json_scan(const char *name, const uint8_t *data, size_t size,
                           cuzk_json_visitor *visit, void *context, struct cuzk_error *err);
/* The same of a file of at most CUZK_JSON_SMALL_FILE bytes. */
cuzk_status cuzk_json_scan_file(const char *path, cuzk_json_visitor *visit, void *context,
                                struct cuzk_error *err);

/* Leaves as what they should be; the error says what was expected (the scanner adds where). */
cuzk_status cuzk_json_as_u64(uint64_t *out, const struct cuzk_json_value *value,
                             struct cuzk_error *err);
/* Exactly `size` bytes in hex, either case, no prefix. */
cuzk_status cuzk_json_as_hex(uint8_t *out, size_t size, const struct cuzk_json_value *value,
                             struct cuzk_error *err);
/* 32 bytes in hex, little-endian, below r. */
cuzk_status cuzk_json_as_fr(struct bls12_381_fr *out, const struct cuzk_json_value *value,
                            struct cuzk_error *err);
/* Copied with a NUL; CUZK_E_RANGE if longer than capacity - 1, or with a NUL inside. */
cuzk_status cuzk_json_as_text(char *out, size_t capacity, const struct cuzk_json_value *value,
                              struct cuzk_error *err);

/* Hex of the command line and of JSON: size bytes from 2·size digits. False if it is not that. */
bool cuzk_hex_decode(uint8_t *out, size_t size, const char *text, size_t length);

#endif
