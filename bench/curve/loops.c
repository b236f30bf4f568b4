/* The loops of loops.h for one instruction-set path. */
#include "loops.h"

#include "curve/bls12_381/points.h"
#include "field/isa.h"

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

#define BINARY(name, type)                                                                         \
    static void name(void *r, const void *a, size_t n)                                             \
    {                                                                                              \
        struct bls12_381_##type x = *(const struct bls12_381_##type *)a, y = x;                    \
        while (n-- > 0)                                                                            \
            bls12_381_##name(&x, &x, &y);                                                          \
        *(struct bls12_381_##type *)r = x;                                                         \
    }
#define UNARY(name, type)                                                                          \
    static void name(void *r, const void *a, size_t n)                                             \
    {                                                                                              \
        struct bls12_381_##type x = *(const struct bls12_381_##type *)a;                           \
        while (n-- > 0)                                                                            \
            bls12_381_##name(&x, &x);                                                              \
        *(struct bls12_381_##type *)r = x;                                                         \
    }

BINARY(fp_mul, fp)
UNARY(fp_sqr, fp)
UNARY(fp_inv, fp)
BINARY(fr_mul, fr)
UNARY(fr_inv, fr)
BINARY(fp2_mul, fp2)
UNARY(fp2_sqr, fp2)
BINARY(fp12_mul, fp12)
UNARY(fp12_sqr, fp12)
UNARY(fp12_cyclotomic_sqr, fp12)

static void fp_mul_16(void *r, const void *a, size_t n)
{
    struct bls12_381_fp x[16], y = *(const struct bls12_381_fp *)a;
    for (int i = 0; i < 16; i++)
        x[i] = y;
    for (size_t i = 0; i < n; i++)
        bls12_381_fp_mul(&x[i % 16], &x[i % 16], &y);
    *(struct bls12_381_fp *)r = x[0];
}

const struct curve_loops CUZK_ISA_FN(curve_loops) = {
    fp_mul,   fp_mul_16,           fp_sqr, fp_inv, fr_mul, fr_inv, fp2_mul, fp2_sqr, fp12_mul,
    fp12_sqr, fp12_cyclotomic_sqr,
};
