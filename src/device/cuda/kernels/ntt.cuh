// Number-theoretic transforms over Fr, in place: natural order in, bit-reversed out; the inverse
// takes it back.
//
// X^n - 1 is split level by level into remainders: on level t, block K (of 2^t) is a residue modulo
// X^m - c and splits by one twiddle W[K], W[2^b + K] = W[K] * (root of order 2^(b + 2)). The table
// is the same on every level and for every size, so there are no twiddles between passes and no bit
// reversal. A coset transform for the shift zeta, zeta^n = -1, is the right half of the tree of
// twice the size, blocks 2^t + K: it costs nothing more. The inverse needs W[K]^-1 = -W[K with all
// bits below the highest flipped], so it reads the same table and swaps a subtraction; block 0,
// which has no highest bit, finds its factors behind the table's end. The table holds Shoup
// factors, 64 bytes.
//
// A pass does 3, 6 or 9 levels on tiles in shared memory: 2^levels rows at one distance by some
// adjacent columns, or, in the last pass, contiguous values. A thread holds 8 values for up to
// three levels at a time. Values stay in [0, 2r) and are made canonical at the end; Montgomery form
// stays Montgomery.
#ifndef CUZK_CUDA_NTT_CUH
#define CUZK_CUDA_NTT_CUH

#include "fr.cuh"

namespace cuzk {

static constexpr u32 ntt_extra = 8; // factors behind the table

// Where the inverse finds -W[K + q]^-1 on three successive levels from block K: at[0], at[1] - q,
// at[2] - q.
struct inverse_index {
    u32 at[3];
};
CUZK_DEV inverse_index inverse_of(u32 K, u32 table_end)
{
    u32 i = K ^ (0x7fffffffu >> __clz((int)(K | 1)));
    bool zero = K == 0;
    return inverse_index{
        {zero ? table_end : i, zero ? table_end + 2 : 2 * i + 1, zero ? table_end + 6 : 4 * i + 3}};
}

// x, y to x + w y, x - w y
CUZK_DEV void split_pair(fr &x, fr &y, const fr_factor &f)
{
    fr z = mul(y, f);
    y = sub(x, z);
    x = add(x, z);
}
// and back, but for a factor 2: f is -1/w
CUZK_DEV void join_pair(fr &x, fr &y, const fr_factor &f)
{
    fr d = sub(y, x);
    x = add(x, y);
    y = mul(d, f);
}
CUZK_DEV void split_or_join_by_one(fr &x, fr &y)
{
    fr d = sub(x, y);
    x = add(x, y);
    y = d;
}

// LEVELS levels on 8 values, forward, from block K. ROOT: K is 0, so that block 0's twiddles are 1.
template <int LEVELS, bool ROOT> CUZK_DEV void split_levels(fr *x, const uint4 *W, u32 K)
{
#pragma unroll
    for (int level = 0; level < LEVELS; level++) {
        const int half = 4 >> level;
#pragma unroll
        for (int q = 0; q < 1 << level; q++) {
            fr_factor f;
            if (!(ROOT && q == 0))
                f = load_factor(W, (K << level) + q);
#pragma unroll
            for (int i = 0; i < half; i++) {
                fr *p = x + 2 * half * q + i;
                if (ROOT && q == 0)
                    split_or_join_by_one(p[0], p[half]);
                else
                    split_pair(p[0], p[half], f);
            }
        }
    }
}

// The inverse. SCALED: the deepest level uses the factors `scale` (0: for sums; 1 + q: for
// differences), which carry 1/n.
template <int LEVELS, bool ROOT, bool SCALED>
CUZK_DEV void join_levels(fr *x, const uint4 *W, u32 K, u32 table_end, const uint4 *scale)
{
    inverse_index index;
    if (!ROOT)
        index = inverse_of(K, table_end);
#pragma unroll
    for (int level = LEVELS - 1; level >= 0; level--) {
        const int half = 4 >> level;
        const bool scaled = SCALED && level == LEVELS - 1;
#pragma unroll
        for (int q = 0; q < 1 << level; q++) {
            const bool one = ROOT && q == 0 && !scaled;
            fr_factor f;
            if (scaled)
                f = load_factor(scale, 1 + q);
            else if (!one) // with K = 0: -W[1]^-1 = W[1], -W[2]^-1 = W[3], -W[3]^-1 = W[2]
                f = load_factor(W, ROOT ? (q == 1 ? 1 : 5 - q) : index.at[level] - q);
#pragma unroll
            for (int i = 0; i < half; i++) {
                fr *p = x + 2 * half * q + i;
                if (one)
                    split_or_join_by_one(p[0], p[half]);
                else
                    join_pair(p[0], p[half], f);
            }
        }
        if (scaled) {
            fr_factor f = load_factor(scale, 0);
#pragma unroll
            for (int i = 0; i < 8; i++)
                if ((i & half) == 0)
                    x[i] = mul(x[i], f);
        }
    }
}

struct ntt_pass {
    uint4 *data;
    const uint4 *W, *scale;
    u32 table_end;
    int column_bits; // log2 of the distance between rows
    u32 first_block; // number of the first block at the pass's first level: 0, or 2^t on a coset
    int stages; // of a first pass: levels / 3, hidden from the compiler, which would copy the loop
};

// FIRST: the transform's first levels, from one block; ROOT: that is block 0, not a coset's block
// 1, and the code leaves out its products by 1. LAST: the tiles are contiguous.
template <bool FORWARD, int LEVELS, bool FIRST, bool LAST, bool ROOT, int BLOCKS>
__global__ void __launch_bounds__(LAST ? 64 : 128, BLOCKS) ntt_levels(ntt_pass a)
{
    constexpr int T = LAST ? 64 : 128, VALUES = 8 * T, R = 1 << LEVELS, C = VALUES / R;
    constexpr int CC = LAST ? 1 : C, PLANE = VALUES / 8 * 9 + 4;
    const int STAGES = FIRST ? a.stages : LEVELS / 3;
    static_assert(LEVELS % 3 == 0 && LEVELS <= 9 && (!LAST || LEVELS == 9), "");
    __shared__ uint4 tile[2 * PLANE]; // low halves, high halves
    const u32 tile_at = shared_address(tile);
    const int tid = threadIdx.x;
    // Shared index of value e = row * C + column: one column skipped every 8 rows
    auto pad = [](u32 e) { return e + e / (8 * CC) * CC; };
    const int column = LAST ? 0 : tid % C, position = LAST ? tid : tid / C;
    u32 k;
    size_t base; // of the tile, in values
    if (LAST) {
        k = blockIdx.x;
        base = (size_t)blockIdx.x * VALUES;
    } else {
        const u32 groups = (1u << a.column_bits) / C;
        k = FIRST ? 0 : blockIdx.x / groups;
        base = ((size_t)k << (LEVELS + a.column_bits)) + (size_t)(blockIdx.x % groups) * C;
    }
    k += ROOT ? 0 : a.first_block;
    // 16-byte chunk g = tid + n T of the tile: half g % 2 of value g / 2
    auto global_of = [&](u32 t, int n) {
        uint4 *chunk0 =
            a.data + 2 * base +
            (LAST ? (size_t)t : ((size_t)(t / (2 * C)) << (a.column_bits + 1)) + t % (2 * C));
        if (LAST || 2 * C <= T)
            return chunk0 + n * (LAST ? T : (size_t)(T / (2 * C)) << (a.column_bits + 1));
        return chunk0 + ((size_t)(n * T / (2 * C)) << (a.column_bits + 1)) + n * T % (2 * C);
    };
    auto slot_of = [&](u32 t, int n) {
        if ((T / 2) % (8 * CC) == 0)
            return pad(t >> 1) + (t & 1) * PLANE + n * (T / 2 / 8 * 9);
        return pad((t + n * T) >> 1) + (t & 1) * PLANE;
    };
    if (LAST && FORWARD) {
        size_t K = (size_t)k * 64 + position;
        prefetch_l2(a.W + 4 * K);
        prefetch_l2(a.W + 8 * K);
        prefetch_l2(a.W + 16 * K);
        prefetch_l2(a.W + 16 * K + 8);
    }
#pragma unroll
    for (int n = 0; n < 16; n++)
        copy16_async(tile_at + 16 * slot_of(tid, n), global_of(tid, n));
    copy16_wait();
    __syncthreads();

    fr x[8];
#pragma unroll 1
    for (int i = 0; i < STAGES; i++) {
        const int s = FORWARD ? i : STAGES - 1 - i;
        const int shift = 3 * (STAGES - 1 - s); // rows of this stage are 2^shift apart
        const int row = ((position >> shift) << (shift + 3)) | (position & ((1 << shift) - 1));
        uint4 *p = tile + pad(row * C + column);
        const int step = shift == 6 ? 72 * CC : shift == 3 ? 9 * CC : CC;
        const u32 K = (k << (3 * s)) + (position >> shift);
#pragma unroll
        for (int j = 0; j < 8; j++)
            x[j] = load_fr(p + j * step, PLANE);
        if constexpr (FORWARD) {
            if (ROOT && s == 0)
                split_levels<3, true>(x, a.W, 0);
            else
                split_levels<3, false>(x, a.W, K);
        } else {
            if (FIRST && s == 0)
                join_levels<3, ROOT, true>(x, a.W, K, a.table_end, a.scale);
            else
                join_levels<3, false, false>(x, a.W, K, a.table_end, NULL);
        }
        if (FORWARD ? LAST && s == STAGES - 1 : FIRST && s == 0) {
#pragma unroll
            for (int j = 0; j < 8; j++)
                x[j] = canonical(x[j]);
        }
#pragma unroll
        for (int j = 0; j < 8; j++)
            store_fr(p + j * step, x[j], PLANE);
        __syncthreads();
    }
    const u32 t = opaque(tid); // addresses made anew, not kept in registers over the stages
#pragma unroll
    for (int n = 0; n < 16; n++)
        *global_of(t, n) = tile[slot_of(t, n)];
}

// One level in global memory, for what no pass takes: small sizes, and one or two levels before
// passes.
template <bool FORWARD>
__global__ void __launch_bounds__(128) ntt_level(ntt_pass a, int log2_size, int level, bool finish)
{
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    const int half_bits = log2_size - 1 - level;
    if (i >> (log2_size - 1))
        return;
    const u32 block = i >> half_bits, K = block + a.first_block;
    uint4 *p = a.data + 2 * (((size_t)block << (half_bits + 1)) | (i & ((1u << half_bits) - 1)));
    uint4 *q = p + ((size_t)2 << half_bits);
    fr x = load_fr(p), y = load_fr(q);
    if (FORWARD) {
        split_pair(x, y, load_factor(a.W, K));
    } else {
        join_pair(x, y, load_factor(a.W, inverse_of(K, a.table_end).at[0]));
        if (finish) {
            fr_factor f = load_factor(a.scale, 0);
            x = mul(x, f);
            y = mul(y, f);
        }
    }
    if (finish) {
        x = canonical(x);
        y = canonical(y);
    }
    store_fr(p, x);
    store_fr(q, y);
}

// A factor from w in Montgomery form: w itself and v = floor(w 2^256 / r) = (w 2^256 mod r) (-1/r)
// mod 2^256.
CUZK_DEV void store_factor(uint4 *to, const fr &montgomery)
{
    fr w = plain_of(montgomery), v = fr_zero();
    constexpr words<8> inverse = words_of<8>({BLS12_381_FR_INV_WIDE});
#pragma unroll
    for (int i = 0; i < 8; i++) {
        u64 carry = 0;
        const u32 y = inverse.w[i];
#pragma unroll
        for (int j = 0; i + j < 8; j++) {
            u64 t = (u64)montgomery.w[j] * y + v.w[i + j] + carry;
            v.w[i + j] = (u32)t;
            carry = t >> 32;
        }
    }
    store_fr(to, w);
    store_fr(to + 2, v);
}

// Factor K = high * 2^low_bits + low from the products of two short tables in Montgomery form.
static __global__ void __launch_bounds__(128)
    make_factors(uint4 *W, const uint4 *low, const uint4 *high, int low_bits, u32 count)
{
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        fr m = load_fr(low + 2 * (size_t)(i & ((1u << low_bits) - 1)));
        if (high != NULL)
            m = canonical(mul(m, load_fr(high + 2 * (size_t)(i >> low_bits))));
        store_factor(W + 4 * (size_t)i, m);
    }
}

// Elementwise: a = a b; and a = (c - a) / 2 with a factor 1/2
static __global__ void __launch_bounds__(256)
    multiply_vectors(uint4 *out, const uint4 *a, const uint4 *b, size_t n)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n)
        store_fr(out + 2 * i, canonical(mul(load_fr(a + 2 * i), load_fr(b + 2 * i))));
}
static __global__ void __launch_bounds__(256) half_difference(uint4 *a, const uint4 *c, size_t n)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    fr d = canonical(sub(load_fr(c + 2 * i), load_fr(a + 2 * i)));
    // (d + r if odd) / 2; the sum stays below 2^256
    u32 odd = 0u - (d.w[0] & 1);
    add_cc(d.w[0], d.w[0], fr_modulus::p(0) & odd);
#pragma unroll
    for (int j = 1; j < 7; j++)
        addc_cc(d.w[j], d.w[j], fr_modulus::p(j) & odd);
    addc(d.w[7], d.w[7], fr_modulus::p(7) & odd);
#pragma unroll
    for (int j = 0; j < 7; j++)
        d.w[j] = __funnelshift_r(d.w[j], d.w[j + 1], 1);
    d.w[7] >>= 1;
    store_fr(a + 2 * i, d);
}

} // namespace cuzk
#endif
