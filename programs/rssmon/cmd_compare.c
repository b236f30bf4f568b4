/* `rssmon compare`: two groups of runs held against each other, with an interval and one plain
 * sentence a figure, and an exit code for CI. */
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "look.h"
#include "monitor/mem.h"
#include "monitor/stats.h"

static const char usage[] =
    "Usage: rssmon compare [OPTION]… A_LOG… --vs B_LOG…\n"
    "       rssmon compare [OPTION]… A_LOG B_LOG\n\n"
    "Compares the peaks, means and durations of two groups of runs. Intervals are of 95 % "
    "(Welch);\n"
    "with one run a side there are none.\n\n"
    "  -i, --max-increase PCT  exit 1 when B's peak is shown to be more than PCT percent higher\n"
    "                          (the whole interval lies above PCT; with one run a side, the "
    "figure)\n"
    "  -p, --phase LABEL       compare this phase's peak and mean\n"
    "  -j, --json\n"
    "  -h, --help\n\n"
    "Exit codes: 0 done (and no such increase), 1 increase shown, 2 bad options or not "
    "comparable,\n"
    "3 no such log, 6 not readable.";

enum { PEAK, MEAN, DURATION, FIGURES };
static const char *const figure_names[FIGURES] = {"peak", "mean", "duration"};

struct group {
    double *values[FIGURES];
    size_t n;
    struct rssmon_summary summary[FIGURES];
    char *name; /* of the first log's target, to say what is compared */
};

static void free_group(struct group *g)
{
    for (int i = 0; i < FIGURES; i++)
        rssmon_free(g->values[i]);
    rssmon_free(g->name);
}

static int read_group(struct group *g, char **logs, int count, const char *phase)
{
    for (int i = 0; i < FIGURES; i++) {
        g->values[i] = rssmon_calloc((size_t)count, sizeof(double));
        if (g->values[i] == NULL) {
            (void)fprintf(stderr, "rssmon compare: out of memory\n");
            return RSSMON_EXIT_IO;
        }
    }
    for (int i = 0; i < count; i++) {
        struct rssmon_history *h;
        int code = look_read(&h, "compare", logs[i]);
        if (code != 0)
            return code;
        double figures[FIGURES] = {(double)h->peak, (double)h->mean, h->duration};
        bool usable = h->complete;
        if (!usable)
            (void)fprintf(stderr,
                          "rssmon compare: %s has no end, so its peak may have been cut off; leave "
                          "it out or run it again\n",
                          logs[i]);
        if (usable && phase != NULL) {
            usable = false;
            for (size_t k = 0; k < h->phase_count && !usable; k++)
                if (strcmp(h->phases[k].label, phase) == 0) {
                    figures[PEAK] = (double)h->phases[k].peak;
                    figures[MEAN] = (double)h->phases[k].mean;
                    figures[DURATION] = h->phases[k].to - h->phases[k].from;
                    usable = true;
                }
            if (!usable)
                (void)fprintf(stderr,
                              "rssmon compare: %s has no phase \"%s\"; rssmon report lists them\n",
                              logs[i], phase);
        }
        if (usable && g->name == NULL && h->name != NULL) {
            look_plain(h);
            g->name = rssmon_strdup(h->name);
        }
        for (int k = 0; k < FIGURES; k++)
            g->values[k][g->n] = figures[k];
        g->n += usable;
        rssmon_history_free(h);
        if (!usable)
            return RSSMON_EXIT_USAGE;
    }
    for (int k = 0; k < FIGURES; k++)
        rssmon_summarise(&g->summary[k], g->values[k], g->n);
    return 0;
}

static void print_json_side(const struct rssmon_summary *s)
{
    (void)printf("{\"n\":%zu,\"mean\":", s->n);
    look_json_double(stdout, s->mean);
    (void)fputs(",\"median\":", stdout);
    look_json_double(stdout, s->median);
    (void)fputs(",\"half_interval\":", stdout);
    look_json_double(stdout, s->half);
    (void)putchar('}');
}

static void print_json(const struct group g[2], bool increase)
{
    (void)printf("{\"increase\":%s", increase ? "true" : "false");
    for (int k = 0; k < FIGURES; k++) {
        struct rssmon_change change;
        char sentence[300];
        rssmon_compare(&change, &g[0].summary[k], &g[1].summary[k]);
        rssmon_change_sentence(sentence, sizeof sentence, &change, &g[0].summary[k],
                               &g[1].summary[k], figure_names[k], "B");
        (void)printf(",\"%s\":{\"a\":", figure_names[k]);
        print_json_side(&g[0].summary[k]);
        (void)fputs(",\"b\":", stdout);
        print_json_side(&g[1].summary[k]);
        (void)fputs(",\"relative\":", stdout);
        look_json_double(stdout, change.relative);
        (void)fputs(",\"half_interval\":", stdout);
        look_json_double(stdout, change.half);
        (void)printf(",\"significant\":%s,\"sentence\":", change.significant ? "true" : "false");
        look_json_string(stdout, sentence);
        (void)putchar('}');
    }
    (void)puts("}");
}

static void print_text(const struct group g[2])
{
    for (int side = 0; side < 2; side++) {
        char a[32], b[32], c[32];
        const struct rssmon_summary *s = g[side].summary;
        (void)printf("%s  n = %zu  peak %s (median %s)  mean %s", side == 0 ? "A" : "B", s->n,
                     look_size(a, (uint64_t)s[PEAK].mean), look_size(b, (uint64_t)s[PEAK].median),
                     look_size(c, (uint64_t)s[MEAN].mean));
        (void)printf("  duration %s\n", look_time(a, s[DURATION].mean));
    }
    for (int k = 0; k < FIGURES; k++) {
        struct rssmon_change change;
        char sentence[300];
        rssmon_compare(&change, &g[0].summary[k], &g[1].summary[k]);
        rssmon_change_sentence(sentence, sizeof sentence, &change, &g[0].summary[k],
                               &g[1].summary[k], figure_names[k], "B");
        (void)puts(sentence);
    }
    if (g[0].name != NULL && g[1].name != NULL && strcmp(g[0].name, g[1].name) != 0)
        (void)printf("note: A watched %s, B watched %s\n", g[0].name, g[1].name);
}

int cmd_compare(int argc, char **argv)
{
    static const struct option options[] = {{"max-increase", required_argument, NULL, 'i'},
                                            {"phase", required_argument, NULL, 'p'},
                                            {"json", no_argument, NULL, 'j'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    double limit = NAN;
    const char *phase = NULL;
    bool json = false;
    /* --vs parts the two groups; getopt must not see it, nor move what is around it */
    int split = 0;
    for (int i = 1; i < argc && split == 0; i++)
        if (strcmp(argv[i], "--vs") == 0)
            split = i;
    int head = split != 0 ? split : argc;
    for (int c; (c = getopt_long(head, argv, "i:p:jh", options, NULL)) != -1;) {
        char *end;
        switch (c) {
        case 'i':
            limit = strtod(optarg, &end);
            if (*end == '%')
                end++;
            if (end == optarg || *end != '\0' || !(limit >= 0)) {
                (void)fprintf(stderr, "rssmon compare: --max-increase %s is no percentage\n",
                              optarg);
                return RSSMON_EXIT_USAGE;
            }
            break;
        case 'p':
            phase = optarg;
            break;
        case 'j':
            json = true;
            break;
        case 'h':
            puts(usage);
            return RSSMON_EXIT_OK;
        default:
            return RSSMON_EXIT_USAGE;
        }
    }
    char **a = argv + optind, **b = argv + split + 1;
    int na = head - optind, nb = split != 0 ? argc - split - 1 : 0;
    if (split == 0 && na == 2) {
        b = a + 1;
        na = nb = 1;
    }
    if (na < 1 || nb < 1) {
        (void)fprintf(stderr, "rssmon compare: name the logs of both groups: A_LOG… --vs B_LOG…\n");
        return RSSMON_EXIT_USAGE;
    }
    struct group g[2] = {0};
    int code = read_group(&g[0], a, na, phase);
    if (code == 0)
        code = read_group(&g[1], b, nb, phase);
    if (code == 0) {
        struct rssmon_change change;
        rssmon_compare(&change, &g[0].summary[PEAK], &g[1].summary[PEAK]);
        double low = 100 * (change.relative - (isnan(change.half) ? 0 : change.half));
        bool increase = !isnan(limit) && low > limit;
        if (json)
            print_json(g, increase);
        else
            print_text(g);
        if (increase) {
            (void)fprintf(stderr, "rssmon compare: the peak rose by more than %g %%\n", limit);
            code = RSSMON_EXIT_VERDICT;
        }
    }
    free_group(&g[0]);
    free_group(&g[1]);
    return code;
}
