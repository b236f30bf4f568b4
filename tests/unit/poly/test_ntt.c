/* Transforms against evaluation by Horner's rule, the quotient against its definition and against
 * the seven transforms of the textbook; every order, shift, number of threads and path. */
#include "unit/poly/ntt_test.h"

#include "base/alloc.h"

static const char *const paths[] = {"portable", "x86_64-adx"};

/* Calls body for each path that this processor has. */
static void on_each_path(void (*body)(uint64_t *state), uint64_t *state)
{
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        if (cuzk_isa_force(paths[i], NULL) != CUZK_OK) {
            print_message("no path %s on this processor\n", paths[i]);
            continue;
        }
        body(state);
    }
    assert_int_equal(cuzk_isa_force(NULL, NULL), CUZK_OK);
}

static void transforms_on_path(uint64_t *state)
{
    for (unsigned log2 = 0; log2 <= 15; log2++) {
        fr shift = random_fr(state), one = bls12_381_fr_one, minus_one;
        bls12_381_fr_neg(&minus_one, &one);
        size_t points = log2 <= 8 ? 256 : 4;
        check_transform(log2, NULL, points, state);
        check_transform(log2, &shift, points, state);
        if (log2 <= 8) {
            check_transform(log2, &one, points, state);
            check_transform(log2, &minus_one, points, state);
        }
    }
}

static void test_transforms(void **unused)
{
    (void)unused;
    uint64_t state = test_seed();
    on_each_path(transforms_on_path, &state);
}

static void test_edge_vectors(void **unused)
{
    (void)unused;
    for (unsigned log2 = 0; log2 <= 13; log2++) {
        size_t n = (size_t)1 << log2;
        struct cuzk_ntt *ntt = plan(log2);
        fr *a = vector(n), minus_one;
        cuzk_ntt_forward(ntt, a, CUZK_ORDER_NATURAL, NULL, NULL);
        for (size_t i = 0; i < n; i++)
            assert_true(bls12_381_fr_is_zero(&a[i]));
        bls12_381_fr_neg(&minus_one, &bls12_381_fr_one);
        a[0] = minus_one; /* the constant -1 has that value everywhere */
        cuzk_ntt_forward(ntt, a, CUZK_ORDER_NATURAL, NULL, NULL);
        for (size_t i = 0; i < n; i++)
            assert_same(&a[i], &minus_one, 1);
        cuzk_ntt_inverse(ntt, a, CUZK_ORDER_NATURAL, NULL, NULL);
        assert_same(a, &minus_one, 1);
        for (size_t i = 1; i < n; i++)
            assert_true(bls12_381_fr_is_zero(&a[i]));
        free(a);
        cuzk_ntt_destroy(ntt);
    }
}

/* h by schoolbook: the product's coefficients from n on are h's, since a·b - c = h·X^n - h. */
static void quotient_by_definition(fr *h, const fr *a, const fr *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        h[i] = bls12_381_fr_zero;
    for (size_t i = 0; i < n; i++)
        for (size_t j = n - i; j < n; j++) {
            fr t;
            bls12_381_fr_mul(&t, &a[i], &b[j]);
            bls12_381_fr_add(&h[i + j - n], &h[i + j - n], &t);
        }
}

/* The way of seven transforms, on the coset of the generator. */
static void quotient_by_seven(fr *a, fr *b, fr *c, unsigned log2)
{
    size_t n = (size_t)1 << log2;
    fr g = {{BLS12_381_FR_GENERATOR}}, z = power(&g, n);
    bls12_381_fr_sub(&z, &z, &bls12_381_fr_one);
    bls12_381_fr_inv(&z, &z);
    struct cuzk_ntt *ntt = plan(log2);
    fr *const all[] = {a, b, c};
    for (int i = 0; i < 3; i++) {
        cuzk_ntt_inverse(ntt, all[i], CUZK_ORDER_NATURAL, NULL, NULL);
        cuzk_ntt_forward(ntt, all[i], CUZK_ORDER_NATURAL, &g, NULL);
    }
    for (size_t i = 0; i < n; i++) {
        bls12_381_fr_mul(&a[i], &a[i], &b[i]);
        bls12_381_fr_sub(&a[i], &a[i], &c[i]);
        bls12_381_fr_mul(&a[i], &a[i], &z);
    }
    cuzk_ntt_inverse(ntt, a, CUZK_ORDER_NATURAL, &g, NULL);
    cuzk_ntt_destroy(ntt);
}

static void quotient_on_path(uint64_t *state)
{
    for (unsigned log2 = 0; log2 <= 14; log2++) {
        size_t n = (size_t)1 << log2;
        fr *a = vector(n), *b = vector(n), *c = vector(n);
        fr *seven = vector(n), *b2 = vector(n), *c2 = vector(n);
        for (size_t i = 0; i < n; i++) {
            a[i] = seven[i] = random_fr(state);
            b[i] = b2[i] = random_fr(state);
            bls12_381_fr_mul(&c2[i], &a[i], &b[i]);
            c[i] = random_fr(state); /* scratch: must not matter */
        }
        fr *definition = NULL;
        struct cuzk_ntt *ntt = plan(log2);
        if (log2 <= 9) {
            fr *ca = vector(n), *cb = vector(n);
            definition = vector(n);
            memcpy(ca, a, n * sizeof(fr));
            memcpy(cb, b, n * sizeof(fr));
            cuzk_ntt_inverse(ntt, ca, CUZK_ORDER_NATURAL, NULL, NULL);
            cuzk_ntt_inverse(ntt, cb, CUZK_ORDER_NATURAL, NULL, NULL);
            quotient_by_definition(definition, ca, cb, n);
            free(ca);
            free(cb);
        }
        quotient_by_seven(seven, b2, c2, log2);
        cuzk_ntt_quotient(ntt, a, b, c, NULL);
        assert_same(a, seven, n);
        assert_true(bls12_381_fr_is_zero(&a[n - 1]));
        if (definition != NULL)
            assert_same(a, definition, n);
        cuzk_ntt_destroy(ntt);
        free(definition);
        fr *const all[] = {a, b, c, seven, b2, c2};
        for (int i = 0; i < 6; i++)
            free(all[i]);
    }
}

static void test_quotient(void **unused)
{
    (void)unused;
    uint64_t state = test_seed();
    on_each_path(quotient_on_path, &state);
}

static void test_threads_and_paths_give_the_same_bytes(void **unused)
{
    (void)unused;
    uint64_t state = test_seed();
    const unsigned log2 = 14;
    size_t n = (size_t)1 << log2;
    fr *a = vector(n), *b = vector(n), *first[2] = {NULL, NULL};
    for (size_t i = 0; i < n; i++) {
        a[i] = random_fr(&state);
        b[i] = random_fr(&state);
    }
    fr shift = random_fr(&state);
    for (size_t path = 0; path < 2; path++) {
        if (cuzk_isa_force(paths[path], NULL) != CUZK_OK)
            continue;
        for (unsigned threads = 1; threads <= 5; threads++) {
            struct cuzk_error err;
            struct cuzk_run run = {0};
            assert_ok(cuzk_threads_create(&run.threads, threads, &err), err);
            struct cuzk_ntt *ntt;
            assert_ok(cuzk_ntt_create(&ntt, log2, &run, &err), err);
            fr *h = vector(n), *v = vector(n), *scratch = vector(n), *values = vector(n);
            memcpy(h, a, n * sizeof(fr));
            memcpy(v, b, n * sizeof(fr));
            memcpy(values, a, n * sizeof(fr));
            cuzk_ntt_quotient(ntt, h, v, scratch, &run);
            cuzk_ntt_forward(ntt, values, CUZK_ORDER_NATURAL, &shift, &run);
            if (first[0] == NULL) {
                first[0] = h;
                first[1] = values;
            } else {
                assert_memory_equal(h, first[0], n * sizeof(fr));
                assert_memory_equal(values, first[1], n * sizeof(fr));
            }
            cuzk_ntt_inverse(ntt, values, CUZK_ORDER_NATURAL, &shift, &run);
            assert_same(values, a, n);
            if (first[0] != h)
                free(h);
            if (first[1] != values)
                free(values);
            else /* the inverse overwrote it */
                cuzk_ntt_forward(ntt, values, CUZK_ORDER_NATURAL, &shift, NULL);
            free(v);
            free(scratch);
            cuzk_ntt_destroy(ntt);
            cuzk_threads_destroy(run.threads);
        }
    }
    assert_int_equal(cuzk_isa_force(NULL, NULL), CUZK_OK);
    free(first[0]);
    free(first[1]);
    free(a);
    free(b);
}

static void test_failures(void **unused)
{
    (void)unused;
    struct cuzk_error err;
    struct cuzk_ntt *ntt;
    assert_int_equal(cuzk_ntt_create(&ntt, 33, NULL, &err), CUZK_E_ARGUMENT);
    assert_null(ntt);
    struct cuzk_run run = {0};
    assert_ok(cuzk_budget_create(&run.budget, "test", 1000, NULL, &err), err);
    assert_int_equal(cuzk_ntt_create(&ntt, 20, &run, &err), CUZK_E_BUDGET);
    assert_null(ntt);
    struct cuzk_account account;
    cuzk_budget_read(run.budget, &account);
    assert_int_equal(account.used, 0);
    cuzk_budget_destroy(run.budget);
    assert_ok(cuzk_budget_create(&run.budget, "test", 1 << 20, NULL, &err), err);
    for (uint64_t fail = 1;; fail++) {
        cuzk_alloc_fail_at(fail);
        cuzk_status status = cuzk_ntt_create(&ntt, 20, &run, &err);
        cuzk_alloc_fail_at(0);
        if (status == CUZK_OK) {
            assert_true(fail > 2);
            break;
        }
        assert_int_equal(status, CUZK_E_MEMORY);
        assert_null(ntt);
    }
    cuzk_budget_read(run.budget, &account);
    assert_true(account.used_by[CUZK_PURPOSE_NTT] > 0);
    cuzk_ntt_destroy(ntt);
    cuzk_ntt_destroy(NULL);
    cuzk_budget_read(run.budget, &account);
    assert_int_equal(account.used, 0);
    cuzk_budget_destroy(run.budget);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transforms),
        cmocka_unit_test(test_edge_vectors),
        cmocka_unit_test(test_quotient),
        cmocka_unit_test(test_threads_and_paths_give_the_same_bytes),
        cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
