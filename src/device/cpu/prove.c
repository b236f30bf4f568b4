/* A proof on the processor.
 *
 * Start: A·w and B·w by templates, h by six transforms, h's multi-exponentiation. Finish: the four
 * over the witness. Memory at its peak is three vectors over the domain and the transforms'
 * twiddles; two of them go back as soon as h is there, the third after its multi-exponentiation. A
 * streamed key's points are decoded from the mapped file in the pieces that the
 * multi-exponentiation asks for, so that they never exist all at once.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/os.h"
#include "device/cpu/cpu.h"
#include "poly/ntt.h"

struct cpu_pending {
    struct cuzk_pending base;
    struct bls12_381_g1 h;
    enum cuzk_fault fault;
};

struct section_source {
    const struct cuzk_params *params;
    enum cuzk_section section;
};

static cuzk_status fetch_g1(void *context, struct bls12_381_g1_affine *out, size_t first,
                            size_t count, struct cuzk_error *err)
{
    const struct section_source *s = context;
    return cuzk_params_g1(s->params, s->section, out, first, count, err);
}

static cuzk_status fetch_g2(void *context, struct bls12_381_g2_affine *out, size_t first,
                            size_t count, struct cuzk_error *err)
{
    const struct section_source *s = context;
    return cuzk_params_g2(s->params, out, first, count, err);
}

/* Tells the kernel which pages of a streamed key come next, so that a key that is not in memory is
 * read while something else is computed. */
static void want(const struct cuzk_device_key *base, enum cuzk_section section)
{
    const struct cuzk_params *params = base->params;
    if (params != NULL && base->resident == 0)
        cuzk_os_map_want(&params->file, params->offset[section],
                         params->count[section] *
                             (uint64_t)(section == CUZK_QUERY_B2 ? CUZK_G2_BYTES : CUZK_G1_BYTES));
}

/* One multi-exponentiation over a section of the key; its time goes to *seconds. */
static cuzk_status section_g1(const struct cuzk_device *device, const struct cuzk_device_key *base,
                              struct bls12_381_g1 *out, enum cuzk_section section,
                              const struct bls12_381_scalars *scalars, double *seconds,
                              struct cuzk_error *err)
{
    const struct cpu_key *key = (const struct cpu_key *)base;
    struct cuzk_run run = cpu_run(device);
    struct section_source context = {.params = base->params, .section = section};
    struct bls12_381_g1_source source = {
        .points = key->g1[section], .fetch = fetch_g1, .context = &context};
    double start = cuzk_os_seconds();
    cuzk_status status =
        device->config.curve->g1_msm(out, &source, scalars, key->count[section], &run, err);
    *seconds += cuzk_os_seconds() - start;
    return status;
}

static cuzk_status section_g2(const struct cuzk_device *device, const struct cuzk_device_key *base,
                              struct bls12_381_g2 *out, const struct bls12_381_scalars *scalars,
                              double *seconds, struct cuzk_error *err)
{
    const struct cpu_key *key = (const struct cpu_key *)base;
    struct cuzk_run run = cpu_run(device);
    struct section_source context = {.params = base->params, .section = CUZK_QUERY_B2};
    struct bls12_381_g2_source source = {.points = key->g2, .fetch = fetch_g2, .context = &context};
    double start = cuzk_os_seconds();
    cuzk_status status =
        device->config.curve->g2_msm(out, &source, scalars, key->count[CUZK_QUERY_B2], &run, err);
    *seconds += cuzk_os_seconds() - start;
    return status;
}

/* Either the three vectors and the transforms' tables, or one vector and the scratch of the multi-
 * exponentiation over it: some kilobytes a point for small ones, bounded for large ones (curve/
 * msm.inc.h works through chunks), and each thread's batch. A test holds this against the account.
 */
void cuzk_cpu_prove_needs(const struct cuzk_device_circuit *circuit,
                          const struct cuzk_device_key *key, uint64_t bytes[2])
{
    (void)key;
    uint64_t n = (uint64_t)1 << circuit->qap->log2_domain;
    uint64_t vector = n * sizeof(struct bls12_381_fr), tables = (uint64_t)1 << 20;
    uint64_t msm = ((uint64_t)4 << 20) + 2048 * n, most = (uint64_t)192 << 20;
    uint64_t batches = (uint64_t)cuzk_threads_count(circuit->device->config.threads) << 20;
    uint64_t first = 3 * vector + tables, second = vector + batches + (msm < most ? msm : most);
    bytes[0] = first > second ? first : second;
    bytes[1] = 0;
}

static void flip(struct cpu_pending *pending, enum cuzk_fault place, uint64_t *word)
{
    if (pending->fault == place)
        *word ^= 1;
}

/* h's coefficients in *out: 2^log2_domain elements charged to CUZK_PURPOSE_ABC. */
static cuzk_status quotient(struct bls12_381_fr **out, struct cpu_pending *pending,
                            struct cuzk_stages *stages, struct cuzk_error *err)
{
    const struct cuzk_qap *qap = pending->base.circuit->qap;
    const struct cuzk_circuit *circuit = qap->circuit;
    const struct cuzk_witness *witness = pending->base.witness;
    struct cuzk_run run = cpu_run(pending->base.device);
    uint64_t bytes = sizeof(struct bls12_381_fr) << qap->log2_domain;
    struct cuzk_ntt *ntt = NULL;
    void *v[3] = {NULL, NULL, NULL};
    cuzk_status status = CUZK_OK;
    for (int m = 0; m < 3 && status == CUZK_OK; m++)
        status = cuzk_budget_alloc(run.budget, &v[m], CUZK_PURPOSE_ABC, bytes, err);
    if (status == CUZK_OK)
        status = cuzk_ntt_create(&ntt, qap->log2_domain, &run, err);
    if (status != CUZK_OK)
        goto done;
    struct bls12_381_fr *a = v[CUZK_A], *b = v[CUZK_B];
    double start = cuzk_os_seconds();
    cuzk_circuit_multiply(a, circuit, witness, CUZK_A, 0, circuit->rows, run.threads);
    cuzk_circuit_multiply(b, circuit, witness, CUZK_B, 0, circuit->rows, run.threads);
    memcpy(a + circuit->rows, witness->inputs, circuit->inputs * sizeof *a);
    double middle = cuzk_os_seconds();
    flip(pending, CUZK_FAULT_NTT, &a->l[0]);
    cuzk_ntt_quotient(ntt, a, b, v[CUZK_C], &run);
    flip(pending, CUZK_FAULT_H, &a->l[0]);
    stages->seconds[CUZK_STAGE_MULTIPLY] += middle - start;
    stages->seconds[CUZK_STAGE_QUOTIENT] += cuzk_os_seconds() - middle;
    *out = a;
    v[CUZK_A] = NULL;
done:
    cuzk_ntt_destroy(ntt);
    for (int m = 0; m < 3; m++)
        cuzk_budget_free(run.budget, v[m], CUZK_PURPOSE_ABC, bytes);
    return status;
}

cuzk_status cuzk_cpu_prove_start(struct cuzk_device *device, struct cuzk_pending **out,
                                 const struct cuzk_device_key *key,
                                 const struct cuzk_device_circuit *circuit,
                                 struct cuzk_witness *witness, struct cuzk_stages *stages,
                                 struct cuzk_error *err)
{
    *out = NULL;
    struct cpu_pending *pending = cuzk_calloc(1, sizeof *pending);
    if (pending == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "%s: out of memory", circuit->qap->circuit->name);
    pending->base =
        (struct cuzk_pending){.device = device, .circuit = circuit, .key = key, .witness = witness};
    pending->fault =
        (enum cuzk_fault)atomic_exchange(&((struct cpu_device *)device)->fault, CUZK_FAULT_NONE);
    struct bls12_381_fr *h = NULL;
    want(key, CUZK_H);
    cuzk_status status = quotient(&h, pending, stages, err);
    if (status == CUZK_OK) {
        struct bls12_381_scalars scalars = {.values = h};
        want(key, CUZK_L);
        status = section_g1(device, key, &pending->h, CUZK_H, &scalars,
                            &stages->seconds[CUZK_STAGE_MSM_H], err);
        cuzk_budget_free(device->config.host, h, CUZK_PURPOSE_ABC,
                         sizeof *h << circuit->qap->log2_domain);
    }
    if (status != CUZK_OK) {
        cuzk_free(pending);
        return status;
    }
    *out = &pending->base;
    return CUZK_OK;
}

/* The scalars of a query, in memory charged to CUZK_PURPOSE_WITNESS; they are secret. */
struct gathered {
    struct cuzk_budget *budget;
    uint64_t bit_bytes, value_bytes;
    void *bits, *values;
};

static void gathered_free(struct gathered *g)
{
    if (g->values != NULL)
        cuzk_wipe(g->values, g->value_bytes);
    cuzk_budget_free(g->budget, g->bits, CUZK_PURPOSE_WITNESS, g->bit_bytes);
    cuzk_budget_free(g->budget, g->values, CUZK_PURPOSE_WITNESS, g->value_bytes);
    g->bits = g->values = NULL;
}

static cuzk_status gather(struct gathered *g, struct bls12_381_scalars *scalars,
                          const struct cuzk_pending *pending, const struct cuzk_query *query,
                          struct cuzk_error *err)
{
    *g = (struct gathered){.budget = pending->device->config.host,
                           .bit_bytes = 8 * (uint64_t)cuzk_words(query->count),
                           .value_bytes = sizeof(struct bls12_381_fr) * (uint64_t)query->dense};
    cuzk_status status =
        cuzk_budget_alloc(g->budget, &g->bits, CUZK_PURPOSE_WITNESS, g->bit_bytes, err);
    if (status == CUZK_OK)
        status =
            cuzk_budget_alloc(g->budget, &g->values, CUZK_PURPOSE_WITNESS, g->value_bytes, err);
    if (status != CUZK_OK) {
        gathered_free(g);
        return status;
    }
    cuzk_query_gather(g->bits, g->values, pending->circuit->qap, query, pending->witness);
    *scalars =
        (struct bls12_381_scalars){.is_bit = query->is_bit, .bits = g->bits, .values = g->values};
    return CUZK_OK;
}

cuzk_status cuzk_cpu_prove_finish(struct cuzk_pending *base, struct cuzk_sums *out,
                                  struct cuzk_stages *stages, struct cuzk_error *err)
{
    struct cpu_pending *pending = (struct cpu_pending *)base;
    const struct cuzk_qap *qap = base->circuit->qap;
    const struct cuzk_device *device = base->device;
    double *seconds = stages->seconds;
    struct cuzk_sums sums = {.h = pending->h};
    struct gathered g = {0};
    struct bls12_381_scalars scalars = {.is_bit = qap->circuit->boolean,
                                        .bits = base->witness->bits,
                                        .values = base->witness->values};
    memset(out, 0, sizeof *out);
    for (int s = CUZK_QUERY_A; s < CUZK_SECTIONS; s++)
        want(base->key, (enum cuzk_section)s);
    cuzk_status status =
        section_g1(device, base->key, &sums.l, CUZK_L, &scalars, &seconds[CUZK_STAGE_MSM_L], err);
    if (status == CUZK_OK)
        status = gather(&g, &scalars, base, &qap->a, err);
    if (status == CUZK_OK)
        status = section_g1(device, base->key, &sums.a, CUZK_QUERY_A, &scalars,
                            &seconds[CUZK_STAGE_MSM_A], err);
    gathered_free(&g);
    if (status == CUZK_OK)
        status = gather(&g, &scalars, base, &qap->b, err);
    if (status == CUZK_OK)
        status = section_g1(device, base->key, &sums.b1, CUZK_QUERY_B1, &scalars,
                            &seconds[CUZK_STAGE_MSM_B1], err);
    if (status == CUZK_OK)
        status =
            section_g2(device, base->key, &sums.b2, &scalars, &seconds[CUZK_STAGE_MSM_B2], err);
    gathered_free(&g);
    flip(pending, CUZK_FAULT_BUCKET, &sums.l.x.l[0]);
    if (status == CUZK_OK)
        *out = sums;
    return status;
}

void cuzk_cpu_pending_free(struct cuzk_pending *pending)
{
    if (pending == NULL)
        return;
    cuzk_witness_destroy(pending->witness);
    cuzk_free(pending);
}
