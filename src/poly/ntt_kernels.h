/* Between ntt.c and its kernels: the plan, and the table that each instruction-set path gives.
 *
 * Values are a polynomial's at d·w^e for e < n, where d is the shift and w the root of order n.
 * Two networks exist, and each is its inverse's mirror image:
 *
 *     x: coefficients in natural order, values in bit-reversed order;
 *     y: coefficients in bit-reversed order, values in natural order.
 *
 * Transforms in place; inverse ones take 1/d instead of d and divide by 2^halvings (not by n of
 * themselves). Up to 400 KiB of stack are used on each thread.
 */
#ifndef CUZK_POLY_NTT_KERNELS_H
#define CUZK_POLY_NTT_KERNELS_H

#include "base/threads.h"
#include "curve/bls12_381/fields.h"
#include "poly/ntt.h"

/* Largest transforms done in one piece: a row, and a column of the pass over columns. */
#define NTT_ROW_LOG2 12
#define NTT_COLUMN_LOG2 10

/* Bit reversals move square tiles, so that whole cache lines are read and written. */
#define NTT_TILE_LOG2 4
#define NTT_TILE ((size_t)1 << NTT_TILE_LOG2)

/* A table of twiddles for transforms of up to 2^NTT_ROW_LOG2 points holds at 2^l + j, j < 2^l, the
 * root of order 2^(l+1) to the power j (natural) or to j with its l bits reversed. */
enum ntt_table { NTT_NATURAL, NTT_REVERSED, NTT_NATURAL_INVERSE, NTT_REVERSED_INVERSE, NTT_TABLES };

struct cuzk_ntt {
    unsigned log2_size;
    struct cuzk_budget *budget;
    uint64_t bytes; /* of all tables, which are one allocation */
    struct bls12_381_fr *table[NTT_TABLES];
    struct bls12_381_fr root[2][BLS12_381_FR_TWO_ADICITY + 1]; /* of order 2^k, and its inverse */
    const struct ntt_kernels *kernels;
};

struct ntt_kernels {
    /* d NULL: 1. */
    void (*x_forward)(const struct cuzk_ntt *ntt, struct bls12_381_fr *a, unsigned k,
                      const struct bls12_381_fr *d, struct cuzk_threads *threads);
    void (*x_inverse)(const struct cuzk_ntt *ntt, struct bls12_381_fr *a, unsigned k,
                      const struct bls12_381_fr *d_inverse, unsigned halvings,
                      struct cuzk_threads *threads);
    void (*y_forward)(const struct cuzk_ntt *ntt, struct bls12_381_fr *a, unsigned k,
                      const struct bls12_381_fr *d, struct cuzk_threads *threads);
    void (*y_inverse)(const struct cuzk_ntt *ntt, struct bls12_381_fr *a, unsigned k,
                      const struct bls12_381_fr *d_inverse, unsigned halvings,
                      struct cuzk_threads *threads);
    /* r[i] = a[i] b[i] / 2^halvings, i < 2^k; halvings <= 64; r may be a or b */
    void (*multiply)(struct bls12_381_fr *r, const struct bls12_381_fr *a,
                     const struct bls12_381_fr *b, unsigned k, unsigned halvings,
                     struct cuzk_threads *threads);
    /* r[i with its k bits reversed] = (a[i] - b[i]) / 2^halvings; r is neither a nor b */
    void (*subtract_reversed)(struct bls12_381_fr *r, const struct bls12_381_fr *a,
                              const struct bls12_381_fr *b, unsigned k, unsigned halvings,
                              struct cuzk_threads *threads);
};

extern const struct ntt_kernels ntt_kernels_portable, ntt_kernels_x86_64_adx;

/* The lowest `bits` bits of i in reverse order. */
static inline size_t ntt_reverse(size_t i, unsigned bits)
{
    uint64_t x = i;
    x = (x >> 1 & 0x5555555555555555) | (x & 0x5555555555555555) << 1;
    x = (x >> 2 & 0x3333333333333333) | (x & 0x3333333333333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f0f0f0f0f) | (x & 0x0f0f0f0f0f0f0f0f) << 4;
    x = __builtin_bswap64(x);
    return bits == 0 ? 0 : (size_t)(x >> (64 - bits));
}

#endif
