/* The subcommands of rssmon. Each takes its own argv (argv[0] is the subcommand's name) and returns
 * the program's exit code.
 */
#ifndef RSSMON_COMMANDS_H
#define RSSMON_COMMANDS_H

/* Exit codes, the same for all subcommands. `rssmon -- cmd` passes the command's own through. */
enum {
    RSSMON_EXIT_OK = 0,
    RSSMON_EXIT_VERDICT =
        1,                 /* the answer is "no": regression found, limit crossed, target killed */
    RSSMON_EXIT_USAGE = 2, /* bad options, bad input */
    RSSMON_EXIT_NOT_FOUND = 3, /* no such target or log */
    RSSMON_EXIT_AMBIGUOUS = 4, /* several targets match */
    RSSMON_EXIT_PERMISSION = 5,
    RSSMON_EXIT_IO = 6 /* a log or picture could not be read or written; memory was out */
};

int cmd_record(int argc, char **argv);
int cmd_mark(int argc, char **argv);
int cmd_plot(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_compare(int argc, char **argv);

#endif
