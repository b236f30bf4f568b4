/* `cuzk-bench compare`: two experiments, cell by cell. What would make the figures say something
 * about the machine or the key instead of the sources is refused, by name. */
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "monitor/text.h"

static const char usage[] =
    "Usage: cuzk-bench compare [OPTION]… A B\n\n"
    "A and B are experiments: numbers, or the start of a revision or name, or a tag. Only cells "
    "that\n"
    "both have are compared. Experiments on another machine, kernel, key or command are "
    "refused.\n\n"
    "  -d, --db FILE            results (default bench.db)\n"
    "      --max-slower PCT     exit 1 when B is shown to be slower by more than PCT percent\n"
    "      --max-increase PCT   exit 1 when B's peak is shown to be higher by more than PCT "
    "percent\n"
    "      --force              compare what should not be, and say so\n"
    "  -j, --json\n"
    "  -h, --help";

static int comparable(const struct experiment *a, const struct experiment *b, bool force)
{
    int code = BENCH_OK;
    const struct {
        const char *what, *a, *b;
    } same[] = {
        {"machine", a->machine, b->machine},   {"host", a->host, b->host},
        {"kernel", a->kernel, b->kernel},      {"set of CPU features", a->cpu_flags, b->cpu_flags},
        {"key", a->key_digest, b->key_digest}, {"command", a->command, b->command}};
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
        if (strcmp(same[i].a, same[i].b) != 0)
            code = bench_error(BENCH_NOT_COMPARABLE,
                               "not comparable: the %s of A is \"%s\", of B \"%s\"", same[i].what,
                               same[i].a, same[i].b);
    if (a->proofs_per_run != b->proofs_per_run)
        code = bench_error(BENCH_NOT_COMPARABLE,
                           "not comparable: a run of A makes %" PRId64 " proofs, of B %" PRId64,
                           a->proofs_per_run, b->proofs_per_run);
    if (code != BENCH_OK && force) {
        (void)bench_error(
            0, "compared all the same (--force): the differences above may explain the figures");
        return BENCH_OK;
    }
    return code;
}

static bool beyond(const struct rssmon_change *c, double limit)
{
    return isfinite(limit) && 100 * (c->relative - (isfinite(c->half) ? c->half : 0)) > limit;
}

static int percentage(const char *option, const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    if (end == text || *end != '\0' || !(*out >= 0))
        return bench_error(BENCH_USAGE, "%s %s is no percentage", option, text);
    return BENCH_OK;
}

static void print_change(bool json, const char *figure, const struct rssmon_change *change,
                         const struct rssmon_summary *a, const struct rssmon_summary *b)
{
    char sentence[300];
    rssmon_change_sentence(sentence, sizeof sentence, change, a, b, figure, "B");
    if (!json) {
        printf("  %s\n", sentence);
        return;
    }
    printf(",\"%s\":{\"a\":", strcmp(figure, "time a proof") == 0 ? "seconds" : "peak");
    json_number(stdout, a->mean);
    fputs(",\"b\":", stdout);
    json_number(stdout, b->mean);
    fputs(",\"relative\":", stdout);
    json_number(stdout, change->relative);
    fputs(",\"half_interval\":", stdout);
    json_number(stdout, change->half);
    printf(",\"significant\":%s,\"sentence\":", change->significant ? "true" : "false");
    json_string(stdout, sentence);
    putchar('}');
}

int cmd_compare(int argc, char **argv)
{
    enum { SLOWER = 1000, INCREASE, FORCE };
    static const struct option options[] = {{"db", required_argument, NULL, 'd'},
                                            {"max-slower", required_argument, NULL, SLOWER},
                                            {"max-increase", required_argument, NULL, INCREASE},
                                            {"force", no_argument, NULL, FORCE},
                                            {"json", no_argument, NULL, 'j'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    const char *db = "bench.db";
    double slower = NAN, increase = NAN;
    bool force = false, json = false;
    int code = BENCH_OK;
    for (int c; code == BENCH_OK && (c = getopt_long(argc, argv, "d:jh", options, NULL)) != -1;) {
        switch (c) {
        case 'd':
            db = optarg;
            break;
        case SLOWER:
            code = percentage("--max-slower", optarg, &slower);
            break;
        case INCREASE:
            code = percentage("--max-increase", optarg, &increase);
            break;
        case FORCE:
            force = true;
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
    if (code != BENCH_OK)
        return code;
    if (argc - optind != 2)
        return bench_error(BENCH_USAGE, "compare takes two experiments");
    struct store *store;
    struct experiment a, b;
    struct figures *fa = NULL, *fb = NULL;
    int na = 0, nb = 0, shared = 0, worse = 0;
    code = store_open(&store, db, false);
    if (code != BENCH_OK)
        return code;
    code = store_pick(store, &a, argv[optind]);
    if (code == BENCH_OK)
        code = store_pick(store, &b, argv[optind + 1]);
    if (code == BENCH_OK && a.id == b.id)
        code = bench_error(BENCH_NOT_COMPARABLE, "A and B are the same experiment, %" PRId64, a.id);
    if (code == BENCH_OK)
        code = comparable(&a, &b, force);
    if (code == BENCH_OK)
        code = figures_read(&fa, &na, store, a.id);
    if (code == BENCH_OK)
        code = figures_read(&fb, &nb, store, b.id);
    for (int i = 0; i < na && code == BENCH_OK; i++)
        for (int k = 0; k < nb; k++) {
            if (strcmp(fa[i].cell, fb[k].cell) != 0)
                continue;
            struct rssmon_change time, peak;
            rssmon_compare(&time, &fa[i].seconds, &fb[k].seconds);
            rssmon_compare(&peak, &fa[i].peak, &fb[k].peak);
            if (json) {
                printf("%s{\"settings\":", shared != 0 ? "," : "{\"cells\":[");
                json_string(stdout, fa[i].cell);
            } else {
                if (shared == 0)
                    printf("A: %" PRId64 " %s %s    B: %" PRId64 " %s %s\n", a.id, a.name,
                           a.revision, b.id, b.name, b.revision);
                printf("%s\n", fa[i].cell);
            }
            print_change(json, "time a proof", &time, &fa[i].seconds, &fb[k].seconds);
            print_change(json, "peak", &peak, &fa[i].peak, &fb[k].peak);
            if (json)
                putchar('}');
            shared++;
            worse += beyond(&time, slower) || beyond(&peak, increase);
        }
    if (code == BENCH_OK && shared == 0)
        code = bench_error(BENCH_NOT_COMPARABLE, "A and B have no settings in common");
    if (json && shared != 0)
        printf("],\"worse\":%d}\n", worse);
    if (code == BENCH_OK && worse != 0)
        code =
            bench_error(BENCH_VERDICT, "%d of %d settings are worse than allowed", worse, shared);
    free(fa);
    free(fb);
    store_close(store);
    return code;
}
