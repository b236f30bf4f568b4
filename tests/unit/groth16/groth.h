/* What the tests of groth16 share: contexts, scratch files, the toys of the vectors. */
#ifndef CUZK_TESTS_UNIT_GROTH16_GROTH_H
#define CUZK_TESTS_UNIT_GROTH16_GROTH_H

#include "unit/vectors.h"

#include <unistd.h>

#include "base/alloc.h"
#include "groth16/groth16.h"

#define KEYS CUZK_VECTORS_DIR "/keys/"

/* A context on the processor. */
/* CUZK_TEST_DEVICE runs a test on another device than the processor. */
static inline const char *test_device(void)
{
    const char *name = getenv("CUZK_TEST_DEVICE");
    return name != NULL ? name : "cpu";
}

static inline struct cuzk_context *make_context(unsigned threads, const char *isa)
{
    struct cuzk_error err;
    struct cuzk_context *context;
    struct cuzk_options options = {.threads = threads, .isa = isa, .device = test_device()};
    assert_ok(cuzk_context_create(&context, &options, &err), err);
    return context;
}

/* /tmp/cuzk-…-NAME of this process; unlinked by the caller. */
struct scratch {
    char path[96];
};
static inline struct scratch scratch_path(const char *name)
{
    struct scratch s;
    (void)snprintf(s.path, sizeof s.path, "/tmp/cuzk-test-groth16-%ld-%s", (long)getpid(), name);
    return s;
}

static inline uint8_t *file_read(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        fail_msg("%s: cannot open", path);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    long n = ftell(f);
    assert_true(n >= 0);
    rewind(f);
    uint8_t *data = malloc((size_t)n + 1);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, (size_t)n, f), n);
    (void)fclose(f);
    *size = (size_t)n;
    return data;
}

static inline void assert_same_file(const char *a, const char *b)
{
    size_t n, m;
    uint8_t *x = file_read(a, &n), *y = file_read(b, &m);
    assert_int_equal(n, m);
    for (size_t i = 0; i < n; i++)
        if (x[i] != y[i])
            fail_msg("%s and %s differ from offset %zu", a, b, i);
    free(x);
    free(y);
}

/* NAME.proof.json of the vectors. */
struct toy {
    char circuit[256], params[256], vk[256], waste[256];
    struct cuzk_insecure_rs rs;
    uint8_t proof[CUZK_PROOF_BYTES];
    uint8_t inputs[64][CUZK_FIELD_BYTES];
    size_t input_count;
};

static inline struct toy toy_load(const char *name)
{
    struct toy t;
    char file[64];
    memset(&t, 0, sizeof t);
    (void)snprintf(t.circuit, sizeof t.circuit, KEYS "%s.r1cs.zst", name);
    (void)snprintf(t.params, sizeof t.params, KEYS "%s.params", name);
    (void)snprintf(t.vk, sizeof t.vk, KEYS "%s.vk", name);
    (void)snprintf(t.waste, sizeof t.waste, KEYS "%s.proof.json", name);
    (void)snprintf(file, sizeof file, "keys/%s.proof.json", name);
    yajl_val json = vector_json(file), waste = vector_get(json, "waste");
    vector_hex(t.rs.r, sizeof t.rs.r, vector_text(waste, "r"));
    vector_hex(t.rs.s, sizeof t.rs.s, vector_text(waste, "s"));
    vector_hex(t.proof, sizeof t.proof, vector_text(json, "proof"));
    yajl_val inputs = vector_get(json, "public_inputs");
    t.input_count = YAJL_GET_ARRAY(inputs)->len;
    assert_true(t.input_count <= 64);
    for (size_t i = 0; i < t.input_count; i++)
        vector_hex(t.inputs[i], CUZK_FIELD_BYTES,
                   YAJL_GET_STRING(YAJL_GET_ARRAY(inputs)->values[i]));
    yajl_tree_free(json);
    return t;
}

#endif
