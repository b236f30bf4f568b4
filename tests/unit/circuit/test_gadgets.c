/* Every gadget against the network's own: the same rows in the same order, the same values. The
 * circuit of each test vector is put together as its maker did, from the numbers that it allocates
 * first. The faster ways to a witness are held to the descriptions. */
#include "unit/test.h"

#include "base/alloc.h"
#include "base/os.h"
#include "circuit/digest.h"
#include "circuit/dump.h"
#include "circuit/gadget.h"

/* A walk: building, or filling with the values of the vector as advice. */
struct walk {
    struct cuzk_composer *k;
    const fr *given; /* all auxiliaries of the vector, when filling */
    uint32_t at;     /* auxiliaries so far */
    struct cuzk_error err;
};

static void step(struct walk *w, const struct cuzk_gadget *g, uint64_t parameter,
                 const uint32_t *ports, uint32_t port_count, uint64_t number, uint32_t *outputs,
                 uint32_t output_count)
{
    struct cs_advice advice = {w->given != NULL ? w->given + w->at : NULL, number};
    assert_ok(cuzk_compose(w->k, g, parameter, ports, port_count, &advice, outputs, output_count,
                           &w->err),
              w->err);
    if (cuzk_composer_filling(w->k))
        assert_false(cuzk_composer_breach(w->k));
    if (output_count != 0)
        w->at = outputs[output_count - 1] / 2 + 1;
}

static void numbers(struct walk *w, uint32_t *out, uint32_t n)
{
    step(w, &cuzk_gadget_numbers, n, NULL, 0, 0, out, n);
}

/* n ≤ 64 bits at a time */
static void bits(struct walk *w, uint32_t *out, uint32_t n)
{
    for (uint32_t i = 0; i < n; i += 64) {
        uint32_t m = n - i < 64 ? n - i : 64;
        uint64_t value = 0;
        for (uint32_t j = 0; w->given != NULL && j < m; j++)
            value |= (uint64_t)bls12_381_fr_is_one(&w->given[w->at + j]) << j;
        step(w, &cuzk_gadget_bits, m, NULL, 0, value, out + i, m);
    }
}

static void num_bits(struct walk *w, uint32_t number, uint32_t out[255])
{
    step(w, &cuzk_gadget_num_to_bits, 0, &number, 1, 0, out, 255);
}

/* The bits of a number as they are hashed: bytes in order, each from its most significant bit;
 * without the constant at place 248. */
static uint32_t hashed_order(uint32_t *to, const uint32_t bits[255])
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t from = i / 8 * 8 + 7 - i % 8;
        if (from != 255)
            to[n++] = bits[from];
    }
    return n;
}

static void block(struct walk *w, uint32_t state[256], const uint32_t *message, uint32_t count,
                  const struct cuzk_sha256_block *b)
{
    uint32_t ports[768], n = 0;
    uint64_t parameter = cuzk_sha256_parameter(b);
    if (!b->constant_state) {
        memcpy(ports, state, 256 * sizeof *ports);
        n = 256;
    }
    if (count != 0)
        memcpy(ports + n, message, count * sizeof *ports);
    assert_int_equal(n + count, cuzk_sha256_ports(parameter));
    step(w, &cuzk_gadget_sha256_block, parameter, ports, n + count, 0, state, 256);
}

static void sha256(struct walk *w, uint32_t bytes)
{
    uint32_t message[1024], state[256], n = 8 * bytes;
    bits(w, message, n);
    bool ended = false;
    for (uint32_t at = 0; !ended; at += 512) {
        uint32_t here = n > at ? (n - at < 512 ? n - at : 512) : 0;
        struct cuzk_sha256_block b = {.constant_state = at == 0,
                                      .variable = here,
                                      .padded = here < 512,
                                      .total = here < 512 ? n : 0};
        ended = here + 65 <= 512;
        block(w, state, message + at, here, &b);
    }
}

static void sha256_32(struct walk *w)
{
    sha256(w, 32);
}
static void sha256_55(struct walk *w)
{
    sha256(w, 55);
}
static void sha256_64(struct walk *w)
{
    sha256(w, 64);
}
static void sha256_128(struct walk *w)
{
    sha256(w, 128);
}

static void pack(struct walk *w, const uint32_t *hashed)
{
    uint32_t little[256], number;
    for (uint32_t i = 0; i < 256; i++)
        little[i] = hashed[i / 8 * 8 + 7 - i % 8];
    step(w, &cuzk_gadget_pack_bits, 254, little, 254, 0, &number, 1);
}

static void tree_node(struct walk *w)
{
    uint32_t num[2], left[255], right[255], message[510], state[256];
    numbers(w, num, 2);
    num_bits(w, num[0], left);
    num_bits(w, num[1], right);
    uint32_t n = hashed_order(message, left);
    n += hashed_order(message + n, right);
    block(w, state, message, n,
          &(struct cuzk_sha256_block){.constant_state = true, .numbers = true, .variable = 512});
    block(w, state, NULL, 0, &(struct cuzk_sha256_block){.padded = true, .total = 512});
    pack(w, state);
}

static void poseidon(struct walk *w, uint32_t arity)
{
    uint32_t num[11], out;
    numbers(w, num, arity);
    step(w, &cuzk_gadget_poseidon, arity, num, arity, 0, &out, 1);
}
static void poseidon_2(struct walk *w)
{
    poseidon(w, 2);
}
static void poseidon_4(struct walk *w)
{
    poseidon(w, 4);
}
static void poseidon_8(struct walk *w)
{
    poseidon(w, 8);
}
static void poseidon_11(struct walk *w)
{
    poseidon(w, 11);
}

static void num_to_bits(struct walk *w)
{
    uint32_t num, out[255];
    numbers(w, &num, 1);
    num_bits(w, num, out);
}

static void pack_bits(struct walk *w)
{
    uint32_t num, out[255];
    numbers(w, &num, 1);
    num_bits(w, num, out);
    step(w, &cuzk_gadget_pack_bits, 254, out, 254, 0, &num, 1);
}

static void uint64_input(struct walk *w)
{
    uint32_t input, out[64];
    uint64_t value = 0;
    assert_ok(cuzk_compose_input(w->k, &input, &w->err), w->err);
    for (uint32_t j = 0; w->given != NULL && j < 64; j++)
        value |= (uint64_t)bls12_381_fr_is_one(&w->given[j]) << j;
    step(w, &cuzk_gadget_uint64_input, 0, &input, 1, value, out, 64);
}

static void encode(struct walk *w)
{
    uint32_t num[2], out;
    numbers(w, num, 2);
    step(w, &cuzk_gadget_encode, 0, num, 2, 0, &out, 1);
}

static void insert(struct walk *w, uint32_t arity)
{
    uint32_t ports[12], out[8], depth = arity == 2 ? 1 : arity == 4 ? 2 : 3;
    numbers(w, ports, 1);
    bits(w, ports + 1, depth);
    numbers(w, ports + 1 + depth, arity - 1);
    step(w, &cuzk_gadget_insert, arity, ports, depth + arity, 0, out, arity);
}
static void insert_2(struct walk *w)
{
    insert(w, 2);
}
static void insert_4(struct walk *w)
{
    insert(w, 4);
}
static void insert_8(struct walk *w)
{
    insert(w, 8);
}

static const struct {
    const char *name;
    void (*walk)(struct walk *w);
} cases[] = {
    {"encode", encode},
    {"insert-2", insert_2},
    {"insert-4", insert_4},
    {"insert-8", insert_8},
    {"num-to-bits", num_to_bits},
    {"pack-bits", pack_bits},
    {"uint64-input", uint64_input},
    {"hash2-poseidon", poseidon_2},
    {"poseidon-2", poseidon_2},
    {"poseidon-4", poseidon_4},
    {"poseidon-8", poseidon_8},
    {"poseidon-11", poseidon_11},
    {"sha256-32bytes", sha256_32},
    {"sha256-55bytes", sha256_55},
    {"sha256-64bytes", sha256_64},
    {"sha256-128bytes", sha256_128},
    {"sha256-tree-node", tree_node},
};

static struct cuzk_circuit *build(const char *name, void (*run)(struct walk *w))
{
    struct cuzk_builder *b;
    struct cuzk_circuit *c;
    struct walk w = {0};
    assert_ok(cuzk_builder_create(&b, name, NULL, &w.err), w.err);
    assert_ok(cuzk_composer_create(&w.k, b, NULL, NULL, &w.err), w.err);
    run(&w);
    cuzk_composer_destroy(w.k);
    assert_ok(cuzk_builder_finish(&c, b, &w.err), w.err);
    cuzk_builder_destroy(b);
    return c;
}

static struct cuzk_witness *fill(const struct cuzk_circuit *c, void (*run)(struct walk *w),
                                 const fr *given, bool slow)
{
    struct cuzk_witness *witness;
    struct walk w = {.given = given};
    assert_ok(cuzk_witness_create(&witness, c, NULL, &w.err), w.err);
    assert_ok(cuzk_composer_create(&w.k, NULL, c, witness, &w.err), w.err);
    if (slow)
        cuzk_composer_slow(w.k);
    run(&w);
    assert_true(cuzk_composer_done(w.k));
    cuzk_composer_destroy(w.k);
    return witness;
}

/* One row of each circuit, kept to be compared. */
struct row {
    uint32_t counts[3];
    struct cuzk_row_term *terms[3];
    const struct cuzk_circuit *circuit;
};

struct rows {
    const struct cuzk_circuit *circuit;
    struct row *rows;
};

static cuzk_status keep_row(void *context, uint32_t row, const struct cuzk_row_term *const terms[3],
                            const uint32_t counts[3], struct cuzk_error *err)
{
    (void)err;
    struct row *r = &((struct rows *)context)->rows[row];
    for (int m = 0; m < 3; m++) {
        r->counts[m] = counts[m];
        r->terms[m] = malloc(counts[m] * sizeof **terms + 1);
        memcpy(r->terms[m], terms[m], counts[m] * sizeof **terms);
    }
    return CUZK_OK;
}

static cuzk_status compare_row(void *context, uint32_t row,
                               const struct cuzk_row_term *const terms[3], const uint32_t counts[3],
                               struct cuzk_error *err)
{
    struct rows *kept = context;
    struct row *r = &kept->rows[row];
    for (int m = 0; m < 3; m++) {
        if (r->counts[m] != counts[m])
            return cuzk_fail(err, CUZK_E_MISMATCH, "row %u, matrix %d: %u terms, not %u", row, m,
                             counts[m], r->counts[m]);
        for (uint32_t i = 0; i < counts[m]; i++) {
            if (r->terms[m][i].tag != terms[m][i].tag)
                return cuzk_fail(err, CUZK_E_MISMATCH, "row %u, matrix %d, term %u: %u, not %u",
                                 row, m, i, terms[m][i].tag, r->terms[m][i].tag);
            if (!bls12_381_fr_eq(&kept->circuit->coefficients[r->terms[m][i].coefficient],
                                 &r->circuit->coefficients[terms[m][i].coefficient]))
                return cuzk_fail(err, CUZK_E_MISMATCH,
                                 "row %u, matrix %d, term %u: another coefficient", row, m, i);
        }
        free(r->terms[m]);
    }
    return CUZK_OK;
}

static void compare_rows(const char *name, const struct cuzk_circuit *expected,
                         const struct cuzk_circuit *c)
{
    struct cuzk_error err;
    struct rows kept = {expected, calloc(expected->rows, sizeof(struct row))};
    for (uint32_t i = 0; i < expected->rows; i++)
        kept.rows[i].circuit = c;
    assert_ok(cuzk_circuit_rows(expected, 0, expected->rows, keep_row, &kept, &err), err);
    cuzk_status status = cuzk_circuit_rows(c, 0, c->rows, compare_row, &kept, &err);
    if (status != CUZK_OK)
        fail_msg("%s: %s", name, err.message);
    free(kept.rows);
}

static void compare_values(const char *name, const struct cuzk_circuit *c,
                           const struct cuzk_witness *w, const struct cuzk_witness *expected)
{
    for (uint32_t i = 0; i < c->inputs; i++)
        if (!bls12_381_fr_eq(&w->inputs[i], &expected->inputs[i]))
            fail_msg("%s: input %u differs", name, i);
    for (uint32_t i = 0; i < c->aux; i++) {
        fr x;
        cuzk_witness_get(&x, w, c, 2 * i + 1);
        if (!bls12_381_fr_eq(&x, &expected->values[i]))
            fail_msg("%s: auxiliary %u differs", name, i);
    }
}

static void test_gadgets(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cuzk_error err;
        struct cuzk_circuit *expected;
        struct cuzk_witness *values;
        char path[256];
        const char *name = cases[i].name;
        snprintf(path, sizeof path, CUZK_VECTORS_DIR "/gadgets/%s.r1cs.zst", name);
        assert_ok(cuzk_dump_read(&expected, &values, path, NULL, &err), err);
        struct cuzk_circuit *c = build(name, cases[i].walk);
        assert_int_equal(c->inputs, expected->inputs);
        assert_int_equal(c->aux, expected->aux);
        assert_int_equal(c->rows, expected->rows);
        compare_rows(name, expected, c);
        for (int slow = 0; slow < 2; slow++) {
            struct cuzk_witness *w = fill(c, cases[i].walk, values->values, slow);
            uint32_t row;
            compare_values(name, c, w, values);
            assert_ok(cuzk_circuit_check(c, w, &row, NULL, &err), err);
            cuzk_witness_destroy(w);
        }
        cuzk_circuit_destroy(c);
        cuzk_witness_destroy(values);
        cuzk_circuit_destroy(expected);
    }
}

/* ---- labels: too large to keep whole, so by digest ---- */

static uint32_t label_layer;

static void label(struct walk *w)
{
    uint32_t parents = label_layer == 1 ? 6 : 14, num, replica[255], node[64], parent[14][255];
    uint32_t message[37 * 255 + 512], n, state[256];
    numbers(w, &num, 1);
    num_bits(w, num, replica);
    bits(w, node, 64);
    for (uint32_t i = 0; i < parents; i++) {
        numbers(w, &num, 1);
        num_bits(w, num, parent[i]);
    }
    n = hashed_order(message, replica);
    for (int i = 63; i >= 0; i--)
        message[n++] = node[i];
    block(w, state, message, n,
          &(struct cuzk_sha256_block){.constant_state = true, .layer = label_layer});
    for (uint32_t i = 0; i < 37; i += 2) {
        struct cuzk_sha256_block b = {.numbers = true, .variable = 512};
        n = hashed_order(message, parent[i % parents]);
        if (i < 36)
            n += hashed_order(message + n, parent[(i + 1) % parents]);
        else
            b = (struct cuzk_sha256_block){
                .numbers = true, .variable = 256, .padded = true, .total = 1248 * 8};
        block(w, state, message, n, &b);
    }
    pack(w, state);
}

static void read_hex(const char *line, uint8_t out[32])
{
    for (int i = 0; i < 32; i++) {
        unsigned x;
        assert_int_equal(sscanf(line + 2 * i, "%2x", &x), 1);
        out[i] = (uint8_t)x;
    }
}

/* Compares chunk by chunk with the lines of a file. */
struct chunks {
    FILE *file;
    const char *name;
    unsigned at;
};

static cuzk_status compare_chunk(void *context, const uint8_t digest[32], struct cuzk_error *err)
{
    struct chunks *c = context;
    char line[80];
    uint8_t expected[32];
    c->at++;
    if (fgets(line, sizeof line, c->file) == NULL)
        return cuzk_fail(err, CUZK_E_MISMATCH, "%s has fewer chunks", c->name);
    read_hex(line, expected);
    if (memcmp(digest, expected, 32) != 0)
        return cuzk_fail(err, CUZK_E_MISMATCH, "%s: chunk %u differs", c->name, c->at - 1);
    return CUZK_OK;
}

static void open_chunks(struct chunks *c, const char *kind)
{
    static char path[256];
    snprintf(path, sizeof path, CUZK_VECTORS_DIR "/gadgets/label-layer%u.%s.chunks", label_layer,
             kind);
    *c = (struct chunks){fopen(path, "r"), path, 0};
    assert_non_null(c->file);
}

static void close_chunks(struct chunks *c)
{
    assert_int_equal(fgetc(c->file), EOF);
    fclose(c->file);
}

/* The values to allocate, at the places where the walk looks for them. */
static fr *label_values(void)
{
    char path[256], line[80];
    uint8_t bytes[32];
    fr *given = calloc(100000, sizeof *given);
    uint32_t parents = label_layer == 1 ? 6 : 14;
    snprintf(path, sizeof path, CUZK_VECTORS_DIR "/gadgets/label-layer%u.values", label_layer);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    for (uint32_t i = 0; i <= parents; i++) {
        assert_non_null(fgets(line, sizeof line, f));
        read_hex(line, bytes);
        assert_true(bls12_381_fr_from_le(&given[i == 0 ? 0 : 320 + 256 * (i - 1)], bytes));
    }
    assert_non_null(fgets(line, sizeof line, f));
    read_hex(line, bytes);
    for (int i = 0; i < 64; i++)
        given[256 + i] = bytes[i / 8] >> (i % 8) & 1 ? bls12_381_fr_one : bls12_381_fr_zero;
    fclose(f);
    return given;
}

static void test_labels(void **state)
{
    (void)state;
    static const uint32_t rows[3] = {0, 524125, 526173}, aux[3] = {0, 523605, 525653};
    for (label_layer = 1; label_layer <= 2; label_layer++) {
        struct cuzk_error err;
        struct chunks chunks;
        struct cuzk_shape shape;
        uint8_t digest[32];
        fr *given = label_values();
        struct cuzk_circuit *c = build("label", label);
        assert_int_equal(c->rows, rows[label_layer]);
        assert_int_equal(c->aux, aux[label_layer]);
        open_chunks(&chunks, "rows");
        assert_ok(cuzk_circuit_shape(&shape, c, compare_chunk, &chunks, &err), err);
        close_chunks(&chunks);
        for (int slow = 0; slow < 2; slow++) {
            struct cuzk_witness *w = fill(c, label, given, slow);
            open_chunks(&chunks, "aux");
            assert_ok(cuzk_witness_aux_digest(digest, c, w, compare_chunk, &chunks, &err), err);
            close_chunks(&chunks);
            for (int m = 0; m < 3 && !slow; m++) {
                open_chunks(&chunks, (const char *[3]){"a", "b", "c"}[m]);
                assert_ok(cuzk_witness_product_digest(digest, c, w, m, NULL, compare_chunk, &chunks,
                                                      &err),
                          err);
                close_chunks(&chunks);
            }
            cuzk_witness_destroy(w);
        }
        cuzk_circuit_destroy(c);
        free(given);
    }
}

/* ---- other values than the vectors': both ways agree, and the rows hold ---- */

static void both_ways(const char *name, void (*run)(struct walk *w), const fr *given)
{
    struct cuzk_error err;
    uint32_t row;
    struct cuzk_circuit *c = build(name, run);
    struct cuzk_witness *fast = fill(c, run, given, false), *slow = fill(c, run, given, true);
    assert_memory_equal(fast->bits, slow->bits, (c->aux + 63) / 64 * 8);
    assert_memory_equal(fast->values, slow->values, c->dense * sizeof(fr));
    assert_memory_equal(fast->inputs, slow->inputs, c->inputs * sizeof(fr));
    assert_ok(cuzk_circuit_check(c, fast, &row, NULL, &err), err);
    cuzk_witness_destroy(fast);
    cuzk_witness_destroy(slow);
    cuzk_circuit_destroy(c);
}

static const struct cuzk_sha256_block block_patterns[] = {
    {.variable = 512},
    {.constant_state = true, .variable = 512},
    {.numbers = true, .variable = 512},
    {.constant_state = true, .numbers = true, .variable = 512},
    {.padded = true, .total = 512},
    {.numbers = true, .variable = 256, .padded = true, .total = 9984},
    {.constant_state = true, .layer = 1},
    {.constant_state = true, .layer = 11},
    {.constant_state = true, .variable = 8, .padded = true, .total = 8},
    {.constant_state = true, .variable = 447, .padded = true, .total = 447},
    {.constant_state = true, .variable = 448, .padded = true, .total = 448},
    {.variable = 511, .padded = true, .total = 1023},
};
static const struct cuzk_sha256_block *block_pattern;

static void one_block(struct walk *w)
{
    uint32_t state[256], message[512], ports[768], n = 0;
    uint64_t parameter = cuzk_sha256_parameter(block_pattern);
    uint32_t wanted = cuzk_sha256_ports(parameter);
    if (!block_pattern->constant_state) {
        bits(w, ports, 256);
        n = 256;
    }
    bits(w, message, wanted - n);
    memcpy(ports + n, message, (wanted - n) * sizeof *ports);
    step(w, &cuzk_gadget_sha256_block, parameter, ports, wanted, 0, state, 256);
}

static void test_random_blocks(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    fr given[768];
    for (size_t i = 0; i < sizeof block_patterns / sizeof *block_patterns; i++)
        for (int round = 0; round < 6; round++) {
            for (int j = 0; j < 768; j++) {
                bool one = round == 0 ? false : round == 1 ? true : test_random(&seed) & 1;
                given[j] = one ? bls12_381_fr_one : bls12_381_fr_zero;
            }
            block_pattern = &block_patterns[i];
            both_ways("block", one_block, given);
        }
}

static void test_edge_values(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    fr minus_one, half = {{BLS12_381_FR_TWO_INVERSE}}, given[40];
    bls12_381_fr_neg(&minus_one, &bls12_381_fr_one);
    for (int round = 0; round < 6; round++) {
        for (int i = 0; i < 40; i++) {
            const fr edges[4] = {bls12_381_fr_zero, bls12_381_fr_one, minus_one, half};
            given[i] = edges[round < 4 ? round : (int)(test_random(&seed) % 4)];
        }
        both_ways("bits", num_to_bits, given);
        both_ways("pack", pack_bits, given);
        both_ways("encode", encode, given);
        both_ways("poseidon", poseidon_2, given);
        both_ways("poseidon", poseidon_4, given);
        both_ways("poseidon", poseidon_8, given);
        both_ways("poseidon", poseidon_11, given);
        for (int i = 1; i < 4; i++) /* the places of the index's bits */
            given[i] = test_random(&seed) & 1 ? bls12_381_fr_one : bls12_381_fr_zero;
        both_ways("insert", insert_2, given);
        both_ways("insert", insert_4, given);
        both_ways("insert", insert_8, given);
    }
}

static void test_each_allocation_fails(void **state)
{
    (void)state;
    for (uint64_t n = 1;; n += n < 60 ? 1 : 7) {
        struct cuzk_error err;
        struct cuzk_builder *b = NULL;
        struct cuzk_composer *k = NULL;
        struct cuzk_circuit *c = NULL;
        uint32_t num[2], out;
        cuzk_alloc_fail_at(n);
        cuzk_status status = cuzk_builder_create(&b, "test", NULL, &err);
        if (status == CUZK_OK)
            status = cuzk_composer_create(&k, b, NULL, NULL, &err);
        if (status == CUZK_OK)
            status = cuzk_compose(k, &cuzk_gadget_numbers, 2, NULL, 0, NULL, num, 2, &err);
        if (status == CUZK_OK)
            status = cuzk_compose(k, &cuzk_gadget_poseidon, 2, num, 2, NULL, &out, 1, &err);
        if (status == CUZK_OK)
            status = cuzk_builder_finish(&c, b, &err);
        bool reached = cuzk_alloc_count() >= n;
        cuzk_alloc_fail_at(0);
        cuzk_composer_destroy(k);
        cuzk_builder_destroy(b);
        cuzk_circuit_destroy(c);
        if (status == CUZK_OK && !reached)
            break;
        assert_true(status == CUZK_E_MEMORY || status == CUZK_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gadgets),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_random_blocks),
        cmocka_unit_test(test_edge_values),
        cmocka_unit_test(test_each_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
