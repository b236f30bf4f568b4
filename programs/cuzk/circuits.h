/* What the commands name: a CIRCUIT, and where public inputs come from. */
#ifndef CUZK_PROGRAM_CIRCUITS_H
#define CUZK_PROGRAM_CIRCUITS_H

#include "circuit/circuit.h"
#include "cuzk/groth16.h"
#include "format/meta.h"

/* The relation of a CIRCUIT, by name or file. *witness (NULL: not wanted) is a file's own. */
cuzk_status open_relation(struct cuzk_relation **out, struct cuzk_witness **witness,
                          struct cuzk_context *context, const char *circuit,
                          struct cuzk_error *err);
/* The circuit alone. */
cuzk_status open_circuit(struct cuzk_circuit **out, const char *circuit, struct cuzk_error *err);

/* What --circuit says; NULL, with the error, if there is no such circuit. */
const struct cuzk_porep_params *circuit_params(const char *name, struct cuzk_error *err);

/* Path of the network's key for a circuit: CUZK_E_ARGUMENT where it has none (params may be NULL).
 */
cuzk_status network_key_path(char *out, size_t size, const struct cuzk_porep_params *params,
                             bool vk, struct cuzk_error *err);

/* C1 read and held against itself: challenges, comm_r. budget may be NULL. */
cuzk_status read_sector(struct cuzk_porep_sector **out, const char *c1,
                        const struct cuzk_porep_params *circuit, struct cuzk_budget *budget,
                        struct cuzk_error *err);
/* The replica id is that of this miner and sector, or CUZK_E_MISMATCH. */
cuzk_status check_owner(const struct cuzk_porep_sector *sector, const char *c1, uint64_t miner,
                        uint64_t number, struct cuzk_error *err);
/* A second witness with the same values. */
cuzk_status copy_witness(struct cuzk_witness **out, const struct cuzk_circuit *circuit,
                         const struct cuzk_witness *witness, struct cuzk_budget *budget,
                         struct cuzk_error *err);

/* Public inputs of `count` proofs, `each` elements a proof without the constant one. */
struct public_inputs {
    struct bls12_381_fr *values; /* count · each; freed by public_inputs_free */
    uint32_t count, each;
    bool owner_checked; /* the replica id was computed from a miner and a sector */
    bool of_another;    /* with CUZK_E_MISMATCH: not of the miner and sector that were given */
    const struct cuzk_porep_params *params; /* NULL where the source names no registered proof */
};
void public_inputs_free(struct public_inputs *inputs);

/* Exactly one is given. `circuit` is NULL or what --circuit says. */
struct input_source {
    const char *c1, *statement, *public_json, *r1cs, *circuit;
    bool miner_given, sector_given; /* both or none */
    uint64_t miner, sector;
};
/* On failure *out holds nothing but of_another. */
cuzk_status public_inputs_read(struct public_inputs *out, const struct input_source *source,
                               struct cuzk_error *err);

#endif
