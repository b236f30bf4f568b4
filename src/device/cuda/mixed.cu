// Multi-exponentiations over mixed scalars, for both groups: classified into zeros, which cost
// nothing, ones, a sum of points, short ones (s or -s below 2^32), which take two or three windows,
// and full ones. Where most are full, or where there is no room for the lists, all are taken as
// full: the result is the same.
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

#include "device/cuda/device.cuh"
#include "device/cuda/msm_finish.h"
#include "device/cuda/msm_parts.h"
#include "kernels/fr.cuh"

using namespace cuzk;

namespace {

enum scalar_class { scalar_zero, scalar_one, scalar_short, scalar_full, scalar_classes };

CUZK_DEV bool is_short(const fr &s)
{
    u32 high = 0;
#pragma unroll
    for (int j = 1; j < 8; j++)
        high |= s.w[j];
    return high == 0;
}

__global__ void __launch_bounds__(256)
    classify(uint8_t *classes, u32 *counts, const uint4 *scalars, u32 n)
{
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    int c = scalar_zero;
    if (i < n) {
        fr s = plain_of(load_fr(scalars + 2 * (size_t)i)), t;
        sub_cc(t.w[0], fr_modulus::p(0), s.w[0]);
#pragma unroll
        for (int j = 1; j < 7; j++)
            subc_cc(t.w[j], fr_modulus::p(j), s.w[j]);
        subc(t.w[7], fr_modulus::p(7), s.w[7]);
        if (is_short(s))
            c = s.w[0] > 1 ? scalar_short : (int)s.w[0];
        else
            c = is_short(t) ? scalar_short : scalar_full;
        classes[i] = (uint8_t)c;
    }
#pragma unroll
    for (int k = scalar_one; k < scalar_classes; k++) {
        const int of_block = __syncthreads_count(c == k);
        if (threadIdx.x == 0 && of_block != 0)
            atomicAdd(&counts[k], (u32)of_block);
    }
}

struct of_class {
    const uint8_t *classes;
    int wanted;
    __device__ bool operator()(u32 i) const { return classes[i] == wanted; }
};

// From positions among the scalars to numbers of points, and the scalars in that order.
__global__ void __launch_bounds__(256)
    gather(u32 *list, uint4 *values, const uint4 *scalars, const u32 *index, u32 count)
{
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    const u32 at = list[i];
    if (index != NULL)
        list[i] = index[at];
    if (values != NULL) {
        values[2 * (size_t)i] = scalars[2 * (size_t)at];
        values[2 * (size_t)i + 1] = scalars[2 * (size_t)at + 1];
    }
}

template <class POINT> struct calls {
    cuzk_status (*full)(struct cuzk_cuda *, POINT *, const void *, const uint32_t *, const void *,
                        size_t, struct cuzk_error *);
    cuzk_status (*short_ones)(struct cuzk_cuda *, POINT *, const void *, const uint32_t *,
                              const void *, size_t, struct cuzk_error *);
    cuzk_status (*ones)(struct cuzk_cuda *, POINT *, const void *, const uint32_t *, size_t,
                        struct cuzk_error *);
    void (*add)(POINT *sum, const POINT *points, size_t count);
};

struct question {
    const void *points, *scalars;
    const u32 *index;
    u32 n;
};

// Adds the part of one class, `count` scalars.
template <class POINT>
cuzk_status add_class(struct cuzk_cuda *device, POINT *sum, const question &q,
                      const calls<POINT> &call, const uint8_t *classes, int wanted, u32 count,
                      struct cuzk_error *err)
{
    const cudaStream_t s = device->main;
    const thrust::counting_iterator<u32> all(0);
    const of_class filter = {classes, wanted};
    scratch memory(device, CUZK_PURPOSE_MSM);
    u32 *list, *found;
    uint4 *values = NULL;
    uint8_t *temp;
    size_t bytes = 0;
    POINT part;
    CUZK_TRY(memory.get(&list, count, err));
    CUZK_TRY(memory.get(&found, 1, err));
    if (wanted != scalar_one)
        CUZK_TRY(memory.get(&values, 2 * (size_t)count, err));
    CUZK_CUDA(cub::DeviceSelect::If(NULL, bytes, all, list, found, (int)q.n, filter, s));
    CUZK_TRY(memory.get(&temp, bytes, err));
    CUZK_CUDA(cub::DeviceSelect::If(temp, bytes, all, list, found, (int)q.n, filter, s));
    gather<<<blocks_for(count, 256), 256, 0, s>>>(list, values, (const uint4 *)q.scalars, q.index,
                                                  count);
    CUZK_LAUNCHED(gather);
    CUZK_CUDA(cudaStreamSynchronize(s));
    if (wanted == scalar_one)
        CUZK_TRY(call.ones(device, &part, q.points, list, count, err));
    else if (wanted == scalar_short)
        CUZK_TRY(call.short_ones(device, &part, q.points, list, values, count, err));
    else
        CUZK_TRY(call.full(device, &part, q.points, list, values, count, err));
    call.add(sum, &part, 1);
    memory.finished = true;
    return CUZK_OK;
}

// *taken is false, and nothing summed, where most scalars are full.
template <class POINT>
cuzk_status by_class(struct cuzk_cuda *device, POINT *sum, bool *taken, const question &q,
                     const calls<POINT> &call, struct cuzk_error *err)
{
    const cudaStream_t s = device->main;
    scratch memory(device, CUZK_PURPOSE_MSM);
    uint8_t *classes;
    u32 *counts, *count = device->totals;
    *taken = false;
    CUZK_TRY(memory.get(&classes, q.n, err));
    CUZK_TRY(memory.get(&counts, scalar_classes, err));
    CUZK_CUDA(cudaMemsetAsync(counts, 0, scalar_classes * sizeof *counts, s));
    classify<<<blocks_for(q.n, 256), 256, 0, s>>>(classes, counts, (const uint4 *)q.scalars, q.n);
    CUZK_LAUNCHED(classify);
    CUZK_CUDA(
        cudaMemcpyAsync(count, counts, scalar_classes * sizeof *count, cudaMemcpyDeviceToHost, s));
    CUZK_CUDA(cudaStreamSynchronize(s));
    u32 found[scalar_classes]; // later calls use device->totals
    memcpy(found, count, sizeof found);
    if (found[scalar_full] < q.n - q.n / 4) {
        for (int c = scalar_one; c < scalar_classes; c++)
            if (found[c] != 0)
                CUZK_TRY(add_class(device, sum, q, call, classes, c, found[c], err));
        *taken = true;
    }
    memory.finished = true;
    return CUZK_OK;
}

template <class POINT>
cuzk_status mixed(struct cuzk_cuda *device, POINT *out, const void *points, const u32 *index,
                  const void *scalars, size_t n, const calls<POINT> &call, struct cuzk_error *err)
{
    CUZK_TRY(make_current(device, err));
    memset(out, 0, sizeof *out);
    if (n > 0 && n < (size_t)1 << 28) {
        POINT sum;
        bool taken;
        memset(&sum, 0, sizeof sum);
        const question q = {points, scalars, index, (u32)n};
        const cuzk_status status = by_class(device, &sum, &taken, q, call, err);
        if (status == CUZK_OK && taken)
            *out = sum;
        if (status == CUZK_OK ? taken : status != CUZK_E_BUDGET && status != CUZK_E_DEVICE_MEMORY)
            return status;
    }
    return call.full(device, out, points, index, scalars, n, err);
}

} // namespace

extern "C" cuzk_status cuzk_cuda_msm_mixed_g1(struct cuzk_cuda *device, struct bls12_381_g1 *out,
                                              const void *points, const uint32_t *index,
                                              const void *scalars, size_t n, struct cuzk_error *err)
{
    const calls<struct bls12_381_g1> call = {cuzk_cuda_msm_g1, cuzk_cuda_msm_short_g1,
                                             cuzk_cuda_list_sum_g1, cuzk_sum_blocks_g1};
    return mixed(device, out, points, index, scalars, n, call, err);
}

extern "C" cuzk_status cuzk_cuda_msm_mixed_g2(struct cuzk_cuda *device, struct bls12_381_g2 *out,
                                              const void *points, const uint32_t *index,
                                              const void *scalars, size_t n, struct cuzk_error *err)
{
    const calls<struct bls12_381_g2> call = {cuzk_cuda_msm_g2, cuzk_cuda_msm_short_g2,
                                             cuzk_cuda_list_sum_g2, cuzk_sum_blocks_g2};
    return mixed(device, out, points, index, scalars, n, call, err);
}
