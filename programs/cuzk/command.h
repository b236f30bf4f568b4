/* The commands of `cuzk`, and what they share: the command line, output, progress.
 *
 * A command is one file, cmd_NAME.c, with one struct command. Its run function parses its own line,
 * does the work through the library and answers with an exit code.
 *
 * Exit codes, the same everywhere (doc/man/cuzk.1):
 *     0  done; verify: valid; inspect: sound
 *     1  the answer is no: verify: not valid; inspect: the file has a fault
 *     2  no answer: wrong usage, unreadable or damaged input, too little memory, a failing device
 */
#ifndef CUZK_PROGRAM_COMMAND_H
#define CUZK_PROGRAM_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuzk/errors.h"
#include "output.h"

enum { EXIT_DONE = 0, EXIT_NO = 1, EXIT_FAILED = 2 };

struct command {
    const char *name, *summary;
    int (*run)(const struct command *self, int argc, char **argv); /* argv[0] is the name */
};

/* In the order of --help. */
#define COMMANDS(X)                                                                                \
    X(setup)                                                                                       \
    X(prove)                                                                                       \
    X(verify)                                                                                      \
    X(inspect)                                                                                     \
    X(export)                                                                                      \
    X(shape)                                                                                       \
    X(witness)                                                                                     \
    X(inputs)                                                                                      \
    X(mock_sector)                                                                                 \
    X(devices)                                                                                     \
    X(version)
#define X(name) extern const struct command command_##name;
COMMANDS(X)
#undef X

#endif
