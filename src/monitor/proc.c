/* See proc.h. */
#include "monitor/proc.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "monitor/text.h"

enum { PROC_FS_MAGIC = 0x9fa0 };

/* ---- parsers ---- */

/* A decimal number (a sign is accepted and gives 0: tty_nr, priorities). Returns where it ends. */
static const char *number(const char *p, const char *end, uint64_t *v)
{
    int negative = p < end && *p == '-';
    p += negative;
    if (p >= end || *p < '0' || *p > '9')
        return NULL;
    *v = 0;
    for (; p < end && *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(*v, 10, v) ||
            __builtin_add_overflow(*v, (uint64_t)(*p - '0'), v))
            return NULL;
    if (negative)
        *v = 0;
    return p;
}

int rssmon_stat_parse(const char *text, size_t n, struct rssmon_stat *out)
{
    enum { FIRST = 4, LAST = 52 }; /* numeric fields of proc(5), from 1 */
    uint64_t field[LAST + 1];
    const char *end = text + n;
    const char *open = memchr(text, '(', n), *close = NULL;
    if (open == NULL)
        return -1;
    for (const char *p = end; p-- > open;)
        if (*p == ')') {
            close = p;
            break;
        }
    memset(out, 0, sizeof *out);
    const char *p = number(text, end, &out->pid);
    if (close == NULL || p == NULL || p + 1 != open || end - close < 4 || close[1] != ' ')
        return -1;
    size_t length = (size_t)(close - open - 1);
    if (length >= sizeof out->comm)
        length = sizeof out->comm - 1;
    memcpy(out->comm, open + 1, length);
    for (size_t i = 0; i < length; i++)
        if (out->comm[i] == '\0') /* cannot come from the kernel */
            return -1;
    out->state = close[2];
    p = close + 3;
    int count = FIRST;
    memset(field, 0, sizeof field);
    field[52] = RSSMON_UNKNOWN;
    for (; count <= LAST && p < end && *p == ' '; count++)
        if ((p = number(p + 1, end, &field[count])) == NULL)
            return -1;
    if (count <= 22)
        return -1;
    out->ppid = field[4];
    out->session = field[6];
    out->flags = field[9];
    out->minor_faults = field[10];
    out->user_ticks = field[14];
    out->system_ticks = field[15];
    out->threads = field[20];
    out->start_ticks = field[22];
    out->start_stack = field[28];
    out->exit_code = field[52];
    return 0;
}

int rssmon_statm_parse(const char *text, size_t n, struct rssmon_statm *out)
{
    const char *end = text + n, *p = text;
    uint64_t *values[3] = {&out->size, &out->resident, &out->shared};
    for (int i = 0; i < 3; i++) {
        if (i > 0 && (p >= end || *p++ != ' '))
            return -1;
        if ((p = number(p, end, values[i])) == NULL)
            return -1;
    }
    return p == end || *p == ' ' || *p == '\n' ? 0 : -1;
}

/* "Key:  123 kB" → bytes */
static int line_number(const char *p, const char *end, uint64_t *v)
{
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    if ((p = number(p, end, v)) == NULL)
        return -1;
    if (end - p >= 3 && memcmp(p, " kB", 3) == 0 && __builtin_mul_overflow(*v, 1024, v))
        return -1;
    return 0;
}

int rssmon_line_value(const char *text, const char *key, uint64_t *value)
{
    size_t n = strlen(key);
    for (const char *line = text; line != NULL && *line != '\0';) {
        const char *nl = strchr(line, '\n');
        const char *end = nl != NULL ? nl : line + strlen(line);
        if (strncmp(line, key, n) == 0)
            return line_number(line + n, end, value);
        line = nl != NULL ? nl + 1 : NULL;
    }
    return -1;
}

int rssmon_status_parse(const char *text, size_t n, struct rssmon_status_file *out)
{
    const struct {
        const char *key;
        uint64_t *value;
    } keys[] = {{"Uid:", &out->uid},        {"Threads:", &out->threads},
                {"VmSize:", &out->vsize},   {"VmLck:", &out->locked},
                {"VmHWM:", &out->hwm},      {"VmRSS:", &out->rss},
                {"RssAnon:", &out->anon},   {"RssFile:", &out->file},
                {"RssShmem:", &out->shmem}, {"VmPTE:", &out->page_tables},
                {"VmSwap:", &out->swap},    {"HugetlbPages:", &out->hugetlb},
                {"NSpid:", &out->ns_pid}};
    enum { KEYS = sizeof keys / sizeof keys[0] };
    memset(out, 0, sizeof *out);
    for (size_t k = 0; k < KEYS; k++)
        *keys[k].value = RSSMON_UNKNOWN;
    const char *p = text, *end = text + n;
    while (p < end) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        const char *stop = nl != NULL ? nl : end;
        /* most lines are not ours: their first letter tells */
        if (strchr("SUTVRHN", *p) == NULL || *p == '\0') {
            p = stop + 1;
            continue;
        }
        if (stop - p >= 5 && memcmp(p, "SigQ:", 5) == 0)
            break; /* what follows is masks */
        if (stop - p >= 8 && memcmp(p, "State:\t", 7) == 0)
            out->state = p[7];
        for (size_t k = 0; k < KEYS; k++) {
            if (keys[k].key[0] != *p)
                continue;
            size_t length = strlen(keys[k].key);
            if ((size_t)(stop - p) < length || memcmp(p, keys[k].key, length) != 0)
                continue;
            const char *from = p + length;
            if (k == KEYS - 1) /* the last of NSpid's numbers */
                for (const char *q = from; q < stop; q++)
                    if ((*q == '\t' || *q == ' ') && q + 1 < stop && isdigit((unsigned char)q[1]))
                        from = q;
            if (line_number(from, stop, keys[k].value) != 0)
                return -1;
            break;
        }
        p = stop + 1;
    }
    return out->state != '\0' ? 0 : -1;
}

/* ---- files ---- */

rssmon_status rssmon_proc_open_root(struct rssmon_proc_root *root, const char *path,
                                    struct rssmon_error *err)
{
    struct statfs fs;
    memset(root, 0, sizeof *root);
    root->fd = -1;
    if ((size_t)snprintf(root->path, sizeof root->path, "%s", path) >= sizeof root->path)
        return rssmon_fail(err, RSSMON_E_ARGUMENT, "--proc-root: the path is too long");
    root->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root->fd < 0 || fstatfs(root->fd, &fs) != 0) {
        int error = errno;
        rssmon_proc_close_root(root);
        return rssmon_fail(err, rssmon_status_of_errno(error),
                           "%s: cannot be opened: %s; rssmon needs a mounted proc file system",
                           path, strerror(error));
    }
    root->real = fs.f_type == PROC_FS_MAGIC;
    root->page_size = (uint64_t)sysconf(_SC_PAGESIZE);
    return RSSMON_OK;
}

void rssmon_proc_close_root(struct rssmon_proc_root *root)
{
    if (root->fd >= 0)
        close(root->fd);
    root->fd = -1;
}

static ssize_t read_fd(int fd, char *out, size_t capacity)
{
    size_t n = 0;
    while (n + 1 < capacity) {
        ssize_t k = pread(fd, out + n, capacity - 1 - n, (off_t)n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return -errno;
        if (k == 0)
            break;
        n += (size_t)k;
    }
    out[n] = '\0';
    return (ssize_t)n;
}

/* Small files of /proc come whole in one read. */
static ssize_t read_once(int fd, char *out, size_t capacity)
{
    ssize_t k;
    do
        k = pread(fd, out, capacity - 1, 0);
    while (k < 0 && errno == EINTR);
    if (k < 0)
        return -errno;
    out[k] = '\0';
    return k;
}

static ssize_t read_at(int dir, const char *path, char *out, size_t capacity)
{
    int fd = openat(dir, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return -errno;
    ssize_t n = read_fd(fd, out, capacity);
    close(fd);
    return n;
}

ssize_t rssmon_proc_read(const struct rssmon_proc_root *root, const char *path, char *out,
                         size_t capacity)
{
    return read_at(root->fd, path, out, capacity);
}

void rssmon_proc_command(const struct rssmon_proc_root *root, uint64_t pid, char *out,
                         size_t capacity)
{
    char path[64];
    (void)snprintf(path, sizeof path, "%" PRIu64 "/cmdline", pid);
    ssize_t n = rssmon_proc_read(root, path, out, capacity);
    out[n > 0 ? n : 0] = '\0';
    while (n > 0 && out[n - 1] == '\0')
        n--;
    for (ssize_t i = 0; i < n; i++)
        if (out[i] == '\0')
            out[i] = ' ';
}

void rssmon_proc_exe(const struct rssmon_proc_root *root, uint64_t pid, char *out, size_t capacity)
{
    char path[64];
    (void)snprintf(path, sizeof path, "%" PRIu64 "/exe", pid);
    ssize_t n = readlinkat(root->fd, path, out, capacity - 1);
    out[n > 0 ? n : 0] = '\0';
}

const char *rssmon_life_name(enum rssmon_life life)
{
    static const char *const names[] = {"running", "stopped",       "zombie-leader", "exiting",
                                        "zombie",  "kernel-thread", "gone",          "unreadable"};
    return names[life];
}

/* ---- one process ---- */

static void close_kept(struct rssmon_process *p)
{
    if (p->statm >= 0)
        close(p->statm);
    if (p->status >= 0)
        close(p->status);
    p->statm = p->status = -1;
}

void rssmon_process_close(struct rssmon_process *p)
{
    close_kept(p);
    if (p->dir >= 0)
        close(p->dir);
    p->dir = -1;
}

/* A file of the process, or of the thread that stands in for a dead leader. */
static ssize_t read_own(struct rssmon_process *p, int *kept, const char *name, char *out,
                        size_t capacity)
{
    char path[80];
    if (*kept >= 0)
        return read_once(*kept, out, capacity);
    if (p->thread != 0)
        (void)snprintf(path, sizeof path, "task/%" PRIu64 "/%s", p->thread, name);
    else
        (void)snprintf(path, sizeof path, "%s", name);
    int dir = p->dir;
    if (!p->root->real) { /* a test's file may be replaced: look it up by name each time */
        char whole[128];
        (void)snprintf(whole, sizeof whole, "%" PRIu64 "/%s", p->pid, path);
        return read_at(p->root->fd, whole, out, capacity);
    }
    int fd = openat(dir, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return -errno;
    ssize_t n = read_fd(fd, out, capacity);
    *kept = fd;
    return n;
}

static enum rssmon_life life_of_error(ssize_t error)
{
    return error == -EACCES || error == -EPERM ? RSSMON_LIFE_UNREADABLE : RSSMON_LIFE_GONE;
}

static ssize_t read_stat(struct rssmon_process *p, struct rssmon_stat *stat)
{
    char text[1024];
    int none = -1;
    uint64_t thread = p->thread;
    p->thread = 0; /* always the leader's */
    ssize_t n = read_own(p, &none, "stat", text, sizeof text);
    p->thread = thread;
    if (none >= 0)
        close(none);
    if (n < 0)
        return n;
    return rssmon_stat_parse(text, (size_t)n, stat) == 0 ? n : -ESRCH;
}

/* A thread of the process that still has its memory: sets p->thread. */
static int find_live_thread(struct rssmon_process *p)
{
    char path[80], text[4096];
    struct rssmon_status_file s;
    (void)snprintf(path, sizeof path, "%" PRIu64 "/task", p->pid);
    int fd = openat(p->root->fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (dir == NULL) {
        if (fd >= 0)
            close(fd);
        return 0;
    }
    int found = 0;
    for (struct dirent *e; !found && (e = readdir(dir)) != NULL;) {
        uint64_t tid;
        if (rssmon_parse_u64(e->d_name, &tid) != 0 || tid == p->pid)
            continue;
        (void)snprintf(path, sizeof path, "%" PRIu64 "/task/%" PRIu64 "/status", p->pid, tid);
        ssize_t n = rssmon_proc_read(p->root, path, text, sizeof text);
        if (n > 0 && rssmon_status_parse(text, (size_t)n, &s) == 0 && s.rss != RSSMON_UNKNOWN) {
            p->thread = tid;
            found = 1;
        }
    }
    closedir(dir);
    return found;
}

/* Why there is no memory to be seen. Looks for a live thread first. */
static enum rssmon_life without_memory(struct rssmon_process *p)
{
    struct rssmon_stat stat;
    close_kept(p);
    p->thread = 0;
    ssize_t n = read_stat(p, &stat);
    if (n < 0)
        return p->life = life_of_error(n);
    if (p->start_ticks != 0 && stat.start_ticks != p->start_ticks)
        return p->life = RSSMON_LIFE_GONE;
    p->stat.exit_code = stat.exit_code;
    if (stat.flags & RSSMON_PF_KTHREAD)
        return p->life = RSSMON_LIFE_KERNEL;
    if (stat.threads > 1 && find_live_thread(p))
        return p->life = RSSMON_LIFE_ZOMBIE_LEADER;
    p->thread = 0;
    return p->life =
               stat.state == 'Z' || stat.state == 'X' ? RSSMON_LIFE_ZOMBIE : RSSMON_LIFE_EXITING;
}

static void take_rss(struct rssmon_process *p, uint64_t rss)
{
    p->rss = rss;
    if (rss > p->peak)
        p->peak = rss;
}

enum rssmon_life rssmon_process_quick(struct rssmon_process *p)
{
    char text[256];
    struct rssmon_statm m;
    for (int again = 0; again < 2; again++) {
        ssize_t n = read_own(p, &p->statm, "statm", text, sizeof text);
        if (n < 0 && p->thread == 0 && life_of_error(n) == RSSMON_LIFE_UNREADABLE)
            return p->life = RSSMON_LIFE_UNREADABLE;
        if (n > 0 && rssmon_statm_parse(text, (size_t)n, &m) == 0 && m.resident != 0) {
            take_rss(p, m.resident * p->root->page_size);
            if (!rssmon_life_measured(p->life))
                p->life = RSSMON_LIFE_RUNS;
            return p->life;
        }
        /* 0 pages: a dying process, a dead leader, or one that is swapped out whole */
        if (n > 0 && m.size != 0)
            return rssmon_process_full(p);
        if (without_memory(p) != RSSMON_LIFE_ZOMBIE_LEADER)
            break;
    }
    return p->life;
}

static void read_names(struct rssmon_process *p)
{
    rssmon_proc_command(p->root, p->pid, p->command, sizeof p->command);
    rssmon_proc_exe(p->root, p->pid, p->exe, sizeof p->exe);
}

static void exe_identity(const struct rssmon_process *p, uint64_t *device, uint64_t *inode)
{
    char path[64];
    struct stat st;
    *device = *inode = 0;
    (void)snprintf(path, sizeof path, "%" PRIu64 "/exe", p->pid);
    if (p->root->real && fstatat(p->root->fd, path, &st, 0) == 0) {
        *device = st.st_dev;
        *inode = st.st_ino;
    }
}

/* Reads status of the leader, or of a thread that lives on; 0 when there is no memory to be seen.
 */
static int read_status(struct rssmon_process *p, struct rssmon_status_file *s)
{
    char text[4096];
    for (int again = 0; again < 2; again++) {
        ssize_t n = read_own(p, &p->status, "status", text, sizeof text);
        if (n > 0 && rssmon_status_parse(text, (size_t)n, s) == 0 && s->rss != RSSMON_UNKNOWN) {
            p->life = p->thread != 0                       ? RSSMON_LIFE_ZOMBIE_LEADER
                      : s->state == 'T' || s->state == 't' ? RSSMON_LIFE_STOPPED
                                                           : RSSMON_LIFE_RUNS;
            return 1;
        }
        if (without_memory(p) != RSSMON_LIFE_ZOMBIE_LEADER)
            return 0;
    }
    p->life = RSSMON_LIFE_EXITING;
    return 0;
}

static void take_status(struct rssmon_process *p, const struct rssmon_status_file *s)
{
    p->s = *s;
    take_rss(p, s->rss);
    if (s->hwm != RSSMON_UNKNOWN && (p->hwm == RSSMON_UNKNOWN || s->hwm > p->hwm))
        p->hwm = s->hwm;
    if (p->hwm != RSSMON_UNKNOWN && p->hwm > p->peak)
        p->peak = p->hwm;
}

enum rssmon_life rssmon_process_memory(struct rssmon_process *p)
{
    enum { SLACK = 1 << 20 }; /* the mark may fall a little without exec: its counter is inexact */
    struct rssmon_status_file s;
    uint64_t before = p->s.hwm;
    if (!read_status(p, &s))
        return p->life;
    if (before != RSSMON_UNKNOWN && s.hwm != RSSMON_UNKNOWN && s.hwm + SLACK < before)
        return rssmon_process_full(p);
    take_status(p, &s);
    return p->life;
}

enum rssmon_life rssmon_process_full(struct rssmon_process *p)
{
    struct rssmon_stat stat;
    struct rssmon_status_file s;
    ssize_t n = read_stat(p, &stat);
    if (n < 0)
        return p->life = life_of_error(n);
    if (p->start_ticks != 0 && stat.start_ticks != p->start_ticks)
        return p->life = RSSMON_LIFE_GONE;
    if (!read_status(p, &s))
        return p->life;
    /* the stack's start moves with exec; where it is hidden the executable must tell */
    uint64_t device = 0, inode = 0;
    if (stat.start_stack <= 1 || stat.start_stack != p->stat.start_stack || p->exe_inode == 0)
        exe_identity(p, &device, &inode);
    int executed =
        (inode != 0 && p->exe_inode != 0 && (inode != p->exe_inode || device != p->exe_device)) ||
        (stat.start_stack > 1 && p->stat.start_stack > 1 &&
         stat.start_stack != p->stat.start_stack);
    if (executed) { /* the kernel's high water mark began anew; ours goes on */
        read_names(p);
        if (p->command[0] == '\0') { /* in the midst of it: the next look sees it again */
            stat.start_stack = p->stat.start_stack;
            inode = 0;
        } else {
            p->executions++;
        }
    }
    if (inode != 0) {
        p->exe_device = device;
        p->exe_inode = inode;
    }
    p->stat = stat;
    take_status(p, &s);
    return p->life;
}

rssmon_status rssmon_process_open(struct rssmon_process *p, const struct rssmon_proc_root *root,
                                  uint64_t pid, uint64_t start_ticks, struct rssmon_error *err)
{
    char path[32];
    memset(p, 0, sizeof *p);
    p->pid = pid;
    p->root = root;
    p->dir = p->statm = p->status = -1;
    p->hwm = RSSMON_UNKNOWN;
    (void)snprintf(path, sizeof path, "%" PRIu64, pid);
    p->dir = openat(root->fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (p->dir < 0) {
        int error = errno;
        return rssmon_fail(err, error == ENOENT ? RSSMON_E_GONE : rssmon_status_of_errno(error),
                           error == ENOENT ? "no process %" PRIu64
                                             "; with --wait rssmon waits for one (hidepid may hide "
                                             "it from this user)"
                                           : "process %" PRIu64 " cannot be opened",
                           pid);
    }
    ssize_t n = read_stat(p, &p->stat);
    if (n < 0 || (start_ticks != 0 && p->stat.start_ticks != start_ticks)) {
        rssmon_process_close(p);
        if (n == -EACCES || n == -EPERM)
            return rssmon_fail(err, RSSMON_E_PERMISSION,
                               "process %" PRIu64 " belongs to another user and hides from this "
                               "one; run rssmon as that user or as root",
                               pid);
        return rssmon_fail(err, RSSMON_E_GONE, "process %" PRIu64 " ended while it was opened",
                           pid);
    }
    p->start_ticks = p->stat.start_ticks;
    read_names(p);
    (void)rssmon_process_full(p);
    return RSSMON_OK;
}

int rssmon_proc_each(const struct rssmon_proc_root *root, int (*each)(void *context, uint64_t pid),
                     void *context)
{
    int fd = openat(root->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (dir == NULL) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    int rc = 0;
    for (struct dirent *e; rc == 0 && (e = readdir(dir)) != NULL;) {
        uint64_t pid;
        if (e->d_name[0] >= '1' && e->d_name[0] <= '9' && rssmon_parse_u64(e->d_name, &pid) == 0)
            rc = each(context, pid);
    }
    closedir(dir);
    return rc;
}

static int each_number(const char *text, int (*each)(void *context, uint64_t pid), void *context)
{
    const char *p = text, *end = text + strlen(text);
    while (p < end) {
        uint64_t pid;
        const char *next = number(p, end, &pid);
        if (next == NULL)
            break;
        int rc = each(context, pid);
        if (rc != 0)
            return rc;
        p = next;
        while (p < end && (*p == ' ' || *p == '\n'))
            p++;
    }
    return 0;
}

int rssmon_proc_children(const struct rssmon_process *p, int (*each)(void *context, uint64_t pid),
                         void *context)
{
    char path[96], text[65536];
    if (p->stat.threads <= 1) {
        (void)snprintf(path, sizeof path, "%" PRIu64 "/task/%" PRIu64 "/children", p->pid, p->pid);
        ssize_t n = rssmon_proc_read(p->root, path, text, sizeof text);
        return n < 0 ? (n == -ENOENT ? -1 : 0) : each_number(text, each, context);
    }
    (void)snprintf(path, sizeof path, "%" PRIu64 "/task", p->pid);
    int fd = openat(p->root->fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (dir == NULL) {
        if (fd >= 0)
            close(fd);
        return 0;
    }
    int rc = 0, seen = 0;
    for (struct dirent *e; rc == 0 && (e = readdir(dir)) != NULL;) {
        uint64_t tid;
        if (rssmon_parse_u64(e->d_name, &tid) != 0)
            continue;
        (void)snprintf(path, sizeof path, "%" PRIu64 "/task/%" PRIu64 "/children", p->pid, tid);
        ssize_t n = rssmon_proc_read(p->root, path, text, sizeof text);
        if (n < 0)
            continue;
        seen = 1;
        rc = each_number(text, each, context);
    }
    closedir(dir);
    return rc != 0 ? rc : seen ? 0 : -1;
}

int rssmon_proc_pss(const struct rssmon_process *p, uint64_t *bytes)
{
    char path[64], text[4096];
    (void)snprintf(path, sizeof path, "%" PRIu64 "/smaps_rollup", p->pid);
    ssize_t n = rssmon_proc_read(p->root, path, text, sizeof text);
    if (n < 0)
        return (int)n;
    return rssmon_line_value(text, "Pss:", bytes) == 0 ? 0 : -ENODATA;
}
