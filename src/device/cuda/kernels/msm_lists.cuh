// From scalars to lists of additions: signed digits, and for each level of the bucket trees the
// pairs to add.
//
// A group is one sort: the digits of some windows, key = bucket inside the group (0: nothing to
// add), the digit's sign in bit 31 of the key, outside of the sorted bits. A bucket with c elements
// has ceil(c / 2^l) of them on level l, and half as many pairs, rounded down; nothing is ever
// copied: a level's sums of one bucket are contiguous, and an odd one out stays where it is as the
// bucket's pending element until some level is odd again. Level l's pairs stand at list position
// (sum of the totals below) on, and a pair's position is the number of the node that it makes.
//
// Any skew must do. A lane plans one bucket and its warp writes that bucket's pairs; a bucket with
// more than `huge_pairs` of them on a level is left as a job, which the whole device does
// afterwards (fill_jobs), and so is a long run of empty buckets.
#ifndef CUZK_CUDA_MSM_LISTS_CUH
#define CUZK_CUDA_MSM_LISTS_CUH

#include "affine_add.cuh"
#include "fr.cuh"

namespace cuzk {

struct window_plan {
    int windows;
    int bits[40];
    u32 first[40]; // first bucket, less one, inside the window's group
};

static constexpr u32 tile_buckets = 1024, huge_pairs = 4096, long_gap = 512;

// Digits of windows [begin, end) of +-s with |s| <= (r - 1) / 2: in [-2^(c-1), 2^(c-1)], the top
// window's in [0, 2^c].
static __global__ void __launch_bounds__(256)
    split_digits(u32 *out, const uint4 *scalars, u32 n, window_plan plan, int begin, int end)
{
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    fr s = plain_of(load_fr(scalars + 2 * (size_t)i)), t;
    u32 over; // all ones if s > (r - 1) / 2
    sub_cc(t.w[0], s.w[0], fr_modulus::half(0));
#pragma unroll
    for (int j = 1; j < 8; j++)
        subc_cc(t.w[j], s.w[j], fr_modulus::half(j));
    subc(over, 0, 0);
    over = ~over;
    sub_cc(t.w[0], fr_modulus::p(0), s.w[0]);
#pragma unroll
    for (int j = 1; j < 7; j++)
        subc_cc(t.w[j], fr_modulus::p(j), s.w[j]);
    subc(t.w[7], fr_modulus::p(7), s.w[7]);
#pragma unroll
    for (int j = 0; j < 8; j++)
        s.w[j] = over ? t.w[j] : s.w[j];
    u32 flip = over & 0x80000000u, carry = 0;
    for (int k = 0; k < end; k++) {
        int c = plan.bits[k];
        u32 v = (s.w[0] & ((1u << c) - 1)) + carry, sign = flip;
        carry = 0;
        if (k + 1 < plan.windows && v > (1u << (c - 1))) {
            v = (1u << c) - v;
            sign ^= 0x80000000u;
            carry = 1;
        }
        if (k >= begin)
            out[(size_t)k * n + i] = v ? (v + plan.first[k]) | sign : 0;
#pragma unroll
        for (int j = 0; j < 7; j++)
            s.w[j] = __funnelshift_r(s.w[j], s.w[j + 1], c);
        s.w[7] >>= c;
    }
}

// The sort's values: the number of the point, for each window of a group anew.
static __global__ void point_numbers(u32 *out, u32 count, u32 n, const u32 *index)
{
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        out[i] = index != NULL ? index[i % n] : i % n;
}

struct job {  // work that a lane found too long for itself
    u32 kind; // 0: start[at + i] = value for i < count; 1: count pairs of one bucket
    u32 at, count, value;
    // for pairs: the first operand's position (level 0) or node, how many there are, the pending
    // one
    u32 from, operands, pending, bucket, final, level0;
};
struct job_list {
    u32 *count; // zeroed before
    job *jobs;
    u32 room;
};
CUZK_DEV void push_job(const job_list &list, const job &j)
{
    u32 at = atomicAdd(list.count, 1);
    if (at < list.room)
        list.jobs[at] = j;
}

// start[k] = first position of key k, k in [0, buckets + 1], in a sorted list of keys.
static __global__ void __launch_bounds__(256)
    bucket_starts(u32 *start, const u32 *key, u32 count, u32 buckets, job_list list)
{
    u32 i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i > count)
        return;
    u32 k4[4];
    if (i + 4 <= count) {
        uint4 v = *(const uint4 *)(key + i);
        k4[0] = v.x, k4[1] = v.y, k4[2] = v.z, k4[3] = v.w;
    } else {
        for (u32 j = 0; j < 4; j++)
            k4[j] = i + j < count ? key[i + j] : buckets + 1;
    }
    u32 from = i ? (key[i - 1] & 0x7fffffffu) + 1 : 0;
#pragma unroll
    for (int j = 0; j < 4; j++, i++) {
        u32 to = k4[j] & 0x7fffffffu; // inclusive
        if (to >= from && to - from > long_gap) {
            job g = {};
            g.at = from;
            g.count = to - from + 1;
            g.value = i;
            push_job(list, g);
        } else {
            for (u32 k = from; k <= to; k++)
                start[k] = i;
        }
        from = to + 1;
        if (i == count)
            return;
    }
}

// Pairs of each tile of 1024 buckets on each level: sums[level * tiles + tile].
static __global__ void __launch_bounds__(1024)
    tile_pairs(u32 *sums, const u32 *start, u32 tiles, int levels)
{
    __shared__ u32 share[32];
    int t = threadIdx.x;
    u32 b = 1 + blockIdx.x * tile_buckets + t, c = start[b + 1] - start[b];
    for (int l = 0; l < levels; l++) {
        u32 v = warp_sum(c >> 1);
        if ((t & 31) == 0)
            share[t >> 5] = v;
        int more = __syncthreads_or(c > 1);
        if (t < 32) {
            v = warp_sum(share[t]);
            if (t == 0)
                sums[(size_t)l * tiles + blockIdx.x] = v;
        }
        __syncthreads();
        c = c > 2 ? (c + 1) >> 1 : 0;
        if (!more) {
            if (t == 0)
                for (int m = l + 1; m < levels; m++)
                    sums[(size_t)m * tiles + blockIdx.x] = 0;
            return;
        }
    }
}

// Exclusive scan of one level's tiles in place, a block a level; the sum goes to total[level].
static __global__ void __launch_bounds__(1024) scan_tiles(u32 *sums, u32 *total, u32 tiles)
{
    __shared__ u32 share[33];
    u32 *p = sums + (size_t)blockIdx.x * tiles;
    int t = threadIdx.x, lane = t & 31;
    u32 run = 0;
    for (u32 o = 0; o < tiles; o += 1024) {
        u32 v = o + t < tiles ? p[o + t] : 0, x = v;
        for (int d = 1; d < 32; d *= 2) {
            u32 y = __shfl_up_sync(~0u, x, d);
            if (lane >= d)
                x += y;
        }
        if (lane == 31)
            share[t >> 5] = x;
        __syncthreads();
        if (t < 32) {
            u32 w = share[t], z = w;
            for (int d = 1; d < 32; d *= 2) {
                u32 y = __shfl_up_sync(~0u, z, d);
                if (t >= d)
                    z += y;
            }
            share[t] = z - w;
            if (t == 31)
                share[32] = z;
        }
        __syncthreads();
        if (o + t < tiles)
            p[o + t] = run + share[t >> 5] + x - v;
        run += share[32];
        __syncthreads();
    }
    if (t == 0)
        total[blockIdx.x] = run;
}

struct pair_lists {
    u32 *first, *second, *bucket;
};
struct list_input {
    const u32 *key, *value, *start;
    const u32 *sums, *total; // of scan_tiles
    u32 tiles, first_node;   // id of node 0
    int levels;
};

CUZK_DEV void write_pair(const pair_lists &out, const list_input &in, u32 position, bool level0,
                         u32 from, u32 operands, u32 pending, u32 j, bool last, u32 bucket)
{
    u32 a, b;
    if (level0) {
        a = in.value[from + j] | (in.key[from + j] & id_minus);
        b = in.value[from + j + 1] | (in.key[from + j + 1] & id_minus);
    } else {
        a = from + j;
        b = j + 1 < operands ? from + j + 1 : pending;
    }
    out.first[position] = a | (last ? id_final : 0);
    out.second[position] = b;
    if (last)
        out.bucket[position] = bucket;
}

// The lists of all levels; also the buckets that need no addition (empty: infinity, or one
// element).
template <class F>
static __global__ void __launch_bounds__(1024)
    plan_pairs(list_input in, pair_lists out, const uint4 *points, uint4 *bucket_x, uint4 *bucket_y,
               job_list list)
{
    constexpr int P = F::pieces;
    __shared__ u32 share[32];
    int t = threadIdx.x, lane = t & 31, warp = t >> 5;
    const u32 number = blockIdx.x * tile_buckets + t; // of the bucket in the group
    u32 from = in.start[number + 1], c = in.start[number + 2] - from;
    u32 operands = c, has_pending = 0, pending = 0, level_base = 0;
    if (c == 0) {
        store(bucket_x + P * (size_t)number, zero<F>());
        store(bucket_y + P * (size_t)number, zero<F>());
    } else if (c == 1) {
        const uint4 *p = points + 2 * P * (size_t)in.value[from];
        F x, y;
        load(x, p);
        load(y, p + P);
        if (!(all_bits_zero(x) && all_bits_zero(y)))
            negate_if(y, in.key[from]);
        store(bucket_x + P * (size_t)number, x);
        store(bucket_y + P * (size_t)number, y);
        c = 0;
    }
    for (int l = 0; l < in.levels; l++) {
        u32 pairs = c >> 1, upto = pairs; // inclusive sum over the warp
        for (int d = 1; d < 32; d *= 2) {
            u32 y = __shfl_up_sync(~0u, upto, d);
            if (lane >= d)
                upto += y;
        }
        if (lane == 31)
            share[warp] = upto;
        if (!__syncthreads_or(c > 1))
            return;
        u32 base = level_base + in.sums[(size_t)l * in.tiles + blockIdx.x] +
                   warp_sum(lane < warp ? share[lane] : 0);
        u32 warp_pairs = __shfl_sync(~0u, upto, 31);
        __syncthreads();
        const u32 mine = upto - pairs;
        const bool huge = pairs > huge_pairs;
        if (huge) {
            job j = {};
            j.kind = 1;
            j.at = base + mine;
            j.count = pairs;
            j.from = from;
            j.operands = operands;
            j.pending = pending;
            j.bucket = number;
            j.final = c == 2;
            j.level0 = l == 0;
            push_job(list, j);
        }
        const bool any_huge = __any_sync(~0u, huge);
        for (u32 o = 0; o < warp_pairs; o += 32) {
            u32 e = o + lane;
            int w = 0; // the lane whose bucket pair e is: as many lanes' inclusive sums are <= e
#pragma unroll
            for (int d = 16; d; d >>= 1) {
                u32 y = __shfl_sync(~0u, upto, w + d - 1);
                if (y <= e)
                    w += d;
            }
            if (any_huge) { // go on behind it, if all of this step is inside
                bool skip = __shfl_sync(~0u, huge, w);
                u32 end = __shfl_sync(~0u, upto, w), end0 = __shfl_sync(~0u, end, 0);
                if (__all_sync(~0u, skip && end == end0)) {
                    o = end - 32; // the step adds 32
                    continue;
                }
                u32 f = __shfl_sync(~0u, from, w), m = __shfl_sync(~0u, operands, w);
                u32 pd = __shfl_sync(~0u, pending, w), at = __shfl_sync(~0u, mine, w);
                bool last = __shfl_sync(~0u, c, w) == 2;
                if (e < warp_pairs && !skip)
                    write_pair(out, in, base + e, l == 0, f, m, pd, 2 * (e - at), last,
                               blockIdx.x * tile_buckets + warp * 32 + w);
                continue;
            }
            u32 f = __shfl_sync(~0u, from, w), m = __shfl_sync(~0u, operands, w);
            u32 pd = __shfl_sync(~0u, pending, w), j = 2 * (e - __shfl_sync(~0u, mine, w));
            bool last = __shfl_sync(~0u, c, w) == 2;
            if (e < warp_pairs)
                write_pair(out, in, base + e, l == 0, f, m, pd, j, last,
                           blockIdx.x * tile_buckets + warp * 32 + w);
        }
        if (c & 1) {
            if (!has_pending)
                pending = l == 0 ? in.value[from + operands - 1] |
                                       (in.key[from + operands - 1] & id_minus)
                                 : from + operands - 1;
            has_pending = 1;
        } else {
            has_pending = 0;
        }
        from = in.first_node + base + mine;
        operands = pairs;
        c = c <= 2 ? 0 : pairs + has_pending;
        level_base += in.total[l];
    }
}

// The jobs that lanes left, by the whole device: a block takes a slice of 64 Ki steps of a job.
static __global__ void __launch_bounds__(256)
    fill_jobs(u32 *start, list_input in, pair_lists out, job_list list)
{
    constexpr u32 slice = 1u << 16;
    u32 count = min(*list.count, list.room);
    for (u32 n = blockIdx.x; n < count; n += gridDim.x) {
        // Blocks of the second dimension share a job.
        const job j = list.jobs[n];
        for (u32 o = blockIdx.y * slice; o < j.count; o += gridDim.y * slice) {
            u32 end = min(j.count, o + slice);
            for (u32 i = o + threadIdx.x; i < end; i += blockDim.x) {
                if (j.kind == 0)
                    start[j.at + i] = j.value;
                else
                    write_pair(out, in, j.at + i, j.level0, j.from, j.operands, j.pending, 2 * i,
                               j.final, j.bucket);
            }
        }
    }
}

} // namespace cuzk
#endif
