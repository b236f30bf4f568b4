/* A day, a suspend, clock steps and missed deadlines with an injected clock, over a /proc made of
 * files: what the kernel of a test machine cannot be made to show.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/watch.h"

#define SECOND INT64_C(1000000000)
#define MIB (UINT64_C(1) << 20)

static char folder[64];
static char log_path[128];
static char proc[96], cgroup[96];

/* ---- a machine of files ---- */

static void put(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(const char *name, const char *format, ...)
{
    char path[256], text[4096];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    for (char *slash = strchr(path + strlen(folder) + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0755);
        *slash = '/';
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(pwrite(fd, text, (size_t)n, 0), n);
    close(fd);
}

static void take(const char *name)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    (void)unlink(path);
}

static void put_process(unsigned pid, uint64_t rss, uint64_t hwm, char state)
{
    uint64_t kb = rss / 1024;
    char name[64];
    (void)snprintf(name, sizeof name, "proc/%u/stat", pid);
    put(name,
        "%u (daemon) %c 1 %u %u 0 -1 4194304 100 0 0 0 50 20 0 0 20 0 1 0 777 1000000 %" PRIu64
        " 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
        pid, state, pid, pid, rss / 4096);
    (void)snprintf(name, sizeof name, "proc/%u/statm", pid);
    put(name, "%" PRIu64 " %" PRIu64 " 500 10 0 2000 0\n", rss / 4096 + 5000, rss / 4096);
    (void)snprintf(name, sizeof name, "proc/%u/status", pid);
    put(name,
        "Name:\tdaemon\nState:\t%c (x)\nUid:\t42\t42\t42\t42\nNSpid:\t%u\nVmSize:\t%" PRIu64
        " kB\nVmLck:\t 0 kB\nVmHWM:\t%" PRIu64 " kB\nVmRSS:\t%" PRIu64 " kB\nRssAnon:\t%" PRIu64
        " kB\nRssFile:\t2000 kB\nRssShmem:\t0 kB\nVmPTE:\t80 kB\nVmSwap:\t12 "
        "kB\nHugetlbPages:\t2048 "
        "kB\nThreads:\t1\n",
        state, pid, kb + 20000, hwm / 1024, kb, kb - 2000);
}

static void put_machine(const char *release)
{
    put("proc/sys/kernel/osrelease", "%s\n", release);
    put("proc/sys/kernel/random/boot_id", "11111111-2222-3333-4444-555555555555\n");
    put("proc/meminfo", "MemTotal:       5242880000 kB\nMemFree: 1 kB\nMemAvailable:   4000000 kB\n"
                        "SwapTotal: 1024 kB\n");
    put("proc/vmstat", "nr_free_pages 1\noom_kill 7\n");
    put("proc/pressure/memory",
        "some avg10=0.00 avg60=0.00 avg300=0.00 total=1234\nfull avg10=0.00 "
        "avg60=0.00 avg300=0.00 total=567\n");
}

static void put_cgroup_2(uint64_t current, uint64_t kills)
{
    put("cg/cgroup.controllers", "memory\n");
    put("cg/app/memory.current", "%" PRIu64 "\n", current);
    put("cg/app/memory.peak", "%" PRIu64 "\n", current + 4096);
    put("cg/app/memory.stat",
        "anon %" PRIu64 "\nfile 8192000\nkernel 300000\nshmem 192000\n"
        "file_mapped 4096\n",
        current / 2);
    put("cg/app/memory.swap.current", "0\n");
    put("cg/app/memory.events", "low 0\nhigh 0\nmax 3\noom %" PRIu64 "\noom_kill %" PRIu64 "\n",
        kills, kills);
    put("cg/app/cgroup.procs", "100\n");
    put("proc/100/cgroup", "0::/app\n");
}

/* ---- a clock that jumps ---- */

struct script {
    struct rssmon_now now;
    int64_t end; /* mono at which the target dies */
    uint64_t waits, rss;
    int kind;
    int done;
};

static void script_now(void *context, struct rssmon_now *now)
{
    *now = ((struct script *)context)->now;
}

static void advance(struct script *s, int64_t ns)
{
    s->now.mono += ns;
    s->now.boot += ns;
    s->now.wall += ns;
}

enum { STEADY, DAYS_WORK, SUSPENDS, STEPS, LATE, DIES_BY_OOM, STRANGE_SIZES };

/* A look costs ten microseconds, always: the same run on any machine. */
static int64_t script_cpu(void *context)
{
    (void)context;
    static int64_t cpu;
    return cpu += 10000;
}

static int script_wait(void *context, struct pollfd *fds, unsigned count, int64_t deadline)
{
    struct script *s = context;
    for (unsigned i = 0; i < count; i++)
        fds[i].revents = 0;
    s->waits++;
    if (deadline > s->now.mono)
        advance(s, deadline - s->now.mono);
    int64_t t = s->now.mono;
    uint64_t rss = s->rss;
    if (s->kind == DAYS_WORK) /* an hour's rhythm, and a slow leak */
        rss = 400 * MIB + (uint64_t)(t / SECOND) * 1000 +
              ((t / SECOND) % 3600 < 600 ? 200 * MIB + (uint64_t)(t / SECOND) % 100 * MIB : 0);
    if (rss != s->rss) {
        s->rss = rss;
        put_process(100, rss, rss, 'S');
    }
    if (!s->done && t > 10 * SECOND) {
        s->done = 1;
        if (s->kind == SUSPENDS) {
            s->now.boot += 3600 * SECOND;
            s->now.wall += 3600 * SECOND;
        } else if (s->kind == STEPS) {
            s->now.wall -= 180 * SECOND;
        } else if (s->kind == LATE) {
            advance(s, 30 * SECOND);
        } else {
            s->done = 0;
        }
    }
    if (t >= s->end) {
        if (s->kind == DIES_BY_OOM) {
            put_cgroup_2(100 * MIB, 1);
            put("proc/vmstat", "nr_free_pages 1\noom_kill 8\n");
            put("kmsg", "%s",
                "6,1,1,-;oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=/app,task_memcg="
                "/app,task=daemon,pid=100,uid=42\n SUBSYSTEM=x\n3,2,2,-;Memory cgroup "
                "out of memory: Killed process 100 (daemon) total-vm:1kB, "
                "anon-rss:1kB\n");
        }
        take("proc/100/stat");
        take("proc/100/statm");
        take("proc/100/status");
    }
    return 0;
}

/* ---- runs ---- */

struct seen {
    struct rssmon_verdict verdict;
    char death[32], evidence[1024];
    uint64_t samples, bytes, most, gaps, damaged;
    int64_t gap_ns, last_t, last_wall, last_suspended, first_wall;
    char cause[32];
    struct rssmon_sample last;
    struct rssmon_header header;
    char error_model[32];
    uint64_t wakeups;
};

static void run(struct seen *seen, struct script *s, int kind, int64_t length)
{
    struct rssmon_watch_result result;
    struct rssmon_error err;
    struct rssmon_log_reader *reader;
    struct rssmon_record r;
    char kmsg[96];
    struct stat st;
    (void)snprintf(kmsg, sizeof kmsg, "%s/kmsg", folder);
    put("kmsg", "%s", "");
    s->kind = kind;
    s->done = 0;
    s->waits = 0;
    s->now = (struct rssmon_now){0, 0, INT64_C(1764444000) * SECOND};
    s->end = length;
    struct rssmon_clock clock = {s, script_now, script_wait, script_cpu};
    struct rssmon_watch_config c = {.proc_path = proc,
                                    .cgroup_mount = cgroup,
                                    .kmsg_path = kmsg,
                                    .clock = &clock,
                                    .target = {.kind = RSSMON_BY_PID, .value = "100"},
                                    .log_path = log_path,
                                    .log = {.overwrite = 1}};
    if (kind == STEADY || kind == DAYS_WORK) /* a look a second: a day is 86,400 of them */
        c.interval_ns = c.max_interval_ns = SECOND;
    if (rssmon_watch(&c, &result, &err) != RSSMON_OK)
        fail_msg("%s", err.message);
    memset(seen, 0, sizeof *seen);
    assert_int_equal(rssmon_log_open_read(&reader, log_path, &err), RSSMON_OK);
    while (rssmon_log_next(reader, &r, &err) == RSSMON_OK) {
        if (r.kind == RSSMON_HEADER) {
            seen->header = r.u.header;
            seen->first_wall = r.wall_ns;
            (void)snprintf(seen->error_model, sizeof seen->error_model, "%s",
                           r.u.header.error_model);
        }
        if (r.kind == RSSMON_SAMPLE) {
            seen->samples++;
            seen->last = r.u.sample;
            seen->last_t = r.t_ns;
            seen->last_wall = r.wall_ns;
            seen->last_suspended = r.suspended_ns;
            if (r.u.sample.high > seen->most)
                seen->most = r.u.sample.high;
            assert_true(r.u.sample.rss > 0 && r.u.sample.low <= r.u.sample.rss &&
                        r.u.sample.rss <= r.u.sample.high);
        }
        if (r.kind == RSSMON_PEAK && r.u.peak.rss > seen->most)
            seen->most = r.u.peak.rss;
        if (r.kind == RSSMON_GAP) {
            seen->gaps++;
            seen->gap_ns = r.u.gap.length_ns;
            (void)snprintf(seen->cause, sizeof seen->cause, "%s", r.u.gap.cause);
        }
        if (r.kind == RSSMON_VERDICT) {
            seen->verdict = r.u.verdict;
            (void)snprintf(seen->death, sizeof seen->death, "%s", r.u.verdict.death);
            (void)snprintf(seen->evidence, sizeof seen->evidence, "%s", r.u.verdict.evidence);
        }
    }
    seen->damaged = rssmon_log_statistics(reader)->damaged;
    rssmon_log_close_read(reader);
    assert_int_equal(stat(log_path, &st), 0);
    seen->bytes = (uint64_t)st.st_size;
    seen->wakeups = s->waits;
    assert_int_equal(seen->damaged, 0);
}

/* The script may begin at any rss. */
static void begin(struct script *s, uint64_t rss, const char *release)
{
    memset(s, 0, sizeof *s);
    s->rss = rss;
    put_machine(release);
    put_process(100, rss, rss, 'S');
    put_cgroup_2(100 * MIB, 0);
}

static void test_steady_day(void **state)
{
    (void)state;
    struct script s;
    struct seen seen;
    begin(&s, 666 * MIB, "6.18.1");
    run(&seen, &s, STEADY, 24 * 3600 * SECOND);
    print_message("steady day: %" PRIu64 " bytes, %" PRIu64 " samples, %" PRIu64 " wakeups\n",
                  seen.bytes, seen.samples, seen.wakeups);
    assert_true(seen.bytes < 5000000);
    assert_true(seen.samples > 24 * 60); /* at least one a minute */
    assert_true(seen.wakeups < 24 * 3600 + 1000);
    assert_int_equal(seen.verdict.peak, 666 * MIB);
    assert_int_equal(seen.verdict.mean, 666 * MIB);
    assert_true(seen.verdict.duration_ns > 24 * 3600 * SECOND - 3 * SECOND);
    assert_true(seen.verdict.slope < 1 && seen.verdict.slope > -1);
    assert_int_equal(seen.gaps, 0);
    assert_string_equal(seen.death, "unknown"); /* files have no wait status */
}

static void test_busy_hours(void **state)
{
    (void)state;
    struct script s;
    struct seen seen;
    begin(&s, 400 * MIB, "6.18.1");
    run(&seen, &s, DAYS_WORK, 4200 * SECOND);
    print_message("busy hours: %" PRIu64 " bytes, %" PRIu64 " samples, %" PRIu64 " wakeups\n",
                  seen.bytes, seen.samples, seen.wakeups);
    assert_true(seen.bytes < 512 * 1024 + 4200 * 45 + 20000); /* what a log may grow by */
    /* the truth: the last hour's greatest value */
    uint64_t truth = 699 * MIB + UINT64_C(4199) * 1000;
    assert_true(seen.verdict.peak > truth - truth / 100 && seen.verdict.peak < truth + truth / 100);
    assert_true(seen.most == seen.verdict.peak); /* the envelope lost nothing */
}

static void test_suspend(void **state)
{
    (void)state;
    struct script s;
    struct seen seen;
    begin(&s, 10 * MIB, "6.18.1");
    run(&seen, &s, SUSPENDS, 60 * SECOND);
    assert_int_equal(seen.gaps, 1);
    assert_string_equal(seen.cause, "suspend");
    assert_int_equal(seen.gap_ns, 3600 * SECOND);
    assert_int_equal(seen.last_suspended, 3600 * SECOND);
    assert_true(seen.last_t < 61 * SECOND);
    assert_int_equal(seen.last_wall - seen.first_wall, seen.last_t + 3600 * SECOND);
}

static void test_clock_step(void **state)
{
    (void)state;
    struct script s;
    struct seen seen;
    begin(&s, 10 * MIB, "6.18.1");
    run(&seen, &s, STEPS, 60 * SECOND);
    assert_int_equal(seen.gaps, 1);
    assert_string_equal(seen.cause, "clock-step");
    assert_int_equal(seen.gap_ns, -180 * SECOND);
    assert_int_equal(seen.last_suspended, 0);
    /* same identity, no gap in the curve: to the end */
    assert_true(seen.verdict.duration_ns > 59 * SECOND && seen.verdict.duration_ns < 61 * SECOND);
}

static void test_missed_deadline(void **state)
{
    (void)state;
    struct script s;
    struct seen seen;
    begin(&s, 10 * MIB, "6.18.1");
    run(&seen, &s, LATE, 60 * SECOND);
    assert_int_equal(seen.gaps, 1);
    assert_string_equal(seen.cause, "missed-deadline");
    assert_true(seen.gap_ns >= 30 * SECOND && seen.gap_ns < 31 * SECOND);
}

/* Cgroup version 2, from files. */
static void test_cgroup_2(void **state)
{
    (void)state;
    struct script s;
    struct seen seen;
    begin(&s, 10 * MIB, "6.18.1");
    run(&seen, &s, DIES_BY_OOM, 20 * SECOND);
    assert_string_equal(seen.death, "oom_cgroup");
    assert_int_equal(seen.verdict.victim_pid, 100);
    assert_non_null(strstr(seen.evidence, "limit of cgroup /app"));
    assert_non_null(strstr(seen.evidence, "the cgroup's oom_kill rose by 1"));
    assert_int_equal(seen.header.cgroup_version, 2);
    assert_int_equal(seen.last.cg_current, 100 * MIB);
    assert_int_equal(seen.last.cg_peak, 100 * MIB + 4096);
    assert_int_equal(seen.last.cg_anon, 50 * MIB);
    assert_int_equal(seen.last.cg_file, 8000000); /* without shmem */
    assert_int_equal(seen.last.cg_shmem, 192000);
    assert_int_equal(seen.last.cg_kernel, 300000);
    assert_int_equal(seen.last.psi_some_us, 1234);
    assert_int_equal(seen.last.psi_full_us, 567);
    assert_int_equal(seen.last.mem_available, UINT64_C(4000000) * 1024);
    assert_int_equal(seen.last.swap, 12 * 1024);
    assert_int_equal(seen.last.page_tables, 80 * 1024);
    assert_int_equal(seen.last.hugetlb, 2 * MIB);
    /* memory.peak of kernels before 5.19: not there, so unknown */
    begin(&s, 10 * MIB, "5.10.0");
    take("cg/app/memory.peak");
    take("cg/app/memory.swap.current");
    run(&seen, &s, STEADY, 5 * SECOND);
    assert_true(seen.last.cg_peak == RSSMON_UNKNOWN && seen.last.cg_swap == RSSMON_UNKNOWN);
    assert_string_equal(seen.error_model, "thread-cache");
}

/* Sizes beyond 32 bits, and what each kernel's counter is worth. */
static void test_sizes(void **state)
{
    (void)state;
    static const uint64_t gib[] = {5, 400, 5000};
    for (size_t i = 0; i < 3; i++) {
        struct script s;
        struct seen seen;
        begin(&s, gib[i] << 30, i == 0 ? "6.18.1" : i == 1 ? "6.8.0-45-generic" : "strange");
        run(&seen, &s, STRANGE_SIZES, 20 * SECOND);
        assert_true(seen.verdict.peak == gib[i] << 30 && seen.last.rss == gib[i] << 30);
        assert_string_equal(seen.error_model, i == 0 ? "exact" : i == 1 ? "batch" : "unknown");
        assert_int_equal(seen.header.error_bytes == RSSMON_UNKNOWN, i == 2);
    }
    uint64_t bound;
    assert_string_equal(rssmon_error_model(6, 6, 128, 1, 4096, &bound), "batch");
    assert_int_equal(bound, 384 * MIB);
    assert_string_equal(rssmon_error_model(5, 10, 128, 10, 4096, &bound), "thread-cache");
    assert_int_equal(bound, 64 * 10 * 4096);
    assert_string_equal(rssmon_error_model(6, 16, 128, 1, 4096, &bound), "exact");
    assert_string_equal(rssmon_error_model(7, 0, 128, 1, 4096, &bound), "exact");
}

/* A unit is a folder of that name somewhere below. */
static void test_unit(void **state)
{
    (void)state;
    struct rssmon_proc_root root;
    struct rssmon_cgroup cg;
    struct rssmon_error err;
    put_machine("6.18.1");
    put_cgroup_2(MIB, 0);
    put("cg/system.slice/system-x.slice/curio.service/memory.current", "4096\n");
    assert_int_equal(rssmon_proc_open_root(&root, proc, &err), RSSMON_OK);
    assert_int_equal(rssmon_cgroup_of_unit(&cg, &root, "curio", cgroup, &err), RSSMON_OK);
    assert_string_equal(cg.path, "/system.slice/system-x.slice/curio.service");
    rssmon_cgroup_close(&cg);
    assert_int_equal(rssmon_cgroup_of_unit(&cg, &root, "../x", cgroup, &err), RSSMON_E_NOT_FOUND);
    assert_int_equal(rssmon_cgroup_of_unit(&cg, &root, "lotus", cgroup, &err), RSSMON_E_NOT_FOUND);
    rssmon_proc_close_root(&root);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static int setup(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/rssmon-day-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return -1;
    (void)snprintf(log_path, sizeof log_path, "%s/a.log", folder);
    (void)snprintf(proc, sizeof proc, "%s/proc", folder);
    (void)snprintf(cgroup, sizeof cgroup, "%s/cg", folder);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    return nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#define on_files(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        on_files(test_suspend),    on_files(test_clock_step), on_files(test_missed_deadline),
        on_files(test_cgroup_2),   on_files(test_sizes),      on_files(test_unit),
        on_files(test_steady_day), on_files(test_busy_hours),
    };
    return cmocka_run_group_tests_name("day", tests, NULL, NULL);
}
