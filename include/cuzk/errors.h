/* Error codes and the error record of libcuzk.
 *
 * Every function that can fail returns a cuzk_status and takes, last, a `struct cuzk_error *err`
 * (which may be NULL). On failure the record holds the code and one English sentence that names
 * what failed (file and offset, or JSON path), and what to do about it. Outputs of a failed call
 * are unchanged or zeroed, never half written. The numbers are part of the interface: they are
 * never reused, and gaps leave room in each group.
 */
#ifndef CUZK_ERRORS_H
#define CUZK_ERRORS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CUZK_API __attribute__((visibility("default")))
#define CUZK_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define CUZK_API
#define CUZK_PRINTF(f, a)
#endif

/* code, number, short name (as --json prints it), meaning */
#define CUZK_STATUS_LIST(X)                                                                        \
    X(CUZK_OK, 0, "ok", "success")                                                                 \
    X(CUZK_E_ARGUMENT, 1, "argument", "an argument is out of range or contradicts another")        \
    X(CUZK_E_UNSUPPORTED, 2, "unsupported", "well formed, but this build or version cannot do it") \
    X(CUZK_E_CANCELLED, 3, "cancelled", "the caller asked to stop")                                \
    X(CUZK_E_INTERNAL, 4, "internal", "a state that cannot be: a defect of cuzk")                  \
    X(CUZK_E_MEMORY, 10, "memory", "an allocation failed")                                         \
    X(CUZK_E_BUDGET, 11, "budget", "more memory is needed than the budget allows")                 \
    X(CUZK_E_IO, 20, "io", "a system call on a file failed")                                       \
    X(CUZK_E_NOT_FOUND, 21, "not_found", "no such file or entry")                                  \
    X(CUZK_E_TRUNCATED, 30, "truncated", "the file ends before its content does")                  \
    X(CUZK_E_TRAILING, 31, "trailing", "bytes follow where the file should end")                   \
    X(CUZK_E_FORMAT, 32, "format", "the file is not of the expected form")                         \
    X(CUZK_E_RANGE, 33, "range", "a number is outside of its field or limit")                      \
    X(CUZK_E_POINT, 34, "point", "not a point of the curve, or not of the subgroup")               \
    X(CUZK_E_DIGEST, 35, "digest", "the digest differs from the expected one")                     \
    X(CUZK_E_MISMATCH, 40, "mismatch", "two inputs do not belong together")                        \
    X(CUZK_E_INPUT, 41, "input", "an input breaks an equality that the circuit demands")           \
    X(CUZK_E_UNSATISFIED, 42, "unsatisfied", "the witness does not satisfy the circuit")           \
    X(CUZK_E_PROOF, 43, "proof", "the proof is not valid for this statement and key")              \
    X(CUZK_E_DEVICE, 50, "device", "a device failed or computed a wrong result")                   \
    X(CUZK_E_DEVICE_LOST, 51, "device_lost", "a device is unusable until it is opened again")      \
    X(CUZK_E_DEVICE_MEMORY, 52, "device_memory", "the device's memory does not suffice")

typedef enum cuzk_status {
#define CUZK_X(code, number, name, meaning) code = number,
    CUZK_STATUS_LIST(CUZK_X)
#undef CUZK_X
} cuzk_status;

struct cuzk_error {
    cuzk_status status;
    char message[500]; /* NUL-terminated, one line, no secret in it */
};

/* Short name ("ok", "memory" …) and meaning of a status; "unknown" for a number not in the list. */
CUZK_API const char *cuzk_status_name(cuzk_status status);
CUZK_API const char *cuzk_status_meaning(cuzk_status status);

/* Writes the record (if err is not NULL) and returns status, so that a failure reads
 * `return cuzk_fail(err, CUZK_E_IO, "%s: cannot open: %s", path, strerror(errno));` */
CUZK_API cuzk_status cuzk_fail(struct cuzk_error *err, cuzk_status status, const char *format, ...)
    CUZK_PRINTF(3, 4);

/* Puts "prefix: " before the record's message: callers add the file or stage that they know. */
CUZK_API cuzk_status cuzk_fail_prefix(struct cuzk_error *err, cuzk_status status,
                                      const char *format, ...) CUZK_PRINTF(3, 4);

#ifdef __cplusplus
}
#endif
#endif
