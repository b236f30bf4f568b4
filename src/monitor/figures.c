/* See figures.h. */
#include "monitor/figures.h"

#include <math.h>

#include "monitor/record.h"

static void halve(struct rssmon_series *s)
{
    for (size_t i = 0; i < RSSMON_BUCKETS / 2; i++) {
        s->area[i] = s->area[2 * i] + s->area[2 * i + 1];
        s->time[i] = s->time[2 * i] + s->time[2 * i + 1];
    }
    for (size_t i = RSSMON_BUCKETS / 2; i < RSSMON_BUCKETS; i++)
        s->area[i] = s->time[i] = 0;
    s->width_ns *= 2;
    s->count = (s->count + 1) / 2;
}

/* One segment of the curve into the bucket of its middle. */
static void put(struct rssmon_series *s, int64_t from, int64_t to, double area)
{
    if (s->width_ns == 0)
        s->width_ns = 10000000;
    int64_t middle = from + (to - from) / 2;
    if (middle < 0)
        middle = 0;
    while (middle / s->width_ns >= RSSMON_BUCKETS)
        halve(s);
    size_t at = (size_t)(middle / s->width_ns);
    s->area[at] += area;
    s->time[at] += (double)(to - from);
    if (at + 1 > s->count)
        s->count = at + 1;
    s->total_area += area;
    s->total_time += (double)(to - from);
}

void rssmon_series_add(struct rssmon_series *s, int64_t t_ns, uint64_t value)
{
    double v = (double)value;
    if (s->started && t_ns > s->last_ns)
        put(s, s->last_ns, t_ns, (s->last + v) / 2 * (double)(t_ns - s->last_ns));
    if (!s->started || t_ns >= s->last_ns) {
        s->last_ns = t_ns;
        s->last = v;
    }
    s->started = 1;
}

void rssmon_series_break(struct rssmon_series *s)
{
    s->started = 0;
}

uint64_t rssmon_series_mean(const struct rssmon_series *s)
{
    if (s->total_time > 0)
        return (uint64_t)(s->total_area / s->total_time);
    return s->started ? (uint64_t)s->last : RSSMON_UNKNOWN;
}

double rssmon_series_slope(const struct rssmon_series *s)
{
    double n = 0, x1 = 0, y1 = 0, xx = 0, xy = 0;
    size_t used = 0;
    for (size_t i = s->count / 2; i < s->count; i++) {
        double w = s->time[i];
        if (w <= 0)
            continue;
        double x = ((double)i + 0.5) * (double)s->width_ns * 1e-9, y = s->area[i] / w;
        n += w;
        x1 += w * x;
        y1 += w * y;
        used++;
    }
    if (used < 3)
        return NAN;
    double mx = x1 / n, my = y1 / n;
    for (size_t i = s->count / 2; i < s->count; i++) {
        double w = s->time[i];
        if (w <= 0)
            continue;
        double x = ((double)i + 0.5) * (double)s->width_ns * 1e-9 - mx;
        xx += w * x * x;
        xy += w * x * (s->area[i] / w - my);
    }
    return xx > 0 ? xy / xx : NAN;
}

void rssmon_ring_add(struct rssmon_quick_ring *r, int64_t t_ns, uint64_t rss)
{
    r->t_ns[r->count % RSSMON_RING_SIZE] = t_ns;
    r->rss[r->count % RSSMON_RING_SIZE] = rss;
    r->count++;
}

size_t rssmon_ring_copy(const struct rssmon_quick_ring *r, uint64_t from, uint64_t to,
                        int64_t *t_ns, uint64_t *rss, size_t capacity)
{
    size_t n = 0;
    if (to > r->count)
        to = r->count;
    if (r->count > RSSMON_RING_SIZE && from < r->count - RSSMON_RING_SIZE)
        from = r->count - RSSMON_RING_SIZE;
    for (; from < to && n < capacity; from++, n++) {
        t_ns[n] = r->t_ns[from % RSSMON_RING_SIZE];
        rss[n] = r->rss[from % RSSMON_RING_SIZE];
    }
    return n;
}

void rssmon_durations_add(struct rssmon_durations *d, int64_t ns)
{
    uint64_t v = ns > 0 ? (uint64_t)ns : 0;
    unsigned top = v < 8 ? 2 : 63u - (unsigned)__builtin_clzll(v);
    unsigned class = v < 8 ? (unsigned)v : (top - 2) * 8 + (unsigned)(v >> (top - 3) & 7);
    d->classes[class]++;
    d->count++;
}

uint64_t rssmon_durations_quantile(const struct rssmon_durations *d, double share)
{
    double want = share * (double)d->count;
    uint64_t seen = 0;
    if (d->count == 0)
        return RSSMON_UNKNOWN;
    for (unsigned c = 0; c < 64 * 8; c++) {
        seen += d->classes[c];
        if (d->classes[c] != 0 && (double)seen >= want) {
            if (c < 8)
                return c;
            unsigned top = c / 8 + 2;
            return ((UINT64_C(8) + c % 8 + 1) << (top - 3)) - 1;
        }
    }
    return RSSMON_UNKNOWN;
}
