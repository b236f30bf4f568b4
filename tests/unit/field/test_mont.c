/* The prime fields against GMP; test_mont_adx.c includes this file for the other path. */
#include "unit/test.h"

#include <gmp.h>

#include "curve/bls12_381/fields.h"
#include "curve/bls12_381/ops.h"
#include "field/isa.h"

#define F bls12_381_fp
#define C BLS12_381_FP
#include "mont_check.inc.h"

#define F bls12_381_fr
#define C BLS12_381_FR
#include "mont_check.inc.h"

static void test_sqrt(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    struct bls12_381_fp a, s, r, t;
    bls12_381_fp_neg(&t, &bls12_381_fp_one);
    assert_false(bls12_381_fp_sqrt(&r, &t)); /* p = 3 mod 4: -1 is no square */
    assert_true(bls12_381_fp_sqrt(&r, &bls12_381_fp_zero) && bls12_381_fp_is_zero(&r));
    for (int i = 0; i < 50; i++) {
        bls12_381_fp_from_u64(&a, test_random(&random));
        bls12_381_fp_inv(&a, &a);
        bls12_381_fp_sqr(&s, &a);
        assert_true(bls12_381_fp_sqrt(&r, &s));
        bls12_381_fp_neg(&t, &r);
        assert_true(bls12_381_fp_eq(&r, &a) || bls12_381_fp_eq(&t, &a));
        bls12_381_fp_neg(&s, &s);
        assert_false(bls12_381_fp_sqrt(&r, &s));
        assert_true(bls12_381_fp_is_zero(&r));
    }
}

int main(void)
{
    if (bls12_381_ops(CUZK_ISA_NAME) == NULL) {
        printf("1..0 # skipped: this processor has no %s\n", CUZK_ISA_NAME);
        return 0;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(bls12_381_fp_test),
                                       cmocka_unit_test(bls12_381_fr_test),
                                       cmocka_unit_test(test_sqrt)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
