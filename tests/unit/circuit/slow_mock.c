/* Mock sectors of the big sizes against the whole circuit: every partition's witness can be made
 * (which checks each equality on the way), and the first satisfies it row by row. */
#include "unit/test.h"

#include "circuit/porep_circuit.h"
#include "circuit/porep_mock.h"
#include "circuit/porep_statement.h"

static void check_partition(const struct cuzk_circuit *circuit,
                            const struct cuzk_porep_sector *sector, uint32_t k,
                            struct cuzk_threads *threads)
{
    struct cuzk_error err;
    struct cuzk_porep_vanilla vanilla;
    struct cuzk_witness *witness;
    cuzk_porep_partition(&vanilla, sector, k);
    assert_ok(cuzk_porep_witness(&witness, circuit, &vanilla, NULL, &err), err);
    struct cuzk_porep_statement statement;
    cuzk_porep_statement_of(&statement, sector);
    struct bls12_381_fr inputs[3 + CUZK_POREP_CHALLENGE_INPUTS * CUZK_POREP_MAX_CHALLENGES];
    assert_ok(cuzk_porep_public_inputs(inputs, &statement, k, &err), err);
    for (uint32_t i = 0; i < cuzk_porep_inputs(sector->params); i++)
        assert_true(bls12_381_fr_eq(&inputs[i], &witness->inputs[1 + i]));
    uint32_t row;
    if (k == 0)
        assert_ok(cuzk_circuit_check(circuit, witness, &row, threads, &err), err);
    cuzk_witness_destroy(witness);
}

static void check_size(const char *name)
{
    struct cuzk_error err;
    const struct cuzk_porep_params *params = cuzk_porep_by_circuit(name);
    struct cuzk_porep_sector *sector;
    struct cuzk_porep_owner owner;
    struct cuzk_circuit *circuit;
    struct cuzk_threads *threads;
    assert_ok(cuzk_threads_create(&threads, 0, &err), err);
    assert_ok(cuzk_porep_mock(&sector, &owner, params, 11, NULL, &err), err);
    assert_ok(cuzk_porep_circuit(&circuit, params, NULL, &err), err);
    for (uint32_t k = 0; k < params->partitions; k++)
        check_partition(circuit, sector, k, threads);
    cuzk_circuit_destroy(circuit);
    cuzk_porep_sector_destroy(sector);
    cuzk_threads_destroy(threads);
}

static void test_512MiB(void **state)
{
    (void)state;
    check_size("porep-512MiB");
}

static void test_32GiB(void **state)
{
    (void)state;
    check_size("porep-32GiB");
}

static void test_64GiB(void **state)
{
    (void)state;
    check_size("porep-64GiB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_512MiB),
        cmocka_unit_test(test_32GiB),
        cmocka_unit_test(test_64GiB),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
