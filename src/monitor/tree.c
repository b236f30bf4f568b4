/* See tree.h: membership and the sums over it. What is shared is worked out in tree_shared.c. */
#include "monitor/tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "monitor/mem.h"
#include "monitor/tree_shared.h"

void rssmon_tree_init(struct rssmon_tree *t, const struct rssmon_proc_root *root)
{
    memset(t, 0, sizeof *t);
    t->root = root;
    t->self = (uint64_t)getpid();
}

void rssmon_tree_clear(struct rssmon_tree *t)
{
    for (size_t i = 0; i < t->count; i++) {
        rssmon_process_close(&t->members[i]->p);
        rssmon_free(t->members[i]);
    }
    rssmon_free(t->members);
    rssmon_free(t->slots);
    t->members = NULL;
    t->slots = NULL;
    t->count = t->capacity = t->slot_count = 0;
}

static size_t slot_of(const struct rssmon_tree *t, uint64_t pid)
{
    size_t mask = t->slot_count - 1;
    size_t i = (size_t)(pid * UINT64_C(0x9e3779b97f4a7c15) >> 20) & mask;
    while (t->slots[i] != NULL && t->slots[i]->p.pid != pid)
        i = (i + 1) & mask;
    return i;
}

struct rssmon_member *rssmon_tree_find(const struct rssmon_tree *t, uint64_t pid)
{
    return t->slot_count == 0 ? NULL : t->slots[slot_of(t, pid)];
}

static void fill_slots(struct rssmon_tree *t)
{
    memset(t->slots, 0, t->slot_count * sizeof *t->slots);
    for (size_t i = 0; i < t->count; i++)
        t->slots[slot_of(t, t->members[i]->p.pid)] = t->members[i];
}

static int room_for_slots(struct rssmon_tree *t, size_t members)
{
    size_t want = 64;
    while (want < 2 * members)
        want *= 2;
    if (want <= t->slot_count)
        return 0;
    struct rssmon_member **slots = rssmon_calloc(want, sizeof *slots);
    if (slots == NULL)
        return -1;
    rssmon_free(t->slots);
    t->slots = slots;
    t->slot_count = want;
    fill_slots(t);
    return 0;
}

/* Which family a process belongs to: its parent's, while it has only been forked. */
static void assign_family(struct rssmon_tree *t, struct rssmon_member *m)
{
    struct rssmon_member *parent = rssmon_tree_find(t, m->p.stat.ppid);
    m->family = m->p.pid;
    m->faults0 = m->p.stat.minor_faults;
    m->anon0 = m->p.s.anon;
    m->executions0 = m->p.executions;
    if (!(m->p.stat.flags & RSSMON_PF_FORKNOEXEC) || parent == NULL || parent == m)
        return;
    m->family = parent->family;
    m->faults0 = 0; /* a forked process begins with none */
    int alone = 1;
    for (size_t i = 0; i < t->count && alone; i++)
        alone = t->members[i] == parent || t->members[i]->family != parent->family;
    if (alone) { /* the parent begins to share now */
        parent->faults0 = parent->p.stat.minor_faults;
        parent->anon0 = parent->p.s.anon;
    }
}

rssmon_status rssmon_tree_add(struct rssmon_tree *t, uint64_t pid, uint64_t start_ticks,
                              struct rssmon_error *err)
{
    if (rssmon_tree_find(t, pid) != NULL)
        return RSSMON_OK;
    if (rssmon_grow(&t->members, &t->capacity, t->count + 1, sizeof *t->members) != 0 ||
        room_for_slots(t, t->count + 1) != 0)
        return rssmon_fail(err, RSSMON_E_MEMORY, "no memory for another process of the tree");
    struct rssmon_member *m = rssmon_calloc(1, sizeof *m);
    if (m == NULL)
        return rssmon_fail(err, RSSMON_E_MEMORY, "no memory for another process of the tree");
    rssmon_status status = rssmon_process_open(&m->p, t->root, pid, start_ticks, err);
    if (status == RSSMON_OK && m->p.life == RSSMON_LIFE_GONE) {
        rssmon_process_close(&m->p);
        status = rssmon_fail(err, RSSMON_E_GONE, "the process ended while it was opened");
    }
    if (status != RSSMON_OK) {
        rssmon_free(m);
        return status;
    }
    m->parent = m->p.stat.ppid;
    m->fresh = 1;
    t->dirty = 1;
    m->row_rss = m->p.rss;
    assign_family(t, m);
    t->members[t->count++] = m;
    t->slots[slot_of(t, pid)] = m;
    return RSSMON_OK;
}

struct discovery {
    struct rssmon_tree *tree;
    rssmon_status status;
    struct rssmon_error *err;
};

static int discover(void *context, uint64_t pid)
{
    struct discovery *d = context;
    struct rssmon_tree *t = d->tree;
    struct rssmon_error err;
    if (pid == t->self || rssmon_tree_find(t, pid) != NULL)
        return 0;
    for (size_t i = 0; i < t->excluded_count; i++)
        if (t->excluded[i] == pid)
            return 0;
    rssmon_status status = rssmon_tree_add(t, pid, 0, &err);
    if (status == RSSMON_E_MEMORY) {
        d->status = status;
        if (d->err != NULL)
            *d->err = err;
        return 1;
    }
    if (status == RSSMON_E_IO)
        t->skipped++;
    return 0; /* one that is gone already is no failure */
}

/* Where the kernel has no children files: whoever has a member as parent. */
static int discover_by_parent(void *context, uint64_t pid)
{
    struct discovery *d = context;
    char path[48], text[1024];
    struct rssmon_stat stat;
    if (rssmon_tree_find(d->tree, pid) != NULL)
        return 0;
    (void)snprintf(path, sizeof path, "%llu/stat", (unsigned long long)pid);
    ssize_t n = rssmon_proc_read(d->tree->root, path, text, sizeof text);
    if (n <= 0 || rssmon_stat_parse(text, (size_t)n, &stat) != 0)
        return 0;
    if (rssmon_tree_find(d->tree, stat.ppid) == NULL &&
        !(d->tree->adopt && stat.ppid == d->tree->self))
        return 0;
    return discover(d, pid);
}

rssmon_status rssmon_tree_refresh(struct rssmon_tree *t, struct rssmon_error *err)
{
    struct discovery d = {.tree = t, .status = RSSMON_OK, .err = err};
    if (t->cgroup != NULL)
        (void)rssmon_cgroup_each(t->cgroup, discover, &d);
    if (t->descend && t->no_children_file) {
        size_t before;
        do { /* a child's child may come before it in the listing */
            before = t->count;
            (void)rssmon_proc_each(t->root, discover_by_parent, &d);
        } while (t->count > before && d.status == RSSMON_OK);
    } else if (t->descend) {
        if (t->adopt) {
            struct rssmon_process self = {.pid = t->self, .root = t->root};
            self.stat.threads = 1;
            (void)rssmon_proc_children(&self, discover, &d);
        }
        for (size_t i = 0; i < t->count && d.status == RSSMON_OK; i++)
            if (rssmon_proc_children(&t->members[i]->p, discover, &d) < 0 && i == 0 &&
                rssmon_life_measured(t->members[0]->p.life))
                t->no_children_file = 1;
    }
    for (size_t i = 0; i < t->count; i++)
        if (t->members[i]->fresh) {
            t->members[i]->fresh = 0;
            if (t->event != NULL)
                t->event(t->context, "start", t->members[i]);
        }
    return d.status;
}

/* Takes out those that are gone; the root stays at its place. */
static void sweep(struct rssmon_tree *t)
{
    size_t kept = 0, root = t->count > 0;
    for (size_t i = 0; i < t->count; i++) {
        struct rssmon_member *m = t->members[i];
        int over = m->p.life == RSSMON_LIFE_GONE || m->p.life == RSSMON_LIFE_ZOMBIE;
        if (over && (i >= root || t->cgroup != NULL)) {
            if (t->event != NULL)
                t->event(t->context, "exit", m);
            rssmon_process_close(&m->p);
            rssmon_free(m);
        } else {
            t->members[kept++] = m;
        }
    }
    if (kept != t->count) {
        t->dirty = 1;
        t->count = kept;
        fill_slots(t);
    }
}

uint64_t rssmon_tree_quick(struct rssmon_tree *t)
{
    uint64_t sum = 0, greatest = 0;
    size_t measured = 0;
    int over = 0;
    for (size_t i = 0; i < t->count; i++) {
        enum rssmon_life life = rssmon_process_quick(&t->members[i]->p);
        if (rssmon_life_measured(life)) {
            /* a newcomer counts from its first full look on: till then it may be all shared */
            if (i > 0 && !t->members[i]->corrected)
                continue;
            sum += t->members[i]->p.rss;
            if (t->members[i]->p.rss > greatest)
                greatest = t->members[i]->p.rss;
            measured++;
        } else {
            over |= life == RSSMON_LIFE_GONE || life == RSSMON_LIFE_ZOMBIE;
        }
    }
    if (over)
        sweep(t);
    if (measured == 0)
        return RSSMON_UNKNOWN;
    if (measured == 1)
        return sum;
    /* the union is no smaller than its greatest part, whoever has gone meanwhile */
    return sum > t->overlap && sum - t->overlap > greatest ? sum - t->overlap : greatest;
}

static void note_changes(struct rssmon_tree *t)
{
    for (size_t i = 0; i < t->count; i++) {
        struct rssmon_member *m = t->members[i];
        if (m->p.executions != m->executions0) {
            m->executions0 = m->p.executions;
            m->family = m->p.pid; /* shares with nobody any more */
            m->faults0 = m->p.stat.minor_faults;
            m->anon0 = m->p.s.anon;
            if (t->event != NULL)
                t->event(t->context, "exec", m);
        }
        if (i > 0 && !m->left && m->p.stat.ppid != m->parent && t->cgroup == NULL &&
            rssmon_tree_find(t, m->p.stat.ppid) == NULL && m->p.stat.ppid != t->self) {
            m->left = 1;
            if (t->event != NULL)
                t->event(t->context, "left", m);
        }
        m->parent = m->p.stat.ppid;
    }
}

static void add(uint64_t *sum, uint64_t v)
{
    if (v != RSSMON_UNKNOWN)
        *sum = (*sum == RSSMON_UNKNOWN ? 0 : *sum) + v;
}

void rssmon_tree_full(struct rssmon_tree *t, int64_t now_ns, int light)
{
    struct rssmon_totals *sum = &t->totals;
    long ticks = sysconf(_SC_CLK_TCK);
    memset(sum, 0xff, sizeof *sum);
    sum->processes = 0;
    sum->uncertain = 0;
    for (size_t i = 0; i < t->count; i++) {
        struct rssmon_process *p = &t->members[i]->p;
        enum rssmon_life life =
            light && t->count == 1 ? rssmon_process_memory(p) : rssmon_process_full(p);
        if (!rssmon_life_measured(life))
            continue;
        sum->processes++;
        t->members[i]->corrected = 1;
        add(&sum->rss_sum, p->rss);
        add(&sum->anon, p->s.anon);
        add(&sum->file, p->s.file);
        add(&sum->shmem, p->s.shmem);
        add(&sum->swap, p->s.swap);
        add(&sum->page_tables, p->s.page_tables);
        add(&sum->hugetlb, p->s.hugetlb);
        add(&sum->locked, p->s.locked);
        add(&sum->vsize, p->s.vsize);
        add(&sum->threads, p->s.threads);
        if (ticks > 0)
            add(&sum->cpu_us,
                (p->stat.user_ticks + p->stat.system_ticks) * 1000000 / (uint64_t)ticks);
    }
    note_changes(t);
    sweep(t);
    t->dirty = 0;
    sum->rss = sum->rss_sum;
    t->overlap = 0;
    if (sum->processes > 1) {
        rssmon_tree_correct(t, now_ns);
        t->overlap = sum->rss_sum - sum->rss;
    }
}

uint64_t rssmon_tree_pss(const struct rssmon_tree *t)
{
    uint64_t sum = RSSMON_UNKNOWN, one;
    for (size_t i = 0; i < t->count; i++)
        if (rssmon_life_measured(t->members[i]->p.life) &&
            rssmon_proc_pss(&t->members[i]->p, &one) == 0)
            add(&sum, one);
    return sum;
}
