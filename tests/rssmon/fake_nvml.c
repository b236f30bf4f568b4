/* Stands in for libnvidia-ml: one device with 8 GiB in use, whose processes are read from the file
 * that FAKE_NVML names, lines of "PID BYTES" ("-" for a figure that is not available).
 * FAKE_NVML_VERSION (1 or 3) is the struct version that it offers, chosen at compile time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

struct memory {
    unsigned long long total, free, used;
};

#if FAKE_NVML_VERSION == 1
struct process {
    unsigned pid;
    unsigned long long used;
};
#define LIST nvmlDeviceGetComputeRunningProcesses
#else
struct process {
    unsigned pid;
    unsigned long long used;
    unsigned gpu_instance, compute_instance;
};
#define LIST nvmlDeviceGetComputeRunningProcesses_v3
#endif

EXPORT int nvmlInit_v2(void);
EXPORT int nvmlShutdown(void);
EXPORT int nvmlDeviceGetCount_v2(unsigned *count);
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
EXPORT int nvmlDeviceGetMemoryInfo(void *device, struct memory *m);
EXPORT int LIST(void *device, unsigned *count, struct process *list);

int nvmlInit_v2(void)
{
    return getenv("FAKE_NVML") != NULL ? 0 : 9; /* driver not loaded */
}

int nvmlShutdown(void)
{
    return 0;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = 1;
    return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
    static int it;
    *device = &it;
    return index == 0 ? 0 : 2;
}

int nvmlDeviceGetMemoryInfo(void *device, struct memory *m)
{
    (void)device;
    *m = (struct memory){16ULL << 30, 8ULL << 30, 8ULL << 30};
    return 0;
}

int LIST(void *device, unsigned *count, struct process *list)
{
    (void)device;
    FILE *f = fopen(getenv("FAKE_NVML"), "r");
    unsigned n = 0, pid;
    char bytes[32];
    while (f != NULL && n < *count && fscanf(f, "%u %31s", &pid, bytes) == 2) {
        memset(&list[n], 0, sizeof list[n]);
        list[n].pid = pid;
        list[n].used = bytes[0] == '-' ? ~0ULL : strtoull(bytes, NULL, 10);
        n++;
    }
    if (f != NULL)
        fclose(f);
    *count = n;
    return 0;
}
