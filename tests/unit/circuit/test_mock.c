/* Mock sectors: every equality of the vanilla proof holds in them, at all sizes, as it does in the
 * sealed sectors. */
#include "unit/vectors.h"

#include <unistd.h>

#include "base/alloc.h"
#include "base/os.h"
#include "circuit/porep_circuit.h"
#include "circuit/porep_mock.h"
#include "circuit/porep_statement.h"
#include "format/c1.h"
#include "format/meta.h"
#include "unit/circuit/vanilla.h"

/* The verifier itself, on sealed sectors and on the network's own mock of 32 GiB. */
static void test_verifier(void **state)
{
    (void)state;
    const struct {
        const char *path, *circuit;
    } sectors[] = {{"sectors/v11-101/c1.json.zst", NULL},
                   {"sectors/v1-201/c1.json.zst", NULL},
                   {"sectors/syn-301/c1.json.zst", NULL},
                   {"sectors/mini32-501/c1.json.zst", "porep-mini32"},
                   {"sectors/mock32-3201/c1.json.zst", NULL}};
    for (size_t i = 0; i < sizeof sectors / sizeof sectors[0]; i++) {
        struct cuzk_error err;
        struct cuzk_porep_sector *sector;
        size_t size;
        uint8_t *text = vector_read(sectors[i].path, &size);
        const char *circuit = sectors[i].circuit;
        assert_ok(cuzk_c1_parse(&sector, sectors[i].path, text, size,
                                circuit != NULL ? cuzk_porep_by_circuit(circuit) : NULL, NULL,
                                &err),
                  err);
        vanilla_verify(sector);
        cuzk_porep_sector_destroy(sector);
        free(text);
    }
}

static void write_to(char path[32], const struct cuzk_porep_sector *sector)
{
    struct cuzk_error err;
    strcpy(path, "/tmp/cuzk-test-mock-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    (void)close(fd);
    assert_ok(cuzk_c1_write(sector, path, &err), err);
}

/* Written and read again, a sector gives the same bytes: the forms of all sizes, "Top" of 64 GiB
 * among them, which no sealed sector of the vectors has. */
static void check_form(const struct cuzk_porep_sector *sector)
{
    struct cuzk_error err;
    char first[32], second[32];
    struct cuzk_porep_sector *back;
    struct cuzk_mapping a, b;
    write_to(first, sector);
    assert_ok(cuzk_c1_read(&back, first, sector->params, NULL, &err), err);
    write_to(second, back);
    assert_ok(cuzk_os_map(&a, first, &err), err);
    assert_ok(cuzk_os_map(&b, second, &err), err);
    assert_int_equal(a.size, b.size);
    assert_int_equal(memcmp(a.data, b.data, a.size), 0);
    cuzk_os_unmap(&a);
    cuzk_os_unmap(&b);
    (void)unlink(first);
    (void)unlink(second);
    cuzk_porep_sector_destroy(back);
}

static void test_all_sizes(void **state)
{
    (void)state;
    size_t count;
    const struct cuzk_porep_params *table = cuzk_porep_table(&count);
    struct cuzk_error err;
    struct cuzk_meta zero;
    assert_ok(cuzk_meta_read(&zero, CUZK_VECTORS_DIR "/sectors/mock32-3201/meta.json", NULL, &err),
              err);
    for (size_t i = 0; i < count; i++) {
        struct cuzk_budget *budget;
        struct cuzk_porep_sector *sector = (void *)state;
        struct cuzk_porep_owner owner;
        assert_ok(cuzk_budget_create(&budget, "host", 16 << 20, NULL, &err), err);
        cuzk_status status = cuzk_porep_mock(&sector, &owner, &table[i], 7, budget, &err);
        if (table[i].feature != CUZK_POREP_INTERACTIVE) {
            assert_int_equal(status, CUZK_E_UNSUPPORTED);
            assert_null(sector);
            cuzk_budget_destroy(budget);
            continue;
        }
        assert_int_equal(status, CUZK_OK);
        vanilla_verify(sector);
        if (table[i].api_minor == 1)
            check_form(sector);
        /* the network's zero commitment */
        if (strcmp(table[i].circuit, zero.params->circuit) == 0)
            assert_true(bls12_381_fr_eq(&sector->comm_d, &zero.comm_d));
        assert_ok(cuzk_porep_check(sector, &err), err);
        struct cuzk_meta meta;
        cuzk_meta_of(&meta, sector, owner.miner, owner.sector_number);
        assert_ok(cuzk_meta_match(&meta, sector, &err), err);
        cuzk_porep_sector_destroy(sector);
        cuzk_budget_destroy(budget);
    }
}

/* Same seed, same bytes; another seed, another sector. What is written is read again. */
static void test_deterministic(void **state)
{
    (void)state;
    struct cuzk_error err;
    const struct cuzk_porep_params *params = cuzk_porep_by_circuit("porep-mini32");
    struct cuzk_porep_sector *a, *b, *c;
    struct cuzk_porep_owner owner_a, owner_b, owner_c;
    assert_ok(cuzk_porep_mock(&a, &owner_a, params, 42, NULL, &err), err);
    assert_ok(cuzk_porep_mock(&b, &owner_b, params, 42, NULL, &err), err);
    assert_ok(cuzk_porep_mock(&c, &owner_c, params, 43, NULL, &err), err);
    assert_int_equal(owner_a.sector_number, owner_b.sector_number);
    assert_false(bls12_381_fr_eq(&a->comm_r, &c->comm_r));
    assert_false(bls12_381_fr_eq(&a->replica_id, &c->replica_id));

    char path_a[32], path_b[32], path_back[32];
    write_to(path_a, a);
    write_to(path_b, b);
    struct cuzk_porep_sector *back;
    assert_ok(cuzk_c1_read(&back, path_a, params, NULL, &err), err);
    write_to(path_back, back);
    uint8_t *text[3];
    size_t size[3];
    const char *paths[3] = {path_a, path_b, path_back};
    for (int i = 0; i < 3; i++) {
        assert_ok(cuzk_os_read_file(&text[i], &size[i], paths[i], 1 << 24, &err), err);
        assert_int_equal(size[i], size[0]);
        assert_memory_equal(text[i], text[0], size[0]);
        (void)unlink(paths[i]);
    }
    for (int i = 0; i < 3; i++)
        cuzk_free(text[i]);

    /* the statement's file */
    struct cuzk_meta meta, again;
    cuzk_meta_of(&meta, a, owner_a.miner, owner_a.sector_number);
    strcpy(path_a, "/tmp/cuzk-test-meta-XXXXXX");
    int fd = mkstemp(path_a);
    assert_true(fd >= 0);
    (void)close(fd);
    assert_ok(cuzk_meta_write(&meta, "mock", path_a, &err), err);
    assert_ok(cuzk_meta_read(&again, path_a, NULL, &err), err);
    (void)unlink(path_a);
    assert_ptr_equal(again.params, params);
    assert_ok(cuzk_meta_match(&again, back, &err), err);
    assert_int_equal(cuzk_meta_match(&again, c, &err), CUZK_E_MISMATCH);
    cuzk_porep_sector_destroy(back);
    cuzk_porep_sector_destroy(a);
    cuzk_porep_sector_destroy(b);
    cuzk_porep_sector_destroy(c);
}

/* The circuit itself accepts them: row by row for 2 KiB, and by the checks that making a witness
 * does for the miniature, which has the gadgets of 32 GiB. */
static void test_circuits(void **state)
{
    (void)state;
    const char *const names[] = {"porep-2KiB", "porep-8MiB", "porep-mini32"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct cuzk_error err;
        const struct cuzk_porep_params *params = cuzk_porep_by_circuit(names[i]);
        struct cuzk_porep_sector *sector;
        struct cuzk_porep_owner owner;
        struct cuzk_circuit *circuit;
        struct cuzk_witness *witness;
        assert_ok(cuzk_porep_mock(&sector, &owner, params, 3, NULL, &err), err);
        assert_ok(cuzk_porep_circuit(&circuit, params, NULL, &err), err);
        struct cuzk_porep_vanilla vanilla;
        cuzk_porep_partition(&vanilla, sector, 0);
        assert_ok(cuzk_porep_witness(&witness, circuit, &vanilla, NULL, &err), err);
        struct cuzk_porep_statement statement;
        cuzk_porep_statement_of(&statement, sector);
        struct bls12_381_fr inputs[3 + CUZK_POREP_CHALLENGE_INPUTS * CUZK_POREP_MAX_CHALLENGES];
        assert_ok(cuzk_porep_public_inputs(inputs, &statement, 0, &err), err);
        assert_int_equal(witness->input_count, 1 + cuzk_porep_inputs(params));
        for (uint32_t k = 0; k < cuzk_porep_inputs(params); k++)
            assert_true(bls12_381_fr_eq(&inputs[k], &witness->inputs[1 + k]));
        uint32_t row;
        if (i == 0)
            assert_ok(cuzk_circuit_check(circuit, witness, &row, NULL, &err), err);
        cuzk_witness_destroy(witness);
        cuzk_circuit_destroy(circuit);
        cuzk_porep_sector_destroy(sector);
    }
}

/* What belongs to another sector is named. */
static void test_owner(void **state)
{
    (void)state;
    struct cuzk_error err;
    const struct cuzk_porep_params *params = cuzk_porep_by_circuit("porep-2KiB");
    struct cuzk_porep_sector *sector;
    struct cuzk_porep_owner owner;
    uint8_t prover_id[32], other_id[32];
    assert_ok(cuzk_porep_mock(&sector, &owner, params, 9, NULL, &err), err);
    cuzk_porep_prover_id(prover_id, owner.miner);
    cuzk_porep_prover_id(other_id, owner.miner + 1);
    assert_ok(cuzk_porep_check_owner(sector, prover_id, owner.sector_number, &err), err);
    assert_int_equal(cuzk_porep_check_owner(sector, other_id, owner.sector_number, &err),
                     CUZK_E_MISMATCH);
    assert_int_equal(strncmp(err.message, "replica_id: ", 12), 0);
    sector->wrapped = true;
    sector->sector_number = owner.sector_number + 1;
    assert_int_equal(cuzk_porep_check_owner(sector, prover_id, owner.sector_number, &err),
                     CUZK_E_MISMATCH);
    assert_int_equal(strncmp(err.message, "SectorNum: ", 11), 0);
    sector->wrapped = false;

    assert_ok(cuzk_porep_check(sector, &err), err);
    sector->challenges[1].exp[7].node ^= 1;
    assert_int_equal(cuzk_porep_check(sector, &err), CUZK_E_INPUT);
    assert_non_null(strstr(err.message, "vanilla_proofs.StackedDrg2KiBV1[0][1]."
                                        "replica_column_proofs.exp_parents[7].column.index: "));
    sector->challenges[1].exp[7].node ^= 1;
    bls12_381_fr_add(&sector->comm_r, &sector->comm_r, &bls12_381_fr_one);
    assert_int_equal(cuzk_porep_check(sector, &err), CUZK_E_INPUT);
    assert_int_equal(strncmp(err.message, "comm_r: ", 8), 0);
    cuzk_porep_sector_destroy(sector);
}

static void test_memory_out(void **state)
{
    (void)state;
    struct cuzk_error err;
    const struct cuzk_porep_params *params = cuzk_porep_by_circuit("porep-2KiB");
    uint64_t n = 1;
    for (;; n++) {
        struct cuzk_porep_sector *sector;
        struct cuzk_porep_owner owner;
        cuzk_alloc_fail_at(n);
        cuzk_status status = cuzk_porep_mock(&sector, &owner, params, 1, NULL, &err);
        cuzk_alloc_fail_at(0);
        if (status == CUZK_OK) {
            cuzk_porep_sector_destroy(sector);
            break;
        }
        assert_int_equal(status, CUZK_E_MEMORY);
        assert_null(sector);
    }
    assert_true(n > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verifier),      cmocka_unit_test(test_all_sizes),
        cmocka_unit_test(test_deterministic), cmocka_unit_test(test_circuits),
        cmocka_unit_test(test_owner),         cmocka_unit_test(test_memory_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
