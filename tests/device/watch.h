/* Watches a device's memory from a thread of its own, as the driver counts it, while the device
 * works: the highest of what is used, every few milliseconds. Asking costs the driver a lock, so
 * runs whose time matters go without.
 */
#ifndef CUZK_TESTS_DEVICE_WATCH_H
#define CUZK_TESTS_DEVICE_WATCH_H

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "device/cuda/account.h"

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

#endif
