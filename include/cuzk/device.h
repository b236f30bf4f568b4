/* Where proofs are computed: the processor ("cpu") or a CUDA card ("cuda:0").
 *
 * Devices are named when a context is created (groth16.h). Names:
 *   "cpu"             this machine's processors
 *   "cuda"            the first CUDA device
 *   "cuda:N"          the N-th, as the driver counts them
 *   "GPU-…"           the one with this UUID, or the only one whose UUID starts so
 *   "cuda:all"        every CUDA device
 *   "auto" or NULL    the first CUDA device if the build has CUDA and the machine a card, else the
 *                     processor; cuzk_device_why says what was taken and why
 * or several of them, at most 64, separated by commas: "cuda:0,cuda:1", "GPU-aaaa,GPU-bbbb". Proofs
 * are spread over them (groth16.h). "auto" stands alone; the same card twice, under whatever names,
 * is CUZK_E_ARGUMENT. "cpu" may stand in a list, more than once too, for tests: such devices share
 * the context's threads and prove no faster.
 *
 * A CUDA device that was asked for, or that "auto" found, and that cannot start is an error;
 * nothing falls back to the processor in silence.
 */
#ifndef CUZK_DEVICE_H
#define CUZK_DEVICE_H

#include <stdint.h>

#include "cuzk/errors.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cuzk_device;

struct cuzk_device_info {
    char name[32];         /* "cpu", "cuda:0": what opens it */
    char uuid[48];         /* "GPU-…"; empty for the processor */
    char model[96];        /* as the processor or the driver calls it */
    uint64_t memory_total; /* bytes */
    uint64_t memory_free;  /* bytes, when it was asked */
    uint32_t processors;   /* threads that may run, or multiprocessors */
};

/* All devices of this build and machine, the processor first; *out is freed by
 * cuzk_device_list_free. A driver that is absent is no error; one that fails is. */
CUZK_API cuzk_status cuzk_device_list(struct cuzk_device_info **out, size_t *count,
                                      struct cuzk_error *err);
CUZK_API void cuzk_device_list_free(struct cuzk_device_info *list);

/* 1 if this build has the CUDA backend, else 0. */
CUZK_API int cuzk_device_built_with_cuda(void);
/* One sentence: how many CUDA devices there are, or why none. */
CUZK_API cuzk_status cuzk_device_cuda_note(char note[160], struct cuzk_error *err);

/* The device's description, and one sentence that says why it was taken. Both live as long as it.
 */
CUZK_API const struct cuzk_device_info *cuzk_device_describe(const struct cuzk_device *device);
CUZK_API const char *cuzk_device_why(const struct cuzk_device *device);

#ifdef __cplusplus
}
#endif
#endif
