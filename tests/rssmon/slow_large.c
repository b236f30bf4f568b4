/* What takes memory and time: a process of 8 GiB (or three quarters of what is free) dies slowly.
 */
#include "harness.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int large(const void *argument)
{
    touch(*(const size_t *)argument, 0);
    target_gate();
    nap(60000);
    return 0;
}

static size_t size_here(void)
{
    unsigned long long kb = 0;
    char line[128];
    FILE *f = fopen("/proc/meminfo", "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "MemAvailable: %llu", &kb) == 1)
            break;
    if (f != NULL)
        fclose(f);
    size_t most = (size_t)kb * 1024 / 4 * 3;
    return most < 8192 * MIB ? most : 8192 * MIB;
}

static void test_large_death(void **state)
{
    (void)state;
    size_t size = size_here();
    struct target t = target_start(large, &size);
    target_wait(&t);
    pid_t m = monitor_attach(t.pid, NULL);
    target_go(&t);
    nap(300);
    (void)kill(t.pid, SIGKILL);
    (void)target_end(&t);
    assert_int_equal(monitor_end(m), 0);
    struct outcome *o = outcome_read(log_path);
    print_message("%zu MiB: least %" PRIu64 " MiB\n", size >> 20, o->least >> 20);
    assert_int_equal(o->zeros, 0);
    assert_about(o->least, size, 0.02);
    assert_about(o->verdict.peak, size, 0.02);
    assert_true(
        outcome_has(o, "state=exiting")); /* it was seen dying, and no figure was made of it */
    assert_string_equal(o->death, "signal");
}

int main(void)
{
    const struct CMUnitTest tests[] = {situation(test_large_death)};
    return cmocka_run_group_tests_name("large", tests, NULL, NULL);
}
