/* BLS12-381 for one instruction-set path: the templates of field/ and curve/ with this curve's
 * parameters, gathered in the table of ops.h. Compiled once for each path (see field/isa.h).
 * Variable time throughout: for proving and verifying, not for signing.
 */
#include "curve/bls12_381/ops.h"

#include <stdatomic.h>

#include "base/alloc.h"
#include "field/isa.h"

/* ---- fields and groups ---- */

#define F bls12_381_fp
#define F2 bls12_381_fp2
#define XI 1
#include "field/fp2.inc.h"

#define F bls12_381_fp
#define F2 bls12_381_fp2
#define F6 bls12_381_fp6
#define F12 bls12_381_fp12
#define XI 1
#include "field/tower.inc.h"

static const struct bls12_381_fp g1_b = {{BLS12_381_G1_B}};
static const struct bls12_381_fp2 g2_b = {{{BLS12_381_G1_B}}, {{BLS12_381_G1_B}}};

#define G bls12_381_g1
#define GF bls12_381_fp
#define GB g1_b
#include "curve/group.inc.h"

#define G bls12_381_g2
#define GF bls12_381_fp2
#define GB g2_b
#include "curve/group.inc.h"

/* ---- subgroups: Scott, A note on group membership tests for G1, G2 and GT on BLS
 * pairing-friendly curves, 2021 ---- */

static const struct bls12_381_fp beta = {{BLS12_381_G1_BETA}};
static const struct bls12_381_fp2 psi_x = {{{BLS12_381_PSI_X_C0}}, {{BLS12_381_PSI_X_C1}}};
static const struct bls12_381_fp2 psi_y = {{{BLS12_381_PSI_Y_C0}}, {{BLS12_381_PSI_Y_C1}}};
static const uint64_t x_abs = BLS12_381_X_ABS;

/* Points of r's order, and they alone, have (beta x, y) = -x^2 (x, y). */
static bool g1_in_subgroup(const struct bls12_381_g1_affine *a)
{
    if (!bls12_381_g1_affine_on_curve(a))
        return false;
    struct bls12_381_g1 s, t;
    bls12_381_g1_from_affine(&s, a);
    bls12_381_g1_mul_sparse(&t, &s, x_abs);
    bls12_381_g1_mul_sparse(&t, &t, x_abs);
    bls12_381_g1_neg(&t, &t);
    bls12_381_fp_mul(&s.x, &s.x, &beta);
    return bls12_381_g1_eq(&s, &t);
}

/* Points of r's order, and they alone, have psi(Q) = x Q; psi is the Frobenius map brought to the
 * twist. */
static bool g2_in_subgroup(const struct bls12_381_g2_affine *a)
{
    if (!bls12_381_g2_affine_on_curve(a))
        return false;
    struct bls12_381_g2 s, t;
    bls12_381_g2_from_affine(&s, a);
    bls12_381_g2_mul_sparse(&t, &s, x_abs);
    bls12_381_g2_neg(&t, &t);
    bls12_381_fp2_conj(&s.x, &s.x);
    bls12_381_fp2_conj(&s.y, &s.y);
    bls12_381_fp2_mul(&s.x, &s.x, &psi_x);
    bls12_381_fp2_mul(&s.y, &s.y, &psi_y);
    return bls12_381_g2_eq(&s, &t);
}

static void g1_mul(struct bls12_381_g1 *r, const struct bls12_381_g1 *a,
                   const struct bls12_381_fr *k)
{
    uint64_t limbs[BLS12_381_FR_LIMBS];
    bls12_381_fr_to_limbs(limbs, k);
    bls12_381_g1_mul_limbs(r, a, limbs, BLS12_381_FR_LIMBS);
}

static void g2_mul(struct bls12_381_g2 *r, const struct bls12_381_g2 *a,
                   const struct bls12_381_fr *k)
{
    uint64_t limbs[BLS12_381_FR_LIMBS];
    bls12_381_fr_to_limbs(limbs, k);
    bls12_381_g2_mul_limbs(r, a, limbs, BLS12_381_FR_LIMBS);
}

/* ---- encodings ---- */

#define G bls12_381_g1
#define GF bls12_381_fp
#define GB g1_b
#define GSUBGROUP g1_in_subgroup
#include "curve/encoding.inc.h"

#define G bls12_381_g2
#define GF bls12_381_fp2
#define GB g2_b
#define GSUBGROUP g2_in_subgroup
#include "curve/encoding.inc.h"

/* ---- multi-exponentiation ---- */

#define G bls12_381_g1
#define GF bls12_381_fp
#define GS bls12_381_fr
#define GS_LIMBS BLS12_381_FR_LIMBS
#define GS_BITS BLS12_381_FR_BITS
#define GS_ORDER bls12_381_fr_modulus
#define GSCALARS bls12_381_scalars
#include "curve/batch_add.inc.h"

#include "curve/msm.inc.h"

#include "curve/fixed_base.inc.h"

#define G bls12_381_g2
#define GF bls12_381_fp2
#define GS bls12_381_fr
#define GS_LIMBS BLS12_381_FR_LIMBS
#define GS_BITS BLS12_381_FR_BITS
#define GS_ORDER bls12_381_fr_modulus
#define GSCALARS bls12_381_scalars
#include "curve/batch_add.inc.h"

#include "curve/msm.inc.h"

#include "curve/fixed_base.inc.h"

/* ---- pairing ---- */

static const struct bls12_381_fp2 frobenius[5] = {
    {{{BLS12_381_FROBENIUS_1_C0}}, {{BLS12_381_FROBENIUS_1_C1}}},
    {{{BLS12_381_FROBENIUS_2_C0}}, {{BLS12_381_FROBENIUS_2_C1}}},
    {{{BLS12_381_FROBENIUS_3_C0}}, {{BLS12_381_FROBENIUS_3_C1}}},
    {{{BLS12_381_FROBENIUS_4_C0}}, {{BLS12_381_FROBENIUS_4_C1}}},
    {{{BLS12_381_FROBENIUS_5_C0}}, {{BLS12_381_FROBENIUS_5_C1}}},
};
static const struct bls12_381_fp frobenius2[5] = {
    {{BLS12_381_FROBENIUS2_1}}, {{BLS12_381_FROBENIUS2_2}}, {{BLS12_381_FROBENIUS2_3}},
    {{BLS12_381_FROBENIUS2_4}}, {{BLS12_381_FROBENIUS2_5}},
};

/* r = 3 b' a = 12 xi a. */
static inline void twist_3b(struct bls12_381_fp2 *r, const struct bls12_381_fp2 *a)
{
    struct bls12_381_fp2 t;
    bls12_381_fp2_mul_xi(r, a);
    bls12_381_fp2_dbl(&t, r);
    bls12_381_fp2_add(&t, &t, r);
    bls12_381_fp2_dbl(&t, &t);
    bls12_381_fp2_dbl(r, &t);
}

#define P bls12_381
#define F bls12_381_fp
#define F2 bls12_381_fp2
#define F6 bls12_381_fp6
#define F12 bls12_381_fp12
#define G1 bls12_381_g1
#define G2 bls12_381_g2
#define X_ABS BLS12_381_X_ABS
#define X_NEGATIVE true
#define TWIST_3B twist_3b
#define FROBENIUS frobenius
#define FROBENIUS2 frobenius2
#include "curve/pairing.inc.h"

static bool pairing_is_one(const struct bls12_381_g1_affine *g1,
                           const struct bls12_381_g2_affine *g2, size_t n)
{
    struct bls12_381_fp12 f;
    bls12_381_miller(&f, g1, g2, n);
    bls12_381_final_exponentiation(&f, &f);
    return bls12_381_fp12_is_one(&f);
}

/* ---- vectors over Fr ---- */

static void fr_mul_vector(struct bls12_381_fr *r, const struct bls12_381_fr *a,
                          const struct bls12_381_fr *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        bls12_381_fr_mul(&r[i], &a[i], &b[i]);
}

static void fr_scale_vector(struct bls12_381_fr *r, const struct bls12_381_fr *a,
                            const struct bls12_381_fr *k, size_t n)
{
    const struct bls12_381_fr factor = *k;
    for (size_t i = 0; i < n; i++)
        bls12_381_fr_mul(&r[i], &a[i], &factor);
}

/* Montgomery's trick; scratch holds the products of what comes before each element. */
static void fr_invert_vector(struct bls12_381_fr *r, struct bls12_381_fr *scratch, size_t n)
{
    struct bls12_381_fr product = bls12_381_fr_one, t;
    for (size_t i = 0; i < n; i++) {
        scratch[i] = product;
        if (!bls12_381_fr_is_zero(&r[i]))
            bls12_381_fr_mul(&product, &product, &r[i]);
    }
    bls12_381_fr_inv(&product, &product);
    for (size_t i = n; i-- > 0;) {
        if (bls12_381_fr_is_zero(&r[i]))
            continue;
        bls12_381_fr_mul(&t, &product, &scratch[i]);
        bls12_381_fr_mul(&product, &product, &r[i]);
        r[i] = t;
    }
}

extern const struct bls12_381_ops CUZK_ISA_FN(bls12_381_ops);
const struct bls12_381_ops CUZK_ISA_FN(bls12_381_ops) = {
    .name = CUZK_ISA_NAME,
    .g1_decode = bls12_381_g1_decode,
    .g2_decode = bls12_381_g2_decode,
    .g1_encode = bls12_381_g1_encode,
    .g2_encode = bls12_381_g2_encode,
    .g1_add = bls12_381_g1_add,
    .g2_add = bls12_381_g2_add,
    .g1_double = bls12_381_g1_double,
    .g2_double = bls12_381_g2_double,
    .g1_neg = bls12_381_g1_neg,
    .g2_neg = bls12_381_g2_neg,
    .g1_mul = g1_mul,
    .g2_mul = g2_mul,
    .g1_from_affine = bls12_381_g1_from_affine,
    .g2_from_affine = bls12_381_g2_from_affine,
    .g1_to_affine = bls12_381_g1_to_affine,
    .g2_to_affine = bls12_381_g2_to_affine,
    .g1_in_subgroup = g1_in_subgroup,
    .g2_in_subgroup = g2_in_subgroup,
    .pairing_is_one = pairing_is_one,
    .fr_mul_vector = fr_mul_vector,
    .fr_scale_vector = fr_scale_vector,
    .fr_invert_vector = fr_invert_vector,
    .g1_msm = bls12_381_g1_msm,
    .g2_msm = bls12_381_g2_msm,
    .g1_fixed_base = bls12_381_g1_fixed_base,
    .g2_fixed_base = bls12_381_g2_fixed_base,
};
