/* The toy circuits' vectors, for whole proofs on a device: files by name, members of small JSON. */
#ifndef CUZK_TESTS_DEVICE_TOY_H
#define CUZK_TESTS_DEVICE_TOY_H

#include "cuda_test.h"
#include "format/json_in.h"
#include "groth16/groth16.h"

#ifndef CUZK_VECTORS_DIR
#define CUZK_VECTORS_DIR "tests/vectors"
#endif

static inline char *toy_slurp(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL) {
        printf("FAILED: %s: cannot open\n", path);
        exit(1);
    }
    (void)fseek(f, 0, SEEK_END);
    long n = ftell(f);
    rewind(f);
    char *data = malloc((size_t)n + 1);
    if (data == NULL || fread(data, 1, (size_t)n, f) != (size_t)n)
        exit(1);
    data[n] = '\0';
    (void)fclose(f);
    *size = (size_t)n;
    return data;
}

/* The hex string of a member, wherever it stands in a small JSON file. */
static inline void toy_member(uint8_t *out, size_t bytes, const char *json, const char *name)
{
    char key[32];
    (void)snprintf(key, sizeof key, "\"%s\"", name);
    const char *p = strstr(json, key);
    p = p != NULL ? strchr(strchr(p + strlen(key), ':'), '"') : NULL;
    if (p == NULL || !cuzk_hex_decode(out, bytes, p + 1, 2 * bytes)) {
        printf("FAILED: no %s of %zu bytes in hex\n", name, bytes);
        exit(1);
    }
}

/* A toy's files, and the proof that its r and s give. */
struct toy {
    char circuit[512], params[512], waste[512];
    struct cuzk_insecure_rs rs;
    uint8_t proof[CUZK_PROOF_BYTES];
};

static inline void toy_read(struct toy *toy, const char *vectors, const char *name)
{
    size_t size;
    (void)snprintf(toy->circuit, sizeof toy->circuit, "%s/keys/%s.r1cs.zst", vectors, name);
    (void)snprintf(toy->params, sizeof toy->params, "%s/keys/%s.params", vectors, name);
    (void)snprintf(toy->waste, sizeof toy->waste, "%s/keys/%s.proof.json", vectors, name);
    char *json = toy_slurp(toy->waste, &size);
    toy_member(toy->rs.r, sizeof toy->rs.r, json, "r");
    toy_member(toy->rs.s, sizeof toy->rs.s, json, "s");
    toy_member(toy->proof, sizeof toy->proof, json, "proof");
    free(json);
}

#endif
