/* See system.h. */
#include "monitor/system.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "monitor/text.h"

static int64_t read_clock(clockid_t id)
{
    struct timespec t;
    return clock_gettime(id, &t) == 0 ? (int64_t)t.tv_sec * 1000000000 + t.tv_nsec : 0;
}

static void real_now(void *context, struct rssmon_now *now)
{
    (void)context;
    now->mono = read_clock(CLOCK_MONOTONIC);
    now->boot = read_clock(CLOCK_BOOTTIME);
    now->wall = read_clock(CLOCK_REALTIME);
}

static int real_wait(void *context, struct pollfd *fds, unsigned count, int64_t deadline_ns)
{
    (void)context;
    int64_t left = deadline_ns - read_clock(CLOCK_MONOTONIC);
    if (left < 0)
        left = 0;
    struct timespec t = {.tv_sec = (time_t)(left / 1000000000), .tv_nsec = left % 1000000000};
    return ppoll(fds, count, &t, NULL);
}

static int64_t real_cpu(void *context)
{
    (void)context;
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

const struct rssmon_clock rssmon_real_clock = {NULL, real_now, real_wait, real_cpu};

void rssmon_hold_streams(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY); /* the lowest number: fd */
}

void rssmon_system_read(struct rssmon_system *s, const struct rssmon_proc_root *root)
{
    struct utsname u;
    char text[8192];
    memset(s, 0, sizeof *s);
    s->page_size = root->page_size;
    s->mem_total = s->swap_total = RSSMON_UNKNOWN;
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    s->cpus = cpus > 0 ? (uint64_t)cpus : 1;
    if (uname(&u) == 0) {
        (void)snprintf(s->kernel, sizeof s->kernel, "%s", u.release);
        (void)snprintf(s->arch, sizeof s->arch, "%s", u.machine);
        (void)snprintf(s->host, sizeof s->host, "%s", u.nodename);
    }
    if (rssmon_proc_read(root, "sys/kernel/osrelease", text, sizeof text) > 0) {
        text[strcspn(text, "\n")] = '\0';
        (void)snprintf(s->kernel, sizeof s->kernel, "%.64s", text);
    }
    (void)sscanf(s->kernel, "%u.%u", &s->version_major, &s->version_minor);
    if (rssmon_proc_read(root, "sys/kernel/random/boot_id", text, sizeof text) > 0) {
        text[strcspn(text, "\n")] = '\0';
        (void)snprintf(s->boot_id, sizeof s->boot_id, "%.39s", text);
    }
    if (rssmon_proc_read(root, "meminfo", text, sizeof text) > 0) {
        (void)rssmon_line_value(text, "MemTotal:", &s->mem_total);
        (void)rssmon_line_value(text, "SwapTotal:", &s->swap_total);
    }
}

const char *rssmon_error_model(unsigned major, unsigned minor, uint64_t cpus, uint64_t threads,
                               uint64_t page_size, uint64_t *bound)
{
    unsigned version = major * 1000 + minor;
    if (version == 0) {
        *bound = RSSMON_UNKNOWN;
        return "unknown";
    }
    if (version >= 6016) { /* task_statm and task_mem add up all CPUs' parts */
        *bound = 0;
        return "exact";
    }
    if (version >= 6002) { /* percpu_counter without its sum: a batch a CPU, three counters */
        uint64_t batch = 2 * cpus > 32 ? 2 * cpus : 32;
        *bound = 3 * cpus * batch * page_size;
        return "batch";
    }
    *bound = 64 * threads * page_size; /* SPLIT_RSS_COUNTING's TASK_RSS_EVENTS_THRESH */
    return "thread-cache";
}

static uint64_t pressure_total(const char *text, const char *kind)
{
    uint64_t v;
    const char *line = strstr(text, kind);
    const char *total = line != NULL ? strstr(line, "total=") : NULL;
    char digits[24];
    if (total == NULL)
        return RSSMON_UNKNOWN;
    size_t n = strspn(total + 6, "0123456789");
    if (n == 0 || n >= sizeof digits)
        return RSSMON_UNKNOWN;
    memcpy(digits, total + 6, n);
    digits[n] = '\0';
    return rssmon_parse_u64(digits, &v) == 0 ? v : RSSMON_UNKNOWN;
}

void rssmon_machine_read(struct rssmon_machine *m, const struct rssmon_proc_root *root)
{
    char text[16384];
    m->mem_available = m->psi_some_us = m->psi_full_us = m->oom_kill = RSSMON_UNKNOWN;
    if (rssmon_proc_read(root, "meminfo", text, 512) > 0)
        (void)rssmon_line_value(text, "MemAvailable:", &m->mem_available);
    if (rssmon_proc_read(root, "pressure/memory", text, sizeof text) > 0) {
        m->psi_some_us = pressure_total(text, "some ");
        m->psi_full_us = pressure_total(text, "full ");
    }
    if (rssmon_proc_read(root, "vmstat", text, sizeof text) > 0)
        (void)rssmon_line_value(text, "oom_kill ", &m->oom_kill);
}
