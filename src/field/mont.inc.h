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
 * (Acar 1996; the carry-less form is due to the gnark authors). Where CUZK_ISA_X86_64_ADX is
 * defined (see isa.h) arch/ gives the products, which have the same words.
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

/* Products of twice the words, for sums of products that are reduced once. A wide value w is below
 * p·R and stands for w/R mod p once reduced; a product of reduced operands is below p², and
 * p·R holds several of those (9 for the Fp of BLS12-381), so a caller that counts can add plainly.
 */
struct FN(_wide) {
    uint64_t l[2 * N];
};

static const uint64_t FN(_modulus)[N] __attribute__((unused)) = {FC(_MODULUS)};
static const struct F FN(_zero) __attribute__((unused)) = {{0}};
static const struct F FN(_one) __attribute__((unused)) = {{FC(_ONE)}};
static const struct F FN(_r2) __attribute__((unused)) = {{FC(_R2)}};

CUZK_INLINE void FN(_set_one)(struct F *r)
{
    *r = FN(_one);
}

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

/* ---- what a path may have its own of: sums and products ----
 *
 * _add, _sub, _mul, _sqr: reduced operands and results. _add_plain does not reduce: its result is
 * an operand for _mul_wide, or one operand of _mul. _mul_wide: the operands need not be reduced,
 * but their product must be below p·R. _redc: r = w/R mod p, fully reduced. _wide_add,
 * _wide_sub_plain: the caller knows that the result is in [0, p·R); _wide_add_mod and _wide_sub
 * correct by p·R where it is not.
 */
#ifdef CUZK_ISA_X86_64_ADX
#include "field/arch/x86_64/mont_adx.inc.h"
#else

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

CUZK_INLINE void FN(_mul_wide)(struct FN(_wide) * r, const struct F *a, const struct F *b)
{
    uint64_t t[2 * N] = {0};
    for (int i = 0; i < N; i++) {
        cuzk_u128 x = 0;
        for (int j = 0; j < N; j++) {
            x += (cuzk_u128)a->l[j] * b->l[i] + t[i + j];
            t[i + j] = (uint64_t)x;
            x >>= 64;
        }
        t[i + N] = (uint64_t)x;
    }
    memcpy(r->l, t, sizeof t);
}

CUZK_INLINE void FN(_redc)(struct F *r, const struct FN(_wide) * w)
{
    uint64_t t[2 * N], carry = 0;
    memcpy(t, w->l, sizeof t);
    for (int i = 0; i < N; i++) {
        uint64_t m = t[i] * FC(_INV);
        cuzk_u128 x = 0;
        for (int j = 0; j < N; j++) {
            x += (cuzk_u128)m * FN(_modulus)[j] + t[i + j];
            t[i + j] = (uint64_t)x;
            x >>= 64;
        }
        x += (cuzk_u128)t[i + N] + carry;
        t[i + N] = (uint64_t)x;
        carry = (uint64_t)(x >> 64);
    }
    FN(_reduce_once)(r, t + N); /* below 2p, so carry is 0 */
}

#endif

#ifndef CUZK_ARCH_WIDE_SUMS

CUZK_INLINE void FN(_add_plain)(struct F *r, const struct F *a, const struct F *b)
{
    uint64_t carry = 0;
    for (int i = 0; i < N; i++) {
        cuzk_u128 x = (cuzk_u128)a->l[i] + b->l[i] + carry;
        r->l[i] = (uint64_t)x;
        carry = (uint64_t)(x >> 64);
    }
}

CUZK_INLINE void FN(_wide_add)(struct FN(_wide) * r, const struct FN(_wide) * a,
                               const struct FN(_wide) * b)
{
    uint64_t carry = 0;
    for (int i = 0; i < 2 * N; i++) {
        cuzk_u128 x = (cuzk_u128)a->l[i] + b->l[i] + carry;
        r->l[i] = (uint64_t)x;
        carry = (uint64_t)(x >> 64);
    }
}

CUZK_INLINE void FN(_wide_add_mod)(struct FN(_wide) * r, const struct FN(_wide) * a,
                                   const struct FN(_wide) * b)
{
    struct FN(_wide) t;
    struct F high;
    FN(_wide_add)(&t, a, b);
    FN(_reduce_once)(&high, t.l + N);
    memcpy(r->l, t.l, sizeof high);
    memcpy(r->l + N, high.l, sizeof high);
}

CUZK_INLINE uint64_t FN(_wide_borrow)(struct FN(_wide) * r, const struct FN(_wide) * a,
                                      const struct FN(_wide) * b)
{
    uint64_t borrow = 0;
    for (int i = 0; i < 2 * N; i++) {
        cuzk_u128 x = (cuzk_u128)a->l[i] - b->l[i] - borrow;
        r->l[i] = (uint64_t)x;
        borrow = (uint64_t)(x >> 64) & 1;
    }
    return borrow;
}

CUZK_INLINE void FN(_wide_sub_plain)(struct FN(_wide) * r, const struct FN(_wide) * a,
                                     const struct FN(_wide) * b)
{
    FN(_wide_borrow)(r, a, b);
}

CUZK_INLINE void FN(_wide_sub)(struct FN(_wide) * r, const struct FN(_wide) * a,
                               const struct FN(_wide) * b)
{
    uint64_t mask = 0 - FN(_wide_borrow)(r, a, b), carry = 0;
    for (int i = 0; i < N; i++) {
        cuzk_u128 x = (cuzk_u128)r->l[N + i] + (FN(_modulus)[i] & mask) + carry;
        r->l[N + i] = (uint64_t)x;
        carry = (uint64_t)(x >> 64);
    }
}

#endif

CUZK_INLINE void FN(_dbl)(struct F *r, const struct F *a)
{
    FN(_add)(r, a, a);
}

CUZK_INLINE void FN(_neg)(struct F *r, const struct F *a)
{
    FN(_sub)(r, &FN(_zero), a);
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

/* r = a^e, e as words, least significant first; windows of four bits. */
CUZK_MAYBE void FN(_pow)(struct F *r, const struct F *a, const uint64_t *e, int words)
{
    struct F table[16], t = FN(_one);
    table[0] = FN(_one);
    for (int i = 1; i < 16; i++)
        FN(_mul)(&table[i], &table[i - 1], a);
    bool started = false;
    for (int i = 64 * words - 4; i >= 0; i -= 4) {
        unsigned digit = (unsigned)(e[i / 64] >> (i % 64)) & 15;
        if (started)
            for (int j = 0; j < 4; j++)
                FN(_sqr)(&t, &t);
        if (digit != 0) {
            FN(_mul)(&t, &t, &table[digit]);
            started = true;
        }
    }
    *r = t;
}

CUZK_MAYBE void FN(_pow_u64)(struct F *r, const struct F *a, uint64_t e)
{
    FN(_pow)(r, a, &e, 1);
}

#include "field/invert.inc.h"

/* r = a/2. */
CUZK_INLINE void FN(_halve)(struct F *r, const struct F *a)
{
    uint64_t t[N], mask = 0 - (a->l[0] & 1), carry = 0;
    for (int i = 0; i < N; i++) {
        cuzk_u128 x = (cuzk_u128)a->l[i] + (FN(_modulus)[i] & mask) + carry;
        t[i] = (uint64_t)x;
        carry = (uint64_t)(x >> 64);
    }
    for (int i = 0; i < N; i++)
        r->l[i] = t[i] >> 1 | (i + 1 < N ? t[i + 1] : carry) << 63;
}

/* True if the number a is above (p - 1)/2: the larger of a and -a. */
CUZK_MAYBE bool FN(_is_larger)(const struct F *a)
{
    uint64_t t[N], carry = 0;
    FN(_to_limbs)(t, a);
    for (int i = 0; i < N; i++) {
        uint64_t top = t[i] >> 63;
        t[i] = t[i] << 1 | carry;
        carry = top;
    }
    for (int i = N - 1; i >= 0; i--)
        if (t[i] != FN(_modulus)[i])
            return t[i] > FN(_modulus)[i];
    return false; /* 2a = p cannot be */
}

#if FC(_MODULUS_MOD_4) == 3
/* r = a^((p-3)/4): 1/sqrt(a) where a is a square, so that a r^2 is 1 for squares, -1 for others. */
CUZK_MAYBE void FN(_inv_sqrt)(struct F *r, const struct F *a)
{
    static const uint64_t e[N] = {FC(_P_MINUS_3_BY_4)};
    FN(_pow)(r, a, e, N);
}

/* A square root, false (and r zero) if there is none. */
CUZK_MAYBE bool FN(_sqrt)(struct F *r, const struct F *a)
{
    struct F t, root, check;
    FN(_inv_sqrt)(&t, a);
    FN(_mul)(&root, &t, a);
    FN(_sqr)(&check, &root);
    bool ok = FN(_eq)(&check, a);
    *r = ok ? root : FN(_zero);
    return ok;
}
#endif

#undef CUZK_ARCH_WIDE_SUMS
#undef FN
#undef FC
#undef N
#undef F
#undef C
