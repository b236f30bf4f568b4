/* The only home of system calls in the engine: files, pages, clocks, processors, random bytes. */
#ifndef CUZK_BASE_OS_H
#define CUZK_BASE_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuzk/errors.h"

/* Zeroed anonymous pages with transparent large pages advised; NULL when the kernel refuses.
 * bytes = 0 gives one page. Freed with the same size. */
void *cuzk_os_pages_alloc(uint64_t bytes);
void cuzk_os_pages_free(void *p, uint64_t bytes);

/* A file mapped for reading. The kernel may evict its pages; they are not anonymous memory.
 * data is NULL for an empty file. Unmapped by cuzk_os_unmap, which tolerates a zeroed struct. */
struct cuzk_mapping {
    const uint8_t *data;
    uint64_t size;
};
cuzk_status cuzk_os_map(struct cuzk_mapping *out, const char *path, struct cuzk_error *err);
void cuzk_os_unmap(struct cuzk_mapping *mapping);
/* Tells the kernel that [offset, offset + size) of the mapping is not needed for now (drop) or will
 * be soon (want); a hint. */
void cuzk_os_map_drop(const struct cuzk_mapping *mapping, uint64_t offset, uint64_t size);
void cuzk_os_map_want(const struct cuzk_mapping *mapping, uint64_t offset, uint64_t size);

/* What tells a file from another one, or from its later self: equal structs mean that nothing was
 * written to it in between. changed_ns is the time of the last change of content, in nanoseconds
 * since 1970. Follows links; fails on what is not a regular file. */
struct cuzk_os_identity {
    uint64_t size, inode, device, changed_ns;
};
cuzk_status cuzk_os_identify(struct cuzk_os_identity *out, const char *path,
                             struct cuzk_error *err);

/* Takes the numbers 0 to 2 where whoever started the program closed them, with what can neither be
 * read nor written: the next file would get that number, and results would be printed into it. */
void cuzk_os_hold_streams(void);

/* A whole file of at most max bytes read into memory of cuzk_malloc (a NUL behind it). */
cuzk_status cuzk_os_read_file(uint8_t **out, size_t *size, const char *path, size_t max,
                              struct cuzk_error *err);

/* Writes a file so that path holds the old content or the whole new one: a temporary beside it,
 * fsync, rename. Open, write in order, then commit or abort; both free the writer. The temporary
 * has no name before the commit where the file system can do that, and is gone with the process
 * however that ends. Opening fails where a file cannot be made, and on what is not a regular file:
 * a device or a pipe would be replaced. */
struct cuzk_writer;
cuzk_status cuzk_os_writer_open(struct cuzk_writer **out, const char *path, struct cuzk_error *err);
cuzk_status cuzk_os_writer_write(struct cuzk_writer *w, const void *data, size_t size,
                                 struct cuzk_error *err);
cuzk_status cuzk_os_writer_commit(struct cuzk_writer *w, struct cuzk_error *err);
void cuzk_os_writer_abort(struct cuzk_writer *w);
/* Whether a writer could be opened now: asked before long work whose result goes there. */
cuzk_status cuzk_os_writer_check(const char *path, struct cuzk_error *err);

/* Whether two paths lead to one place, where files may be yet or not. */
bool cuzk_os_same_path(const char *a, const char *b);

/* Seconds of a clock that never steps; CPU seconds of the calling thread and of the process. */
double cuzk_os_seconds(void);
double cuzk_os_thread_cpu_seconds(void);
double cuzk_os_process_cpu_seconds(void);

/* Random bytes from the kernel (getrandom); fails only where the kernel has none. */
cuzk_status cuzk_os_random(void *out, size_t size, struct cuzk_error *err);

/* Processors this process may run on (affinity and cgroup quota, at least 1). */
unsigned cuzk_os_processors(void);
/* Bytes this process may use: the least of MemTotal and the limits of its cgroups (v1 or v2). */
uint64_t cuzk_os_memory_limit(void);

/* The process's own memory in bytes, from /proc/self/status; zero where unknown. */
struct cuzk_os_memory {
    uint64_t rss, anon, file, shmem; /* now */
    uint64_t peak_rss;               /* VmHWM */
};
void cuzk_os_memory_read(struct cuzk_os_memory *out);

/* CPU features that our paths ask for. */
struct cuzk_os_cpu {
    bool mulx_adx;   /* BMI2 and ADX */
    bool sha_ni;     /* SHA extensions, SSE4.1 */
    bool avx512ifma; /* with F, VL, DQ; enabled by the kernel */
    char model[64];
};
void cuzk_os_cpu_read(struct cuzk_os_cpu *out);

#endif
