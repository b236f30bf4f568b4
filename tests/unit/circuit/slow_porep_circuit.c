/* PoRep's circuit at the sizes of mainnet, by digest: shapes, the miniature with every gadget of
 * 32 GiB, and all partitions of a 32 GiB sector. */
#include "unit/circuit/porep_vectors.h"

static struct cuzk_threads *threads;

static void test_shape_64GiB(void **state)
{
    (void)state;
    struct cuzk_budget *budget;
    struct cuzk_account account;
    assert_int_equal(cuzk_budget_create(&budget, "test", 512 << 20, NULL, NULL), CUZK_OK);
    cuzk_circuit_destroy(expect_shape("porep-64GiB", false, budget));
    cuzk_budget_read(budget, &account);
    assert_int_equal(account.used, 0);
    cuzk_budget_destroy(budget);
}

static void test_miniature(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct cuzk_circuit *c;
    struct cuzk_porep_sector *sector = read_sector("mini32-501", "porep-mini32");
    assert_ok(cuzk_porep_circuit(&c, cuzk_porep_by_circuit("porep-mini32"), NULL, &err), err);
    expect_witness("mini32-501", c, sector, 0, true, threads);
    cuzk_circuit_destroy(c);
    cuzk_porep_sector_destroy(sector);
}

static void test_32GiB(void **state)
{
    (void)state;
    struct cuzk_budget *budget;
    assert_int_equal(cuzk_budget_create(&budget, "test", 512 << 20, NULL, NULL), CUZK_OK);
    struct cuzk_circuit *c = expect_shape("porep-32GiB", false, budget);
    assert_true(c->template_count <= 30);
    assert_true(c->instance_count <= 11760);
    struct cuzk_porep_sector *sector = read_sector("mock32-3201", NULL);
    for (uint32_t partition = 0; partition < 10; partition++)
        expect_witness("mock32-3201", c, sector, partition, true, threads);
    cuzk_circuit_destroy(c);
    cuzk_porep_sector_destroy(sector);
    cuzk_budget_destroy(budget);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_miniature),
        cmocka_unit_test(test_shape_64GiB),
        cmocka_unit_test(test_32GiB),
    };
    if (cuzk_threads_create(&threads, 0, NULL) != CUZK_OK)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cuzk_threads_destroy(threads);
    return failed;
}
