// The device's memory pool over a driver that is only counted, so without a device: what it hands
// out never overlaps and is always backed, the account is right, it holds no more than the budget
// where chunks can be given back, what goes back is cleared, and it survives a driver that refuses.
#include <cuda.h>
#include <cuda_runtime.h>

#include "cuda_test.h"

// A driver of `physical` chunks: which are mapped where.
static const uint64_t chunk = 64ull << 20, slots = 512;
static struct {
    bool mapped[slots], accessible[slots], cleared[slots];
    uint64_t created, mapped_count, physical, next, calls, refuse_at;
} fake;
static const CUdeviceptr range = 0x700000000000ull;

static bool refused(void)
{
    return ++fake.calls == fake.refuse_at;
}
static CUresult fake_reserve(CUdeviceptr *p, size_t, size_t, CUdeviceptr, unsigned long long)
{
    *p = range;
    return CUDA_SUCCESS;
}
static CUresult fake_unreserve(CUdeviceptr, size_t)
{
    return CUDA_SUCCESS;
}
static CUresult fake_create(CUmemGenericAllocationHandle *h, size_t bytes,
                            const CUmemAllocationProp *, unsigned long long)
{
    if (bytes != chunk || fake.created == fake.physical || refused())
        return CUDA_ERROR_OUT_OF_MEMORY;
    fake.created++;
    *h = ++fake.next;
    return CUDA_SUCCESS;
}
static CUresult fake_release(CUmemGenericAllocationHandle)
{
    fake.created--;
    return CUDA_SUCCESS;
}
static CUresult fake_map(CUdeviceptr p, size_t, size_t, CUmemGenericAllocationHandle,
                         unsigned long long)
{
    const uint64_t i = (p - range) / chunk;
    test_result(i < slots && !fake.mapped[i], "a chunk is mapped twice or outside of the range");
    if (refused())
        return CUDA_ERROR_UNKNOWN;
    fake.mapped[i] = true;
    fake.mapped_count++;
    return CUDA_SUCCESS;
}
static CUresult fake_unmap(CUdeviceptr p, size_t)
{
    const uint64_t i = (p - range) / chunk;
    test_result(fake.mapped[i], "a chunk is unmapped that was not mapped");
    test_result(!fake.accessible[i] || fake.cleared[i], "a chunk is unmapped with what it held");
    fake.mapped[i] = fake.accessible[i] = false;
    fake.mapped_count--;
    return CUDA_SUCCESS;
}
static CUresult fake_access(CUdeviceptr p, size_t, const CUmemAccessDesc *, size_t)
{
    if (refused())
        return CUDA_ERROR_UNKNOWN;
    fake.accessible[(p - range) / chunk] = true;
    fake.cleared[(p - range) / chunk] = false;
    return CUDA_SUCCESS;
}
static cudaError_t fake_entry(const char *name, void **p, unsigned, unsigned long long,
                              cudaDriverEntryPointQueryResult *found)
{
    const struct {
        const char *name;
        void *function;
    } functions[] = {{"cuMemAddressReserve", (void *)fake_reserve},
                     {"cuMemAddressFree", (void *)fake_unreserve},
                     {"cuMemCreate", (void *)fake_create},
                     {"cuMemRelease", (void *)fake_release},
                     {"cuMemMap", (void *)fake_map},
                     {"cuMemUnmap", (void *)fake_unmap},
                     {"cuMemSetAccess", (void *)fake_access}};
    *found = cudaDriverEntryPointSymbolNotFound;
    for (const auto &f : functions)
        if (strcmp(f.name, name) == 0) {
            *p = f.function;
            *found = cudaDriverEntryPointSuccess;
        }
    return cudaSuccess;
}
static cudaError_t fake_info(size_t *free_bytes, size_t *total)
{
    *free_bytes = (size_t)((fake.physical - fake.created) * chunk);
    *total = (size_t)(fake.physical * chunk);
    return cudaSuccess;
}
static cudaError_t fake_memset(void *to, int value, size_t bytes, cudaStream_t)
{
    const uint64_t i = ((CUdeviceptr)to - range) / chunk;
    test_result(fake.accessible[i] && value == 0 && bytes == chunk, "not a chunk is cleared");
    fake.cleared[i] = true;
    return cudaSuccess;
}
static cudaError_t fake_nothing(void)
{
    return cudaSuccess;
}

#define cudaGetDriverEntryPointByVersion fake_entry
#define cudaMemGetInfo fake_info
#define cudaDeviceSynchronize fake_nothing
#define cudaSetDevice(index) fake_nothing()
#define cudaStreamSynchronize(stream) fake_nothing()
#define cudaMemsetAsync fake_memset
#include "device/cuda/pool.cu"
#undef cudaGetDriverEntryPointByVersion
#undef cudaMemGetInfo
#undef cudaDeviceSynchronize
#undef cudaSetDevice
#undef cudaStreamSynchronize
#undef cudaMemsetAsync

// of device.cu, which has the real driver
cuzk_status cuzk::cuda_failed(struct cuzk_cuda *, cudaError_t, const char *call,
                              struct cuzk_error *err)
{
    return cuzk_fail(err, CUZK_E_DEVICE, "%s", call);
}
cuzk_status cuzk::make_current(struct cuzk_cuda *, struct cuzk_error *)
{
    return CUZK_OK;
}

struct buffer {
    uint64_t at, bytes;
};
enum { MOST = 40 };
static buffer buffers[MOST];
static unsigned live;

static void check(struct cuzk_cuda *device, const char *when, bool grown)
{
    uint64_t used = 0, covered = 0; // covered: chunks that hold a part of a buffer
    bool good = true, cover[slots] = {};
    for (unsigned i = 0; i < live; i++) {
        used += buffers[i].bytes;
        for (uint64_t c = buffers[i].at / chunk; c * chunk < buffers[i].at + buffers[i].bytes;
             c++) {
            good = good && fake.mapped[c] && fake.accessible[c];
            covered += !cover[c];
            cover[c] = true;
        }
        for (unsigned j = 0; j < i; j++)
            good = good && (buffers[i].at + buffers[i].bytes <= buffers[j].at ||
                            buffers[j].at + buffers[j].bytes <= buffers[i].at);
    }
    struct cuzk_cuda_account a;
    struct cuzk_account account;
    TEST_OK(cuzk_cuda_account_read(device, &a, err));
    cuzk_budget_read(device->budget, &account);
    test_result(good, "%s: buffers overlap or are not backed", when);
    test_result(a.used == used && account.used == used, "%s: %llu bytes used, %llu counted", when,
                (unsigned long long)used, (unsigned long long)a.used);
    test_result(a.held == fake.mapped_count * chunk && fake.created == fake.mapped_count,
                "%s: %llu chunks mapped, %llu made, %llu bytes held", when,
                (unsigned long long)fake.mapped_count, (unsigned long long)fake.created,
                (unsigned long long)a.held);
    test_result(a.driver == a.held && a.baseline == 0, "%s: the driver's count", when);
    // once chunks are made, nothing beyond the limit but what buffers lie on
    const uint64_t most = account.limit / chunk > covered ? account.limit / chunk : covered;
    test_result(!grown || fake.mapped_count <= most,
                "%s: %llu chunks held, %llu covered, limit %llu bytes", when,
                (unsigned long long)fake.mapped_count, (unsigned long long)covered,
                (unsigned long long)account.limit);
}

static bool take_one(struct cuzk_cuda *device, uint64_t bytes)
{
    void *p;
    struct cuzk_error record;
    if (cuzk_cuda_alloc(device, &p, CUZK_PURPOSE_OTHER, bytes, &record) != CUZK_OK)
        return false;
    buffers[live].at = (CUdeviceptr)p - range;
    buffers[live++].bytes = bytes ? (bytes + 511) / 512 * 512 : 512;
    return true;
}
static void free_one(struct cuzk_cuda *device, unsigned i)
{
    cuzk_cuda_free(device, (void *)(range + buffers[i].at));
    buffers[i] = buffers[--live];
}

static void open_pool(struct cuzk_cuda *device, uint64_t physical, uint64_t limit)
{
    memset(device, 0, sizeof *device);
    memset(&fake, 0, sizeof fake);
    fake.physical = physical;
    live = 0;
    TEST_OK(cuzk_budget_create(&device->budget, "cuda:0", limit, NULL, err));
    TEST_OK(pool_create(&device->memory, device, err));
    TEST_OK(pool_settle(device->memory, err));
}
static void close_pool(struct cuzk_cuda *device)
{
    pool_destroy(device->memory);
    struct cuzk_account account;
    cuzk_budget_read(device->budget, &account);
    test_result(fake.created == 0 && fake.mapped_count == 0 && account.used == 0,
                "%llu chunks stay made, %llu mapped, %llu bytes charged",
                (unsigned long long)fake.created, (unsigned long long)fake.mapped_count,
                (unsigned long long)account.used);
    cuzk_budget_destroy(device->budget);
}

// Random buffers; refuse_each: a call of the driver refuses now and then.
static void random_run(uint64_t physical, uint64_t limit, bool refuse_each)
{
    struct cuzk_cuda device;
    open_pool(&device, physical, limit);
    for (int step = 0; step < 4000; step++) {
        bool grown = false;
        if (refuse_each && fake.refuse_at <= fake.calls)
            fake.refuse_at = fake.calls + 1 + test_random() % 40;
        if (live == MOST || (live > 0 && test_random() % 5 < 2)) {
            free_one(&device, (unsigned)(test_random() % live));
        } else {
            const unsigned scale = (unsigned)(test_random() % 31);
            const uint64_t made = fake.next;
            grown = take_one(&device, test_random() % (1ull << scale)) && fake.next != made;
        }
        if (test_random() % 200 == 0)
            cuzk_cuda_trim(&device);
        check(&device, "a random run", grown);
    }
    close_pool(&device);
}

// As a proof with little memory: buffers with a gap between them, and one that fits neither gap nor
// end. Forty chunks are all, by the budget or because the driver has no more.
static void gap(uint64_t physical, uint64_t limit)
{
    struct cuzk_cuda device;
    open_pool(&device, physical, limit);
    for (int i = 0; i < 4; i++)
        test_result(take_one(&device, 10 * chunk), "ten chunks of forty");
    test_result(!take_one(&device, 512), "a buffer beyond the forty");
    free_one(&device, 0);
    free_one(&device, 0); // the last one took its place: [0, 10) and [30, 40) are free
    test_result(live == 2 && buffers[0].at == 20 * chunk && buffers[1].at == 10 * chunk, "a gap");
    test_result(!take_one(&device, 21 * chunk), "twenty-one chunks where twenty are free");
    check(&device, "a refusal", true);
    test_result(take_one(&device, 19 * chunk), "nineteen chunks");
    check(&device, "a gap given back", true);
    test_result(fake.mapped_count <= 40, "%llu chunks mapped of 40",
                (unsigned long long)fake.mapped_count);
    const uint64_t calls = fake.calls;
    free_one(&device, live - 1);
    test_result(take_one(&device, 19 * chunk), "the same again");
    test_result(fake.calls == calls, "the driver is asked in the steady state");
    while (live > 0)
        free_one(&device, 0);
    test_result(take_one(&device, 40 * chunk), "all of it as one");
    check(&device, "all of it", true);
    close_pool(&device);
}

// Sizes and addresses that no one should ask for, and the budget used to its last byte.
static void edges(void)
{
    struct cuzk_cuda device;
    open_pool(&device, 200, 2 * chunk);
    for (int i = 0; i < 2; i++)
        test_result(!take_one(&device, UINT64_MAX - (uint64_t)i * 511), "all bytes there are");
    test_result(!take_one(&device, 2 * chunk + 1), "a byte more than the budget");
    test_result(take_one(&device, 0) && take_one(&device, 0), "no bytes");
    check(&device, "no bytes", false);
    test_result(!take_one(&device, 2 * chunk - 1024 + 1), "a byte more than is left");
    test_result(take_one(&device, 2 * chunk - 1024), "all that is left");
    check(&device, "all that is left", false);
    const uint64_t foreign[] = {0, range - 512, range + 1, range + 1024 + 512, range + 4 * chunk};
    for (uint64_t address : foreign)
        cuzk_cuda_free(&device, (void *)address);
    check(&device, "foreign addresses", false);
    const buffer freed = buffers[0];
    free_one(&device, 0);
    cuzk_cuda_free(&device, (void *)(range + freed.at));
    check(&device, "freed twice", false);
    close_pool(&device);
    // The kernels' offsets reach no further than this, however much memory there is.
    const uint64_t reach = ((uint64_t)1 << 32) * 48, sizes[] = {1, 1535, 1536, 3072, 3073, 10000};
    for (uint64_t physical : sizes) {
        open_pool(&device, physical, UINT64_MAX);
        const uint64_t reserved = device.memory->reserved, all = physical * chunk;
        test_result(reserved <= reach && reserved >= (all < reach ? all : reach),
                    "%llu bytes of addresses for %llu of memory", (unsigned long long)reserved,
                    (unsigned long long)all);
        close_pool(&device);
    }
}

int main(void)
{
    const char *seed = getenv("CUZK_TEST_SEED");
    if (seed != NULL)
        test_state = strtoull(seed, NULL, 0);
    printf("CUZK_TEST_SEED=%llu\n", (unsigned long long)test_state);
    edges();
    test_fold("edges");
    gap(128, 40 * chunk);
    test_fold("a gap, bounded by the budget");
    gap(40, UINT64_MAX);
    test_fold("a gap, bounded by the memory");
    random_run(200, UINT64_MAX, false);
    test_fold("random, room for all");
    random_run(12, UINT64_MAX, false);
    test_fold("random, little memory");
    random_run(200, 12 * chunk, false);
    test_fold("random, a small budget");
    random_run(200, UINT64_MAX, true);
    test_fold("random, a driver that refuses");
    random_run(20, 16 * chunk, true);
    test_fold("random, little of all and a driver that refuses");
    return test_end();
}
