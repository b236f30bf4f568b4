// Sums of points by bitmap and by list, for both groups.
#include "device/cuda/msm_parts.h"
#include "kernels/bit_sum.cuh"

using namespace cuzk;

extern "C" cuzk_status cuzk_cuda_bit_sum_g1(struct cuzk_cuda *device, struct bls12_381_g1 *out,
                                            const void *points, const uint64_t *bits, size_t n,
                                            struct cuzk_error *err)
{
    return bit_sum<fp>(device, out, sizeof(struct bls12_381_g1_affine), points, bits, n,
                       cuzk_sum_blocks_g1, err);
}

extern "C" cuzk_status cuzk_cuda_bit_sum_g2(struct cuzk_cuda *device, struct bls12_381_g2 *out,
                                            const void *points, const uint64_t *bits, size_t n,
                                            struct cuzk_error *err)
{
    return bit_sum<fp2>(device, out, sizeof(struct bls12_381_g2_affine), points, bits, n,
                        cuzk_sum_blocks_g2, err);
}

extern "C" cuzk_status cuzk_cuda_list_sum_g1(struct cuzk_cuda *device, struct bls12_381_g1 *out,
                                             const void *points, const uint32_t *numbers, size_t n,
                                             struct cuzk_error *err)
{
    return list_sum<fp>(device, out, points, numbers, n, cuzk_sum_blocks_g1, err);
}

extern "C" cuzk_status cuzk_cuda_list_sum_g2(struct cuzk_cuda *device, struct bls12_381_g2 *out,
                                             const void *points, const uint32_t *numbers, size_t n,
                                             struct cuzk_error *err)
{
    return list_sum<fp2>(device, out, points, numbers, n, cuzk_sum_blocks_g2, err);
}
