/* Sums over one class of scalars: what a multi-exponentiation over mixed ones is made of
 * (mixed.cu).
 */
#ifndef CUZK_DEVICE_CUDA_MSM_PARTS_H
#define CUZK_DEVICE_CUDA_MSM_PARTS_H

#include "device/cuda/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As cuzk_cuda_msm_g1, for scalars s with s or -s below 2^32: two or three windows instead of all.
 */
cuzk_status cuzk_cuda_msm_short_g1(struct cuzk_cuda *device, struct bls12_381_g1 *out,
                                   const void *points, const uint32_t *index, const void *scalars,
                                   size_t n, struct cuzk_error *err);
cuzk_status cuzk_cuda_msm_short_g2(struct cuzk_cuda *device, struct bls12_381_g2 *out,
                                   const void *points, const uint32_t *index, const void *scalars,
                                   size_t n, struct cuzk_error *err);

/* *out = sum of points[numbers[i]], i < n, numbers on the device and repeated as they like. */
cuzk_status cuzk_cuda_list_sum_g1(struct cuzk_cuda *device, struct bls12_381_g1 *out,
                                  const void *points, const uint32_t *numbers, size_t n,
                                  struct cuzk_error *err);
cuzk_status cuzk_cuda_list_sum_g2(struct cuzk_cuda *device, struct bls12_381_g2 *out,
                                  const void *points, const uint32_t *numbers, size_t n,
                                  struct cuzk_error *err);

#ifdef __cplusplus
}
#endif
#endif
