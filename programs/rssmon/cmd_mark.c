/* `rssmon mark`: sends one datagram to the control socket of a running monitor. The socket's name
 * is in the log's header, or follows from the monitor's PID.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "commands.h"
#include "monitor/log.h"
#include "monitor/text.h"

static const char usage[] =
    "Usage: rssmon mark (--log FILE | --pid MONITOR_PID) [--begin | --end] [--text TEXT] LABEL\n\n"
    "Puts a marker into the log of a running `rssmon record`.\n\n"
    "  -l, --log FILE   the log that the monitor writes\n"
    "  -p, --pid PID    PID of the monitor (not of its target)\n"
    "  -b, --begin      a phase named LABEL begins (it ends at --end or at the next --begin)\n"
    "  -e, --end        the phase named LABEL ends\n"
    "  -t, --text TEXT  kept beside the label\n"
    "  -h, --help";

/* The control socket's name, from the last header of the log. */
static int control_of_log(const char *path, char *name, size_t capacity)
{
    struct rssmon_error err;
    struct rssmon_log_reader *reader;
    struct rssmon_record record;
    name[0] = '\0';
    if (rssmon_log_open_read(&reader, path, &err) != RSSMON_OK) {
        fprintf(stderr, "rssmon mark: %s\n", err.message);
        return err.status == RSSMON_E_NOT_FOUND ? RSSMON_EXIT_NOT_FOUND : RSSMON_EXIT_IO;
    }
    int over = 0;
    while (rssmon_log_next(reader, &record, &err) == RSSMON_OK) {
        if (record.kind == RSSMON_HEADER && record.u.header.control != NULL) {
            (void)snprintf(name, capacity, "%s", record.u.header.control);
            over = 0;
        }
        if (record.kind == RSSMON_GENERATION)
            over = 0;
        over |= record.kind == RSSMON_VERDICT;
    }
    rssmon_log_close_read(reader);
    if (name[0] == '\0' || over) {
        fprintf(stderr, "rssmon mark: %s: %s; mark a log while its monitor runs\n", path,
                over ? "the log is complete" : "the header names no control socket");
        return RSSMON_EXIT_NOT_FOUND;
    }
    return RSSMON_EXIT_OK;
}

static int send_mark(const char *name, const char *action, const char *label, const char *text)
{
    char message[4096];
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    size_t n = strlen(name);
    int length = snprintf(message, sizeof message, "%s %s%s%s", action, label,
                          text != NULL ? "\t" : "", text != NULL ? text : "");
    if (length < 0 || (size_t)length >= sizeof message || n + 1 > sizeof to.sun_path) {
        fputs("rssmon mark: the label or text is too long: 4,000 bytes at most\n", stderr);
        return RSSMON_EXIT_USAGE;
    }
    memcpy(to.sun_path + 1, name, n);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n);
    if (fd < 0 || sendto(fd, message, (size_t)length, 0, (struct sockaddr *)&to, size) < 0) {
        fprintf(stderr,
                "rssmon mark: cannot reach the monitor's socket @%s: %s; is it still "
                "running, on this machine and in this network namespace?\n",
                name, strerror(errno));
        if (fd >= 0)
            close(fd);
        return RSSMON_EXIT_NOT_FOUND;
    }
    close(fd);
    return RSSMON_EXIT_OK;
}

int cmd_mark(int argc, char **argv)
{
    static const struct option options[] = {{"log", required_argument, NULL, 'l'},
                                            {"pid", required_argument, NULL, 'p'},
                                            {"begin", no_argument, NULL, 'b'},
                                            {"end", no_argument, NULL, 'e'},
                                            {"text", required_argument, NULL, 't'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    const char *log = NULL, *text = NULL, *action = "point";
    uint64_t pid = 0;
    int c, actions = 0;
    while ((c = getopt_long(argc, argv, "l:p:bet:h", options, NULL)) != -1) {
        switch (c) {
        case 'l':
            log = optarg;
            break;
        case 'p':
            if (rssmon_parse_u64(optarg, &pid) != 0 || pid == 0) {
                fprintf(stderr, "rssmon mark: --pid %s: not a PID\n", optarg);
                return RSSMON_EXIT_USAGE;
            }
            break;
        case 'b':
        case 'e':
            action = c == 'b' ? "begin" : "end";
            actions++;
            break;
        case 't':
            text = optarg;
            break;
        case 'h':
            puts(usage);
            return RSSMON_EXIT_OK;
        default:
            fputs("`rssmon mark --help` lists the options\n", stderr);
            return RSSMON_EXIT_USAGE;
        }
    }
    if ((log == NULL) == (pid == 0) || optind + 1 != argc || actions > 1) {
        fprintf(stderr, "rssmon mark: %s\n%s\n",
                actions > 1          ? "--begin and --end exclude each other"
                : optind + 1 != argc ? "give one label"
                                     : "give one of --log and --pid",
                usage);
        return RSSMON_EXIT_USAGE;
    }
    char name[108];
    if (log != NULL) {
        int rc = control_of_log(log, name, sizeof name);
        if (rc != RSSMON_EXIT_OK)
            return rc;
    } else {
        (void)snprintf(name, sizeof name, "rssmon/%llu", (unsigned long long)pid);
    }
    return send_mark(name, action, argv[optind], text);
}
