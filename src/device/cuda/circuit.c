/* A circuit's layout on the device, and the witness's. Templates are concatenated, instances cut
 * into work items of 256 rows; all of it is some megabytes.
 */
#include <string.h>

#include "base/alloc.h"
#include "device/cuda/backend.h"

cuzk_status cuda_copy_in(struct cuda_device *device, void **out, enum cuzk_purpose purpose,
                         const void *data, uint64_t bytes, struct cuzk_error *err)
{
    cuzk_status status = cuzk_cuda_alloc(device->cuda, out, purpose, bytes, err);
    if (status == CUZK_OK && bytes > 0)
        status = cuzk_cuda_upload(device->cuda, *out, data, bytes, err);
    if (status != CUZK_OK) {
        cuzk_cuda_free(device->cuda, *out);
        *out = NULL;
    }
    return status;
}

/* Host copies while the layout is put together. */
struct packing {
    struct cuzk_layout_template *templates;
    struct cuzk_layout_item *items;
    uint32_t *starts, *terms, *ranks;
    uint64_t *booleans;
    size_t start_count, term_count, word_count, item_count;
};

static void packing_free(struct packing *p)
{
    cuzk_free(p->templates);
    cuzk_free(p->items);
    cuzk_free(p->starts);
    cuzk_free(p->terms);
    cuzk_free(p->ranks);
    cuzk_free(p->booleans);
}

static cuzk_status pack(struct packing *p, const struct cuzk_circuit *circuit,
                        struct cuzk_error *err)
{
    for (uint32_t i = 0; i < circuit->template_count; i++) {
        const struct cuzk_template *t = &circuit->templates[i];
        p->start_count += 3 * ((size_t)t->rows + 1);
        for (int m = 0; m < 3; m++)
            p->term_count += t->start[m][t->rows];
        p->word_count += cuzk_words(t->own);
    }
    for (uint32_t i = 0; i < circuit->instance_count; i++)
        p->item_count += (circuit->templates[circuit->instances[i].template_number].rows +
                          CUZK_LAYOUT_ROWS - 1) /
                         CUZK_LAYOUT_ROWS;
    p->templates = cuzk_calloc(circuit->template_count, sizeof *p->templates);
    p->items = cuzk_calloc(p->item_count, sizeof *p->items);
    p->starts = cuzk_calloc(p->start_count, sizeof *p->starts);
    p->terms = cuzk_calloc(p->term_count, sizeof *p->terms);
    p->ranks = cuzk_calloc(p->word_count, sizeof *p->ranks);
    p->booleans = cuzk_calloc(p->word_count, sizeof *p->booleans);
    if (p->templates == NULL || p->items == NULL || p->starts == NULL || p->terms == NULL ||
        p->ranks == NULL || p->booleans == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "%s: out of memory", circuit->name);
    if (p->term_count > UINT32_MAX || p->start_count > UINT32_MAX || p->item_count > INT32_MAX)
        return cuzk_fail(err, CUZK_E_UNSUPPORTED, "%s: its templates do not fit 32-bit offsets",
                         circuit->name);
    uint32_t starts = 0, terms = 0, words = 0;
    for (uint32_t i = 0; i < circuit->template_count; i++) {
        const struct cuzk_template *t = &circuit->templates[i];
        struct cuzk_layout_template *o = &p->templates[i];
        o->rows = t->rows;
        o->ports = t->ports;
        o->boolean = o->rank = words;
        const uint32_t w = (uint32_t)cuzk_words(t->own);
        if (w > 0) {
            memcpy(p->booleans + words, t->boolean, w * sizeof *p->booleans);
            memcpy(p->ranks + words, t->rank, w * sizeof *p->ranks);
        }
        words += w;
        for (int m = 0; m < 3; m++) {
            const uint32_t count = t->start[m][t->rows];
            o->start[m] = starts;
            o->terms[m] = terms;
            memcpy(p->starts + starts, t->start[m], ((size_t)t->rows + 1) * sizeof *p->starts);
            for (uint32_t k = 0; k < count; k++)
                p->terms[terms + k] = t->terms[m][k].variable | (uint32_t)t->terms[m][k].coefficient
                                                                    << 16;
            starts += t->rows + 1;
            terms += count;
        }
    }
    size_t n = 0;
    for (uint32_t i = 0; i < circuit->instance_count; i++)
        for (uint32_t row = 0; row < circuit->templates[circuit->instances[i].template_number].rows;
             row += CUZK_LAYOUT_ROWS)
            p->items[n++] = (struct cuzk_layout_item){.instance = i, .row = row};
    return CUZK_OK;
}

/* The points of a query whose scalars are not bits. */
static cuzk_status load_query(struct cuda_device *device, struct cuda_query *out,
                              const uint64_t *is_bit, uint32_t count, uint32_t dense,
                              struct cuzk_error *err)
{
    uint32_t *index = cuzk_malloc((size_t)dense * sizeof *index + 1), n = 0;
    if (index == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "no memory for the numbers of %u values", dense);
    for (uint32_t w = 0; w < cuzk_words(count); w++) {
        uint64_t rest = ~is_bit[w];
        if (count - 64 * w < 64)
            rest &= ((uint64_t)1 << (count - 64 * w)) - 1;
        for (; rest != 0 && n < dense; rest &= rest - 1)
            index[n++] = 64 * w + (uint32_t)__builtin_ctzll(rest);
    }
    out->is_bit = is_bit;
    out->count = count;
    out->dense = n;
    void *p;
    cuzk_status status =
        cuda_copy_in(device, &p, CUZK_PURPOSE_SHAPE, index, (uint64_t)n * sizeof *index, err);
    out->index = p;
    cuzk_free(index);
    return status;
}

void cuzk_cuda_circuit_free(struct cuzk_device_circuit *base)
{
    if (base == NULL)
        return;
    struct cuda_circuit *circuit = (struct cuda_circuit *)base;
    struct cuda_device *device = cuda_of(base->device);
    (void)pthread_mutex_lock(&device->lock);
    for (size_t i = 0; i < sizeof circuit->buffers / sizeof *circuit->buffers; i++)
        cuzk_cuda_free(device->cuda, circuit->buffers[i]);
    cuzk_cuda_free(device->cuda, circuit->l.index);
    cuzk_cuda_free(device->cuda, circuit->a.index);
    cuzk_cuda_free(device->cuda, circuit->b.index);
    (void)pthread_mutex_unlock(&device->lock);
    cuzk_free(circuit);
}

cuzk_status cuzk_cuda_circuit_load(struct cuzk_device *base, struct cuzk_device_circuit **out,
                                   const struct cuzk_qap *qap, struct cuzk_error *err)
{
    *out = NULL;
    struct cuda_device *device = cuda_of(base);
    const struct cuzk_circuit *c = qap->circuit;
    struct packing p = {0};
    struct cuda_circuit *circuit = cuzk_calloc(1, sizeof *circuit);
    if (circuit == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "%s: out of memory", c->name);
    circuit->base = (struct cuzk_device_circuit){.device = base, .qap = qap};
    cuzk_status status = pack(&p, c, err);
    const struct {
        const void *data;
        size_t count, size;
    } arrays[] = {
        {p.templates, c->template_count, sizeof *p.templates},
        {c->instances, c->instance_count, sizeof *c->instances},
        {p.items, p.item_count, sizeof *p.items},
        {p.starts, p.start_count, sizeof *p.starts},
        {p.terms, p.term_count, sizeof *p.terms},
        {p.booleans, p.word_count, sizeof *p.booleans},
        {p.ranks, p.word_count, sizeof *p.ranks},
        {c->ports, c->port_count, sizeof *c->ports},
        {c->coefficients, c->coefficient_count, sizeof *c->coefficients},
        {c->boolean, cuzk_words(c->aux), sizeof *c->boolean},
        {c->rank, ((size_t)c->aux + 511) / 512, sizeof *c->rank},
    };
    _Static_assert(sizeof arrays / sizeof *arrays ==
                       sizeof circuit->buffers / sizeof *circuit->buffers,
                   "an array of the layout has no buffer");
    _Static_assert(sizeof(struct cuzk_layout_instance) == sizeof(struct cuzk_instance),
                   "instances are uploaded as they are");
    void **b = circuit->buffers;
    (void)pthread_mutex_lock(&device->lock);
    for (size_t i = 0; status == CUZK_OK && i < sizeof arrays / sizeof *arrays; i++)
        status = cuda_copy_in(device, &b[i], CUZK_PURPOSE_SHAPE, arrays[i].data,
                              (uint64_t)arrays[i].count * arrays[i].size, err);
    if (status == CUZK_OK)
        status = load_query(device, &circuit->l, c->boolean, c->aux, c->dense, err);
    if (status == CUZK_OK)
        status = load_query(device, &circuit->a, qap->a.is_bit, qap->a.count, qap->a.dense, err);
    if (status == CUZK_OK)
        status = load_query(device, &circuit->b, qap->b.is_bit, qap->b.count, qap->b.dense, err);
    (void)pthread_mutex_unlock(&device->lock);
    packing_free(&p);
    if (status != CUZK_OK) {
        cuzk_cuda_circuit_free(&circuit->base);
        return status;
    }
    circuit->layout = (struct cuzk_layout){
        .templates = b[0],
        .instances = b[1],
        .items = b[2],
        .starts = b[3],
        .terms = b[4],
        .booleans = b[5],
        .ranks = b[6],
        .ports = b[7],
        .coefficients = b[8],
        .aux_boolean = b[9],
        .aux_rank = b[10],
        .item_count = (uint32_t)p.item_count,
        .rows = c->rows,
        .inputs = c->inputs,
    };
    *out = &circuit->base;
    return CUZK_OK;
}

cuzk_status cuzk_cuda_witness_upload(struct cuda_device *device, void **buffer,
                                     struct cuzk_layout_witness *out,
                                     const struct cuzk_witness *witness, struct cuzk_error *err)
{
    const uint64_t value_bytes = sizeof(struct bls12_381_fr) * (uint64_t)witness->dense_count;
    const uint64_t input_bytes = sizeof(struct bls12_381_fr) * (uint64_t)witness->input_count;
    const uint64_t bit_bytes = 8 * (uint64_t)cuzk_words(witness->aux_count);
    cuzk_status status = cuzk_cuda_alloc(device->cuda, buffer, CUZK_PURPOSE_WITNESS,
                                         value_bytes + input_bytes + bit_bytes, err);
    char *p = *buffer;
    if (status == CUZK_OK)
        status = cuzk_cuda_upload(device->cuda, p, witness->values, value_bytes, err);
    if (status == CUZK_OK)
        status = cuzk_cuda_upload(device->cuda, p + value_bytes, witness->inputs, input_bytes, err);
    if (status == CUZK_OK)
        status = cuzk_cuda_upload(device->cuda, p + value_bytes + input_bytes, witness->bits,
                                  bit_bytes, err);
    if (status != CUZK_OK) {
        cuzk_cuda_free(device->cuda, *buffer);
        *buffer = NULL;
        return status;
    }
    *out = (struct cuzk_layout_witness){
        .inputs = p + value_bytes,
        .values = p,
        .bits = (const uint64_t *)(const void *)(p + value_bytes + input_bytes)};
    return CUZK_OK;
}
