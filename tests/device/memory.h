/* A context's memory beside its proofs: the account of each CUDA device against what the driver
 * says, and all of it flat from proof to proof.
 *
 * A watch asks the driver from a thread of its own while the device works and keeps the highest
 * answer. Asking costs the driver a lock, so runs whose time matters go without.
 */
#ifndef CUZK_TESTS_DEVICE_MEMORY_H
#define CUZK_TESTS_DEVICE_MEMORY_H

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/os.h"
#include "cuda_test.h"
#include "device/cuda/account.h"
#include "device/cuda/backend.h"
#include "groth16/groth16.h"

enum { TEST_DEVICES = 16 };

struct watch {
    const struct cuzk_cuda *device;
    pthread_t thread;
    atomic_bool stop;
    bool running;
    _Atomic uint64_t highest, samples;
};

static void *watch_body(void *context)
{
    struct watch *w = context;
    const struct timespec pause = {0, 2000000};
    while (!atomic_load(&w->stop)) {
        uint64_t now;
        if (cuzk_cuda_driver_used(w->device, &now, NULL) != CUZK_OK)
            break;
        if (now > atomic_load(&w->highest))
            atomic_store(&w->highest, now);
        (void)atomic_fetch_add(&w->samples, 1);
        (void)nanosleep(&pause, NULL);
    }
    return NULL;
}

static inline void watch_start(struct watch *w, const struct cuzk_cuda *device)
{
    w->device = device;
    w->running = pthread_create(&w->thread, NULL, watch_body, w) == 0;
}

/* Before the device is closed; tolerates a watch that never started. */
static inline void watch_stop(struct watch *w)
{
    atomic_store(&w->stop, true);
    if (w->running)
        (void)pthread_join(w->thread, NULL);
    w->running = false;
}

/* Whether what the account says agrees with the driver: within 3 % and 64 MiB. */
static inline bool watch_agrees(uint64_t account, uint64_t driver)
{
    const uint64_t room = driver / 100 * 3 + ((uint64_t)64 << 20);
    return (account > driver ? account - driver : driver - account) <= room;
}

static inline double mib(uint64_t bytes)
{
    return (double)bytes / 1048576.0;
}

/* NULL for the processor */
static inline struct cuzk_cuda *memory_cuda(const struct cuzk_context *context, size_t i)
{
    if (i >= context->device_count || i >= TEST_DEVICES ||
        strcmp(context->devices[i]->ops->backend, "cuda") != 0)
        return NULL;
    return cuda_of(context->devices[i])->cuda;
}

static inline void memory_agree(uint64_t account, uint64_t driver, const char *name,
                                const char *when)
{
    test_result(watch_agrees(account, driver),
                "%s, %s: account and baseline are %.1f MiB, the driver says %.1f (it counts other "
                "processes on the device too: run alone)",
                name, when, mib(account), mib(driver));
}

/* What a device and the host hold after a proof. */
struct level {
    struct cuzk_cuda_account device[TEST_DEVICES];
    uint64_t anon;
};

struct memory {
    struct level warm, last;
    unsigned proofs, warm_up; /* in all; after which their level counts, 0: too few */
    uint64_t used[TEST_DEVICES];
};

static inline void memory_start(struct memory *m, unsigned proofs)
{
    memset(m, 0, sizeof *m);
    m->proofs = proofs;
    m->warm_up = proofs / 4 < 20 ? proofs / 4 : 20;
}

/* After `done` proofs: pool and budget agree, and with the baseline they are what the driver says.
 */
static inline void memory_after(struct memory *m, const struct cuzk_context *context, unsigned done)
{
    struct cuzk_os_memory host;
    const bool first = m->last.anon == 0;
    for (size_t i = 0; i < context->device_count && i < TEST_DEVICES; i++) {
        const char *name = context->devices[i]->info.name;
        struct cuzk_cuda *device = memory_cuda(context, i);
        struct cuzk_cuda_account *a = &m->last.device[i];
        struct cuzk_account account;
        cuzk_budget_read(context->devices[i]->memory, &account);
        if (first)
            m->used[i] = account.used;
        test_result(account.used == m->used[i],
                    "%s: %" PRIu64 " bytes charged after proof %u, not %" PRIu64, name,
                    account.used, done, m->used[i]);
        if (device == NULL)
            continue;
        TEST_OK(cuzk_cuda_account_read(device, a, err));
        test_result(a->used == account.used,
                    "%s: %" PRIu64 " bytes charged, %" PRIu64 " handed out", name, account.used,
                    a->used);
        memory_agree(a->held + a->baseline, a->driver, name, "after a proof");
    }
    cuzk_os_memory_read(&host);
    m->last.anon = host.anon;
    if (m->warm_up != 0 && done <= m->warm_up)
        m->warm = m->last;
}

/* From the warm-up's level to the last one's. */
static inline void memory_flat(const struct memory *m)
{
    const uint64_t few = (uint64_t)8 << 20;
    if (m->warm_up == 0)
        return;
    printf("memory from proof %u to %u: host anonymous %+.1f MiB", m->warm_up, m->proofs,
           mib(m->last.anon) - mib(m->warm.anon));
    test_result(m->last.anon <= m->warm.anon + few, "the host's memory grows from proof to proof");
    for (size_t i = 0; i < TEST_DEVICES; i++) {
        const struct cuzk_cuda_account *warm = &m->warm.device[i], *last = &m->last.device[i];
        if (last->driver == 0)
            continue;
        printf("; device %zu used %+.1f, held %+.1f, driver %+.1f", i,
               mib(last->used) - mib(warm->used), mib(last->held) - mib(warm->held),
               mib(last->driver) - mib(warm->driver));
        test_result(last->held <= warm->held, "the pool grows from proof to proof");
        test_result(last->driver <= warm->driver + few,
                    "the driver's count grows from proof to proof (it counts other processes too: "
                    "run alone)");
    }
    printf("\n");
}

/* The table's rows of the CUDA devices, at the end; `watches` (one a device) are stopped. limit:
 * the devices' budget, or 0. */
static inline void memory_report(const struct cuzk_context *context, struct watch *watches,
                                 uint64_t limit)
{
    for (size_t i = 0; i < context->device_count && i < TEST_DEVICES; i++) {
        const char *name = context->devices[i]->info.name;
        struct cuzk_cuda *device = memory_cuda(context, i);
        const bool watched = watches[i].running;
        struct cuzk_cuda_account a;
        watch_stop(&watches[i]);
        if (device == NULL)
            continue;
        TEST_OK(cuzk_cuda_account_read(device, &a, err));
        const uint64_t highest = atomic_load(&watches[i].highest);
        printf(
            "memory of %-8s pool at the highest: handed out %.1f MiB, held %.1f; now %.1f, %.1f; "
            "baseline %.1f; driver now %.1f",
            name, mib(a.peak_used), mib(a.peak_held), mib(a.used), mib(a.held), mib(a.baseline),
            mib(a.driver));
        if (watched)
            printf(", at the highest %.1f of %" PRIu64 " samples", mib(highest),
                   atomic_load(&watches[i].samples));
        printf("\n");
        if (!watched)
            continue;
        test_result(highest != 0, "%s: the driver was never asked", name);
        memory_agree(a.peak_held + a.baseline, highest, name, "at the highest");
        test_result(limit == 0 ||
                        highest <= a.baseline + limit + limit / 100 * 3 + ((uint64_t)64 << 20),
                    "%s: the device held more than its budget of %.1f MiB", name, mib(limit));
    }
}

#endif
