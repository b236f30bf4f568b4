/* The rows in canonical form, and the densities: what circuit.h says of them. */
#include "circuit/circuit.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Scratch of one row: a term as one word that sorts canonically (inputs before auxiliaries). */
struct row_scratch {
    uint64_t *keys;
    struct cuzk_row_term *terms[3];
    uint32_t room;
};

static int compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void sort_keys(uint64_t *keys, uint32_t n)
{
    uint32_t i = 1;
    while (i < n && keys[i - 1] < keys[i])
        i++;
    if (i >= n)
        return;
    if (n > 48) {
        qsort(keys, n, sizeof *keys, compare_keys);
        return;
    }
    for (; i < n; i++) {
        uint64_t x = keys[i];
        uint32_t j = i;
        for (; j > 0 && keys[j - 1] > x; j--)
            keys[j] = keys[j - 1];
        keys[j] = x;
    }
}

/* UINT32_MAX: a variable stands twice, because two ports of the instance are the same. */
static uint32_t one_row(struct row_scratch *s, const struct cuzk_circuit *circuit,
                        const struct cuzk_instance *instance, const struct cuzk_template *t, int m,
                        uint32_t row)
{
    const uint32_t *ports = circuit->ports + instance->first_port;
    const struct cuzk_term *terms = t->terms[m] + t->start[m][row];
    uint32_t n = t->start[m][row + 1] - t->start[m][row];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = terms[i].variable;
        uint32_t tag = v < t->ports ? ports[v] : 2 * (instance->first_aux + (v - t->ports)) + 1;
        s->keys[i] = (uint64_t)(tag & 1) << 63 | (uint64_t)(tag / 2) << 16 | terms[i].coefficient;
    }
    sort_keys(s->keys, n);
    for (uint32_t i = 0; i < n; i++)
        s->terms[m][i] = (struct cuzk_row_term){.tag = (uint32_t)(s->keys[i] >> 16) << 1 |
                                                       (uint32_t)(s->keys[i] >> 63),
                                                .coefficient = s->keys[i] & 0xffff};
    for (uint32_t i = 1; i < n; i++)
        if (s->terms[m][i].tag == s->terms[m][i - 1].tag)
            return UINT32_MAX;
    return n;
}

static uint32_t longest(const struct cuzk_circuit *circuit)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < circuit->template_count; i++)
        for (int m = 0; m < 3; m++) {
            const struct cuzk_template *t = &circuit->templates[i];
            for (uint32_t r = 0; r < t->rows; r++)
                if (t->start[m][r + 1] - t->start[m][r] > n)
                    n = t->start[m][r + 1] - t->start[m][r];
        }
    return n;
}

cuzk_status cuzk_circuit_rows(const struct cuzk_circuit *circuit, uint32_t first_row,
                              uint32_t count, cuzk_row_visitor *visit, void *context,
                              struct cuzk_error *err)
{
    struct row_scratch s = {.room = longest(circuit)};
    cuzk_status status = CUZK_OK;
    s.keys = cuzk_calloc(s.room, sizeof *s.keys);
    for (int m = 0; m < 3; m++)
        s.terms[m] = cuzk_calloc(s.room, sizeof *s.terms[m]);
    if (s.keys == NULL || s.terms[0] == NULL || s.terms[1] == NULL || s.terms[2] == NULL) {
        status = cuzk_fail(err, CUZK_E_MEMORY, "no memory for a row");
        goto done;
    }
    uint64_t end = (uint64_t)first_row + count;
    for (uint32_t i = 0; i < circuit->instance_count && status == CUZK_OK; i++) {
        const struct cuzk_instance *instance = &circuit->instances[i];
        const struct cuzk_template *t = &circuit->templates[instance->template_number];
        uint32_t begin = instance->first_row;
        if (begin + (uint64_t)t->rows <= first_row)
            continue;
        if (begin >= end)
            break;
        for (uint32_t r = begin < first_row ? first_row - begin : 0;
             r < t->rows && begin + (uint64_t)r < end && status == CUZK_OK; r++) {
            uint32_t counts[3];
            for (int m = 0; m < 3; m++) {
                counts[m] = one_row(&s, circuit, instance, t, m, r);
                if (counts[m] == UINT32_MAX)
                    status = cuzk_fail(err, CUZK_E_INTERNAL,
                                       "circuit %s: instance %u of \"%s\" has equal ports",
                                       circuit->name, i, t->name);
            }
            if (status == CUZK_OK)
                status = visit(context, begin + r, (const struct cuzk_row_term *const *)s.terms,
                               counts, err);
        }
    }
done:
    cuzk_free(s.keys);
    for (int m = 0; m < 3; m++)
        cuzk_free(s.terms[m]);
    return status;
}

static uint64_t words(uint32_t bits)
{
    return ((uint64_t)bits + 63) / 64;
}

static uint32_t population(const uint64_t *map, uint32_t bits)
{
    uint32_t n = 0;
    for (uint64_t w = 0; w < words(bits); w++)
        n += (uint32_t)__builtin_popcountll(map[w]);
    return n;
}

static void set(uint64_t *map, uint32_t i)
{
    map[i / 64] |= (uint64_t)1 << (i % 64);
}

/* Local variables with a term in the template's matrix. */
static void mark_template(uint64_t *used, const struct cuzk_template *t, int m)
{
    memset(used, 0, 65536 / 8);
    for (uint32_t i = 0; i < t->start[m][t->rows]; i++)
        set(used, t->terms[m][i].variable);
}

cuzk_status cuzk_circuit_density(struct cuzk_density *out, const struct cuzk_circuit *circuit,
                                 struct cuzk_budget *budget, struct cuzk_error *err)
{
    *out = (struct cuzk_density){.budget = budget};
    uint64_t inputs = words(circuit->inputs), aux = words(circuit->aux);
    uint64_t bytes = 16 * (inputs + aux) + 2 * 8192;
    uint64_t *all;
    cuzk_status status = cuzk_budget_alloc(budget, (void **)&all, CUZK_PURPOSE_SHAPE, bytes, err);
    if (status != CUZK_OK)
        return status;
    out->charged = bytes;
    out->a_inputs = all;
    out->b_inputs = all + inputs;
    out->a_aux = all + 2 * inputs;
    out->b_aux = all + 2 * inputs + aux;
    uint64_t *used = all + 2 * inputs + 2 * aux;
    for (uint32_t i = 0; i < circuit->inputs; i++)
        set(out->a_inputs, i);
    for (uint32_t number = 0; number < circuit->template_count; number++) {
        const struct cuzk_template *t = &circuit->templates[number];
        for (int m = CUZK_A; m <= CUZK_B; m++) {
            uint64_t *to_inputs = m == CUZK_A ? out->a_inputs : out->b_inputs;
            uint64_t *to_aux = m == CUZK_A ? out->a_aux : out->b_aux;
            mark_template(used, t, m);
            for (uint32_t i = 0; i < circuit->instance_count; i++) {
                const struct cuzk_instance *instance = &circuit->instances[i];
                if (instance->template_number != number)
                    continue;
                for (uint32_t v = 0; v < t->ports; v++) {
                    uint32_t tag = circuit->ports[instance->first_port + v];
                    if (used[v / 64] >> (v % 64) & 1)
                        set(tag & 1 ? to_aux : to_inputs, tag / 2);
                }
                for (uint32_t v = 0; v < t->own; v++)
                    if (used[(t->ports + v) / 64] >> ((t->ports + v) % 64) & 1)
                        set(to_aux, instance->first_aux + v);
            }
        }
    }
    out->a_inputs_total = population(out->a_inputs, circuit->inputs);
    out->b_inputs_total = population(out->b_inputs, circuit->inputs);
    out->a_aux_total = population(out->a_aux, circuit->aux);
    out->b_aux_total = population(out->b_aux, circuit->aux);
    return CUZK_OK;
}

void cuzk_density_destroy(struct cuzk_density *density)
{
    if (density->a_inputs != NULL)
        cuzk_budget_free(density->budget, density->a_inputs, CUZK_PURPOSE_SHAPE, density->charged);
    *density = (struct cuzk_density){0};
}
