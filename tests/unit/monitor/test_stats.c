/* Quantiles against published tables; summaries, comparisons and slopes against values worked out
 * by hand; the sentence a person reads. */
#include "unit/test.h"

#include <math.h>

#include "monitor/stats.h"

static void assert_near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("%.10g, expected %.10g", got, want);
}

static void test_quantiles(void **state)
{
    (void)state;
    /* any table of Student's t, two-sided 95 % */
    assert_near(rssmon_t975(1), 12.7062, 1e-4);
    assert_near(rssmon_t975(2), 4.3027, 1e-4);
    assert_near(rssmon_t975(4), 2.7764, 1e-4);
    assert_near(rssmon_t975(9), 2.2622, 1e-4);
    assert_near(rssmon_t975(30), 2.0423, 1e-4);
    assert_near(rssmon_t975(1e6), 1.9600, 1e-4);
    assert_true(isnan(rssmon_t975(0.5)));
}

static void test_summaries(void **state)
{
    (void)state;
    struct rssmon_summary s;
    double v[] = {4, 1, 3, 2, 5};
    rssmon_summarise(&s, v, 5);
    assert_near(s.mean, 3, 0);
    assert_near(s.median, 3, 0);
    assert_near(s.min, 1, 0);
    assert_near(s.max, 5, 0);
    assert_near(s.sd, sqrt(2.5), 1e-12);
    assert_near(s.half, 2.776445 * sqrt(0.5), 1e-5);
    double two[] = {7, 1};
    rssmon_summarise(&s, two, 2);
    assert_near(s.median, 4, 0);
    rssmon_summarise(&s, two, 1);
    assert_true(isnan(s.half) && s.mean == 1);
    rssmon_summarise(&s, NULL, 0);
    assert_true(isnan(s.mean) && s.n == 0);
}

static void test_comparisons(void **state)
{
    (void)state;
    struct rssmon_summary a, b;
    struct rssmon_change c;
    char text[200];
    double before[] = {100, 101, 99, 100, 100}, after[] = {86, 85, 87, 86, 86};
    rssmon_summarise(&a, before, 5);
    rssmon_summarise(&b, after, 5);
    rssmon_compare(&c, &a, &b);
    assert_near(c.relative, -0.14, 1e-12);
    assert_true(c.significant);
    assert_in_range((int)(c.half * 1e4), 80, 110); /* about 0.95 % */
    rssmon_change_sentence(text, sizeof text, &c, &a, &b, "peak", "B");
    assert_string_equal(text, "B's peak is 14.0 % ± 1.0 % lower; n = 5 and 5");

    double noisy[] = {90, 112, 99, 101, 104};
    rssmon_summarise(&b, noisy, 5);
    rssmon_compare(&c, &a, &b);
    assert_false(c.significant);
    rssmon_change_sentence(text, sizeof text, &c, &a, &b, "peak", "B");
    assert_non_null(strstr(text, "no difference in peak was shown"));

    rssmon_summarise(&b, noisy, 1);
    rssmon_compare(&c, &a, &b);
    assert_false(c.significant);
    rssmon_change_sentence(text, sizeof text, &c, &a, &b, "peak", "B");
    assert_non_null(strstr(text, "cannot tell that from noise"));

    rssmon_summarise(&b, NULL, 0);
    rssmon_compare(&c, &a, &b);
    rssmon_change_sentence(text, sizeof text, &c, &a, &b, "peak", "B");
    assert_string_equal(text, "there is nothing to compare: n = 5 and 0");

    /* runs without any spread: the smallest difference is certain, none is none */
    double same[] = {5, 5, 5}, other[] = {6, 6, 6};
    rssmon_summarise(&a, same, 3);
    rssmon_summarise(&b, other, 3);
    rssmon_compare(&c, &a, &b);
    assert_true(c.significant && c.half == 0);
    rssmon_compare(&c, &a, &a);
    assert_false(c.significant);
}

/* The interval holds the truth about 95 times of 100: a check of the formulas as a whole. */
static void test_coverage(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    int inside = 0;
    for (int round = 0; round < 2000; round++) {
        double v[2][6];
        struct rssmon_summary s[2];
        for (int side = 0; side < 2; side++) {
            for (int i = 0; i < 6; i++) {
                double sum = 0; /* nearly normal, sd 1 */
                for (int k = 0; k < 12; k++)
                    sum += (double)(test_random(&seed) >> 11) * 0x1p-53;
                v[side][i] = 100 + 10 * side + (side + 1) * (sum - 6);
            }
            rssmon_summarise(&s[side], v[side], 6);
        }
        struct rssmon_change c;
        rssmon_compare(&c, &s[0], &s[1]);
        inside += fabs(c.relative - 0.1) <= c.half;
    }
    assert_in_range(inside, 1860, 1940);
}

static void test_slopes(void **state)
{
    (void)state;
    double x[] = {0, 1, 2, 3}, y[] = {1, 3, 5, 7}, slope, half;
    assert_true(rssmon_slope(&slope, &half, x, y, 4));
    assert_near(slope, 2, 1e-12);
    assert_near(half, 0, 1e-9);
    double bent[] = {1, 4, 4, 7};
    assert_true(rssmon_slope(&slope, &half, x, bent, 4));
    assert_near(slope, 1.8, 1e-12);
    /* residual sum 1.8, 2 degrees: 4.302653 * sqrt(0.9 / 5) */
    assert_near(half, 4.302653 * sqrt(0.18), 1e-5);
    assert_false(rssmon_slope(&slope, &half, x, y, 2));
    double flat[] = {1, 1, 1, 1};
    assert_false(rssmon_slope(&slope, &half, flat, y, 4));
    assert_true(slope == 0 && isnan(half));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quantiles),   cmocka_unit_test(test_summaries),
        cmocka_unit_test(test_comparisons), cmocka_unit_test(test_coverage),
        cmocka_unit_test(test_slopes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
