/* One digit of a C1 changed, anywhere: something on the way to the proof says no, and names where.
 * What reading cannot see, the check against seed, graph and owner does, or making the witness. */
#include "unit/vectors.h"

#include "circuit/porep_circuit.h"
#include "circuit/porep_statement.h"
#include "format/c1.h"
#include "format/meta.h"

enum { FLIPS = 400 };

/* CUZK_OK only if everything accepts. */
static cuzk_status accept(const uint8_t *text, size_t size, const struct cuzk_meta *meta,
                          const struct cuzk_circuit *circuit, unsigned refused[4],
                          struct cuzk_error *err)
{
    struct cuzk_porep_sector *sector;
    cuzk_status status = cuzk_c1_parse(&sector, "c1.json", text, size, NULL, NULL, err);
    if (status != CUZK_OK) {
        refused[0]++;
        return status;
    }
    unsigned stage = 1;
    status = cuzk_porep_check(sector, err);
    if (status == CUZK_OK) {
        stage = 2;
        status = cuzk_porep_check_owner(sector, meta->prover_id, meta->sector_number, err);
    }
    if (status == CUZK_OK) {
        struct cuzk_porep_vanilla vanilla;
        struct cuzk_witness *witness;
        stage = 3;
        cuzk_porep_partition(&vanilla, sector, 0);
        status = cuzk_porep_witness(&witness, circuit, &vanilla, NULL, err);
        if (status == CUZK_OK)
            cuzk_witness_destroy(witness);
    }
    if (status != CUZK_OK)
        refused[stage]++;
    cuzk_porep_sector_destroy(sector);
    return status;
}

static void test_flipped(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct cuzk_meta meta;
    struct cuzk_circuit *circuit;
    assert_ok(cuzk_meta_read(&meta, CUZK_VECTORS_DIR "/sectors/v11-101/meta.json", NULL, &err),
              err);
    assert_ok(cuzk_porep_circuit(&circuit, meta.params, NULL, &err), err);
    size_t size;
    uint8_t *text = vector_read("sectors/v11-101/c1.json.zst", &size);
    unsigned refused[4] = {0};
    assert_ok(accept(text, size, &meta, circuit, refused, &err), err);

    uint64_t seed = test_seed();
    for (unsigned n = 0; n < FLIPS; n++) {
        size_t at;
        do
            at = test_random(&seed) % size;
        while (text[at] < '0' || text[at] > '9');
        uint8_t old = text[at], new = (uint8_t)('0' + test_random(&seed) % 10);
        if (new == old)
            continue;
        text[at] = new;
        if (accept(text, size, &meta, circuit, refused, &err) == CUZK_OK)
            fail_msg("byte %zu: %c for %c is accepted", at, new, old);
        text[at] = old;
    }
    print_message("refused: %u while reading, %u by seed and graph, %u by owner, %u by the "
                  "witness\n",
                  refused[0], refused[1], refused[2], refused[3]);
    assert_true(refused[0] != 0 && refused[3] != 0);
    assert_ok(accept(text, size, &meta, circuit, refused, &err), err);
    free(text);
    cuzk_circuit_destroy(circuit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
