/* Device memory per process, by NVML where its library is there (loaded at run time; the struct
 * versions 3, 2 and 1 of its process list are known). A figure that NVML calls not available stays
 * unknown. NVML names processes by the PIDs of the host: inside a container what cannot be matched
 * is told as unattributed.
 */
#ifndef RSSMON_GPU_H
#define RSSMON_GPU_H

#include <stddef.h>
#include <stdint.h>

#include "monitor/error.h"

struct rssmon_gpu;

/* library: NULL for libnvidia-ml.so.1. NOT_FOUND when it is not there, UNSUPPORTED when it does not
 * start or lacks a function. */
rssmon_status rssmon_gpu_open(struct rssmon_gpu **gpu, const char *library,
                              struct rssmon_error *err);
void rssmon_gpu_close(struct rssmon_gpu *gpu);
unsigned rssmon_gpu_devices(const struct rssmon_gpu *gpu);

/* member(context, pid): 1 when it belongs to the scope, 0 when it is another visible process, -1
 * when no such process is to be seen. Both results may come back unknown. */
void rssmon_gpu_read(struct rssmon_gpu *gpu, int (*member)(void *context, uint64_t pid),
                     void *context, uint64_t *scope, uint64_t *unattributed);

#endif
