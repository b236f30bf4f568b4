// Points as (X, Y, ZZ, ZZZ), x = X/ZZ, y = Y/ZZZ, ZZ^3 = ZZZ^2; ZZ = 0 is infinity. Complete by
// cases, out of line: for the last few points of a sum only, where there is nothing to batch.
#ifndef CUZK_CUDA_XYZZ_CUH
#define CUZK_CUDA_XYZZ_CUH

#include "fp2.cuh"

namespace cuzk {

template <class F> struct xyzz {
    F x, y, zz, zzz;
};

// By value: operands and result stay in registers.
template <class F> __device__ __noinline__ F mul_call(F a, F b)
{
    return mul(a, b);
}

template <class F> CUZK_DEV xyzz<F> xyzz_infinity()
{
    return xyzz<F>{one<F>(), one<F>(), zero<F>(), zero<F>()};
}

template <class F> CUZK_DEV xyzz<F> xyzz_of(const F &x, const F &y) // affine
{
    if (all_bits_zero(x) && all_bits_zero(y))
        return xyzz_infinity<F>();
    return xyzz<F>{x, y, one<F>(), one<F>()};
}

template <class F> __device__ __noinline__ void xyzz_double(xyzz<F> *o, const xyzz<F> *a)
{
    if (is_zero(a->zz)) {
        *o = *a;
        return;
    }
    F u = twice(a->y), v = mul_call(u, u), w = mul_call(u, v), s = mul_call(a->x, v);
    F m = mul_call(a->x, a->x);
    m = add(twice(m), m);
    xyzz<F> r;
    r.x = sub(sub(mul_call(m, m), s), s);
    r.y = sub(mul_call(m, sub(s, r.x)), mul_call(w, a->y));
    r.zz = mul_call(v, a->zz);
    r.zzz = mul_call(w, a->zzz);
    *o = r;
}

template <class F>
__device__ __noinline__ void xyzz_add(xyzz<F> *o, const xyzz<F> *a, const xyzz<F> *b)
{
    if (is_zero(a->zz)) {
        *o = *b;
        return;
    }
    if (is_zero(b->zz)) {
        *o = *a;
        return;
    }
    F u1 = mul_call(a->x, b->zz), s1 = mul_call(a->y, b->zzz);
    F p = sub(mul_call(b->x, a->zz), u1), r = sub(mul_call(b->y, a->zzz), s1);
    if (is_zero(p)) {
        if (is_zero(r))
            xyzz_double(o, a);
        else
            *o = xyzz_infinity<F>();
        return;
    }
    F pp = mul_call(p, p), ppp = mul_call(p, pp), q = mul_call(u1, pp);
    xyzz<F> t;
    t.x = sub(sub(sub(mul_call(r, r), ppp), q), q);
    t.y = sub(mul_call(r, sub(q, t.x)), mul_call(s1, ppp));
    t.zz = mul_call(mul_call(a->zz, b->zz), pp);
    t.zzz = mul_call(mul_call(a->zzz, b->zzz), ppp);
    *o = t;
}

// Jacobian with Z = ZZ: (X ZZ, Y ZZZ, ZZ), canonical words: the host's struct bls12_381_g1 or _g2.
template <class F> struct jacobian {
    F x, y, z;
};
template <class F> CUZK_DEV jacobian<F> jacobian_of(const xyzz<F> &a)
{
    return jacobian<F>{canonical(mul_call(a.x, a.zz)), canonical(mul_call(a.y, a.zzz)),
                       canonical(a.zz)};
}

template <class F> struct end_shape; // threads of the kernels below
template <> struct end_shape<fp> {
    static constexpr int threads = 128;
};
template <> struct end_shape<fp2> {
    static constexpr int threads = 64;
};

// share[t] of each run of `width` threads into its first, width a power of two.
template <class F> CUZK_DEV void tree_sum(xyzz<F> *share, int t, int width)
{
    for (int h = width / 2; h > 0; h >>= 1) {
        __syncthreads();
        if ((t & (width - 1)) < h)
            xyzz_add(&share[t], &share[t], &share[t + h]);
    }
    __syncthreads();
}

template <class F> CUZK_DEV xyzz<F> load_affine(const uint4 *x, const uint4 *y, size_t number)
{
    F a, b;
    load(a, x + F::pieces * number);
    load(b, y + F::pieces * number);
    return xyzz_of(a, b);
}

// sums[o] = sum of `fold` points for each o < count, by `width` threads (a power of two, at most a
// block). Output o = block * length + j has the points (block * length * fold) + j * step_j + f *
// step_f.
template <class F>
__global__ void __launch_bounds__(end_shape<F>::threads)
    fold_points(uint4 *sums, const uint4 *x, const uint4 *y, u32 count, int length, int fold,
                int width, int step_j, int step_f)
{
    constexpr int T = end_shape<F>::threads, P = F::pieces;
    __shared__ xyzz<F> share[T];
    const int t = threadIdx.x, part = t & (width - 1);
    const u32 o = blockIdx.x * (u32)(T / width) + t / width;
    xyzz<F> sum = xyzz_infinity<F>();
    if (o < count) {
        const size_t first = (size_t)(o / length) * length * fold + (size_t)(o % length) * step_j;
        for (int f = part; f < fold; f += width) {
            xyzz<F> p = load_affine<F>(x, y, first + (size_t)f * step_f);
            xyzz_add(&sum, &sum, &p);
        }
    }
    share[t] = sum;
    tree_sum(share, t, width);
    if (o < count && part == 0) {
        uint4 *to = sums + 4 * P * (size_t)o;
        store(to, share[t].x);
        store(to + P, share[t].y);
        store(to + 2 * P, share[t].zz);
        store(to + 3 * P, share[t].zzz);
    }
}

// out[block] = sum of the points [block * length, + length).
template <class F>
__global__ void __launch_bounds__(end_shape<F>::threads)
    plain_sums(jacobian<F> *out, const uint4 *x, const uint4 *y, int length)
{
    constexpr int T = end_shape<F>::threads;
    __shared__ xyzz<F> share[T];
    const int t = threadIdx.x;
    xyzz<F> sum = xyzz_infinity<F>();
    for (int j = t; j < length; j += T) {
        xyzz<F> p = load_affine<F>(x, y, (size_t)blockIdx.x * length + j);
        xyzz_add(&sum, &sum, &p);
    }
    share[t] = sum;
    tree_sum(share, t, T);
    if (t == 0)
        out[blockIdx.x] = jacobian_of(share[0]);
}

// For the sums P_j of [block * length, + length) that fold_points left:
// out[2 block] = sum (j + 1) P_j, out[2 block + 1] = sum P_j. Thread t has the run [t m, t m + m)
// with plain sum S_t and weighted sum V_t of its own, and
//     sum (j + 1) P_j = sum over t of V_t + m t S_t,   sum of t S_t = sum over t >= 1 of S_t +
//     S_(t+1) + …,
// so a scan of suffixes and one tree do.
template <class F>
__global__ void __launch_bounds__(end_shape<F>::threads)
    weighted_sums(jacobian<F> *out, const uint4 *sums, int length)
{
    constexpr int T = end_shape<F>::threads, P = F::pieces;
    __shared__ xyzz<F> share[T];
    const int t = threadIdx.x, run = (length + T - 1) / T;
    xyzz<F> V = xyzz_infinity<F>(), S = xyzz_infinity<F>();
    for (int j = min(length, (t + 1) * run) - 1; j >= t * run; j--) {
        const uint4 *from = sums + 4 * P * ((size_t)blockIdx.x * length + j);
        xyzz<F> p;
        load(p.x, from);
        load(p.y, from + P);
        load(p.zz, from + 2 * P);
        load(p.zzz, from + 3 * P);
        xyzz_add(&S, &S, &p);
        xyzz_add(&V, &V, &S);
    }
    share[t] = S;
    __syncthreads();
    for (int d = 1; d < T; d *= 2) { // share[t] becomes S_t + S_(t+1) + …
        if (t + d < T)
            xyzz_add(&S, &S, &share[t + d]);
        __syncthreads();
        share[t] = S;
        __syncthreads();
    }
    if (t == 0)
        out[2 * blockIdx.x + 1] = jacobian_of(S);
    else { // V_t + m times the suffix; V_0 has no suffix to take
        xyzz<F> k = xyzz_infinity<F>();
        for (int b = 31 - __clz(run); b >= 0; b--) {
            xyzz_double(&k, &k);
            if (run >> b & 1)
                xyzz_add(&k, &k, &S);
        }
        xyzz_add(&V, &V, &k);
    }
    __syncthreads();
    share[t] = V;
    tree_sum(share, t, T);
    if (t == 0)
        out[2 * blockIdx.x] = jacobian_of(share[0]);
}

} // namespace cuzk
#endif
