/* Number-theoretic transforms over Fr of BLS12-381 on domains of 2^k points, k from 0 to 32.
 *
 * The domain is {w^i}, w = ROOT_OF_UNITY^(2^(32-k)), as bellperson's EvaluationDomain has it. The
 * transforms have one side in bit-reversed order and permute nothing; natural values from
 * cuzk_ntt_forward or for cuzk_ntt_inverse cost an exchange of tiles besides. The quotient's
 * transforms keep values natural and coefficients reversed, and its last subtraction puts h in
 * order.
 *
 * Owner: a plan belongs to its creator and is read only after that; any number of threads may use
 * it. Its tables are at most 512 KiB, charged to CUZK_PURPOSE_NTT; transforms need 400 KiB of the
 * stack of each thread and no other memory. Results do not depend on the number of threads.
 */
#ifndef CUZK_POLY_NTT_H
#define CUZK_POLY_NTT_H

#include "curve/bls12_381/ops.h"

struct cuzk_ntt;

cuzk_status cuzk_ntt_create(struct cuzk_ntt **out, unsigned log2_size, const struct cuzk_run *run,
                            struct cuzk_error *err);
void cuzk_ntt_destroy(struct cuzk_ntt *ntt);

enum cuzk_order { CUZK_ORDER_NATURAL, CUZK_ORDER_REVERSED };

/* In place, over 2^k elements. forward: coefficients (natural) to values in the order asked for.
 * inverse: values in the given order to coefficients (natural), divided by 2^k.
 * coset: values at shift·w^i, where shift is any non-zero element (NULL: 1). */
void cuzk_ntt_forward(const struct cuzk_ntt *ntt, struct bls12_381_fr *a, enum cuzk_order out_order,
                      const struct bls12_381_fr *shift, const struct cuzk_run *run);
void cuzk_ntt_inverse(const struct cuzk_ntt *ntt, struct bls12_381_fr *a, enum cuzk_order in_order,
                      const struct bls12_381_fr *shift, const struct cuzk_run *run);

/* The quotient h of a∘b - c by X^n - 1, where c = a∘b on the domain: what a satisfied witness has
 * (ARCHITECTURE.md: six transforms). a and b hold the values of A·w and B·w on the domain in
 * natural order. On return a holds h's n coefficients, the last one zero; b and c (n elements of
 * scratch, need not be set) are destroyed. Domains of at most 2^31 points: it takes a root of order
 * 2n. */
void cuzk_ntt_quotient(const struct cuzk_ntt *ntt, struct bls12_381_fr *a, struct bls12_381_fr *b,
                       struct bls12_381_fr *c, const struct cuzk_run *run);

#endif
