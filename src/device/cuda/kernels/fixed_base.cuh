// Many multiples of one point, for setup: out[i] = s_i G. A table holds d 2^(16 w) G for the 16
// windows w and 0 <= d <= 2^15; a scalar's signed digits pick 16 entries, added by batched affine
// additions, one round a window. The table is made by the same additions, doubling its filled part
// in 15 rounds.
#ifndef CUZK_CUDA_FIXED_BASE_CUH
#define CUZK_CUDA_FIXED_BASE_CUH

#include "add_launch.cuh"
#include "fr.cuh"

namespace cuzk {

static constexpr int base_windows = 16, base_bits = 16;
static constexpr u32 base_entries = (1u << (base_bits - 1)) + 1;
static constexpr u32 base_first_node = 1u << 29;

// Table entries 2^k + j, 1 <= j <= 2^k, as sums of the entries 2^k and j.
static __global__ void list_table(u32 *first, u32 *second, int k)
{
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (u32)base_windows << k)
        return;
    u32 w = i >> k, j = (i & ((1u << k) - 1)) + 1;
    first[i] = w * base_entries + (1u << k);
    second[i] = w * base_entries + j;
}
template <class F> __global__ void fill_table(uint4 *table, const uint4 *x, const uint4 *y, int k)
{
    constexpr int P = F::pieces;
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (u32)base_windows << k)
        return;
    u32 w = i >> k, j = (i & ((1u << k) - 1)) + 1;
    F t;
    uint4 *to = table + 2 * P * (size_t)(w * base_entries + (1u << k) + j);
    load(t, x + P * (size_t)i);
    store(to, t);
    load(t, y + P * (size_t)i);
    store(to + P, t);
}

// digits[w * n + i]: the entry of window w for scalar i, with its sign
static __global__ void __launch_bounds__(256) table_digits(u32 *digits, const uint4 *scalars, u32 n)
{
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const fr s = plain_of(load_fr(scalars + 2 * (size_t)i));
    u32 carry = 0;
#pragma unroll
    for (int w = 0; w < base_windows; w++) {
        u32 v = (s.w[w / 2] >> (16 * (w & 1)) & 0xffff) + carry;
        carry = w + 1 < base_windows && v > 1u << (base_bits - 1);
        digits[(size_t)w * n + i] =
            w * base_entries + (carry ? (1u << base_bits) - v : v) | (carry ? id_minus : 0);
    }
}
static __global__ void node_ids(u32 *ids, u32 n)
{
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        ids[i] = base_first_node + i;
}
template <class F>
__global__ void __launch_bounds__(256)
    write_points(uint4 *out, const uint4 *x, const uint4 *y, u32 n)
{
    constexpr int P = F::pieces;
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    F t;
    load(t, x + P * (size_t)i);
    store(out + 2 * P * (size_t)i, canonical(t));
    load(t, y + P * (size_t)i);
    store(out + 2 * P * (size_t)i + P, canonical(t));
}

// base: the 16 points 2^(16 w) G.
template <class F>
static cuzk_status fixed_base(struct cuzk_cuda *device, void *points, const void *bases,
                              const void *scalars, size_t n, struct cuzk_error *err)
{
    constexpr size_t P = F::pieces, record = 32 * P;
    const size_t most = (size_t)1 << 22;
    const u32 part = (u32)(n < most ? n : most), table_records = base_windows * base_entries;
    const cudaStream_t s = device->main;
    CUZK_TRY(make_current(device, err));
    if (n == 0)
        return CUZK_OK;
    scratch memory(device, CUZK_PURPOSE_SETUP);
    const size_t pairs = (part > table_records ? part : table_records) + (size_t)add_slack;
    uint4 *table, *nodes[2], *prefix;
    u32 *digits, *ids;
    CUZK_TRY(memory.get(&table, 2 * P * table_records, err));
    for (int i = 0; i < 2; i++) {
        CUZK_TRY(memory.get(&nodes[i], P * (2 * pairs + 1), err));
        nodes[i] = align_to<F>(nodes[i], table);
    }
    CUZK_TRY(memory.get(&prefix, P * pairs, err));
    CUZK_TRY(memory.get(&digits, (size_t)base_windows * pairs, err));
    CUZK_TRY(memory.get(&ids, pairs, err));

    CUZK_CUDA(cudaMemsetAsync(table, 0, table_records * record, s));
    for (int w = 0; w < base_windows; w++)
        CUZK_CUDA(cudaMemcpyAsync((char *)table + (w * (size_t)base_entries + 1) * record,
                                  (const char *)bases + w * record, record, cudaMemcpyHostToDevice,
                                  s));
    for (int k = 0; k < base_bits - 1; k++) {
        const u32 count = (u32)base_windows << k;
        list_table<<<blocks_for(count, 256), 256, 0, s>>>(ids, digits, k);
        CUZK_LAUNCHED(list_table);
        add_batch a = {};
        a.in = table;
        a.first = ids;
        a.second = digits;
        a.out_x = nodes[0];
        a.out_y = nodes[0] + P * pairs;
        a.prefix = prefix;
        a.count = count;
        CUZK_TRY((launch_adds<F, add_points>(device, a, s, err)));
        fill_table<F><<<blocks_for(count, 256), 256, 0, s>>>(table, a.out_x, a.out_y, k);
        CUZK_LAUNCHED(fill_table);
    }
    for (size_t done = 0; done < n; done += part) {
        const u32 now = (u32)(n - done < part ? n - done : part);
        table_digits<<<blocks_for(now, 256), 256, 0, s>>>(digits, (const uint4 *)scalars + 2 * done,
                                                          now);
        CUZK_LAUNCHED(table_digits);
        node_ids<<<blocks_for(now, 256), 256, 0, s>>>(ids, now);
        CUZK_LAUNCHED(node_ids);
        for (int w = 1; w < base_windows; w++) {
            const uint4 *from = nodes[(w + 1) % 2];
            const uint4 *base = from < table ? from : table;
            add_batch a = {};
            a.in = base;
            a.points = base_first_node;
            a.point_offset = coordinates_from<F>(base, table);
            a.node_x = coordinates_from<F>(base, from) - base_first_node;
            a.node_y = coordinates_from<F>(base, from + P * pairs) - base_first_node;
            a.first = w == 1 ? digits : ids;
            a.second = digits + (size_t)w * now;
            a.out_x = nodes[w % 2];
            a.out_y = nodes[w % 2] + P * pairs;
            a.prefix = prefix;
            a.count = now;
            CUZK_TRY((launch_adds<F, add_points_and_nodes>(device, a, s, err)));
        }
        const uint4 *last = nodes[(base_windows - 1) % 2];
        write_points<F><<<blocks_for(now, 256), 256, 0, s>>>((uint4 *)points + 2 * P * done, last,
                                                             last + P * pairs, now);
        CUZK_LAUNCHED(write_points);
    }
    CUZK_CUDA(cudaStreamSynchronize(s));
    memory.finished = true;
    return CUZK_OK;
}

} // namespace cuzk
#endif
