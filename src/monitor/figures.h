/* What is reckoned from looks as they come, in constant memory: mean, slope, time above a bound,
 * the quick ring and the window around the peak, and how long looks take.
 */
#ifndef RSSMON_FIGURES_H
#define RSSMON_FIGURES_H

#include <stddef.h>
#include <stdint.h>

/* ---- mean and slope: buckets of equal width that double when they run out ---- */
enum { RSSMON_BUCKETS = 1024 };
struct rssmon_series {
    int64_t width_ns; /* of a bucket; begins at 10 ms */
    size_t count;
    double area[RSSMON_BUCKETS]; /* bytes · ns */
    double time[RSSMON_BUCKETS]; /* ns that were seen */
    int started;
    int64_t last_ns;
    double last;
    double total_area, total_time;
};
/* A value at a time; the one before holds until halfway, so to say: the trapezoid counts. A gap is
 * told by _break: what lies between is not counted. Times do not fall. */
void rssmon_series_add(struct rssmon_series *s, int64_t t_ns, uint64_t value);
void rssmon_series_break(struct rssmon_series *s);
uint64_t rssmon_series_mean(const struct rssmon_series *s); /* unknown when nothing was added */
/* Least squares over the second half, bytes a second; NaN when there is too little. */
double rssmon_series_slope(const struct rssmon_series *s);

/* ---- quick looks ---- */
enum { RSSMON_RING_SIZE = 2048, RSSMON_WINDOW = 128 };
struct rssmon_quick_ring {
    int64_t t_ns[RSSMON_RING_SIZE];
    uint64_t rss[RSSMON_RING_SIZE];
    uint64_t count; /* ever added */
    uint64_t told;  /* of them, so many lie before what was last written */
};
void rssmon_ring_add(struct rssmon_quick_ring *r, int64_t t_ns, uint64_t rss);
/* Copies the looks with index from … to - 1 (of count) that are still there. How many. */
size_t rssmon_ring_copy(const struct rssmon_quick_ring *r, uint64_t from, uint64_t to,
                        int64_t *t_ns, uint64_t *rss, size_t capacity);

/* ---- durations: eight classes for each power of two ---- */
struct rssmon_durations {
    uint64_t classes[64 * 8];
    uint64_t count;
};
void rssmon_durations_add(struct rssmon_durations *d, int64_t ns);
/* The duration that a share of them does not exceed; unknown when there is none. */
uint64_t rssmon_durations_quantile(const struct rssmon_durations *d, double share);

#endif
