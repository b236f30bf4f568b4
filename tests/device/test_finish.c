/* The host's end of multi-exponentiations, without a device: block sums are made from buckets of
 * known multiples of the generator, and the result must be the multiple that the buckets give.
 */
#include "cuda_test.h"

#include "curve/bls12_381/ops.h"
#include "device/cuda/msm_finish.h"

static const struct bls12_381_ops *ops;

static void multiple(struct bls12_381_g1 *out, const struct bls12_381_fr *k)
{
    static const struct bls12_381_g1_affine generator = {{{BLS12_381_G1_GENERATOR_X}},
                                                         {{BLS12_381_G1_GENERATOR_Y}}};
    ops->g1_from_affine(out, &generator);
    ops->g1_mul(out, out, k);
}

/* Windows of the given widths, bits[k]; all but the top have 2^(bits - 1) buckets, the top 2^bits.
 */
static void test_shape(const int *bits, int windows, int low, int high)
{
    struct cuzk_msm_shape shape = {.windows = windows, .low = low, .high = high};
    const size_t L = (size_t)1 << low, H = (size_t)1 << high, block = L * H;
    struct bls12_381_fr want = bls12_381_fr_zero, place = bls12_381_fr_one, two, t;
    for (int k = 0; k < windows; k++) {
        shape.bits[k] = bits[k];
        size_t buckets = (size_t)1 << (k == windows - 1 ? bits[k] : bits[k] - 1);
        shape.block0[k + 1] = shape.block0[k] + buckets / block;
    }
    const size_t blocks = shape.block0[windows];
    struct bls12_381_fr(*logs)[4] =
        calloc(blocks, sizeof *logs); /* rows w, rows, columns w, columns */
    struct bls12_381_g1 *sums = calloc(4 * blocks, sizeof *sums), got;
    struct bls12_381_g1_affine a, b;
    if (logs == NULL || sums == NULL)
        exit(1);
    bls12_381_fr_from_u64(&two, 2);
    for (int k = 0; k < windows; k++) {
        for (size_t j = 0; j < (shape.block0[k + 1] - shape.block0[k]) * block; j++) {
            const size_t at = shape.block0[k] + j / block, hi = j % block / L, lo = j % L;
            struct bls12_381_fr x = test_edge_fr(j), weight;
            const uint64_t weights[4] = {hi + 1, 1, lo + 1, 1};
            for (int i = 0; i < 4; i++) {
                bls12_381_fr_from_u64(&weight, weights[i]);
                bls12_381_fr_mul(&t, &x, &weight);
                bls12_381_fr_add(&logs[at][i], &logs[at][i], &t);
            }
            bls12_381_fr_from_u64(&weight, j + 1); /* bucket j holds digit j + 1 */
            bls12_381_fr_mul(&t, &x, &weight);
            bls12_381_fr_mul(&t, &t, &place);
            bls12_381_fr_add(&want, &want, &t);
        }
        for (int i = 0; i < bits[k]; i++)
            bls12_381_fr_mul(&place, &place, &two);
    }
    for (size_t i = 0; i < blocks; i++) {
        multiple(&sums[2 * i], &logs[i][0]);
        multiple(&sums[2 * i + 1], &logs[i][1]);
        multiple(&sums[2 * blocks + 2 * i], &logs[i][2]);
        multiple(&sums[2 * blocks + 2 * i + 1], &logs[i][3]);
    }
    memset(&got, 0, sizeof got);
    cuzk_msm_finish_g1(&got, &shape, sums);
    ops->g1_to_affine(&a, &got);
    multiple(&got, &want);
    ops->g1_to_affine(&b, &got);
    test_result(memcmp(&a, &b, sizeof a) == 0, "%d windows, blocks of 2^%d", windows, low + high);
    free(logs);
    free(sums);
}

int main(void)
{
    static const int even[] = {6, 6, 6, 5}, wide[] = {6, 6, 7, 7, 5}, one[] = {5};
    ops = bls12_381_ops(NULL);
    test_shape(even, 4, 2, 3);
    test_shape(even, 4, 3, 2);
    test_shape(wide, 5, 2, 3); /* two blocks in some windows */
    test_shape(wide, 5, 2, 2); /* four */
    test_shape(one, 1, 2, 3);
    return test_end();
}
