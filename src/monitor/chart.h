/* Memory over time as a picture: SVG and PNG by cairo, or characters for a terminal. Knows nothing
 * of logs: curves, shaded spans, lines and dots in seconds and bytes.
 */
#ifndef RSSMON_CHART_H
#define RSSMON_CHART_H

#include <stdbool.h>
#include <stdio.h>

#include "monitor/error.h"
#include "monitor/history.h"

struct rssmon_curve {
    const char *label;
    const struct rssmon_point *points; /* by time */
    size_t count;
    bool secondary; /* dashed: a program's own account beside what the kernel says */
    /* the peak's dot and its error band; NAN at = none */
    double peak_at;
    uint64_t peak, peak_error;
};

struct rssmon_span {
    const char *label;
    double from, to;
    bool gap; /* hatched: nothing was seen */
};

struct rssmon_rule { /* a horizontal line: a limit */
    const char *label;
    uint64_t bytes;
};

struct rssmon_chart {
    const char *title, *subtitle; /* may be NULL */
    const struct rssmon_curve *curves;
    size_t curve_count;
    const struct rssmon_span *spans;
    size_t span_count;
    const struct rssmon_rule *rules;
    size_t rule_count;
    const struct rssmon_history_mark *marks; /* vertical lines */
    size_t mark_count;
    int width, height; /* pixels (points in SVG); 0: 1200 × 600 */
};

/* Draws to a file whose name ends in .svg or .png (anything else is RSSMON_E_ARGUMENT). The file is
 * replaced whole or not at all. */
rssmon_status rssmon_chart_draw(const struct rssmon_chart *chart, const char *path,
                                struct rssmon_error *err);

/* Characters: columns × rows in all (at least 20 × 5 are used), in UTF-8 braille dots or, with
 * ascii, in plain characters; with color, ANSI colours tell curves apart. */
rssmon_status rssmon_chart_text(const struct rssmon_chart *chart, FILE *out, int columns, int rows,
                                bool ascii, bool color, struct rssmon_error *err);

/* Axis ticks: the step of 1, 2 or 5 · 10^k (for bytes in the binary unit that fits; for seconds
 * whole minutes, hours, days when long) that cuts [0, top] in at most `most` parts. */
struct rssmon_ticks {
    double step;      /* in seconds or bytes */
    double unit;      /* one unit in seconds or bytes */
    const char *name; /* "GiB", "MiB", "s", "min", "h", "d" */
};
void rssmon_ticks_bytes(struct rssmon_ticks *out, double top, int most);
void rssmon_ticks_seconds(struct rssmon_ticks *out, double length, int most);

#endif
