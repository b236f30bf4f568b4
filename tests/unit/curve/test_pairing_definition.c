/* The pairing's value, seen from inside: the final exponentiation against plain powers with the
 * exponent of its definition, the order of the result, and bilinearity in the target group.
 * Includes the instance; test_pairing_definition_adx.c does so for the other path. */
#include "unit/test.h"

#include <gmp.h>

#include "curve/bls12_381/instance.c"

static const struct bls12_381_g1_affine g1_generator = {{{BLS12_381_G1_GENERATOR_X}},
                                                        {{BLS12_381_G1_GENERATOR_Y}}};
static const struct bls12_381_g2_affine g2_generator = {
    {{{BLS12_381_G2_GENERATOR_X_C0}}, {{BLS12_381_G2_GENERATOR_X_C1}}},
    {{{BLS12_381_G2_GENERATOR_Y_C0}}, {{BLS12_381_G2_GENERATOR_Y_C1}}}};

static void power(struct bls12_381_fp12 *r, const struct bls12_381_fp12 *a, const mpz_t e)
{
    struct bls12_381_fp12 base = *a;
    bls12_381_fp12_set_one(r);
    for (size_t i = mpz_sizeinbase(e, 2); i-- > 0;) {
        bls12_381_fp12_sqr(r, r);
        if (mpz_tstbit(e, i))
            bls12_381_fp12_mul(r, r, &base);
    }
}

static void pairing(struct bls12_381_fp12 *r, uint64_t a, uint64_t b)
{
    struct bls12_381_g1 s;
    struct bls12_381_g2 t;
    struct bls12_381_g1_affine p;
    struct bls12_381_g2_affine q;
    bls12_381_g1_from_affine(&s, &g1_generator);
    bls12_381_g1_mul_limbs(&s, &s, &a, 1);
    bls12_381_g1_to_affine(&p, &s);
    bls12_381_g2_from_affine(&t, &g2_generator);
    bls12_381_g2_mul_limbs(&t, &t, &b, 1);
    bls12_381_g2_to_affine(&q, &t);
    bls12_381_miller(r, &p, &q, 1);
    bls12_381_final_exponentiation(r, r);
}

static void test_definition(void **state)
{
    (void)state;
    mpz_t p, r, e;
    mpz_inits(p, r, e, NULL);
    mpz_import(p, BLS12_381_FP_LIMBS, -1, 8, 0, 0, bls12_381_fp_modulus);
    mpz_import(r, BLS12_381_FR_LIMBS, -1, 8, 0, 0, bls12_381_fr_modulus);
    mpz_pow_ui(e, p, 12);
    mpz_sub_ui(e, e, 1);
    assert_true(mpz_divisible_p(e, r));
    mpz_divexact(e, e, r);
    mpz_mul_ui(e, e, 3);

    struct bls12_381_fp12 f, ours, want, one_one, t;
    bls12_381_miller(&f, &g1_generator, &g2_generator, 1);
    bls12_381_final_exponentiation(&ours, &f);
    power(&want, &f, e);
    assert_memory_equal(&ours, &want, sizeof want);

    /* order r, which is prime: not one, and one to the r */
    assert_false(bls12_381_fp12_is_one(&ours));
    power(&t, &ours, r);
    assert_true(bls12_381_fp12_is_one(&t));

    one_one = ours;
    const uint64_t cases[][2] = {{1, 1}, {2, 1}, {1, 2}, {3, 5}, {0x123456789, 0xabcdef01234567}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pairing(&ours, cases[i][0], cases[i][1]);
        mpz_set_ui(e, cases[i][0]);
        mpz_mul_ui(e, e, cases[i][1]);
        power(&want, &one_one, e);
        assert_memory_equal(&ours, &want, sizeof want);
    }
    mpz_clears(p, r, e, NULL);
}

/* The subgroup tests by endomorphism against r times the point: on points of the curves with small
 * x, on what r times them leaves in the cofactor's part, and on points of small order. */
static void test_subgroups(void **state)
{
    (void)state;
    unsigned outside1 = 0, outside2 = 0;
    for (uint64_t x = 0; x < 60; x++) {
        struct bls12_381_g1_affine a;
        struct bls12_381_g2_affine b;
        struct bls12_381_g1 s;
        struct bls12_381_g2 t;
        struct bls12_381_fp y1;
        struct bls12_381_fp2 y2;
        bls12_381_fp_from_u64(&a.x, x);
        bls12_381_fp_sqr(&y1, &a.x);
        bls12_381_fp_mul(&y1, &y1, &a.x);
        bls12_381_fp_add(&y1, &y1, &g1_b);
        if (bls12_381_fp_sqrt(&a.y, &y1)) {
            bls12_381_g1_from_affine(&s, &a);
            bls12_381_g1_mul_limbs(&s, &s, bls12_381_fr_modulus, BLS12_381_FR_LIMBS);
            assert_int_equal(g1_in_subgroup(&a), bls12_381_g1_is_infinity(&s));
            outside1 += !g1_in_subgroup(&a);
            /* r times it has the cofactor's order: out, unless infinite */
            bls12_381_g1_to_affine(&a, &s);
            assert_int_equal(g1_in_subgroup(&a), bls12_381_g1_is_infinity(&s));
        }
        bls12_381_fp_from_u64(&b.x.c0, x);
        bls12_381_fp_from_u64(&b.x.c1, x * x + 1);
        bls12_381_fp2_sqr(&y2, &b.x);
        bls12_381_fp2_mul(&y2, &y2, &b.x);
        bls12_381_fp2_add(&y2, &y2, &g2_b);
        if (bls12_381_fp2_sqrt(&b.y, &y2)) {
            bls12_381_g2_from_affine(&t, &b);
            bls12_381_g2_mul_limbs(&t, &t, bls12_381_fr_modulus, BLS12_381_FR_LIMBS);
            assert_int_equal(g2_in_subgroup(&b), bls12_381_g2_is_infinity(&t));
            outside2 += !g2_in_subgroup(&b);
            bls12_381_g2_to_affine(&b, &t);
            assert_int_equal(g2_in_subgroup(&b), bls12_381_g2_is_infinity(&t));
        }
    }
    assert_true(outside1 > 10 && outside2 > 10);

    /* Points of the small orders that divide G1's cofactor, (x - 1)^2/3 = 3 · (11 · 10177 ·
     * 859267 · 52437899)^2: what is left of a point times r and all other factors. */
    static const uint64_t factors[] = {3, 11, 10177, 859267, 52437899};
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        bool found = false;
        for (uint64_t x = 0; x < 40 && !found; x++) {
            struct bls12_381_g1_affine a;
            struct bls12_381_fp y;
            struct bls12_381_g1 s;
            bls12_381_fp_from_u64(&a.x, x);
            bls12_381_fp_sqr(&y, &a.x);
            bls12_381_fp_mul(&y, &y, &a.x);
            bls12_381_fp_add(&y, &y, &g1_b);
            if (!bls12_381_fp_sqrt(&a.y, &y))
                continue;
            bls12_381_g1_from_affine(&s, &a);
            bls12_381_g1_mul_limbs(&s, &s, bls12_381_fr_modulus, BLS12_381_FR_LIMBS);
            for (size_t j = 0; j < sizeof factors / sizeof *factors; j++)
                for (int k = 0; k < 2 && j != i; k++)
                    bls12_381_g1_mul_limbs(&s, &s, &factors[j], 1);
            if (bls12_381_g1_is_infinity(&s))
                continue;
            found = true;
            bls12_381_g1_to_affine(&a, &s);
            assert_true(bls12_381_g1_affine_on_curve(&a));
            assert_false(g1_in_subgroup(&a));
        }
        assert_true(found);
    }
}

int main(void)
{
    if (bls12_381_ops(CUZK_ISA_NAME) == NULL) {
        printf("skipped: this processor has no %s\n", CUZK_ISA_NAME);
        return 0;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_definition),
                                       cmocka_unit_test(test_subgroups)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
