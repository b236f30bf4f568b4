/* `rssmon plot`: logs as a picture (SVG, PNG) or in the terminal, once or live. */
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "look.h"
#include "monitor/chart.h"
#include "monitor/mem.h"
#include "monitor/text.h"

static const char usage[] =
    "Usage: rssmon plot [OPTION]… LOG…\n\n"
    "Draws the memory curves of one or several logs: into a file with --output, else as "
    "characters.\n"
    "Phases and gaps of the first log are shaded.\n\n"
    "  -o, --output FILE    .svg or .png\n"
    "  -t, --title TEXT     default: the target's name\n"
    "  -a, --account FILE   the program's own account of its memory (a log that holds account\n"
    "                       records), as a dashed curve; those inside of LOG are drawn anyway\n"
    "  -m, --max SIZE       a line at SIZE (8G, 500M); may be given more than once\n"
    "      --size WxH       of the picture (1200x600) or, in characters, of the chart\n"
    "  -l, --live           draw again every second until the log is complete\n"
    "      --ascii          plain characters instead of braille\n"
    "      --no-color       also when the output is a terminal (NO_COLOR does the same)\n"
    "  -h, --help\n\n"
    "Exit codes: 0 done, 2 bad options or not a log, 3 no such log, 6 not readable or writable.";

enum { MAX_LOGS = 32, MAX_RULES = 8 };

struct plot {
    const char *output, *title, *account;
    char **logs;
    int log_count, width, height;
    bool live, ascii, color;
    struct rssmon_rule rules[MAX_RULES];
    size_t rule_count;
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* Everything that the chart points to, for one drawing. */
struct drawing {
    struct rssmon_history *logs[MAX_LOGS];
    char labels[2 * MAX_LOGS][200];
    struct rssmon_curve curves[2 * MAX_LOGS];
    size_t curve_count;
    struct rssmon_span *spans;
    size_t span_count;
    char title[200], subtitle[500];
};

static void free_drawing(struct drawing *d)
{
    for (size_t i = 0; i < MAX_LOGS; i++)
        rssmon_history_free(d->logs[i]);
    rssmon_free(d->spans);
    rssmon_free(d);
}

static void add_curves(struct drawing *d, const struct rssmon_history *h, bool several)
{
    char size[32];
    size_t i = d->curve_count++;
    if (several)
        (void)snprintf(d->labels[i], sizeof d->labels[i], "%.120s, peak %s", base_name(h->path),
                       look_size(size, h->peak));
    else
        (void)snprintf(d->labels[i], sizeof d->labels[i], "resident memory");
    d->curves[i] = (struct rssmon_curve){.label = d->labels[i],
                                         .points = h->points,
                                         .count = h->point_count,
                                         .peak_at = h->peak_at,
                                         .peak = h->peak,
                                         .peak_error = h->peak_error};
    if (h->account_count == 0)
        return;
    i = d->curve_count++;
    (void)snprintf(d->labels[i], sizeof d->labels[i], "%s%.120s%saccount of the program itself",
                   several ? "" : "", several ? base_name(h->path) : "", several ? ", " : "");
    d->curves[i] = (struct rssmon_curve){.label = d->labels[i],
                                         .points = h->account,
                                         .count = h->account_count,
                                         .secondary = true,
                                         .peak_at = NAN};
}

/* Reads the logs and fills the chart. 0 or an exit code. */
static int prepare(const struct plot *p, struct drawing *d, struct rssmon_chart *chart)
{
    struct rssmon_error err;
    for (int i = 0; i < p->log_count; i++) {
        int code = look_read(&d->logs[i], "plot", p->logs[i]);
        if (code != 0)
            return code;
        look_plain(d->logs[i]);
    }
    struct rssmon_history *first = d->logs[0];
    if (p->account != NULL) {
        rssmon_status status = rssmon_history_add_account(first, p->account, &err);
        if (status != RSSMON_OK) {
            (void)fprintf(stderr, "rssmon plot: %s\n", err.message);
            return look_exit(status);
        }
    }
    for (int i = 0; i < p->log_count; i++)
        add_curves(d, d->logs[i], p->log_count > 1);
    d->spans = rssmon_calloc(first->phase_count + first->gap_count + 1, sizeof *d->spans);
    if (d->spans == NULL) {
        (void)fprintf(stderr, "rssmon plot: out of memory\n");
        return RSSMON_EXIT_IO;
    }
    for (size_t i = 0; i < first->phase_count; i++)
        d->spans[d->span_count++] = (struct rssmon_span){
            first->phases[i].label, first->phases[i].from, first->phases[i].to, false};
    for (size_t i = 0; i < first->gap_count; i++)
        d->spans[d->span_count++] = (struct rssmon_span){first->gaps[i].cause, first->gaps[i].from,
                                                         first->gaps[i].to, true};
    char a[32], b[32], death[160];
    (void)snprintf(d->title, sizeof d->title, "%s",
                   p->title != NULL      ? p->title
                   : first->name != NULL ? first->name
                                         : base_name(first->path));
    if (p->log_count == 1)
        (void)snprintf(d->subtitle, sizeof d->subtitle, "%.200s%speak %s, mean %s, %s",
                       first->tags != NULL ? first->tags : "", first->tags != NULL ? " — " : "",
                       look_size(a, first->peak), look_size(b, first->mean),
                       look_death(death, first));
    rssmon_text_plain(d->title); /* it may have been cut, in the middle of a character */
    rssmon_text_plain(d->subtitle);
    for (size_t i = 0; i < d->curve_count; i++)
        rssmon_text_plain(d->labels[i]);
    *chart = (struct rssmon_chart){.title = d->title,
                                   .subtitle = d->subtitle,
                                   .curves = d->curves,
                                   .curve_count = d->curve_count,
                                   .spans = d->spans,
                                   .span_count = d->span_count,
                                   .rules = p->rules,
                                   .rule_count = p->rule_count,
                                   .marks = first->marks,
                                   .mark_count = first->mark_count,
                                   .width = p->width,
                                   .height = p->height};
    return 0;
}

static void terminal_size(const struct plot *p, int *columns, int *rows)
{
    struct winsize w;
    *columns = 100;
    *rows = 24;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col != 0) {
        *columns = w.ws_col;
        *rows = w.ws_row - 4;
    }
    if (p->width > 0) {
        *columns = p->width;
        *rows = p->height;
    }
}

/* One drawing. *complete: every log has its verdict. */
static int draw_once(const struct plot *p, bool *complete)
{
    struct rssmon_error err;
    struct rssmon_chart chart;
    struct drawing *d = rssmon_calloc(1, sizeof *d);
    if (d == NULL) {
        (void)fprintf(stderr, "rssmon plot: out of memory\n");
        return RSSMON_EXIT_IO;
    }
    int code = prepare(p, d, &chart);
    rssmon_status status = RSSMON_OK;
    *complete = code == 0;
    for (int i = 0; i < p->log_count && code == 0; i++)
        *complete = *complete && d->logs[i]->complete;
    if (code == 0 && p->output != NULL) {
        status = rssmon_chart_draw(&chart, p->output, &err);
    } else if (code == 0) {
        int columns, rows;
        terminal_size(p, &columns, &rows);
        if (p->live)
            (void)fputs("\x1b[H\x1b[2J", stdout);
        (void)printf("%s%s%s\n", chart.title, chart.subtitle[0] != '\0' ? ": " : "",
                     chart.subtitle);
        for (size_t i = 0; i < chart.curve_count && chart.curve_count > 1; i++)
            (void)printf("  %c %s\n", p->ascii ? "*+xo#@"[i % 6] : ' ', chart.curves[i].label);
        status = rssmon_chart_text(&chart, stdout, columns, rows, p->ascii, p->color, &err);
        (void)fflush(stdout);
    }
    if (status != RSSMON_OK) {
        (void)fprintf(stderr, "rssmon plot: %s\n", err.message);
        code = look_exit(status);
    }
    free_drawing(d);
    return code;
}

static volatile sig_atomic_t interrupted;
static void on_interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

static int bad(const char *format, const char *what)
{
    (void)fputs("rssmon plot: ", stderr);
    (void)fprintf(stderr, format, what);
    (void)fputs("; see rssmon plot --help\n", stderr);
    return RSSMON_EXIT_USAGE;
}

int cmd_plot(int argc, char **argv)
{
    enum { ASCII = 1000, NO_COLOR, SIZE };
    static const struct option options[] = {
        {"output", required_argument, NULL, 'o'},  {"title", required_argument, NULL, 't'},
        {"account", required_argument, NULL, 'a'}, {"max", required_argument, NULL, 'm'},
        {"size", required_argument, NULL, SIZE},   {"live", no_argument, NULL, 'l'},
        {"ascii", no_argument, NULL, ASCII},       {"no-color", no_argument, NULL, NO_COLOR},
        {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0}};
    struct plot p = {.color = isatty(STDOUT_FILENO) && getenv("NO_COLOR") == NULL};
    for (int c; (c = getopt_long(argc, argv, "o:t:a:m:lh", options, NULL)) != -1;) {
        switch (c) {
        case 'o':
            p.output = optarg;
            break;
        case 't':
            p.title = optarg;
            break;
        case 'a':
            p.account = optarg;
            break;
        case 'm':
            if (p.rule_count == MAX_RULES)
                return bad("%s: at most eight lines", "--max");
            p.rules[p.rule_count].label = optarg;
            if (rssmon_parse_size(optarg, &p.rules[p.rule_count++].bytes) != 0)
                return bad("--max %s is no size such as 8G or 500M", optarg);
            break;
        case SIZE:
            if (sscanf(optarg, "%5dx%5d", &p.width, &p.height) != 2 || p.width < 20 ||
                p.height < 5 || p.width > 20000 || p.height > 20000)
                return bad("--size %s is not of the form 1200x600", optarg);
            break;
        case 'l':
            p.live = true;
            break;
        case ASCII:
            p.ascii = true;
            break;
        case NO_COLOR:
            p.color = false;
            break;
        case 'h':
            puts(usage);
            return RSSMON_EXIT_OK;
        default:
            return RSSMON_EXIT_USAGE;
        }
    }
    p.logs = argv + optind;
    p.log_count = argc - optind;
    if (p.log_count == 0)
        return bad("%s", "name at least one log");
    if (p.log_count > MAX_LOGS)
        return bad("%s", "at most 32 logs fit into one picture");
    if (p.live && p.output != NULL)
        return bad("%s", "--live draws in the terminal; leave out --output");
    bool complete = false;
    int code = draw_once(&p, &complete);
    if (!p.live)
        return code;
    (void)signal(SIGINT, on_interrupt);
    while (code == 0 && !complete && !interrupted) {
        const struct timespec second = {.tv_sec = 1};
        (void)nanosleep(&second, NULL);
        code = draw_once(&p, &complete);
    }
    return code;
}
