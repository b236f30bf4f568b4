/* `rssmon report`: what each log says, as a table or as JSON. */
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "look.h"

static const char usage[] =
    "Usage: rssmon report [--json] LOG…\n\n"
    "Says what each log holds: the peak with the bound on its error and what showed it, mean,\n"
    "slope, phases, processes, and how the target died.\n\n"
    "  -j, --json   one JSON object (for several logs: an array of them)\n"
    "  -h, --help\n\n"
    "Exit codes: 0 done, 2 bad options or not a log, 3 no such log, 6 not readable.";

/* The "kind": a log without a death is one whose end was not seen. */
static const char *death_kind(const struct rssmon_history *h)
{
    return h->death != NULL ? h->death : "unknown";
}

static void print_json(FILE *out, const struct rssmon_history *h)
{
    (void)fputs("{\"log\":", out);
    look_json_string(out, h->path);
    (void)fputs(",\"name\":", out);
    look_json_string(out, h->name);
    (void)fputs(",\"command\":", out);
    look_json_string(out, h->command);
    (void)fputs(",\"tags\":", out);
    look_json_string(out, h->tags);
    (void)fputs(",\"pid\":", out);
    look_json_u64(out, h->pid);
    (void)fputs(",\"scope\":", out);
    look_json_string(out, h->scope);
    (void)fputs(",\"kernel\":", out);
    look_json_string(out, h->kernel);
    (void)fputs(",\"peak_rss_bytes\":", out);
    look_json_u64(out, h->peak);
    (void)fputs(",\"peak_error_bytes\":", out);
    look_json_u64(out, h->peak_error);
    (void)fputs(",\"peak_source\":", out);
    look_json_string(out, h->peak_source);
    (void)fputs(",\"peak_at_s\":", out);
    look_json_double(out, h->peak_at);
    (void)fputs(",\"mean_rss_bytes\":", out);
    look_json_u64(out, h->mean);
    (void)fputs(",\"slope_bytes_per_s\":", out);
    look_json_double(out, h->slope);
    (void)fputs(",\"samples\":", out);
    look_json_u64(out, h->samples);
    (void)fputs(",\"looks\":", out);
    look_json_u64(out, h->looks);
    (void)fputs(",\"duration_s\":", out);
    look_json_double(out, h->duration);
    (void)fputs(",\"over_limit_s\":", out);
    look_json_double(out, h->over);
    (void)fputs(",\"monitor_cpu_s\":", out);
    look_json_double(out, h->monitor_cpu);
    (void)fputs(",\"lost_records\":", out);
    look_json_u64(out, h->lost);
    (void)fprintf(out, ",\"complete\":%s,\"death\":{\"kind\":", h->complete ? "true" : "false");
    look_json_string(out, death_kind(h));
    (void)fputs(",\"code\":", out);
    look_json_u64(out, h->code);
    (void)fputs(",\"evidence\":", out);
    look_json_string(out, h->evidence);
    (void)fputs(",\"victim\":", out);
    look_json_string(out, h->victim);
    (void)fputs("},\"phases\":[", out);
    for (size_t i = 0; i < h->phase_count; i++) {
        const struct rssmon_history_phase *p = &h->phases[i];
        (void)fputs(i != 0 ? ",{\"label\":" : "{\"label\":", out);
        look_json_string(out, p->label);
        (void)fputs(",\"from_s\":", out);
        look_json_double(out, p->from);
        (void)fputs(",\"to_s\":", out);
        look_json_double(out, p->to);
        (void)fputs(",\"peak_rss_bytes\":", out);
        look_json_u64(out, p->peak);
        (void)fputs(",\"mean_rss_bytes\":", out);
        look_json_u64(out, p->mean);
        (void)fputs("}", out);
    }
    (void)fputs("],\"processes\":[", out);
    for (size_t i = 0; i < h->process_count; i++) {
        const struct rssmon_history_process *p = &h->processes[i];
        (void)fputs(i != 0 ? ",{\"pid\":" : "{\"pid\":", out);
        look_json_u64(out, p->pid);
        (void)fputs(",\"name\":", out);
        look_json_string(out, p->name);
        (void)fputs(",\"command\":", out);
        look_json_string(out, p->command);
        (void)fputs(",\"peak_rss_bytes\":", out);
        look_json_u64(out, p->peak);
        (void)fputs(",\"death\":", out);
        look_json_string(out, p->death);
        (void)fputs(",\"code\":", out);
        look_json_u64(out, p->code);
        (void)fputs("}", out);
    }
    (void)fputs("]}", out);
}

static void print_table(struct rssmon_history *h)
{
    char a[32], b[32], c[160];
    look_plain(h);
    printf("%s\n", h->path);
    printf("  target     %s, pid %" PRIu64 "%s%s\n", h->name != NULL ? h->name : "?", h->pid,
           h->tags != NULL ? ", " : "", h->tags != NULL ? h->tags : "");
    if (h->command != NULL)
        printf("  command    %.160s\n", h->command);
    printf("  peak       %s", look_size(a, h->peak));
    if (h->peak_error != RSSMON_UNKNOWN)
        printf(" %s %s", h->peak_error != 0 ? "±" : "exact to",
               h->peak_error != 0 ? look_size(b, h->peak_error) : "a page");
    printf(" at %s", look_time(b, h->peak_at));
    printf("%s%s\n", h->peak_source != NULL ? ", shown by " : "",
           h->peak_source != NULL ? h->peak_source : "");
    printf("  mean       %s over %s\n", look_size(a, h->mean), look_time(b, h->duration));
    if (isfinite(h->slope))
        printf("  slope      %+.1f KiB/s over the second half\n", h->slope / 1024);
    if (isfinite(h->over))
        printf("  over       %s above %s\n", look_time(a, h->over), look_size(b, h->over_bytes));
    printf("  looks      %" PRIu64 ", %" PRIu64 " of them written", h->looks, h->samples);
    if (isfinite(h->monitor_cpu))
        printf("; the monitor took %.3f s of a core (%.3f %%)", h->monitor_cpu,
               h->duration > 0 ? 100 * h->monitor_cpu / h->duration : 0.0);
    printf("\n  end        %s\n", look_death(c, h));
    if (h->evidence != NULL)
        printf("             %s\n", h->evidence);
    if (h->phase_count != 0)
        printf("  %-24s %10s %10s %12s %12s\n", "phase", "from", "length", "peak", "mean");
    for (size_t i = 0; i < h->phase_count; i++) {
        const struct rssmon_history_phase *p = &h->phases[i];
        char d[32], e[32];
        printf("  %-24.24s %10s %10s %12s %12s\n", p->label, look_time(a, p->from),
               look_time(b, p->to - p->from), look_size(d, p->peak), look_size(e, p->mean));
    }
    if (h->process_count > 1) {
        printf("  %-24s %10s %12s  %s\n", "process", "pid", "peak", "end");
        for (size_t i = 0; i < h->process_count && i < 40; i++) {
            const struct rssmon_history_process *p = &h->processes[i];
            printf("  %-24.24s %10" PRIu64 " %12s  %s\n", p->name != NULL ? p->name : "?", p->pid,
                   look_size(a, p->peak), p->death != NULL ? p->death : "-");
        }
        if (h->process_count > 40)
            printf("  … and %zu more (--json lists all)\n", h->process_count - 40);
    }
}

int cmd_report(int argc, char **argv)
{
    static const struct option options[] = {
        {"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
    bool json = false;
    for (int c; (c = getopt_long(argc, argv, "jh", options, NULL)) != -1;) {
        if (c == 'h') {
            puts(usage);
            return RSSMON_EXIT_OK;
        }
        if (c != 'j')
            return RSSMON_EXIT_USAGE;
        json = true;
    }
    if (optind == argc) {
        (void)fprintf(stderr, "rssmon report: name at least one log; see rssmon report --help\n");
        return RSSMON_EXIT_USAGE;
    }
    int worst = 0, shown = 0;
    bool array = argc - optind > 1;
    if (json && array)
        (void)putchar('[');
    for (int i = optind; i < argc; i++) {
        struct rssmon_history *h;
        int code = look_read(&h, "report", argv[i]);
        if (code != 0) {
            worst = code;
            continue;
        }
        if (shown++ != 0)
            (void)fputs(json ? ",\n" : "\n", stdout);
        if (json)
            print_json(stdout, h);
        else
            print_table(h);
        rssmon_history_free(h);
    }
    if (json && array)
        (void)putchar(']');
    if (json && (shown != 0 || array))
        (void)putchar('\n');
    return worst;
}
