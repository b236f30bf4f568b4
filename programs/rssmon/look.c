#include "look.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "commands.h"
#include "monitor/text.h"

int look_exit(rssmon_status status)
{
    switch (status) {
    case RSSMON_OK:
    case RSSMON_END:
        return RSSMON_EXIT_OK;
    case RSSMON_E_NOT_FOUND:
        return RSSMON_EXIT_NOT_FOUND;
    case RSSMON_E_PERMISSION:
        return RSSMON_EXIT_PERMISSION;
    case RSSMON_E_IO:
    case RSSMON_E_MEMORY:
        return RSSMON_EXIT_IO;
    default:
        return RSSMON_EXIT_USAGE;
    }
}

int look_read(struct rssmon_history **out, const char *command, const char *path)
{
    struct rssmon_error err;
    rssmon_status status = rssmon_history_read(out, path, &err);
    if (status != RSSMON_OK) {
        (void)fprintf(stderr, "rssmon %s: %s\n", command, err.message);
        return look_exit(status);
    }
    const struct rssmon_log_statistics *s = &(*out)->read;
    if (s->damaged != 0 || s->torn_bytes != 0 || s->missing_segments != 0)
        (void)fprintf(stderr,
                      "rssmon %s: %s: %" PRIu64
                      " damaged lines skipped, a torn last line of %" PRIu64 " bytes, %" PRIu64
                      " segments missing; the rest was read\n",
                      command, path, s->damaged, s->torn_bytes, s->missing_segments);
    return 0;
}

void look_plain(struct rssmon_history *h)
{
    char *const texts[] = {h->name, h->command,  h->host,  h->kernel,      h->tool,  h->scope,
                           h->tags, h->evidence, h->death, h->peak_source, h->victim};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i] != NULL)
            rssmon_text_plain(texts[i]);
    for (size_t i = 0; i < h->phase_count; i++)
        rssmon_text_plain(h->phases[i].label);
    for (size_t i = 0; i < h->mark_count; i++)
        rssmon_text_plain(h->marks[i].label);
    for (size_t i = 0; i < h->gap_count; i++)
        rssmon_text_plain(h->gaps[i].cause);
    for (size_t i = 0; i < h->process_count; i++) {
        if (h->processes[i].name != NULL)
            rssmon_text_plain(h->processes[i].name);
        if (h->processes[i].death != NULL)
            rssmon_text_plain(h->processes[i].death);
    }
}

const char *look_size(char out[32], uint64_t bytes)
{
    struct rssmon_text t;
    rssmon_text_init(&t, out, 32);
    if (bytes == RSSMON_UNKNOWN)
        rssmon_text_string(&t, "-");
    else
        rssmon_text_size(&t, bytes);
    return out;
}

const char *look_time(char out[32], double seconds)
{
    if (!isfinite(seconds) || fabs(seconds) > 1e15) {
        (void)snprintf(out, 32, "-");
    } else if (seconds < 600) {
        (void)snprintf(out, 32, seconds < 10 ? "%.2f s" : "%.1f s", seconds);
    } else {
        int64_t s = (int64_t)(seconds + 0.5);
        (void)snprintf(out, 32, "%" PRId64 ":%02d:%02d", s / 3600, (int)(s / 60 % 60),
                       (int)(s % 60));
    }
    return out;
}

void look_json_string(FILE *out, const char *s)
{
    char storage[24000];
    struct rssmon_text t;
    if (s == NULL) {
        (void)fputs("null", out);
        return;
    }
    rssmon_text_init(&t, storage, sizeof storage);
    rssmon_text_json(&t, s);
    (void)fputs(t.overflow ? "\"(too long)\"" : storage, out);
}

void look_json_u64(FILE *out, uint64_t v)
{
    if (v == RSSMON_UNKNOWN)
        (void)fputs("null", out);
    else
        (void)fprintf(out, "%" PRIu64, v);
}

void look_json_double(FILE *out, double v)
{
    if (!isfinite(v))
        (void)fputs("null", out);
    else
        (void)fprintf(out, "%.6f", v);
}

const char *look_death(char out[160], const struct rssmon_history *h)
{
    const char *d = h->death;
    if (d == NULL)
        (void)snprintf(out, 160, "not in the log (the monitor was stopped)");
    else if (strcmp(d, "exit") == 0)
        (void)snprintf(out, 160, "exit code %" PRIu64, h->code);
    else if (strcmp(d, "signal") == 0)
        (void)snprintf(out, 160, "signal %" PRIu64 " (%s)", h->code, strsignal((int)h->code));
    else if (strcmp(d, "oom_kernel") == 0)
        (void)snprintf(out, 160, "killed by the kernel: the machine was out of memory");
    else if (strcmp(d, "oom_cgroup") == 0)
        (void)snprintf(out, 160, "killed by the kernel: its cgroup was out of memory");
    else if (strcmp(d, "alive") == 0)
        (void)snprintf(out, 160, "still running when the monitor ended");
    else
        (void)snprintf(out, 160, "%s", d);
    return out;
}
