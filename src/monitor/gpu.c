/* See gpu.h. The declarations follow NVML's published interface. */
#include "monitor/gpu.h"

#include <dlfcn.h>
#include <string.h>

#include "monitor/mem.h"
#include "monitor/record.h"

enum { NVML_OK = 0, NVML_TOO_SMALL = 7, DEVICES_MAX = 64, PROCESSES_MAX = 4096 };

typedef void *nvml_device;
struct nvml_memory {
    unsigned long long total, free, used;
};
struct nvml_process_1 {
    unsigned pid;
    unsigned long long used;
};
struct nvml_process_2 { /* versions 2 and 3 */
    unsigned pid;
    unsigned long long used;
    unsigned gpu_instance, compute_instance;
};

struct rssmon_gpu {
    void *library;
    int (*shutdown)(void);
    int (*memory)(nvml_device, struct nvml_memory *);
    int (*lists[2])(nvml_device, unsigned *, void *); /* compute, graphics */
    size_t stride;
    nvml_device devices[DEVICES_MAX];
    unsigned device_count;
    union {
        struct nvml_process_1 one[PROCESSES_MAX];
        struct nvml_process_2 two[PROCESSES_MAX];
    } buffer;
    struct {
        unsigned pid;
        unsigned long long used;
    } seen[PROCESSES_MAX];
};

static int symbol(void *library, const char *name, void *out)
{
    void *p = dlsym(library, name);
    memcpy(out, &p, sizeof p);
    return p != NULL ? 0 : -1;
}

static int find_lists(struct rssmon_gpu *g)
{
    static const struct {
        const char *compute, *graphics;
        size_t stride;
    } versions[] = {{"nvmlDeviceGetComputeRunningProcesses_v3",
                     "nvmlDeviceGetGraphicsRunningProcesses_v3", sizeof(struct nvml_process_2)},
                    {"nvmlDeviceGetComputeRunningProcesses_v2",
                     "nvmlDeviceGetGraphicsRunningProcesses_v2", sizeof(struct nvml_process_2)},
                    {"nvmlDeviceGetComputeRunningProcesses",
                     "nvmlDeviceGetGraphicsRunningProcesses", sizeof(struct nvml_process_1)}};
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++)
        if (symbol(g->library, versions[i].compute, &g->lists[0]) == 0) {
            (void)symbol(g->library, versions[i].graphics, &g->lists[1]);
            g->stride = versions[i].stride;
            return 0;
        }
    return -1;
}

rssmon_status rssmon_gpu_open(struct rssmon_gpu **out, const char *library,
                              struct rssmon_error *err)
{
    int (*init)(void) = NULL;
    int (*count)(unsigned *) = NULL;
    int (*handle)(unsigned, nvml_device *) = NULL;
    rssmon_status status = RSSMON_E_UNSUPPORTED;
    *out = NULL;
    if (library == NULL)
        library = "libnvidia-ml.so.1";
    struct rssmon_gpu *g = rssmon_calloc(1, sizeof *g);
    if (g == NULL)
        return rssmon_fail(err, RSSMON_E_MEMORY, "no memory for NVML's lists");
    g->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (g->library == NULL) {
        status = rssmon_fail(err, RSSMON_E_NOT_FOUND,
                             "%s cannot be loaded; device memory is left out", library);
        goto fail;
    }
    if (symbol(g->library, "nvmlInit_v2", &init) != 0 ||
        symbol(g->library, "nvmlShutdown", &g->shutdown) != 0 ||
        symbol(g->library, "nvmlDeviceGetCount_v2", &count) != 0 ||
        symbol(g->library, "nvmlDeviceGetHandleByIndex_v2", &handle) != 0 ||
        symbol(g->library, "nvmlDeviceGetMemoryInfo", &g->memory) != 0 || find_lists(g) != 0) {
        g->shutdown = NULL;
        rssmon_fail(err, status, "%s lacks a function that rssmon needs; device memory is left out",
                    library);
        goto fail;
    }
    int rc = init();
    if (rc != NVML_OK) {
        g->shutdown = NULL;
        rssmon_fail(err, status, "%s does not start (NVML error %d); device memory is left out",
                    library, rc);
        goto fail;
    }
    unsigned n = 0;
    if (count(&n) != NVML_OK)
        n = 0;
    for (unsigned i = 0; i < n && g->device_count < DEVICES_MAX; i++)
        if (handle(i, &g->devices[g->device_count]) == NVML_OK)
            g->device_count++;
    *out = g;
    return RSSMON_OK;
fail:
    rssmon_gpu_close(g);
    return status;
}

void rssmon_gpu_close(struct rssmon_gpu *g)
{
    if (g == NULL)
        return;
    if (g->shutdown != NULL)
        (void)g->shutdown();
    if (g->library != NULL)
        dlclose(g->library);
    rssmon_free(g);
}

unsigned rssmon_gpu_devices(const struct rssmon_gpu *g)
{
    return g->device_count;
}

/* A process may stand in both lists of one device: its greater figure counts. */
static unsigned take(struct rssmon_gpu *g, unsigned seen, unsigned pid, unsigned long long used)
{
    for (unsigned i = 0; i < seen; i++)
        if (g->seen[i].pid == pid) {
            if (used > g->seen[i].used)
                g->seen[i].used = used;
            return seen;
        }
    if (seen == PROCESSES_MAX)
        return seen;
    g->seen[seen].pid = pid;
    g->seen[seen].used = used;
    return seen + 1;
}

void rssmon_gpu_read(struct rssmon_gpu *g, int (*member)(void *context, uint64_t pid),
                     void *context, uint64_t *scope, uint64_t *unattributed)
{
    uint64_t own = 0, open = 0;
    int known = 0, in_use_known = 0, not_available = 0;
    for (unsigned d = 0; d < g->device_count; d++) {
        unsigned seen = 0;
        uint64_t attributed = 0;
        for (int list = 0; list < 2; list++) {
            unsigned n = PROCESSES_MAX;
            if (g->lists[list] == NULL || g->lists[list](g->devices[d], &n, &g->buffer) != NVML_OK)
                continue;
            known = 1;
            for (unsigned i = 0; i < n && i < PROCESSES_MAX; i++) {
                unsigned pid = g->stride == sizeof g->buffer.one[0] ? g->buffer.one[i].pid
                                                                    : g->buffer.two[i].pid;
                unsigned long long used = g->stride == sizeof g->buffer.one[0]
                                              ? g->buffer.one[i].used
                                              : g->buffer.two[i].used;
                if (used == ~0ULL) {
                    not_available |= member(context, pid) == 1;
                    continue;
                }
                seen = take(g, seen, pid, used);
            }
        }
        for (unsigned i = 0; i < seen; i++) {
            int whose = member(context, g->seen[i].pid);
            if (whose == 1)
                own += g->seen[i].used;
            if (whose >= 0)
                attributed += g->seen[i].used;
        }
        struct nvml_memory m;
        if (g->memory(g->devices[d], &m) == NVML_OK) {
            in_use_known = 1;
            open += m.used > attributed ? m.used - attributed : 0;
        }
    }
    *scope = known && !(not_available && own == 0) ? own : RSSMON_UNKNOWN;
    *unattributed = in_use_known ? open : RSSMON_UNKNOWN;
}
