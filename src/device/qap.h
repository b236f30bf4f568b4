/* What Groth16 adds to a circuit: the domain, and the order of the key's queries. Prover, setup and
 * the check of a key against a circuit share it; every device reads it.
 *
 * Queries a and b hold only the points whose polynomial is not zero: inputs first, then
 * auxiliaries, each in order. So the scalars of a query are the witness squeezed by the density's
 * bitmaps. They stay compact: bits where a variable is boolean by construction, field elements
 * elsewhere.
 *
 * Owner: the creator; read only once made, then any thread may read it. Memory is charged to
 * CUZK_PURPOSE_SHAPE.
 */
#ifndef CUZK_DEVICE_QAP_H
#define CUZK_DEVICE_QAP_H

#include "circuit/circuit.h"
#include "curve/bls12_381/ops.h"

/* One query's layout: point i < inputs belongs to the i-th input in the query, the rest to
 * auxiliaries. is_bit is of `count` bits: zero for inputs and for auxiliaries that are not boolean.
 */
struct cuzk_query {
    const uint64_t *in_inputs, *in_aux; /* the density's bitmaps */
    uint32_t inputs, aux;               /* variables of each kind in the query */
    uint32_t count;                     /* inputs + aux: points of the key */
    uint32_t dense;                     /* inputs, and auxiliaries that are not boolean */
    uint64_t *is_bit;
};

struct cuzk_qap {
    const struct cuzk_circuit *circuit; /* borrowed: outlives this */
    struct cuzk_density density;
    uint32_t rows;        /* the circuit's, and one x_i·0 = 0 for each input */
    unsigned log2_domain; /* least k with 2^k >= rows */
    struct cuzk_query a, b;
    struct cuzk_budget *budget;
    uint64_t charged;
};

/* CUZK_E_ARGUMENT for a circuit without the constant one, or with more than 2^31 rows in all. */
cuzk_status cuzk_qap_create(struct cuzk_qap **out, const struct cuzk_circuit *circuit,
                            struct cuzk_budget *budget, struct cuzk_error *err);
void cuzk_qap_destroy(struct cuzk_qap *qap); /* tolerates NULL */

/* Words of a bitmap of n bits. */
static inline size_t cuzk_words(size_t n)
{
    return (n + 63) / 64;
}

/* The witness in the order of a query: bits (cuzk_words(query->count) words) and values
 * (query->dense elements), the two halves of bls12_381_scalars beside query->is_bit. */
void cuzk_query_gather(uint64_t *bits, struct bls12_381_fr *values, const struct cuzk_qap *qap,
                       const struct cuzk_query *query, const struct cuzk_witness *witness);

#endif
