// Fp2 = Fp(u), u^2 = -1, components lazy in [0, 2p) as in fp.cuh. A product is three of Fp
// (Karatsuba) with one of the two sums left unreduced, a square two.
#ifndef CUZK_CUDA_FP2_CUH
#define CUZK_CUDA_FP2_CUH

#include "fp.cuh"

namespace cuzk {

struct fp2 {
    static constexpr int pieces = 6; // of 16 bytes
    fp c0, c1;
};

CUZK_DEV fp2 sub(const fp2 &a, const fp2 &b)
{
    return fp2{sub(a.c0, b.c0), sub(a.c1, b.c1)};
}
// Karatsuba's sum has no room for an operand above 2p.
CUZK_DEV fp2 sub_lazy(const fp2 &a, const fp2 &b)
{
    return sub(a, b);
}
CUZK_DEV fp2 add(const fp2 &a, const fp2 &b)
{
    return fp2{add(a.c0, b.c0), add(a.c1, b.c1)};
}
CUZK_DEV fp2 neg(const fp2 &a)
{
    return fp2{neg(a.c0), neg(a.c1)};
}
CUZK_DEV fp2 twice(const fp2 &a)
{
    return add(a, a);
}
template <> CUZK_DEV fp2 zero<fp2>()
{
    return fp2{zero<fp>(), zero<fp>()};
}
template <> CUZK_DEV fp2 one<fp2>()
{
    return fp2{one<fp>(), zero<fp>()};
}

CUZK_DEV fp2 mul(const fp2 &a, const fp2 &b)
{
    fp s = mul(add(a.c0, a.c1), add_lazy(b.c0, b.c1));
    fp t0 = mul(a.c0, b.c0), t1 = mul(a.c1, b.c1);
    return fp2{sub(t0, t1), sub(sub(s, t0), t1)};
}
CUZK_DEV fp2 sqr(const fp2 &a)
{
    return fp2{mul(add(a.c0, a.c1), sub_lazy(a.c0, a.c1)), mul(a.c0, add_lazy(a.c1, a.c1))};
}
CUZK_DEV void negate_if(fp2 &a, u32 sign)
{
    negate_if(a.c0, sign);
    negate_if(a.c1, sign);
    // a zero component became 2p, which the lazy range does not hold
    subtract_2p(a.c0);
    subtract_2p(a.c1);
}
CUZK_DEV bool is_zero(const fp2 &a)
{
    return is_zero(a.c0) && is_zero(a.c1);
}
CUZK_DEV bool all_bits_zero(const fp2 &a)
{
    return all_bits_zero(a.c0) && all_bits_zero(a.c1);
}
CUZK_DEV fp2 canonical(const fp2 &a)
{
    return fp2{canonical(a.c0), canonical(a.c1)};
}
CUZK_DEV bool maybe_zero_difference(const fp2 &d) // d of sub(b, a): 0 or p in both components
{
    return (d.c0.w[0] == 0 || d.c0.w[0] == fp_modulus::p(0)) &&
           (d.c1.w[0] == 0 || d.c1.w[0] == fp_modulus::p(0));
}
CUZK_DEV bool maybe_all_bits_zero(const fp2 &a)
{
    return (a.c0.w[0] | a.c1.w[0]) == 0;
}

CUZK_DEV void load(fp2 &r, const uint4 *p, size_t stride = 1)
{
    load(r.c0, p, stride);
    load(r.c1, p + 3 * stride, stride);
}
CUZK_DEV void store(uint4 *p, const fp2 &r, size_t stride = 1)
{
    store(p, r.c0, stride);
    store(p + 3 * stride, r.c1, stride);
}

// By all lanes of a warp, as Fp's.
CUZK_DEV fp2 inverse(const fp2 &a)
{
    fp i = inverse(add(sqr(a.c0), sqr(a.c1)));
    return fp2{mul(a.c0, i), mul(neg(a.c1), i)};
}

} // namespace cuzk
#endif
