/* cuzk: a Groth16 prover for Filecoin's Proof-of-Replication. This file only finds the command. */
#include <stdio.h>
#include <string.h>

#include "base/os.h"
#include "command.h"
#include "cuzk/groth16.h"

static const struct command *const commands[] = {
#define X(name) &command_##name,
    COMMANDS(X)
#undef X
};
enum { COUNT = sizeof commands / sizeof commands[0] };

static const struct command *find(const char *name)
{
    for (size_t i = 0; i < COUNT; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static void help(FILE *to)
{
    (void)fprintf(to, "Usage: cuzk COMMAND [OPTION]... [OPERAND]...\n\n"
                      "Proves Filecoin's Proof-of-Replication with Groth16 over BLS12-381.\n\n"
                      "Commands:\n");
    for (size_t i = 0; i < COUNT; i++)
        (void)fprintf(to, "  %-12s %s\n", commands[i]->name, commands[i]->summary);
    (void)fprintf(
        to,
        "\n`cuzk COMMAND --help` describes a command; each takes --json.\n\n"
        "CIRCUIT is porep-2KiB, porep-8MiB, porep-512MiB, porep-32GiB, porep-64GiB,\n"
        "porep-mini32 (development), or a file in the dump format (R1CSREC1, .zst or plain).\n\n"
        "Exit codes: 0 done (verify: valid; inspect: sound); 1 the answer is no (verify: not\n"
        "valid; inspect: the file has a fault); 2 no answer (usage, unreadable or damaged\n"
        "input, memory, device).\n");
}

int main(int argc, char **argv)
{
    cuzk_os_hold_streams();
    if (argc < 2) {
        help(stderr);
        return EXIT_FAILED;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        (strcmp(argv[1], "help") == 0 && argc == 2)) {
        help(stdout);
        return fflush(stdout) == 0 ? EXIT_DONE : EXIT_FAILED;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("cuzk %s\n", cuzk_version());
        return fflush(stdout) == 0 ? EXIT_DONE : EXIT_FAILED;
    }
    bool help_of = strcmp(argv[1], "help") == 0;
    const struct command *command = find(argv[help_of ? 2 : 1]);
    if (command == NULL) {
        struct output out;
        struct cuzk_error err;
        output_init(&out, "");
        for (int i = 1; i < argc; i++)
            if (strcmp(argv[i], "--json") == 0)
                out.json = true;
        (void)cuzk_fail(&err, CUZK_E_ARGUMENT, "no command \"%s\"; see `cuzk --help`",
                        argv[help_of ? 2 : 1]);
        return output_fail(&out, &err, EXIT_FAILED);
    }
    if (help_of) {
        char option[] = "--help";
        char *line[] = {argv[2], option, NULL};
        return command->run(command, 2, line);
    }
    return command->run(command, argc - 1, argv + 1);
}
