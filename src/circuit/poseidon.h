/* Poseidon over BLS12-381 Fr as Filecoin uses it: x^5, width arity + 1, domain tag 2^arity - 1 in
 * the first element, output the second; arities 2, 4, 8 and 11.
 *
 * Every constant is computed from its definition, once: the round numbers by the security
 * inequalities (Poseidon paper, 2019/458, with 7.5 % more partial and two more full rounds), the
 * round constants by the Grain LFSR in self-shrinking mode (the paper's reference script), the MDS
 * matrix as the Cauchy matrix 1/(i + (t + j)). Then the optimised form: constants pushed behind
 * the S-boxes, and the partial rounds' matrices factored into sparse ones (the paper's supplement),
 * which is what the circuit's constraints are made of too.
 */
#ifndef CUZK_CIRCUIT_POSEIDON_H
#define CUZK_CIRCUIT_POSEIDON_H

#include <stdint.h>

#include "curve/bls12_381/fields.h"

enum {
    CUZK_POSEIDON_MAX_WIDTH = 12,
    CUZK_POSEIDON_FULL = 8, /* full rounds, for all our widths */
    CUZK_POSEIDON_MAX_PARTIAL = 60
};

struct cuzk_poseidon {
    uint32_t arity, width, partial;
    struct bls12_381_fr tag;
    /* In order of use: added before the first S-boxes (width), after the S-boxes of the first four
     * full rounds (4·width), after the single S-box of the partial rounds (partial), after those of
     * the last full rounds but one (3·width). */
    struct bls12_381_fr
        keys[CUZK_POSEIDON_MAX_WIDTH * CUZK_POSEIDON_FULL + CUZK_POSEIDON_MAX_PARTIAL];
    /* The tag after the first round's S-box: a constant of the circuit. */
    struct bls12_381_fr first_box;
    /* New element j is the sum over i of element i times matrix[i][j]. mds is symmetric; pre_sparse
     * takes its place in the last full round before the partial ones. */
    struct bls12_381_fr mds[CUZK_POSEIDON_MAX_WIDTH][CUZK_POSEIDON_MAX_WIDTH];
    struct bls12_381_fr pre_sparse[CUZK_POSEIDON_MAX_WIDTH][CUZK_POSEIDON_MAX_WIDTH];
    /* Partial round k: new element 0 is the dot product with column[k]; new element j is element j
     * plus element 0 times row[k][j] (row[k][0] is not used). */
    struct bls12_381_fr column[CUZK_POSEIDON_MAX_PARTIAL][CUZK_POSEIDON_MAX_WIDTH];
    struct bls12_381_fr row[CUZK_POSEIDON_MAX_PARTIAL][CUZK_POSEIDON_MAX_WIDTH];
};

/* The constants, computed at the first call (some milliseconds, any thread); NULL for another
 * arity. They live as long as the process. */
const struct cuzk_poseidon *cuzk_poseidon(unsigned arity);

/* *out = hash of in[0 .. arity - 1]; out may be one of them. */
void cuzk_poseidon_hash(struct bls12_381_fr *out, const struct cuzk_poseidon *p,
                        const struct bls12_381_fr *in);

/* The values that the circuit of this hash allocates, in its order; the last is the hash. */
uint32_t cuzk_poseidon_witness_size(const struct cuzk_poseidon *p);
void cuzk_poseidon_witness(struct bls12_381_fr *out, const struct cuzk_poseidon *p,
                           const struct bls12_381_fr *in);

#endif
