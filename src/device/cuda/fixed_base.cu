// Multiples of one point, for both groups.
#include "kernels/fixed_base.cuh"

#include "device/cuda/msm_finish.h"

using namespace cuzk;

extern "C" cuzk_status cuzk_cuda_fixed_base_g1(struct cuzk_cuda *device, void *points,
                                               const struct bls12_381_g1_affine *base,
                                               const void *scalars, size_t n,
                                               struct cuzk_error *err)
{
    struct bls12_381_g1_affine powers[base_windows];
    cuzk_base_powers_g1(powers, base, base_windows, base_bits);
    return fixed_base<fp>(device, points, powers, scalars, n, err);
}

extern "C" cuzk_status cuzk_cuda_fixed_base_g2(struct cuzk_cuda *device, void *points,
                                               const struct bls12_381_g2_affine *base,
                                               const void *scalars, size_t n,
                                               struct cuzk_error *err)
{
    struct bls12_381_g2_affine powers[base_windows];
    cuzk_base_powers_g2(powers, base, base_windows, base_bits);
    return fixed_base<fp2>(device, points, powers, scalars, n, err);
}
