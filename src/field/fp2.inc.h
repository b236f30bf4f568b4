/* Quadratic extension F2 = F[u]/(u^2 + 1) of a prime field, as a template.
 *
 * Parameters: F2 (prefix of names; struct F2 { struct F c0, c1; } is declared by the includer) and
 * F (prefix of the base field, instantiated before). Functions have the names and the order of
 * arguments of mont.inc.h; r may alias. Variable time.
 */
#ifndef F2
#error "define F2, the prefix of the extension's names"
#endif
#ifndef F
#error "define F, the prefix of the base field's names"
#endif

#define FN(name) CUZK_GLUE(F, name)
#define F2N(name) CUZK_GLUE(F2, name)

static const struct F2 F2N(_zero) __attribute__((unused)) = {{{0}}, {{0}}};

CUZK_INLINE void F2N(_set_one)(struct F2 *r)
{
    r->c0 = FN(_one);
    r->c1 = FN(_zero);
}

CUZK_INLINE bool F2N(_is_zero)(const struct F2 *a)
{
    return FN(_is_zero)(&a->c0) && FN(_is_zero)(&a->c1);
}

CUZK_INLINE bool F2N(_eq)(const struct F2 *a, const struct F2 *b)
{
    return FN(_eq)(&a->c0, &b->c0) && FN(_eq)(&a->c1, &b->c1);
}

CUZK_INLINE bool F2N(_is_one)(const struct F2 *a)
{
    return FN(_is_one)(&a->c0) && FN(_is_zero)(&a->c1);
}

CUZK_INLINE void F2N(_add)(struct F2 *r, const struct F2 *a, const struct F2 *b)
{
    FN(_add)(&r->c0, &a->c0, &b->c0);
    FN(_add)(&r->c1, &a->c1, &b->c1);
}

CUZK_INLINE void F2N(_dbl)(struct F2 *r, const struct F2 *a)
{
    FN(_dbl)(&r->c0, &a->c0);
    FN(_dbl)(&r->c1, &a->c1);
}

CUZK_INLINE void F2N(_sub)(struct F2 *r, const struct F2 *a, const struct F2 *b)
{
    FN(_sub)(&r->c0, &a->c0, &b->c0);
    FN(_sub)(&r->c1, &a->c1, &b->c1);
}

CUZK_INLINE void F2N(_neg)(struct F2 *r, const struct F2 *a)
{
    FN(_neg)(&r->c0, &a->c0);
    FN(_neg)(&r->c1, &a->c1);
}

CUZK_INLINE void F2N(_conj)(struct F2 *r, const struct F2 *a)
{
    r->c0 = a->c0;
    FN(_neg)(&r->c1, &a->c1);
}

/* Karatsuba: c0 = a0 b0 - a1 b1, c1 = (a0 + a1)(b0 + b1) - a0 b0 - a1 b1. */
CUZK_MAYBE void F2N(_mul)(struct F2 *r, const struct F2 *a, const struct F2 *b)
{
    struct F s, t, v0, v1;
    FN(_add)(&s, &a->c0, &a->c1);
    FN(_add)(&t, &b->c0, &b->c1);
    FN(_mul)(&v0, &a->c0, &b->c0);
    FN(_mul)(&v1, &a->c1, &b->c1);
    FN(_mul)(&s, &s, &t);
    FN(_sub)(&r->c0, &v0, &v1);
    FN(_sub)(&s, &s, &v0);
    FN(_sub)(&r->c1, &s, &v1);
}

/* c0 = (a0 + a1)(a0 - a1), c1 = 2 a0 a1. */
CUZK_MAYBE void F2N(_sqr)(struct F2 *r, const struct F2 *a)
{
    struct F s, d, m;
    FN(_add)(&s, &a->c0, &a->c1);
    FN(_sub)(&d, &a->c0, &a->c1);
    FN(_mul)(&m, &a->c0, &a->c1);
    FN(_mul)(&r->c0, &s, &d);
    FN(_dbl)(&r->c1, &m);
}

CUZK_INLINE void F2N(_mul_base)(struct F2 *r, const struct F2 *a, const struct F *k)
{
    FN(_mul)(&r->c0, &a->c0, k);
    FN(_mul)(&r->c1, &a->c1, k);
}

/* r = conj(a) / (a0^2 + a1^2), and 0 for a = 0. */
CUZK_MAYBE void F2N(_inv)(struct F2 *r, const struct F2 *a)
{
    struct F s, t;
    FN(_sqr)(&s, &a->c0);
    FN(_sqr)(&t, &a->c1);
    FN(_add)(&s, &s, &t);
    FN(_inv)(&s, &s);
    FN(_mul)(&r->c0, &a->c0, &s);
    FN(_neg)(&s, &s);
    FN(_mul)(&r->c1, &a->c1, &s);
}

/* A square root, false if there is none; for moduli = 3 mod 4. With the norm's root n and
 * d = (a0 + n)/2, the root is sqrt(d) + a1/(2 sqrt(d)) u, and where d is no square, -d is one and
 * a1/(2 sqrt(-d)) + sqrt(-d) u is it: two exponentiations in all (Adj and Rodriguez-Henriquez 2012,
 * section 4, folded). */
CUZK_MAYBE bool F2N(_sqrt)(struct F2 *r, const struct F2 *a)
{
    struct F n, t, d, half;
    FN(_sqr)(&n, &a->c0);
    FN(_sqr)(&t, &a->c1);
    FN(_add)(&n, &n, &t);
    FN(_inv_sqrt)(&t, &n);
    FN(_mul)(&n, &n, &t);
    FN(_halve)(&half, &a->c1);
    FN(_add)(&d, &a->c0, &n);
    FN(_halve)(&d, &d);
    if (FN(_is_zero)(&d)) { /* a = a0 with n = -a0 */
        FN(_sub)(&d, &a->c0, &n);
        FN(_halve)(&d, &d);
    }
    FN(_inv_sqrt)(&t, &d);
    struct F2 root;
    FN(_mul)(&root.c0, &d, &t);
    FN(_mul)(&root.c1, &half, &t);
    struct F s;
    FN(_mul)(&s, &root.c0, &t);
    if (!FN(_is_one)(&s) && !FN(_is_zero)(&d)) { /* d t^2 = -1: 1/t = -root.c0 */
        s = root.c0;
        root.c0 = root.c1;
        FN(_neg)(&root.c1, &s);
    }
    struct F2 check;
    F2N(_sqr)(&check, &root);
    bool ok = F2N(_eq)(&check, a);
    *r = ok ? root : F2N(_zero);
    return ok;
}

/* Big endian, c1 before c0, each sizeof(struct F) bytes; false, and r zero, if out of range. */
CUZK_MAYBE bool F2N(_from_be)(struct F2 *r, const uint8_t *in)
{
    if (FN(_from_be)(&r->c1, in) && FN(_from_be)(&r->c0, in + sizeof(struct F)))
        return true;
    *r = F2N(_zero);
    return false;
}

CUZK_MAYBE void F2N(_to_be)(uint8_t *out, const struct F2 *a)
{
    FN(_to_be)(out, &a->c1);
    FN(_to_be)(out + sizeof(struct F), &a->c0);
}

/* Order of the zcash encoding: by c1, then by c0. True if a is the larger of a and -a. */
CUZK_MAYBE bool F2N(_is_larger)(const struct F2 *a)
{
    return FN(_is_zero)(&a->c1) ? FN(_is_larger)(&a->c0) : FN(_is_larger)(&a->c1);
}

#undef FN
#undef F2N
#undef F2
#undef F
