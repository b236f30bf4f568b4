/* Trees: shared memory counted once, many children, short lives, forks before exec, daemons. */
#include "harness.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const tree[] = {"--tree", NULL};

/* ---- 256 MiB shared by four forks ---- */

static int four_forks(const void *argument)
{
    int flags = *(const int *)argument;
    volatile char *p = touch(256 * MIB, flags);
    pid_t children[4];
    for (int i = 0; i < 4; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (size_t k = 0; k < 256 * MIB; k += 4096)
                (void)p[k]; /* read: every page is in this process's tables too */
            touch(MIB, 0);
            nap(60000);
            _exit(0);
        }
    }
    nap(700);
    target_gate();
    nap(1200);
    for (int i = 0; i < 4; i++) {
        (void)kill(children[i], SIGKILL);
        (void)waitpid(children[i], NULL, 0);
    }
    return 0;
}

static void shared_once(int flags)
{
    struct target t = target_start(four_forks, &flags);
    target_wait(&t);
    pid_t m = monitor_attach(t.pid, tree);
    target_go(&t);
    (void)target_end(&t);
    assert_int_equal(monitor_end(m), 0);
    struct outcome *o = outcome_read(log_path);
    print_message("peak %" PRIu64 " ± %" PRIu64 "\n", o->verdict.peak, o->verdict.peak_error);
    /* 256 MiB, four times 1 MiB, and the processes' own few pages */
    assert_about(o->verdict.peak, 262 * MIB, 0.02);
#ifndef CUZK_SANITIZED
    assert_true(o->verdict.peak_error < 8 * MIB);
#endif
    assert_int_equal(outcome_count(o, "proc event=start"), 5);
    /* the plain sum is five times as much, and is there to be seen */
    assert_true(outcome_has(o, " rss_sum=13") || outcome_has(o, " rss_sum=14"));
    assert_string_equal(o->scope, "tree");
}

/* Asked to walk page tables, it says the proportional sizes, and what the walk costs. */
static void test_pss(void **state)
{
    (void)state;
    int flags = MAP_PRIVATE;
    struct target t = target_start(four_forks, &flags);
    target_wait(&t);
    pid_t m = monitor_attach(t.pid, (const char *const[]){"--tree", "--pss", NULL});
    target_go(&t);
    nap(600);
    (void)kill(m, SIGTERM);
    assert_int_equal(monitor_end(m), 0);
    (void)kill(t.pid, SIGKILL);
    (void)target_end(&t);
    struct outcome *o = outcome_read(log_path);
    assert_true(o->most_pss <= o->verdict.peak + o->verdict.peak_error);
    assert_about(o->most_pss, 261 * MIB, 0.03);
    assert_true(outcome_has(o, "note topic=cost"));
}

static void test_shared_memory(void **state)
{
    (void)state;
    shared_once(MAP_SHARED);
}

static void test_copy_on_write(void **state)
{
    (void)state;
    shared_once(MAP_PRIVATE);
}

/* Children that break the sharing are counted in full. */
static int broken_forks(const void *unused)
{
    (void)unused;
    volatile char *p = touch(64 * MIB, 0);
    pid_t children[3];
    for (int i = 0; i < 3; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (size_t k = 0; k < 64 * MIB; k += 4096)
                p[k] = 2;
            nap(60000);
            _exit(0);
        }
    }
    nap(500);
    target_gate();
    nap(1000);
    for (int i = 0; i < 3; i++) {
        (void)kill(children[i], SIGKILL);
        (void)waitpid(children[i], NULL, 0);
    }
    return 0;
}

static void test_broken_sharing(void **state)
{
    (void)state;
    struct target t = target_start(broken_forks, NULL);
    target_wait(&t);
    pid_t m = monitor_attach(t.pid, tree);
    target_go(&t);
    (void)target_end(&t);
    assert_int_equal(monitor_end(m), 0);
    struct outcome *o = outcome_read(log_path);
    assert_about(o->verdict.peak, 258 * MIB, 0.03);
}

/* ---- a fork before exec: for a second the child seems as large as its parent ---- */

static int fork_then_exec(const void *unused)
{
    (void)unused;
    touch(300 * MIB, 0);
    target_gate();
    pid_t child = fork();
    if (child == 0) {
        nap(800);
        execl("/bin/sleep", "sleep", "0.8", (char *)NULL);
        _exit(1);
    }
    (void)waitpid(child, NULL, 0);
    return 0;
}

static void test_fork_before_exec(void **state)
{
    (void)state;
    struct target t = target_start(fork_then_exec, NULL);
    target_wait(&t);
    pid_t m = monitor_attach(t.pid, (const char *const[]){"--tree", "--max", "400M", NULL});
    target_go(&t);
    (void)target_end(&t);
    assert_int_equal(monitor_end(m), 0); /* 1 would say that the limit was crossed */
    struct outcome *o = outcome_read(log_path);
    assert_about(o->verdict.peak, 303 * MIB, 0.02);
    assert_true(outcome_has(o, "proc event=exec"));
    assert_false(outcome_has(o, "alert "));
}

/* ---- a thousand children ---- */

static int thousand(const void *unused)
{
    (void)unused;
    enum { N = 1000 };
    static pid_t children[N];
    touch(8 * MIB, 0);
    for (int i = 0; i < N; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
            nap(120000);
            _exit(0);
        }
    }
    target_gate();
    nap(4000);
    for (int i = 0; i < N; i++)
        (void)kill(children[i], SIGKILL);
    for (int i = 0; i < N; i++)
        (void)waitpid(children[i], NULL, 0);
    return 0;
}

static void test_thousand_children(void **state)
{
    (void)state;
    struct target t = target_start(thousand, NULL);
    target_wait(&t);
    pid_t m = monitor_attach(t.pid, tree);
    target_go(&t);
    (void)target_end(&t);
    assert_int_equal(monitor_end(m), 0);
    struct outcome *o = outcome_read(log_path);
    print_message("%" PRIu64 " looks: median %" PRIu64 " us, p99 %" PRIu64 " us; peak %" PRIu64
                  " ± %" PRIu64 "\n",
                  o->verdict.looks, o->verdict.look_median_ns / 1000, o->verdict.look_p99_ns / 1000,
                  o->verdict.peak, o->verdict.peak_error);
#ifndef CUZK_SANITIZED
    assert_true(o->verdict.look_median_ns < 20000000);
#endif
    /* a plain sum says some gigabytes; a child's own pages are some dozen */
    assert_true(o->verdict.peak < 400 * MIB);
    assert_true(o->verdict.peak > 10 * MIB);
    assert_int_equal(o->zeros, 0);
    assert_int_equal(o->most_processes, 1001);
}

/* ---- children that live 200 ms, 500 of them ---- */

static int short_lives(const void *unused)
{
    (void)unused;
    target_gate();
    for (int i = 0; i < 10; i++) {
        pid_t child = fork();
        if (child == 0) {
            touch(20 * MIB, 0);
            nap(200);
            _exit(7);
        }
        (void)waitpid(child, NULL, 0);
    }
    for (int i = 0; i < 500; i++) { /* and many that are gone at once */
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        (void)waitpid(child, NULL, 0);
    }
    return 0;
}

static void test_short_lives(void **state)
{
    (void)state;
    struct target t = target_start(short_lives, NULL);
    target_wait(&t);
    pid_t m = monitor_attach(t.pid, tree);
    target_go(&t);
    assert_int_equal(target_end(&t), 0);
    assert_int_equal(monitor_end(m), 0);
    struct outcome *o = outcome_read(log_path);
    unsigned tall = 0;
    for (const char *p = o->text; (p = strstr(p, "proc event=exit")) != NULL; p++) {
        const char *peak = strstr(p, " peak="), *end = strchr(p, '\n');
        tall += peak != NULL && peak < end && strtoull(peak + 6, NULL, 10) >= 20 * MIB;
    }
    assert_true(tall >= 10); /* each is there, with its own peak */
    assert_true(o->verdict.peak > 20 * MIB && o->verdict.peak < 60 * MIB);
    assert_int_equal(o->zeros, 0);
}

/* ---- a daemon leaves the tree by a double fork ---- */

static int double_fork(const void *unused)
{
    (void)unused;
    target_gate();
    pid_t child = fork();
    if (child == 0) {
        pid_t daemon = fork();
        if (daemon == 0) {
            (void)setsid();
            touch(100 * MIB, 0);
            nap(1500);
            _exit(0);
        }
        nap(300); /* long enough to be seen as a child of a child */
        _exit(0);
    }
    (void)waitpid(child, NULL, 0);
    nap(600);
    return 0;
}

static void test_double_fork(void **state)
{
    (void)state;
    struct target t = target_start(double_fork, NULL);
    target_wait(&t);
    pid_t m = monitor_attach(t.pid, (const char *const[]){"--tree", "--until-all", NULL});
    target_go(&t);
    (void)target_end(&t);
    assert_int_equal(monitor_end(m), 0);
    struct outcome *o = outcome_read(log_path);
    assert_true(o->verdict.peak > 100 * MIB);
    assert_true(outcome_has(o, "proc event=left"));
    assert_true(o->verdict.duration_ns > 1200000000); /* to the daemon's end */
}

/* Started by rssmon, an orphan stays in the tree even if its parents were never seen. */
static void test_orphan(void **state)
{
    (void)state;
    assert_int_equal(
        monitor_run((const char *const[]){"-q", "--no-gpu", "-l", log_path, "--tree", "--until-all",
                                          "--", "sh", "-c", "(sleep 1.2 &) ; exit 3", NULL}),
        3);
    struct outcome *o = outcome_read(log_path);
    assert_true(o->verdict.duration_ns > 1000000000);
    assert_true(outcome_has(o, "command=sleep 1.2"));
    assert_string_equal(o->death, "exit");
    assert_int_equal(o->verdict.code, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        situation(test_pss),
        situation(test_shared_memory),
        situation(test_copy_on_write),
        situation(test_broken_sharing),
        situation(test_fork_before_exec),
        situation(test_thousand_children),
        situation(test_short_lives),
        situation(test_double_fork),
        situation(test_orphan),
    };
    return cmocka_run_group_tests_name("tree", tests, NULL, NULL);
}
