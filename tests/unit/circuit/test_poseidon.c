/* Poseidon against neptune's hashes, on every path; the optimised form against the plain one. */
#include "unit/test.h"

#include "base/alloc.h"
#include "base/os.h"
#include "circuit/poseidon.h"
#include "curve/bls12_381/ops.h"

static const char *const paths[] = {"portable", "x86_64-adx"};

static int hex_digit(char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

/* The next "…" of 64 hex digits after *at. */
static void next_element(const char **at, struct bls12_381_fr *out)
{
    uint8_t bytes[32];
    const char *p = *at;
    do {
        p = strchr(p, '"');
        assert_non_null(p);
        p++;
    } while (strspn(p, "0123456789abcdef") != 64);
    for (int i = 0; i < 32; i++)
        bytes[i] = (uint8_t)(hex_digit(p[2 * i]) << 4 | hex_digit(p[2 * i + 1]));
    assert_true(bls12_381_fr_from_le(out, bytes));
    *at = p + 65;
}

static void test_values(void **state)
{
    (void)state;
    struct cuzk_error err;
    uint8_t *text;
    size_t size;
    assert_ok(cuzk_os_read_file(&text, &size, CUZK_VECTORS_DIR "/gadgets/poseidon-values.json",
                                1 << 20, &err),
              err);
    unsigned cases = 0, seen[12] = {0};
    for (const char *at = strstr((char *)text, "\"arity\""); at != NULL;
         at = strstr(at, "\"arity\"")) {
        unsigned arity = (unsigned)strtoul(strchr(at, ':') + 1, NULL, 10);
        struct bls12_381_fr in[11], expected, out;
        const struct cuzk_poseidon *p = cuzk_poseidon(arity);
        assert_non_null(p);
        for (unsigned i = 0; i < arity; i++)
            next_element(&at, &in[i]);
        next_element(&at, &expected);
        for (size_t path = 0; path < 2; path++) {
            if (cuzk_isa_force(paths[path], NULL) != CUZK_OK)
                continue;
            struct bls12_381_fr values[700];
            uint32_t n = cuzk_poseidon_witness_size(p);
            cuzk_poseidon_hash(&out, p, in);
            assert_true(bls12_381_fr_eq(&out, &expected));
            assert_true(n <= 700);
            cuzk_poseidon_witness(values, p, in);
            assert_true(bls12_381_fr_eq(&values[n - 1], &expected));
        }
        assert_ok(cuzk_isa_force(NULL, &err), err);
        cases++;
        seen[arity]++;
    }
    cuzk_free(text);
    assert_true(cases >= 20 && seen[2] && seen[4] && seen[8] && seen[11]);
    assert_null(cuzk_poseidon(3));
    assert_null(cuzk_poseidon(0));
}

static void test_rounds(void **state)
{
    (void)state;
    /* the network's numbers */
    assert_int_equal(cuzk_poseidon(2)->partial, 55);
    assert_int_equal(cuzk_poseidon(4)->partial, 56);
    assert_int_equal(cuzk_poseidon(8)->partial, 57);
    assert_int_equal(cuzk_poseidon(11)->partial, 57);
    assert_int_equal(cuzk_poseidon_witness_size(cuzk_poseidon(2)), 311);
    assert_int_equal(cuzk_poseidon_witness_size(cuzk_poseidon(11)), 598);
}

/* The largest elements: where a lazy reduction would overflow. */
static void test_paths_agree(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    struct bls12_381_fr in[11], a, b, minus_one;
    bls12_381_fr_neg(&minus_one, &bls12_381_fr_one);
    if (cuzk_isa_force("x86_64-adx", NULL) != CUZK_OK)
        return; /* one path only: nothing to compare */
    for (int round = 0; round < 200; round++) {
        for (int i = 0; i < 11; i++) {
            uint64_t limbs[4];
            for (int j = 0; j < 4; j++)
                limbs[j] = test_random(&seed);
            if (round % 4 == 0 || !bls12_381_fr_from_limbs(&in[i], limbs))
                in[i] = minus_one;
        }
        for (int i = 0; i < 4; i++) {
            const struct cuzk_poseidon *p = cuzk_poseidon((unsigned[]){2, 4, 8, 11}[i]);
            assert_int_equal(cuzk_isa_force("portable", NULL), CUZK_OK);
            cuzk_poseidon_hash(&a, p, in);
            assert_int_equal(cuzk_isa_force("x86_64-adx", NULL), CUZK_OK);
            cuzk_poseidon_hash(&b, p, in);
            assert_true(bls12_381_fr_eq(&a, &b));
        }
    }
    assert_int_equal(cuzk_isa_force(NULL, NULL), CUZK_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_rounds),
        cmocka_unit_test(test_paths_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
