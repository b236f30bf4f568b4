/* The pipeline of `cuzk prove`: every item once and in order, bounded numbers in flight, and on a
 * failure at any step of any item nothing lost and the least item's error. */

#include "unit/test.h"

#include <stdatomic.h>

#include "pipeline.h"

enum { ITEMS = 40 };

struct run {
    uint32_t made, started, finished; /* each written by one step */
    atomic_int alive_made, alive_started, most_made, most_started;
    atomic_int in_step[3];
    uint32_t fail_item;
    int fail_step; /* 0 make, 1 start, 2 finish, -1 none */
};
static struct run *current;

static void most(atomic_int *max, int now)
{
    int old = atomic_load(max);
    while (now > old && !atomic_compare_exchange_weak(max, &old, now))
        ;
}

static cuzk_status step(struct run *r, int which, uint32_t item, struct cuzk_error *err)
{
    assert_int_equal(atomic_fetch_add(&r->in_step[which], 1), 0);
    for (volatile int spin = 0; spin < (int)((item * 7919 + (uint32_t)which * 104729) % 20000);)
        spin++;
    atomic_fetch_sub(&r->in_step[which], 1);
    if (r->fail_step == which && r->fail_item == item)
        return cuzk_fail(err, CUZK_E_INPUT, "step %d of item %u", which, item);
    return CUZK_OK;
}

static cuzk_status make(void *context, uint32_t item, void **made, struct cuzk_error *err)
{
    struct run *r = context;
    assert_int_equal(item, r->made++);
    cuzk_status status = step(r, 0, item, err);
    if (status != CUZK_OK)
        return status;
    *made = malloc(sizeof item);
    assert_non_null(*made);
    memcpy(*made, &item, sizeof item);
    most(&r->most_made, atomic_fetch_add(&r->alive_made, 1) + 1);
    return CUZK_OK;
}

static void drop_made(void *made)
{
    if (made != NULL)
        atomic_fetch_sub(&current->alive_made, 1);
    free(made);
}

static cuzk_status start(void *context, uint32_t item, void **made, void **started,
                         struct cuzk_error *err)
{
    struct run *r = context;
    assert_int_equal(item, r->started++);
    assert_memory_equal(*made, &item, sizeof item);
    cuzk_status status = step(r, 1, item, err);
    if (status != CUZK_OK)
        return status; /* *made is left to be dropped */
    *started = *made;
    *made = NULL;
    atomic_fetch_sub(&r->alive_made, 1);
    most(&r->most_started, atomic_fetch_add(&r->alive_started, 1) + 1);
    return CUZK_OK;
}

static void drop_started(void *started)
{
    atomic_fetch_sub(&current->alive_started, 1);
    free(started);
}

static cuzk_status finish(void *context, uint32_t item, void *started, struct cuzk_error *err)
{
    struct run *r = context;
    assert_int_equal(item, r->finished++);
    assert_memory_equal(started, &item, sizeof item);
    cuzk_status status = step(r, 2, item, err);
    drop_started(started);
    return status;
}

static const struct pipeline_steps steps = {make, start, finish, drop_made, drop_started};

static void run(struct run *r, bool overlap, int fail_step, uint32_t fail_item)
{
    struct cuzk_error err = {0};
    *r = (struct run){.fail_step = fail_step, .fail_item = fail_item};
    current = r;
    cuzk_status status = pipeline_run(&steps, r, ITEMS, overlap, &err);
    if (fail_step < 0) {
        assert_ok(status, err);
        assert_int_equal(r->finished, ITEMS);
    } else {
        char want[64];
        (void)snprintf(want, sizeof want, "step %d of item %u", fail_step, fail_item);
        assert_int_equal(status, CUZK_E_INPUT);
        assert_string_equal(err.message, want);
    }
    assert_int_equal(r->alive_made, 0);
    assert_int_equal(r->alive_started, 0);
    assert_true(r->most_made <= 3);
    assert_true(r->most_started <= 2);
}

static void test_all(void **state)
{
    (void)state;
    static struct run r;
    for (int overlap = 0; overlap <= 1; overlap++) {
        run(&r, overlap != 0, -1, 0);
        for (int which = 0; which < 3; which++)
            for (uint32_t item = 0; item < ITEMS; item += 1 + item / 4)
                run(&r, overlap != 0, which, item);
    }
    assert_ok(pipeline_run(&steps, &r, 0, true, NULL), (struct cuzk_error){0});
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
