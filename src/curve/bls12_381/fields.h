/* The two prime fields of BLS12-381, portable arithmetic: bls12_381_fp (coordinates) and
 * bls12_381_fr (scalars, witness values). Static inline functions, see field/mont.inc.h.
 */
#ifndef CUZK_CURVE_BLS12_381_FIELDS_H
#define CUZK_CURVE_BLS12_381_FIELDS_H

#include "curve/bls12_381/constants.h"

#define F bls12_381_fp
#define C BLS12_381_FP
#include "field/mont.inc.h"

#define F bls12_381_fr
#define C BLS12_381_FR
#include "field/mont.inc.h"

#endif
