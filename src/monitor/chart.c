/* See chart.h: the scales, and the cairo drawing. Colours are the Okabe–Ito palette, which people
 * with any form of colour blindness can tell apart. Long curves are drawn as the least and greatest
 * value of each pixel column, so no transient is lost, however many samples there are. */
#include "monitor/chart.h"

#include <cairo-svg.h>
#include <cairo.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "monitor/mem.h"
#include "monitor/text.h"

static double nice_step(double range, int most)
{
    if (!(range > 0))
        return 1;
    double raw = range / most, power = pow(10, floor(log10(raw)));
    static const double steps[] = {1, 2, 5, 10};
    for (size_t i = 0; i < 4; i++)
        if (steps[i] * power >= raw * (1 - 1e-9))
            return steps[i] * power;
    return 10 * power;
}

void rssmon_ticks_bytes(struct rssmon_ticks *out, double top, int most)
{
    static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    int i = 0;
    double unit = 1;
    while (i < 5 && top >= 1024 * unit) {
        unit *= 1024;
        i++;
    }
    *out = (struct rssmon_ticks){nice_step(top / unit, most) * unit, unit, names[i]};
}

void rssmon_ticks_seconds(struct rssmon_ticks *out, double length, int most)
{
    static const struct {
        double unit;
        const char *name;
    } units[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};
    for (size_t i = 0; i < 4; i++)
        if (length >= 3 * units[i].unit || i == 3) {
            double step = nice_step(length / units[i].unit, most);
            if (i < 3 && step < 1) /* quarters and halves of an hour, not tenths */
                step = i == 0 ? (step <= 0.25 ? 0.25 : 0.5) : (step <= 1. / 4 ? 1. / 4 : 0.5);
            *out = (struct rssmon_ticks){step * units[i].unit, units[i].unit, units[i].name};
            return;
        }
}

struct frame {
    cairo_t *cr;
    double left, top, right, bottom; /* of the plot area */
    double t0, t1, y1;               /* seconds and bytes it spans; bytes from 0 */
};

static double x_of(const struct frame *f, double t)
{
    return f->left + (t - f->t0) / (f->t1 - f->t0) * (f->right - f->left);
}

static double y_of(const struct frame *f, double bytes)
{
    return f->bottom - bytes / f->y1 * (f->bottom - f->top);
}

static const double palette[][3] = {{0, 0.447, 0.698},   {0.835, 0.369, 0}, {0, 0.62, 0.451},
                                    {0.8, 0.475, 0.655}, {0.902, 0.624, 0}, {0.337, 0.706, 0.914},
                                    {0.35, 0.35, 0.35}};

static void colour(cairo_t *cr, size_t i, double alpha)
{
    const double *c = palette[i % (sizeof palette / sizeof palette[0])];
    cairo_set_source_rgba(cr, c[0], c[1], c[2], alpha);
}

static void ink(cairo_t *cr, double grey, double alpha)
{
    cairo_set_source_rgba(cr, grey, grey, grey, alpha);
}

enum anchor { LEFT, CENTRE, RIGHT };

static double text_width(cairo_t *cr, const char *s)
{
    cairo_text_extents_t e;
    cairo_text_extents(cr, s, &e);
    return e.x_advance;
}

static void text(cairo_t *cr, double x, double y, enum anchor anchor, const char *s)
{
    double w = text_width(cr, s);
    cairo_move_to(cr, x - (anchor == RIGHT ? w : anchor == CENTRE ? w / 2 : 0), y);
    cairo_show_text(cr, s);
}

/* Text cut to a width with an ellipsis, on the boundary of a UTF-8 character. */
static void text_within(cairo_t *cr, double x, double y, double width, const char *s)
{
    char buffer[400];
    size_t n = strlen(s);
    if (n > sizeof buffer - 5)
        n = sizeof buffer - 5;
    memcpy(buffer, s, n);
    buffer[n] = '\0';
    if (text_width(cr, buffer) <= width && buffer[n] == s[n]) {
        text(cr, x, y, LEFT, buffer);
        return;
    }
    while (n > 0) {
        n--;
        while (n > 0 && ((unsigned char)buffer[n] & 0xc0) == 0x80)
            n--;
        memcpy(buffer + n, "…", sizeof "…");
        if (text_width(cr, buffer) <= width) {
            text(cr, x, y, LEFT, buffer);
            return;
        }
    }
}

static void size_text(char *out, size_t capacity, uint64_t bytes)
{
    struct rssmon_text t;
    rssmon_text_init(&t, out, capacity);
    rssmon_text_size(&t, bytes);
}

/* A number without needless zeros. */
static void number_text(char *out, size_t capacity, double v, double step)
{
    int decimals = 0;
    for (double s = step; decimals < 4 && fabs(s - round(s)) > 1e-9; s *= 10)
        decimals++;
    (void)snprintf(out, capacity, "%.*f", decimals, v);
}

static void draw_grid(const struct frame *f)
{
    cairo_t *cr = f->cr;
    struct rssmon_ticks ticks;
    char label[64], number[48];
    cairo_set_line_width(cr, 1);
    cairo_set_font_size(cr, 13);
    rssmon_ticks_bytes(&ticks, f->y1, 6);
    for (double v = 0; v <= f->y1 * 1.0001; v += ticks.step) {
        double y = floor(y_of(f, v)) + 0.5;
        ink(cr, 0, v == 0 ? 0.6 : 0.1);
        cairo_move_to(cr, f->left, y);
        cairo_line_to(cr, f->right, y);
        cairo_stroke(cr);
        number_text(number, sizeof number, v / ticks.unit, ticks.step / ticks.unit);
        (void)snprintf(label, sizeof label, "%s %s", number, v == 0 ? "" : ticks.name);
        ink(cr, 0.3, 1);
        text(cr, f->left - 8, y + 4.5, RIGHT, label);
    }
    rssmon_ticks_seconds(&ticks, f->t1 - f->t0, 10);
    for (double t = ceil(f->t0 / ticks.step - 1e-9) * ticks.step; t <= f->t1 + 1e-9 * ticks.step;
         t += ticks.step) {
        double x = floor(x_of(f, t)) + 0.5;
        ink(cr, 0, 0.5);
        cairo_move_to(cr, x, f->bottom);
        cairo_line_to(cr, x, f->bottom + 5);
        cairo_stroke(cr);
        number_text(number, sizeof number, fabs(t) < 1e-6 * ticks.step ? 0 : t / ticks.unit,
                    ticks.step / ticks.unit);
        (void)snprintf(label, sizeof label, "%s %s", number, ticks.name);
        ink(cr, 0.3, 1);
        text(cr, x, f->bottom + 20, CENTRE, label);
    }
}

static void draw_spans(const struct frame *f, const struct rssmon_chart *chart)
{
    cairo_t *cr = f->cr;
    size_t shade = 0;
    cairo_set_font_size(cr, 12);
    for (size_t i = 0; i < chart->span_count; i++) {
        const struct rssmon_span *s = &chart->spans[i];
        double a = x_of(f, fmax(s->from, f->t0)), b = x_of(f, fmin(s->to, f->t1));
        if (!(b >= a))
            continue;
        if (s->gap) {
            cairo_save(cr);
            cairo_rectangle(cr, a, f->top, fmax(b - a, 1), f->bottom - f->top);
            cairo_clip(cr);
            ink(cr, 0.5, 0.5);
            cairo_set_line_width(cr, 1);
            for (double x = a - (f->bottom - f->top); x < b; x += 8) {
                cairo_move_to(cr, x, f->bottom);
                cairo_line_to(cr, x + (f->bottom - f->top), f->top);
            }
            cairo_stroke(cr);
            cairo_restore(cr);
            continue;
        }
        colour(cr, shade + 2, shade % 2 ? 0.07 : 0.13);
        shade++;
        cairo_rectangle(cr, a, f->top, fmax(b - a, 1), f->bottom - f->top);
        cairo_fill(cr);
        ink(cr, 0.25, 1);
        text_within(cr, a + 4, f->top + 14 + (double)(i % 2) * 14, fmax(b - a - 6, 0),
                    s->label != NULL ? s->label : "");
    }
    for (size_t i = 0; i < chart->mark_count; i++) {
        const struct rssmon_history_mark *m = &chart->marks[i];
        if (m->t < f->t0 || m->t > f->t1)
            continue;
        double x = floor(x_of(f, m->t)) + 0.5;
        ink(cr, 0.3, 0.6);
        cairo_move_to(cr, x, f->top);
        cairo_line_to(cr, x, f->bottom);
        cairo_stroke(cr);
        cairo_save(cr);
        cairo_move_to(cr, x - 4, f->bottom - 6);
        cairo_rotate(cr, -M_PI / 2);
        cairo_show_text(cr, m->label != NULL ? m->label : "");
        cairo_restore(cr);
    }
}

static void draw_curve(const struct frame *f, const struct rssmon_curve *c, size_t number)
{
    cairo_t *cr = f->cr;
    static const double dashes[] = {7, 4};
    if (c->count == 0)
        return;
    cairo_save(cr);
    cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
    cairo_set_line_width(cr, 1.8);
    if (c->secondary)
        cairo_set_dash(cr, dashes, 2, 0);
    colour(cr, number, 1);
    /* within one pixel column: first, least, greatest, last */
    double column = NAN, low = 0, high = 0, last = 0;
    bool begun = false;
    for (size_t i = 0; i <= c->count; i++) {
        double x = i < c->count ? floor(x_of(f, c->points[i].t) * 2) / 2 : NAN;
        double v = i < c->count ? (double)c->points[i].bytes : 0;
        if (i < c->count && x == column) {
            low = fmin(low, v);
            high = fmax(high, v);
            last = v;
            continue;
        }
        if (!isnan(column) && high > low) {
            cairo_line_to(cr, column, y_of(f, low));
            cairo_line_to(cr, column, y_of(f, high));
            cairo_line_to(cr, column, y_of(f, last));
        }
        if (i == c->count)
            break;
        if (begun)
            cairo_line_to(cr, x, y_of(f, v));
        else
            cairo_move_to(cr, x, y_of(f, v));
        begun = true;
        column = x;
        low = high = last = v;
    }
    if (c->count == 1)
        cairo_line_to(cr, f->right, y_of(f, high));
    cairo_stroke(cr);
    cairo_restore(cr);
}

static void draw_peak(const struct frame *f, const struct rssmon_curve *c, size_t number)
{
    cairo_t *cr = f->cr;
    if (isnan(c->peak_at) || c->peak == 0)
        return;
    double x = x_of(f, c->peak_at), y = y_of(f, (double)c->peak);
    if (c->peak_error != RSSMON_UNKNOWN && c->peak_error != 0) {
        double half = y_of(f, 0) - y_of(f, (double)c->peak_error);
        colour(cr, number, 0.2);
        cairo_rectangle(cr, f->left, y - half, f->right - f->left, 2 * half);
        cairo_fill(cr);
    }
    colour(cr, number, 1);
    cairo_arc(cr, x, y, 4, 0, 2 * M_PI);
    cairo_fill(cr);
    char size[64], label[96];
    size_text(size, sizeof size, c->peak);
    (void)snprintf(label, sizeof label, "peak %s", size);
    cairo_set_font_size(cr, 13);
    double w = text_width(cr, label);
    bool left = x + 10 + w > f->right;
    double tx = left ? x - 10 - w : x + 10, ty = y - 8;
    cairo_set_source_rgba(cr, 1, 1, 1, 0.75);
    cairo_rectangle(cr, tx - 2, ty - 12, w + 4, 16);
    cairo_fill(cr);
    colour(cr, number, 1);
    text(cr, tx, ty, LEFT, label);
}

static void draw_rules(const struct frame *f, const struct rssmon_chart *chart)
{
    cairo_t *cr = f->cr;
    static const double dots[] = {2, 4};
    for (size_t i = 0; i < chart->rule_count; i++) {
        double y = floor(y_of(f, (double)chart->rules[i].bytes)) + 0.5;
        if (y < f->top)
            continue;
        cairo_save(cr);
        cairo_set_source_rgba(cr, 0.8, 0.1, 0.1, 0.9);
        cairo_set_line_width(cr, 1.5);
        cairo_set_dash(cr, dots, 2, 0);
        cairo_move_to(cr, f->left, y);
        cairo_line_to(cr, f->right, y);
        cairo_stroke(cr);
        cairo_set_font_size(cr, 12);
        text(cr, f->right - 6, y - 5, RIGHT, chart->rules[i].label);
        cairo_restore(cr);
    }
}

static void draw_legend(const struct frame *f, const struct rssmon_chart *chart, double y)
{
    cairo_t *cr = f->cr;
    static const double dashes[] = {7, 4};
    double x = f->left;
    cairo_set_font_size(cr, 13);
    for (size_t i = 0; i < chart->curve_count; i++) {
        const struct rssmon_curve *c = &chart->curves[i];
        cairo_save(cr);
        colour(cr, i, 1);
        cairo_set_line_width(cr, 3);
        if (c->secondary)
            cairo_set_dash(cr, dashes, 2, 0);
        cairo_move_to(cr, x, y - 4);
        cairo_line_to(cr, x + 24, y - 4);
        cairo_stroke(cr);
        cairo_restore(cr);
        ink(cr, 0.15, 1);
        double room = fmax(f->right - x - 30, 0);
        text_within(cr, x + 30, y, room, c->label);
        x += 30 + fmin(text_width(cr, c->label), room) + 24;
        if (x > f->right - 60)
            break;
    }
}

static void frame_of(struct frame *f, const struct rssmon_chart *chart)
{
    double t0 = INFINITY, t1 = -INFINITY, top = 0;
    for (size_t i = 0; i < chart->curve_count; i++) {
        const struct rssmon_curve *c = &chart->curves[i];
        if (c->count != 0) {
            t0 = fmin(t0, c->points[0].t);
            t1 = fmax(t1, c->points[c->count - 1].t);
        }
        for (size_t k = 0; k < c->count; k++)
            top = fmax(top, (double)c->points[k].bytes);
        if (!isnan(c->peak_at)) {
            top = fmax(top, (double)c->peak);
            t0 = fmin(t0, c->peak_at);
            t1 = fmax(t1, c->peak_at);
        }
    }
    for (size_t i = 0; i < chart->rule_count; i++)
        if ((double)chart->rules[i].bytes < 2 * top)
            top = fmax(top, (double)chart->rules[i].bytes);
    if (!(t1 > t0)) {
        t0 = isfinite(t0) ? t0 : 0;
        t1 = t0 + 1;
    }
    if (t0 > 0 && t0 < 0.05 * (t1 - t0))
        t0 = 0;
    f->t0 = t0;
    f->t1 = t1;
    f->y1 = top > 0 ? top * 1.12 : 1 << 20;
}

static void draw(cairo_t *cr, const struct rssmon_chart *chart, double width, double height)
{
    struct frame f = {.cr = cr, .left = 86, .top = 74, .right = width - 24, .bottom = height - 40};
    frame_of(&f, chart);
    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_paint(cr);
    cairo_select_font_face(cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_BOLD);
    cairo_set_font_size(cr, 17);
    ink(cr, 0.1, 1);
    text_within(cr, f.left, 24, f.right - f.left, chart->title != NULL ? chart->title : "");
    cairo_select_font_face(cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cr, 13);
    ink(cr, 0.35, 1);
    text_within(cr, f.left, 43, f.right - f.left, chart->subtitle != NULL ? chart->subtitle : "");
    draw_legend(&f, chart, 63);
    draw_spans(&f, chart);
    draw_grid(&f);
    draw_rules(&f, chart);
    for (size_t i = 0; i < chart->curve_count; i++)
        draw_curve(&f, &chart->curves[i], i);
    for (size_t i = 0; i < chart->curve_count; i++)
        draw_peak(&f, &chart->curves[i], i);
}

static bool ends_with(const char *s, const char *suffix)
{
    size_t n = strlen(s), m = strlen(suffix);
    return n > m && strcmp(s + n - m, suffix) == 0;
}

rssmon_status rssmon_chart_draw(const struct rssmon_chart *chart, const char *path,
                                struct rssmon_error *err)
{
    bool svg = ends_with(path, ".svg");
    if (!svg && !ends_with(path, ".png"))
        return rssmon_fail(err, RSSMON_E_ARGUMENT, "%s: the name of a picture ends in .svg or .png",
                           path);
    int width = chart->width > 0 ? chart->width : 1200;
    int height = chart->height > 0 ? chart->height : 600;
    size_t n = strlen(path) + 16;
    char *part = rssmon_calloc(n, 1);
    if (part == NULL)
        return rssmon_fail(err, RSSMON_E_MEMORY, "%s: out of memory", path);
    (void)snprintf(part, n, "%s.part", path);
    cairo_surface_t *surface =
        svg ? cairo_svg_surface_create(part, width, height)
            : cairo_image_surface_create(CAIRO_FORMAT_ARGB32, 2 * width, 2 * height);
    cairo_t *cr = cairo_create(surface);
    if (!svg)
        cairo_scale(cr, 2, 2); /* sharp on dense displays */
    draw(cr, chart, width, height);
    cairo_status_t status = cairo_status(cr);
    if (status == CAIRO_STATUS_SUCCESS && !svg)
        status = cairo_surface_write_to_png(surface, part);
    cairo_destroy(cr);
    cairo_surface_finish(surface);
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    rssmon_status result = RSSMON_OK;
    if (status != CAIRO_STATUS_SUCCESS) {
        (void)unlink(part);
        result = rssmon_fail(err, status == CAIRO_STATUS_NO_MEMORY ? RSSMON_E_MEMORY : RSSMON_E_IO,
                             "%s: cannot draw: %s", path, cairo_status_to_string(status));
    } else if (rename(part, path) != 0) {
        (void)unlink(part);
        result = rssmon_fail(err, RSSMON_E_IO, "%s: cannot write", path);
    }
    rssmon_free(part);
    return result;
}
