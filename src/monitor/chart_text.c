/* The chart in characters: a grid of dots, 2 × 4 a braille character (or one a plain character),
 * with the byte axis at the left and the time axis below. */
#include <math.h>
#include <string.h>

#include "monitor/chart.h"
#include "monitor/mem.h"
#include "monitor/text.h"

struct canvas {
    int columns, rows; /* characters */
    int dx, dy;        /* dots a character */
    uint8_t *dots;     /* one byte a character: braille bits, or 1 */
    uint8_t *owner;    /* curve that drew there last, plus 1 */
};

static void dot(struct canvas *c, int x, int y, size_t curve)
{
    static const uint8_t bits[4][2] = {{1, 8}, {2, 16}, {4, 32}, {64, 128}};
    if (x < 0 || y < 0 || x >= c->columns * c->dx || y >= c->rows * c->dy)
        return;
    int cell = y / c->dy * c->columns + x / c->dx;
    c->dots[cell] |= c->dx == 1 ? 1 : bits[y % 4][x % 2];
    c->owner[cell] = (uint8_t)(curve % 6 + 1);
}

static void plot(struct canvas *c, const struct rssmon_curve *curve, size_t number, double t0,
                 double t1, double top)
{
    int width = c->columns * c->dx, height = c->rows * c->dy, last_x = -1, last_y = 0;
    for (size_t i = 0; i < curve->count; i++) {
        int x = (int)((curve->points[i].t - t0) / (t1 - t0) * (width - 1) + 0.5);
        int y = height - 1 - (int)((double)curve->points[i].bytes / top * (height - 1) + 0.5);
        /* memory holds its value until the next look: a step, then the rise */
        for (int k = last_x + 1; last_x >= 0 && k < x; k++)
            dot(c, k, last_y, number);
        if (last_x >= 0)
            for (int k = last_y < y ? last_y : y; k <= (last_y > y ? last_y : y); k++)
                dot(c, x, k, number);
        dot(c, x, y, number);
        last_x = x;
        last_y = y;
    }
}

static void put_cell(FILE *out, const struct canvas *c, int cell, bool color)
{
    static const int ansi[] = {0, 34, 33, 32, 35, 36, 31};
    uint8_t d = c->dots[cell];
    if (d == 0) {
        (void)fputc(' ', out);
        return;
    }
    if (color)
        (void)fprintf(out, "\x1b[%dm", ansi[c->owner[cell]]);
    if (c->dx == 1)
        (void)fputc("*+xo#@"[c->owner[cell] - 1], out);
    else /* U+2800 + d */
        (void)fprintf(out, "%c%c%c", 0xe2, 0xa0 | d >> 6, 0x80 | (d & 0x3f));
    if (color)
        (void)fputs("\x1b[0m", out);
}

rssmon_status rssmon_chart_text(const struct rssmon_chart *chart, FILE *out, int columns, int rows,
                                bool ascii, bool color, struct rssmon_error *err)
{
    enum { AXIS = 11 };
    double t0 = INFINITY, t1 = -INFINITY, top = 0;
    for (size_t i = 0; i < chart->curve_count; i++)
        for (size_t k = 0; k < chart->curves[i].count; k++) {
            const struct rssmon_point *p = &chart->curves[i].points[k];
            t0 = fmin(t0, p->t);
            t1 = fmax(t1, p->t);
            top = fmax(top, (double)p->bytes);
        }
    if (!(t1 > t0)) {
        t0 = isfinite(t0) ? t0 : 0;
        t1 = t0 + 1;
    }
    top = top > 0 ? top * 1.05 : 1;
    if (columns < 20)
        columns = 20;
    if (rows < 5)
        rows = 5;
    struct canvas c = {.columns = columns - AXIS, .rows = rows - 2};
    c.dx = ascii ? 1 : 2;
    c.dy = ascii ? 1 : 4;
    size_t cells = (size_t)c.columns * (size_t)c.rows;
    c.dots = rssmon_calloc(2, cells);
    if (c.dots == NULL)
        return rssmon_fail(err, RSSMON_E_MEMORY, "out of memory for a chart of %d × %d characters",
                           columns, rows);
    c.owner = c.dots + cells;
    for (size_t i = 0; i < chart->curve_count; i++)
        plot(&c, &chart->curves[i], i, t0, t1, top);
    struct rssmon_ticks ticks;
    rssmon_ticks_bytes(&ticks, top, c.rows / 3 > 1 ? c.rows / 3 : 1);
    double next = floor(top / ticks.step) * ticks.step;
    for (int row = 0; row < c.rows; row++) {
        double below = top * (c.rows - 1 - row) / c.rows;
        if (next >= below && next >= 0) {
            double v = next / ticks.unit;
            (void)fprintf(out, "%*.*f %-3s%s", AXIS - 5, v == floor(v) ? 0 : 1, v, ticks.name,
                          ascii ? "|" : "┤");
            next -= ticks.step;
        } else {
            (void)fprintf(out, "%*s%s", AXIS - 1, "", ascii ? "|" : "│");
        }
        for (int k = 0; k < c.columns; k++)
            put_cell(out, &c, row * c.columns + k, color);
        (void)fputc('\n', out);
    }
    (void)fprintf(out, "%*s%s", AXIS - 1, "", ascii ? "+" : "└");
    for (int k = 0; k < c.columns; k++)
        (void)fputs(ascii ? "-" : "─", out);
    (void)fputc('\n', out);
    rssmon_ticks_seconds(&ticks, t1 - t0, 5);
    char from[32], to[64];
    (void)snprintf(from, sizeof from, "%.4g %s", t0 / ticks.unit, ticks.name);
    (void)snprintf(to, sizeof to, "%.4g %s", t1 / ticks.unit, ticks.name);
    (void)fprintf(out, "%*s%s%*s\n", AXIS, "", from, c.columns - (int)strlen(from), to);
    rssmon_free(c.dots);
    return RSSMON_OK;
}
