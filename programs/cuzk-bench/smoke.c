/* `cuzk-bench smoke`: a small experiment from end to end in some seconds: two settings whose times
 * and memory are known to differ, interleaved, with logs, the report, and the comparison of an
 * experiment with its repetition. The command is given (a toy circuit's proof in CI) or a shell
 * that holds memory for a while. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

int cmd_smoke(int argc, char **argv)
{
    static const char usage[] =
        "Usage: cuzk-bench smoke [-- COMMAND…]\n\n"
        "Runs a small experiment twice, reports and compares it. COMMAND may hold {size}, which "
        "becomes\n"
        "1 and 2. Without one, a shell command that holds some memory for a moment.";
    char *standard[] = {(char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c",
                        (char *)(uintptr_t) "head -c {size}0000000 /dev/zero | tail -n 1 | wc -c; "
                                            "sleep 0.0{size}"};
    char **command = standard;
    int words = 3;
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        puts(usage);
        return BENCH_OK;
    }
    if (argc > 1 && strcmp(argv[1], "--") != 0)
        return bench_error(BENCH_USAGE, "smoke takes a command behind --");
    if (argc > 2) {
        command = argv + 2;
        words = argc - 2;
    }
    if (words > 100)
        return bench_error(BENCH_USAGE, "the command has over 100 arguments");
    char dir[] = "/tmp/cuzk-bench-smoke-XXXXXX", db[64], picture[64];
    if (mkdtemp(dir) == NULL)
        return bench_error(BENCH_IO, "cannot make a folder in /tmp");
    (void)snprintf(db, sizeof db, "%s/bench.db", dir);
    (void)snprintf(picture, sizeof picture, "%s/sweep.svg", dir);
    int code = BENCH_OK;
    for (int round = 0; round < 2 && code == BENCH_OK; round++) {
        char sizes[] = "size=1,2", *run[128];
        int n = 0;
        const char *head[] = {
            "run",      "--db", db,      "--name", round == 0 ? "smoke-a" : "smoke-b",
            "--proofs", "3",    "--set", NULL,     "--"};
        for (size_t i = 0; i < sizeof head / sizeof head[0]; i++)
            run[n++] = head[i] != NULL ? (char *)(uintptr_t)head[i] : sizes;
        for (int i = 0; i < words; i++)
            run[n++] = command[i];
        run[n] = NULL;
        optind = 0;
        code = cmd_run(n, run);
    }
    if (code == BENCH_OK) {
        char *sweep[] = {(char *)(uintptr_t) "sweep",
                         (char *)(uintptr_t) "--db",
                         db,
                         (char *)(uintptr_t) "-o",
                         picture,
                         (char *)(uintptr_t) "1",
                         NULL};
        optind = 0;
        code = cmd_sweep(6, sweep);
    }
    if (code == BENCH_OK) {
        char *compare[] = {(char *)(uintptr_t) "compare", (char *)(uintptr_t) "--db", db,
                           (char *)(uintptr_t) "1",       (char *)(uintptr_t) "2",    NULL};
        optind = 0;
        code = cmd_compare(5, compare);
    }
    if (code == BENCH_OK) {
        char remove_all[80];
        (void)snprintf(remove_all, sizeof remove_all, "rm -rf '%s'", dir);
        if (system(remove_all) != 0)
            code = bench_error(BENCH_IO, "cannot remove %s", dir);
        else
            puts("smoke: ok");
    } else {
        (void)bench_error(code, "the files are in %s", dir);
    }
    return code;
}
