/* A prime field in Montgomery form, as a template over its modulus.
 *
 * Parameters: F (prefix of names, also the type's tag), C (prefix of its constants in constants.h).
 * Instantiated by a header of the curve, which gives static inline functions
 *
 *     F_add, F_sub, F_mul …  (struct F *r, const struct F *a, const struct F *b); r may alias.
 *
 * An element is LIMBS words of 64 bits, least significant first, the value a·R mod p with
 * R = 2^(64·LIMBS), always fully reduced (< p), so equality is equality of words. The modulus must
 * leave its highest bit free. Nothing here is constant time: it is for proving, not for signing.
 *
 * The product is interleaved reduction (CIOS) without the carry word, which the free bit allows
 * (Acar 1996; the carry-less form is due to the gnark authors). arch/ has a faster one for x86-64;
 * both give the same words.
 */
#ifndef F
#error "define F, the prefix of the field's names"
#endif
#ifndef C
#error "define C, the prefix of the field's constants"
#endif

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifndef CUZK_FIELD_GLUE
#define CUZK_FIELD_GLUE
#define CUZK_GLUE_(a, b) a##b
#define CUZK_GLUE(a, b) CUZK_GLUE_(a, b)
__extension__ typedef unsigned __int128 cuzk_u128;
#define CUZK_INLINE static inline __attribute__((unused, always_inline))
#define CUZK_MAYBE static __attribute__((unused))
#endif

#define FN(name) CUZK_GLUE(F, name)
#define FC(name) CUZK_GLUE(C, name)
#define N FC(_LIMBS)

struct F {
    uint64_t l[N];
};

static const uint64_t FN(_modulus)[N] __attribute__((unused)) = {FC(_MODULUS)};
static const struct F FN(_zero) __attribute__((unused)) = {{0}};
static const struct F FN(_one) __attribute__((unused)) = {{FC(_ONE)}};
static const struct F FN(_r2) __attribute__((unused)) = {{FC(_R2)}};

CUZK_INLINE bool FN(_is_zero)(const struct F *a)
{
    uint64_t x = 0;
    for (int i = 0; i < N; i++)
        x |= a->l[i];
    return x == 0;
}

CUZK_INLINE bool FN(_eq)(const struct F *a, const struct F *b)
{
    uint64_t x = 0;
    for (int i = 0; i < N; i++)
        x |= a->l[i] ^ b->l[i];
    return x == 0;
}

CUZK_INLINE bool FN(_is_one)(const struct F *a)
{
    return FN(_eq)(a, &FN(_one));
}

/* r = t - p if t >= p (t < 2p; carry is t's bit 64·LIMBS, zero for all our moduli). */
CUZK_INLINE void FN(_reduce_once)(struct F *r, const uint64_t t[N])
{
    uint64_t d[N], borrow = 0;
    for (int i = 0; i < N; i++) {
        cuzk_u128 x = (cuzk_u128)t[i] - FN(_modulus)[i] - borrow;
        d[i] = (uint64_t)x;
        borrow = (uint64_t)(x >> 64) & 1;
    }
    uint64_t keep = 0 - borrow;
    for (int i = 0; i < N; i++)
        r->l[i] = (t[i] & keep) | (d[i] & ~keep);
}

CUZK_INLINE void FN(_add)(struct F *r, const struct F *a, const struct F *b)
{
    uint64_t t[N], carry = 0;
    for (int i = 0; i < N; i++) {
        cuzk_u128 x = (cuzk_u128)a->l[i] + b->l[i] + carry;
        t[i] = (uint64_t)x;
        carry = (uint64_t)(x >> 64);
    }
    FN(_reduce_once)(r, t);
}

CUZK_INLINE void FN(_dbl)(struct F *r, const struct F *a)
{
    FN(_add)(r, a, a);
}

CUZK_INLINE void FN(_sub)(struct F *r, const struct F *a, const struct F *b)
{
    uint64_t t[N], borrow = 0;
    for (int i = 0; i < N; i++) {
        cuzk_u128 x = (cuzk_u128)a->l[i] - b->l[i] - borrow;
        t[i] = (uint64_t)x;
        borrow = (uint64_t)(x >> 64) & 1;
    }
    uint64_t mask = 0 - borrow, carry = 0;
    for (int i = 0; i < N; i++) {
        cuzk_u128 x = (cuzk_u128)t[i] + (FN(_modulus)[i] & mask) + carry;
        r->l[i] = (uint64_t)x;
        carry = (uint64_t)(x >> 64);
    }
}

CUZK_INLINE void FN(_neg)(struct F *r, const struct F *a)
{
    FN(_sub)(r, &FN(_zero), a);
}

CUZK_INLINE void FN(_mul)(struct F *r, const struct F *a, const struct F *b)
{
    uint64_t t[N] = {0};
    for (int i = 0; i < N; i++) {
        uint64_t x = b->l[i];
        cuzk_u128 high = (cuzk_u128)a->l[0] * x + t[0];
        uint64_t m = (uint64_t)high * FC(_INV);
        cuzk_u128 low = (cuzk_u128)m * FN(_modulus)[0] + (uint64_t)high;
        high >>= 64;
        low >>= 64;
        for (int j = 1; j < N; j++) {
            high += (cuzk_u128)a->l[j] * x + t[j];
            low += (cuzk_u128)m * FN(_modulus)[j] + (uint64_t)high;
            t[j - 1] = (uint64_t)low;
            high >>= 64;
            low >>= 64;
        }
        t[N - 1] = (uint64_t)high + (uint64_t)low;
    }
    FN(_reduce_once)(r, t);
}

CUZK_INLINE void FN(_sqr)(struct F *r, const struct F *a)
{
    FN(_mul)(r, a, a);
}

/* Canonical words (the number itself) from Montgomery form. */
CUZK_INLINE void FN(_to_limbs)(uint64_t out[N], const struct F *a)
{
    const struct F plain_one = {{1}};
    struct F t;
    FN(_mul)(&t, a, &plain_one);
    memcpy(out, t.l, sizeof t.l);
}

CUZK_INLINE bool FN(_limbs_in_range)(const uint64_t in[N])
{
    for (int i = N - 1; i >= 0; i--)
        if (in[i] != FN(_modulus)[i])
            return in[i] < FN(_modulus)[i];
    return false;
}

/* Montgomery form from canonical words; false, and r zero, if they are not below the modulus. */
CUZK_INLINE bool FN(_from_limbs)(struct F *r, const uint64_t in[N])
{
    struct F t;
    memcpy(t.l, in, sizeof t.l);
    bool ok = FN(_limbs_in_range)(in);
    if (!ok)
        t = FN(_zero);
    FN(_mul)(r, &t, &FN(_r2));
    return ok;
}

CUZK_INLINE void FN(_from_u64)(struct F *r, uint64_t x)
{
    struct F t = {{x}};
    FN(_mul)(r, &t, &FN(_r2));
}

/* Encodings of LIMBS·8 bytes, little or big endian; from_ returns false, and r zero, if the number
 * is not below the modulus. */
CUZK_MAYBE bool FN(_from_le)(struct F *r, const uint8_t in[8 * N])
{
    uint64_t t[N];
    for (int i = 0; i < N; i++) {
        t[i] = 0;
        for (int j = 7; j >= 0; j--)
            t[i] = t[i] << 8 | in[8 * i + j];
    }
    return FN(_from_limbs)(r, t);
}

CUZK_MAYBE bool FN(_from_be)(struct F *r, const uint8_t in[8 * N])
{
    uint64_t t[N];
    for (int i = 0; i < N; i++) {
        t[i] = 0;
        for (int j = 0; j < 8; j++)
            t[i] = t[i] << 8 | in[8 * (N - 1 - i) + j];
    }
    return FN(_from_limbs)(r, t);
}

CUZK_MAYBE void FN(_to_le)(uint8_t out[8 * N], const struct F *a)
{
    uint64_t t[N];
    FN(_to_limbs)(t, a);
    for (int i = 0; i < 8 * N; i++)
        out[i] = (uint8_t)(t[i / 8] >> (8 * (i % 8)));
}

CUZK_MAYBE void FN(_to_be)(uint8_t out[8 * N], const struct F *a)
{
    uint64_t t[N];
    FN(_to_limbs)(t, a);
    for (int i = 0; i < 8 * N; i++)
        out[8 * N - 1 - i] = (uint8_t)(t[i / 8] >> (8 * (i % 8)));
}

/* r = a^e, e as words, least significant first. */
CUZK_MAYBE void FN(_pow)(struct F *r, const struct F *a, const uint64_t *e, int words)
{
    struct F t = FN(_one), base = *a;
    for (int i = 64 * words - 1; i >= 0; i--) {
        FN(_sqr)(&t, &t);
        if (e[i / 64] >> (i % 64) & 1)
            FN(_mul)(&t, &t, &base);
    }
    *r = t;
}

CUZK_MAYBE void FN(_pow_u64)(struct F *r, const struct F *a, uint64_t e)
{
    FN(_pow)(r, a, &e, 1);
}

/* r = 1/a, and 0 for a = 0 (Fermat). */
CUZK_MAYBE void FN(_inv)(struct F *r, const struct F *a)
{
    static const uint64_t e[N] = {FC(_P_MINUS_2)};
    FN(_pow)(r, a, e, N);
}

#undef FN
#undef FC
#undef N
#undef F
#undef C
