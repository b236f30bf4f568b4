// The device's memory pool: one reserved range of addresses, larger than the device's memory,
// backed by physical chunks where it is used, and cut by an address-ordered list with best fit. In
// the steady state nothing is asked of the driver. One range also means that any two buffers are
// near enough for the kernels' 32-bit offsets.
//
// What is freed keeps its chunks for the next call. Where new ones would go beyond the budget, or
// the driver has none left, chunks that lie whole in free blocks are given back first: so neither
// pieces between buffers nor what an earlier phase used makes the device hold more than its limit,
// but for the chunks at the edges of buffers.
#include <cuda.h>
#include <stdio.h>
#include <string.h>

#include "device.cuh"
#include "device/cuda/account.h"

namespace cuzk {

static constexpr uint64_t chunk_bytes = 64ull << 20, granule = 512;
static constexpr uint64_t pool_reach = ((uint64_t)1 << 32) * 48; // a multiple of chunk_bytes
static constexpr uint8_t fresh_byte = 0xa5, guard_byte = 0x5a;

struct block {
    uint64_t offset, bytes;
    bool free;
    enum cuzk_purpose purpose;
    bool guarded; // its last granule is the guard
};

// The driver's functions are fetched at run time, so that nothing links libcuda.
struct driver {
    decltype(&cuMemAddressReserve) reserve;
    decltype(&cuMemAddressFree) unreserve;
    decltype(&cuMemCreate) create;
    decltype(&cuMemRelease) release;
    decltype(&cuMemMap) map;
    decltype(&cuMemUnmap) unmap;
    decltype(&cuMemSetAccess) set_access;
};

struct pool {
    struct cuzk_cuda *device;
    driver call;
    CUdeviceptr base;
    uint64_t reserved, top, held, used, chunk; // top: where the blocks end; held: what is backed
    uint64_t peak_held, peak_used, baseline;
    uint64_t overrun;
    bool guard, settled;                   // settled: opened, so that secrets may be in it
    CUmemGenericAllocationHandle *handles; // by chunk; 0: not backed
    block *blocks;                         // by address, covering [0, top)
    size_t block_count, block_room;
};

template <class T> static cudaError_t fetch(T *function, const char *name)
{
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    void *p = NULL;
    cudaError_t code = cudaGetDriverEntryPointByVersion(name, &p, 12000, cudaEnableDefault, &found);
    if (code == cudaSuccess && found != cudaDriverEntryPointSuccess)
        code = cudaErrorSymbolNotFound;
    *function = (T)p;
    return code;
}

static CUmemAllocationProp allocation_of(int index)
{
    CUmemAllocationProp prop;
    memset(&prop, 0, sizeof prop);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop.location.id = index;
    return prop;
}

cuzk_status pool_create(pool **out, struct cuzk_cuda *device, struct cuzk_error *err)
{
    pool *p = (pool *)cuzk_calloc(1, sizeof *p);
    if (p == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "no memory for the device's pool");
    *out = p; // the caller destroys it on failure
    p->device = device;
    size_t free_bytes, total;
    CUZK_CUDA(fetch(&p->call.reserve, "cuMemAddressReserve"));
    CUZK_CUDA(fetch(&p->call.unreserve, "cuMemAddressFree"));
    CUZK_CUDA(fetch(&p->call.create, "cuMemCreate"));
    CUZK_CUDA(fetch(&p->call.release, "cuMemRelease"));
    CUZK_CUDA(fetch(&p->call.map, "cuMemMap"));
    CUZK_CUDA(fetch(&p->call.unmap, "cuMemUnmap"));
    CUZK_CUDA(fetch(&p->call.set_access, "cuMemSetAccess"));
    CUZK_CUDA(cudaMemGetInfo(&free_bytes, &total));
    p->chunk = chunk_bytes;
    // Twice the memory, so that pieces do not use up the addresses, but no more than the kernels'
    // 32-bit offsets reach (affine_add.cuh): of a larger memory the rest is not used.
    p->reserved = total < pool_reach / 2 ? 2 * total : pool_reach;
    p->reserved = (p->reserved + p->chunk - 1) / p->chunk * p->chunk;
    CUresult code = p->call.reserve(&p->base, p->reserved, p->chunk, 0, 0);
    if (code != CUDA_SUCCESS) {
        p->base = 0;
        return cuzk_fail(err, CUZK_E_DEVICE,
                         "cuda:%d: reserving %llu bytes of addresses failed (%d)", device->index,
                         (unsigned long long)p->reserved, (int)code);
    }
    p->handles =
        (CUmemGenericAllocationHandle *)cuzk_calloc(p->reserved / p->chunk, sizeof *p->handles);
    p->block_room = 64;
    p->blocks = (block *)cuzk_calloc(p->block_room, sizeof *p->blocks);
    if (p->handles == NULL || p->blocks == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "no memory for the device's pool");
    return CUZK_OK;
}

// Clears a chunk, which may have held a witness or waste, and gives it back to the driver. Nothing
// uses it any more.
static void unback(pool *p, uint64_t chunk)
{
    const CUdeviceptr at = p->base + chunk * p->chunk;
    const cudaStream_t stream = p->device->main;
    if (p->settled && (cudaMemsetAsync((void *)at, 0, p->chunk, stream) != cudaSuccess ||
                       cudaStreamSynchronize(stream) != cudaSuccess))
        (void)cudaGetLastError(); // of a lost device nothing can be cleared, nor read
    (void)p->call.unmap(at, p->chunk);
    (void)p->call.release(p->handles[chunk]);
    p->handles[chunk] = 0;
    p->held -= p->chunk;
}

void pool_destroy(pool *p)
{
    if (p == NULL)
        return;
    for (size_t i = 0; i < p->block_count; i++)
        if (!p->blocks[i].free)
            cuzk_budget_release(p->device->budget, p->blocks[i].purpose, p->blocks[i].bytes);
    for (uint64_t chunk = 0; p->handles != NULL && chunk < p->reserved / p->chunk; chunk++)
        if (p->handles[chunk] != 0)
            unback(p, chunk);
    if (p->base != 0)
        (void)p->call.unreserve(p->base, p->reserved);
    cuzk_free(p->handles);
    cuzk_free(p->blocks);
    cuzk_free(p);
}

static bool insert_block(pool *p, size_t at, block b)
{
    if (p->block_count == p->block_room) {
        block *more = (block *)cuzk_realloc(p->blocks, 2 * p->block_room, sizeof *more);
        if (more == NULL)
            return false;
        p->blocks = more;
        p->block_room *= 2;
    }
    memmove(p->blocks + at + 1, p->blocks + at, (p->block_count - at) * sizeof *p->blocks);
    p->blocks[at] = b;
    p->block_count++;
    return true;
}

static void remove_block(pool *p, size_t at)
{
    p->block_count--;
    memmove(p->blocks + at, p->blocks + at + 1, (p->block_count - at) * sizeof *p->blocks);
}

// Gives back up to `chunks` chunks that lie whole in free blocks, the highest first.
static void unback_free(pool *p, uint64_t chunks)
{
    (void)cudaDeviceSynchronize(); // nothing may still touch what is unmapped
    for (size_t i = p->block_count; i-- > 0 && chunks > 0;) {
        if (!p->blocks[i].free)
            continue;
        const uint64_t first = (p->blocks[i].offset + p->chunk - 1) / p->chunk;
        uint64_t end = (p->blocks[i].offset + p->blocks[i].bytes) / p->chunk;
        while (end > first && chunks > 0)
            if (p->handles[--end] != 0) {
                unback(p, end);
                chunks--;
            }
    }
}

static bool back(pool *p, uint64_t chunk)
{
    const CUdeviceptr at = p->base + chunk * p->chunk;
    CUmemAllocationProp prop = allocation_of(p->device->index);
    CUmemAccessDesc access;
    CUmemGenericAllocationHandle handle;
    access.location = prop.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    if (p->call.create(&handle, p->chunk, &prop, 0) != CUDA_SUCCESS)
        return false;
    if (p->call.map(at, p->chunk, 0, handle, 0) != CUDA_SUCCESS) {
        (void)p->call.release(handle);
        return false;
    }
    if (p->call.set_access(at, p->chunk, &access, 1) != CUDA_SUCCESS) {
        (void)p->call.unmap(at, p->chunk);
        (void)p->call.release(handle);
        return false;
    }
    p->handles[chunk] = handle;
    p->held += p->chunk;
    if (p->held > p->peak_held)
        p->peak_held = p->held;
    return true;
}

// The chunks under [offset, offset + bytes) that are not backed.
static uint64_t missing(const pool *p, uint64_t offset, uint64_t bytes)
{
    uint64_t count = 0;
    for (uint64_t chunk = offset / p->chunk; chunk * p->chunk < offset + bytes; chunk++)
        count += p->handles[chunk] == 0;
    return count;
}

// Backs [offset, offset + bytes), which is no block that unback_free may take chunks from.
static bool back_range(pool *p, uint64_t offset, uint64_t bytes)
{
    const uint64_t count = missing(p, offset, bytes);
    struct cuzk_account account;
    if (p->device->budget != NULL && count != 0) {
        cuzk_budget_read(p->device->budget, &account);
        const uint64_t after = p->held + count * p->chunk;
        if (after > account.limit)
            unback_free(p, (after - account.limit + p->chunk - 1) / p->chunk);
    }
    for (uint64_t chunk = offset / p->chunk; chunk * p->chunk < offset + bytes; chunk++) {
        if (p->handles[chunk] != 0 || back(p, chunk))
            continue;
        unback_free(p, missing(p, offset, bytes)); // the driver may have had none left
        if (!back(p, chunk))
            return false; // what was backed serves the next call
    }
    return true;
}

// Makes block `at`, if it is the last, end at least at `end`; a new last block if `at` is none.
static bool extend(pool *p, size_t at, uint64_t end)
{
    if (end > p->reserved)
        return false;
    end = (end + p->chunk - 1) / p->chunk * p->chunk;
    if (end <= p->top)
        return true;
    if (at == p->block_count &&
        !insert_block(p, at, block{p->top, 0, true, CUZK_PURPOSE_OTHER, false}))
        return false;
    p->blocks[at].bytes += end - p->top;
    p->top = end;
    return true;
}

static void join_neighbours(pool *p, size_t i)
{
    if (i + 1 < p->block_count && p->blocks[i + 1].free) {
        p->blocks[i].bytes += p->blocks[i + 1].bytes;
        remove_block(p, i + 1);
    }
    if (i > 0 && p->blocks[i - 1].free) {
        p->blocks[i - 1].bytes += p->blocks[i].bytes;
        remove_block(p, i);
    }
}

static bool take(pool *p, void **out, enum cuzk_purpose purpose, uint64_t bytes)
{
    // Least to back, then the smallest; at the end of all blocks there is always room to try.
    const size_t count = p->block_count;
    const bool tail = count > 0 && p->blocks[count - 1].free;
    size_t best = tail ? count - 1 : count;
    const uint64_t end_at = tail ? p->blocks[best].offset : p->top;
    uint64_t best_missing = end_at + bytes <= p->reserved ? missing(p, end_at, bytes) : UINT64_MAX;
    for (size_t i = 0; i < count; i++) {
        if (!p->blocks[i].free || p->blocks[i].bytes < bytes)
            continue;
        const uint64_t to_back = missing(p, p->blocks[i].offset, bytes);
        if (to_back < best_missing ||
            (to_back == best_missing && (best == count || p->blocks[best].bytes < bytes ||
                                         p->blocks[i].bytes < p->blocks[best].bytes))) {
            best = i;
            best_missing = to_back;
        }
    }
    if (best_missing == UINT64_MAX ||
        !extend(p, best, (best == count ? p->top : p->blocks[best].offset) + bytes))
        return false;
    if (p->blocks[best].bytes > bytes) {
        const block rest = {p->blocks[best].offset + bytes, p->blocks[best].bytes - bytes, true,
                            CUZK_PURPOSE_OTHER, false};
        if (!insert_block(p, best + 1, rest))
            return false;
        p->blocks[best].bytes = bytes;
    }
    block *b = &p->blocks[best];
    b->free = false;
    b->purpose = purpose;
    b->guarded = p->guard;
    if (!back_range(p, b->offset, bytes)) {
        b->free = true;
        join_neighbours(p, best);
        return false;
    }
    p->used += bytes;
    if (p->used > p->peak_used)
        p->peak_used = p->used;
    *out = (void *)(p->base + b->offset);
    return true;
}

// Work on other streams starts when this has ended.
static cuzk_status set_guard(struct cuzk_cuda *device, void *buffer, uint64_t bytes,
                             struct cuzk_error *err)
{
    CUZK_CUDA(cudaMemset(buffer, fresh_byte, bytes - granule));
    CUZK_CUDA(cudaMemset((uint8_t *)buffer + bytes - granule, guard_byte, granule));
    CUZK_CUDA(cudaStreamSynchronize(0));
    return CUZK_OK;
}

// Whoever frees has waited for the work on the buffer.
static void look_at_guard(pool *p, const block *b)
{
    uint8_t guard[granule];
    if (p->device->lost || make_current(p->device, NULL) != CUZK_OK ||
        cudaMemcpy(guard, (const void *)(p->base + b->offset + b->bytes - granule), granule,
                   cudaMemcpyDeviceToHost) != cudaSuccess)
        return;
    for (uint64_t i = 0; i < granule; i++)
        if (guard[i] != guard_byte) {
            p->overrun++;
            return;
        }
}

} // namespace cuzk

using namespace cuzk;

extern "C" cuzk_status cuzk_cuda_alloc(struct cuzk_cuda *device, void **out,
                                       enum cuzk_purpose purpose, uint64_t bytes,
                                       struct cuzk_error *err)
{
    pool *p = device->memory;
    *out = NULL;
    if (bytes > UINT64_MAX / 2)
        bytes = UINT64_MAX / 2; // refused below; but rounded up it would be little
    bytes = bytes ? (bytes + granule - 1) / granule * granule : granule;
    if (p->guard)
        bytes += granule;
    CUZK_TRY(make_current(device, err));
    CUZK_TRY(cuzk_budget_reserve(device->budget, purpose, bytes, err));
    if (!take(p, out, purpose, bytes)) {
        cuzk_budget_release(device->budget, purpose, bytes);
        size_t free_bytes = 0, total = 0;
        CUZK_CUDA(cudaMemGetInfo(&free_bytes, &total)); // a dead context has no memory either
        return cuzk_fail(
            err, CUZK_E_DEVICE_MEMORY,
            "cuda:%d: %llu bytes for %s required, %llu available (%llu free on the device, "
            "%llu in the pool, in pieces)",
            device->index, (unsigned long long)bytes, cuzk_purpose_name(purpose),
            (unsigned long long)(free_bytes + p->held - p->used), (unsigned long long)free_bytes,
            (unsigned long long)(p->held - p->used));
    }
    cuzk_status status = p->guard ? set_guard(device, *out, bytes, err) : CUZK_OK;
    if (status != CUZK_OK) {
        cuzk_cuda_free(device, *out);
        *out = NULL;
    }
    return status;
}

extern "C" void cuzk_cuda_free(struct cuzk_cuda *device, void *address)
{
    pool *p = device->memory;
    if (address == NULL)
        return;
    uint64_t offset = (CUdeviceptr)address - p->base;
    size_t i = 0;
    while (i < p->block_count && p->blocks[i].offset != offset)
        i++;
    if (i == p->block_count || p->blocks[i].free)
        return;
    if (p->blocks[i].guarded)
        look_at_guard(p, &p->blocks[i]);
    cuzk_budget_release(device->budget, p->blocks[i].purpose, p->blocks[i].bytes);
    p->used -= p->blocks[i].bytes;
    p->blocks[i].free = true;
    join_neighbours(p, i);
}

extern "C" void cuzk_cuda_memory_read(const struct cuzk_cuda *device, struct cuzk_cuda_memory *out)
{
    out->held = device->memory->held;
    out->used = device->memory->used;
}

extern "C" cuzk_status cuzk_cuda_driver_used(const struct cuzk_cuda *opened, uint64_t *bytes,
                                             struct cuzk_error *err)
{
    // For errors; not the opened one, which a failure would mark as lost, on a thread not its own.
    struct cuzk_cuda unopened = {}, *device = &unopened;
    size_t free_bytes = 0, total = 0;
    *bytes = 0;
    device->index = opened->index;
    CUZK_CUDA(cudaSetDevice(opened->index));
    CUZK_CUDA(cudaMemGetInfo(&free_bytes, &total));
    *bytes = total - free_bytes;
    return CUZK_OK;
}

extern "C" cuzk_status cuzk_cuda_account_read(struct cuzk_cuda *device,
                                              struct cuzk_cuda_account *out, struct cuzk_error *err)
{
    const pool *p = device->memory;
    memset(out, 0, sizeof *out);
    out->used = p->used;
    out->held = p->held;
    out->peak_used = p->peak_used;
    out->peak_held = p->peak_held;
    out->baseline = p->baseline;
    out->overrun = p->overrun;
    return cuzk_cuda_driver_used(device, &out->driver, err);
}

cuzk_status cuzk::pool_settle(pool *p, struct cuzk_error *err)
{
    unback_free(p, UINT64_MAX);
    cuzk_cuda_account_restart(p->device);
    CUZK_TRY(cuzk_cuda_driver_used(p->device, &p->baseline, err));
    p->baseline -= p->held;
    p->settled = true;
    return CUZK_OK;
}

extern "C" void cuzk_cuda_guard(struct cuzk_cuda *device)
{
    device->memory->guard = true;
}

extern "C" void cuzk_cuda_account_restart(struct cuzk_cuda *device)
{
    device->memory->peak_used = device->memory->used;
    device->memory->peak_held = device->memory->held;
}

extern "C" void cuzk_cuda_trim(struct cuzk_cuda *device)
{
    if (make_current(device, NULL) == CUZK_OK)
        unback_free(device->memory, UINT64_MAX);
}
