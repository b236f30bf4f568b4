/* One process in its situations: spikes, dead leaders, slow deaths, exec, names, users, signals. */
#include "harness.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- 200 MiB and ten transients of 256 MiB ---- */

static int spikes(const void *argument)
{
    uint64_t *truth = *(uint64_t *const *)argument;
    touch(200 * MIB, 0);
    target_gate();
    for (int i = 0; i < 10; i++) {
        nap(300);
        volatile char *p = touch(256 * MIB, 0);
        truth[0] = own_status("VmRSS:");
        nap(60);
        untouch(p, 256 * MIB);
    }
    nap(100);
    truth[1] = own_status("VmHWM:");
    return 0;
}

static void test_spikes(void **state)
{
    (void)state;
    uint64_t *truth = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct target t = target_start(spikes, &truth);
    target_wait(&t);
    pid_t m = monitor_attach(t.pid, NULL);
    target_go(&t);
    assert_int_equal(target_end(&t), 0);
    assert_int_equal(monitor_end(m), 0);
    struct outcome *o = outcome_read(log_path);
    assert_true(truth[0] > 455 * MIB && truth[0] < 465 * MIB); /* the situation is as meant */
    assert_about(o->verdict.peak, truth[0], 0.01);
    assert_true(o->verdict.peak + o->verdict.peak_error >= truth[1]);
    assert_true(o->bytes < 200000);
    assert_int_equal(o->zeros, 0);
    assert_string_equal(o->death, "exit");
    double share = (double)o->verdict.monitor_cpu_ns / (double)o->verdict.duration_ns;
    print_message("peak %" PRIu64 " of %" PRIu64 ", %.2f %% of a core, %" PRIu64 " bytes, %" PRIu64
                  " looks\n",
                  o->verdict.peak, truth[0], 100 * share, o->bytes, o->verdict.looks);
#ifndef CUZK_SANITIZED
    assert_true(share < 0.01);
#endif
    /* what brackets the peak is named, with its parts */
    assert_true(outcome_has(o, "peak rss="));
    assert_true(outcome_has(o, " from_s=") && outcome_has(o, " anon="));
    munmap(truth, 4096);
}

/* ---- the leader exits, a thread with 200 MiB goes on ---- */

static void *worker(void *unused)
{
    (void)unused;
    touch(200 * MIB, 0);
    target_gate();
    nap(800);
    touch(50 * MIB, 0);
    nap(300);
    _exit(5);
}

static int leader(const void *unused)
{
    (void)unused;
    pthread_t thread;
    if (pthread_create(&thread, NULL, worker, NULL) != 0)
        return 1;
    pthread_exit(NULL);
}

static void test_zombie_leader(void **state)
{
    (void)state;
    struct target t = target_start(leader, NULL);
    target_wait(&t);
    nap(100); /* the leader is gone by now */
    pid_t m = monitor_attach(t.pid, NULL);
    target_go(&t);
    assert_int_equal(WEXITSTATUS(target_end(&t)), 5);
    assert_int_equal(monitor_end(m), 0);
    struct outcome *o = outcome_read(log_path);
    assert_about(o->verdict.peak, 252 * MIB, 0.02);
    assert_int_equal(o->zeros, 0);
    assert_true(o->least > 195 * MIB);
    assert_true(outcome_has(o, "zombie-leader"));
    assert_true(o->verdict.duration_ns > 800000000); /* not finished before it was */
    assert_string_equal(o->death, "exit");
    assert_int_equal(o->verdict.code, 5);
}

/* ---- a large process dies slowly ---- */

static int large(const void *unused)
{
    (void)unused;
    touch(1024 * MIB, 0);
    target_gate();
    nap(60000);
    return 0;
}

static void test_killed(void **state)
{
    (void)state;
    struct target t = target_start(large, NULL);
    target_wait(&t);
    pid_t m = monitor_attach(t.pid, NULL);
    target_go(&t);
    nap(300);
    assert_int_equal(kill(t.pid, SIGKILL), 0);
    assert_true(WIFSIGNALED(target_end(&t)));
    assert_int_equal(monitor_end(m), 0);
    struct outcome *o = outcome_read(log_path);
    assert_int_equal(o->zeros, 0);
    assert_true(o->least > 1000 * MIB); /* nor half of it */
    assert_string_equal(o->death, "signal");
    assert_int_equal(o->verdict.code, SIGKILL);
    assert_non_null(strstr(o->evidence, "not the kernel's OOM killer"));
    assert_true(o->last.rss > 1000 * MIB);
}

/* ---- an unreaped child, already dead ---- */

static int at_once(const void *unused)
{
    (void)unused;
    return 3;
}

static void test_zombie(void **state)
{
    (void)state;
    struct target t = target_start(at_once, NULL);
    nap(100);
    char number[16];
    (void)snprintf(number, sizeof number, "%ld", (long)t.pid);
    const char *argv[] = {"-q", "--no-gpu", "-l", log_path, "-p", number, NULL};
    assert_int_equal(monitor_run(argv), 0);
    struct outcome *o = outcome_read(log_path);
    assert_int_equal(o->samples, 0); /* no zero is logged for it */
    assert_true(o->verdict.peak == RSSMON_UNKNOWN);
    assert_true(outcome_has(o, "state=zombie"));
    assert_string_equal(o->death, "exit");
    assert_int_equal(o->verdict.code, 3);
    (void)target_end(&t);
}

/* ---- exec ---- */

static int executes(const void *unused)
{
    (void)unused;
    touch(150 * MIB, 0);
    target_gate();
    nap(300);
    execl("/bin/sleep", "sleep", "0.7", (char *)NULL);
    return 1;
}

static void test_exec(void **state)
{
    (void)state;
    struct target t = target_start(executes, NULL);
    target_wait(&t);
    pid_t m = monitor_attach(t.pid, NULL);
    target_go(&t);
    assert_int_equal(target_end(&t), 0);
    assert_int_equal(monitor_end(m), 0);
    struct outcome *o = outcome_read(log_path);
    assert_about(o->verdict.peak, 152 * MIB, 0.02); /* VmHWM began anew, the peak did not */
    assert_true(outcome_has(o, "proc event=exec"));
    assert_true(outcome_has(o, "command=sleep 0.7"));
    assert_true(o->last.rss < 20 * MIB);
    assert_int_equal(o->zeros, 0);
}

/* ---- names ---- */

static int named(const void *argument)
{
    (void)prctl(PR_SET_NAME, argument);
    touch(4 * MIB, 0);
    target_gate();
    nap(150);
    return 0;
}

static void test_names(void **state)
{
    (void)state;
    static const char *const names[] = {"Plex New Transc",  "tmux: client",     "(sd-pam)",
                                        "a) R 1\n(b",       ") R 1 1 1 1 1",    "((()))",
                                        "\xff\xfe\x01 9 9", "{\"k\":\"x\",\"t", "a,b\"c\\d"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct target t = target_start(named, names[i]);
        target_wait(&t);
        (void)unlink(log_path);
        pid_t m = monitor_attach(t.pid, NULL);
        target_go(&t);
        assert_int_equal(target_end(&t), 0);
        assert_int_equal(monitor_end(m), 0);
        struct outcome *o = outcome_read(log_path);
        assert_string_equal(o->name, names[i]);
        assert_true(o->verdict.peak > 4 * MIB && o->verdict.peak < 64 * MIB);
        assert_true(o->most < 64 * MIB && o->zeros == 0);
        assert_int_equal(o->statistics.damaged, 0);
        assert_string_equal(o->death, "exit");
    }
}

/* ---- a huge address space is not memory ---- */

static int huge_space(const void *unused)
{
    (void)unused;
    void *p =
        mmap(NULL, (size_t)8 << 40, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    target_gate();
    nap(200);
    return p == MAP_FAILED;
}

static void test_huge_space(void **state)
{
    (void)state;
    struct target t = target_start(huge_space, NULL);
    target_wait(&t);
    pid_t m = monitor_attach(t.pid, NULL);
    target_go(&t);
    assert_int_equal(target_end(&t), 0);
    assert_int_equal(monitor_end(m), 0);
    struct outcome *o = outcome_read(log_path);
    assert_true(o->last.vsize != RSSMON_UNKNOWN && o->last.vsize > UINT64_C(8) << 40);
    assert_true(o->most < 64 * MIB);
}

/* ---- another user's process, seen by nobody ---- */

static void test_other_user(void **state)
{
    (void)state;
    if (getuid() != 0) {
        print_message("SKIPPED: needs root to make a process of another user\n");
        skip();
    }
    struct target t = target_start(executes, NULL);
    target_wait(&t);
    pid_t m = fork();
    if (m == 0) {
        char number[16];
        (void)snprintf(number, sizeof number, "%ld", (long)t.pid);
        if (setgid(65534) != 0 || setuid(65534) != 0)
            _exit(90);
        execl(RSSMON_BINARY, "rssmon", "-q", "--no-gpu", "-l", log_path, "-p", number,
              (char *)NULL);
        _exit(91);
    }
    nap(400);
    target_go(&t);
    assert_int_equal(target_end(&t), 0);
    assert_int_equal(monitor_end(m), 0);
    struct outcome *o = outcome_read(log_path);
    assert_about(o->verdict.peak, 152 * MIB, 0.02);
    assert_string_equal(o->death, "exit"); /* the pidfd tells it to anyone */
    assert_int_equal(o->verdict.code, 0);
}

/* ---- the monitor is killed; the monitor is stopped; the target is stopped ---- */

static int restless(const void *unused)
{
    (void)unused;
    target_gate();
    for (int i = 0; i < 40; i++) {
        volatile char *p = touch((size_t)(10 + i) * MIB, 0);
        nap(40);
        untouch(p, (size_t)(10 + i) * MIB);
    }
    return 0;
}

static void test_monitor_killed(void **state)
{
    (void)state;
    for (int after = 20; after < 1000; after += 140) {
        struct target t = target_start(restless, NULL);
        target_wait(&t);
        (void)unlink(log_path);
        pid_t m = monitor_attach(t.pid, NULL);
        target_go(&t);
        nap(after);
        assert_int_equal(kill(m, SIGKILL), 0);
        assert_int_equal(monitor_end(m), 1000 + SIGKILL);
        (void)kill(t.pid, SIGKILL);
        (void)target_end(&t);
        struct outcome *o = outcome_read(log_path);
        assert_int_equal(o->has_verdict, 0);
        assert_int_equal(o->statistics.damaged, 0);
        assert_true(o->samples >= 1 && o->headers == 1);
        if (after > 300)
            assert_true(o->most > 10 * MIB);
    }
}

static void test_monitor_stopped(void **state)
{
    (void)state;
    struct target t = target_start(large, NULL);
    target_wait(&t);
    pid_t m = monitor_attach(t.pid, NULL);
    target_go(&t);
    nap(200);
    assert_int_equal(kill(m, SIGSTOP), 0);
    nap(2500);
    assert_int_equal(kill(m, SIGCONT), 0);
    nap(300);
    (void)kill(t.pid, SIGTERM);
    (void)target_end(&t);
    assert_int_equal(monitor_end(m), 0);
    struct outcome *o = outcome_read(log_path);
    assert_true(outcome_has(o, "gap cause=stopped"));
    assert_string_equal(o->death, "signal");
    assert_int_equal(o->verdict.code, SIGTERM);
}

static void test_target_stopped(void **state)
{
    (void)state;
    struct target t = target_start(large, NULL);
    target_wait(&t);
    pid_t m = monitor_attach(t.pid, NULL);
    assert_int_equal(kill(t.pid, SIGSTOP), 0);
    nap(400);
    assert_int_equal(kill(t.pid, SIGCONT), 0);
    nap(300);
    (void)kill(t.pid, SIGKILL);
    (void)target_end(&t);
    assert_int_equal(monitor_end(m), 0);
    struct outcome *o = outcome_read(log_path);
    assert_true(outcome_has(o, "state=stopped"));
    assert_true(outcome_has(o, "state=running"));
}

/* ---- the locale changes nothing ---- */

static void test_locale(void **state)
{
    (void)state;
    (void)setenv("LC_ALL", "de_DE.UTF-8", 1);
    struct target t = target_start(named, "locale");
    target_wait(&t);
    pid_t m = monitor_attach(t.pid, (const char *const[]){"--format", "csv", NULL});
    target_go(&t);
    (void)target_end(&t);
    assert_int_equal(monitor_end(m), 0);
    (void)unsetenv("LC_ALL");
    struct outcome *o = outcome_read(log_path);
    assert_true(o->samples > 0 && o->statistics.damaged == 0 && o->has_verdict);
}

/* ---- huge pages are outside of RSS ---- */

static int huge_pages(const void *unused)
{
    (void)unused;
    volatile char *p = mmap(NULL, 16 * MIB, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
    if (p == MAP_FAILED)
        return 77;
    for (size_t i = 0; i < 16 * MIB; i += 4096)
        p[i] = 1;
    target_gate();
    nap(200);
    return 0;
}

static void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        if (write(fd, text, strlen(text)) < 0)
            print_message("%s cannot be written\n", path);
        close(fd);
    }
}

static void test_huge_pages(void **state)
{
    (void)state;
    write_file("/proc/sys/vm/nr_hugepages", "8");
    struct target t = target_start(huge_pages, NULL);
    char c;
    if (read(t.signal, &c, 1) != 1) {
        (void)target_end(&t);
        write_file("/proc/sys/vm/nr_hugepages", "0");
        print_message("SKIPPED: no huge pages can be had here\n");
        skip();
    }
    pid_t m = monitor_attach(t.pid, NULL);
    target_go(&t);
    (void)target_end(&t);
    write_file("/proc/sys/vm/nr_hugepages", "0");
    assert_int_equal(monitor_end(m), 0);
    struct outcome *o = outcome_read(log_path);
    assert_int_equal(o->last.hugetlb, 16 * MIB);
    assert_true(o->most < 16 * MIB);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        situation(test_spikes),         situation(test_zombie_leader),
        situation(test_killed),         situation(test_zombie),
        situation(test_exec),           situation(test_names),
        situation(test_huge_space),     situation(test_other_user),
        situation(test_monitor_killed), situation(test_monitor_stopped),
        situation(test_target_stopped), situation(test_locale),
        situation(test_huge_pages),
    };
    return cmocka_run_group_tests_name("process", tests, NULL, NULL);
}
