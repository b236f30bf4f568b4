/* Runs a test for every instruction-set path that this processor has. */
#ifndef CUZK_TESTS_UNIT_CURVE_PATHS_H
#define CUZK_TESTS_UNIT_CURVE_PATHS_H

#include "unit/test.h"

#include "curve/bls12_381/ops.h"

/* for_each_path(ops) { … } */
#define for_each_path(ops)                                                                         \
    for (const struct bls12_381_ops *ops = NULL, *next_##ops = bls12_381_ops("portable");          \
         (ops = next_##ops) != NULL;                                                               \
         next_##ops = strcmp(ops->name, "portable") == 0 ? bls12_381_ops("x86_64-adx") : NULL)

static const struct bls12_381_g1_affine g1_generator
    __attribute__((unused)) = {{{BLS12_381_G1_GENERATOR_X}}, {{BLS12_381_G1_GENERATOR_Y}}};
static const struct bls12_381_g2_affine g2_generator
    __attribute__((unused)) = {{{{BLS12_381_G2_GENERATOR_X_C0}}, {{BLS12_381_G2_GENERATOR_X_C1}}},
                               {{{BLS12_381_G2_GENERATOR_Y_C0}}, {{BLS12_381_G2_GENERATOR_Y_C1}}}};

static inline struct bls12_381_fr random_fr(uint64_t *state)
{
    struct bls12_381_fr r;
    uint64_t words[4];
    for (int i = 0; i < 4; i++)
        words[i] = test_random(state);
    words[3] &= 0x3fffffffffffffff;
    bool below = bls12_381_fr_from_limbs(&r, words);
    assert_true(below);
    return r;
}

#endif
