#include "unit/test.h"

#include "curve/bls12_381/fields.h"

static void test_basic(void **state)
{
    (void)state;
    struct bls12_381_fr a, b, c, d;
    bls12_381_fr_from_u64(&a, 12345);
    bls12_381_fr_inv(&b, &a);
    bls12_381_fr_mul(&c, &a, &b);
    assert_true(bls12_381_fr_is_one(&c));
    bls12_381_fr_neg(&d, &a);
    bls12_381_fr_add(&d, &d, &a);
    assert_true(bls12_381_fr_is_zero(&d));
    struct bls12_381_fp x, y;
    bls12_381_fp_from_u64(&x, 77);
    bls12_381_fp_inv(&y, &x);
    bls12_381_fp_mul(&y, &x, &y);
    assert_true(bls12_381_fp_is_one(&y));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_basic)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
