// Fp of BLS12-381 on the device: 12 words, Montgomery form with R = 2^384, as the host's limbs.
//
// Values are lazy: any representative in [0, 2p). A product takes one operand up to 4p and still
// ends below 2p, since 2p * 4p / (2^384) < p; so `sub_lazy`, a - b + 2p without a correction, may
// feed one side of a product and saves the compare. `canonical` gives the host's form. The product
// is the interleaved one (348 instructions, 27.8 G/s on an H200 where the multiplier's bound
// is 28.2), the square multiplies the triangle and reduces apart.
#ifndef CUZK_CUDA_FP_CUH
#define CUZK_CUDA_FP_CUH

#include "curve/bls12_381/constants.h"
#include "montgomery.cuh"

namespace cuzk {

struct fp_modulus {
    static constexpr int N = 12;
    static constexpr u32 n0 = (u32)BLS12_381_FP_INV;
    CUZK_DEV static constexpr u32 p(int i)
    {
        constexpr words<12> w = words_of<12>({BLS12_381_FP_MODULUS});
        return w.w[i];
    }
    CUZK_DEV static constexpr u32 p2(int i)
    {
        constexpr words<12> w = words_double<12>(words_of<12>({BLS12_381_FP_MODULUS}));
        return w.w[i];
    }
    CUZK_DEV static constexpr u32 one(int i)
    {
        constexpr words<12> w = words_of<12>({BLS12_381_FP_ONE});
        return w.w[i];
    }
    CUZK_DEV static constexpr u32 r3(int i)
    {
        constexpr words<12> w = words_of<12>({BLS12_381_FP_R3});
        return w.w[i];
    }
    CUZK_DEV static constexpr int limb30(int i)
    {
        constexpr words<12> w = words_of<12>({BLS12_381_FP_MODULUS});
        return words_limb30<12>(w, i);
    }
};

struct fp {
    static constexpr int pieces = 3; // of 16 bytes
    u32 w[12];
};

CUZK_DEV fp mul(const fp &a, const fp &b)
{
    fp r;
    mul_cios<fp_modulus>(r.w, a.w, b.w);
    return r;
}

CUZK_DEV fp sqr(const fp &a)
{
    fp r;
    u32 T[24];
    square_wide<12>(T, a.w);
    reduce_wide<fp_modulus>(r.w, T);
    return r;
}

#define CUZK_2P(i) "n"(fp_modulus::p2(i))
// a - b, plus 2p where that is negative; predicated, so that no select is spent
CUZK_DEV fp sub(const fp &a, const fp &b)
{
    fp r;
    asm volatile("{.reg .pred q; .reg .u32 c;\n"
                 "sub.cc.u32 %0,%12,%24; subc.cc.u32 %1,%13,%25; subc.cc.u32 %2,%14,%26;\n"
                 "subc.cc.u32 %3,%15,%27; subc.cc.u32 %4,%16,%28; subc.cc.u32 %5,%17,%29;\n"
                 "subc.cc.u32 %6,%18,%30; subc.cc.u32 %7,%19,%31; subc.cc.u32 %8,%20,%32;\n"
                 "subc.cc.u32 %9,%21,%33; subc.cc.u32 %10,%22,%34; subc.cc.u32 %11,%23,%35;\n"
                 "subc.u32 c,0,0; setp.ne.u32 q,c,0;\n"
                 "@q add.cc.u32 %0,%0,%36; @q addc.cc.u32 %1,%1,%37; @q addc.cc.u32 %2,%2,%38;\n"
                 "@q addc.cc.u32 %3,%3,%39; @q addc.cc.u32 %4,%4,%40; @q addc.cc.u32 %5,%5,%41;\n"
                 "@q addc.cc.u32 %6,%6,%42; @q addc.cc.u32 %7,%7,%43; @q addc.cc.u32 %8,%8,%44;\n"
                 "@q addc.cc.u32 %9,%9,%45; @q addc.cc.u32 %10,%10,%46; @q addc.u32 %11,%11,%47;}"
                 : "=&r"(r.w[0]), "=&r"(r.w[1]), "=&r"(r.w[2]), "=&r"(r.w[3]), "=&r"(r.w[4]),
                   "=&r"(r.w[5]), "=&r"(r.w[6]), "=&r"(r.w[7]), "=&r"(r.w[8]), "=&r"(r.w[9]),
                   "=&r"(r.w[10]), "=&r"(r.w[11])
                 : "r"(a.w[0]), "r"(a.w[1]), "r"(a.w[2]), "r"(a.w[3]), "r"(a.w[4]), "r"(a.w[5]),
                   "r"(a.w[6]), "r"(a.w[7]), "r"(a.w[8]), "r"(a.w[9]), "r"(a.w[10]), "r"(a.w[11]),
                   "r"(b.w[0]), "r"(b.w[1]), "r"(b.w[2]), "r"(b.w[3]), "r"(b.w[4]), "r"(b.w[5]),
                   "r"(b.w[6]), "r"(b.w[7]), "r"(b.w[8]), "r"(b.w[9]), "r"(b.w[10]), "r"(b.w[11]),
                   CUZK_2P(0), CUZK_2P(1), CUZK_2P(2), CUZK_2P(3), CUZK_2P(4), CUZK_2P(5),
                   CUZK_2P(6), CUZK_2P(7), CUZK_2P(8), CUZK_2P(9), CUZK_2P(10), CUZK_2P(11));
    return r;
}

// a - b + 2p in (0, 4p): for one operand of a product
CUZK_DEV fp sub_lazy(const fp &a, const fp &b)
{
    fp r, t;
    sub_cc(t.w[0], fp_modulus::p2(0), b.w[0]);
#pragma unroll
    for (int i = 1; i < 11; i++)
        subc_cc(t.w[i], fp_modulus::p2(i), b.w[i]);
    subc(t.w[11], fp_modulus::p2(11), b.w[11]);
    add_cc(r.w[0], a.w[0], t.w[0]);
#pragma unroll
    for (int i = 1; i < 11; i++)
        addc_cc(r.w[i], a.w[i], t.w[i]);
    addc(r.w[11], a.w[11], t.w[11]);
    return r;
}

// a = 2p - a where bit 31 of sign is set; a in (0, 2p) stays there, 0 becomes 2p
CUZK_DEV void negate_if(fp &a, u32 sign)
{
    asm volatile(
        "{.reg .pred q; setp.lt.s32 q,%12,0;\n"
        "@q sub.cc.u32 %0,%13,%0; @q subc.cc.u32 %1,%14,%1; @q subc.cc.u32 %2,%15,%2;\n"
        "@q subc.cc.u32 %3,%16,%3; @q subc.cc.u32 %4,%17,%4; @q subc.cc.u32 %5,%18,%5;\n"
        "@q subc.cc.u32 %6,%19,%6; @q subc.cc.u32 %7,%20,%7; @q subc.cc.u32 %8,%21,%8;\n"
        "@q subc.cc.u32 %9,%22,%9; @q subc.cc.u32 %10,%23,%10; @q subc.u32 %11,%24,%11;}"
        : "+r"(a.w[0]), "+r"(a.w[1]), "+r"(a.w[2]), "+r"(a.w[3]), "+r"(a.w[4]), "+r"(a.w[5]),
          "+r"(a.w[6]), "+r"(a.w[7]), "+r"(a.w[8]), "+r"(a.w[9]), "+r"(a.w[10]), "+r"(a.w[11])
        : "r"(sign), CUZK_2P(0), CUZK_2P(1), CUZK_2P(2), CUZK_2P(3), CUZK_2P(4), CUZK_2P(5),
          CUZK_2P(6), CUZK_2P(7), CUZK_2P(8), CUZK_2P(9), CUZK_2P(10), CUZK_2P(11));
}
#undef CUZK_2P

template <class F> CUZK_DEV F zero();
template <class F> CUZK_DEV F one();
template <> CUZK_DEV fp zero<fp>()
{
    fp r;
#pragma unroll
    for (int i = 0; i < 12; i++)
        r.w[i] = 0;
    return r;
}
template <> CUZK_DEV fp one<fp>()
{
    fp r;
#pragma unroll
    for (int i = 0; i < 12; i++)
        r.w[i] = fp_modulus::one(i);
    return r;
}
CUZK_DEV fp neg(const fp &a)
{
    return sub(zero<fp>(), a);
} // 0 stays 0
CUZK_DEV fp add(const fp &a, const fp &b) // a - (2p - b)
{
    fp t;
    sub_cc(t.w[0], fp_modulus::p2(0), b.w[0]);
#pragma unroll
    for (int i = 1; i < 11; i++)
        subc_cc(t.w[i], fp_modulus::p2(i), b.w[i]);
    subc(t.w[11], fp_modulus::p2(11), b.w[11]);
    return sub(a, t);
}
CUZK_DEV fp add_lazy(const fp &a, const fp &b) // a + b in [0, 4p): for one operand of a product
{
    fp r;
    add_cc(r.w[0], a.w[0], b.w[0]);
#pragma unroll
    for (int i = 1; i < 11; i++)
        addc_cc(r.w[i], a.w[i], b.w[i]);
    addc(r.w[11], a.w[11], b.w[11]);
    return r;
}
CUZK_DEV fp twice(const fp &a)
{
    return add(a, a);
}

CUZK_DEV void subtract_2p(fp &a) // [0, 2p] to [0, 2p)
{
    fp t;
#pragma unroll
    for (int i = 0; i < 12; i++)
        t.w[i] = fp_modulus::p2(i);
    a = sub(a, t);
}

CUZK_DEV bool is_zero(const fp &a) // mod p, for a in [0, 2p)
{
    u32 z = 0, q = 0;
#pragma unroll
    for (int i = 0; i < 12; i++) {
        z |= a.w[i];
        q |= a.w[i] ^ fp_modulus::p(i);
    }
    return z == 0 || q == 0;
}
CUZK_DEV bool all_bits_zero(const fp &a)
{
    u32 z = 0;
#pragma unroll
    for (int i = 0; i < 12; i++)
        z |= a.w[i];
    return z == 0;
}
CUZK_DEV fp canonical(fp a)
{
    subtract_once<fp_modulus>(a.w);
    return a;
}

// A cheap filter before is_zero: true for every d of sub_lazy(b, a) that is 0 mod p (1, 2 or 3
// times p), and for one other in a billion.
CUZK_DEV bool maybe_zero_difference(const fp &d)
{
    return d.w[0] == fp_modulus::p(0) || d.w[0] == 2 * fp_modulus::p(0) ||
           d.w[0] == 3 * fp_modulus::p(0);
}
CUZK_DEV bool maybe_all_bits_zero(const fp &a)
{
    return a.w[0] == 0;
}

// Three 16-byte pieces, `stride` pieces apart
CUZK_DEV void load(fp &r, const uint4 *p, size_t stride = 1)
{
#pragma unroll
    for (int i = 0; i < 3; i++) {
        uint4 t = p[i * stride];
        r.w[4 * i] = t.x;
        r.w[4 * i + 1] = t.y;
        r.w[4 * i + 2] = t.z;
        r.w[4 * i + 3] = t.w;
    }
}
CUZK_DEV void store(uint4 *p, const fp &r, size_t stride = 1)
{
#pragma unroll
    for (int i = 0; i < 3; i++)
        p[i * stride] = make_uint4(r.w[4 * i], r.w[4 * i + 1], r.w[4 * i + 2], r.w[4 * i + 3]);
}

// Inverse by all lanes of a warp together: division steps in batches of 30 (Bernstein and Yang's
// safegcd, here in variable time) until every lane's g is 0, on signed 30-bit limbs. 0 gives 0.
static __device__ __noinline__ fp inverse(fp a)
{
    constexpr int L = 13;
    constexpr int M = 0x3fffffff;
    constexpr u32 p_inverse_30 = (0u - fp_modulus::n0) & M;
    int f[L], g[L], d[L], e[L];
    subtract_once<fp_modulus>(a.w);
#pragma unroll
    for (int i = 0; i < L; i++) {
        int b = 30 * i, w = b >> 5, s = b & 31;
        u32 lo = a.w[w] >> s;
        if (s > 2 && w + 1 < 12)
            lo |= a.w[w + 1] << (32 - s);
        g[i] = (int)(lo & M);
        f[i] = fp_modulus::limb30(i);
        d[i] = 0;
        e[i] = i == 0;
    }
    int eta = -1;
#pragma unroll 1
    for (int batch = 0; batch < 37; batch++) { // at most 1102 steps for 381 bits
        int any = 0;
#pragma unroll
        for (int i = 0; i < L; i++)
            any |= g[i];
        if (!__any_sync(~0u, any))
            break;
        int u = 1, v = 0, q = 0, r = 1; // 2^30 times the batch's matrix
        u32 ff = (u32)f[0], gg = (u32)g[0];
        int left = 30;
#pragma unroll 1
        for (;;) {
            int zeros = __ffs((int)(gg | (0xffffffffu << left))) - 1;
            gg >>= zeros;
            u = (int)((u32)u << zeros);
            v = (int)((u32)v << zeros);
            eta -= zeros;
            left -= zeros;
            if (left == 0)
                break;
            if (eta < 0) {
                eta = -eta;
                u32 t = ff;
                ff = gg;
                gg = 0u - t;
                int s = u;
                u = q;
                q = -s;
                s = v;
                v = r;
                r = -s;
            }
            int limit = min(eta + 1, left);
            u32 m = (0xffffffffu >> (32 - limit)) & 1023u;
            u32 x = ff * 3u ^ 2u; // 1/ff mod 2^10 after one step
            x *= 2u - ff * x;
            u32 w = (0u - gg * x) & m;
            gg += ff * w;
            q += u * (int)w;
            r += v * (int)w;
        }
        int sd = d[L - 1] >> 31, se = e[L - 1] >> 31;
        int md = (u & sd) + (v & se), me = (q & sd) + (r & se);
        long long cd = (long long)u * d[0] + (long long)v * e[0];
        long long ce = (long long)q * d[0] + (long long)r * e[0];
        md -= (int)((p_inverse_30 * (u32)cd + (u32)md) & M);
        me -= (int)((p_inverse_30 * (u32)ce + (u32)me) & M);
        cd += (long long)fp_modulus::limb30(0) * md;
        ce += (long long)fp_modulus::limb30(0) * me;
        cd >>= 30;
        ce >>= 30;
        long long cf = ((long long)u * f[0] + (long long)v * g[0]) >> 30;
        long long cg = ((long long)q * f[0] + (long long)r * g[0]) >> 30;
#pragma unroll
        for (int i = 1; i < L; i++) {
            cd += (long long)u * d[i] + (long long)v * e[i];
            ce += (long long)q * d[i] + (long long)r * e[i];
            cd += (long long)fp_modulus::limb30(i) * md;
            ce += (long long)fp_modulus::limb30(i) * me;
            d[i - 1] = (int)cd & M;
            cd >>= 30;
            e[i - 1] = (int)ce & M;
            ce >>= 30;
        }
        d[L - 1] = (int)cd;
        e[L - 1] = (int)ce;
#pragma unroll
        for (int i = 1; i < L; i++) {
            cf += (long long)u * f[i] + (long long)v * g[i];
            cg += (long long)q * f[i] + (long long)r * g[i];
            f[i - 1] = (int)cf & M;
            cf >>= 30;
            g[i - 1] = (int)cg & M;
            cg >>= 30;
        }
        f[L - 1] = (int)cf;
        g[L - 1] = (int)cg;
    }
    // The inverse of a (without R) is sign(f) d with d in (-2p, p): add p if negative, negate if f
    // is, and add p if negative again.
    int negative = f[L - 1] >> 31;
#pragma unroll
    for (int pass = 0; pass < 2; pass++) {
        int m = d[L - 1] >> 31, c = 0;
#pragma unroll
        for (int i = 0; i < L; i++) {
            int t = d[i] + (fp_modulus::limb30(i) & m);
            if (pass == 0)
                t = (t ^ negative) - negative;
            t += c;
            if (i < L - 1) {
                d[i] = t & M;
                c = t >> 30;
            } else {
                d[i] = t;
            }
        }
    }
    int m = d[L - 1] >> 31, c = 0;
#pragma unroll
    for (int i = 0; i < L; i++) {
        int t = d[i] + (fp_modulus::limb30(i) & m) + c;
        if (i < L - 1) {
            d[i] = t & M;
            c = t >> 30;
        } else {
            d[i] = t;
        }
    }
    fp o, r3;
#pragma unroll
    for (int w = 0; w < 12; w++) {
        int b = 32 * w, i = b / 30, s = b - 30 * i;
        u32 x = (u32)d[i] >> s;
        x |= (u32)d[i + 1] << (30 - s);
        if (60 - s < 32 && i + 2 < L)
            x |= (u32)d[i + 2] << (60 - s);
        o.w[w] = x;
        r3.w[w] = fp_modulus::r3(w);
    }
    return mul(o, r3); // (a R)^-1 R^3 / R = a^-1 R
}

} // namespace cuzk
#endif
