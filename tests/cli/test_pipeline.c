/* The pipeline of `cuzk prove`: every item once, in order where there is one lane, bounded numbers
 * in flight, and on a failure at any step of any item nothing lost and that item's error.
 */

#include "unit/test.h"

#include <stdatomic.h>

#include "pipeline.h"

enum { ITEMS = 40, LANES = 5 };

struct run {
    unsigned lanes;
    atomic_int steps_of[ITEMS];    /* how many steps an item has behind it */
    atomic_uint_fast64_t begun[3]; /* by step */
    atomic_int alive_made, alive_started, most_made, most_started;
    atomic_int in_step[3], most_in_step[3];
    uint64_t fail_item, fail_too; /* fail_too: a second one, ITEMS: none */
    int fail_step;                /* 0 make, 1 start, 2 finish, -1 none */
};
static struct run *current;

static void most(atomic_int *max, int now)
{
    int old = atomic_load(max);
    while (now > old && !atomic_compare_exchange_weak(max, &old, now))
        ;
}

static cuzk_status step(struct run *r, int which, uint64_t item, struct cuzk_error *err)
{
    uint64_t order = atomic_fetch_add(&r->begun[which], 1);
    if (r->lanes <= 1)
        assert_int_equal(order, item);
    assert_true(item < ITEMS);
    assert_int_equal(atomic_fetch_add(&r->steps_of[item], 1), which);
    int now = atomic_fetch_add(&r->in_step[which], 1) + 1;
    assert_true(now <= (r->lanes != 0 ? (int)r->lanes : 1));
    most(&r->most_in_step[which], now);
    for (volatile int spin = 0; spin < (int)((item * 7919 + (uint64_t)which * 104729) % 20000);)
        spin++;
    atomic_fetch_sub(&r->in_step[which], 1);
    if (r->fail_step == which && (r->fail_item == item || r->fail_too == item))
        return cuzk_fail(err, CUZK_E_INPUT, "step %d of item %u", which, (unsigned)item);
    return CUZK_OK;
}

static cuzk_status make(void *context, uint64_t item, void **made, struct cuzk_error *err)
{
    struct run *r = context;
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

static cuzk_status start(void *context, uint64_t item, void **made, void **started,
                         struct cuzk_error *err)
{
    struct run *r = context;
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

static cuzk_status finish(void *context, uint64_t item, void *started, struct cuzk_error *err)
{
    struct run *r = context;
    assert_memory_equal(started, &item, sizeof item);
    cuzk_status status = step(r, 2, item, err);
    drop_started(started);
    return status;
}

static const struct pipeline_steps steps = {make, start, finish, drop_made, drop_started};

/* fail_step < 0: nothing fails. */
static void run(struct run *r, unsigned lanes, int fail_step, uint64_t fail_item, uint64_t fail_too)
{
    struct cuzk_error err = {0};
    memset(r, 0, sizeof *r);
    r->lanes = lanes;
    r->fail_step = fail_step;
    r->fail_item = fail_item;
    r->fail_too = fail_too;
    current = r;
    cuzk_status status = pipeline_run(&steps, r, ITEMS, lanes, &err);
    if (fail_step < 0) {
        assert_ok(status, err);
        for (size_t i = 0; i < ITEMS; i++)
            assert_int_equal(r->steps_of[i], 3);
    } else {
        char want[64], too[64];
        (void)snprintf(want, sizeof want, "step %d of item %u", fail_step, (unsigned)fail_item);
        (void)snprintf(too, sizeof too, "step %d of item %u", fail_step, (unsigned)fail_too);
        assert_int_equal(status, CUZK_E_INPUT);
        if (strcmp(err.message, too) == 0) /* then the lesser one was not reached */
            assert_int_not_equal(r->steps_of[fail_item], fail_step + 1);
        else
            assert_string_equal(err.message, want);
    }
    const int rows = lanes != 0 ? (int)lanes : 1;
    assert_int_equal(r->alive_made, 0);
    assert_int_equal(r->alive_started, 0);
    assert_true(r->most_made <= 3 * rows);
    assert_true(r->most_started <= 2 * rows);
}

static void test_all(void **state)
{
    (void)state;
    static struct run r;
    for (unsigned lanes = 0; lanes <= LANES; lanes++) {
        run(&r, lanes, -1, 0, ITEMS);
        for (int which = 0; which < 3; which++)
            for (uint64_t item = 0; item < ITEMS; item += 1 + item / 4) {
                run(&r, lanes, which, item, ITEMS);
                if (item + 1 < ITEMS)
                    run(&r, lanes, which, item, item + 1);
            }
    }
    run(&r, ITEMS, -1, 0, ITEMS);
    run(&r, 3 * ITEMS, -1, 0, ITEMS); /* more lanes than items */
    assert_ok(pipeline_run(&steps, &r, 0, 2, NULL), (struct cuzk_error){0});
}

/* Lanes do work side by side: each step of one waits for the same step of the other. */
static atomic_uint met[3];
static cuzk_status meet(int which)
{
    atomic_fetch_add(&met[which], 1);
    while (atomic_load(&met[which]) < 2)
        ;
    return CUZK_OK;
}
static cuzk_status meet_make(void *context, uint64_t item, void **made, struct cuzk_error *err)
{
    (void)context, (void)item, (void)made, (void)err;
    return meet(0);
}
static cuzk_status meet_start(void *context, uint64_t item, void **made, void **started,
                              struct cuzk_error *err)
{
    (void)context, (void)item, (void)made, (void)started, (void)err;
    return meet(1);
}
static cuzk_status meet_finish(void *context, uint64_t item, void *started, struct cuzk_error *err)
{
    (void)context, (void)item, (void)started, (void)err;
    return meet(2);
}
static void drop_nothing(void *what)
{
    (void)what;
}

static void test_side_by_side(void **state)
{
    (void)state;
    static const struct pipeline_steps meeting = {meet_make, meet_start, meet_finish, drop_nothing,
                                                  drop_nothing};
    struct cuzk_error err;
    assert_ok(pipeline_run(&meeting, NULL, 2, 2, &err), err);
    for (int i = 0; i < 3; i++)
        assert_int_equal(met[i], 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all),
                                       cmocka_unit_test(test_side_by_side)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
