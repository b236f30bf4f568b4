/* The command line of a command, described by a table: parsing and --help both come from it. Every
 * command has --help and --json.
 */
#ifndef CUZK_PROGRAM_OPTIONS_H
#define CUZK_PROGRAM_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "command.h"

enum option_kind {
    OPTION_FLAG,   /* bool */
    OPTION_TEXT,   /* const char * */
    OPTION_INPUT,  /* const char *: a file that is read */
    OPTION_OUTPUT, /* const char *: a file that is written: it can be made, and is no other file of
                      this command line */
    OPTION_NUMBER, /* struct option_number: decimal, or hexadecimal after 0x */
    OPTION_BYTES,  /* the same, above 0, with a suffix KiB, MiB, GiB or TiB allowed */
};

struct option_number {
    uint64_t value;
    bool given;
};

struct option_spec {
    const char *name;     /* without the dashes */
    const char *argument; /* its name in --help; NULL for a flag */
    enum option_kind kind;
    void *target; /* by kind; left alone when the option is not given */
    const char *help;
};

struct usage {
    const char *operands; /* "CIRCUIT", or NULL for none */
    int least, most;      /* how many operands */
    const char *text;     /* paragraphs behind the list of options; may be NULL */
    const struct option_spec *options;
    size_t option_count;
};

/* Fills the targets and out->json, and moves the operands to argv[1] and on (argv[argc] is NULL).
 * False: the command ends here with *code, because --help was printed or something is wrong, which
 * has been said. */
bool options_parse(int *code, const struct command *command, const struct usage *usage, int *argc,
                   char **argv, struct output *out);

/* For checks of a command's own: says it, with where to find help, and returns EXIT_FAILED. */
int usage_error(struct output *out, const struct command *command, const char *format, ...)
    CUZK_PRINTF(3, 4);

#define OPTIONS(list) (list), sizeof(list) / sizeof((list)[0])

#endif
