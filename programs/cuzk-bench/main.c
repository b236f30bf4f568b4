/* cuzk-bench: dispatches; each command has its own file. */
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "bench.h"
#include "monitor/known_leaks.h"
#include "monitor/system.h"
#include "monitor/text.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} commands[] = {
    {"run", cmd_run, "run a command over a matrix of settings and keep the results"},
    {"list", cmd_list, "the experiments of a results file"},
    {"report", cmd_report, "seconds a proof, peak memory, proofs an hour a GiB"},
    {"compare", cmd_compare, "two experiments or revisions against each other"},
    {"sweep", cmd_sweep, "the knee of time against memory, and its picture"},
    {"smoke", cmd_smoke, "a short run of everything, to see that it works"},
};

int bench_error(int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)fputs("cuzk-bench: ", stderr);
    (void)vfprintf(stderr, format, args);
    (void)fputc('\n', stderr);
    va_end(args);
    return code;
}

void json_string(FILE *out, const char *s)
{
    char storage[16000];
    struct rssmon_text t;
    rssmon_text_init(&t, storage, sizeof storage);
    rssmon_text_json(&t, s);
    (void)fputs(t.overflow ? "\"(too long)\"" : storage, out);
}

void json_number(FILE *out, double v)
{
    if (isfinite(v))
        (void)fprintf(out, "%.6f", v);
    else
        (void)fputs("null", out);
}

static void help(FILE *out)
{
    (void)fputs("Usage: cuzk-bench COMMAND [OPTION]…\n\n"
                "Measures seconds a proof and peak memory of a proving command, over a matrix of\n"
                "settings, with rssmon beside each run.\n\nCommands:\n",
                out);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        (void)fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].summary);
    (void)fputs("\n`cuzk-bench COMMAND --help` lists its options. Exit codes: 0 done, 1 slower or\n"
                "bigger than allowed, 2 bad options, 3 not found, 4 not comparable, 5 a measured\n"
                "command failed, 6 a file could not be read or written.\n",
                out);
}

/* An answer that nobody could read is none. */
static int finish(int code)
{
    if ((fflush(stdout) == 0 && !ferror(stdout)) || code != BENCH_OK)
        return code;
    return bench_error(BENCH_IO, "cannot write to standard output");
}

int main(int argc, char **argv)
{
    static char title[32]; /* whom getopt's messages come from */
    rssmon_hold_streams();
    (void)setlocale(LC_ALL, "C");
    if (argc < 2) {
        help(stderr);
        return BENCH_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        help(stdout);
        return finish(BENCH_OK);
    }
    if (strcmp(name, "--version") == 0) {
        (void)puts("cuzk-bench " CUZK_VERSION);
        return finish(BENCH_OK);
    }
    if (strcmp(name, "--smoke") == 0)
        name = "smoke";
    if (strcmp(name, "spawn-copies") == 0)
        return cmd_spawn(argc - 1, argv + 1);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(name, commands[i].name) == 0) {
            (void)snprintf(title, sizeof title, "cuzk-bench %s", name);
            argv[1] = title;
            return finish(commands[i].run(argc - 1, argv + 1));
        }
    return bench_error(BENCH_USAGE, "no command \"%s\"; cuzk-bench --help lists them", name);
}
