/* Multi-exponentiation in G2. */
#include "unit/curve/paths.h"

#include "base/alloc.h"

typedef struct bls12_381_fr fr;

#define GT g2
#define BIG 4096
#include "unit/curve/msm_test.inc.h"

int main(void)
{
    return cmocka_run_group_tests(g2_tests, NULL, NULL);
}
