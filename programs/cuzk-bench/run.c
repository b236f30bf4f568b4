/* `cuzk-bench run`: every cell of the matrix, warm-up first, then round after round over all cells
 * (so that a drift of the machine's speed hits all alike), each run a child of rssmon with a log of
 * its own. A run is in the file before the next one starts; --resume does what is missing. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "monitor/history.h"
#include "monitor/text.h"

static const char usage[] =
    "Usage: cuzk-bench run [OPTION]… -- COMMAND [ARGUMENT]…\n\n"
    "Runs COMMAND for every combination of settings; {NAME} in an argument becomes the setting's\n"
    "value. Results go into one SQLite file, a memory log per run beside it.\n\n"
    "  -d, --db FILE        results (default bench.db)\n"
    "  -n, --name NAME      of the experiment (default: the command's name)\n"
    "  -s, --set N=V,V…     a setting and its values; may be repeated. N = j: so many copies of "
    "the\n"
    "                       command run at once\n"
    "  -p, --proofs N       counted runs of each cell (default 5)\n"
    "  -w, --warmup N       runs of each cell before, not counted (default 1)\n"
    "      --per-run N      proofs that one run of COMMAND makes (default 1): seconds are divided\n"
    "  -k, --key FILE       the key that is used, to tell results with other keys apart\n"
    "  -t, --tag TEXT       kept with the experiment; the name that compare finds it by\n"
    "  -l, --logs DIR       where the memory logs go (default: FILE without its ending, .logs)\n"
    "      --rssmon PATH    the monitor (default: beside this program, else on the PATH)\n"
    "      --revision TEXT  of the sources (default: git's)\n"
    "  -r, --resume         go on with the newest experiment of this name, command and matrix\n"
    "      --keep-going     a run that fails is recorded, and the rest goes on; exit code 5 at the "
    "end\n"
    "      --json           the report as JSON at the end\n"
    "  -h, --help";

struct plan {
    const char *db, *name, *key, *tag, *logs, *rssmon, *revision;
    char **command;
    int command_count;
    int64_t proofs, warmup, per_run;
    bool resume, keep_going, json;
    int64_t failed; /* runs, with keep_going */
    struct matrix matrix;
    struct experiment e;
    char log_dir[512], self[512], rssmon_path[600];
    bool *done; /* cell_count × (warmup + proofs) */
};

static volatile sig_atomic_t stop;
static void on_signal(int number)
{
    (void)number;
    stop = 1;
}

static int add_setting(struct matrix *m, char *text)
{
    char *equals = strchr(text, '=');
    if (equals == NULL || equals == text || equals[1] == '\0' || equals - text >= 32)
        return bench_error(BENCH_USAGE, "--set %s is not of the form name=value,value", text);
    if (m->setting_count == MAX_SETTINGS)
        return bench_error(BENCH_USAGE, "at most %d settings", MAX_SETTINGS);
    struct setting *s = &m->settings[m->setting_count++];
    *equals = '\0';
    (void)snprintf(s->name, sizeof s->name, "%s", text);
    char *save = NULL;
    for (char *v = strtok_r(equals + 1, ",", &save); v != NULL; v = strtok_r(NULL, ",", &save)) {
        if (s->value_count == MAX_VALUES)
            return bench_error(BENCH_USAGE, "--set %s: at most %d values", text, MAX_VALUES);
        s->values[s->value_count++] = v;
    }
    return s->value_count != 0 ? BENCH_OK : bench_error(BENCH_USAGE, "--set %s has no value", text);
}

static int make_cells(struct matrix *m)
{
    int count = 1;
    for (int i = 0; i < m->setting_count; i++) {
        for (int k = 0; k < i; k++)
            if (strcmp(m->settings[i].name, m->settings[k].name) == 0)
                return bench_error(BENCH_USAGE, "--set %s is given twice", m->settings[i].name);
        count *= m->settings[i].value_count;
        if (count > MAX_CELLS)
            return bench_error(BENCH_USAGE, "the matrix has over %d cells", MAX_CELLS);
    }
    m->cells = calloc((size_t)count, sizeof *m->cells);
    if (m->cells == NULL)
        return bench_error(BENCH_IO, "out of memory");
    m->cell_count = count;
    for (int c = 0; c < count; c++) {
        struct cell *cell = &m->cells[c];
        size_t used = 0;
        cell->j = 1;
        for (int i = m->setting_count - 1, rest = c; i >= 0; i--) {
            cell->value[i] = rest % m->settings[i].value_count;
            rest /= m->settings[i].value_count;
        }
        for (int i = 0; i < m->setting_count; i++) {
            const char *value = m->settings[i].values[cell->value[i]];
            int n = snprintf(cell->text + used, sizeof cell->text - used, "%s%s=%s",
                             i != 0 ? " " : "", m->settings[i].name, value);
            if (n < 0 || (size_t)n >= sizeof cell->text - used)
                return bench_error(BENCH_USAGE, "the settings of a cell are too long");
            used += (size_t)n;
            uint64_t j;
            if (strcmp(m->settings[i].name, "j") == 0) {
                if (rssmon_parse_u64(value, &j) != 0 || j < 1 || j > 1024)
                    return bench_error(BENCH_USAGE, "--set j=%s: copies at once are 1 to 1024",
                                       value);
                cell->j = (int)j;
            }
        }
        if (m->setting_count == 0)
            (void)snprintf(cell->text, sizeof cell->text, "default");
    }
    return BENCH_OK;
}

/* An argument with each {name} replaced; NULL (said) for an unknown name or no memory. */
static char *substitute(const struct matrix *m, const struct cell *cell, const char *argument)
{
    size_t capacity = strlen(argument) + 1, used = 0;
    for (int i = 0; i < m->setting_count; i++)
        capacity += 8 * strlen(m->settings[i].values[cell->value[i]]);
    char *out = calloc(capacity, 1);
    for (const char *p = argument; *p != '\0' && out != NULL;) {
        const char *close = *p == '{' ? strchr(p, '}') : NULL;
        const char *value = NULL;
        for (int i = 0; close != NULL && i < m->setting_count; i++)
            if (strlen(m->settings[i].name) == (size_t)(close - p - 1) &&
                strncmp(m->settings[i].name, p + 1, (size_t)(close - p - 1)) == 0)
                value = m->settings[i].values[cell->value[i]];
        size_t n = value != NULL ? strlen(value) : 1;
        if (used + n + 1 > capacity) {
            capacity = 2 * (capacity + n);
            char *grown = realloc(out, capacity);
            if (grown == NULL) {
                free(out);
                out = NULL;
                break;
            }
            out = grown;
        }
        if (value != NULL) {
            memcpy(out + used, value, n);
            p = close + 1;
        } else {
            out[used] = *p++;
        }
        used += n;
        out[used] = '\0';
    }
    if (out == NULL)
        (void)bench_error(BENCH_IO, "out of memory");
    return out;
}

/* A name of a log: the experiment, the cell and the run, in characters that any file system takes.
 */
static bool log_name(const struct plan *p, const struct cell *cell, int64_t number, char *out,
                     size_t capacity)
{
    char label[400];
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.=_-";
    (void)snprintf(label, sizeof label, "%s-%s", p->e.name, cell->text);
    for (char *c = label; *c != '\0'; c++)
        if (strchr(plain, *c) == NULL)
            *c = *c == ' ' ? ',' : '_';
    int n = snprintf(out, capacity, "%s/%" PRId64 "-%s-%s%" PRId64 ".log", p->log_dir, p->e.id,
                     label, number < 0 ? "warmup" : "", number < 0 ? -number : number);
    return n > 0 && (size_t)n < capacity;
}

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Runs argv with its standard output into a string (at most 1 MiB of it). */
static int run_child(char **argv, int *exit_code, double *seconds, double *cpu, char **output)
{
    int pipes[2];
    *output = NULL;
    if (pipe2(pipes, O_CLOEXEC) != 0)
        return bench_error(BENCH_IO, "cannot make a pipe: %s", strerror(errno));
    struct rusage before, after;
    (void)getrusage(RUSAGE_CHILDREN, &before);
    double start = now();
    pid_t pid = fork();
    if (pid == 0) {
        (void)dup2(pipes[1], STDOUT_FILENO);
        execvp(argv[0], argv);
        (void)fprintf(stderr, "cuzk-bench: %s: %s\n", argv[0], strerror(errno));
        _exit(127);
    }
    (void)close(pipes[1]);
    if (pid < 0) {
        (void)close(pipes[0]);
        return bench_error(BENCH_IO, "cannot start a process: %s", strerror(errno));
    }
    enum { MOST = 1 << 20 };
    char *text = calloc(MOST + 1, 1), waste[4096];
    size_t have = 0;
    for (;;) {
        bool keep = text != NULL && have < MOST;
        ssize_t n =
            keep ? read(pipes[0], text + have, MOST - have) : read(pipes[0], waste, sizeof waste);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        have += keep ? (size_t)n : 0;
    }
    (void)close(pipes[0]);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    *seconds = now() - start;
    (void)getrusage(RUSAGE_CHILDREN, &after);
    *cpu = (double)(after.ru_utime.tv_sec + after.ru_stime.tv_sec - before.ru_utime.tv_sec -
                    before.ru_stime.tv_sec) +
           1e-6 * (double)(after.ru_utime.tv_usec + after.ru_stime.tv_usec -
                           before.ru_utime.tv_usec - before.ru_stime.tv_usec);
    *exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    *output = text;
    return BENCH_OK;
}

static int run_cell(struct plan *p, struct store *store, const struct cell *cell, int64_t number)
{
    char *argv[128];
    int argc = 0, first, code;
    struct result r = {.number = number, .peak_rss = -1, .peak_error = -1};
    char copies[16], *output = NULL;
    (void)snprintf(r.cell, sizeof r.cell, "%s", cell->text);
    if (!log_name(p, cell, number, r.log, sizeof r.log))
        return bench_error(BENCH_USAGE, "%s: the names of logs in this folder get too long",
                           p->log_dir);
    (void)unlink(r.log); /* of a run that was interrupted before it was recorded */
    (void)snprintf(copies, sizeof copies, "%d", cell->j);
    const char *head[] = {p->rssmon_path, "record", "--quiet",      "--tree", "--log", r.log,
                          "--",           p->self,  "spawn-copies", copies,   "--"};
    size_t head_count = cell->j > 1 ? 11 : 7;
    for (size_t i = 0; i < head_count; i++)
        argv[argc++] = (char *)(uintptr_t)head[i];
    first = argc;
    code = BENCH_OK;
    for (int i = 0; i < p->command_count && code == BENCH_OK; i++) {
        argv[argc] = substitute(&p->matrix, cell, p->command[i]);
        if (argv[argc++] == NULL)
            code = BENCH_IO;
    }
    argv[argc] = NULL;
    int exit_code = 0;
    if (code == BENCH_OK)
        code = run_child(argv, &exit_code, &r.seconds, &r.cpu_seconds, &output);
    for (int i = first; i < argc; i++)
        free(argv[i]);
    if (code != BENCH_OK || stop) {
        free(output);
        return code; /* a run that was interrupted is not recorded */
    }
    r.exit_code = exit_code;
    r.seconds /= (double)(p->per_run * cell->j);
    struct rssmon_history *h;
    struct rssmon_error err;
    if (rssmon_history_read(&h, r.log, &err) == RSSMON_OK) {
        r.peak_rss = (int64_t)h->peak;
        r.peak_error = h->peak_error != RSSMON_UNKNOWN ? (int64_t)h->peak_error : -1;
        rssmon_history_free(h);
    } else {
        (void)bench_error(0, "no memory figure for this run: %s", err.message);
    }
    code = store_add_result(store, p->e.id, &r, output);
    free(output);
    char size[32];
    struct rssmon_text t;
    rssmon_text_init(&t, size, sizeof size);
    if (r.peak_rss >= 0)
        rssmon_text_size(&t, (uint64_t)r.peak_rss);
    else
        rssmon_text_string(&t, "unknown");
    (void)fprintf(stderr, "%-40s %s%2" PRId64 "  %9.3f s  peak %s%s\n", r.cell,
                  number < 0 ? "warm-up " : "run ", number < 0 ? -number : number + 1, r.seconds,
                  size, exit_code != 0 ? "  FAILED" : "");
    p->failed += exit_code != 0;
    if (code == BENCH_OK && exit_code != 0 && !p->keep_going)
        code = bench_error(BENCH_FAILED,
                           "the command ended with %d; its log is %s (--keep-going goes on)",
                           exit_code, r.log);
    return code;
}

struct mark_done {
    struct plan *plan;
};

static int mark_done(void *context, const struct result *r)
{
    struct plan *p = ((struct mark_done *)context)->plan;
    for (int c = 0; c < p->matrix.cell_count; c++) {
        int64_t at = r->number + p->warmup;
        if (strcmp(p->matrix.cells[c].text, r->cell) == 0 && at >= 0 && at < p->warmup + p->proofs)
            p->done[c * (p->warmup + p->proofs) + at] = true;
    }
    return BENCH_OK;
}

static int begin(struct plan *p, struct store *store)
{
    struct experiment old;
    p->done = calloc((size_t)(p->matrix.cell_count * (p->warmup + p->proofs)) + 1, sizeof *p->done);
    if (p->done == NULL)
        return bench_error(BENCH_IO, "out of memory");
    if (!p->resume)
        return store_add_experiment(store, &p->e);
    int code = store_find(store, &old, 0, p->e.name);
    if (code == BENCH_NOT_FOUND)
        return bench_error(code, "no experiment \"%s\" to go on with in %s", p->e.name, p->db);
    if (code != BENCH_OK)
        return code;
    const struct {
        const char *what, *a, *b;
    } same[] = {{"command", old.command, p->e.command},
                {"matrix", old.matrix, p->e.matrix},
                {"revision", old.revision, p->e.revision},
                {"machine", old.machine, p->e.machine},
                {"key", old.key_digest, p->e.key_digest}};
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
        if (strcmp(same[i].a, same[i].b) != 0)
            return bench_error(BENCH_NOT_COMPARABLE,
                               "experiment %" PRId64
                               " cannot be gone on with: its %s was \"%s\", now "
                               "it is \"%s\"",
                               old.id, same[i].what, same[i].a, same[i].b);
    if (old.proofs != p->proofs || old.warmup != p->warmup)
        return bench_error(BENCH_NOT_COMPARABLE,
                           "experiment %" PRId64 " has %" PRId64 " runs and %" PRId64
                           " to warm up; give the same --proofs and --warmup",
                           old.id, old.proofs, old.warmup);
    p->e = old;
    struct mark_done context = {p};
    return store_each_result(store, old.id, mark_done, &context);
}

static int run_all(struct plan *p, struct store *store)
{
    int64_t rounds = p->warmup + p->proofs;
    for (int64_t round = 0; round < rounds; round++)
        for (int k = 0; k < p->matrix.cell_count; k++) {
            /* another cell is first in each round, so that none is always warmed by the same one */
            int c = (int)((k + round) % p->matrix.cell_count);
            if (p->done[c * rounds + round])
                continue;
            int code = run_cell(p, store, &p->matrix.cells[c], round - p->warmup);
            if (stop) {
                return bench_error(BENCH_FAILED,
                                   "interrupted; the same call with --resume goes on");
            }
            if (code != BENCH_OK)
                return code;
        }
    return BENCH_OK;
}

static void find_programs(struct plan *p)
{
    ssize_t n = readlink("/proc/self/exe", p->self, sizeof p->self - 1);
    p->self[n > 0 ? n : 0] = '\0';
    if (p->rssmon != NULL) {
        (void)snprintf(p->rssmon_path, sizeof p->rssmon_path, "%s", p->rssmon);
        return;
    }
    char *slash = strrchr(p->self, '/');
    static const char *const places[] = {"rssmon", "../rssmon/rssmon"};
    for (size_t i = 0; i < 2 && slash != NULL; i++) {
        (void)snprintf(p->rssmon_path, sizeof p->rssmon_path, "%.*s/%s", (int)(slash - p->self),
                       p->self, places[i]);
        if (access(p->rssmon_path, X_OK) == 0)
            return;
    }
    (void)snprintf(p->rssmon_path, sizeof p->rssmon_path, "rssmon");
}

static int parse_count(const char *option, const char *text, int64_t low, int64_t high,
                       int64_t *out)
{
    uint64_t v;
    if (rssmon_parse_u64(text, &v) != 0 || (int64_t)v < low || v > (uint64_t)high)
        return bench_error(BENCH_USAGE, "%s %s: a whole number from %" PRId64 " to %" PRId64,
                           option, text, low, high);
    *out = (int64_t)v;
    return BENCH_OK;
}

/* Joins words with blanks; false when they do not fit. */
static bool join(char *out, size_t capacity, char **words, int count)
{
    size_t used = 0;
    for (int i = 0; i < count; i++) {
        int n = snprintf(out + used, capacity - used, "%s%s", i != 0 ? " " : "", words[i]);
        if (n < 0 || (size_t)n >= capacity - used)
            return false;
        used += (size_t)n;
    }
    return true;
}

static int describe(struct plan *p, const char *settings)
{
    struct experiment *e = &p->e;
    const char *base = strrchr(p->command[0], '/');
    machine_read(e);
    (void)snprintf(e->name, sizeof e->name, "%s",
                   p->name != NULL ? p->name
                   : base != NULL  ? base + 1
                                   : p->command[0]);
    (void)snprintf(e->tag, sizeof e->tag, "%s", p->tag != NULL ? p->tag : "");
    (void)snprintf(e->matrix, sizeof e->matrix, "%s", settings);
    if (!join(e->command, sizeof e->command, p->command, p->command_count))
        return bench_error(BENCH_USAGE, "the command is too long");
    if (p->revision != NULL)
        (void)snprintf(e->revision, sizeof e->revision, "%s", p->revision);
    else
        git_revision(e->revision);
    e->proofs = p->proofs;
    e->warmup = p->warmup;
    e->proofs_per_run = p->per_run;
    if (p->logs != NULL) {
        (void)snprintf(p->log_dir, sizeof p->log_dir, "%s", p->logs);
    } else {
        const char *dot = strrchr(p->db, '.');
        size_t n = dot != NULL && strchr(dot, '/') == NULL ? (size_t)(dot - p->db) : strlen(p->db);
        (void)snprintf(p->log_dir, sizeof p->log_dir, "%.*s.logs", (int)n, p->db);
    }
    if (mkdir(p->log_dir, 0777) != 0 && errno != EEXIST)
        return bench_error(BENCH_IO, "%s: cannot make the folder: %s", p->log_dir, strerror(errno));
    return key_digest(e->key_digest, p->key);
}

int cmd_run(int argc, char **argv)
{
    enum { PER_RUN = 1000, RSSMON, REVISION, KEEP_GOING, JSON };
    static const struct option options[] = {{"db", required_argument, NULL, 'd'},
                                            {"name", required_argument, NULL, 'n'},
                                            {"set", required_argument, NULL, 's'},
                                            {"proofs", required_argument, NULL, 'p'},
                                            {"warmup", required_argument, NULL, 'w'},
                                            {"per-run", required_argument, NULL, PER_RUN},
                                            {"key", required_argument, NULL, 'k'},
                                            {"tag", required_argument, NULL, 't'},
                                            {"logs", required_argument, NULL, 'l'},
                                            {"rssmon", required_argument, NULL, RSSMON},
                                            {"revision", required_argument, NULL, REVISION},
                                            {"resume", no_argument, NULL, 'r'},
                                            {"keep-going", no_argument, NULL, KEEP_GOING},
                                            {"json", no_argument, NULL, JSON},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    static struct plan p;
    static char settings[1024];
    p = (struct plan){.db = "bench.db", .proofs = 5, .warmup = 1, .per_run = 1};
    settings[0] = '\0';
    int code = BENCH_OK;
    for (int c; code == BENCH_OK &&
                (c = getopt_long(argc, argv, "+d:n:s:p:w:k:t:l:rh", options, NULL)) != -1;) {
        switch (c) {
        case 'd':
            p.db = optarg;
            break;
        case 'n':
            p.name = optarg;
            break;
        case 's':
            if (strlen(settings) + strlen(optarg) + 2 >= sizeof settings)
                return bench_error(BENCH_USAGE, "the settings are too long");
            if (settings[0] != '\0')
                (void)strcat(settings, " ");
            (void)strcat(settings, optarg);
            code = add_setting(&p.matrix, optarg);
            break;
        case 'p':
            code = parse_count("--proofs", optarg, 1, 100000, &p.proofs);
            break;
        case 'w':
            code = parse_count("--warmup", optarg, 0, 1000, &p.warmup);
            break;
        case PER_RUN:
            code = parse_count("--per-run", optarg, 1, 1000000, &p.per_run);
            break;
        case 'k':
            p.key = optarg;
            break;
        case 't':
            p.tag = optarg;
            break;
        case 'l':
            p.logs = optarg;
            break;
        case RSSMON:
            p.rssmon = optarg;
            break;
        case REVISION:
            p.revision = optarg;
            break;
        case 'r':
            p.resume = true;
            break;
        case KEEP_GOING:
            p.keep_going = true;
            break;
        case JSON:
            p.json = true;
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
    p.command = argv + optind;
    p.command_count = argc - optind;
    if (p.command_count < 1)
        return bench_error(BENCH_USAGE, "no command; it stands behind --");
    if (p.command_count > 100)
        return bench_error(BENCH_USAGE, "the command has over 100 arguments");
    struct store *store = NULL;
    code = make_cells(&p.matrix);
    if (code == BENCH_OK)
        code = describe(&p, settings);
    if (code == BENCH_OK)
        code = store_open(&store, p.db, !p.resume);
    if (code == BENCH_OK)
        code = begin(&p, store);
    if (code == BENCH_OK) {
        const struct sigaction action = {.sa_handler = on_signal};
        (void)sigaction(SIGINT, &action, NULL);
        (void)sigaction(SIGTERM, &action, NULL);
        find_programs(&p);
        code = run_all(&p, store);
    }
    store_close(store);
    free(p.done);
    free(p.matrix.cells);
    if (code == BENCH_OK) {
        char id[32];
        (void)snprintf(id, sizeof id, "%" PRId64, p.e.id);
        char *report[] = {"report", "--db", (char *)(uintptr_t)p.db, id, p.json ? "--json" : NULL,
                          NULL};
        code = cmd_report(p.json ? 5 : 4, report);
        if (code == BENCH_OK && p.failed != 0)
            code = bench_error(BENCH_FAILED, "%" PRId64 " runs failed", p.failed);
    }
    return code;
}

int cmd_spawn(int argc, char **argv)
{
    uint64_t copies;
    if (argc < 4 || rssmon_parse_u64(argv[1], &copies) != 0 || strcmp(argv[2], "--") != 0)
        return bench_error(BENCH_USAGE, "spawn-copies is for cuzk-bench itself");
    uint64_t started = 0;
    int worst = 0;
    for (; started < copies; started++) {
        pid_t pid = fork();
        if (pid == 0) {
            execvp(argv[3], argv + 3);
            _exit(127);
        }
        if (pid < 0) {
            worst = 126;
            break;
        }
    }
    for (uint64_t i = 0; i < started; i++) {
        int status = 0;
        while (wait(&status) < 0 && errno == EINTR)
            ;
        int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        if (code > worst)
            worst = code;
    }
    return worst;
}
