/* The statistics of a benchmark: few samples, unequal spreads. Plain formulas, no allocation.
 *
 * Intervals are two-sided at 95 %. Means use Student's t; differences of means Welch's t with the
 * Welch–Satterthwaite degrees of freedom (Welch 1947); slopes the least-squares line. With fewer
 * than two values there is no interval, and `half` is NAN.
 */
#ifndef CUZK_MONITOR_STATS_H
#define CUZK_MONITOR_STATS_H

#include <stdbool.h>
#include <stddef.h>

struct rssmon_summary {
    size_t n;
    double mean, median, min, max;
    double sd;   /* sample standard deviation; NAN for n < 2 */
    double half; /* half width of the mean's 95 % interval; NAN for n < 2 */
};

/* The 97.5 % quantile of Student's t with df degrees of freedom (df >= 1; need not be whole). */
double rssmon_t975(double df);

/* values is reordered (sorted). n = 0 gives NANs. */
void rssmon_summarise(struct rssmon_summary *out, double *values, size_t n);

/* The change from a to b, as a share of a's mean: relative = (mean b - mean a) / mean a. */
struct rssmon_change {
    double relative;  /* 0.14: b is 14 % higher */
    double half;      /* half width of its 95 % interval (first-order); NAN where unknown */
    bool significant; /* the interval leaves out zero */
};
void rssmon_compare(struct rssmon_change *out, const struct rssmon_summary *a,
                    const struct rssmon_summary *b);

/* "B's peak is 14 % ± 3 % lower; n = 5 and 5", or that no difference was shown, or that there are
 * too few runs to tell. what: "peak", names: "A", "B". Truncated to size. */
void rssmon_change_sentence(char *out, size_t size, const struct rssmon_change *change,
                            const struct rssmon_summary *a, const struct rssmon_summary *b,
                            const char *what, const char *name_b);

/* The least-squares line through (x, y): slope, and the half width of its 95 % interval. False with
 * fewer than three points or no spread in x (slope and half are then 0 and NAN). The samples of one
 * run depend on one another, so for a run's own memory the interval is a lower bound: say so. */
bool rssmon_slope(double *slope, double *half, const double *x, const double *y, size_t n);

#endif
