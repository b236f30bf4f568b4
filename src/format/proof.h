/* Proof bytes as the network writes them: a partition is A (G1), B (G2), C (G1), compressed, 48 +
 * 96 + 48 = 192 bytes; a sector's partitions follow one another without framing.
 * doc/formats/proof.md.
 */
#ifndef CUZK_FORMAT_PROOF_H
#define CUZK_FORMAT_PROOF_H

#include "curve/bls12_381/ops.h"

#define CUZK_PROOF_BYTES 192
#define CUZK_PROOF_MAX_PARTITIONS 4096 /* far above any registered proof: bounds what is read */

struct cuzk_proof {
    struct bls12_381_g1_affine a;
    struct bls12_381_g2_affine b;
    struct bls12_381_g1_affine c;
};

void cuzk_proof_encode(uint8_t out[CUZK_PROOF_BYTES], const struct cuzk_proof *proof);

/* All points are checked, subgroup included; none may be infinity. The error names the point and
 * its offset in `in`; out is zeroed on failure. */
cuzk_status cuzk_proof_decode(struct cuzk_proof *out, const uint8_t in[CUZK_PROOF_BYTES],
                              struct cuzk_error *err);

/* A proof file: *count partitions, freed by cuzk_free. */
cuzk_status cuzk_proof_read(struct cuzk_proof **proofs, size_t *count, const char *path,
                            struct cuzk_error *err);
cuzk_status cuzk_proof_write(const char *path, const struct cuzk_proof *proofs, size_t count,
                             struct cuzk_error *err);

#endif
