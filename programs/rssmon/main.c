/* rssmon: watches the memory of a process, a tree or a cgroup, and says how it ended.
 * This file only dispatches; each subcommand has its own file. Without a subcommand's name the
 * arguments are those of `record`: `rssmon --pid 42`, `rssmon -- cmd …`.
 */
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "monitor/known_leaks.h"
#include "monitor/system.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} commands[] = {
    {"record", cmd_record, "watch a target and write its log (the default)"},
    {"mark", cmd_mark, "put a marker into a running log"},
    {"plot", cmd_plot, "draw logs, as a picture or in the terminal"},
    {"report", cmd_report, "what logs say: peak, phases, death, as a table or JSON"},
    {"compare", cmd_compare, "hold two groups of runs against each other"},
};

static void help(void)
{
    puts("Usage: rssmon [record] [OPTION]… [--pid PID | --match TEXT | … | -- COMMAND…]\n"
         "       rssmon SUBCOMMAND [OPTION]…\n\n"
         "Watches the memory of a process, ends when it ends, and says how it ended.\n\n"
         "Subcommands:");
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (commands[i].run != NULL)
            printf("  %-8s %s\n", commands[i].name, commands[i].summary);
    puts("\n`rssmon SUBCOMMAND --help` lists its options. Manual: man rssmon");
}

/* An answer that nobody could read is none. (A watch goes on when its --plain lines have no
 * reader.)
 */
static int finish(int code, bool answers)
{
    bool lost = fflush(stdout) != 0 || ferror(stdout);
    if (!lost || !answers || code != RSSMON_EXIT_OK)
        return code;
    (void)fputs("rssmon: cannot write to standard output\n", stderr);
    return RSSMON_EXIT_IO;
}

int main(int argc, char **argv)
{
    static char record[] = "rssmon record", title[32]; /* whom getopt's messages come from */
    rssmon_hold_streams();
    setlocale(LC_ALL, "C"); /* what is written is the same everywhere */
    if (argc < 2) {
        help();
        return RSSMON_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        help();
        return finish(RSSMON_EXIT_OK, true);
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("rssmon " CUZK_VERSION);
        return finish(RSSMON_EXIT_OK, true);
    }
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(argv[1], commands[i].name) == 0 && commands[i].run != NULL) {
            (void)snprintf(title, sizeof title, "rssmon %s", commands[i].name);
            argv[1] = title;
            return finish(commands[i].run(argc - 1, argv + 1), commands[i].run != cmd_record);
        }
    if (argv[1][0] != '-') {
        fprintf(stderr,
                "rssmon: no subcommand \"%s\"; `rssmon --help` lists them, and a command to watch "
                "follows `--`\n",
                argv[1]);
        return RSSMON_EXIT_USAGE;
    }
    argv[0] = record;
    return cmd_record(argc, argv);
}
