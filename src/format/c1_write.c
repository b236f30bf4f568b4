/* The writer of C1: the form and the order of keys of filecoin-proofs-api, through one buffer. */
#include "format/c1.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/os.h"

enum { BUFFER = 1 << 16 };

struct out {
    struct cuzk_writer *writer;
    char *buffer;
    size_t used;
    cuzk_status status; /* of the first failure; then nothing more is written */
    struct cuzk_error *err;
    const struct cuzk_porep_params *params;
};

static void flush(struct out *o)
{
    if (o->status == CUZK_OK && o->used != 0)
        o->status = cuzk_os_writer_write(o->writer, o->buffer, o->used, o->err);
    o->used = 0;
}

static void put(struct out *o, const char *text)
{
    size_t n = strlen(text);
    if (n > BUFFER - o->used)
        flush(o);
    memcpy(o->buffer + o->used, text, n);
    o->used += n;
}

static void put_number(struct out *o, uint64_t value)
{
    char text[24], *p = text + sizeof text - 1;
    *p = '\0';
    do
        *--p = (char)('0' + value % 10);
    while ((value /= 10) != 0);
    put(o, p);
}

static void put_bytes(struct out *o, const uint8_t bytes[32])
{
    for (int i = 0; i < 32; i++) {
        put(o, i == 0 ? "[" : ",");
        put_number(o, bytes[i]);
    }
    put(o, "]");
}

static void put_fr(struct out *o, const struct bls12_381_fr *value)
{
    uint8_t bytes[32];
    bls12_381_fr_to_le(bytes, value);
    put_bytes(o, bytes);
}

static void put_list(struct out *o, const struct bls12_381_fr *values, uint32_t count)
{
    put(o, "[");
    for (uint32_t i = 0; i < count; i++) {
        if (i != 0)
            put(o, ",");
        put_fr(o, &values[i]);
    }
    put(o, "]");
}

static uint32_t arity_of(const struct out *o, bool data, uint32_t level)
{
    return data ? 2 : cuzk_porep_arity(o->params, level);
}

/* {"path":[…]}: levels [first, last) of a path; siblings are those of the whole path. */
static void put_path(struct out *o, bool data, const struct bls12_381_fr *siblings, uint32_t node,
                     uint32_t first, uint32_t last)
{
    put(o, "{\"path\":[");
    for (uint32_t level = 0; level < last; level++) {
        uint32_t arity = arity_of(o, data, level);
        if (level >= first) {
            put(o, level != first ? ",{\"hashes\":" : "{\"hashes\":");
            put_list(o, siblings, arity - 1);
            put(o, ",\"index\":");
            put_number(o, node % arity);
            put(o, "}");
        }
        siblings += arity - 1;
        node /= arity;
    }
    put(o, "]}");
}

static void put_proof(struct out *o, bool data, const struct bls12_381_fr *siblings, uint32_t node,
                      const struct bls12_381_fr *root, const struct bls12_381_fr *leaf)
{
    const struct cuzk_porep_params *p = o->params;
    bool single = data || p->sub_arity == 0, with_top = !single && p->top_arity != 0;
    uint32_t base = data ? p->data_levels : p->base_levels;
    put(o, "{\"data\":{");
    if (single) {
        put(o, "\"Single\":{");
    } else {
        put(o, with_top ? "\"Top\":{\"base_proof\":" : "\"Sub\":{\"base_proof\":");
        put_path(o, data, siblings, node, 0, base);
        put(o, ",\"sub_proof\":");
        put_path(o, data, siblings, node, base, base + 1);
        if (with_top) {
            put(o, ",\"top_proof\":");
            put_path(o, data, siblings, node, base + 1, base + 2);
        }
        put(o, ",");
    }
    put(o, "\"root\":");
    put_fr(o, root);
    put(o, ",\"leaf\":");
    put_fr(o, leaf);
    if (single) {
        put(o, ",\"path\":");
        put_path(o, data, siblings, node, 0, base);
    }
    put(o, "}}}");
}

static void put_column(struct out *o, const struct cuzk_porep_sector *sector,
                       const struct cuzk_porep_column *column)
{
    put(o, "{\"column\":{\"index\":");
    put_number(o, column->node);
    put(o, ",\"rows\":");
    put_list(o, column->rows, o->params->layers);
    put(o, ",\"_h\":null},\"inclusion_proof\":");
    put_proof(o, false, column->siblings, column->node, &sector->comm_c, &column->leaf);
    put(o, "}");
}

/* A labeling or encoding proof: the parents' labels over and over, 37 in all. */
static void put_label(struct out *o, const struct cuzk_porep_challenge *c, uint32_t layer)
{
    uint32_t parents = layer == 1 ? CUZK_POREP_DRG : CUZK_POREP_PARENTS;
    put(o, "{\"parents\":[");
    for (uint32_t i = 0; i < CUZK_POREP_LABEL_PARENTS; i++) {
        uint32_t k = i % parents;
        if (i != 0)
            put(o, ",");
        put_fr(o, k < CUZK_POREP_DRG ? &c->drg[k].rows[layer - 1]
                                     : &c->exp[k - CUZK_POREP_DRG].rows[layer - 2]);
    }
    put(o, "],\"layer_index\":");
    put_number(o, layer);
    put(o, ",\"node\":");
    put_number(o, c->node);
    put(o, "}");
}

static void put_challenge(struct out *o, const struct cuzk_porep_sector *sector,
                          const struct cuzk_porep_challenge *c)
{
    put(o, "{\"comm_d_proofs\":");
    put_proof(o, true, c->data_siblings, c->node, &sector->comm_d, &c->data_leaf);
    put(o, ",\"comm_r_last_proof\":");
    put_proof(o, false, c->replica_siblings, c->node, &sector->comm_r_last, &c->replica_leaf);
    put(o, ",\"replica_column_proofs\":{\"c_x\":");
    put_column(o, sector, &c->own);
    put(o, ",\"drg_parents\":[");
    for (int i = 0; i < CUZK_POREP_DRG; i++) {
        put(o, i != 0 ? "," : "");
        put_column(o, sector, &c->drg[i]);
    }
    put(o, "],\"exp_parents\":[");
    for (int i = 0; i < CUZK_POREP_EXP; i++) {
        put(o, i != 0 ? "," : "");
        put_column(o, sector, &c->exp[i]);
    }
    put(o, "]},\"labeling_proofs\":[");
    for (uint32_t layer = 1; layer <= o->params->layers; layer++) {
        put(o, layer != 1 ? "," : "");
        put_label(o, c, layer);
    }
    put(o, "],\"encoding_proof\":");
    put_label(o, c, o->params->layers);
    put(o, "}");
}

static void put_sector(struct out *o, const struct cuzk_porep_sector *sector)
{
    const struct cuzk_porep_params *p = o->params;
    put(o, "{\"registered_proof\":\"");
    put(o, p->registered);
    put(o, "\",\"vanilla_proofs\":{\"");
    put(o, p->variant);
    put(o, "\":[");
    for (uint32_t k = 0; k < p->partitions; k++) {
        put(o, k != 0 ? ",[" : "[");
        for (uint32_t i = 0; i < p->challenges; i++) {
            put(o, i != 0 ? "," : "");
            put_challenge(o, sector, &sector->challenges[k * p->challenges + i]);
        }
        put(o, "]");
    }
    put(o, "]},\"comm_r\":");
    put_fr(o, &sector->comm_r);
    put(o, ",\"comm_d\":");
    put_fr(o, &sector->comm_d);
    put(o, ",\"replica_id\":");
    put_fr(o, &sector->replica_id);
    put(o, ",\"seed\":");
    put_bytes(o, sector->seed);
    put(o, ",\"ticket\":");
    put_bytes(o, sector->ticket);
    put(o, "}");
    flush(o);
}

cuzk_status cuzk_c1_write(const struct cuzk_porep_sector *sector, const char *path,
                          struct cuzk_error *err)
{
    struct out o = {.err = err, .params = sector->params, .buffer = cuzk_malloc(BUFFER)};
    if (o.buffer == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "%s: out of memory", path);
    cuzk_status status = cuzk_os_writer_open(&o.writer, path, err);
    if (status == CUZK_OK) {
        put_sector(&o, sector);
        status = o.status;
        if (status == CUZK_OK)
            status = cuzk_os_writer_commit(o.writer, err);
        else
            cuzk_os_writer_abort(o.writer);
    }
    cuzk_free(o.buffer);
    return status;
}
