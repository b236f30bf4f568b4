/* BLS12-381 for one instruction-set path: the templates of field/ and curve/ with this curve's
 * parameters, gathered in the table of ops.h. Compiled once for each path (see field/isa.h).
 * Variable time throughout: for proving and verifying, not for signing.
 */
#include "curve/bls12_381/ops.h"
#include "field/isa.h"

/* ---- fields and groups ---- */

#define F bls12_381_fp
#define F2 bls12_381_fp2
#include "field/fp2.inc.h"

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

static const uint64_t order[BLS12_381_FR_LIMBS] = {BLS12_381_FR_MODULUS};

static bool g1_in_subgroup(const struct bls12_381_g1_affine *a)
{
    struct bls12_381_g1 t;
    bls12_381_g1_from_affine(&t, a);
    bls12_381_g1_mul_limbs(&t, &t, order, BLS12_381_FR_LIMBS);
    return bls12_381_g1_affine_on_curve(a) && bls12_381_g1_is_infinity(&t);
}

static bool g2_in_subgroup(const struct bls12_381_g2_affine *a)
{
    struct bls12_381_g2 t;
    bls12_381_g2_from_affine(&t, a);
    bls12_381_g2_mul_limbs(&t, &t, order, BLS12_381_FR_LIMBS);
    return bls12_381_g2_affine_on_curve(a) && bls12_381_g2_is_infinity(&t);
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

/* ---- multi-exponentiation: curve/msm*.inc.h are included here, their entries are below ---- */

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
    .fr_mul_vector = fr_mul_vector,
    .fr_scale_vector = fr_scale_vector,
    .fr_invert_vector = fr_invert_vector,
    /* multi-exponentiation: g1_msm, g2_msm, g1_fixed_base, g2_fixed_base */
};
