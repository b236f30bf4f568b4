/* Cgroups and their limits, namespaces, reused PIDs, disks that are full or read-only. What needs
 * root or a kernel feature that is not here is skipped by name.
 */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n = write(fd, text, strlen(text));
    close(fd);
    return n < 0 ? -1 : 0;
}

/* ---- a memory cgroup of our own, of whichever version is writable ---- */

static char group[128]; /* its folder; empty when there is none */
static int version;

static int group_make(void)
{
    char path[256];
    (void)snprintf(group, sizeof group, "/sys/fs/cgroup/memory/rssmon-test-%ld", (long)getpid());
    version = 1;
    if (mkdir(group, 0755) == 0)
        return 0;
    (void)snprintf(group, sizeof group, "/sys/fs/cgroup/rssmon-test-%ld", (long)getpid());
    version = 2;
    if (mkdir(group, 0755) == 0) {
        (void)snprintf(path, sizeof path, "%s/memory.current", group);
        if (access(path, R_OK) == 0)
            return 0;
        (void)rmdir(group);
    }
    group[0] = '\0';
    return -1;
}

static int group_limit(const char *limit)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", group,
                   version == 1 ? "memory.limit_in_bytes" : "memory.max");
    return write_file(path, limit);
}

static void group_join(void)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/cgroup.procs", group);
    if (write_file(path, "0") != 0)
        _exit(96);
}

static void group_remove(void)
{
    for (int i = 0; i < 200 && rmdir(group) != 0 && errno == EBUSY; i++)
        nap(10);
    group[0] = '\0';
}

static void need_group(void)
{
    if (group_make() != 0) {
        print_message("SKIPPED: no memory cgroup can be made here (root is needed)\n");
        skip();
    }
}

static int in_group(const void *argument)
{
    group_join();
    touch(*(const size_t *)argument, 0);
    target_gate();
    nap(900);
    return 0;
}

static void test_other_cgroup(void **state)
{
    (void)state;
    size_t size = 80 * MIB;
    need_group();
    struct target t = target_start(in_group, &size);
    target_wait(&t);
    pid_t m = monitor_attach(t.pid, NULL);
    target_go(&t);
    (void)target_end(&t);
    assert_int_equal(monitor_end(m), 0);
    struct outcome *o = outcome_read(log_path);
    assert_non_null(strstr(o->cgroup, strrchr(group, '/')));
    assert_int_equal(o->header.cgroup_version, version);
    assert_true(o->last.cg_current > 80 * MIB && o->last.cg_current < 100 * MIB);
    assert_about(o->last.cg_anon, 80 * MIB, 0.05);
    group_remove();
}

/* The cgroup itself as the target: ends when it is empty. */
static void test_cgroup_scope(void **state)
{
    (void)state;
    size_t size = 80 * MIB;
    need_group();
    assert_int_equal(monitor_run((const char *const[]){"-q", "--no-gpu", "-l", log_path, "--cgroup",
                                                       group, NULL}),
                     3);
    assert_non_null(strstr(output_of("stderr"), "no process in it; --wait"));
    struct target t = target_start(in_group, &size);
    target_wait(&t);
    pid_t m = monitor_start(
        (const char *const[]){"-q", "--no-gpu", "-l", log_path, "--cgroup", group, NULL});
    nap(300);
    target_go(&t);
    (void)target_end(&t);
    assert_int_equal(monitor_end(m), 0);
    struct outcome *o = outcome_read(log_path);
    assert_string_equal(o->scope, "cgroup");
    assert_true(o->zeros == 0 && o->least > 70 * MIB);
    assert_about(o->verdict.peak, 81 * MIB, 0.05);
    assert_true(outcome_has(o, "proc event=start"));
    assert_true(o->has_verdict);
    group_remove();
}

/* ---- the kernel's OOM killer at a cgroup's limit ---- */

static int grows(const void *unused)
{
    (void)unused;
    group_join();
    touch(20 * MIB, 0);
    target_gate();
    for (int i = 0; i < 1000; i++) {
        touch(4 * MIB, 0);
        nap(10);
    }
    return 0; /* the limit did not hold */
}

static void test_oom(void **state)
{
    (void)state;
    need_group();
    assert_int_equal(group_limit("96M"), 0);
    struct target t = target_start(grows, NULL);
    target_wait(&t);
    pid_t m = monitor_attach(t.pid, NULL);
    target_go(&t);
    int status = target_end(&t);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(monitor_end(m), 0);
    struct outcome *o = outcome_read(log_path);
    print_message("%s\n", o->evidence);
    assert_string_equal(o->death, "oom_cgroup");
    assert_int_equal(o->verdict.victim_pid, t.pid);
    assert_string_equal(o->victim, o->name);
    assert_non_null(strstr(o->evidence, "oom_kill rose by 1"));
    assert_true(o->verdict.peak > 80 * MIB && o->verdict.peak < 120 * MIB);
    assert_int_equal(o->zeros, 0);
    group_remove();
}

/* The victim is a child; the watched process goes on and exits well. */
static int child_is_victim(const void *unused)
{
    (void)unused;
    group_join();
    target_gate();
    pid_t child = fork();
    if (child == 0) {
        (void)prctl(PR_SET_NAME, "the victim");
        nap(300);
        (void)write_file("/proc/self/oom_score_adj", "1000");
        for (;;) {
            touch(4 * MIB, 0);
            nap(5);
        }
    }
    int status;
    (void)waitpid(child, &status, 0);
    nap(200);
    return WIFSIGNALED(status) ? 0 : 1;
}

static void test_oom_of_child(void **state)
{
    (void)state;
    need_group();
    assert_int_equal(group_limit("64M"), 0);
    struct target t = target_start(child_is_victim, NULL);
    target_wait(&t);
    pid_t m = monitor_attach(t.pid, (const char *const[]){"--tree", NULL});
    target_go(&t);
    assert_int_equal(target_end(&t), 0);
    assert_int_equal(monitor_end(m), 0);
    struct outcome *o = outcome_read(log_path);
    assert_string_equal(o->death, "exit");
    assert_string_equal(o->victim, "the victim");
    assert_true(o->verdict.victim_pid != RSSMON_UNKNOWN &&
                o->verdict.victim_pid != (uint64_t)t.pid);
    group_remove();
}

/* The same death without the kernel log: the counters tell, and nobody is named. */
static void test_oom_without_log(void **state)
{
    (void)state;
    need_group();
    assert_int_equal(group_limit("64M"), 0);
    struct target t = target_start(grows, NULL);
    target_wait(&t);
    pid_t m = monitor_attach(t.pid, (const char *const[]){"--kmsg", "/nonexistent", NULL});
    target_go(&t);
    (void)target_end(&t);
    assert_int_equal(monitor_end(m), 0);
    struct outcome *o = outcome_read(log_path);
    assert_string_equal(o->death, "oom_cgroup");
    assert_non_null(strstr(o->evidence, "kernel log cannot be read"));
    assert_true(o->verdict.victim_pid == RSSMON_UNKNOWN);
    group_remove();
}

/* ---- namespaces ---- */

/* A target in a PID namespace of its own, seen from outside. */
static int first_of_namespace(const void *unused)
{
    (void)unused;
    if (unshare(CLONE_NEWPID) != 0)
        return 95;
    pid_t child = fork();
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)prctl(PR_SET_NAME, "inside");
        touch(60 * MIB, 0);
        target_gate();
        nap(600);
        _exit(4);
    }
    int status;
    (void)waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

static void test_pid_namespace(void **state)
{
    (void)state;
    if (getuid() != 0) {
        print_message("SKIPPED: needs root to make a PID namespace\n");
        skip();
    }
    struct target t = target_start(first_of_namespace, NULL);
    target_wait(&t);
    pid_t m = monitor_start(
        (const char *const[]){"-q", "--no-gpu", "-l", log_path, "--match", "^inside$", NULL});
    nap(400);
    target_go(&t);
    (void)target_end(&t);
    assert_int_equal(monitor_end(m), 0);
    struct outcome *o = outcome_read(log_path);
    assert_string_equal(o->name, "inside");
    assert_int_equal(strncmp(o->pid_namespace, "pid:[", 5), 0);
    assert_about(o->verdict.peak, 61 * MIB, 0.05);
    assert_string_equal(o->death, "exit");
    assert_int_equal(o->verdict.code, 4);
}

/* A PID given anew: the second process is not the first. In a namespace of its own, where the next
 * PID can be chosen; rssmon runs inside too. */
static int reuse_inside(void)
{
    char number[16];
    if (mount("proc", "/proc", "proc", 0, NULL) != 0)
        return 94;
    pid_t first = fork();
    if (first == 0) {
        touch(30 * MIB, 0);
        nap(700);
        _exit(0);
    }
    (void)snprintf(number, sizeof number, "%ld", (long)first);
    pid_t m = fork();
    if (m == 0) {
        execl(RSSMON_BINARY, "rssmon", "-q", "--no-gpu", "-l", log_path, "-p", number, "--interval",
              "100ms", "--max-interval", "400ms", (char *)NULL);
        _exit(93);
    }
    nap(300);
    /* stop the monitor over the change, so that all happens between two of its looks */
    (void)kill(m, SIGSTOP);
    (void)waitpid(first, NULL, 0);
    char last[16];
    (void)snprintf(last, sizeof last, "%ld", (long)first - 1);
    if (write_file("/proc/sys/kernel/ns_last_pid", last) != 0)
        return 92;
    pid_t second = fork();
    if (second == 0) {
        touch(200 * MIB, 0);
        nap(1500);
        _exit(0);
    }
    if (second != first)
        return 91;
    nap(300);
    (void)kill(m, SIGCONT);
    int status;
    (void)waitpid(m, &status, 0);
    (void)kill(second, SIGKILL);
    (void)waitpid(second, NULL, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 90;
}

static void test_pid_reuse(void **state)
{
    (void)state;
    pid_t outer = fork();
    if (outer == 0) {
        if (unshare(CLONE_NEWPID | CLONE_NEWNS) != 0 ||
            mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
            _exit(77);
        pid_t init = fork();
        if (init == 0)
            _exit(reuse_inside());
        int status;
        (void)waitpid(init, &status, 0);
        _exit(WEXITSTATUS(status));
    }
    int code = monitor_end(outer);
    if (code == 77) {
        print_message("SKIPPED: needs root to make PID and mount namespaces\n");
        skip();
    }
    assert_int_equal(code, 0);
    struct outcome *o = outcome_read(log_path);
    assert_true(o->most < 60 * MIB); /* nothing of the second */
    assert_true(o->has_verdict);
    assert_int_equal(outcome_count(o, "verdict "), 1);
}

/* ---- disks ---- */

static void mount_small(const char *where, unsigned long flags, const char *options)
{
    if (mkdir(where, 0755) != 0 || mount("tmpfs", where, "tmpfs", flags, options) != 0) {
        print_message("SKIPPED: a tmpfs cannot be mounted here (root is needed)\n");
        skip();
    }
}

static int moving(const void *unused)
{
    (void)unused;
    target_gate();
    for (int i = 0; i < 50; i++) {
        volatile char *p = touch((size_t)(5 + 3 * i) * MIB, 0);
        nap(30);
        untouch(p, (size_t)(5 + 3 * i) * MIB);
    }
    return 0;
}

static void test_full_disk(void **state)
{
    (void)state;
    char where[160], filler[200];
    (void)snprintf(where, sizeof where, "%s/disk", test_folder);
    mount_small(where, 0, "size=512k");
    (void)snprintf(log_path, sizeof log_path, "%s/a.log", where);
    (void)snprintf(filler, sizeof filler, "%s/filler", where);
    struct target t = target_start(moving, NULL);
    target_wait(&t);
    pid_t m = monitor_attach(t.pid, (const char *const[]){"--log-interval", "10ms", NULL});
    /* all but nothing is left */
    int fd = open(filler, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    static const char block[4096];
    while (write(fd, block, sizeof block) == (ssize_t)sizeof block)
        ;
    target_go(&t);
    nap(900);
    assert_int_equal(ftruncate(fd, 0), 0); /* there is room again */
    close(fd);
    assert_int_equal(target_end(&t), 0); /* the target never noticed */
    assert_int_equal(monitor_end(m), 6); /* the log is not whole, and the exit code says so */
    struct outcome *o = outcome_read(log_path);
    assert_int_equal(o->statistics.damaged, 0);
    assert_true(outcome_has(o, "note topic=records-lost"));
    assert_true(o->has_verdict && o->verdict.lost > 0);
    assert_true(o->verdict.peak > 150 * MIB); /* figures went on meanwhile */
    (void)umount2(where, MNT_DETACH);
}

static void test_full_from_the_start(void **state)
{
    (void)state;
    pid_t m = monitor_start(
        (const char *const[]){"-q", "--no-gpu", "-l", "/dev/full", "--append", "--", "true", NULL});
    assert_int_equal(monitor_end(m), 6);
    assert_non_null(strstr(output_of("stderr"), "/dev/full"));
    assert_non_null(strstr(output_of("stderr"), "make room"));
}

static void test_read_only_disk(void **state)
{
    (void)state;
    char where[160];
    (void)snprintf(where, sizeof where, "%s/disk", test_folder);
    mount_small(where, MS_RDONLY, NULL);
    (void)snprintf(log_path, sizeof log_path, "%s/a.log", where);
    pid_t m = monitor_start((const char *const[]){"-q", "--no-gpu", "-l", log_path, "--", "sh",
                                                  "-c", "touch /tmp/rssmon-must-not-be", NULL});
    assert_int_equal(monitor_end(m), 5);
    assert_non_null(strstr(output_of("stderr"), "Read-only file system"));
    assert_non_null(strstr(output_of("stderr"), "--log"));
    assert_int_not_equal(access("/tmp/rssmon-must-not-be", F_OK), 0); /* never started */
    (void)umount2(where, MNT_DETACH);
}

/* The monitor itself under its cgroup's limit: survives and writes to the end. */
static void test_monitor_under_pressure(void **state)
{
    (void)state;
    need_group();
#ifdef CUZK_SANITIZED
    assert_int_equal(group_limit("128M"), 0); /* its shadow memory needs room */
#else
    assert_int_equal(group_limit("24M"), 0);
#endif
    struct target t = target_start(moving, NULL);
    target_wait(&t);
    char number[16];
    (void)snprintf(number, sizeof number, "%ld", (long)t.pid);
    pid_t m = fork();
    if (m == 0) {
        group_join();
        execl(RSSMON_BINARY, "rssmon", "-q", "--no-gpu", "-l", log_path, "-p", number,
              (char *)NULL);
        _exit(97);
    }
    nap(300);
    pid_t hog = fork(); /* beside it, until the kernel must choose */
    if (hog == 0) {
        group_join();
        for (;;)
            touch(MIB, 0);
    }
    (void)waitpid(hog, NULL, 0);
    target_go(&t);
    (void)target_end(&t);
    assert_int_equal(monitor_end(m), 0);
    struct outcome *o = outcome_read(log_path);
    assert_true(o->has_verdict);
    assert_int_equal(o->statistics.damaged, 0);
    group_remove();
}

static int teardown(void **state)
{
    if (group[0] != '\0')
        group_remove();
    return folder_teardown(state);
}

#define surrounding(f) cmocka_unit_test_setup_teardown(f, folder_setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        surrounding(test_other_cgroup),
        surrounding(test_cgroup_scope),
        surrounding(test_oom),
        surrounding(test_oom_of_child),
        surrounding(test_oom_without_log),
        surrounding(test_pid_namespace),
        surrounding(test_pid_reuse),
        surrounding(test_full_disk),
        surrounding(test_full_from_the_start),
        surrounding(test_read_only_disk),
        surrounding(test_monitor_under_pressure),
    };
    return cmocka_run_group_tests_name("surroundings", tests, NULL, NULL);
}
