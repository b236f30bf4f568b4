/* `rssmon record`: options, and what the watch's outcome means as an exit code. */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "commands.h"
#include "monitor/launch.h"
#include "monitor/text.h"
#include "monitor/watch.h"

enum { TAGS_MAX = 64 };

static const char usage[] =
    "Usage: rssmon [record] [OPTION]… TARGET\n"
    "       rssmon [record] [OPTION]… -- COMMAND [ARGUMENT]…\n\n"
    "Watches the memory of TARGET, writes a log, and ends when TARGET ends.\n\n"
    "Target, one of:\n"
    "  -p, --pid PID             a process\n"
    "      --pidfile FILE        the process that FILE names\n"
    "  -m, --match REGEX         the process whose command line, executable or name matches\n"
    "      --exe PATH            the process that runs this executable (path or base name)\n"
    "      --cgroup PATH         a memory cgroup, version 1 or 2\n"
    "      --unit NAME           a systemd unit\n"
    "  -- COMMAND                a command to start; its exit code is passed on\n"
    "  -n, --newest              of several matches the newest\n"
    "  -a, --all                 all matches together\n"
    "  -t, --tree                children too; shared memory counts once\n"
    "      --until-all           with --tree: until the last of them has ended\n"
    "  -w, --wait                wait for a target that is not there yet\n"
    "  -f, --follow              when it ends, wait for its next life (not with --pid)\n"
    "  -d, --duration TIME       end after TIME (10, 500ms, 2h)\n\n"
    "Log:\n"
    "  -l, --log FILE            may hold {name} {pid} {time} {host} {tag} {tag:NAME};\n"
    "                            default rssmon-{name}-{pid}-{time}.log\n"
    "      --no-log              none\n"
    "      --format jsonl|csv    default jsonl\n"
    "      --append, --overwrite what to do when FILE exists\n"
    "      --segment-size SIZE   begin a new file beyond SIZE (64M)\n"
    "      --keep-segments N     keep the N newest closed files\n"
    "      --tag NAME=VALUE      kept in the header; may be repeated\n"
    "      --env NAME            the same, from the environment\n"
    "      --plain[=TIME]        print lines like \"02:24:19 RSS=666.4 GiB\" (every second)\n"
    "  -q, --quiet               say nothing but errors\n\n"
    "Sampling:\n"
    "      --interval TIME       shortest time between looks (1ms)\n"
    "      --max-interval TIME   longest (200ms)\n"
    "      --log-interval TIME   between sample records (adaptive)\n"
    "      --pss                 proportional set size too: walks the target's page tables\n"
    "      --gpu, --no-gpu       device memory by NVML (default: where NVML is)\n"
    "      --nvml FILE           NVML's library\n\n"
    "Markers:\n"
    "      --fifo PATH           take markers from this FIFO\n"
    "      --watch FILE          follow the target's log:\n"
    "      --pattern REGEX       a matching line is a marker,\n"
    "      --pattern-begin REGEX begins a phase,\n"
    "      --pattern-end REGEX   ends one; the first group is the label\n"
    "      --account FILE        follow the program's own account of its memory\n\n"
    "Alerts:\n"
    "      --max SIZE            when RSS exceeds SIZE\n"
    "      --min-available SIZE  when the machine's available memory falls below SIZE\n"
    "      --exec COMMAND        what sh does then (RSSMON_PID, _VALUE, _LIMIT, _LOG are set);\n"
    "                            belongs to the limits before it\n\n"
    "Surroundings, for tests and containers:\n"
    "      --proc-root DIR, --cgroup-root DIR, --kmsg FILE\n\n"
    "Exit codes: the command's own (128 + signal); else 0; 1 a limit was crossed; 2 usage;\n"
    "3 no such target; 4 several match; 5 permission; 6 log or memory.";

enum {
    OPT_PIDFILE = 256,
    OPT_EXE,
    OPT_CGROUP,
    OPT_UNIT,
    OPT_UNTIL_ALL,
    OPT_NO_LOG,
    OPT_FORMAT,
    OPT_APPEND,
    OPT_OVERWRITE,
    OPT_SEGMENT_SIZE,
    OPT_KEEP_SEGMENTS,
    OPT_TAG,
    OPT_ENV,
    OPT_PLAIN,
    OPT_INTERVAL,
    OPT_MAX_INTERVAL,
    OPT_LOG_INTERVAL,
    OPT_PSS,
    OPT_GPU,
    OPT_NO_GPU,
    OPT_NVML,
    OPT_FIFO,
    OPT_WATCH,
    OPT_PATTERN,
    OPT_PATTERN_BEGIN,
    OPT_PATTERN_END,
    OPT_ACCOUNT,
    OPT_MAX,
    OPT_MIN_AVAILABLE,
    OPT_EXEC,
    OPT_PROC_ROOT,
    OPT_CGROUP_ROOT,
    OPT_KMSG
};

static const struct option options[] = {
    {"pid", required_argument, NULL, 'p'},
    {"pidfile", required_argument, NULL, OPT_PIDFILE},
    {"match", required_argument, NULL, 'm'},
    {"exe", required_argument, NULL, OPT_EXE},
    {"cgroup", required_argument, NULL, OPT_CGROUP},
    {"unit", required_argument, NULL, OPT_UNIT},
    {"newest", no_argument, NULL, 'n'},
    {"all", no_argument, NULL, 'a'},
    {"tree", no_argument, NULL, 't'},
    {"until-all", no_argument, NULL, OPT_UNTIL_ALL},
    {"wait", no_argument, NULL, 'w'},
    {"follow", no_argument, NULL, 'f'},
    {"duration", required_argument, NULL, 'd'},
    {"log", required_argument, NULL, 'l'},
    {"no-log", no_argument, NULL, OPT_NO_LOG},
    {"format", required_argument, NULL, OPT_FORMAT},
    {"append", no_argument, NULL, OPT_APPEND},
    {"overwrite", no_argument, NULL, OPT_OVERWRITE},
    {"segment-size", required_argument, NULL, OPT_SEGMENT_SIZE},
    {"keep-segments", required_argument, NULL, OPT_KEEP_SEGMENTS},
    {"tag", required_argument, NULL, OPT_TAG},
    {"env", required_argument, NULL, OPT_ENV},
    {"plain", optional_argument, NULL, OPT_PLAIN},
    {"quiet", no_argument, NULL, 'q'},
    {"interval", required_argument, NULL, OPT_INTERVAL},
    {"max-interval", required_argument, NULL, OPT_MAX_INTERVAL},
    {"log-interval", required_argument, NULL, OPT_LOG_INTERVAL},
    {"pss", no_argument, NULL, OPT_PSS},
    {"gpu", no_argument, NULL, OPT_GPU},
    {"no-gpu", no_argument, NULL, OPT_NO_GPU},
    {"nvml", required_argument, NULL, OPT_NVML},
    {"fifo", required_argument, NULL, OPT_FIFO},
    {"watch", required_argument, NULL, OPT_WATCH},
    {"pattern", required_argument, NULL, OPT_PATTERN},
    {"pattern-begin", required_argument, NULL, OPT_PATTERN_BEGIN},
    {"pattern-end", required_argument, NULL, OPT_PATTERN_END},
    {"account", required_argument, NULL, OPT_ACCOUNT},
    {"max", required_argument, NULL, OPT_MAX},
    {"min-available", required_argument, NULL, OPT_MIN_AVAILABLE},
    {"exec", required_argument, NULL, OPT_EXEC},
    {"proc-root", required_argument, NULL, OPT_PROC_ROOT},
    {"cgroup-root", required_argument, NULL, OPT_CGROUP_ROOT},
    {"kmsg", required_argument, NULL, OPT_KMSG},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0}};

struct parsed {
    struct rssmon_watch_config c;
    struct rssmon_name_value tags[TAGS_MAX];
    char alert_texts[RSSMON_ALERTS_MAX][80];
    int targets; /* how many were named */
    int no_log, quiet;
};

static int bad(const char *option, const char *value, const char *want)
{
    fprintf(stderr, "rssmon: %s %s: %s\n", option, value, want);
    return RSSMON_EXIT_USAGE;
}

static int set_target(struct parsed *p, enum rssmon_target_kind kind, const char *value)
{
    p->c.target.kind = kind;
    p->c.target.value = value;
    p->targets++;
    return 0;
}

static int add_tag(struct parsed *p, const char *name, const char *value)
{
    if (p->c.tag_count == TAGS_MAX)
        return bad("--tag", name, "more than 64 tags");
    p->tags[p->c.tag_count++] = (struct rssmon_name_value){name, value};
    return 0;
}

static int add_alert(struct parsed *p, const char *option, const char *value, int available)
{
    struct rssmon_alert_config *a = &p->c.alerts[p->c.alert_count];
    if (p->c.alert_count == RSSMON_ALERTS_MAX)
        return bad(option, value, "more than 8 limits");
    if (rssmon_parse_size(value, &a->bound) != 0)
        return bad(option, value, "not a size; write 8G, 500M or 1.5GiB");
    char *text = p->alert_texts[p->c.alert_count];
    (void)snprintf(text, sizeof p->alert_texts[0], "%s %s", option, value);
    a->text = text;
    a->available = available;
    p->c.alert_count++;
    return 0;
}

static int add_action(struct parsed *p, const char *command)
{
    size_t set = 0;
    for (size_t i = 0; i < p->c.alert_count; i++)
        if (p->c.alerts[i].action == NULL) {
            p->c.alerts[i].action = command;
            set++;
        }
    return set > 0 ? 0 : bad("--exec", command, "no limit before it; give --max SIZE first");
}

static int duration(const char *option, const char *value, int64_t *ns)
{
    if (rssmon_parse_duration(value, ns) != 0 || *ns <= 0)
        return bad(option, value, "not a time above 0; write 10, 500ms, 2s, 5m or 1h");
    return 0;
}

static int tag_option(struct parsed *p, char *value)
{
    char *equals = strchr(value, '=');
    if (equals == NULL || equals == value)
        return bad("--tag", value, "write NAME=VALUE");
    *equals = '\0';
    return add_tag(p, value, equals + 1);
}

static int option_given(struct parsed *p, int option)
{
    struct rssmon_watch_config *c = &p->c;
    char *value = optarg;
    switch (option) {
    case 'p':
        return set_target(p, RSSMON_BY_PID, value);
    case OPT_PIDFILE:
        return set_target(p, RSSMON_BY_PIDFILE, value);
    case 'm':
        return set_target(p, RSSMON_BY_MATCH, value);
    case OPT_EXE:
        return set_target(p, RSSMON_BY_EXE, value);
    case OPT_CGROUP:
        return set_target(p, RSSMON_BY_CGROUP, value);
    case OPT_UNIT:
        return set_target(p, RSSMON_BY_UNIT, value);
    case 'n':
        c->target.newest = 1;
        return 0;
    case 'a':
        c->target.all = 1;
        return 0;
    case 't':
        c->tree = 1;
        return 0;
    case OPT_UNTIL_ALL:
        c->until_all = 1;
        return 0;
    case 'w':
        c->wait = 1;
        return 0;
    case 'f':
        c->follow = 1;
        return 0;
    case 'd':
        return duration("--duration", value, &c->duration_ns);
    case 'l':
        c->log_path = value;
        return 0;
    case OPT_NO_LOG:
        p->no_log = 1;
        return 0;
    case OPT_FORMAT:
        if (strcmp(value, "jsonl") != 0 && strcmp(value, "csv") != 0)
            return bad("--format", value, "write jsonl or csv");
        c->log.format = value[0] == 'c' ? RSSMON_CSV : RSSMON_JSONL;
        return 0;
    case OPT_APPEND:
        c->log.append = 1;
        return 0;
    case OPT_OVERWRITE:
        c->log.overwrite = 1;
        return 0;
    case OPT_SEGMENT_SIZE:
        if (rssmon_parse_size(value, &c->log.segment_bytes) != 0 ||
            c->log.segment_bytes < (64 << 10))
            return bad("--segment-size", value, "not a size of at least 64K");
        return 0;
    case OPT_KEEP_SEGMENTS:
        if (rssmon_parse_u64(value, &c->log.keep_segments) != 0 || c->log.keep_segments == 0)
            return bad("--keep-segments", value, "not a number above 0");
        return 0;
    case OPT_TAG:
        return tag_option(p, value);
    case OPT_ENV:
        return add_tag(p, value, getenv(value) != NULL ? getenv(value) : "");
    case OPT_PLAIN:
        c->plain = stdout;
        c->plain_interval_ns = 1000000000;
        return value != NULL ? duration("--plain", value, &c->plain_interval_ns) : 0;
    case 'q':
        p->quiet = 1;
        return 0;
    case OPT_INTERVAL:
        return duration("--interval", value, &c->interval_ns);
    case OPT_MAX_INTERVAL:
        return duration("--max-interval", value, &c->max_interval_ns);
    case OPT_LOG_INTERVAL:
        return duration("--log-interval", value, &c->log_interval_ns);
    case OPT_PSS:
        c->pss = 1;
        return 0;
    case OPT_GPU:
        c->gpu = 2;
        return 0;
    case OPT_NO_GPU:
        c->gpu = 0;
        return 0;
    case OPT_NVML:
        c->gpu = 2;
        c->gpu_library = value;
        return 0;
    case OPT_FIFO:
        c->marks.fifo = value;
        return 0;
    case OPT_WATCH:
        c->marks.watch = value;
        return 0;
    case OPT_PATTERN:
        c->marks.pattern = value;
        return 0;
    case OPT_PATTERN_BEGIN:
        c->marks.pattern_begin = value;
        return 0;
    case OPT_PATTERN_END:
        c->marks.pattern_end = value;
        return 0;
    case OPT_ACCOUNT:
        c->marks.account = value;
        return 0;
    case OPT_MAX:
        return add_alert(p, "--max", value, 0);
    case OPT_MIN_AVAILABLE:
        return add_alert(p, "--min-available", value, 1);
    case OPT_EXEC:
        return add_action(p, value);
    case OPT_PROC_ROOT:
        c->proc_path = value;
        return 0;
    case OPT_CGROUP_ROOT:
        c->cgroup_mount = value;
        return 0;
    case OPT_KMSG:
        c->kmsg_path = value;
        return 0;
    default:
        fputs("`rssmon record --help` lists the options\n", stderr);
        return RSSMON_EXIT_USAGE;
    }
}

/* Options that contradict each other; the text says which, or is NULL. */
static const char *contradiction(const struct parsed *p)
{
    const struct rssmon_watch_config *c = &p->c;
    const struct rssmon_target *t = &c->target;
    int by_search = t->kind == RSSMON_BY_MATCH || t->kind == RSSMON_BY_EXE;
    if (c->command == NULL && p->targets == 0)
        return "no target: give --pid, --match, --cgroup … or `-- COMMAND`";
    if (p->targets > 1 || (c->command != NULL && p->targets > 0))
        return "more than one target: give one of --pid, --pidfile, --match, --exe, --cgroup, "
               "--unit and `-- COMMAND`";
    if ((t->newest || t->all) && (c->command != NULL || !by_search))
        return "--newest and --all belong to --match and --exe";
    if (t->newest && t->all)
        return "--newest and --all exclude each other";
    if (c->follow && (c->command != NULL || t->kind == RSSMON_BY_PID))
        return "--follow needs a name that outlives the process: --pidfile, --match, --exe, "
               "--cgroup or --unit";
    if (c->wait && (c->command != NULL || (t->kind == RSSMON_BY_PID && p->targets > 0)))
        return c->command != NULL ? "--wait waits for a target that others start; drop it"
                                  : "--wait cannot wait for a PID, which may become anyone's: "
                                    "give --match, --exe, --pidfile, --cgroup or --unit";
    if (c->until_all && !c->tree)
        return "--until-all belongs to --tree";
    if (p->no_log && (c->log_path != NULL || c->log.append || c->log.overwrite))
        return "--no-log excludes --log, --append and --overwrite";
    if (c->log.append && c->log.overwrite)
        return "--append and --overwrite exclude each other";
    if (c->marks.watch == NULL && (c->marks.pattern != NULL || c->marks.pattern_begin != NULL ||
                                   c->marks.pattern_end != NULL))
        return "--pattern… belong to --watch FILE";
    if (c->marks.watch != NULL && c->marks.pattern == NULL && c->marks.pattern_begin == NULL &&
        c->marks.pattern_end == NULL)
        return "--watch needs --pattern, --pattern-begin or --pattern-end";
    if (c->interval_ns != 0 && c->interval_ns < 100000)
        return "--interval: at least 100us";
    if (c->max_interval_ns != 0 && c->max_interval_ns < c->interval_ns)
        return "--max-interval is below --interval";
    return NULL;
}

static int exit_code_of(const struct rssmon_watch_result *r)
{
    int limit = r->limit_crossed ? RSSMON_EXIT_VERDICT : RSSMON_EXIT_OK;
    if (r->command_status < 0)
        return limit;
    if (WIFSIGNALED(r->command_status))
        return 128 + WTERMSIG(r->command_status);
    return WEXITSTATUS(r->command_status) != 0 ? WEXITSTATUS(r->command_status) : limit;
}

static int exit_code_of_status(rssmon_status status, int command)
{
    switch (status) {
    case RSSMON_E_NOT_FOUND:
    case RSSMON_E_GONE:
        return command ? 127 : RSSMON_EXIT_NOT_FOUND;
    case RSSMON_E_PERMISSION:
        return command ? 126 : RSSMON_EXIT_PERMISSION;
    case RSSMON_E_AMBIGUOUS:
        return RSSMON_EXIT_AMBIGUOUS;
    case RSSMON_E_ARGUMENT:
    case RSSMON_E_FORMAT:
        return RSSMON_EXIT_USAGE;
    default:
        return RSSMON_EXIT_IO;
    }
}

int cmd_record(int argc, char **argv)
{
    static struct parsed p;
    struct rssmon_watch_result result;
    struct rssmon_error err;
    int option;
    p = (struct parsed){.c = {.gpu = 1, .tags = p.tags}};
    while ((option = getopt_long(argc, argv, "+p:m:natwfd:l:qhV", options, NULL)) != -1) {
        if (option == 'h') {
            puts(usage);
            return RSSMON_EXIT_OK;
        }
        if (option == 'V') {
            puts("rssmon " CUZK_VERSION);
            return RSSMON_EXIT_OK;
        }
        int rc = option_given(&p, option);
        if (rc != 0)
            return rc;
    }
    if (optind < argc) {
        if (strcmp(argv[optind - 1], "--") != 0)
            return bad("unexpected", argv[optind], "a command to watch follows `--`");
        p.c.command = argv + optind;
    }
    const char *why = contradiction(&p);
    if (why != NULL) {
        fprintf(stderr, "rssmon: %s\n", why);
        return RSSMON_EXIT_USAGE;
    }
    if (p.c.log_path == NULL && !p.no_log)
        p.c.log_path = "rssmon-{name}-{pid}-{time}.log";
    p.c.messages = p.quiet ? NULL : stderr;
    (void)signal(SIGPIPE, SIG_IGN); /* for --plain; a command gets the default back */
    rssmon_protect_self();
    rssmon_status status = rssmon_watch(&p.c, &result, &err);
    if (status != RSSMON_OK) {
        fprintf(stderr, "rssmon: %s\n", err.message);
        /* 127 and 126 are the shell's words for a command that does not run */
        int command = p.c.command != NULL && strstr(err.message, "cannot be executed") != NULL;
        return exit_code_of_status(status, command);
    }
    int code = exit_code_of(&result);
    return code == 0 && result.log_lost > 0 ? RSSMON_EXIT_IO : code;
}
