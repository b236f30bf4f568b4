/* Verifying key, proof and public inputs as the JSON that snarkjs verifies (protocol groth16, curve
 * bls12381): numbers in decimal strings, points as [x, y, 1], coordinates of G2 as [c0, c1].
 *
 * snarkjs's own files of a key also hold vk_alphabeta_12, a pairing that its verifier does not
 * read; it is left out.
 */
#ifndef CUZK_FORMAT_SNARKJS_H
#define CUZK_FORMAT_SNARKJS_H

#include "format/json_out.h"
#include "format/params.h"
#include "format/proof.h"

void cuzk_snarkjs_vk(struct cuzk_json *j, const struct cuzk_vk *vk);
void cuzk_snarkjs_proof(struct cuzk_json *j, const struct cuzk_proof *proof);
/* Without the constant one: n = ic_count - 1. */
void cuzk_snarkjs_public(struct cuzk_json *j, const struct bls12_381_fr *inputs, size_t n);

/* Reads a file of public inputs back: an array of decimal strings, each below r. At most
 * CUZK_SNARKJS_MAX_PUBLIC of them. *inputs is freed by cuzk_free. */
#define CUZK_SNARKJS_MAX_PUBLIC (1u << 20)
cuzk_status cuzk_snarkjs_public_read(struct bls12_381_fr **inputs, size_t *count, const char *path,
                                     struct cuzk_error *err);
cuzk_status cuzk_snarkjs_public_parse(struct bls12_381_fr **inputs, size_t *count, const char *name,
                                      const uint8_t *data, size_t size, struct cuzk_error *err);

#endif
