/* Keys on the device: decoded from the mapped file on the host's threads, piece by piece, and
 * copied through pinned staging. A resident key keeps its five sections; of a streamed one each
 * section is on the device for the sum that uses it.
 */
#include <string.h>

#include "base/alloc.h"
#include "device/cuda/backend.h"

enum { PIECE = 1 << 18, DECODE_CHUNK = 1024 }; /* points a copy, points a task */

struct decode {
    const struct cuzk_params *params;
    enum cuzk_section section;
    char *out;
    size_t first, count;
    _Atomic int failed;
    cuzk_status status;
    struct cuzk_error error;
};

static void decode_chunk(void *context, size_t index, unsigned worker)
{
    (void)worker;
    struct decode *d = context;
    struct cuzk_error error;
    size_t first = index * DECODE_CHUNK, count = d->count - first;
    if (count > DECODE_CHUNK)
        count = DECODE_CHUNK;
    void *out = d->out + first * cuda_point_bytes(d->section);
    cuzk_status status =
        d->section == CUZK_QUERY_B2
            ? cuzk_params_g2(d->params, out, d->first + first, count, &error)
            : cuzk_params_g1(d->params, d->section, out, d->first + first, count, &error);
    if (status != CUZK_OK && atomic_exchange(&d->failed, 1) == 0) {
        d->status = status;
        d->error = error;
    }
}

static cuzk_status load_section(struct cuda_device *device, const struct cuda_key *key,
                                enum cuzk_section section, void **points, struct cuzk_error *err)
{
    const uint64_t size = cuda_point_bytes(section), total = key->count[section];
    struct cuzk_budget *host = device->base.config.host;
    void *stage = NULL;
    (void)pthread_mutex_lock(&device->lock);
    cuzk_status status = cuzk_cuda_alloc(device->cuda, points, CUZK_PURPOSE_SRS, size * total, err);
    (void)pthread_mutex_unlock(&device->lock);
    if (status != CUZK_OK)
        return status;
    status = cuzk_budget_alloc(host, &stage, CUZK_PURPOSE_STAGING, size * PIECE, err);
    for (uint64_t done = 0; status == CUZK_OK && done < total; done += PIECE) {
        struct decode d = {.params = key->base.params,
                           .section = section,
                           .out = stage,
                           .first = done,
                           .count = total - done < PIECE ? total - done : PIECE};
        cuzk_threads_for(device->base.config.threads, (d.count + DECODE_CHUNK - 1) / DECODE_CHUNK,
                         decode_chunk, &d);
        if (d.failed) {
            status = d.status;
            if (err != NULL)
                *err = d.error;
            break;
        }
        (void)pthread_mutex_lock(&device->lock);
        status = cuzk_cuda_upload(device->cuda, (char *)*points + done * size, stage,
                                  d.count * size, err);
        (void)pthread_mutex_unlock(&device->lock);
    }
    cuzk_budget_free(host, stage, CUZK_PURPOSE_STAGING, size * PIECE);
    if (status != CUZK_OK) {
        (void)pthread_mutex_lock(&device->lock);
        cuzk_cuda_free(device->cuda, *points);
        (void)pthread_mutex_unlock(&device->lock);
        *points = NULL;
    }
    return status;
}

cuzk_status cuzk_cuda_key_points(struct cuda_device *device, const struct cuda_key *key,
                                 enum cuzk_section section, void **points, void **temporary,
                                 struct cuzk_error *err)
{
    *temporary = NULL;
    *points = key->points[section];
    if (*points != NULL)
        return CUZK_OK;
    cuzk_status status = load_section(device, key, section, points, err);
    *temporary = *points;
    return status;
}

void cuzk_cuda_key_free(struct cuzk_device_key *base)
{
    if (base == NULL)
        return;
    struct cuda_key *key = (struct cuda_key *)base;
    struct cuda_device *device = cuda_of(base->device);
    (void)pthread_mutex_lock(&device->lock);
    for (int s = 0; s < CUZK_SECTIONS; s++)
        cuzk_cuda_free(device->cuda, key->points[s]);
    (void)pthread_mutex_unlock(&device->lock);
    cuzk_free(key);
}

cuzk_status cuzk_cuda_key_load(struct cuzk_device *base, struct cuzk_device_key **out,
                               const struct cuzk_params *params, enum cuzk_residency residency,
                               struct cuzk_error *err)
{
    *out = NULL;
    struct cuda_key *key = cuzk_calloc(1, sizeof *key);
    if (key == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "%s: out of memory", params->path);
    key->base = (struct cuzk_device_key){.device = base, .params = params};
    memcpy(key->count, params->count, sizeof key->count);
    for (int s = 0; residency == CUZK_KEY_RESIDENT && s < CUZK_SECTIONS; s++) {
        cuzk_status status =
            load_section(cuda_of(base), key, (enum cuzk_section)s, &key->points[s], err);
        if (status != CUZK_OK) {
            cuzk_cuda_key_free(&key->base);
            return cuzk_fail_prefix(err, status, "key kept on the device");
        }
        key->base.resident += cuda_point_bytes((enum cuzk_section)s) * key->count[s];
    }
    *out = &key->base;
    return CUZK_OK;
}
