/* Looks, and the records that come of them. See watch.h for the idea, watch_state.h for the state.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "monitor/text.h"
#include "monitor/watch_state.h"

enum {
    LOG_BURST = 512 << 10, /* what may be written at once … */
    LOG_RATE = 45,         /* … and bytes a second beyond: 4.4 MB in the first day, 3.9 after */
    WINDOW_BEFORE = 64,
    WINDOW_AFTER = 64,
    ROWS = 16
};

int watch_room(const struct watch *w, uint64_t bytes)
{
    return w->log != NULL &&
           rssmon_log_bytes(w->log) + bytes <= LOG_BURST + (uint64_t)(w->t / 1000000000) * LOG_RATE;
}

void watch_log(struct watch *w, struct rssmon_record *r)
{
    struct rssmon_error err;
    if (w->log == NULL)
        return;
    r->t_ns = w->t;
    r->wall_ns = w->now.wall;
    r->suspended_ns = (w->now.boot - w->base.boot) - (w->now.mono - w->base.mono);
    if (r->suspended_ns > -1000000 && r->suspended_ns < 1000000)
        r->suspended_ns = 0; /* the clocks are read one after the other */
    if (rssmon_log_append(w->log, r, &err) != RSSMON_OK) {
        if (!w->log_broken && w->c->messages != NULL)
            fprintf(w->c->messages, "rssmon: %s\n", err.message);
        w->log_broken = 1;
    } else {
        w->log_broken = 0;
    }
}

void watch_note(struct watch *w, const char *topic, const char *text, uint64_t count)
{
    struct rssmon_record r;
    rssmon_record_init(&r, RSSMON_NOTE);
    r.u.note.topic = topic;
    r.u.note.text = text;
    r.u.note.count = count;
    watch_log(w, &r);
}

/* ---- processes ---- */

void watch_process_record(struct watch *w, const char *event, const struct rssmon_member *m)
{
    struct rssmon_record r;
    rssmon_record_init(&r, RSSMON_PROC);
    struct rssmon_proc *p = &r.u.proc;
    if (strcmp(event, "start") == 0) {
        size_t at = w->pid_count < PIDS_MAX ? w->pid_count : 1 + w->pid_count % (PIDS_MAX - 1);
        w->pids[at] = m->p.pid;
        w->pid_count++;
        w->children_seen |= w->pid_count > 1;
    }
    /* a storm of processes may use eight times the usual room, then it is only counted */
    if (w->log != NULL && rssmon_log_bytes(w->log) >
                              8 * (uint64_t)LOG_BURST + (uint64_t)(w->t / 1000000000) * LOG_RATE) {
        w->suppressed++;
        return;
    }
    p->event = event;
    p->pid = m->p.pid;
    p->ppid = m->p.stat.ppid;
    p->start_ticks = m->p.start_ticks;
    p->name = m->p.stat.comm;
    if (strcmp(event, "start") == 0 || strcmp(event, "exec") == 0) {
        p->uid = m->p.s.uid;
        p->command = m->p.command;
    }
    if (rssmon_life_measured(m->p.life)) {
        p->rss = m->p.rss;
        p->anon = m->p.s.anon;
        p->file = m->p.s.file;
        p->shmem = m->p.s.shmem;
        p->swap = m->p.s.swap;
        p->threads = m->p.stat.threads;
    }
    if (m->p.peak != 0)
        p->peak = m->p.peak;
    if (strcmp(event, "exit") == 0) {
        uint64_t status = m->p.stat.exit_code;
        if (m->p.life == RSSMON_LIFE_ZOMBIE && status != RSSMON_UNKNOWN) {
            p->death = WIFSIGNALED((int)status) ? "signal" : "exit";
            p->code = WIFSIGNALED((int)status) ? (uint64_t)WTERMSIG((int)status)
                                               : (uint64_t)WEXITSTATUS((int)status);
        }
    }
    watch_log(w, &r);
}

static int by_rss(const void *a, const void *b)
{
    uint64_t x = (*(struct rssmon_member *const *)a)->p.rss;
    uint64_t y = (*(struct rssmon_member *const *)b)->p.rss;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* The greatest members whose size changed since they were last written. */
static void write_rows(struct watch *w)
{
    struct rssmon_member *top[ROWS + 1];
    size_t n = 0;
    for (size_t i = 0; i < w->tree.count; i++) {
        struct rssmon_member *m = w->tree.members[i];
        uint64_t moved = m->p.rss > m->row_rss ? m->p.rss - m->row_rss : m->row_rss - m->p.rss;
        if (!rssmon_life_measured(m->p.life) || moved <= m->row_rss / 50 + (1 << 20))
            continue;
        top[n++] = m;
        qsort(top, n, sizeof top[0], by_rss);
        if (n > ROWS)
            n = ROWS;
    }
    for (size_t i = 0; i < n && watch_room(w, 400); i++) {
        watch_process_record(w, "row", top[i]);
        top[i]->row_rss = top[i]->p.rss;
    }
}

/* ---- phases ---- */

void watch_phase_end(struct watch *w)
{
    if (!w->phase_runs)
        return;
    struct phase *p = &w->phases[w->phase_count - 1];
    p->to_ns = w->t;
    p->cg_peak = rssmon_cgroup_phase_peak(&w->cgroup);
    w->phase_runs = 0;
}

void watch_mark(struct watch *w, struct rssmon_record *r)
{
    watch_log(w, r);
    if (r->kind != RSSMON_MARK)
        return;
    const struct rssmon_mark *m = &r->u.mark;
    if (strcmp(m->action, "begin") == 0) {
        watch_phase_end(w);
        if (w->phase_count == PHASES_MAX) {
            watch_note(w, "limit", "more than 256 phases: this one gets no figures of its own", 1);
            return;
        }
        struct phase *p = &w->phases[w->phase_count++];
        memset(p, 0, sizeof *p);
        (void)snprintf(p->label, sizeof p->label, "%s", m->label);
        p->from_ns = w->t;
        p->to_ns = RSSMON_NO_TIME;
        p->source = "rss";
        p->peak = w->rss;
        w->phase_runs = 1;
        rssmon_cgroup_phase_begin(&w->cgroup);
    } else if (strcmp(m->action, "end") == 0 && w->phase_runs &&
               strcmp(w->phases[w->phase_count - 1].label, m->label) == 0) {
        watch_phase_end(w);
    }
}

/* ---- alerts ---- */

static void run_action(struct watch *w, const struct rssmon_alert_config *a, uint64_t value)
{
    char text[4][1100];
    char *environment[] = {text[0], text[1], text[2], text[3], NULL};
    (void)snprintf(text[0], sizeof text[0], "RSSMON_PID=%" PRIu64, w->pid);
    (void)snprintf(text[1], sizeof text[1], "RSSMON_VALUE=%" PRIu64, value);
    (void)snprintf(text[2], sizeof text[2], "RSSMON_LIMIT=%" PRIu64, a->bound);
    (void)snprintf(text[3], sizeof text[3], "RSSMON_LOG=%s", w->result->log_path);
    pid_t pid = rssmon_run_action(a->action, environment);
    struct rssmon_tree *t = &w->tree;
    if (pid > 0) {
        w->actions++;
        t->excluded[t->excluded_count++ % 16] = (uint64_t)pid;
        if (t->excluded_count > 16)
            t->excluded_count = 16;
    } else {
        watch_note(w, "alert", "the command of an alert could not be started", 1);
    }
}

static void check_alerts(struct watch *w)
{
    for (size_t i = 0; i < w->c->alert_count; i++) {
        const struct rssmon_alert_config *a = &w->c->alerts[i];
        uint64_t value = a->available ? w->machine.mem_available : w->rss;
        if (value == RSSMON_UNKNOWN)
            continue;
        int over = a->available ? value < a->bound : value > a->bound;
        /* armed again only well within the limit, so that a value at its edge fires once */
        int well =
            a->available ? value > a->bound + a->bound / 20 : value < a->bound - a->bound / 20;
        if (over && !w->alert_over[i]) {
            struct rssmon_record r;
            w->alert_over[i] = 1;
            w->result->limit_crossed = 1;
            rssmon_record_init(&r, RSSMON_ALERT);
            r.u.alert.limit = a->text;
            r.u.alert.value = value;
            r.u.alert.bound = a->bound;
            r.u.alert.action = a->action;
            watch_log(w, &r);
            if (w->c->messages != NULL) {
                char line[64];
                struct rssmon_text t;
                rssmon_text_init(&t, line, sizeof line);
                rssmon_text_size(&t, value);
                fprintf(w->c->messages, "rssmon: %s crossed: %s is %s\n", a->text,
                        a->available ? "available memory" : "RSS", line);
            }
            if (a->action != NULL)
                run_action(w, a, value);
            w->peak.pending |= !a->available;
            watch_settle_peak(w, 1); /* the last seconds before what may be the end */
        } else if (well) {
            w->alert_over[i] = 0;
        }
    }
}

/* ---- peaks ---- */

static void write_ring(struct watch *w, uint64_t from, uint64_t to, const char *why)
{
    enum { CHUNK = 256 };
    int64_t t_ns[CHUNK];
    uint64_t rss[CHUNK];
    size_t n;
    if (w->ring.count > RSSMON_RING_SIZE && from < w->ring.count - RSSMON_RING_SIZE)
        from = w->ring.count - RSSMON_RING_SIZE;
    for (; (n = rssmon_ring_copy(&w->ring, from, to, t_ns, rss, CHUNK)) > 0; from += n) {
        struct rssmon_record r;
        rssmon_record_init(&r, RSSMON_RING);
        r.u.ring.why = why;
        r.u.ring.t_ns = t_ns;
        r.u.ring.rss = rss;
        r.u.ring.count = n;
        watch_log(w, &r);
    }
}

void watch_settle_peak(struct watch *w, int at_end)
{
    struct peak *p = &w->peak;
    if (!p->pending || p->rss == 0)
        return;
    int settled = w->ring.count - p->ring_index >= WINDOW_AFTER || w->t - p->at_ns > 1000000000;
    int grown = p->rss > p->logged + p->logged / 200 + (64 << 10);
    if (!at_end && (!settled || !grown || !watch_room(w, 700)))
        return;
    struct rssmon_record r;
    rssmon_record_init(&r, RSSMON_PEAK);
    struct rssmon_peak *out = &r.u.peak;
    out->rss = p->rss;
    out->source = p->source;
    out->at_ns = p->at_ns;
    out->from_ns = p->from_ns;
    out->rss_from = p->rss_from;
    out->to_ns = p->to_ns;
    if (p->to_ns != RSSMON_NO_TIME)
        out->rss_to = p->rss_to;
    if (p->parts_rss != 0) {
        out->anon = p->parts.anon;
        out->file = p->parts.file;
        out->shmem = p->parts.shmem;
        out->swap = p->parts.swap;
        out->page_tables = p->parts.page_tables;
        out->hugetlb = p->parts.hugetlb;
        out->processes = p->parts.processes;
        if (p->parts.rss_sum != p->parts.rss)
            out->rss_sum = p->parts.rss_sum;
    }
    out->cg_current = p->cg_current;
    out->gpu = p->gpu;
    watch_log(w, &r);
    p->pending = 0;
    p->logged = p->rss;
    if (p->rss > p->ring_logged + p->ring_logged / 20 && (at_end || watch_room(w, 8000))) {
        uint64_t from = p->ring_index > WINDOW_BEFORE ? p->ring_index - WINDOW_BEFORE : 0;
        uint64_t to = p->ring_index + WINDOW_AFTER;
        if (from < w->ring.told)
            from = w->ring.told;
        write_ring(w, from, to, "peak");
        w->ring.told = to < w->ring.count ? to : w->ring.count;
        p->ring_logged = p->rss;
    }
    if (at_end) {
        uint64_t from = w->ring.count > 512 ? w->ring.count - 512 : 0;
        write_ring(w, from > w->ring.told ? from : w->ring.told, w->ring.count, "end");
        w->ring.told = w->ring.count;
    }
}

static void note_peak(struct watch *w, uint64_t rss, const char *source, int64_t from_ns,
                      uint64_t rss_from)
{
    struct peak *p = &w->peak;
    p->rss = rss;
    p->source = source;
    p->at_ns = w->t;
    p->from_ns = from_ns;
    p->rss_from = rss_from;
    p->to_ns = RSSMON_NO_TIME;
    p->ring_index = w->ring.count;
    p->cg_current = w->cg.current;
    p->gpu = w->gpu_bytes;
    p->pending = 1;
    w->uncertain = w->tree.totals.uncertain;
}

/* ---- the look itself ---- */

static int64_t mono(const struct watch *w)
{
    struct rssmon_now now;
    w->clock->now(w->clock->context, &now);
    return now.mono;
}

/* CPU time for the pacing of looks: on a busy machine wall time is others' time too. */
static int64_t thread_cpu(const struct watch *w)
{
    return w->clock->cpu(w->clock->context);
}

/* Between two readings of what costs more: half a percent of a core, one to ten seconds. */
static int64_t pause_for(int64_t cost_ns)
{
    int64_t pause = 200 * cost_ns;
    return pause < 1000000000 ? 1000000000 : pause > 10000000000 ? 10000000000 : pause;
}

static void heavy(struct watch *w);

/* RSS of the scope, by a full or a quick look; unknown when nothing is to be measured. */
static uint64_t measure(struct watch *w, int full)
{
    uint64_t rss;
    if (!full) {
        rss = rssmon_tree_quick(&w->tree);
    } else {
        int light = w->t < w->stat_due && w->t < w->sample_due;
        if (!light)
            w->stat_due = w->t + 1000000000;
        rssmon_tree_full(&w->tree, w->t, light);
        rss = w->tree.totals.processes > 0 ? w->tree.totals.rss : RSSMON_UNKNOWN;
    }
    if (!w->cgroup_scope || rss == RSSMON_UNKNOWN)
        return rss; /* a cgroup whose processes are dying or gone has no figure either */
    struct rssmon_cgroup_figures *f = &w->cg;
    rssmon_cgroup_read(&w->cgroup, f);
    if (f->anon == RSSMON_UNKNOWN)
        return f->current;
    return f->anon + (f->shmem != RSSMON_UNKNOWN ? f->shmem : 0) +
           (f->mapped != RSSMON_UNKNOWN ? f->mapped : 0);
}

static void note_life(struct watch *w)
{
    if (w->cgroup_scope || w->tree.count == 0 || w->tree.members[0]->p.pid != w->pid)
        return;
    const struct rssmon_process *p = &w->tree.members[0]->p;
    if (p->life == w->life)
        return;
    struct rssmon_record r;
    rssmon_record_init(&r, RSSMON_STATE);
    w->life = p->life;
    r.u.state.pid = p->pid;
    r.u.state.state = rssmon_life_name(p->life);
    if (p->life == RSSMON_LIFE_ZOMBIE_LEADER)
        r.u.state.text = "the leader exited while threads go on; figures come from one of them";
    else if (p->life == RSSMON_LIFE_EXITING)
        r.u.state.text = "its memory is being torn down; there is no figure, which is not 0";
    else if (p->life == RSSMON_LIFE_KERNEL)
        r.u.state.text = "kernel threads have no memory of their own";
    else if (p->life == RSSMON_LIFE_UNREADABLE)
        r.u.state.text = "the kernel refuses to show it to this user";
    watch_log(w, &r);
}

/* The kernel's high water mark of a lone process shows what no look saw. */
static void check_high_water(struct watch *w)
{
    if (w->cgroup_scope || w->tree.count == 0)
        return;
    const struct rssmon_process *p = &w->tree.members[0]->p;
    int alone = w->tree.count == 1 && !w->children_seen;
    if (alone && p->hwm != RSSMON_UNKNOWN && p->hwm > w->peak.rss) {
        int64_t from = w->hwm_ns;
        note_peak(w, p->hwm, "hwm", from, w->hwm_rss);
        w->peak.at_ns = from + (w->t - from) / 2;
        w->peak.to_ns = w->t;
        w->peak.rss_to = w->rss;
        if (p->hwm > w->high)
            w->high = p->hwm;
        if (w->phase_runs) {
            struct phase *ph = &w->phases[w->phase_count - 1];
            /* only if the phase ran all the while */
            if (from >= ph->from_ns && p->hwm > ph->peak) {
                ph->peak = p->hwm;
                ph->source = "hwm";
            }
        }
    }
    w->hwm_ns = w->t;
    w->hwm_rss = w->rss;
}

static void account_for(struct watch *w, uint64_t rss)
{
    struct peak *p = &w->peak;
    if (w->looks == 0)
        w->begin_ns = w->t;
    if (p->rss != 0 && p->to_ns == RSSMON_NO_TIME) {
        p->to_ns = w->t;
        p->rss_to = rss;
    }
    if (rss > p->rss)
        note_peak(w, rss, "rss", w->looks > 0 ? w->rss_ns : w->t, w->looks > 0 ? w->rss : rss);
    rssmon_ring_add(&w->ring, w->t, rss);
    rssmon_series_add(&w->series, w->t, rss);
    if (rss < w->low)
        w->low = rss;
    if (rss > w->high)
        w->high = rss;
    for (size_t i = 0; w->looks > 0 && i < w->c->alert_count; i++)
        if (!w->c->alerts[i].available && rss > w->c->alerts[i].bound) {
            w->over_ns += w->t - w->rss_ns;
            break;
        }
    if (w->phase_runs) {
        struct phase *ph = &w->phases[w->phase_count - 1];
        if (rss > ph->peak) {
            ph->peak = rss;
            ph->source = "rss";
        }
        int64_t from = w->rss_ns > ph->from_ns ? w->rss_ns : ph->from_ns;
        ph->area += (double)rss * (double)(w->t - from);
        ph->time += (double)(w->t - from);
        ph->looks++;
    }
    w->rss = rss;
    w->rss_ns = w->t;
    w->end_ns = w->t;
    w->looks++;
    w->envelope_looks++;
}

void watch_pace(struct watch *w, int moved)
{
    static const struct {
        int64_t flat, cap;
    } steps[] = {{1000000000, 10000000},
                 {5000000000, 25000000},
                 {30000000000, 50000000},
                 {120000000000, 100000000}};
    int64_t configured = w->c->interval_ns != 0 ? w->c->interval_ns : 1000000;
    int64_t longest = w->c->max_interval_ns != 0 ? w->c->max_interval_ns : 200000000;
    /* the whole monitor's CPU time, measured: stretch all intervals, or let them relax */
    if (w->t >= w->budget_due && w->root.real) {
        struct timespec cpu_time;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu_time);
        int64_t used = (int64_t)cpu_time.tv_sec * 1000000000 + cpu_time.tv_nsec;
        int64_t since = w->t - (w->budget_due - 250000000);
        if (w->budget_cpu != 0 && since > 0) {
            double share = (double)(used - w->budget_cpu) / (double)since;
            w->stretch *= share > 0.006 ? share / 0.005 : 0.875;
            w->stretch = w->stretch < 1 ? 1 : w->stretch > 100 ? 100 : w->stretch;
        }
        w->budget_cpu = used;
        w->budget_due = w->t + 250000000;
    }
    /* never more than about two thirds of a percent of a core on looks alone */
    double cost = 150 * w->quick_cost;
    int64_t least = (int64_t)((double)configured * w->stretch);
    if ((double)least < cost)
        least = (int64_t)cost;
    if (least > longest && cost < (double)longest)
        least = longest;
    if (moved) {
        w->interval = least;
        w->flat_since = w->t;
    } else {
        int64_t cap = longest;
        for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
            if (w->t - w->flat_since < steps[i].flat) {
                cap = (int64_t)((double)steps[i].cap * (w->stretch < 4 ? w->stretch : 4));
                break;
            }
        w->interval += w->interval / 4;
        if (w->interval > cap)
            w->interval = cap;
        if (w->interval > longest)
            w->interval = longest;
    }
    if (w->interval < least)
        w->interval = least;
}

void watch_look(struct watch *w)
{
    /* a large tree's full look costs: its sample records may carry parts that are a little older */
    int full =
        w->t >= w->full_due || (w->t >= w->sample_due && w->tree.count <= 4) || w->looks == 0;
    if (w->t >= w->refresh_due && (w->tree.descend || w->cgroup_scope)) {
        int64_t before = thread_cpu(w);
        (void)rssmon_tree_refresh(&w->tree, NULL);
        int64_t cost = thread_cpu(w) - before;
        int64_t pause = 300 * cost; /* a third of a percent */
        w->refresh_due = w->t + (pause < 20000000 ? 20000000 : pause);
    }
    full |= w->tree.dirty && w->t >= w->dirty_due;
    int64_t began = mono(w), took = thread_cpu(w);
    uint64_t rss = measure(w, full);
    if (w->tree.dirty && !full && rss != RSSMON_UNKNOWN &&
        w->t >= w->dirty_due) { /* somebody went just now */
        rss = measure(w, 1);
        full = 1;
    }
    took = thread_cpu(w) - took;
    rssmon_durations_add(&w->durations, mono(w) - began);
    if (!full)
        w->quick_cost =
            w->quick_cost == 0 ? (double)took : 0.9 * w->quick_cost + 0.1 * (double)took;
    note_life(w);
    if (rss == RSSMON_UNKNOWN) {
        rssmon_series_break(&w->series);
        watch_pace(w, 1);
        return;
    }
    uint64_t change = rss > w->rss ? rss - w->rss : w->rss - rss;
    int moved = change > (128 << 10) && change > w->rss / 8192;
    account_for(w, rss);
    struct peak *p = &w->peak;
    if (p->at_ns == w->t && p->rss == rss && rss > p->parts_rss + p->parts_rss / 1000) {
        /* the parts belong to the peak's moment; not so often that it costs */
        if (!full && (double)took < 20000) {
            (void)measure(w, 1);
            full = 1;
        }
        if (full) {
            p->parts = w->tree.totals;
            p->parts_rss = rss;
            w->uncertain = w->tree.totals.uncertain;
        }
    }
    if (full) {
        check_high_water(w);
        int64_t pause = 200 * took; /* half a percent */
        w->full_due = w->t + (pause < 10000000 ? 10000000 : pause);
        w->dirty_due = w->t + 50 * took;
    }
    watch_settle_peak(w, 0);
    check_alerts(w);
    watch_pace(w, moved);
}

/* ---- sample records ---- */

static int member_of_scope(void *context, uint64_t pid)
{
    struct watch *w = context;
    char path[32], text[16];
    if (rssmon_tree_find(&w->tree, pid) != NULL)
        return 1;
    (void)snprintf(path, sizeof path, "%" PRIu64 "/comm", pid);
    return rssmon_proc_read(&w->root, path, text, sizeof text) > 0 ? 0 : -1;
}

/* Page tables are walked where that was asked for, and never for more than half a percent of the
 * time: at 400 GiB of small pages a walk takes seconds, in which the target's mmap waits. */
static void walk_page_tables(struct watch *w)
{
    w->pss = RSSMON_UNKNOWN;
    if (!w->c->pss || w->t < w->pss_due)
        return;
    int64_t began = thread_cpu(w);
    w->pss = rssmon_tree_pss(&w->tree);
    int64_t cost = thread_cpu(w) - began, pause = 200 * cost;
    w->pss_due = w->t + (pause < 1000000000 ? 1000000000 : pause);
    if (!w->pss_told) {
        w->pss_told = 1;
        watch_note(w, "cost", "microseconds that one walk of the page tables for --pss took",
                   (uint64_t)cost / 1000);
    }
}

/* What is read once a second at most: it costs more than the rest. */
static void heavy(struct watch *w)
{
    if (w->gpu != NULL && w->t >= w->gpu_due) {
        int64_t before = thread_cpu(w);
        rssmon_gpu_read(w->gpu, member_of_scope, w, &w->gpu_bytes, &w->gpu_open);
        w->gpu_due = w->t + pause_for(thread_cpu(w) - before);
    }
    if (w->t < w->heavy_due)
        return;
    int64_t began = thread_cpu(w);
    rssmon_machine_read(&w->machine, &w->root);
    if (w->cgroup.version != 0 && !w->cgroup_scope)
        rssmon_cgroup_read(&w->cgroup, &w->cg);
    if (w->cgroup.version != 0)
        rssmon_cgroup_read_events(&w->cgroup, &w->cg_events);
    if (rssmon_evidence_poll(&w->evidence) > 0)
        while (w->kills_told < w->evidence.kill_count) {
            const struct rssmon_kill *k = &w->evidence.kills[w->kills_told++ % RSSMON_KILLS];
            for (size_t i = 0; i < w->pid_count && i < PIDS_MAX; i++)
                if (w->pids[i] == k->pid)
                    watch_note(w, "oom", k->line, k->pid);
        }
    w->heavy_due = w->t + pause_for(thread_cpu(w) - began);
}

static void plain_line(struct watch *w)
{
    char text[128];
    struct tm local;
    struct rssmon_text t;
    time_t seconds = (time_t)(w->now.wall / 1000000000);
    if (w->c->plain == NULL || w->t < w->plain_due)
        return;
    w->plain_due = w->t + w->c->plain_interval_ns;
    (void)localtime_r(&seconds, &local);
    rssmon_text_init(&t, text, sizeof text);
    (void)strftime(text, 16, "%H:%M:%S", &local);
    t.length = strlen(text);
    rssmon_text_string(&t, " RSS=");
    rssmon_text_size(&t, w->rss);
    /* a reader that has gone (`| head`) ends the lines, not the watch */
    if (fprintf(w->c->plain, "%s\n", text) < 0 || fflush(w->c->plain) != 0)
        w->plain_due = INT64_MAX;
}

void watch_sample(struct watch *w)
{
    heavy(w);
    if (w->looks == 0 || w->rss_ns != w->t) /* nothing was seen just now */
        return;
    plain_line(w);
    int64_t elapsed = w->t - w->begin_ns;
    int64_t pause = elapsed / 200;
    pause = pause < 100000000 ? 100000000 : pause > 15000000000 ? 15000000000 : pause;
    if (w->t - w->flat_since > 1000000000) /* flat: an envelope says as much in fewer lines */
        pause = pause * 5 < 15000000000 ? pause * 5 : 15000000000;
    if (w->c->log_interval_ns != 0)
        pause = w->c->log_interval_ns;
    if (w->t < w->sample_due)
        return;
    if (w->c->log_interval_ns == 0 && w->looks > 1 && !watch_room(w, 700)) {
        w->sample_due = w->t + 1000000000;
        return;
    }
    w->sample_due = w->t + pause;
    struct rssmon_record r;
    rssmon_record_init(&r, RSSMON_SAMPLE);
    struct rssmon_sample *s = &r.u.sample;
    const struct rssmon_totals *sum = &w->tree.totals;
    s->rss = w->rss;
    s->low = w->low;
    s->high = w->high;
    s->looks = w->envelope_looks;
    if (sum->rss_sum != sum->rss)
        s->rss_sum = sum->rss_sum;
    s->anon = sum->anon;
    s->file = sum->file;
    s->shmem = sum->shmem;
    s->swap = sum->swap;
    s->page_tables = sum->page_tables;
    s->hugetlb = sum->hugetlb;
    s->locked = sum->locked;
    walk_page_tables(w);
    s->pss = w->pss;
    s->vsize = sum->vsize;
    s->threads = sum->threads;
    s->processes = sum->processes;
    s->cpu_us = sum->cpu_us;
    if (w->tree.count > 0 && !w->cgroup_scope) {
        s->hwm = w->tree.members[0]->p.hwm;
        if (w->life != RSSMON_LIFE_RUNS && rssmon_life_measured(w->life))
            s->state = rssmon_life_name(w->life);
    }
    s->cg_current = w->cg.current;
    s->cg_peak = w->cg.peak;
    s->cg_anon = w->cg.anon;
    s->cg_file = w->cg.file;
    s->cg_shmem = w->cg.shmem;
    s->cg_kernel = w->cg.kernel;
    s->cg_swap = w->cg.swap;
    s->cg_oom_kill = w->cg_events.oom_kill;
    s->psi_some_us = w->machine.psi_some_us;
    s->psi_full_us = w->machine.psi_full_us;
    s->mem_available = w->machine.mem_available;
    s->gpu = w->gpu_bytes;
    s->gpu_unattributed = w->gpu_open;
    watch_log(w, &r);
    w->samples++;
    if (!w->sum_told && sum->rss_sum != RSSMON_UNKNOWN && sum->rss_sum > w->system.mem_total) {
        w->sum_told = 1;
        watch_note(
            w, "sum",
            "the plain sum of the processes' RSS exceeds the machine's memory: it counts what "
            "they share more than once, rss does not",
            sum->rss_sum);
    }
    w->low = UINT64_MAX;
    w->high = 0;
    w->envelope_looks = 0;
    if (w->tree.count > 1 && w->t >= w->row_due) {
        write_rows(w);
        w->row_due = w->t + 1000000000;
    }
    if (w->suppressed > 0 && watch_room(w, 400)) {
        watch_note(w, "limit", "process records left out to keep the log small", w->suppressed);
        w->suppressed = 0;
    }
}

void watch_reset_figures(struct watch *w)
{
    w->begin_ns = w->end_ns = w->rss_ns = w->hwm_ns = w->t;
    w->looks = w->samples = w->rss = w->hwm_rss = w->envelope_looks = w->uncertain = 0;
    w->low = UINT64_MAX;
    w->high = 0;
    w->over_ns = 0;
    memset(&w->peak, 0, sizeof w->peak);
    memset(&w->ring, 0, sizeof w->ring);
    memset(&w->series, 0, sizeof w->series);
    memset(&w->durations, 0, sizeof w->durations);
    memset(w->alert_over, 0, sizeof w->alert_over);
    memset(&w->cg, 0xff, sizeof w->cg);
    memset(&w->cg_events, 0xff, sizeof w->cg_events);
    memset(&w->machine, 0xff, sizeof w->machine);
    w->gpu_bytes = w->gpu_open = RSSMON_UNKNOWN;
    w->phase_count = 0;
    w->phase_runs = 0;
    w->pid_count = 0;
    w->children_seen = 0;
    w->root_dead = 0;
    w->kills_told = 0;
    w->life = RSSMON_LIFE_RUNS;
    w->stretch = 1;
    w->interval = w->c->interval_ns != 0 ? w->c->interval_ns : 1000000;
    w->flat_since = w->t;
    w->due = w->dirty_due = w->full_due = w->stat_due = w->sample_due = w->refresh_due =
        w->heavy_due = w->gpu_due = w->pss_due = w->marks_due = w->plain_due = w->row_due = w->t;
    w->budget_due = w->t + 250000000;
    w->budget_cpu = 0;
    w->quick_cost = 0;
}
