/* The account: what is charged, refused, split by purpose and released, alone and under a parent.
 */
#include "unit/test.h"

#include "base/alloc.h"
#include "base/budget.h"
#include "base/threads.h"

static void test_charge_and_release(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct cuzk_budget *b;
    struct cuzk_account a;
    assert_ok(cuzk_budget_create(&b, "host", 1000, NULL, &err), err);
    assert_ok(cuzk_budget_reserve(b, CUZK_PURPOSE_MSM, 600, &err), err);
    assert_ok(cuzk_budget_reserve(b, CUZK_PURPOSE_ABC, 400, &err), err);
    assert_int_equal(cuzk_budget_reserve(b, CUZK_PURPOSE_NTT, 1, &err), CUZK_E_BUDGET);
    assert_non_null(strstr(err.message, "1 bytes needed"));
    assert_non_null(strstr(err.message, "0 of 1000 bytes"));
    cuzk_budget_release(b, CUZK_PURPOSE_MSM, 500);
    assert_ok(cuzk_budget_reserve(b, CUZK_PURPOSE_NTT, 300, &err), err);
    cuzk_budget_read(b, &a);
    assert_int_equal(a.used, 800);
    assert_int_equal(a.peak, 1000);
    assert_int_equal(a.used_by[CUZK_PURPOSE_MSM], 100);
    assert_int_equal(a.peak_by[CUZK_PURPOSE_MSM], 600);
    assert_int_equal(a.at_peak[CUZK_PURPOSE_ABC], 400);
    assert_int_equal(a.at_peak[CUZK_PURPOSE_NTT], 0);
    /* a size that would wrap around is refused, not charged */
    assert_int_equal(cuzk_budget_reserve(b, CUZK_PURPOSE_NTT, UINT64_MAX, &err), CUZK_E_BUDGET);
    cuzk_budget_destroy(b);
    cuzk_budget_destroy(NULL);
}

static void test_parent_takes_both_or_neither(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct cuzk_budget *host, *job;
    struct cuzk_account a;
    assert_ok(cuzk_budget_create(&host, "host", 100, NULL, &err), err);
    assert_ok(cuzk_budget_create(&job, "job", 50, host, &err), err);
    assert_int_equal(cuzk_budget_reserve(job, CUZK_PURPOSE_SRS, 60, &err), CUZK_E_BUDGET);
    cuzk_budget_read(host, &a);
    assert_int_equal(a.used, 0);
    assert_ok(cuzk_budget_reserve(host, CUZK_PURPOSE_SRS, 70, &err), err);
    assert_int_equal(cuzk_budget_reserve(job, CUZK_PURPOSE_SRS, 40, &err), CUZK_E_BUDGET);
    assert_non_null(strstr(err.message, "host memory"));
    assert_ok(cuzk_budget_reserve(job, CUZK_PURPOSE_SRS, 30, &err), err);
    cuzk_budget_read(host, &a);
    assert_int_equal(a.used, 100);
    cuzk_budget_release(job, CUZK_PURPOSE_SRS, 30);
    cuzk_budget_read(host, &a);
    assert_int_equal(a.used, 70);
    cuzk_budget_destroy(job);
    cuzk_budget_destroy(host);
}

static void test_buffers(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct cuzk_budget *b;
    struct cuzk_account a;
    void *p;
    assert_ok(cuzk_budget_create(&b, "host", 16 << 20, NULL, &err), err);
    assert_ok(cuzk_budget_alloc(b, &p, CUZK_PURPOSE_NTT, 8 << 20, &err), err);
    assert_int_equal((uintptr_t)p % 64, 0);
    for (size_t i = 0; i < 8 << 20; i += 4096)
        assert_int_equal(((char *)p)[i], 0);
    void *q = &err;
    assert_int_equal(cuzk_budget_alloc(b, &q, CUZK_PURPOSE_NTT, 9 << 20, &err), CUZK_E_BUDGET);
    assert_null(q);
    cuzk_alloc_fail_at(1);
    assert_int_equal(cuzk_budget_alloc(b, &q, CUZK_PURPOSE_NTT, 1 << 20, &err), CUZK_E_MEMORY);
    cuzk_alloc_fail_at(0);
    cuzk_budget_read(b, &a);
    assert_int_equal(a.used, 8 << 20);
    cuzk_budget_free(b, p, CUZK_PURPOSE_NTT, 8 << 20);
    cuzk_budget_free(b, NULL, CUZK_PURPOSE_NTT, 8 << 20);
    cuzk_budget_read(b, &a);
    assert_int_equal(a.used, 0);
    cuzk_budget_destroy(b);
}

static void churn(void *context, size_t i, unsigned worker)
{
    (void)worker;
    for (int n = 0; n < 100; n++)
        if (cuzk_budget_reserve(context, i % CUZK_PURPOSE_COUNT, i + 1, NULL) == CUZK_OK)
            cuzk_budget_release(context, i % CUZK_PURPOSE_COUNT, i + 1);
}

static void test_many_threads(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct cuzk_budget *b;
    struct cuzk_threads *pool;
    struct cuzk_account a;
    assert_ok(cuzk_budget_create(&b, "host", 500, NULL, &err), err);
    assert_ok(cuzk_threads_create(&pool, 4, &err), err);
    cuzk_threads_for(pool, 200, churn, b);
    cuzk_budget_read(b, &a);
    assert_int_equal(a.used, 0);
    for (int i = 0; i < CUZK_PURPOSE_COUNT; i++)
        assert_int_equal(a.used_by[i], 0);
    assert_in_range(a.peak, 1, 500);
    cuzk_threads_destroy(pool);
    cuzk_budget_destroy(b);
}

static void test_failed_allocations(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct cuzk_budget *b = (void *)state;
    cuzk_alloc_fail_at(1);
    assert_int_equal(cuzk_budget_create(&b, "host", 1, NULL, &err), CUZK_E_MEMORY);
    assert_null(b);
    struct cuzk_threads *pool = (void *)state;
    for (uint64_t n = 1; n <= 2; n++) {
        cuzk_alloc_fail_at(n);
        assert_int_equal(cuzk_threads_create(&pool, 3, &err), CUZK_E_MEMORY);
        assert_null(pool);
    }
    cuzk_alloc_fail_at(0);
}

static void test_purposes_have_names(void **state)
{
    (void)state;
    for (int i = 0; i < CUZK_PURPOSE_COUNT; i++)
        for (int j = 0; j < i; j++)
            assert_string_not_equal(cuzk_purpose_name((enum cuzk_purpose)i),
                                    cuzk_purpose_name((enum cuzk_purpose)j));
    assert_string_equal(cuzk_purpose_name(CUZK_PURPOSE_COUNT), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_charge_and_release),
        cmocka_unit_test(test_parent_takes_both_or_neither),
        cmocka_unit_test(test_buffers),
        cmocka_unit_test(test_many_threads),
        cmocka_unit_test(test_failed_allocations),
        cmocka_unit_test(test_purposes_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
