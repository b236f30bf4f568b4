/* Many affine additions at once, the common ground of msm.inc.h and fixed_base.inc.h, as a template
 * over the group; group.inc.h is instantiated before.
 *
 * Parameters: G, GF (as in group.inc.h); GS (prefix of the scalars' type struct GS, with
 * GS_to_limbs), GS_LIMBS, GS_BITS, GS_ORDER (an array of GS_LIMBS words: the group's order).
 *
 * An affine addition costs 2M + 1S and an inversion, and Montgomery's trick makes one inversion
 * serve a batch for 3M each: half of what the best projective formulas take. Every pair may be
 * equal, opposite or infinite.
 */
#ifndef G
#error "define G, the prefix of the group's names"
#endif
#ifndef GF
#error "define GF, the prefix of the coordinate field"
#endif
#if !defined(GS) || !defined(GS_LIMBS) || !defined(GS_BITS) || !defined(GS_ORDER)
#error "define GS, GS_LIMBS, GS_BITS and GS_ORDER, the scalars"
#endif

#define GN(name) CUZK_GLUE(G, name)
#define FN(name) CUZK_GLUE(GF, name)
#define SN(name) CUZK_GLUE(GS, name)
#define AFFINE GN(_affine)
#define BATCH GN(_batch)

/* Points in flight: about 400 KB, so that a batch with its products stays in the second-level
 * cache while an inversion is shared by thousands of additions. */
#define BATCH_POINTS (4096 * 96 / sizeof(struct AFFINE))

/* Scratch of one thread: room for `capacity` points, for capacity/2 additions at once, and for
 * capacity segments. Carved from the caller's allocation by GN(_batch_carve). */
struct BATCH {
    size_t capacity, filled;
    struct AFFINE *p;
    struct GF *difference, *product;
    uint32_t *left, *special, *start, *bucket;
};

#define BATCH_BYTES(capacity)                                                                      \
    ((capacity) * (sizeof(struct AFFINE) + sizeof(struct GF) + 3 * sizeof(uint32_t)))

CUZK_MAYBE uint8_t *GN(_batch_carve)(struct BATCH *s, uint8_t *memory, size_t capacity)
{
    s->capacity = capacity;
    s->filled = 0;
    s->p = (struct AFFINE *)(void *)memory;
    s->difference = (struct GF *)(void *)(s->p + capacity);
    s->product = s->difference + capacity / 2;
    s->left = (uint32_t *)(void *)(s->product + capacity / 2);
    s->special = s->left + capacity / 2;
    s->start = s->special + capacity / 2;
    s->bucket = s->start + capacity;
    return memory + BATCH_BYTES(capacity);
}

/* As GN(_affine_is_infinity), but one word tells almost always. */
CUZK_INLINE bool GN(_batch_infinity)(const struct AFFINE *a)
{
    return *(const uint64_t *)(const void *)a == 0 && GN(_affine_is_infinity)(a);
}

/* The denominator of a pair that the plain formula does not fit: 2y for a doubling, else one. */
CUZK_MAYBE void GN(_special_denominator)(struct GF *d, const struct AFFINE *a,
                                         const struct AFFINE *b)
{
    if (!GN(_batch_infinity)(a) && GN(_affine_eq)(a, b) && !FN(_is_zero)(&a->y))
        FN(_dbl)(d, &a->y);
    else
        FN(_set_one)(d);
}

CUZK_MAYBE void GN(_special_sum)(struct AFFINE *a, const struct AFFINE *b, const struct GF *inverse)
{
    if (GN(_batch_infinity)(b))
        return;
    if (GN(_batch_infinity)(a)) {
        *a = *b;
        return;
    }
    if (!FN(_eq)(&a->y, &b->y) || FN(_is_zero)(&a->y)) {
        a->x = a->y = FN(_zero); /* opposite */
        return;
    }
    struct GF slope, t, x;
    FN(_sqr)(&t, &a->x);
    FN(_dbl)(&slope, &t);
    FN(_add)(&slope, &slope, &t);
    FN(_mul)(&slope, &slope, inverse);
    FN(_sqr)(&t, &slope);
    FN(_dbl)(&x, &a->x);
    FN(_sub)(&x, &t, &x);
    FN(_sub)(&t, &a->x, &x);
    FN(_mul)(&t, &t, &slope);
    FN(_sub)(&a->y, &t, &a->y);
    a->x = x;
}

/* p[l] += p[l + distance] for each of count <= capacity/2 indices l: left[k], or k itself where
 * left is NULL. No index appears twice, on either side. */
CUZK_MAYBE void GN(_batch_add)(struct BATCH *s, struct AFFINE *p, const uint32_t *left,
                               size_t distance, size_t count)
{
    struct GF product, inverse, slope, t, x;
    struct GF *d = s->difference, *before = s->product;
    size_t specials = 0;
    if (count == 0)
        return;
    FN(_set_one)(&product);
    for (size_t k = 0; k < count; k++) {
        const struct AFFINE *a = &p[left != NULL ? left[k] : k], *b = a + distance;
        FN(_sub)(&d[k], &b->x, &a->x);
        if (__builtin_expect(
                FN(_is_zero)(&d[k]) || GN(_batch_infinity)(a) || GN(_batch_infinity)(b), 0)) {
            GN(_special_denominator)(&d[k], a, b);
            s->special[specials++] = (uint32_t)k;
        }
        before[k] = product;
        FN(_mul)(&product, &product, &d[k]);
    }
    FN(_inv)(&product, &product);
    for (size_t k = count; k-- > 0;) {
        struct AFFINE *a = &p[left != NULL ? left[k] : k];
        const struct AFFINE *b = a + distance;
        FN(_mul)(&inverse, &product, &before[k]);
        FN(_mul)(&product, &product, &d[k]);
        if (__builtin_expect(specials != 0 && s->special[specials - 1] == k, 0)) {
            specials--;
            GN(_special_sum)(a, b, &inverse);
            continue;
        }
        FN(_sub)(&slope, &b->y, &a->y);
        FN(_mul)(&slope, &slope, &inverse);
        FN(_sqr)(&x, &slope);
        FN(_add)(&t, &a->x, &b->x);
        FN(_sub)(&x, &x, &t);
        FN(_sub)(&t, &a->x, &x);
        FN(_mul)(&t, &t, &slope);
        FN(_sub)(&a->y, &t, &a->y);
        a->x = x;
    }
}

/* Adds the points held to one another until at most `most` are left, in place. */
CUZK_MAYBE void GN(_batch_shrink)(struct BATCH *s, size_t most)
{
    while (s->filled > most) {
        size_t half = (s->filled + 1) / 2;
        GN(_batch_add)(s, s->p, NULL, half, s->filled - half);
        s->filled = half;
    }
}

/* ---- scalars: k or order - k, whichever is smaller, with a bias that makes signed digits of c
 * bits a matter of cutting. Digit i of W = ceil(GS_BITS/c) is bits [ci, ci + c) less 2^(c-1), but
 * the last one, which has no bias. All are in [-2^(c-1), 2^(c-1)]. ---- */

struct GN(_recoded) {
    uint64_t l[GS_LIMBS]; /* bit 63 of the last word: the point is to be negated */
};

#define RECODED_NEGATIVE ((uint64_t)1 << 63)

CUZK_INLINE unsigned GN(_digit_count)(unsigned c)
{
    return (GS_BITS + c - 1) / c;
}

CUZK_MAYBE void GN(_bias)(struct GN(_recoded) * bias, unsigned c)
{
    memset(bias, 0, sizeof *bias);
    for (unsigned i = 0; i + 1 < GN(_digit_count)(c); i++) {
        unsigned bit = i * c + c - 1;
        bias->l[bit / 64] |= (uint64_t)1 << (bit % 64);
    }
}

CUZK_MAYBE void GN(_recode)(struct GN(_recoded) * r, const struct GS *k,
                            const struct GN(_recoded) * bias)
{
    uint64_t plain[GS_LIMBS], other[GS_LIMBS], borrow = 0, carry = 0;
    bool smaller = false; /* order - k < k */
    SN(_to_limbs)(plain, k);
    for (int i = 0; i < GS_LIMBS; i++) {
        cuzk_u128 x = (cuzk_u128)GS_ORDER[i] - plain[i] - borrow;
        other[i] = (uint64_t)x;
        borrow = (uint64_t)(x >> 64) & 1;
    }
    for (int i = GS_LIMBS - 1; i >= 0; i--)
        if (other[i] != plain[i]) {
            smaller = other[i] < plain[i];
            break;
        }
    for (int i = 0; i < GS_LIMBS; i++) {
        cuzk_u128 x = (cuzk_u128)(smaller ? other[i] : plain[i]) + bias->l[i] + carry;
        r->l[i] = (uint64_t)x;
        carry = (uint64_t)(x >> 64);
    }
    if (smaller)
        r->l[GS_LIMBS - 1] |= RECODED_NEGATIVE;
}

/* Digit `index` with the scalar's sign. */
CUZK_INLINE int32_t GN(_digit)(const struct GN(_recoded) * k, unsigned index, unsigned c)
{
    unsigned bit = index * c, word = bit / 64, shift = bit % 64;
    bool last = index + 1 == GN(_digit_count)(c);
    uint64_t x = k->l[word];
    if (word == GS_LIMBS - 1)
        x &= ~RECODED_NEGATIVE;
    x >>= shift;
    if (shift + c > 64 && word + 1 < GS_LIMBS) {
        uint64_t high = k->l[word + 1];
        if (word + 2 == GS_LIMBS)
            high &= ~RECODED_NEGATIVE;
        x |= high << (64 - shift);
    }
    int32_t digit = (int32_t)(x & (((uint64_t)1 << c) - 1)) - (last ? 0 : (int32_t)1 << (c - 1));
    return k->l[GS_LIMBS - 1] & RECODED_NEGATIVE ? -digit : digit;
}
