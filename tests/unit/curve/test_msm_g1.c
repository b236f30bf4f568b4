/* Multi-exponentiation in G1. */
#include "unit/curve/paths.h"

#include "base/alloc.h"

typedef struct bls12_381_fr fr;

#define GT g1
#define BIG 65536
#include "unit/curve/msm_test.inc.h"

int main(void)
{
    return cmocka_run_group_tests(g1_tests, NULL, NULL);
}
