/* Toy groups whole: orders 2 (y = 0), 3 (x = 0), 7, 11, 67 and 103 over the real field. Compiled
 * for the other instruction-set path by test_toy_adx.c. */
#include "unit/test.h"

#include "curve/bls12_381/ops.h"
#include "field/isa.h"

#define T toy2
#define TORDER 2
#define TB TOY2_B
#define TX TOY2_GENERATOR_X
#define TY TOY2_GENERATOR_Y
#include "toy_check.inc.h"

#define T toy3
#define TORDER 3
#define TB TOY3_B
#define TX TOY3_GENERATOR_X
#define TY TOY3_GENERATOR_Y
#include "toy_check.inc.h"

#define T toy7
#define TORDER 7
#define TB TOY7_B
#define TX TOY7_GENERATOR_X
#define TY TOY7_GENERATOR_Y
#include "toy_check.inc.h"

#define T toy11
#define TORDER 11
#define TB TOY11_B
#define TX TOY11_GENERATOR_X
#define TY TOY11_GENERATOR_Y
#include "toy_check.inc.h"

#define T toy67
#define TORDER 67
#define TB TOY67_B
#define TX TOY67_GENERATOR_X
#define TY TOY67_GENERATOR_Y
#include "toy_check.inc.h"

#define T toy103
#define TORDER 103
#define TB TOY103_B
#define TX TOY103_GENERATOR_X
#define TY TOY103_GENERATOR_Y
#include "toy_check.inc.h"

#define TESTS(t)                                                                                   \
    cmocka_unit_test(t##_test_pairs), cmocka_unit_test(t##_test_scalars),                          \
        cmocka_unit_test(t##_test_batches), cmocka_unit_test(t##_test_msm)

int main(void)
{
    if (bls12_381_ops(CUZK_ISA_NAME) == NULL) {
        printf("skipped: this processor has no %s\n", CUZK_ISA_NAME);
        return 0;
    }
    const struct CMUnitTest tests[] = {TESTS(toy2),  TESTS(toy3),  TESTS(toy7),
                                       TESTS(toy11), TESTS(toy67), TESTS(toy103)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
