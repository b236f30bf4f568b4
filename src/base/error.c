/* The error record: one status, one sentence. No allocation, so that it works when memory is out.
 */
#include "cuzk/errors.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *cuzk_status_name(cuzk_status status)
{
    switch (status) {
#define CUZK_X(code, number, name, meaning)                                                        \
    case code:                                                                                     \
        return name;
        CUZK_STATUS_LIST(CUZK_X)
#undef CUZK_X
    }
    return "unknown";
}

const char *cuzk_status_meaning(cuzk_status status)
{
    switch (status) {
#define CUZK_X(code, number, name, meaning)                                                        \
    case code:                                                                                     \
        return meaning;
        CUZK_STATUS_LIST(CUZK_X)
#undef CUZK_X
    }
    return "unknown";
}

cuzk_status cuzk_fail(struct cuzk_error *err, cuzk_status status, const char *format, ...)
{
    if (err == NULL)
        return status;
    va_list args;
    va_start(args, format);
    err->status = status;
    (void)vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    return status;
}

cuzk_status cuzk_fail_prefix(struct cuzk_error *err, cuzk_status status, const char *format, ...)
{
    if (err == NULL)
        return status;
    char old[sizeof err->message];
    memcpy(old, err->message, sizeof old);
    old[sizeof old - 1] = '\0';
    va_list args;
    va_start(args, format);
    int n = vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    if (n >= 0 && (size_t)n < sizeof err->message)
        (void)snprintf(err->message + n, sizeof err->message - (size_t)n, ": %s", old);
    err->status = status;
    return status;
}
