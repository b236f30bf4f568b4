/* See cgroup.h. */
#include "monitor/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/mem.h"
#include "monitor/text.h"

struct mount_point {
    int version;
    char dir[512];
    char root[512]; /* what of the hierarchy is mounted there */
};

static ssize_t read_file(const char *dir, const char *name, char *out, size_t capacity)
{
    char path[1100];
    struct rssmon_proc_root here = {.fd = AT_FDCWD};
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    return rssmon_proc_read(&here, path, out, capacity);
}

/* The n-th blank-separated word of a line into out. */
static int word(const char *line, int n, char *out, size_t capacity)
{
    const char *p = line;
    for (; n > 0 && *p != '\0'; n--) {
        p += strcspn(p, " ");
        p += *p == ' ';
    }
    size_t length = strcspn(p, " \n");
    if (n > 0 || length >= capacity)
        return -1;
    memcpy(out, p, length);
    out[length] = '\0';
    return 0;
}

static int has_word(const char *list, const char *w)
{
    size_t n = strlen(w);
    for (const char *p = list; *p != '\0'; p += strcspn(p, ","), p += *p == ',')
        if (strncmp(p, w, n) == 0 && (p[n] == ',' || p[n] == '\0'))
            return 1;
    return 0;
}

/* Version 1's memory hierarchy where it is mounted, else version 2's. */
static int find_mount(const struct rssmon_proc_root *root, struct mount_point *m)
{
    enum { CAPACITY = 1 << 18 };
    char *text = rssmon_calloc(CAPACITY, 1);
    m->version = 0;
    if (text == NULL)
        return -1;
    if (rssmon_proc_read(root, "self/mountinfo", text, CAPACITY) <= 0)
        text[0] = '\0';
    for (char *line = text, *next; *line != '\0'; line = next) {
        next = strchr(line, '\n');
        if (next != NULL)
            *next++ = '\0';
        else
            next = line + strlen(line);
        const char *tail = strstr(line, " - ");
        char type[32], super[256];
        if (tail == NULL || word(tail + 3, 0, type, sizeof type) != 0 ||
            word(tail + 3, 2, super, sizeof super) != 0)
            continue;
        int version = strcmp(type, "cgroup2") == 0                               ? 2
                      : strcmp(type, "cgroup") == 0 && has_word(super, "memory") ? 1
                                                                                 : 0;
        if (version == 0 || (m->version == 1 && version == 2) || m->version == version)
            continue;
        if (word(line, 3, m->root, sizeof m->root) == 0 &&
            word(line, 4, m->dir, sizeof m->dir) == 0)
            m->version = version;
    }
    rssmon_free(text);
    return m->version != 0 ? 0 : -1;
}

static int get_mount(const struct rssmon_proc_root *root, const char *mount, struct mount_point *m)
{
    char path[700];
    if (mount == NULL)
        return find_mount(root, m);
    (void)snprintf(m->dir, sizeof m->dir, "%s", mount);
    (void)snprintf(m->root, sizeof m->root, "/");
    (void)snprintf(path, sizeof path, "%s/cgroup.controllers", mount);
    m->version = access(path, F_OK) == 0 ? 2 : 1;
    return 0;
}

static rssmon_status open_dir(struct rssmon_cgroup *cg, const struct mount_point *m,
                              const char *path, struct rssmon_error *err)
{
    struct stat st;
    const char *below = path;
    size_t n = strlen(m->root);
    if (strcmp(m->root, "/") != 0 && strncmp(path, m->root, n) == 0)
        below = path + n;
    (void)snprintf(cg->path, sizeof cg->path, "%s", path);
    if ((size_t)snprintf(cg->dir, sizeof cg->dir, "%s%s%s", m->dir,
                         below[0] == '/' || below[0] == '\0' ? "" : "/",
                         strcmp(below, "/") == 0 ? "" : below) >= sizeof cg->dir ||
        stat(cg->dir, &st) != 0 || !S_ISDIR(st.st_mode))
        return rssmon_fail(err, RSSMON_E_NOT_FOUND,
                           "cgroup %s: no folder %s; name it as /proc/PID/cgroup does", path,
                           cg->dir);
    cg->version = m->version;
    if (m->version == 2) {
        char peak[1100];
        (void)snprintf(peak, sizeof peak, "%s/memory.peak", cg->dir);
        cg->phase_peak = open(peak, O_RDWR | O_CLOEXEC);
    }
    return RSSMON_OK;
}

rssmon_status rssmon_cgroup_of(struct rssmon_cgroup *cg, const struct rssmon_proc_root *root,
                               uint64_t pid, const char *mount, struct rssmon_error *err)
{
    struct mount_point m;
    char text[8192], name[64];
    memset(cg, 0, sizeof *cg);
    cg->phase_peak = -1;
    if (get_mount(root, mount, &m) != 0)
        return rssmon_fail(err, RSSMON_E_NOT_FOUND,
                           "no memory cgroup hierarchy is mounted; its figures are left out");
    (void)snprintf(name, sizeof name, "%" PRIu64 "/cgroup", pid);
    if (rssmon_proc_read(root, name, text, sizeof text) < 0)
        return rssmon_fail(err, RSSMON_E_GONE, "process %" PRIu64 ": its cgroup cannot be read",
                           pid);
    for (char *line = text; line != NULL && *line != '\0';) {
        char *nl = strchr(line, '\n');
        if (nl != NULL)
            *nl = '\0';
        char *first = strchr(line, ':'), *second = first != NULL ? strchr(first + 1, ':') : NULL;
        if (second != NULL) {
            *second = '\0';
            if (m.version == 2 ? strncmp(line, "0:", 2) == 0 && first[1] == '\0'
                               : has_word(first + 1, "memory"))
                return open_dir(cg, &m, second + 1, err);
        }
        line = nl != NULL ? nl + 1 : NULL;
    }
    return rssmon_fail(err, RSSMON_E_NOT_FOUND, "process %" PRIu64 " is in no memory cgroup", pid);
}

rssmon_status rssmon_cgroup_by_path(struct rssmon_cgroup *cg, const struct rssmon_proc_root *root,
                                    const char *path, const char *mount, struct rssmon_error *err)
{
    struct mount_point m;
    memset(cg, 0, sizeof *cg);
    cg->phase_peak = -1;
    if (get_mount(root, mount, &m) != 0)
        return rssmon_fail(err, RSSMON_E_NOT_FOUND, "no memory cgroup hierarchy is mounted");
    size_t n = strlen(m.dir);
    if (strncmp(path, m.dir, n) == 0 && (path[n] == '/' || path[n] == '\0'))
        path += n;
    return open_dir(cg, &m, *path != '\0' ? path : "/", err);
}

/* Depth-first search for a folder; units lie at most some slices deep. */
static int find_unit(const char *dir, const char *unit, int depth, char *out, size_t capacity)
{
    DIR *d = opendir(dir);
    int found = 0;
    if (d == NULL)
        return 0;
    for (struct dirent *e; !found && (e = readdir(d)) != NULL;) {
        char path[1024];
        struct stat st;
        if (e->d_name[0] == '.' ||
            (size_t)snprintf(path, sizeof path, "%s/%s", dir, e->d_name) >= sizeof path ||
            lstat(path, &st) != 0 || !S_ISDIR(st.st_mode))
            continue;
        if (strcmp(e->d_name, unit) == 0)
            found = (size_t)snprintf(out, capacity, "%s", path) < capacity;
        else if (depth < 8)
            found = find_unit(path, unit, depth + 1, out, capacity);
    }
    closedir(d);
    return found;
}

rssmon_status rssmon_cgroup_of_unit(struct rssmon_cgroup *cg, const struct rssmon_proc_root *root,
                                    const char *unit, const char *mount, struct rssmon_error *err)
{
    struct mount_point m;
    char name[256], dir[1024];
    memset(cg, 0, sizeof *cg);
    cg->phase_peak = -1;
    if (get_mount(root, mount, &m) != 0)
        return rssmon_fail(err, RSSMON_E_NOT_FOUND, "no memory cgroup hierarchy is mounted");
    (void)snprintf(name, sizeof name, "%s%s", unit, strchr(unit, '.') != NULL ? "" : ".service");
    if (strchr(unit, '/') != NULL || !find_unit(m.dir, name, 0, dir, sizeof dir))
        return rssmon_fail(err, RSSMON_E_NOT_FOUND,
                           "unit %s: no cgroup of that name below %s; is it active? (systemctl "
                           "status %s), or give --wait",
                           name, m.dir, name);
    return open_dir(cg, &m, dir + strlen(m.dir), err);
}

void rssmon_cgroup_close(struct rssmon_cgroup *cg)
{
    if (cg->version != 0 && cg->phase_peak >= 0)
        close(cg->phase_peak);
    cg->phase_peak = -1;
    cg->version = 0;
}

static uint64_t read_number(const char *dir, const char *name)
{
    char text[64];
    uint64_t v;
    ssize_t n = read_file(dir, name, text, sizeof text);
    if (n <= 0)
        return RSSMON_UNKNOWN;
    text[strcspn(text, "\n")] = '\0';
    return rssmon_parse_u64(text, &v) == 0 ? v : RSSMON_UNKNOWN;
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a == RSSMON_UNKNOWN || b == RSSMON_UNKNOWN ? a : a > b ? a - b : 0;
}

void rssmon_cgroup_read(const struct rssmon_cgroup *cg, struct rssmon_cgroup_figures *f)
{
    char text[16384];
    memset(f, 0xff, sizeof *f);
    if (cg->version == 0)
        return;
    int v2 = cg->version == 2;
    f->current = read_number(cg->dir, v2 ? "memory.current" : "memory.usage_in_bytes");
    f->peak = read_number(cg->dir, v2 ? "memory.peak" : "memory.max_usage_in_bytes");
    f->limit = read_number(cg->dir, v2 ? "memory.max" : "memory.limit_in_bytes");
    if (read_file(cg->dir, "memory.stat", text, sizeof text) > 0) {
        (void)rssmon_line_value(text, v2 ? "anon " : "total_rss ", &f->anon);
        (void)rssmon_line_value(text, v2 ? "shmem " : "total_shmem ", &f->shmem);
        (void)rssmon_line_value(text, v2 ? "file " : "total_cache ", &f->file);
        (void)rssmon_line_value(text, v2 ? "file_mapped " : "total_mapped_file ", &f->mapped);
        f->file = less(f->file, f->shmem);
        if (v2)
            (void)rssmon_line_value(text, "kernel ", &f->kernel);
        else
            (void)rssmon_line_value(text, "total_swap ", &f->swap);
    }
    if (v2)
        f->swap = read_number(cg->dir, "memory.swap.current");
    else
        f->kernel = read_number(cg->dir, "memory.kmem.usage_in_bytes");
}

void rssmon_cgroup_read_events(const struct rssmon_cgroup *cg, struct rssmon_cgroup_events *e)
{
    char text[1024];
    memset(e, 0xff, sizeof *e);
    if (cg->version == 1) {
        if (read_file(cg->dir, "memory.oom_control", text, sizeof text) > 0)
            (void)rssmon_line_value(text, "oom_kill ", &e->oom_kill);
        e->oom_kill_local = e->oom_kill;
    } else if (cg->version == 2) {
        if (read_file(cg->dir, "memory.events", text, sizeof text) > 0) {
            (void)rssmon_line_value(text, "oom_kill ", &e->oom_kill);
            (void)rssmon_line_value(text, "oom ", &e->oom);
        }
        if (read_file(cg->dir, "memory.events.local", text, sizeof text) > 0)
            (void)rssmon_line_value(text, "oom_kill ", &e->oom_kill_local);
    }
}

void rssmon_cgroup_phase_begin(struct rssmon_cgroup *cg)
{
    /* before 6.12 the file is not writable and phase_peak is -1 */
    if (cg->phase_peak >= 0 && write(cg->phase_peak, "reset\n", 6) < 0) {
        close(cg->phase_peak);
        cg->phase_peak = -1;
    }
}

uint64_t rssmon_cgroup_phase_peak(const struct rssmon_cgroup *cg)
{
    char text[32];
    uint64_t v;
    ssize_t n = cg->phase_peak >= 0 ? pread(cg->phase_peak, text, sizeof text - 1, 0) : -1;
    if (n <= 0)
        return RSSMON_UNKNOWN;
    text[n] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return rssmon_parse_u64(text, &v) == 0 ? v : RSSMON_UNKNOWN;
}

static int each_below(const char *dir, int depth, int (*each)(void *context, uint64_t pid),
                      void *context)
{
    char path[1100];
    (void)snprintf(path, sizeof path, "%s/cgroup.procs", dir);
    FILE *f = fopen(path, "re");
    if (f == NULL)
        return depth == 0 ? -1 : 0;
    uint64_t pid;
    int rc = 0;
    while (rc == 0 && fscanf(f, "%" SCNu64, &pid) == 1)
        rc = each(context, pid);
    fclose(f);
    DIR *d = rc == 0 && depth < 16 ? opendir(dir) : NULL;
    if (d == NULL)
        return rc;
    for (struct dirent *e; rc == 0 && (e = readdir(d)) != NULL;) {
        if (e->d_name[0] == '.' || (e->d_type != DT_DIR && e->d_type != DT_UNKNOWN))
            continue;
        if ((size_t)snprintf(path, sizeof path, "%s/%s", dir, e->d_name) < sizeof path)
            rc = each_below(path, depth + 1, each, context);
    }
    closedir(d);
    return rc;
}

int rssmon_cgroup_each(const struct rssmon_cgroup *cg, int (*each)(void *context, uint64_t pid),
                       void *context)
{
    return each_below(cg->dir, 0, each, context);
}
