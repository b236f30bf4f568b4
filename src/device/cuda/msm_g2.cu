// Multi-exponentiation over G2; a file of its own since the two groups compile side by side.
#include "device/cuda/msm_parts.h"
#include "kernels/msm.cuh"

using namespace cuzk;

extern "C" cuzk_status cuzk_cuda_msm_g2(struct cuzk_cuda *device, struct bls12_381_g2 *out,
                                        const void *points, const uint32_t *index,
                                        const void *scalars, size_t n, struct cuzk_error *err)
{
    return msm<fp2>(device, out, sizeof(struct bls12_381_g2_affine), points, index, scalars, n,
                    full_bits, cuzk_msm_finish_g2, err);
}

extern "C" cuzk_status cuzk_cuda_msm_short_g2(struct cuzk_cuda *device, struct bls12_381_g2 *out,
                                              const void *points, const uint32_t *index,
                                              const void *scalars, size_t n, struct cuzk_error *err)
{
    return msm<fp2>(device, out, sizeof(struct bls12_381_g2_affine), points, index, scalars, n,
                    short_bits, cuzk_msm_finish_g2, err);
}
