/* What goes wrong: machines that err, witnesses that do not satisfy, keys of other circuits, memory
 * that is refused, setups that are stopped. Each with its own error, and nothing left behind.
 */
#include "unit/groth16/groth.h"

struct opened {
    struct toy toy;
    struct cuzk_context *context;
    struct cuzk_relation *relation;
    struct cuzk_witness *witness;
    struct cuzk_key *key;
};

static struct opened open_toy(const char *name)
{
    struct opened o = {.toy = toy_load(name), .context = make_context(2, NULL)};
    struct cuzk_error err;
    assert_ok(cuzk_relation_open(&o.relation, &o.witness, o.context, o.toy.circuit, &err), err);
    assert_ok(cuzk_key_open(&o.key, o.relation, o.toy.params, CUZK_KEY_STREAMED, &err), err);
    return o;
}

static void close_toy(struct opened *o)
{
    cuzk_witness_free(o->witness);
    cuzk_key_close(o->key);
    cuzk_relation_free(o->relation);
    struct cuzk_account account;
    cuzk_budget_read(o->context->host, &account);
    assert_int_equal(account.used, 0);
    cuzk_context_free(o->context);
}

static void assert_zero(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_int_equal(bytes[i], 0);
}

static void test_machine_errs(void **state)
{
    (void)state;
    struct cuzk_error err;
    static const enum cuzk_fault places[] = {CUZK_FAULT_NTT, CUZK_FAULT_H, CUZK_FAULT_BUCKET};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        struct opened o = open_toy("toy3000");
        uint8_t proof[CUZK_PROOF_BYTES];
        o.context->devices[0]->ops->fault(o.context->devices[0], places[i]);
        assert_int_equal(cuzk_prove(o.key, &o.witness, &o.toy.rs, proof, NULL, &err),
                         CUZK_E_DEVICE);
        assert_non_null(strstr(err.message, "cpu"));
        assert_non_null(strstr(err.message, "toy3000"));
        assert_zero(proof, sizeof proof);
        /* one fault, one proof: the next is right */
        cuzk_relation_free(o.relation);
        cuzk_key_close(o.key);
        assert_ok(cuzk_relation_open(&o.relation, &o.witness, o.context, o.toy.circuit, &err), err);
        assert_ok(cuzk_key_open(&o.key, o.relation, o.toy.params, CUZK_KEY_STREAMED, &err), err);
        assert_ok(cuzk_prove(o.key, &o.witness, &o.toy.rs, proof, NULL, &err), err);
        assert_memory_equal(proof, o.toy.proof, sizeof proof);
        close_toy(&o);
    }
}

/* A device whose sums come back wrong, whatever it is: the table of operations is wrapped. */
static const struct cuzk_device_ops *wrapped;
static int wrong_sum;

static cuzk_status wrong_finish(struct cuzk_pending *pending, struct cuzk_sums *out,
                                struct cuzk_stages *stages, struct cuzk_error *err)
{
    cuzk_status status = wrapped->prove_finish(pending, out, stages, err);
    uint64_t *words[] = {&out->h.x.l[0], &out->l.y.l[5], &out->a.z.l[2], &out->b1.x.l[3],
                         &out->b2.y.c1.l[1]};
    *words[wrong_sum] ^= 4;
    return status;
}

static void test_wrong_sums(void **state)
{
    (void)state;
    struct cuzk_error err;
    for (wrong_sum = 0; wrong_sum < 5; wrong_sum++) {
        struct opened o = open_toy("toy5");
        uint8_t proof[CUZK_PROOF_BYTES];
        struct cuzk_device_ops ops = *(wrapped = o.context->devices[0]->ops);
        ops.prove_finish = wrong_finish;
        o.context->devices[0]->ops = &ops;
        assert_int_equal(cuzk_prove(o.key, &o.witness, NULL, proof, NULL, &err), CUZK_E_DEVICE);
        assert_zero(proof, sizeof proof);
        o.context->devices[0]->ops = wrapped;
        close_toy(&o);
    }
}

static void test_unsatisfied(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct opened o = open_toy("toy3000");
    uint8_t proof[CUZK_PROOF_BYTES];
    o.witness->values[o.witness->dense_count / 2].l[1] ^= 1;
    assert_int_equal(cuzk_prove(o.key, &o.witness, NULL, proof, NULL, &err), CUZK_E_UNSATISFIED);
    assert_non_null(strstr(err.message, "row"));
    assert_zero(proof, sizeof proof);
    close_toy(&o);

    /* a public input that the circuit contradicts */
    o = open_toy("toy5");
    o.witness->inputs[1].l[0] ^= 1;
    assert_int_equal(cuzk_prove(o.key, &o.witness, NULL, proof, NULL, &err), CUZK_E_UNSATISFIED);
    close_toy(&o);
}

/* A damaged key: a point that is another point of the curve passes every check but the proof's. */
static void test_damaged_key(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct toy t = toy_load("toy5");
    struct scratch params = scratch_path("damaged.params");
    size_t size;
    uint8_t *data = file_read(t.params, &size), point[96];
    struct cuzk_params *p;
    assert_ok(cuzk_params_open(&p, t.params, &err), err);
    uint64_t l = p->offset[CUZK_L];
    cuzk_params_close(p);
    for (int kind = 0; kind < 2; kind++) {
        if (kind == 0) { /* two points exchanged */
            memcpy(point, data + l, 96);
            memcpy(data + l, data + l + 96, 96);
            memcpy(data + l + 96, point, 96);
        } else { /* off the curve */
            data[l + 50] ^= 1;
        }
        FILE *f = fopen(params.path, "wb");
        assert_non_null(f);
        assert_int_equal(fwrite(data, 1, size, f), size);
        assert_int_equal(fclose(f), 0);
        struct opened o = open_toy("toy5");
        uint8_t proof[CUZK_PROOF_BYTES];
        cuzk_key_close(o.key);
        o.key = NULL;
        cuzk_status status =
            cuzk_key_open(&o.key, o.relation, params.path, CUZK_KEY_STREAMED, &err);
        assert_int_equal(status, CUZK_OK);
        status = cuzk_prove(o.key, &o.witness, NULL, proof, NULL, &err);
        assert_int_equal(status, kind == 0 ? CUZK_E_DEVICE : CUZK_E_POINT);
        assert_non_null(strstr(err.message, params.path));
        if (kind == 1) {
            struct cuzk_key *key;
            assert_int_equal(cuzk_key_open(&key, o.relation, params.path, CUZK_KEY_DECODED, &err),
                             CUZK_E_POINT);
            assert_null(key);
        }
        close_toy(&o);
    }
    free(data);
    (void)unlink(params.path);
}

static void test_other_circuit(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct opened five = open_toy("toy5"), more = open_toy("toy3000");
    struct cuzk_key *key;
    struct cuzk_pending_proof *pending;
    assert_int_equal(cuzk_key_open(&key, five.relation, more.toy.params, CUZK_KEY_STREAMED, &err),
                     CUZK_E_MISMATCH);
    assert_null(key);
    assert_int_equal(cuzk_prove_start(&pending, five.key, &more.witness, &err), CUZK_E_MISMATCH);
    assert_null(pending);
    assert_non_null(more.witness);
    assert_int_equal(cuzk_key_open(&key, five.relation, "/nonexistent", CUZK_KEY_STREAMED, &err),
                     CUZK_E_NOT_FOUND);
    close_toy(&five);
    close_toy(&more);
}

static void test_budget(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct toy t = toy_load("toy3000");
    struct cuzk_options options = {.threads = 1, .memory_limit = 450000, .device = "cpu"};
    struct cuzk_context *context;
    struct cuzk_relation *relation;
    struct cuzk_witness *witness;
    struct cuzk_key *key;
    uint8_t proof[CUZK_PROOF_BYTES];
    assert_ok(cuzk_context_create(&context, &options, &err), err);
    assert_ok(cuzk_relation_open(&relation, &witness, context, t.circuit, &err), err);
    struct cuzk_account before, after;
    cuzk_budget_read(context->host, &before);
    assert_int_equal(cuzk_key_open(&key, relation, t.params, CUZK_KEY_DECODED, &err),
                     CUZK_E_BUDGET);
    assert_ok(cuzk_key_open(&key, relation, t.params, CUZK_KEY_STREAMED, &err), err);
    assert_int_equal(cuzk_prove(key, &witness, &t.rs, proof, NULL, &err), CUZK_E_BUDGET);
    assert_non_null(witness);
    /* both numbers: a vector over the domain, and the limit */
    assert_non_null(strstr(err.message, "131072"));
    assert_non_null(strstr(err.message, "450000"));
    cuzk_budget_read(context->host, &after);
    assert_int_equal(before.used, after.used);
    assert_int_equal(cuzk_setup(relation, "/tmp/never", NULL, NULL, &err), CUZK_E_BUDGET);
    cuzk_witness_free(witness);
    cuzk_key_close(key);
    cuzk_relation_free(relation);
    cuzk_context_free(context);
}

static int stop_at(void *context, uint64_t done, uint64_t total)
{
    uint64_t *calls = context;
    assert_true(done <= total);
    return ++*calls == 2;
}

static void test_cancelled(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct opened o = open_toy("toy5");
    struct scratch params = scratch_path("cancelled.params");
    uint64_t calls = 0;
    struct cuzk_setup_options options = {.progress = stop_at, .progress_context = &calls};
    assert_int_equal(cuzk_setup(o.relation, params.path, NULL, &options, &err), CUZK_E_CANCELLED);
    assert_int_not_equal(access(params.path, F_OK), 0);
    options = (struct cuzk_setup_options){.insecure_waste = "/nonexistent.json"};
    assert_int_equal(cuzk_setup(o.relation, params.path, NULL, &options, &err), CUZK_E_NOT_FOUND);
    close_toy(&o);
}

/* The whole way with toy5; every status on the way out. */
static cuzk_status whole_way(const struct toy *t, const char *params, const char *devices,
                             struct cuzk_error *err)
{
    struct cuzk_options options = {.threads = 1, .device = devices};
    struct cuzk_setup_options setup = {.insecure_waste = t->waste};
    struct cuzk_context *context = NULL;
    struct cuzk_relation *relation = NULL;
    struct cuzk_witness *witness = NULL;
    struct cuzk_key *key = NULL;
    struct cuzk_verifier *verifier = NULL;
    uint8_t proof[2 * CUZK_PROOF_BYTES], inputs[2][2][CUZK_FIELD_BYTES];
    cuzk_status status = cuzk_context_create(&context, &options, err);
    if (status == CUZK_OK)
        status = cuzk_relation_open(&relation, &witness, context, t->circuit, err);
    if (status == CUZK_OK)
        status = cuzk_setup(relation, params, NULL, &setup, err);
    if (status == CUZK_OK)
        status = cuzk_key_open(&key, relation, params, CUZK_KEY_DECODED, err);
    if (status == CUZK_OK)
        status = cuzk_prove(key, &witness, &t->rs, proof, NULL, err);
    if (status == CUZK_OK) {
        assert_memory_equal(proof, t->proof, CUZK_PROOF_BYTES);
        memcpy(proof + CUZK_PROOF_BYTES, proof, CUZK_PROOF_BYTES);
        memcpy(inputs[0], t->inputs, sizeof inputs[0]);
        memcpy(inputs[1], t->inputs, sizeof inputs[1]);
        status = cuzk_verifier_open(&verifier, params, err);
    }
    if (status == CUZK_OK)
        status = cuzk_verify(verifier, proof, sizeof proof, inputs[0][0], 4, 2, err);
    cuzk_verifier_free(verifier);
    verifier = NULL;
    if (status == CUZK_OK) {
        cuzk_key_close(key);
        status = cuzk_key_make(&key, relation, NULL, err);
    }
    if (status == CUZK_OK)
        status = cuzk_verifier_of_key(&verifier, key, err);
    cuzk_verifier_free(verifier);
    cuzk_key_close(key);
    cuzk_witness_free(witness);
    cuzk_relation_free(relation);
    cuzk_context_free(context);
    return status;
}

static void allocations_fail(const char *devices)
{
    struct toy t = toy_load("toy5");
    struct scratch params = scratch_path("alloc.params");
    uint64_t n = 1, tolerated = 0;
    for (;; n++) {
        struct cuzk_error err = {0};
        (void)unlink(params.path);
        cuzk_alloc_fail_at(n);
        cuzk_status status = whole_way(&t, params.path, devices, &err);
        bool failed = cuzk_alloc_count() >= n;
        cuzk_alloc_fail_at(0);
        if (!failed) {
            assert_ok(status, err);
            break;
        }
        if (status == CUZK_OK) { /* an array that could not be cut to size stays as it is */
            tolerated++;
            continue;
        }
        if (status != CUZK_E_MEMORY)
            fail_msg("allocation %llu: %s: %s", (unsigned long long)n, cuzk_status_name(status),
                     err.message);
        assert_int_equal(err.status, status);
    }
    print_message("%llu allocations failed in turn\n", (unsigned long long)(n - 1));
    assert_true(n > 40 && tolerated < 16);
    (void)unlink(params.path);
}

static void test_allocations_fail(void **state)
{
    (void)state;
    allocations_fail("cpu");
    allocations_fail("cpu,cpu");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_machine_errs),  cmocka_unit_test(test_wrong_sums),
        cmocka_unit_test(test_unsatisfied),   cmocka_unit_test(test_damaged_key),
        cmocka_unit_test(test_other_circuit), cmocka_unit_test(test_budget),
        cmocka_unit_test(test_cancelled),     cmocka_unit_test(test_allocations_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
