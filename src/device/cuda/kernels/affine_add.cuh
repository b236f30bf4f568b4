// Batched affine additions: the one kernel under bucket trees, bucket reduction, sums by bitmap and
// fixed-base multiplication.
//
// A point of G1 or G2 is affine, coordinates in Montgomery form and below 2p; infinity is (0, 0),
// as on the host. Points that come from outside are records (x, y); tree nodes and buckets are an
// array of x and one of y, so that the first pass reads x only.
//
// A thread owns `per_thread` pairs, one block's width apart. Pass 1 multiplies up all x2 - x1 and
// keeps the prefixes in memory; the first warp inverts the products of the block, one inversion for
// each of its lanes; pass 2 goes backwards and finishes each sum with 5 products and one square.
// Pairs with x1 = x2 or an infinity are found by cheap filters and replaced: the product gets a 1
// (or 2y for a doubling), the result its right value. Records are gathered by the whole warp with
// asynchronous 16-byte copies, one pair ahead; results leave through shared memory. Tail lanes
// repeat the last pair and write behind `count`, up to the block's end: outputs need `add_slack`
// records of room there.
#ifndef CUZK_CUDA_AFFINE_ADD_CUH
#define CUZK_CUDA_AFFINE_ADD_CUH

#include "fp2.cuh"

namespace cuzk {

static constexpr u32 add_slack = 1u << 18;
static constexpr u32 id_mask = 0x3fffffffu;  // an operand: its number …
static constexpr u32 id_final = 0x40000000u; // … on the first of a pair: the sum is also a bucket
static constexpr u32 id_minus = 0x80000000u; // … and a sign

enum add_source {
    add_points,           // first[p] and second[p] are numbers of points
    add_points_and_nodes, // numbers below `points` are points, the others nodes
    add_halves            // nodes i and i + 2^log2_half, i = p with a zero put in at that bit
};

// Offsets count coordinates (48 bytes for G1, 96 for G2) from `in`: 32 bits reach 192 GiB. With
// add_points `in` is point 0 and an operand is reached by its 16-byte piece, which saves the
// registers that would spill: 2^32 / 6 points for G1, 2^32 / 12 for G2.
struct add_batch {
    const uint4 *in;
    u32 point_offset;   // of point 0; its y is the next coordinate
    u32 node_x, node_y; // of node 0 (of id 0, so that an id needs no subtraction)
    u32 points;
    const u32 *first, *second;
    const u32 *bucket; // where id_final is set
    uint4 *out_x, *out_y, *bucket_x, *bucket_y;
    uint4 *prefix; // of count + add_slack coordinates
    u32 count;
    int log2_half, per_thread;
};

template <class F> struct add_shape;
template <> struct add_shape<fp> {
    static constexpr int threads = 128, blocks = 3;
};
template <> struct add_shape<fp2> {
    static constexpr int threads = 64, blocks = 4;
};

// Shared memory, in 16-byte pieces: for each warp 64 records read, 32 prefixes and 32 results
// (records padded by one piece against bank conflicts), then a coordinate for each thread.
template <class F> struct add_layout {
    static constexpr int P = F::pieces, R = 2 * P + 1;
    static constexpr int second = 32 * R, prefix = 64 * R, result = prefix + 32 * P;
    static constexpr int warp = result + 32 * R;
    static constexpr int threads = add_shape<F>::threads;
    static constexpr int bytes = 16 * (threads / 32 * warp + threads * P);
};

enum add_kind { add_generic, add_first, add_second, add_infinity, add_doubling };
template <class F> struct add_special {
    F d;
    int kind;
};

template <class F>
__device__ __noinline__ add_special<F> classify(const uint4 *x1, const uint4 *y1, u32 sign1,
                                                const uint4 *x2, const uint4 *y2, u32 sign2,
                                                bool valid)
{
    add_special<F> s;
    s.d = one<F>();
    s.kind = add_infinity;
    if (!valid)
        return s;
    F a, b, ya, yb;
    load(a, x1);
    load(b, x2);
    load(ya, y1);
    load(yb, y2);
    if (all_bits_zero(b) && all_bits_zero(yb)) {
        s.kind = add_first;
        return s;
    }
    if (all_bits_zero(a) && all_bits_zero(ya)) {
        s.kind = add_second;
        return s;
    }
    F d = sub(b, a);
    if (!is_zero(d)) {
        s.d = d;
        s.kind = add_generic;
        return s;
    }
    negate_if(ya, sign1);
    negate_if(yb, sign2);
    if (is_zero(sub(ya, yb))) {
        s.kind = add_doubling;
        s.d = twice(ya);
    }
    return s;
}

template <class F, int SOURCE>
__global__ void __launch_bounds__(add_shape<F>::threads, add_shape<F>::blocks)
    add_pairs(add_batch a)
{
    typedef add_layout<F> layout;
    constexpr int P = layout::P, R = layout::R, T = layout::threads, WARPS = T / 32;
    extern __shared__ uint4 shared[];
    const int tid = threadIdx.x, lane = tid & 31, B = a.per_thread;
    uint4 *mine = shared + (tid >> 5) * layout::warp;
    uint4 *products = shared + WARPS * layout::warp;
    const u32 mine_at = shared_address(mine);
    const u32 pair0 = blockIdx.x * (u32)(B * T) + tid;
    uint4 *prefix = a.prefix + (size_t)blockIdx.x * (B * T) * P + tid;
    const uint4 *in = a.in;

    auto ids = [&](int k, u32 &i, u32 &j) {
        u32 p = pair0 + (u32)k * T;
        if (p >= a.count)
            p = a.count - 1;
        if (SOURCE != add_halves) {
            i = a.first[p];
            j = a.second[p];
        } else {
            i = ((p >> a.log2_half) << (a.log2_half + 1)) | (p & ((1u << a.log2_half) - 1));
            j = i + (1u << a.log2_half);
        }
    };
    auto x_of = [&](u32 i) -> u32 {
        if (SOURCE == add_halves)
            return i + a.node_x;
        i &= id_mask;
        if (SOURCE == add_points)
            return 2 * P * i;
        return i < a.points ? 2 * i + a.point_offset : i + a.node_x;
    };
    auto y_of = [&](u32 i) -> u32 {
        if (SOURCE == add_halves)
            return i + a.node_y;
        i &= id_mask;
        if (SOURCE == add_points)
            return 2 * P * i + P;
        return i < a.points ? 2 * i + a.point_offset + 1 : i + a.node_y;
    };
    auto at = [&](u32 offset) {
        return SOURCE == add_points ? in + offset : in + (size_t)offset * P;
    };
    auto special = [&](u32 i, u32 j, bool valid) {
        return classify<F>(at(x_of(i)), at(y_of(i)), SOURCE != add_halves ? i : 0, at(x_of(j)),
                           at(y_of(j)), SOURCE != add_halves ? j : 0, valid);
    };
    auto suspicious = [&](const F &d, const F &x1, const F &x2) {
        return maybe_all_bits_zero(x1) || maybe_all_bits_zero(x2) || maybe_zero_difference(d);
    };

    F acc;
    u32 ia, ib, na, nb; // operands of this pair and of the next
    // Gathering x: 16-byte chunk c = lane + 32 b is piece c % P of record c / P.
    u32 record[P], slot[P], piece[P];
#pragma unroll
    for (int b = 0; b < P; b++) {
        int c = lane + 32 * b;
        record[b] = c / P;
        piece[b] = c % P;
        slot[b] = mine_at + 16 * (record[b] * R + piece[b]);
    }
    auto piece_at = [&](u32 offset, u32 q) {
        return SOURCE == add_points ? in + (offset + q) : (in + q) + (size_t)offset * P;
    };
    {
        auto gather = [&](u32 i, u32 j) {
            i = x_of(i);
            j = x_of(j);
#pragma unroll
            for (int b = 0; b < P; b++) {
                copy16_async(slot[b], piece_at(__shfl_sync(~0u, i, record[b]), piece[b]));
                copy16_async(slot[b] + 16 * layout::second,
                             piece_at(__shfl_sync(~0u, j, record[b]), piece[b]));
            }
        };
        ids(0, ia, ib);
        gather(ia, ib);
        ids(1 < B ? 1 : 0, na, nb);
#pragma unroll 1
        for (int k = 0; k < B; k++) {
            copy16_wait();
            __syncwarp();
            F x1, x2;
            load(x1, mine + lane * R);
            load(x2, mine + layout::second + lane * R);
            __syncwarp();
            u32 ca = ia, cb = ib;
            ia = na;
            ib = nb;
            if (k + 1 < B)
                gather(ia, ib);
            if (k + 2 < B)
                ids(k + 2, na, nb);
            F d = sub_lazy(x2, x1);
            bool valid = pair0 + (u32)k * T < a.count;
            if (suspicious(d, x1, x2) || !valid) {
                add_special<F> s = special(ca, cb, valid);
                d = s.d;
            }
            if (k == 0) {
                acc = mul(one<F>(), d); // brings a lazy d below 2p
            } else {
                store(prefix + (size_t)P * k * T, acc, T);
                acc = mul(acc, d);
            }
        }
    }
    store(products + tid, acc, T);
    ids(B - 1, ia, ib);
    ids(B > 1 ? B - 2 : 0, na, nb);
    __threadfence_block();
    __syncthreads();

    // Gathering whole points: chunk c is piece c % 2P of record c / 2P, 16 records a half.
    u32 record2[P], slot2[P], piece2[P];
#pragma unroll
    for (int b = 0; b < P; b++) {
        int c = lane + 32 * b;
        record2[b] = c / (2 * P);
        piece2[b] = c % (2 * P);
        slot2[b] = mine_at + 16 * (record2[b] * R + piece2[b]);
    }
    auto gather = [&](int k, u32 i, u32 j) {
        if (SOURCE == add_points) {
            i = x_of(i);
            j = x_of(j);
#pragma unroll
            for (int b = 0; b < P; b++) {
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    copy16_async(slot2[b] + h * 16 * 16 * R,
                                 piece_at(__shfl_sync(~0u, i, record2[b] + 16 * h), piece2[b]));
                    copy16_async(slot2[b] + h * 16 * 16 * R + 16 * layout::second,
                                 piece_at(__shfl_sync(~0u, j, record2[b] + 16 * h), piece2[b]));
                }
            }
        } else {
            u32 x = x_of(i), y = x_of(j), z = y_of(i), w = y_of(j);
#pragma unroll
            for (int b = 0; b < P; b++) {
                copy16_async(slot[b], piece_at(__shfl_sync(~0u, x, record[b]), piece[b]));
                copy16_async(slot[b] + 16 * layout::second,
                             piece_at(__shfl_sync(~0u, y, record[b]), piece[b]));
                copy16_async(slot[b] + 16 * P, piece_at(__shfl_sync(~0u, z, record[b]), piece[b]));
                copy16_async(slot[b] + 16 * (layout::second + P),
                             piece_at(__shfl_sync(~0u, w, record[b]), piece[b]));
            }
        }
        if (k == 0) // the first pair has none before it
            return;
        const uint4 *pp = prefix + (size_t)P * k * T;
#pragma unroll
        for (int t = 0; t < P; t++)
            copy16_async(mine_at + 16 * (layout::prefix + 32 * t + lane), pp + t * T);
    };
    gather(B - 1, ia, ib);
    if (tid < 32) {
        F w[WARPS], o;
        load(w[0], products + lane, T);
#pragma unroll
        for (int t = 1; t < WARPS; t++) {
            load(o, products + lane + 32 * t, T);
            w[t] = mul(w[t - 1], o);
        }
        F z = inverse(w[WARPS - 1]);
#pragma unroll
        for (int t = WARPS - 1; t > 0; t--) {
            load(o, products + lane + 32 * t, T);
            store(products + lane + 32 * t, mul(z, w[t - 1]), T);
            z = mul(z, o);
        }
        store(products + lane, z, T);
    }
    __syncthreads();
    F inv;
    load(inv, products + tid, T);
#pragma unroll 1
    for (int k = B - 1; k >= 0; k--) {
        copy16_wait();
        __syncwarp();
        u32 p = pair0 + (u32)k * T;
        bool valid = p < a.count;
        u32 to_bucket = ~0u;
        if (SOURCE != add_halves)
            if (valid && (ia & id_final))
                to_bucket = a.bucket[p];
        F x1, x2, y1, y2, before;
        load(x1, mine + lane * R);
        load(x2, mine + layout::second + lane * R);
        load(y1, mine + lane * R + P);
        load(y2, mine + layout::second + lane * R + P);
        load(before, mine + layout::prefix + lane, 32);
        __syncwarp();
        u32 ca = ia, cb = ib;
        ia = na;
        ib = nb;
        if (k > 0)
            gather(k - 1, ia, ib);
        if (k > 1)
            ids(k - 2, na, nb);
        if (SOURCE != add_halves) {
            negate_if(y1, ca);
            negate_if(y2, cb);
        }
        F d = sub_lazy(x2, x1), i = inv;
        y2 = sub_lazy(y2, y1);
        int kind = add_generic;
        if (suspicious(d, x1, x2) || !valid) {
            add_special<F> s = special(ca, cb, valid);
            d = s.d;
            kind = s.kind;
            if (kind == add_doubling) {
                F t = sqr(x1);
                y2 = add(twice(t), t);
            }
        }
        if (k) {
            i = mul(inv, before);
            inv = mul(inv, d);
        }
        F slope = mul(i, y2);
        F x3 = sub(sub(sqr(slope), x1), x2);
        F y3 = sub(mul(slope, sub_lazy(x1, x3)), y1);
        if (kind == add_infinity) {
            x3 = zero<F>();
            y3 = zero<F>();
        } else if (kind == add_first || kind == add_second) {
            u32 c = kind == add_first ? ca : cb;
            load(x3, at(x_of(c)));
            load(y3, at(y_of(c)));
            if (SOURCE != add_halves && !(all_bits_zero(x3) && all_bits_zero(y3)))
                negate_if(y3, c);
        }
        uint4 *result = mine + layout::result + lane * R;
        store(result, x3);
        store(result + P, y3);
        __syncwarp();
        // Where whole points are gathered, places of single coordinates are needed here alone: made
        // anew from a lane that the compiler cannot see through, they occupy no registers across
        // the loop, whose last ones would spill.
        u32 l = lane;
        if (SOURCE == add_points)
            l = opaque(l);
        size_t o = (size_t)P * (p - lane) + lane;
        bool any_bucket = SOURCE != add_halves && __any_sync(~0u, to_bucket != ~0u);
#pragma unroll
        for (int b = 0; b < P; b++) {
            const u32 c = l + 32 * b, r = SOURCE == add_points ? c / P : record[b];
            const u32 q = SOURCE == add_points ? c % P : piece[b];
            const u32 s = SOURCE == add_points ? mine_at + 16 * (r * R + q) + 16 * layout::result
                                               : slot[b] + 16 * layout::result;
            uint4 x = load16_shared(s), y = load16_shared(s + 16 * P);
            a.out_x[o + 32 * b] = x;
            a.out_y[o + 32 * b] = y;
            if (any_bucket) {
                u32 t = __shfl_sync(~0u, to_bucket, r);
                if (t != ~0u) {
                    a.bucket_x[P * (size_t)t + q] = x;
                    a.bucket_y[P * (size_t)t + q] = y;
                }
            }
        }
        __syncwarp();
    }
}

} // namespace cuzk
#endif
