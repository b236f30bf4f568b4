/* The host's ends of group operations on the device: from sums over blocks of buckets to the result
 * of a multi-exponentiation, and the like. Small work (some hundred additions and 254 doublings)
 * with the curve code of the engine.
 */
#ifndef CUZK_DEVICE_CUDA_MSM_FINISH_H
#define CUZK_DEVICE_CUDA_MSM_FINISH_H

#include "device/cuda/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Window k is `bits[k]` wide and has the blocks [block0[k], block0[k + 1]) of 2^(low + high)
 * buckets.
 */
struct cuzk_msm_shape {
    int windows, low, high;
    int bits[40];
    size_t block0[41];
};

/* *sum += the multi-exponentiation whose block sums are given: for block b, sums[2b] and [2b + 1]
 * are the weighted and the plain sum of its rows, the same for columns 2·blocks behind. */
void cuzk_msm_finish_g1(struct bls12_381_g1 *sum, const struct cuzk_msm_shape *shape,
                        const struct bls12_381_g1 *sums);
void cuzk_msm_finish_g2(struct bls12_381_g2 *sum, const struct cuzk_msm_shape *shape,
                        const struct bls12_381_g2 *sums);

/* *sum += sums[0] + sums[1] + … , `blocks` of them. */
void cuzk_sum_blocks_g1(struct bls12_381_g1 *sum, const struct bls12_381_g1 *sums, size_t blocks);
void cuzk_sum_blocks_g2(struct bls12_381_g2 *sum, const struct bls12_381_g2 *sums, size_t blocks);

/* out[k] = 2^(k bits) base, k < count: the start of a fixed-base table. */
void cuzk_base_powers_g1(struct bls12_381_g1_affine *out, const struct bls12_381_g1_affine *base,
                         int count, int bits);
void cuzk_base_powers_g2(struct bls12_381_g2_affine *out, const struct bls12_381_g2_affine *base,
                         int count, int bits);

#ifdef __cplusplus
}
#endif
#endif
