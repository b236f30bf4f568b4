/* Small and odd circuits, with keys of our own setup, against an oracle that knows the waste: A, B
 * and C of a proof are computed from tau directly (Lagrange polynomials by their definition, rows
 * one by one), with no transform, quotient or multi-exponentiation, and held against the proof's
 * bytes.
 */
#include "unit/groth16/groth.h"

#include "circuit/build.h"
#include "unit/curve/paths.h"

typedef struct bls12_381_fr fr;

/* ---- circuits by rows, in signed small coefficients ---- */

struct small_term {
    int matrix, variable; /* local: ports first */
    int64_t coefficient;
};
/* One template over ports 0 … inputs - 1 (the inputs, in order) and own variables. */
struct spec {
    const char *name;
    uint32_t inputs, own, rows;
    const struct small_term *const *row; /* each ended by matrix = -1 */
    uint64_t boolean[2];
    uint32_t log2_domain;
    const int64_t *values; /* inputs, then own */
};

static fr small(int64_t x)
{
    fr r;
    bls12_381_fr_from_u64(&r, (uint64_t)(x < 0 ? -x : x));
    if (x < 0)
        bls12_381_fr_neg(&r, &r);
    return r;
}

static struct cuzk_circuit *build(const struct spec *spec)
{
    struct cuzk_error err;
    struct cuzk_builder *b;
    struct cuzk_circuit *circuit;
    uint32_t number, first;
    assert_ok(cuzk_builder_create(&b, spec->name, NULL, &err), err);
    uint32_t ports[64];
    for (uint32_t i = 0; i < spec->inputs; i++) {
        if (i > 0)
            assert_ok(cuzk_builder_input(b, &number, &err), err);
        ports[i] = 2 * i;
    }
    if (spec->rows > 0) {
        assert_ok(cuzk_builder_begin(b, &err), err);
        for (uint32_t r = 0; r < spec->rows; r++) {
            struct cuzk_term terms[3][80];
            uint32_t counts[3] = {0};
            for (const struct small_term *t = spec->row[r]; t->matrix >= 0; t++) {
                fr c = small(t->coefficient);
                assert_ok(cuzk_builder_coefficient(b, &number, &c, &err), err);
                terms[t->matrix][counts[t->matrix]++] =
                    (struct cuzk_term){(uint16_t)t->variable, (uint16_t)number};
            }
            assert_ok(cuzk_builder_row(b,
                                       (const struct cuzk_term *[3]){terms[0], terms[1], terms[2]},
                                       counts, &err),
                      err);
        }
        assert_ok(
            cuzk_builder_end(b, &number, spec->name, spec->inputs, spec->own, spec->boolean, &err),
            err);
        assert_ok(cuzk_builder_instance(b, &first, number, ports, &err), err);
    } else if (spec->own > 0) {
        assert_ok(cuzk_builder_aux(b, spec->own, &err), err);
    }
    assert_ok(cuzk_builder_finish(&circuit, b, &err), err);
    cuzk_builder_destroy(b);
    assert_int_equal(circuit->inputs, spec->inputs);
    assert_int_equal(circuit->aux, spec->own);
    return circuit;
}

static struct cuzk_witness *fill(const struct spec *spec, const struct cuzk_circuit *circuit)
{
    struct cuzk_error err;
    struct cuzk_witness *w;
    assert_ok(cuzk_witness_create(&w, circuit, NULL, &err), err);
    for (uint32_t i = 0; i < spec->inputs; i++)
        w->inputs[i] = small(spec->values[i]);
    uint32_t dense = 0;
    for (uint32_t i = 0; i < spec->own; i++) {
        int64_t v = spec->values[spec->inputs + i];
        if (circuit->boolean[i / 64] >> (i % 64) & 1)
            w->bits[i / 64] |= (uint64_t)v << (i % 64);
        else
            w->values[dense++] = small(v);
    }
    assert_int_equal(dense, circuit->dense);
    return w;
}

/* ---- the oracle ---- */

enum { MOST = 512 };
struct oracle {
    uint32_t n, inputs, variables;
    fr lagrange[MOST];
    fr poly[3][MOST]; /* A_j, B_j, C_j at tau; inputs, then auxiliaries */
    fr value[MOST];   /* of the variables */
};

static const struct cuzk_circuit *row_circuit;

static cuzk_status add_row(void *context, uint32_t row, const struct cuzk_row_term *const terms[3],
                           const uint32_t counts[3], struct cuzk_error *err)
{
    (void)err;
    struct oracle *o = context;
    for (int m = 0; m < 3; m++)
        for (uint32_t i = 0; i < counts[m]; i++) {
            uint32_t tag = terms[m][i].tag;
            fr t;
            bls12_381_fr_mul(&t, &row_circuit->coefficients[terms[m][i].coefficient],
                             &o->lagrange[row]);
            fr *sum = &o->poly[m][tag % 2 == 0 ? tag / 2 : o->inputs + tag / 2];
            bls12_381_fr_add(sum, sum, &t);
        }
    return CUZK_OK;
}

/* Each L_i as the product over j != i of (tau - w^j)/(w^i - w^j). */
static void oracle_make(struct oracle *o, const struct cuzk_circuit *circuit,
                        const struct cuzk_witness *w, const fr *tau)
{
    struct cuzk_error err;
    memset(o, 0, sizeof *o);
    o->inputs = circuit->inputs;
    o->variables = circuit->inputs + circuit->aux;
    uint32_t rows = circuit->rows + circuit->inputs, log2 = 0;
    for (o->n = 1; o->n < rows; o->n *= 2)
        log2++;
    assert_true(o->n <= MOST && o->variables <= MOST);
    fr root = {{BLS12_381_FR_ROOT_OF_UNITY}}, point[MOST];
    for (uint32_t i = log2; i < 32; i++)
        bls12_381_fr_sqr(&root, &root);
    for (uint32_t i = 0; i < o->n; i++)
        bls12_381_fr_pow_u64(&point[i], &root, i);
    for (uint32_t i = 0; i < o->n; i++) {
        fr over = bls12_381_fr_one, under = bls12_381_fr_one, t;
        for (uint32_t j = 0; j < o->n; j++) {
            if (j == i)
                continue;
            bls12_381_fr_sub(&t, tau, &point[j]);
            bls12_381_fr_mul(&over, &over, &t);
            bls12_381_fr_sub(&t, &point[i], &point[j]);
            bls12_381_fr_mul(&under, &under, &t);
        }
        bls12_381_fr_inv(&under, &under);
        bls12_381_fr_mul(&o->lagrange[i], &over, &under);
    }
    row_circuit = circuit;
    assert_ok(cuzk_circuit_rows(circuit, 0, circuit->rows, add_row, o, &err), err);
    for (uint32_t i = 0; i < circuit->inputs; i++)
        bls12_381_fr_add(&o->poly[0][i], &o->poly[0][i], &o->lagrange[circuit->rows + i]);
    for (uint32_t j = 0; j < o->variables; j++)
        cuzk_witness_get(&o->value[j], w, circuit, j < o->inputs ? 2 * j : 2 * (j - o->inputs) + 1);
}

/* out += Σ value_j·poly_j over variables from first. */
static void evaluate(fr *out, const struct oracle *o, int m, uint32_t first)
{
    for (uint32_t j = first; j < o->variables; j++) {
        fr t;
        bls12_381_fr_mul(&t, &o->value[j], &o->poly[m][j]);
        bls12_381_fr_add(out, out, &t);
    }
}

static void mul_add(fr *out, const fr *a, const fr *b)
{
    fr t;
    bls12_381_fr_mul(&t, a, b);
    bls12_381_fr_add(out, out, &t);
}

/* The discrete logarithms of A, B, C for the given waste, r and s. */
static void oracle_proof(fr out[3], const struct oracle *o, const struct cuzk_waste *x, const fr *r,
                         const fr *s)
{
    fr a = bls12_381_fr_zero, b = a, c = a, t, inverse;
    evaluate(&a, o, 0, 0);
    evaluate(&b, o, 1, 0);
    evaluate(&c, o, 2, 0);
    /* h·Z = A·B − C; and the auxiliaries' part of beta·A + alpha·B + C; over delta */
    fr sum = bls12_381_fr_zero;
    mul_add(&sum, &a, &b);
    bls12_381_fr_sub(&sum, &sum, &c);
    for (int m = 0; m < 3; m++) {
        fr part = bls12_381_fr_zero;
        evaluate(&part, o, m, o->inputs);
        mul_add(&sum, &part, m == 0 ? &x->beta : m == 1 ? &x->alpha : &bls12_381_fr_one);
    }
    bls12_381_fr_inv(&inverse, &x->delta);
    bls12_381_fr_mul(&sum, &sum, &inverse);
    bls12_381_fr_add(&out[0], &a, &x->alpha);
    mul_add(&out[0], r, &x->delta);
    bls12_381_fr_add(&out[1], &b, &x->beta);
    mul_add(&out[1], s, &x->delta);
    mul_add(&sum, s, &out[0]);
    mul_add(&sum, r, &out[1]);
    bls12_381_fr_mul(&t, r, s);
    bls12_381_fr_mul(&t, &t, &x->delta);
    bls12_381_fr_sub(&out[2], &sum, &t);

    /* the pairing equation in the exponent, so that the oracle is itself held to Groth16 */
    fr left, right = bls12_381_fr_zero;
    bls12_381_fr_mul(&left, &out[0], &out[1]);
    mul_add(&right, &x->alpha, &x->beta);
    mul_add(&right, &out[2], &x->delta);
    for (uint32_t j = 0; j < o->inputs; j++) {
        fr ic = bls12_381_fr_zero;
        mul_add(&ic, &x->beta, &o->poly[0][j]);
        mul_add(&ic, &x->alpha, &o->poly[1][j]);
        bls12_381_fr_add(&ic, &ic, &o->poly[2][j]);
        mul_add(&right, &ic, &o->value[j]);
    }
    assert_true(bls12_381_fr_eq(&left, &right));
}

static void points(uint8_t out[CUZK_PROOF_BYTES], const fr logs[3])
{
    const struct bls12_381_ops *curve = bls12_381_ops("portable");
    struct cuzk_proof proof;
    struct bls12_381_g1 g1, t;
    struct bls12_381_g2 g2;
    curve->g1_from_affine(&g1, &g1_generator);
    curve->g2_from_affine(&g2, &g2_generator);
    curve->g1_mul(&t, &g1, &logs[0]);
    curve->g1_to_affine(&proof.a, &t);
    curve->g2_mul(&g2, &g2, &logs[1]);
    curve->g2_to_affine(&proof.b, &g2);
    curve->g1_mul(&t, &g1, &logs[2]);
    curve->g1_to_affine(&proof.c, &t);
    cuzk_proof_encode(out, &proof);
}

static uint64_t seed;

static void prove_and_check(const struct spec *spec)
{
    struct cuzk_error err;
    struct scratch params = scratch_path("tiny.params"), vk = scratch_path("tiny.vk");
    struct cuzk_waste waste = {.alpha = random_fr(&seed),
                               .beta = random_fr(&seed),
                               .gamma = random_fr(&seed),
                               .delta = random_fr(&seed),
                               .tau = random_fr(&seed)};
    print_message("%s\n", spec->name);
    for (unsigned threads = 1; threads <= 2; threads++) {
        struct cuzk_context *context = make_context(threads, NULL);
        struct cuzk_circuit *circuit = build(spec);
        struct cuzk_relation *relation;
        struct cuzk_key *key;
        struct cuzk_verifier *verifier;
        struct cuzk_insecure_rs rs;
        uint8_t proof[CUZK_PROOF_BYTES], expected[CUZK_PROOF_BYTES], inputs[64 * 32];
        assert_ok(cuzk_relation_create(&relation, context, circuit, &err), err);
        assert_int_equal(relation->qap->log2_domain, spec->log2_domain);
        assert_ok(cuzk_setup_write(relation, params.path, vk.path, &waste, NULL, &err), err);
        assert_ok(cuzk_key_open(&key, relation, params.path, CUZK_KEY_STREAMED, &err), err);
        assert_ok(cuzk_verifier_open(&verifier, vk.path, &err), err);

        struct cuzk_witness *w = fill(spec, circuit);
        struct oracle *o = malloc(sizeof *o);
        fr r = random_fr(&seed), s = random_fr(&seed), logs[3];
        assert_non_null(o);
        oracle_make(o, circuit, w, &waste.tau);
        oracle_proof(logs, o, &waste, &r, &s);
        free(o);
        points(expected, logs);
        bls12_381_fr_to_le(rs.r, &r);
        bls12_381_fr_to_le(rs.s, &s);
        cuzk_witness_inputs(inputs, w);
        assert_ok(cuzk_prove(key, &w, &rs, proof, NULL, &err), err);
        assert_memory_equal(proof, expected, sizeof proof);
        for (int fixed = 1; fixed >= 0; fixed--) {
            assert_ok(cuzk_verify(verifier, proof, sizeof proof, inputs, spec->inputs - 1, 1, &err),
                      err);
            if (spec->inputs > 1) {
                inputs[7] ^= 1;
                assert_int_equal(
                    cuzk_verify(verifier, proof, sizeof proof, inputs, spec->inputs - 1, 1, &err),
                    CUZK_E_PROOF);
                inputs[7] ^= 1;
            }
            w = fill(spec, circuit);
            assert_ok(cuzk_prove(key, &w, NULL, proof, NULL, &err), err);
        }
        cuzk_verifier_free(verifier);
        cuzk_key_close(key);
        cuzk_relation_free(relation);
        cuzk_context_free(context);
    }
    (void)unlink(params.path);
    (void)unlink(vk.path);
}

#define A(v, c)                                                                                    \
    {                                                                                              \
        CUZK_A, v, c                                                                               \
    }
#define B(v, c)                                                                                    \
    {                                                                                              \
        CUZK_B, v, c                                                                               \
    }
#define C(v, c)                                                                                    \
    {                                                                                              \
        CUZK_C, v, c                                                                               \
    }
#define END                                                                                        \
    {                                                                                              \
        -1, 0, 0                                                                                   \
    }
#define ROW(name, ...) static const struct small_term name[] = {__VA_ARGS__, END}
#define ROWS(name, ...) static const struct small_term *const name[] = {__VA_ARGS__}
#define V(...)                                                                                     \
    (const int64_t[])                                                                              \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static void test_no_constraint(void **state)
{
    (void)state;
    prove_and_check(&(struct spec){.name = "nothing", .inputs = 1, .values = V(1)});
    prove_and_check(
        &(struct spec){.name = "one input", .inputs = 2, .log2_domain = 1, .values = V(1, 77)});
    prove_and_check(&(struct spec){
        .name = "four inputs", .inputs = 5, .log2_domain = 3, .values = V(1, 0, -1, 5, 0)});
}

static void test_few_constraints(void **state)
{
    (void)state;
    /* x·x = 49, no public input */
    ROW(square, A(1, 1), B(1, 1), C(0, 49));
    ROWS(one, square);
    prove_and_check(&(struct spec){.name = "1 row, private",
                                   .inputs = 1,
                                   .own = 1,
                                   .rows = 1,
                                   .row = one,
                                   .log2_domain = 1,
                                   .values = V(1, -7)});
    /* x·x = y */
    ROW(square_in, A(2, 1), B(2, 1), C(1, 1));
    ROWS(one_in, square_in);
    prove_and_check(&(struct spec){.name = "1 row, an input",
                                   .inputs = 2,
                                   .own = 1,
                                   .rows = 1,
                                   .row = one_in,
                                   .log2_domain = 2,
                                   .values = V(1, 49, -7)});
    /* x·x = z, z·x = y */
    ROW(first, A(2, 1), B(2, 1), C(3, 1));
    ROW(second, A(3, 1), B(2, 1), C(1, 1));
    ROWS(two, first, second);
    prove_and_check(&(struct spec){.name = "2 rows",
                                   .inputs = 2,
                                   .own = 2,
                                   .rows = 2,
                                   .row = two,
                                   .log2_domain = 2,
                                   .values = V(1, -27, -3, 9)});
    /* and (x + 2z − 1)·1 = 14 */
    ROW(third, A(2, 1), A(3, 2), A(0, -1), B(0, 1), C(0, 14));
    ROWS(three, first, second, third);
    prove_and_check(&(struct spec){.name = "3 rows",
                                   .inputs = 2,
                                   .own = 2,
                                   .rows = 3,
                                   .row = three,
                                   .log2_domain = 3,
                                   .values = V(1, -27, -3, 9)});
    prove_and_check(&(struct spec){.name = "all zero",
                                   .inputs = 2,
                                   .own = 2,
                                   .rows = 2,
                                   .row = two,
                                   .log2_domain = 2,
                                   .values = V(1, 0, 0, 0)});
}

static void test_empty_matrices(void **state)
{
    (void)state;
    /* x·0 = 0: nothing in B, so the queries b are empty */
    ROW(free_row, A(1, 1));
    ROWS(empty_b, free_row);
    prove_and_check(&(struct spec){.name = "empty B",
                                   .inputs = 1,
                                   .own = 1,
                                   .rows = 1,
                                   .row = empty_b,
                                   .log2_domain = 1,
                                   .values = V(1, 5)});
    /* 0·x = 0: nothing in A but the inputs' own rows */
    ROW(only_b, B(2, 1));
    ROWS(empty_a, only_b);
    prove_and_check(&(struct spec){.name = "empty A and C",
                                   .inputs = 2,
                                   .own = 1,
                                   .rows = 1,
                                   .row = empty_a,
                                   .log2_domain = 2,
                                   .values = V(1, 8, 5)});
    /* an empty row among others */
    ROW(square, A(1, 1), B(1, 1), C(0, 49));
    static const struct small_term nothing[] = {END};
    ROWS(gap, nothing, square, nothing);
    prove_and_check(&(struct spec){.name = "empty rows",
                                   .inputs = 1,
                                   .own = 1,
                                   .rows = 3,
                                   .row = gap,
                                   .log2_domain = 2,
                                   .values = V(1, 7)});
}

/* rows + inputs = 2^k/2 and one more: the domain jumps between them. */
static void test_around_powers(void **state)
{
    (void)state;
    enum { LONGEST = 64 };
    static struct small_term rows[LONGEST][4];
    static const struct small_term *row[LONGEST];
    static int64_t values[LONGEST + 2];
    /* x_(i+1) = x_i·1 for x_0 the input: every value 3 */
    values[0] = 1;
    for (int i = 0; i < LONGEST; i++) {
        const struct small_term chain[4] = {A(1 + i, 1), B(0, 1), C(2 + i, 1), END};
        memcpy(rows[i], chain, sizeof chain);
        row[i] = rows[i];
        values[1 + i] = 3;
    }
    values[LONGEST + 1] = 3;
    for (uint32_t k = 2; k <= 5; k++)
        for (uint32_t more = 0; more <= 1; more++) {
            uint32_t n = (1u << k) - 2 + more;
            prove_and_check(&(struct spec){.name = more ? "just over a power" : "just a power",
                                           .inputs = 2,
                                           .own = n,
                                           .rows = n,
                                           .row = row,
                                           .log2_domain = k + more,
                                           .values = values});
        }
}

/* 70 booleans and their sum: bits across a word, some only in A, some in both. */
static void test_booleans(void **state)
{
    (void)state;
    enum { BITS = 70 };
    static struct small_term rows[BITS + 1][BITS + 4];
    static const struct small_term *row[BITS + 1];
    static int64_t values[BITS + 3];
    for (int kind = 0; kind < 3; kind++) {
        int64_t sum = 0;
        values[0] = 1;
        for (int i = 0; i < BITS; i++) {
            int bit = kind == 0 ? (int)(test_random(&seed) & 1) : kind - 1;
            /* every third: b·0 = 0, in A alone; the others b·(1 − b) = 0 */
            const struct small_term check[4] = {A(2 + i, 1), B(0, 1), B(2 + i, -1), END};
            const struct small_term alone[4] = {A(2 + i, 1), END};
            memcpy(rows[i], i % 3 == 0 ? alone : check, sizeof check);
            row[i] = rows[i];
            values[2 + i] = bit;
            sum += (i + 1) * bit;
        }
        struct small_term *pack = rows[BITS];
        for (int i = 0; i < BITS; i++)
            *pack++ = (struct small_term)A(2 + i, i + 1);
        *pack++ = (struct small_term)B(2 + BITS, 1);
        *pack++ = (struct small_term)C(1, 1);
        *pack = (struct small_term)END;
        row[BITS] = rows[BITS];
        values[1] = 2 * sum;
        values[2 + BITS] = 2; /* the only own variable that is not boolean */
        prove_and_check(&(struct spec){.name = "booleans",
                                       .inputs = 2,
                                       .own = BITS + 1,
                                       .rows = BITS + 1,
                                       .row = row,
                                       .boolean = {UINT64_MAX, (1u << (BITS - 64)) - 1},
                                       .log2_domain = 7,
                                       .values = values});
    }
}

/* Circuits at random: each row is (Σ c_i·x_i)·(Σ d_j·x_j) = v with v a coefficient of the constant
 * one; values of −3 … 3, or bits; densities of A and B differ from circuit to circuit. */
static void test_random_circuits(void **state)
{
    (void)state;
    enum { MOST_ROWS = 150, MOST_OWN = 120, MOST_INPUTS = 6, TERMS = 4 };
    static struct small_term rows[MOST_ROWS][2 * TERMS + 2];
    static const struct small_term *row[MOST_ROWS];
    static int64_t values[MOST_INPUTS + MOST_OWN];
    for (int round = 0; round < 16; round++) {
        struct spec s = {.name = "random", .row = row, .values = values};
        s.inputs = 1 + (uint32_t)(test_random(&seed) % MOST_INPUTS);
        s.own = 1 + (uint32_t)(test_random(&seed) % (round < 4 ? 5 : MOST_OWN));
        s.rows = s.own + (uint32_t)(test_random(&seed) % 30);
        for (uint32_t i = 0; i < s.own; i++)
            if (test_random(&seed) % 4 != 0)
                s.boolean[i / 64] |= (uint64_t)1 << (i % 64);
        values[0] = 1;
        for (uint32_t i = 1; i < s.inputs + s.own; i++) {
            uint32_t own = i - s.inputs;
            bool bit = i >= s.inputs && (s.boolean[own / 64] >> (own % 64) & 1);
            values[i] =
                bit ? (int64_t)(test_random(&seed) % 2) : (int64_t)(test_random(&seed) % 7) - 3;
        }
        uint32_t variables = s.inputs + s.own;
        for (uint32_t r = 0; r < s.rows; r++) {
            struct small_term *t = rows[r];
            int64_t sums[2] = {0, 0};
            for (int m = CUZK_A; m <= CUZK_B; m++) {
                /* row r < own has variable r in A or in B, so that none is loose; the rest are
                 * neighbours at random, so that they are distinct */
                bool named = r < s.own && m == (int)(r % 3 == 0);
                uint32_t v = named ? s.inputs + r : (uint32_t)(test_random(&seed) % variables);
                uint32_t count = (uint32_t)(test_random(&seed) % TERMS) + named;
                for (uint32_t i = 0; i < count && v + i < variables && i < TERMS; i++) {
                    int64_t c = (int64_t)(test_random(&seed) % 3) + 1;
                    c = test_random(&seed) % 2 ? c : -c;
                    *t++ = (struct small_term){m, (int)(v + i), c};
                    sums[m] += c * values[v + i];
                }
            }
            if (sums[0] * sums[1] != 0)
                *t++ = (struct small_term)C(0, sums[0] * sums[1]);
            *t = (struct small_term)END;
            row[r] = rows[r];
        }
        while (((uint32_t)1 << s.log2_domain) < s.rows + s.inputs)
            s.log2_domain++;
        prove_and_check(&s);
    }
}

static void test_refused(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct scratch params = scratch_path("tiny.params");
    struct cuzk_context *context = make_context(1, NULL);
    struct cuzk_relation *relation;
    /* an auxiliary in no row: what it is worth, no proof would say */
    struct cuzk_circuit *circuit =
        build(&(struct spec){.name = "loose", .inputs = 1, .own = 2, .values = V(1, 2, 3)});
    assert_ok(cuzk_relation_create(&relation, context, circuit, &err), err);
    assert_int_equal(cuzk_setup(relation, params.path, NULL, NULL, &err), CUZK_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "auxiliary variable 0"));
    assert_int_not_equal(access(params.path, F_OK), 0);
    cuzk_relation_free(relation);

    /* tau in the domain: Z is zero there */
    circuit = build(&(struct spec){.name = "four inputs", .inputs = 4});
    assert_ok(cuzk_relation_create(&relation, context, circuit, &err), err);
    struct cuzk_waste waste = {.alpha = random_fr(&seed),
                               .beta = random_fr(&seed),
                               .gamma = random_fr(&seed),
                               .delta = random_fr(&seed),
                               .tau = small(-1)};
    assert_int_equal(cuzk_setup_write(relation, params.path, NULL, &waste, NULL, &err),
                     CUZK_E_ARGUMENT);
    assert_non_null(strstr(err.message, "tau"));
    cuzk_relation_free(relation);
    cuzk_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_constraint),  cmocka_unit_test(test_few_constraints),
        cmocka_unit_test(test_empty_matrices), cmocka_unit_test(test_around_powers),
        cmocka_unit_test(test_booleans),       cmocka_unit_test(test_random_circuits),
        cmocka_unit_test(test_refused),
    };
    seed = test_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
