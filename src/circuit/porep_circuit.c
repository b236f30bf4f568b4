/* See porep_circuit.h. One walk over the gadgets of a partition builds the circuit or fills the
 * witness (gadget.h); vanilla is NULL when building. */
#include "circuit/porep_circuit.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "circuit/gadget.h"

enum { NUMBER_BITS = BLS12_381_FR_BITS, PACKED_BITS = 254 };

struct walk {
    const struct cuzk_porep_params *params;
    struct cuzk_composer *k;
    const struct cuzk_porep_vanilla *vanilla;
    cuzk_status status; /* after a failure every step does nothing */
    struct cuzk_error *err;
    uint32_t challenge;
    /* tags */
    uint32_t replica_bits[NUMBER_BITS], comm_d, comm_r_last, comm_c;
};

/* ---- errors ---- */

static void breach(struct walk *w, const char *format, ...) CUZK_PRINTF(2, 3);
static void breach(struct walk *w, const char *format, ...)
{
    char text[300], at[CUZK_POREP_PATH_SIZE];
    va_list arguments;
    if (w->status != CUZK_OK)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    w->status =
        cuzk_fail(w->err, CUZK_E_INPUT, "%s.%s",
                  cuzk_porep_json_path(at, w->params, w->vanilla->partition, w->challenge), text);
}

static bool breached(const struct walk *w)
{
    return w->status == CUZK_OK && w->vanilla != NULL && cuzk_composer_breach(w->k);
}

/* Filling: whether a variable has the value that the proof claims. */
static bool differs(const struct walk *w, uint32_t tag, const fr *claimed)
{
    fr value;
    if (w->status != CUZK_OK || w->vanilla == NULL)
        return false;
    cuzk_composer_value(w->k, &value, tag);
    return !bls12_381_fr_eq(&value, claimed);
}

/* ---- steps ---- */

static void step(struct walk *w, const struct cuzk_gadget *gadget, uint64_t parameter,
                 const uint32_t *ports, uint32_t port_count, const fr *values, uint64_t number,
                 uint32_t *outputs, uint32_t output_count)
{
    struct cs_advice advice = {values, number};
    if (w->status == CUZK_OK)
        w->status = cuzk_compose(w->k, gadget, parameter, ports, port_count, &advice, outputs,
                                 output_count, w->err);
    if (w->status != CUZK_OK && outputs != NULL)
        memset(outputs, 0, output_count * sizeof *outputs);
}

static uint32_t input(struct walk *w)
{
    uint32_t tag = 0;
    if (w->status == CUZK_OK)
        w->status = cuzk_compose_input(w->k, &tag, w->err);
    return tag;
}

static uint32_t public_number(struct walk *w, const fr *value)
{
    uint32_t in = input(w), out;
    step(w, &cuzk_gadget_public_number, 0, &in, 1, value, 0, &out, 1);
    return out;
}

static void number_bits(struct walk *w, uint32_t out[NUMBER_BITS], uint32_t number)
{
    step(w, &cuzk_gadget_num_to_bits, 0, &number, 1, NULL, 0, out, NUMBER_BITS);
}

/* A number's bits as they are hashed: bytes in order, each from its most significant bit; the
 * constant zero that stands for bit 255 is left out. */
static uint32_t hashed_order(uint32_t *to, const uint32_t bits[NUMBER_BITS])
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t from = (i & ~7U) + 7 - i % 8;
        if (from < NUMBER_BITS)
            to[n++] = bits[from];
    }
    return n;
}

static void sha256_block(struct walk *w, uint32_t state[256], const uint32_t *message,
                         uint32_t count, const struct cuzk_sha256_block *block)
{
    uint32_t ports[768], n = 0;
    if (!block->constant_state) {
        memcpy(ports, state, 256 * sizeof *ports);
        n = 256;
    }
    if (count != 0)
        memcpy(ports + n, message, count * sizeof *ports);
    step(w, &cuzk_gadget_sha256_block, cuzk_sha256_parameter(block), ports, n + count, NULL, 0,
         state, 256);
}

/* A digest as a number: its first 254 bits in little-endian order. */
static uint32_t digest_number(struct walk *w, const uint32_t digest[256])
{
    uint32_t bits[256], out;
    for (uint32_t i = 0; i < 256; i++)
        bits[i] = digest[(i & ~7U) + 7 - i % 8];
    step(w, &cuzk_gadget_pack_bits, PACKED_BITS, bits, PACKED_BITS, NULL, 0, &out, 1);
    return out;
}

/* The data is in tree D: a level is an insertion and SHA-256 of two numbers. */
static void data_inclusion(struct walk *w, uint32_t leaf, const struct cuzk_porep_challenge *c)
{
    uint32_t index[CUZK_POREP_MAX_LEVELS + 1], current = leaf, levels = w->params->data_levels;
    for (uint32_t i = 0; i < levels; i++) {
        uint32_t level[3], bits[NUMBER_BITS], message[2 * NUMBER_BITS], state[256] = {0};
        step(w, &cuzk_gadget_insert_level, 0, &current, 1, c != NULL ? &c->data_siblings[i] : NULL,
             c != NULL ? c->node >> i : 0, level, 3);
        index[i] = level[0];
        number_bits(w, bits, level[1]);
        uint32_t n = hashed_order(message, bits);
        number_bits(w, bits, level[2]);
        n += hashed_order(message + n, bits);
        sha256_block(
            w, state, message, n,
            &(struct cuzk_sha256_block){.constant_state = true, .numbers = true, .variable = 512});
        sha256_block(w, state, NULL, 0, &(struct cuzk_sha256_block){.padded = true, .total = 512});
        current = digest_number(w, state);
    }
    index[levels] = input(w);
    step(w, &cuzk_gadget_pack_input, levels, index, levels + 1, NULL, 0, NULL, 0);
    step(w, &cuzk_gadget_equal, 0, (uint32_t[2]){current, w->comm_d}, 2, NULL, 0, NULL, 0);
    if (breached(w))
        breach(w, "comm_d_proofs: the path does not lead from the leaf to comm_d");
}

static void inclusion(struct walk *w, uint32_t leaf, uint32_t root, const fr *siblings,
                      uint32_t node)
{
    const struct cuzk_porep_params *p = w->params;
    uint64_t parameter = cuzk_path_parameter(
        &(struct cuzk_path_shape){p->base_arity, p->base_levels, p->sub_arity, p->top_arity});
    uint32_t in = input(w);
    step(w, &cuzk_gadget_path, parameter, (uint32_t[3]){leaf, root, in}, 3, siblings, node, NULL,
         0);
}

/* A parent's column, its hash and its place in tree C. */
static void parent_column(struct walk *w, uint32_t rows[CUZK_POREP_MAX_LAYERS],
                          const struct cuzk_porep_column *column, const char *kind, uint32_t number)
{
    uint32_t layers = w->params->layers, out[1 + CUZK_POREP_MAX_LAYERS];
    step(w, &cuzk_gadget_column, layers, NULL, 0, column != NULL ? column->rows : NULL, 0, out,
         1 + layers);
    if (column != NULL && differs(w, out[0], &column->leaf))
        breach(w,
               "replica_column_proofs.%s[%u].inclusion_proof: the leaf is not the hash of "
               "column.rows",
               kind, number);
    inclusion(w, out[0], w->comm_c, column != NULL ? column->siblings : NULL,
              column != NULL ? column->node : 0);
    if (breached(w))
        breach(w,
               "replica_column_proofs.%s[%u].inclusion_proof: the path does not lead from the leaf "
               "to comm_c",
               kind, number);
    memcpy(rows, out + 1, layers * sizeof *rows);
}

/* SHA-256 of replica id, layer, node, and 37 parents' labels: the parents over and over. */
static uint32_t label(struct walk *w, uint32_t layer, const uint32_t node[64],
                      uint32_t (*parents)[NUMBER_BITS], uint32_t count)
{
    uint32_t message[2 * NUMBER_BITS], state[256] = {0};
    uint32_t n = hashed_order(message, w->replica_bits);
    for (int i = 63; i >= 0; i--)
        message[n++] = node[i];
    sha256_block(w, state, message, n,
                 &(struct cuzk_sha256_block){.constant_state = true, .layer = layer});
    for (uint32_t i = 0; i < CUZK_POREP_LABEL_PARENTS; i += 2) {
        struct cuzk_sha256_block block = {.numbers = true, .variable = 512};
        n = hashed_order(message, parents[i % count]);
        if (i + 1 < CUZK_POREP_LABEL_PARENTS)
            n += hashed_order(message + n, parents[(i + 1) % count]);
        else
            block = (struct cuzk_sha256_block){.numbers = true,
                                               .padded = true,
                                               .variable = 256,
                                               .total = (2 + CUZK_POREP_LABEL_PARENTS) * 256};
        sha256_block(w, state, message, n, &block);
    }
    return digest_number(w, state);
}

static void labels(struct walk *w, uint32_t out[CUZK_POREP_MAX_LAYERS], const uint32_t node[64],
                   uint32_t (*columns)[CUZK_POREP_MAX_LAYERS], const struct cuzk_porep_challenge *c)
{
    uint32_t bits[CUZK_POREP_PARENTS][NUMBER_BITS];
    for (uint32_t layer = 1; layer <= w->params->layers; layer++) {
        uint32_t count = layer == 1 ? CUZK_POREP_DRG : CUZK_POREP_PARENTS;
        for (uint32_t i = 0; i < count; i++)
            number_bits(w, bits[i], columns[i][i < CUZK_POREP_DRG ? layer - 1 : layer - 2]);
        out[layer - 1] = label(w, layer, node, bits, count);
        if (c != NULL && differs(w, out[layer - 1], &c->own.rows[layer - 1]))
            breach(w,
                   "replica_column_proofs.c_x.column.rows[%u]: is not the label that replica_id, "
                   "the node and its parents' columns give",
                   layer - 1);
    }
}

static void challenge(struct walk *w, const struct cuzk_porep_challenge *c)
{
    uint32_t data, columns[CUZK_POREP_PARENTS][CUZK_POREP_MAX_LAYERS], node[64], in;
    uint32_t column[CUZK_POREP_MAX_LAYERS], out;
    step(w, &cuzk_gadget_numbers, 1, NULL, 0, c != NULL ? &c->data_leaf : NULL, 0, &data, 1);
    data_inclusion(w, data, c);
    for (uint32_t i = 0; i < CUZK_POREP_DRG; i++)
        parent_column(w, columns[i], c != NULL ? &c->drg[i] : NULL, "drg_parents", i);
    for (uint32_t i = 0; i < CUZK_POREP_EXP; i++)
        parent_column(w, columns[CUZK_POREP_DRG + i], c != NULL ? &c->exp[i] : NULL, "exp_parents",
                      i);
    in = input(w);
    step(w, &cuzk_gadget_uint64_input, 0, &in, 1, NULL, c != NULL ? c->node : 0, node, 64);
    labels(w, column, node, columns, c);

    step(w, &cuzk_gadget_encode, 0, (uint32_t[2]){column[w->params->layers - 1], data}, 2, NULL, 0,
         &out, 1);
    if (c != NULL && differs(w, out, &c->replica_leaf))
        breach(w, "comm_r_last_proof: the leaf is not comm_d_proofs' leaf plus the last label");
    inclusion(w, out, w->comm_r_last, c != NULL ? c->replica_siblings : NULL,
              c != NULL ? c->node : 0);
    if (breached(w))
        breach(w, "comm_r_last_proof: the path does not lead from the leaf to comm_r_last");

    step(w, &cuzk_gadget_poseidon, w->params->layers, column, w->params->layers, NULL, 0, &out, 1);
    if (c != NULL && differs(w, out, &c->own.leaf))
        breach(w, "replica_column_proofs.c_x.inclusion_proof: the leaf is not the hash of "
                  "column.rows");
    inclusion(w, out, w->comm_c, c != NULL ? c->own.siblings : NULL, c != NULL ? c->own.node : 0);
    if (breached(w))
        breach(w, "replica_column_proofs.c_x.inclusion_proof: the path does not lead from the leaf "
                  "to comm_c");
}

static cuzk_status partition(struct walk *w)
{
    const struct cuzk_porep_vanilla *v = w->vanilla;
    uint32_t replica_id, comm_r, roots[2], hash;
    replica_id = public_number(w, v != NULL ? &v->replica_id : NULL);
    number_bits(w, w->replica_bits, replica_id);
    w->comm_d = public_number(w, v != NULL ? &v->comm_d : NULL);
    comm_r = public_number(w, v != NULL ? &v->comm_r : NULL);
    fr given[2] = {{{0}}};
    if (v != NULL) {
        given[0] = v->comm_r_last;
        given[1] = v->comm_c;
    }
    step(w, &cuzk_gadget_numbers, 2, NULL, 0, given, 0, roots, 2);
    w->comm_r_last = roots[0];
    w->comm_c = roots[1];
    step(w, &cuzk_gadget_poseidon, 2, (uint32_t[2]){w->comm_c, w->comm_r_last}, 2, NULL, 0, &hash,
         1);
    step(w, &cuzk_gadget_equal, 0, (uint32_t[2]){comm_r, hash}, 2, NULL, 0, NULL, 0);
    if (breached(w))
        w->status = cuzk_fail(w->err, CUZK_E_INPUT,
                              "comm_r: is not the hash of the roots of tree C and of the replica's "
                              "tree that vanilla_proofs open");
    for (uint32_t i = 0; i < w->params->challenges && w->status == CUZK_OK; i++) {
        w->challenge = i;
        challenge(w, v != NULL ? &v->challenges[i] : NULL);
    }
    return w->status;
}

cuzk_status cuzk_porep_circuit(struct cuzk_circuit **out, const struct cuzk_porep_params *params,
                               struct cuzk_budget *budget, struct cuzk_error *err)
{
    struct cuzk_builder *builder;
    struct walk *w = cuzk_calloc(1, sizeof *w);
    *out = NULL;
    if (w == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "no memory for a circuit");
    w->params = params;
    w->err = err;
    w->status = cuzk_builder_create(&builder, params->circuit, budget, err);
    if (w->status == CUZK_OK)
        w->status = cuzk_composer_create(&w->k, builder, NULL, NULL, err);
    if (w->status == CUZK_OK)
        partition(w);
    cuzk_composer_destroy(w->k);
    if (w->status == CUZK_OK)
        w->status = cuzk_builder_finish(out, builder, err);
    cuzk_builder_destroy(builder);
    cuzk_status status = w->status;
    cuzk_free(w);
    return status;
}

cuzk_status cuzk_porep_witness(struct cuzk_witness **out, const struct cuzk_circuit *circuit,
                               const struct cuzk_porep_vanilla *vanilla, struct cuzk_budget *budget,
                               struct cuzk_error *err)
{
    struct cuzk_witness *witness = NULL;
    struct walk *w = cuzk_calloc(1, sizeof *w);
    *out = NULL;
    if (w == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "no memory for a witness");
    w->params = vanilla->params;
    w->vanilla = vanilla;
    w->err = err;
    if (strcmp(circuit->name, vanilla->params->circuit) != 0)
        w->status = cuzk_fail(err, CUZK_E_MISMATCH, "the proof is for circuit %s, not for %s",
                              vanilla->params->circuit, circuit->name);
    if (w->status == CUZK_OK)
        w->status = cuzk_witness_create(&witness, circuit, budget, err);
    if (w->status == CUZK_OK)
        w->status = cuzk_composer_create(&w->k, NULL, circuit, witness, err);
    if (w->status == CUZK_OK)
        partition(w);
    if (w->status == CUZK_OK && !cuzk_composer_done(w->k))
        w->status =
            cuzk_fail(err, CUZK_E_INTERNAL, "circuit %s has more than its proof", circuit->name);
    cuzk_composer_destroy(w->k);
    cuzk_status status = w->status;
    cuzk_free(w);
    if (status != CUZK_OK) {
        cuzk_witness_destroy(witness);
        return status;
    }
    *out = witness;
    return CUZK_OK;
}
