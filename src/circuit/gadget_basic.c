/* Gadgets of bits and numbers: see gadget.h. Constraints, their order and the order of allocation
 * are those of bellperson's and storage-proofs-core's gadgets of the same names. */
#include "circuit/gadget.h"
#include "circuit/gadgets.h"

#include <stdio.h>
#include <string.h>

typedef const struct cs_small small[CS_SMALL];

struct bit gadget_bit(struct cuzk_cs *cs, bool value)
{
    uint32_t v = cs_alloc_bit(cs, value);
    cs_enforce_small(cs, (small){{CS_ONE, 1}, {v, -1}}, (small){{v, 1}}, (small){{0}});
    return (struct bit){v, BIT_IS, value};
}

/* For gadgets whose parameter is a number of something. */
#define COUNT_LABEL(function, name)                                                                \
    static void function(char *out, size_t size, uint64_t n)                                       \
    {                                                                                              \
        (void)snprintf(out, size, name " %u", (unsigned)n);                                        \
    }

COUNT_LABEL(numbers_label, "numbers")
static void numbers(struct cuzk_cs *cs, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        fr value = cs_advice_value(cs);
        cs_output(cs, cs_alloc_num(cs, &value).variable);
    }
}
const struct cuzk_gadget cuzk_gadget_numbers = {"numbers", numbers, numbers_label};

static void public_number(struct cuzk_cs *cs, uint64_t parameter)
{
    (void)parameter;
    fr value = cs_advice_value(cs);
    cs_port_input(cs, 0, &value);
    struct num number = cs_alloc_num(cs, &value), input = cs_port_num(cs, 0);
    cs_equal(cs, &input, &number);
    cs_output(cs, number.variable);
}
const struct cuzk_gadget cuzk_gadget_public_number = {"public number", public_number, NULL};

static void equal(struct cuzk_cs *cs, uint64_t parameter)
{
    (void)parameter;
    struct num a = cs_port_num(cs, 0), b = cs_port_num(cs, 1);
    cs_equal(cs, &a, &b);
}
const struct cuzk_gadget cuzk_gadget_equal = {"equal", equal, NULL};

static void num_to_bits(struct cuzk_cs *cs, uint64_t parameter)
{
    (void)parameter;
    struct num number = cs_port_num(cs, 0);
    uint64_t limbs[4];
    struct cs_lc sum = {0};
    fr minus_one;
    bls12_381_fr_to_limbs(limbs, &number.value);
    if (!cs->recording && cs->fast) {
        for (int i = 0; i < 4; i++)
            cs_put_bits(cs, limbs[i], i < 3 ? 64 : BLS12_381_FR_BITS - 192);
        return;
    }
    for (uint32_t i = 0; i < BLS12_381_FR_BITS; i++) {
        struct bit bit = gadget_bit(cs, limbs[i / 64] >> (i % 64) & 1);
        cs_lc_add_bit(cs, &sum, bit, &cs->power[i]);
        cs_output(cs, bit.variable);
    }
    bls12_381_fr_neg(&minus_one, &bls12_381_fr_one);
    cs_lc_add(cs, &sum, number.variable, &minus_one);
    cs_enforce(cs, NULL, NULL, &sum);
    cs_lc_free(&sum);
}
const struct cuzk_gadget cuzk_gadget_num_to_bits = {"number to bits", num_to_bits, NULL};

/* The sum of 2^i·bit i, as a combination and as a value. */
static void pack(struct cuzk_cs *cs, struct cs_lc *sum, fr *value, const struct bit *bits,
                 uint32_t n)
{
    uint64_t limbs[4] = {0};
    for (uint32_t i = 0; i < n; i++) {
        cs_lc_add_bit(cs, sum, bits[i], &cs->power[i]);
        limbs[i / 64] |= (uint64_t)bits[i].value << (i % 64);
    }
    bls12_381_fr_from_limbs(value, limbs);
}

static void enforce_sum(struct cuzk_cs *cs, struct cs_lc *sum, uint32_t variable)
{
    struct cs_lc one = {0}, result = {0};
    cs_lc_add(cs, &one, CS_ONE, &bls12_381_fr_one);
    cs_lc_add(cs, &result, variable, &bls12_381_fr_one);
    cs_enforce(cs, sum, &one, &result);
    cs_lc_free(sum);
    cs_lc_free(&one);
    cs_lc_free(&result);
}

void gadget_pack_input(struct cuzk_cs *cs, const struct bit *bits, uint32_t n, uint32_t port)
{
    struct cs_lc sum = {0};
    fr value;
    pack(cs, &sum, &value, bits, n);
    cs_port_input(cs, port, &value);
    enforce_sum(cs, &sum, port + 1);
}

/* Bits as ports from 0 on; at most 254, so that no sum reaches the modulus. */
static uint32_t port_bits(struct cuzk_cs *cs, struct bit bits[254], uint64_t n)
{
    if (n > 254) {
        cs_fail(cs, CUZK_E_INTERNAL, "more than 254 bits do not fit a number");
        n = 0;
    }
    for (uint32_t i = 0; i < n; i++)
        bits[i] = cs_port_bit(cs, i);
    return (uint32_t)n;
}

COUNT_LABEL(pack_bits_label, "pack bits")
static void pack_bits(struct cuzk_cs *cs, uint64_t parameter)
{
    struct bit bits[254];
    struct cs_lc sum = {0};
    fr value;
    uint32_t n = port_bits(cs, bits, parameter);
    pack(cs, &sum, &value, bits, n);
    struct num number = cs_alloc_num(cs, &value);
    enforce_sum(cs, &sum, number.variable);
    cs_output(cs, number.variable);
}
const struct cuzk_gadget cuzk_gadget_pack_bits = {"pack bits", pack_bits, pack_bits_label};

COUNT_LABEL(pack_input_label, "pack into input")
static void pack_input(struct cuzk_cs *cs, uint64_t parameter)
{
    struct bit bits[254];
    uint32_t n = port_bits(cs, bits, parameter);
    gadget_pack_input(cs, bits, n, n);
}
const struct cuzk_gadget cuzk_gadget_pack_input = {"pack into input", pack_input, pack_input_label};

static void advised_bits(struct cuzk_cs *cs, struct bit bits[64], uint32_t n)
{
    uint64_t value = cs_advice_bits(cs, n);
    for (uint32_t i = 0; i < n; i++) {
        bits[i] = gadget_bit(cs, value >> i & 1);
        cs_output(cs, bits[i].variable);
    }
}

COUNT_LABEL(bits_label, "bits")
static void bits(struct cuzk_cs *cs, uint64_t n)
{
    struct bit unused[64];
    advised_bits(cs, unused, n <= 64 ? (uint32_t)n : 64);
}
const struct cuzk_gadget cuzk_gadget_bits = {"bits", bits, bits_label};

static void uint64_input(struct cuzk_cs *cs, uint64_t parameter)
{
    (void)parameter;
    struct bit word[64];
    advised_bits(cs, word, 64);
    gadget_pack_input(cs, word, 64, 0);
}
const struct cuzk_gadget cuzk_gadget_uint64_input = {"uint64 input", uint64_input, NULL};

static void encode(struct cuzk_cs *cs, uint64_t parameter)
{
    (void)parameter;
    struct num key = cs_port_num(cs, 0), data = cs_port_num(cs, 1);
    fr sum;
    bls12_381_fr_add(&sum, &key.value, &data.value);
    struct num node = cs_alloc_num(cs, &sum);
    cs_enforce_small(cs, (small){{key.variable, 1}, {data.variable, 1}}, (small){{CS_ONE, 1}},
                     (small){{node.variable, 1}});
    cs_output(cs, node.variable);
}
const struct cuzk_gadget cuzk_gadget_encode = {"encode", encode, NULL};

/* ---- insertion ---- */

/* a if the condition holds, else b: (b - a)·condition = b - result. */
static struct num pick(struct cuzk_cs *cs, struct bit condition, const struct num *a,
                       const struct num *b)
{
    struct num r = cs_alloc_num(cs, condition.value ? &a->value : &b->value);
    cs_enforce_small(cs, (small){{b->variable, 1}, {a->variable, -1}},
                     (small){{condition.variable, 1}}, (small){{b->variable, 1}, {r.variable, -1}});
    return r;
}

/* The number e put at place b0 + 2·b1 … among x[0 …]; each output place is a small decision tree
 * over the two or three numbers that can stand there. */
void gadget_insert(struct cuzk_cs *cs, struct num *out, uint32_t arity, const struct num *e,
                   const struct bit *b, const struct num *x)
{
    if (arity == 2) {
        out[0] = pick(cs, b[0], &x[0], e);
        out[1] = pick(cs, b[0], e, &x[0]);
    } else if (arity == 4) {
        struct num t;
        t = pick(cs, b[0], &x[0], e);
        out[0] = pick(cs, b[1], &x[0], &t);
        t = pick(cs, b[0], e, &x[0]);
        out[1] = pick(cs, b[1], &x[1], &t);
        t = pick(cs, b[0], &x[2], e);
        out[2] = pick(cs, b[1], &t, &x[1]);
        t = pick(cs, b[0], e, &x[2]);
        out[3] = pick(cs, b[1], &t, &x[2]);
    } else if (arity == 8) {
        struct num t;
        struct bit neither = {0, BIT_IS, !b[0].value && !b[1].value};
        struct bit both = {0, BIT_IS, b[0].value && b[1].value};
        neither.variable = cs_alloc_bit(cs, neither.value);
        cs_enforce_small(cs, (small){{CS_ONE, 1}, {b[0].variable, -1}},
                         (small){{CS_ONE, 1}, {b[1].variable, -1}}, (small){{neither.variable, 1}});
        both.variable = cs_alloc_bit(cs, both.value);
        cs_enforce_small(cs, (small){{b[0].variable, 1}}, (small){{b[1].variable, 1}},
                         (small){{both.variable, 1}});
        t = pick(cs, neither, e, &x[0]);
        out[0] = pick(cs, b[2], &x[0], &t);
        t = pick(cs, b[0], e, &x[0]);
        t = pick(cs, b[1], &x[1], &t);
        out[1] = pick(cs, b[2], &x[1], &t);
        t = pick(cs, b[0], &x[2], e);
        t = pick(cs, b[1], &t, &x[1]);
        out[2] = pick(cs, b[2], &x[2], &t);
        t = pick(cs, both, e, &x[2]);
        out[3] = pick(cs, b[2], &x[3], &t);
        t = pick(cs, neither, e, &x[4]);
        out[4] = pick(cs, b[2], &t, &x[3]);
        t = pick(cs, b[0], e, &x[4]);
        t = pick(cs, b[1], &x[5], &t);
        out[5] = pick(cs, b[2], &t, &x[4]);
        t = pick(cs, b[0], &x[6], e);
        t = pick(cs, b[1], &t, &x[5]);
        out[6] = pick(cs, b[2], &t, &x[5]);
        t = pick(cs, both, e, &x[6]);
        out[7] = pick(cs, b[2], &t, &x[6]);
    } else {
        cs_fail(cs, CUZK_E_UNSUPPORTED, "insertion is for arity 2, 4 and 8");
        memset(out, 0, arity * sizeof *out);
    }
}

uint32_t gadget_log2(uint64_t arity)
{
    return (uint32_t)__builtin_ctzll(arity);
}

COUNT_LABEL(insert_label, "insert")
static void insert(struct cuzk_cs *cs, uint64_t arity)
{
    struct num x[8], out[8], e = cs_port_num(cs, 0);
    struct bit b[3];
    if (arity != 2 && arity != 4 && arity != 8) {
        cs_fail(cs, CUZK_E_UNSUPPORTED, "insertion is for arity 2, 4 and 8");
        return;
    }
    uint32_t n = (uint32_t)arity, depth = gadget_log2(n);
    for (uint32_t i = 0; i < depth; i++)
        b[i] = cs_port_bit(cs, 1 + i);
    for (uint32_t i = 0; i + 1 < n; i++)
        x[i] = cs_port_num(cs, 1 + depth + i);
    gadget_insert(cs, out, n, &e, b, x);
    for (uint32_t i = 0; i < n; i++)
        cs_output(cs, out[i].variable);
}
const struct cuzk_gadget cuzk_gadget_insert = {"insert", insert, insert_label};

static void insert_level(struct cuzk_cs *cs, uint64_t parameter)
{
    (void)parameter;
    struct num e = cs_port_num(cs, 0), out[2];
    struct bit bit = gadget_bit(cs, cs_advice_bits(cs, 1));
    fr value = cs_advice_value(cs);
    struct num sibling = cs_alloc_num(cs, &value);
    gadget_insert(cs, out, 2, &e, &bit, &sibling);
    cs_output(cs, bit.variable);
    cs_output(cs, out[0].variable);
    cs_output(cs, out[1].variable);
}
const struct cuzk_gadget cuzk_gadget_insert_level = {"insert level", insert_level, NULL};
