// Montgomery products of N 32-bit words, as even and odd accumulators: products of even and of odd
// word distance go to two rows of word pairs, so that each row is one unbroken chain of wide
// multiply-adds. P gives N, n0 = -p^-1 mod 2^32 and p(i); results are lazy, see the callers.
#ifndef CUZK_CUDA_MONTGOMERY_CUH
#define CUZK_CUDA_MONTGOMERY_CUH

#include "ptx.cuh"

namespace cuzk {

// One row of the interleaved product. State: sum E[k] 2^(32k) + sum O[k] 2^(32(k+1)). Adds a*bi,
// then m*p such that the low word vanishes; the caller swaps E and O, which drops that word.
template <class P> CUZK_DEV void cios_row(u32 *E, u32 *O, const u32 *a, u32 bi, bool first)
{
    constexpr int N = P::N;
    if (first) {
#pragma unroll
        for (int j = 0; j < N; j += 2) {
            wide_mul(O[j], O[j + 1], a[j + 1], bi);
            wide_mul(E[j], E[j + 1], a[j], bi);
        }
    } else {
        // The last row's O is E now (aligned); its E, low word dropped, is O shifted by two words.
        add_cc(E[0], E[0], O[1]);
#pragma unroll
        for (int j = 0; j < N - 2; j += 2)
            wide_mads_io(O[j], O[j + 1], a[j + 1], bi, O[j + 2], O[j + 3]);
        wide_mul_i(O[N - 2], O[N - 1], a[N - 1], bi);
        wide_mad_o(E[0], E[1], a[0], bi);
#pragma unroll
        for (int j = 2; j < N; j += 2)
            wide_mad_io(E[j], E[j + 1], a[j], bi);
        addc(O[N - 1], O[N - 1], 0);
    }
    u32 m = E[0] * P::n0;
    wide_mad_o(O[0], O[1], P::p(1), m);
#pragma unroll
    for (int j = 2; j < N - 2; j += 2)
        wide_mad_io(O[j], O[j + 1], P::p(j + 1), m);
    wide_mad_i(O[N - 2], O[N - 1], P::p(N - 1), m);
    wide_mad_o(E[0], E[1], P::p(0), m);
#pragma unroll
    for (int j = 2; j < N; j += 2)
        wide_mad_io(E[j], E[j + 1], P::p(j), m);
    addc(O[N - 1], O[N - 1], 0);
}

// r = a b / 2^(32N) mod p. For a < x p and b < y p the result is below (x y p / 2^(32N) + 1) p.
template <class P> CUZK_DEV void mul_cios(u32 *r, const u32 *a, const u32 *b)
{
    constexpr int N = P::N;
    u32 E[N], O[N];
#pragma unroll
    for (int i = 0; i < N; i += 2) {
        cios_row<P>(E, O, a, b[i], i == 0);
        cios_row<P>(O, E, a, b[i + 1], false);
    }
    add_cc(r[0], E[0], O[1]);
#pragma unroll
    for (int j = 1; j < N - 1; j++)
        addc_cc(r[j], E[j], O[j + 1]);
    addc(r[N - 1], E[N - 1], 0);
}

// T = a^2 (2N words). Rows of the triangle with the off-diagonal words doubled beforehand, which
// needs the top bit of a clear.
template <int N> CUZK_DEV void square_wide(u32 *T, const u32 *a)
{
    u32 d[N], e[N], E[2 * N], O[2 * N]; // E and O by position; O[0] is not used
#pragma unroll
    for (int j = 1; j < N; j++) {
        e[j] = a[j] << 1;
        d[j] = __funnelshift_l(a[j - 1], a[j], 1);
    }
#pragma unroll
    for (int i = 0; i < N; i++) {
        // Row i: a_i a_i at 2i, a_i e_(i+1), then a_i d_j. Positions i + j; row 0 sets all pairs, a
        // later row sets the pair of j = N - 1.
        const int top_even = ((N - 1 - i) & 1) ? N - 2 : N - 1;
        const int top_odd = ((N - 1 - i) & 1) ? N - 1 : N - 2;
        if (i == 0) {
#pragma unroll
            for (int j = 0; j < N; j += 2)
                wide_mul(E[j], E[j + 1], a[0], j == 0 ? a[0] : d[j]);
#pragma unroll
            for (int j = 1; j < N; j += 2)
                wide_mul(O[j], O[j + 1], a[0], j == 1 ? e[1] : d[j]);
        } else {
            // The chain that sets a pair goes first, so that the other's carry has a place.
            const bool fresh_even = top_even == N - 1;
#pragma unroll
            for (int phase = 0; phase < 2; phase++) {
                const bool do_even = (phase == 0) == fresh_even;
                u32 *A = do_even ? E : O;
                const int j0 = do_even ? i : i + 1, jt = do_even ? top_even : top_odd;
#pragma unroll
                for (int j = j0; j <= jt; j += 2) {
                    u32 y = j == i ? a[i] : (j == i + 1 ? e[j] : d[j]);
                    if (j == N - 1) {
                        if (j == j0)
                            wide_mul(A[i + j], A[i + j + 1], a[i], y);
                        else
                            wide_mul_i(A[i + j], A[i + j + 1], a[i], y);
                    } else if (j == j0) {
                        wide_mad_o(A[i + j], A[i + j + 1], a[i], y);
                    } else {
                        wide_mad_io(A[i + j], A[i + j + 1], a[i], y);
                    }
                }
                if (phase == 1 && j0 <= jt) {
                    u32 *F = fresh_even ? E : O;
                    addc(F[i + N], F[i + N], 0);
                }
            }
        }
    }
    T[0] = E[0];
    add_cc(T[1], E[1], O[1]);
#pragma unroll
    for (int k = 2; k < 2 * N - 1; k++)
        addc_cc(T[k], E[k], O[k]);
    addc(T[2 * N - 1], E[2 * N - 1], 0);
}

template <class P> CUZK_DEV void reduce_row(u32 *E, u32 *O, bool first)
{
    constexpr int N = P::N;
    u32 m;
    if (first) {
        m = E[0] * P::n0;
#pragma unroll
        for (int j = 0; j < N; j += 2)
            wide_mul(O[j], O[j + 1], P::p(j + 1), m);
    } else {
        add_cc(E[0], E[0], O[1]);
        m = E[0] * P::n0; // leaves the carry flag alone
#pragma unroll
        for (int j = 0; j < N - 2; j += 2)
            wide_mads_io(O[j], O[j + 1], P::p(j + 1), m, O[j + 2], O[j + 3]);
        wide_mul_i(O[N - 2], O[N - 1], P::p(N - 1), m);
    }
    wide_mad_o(E[0], E[1], P::p(0), m);
#pragma unroll
    for (int j = 2; j < N; j += 2)
        wide_mad_io(E[j], E[j + 1], P::p(j), m);
    addc(O[N - 1], O[N - 1], 0);
}

// r = T / 2^(32N) mod p, below T / 2^(32N) + p.
template <class P> CUZK_DEV void reduce_wide(u32 *r, const u32 *T)
{
    constexpr int N = P::N;
    u32 E[N], O[N];
#pragma unroll
    for (int k = 0; k < N; k++)
        E[k] = T[k];
#pragma unroll
    for (int i = 0; i < N; i += 2) {
        reduce_row<P>(E, O, i == 0);
        reduce_row<P>(O, E, false);
    }
    add_cc(r[0], E[0], O[1]);
#pragma unroll
    for (int j = 1; j < N - 1; j++)
        addc_cc(r[j], E[j], O[j + 1]);
    addc(r[N - 1], E[N - 1], 0);
    add_cc(r[0], r[0], T[N]);
#pragma unroll
    for (int j = 1; j < N - 1; j++)
        addc_cc(r[j], r[j], T[N + j]);
    addc(r[N - 1], r[N - 1], T[2 * N - 1]);
}

// r < 2p to r < p
template <class P> CUZK_DEV void subtract_once(u32 *r)
{
    constexpr int N = P::N;
    u32 t[N], c;
    sub_cc(t[0], r[0], P::p(0));
#pragma unroll
    for (int i = 1; i < N; i++)
        subc_cc(t[i], r[i], P::p(i));
    subc(c, 0, 0);
#pragma unroll
    for (int i = 0; i < N; i++)
        r[i] = c ? r[i] : t[i];
}

} // namespace cuzk
#endif
