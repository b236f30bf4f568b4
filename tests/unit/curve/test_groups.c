/* Group laws of G1 and G2 on every path, on random and on special points; what the paths make of
 * the same input is held to be the same bytes after normalisation. */
#include "paths.h"

#define GROUP_TEST(g)                                                                              \
    static struct bls12_381_##g##_affine g##_times(const struct bls12_381_ops *ops,                \
                                                   const struct bls12_381_##g##_affine *a,         \
                                                   const struct bls12_381_fr *k)                   \
    {                                                                                              \
        struct bls12_381_##g t;                                                                    \
        struct bls12_381_##g##_affine r;                                                           \
        ops->g##_from_affine(&t, a);                                                               \
        ops->g##_mul(&t, &t, k);                                                                   \
        ops->g##_to_affine(&r, &t);                                                                \
        return r;                                                                                  \
    }                                                                                              \
    static struct bls12_381_##g##_affine g##_sum(                                                  \
        const struct bls12_381_ops *ops, const struct bls12_381_##g##_affine *a,                   \
        const struct bls12_381_##g##_affine *b, const struct bls12_381_fr *scale)                  \
    {                                                                                              \
        struct bls12_381_##g s, t;                                                                 \
        struct bls12_381_##g##_affine r;                                                           \
        ops->g##_from_affine(&s, a);                                                               \
        ops->g##_from_affine(&t, b);                                                               \
        if (scale != NULL) { /* other Z: k (1/k a) = a */                                          \
            struct bls12_381_fr inverse;                                                           \
            bls12_381_fr_inv(&inverse, scale);                                                     \
            ops->g##_mul(&s, &s, scale);                                                           \
            ops->g##_mul(&s, &s, &inverse);                                                        \
            ops->g##_mul(&t, &t, &inverse);                                                        \
            ops->g##_mul(&t, &t, scale);                                                           \
        }                                                                                          \
        ops->g##_add(&s, &s, &t);                                                                  \
        ops->g##_to_affine(&r, &s);                                                                \
        return r;                                                                                  \
    }                                                                                              \
    static void test_##g##_laws(void **state)                                                      \
    {                                                                                              \
        (void)state;                                                                               \
        const struct bls12_381_ops *portable = bls12_381_ops("portable");                          \
        const struct bls12_381_##g##_affine infinity = {0};                                        \
        for_each_path(ops)                                                                         \
        {                                                                                          \
            uint64_t random = test_seed();                                                         \
            for (int i = 0; i < 12; i++) {                                                         \
                struct bls12_381_fr a = random_fr(&random), b = random_fr(&random), c;             \
                if (i == 0)                                                                        \
                    a = bls12_381_fr_zero;                                                         \
                if (i == 1)                                                                        \
                    b = bls12_381_fr_one;                                                          \
                if (i == 2)                                                                        \
                    b = a;                                                                         \
                if (i == 3)                                                                        \
                    bls12_381_fr_neg(&b, &a);                                                      \
                if (i == 4)                                                                        \
                    bls12_381_fr_neg(&a, &bls12_381_fr_one);                                       \
                if (i == 5)                                                                        \
                    bls12_381_fr_from_u64(&a, 8);                                                  \
                struct bls12_381_##g##_affine pa = g##_times(ops, &g##_generator, &a);             \
                struct bls12_381_##g##_affine pb = g##_times(ops, &g##_generator, &b), sum, want;  \
                bls12_381_fr_add(&c, &a, &b);                                                      \
                want = g##_times(portable, &g##_generator, &c);                                    \
                sum = g##_sum(ops, &pa, &pb, NULL);                                                \
                assert_memory_equal(&sum, &want, sizeof sum);                                      \
                sum = g##_sum(ops, &pb, &pa, &bls12_381_fr_one);                                   \
                assert_memory_equal(&sum, &want, sizeof sum);                                      \
                struct bls12_381_fr k = random_fr(&random);                                        \
                sum = g##_sum(ops, &pa, &pb, &k);                                                  \
                assert_memory_equal(&sum, &want, sizeof sum);                                      \
                bls12_381_fr_mul(&c, &a, &b);                                                      \
                want = g##_times(portable, &g##_generator, &c);                                    \
                sum = g##_times(ops, &pa, &b);                                                     \
                assert_memory_equal(&sum, &want, sizeof sum);                                      \
                sum = g##_sum(ops, &pa, &infinity, NULL);                                          \
                assert_memory_equal(&sum, &pa, sizeof sum);                                        \
                sum = g##_sum(ops, &infinity, &pa, NULL);                                          \
                assert_memory_equal(&sum, &pa, sizeof sum);                                        \
                struct bls12_381_##g negative;                                                     \
                ops->g##_from_affine(&negative, &pa);                                              \
                ops->g##_neg(&negative, &negative);                                                \
                ops->g##_to_affine(&sum, &negative);                                               \
                sum = g##_sum(ops, &sum, &pa, NULL);                                               \
                assert_memory_equal(&sum, &infinity, sizeof sum);                                  \
                struct bls12_381_##g twice; /* pa has a = 0 among its cases: infinity */           \
                ops->g##_from_affine(&twice, &pa);                                                 \
                ops->g##_double(&twice, &twice);                                                   \
                ops->g##_to_affine(&sum, &twice);                                                  \
                want = g##_sum(ops, &pa, &pa, NULL);                                               \
                assert_memory_equal(&sum, &want, sizeof sum);                                      \
                assert_true(ops->g##_in_subgroup(&pa));                                            \
            }                                                                                      \
            struct bls12_381_##g##_affine off = g##_generator;                                     \
            off.y = off.x;                                                                         \
            assert_false(ops->g##_in_subgroup(&off));                                              \
            assert_true(ops->g##_in_subgroup(&infinity));                                          \
        }                                                                                          \
    }

GROUP_TEST(g1)
GROUP_TEST(g2)

/* k (r - k) sums to infinity, and r - 1 times the generator is its negative: the order is r. */
static void test_order(void **state)
{
    (void)state;
    for_each_path(ops)
    {
        struct bls12_381_fr minus_one;
        bls12_381_fr_neg(&minus_one, &bls12_381_fr_one);
        struct bls12_381_g1_affine p = g1_times(ops, &g1_generator, &minus_one);
        assert_memory_equal(&p.x, &g1_generator.x, sizeof p.x);
        assert_memory_not_equal(&p.y, &g1_generator.y, sizeof p.y);
        struct bls12_381_g2_affine q = g2_times(ops, &g2_generator, &minus_one);
        assert_memory_equal(&q.x, &g2_generator.x, sizeof q.x);
        assert_memory_not_equal(&q.y, &g2_generator.y, sizeof q.y);
    }
}

static void test_vectors_over_fr(void **state)
{
    (void)state;
    for_each_path(ops)
    {
        uint64_t random = test_seed();
        struct bls12_381_fr a[17], b[17], r[17], scratch[17], t;
        for (size_t n = 0; n <= 17; n++) {
            for (size_t i = 0; i < n; i++) {
                a[i] = i % 5 == 3 ? bls12_381_fr_zero : random_fr(&random);
                b[i] = random_fr(&random);
            }
            ops->fr_mul_vector(r, a, b, n);
            for (size_t i = 0; i < n; i++) {
                bls12_381_fr_mul(&t, &a[i], &b[i]);
                assert_memory_equal(&t, &r[i], sizeof t);
            }
            ops->fr_scale_vector(r, a, &b[0], n);
            for (size_t i = 0; i < n; i++) {
                bls12_381_fr_mul(&t, &a[i], &b[0]);
                assert_memory_equal(&t, &r[i], sizeof t);
            }
            memcpy(r, a, sizeof r);
            ops->fr_invert_vector(r, scratch, n);
            for (size_t i = 0; i < n; i++) {
                bls12_381_fr_mul(&t, &a[i], &r[i]);
                assert_true(bls12_381_fr_is_zero(&a[i]) ? bls12_381_fr_is_zero(&r[i])
                                                        : bls12_381_fr_is_one(&t));
            }
        }
    }
}

static void test_choice(void **state)
{
    (void)state;
    struct cuzk_error err;
    const struct bls12_381_ops *best = bls12_381_ops(NULL);
    assert_non_null(best);
    assert_null(bls12_381_ops("no-such-path"));
    assert_ok(cuzk_isa_force("portable", &err), err);
    assert_string_equal(cuzk_isa_name(), "portable");
    assert_string_equal(bls12_381_ops(NULL)->name, "portable");
    assert_int_equal(cuzk_isa_force("no-such-path", &err), CUZK_E_UNSUPPORTED);
    assert_string_equal(cuzk_isa_name(), "portable");
    assert_ok(cuzk_isa_force(NULL, &err), err);
    assert_ptr_equal(bls12_381_ops(NULL), best);
    assert_ptr_equal(bls12_381_ops(best->name), best);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_g1_laws), cmocka_unit_test(test_g2_laws),
        cmocka_unit_test(test_order),   cmocka_unit_test(test_vectors_over_fr),
        cmocka_unit_test(test_choice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
