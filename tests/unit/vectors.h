/* Test vectors: files below tests/vectors, whole in memory, unpacked where they end in .zst. */
#ifndef CUZK_TESTS_UNIT_VECTORS_H
#define CUZK_TESTS_UNIT_VECTORS_H

#include "unit/test.h"

#include <yajl/yajl_tree.h>
#include <zstd.h>

/* path is below tests/vectors; the caller frees (free). A NUL stands behind the data. */
static inline uint8_t *vector_read(const char *path, size_t *size)
{
    char full[1024];
    (void)snprintf(full, sizeof full, CUZK_VECTORS_DIR "/%s", path);
    FILE *f = fopen(full, "rb");
    if (f == NULL)
        fail_msg("%s: cannot open", full);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    long n = ftell(f);
    assert_true(n >= 0);
    rewind(f);
    uint8_t *data = malloc((size_t)n + 1);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, (size_t)n, f), n);
    (void)fclose(f);
    *size = (size_t)n;
    data[n] = 0;
    size_t length = strlen(path);
    if (length < 4 || strcmp(path + length - 4, ".zst") != 0)
        return data;

    /* frames made from a pipe do not say their size */
    ZSTD_DStream *stream = ZSTD_createDStream();
    assert_non_null(stream);
    ZSTD_inBuffer in = {data, (size_t)n, 0};
    ZSTD_outBuffer out = {malloc(1 << 20), 1 << 20, 0};
    for (size_t more = 1; more != 0 || in.pos < in.size;) {
        if (out.pos + 1 >= out.size)
            out.dst = realloc(out.dst, out.size *= 2);
        assert_non_null(out.dst);
        size_t room = out.size;
        out.size--;
        more = ZSTD_decompressStream(stream, &out, &in);
        out.size = room;
        if (ZSTD_isError(more) || (more != 0 && in.pos == in.size && out.pos + 1 < out.size))
            fail_msg("%s: damaged", full);
    }
    ZSTD_freeDStream(stream);
    free(data);
    *size = out.pos;
    ((uint8_t *)out.dst)[out.pos] = 0;
    return out.dst;
}

/* A small JSON file as a tree; freed with yajl_tree_free. */
static inline yajl_val vector_json(const char *path)
{
    size_t size;
    uint8_t *text = vector_read(path, &size);
    char message[256];
    yajl_val tree = yajl_tree_parse((const char *)text, message, sizeof message);
    if (tree == NULL)
        fail_msg("%s: %s", path, message);
    free(text);
    return tree;
}

/* Members that must be there. */
static inline yajl_val vector_get(yajl_val object, const char *key)
{
    const char *path[] = {key, NULL};
    yajl_val v = yajl_tree_get(object, path, yajl_t_any);
    if (v == NULL)
        fail_msg("no key %s", key);
    return v;
}

static inline const char *vector_text(yajl_val object, const char *key)
{
    const char *text = YAJL_GET_STRING(vector_get(object, key));
    assert_non_null(text);
    return text;
}

static inline void vector_hex(uint8_t *out, size_t size, const char *hex)
{
    assert_int_equal(strlen(hex), 2 * size);
    for (size_t i = 0; i < size; i++) {
        unsigned byte;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
        out[i] = (uint8_t)byte;
    }
}

#endif
