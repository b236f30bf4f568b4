/* Several devices in one context. They are the processor under other names, with some of their
 * operations replaced, so that which device a proof goes to, what fails there and what becomes of
 * the others' work can be told apart without a card.
 */
#include "unit/groth16/groth.h"

#include <pthread.h>
#include <stdatomic.h>

enum { DEVICES = 3, MANY = 24, STARTERS = 4 };

/* What one device has done, and what it is to do. */
struct watch {
    atomic_int started, starting, most_starting;
    atomic_bool lose_start, lose_finish, refuse_circuit, refuse_key, refuse_setup;
};
static struct watch watches[DEVICES];
static pthread_barrier_t meeting; /* of DEVICES starts, where `meet` is set */
static bool meet;
static const struct cuzk_device_ops *real;
static struct cuzk_context *current;

static struct watch *watch_of(const struct cuzk_device *device)
{
    for (size_t i = 0; i < current->device_count; i++)
        if (current->devices[i] == device)
            return &watches[i];
    fail_msg("a device that is not of the context");
    return NULL;
}

static cuzk_status watched_circuit_load(struct cuzk_device *device,
                                        struct cuzk_device_circuit **out,
                                        const struct cuzk_qap *qap, struct cuzk_error *err)
{
    *out = NULL;
    if (watch_of(device)->refuse_circuit)
        return cuzk_fail(err, CUZK_E_DEVICE_MEMORY, "no room for the circuit");
    return real->circuit_load(device, out, qap, err);
}

static cuzk_status watched_key_load(struct cuzk_device *device, struct cuzk_device_key **out,
                                    const struct cuzk_params *params, enum cuzk_residency residency,
                                    struct cuzk_error *err)
{
    *out = NULL;
    if (watch_of(device)->refuse_key)
        return cuzk_fail(err, CUZK_E_DEVICE_MEMORY, "no room for the key");
    return real->key_load(device, out, params, residency, err);
}

static cuzk_status watched_setup_key(struct cuzk_device_setup *setup, struct cuzk_device_key **out,
                                     struct cuzk_error *err)
{
    *out = NULL;
    if (watch_of(setup->device)->refuse_setup)
        return cuzk_fail(err, CUZK_E_DEVICE_MEMORY, "no room for the key");
    return real->setup_key(setup, out, err);
}

static void watched_needs(const struct cuzk_device_circuit *circuit,
                          const struct cuzk_device_key *key, uint64_t bytes[2])
{
    size_t i = (size_t)(watch_of(circuit->device) - watches);
    assert_ptr_equal(circuit->device, key->device);
    bytes[0] = 1000 - 100 * i;
    bytes[1] = 7 + i;
}

static cuzk_status watched_start(struct cuzk_device *device, struct cuzk_pending **out,
                                 const struct cuzk_device_key *key,
                                 const struct cuzk_device_circuit *circuit,
                                 struct cuzk_witness *witness, struct cuzk_stages *stages,
                                 struct cuzk_error *err)
{
    struct watch *w = watch_of(device);
    *out = NULL;
    assert_ptr_equal(key->device, device);
    assert_ptr_equal(circuit->device, device);
    int now = atomic_fetch_add(&w->starting, 1) + 1, most = w->most_starting;
    while (now > most && !atomic_compare_exchange_weak(&w->most_starting, &most, now))
        ;
    atomic_fetch_add(&w->started, 1);
    if (meet)
        (void)pthread_barrier_wait(&meeting);
    cuzk_status status = w->lose_start
                             ? cuzk_fail(err, CUZK_E_DEVICE_LOST, "a sticky error")
                             : real->prove_start(device, out, key, circuit, witness, stages, err);
    atomic_fetch_sub(&w->starting, 1);
    return status;
}

static cuzk_status watched_finish(struct cuzk_pending *pending, struct cuzk_sums *out,
                                  struct cuzk_stages *stages, struct cuzk_error *err)
{
    if (watch_of(pending->device)->lose_finish) {
        memset(out, 0, sizeof *out);
        return cuzk_fail(err, CUZK_E_DEVICE_LOST, "a sticky error");
    }
    return real->prove_finish(pending, out, stages, err);
}

struct opened {
    struct toy toy;
    struct cuzk_relation *relation;
    struct cuzk_witness *witness;
    struct cuzk_key *key;
};

/* "left", "middle" and "right", watched. */
static struct cuzk_context *watched_context(unsigned threads)
{
    static const char *const names[DEVICES] = {"left", "middle", "right"};
    static struct cuzk_device_ops ops;
    struct cuzk_options options = {.threads = threads, .device = "cpu,cpu,cpu"};
    struct cuzk_error err;
    assert_ok(cuzk_context_create(&current, &options, &err), err);
    assert_int_equal(cuzk_context_device_count(current), DEVICES);
    ops = *(real = current->devices[0]->ops);
    ops.circuit_load = watched_circuit_load;
    ops.key_load = watched_key_load;
    ops.setup_key = watched_setup_key;
    ops.prove_needs = watched_needs;
    ops.prove_start = watched_start;
    ops.prove_finish = watched_finish;
    memset(watches, 0, sizeof watches);
    for (size_t i = 0; i < DEVICES; i++) {
        current->devices[i]->ops = &ops;
        (void)snprintf(current->devices[i]->info.name, sizeof current->devices[i]->info.name, "%s",
                       names[i]);
    }
    return current;
}

static struct opened open_toy(const char *name, unsigned threads, enum cuzk_key_mode mode)
{
    struct opened o = {.toy = toy_load(name)};
    struct cuzk_error err;
    assert_ok(
        cuzk_relation_open(&o.relation, &o.witness, watched_context(threads), o.toy.circuit, &err),
        err);
    assert_ok(cuzk_key_open(&o.key, o.relation, o.toy.params, mode, &err), err);
    return o;
}

static uint64_t host_used(void)
{
    struct cuzk_account account;
    cuzk_budget_read(current->host, &account);
    return account.used;
}

static void close_toy(struct opened *o)
{
    cuzk_witness_free(o->witness);
    cuzk_key_close(o->key);
    cuzk_relation_free(o->relation);
    assert_int_equal(host_used(), 0);
    cuzk_context_free(current);
}

static struct cuzk_witness *copy(const struct opened *o)
{
    struct cuzk_error err;
    struct cuzk_witness *w;
    assert_ok(cuzk_witness_create(&w, o->relation->circuit, current->host, &err), err);
    memcpy(w->inputs, o->witness->inputs, w->input_count * sizeof *w->inputs);
    memcpy(w->bits, o->witness->bits, ((size_t)w->aux_count + 63) / 64 * sizeof *w->bits);
    memcpy(w->values, o->witness->values, w->dense_count * sizeof *w->values);
    return w;
}

static struct cuzk_pending_proof *start_one(const struct opened *o)
{
    struct cuzk_error err;
    struct cuzk_witness *witness = copy(o);
    struct cuzk_pending_proof *pending;
    assert_ok(cuzk_prove_start(&pending, o->key, &witness, &err), err);
    assert_null(witness);
    return pending;
}

static void finish_one(const struct opened *o, struct cuzk_pending_proof *pending)
{
    struct cuzk_error err;
    uint8_t proof[CUZK_PROOF_BYTES];
    assert_ok(cuzk_prove_finish(&pending, &o->toy.rs, proof, NULL, &err), err);
    assert_memory_equal(proof, o->toy.proof, sizeof proof);
}

static const char *name_of(const struct cuzk_pending_proof *pending)
{
    return cuzk_device_describe(cuzk_prove_device(pending))->name;
}

static void test_names(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct cuzk_context *context;
    struct cuzk_options options = {.threads = 1, .device = "cpu,cpu"};
    assert_ok(cuzk_context_create(&context, &options, &err), err);
    assert_int_equal(cuzk_context_device_count(context), 2);
    assert_ptr_equal(cuzk_context_device_at(context, 0), cuzk_context_device(context));
    assert_ptr_not_equal(cuzk_context_device_at(context, 1), cuzk_context_device(context));
    assert_string_equal(cuzk_device_describe(cuzk_context_device_at(context, 1))->name, "cpu");
    assert_string_equal(cuzk_device_why(cuzk_context_device_at(context, 1)), "cpu was asked for");
    assert_null(cuzk_context_device_at(context, 2));
    cuzk_context_free(context);

    char many[4 * (CUZK_MOST_DEVICES + 1)], too_long[80];
    for (size_t i = 0; i <= CUZK_MOST_DEVICES; i++)
        memcpy(many + 4 * i, "cpu,", 4);
    many[sizeof many - 1] = '\0';
    memset(too_long, 'c', sizeof too_long);
    too_long[sizeof too_long - 1] = '\0';
    const char *const wrong[] = {"",         ",",          "cpu,",     ",cpu",     "cpu,,cpu",
                                 "cpu, cpu", many,         "auto,cpu", "cpu,auto", "auto,auto",
                                 too_long,   "cpu,abacus", "auto,"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        options.device = wrong[i];
        assert_int_equal(cuzk_context_create(&context, &options, &err), CUZK_E_ARGUMENT);
        assert_null(context);
    }
    many[sizeof many - 5] = '\0';
    options.device = many;
    assert_ok(cuzk_context_create(&context, &options, &err), err);
    assert_int_equal(cuzk_context_device_count(context), CUZK_MOST_DEVICES);
    cuzk_context_free(context);
}

/* Every card that there is: all at once, and none of them twice. */
static void test_cards(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct cuzk_context *context;
    struct cuzk_device_info *list;
    struct cuzk_options options = {.threads = 1, .device = "cpu,cuda:all"};
    size_t count;
    char twice[128];
    cuzk_status status = cuzk_device_list(&list, &count, &err);
    assert_ok(status, err);
    status = cuzk_context_create(&context, &options, &err);
    if (count == 1) {
        assert_true(status == CUZK_E_UNSUPPORTED || status == CUZK_E_DEVICE);
        assert_non_null(strstr(err.message, "cuda:all"));
        cuzk_device_list_free(list);
        return;
    }
    assert_ok(status, err);
    assert_int_equal(cuzk_context_device_count(context), count);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(cuzk_device_describe(cuzk_context_device_at(context, i))->name,
                            list[i].name);
    cuzk_context_free(context);
    (void)snprintf(twice, sizeof twice, "cuda,cpu,%s", list[1].uuid);
    const char *const wrong[] = {"cuda:0,cuda:0", "cuda:all,cuda:0", "cuda,cuda:0", twice};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        options.device = wrong[i];
        assert_int_equal(cuzk_context_create(&context, &options, &err), CUZK_E_ARGUMENT);
        assert_non_null(strstr(err.message, "twice"));
    }
    cuzk_device_list_free(list);
}

/* The choice by itself. */
static void test_dispatch(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct cuzk_dispatch *d;
    size_t i;
    assert_ok(cuzk_dispatch_create(&d, 2, &err), err);
    /* one at a time: always the first */
    for (int n = 0; n < 3; n++) {
        assert_true(cuzk_dispatch_begin(d, &i));
        assert_int_equal(i, 0);
        cuzk_dispatch_started(d, i, n == 2 ? CUZK_E_BUDGET : CUZK_OK);
        if (n != 2)
            cuzk_dispatch_end(d, i, CUZK_OK);
    }
    /* one is being finished on each; the one that also starts none is taken */
    assert_true(cuzk_dispatch_begin(d, &i) && i == 0);
    assert_true(cuzk_dispatch_begin(d, &i) && i == 1);
    cuzk_dispatch_started(d, 1, CUZK_OK);
    assert_true(cuzk_dispatch_begin(d, &i) && i == 1);
    assert_true(cuzk_dispatch_begin(d, &i) && i == 0);
    cuzk_dispatch_started(d, 0, CUZK_OK);
    cuzk_dispatch_started(d, 0, CUZK_OK);
    cuzk_dispatch_end(d, 0, CUZK_OK);
    cuzk_dispatch_started(d, 1, CUZK_OK);
    assert_true(cuzk_dispatch_begin(d, &i) && i == 0);
    /* lost in its finish: what is there ends, nothing new comes */
    cuzk_dispatch_started(d, 0, CUZK_OK);
    cuzk_dispatch_end(d, 0, CUZK_E_DEVICE_LOST);
    for (int n = 0; n < 3; n++) {
        assert_true(cuzk_dispatch_begin(d, &i));
        assert_int_equal(i, 1);
        cuzk_dispatch_started(d, 1, CUZK_OK);
    }
    assert_true(cuzk_dispatch_begin(d, &i) && i == 1);
    cuzk_dispatch_started(d, 1, CUZK_E_DEVICE_LOST);
    assert_false(cuzk_dispatch_begin(d, &i));
    cuzk_dispatch_end(d, 0, CUZK_OK);
    assert_false(cuzk_dispatch_begin(d, &i));
    cuzk_dispatch_destroy(d);
    cuzk_dispatch_destroy(NULL);
}

static void test_spread(void **state)
{
    (void)state;
    for (int mode = CUZK_KEY_STREAMED; mode <= CUZK_KEY_DECODED; mode++) {
        struct opened o = open_toy("toy5", 2, (enum cuzk_key_mode)mode);
        struct cuzk_pending_proof *p[2 * DEVICES];
        for (size_t i = 0; i < 2 * DEVICES; i++) {
            p[i] = start_one(&o);
            assert_ptr_equal(cuzk_prove_device(p[i]), cuzk_context_device_at(current, i % DEVICES));
        }
        /* the last device has one fewer, then two; then they are equal again */
        finish_one(&o, p[5]);
        p[5] = start_one(&o);
        assert_string_equal(name_of(p[5]), "right");
        cuzk_prove_abandon(p[2]);
        finish_one(&o, p[5]);
        finish_one(&o, p[1]);
        p[1] = start_one(&o);
        assert_string_equal(name_of(p[1]), "right");
        p[2] = start_one(&o);
        assert_string_equal(name_of(p[2]), "middle");
        for (size_t i = 0; i < 5; i++)
            finish_one(&o, p[i]);
        uint64_t host, device;
        cuzk_key_proof_memory(o.key, &host, &device);
        assert_int_equal(host, 1000);
        assert_int_equal(device, 7 + DEVICES - 1);
        close_toy(&o);
    }
}

/* A key made from one waste on all devices proves the known bytes on each. */
static void test_made_key(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct opened o = open_toy("toy3000", 2, CUZK_KEY_STREAMED);
    struct cuzk_key *key;
    assert_ok(cuzk_key_make(&key, o.relation, o.toy.waste, &err), err);
    cuzk_key_close(o.key);
    o.key = key;
    struct cuzk_pending_proof *p[DEVICES];
    for (size_t i = 0; i < DEVICES; i++)
        p[i] = start_one(&o);
    for (size_t i = 0; i < DEVICES; i++)
        finish_one(&o, p[i]);
    /* and from a waste that nobody knows: one verifying key for all, or proofs would fail */
    assert_ok(cuzk_key_make(&key, o.relation, NULL, &err), err);
    cuzk_key_close(o.key);
    o.key = key;
    for (size_t i = 0; i < DEVICES; i++)
        p[i] = start_one(&o);
    for (size_t i = 0; i < DEVICES; i++) {
        uint8_t proof[CUZK_PROOF_BYTES];
        assert_ok(cuzk_prove_finish(&p[i], NULL, proof, NULL, &err), err);
    }
    for (size_t i = 0; i < DEVICES; i++)
        assert_int_equal(watches[i].started, 2);
    close_toy(&o);
}

struct starter {
    const struct opened *o;
    int proofs;
    pthread_barrier_t *first; /* all have started one; NULL: nobody waits */
};
static void *start_many(void *argument)
{
    struct starter *s = argument;
    struct cuzk_pending_proof *previous = start_one(s->o);
    if (s->first != NULL)
        (void)pthread_barrier_wait(s->first);
    for (int i = 1; i < s->proofs; i++) {
        struct cuzk_pending_proof *next = start_one(s->o);
        finish_one(s->o, previous);
        previous = next;
    }
    finish_one(s->o, previous);
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    struct opened o = open_toy("toy5", 2, CUZK_KEY_DECODED);
    pthread_barrier_t first;
    struct starter s = {&o, MANY, &first};
    pthread_t threads[STARTERS];
    assert_int_equal(pthread_barrier_init(&first, NULL, STARTERS), 0);
    for (int i = 0; i < STARTERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, start_many, &s), 0);
    int all = 0, most = 0;
    for (int i = 0; i < STARTERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (size_t i = 0; i < DEVICES; i++) {
        assert_true(watches[i].started >= 1); /* of the first four */
        all += watches[i].started;
        most = watches[i].most_starting > most ? watches[i].most_starting : most;
    }
    assert_int_equal(all, STARTERS * MANY);
    /* at most eight are unfinished: four starts at once on one device would need three on each */
    assert_true(most <= 3);
    (void)pthread_barrier_destroy(&first);
    close_toy(&o);
}

/* Starts on different devices run at the same time: here each waits for the two others. */
static void test_side_by_side(void **state)
{
    (void)state;
    struct opened o = open_toy("toy5", 1, CUZK_KEY_STREAMED);
    struct starter s = {&o, 1, NULL};
    pthread_t threads[DEVICES];
    assert_int_equal(pthread_barrier_init(&meeting, NULL, DEVICES), 0);
    meet = true;
    for (int i = 0; i < DEVICES; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, start_many, &s), 0);
    for (int i = 0; i < DEVICES; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    meet = false;
    for (size_t i = 0; i < DEVICES; i++)
        assert_int_equal(watches[i].started, 1);
    (void)pthread_barrier_destroy(&meeting);
    close_toy(&o);
}

/* Errors that name the one of the devices that they come from. */
static void test_errors_name_devices(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct opened o = open_toy("toy3000", 2, CUZK_KEY_STREAMED);
    uint8_t proof[CUZK_PROOF_BYTES];
    struct cuzk_relation *relation;
    struct cuzk_key *key;

    /* a machine that errs: its proof alone */
    current->devices[1]->ops->fault(current->devices[1], CUZK_FAULT_H);
    struct cuzk_pending_proof *p[DEVICES];
    for (size_t i = 0; i < DEVICES; i++)
        p[i] = start_one(&o);
    assert_int_equal(cuzk_prove_finish(&p[1], &o.toy.rs, proof, NULL, &err), CUZK_E_DEVICE);
    assert_non_null(strstr(err.message, "middle"));
    finish_one(&o, p[0]);
    finish_one(&o, p[2]);

    uint64_t used = host_used();
    watches[2].refuse_circuit = true;
    assert_int_equal(cuzk_relation_open(&relation, NULL, current, o.toy.circuit, &err),
                     CUZK_E_DEVICE_MEMORY);
    assert_non_null(strstr(err.message, "on right: "));
    assert_null(relation);
    watches[1].refuse_key = true;
    assert_int_equal(cuzk_key_open(&key, o.relation, o.toy.params, CUZK_KEY_DECODED, &err),
                     CUZK_E_DEVICE_MEMORY);
    assert_non_null(strstr(err.message, "on middle: "));
    assert_null(key);
    watches[2].refuse_setup = true;
    assert_int_equal(cuzk_key_make(&key, o.relation, o.toy.waste, &err), CUZK_E_DEVICE_MEMORY);
    assert_non_null(strstr(err.message, "on right: "));
    assert_null(key);
    assert_int_equal(host_used(), used);
    close_toy(&o);
}

/* A device is lost: its proofs fail, the others' do not, later ones go to the others, and nothing
 * stays charged. */
static void test_lost(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct opened o = open_toy("toy5", 2, CUZK_KEY_DECODED);
    struct cuzk_pending_proof *p[2 * DEVICES], *none;
    uint8_t proof[CUZK_PROOF_BYTES];
    uint64_t used = host_used();
    for (size_t i = 0; i < 2 * DEVICES; i++)
        p[i] = start_one(&o);
    /* the first, while it finishes one of two */
    watches[0].lose_finish = true;
    assert_int_equal(cuzk_prove_finish(&p[0], &o.toy.rs, proof, NULL, &err), CUZK_E_DEVICE_LOST);
    assert_null(p[0]);
    assert_non_null(strstr(err.message, "toy5"));
    assert_non_null(strstr(err.message, "left"));
    for (size_t i = 0; i < sizeof proof; i++)
        assert_int_equal(proof[i], 0);
    for (size_t i = 1; i < DEVICES; i++)
        finish_one(&o, p[i]);
    for (size_t i = 1; i < DEVICES; i++) {
        p[i] = start_one(&o);
        assert_string_not_equal(name_of(p[i]), "left");
    }
    cuzk_prove_abandon(p[3]); /* the lost device's other one */
    for (size_t i = 1; i < 2 * DEVICES; i++)
        if (i != 3)
            finish_one(&o, p[i]);
    assert_int_equal(host_used(), used);
    /* the third, while it starts one: the witness stays the caller's, who tries again */
    watches[2].lose_start = true;
    p[1] = start_one(&o);
    assert_string_equal(name_of(p[1]), "middle");
    struct cuzk_witness *witness = copy(&o);
    assert_int_equal(cuzk_prove_start(&none, o.key, &witness, &err), CUZK_E_DEVICE_LOST);
    assert_non_null(strstr(err.message, "right"));
    assert_null(none);
    assert_non_null(witness);
    assert_ok(cuzk_prove_start(&p[2], o.key, &witness, &err), err);
    assert_string_equal(name_of(p[2]), "middle");
    finish_one(&o, p[1]);
    finish_one(&o, p[2]);
    assert_int_equal(host_used(), used);
    /* all of them */
    watches[1].lose_start = true;
    witness = copy(&o);
    assert_int_equal(cuzk_prove_start(&none, o.key, &witness, &err), CUZK_E_DEVICE_LOST);
    int started = watches[1].started;
    assert_int_equal(cuzk_prove_start(&none, o.key, &witness, &err), CUZK_E_DEVICE_LOST);
    assert_non_null(strstr(err.message, "left and all other devices"));
    assert_int_equal(watches[1].started, started);
    assert_non_null(witness);
    cuzk_witness_free(witness);
    assert_int_equal(host_used(), used);
    close_toy(&o);
}

/* Handles freed in any order: context, relation and key, with proofs pending on all devices. */
static void test_free_in_any_order(void **state)
{
    (void)state;
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (size_t k = 0; k < 6; k++) {
        struct opened o = open_toy("toy5", 1, CUZK_KEY_DECODED);
        struct cuzk_pending_proof *p[DEVICES];
        for (size_t i = 0; i < DEVICES; i++)
            p[i] = start_one(&o);
        cuzk_witness_free(o.witness);
        for (int n = 0; n < 3; n++) {
            if (orders[k][n] == 0)
                cuzk_context_free(current);
            else if (orders[k][n] == 1)
                cuzk_relation_free(o.relation);
            else
                cuzk_key_close(o.key);
        }
        finish_one(&o, p[1]);
        cuzk_prove_abandon(p[2]);
        finish_one(&o, p[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),        cmocka_unit_test(test_cards),
        cmocka_unit_test(test_dispatch),     cmocka_unit_test(test_spread),
        cmocka_unit_test(test_made_key),     cmocka_unit_test(test_threads),
        cmocka_unit_test(test_side_by_side), cmocka_unit_test(test_errors_name_devices),
        cmocka_unit_test(test_lost),         cmocka_unit_test(test_free_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
