/* Transforms, multi-exponentiations, sums by bitmap and fixed-base multiples of the CUDA backend
 * against the processor. Points are known multiples k_i G, so a sum of s_i (k_i G) must equal
 * (sum s_i k_i) G, which single multiplications give: an oracle apart from any MSM.
 */
#include "cuda_test.h"
#include "field_vectors.h"

#include "curve/bls12_381/ops.h"
#include "device/cuda/account.h"
#include "poly/ntt.h"

static struct cuzk_cuda *device;
static const struct bls12_381_ops *ops;
static struct cuzk_threads *threads;

static void *upload(const void *data, size_t bytes)
{
    void *p;
    TEST_OK(cuzk_cuda_alloc(device, &p, CUZK_PURPOSE_OTHER, bytes, err));
    TEST_OK(cuzk_cuda_upload(device, p, data, bytes, err));
    return p;
}

static void *allocate(size_t bytes)
{
    void *p = malloc(bytes ? bytes : 1);
    if (p == NULL) {
        printf("FAILED: out of memory\n");
        exit(1);
    }
    return p;
}

/* ---- transforms ---- */

static void test_ntt(unsigned lg)
{
    const size_t n = (size_t)1 << lg, bytes = n * sizeof(struct bls12_381_fr);
    struct bls12_381_fr *a = allocate(bytes), *b = allocate(bytes), *c = allocate(bytes);
    const struct cuzk_run run = {NULL, NULL};
    const struct bls12_381_fr shift = vector_root(lg + 1);
    struct cuzk_ntt *plan;
    TEST_OK(cuzk_ntt_create(&plan, lg, &run, err));
    for (size_t i = 0; i < n; i++)
        a[i] = test_edge_fr(test_random());
    void *d = upload(a, bytes);
    for (int coset = 0; coset < 2; coset++) {
        memcpy(b, a, bytes);
        cuzk_ntt_forward(plan, b, CUZK_ORDER_REVERSED, coset ? &shift : NULL, &run);
        TEST_OK(cuzk_cuda_upload(device, d, a, bytes, err));
        TEST_OK(cuzk_cuda_ntt_forward(device, d, lg, coset, err));
        TEST_OK(cuzk_cuda_download(device, c, d, bytes, err));
        test_result(memcmp(b, c, bytes) == 0, "forward transform 2^%u, coset %d", lg, coset);
        TEST_OK(cuzk_cuda_ntt_inverse(device, d, lg, coset, err));
        TEST_OK(cuzk_cuda_download(device, c, d, bytes, err));
        test_result(memcmp(a, c, bytes) == 0, "inverse transform 2^%u, coset %d", lg, coset);
    }
    cuzk_cuda_free(device, d);
    cuzk_ntt_destroy(plan);
    free(a);
    free(b);
    free(c);
}

/* Values at a few points by direct evaluation, of the transform and of what its inverse makes of
 * the same vector, and both ways there and back. */
static void test_big_ntt(unsigned lg)
{
    const size_t n = (size_t)1 << lg, bytes = n * sizeof(struct bls12_381_fr);
    struct bls12_381_fr *a = vector_random(threads, n, test_random()), *c = allocate(bytes);
    void *d = upload(a, bytes);
    for (int coset = 0; coset < 2; coset++) {
        TEST_OK(cuzk_cuda_ntt_forward(device, d, lg, coset, err));
        TEST_OK(cuzk_cuda_download(device, c, d, bytes, err));
        test_result(vector_is_transform(threads, c, a, lg, coset, test_random()),
                    "2^%u transform at some points, coset %d", lg, coset);
        TEST_OK(cuzk_cuda_ntt_inverse(device, d, lg, coset, err));
        TEST_OK(cuzk_cuda_ntt_inverse(device, d, lg, coset, err));
        TEST_OK(cuzk_cuda_download(device, c, d, bytes, err));
        test_result(vector_is_transform(threads, a, c, lg, coset, test_random()),
                    "2^%u inverse at some points, coset %d", lg, coset);
        TEST_OK(cuzk_cuda_ntt_forward(device, d, lg, coset, err));
        TEST_OK(cuzk_cuda_download(device, c, d, bytes, err));
        test_result(memcmp(a, c, bytes) == 0, "2^%u there and back, coset %d", lg, coset);
    }
    cuzk_cuda_free(device, d);
    free(a);
    free(c);
}

/* The quotient's equality at a random point. */
static void test_big_quotient(unsigned lg)
{
    const size_t n = (size_t)1 << lg, bytes = n * sizeof(struct bls12_381_fr);
    struct bls12_381_fr *a = vector_random(threads, n, test_random());
    struct bls12_381_fr *b = vector_random(threads, n, test_random()), *h = allocate(bytes);
    const struct bls12_381_fr x = test_random_fr();
    void *da = upload(a, bytes), *db = upload(b, bytes), *dc;
    TEST_OK(cuzk_cuda_alloc(device, &dc, CUZK_PURPOSE_ABC, bytes, err));
    TEST_OK(cuzk_cuda_quotient(device, da, db, dc, lg, err));
    TEST_OK(cuzk_cuda_download(device, h, da, bytes, err));
    test_result(vector_is_quotient(threads, h, a, b, lg, &x), "quotient of 2^%u at a point", lg);
    cuzk_cuda_free(device, da);
    cuzk_cuda_free(device, db);
    cuzk_cuda_free(device, dc);
    free(a);
    free(b);
    free(h);
}

static void test_quotient(unsigned lg)
{
    const size_t n = (size_t)1 << lg, bytes = n * sizeof(struct bls12_381_fr);
    struct bls12_381_fr *a = allocate(bytes), *b = allocate(bytes), *c = allocate(bytes);
    struct bls12_381_fr *ra = allocate(bytes), *rb = allocate(bytes);
    const struct cuzk_run run = {NULL, NULL};
    struct cuzk_ntt *plan;
    TEST_OK(cuzk_ntt_create(&plan, lg, &run, err));
    for (size_t i = 0; i < n; i++) {
        a[i] = test_edge_fr(test_random());
        b[i] = test_edge_fr(test_random());
        bls12_381_fr_mul(&c[i], &a[i], &b[i]);
        ra[vector_reversed(i, lg)] = a[i];
        rb[vector_reversed(i, lg)] = b[i];
    }
    void *da = upload(ra, bytes), *db = upload(rb, bytes), *dc = upload(c, bytes);
    cuzk_ntt_quotient(plan, a, b, c, &run);
    TEST_OK(cuzk_cuda_quotient(device, da, db, dc, lg, err));
    TEST_OK(cuzk_cuda_download(device, c, da, bytes, err));
    test_result(memcmp(a, c, bytes) == 0, "quotient of 2^%u", lg);
    cuzk_cuda_free(device, da);
    cuzk_cuda_free(device, db);
    cuzk_cuda_free(device, dc);
    cuzk_ntt_destroy(plan);
    free(a);
    free(b);
    free(c);
    free(ra);
    free(rb);
}

/* ---- groups: once for each ---- */

#define GROUP g1
#define GENERATOR                                                                                  \
    {                                                                                              \
        {{BLS12_381_G1_GENERATOR_X}},                                                              \
        {                                                                                          \
            {                                                                                      \
                BLS12_381_G1_GENERATOR_Y                                                           \
            }                                                                                      \
        }                                                                                          \
    }
#include "test_cuda_group.inc.h"
#define GROUP g2
#define GENERATOR                                                                                  \
    {                                                                                              \
        {{{BLS12_381_G2_GENERATOR_X_C0}}, {{BLS12_381_G2_GENERATOR_X_C1}}},                        \
        {                                                                                          \
            {{BLS12_381_G2_GENERATOR_Y_C0}},                                                       \
            {                                                                                      \
                {                                                                                  \
                    BLS12_381_G2_GENERATOR_Y_C1                                                    \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }
#include "test_cuda_group.inc.h"

/* What is charged is what the pool has handed out, and nothing was written behind a buffer. */
static void test_account(const struct cuzk_budget *budget)
{
    struct cuzk_account account;
    struct cuzk_cuda_account memory;
    cuzk_budget_read(budget, &account);
    TEST_OK(cuzk_cuda_account_read(device, &memory, err));
    test_result(account.used == memory.used, "account of %llu bytes, %llu handed out",
                (unsigned long long)account.used, (unsigned long long)memory.used);
    test_result(memory.overrun == 0, "%llu buffers have been overrun",
                (unsigned long long)memory.overrun);
}

/* Not a test: transforms memory that was never written, which initcheck must see (and a write
 * behind a buffer that the guard must see). */
static int unset(void)
{
    struct cuzk_cuda_account memory;
    uint64_t word = 0;
    void *d;
    TEST_OK(cuzk_cuda_alloc(device, &d, CUZK_PURPOSE_OTHER, 32 << 10, err));
    TEST_OK(cuzk_cuda_ntt_forward(device, d, 10, false, err));
    cuzk_cuda_free(device, d);
    cuzk_cuda_guard(device);
    TEST_OK(cuzk_cuda_alloc(device, &d, CUZK_PURPOSE_OTHER, 1000, err));
    TEST_OK(cuzk_cuda_upload(device, (char *)d + 1024, &word, sizeof word, err));
    cuzk_cuda_free(device, d);
    TEST_OK(cuzk_cuda_account_read(device, &memory, err));
    test_result(memory.overrun == 1, "a write behind a buffer was not seen");
    cuzk_cuda_close(device);
    return test_end();
}

int main(int argc, char **argv)
{
    /* --tiny: for compute-sanitizer; --unset: to show that it sees the pool's memory */
    bool tiny = argc > 1 && strcmp(argv[1], "--tiny") == 0;
    bool quick = tiny || (argc > 1 && strcmp(argv[1], "--quick") == 0);
    struct cuzk_budget *budget;
    TEST_OK(cuzk_budget_create(&budget, "cuda:0", UINT64_MAX, NULL, err));
    device = test_open(budget);
    if (argc > 1 && strcmp(argv[1], "--unset") == 0)
        return unset();
    if (!tiny) /* which would write all memory, and initcheck see nothing */
        cuzk_cuda_guard(device);
    TEST_OK(cuzk_threads_create(&threads, 0, err));
    ops = bls12_381_ops(NULL);
    for (unsigned lg = tiny ? 10 : 0; lg <= (tiny ? 13 : quick ? 16 : 19); lg++)
        test_ntt(lg);
    if (!quick) {
        for (unsigned lg = 20; lg <= 24; lg++)
            test_big_ntt(lg);
        test_big_ntt(27);
        test_big_quotient(20);
        test_big_quotient(24);
        test_big_quotient(27);
    }
    for (unsigned lg = 0; lg <= (tiny ? 7 : 14); lg += quick ? 7 : 1)
        test_quotient(lg);
    printf("transforms: %u passed, %u failed so far\n", test_passed, test_failed);
    if (tiny) {
        test_msm_g1(1500, POINTS_EDGE_g1, 1, false);
        test_bit_sum_g1(1500, POINTS_EDGE_g1, 2);
        test_msm_g2(300, POINTS_EDGE_g2, 1, true);
        cuzk_cuda_close(device);
        cuzk_budget_destroy(budget);
        cuzk_threads_destroy(threads);
        return test_end();
    }
    test_group_g1(quick);
    printf("G1: %u passed, %u failed so far\n", test_passed, test_failed);
    test_group_g2(quick);
    test_account(budget);
    cuzk_cuda_close(device);
    struct cuzk_account account;
    cuzk_budget_read(budget, &account);
    test_result(account.used == 0, "%llu bytes charged after the end",
                (unsigned long long)account.used);
    cuzk_threads_destroy(threads);
    cuzk_budget_destroy(budget);
    return test_end();
}
