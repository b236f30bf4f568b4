/* What the programs of tests/device share: counting, random field elements, a device to run on.
 * They print `N passed, N failed` last and exit 1 if anything failed, 77 where there is no device.
 */
#ifndef CUZK_TESTS_DEVICE_CUDA_TEST_H
#define CUZK_TESTS_DEVICE_CUDA_TEST_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/cuda/cuda.h"

#ifdef __cplusplus
#define CUZK_TEST_MAYBE [[maybe_unused]] static
#else
#define CUZK_TEST_MAYBE static __attribute__((unused))
#endif

static unsigned test_passed, test_failed;
static uint64_t test_state = 1;

CUZK_TEST_MAYBE void test_result(bool ok, const char *format, ...)
{
    va_list args;
    if (ok) {
        test_passed++;
        return;
    }
    test_failed++;
    printf("FAILED: ");
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
    fflush(stdout);
}

/* What was checked since the last call counts as one test: for sweeps of a million checks. */
CUZK_TEST_MAYBE void test_fold(const char *what)
{
    static unsigned tests, failed_before;
    printf("%s: %u checks, %u failed\n", what, test_passed - tests + test_failed - failed_before,
           test_failed - failed_before);
    tests += test_failed == failed_before;
    test_passed = tests;
    failed_before = test_failed;
}

CUZK_TEST_MAYBE uint64_t test_random(void)
{
    uint64_t z = test_state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

CUZK_TEST_MAYBE struct bls12_381_fr test_random_fr(void)
{
    struct bls12_381_fr r;
    for (int i = 0; i < 4; i++)
        r.l[i] = test_random();
    r.l[3] &= UINT64_MAX >> 1;
    bls12_381_fr_reduce_once(&r, r.l);
    return r;
}

/* 0, 1, -1, 2 and random ones, by i */
CUZK_TEST_MAYBE struct bls12_381_fr test_edge_fr(size_t i)
{
    struct bls12_381_fr r = bls12_381_fr_zero;
    switch (i % 11) {
    case 0:
        return r;
    case 1:
        return bls12_381_fr_one;
    case 2:
        bls12_381_fr_neg(&r, &bls12_381_fr_one);
        return r;
    case 3:
        bls12_381_fr_add(&r, &bls12_381_fr_one, &bls12_381_fr_one);
        return r;
    default:
        return test_random_fr();
    }
}

CUZK_TEST_MAYBE struct cuzk_cuda *test_open(struct cuzk_budget *budget)
{
    struct cuzk_error err;
    struct cuzk_cuda *device;
    const char *seed = getenv("CUZK_TEST_SEED");
    if (seed != NULL)
        test_state = strtoull(seed, NULL, 0);
    printf("CUZK_TEST_SEED=%llu\n", (unsigned long long)test_state);
    if (cuzk_cuda_count() == 0) {
        printf("no CUDA device: skipped\n");
        exit(77);
    }
    if (cuzk_cuda_open(&device, 0, budget, &err) != CUZK_OK) {
        printf("FAILED: %s\n0 passed, 1 failed\n", err.message);
        exit(1);
    }
    struct cuzk_cuda_description d;
    uint64_t free_bytes;
    if (cuzk_cuda_describe(&d, 0, &err) == CUZK_OK &&
        cuzk_cuda_free_memory(&free_bytes, 0, &err) == CUZK_OK)
        printf("%s %s, sm_%d%d, %d multiprocessors, %.1f of %.1f GB free\n", d.name, d.uuid,
               d.major, d.minor, d.multiprocessors, (double)free_bytes / 1e9,
               (double)d.memory / 1e9);
    fflush(stdout);
    return device;
}

CUZK_TEST_MAYBE int test_end(void)
{
    printf("%u passed, %u failed\n", test_passed, test_failed);
    return test_failed != 0;
}

#define TEST_OK(call)                                                                              \
    do {                                                                                           \
        struct cuzk_error test_err;                                                                \
        memset(&test_err, 0, sizeof test_err);                                                     \
        struct cuzk_error *err = &test_err;                                                        \
        if ((call) != CUZK_OK) {                                                                   \
            test_result(false, "%s: %s", #call, test_err.message);                                 \
            exit(test_end());                                                                      \
        }                                                                                          \
    } while (0)

#endif
