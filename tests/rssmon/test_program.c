/* The program: commands and their exit codes, finding targets, generations, markers, alerts, and
 * errors that name the remedy.
 */
#include "harness.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void in_folder(char *out, size_t size, const char *name)
{
    (void)snprintf(out, size, "%s/%s", test_folder, name);
}

static void write_text(const char *path, const char *text, int flags)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

/* ---- commands ---- */

static void test_exit_codes(void **state)
{
    (void)state;
    static const struct {
        const char *script;
        int code;
    } cases[] = {{"exit 0", 0},
                 {"exit 3", 3},
                 {"exit 255", 255},
                 {"kill -TERM $$", 143},
                 {"kill -KILL $$", 137}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int code = monitor_run(ARGS("-q", "--no-gpu", "--overwrite", "-l", log_path, "--", "sh",
                                    "-c", cases[i].script));
        assert_int_equal(code, cases[i].code);
        struct outcome *o = outcome_read(log_path);
        assert_string_equal(o->death, code > 128 && code != 255 ? "signal" : "exit");
        assert_int_equal(o->verdict.code, code > 128 && code != 255 ? code - 128 : code);
        assert_true(o->verdict.peak != RSSMON_UNKNOWN);
        assert_string_equal(o->name, "sh");
    }
    /* the log has a name of its own when none is given, and there is none after a typo */
    char here[256];
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(test_folder), 0);
    assert_int_equal(monitor_run(ARGS("-q", "--", "no-such-command-anywhere")), 127);
    assert_non_null(strstr(output_of("stderr"), "no-such-command-anywhere"));
    assert_int_equal(monitor_run(ARGS("-q", "-l", "x.log", "--", "/etc/passwd")), 126);
    assert_int_equal(access("x.log", F_OK), -1);
    assert_int_equal(system("test $(ls | grep -c no-such) = 0"), 0);
    assert_int_equal(monitor_run(ARGS("-q", "--no-gpu", "--tag", "j=2", "-l",
                                      "{name}-{tag}-{tag:j}.log", "--", "/bin/true")),
                     0);
    assert_int_equal(access("true-j2-2.log", R_OK), 0);
    assert_int_equal(chdir(here), 0);
}

/* Standard streams pass through; the peak of a command that is over at once is known. */
static void test_pass_through(void **state)
{
    (void)state;
    assert_int_equal(monitor_run(ARGS("-q", "--no-gpu", "-l", log_path, "--", "sh", "-c",
                                      "echo out; echo err >&2")),
                     0);
    assert_string_equal(output_of("stdout"), "out\n");
    assert_string_equal(output_of("stderr"), "err\n");
}

static void test_signals_pass(void **state)
{
    (void)state;
    pid_t m = monitor_start(ARGS("-q", "--no-gpu", "-l", log_path, "--", "sh", "-c",
                                 "trap 'exit 21' TERM; trap 'echo usr' USR1; while :; do sleep "
                                 "0.05; done"));
    nap(500);
    assert_int_equal(kill(m, SIGUSR1), 0);
    nap(300);
    assert_int_equal(kill(m, SIGTERM), 0);
    assert_int_equal(monitor_end(m), 21);
    assert_string_equal(output_of("stdout"), "usr\n");
}

/* The peak is the command's, not what rssmon was before exec; one between two looks is known from
 * the resource usage. */
static void test_short_commands(void **state)
{
    (void)state;
    assert_int_equal(monitor_run(ARGS("-q", "--no-gpu", "-l", log_path, "--", "sleep", "0.3")), 0);
    struct outcome *o = outcome_read(log_path);
    assert_true(o->verdict.peak < 4 * MIB); /* rssmon itself holds twice as much */
    assert_int_equal(monitor_run(ARGS("-q", "--no-gpu", "--overwrite", "-l", log_path, "--", "dd",
                                      "if=/dev/zero", "of=/dev/null", "bs=64M", "count=1")),
                     0);
    o = outcome_read(log_path);
    assert_about(o->verdict.peak, 66 * MIB, 0.05);
}

/* On a terminal: the command has it as its own, and an interrupt typed there reaches the command.
 */
static int on_terminal(const char *script, const char *typed)
{
    char name[64];
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    assert_int_equal(ptsname_r(master, name, sizeof name), 0);
    pid_t m = fork();
    if (m == 0) {
        (void)setsid();
        int slave = open(name, O_RDWR); /* becomes the controlling terminal */
        if (slave < 0)
            _exit(88);
        for (int fd = 0; fd < 3; fd++)
            (void)dup2(slave, fd);
        execl(RSSMON_BINARY, "rssmon", "-q", "--no-gpu", "--overwrite", "-l", log_path, "--", "sh",
              "-c", script, (char *)NULL);
        _exit(89);
    }
    nap(700);
    assert_int_equal(write(master, typed, strlen(typed)), (ssize_t)strlen(typed));
    int code = monitor_end(m);
    close(master);
    return code;
}

static void test_terminal(void **state)
{
    (void)state;
    assert_int_equal(on_terminal("test -t 0 && test -t 1 && test -t 2 && read x && "
                                 "[ \"$x\" = hello ] && exit 7",
                                 "hello\n"),
                     7);
    assert_int_equal(on_terminal("trap 'exit 9' INT; while :; do sleep 0.05; done", "\003"), 9);
    assert_true(outcome_read(log_path)->has_verdict);
}

/* The reader of the plain lines goes: the watch does not. */
static void test_plain_reader_gone(void **state)
{
    (void)state;
    char script[512];
    (void)snprintf(script, sizeof script,
                   RSSMON_BINARY " -q --no-gpu --plain=50ms -l %s -- sleep 1 | head -1 > /dev/null",
                   log_path);
    assert_int_equal(system(script), 0);
    for (int i = 0; i < 100 && !outcome_read(log_path)->has_verdict; i++)
        nap(50);
    struct outcome *o = outcome_read(log_path);
    assert_true(o->has_verdict && o->verdict.duration_ns > 800000000);
}

/* ---- finding ---- */

static int sleeper(const void *name)
{
    (void)prctl(PR_SET_NAME, name);
    touch(10 * MIB, 0);
    target_gate();
    nap(20000);
    return 0;
}

static void test_match(void **state)
{
    (void)state;
    char unique[64];
    (void)snprintf(unique, sizeof unique, "zq%ld", (long)getpid());
    /* the pattern stands in the command lines of rssmon and of its shell: neither is a match */
    char script[512];
    (void)snprintf(script, sizeof script, RSSMON_BINARY " -q -l %s --match %s; exit $?", log_path,
                   unique);
    pid_t shell = fork();
    if (shell == 0) {
        char path[256];
        in_folder(path, sizeof path, "stderr");
        (void)freopen(path, "w", stderr);
        execl("/bin/sh", "sh", "-c", script, (char *)NULL);
        _exit(99);
    }
    assert_int_equal(monitor_end(shell), 3);
    assert_non_null(strstr(output_of("stderr"), "no process matches"));
    assert_non_null(strstr(output_of("stderr"), "--wait"));

    struct target a = target_start(sleeper, unique), b;
    target_wait(&a);
    nap(30);
    b = target_start(sleeper, unique);
    target_wait(&b);
    assert_int_equal(monitor_run(ARGS("-q", "-l", log_path, "--match", unique)), 4);
    char number[32];
    (void)snprintf(number, sizeof number, "\n  %ld ", (long)a.pid);
    assert_non_null(strstr(output_of("stderr"), number));
    assert_non_null(strstr(output_of("stderr"), "--newest"));
    /* newest, all */
    assert_int_equal(monitor_run(ARGS("-q", "--no-gpu", "-l", log_path, "--match", unique,
                                      "--newest", "-d", "300ms")),
                     0);
    struct outcome *o = outcome_read(log_path);
    assert_int_equal(o->header.pid, b.pid);
    assert_string_equal(o->death, "alive");
    assert_int_equal(monitor_run(ARGS("-q", "--no-gpu", "--overwrite", "-l", log_path, "--match",
                                      unique, "--all", "-d", "300ms")),
                     0);
    o = outcome_read(log_path);
    assert_int_equal(o->most_processes, 2);
    assert_true(o->verdict.peak > 20 * MIB);
    (void)kill(a.pid, SIGKILL);
    (void)kill(b.pid, SIGKILL);
    (void)target_end(&a);
    (void)target_end(&b);
}

/* By executable; a name longer than the kernel's 15 bytes matches all the same. */
static void test_long_name(void **state)
{
    (void)state;
    char path[256];
    in_folder(path, sizeof path, "elastic-endpoint-with-a-long-name");
    char copy[600];
    (void)snprintf(copy, sizeof copy, "cp /bin/sleep %s", path);
    assert_int_equal(system(copy), 0);
    pid_t target = fork();
    if (target == 0) {
        execl(path, "x", "20", (char *)NULL);
        _exit(1);
    }
    nap(200);
    assert_int_equal(monitor_run(ARGS("-q", "--no-gpu", "-l", log_path, "--exe",
                                      "elastic-endpoint-with-a-long-name", "-d", "200ms")),
                     0);
    assert_int_equal(monitor_run(ARGS("-q", "--no-gpu", "--overwrite", "-l", log_path, "--match",
                                      "elastic-endpoint-with", "-d", "200ms")),
                     0);
    assert_int_equal(outcome_read(log_path)->header.pid, target);
    (void)kill(target, SIGKILL);
    (void)waitpid(target, NULL, 0);
}

/* ---- waiting, and the next life ---- */

static int daemon_life(const void *argument)
{
    char path[256], number[16];
    in_folder(path, sizeof path, "pidfile");
    (void)snprintf(number, sizeof number, "%ld\n", (long)getpid());
    touch((size_t) * (const int *)argument * MIB, 0);
    write_text(path, number, O_TRUNC);
    nap(700);
    return *(const int *)argument;
}

static void test_follow(void **state)
{
    (void)state;
    char path[256];
    in_folder(path, sizeof path, "pidfile");
    assert_int_equal(monitor_run(ARGS("-q", "-l", log_path, "--pidfile", path)), 3);
    assert_non_null(strstr(output_of("stderr"), "--wait"));
    pid_t m = monitor_start(
        ARGS("-q", "--no-gpu", "-l", log_path, "--pidfile", path, "--wait", "--follow"));
    nap(300);
    static const int sizes[] = {30, 60};
    for (int i = 0; i < 2; i++) {
        struct target t = target_start(daemon_life, &sizes[i]);
        assert_int_equal(WEXITSTATUS(target_end(&t)), sizes[i]);
        nap(300);
    }
    assert_int_equal(kill(m, SIGTERM), 0);
    assert_int_equal(monitor_end(m), 0);
    struct outcome *o = outcome_read(log_path);
    assert_int_equal(o->headers, 1);
    assert_int_equal(outcome_count(o, "generation generation=2"), 1);
    assert_true(outcome_has(o, "death=exit code=30"));
    assert_true(outcome_has(o, "death=exit code=60"));
    assert_int_equal(o->verdict.generation, 2);
    assert_about(o->verdict.peak, 61 * MIB, 0.03);
}

/* ---- markers ---- */

static int phases(const void *unused)
{
    (void)unused;
    char path[256];
    in_folder(path, sizeof path, "app.log");
    target_gate();
    nap(200);
    write_text(path, "12:00 phase synth started\n", O_APPEND);
    nap(250);
    volatile char *p = touch(50 * MIB, 0);
    nap(250);
    untouch(p, 50 * MIB);
    write_text(path, "12:01 phase prove started\n", O_APPEND);
    nap(250);
    touch(100 * MIB, 0);
    nap(250);
    write_text(path, "noise\n12:02 phase prove done\n", O_APPEND);
    nap(250);
    return 0;
}

static void test_markers(void **state)
{
    (void)state;
    char app[256], fifo[256], account[256];
    in_folder(app, sizeof app, "app.log");
    in_folder(fifo, sizeof fifo, "fifo");
    in_folder(account, sizeof account, "account");
    write_text(app, "11:59 phase old started\n", 0); /* before our time */
    struct target t = target_start(phases, NULL);
    target_wait(&t);
    pid_t m = monitor_attach(
        t.pid, ARGS("--watch", app, "--pattern-begin", "phase ([a-z]+) started", "--pattern-end",
                    "phase ([a-z]+) done", "--fifo", fifo, "--account", account));
    target_go(&t);
    assert_int_equal(
        monitor_run(ARGS("mark", "--log", log_path, "--text", "from outside", "a label")), 0);
    write_text(fifo, "point fifo label\tits text\n", 0);
    write_text(account,
               "{\"k\":\"account\",\"w\":1764444000.5,\"total\":123456,\"purposes\":{\"srs\":99}}"
               "\n{\"k\":\"mark\",\"w\":1.0,\"label\":\"from account\",\"action\":\"point\"}\n",
               O_APPEND);
    (void)target_end(&t);
    assert_int_equal(monitor_end(m), 0);
    struct outcome *o = outcome_read(log_path);
    assert_true(
        outcome_has(o, "mark label=a label action=point source=command text=from outside\n"));
    assert_true(outcome_has(o, "mark label=fifo label action=point source=fifo text=its text\n"));
    assert_true(outcome_has(o, "mark label=synth action=begin source=pattern"));
    assert_true(outcome_has(o, "mark label=prove action=end source=pattern"));
    assert_true(outcome_has(o, "account total=123456"));
    assert_true(outcome_has(o, "mark label=from account action=point source=account"));
    assert_false(outcome_has(o, "label=old"));
    assert_int_equal(outcome_count(o, "phase label="), 2);
    /* each phase has its own peak */
    const char *synth = strstr(o->text, "phase label=synth"),
               *prove = strstr(o->text, "phase label=prove");
    assert_non_null(synth);
    assert_non_null(prove);
    assert_about(strtoull(strstr(synth, " peak=") + 6, NULL, 10), 51 * MIB, 0.05);
    assert_about(strtoull(strstr(prove, " peak=") + 6, NULL, 10), 101 * MIB, 0.05);
    assert_int_not_equal(access(fifo, F_OK), 0); /* it took its FIFO away */
    /* a mark for a monitor that is gone */
    assert_int_equal(monitor_run(ARGS("mark", "--log", log_path, "late")), 3);
    assert_non_null(strstr(output_of("stderr"), "complete"));
}

/* ---- alerts, plain lines ---- */

static void test_alert(void **state)
{
    (void)state;
    char fired[256], command[320];
    in_folder(fired, sizeof fired, "fired");
    (void)snprintf(command, sizeof command, "echo $RSSMON_PID $RSSMON_LIMIT >> %s", fired);
    static const int size = 90;
    struct target t = target_start(daemon_life, &size);
    char number[16];
    (void)snprintf(number, sizeof number, "%ld", (long)t.pid);
    pid_t m = monitor_start(ARGS("-q", "--no-gpu", "-l", log_path, "-p", number, "--max", "64M",
                                 "--exec", command, "--plain=200ms"));
    (void)target_end(&t);
    assert_int_equal(monitor_end(m), 1);
    char want[64];
    (void)snprintf(want, sizeof want, "%s %u\n", number, 64u << 20);
    nap(100);
    assert_string_equal(output_of("fired"), want); /* once */
    struct outcome *o = outcome_read(log_path);
    assert_int_equal(outcome_count(o, "alert limit=--max 64M"), 1);
    assert_true(o->verdict.over == 64 * MIB && o->verdict.over_ns > 300000000);
    /* 02:24:19 RSS=90.9 MiB */
    const char *plain = output_of("stdout");
    assert_true(plain[2] == ':' && plain[5] == ':');
    assert_non_null(strstr(plain, " RSS=9"));
    assert_non_null(strstr(plain, " MiB\n"));
}

/* ---- bad input ---- */

static void test_errors(void **state)
{
    (void)state;
    static const struct {
        const char *arguments[8];
        int code;
        const char *says;
    } cases[] = {
        {{"--pid", "999999999", NULL}, 3, "no process 999999999"},
        {{"--pid", "x", NULL}, 2, "not a PID"},
        {{"--pid", "-1", NULL}, 2, "not a PID"},
        {{"--match", "a(", NULL}, 2, "backslash"},
        {{"--pid", "1", "--match", "x", NULL}, 2, "more than one target"},
        {{"--newest", "--pid", "1", NULL}, 2, "--newest"},
        {{"--follow", "--pid", "1", NULL}, 2, "--follow needs a name"},
        {{"--until-all", "--pid", "1", NULL}, 2, "--tree"},
        {{"--append", "--overwrite", "--pid", "1", NULL}, 2, "exclude each other"},
        {{"--max", "lots", "--pid", "1", NULL}, 2, "not a size"},
        {{"--exec", "true", "--pid", "1", NULL}, 2, "--max"},
        {{"--interval", "0", "--pid", "1", NULL}, 2, "not a time above 0"},
        {{"--interval", "1us", "--pid", "1", NULL}, 2, "at least 100us"},
        {{"--format", "xml", "--pid", "1", NULL}, 2, "jsonl or csv"},
        {{"--pattern", "x", "--pid", "1", NULL}, 2, "--watch"},
        {{"--watch", "/tmp/x", "--pattern", "a[", "--pid", "1", NULL}, 2, "backslash"},
        {{"--log", "{nonsense}", "--pid", "1", NULL}, 2, "placeholder"},
        {{"--log", "/nonexistent/a", "--pid", "1", NULL}, 3, "make the folder first"},
        {{"--cgroup", "/no/such", NULL}, 3, "/proc/PID/cgroup"},
        {{"--unit", "no-such-unit", NULL}, 3, "no-such-unit.service"},
        {{"--proc-root", "/nonexistent", "--pid", "1", NULL}, 3, "proc file system"},
        {{"--fifo", "/dev/null", "--pid", "1", NULL}, 6, "FIFO"},
        {{"--no-such-option", NULL}, 2, "--help"},
        {{"no-such-command", NULL}, 2, "follows `--`"},
        {{"record", NULL}, 2, "no target"},
        {{"mark", "x", NULL}, 2, "--log"},
        {{"mark", "--log", "/nonexistent", "x", NULL}, 3, "/nonexistent"},
        {{"mark", "--pid", "999999", "x", NULL}, 3, "still running"},
        {{NULL}, 2, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int code = monitor_run(cases[i].arguments);
        const char *said = output_of("stderr");
        if (code != cases[i].code || strstr(said, cases[i].says) == NULL)
            fail_msg("case %zu (%s %s): exit code %d, said: %s", i, cases[i].arguments[0],
                     cases[i].arguments[0] != NULL ? cases[i].arguments[1] : "", code, said);
    }
    assert_int_equal(monitor_run(ARGS("--help")), 0);
    assert_int_equal(monitor_run(ARGS("record", "--help")), 0);
    assert_non_null(strstr(output_of("stdout"), "--proc-root"));
    assert_int_equal(monitor_run(ARGS("--version")), 0);
    assert_non_null(strstr(output_of("stdout"), "rssmon "));
    write_text(log_path, "something of value\n", 0);
    assert_int_equal(monitor_run(ARGS("-l", log_path, "--pid", "1")), 2);
    assert_non_null(strstr(output_of("stderr"), "--append"));
    assert_string_equal(output_of("a.log"), "something of value\n");
    assert_int_equal(monitor_run(ARGS("-l", log_path, "--append", "--pid", "1")), 2);
    assert_non_null(strstr(output_of("stderr"), "no log of this --format"));
    assert_string_equal(output_of("a.log"), "something of value\n");
    assert_int_equal(monitor_run(ARGS("-ql", log_path, "--overwrite", "--", "true")), 0);
    assert_int_equal(monitor_run(ARGS("-ql", log_path, "--append", "--", "true")), 0);
    assert_int_equal(
        monitor_run(ARGS("-ql", log_path, "--append", "--format", "csv", "--", "true")), 2);
    /* a log that cannot even begin is not left behind */
    char line[800];
    (void)snprintf(line, sizeof line,
                   "cd %s && trap '' XFSZ && ulimit -f 0 && %s -ql new.log -- true 2>/dev/null; "
                   "test $? = 6 -a ! -e new.log",
                   test_folder, RSSMON_BINARY);
    assert_int_equal(system(line), 0);
}

static bool says(const char *command, const char *text)
{
    char line[600], said[4000];
    (void)snprintf(line, sizeof line, "%s %s %s", RSSMON_BINARY, command, log_path);
    FILE *f = popen(line, "r");
    assert_non_null(f);
    size_t n = fread(said, 1, sizeof said - 1, f);
    said[n] = '\0';
    assert_int_equal(pclose(f), 0);
    return strstr(said, text) != NULL;
}

/* A process names itself as it likes: a terminal obeys nothing of it, pictures are drawn, JSON
 * keeps the bytes. And an answer that cannot be written is a failure. */
static void test_hostile_names(void **state)
{
    (void)state;
    static const char *const labels[] = {"x\x1b[31my", "x\xff", "x\xc3",
                                         "x\xc2\x9b"
                                         "31m"};
    char line[800], tag[300];
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        (void)snprintf(tag, sizeof tag, "k=%s", labels[i]);
        assert_int_equal(
            monitor_run(ARGS("-ql", log_path, "--overwrite", "--tag", tag, "--", "true")), 0);
        assert_false(says("report", labels[i]) || says("plot", labels[i]));
        assert_true(says("report", "k=x?") && says("plot", "k=x?"));
        assert_true(says("report --json", i < 3 ? "\\u00" : labels[i]));
        (void)snprintf(line, sizeof line, "plot -o %s/p.svg", test_folder);
        assert_false(says(line, "?"));
    }
    (void)snprintf(line, sizeof line, "plot -o %s/p.png -t '%0150d\xc3\xa9%050d'", test_folder, 0,
                   0);
    assert_false(says(line, "?"));
    (void)snprintf(line, sizeof line, "plot -o %s/p.png -t '%0198d\xc3\xa9%050d'", test_folder, 0,
                   0);
    assert_false(says(line, "?"));
    /* nor does a log take the place of a closed stream, and what is printed there */
    (void)snprintf(line, sizeof line,
                   "%s --overwrite --plain -l %s -- true >&- 2>&-; test $(grep -cv '^{' %s) = 0",
                   RSSMON_BINARY, log_path, log_path);
    assert_int_equal(system(line), 0);
    static const char *const answers[] = {"report", "report --json", "plot", "--help --"};
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        (void)snprintf(line, sizeof line, "%s %s %s > /dev/full 2> /dev/null", RSSMON_BINARY,
                       answers[i], log_path);
        assert_int_equal(WEXITSTATUS(system(line)), 6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        situation(test_exit_codes),    situation(test_pass_through),
        situation(test_signals_pass),  situation(test_short_commands),
        situation(test_terminal),      situation(test_plain_reader_gone),
        situation(test_match),         situation(test_long_name),
        situation(test_follow),        situation(test_markers),
        situation(test_alert),         situation(test_errors),
        situation(test_hostile_names),
    };
    return cmocka_run_group_tests_name("program", tests, NULL, NULL);
}
