/* A subgroup of small prime order over the Fp of BLS12-381, as a template: the same points, sums
 * and multi-exponentiations as the curve's own, over the real field, but few enough points that all
 * of them, all pairs and all scalars can be tried. For tests.
 *
 * Parameters: T (prefix of names), TB, TX, TY (constants of toy/constants.h), TORDER. Gives what
 * group.inc.h, batch_add.inc.h, msm.inc.h and fixed_base.inc.h give, with scalars of type
 * struct T_scalar, which are below TORDER.
 */
#ifndef T
#error "define T, the prefix of the group's names"
#endif
#if !defined(TB) || !defined(TX) || !defined(TY) || !defined(TORDER)
#error "define TB, TX, TY and TORDER, the group's constants"
#endif

#include <stdatomic.h>

#include "base/alloc.h"
#include "base/budget.h"
#include "base/threads.h"
#include "curve/bls12_381/fields.h"
#include "curve/toy/constants.h"

#define TN(name) CUZK_GLUE(T, name)

struct T {
    struct bls12_381_fp x, y, z;
};
struct TN(_affine) {
    struct bls12_381_fp x, y;
};
struct TN(_scalar) {
    uint64_t l[1];
};
struct TN(_source) {
    const struct TN(_affine) * points;
    cuzk_status (*fetch)(void *context, struct TN(_affine) * out, size_t first, size_t count,
                         struct cuzk_error *err);
    void *context;
};
struct TN(_scalars) {
    const uint64_t *is_bit, *bits;
    const struct TN(_scalar) * values;
};

static const struct bls12_381_fp TN(_b) = {{TB}};
static const struct TN(_affine) TN(_generator) = {{{TX}}, {{TY}}};
static const uint64_t TN(_order)[1] = {TORDER};

CUZK_INLINE void TN(_scalar_to_limbs)(uint64_t out[1], const struct TN(_scalar) * k)
{
    out[0] = k->l[0];
}

#define G T
#define GF bls12_381_fp
#define GB TN(_b)
#include "curve/group.inc.h"

#define G T
#define GF bls12_381_fp
#define GS TN(_scalar)
#define GS_LIMBS 1
#define GS_BITS 7
#define GS_ORDER TN(_order)
#define GSCALARS TN(_scalars)
#include "curve/batch_add.inc.h"

#include "curve/msm.inc.h"

#include "curve/fixed_base.inc.h"

#undef TN
#undef TB
#undef TX
#undef TY
