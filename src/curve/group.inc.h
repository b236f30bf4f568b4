/* The group of a short Weierstrass curve y^2 = x^3 + b over a field, as a template.
 *
 * Parameters: G (prefix of names; struct G {x, y, z} and struct G_affine {x, y} are declared by the
 * includer), GF (prefix of the coordinate field), GB (a constant of type struct GF: b).
 *
 * Affine points have (0, 0) for infinity, which is on no such curve with b != 0. Jacobian points
 * are (X/Z^2, Y/Z^3) with Z = 0 for infinity. Every function takes every point: equal, opposite and
 * infinite operands are told apart, in variable time. r may alias an operand.
 *
 * Formulas: hyperelliptic.org/EFD, shortw/jacobian-0: dbl-2009-l (2M + 5S), add-2007-bl (11M + 5S),
 * madd-2007-bl (7M + 4S).
 */
#ifndef G
#error "define G, the prefix of the group's names"
#endif
#ifndef GF
#error "define GF, the prefix of the coordinate field"
#endif
#ifndef GB
#error "define GB, the curve's b"
#endif

#define GN(name) CUZK_GLUE(G, name)
#define FN(name) CUZK_GLUE(GF, name)
#define AFFINE GN(_affine)

CUZK_INLINE bool GN(_affine_is_infinity)(const struct AFFINE *a)
{
    return FN(_is_zero)(&a->x) && FN(_is_zero)(&a->y);
}

CUZK_INLINE bool GN(_affine_eq)(const struct AFFINE *a, const struct AFFINE *b)
{
    return FN(_eq)(&a->x, &b->x) && FN(_eq)(&a->y, &b->y);
}

CUZK_INLINE void GN(_affine_neg)(struct AFFINE *r, const struct AFFINE *a)
{
    r->x = a->x;
    FN(_neg)(&r->y, &a->y);
}

/* True for infinity too. */
CUZK_MAYBE bool GN(_affine_on_curve)(const struct AFFINE *a)
{
    struct GF s, t;
    FN(_sqr)(&t, &a->x);
    FN(_mul)(&t, &t, &a->x);
    FN(_add)(&t, &t, &GB);
    FN(_sqr)(&s, &a->y);
    return FN(_eq)(&s, &t) || GN(_affine_is_infinity)(a);
}

CUZK_INLINE bool GN(_is_infinity)(const struct G *a)
{
    return FN(_is_zero)(&a->z);
}

CUZK_INLINE void GN(_set_infinity)(struct G *r)
{
    FN(_set_one)(&r->x);
    FN(_set_one)(&r->y);
    r->z = FN(_zero);
}

CUZK_INLINE void GN(_from_affine)(struct G *r, const struct AFFINE *a)
{
    if (GN(_affine_is_infinity)(a)) {
        GN(_set_infinity)(r);
        return;
    }
    r->x = a->x;
    r->y = a->y;
    FN(_set_one)(&r->z);
}

CUZK_INLINE void GN(_neg)(struct G *r, const struct G *a)
{
    r->x = a->x;
    FN(_neg)(&r->y, &a->y);
    r->z = a->z;
}

/* Equality of points, whatever their Z. */
CUZK_MAYBE bool GN(_eq)(const struct G *a, const struct G *b)
{
    if (GN(_is_infinity)(a) || GN(_is_infinity)(b))
        return GN(_is_infinity)(a) && GN(_is_infinity)(b);
    struct GF za, zb, s, t;
    FN(_sqr)(&za, &a->z);
    FN(_sqr)(&zb, &b->z);
    FN(_mul)(&s, &a->x, &zb);
    FN(_mul)(&t, &b->x, &za);
    if (!FN(_eq)(&s, &t))
        return false;
    FN(_mul)(&za, &za, &a->z);
    FN(_mul)(&zb, &zb, &b->z);
    FN(_mul)(&s, &a->y, &zb);
    FN(_mul)(&t, &b->y, &za);
    return FN(_eq)(&s, &t);
}

/* y = 0 (order two) doubles to Z = 0, as it should. */
CUZK_MAYBE void GN(_double)(struct G *r, const struct G *p)
{
    struct GF a, b, c, d, e, f;
    FN(_sqr)(&a, &p->x);
    FN(_sqr)(&b, &p->y);
    FN(_sqr)(&c, &b);
    FN(_add)(&d, &p->x, &b);
    FN(_sqr)(&d, &d);
    FN(_sub)(&d, &d, &a);
    FN(_sub)(&d, &d, &c);
    FN(_dbl)(&d, &d);
    FN(_dbl)(&e, &a);
    FN(_add)(&e, &e, &a);
    FN(_sqr)(&f, &e);
    FN(_mul)(&r->z, &p->y, &p->z);
    FN(_dbl)(&r->z, &r->z);
    FN(_sub)(&r->x, &f, &d);
    FN(_sub)(&r->x, &r->x, &d);
    FN(_sub)(&d, &d, &r->x);
    FN(_mul)(&d, &d, &e);
    FN(_dbl)(&c, &c);
    FN(_dbl)(&c, &c);
    FN(_dbl)(&c, &c);
    FN(_sub)(&r->y, &d, &c);
}

CUZK_MAYBE void GN(_add)(struct G *r, const struct G *p, const struct G *q)
{
    if (GN(_is_infinity)(p)) {
        *r = *q;
        return;
    }
    if (GN(_is_infinity)(q)) {
        *r = *p;
        return;
    }
    struct GF zp, zq, u1, u2, s1, s2, h, i, j, v, w;
    FN(_sqr)(&zp, &p->z);
    FN(_sqr)(&zq, &q->z);
    FN(_mul)(&u1, &p->x, &zq);
    FN(_mul)(&u2, &q->x, &zp);
    FN(_mul)(&s1, &p->y, &q->z);
    FN(_mul)(&s1, &s1, &zq);
    FN(_mul)(&s2, &q->y, &p->z);
    FN(_mul)(&s2, &s2, &zp);
    FN(_sub)(&h, &u2, &u1);
    FN(_sub)(&w, &s2, &s1);
    if (FN(_is_zero)(&h)) {
        if (FN(_is_zero)(&w))
            GN(_double)(r, p);
        else
            GN(_set_infinity)(r);
        return;
    }
    FN(_dbl)(&w, &w);
    FN(_dbl)(&i, &h);
    FN(_sqr)(&i, &i);
    FN(_mul)(&j, &h, &i);
    FN(_mul)(&v, &u1, &i);
    FN(_add)(&u2, &p->z, &q->z);
    FN(_sqr)(&u2, &u2);
    FN(_sub)(&u2, &u2, &zp);
    FN(_sub)(&u2, &u2, &zq);
    FN(_mul)(&r->z, &u2, &h);
    FN(_sqr)(&r->x, &w);
    FN(_sub)(&r->x, &r->x, &j);
    FN(_sub)(&r->x, &r->x, &v);
    FN(_sub)(&r->x, &r->x, &v);
    FN(_sub)(&v, &v, &r->x);
    FN(_mul)(&v, &v, &w);
    FN(_mul)(&s1, &s1, &j);
    FN(_dbl)(&s1, &s1);
    FN(_sub)(&r->y, &v, &s1);
}

CUZK_MAYBE void GN(_add_affine)(struct G *r, const struct G *p, const struct AFFINE *q)
{
    if (GN(_affine_is_infinity)(q)) {
        *r = *p;
        return;
    }
    if (GN(_is_infinity)(p)) {
        GN(_from_affine)(r, q);
        return;
    }
    struct GF zz, u, s, h, hh, i, j, v, w;
    FN(_sqr)(&zz, &p->z);
    FN(_mul)(&u, &q->x, &zz);
    FN(_mul)(&s, &q->y, &p->z);
    FN(_mul)(&s, &s, &zz);
    FN(_sub)(&h, &u, &p->x);
    FN(_sub)(&w, &s, &p->y);
    if (FN(_is_zero)(&h)) {
        if (FN(_is_zero)(&w))
            GN(_double)(r, p);
        else
            GN(_set_infinity)(r);
        return;
    }
    FN(_dbl)(&w, &w);
    FN(_sqr)(&hh, &h);
    FN(_dbl)(&i, &hh);
    FN(_dbl)(&i, &i);
    FN(_mul)(&j, &h, &i);
    FN(_mul)(&v, &p->x, &i);
    FN(_add)(&u, &p->z, &h);
    FN(_sqr)(&u, &u);
    FN(_sub)(&u, &u, &zz);
    FN(_mul)(&s, &p->y, &j);
    FN(_sub)(&r->z, &u, &hh);
    FN(_sqr)(&r->x, &w);
    FN(_sub)(&r->x, &r->x, &j);
    FN(_sub)(&r->x, &r->x, &v);
    FN(_sub)(&r->x, &r->x, &v);
    FN(_sub)(&v, &v, &r->x);
    FN(_mul)(&v, &v, &w);
    FN(_dbl)(&s, &s);
    FN(_sub)(&r->y, &v, &s);
}

/* r = k a for a number k of any length (words, least significant first), by Booth digits of four
 * bits (-8 … 8) over a table of a, 2a … 8a. */
CUZK_MAYBE void GN(_mul_limbs)(struct G *r, const struct G *a, const uint64_t *k, int words)
{
    struct G table[8], t;
    table[0] = *a;
    for (int i = 1; i < 8; i++)
        if (i % 2 == 1)
            GN(_double)(&table[i], &table[i / 2]);
        else
            GN(_add)(&table[i], &table[i - 1], a);
    GN(_set_infinity)(&t);
    int top = 16 * words; /* the first digit that can be set */
    while (top > 0 && (k[(top - 1) / 16] >> (4 * ((top - 1) % 16)) & 15) == 0)
        top--;
    for (int i = top; i >= 0; i--) {
        for (int j = 0; j < 4 && i < top; j++)
            GN(_double)(&t, &t);
        /* Digit i is k's nibble i plus the top bit of the nibble below, less 16 for its own. */
        int nibble = i < 16 * words ? (int)(k[i / 16] >> (4 * (i % 16)) & 15) : 0;
        int below = i > 0 ? (int)(k[(i - 1) / 16] >> (4 * ((i - 1) % 16) + 3) & 1) : 0;
        int digit = nibble + below - (nibble & 8) * 2;
        if (digit > 0) {
            GN(_add)(&t, &t, &table[digit - 1]);
        } else if (digit < 0) {
            struct G term;
            GN(_neg)(&term, &table[-digit - 1]);
            GN(_add)(&t, &t, &term);
        }
    }
    *r = t;
}

/* r = k a for a k with few bits set: doublings and one addition for each. r may be a. */
CUZK_MAYBE void GN(_mul_sparse)(struct G *r, const struct G *a, uint64_t k)
{
    struct G t;
    GN(_set_infinity)(&t);
    if (k != 0)
        t = *a;
    for (int i = k != 0 ? 62 - __builtin_clzll(k) : -1; i >= 0; i--) {
        GN(_double)(&t, &t);
        if ((k >> i & 1) != 0)
            GN(_add)(&t, &t, a);
    }
    *r = t;
}

CUZK_MAYBE void GN(_to_affine)(struct AFFINE *r, const struct G *a)
{
    struct GF z, zz;
    FN(_inv)(&z, &a->z); /* 0 for infinity, which gives (0, 0) */
    FN(_sqr)(&zz, &z);
    FN(_mul)(&r->x, &a->x, &zz);
    FN(_mul)(&zz, &zz, &z);
    FN(_mul)(&r->y, &a->y, &zz);
}

/* n points with one inversion (Montgomery's trick); out must not overlap in. */
CUZK_MAYBE void GN(_batch_to_affine)(struct AFFINE *out, const struct G *in, size_t n)
{
    struct GF product, inverse, z, zz;
    FN(_set_one)(&product);
    for (size_t i = 0; i < n; i++) { /* out[i].x: the product of the Z before i */
        out[i].x = product;
        if (!GN(_is_infinity)(&in[i]))
            FN(_mul)(&product, &product, &in[i].z);
    }
    FN(_inv)(&inverse, &product);
    for (size_t i = n; i-- > 0;) {
        if (GN(_is_infinity)(&in[i])) {
            out[i].x = FN(_zero);
            out[i].y = FN(_zero);
            continue;
        }
        FN(_mul)(&z, &inverse, &out[i].x);
        FN(_mul)(&inverse, &inverse, &in[i].z);
        FN(_sqr)(&zz, &z);
        FN(_mul)(&out[i].x, &in[i].x, &zz);
        FN(_mul)(&zz, &zz, &z);
        FN(_mul)(&out[i].y, &in[i].y, &zz);
    }
}

#undef GN
#undef FN
#undef AFFINE
#undef G
#undef GF
#undef GB
