/* cmocka with the headers that it wants before it, and what all our unit tests share. */
#ifndef CUZK_TESTS_UNIT_TEST_H
#define CUZK_TESTS_UNIT_TEST_H

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
/* clang-format on */

#include "cuzk/errors.h"

/* Fails with the error's own sentence, so that a red test says why. */
#define assert_ok(call, err)                                                                       \
    do {                                                                                           \
        if ((call) != CUZK_OK)                                                                     \
            fail_msg("%s: %s", #call, (err).message);                                              \
    } while (0)

/* Deterministic random words (splitmix64) for test inputs; the seed is printed by tests that take
 * it from the environment (CUZK_TEST_SEED) so that a failure can be repeated. */
static inline uint64_t test_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static inline uint64_t test_seed(void)
{
    const char *text = getenv("CUZK_TEST_SEED");
    uint64_t seed = text != NULL ? strtoull(text, NULL, 0) : 1;
    print_message("CUZK_TEST_SEED=%llu\n", (unsigned long long)seed);
    return seed;
}

#endif
