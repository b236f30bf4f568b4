/* See harness.h. */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "monitor/text.h"

char log_path[256];
char test_folder[128];

static int own_gate = -1, own_signal = -1; /* in a target */

/* ---- targets ---- */

struct target target_start(int (*body)(const void *argument), const void *argument)
{
    int gate[2], tell[2];
    assert_int_equal(pipe2(gate, O_CLOEXEC), 0);
    assert_int_equal(pipe2(tell, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(gate[1]);
        close(tell[0]);
        own_gate = gate[0];
        own_signal = tell[1];
        _exit(body(argument));
    }
    assert_true(pid > 0);
    close(gate[0]);
    close(tell[1]);
    return (struct target){pid, gate[1], tell[0]};
}

void target_gate(void)
{
    char c = 'x';
    if (write(own_signal, &c, 1) != 1 || read(own_gate, &c, 1) != 1)
        _exit(99);
}

void target_wait(const struct target *t)
{
    char c;
    assert_int_equal(read(t->signal, &c, 1), 1);
}

void target_go(const struct target *t)
{
    assert_int_equal(write(t->gate, "g", 1), 1);
}

int target_end(struct target *t)
{
    int status = -1;
    while (waitpid(t->pid, &status, 0) < 0 && errno == EINTR)
        ;
    close(t->gate);
    close(t->signal);
    return status;
}

volatile char *touch(size_t bytes, int flags)
{
    volatile char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                            (flags != 0 ? flags : MAP_PRIVATE) | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        _exit(98);
    for (size_t i = 0; i < bytes; i += 4096)
        p[i] = 1;
    return p;
}

void untouch(volatile char *p, size_t bytes)
{
    (void)munmap((void *)(uintptr_t)p, bytes);
}

void nap(int milliseconds)
{
    struct timespec t = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    while (nanosleep(&t, &t) != 0 && errno == EINTR)
        ;
}

uint64_t own_status(const char *key)
{
    char text[8192];
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return 0;
    text[n] = '\0';
    const char *p = strstr(text, key);
    return p != NULL ? strtoull(p + strlen(key), NULL, 10) * 1024 : 0;
}

/* ---- rssmon ---- */

static void redirect(const char *name, int fd)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", test_folder, name);
    int to = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (to >= 0)
        (void)dup2(to, fd);
}

pid_t monitor_start(const char *const *arguments)
{
    const char *argv[64] = {"rssmon"};
    size_t n = 1;
    while (arguments[n - 1] != NULL && n < 63) {
        argv[n] = arguments[n - 1];
        n++;
    }
    pid_t pid = fork();
    if (pid == 0) {
        redirect("stdout", 1);
        redirect("stderr", 2);
        execv(RSSMON_BINARY, (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    assert_true(pid > 0);
    return pid;
}

static int log_has_sample(void)
{
    char text[65536];
    int fd = open(log_path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return 0;
    text[n] = '\0';
    return strstr(text, "\"k\":\"sample\"") != NULL || strstr(text, ",crc\n1") != NULL ||
           strstr(text, ",crc\n0") != NULL;
}

pid_t monitor_attach(pid_t target, const char *const *more)
{
    char number[16];
    const char *argv[48] = {"-q", "--no-gpu", "-l", log_path, "-p", number};
    size_t n = 6;
    (void)snprintf(number, sizeof number, "%ld", (long)target);
    for (; more != NULL && *more != NULL; more++)
        argv[n++] = *more;
    pid_t pid = monitor_start(argv);
    for (int i = 0; i < 5000 && !log_has_sample(); i++) {
        int status;
        if (waitpid(pid, &status, WNOHANG) == pid)
            fail_msg("rssmon ended at once: %s", output_of("stderr"));
        nap(2);
    }
    return pid;
}

int monitor_end(pid_t pid)
{
    int status;
    for (int i = 0; i < 30000; i++) {
        pid_t got = waitpid(pid, &status, WNOHANG);
        if (got == pid)
            return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
        nap(2);
    }
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, &status, 0);
    fail_msg("rssmon did not end within a minute");
    return -1;
}

int monitor_run(const char *const *arguments)
{
    return monitor_end(monitor_start(arguments));
}

const char *output_of(const char *name)
{
    static char text[65536];
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", test_folder, name);
    FILE *f = fopen(path, "re");
    size_t n = f != NULL ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f != NULL)
        fclose(f);
    text[n] = '\0';
    return text;
}

/* ---- the log ---- */

static void note_value(struct outcome *o, uint64_t v)
{
    if (v == RSSMON_UNKNOWN)
        return;
    if (v < o->least)
        o->least = v;
    if (v > o->most)
        o->most = v;
    o->zeros += v == 0;
}

static void add_point(struct outcome *o, int64_t t_ns, uint64_t rss)
{
    static size_t capacity;
    if (o->point_count == capacity) {
        capacity = capacity == 0 ? 4096 : 2 * capacity;
        o->points = realloc(o->points, capacity * sizeof *o->points);
        assert_non_null(o->points);
    }
    o->points[o->point_count++] = (struct point){t_ns, rss};
    note_value(o, rss);
}

/* "kind key=value …" by the record's table. */
static void describe(struct outcome *o, const struct rssmon_record *r)
{
    struct rssmon_text t;
    size_t used = strlen(o->text), count;
    rssmon_text_init(&t, o->text + used, sizeof o->text - used);
    const struct rssmon_field *f = rssmon_fields(r->kind, &count);
    rssmon_text_string(&t, rssmon_kind_name(r->kind));
    for (size_t i = 0; i < count; i++) {
        const void *at = (const char *)r + f[i].offset;
        if ((f[i].type == RSSMON_U64 && *(const uint64_t *)at == RSSMON_UNKNOWN) ||
            (f[i].type == RSSMON_NS && *(const int64_t *)at == RSSMON_NO_TIME) ||
            (f[i].type == RSSMON_STRING && *(const char *const *)at == NULL) ||
            f[i].type == RSSMON_DOUBLE)
            continue;
        rssmon_text_string(&t, " ");
        rssmon_text_string(&t, f[i].name);
        rssmon_text_string(&t, "=");
        if (f[i].type == RSSMON_U64)
            rssmon_text_u64(&t, *(const uint64_t *)at);
        else if (f[i].type == RSSMON_NS)
            rssmon_text_seconds(&t, *(const int64_t *)at);
        else
            rssmon_text_string(&t, *(const char *const *)at);
    }
    rssmon_text_string(&t, "\n");
}

static void copy(char *to, size_t size, const char *from)
{
    (void)snprintf(to, size, "%s", from != NULL ? from : "");
}

struct outcome *outcome_read(const char *path)
{
    static struct outcome o;
    struct rssmon_log_reader *reader;
    struct rssmon_record r;
    struct rssmon_error err;
    struct stat st;
    struct point *points = o.points;
    memset(&o, 0, sizeof o);
    o.points = points;
    o.least = UINT64_MAX;
    rssmon_record_init(&r, RSSMON_SAMPLE);
    o.last = r.u.sample; /* all unknown */
    if (rssmon_log_open_read(&reader, path, &err) != RSSMON_OK)
        fail_msg("%s; rssmon said: %s", err.message, output_of("stderr"));
    while (rssmon_log_next(reader, &r, &err) == RSSMON_OK) {
        o.records++;
        switch (r.kind) {
        case RSSMON_SAMPLE:
            add_point(&o, r.t_ns, r.u.sample.rss);
            note_value(&o, r.u.sample.low);
            note_value(&o, r.u.sample.high);
            o.last = r.u.sample;
            if (r.u.sample.processes != RSSMON_UNKNOWN && r.u.sample.processes > o.most_processes)
                o.most_processes = r.u.sample.processes;
            if (r.u.sample.pss != RSSMON_UNKNOWN && r.u.sample.pss > o.most_pss)
                o.most_pss = r.u.sample.pss;
            o.samples++;
            continue;
        case RSSMON_RING:
            for (size_t i = 0; i < r.u.ring.count; i++)
                add_point(&o, r.u.ring.t_ns[i], r.u.ring.rss[i]);
            continue;
        case RSSMON_HEADER:
            o.headers++;
            o.header = r.u.header;
            copy(o.name, sizeof o.name, r.u.header.name);
            copy(o.scope, sizeof o.scope, r.u.header.scope);
            copy(o.cgroup, sizeof o.cgroup, r.u.header.cgroup);
            copy(o.command, sizeof o.command, r.u.header.command);
            copy(o.pid_namespace, sizeof o.pid_namespace, r.u.header.pid_namespace);
            break;
        case RSSMON_VERDICT:
            o.has_verdict = 1;
            o.verdict = r.u.verdict;
            copy(o.death, sizeof o.death, r.u.verdict.death);
            copy(o.evidence, sizeof o.evidence, r.u.verdict.evidence);
            copy(o.victim, sizeof o.victim, r.u.verdict.victim);
            copy(o.peak_source, sizeof o.peak_source, r.u.verdict.peak_source);
            break;
        default:
            break;
        }
        describe(&o, &r);
    }
    o.statistics = *rssmon_log_statistics(reader);
    rssmon_log_close_read(reader);
    o.bytes = stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
    return &o;
}

unsigned outcome_count(const struct outcome *o, const char *text)
{
    unsigned n = 0;
    for (const char *p = o->text; (p = strstr(p, text)) != NULL; p++)
        n++;
    return n;
}

int outcome_has(const struct outcome *o, const char *text)
{
    return strstr(o->text, text) != NULL;
}

void assert_about(uint64_t value, uint64_t truth, double share)
{
#ifdef CUZK_SANITIZED
    share += 0.35; /* the target's shadow memory counts, and is not part of the truth */
#endif
    double off = ((double)value - (double)truth) / (double)truth;
    if (off > share || off < -share)
        fail_msg("%" PRIu64 " is off the truth %" PRIu64 " by %.2f %%", value, truth, 100 * off);
}

int folder_setup(void **state)
{
    (void)state;
    (void)snprintf(test_folder, sizeof test_folder, "/tmp/rssmon-situation-XXXXXX");
    if (mkdtemp(test_folder) == NULL)
        return -1;
    (void)chmod(test_folder, 0777);
    (void)snprintf(log_path, sizeof log_path, "%s/a.log", test_folder);
    return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

int folder_teardown(void **state)
{
    (void)state;
    return nftw(test_folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
