/* The processor as a device: what its files share. Nothing is serialised: calls from several
 * threads run side by side, and only one of them at a time has the pool of threads (threads.h).
 */
#ifndef CUZK_DEVICE_CPU_CPU_H
#define CUZK_DEVICE_CPU_CPU_H

#include <stdatomic.h>

#include "device/device.h"

struct cpu_device {
    struct cuzk_device base;
    _Atomic int fault; /* enum cuzk_fault for the next proof */
};

struct cpu_key {
    struct cuzk_device_key base;
    uint32_t count[CUZK_SECTIONS];
    /* Decoded, each an allocation of its own charged to CUZK_PURPOSE_SRS; NULL: streamed. */
    struct bls12_381_g1_affine *g1[CUZK_SECTIONS]; /* CUZK_QUERY_B2 stays NULL */
    struct bls12_381_g2_affine *g2;
};

static inline struct cuzk_run cpu_run(const struct cuzk_device *device)
{
    return (struct cuzk_run){.threads = device->config.threads, .budget = device->config.host};
}

/* cpu.c: memory for a section's points in the key, charged to CUZK_PURPOSE_SRS. */
cuzk_status cuzk_cpu_key_section(struct cpu_key *key, enum cuzk_section section,
                                 struct cuzk_error *err);
void cuzk_cpu_key_free(struct cuzk_device_key *key);

/* prove.c */
void cuzk_cpu_prove_needs(const struct cuzk_device_circuit *circuit,
                          const struct cuzk_device_key *key, uint64_t bytes[2]);
cuzk_status cuzk_cpu_prove_start(struct cuzk_device *device, struct cuzk_pending **out,
                                 const struct cuzk_device_key *key,
                                 const struct cuzk_device_circuit *circuit,
                                 struct cuzk_witness *witness, struct cuzk_stages *stages,
                                 struct cuzk_error *err);
cuzk_status cuzk_cpu_prove_finish(struct cuzk_pending *pending, struct cuzk_sums *out,
                                  struct cuzk_stages *stages, struct cuzk_error *err);
void cuzk_cpu_pending_free(struct cuzk_pending *pending);

/* setup.c */
cuzk_status cuzk_cpu_setup_start(struct cuzk_device *device, struct cuzk_device_setup **out,
                                 const struct cuzk_device_circuit *circuit,
                                 const struct cuzk_waste *waste, struct cuzk_error *err);
cuzk_status cuzk_cpu_setup_inputs(struct cuzk_device_setup *setup, struct bls12_381_fr *out,
                                  struct cuzk_error *err);
cuzk_status cuzk_cpu_setup_g1(struct cuzk_device_setup *setup, struct bls12_381_g1_affine *out,
                              enum cuzk_section section, size_t first, size_t count,
                              struct cuzk_error *err);
cuzk_status cuzk_cpu_setup_g2(struct cuzk_device_setup *setup, struct bls12_381_g2_affine *out,
                              size_t first, size_t count, struct cuzk_error *err);
cuzk_status cuzk_cpu_setup_key(struct cuzk_device_setup *setup, struct cuzk_device_key **out,
                               struct cuzk_error *err);
void cuzk_cpu_setup_end(struct cuzk_device_setup *setup);
/* Scalars [first, first + count) of a section, for devices that multiply the generators themselves:
 * the setup's own (*made NULL), or made now, which the second function wipes and frees. */
cuzk_status cuzk_cpu_setup_scalars(const struct cuzk_device_setup *setup,
                                   const struct bls12_381_fr **out, void **made,
                                   enum cuzk_section section, size_t first, size_t count,
                                   struct cuzk_error *err);
void cuzk_cpu_setup_scalars_free(const struct cuzk_device_setup *setup, void *made, size_t count);

#endif
