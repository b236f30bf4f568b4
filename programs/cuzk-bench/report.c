/* `cuzk-bench list` and `cuzk-bench report`, and the figures that compare and sweep use too. */
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "monitor/text.h"

struct collected {
    char cell[256];
    double *seconds, *peaks;
    size_t n, peak_n, capacity;
    int64_t failed;
};

struct collection {
    struct collected *cells;
    int count;
    bool out_of_memory;
};

static int collect(void *context, const struct result *r)
{
    struct collection *all = context;
    struct collected *c = NULL;
    if (r->number < 0)
        return BENCH_OK; /* warm-up */
    for (int i = 0; i < all->count && c == NULL; i++)
        if (strcmp(all->cells[i].cell, r->cell) == 0)
            c = &all->cells[i];
    if (c == NULL) {
        if (all->count == MAX_CELLS)
            return BENCH_OK;
        c = &all->cells[all->count++];
        (void)snprintf(c->cell, sizeof c->cell, "%s", r->cell);
    }
    if (r->exit_code != 0) {
        c->failed++;
        return BENCH_OK;
    }
    if (c->n == c->capacity) {
        size_t capacity = c->capacity != 0 ? 2 * c->capacity : 16;
        double *seconds = realloc(c->seconds, capacity * sizeof *seconds);
        if (seconds != NULL)
            c->seconds = seconds;
        double *peaks = realloc(c->peaks, capacity * sizeof *peaks);
        if (peaks != NULL)
            c->peaks = peaks;
        if (seconds == NULL || peaks == NULL)
            return bench_error(BENCH_IO, "out of memory");
        c->capacity = capacity;
    }
    c->seconds[c->n++] = r->seconds;
    if (r->peak_rss >= 0)
        c->peaks[c->peak_n++] = (double)r->peak_rss;
    return BENCH_OK;
}

int figures_read(struct figures **out, int *count, struct store *store, int64_t experiment)
{
    struct collection all = {.cells = calloc(MAX_CELLS, sizeof *all.cells)};
    *out = NULL;
    *count = 0;
    if (all.cells == NULL)
        return bench_error(BENCH_IO, "out of memory");
    int code = store_each_result(store, experiment, collect, &all);
    struct figures *f = calloc((size_t)all.count + 1, sizeof *f);
    if (code == BENCH_OK && f == NULL)
        code = bench_error(BENCH_IO, "out of memory");
    for (int i = 0; i < all.count; i++) {
        struct collected *c = &all.cells[i];
        if (code == BENCH_OK) {
            memcpy(f[i].cell, c->cell, sizeof f[i].cell);
            f[i].failed = c->failed;
            rssmon_summarise(&f[i].seconds, c->seconds, c->n);
            rssmon_summarise(&f[i].peak, c->peaks, c->peak_n);
            f[i].proofs_per_hour_gib = 3600 / f[i].seconds.mean / (f[i].peak.mean / 1073741824.0);
        }
        free(c->seconds);
        free(c->peaks);
    }
    free(all.cells);
    if (code != BENCH_OK) {
        free(f);
        return code;
    }
    *out = f;
    *count = all.count;
    return BENCH_OK;
}

static const char *size_text(char out[32], double bytes)
{
    struct rssmon_text t;
    rssmon_text_init(&t, out, 32);
    if (isfinite(bytes) && bytes >= 0)
        rssmon_text_size(&t, (uint64_t)bytes);
    else
        rssmon_text_string(&t, "-");
    return out;
}

static void print_text(const struct experiment *e, const struct figures *f, int count)
{
    printf("experiment %" PRId64 " \"%s\", %s, revision %s%s%s\n", e->id, e->name, e->created,
           e->revision, e->tag[0] != '\0' ? ", tag " : "", e->tag);
    printf("command    %s\n", e->command);
    printf("machine    %s; %s; key %s\n", e->machine, e->kernel, e->key_digest);
    printf("%-32s %3s %10s %10s %10s %11s %11s %12s\n", "settings", "n", "s a proof", "± 95 %",
           "median", "peak", "greatest", "proofs/h/GiB");
    for (int i = 0; i < count; i++) {
        char a[32], b[32], half[32];
        const struct rssmon_summary *s = &f[i].seconds;
        (void)snprintf(half, sizeof half, isfinite(s->half) ? "%.3f" : "-", s->half);
        printf("%-32s %3zu %10.3f %10s %10.3f %11s %11s %12.1f%s\n", f[i].cell, s->n, s->mean, half,
               s->median, size_text(a, f[i].peak.mean), size_text(b, f[i].peak.max),
               f[i].proofs_per_hour_gib, f[i].failed != 0 ? "  (some runs failed)" : "");
    }
}

static void json_summary(const char *name, const struct rssmon_summary *s)
{
    printf("\"%s\":{\"n\":%zu,\"mean\":", name, s->n);
    json_number(stdout, s->mean);
    fputs(",\"median\":", stdout);
    json_number(stdout, s->median);
    fputs(",\"half_interval\":", stdout);
    json_number(stdout, s->half);
    fputs(",\"min\":", stdout);
    json_number(stdout, s->min);
    fputs(",\"max\":", stdout);
    json_number(stdout, s->max);
    putchar('}');
}

static void print_json(const struct experiment *e, const struct figures *f, int count)
{
    printf("{\"experiment\":%" PRId64, e->id);
    const struct {
        const char *name, *value;
    } texts[] = {{"name", e->name},     {"created", e->created},     {"revision", e->revision},
                 {"tag", e->tag},       {"command", e->command},     {"machine", e->machine},
                 {"kernel", e->kernel}, {"cpu_flags", e->cpu_flags}, {"key_digest", e->key_digest}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        printf(",\"%s\":", texts[i].name);
        json_string(stdout, texts[i].value);
    }
    fputs(",\"cells\":[", stdout);
    for (int i = 0; i < count; i++) {
        fputs(i != 0 ? ",{\"settings\":" : "{\"settings\":", stdout);
        json_string(stdout, f[i].cell);
        putchar(',');
        json_summary("seconds_per_proof", &f[i].seconds);
        putchar(',');
        json_summary("peak_rss_bytes", &f[i].peak);
        fputs(",\"proofs_per_hour_per_gib\":", stdout);
        json_number(stdout, f[i].proofs_per_hour_gib);
        printf(",\"failed\":%" PRId64 "}", f[i].failed);
    }
    puts("]}");
}

int cmd_report(int argc, char **argv)
{
    static const char usage[] = "Usage: cuzk-bench report [--db FILE] [--json] [EXPERIMENT]\n\n"
                                "EXPERIMENT is a number, or the start of a name or revision, or a "
                                "tag: the newest that fits.\n"
                                "Without one, the newest of all.";
    static const struct option options[] = {{"db", required_argument, NULL, 'd'},
                                            {"json", no_argument, NULL, 'j'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    const char *db = "bench.db";
    bool json = false;
    optind = 0; /* run calls us after its own options */
    for (int c; (c = getopt_long(argc, argv, "d:jh", options, NULL)) != -1;) {
        if (c == 'd') {
            db = optarg;
        } else if (c == 'j') {
            json = true;
        } else if (c == 'h') {
            puts(usage);
            return BENCH_OK;
        } else {
            return BENCH_USAGE;
        }
    }
    if (argc - optind > 1)
        return bench_error(BENCH_USAGE, "report takes one experiment");
    const char *which = optind < argc ? argv[optind] : NULL;
    struct store *store;
    struct experiment e;
    struct figures *f = NULL;
    int count, code = store_open(&store, db, false);
    if (code != BENCH_OK)
        return code;
    code = store_pick(store, &e, which);
    if (code == BENCH_OK)
        code = figures_read(&f, &count, store, e.id);
    if (code == BENCH_OK) {
        if (json)
            print_json(&e, f, count);
        else
            print_text(&e, f, count);
    }
    free(f);
    store_close(store);
    return code;
}

static int list_one(void *context, const struct experiment *e, int64_t runs)
{
    (void)context;
    printf("%6" PRId64 "  %s  %-20s %-16s %-12s %4" PRId64 " runs  %s\n", e->id, e->created,
           e->name, e->revision, e->tag, runs, e->matrix);
    return BENCH_OK;
}

static int list_one_json(void *context, const struct experiment *e, int64_t runs)
{
    int *count = context;
    printf("%s{\"experiment\":%" PRId64 ",\"name\":", (*count)++ != 0 ? ",\n" : "", e->id);
    json_string(stdout, e->name);
    fputs(",\"created\":", stdout);
    json_string(stdout, e->created);
    fputs(",\"revision\":", stdout);
    json_string(stdout, e->revision);
    fputs(",\"tag\":", stdout);
    json_string(stdout, e->tag);
    fputs(",\"matrix\":", stdout);
    json_string(stdout, e->matrix);
    printf(",\"runs\":%" PRId64 "}", runs);
    return BENCH_OK;
}

int cmd_list(int argc, char **argv)
{
    static const struct option options[] = {{"db", required_argument, NULL, 'd'},
                                            {"json", no_argument, NULL, 'j'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    const char *db = "bench.db";
    bool json = false;
    for (int c; (c = getopt_long(argc, argv, "d:jh", options, NULL)) != -1;) {
        if (c == 'd') {
            db = optarg;
        } else if (c == 'j') {
            json = true;
        } else if (c == 'h') {
            puts("Usage: cuzk-bench list [--db FILE] [--json]");
            return BENCH_OK;
        } else {
            return BENCH_USAGE;
        }
    }
    struct store *store;
    int count = 0, code = store_open(&store, db, false);
    if (code != BENCH_OK)
        return code;
    if (json)
        putchar('[');
    code = store_each_experiment(store, json ? list_one_json : list_one, &count);
    if (json)
        puts("]");
    store_close(store);
    return code;
}
