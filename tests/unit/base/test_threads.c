/* A parallel loop visits every index once, whatever the number of threads and however it nests. */

#include "unit/test.h"

#include <stdatomic.h>

#include "base/threads.h"

struct loop {
    struct cuzk_threads *pool;
    _Atomic unsigned hits[1000];
    _Atomic unsigned inner;
};

static void hit(void *context, size_t i, unsigned worker)
{
    struct loop *l = context;
    assert_true(worker < cuzk_threads_count(l->pool));
    atomic_fetch_add(&l->hits[i], 1);
}

static void inner(void *context, size_t i, unsigned worker)
{
    (void)i;
    (void)worker;
    atomic_fetch_add(&((struct loop *)context)->inner, 1);
}

static void nested(void *context, size_t i, unsigned worker)
{
    struct loop *l = context;
    hit(context, i, worker);
    cuzk_threads_for(l->pool, 10, inner, l);
}

static void test_each_index_once(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 5; threads += 2) {
        static struct loop l;
        struct cuzk_error err;
        l = (struct loop){0};
        assert_int_equal(cuzk_threads_create(&l.pool, threads, &err), CUZK_OK);
        assert_int_equal(cuzk_threads_count(l.pool), threads);
        for (unsigned round = 1; round <= 50; round++) {
            cuzk_threads_for(l.pool, 1000, hit, &l);
            for (size_t i = 0; i < 1000; i++)
                assert_int_equal(l.hits[i], round);
        }
        cuzk_threads_for(l.pool, 1000, nested, &l);
        assert_int_equal(l.inner, 10000);
        cuzk_threads_for(l.pool, 0, hit, &l);
        cuzk_threads_destroy(l.pool);
    }
}

static void test_too_many(void **state)
{
    (void)state;
    struct cuzk_threads *pool = (void *)state;
    struct cuzk_error err;
    assert_int_equal(cuzk_threads_create(&pool, 1025, &err), CUZK_E_ARGUMENT);
    assert_null(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_index_once),
        cmocka_unit_test(test_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
