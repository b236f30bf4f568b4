/* See stats.h. */
#include "monitor/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Continued fraction of the incomplete beta function (Lentz); x below (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    if (fabs(d) < tiny)
        d = tiny;
    d = 1 / d;
    double f = d;
    for (int m = 1; m <= 300; m++) {
        double m2 = 2.0 * m;
        double step[2] = {m * (b - m) * x / ((a + m2 - 1) * (a + m2)),
                          -(a + m) * (a + b + m) * x / ((a + m2) * (a + m2 + 1))};
        double last = f;
        for (int i = 0; i < 2; i++) {
            d = 1 + step[i] * d;
            c = 1 + step[i] / c;
            if (fabs(d) < tiny)
                d = tiny;
            if (fabs(c) < tiny)
                c = tiny;
            d = 1 / d;
            f *= c * d;
        }
        if (fabs(f - last) < 1e-15 * fabs(f))
            break;
    }
    return f;
}

static double incomplete_beta(double a, double b, double x)
{
    if (x <= 0)
        return 0;
    if (x >= 1)
        return 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/* P(|T| > t) */
static double t_two_tails(double t, double df)
{
    return incomplete_beta(df / 2, 0.5, df / (df + t * t));
}

double rssmon_t975(double df)
{
    if (!(df >= 1))
        return NAN;
    double low = 1.9, high = 13; /* 12.706 at df = 1, 1.95996 at infinity */
    for (int i = 0; i < 80; i++) {
        double mid = (low + high) / 2;
        if (t_two_tails(mid, df) > 0.05)
            low = mid;
        else
            high = mid;
    }
    return (low + high) / 2;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void rssmon_summarise(struct rssmon_summary *out, double *values, size_t n)
{
    *out = (struct rssmon_summary){n, NAN, NAN, NAN, NAN, NAN, NAN};
    if (n == 0)
        return;
    qsort(values, n, sizeof *values, by_value);
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    out->mean = sum / (double)n;
    out->median = n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
    out->min = values[0];
    out->max = values[n - 1];
    if (n < 2)
        return;
    for (size_t i = 0; i < n; i++)
        squares += (values[i] - out->mean) * (values[i] - out->mean);
    out->sd = sqrt(squares / (double)(n - 1));
    out->half = rssmon_t975((double)(n - 1)) * out->sd / sqrt((double)n);
}

void rssmon_compare(struct rssmon_change *out, const struct rssmon_summary *a,
                    const struct rssmon_summary *b)
{
    *out = (struct rssmon_change){NAN, NAN, false};
    if (a->n == 0 || b->n == 0 || a->mean == 0)
        return;
    double ratio = b->mean / a->mean;
    out->relative = ratio - 1;
    if (a->n < 2 || b->n < 2)
        return;
    /* variance of a ratio of means to first order: (vb + ratio^2 va) / mean_a^2 */
    double va = ratio * ratio * a->sd * a->sd / (double)a->n, vb = b->sd * b->sd / (double)b->n;
    double v = va + vb;
    if (v == 0) {
        out->half = 0;
    } else {
        double df = v * v / (va * va / (double)(a->n - 1) + vb * vb / (double)(b->n - 1));
        out->half = rssmon_t975(df < 1 ? 1 : df) * sqrt(v) / fabs(a->mean);
    }
    out->significant = fabs(out->relative) > out->half;
}

/* A percentage with as many digits as its error bears. */
static int digits(double half)
{
    return half >= 1 || half == 0 ? 0 : half >= 0.1 ? 1 : 2;
}

void rssmon_change_sentence(char *out, size_t size, const struct rssmon_change *change,
                            const struct rssmon_summary *a, const struct rssmon_summary *b,
                            const char *what, const char *name_b)
{
    double percent = 100 * change->relative, half = 100 * change->half;
    const char *way = percent < 0 ? "lower" : "higher";
    if (isnan(percent)) {
        (void)snprintf(out, size, "there is nothing to compare: n = %zu and %zu", a->n, b->n);
    } else if (isnan(half)) {
        (void)snprintf(out, size,
                       "%s's %s is %.1f %% %s, but one run a side cannot tell that from noise; "
                       "n = %zu and %zu",
                       name_b, what, fabs(percent), way, a->n, b->n);
    } else if (!change->significant) {
        (void)snprintf(out, size,
                       "no difference in %s was shown: %s is %+.*f %% ± %.*f %%; n = %zu and %zu",
                       what, name_b, digits(half), percent, digits(half), half, a->n, b->n);
    } else {
        (void)snprintf(out, size, "%s's %s is %.*f %% ± %.*f %% %s; n = %zu and %zu", name_b, what,
                       digits(half), fabs(percent), digits(half), half, way, a->n, b->n);
    }
}

bool rssmon_slope(double *slope, double *half, const double *x, const double *y, size_t n)
{
    *slope = 0;
    *half = NAN;
    if (n < 3)
        return false;
    double mx = 0, my = 0, sxx = 0, sxy = 0, residual = 0;
    for (size_t i = 0; i < n; i++) {
        mx += x[i] / (double)n;
        my += y[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        sxx += (x[i] - mx) * (x[i] - mx);
        sxy += (x[i] - mx) * (y[i] - my);
    }
    if (!(sxx > 0))
        return false;
    *slope = sxy / sxx;
    for (size_t i = 0; i < n; i++) {
        double e = y[i] - my - *slope * (x[i] - mx);
        residual += e * e;
    }
    *half = rssmon_t975((double)(n - 2)) * sqrt(residual / (double)(n - 2) / sxx);
    return true;
}
