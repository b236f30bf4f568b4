/* Groth16 inside the engine: what the public handles of cuzk/groth16.h hold, and the steps on
 * internal types that programs and the engine use beside them.
 *
 * Relation, key and pending proof hold references to each other's memory, so that nothing that is
 * still read goes away: pending → key → relation → context.
 */
#ifndef CUZK_GROTH16_GROTH16_H
#define CUZK_GROTH16_GROTH16_H

#include <stdatomic.h>
#include <stdbool.h>

#include "cuzk/groth16.h"
#include "device/device.h"
#include "format/proof.h"

struct cuzk_context {
    _Atomic unsigned references;
    struct cuzk_threads *threads;
    struct cuzk_budget *host;
    struct cuzk_device **devices; /* at least one; proofs are spread over them */
    size_t device_count;
    struct cuzk_dispatch *dispatch;
};

struct cuzk_relation {
    _Atomic unsigned references;
    struct cuzk_context *context;
    struct cuzk_circuit *circuit; /* owned */
    struct cuzk_qap *qap;
    struct cuzk_device_circuit *loaded[]; /* on each device of the context */
};

struct cuzk_key {
    _Atomic unsigned references;
    struct cuzk_relation *relation;
    struct cuzk_params *params;       /* NULL for a key made on the device */
    struct cuzk_vk made;              /* its verifying key then */
    const struct cuzk_vk *vk;         /* params->vk or made */
    struct cuzk_device_key *loaded[]; /* on each device of the context */
};

struct cuzk_pending_proof {
    struct cuzk_key *key;
    size_t device; /* its number in the context */
    struct cuzk_pending *pending;
    struct cuzk_stages stages;
};

struct cuzk_verifier {
    struct cuzk_vk vk;
};

/* context.c: a relation from a circuit that was made elsewhere; takes it on success. */
cuzk_status cuzk_relation_create(struct cuzk_relation **out, struct cuzk_context *context,
                                 struct cuzk_circuit *circuit, struct cuzk_error *err);
void cuzk_context_retain(struct cuzk_context *context);
void cuzk_relation_retain(struct cuzk_relation *relation);
void cuzk_key_retain(struct cuzk_key *key);
/* A key of this relation that is loaded nowhere yet, or NULL. Freed by cuzk_key_close. */
struct cuzk_key *cuzk_key_create(struct cuzk_relation *relation);
/* Calls body for each device, side by side where there are several, and returns when all are done.
 * The error is that of the first device that failed, named where there are several. */
typedef cuzk_status cuzk_device_body(void *argument, size_t device, struct cuzk_error *err);
cuzk_status cuzk_on_each_device(const struct cuzk_context *context, cuzk_device_body *body,
                                void *argument, struct cuzk_error *err);

/* dispatch.c: devices 0 … count - 1 and the proofs that they have. Any thread may call. */
cuzk_status cuzk_dispatch_create(struct cuzk_dispatch **out, size_t count, struct cuzk_error *err);
void cuzk_dispatch_destroy(struct cuzk_dispatch *dispatch); /* tolerates NULL */
/* Gives the device that a proof is to be started on one more; false where all are lost. */
bool cuzk_dispatch_begin(struct cuzk_dispatch *dispatch, size_t *device);
/* The start is over; if it failed, so is the proof. */
void cuzk_dispatch_started(struct cuzk_dispatch *dispatch, size_t device, cuzk_status status);
/* A proof that had been started is over. */
void cuzk_dispatch_end(struct cuzk_dispatch *dispatch, size_t device, cuzk_status status);

/* prove.c: A, B, C from a device's sums (Groth 2016, section 3.2):
 *     A = alpha + a + r·delta,  B = beta + b + s·delta,  C = h + l + s·A + r·B − r·s·delta */
void cuzk_proof_assemble(struct cuzk_proof *out, const struct cuzk_vk *vk,
                         const struct cuzk_sums *sums, const struct bls12_381_fr *r,
                         const struct bls12_381_fr *s);

/* random.c: a uniform element that is not zero, from the system. */
cuzk_status cuzk_random_fr(struct bls12_381_fr *out, struct cuzk_error *err);

/* verify.c: `count` decoded proofs over the same key, inputs vk->ic_count - 1 for each, without the
 * constant one. CUZK_E_PROOF where they are not valid; the message names the first that is not. */
cuzk_status cuzk_proofs_verify(const struct cuzk_vk *vk, const struct cuzk_proof *proofs,
                               const struct bls12_381_fr *inputs, size_t count,
                               struct cuzk_error *err);

/* setup.c: from a waste; cuzk_setup of the public header ends here. */
cuzk_status cuzk_setup_write(struct cuzk_relation *relation, const char *params_path,
                             const char *vk_path, const struct cuzk_waste *waste,
                             const struct cuzk_setup_options *options, struct cuzk_error *err);

/* sector.c: a partition's witness, whose public inputs are held against the statement's:
 * CUZK_E_INPUT where the opened nodes are not those that the seed challenges. */
struct cuzk_porep_sector;
cuzk_status cuzk_partition_witness(struct cuzk_witness **out, const struct cuzk_circuit *circuit,
                                   const struct cuzk_porep_sector *sector, uint32_t partition,
                                   struct cuzk_budget *budget, struct cuzk_error *err);

#endif
