/* The inverse in a field of mont.inc.h, which includes this file with its macros.
 *
 * Bernstein and Yang's divsteps (Fast constant-time gcd computation and modular inversion, 2019) in
 * the variable-time form: sixty-two steps are found on the low words alone as a matrix, which is
 * then applied to the whole numbers. f starts as p and g as a; d and e follow so that d a = f and
 * e a = g mod p, up to the matrices' common 2^62, which is divided out mod p each time. When g is
 * zero, f is +-1 and d the inverse up to that sign.
 *
 * Numbers are signed, in limbs of 62 bits of which the last has the sign: |f|, |g| <= p and
 * d, e in (-2p, p).
 */
#include "field/divsteps.h"

#define INVERT_LIMBS ((64 * N + 61) / 62)
#define INVERT_MASK (UINT64_MAX >> 2)

struct FN(_signed62) {
    int64_t v[INVERT_LIMBS];
};

CUZK_INLINE void FN(_to_signed62)(struct FN(_signed62) * r, const uint64_t a[N])
{
    for (int i = 0; i < INVERT_LIMBS; i++) {
        int word = 62 * i / 64, bit = 62 * i % 64;
        uint64_t x = a[word] >> bit;
        if (bit > 2 && word + 1 < N)
            x |= a[word + 1] << (64 - bit);
        r->v[i] = (int64_t)(x & INVERT_MASK);
    }
}

/* (f, g) = matrix (f, g) / 2^62, exactly; the first `limbs` limbs are in use. */
CUZK_INLINE void FN(_invert_apply)(struct FN(_signed62) * f, struct FN(_signed62) * g, int limbs,
                                   const struct cuzk_divsteps *t)
{
    cuzk_i128 x = (cuzk_i128)t->u * f->v[0] + (cuzk_i128)t->v * g->v[0];
    cuzk_i128 y = (cuzk_i128)t->q * f->v[0] + (cuzk_i128)t->r * g->v[0];
    x >>= 62;
    y >>= 62;
    for (int i = 1; i < limbs; i++) {
        int64_t fi = f->v[i], gi = g->v[i];
        x += (cuzk_i128)t->u * fi + (cuzk_i128)t->v * gi;
        y += (cuzk_i128)t->q * fi + (cuzk_i128)t->r * gi;
        f->v[i - 1] = (int64_t)((uint64_t)x & INVERT_MASK);
        g->v[i - 1] = (int64_t)((uint64_t)y & INVERT_MASK);
        x >>= 62;
        y >>= 62;
    }
    f->v[limbs - 1] = (int64_t)x;
    g->v[limbs - 1] = (int64_t)y;
}

/* (d, e) = matrix (d, e) / 2^62 mod p: the multiple of p that makes the sums divisible is chosen
 * by their low limbs, over the one that keeps negative d and e in range. */
CUZK_INLINE void FN(_invert_apply_mod)(struct FN(_signed62) * d, struct FN(_signed62) * e,
                                       const struct FN(_signed62) * p,
                                       const struct cuzk_divsteps *t)
{
    int64_t sd = d->v[INVERT_LIMBS - 1] >> 63, se = e->v[INVERT_LIMBS - 1] >> 63;
    int64_t md = (t->u & sd) + (t->v & se), me = (t->q & sd) + (t->r & se);
    cuzk_i128 x = (cuzk_i128)t->u * d->v[0] + (cuzk_i128)t->v * e->v[0];
    cuzk_i128 y = (cuzk_i128)t->q * d->v[0] + (cuzk_i128)t->r * e->v[0];
    /* md + k with k = -(x + md p)/p mod 2^62, that is md - (md - x INV mod 2^62); INV = -1/p */
    md -= (int64_t)(((uint64_t)md - FC(_INV) * (uint64_t)x) & INVERT_MASK);
    me -= (int64_t)(((uint64_t)me - FC(_INV) * (uint64_t)y) & INVERT_MASK);
    x += (cuzk_i128)p->v[0] * md;
    y += (cuzk_i128)p->v[0] * me;
    x >>= 62;
    y >>= 62;
    for (int i = 1; i < INVERT_LIMBS; i++) {
        int64_t di = d->v[i], ei = e->v[i];
        x += (cuzk_i128)t->u * di + (cuzk_i128)t->v * ei + (cuzk_i128)p->v[i] * md;
        y += (cuzk_i128)t->q * di + (cuzk_i128)t->r * ei + (cuzk_i128)p->v[i] * me;
        d->v[i - 1] = (int64_t)((uint64_t)x & INVERT_MASK);
        e->v[i - 1] = (int64_t)((uint64_t)y & INVERT_MASK);
        x >>= 62;
        y >>= 62;
    }
    d->v[INVERT_LIMBS - 1] = (int64_t)x;
    e->v[INVERT_LIMBS - 1] = (int64_t)y;
}

/* r = 1/a, and 0 for a = 0. */
CUZK_MAYBE void FN(_inv)(struct F *r, const struct F *a)
{
    if (FN(_is_zero)(a)) {
        *r = FN(_zero);
        return;
    }
    struct FN(_signed62) f, g, p, d = {{0}}, e = {{1}};
    FN(_to_signed62)(&p, FN(_modulus));
    FN(_to_signed62)(&g, a->l);
    f = p;
    int64_t eta = -1;
    for (int limbs = INVERT_LIMBS;;) {
        struct cuzk_divsteps t;
        eta = cuzk_divsteps(eta, (uint64_t)f.v[0] | (uint64_t)f.v[1] << 62,
                            (uint64_t)g.v[0] | (uint64_t)g.v[1] << 62, &t);
        FN(_invert_apply_mod)(&d, &e, &p, &t);
        FN(_invert_apply)(&f, &g, limbs, &t);
        int64_t any = 0;
        for (int i = 0; i < limbs; i++)
            any |= g.v[i];
        if (any == 0)
            break;
        /* Drop a last limb that holds nothing but the sign. */
        int64_t top_f = f.v[limbs - 1], top_g = g.v[limbs - 1];
        if (limbs > 2 && top_f == top_f >> 63 && top_g == top_g >> 63) {
            f.v[limbs - 2] |= (int64_t)((uint64_t)top_f << 62);
            g.v[limbs - 2] |= (int64_t)((uint64_t)top_g << 62);
            limbs--;
        }
    }
    /* d in (-2p, p): negated if f is -1, then brought into [0, p). */
    bool negative = f.v[0] != 1 || f.v[1] != 0;
    if (negative) {
        cuzk_i128 x = 0;
        for (int i = 0; i < INVERT_LIMBS - 1; i++) {
            x -= d.v[i];
            d.v[i] = (int64_t)((uint64_t)x & INVERT_MASK);
            x >>= 62;
        }
        d.v[INVERT_LIMBS - 1] = (int64_t)x - d.v[INVERT_LIMBS - 1];
    }
    for (;;) { /* two additions or one subtraction at most */
        int64_t sign = d.v[INVERT_LIMBS - 1] < 0 ? 1 : -1;
        struct FN(_signed62) s;
        int64_t carry = 0;
        for (int i = 0; i < INVERT_LIMBS; i++) {
            int64_t x = d.v[i] + sign * p.v[i] + carry;
            s.v[i] = i + 1 < INVERT_LIMBS ? (int64_t)((uint64_t)x & INVERT_MASK) : x;
            carry = x >> 62;
        }
        if (sign < 0 && s.v[INVERT_LIMBS - 1] < 0) /* d < p */
            break;
        d = s;
    }
    struct F t = {{0}};
    for (int i = 0; i < INVERT_LIMBS; i++) {
        int word = 62 * i / 64, bit = 62 * i % 64;
        t.l[word] |= (uint64_t)d.v[i] << bit;
        if (bit > 2 && word + 1 < N)
            t.l[word + 1] |= (uint64_t)d.v[i] >> (64 - bit);
    }
    const struct F r3 = {{FC(_R3)}};
    FN(_mul)(r, &t, &r3); /* the words were a R: 1/(a R) R^3 / R */
}

#undef INVERT_LIMBS
#undef INVERT_MASK
