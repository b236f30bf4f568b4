/* Filecoin's Proof-of-Replication with libcuzk: a sector from the output of commit phase 1, and the
 * witness of each of its partitions.
 *
 *     cuzk_sector_open(&sector, context, "c1.json", NULL, &err);
 *     cuzk_relation_open(&relation, NULL, context, cuzk_sector_circuit(sector), &err);
 *     cuzk_key_open(&key, relation, "porep-2KiB.params", CUZK_KEY_STREAMED, &err);
 *     for (uint32_t p = 0; p < cuzk_sector_partitions(sector); p++) {
 *         cuzk_sector_witness(&witness, sector, relation, p, &err);
 *         cuzk_prove(key, &witness, NULL, proofs + p * CUZK_PROOF_BYTES, NULL, &err);
 *     }
 *
 * C1 is the JSON of filecoin-proofs-api, raw or in the clients' wrapper. Conventions are those of
 * groth16.h.
 */
#ifndef CUZK_SECTOR_H
#define CUZK_SECTOR_H

#include "cuzk/groth16.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cuzk_sector;

/* Reads C1 and holds it against itself: counts, paths, the nodes that seed and graph open, comm_r.
 * Errors name file, offset and JSON path. circuit: NULL, or the circuit where C1 cannot say it
 * ("porep-mini32"). */
CUZK_API cuzk_status cuzk_sector_open(struct cuzk_sector **out, struct cuzk_context *context,
                                      const char *c1, const char *circuit, struct cuzk_error *err);
CUZK_API void cuzk_sector_free(struct cuzk_sector *sector);

/* Both live as long as the program: "porep-2KiB", "StackedDrg2KiBV1_1". */
CUZK_API const char *cuzk_sector_circuit(const struct cuzk_sector *sector);
CUZK_API const char *cuzk_sector_registered_proof(const struct cuzk_sector *sector);
CUZK_API uint32_t cuzk_sector_partitions(const struct cuzk_sector *sector);
CUZK_API uint32_t cuzk_sector_inputs_each(const struct cuzk_sector *sector); /* a partition */

/* CUZK_E_MISMATCH if the replica id is not the one of this miner and sector number. Without this
 * call nobody has checked whose sector it is. */
CUZK_API cuzk_status cuzk_sector_check_owner(const struct cuzk_sector *sector, uint64_t miner,
                                             uint64_t sector_number, struct cuzk_error *err);

/* The public inputs that the statement gives a partition: cuzk_sector_inputs_each field elements.
 */
CUZK_API cuzk_status cuzk_sector_inputs(uint8_t *out, const struct cuzk_sector *sector,
                                        uint32_t partition, struct cuzk_error *err);

/* The witness of a partition. Every equality of the circuit is checked on the way: CUZK_E_INPUT
 * names the JSON path of the one that does not hold. Freed by cuzk_witness_free, or taken by
 * cuzk_prove. */
CUZK_API cuzk_status cuzk_sector_witness(struct cuzk_witness **out,
                                         const struct cuzk_sector *sector,
                                         const struct cuzk_relation *relation, uint32_t partition,
                                         struct cuzk_error *err);

#ifdef __cplusplus
}
#endif
#endif
