/* The pairing on every path: bilinear, not degenerate, infinity, order, products of many pairs. */
#include "paths.h"

static void multiples(const struct bls12_381_ops *ops, struct bls12_381_g1_affine *p,
                      struct bls12_381_g2_affine *q, const struct bls12_381_fr *a,
                      const struct bls12_381_fr *b)
{
    struct bls12_381_g1 s;
    struct bls12_381_g2 t;
    ops->g1_from_affine(&s, &g1_generator);
    ops->g1_mul(&s, &s, a);
    ops->g1_to_affine(p, &s);
    ops->g2_from_affine(&t, &g2_generator);
    ops->g2_mul(&t, &t, b);
    ops->g2_to_affine(q, &t);
}

/* e(aP, bQ) e(-abP, Q) = 1, also with the product on the other side; one off breaks it. */
static void test_bilinear(void **state)
{
    (void)state;
    for_each_path(ops)
    {
        uint64_t random = test_seed();
        for (int i = 0; i < 6; i++) {
            struct bls12_381_fr a = random_fr(&random), b = random_fr(&random), c;
            if (i == 0)
                a = b = bls12_381_fr_one;
            if (i == 1)
                bls12_381_fr_neg(&a, &bls12_381_fr_one);
            struct bls12_381_g1_affine p[2];
            struct bls12_381_g2_affine q[2];
            multiples(ops, &p[0], &q[0], &a, &b);
            bls12_381_fr_mul(&c, &a, &b);
            bls12_381_fr_neg(&c, &c);
            multiples(ops, &p[1], &q[1], &c, &bls12_381_fr_one);
            assert_true(ops->pairing_is_one(p, q, 2));
            multiples(ops, &p[1], &q[1], &bls12_381_fr_one, &c);
            assert_true(ops->pairing_is_one(p, q, 2));
            bls12_381_fr_add(&c, &c, &bls12_381_fr_one);
            multiples(ops, &p[1], &q[1], &c, &bls12_381_fr_one);
            assert_false(ops->pairing_is_one(p, q, 2));
        }
    }
}

static void test_special(void **state)
{
    (void)state;
    const struct bls12_381_g1_affine no_p = {0};
    const struct bls12_381_g2_affine no_q = {0};
    for_each_path(ops)
    {
        assert_true(ops->pairing_is_one(NULL, NULL, 0));
        assert_false(ops->pairing_is_one(&g1_generator, &g2_generator, 1));
        assert_true(ops->pairing_is_one(&no_p, &g2_generator, 1));
        assert_true(ops->pairing_is_one(&g1_generator, &no_q, 1));
        assert_true(ops->pairing_is_one(&no_p, &no_q, 1));
    }
}

/* n pairs whose exponents sum to zero: every count around the number that share a loop, with an
 * infinity among them. */
static void test_many(void **state)
{
    (void)state;
    for_each_path(ops)
    {
        uint64_t random = test_seed();
        struct bls12_381_g1_affine p[19];
        struct bls12_381_g2_affine q[19];
        struct bls12_381_fr sum = bls12_381_fr_zero, t;
        for (size_t n = 0; n < 18; n++) {
            struct bls12_381_fr a = random_fr(&random), b = random_fr(&random);
            if (n == 4)
                a = bls12_381_fr_zero;
            multiples(ops, &p[n], &q[n], &a, &b);
            bls12_381_fr_mul(&t, &a, &b);
            bls12_381_fr_sub(&sum, &sum, &t);
            multiples(ops, &p[n + 1], &q[n + 1], &sum, &bls12_381_fr_one);
            assert_true(ops->pairing_is_one(p, q, n + 2));
            assert_false(ops->pairing_is_one(p, q, n + 1));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bilinear),
                                       cmocka_unit_test(test_special), cmocka_unit_test(test_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
