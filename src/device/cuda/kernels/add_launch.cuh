// Launching batched additions: how many pairs a thread takes.
#ifndef CUZK_CUDA_ADD_LAUNCH_CUH
#define CUZK_CUDA_ADD_LAUNCH_CUH

#include "affine_add.cuh"
#include "device/cuda/device.cuh"

namespace cuzk {

// Some 200 pairs a thread amortise the inversion (48 cost 8 %); launches of few waves do better
// with one more wave of fewer pairs, 150. The waves are made even.
template <class F, int SOURCE>
static cuzk_status launch_adds(struct cuzk_cuda *device, add_batch a, cudaStream_t stream,
                               struct cuzk_error *err)
{
    constexpr int T = add_shape<F>::threads, shared = add_layout<F>::bytes;
    constexpr u32 least = 4;
    if (a.count == 0)
        return CUZK_OK;
    // Asked once a context and file: each file has a copy of the kernel. Devices beyond share a
    // slot.
    static int resident_by_device[64];
    static unsigned asked_in[64];
    const int slot = device->index % 64;
    int *resident = &resident_by_device[slot];
    if (*resident == 0 || asked_in[slot] != contexts[slot] || device->index >= 63) {
        const unsigned context = contexts[slot];
        CUZK_CUDA(cudaFuncSetAttribute(add_pairs<F, SOURCE>,
                                       cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
        CUZK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(resident, add_pairs<F, SOURCE>, T,
                                                                shared));
        if (*resident == 0)
            return cuzk_fail(err, CUZK_E_UNSUPPORTED,
                             "cuda:%d: a block of additions does not fit a multiprocessor",
                             device->index);
        asked_in[slot] = context; // now that the kernel is set up
    }
    u32 slots = (u32)device->multiprocessors * (u32)*resident * T,
        per = (a.count + slots - 1) / slots;
    const u32 target = per > 600 ? 200 : 150;
    u32 waves = (per + target - 1) / target, each = (per + waves - 1) / waves;
    a.per_thread = (int)(each < least ? least : each);
    u32 blocks = blocks_for(a.count, (u32)a.per_thread * T);
    add_pairs<F, SOURCE><<<blocks, T, shared, stream>>>(a);
    CUZK_LAUNCHED(add_pairs);
    return CUZK_OK;
}

// Coordinates between two addresses of the pool, as the kernel's offsets count them. Node arrays
// are allocated with a coordinate to spare and moved up, so that the distance to `base` is a
// multiple.
template <class F> static uint4 *align_to(uint4 *p, const void *base)
{
    constexpr int64_t size = 16 * F::pieces;
    int64_t off = ((const char *)p - (const char *)base) % size;
    if (off < 0)
        off += size;
    return off ? (uint4 *)((char *)p + (size - off)) : p;
}
template <class F> static u32 coordinates_from(const void *base, const void *p)
{
    return (u32)(((const char *)p - (const char *)base) / (int64_t)(16 * F::pieces));
}

} // namespace cuzk
#endif
