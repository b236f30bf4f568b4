/* The Poseidon permutation for one instruction-set path (see field/isa.h), with the circuit's
 * values written on the way where they are wanted. Dot products are reduced once, not once a
 * product. */
#include "circuit/poseidon_kernels.h"

typedef struct bls12_381_fr fr;

/* A sum of at most 12 products of 512 bits. */
struct wide {
    uint64_t l[9];
};

CUZK_INLINE void wide_add_product(struct wide *w, const fr *a, const fr *b)
{
    uint64_t p[8];
    cuzk_u128 x = (cuzk_u128)a->l[0] * b->l[0];
    p[0] = (uint64_t)x;
    for (int j = 1; j < 4; j++) {
        x = (cuzk_u128)a->l[j] * b->l[0] + (uint64_t)(x >> 64);
        p[j] = (uint64_t)x;
    }
    p[4] = (uint64_t)(x >> 64);
    for (int i = 1; i < 4; i++) {
        x = (cuzk_u128)a->l[0] * b->l[i] + p[i];
        p[i] = (uint64_t)x;
        for (int j = 1; j < 4; j++) {
            x = (cuzk_u128)a->l[j] * b->l[i] + p[i + j] + (uint64_t)(x >> 64);
            p[i + j] = (uint64_t)x;
        }
        p[i + 4] = (uint64_t)(x >> 64);
    }
    uint64_t carry = 0;
    for (int i = 0; i < 8; i++) {
        x = (cuzk_u128)w->l[i] + p[i] + carry;
        w->l[i] = (uint64_t)x;
        carry = (uint64_t)(x >> 64);
    }
    w->l[8] += carry;
}

/* t -= p·2^shift if t is not less, for five words. */
CUZK_INLINE void subtract_once(uint64_t t[5], int shift)
{
    uint64_t d[5], borrow = 0, below = 0;
    for (int i = 0; i < 5; i++) {
        uint64_t p = i < 4 ? bls12_381_fr_modulus[i] : 0;
        cuzk_u128 x = (cuzk_u128)t[i] - (p << shift | below) - borrow;
        below = shift != 0 ? p >> (64 - shift) : 0;
        d[i] = (uint64_t)x;
        borrow = (uint64_t)(x >> 64) & 1;
    }
    uint64_t keep = 0 - borrow;
    for (int i = 0; i < 5; i++)
        t[i] = (t[i] & keep) | (d[i] & ~keep);
}

/* r = w / 2^256 mod p. With w < 12·p², the reduced sum is below 12·p²/2^256 + p < 7p: three
 * conditional subtractions, of 4p, 2p and p. */
CUZK_INLINE void wide_reduce(fr *r, struct wide *w)
{
    uint64_t *t = w->l;
    uint64_t top = 0; /* carry into t[i + 4] */
    for (int i = 0; i < 4; i++) {
        uint64_t m = t[i] * BLS12_381_FR_INV;
        cuzk_u128 x = (cuzk_u128)m * bls12_381_fr_modulus[0] + t[i];
        for (int j = 1; j < 4; j++) {
            x = (cuzk_u128)m * bls12_381_fr_modulus[j] + t[i + j] + (uint64_t)(x >> 64);
            t[i + j] = (uint64_t)x;
        }
        x = (cuzk_u128)t[i + 4] + (uint64_t)(x >> 64) + top;
        t[i + 4] = (uint64_t)x;
        top = (uint64_t)(x >> 64);
    }
    t[8] += top;
    for (int shift = 2; shift >= 0; shift--)
        subtract_once(t + 4, shift);
    for (int i = 0; i < 4; i++)
        r->l[i] = t[4 + i];
}

CUZK_INLINE void dot(fr *r, const fr *a, const fr *b, uint32_t n)
{
    struct wide w = {{0}};
    for (uint32_t i = 0; i < n; i++)
        wide_add_product(&w, &a[i], &b[i]);
    wide_reduce(r, &w);
}

/* x = x^5 + key; with the values that the circuit allocates. */
CUZK_INLINE void box(fr *x, const fr *key, fr **out, bool input)
{
    fr x2, x4;
    bls12_381_fr_sqr(&x2, x);
    bls12_381_fr_sqr(&x4, &x2);
    if (*out != NULL) {
        if (input)
            *(*out)++ = *x;
        *(*out)++ = x2;
        *(*out)++ = x4;
    }
    bls12_381_fr_mul(x, &x4, x);
    if (key != NULL)
        bls12_381_fr_add(x, x, key);
    if (*out != NULL)
        *(*out)++ = *x;
}

/* s = s·matrix; rows serve as columns where it is symmetric. */
static void multiply_mds(fr *s, const fr (*matrix)[CUZK_POSEIDON_MAX_WIDTH], uint32_t width,
                         bool symmetric)
{
    fr t[CUZK_POSEIDON_MAX_WIDTH];
    for (uint32_t j = 0; j < width; j++) {
        if (symmetric) {
            dot(&t[j], s, matrix[j], width);
        } else {
            struct wide w = {{0}};
            for (uint32_t i = 0; i < width; i++)
                wide_add_product(&w, &s[i], &matrix[i][j]);
            wide_reduce(&t[j], &w);
        }
    }
    memcpy(s, t, width * sizeof *t);
}

static void permute(fr *s, const struct cuzk_poseidon *p, fr *out)
{
    uint32_t width = p->width;
    const fr *key = p->keys;
    s[0] = p->first_box;
    for (uint32_t i = 1; i < width; i++) {
        bls12_381_fr_add(&s[i], &s[i], &key[i]);
        box(&s[i], &key[width + i], &out, false);
    }
    key += 2 * width;
    multiply_mds(s, p->mds, width, true);
    for (int round = 1; round < CUZK_POSEIDON_FULL / 2; round++, key += width) {
        for (uint32_t i = 0; i < width; i++)
            box(&s[i], &key[i], &out, true);
        if (round == CUZK_POSEIDON_FULL / 2 - 1)
            multiply_mds(s, p->pre_sparse, width, false);
        else
            multiply_mds(s, p->mds, width, true);
    }
    for (uint32_t k = 0; k < p->partial; k++) {
        fr first;
        box(&s[0], key++, &out, true);
        dot(&first, s, p->column[k], width);
        for (uint32_t j = 1; j < width; j++) {
            fr x;
            bls12_381_fr_mul(&x, &s[0], &p->row[k][j]);
            bls12_381_fr_add(&s[j], &s[j], &x);
        }
        s[0] = first;
    }
    for (int round = 1; round <= CUZK_POSEIDON_FULL / 2; round++, key += width) {
        for (uint32_t i = 0; i < width; i++)
            box(&s[i], round < CUZK_POSEIDON_FULL / 2 ? &key[i] : NULL, &out, true);
        if (round < CUZK_POSEIDON_FULL / 2)
            multiply_mds(s, p->mds, width, true);
    }
    dot(&s[1], s, p->mds[1], width); /* only the second element is put out */
    if (out != NULL)
        *out = s[1];
}

const struct poseidon_kernels CUZK_ISA_FN(poseidon_kernels) = {permute};
