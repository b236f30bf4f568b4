/* `cuzk-bench sweep`: time against memory over the cells of an experiment: which settings are
 * beaten by none in both (the front), and where on it a little more memory stops buying time (the
 * knee: the point farthest below the chord of the front, both axes in logarithms, so that units do
 * not matter). */
#include <cairo-svg.h>
#include <cairo.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "monitor/text.h"

static const char usage[] =
    "Usage: cuzk-bench sweep [--db FILE] [--output FILE.svg|FILE.png] [--json] [EXPERIMENT]\n\n"
    "Draws seconds a proof against peak memory for each cell, marks those that no other beats in "
    "both,\n"
    "and names the knee.";

/* front[i]: no cell is better in one figure and as good in the other. Returns the knee, or -1. */
static int find_knee(const struct figures *f, int count, bool *front)
{
    int first = -1, last = -1, knee = -1;
    for (int i = 0; i < count; i++) {
        front[i] = f[i].seconds.n != 0 && f[i].peak.n != 0;
        for (int k = 0; k < count && front[i]; k++)
            if (k != i && f[k].seconds.n != 0 && f[k].peak.n != 0 &&
                f[k].seconds.mean <= f[i].seconds.mean && f[k].peak.mean <= f[i].peak.mean &&
                (f[k].seconds.mean < f[i].seconds.mean || f[k].peak.mean < f[i].peak.mean || k < i))
                front[i] = false;
        if (!front[i])
            continue;
        if (first < 0 || f[i].peak.mean < f[first].peak.mean)
            first = i;
        if (last < 0 || f[i].peak.mean > f[last].peak.mean)
            last = i;
    }
    if (first < 0 || first == last)
        return first;
    double best = 0;
    double x0 = log(f[first].peak.mean), y0 = log(f[first].seconds.mean);
    double dx = log(f[last].peak.mean) - x0, dy = log(f[last].seconds.mean) - y0;
    for (int i = 0; i < count; i++) {
        if (!front[i] || i == first || i == last)
            continue;
        double below = dy / dx * (log(f[i].peak.mean) - x0) + y0 - log(f[i].seconds.mean);
        if (below > best) {
            best = below;
            knee = i;
        }
    }
    /* a front of two, or a straight one: the end with the better product of both */
    if (knee < 0)
        knee =
            f[first].peak.mean * f[first].seconds.mean <= f[last].peak.mean * f[last].seconds.mean
                ? first
                : last;
    return knee;
}

static void centred(cairo_t *cr, double x, double y, const char *s)
{
    cairo_text_extents_t e;
    cairo_text_extents(cr, s, &e);
    cairo_move_to(cr, x - e.x_advance / 2, y);
    cairo_show_text(cr, s);
}

static void draw(cairo_t *cr, const struct experiment *e, const struct figures *f, int count,
                 const bool *front, int knee, double width, double height)
{
    double left = 80, right = width - 30, top = 60, bottom = height - 60;
    double x1 = 0, y1 = 0;
    char text[400], size[32];
    for (int i = 0; i < count; i++) {
        x1 = fmax(x1, f[i].peak.mean);
        y1 = fmax(y1, f[i].seconds.mean);
    }
    x1 = x1 > 0 ? 1.15 * x1 : 1;
    y1 = y1 > 0 ? 1.15 * y1 : 1;
    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_paint(cr);
    cairo_select_font_face(cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_source_rgb(cr, 0.1, 0.1, 0.1);
    cairo_set_font_size(cr, 16);
    (void)snprintf(text, sizeof text, "%s, revision %s: time against memory", e->name, e->revision);
    cairo_move_to(cr, left, 28);
    cairo_show_text(cr, text);
    cairo_set_font_size(cr, 12);
    cairo_set_line_width(cr, 1);
    for (int i = 0; i <= 5; i++) {
        double x = left + (right - left) * i / 5, y = bottom - (bottom - top) * i / 5;
        struct rssmon_text t;
        cairo_set_source_rgba(cr, 0, 0, 0, i == 0 ? 0.6 : 0.1);
        cairo_move_to(cr, left, y);
        cairo_line_to(cr, right, y);
        cairo_move_to(cr, x, top);
        cairo_line_to(cr, x, bottom);
        cairo_stroke(cr);
        cairo_set_source_rgb(cr, 0.3, 0.3, 0.3);
        rssmon_text_init(&t, size, sizeof size);
        rssmon_text_size(&t, (uint64_t)(x1 * i / 5));
        centred(cr, x, bottom + 20, size);
        (void)snprintf(text, sizeof text, "%.3g s", y1 * i / 5);
        cairo_move_to(cr, 12, y + 4);
        cairo_show_text(cr, text);
    }
    centred(cr, (left + right) / 2, height - 14, "peak resident memory");
    for (int i = 0; i < count; i++) {
        double x = left + f[i].peak.mean / x1 * (right - left);
        double y = bottom - f[i].seconds.mean / y1 * (bottom - top);
        if (f[i].seconds.n == 0 || f[i].peak.n == 0)
            continue;
        if (i == knee)
            cairo_set_source_rgb(cr, 0.835, 0.369, 0);
        else if (front[i])
            cairo_set_source_rgb(cr, 0, 0.447, 0.698);
        else
            cairo_set_source_rgb(cr, 0.6, 0.6, 0.6);
        if (isfinite(f[i].seconds.half)) {
            double h = f[i].seconds.half / y1 * (bottom - top);
            cairo_move_to(cr, x, y - h);
            cairo_line_to(cr, x, y + h);
        }
        if (isfinite(f[i].peak.half)) {
            double h = f[i].peak.half / x1 * (right - left);
            cairo_move_to(cr, x - h, y);
            cairo_line_to(cr, x + h, y);
        }
        cairo_stroke(cr);
        cairo_arc(cr, x, y, i == knee ? 6 : 4, 0, 2 * M_PI);
        cairo_fill(cr);
        (void)snprintf(text, sizeof text, "%s%s", f[i].cell, i == knee ? " (knee)" : "");
        cairo_text_extents_t extents;
        cairo_text_extents(cr, text, &extents);
        cairo_move_to(cr, x + 8 + extents.x_advance > right ? x - 8 - extents.x_advance : x + 8,
                      y - 6);
        cairo_show_text(cr, text);
    }
}

static int draw_file(const char *path, const struct experiment *e, const struct figures *f,
                     int count, const bool *front, int knee)
{
    const int width = 900, height = 560;
    size_t n = strlen(path);
    bool svg = n > 4 && strcmp(path + n - 4, ".svg") == 0;
    if (!svg && !(n > 4 && strcmp(path + n - 4, ".png") == 0))
        return bench_error(BENCH_USAGE, "%s: the name of a picture ends in .svg or .png", path);
    cairo_surface_t *surface =
        svg ? cairo_svg_surface_create(path, width, height)
            : cairo_image_surface_create(CAIRO_FORMAT_ARGB32, 2 * width, 2 * height);
    cairo_t *cr = cairo_create(surface);
    if (!svg)
        cairo_scale(cr, 2, 2);
    draw(cr, e, f, count, front, knee, width, height);
    cairo_status_t status = cairo_status(cr);
    if (status == CAIRO_STATUS_SUCCESS && !svg)
        status = cairo_surface_write_to_png(surface, path);
    cairo_destroy(cr);
    cairo_surface_finish(surface);
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    return status == CAIRO_STATUS_SUCCESS
               ? BENCH_OK
               : bench_error(BENCH_IO, "%s: cannot draw: %s", path, cairo_status_to_string(status));
}

int cmd_sweep(int argc, char **argv)
{
    static const struct option options[] = {{"db", required_argument, NULL, 'd'},
                                            {"output", required_argument, NULL, 'o'},
                                            {"json", no_argument, NULL, 'j'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    const char *db = "bench.db", *output = NULL;
    bool json = false;
    for (int c; (c = getopt_long(argc, argv, "d:o:jh", options, NULL)) != -1;) {
        switch (c) {
        case 'd':
            db = optarg;
            break;
        case 'o':
            output = optarg;
            break;
        case 'j':
            json = true;
            break;
        case 'h':
            puts(usage);
            return BENCH_OK;
        default:
            return BENCH_USAGE;
        }
    }
    if (argc - optind > 1)
        return bench_error(BENCH_USAGE, "sweep takes one experiment");
    const char *which = optind < argc ? argv[optind] : NULL;
    struct store *store;
    struct experiment e;
    struct figures *f = NULL;
    static bool front[MAX_CELLS];
    int count = 0, code = store_open(&store, db, false);
    if (code != BENCH_OK)
        return code;
    code = store_pick(store, &e, which);
    if (code == BENCH_OK)
        code = figures_read(&f, &count, store, e.id);
    int knee = code == BENCH_OK ? find_knee(f, count, front) : -1;
    if (code == BENCH_OK && knee < 0)
        code = bench_error(BENCH_NOT_FOUND, "experiment %" PRId64 " has no run with both figures",
                           e.id);
    if (code == BENCH_OK && json) {
        fputs("{\"knee\":", stdout);
        json_string(stdout, f[knee].cell);
        fputs(",\"front\":[", stdout);
        for (int i = 0, shown = 0; i < count; i++)
            if (front[i]) {
                fputs(shown++ != 0 ? "," : "", stdout);
                json_string(stdout, f[i].cell);
            }
        puts("]}");
    } else if (code == BENCH_OK) {
        for (int i = 0; i < count; i++) {
            struct rssmon_text t;
            char size[32];
            rssmon_text_init(&t, size, sizeof size);
            rssmon_text_size(&t, (uint64_t)fmax(f[i].peak.mean, 0));
            printf("%-32s %10.3f s %11s  %s\n", f[i].cell, f[i].seconds.mean, size,
                   i == knee  ? "knee"
                   : front[i] ? "front"
                              : "");
        }
    }
    if (code == BENCH_OK && output != NULL)
        code = draw_file(output, &e, f, count, front, knee);
    free(f);
    store_close(store);
    return code;
}
