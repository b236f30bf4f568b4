/* The witness of a SHA-256 block, word by word: what the description in gadget_sha256.c allocates
 * bit by bit, 32 at a time. Where a bit is constant the description allocates nothing for the gates
 * that fold away, so a word of the message is kept with the bits of it that are constant, and those
 * whose variable is their negation. Words of the state are variable as a whole or constant as a
 * whole, and never negated. A test holds this to the description.
 */
#include "circuit/gadgets.h"

#include <string.h>

struct word {
    uint32_t value;
    uint32_t constant; /* bits that are constant */
    uint32_t negated;  /* bits that are a variable's negation */
};

/* Bits on their way to the witness. */
struct sink {
    uint64_t *to, held;
    unsigned fill;
    uint32_t count;
};

static inline void put(struct sink *s, uint64_t bits, unsigned n)
{
    s->held |= bits << s->fill;
    s->count += n;
    if (s->fill + n < 64) {
        s->fill += n;
        return;
    }
    *s->to++ = s->held;
    unsigned taken = 64 - s->fill;
    s->held = taken < 64 ? bits >> taken : 0;
    s->fill = n - taken;
}

/* The bits of `bits` where mask is set. */
static inline void put_masked(struct sink *s, uint32_t bits, uint32_t mask)
{
    if (mask == UINT32_MAX) {
        put(s, bits, 32);
        return;
    }
    for (; mask != 0; mask &= mask - 1)
        put(s, bits >> __builtin_ctz(mask) & 1, 1);
}

static inline uint32_t rotated(uint32_t x, int by)
{
    return x >> by | x << (32 - by);
}

static inline struct word rotate(struct word w, int by)
{
    return (struct word){rotated(w.value, by), rotated(w.constant, by), rotated(w.negated, by)};
}

static inline struct word shift(struct word w, int by)
{
    return (struct word){w.value >> by, w.constant >> by | ~(UINT32_MAX >> by), w.negated >> by};
}

/* A variable is allocated where both are variable; a negation of either is one of the result. A
 * constant one negates the other. */
static inline struct word xor_words(struct sink *s, struct word a, struct word b)
{
    struct word r = {.value = a.value ^ b.value, .constant = a.constant & b.constant};
    put_masked(s, a.value ^ a.negated ^ b.value ^ b.negated, ~(a.constant | b.constant));
    r.negated =
        (a.negated ^ b.negated ^ (a.constant & a.value) ^ (b.constant & b.value)) & ~r.constant;
    return r;
}

static inline struct word sigma(struct sink *s, struct word w, int i, int j, int k)
{
    return xor_words(s, xor_words(s, rotate(w, i), rotate(w, j)), shift(w, k));
}

/* The same of a word of the state, which gives words of the state. */
static inline uint32_t big_sigma(struct sink *s, uint32_t x, bool constant, int i, int j, int k)
{
    uint32_t first = rotated(x, i) ^ rotated(x, j), second = first ^ rotated(x, k);
    if (!constant)
        put(s, (uint64_t)second << 32 | first, 64);
    return second;
}

/* Which gate is left of choose and majority where operands are constant: see gadget_sha256.c. */
static inline uint32_t choose(struct sink *s, uint32_t a, uint32_t b, uint32_t c, bool ca, bool cb,
                              bool cc)
{
    uint32_t r = (a & b) | (~a & c);
    if (!ca && !cb && !cc) {
        put(s, r, 32);
        return r;
    }
    if (ca && cb && cc)
        return r;
    for (int i = 0; i < 32; i++) {
        bool x = a >> i & 1, y = b >> i & 1, z = c >> i & 1;
        if (ca && !x)
            continue;
        if (cb && !y) {
            if (!ca && !cc)
                put(s, !x && z, 1);
        } else if (cc) {
            if (!ca && !cb)
                put(s, x && (z ? !y : y), 1);
        } else if (cb) {
            if (!ca)
                put(s, !x && !z, 1);
        } else {
            put(s, r >> i & 1, 1);
        }
    }
    return r;
}

/* x in the lower half: its bits at even places. */
static inline uint64_t spread(uint64_t x)
{
    x = (x | x << 16) & 0x0000ffff0000ffff;
    x = (x | x << 8) & 0x00ff00ff00ff00ff;
    x = (x | x << 4) & 0x0f0f0f0f0f0f0f0f;
    x = (x | x << 2) & 0x3333333333333333;
    return (x | x << 1) & 0x5555555555555555;
}

static inline uint32_t majority(struct sink *s, uint32_t a, uint32_t b, uint32_t c, bool ca,
                                bool cb, bool cc)
{
    uint32_t r = (a & b) | (a & c) | (b & c);
    if (!ca && !cb && !cc) {
        /* for each bit the result, then "b and c" */
        put(s, spread(r) | spread(b & c) << 1, 64);
        return r;
    }
    if (ca && cb && cc)
        return r;
    for (int i = 0; i < 32; i++) {
        bool x = a >> i & 1, y = b >> i & 1, z = c >> i & 1;
        bool first, second, left, right; /* constant operands and values of the gate that is left */
        if (ca && !x)
            first = cb, second = cc, left = y, right = z;
        else if (cb && !y)
            first = ca, second = cc, left = x, right = z;
        else if (cc && !z)
            first = ca, second = cb, left = x, right = y;
        else if (cc)
            first = ca, second = cb, left = !x, right = !y;
        else if (cb)
            first = ca, second = cc, left = !x, right = !z;
        else
            first = cb, second = cc, left = !y, right = !z;
        if (!first && !second)
            put(s, left && right, 1);
    }
    return r;
}

/* ---- ports ---- */

static inline bool port_bit(const struct cuzk_cs *cs, const uint32_t *tag)
{
    return cs->witness->bits[*tag / 128] >> (*tag / 2 % 64) & 1;
}

/* n ≤ 32 ports, most significant first, that are neighbours in the witness, as they mostly are: the
 * last of them lies lowest. */
static inline uint32_t port_bits(const struct cuzk_cs *cs, const uint32_t *tags, unsigned n)
{
    bool run = true;
    for (unsigned i = 1; i < n; i++)
        run &= tags[i] + 2 * i == tags[0];
    uint32_t r = 0;
    if (run) {
        uint32_t at = tags[n - 1] / 2;
        const uint64_t *from = cs->witness->bits + at / 64;
        uint64_t low = from[0] >> (at % 64), high = at % 64 != 0 ? from[1] << (64 - at % 64) : 0;
        return (uint32_t)((low | high) & (((uint64_t)1 << n) - 1));
    }
    for (unsigned i = 0; i < n; i++)
        r = r << 1 | port_bit(cs, &tags[i]);
    return r;
}

/* The message; bytes of variable bits alone are taken as a whole. */
static void load_message(const struct cuzk_cs *cs, struct word w[16], const uint8_t pattern[512],
                         const uint32_t *tags)
{
    static const uint8_t variable[8] = {PATTERN_VARIABLE, PATTERN_VARIABLE, PATTERN_VARIABLE,
                                        PATTERN_VARIABLE, PATTERN_VARIABLE, PATTERN_VARIABLE,
                                        PATTERN_VARIABLE, PATTERN_VARIABLE};
    for (int i = 0; i < 16; i++) {
        struct word x = {0};
        for (int byte = 0; byte < 4; byte++) {
            const uint8_t *p = pattern + 32 * i + 8 * byte;
            if (memcmp(p, variable, 8) == 0) {
                x.value = x.value << 8 | port_bits(cs, tags, 8);
                x.constant <<= 8;
                tags += 8;
                continue;
            }
            for (int b = 0; b < 8; b++) {
                bool is_variable = p[b] == PATTERN_VARIABLE;
                bool value = is_variable ? port_bit(cs, tags) : p[b] == PATTERN_ONE;
                tags += is_variable;
                x.value = x.value << 1 | value;
                x.constant = x.constant << 1 | !is_variable;
            }
        }
        w[i] = x;
    }
}

void gadget_sha256_words(struct cuzk_cs *cs, bool constant_state, const uint8_t pattern[512])
{
    struct word w[64];
    uint32_t state[8];
    const uint32_t *tags = cs->tags + 1;
    for (int i = 0; i < 8; i++) {
        if (constant_state) {
            state[i] = gadget_sha256_state[i];
        } else {
            state[i] = port_bits(cs, tags, 32);
            tags += 32;
        }
    }
    load_message(cs, w, pattern, tags);

    uint64_t *to = cs->witness->bits + cs->next_aux / 64;
    struct sink s = {to, *to, cs->next_aux % 64, 0};
    for (int i = 16; i < 64; i++) {
        struct word s0 = sigma(&s, w[i - 15], 7, 18, 3);
        struct word s1 = sigma(&s, w[i - 2], 17, 19, 10);
        uint64_t sum = (uint64_t)w[i - 16].value + s0.value + w[i - 7].value + s1.value;
        uint32_t constant = w[i - 16].constant & s0.constant & w[i - 7].constant & s1.constant;
        w[i] = (struct word){(uint32_t)sum, 0, 0};
        if (constant == UINT32_MAX)
            w[i].constant = UINT32_MAX;
        else
            put(&s, sum, 34);
    }

    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    bool ca = constant_state, cb = ca, cc = ca, ce = ca, cf = ca, cg = ca;
    /* sums of the new e and a, which are allocated at the head of the next round, or with the state
     * added at the end */
    uint64_t sum_e = 0, sum_a = 0;
    for (int i = 0; i < 64; i++) {
        if (i > 0) {
            put(&s, sum_e, 35);
            e = (uint32_t)sum_e;
            ce = false;
        }
        uint32_t s1 = big_sigma(&s, e, ce, 6, 11, 25);
        uint32_t ch = choose(&s, e, f, g, ce, cf, cg);
        if (i > 0) {
            put(&s, sum_a, 35);
            a = (uint32_t)sum_a;
            ca = false;
        }
        uint32_t s0 = big_sigma(&s, a, ca, 2, 13, 22);
        uint32_t maj = majority(&s, a, b, c, ca, cb, cc);
        uint64_t sum = (uint64_t)h + s1 + ch + gadget_sha256_constant[i] + w[i].value;
        sum_e = sum + d;
        sum_a = sum + s0 + maj;
        h = g;
        g = f;
        cg = cf;
        f = e;
        cf = ce;
        d = c;
        c = b;
        cc = cb;
        b = a;
        cb = ca;
    }
    put(&s, sum_a + state[0], 35);
    put(&s, (uint64_t)b + state[1], 33);
    put(&s, (uint64_t)c + state[2], 33);
    put(&s, (uint64_t)d + state[3], 33);
    put(&s, sum_e + state[4], 35);
    put(&s, (uint64_t)f + state[5], 33);
    put(&s, (uint64_t)g + state[6], 33);
    put(&s, (uint64_t)h + state[7], 33);
    *s.to = s.held;
    cs->next_aux += s.count;
    cs->allocated += s.count;
}
