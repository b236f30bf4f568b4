/* Sectors by the public interface: what they are, whose, their public inputs and witnesses against
 * the vectors, and what does not belong together.
 */
#include "unit/groth16/groth.h"

#include "cuzk/sector.h"

/* C1 of a sector of the vectors, unpacked to a scratch file. */
static struct scratch unpack(const char *sector)
{
    char path[96];
    size_t size;
    struct scratch s = scratch_path("c1.json");
    (void)snprintf(path, sizeof path, "sectors/%s/c1.json.zst", sector);
    uint8_t *data = vector_read(path, &size);
    FILE *f = fopen(s.path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
    free(data);
    return s;
}

static void test_sectors(void **state)
{
    (void)state;
    struct cuzk_error err;
    static const char *const names[] = {"v11-101", "v11-102", "v1-201", "syn-301"};
    struct cuzk_context *context = make_context(2, NULL);
    struct cuzk_relation *relation;
    assert_ok(cuzk_relation_open(&relation, NULL, context, "porep-2KiB", &err), err);
    struct cuzk_relation_info info;
    cuzk_relation_describe(&info, relation);
    assert_string_equal(info.name, "porep-2KiB");
    assert_int_equal(info.inputs, 40);
    assert_int_equal(info.log2_domain, 22);
    assert_int_equal(info.params_bytes, 1114707768);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct scratch c1 = unpack(names[i]);
        char meta_path[96];
        (void)snprintf(meta_path, sizeof meta_path, "sectors/%s/meta.json", names[i]);
        yajl_val meta = vector_json(meta_path);
        struct cuzk_sector *sector;
        assert_ok(cuzk_sector_open(&sector, context, c1.path, NULL, &err), err);
        assert_string_equal(cuzk_sector_circuit(sector), "porep-2KiB");
        assert_string_equal(cuzk_sector_registered_proof(sector),
                            vector_text(meta, "registered_proof"));
        assert_int_equal(cuzk_sector_partitions(sector), 1);
        assert_int_equal(cuzk_sector_inputs_each(sector), 39);
        uint64_t miner = (uint64_t)YAJL_GET_INTEGER(vector_get(meta, "actor_id"));
        uint64_t number = (uint64_t)YAJL_GET_INTEGER(vector_get(meta, "sector_number"));
        assert_ok(cuzk_sector_check_owner(sector, miner, number, &err), err);
        assert_int_equal(cuzk_sector_check_owner(sector, miner + 1, number, &err), CUZK_E_MISMATCH);
        assert_int_equal(cuzk_sector_check_owner(sector, miner, number + 1, &err), CUZK_E_MISMATCH);

        uint8_t stated[39][32], filled[39][32], expected[32];
        struct cuzk_witness *witness;
        assert_ok(cuzk_sector_inputs(stated[0], sector, 0, &err), err);
        assert_ok(cuzk_sector_witness(&witness, sector, relation, 0, &err), err);
        cuzk_witness_inputs(filled[0], witness);
        yajl_val inputs = YAJL_GET_ARRAY(vector_get(meta, "public_inputs"))->values[0];
        for (size_t j = 0; j < 39; j++) {
            vector_hex(expected, sizeof expected,
                       YAJL_GET_STRING(YAJL_GET_ARRAY(inputs)->values[j]));
            assert_memory_equal(stated[j], expected, sizeof expected);
            assert_memory_equal(filled[j], expected, sizeof expected);
        }
        cuzk_witness_free(witness);
        assert_int_equal(cuzk_sector_inputs(stated[0], sector, 1, &err), CUZK_E_ARGUMENT);
        assert_int_equal(cuzk_sector_witness(&witness, sector, relation, 1, &err), CUZK_E_ARGUMENT);
        assert_null(witness);
        cuzk_sector_free(sector);
        yajl_tree_free(meta);
        (void)unlink(c1.path);
    }

    /* what does not belong together */
    struct scratch c1 = unpack("v11-101");
    struct cuzk_sector *sector;
    struct cuzk_witness *witness;
    struct cuzk_relation *toy;
    assert_int_equal(cuzk_sector_open(&sector, context, c1.path, "porep-3KiB", &err),
                     CUZK_E_ARGUMENT);
    assert_int_not_equal(cuzk_sector_open(&sector, context, c1.path, "porep-8MiB", &err), CUZK_OK);
    assert_null(sector);
    assert_int_equal(cuzk_sector_open(&sector, context, "/nonexistent", NULL, &err),
                     CUZK_E_NOT_FOUND);
    assert_ok(cuzk_sector_open(&sector, context, c1.path, "porep-2KiB", &err), err);
    assert_ok(cuzk_relation_open(&toy, NULL, context, KEYS "toy5.r1cs.zst", &err), err);
    assert_int_equal(cuzk_sector_witness(&witness, sector, toy, 0, &err), CUZK_E_MISMATCH);
    assert_null(witness);
    cuzk_relation_free(toy);
    cuzk_relation_free(relation);
    struct cuzk_account account;
    cuzk_context_retain(context);
    cuzk_context_free(context);
    cuzk_sector_free(sector);
    cuzk_budget_read(context->host, &account);
    assert_int_equal(account.used, 0);
    cuzk_context_free(context);
    (void)unlink(c1.path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sectors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
