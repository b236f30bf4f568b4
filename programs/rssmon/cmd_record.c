/* `rssmon record`: watches a target and writes its log. */
#include <stdio.h>

#include "commands.h"

int cmd_record(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    fputs("rssmon record: not in this build\n", stderr);
    return RSSMON_EXIT_USAGE;
}
