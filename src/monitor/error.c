/* The monitor's error record: one status and one sentence, no allocation. */
#include "monitor/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

rssmon_status rssmon_fail(struct rssmon_error *err, rssmon_status status, const char *format, ...)
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

rssmon_status rssmon_status_of_errno(int error)
{
    switch (error) {
    case ENOENT:
    case ENOTDIR:
        return RSSMON_E_NOT_FOUND;
    case EACCES:
    case EPERM:
    case EROFS:
        return RSSMON_E_PERMISSION;
    case ESRCH:
        return RSSMON_E_GONE;
    case ENOMEM:
        return RSSMON_E_MEMORY;
    default:
        return RSSMON_E_IO;
    }
}
