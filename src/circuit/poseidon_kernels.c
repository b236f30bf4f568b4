/* The Poseidon permutation for one instruction-set path (see field/isa.h), with the circuit's
 * values written on the way where they are wanted. Dot products are reduced once, not once a
 * product. */
#include "circuit/poseidon_kernels.h"

typedef struct bls12_381_fr fr;

/* A sum of at most 12 products of 512 bits; the carries in a word of their own. */
struct sum {
    uint64_t l[9];
};

CUZK_INLINE void sum_add(struct sum *s, const struct bls12_381_fr_wide *w)
{
#ifdef CUZK_ISA_X86_64_ADX
    /* compilers break the chain of carries up */
    __asm__("movq (%[w]), %%rax\n\taddq %%rax, (%[s])\n\t"
            "movq 8(%[w]), %%rax\n\tadcq %%rax, 8(%[s])\n\t"
            "movq 16(%[w]), %%rax\n\tadcq %%rax, 16(%[s])\n\t"
            "movq 24(%[w]), %%rax\n\tadcq %%rax, 24(%[s])\n\t"
            "movq 32(%[w]), %%rax\n\tadcq %%rax, 32(%[s])\n\t"
            "movq 40(%[w]), %%rax\n\tadcq %%rax, 40(%[s])\n\t"
            "movq 48(%[w]), %%rax\n\tadcq %%rax, 48(%[s])\n\t"
            "movq 56(%[w]), %%rax\n\tadcq %%rax, 56(%[s])\n\tadcq $0, 64(%[s])"
            : "+m"(*s)
            : [s] "r"(s), [w] "r"(w), "m"(*w)
            : "rax", "cc");
#else
    uint64_t carry = 0;
    for (int i = 0; i < 8; i++) {
        cuzk_u128 x = (cuzk_u128)s->l[i] + w->l[i] + carry;
        s->l[i] = (uint64_t)x;
        carry = (uint64_t)(x >> 64);
    }
    s->l[8] += carry;
#endif
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

/* r = s / 2^256 mod p. The upper words are below 12·p²/2^256 < 6p; less 4p, 2p and p where these
 * fit, they are below p, as the reduction of one product wants them. */
CUZK_INLINE void sum_reduce(fr *r, struct sum *s)
{
    struct bls12_381_fr_wide w;
    for (int shift = 2; shift >= 0; shift--)
        subtract_once(s->l + 4, shift);
    memcpy(&w, s, sizeof w);
    bls12_381_fr_redc(r, &w);
}

/* r = the sum of a[i]·b[i·stride]. */
CUZK_INLINE void dot(fr *r, const fr *a, const fr *b, uint32_t stride, uint32_t n)
{
    struct sum s = {{0}};
    for (uint32_t i = 0; i < n; i++) {
        struct bls12_381_fr_wide w;
        bls12_381_fr_mul_wide(&w, &a[i], &b[i * stride]);
        sum_add(&s, &w);
    }
    sum_reduce(r, &s);
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

/* s = s·matrix. */
static void multiply_mds(fr *s, const fr (*matrix)[CUZK_POSEIDON_MAX_WIDTH], uint32_t width)
{
    fr t[CUZK_POSEIDON_MAX_WIDTH];
    for (uint32_t j = 0; j < width; j++)
        dot(&t[j], s, &matrix[0][j], CUZK_POSEIDON_MAX_WIDTH, width);
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
    multiply_mds(s, p->mds, width);
    for (int round = 1; round < CUZK_POSEIDON_FULL / 2; round++, key += width) {
        for (uint32_t i = 0; i < width; i++)
            box(&s[i], &key[i], &out, true);
        multiply_mds(s, round == CUZK_POSEIDON_FULL / 2 - 1 ? p->pre_sparse : p->mds, width);
    }
    for (uint32_t k = 0; k < p->partial; k++) {
        fr first;
        box(&s[0], key++, &out, true);
        dot(&first, s, p->column[k], 1, width);
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
            multiply_mds(s, p->mds, width);
    }
    dot(&s[1], s, p->mds[1], 1, width); /* only the second element is put out */
    if (out != NULL)
        *out = s[1];
}

const struct poseidon_kernels CUZK_ISA_FN(poseidon_kernels) = {permute};
