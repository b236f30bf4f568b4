/* Runs a fuzz target over its committed corpus without libFuzzer, so that CI replays every input
 * that once mattered, under whatever sanitizer the build has. Each input also goes in cut short at
 * a few places. An empty corpus is a failure: it would test nothing. */
#include <dirent.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL) {
        perror(path);
        return 1;
    }
    if (fseek(f, 0, SEEK_END) != 0) {
        (void)fclose(f);
        return 1;
    }
    long size = ftell(f);
    uint8_t *data = size >= 0 ? malloc((size_t)size + 1) : NULL;
    rewind(f);
    if (data == NULL || fread(data, 1, (size_t)size, f) != (size_t)size) {
        perror(path);
        free(data);
        (void)fclose(f);
        return 1;
    }
    (void)fclose(f);
    const size_t all = (size_t)size;
    const size_t cuts[] = {all, all - (all != 0), all / 2, all / 3, 1, 0};
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        /* a copy of the exact length, so that the sanitizer sees a read behind it */
        size_t n = cuts[i] < all ? cuts[i] : all;
        uint8_t *copy = malloc(n != 0 ? n : 1);
        if (copy == NULL)
            break;
        memcpy(copy, data, n);
        (void)LLVMFuzzerTestOneInput(copy, n);
        free(copy);
    }
    free(data);
    return 0;
}

int main(int argc, char **argv)
{
    unsigned passed = 0, failed = 0;
    for (int i = 1; i < argc; i++) {
        DIR *dir = opendir(argv[i]);
        if (dir == NULL) {
            perror(argv[i]);
            failed++;
            continue;
        }
        for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
            if (e->d_name[0] == '.')
                continue;
            char path[4096];
            (void)snprintf(path, sizeof path, "%s/%s", argv[i], e->d_name);
            if (replay(path) != 0)
                failed++;
            else
                passed++;
        }
        (void)closedir(dir);
    }
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0 || passed == 0;
}
