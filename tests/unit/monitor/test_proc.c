/* The parsers of /proc: golden texts in which each field has a value of its own, odd names, broken
 * texts; and this process read both ways.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "monitor/death.h"
#include "monitor/figures.h"
#include "monitor/marks.h"
#include "monitor/mem.h"
#include "monitor/tree.h"

static void stat_text(char *out, size_t size, const char *comm)
{
    /* field n has the value 1000 + n, so a wrong column shows */
    int n = snprintf(out, size, "1001 (%s) S", comm);
    for (int field = 4; field <= 52; field++)
        n += snprintf(out + n, size - (size_t)n, " %d", 1000 + field);
    (void)snprintf(out + n, size - (size_t)n, "\n");
}

static void check_stat(const char *comm)
{
    char text[2048];
    struct rssmon_stat s;
    stat_text(text, sizeof text, comm);
    assert_int_equal(rssmon_stat_parse(text, strlen(text), &s), 0);
    assert_string_equal(s.comm, comm);
    assert_int_equal(s.pid, 1001);
    assert_int_equal(s.state, 'S');
    assert_int_equal(s.ppid, 1004);
    assert_int_equal(s.session, 1006);
    assert_int_equal(s.flags, 1009);
    assert_int_equal(s.minor_faults, 1010);
    assert_int_equal(s.user_ticks, 1014);
    assert_int_equal(s.system_ticks, 1015);
    assert_int_equal(s.threads, 1020);
    assert_int_equal(s.start_ticks, 1022);
    assert_int_equal(s.start_stack, 1028);
    assert_int_equal(s.exit_code, 1052);
}

static void test_stat(void **state)
{
    (void)state;
    static const char *const names[] = {
        "a", "Plex New Transc", "tmux: client", "(sd-pam)",    "a) R 1\n(b", ")",
        "",  ") S 1 2 3",       "(((((",        "\x01\xff\x80"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        check_stat(names[i]);
    /* every byte that the kernel lets into a name, at every place of fifteen */
    for (int c = 1; c < 256; c++) {
        char name[16] = "fifteen bytes..";
        for (int at = 0; at < 15; at += 7) {
            name[at] = (char)c;
            check_stat(name);
        }
    }
    static const char *const bad[] = {
        "",          "1",
        "1 (a",      "1 (a)",
        "1 (a) S",   "1 (a) S 1 2 3\n",
        "x (a) S 1", "1 a S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17"};
    struct rssmon_stat s;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(rssmon_stat_parse(bad[i], strlen(bad[i]), &s), -1);
}

static void test_statm(void **state)
{
    (void)state;
    struct rssmon_statm m;
    assert_int_equal(rssmon_statm_parse("11 22 33 44 0 55 0\n", 19, &m), 0);
    assert_true(m.size == 11 && m.resident == 22 && m.shared == 33);
    assert_int_equal(rssmon_statm_parse("1310720000 1310719999 3 4 0 5 0\n", 32, &m), 0);
    assert_true(m.resident * 4096 == UINT64_C(5368709115904)); /* 5,000 GiB less a page */
    assert_int_equal(rssmon_statm_parse("1 2", 3, &m), -1);
    assert_int_equal(rssmon_statm_parse("1 2 x", 5, &m), -1);
    assert_int_equal(rssmon_statm_parse("99999999999999999999 2 3\n", 25, &m), -1);
    assert_int_equal(rssmon_statm_parse("", 0, &m), -1);
}

static void test_status(void **state)
{
    (void)state;
    static const char text[] =
        "Name:\tVmRSS:\\n 7 kB\nUmask:\t0022\nState:\tS (sleeping)\nUid:\t1000\t"
        "1\t2\t3\nNSpid:\t4711\t42\t7\nVmPeak:\t99 kB\nVmSize:\t101 "
        "kB\nVmLck:\t102 kB\nVmPin:\t98 kB\nVmHWM:\t103 kB\nVmRSS:\t104 "
        "kB\nRssAnon:\t105 kB\nRssFile:\t106 kB\nRssShmem:\t107 kB\nVmData:\t97 "
        "kB\nVmPTE:\t108 kB\nVmSwap:\t109 kB\nHugetlbPages:\t110 "
        "kB\nThreads:\t111\nSigQ:\t0/1\nVmRSS:\t1 kB\n";
    struct rssmon_status_file s;
    assert_int_equal(rssmon_status_parse(text, sizeof text - 1, &s), 0);
    assert_int_equal(s.state, 'S');
    assert_int_equal(s.uid, 1000);
    assert_int_equal(s.ns_pid, 7);
    assert_int_equal(s.vsize, 101 << 10);
    assert_int_equal(s.locked, 102 << 10);
    assert_int_equal(s.hwm, 103 << 10);
    assert_int_equal(s.rss, 104 << 10);
    assert_int_equal(s.anon, 105 << 10);
    assert_int_equal(s.file, 106 << 10);
    assert_int_equal(s.shmem, 107 << 10);
    assert_int_equal(s.page_tables, 108 << 10);
    assert_int_equal(s.swap, 109 << 10);
    assert_int_equal(s.hugetlb, 110 << 10);
    assert_int_equal(s.threads, 111);
    /* a zombie has none of them: unknown, not 0 */
    static const char dead[] = "Name:\tx\nState:\tZ (zombie)\nThreads:\t1\n";
    assert_int_equal(rssmon_status_parse(dead, sizeof dead - 1, &s), 0);
    assert_true(s.rss == RSSMON_UNKNOWN && s.hwm == RSSMON_UNKNOWN && s.state == 'Z');
    assert_int_equal(rssmon_status_parse("VmRSS:\t1 kB\n", 12, &s), -1);
    assert_int_equal(rssmon_status_parse("State:\tS\nVmRSS:\t18014398509481984 kB\n", 37, &s), -1);
}

static void test_maps(void **state)
{
    (void)state;
    struct rssmon_extent e;
    static const struct {
        const char *line;
        int rc;
    } lines[] = {
        {"7f0000000000-7f0000200000 rw-s 00001000 00:05 42    /dev/zero (deleted)\n", 1},
        {"7f0000000000-7f0000200000 rw-p 00000000 00:00 0 \n", 0},
        {"55d0c0000000-55d0c0001000 r-xp 00002000 fe:01 1234567 /usr/bin/x y\n", 1},
        {"7f0000000000-7f0000200000 rw-s 00000000 00:00 0\n", 1},
        {"7f0000200000-7f0000000000 rw-s 00000000 00:05 1 x\n", -1},
        {"garbage", -1},
        {"", -1},
        {"1-2 rw-s ffffffffffffffff 0:0 1", -1},
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        assert_int_equal(rssmon_maps_line(lines[i].line, strlen(lines[i].line), &e), lines[i].rc);
    assert_int_equal(rssmon_maps_line(lines[0].line, strlen(lines[0].line), &e), 1);
    assert_true(e.inode == 42 && e.from == 0x1000 && e.to == 0x201000 && e.device == 5);
}

/* stat's own RSS is not used; statm and status agree about this process. */
static void test_self(void **state)
{
    (void)state;
    struct rssmon_proc_root root;
    struct rssmon_process p;
    struct rssmon_error err;
    assert_int_equal(rssmon_proc_open_root(&root, "/proc", &err), RSSMON_OK);
    assert_int_equal(rssmon_process_open(&p, &root, (uint64_t)getpid(), 0, &err), RSSMON_OK);
    assert_int_equal(p.life, RSSMON_LIFE_RUNS);
    uint64_t full = p.rss;
    assert_int_equal(rssmon_process_quick(&p), RSSMON_LIFE_RUNS);
    uint64_t difference = p.rss > full ? p.rss - full : full - p.rss;
    assert_true(difference < 2 << 20); /* under sanitizers reading allocates a little */
    assert_true(p.s.anon + p.s.file + p.s.shmem == full);
    assert_true(p.peak >= p.rss && p.hwm >= full);
    uint64_t pss;
    if (rssmon_proc_pss(&p, &pss) == 0)
        assert_true(pss <= p.rss + (2 << 20));
    rssmon_process_close(&p);
    /* another start time is another process */
    assert_int_equal(rssmon_process_open(&p, &root, (uint64_t)getpid(), 1, &err), RSSMON_E_GONE);
    rssmon_proc_close_root(&root);
}

static void test_kernel_log(void **state)
{
    (void)state;
    static struct rssmon_evidence e;
    memset(&e, 0, sizeof e);
    assert_int_equal(rssmon_evidence_line(&e, "x invoked oom-killer: gfp_mask=0xcc0"), 0);
    assert_int_equal(
        rssmon_evidence_line(&e, "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,"
                                 "mems_allowed=0,global_oom,task_memcg=/a,task=bench,pid=17,uid=0"),
        0);
    assert_int_equal(
        rssmon_evidence_line(
            &e, "Out of memory: Killed process 17 (a) b (c) total-vm:1kB, anon-rss:2kB"),
        1);
    const struct rssmon_kill *k = rssmon_evidence_kill_of(&e, 17);
    assert_non_null(k);
    assert_string_equal(k->name, "a) b (c");
    assert_int_equal(k->in_cgroup, 0);
    assert_null(rssmon_evidence_kill_of(&e, 18));
    for (unsigned i = 0; i < 100; i++) {
        char line[80];
        (void)snprintf(line, sizeof line,
                       "Memory cgroup out of memory: Killed process %u (x) "
                       "total-vm:1kB",
                       100 + i);
        assert_int_equal(rssmon_evidence_line(&e, line), 1);
    }
    assert_true(rssmon_evidence_kill_of(&e, 199)->in_cgroup);
    assert_null(rssmon_evidence_kill_of(&e, 17)); /* only the newest are kept */
    /* SIGKILL without a trace is not the kernel's */
    static const uint64_t pids[] = {5000};
    struct rssmon_death d;
    struct rssmon_machine machine = {.oom_kill = 3};
    struct rssmon_cgroup cg = {.version = 0};
    struct rssmon_cgroup_events events;
    memset(&e, 0, sizeof e);
    memset(&events, 0xff, sizeof events);
    e.cg_before = events;
    e.before.oom_kill = 3;
    rssmon_death_judge(&d, &e, 9, "wait status", pids, 1, &machine, &cg, &events);
    assert_string_equal(d.kind, "signal");
    assert_non_null(strstr(d.evidence, "not the kernel's OOM killer"));
    machine.oom_kill = 4; /* it moved, but the log names another */
    rssmon_death_judge(&d, &e, 9, "wait status", pids, 1, &machine, &cg, &events);
    assert_string_equal(d.kind, "signal");
    assert_non_null(strstr(d.evidence, "not the kernel's OOM killer"));
    assert_non_null(strstr(d.evidence, "names none of these"));
    e.kmsg = -1;
    rssmon_death_judge(&d, &e, 9, "wait status", pids, 1, &machine, &cg, &events);
    assert_string_equal(d.kind, "oom_kernel");
    rssmon_death_judge(&d, &e, 15, "wait status", pids, 1, &machine, &cg, &events);
    assert_string_equal(d.kind, "signal"); /* SIGTERM is never the kernel's */
    rssmon_death_judge(&d, &e, RSSMON_UNKNOWN, "", pids, 1, &machine, &cg, &events);
    assert_string_equal(d.kind, "oom_kernel");
    /* neither the log nor a counter can be read: nothing is claimed */
    machine.oom_kill = RSSMON_UNKNOWN;
    rssmon_death_judge(&d, &e, 9, "wait status", pids, 1, &machine, &cg, &events);
    assert_string_equal(d.kind, "signal");
    assert_null(strstr(d.evidence, "not the kernel's OOM killer"));
    machine.oom_kill = 3;
    rssmon_death_judge(&d, &e, RSSMON_UNKNOWN, "", pids, 1, &machine, &cg, &events);
    assert_string_equal(d.kind, "unknown");
}

static void test_figures(void **state)
{
    (void)state;
    static struct rssmon_series s;
    /* a ramp of 1,000 bytes a second over an hour: mean and slope are known */
    memset(&s, 0, sizeof s);
    for (int64_t t = 0; t <= 3600; t++)
        rssmon_series_add(&s, t * 1000000000, 500000 + (uint64_t)t * 1000);
    uint64_t mean = rssmon_series_mean(&s);
    assert_true(mean > 2299000 && mean < 2301000);
    double slope = rssmon_series_slope(&s);
    assert_true(slope > 995 && slope < 1005);
    /* a gap is not counted */
    memset(&s, 0, sizeof s);
    rssmon_series_add(&s, 0, 100);
    rssmon_series_add(&s, 1000000000, 100);
    rssmon_series_break(&s);
    rssmon_series_add(&s, 1000000000000, 300);
    rssmon_series_add(&s, 1001000000000, 300);
    assert_int_equal(rssmon_series_mean(&s), 200);
    memset(&s, 0, sizeof s);
    assert_true(rssmon_series_mean(&s) == RSSMON_UNKNOWN);
    /* quantiles within an eighth */
    static struct rssmon_durations d;
    memset(&d, 0, sizeof d);
    for (int64_t i = 1; i <= 1000; i++)
        rssmon_durations_add(&d, i * 100);
    uint64_t median = rssmon_durations_quantile(&d, 0.5),
             high = rssmon_durations_quantile(&d, 0.99);
    assert_true(median >= 50000 && median < 57000);
    assert_true(high >= 99000 && high < 112000);
    rssmon_durations_add(&d, INT64_MAX);
    rssmon_durations_add(&d, -5);
    assert_true(rssmon_durations_quantile(&d, 1) >= INT64_MAX);
    /* the ring keeps the newest */
    static struct rssmon_quick_ring r;
    int64_t t_ns[8];
    uint64_t rss[8];
    memset(&r, 0, sizeof r);
    for (uint64_t i = 0; i < 3 * RSSMON_RING_SIZE; i++)
        rssmon_ring_add(&r, (int64_t)i, i);
    assert_int_equal(rssmon_ring_copy(&r, 0, 8, t_ns, rss, 8), 0);
    assert_int_equal(rssmon_ring_copy(&r, r.count - 3, r.count + 9, t_ns, rss, 8), 3);
    assert_int_equal(rss[2], 3 * RSSMON_RING_SIZE - 1);
}

static void test_mark_lines(void **state)
{
    (void)state;
    static const struct {
        const char *line, *action, *label, *text;
    } cases[] = {{"synth", "point", "synth", NULL},
                 {"begin synth\n", "begin", "synth", NULL},
                 {"end a b c\twith text", "end", "a b c", "with text"},
                 {"  point  x ", "point", "x", NULL},
                 {"beginning", "point", "beginning", NULL},
                 {"begin", "point", "begin", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char line[64];
        struct rssmon_record r;
        (void)snprintf(line, sizeof line, "%s", cases[i].line);
        rssmon_record_init(&r, RSSMON_MARK);
        assert_int_equal(rssmon_mark_parse(line, &r), 0);
        assert_string_equal(r.u.mark.action, cases[i].action);
        assert_string_equal(r.u.mark.label, cases[i].label);
        if (cases[i].text != NULL)
            assert_string_equal(r.u.mark.text, cases[i].text);
        else
            assert_null(r.u.mark.text);
    }
    char empty[] = "begin  \n";
    struct rssmon_record r;
    rssmon_record_init(&r, RSSMON_MARK);
    (void)rssmon_mark_parse(empty, &r);
    char none[] = " \n";
    assert_int_equal(rssmon_mark_parse(none, &r), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stat),    cmocka_unit_test(test_statm),
        cmocka_unit_test(test_status),  cmocka_unit_test(test_maps),
        cmocka_unit_test(test_self),    cmocka_unit_test(test_kernel_log),
        cmocka_unit_test(test_figures), cmocka_unit_test(test_mark_lines),
    };
    return cmocka_run_group_tests_name("proc", tests, NULL, NULL);
}
