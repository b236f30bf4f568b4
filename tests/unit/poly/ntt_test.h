/* What the tests of transforms share. */
#ifndef CUZK_TESTS_UNIT_POLY_NTT_TEST_H
#define CUZK_TESTS_UNIT_POLY_NTT_TEST_H

#include "unit/test.h"

#include "poly/ntt.h"

typedef struct bls12_381_fr fr;

static inline fr random_fr(uint64_t *state)
{
    uint64_t words[4];
    fr r;
    for (int i = 0; i < 4; i++)
        words[i] = test_random(state);
    words[3] &= 0x3fffffffffffffff;
    assert_true(bls12_381_fr_from_limbs(&r, words));
    return r;
}

static inline fr root_of_order(unsigned log2)
{
    fr w = {{BLS12_381_FR_ROOT_OF_UNITY}};
    for (unsigned i = log2; i < BLS12_381_FR_TWO_ADICITY; i++)
        bls12_381_fr_sqr(&w, &w);
    return w;
}

static inline fr power(const fr *a, uint64_t e)
{
    fr r;
    bls12_381_fr_pow_u64(&r, a, e);
    return r;
}

static inline fr evaluate(const fr *coefficients, size_t n, const fr *x)
{
    fr r = bls12_381_fr_zero;
    for (size_t i = n; i-- > 0;) {
        bls12_381_fr_mul(&r, &r, x);
        bls12_381_fr_add(&r, &r, &coefficients[i]);
    }
    return r;
}

static inline size_t reversed(size_t i, unsigned bits)
{
    size_t r = 0;
    for (unsigned b = 0; b < bits; b++)
        r |= (i >> b & 1) << (bits - 1 - b);
    return r;
}

static inline fr *vector(size_t n)
{
    fr *v = calloc(n, sizeof *v);
    assert_non_null(v);
    return v;
}

static inline void assert_same(const fr *a, const fr *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!bls12_381_fr_eq(&a[i], &b[i]))
            fail_msg("element %zu of %zu differs", i, n);
}

static inline struct cuzk_ntt *plan(unsigned log2)
{
    struct cuzk_error err;
    struct cuzk_ntt *ntt;
    assert_ok(cuzk_ntt_create(&ntt, log2, NULL, &err), err);
    return ntt;
}

/* Values at up to `points` places against Horner's rule, and back again. */
static inline void check_transform(unsigned log2, const fr *shift, size_t points, uint64_t *state)
{
    size_t n = (size_t)1 << log2;
    fr *coefficients = vector(n), *natural = vector(n), *reverse = vector(n);
    for (size_t i = 0; i < n; i++)
        coefficients[i] = random_fr(state);
    memcpy(natural, coefficients, n * sizeof(fr));
    memcpy(reverse, coefficients, n * sizeof(fr));
    struct cuzk_ntt *ntt = plan(log2);
    cuzk_ntt_forward(ntt, natural, CUZK_ORDER_NATURAL, shift, NULL);
    cuzk_ntt_forward(ntt, reverse, CUZK_ORDER_REVERSED, shift, NULL);
    fr w = root_of_order(log2);
    for (size_t k = 0; k < points && k < n; k++) {
        size_t i = n <= points ? k : (size_t)test_random(state) % n;
        fr x = power(&w, i);
        if (shift != NULL)
            bls12_381_fr_mul(&x, &x, shift);
        fr want = evaluate(coefficients, n, &x);
        assert_same(&natural[i], &want, 1);
    }
    for (size_t i = 0; i < n; i++)
        assert_same(&reverse[reversed(i, log2)], &natural[i], 1);
    cuzk_ntt_inverse(ntt, natural, CUZK_ORDER_NATURAL, shift, NULL);
    assert_same(natural, coefficients, n);
    cuzk_ntt_inverse(ntt, reverse, CUZK_ORDER_REVERSED, shift, NULL);
    assert_same(reverse, coefficients, n);
    cuzk_ntt_destroy(ntt);
    free(coefficients);
    free(natural);
    free(reverse);
}

#endif
