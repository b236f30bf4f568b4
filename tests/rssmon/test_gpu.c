/* Device memory, from a stand-in for NVML: each struct version, figures not available, foreign
 * PIDs. */
#include "harness.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char list_path[256];

static void put_list(const char *text)
{
    FILE *f = fopen(list_path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
    (void)setenv("FAKE_NVML", list_path, 1);
}

static int waits(const void *unused)
{
    (void)unused;
    touch(5 * MIB, 0);
    target_gate();
    nap(500);
    return 0;
}

/* Runs rssmon over a target with this list, in which %ld is the target's PID. */
static struct outcome *with_list(const char *library, const char *format)
{
    char text[256];
    struct target t = target_start(waits, NULL);
    target_wait(&t);
    (void)snprintf(list_path, sizeof list_path, "%s/list", test_folder);
    char pid[16];
    (void)snprintf(pid, sizeof pid, "%ld", (long)t.pid);
    char *out = text;
    for (const char *p = format; *p != '\0'; p++) {
        if (*p == '@') {
            memcpy(out, pid, strlen(pid));
            out += strlen(pid);
        } else {
            *out++ = *p;
        }
    }
    *out = '\0';
    put_list(text);
    (void)unlink(log_path);
    pid_t m = monitor_start((const char *const[]){"-q", "--nvml", library, "-l", log_path, "-p",
                                                  pid, "--log-interval", "100ms", NULL});
    nap(300);
    target_go(&t);
    (void)target_end(&t);
    assert_int_equal(monitor_end(m), 0);
    return outcome_read(log_path);
}

static void test_versions(void **state)
{
    (void)state;
    static const char *const libraries[] = {FAKE_NVML_1, FAKE_NVML_3};
    for (size_t i = 0; i < 2; i++) {
        /* itself, another visible one (this test's init), one of another namespace */
        struct outcome *o =
            with_list(libraries[i], "@ 1073741824\n1 2147483648\n4194303 536870912\n");
        assert_int_equal(o->last.gpu, 1024 * MIB);
        assert_int_equal(o->last.gpu_unattributed, 5120 * MIB);
        /* twice in the list: once */
        o = with_list(libraries[i], "@ 1048576\n@ 2097152\n");
        assert_int_equal(o->last.gpu, 2 * MIB);
        /* not available is unknown, never 2^64 - 1 or 0 */
        o = with_list(libraries[i], "@ -\n");
        assert_true(o->last.gpu == RSSMON_UNKNOWN);
        assert_int_equal(o->last.gpu_unattributed, 8192 * MIB);
        o = with_list(libraries[i], "");
        assert_int_equal(o->last.gpu, 0);
    }
}

/* A library that does not start, is not there or is none costs nothing but a word. */
static void test_without(void **state)
{
    (void)state;
    (void)unsetenv("FAKE_NVML");
    assert_int_equal(monitor_run((const char *const[]){"--nvml", FAKE_NVML_3, "-l", log_path, "--",
                                                       "true", NULL}),
                     0);
    assert_non_null(strstr(output_of("stderr"), "does not start"));
    assert_true(outcome_read(log_path)->last.gpu == RSSMON_UNKNOWN);
    assert_int_equal(monitor_run((const char *const[]){"--overwrite", "--nvml", "/nonexistent.so",
                                                       "-l", log_path, "--", "true", NULL}),
                     0);
    assert_non_null(strstr(output_of("stderr"), "cannot be loaded"));
    assert_int_equal(monitor_run((const char *const[]){"--overwrite", "--nvml", "libm.so.6", "-l",
                                                       log_path, "--", "true", NULL}),
                     0);
    assert_non_null(strstr(output_of("stderr"), "lacks a function"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {situation(test_versions), situation(test_without)};
    return cmocka_run_group_tests_name("gpu", tests, NULL, NULL);
}
