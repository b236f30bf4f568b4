/* Status codes and the error record of the monitor. The monitor links nothing of the engine, so it
 * has its own. A function that can fail returns rssmon_status and takes, last, a
 * `struct rssmon_error *err` (may be NULL); the message is one sentence that names what failed and
 * the remedy.
 */
#ifndef RSSMON_ERROR_H
#define RSSMON_ERROR_H

typedef enum rssmon_status {
    RSSMON_OK = 0,
    RSSMON_END = 1,           /* an iteration is over; not an error */
    RSSMON_E_ARGUMENT = 2,    /* an option or value makes no sense, or contradicts another */
    RSSMON_E_MEMORY = 3,      /* an allocation failed */
    RSSMON_E_IO = 4,          /* a system call on a file failed */
    RSSMON_E_NOT_FOUND = 5,   /* no such file or process */
    RSSMON_E_PERMISSION = 6,  /* the kernel refused access */
    RSSMON_E_FORMAT = 7,      /* text that is not of the expected form */
    RSSMON_E_AMBIGUOUS = 8,   /* several processes match where one was asked for */
    RSSMON_E_UNSUPPORTED = 9, /* this kernel or library cannot do it */
    RSSMON_E_GONE = 10        /* the process ended while it was looked at */
} rssmon_status;

struct rssmon_error {
    rssmon_status status;
    char message[1500]; /* NUL-terminated; several lines only where candidates are listed */
};

/* Fills the record (if not NULL) and returns status. */
rssmon_status rssmon_fail(struct rssmon_error *err, rssmon_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The status that fits an errno: NOT_FOUND, PERMISSION, GONE, MEMORY or IO. */
rssmon_status rssmon_status_of_errno(int error);

#endif
