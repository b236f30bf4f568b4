/* The extension fields against their definitions: products by the schoolbook over polynomials, and
 * everything else by what it must satisfy. Compiled for the other path by test_tower_adx.c. */
#include "unit/test.h"

#include "curve/bls12_381/ops.h"
#include "field/isa.h"

#define F bls12_381_fp
#define F2 bls12_381_fp2
#define XI 1
#include "field/fp2.inc.h"

#define F bls12_381_fp
#define F2 bls12_381_fp2
#define F6 bls12_381_fp6
#define F12 bls12_381_fp12
#define XI 1
#include "field/tower.inc.h"

typedef struct bls12_381_fp fp;
typedef struct bls12_381_fp2 fp2;
typedef struct bls12_381_fp6 fp6;
typedef struct bls12_381_fp12 fp12;

static const fp2 frobenius[5] = {
    {{{BLS12_381_FROBENIUS_1_C0}}, {{BLS12_381_FROBENIUS_1_C1}}},
    {{{BLS12_381_FROBENIUS_2_C0}}, {{BLS12_381_FROBENIUS_2_C1}}},
    {{{BLS12_381_FROBENIUS_3_C0}}, {{BLS12_381_FROBENIUS_3_C1}}},
    {{{BLS12_381_FROBENIUS_4_C0}}, {{BLS12_381_FROBENIUS_4_C1}}},
    {{{BLS12_381_FROBENIUS_5_C0}}, {{BLS12_381_FROBENIUS_5_C1}}},
};
static const fp frobenius2[5] = {
    {{BLS12_381_FROBENIUS2_1}}, {{BLS12_381_FROBENIUS2_2}}, {{BLS12_381_FROBENIUS2_3}},
    {{BLS12_381_FROBENIUS2_4}}, {{BLS12_381_FROBENIUS2_5}},
};

static fp random_fp(uint64_t *state)
{
    uint64_t words[6];
    fp r;
    for (int i = 0; i < 6; i++)
        words[i] = test_random(state);
    words[5] &= 0x0fffffffffffffff;
    assert_true(bls12_381_fp_from_limbs(&r, words));
    switch (test_random(state) % 8) { /* the ends of the range, often */
    case 0:
        return bls12_381_fp_zero;
    case 1:
        bls12_381_fp_neg(&r, &bls12_381_fp_one);
        return r;
    case 2: /* words p - 1 */
        r = (fp){{1}};
        bls12_381_fp_neg(&r, &r);
        return r;
    default:
        return r;
    }
}

static fp2 random_fp2(uint64_t *state)
{
    fp2 r = {random_fp(state), random_fp(state)};
    return r;
}

static fp6 random_fp6(uint64_t *state)
{
    fp6 r = {random_fp2(state), random_fp2(state), random_fp2(state)};
    return r;
}

static fp12 random_fp12(uint64_t *state)
{
    fp12 r = {random_fp6(state), random_fp6(state)};
    return r;
}

/* (a0 + a1 u)(b0 + b1 u), u^2 = -1, with products of the base field alone. */
static fp2 define_fp2_mul(const fp2 *a, const fp2 *b)
{
    fp s, t;
    fp2 r;
    bls12_381_fp_mul(&s, &a->c0, &b->c0);
    bls12_381_fp_mul(&t, &a->c1, &b->c1);
    bls12_381_fp_sub(&r.c0, &s, &t);
    bls12_381_fp_mul(&s, &a->c0, &b->c1);
    bls12_381_fp_mul(&t, &a->c1, &b->c0);
    bls12_381_fp_add(&r.c1, &s, &t);
    return r;
}

/* An element of F12 as a polynomial in w over F2, w^6 = xi = 1 + u. */
static void to_polynomial(fp2 out[6], const fp12 *a)
{
    out[0] = a->c0.c0;
    out[1] = a->c1.c0;
    out[2] = a->c0.c1;
    out[3] = a->c1.c1;
    out[4] = a->c0.c2;
    out[5] = a->c1.c2;
}

static fp12 from_polynomial(const fp2 in[6])
{
    fp12 r = {{in[0], in[2], in[4]}, {in[1], in[3], in[5]}};
    return r;
}

static fp12 define_fp12_mul(const fp12 *a, const fp12 *b)
{
    const fp2 xi = {bls12_381_fp_one, bls12_381_fp_one};
    fp2 x[6], y[6], r[11], t;
    to_polynomial(x, a);
    to_polynomial(y, b);
    memset(r, 0, sizeof r);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            t = define_fp2_mul(&x[i], &y[j]);
            bls12_381_fp2_add(&r[i + j], &r[i + j], &t);
        }
    for (int i = 6; i < 11; i++) {
        t = define_fp2_mul(&r[i], &xi);
        bls12_381_fp2_add(&r[i - 6], &r[i - 6], &t);
    }
    return from_polynomial(r);
}

#define assert_same(a, b) assert_memory_equal(&(a), &(b), sizeof(a))

static void test_fp2(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    const fp2 xi = {bls12_381_fp_one, bls12_381_fp_one};
    for (int i = 0; i < 2000; i++) {
        fp2 a = random_fp2(&random), b = random_fp2(&random), r, want;
        want = define_fp2_mul(&a, &b);
        bls12_381_fp2_mul(&r, &a, &b);
        assert_same(r, want);
        r = b;
        bls12_381_fp2_mul(&r, &a, &r);
        assert_same(r, want);
        want = define_fp2_mul(&a, &a);
        bls12_381_fp2_sqr(&r, &a);
        assert_same(r, want);
        struct bls12_381_fp2_wide w;
        bls12_381_fp2_sqr_wide(&w, &a);
        bls12_381_fp2_redc(&r, &w);
        assert_same(r, want);
        want = define_fp2_mul(&a, &xi);
        r = a;
        bls12_381_fp2_mul_xi(&r, &r);
        assert_same(r, want);
        if (i >= 200)
            continue;
        bls12_381_fp2_inv(&r, &a);
        want = define_fp2_mul(&r, &a);
        assert_true(bls12_381_fp2_is_zero(&a) ? bls12_381_fp2_is_zero(&r)
                                              : bls12_381_fp2_is_one(&want));
        /* a root of every square, none of xi times a square: xi is no square */
        want = define_fp2_mul(&a, &a);
        assert_true(bls12_381_fp2_sqrt(&r, &want));
        b = define_fp2_mul(&r, &r);
        assert_same(b, want);
        want = define_fp2_mul(&want, &xi);
        assert_int_equal(bls12_381_fp2_sqrt(&r, &want), bls12_381_fp2_is_zero(&a));
        assert_true(bls12_381_fp2_is_zero(&r));
        /* the larger of a and -a, by c1 first */
        bls12_381_fp2_neg(&b, &a);
        assert_int_equal(bls12_381_fp2_is_larger(&a) + bls12_381_fp2_is_larger(&b),
                         !bls12_381_fp2_is_zero(&a));
        if (!bls12_381_fp_is_zero(&a.c1))
            assert_int_equal(bls12_381_fp2_is_larger(&a), bls12_381_fp_is_larger(&a.c1));
    }
}

static void test_fp12(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    for (int i = 0; i < 500; i++) {
        fp12 a = random_fp12(&random), b = random_fp12(&random), r, want;
        want = define_fp12_mul(&a, &b);
        bls12_381_fp12_mul(&r, &a, &b);
        assert_same(r, want);
        r = b;
        bls12_381_fp12_mul(&r, &a, &r);
        assert_same(r, want);
        want = define_fp12_mul(&a, &a);
        bls12_381_fp12_sqr(&r, &a);
        assert_same(r, want);

        fp2 line[6];
        memset(line, 0, sizeof line);
        line[0] = random_fp2(&random);
        line[2] = random_fp2(&random);
        line[3] = random_fp2(&random);
        b = from_polynomial(line);
        want = define_fp12_mul(&a, &b);
        bls12_381_fp12_mul_014(&r, &a, &line[0], &line[2], &line[3]);
        assert_same(r, want);

        fp6 six;
        memset(&b, 0, sizeof b); /* F6 is in F12 */
        b.c0 = a.c1;
        want = define_fp12_mul(&b, &b);
        bls12_381_fp6_mul(&six, &a.c1, &a.c1);
        assert_same(six, want.c0);

        if (i >= 50)
            continue;
        bls12_381_fp12_inv(&r, &a);
        want = define_fp12_mul(&a, &r);
        assert_true(bls12_381_fp12_is_one(&want));
    }
    fp12 zero;
    memset(&zero, 0, sizeof zero);
    bls12_381_fp12_inv(&zero, &zero);
    assert_true(bls12_381_fp2_is_zero(&zero.c0.c0) && !bls12_381_fp12_is_one(&zero));
}

/* a^e by squaring and the defined product, e as words. */
static fp12 power(const fp12 *a, const uint64_t *e, int words)
{
    fp12 r;
    bls12_381_fp12_set_one(&r);
    for (int i = 64 * words - 1; i >= 0; i--) {
        r = define_fp12_mul(&r, &r);
        if ((e[i / 64] >> (i % 64) & 1) != 0)
            r = define_fp12_mul(&r, a);
    }
    return r;
}

/* Frobenius is the p-th power; conjugation is six of them; on the cyclotomic subgroup the short
 * squaring is the squaring. */
static void test_frobenius(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    for (int i = 0; i < 4; i++) {
        fp12 a = random_fp12(&random), b, r, want;
        want = power(&a, bls12_381_fp_modulus, 6);
        bls12_381_fp12_frobenius(&r, &a, frobenius);
        assert_same(r, want);
        want = power(&r, bls12_381_fp_modulus, 6);
        bls12_381_fp12_frobenius2(&r, &a, frobenius2);
        assert_same(r, want);
        r = a;
        for (int j = 0; j < 6; j++)
            bls12_381_fp12_frobenius(&r, &r, frobenius);
        bls12_381_fp12_conj(&want, &a);
        assert_same(r, want);
        /* into the subgroup: (p^6 - 1)(p^2 + 1) */
        bls12_381_fp12_inv(&b, &a);
        bls12_381_fp12_mul(&a, &want, &b);
        bls12_381_fp12_frobenius2(&b, &a, frobenius2);
        bls12_381_fp12_mul(&a, &a, &b);
        want = define_fp12_mul(&a, &a);
        bls12_381_fp12_cyclotomic_sqr(&r, &a);
        assert_same(r, want);
        r = a;
        bls12_381_fp12_cyclotomic_sqr(&r, &r);
        assert_same(r, want);
        bls12_381_fp12_conj(&b, &a);
        want = define_fp12_mul(&a, &b);
        assert_true(bls12_381_fp12_is_one(&want));
    }
}

int main(void)
{
    if (bls12_381_ops(CUZK_ISA_NAME) == NULL) {
        printf("skipped: this processor has no %s\n", CUZK_ISA_NAME);
        return 0;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fp2), cmocka_unit_test(test_fp12),
                                       cmocka_unit_test(test_frobenius)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
