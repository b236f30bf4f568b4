// Opening and closing a device, its streams, copies through pinned staging, and errors.
#include <stdio.h>
#include <string.h>

#include "device.cuh"

using namespace cuzk;

unsigned cuzk::contexts[64];

cuzk_status cuzk::cuda_failed(struct cuzk_cuda *device, cudaError_t code, const char *call,
                              struct cuzk_error *err)
{
    // What survives a reset of the error state is sticky: the context is dead.
    (void)cudaGetLastError();
    bool sticky = cudaPeekAtLastError() != cudaSuccess || cudaStreamQuery(0) == code;
    (void)cudaGetLastError();
    if (code == cudaErrorMemoryAllocation)
        return cuzk_fail(err, CUZK_E_DEVICE_MEMORY, "cuda:%d: %s: %s", device->index, call,
                         cudaGetErrorString(code));
    if (!sticky)
        return cuzk_fail(err, CUZK_E_DEVICE, "cuda:%d: %s: %s", device->index, call,
                         cudaGetErrorString(code));
    device->lost = true;
    return cuzk_fail(err, CUZK_E_DEVICE_LOST,
                     "cuda:%d: %s: %s; the device is lost to this process: start the program anew",
                     device->index, call, cudaGetErrorString(code));
}

cuzk_status cuzk::make_current(struct cuzk_cuda *device, struct cuzk_error *err)
{
    if (device->lost)
        return cuzk_fail(err, CUZK_E_DEVICE_LOST,
                         "cuda:%d: lost by an earlier error: start the program anew",
                         device->index);
    CUZK_CUDA(cudaSetDevice(device->index));
    return CUZK_OK;
}

extern "C" cuzk_status cuzk_cuda_find(int *count, char absent[120], struct cuzk_error *err)
{
    int driver = 0, needed = 0;
    *count = 0;
    absent[0] = '\0';
    const cudaError_t code = cudaGetDeviceCount(count);
    if (code == cudaSuccess && *count > 0)
        return CUZK_OK;
    (void)cudaGetLastError();
    *count = 0;
    // Without a driver the runtime finds its version, 0, insufficient.
    if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) {
        (void)cudaGetLastError();
        snprintf(absent, 120, "there is no NVIDIA driver");
        return CUZK_OK;
    }
    if (code == cudaSuccess || code == cudaErrorNoDevice) {
        snprintf(absent, 120, "the driver shows no device");
        return CUZK_OK;
    }
    if (code == cudaErrorInsufficientDriver && cudaRuntimeGetVersion(&needed) == cudaSuccess)
        return cuzk_fail(err, CUZK_E_DEVICE,
                         "cuda: the driver is one for CUDA %d.%d, this build needs %d.%d: update "
                         "the driver",
                         driver / 1000, driver % 1000 / 10, needed / 1000, needed % 1000 / 10);
    return cuzk_fail(err, CUZK_E_DEVICE, "cuda: cudaGetDeviceCount: %s", cudaGetErrorString(code));
}

extern "C" int cuzk_cuda_count(void)
{
    int count;
    char absent[120];
    struct cuzk_error ignored;
    (void)cuzk_cuda_find(&count, absent, &ignored);
    return count;
}

extern "C" cuzk_status cuzk_cuda_describe(struct cuzk_cuda_description *out, int index,
                                          struct cuzk_error *err)
{
    struct cuzk_cuda unopened = {}, *device = &unopened; // for errors
    cudaDeviceProp prop;
    memset(out, 0, sizeof *out);
    if (index < 0 || index >= cuzk_cuda_count())
        return cuzk_fail(err, CUZK_E_NOT_FOUND, "no CUDA device %d (%d are visible)", index,
                         cuzk_cuda_count());
    device->index = index;
    CUZK_CUDA(cudaGetDeviceProperties(&prop, index));
    snprintf(out->name, sizeof out->name, "%.127s", prop.name);
    const unsigned char *u = (const unsigned char *)prop.uuid.bytes;
    char *p = out->uuid;
    p += sprintf(p, "GPU-");
    for (int i = 0; i < 16; i++)
        p += sprintf(p, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", u[i]);
    out->index = index;
    out->major = prop.major;
    out->minor = prop.minor;
    out->multiprocessors = prop.multiProcessorCount;
    out->memory = prop.totalGlobalMem;
    return CUZK_OK;
}

extern "C" cuzk_status cuzk_cuda_free_memory(uint64_t *bytes, int index, struct cuzk_error *err)
{
    struct cuzk_cuda unopened = {}, *device = &unopened; // for errors
    size_t free_bytes, total;
    *bytes = 0;
    device->index = index;
    CUZK_CUDA(cudaSetDevice(index));
    CUZK_CUDA(cudaMemGetInfo(&free_bytes, &total));
    *bytes = free_bytes;
    return CUZK_OK;
}

static cuzk_status open_parts(struct cuzk_cuda *device, struct cuzk_error *err)
{
    int low, high;
    CUZK_CUDA(cudaSetDevice(device->index));
    CUZK_CUDA(cudaDeviceGetAttribute(&device->multiprocessors, cudaDevAttrMultiProcessorCount,
                                     device->index));
    CUZK_CUDA(cudaDeviceGetStreamPriorityRange(&low, &high));
    CUZK_CUDA(cudaStreamCreateWithPriority(&device->main, cudaStreamNonBlocking, high));
    CUZK_CUDA(cudaStreamCreateWithPriority(&device->side, cudaStreamNonBlocking, low));
    CUZK_CUDA(cudaStreamCreateWithPriority(&device->side2, cudaStreamNonBlocking, low));
    cudaEvent_t *events[] = {&device->fork,
                             &device->join,
                             &device->list_planned[0],
                             &device->list_planned[1],
                             &device->list_done[0],
                             &device->list_done[1],
                             &device->staged[0],
                             &device->staged[1]};
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        CUZK_CUDA(cudaEventCreateWithFlags(events[i], cudaEventDisableTiming));
    for (int i = 0; i < max_windows; i++)
        CUZK_CUDA(cudaEventCreateWithFlags(&device->totals_copied[i], cudaEventDisableTiming));
    CUZK_CUDA(cudaMallocHost((void **)&device->totals, totals_bytes));
    CUZK_CUDA(cudaMallocHost((void **)&device->staging, 2 * staging_bytes));
    CUZK_CUDA(cudaMallocHost(&device->results, results_bytes));
    return pool_create(&device->memory, device, err);
}

// The driver takes memory for a kernel's code and stack when the kernel is first launched, and
// keeps it. The largest stack is that of G2's multi-exponentiations; it is taken now, by one of a
// single point at infinity, so that what the driver holds beside the pool is known from the start.
static cuzk_status settle(struct cuzk_cuda *device, struct cuzk_error *err)
{
    const uint64_t point = sizeof(struct bls12_381_g2_affine);
    void *zeros = NULL;
    struct bls12_381_g2 sum;
    cuzk_status status = cuzk_cuda_alloc(device, &zeros, CUZK_PURPOSE_OTHER,
                                         point + sizeof(struct bls12_381_fr), err);
    if (status == CUZK_OK)
        status = cuzk_cuda_clear(device, zeros, point + sizeof(struct bls12_381_fr), err);
    if (status == CUZK_OK)
        status =
            cuzk_cuda_msm_g2(device, &sum, zeros, NULL, (const uint8_t *)zeros + point, 1, err);
    cuzk_cuda_free(device, zeros);
    return status == CUZK_OK ? pool_settle(device->memory, err) : status;
}

extern "C" cuzk_status cuzk_cuda_open(struct cuzk_cuda **out, int index, struct cuzk_budget *budget,
                                      struct cuzk_error *err)
{
    *out = NULL;
    if (index < 0 || index >= cuzk_cuda_count())
        return cuzk_fail(err, CUZK_E_NOT_FOUND, "no CUDA device %d (%d are visible)", index,
                         cuzk_cuda_count());
    struct cuzk_cuda *device = (struct cuzk_cuda *)cuzk_calloc(1, sizeof *device);
    if (device == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "no memory for the record of cuda:%d", index);
    device->index = index;
    device->budget = budget;
    cuzk_status status = open_parts(device, err);
    if (status == CUZK_OK)
        status = settle(device, err);
    if (status != CUZK_OK) {
        cuzk_cuda_close(device);
        return status;
    }
    *out = device;
    return CUZK_OK;
}

extern "C" void cuzk_cuda_close(struct cuzk_cuda *device)
{
    if (device == NULL)
        return;
    (void)cudaSetDevice(device->index);
    (void)cudaDeviceSynchronize();
    if (device->memory != NULL && device->twiddles != NULL)
        cuzk_cuda_free(device, device->twiddles);
    pool_destroy(device->memory);
    cudaEvent_t events[] = {device->fork,
                            device->join,
                            device->list_planned[0],
                            device->list_planned[1],
                            device->list_done[0],
                            device->list_done[1],
                            device->staged[0],
                            device->staged[1]};
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (events[i] != NULL)
            (void)cudaEventDestroy(events[i]);
    for (int i = 0; i < max_windows; i++)
        if (device->totals_copied[i] != NULL)
            (void)cudaEventDestroy(device->totals_copied[i]);
    cudaStream_t streams[] = {device->main, device->side, device->side2};
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++)
        if (streams[i] != NULL)
            (void)cudaStreamDestroy(streams[i]);
    if (device->staging != NULL) // witnesses went through it
        cuzk_wipe(device->staging, 2 * staging_bytes);
    (void)cudaFreeHost(device->totals);
    (void)cudaFreeHost(device->staging);
    (void)cudaFreeHost(device->results);
    // A dead context stays the process's until it is destroyed, and its memory stays taken. Whoever
    // else has this device open in the process has lost it as well.
    if (device->lost && cudaDeviceReset() == cudaSuccess)
        __atomic_add_fetch(&contexts[device->index % 64], 1, __ATOMIC_RELAXED);
    (void)cudaGetLastError();
    cuzk_free(device);
}

extern "C" void cuzk_cuda_copy_with(struct cuzk_cuda *device, cuzk_cuda_copy *copy, void *context)
{
    device->copy = copy;
    device->copy_context = context;
}

extern "C" uint64_t cuzk_cuda_pinned_bytes(void)
{
    return totals_bytes + 2 * staging_bytes + results_bytes;
}

extern "C" cuzk_status cuzk_cuda_upload(struct cuzk_cuda *device, void *to, const void *from,
                                        uint64_t bytes, struct cuzk_error *err)
{
    CUZK_TRY(make_current(device, err));
    int half = 0;
    for (uint64_t done = 0; done < bytes; half ^= 1) {
        size_t part = bytes - done < staging_bytes ? (size_t)(bytes - done) : staging_bytes;
        uint8_t *stage = device->staging + half * staging_bytes;
        CUZK_CUDA(cudaEventSynchronize(device->staged[half]));
        if (device->copy != NULL && part >= (size_t)1 << 20)
            device->copy(device->copy_context, stage, (const uint8_t *)from + done, part);
        else
            memcpy(stage, (const uint8_t *)from + done, part);
        CUZK_CUDA(cudaMemcpyAsync((uint8_t *)to + done, stage, part, cudaMemcpyHostToDevice,
                                  device->main));
        CUZK_CUDA(cudaEventRecord(device->staged[half], device->main));
        done += part;
    }
    CUZK_CUDA(cudaStreamSynchronize(device->main));
    return CUZK_OK;
}

extern "C" cuzk_status cuzk_cuda_download(struct cuzk_cuda *device, void *to, const void *from,
                                          uint64_t bytes, struct cuzk_error *err)
{
    CUZK_TRY(make_current(device, err));
    size_t last = 0;
    uint64_t done = 0, last_at = 0;
    int half = 0;
    while (done < bytes || last != 0) {
        size_t part = 0;
        if (done < bytes) {
            part = bytes - done < staging_bytes ? (size_t)(bytes - done) : staging_bytes;
            CUZK_CUDA(cudaMemcpyAsync(device->staging + half * staging_bytes,
                                      (const uint8_t *)from + done, part, cudaMemcpyDeviceToHost,
                                      device->main));
            CUZK_CUDA(cudaEventRecord(device->staged[half], device->main));
        }
        if (last != 0) {
            CUZK_CUDA(cudaEventSynchronize(device->staged[half ^ 1]));
            memcpy((uint8_t *)to + last_at, device->staging + (half ^ 1) * staging_bytes, last);
        }
        last = part;
        last_at = done;
        done += part;
        half ^= 1;
    }
    return CUZK_OK;
}

extern "C" cuzk_status cuzk_cuda_clear(struct cuzk_cuda *device, void *p, uint64_t bytes,
                                       struct cuzk_error *err)
{
    CUZK_TRY(make_current(device, err));
    CUZK_CUDA(cudaMemsetAsync(p, 0, bytes, device->main));
    CUZK_CUDA(cudaStreamSynchronize(device->main));
    return CUZK_OK;
}
