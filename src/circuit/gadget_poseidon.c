/* Poseidon in a circuit, and what is made of it: columns and Merkle paths. The constraints are
 * those of neptune's first circuit (neptune/src/circuit.rs, "legacy"), which the network's keys are
 * for: every S-box input that is a combination gets a variable of its own. */
#include "circuit/gadget.h"
#include "circuit/gadgets.h"
#include "circuit/poseidon.h"

#include <stdio.h>
#include <string.h>

enum { MAX = CUZK_POSEIDON_MAX_WIDTH };

/* An element of the state: a variable, or a combination. */
struct element {
    bool allocated;
    uint32_t variable;
    struct cs_lc lc;
    fr value;
};

static void set_variable(struct element *e, struct num num)
{
    cs_lc_free(&e->lc);
    e->allocated = true;
    e->variable = num.variable;
    e->value = num.value;
}

static void add_scaled(struct cuzk_cs *cs, struct element *sum, const struct element *e,
                       const fr *k)
{
    fr x;
    if (e->allocated)
        cs_lc_add(cs, &sum->lc, e->variable, k);
    else
        cs_lc_add_lc(cs, &sum->lc, &e->lc, k);
    bls12_381_fr_mul(&x, &e->value, k);
    bls12_381_fr_add(&sum->value, &sum->value, &x);
}

static struct num allocate(struct cuzk_cs *cs, const struct element *e)
{
    if (e->allocated)
        return (struct num){e->variable, e->value};
    struct num v = cs_alloc_num(cs, &e->value);
    struct cs_lc one = {0}, result = {0};
    cs_lc_add(cs, &one, CS_ONE, &bls12_381_fr_one);
    cs_lc_add(cs, &result, v.variable, &bls12_381_fr_one);
    cs_enforce(cs, &e->lc, &one, &result);
    cs_lc_free(&one);
    cs_lc_free(&result);
    return v;
}

/* The combination variable + constant; the constant may be NULL. */
static void shifted(struct cuzk_cs *cs, struct cs_lc *lc, uint32_t variable, const fr *constant)
{
    cs_lc_add(cs, lc, variable, &bls12_381_fr_one);
    if (constant != NULL)
        cs_lc_add(cs, lc, CS_ONE, constant);
}

/* e = (e + before)^5 + after; `before` and `after` may be NULL. */
static void box(struct cuzk_cs *cs, struct element *e, const fr *before, const fr *after)
{
    struct num x = allocate(cs, e), x2, x4, x5;
    struct cs_lc in = {0}, square = {0}, fourth = {0}, out = {0};
    fr value = x.value, t, minus_after;
    if (before != NULL)
        bls12_381_fr_add(&value, &value, before);
    shifted(cs, &in, x.variable, before);

    bls12_381_fr_sqr(&t, &value);
    x2 = cs_alloc_num(cs, &t);
    shifted(cs, &square, x2.variable, NULL);
    cs_enforce(cs, &in, &in, &square);

    bls12_381_fr_sqr(&t, &t);
    x4 = cs_alloc_num(cs, &t);
    shifted(cs, &fourth, x4.variable, NULL);
    cs_enforce(cs, &square, &square, &fourth);

    bls12_381_fr_mul(&t, &t, &value);
    if (after != NULL) {
        bls12_381_fr_add(&t, &t, after);
        bls12_381_fr_neg(&minus_after, after);
    }
    x5 = cs_alloc_num(cs, &t);
    shifted(cs, &out, x5.variable, after != NULL ? &minus_after : NULL);
    cs_enforce(cs, &in, &fourth, &out);

    cs_lc_free(&in);
    cs_lc_free(&square);
    cs_lc_free(&fourth);
    cs_lc_free(&out);
    set_variable(e, x5);
}

static void replace(struct cuzk_cs *cs, struct element *s, struct element *next, uint32_t width)
{
    for (uint32_t i = 0; i < width; i++) {
        cs_lc_merge(cs, &next[i].lc);
        cs_lc_free(&s[i].lc);
        s[i] = next[i];
    }
}

static void multiply(struct cuzk_cs *cs, struct element *s, const fr (*matrix)[MAX], uint32_t width)
{
    struct element next[MAX];
    memset(next, 0, sizeof next);
    for (uint32_t j = 0; j < width; j++)
        for (uint32_t i = 0; i < width; i++)
            add_scaled(cs, &next[j], &s[i], &matrix[i][j]);
    replace(cs, s, next, width);
}

static void multiply_sparse(struct cuzk_cs *cs, struct element *s, const struct cuzk_poseidon *p,
                            uint32_t k)
{
    struct element next[MAX];
    memset(next, 0, sizeof next);
    for (uint32_t i = 0; i < p->width; i++)
        add_scaled(cs, &next[0], &s[i], &p->column[k][i]);
    for (uint32_t j = 1; j < p->width; j++) {
        add_scaled(cs, &next[j], &s[j], &bls12_381_fr_one);
        add_scaled(cs, &next[j], &s[0], &p->row[k][j]);
    }
    replace(cs, s, next, p->width);
}

static struct num describe(struct cuzk_cs *cs, const struct cuzk_poseidon *p, const struct num *in)
{
    struct element s[MAX];
    uint32_t width = p->width;
    const fr *key = p->keys;
    memset(s, 0, sizeof s);
    for (uint32_t i = 1; i < width; i++) {
        set_variable(&s[i], in[i - 1]);
        box(cs, &s[i], &key[i], &key[width + i]);
    }
    s[0].value = p->first_box;
    cs_lc_add(cs, &s[0].lc, CS_ONE, &p->first_box);
    key += 2 * width;
    multiply(cs, s, p->mds, width);
    for (int round = 1; round < CUZK_POSEIDON_FULL / 2; round++, key += width) {
        for (uint32_t i = 0; i < width; i++)
            box(cs, &s[i], NULL, &key[i]);
        multiply(cs, s, round == CUZK_POSEIDON_FULL / 2 - 1 ? p->pre_sparse : p->mds, width);
    }
    for (uint32_t k = 0; k < p->partial; k++) {
        box(cs, &s[0], NULL, key++);
        multiply_sparse(cs, s, p, k);
    }
    for (int round = 1; round <= CUZK_POSEIDON_FULL / 2; round++, key += width) {
        for (uint32_t i = 0; i < width; i++)
            box(cs, &s[i], NULL, round < CUZK_POSEIDON_FULL / 2 ? &key[i] : NULL);
        multiply(cs, s, p->mds, width);
    }
    struct num hash = allocate(cs, &s[1]);
    for (uint32_t i = 0; i < width; i++)
        cs_lc_free(&s[i].lc);
    return hash;
}

/* The hash of `arity` numbers. */
static struct num hash(struct cuzk_cs *cs, uint64_t arity, const struct num *in)
{
    const struct cuzk_poseidon *p = arity <= 11 ? cuzk_poseidon((unsigned)arity) : NULL;
    if (p == NULL) {
        cs_fail(cs, CUZK_E_UNSUPPORTED, "Poseidon is for arity 2, 4, 8 and 11");
        return (struct num){0};
    }
    if (cs->recording || !cs->fast)
        return describe(cs, p, in);
    fr preimage[11];
    uint32_t n = cuzk_poseidon_witness_size(p);
    for (uint32_t i = 0; i < p->arity; i++)
        preimage[i] = in[i].value;
    fr *values = cs_put_nums(cs, n);
    cuzk_poseidon_witness(values, p, preimage);
    return (struct num){cs->ports + cs->allocated - 1, values[n - 1]};
}

static void poseidon(struct cuzk_cs *cs, uint64_t arity)
{
    struct num in[11] = {{0}};
    for (uint32_t i = 0; i < arity && i < 11; i++)
        in[i] = cs_port_num(cs, i);
    cs_output(cs, hash(cs, arity, in).variable);
}
static void poseidon_label(char *out, size_t size, uint64_t arity)
{
    (void)snprintf(out, size, "poseidon %u", (unsigned)arity);
}
const struct cuzk_gadget cuzk_gadget_poseidon = {"poseidon", poseidon, poseidon_label};

static void column(struct cuzk_cs *cs, uint64_t layers)
{
    struct num in[11] = {{0}};
    for (uint32_t i = 0; i < layers && i < 11; i++) {
        fr value = cs_advice_value(cs);
        in[i] = cs_alloc_num(cs, &value);
    }
    cs_output(cs, hash(cs, layers, in).variable);
    for (uint32_t i = 0; i < layers && i < 11; i++)
        cs_output(cs, in[i].variable);
}
static void column_label(char *out, size_t size, uint64_t layers)
{
    (void)snprintf(out, size, "column %u", (unsigned)layers);
}
const struct cuzk_gadget cuzk_gadget_column = {"column", column, column_label};

uint64_t cuzk_path_parameter(const struct cuzk_path_shape *shape)
{
    return shape->base_arity | shape->base_levels << 8 | (uint64_t)shape->sub_arity << 16 |
           (uint64_t)shape->top_arity << 24;
}

/* One level of a path; the index's bits are kept for the public input. */
static struct num level(struct cuzk_cs *cs, const struct num *from, uint32_t arity,
                        struct bit *index)
{
    struct num siblings[8], children[8] = {{0}};
    uint32_t depth = gadget_log2(arity);
    if (arity != 2 && arity != 4 && arity != 8) {
        cs_fail(cs, CUZK_E_UNSUPPORTED, "a Merkle tree has arity 2, 4 or 8");
        return *from;
    }
    uint64_t digit = cs_advice_bits(cs, depth);
    for (uint32_t i = 0; i < depth; i++)
        index[i] = gadget_bit(cs, digit >> i & 1);
    for (uint32_t i = 0; i + 1 < arity; i++) {
        fr value = cs_advice_value(cs);
        siblings[i] = cs_alloc_num(cs, &value);
    }
    gadget_insert(cs, children, arity, from, index, siblings);
    return hash(cs, arity, children);
}

static void path(struct cuzk_cs *cs, uint64_t parameter)
{
    uint32_t base_arity = parameter & 0xff, levels = parameter >> 8 & 0xff;
    uint32_t upper[2] = {parameter >> 16 & 0xff, parameter >> 24 & 0xff};
    struct bit index[64 + 3];
    struct num current = cs_port_num(cs, 0), root = cs_port_num(cs, 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < levels && n < 58; i++) {
        current = level(cs, &current, base_arity, index + n);
        n += gadget_log2(base_arity);
    }
    for (int i = 0; i < 2; i++)
        if (upper[i] != 0) {
            current = level(cs, &current, upper[i], index + n);
            n += gadget_log2(upper[i]);
        }
    gadget_pack_input(cs, index, n, 2);
    cs_equal(cs, &current, &root);
}
/* "poseidon path 8^9 8 2": the arities, from the leaf up. */
static void path_label(char *out, size_t size, uint64_t parameter)
{
    int n = snprintf(out, size, "poseidon path %u^%u", (unsigned)(parameter & 0xff),
                     (unsigned)(parameter >> 8 & 0xff));
    for (int shift = 16; shift <= 24; shift += 8)
        if ((parameter >> shift & 0xff) != 0 && n > 0 && (size_t)n < size)
            n += snprintf(out + n, size - (size_t)n, " %u", (unsigned)(parameter >> shift & 0xff));
}
const struct cuzk_gadget cuzk_gadget_path = {"poseidon path", path, path_label};
