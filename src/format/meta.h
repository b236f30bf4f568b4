/* META.json: the statement of a sector, as the commands `inputs`, `verify --statement` and
 * `mock-sector --statement` know it. doc/formats/meta.md.
 *
 *     registered_proof  text; may be missing where the circuit is chosen by name
 *     prover_id, ticket, seed, comm_d, comm_r   32 bytes in hex (little-endian numbers)
 *     sector_number     whole number
 *     circuit           optional: "porep-mini32" selects the miniature, whose registered proof is
 *                       that of 32 GiB
 *     porep_id, actor_id, sector_size  optional; if given they must agree with the rest
 *
 * Other keys are not looked at.
 */
#ifndef CUZK_FORMAT_META_H
#define CUZK_FORMAT_META_H

#include "circuit/porep_statement.h"

struct cuzk_meta {
    const struct cuzk_porep_params *params;
    uint8_t prover_id[32], ticket[32], seed[32];
    uint64_t sector_number;
    struct bls12_381_fr comm_d, comm_r;
    bool has_actor_id;
    uint64_t actor_id; /* the miner's */
};

/* circuit: NULL, or the circuit that is asked for (cuzk_porep_by_circuit): a registered proof of
 * another circuit is CUZK_E_MISMATCH, and a missing one is taken from it. Registered proofs that
 * are not proved here are refused by name. */
cuzk_status cuzk_meta_read(struct cuzk_meta *out, const char *path,
                           const struct cuzk_porep_params *circuit, struct cuzk_error *err);
/* The same of text in memory; `name` stands for the file in errors. */
cuzk_status cuzk_meta_parse(struct cuzk_meta *out, const char *name, const uint8_t *data,
                            size_t size, const struct cuzk_porep_params *circuit,
                            struct cuzk_error *err);

/* The statement of a sector that this miner owns (a mock sector's, say). */
void cuzk_meta_of(struct cuzk_meta *out, const struct cuzk_porep_sector *sector, uint64_t miner,
                  uint64_t sector_number);

/* Writes META.json with the optional keys, the digest of the public inputs
 * (cuzk_porep_inputs_digest), and a note unless it is NULL. */
cuzk_status cuzk_meta_write(const struct cuzk_meta *meta, const char *note, const char *path,
                            struct cuzk_error *err);

/* The statement with its replica id computed. */
cuzk_status cuzk_meta_statement(struct cuzk_porep_statement *out, const struct cuzk_meta *meta,
                                struct cuzk_error *err);

/* Whether C1 is of this sector: registered proof, comm_d, comm_r, seed, ticket and replica id.
 * CUZK_E_MISMATCH names the JSON path of the first that differs. */
cuzk_status cuzk_meta_match(const struct cuzk_meta *meta, const struct cuzk_porep_sector *sector,
                            struct cuzk_error *err);

/* Which registered proof a file means: `registered` is its text, NULL where it gives none. Shared
 * with C1; the error has no file before it. */
cuzk_status cuzk_porep_select(const struct cuzk_porep_params **out, const char *registered,
                              const struct cuzk_porep_params *circuit, struct cuzk_error *err);

#endif
