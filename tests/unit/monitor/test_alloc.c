/* Every allocation of a whole watch fails in turn: an error or a whole log, never a crash, and
 * nothing is left open. Over a /proc of files, so that each run is the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/mem.h"
#include "monitor/watch.h"

static char folder[] = "/tmp/rssmon-alloc-XXXXXX";

static void put(const char *name, const char *text)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void make(const char *name)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(mkdir(path, 0755), 0);
}

/* Two processes, the second a child of the first that it forked, sharing a mapped file. */
static void make_machine(void)
{
    make("proc");
    put("proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 500 kB\n");
    for (int pid = 100; pid <= 101; pid++) {
        char name[64], text[1024];
        (void)snprintf(name, sizeof name, "proc/%d", pid);
        make(name);
        (void)snprintf(name, sizeof name, "proc/%d/task", pid);
        make(name);
        (void)snprintf(name, sizeof name, "proc/%d/task/%d", pid, pid);
        make(name);
        (void)snprintf(name, sizeof name, "proc/%d/task/%d/children", pid, pid);
        put(name, pid == 100 ? "101 " : "");
        (void)snprintf(name, sizeof name, "proc/%d/stat", pid);
        (void)snprintf(
            text, sizeof text,
            "%d (x) S %d 1 1 0 -1 64 10 0 0 0 5 5 0 0 20 0 1 0 7 100 10 1 1 1 1 1 1 1 1 1 1 "
            "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n",
            pid, pid == 100 ? 1 : 100);
        put(name, text);
        (void)snprintf(name, sizeof name, "proc/%d/statm", pid);
        put(name, "20000 10000 9000 1 0 1 0\n");
        (void)snprintf(name, sizeof name, "proc/%d/status", pid);
        put(name, "State:\tS\nUid:\t1 1\nVmHWM:\t40000 kB\nVmRSS:\t40000 kB\nRssAnon:\t4000 "
                  "kB\nRssFile:\t0 kB\nRssShmem:\t36000 kB\nThreads:\t1\n");
        (void)snprintf(name, sizeof name, "proc/%d/maps", pid);
        put(name, "7f0000000000-7f0002400000 rw-s 00000000 00:05 42 /dev/zero (deleted)\n");
        (void)snprintf(name, sizeof name, "proc/%d/cmdline", pid);
        put(name, "x");
    }
}

struct script {
    int64_t now;
};

static void script_now(void *context, struct rssmon_now *now)
{
    int64_t t = ((struct script *)context)->now;
    *now = (struct rssmon_now){t, t, INT64_C(1764444000000000000) + t};
}

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
    if (deadline > s->now)
        s->now = deadline;
    return 0;
}

static unsigned open_files(void)
{
    unsigned n = 0;
    DIR *d = opendir("/proc/self/fd");
    assert_non_null(d);
    while (readdir(d) != NULL)
        n++;
    closedir(d);
    return n;
}

static void test_each_allocation(void **state)
{
    (void)state;
    char proc[96], log_path[96], fifo[96];
    (void)snprintf(proc, sizeof proc, "%s/proc", folder);
    (void)snprintf(log_path, sizeof log_path, "%s/a.log", folder);
    (void)snprintf(fifo, sizeof fifo, "%s/fifo", folder);
    make_machine();
    unsigned files = open_files();
    uint64_t failures = 0, reduced = 0;
    for (uint64_t n = 1;; n++) {
        struct script s = {.now = 1000};
        struct rssmon_clock clock = {&s, script_now, script_wait, script_cpu};
        struct rssmon_watch_result result;
        struct rssmon_error err;
        struct rssmon_watch_config c = {.proc_path = proc,
                                        .cgroup_mount = folder,
                                        .kmsg_path = "/nonexistent",
                                        .clock = &clock,
                                        .target = {.kind = RSSMON_BY_PID, .value = "100"},
                                        .tree = 1,
                                        .duration_ns = 2000000000,
                                        .log_path = log_path,
                                        .log = {.overwrite = 1},
                                        .marks = {.fifo = fifo}};
        rssmon_alloc_fail_at(n);
        rssmon_status status = rssmon_watch(&c, &result, &err);
        uint64_t count = rssmon_alloc_count();
        rssmon_alloc_fail_at(0);
        assert_int_equal(open_files(), files);
        if (status != RSSMON_OK) {
            assert_int_equal(status, RSSMON_E_MEMORY);
            assert_true(strlen(err.message) > 10);
            failures++;
        } else if (count < n) { /* none failed any more */
            /* 2 x 4,000 kB anonymous, of which the child's ten faults may be its own, and one
             * 36,000 kB */
            assert_true(result.peak >= 40000 << 10 && result.peak <= (40000 + 4000) << 10);
            break;
        } else {
            reduced++; /* a sum that stays plain, a child that is looked for again */
            assert_true(result.peak >= 40000 << 10 && result.peak <= 80000 << 10);
        }
    }
    print_message("%u allocations ended it, %u were made do without\n", (unsigned)failures,
                  (unsigned)reduced);
    assert_true(failures >= 8 && reduced >= 2);
}

static int setup(void **state)
{
    (void)state;
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    char command[128];
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_allocation)};
    return cmocka_run_group_tests_name("alloc", tests, setup, teardown);
}
