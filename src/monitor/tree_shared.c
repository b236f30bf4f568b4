/* See tree.h for the method. Anonymous pages by family, others by mapping. */
#include "monitor/tree_shared.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "monitor/mem.h"

enum { LISTED_BYTES = 16 << 20, EXTENTS_MAX = 1 << 20 };

static uint64_t known(uint64_t v)
{
    return v == RSSMON_UNKNOWN ? 0 : v;
}

static uint64_t minus(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static int by_family(const void *a, const void *b)
{
    const struct rssmon_member *const *x = a, *const *y = b;
    return (*x)->family < (*y)->family ? -1 : (*x)->family > (*y)->family;
}

static int by_exe(const void *a, const void *b)
{
    const struct rssmon_process *x = &(*(struct rssmon_member *const *)a)->p;
    const struct rssmon_process *y = &(*(struct rssmon_member *const *)b)->p;
    if (x->exe_device != y->exe_device)
        return x->exe_device < y->exe_device ? -1 : 1;
    return x->exe_inode < y->exe_inode ? -1 : x->exe_inode > y->exe_inode;
}

/* What a member holds of its own in a family, at most. */
static uint64_t own_pages(const struct rssmon_member *m, uint64_t page, uint64_t *growth)
{
    uint64_t anon = known(m->p.s.anon);
    uint64_t faults = minus(m->p.stat.minor_faults, m->faults0) * page;
    *growth = minus(anon, known(m->anon0));
    return *growth + minus(faults, *growth);
}

static void correct_anon(struct rssmon_member **order, size_t n, uint64_t page, uint64_t *upper,
                         uint64_t *lower)
{
    qsort(order, n, sizeof *order, by_family);
    *upper = *lower = 0;
    for (size_t i = 0, end; i < n; i = end) {
        struct rssmon_member *base = order[i];
        uint64_t sum = 0, high = 0, growth;
        for (end = i; end < n && order[end]->family == order[i]->family; end++) {
            sum += known(order[end]->p.s.anon);
            if (known(order[end]->p.s.anon) > known(base->p.s.anon))
                base = order[end];
        }
        high = known(base->p.s.anon);
        *lower += high;
        if (end - i > 1) {
            /* the base's broken pages live on in the others */
            high += minus(own_pages(base, page, &growth), growth);
            for (size_t k = i; k < end; k++)
                if (order[k] != base)
                    high += least(own_pages(order[k], page, &growth), known(order[k]->p.s.anon));
        }
        *upper += least(high, sum);
    }
}

/* ---- mappings ---- */

static const char *hex(const char *p, const char *end, uint64_t *v)
{
    const char *from = p;
    for (*v = 0; p < end; p++) {
        unsigned d;
        if (*p >= '0' && *p <= '9')
            d = (unsigned)(*p - '0');
        else if (*p >= 'a' && *p <= 'f')
            d = (unsigned)(*p - 'a') + 10;
        else
            break;
        if (*v >> 60 != 0)
            return NULL;
        *v = *v << 4 | d;
    }
    return p > from ? p : NULL;
}

int rssmon_maps_line(const char *line, size_t n, struct rssmon_extent *e)
{
    const char *end = line + n, *p = line;
    uint64_t from, to, offset, major, minor, inode = 0;
    if ((p = hex(p, end, &from)) == NULL || p >= end || *p++ != '-' ||
        (p = hex(p, end, &to)) == NULL || end - p < 6 || *p != ' ' || p[5] != ' ' || to <= from)
        return -1;
    int shared = p[4] == 's';
    if ((p = hex(p + 6, end, &offset)) == NULL || p >= end || *p++ != ' ' ||
        (p = hex(p, end, &major)) == NULL || p >= end || *p++ != ':' ||
        (p = hex(p, end, &minor)) == NULL || p >= end || *p++ != ' ')
        return -1;
    const char *digits = p;
    for (; p < end && *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(inode, 10, &inode) ||
            __builtin_add_overflow(inode, (uint64_t)(*p - '0'), &inode))
            return -1;
    if (p == digits || offset > UINT64_MAX - (to - from))
        return -1;
    *e = (struct rssmon_extent){.device = major << 32 | (minor & 0xffffffff),
                                .inode = inode,
                                .from = offset,
                                .to = offset + (to - from),
                                .address = from};
    return inode != 0 || shared;
}

struct extents {
    struct rssmon_extent *list;
    size_t count, capacity;
};

static int list_mappings(const struct rssmon_process *p, uint32_t owner, struct extents *all)
{
    char path[48], *line = NULL;
    size_t capacity = 0;
    ssize_t n;
    (void)snprintf(path, sizeof path, "%" PRIu64 "/maps", p->pid);
    int fd = openat(p->root->fd, path, O_RDONLY | O_CLOEXEC);
    FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (f == NULL) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    int rc = 0;
    while (rc == 0 && (n = getline(&line, &capacity, f)) > 0) {
        struct rssmon_extent e;
        if (rssmon_maps_line(line, (size_t)n, &e) != 1)
            continue;
        e.owner = owner;
        if (all->count >= EXTENTS_MAX ||
            rssmon_grow(&all->list, &all->capacity, all->count + 1, sizeof e) != 0)
            rc = -1;
        else
            all->list[all->count++] = e;
    }
    free(line);
    fclose(f);
    return rc;
}

static int by_place(const void *a, const void *b)
{
    const struct rssmon_extent *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->inode != y->inode)
        return x->inode < y->inode ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

static uint32_t leader(uint32_t *group, uint32_t i)
{
    while (group[i] != i)
        i = group[i] = group[group[i]];
    return i;
}

/* Pages that a shared-memory object has at all: its blocks, seen through one of its mappings. */
static uint64_t object_bytes(const struct rssmon_tree *t, const struct rssmon_process *p,
                             const struct rssmon_extent *e)
{
    char path[96];
    struct stat st;
    (void)t;
    (void)snprintf(path, sizeof path, "%" PRIu64 "/map_files/%" PRIx64 "-%" PRIx64, p->pid,
                   e->address, e->address + (e->to - e->from));
    if (fstatat(p->root->fd, path, &st, 0) != 0 || st.st_ino != e->inode)
        return RSSMON_UNKNOWN;
    return (uint64_t)st.st_blocks * 512;
}

/* Bounds for the file and shared pages of the listed members. -1 when they cannot be listed. */
static int correct_mapped(struct rssmon_tree *t, struct rssmon_member **listed, size_t n,
                          uint64_t *upper, uint64_t *lower)
{
    struct extents all = {0};
    uint32_t *group = rssmon_calloc(n, sizeof *group);
    uint64_t *room = rssmon_calloc(n, sizeof *room), *sum = rssmon_calloc(n, sizeof *sum);
    uint64_t *high = rssmon_calloc(n, sizeof *high);
    int rc = group == NULL || room == NULL || sum == NULL || high == NULL ? -1 : 0;
    for (size_t i = 0; rc == 0 && i < n; i++) {
        group[i] = (uint32_t)i;
        rc = list_mappings(&listed[i]->p, (uint32_t)i, &all);
    }
    if (rc != 0)
        goto out;
    qsort(all.list, all.count, sizeof *all.list, by_place);
    for (size_t i = 1; i < all.count; i++)
        if (all.list[i].device == all.list[i - 1].device &&
            all.list[i].inode == all.list[i - 1].inode)
            group[leader(group, all.list[i].owner)] = leader(group, all.list[i - 1].owner);
    for (size_t i = 0, end; i < all.count; i = end) { /* one object at a time */
        uint64_t covered = 0, reach = 0;
        for (end = i; end < all.count && all.list[end].device == all.list[i].device &&
                      all.list[end].inode == all.list[i].inode;
             end++) {
            uint64_t from = all.list[end].from > reach ? all.list[end].from : reach;
            covered += minus(all.list[end].to, from);
            if (all.list[end].to > reach)
                reach = all.list[end].to;
        }
        uint64_t bytes = covered > LISTED_BYTES
                             ? object_bytes(t, &listed[all.list[i].owner]->p, &all.list[i])
                             : RSSMON_UNKNOWN;
        room[leader(group, all.list[i].owner)] += least(covered, bytes);
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t part = known(listed[i]->p.s.file) + known(listed[i]->p.s.shmem);
        uint32_t g = leader(group, (uint32_t)i);
        sum[g] += part;
        if (part > high[g])
            high[g] = part;
    }
    *upper = *lower = 0;
    for (size_t i = 0; i < n; i++) {
        *lower += high[i];
        uint64_t most = least(sum[i], room[i]);
        *upper += most > high[i] ? most : high[i];
    }
out:
    rssmon_free(group);
    rssmon_free(room);
    rssmon_free(sum);
    rssmon_free(high);
    rssmon_free(all.list);
    return rc;
}

static int64_t cpu_time(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* Several members with large mapped parts: bounds from a listing of their mappings. A listing is
 * made anew when members or sizes changed, and no more often than half a percent of the time
 * allows. Till then what was known last holds, which may be too little but is never a sum of shared
 * pages: nobody is to be alarmed by those. */
static void large_parts(struct rssmon_tree *t, struct rssmon_member **listed, size_t n,
                        int64_t now_ns, uint64_t *upper, uint64_t *lower)
{
    uint64_t sum = 0, high = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t part = known(listed[i]->p.s.file) + known(listed[i]->p.s.shmem);
        sum += part;
        high = part > high ? part : high;
    }
    uint64_t moved = sum > t->shared_sum ? sum - t->shared_sum : t->shared_sum - sum;
    int changed = n != t->shared_members || moved > sum / 64;
    if (changed && now_ns >= t->maps_due_ns) {
        int64_t began = cpu_time();
        if (correct_mapped(t, listed, n, upper, lower) != 0) {
            *upper = sum; /* they cannot be listed */
            *lower = high;
        }
        t->maps_due_ns = now_ns + 200 * (cpu_time() - began);
        t->shared_sum = sum;
        t->shared_members = n;
        t->shared_upper = *upper;
        t->shared_lower = *lower;
        return;
    }
    *upper = least(sum, t->shared_upper > high ? t->shared_upper : high);
    *lower = least(*upper, t->shared_lower);
    if (changed)
        *lower = minus(*upper, minus(sum, *upper)); /* as unsure as what was left out */
}

void rssmon_tree_correct(struct rssmon_tree *t, int64_t now_ns)
{
    struct rssmon_totals *sum = &t->totals;
    size_t n = 0, big = 0, small = 0;
    struct rssmon_member **order = rssmon_calloc(2 * t->count, sizeof(struct rssmon_member *));
    if (order == NULL)
        return; /* the plain sum stands */
    struct rssmon_member **listed = order + t->count;
    uint64_t anon, anon_low, mapped = 0, mapped_low = 0, listed_sum = 0;
    for (size_t i = 0; i < t->count; i++)
        if (rssmon_life_measured(t->members[i]->p.life))
            order[n++] = t->members[i];
    correct_anon(order, n, t->root->page_size, &anon, &anon_low);

    for (size_t i = 0; i < n; i++) {
        const struct rssmon_status_file *s = &order[i]->p.s;
        if (known(s->file) + known(s->shmem) > LISTED_BYTES) {
            listed[big++] = order[i];
            listed_sum += known(s->file) + known(s->shmem);
        } else {
            order[small++] = order[i];
        }
    }
    /* small parts once per executable */
    qsort(order, small, sizeof *order, by_exe);
    for (size_t i = 0, end; i < small; i = end) {
        uint64_t high = 0;
        for (end = i; end < small && by_exe(&order[i], &order[end]) == 0; end++) {
            uint64_t part = known(order[end]->p.s.file) + known(order[end]->p.s.shmem);
            high = part > high ? part : high;
        }
        mapped += high;
        mapped_low += high;
    }
    if (big == 1) {
        mapped += listed_sum;
        mapped_low += listed_sum;
    } else if (big > 1) {
        uint64_t upper = 0, lower = 0;
        large_parts(t, listed, big, now_ns, &upper, &lower);
        mapped += upper;
        mapped_low += lower;
    }
    uint64_t plain = known(sum->file) + known(sum->shmem);
    uint64_t saved = minus(known(sum->anon), anon) + minus(plain, mapped);
    sum->uncertain = minus(anon, anon_low) + minus(mapped, mapped_low);
    sum->anon = anon;
    /* the parts keep their proportion: which of them is shared is not known apart */
    if (plain > 0 && mapped < plain) {
        double ratio = (double)mapped / (double)plain;
        sum->file = (uint64_t)((double)known(sum->file) * ratio);
        sum->shmem = mapped - least(mapped, sum->file);
    }
    sum->rss = minus(sum->rss_sum, saved);
    rssmon_free(order);
}
