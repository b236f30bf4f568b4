/* SHA-256 in a circuit, one block a template. The constraints are those of bellperson's sha256,
 * uint32 and multieq gadgets: constants fold away, an addition of several words is one equation
 * whose carries are bits, and as many such equations as fit a field element share a row.
 *
 * gadget_sha256_words.c has the faster way to the same bits.
 */
#include "circuit/gadget.h"
#include "circuit/gadgets.h"

#include <stdio.h>
#include <string.h>

struct word {
    struct bit bit[32]; /* least significant first */
};

/* The first 32 bits of the fractions of the cube roots of the first 64 primes, and of the square
 * roots of the first 8 (FIPS 180-4). */
const uint32_t gadget_sha256_constant[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
const uint32_t gadget_sha256_state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

/* ---- bits ---- */

static struct bit constant(bool value)
{
    return (struct bit){0, BIT_CONSTANT, value};
}

static struct bit not(struct bit a)
{
    if (a.form != BIT_CONSTANT)
        a.form = a.form == BIT_IS ? BIT_NOT : BIT_IS;
    a.value = !a.value;
    return a;
}

/* The value of the bit's variable, where it has one. */
static bool raw(struct bit a)
{
    return a.form == BIT_NOT ? !a.value : a.value;
}

/* Appends k·bit to a combination of at most CS_SMALL terms. */
static uint32_t put(struct cs_small *t, uint32_t n, struct bit a, int k)
{
    if (a.form == BIT_CONSTANT) {
        if (a.value)
            t[n++] = (struct cs_small){CS_ONE, k};
    } else if (a.form == BIT_IS) {
        t[n++] = (struct cs_small){a.variable, k};
    } else {
        t[n++] = (struct cs_small){CS_ONE, k};
        t[n++] = (struct cs_small){a.variable, -k};
    }
    return n;
}

static struct bit xor
        (struct cuzk_cs * cs, struct bit a, struct bit b) {
            if (a.form == BIT_CONSTANT)
                return a.value ? not(b) : b;
            if (b.form == BIT_CONSTANT)
                return b.value ? not(a) : a;
            if (a.form == BIT_NOT && b.form == BIT_IS)
                return not(xor(cs, b, not(a)));
            if (a.form == BIT_IS && b.form == BIT_NOT)
                return not(xor(cs, a, not(b)));
            /* 2a·b = a + b - c, for the variables: two negations cancel */
            bool value = raw(a) ^ raw(b);
            uint32_t c = cs_alloc_bit(cs, value);
            cs_enforce_small(
                cs, (struct cs_small[CS_SMALL]){{a.variable, 2}},
                (struct cs_small[CS_SMALL]){{b.variable, 1}},
                (struct cs_small[CS_SMALL]){{a.variable, 1}, {b.variable, 1}, {c, -1}});
            return (struct bit){c, BIT_IS, value};
        }

        static struct bit
    and (struct cuzk_cs * cs, struct bit a, struct bit b)
{
    if (a.form == BIT_CONSTANT)
        return a.value ? b : a;
    if (b.form == BIT_CONSTANT)
        return b.value ? a : b;
    if (a.form == BIT_NOT && b.form == BIT_IS) {
        struct bit t = a;
        a = b;
        b = t;
    }
    struct cs_small left[CS_SMALL] = {{0}}, right[CS_SMALL] = {{0}};
    bool value = a.value && b.value;
    uint32_t c = cs_alloc_bit(cs, value);
    put(left, 0, a, 1);
    put(right, 0, b, 1);
    cs_enforce_small(cs, left, right, (struct cs_small[CS_SMALL]){{c, 1}});
    return (struct bit){c, BIT_IS, value};
}

/* (a and b) xor (not a and c) */
static struct bit choose(struct cuzk_cs *cs, struct bit a, struct bit b, struct bit c)
{
    bool value = a.value ? b.value : c.value;
    if (a.form == BIT_CONSTANT && b.form == BIT_CONSTANT && c.form == BIT_CONSTANT)
        return constant(value);
    if (a.form == BIT_CONSTANT && !a.value)
        return c;
    if (b.form == BIT_CONSTANT && !b.value)
        return and(cs, not(a), c);
    if (c.form == BIT_CONSTANT && !c.value)
        return and(cs, a, b);
    if (c.form == BIT_CONSTANT)
        return not(and(cs, a, not(b)));
    if (b.form == BIT_CONSTANT)
        return not(and(cs, not(a), not(c)));
    /* (b - c)·a = r - c */
    uint32_t r = cs_alloc_bit(cs, value);
    struct cs_small left[CS_SMALL] = {{0}}, right[CS_SMALL] = {{0}}, out[CS_SMALL] = {{0}};
    put(left, put(left, 0, b, 1), c, -1);
    put(right, 0, a, 1);
    out[0] = (struct cs_small){r, 1};
    put(out, 1, c, -1);
    cs_enforce_small(cs, left, right, out);
    return (struct bit){r, BIT_IS, value};
}

/* (a and b) xor (a and c) xor (b and c) */
static struct bit majority(struct cuzk_cs *cs, struct bit a, struct bit b, struct bit c)
{
    bool value = (a.value && b.value) || (a.value && c.value) || (b.value && c.value);
    if (a.form == BIT_CONSTANT && b.form == BIT_CONSTANT && c.form == BIT_CONSTANT)
        return constant(value);
    if (a.form == BIT_CONSTANT && !a.value)
        return and(cs, b, c);
    if (b.form == BIT_CONSTANT && !b.value)
        return and(cs, a, c);
    if (c.form == BIT_CONSTANT && !c.value)
        return and(cs, a, b);
    if (c.form == BIT_CONSTANT)
        return not(and(cs, not(a), not(b)));
    if (b.form == BIT_CONSTANT)
        return not(and(cs, not(a), not(c)));
    if (a.form == BIT_CONSTANT)
        return not(and(cs, not(b), not(c)));
    /* (2bc - b - c)·a = bc - r; the result is allocated before bc */
    uint32_t r = cs_alloc_bit(cs, value);
    struct bit bc = and(cs, b, c);
    struct cs_small left[CS_SMALL] = {{0}}, right[CS_SMALL] = {{0}}, out[CS_SMALL] = {{0}};
    put(left, put(left, put(left, 0, bc, 2), b, -1), c, -1);
    put(right, 0, a, 1);
    out[put(out, 0, bc, 1)] = (struct cs_small){r, -1};
    cs_enforce_small(cs, left, right, out);
    return (struct bit){r, BIT_IS, value};
}

/* ---- words ---- */

static struct word word_constant(uint32_t value)
{
    struct word w;
    for (int i = 0; i < 32; i++)
        w.bit[i] = constant(value >> i & 1);
    return w;
}

static struct word rotate(const struct word *a, int by)
{
    struct word r;
    for (int i = 0; i < 32; i++)
        r.bit[i] = a->bit[(i + by) % 32];
    return r;
}

static struct word shift(const struct word *a, int by)
{
    struct word r;
    for (int i = 0; i < 32; i++)
        r.bit[i] = i + by < 32 ? a->bit[i + by] : constant(false);
    return r;
}

static struct word word_xor(struct cuzk_cs *cs, const struct word *a, struct word b)
{
    struct word r;
    for (int i = 0; i < 32; i++)
        r.bit[i] = xor(cs, a->bit[i], b.bit[i]);
    return r;
}

/* a rotated by i, by j, and rotated (shifted where the flag says) by k */
static struct word sigma(struct cuzk_cs *cs, const struct word *a, int i, int j, int k,
                         bool shifted)
{
    struct word t = rotate(a, i);
    t = word_xor(cs, &t, rotate(a, j));
    return word_xor(cs, &t, shifted ? shift(a, k) : rotate(a, k));
}

/* Equations of sums of words, one above the other in a field element until it is full. */
struct equations {
    struct cs_lc left, right;
    unsigned used; /* bits */
};
enum { CAPACITY = BLS12_381_FR_BITS - 1 };

static void flush(struct cuzk_cs *cs, struct equations *e)
{
    struct cs_lc one = {0};
    cs_lc_add(cs, &one, CS_ONE, &bls12_381_fr_one);
    cs_enforce(cs, &e->left, &one, &e->right);
    cs_lc_free(&one);
    e->left.count = e->right.count = 0;
    e->used = 0;
}

/* The sum of n ≤ 10 words modulo 2^32; its carries are allocated too. */
static struct word add(struct cuzk_cs *cs, struct equations *e, const struct word *const *terms,
                       uint32_t n)
{
    uint64_t most = (uint64_t)n * UINT32_MAX, sum = 0;
    unsigned bits = 0;
    bool all_constant = true;
    for (; most >> bits != 0; bits++)
        ;
    for (uint32_t t = 0; t < n; t++)
        for (int i = 0; i < 32; i++) {
            sum += (uint64_t)terms[t]->bit[i].value << i;
            all_constant &= terms[t]->bit[i].form == BIT_CONSTANT;
        }
    if (all_constant)
        return word_constant((uint32_t)sum);
    struct word r = {0};
    struct bit result[40];
    for (unsigned i = 0; i < bits; i++) {
        result[i] = gadget_bit(cs, sum >> i & 1);
        if (i < 32)
            r.bit[i] = result[i];
    }
    if (e->used + bits >= CAPACITY)
        flush(cs, e);
    for (uint32_t t = 0; t < n; t++)
        for (unsigned i = 0; i < 32; i++)
            cs_lc_add_bit(cs, &e->left, terms[t]->bit[i], &cs->power[e->used + i]);
    for (unsigned i = 0; i < bits; i++)
        cs_lc_add_bit(cs, &e->right, result[i], &cs->power[e->used + i]);
    e->used += bits;
    return r;
}

/* ---- the block ---- */

static void describe(struct cuzk_cs *cs, struct word state[8], struct word w[64])
{
    struct equations e = {0};
    for (int i = 16; i < 64; i++) {
        struct word s0 = sigma(cs, &w[i - 15], 7, 18, 3, true);
        struct word s1 = sigma(cs, &w[i - 2], 17, 19, 10, true);
        const struct word *const terms[4] = {&w[i - 16], &s0, &w[i - 7], &s1};
        w[i] = add(cs, &e, terms, 4);
    }
    struct word a = state[0], b = state[1], c = state[2], d = state[3];
    struct word f = state[5], g = state[6], h = state[7], x = state[4];
    /* The new a and e of a round are allocated at the head of the next one, or with the state added
     * at the end: the terms of their sums are kept. */
    struct word s1, ch, s0, maj, k, old_h, old_d;
    memset(&s1, 0, sizeof s1);
    ch = s0 = maj = k = old_h = old_d = s1;
    const struct word *old_w = NULL;
    for (int i = 0; i < 64; i++) {
        if (i > 0) {
            const struct word *const terms[6] = {&old_h, &s1, &ch, &k, old_w, &old_d};
            x = add(cs, &e, terms, 6);
        }
        struct word next_s1 = sigma(cs, &x, 6, 11, 25, false), next_ch;
        for (int j = 0; j < 32; j++)
            next_ch.bit[j] = choose(cs, x.bit[j], f.bit[j], g.bit[j]);
        if (i > 0) {
            const struct word *const terms[7] = {&old_h, &s1, &ch, &k, old_w, &s0, &maj};
            a = add(cs, &e, terms, 7);
        }
        s1 = next_s1;
        ch = next_ch;
        k = word_constant(gadget_sha256_constant[i]);
        old_w = &w[i];
        s0 = sigma(cs, &a, 2, 13, 22, false);
        for (int j = 0; j < 32; j++)
            maj.bit[j] = majority(cs, a.bit[j], b.bit[j], c.bit[j]);
        old_h = h;
        old_d = d;
        h = g;
        g = f;
        f = x;
        d = c;
        c = b;
        b = a;
    }
    struct word out[8];
    const struct word *const last_a[8] = {&old_h, &s1, &ch, &k, old_w, &s0, &maj, &state[0]};
    out[0] = add(cs, &e, last_a, 8);
    const struct word *const last_b[2] = {&state[1], &b}, *const last_c[2] = {&state[2], &c},
                             *const last_d[2] = {&state[3], &d};
    out[1] = add(cs, &e, last_b, 2);
    out[2] = add(cs, &e, last_c, 2);
    out[3] = add(cs, &e, last_d, 2);
    const struct word *const last_e[7] = {&old_h, &s1, &ch, &k, old_w, &old_d, &state[4]};
    out[4] = add(cs, &e, last_e, 7);
    const struct word *const last_f[2] = {&state[5], &f}, *const last_g[2] = {&state[6], &g},
                             *const last_h[2] = {&state[7], &h};
    out[5] = add(cs, &e, last_f, 2);
    out[6] = add(cs, &e, last_g, 2);
    out[7] = add(cs, &e, last_h, 2);
    if (e.used > 0)
        flush(cs, &e);
    cs_lc_free(&e.left);
    cs_lc_free(&e.right);
    for (int i = 0; i < 8; i++)
        for (int j = 31; j >= 0; j--)
            cs_output(cs, out[i].bit[j].variable);
}

/* ---- parameters ---- */

uint64_t cuzk_sha256_parameter(const struct cuzk_sha256_block *b)
{
    return (uint64_t)b->constant_state | (uint64_t)b->numbers << 1 | (uint64_t)b->padded << 2 |
           (uint64_t)b->variable << 8 | (uint64_t)b->layer << 24 | (uint64_t)b->total << 32;
}

void gadget_sha256_pattern(uint8_t out[512], uint64_t parameter)
{
    uint32_t variable = parameter >> 8 & 0xffff, layer = parameter >> 24 & 0xff;
    uint32_t total = (uint32_t)(parameter >> 32);
    bool numbers = parameter >> 1 & 1, padded = parameter >> 2 & 1;
    memset(out, PATTERN_ZERO, 512);
    if (layer != 0) {
        memset(out, PATTERN_VARIABLE, 256);
        out[248] = PATTERN_ZERO;
        for (int i = 0; i < 32; i++)
            out[256 + i] = layer >> (31 - i) & 1;
        memset(out + 288, PATTERN_VARIABLE, 64);
        return;
    }
    memset(out, PATTERN_VARIABLE, variable);
    if (numbers) {
        for (uint32_t i = 248; i < variable; i += 256)
            out[i] = PATTERN_ZERO;
    }
    if (!padded)
        return;
    /* The one bit follows the message, in this block unless the message filled the one before. */
    if (variable < 512 && total % 512 == variable)
        out[variable] = PATTERN_ONE;
    if (variable <= 512 - 65)
        for (int i = 0; i < 32; i++)
            out[480 + i] = total >> (31 - i) & 1;
}

uint32_t cuzk_sha256_ports(uint64_t parameter)
{
    uint8_t pattern[512];
    uint32_t n = parameter & 1 ? 0 : 256;
    gadget_sha256_pattern(pattern, parameter);
    for (int i = 0; i < 512; i++)
        n += pattern[i] == PATTERN_VARIABLE;
    return n;
}

static void sha256_block(struct cuzk_cs *cs, uint64_t parameter)
{
    uint8_t pattern[512];
    struct word state[8], w[64];
    uint32_t port = 0;
    gadget_sha256_pattern(pattern, parameter);
    if (!cs->recording && cs->fast && cuzk_sha256_ports(parameter) != 0) {
        gadget_sha256_words(cs, parameter & 1, pattern);
        return;
    }
    for (int i = 0; i < 8; i++) {
        if (parameter & 1) {
            state[i] = word_constant(gadget_sha256_state[i]);
            continue;
        }
        for (int j = 31; j >= 0; j--)
            state[i].bit[j] = cs_port_bit(cs, port++);
    }
    for (int i = 0; i < 16; i++)
        for (int j = 31; j >= 0; j--) {
            uint8_t p = pattern[32 * i + 31 - j];
            w[i].bit[j] =
                p == PATTERN_VARIABLE ? cs_port_bit(cs, port++) : constant(p == PATTERN_ONE);
        }
    describe(cs, state, w);
}
static void sha256_label(char *out, size_t size, uint64_t parameter)
{
    unsigned layer = parameter >> 24 & 0xff, variable = parameter >> 8 & 0xffff;
    bool first = parameter & 1, padded = parameter >> 2 & 1;
    if (layer != 0)
        (void)snprintf(out, size, "sha256 first block, layer %u", layer);
    else if (padded && variable == 0)
        (void)snprintf(out, size, "sha256 padding block");
    else
        (void)snprintf(out, size, "sha256 %s%sblock", first ? "first " : "", padded ? "last " : "");
}
const struct cuzk_gadget cuzk_gadget_sha256_block = {"sha256 block", sha256_block, sha256_label};
