// Multi-exponentiation sum s_i P_i over G1 or G2 for any scalars.
//
// Scalars are folded to |s| <= r/2 (254 bits) and cut into W windows of signed digits, the top one
// unsigned and one bit narrower, so that all windows have about the same number of buckets. Windows
// are sorted by bucket in groups of about 2^27 elements; inside each bucket's segment a pairwise
// tree of batched affine additions, level by level, all windows of the group in one launch a level.
// The work is even by construction, whatever the sizes of the buckets. While one group's additions
// run, the next is sorted and planned on a stream of low priority.
//
// Buckets to windows: sum k B_k with k - 1 = hi L + lo is L sum hi Row_hi + sum (lo + 1) Col_lo;
// row and column sums are two more pairwise trees, for all windows at once, and end in short
// weighted sums in XYZZ coordinates. The host does the rest (msm_finish.c).
#ifndef CUZK_CUDA_MSM_CUH
#define CUZK_CUDA_MSM_CUH

#include <cub/device/device_radix_sort.cuh>

#include "add_launch.cuh"
#include "device/cuda/msm_finish.h"
#include "msm_lists.cuh"
#include "xyzz.cuh"

namespace cuzk {

// Windows by size, measured on an H200: few where the additions dominate, more where buckets do.
static inline int windows_for(size_t n)
{
    unsigned lg = n > 1 ? log2_floor(n - 1) + 1 : 0;
    static const unsigned char by_log2[] = {/* 17 */ 17, 17, 15, 15, 14, 13,
                                            12,          12, 12, 11, 11};
    if (lg < 13)
        return 23;
    if (lg < 17)
        return 20;
    return by_log2[lg > 27 ? 10 : lg - 17];
}

struct msm_group {
    int begin, end; // windows
    size_t bucket0, buckets;
};

struct msm_plan {
    size_t n;
    window_plan windows;
    int groups;
    msm_group group[max_windows];
    size_t buckets, group_buckets, group_elements; // in all; largest of a group
    int levels;
    // Bucket reduction: blocks of 2^(low + high) buckets; window k has blocks [block0[k], block0[k
    // + 1])
    int low, high;
    size_t blocks, block0[max_windows + 1];
};

static inline int log2_buckets(const window_plan &w, int k)
{
    return k == w.windows - 1 ? w.bits[k] : w.bits[k] - 1;
}

// Scalars below 2^bits in absolute value: all of Fr (254), or short ones (32).
static constexpr int full_bits = 254, short_bits = 32;

// No window has less than a tile of buckets, so short scalars take two windows or three.
static inline int windows_for(size_t n, int bits)
{
    const int all = windows_for(n);
    return bits == full_bits ? all : full_bits / all >= short_bits / 2 ? 2 : 3;
}

static void plan_msm(msm_plan *p, size_t n, int bits, size_t elements_target)
{
    memset(p, 0, sizeof *p);
    p->n = n;
    window_plan &w = p->windows;
    const int W = w.windows = windows_for(n, bits);
    const int top = (bits - (W - 1)) / W, rest = bits - top, c0 = rest / (W - 1),
              wide = rest - c0 * (W - 1);
    for (int k = 0; k < W; k++)
        w.bits[k] = k == W - 1 ? top : c0 + (k >= W - 1 - wide);
    size_t per = elements_target / n;
    per = per < 1 ? 1 : per > (size_t)W ? (size_t)W : per;
    p->groups = (int)((W + per - 1) / per);
    int least = 99;
    for (int g = 0; g < p->groups; g++) {
        msm_group &x = p->group[g];
        x.begin = g ? p->group[g - 1].end : 0;
        x.end = W * (g + 1) / p->groups;
        x.bucket0 = p->buckets;
        for (int k = x.begin; k < x.end; k++) {
            w.first[k] = (u32)(p->buckets - x.bucket0);
            p->buckets += (size_t)1 << log2_buckets(w, k);
            if (log2_buckets(w, k) < least)
                least = log2_buckets(w, k);
        }
        x.buckets = p->buckets - x.bucket0;
        if (x.buckets > p->group_buckets)
            p->group_buckets = x.buckets;
        if ((size_t)(x.end - x.begin) * n > p->group_elements)
            p->group_elements = (size_t)(x.end - x.begin) * n;
    }
    p->levels = (int)log2_floor(n) + 1;
    p->low = least / 2;
    p->high = least - p->low;
    p->blocks = p->buckets >> least;
    for (int k = 0; k < W; k++)
        p->block0[k + 1] = p->block0[k] + ((size_t)1 << (log2_buckets(w, k) - least));
}

template <class F> struct msm_run {
    struct cuzk_cuda *device;
    const msm_plan *plan;
    const void *points;
    scratch memory;
    // digits of all windows; values, sorted keys and values of a group
    u32 *digits, *numbers, *keys, *values, *starts, *sums, *totals, *job_count;
    job *jobs;
    u32 job_room;
    void *sort_temp;
    size_t sort_bytes;
    pair_lists lists[2];
    uint4 *nodes, *node_y, *prefix, *buckets, *bucket_y;
    uint4 *folded;    // the rows' sums, then the columns', XYZZ
    size_t node_room; // coordinates in an array of nodes
    jacobian<F> *results;

    msm_run(struct cuzk_cuda *d, const msm_plan *p, const void *pts)
        : device(d), plan(p), points(pts), memory(d, CUZK_PURPOSE_MSM)
    {
    }

    cuzk_status allocate(struct cuzk_error *err)
    {
        constexpr size_t P = F::pieces;
        const size_t elements = plan->group_elements, slack = add_slack;
        // A tree makes fewer nodes than it has elements; the reduction keeps two trees of halves.
        node_room = elements > 3 * plan->buckets / 2 + 4 * slack
                        ? elements
                        : 3 * plan->buckets / 2 + 4 * slack;
        node_room += slack;
        size_t pairs = elements / 2 > plan->buckets ? elements / 2 : plan->buckets;
        const int n = (int)elements;
        CUZK_CUDA(cub::DeviceRadixSort::SortPairs(NULL, sort_bytes, digits, keys, numbers, values,
                                                  n, 0, 30, device->side));
        job_room = (u32)(elements / huge_pairs + plan->group_buckets / long_gap + 64);
        CUZK_TRY(memory.get(&digits, plan->windows.windows * plan->n, err));
        CUZK_TRY(memory.get(&numbers, elements, err));
        CUZK_TRY(memory.get(&keys, elements + 4, err));
        CUZK_TRY(memory.get(&values, elements, err));
        CUZK_TRY(memory.get(&starts, plan->group_buckets + 2, err));
        CUZK_TRY(memory.get(&sums, (plan->group_buckets / tile_buckets + 1) * plan->levels, err));
        CUZK_TRY(memory.get(&totals, max_windows * max_levels, err));
        CUZK_TRY(memory.get(&job_count, 1, err));
        CUZK_TRY(memory.get(&jobs, job_room, err));
        CUZK_TRY(memory.get((uint8_t **)&sort_temp, sort_bytes, err));
        for (int i = 0; i < (plan->groups > 1 ? 2 : 1); i++) {
            CUZK_TRY(memory.get(&lists[i].first, elements, err));
            CUZK_TRY(memory.get(&lists[i].second, elements, err));
            CUZK_TRY(memory.get(&lists[i].bucket, elements, err));
        }
        CUZK_TRY(memory.get(&nodes, P * (2 * node_room + 1), err));
        nodes = align_to<F>(nodes, points);
        node_y = nodes + P * node_room;
        // Two buffers are near enough for the kernels' offsets, but the numbers of a section's
        // later piece count from its beginning, which lies before the piece, perhaps before the
        // pool.
        if (points < (const void *)nodes &&
            (uint64_t)((const char *)(node_y + P * node_room) - (const char *)points) / (16 * P) >
                UINT32_MAX)
            return cuzk_fail(err, CUZK_E_DEVICE_MEMORY,
                             "cuda:%d: scratch of a multi-exponentiation lies too far from its "
                             "points; free memory of the device",
                             device->index);
        CUZK_TRY(memory.get(&prefix, P * (pairs + 2 * slack), err));
        CUZK_TRY(memory.get(&buckets, 2 * P * plan->buckets, err));
        bucket_y = buckets + P * plan->buckets;
        CUZK_TRY(memory.get(&folded, 2 * 4 * P * (plan->blocks << plan->high), err));
        CUZK_TRY(memory.get(&results, 4 * plan->blocks, err));
        return CUZK_OK;
    }

    // Sorts group g and writes its lists, on the side stream.
    cuzk_status prepare(int g, struct cuzk_error *err)
    {
        const msm_group &x = plan->group[g];
        const u32 count = (u32)((x.end - x.begin) * plan->n), nb = (u32)x.buckets,
                  tiles = nb / tile_buckets;
        const cudaStream_t s = device->side;
        const job_list todo = {job_count, jobs, job_room};
        u32 *total = totals + g * max_levels;
        list_input in = {keys, values, starts, sums, total, tiles, 1u << 29, plan->levels};
        const pair_lists &out = lists[g % 2];
        size_t bytes = sort_bytes;
        CUZK_CUDA(cub::DeviceRadixSort::SortPairs(sort_temp, bytes, digits + x.begin * plan->n,
                                                  keys, numbers, values, (int)count, 0,
                                                  (int)log2_floor(nb) + 1, s));
        CUZK_CUDA(cudaMemsetAsync(job_count, 0, sizeof *job_count, s));
        bucket_starts<<<blocks_for(count / 4 + 1, 256), 256, 0, s>>>(starts, keys, count, nb, todo);
        CUZK_LAUNCHED(bucket_starts);
        const dim3 all((unsigned)device->multiprocessors, 32);
        fill_jobs<<<all, 256, 0, s>>>(starts, in, out, todo);
        CUZK_LAUNCHED(fill_jobs);
        tile_pairs<<<tiles, 1024, 0, s>>>(sums, starts, tiles, plan->levels);
        CUZK_LAUNCHED(tile_pairs);
        scan_tiles<<<(unsigned)plan->levels, 1024, 0, s>>>(sums, total, tiles);
        CUZK_LAUNCHED(scan_tiles);
        CUZK_CUDA(cudaMemcpyAsync(device->totals + g * max_levels, total,
                                  plan->levels * sizeof *total, cudaMemcpyDeviceToHost, s));
        CUZK_CUDA(cudaEventRecord(device->totals_copied[g], s));
        CUZK_CUDA(cudaMemsetAsync(job_count, 0, sizeof *job_count, s));
        if (g >= 2) // whoever read these lists last
            CUZK_CUDA(cudaStreamWaitEvent(s, device->list_done[g % 2], 0));
        plan_pairs<F><<<tiles, 1024, 0, s>>>(in, out, (const uint4 *)points,
                                             buckets + F::pieces * x.bucket0,
                                             bucket_y + F::pieces * x.bucket0, todo);
        CUZK_LAUNCHED(plan_pairs);
        fill_jobs<<<all, 256, 0, s>>>(starts, in, out, todo);
        CUZK_LAUNCHED(fill_jobs);
        CUZK_CUDA(cudaEventRecord(device->list_planned[g % 2], s));
        return CUZK_OK;
    }

    cuzk_status add_levels(int g, struct cuzk_error *err)
    {
        const msm_group &x = plan->group[g];
        const pair_lists &list = lists[g % 2];
        const u32 *total = device->totals + g * max_levels;
        constexpr size_t P = F::pieces;
        CUZK_CUDA(cudaStreamWaitEvent(device->main, device->list_planned[g % 2], 0));
        CUZK_CUDA(cudaEventSynchronize(device->totals_copied[g]));
        const void *base = points < (const void *)nodes ? points : nodes;
        size_t done = 0;
        for (int l = 0; l < plan->levels && total[l]; l++) {
            add_batch a = {};
            a.in = (const uint4 *)(l == 0 ? points : base);
            a.points = 1u << 29;
            a.point_offset = coordinates_from<F>(base, points);
            a.node_x = coordinates_from<F>(base, nodes) - a.points;
            a.node_y = coordinates_from<F>(base, node_y) - a.points;
            a.first = list.first + done;
            a.second = list.second + done;
            a.bucket = list.bucket + done;
            a.out_x = nodes + P * done;
            a.out_y = node_y + P * done;
            a.bucket_x = buckets + P * x.bucket0;
            a.bucket_y = bucket_y + P * x.bucket0;
            a.prefix = prefix;
            a.count = total[l];
            if (l == 0)
                CUZK_TRY((launch_adds<F, add_points>(device, a, device->main, err)));
            else
                CUZK_TRY((launch_adds<F, add_points_and_nodes>(device, a, device->main, err)));
            done += total[l];
        }
        CUZK_CUDA(cudaEventRecord(device->list_done[g % 2], device->main));
        return CUZK_OK;
    }

    // Row sums (pairs of neighbours, `low` times) on the main stream, column sums on the other.
    // Where few points are left a launch takes longer than its work, most of it for the one
    // inversion: the last levels go without, in one launch.
    cuzk_status reduce_buckets(struct cuzk_error *err)
    {
        constexpr size_t P = F::pieces, few = (size_t)1 << 16;
        constexpr int T = end_shape<F>::threads, widest = 8;
        const size_t half = plan->buckets / 2 + add_slack, quarter = plan->buckets / 4 + add_slack;
        CUZK_CUDA(cudaEventRecord(device->fork, device->main));
        CUZK_CUDA(cudaStreamWaitEvent(device->side2, device->fork, 0));
        for (int column = 0; column < 2; column++) {
            const cudaStream_t s = column ? device->side2 : device->main;
            const uint4 *in_x = buckets, *in_y = bucket_y;
            uint4 *even_x = nodes + (size_t)column * P * (half + quarter);
            uint4 *even_y = node_y + (size_t)column * P * (half + quarter);
            size_t count = plan->buckets;
            const int levels = column ? plan->high : plan->low;
            const int length = 1 << (column ? plan->low : plan->high);
            int l = 0;
            for (; l < levels && count > few; l++) {
                count >>= 1;
                uint4 *out_x = l % 2 ? even_x + P * half : even_x;
                uint4 *out_y = l % 2 ? even_y + P * half : even_y;
                const void *base = in_x < in_y ? in_x : in_y;
                add_batch a = {};
                a.in = (const uint4 *)base;
                a.node_x = coordinates_from<F>(base, in_x);
                a.node_y = coordinates_from<F>(base, in_y);
                a.out_x = out_x;
                a.out_y = out_y;
                a.prefix = prefix + (size_t)column * P * half;
                a.count = (u32)count;
                a.log2_half = column ? plan->low : 0;
                CUZK_TRY((launch_adds<F, add_halves>(device, a, s, err)));
                in_x = out_x;
                in_y = out_y;
            }
            const int fold = 1 << (levels - l), width = fold < widest ? fold : widest;
            const u32 outputs = (u32)(plan->blocks * (size_t)length);
            uint4 *to = folded + 4 * P * (plan->blocks << plan->high) * column;
            fold_points<F><<<blocks_for(outputs, T / width), T, 0, s>>>(
                to, in_x, in_y, outputs, length, fold, width, column ? 1 : fold,
                column ? length : 1);
            CUZK_LAUNCHED(fold_points);
            weighted_sums<F><<<(unsigned)plan->blocks, T, 0, s>>>(
                results + 2 * plan->blocks * column, to, length);
            CUZK_LAUNCHED(weighted_sums);
        }
        CUZK_CUDA(cudaEventRecord(device->join, device->side2));
        CUZK_CUDA(cudaStreamWaitEvent(device->main, device->join, 0));
        return CUZK_OK;
    }
};

// Leaves 4 * blocks Jacobian points in device->results: for each block the weighted and the plain
// sum of its rows, then the same of the columns.
template <class F>
static cuzk_status msm_sums(struct cuzk_cuda *device, const msm_plan *plan, const void *points,
                            const u32 *index, const void *scalars, struct cuzk_error *err)
{
    msm_run<F> run(device, plan, points);
    CUZK_TRY(run.allocate(err));
    const u32 n = (u32)plan->n;
    const cudaStream_t s = device->side;
    point_numbers<<<(unsigned)(8 * device->multiprocessors), 256, 0, s>>>(
        run.numbers, (u32)plan->group_elements, n, index);
    CUZK_LAUNCHED(point_numbers);
    // The first group's windows first: its sort starts so much earlier.
    const int W = plan->windows.windows, first = plan->group[0].end;
    split_digits<<<blocks_for(n, 256), 256, 0, s>>>(run.digits, (const uint4 *)scalars, n,
                                                    plan->windows, 0, first);
    CUZK_LAUNCHED(split_digits);
    CUZK_TRY(run.prepare(0, err));
    if (first < W) {
        split_digits<<<blocks_for(n, 256), 256, 0, s>>>(run.digits, (const uint4 *)scalars, n,
                                                        plan->windows, first, W);
        CUZK_LAUNCHED(split_digits);
    }
    for (int g = 0; g < plan->groups; g++) {
        if (g + 1 < plan->groups)
            CUZK_TRY(run.prepare(g + 1, err));
        CUZK_TRY(run.add_levels(g, err));
    }
    CUZK_TRY(run.reduce_buckets(err));
    size_t bytes = 4 * plan->blocks * sizeof(jacobian<F>);
    if (bytes > results_bytes)
        return cuzk_fail(err, CUZK_E_INTERNAL, "cuda:%d: %zu bytes of sums do not fit",
                         device->index, bytes);
    CUZK_CUDA(
        cudaMemcpyAsync(device->results, run.results, bytes, cudaMemcpyDeviceToHost, device->main));
    CUZK_CUDA(cudaStreamSynchronize(device->main));
    run.memory.finished = true;
    return CUZK_OK;
}

// Cuts the sum until its scratch fits, and adds the parts. bits: full_bits or short_bits.
template <class F, class POINT>
static cuzk_status
msm(struct cuzk_cuda *device, POINT *out, size_t affine_bytes, const void *points, const u32 *index,
    const void *scalars, size_t n, int bits,
    void (*finish)(POINT *sum, const struct cuzk_msm_shape *shape, const POINT *sums),
    struct cuzk_error *err)
{
    CUZK_TRY(make_current(device, err));
    memset(out, 0, sizeof *out);
    const size_t limit = (size_t)1
                         << (F::pieces == 3 ? 29 : 28); // of 32-bit offsets, affine_add.cuh
    if (n >= limit)
        return cuzk_fail(err, CUZK_E_ARGUMENT,
                         "a multi-exponentiation of %zu points; the limit is %zu", n, limit - 1);
    POINT sum;
    memset(&sum, 0, sizeof sum);
    const size_t most = (size_t)1 << 27, fewest = (size_t)1 << 12;
    size_t part = n < most ? n : most, elements = most;
    for (size_t done = 0; done < n;) {
        size_t now = n - done < part ? n - done : part;
        msm_plan plan;
        plan_msm(&plan, now, bits, elements);
        cuzk_status status = msm_sums<F>(
            device, &plan, (const char *)points + (index == NULL ? done * affine_bytes : 0),
            index == NULL ? NULL : index + done, (const char *)scalars + done * sizeof(fr), err);
        if (status == CUZK_E_BUDGET || status == CUZK_E_DEVICE_MEMORY) {
            if (plan.groups < plan.windows.windows)
                elements = plan.group_elements / 2;
            else if (now > fewest)
                part = (now + 1) / 2;
            else
                return status;
            continue;
        }
        CUZK_TRY(status);
        struct cuzk_msm_shape shape;
        shape.windows = plan.windows.windows;
        shape.low = plan.low;
        shape.high = plan.high;
        for (int k = 0; k < plan.windows.windows; k++) {
            shape.bits[k] = plan.windows.bits[k];
            shape.block0[k] = plan.block0[k];
        }
        shape.block0[plan.windows.windows] = plan.blocks;
        finish(&sum, &shape, (const POINT *)device->results);
        done += now;
    }
    *out = sum;
    return CUZK_OK;
}

} // namespace cuzk
#endif
