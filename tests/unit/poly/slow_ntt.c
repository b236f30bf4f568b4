/* A transform whose rows are split again. */
#include "unit/poly/ntt_test.h"

static void test_size_that_splits_twice(void **unused)
{
    (void)unused;
    uint64_t state = test_seed();
    fr shift = random_fr(&state);
    check_transform(23, &shift, 1, &state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_size_that_splits_twice)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
