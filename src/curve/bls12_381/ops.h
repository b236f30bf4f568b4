/* What the rest of the engine asks of BLS12-381: one function table a path (portable C, x86-64 with
 * MULX and ADX), one call a vector. Within a call everything is inlined for its path. The tables
 * give the same bytes; tests hold each against the other.
 *
 * Scalars are Fr elements in Montgomery form. Scratch is charged to `budget` (NULL: nobody) under
 * CUZK_PURPOSE_MSM; calls that need scratch can fail. `threads` may be NULL. Results do not depend
 * on the number of threads.
 */
#ifndef CUZK_CURVE_BLS12_381_OPS_H
#define CUZK_CURVE_BLS12_381_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/budget.h"
#include "base/threads.h"
#include "curve/bls12_381/points.h"
#include "cuzk/errors.h"

/* Where a multi-exponentiation reads its points: memory, or a function that makes points
 * [first, first + count) when asked (a key decoded as it goes). fetch is called from several
 * threads at once, may be called more than once for a point, and reports failure by its status. */
struct bls12_381_g1_source {
    const struct bls12_381_g1_affine *points; /* if not NULL, fetch is not used */
    cuzk_status (*fetch)(void *context, struct bls12_381_g1_affine *out, size_t first, size_t count,
                         struct cuzk_error *err);
    void *context;
};
struct bls12_381_g2_source {
    const struct bls12_381_g2_affine *points;
    cuzk_status (*fetch)(void *context, struct bls12_381_g2_affine *out, size_t first, size_t count,
                         struct cuzk_error *err);
    void *context;
};

/* Scalars of a multi-exponentiation over n points in compact form: point i has scalar
 * bit i of `bits` where bit i of `is_bit` is set; the others have values[0], values[1] … in order.
 * is_bit = NULL: all are values. Bits that are set and not in is_bit are not allowed. */
struct bls12_381_scalars {
    const uint64_t *is_bit, *bits;
    const struct bls12_381_fr *values;
};

struct cuzk_run {
    struct cuzk_threads *threads;
    struct cuzk_budget *budget;
};

struct bls12_381_ops {
    const char *name; /* "portable", "x86_64-adx" */

    /* Encodings as the zcash format has them: 48/96 bytes compressed, 96/192 uncompressed, big
     * endian, three flag bits; G2 has c1 before c0. Decoding checks the flags, the range of the
     * coordinates and the curve; `subgroup` asks for the subgroup too. A bad one gives
     * CUZK_E_POINT or CUZK_E_RANGE with its index in *bad. Batches. */
    cuzk_status (*g1_decode)(struct bls12_381_g1_affine *out, const uint8_t *in, size_t n,
                             bool compressed, bool subgroup, size_t *bad, struct cuzk_error *err);
    cuzk_status (*g2_decode)(struct bls12_381_g2_affine *out, const uint8_t *in, size_t n,
                             bool compressed, bool subgroup, size_t *bad, struct cuzk_error *err);
    void (*g1_encode)(uint8_t *out, const struct bls12_381_g1_affine *in, size_t n,
                      bool compressed);
    void (*g2_encode)(uint8_t *out, const struct bls12_381_g2_affine *in, size_t n,
                      bool compressed);

    /* Single points, for assembly and tests. */
    void (*g1_add)(struct bls12_381_g1 *r, const struct bls12_381_g1 *a,
                   const struct bls12_381_g1 *b);
    void (*g2_add)(struct bls12_381_g2 *r, const struct bls12_381_g2 *a,
                   const struct bls12_381_g2 *b);
    void (*g1_double)(struct bls12_381_g1 *r, const struct bls12_381_g1 *a);
    void (*g2_double)(struct bls12_381_g2 *r, const struct bls12_381_g2 *a);
    void (*g1_neg)(struct bls12_381_g1 *r, const struct bls12_381_g1 *a);
    void (*g2_neg)(struct bls12_381_g2 *r, const struct bls12_381_g2 *a);
    void (*g1_mul)(struct bls12_381_g1 *r, const struct bls12_381_g1 *a,
                   const struct bls12_381_fr *k);
    void (*g2_mul)(struct bls12_381_g2 *r, const struct bls12_381_g2 *a,
                   const struct bls12_381_fr *k);
    void (*g1_from_affine)(struct bls12_381_g1 *r, const struct bls12_381_g1_affine *a);
    void (*g2_from_affine)(struct bls12_381_g2 *r, const struct bls12_381_g2_affine *a);
    void (*g1_to_affine)(struct bls12_381_g1_affine *r, const struct bls12_381_g1 *a);
    void (*g2_to_affine)(struct bls12_381_g2_affine *r, const struct bls12_381_g2 *a);
    bool (*g1_in_subgroup)(const struct bls12_381_g1_affine *a); /* and on the curve */
    bool (*g2_in_subgroup)(const struct bls12_381_g2_affine *a);

    /* True when the product of e(g1[i], g2[i]) over i is one; pairs with an infinity count as one.
     */
    bool (*pairing_is_one)(const struct bls12_381_g1_affine *g1,
                           const struct bls12_381_g2_affine *g2, size_t n);

    /* sum of scalars[i] * source[i], i < n < 2^31; infinity when it fails. */
    cuzk_status (*g1_msm)(struct bls12_381_g1 *out, const struct bls12_381_g1_source *source,
                          const struct bls12_381_scalars *scalars, size_t n,
                          const struct cuzk_run *run, struct cuzk_error *err);
    cuzk_status (*g2_msm)(struct bls12_381_g2 *out, const struct bls12_381_g2_source *source,
                          const struct bls12_381_scalars *scalars, size_t n,
                          const struct cuzk_run *run, struct cuzk_error *err);

    /* out[i] = scalars[i] * base, for setup. */
    cuzk_status (*g1_fixed_base)(struct bls12_381_g1_affine *out,
                                 const struct bls12_381_g1_affine *base,
                                 const struct bls12_381_fr *scalars, size_t n,
                                 const struct cuzk_run *run, struct cuzk_error *err);
    cuzk_status (*g2_fixed_base)(struct bls12_381_g2_affine *out,
                                 const struct bls12_381_g2_affine *base,
                                 const struct bls12_381_fr *scalars, size_t n,
                                 const struct cuzk_run *run, struct cuzk_error *err);

    /* Vectors over Fr: r = a*b elementwise, r = a*k, elementwise inverse (0 stays 0) in place. */
    void (*fr_mul_vector)(struct bls12_381_fr *r, const struct bls12_381_fr *a,
                          const struct bls12_381_fr *b, size_t n);
    void (*fr_scale_vector)(struct bls12_381_fr *r, const struct bls12_381_fr *a,
                            const struct bls12_381_fr *k, size_t n);
    void (*fr_invert_vector)(struct bls12_381_fr *r, struct bls12_381_fr *scratch, size_t n);
};

/* The fastest path this processor has, or the one named ("portable", "x86_64-adx"); NULL when it
 * has none of that name. cuzk_isa_force changes what "the fastest" is for the process (--isa). */
const struct bls12_381_ops *bls12_381_ops(const char *name);
/* CUZK_E_UNSUPPORTED when this processor or build has no such path. NULL lifts it. */
cuzk_status cuzk_isa_force(const char *name, struct cuzk_error *err);
/* The name in force: what tables of other folders (NTT, Poseidon) choose by. */
const char *cuzk_isa_name(void);

#endif
