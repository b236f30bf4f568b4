/* Setup on a CUDA device: the circuit's polynomials at tau come from the processor's code (one
 * product of the transposed matrices), the millions of multiples of the generators from the device.
 */
#include <string.h>

#include "base/alloc.h"
#include "device/cpu/cpu.h"
#include "device/cuda/backend.h"

struct cuda_setup {
    struct cuzk_device_setup base;
    struct cuzk_device_setup *scalars; /* the processor's half */
};

static const struct bls12_381_g1_affine g1_generator = {{{BLS12_381_G1_GENERATOR_X}},
                                                        {{BLS12_381_G1_GENERATOR_Y}}};
static const struct bls12_381_g2_affine g2_generator = {
    {{{BLS12_381_G2_GENERATOR_X_C0}}, {{BLS12_381_G2_GENERATOR_X_C1}}},
    {{{BLS12_381_G2_GENERATOR_Y_C0}}, {{BLS12_381_G2_GENERATOR_Y_C1}}}};

cuzk_status cuzk_cuda_setup_start(struct cuzk_device *device, struct cuzk_device_setup **out,
                                  const struct cuzk_device_circuit *circuit,
                                  const struct cuzk_waste *waste, struct cuzk_error *err)
{
    *out = NULL;
    struct cuda_setup *setup = cuzk_calloc(1, sizeof *setup);
    if (setup == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "%s: out of memory", circuit->qap->circuit->name);
    cuzk_status status = cuzk_cpu_setup_start(device, &setup->scalars, circuit, waste, err);
    if (status != CUZK_OK) {
        cuzk_free(setup);
        return status;
    }
    setup->base = *setup->scalars;
    *out = &setup->base;
    return CUZK_OK;
}

cuzk_status cuzk_cuda_setup_inputs(struct cuzk_device_setup *setup, struct bls12_381_fr *out,
                                   struct cuzk_error *err)
{
    return cuzk_cpu_setup_inputs(((struct cuda_setup *)setup)->scalars, out, err);
}

void cuzk_cuda_setup_end(struct cuzk_device_setup *setup)
{
    if (setup == NULL)
        return;
    cuzk_cpu_setup_end(((struct cuda_setup *)setup)->scalars);
    cuzk_free(setup);
}

/* Points of a section into device memory. */
static cuzk_status make_points(struct cuda_setup *setup, void *points, enum cuzk_section section,
                               size_t first, size_t count, struct cuzk_error *err)
{
    struct cuda_device *device = cuda_of(setup->base.device);
    const struct bls12_381_fr *scalars;
    void *made, *copy = NULL;
    cuzk_status status =
        cuzk_cpu_setup_scalars(setup->scalars, &scalars, &made, section, first, count, err);
    if (status != CUZK_OK)
        return status;
    status = cuda_copy_in(device, &copy, CUZK_PURPOSE_SETUP, scalars,
                          sizeof *scalars * (uint64_t)count, err);
    cuzk_cpu_setup_scalars_free(setup->scalars, made, count);
    if (status == CUZK_OK)
        status =
            section == CUZK_QUERY_B2
                ? cuzk_cuda_fixed_base_g2(device->cuda, points, &g2_generator, copy, count, err)
                : cuzk_cuda_fixed_base_g1(device->cuda, points, &g1_generator, copy, count, err);
    if (copy != NULL)
        (void)cuzk_cuda_clear(device->cuda, copy, sizeof *scalars * (uint64_t)count, NULL);
    cuzk_cuda_free(device->cuda, copy);
    return status;
}

static cuzk_status make_for_host(struct cuda_setup *setup, void *out, enum cuzk_section section,
                                 size_t first, size_t count, struct cuzk_error *err)
{
    struct cuda_device *device = cuda_of(setup->base.device);
    const uint64_t bytes = cuda_point_bytes(section) * count;
    void *points;
    (void)pthread_mutex_lock(&device->lock);
    cuzk_status status = cuzk_cuda_alloc(device->cuda, &points, CUZK_PURPOSE_SETUP, bytes, err);
    if (status == CUZK_OK)
        status = make_points(setup, points, section, first, count, err);
    if (status == CUZK_OK)
        status = cuzk_cuda_download(device->cuda, out, points, bytes, err);
    cuzk_cuda_free(device->cuda, points);
    (void)pthread_mutex_unlock(&device->lock);
    return status;
}

cuzk_status cuzk_cuda_setup_g1(struct cuzk_device_setup *setup, struct bls12_381_g1_affine *out,
                               enum cuzk_section section, size_t first, size_t count,
                               struct cuzk_error *err)
{
    return make_for_host((struct cuda_setup *)setup, out, section, first, count, err);
}

cuzk_status cuzk_cuda_setup_g2(struct cuzk_device_setup *setup, struct bls12_381_g2_affine *out,
                               size_t first, size_t count, struct cuzk_error *err)
{
    return make_for_host((struct cuda_setup *)setup, out, CUZK_QUERY_B2, first, count, err);
}

cuzk_status cuzk_cuda_setup_key(struct cuzk_device_setup *base, struct cuzk_device_key **out,
                                struct cuzk_error *err)
{
    const size_t piece = (size_t)1 << 22; /* points at a time: scalars of 128 MiB */
    struct cuda_setup *setup = (struct cuda_setup *)base;
    struct cuda_device *device = cuda_of(base->device);
    *out = NULL;
    struct cuda_key *key = cuzk_calloc(1, sizeof *key);
    if (key == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "%s: out of memory", base->qap->circuit->name);
    key->base = (struct cuzk_device_key){.device = base->device};
    memcpy(key->count, base->count, sizeof key->count);
    cuzk_status status = CUZK_OK;
    (void)pthread_mutex_lock(&device->lock);
    for (int s = 0; status == CUZK_OK && s < CUZK_SECTIONS; s++) {
        const enum cuzk_section section = (enum cuzk_section)s;
        const uint64_t size = cuda_point_bytes(section), count = key->count[s];
        status =
            cuzk_cuda_alloc(device->cuda, &key->points[s], CUZK_PURPOSE_SRS, size * count, err);
        for (uint64_t done = 0; status == CUZK_OK && done < count; done += piece)
            status = make_points(setup, (char *)key->points[s] + done * size, section, done,
                                 count - done < piece ? count - done : piece, err);
        key->base.resident += size * count;
    }
    (void)pthread_mutex_unlock(&device->lock);
    if (status != CUZK_OK) {
        cuzk_cuda_key_free(&key->base);
        return status;
    }
    *out = &key->base;
    return CUZK_OK;
}
