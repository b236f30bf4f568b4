/* The tower F6 = F2[v]/(v^3 - xi), F12 = F6[w]/(w^2 - v) over a quadratic extension, as a template.
 *
 * Parameters: F12, F6, F2 (prefixes of names; fp2.inc.h instantiated for F2 before), F (the base
 * field) and XI (as in fp2.inc.h). Declares struct F6 {c0, c1, c2} and struct F12 {c0, c1}. r may
 * alias. Variable time.
 *
 * As a polynomial in w an element is c0.c0 + c1.c0 w + c0.c1 w^2 + c1.c1 w^3 + c0.c2 w^4 + c1.c2
 * w^5. Products keep twice the words and reduce once for each coefficient of the result (Aranha et
 * al., Faster explicit formulas for computing pairings over ordinary curves, 2011).
 */
#ifndef F12
#error "define F12, the prefix of the twelfth extension's names"
#endif
#ifndef F6
#error "define F6, the prefix of the sextic extension's names"
#endif
#ifndef F2
#error "define F2, the prefix of the quadratic extension's names"
#endif
#ifndef F
#error "define F, the prefix of the base field's names"
#endif
#ifndef XI
#error "define XI, the real part of the tower's non-residue"
#endif

#define FN(name) CUZK_GLUE(F, name)
#define F2N(name) CUZK_GLUE(F2, name)
#define F6N(name) CUZK_GLUE(F6, name)
#define F12N(name) CUZK_GLUE(F12, name)

struct F6 {
    struct F2 c0, c1, c2;
};

struct F12 {
    struct F6 c0, c1;
};

struct F6N(_wide) {
    struct F2N(_wide) c0, c1, c2;
};

/* ---- F6 ---- */

CUZK_INLINE void F6N(_add)(struct F6 *r, const struct F6 *a, const struct F6 *b)
{
    F2N(_add)(&r->c0, &a->c0, &b->c0);
    F2N(_add)(&r->c1, &a->c1, &b->c1);
    F2N(_add)(&r->c2, &a->c2, &b->c2);
}

CUZK_INLINE void F6N(_sub)(struct F6 *r, const struct F6 *a, const struct F6 *b)
{
    F2N(_sub)(&r->c0, &a->c0, &b->c0);
    F2N(_sub)(&r->c1, &a->c1, &b->c1);
    F2N(_sub)(&r->c2, &a->c2, &b->c2);
}

CUZK_INLINE void F6N(_neg)(struct F6 *r, const struct F6 *a)
{
    F2N(_neg)(&r->c0, &a->c0);
    F2N(_neg)(&r->c1, &a->c1);
    F2N(_neg)(&r->c2, &a->c2);
}

CUZK_INLINE bool F6N(_eq)(const struct F6 *a, const struct F6 *b)
{
    return F2N(_eq)(&a->c0, &b->c0) && F2N(_eq)(&a->c1, &b->c1) && F2N(_eq)(&a->c2, &b->c2);
}

CUZK_INLINE void F6N(_mul_v)(struct F6 *r, const struct F6 *a)
{
    struct F2 t;
    F2N(_mul_xi)(&t, &a->c2);
    r->c2 = a->c1;
    r->c1 = a->c0;
    r->c0 = t;
}

CUZK_INLINE void F6N(_wide_add)(struct F6N(_wide) * r, const struct F6N(_wide) * a,
                                const struct F6N(_wide) * b)
{
    F2N(_wide_add)(&r->c0, &a->c0, &b->c0);
    F2N(_wide_add)(&r->c1, &a->c1, &b->c1);
    F2N(_wide_add)(&r->c2, &a->c2, &b->c2);
}

CUZK_INLINE void F6N(_wide_sub)(struct F6N(_wide) * r, const struct F6N(_wide) * a,
                                const struct F6N(_wide) * b)
{
    F2N(_wide_sub)(&r->c0, &a->c0, &b->c0);
    F2N(_wide_sub)(&r->c1, &a->c1, &b->c1);
    F2N(_wide_sub)(&r->c2, &a->c2, &b->c2);
}

CUZK_INLINE void F6N(_redc)(struct F6 *r, const struct F6N(_wide) * w)
{
    F2N(_redc)(&r->c0, &w->c0);
    F2N(_redc)(&r->c1, &w->c1);
    F2N(_redc)(&r->c2, &w->c2);
}

/* r = a + v b, wide. */
CUZK_MAYBE void F6N(_wide_add_v)(struct F6N(_wide) * r, const struct F6N(_wide) * a,
                                 const struct F6N(_wide) * b)
{
    struct F2N(_wide) t;
    F2N(_wide_mul_xi)(&t, &b->c2);
    F2N(_wide_add)(&t, &t, &a->c0);
    F2N(_wide_add)(&r->c2, &a->c2, &b->c1);
    F2N(_wide_add)(&r->c1, &a->c1, &b->c0);
    r->c0 = t;
}

/* (x + y)(z + t) - p - q: the cross term of Karatsuba. */
CUZK_MAYBE void F6N(_cross)(struct F2N(_wide) * r, const struct F2 *x, const struct F2 *y,
                            const struct F2 *z, const struct F2 *t, const struct F2N(_wide) * p,
                            const struct F2N(_wide) * q)
{
    struct F2 left, right;
    F2N(_add)(&left, x, y);
    F2N(_add)(&right, z, t);
    F2N(_mul_wide)(r, &left, &right);
    F2N(_wide_sub)(r, r, p);
    F2N(_wide_sub)(r, r, q);
}

/* Six products of F2 (Devegili et al. 2006, Karatsuba). */
CUZK_MAYBE void F6N(_mul_wide)(struct F6N(_wide) * r, const struct F6 *a, const struct F6 *b)
{
    struct F2N(_wide) v0, v1, v2, t, s;
    F2N(_mul_wide)(&v0, &a->c0, &b->c0);
    F2N(_mul_wide)(&v1, &a->c1, &b->c1);
    F2N(_mul_wide)(&v2, &a->c2, &b->c2);
    F6N(_cross)(&t, &a->c1, &a->c2, &b->c1, &b->c2, &v1, &v2);
    F2N(_wide_mul_xi)(&s, &t);
    F2N(_wide_add)(&r->c0, &s, &v0);
    F6N(_cross)(&t, &a->c0, &a->c1, &b->c0, &b->c1, &v0, &v1);
    F2N(_wide_mul_xi)(&s, &v2);
    F2N(_wide_add)(&r->c1, &t, &s);
    F6N(_cross)(&t, &a->c0, &a->c2, &b->c0, &b->c2, &v0, &v2);
    F2N(_wide_add)(&r->c2, &t, &v1);
}

/* b = b0 + b1 v: five products. */
CUZK_MAYBE void F6N(_mul_01_wide)(struct F6N(_wide) * r, const struct F6 *a, const struct F2 *b0,
                                  const struct F2 *b1)
{
    struct F2N(_wide) v0, v1, t;
    F2N(_mul_wide)(&v0, &a->c0, b0);
    F2N(_mul_wide)(&v1, &a->c1, b1);
    F6N(_cross)(&r->c1, &a->c0, &a->c1, b0, b1, &v0, &v1);
    F2N(_mul_wide)(&t, &a->c2, b1);
    F2N(_wide_mul_xi)(&r->c0, &t);
    F2N(_wide_add)(&r->c0, &r->c0, &v0);
    F2N(_mul_wide)(&t, &a->c2, b0);
    F2N(_wide_add)(&r->c2, &t, &v1);
}

/* b = b1 v: three products. */
CUZK_MAYBE void F6N(_mul_1_wide)(struct F6N(_wide) * r, const struct F6 *a, const struct F2 *b1)
{
    struct F2N(_wide) t;
    F2N(_mul_wide)(&t, &a->c2, b1);
    F2N(_wide_mul_xi)(&r->c0, &t);
    F2N(_mul_wide)(&r->c1, &a->c0, b1);
    F2N(_mul_wide)(&r->c2, &a->c1, b1);
}

CUZK_MAYBE void F6N(_mul)(struct F6 *r, const struct F6 *a, const struct F6 *b)
{
    struct F6N(_wide) w;
    F6N(_mul_wide)(&w, a, b);
    F6N(_redc)(r, &w);
}

/* 1/a by the adjoint: A = a0^2 - xi a1 a2, B = xi a2^2 - a0 a1, C = a1^2 - a0 a2,
 * a (A + B v + C v^2) = a0 A + xi (a2 B + a1 C). 0 gives 0. */
CUZK_MAYBE void F6N(_inv)(struct F6 *r, const struct F6 *a)
{
    struct F2 A, B, C, s, t;
    F2N(_mul)(&t, &a->c1, &a->c2);
    F2N(_mul_xi)(&t, &t);
    F2N(_sqr)(&A, &a->c0);
    F2N(_sub)(&A, &A, &t);
    F2N(_sqr)(&B, &a->c2);
    F2N(_mul_xi)(&B, &B);
    F2N(_mul)(&t, &a->c0, &a->c1);
    F2N(_sub)(&B, &B, &t);
    F2N(_sqr)(&C, &a->c1);
    F2N(_mul)(&t, &a->c0, &a->c2);
    F2N(_sub)(&C, &C, &t);
    F2N(_mul)(&s, &a->c2, &B);
    F2N(_mul)(&t, &a->c1, &C);
    F2N(_add)(&s, &s, &t);
    F2N(_mul_xi)(&s, &s);
    F2N(_mul)(&t, &a->c0, &A);
    F2N(_add)(&s, &s, &t);
    F2N(_inv)(&s, &s);
    F2N(_mul)(&r->c0, &A, &s);
    F2N(_mul)(&r->c1, &B, &s);
    F2N(_mul)(&r->c2, &C, &s);
}

/* ---- F12 ---- */

CUZK_INLINE void F12N(_set_one)(struct F12 *r)
{
    memset(r, 0, sizeof *r);
    F2N(_set_one)(&r->c0.c0);
}

CUZK_INLINE bool F12N(_eq)(const struct F12 *a, const struct F12 *b)
{
    return F6N(_eq)(&a->c0, &b->c0) && F6N(_eq)(&a->c1, &b->c1);
}

CUZK_MAYBE bool F12N(_is_one)(const struct F12 *a)
{
    struct F12 one;
    F12N(_set_one)(&one);
    return F12N(_eq)(a, &one);
}

/* a^(p^6): the inverse on the cyclotomic subgroup. */
CUZK_INLINE void F12N(_conj)(struct F12 *r, const struct F12 *a)
{
    r->c0 = a->c0;
    F6N(_neg)(&r->c1, &a->c1);
}

CUZK_MAYBE void F12N(_mul)(struct F12 *r, const struct F12 *a, const struct F12 *b)
{
    struct F6N(_wide) v0, v1, t;
    struct F6 left, right;
    F6N(_mul_wide)(&v0, &a->c0, &b->c0);
    F6N(_mul_wide)(&v1, &a->c1, &b->c1);
    F6N(_add)(&left, &a->c0, &a->c1);
    F6N(_add)(&right, &b->c0, &b->c1);
    F6N(_mul_wide)(&t, &left, &right);
    F6N(_wide_sub)(&t, &t, &v0);
    F6N(_wide_sub)(&t, &t, &v1);
    F6N(_redc)(&r->c1, &t);
    F6N(_wide_add_v)(&t, &v0, &v1);
    F6N(_redc)(&r->c0, &t);
}

/* The complex method: with m = c0 c1, c0' = (c0 + c1)(c0 + v c1) - m - v m, c1' = 2 m. */
CUZK_MAYBE void F12N(_sqr)(struct F12 *r, const struct F12 *a)
{
    struct F6 m, s, t;
    F6N(_add)(&s, &a->c0, &a->c1);
    F6N(_mul_v)(&t, &a->c1);
    F6N(_add)(&t, &t, &a->c0);
    F6N(_mul)(&m, &a->c0, &a->c1);
    F6N(_mul)(&s, &s, &t);
    F6N(_sub)(&s, &s, &m);
    F6N(_mul_v)(&t, &m);
    F6N(_sub)(&r->c0, &s, &t);
    F6N(_add)(&r->c1, &m, &m);
}

/* b = b0 + b1 w^2 + b4 w^3, the form of a line's value: thirteen products of F2. */
CUZK_MAYBE void F12N(_mul_014)(struct F12 *r, const struct F12 *a, const struct F2 *b0,
                               const struct F2 *b1, const struct F2 *b4)
{
    struct F6N(_wide) v0, v1, t;
    struct F6 sum;
    struct F2 b14;
    F6N(_mul_01_wide)(&v0, &a->c0, b0, b1);
    F6N(_mul_1_wide)(&v1, &a->c1, b4);
    F6N(_add)(&sum, &a->c0, &a->c1);
    F2N(_add)(&b14, b1, b4);
    F6N(_mul_01_wide)(&t, &sum, b0, &b14);
    F6N(_wide_sub)(&t, &t, &v0);
    F6N(_wide_sub)(&t, &t, &v1);
    F6N(_redc)(&r->c1, &t);
    F6N(_wide_add_v)(&t, &v0, &v1);
    F6N(_redc)(&r->c0, &t);
}

/* 1/a = conj(a)/(c0^2 - v c1^2); 0 gives 0. */
CUZK_MAYBE void F12N(_inv)(struct F12 *r, const struct F12 *a)
{
    struct F6 s, t;
    F6N(_mul)(&s, &a->c0, &a->c0);
    F6N(_mul)(&t, &a->c1, &a->c1);
    F6N(_mul_v)(&t, &t);
    F6N(_sub)(&s, &s, &t);
    F6N(_inv)(&s, &s);
    F6N(_mul)(&r->c0, &a->c0, &s);
    F6N(_mul)(&t, &a->c1, &s);
    F6N(_neg)(&r->c1, &t);
}

/* (x + y s)^2 in F4 = F2[s]/(s^2 - xi): even = x^2 + xi y^2, odd = 2 x y. */
CUZK_MAYBE void F12N(_sqr_part)(struct F2 *even, struct F2 *odd, const struct F2 *x,
                                const struct F2 *y)
{
    struct F2N(_wide) xx, yy, t;
    struct F2 s;
    F2N(_add)(&s, x, y);
    F2N(_sqr_wide)(&t, &s);
    F2N(_sqr_wide)(&xx, x);
    F2N(_sqr_wide)(&yy, y);
#if XI == 1 /* squares have coefficients below 2 p^2: sums of three of them stay below p R */
    FN(_wide_add)(&xx.c0, &xx.c0, &yy.c0);
    FN(_wide_add)(&xx.c1, &xx.c1, &yy.c1);
    F2N(_wide_sub)(&t, &t, &xx);
    F2N(_redc)(odd, &t);
    FN(_wide_sub)(&t.c0, &xx.c0, &yy.c1);
    FN(_wide_add)(&t.c1, &xx.c1, &yy.c0);
#else
    F2N(_wide_sub)(&t, &t, &xx);
    F2N(_wide_sub)(&t, &t, &yy);
    F2N(_redc)(odd, &t);
    F2N(_wide_mul_xi)(&t, &yy);
    F2N(_wide_add)(&t, &t, &xx);
#endif
    F2N(_redc)(even, &t);
}

CUZK_INLINE void F12N(_three_minus_two)(struct F2 *r, const struct F2 *t, const struct F2 *z)
{
    struct F2 s;
    F2N(_sub)(&s, t, z);
    F2N(_dbl)(&s, &s);
    F2N(_add)(r, &s, t);
}

CUZK_INLINE void F12N(_three_plus_two)(struct F2 *r, const struct F2 *t, const struct F2 *z)
{
    struct F2 s;
    F2N(_add)(&s, t, z);
    F2N(_dbl)(&s, &s);
    F2N(_add)(r, &s, t);
}

/* a^2 for a in the cyclotomic subgroup (of order p^4 - p^2 + 1, where the easy part of the final
 * exponentiation leads): Granger and Scott 2010, three squarings of F4. */
CUZK_MAYBE void F12N(_cyclotomic_sqr)(struct F12 *r, const struct F12 *a)
{
    struct F2 e0, o0, e1, o1, e2, o2, t;
    F12N(_sqr_part)(&e0, &o0, &a->c0.c0, &a->c1.c1);
    F12N(_sqr_part)(&e1, &o1, &a->c1.c0, &a->c0.c2);
    F12N(_sqr_part)(&e2, &o2, &a->c0.c1, &a->c1.c2);
    F12N(_three_minus_two)(&r->c0.c0, &e0, &a->c0.c0);
    F12N(_three_plus_two)(&r->c1.c1, &o0, &a->c1.c1);
    F12N(_three_minus_two)(&r->c0.c1, &e1, &a->c0.c1);
    F12N(_three_plus_two)(&r->c1.c2, &o1, &a->c1.c2);
    F12N(_three_minus_two)(&r->c0.c2, &e2, &a->c0.c2);
    F2N(_mul_xi)(&t, &o2);
    F12N(_three_plus_two)(&r->c1.c0, &t, &a->c1.c0);
}

/* a^p. `gamma` holds xi^(i (p-1)/6), i = 1 … 5: the factor of the coefficient of w^i. */
CUZK_MAYBE void F12N(_frobenius)(struct F12 *r, const struct F12 *a, const struct F2 gamma[5])
{
    F2N(_conj)(&r->c0.c0, &a->c0.c0);
    F2N(_conj)(&r->c1.c0, &a->c1.c0);
    F2N(_conj)(&r->c0.c1, &a->c0.c1);
    F2N(_conj)(&r->c1.c1, &a->c1.c1);
    F2N(_conj)(&r->c0.c2, &a->c0.c2);
    F2N(_conj)(&r->c1.c2, &a->c1.c2);
    F2N(_mul)(&r->c1.c0, &r->c1.c0, &gamma[0]);
    F2N(_mul)(&r->c0.c1, &r->c0.c1, &gamma[1]);
    F2N(_mul)(&r->c1.c1, &r->c1.c1, &gamma[2]);
    F2N(_mul)(&r->c0.c2, &r->c0.c2, &gamma[3]);
    F2N(_mul)(&r->c1.c2, &r->c1.c2, &gamma[4]);
}

/* a^(p^2). `gamma` holds xi^(i (p^2-1)/6), i = 1 … 5, which are in the base field. */
CUZK_MAYBE void F12N(_frobenius2)(struct F12 *r, const struct F12 *a, const struct F gamma[5])
{
    r->c0.c0 = a->c0.c0;
    F2N(_mul_base)(&r->c1.c0, &a->c1.c0, &gamma[0]);
    F2N(_mul_base)(&r->c0.c1, &a->c0.c1, &gamma[1]);
    F2N(_mul_base)(&r->c1.c1, &a->c1.c1, &gamma[2]);
    F2N(_mul_base)(&r->c0.c2, &a->c0.c2, &gamma[3]);
    F2N(_mul_base)(&r->c1.c2, &a->c1.c2, &gamma[4]);
}

#undef FN
#undef F2N
#undef F6N
#undef F12N
#undef F12
#undef F6
#undef F2
#undef F
#undef XI
