/* The CUDA backend behind device.h: opening, and single operations over host vectors. */
#include "device/cuda/backend.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

static void describe(struct cuzk_device_info *out, const struct cuzk_cuda_description *d)
{
    memset(out, 0, sizeof *out);
    (void)snprintf(out->name, sizeof out->name, "cuda:%d", d->index);
    (void)snprintf(out->uuid, sizeof out->uuid, "%s", d->uuid);
    (void)snprintf(out->model, sizeof out->model, "%.95s", d->name);
    out->memory_total = d->memory;
    out->processors = (uint32_t)d->multiprocessors;
}

static cuzk_status cuda_list(struct cuzk_device_info **out, size_t *count, char absent[120],
                             struct cuzk_error *err)
{
    int n;
    *out = NULL;
    *count = 0;
    cuzk_status found = cuzk_cuda_find(&n, absent, err);
    if (found != CUZK_OK || n == 0)
        return found;
    struct cuzk_device_info *list = cuzk_calloc((size_t)n, sizeof *list);
    if (list == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "out of memory for the list of devices");
    for (int i = 0; i < n; i++) {
        struct cuzk_cuda_description d;
        cuzk_status status = cuzk_cuda_describe(&d, i, err);
        if (status != CUZK_OK) {
            cuzk_free(list);
            return status;
        }
        describe(&list[i], &d);
    }
    *out = list;
    *count = (size_t)n;
    return CUZK_OK;
}

static cuzk_status cuda_free_memory(uint64_t *bytes, size_t index, struct cuzk_error *err)
{
    return cuzk_cuda_free_memory(bytes, (int)index, err);
}

static void cuda_close(struct cuzk_device *base)
{
    struct cuda_device *device = cuda_of(base);
    cuzk_cuda_close(device->cuda);
    cuzk_budget_release(base->config.host, CUZK_PURPOSE_STAGING, cuzk_cuda_pinned_bytes());
    cuzk_budget_destroy(base->memory);
    (void)pthread_mutex_destroy(&device->lock);
    cuzk_free(device);
}

/* Bits and values of a host's scalars on the device, the points, and the sum. Group 1 or 2. */
static cuzk_status host_msm(struct cuda_device *device, int group, void *out, const void *points,
                            const struct bls12_381_scalars *scalars, size_t n,
                            struct cuzk_error *err)
{
    const uint64_t size =
        group == 2 ? sizeof(struct bls12_381_g2_affine) : sizeof(struct bls12_381_g1_affine);
    const struct bls12_381_ops *curve = device->base.config.curve;
    void *p = NULL, *bits = NULL, *values = NULL, *index = NULL;
    size_t dense = 0;
    uint32_t *numbers = cuzk_malloc(n * sizeof *numbers + 1);
    if (numbers == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "no memory for the numbers of %zu points", n);
    for (size_t i = 0; i < n; i++)
        if (scalars->is_bit == NULL || (scalars->is_bit[i / 64] >> (i % 64) & 1) == 0)
            numbers[dense++] = (uint32_t)i;
    (void)pthread_mutex_lock(&device->lock);
    cuzk_status status = cuda_copy_in(device, &p, CUZK_PURPOSE_OTHER, points, size * n, err);
    if (status == CUZK_OK)
        status =
            cuda_copy_in(device, &index, CUZK_PURPOSE_OTHER, numbers, dense * sizeof *numbers, err);
    if (status == CUZK_OK)
        status = cuda_copy_in(device, &values, CUZK_PURPOSE_OTHER, scalars->values,
                              dense * sizeof *scalars->values, err);
    if (status == CUZK_OK && scalars->is_bit != NULL)
        status =
            cuda_copy_in(device, &bits, CUZK_PURPOSE_OTHER, scalars->bits, 8 * cuzk_words(n), err);
    if (status == CUZK_OK && group == 1) {
        struct bls12_381_g1 ones, sum;
        memset(&ones, 0, sizeof ones);
        status = cuzk_cuda_msm_g1(device->cuda, &sum, p, index, values, dense, err);
        if (status == CUZK_OK && bits != NULL)
            status = cuzk_cuda_bit_sum_g1(device->cuda, &ones, p, bits, n, err);
        if (status == CUZK_OK)
            curve->g1_add(out, &sum, &ones);
    } else if (status == CUZK_OK) {
        struct bls12_381_g2 ones, sum;
        memset(&ones, 0, sizeof ones);
        status = cuzk_cuda_msm_g2(device->cuda, &sum, p, index, values, dense, err);
        if (status == CUZK_OK && bits != NULL)
            status = cuzk_cuda_bit_sum_g2(device->cuda, &ones, p, bits, n, err);
        if (status == CUZK_OK)
            curve->g2_add(out, &sum, &ones);
    }
    cuzk_cuda_free(device->cuda, p);
    cuzk_cuda_free(device->cuda, bits);
    cuzk_cuda_free(device->cuda, values);
    cuzk_cuda_free(device->cuda, index);
    (void)pthread_mutex_unlock(&device->lock);
    cuzk_free(numbers);
    return status;
}

static cuzk_status cuda_msm_g1(struct cuzk_device *device, struct bls12_381_g1 *out,
                               const struct bls12_381_g1_affine *points,
                               const struct bls12_381_scalars *scalars, size_t n,
                               struct cuzk_error *err)
{
    return host_msm(cuda_of(device), 1, out, points, scalars, n, err);
}

static cuzk_status cuda_msm_g2(struct cuzk_device *device, struct bls12_381_g2 *out,
                               const struct bls12_381_g2_affine *points,
                               const struct bls12_381_scalars *scalars, size_t n,
                               struct cuzk_error *err)
{
    return host_msm(cuda_of(device), 2, out, points, scalars, n, err);
}

static void reverse(struct bls12_381_fr *a, unsigned log2_size)
{
    for (uint32_t i = 0; i < (uint32_t)1 << log2_size; i++) {
        uint32_t r = 0;
        for (unsigned b = 0; b < log2_size; b++)
            r |= (i >> b & 1) << (log2_size - 1 - b);
        if (r > i) {
            struct bls12_381_fr t = a[i];
            a[i] = a[r];
            a[r] = t;
        }
    }
}

/* a_i times shift^i */
static void scale(struct bls12_381_fr *a, size_t n, const struct bls12_381_fr *shift)
{
    struct bls12_381_fr x = bls12_381_fr_one;
    for (size_t i = 0; i < n; i++) {
        bls12_381_fr_mul(&a[i], &a[i], &x);
        bls12_381_fr_mul(&x, &x, shift);
    }
}

static cuzk_status cuda_ntt(struct cuzk_device *base, struct bls12_381_fr *a, unsigned log2_size,
                            bool inverse, const struct bls12_381_fr *shift, struct cuzk_error *err)
{
    struct cuda_device *device = cuda_of(base);
    const size_t n = (size_t)1 << log2_size;
    void *p = NULL;
    if (log2_size > 30)
        return cuzk_fail(err, CUZK_E_ARGUMENT, "a transform of 2^%u host elements", log2_size);
    if (inverse)
        reverse(a, log2_size);
    else if (shift != NULL)
        scale(a, n, shift);
    (void)pthread_mutex_lock(&device->lock);
    cuzk_status status = cuda_copy_in(device, &p, CUZK_PURPOSE_OTHER, a, n * sizeof *a, err);
    if (status == CUZK_OK)
        status = inverse ? cuzk_cuda_ntt_inverse(device->cuda, p, log2_size, false, err)
                         : cuzk_cuda_ntt_forward(device->cuda, p, log2_size, false, err);
    if (status == CUZK_OK)
        status = cuzk_cuda_download(device->cuda, a, p, n * sizeof *a, err);
    cuzk_cuda_free(device->cuda, p);
    (void)pthread_mutex_unlock(&device->lock);
    if (status != CUZK_OK)
        return status;
    if (!inverse) {
        reverse(a, log2_size);
    } else if (shift != NULL) {
        struct bls12_381_fr back;
        bls12_381_fr_inv(&back, shift);
        scale(a, n, &back);
    }
    return CUZK_OK;
}

static cuzk_status cuda_quotient(struct cuzk_device *base, struct bls12_381_fr *a,
                                 struct bls12_381_fr *b, unsigned log2_size, struct cuzk_error *err)
{
    struct cuda_device *device = cuda_of(base);
    const uint64_t bytes = sizeof *a << log2_size;
    void *p = NULL, *q = NULL, *r = NULL;
    if (log2_size > 30)
        return cuzk_fail(err, CUZK_E_ARGUMENT, "a quotient of 2^%u host elements", log2_size);
    reverse(a, log2_size);
    reverse(b, log2_size);
    (void)pthread_mutex_lock(&device->lock);
    cuzk_status status = cuda_copy_in(device, &p, CUZK_PURPOSE_ABC, a, bytes, err);
    if (status == CUZK_OK)
        status = cuda_copy_in(device, &q, CUZK_PURPOSE_ABC, b, bytes, err);
    if (status == CUZK_OK)
        status = cuzk_cuda_alloc(device->cuda, &r, CUZK_PURPOSE_ABC, bytes, err);
    if (status == CUZK_OK)
        status = cuzk_cuda_quotient(device->cuda, p, q, r, log2_size, err);
    if (status == CUZK_OK)
        status = cuzk_cuda_download(device->cuda, a, p, bytes, err);
    cuzk_cuda_free(device->cuda, p);
    cuzk_cuda_free(device->cuda, q);
    cuzk_cuda_free(device->cuda, r);
    (void)pthread_mutex_unlock(&device->lock);
    return status;
}

static cuzk_status cuda_multiply(struct cuzk_device *base, struct bls12_381_fr *out,
                                 const struct cuzk_device_circuit *circuit,
                                 const struct cuzk_witness *witness, int matrix,
                                 struct cuzk_error *err)
{
    struct cuda_device *device = cuda_of(base);
    const struct cuzk_layout *layout = &((const struct cuda_circuit *)circuit)->layout;
    const uint64_t bytes = sizeof *out * (uint64_t)layout->rows;
    struct cuzk_layout_witness on_device;
    void *buffer = NULL, *p = NULL;
    (void)pthread_mutex_lock(&device->lock);
    cuzk_status status = cuzk_cuda_witness_upload(device, &buffer, &on_device, witness, err);
    if (status == CUZK_OK)
        status = cuzk_cuda_alloc(device->cuda, &p, CUZK_PURPOSE_ABC, bytes, err);
    if (status == CUZK_OK)
        status = cuzk_cuda_multiply(device->cuda, p, layout, &on_device, matrix, -1, err);
    if (status == CUZK_OK)
        status = cuzk_cuda_download(device->cuda, out, p, bytes, err);
    cuzk_cuda_free(device->cuda, buffer);
    cuzk_cuda_free(device->cuda, p);
    (void)pthread_mutex_unlock(&device->lock);
    return status;
}

static void cuda_fault(struct cuzk_device *device, enum cuzk_fault place)
{
    atomic_store(&cuda_of(device)->fault, (int)place);
}

static const struct cuzk_device_ops cuda_ops = {
    .backend = "cuda",
    .close = cuda_close,
    .circuit_load = cuzk_cuda_circuit_load,
    .circuit_free = cuzk_cuda_circuit_free,
    .key_load = cuzk_cuda_key_load,
    .key_free = cuzk_cuda_key_free,
    .prove_needs = cuzk_cuda_prove_needs,
    .prove_start = cuzk_cuda_prove_start,
    .prove_finish = cuzk_cuda_prove_finish,
    .pending_free = cuzk_cuda_pending_free,
    .setup_start = cuzk_cuda_setup_start,
    .setup_inputs = cuzk_cuda_setup_inputs,
    .setup_g1 = cuzk_cuda_setup_g1,
    .setup_g2 = cuzk_cuda_setup_g2,
    .setup_key = cuzk_cuda_setup_key,
    .setup_end = cuzk_cuda_setup_end,
    .msm_g1 = cuda_msm_g1,
    .msm_g2 = cuda_msm_g2,
    .ntt = cuda_ntt,
    .quotient = cuda_quotient,
    .multiply = cuda_multiply,
    .fault = cuda_fault,
};

/* A copy by all threads: one alone moves a third of what the bus takes. */
enum { COPY_PART = 512 << 10 };
struct copy {
    char *to;
    const char *from;
    size_t bytes;
};
static void copy_part(void *context, size_t i, unsigned worker)
{
    const struct copy *c = context;
    const size_t at = i * COPY_PART;
    (void)worker;
    memcpy(c->to + at, c->from + at, c->bytes - at < COPY_PART ? c->bytes - at : COPY_PART);
}
static void copy_by_threads(void *context, void *to, const void *from, size_t bytes)
{
    struct copy c = {to, from, bytes};
    cuzk_threads_for(context, (bytes + COPY_PART - 1) / COPY_PART, copy_part, &c);
}

static cuzk_status cuda_open(struct cuzk_device **out, size_t index,
                             const struct cuzk_device_config *config, struct cuzk_error *err)
{
    struct cuzk_cuda_description d;
    uint64_t free_bytes = 0;
    *out = NULL;
    cuzk_status status = cuzk_cuda_describe(&d, (int)index, err);
    if (status == CUZK_OK)
        status = cuzk_cuda_free_memory(&free_bytes, (int)index, err);
    if (status != CUZK_OK)
        return status;
    struct cuda_device *device = cuzk_calloc(1, sizeof *device);
    if (device == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "out of memory for the record of cuda:%zu", index);
    device->base.ops = &cuda_ops;
    device->base.config = *config;
    describe(&device->base.info, &d);
    device->base.info.memory_free = free_bytes;
    const uint64_t limit = config->device_limit != 0
                               ? config->device_limit
                               : free_bytes - free_bytes / 64; /* the driver's own */
    const uint64_t pinned = cuzk_cuda_pinned_bytes();
    status = cuzk_budget_create(&device->base.memory, device->base.info.name, limit, NULL, err);
    if (status == CUZK_OK)
        status = cuzk_budget_reserve(config->host, CUZK_PURPOSE_STAGING, pinned, err);
    const bool charged = status == CUZK_OK;
    if (status == CUZK_OK)
        status = cuzk_cuda_open(&device->cuda, (int)index, device->base.memory, err);
    if (status != CUZK_OK) {
        if (charged)
            cuzk_budget_release(config->host, CUZK_PURPOSE_STAGING, pinned);
        cuzk_budget_destroy(device->base.memory);
        cuzk_free(device);
        return status;
    }
    if (cuzk_threads_count(config->threads) > 1)
        cuzk_cuda_copy_with(device->cuda, copy_by_threads, config->threads);
    (void)pthread_mutex_init(&device->lock, NULL);
    *out = &device->base;
    return CUZK_OK;
}

const struct cuzk_backend cuzk_backend_cuda = {
    .name = "cuda", .list = cuda_list, .free_memory = cuda_free_memory, .open = cuda_open};
