/* Linux behind os.h. Each function does one thing with the kernel and turns errno into a sentence.
 */
#include "base/os.h"

#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"

static size_t page_round(uint64_t bytes)
{
    uint64_t page = 4096;
    return (size_t)((bytes == 0 ? page : bytes + page - 1) / page * page);
}

void *cuzk_os_pages_alloc(uint64_t bytes)
{
    if (bytes > (uint64_t)1 << 46)
        return NULL;
    size_t size = page_round(bytes);
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    if (size >= (size_t)4 << 20)
        (void)madvise(p, size, MADV_HUGEPAGE);
    return p;
}

void cuzk_os_pages_free(void *p, uint64_t bytes)
{
    if (p != NULL)
        (void)munmap(p, page_round(bytes));
}

/* Opens a regular file for reading and tells its size. */
static cuzk_status open_regular(int *out, uint64_t *size, const char *path, struct cuzk_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return cuzk_fail(err, errno == ENOENT ? CUZK_E_NOT_FOUND : CUZK_E_IO, "%s: cannot open: %s",
                         path, strerror(errno));
    struct stat st;
    if (fstat(fd, &st) != 0) {
        int e = errno;
        (void)close(fd);
        return cuzk_fail(err, CUZK_E_IO, "%s: cannot stat: %s", path, strerror(e));
    }
    if (!S_ISREG(st.st_mode)) {
        (void)close(fd);
        return cuzk_fail(err, CUZK_E_IO, "%s: not a regular file", path);
    }
    *out = fd;
    *size = (uint64_t)st.st_size;
    return CUZK_OK;
}

cuzk_status cuzk_os_map(struct cuzk_mapping *out, const char *path, struct cuzk_error *err)
{
    *out = (struct cuzk_mapping){0};
    int fd = -1;
    uint64_t size = 0;
    cuzk_status status = open_regular(&fd, &size, path, err);
    if (status != CUZK_OK)
        return status;
    if (size == 0) {
        (void)close(fd);
        return CUZK_OK;
    }
    void *p = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
    int e = errno;
    (void)close(fd);
    if (p == MAP_FAILED)
        return cuzk_fail(err, CUZK_E_IO, "%s: cannot map %" PRIu64 " bytes: %s", path, size,
                         strerror(e));
    out->data = p;
    out->size = size;
    return CUZK_OK;
}

void cuzk_os_unmap(struct cuzk_mapping *mapping)
{
    if (mapping->data != NULL)
        (void)munmap((void *)(uintptr_t)mapping->data, (size_t)mapping->size);
    *mapping = (struct cuzk_mapping){0};
}

static void map_advise(const struct cuzk_mapping *m, uint64_t offset, uint64_t size, int advice,
                       int inward)
{
    if (m->data == NULL || offset >= m->size)
        return;
    uint64_t end = size > m->size - offset ? m->size : offset + size;
    uint64_t from = inward ? (offset + 4095) & ~(uint64_t)4095 : offset & ~(uint64_t)4095;
    uint64_t to = inward ? end & ~(uint64_t)4095 : end;
    if (from < to)
        (void)madvise((void *)((uintptr_t)m->data + from), (size_t)(to - from), advice);
}

void cuzk_os_map_drop(const struct cuzk_mapping *mapping, uint64_t offset, uint64_t size)
{
    map_advise(mapping, offset, size, MADV_DONTNEED, 1);
}

void cuzk_os_map_want(const struct cuzk_mapping *mapping, uint64_t offset, uint64_t size)
{
    map_advise(mapping, offset, size, MADV_WILLNEED, 0);
}

cuzk_status cuzk_os_identify(struct cuzk_os_identity *out, const char *path, struct cuzk_error *err)
{
    *out = (struct cuzk_os_identity){0};
    struct stat st;
    if (stat(path, &st) != 0)
        return cuzk_fail(err, errno == ENOENT ? CUZK_E_NOT_FOUND : CUZK_E_IO, "%s: cannot stat: %s",
                         path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return cuzk_fail(err, CUZK_E_IO, "%s: not a regular file", path);
    out->size = (uint64_t)st.st_size;
    out->inode = (uint64_t)st.st_ino;
    out->device = (uint64_t)st.st_dev;
    out->changed_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
    return CUZK_OK;
}

void cuzk_os_hold_streams(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY); /* the lowest number: fd */
}

cuzk_status cuzk_os_read_file(uint8_t **out, size_t *size, const char *path, size_t max,
                              struct cuzk_error *err)
{
    *out = NULL;
    *size = 0;
    int fd = -1;
    uint64_t length = 0;
    uint8_t *data = NULL;
    cuzk_status status = open_regular(&fd, &length, path, err);
    if (status != CUZK_OK)
        return status;
    if (length > max) {
        status = cuzk_fail(err, CUZK_E_RANGE, "%s: %" PRIu64 " bytes; at most %zu are read", path,
                           length, max);
        goto fail;
    }
    data = cuzk_malloc((size_t)length + 1);
    if (data == NULL) {
        status =
            cuzk_fail(err, CUZK_E_MEMORY, "%s: out of memory for %" PRIu64 " bytes", path, length);
        goto fail;
    }
    size_t have = 0;
    while (have < length) {
        ssize_t n = read(fd, data + have, (size_t)length - have);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            status = cuzk_fail(err, CUZK_E_IO, "%s: cannot read at offset %zu: %s", path, have,
                               strerror(errno));
            goto fail;
        }
        if (n == 0) {
            status = cuzk_fail(err, CUZK_E_TRUNCATED, "%s: ended at %zu of %" PRIu64 " bytes", path,
                               have, length);
            goto fail;
        }
        have += (size_t)n;
    }
    data[have] = '\0';
    (void)close(fd);
    *out = data;
    *size = have;
    return CUZK_OK;
fail:
    cuzk_free(data);
    (void)close(fd);
    return status;
}

/* Where the new file comes to be, in out: links are followed, so that a link stays one and what it
 * leads to is replaced. What is there must be a regular file or nothing: a rename would put a file
 * in the place of a device or a pipe. */
static cuzk_status resolve(char out[PATH_MAX], const char *path, struct cuzk_error *err)
{
    struct stat st;
    if (stat(path, &st) == 0) {
        if (S_ISDIR(st.st_mode))
            return cuzk_fail(err, CUZK_E_IO, "%s: a folder: name a file in it", path);
        if (!S_ISREG(st.st_mode))
            return cuzk_fail(err, CUZK_E_IO,
                             "%s: not a regular file: it would be replaced, not written to", path);
        if (access(path, W_OK) == 0 && realpath(path, out) != NULL)
            return CUZK_OK; /* whoever made it read-only wants it kept */
    } else if (errno == ENOENT && (size_t)snprintf(out, PATH_MAX, "%s", path) < PATH_MAX) {
        return CUZK_OK;
    }
    return cuzk_fail(err, CUZK_E_IO, "%s: cannot create: %s", path, strerror(errno));
}

/* The folder of a path, "." where it names none. */
static void folder_of(char out[PATH_MAX], const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t n = slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
    (void)snprintf(out, PATH_MAX, "%.*s", n != 0 ? (int)n : 1, n != 0 ? path : ".");
}

bool cuzk_os_same_path(const char *a, const char *b)
{
    char folder[PATH_MAX], whole[2][PATH_MAX];
    const char *const path[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        if (realpath(path[i], whole[i]) != NULL)
            continue;
        const char *slash = strrchr(path[i], '/'); /* not there yet: its folder is */
        folder_of(folder, path[i]);
        if (strlen(path[i]) >= PATH_MAX || realpath(folder, whole[i]) == NULL)
            return false;
        size_t n = strlen(whole[i]);
        (void)snprintf(whole[i] + n, PATH_MAX - n, "/%s", slash != NULL ? slash + 1 : path[i]);
    }
    return strcmp(whole[0], whole[1]) == 0;
}

struct cuzk_writer {
    int fd;
    bool named; /* the temporary has its name already; else it vanishes with the descriptor */
    size_t fill;
    uint64_t written;
    char path[PATH_MAX], folder[PATH_MAX], temporary[PATH_MAX + 64];
    uint8_t buffer[1 << 16];
};

/* Gives the temporary a name that nobody has: by `make`, which fails with EEXIST for those that
 * somebody has (another process of this number on another machine, or one that was killed). */
static int name_temporary(struct cuzk_writer *w, int (*make)(struct cuzk_writer *w))
{
    static _Atomic unsigned next;
    for (int tries = 0; tries < 1000; tries++) {
        (void)snprintf(w->temporary, sizeof w->temporary, "%s/cuzk-%ld-%u.part", w->folder,
                       (long)getpid(), next++);
        if (make(w) == 0) {
            w->named = true;
            return 0;
        }
        if (errno != EEXIST)
            return -1;
    }
    return -1;
}

static int make_by_open(struct cuzk_writer *w)
{
    w->fd = open(w->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    return w->fd < 0 ? -1 : 0;
}

static int make_by_link(struct cuzk_writer *w)
{
    char self[64];
    (void)snprintf(self, sizeof self, "/proc/self/fd/%d", w->fd);
    return linkat(AT_FDCWD, self, AT_FDCWD, w->temporary, AT_SYMLINK_FOLLOW);
}

cuzk_status cuzk_os_writer_open(struct cuzk_writer **out, const char *path, struct cuzk_error *err)
{
    *out = NULL;
    struct cuzk_writer *w = cuzk_malloc(sizeof *w);
    if (w == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "%s: out of memory", path);
    w->fd = -1;
    w->named = false;
    w->fill = 0;
    w->written = 0;
    cuzk_status status = resolve(w->path, path, err);
    if (status != CUZK_OK) {
        cuzk_free(w);
        return status;
    }
    folder_of(w->folder, w->path);
    /* without a name it is gone whenever the process is, killed or not */
    if (access("/proc/self/fd", X_OK) == 0)
        w->fd = open(w->folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0644);
    if (w->fd < 0 && name_temporary(w, make_by_open) != 0) { /* file systems that do not know it */
        status = cuzk_fail(err, CUZK_E_IO, "%s: cannot create: %s", path, strerror(errno));
        cuzk_free(w);
        return status;
    }
    *out = w;
    return CUZK_OK;
}

cuzk_status cuzk_os_writer_check(const char *path, struct cuzk_error *err)
{
    struct cuzk_writer *w;
    cuzk_status status = cuzk_os_writer_open(&w, path, err);
    cuzk_os_writer_abort(w);
    return status;
}

static cuzk_status write_all(struct cuzk_writer *w, const uint8_t *data, size_t size,
                             struct cuzk_error *err)
{
    while (size != 0) {
        ssize_t n = write(w->fd, data, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return cuzk_fail(err, CUZK_E_IO, "%s: cannot write at offset %" PRIu64 ": %s", w->path,
                             w->written, strerror(errno));
        data += n;
        size -= (size_t)n;
        w->written += (uint64_t)n;
    }
    return CUZK_OK;
}

cuzk_status cuzk_os_writer_write(struct cuzk_writer *w, const void *data, size_t size,
                                 struct cuzk_error *err)
{
    const uint8_t *p = data;
    cuzk_status status;
    if (w->fill + size >= sizeof w->buffer) {
        status = write_all(w, w->buffer, w->fill, err);
        w->fill = 0;
        if (status != CUZK_OK)
            return status;
        if (size >= sizeof w->buffer)
            return write_all(w, p, size, err);
    }
    memcpy(w->buffer + w->fill, p, size);
    w->fill += size;
    return CUZK_OK;
}

void cuzk_os_writer_abort(struct cuzk_writer *w)
{
    if (w == NULL)
        return;
    if (w->named)
        (void)unlink(w->temporary);
    (void)close(w->fd);
    cuzk_free(w);
}

cuzk_status cuzk_os_writer_commit(struct cuzk_writer *w, struct cuzk_error *err)
{
    cuzk_status status = write_all(w, w->buffer, w->fill, err);
    if (status == CUZK_OK && fsync(w->fd) != 0)
        status = cuzk_fail(err, CUZK_E_IO, "%s: cannot sync: %s", w->path, strerror(errno));
    if (status == CUZK_OK &&
        ((!w->named && name_temporary(w, make_by_link) != 0) || rename(w->temporary, w->path) != 0))
        status =
            cuzk_fail(err, CUZK_E_IO, "%s: cannot put it in place: %s", w->path, strerror(errno));
    if (status == CUZK_OK)
        w->named = false; /* that name is gone */
    cuzk_os_writer_abort(w);
    return status;
}

static double clock_seconds(clockid_t id)
{
    struct timespec t;
    if (clock_gettime(id, &t) != 0)
        return 0;
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double cuzk_os_seconds(void)
{
    return clock_seconds(CLOCK_MONOTONIC);
}
double cuzk_os_thread_cpu_seconds(void)
{
    return clock_seconds(CLOCK_THREAD_CPUTIME_ID);
}
double cuzk_os_process_cpu_seconds(void)
{
    return clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
}

cuzk_status cuzk_os_random(void *out, size_t size, struct cuzk_error *err)
{
    uint8_t *p = out;
    while (size != 0) {
        ssize_t n = getrandom(p, size, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return cuzk_fail(err, CUZK_E_IO, "the kernel gives no random bytes: %s",
                             strerror(errno));
        p += n;
        size -= (size_t)n;
    }
    return CUZK_OK;
}

/* First line of a small file (cgroup, proc) into text; false when it is not there. */
static bool read_line(const char *path, char *text, size_t size)
{
    FILE *f = fopen(path, "re");
    if (f == NULL)
        return false;
    bool ok = fgets(text, (int)size, f) != NULL;
    (void)fclose(f);
    return ok;
}

/* The process's cgroup path for a controller (v1) or, with controller = "", for v2. */
static bool cgroup_path(const char *controller, char *out, size_t size)
{
    FILE *f = fopen("/proc/self/cgroup", "re");
    if (f == NULL)
        return false;
    char line[4200];
    bool found = false;
    while (!found && fgets(line, sizeof line, f) != NULL) {
        char *names = strchr(line, ':');
        char *path = names != NULL ? strchr(names + 1, ':') : NULL;
        if (path == NULL)
            continue;
        *path++ = '\0';
        names++;
        path[strcspn(path, "\n")] = '\0';
        for (char *save = NULL, *name = strtok_r(names, ",", &save);;
             name = strtok_r(NULL, ",", &save)) {
            if (strcmp(name != NULL ? name : "", controller) == 0) {
                found = (size_t)snprintf(out, size, "%s", path) < size;
                break;
            }
            if (name == NULL)
                break;
        }
    }
    (void)fclose(f);
    return found;
}

/* Calls visit with the directory of the cgroup and of each of its ancestors. */
static void each_cgroup(const char *root, char *path, void (*visit)(const char *dir, void *context),
                        void *context)
{
    char dir[4400];
    for (;;) {
        if ((size_t)snprintf(dir, sizeof dir, "%s%s", root, path) < sizeof dir)
            visit(dir, context);
        char *slash = strrchr(path, '/');
        if (slash == NULL || (slash == path && path[1] == '\0'))
            return;
        slash[slash == path ? 1 : 0] = '\0';
    }
}

struct quota {
    const char *file;
    uint64_t memory;
    double processors;
};

static void visit_memory(const char *dir, void *context)
{
    struct quota *q = context;
    char name[4500], text[64];
    (void)snprintf(name, sizeof name, "%s/%s", dir, q->file);
    if (!read_line(name, text, sizeof text) || text[0] < '0' || text[0] > '9')
        return; /* absent, or "max" */
    uint64_t limit = strtoull(text, NULL, 10);
    if (limit < q->memory)
        q->memory = limit;
}

static void visit_cpu(const char *dir, void *context)
{
    struct quota *q = context;
    char name[4500], text[64], period[64];
    double us, per = 100000;
    (void)snprintf(name, sizeof name, "%s/%s", dir, q->file);
    if (!read_line(name, text, sizeof text) || text[0] < '0' || text[0] > '9')
        return; /* absent, "max" or -1 */
    char *end;
    us = strtod(text, &end);
    if (*end == ' ') {
        per = strtod(end, NULL);
    } else {
        (void)snprintf(name, sizeof name, "%s/cpu.cfs_period_us", dir);
        if (read_line(name, period, sizeof period))
            per = strtod(period, NULL);
    }
    if (us > 0 && per > 0 && us / per < q->processors)
        q->processors = us / per;
}

static void quotas(struct quota *q, const char *controller, const char *file1, const char *file2,
                   void (*visit)(const char *, void *))
{
    char path[4200], root[64];
    if (cgroup_path(controller, path, sizeof path)) {
        (void)snprintf(root, sizeof root, "/sys/fs/cgroup/%s", controller);
        q->file = file1;
        each_cgroup(root, path, visit, q);
    }
    if (cgroup_path("", path, sizeof path)) {
        q->file = file2;
        each_cgroup("/sys/fs/cgroup", path, visit, q);
    }
}

unsigned cuzk_os_processors(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        n = CPU_COUNT(&set);
    struct quota q = {.processors = n < 1 ? 1 : (double)n};
    quotas(&q, "cpu", "cpu.cfs_quota_us", "cpu.max", visit_cpu);
    return q.processors < 1 ? 1 : (unsigned)q.processors;
}

uint64_t cuzk_os_memory_limit(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    struct quota q = {.memory = UINT64_MAX};
    if (pages > 0 && page > 0)
        q.memory = (uint64_t)pages * (uint64_t)page;
    quotas(&q, "memory", "memory.limit_in_bytes", "memory.max", visit_memory);
    return q.memory;
}

void cuzk_os_memory_read(struct cuzk_os_memory *out)
{
    *out = (struct cuzk_os_memory){0};
    FILE *f = fopen("/proc/self/status", "re");
    if (f == NULL)
        return;
    char line[256];
    while (fgets(line, sizeof line, f) != NULL) {
        static const struct {
            const char *name;
            size_t offset;
        } fields[] = {
            {"VmRSS:", offsetof(struct cuzk_os_memory, rss)},
            {"RssAnon:", offsetof(struct cuzk_os_memory, anon)},
            {"RssFile:", offsetof(struct cuzk_os_memory, file)},
            {"RssShmem:", offsetof(struct cuzk_os_memory, shmem)},
            {"VmHWM:", offsetof(struct cuzk_os_memory, peak_rss)},
        };
        for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
            size_t n = strlen(fields[i].name);
            if (strncmp(line, fields[i].name, n) == 0) {
                uint64_t bytes = strtoull(line + n, NULL, 10) * 1024;
                memcpy((char *)out + fields[i].offset, &bytes, sizeof bytes);
            }
        }
    }
    (void)fclose(f);
}

void cuzk_os_cpu_read(struct cuzk_os_cpu *out)
{
    *out = (struct cuzk_os_cpu){0};
#if defined(__x86_64__)
    unsigned a, b, c, d, xcr0 = 0, high;
    if (__get_cpuid(1, &a, &b, &c, &d)) {
        out->sha_ni = (c >> 19 & 1) != 0; /* SSE4.1; the SHA bit follows */
        if (c >> 27 & 1)                  /* OSXSAVE */
            __asm__ volatile("xgetbv" : "=a"(xcr0), "=d"(high) : "c"(0));
    }
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
        out->mulx_adx = (b >> 8 & 1) != 0 && (b >> 19 & 1) != 0;
        out->sha_ni = out->sha_ni && (b >> 29 & 1) != 0;
        out->avx512ifma = (xcr0 & 0xe6) == 0xe6 && (b >> 16 & 1) != 0 && (b >> 17 & 1) != 0 &&
                          (b >> 21 & 1) != 0 && (b >> 31 & 1) != 0;
    } else {
        out->sha_ni = false;
    }
    unsigned brand[12];
    if (__get_cpuid(0x80000000u, &a, &b, &c, &d) && a >= 0x80000004u) {
        for (unsigned i = 0; i < 3; i++)
            (void)__get_cpuid(0x80000002u + i, &brand[4 * i], &brand[4 * i + 1], &brand[4 * i + 2],
                              &brand[4 * i + 3]);
        memcpy(out->model, brand, sizeof brand);
    }
#endif
}
