/* Public inputs and replica ids, held to the network's for random statements of every size and for
 * the sealed sectors. */
#include "unit/vectors.h"

#include "circuit/porep_statement.h"
#include "format/meta.h"

static void fr_hex(char out[65], const struct bls12_381_fr *a)
{
    uint8_t bytes[32];
    bls12_381_fr_to_le(bytes, a);
    for (int i = 0; i < 32; i++)
        (void)snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

static void fr_from_hex(struct bls12_381_fr *out, const char *hex)
{
    uint8_t bytes[32];
    vector_hex(bytes, 32, hex);
    assert_true(bls12_381_fr_from_le(out, bytes));
}

static void check_inputs(const struct cuzk_porep_statement *statement, uint32_t partition,
                         yajl_val expected)
{
    struct cuzk_error err;
    struct bls12_381_fr inputs[3 + CUZK_POREP_CHALLENGE_INPUTS * CUZK_POREP_MAX_CHALLENGES];
    size_t count = cuzk_porep_inputs(statement->params);
    assert_int_equal(expected->u.array.len, count);
    assert_ok(cuzk_porep_public_inputs(inputs, statement, partition, &err), err);
    for (size_t i = 0; i < count; i++) {
        char hex[65];
        fr_hex(hex, &inputs[i]);
        const char *want = YAJL_GET_STRING(expected->u.array.values[i]);
        if (strcmp(hex, want) != 0)
            fail_msg("%s: input %zu of partition %u is %s, not %s", statement->params->registered,
                     i, partition, hex, want);
    }
}

static void check_digest(const struct cuzk_porep_statement *statement, const char *expected)
{
    struct cuzk_error err;
    uint8_t digest[32], want[32];
    vector_hex(want, 32, expected);
    assert_ok(cuzk_porep_inputs_digest(digest, statement, &err), err);
    assert_memory_equal(digest, want, 32);
}

static void test_statements(void **state)
{
    (void)state;
    const char *const names[] = {
        "StackedDrg2KiBV1",
        "StackedDrg2KiBV1_1",
        "StackedDrg8MiBV1_1",
        "StackedDrg512MiBV1_1",
        "StackedDrg32GiBV1",
        "StackedDrg32GiBV1_1",
        "StackedDrg32GiBV1_1_Feat_SyntheticPoRep",
        "StackedDrg64GiBV1_1",
        "StackedDrg64GiBV1_1_Feat_SyntheticPoRep",
    };
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        char path[128];
        (void)snprintf(path, sizeof path, "statements/%s.json.zst", names[n]);
        yajl_val file = vector_json(path), list = vector_get(file, "statements");
        assert_int_equal(list->u.array.len, 3);
        for (size_t i = 0; i < list->u.array.len; i++) {
            yajl_val s = list->u.array.values[i];
            struct cuzk_error err;
            struct cuzk_porep_statement statement = {
                .params = cuzk_porep_by_registered(vector_text(file, "registered_proof"))};
            assert_non_null(statement.params);
            assert_int_equal(statement.params->partitions,
                             YAJL_GET_INTEGER(vector_get(s, "partitions")));
            fr_from_hex(&statement.comm_d, vector_text(s, "comm_d"));
            fr_from_hex(&statement.comm_r, vector_text(s, "comm_r"));
            vector_hex(statement.seed, 32, vector_text(s, "seed"));
            uint8_t prover_id[32], ticket[32];
            vector_hex(prover_id, 32, vector_text(s, "prover_id"));
            vector_hex(ticket, 32, vector_text(s, "ticket"));
            assert_ok(
                cuzk_porep_replica_id(&statement.replica_id, statement.params, prover_id,
                                      (uint64_t)YAJL_GET_INTEGER(vector_get(s, "sector_number")),
                                      ticket, &statement.comm_d, &err),
                err);
            check_inputs(&statement, 0, vector_get(s, "first_partition"));
            check_digest(&statement, vector_text(s, "sha256_all"));
        }
        yajl_tree_free(file);
    }
}

static void test_sectors(void **state)
{
    (void)state;
    const char *const names[] = {"v11-101", "v11-102", "v1-201", "syn-301", "mini32-501"};
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        char path[512];
        (void)snprintf(path, sizeof path, "%s/sectors/%s/meta.json", CUZK_VECTORS_DIR, names[n]);
        struct cuzk_error err;
        struct cuzk_meta meta;
        assert_ok(cuzk_meta_read(&meta, path, NULL, &err), err);
        struct cuzk_porep_statement statement;
        assert_ok(cuzk_meta_statement(&statement, &meta, &err), err);
        (void)snprintf(path, sizeof path, "sectors/%s/meta.json", names[n]);
        yajl_val tree = vector_json(path), inputs = vector_get(tree, "public_inputs");
        assert_int_equal(inputs->u.array.len, statement.params->partitions);
        for (uint32_t k = 0; k < statement.params->partitions; k++)
            check_inputs(&statement, k, inputs->u.array.values[k]);
        yajl_tree_free(tree);
    }
    struct cuzk_error err;
    struct cuzk_meta meta;
    struct cuzk_porep_statement statement;
    assert_ok(cuzk_meta_read(&meta, CUZK_VECTORS_DIR "/sectors/mock32-3201/meta.json", NULL, &err),
              err);
    assert_ok(cuzk_meta_statement(&statement, &meta, &err), err);
    yajl_val tree = vector_json("sectors/mock32-3201/meta.json");
    check_digest(&statement, vector_text(tree, "public_inputs_sha256"));
    yajl_tree_free(tree);
}

static void test_prover_id(void **state)
{
    (void)state;
    const struct {
        uint64_t miner;
        uint8_t bytes[10];
    } cases[] = {
        {0, {0}},
        {1, {1}},
        {127, {0x7f}},
        {128, {0x80, 1}},
        {1000, {0xe8, 7}},
        {78474, {0x8a, 0xe5, 4}},
        {UINT64_MAX, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t id[32], rest[22] = {0};
        cuzk_porep_prover_id(id, cases[i].miner);
        assert_memory_equal(id, cases[i].bytes, 10);
        assert_memory_equal(id + 10, rest, 22);
    }
}

static void test_refused(void **state)
{
    (void)state;
    struct cuzk_error err;
    size_t count;
    const struct cuzk_porep_params *table = cuzk_porep_table(&count);
    unsigned refused = 0;
    for (size_t i = 0; i < count; i++) {
        struct cuzk_porep_statement statement = {.params = &table[i]};
        uint32_t nodes[CUZK_POREP_MAX_CHALLENGES];
        cuzk_status status = cuzk_porep_challenges(nodes, &statement, 0, &err);
        if (strstr(table[i].registered, "NonInteractive") == NULL) {
            assert_int_equal(status, CUZK_OK);
            for (uint32_t j = 0; j < table[i].challenges; j++)
                assert_in_range(nodes[j], 1, table[i].nodes - 1);
            assert_int_equal(cuzk_porep_challenges(nodes, &statement, table[i].partitions, &err),
                             CUZK_E_ARGUMENT);
            continue;
        }
        refused++;
        assert_int_equal(status, CUZK_E_UNSUPPORTED);
        assert_non_null(strstr(err.message, table[i].registered));
        assert_non_null(strstr(err.message, "non-interactive"));
    }
    assert_int_equal(refused, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statements),
        cmocka_unit_test(test_sectors),
        cmocka_unit_test(test_prover_id),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
