// What the device's .cu files share: the open device, checked calls, scratch memory.
//
// Errors travel as cuzk_status; a failed CUDA call becomes CUZK_E_DEVICE with the call's name and
// the driver's sentence, and a sticky one (the context is dead) CUZK_E_DEVICE_LOST. Every launch is
// followed by CUZK_LAUNCHED.
#ifndef CUZK_CUDA_DEVICE_CUH
#define CUZK_CUDA_DEVICE_CUH

#include <cuda_runtime.h>

#include "device/cuda/cuda.h"

extern "C" {
#include "base/alloc.h"
}

namespace cuzk {

struct pool;
static constexpr int max_windows = 40, max_levels = 30;

} // namespace cuzk

struct cuzk_cuda {
    int index, multiprocessors;
    struct cuzk_budget *budget;
    cuzk::pool *memory;
    // `main` for what is on the critical path; `side` and `side2`, of low priority, for what
    // prepares the next step: their blocks then fill the gaps of main's and do not displace them.
    cudaStream_t main, side, side2;
    cudaEvent_t fork, join, list_planned[2], list_done[2], totals_copied[cuzk::max_windows];
    uint32_t *totals;     // pinned, max_windows * max_levels
    uint8_t *staging;     // pinned, 2 * staging_bytes
    cuzk_cuda_copy *copy; // into the staging; NULL: memcpy
    void *copy_context;
    cudaEvent_t staged[2];
    void *results;  // pinned, results_bytes
    void *twiddles; // NTT table of 2^twiddle_log2 factors and a few more; NULL: none yet
    unsigned twiddle_log2;
    bool lost;
};

namespace cuzk {

static constexpr size_t staging_bytes = 8u << 20, results_bytes = 4u << 20,
                        totals_bytes = sizeof(uint32_t) * max_windows * max_levels;

// How often the context of a device was destroyed because it was lost, by index: what was set for
// its kernels before is void.
extern unsigned contexts[64];

cuzk_status pool_create(pool **out, struct cuzk_cuda *device, struct cuzk_error *err);
void pool_destroy(pool *p);
// Gives everything back; what the driver still counts is the baseline (account.h).
cuzk_status pool_settle(pool *p, struct cuzk_error *err);

cuzk_status cuda_failed(struct cuzk_cuda *device, cudaError_t code, const char *call,
                        struct cuzk_error *err);
cuzk_status make_current(struct cuzk_cuda *device, struct cuzk_error *err);

#define CUZK_TRY(expression)                                                                       \
    do {                                                                                           \
        cuzk_status try_status = (expression);                                                     \
        if (try_status != CUZK_OK)                                                                 \
            return try_status;                                                                     \
    } while (0)
#define CUZK_CUDA(call)                                                                            \
    do {                                                                                           \
        cudaError_t cuda_code = (call);                                                            \
        if (cuda_code != cudaSuccess)                                                              \
            return cuzk::cuda_failed(device, cuda_code, #call, err);                               \
    } while (0)
#define CUZK_LAUNCHED(kernel)                                                                      \
    do {                                                                                           \
        cudaError_t cuda_code = cudaGetLastError();                                                \
        if (cuda_code != cudaSuccess)                                                              \
            return cuzk::cuda_failed(device, cuda_code, "launch of " #kernel, err);                \
    } while (0)

// Buffers of one call, returned to the pool at its end. What was launched must have ended by then
// on success; on failure the destructor waits for it.
struct scratch {
    struct cuzk_cuda *device;
    enum cuzk_purpose purpose;
    void *buffers[24];
    int count = 0;
    bool finished = false; // set when nothing of this call can still run

    scratch(struct cuzk_cuda *d, enum cuzk_purpose p) : device(d), purpose(p) {}
    scratch(const scratch &) = delete;
    ~scratch()
    {
        if (!finished)
            (void)cudaDeviceSynchronize();
        while (count > 0)
            cuzk_cuda_free(device, buffers[--count]);
    }
    template <class T> cuzk_status get(T **out, uint64_t elements, struct cuzk_error *err)
    {
        *out = NULL;
        if (count == (int)(sizeof buffers / sizeof *buffers))
            return cuzk_fail(err, CUZK_E_INTERNAL, "a device call uses more than %d buffers",
                             count);
        CUZK_TRY(cuzk_cuda_alloc(device, &buffers[count], purpose, elements * sizeof(T), err));
        *out = (T *)buffers[count++];
        return CUZK_OK;
    }
};

static inline unsigned log2_floor(uint64_t x)
{
    return 63 - (unsigned)__builtin_clzll(x);
}
static inline unsigned blocks_for(uint64_t n, unsigned threads)
{
    return (unsigned)((n + threads - 1) / threads);
}

} // namespace cuzk
#endif
