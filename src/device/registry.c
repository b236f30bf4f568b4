/* Devices by name: see cuzk/device.h for the names. The table lists what this build has; a backend
 * is one entry. Names are first turned into choices, a backend and an index of its list, so that
 * the same card under two names is seen before anything is opened.
 */
#include <stdarg.h>
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
        for (size_t k = 0; k < more && backends[i]->free_memory != NULL; k++) {
            status = backends[i]->free_memory(&some[k].memory_free, k, err);
            if (status != CUZK_OK) {
                cuzk_free(some);
                goto fail;
            }
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

int cuzk_device_built_with_cuda(void)
{
    return cuda_backend() != NULL;
}

cuzk_status cuzk_device_cuda_note(char note[160], struct cuzk_error *err)
{
    const struct cuzk_backend *cuda = cuda_backend();
    struct cuzk_device_info *list = NULL;
    size_t count = 0;
    char absent[120] = "";
    note[0] = '\0';
    if (cuda == NULL) {
        (void)snprintf(note, 160, "this build has no CUDA backend");
        return CUZK_OK;
    }
    cuzk_status status = cuda->list(&list, &count, absent, err);
    cuzk_free(list);
    if (status == CUZK_OK && count == 0)
        (void)snprintf(note, 160, "no CUDA device: %s", absent);
    else if (status == CUZK_OK)
        (void)snprintf(note, 160, "%zu CUDA device%s", count, count == 1 ? "" : "s");
    return status;
}

const struct cuzk_device_info *cuzk_device_describe(const struct cuzk_device *device)
{
    return &device->info;
}

const char *cuzk_device_why(const struct cuzk_device *device)
{
    return device->why;
}

/* What a name means. */
struct choice {
    const struct cuzk_backend *backend;
    size_t index;
    char why[200];
    char failing[128]; /* what an error of the opening begins with; "": nothing */
};

__attribute__((format(printf, 4, 5))) static void
choose(struct choice *out, const struct cuzk_backend *backend, size_t index, const char *why, ...)
{
    va_list arguments;
    *out = (struct choice){.backend = backend, .index = index};
    va_start(arguments, why);
    (void)vsnprintf(out->why, sizeof out->why, why, arguments);
    va_end(arguments);
}

/* The cards that the driver shows, at least one; `name` is for errors. */
static cuzk_status list_cuda(const struct cuzk_backend **cuda, struct cuzk_device_info **list,
                             size_t *count, const char *name, struct cuzk_error *err)
{
    char absent[120] = "";
    *list = NULL;
    *count = 0;
    *cuda = cuda_backend();
    if (*cuda == NULL)
        return cuzk_fail(err, CUZK_E_UNSUPPORTED,
                         "device %s: this build has no CUDA backend; build where nvcc is found, or "
                         "use --device cpu",
                         name);
    cuzk_status status = (*cuda)->list(list, count, absent, err);
    if (status != CUZK_OK)
        return cuzk_fail_prefix(err, status, "device %s", name);
    if (*count == 0) {
        cuzk_free(*list);
        *list = NULL;
        return cuzk_fail(err, CUZK_E_DEVICE, "device %s: no CUDA device: %s", name, absent);
    }
    return CUZK_OK;
}

static cuzk_status resolve_cuda(struct choice *out, const char *name, struct cuzk_error *err)
{
    const struct cuzk_backend *cuda;
    struct cuzk_device_info *list;
    size_t count, index = 0;
    unsigned long long n = 0;
    const bool numbered = strncmp(name, "cuda:", 5) == 0;
    if (numbered) {
        char *end;
        n = strtoull(name + 5, &end, 10);
        if (name[5] < '0' || name[5] > '9' || *end != '\0')
            return cuzk_fail(err, CUZK_E_ARGUMENT,
                             "device %s: a number, or all, must follow cuda:", name);
    }
    cuzk_status status = list_cuda(&cuda, &list, &count, name, err);
    if (status != CUZK_OK)
        return status;
    if (numbered) {
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
    choose(out, cuda, index, "%s was asked for", name);
    (void)snprintf(out->failing, sizeof out->failing, "device %s", name);
done:
    cuzk_free(list);
    return status;
}

static cuzk_status resolve_auto(struct choice *out, struct cuzk_error *err)
{
    const struct cuzk_backend *cuda = cuda_backend();
    struct cuzk_device_info *list = NULL;
    size_t count = 0;
    char absent[120] = "";
    if (cuda == NULL) {
        choose(out, &cuzk_backend_cpu, 0,
               "auto took the processor: this build has no CUDA backend");
        return CUZK_OK;
    }
    cuzk_status status = cuda->list(&list, &count, absent, err);
    if (status != CUZK_OK)
        return cuzk_fail_prefix(err, status, "device auto (--device cpu goes without)");
    if (count == 0) {
        choose(out, &cuzk_backend_cpu, 0, "auto took the processor: no CUDA device: %s", absent);
    } else {
        choose(out, cuda, 0, "auto took %s, the first of %zu", list[0].name, count);
        (void)snprintf(out->failing, sizeof out->failing,
                       "device auto found %s, which does not start (--device cpu goes without)",
                       list[0].name);
    }
    cuzk_free(list);
    return CUZK_OK;
}

/* One device. */
static cuzk_status resolve(struct choice *out, const char *name, struct cuzk_error *err)
{
    if (name == NULL || strcmp(name, "auto") == 0)
        return resolve_auto(out, err);
    if (strcmp(name, "cpu") == 0) {
        choose(out, &cuzk_backend_cpu, 0, "cpu was asked for");
        return CUZK_OK;
    }
    if (strcmp(name, "cuda") == 0 || strncmp(name, "cuda:", 5) == 0 ||
        strncmp(name, "GPU-", 4) == 0)
        return resolve_cuda(out, name, err);
    return cuzk_fail(err, CUZK_E_ARGUMENT,
                     "device %s: not one of auto, cpu, cuda, cuda:N, cuda:all, or a UUID (GPU-…)",
                     name);
}

static cuzk_status open_choice(struct cuzk_device **out, const struct choice *choice,
                               const struct cuzk_device_config *config, struct cuzk_error *err)
{
    struct cuzk_device_config filled = *config;
    if (filled.curve == NULL)
        filled.curve = bls12_381_ops(NULL);
    cuzk_status status = choice->backend->open(out, choice->index, &filled, err);
    if (status == CUZK_OK)
        (void)snprintf((*out)->why, sizeof(*out)->why, "%s", choice->why);
    else if (choice->failing[0] != '\0')
        (void)cuzk_fail_prefix(err, status, "%s", choice->failing);
    return status;
}

cuzk_status cuzk_device_open(struct cuzk_device **out, const char *name,
                             const struct cuzk_device_config *config, struct cuzk_error *err)
{
    struct choice choice;
    *out = NULL;
    cuzk_status status = resolve(&choice, name, err);
    return status == CUZK_OK ? open_choice(out, &choice, config, err) : status;
}

/* What a list of names means, in its order. */
struct choices {
    struct choice *of;
    size_t count;
};

static cuzk_status add_choice(struct choices *all, const struct choice *choice, const char *names,
                              struct cuzk_error *err)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->of[i].backend == choice->backend && all->of[i].index == choice->index &&
            choice->backend != &cuzk_backend_cpu)
            return cuzk_fail(err, CUZK_E_ARGUMENT,
                             "device %s: the same card twice: %s, and %s; name each once", names,
                             all->of[i].why, choice->why);
    if (all->count == CUZK_MOST_DEVICES)
        return cuzk_fail(err, CUZK_E_ARGUMENT, "device %s: more than %d devices", names,
                         CUZK_MOST_DEVICES);
    struct choice *grown = cuzk_realloc(all->of, all->count + 1, sizeof *grown);
    if (grown == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "out of memory for the list of devices");
    all->of = grown;
    all->of[all->count++] = *choice;
    return CUZK_OK;
}

static cuzk_status add_all_cards(struct choices *all, const char *names, struct cuzk_error *err)
{
    const struct cuzk_backend *cuda;
    struct cuzk_device_info *list;
    size_t count;
    cuzk_status status = list_cuda(&cuda, &list, &count, "cuda:all", err);
    for (size_t i = 0; i < count && status == CUZK_OK; i++) {
        struct choice choice;
        choose(&choice, cuda, i, "cuda:all took %s of %zu", list[i].name, count);
        (void)snprintf(choice.failing, sizeof choice.failing, "device cuda:all: %s", list[i].name);
        status = add_choice(all, &choice, names, err);
    }
    cuzk_free(list);
    return status;
}

static cuzk_status resolve_names(struct choices *all, const char *names, struct cuzk_error *err)
{
    cuzk_status status = CUZK_OK;
    for (const char *from = names; status == CUZK_OK; from++) {
        struct choice choice;
        char name[64];
        size_t length = strcspn(from, ",");
        (void)snprintf(name, sizeof name, "%.*s", (int)(length < 63 ? length : 63), from);
        if (length == 0 || length >= sizeof name)
            status = cuzk_fail(err, CUZK_E_ARGUMENT,
                               "device %s: a name is missing or too long; names are separated by "
                               "one comma each",
                               names);
        else if (strcmp(name, "auto") == 0 && strcmp(names, "auto") != 0)
            status =
                cuzk_fail(err, CUZK_E_ARGUMENT,
                          "device %s: auto stands alone; name the devices, or cuda:all", names);
        else if (strcmp(name, "cuda:all") == 0)
            status = add_all_cards(all, names, err);
        else if ((status = resolve(&choice, name, err)) == CUZK_OK)
            status = add_choice(all, &choice, names, err);
        from += length;
        if (*from == '\0')
            break;
    }
    return status;
}

cuzk_status cuzk_devices_open(struct cuzk_device ***out, size_t *count, const char *names,
                              const struct cuzk_device_config *config, struct cuzk_error *err)
{
    struct choices all = {NULL, 0};
    struct cuzk_device **devices = NULL;
    *out = NULL;
    *count = 0;
    cuzk_status status = resolve_names(&all, names != NULL ? names : "auto", err);
    if (status != CUZK_OK)
        goto done;
    devices = cuzk_calloc(all.count, sizeof *devices);
    if (devices == NULL) {
        status = cuzk_fail(err, CUZK_E_MEMORY, "out of memory for the devices");
        goto done;
    }
    for (size_t i = 0; i < all.count && status == CUZK_OK; i++)
        status = open_choice(&devices[i], &all.of[i], config, err);
    if (status != CUZK_OK) {
        cuzk_devices_close(devices, all.count);
        goto done;
    }
    *out = devices;
    *count = all.count;
done:
    cuzk_free(all.of);
    return status;
}

void cuzk_devices_close(struct cuzk_device **devices, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (devices[i] != NULL)
            devices[i]->ops->close(devices[i]);
    cuzk_free(devices);
}
