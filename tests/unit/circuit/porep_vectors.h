/* What the fast and the slow tests of PoRep's circuits share: shapes and witnesses against the
 * network's, by digest. */
#ifndef CUZK_TESTS_UNIT_CIRCUIT_POREP_VECTORS_H
#define CUZK_TESTS_UNIT_CIRCUIT_POREP_VECTORS_H

#include "unit/vectors.h"

#include "circuit/cs.h"
#include "circuit/digest.h"
#include "circuit/porep_circuit.h"
#include "format/c1.h"

static inline uint64_t vector_number(yajl_val object, const char *key)
{
    return (uint64_t)YAJL_GET_INTEGER(vector_get(object, key));
}

static inline void expect_digest(const char *name, yajl_val object, const char *key,
                                 const uint8_t digest[32])
{
    uint8_t expected[32];
    vector_hex(expected, 32, vector_text(object, key));
    if (memcmp(digest, expected, 32) != 0)
        fail_msg("%s: another %s", name, key);
}

struct expected_chunks {
    const char *name;
    const char *line; /* NULL: digests are not kept by chunk */
    uint32_t at;
};

static inline cuzk_status expect_chunk(void *context, const uint8_t digest[32],
                                       struct cuzk_error *err)
{
    struct expected_chunks *c = context;
    uint8_t expected[32];
    char hex[65];
    if (c->line == NULL)
        return CUZK_OK;
    if (sscanf(c->line, "%64s", hex) != 1)
        return cuzk_fail(err, CUZK_E_MISMATCH, "%s: more than %u chunks", c->name, c->at);
    vector_hex(expected, 32, hex);
    if (memcmp(digest, expected, 32) != 0)
        return cuzk_fail(err, CUZK_E_MISMATCH, "%s: chunk %u differs", c->name, c->at);
    c->at++;
    c->line += 65;
    return CUZK_OK;
}

/* The circuit's shape is that of shape/NAME.json (and of NAME.rows.chunks, if `chunks`). */
static inline struct cuzk_circuit *expect_shape(const char *name, bool chunks,
                                                struct cuzk_budget *budget)
{
    struct cuzk_error err;
    struct cuzk_circuit *c;
    struct cuzk_shape shape;
    char path[128];
    size_t size;
    snprintf(path, sizeof path, "shape/%s.json", name);
    yajl_val json = vector_json(path);
    assert_ok(cuzk_porep_circuit(&c, cuzk_porep_by_circuit(name), budget, &err), err);
    assert_string_equal(c->name, name);
    assert_int_equal(c->inputs, vector_number(json, "inputs"));
    assert_int_equal(c->aux, vector_number(json, "aux"));
    assert_int_equal(c->rows, vector_number(json, "constraints"));
    snprintf(path, sizeof path, "shape/%s.rows.chunks", name);
    char *lines = chunks ? (char *)vector_read(path, &size) : NULL;
    struct expected_chunks expected = {name, lines, 0};
    assert_ok(cuzk_circuit_shape(&shape, c, expect_chunk, &expected, &err), err);
    if (lines != NULL)
        assert_int_equal(*expected.line, 0);
    free(lines);
    expect_digest(name, json, "rows_sha256", shape.rows_sha256);
    expect_digest(name, json, "a_aux_density_sha256", shape.a_aux_sha256);
    expect_digest(name, json, "b_aux_density_sha256", shape.b_aux_sha256);
    expect_digest(name, json, "b_input_density_sha256", shape.b_input_sha256);
    assert_int_equal(shape.a_aux_density, vector_number(json, "a_aux_density"));
    assert_int_equal(shape.b_aux_density, vector_number(json, "b_aux_density"));
    assert_int_equal(shape.b_input_density, vector_number(json, "b_input_density"));
    assert_int_equal(shape.coefficients, vector_number(json, "coefficients"));
    for (size_t m = 0; m < 3; m++) {
        yajl_val terms = vector_get(json, "terms"), longest = vector_get(json, "longest");
        assert_int_equal(shape.terms[m], YAJL_GET_INTEGER(YAJL_GET_ARRAY(terms)->values[m]));
        assert_int_equal(shape.longest[m], YAJL_GET_INTEGER(YAJL_GET_ARRAY(longest)->values[m]));
    }
    yajl_tree_free(json);
    return c;
}

static inline struct cuzk_porep_sector *read_sector(const char *name, const char *circuit)
{
    struct cuzk_error err;
    struct cuzk_porep_sector *sector;
    char path[128];
    size_t size;
    snprintf(path, sizeof path, "sectors/%s/c1.json.zst", name);
    uint8_t *text = vector_read(path, &size);
    assert_ok(cuzk_c1_parse(&sector, path, text, size,
                            circuit != NULL ? cuzk_porep_by_circuit(circuit) : NULL, NULL, &err),
              err);
    free(text);
    return sector;
}

/* The witness of a partition is that of witness/NAME/witness-PARTITION.json. */
static inline void expect_witness(const char *name, const struct cuzk_circuit *c,
                                  const struct cuzk_porep_sector *sector, uint32_t partition,
                                  bool products, struct cuzk_threads *threads)
{
    static const char *const keys[3] = {"a_sha256", "b_sha256", "c_sha256"};
    struct cuzk_error err;
    struct cuzk_porep_vanilla vanilla;
    struct cuzk_witness *w;
    uint8_t digest[32];
    uint32_t zeros, ones;
    char path[128];
    snprintf(path, sizeof path, "witness/%s/witness-%u.json.zst", name, partition);
    yajl_val json = vector_json(path), expected = vector_get(json, "witness");
    cuzk_porep_partition(&vanilla, sector, partition);
    assert_ok(cuzk_porep_witness(&w, c, &vanilla, NULL, &err), err);
    yajl_val inputs = vector_get(expected, "inputs");
    assert_int_equal(w->input_count, YAJL_GET_ARRAY(inputs)->len);
    for (uint32_t i = 0; i < w->input_count; i++) {
        uint8_t bytes[32], own[32];
        vector_hex(bytes, 32, YAJL_GET_STRING(YAJL_GET_ARRAY(inputs)->values[i]));
        bls12_381_fr_to_le(own, &w->inputs[i]);
        assert_memory_equal(own, bytes, 32);
    }
    cuzk_witness_count(c, w, &zeros, &ones);
    assert_int_equal(zeros, vector_number(expected, "zeros"));
    assert_int_equal(ones, vector_number(expected, "ones"));
    assert_ok(cuzk_witness_aux_digest(digest, c, w, NULL, NULL, &err), err);
    expect_digest(path, expected, "aux_sha256", digest);
    for (int m = 0; m < 3 && products; m++) {
        assert_ok(cuzk_witness_product_digest(digest, c, w, m, threads, NULL, NULL, &err), err);
        expect_digest(path, expected, keys[m], digest);
    }
    cuzk_witness_destroy(w);
    yajl_tree_free(json);
}

#endif
