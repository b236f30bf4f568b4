/* PoRep's circuit at the small sizes: the network's shape by digest, the witnesses of real sectors,
 * and for each kind of breach the JSON path that is named. */
#include "unit/circuit/porep_vectors.h"

#include "base/alloc.h"

static struct cuzk_circuit *circuit_2KiB;
static struct cuzk_budget *budget;

static void test_shapes(void **state)
{
    (void)state;
    struct cuzk_account account;
    circuit_2KiB = expect_shape("porep-2KiB", true, budget);
    cuzk_circuit_destroy(expect_shape("porep-8MiB", true, budget));
    cuzk_circuit_destroy(expect_shape("porep-512MiB", true, budget));
    cuzk_budget_read(budget, &account);
    assert_int_equal(account.used, circuit_2KiB->charged);
    assert_true(account.peak < 32 << 20);
}

/* An instance stands for its template: few templates of at most 27,000 rows. */
static void test_templates(void **state)
{
    (void)state;
    const struct cuzk_circuit *c = circuit_2KiB;
    assert_true(c->template_count <= 20);
    assert_true(c->instance_count <= 298);
    uint32_t rows = 0, aux = 0;
    for (uint32_t i = 0; i < c->instance_count; i++) {
        const struct cuzk_template *t = &c->templates[c->instances[i].template_number];
        assert_int_equal(c->instances[i].first_row, rows);
        assert_int_equal(c->instances[i].first_aux, aux);
        assert_true(t->rows <= 27000);
        rows += t->rows;
        aux += t->own;
    }
    assert_int_equal(rows, c->rows);
    assert_int_equal(aux, c->aux);
}

static void test_witnesses(void **state)
{
    (void)state;
    static const char *const names[] = {"v11-101", "v11-102", "v1-201", "syn-301"};
    struct cuzk_threads *threads;
    struct cuzk_error err;
    assert_ok(cuzk_threads_create(&threads, 2, &err), err);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct cuzk_porep_sector *sector = read_sector(names[i], NULL);
        expect_witness(names[i], circuit_2KiB, sector, 0, true, threads);
        cuzk_porep_sector_destroy(sector);
    }
    cuzk_threads_destroy(threads);
}

static void test_check(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct cuzk_porep_vanilla vanilla;
    struct cuzk_witness *w;
    uint32_t row;
    struct cuzk_porep_sector *sector = read_sector("v11-101", NULL);
    cuzk_porep_partition(&vanilla, sector, 0);
    assert_ok(cuzk_porep_witness(&w, circuit_2KiB, &vanilla, NULL, &err), err);
    assert_ok(cuzk_circuit_check(circuit_2KiB, w, &row, NULL, &err), err);
    assert_int_equal(row, UINT32_MAX);
    /* one bit of a SHA-256 block turned */
    uint32_t i = circuit_2KiB->instance_count;
    const struct cuzk_instance *instance;
    do
        instance = &circuit_2KiB->instances[--i];
    while (strcmp(circuit_2KiB->templates[instance->template_number].name, "sha256 block") != 0);
    uint32_t bit = instance->first_aux + 20000;
    w->bits[bit / 64] ^= (uint64_t)1 << (bit % 64);
    assert_int_equal(cuzk_circuit_check(circuit_2KiB, w, &row, NULL, &err), CUZK_E_UNSATISFIED);
    assert_non_null(strstr(err.message, "sha256 block"));
    assert_true(row >= instance->first_row && row < instance->first_row + 27000);
    w->bits[bit / 64] ^= (uint64_t)1 << (bit % 64);
    /* another public input */
    bls12_381_fr_dbl(&w->inputs[1], &w->inputs[1]);
    assert_int_equal(cuzk_circuit_check(circuit_2KiB, w, &row, NULL, &err), CUZK_E_UNSATISFIED);
    assert_int_equal(row, 0);
    cuzk_witness_destroy(w);
    cuzk_porep_sector_destroy(sector);
}

/* The witness fails and its message holds the text; then the value is as it was. */
static void expect_breach(const struct cuzk_porep_sector *sector, fr *value, const char *text)
{
    struct cuzk_error err;
    struct cuzk_porep_vanilla vanilla;
    struct cuzk_witness *w = NULL;
    fr kept = *value;
    bls12_381_fr_add(value, value, &bls12_381_fr_one);
    cuzk_porep_partition(&vanilla, sector, 0);
    assert_int_equal(cuzk_porep_witness(&w, circuit_2KiB, &vanilla, NULL, &err), CUZK_E_INPUT);
    assert_null(w);
    if (strstr(err.message, text) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", err.message, text);
    *value = kept;
}

static void test_breaches(void **state)
{
    (void)state;
#define AT "vanilla_proofs.StackedDrg2KiBV1[0][1]."
    struct cuzk_porep_sector *s = read_sector("v11-102", NULL);
    struct cuzk_porep_challenge *c = &s->challenges[1];
    expect_breach(s, &s->comm_r, "comm_r: ");
    expect_breach(s, &s->comm_c, "comm_r: ");
    expect_breach(s, &s->comm_d, "[0][0].comm_d_proofs: ");
    expect_breach(s, &s->replica_id, "[0][0].replica_column_proofs.c_x.column.rows[0]: ");
    expect_breach(s, &c->data_siblings[3], AT "comm_d_proofs: ");
    expect_breach(s, &c->data_leaf, AT "comm_d_proofs: ");
    expect_breach(s, &c->replica_leaf, AT "comm_r_last_proof: the leaf");
    expect_breach(s, &c->replica_siblings[8], AT "comm_r_last_proof: the path");
    expect_breach(s, &c->own.rows[0], AT "replica_column_proofs.c_x.column.rows[0]: ");
    expect_breach(s, &c->own.rows[1], AT "replica_column_proofs.c_x.column.rows[1]: ");
    expect_breach(s, &c->own.leaf, AT "replica_column_proofs.c_x.inclusion_proof: the leaf");
    expect_breach(s, &c->own.siblings[0], AT "replica_column_proofs.c_x.inclusion_proof: the path");
    expect_breach(s, &c->drg[5].rows[1],
                  AT "replica_column_proofs.drg_parents[5].inclusion_proof: the leaf");
    expect_breach(s, &c->drg[0].siblings[2],
                  AT "replica_column_proofs.drg_parents[0].inclusion_proof: the path");
    expect_breach(s, &c->exp[7].leaf,
                  AT "replica_column_proofs.exp_parents[7].inclusion_proof: the leaf");
    expect_breach(s, &c->exp[3].siblings[13],
                  AT "replica_column_proofs.exp_parents[3].inclusion_proof: the path");
#undef AT
    cuzk_porep_sector_destroy(s);
}

static void test_another_circuit(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct cuzk_porep_sector *sector;
    struct cuzk_porep_vanilla vanilla;
    struct cuzk_witness *w;
    assert_ok(cuzk_porep_sector_create(&sector, cuzk_porep_by_circuit("porep-8MiB"), NULL, &err),
              err);
    cuzk_porep_partition(&vanilla, sector, 0);
    assert_int_equal(cuzk_porep_witness(&w, circuit_2KiB, &vanilla, NULL, &err), CUZK_E_MISMATCH);
    cuzk_porep_sector_destroy(sector);
}

static void test_allocations_fail(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct cuzk_circuit *c;
    struct cuzk_porep_vanilla vanilla;
    struct cuzk_witness *w;
    const struct cuzk_porep_params *params = cuzk_porep_by_circuit("porep-2KiB");
    struct cuzk_porep_sector *sector = read_sector("v11-101", NULL);
    cuzk_porep_partition(&vanilla, sector, 0);
    cuzk_alloc_fail_at(0);
    assert_ok(cuzk_porep_circuit(&c, params, NULL, &err), err);
    uint64_t count = cuzk_alloc_count();
    cuzk_circuit_destroy(c);
    /* each of the first, then some: a template's rows allocate the same way over and over */
    for (uint64_t n = 1; n <= count; n += n < 40 ? 1 : count / 40) {
        cuzk_alloc_fail_at(n);
        cuzk_status status = cuzk_porep_circuit(&c, params, NULL, &err);
        assert_true(status == CUZK_E_MEMORY || status == CUZK_OK);
        if (status == CUZK_OK)
            cuzk_circuit_destroy(c);
        else
            assert_null(c);
    }
    cuzk_alloc_fail_at(0);
    assert_ok(cuzk_porep_witness(&w, circuit_2KiB, &vanilla, NULL, &err), err);
    count = cuzk_alloc_count();
    cuzk_witness_destroy(w);
    for (uint64_t n = 1; n <= count; n++) {
        cuzk_alloc_fail_at(n);
        assert_int_equal(cuzk_porep_witness(&w, circuit_2KiB, &vanilla, NULL, &err), CUZK_E_MEMORY);
        assert_null(w);
    }
    cuzk_alloc_fail_at(0);
    cuzk_porep_sector_destroy(sector);
}

/* Matrix and transposed matrix are the same numbers: <x, M w> = <Mᵀ x, w>. */
static void test_transpose(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct cuzk_porep_vanilla vanilla;
    struct cuzk_witness *w;
    struct cuzk_threads *threads;
    uint64_t seed = test_seed();
    const struct cuzk_circuit *c = circuit_2KiB;
    struct cuzk_porep_sector *sector = read_sector("v11-101", NULL);
    cuzk_porep_partition(&vanilla, sector, 0);
    assert_ok(cuzk_porep_witness(&w, c, &vanilla, NULL, &err), err);
    assert_ok(cuzk_threads_create(&threads, 3, &err), err);
    size_t variables = (size_t)c->inputs + c->aux;
    fr *x = calloc(c->rows, sizeof *x), *y = calloc(c->rows, sizeof *y), *out[3];
    for (uint32_t i = 0; i < c->rows; i++)
        bls12_381_fr_from_u64(&x[i], test_random(&seed));
    for (int m = 0; m < 3; m++)
        out[m] = calloc(variables, sizeof *x);
    cuzk_circuit_transpose_multiply(out, c, x, threads);
    for (int m = 0; m < 3; m++) {
        fr left = bls12_381_fr_zero, right = bls12_381_fr_zero, t;
        cuzk_circuit_multiply(y, c, w, m, 0, c->rows, threads);
        for (uint32_t i = 0; i < c->rows; i++) {
            bls12_381_fr_mul(&t, &x[i], &y[i]);
            bls12_381_fr_add(&left, &left, &t);
        }
        for (size_t i = 0; i < variables; i++) {
            uint32_t tag = i < c->inputs ? 2 * (uint32_t)i : 2 * (uint32_t)(i - c->inputs) + 1;
            fr value;
            cuzk_witness_get(&value, w, c, tag);
            bls12_381_fr_mul(&t, &out[m][i], &value);
            bls12_381_fr_add(&right, &right, &t);
        }
        assert_false(bls12_381_fr_is_zero(&left));
        assert_true(bls12_381_fr_eq(&left, &right));
        /* a range within instances gives the same rows */
        fr part[1000];
        cuzk_circuit_multiply(part, c, w, m, 123456, 1000, threads);
        assert_memory_equal(part, y + 123456, sizeof part);
        free(out[m]);
    }
    free(x);
    free(y);
    cuzk_threads_destroy(threads);
    cuzk_witness_destroy(w);
    cuzk_porep_sector_destroy(sector);
}

static int setup(void **state)
{
    (void)state;
    return cuzk_budget_create(&budget, "test", UINT64_MAX, NULL, NULL) != CUZK_OK;
}

static int teardown(void **state)
{
    (void)state;
    struct cuzk_account account;
    cuzk_circuit_destroy(circuit_2KiB);
    cuzk_budget_read(budget, &account);
    cuzk_budget_destroy(budget);
    return account.used != 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),    cmocka_unit_test(test_templates),
        cmocka_unit_test(test_witnesses), cmocka_unit_test(test_check),
        cmocka_unit_test(test_breaches),  cmocka_unit_test(test_another_circuit),
        cmocka_unit_test(test_transpose), cmocka_unit_test(test_allocations_fail),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
