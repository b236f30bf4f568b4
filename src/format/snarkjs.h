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

#endif
