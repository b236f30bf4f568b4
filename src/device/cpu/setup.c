/* Setup on the processor: the circuit's polynomials at tau, and fixed-base multiplications.
 *
 * With w the domain's root of order n and Z = tau^n - 1, Lagrange polynomial i at tau is
 *     L_i = Z/n · w^i / (tau - w^i),
 * inverted in batches, so no transform is needed. Variable j then has A_j = sum over rows of its
 * coefficient times L_row (the matrix transposed times L), the same for B and C; Groth16's row
 * x_i·0 = 0 adds L_(rows + i) to A of input i. The key's scalars, in its order, are
 *     h: tau^i·Z/delta, i < n - 1      l: (beta·A_j + alpha·B_j + C_j)/delta over auxiliaries
 *     a: A_j that are not zero         b: B_j that are not zero
 * (Groth, EUROCRYPT 2016, section 3.2, in the arrangement of bellperson's generator.)
 */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "device/cpu/cpu.h"

typedef struct bls12_381_fr fr;

struct cpu_setup {
    struct cuzk_device_setup base;
    const struct cuzk_waste *waste;
    /* a and b squeezed to what is not zero; ext has inputs first, then auxiliaries. All secret. */
    fr *a, *b, *ext;
    uint64_t bytes; /* of each */
    fr h_factor;    /* Z/delta */
    fr l_factor;    /* 1/delta */
};

static const struct bls12_381_g1_affine g1_generator = {{{BLS12_381_G1_GENERATOR_X}},
                                                        {{BLS12_381_G1_GENERATOR_Y}}};
static const struct bls12_381_g2_affine g2_generator = {
    {{{BLS12_381_G2_GENERATOR_X_C0}}, {{BLS12_381_G2_GENERATOR_X_C1}}},
    {{{BLS12_381_G2_GENERATOR_Y_C0}}, {{BLS12_381_G2_GENERATOR_Y_C1}}}};

enum { LAGRANGE_CHUNK = 512 };
struct lagrange {
    const struct bls12_381_ops *curve;
    fr *out;
    size_t count;
    fr root, tau, factor; /* w, tau, Z/n */
};

static void lagrange_chunk(void *context, size_t index, unsigned worker)
{
    (void)worker;
    struct lagrange *l = context;
    size_t first = index * LAGRANGE_CHUNK, count = l->count - first;
    if (count > LAGRANGE_CHUNK)
        count = LAGRANGE_CHUNK;
    fr power, numerator[LAGRANGE_CHUNK], scratch[LAGRANGE_CHUNK], *out = l->out + first;
    bls12_381_fr_pow_u64(&power, &l->root, first);
    for (size_t i = 0; i < count; i++) {
        bls12_381_fr_mul(&numerator[i], &power, &l->factor);
        bls12_381_fr_sub(&out[i], &l->tau, &power);
        bls12_381_fr_mul(&power, &power, &l->root);
    }
    l->curve->fr_invert_vector(out, scratch, count);
    l->curve->fr_mul_vector(out, out, numerator, count);
    cuzk_wipe(scratch, sizeof scratch);
}

/* L_0 … L_(rows - 1) at tau. Fails where tau is in the domain. */
static cuzk_status lagrange(struct cpu_setup *setup, fr *out, struct cuzk_error *err)
{
    const struct cuzk_qap *qap = setup->base.qap;
    const struct cuzk_device *device = setup->base.device;
    fr power = setup->waste->tau, z, n, one = bls12_381_fr_one;
    for (unsigned i = 0; i < qap->log2_domain; i++)
        bls12_381_fr_sqr(&power, &power);
    bls12_381_fr_sub(&z, &power, &one);
    if (bls12_381_fr_is_zero(&z))
        return cuzk_fail(err, CUZK_E_ARGUMENT,
                         "setup: tau lies in the domain of 2^%u points; choose another",
                         qap->log2_domain);
    struct lagrange l = {.curve = device->config.curve,
                         .out = out,
                         .count = qap->rows,
                         .root = {{BLS12_381_FR_ROOT_OF_UNITY}},
                         .tau = setup->waste->tau};
    for (unsigned i = qap->log2_domain; i < BLS12_381_FR_TWO_ADICITY; i++)
        bls12_381_fr_sqr(&l.root, &l.root);
    bls12_381_fr_from_u64(&n, (uint64_t)1 << qap->log2_domain);
    bls12_381_fr_inv(&n, &n);
    bls12_381_fr_mul(&l.factor, &z, &n);
    bls12_381_fr_inv(&setup->l_factor, &setup->waste->delta);
    bls12_381_fr_mul(&setup->h_factor, &z, &setup->l_factor);
    cuzk_threads_for(device->config.threads, (l.count + LAGRANGE_CHUNK - 1) / LAGRANGE_CHUNK,
                     lagrange_chunk, &l);
    return CUZK_OK;
}

enum { COMBINE_CHUNK = 4096, KEY_CHUNK = 1 << 17 };
struct combine {
    fr *a, *b, *ext;
    size_t count;
    const struct cuzk_waste *waste;
};

static void combine_chunk(void *context, size_t index, unsigned worker)
{
    (void)worker;
    struct combine *c = context;
    size_t first = index * COMBINE_CHUNK, end = first + COMBINE_CHUNK;
    for (size_t i = first; i < end && i < c->count; i++) {
        fr t;
        bls12_381_fr_mul(&t, &c->a[i], &c->waste->beta);
        bls12_381_fr_add(&c->ext[i], &c->ext[i], &t);
        bls12_381_fr_mul(&t, &c->b[i], &c->waste->alpha);
        bls12_381_fr_add(&c->ext[i], &c->ext[i], &t);
    }
}

/* Moves the elements that are not zero to the front; their number. */
static uint32_t squeeze(fr *v, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!bls12_381_fr_is_zero(&v[i]))
            v[kept++] = v[i];
    return (uint32_t)kept;
}

static cuzk_status evaluate(struct cpu_setup *setup, struct cuzk_error *err)
{
    const struct cuzk_qap *qap = setup->base.qap;
    const struct cuzk_circuit *circuit = qap->circuit;
    struct cuzk_budget *host = setup->base.device->config.host;
    struct cuzk_threads *threads = setup->base.device->config.threads;
    size_t variables = (size_t)circuit->inputs + circuit->aux;
    uint64_t bytes = sizeof(fr) * (uint64_t)qap->rows;
    void *at = NULL;
    cuzk_status status = cuzk_budget_alloc(host, &at, CUZK_PURPOSE_SETUP, bytes, err);
    if (status == CUZK_OK)
        status = lagrange(setup, at, err);
    if (status == CUZK_OK) {
        fr *out[3] = {setup->a, setup->b, setup->ext};
        cuzk_circuit_transpose_multiply(out, circuit, at, threads);
        for (uint32_t i = 0; i < circuit->inputs; i++)
            bls12_381_fr_add(&setup->a[i], &setup->a[i], (fr *)at + circuit->rows + i);
    }
    if (at != NULL)
        cuzk_wipe(at, bytes);
    cuzk_budget_free(host, at, CUZK_PURPOSE_SETUP, bytes);
    if (status != CUZK_OK)
        return status;

    struct combine c = {setup->a, setup->b, setup->ext, variables, setup->waste};
    cuzk_threads_for(threads, (variables + COMBINE_CHUNK - 1) / COMBINE_CHUNK, combine_chunk, &c);
    for (size_t i = circuit->inputs; i < variables; i++)
        if (bls12_381_fr_is_zero(&setup->ext[i]))
            return cuzk_fail(
                err, CUZK_E_UNSUPPORTED,
                "%s: auxiliary variable %zu is in no constraint, so no proof binds it; "
                "remove it from the circuit",
                circuit->name, i - circuit->inputs);
    uint32_t *count = setup->base.count;
    count[CUZK_H] = (uint32_t)(((uint64_t)1 << qap->log2_domain) - 1);
    count[CUZK_L] = circuit->aux;
    count[CUZK_QUERY_A] = squeeze(setup->a, variables);
    count[CUZK_QUERY_B1] = count[CUZK_QUERY_B2] = squeeze(setup->b, variables);
    if (count[CUZK_QUERY_A] != qap->a.count || count[CUZK_QUERY_B1] != qap->b.count)
        return cuzk_fail(err, CUZK_E_ARGUMENT,
                         "%s: a polynomial of the circuit vanishes at tau; choose another",
                         circuit->name);
    return CUZK_OK;
}

cuzk_status cuzk_cpu_setup_start(struct cuzk_device *device, struct cuzk_device_setup **out,
                                 const struct cuzk_device_circuit *circuit,
                                 const struct cuzk_waste *waste, struct cuzk_error *err)
{
    *out = NULL;
    const struct cuzk_qap *qap = circuit->qap;
    struct cpu_setup *setup = cuzk_calloc(1, sizeof *setup);
    if (setup == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "%s: out of memory", qap->circuit->name);
    setup->base.device = device;
    setup->base.qap = qap;
    setup->waste = waste;
    setup->bytes = sizeof(fr) * ((uint64_t)qap->circuit->inputs + qap->circuit->aux);
    fr **vectors[3] = {&setup->a, &setup->b, &setup->ext};
    cuzk_status status = CUZK_OK;
    for (int m = 0; m < 3 && status == CUZK_OK; m++) {
        void *p;
        status = cuzk_budget_alloc(device->config.host, &p, CUZK_PURPOSE_SETUP, setup->bytes, err);
        *vectors[m] = p;
    }
    if (status == CUZK_OK)
        status = evaluate(setup, err);
    if (status != CUZK_OK) {
        cuzk_cpu_setup_end(&setup->base);
        return status;
    }
    *out = &setup->base;
    return CUZK_OK;
}

void cuzk_cpu_setup_end(struct cuzk_device_setup *base)
{
    if (base == NULL)
        return;
    struct cpu_setup *setup = (struct cpu_setup *)base;
    fr *vectors[3] = {setup->a, setup->b, setup->ext};
    for (int m = 0; m < 3; m++) {
        if (vectors[m] != NULL)
            cuzk_wipe(vectors[m], setup->bytes);
        cuzk_budget_free(base->device->config.host, vectors[m], CUZK_PURPOSE_SETUP, setup->bytes);
    }
    cuzk_wipe(setup, sizeof *setup);
    cuzk_free(setup);
}

cuzk_status cuzk_cpu_setup_inputs(struct cuzk_device_setup *base, struct bls12_381_fr *out,
                                  struct cuzk_error *err)
{
    (void)err;
    const struct cpu_setup *setup = (const struct cpu_setup *)base;
    memcpy(out, setup->ext, base->qap->circuit->inputs * sizeof *out);
    return CUZK_OK;
}

/* Scalars of h and l made for one chunk, over the threads. */
struct scalars {
    const struct cpu_setup *setup;
    enum cuzk_section section;
    size_t first, count;
    fr *out;
};

static void scalars_chunk(void *context, size_t index, unsigned worker)
{
    (void)worker;
    struct scalars *s = context;
    const struct cpu_setup *setup = s->setup;
    size_t begin = index * COMBINE_CHUNK, end = begin + COMBINE_CHUNK;
    if (end > s->count)
        end = s->count;
    if (s->section == CUZK_H) {
        fr x;
        bls12_381_fr_pow_u64(&x, &setup->waste->tau, s->first + begin);
        bls12_381_fr_mul(&x, &x, &setup->h_factor);
        for (size_t i = begin; i < end; i++) {
            s->out[i] = x;
            bls12_381_fr_mul(&x, &x, &setup->waste->tau);
        }
    } else {
        const fr *ext = setup->ext + setup->base.qap->circuit->inputs + s->first;
        setup->base.device->config.curve->fr_scale_vector(s->out + begin, ext + begin,
                                                          &setup->l_factor, end - begin);
    }
}

cuzk_status cuzk_cpu_setup_scalars(const struct cuzk_device_setup *base, const fr **out,
                                   void **made, enum cuzk_section section, size_t first,
                                   size_t count, struct cuzk_error *err)
{
    const struct cpu_setup *setup = (const struct cpu_setup *)base;
    struct cuzk_run run = cpu_run(base->device);
    *made = NULL;
    if (section != CUZK_H && section != CUZK_L) {
        *out = (section == CUZK_QUERY_A ? setup->a : setup->b) + first;
        return CUZK_OK;
    }
    cuzk_status status =
        cuzk_budget_alloc(run.budget, made, CUZK_PURPOSE_SETUP, sizeof(fr) * (uint64_t)count, err);
    if (status != CUZK_OK)
        return status;
    struct scalars s = {setup, section, first, count, *made};
    cuzk_threads_for(run.threads, (count + COMBINE_CHUNK - 1) / COMBINE_CHUNK, scalars_chunk, &s);
    *out = *made;
    return CUZK_OK;
}

void cuzk_cpu_setup_scalars_free(const struct cuzk_device_setup *base, void *made, size_t count)
{
    uint64_t bytes = sizeof(fr) * (uint64_t)count;
    if (made != NULL)
        cuzk_wipe(made, bytes);
    cuzk_budget_free(base->device->config.host, made, CUZK_PURPOSE_SETUP, bytes);
}

cuzk_status cuzk_cpu_setup_g1(struct cuzk_device_setup *base, struct bls12_381_g1_affine *out,
                              enum cuzk_section section, size_t first, size_t count,
                              struct cuzk_error *err)
{
    struct cuzk_run run = cpu_run(base->device);
    void *made;
    const fr *scalars;
    cuzk_status status = cuzk_cpu_setup_scalars(base, &scalars, &made, section, first, count, err);
    if (status == CUZK_OK)
        status = base->device->config.curve->g1_fixed_base(out, &g1_generator, scalars, count, &run,
                                                           err);
    cuzk_cpu_setup_scalars_free(base, made, count);
    return status;
}

cuzk_status cuzk_cpu_setup_g2(struct cuzk_device_setup *base, struct bls12_381_g2_affine *out,
                              size_t first, size_t count, struct cuzk_error *err)
{
    const struct cpu_setup *setup = (const struct cpu_setup *)base;
    struct cuzk_run run = cpu_run(base->device);
    return base->device->config.curve->g2_fixed_base(out, &g2_generator, setup->b + first, count,
                                                     &run, err);
}

cuzk_status cuzk_cpu_setup_key(struct cuzk_device_setup *setup, struct cuzk_device_key **out,
                               struct cuzk_error *err)
{
    *out = NULL;
    struct cpu_key *key = cuzk_calloc(1, sizeof *key);
    if (key == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "%s: out of memory", setup->qap->circuit->name);
    key->base.device = setup->device;
    memcpy(key->count, setup->count, sizeof key->count);
    cuzk_status status = CUZK_OK;
    for (int s = 0; status == CUZK_OK && s < CUZK_SECTIONS; s++) {
        enum cuzk_section section = (enum cuzk_section)s;
        status = cuzk_cpu_key_section(key, section, err);
        for (size_t first = 0; status == CUZK_OK && first < key->count[s]; first += KEY_CHUNK) {
            size_t count = key->count[s] - first < KEY_CHUNK ? key->count[s] - first : KEY_CHUNK;
            status = section == CUZK_QUERY_B2
                         ? cuzk_cpu_setup_g2(setup, key->g2 + first, first, count, err)
                         : cuzk_cpu_setup_g1(setup, key->g1[s] + first, section, first, count, err);
        }
    }
    if (status != CUZK_OK) {
        cuzk_cpu_key_free(&key->base);
        return status;
    }
    *out = &key->base;
    return CUZK_OK;
}
