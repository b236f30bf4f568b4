/* See death.h. */
#include "monitor/death.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "monitor/text.h"

/* linux/pidfd.h of 6.15, of which older headers know nothing; 64 bytes, the ioctl's first version
 */
struct pidfd_info_v0 {
    uint64_t mask, cgroup;
    uint32_t pid, tgid, ppid, ids[8];
    int32_t exit_code;
};
#define PIDFD_INFO_EXIT_BIT (UINT64_C(1) << 3)
#define PIDFD_GET_INFO_V0 _IOWR(0xFF, 11, struct pidfd_info_v0)

int rssmon_pidfd_open(uint64_t pid)
{
    return (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
}

uint64_t rssmon_pidfd_status(int pidfd)
{
    struct pidfd_info_v0 info = {.mask = PIDFD_INFO_EXIT_BIT};
    if (pidfd < 0 || ioctl(pidfd, PIDFD_GET_INFO_V0, &info) != 0 ||
        !(info.mask & PIDFD_INFO_EXIT_BIT))
        return RSSMON_UNKNOWN;
    return (uint32_t)info.exit_code;
}

void rssmon_evidence_begin(struct rssmon_evidence *e, const struct rssmon_proc_root *root,
                           const struct rssmon_cgroup *cg, const char *kmsg_path)
{
    memset(e, 0, sizeof *e);
    e->kmsg = open(kmsg_path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (e->kmsg >= 0)
        (void)lseek(e->kmsg, 0, SEEK_END);
    rssmon_machine_read(&e->before, root);
    rssmon_cgroup_read_events(cg, &e->cg_before);
}

void rssmon_evidence_end(struct rssmon_evidence *e)
{
    if (e->kmsg >= 0)
        close(e->kmsg);
    e->kmsg = -1;
}

/* The number after `key`, or 0. */
static uint64_t after(const char *text, const char *key)
{
    const char *p = strstr(text, key);
    uint64_t v = 0;
    if (p == NULL)
        return 0;
    for (p += strlen(key); *p >= '0' && *p <= '9' && v < UINT64_MAX / 16; p++)
        v = v * 10 + (uint64_t)(*p - '0');
    return v;
}

int rssmon_evidence_line(struct rssmon_evidence *e, const char *text)
{
    static const char killed[] = "Killed process ";
    const char *p = strstr(text, "oom-kill:");
    if (p != NULL) {
        struct rssmon_kill *k = &e->partial;
        memset(k, 0, sizeof *k);
        k->in_cgroup = strstr(p, "constraint=CONSTRAINT_MEMCG") != NULL;
        k->pid = after(p, ",pid=");
        const char *cg = strstr(p, "oom_memcg=");
        if (cg != NULL)
            (void)snprintf(k->cgroup, sizeof k->cgroup, "%.*s", (int)strcspn(cg + 10, ",\n"),
                           cg + 10);
        return 0;
    }
    p = strstr(text, killed);
    if (p == NULL)
        return 0;
    struct rssmon_kill k = {0};
    uint64_t pid = after(p, killed);
    if (pid == 0)
        return 0;
    if (e->partial.pid == pid)
        k = e->partial;
    k.pid = pid;
    k.in_cgroup |= strstr(text, "Memory cgroup out of memory") != NULL;
    const char *open = strchr(p, '('), *close = strstr(p, ") total-vm");
    if (open != NULL && close != NULL && close > open)
        (void)snprintf(k.name, sizeof k.name, "%.*s", (int)(close - open - 1), open + 1);
    (void)snprintf(k.line, sizeof k.line, "%.*s", (int)strcspn(text, "\n"), text);
    e->kills[e->kill_count++ % RSSMON_KILLS] = k;
    memset(&e->partial, 0, sizeof e->partial);
    return 1;
}

unsigned rssmon_evidence_poll(struct rssmon_evidence *e)
{
    char text[8192];
    unsigned found = 0;
    if (e->kmsg < 0)
        return 0;
    /* one read is one record of /dev/kmsg; a test's file comes in larger pieces */
    for (int reads = 0; reads < 100000; reads++) {
        ssize_t n = read(e->kmsg, text, sizeof text - 1);
        if (n < 0 && (errno == EINTR || errno == EPIPE)) /* EPIPE: records were overwritten */
            continue;
        if (n <= 0)
            break;
        text[n] = '\0';
        for (char *line = text; line != NULL && *line != '\0';) {
            char *nl = strchr(line, '\n');
            if (nl != NULL)
                *nl = '\0';
            const char *body = strchr(line, ';');
            if (line[0] != ' ' && body != NULL)
                found += (unsigned)rssmon_evidence_line(e, body + 1);
            line = nl != NULL ? nl + 1 : NULL;
        }
    }
    return found;
}

const struct rssmon_kill *rssmon_evidence_kill_of(const struct rssmon_evidence *e, uint64_t pid)
{
    uint64_t n = e->kill_count < RSSMON_KILLS ? e->kill_count : RSSMON_KILLS;
    for (uint64_t i = 0; i < n; i++)
        if (e->kills[i].pid == pid)
            return &e->kills[i];
    return NULL;
}

static uint64_t rise(uint64_t before, uint64_t now)
{
    return before == RSSMON_UNKNOWN || now == RSSMON_UNKNOWN ? RSSMON_UNKNOWN
           : now > before                                    ? now - before
                                                             : 0;
}

static void say_counter(struct rssmon_text *t, const char *name, uint64_t delta)
{
    rssmon_text_string(t, "; ");
    rssmon_text_string(t, name);
    if (delta == RSSMON_UNKNOWN) {
        rssmon_text_string(t, " cannot be read");
    } else if (delta == 0) {
        rssmon_text_string(t, " did not move");
    } else {
        rssmon_text_string(t, " rose by ");
        rssmon_text_u64(t, delta);
    }
}

static void name_victim(struct rssmon_death *d, const struct rssmon_kill *k)
{
    d->victim_pid = k->pid;
    (void)snprintf(d->victim, sizeof d->victim, "%s", k->name);
}

void rssmon_death_judge(struct rssmon_death *d, const struct rssmon_evidence *e, uint64_t status,
                        const char *status_source, const uint64_t *pids, size_t pid_count,
                        const struct rssmon_machine *machine, const struct rssmon_cgroup *cg,
                        const struct rssmon_cgroup_events *cg_now)
{
    struct rssmon_text t;
    memset(d, 0, sizeof *d);
    rssmon_text_init(&t, d->evidence, sizeof d->evidence);
    d->kind = "unknown";
    d->code = RSSMON_UNKNOWN;
    uint64_t cg_rise = rise(e->cg_before.oom_kill, cg_now->oom_kill);
    uint64_t vm_rise = rise(e->before.oom_kill, machine->oom_kill);
    int moved =
        (cg_rise != RSSMON_UNKNOWN && cg_rise > 0) || (vm_rise != RSSMON_UNKNOWN && vm_rise > 0);
    if (status == RSSMON_UNKNOWN) {
        rssmon_text_string(&t, "its exit status could not be had: the parent has not reaped it, or "
                               "this kernel tells it to the parent alone");
    } else if (WIFEXITED((int)status)) {
        d->kind = "exit";
        d->code = (uint64_t)WEXITSTATUS((int)status);
        rssmon_text_string(&t, "exit code ");
        rssmon_text_u64(&t, d->code);
        rssmon_text_string(&t, " from the ");
        rssmon_text_string(&t, status_source);
    } else {
        d->kind = "signal";
        d->code = (uint64_t)WTERMSIG((int)status);
        rssmon_text_string(&t, "signal ");
        rssmon_text_u64(&t, d->code);
        rssmon_text_string(&t, " from the ");
        rssmon_text_string(&t, status_source);
    }
    int may_be_kernel =
        status == RSSMON_UNKNOWN || (WIFSIGNALED((int)status) && WTERMSIG((int)status) == SIGKILL);
    const struct rssmon_kill *own = pid_count > 0 ? rssmon_evidence_kill_of(e, pids[0]) : NULL;
    const struct rssmon_kill *other = NULL;
    for (size_t i = 1; own == NULL && other == NULL && i < pid_count; i++)
        other = rssmon_evidence_kill_of(e, pids[i]);
    if (may_be_kernel && own != NULL) {
        d->kind = own->in_cgroup ? "oom_cgroup" : "oom_kernel";
        d->code = SIGKILL;
        name_victim(d, own);
        rssmon_text_string(&t, "; kernel log: ");
        rssmon_text_string(&t, own->line);
        if (own->cgroup[0] != '\0') {
            rssmon_text_string(&t, " (limit of cgroup ");
            rssmon_text_string(&t, own->cgroup);
            rssmon_text_string(&t, ")");
        }
    } else if (may_be_kernel && e->kmsg < 0 && moved && other == NULL) {
        /* the log is closed to us: the counters speak, which name nobody */
        d->kind = cg_rise != RSSMON_UNKNOWN && cg_rise > 0 ? "oom_cgroup" : "oom_kernel";
        d->code = SIGKILL;
        rssmon_text_string(&t, "; the kernel log cannot be read, so the victim is not named");
        if (cg_rise != RSSMON_UNKNOWN && cg_rise > 0 && cg_now->oom != RSSMON_UNKNOWN &&
            rise(e->cg_before.oom, cg_now->oom) == 0) {
            d->kind = "oom_kernel";
            rssmon_text_string(&t, "; the cgroup's own limit was not met");
        }
    } else if (other != NULL) {
        name_victim(d, other);
        rssmon_text_string(&t, "; a process of the tree was killed by the kernel's OOM killer, "
                               "kernel log: ");
        rssmon_text_string(&t, other->line);
    } else if (may_be_kernel && status != RSSMON_UNKNOWN &&
               (e->kmsg >= 0 || (!moved && (cg_rise == 0 || vm_rise == 0)))) {
        rssmon_text_string(&t, "; not the kernel's OOM killer, so SIGKILL came from elsewhere (a "
                               "user, a service manager, earlyoom or systemd-oomd)");
    }
    if (may_be_kernel || moved) {
        if (cg->version != 0)
            say_counter(&t, "the cgroup's oom_kill", cg_rise);
        say_counter(&t, "the machine's oom_kill", vm_rise);
        if (e->kmsg < 0)
            rssmon_text_string(&t, "; the kernel log cannot be read");
        else if (own == NULL && other == NULL)
            rssmon_text_string(&t, "; the kernel log names none of these processes");
    }
}
