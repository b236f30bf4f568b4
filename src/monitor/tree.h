/* The processes of one scope and what they hold together, each page counted once.
 *
 * A plain sum counts what processes share once for each of them. Without walking page tables the
 * sum can be corrected, and the correction bounded:
 *  - Anonymous memory is shared between a process and children that it forked and that have not
 *    executed (PF_FORKNOEXEC). Such a family holds its greatest member's pages, plus what the
 * others made their own since: growth of RssAnon, and one page for each minor fault that growth
 * does not explain (breaking a shared page takes a fault). Both are read from stat.
 *  - File and shared pages: the mappings' (device, inode, range) tell who can share with whom. The
 *    members of a connected group hold at least the greatest part and at most the smaller of the
 * sum and the union of the mapped ranges. Mappings are listed only where a member holds more than
 *    16 MiB of such pages; smaller parts (program text, libraries) count once per executable.
 * The estimate is the upper bound, and `uncertain` says how far the lower one lies below it.
 */
#ifndef RSSMON_TREE_H
#define RSSMON_TREE_H

#include "monitor/cgroup.h"

struct rssmon_member {
    struct rssmon_process p;
    uint64_t family;         /* id shared by a process and its children that have not executed */
    uint64_t faults0, anon0; /* when the family began to share */
    uint64_t executions0;
    uint64_t parent;  /* last seen */
    int left;         /* reparented out of the tree, and said so */
    int fresh;        /* not yet told of */
    int corrected;    /* was in a full look: what it shares is known */
    uint64_t row_rss; /* what the last row in the log said */
};

struct rssmon_totals {
    uint64_t rss;       /* each page once: the upper bound */
    uint64_t uncertain; /* rss - uncertain is the lower bound */
    uint64_t rss_sum;
    uint64_t anon, file, shmem; /* corrected like rss */
    uint64_t swap, page_tables, hugetlb, locked, vsize, threads, cpu_us;
    uint64_t processes; /* measured ones */
};

struct rssmon_tree {
    const struct rssmon_proc_root *root;
    const struct rssmon_cgroup *cgroup; /* members come from it; NULL: by descent */
    int descend;                        /* follow children */
    int adopt;                          /* children of our own process belong to it (subreaper) */
    struct rssmon_member **members;     /* [0] is the root, as long as it is there */
    size_t count, capacity;
    struct rssmon_member **slots; /* by PID, open addressing */
    size_t slot_count;
    uint64_t self; /* never a member */
    uint64_t excluded[16];
    size_t excluded_count;
    int no_children_file;
    uint64_t skipped; /* processes that could not be opened: files ran out */
    struct rssmon_totals totals;
    int dirty;        /* members came or went since the last full look: its overlap holds no more */
    uint64_t overlap; /* rss_sum - rss at the last full look */
    /* the last listing of mappings: of how many members, their plain sum, the bounds it gave */
    size_t shared_members;
    uint64_t shared_sum, shared_upper, shared_lower;
    int64_t maps_due_ns;
    /* Told of each process that came ("start"), executed ("exec"), was reparented ("left") or
     * ended ("exit"); the member is still valid. */
    void (*event)(void *context, const char *event, const struct rssmon_member *m);
    void *context;
};

void rssmon_tree_init(struct rssmon_tree *t, const struct rssmon_proc_root *root);
void rssmon_tree_clear(struct rssmon_tree *t);

/* Adds one process (the first becomes the root). */
rssmon_status rssmon_tree_add(struct rssmon_tree *t, uint64_t pid, uint64_t start_ticks,
                              struct rssmon_error *err);
struct rssmon_member *rssmon_tree_find(const struct rssmon_tree *t, uint64_t pid);

/* Looks for new members. */
rssmon_status rssmon_tree_refresh(struct rssmon_tree *t, struct rssmon_error *err);

/* One quick look at every member: the corrected total, or unknown when none is measured. Members
 * that ended are told of and taken out, except the root. */
uint64_t rssmon_tree_quick(struct rssmon_tree *t);
/* One full look: fills totals. now_ns paces the listing of mappings. light: of a lone process
 * status alone, which costs a third. */
void rssmon_tree_full(struct rssmon_tree *t, int64_t now_ns, int light);
/* Sum of Pss: walks every member's page tables, so the caller paces it. Unknown when none can be
 * had. */
uint64_t rssmon_tree_pss(const struct rssmon_tree *t);

/* One line of /proc/PID/maps. 1 when it maps a file or shared memory, 0 when not, -1 malformed. */
struct rssmon_extent {
    uint64_t device, inode, from, to; /* bytes within the file */
    uint64_t address;
    uint32_t owner; /* index of a member */
};
int rssmon_maps_line(const char *line, size_t n, struct rssmon_extent *e);

#endif
