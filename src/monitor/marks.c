/* See marks.h. */
#include "monitor/marks.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <regex.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "monitor/log.h"
#include "monitor/mem.h"

enum { LINE_BYTES = 16384, LABEL_BYTES = 200, PATTERNS = 3, READS_A_POLL = 64 };

/* A file that grows, read line by line; survives truncation and replacement. */
struct tail {
    const char *path;
    int fd;
    dev_t device;
    ino_t inode;
    off_t offset;
    int opened_once;
    size_t length;
    int skipping; /* a line longer than the buffer */
    char line[LINE_BYTES];
};

struct rssmon_marks {
    rssmon_marks_told *told;
    void *context;
    int socket, fifo;
    int fifo_made;
    const char *fifo_path;
    char control[64];
    struct tail watch, account, pipe; /* pipe: the FIFO's line buffer */
    regex_t patterns[PATTERNS];
    int compiled[PATTERNS];
    int from_start;
};

int rssmon_mark_parse(char *line, struct rssmon_record *record)
{
    static const char *const actions[] = {"point", "begin", "end"};
    struct rssmon_mark *m = &record->u.mark;
    size_t n = strlen(line);
    while (n > 0 && (line[n - 1] == '\n' || line[n - 1] == '\r' || line[n - 1] == ' '))
        line[--n] = '\0';
    line += strspn(line, " ");
    m->action = actions[0];
    m->text = NULL;
    for (size_t i = 0; i < 3; i++) {
        size_t k = strlen(actions[i]);
        if (strncmp(line, actions[i], k) == 0 && line[k] == ' ') {
            m->action = actions[i];
            line += k;
            line += strspn(line, " ");
            break;
        }
    }
    char *tab = strchr(line, '\t');
    if (tab != NULL) {
        *tab = '\0';
        m->text = tab + 1;
    }
    if (strlen(line) > LABEL_BYTES)
        line[LABEL_BYTES] = '\0';
    m->label = line;
    return line[0] != '\0' ? 0 : -1;
}

static void tell_line(struct rssmon_marks *s, char *line, const char *source)
{
    struct rssmon_record r;
    rssmon_record_init(&r, RSSMON_MARK);
    r.u.mark.source = source;
    if (rssmon_mark_parse(line, &r) == 0)
        s->told(s->context, &r);
}

/* ---- the control socket ---- */

static void open_control(struct rssmon_marks *s)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int on = 1;
    int n = snprintf(s->control, sizeof s->control, "rssmon/%ld", (long)getpid());
    memcpy(to.sun_path + 1, s->control, (size_t)n);
    s->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s->socket < 0 || setsockopt(s->socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0 ||
        bind(s->socket, (struct sockaddr *)&to,
             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)) != 0) {
        if (s->socket >= 0)
            close(s->socket);
        s->socket = -1;
        s->control[0] = '\0';
    }
}

static void poll_control(struct rssmon_marks *s)
{
    char text[4200];
    for (int i = 0; i < READS_A_POLL; i++) {
        union {
            struct cmsghdr header;
            char space[CMSG_SPACE(sizeof(struct ucred))];
        } control;
        struct iovec iov = {text, sizeof text - 1};
        struct msghdr msg = {.msg_iov = &iov,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
        ssize_t n = recvmsg(s->socket, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return;
        struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
        struct ucred from;
        if (c == NULL || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_CREDENTIALS)
            continue;
        memcpy(&from, CMSG_DATA(c), sizeof from);
        if (from.uid != 0 && from.uid != getuid())
            continue; /* others may not write into our log */
        text[n] = '\0';
        tell_line(s, text, "command");
    }
}

/* ---- growing files ---- */

static void feed(struct rssmon_marks *s, struct tail *t, const char *data, size_t n,
                 void (*each)(struct rssmon_marks *, char *line))
{
    for (size_t i = 0; i < n; i++) {
        if (data[i] == '\n') {
            if (!t->skipping) {
                t->line[t->length] = '\0';
                each(s, t->line);
            }
            t->length = 0;
            t->skipping = 0;
        } else if (t->length + 1 < sizeof t->line) {
            t->line[t->length++] = data[i] != '\0' ? data[i] : ' ';
        } else {
            t->skipping = 1;
        }
    }
}

static void follow(struct rssmon_marks *s, struct tail *t,
                   void (*each)(struct rssmon_marks *, char *line))
{
    struct stat st;
    char data[16384];
    if (t->path == NULL)
        return;
    for (int again = 0; again < 2; again++) {
        if (t->fd < 0) {
            t->fd = open(t->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
            if (t->fd < 0 || fstat(t->fd, &st) != 0)
                return;
            t->device = st.st_dev;
            t->inode = st.st_ino;
            /* one that was there before us is read from its end, later ones whole */
            t->offset = t->opened_once || s->from_start ? 0 : st.st_size;
            t->opened_once = 1;
            t->length = 0;
        }
        if (fstat(t->fd, &st) == 0 && st.st_size < t->offset)
            t->offset = 0; /* truncated */
        for (int i = 0; i < READS_A_POLL; i++) {
            ssize_t n = pread(t->fd, data, sizeof data, t->offset);
            if (n <= 0)
                break;
            t->offset += n;
            feed(s, t, data, (size_t)n, each);
        }
        if (stat(t->path, &st) != 0 || (st.st_dev == t->device && st.st_ino == t->inode))
            return;
        close(t->fd); /* replaced: the rest was read, now the new one */
        t->fd = -1;
    }
}

static void watched_line(struct rssmon_marks *s, char *line)
{
    static const char *const actions[PATTERNS] = {"point", "begin", "end"};
    for (int i = 0; i < PATTERNS; i++) {
        regmatch_t at[2];
        struct rssmon_record r;
        char label[LABEL_BYTES + 1];
        if (!s->compiled[i] || regexec(&s->patterns[i], line, 2, at, 0) != 0)
            continue;
        const regmatch_t *m = at[1].rm_so >= 0 ? &at[1] : &at[0];
        size_t n = (size_t)(m->rm_eo - m->rm_so);
        if (n == 0)
            continue;
        if (n > LABEL_BYTES)
            n = LABEL_BYTES;
        memcpy(label, line + m->rm_so, n);
        label[n] = '\0';
        rssmon_record_init(&r, RSSMON_MARK);
        r.u.mark.label = label;
        r.u.mark.action = actions[i];
        r.u.mark.source = "pattern";
        r.u.mark.text = line;
        s->told(s->context, &r);
    }
}

static void account_line(struct rssmon_marks *s, char *line)
{
    struct rssmon_log_reader *reader;
    struct rssmon_record r;
    size_t n = strlen(line);
    line[n] = '\n'; /* feed() left room */
    if (rssmon_log_open_memory(&reader, line, n + 1, NULL) == RSSMON_OK) {
        while (rssmon_log_next(reader, &r, NULL) == RSSMON_OK) {
            if (r.kind == RSSMON_MARK)
                r.u.mark.source = "account";
            if ((r.kind == RSSMON_MARK && r.u.mark.label != NULL) || r.kind == RSSMON_ACCOUNT)
                s->told(s->context, &r);
        }
        rssmon_log_close_read(reader);
    }
    line[n] = '\0';
}

static void fifo_line(struct rssmon_marks *s, char *line)
{
    tell_line(s, line, "fifo");
}

/* ---- all together ---- */

rssmon_status rssmon_marks_open(struct rssmon_marks **out, const struct rssmon_marks_config *config,
                                rssmon_marks_told *told, void *context, struct rssmon_error *err)
{
    const char *patterns[PATTERNS] = {config->pattern, config->pattern_begin, config->pattern_end};
    static const char *const options[PATTERNS] = {"--pattern", "--pattern-begin", "--pattern-end"};
    rssmon_status status = RSSMON_OK;
    *out = NULL;
    struct rssmon_marks *s = rssmon_calloc(1, sizeof *s);
    if (s == NULL)
        return rssmon_fail(err, RSSMON_E_MEMORY, "no memory for the markers' buffers");
    s->told = told;
    s->context = context;
    s->socket = s->fifo = s->watch.fd = s->account.fd = s->pipe.fd = -1;
    s->watch.path = config->watch;
    s->account.path = config->account;
    s->from_start = config->from_start;
    for (int i = 0; i < PATTERNS; i++) {
        if (patterns[i] == NULL)
            continue;
        int rc = regcomp(&s->patterns[i], patterns[i], REG_EXTENDED);
        if (rc != 0) {
            char why[128];
            (void)regerror(rc, &s->patterns[i], why, sizeof why);
            status = rssmon_fail(err, RSSMON_E_ARGUMENT,
                                 "%s '%s': not an extended regular expression: %s; put a backslash "
                                 "before characters that are meant as they are",
                                 options[i], patterns[i], why);
            goto fail;
        }
        s->compiled[i] = 1;
    }
    if (config->fifo != NULL) {
        struct stat st;
        s->fifo_path = config->fifo;
        s->fifo_made = mkfifo(config->fifo, 0600) == 0;
        /* opened for both, so that it never reports an end when a writer goes */
        s->fifo = open(config->fifo, O_RDWR | O_NONBLOCK | O_CLOEXEC);
        if (s->fifo < 0 || fstat(s->fifo, &st) != 0 || !S_ISFIFO(st.st_mode)) {
            int error = s->fifo < 0 ? errno : EEXIST;
            status = rssmon_fail(err, rssmon_status_of_errno(error),
                                 "--fifo %s: %s; name a FIFO, or a path where one can be made",
                                 config->fifo, s->fifo < 0 ? strerror(error) : "it is no FIFO");
            goto fail;
        }
    }
    open_control(s);
    if (!s->from_start) { /* stand at the files' ends before the target goes on */
        follow(s, &s->watch, watched_line);
        follow(s, &s->account, account_line);
    }
    s->watch.opened_once = s->account.opened_once = 1;
    *out = s;
    return RSSMON_OK;
fail:
    rssmon_marks_close(s);
    return status;
}

void rssmon_marks_close(struct rssmon_marks *s)
{
    if (s == NULL)
        return;
    int *fds[] = {&s->socket, &s->fifo, &s->watch.fd, &s->account.fd};
    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++)
        if (*fds[i] >= 0)
            close(*fds[i]);
    if (s->fifo_made)
        (void)unlink(s->fifo_path);
    for (int i = 0; i < PATTERNS; i++)
        if (s->compiled[i])
            regfree(&s->patterns[i]);
    rssmon_free(s);
}

const char *rssmon_marks_control(const struct rssmon_marks *s)
{
    return s->control[0] != '\0' ? s->control : NULL;
}

unsigned rssmon_marks_fds(const struct rssmon_marks *s, struct pollfd *fds)
{
    unsigned n = 0;
    if (s->socket >= 0)
        fds[n++] = (struct pollfd){s->socket, POLLIN, 0};
    if (s->fifo >= 0)
        fds[n++] = (struct pollfd){s->fifo, POLLIN, 0};
    return n;
}

void rssmon_marks_poll(struct rssmon_marks *s)
{
    char data[4096];
    if (s->socket >= 0)
        poll_control(s);
    for (int i = 0; s->fifo >= 0 && i < READS_A_POLL; i++) {
        ssize_t n = read(s->fifo, data, sizeof data);
        if (n <= 0)
            break;
        feed(s, &s->pipe, data, (size_t)n, fifo_line);
    }
    follow(s, &s->watch, watched_line);
    follow(s, &s->account, account_line);
}
