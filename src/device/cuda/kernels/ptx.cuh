// Single PTX instructions that the arithmetic is made of: carry chains, 32x32+64 multiply-adds, and
// asynchronous copies to shared memory.
//
// ptxas fuses a mad.lo.cc/madc.hi pair on adjacent words into one IMAD.WIDE.U32 with carry in and
// out, the instruction that bounds every product here (4 cycles per warp on sm_90). The form with a
// 64-bit accumulator (mad.wide) does not fuse with the carry, so it is not used. All carry
// instructions are volatile: the flag is the dependency, and the compiler does not see it.
#ifndef CUZK_CUDA_PTX_CUH
#define CUZK_CUDA_PTX_CUH

#include <stdint.h>

#define CUZK_DEV __device__ __forceinline__

namespace cuzk {

typedef uint32_t u32;
typedef uint64_t u64;

CUZK_DEV void add_cc(u32 &r, u32 a, u32 b)
{
    asm volatile("add.cc.u32 %0,%1,%2;" : "=r"(r) : "r"(a), "r"(b));
}
CUZK_DEV void addc_cc(u32 &r, u32 a, u32 b)
{
    asm volatile("addc.cc.u32 %0,%1,%2;" : "=r"(r) : "r"(a), "r"(b));
}
CUZK_DEV void addc(u32 &r, u32 a, u32 b)
{
    asm volatile("addc.u32 %0,%1,%2;" : "=r"(r) : "r"(a), "r"(b));
}
CUZK_DEV void sub_cc(u32 &r, u32 a, u32 b)
{
    asm volatile("sub.cc.u32 %0,%1,%2;" : "=r"(r) : "r"(a), "r"(b));
}
CUZK_DEV void subc_cc(u32 &r, u32 a, u32 b)
{
    asm volatile("subc.cc.u32 %0,%1,%2;" : "=r"(r) : "r"(a), "r"(b));
}
CUZK_DEV void subc(u32 &r, u32 a, u32 b)
{
    asm volatile("subc.u32 %0,%1,%2;" : "=r"(r) : "r"(a), "r"(b));
}

// Products on a pair (l, h) of words. Names: wide_mul sets the pair, wide_mad adds to it, wide_mads
// takes the addend (sl, sh) from elsewhere; suffix _i takes a carry in, _o leaves one, _io both.
CUZK_DEV void wide_mul(u32 &l, u32 &h, u32 a, u32 b)
{
    asm volatile("mul.lo.u32 %0,%2,%3; mul.hi.u32 %1,%2,%3;" : "=r"(l), "=r"(h) : "r"(a), "r"(b));
}
CUZK_DEV void wide_mul_i(u32 &l, u32 &h, u32 a, u32 b)
{
    asm volatile("madc.lo.cc.u32 %0,%2,%3,0; madc.hi.u32 %1,%2,%3,0;"
                 : "=r"(l), "=r"(h)
                 : "r"(a), "r"(b));
}
CUZK_DEV void wide_mad(u32 &l, u32 &h, u32 a, u32 b)
{
    asm volatile("mad.lo.cc.u32 %0,%2,%3,%0; madc.hi.u32 %1,%2,%3,%1;"
                 : "+r"(l), "+r"(h)
                 : "r"(a), "r"(b));
}
CUZK_DEV void wide_mad_o(u32 &l, u32 &h, u32 a, u32 b)
{
    asm volatile("mad.lo.cc.u32 %0,%2,%3,%0; madc.hi.cc.u32 %1,%2,%3,%1;"
                 : "+r"(l), "+r"(h)
                 : "r"(a), "r"(b));
}
CUZK_DEV void wide_mad_io(u32 &l, u32 &h, u32 a, u32 b)
{
    asm volatile("madc.lo.cc.u32 %0,%2,%3,%0; madc.hi.cc.u32 %1,%2,%3,%1;"
                 : "+r"(l), "+r"(h)
                 : "r"(a), "r"(b));
}
CUZK_DEV void wide_mad_i(u32 &l, u32 &h, u32 a, u32 b)
{
    asm volatile("madc.lo.cc.u32 %0,%2,%3,%0; madc.hi.u32 %1,%2,%3,%1;"
                 : "+r"(l), "+r"(h)
                 : "r"(a), "r"(b));
}
CUZK_DEV void wide_mads_io(u32 &l, u32 &h, u32 a, u32 b, u32 sl, u32 sh)
{
    asm volatile("madc.lo.cc.u32 %0,%2,%3,%4; madc.hi.cc.u32 %1,%2,%3,%5;"
                 : "=r"(l), "=r"(h)
                 : "r"(a), "r"(b), "r"(sl), "r"(sh));
}
// r += a*b + carry, low word only
CUZK_DEV void low_mad_i(u32 &r, u32 a, u32 b)
{
    asm volatile("madc.lo.u32 %0,%1,%2,%0;" : "+r"(r) : "r"(a), "r"(b));
}

// 16 bytes from global to shared memory; `shared` is a shared-window address. Before sm_80 the copy
// is an ordinary load and store.
CUZK_DEV void copy16_async(u32 shared, const uint4 *global)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0],[%1],16;" ::"r"(shared), "l"(global) : "memory");
#else
    uint4 v = *global;
    asm volatile("st.shared.v4.u32 [%0],{%1,%2,%3,%4};" ::"r"(shared), "r"(v.x), "r"(v.y), "r"(v.z),
                 "r"(v.w)
                 : "memory");
#endif
}
CUZK_DEV void copy16_wait()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}
CUZK_DEV u32 shared_address(const void *p)
{
    return (u32)__cvta_generic_to_shared(p);
}
CUZK_DEV uint4 load16_shared(u32 shared)
{
    uint4 v;
    asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3},[%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "r"(shared)
                 : "memory");
    return v;
}
CUZK_DEV void prefetch_l2(const void *p)
{
    asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
}

// The same value, of which the compiler knows nothing: what depends on it is computed where it
// stands, not kept.
CUZK_DEV u32 opaque(u32 v)
{
    asm volatile("mov.u32 %0,%0;" : "+r"(v));
    return v;
}

// Sum over the warp.
CUZK_DEV u32 warp_sum(u32 v)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(~0u, v);
#else
    for (int d = 16; d; d >>= 1)
        v += __shfl_xor_sync(~0u, v, d);
    return v;
#endif
}

// Numbers of N 32-bit words as compile-time constants, and the little arithmetic that derives what
// the kernels need from the generated 64-bit limbs.
template <int N> struct words {
    u32 w[N];
};
template <int N> __host__ __device__ constexpr words<N> words_of(const u64 (&limb)[N / 2])
{
    words<N> r = {};
    for (int i = 0; i < N; i++)
        r.w[i] = (u32)(limb[i / 2] >> (32 * (i & 1)));
    return r;
}
template <int N> __host__ __device__ constexpr words<N> words_double(const words<N> &a)
{
    words<N> r = {};
    for (int i = 0; i < N; i++)
        r.w[i] = a.w[i] << 1 | (i ? a.w[i - 1] >> 31 : 0);
    return r;
}
// bits [30 i, 30 i + 30)
template <int N> __host__ __device__ constexpr int words_limb30(const words<N> &a, int i)
{
    int b = 30 * i, k = b >> 5, s = b & 31;
    u64 v = (k < N ? a.w[k] : 0) | (u64)(k + 1 < N ? a.w[k + 1] : 0) << 32;
    return (int)(v >> s & 0x3fffffff);
}

} // namespace cuzk
#endif
