/* See launch.h. */
#include "monitor/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static char old_score[16]; /* oom_score_adj before rssmon_protect_self; empty when unchanged */

static int write_score(const char *score)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n = write(fd, score, strlen(score));
    close(fd);
    return n < 0 ? -1 : 0;
}

void rssmon_protect_self(void)
{
    char score[sizeof old_score];
    int fd = open("/proc/self/oom_score_adj", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, score, sizeof score - 1) : -1;
    if (fd >= 0)
        close(fd);
    if (n > 0) {
        score[n] = '\0';
        if (write_score("-900") == 0)
            memcpy(old_score, score, sizeof score);
    }
    (void)mlockall(MCL_CURRENT); /* refused by a low RLIMIT_MEMLOCK, and then it is as it was */
}

static void restore_for_exec(const sigset_t *mask)
{
    if (old_score[0] != '\0')
        (void)write_score(old_score);
    static const int ignored[] = {SIGINT, SIGQUIT, SIGPIPE};
    for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
        (void)signal(ignored[i], SIG_DFL);
    (void)sigprocmask(SIG_SETMASK, mask, NULL);
}

/* Whether PATH holds a file of that name, executable or not; yes for a name with a slash. */
static int in_path(const char *name)
{
    char path[4096];
    const char *p = getenv("PATH");
    if (strchr(name, '/') != NULL)
        return 1;
    for (; p != NULL && *p != '\0'; p += strcspn(p, ":"), p += *p == ':') {
        int n = (int)strcspn(p, ":");
        if (snprintf(path, sizeof path, "%.*s/%s", n, p, name) < (int)sizeof path &&
            access(path, F_OK) == 0)
            return 1;
    }
    return 0;
}

rssmon_status rssmon_launch(struct rssmon_child *child, char *const *argv, const sigset_t *mask,
                            struct rssmon_error *err)
{
    int go[2], failed[2];
    if (pipe2(go, O_CLOEXEC) != 0)
        return rssmon_fail(err, RSSMON_E_IO, "cannot make a pipe: %s", strerror(errno));
    if (pipe2(failed, O_CLOEXEC) != 0) {
        rssmon_fail(err, RSSMON_E_IO, "cannot make a pipe: %s", strerror(errno));
        close(go[0]);
        close(go[1]);
        return RSSMON_E_IO;
    }
    pid_t pid = fork();
    if (pid == 0) {
        char byte;
        close(go[1]);
        restore_for_exec(mask);
        if (read(go[0], &byte, 1) != 1)
            _exit(125);
        execvp(argv[0], argv);
        int error = errno;
        if (error == EACCES && !in_path(argv[0]))
            error = ENOENT; /* a folder of PATH was closed to us; the command is nowhere */
        if (write(failed[1], &error, sizeof error) < 0)
            _exit(126);
        _exit(127);
    }
    close(go[0]);
    close(failed[1]);
    if (pid < 0) {
        rssmon_fail(err, RSSMON_E_IO, "cannot start a process: %s", strerror(errno));
        close(go[1]);
        close(failed[0]);
        return RSSMON_E_IO;
    }
    *child = (struct rssmon_child){pid, go[1], failed[0]};
    return RSSMON_OK;
}

static void reap(pid_t pid)
{
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

rssmon_status rssmon_launch_go(struct rssmon_child *child, const char *name,
                               struct rssmon_error *err)
{
    int error = 0;
    ssize_t n;
    if (write(child->go, "g", 1) != 1)
        error = EPIPE;
    close(child->go);
    do
        n = read(child->failed, &error, sizeof error);
    while (n < 0 && errno == EINTR);
    close(child->failed);
    if (n <= 0 && error == 0)
        return RSSMON_OK;
    reap(child->pid);
    return rssmon_fail(err, rssmon_status_of_errno(error),
                       "%s: cannot be executed: %s; is it in PATH and executable?", name,
                       strerror(error));
}

void rssmon_launch_cancel(struct rssmon_child *child)
{
    close(child->go);
    close(child->failed);
    reap(child->pid);
}

pid_t rssmon_run_action(const char *command, char *const *environment)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    sigset_t none;
    sigemptyset(&none);
    restore_for_exec(&none);
    for (char *const *e = environment; *e != NULL; e++)
        (void)putenv(*e);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}
