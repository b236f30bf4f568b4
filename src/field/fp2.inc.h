/* Quadratic extension F2 = F[u]/(u^2 + 1) of a prime field, as a template.
 *
 * Parameters: F2 (prefix of names; struct F2 { struct F c0, c1; } is declared by the includer),
 * F (prefix of the base field, instantiated before) and XI, the small number in xi = XI + u, the
 * non-residue that the tower over F2 is built with. Functions have the names and the order of
 * arguments of mont.inc.h; r may alias. Variable time.
 *
 * The modulus must leave three bits of its words free: 4 p^2 < p R, so that the cross product of
 * unreduced sums fits (BLS12-381: p/R = 0.10).
 */
#ifndef F2
#error "define F2, the prefix of the extension's names"
#endif
#ifndef F
#error "define F, the prefix of the base field's names"
#endif
#ifndef XI
#error "define XI, the real part of the tower's non-residue"
#endif

#define FN(name) CUZK_GLUE(F, name)
#define F2N(name) CUZK_GLUE(F2, name)

static const struct F2 F2N(_zero) __attribute__((unused)) = {{{0}}, {{0}}};

CUZK_INLINE void F2N(_set_one)(struct F2 *r)
{
    r->c0 = FN(_one);
    r->c1 = FN(_zero);
}

CUZK_INLINE void F2N(_halve)(struct F2 *r, const struct F2 *a)
{
    FN(_halve)(&r->c0, &a->c0);
    FN(_halve)(&r->c1, &a->c1);
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

/* r = xi a = (XI a0 - a1) + (XI a1 + a0) u. */
CUZK_INLINE void F2N(_mul_xi)(struct F2 *r, const struct F2 *a)
{
    struct F2 t = *a, s = *a;
    for (int i = 1; i < XI; i++)
        F2N(_add)(&t, &t, a);
    FN(_sub)(&r->c0, &t.c0, &s.c1);
    FN(_add)(&r->c1, &t.c1, &s.c0);
}

/* Elements of twice the words, see mont.inc.h; both coefficients below p R. */
struct F2N(_wide) {
    struct FN(_wide) c0, c1;
};

/* Karatsuba without a correction but one: v0 = a0 b0, v1 = a1 b1, c0 = v0 - v1,
 * c1 = (a0 + a1)(b0 + b1) - v0 - v1, which is a0 b1 + a1 b0 >= 0 as a number. */
CUZK_MAYBE void F2N(_mul_wide)(struct F2N(_wide) * r, const struct F2 *a, const struct F2 *b)
{
    struct FN(_wide) v1;
    struct F s, t;
    FN(_add_plain)(&s, &a->c0, &a->c1);
    FN(_add_plain)(&t, &b->c0, &b->c1);
    FN(_mul_wide)(&r->c1, &s, &t);
    FN(_mul_wide)(&r->c0, &a->c0, &b->c0);
    FN(_mul_wide)(&v1, &a->c1, &b->c1);
    FN(_wide_sub_plain)(&r->c1, &r->c1, &r->c0);
    FN(_wide_sub_plain)(&r->c1, &r->c1, &v1);
    FN(_wide_sub)(&r->c0, &r->c0, &v1);
}

/* c0 = (a0 + a1)(a0 - a1), c1 = (2 a0) a1. */
CUZK_MAYBE void F2N(_sqr_wide)(struct F2N(_wide) * r, const struct F2 *a)
{
    struct F s, d, t;
    FN(_add_plain)(&s, &a->c0, &a->c1);
    FN(_sub)(&d, &a->c0, &a->c1);
    FN(_add_plain)(&t, &a->c0, &a->c0);
    FN(_mul_wide)(&r->c0, &s, &d);
    FN(_mul_wide)(&r->c1, &t, &a->c1);
}

CUZK_INLINE void F2N(_redc)(struct F2 *r, const struct F2N(_wide) * w)
{
    FN(_redc)(&r->c0, &w->c0);
    FN(_redc)(&r->c1, &w->c1);
}

CUZK_INLINE void F2N(_wide_add)(struct F2N(_wide) * r, const struct F2N(_wide) * a,
                                const struct F2N(_wide) * b)
{
    FN(_wide_add_mod)(&r->c0, &a->c0, &b->c0);
    FN(_wide_add_mod)(&r->c1, &a->c1, &b->c1);
}

CUZK_INLINE void F2N(_wide_sub)(struct F2N(_wide) * r, const struct F2N(_wide) * a,
                                const struct F2N(_wide) * b)
{
    FN(_wide_sub)(&r->c0, &a->c0, &b->c0);
    FN(_wide_sub)(&r->c1, &a->c1, &b->c1);
}

/* r must not be a. */
CUZK_INLINE void F2N(_wide_mul_xi)(struct F2N(_wide) * r, const struct F2N(_wide) * a)
{
    *r = *a;
    for (int i = 1; i < XI; i++)
        F2N(_wide_add)(r, r, a);
    FN(_wide_sub)(&r->c0, &r->c0, &a->c1);
    FN(_wide_add_mod)(&r->c1, &r->c1, &a->c0);
}

CUZK_MAYBE void F2N(_mul)(struct F2 *r, const struct F2 *a, const struct F2 *b)
{
    struct F2N(_wide) w;
    F2N(_mul_wide)(&w, a, b);
    F2N(_redc)(r, &w);
}

/* c0 = (a0 + a1)(a0 - a1), c1 = (2 a0) a1. */
CUZK_MAYBE void F2N(_sqr)(struct F2 *r, const struct F2 *a)
{
    struct F s, d, t;
    FN(_add_plain)(&s, &a->c0, &a->c1);
    FN(_sub)(&d, &a->c0, &a->c1);
    FN(_add_plain)(&t, &a->c0, &a->c0);
    FN(_mul)(&r->c1, &t, &a->c1);
    FN(_mul)(&r->c0, &s, &d);
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
#undef XI
