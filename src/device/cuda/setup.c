/* Setup on a CUDA device: the circuit's polynomials at tau from the templates, then fixed-base
 * multiplications; the formulas are those of cpu/setup.c, and so are the bytes.
 *
 * The Lagrange values at tau are one inverse transform of tau's powers (value i is tau^i at w^i, so
 * coefficient j is 1/n · sum of tau^i w^(-ij) = L_j(tau)). What is secret is cleared on the device
 * before its memory goes back to the pool; the kernels' scratch is cleared when the pool gives it
 * back, at the end of the setup or, where it shares a chunk with what stays, of the device.
 */
#include <string.h>

#include "base/alloc.h"
#include "device/cuda/backend.h"
#include "device/cuda/setup_vectors.h"

typedef struct bls12_381_fr fr;

struct cuda_setup {
    struct cuzk_device_setup base;
    const struct cuda_circuit *circuit;
    const struct cuzk_waste *waste;
    /* on the device: a and b squeezed to what is not zero; ext has inputs first, then auxiliaries
     */
    void *a, *b, *ext;
    fr h_factor, l_factor; /* (tau^n - 1)/delta, 1/delta */
};

static const struct bls12_381_g1_affine g1_generator = {{{BLS12_381_G1_GENERATOR_X}},
                                                        {{BLS12_381_G1_GENERATOR_Y}}};
static const struct bls12_381_g2_affine g2_generator = {
    {{{BLS12_381_G2_GENERATOR_X_C0}}, {{BLS12_381_G2_GENERATOR_X_C1}}},
    {{{BLS12_381_G2_GENERATOR_Y_C0}}, {{BLS12_381_G2_GENERATOR_Y_C1}}}};

enum { SETUP_CHUNK = 1 << 22 }; /* points made at once */

static void drop(struct cuzk_cuda *cuda, void **p, uint64_t bytes)
{
    if (*p != NULL)
        (void)cuzk_cuda_clear(cuda, *p, bytes, NULL);
    cuzk_cuda_free(cuda, *p);
    *p = NULL;
}

/* A vector of the setup on the device. */
static cuzk_status vector(struct cuzk_cuda *cuda, void **out, uint64_t count,
                          struct cuzk_error *err)
{
    return cuzk_cuda_alloc(cuda, out, CUZK_PURPOSE_SETUP, sizeof(fr) * (count != 0 ? count : 1),
                           err);
}

/* M transposed times the Lagrange values, in *out; A has Groth16's input rows. */
static cuzk_status polynomial(struct cuda_setup *setup, void **out,
                              const struct cuzk_cuda_columns *columns, const void *at, int which,
                              struct cuzk_error *err)
{
    const struct cuzk_circuit *circuit = setup->base.qap->circuit;
    struct cuzk_cuda *cuda = cuda_of(setup->base.device)->cuda;
    cuzk_status status = vector(cuda, out, (uint64_t)circuit->inputs + circuit->aux, err);
    if (status == CUZK_OK)
        status = cuzk_cuda_columns_multiply(cuda, *out, columns, at, which, err);
    if (status == CUZK_OK && which == CUZK_A)
        status = cuzk_cuda_add(cuda, *out, (const fr *)at + circuit->rows, circuit->inputs, err);
    return status;
}

static cuzk_status squeeze(struct cuda_setup *setup, void **v, uint64_t variables,
                           uint32_t expected, uint32_t *count, struct cuzk_error *err)
{
    struct cuzk_cuda *cuda = cuda_of(setup->base.device)->cuda;
    void *all = *v, *kept = NULL;
    size_t n = 0;
    cuzk_status status = vector(cuda, &kept, variables, err);
    if (status == CUZK_OK)
        status = cuzk_cuda_squeeze(cuda, kept, all, variables, &n, err);
    drop(cuda, &all, sizeof(fr) * variables);
    *v = kept;
    *count = (uint32_t)n;
    if (status == CUZK_OK && n != expected)
        status = cuzk_fail(err, CUZK_E_ARGUMENT,
                           "%s: a polynomial of the circuit vanishes at tau; choose another",
                           setup->base.qap->circuit->name);
    return status;
}

static cuzk_status evaluate(struct cuda_setup *setup, struct cuzk_error *err)
{
    const struct cuzk_qap *qap = setup->base.qap;
    const struct cuzk_circuit *circuit = qap->circuit;
    const struct cuzk_waste *waste = setup->waste;
    struct cuzk_cuda *cuda = cuda_of(setup->base.device)->cuda;
    uint64_t n = (uint64_t)1 << qap->log2_domain,
             variables = (uint64_t)circuit->inputs + circuit->aux;
    void *at = NULL;
    fr z;
    bls12_381_fr_pow_u64(&z, &waste->tau, n);
    bls12_381_fr_sub(&z, &z, &bls12_381_fr_one);
    if (bls12_381_fr_is_zero(&z))
        return cuzk_fail(err, CUZK_E_ARGUMENT, "%s: tau lies in the domain; choose another",
                         circuit->name);
    bls12_381_fr_inv(&setup->l_factor, &waste->delta);
    bls12_381_fr_mul(&setup->h_factor, &z, &setup->l_factor);

    cuzk_status status = vector(cuda, &at, n, err);
    if (status == CUZK_OK)
        status = cuzk_cuda_powers_reversed(cuda, at, &waste->tau, qap->log2_domain, err);
    if (status == CUZK_OK)
        status = cuzk_cuda_ntt_inverse(cuda, at, qap->log2_domain, false, err);
    struct cuzk_cuda_columns *columns = NULL;
    if (status == CUZK_OK)
        status = cuzk_cuda_columns_create(&columns, cuda, circuit, &setup->circuit->layout, err);
    void **vectors[3] = {&setup->a, &setup->b, &setup->ext};
    for (int m = 0; m < 3 && status == CUZK_OK; m++)
        status = polynomial(setup, vectors[m], columns, at, m, err);
    cuzk_cuda_columns_destroy(columns);
    drop(cuda, &at, sizeof(fr) * n);
    if (status == CUZK_OK)
        status = cuzk_cuda_combine(cuda, setup->ext, setup->a, setup->b, &waste->beta,
                                   &waste->alpha, variables, err);
    size_t zero = circuit->aux;
    if (status == CUZK_OK)
        status = cuzk_cuda_find_zero(cuda, (const fr *)setup->ext + circuit->inputs, circuit->aux,
                                     &zero, err);
    if (status == CUZK_OK && zero != circuit->aux)
        status = cuzk_fail(err, CUZK_E_UNSUPPORTED,
                           "%s: auxiliary variable %zu is in no constraint, so no proof binds it; "
                           "remove it from the circuit",
                           circuit->name, zero);
    uint32_t *count = setup->base.count;
    count[CUZK_H] = (uint32_t)(n - 1);
    count[CUZK_L] = circuit->aux;
    if (status == CUZK_OK)
        status = squeeze(setup, &setup->a, variables, qap->a.count, &count[CUZK_QUERY_A], err);
    if (status == CUZK_OK)
        status = squeeze(setup, &setup->b, variables, qap->b.count, &count[CUZK_QUERY_B1], err);
    count[CUZK_QUERY_B2] = count[CUZK_QUERY_B1];
    return status;
}

static void end_locked(struct cuda_setup *setup)
{
    struct cuzk_cuda *cuda = cuda_of(setup->base.device)->cuda;
    uint64_t bytes =
        sizeof(fr) * ((uint64_t)setup->base.qap->circuit->inputs + setup->base.qap->circuit->aux);
    drop(cuda, &setup->a, bytes);
    drop(cuda, &setup->b, bytes);
    drop(cuda, &setup->ext, bytes);
    cuzk_cuda_trim(cuda);
}

cuzk_status cuzk_cuda_setup_start(struct cuzk_device *device, struct cuzk_device_setup **out,
                                  const struct cuzk_device_circuit *circuit,
                                  const struct cuzk_waste *waste, struct cuzk_error *err)
{
    *out = NULL;
    struct cuda_setup *setup = cuzk_calloc(1, sizeof *setup);
    if (setup == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "%s: out of memory", circuit->qap->circuit->name);
    setup->base.device = device;
    setup->base.qap = circuit->qap;
    setup->circuit = (const struct cuda_circuit *)circuit;
    setup->waste = waste;
    (void)pthread_mutex_lock(&cuda_of(device)->lock);
    cuzk_status status = evaluate(setup, err);
    if (status != CUZK_OK)
        end_locked(setup);
    (void)pthread_mutex_unlock(&cuda_of(device)->lock);
    if (status != CUZK_OK) {
        cuzk_wipe(setup, sizeof *setup);
        cuzk_free(setup);
        return status;
    }
    *out = &setup->base;
    return CUZK_OK;
}

void cuzk_cuda_setup_end(struct cuzk_device_setup *base)
{
    if (base == NULL)
        return;
    struct cuda_setup *setup = (struct cuda_setup *)base;
    (void)pthread_mutex_lock(&cuda_of(base->device)->lock);
    end_locked(setup);
    (void)pthread_mutex_unlock(&cuda_of(base->device)->lock);
    cuzk_wipe(setup, sizeof *setup);
    cuzk_free(setup);
}

cuzk_status cuzk_cuda_setup_inputs(struct cuzk_device_setup *base, fr *out, struct cuzk_error *err)
{
    struct cuda_setup *setup = (struct cuda_setup *)base;
    (void)pthread_mutex_lock(&cuda_of(base->device)->lock);
    cuzk_status status = cuzk_cuda_download(cuda_of(base->device)->cuda, out, setup->ext,
                                            base->qap->circuit->inputs * sizeof *out, err);
    (void)pthread_mutex_unlock(&cuda_of(base->device)->lock);
    return status;
}

/* Points [first, first + count) of a section into device memory, a chunk at most. */
static cuzk_status make_points(struct cuda_setup *setup, void *points, enum cuzk_section section,
                               size_t first, size_t count, struct cuzk_error *err)
{
    struct cuzk_cuda *cuda = cuda_of(setup->base.device)->cuda;
    const void *scalars = NULL;
    void *made = NULL;
    cuzk_status status = CUZK_OK;
    if (section == CUZK_H || section == CUZK_L) {
        status = vector(cuda, &made, count, err);
        if (status == CUZK_OK)
            status = section == CUZK_H
                         ? cuzk_cuda_powers(cuda, made, &setup->waste->tau, &setup->h_factor, first,
                                            count, err)
                         : cuzk_cuda_scale(cuda, made,
                                           (const fr *)setup->ext +
                                               setup->base.qap->circuit->inputs + first,
                                           &setup->l_factor, count, err);
        scalars = made;
    } else {
        scalars = (const fr *)(section == CUZK_QUERY_A ? setup->a : setup->b) + first;
    }
    if (status == CUZK_OK)
        status = section == CUZK_QUERY_B2
                     ? cuzk_cuda_fixed_base_g2(cuda, points, &g2_generator, scalars, count, err)
                     : cuzk_cuda_fixed_base_g1(cuda, points, &g1_generator, scalars, count, err);
    drop(cuda, &made, sizeof(fr) * count);
    return status;
}

static cuzk_status download_points(struct cuzk_device_setup *base, void *out,
                                   enum cuzk_section section, size_t first, size_t count,
                                   struct cuzk_error *err)
{
    struct cuzk_cuda *cuda = cuda_of(base->device)->cuda;
    size_t size = (size_t)cuda_point_bytes(section),
           chunk = count < SETUP_CHUNK ? count : SETUP_CHUNK;
    void *points = NULL;
    if (count == 0)
        return CUZK_OK;
    (void)pthread_mutex_lock(&cuda_of(base->device)->lock);
    cuzk_status status = cuzk_cuda_alloc(cuda, &points, CUZK_PURPOSE_SETUP, chunk * size, err);
    for (size_t done = 0; done < count && status == CUZK_OK; done += chunk) {
        size_t n = count - done < chunk ? count - done : chunk;
        status = make_points((struct cuda_setup *)base, points, section, first + done, n, err);
        if (status == CUZK_OK)
            status = cuzk_cuda_download(cuda, (char *)out + done * size, points, n * size, err);
    }
    cuzk_cuda_free(cuda, points);
    (void)pthread_mutex_unlock(&cuda_of(base->device)->lock);
    return status;
}

cuzk_status cuzk_cuda_setup_g1(struct cuzk_device_setup *base, struct bls12_381_g1_affine *out,
                               enum cuzk_section section, size_t first, size_t count,
                               struct cuzk_error *err)
{
    return download_points(base, out, section, first, count, err);
}

cuzk_status cuzk_cuda_setup_g2(struct cuzk_device_setup *base, struct bls12_381_g2_affine *out,
                               size_t first, size_t count, struct cuzk_error *err)
{
    return download_points(base, out, CUZK_QUERY_B2, first, count, err);
}

cuzk_status cuzk_cuda_setup_key(struct cuzk_device_setup *base, struct cuzk_device_key **out,
                                struct cuzk_error *err)
{
    struct cuzk_cuda *cuda = cuda_of(base->device)->cuda;
    *out = NULL;
    struct cuda_key *key = cuzk_calloc(1, sizeof *key);
    if (key == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "%s: out of memory", base->qap->circuit->name);
    key->base.device = base->device;
    memcpy(key->count, base->count, sizeof key->count);
    cuzk_status status = CUZK_OK;
    (void)pthread_mutex_lock(&cuda_of(base->device)->lock);
    for (int s = 0; s < CUZK_SECTIONS && status == CUZK_OK; s++) {
        enum cuzk_section section = (enum cuzk_section)s;
        size_t size = (size_t)cuda_point_bytes(section), count = key->count[s];
        status = cuzk_cuda_alloc(cuda, &key->points[s], CUZK_PURPOSE_SRS,
                                 count != 0 ? count * size : 1, err);
        for (size_t first = 0; first < count && status == CUZK_OK; first += SETUP_CHUNK) {
            size_t n = count - first < SETUP_CHUNK ? count - first : SETUP_CHUNK;
            status = make_points((struct cuda_setup *)base, (char *)key->points[s] + first * size,
                                 section, first, n, err);
        }
        key->base.resident += count * size;
    }
    (void)pthread_mutex_unlock(&cuda_of(base->device)->lock);
    if (status != CUZK_OK) {
        cuzk_cuda_key_free(&key->base);
        return status;
    }
    *out = &key->base;
    return CUZK_OK;
}
