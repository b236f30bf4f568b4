/* Keys on the device. Points travel as they stand in the file and are turned around, checked and
 * brought into Montgomery form by the device, a piece at a time: the staging is bounded, and the
 * processor's part is to copy. A point that fails is decoded again on the host, for its error. A
 * resident key keeps its five sections; of a streamed one pieces come as sums use them.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/os.h"
#include "device/cuda/backend.h"

enum { PIECE_BYTES = 32 << 20 }; /* of the file on the device at once */

cuzk_status cuzk_cuda_key_read(struct cuda_device *device, void *to,
                               const struct cuzk_params *params, enum cuzk_section section,
                               size_t first, size_t count, struct cuzk_error *err)
{
    struct cuzk_cuda *cuda = device->cuda;
    size_t size = (size_t)cuda_point_bytes(section), piece = PIECE_BYTES / size;
    void *raw = NULL;
    if (count == 0)
        return CUZK_OK;
    if (piece > count)
        piece = count;
    cuzk_status status = cuzk_cuda_alloc(cuda, &raw, CUZK_PURPOSE_STAGING, piece * size, err);
    for (size_t done = 0; done < count && status == CUZK_OK; done += piece) {
        size_t n = count - done < piece ? count - done : piece, bad = n;
        uint64_t offset = params->offset[section] + (uint64_t)(first + done) * size;
        void *out = (char *)to + done * size;
        cuzk_os_map_want(&params->file, offset + n * size, piece * size);
        status = cuzk_cuda_upload(cuda, raw, params->file.data + offset, n * size, err);
        if (status == CUZK_OK)
            status = section == CUZK_QUERY_B2 ? cuzk_cuda_decode_g2(cuda, out, raw, n, &bad, err)
                                              : cuzk_cuda_decode_g1(cuda, out, raw, n, &bad, err);
        if (status != CUZK_OK || bad == n)
            continue;
        struct bls12_381_g1_affine g1;
        struct bls12_381_g2_affine g2;
        status = section == CUZK_QUERY_B2
                     ? cuzk_params_g2(params, &g2, first + done + bad, 1, err)
                     : cuzk_params_g1(params, section, &g1, first + done + bad, 1, err);
        if (status == CUZK_OK)
            status = cuzk_fail(err, CUZK_E_DEVICE,
                               "%s: %s refuses point %zu of section %s, the processor takes it",
                               params->path, device->base.info.name, first + done + bad,
                               cuzk_section_name(section));
    }
    cuzk_cuda_free(cuda, raw);
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
    struct cuda_device *device = cuda_of(base);
    cuzk_status status = CUZK_OK;
    (void)pthread_mutex_lock(&device->lock);
    for (int s = 0; residency == CUZK_KEY_RESIDENT && status == CUZK_OK && s < CUZK_SECTIONS; s++) {
        enum cuzk_section section = (enum cuzk_section)s;
        uint64_t bytes = cuda_point_bytes(section) * key->count[s];
        status = cuzk_cuda_alloc(device->cuda, &key->points[s], CUZK_PURPOSE_SRS, bytes, err);
        if (status == CUZK_OK)
            status =
                cuzk_cuda_key_read(device, key->points[s], params, section, 0, key->count[s], err);
        key->base.resident += bytes;
    }
    (void)pthread_mutex_unlock(&device->lock);
    if (status != CUZK_OK) {
        cuzk_cuda_key_free(&key->base);
        return cuzk_fail_prefix(err, status, "key kept on the device");
    }
    *out = &key->base;
    return CUZK_OK;
}
