/* Groth16 over BLS12-381: setup, proofs and their verification.
 *
 *     struct cuzk_context *context;             threads, memory, devices
 *     struct cuzk_relation *relation;           a circuit, ready to be proved
 *     struct cuzk_witness *witness;             values of its variables
 *     cuzk_context_create(&context, NULL, &err);
 *     cuzk_relation_open(&relation, &witness, context, "toy5.r1cs.zst", &err);
 *     cuzk_setup(relation, "toy5.params", "toy5.vk", NULL, &err);
 *     cuzk_key_open(&key, relation, "toy5.params", CUZK_KEY_STREAMED, &err);
 *     cuzk_prove(key, &witness, NULL, proof, NULL, &err);
 *
 * Handles are opaque. What is made from a handle keeps it alive: handles may be freed in any order,
 * and the last user frees the memory. Any thread may use any handle; a proof uses the context's
 * threads, so proofs side by side share them.
 *
 * A context may have several devices. Relations and keys are then loaded on each, side by side, a
 * setup runs on the first, and a proof goes to the one that has the fewest unfinished proofs (among
 * those, the fewest that are being started, then the first) and stays there. Proofs that several
 * threads start run side by side on different devices. Once a proof fails with CUZK_E_DEVICE_LOST
 * its device gets no more of them, and later ones go to the others; when all are lost, starts fail
 * with the same status, and the context must be created again.
 *
 * Field elements are 32 bytes, little-endian, canonical (below r). A proof is 192 bytes: A (48), B
 * (96), C (48), compressed points; the proofs of a sector's partitions follow each other.
 *
 * All functions return a status and fill *err (errors.h). On failure handles are NULL and other
 * outputs are zeroed.
 */
#ifndef CUZK_GROTH16_H
#define CUZK_GROTH16_H

#include <stddef.h>
#include <stdint.h>

#include "cuzk/device.h"
#include "cuzk/errors.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CUZK_FIELD_BYTES 32
#ifndef CUZK_PROOF_BYTES
#define CUZK_PROOF_BYTES 192
#endif

struct cuzk_context;
struct cuzk_relation;
struct cuzk_witness;
struct cuzk_key;
struct cuzk_verifier;
struct cuzk_pending_proof;

CUZK_API const char *cuzk_version(void);

/* Zeroed fields take the default. */
struct cuzk_options {
    unsigned threads;             /* 0: one for each processor */
    uint64_t memory_limit;        /* bytes of host memory; 0: what the machine and cgroup allow */
    uint64_t device_memory_limit; /* bytes of each device's memory; 0: what is free */
    const char *isa;    /* "portable", "x86_64-adx", for the whole process; NULL: the fastest */
    const char *device; /* one or several names (device.h); NULL: "auto" */
};
CUZK_API cuzk_status cuzk_context_create(struct cuzk_context **out,
                                         const struct cuzk_options *options,
                                         struct cuzk_error *err);
CUZK_API void cuzk_context_free(struct cuzk_context *context);
/* The devices, in the order of their names; they live as long as the context. _device is the first,
 * _device_at NULL where there are not so many. */
CUZK_API const struct cuzk_device *cuzk_context_device(const struct cuzk_context *context);
CUZK_API size_t cuzk_context_device_count(const struct cuzk_context *context);
CUZK_API const struct cuzk_device *cuzk_context_device_at(const struct cuzk_context *context,
                                                          size_t i);

/* Opens a circuit: "porep-2KiB", "porep-8MiB", "porep-512MiB", "porep-32GiB", "porep-64GiB" or
 * "porep-mini32", else the path of a file in the dump format (plain or .zst). *witness (NULL: not
 * wanted) is the file's, or NULL where there is none. */
CUZK_API cuzk_status cuzk_relation_open(struct cuzk_relation **out, struct cuzk_witness **witness,
                                        struct cuzk_context *context, const char *name,
                                        struct cuzk_error *err);
CUZK_API void cuzk_relation_free(struct cuzk_relation *relation);

struct cuzk_relation_info {
    const char *name;   /* lives as long as the relation */
    uint32_t inputs;    /* with the constant one */
    uint32_t aux, rows; /* auxiliary variables; constraints without Groth16's input rows */
    unsigned log2_domain;
    uint32_t h, l, a, b;   /* points of a key's sections */
    uint64_t params_bytes; /* size of its key file */
};
CUZK_API void cuzk_relation_describe(struct cuzk_relation_info *out,
                                     const struct cuzk_relation *relation);

/* Wipes the values. */
CUZK_API void cuzk_witness_free(struct cuzk_witness *witness);
/* The public inputs without the constant one: relation's inputs - 1 elements of 32 bytes. */
CUZK_API void cuzk_witness_inputs(uint8_t *out, const struct cuzk_witness *witness);

/* Setup of a development key: whoever runs it could keep the waste and forge proofs. The waste is
 * random from the system and wiped, or read from insecure_waste (a JSON file; for tests, since who
 * knows it can forge). Files appear whole or not at all. */
struct cuzk_setup_options {
    const char *insecure_waste;
    /* Called now and then with points done and in all; anything but 0 stops the setup with
     * CUZK_E_CANCELLED. */
    int (*progress)(void *context, uint64_t done, uint64_t total);
    void *progress_context;
};
/* params_path or vk_path may be NULL; options may be NULL. */
CUZK_API cuzk_status cuzk_setup(struct cuzk_relation *relation, const char *params_path,
                                const char *vk_path, const struct cuzk_setup_options *options,
                                struct cuzk_error *err);

/* Opens a key (.params) for a relation; one of another circuit is refused (CUZK_E_MISMATCH). */
enum cuzk_key_mode {
    CUZK_KEY_STREAMED, /* points are decoded as a proof needs them: least memory */
    CUZK_KEY_DECODED,  /* all points decoded once and kept: fastest proofs */
};
CUZK_API cuzk_status cuzk_key_open(struct cuzk_key **out, struct cuzk_relation *relation,
                                   const char *path, enum cuzk_key_mode mode,
                                   struct cuzk_error *err);
/* A development key made by a setup and kept in the memory of each device, from the same waste; it
 * never sees a file. insecure_waste as in cuzk_setup_options, or NULL. */
CUZK_API cuzk_status cuzk_key_make(struct cuzk_key **out, struct cuzk_relation *relation,
                                   const char *insecure_waste, struct cuzk_error *err);
CUZK_API void cuzk_key_close(struct cuzk_key *key);

/* Bytes that a proof with this key takes at its peak beside key, circuit and witness: of the host,
 * and of its device (0 where that is the processor). A bound: the proof stays below it, whichever
 * device of the context it goes to. */
CUZK_API void cuzk_key_proof_memory(const struct cuzk_key *key, uint64_t *host, uint64_t *device);

/* Randomness of a proof given by the caller. For tests: a known r or s, or the same pair for two
 * witnesses, gives the witness away. */
struct cuzk_insecure_rs {
    uint8_t r[CUZK_FIELD_BYTES], s[CUZK_FIELD_BYTES];
};

struct cuzk_report_stage {
    const char *name;
    double seconds;
};
struct cuzk_report_memory {
    const char *purpose;
    uint64_t peak;    /* the purpose's own highest, bytes */
    uint64_t at_peak; /* its share at the moment of the highest sum */
};
/* What a proof took. Memory is the context's account on the host, since the context was made. */
struct cuzk_prove_report {
    struct cuzk_report_stage stages[16];
    size_t stage_count;
    double seconds; /* all stages */
    struct cuzk_report_memory memory[16];
    size_t memory_count;
    uint64_t memory_peak;
};

/* Proves. *witness is taken, and NULL then, when the call succeeds or fails after its start. rs =
 * NULL: random from the system. The proof is verified before it is returned; if that fails, the
 * error says whether the witness (CUZK_E_UNSATISFIED, with the row) or the machine or key file
 * (CUZK_E_DEVICE) is at fault. report may be NULL. */
CUZK_API cuzk_status cuzk_prove(struct cuzk_key *key, struct cuzk_witness **witness,
                                const struct cuzk_insecure_rs *rs, uint8_t proof[CUZK_PROOF_BYTES],
                                struct cuzk_prove_report *report, struct cuzk_error *err);

/* The same in two halves: while a proof is finished, the next may be started. */
CUZK_API cuzk_status cuzk_prove_start(struct cuzk_pending_proof **out, struct cuzk_key *key,
                                      struct cuzk_witness **witness, struct cuzk_error *err);
/* Frees *pending, which is NULL then, in every case. */
CUZK_API cuzk_status cuzk_prove_finish(struct cuzk_pending_proof **pending,
                                       const struct cuzk_insecure_rs *rs,
                                       uint8_t proof[CUZK_PROOF_BYTES],
                                       struct cuzk_prove_report *report, struct cuzk_error *err);
CUZK_API void cuzk_prove_abandon(struct cuzk_pending_proof *pending);
/* Where it is computed. Lives as long as the context. */
CUZK_API const struct cuzk_device *cuzk_prove_device(const struct cuzk_pending_proof *pending);

/* Opens a verifying key: a .vk, or the head of a .params. */
CUZK_API cuzk_status cuzk_verifier_open(struct cuzk_verifier **out, const char *path,
                                        struct cuzk_error *err);
/* The verifying key of a key that is open, copied. */
CUZK_API cuzk_status cuzk_verifier_of_key(struct cuzk_verifier **out, const struct cuzk_key *key,
                                          struct cuzk_error *err);
/* Writes it as a .vk. */
CUZK_API cuzk_status cuzk_verifier_write(const struct cuzk_verifier *verifier, const char *path,
                                         struct cuzk_error *err);
CUZK_API void cuzk_verifier_free(struct cuzk_verifier *verifier);
/* Public inputs of a proof, without the constant one. */
CUZK_API uint32_t cuzk_verifier_inputs(const struct cuzk_verifier *verifier);

/* Verifies `count` proofs, each with its own cuzk_verifier_inputs field elements, all of them or
 * none; more than one are verified by one random combination.
 *     CUZK_OK          all are valid
 *     CUZK_E_PROOF     invalid, with the reason: proof_bytes is not count·192; a point is not
 *                      encoded as it must be, not in its subgroup, or infinity; the equation fails
 *     CUZK_E_MISMATCH  not a question to this key: input_count is not count·inputs
 *     CUZK_E_RANGE     an input is not below r
 *     others           could not tell (memory, random bytes) */
CUZK_API cuzk_status cuzk_verify(const struct cuzk_verifier *verifier, const uint8_t *proofs,
                                 size_t proof_bytes, const uint8_t *inputs, size_t input_count,
                                 size_t count, struct cuzk_error *err);

#ifdef __cplusplus
}
#endif
#endif
