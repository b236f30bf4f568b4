/* Logs made here, record by record, and what history, ticks and charts make of them: every figure
 * is known by construction. Pictures are checked for what they must hold; how they look is for
 * eyes. */
#include "unit/test.h"

#include <math.h>
#include <unistd.h>

#include "monitor/chart.h"
#include "monitor/history.h"
#include "monitor/known_leaks.h"
#include "monitor/mem.h"

#define MIB ((uint64_t)1 << 20)

struct log {
    char text[200000];
    size_t length;
};

static void put(struct log *log, struct rssmon_record *r, double t)
{
    r->t_ns = (int64_t)llround(t * 1e9);
    r->wall_ns = 1700000000000000000 + r->t_ns;
    r->suspended_ns = 0;
    size_t n = rssmon_record_line(r, RSSMON_JSONL, log->text + log->length,
                                  sizeof log->text - log->length);
    assert_true(n != 0);
    log->length += n;
}

static void put_header(struct log *log)
{
    struct rssmon_record r;
    rssmon_record_init(&r, RSSMON_HEADER);
    r.u.header.version = RSSMON_LOG_VERSION;
    r.u.header.tool = "rssmon test";
    r.u.header.segment = 1;
    r.u.header.unit = "bytes";
    r.u.header.kernel = "6.18";
    r.u.header.scope = "process";
    r.u.header.name = "target";
    r.u.header.pid = 42;
    r.u.header.error_bytes = 4096;
    put(log, &r, 0);
}

static void put_sample(struct log *log, double t, uint64_t rss)
{
    struct rssmon_record r;
    rssmon_record_init(&r, RSSMON_SAMPLE);
    r.u.sample.rss = r.u.sample.low = r.u.sample.high = rss;
    r.u.sample.looks = 1;
    put(log, &r, t);
}

static void put_mark(struct log *log, double t, const char *action, const char *label)
{
    struct rssmon_record r;
    rssmon_record_init(&r, RSSMON_MARK);
    r.u.mark.action = action;
    r.u.mark.label = label;
    r.u.mark.source = "command";
    put(log, &r, t);
}

/* 100 MiB for 10 s, a ramp to 300 MiB over 10 s, back to 100 MiB; two phases; a transient of 400
 * MiB that only the ring saw. */
static void make_log(struct log *log, bool with_verdict)
{
    struct rssmon_record r;
    log->length = 0;
    put_header(log);
    put_mark(log, 0, "begin", "flat");
    for (int t = 0; t <= 10; t++)
        put_sample(log, t, 100 * MIB);
    put_mark(log, 10, "begin", "ramp");
    for (int t = 11; t <= 20; t++)
        put_sample(log, t, (100 + 20 * (uint64_t)(t - 10)) * MIB);
    put_mark(log, 20, "end", "ramp");
    put_mark(log, 21, "point", "done");
    put_sample(log, 22, 100 * MIB);
    const int64_t times[] = {12500000000, 12510000000, 12520000000};
    const uint64_t values[] = {150 * MIB, 400 * MIB, 150 * MIB};
    rssmon_record_init(&r, RSSMON_RING);
    r.u.ring.t_ns = times;
    r.u.ring.rss = values;
    r.u.ring.count = 3;
    r.u.ring.why = "peak";
    put(log, &r, 22);
    rssmon_record_init(&r, RSSMON_ACCOUNT);
    r.u.account.total = 90 * MIB;
    r.u.account.source = "test";
    put(log, &r, 5);
    if (!with_verdict)
        return;
    rssmon_record_init(&r, RSSMON_VERDICT);
    r.u.verdict.peak = 400 * MIB;
    r.u.verdict.peak_error = 8192;
    r.u.verdict.peak_source = "rss";
    r.u.verdict.peak_at_ns = 12510000000;
    r.u.verdict.mean = 150 * MIB;
    r.u.verdict.duration_ns = 22000000000;
    r.u.verdict.looks = 25;
    r.u.verdict.samples = 22;
    r.u.verdict.death = "signal";
    r.u.verdict.code = 9;
    r.u.verdict.evidence = "no counter moved";
    r.u.verdict.monitor_cpu_ns = 1000000;
    put(log, &r, 22);
}

static void assert_near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("%.10g, expected %.10g", got, want);
}

static void test_history(void **state)
{
    (void)state;
    static struct log log;
    struct rssmon_error err;
    struct rssmon_history *h;
    make_log(&log, true);
    assert_int_equal(rssmon_history_read_memory(&h, "log", log.text, log.length, &err), RSSMON_OK);
    assert_true(h->complete);
    assert_string_equal(h->name, "target");
    assert_int_equal(h->pid, 42);
    assert_int_equal(h->peak, 400 * MIB);
    assert_int_equal(h->peak_error, 8192);
    assert_near(h->peak_at, 12.51, 1e-9);
    assert_string_equal(h->death, "signal");
    assert_int_equal(h->code, 9);
    assert_int_equal(h->point_count, 22 + 3);
    for (size_t i = 1; i < h->point_count; i++)
        assert_true(h->points[i - 1].t <= h->points[i].t);
    assert_int_equal(h->phase_count, 2);
    assert_string_equal(h->phases[0].label, "flat");
    assert_near(h->phases[0].to, 10, 0);
    assert_int_equal(h->phases[0].peak, 100 * MIB);
    assert_int_equal(h->phases[0].mean, 100 * MIB);
    assert_string_equal(h->phases[1].label, "ramp");
    assert_int_equal(h->phases[1].peak, 400 * MIB);
    assert_int_equal(h->mark_count, 1);
    assert_string_equal(h->marks[0].label, "done");
    assert_int_equal(h->account_count, 1);
    rssmon_history_free(h);
}

static void test_history_without_end(void **state)
{
    (void)state;
    static struct log log;
    struct rssmon_error err;
    struct rssmon_history *h;
    make_log(&log, false);
    log.length -= 5; /* and a torn last line */
    assert_int_equal(rssmon_history_read_memory(&h, "log", log.text, log.length, &err), RSSMON_OK);
    assert_false(h->complete);
    assert_null(h->death);
    assert_int_equal(h->peak, 400 * MIB);
    assert_near(h->peak_at, 12.51, 1e-9);
    assert_int_equal(h->peak_error, 4096);
    assert_near(h->duration, 22, 1e-9);
    assert_true(h->read.torn_bytes != 0);
    assert_int_equal(h->account_count, 0);
    rssmon_history_free(h);

    assert_int_equal(rssmon_history_read_memory(&h, "log", "", 0, &err), RSSMON_E_FORMAT);
    assert_null(h);
    assert_non_null(strstr(err.message, "was it written by rssmon"));
    assert_int_equal(rssmon_history_read_memory(&h, "log", "a,b\n1,2\n", 8, &err), RSSMON_E_FORMAT);
    assert_null(h);
}

/* The log cut at every byte: never a crash, never more points than were written. */
static void test_history_cut_anywhere(void **state)
{
    (void)state;
    static struct log log;
    struct rssmon_error err;
    struct rssmon_history *h;
    make_log(&log, true);
    size_t step = 1;
#ifdef CUZK_SANITIZED
    step = 7;
#endif
    size_t last = 0;
    for (size_t n = 0; n <= log.length; n += step) {
        rssmon_status status = rssmon_history_read_memory(&h, "log", log.text, n, &err);
        if (status != RSSMON_OK) {
            assert_null(h);
            continue;
        }
        assert_true(h->point_count >= last);
        last = h->point_count;
        rssmon_history_free(h);
    }
    assert_true(last >= 22);
}

static void test_failed_allocations(void **state)
{
    (void)state;
    static struct log log;
    struct rssmon_error err;
    struct rssmon_history *h = NULL;
    make_log(&log, true);
    uint64_t n = 1;
    for (;; n++) {
        rssmon_alloc_fail_at(n);
        rssmon_status status = rssmon_history_read_memory(&h, "log", log.text, log.length, &err);
        rssmon_alloc_fail_at(0);
        if (status == RSSMON_OK)
            break;
        assert_int_equal(status, RSSMON_E_MEMORY);
        assert_null(h);
        assert_true(n < 1000);
    }
    assert_true(n > 10);
    rssmon_history_free(h);
}

static void test_ticks(void **state)
{
    (void)state;
    struct rssmon_ticks t;
    rssmon_ticks_bytes(&t, 457.0 * (double)MIB, 6);
    assert_string_equal(t.name, "MiB");
    assert_near(t.step, 100 * (double)MIB, 1);
    rssmon_ticks_bytes(&t, 400.0 * 1024 * (double)MIB, 5);
    assert_string_equal(t.name, "GiB");
    assert_near(t.step, 100.0 * 1024 * (double)MIB, 1);
    rssmon_ticks_bytes(&t, 0, 5);
    assert_true(t.step > 0);
    rssmon_ticks_seconds(&t, 22, 10);
    assert_string_equal(t.name, "s");
    assert_near(t.step, 5, 1e-9);
    rssmon_ticks_seconds(&t, 4 * 3600, 10);
    assert_string_equal(t.name, "h");
    assert_near(t.step, 1800, 1e-6);
    rssmon_ticks_seconds(&t, 400 * 86400, 10);
    assert_string_equal(t.name, "d");
    assert_near(t.step, 50 * 86400, 1);
}

static void read_back(const char *path, char *out, size_t capacity)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(out, 1, capacity - 1, f);
    out[n] = '\0';
    (void)fclose(f);
}

static void test_pictures(void **state)
{
    (void)state;
    static struct log log;
    static char content[400000];
    struct rssmon_error err;
    struct rssmon_history *h;
    make_log(&log, true);
    assert_int_equal(rssmon_history_read_memory(&h, "log", log.text, log.length, &err), RSSMON_OK);
    struct rssmon_curve curve = {"resident memory", h->points, h->point_count, false,
                                 h->peak_at,        h->peak,   h->peak_error};
    struct rssmon_span span = {"ramp", 10, 20, false};
    struct rssmon_chart chart = {.title = "a title",
                                 .curves = &curve,
                                 .curve_count = 1,
                                 .spans = &span,
                                 .span_count = 1,
                                 .marks = h->marks,
                                 .mark_count = h->mark_count};
    char dir[] = "/tmp/rssmon-test-look-XXXXXX", path[64], again[64];
    assert_non_null(mkdtemp(dir));
    (void)snprintf(path, sizeof path, "%s/a.png", dir);
    (void)snprintf(again, sizeof again, "%s/a.svg", dir);
    assert_int_equal(rssmon_chart_draw(&chart, path, &err), RSSMON_OK);
    read_back(path, content, sizeof content);
    assert_memory_equal(content, "\x89PNG", 4);
    assert_int_equal(rssmon_chart_draw(&chart, again, &err), RSSMON_OK);
    read_back(again, content, sizeof content);
    assert_non_null(strstr(content, "<svg"));
    assert_non_null(strstr(content, "</svg>"));
    assert_int_equal(rssmon_chart_draw(&chart, "/tmp/x.gif", &err), RSSMON_E_ARGUMENT);
    (void)snprintf(again, sizeof again, "%s/none/a.svg", dir);
    assert_int_equal(rssmon_chart_draw(&chart, again, &err), RSSMON_E_IO);
    (void)snprintf(again, sizeof again, "rm -rf %s", dir);
    assert_int_equal(system(again), 0);

    /* characters: the transient at 12.51 s must stick out in its column, and nowhere else */
    FILE *f = tmpfile();
    assert_non_null(f);
    assert_int_equal(rssmon_chart_text(&chart, f, 56, 14, true, false, &err), RSSMON_OK);
    rewind(f);
    char first[4][200];
    for (int i = 0; i < 4; i++)
        assert_non_null(fgets(first[i], sizeof first[i], f));
    (void)fclose(f);
    const char *star =
        strchr(first[0], '*') != NULL ? strchr(first[0], '*') : strchr(first[1], '*');
    assert_non_null(star);
    long column = star - (strchr(first[0], '*') != NULL ? first[0] : first[1]) - 11;
    assert_in_range(column, 44 * 12 / 22, 44 * 13 / 22 + 1);
    /* nothing at all, one point: still charts */
    curve.count = 1;
    f = fopen("/dev/null", "w");
    assert_non_null(f);
    assert_int_equal(rssmon_chart_text(&chart, f, 10, 2, false, true, &err), RSSMON_OK);
    curve.count = 0;
    assert_int_equal(rssmon_chart_text(&chart, f, 80, 20, false, true, &err), RSSMON_OK);
    (void)fclose(f);
    rssmon_history_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_history),
        cmocka_unit_test(test_history_without_end),
        cmocka_unit_test(test_history_cut_anywhere),
        cmocka_unit_test(test_failed_allocations),
        cmocka_unit_test(test_ticks),
        cmocka_unit_test(test_pictures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
