/* Devices by name: see cuzk/device.h for the names. The table lists what this build has; a backend
 * is one entry.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "device/device.h"

static const struct cuzk_backend *const backends[] = {
    &cuzk_backend_cpu,
#ifdef CUZK_HAVE_CUDA
    &cuzk_backend_cuda,
#endif
};
enum { BACKENDS = sizeof backends / sizeof backends[0] };

/* The CUDA backend, or NULL and why there is none. */
static const struct cuzk_backend *cuda_backend(void)
{
    for (size_t i = 0; i < BACKENDS; i++)
        if (strcmp(backends[i]->name, "cuda") == 0)
            return backends[i];
    return NULL;
}

cuzk_status cuzk_device_list(struct cuzk_device_info **out, size_t *count, struct cuzk_error *err)
{
    struct cuzk_device_info *all = NULL;
    size_t n = 0;
    cuzk_status status = CUZK_OK;
    *out = NULL;
    *count = 0;
    for (size_t i = 0; i < BACKENDS; i++) {
        struct cuzk_device_info *some = NULL;
        size_t more = 0;
        char absent[120] = "";
        status = backends[i]->list(&some, &more, absent, err);
        if (status != CUZK_OK)
            goto fail;
        if (more == 0) {
            cuzk_free(some);
            continue;
        }
        struct cuzk_device_info *grown = cuzk_realloc(all, n + more, sizeof *all);
        if (grown == NULL) {
            cuzk_free(some);
            status = cuzk_fail(err, CUZK_E_MEMORY, "out of memory for the list of devices");
            goto fail;
        }
        all = grown;
        memcpy(all + n, some, more * sizeof *some);
        n += more;
        cuzk_free(some);
    }
    *out = all;
    *count = n;
    return CUZK_OK;
fail:
    cuzk_free(all);
    return status;
}

void cuzk_device_list_free(struct cuzk_device_info *list)
{
    cuzk_free(list);
}

const struct cuzk_device_info *cuzk_device_describe(const struct cuzk_device *device)
{
    return &device->info;
}

const char *cuzk_device_why(const struct cuzk_device *device)
{
    return device->why;
}

static cuzk_status open_cuda(struct cuzk_device **out, const char *name,
                             const struct cuzk_device_config *config, struct cuzk_error *err)
{
    const struct cuzk_backend *cuda = cuda_backend();
    if (cuda == NULL)
        return cuzk_fail(err, CUZK_E_UNSUPPORTED,
                         "device %s: this build has no CUDA backend; build where nvcc is found, or "
                         "use --device cpu",
                         name);
    struct cuzk_device_info *list = NULL;
    size_t count = 0, index = 0;
    char absent[120] = "";
    cuzk_status status = cuda->list(&list, &count, absent, err);
    if (status != CUZK_OK)
        return cuzk_fail_prefix(err, status, "device %s", name);
    if (count == 0) {
        status = cuzk_fail(err, CUZK_E_DEVICE, "device %s: no CUDA device: %s", name, absent);
        goto done;
    }
    if (strncmp(name, "cuda:", 5) == 0) {
        char *end;
        unsigned long long n = strtoull(name + 5, &end, 10);
        if (name[5] < '0' || name[5] > '9' || *end != '\0') {
            status = cuzk_fail(err, CUZK_E_ARGUMENT, "device %s: a number must follow cuda:", name);
            goto done;
        }
        if (n >= count) {
            status = cuzk_fail(err, CUZK_E_NOT_FOUND, "device %s: there are %zu, from cuda:0", name,
                               count);
            goto done;
        }
        index = (size_t)n;
    } else if (strcmp(name, "cuda") != 0) {
        size_t hits = 0;
        for (size_t i = 0; i < count; i++)
            if (strncmp(list[i].uuid, name, strlen(name)) == 0) {
                index = i;
                hits++;
            }
        if (hits != 1) {
            status = cuzk_fail(err, CUZK_E_NOT_FOUND, "device %s: %s", name,
                               hits == 0 ? "no device has this UUID"
                                         : "the UUIDs of several devices start so");
            goto done;
        }
    }
    status = cuda->open(out, index, config, err);
    if (status == CUZK_OK)
        (void)snprintf((*out)->why, sizeof(*out)->why, "%s was asked for", name);
    else
        (void)cuzk_fail_prefix(err, status, "device %s", name);
done:
    cuzk_free(list);
    return status;
}

static cuzk_status open_cpu(struct cuzk_device **out, const char *why,
                            const struct cuzk_device_config *config, struct cuzk_error *err)
{
    cuzk_status status = cuzk_backend_cpu.open(out, 0, config, err);
    if (status == CUZK_OK)
        (void)snprintf((*out)->why, sizeof(*out)->why, "%s", why);
    return status;
}

static cuzk_status open_auto(struct cuzk_device **out, const struct cuzk_device_config *config,
                             struct cuzk_error *err)
{
    const struct cuzk_backend *cuda = cuda_backend();
    if (cuda == NULL)
        return open_cpu(out, "auto took the processor: this build has no CUDA backend", config,
                        err);
    struct cuzk_device_info *list = NULL;
    size_t count = 0;
    char absent[120] = "", why[200];
    cuzk_status status = cuda->list(&list, &count, absent, err);
    cuzk_free(list);
    if (status != CUZK_OK)
        return cuzk_fail_prefix(err, status, "device auto (--device cpu goes without)");
    if (count == 0) {
        (void)snprintf(why, sizeof why, "auto took the processor: no CUDA device: %s", absent);
        return open_cpu(out, why, config, err);
    }
    status = cuda->open(out, 0, config, err);
    if (status != CUZK_OK)
        return cuzk_fail_prefix(err, status,
                                "device auto found cuda:0, which does not start (--device cpu goes "
                                "without)");
    (void)snprintf((*out)->why, sizeof(*out)->why, "auto took %s, the first of %zu",
                   (*out)->info.name, count);
    return CUZK_OK;
}

cuzk_status cuzk_device_open(struct cuzk_device **out, const char *name,
                             const struct cuzk_device_config *config, struct cuzk_error *err)
{
    *out = NULL;
    struct cuzk_device_config filled = *config;
    if (filled.curve == NULL)
        filled.curve = bls12_381_ops(NULL);
    if (name == NULL || strcmp(name, "auto") == 0)
        return open_auto(out, &filled, err);
    if (strcmp(name, "cpu") == 0)
        return open_cpu(out, "cpu was asked for", &filled, err);
    if (strcmp(name, "cuda") == 0 || strncmp(name, "cuda:", 5) == 0 ||
        strncmp(name, "GPU-", 4) == 0)
        return open_cuda(out, name, &filled, err);
    return cuzk_fail(err, CUZK_E_ARGUMENT,
                     "device %s: not one of auto, cpu, cuda, cuda:N, or a UUID (GPU-…)", name);
}
