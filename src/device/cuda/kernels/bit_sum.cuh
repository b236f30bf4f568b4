// Sum of the points that a bitmap or a list of numbers selects. One scan turns the bitmap into a
// list of pairs of neighbouring selected points; level 0 gathers the pairs, later levels add
// contiguous neighbours; an odd one out is kept (level 0) or padded with infinity. The last 2^14
// points are summed in XYZZ coordinates.
#ifndef CUZK_CUDA_BIT_SUM_CUH
#define CUZK_CUDA_BIT_SUM_CUH

#include <cub/device/device_scan.cuh>

#include "add_launch.cuh"
#include "device/cuda/msm_finish.h"
#include "xyzz.cuh"

namespace cuzk {

CUZK_DEV u64 masked_word(const u64 *bits, size_t w, size_t n)
{
    u64 v = bits[w];
    return n - 64 * w < 64 ? v & (((u64)1 << (n - 64 * w)) - 1) : v;
}

static __global__ void count_bits(u32 *counts, const u64 *bits, size_t n, u32 words)
{
    u32 w = blockIdx.x * blockDim.x + threadIdx.x;
    if (w < words)
        counts[w] = (u32)__popcll(masked_word(bits, w, n));
    if (w == words)
        counts[w] = 0;
}

// A warp takes 32 words; within a word the lanes store together.
static __global__ void __launch_bounds__(256)
    list_bits(u32 *first, u32 *second, const u64 *bits, const u32 *before, size_t n, u32 words)
{
    u32 w = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (w * 32 >= words)
        return;
    bool inside = w * 32 + lane < words;
    u64 mine = inside ? masked_word(bits, w * 32 + lane, n) : 0;
    u32 mine_before = inside ? before[w * 32 + lane] : 0;
    for (int j = 0; j < 32; j++) {
        u64 x = __shfl_sync(~0u, mine, j);
        u32 o = __shfl_sync(~0u, mine_before, j);
#pragma unroll
        for (int h = 0; h < 2; h++) {
            u32 v = h ? (u32)(x >> 32) : (u32)x;
            if (v >> lane & 1) {
                u32 rank = o + (h ? __popc((u32)x) : 0) + __popc(v & ((1u << lane) - 1));
                u32 i = (w * 32 + j) * 64 + h * 32 + lane;
                if (rank & 1)
                    second[rank >> 1] = i;
                else
                    first[rank >> 1] = i;
            }
        }
    }
}

// The last selected point, when their number is odd: becomes the result after the pairs'.
template <class F>
__global__ void keep_last(uint4 *out_x, uint4 *out_y, u32 at, const uint4 *points, const u32 *first)
{
    constexpr int P = F::pieces;
    int t = threadIdx.x;
    const uint4 *p = points + 2 * (size_t)P * first[at];
    if (t < P)
        out_x[P * (size_t)at + t] = p[t];
    else if (t < 2 * P)
        out_y[P * (size_t)at + t - P] = p[t];
}

// A list as pairs of neighbours.
static __global__ void __launch_bounds__(256)
    pair_list(u32 *first, u32 *second, const u32 *numbers, u32 count)
{
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        (i & 1 ? second : first)[i >> 1] = numbers[i];
}

static constexpr u32 sum_run = 128, sum_enough = 1u << 14; // points a block; where blocks begin

// Sums `count` > 0 points, pairs (first[i], second[i]) and, if the count is odd, first's last: the
// sums of *blocks blocks are in device->results, and nothing runs any more.
template <class F>
static cuzk_status sum_pairs(struct cuzk_cuda *device, size_t *blocks, const void *points,
                             const u32 *first, const u32 *second, u32 count, struct cuzk_error *err)
{
    constexpr size_t P = F::pieces;
    const cudaStream_t s = device->main;
    scratch memory(device, CUZK_PURPOSE_MSM);
    const size_t half = (count + 1) / 2 + add_slack, quarter = (count + 3) / 4 + add_slack;
    uint4 *even, *odd, *prefix;
    jacobian<F> *results;
    CUZK_TRY(memory.get(&even, 2 * P * half, err));
    CUZK_TRY(memory.get(&odd, 2 * P * quarter, err));
    CUZK_TRY(memory.get(&prefix, P * half, err));
    CUZK_TRY(memory.get(&results, sum_enough / sum_run, err));

    uint4 *x = even, *y = even + P * half;
    add_batch a = {};
    a.in = (const uint4 *)points;
    a.first = first;
    a.second = second;
    a.out_x = x;
    a.out_y = y;
    a.prefix = prefix;
    a.count = count / 2;
    CUZK_TRY((launch_adds<F, add_points>(device, a, s, err)));
    if (count & 1) {
        keep_last<F><<<1, 32, 0, s>>>(x, y, count / 2, (const uint4 *)points, first);
        CUZK_LAUNCHED(keep_last);
    }
    count = (count + 1) / 2;
    while (count > sum_enough) {
        if (count & 1) {
            CUZK_CUDA(cudaMemsetAsync(x + P * count, 0, 16 * P, s));
            CUZK_CUDA(cudaMemsetAsync(y + P * count, 0, 16 * P, s));
            count++;
        }
        count /= 2;
        uint4 *to_x = x == even ? odd : even, *to_y = to_x + P * (x == even ? quarter : half);
        const uint4 *base = x;
        a = {};
        a.in = base;
        a.node_y = coordinates_from<F>(base, y);
        a.out_x = to_x;
        a.out_y = to_y;
        a.prefix = prefix;
        a.count = count;
        CUZK_TRY((launch_adds<F, add_halves>(device, a, s, err)));
        x = to_x;
        y = to_y;
    }
    const u32 nb = (count + sum_run - 1) / sum_run, pad = nb * sum_run - count;
    CUZK_CUDA(cudaMemsetAsync(x + P * count, 0, 16 * P * pad, s));
    CUZK_CUDA(cudaMemsetAsync(y + P * count, 0, 16 * P * pad, s));
    plain_sums<F><<<nb, end_shape<F>::threads, 0, s>>>(results, x, y, (int)sum_run);
    CUZK_LAUNCHED(plain_sums);
    CUZK_CUDA(
        cudaMemcpyAsync(device->results, results, nb * sizeof *results, cudaMemcpyDeviceToHost, s));
    CUZK_CUDA(cudaStreamSynchronize(s));
    *blocks = nb;
    memory.finished = true;
    return CUZK_OK;
}

template <class F>
static cuzk_status bit_sum_part(struct cuzk_cuda *device, size_t *blocks, const void *points,
                                const u64 *bits, size_t n, struct cuzk_error *err)
{
    const cudaStream_t s = device->main;
    const u32 words = (u32)((n + 63) / 64);
    scratch memory(device, CUZK_PURPOSE_MSM);
    u32 *before, *first, *second;
    uint8_t *temp;
    size_t temp_bytes = 0;
    *blocks = 0;
    CUZK_TRY(memory.get(&before, words + 1, err));
    CUZK_CUDA(cub::DeviceScan::ExclusiveSum(NULL, temp_bytes, before, before, (int)(words + 1), s));
    CUZK_TRY(memory.get(&temp, temp_bytes, err));
    count_bits<<<blocks_for(words + 1, 256), 256, 0, s>>>(before, bits, n, words);
    CUZK_LAUNCHED(count_bits);
    CUZK_CUDA(cub::DeviceScan::ExclusiveSum(temp, temp_bytes, before, before, (int)(words + 1), s));
    u32 *total = device->totals;
    CUZK_CUDA(cudaMemcpyAsync(total, before + words, sizeof *total, cudaMemcpyDeviceToHost, s));
    CUZK_CUDA(cudaStreamSynchronize(s));
    const u32 count = *total;
    if (count == 0) {
        memory.finished = true;
        return CUZK_OK;
    }
    CUZK_TRY(memory.get(&first, count / 2 + 1, err));
    CUZK_TRY(memory.get(&second, count / 2 + 1, err));
    list_bits<<<blocks_for(words, 256), 256, 0, s>>>(first, second, bits, before, n, words);
    CUZK_LAUNCHED(list_bits);
    CUZK_TRY(sum_pairs<F>(device, blocks, points, first, second, count, err));
    memory.finished = true;
    return CUZK_OK;
}

template <class F>
static cuzk_status list_sum_part(struct cuzk_cuda *device, size_t *blocks, const void *points,
                                 const u32 *numbers, size_t n, struct cuzk_error *err)
{
    scratch memory(device, CUZK_PURPOSE_MSM);
    u32 *first, *second;
    CUZK_TRY(memory.get(&first, n / 2 + 1, err));
    CUZK_TRY(memory.get(&second, n / 2 + 1, err));
    pair_list<<<blocks_for(n, 256), 256, 0, device->main>>>(first, second, numbers, (u32)n);
    CUZK_LAUNCHED(pair_list);
    CUZK_TRY(sum_pairs<F>(device, blocks, points, first, second, (u32)n, err));
    memory.finished = true;
    return CUZK_OK;
}

// Cuts the points until the scratch fits.
template <class F, class POINT>
static cuzk_status bit_sum(struct cuzk_cuda *device, POINT *out, size_t affine_bytes,
                           const void *points, const u64 *bits, size_t n,
                           void (*finish)(POINT *sum, const POINT *sums, size_t blocks),
                           struct cuzk_error *err)
{
    CUZK_TRY(make_current(device, err));
    POINT sum;
    memset(&sum, 0, sizeof sum);
    memset(out, 0, sizeof *out);
    const size_t most = (size_t)1 << 28; // 32-bit offsets, affine_add.cuh
    size_t part = n < most ? n : most;
    for (size_t done = 0; done < n;) {
        size_t now = n - done < part ? n - done : part, blocks;
        cuzk_status status =
            bit_sum_part<F>(device, &blocks, (const char *)points + done * affine_bytes,
                            bits + done / 64, now, err);
        if ((status == CUZK_E_BUDGET || status == CUZK_E_DEVICE_MEMORY) && now > (size_t)1 << 12) {
            part = (now / 2 + 63) / 64 * 64;
            continue;
        }
        CUZK_TRY(status);
        finish(&sum, (const POINT *)device->results, blocks);
        done += now;
    }
    *out = sum;
    return CUZK_OK;
}

// The same for a list, cut where the scratch does not fit.
template <class F, class POINT>
static cuzk_status
list_sum(struct cuzk_cuda *device, POINT *out, const void *points, const u32 *numbers, size_t n,
         void (*finish)(POINT *sum, const POINT *sums, size_t blocks), struct cuzk_error *err)
{
    CUZK_TRY(make_current(device, err));
    POINT sum;
    memset(&sum, 0, sizeof sum);
    memset(out, 0, sizeof *out);
    size_t part = n < (size_t)1 << 28 ? n : (size_t)1 << 28;
    for (size_t done = 0; done < n;) {
        size_t now = n - done < part ? n - done : part, blocks;
        cuzk_status status = list_sum_part<F>(device, &blocks, points, numbers + done, now, err);
        if ((status == CUZK_E_BUDGET || status == CUZK_E_DEVICE_MEMORY) && now > (size_t)1 << 12) {
            part = now / 2;
            continue;
        }
        CUZK_TRY(status);
        finish(&sum, (const POINT *)device->results, blocks);
        done += now;
    }
    *out = sum;
    return CUZK_OK;
}

} // namespace cuzk
#endif
