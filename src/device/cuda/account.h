/* What the driver says of a device's memory, beside the account.
 *
 * The device's budget is charged with what the pool hands out, by purpose. The pool holds more:
 * what was freed stays with it for the next call (cuzk_cuda_trim gives it back), and it grows by
 * whole chunks; it gives back free ones before it holds more than the budget's limit. Beside the
 * pool stand the context, the kernels' code and their stacks: the baseline, taken once at the end
 * of cuzk_cuda_open, when the kernel with the largest stack has run. So
 *
 *     used (the budget's, by purpose) + (held - used) (the pool's reserve) + baseline = driver
 *
 * up to what the driver loads after the start, and to other processes on the same device, which
 * `driver` counts as well: it is the device's total less what is free.
 */
#ifndef CUZK_DEVICE_CUDA_ACCOUNT_H
#define CUZK_DEVICE_CUDA_ACCOUNT_H

#include "device/cuda/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cuzk_cuda_account {
    uint64_t used, held;           /* of the pool, as in struct cuzk_cuda_memory */
    uint64_t peak_used, peak_held; /* their highest since the device was opened or _restart */
    uint64_t baseline;             /* what the driver counted at the end of cuzk_cuda_open */
    uint64_t driver;               /* what it counts now */
    uint64_t overrun;              /* guarded buffers behind whose end something was written */
};

/* For the device's thread. */
cuzk_status cuzk_cuda_account_read(struct cuzk_cuda *device, struct cuzk_cuda_account *out,
                                   struct cuzk_error *err);
/* The peaks start anew from what is used and held. */
void cuzk_cuda_account_restart(struct cuzk_cuda *device);
/* For tests: from now on buffers come filled with a pattern that is no field element, and with a
 * guard behind them that is looked at when they are freed. What compute-sanitizer sees of the pool
 * is one mapped range, so it misses writes from one buffer into the next. */
void cuzk_cuda_guard(struct cuzk_cuda *device);
/* `driver` alone, from any thread: for one that watches while the device works. */
cuzk_status cuzk_cuda_driver_used(const struct cuzk_cuda *device, uint64_t *bytes,
                                  struct cuzk_error *err);

#ifdef __cplusplus
}
#endif
#endif
