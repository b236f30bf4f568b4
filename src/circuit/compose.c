/* See gadget.h. */
#include "base/alloc.h"
#include "circuit/gadget.h"

#include <stdio.h>
#include <string.h>

struct cuzk_composer {
    struct cuzk_cs *cs;
    struct cuzk_builder *builder;
    const struct cuzk_circuit *circuit; /* filling */
    struct cuzk_witness *witness;
    uint32_t next_instance, next_input;
    uint32_t *ports; /* building: the tags with the constant one before them */
};

cuzk_status cuzk_composer_create(struct cuzk_composer **out, struct cuzk_builder *builder,
                                 const struct cuzk_circuit *circuit, struct cuzk_witness *witness,
                                 struct cuzk_error *err)
{
    *out = NULL;
    struct cuzk_composer *k = cuzk_calloc(1, sizeof *k);
    if (k == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "no memory for a composer");
    cuzk_status status = cs_create(&k->cs, err);
    if (status == CUZK_OK) {
        k->ports = cuzk_calloc(CUZK_TEMPLATE_VARIABLES, sizeof *k->ports);
        if (k->ports == NULL)
            status = cuzk_fail(err, CUZK_E_MEMORY, "no memory for a composer");
    }
    if (status != CUZK_OK) {
        cuzk_composer_destroy(k);
        return status;
    }
    k->builder = builder;
    k->circuit = circuit;
    k->witness = witness;
    k->next_input = 1;
    k->cs->recording = builder != NULL;
    k->cs->fast = true;
    k->cs->builder = builder;
    k->cs->circuit = circuit;
    k->cs->witness = witness;
    *out = k;
    return CUZK_OK;
}

void cuzk_composer_destroy(struct cuzk_composer *k)
{
    if (k == NULL)
        return;
    cs_destroy(k->cs);
    cuzk_free(k->ports);
    cuzk_free(k);
}

void cuzk_composer_slow(struct cuzk_composer *k)
{
    k->cs->fast = false;
}

static cuzk_status record(struct cuzk_composer *k, uint32_t *number,
                          const struct cuzk_gadget *gadget, uint64_t parameter, uint32_t port_count,
                          struct cuzk_error *err)
{
    struct cuzk_cs *cs = k->cs;
    if (cuzk_builder_find(k->builder, number, gadget, parameter))
        return CUZK_OK;
    cuzk_status status = cuzk_builder_begin(k->builder, err);
    if (status != CUZK_OK)
        return status;
    cs->ports = 1 + port_count;
    cs->allocated = cs->output_count = 0;
    gadget->run(cs, parameter);
    if (cs->status != CUZK_OK) {
        if (err != NULL)
            *err = cs->error;
        return cs->status;
    }
    char name[48];
    if (gadget->label != NULL)
        gadget->label(name, sizeof name, parameter);
    else
        (void)snprintf(name, sizeof name, "%s", gadget->name);
    status = cuzk_builder_end(k->builder, number, name, cs->ports, cs->allocated, cs->boolean, err);
    if (status == CUZK_OK)
        status = cuzk_builder_set_gadget(k->builder, *number, gadget, parameter, cs->outputs,
                                         cs->output_count, err);
    return status;
}

static cuzk_status build(struct cuzk_composer *k, const struct cuzk_gadget *gadget,
                         uint64_t parameter, const uint32_t *ports, uint32_t port_count,
                         uint32_t *first_aux, const struct cuzk_template **template,
                         struct cuzk_error *err)
{
    uint32_t number;
    if (port_count >= CUZK_TEMPLATE_VARIABLES)
        return cuzk_fail(err, CUZK_E_INTERNAL, "%s: too many ports", gadget->name);
    k->ports[0] = CS_ONE;
    if (port_count != 0)
        memcpy(k->ports + 1, ports, port_count * sizeof *ports);
    cuzk_status status = record(k, &number, gadget, parameter, port_count, err);
    if (status == CUZK_OK)
        status = cuzk_builder_instance(k->builder, first_aux, number, k->ports, err);
    if (status == CUZK_OK)
        *template = cuzk_builder_template(k->builder, number);
    return status;
}

static cuzk_status fill(struct cuzk_composer *k, const struct cuzk_gadget *gadget,
                        uint64_t parameter, uint32_t port_count, const struct cs_advice *advice,
                        uint32_t *first_aux, const struct cuzk_template **template,
                        struct cuzk_error *err)
{
    struct cuzk_cs *cs = k->cs;
    const struct cuzk_instance *instance = &k->circuit->instances[k->next_instance];
    if (k->next_instance == k->circuit->instance_count)
        return cuzk_fail(err, CUZK_E_INTERNAL, "%s: the circuit has no such instance",
                         gadget->name);
    const struct cuzk_template *t = &k->circuit->templates[instance->template_number];
    if (t->gadget != gadget || t->parameter != parameter || t->ports != port_count + 1)
        return cuzk_fail(err, CUZK_E_INTERNAL, "instance %u of the circuit is \"%s\", not \"%s\"",
                         k->next_instance, t->name, gadget->name);
    cs->ports = t->ports;
    cs->allocated = 0;
    cs->tags = k->circuit->ports + instance->first_port;
    cs->next_aux = instance->first_aux;
    cs->next_dense = instance->first_dense;
    cs->advice = advice != NULL ? *advice : (struct cs_advice){0};
    cs->breach = false;
    gadget->run(cs, parameter);
    if (cs->status != CUZK_OK) {
        if (err != NULL)
            *err = cs->error;
        return cs->status;
    }
    if (cs->allocated != t->own || cs->next_dense - instance->first_dense != t->own_dense)
        return cuzk_fail(err, CUZK_E_INTERNAL, "\"%s\" allocated %u variables, its template has %u",
                         gadget->name, cs->allocated, t->own);
    k->next_instance++;
    *first_aux = instance->first_aux;
    *template = t;
    return CUZK_OK;
}

cuzk_status cuzk_compose(struct cuzk_composer *k, const struct cuzk_gadget *gadget,
                         uint64_t parameter, const uint32_t *ports, uint32_t port_count,
                         const struct cs_advice *advice, uint32_t *outputs, uint32_t output_count,
                         struct cuzk_error *err)
{
    uint32_t first_aux = 0;
    const struct cuzk_template *t = NULL;
    cuzk_status status = k->builder != NULL
                             ? build(k, gadget, parameter, ports, port_count, &first_aux, &t, err)
                             : fill(k, gadget, parameter, port_count, advice, &first_aux, &t, err);
    if (status != CUZK_OK)
        return status;
    if (outputs == NULL)
        return CUZK_OK;
    if (t->output_count != output_count)
        return cuzk_fail(err, CUZK_E_INTERNAL, "\"%s\" gives %u variables, not %u", gadget->name,
                         t->output_count, output_count);
    for (uint32_t i = 0; i < output_count; i++)
        outputs[i] = 2 * (first_aux + t->outputs[i]) + 1;
    return CUZK_OK;
}

cuzk_status cuzk_compose_input(struct cuzk_composer *k, uint32_t *tag, struct cuzk_error *err)
{
    uint32_t number = k->next_input;
    cuzk_status status = CUZK_OK;
    if (k->builder != NULL)
        status = cuzk_builder_input(k->builder, &number, err);
    else if (number >= k->circuit->inputs)
        status = cuzk_fail(err, CUZK_E_INTERNAL, "the circuit has no input %u", number);
    k->next_input++;
    *tag = 2 * number;
    return status;
}

bool cuzk_composer_breach(const struct cuzk_composer *k)
{
    return k->cs->breach;
}

void cuzk_composer_value(const struct cuzk_composer *k, fr *out, uint32_t tag)
{
    cuzk_witness_get(out, k->witness, k->circuit, tag);
}

bool cuzk_composer_filling(const struct cuzk_composer *k)
{
    return k->builder == NULL;
}

bool cuzk_composer_done(const struct cuzk_composer *k)
{
    return k->next_instance == k->circuit->instance_count && k->next_input == k->circuit->inputs;
}
