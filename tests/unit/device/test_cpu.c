/* The processor as a device, operation by operation against plain sums, and what the registry says
 * to names. The orders of queries are held against the density's bitmaps one variable at a time.
 */
#include "unit/vectors.h"

#include "base/alloc.h"
#include "circuit/build.h"
#include "circuit/dump.h"
#include "device/device.h"
#include "unit/curve/paths.h"

typedef struct bls12_381_fr fr;

static struct cuzk_device *open_cpu(struct cuzk_threads **threads, struct cuzk_budget **host)
{
    struct cuzk_error err;
    struct cuzk_device *device;
    assert_ok(cuzk_threads_create(threads, 2, &err), err);
    assert_ok(cuzk_budget_create(host, "host", UINT64_MAX, NULL, &err), err);
    struct cuzk_device_config config = {.threads = *threads, .host = *host};
    assert_ok(cuzk_device_open(&device, "cpu", &config, &err), err);
    return device;
}

static void close_cpu(struct cuzk_device *device, struct cuzk_threads *threads,
                      struct cuzk_budget *host)
{
    struct cuzk_account account;
    device->ops->close(device);
    cuzk_budget_read(host, &account);
    assert_int_equal(account.used, 0);
    cuzk_budget_destroy(host);
    cuzk_threads_destroy(threads);
}

static void test_names(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct cuzk_device_info *list;
    size_t count;
    assert_ok(cuzk_device_list(&list, &count, &err), err);
    assert_true(count >= 1);
    assert_string_equal(list[0].name, "cpu");
    assert_true(list[0].processors >= 1 && list[0].memory_total > 0);
    cuzk_device_list_free(list);

    struct cuzk_device_config config = {0};
    struct cuzk_device *device;
    /* wrong whatever is there */
    static const char *const wrong[] = {"",        "gpu",     "CPU",     "cpu:0",
                                        "cudax",   "cuda:",   "cuda:x",  "cuda:-1",
                                        "cuda:0x", "cuda: 0", "cuda:+0", "cuda:0 "};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(cuzk_device_open(&device, wrong[i], &config, &err), CUZK_E_ARGUMENT);
        assert_null(device);
    }
#ifndef CUZK_HAVE_CUDA
    static const char *const cuda[] = {"cuda", "cuda:0", "GPU-01234567"};
    for (size_t i = 0; i < sizeof cuda / sizeof cuda[0]; i++)
        assert_int_not_equal(cuzk_device_open(&device, cuda[i], &config, &err), CUZK_OK);
#endif
    assert_ok(cuzk_device_open(&device, "cpu", &config, &err), err);
    assert_string_equal(cuzk_device_describe(device)->name, "cpu");
    assert_non_null(strstr(cuzk_device_why(device), "asked for"));
    device->ops->close(device);
    assert_ok(cuzk_device_open(&device, NULL, &config, &err), err);
    assert_non_null(strstr(cuzk_device_why(device), "auto took"));
    device->ops->close(device);
}

/* A circuit of templates with boolean and other variables mixed at random, rows a·b = c of single
 * terms; `own` variables an instance. */
static struct cuzk_circuit *random_circuit(uint64_t *seed, uint32_t inputs, uint32_t own,
                                           uint32_t instances)
{
    struct cuzk_error err;
    struct cuzk_builder *b;
    struct cuzk_circuit *circuit;
    uint32_t number, coefficient, ports[8] = {0};
    fr one = bls12_381_fr_one;
    assert_ok(cuzk_builder_create(&b, "random", NULL, &err), err);
    assert_ok(cuzk_builder_coefficient(b, &coefficient, &one, &err), err);
    for (uint32_t i = 1; i < inputs; i++) {
        assert_ok(cuzk_builder_input(b, &number, &err), err);
        ports[i] = 2 * number;
    }
    uint64_t *boolean = calloc(own / 64 + 1, 8);
    for (uint32_t i = 0; i < own; i++)
        boolean[i / 64] |= (uint64_t)(test_random(seed) % 8 != 0) << (i % 64);
    assert_ok(cuzk_builder_begin(b, &err), err);
    for (uint32_t r = 0; r < own; r++) {
        struct cuzk_term t[3];
        for (int m = 0; m < 3; m++)
            t[m] = (struct cuzk_term){(uint16_t)(test_random(seed) % (own + inputs)),
                                      (uint16_t)coefficient};
        const struct cuzk_term *terms[3] = {&t[0], &t[1], &t[2]};
        uint32_t counts[3] = {1, (uint32_t)(test_random(seed) % 2), 1};
        assert_ok(cuzk_builder_row(b, terms, counts, &err), err);
    }
    assert_ok(cuzk_builder_end(b, &number, "random", inputs, own, boolean, &err), err);
    free(boolean);
    for (uint32_t i = 0; i < instances; i++) {
        uint32_t first;
        assert_ok(cuzk_builder_instance(b, &first, number, ports, &err), err);
    }
    assert_ok(cuzk_builder_finish(&circuit, b, &err), err);
    cuzk_builder_destroy(b);
    return circuit;
}

static struct cuzk_witness *random_witness(uint64_t *seed, const struct cuzk_circuit *circuit)
{
    struct cuzk_error err;
    struct cuzk_witness *w;
    assert_ok(cuzk_witness_create(&w, circuit, NULL, &err), err);
    for (uint32_t i = 1; i < circuit->inputs; i++)
        w->inputs[i] = random_fr(seed);
    for (uint32_t i = 0; i < circuit->dense; i++)
        w->values[i] = random_fr(seed);
    for (uint32_t i = 0; i < circuit->aux; i++)
        if (circuit->boolean[i / 64] >> (i % 64) & 1)
            w->bits[i / 64] |= (test_random(seed) & 1) << (i % 64);
    return w;
}

static void check_query(const struct cuzk_qap *qap, const struct cuzk_query *q,
                        const struct cuzk_witness *w)
{
    const struct cuzk_circuit *circuit = qap->circuit;
    uint64_t *bits = malloc(8 * cuzk_words(q->count) + 8);
    fr *values = malloc(sizeof *values * (q->dense + 1));
    memset(bits, 0xff, 8 * cuzk_words(q->count)); /* what was there must not show */
    cuzk_query_gather(bits, values, qap, q, w);
    uint32_t at = 0, dense = 0;
    for (uint32_t v = 0; v < circuit->inputs + circuit->aux; v++) {
        bool input = v < circuit->inputs;
        uint32_t i = input ? v : v - circuit->inputs;
        if ((input ? q->in_inputs : q->in_aux)[i / 64] >> (i % 64) & 1) {
            fr expected, value = bls12_381_fr_zero;
            bool boolean = !input && (circuit->boolean[i / 64] >> (i % 64) & 1);
            cuzk_witness_get(&expected, w, circuit, input ? 2 * i : 2 * i + 1);
            assert_int_equal(q->is_bit[at / 64] >> (at % 64) & 1, boolean);
            if (!boolean) {
                value = values[dense++];
                assert_int_equal(bits[at / 64] >> (at % 64) & 1, 0);
            } else if (bits[at / 64] >> (at % 64) & 1) {
                value = bls12_381_fr_one;
            }
            assert_true(bls12_381_fr_eq(&value, &expected));
            at++;
        }
    }
    assert_int_equal(at, q->count);
    assert_int_equal(dense, q->dense);
    for (; at % 64 != 0; at++) { /* nothing beyond the end */
        assert_int_equal(bits[at / 64] >> (at % 64) & 1, 0);
        assert_int_equal(q->is_bit[at / 64] >> (at % 64) & 1, 0);
    }
    free(bits);
    free(values);
}

static void test_queries(void **state)
{
    (void)state;
    struct cuzk_error err;
    uint64_t seed = test_seed();
    static const uint32_t own[] = {1, 2, 31, 63, 64, 65, 127, 128, 129, 700};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        for (uint32_t inputs = 1; inputs <= 3; inputs++) {
            struct cuzk_circuit *circuit = random_circuit(&seed, inputs, own[i], 1 + own[i] % 3);
            struct cuzk_witness *w = random_witness(&seed, circuit);
            struct cuzk_qap *qap;
            struct cuzk_budget *budget;
            struct cuzk_account account;
            assert_ok(cuzk_budget_create(&budget, "test", UINT64_MAX, NULL, &err), err);
            assert_ok(cuzk_qap_create(&qap, circuit, budget, &err), err);
            assert_true(((uint64_t)1 << qap->log2_domain) >= qap->rows);
            assert_true(((uint64_t)1 << qap->log2_domain) < 2 * (uint64_t)qap->rows);
            check_query(qap, &qap->a, w);
            check_query(qap, &qap->b, w);
            cuzk_qap_destroy(qap);
            cuzk_budget_read(budget, &account);
            assert_int_equal(account.used, 0);
            cuzk_budget_destroy(budget);
            cuzk_witness_destroy(w);
            cuzk_circuit_destroy(circuit);
        }
}

static void test_multiply(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct cuzk_threads *threads;
    struct cuzk_budget *host;
    struct cuzk_device *device = open_cpu(&threads, &host);
    struct cuzk_circuit *circuit;
    struct cuzk_witness *w;
    struct cuzk_qap *qap;
    struct cuzk_device_circuit *loaded;
    assert_ok(cuzk_dump_read(&circuit, &w, CUZK_VECTORS_DIR "/keys/toy3000.r1cs.zst", host, &err),
              err);
    assert_ok(cuzk_qap_create(&qap, circuit, host, &err), err);
    assert_ok(device->ops->circuit_load(device, &loaded, qap, &err), err);
    fr *v[3];
    for (int m = 0; m < 3; m++) {
        v[m] = malloc(sizeof(fr) * circuit->rows);
        assert_ok(device->ops->multiply(device, v[m], loaded, w, m, &err), err);
    }
    for (uint32_t i = 0; i < circuit->rows; i++) {
        fr product;
        bls12_381_fr_mul(&product, &v[CUZK_A][i], &v[CUZK_B][i]);
        assert_true(bls12_381_fr_eq(&product, &v[CUZK_C][i]));
    }
    for (int m = 0; m < 3; m++)
        free(v[m]);
    device->ops->circuit_free(loaded);
    cuzk_qap_destroy(qap);
    cuzk_witness_destroy(w);
    cuzk_circuit_destroy(circuit);
    close_cpu(device, threads, host);
}

/* Multi-exponentiations over multiples of the generator: the sum's logarithm is known. */
static void test_msm(void **state)
{
    (void)state;
    struct cuzk_error err;
    uint64_t seed = test_seed();
    struct cuzk_threads *threads;
    struct cuzk_budget *host;
    struct cuzk_device *device = open_cpu(&threads, &host);
    const struct bls12_381_ops *curve = device->config.curve;
    struct cuzk_run run = {threads, host};
    static const size_t sizes[] = {0, 1, 2, 33, 300};
    enum { MOST = 300 };
    static fr logs[MOST], values[MOST];
    static struct bls12_381_g1_affine g1[MOST];
    static struct bls12_381_g2_affine g2[MOST];
    for (size_t i = 0; i < MOST; i++)
        logs[i] = random_fr(&seed);
    assert_ok(curve->g1_fixed_base(g1, &g1_generator, logs, MOST, &run, &err), err);
    assert_ok(curve->g2_fixed_base(g2, &g2_generator, logs, MOST, &run, &err), err);
    for (int kind = 0; kind < 3; kind++) /* all values, all bits, mixed */
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            size_t n = sizes[s], dense = 0;
            uint64_t is_bit[5] = {0}, bits[5] = {0};
            fr sum = bls12_381_fr_zero, t;
            for (size_t i = 0; i < n; i++) {
                bool bit = kind == 1 || (kind == 2 && test_random(&seed) % 4 != 0);
                fr k = bls12_381_fr_zero;
                if (bit) {
                    is_bit[i / 64] |= (uint64_t)1 << (i % 64);
                    if (test_random(&seed) & 1) {
                        bits[i / 64] |= (uint64_t)1 << (i % 64);
                        k = bls12_381_fr_one;
                    }
                } else {
                    k = values[dense++] = random_fr(&seed);
                }
                bls12_381_fr_mul(&t, &k, &logs[i]);
                bls12_381_fr_add(&sum, &sum, &t);
            }
            struct bls12_381_scalars scalars = {kind == 0 ? NULL : is_bit, bits, values};
            struct bls12_381_g1 out, expected;
            struct bls12_381_g2 out2, expected2;
            struct bls12_381_g1_affine a, b;
            struct bls12_381_g2_affine a2, b2;
            assert_ok(device->ops->msm_g1(device, &out, g1, &scalars, n, &err), err);
            curve->g1_from_affine(&expected, &g1_generator);
            curve->g1_mul(&expected, &expected, &sum);
            curve->g1_to_affine(&a, &out);
            curve->g1_to_affine(&b, &expected);
            assert_memory_equal(&a, &b, sizeof a);
            assert_ok(device->ops->msm_g2(device, &out2, g2, &scalars, n, &err), err);
            curve->g2_from_affine(&expected2, &g2_generator);
            curve->g2_mul(&expected2, &expected2, &sum);
            curve->g2_to_affine(&a2, &out2);
            curve->g2_to_affine(&b2, &expected2);
            assert_memory_equal(&a2, &b2, sizeof a2);
        }
    close_cpu(device, threads, host);
}

static void horner(fr *out, const fr *a, size_t n, const fr *x)
{
    *out = bls12_381_fr_zero;
    for (size_t i = n; i-- > 0;) {
        bls12_381_fr_mul(out, out, x);
        bls12_381_fr_add(out, out, &a[i]);
    }
}

/* Transforms against evaluation, and the quotient against h·Z = a·b − c at a random point. */
static void test_transforms(void **state)
{
    (void)state;
    struct cuzk_error err;
    uint64_t seed = test_seed();
    struct cuzk_threads *threads;
    struct cuzk_budget *host;
    struct cuzk_device *device = open_cpu(&threads, &host);
    enum { MOST = 64 };
    for (unsigned k = 0; k <= 6; k++) {
        size_t n = (size_t)1 << k;
        fr a[MOST], v[MOST], b[MOST], c[MOST], h[MOST], x, root = {{BLS12_381_FR_ROOT_OF_UNITY}};
        fr shift = random_fr(&seed), value;
        for (unsigned i = k; i < 32; i++)
            bls12_381_fr_sqr(&root, &root);
        for (size_t i = 0; i < n; i++)
            v[i] = a[i] = random_fr(&seed);
        assert_ok(device->ops->ntt(device, v, k, false, &shift, &err), err);
        x = shift;
        for (size_t i = 0; i < n; i++) {
            horner(&value, a, n, &x);
            assert_true(bls12_381_fr_eq(&value, &v[i]));
            bls12_381_fr_mul(&x, &x, &root);
        }
        assert_ok(device->ops->ntt(device, v, k, true, &shift, &err), err);
        assert_memory_equal(v, a, n * sizeof(fr));

        for (size_t i = 0; i < n; i++) {
            h[i] = a[i];
            v[i] = b[i] = random_fr(&seed);
            bls12_381_fr_mul(&c[i], &a[i], &b[i]);
        }
        assert_ok(device->ops->quotient(device, h, v, k, &err), err);
        assert_ok(device->ops->ntt(device, a, k, true, NULL, &err), err);
        assert_ok(device->ops->ntt(device, b, k, true, NULL, &err), err);
        assert_ok(device->ops->ntt(device, c, k, true, NULL, &err), err);
        fr at = random_fr(&seed), z, av, bv, cv, hv;
        horner(&av, a, n, &at);
        horner(&bv, b, n, &at);
        horner(&cv, c, n, &at);
        horner(&hv, h, n, &at);
        bls12_381_fr_pow_u64(&z, &at, n);
        bls12_381_fr_sub(&z, &z, &bls12_381_fr_one);
        bls12_381_fr_mul(&hv, &hv, &z);
        bls12_381_fr_mul(&av, &av, &bv);
        bls12_381_fr_sub(&av, &av, &cv);
        assert_true(bls12_381_fr_eq(&av, &hv));
        assert_true(bls12_381_fr_is_zero(&h[n - 1]));
    }
    close_cpu(device, threads, host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),      cmocka_unit_test(test_queries),
        cmocka_unit_test(test_multiply),   cmocka_unit_test(test_msm),
        cmocka_unit_test(test_transforms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
