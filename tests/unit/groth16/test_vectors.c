/* Against bellperson: keys and proofs byte for byte, for any number of threads and every path; and
 * what the verifier says to the vectors' proofs and to damaged ones.
 */
#include "unit/groth16/groth.h"

#include <pthread.h>

static const char *const toys[] = {"toy5", "toy3000"};
static const char *const paths[] = {"portable", "x86_64-adx"};

/* Contexts to try: every path that this processor has, with one thread and with several. */
static struct cuzk_context *next_context(unsigned *state)
{
    unsigned n = (*state)++;
    if (n / 3 >= sizeof paths / sizeof paths[0] || bls12_381_ops(paths[n / 3]) == NULL) {
        (void)cuzk_isa_force(NULL, NULL);
        return NULL;
    }
    return make_context(1 + n % 3, paths[n / 3]);
}

static void test_setup_bytes(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct scratch params = scratch_path("params"), vk = scratch_path("vk");
    for (size_t i = 0; i < sizeof toys / sizeof toys[0]; i++) {
        struct toy t = toy_load(toys[i]);
        unsigned n = 0;
        for (struct cuzk_context *context; (context = next_context(&n)) != NULL;) {
            struct cuzk_relation *relation;
            struct cuzk_setup_options options = {.insecure_waste = t.waste};
            struct cuzk_relation_info info;
            assert_ok(cuzk_relation_open(&relation, NULL, context, t.circuit, &err), err);
            assert_ok(cuzk_setup(relation, params.path, vk.path, &options, &err), err);
            assert_same_file(t.vk, vk.path);
            assert_same_file(t.params, params.path);
            cuzk_relation_describe(&info, relation);
            size_t size;
            free(file_read(params.path, &size));
            assert_int_equal(size, info.params_bytes);
            cuzk_relation_free(relation);
            cuzk_context_free(context);
        }
    }
    (void)unlink(params.path);
    (void)unlink(vk.path);
}

static void test_proof_bytes(void **state)
{
    (void)state;
    struct cuzk_error err;
    for (size_t i = 0; i < sizeof toys / sizeof toys[0]; i++) {
        struct toy t = toy_load(toys[i]);
        unsigned n = 0;
        for (struct cuzk_context *context; (context = next_context(&n)) != NULL;) {
            for (int mode = CUZK_KEY_STREAMED; mode <= CUZK_KEY_DECODED; mode++) {
                struct cuzk_relation *relation;
                struct cuzk_witness *witness;
                struct cuzk_key *key;
                struct cuzk_prove_report report;
                uint8_t proof[CUZK_PROOF_BYTES], inputs[64 * CUZK_FIELD_BYTES];
                assert_ok(cuzk_relation_open(&relation, &witness, context, t.circuit, &err), err);
                cuzk_witness_inputs(inputs, witness);
                assert_memory_equal(inputs, t.inputs, t.input_count * CUZK_FIELD_BYTES);
                assert_ok(cuzk_key_open(&key, relation, t.params, (enum cuzk_key_mode)mode, &err),
                          err);
                assert_ok(cuzk_prove(key, &witness, &t.rs, proof, &report, &err), err);
                assert_null(witness);
                assert_memory_equal(proof, t.proof, sizeof proof);
                assert_true(report.seconds > 0 && report.memory_peak > 0);
                assert_int_equal(report.stage_count, CUZK_STAGE_COUNT);
                assert_true(mode == CUZK_KEY_STREAMED ||
                            report.memory[CUZK_PURPOSE_SRS].peak > 5000);
                cuzk_key_close(key);
                cuzk_relation_free(relation);

                struct cuzk_account account;
                cuzk_budget_read(context->host, &account);
                assert_int_equal(account.used, 0);
            }
            cuzk_context_free(context);
        }
    }
}

/* A key that never saw a file: the same proof, the same verifying key. */
static void test_key_in_memory(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct scratch vk = scratch_path("made.vk");
    for (size_t i = 0; i < sizeof toys / sizeof toys[0]; i++) {
        struct toy t = toy_load(toys[i]);
        struct cuzk_context *context = make_context(2, NULL);
        struct cuzk_relation *relation;
        struct cuzk_witness *witness;
        struct cuzk_key *key;
        struct cuzk_verifier *verifier;
        struct cuzk_account account;
        uint8_t proof[CUZK_PROOF_BYTES];
        assert_ok(cuzk_relation_open(&relation, &witness, context, t.circuit, &err), err);
        assert_ok(cuzk_key_make(&key, relation, t.waste, &err), err);
        assert_ok(cuzk_prove(key, &witness, &t.rs, proof, NULL, &err), err);
        assert_memory_equal(proof, t.proof, sizeof proof);
        assert_ok(cuzk_verifier_of_key(&verifier, key, &err), err);
        cuzk_key_close(key);
        assert_ok(cuzk_verifier_write(verifier, vk.path, &err), err);
        assert_same_file(t.vk, vk.path);
        assert_ok(cuzk_verify(verifier, proof, sizeof proof, t.inputs[0], t.input_count, 1, &err),
                  err);
        cuzk_verifier_free(verifier);
        cuzk_relation_free(relation);
        cuzk_budget_read(context->host, &account);
        assert_int_equal(account.used, 0);
        cuzk_context_free(context);
    }
    (void)unlink(vk.path);
}

/* Two proofs under way at once, finished in the other order, their handles freed before. */
static void test_overlap(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct toy t = toy_load("toy5");
    struct cuzk_context *context = make_context(2, NULL);
    struct cuzk_pending_proof *pending[2];
    uint8_t proof[CUZK_PROOF_BYTES];
    for (int i = 0; i < 2; i++) {
        struct cuzk_relation *relation;
        struct cuzk_witness *witness;
        struct cuzk_key *key;
        assert_ok(cuzk_relation_open(&relation, &witness, context, t.circuit, &err), err);
        assert_ok(cuzk_key_open(&key, relation, t.params, CUZK_KEY_STREAMED, &err), err);
        assert_ok(cuzk_prove_start(&pending[i], key, &witness, &err), err);
        assert_null(witness);
        cuzk_relation_free(relation);
        cuzk_key_close(key);
    }
    cuzk_context_free(context);
    for (int i = 1; i >= 0; i--) {
        assert_ok(cuzk_prove_finish(&pending[i], &t.rs, proof, NULL, &err), err);
        assert_null(pending[i]);
        assert_memory_equal(proof, t.proof, sizeof proof);
    }
}

/* The bound on a proof's memory holds. */
static void test_memory_bound(void **state)
{
    (void)state;
    struct cuzk_error err;
    for (unsigned threads = 1; threads <= 4; threads += 3)
        for (size_t i = 0; i < sizeof toys / sizeof toys[0]; i++) {
            struct toy t = toy_load(toys[i]);
            struct cuzk_context *context = make_context(threads, NULL);
            struct cuzk_relation *relation;
            struct cuzk_witness *witness;
            struct cuzk_key *key;
            struct cuzk_account before, after;
            uint8_t proof[CUZK_PROOF_BYTES];
            uint64_t host, device;
            assert_ok(cuzk_relation_open(&relation, &witness, context, t.circuit, &err), err);
            assert_ok(cuzk_key_open(&key, relation, t.params, CUZK_KEY_STREAMED, &err), err);
            cuzk_key_proof_memory(key, &host, &device);
            cuzk_budget_read(context->host, &before);
            assert_ok(cuzk_prove(key, &witness, NULL, proof, NULL, &err), err);
            cuzk_budget_read(context->host, &after);
            assert_true(after.peak - before.used <= host);
            print_message("%s, %u threads: %llu of at most %llu bytes\n", toys[i], threads,
                          (unsigned long long)(after.peak - before.used), (unsigned long long)host);
            assert_int_equal(device, 0);
            cuzk_key_close(key);
            cuzk_relation_free(relation);
            cuzk_context_free(context);
        }
}

/* Proofs side by side with one key: they share the pool and nothing else. */
struct beside {
    struct cuzk_key *key;
    struct cuzk_witness *witness;
    const struct toy *toy;
    cuzk_status status;
    uint8_t proof[CUZK_PROOF_BYTES];
};

static void *prove_beside(void *arg)
{
    struct beside *b = arg;
    b->status = cuzk_prove(b->key, &b->witness, &b->toy->rs, b->proof, NULL, NULL);
    return NULL;
}

static void test_side_by_side(void **state)
{
    (void)state;
    enum { MANY = 4 };
    struct cuzk_error err;
    struct toy t = toy_load("toy5");
    struct cuzk_context *context = make_context(3, NULL);
    struct cuzk_relation *relation;
    struct cuzk_key *key;
    struct beside beside[MANY];
    pthread_t threads[MANY];
    memset(beside, 0, sizeof beside);
    assert_ok(cuzk_relation_open(&relation, &beside[0].witness, context, t.circuit, &err), err);
    assert_ok(cuzk_key_open(&key, relation, t.params, CUZK_KEY_STREAMED, &err), err);
    for (int i = 0; i < MANY; i++) {
        if (i > 0) {
            const struct cuzk_witness *first = beside[0].witness;
            assert_ok(
                cuzk_witness_create(&beside[i].witness, relation->circuit, context->host, &err),
                err);
            memcpy(beside[i].witness->inputs, first->inputs,
                   first->input_count * sizeof *first->inputs);
            memcpy(beside[i].witness->values, first->values,
                   first->dense_count * sizeof *first->values);
        }
        beside[i].key = key;
        beside[i].toy = &t;
    }
    for (int i = 0; i < MANY; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, prove_beside, &beside[i]), 0);
    for (int i = 0; i < MANY; i++) {
        (void)pthread_join(threads[i], NULL);
        assert_int_equal(beside[i].status, CUZK_OK);
        assert_memory_equal(beside[i].proof, t.proof, sizeof t.proof);
    }
    cuzk_key_close(key);
    cuzk_relation_free(relation);
    cuzk_context_free(context);
}

/* Random waste, random r and s: accepted, never twice the same. */
static void test_own_keys(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct toy t = toy_load("toy5");
    struct scratch params[2] = {scratch_path("params1"), scratch_path("params2")};
    struct cuzk_context *context = make_context(2, NULL);
    struct cuzk_relation *relation;
    struct cuzk_witness *witness = NULL;
    uint8_t proofs[3 * CUZK_PROOF_BYTES], inputs[3][2][CUZK_FIELD_BYTES];
    assert_ok(cuzk_relation_open(&relation, NULL, context, t.circuit, &err), err);
    for (int i = 0; i < 2; i++)
        assert_ok(cuzk_setup(relation, params[i].path, NULL, NULL, &err), err);
    cuzk_relation_free(relation);
    size_t n, m;
    uint8_t *one = file_read(params[0].path, &n), *two = file_read(params[1].path, &m);
    assert_int_equal(n, m);
    assert_memory_not_equal(one, two, 96);
    free(one);
    free(two);
    for (int i = 0; i < 3; i++) {
        struct cuzk_key *key;
        assert_ok(cuzk_relation_open(&relation, &witness, context, t.circuit, &err), err);
        assert_ok(cuzk_key_open(&key, relation, params[0].path, CUZK_KEY_STREAMED, &err), err);
        assert_ok(cuzk_prove(key, &witness, NULL, proofs + i * CUZK_PROOF_BYTES, NULL, &err), err);
        memcpy(inputs[i], t.inputs, sizeof inputs[i]);
        cuzk_key_close(key);
        cuzk_relation_free(relation);
    }
    assert_memory_not_equal(proofs, proofs + CUZK_PROOF_BYTES, CUZK_PROOF_BYTES);

    /* one by one, and all by one combination; then one of them of another statement */
    struct cuzk_verifier *verifier, *other;
    assert_ok(cuzk_verifier_open(&verifier, params[0].path, &err), err);
    assert_ok(cuzk_verifier_open(&other, params[1].path, &err), err);
    assert_int_equal(cuzk_verifier_inputs(verifier), 2);
    for (size_t count = 1; count <= 3; count++) {
        assert_ok(cuzk_verify(verifier, proofs, count * CUZK_PROOF_BYTES, inputs[0][0], 2 * count,
                              count, &err),
                  err);
        assert_int_equal(cuzk_verify(other, proofs, count * CUZK_PROOF_BYTES, inputs[0][0],
                                     2 * count, count, &err),
                         CUZK_E_PROOF);
    }
    inputs[1][0][0] ^= 1;
    assert_int_equal(cuzk_verify(verifier, proofs, sizeof proofs, inputs[0][0], 6, 3, &err),
                     CUZK_E_PROOF);
    assert_non_null(strstr(err.message, "proof 2 of 3"));
    inputs[1][0][0] ^= 1;
    /* errors that would cancel in a sum without random weights: C of two proofs exchanged */
    uint8_t c[48];
    memcpy(c, proofs + 144, sizeof c);
    memcpy(proofs + 144, proofs + CUZK_PROOF_BYTES + 144, sizeof c);
    memcpy(proofs + CUZK_PROOF_BYTES + 144, c, sizeof c);
    assert_int_equal(cuzk_verify(verifier, proofs, sizeof proofs, inputs[0][0], 6, 3, &err),
                     CUZK_E_PROOF);
    assert_non_null(strstr(err.message, "proof 1 of 3"));
    cuzk_verifier_free(verifier);
    cuzk_verifier_free(other);
    cuzk_context_free(context);
    for (int i = 0; i < 2; i++)
        (void)unlink(params[i].path);
}

static void test_verify(void **state)
{
    (void)state;
    struct cuzk_error err;
    uint64_t seed = test_seed();
    for (size_t i = 0; i < sizeof toys / sizeof toys[0]; i++) {
        struct toy t = toy_load(toys[i]);
        const uint8_t *inputs = t.inputs[0];
        size_t count = t.input_count;
        struct cuzk_verifier *v;
        assert_ok(cuzk_verifier_open(&v, i == 0 ? t.vk : t.params, &err), err);
        assert_ok(cuzk_verify(v, t.proof, sizeof t.proof, inputs, count, 1, &err), err);

        /* one bit of each byte of the proof */
        for (size_t byte = 0; byte < sizeof t.proof; byte++) {
            uint8_t bit = (uint8_t)(1u << (test_random(&seed) % 8));
            t.proof[byte] ^= bit;
            cuzk_status status = cuzk_verify(v, t.proof, sizeof t.proof, inputs, count, 1, &err);
            if (status != CUZK_E_PROOF)
                fail_msg("byte %zu, bit %02x: %s", byte, bit, cuzk_status_name(status));
            t.proof[byte] ^= bit;
        }
        /* one bit of each input; the highest bits leave the field */
        for (size_t j = 0; j < count; j++) {
            t.inputs[j][7] ^= 0x10;
            assert_int_equal(cuzk_verify(v, t.proof, sizeof t.proof, inputs, count, 1, &err),
                             CUZK_E_PROOF);
            t.inputs[j][7] ^= 0x10;
            t.inputs[j][31] ^= 0x80;
            assert_int_equal(cuzk_verify(v, t.proof, sizeof t.proof, inputs, count, 1, &err),
                             CUZK_E_RANGE);
            t.inputs[j][31] ^= 0x80;
        }
        /* counts */
        assert_int_equal(cuzk_verify(v, t.proof, sizeof t.proof - 1, inputs, count, 1, &err),
                         CUZK_E_PROOF);
        assert_int_equal(cuzk_verify(v, t.proof, 0, inputs, count, 1, &err), CUZK_E_PROOF);
        assert_int_equal(cuzk_verify(v, t.proof, sizeof t.proof, inputs, count - 1, 1, &err),
                         CUZK_E_MISMATCH);
        assert_int_equal(cuzk_verify(v, t.proof, sizeof t.proof, inputs, 0, 0, &err),
                         CUZK_E_ARGUMENT);
        /* the infinity is encoded well, but no proof holds it */
        memset(t.proof, 0, 48);
        t.proof[0] = 0xc0;
        assert_int_equal(cuzk_verify(v, t.proof, sizeof t.proof, inputs, count, 1, &err),
                         CUZK_E_PROOF);
        cuzk_verifier_free(v);
    }
}

/* Sectors of 2 KiB: the network's circuit, key and proofs. */
static void test_verify_sectors(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct cuzk_verifier *v;
    assert_ok(cuzk_verifier_open(&v, KEYS "porep-2KiB-dev.vk", &err), err);
    yajl_val json = vector_json("keys/porep-2KiB-dev.json");
    yajl_val proofs = vector_get(json, "proofs");
    uint8_t all[3][CUZK_PROOF_BYTES], inputs[3][39][CUZK_FIELD_BYTES];
    assert_int_equal(YAJL_GET_ARRAY(proofs)->len, 3);
    for (size_t i = 0; i < 3; i++) {
        yajl_val entry = YAJL_GET_ARRAY(proofs)->values[i];
        char meta[96];
        (void)snprintf(meta, sizeof meta, "sectors/%s/meta.json", vector_text(entry, "c1"));
        vector_hex(all[i], sizeof all[i], vector_text(entry, "proof"));
        yajl_val statement = vector_json(meta);
        yajl_val partition = YAJL_GET_ARRAY(vector_get(statement, "public_inputs"))->values[0];
        assert_int_equal(YAJL_GET_ARRAY(partition)->len, 39);
        for (size_t j = 0; j < 39; j++)
            vector_hex(inputs[i][j], CUZK_FIELD_BYTES,
                       YAJL_GET_STRING(YAJL_GET_ARRAY(partition)->values[j]));
        yajl_tree_free(statement);
        assert_ok(cuzk_verify(v, all[i], sizeof all[i], inputs[i][0], 39, 1, &err), err);
    }
    assert_ok(cuzk_verify(v, all[0], sizeof all, inputs[0][0], 3 * 39, 3, &err), err);
    /* another sector's statement */
    assert_int_equal(cuzk_verify(v, all[0], sizeof all[0], inputs[1][0], 39, 1, &err),
                     CUZK_E_PROOF);
    yajl_tree_free(json);
    cuzk_verifier_free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_setup_bytes),    cmocka_unit_test(test_proof_bytes),
        cmocka_unit_test(test_overlap),        cmocka_unit_test(test_key_in_memory),
        cmocka_unit_test(test_own_keys),       cmocka_unit_test(test_memory_bound),
        cmocka_unit_test(test_side_by_side),   cmocka_unit_test(test_verify),
        cmocka_unit_test(test_verify_sectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
