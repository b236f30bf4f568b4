/* Command lines by table, over getopt_long. */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/os.h"

int usage_error(struct output *out, const struct command *command, const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    struct cuzk_error err;
    (void)cuzk_fail(&err, CUZK_E_ARGUMENT, "%s; see `cuzk %s --help`", text, command->name);
    return output_fail(out, &err, EXIT_FAILED);
}

static void help(const struct command *command, const struct usage *usage)
{
    printf("Usage: cuzk %s [OPTION]...%s%s\n\n%s\n\nOptions:\n", command->name,
           usage->operands != NULL ? " " : "", usage->operands != NULL ? usage->operands : "",
           command->summary);
    for (size_t i = 0; i < usage->option_count; i++) {
        const struct option_spec *o = &usage->options[i];
        char left[64];
        (void)snprintf(left, sizeof left, "--%s%s%s", o->name, o->argument != NULL ? " " : "",
                       o->argument != NULL ? o->argument : "");
        printf("  %-26s %s\n", left, o->help);
    }
    printf("  %-26s %s\n", "--json", "print the result, or the error, as JSON");
    printf("  %-26s %s\n", "--help", "print this text");
    if (usage->text != NULL)
        printf("\n%s\n", usage->text);
}

static bool parse_number(uint64_t *out, const char *text, bool suffix)
{
    static const struct {
        const char *name;
        unsigned shift;
    } units[] = {{"", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}};
    if (text[0] < '0' || text[0] > '9')
        return false; /* strtoull takes signs and spaces */
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, text[1] == 'x' ? 16 : 10);
    if (errno != 0 || end == text || (text[1] == 'x' && end == text + 1))
        return false;
    for (size_t i = 0; i < (suffix ? sizeof units / sizeof units[0] : 1); i++) {
        if (strcmp(end, units[i].name) != 0)
            continue;
        if (v > UINT64_MAX >> units[i].shift)
            return false;
        *out = (uint64_t)v << units[i].shift;
        return true;
    }
    return false;
}

static bool store(const struct option_spec *o, const char *text)
{
    struct option_number *number = o->target;
    switch (o->kind) {
    case OPTION_FLAG:
        *(bool *)o->target = true;
        return true;
    case OPTION_TEXT:
    case OPTION_INPUT:
    case OPTION_OUTPUT:
        *(const char **)o->target = text;
        return text[0] != '\0';
    case OPTION_NUMBER:
    case OPTION_BYTES:
        number->given = true;
        return parse_number(&number->value, text, o->kind == OPTION_BYTES) &&
               (o->kind != OPTION_BYTES || number->value != 0);
    }
    return false;
}

static const char *file_of(const struct option_spec *o)
{
    return o->kind == OPTION_INPUT || o->kind == OPTION_OUTPUT ? *(const char *const *)o->target
                                                               : NULL;
}

/* Each output by itself: before the work whose result goes there, and so that no key is lost to the
 * proof that it made. */
static bool check_outputs(int *code, const struct command *command, const struct usage *usage,
                          const char *operand, struct output *out)
{
    struct cuzk_error err;
    for (size_t i = 0; i < usage->option_count; i++) {
        const struct option_spec *o = &usage->options[i];
        const char *path = file_of(o);
        if (o->kind != OPTION_OUTPUT || path == NULL)
            continue;
        const char *taken = operand != NULL && cuzk_os_same_path(path, operand) ? operand : NULL;
        for (size_t k = 0; k < usage->option_count && taken == NULL; k++)
            if (k != i && file_of(&usage->options[k]) != NULL &&
                cuzk_os_same_path(path, file_of(&usage->options[k])))
                taken = usage->options[k].name;
        if (taken != NULL) {
            *code = usage_error(out, command, "--%s %s: would take the place of %s%s", o->name,
                                path, taken == operand ? "" : "--", taken);
            return false;
        }
        if (cuzk_os_writer_check(path, &err) != CUZK_OK) {
            *code = output_fail(out, &err, EXIT_FAILED);
            return false;
        }
    }
    return true;
}

bool options_parse(int *code, const struct command *command, const struct usage *usage, int *argc,
                   char **argv, struct output *out)
{
    enum { JSON = 1000, HELP };
    output_init(out, command->name);
    for (int i = 1; i < *argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--json") == 0) /* so that errors before it are JSON too */
            out->json = true;
    struct option *list = cuzk_calloc(usage->option_count + 3, sizeof *list);
    if (list == NULL) {
        *code = usage_error(out, command, "out of memory");
        return false;
    }
    for (size_t i = 0; i < usage->option_count; i++)
        list[i] = (struct option){
            usage->options[i].name,
            usage->options[i].argument != NULL ? required_argument : no_argument, NULL, (int)i};
    list[usage->option_count] = (struct option){"json", no_argument, NULL, JSON};
    list[usage->option_count + 1] = (struct option){"help", no_argument, NULL, HELP};

    bool go_on = true;
    opterr = 0;
    optind = 1;
    for (int c; go_on && (c = getopt_long(*argc, argv, ":h", list, NULL)) != -1;) {
        go_on = c == JSON;
        if (c == 'h' || c == HELP) {
            help(command, usage);
            output_free(out);
            *code = fflush(stdout) == 0 ? EXIT_DONE : EXIT_FAILED;
        } else if (c == ':') {
            *code = usage_error(out, command, "%s needs a value", argv[optind - 1]);
        } else if (c == '?') {
            *code = usage_error(out, command, "unknown or ambiguous option %s", argv[optind - 1]);
        } else if (c != JSON) {
            const struct option_spec *o = &usage->options[c];
            go_on = store(o, optarg);
            if (!go_on)
                *code = usage_error(out, command, "--%s %s: not a %s", o->name, optarg,
                                    o->kind == OPTION_BYTES    ? "number of bytes above 0, as 12GiB"
                                    : o->kind == OPTION_NUMBER ? "whole number"
                                                               : "name");
        }
    }
    cuzk_free(list);
    if (!go_on)
        return false;
    int count = *argc - optind;
    if (count < usage->least || count > usage->most) {
        if (usage->operands == NULL)
            *code = usage_error(out, command, "unexpected operand \"%s\"", argv[optind]);
        else if (count < usage->least)
            *code = usage_error(out, command, "%s is missing", usage->operands);
        else
            *code = usage_error(out, command, "one %s is expected, not %d", usage->operands, count);
        return false;
    }
    memmove(argv + 1, argv + optind, (size_t)count * sizeof *argv);
    *argc = count + 1;
    argv[*argc] = NULL;
    return check_outputs(code, command, usage, count == 1 ? argv[1] : NULL, out);
}
