/* What a command prints. One set of calls gives both forms: `key: value` lines, indented by depth,
 * for people, and with --json one JSON object. Nothing of a JSON result is printed before it is
 * whole; a failure prints an object with the member "error" in its place. Messages for people go to
 * stderr in both forms.
 */
#ifndef CUZK_PROGRAM_OUTPUT_H
#define CUZK_PROGRAM_OUTPUT_H

#include "curve/bls12_381/fields.h"
#include "format/json_out.h"

struct output {
    const char *command;
    bool json;
    struct cuzk_json tree; /* with json */
    unsigned depth;        /* of the lines */
};

/* `command` is "" before one is known. */
void output_init(struct output *out, const char *command);
void output_free(struct output *out);

/* key = NULL: an element of an array. */
void output_text(struct output *out, const char *key, const char *value);
void output_number(struct output *out, const char *key, uint64_t value);
void output_bytes(struct output *out, const char *key, uint64_t bytes); /* lines: with a unit */
void output_seconds(struct output *out, const char *key, double seconds);
void output_bool(struct output *out, const char *key, bool value);
void output_hex(struct output *out, const char *key, const uint8_t *bytes, size_t size);
void output_fr(struct output *out, const char *key, const struct bls12_381_fr *value);
void output_numbers(struct output *out, const char *key, const uint64_t *values, size_t n);
void output_object(struct output *out, const char *key);
void output_object_end(struct output *out);
void output_array(struct output *out, const char *key);
void output_array_end(struct output *out);

/* Prints the JSON object, if any, frees, and returns `code`, or EXIT_FAILED if stdout fails. */
int output_finish(struct output *out, int code);
/* Prints the error in place of the result (with the verdict "not valid" where code is EXIT_NO),
 * frees, and returns `code`. */
int output_fail(struct output *out, const struct cuzk_error *err, int code);

/* "1.04 GiB", "12.3 s": into text, which is returned. */
const char *format_bytes(char *text, size_t size, uint64_t bytes);
const char *format_seconds(char *text, size_t size, double seconds);

#endif
