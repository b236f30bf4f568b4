/* See circuit.h: the circuit's and the witness's memory, and single values. */
#include "circuit/circuit.h"

#include "base/alloc.h"

void cuzk_circuit_destroy(struct cuzk_circuit *circuit)
{
    if (circuit == NULL)
        return;
    for (uint32_t i = 0; i < circuit->template_count; i++) {
        struct cuzk_template *t = &circuit->templates[i];
        for (int m = 0; m < 3; m++) {
            cuzk_free(t->start[m]);
            cuzk_free(t->terms[m]);
        }
        cuzk_free(t->boolean);
        cuzk_free(t->rank);
        cuzk_free(t->outputs);
    }
    cuzk_free(circuit->templates);
    cuzk_free(circuit->instances);
    cuzk_free(circuit->ports);
    cuzk_free(circuit->coefficients);
    cuzk_free(circuit->boolean);
    cuzk_free(circuit->rank);
    cuzk_budget_release(circuit->budget, CUZK_PURPOSE_SHAPE, circuit->charged);
    cuzk_free(circuit);
}

/* Words of bits: one more than needed, so that a run of bits may be written word by word. */
static uint64_t bits_bytes(uint32_t aux)
{
    return ((uint64_t)aux / 64 + 2) * sizeof(uint64_t);
}

cuzk_status cuzk_witness_create(struct cuzk_witness **out, const struct cuzk_circuit *circuit,
                                struct cuzk_budget *budget, struct cuzk_error *err)
{
    *out = NULL;
    struct cuzk_witness *w = cuzk_calloc(1, sizeof *w);
    if (w == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "no memory for a witness");
    w->budget = budget;
    w->input_count = circuit->inputs;
    w->aux_count = circuit->aux;
    w->dense_count = circuit->dense;
    void *inputs = NULL, *bits = NULL, *values = NULL;
    cuzk_status status = cuzk_budget_alloc(budget, &inputs, CUZK_PURPOSE_WITNESS,
                                           w->input_count * sizeof *w->inputs, err);
    w->inputs = inputs;
    if (status == CUZK_OK)
        status =
            cuzk_budget_alloc(budget, &bits, CUZK_PURPOSE_WITNESS, bits_bytes(w->aux_count), err);
    w->bits = bits;
    if (status == CUZK_OK)
        status = cuzk_budget_alloc(budget, &values, CUZK_PURPOSE_WITNESS,
                                   w->dense_count * sizeof *w->values, err);
    w->values = values;
    if (status != CUZK_OK) {
        cuzk_witness_destroy(w);
        return status;
    }
    w->charged = w->input_count * sizeof *w->inputs + bits_bytes(w->aux_count) +
                 w->dense_count * sizeof *w->values;
    w->inputs[0] = bls12_381_fr_one;
    *out = w;
    return CUZK_OK;
}

static void wipe_free(struct cuzk_budget *budget, void *p, uint64_t bytes)
{
    if (p == NULL)
        return;
    cuzk_wipe(p, bytes);
    cuzk_budget_free(budget, p, CUZK_PURPOSE_WITNESS, bytes);
}

void cuzk_witness_destroy(struct cuzk_witness *witness)
{
    if (witness == NULL)
        return;
    wipe_free(witness->budget, witness->inputs, witness->input_count * sizeof *witness->inputs);
    wipe_free(witness->budget, witness->bits, bits_bytes(witness->aux_count));
    wipe_free(witness->budget, witness->values, witness->dense_count * sizeof *witness->values);
    cuzk_free(witness);
}

void cuzk_witness_get(struct bls12_381_fr *out, const struct cuzk_witness *witness,
                      const struct cuzk_circuit *circuit, uint32_t tag)
{
    uint32_t i = tag / 2;
    if ((tag & 1) == 0) {
        *out = witness->inputs[i];
        return;
    }
    if (circuit->boolean[i / 64] >> (i % 64) & 1) {
        *out = witness->bits[i / 64] >> (i % 64) & 1 ? bls12_381_fr_one : bls12_381_fr_zero;
        return;
    }
    uint32_t rank = circuit->rank[i / 512];
    for (uint32_t w = i / 512 * 8; w < i / 64; w++)
        rank += (uint32_t)__builtin_popcountll(~circuit->boolean[w]);
    uint64_t below = ((uint64_t)1 << (i % 64)) - 1;
    rank += (uint32_t)__builtin_popcountll(~circuit->boolean[i / 64] & below);
    *out = witness->values[rank];
}
