/* A proof on a CUDA device.
 *
 * Start: the compact witness is copied (megabytes), A·w and B·w come from templates in bit-reversed
 * order, six transforms give h in natural order, and h's multi-exponentiation ends what a proof
 * needs of the vectors, which go back. Finish: the four sums over the witness, each a sum of points
 * chosen by a bitmap plus a multi-exponentiation over the values that are not bits.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/os.h"
#include "device/cuda/backend.h"

struct cuda_pending {
    struct cuzk_pending base;
    struct bls12_381_g1 h;
    enum cuzk_fault fault;
};

void cuzk_cuda_prove_needs(const struct cuzk_device_circuit *circuit,
                           const struct cuzk_device_key *key, uint64_t bytes[2])
{
    (void)key;
    const uint64_t n = (uint64_t)1 << circuit->qap->log2_domain;
    /* Three vectors and the twiddles; a multi-exponentiation cuts itself to what is left. */
    bytes[0] = ((uint64_t)1 << 18) * sizeof(struct bls12_381_g2_affine);
    bytes[1] = 3 * n * sizeof(struct bls12_381_fr) + n * 64 + ((uint64_t)512 << 20);
}

/* Flips a bit of device memory, for tests. */
static cuzk_status flip(struct cuda_device *device, bool wanted, void *p, struct cuzk_error *err)
{
    uint64_t word;
    if (!wanted)
        return CUZK_OK;
    cuzk_status status = cuzk_cuda_download(device->cuda, &word, p, sizeof word, err);
    word ^= 1;
    return status == CUZK_OK ? cuzk_cuda_upload(device->cuda, p, &word, sizeof word, err) : status;
}

/* h's coefficients in *out, device memory charged to CUZK_PURPOSE_ABC. */
static cuzk_status quotient(void **out, struct cuda_device *device, struct cuda_pending *pending,
                            struct cuzk_stages *stages, struct cuzk_error *err)
{
    const struct cuda_circuit *circuit = (const struct cuda_circuit *)pending->base.circuit;
    const unsigned lg = circuit->base.qap->log2_domain;
    struct cuzk_layout_witness witness;
    void *buffer = NULL, *v[3] = {NULL, NULL, NULL};
    double start = cuzk_os_seconds();
    cuzk_status status =
        cuzk_cuda_witness_upload(device, &buffer, &witness, pending->base.witness, err);
    for (int m = 0; m < 3 && status == CUZK_OK; m++)
        status = cuzk_cuda_alloc(device->cuda, &v[m], CUZK_PURPOSE_ABC,
                                 sizeof(struct bls12_381_fr) << lg, err);
    for (int m = CUZK_A; m <= CUZK_B && status == CUZK_OK; m++)
        status =
            cuzk_cuda_multiply(device->cuda, v[m], &circuit->layout, &witness, m, (int)lg, err);
    double middle = cuzk_os_seconds();
    if (status == CUZK_OK)
        status = flip(device, pending->fault == CUZK_FAULT_NTT, v[CUZK_A], err);
    if (status == CUZK_OK)
        status = cuzk_cuda_quotient(device->cuda, v[CUZK_A], v[CUZK_B], v[CUZK_C], lg, err);
    if (status == CUZK_OK)
        status = flip(device, pending->fault == CUZK_FAULT_H, v[CUZK_A], err);
    stages->seconds[CUZK_STAGE_MULTIPLY] += middle - start;
    stages->seconds[CUZK_STAGE_QUOTIENT] += cuzk_os_seconds() - middle;
    cuzk_cuda_free(device->cuda, buffer);
    cuzk_cuda_free(device->cuda, v[CUZK_C]);
    cuzk_cuda_free(device->cuda, v[CUZK_B]);
    if (status != CUZK_OK) {
        cuzk_cuda_free(device->cuda, v[CUZK_A]);
        return status;
    }
    *out = v[CUZK_A];
    return CUZK_OK;
}

cuzk_status cuzk_cuda_prove_start(struct cuzk_device *base, struct cuzk_pending **out,
                                  const struct cuzk_device_key *key,
                                  const struct cuzk_device_circuit *circuit,
                                  struct cuzk_witness *witness, struct cuzk_stages *stages,
                                  struct cuzk_error *err)
{
    *out = NULL;
    struct cuda_device *device = cuda_of(base);
    const struct cuda_key *cuda_key = (const struct cuda_key *)key;
    struct cuda_pending *pending = cuzk_calloc(1, sizeof *pending);
    void *h = NULL, *points, *temporary;
    if (pending == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "%s: out of memory", circuit->qap->circuit->name);
    pending->base =
        (struct cuzk_pending){.device = base, .circuit = circuit, .key = key, .witness = witness};
    pending->fault = (enum cuzk_fault)atomic_exchange(&device->fault, CUZK_FAULT_NONE);
    cuzk_status status = cuzk_cuda_key_points(device, cuda_key, CUZK_H, &points, &temporary, err);
    (void)pthread_mutex_lock(&device->lock);
    if (status == CUZK_OK)
        status = quotient(&h, device, pending, stages, err);
    if (status == CUZK_OK) {
        double start = cuzk_os_seconds();
        status = cuzk_cuda_msm_g1(device->cuda, &pending->h, points, NULL, h,
                                  cuda_key->count[CUZK_H], err);
        stages->seconds[CUZK_STAGE_MSM_H] += cuzk_os_seconds() - start;
    }
    cuzk_cuda_free(device->cuda, h);
    cuzk_cuda_free(device->cuda, temporary);
    (void)pthread_mutex_unlock(&device->lock);
    if (status != CUZK_OK) {
        cuzk_free(pending);
        return status;
    }
    *out = &pending->base;
    return CUZK_OK;
}

/* The scalars of a query on the device: bits, then values. */
struct scalars {
    void *buffer;
    const uint64_t *bits;
    const void *values;
};

static cuzk_status upload_scalars(struct cuda_device *device, struct scalars *out,
                                  const uint64_t *bits, const struct bls12_381_fr *values,
                                  const struct cuda_query *query, struct cuzk_error *err)
{
    const uint64_t bit_bytes = 8 * (uint64_t)cuzk_words(query->count);
    const uint64_t value_bytes = sizeof *values * (uint64_t)query->dense;
    cuzk_status status = cuzk_cuda_alloc(device->cuda, &out->buffer, CUZK_PURPOSE_WITNESS,
                                         value_bytes + bit_bytes, err);
    char *p = out->buffer;
    if (status == CUZK_OK)
        status = cuzk_cuda_upload(device->cuda, p, values, value_bytes, err);
    if (status == CUZK_OK)
        status = cuzk_cuda_upload(device->cuda, p + value_bytes, bits, bit_bytes, err);
    out->values = p;
    out->bits = p == NULL ? NULL : (const uint64_t *)(const void *)(p + value_bytes);
    return status;
}

static cuzk_status sum_g1(struct cuda_device *device, struct bls12_381_g1 *out,
                          const struct cuda_key *key, enum cuzk_section section,
                          const struct cuda_query *query, const struct scalars *scalars,
                          double *seconds, struct cuzk_error *err)
{
    struct bls12_381_g1 ones, dense;
    void *points, *temporary;
    cuzk_status status = cuzk_cuda_key_points(device, key, section, &points, &temporary, err);
    (void)pthread_mutex_lock(&device->lock);
    double start = cuzk_os_seconds();
    if (status == CUZK_OK)
        status =
            cuzk_cuda_bit_sum_g1(device->cuda, &ones, points, scalars->bits, query->count, err);
    if (status == CUZK_OK)
        status = cuzk_cuda_msm_g1(device->cuda, &dense, points, query->index, scalars->values,
                                  query->dense, err);
    if (status == CUZK_OK)
        device->base.config.curve->g1_add(out, &ones, &dense);
    *seconds += cuzk_os_seconds() - start;
    cuzk_cuda_free(device->cuda, temporary);
    (void)pthread_mutex_unlock(&device->lock);
    return status;
}

static cuzk_status sum_g2(struct cuda_device *device, struct bls12_381_g2 *out,
                          const struct cuda_key *key, const struct cuda_query *query,
                          const struct scalars *scalars, double *seconds, struct cuzk_error *err)
{
    struct bls12_381_g2 ones, dense;
    void *points, *temporary;
    cuzk_status status = cuzk_cuda_key_points(device, key, CUZK_QUERY_B2, &points, &temporary, err);
    (void)pthread_mutex_lock(&device->lock);
    double start = cuzk_os_seconds();
    if (status == CUZK_OK)
        status =
            cuzk_cuda_bit_sum_g2(device->cuda, &ones, points, scalars->bits, query->count, err);
    if (status == CUZK_OK)
        status = cuzk_cuda_msm_g2(device->cuda, &dense, points, query->index, scalars->values,
                                  query->dense, err);
    if (status == CUZK_OK)
        device->base.config.curve->g2_add(out, &ones, &dense);
    *seconds += cuzk_os_seconds() - start;
    cuzk_cuda_free(device->cuda, temporary);
    (void)pthread_mutex_unlock(&device->lock);
    return status;
}

/* A query's scalars squeezed on the host, in memory that is wiped, and copied. */
static cuzk_status gather(struct cuda_device *device, struct scalars *out,
                          const struct cuzk_pending *pending, const struct cuzk_query *query,
                          const struct cuda_query *on_device, struct cuzk_error *err)
{
    struct cuzk_budget *host = device->base.config.host;
    const uint64_t bit_bytes = 8 * (uint64_t)cuzk_words(query->count);
    const uint64_t value_bytes = sizeof(struct bls12_381_fr) * (uint64_t)query->dense;
    void *bits = NULL, *values = NULL;
    cuzk_status status = cuzk_budget_alloc(host, &bits, CUZK_PURPOSE_WITNESS, bit_bytes, err);
    if (status == CUZK_OK)
        status = cuzk_budget_alloc(host, &values, CUZK_PURPOSE_WITNESS, value_bytes, err);
    if (status == CUZK_OK) {
        cuzk_query_gather(bits, values, pending->circuit->qap, query, pending->witness);
        (void)pthread_mutex_lock(&device->lock);
        status = upload_scalars(device, out, bits, values, on_device, err);
        (void)pthread_mutex_unlock(&device->lock);
    }
    if (values != NULL)
        cuzk_wipe(values, value_bytes);
    cuzk_budget_free(host, bits, CUZK_PURPOSE_WITNESS, bit_bytes);
    cuzk_budget_free(host, values, CUZK_PURPOSE_WITNESS, value_bytes);
    return status;
}

static void release(struct cuda_device *device, struct scalars *s)
{
    (void)pthread_mutex_lock(&device->lock);
    cuzk_cuda_free(device->cuda, s->buffer);
    (void)pthread_mutex_unlock(&device->lock);
    s->buffer = NULL;
}

cuzk_status cuzk_cuda_prove_finish(struct cuzk_pending *base, struct cuzk_sums *out,
                                   struct cuzk_stages *stages, struct cuzk_error *err)
{
    struct cuda_pending *pending = (struct cuda_pending *)base;
    struct cuda_device *device = cuda_of(base->device);
    const struct cuda_circuit *circuit = (const struct cuda_circuit *)base->circuit;
    const struct cuda_key *key = (const struct cuda_key *)base->key;
    const struct cuzk_qap *qap = base->circuit->qap;
    struct cuzk_sums sums = {.h = pending->h};
    struct scalars s = {0};
    double *seconds = stages->seconds;
    memset(out, 0, sizeof *out);
    (void)pthread_mutex_lock(&device->lock);
    cuzk_status status =
        upload_scalars(device, &s, base->witness->bits, base->witness->values, &circuit->l, err);
    (void)pthread_mutex_unlock(&device->lock);
    if (status == CUZK_OK)
        status =
            sum_g1(device, &sums.l, key, CUZK_L, &circuit->l, &s, &seconds[CUZK_STAGE_MSM_L], err);
    release(device, &s);
    if (status == CUZK_OK)
        status = gather(device, &s, base, &qap->a, &circuit->a, err);
    if (status == CUZK_OK)
        status = sum_g1(device, &sums.a, key, CUZK_QUERY_A, &circuit->a, &s,
                        &seconds[CUZK_STAGE_MSM_A], err);
    release(device, &s);
    if (status == CUZK_OK)
        status = gather(device, &s, base, &qap->b, &circuit->b, err);
    if (status == CUZK_OK)
        status = sum_g1(device, &sums.b1, key, CUZK_QUERY_B1, &circuit->b, &s,
                        &seconds[CUZK_STAGE_MSM_B1], err);
    if (status == CUZK_OK)
        status = sum_g2(device, &sums.b2, key, &circuit->b, &s, &seconds[CUZK_STAGE_MSM_B2], err);
    release(device, &s);
    if (pending->fault == CUZK_FAULT_BUCKET)
        sums.l.x.l[0] ^= 1;
    if (status == CUZK_OK)
        *out = sums;
    return status;
}

void cuzk_cuda_pending_free(struct cuzk_pending *pending)
{
    if (pending == NULL)
        return;
    cuzk_witness_destroy(pending->witness);
    cuzk_free(pending);
}
