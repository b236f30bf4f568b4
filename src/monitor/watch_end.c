/* The verdict at the end of a target's life. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "monitor/text.h"
#include "monitor/watch_state.h"

/* The wait status of the root, from whoever can tell; waits a little, because the parent may be
 * about to reap it. */
static uint64_t exit_status(struct watch *w, const char **source)
{
    *source = "wait status";
    if (w->launched)
        return w->reaped ? (uint64_t)(unsigned)w->child_status : RSSMON_UNKNOWN;
    struct rssmon_now now;
    w->clock->now(w->clock->context, &now);
    int64_t deadline = now.mono + 300000000;
    while (w->pidfd >= 0) {
        uint64_t status = rssmon_pidfd_status(w->pidfd);
        *source = "pidfd's exit information";
        if (status != RSSMON_UNKNOWN)
            return status;
        w->clock->now(w->clock->context, &now);
        if (now.mono >= deadline)
            break;
        (void)w->clock->wait(w->clock->context, NULL, 0, now.mono + 2000000);
    }
    *source = "zombie's /proc entry";
    if (w->tree.count > 0 && w->tree.members[0]->p.pid == w->pid) {
        struct rssmon_process *p = &w->tree.members[0]->p;
        p->life = RSSMON_LIFE_RUNS;
        (void)rssmon_process_quick(p); /* a zombie's stat is read again here */
        if (p->life == RSSMON_LIFE_ZOMBIE)
            return p->stat.exit_code;
    }
    return RSSMON_UNKNOWN;
}

/* A lone process's resource usage knows its peak to the end. But exec does not begin it anew: it is
 * at least what the child was while it was still a copy of rssmon, so a figure below rssmon's own
 * size says nothing. */
static void use_resource_usage(struct watch *w)
{
    enum { SLACK = 1 << 20 };
    if (!w->launched || !w->reaped || w->children_seen || w->cgroup_scope)
        return;
    uint64_t most = (uint64_t)w->child_usage.ru_maxrss * 1024;
    int own = most > w->before_exec + SLACK;
    if (most <= w->peak.rss || (!own && w->looks > 0))
        return;
    w->usage_error = own ? 0 : most; /* over before the first look: between nothing and this */
    w->peak.from_ns = w->looks > 0 ? w->hwm_ns : 0;
    w->peak.rss_from = w->rss;
    w->peak.rss = most;
    w->peak.source = "rusage";
    w->peak.at_ns = w->peak.from_ns + (w->t - w->peak.from_ns) / 2;
    w->peak.to_ns = RSSMON_NO_TIME;
    w->peak.ring_index = w->ring.count;
    w->peak.pending = 1;
}

/* Bound on the peak's error: the counter's own; for the high water mark, which the kernel raises
 * from its approximate counter on every version, a batch a CPU; in a tree what sharing leaves open.
 */
static uint64_t peak_error(const struct watch *w)
{
    uint64_t bound, batch;
    if (w->usage_error != 0)
        return w->usage_error;
    uint64_t threads = w->tree.totals.threads;
    (void)rssmon_error_model(w->system.version_major, w->system.version_minor, w->system.cpus,
                             threads != RSSMON_UNKNOWN ? threads : 1, w->system.page_size, &bound);
    if (w->cgroup_scope) /* memory.stat: up to 64 pages a CPU not yet added */
        return 64 * w->system.cpus * w->system.page_size;
    if (bound == RSSMON_UNKNOWN)
        return bound;
    if (w->tree.count <= 1 && !w->children_seen) {
        (void)rssmon_error_model(6, 2, w->system.cpus, 1, w->system.page_size, &batch);
        if (w->system.version_major * 1000 + w->system.version_minor < 6002)
            batch = bound;
        return bound > batch ? bound : batch;
    }
    uint64_t n = w->peak.parts_rss != 0 ? w->peak.parts.processes : 1;
    return bound * n + w->uncertain;
}

static void write_phases(struct watch *w)
{
    watch_phase_end(w);
    for (size_t i = 0; i < w->phase_count; i++) {
        const struct phase *p = &w->phases[i];
        struct rssmon_record r;
        rssmon_record_init(&r, RSSMON_PHASE);
        r.u.phase.label = p->label;
        r.u.phase.from_ns = p->from_ns;
        r.u.phase.to_ns = p->to_ns;
        if (p->peak != 0)
            r.u.phase.peak = p->peak;
        if (p->time > 0)
            r.u.phase.mean = (uint64_t)(p->area / p->time);
        r.u.phase.cg_peak = p->cg_peak;
        r.u.phase.looks = p->looks;
        r.u.phase.source = p->source;
        watch_log(w, &r);
    }
}

static void say(struct watch *w, const struct rssmon_verdict *v)
{
    char text[1500];
    struct rssmon_text t;
    if (w->c->messages == NULL)
        return;
    rssmon_text_init(&t, text, sizeof text);
    if (v->peak == RSSMON_UNKNOWN) {
        rssmon_text_string(&t, "no memory was seen");
    } else {
        rssmon_text_string(&t, "peak ");
        rssmon_text_size(&t, v->peak);
        if (v->peak_error != RSSMON_UNKNOWN) {
            rssmon_text_string(&t, " ± ");
            rssmon_text_size(&t, v->peak_error);
        }
        rssmon_text_string(&t, " (");
        rssmon_text_string(&t, v->peak_source);
        rssmon_text_string(&t, ", at ");
        rssmon_text_fixed3(&t, (double)v->peak_at_ns * 1e-9);
        rssmon_text_string(&t, " s)");
        if (v->mean != RSSMON_UNKNOWN) {
            rssmon_text_string(&t, ", mean ");
            rssmon_text_size(&t, v->mean);
        }
    }
    rssmon_text_string(&t, "; ");
    rssmon_text_string(&t, v->death);
    if (v->code != RSSMON_UNKNOWN) {
        rssmon_text_string(&t, " ");
        rssmon_text_u64(&t, v->code);
    }
    if (v->evidence != NULL) {
        rssmon_text_string(&t, " (");
        rssmon_text_string(&t, v->evidence);
        rssmon_text_string(&t, ")");
    }
    if (w->log != NULL) {
        rssmon_text_string(&t, "; log ");
        rssmon_text_string(&t, w->result->log_path);
    }
    fprintf(w->c->messages, "rssmon: %s\n", text);
}

void watch_verdict(struct watch *w, int alive)
{
    struct rssmon_death death = {.kind = "alive", .code = RSSMON_UNKNOWN};
    struct rssmon_record r;
    (void)rssmon_evidence_poll(&w->evidence);
    if (!alive) {
        const char *source = "";
        struct rssmon_machine machine;
        struct rssmon_cgroup_events events;
        uint64_t status = w->cgroup_scope ? RSSMON_UNKNOWN : exit_status(w, &source);
        (void)rssmon_evidence_poll(&w->evidence);
        rssmon_machine_read(&machine, &w->root);
        rssmon_cgroup_read_events(&w->cgroup, &events);
        rssmon_death_judge(&death, &w->evidence, status, source, w->pids,
                           w->pid_count < PIDS_MAX ? w->pid_count : PIDS_MAX, &machine, &w->cgroup,
                           &events);
        use_resource_usage(w);
    }
    w->clock->now(w->clock->context, &w->now);
    w->t = w->now.mono - w->base.mono;
    watch_settle_peak(w, 1);
    write_phases(w);

    rssmon_record_init(&r, RSSMON_VERDICT);
    struct rssmon_verdict *v = &r.u.verdict;
    if (w->peak.rss != 0) {
        v->peak = w->peak.rss;
        v->peak_error = peak_error(w);
        v->peak_source = w->peak.source;
        v->peak_at_ns = w->peak.at_ns;
    }
    v->mean = rssmon_series_mean(&w->series);
    v->slope = rssmon_series_slope(&w->series);
    v->duration_ns = w->end_ns - w->begin_ns;
    v->looks = w->looks;
    v->samples = w->samples;
    for (size_t i = 0; i < w->c->alert_count; i++)
        if (!w->c->alerts[i].available) {
            v->over = w->c->alerts[i].bound;
            v->over_ns = w->over_ns;
            break;
        }
    v->death = death.kind;
    v->code = death.code;
    v->evidence = death.evidence[0] != '\0' ? death.evidence : NULL;
    if (death.victim_pid != 0) {
        v->victim_pid = death.victim_pid;
        v->victim = death.victim;
    }
    struct rusage own;
    if (getrusage(RUSAGE_SELF, &own) == 0) {
        v->monitor_cpu_ns = ((int64_t)own.ru_utime.tv_sec + own.ru_stime.tv_sec) * 1000000000 +
                            ((int64_t)own.ru_utime.tv_usec + own.ru_stime.tv_usec) * 1000;
        v->monitor_rss = (uint64_t)own.ru_maxrss * 1024;
    }
    v->monitor_wakeups = w->wakeups;
    v->look_median_ns = rssmon_durations_quantile(&w->durations, 0.5);
    v->look_p99_ns = rssmon_durations_quantile(&w->durations, 0.99);
    v->lost = w->log != NULL ? rssmon_log_lost(w->log) : RSSMON_UNKNOWN;
    v->generation = w->generation;
    watch_log(w, &r);
    if (w->log != NULL)
        (void)rssmon_log_sync(w->log, NULL);
    say(w, v);
    w->result->peak = v->peak;
    w->result->peak_error = v->peak_error;
    w->result->code = v->code;
    (void)snprintf(w->result->death, sizeof w->result->death, "%s", death.kind);
    w->result->log_lost = w->log != NULL ? rssmon_log_lost(w->log) : 0;
}
