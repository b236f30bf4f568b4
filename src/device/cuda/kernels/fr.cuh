// Fr of BLS12-381 on the device: 8 words, Montgomery form with R = 2^256, as the host's limbs.
//
// r = [1, ffffffff, r2 .. r7] in words. The Montgomery product uses that for the first two words
// (the product by 1 and m = -E run on the adders), which gives 65.7 G/s on an H200 where the plain
// form gives 59. A product by a constant that is known in advance goes by Shoup's method, 86 G/s:
// with v = floor(w 2^256 / r), q = floor(a v / 2^256) is the quotient or one less, so a w - q r
// needs the low words only. It returns a value below 2r for any a < 2r, whatever form a is in: a
// transform with such twiddles keeps Montgomery values Montgomery.
#ifndef CUZK_CUDA_FR_CUH
#define CUZK_CUDA_FR_CUH

#include "curve/bls12_381/constants.h"
#include "montgomery.cuh"

namespace cuzk {

struct fr_modulus {
    static constexpr int N = 8;
    static constexpr u32 n0 = (u32)BLS12_381_FR_INV;
    CUZK_DEV static constexpr u32 p(int i)
    {
        constexpr words<8> w = words_of<8>({BLS12_381_FR_MODULUS});
        return w.w[i];
    }
    CUZK_DEV static constexpr u32 p2(int i)
    {
        constexpr words<8> w = words_double<8>(words_of<8>({BLS12_381_FR_MODULUS}));
        return w.w[i];
    }
    CUZK_DEV static constexpr u32 minus_p(int i) // 2^256 - r
    {
        constexpr words<8> w = words_of<8>({BLS12_381_FR_MODULUS});
        return i == 0 ? 0u - w.w[0] : ~w.w[i];
    }
    CUZK_DEV static constexpr u32 one(int i)
    {
        constexpr words<8> w = words_of<8>({BLS12_381_FR_ONE});
        return w.w[i];
    }
    CUZK_DEV static constexpr u32 half(int i) // (r + 1) / 2
    {
        constexpr words<8> w = words_of<8>({BLS12_381_FR_MODULUS});
        return i == 0 ? (w.w[0] >> 1 | w.w[1] << 31) + 1
                      : w.w[i] >> 1 | (i < 7 ? w.w[i + 1] << 31 : 0);
    }
};

struct fr {
    u32 w[8];
};

// Literals 1, ffffffff and 0 in place of these make ptxas split the wide product (53 G/s, not 65).
static __constant__ u32 fr_opaque_ones = 0xffffffffu;
static __constant__ u32 fr_opaque_zero = 0;

CUZK_DEV void fr_row(u32 *E, u32 *O, const u32 *a, u32 bi, bool first)
{
    constexpr int N = 8;
    if (first) {
#pragma unroll
        for (int j = 0; j < N; j += 2) {
            wide_mul(O[j], O[j + 1], a[j + 1], bi);
            wide_mul(E[j], E[j + 1], a[j], bi);
        }
    } else {
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
    u32 m = fr_opaque_zero - E[0];
    wide_mad_o(O[0], O[1], fr_opaque_ones, m);
#pragma unroll
    for (int j = 2; j < N - 2; j += 2)
        wide_mad_io(O[j], O[j + 1], fr_modulus::p(j + 1), m);
    wide_mad_i(O[N - 2], O[N - 1], fr_modulus::p(N - 1), m);
    u32 gone; // E[0] + m is 0 mod 2^32; the carry says whether E[0] was
    add_cc(gone, E[0], m);
    addc_cc(E[1], E[1], 0);
#pragma unroll
    for (int j = 2; j < N; j += 2)
        wide_mad_io(E[j], E[j + 1], fr_modulus::p(j), m);
    addc(O[N - 1], O[N - 1], 0);
}

// a b / 2^256 mod r, in [0, 2r), for a < r and b < 2r: a + r must fit 256 bits (2r as the first
// operand overflows silently).
CUZK_DEV fr mul(const fr &a, const fr &b)
{
    constexpr int N = 8;
    fr r;
    u32 E[N], O[N];
#pragma unroll
    for (int i = 0; i < N; i += 2) {
        fr_row(E, O, a.w, b.w[i], i == 0);
        fr_row(O, E, a.w, b.w[i + 1], false);
    }
    add_cc(r.w[0], E[0], O[1]);
#pragma unroll
    for (int j = 1; j < N - 1; j++)
        addc_cc(r.w[j], E[j], O[j + 1]);
    addc(r.w[N - 1], E[N - 1], 0);
    return r;
}

CUZK_DEV fr canonical(fr a)
{
    subtract_once<fr_modulus>(a.w);
    return a;
}

// The number itself, canonical, from Montgomery form
CUZK_DEV fr plain_of(const fr &a)
{
    u32 T[16];
#pragma unroll
    for (int i = 0; i < 8; i++) {
        T[i] = a.w[i];
        T[i + 8] = 0;
    }
    fr r;
    reduce_wide<fr_modulus>(r.w, T); // (a + m r) / 2^256 <= r
    return canonical(r);
}

// A constant factor with its quotient, 64 bytes.
struct fr_factor {
    fr w, v;
};

// a w mod r in [0, 2r) for a < 2r
CUZK_DEV fr mul(const fr &a, const fr_factor &f)
{
    const u32 *w = f.w.w, *v = f.v.w;
    u32 q[8];
    {                     // the high half of a v, columns from 6 on
        u32 E[16], O[16]; // by column
#pragma unroll
        for (int i = 0; i < 8; i++) {
            u32 *A = ((i + 7) & 1) ? O : E; // has the top pair k = i + 7, which this row sets
            u32 *B = ((i + 7) & 1) ? E : O;
            bool first = true;
#pragma unroll
            for (int k = 6; k <= i + 7; k++)
                if (((k ^ (i + 7)) & 1) == 0 && k >= i) {
                    int j = k - i;
                    if (k == i + 7) {
                        if (first)
                            wide_mul(A[k], A[k + 1], a.w[j], v[i]);
                        else
                            wide_mul_i(A[k], A[k + 1], a.w[j], v[i]);
                    } else if (first) {
                        wide_mad_o(A[k], A[k + 1], a.w[j], v[i]);
                    } else {
                        wide_mad_io(A[k], A[k + 1], a.w[j], v[i]);
                    }
                    first = false;
                }
            if (i == 0) {
                wide_mul(E[6], E[7], a.w[6], v[0]);
            } else {
                first = true;
#pragma unroll
                for (int k = 6; k <= i + 6; k++)
                    if (((k ^ (i + 6)) & 1) == 0 && k >= i) {
                        int j = k - i;
                        if (first)
                            wide_mad_o(B[k], B[k + 1], a.w[j], v[i]);
                        else
                            wide_mad_io(B[k], B[k + 1], a.w[j], v[i]);
                        first = false;
                    }
                addc(A[i + 8], A[i + 8], 0);
            }
        }
        u32 low;
        add_cc(low, E[7], O[7]);
#pragma unroll
        for (int k = 8; k < 15; k++)
            addc_cc(q[k - 8], E[k], O[k]);
        addc(q[7], E[15], 0);
    }
    // a w - q r = a w + q (2^256 - r) mod 2^256; the two low words of 2^256 - r are ffffffff and 0,
    // so they are one subtraction and one addition of q.
    u32 E[8], O[8];
#pragma unroll
    for (int j = 0; j < 8; j += 2)
        wide_mul(E[j], E[j + 1], a.w[j], w[0]);
#pragma unroll
    for (int j = 1; j < 7; j += 2)
        wide_mul(O[j], O[j + 1], a.w[j], w[0]);
    O[7] = a.w[7] * w[0];
#pragma unroll
    for (int pass = 0; pass < 2; pass++) {
#pragma unroll
        for (int i = pass == 0 ? 1 : 0; i < (pass == 0 ? 8 : 6); i++) {
            const int low = pass == 0 ? i : i + 2; // lowest column of this row
            const u32 y = pass == 0 ? w[i] : q[i];
            bool first = true;
#pragma unroll
            for (int k = 0; k <= 6; k += 2)
                if (k >= low) {
                    u32 x = pass == 0 ? a.w[k - i] : fr_modulus::minus_p(k - i);
                    if (first && k == 6)
                        wide_mad(E[6], E[7], x, y);
                    else if (first)
                        wide_mad_o(E[k], E[k + 1], x, y);
                    else if (k == 6)
                        wide_mad_i(E[k], E[k + 1], x, y);
                    else
                        wide_mad_io(E[k], E[k + 1], x, y);
                    first = false;
                }
            first = true;
#pragma unroll
            for (int k = 1; k <= 5; k += 2)
                if (k >= low) {
                    u32 x = pass == 0 ? a.w[k - i] : fr_modulus::minus_p(k - i);
                    if (first)
                        wide_mad_o(O[k], O[k + 1], x, y);
                    else
                        wide_mad_io(O[k], O[k + 1], x, y);
                    first = false;
                }
            u32 x = pass == 0 ? a.w[7 - i] : fr_modulus::minus_p(7 - i);
            if (first)
                O[7] += x * y;
            else
                low_mad_i(O[7], x, y);
        }
    }
    fr r;
    r.w[0] = E[0];
    add_cc(r.w[1], E[1], O[1]);
#pragma unroll
    for (int k = 2; k < 7; k++)
        addc_cc(r.w[k], E[k], O[k]);
    addc(r.w[7], E[7], O[7]);
    add_cc(r.w[1], r.w[1], q[0]);
#pragma unroll
    for (int k = 2; k < 7; k++)
        addc_cc(r.w[k], r.w[k], q[k - 1]);
    addc(r.w[7], r.w[7], q[6]);
    sub_cc(r.w[0], r.w[0], q[0]);
#pragma unroll
    for (int k = 1; k < 7; k++)
        subc_cc(r.w[k], r.w[k], q[k]);
    subc(r.w[7], r.w[7], q[7]);
    return r;
}

#define CUZK_2R(i) "n"(fr_modulus::p2(i))
// a - b, plus 2r where that is negative; [0, 2r) stays
CUZK_DEV fr sub(const fr &a, const fr &b)
{
    fr r;
    asm volatile("{.reg .pred q; .reg .u32 c;\n"
                 "sub.cc.u32 %0,%8,%16; subc.cc.u32 %1,%9,%17; subc.cc.u32 %2,%10,%18;\n"
                 "subc.cc.u32 %3,%11,%19; subc.cc.u32 %4,%12,%20; subc.cc.u32 %5,%13,%21;\n"
                 "subc.cc.u32 %6,%14,%22; subc.cc.u32 %7,%15,%23; subc.u32 c,0,0;\n"
                 "setp.ne.u32 q,c,0;\n"
                 "@q add.cc.u32 %0,%0,%24; @q addc.cc.u32 %1,%1,%25; @q addc.cc.u32 %2,%2,%26;\n"
                 "@q addc.cc.u32 %3,%3,%27; @q addc.cc.u32 %4,%4,%28; @q addc.cc.u32 %5,%5,%29;\n"
                 "@q addc.cc.u32 %6,%6,%30; @q addc.u32 %7,%7,%31;}"
                 : "=&r"(r.w[0]), "=&r"(r.w[1]), "=&r"(r.w[2]), "=&r"(r.w[3]), "=&r"(r.w[4]),
                   "=&r"(r.w[5]), "=&r"(r.w[6]), "=&r"(r.w[7])
                 : "r"(a.w[0]), "r"(a.w[1]), "r"(a.w[2]), "r"(a.w[3]), "r"(a.w[4]), "r"(a.w[5]),
                   "r"(a.w[6]), "r"(a.w[7]), "r"(b.w[0]), "r"(b.w[1]), "r"(b.w[2]), "r"(b.w[3]),
                   "r"(b.w[4]), "r"(b.w[5]), "r"(b.w[6]), "r"(b.w[7]), CUZK_2R(0), CUZK_2R(1),
                   CUZK_2R(2), CUZK_2R(3), CUZK_2R(4), CUZK_2R(5), CUZK_2R(6), CUZK_2R(7));
    return r;
}
#undef CUZK_2R

CUZK_DEV fr add(const fr &a, const fr &b) // a - (2r - b)
{
    fr t;
    sub_cc(t.w[0], fr_modulus::p2(0), b.w[0]);
#pragma unroll
    for (int i = 1; i < 7; i++)
        subc_cc(t.w[i], fr_modulus::p2(i), b.w[i]);
    subc(t.w[7], fr_modulus::p2(7), b.w[7]);
    return sub(a, t);
}

CUZK_DEV fr fr_zero()
{
    fr r;
#pragma unroll
    for (int i = 0; i < 8; i++)
        r.w[i] = 0;
    return r;
}

// Two 16-byte pieces, the second `second` pieces after the first
CUZK_DEV fr load_fr(const uint4 *p, int second = 1)
{
    uint4 a = p[0], b = p[second];
    return fr{{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}};
}
CUZK_DEV void store_fr(uint4 *p, const fr &r, int second = 1)
{
    p[0] = make_uint4(r.w[0], r.w[1], r.w[2], r.w[3]);
    p[second] = make_uint4(r.w[4], r.w[5], r.w[6], r.w[7]);
}
CUZK_DEV fr_factor load_factor(const uint4 *table, size_t i)
{
    const uint4 *p = table + 4 * i;
    uint4 a = __ldg(p), b = __ldg(p + 1), c = __ldg(p + 2), d = __ldg(p + 3);
    return fr_factor{fr{{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}},
                     fr{{c.x, c.y, c.z, c.w, d.x, d.y, d.z, d.w}}};
}

} // namespace cuzk
#endif
