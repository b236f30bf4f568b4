/* Targets whose memory is known by construction, for rssmon-compare.sh:
 *   spikes  200 MiB, and ten transients of 256 MiB, each filled and freed within 140 to 420 ms
 *   zombie  the leader exits, a thread with 200 MiB lives on for three seconds
 *   forks   256 MiB in a private mapping, shared by four forked children for three seconds
 *   large   1 GiB for two seconds, then killed by SIGKILL
 * Prints its PID on the first line, and at the end what it was by its own account, in bytes.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

static void nap(int ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000L};
    nanosleep(&t, NULL);
}

static volatile char *touch(size_t n)
{
    volatile char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        _exit(1);
    for (size_t i = 0; i < n; i += 4096)
        p[i] = 1;
    return p;
}

static unsigned long long own_rss(void)
{
    unsigned long long size, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f != NULL) {
        if (fscanf(f, "%llu %llu", &size, &resident) != 2)
            resident = 0;
        fclose(f);
    }
    return resident * (unsigned long long)sysconf(_SC_PAGESIZE);
}

static void *worker(void *unused)
{
    (void)unused;
    touch(200 * MIB);
    nap(3000);
    printf("truth %zu\n", 200 * MIB);
    fflush(stdout);
    exit(0);
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "spikes";
    printf("pid %ld\n", (long)getpid());
    fflush(stdout);
    nap(300); /* a monitor that attaches has time to */
    if (strcmp(kind, "spikes") == 0) {
        unsigned long long most = 0;
        touch(200 * MIB);
        for (int i = 0; i < 10; i++) {
            nap(400 + 53 * i);
            volatile char *p = touch(256 * MIB);
            if (own_rss() > most)
                most = own_rss();
            nap(60 + 20 * (i % 4));
            munmap((void *)(uintptr_t)p, 256 * MIB);
        }
        nap(400);
        printf("truth %llu\n", most);
    } else if (strcmp(kind, "zombie") == 0) {
        pthread_t t;
        if (pthread_create(&t, NULL, worker, NULL) != 0)
            return 1;
        pthread_exit(NULL);
    } else if (strcmp(kind, "forks") == 0) {
        volatile char *p = touch(256 * MIB);
        pid_t children[4];
        for (int i = 0; i < 4; i++) {
            children[i] = fork();
            if (children[i] == 0) {
                for (size_t k = 0; k < 256 * MIB; k += 4096)
                    (void)p[k];
                nap(60000);
                _exit(0);
            }
        }
        nap(3000);
        printf("truth %zu\n", 256 * MIB);
        fflush(stdout);
        for (int i = 0; i < 4; i++) {
            kill(children[i], SIGKILL);
            waitpid(children[i], NULL, 0);
        }
    } else {
        touch(1024 * MIB);
        nap(2000);
        printf("truth %zu\n", 1024 * MIB);
        fflush(stdout);
        kill(getpid(), SIGKILL);
    }
    return 0;
}
