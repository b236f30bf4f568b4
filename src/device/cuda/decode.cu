// Points of a key file to the device's form (cuda.h): byte order, range, Montgomery form, curve.
#include "device/cuda/cuda.h"
#include "device/cuda/device.cuh"
#include "device/cuda/kernels/fp.cuh"
#include "device/cuda/kernels/fp2.cuh"

using namespace cuzk;

namespace {

struct curve_constants {
    fp r2, b; // R^2; 4 in Montgomery form
};

fp host_words(const uint64_t (&limb)[6])
{
    fp r;
    for (int i = 0; i < 12; i++)
        r.w[i] = (u32)(limb[i / 2] >> (32 * (i & 1)));
    return r;
}

curve_constants constants()
{
    const uint64_t r2[6] = {BLS12_381_FP_R2}, b[6] = {BLS12_381_G1_B};
    return {host_words(r2), host_words(b)};
}

// 48 bytes, big endian, 16-byte aligned; false if not below p. The flag bits are bits 381 to 383,
// so a number with one of them is not below p either.
CUZK_DEV bool read_coordinate(fp &out, const uint4 *raw, const fp &r2)
{
    fp t;
#pragma unroll
    for (int i = 0; i < 3; i++) {
        uint4 v = raw[i];
        t.w[11 - 4 * i] = __byte_perm(v.x, 0, 0x0123);
        t.w[10 - 4 * i] = __byte_perm(v.y, 0, 0x0123);
        t.w[9 - 4 * i] = __byte_perm(v.z, 0, 0x0123);
        t.w[8 - 4 * i] = __byte_perm(v.w, 0, 0x0123);
    }
    bool below = false, decided = false;
#pragma unroll
    for (int i = 11; i >= 0; i--) {
        u32 p = fp_modulus::p(i);
        if (!decided && t.w[i] != p) {
            decided = true;
            below = t.w[i] < p;
        }
    }
    out = canonical(mul(t, r2));
    return below;
}

CUZK_DEV bool equal(const fp &a, const fp &b)
{
    return is_zero(sub(a, b));
}

__global__ void __launch_bounds__(128)
    decode_g1(uint4 *out, const uint4 *raw, u64 n, curve_constants k, unsigned long long *bad)
{
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    fp x, y;
    bool good = read_coordinate(x, raw + 6 * i, k.r2);
    good = read_coordinate(y, raw + 6 * i + 3, k.r2) && good;
    good = good && equal(sqr(y), add(mul(sqr(x), x), k.b));
    store(out + 6 * i, x);
    store(out + 6 * i + 3, y);
    if (!good)
        atomicMin(bad, (unsigned long long)i);
}

// In the file c1 stands before c0; on the device c0 before c1.
__global__ void __launch_bounds__(128)
    decode_g2(uint4 *out, const uint4 *raw, u64 n, curve_constants k, unsigned long long *bad)
{
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    fp v[4]; // x.c1, x.c0, y.c1, y.c0
    bool good = true;
#pragma unroll
    for (int j = 0; j < 4; j++)
        good = read_coordinate(v[j], raw + 12 * i + 3 * j, k.r2) && good;
    // (c0 + c1 u)^2 = (c0 + c1)(c0 - c1) + 2 c0 c1 u
    fp s0 = mul(add(v[1], v[0]), sub(v[1], v[0])), s1 = twice(mul(v[1], v[0]));
    fp c0 = sub(mul(s0, v[1]), mul(s1, v[0])), c1 = add(mul(s0, v[0]), mul(s1, v[1]));
    c0 = add(c0, k.b);
    c1 = add(c1, k.b);
    good = good && equal(mul(add(v[3], v[2]), sub(v[3], v[2])), c0) &&
           equal(twice(mul(v[3], v[2])), c1);
    store(out + 12 * i, v[1]);
    store(out + 12 * i + 3, v[0]);
    store(out + 12 * i + 6, v[3]);
    store(out + 12 * i + 9, v[2]);
    if (!good)
        atomicMin(bad, (unsigned long long)i);
}

template <class Launch>
cuzk_status decode(struct cuzk_cuda *device, size_t n, size_t *bad, Launch launch,
                   struct cuzk_error *err)
{
    *bad = n;
    CUZK_TRY(make_current(device, err));
    if (n == 0)
        return CUZK_OK;
    scratch memory(device, CUZK_PURPOSE_STAGING);
    unsigned long long *first = nullptr, host_first = n;
    CUZK_TRY(memory.get(&first, 1, err));
    CUZK_CUDA(cudaMemcpyAsync(first, &host_first, sizeof host_first, cudaMemcpyHostToDevice,
                              device->main));
    launch(first);
    CUZK_LAUNCHED(decode);
    CUZK_CUDA(cudaMemcpyAsync(&host_first, first, sizeof host_first, cudaMemcpyDeviceToHost,
                              device->main));
    CUZK_CUDA(cudaStreamSynchronize(device->main));
    memory.finished = true;
    *bad = (size_t)host_first;
    return CUZK_OK;
}

} // namespace

extern "C" cuzk_status cuzk_cuda_decode_g1(struct cuzk_cuda *device, void *out, const void *raw,
                                           size_t n, size_t *bad, struct cuzk_error *err)
{
    auto launch = [=](unsigned long long *first) {
        decode_g1<<<blocks_for(n, 128), 128, 0, device->main>>>((uint4 *)out, (const uint4 *)raw, n,
                                                                constants(), first);
    };
    return decode(device, n, bad, launch, err);
}

extern "C" cuzk_status cuzk_cuda_decode_g2(struct cuzk_cuda *device, void *out, const void *raw,
                                           size_t n, size_t *bad, struct cuzk_error *err)
{
    auto launch = [=](unsigned long long *first) {
        decode_g2<<<blocks_for(n, 128), 128, 0, device->main>>>((uint4 *)out, (const uint4 *)raw, n,
                                                                constants(), first);
    };
    return decode(device, n, bad, launch, err);
}
