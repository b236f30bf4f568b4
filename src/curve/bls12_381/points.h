/* Point types of BLS12-381, shared by C and by the shells of CUDA kernels: plain words, no methods.
 * Coordinates are in Montgomery form. The affine infinity is (0, 0), which is on neither curve.
 */
#ifndef CUZK_CURVE_BLS12_381_POINTS_H
#define CUZK_CURVE_BLS12_381_POINTS_H

#include "curve/bls12_381/fields.h"

struct bls12_381_fp2 {
    struct bls12_381_fp c0, c1; /* c0 + c1 u, u^2 = -1 */
};

struct bls12_381_g1_affine {
    struct bls12_381_fp x, y;
};
struct bls12_381_g2_affine {
    struct bls12_381_fp2 x, y;
};

/* Jacobian: (X/Z^2, Y/Z^3); Z = 0 is infinity. */
struct bls12_381_g1 {
    struct bls12_381_fp x, y, z;
};
struct bls12_381_g2 {
    struct bls12_381_fp2 x, y, z;
};

#endif
