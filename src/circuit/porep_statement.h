/* What a PoRep proof says: the replica's identity, the nodes that the seed challenges, and the
 * public inputs of each partition.
 *
 * Source: rust-fil-proofs 19, storage-proofs-porep/src/stacked/vanilla/{params,challenges}.rs and
 * circuit/proof.rs (generate_public_inputs).
 */
#ifndef CUZK_CIRCUIT_POREP_STATEMENT_H
#define CUZK_CIRCUIT_POREP_STATEMENT_H

#include "circuit/porep.h"

struct cuzk_porep_statement {
    const struct cuzk_porep_params *params;
    struct bls12_381_fr replica_id, comm_d, comm_r;
    uint8_t seed[32];
};

/* The prover id of a miner's actor id: unsigned LEB128 (the payload of its ID address), then
 * zeros. */
void cuzk_porep_prover_id(uint8_t out[32], uint64_t miner);

/* SHA-256 of prover id, sector number, ticket, comm_d and porep id, cut to 254 bits. */
cuzk_status cuzk_porep_replica_id(struct bls12_381_fr *out, const struct cuzk_porep_params *params,
                                  const uint8_t prover_id[32], uint64_t sector_number,
                                  const uint8_t ticket[32], const struct bls12_381_fr *comm_d,
                                  struct cuzk_error *err);

/* CUZK_E_UNSUPPORTED, by name, for a registered proof that is known and not proved here. */
cuzk_status cuzk_porep_supported(const struct cuzk_porep_params *params, struct cuzk_error *err);

/* The statement that C1 makes of itself. */
void cuzk_porep_statement_of(struct cuzk_porep_statement *out,
                             const struct cuzk_porep_sector *sector);

/* The challenged nodes of a partition: params->challenges of them, never node 0. */
cuzk_status cuzk_porep_challenges(uint32_t *out, const struct cuzk_porep_statement *statement,
                                  uint32_t partition, struct cuzk_error *err);

/* Public inputs of a partition without the leading one, cuzk_porep_inputs(params) of them:
 * replica id, comm_d, comm_r; then for each challenge the node (tree D), its six DRG and eight
 * expander parents, and the node three times (itself, tree R, tree C). */
cuzk_status cuzk_porep_public_inputs(struct bls12_381_fr *out,
                                     const struct cuzk_porep_statement *statement,
                                     uint32_t partition, struct cuzk_error *err);

/* SHA-256 over the inputs of all partitions in order, 32 bytes little-endian each. */
cuzk_status cuzk_porep_inputs_digest(uint8_t out[32], const struct cuzk_porep_statement *statement,
                                     struct cuzk_error *err);

/* Holds a C1 against itself: the opened nodes are those that seed and graph give, and comm_r is the
 * hash of comm_c and comm_r_last. The error (CUZK_E_INPUT) begins with the JSON path. */
cuzk_status cuzk_porep_check(const struct cuzk_porep_sector *sector, struct cuzk_error *err);

/* Holds a C1 against the miner and sector it should be of: the replica id is computed again.
 * CUZK_E_MISMATCH names replica_id. */
cuzk_status cuzk_porep_check_owner(const struct cuzk_porep_sector *sector,
                                   const uint8_t prover_id[32], uint64_t sector_number,
                                   struct cuzk_error *err);

#endif
