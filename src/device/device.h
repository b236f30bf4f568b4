/* What Groth16 asks of a device, phase by phase. One call is a phase over whole vectors; nothing
 * here is called per element. groth16/ decides what is proved and with which randomness, verifies
 * and blames; a device computes sums. It never sees r and s.
 *
 *     open ─ circuit_load ─ key_load ─┬─ prove_start ── prove_finish ── pending_free   (× many)
 *                                     └─ key_free ─ circuit_free ─ close
 *     setup_start ─ setup_g1, setup_g2 (sections, by chunks) or setup_key ─ setup_end
 *
 * Split of a proof. prove_start does what the device's critical path needs and takes the witness;
 * the vectors a, b, c go back the moment the numerator of h is formed. prove_finish does what may
 * run beside the next proof's start. With n the domain and w the witness, a proof needs
 *     h = quotient of (A·w)∘(B·w) − c by Xⁿ − 1, c = (A·w)∘(B·w)     (poly/ntt.h)
 *     sums: h over section h; auxiliaries over l; queries a, b over a, b_g1 and b_g2   (qap.h)
 *
 * Rules for all backends
 * - A backend's device, key, circuit, pending proof and setup embed nothing of each other but
 *   pointers; a backend casts from the structs below, which are its own first members.
 * - Calls on one device may come from several threads; each backend says in its file what it
 *   serialises. What the header calls borrowed must outlive the borrower; groth16/ holds
 * references.
 * - Every buffer is charged before it exists: host memory to config.host, the device's own to
 *   device->memory. Refusals are CUZK_E_BUDGET (host) or CUZK_E_DEVICE_MEMORY (device) and name
 *   required and available bytes. On failure outputs are NULL or zeroed and nothing stays charged.
 * - Results are the same bytes on every device and for any number of threads.
 * - Points handed out are in the types of curve/bls12_381/points.h; sums need not be normalised.
 */
#ifndef CUZK_DEVICE_DEVICE_H
#define CUZK_DEVICE_DEVICE_H

#include "base/budget.h"
#include "base/threads.h"
#include "cuzk/device.h"
#include "device/qap.h"
#include "format/params.h"
#include "format/waste.h"

struct cuzk_device_ops;

struct cuzk_device_config {
    struct cuzk_threads *threads;      /* borrowed; NULL: the calling thread */
    struct cuzk_budget *host;          /* borrowed; NULL: nobody is charged */
    uint64_t device_limit;             /* bytes of device memory to use; 0: what is free */
    const struct bls12_381_ops *curve; /* host arithmetic; NULL: the path in force */
};

struct cuzk_device {
    const struct cuzk_device_ops *ops;
    struct cuzk_device_info info;
    char why[200];                    /* filled by the registry */
    struct cuzk_device_config config; /* curve is never NULL here */
    struct cuzk_budget *memory;       /* the device's account; the processor's is config.host */
};

/* Handles; each backend embeds its own. */
struct cuzk_device_circuit {
    struct cuzk_device *device;
    const struct cuzk_qap *qap; /* borrowed */
};
struct cuzk_device_key {
    struct cuzk_device *device;
    const struct cuzk_params *params; /* borrowed; NULL for a key made on the device */
    uint64_t resident;                /* bytes it keeps, 0 when streamed */
};
struct cuzk_pending {
    struct cuzk_device *device;
    const struct cuzk_device_circuit *circuit; /* outlive the pending proof */
    const struct cuzk_device_key *key;
    struct cuzk_witness *witness; /* owned */
};
struct cuzk_device_setup {
    struct cuzk_device *device;
    const struct cuzk_qap *qap;
    uint32_t count[CUZK_SECTIONS]; /* points of each section */
};

/* Where a key's points are during proofs. */
enum cuzk_residency {
    CUZK_KEY_STREAM, /* decoded from the mapped file as they are used (a device: chunk by chunk) */
    CUZK_KEY_RESIDENT, /* decoded once and kept, charged to CUZK_PURPOSE_SRS */
};

/* What a proof is assembled from. */
struct cuzk_sums {
    struct bls12_381_g1 h, l, a, b1;
    struct bls12_381_g2 b2;
};

/* Seconds by stage; a device adds to those that it can tell apart. */
#define CUZK_STAGE_LIST(X)                                                                         \
    X(CUZK_STAGE_MULTIPLY, "multiply") /* A·w and B·w */                                         \
    X(CUZK_STAGE_QUOTIENT, "quotient") /* six transforms */                                        \
    X(CUZK_STAGE_MSM_H, "msm_h")                                                                   \
    X(CUZK_STAGE_MSM_L, "msm_l")                                                                   \
    X(CUZK_STAGE_MSM_A, "msm_a")                                                                   \
    X(CUZK_STAGE_MSM_B1, "msm_b_g1")                                                               \
    X(CUZK_STAGE_MSM_B2, "msm_b_g2")                                                               \
    X(CUZK_STAGE_ASSEMBLE, "assemble")                                                             \
    X(CUZK_STAGE_VERIFY, "verify")
enum cuzk_stage {
#define CUZK_X(id, name) id,
    CUZK_STAGE_LIST(CUZK_X)
#undef CUZK_X
        CUZK_STAGE_COUNT
};
struct cuzk_stages {
    double seconds[CUZK_STAGE_COUNT];
};

/* Tests only: places where a backend flips one bit in the next proof that it starts. */
enum cuzk_fault {
    CUZK_FAULT_NONE,
    CUZK_FAULT_NTT,    /* a buffer between two transforms, or their input */
    CUZK_FAULT_H,      /* a coefficient of h */
    CUZK_FAULT_BUCKET, /* a bucket, or a partial sum, of a multi-exponentiation */
};

struct cuzk_device_ops {
    const char *backend; /* "cpu", "cuda" */

    void (*close)(struct cuzk_device *device); /* all its handles are freed before */

    /* The layout of a circuit's templates and instances on the device. qap is borrowed. */
    cuzk_status (*circuit_load)(struct cuzk_device *device, struct cuzk_device_circuit **out,
                                const struct cuzk_qap *qap, struct cuzk_error *err);
    void (*circuit_free)(struct cuzk_device_circuit *circuit);

    /* params is borrowed. groth16/ has held its counts against the circuit before. Points are
     * checked as they are decoded, here or (streamed) in prove_start and prove_finish. */
    cuzk_status (*key_load)(struct cuzk_device *device, struct cuzk_device_key **out,
                            const struct cuzk_params *params, enum cuzk_residency residency,
                            struct cuzk_error *err);
    void (*key_free)(struct cuzk_device_key *key); /* eviction: no pending proof may use it */

    /* The bytes that prove_start and prove_finish need at their peak beside key, circuit and
     * witness: [0] host, [1] device. For admission before anything is allocated. */
    void (*prove_needs)(const struct cuzk_device_circuit *circuit,
                        const struct cuzk_device_key *key, uint64_t bytes[2]);

    /* On success the pending proof owns the witness; on failure the caller still does. */
    cuzk_status (*prove_start)(struct cuzk_device *device, struct cuzk_pending **out,
                               const struct cuzk_device_key *key,
                               const struct cuzk_device_circuit *circuit,
                               struct cuzk_witness *witness, struct cuzk_stages *stages,
                               struct cuzk_error *err);
    /* Once a pending proof. The witness stays with it for the question who is to blame. */
    cuzk_status (*prove_finish)(struct cuzk_pending *pending, struct cuzk_sums *out,
                                struct cuzk_stages *stages, struct cuzk_error *err);
    /* Frees it, finished or not, and its witness; tolerates NULL. */
    void (*pending_free)(struct cuzk_pending *pending);

    /* Setup over the generators of constants.h: the circuit's polynomials at tau, kept on the
     * device until setup_end, which wipes them. waste (its alpha, beta, delta, tau) is borrowed and
     * read until setup_end. Fails with CUZK_E_ARGUMENT where
     * tau lies in the domain, CUZK_E_UNSUPPORTED for an auxiliary in no row (named). */
    cuzk_status (*setup_start)(struct cuzk_device *device, struct cuzk_device_setup **out,
                               const struct cuzk_device_circuit *circuit,
                               const struct cuzk_waste *waste, struct cuzk_error *err);
    /* beta·A_i(tau) + alpha·B_i(tau) + C_i(tau) for each input i: gamma divides them into ic. */
    cuzk_status (*setup_inputs)(struct cuzk_device_setup *setup, struct bls12_381_fr *out,
                                struct cuzk_error *err);
    /* Points [first, first + count) of a section in the key's order; infinity never appears. */
    cuzk_status (*setup_g1)(struct cuzk_device_setup *setup, struct bls12_381_g1_affine *out,
                            enum cuzk_section section, size_t first, size_t count,
                            struct cuzk_error *err);
    cuzk_status (*setup_g2)(struct cuzk_device_setup *setup, struct bls12_381_g2_affine *out,
                            size_t first, size_t count, struct cuzk_error *err);
    /* The whole key made and kept on the device, for keys that never see a file. Optional: NULL. */
    cuzk_status (*setup_key)(struct cuzk_device_setup *setup, struct cuzk_device_key **out,
                             struct cuzk_error *err);
    void (*setup_end)(struct cuzk_device_setup *setup); /* tolerates NULL */

    /* Single operations over host vectors, to hold devices against each other and to time them. */
    cuzk_status (*msm_g1)(struct cuzk_device *device, struct bls12_381_g1 *out,
                          const struct bls12_381_g1_affine *points,
                          const struct bls12_381_scalars *scalars, size_t n,
                          struct cuzk_error *err);
    cuzk_status (*msm_g2)(struct cuzk_device *device, struct bls12_381_g2 *out,
                          const struct bls12_381_g2_affine *points,
                          const struct bls12_381_scalars *scalars, size_t n,
                          struct cuzk_error *err);
    /* In place, natural order in and out; shift NULL: 1. */
    cuzk_status (*ntt)(struct cuzk_device *device, struct bls12_381_fr *a, unsigned log2_size,
                       bool inverse, const struct bls12_381_fr *shift, struct cuzk_error *err);
    /* a, b: values on the domain; a becomes h, b is destroyed. */
    cuzk_status (*quotient)(struct cuzk_device *device, struct bls12_381_fr *a,
                            struct bls12_381_fr *b, unsigned log2_size, struct cuzk_error *err);
    /* All rows of the circuit (without Groth16's input rows) times the witness. */
    cuzk_status (*multiply)(struct cuzk_device *device, struct bls12_381_fr *out,
                            const struct cuzk_device_circuit *circuit,
                            const struct cuzk_witness *witness, int matrix, struct cuzk_error *err);

    void (*fault)(struct cuzk_device *device, enum cuzk_fault place); /* tests only */
};

/* A backend as the registry sees it. list appends what is there (a driver that is absent is no
 * device, and *absent says why in a few words); open takes an index of that list. */
struct cuzk_backend {
    const char *name;
    /* Starts no device; so memory_free is 0 where free_memory tells it, which may start one. */
    cuzk_status (*list)(struct cuzk_device_info **out, size_t *count, char absent[120],
                        struct cuzk_error *err);
    cuzk_status (*free_memory)(uint64_t *bytes, size_t index, struct cuzk_error *err); /* or NULL */
    cuzk_status (*open)(struct cuzk_device **out, size_t index,
                        const struct cuzk_device_config *config, struct cuzk_error *err);
};
extern const struct cuzk_backend cuzk_backend_cpu;
#ifdef CUZK_HAVE_CUDA /* defined for src/device where the CUDA backend is built */
extern const struct cuzk_backend cuzk_backend_cuda;
#endif

/* name as in cuzk/device.h, of one device. config is copied. Closed by device->ops->close. */
cuzk_status cuzk_device_open(struct cuzk_device **out, const char *name,
                             const struct cuzk_device_config *config, struct cuzk_error *err);

/* All devices of a list of names, in its order, or none: see cuzk/device.h. The same card twice is
 * CUZK_E_ARGUMENT. Each device gets the same config: they share threads and host memory, and
 * device_limit is each one's. */
enum { CUZK_MOST_DEVICES = 64 };
cuzk_status cuzk_devices_open(struct cuzk_device ***out, size_t *count, const char *names,
                              const struct cuzk_device_config *config, struct cuzk_error *err);
void cuzk_devices_close(struct cuzk_device **devices, size_t count);

#endif
