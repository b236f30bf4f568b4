/* See build.h. Arrays grow by half; at the end they are cut to size and the circuit's budget is
 * charged with what they hold. */
#include "circuit/build.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

struct builder_rows {
    uint32_t *start;
    struct cuzk_term *terms;
    uint32_t rows, row_room, count, room;
};

struct cuzk_builder {
    struct cuzk_circuit *circuit;
    uint32_t template_room, instance_room, port_room, coefficient_room;
    uint32_t *table; /* coefficients by hash: number + 1, 0 for a free place */
    uint32_t table_size;
    struct builder_rows matrix[3]; /* of the template that is open */
    bool open;
    cuzk_status status;
    struct cuzk_error error;
};

static cuzk_status stick(struct cuzk_builder *b, cuzk_status status, const char *what,
                         struct cuzk_error *err)
{
    if (b->status == CUZK_OK)
        b->status = cuzk_fail(&b->error, status, "circuit %s: %s", b->circuit->name, what);
    if (err != NULL)
        *err = b->error;
    return b->status;
}

/* Room for one more element; false when memory is out. */
static bool grow(void **array, uint32_t *room, uint32_t used, uint32_t more, size_t size)
{
    uint64_t want = (uint64_t)used + more;
    if (want <= *room)
        return true;
    uint64_t next = *room + *room / 2 + 64;
    if (next < want)
        next = want;
    if (next > UINT32_MAX)
        return false;
    void *p = cuzk_realloc(*array, (size_t)next, size);
    if (p == NULL)
        return false;
    *array = p;
    *room = (uint32_t)next;
    return true;
}

cuzk_status cuzk_builder_create(struct cuzk_builder **out, const char *name,
                                struct cuzk_budget *budget, struct cuzk_error *err)
{
    *out = NULL;
    struct cuzk_builder *b = cuzk_calloc(1, sizeof *b);
    if (b == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "no memory for a circuit");
    b->circuit = cuzk_calloc(1, sizeof *b->circuit);
    b->table_size = 4096;
    b->table = cuzk_calloc(b->table_size, sizeof *b->table);
    if (b->circuit == NULL || b->table == NULL) {
        cuzk_builder_destroy(b);
        return cuzk_fail(err, CUZK_E_MEMORY, "no memory for a circuit");
    }
    size_t n = strnlen(name, sizeof b->circuit->name - 1);
    memcpy(b->circuit->name, name, n);
    b->circuit->budget = budget;
    b->circuit->inputs = 1;
    *out = b;
    return CUZK_OK;
}

static void drop_rows(struct cuzk_builder *b)
{
    for (int m = 0; m < 3; m++) {
        cuzk_free(b->matrix[m].start);
        cuzk_free(b->matrix[m].terms);
        b->matrix[m] = (struct builder_rows){0};
    }
    b->open = false;
}

void cuzk_builder_destroy(struct cuzk_builder *b)
{
    if (b == NULL)
        return;
    drop_rows(b);
    cuzk_free(b->table);
    cuzk_circuit_destroy(b->circuit);
    cuzk_free(b);
}

static uint32_t hash(const struct bls12_381_fr *v, uint32_t size)
{
    uint64_t h = (v->l[0] ^ v->l[1] * 3 ^ v->l[2] * 5 ^ v->l[3] * 7) * 0x9e3779b97f4a7c15;
    return (uint32_t)(h >> 32) & (size - 1);
}

static bool rehash(struct cuzk_builder *b)
{
    uint32_t size = 2 * b->table_size;
    uint32_t *table = cuzk_calloc(size, sizeof *table);
    if (table == NULL)
        return false;
    for (uint32_t i = 0; i < b->circuit->coefficient_count; i++) {
        uint32_t at = hash(&b->circuit->coefficients[i], size);
        while (table[at] != 0)
            at = (at + 1) & (size - 1);
        table[at] = i + 1;
    }
    cuzk_free(b->table);
    b->table = table;
    b->table_size = size;
    return true;
}

cuzk_status cuzk_builder_coefficient(struct cuzk_builder *b, uint32_t *number,
                                     const struct bls12_381_fr *value, struct cuzk_error *err)
{
    *number = 0;
    if (b->status != CUZK_OK)
        return stick(b, CUZK_OK, "", err);
    struct cuzk_circuit *c = b->circuit;
    uint32_t at = hash(value, b->table_size);
    for (; b->table[at] != 0; at = (at + 1) & (b->table_size - 1))
        if (bls12_381_fr_eq(&c->coefficients[b->table[at] - 1], value)) {
            *number = b->table[at] - 1;
            return CUZK_OK;
        }
    if (c->coefficient_count == 65536)
        return stick(b, CUZK_E_UNSUPPORTED, "more than 65,536 distinct coefficients", err);
    if (!grow((void **)&c->coefficients, &b->coefficient_room, c->coefficient_count, 1,
              sizeof *c->coefficients))
        return stick(b, CUZK_E_MEMORY, "no memory for coefficients", err);
    *number = c->coefficient_count;
    c->coefficients[c->coefficient_count++] = *value;
    b->table[at] = c->coefficient_count;
    if (2 * c->coefficient_count > b->table_size && !rehash(b))
        return stick(b, CUZK_E_MEMORY, "no memory for coefficients", err);
    return CUZK_OK;
}

cuzk_status cuzk_builder_begin(struct cuzk_builder *b, struct cuzk_error *err)
{
    if (b->status != CUZK_OK)
        return stick(b, CUZK_OK, "", err);
    drop_rows(b);
    for (int m = 0; m < 3; m++) {
        struct builder_rows *r = &b->matrix[m];
        if (!grow((void **)&r->start, &r->row_room, 0, 1, sizeof *r->start))
            return stick(b, CUZK_E_MEMORY, "no memory for rows", err);
        r->start[0] = 0;
    }
    b->open = true;
    return CUZK_OK;
}

static int compare_terms(const void *a, const void *b)
{
    return (int)((const struct cuzk_term *)a)->variable -
           (int)((const struct cuzk_term *)b)->variable;
}

static void sort_terms(struct cuzk_term *t, uint32_t n)
{
    if (n > 48) {
        qsort(t, n, sizeof *t, compare_terms);
        return;
    }
    for (uint32_t i = 1; i < n; i++) {
        struct cuzk_term x = t[i];
        uint32_t j = i;
        for (; j > 0 && t[j - 1].variable > x.variable; j--)
            t[j] = t[j - 1];
        t[j] = x;
    }
}

cuzk_status cuzk_builder_row(struct cuzk_builder *b, const struct cuzk_term *terms[3],
                             const uint32_t counts[3], struct cuzk_error *err)
{
    if (b->status != CUZK_OK)
        return stick(b, CUZK_OK, "", err);
    for (int m = 0; m < 3; m++) {
        struct builder_rows *r = &b->matrix[m];
        if (!grow((void **)&r->start, &r->row_room, r->rows + 1, 1, sizeof *r->start) ||
            !grow((void **)&r->terms, &r->room, r->count, counts[m], sizeof *r->terms))
            return stick(b, CUZK_E_MEMORY, "no memory for rows", err);
        struct cuzk_term *to = counts[m] != 0 ? r->terms + r->count : NULL;
        if (counts[m] != 0)
            memcpy(to, terms[m], counts[m] * sizeof *to);
        sort_terms(to, counts[m]);
        for (uint32_t i = 1; i < counts[m]; i++)
            if (to[i].variable == to[i - 1].variable)
                return stick(b, CUZK_E_FORMAT, "a variable stands twice in one combination", err);
        r->count += counts[m];
        r->start[++r->rows] = r->count;
    }
    return CUZK_OK;
}

static void shrink(void **array, uint32_t used, size_t size)
{
    void *p = cuzk_realloc(*array, used != 0 ? used : 1, size);
    if (p != NULL)
        *array = p;
}

cuzk_status cuzk_builder_end(struct cuzk_builder *b, uint32_t *number, const char *name,
                             uint32_t ports, uint32_t own, const uint64_t *boolean,
                             struct cuzk_error *err)
{
    *number = 0;
    if (b->status != CUZK_OK)
        return stick(b, CUZK_OK, "", err);
    struct cuzk_circuit *c = b->circuit;
    if (!b->open)
        return stick(b, CUZK_E_INTERNAL, "a template ends that did not begin", err);
    if ((uint64_t)ports + own > CUZK_TEMPLATE_VARIABLES)
        return stick(b, CUZK_E_UNSUPPORTED, "a template has more than 65,536 variables", err);
    if (!grow((void **)&c->templates, &b->template_room, c->template_count, 1,
              sizeof *c->templates))
        return stick(b, CUZK_E_MEMORY, "no memory for templates", err);
    struct cuzk_template *t = &c->templates[c->template_count];
    *t = (struct cuzk_template){.rows = b->matrix[0].rows, .ports = ports, .own = own};
    memcpy(t->name, name, strnlen(name, sizeof t->name - 1));
    uint32_t words = (own + 63) / 64;
    t->boolean = cuzk_calloc(words, sizeof *t->boolean);
    t->rank = cuzk_calloc(words, sizeof *t->rank);
    if (t->boolean == NULL || t->rank == NULL) {
        cuzk_free(t->boolean);
        cuzk_free(t->rank);
        return stick(b, CUZK_E_MEMORY, "no memory for templates", err);
    }
    for (uint32_t w = 0; w < words; w++) {
        uint64_t valid = own - 64 * w >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << (own - 64 * w)) - 1;
        t->boolean[w] = boolean != NULL ? boolean[w] & valid : 0;
        t->rank[w] = t->own_dense;
        t->own_dense += (uint32_t)__builtin_popcountll(~t->boolean[w] & valid);
    }
    for (int m = 0; m < 3; m++) {
        struct builder_rows *r = &b->matrix[m];
        shrink((void **)&r->start, r->rows + 1, sizeof *r->start);
        shrink((void **)&r->terms, r->count, sizeof *r->terms);
        t->start[m] = r->start;
        t->terms[m] = r->terms;
        *r = (struct builder_rows){0};
    }
    b->open = false;
    *number = c->template_count++;
    return CUZK_OK;
}

cuzk_status cuzk_builder_set_gadget(struct cuzk_builder *b, uint32_t number,
                                    const struct cuzk_gadget *gadget, uint64_t parameter,
                                    const uint16_t *outputs, uint32_t output_count,
                                    struct cuzk_error *err)
{
    if (b->status != CUZK_OK)
        return stick(b, CUZK_OK, "", err);
    struct cuzk_template *t = &b->circuit->templates[number];
    t->outputs = cuzk_calloc(output_count, sizeof *outputs);
    if (t->outputs == NULL)
        return stick(b, CUZK_E_MEMORY, "no memory for templates", err);
    if (output_count != 0)
        memcpy(t->outputs, outputs, output_count * sizeof *outputs);
    t->output_count = output_count;
    t->gadget = gadget;
    t->parameter = parameter;
    return CUZK_OK;
}

bool cuzk_builder_find(const struct cuzk_builder *b, uint32_t *number,
                       const struct cuzk_gadget *gadget, uint64_t parameter)
{
    for (uint32_t i = 0; i < b->circuit->template_count; i++)
        if (b->circuit->templates[i].gadget == gadget &&
            b->circuit->templates[i].parameter == parameter) {
            *number = i;
            return true;
        }
    return false;
}

const struct cuzk_template *cuzk_builder_template(const struct cuzk_builder *b, uint32_t number)
{
    return &b->circuit->templates[number];
}

cuzk_status cuzk_builder_instance(struct cuzk_builder *b, uint32_t *first_aux, uint32_t number,
                                  const uint32_t *ports, struct cuzk_error *err)
{
    *first_aux = 0;
    if (b->status != CUZK_OK)
        return stick(b, CUZK_OK, "", err);
    struct cuzk_circuit *c = b->circuit;
    if (number >= c->template_count)
        return stick(b, CUZK_E_INTERNAL, "an instance of no template", err);
    const struct cuzk_template *t = &c->templates[number];
    uint32_t limit = UINT32_MAX / 2;
    if (c->aux > limit - t->own || c->rows > UINT32_MAX - t->rows)
        return stick(b, CUZK_E_UNSUPPORTED, "more than 2^31 variables", err);
    if (!grow((void **)&c->instances, &b->instance_room, c->instance_count, 1,
              sizeof *c->instances) ||
        !grow((void **)&c->ports, &b->port_room, c->port_count, t->ports, sizeof *c->ports))
        return stick(b, CUZK_E_MEMORY, "no memory for instances", err);
    for (uint32_t i = 0; i < t->ports; i++)
        if (ports[i] & 1 ? ports[i] / 2 >= c->aux : ports[i] / 2 >= c->inputs)
            return stick(b, CUZK_E_INTERNAL, "an instance's port is a variable of later", err);
    c->instances[c->instance_count++] = (struct cuzk_instance){.template_number = number,
                                                               .first_row = c->rows,
                                                               .first_aux = c->aux,
                                                               .first_dense = c->dense,
                                                               .first_port = c->port_count};
    if (t->ports != 0)
        memcpy(c->ports + c->port_count, ports, t->ports * sizeof *ports);
    c->port_count += t->ports;
    *first_aux = c->aux;
    c->aux += t->own;
    c->dense += t->own_dense;
    c->rows += t->rows;
    return CUZK_OK;
}

cuzk_status cuzk_builder_input(struct cuzk_builder *b, uint32_t *number, struct cuzk_error *err)
{
    *number = 0;
    if (b->status != CUZK_OK)
        return stick(b, CUZK_OK, "", err);
    if (b->circuit->inputs == UINT32_MAX / 2)
        return stick(b, CUZK_E_UNSUPPORTED, "more than 2^31 inputs", err);
    *number = b->circuit->inputs++;
    return CUZK_OK;
}

cuzk_status cuzk_builder_inputs(struct cuzk_builder *b, uint32_t count, struct cuzk_error *err)
{
    if (b->status != CUZK_OK)
        return stick(b, CUZK_OK, "", err);
    if (count > UINT32_MAX / 2 - b->circuit->inputs)
        return stick(b, CUZK_E_UNSUPPORTED, "more than 2^31 inputs", err);
    b->circuit->inputs += count;
    return CUZK_OK;
}

cuzk_status cuzk_builder_aux(struct cuzk_builder *b, uint32_t count, struct cuzk_error *err)
{
    if (b->status != CUZK_OK)
        return stick(b, CUZK_OK, "", err);
    if (b->circuit->instance_count != 0)
        return stick(b, CUZK_E_INTERNAL, "auxiliaries of no instance after an instance", err);
    if (count > UINT32_MAX / 2 - b->circuit->aux)
        return stick(b, CUZK_E_UNSUPPORTED, "more than 2^31 variables", err);
    b->circuit->aux += count;
    b->circuit->dense += count;
    return CUZK_OK;
}

/* The templates' bits put together, and the ranks over them. */
static cuzk_status join_booleans(struct cuzk_builder *b)
{
    struct cuzk_circuit *c = b->circuit;
    uint32_t words = (c->aux + 63) / 64;
    c->boolean = cuzk_calloc(words, sizeof *c->boolean);
    c->rank = cuzk_calloc((c->aux + 511) / 512, sizeof *c->rank);
    if (c->boolean == NULL || c->rank == NULL)
        return stick(b, CUZK_E_MEMORY, "no memory for the bitmap", NULL);
    for (uint32_t i = 0; i < c->instance_count; i++) {
        const struct cuzk_template *t = &c->templates[c->instances[i].template_number];
        uint32_t at = c->instances[i].first_aux / 64, shift = c->instances[i].first_aux % 64;
        for (uint32_t w = 0; w < (t->own + 63) / 64; w++) {
            c->boolean[at + w] |= t->boolean[w] << shift;
            if (shift != 0 && t->boolean[w] >> (64 - shift) != 0)
                c->boolean[at + w + 1] |= t->boolean[w] >> (64 - shift);
        }
    }
    uint32_t dense = 0;
    for (uint32_t w = 0; w < words; w++) {
        if (w % 8 == 0)
            c->rank[w / 8] = dense;
        uint32_t left = c->aux - 64 * w;
        uint64_t valid = left >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << left) - 1;
        dense += (uint32_t)__builtin_popcountll(~c->boolean[w] & valid);
    }
    if (dense != c->dense)
        return stick(b, CUZK_E_INTERNAL, "the templates' dense variables do not add up", NULL);
    return CUZK_OK;
}

cuzk_status cuzk_builder_finish(struct cuzk_circuit **out, struct cuzk_builder *b,
                                struct cuzk_error *err)
{
    *out = NULL;
    struct cuzk_circuit *c = b->circuit;
    if (b->status != CUZK_OK || join_booleans(b) != CUZK_OK)
        return stick(b, CUZK_OK, "", err);
    shrink((void **)&c->templates, c->template_count, sizeof *c->templates);
    shrink((void **)&c->instances, c->instance_count, sizeof *c->instances);
    shrink((void **)&c->ports, c->port_count, sizeof *c->ports);
    shrink((void **)&c->coefficients, c->coefficient_count, sizeof *c->coefficients);
    uint64_t bytes = sizeof *c + c->template_count * sizeof *c->templates +
                     c->instance_count * sizeof *c->instances + c->port_count * sizeof *c->ports +
                     c->coefficient_count * sizeof *c->coefficients +
                     (c->aux + 63) / 64 * sizeof *c->boolean +
                     (c->aux + 511) / 512 * sizeof *c->rank;
    for (uint32_t i = 0; i < c->template_count; i++) {
        const struct cuzk_template *t = &c->templates[i];
        bytes += (t->own + 63) / 64 * (sizeof *t->boolean + sizeof *t->rank) +
                 t->output_count * sizeof *t->outputs;
        for (int m = 0; m < 3; m++)
            bytes +=
                (t->rows + 1) * sizeof *t->start[m] + t->start[m][t->rows] * sizeof *t->terms[m];
    }
    cuzk_status status = cuzk_budget_reserve(c->budget, CUZK_PURPOSE_SHAPE, bytes, err);
    if (status != CUZK_OK)
        return status;
    c->charged = bytes;
    *out = c;
    b->circuit = cuzk_calloc(1, sizeof *b->circuit); /* NULL does no harm: only destroy follows */
    return CUZK_OK;
}
