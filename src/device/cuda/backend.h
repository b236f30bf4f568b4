/* The CUDA backend behind device.h: what its C files share. Calls on one device are serialised by a
 * lock, since a device runs one phase at a time; the host's part of a call (decoding, gathering) is
 * done outside of it where it is long.
 */
#ifndef CUZK_DEVICE_CUDA_BACKEND_H
#define CUZK_DEVICE_CUDA_BACKEND_H

#include <pthread.h>
#include <stdatomic.h>

#include "device/cuda/cuda.h"
#include "device/device.h"

struct cuda_device {
    struct cuzk_device base;
    struct cuzk_cuda *cuda;
    pthread_mutex_t lock;
    _Atomic int fault; /* enum cuzk_fault for the next proof */
};

/* A query's values that are not bits: the numbers of their points, on the device. */
struct cuda_query {
    const uint64_t *is_bit; /* the host's bitmap, borrowed */
    uint32_t *index;
    uint32_t dense, count; /* values, points */
};

struct cuda_circuit {
    struct cuzk_device_circuit base;
    struct cuzk_layout layout;
    void *buffers[11]; /* the layout's arrays */
    struct cuda_query l, a, b;
};

struct cuda_key {
    struct cuzk_device_key base;
    uint32_t count[CUZK_SECTIONS];
    void *points[CUZK_SECTIONS]; /* on the device; NULL: streamed */
};

static inline struct cuda_device *cuda_of(struct cuzk_device *device)
{
    return (struct cuda_device *)device;
}

/* Device memory filled from the host's. */
cuzk_status cuda_copy_in(struct cuda_device *device, void **out, enum cuzk_purpose purpose,
                         const void *data, uint64_t bytes, struct cuzk_error *err);

/* circuit.c */
cuzk_status cuzk_cuda_circuit_load(struct cuzk_device *device, struct cuzk_device_circuit **out,
                                   const struct cuzk_qap *qap, struct cuzk_error *err);
void cuzk_cuda_circuit_free(struct cuzk_device_circuit *circuit);
/* The compact witness on the device, in one buffer that the caller frees. */
cuzk_status cuzk_cuda_witness_upload(struct cuda_device *device, void **buffer,
                                     struct cuzk_layout_witness *out,
                                     const struct cuzk_witness *witness, struct cuzk_error *err);

/* key.c */
cuzk_status cuzk_cuda_key_load(struct cuzk_device *device, struct cuzk_device_key **out,
                               const struct cuzk_params *params, enum cuzk_residency residency,
                               struct cuzk_error *err);
void cuzk_cuda_key_free(struct cuzk_device_key *key);
/* Points [first, first + count) of a file's section into device memory. The caller holds the lock.
 */
cuzk_status cuzk_cuda_key_read(struct cuda_device *device, void *to,
                               const struct cuzk_params *params, enum cuzk_section section,
                               size_t first, size_t count, struct cuzk_error *err);
static inline uint64_t cuda_point_bytes(enum cuzk_section section)
{
    return section == CUZK_QUERY_B2 ? sizeof(struct bls12_381_g2_affine)
                                    : sizeof(struct bls12_381_g1_affine);
}

/* prove.c */
void cuzk_cuda_prove_needs(const struct cuzk_device_circuit *circuit,
                           const struct cuzk_device_key *key, uint64_t bytes[2]);
cuzk_status cuzk_cuda_prove_start(struct cuzk_device *device, struct cuzk_pending **out,
                                  const struct cuzk_device_key *key,
                                  const struct cuzk_device_circuit *circuit,
                                  struct cuzk_witness *witness, struct cuzk_stages *stages,
                                  struct cuzk_error *err);
cuzk_status cuzk_cuda_prove_finish(struct cuzk_pending *pending, struct cuzk_sums *out,
                                   struct cuzk_stages *stages, struct cuzk_error *err);
void cuzk_cuda_pending_free(struct cuzk_pending *pending);

/* setup.c */
cuzk_status cuzk_cuda_setup_start(struct cuzk_device *device, struct cuzk_device_setup **out,
                                  const struct cuzk_device_circuit *circuit,
                                  const struct cuzk_waste *waste, struct cuzk_error *err);
cuzk_status cuzk_cuda_setup_inputs(struct cuzk_device_setup *setup, struct bls12_381_fr *out,
                                   struct cuzk_error *err);
cuzk_status cuzk_cuda_setup_g1(struct cuzk_device_setup *setup, struct bls12_381_g1_affine *out,
                               enum cuzk_section section, size_t first, size_t count,
                               struct cuzk_error *err);
cuzk_status cuzk_cuda_setup_g2(struct cuzk_device_setup *setup, struct bls12_381_g2_affine *out,
                               size_t first, size_t count, struct cuzk_error *err);
cuzk_status cuzk_cuda_setup_key(struct cuzk_device_setup *setup, struct cuzk_device_key **out,
                                struct cuzk_error *err);
void cuzk_cuda_setup_end(struct cuzk_device_setup *setup);

#endif
