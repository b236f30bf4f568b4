/* See target.h. */
#include "monitor/target.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "monitor/text.h"

enum { ANCESTORS_MAX = 64, LISTED_MAX = 10 };

struct search {
    const struct rssmon_target *target;
    const struct rssmon_proc_root *root;
    regex_t pattern;
    uint64_t ancestors[ANCESTORS_MAX];
    size_t ancestor_count;
    struct rssmon_match *found;
    size_t capacity, count, matches;
    struct rssmon_text list; /* for the message of an ambiguous match */
};

static int stat_of(const struct rssmon_proc_root *root, uint64_t pid, struct rssmon_stat *stat)
{
    char path[48], text[1024];
    (void)snprintf(path, sizeof path, "%" PRIu64 "/stat", pid);
    ssize_t n = rssmon_proc_read(root, path, text, sizeof text);
    if (n == -EACCES || n == -EPERM)
        return -2;
    return n > 0 ? rssmon_stat_parse(text, (size_t)n, stat) : -1;
}

static void find_ancestors(struct search *s)
{
    struct rssmon_stat stat;
    uint64_t pid = (uint64_t)getpid();
    while (pid > 0 && s->ancestor_count < ANCESTORS_MAX) {
        s->ancestors[s->ancestor_count++] = pid;
        if (stat_of(s->root, pid, &stat) != 0)
            break;
        pid = stat.ppid;
    }
}

static int matches(struct search *s, const char *command, const char *exe, const char *comm)
{
    if (s->target->kind == RSSMON_BY_MATCH)
        return regexec(&s->pattern, command, 0, NULL, 0) == 0 ||
               regexec(&s->pattern, exe, 0, NULL, 0) == 0 ||
               regexec(&s->pattern, comm, 0, NULL, 0) == 0;
    const char *want = s->target->value, *base = strrchr(exe, '/');
    static const char deleted[] = " (deleted)";
    size_t n = strlen(want);
    const char *from = strchr(want, '/') != NULL || base == NULL ? exe : base + 1;
    return strncmp(from, want, n) == 0 && n > 0 &&
           (from[n] == '\0' || strcmp(from + n, deleted) == 0);
}

static int consider(void *context, uint64_t pid)
{
    struct search *s = context;
    struct rssmon_stat stat;
    char command[4096], exe[512];
    for (size_t i = 0; i < s->ancestor_count; i++)
        if (s->ancestors[i] == pid)
            return 0;
    if (stat_of(s->root, pid, &stat) != 0 || (stat.flags & RSSMON_PF_KTHREAD) != 0 ||
        (stat.state == 'Z' && stat.threads <= 1))
        return 0;
    rssmon_proc_command(s->root, pid, command, sizeof command);
    rssmon_proc_exe(s->root, pid, exe, sizeof exe);
    if (!matches(s, command, exe, stat.comm))
        return 0;
    s->matches++;
    if (s->matches <= LISTED_MAX) {
        rssmon_text_string(&s->list, "\n  ");
        rssmon_text_u64(&s->list, pid);
        rssmon_text_string(&s->list, "  ");
        rssmon_text_bytes(&s->list, command, strnlen(command, 90));
    }
    struct rssmon_match m = {pid, stat.start_ticks};
    if (s->target->newest && s->count == 1) {
        if (m.start_ticks > s->found[0].start_ticks ||
            (m.start_ticks == s->found[0].start_ticks && m.pid > s->found[0].pid))
            s->found[0] = m;
    } else if (s->count < s->capacity) {
        s->found[s->count++] = m;
    }
    return 0;
}

static rssmon_status one(const struct rssmon_proc_root *root, uint64_t pid,
                         struct rssmon_match *found, size_t *count, struct rssmon_error *err)
{
    struct rssmon_stat stat;
    int rc = stat_of(root, pid, &stat);
    if (rc == -2)
        return rssmon_fail(
            err, RSSMON_E_PERMISSION,
            "process %" PRIu64 " hides from this user; run rssmon as its owner or as root", pid);
    if (rc != 0)
        return rssmon_fail(err, RSSMON_E_NOT_FOUND,
                           "no process %" PRIu64 "; `ps -p %" PRIu64 "` would show it, and --wait "
                           "waits for a target that is not there yet",
                           pid, pid);
    *found = (struct rssmon_match){pid, stat.start_ticks};
    *count = 1;
    return RSSMON_OK;
}

static rssmon_status from_pidfile(const struct rssmon_target *target,
                                  const struct rssmon_proc_root *root, struct rssmon_match *found,
                                  size_t *count, struct rssmon_error *err)
{
    char text[64];
    uint64_t pid;
    int fd = open(target->value, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    int error = errno;
    if (fd >= 0)
        close(fd);
    if (n < 0)
        return rssmon_fail(err, rssmon_status_of_errno(error),
                           "--pidfile %s: %s; is the daemon running? --wait waits for it",
                           target->value, strerror(error));
    text[n] = '\0';
    text[strspn(text, "0123456789")] = '\0';
    if (rssmon_parse_u64(text, &pid) != 0 || pid == 0)
        return rssmon_fail(err, RSSMON_E_FORMAT, "--pidfile %s: it does not begin with a PID",
                           target->value);
    rssmon_status status = one(root, pid, found, count, err);
    if (status == RSSMON_E_NOT_FOUND)
        rssmon_fail(err, status,
                    "--pidfile %s: it names PID %" PRIu64 ", which does not exist: a stale file; "
                    "--wait waits for the daemon",
                    target->value, pid);
    return status;
}

rssmon_status rssmon_target_find(const struct rssmon_target *target,
                                 const struct rssmon_proc_root *root, struct rssmon_match *found,
                                 size_t capacity, size_t *count, struct rssmon_error *err)
{
    uint64_t pid;
    *count = 0;
    if (target->kind == RSSMON_BY_PID) {
        if (rssmon_parse_u64(target->value, &pid) != 0 || pid == 0 || pid > INT32_MAX)
            return rssmon_fail(err, RSSMON_E_ARGUMENT, "--pid %s: not a PID", target->value);
        return one(root, pid, found, count, err);
    }
    if (target->kind == RSSMON_BY_PIDFILE)
        return from_pidfile(target, root, found, count, err);

    char list[1024];
    const char *option = target->kind == RSSMON_BY_MATCH ? "--match" : "--exe";
    struct search s = {.target = target, .root = root, .found = found, .capacity = capacity};
    rssmon_text_init(&s.list, list, sizeof list);
    if (target->kind == RSSMON_BY_MATCH) {
        int rc = regcomp(&s.pattern, target->value, REG_EXTENDED | REG_NOSUB);
        if (rc != 0) {
            char why[128];
            (void)regerror(rc, &s.pattern, why, sizeof why);
            return rssmon_fail(err, RSSMON_E_ARGUMENT,
                               "--match '%s': not an extended regular expression: %s; put a "
                               "backslash before characters that are meant as they are",
                               target->value, why);
        }
    }
    find_ancestors(&s);
    (void)rssmon_proc_each(root, consider, &s);
    if (target->kind == RSSMON_BY_MATCH)
        regfree(&s.pattern);
    *count = s.count;
    if (s.matches == 0)
        return rssmon_fail(err, RSSMON_E_NOT_FOUND,
                           "%s %s: no process matches (command line, executable and name were "
                           "looked at; rssmon itself, its ancestors and kernel threads are left "
                           "out); --wait waits for one",
                           option, target->value);
    if (s.matches > 1 && !target->newest && !target->all)
        return rssmon_fail(err, RSSMON_E_AMBIGUOUS,
                           "%s %s: %zu processes match; give --newest, --all, or a --pid:%s%s",
                           option, target->value, s.matches, list,
                           s.matches > LISTED_MAX ? "\n  …" : "");
    return RSSMON_OK;
}
