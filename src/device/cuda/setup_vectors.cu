// Vectors of Fr on the device, as setup needs them (setup_vectors.h).
#include <cub/device/device_select.cuh>

#include "device/cuda/device.cuh"
#include "device/cuda/kernels/fr.cuh"
#include "device/cuda/setup_vectors.h"

using namespace cuzk;

namespace {

fr words_of_host(const struct bls12_381_fr *a)
{
    fr r;
    for (int i = 0; i < 8; i++)
        r.w[i] = (u32)(a->l[i / 2] >> (32 * (i & 1)));
    return r;
}

CUZK_DEV fr fr_one()
{
    fr r;
    for (int i = 0; i < 8; i++)
        r.w[i] = fr_modulus::one(i);
    return r;
}

// x^e; x canonical
CUZK_DEV fr power(const fr &x, u64 e)
{
    fr result = fr_one(), square = x;
    for (; e != 0; e >>= 1) {
        if (e & 1)
            result = canonical(mul(result, square));
        square = canonical(mul(square, square));
    }
    return result;
}

constexpr u32 run = 64; // consecutive powers a thread makes after one exponentiation

__global__ void powers(uint4 *out, fr x, fr k, u64 first, u64 n, int log2_reversed)
{
    u64 begin = ((u64)blockIdx.x * blockDim.x + threadIdx.x) * run;
    if (begin >= n)
        return;
    fr v = canonical(mul(k, power(x, first + begin)));
    for (u64 i = begin; i < n && i < begin + run; i++) {
        u64 at = i;
        if (log2_reversed >= 0)
            at = log2_reversed == 0 ? 0 : __brev((u32)i) >> (32 - log2_reversed);
        store_fr(out + 2 * at, v);
        v = canonical(mul(v, x));
    }
}

__global__ void combine(uint4 *c, const uint4 *a, const uint4 *b, fr p, fr q, u64 n)
{
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    fr sum = add(load_fr(c + 2 * i), mul(p, load_fr(a + 2 * i)));
    sum = add(sum, mul(q, load_fr(b + 2 * i)));
    store_fr(c + 2 * i, canonical(sum));
}

__global__ void scale(uint4 *out, const uint4 *a, fr k, u64 n)
{
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        store_fr(out + 2 * i, canonical(mul(k, load_fr(a + 2 * i))));
}

__global__ void add_vector(uint4 *a, const uint4 *b, u64 n)
{
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        store_fr(a + 2 * i, canonical(add(load_fr(a + 2 * i), load_fr(b + 2 * i))));
}

struct element {
    uint4 low, high;
};
struct not_zero {
    __host__ __device__ bool operator()(const element &e) const
    {
        return (e.low.x | e.low.y | e.low.z | e.low.w | e.high.x | e.high.y | e.high.z |
                e.high.w) != 0;
    }
};

__global__ void find_zero(const element *a, u64 n, unsigned long long *first)
{
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && !not_zero()(a[i]))
        atomicMin(first, (unsigned long long)i);
}

} // namespace

extern "C" cuzk_status cuzk_cuda_powers_reversed(struct cuzk_cuda *device, void *out,
                                                 const struct bls12_381_fr *x, unsigned log2_size,
                                                 struct cuzk_error *err)
{
    CUZK_TRY(make_current(device, err));
    u64 n = 1ull << log2_size;
    powers<<<blocks_for((n + run - 1) / run, 128), 128, 0, device->main>>>(
        (uint4 *)out, words_of_host(x), words_of_host(&bls12_381_fr_one), 0, n, (int)log2_size);
    CUZK_LAUNCHED(powers);
    CUZK_CUDA(cudaStreamSynchronize(device->main));
    return CUZK_OK;
}

extern "C" cuzk_status cuzk_cuda_powers(struct cuzk_cuda *device, void *out,
                                        const struct bls12_381_fr *x, const struct bls12_381_fr *k,
                                        uint64_t first, size_t n, struct cuzk_error *err)
{
    CUZK_TRY(make_current(device, err));
    if (n == 0)
        return CUZK_OK;
    powers<<<blocks_for((n + run - 1) / run, 128), 128, 0, device->main>>>(
        (uint4 *)out, words_of_host(x), words_of_host(k), first, n, -1);
    CUZK_LAUNCHED(powers);
    CUZK_CUDA(cudaStreamSynchronize(device->main));
    return CUZK_OK;
}

extern "C" cuzk_status cuzk_cuda_combine(struct cuzk_cuda *device, void *c, const void *a,
                                         const void *b, const struct bls12_381_fr *p,
                                         const struct bls12_381_fr *q, size_t n,
                                         struct cuzk_error *err)
{
    CUZK_TRY(make_current(device, err));
    if (n == 0)
        return CUZK_OK;
    combine<<<blocks_for(n, 256), 256, 0, device->main>>>(
        (uint4 *)c, (const uint4 *)a, (const uint4 *)b, words_of_host(p), words_of_host(q), n);
    CUZK_LAUNCHED(combine);
    CUZK_CUDA(cudaStreamSynchronize(device->main));
    return CUZK_OK;
}

extern "C" cuzk_status cuzk_cuda_scale(struct cuzk_cuda *device, void *out, const void *a,
                                       const struct bls12_381_fr *k, size_t n,
                                       struct cuzk_error *err)
{
    CUZK_TRY(make_current(device, err));
    if (n == 0)
        return CUZK_OK;
    scale<<<blocks_for(n, 256), 256, 0, device->main>>>((uint4 *)out, (const uint4 *)a,
                                                        words_of_host(k), n);
    CUZK_LAUNCHED(scale);
    CUZK_CUDA(cudaStreamSynchronize(device->main));
    return CUZK_OK;
}

extern "C" cuzk_status cuzk_cuda_add(struct cuzk_cuda *device, void *a, const void *b, size_t n,
                                     struct cuzk_error *err)
{
    CUZK_TRY(make_current(device, err));
    if (n == 0)
        return CUZK_OK;
    add_vector<<<blocks_for(n, 256), 256, 0, device->main>>>((uint4 *)a, (const uint4 *)b, n);
    CUZK_LAUNCHED(add_vector);
    CUZK_CUDA(cudaStreamSynchronize(device->main));
    return CUZK_OK;
}

extern "C" cuzk_status cuzk_cuda_squeeze(struct cuzk_cuda *device, void *out, const void *a,
                                         size_t n, size_t *kept, struct cuzk_error *err)
{
    *kept = 0;
    CUZK_TRY(make_current(device, err));
    if (n == 0)
        return CUZK_OK;
    scratch memory(device, CUZK_PURPOSE_SETUP);
    uint8_t *space = nullptr;
    u32 *count = nullptr, host_count = 0;
    size_t bytes = 0;
    CUZK_CUDA(cub::DeviceSelect::If(nullptr, bytes, (const element *)a, (element *)out,
                                    (u32 *)nullptr, (int)n, not_zero()));
    CUZK_TRY(memory.get(&space, bytes, err));
    CUZK_TRY(memory.get(&count, 1, err));
    CUZK_CUDA(cub::DeviceSelect::If(space, bytes, (const element *)a, (element *)out, count, (int)n,
                                    not_zero(), device->main));
    CUZK_CUDA(cudaMemcpyAsync(&host_count, count, sizeof host_count, cudaMemcpyDeviceToHost,
                              device->main));
    CUZK_CUDA(cudaStreamSynchronize(device->main));
    memory.finished = true;
    *kept = host_count;
    return CUZK_OK;
}

extern "C" cuzk_status cuzk_cuda_find_zero(struct cuzk_cuda *device, const void *a, size_t n,
                                           size_t *index, struct cuzk_error *err)
{
    *index = n;
    CUZK_TRY(make_current(device, err));
    if (n == 0)
        return CUZK_OK;
    scratch memory(device, CUZK_PURPOSE_SETUP);
    unsigned long long *first = nullptr, host_first = n;
    CUZK_TRY(memory.get(&first, 1, err));
    CUZK_CUDA(cudaMemcpyAsync(first, &host_first, sizeof host_first, cudaMemcpyHostToDevice,
                              device->main));
    find_zero<<<blocks_for(n, 256), 256, 0, device->main>>>((const element *)a, n, first);
    CUZK_LAUNCHED(find_zero);
    CUZK_CUDA(cudaMemcpyAsync(&host_first, first, sizeof host_first, cudaMemcpyDeviceToHost,
                              device->main));
    CUZK_CUDA(cudaStreamSynchronize(device->main));
    memory.finished = true;
    *index = (size_t)host_first;
    return CUZK_OK;
}
