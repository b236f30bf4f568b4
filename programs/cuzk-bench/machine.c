/* What a result depends on and the file must tell: the machine, the kernel, the sources, the key.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bench.h"

/* FNV-1a, 64 bits: tells files apart; nobody is to trust it. */
static uint64_t fnv(uint64_t h, const void *data, size_t n)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 0x100000001b3;
    return h;
}

/* The value behind "name<tab>: " of /proc/cpuinfo's first processor. */
static void cpuinfo(const char *name, char *out, size_t capacity)
{
    FILE *f = fopen("/proc/cpuinfo", "re");
    char line[8192];
    out[0] = '\0';
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        char *colon = strchr(line, ':');
        if (strncmp(line, name, strlen(name)) != 0 || colon == NULL)
            continue;
        colon[1 + strcspn(colon + 1, "\n")] = '\0';
        (void)snprintf(out, capacity, "%s", colon + 1 + (colon[1] == ' '));
        break;
    }
    if (f != NULL)
        (void)fclose(f);
}

void machine_read(struct experiment *out)
{
    struct utsname u;
    static char flags[8192];
    if (uname(&u) == 0) {
        (void)snprintf(out->kernel, sizeof out->kernel, "%.60s %.60s", u.release, u.machine);
        (void)snprintf(out->host, sizeof out->host, "%.60s", u.nodename);
    }
    cpuinfo("model name", out->cpu, sizeof out->cpu);
    cpuinfo("flags", flags, sizeof flags);
    (void)snprintf(out->cpu_flags, sizeof out->cpu_flags, "%016" PRIx64,
                   fnv(0xcbf29ce484222325, flags, strlen(flags)));
    out->cores = sysconf(_SC_NPROCESSORS_ONLN);
    out->memory = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    (void)snprintf(out->machine, sizeof out->machine, "%s, %" PRId64 " cores, %.1f GiB", out->cpu,
                   out->cores, (double)out->memory / 1073741824.0);
}

int key_digest(char out[72], const char *path)
{
    static char block[1 << 20];
    struct stat st;
    (void)snprintf(out, 72, "none");
    if (path == NULL)
        return BENCH_OK;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0) {
        int e = errno;
        if (fd >= 0)
            (void)close(fd);
        return bench_error(BENCH_NOT_FOUND, "--key %s: %s", path, strerror(e));
    }
    /* both ends: a key is gigabytes, and its first points already depend on the whole waste */
    uint64_t h = fnv(0xcbf29ce484222325, &st.st_size, sizeof st.st_size);
    const off_t from[] = {0,
                          st.st_size > (off_t)sizeof block ? st.st_size - (off_t)sizeof block : 0};
    for (int i = 0; i < 2; i++) {
        ssize_t n = pread(fd, block, sizeof block, from[i]);
        if (n < 0) {
            (void)close(fd);
            return bench_error(BENCH_IO, "--key %s: cannot read: %s", path, strerror(errno));
        }
        h = fnv(h, block, (size_t)n);
    }
    (void)close(fd);
    (void)snprintf(out, 72, "%016" PRIx64 "-%" PRId64, h, (int64_t)st.st_size);
    return BENCH_OK;
}

void git_revision(char out[64])
{
    char line[64] = "";
    (void)snprintf(out, 64, "unknown");
    FILE *f = popen("git rev-parse --short=12 HEAD 2>/dev/null && "
                    "{ git diff --quiet HEAD 2>/dev/null || echo +; }",
                    "re");
    if (f == NULL)
        return;
    if (fgets(line, sizeof line, f) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char dirty[8] = "";
        bool changed = fgets(dirty, sizeof dirty, f) != NULL && dirty[0] == '+';
        (void)snprintf(out, 64, "%.40s%s", line, changed ? "+changes" : "");
    }
    (void)pclose(f);
}
