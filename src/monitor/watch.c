/* The loop of watch.h: finding or starting the target, waiting, gaps, signals, generations. */
#include "monitor/watch.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "monitor/mem.h"
#include "monitor/text.h"
#include "monitor/watch_state.h"

enum { MATCHES_MAX = 4096 };

/* ---- the log's name and header ---- */

static void put_clean(struct rssmon_text *t, const char *s)
{
    for (; *s != '\0'; s++) {
        int plain = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') ||
                    (*s >= '0' && *s <= '9') || strchr("._-+=", *s) != NULL;
        rssmon_text_bytes(t, plain ? s : "_", 1);
    }
}

int rssmon_log_name(const char *template, const char *name, uint64_t pid, int64_t wall_ns,
                    const char *host, const struct rssmon_name_value *tags, size_t tag_count,
                    char *out, size_t capacity)
{
    struct rssmon_text t;
    rssmon_text_init(&t, out, capacity);
    for (const char *p = template; *p != '\0'; p++) {
        const char *end = *p == '{' ? strchr(p, '}') : NULL;
        if (end == NULL) {
            rssmon_text_bytes(&t, p, 1);
            continue;
        }
        char word[80];
        size_t n = (size_t)(end - p - 1);
        if (n >= sizeof word)
            return -1;
        memcpy(word, p + 1, n);
        word[n] = '\0';
        p = end;
        if (strcmp(word, "name") == 0) {
            put_clean(&t, name);
        } else if (strcmp(word, "pid") == 0) {
            rssmon_text_u64(&t, pid);
        } else if (strcmp(word, "host") == 0) {
            put_clean(&t, host);
        } else if (strcmp(word, "time") == 0) {
            char text[32];
            struct tm local;
            time_t seconds = (time_t)(wall_ns / 1000000000);
            (void)localtime_r(&seconds, &local);
            (void)strftime(text, sizeof text, "%Y%m%dT%H%M%S", &local);
            rssmon_text_string(&t, text);
        } else if (strcmp(word, "tag") == 0) {
            for (size_t i = 0; i < tag_count; i++) {
                if (i > 0)
                    rssmon_text_string(&t, "-");
                put_clean(&t, tags[i].name);
                put_clean(&t, tags[i].value);
            }
            if (tag_count == 0)
                rssmon_text_string(&t, "none");
        } else if (strncmp(word, "tag:", 4) == 0) {
            size_t i = 0;
            while (i < tag_count && strcmp(tags[i].name, word + 4) != 0)
                i++;
            put_clean(&t, i < tag_count ? tags[i].value : "none");
        } else {
            return -1;
        }
    }
    return t.overflow ? -1 : 0;
}

static void random_id(char out[17])
{
    uint64_t v = 0;
    if (getrandom(&v, sizeof v, GRND_NONBLOCK) != (ssize_t)sizeof v) {
        struct timespec ts;
        clock_gettime(CLOCK_REALTIME, &ts);
        v = (uint64_t)ts.tv_nsec << 32 ^ (uint64_t)ts.tv_sec << 8 ^ (uint64_t)getpid();
    }
    (void)snprintf(out, 17, "%016" PRIx64, v);
}

static uint64_t utc_offset(int64_t wall_ns)
{
    struct tm local;
    time_t seconds = (time_t)(wall_ns / 1000000000);
    (void)localtime_r(&seconds, &local);
    return (uint64_t)(local.tm_gmtoff + 86400);
}

/* Opens the log. name, exe and command describe the target; pid 0 for a cgroup. */
static rssmon_status open_log(struct watch *w, const char *name, const char *exe,
                              const char *command, struct rssmon_error *err)
{
    char id[17], ns[64] = "", own_ns[64] = "", path[64], counter[16];
    const struct rssmon_watch_config *c = w->c;
    struct rssmon_record r;
    if (c->log_path == NULL)
        return RSSMON_OK;
    if (rssmon_log_name(c->log_path, name, w->pid, w->now.wall, w->system.host, c->tags,
                        c->tag_count, w->result->log_path, sizeof w->result->log_path) != 0)
        return rssmon_fail(err, RSSMON_E_ARGUMENT,
                           "--log %s: too long, or a placeholder other than {name} {pid} {time} "
                           "{host} {tag} {tag:NAME}",
                           c->log_path);
    rssmon_record_init(&r, RSSMON_HEADER);
    r.wall_ns = w->base.wall;
    struct rssmon_header *h = &r.u.header;
    random_id(id);
    h->version = RSSMON_LOG_VERSION;
    h->tool = "rssmon " CUZK_VERSION;
    h->log_id = id;
    h->segment = 1;
    h->unit = "bytes";
    h->kernel = w->system.kernel;
    h->arch = w->system.arch;
    h->host = w->system.host;
    h->boot_id = w->system.boot_id;
    h->cpus = w->system.cpus;
    h->page_size = w->system.page_size;
    h->mem_total = w->system.mem_total;
    h->swap_total = w->system.swap_total;
    h->mono_ns = (uint64_t)w->base.mono;
    h->boot_ns = (uint64_t)w->base.boot;
    h->utc_offset_s = utc_offset(w->base.wall);
    h->scope = w->cgroup_scope ? "cgroup" : w->tree.descend || c->target.all ? "tree" : "process";
    h->name = name;
    if (w->pid != 0) {
        h->pid = w->pid;
        h->start_ticks = w->start_ticks;
        if (w->tree.count > 0)
            h->uid = w->tree.members[0]->p.s.uid;
        (void)snprintf(path, sizeof path, "%" PRIu64 "/ns/pid", w->pid);
        ssize_t n = readlinkat(w->root.fd, path, ns, sizeof ns - 1);
        ns[n > 0 ? n : 0] = '\0';
        n = readlinkat(w->root.fd, "self/ns/pid", own_ns, sizeof own_ns - 1);
        own_ns[n > 0 ? n : 0] = '\0';
        if (ns[0] != '\0' && strcmp(ns, own_ns) != 0)
            h->pid_namespace = ns;
    }
    h->exe = exe != NULL && exe[0] != '\0' ? exe : NULL;
    h->command = command != NULL && command[0] != '\0' ? command : NULL;
    if (w->cgroup.version != 0) {
        h->cgroup = w->cgroup.path;
        h->cgroup_version = (uint64_t)w->cgroup.version;
    }
    h->monitor_pid = (uint64_t)getpid();
    h->control = rssmon_marks_control(w->marks);
    (void)snprintf(counter, sizeof counter, "%s", w->cgroup_scope ? "cgroup" : "statm");
    h->counter = counter;
    uint64_t threads = w->tree.count > 0 ? w->tree.members[0]->p.stat.threads : 1;
    h->error_model =
        rssmon_error_model(w->system.version_major, w->system.version_minor, w->system.cpus,
                           threads, w->system.page_size, &h->error_bytes);
    h->interval_us = (uint64_t)(c->interval_ns != 0 ? c->interval_ns : 1000000) / 1000;
    h->tags = c->tags;
    h->tag_count = c->tag_count;
    return rssmon_log_create(&w->log, w->result->log_path, &c->log, &r, err);
}

/* ---- time ---- */

static void gap(struct watch *w, const char *cause, int64_t from_ns, int64_t length_ns)
{
    struct rssmon_record r;
    rssmon_record_init(&r, RSSMON_GAP);
    r.u.gap.cause = cause;
    r.u.gap.from_ns = from_ns;
    r.u.gap.length_ns = length_ns;
    watch_log(w, &r);
    rssmon_series_break(&w->series);
}

/* Reads the clocks; tells of suspend, of steps of the wall clock, and of deadlines missed. */
static void tick(struct watch *w)
{
    struct rssmon_now before = w->now;
    w->clock->now(w->clock->context, &w->now);
    w->t = w->now.mono - w->base.mono;
    int64_t mono = w->now.mono - before.mono, boot = w->now.boot - before.boot;
    int64_t wall = w->now.wall - before.wall;
    int64_t from = before.mono - w->base.mono;
    if (boot - mono > 100000000)
        gap(w, "suspend", from, boot - mono);
    int64_t step = wall - boot;
    if (step > 500000000 || step < -500000000) {
        struct rssmon_record r;
        rssmon_record_init(&r, RSSMON_GAP);
        r.u.gap.cause = "clock-step";
        r.u.gap.from_ns = from;
        r.u.gap.length_ns = step;
        watch_log(w, &r); /* nothing is missing: the curve goes on */
    }
    int64_t late = w->t - w->due;
    if (late > 1000000000 && late > 10 * w->interval)
        gap(w, w->continued ? "stopped" : "missed-deadline", from, w->t - from);
    w->continued = 0;
}

/* ---- signals and children ---- */

static void reap(struct watch *w)
{
    for (;;) {
        int status;
        struct rusage usage;
        pid_t pid;
        if (!w->launched && w->actions == 0)
            return;
        pid = wait4(-1, &status, WNOHANG, &usage);
        if (pid <= 0)
            return;
        if (w->launched && pid == w->child.pid) {
            w->reaped = 1;
            w->child_status = status;
            w->child_usage = usage;
            continue;
        }
        for (size_t i = 0; i < w->tree.excluded_count; i++)
            if (w->tree.excluded[i] == (uint64_t)pid) {
                w->actions--;
                if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
                    watch_note(w, "alert", "the command of an alert failed",
                               (uint64_t)(unsigned)status);
                w->tree.excluded[i] = 0;
            }
    }
}

static void signal_came(struct watch *w, const struct signalfd_siginfo *s)
{
    int number = (int)s->ssi_signo;
    switch (number) {
    case SIGCHLD:
        return; /* reap() follows in any case */
    case SIGCONT:
        w->continued = 1;
        return;
    case SIGINT:
    case SIGQUIT:
        /* from the terminal the command got it too */
        if (w->launched && s->ssi_code == SI_KERNEL)
            return;
        break;
    case SIGUSR1:
        if (!w->launched) {
            struct rssmon_record r;
            rssmon_record_init(&r, RSSMON_MARK);
            r.u.mark.label = "SIGUSR1";
            r.u.mark.action = "point";
            r.u.mark.source = "signal";
            watch_mark(w, &r);
            return;
        }
        break;
    default:
        break;
    }
    if (w->launched && !w->reaped)
        (void)kill(w->child.pid, number);
    else if (number != SIGUSR2)
        w->stop = 1;
}

static void take_signals(struct watch *w)
{
    struct signalfd_siginfo info[8];
    ssize_t n;
    if (w->signals < 0)
        return;
    while ((n = read(w->signals, info, sizeof info)) > 0)
        for (size_t i = 0; i < (size_t)n / sizeof info[0]; i++)
            signal_came(w, &info[i]);
    reap(w);
}

static void told_mark(void *context, struct rssmon_record *r)
{
    struct watch *w = context;
    if (r->kind == RSSMON_ACCOUNT && !watch_room(w, 600))
        return;
    watch_mark(w, r);
}

static void told_process(void *context, const char *event, const struct rssmon_member *m)
{
    watch_process_record(context, event, m);
}

/* Waits until the deadline or an event. 1 when the root's pidfd says that it is dead. */
static int wait_until(struct watch *w, int64_t deadline_ns)
{
    struct pollfd fds[4];
    unsigned n = 0;
    int pidfd_at = -1;
    if (w->signals >= 0)
        fds[n++] = (struct pollfd){w->signals, POLLIN, 0};
    if (w->pidfd >= 0 && !w->root_dead) {
        pidfd_at = (int)n;
        fds[n++] = (struct pollfd){w->pidfd, POLLIN, 0};
    }
    unsigned marks_at = n;
    if (w->marks != NULL)
        n += rssmon_marks_fds(w->marks, fds + n);
    int rc = w->clock->wait(w->clock->context, fds, n, deadline_ns);
    w->wakeups++;
    if (rc <= 0)
        return 0;
    if (w->signals >= 0 && fds[0].revents != 0)
        take_signals(w);
    for (unsigned i = marks_at; i < n; i++)
        if (fds[i].revents != 0)
            w->marks_ready = 1; /* after the clocks have been read */
    return pidfd_at >= 0 && (fds[pidfd_at].revents & POLLIN) != 0;
}

/* ---- the target ---- */

static int first_of_cgroup(void *context, uint64_t pid)
{
    (void)context;
    (void)pid;
    return 1;
}

static rssmon_status find_once(struct watch *w, struct rssmon_match *found, size_t *count,
                               struct rssmon_error *err)
{
    const struct rssmon_target *t = &w->c->target;
    *count = 0;
    if (t->kind == RSSMON_BY_CGROUP || t->kind == RSSMON_BY_UNIT) {
        rssmon_cgroup_close(&w->cgroup);
        rssmon_status found_group =
            t->kind == RSSMON_BY_CGROUP
                ? rssmon_cgroup_by_path(&w->cgroup, &w->root, t->value, w->c->cgroup_mount, err)
                : rssmon_cgroup_of_unit(&w->cgroup, &w->root, t->value, w->c->cgroup_mount, err);
        if (found_group == RSSMON_OK && rssmon_cgroup_each(&w->cgroup, first_of_cgroup, NULL) != 1)
            return rssmon_fail(err, RSSMON_E_NOT_FOUND,
                               "cgroup %s: there is no process in it; --wait waits for one",
                               w->cgroup.path);
        return found_group;
    }
    rssmon_status status = rssmon_target_find(t, &w->root, found, MATCHES_MAX, count, err);
    /* the last life's zombie is not the next life */
    if (status == RSSMON_OK && w->generation > 0 && found[0].pid == w->pid &&
        found[0].start_ticks == w->start_ticks)
        return rssmon_fail(err, RSSMON_E_NOT_FOUND, "the old process is still there, dead");
    return status;
}

/* Opens what was found as the tree. */
static rssmon_status attach(struct watch *w, const struct rssmon_match *found, size_t count,
                            struct rssmon_error *err)
{
    rssmon_tree_clear(&w->tree);
    rssmon_tree_init(&w->tree, &w->root);
    w->tree.event = told_process;
    w->tree.context = w;
    w->tree.descend = w->c->tree;
    if (w->cgroup_scope) {
        w->tree.cgroup = &w->cgroup;
        w->tree.descend = 0;
        w->pid = 0;
        w->pidfd = -1;
        return RSSMON_OK;
    }
    w->pid = found[0].pid;
    w->start_ticks = found[0].start_ticks;
    w->pidfd = w->root.real ? rssmon_pidfd_open(w->pid) : -1;
    rssmon_status status = rssmon_tree_add(&w->tree, w->pid, w->start_ticks, err);
    if (status != RSSMON_OK) {
        if (w->pidfd >= 0)
            close(w->pidfd);
        w->pidfd = -1;
        return status;
    }
    for (size_t i = 1; i < count; i++) {
        status = rssmon_tree_add(&w->tree, found[i].pid, found[i].start_ticks, err);
        if (status == RSSMON_E_MEMORY)
            return status;
    }
    /* a process without a memory cgroup is watched all the same */
    rssmon_cgroup_close(&w->cgroup);
    if (rssmon_cgroup_of(&w->cgroup, &w->root, w->pid, w->c->cgroup_mount, NULL) != RSSMON_OK)
        w->cgroup.version = 0;
    return RSSMON_OK;
}

/* Finds the target, waiting for it where that is wanted. END when a signal came first. */
static rssmon_status find_target(struct watch *w, int wait, struct rssmon_error *err)
{
    struct rssmon_match *found = rssmon_calloc(MATCHES_MAX, sizeof *found);
    size_t count;
    if (found == NULL)
        return rssmon_fail(err, RSSMON_E_MEMORY, "no memory to look for the target");
    int told = 0;
    rssmon_status status;
    for (;;) {
        status = find_once(w, found, &count, err);
        if (status == RSSMON_OK)
            status = attach(w, found, count, err);
        if (!wait || (status != RSSMON_E_NOT_FOUND && status != RSSMON_E_GONE))
            break;
        if (!told && w->c->messages != NULL)
            fprintf(w->c->messages, "rssmon: waiting for the target\n");
        told = 1;
        if (w->signals >= 0)
            take_signals(w);
        if (w->stop || (w->c->duration_ns != 0 && w->log != NULL && w->t >= w->c->duration_ns)) {
            status = RSSMON_END;
            break;
        }
        w->clock->now(w->clock->context, &w->now);
        w->t = w->now.mono - w->base.mono;
        (void)wait_until(w, w->now.mono + 50000000);
    }
    rssmon_free(found);
    return status;
}

/* Forks the command, opens the log, lets it go. */
static rssmon_status start_command(struct watch *w, const sigset_t *mask, struct rssmon_error *err)
{
    char joined[1024];
    struct rssmon_text t;
    char *const *argv = w->c->command;
    /* what a daemon leaves behind by a double fork becomes our child, and so stays in the tree */
    if (w->c->tree)
        (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    rssmon_status status = rssmon_launch(&w->child, argv, mask, err);
    if (status != RSSMON_OK)
        return status;
    w->launched = 1;
    w->pid = (uint64_t)w->child.pid;
    rssmon_text_init(&t, joined, sizeof joined);
    for (size_t i = 0; argv[i] != NULL; i++) {
        if (i > 0)
            rssmon_text_string(&t, " ");
        rssmon_text_string(&t, argv[i]);
    }
    const char *base = strrchr(argv[0], '/');
    struct rssmon_match self = {w->pid, 0};
    status = attach(w, &self, 1, err);
    if (status == RSSMON_OK) {
        w->start_ticks = w->tree.members[0]->p.start_ticks;
        status = open_log(w, base != NULL ? base + 1 : argv[0], NULL, joined, err);
    }
    if (status != RSSMON_OK) {
        rssmon_launch_cancel(&w->child);
        w->launched = 0;
        return status;
    }
    struct rusage own;
    w->before_exec = getrusage(RUSAGE_SELF, &own) == 0 ? (uint64_t)own.ru_maxrss * 1024 : 0;
    status = rssmon_launch_go(&w->child, argv[0], err);
    if (status != RSSMON_OK) {
        struct stat st;
        w->launched = 0;
        /* nothing ran: no log of it */
        if (w->log != NULL && !w->c->log.append && lstat(w->result->log_path, &st) == 0 &&
            S_ISREG(st.st_mode))
            (void)unlink(w->result->log_path);
        return status;
    }
    /* seen anew after exec: names, and a high water mark that is the command's own */
    rssmon_tree_clear(&w->tree);
    rssmon_tree_init(&w->tree, &w->root);
    w->tree.event = told_process;
    w->tree.context = w;
    w->tree.descend = w->c->tree;
    w->tree.adopt = w->c->tree;
    if (rssmon_tree_add(&w->tree, w->pid, 0, NULL) != RSSMON_OK)
        w->tree.count = 0; /* over already: the wait status will tell */
    return RSSMON_OK;
}

static void begin_generation(struct watch *w)
{
    watch_reset_figures(w);
    w->generation++;
    w->result->generations++;
    rssmon_evidence_begin(&w->evidence, &w->root, &w->cgroup,
                          w->c->kmsg_path != NULL ? w->c->kmsg_path : "/dev/kmsg");
    if (w->generation > 1) {
        struct rssmon_record r;
        rssmon_record_init(&r, RSSMON_GENERATION);
        r.u.generation.generation = w->generation;
        if (!w->cgroup_scope) {
            r.u.generation.pid = w->pid;
            r.u.generation.start_ticks = w->start_ticks;
            r.u.generation.exe = w->tree.members[0]->p.exe;
            r.u.generation.command = w->tree.members[0]->p.command;
        }
        watch_log(w, &r);
    }
    w->pids[0] = w->pid;
    w->pid_count = 1;
    for (size_t i = 0; i < w->tree.count; i++) {
        struct rssmon_member *m = w->tree.members[i];
        m->fresh = 0;
        if (i == 0)
            w->pid_count = 0;
        watch_process_record(w, "start", m);
    }
}

/* Whether what is watched has ended. */
static int ended(struct watch *w)
{
    if (w->cgroup_scope) {
        if (w->cg.current == RSSMON_UNKNOWN && w->cg.anon == RSSMON_UNKNOWN && w->looks > 0)
            return 1; /* its folder is gone */
        /* looked at again: the last process may have forked before it went */
        return w->tree.count == 0 && rssmon_tree_refresh(&w->tree, NULL) == RSSMON_OK &&
               w->tree.count == 0;
    }
    int root_dead = w->root_dead || (w->launched && w->reaped);
    if (w->tree.count == 0 || w->tree.members[0]->p.pid != w->pid)
        root_dead = 1;
    else if (!w->launched)
        root_dead |= w->tree.members[0]->p.life == RSSMON_LIFE_GONE ||
                     w->tree.members[0]->p.life == RSSMON_LIFE_ZOMBIE;
    if (!root_dead || (!w->c->until_all && !w->c->target.all))
        return root_dead;
    /* whoever it left behind is our child by now, if it was started by us: look once more */
    (void)rssmon_tree_refresh(&w->tree, NULL);
    for (size_t i = 0; i < w->tree.count; i++)
        if (w->tree.members[i]->p.pid != w->pid &&
            (rssmon_life_measured(w->tree.members[i]->p.life) ||
             w->tree.members[i]->p.life == RSSMON_LIFE_EXITING))
            return 0;
    return !w->launched || w->reaped;
}

/* From the first look to the verdict. */
static void run_generation(struct watch *w)
{
    int over = 0;
    int marks_files = w->c->marks.watch != NULL || w->c->marks.account != NULL;
    begin_generation(w);
    while (!over && !w->stop) {
        tick(w);
        w->due = w->t;
        if (w->marks_ready || (marks_files && w->t >= w->marks_due)) {
            rssmon_marks_poll(w->marks);
            w->marks_due = w->t + 100000000;
            w->marks_ready = 0;
        }
        watch_look(w);
        watch_sample(w);
        over = ended(w);
        if (w->c->duration_ns != 0 && w->t - w->begin_ns >= w->c->duration_ns)
            break;
        if (over)
            break;
        w->due = w->t + w->interval;
        w->root_dead |= wait_until(w, w->base.mono + w->due);
    }
    if (over && w->launched && !w->reaped) { /* dead, not yet reaped: no long wait */
        for (int i = 0; i < 2000 && !w->reaped; i++) {
            struct rssmon_now now;
            reap(w);
            w->clock->now(w->clock->context, &now);
            if (!w->reaped)
                (void)w->clock->wait(w->clock->context, NULL, 0, now.mono + 1000000);
        }
    }
    if (w->marks != NULL)
        rssmon_marks_poll(w->marks);
    if (over) /* who is left behind, and lives on */
        for (size_t i = 0; i < w->tree.count; i++)
            if (w->tree.members[i]->p.pid != w->pid &&
                rssmon_life_measured(w->tree.members[i]->p.life))
                watch_process_record(w, "left", w->tree.members[i]);
    watch_verdict(w, !over);
    rssmon_evidence_end(&w->evidence);
    if (w->pidfd >= 0)
        close(w->pidfd);
    w->pidfd = -1;
}

static void block_signals(struct watch *w, sigset_t *old)
{
    static const int taken[] = {SIGINT,  SIGQUIT, SIGTERM, SIGHUP,
                                SIGUSR1, SIGUSR2, SIGCHLD, SIGCONT};
    sigset_t set;
    sigemptyset(&set);
    if (w->clock != &rssmon_real_clock) { /* a test's: signals stay as they are */
        (void)pthread_sigmask(SIG_BLOCK, &set, old);
        return;
    }
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        sigaddset(&set, taken[i]);
    (void)pthread_sigmask(SIG_BLOCK, &set, old);
    w->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

rssmon_status rssmon_watch(const struct rssmon_watch_config *config,
                           struct rssmon_watch_result *result, struct rssmon_error *err)
{
    sigset_t old;
    memset(result, 0, sizeof *result);
    result->command_status = -1;
    struct watch *w = rssmon_calloc(1, sizeof *w);
    if (w == NULL)
        return rssmon_fail(err, RSSMON_E_MEMORY, "no memory for the watch's state");
    w->c = config;
    w->result = result;
    w->clock = config->clock != NULL ? config->clock : &rssmon_real_clock;
    w->pidfd = w->signals = -1;
    w->root.fd = -1;
    w->evidence.kmsg = -1;
    w->cgroup.phase_peak = -1;
    w->cgroup_scope = config->command == NULL && (config->target.kind == RSSMON_BY_CGROUP ||
                                                  config->target.kind == RSSMON_BY_UNIT);
    block_signals(w, &old);
    rssmon_status status = rssmon_proc_open_root(
        &w->root, config->proc_path != NULL ? config->proc_path : "/proc", err);
    if (status != RSSMON_OK)
        goto out;
    rssmon_tree_init(&w->tree, &w->root);
    w->clock->now(w->clock->context, &w->base);
    w->now = w->base;
    watch_reset_figures(w);
    rssmon_system_read(&w->system, &w->root);
    status = rssmon_marks_open(&w->marks, &config->marks, told_mark, w, err);
    if (status != RSSMON_OK)
        goto out;
    if (config->gpu) {
        struct rssmon_error why;
        rssmon_status found = rssmon_gpu_open(&w->gpu, config->gpu_library, &why);
        if (found != RSSMON_OK && config->gpu > 1 && config->messages != NULL)
            fprintf(config->messages, "rssmon: %s\n", why.message);
    }
    if (config->command != NULL) {
        status = start_command(w, &old, err);
    } else {
        status = find_target(w, config->wait, err);
        w->clock->now(w->clock->context, &w->base); /* t = 0 when the target is there */
        w->now = w->base;
        w->t = 0;
        watch_reset_figures(w);
        if (status == RSSMON_OK) {
            const char *slash = strrchr(w->cgroup.path, '/');
            if (w->cgroup_scope)
                status = open_log(w, slash != NULL && slash[1] != '\0' ? slash + 1 : "root", NULL,
                                  NULL, err);
            else
                status = open_log(w, w->tree.members[0]->p.stat.comm, w->tree.members[0]->p.exe,
                                  w->tree.members[0]->p.command, err);
        }
    }
    if (status == RSSMON_END) /* a signal, before the target was there */
        status = rssmon_fail(err, RSSMON_E_NOT_FOUND, "ended by a signal while waiting");
    if (status != RSSMON_OK)
        goto out;
    for (;;) {
        run_generation(w);
        if (!config->follow || w->stop || (config->duration_ns != 0 && w->t >= config->duration_ns))
            break;
        status = find_target(w, 1, err);
        w->clock->now(w->clock->context, &w->now);
        w->t = w->now.mono - w->base.mono;
        w->due = w->t;
        if (status == RSSMON_END)
            status = RSSMON_OK;
        if (status != RSSMON_OK || w->stop || w->tree.count == 0)
            break;
    }
    if (w->launched)
        result->command_status = w->reaped ? w->child_status : -1;
out:
    rssmon_tree_clear(&w->tree);
    rssmon_cgroup_close(&w->cgroup);
    rssmon_marks_close(w->marks);
    rssmon_gpu_close(w->gpu);
    rssmon_log_close(w->log);
    rssmon_proc_close_root(&w->root);
    if (w->signals >= 0)
        close(w->signals);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    rssmon_free(w);
    return status;
}
