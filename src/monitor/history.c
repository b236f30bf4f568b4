/* See history.h. One pass over the records; then the curve is put in order (ring records are older
 * than what stands before them) and what the log did not conclude itself is worked out. */
#include "monitor/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/mem.h"
#include "monitor/stats.h"
#include "monitor/text.h"

static double seconds(int64_t ns)
{
    return ns == RSSMON_NO_TIME ? NAN : 1e-9 * (double)ns;
}

/* *to becomes a copy of from (NULL stays NULL); false when memory is out. */
static bool copy(char **to, const char *from)
{
    rssmon_free(*to);
    *to = from != NULL ? rssmon_strdup(from) : NULL;
    return from == NULL || *to != NULL;
}

static bool add_point(struct rssmon_point **points, size_t *count, size_t *capacity, double t,
                      uint64_t bytes)
{
    if (bytes == RSSMON_UNKNOWN || isnan(t))
        return true;
    if (rssmon_grow(points, capacity, *count + 1, sizeof **points) != 0)
        return false;
    (*points)[(*count)++] = (struct rssmon_point){t, bytes};
    return true;
}

static bool add_curve(struct rssmon_history *h, double t, uint64_t bytes)
{
    return add_point(&h->points, &h->point_count, &h->point_capacity, t, bytes);
}

static bool take_header(struct rssmon_history *h, const struct rssmon_record *r)
{
    const struct rssmon_header *x = &r->u.header;
    if (h->tool != NULL)
        return true; /* a later segment or generation repeats it */
    h->pid = x->pid;
    h->error_bytes = x->error_bytes;
    h->mem_total = x->mem_total;
    h->interval_us = x->interval_us;
    h->start_wall_ns = r->wall_ns;
    struct rssmon_text tags;
    char storage[1000];
    rssmon_text_init(&tags, storage, sizeof storage);
    for (size_t i = 0; i < x->tag_count; i++) {
        rssmon_text_string(&tags, i != 0 ? " " : "");
        rssmon_text_string(&tags, x->tags[i].name);
        rssmon_text_string(&tags, "=");
        rssmon_text_string(&tags, x->tags[i].value);
    }
    return copy(&h->name, x->name) && copy(&h->command, x->command) && copy(&h->host, x->host) &&
           copy(&h->kernel, x->kernel) && copy(&h->tool, x->tool != NULL ? x->tool : "") &&
           copy(&h->scope, x->scope) && copy(&h->counter, x->counter) &&
           copy(&h->tags, x->tag_count != 0 ? storage : NULL);
}

static bool take_mark(struct rssmon_history *h, const struct rssmon_record *r)
{
    const struct rssmon_mark *m = &r->u.mark;
    const char *action = m->action != NULL ? m->action : "point";
    double t = seconds(r->t_ns);
    struct rssmon_history_phase *open = NULL;
    for (size_t i = h->phase_count; i-- > 0 && open == NULL;)
        if (isnan(h->phases[i].to))
            open = &h->phases[i];
    if (strcmp(action, "point") == 0) {
        if (rssmon_grow(&h->marks, &h->mark_capacity, h->mark_count + 1, sizeof *h->marks) != 0)
            return false;
        struct rssmon_history_mark *k = &h->marks[h->mark_count++];
        *k = (struct rssmon_history_mark){.t = t};
        return copy(&k->label, m->label != NULL ? m->label : "");
    }
    if (open != NULL)
        open->to = t;
    if (strcmp(action, "begin") != 0)
        return true;
    if (rssmon_grow(&h->phases, &h->phase_capacity, h->phase_count + 1, sizeof *h->phases) != 0)
        return false;
    struct rssmon_history_phase *p = &h->phases[h->phase_count++];
    *p = (struct rssmon_history_phase){.from = t, .to = NAN, .cg_peak = RSSMON_UNKNOWN};
    return copy(&p->label, m->label != NULL ? m->label : "");
}

static bool take_process(struct rssmon_history *h, const struct rssmon_record *r)
{
    const struct rssmon_proc *x = &r->u.proc;
    struct rssmon_history_process *p = NULL;
    for (size_t i = h->process_count; i-- > 0 && p == NULL;)
        if (h->processes[i].pid == x->pid && h->processes[i].death == NULL)
            p = &h->processes[i];
    if (p == NULL) {
        if (rssmon_grow(&h->processes, &h->process_capacity, h->process_count + 1,
                        sizeof *h->processes) != 0)
            return false;
        p = &h->processes[h->process_count++];
        *p = (struct rssmon_history_process){.pid = x->pid, .from = seconds(r->t_ns)};
        p->peak = p->code = RSSMON_UNKNOWN;
    }
    const uint64_t seen[] = {x->peak, x->rss};
    for (size_t i = 0; i < 2; i++)
        if (seen[i] != RSSMON_UNKNOWN && (p->peak == RSSMON_UNKNOWN || seen[i] > p->peak))
            p->peak = seen[i];
    p->to = seconds(r->t_ns);
    if (x->event != NULL && strcmp(x->event, "exit") == 0) {
        p->code = x->code;
        if (!copy(&p->death, x->death != NULL ? x->death : "unknown"))
            return false;
    }
    return (x->name == NULL || copy(&p->name, x->name)) &&
           (x->command == NULL || copy(&p->command, x->command));
}

static bool take_gap(struct rssmon_history *h, const struct rssmon_record *r)
{
    const struct rssmon_gap *g = &r->u.gap;
    if (g->cause != NULL && strcmp(g->cause, "clock-step") == 0)
        return true; /* the wall clock jumped; nothing was missed */
    if (rssmon_grow(&h->gaps, &h->gap_capacity, h->gap_count + 1, sizeof *h->gaps) != 0)
        return false;
    struct rssmon_history_gap *x = &h->gaps[h->gap_count++];
    *x = (struct rssmon_history_gap){.from = seconds(g->from_ns), .to = seconds(r->t_ns)};
    return copy(&x->cause, g->cause != NULL ? g->cause : "");
}

static bool take_verdict(struct rssmon_history *h, const struct rssmon_verdict *v)
{
    h->complete = true;
    h->peak = v->peak;
    h->peak_error = v->peak_error;
    h->peak_at = seconds(v->peak_at_ns);
    h->mean = v->mean;
    h->slope = v->slope;
    h->duration = seconds(v->duration_ns);
    h->looks = v->looks;
    h->samples = v->samples;
    h->over = v->over != RSSMON_UNKNOWN ? seconds(v->over_ns) : NAN;
    h->over_bytes = v->over;
    h->monitor_cpu = seconds(v->monitor_cpu_ns);
    h->code = v->code;
    h->lost = v->lost != RSSMON_UNKNOWN ? v->lost : 0;
    return copy(&h->peak_source, v->peak_source) && copy(&h->death, v->death) &&
           copy(&h->evidence, v->evidence) && copy(&h->victim, v->victim);
}

static bool take(struct rssmon_history *h, const struct rssmon_record *r)
{
    double t = seconds(r->t_ns);
    switch (r->kind) {
    case RSSMON_HEADER:
        return take_header(h, r);
    case RSSMON_SAMPLE:
        h->samples++;
        h->looks += r->u.sample.looks != RSSMON_UNKNOWN ? r->u.sample.looks : 1;
        if (r->u.sample.high != RSSMON_UNKNOWN && r->u.sample.high > h->peak) {
            h->peak = r->u.sample.high; /* between two records: the moment is not in the log */
            h->peak_at = t;
            if (!copy(&h->peak_source, "rss"))
                return false;
        }
        return add_curve(h, t, r->u.sample.rss);
    case RSSMON_RING:
        for (size_t i = 0; i < r->u.ring.count; i++)
            if (!add_curve(h, seconds(r->u.ring.t_ns[i]), r->u.ring.rss[i]))
                return false;
        return true;
    case RSSMON_PEAK:
        if (r->u.peak.rss != RSSMON_UNKNOWN && r->u.peak.rss >= h->peak) {
            h->peak = r->u.peak.rss;
            h->peak_at = seconds(r->u.peak.at_ns);
            if (!copy(&h->peak_source, r->u.peak.source))
                return false;
        }
        return add_curve(h, seconds(r->u.peak.at_ns), r->u.peak.rss);
    case RSSMON_MARK:
        return take_mark(h, r);
    case RSSMON_GAP:
        return take_gap(h, r);
    case RSSMON_PROC:
        return take_process(h, r);
    case RSSMON_ACCOUNT:
        return add_point(&h->account, &h->account_count, &h->account_capacity, t,
                         r->u.account.total);
    case RSSMON_VERDICT:
        return take_verdict(h, &r->u.verdict);
    default:
        return true;
    }
}

static int by_time(const void *a, const void *b)
{
    double x = ((const struct rssmon_point *)a)->t, y = ((const struct rssmon_point *)b)->t;
    return (x > y) - (x < y);
}

/* Time-weighted mean (trapezoids) and peak of the curve over [from, to]. */
static void measure(const struct rssmon_history *h, double from, double to, uint64_t *peak,
                    uint64_t *mean, double *seen)
{
    double area = 0, time = 0;
    uint64_t top = 0, last = 0;
    for (size_t i = 0; i < h->point_count; i++) {
        const struct rssmon_point *p = &h->points[i];
        if (p->t < from || p->t > to)
            continue;
        if (p->bytes > top)
            top = p->bytes;
        last = p->bytes;
        if (i != 0 && h->points[i - 1].t >= from) {
            double dt = p->t - h->points[i - 1].t;
            area += dt * ((double)p->bytes + (double)h->points[i - 1].bytes) / 2;
            time += dt;
        }
    }
    *peak = top;
    *mean = time > 0 ? (uint64_t)(area / time) : last;
    *seen = time;
}

/* Least squares over the second half of the curve, as the monitor itself does. */
static double slope_of(const struct rssmon_history *h)
{
    size_t first = h->point_count / 2, n = h->point_count - first;
    double *x = rssmon_calloc(n + 1, 2 * sizeof *x), slope = NAN, half;
    if (x == NULL)
        return NAN;
    for (size_t i = 0; i < n; i++) {
        x[i] = h->points[first + i].t;
        x[n + i] = (double)h->points[first + i].bytes;
    }
    if (!rssmon_slope(&slope, &half, x, x + n, n))
        slope = NAN;
    rssmon_free(x);
    return slope;
}

static void conclude(struct rssmon_history *h)
{
    if (h->point_count != 0)
        qsort(h->points, h->point_count, sizeof *h->points, by_time);
    if (h->account_count != 0)
        qsort(h->account, h->account_count, sizeof *h->account, by_time);
    double last = h->point_count != 0 ? h->points[h->point_count - 1].t : 0;
    double first = h->point_count != 0 ? h->points[0].t : 0;
    double seen;
    if (!h->complete) {
        uint64_t peak;
        measure(h, first, last, &peak, &h->mean, &seen);
        if (peak > h->peak) {
            h->peak = peak;
            h->peak_at = NAN; /* found below */
        }
        h->peak_error = h->error_bytes;
        h->duration = last - first;
        h->slope = slope_of(h);
    }
    if (isnan(h->peak_at))
        for (size_t i = 0; i < h->point_count && isnan(h->peak_at); i++)
            if (h->points[i].bytes == h->peak)
                h->peak_at = h->points[i].t;
    for (size_t i = 0; i < h->phase_count; i++) {
        struct rssmon_history_phase *p = &h->phases[i];
        if (isnan(p->to))
            p->to = last > p->from ? last : p->from;
        measure(h, p->from, p->to, &p->peak, &p->mean, &p->seconds_seen);
        if (h->peak_at >= p->from && h->peak_at <= p->to && h->peak > p->peak)
            p->peak = h->peak;
    }
}

static rssmon_status read_all(struct rssmon_history **out, const char *name,
                              struct rssmon_log_reader *reader, struct rssmon_error *err)
{
    struct rssmon_record record;
    rssmon_status status;
    struct rssmon_history *h = rssmon_calloc(1, sizeof *h);
    if (h == NULL || !copy(&h->path, name))
        goto memory;
    h->peak_at = h->slope = h->duration = h->monitor_cpu = h->over = NAN;
    h->code = RSSMON_UNKNOWN;
    h->start_wall_ns = RSSMON_NO_TIME;
    while ((status = rssmon_log_next(reader, &record, err)) == RSSMON_OK)
        if (!take(h, &record))
            goto memory;
    if (status != RSSMON_END) {
        rssmon_history_free(h);
        return status;
    }
    h->read = *rssmon_log_statistics(reader);
    if (h->tool == NULL && h->point_count == 0) {
        status = rssmon_fail(err, RSSMON_E_FORMAT,
                             "%s: no record of a log in it; was it written by rssmon?", name);
        rssmon_history_free(h);
        return status;
    }
    conclude(h);
    *out = h;
    return RSSMON_OK;
memory:
    rssmon_history_free(h);
    return rssmon_fail(err, RSSMON_E_MEMORY, "%s: out of memory while reading", name);
}

rssmon_status rssmon_history_read(struct rssmon_history **out, const char *path,
                                  struct rssmon_error *err)
{
    struct rssmon_log_reader *reader;
    *out = NULL;
    rssmon_status status = rssmon_log_open_read(&reader, path, err);
    if (status != RSSMON_OK)
        return status;
    status = read_all(out, path, reader, err);
    rssmon_log_close_read(reader);
    return status;
}

rssmon_status rssmon_history_read_memory(struct rssmon_history **out, const char *name,
                                         const void *data, size_t size, struct rssmon_error *err)
{
    struct rssmon_log_reader *reader;
    *out = NULL;
    rssmon_status status = rssmon_log_open_memory(&reader, data, size, err);
    if (status != RSSMON_OK)
        return status;
    status = read_all(out, name, reader, err);
    rssmon_log_close_read(reader);
    return status;
}

rssmon_status rssmon_history_add_account(struct rssmon_history *h, const char *path,
                                         struct rssmon_error *err)
{
    struct rssmon_history *other;
    rssmon_status status = rssmon_history_read(&other, path, err);
    if (status != RSSMON_OK)
        return status;
    double shift = 0;
    if (h->start_wall_ns != RSSMON_NO_TIME && other->start_wall_ns != RSSMON_NO_TIME)
        shift = 1e-9 * (double)(other->start_wall_ns - h->start_wall_ns);
    if (other->account_count == 0)
        status = rssmon_fail(err, RSSMON_E_FORMAT, "%s: no account record in it", path);
    for (size_t i = 0; i < other->account_count && status == RSSMON_OK; i++)
        if (!add_point(&h->account, &h->account_count, &h->account_capacity,
                       other->account[i].t + shift, other->account[i].bytes))
            status = rssmon_fail(err, RSSMON_E_MEMORY, "%s: out of memory", path);
    if (h->account_count != 0)
        qsort(h->account, h->account_count, sizeof *h->account, by_time);
    rssmon_history_free(other);
    return status;
}

void rssmon_history_free(struct rssmon_history *h)
{
    if (h == NULL)
        return;
    for (size_t i = 0; i < h->phase_count; i++)
        rssmon_free(h->phases[i].label);
    for (size_t i = 0; i < h->mark_count; i++)
        rssmon_free(h->marks[i].label);
    for (size_t i = 0; i < h->gap_count; i++)
        rssmon_free(h->gaps[i].cause);
    for (size_t i = 0; i < h->process_count; i++) {
        rssmon_free(h->processes[i].name);
        rssmon_free(h->processes[i].command);
        rssmon_free(h->processes[i].death);
    }
    void *const owned[] = {h->path,        h->name,   h->command,  h->host,  h->kernel,
                           h->tool,        h->scope,  h->counter,  h->tags,  h->points,
                           h->account,     h->phases, h->marks,    h->gaps,  h->processes,
                           h->peak_source, h->death,  h->evidence, h->victim};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++)
        rssmon_free(owned[i]);
    rssmon_free(h);
}
