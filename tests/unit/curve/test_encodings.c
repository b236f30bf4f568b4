/* Encodings of points: the vectors with blst's verdicts, and what they do not reach. */
#include "paths.h"

static unsigned hex_digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* The value of "name": "value" in a line, or NULL. */
static const char *field_of(char *line, const char *name)
{
    char key[32];
    snprintf(key, sizeof key, "\"%s\": \"", name);
    char *value = strstr(line, key);
    if (value == NULL)
        return NULL;
    value += strlen(key);
    char *end = strrchr(value, '"');
    assert_non_null(end);
    *end = '\0';
    return value;
}

static bool is_zero(const uint8_t *bytes, size_t size)
{
    uint8_t all = 0;
    for (size_t i = 0; i < size; i++)
        all |= bytes[i];
    return all == 0;
}

struct decoded {
    cuzk_status status;
    struct bls12_381_g1_affine g1;
    struct bls12_381_g2_affine g2;
};

static struct decoded decode(const struct bls12_381_ops *ops, const uint8_t *bytes, bool is_g2,
                             bool compressed, bool subgroup)
{
    struct decoded d = {0};
    struct cuzk_error err;
    size_t bad = 77;
    d.status = is_g2 ? ops->g2_decode(&d.g2, bytes, 1, compressed, subgroup, &bad, &err)
                     : ops->g1_decode(&d.g1, bytes, 1, compressed, subgroup, &bad, &err);
    assert_int_equal(bad, d.status == CUZK_OK ? 77 : 0);
    if (d.status != CUZK_OK)
        assert_true(d.status == CUZK_E_POINT || d.status == CUZK_E_RANGE);
    return d;
}

static void test_vectors(void **state)
{
    (void)state;
    FILE *file = fopen(CUZK_VECTORS_DIR "/curve/bls12_381-encodings.json", "r");
    assert_non_null(file);
    char line[1024], verdict[32] = "", kind[32] = "";
    uint8_t bytes[192];
    size_t size = 0;
    unsigned count = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        const char *value;
        if ((value = field_of(line, "bytes")) != NULL) {
            size = strlen(value) / 2;
            assert_true(size <= sizeof bytes);
            for (size_t i = 0; i < size; i++)
                bytes[i] = (uint8_t)(hex_digit(value[2 * i]) << 4 | hex_digit(value[2 * i + 1]));
        } else if ((value = field_of(line, "kind")) != NULL) {
            snprintf(kind, sizeof kind, "%s", value);
        } else if ((value = field_of(line, "verdict")) != NULL) {
            snprintf(verdict, sizeof verdict, "%s", value);
        } else if ((value = field_of(line, "what")) != NULL) {
            count++;
            bool is_g2 = kind[1] == '2', compressed = strcmp(kind + 3, "compressed") == 0;
            assert_int_equal(size, (is_g2 ? 96 : 48) * (compressed ? 1 : 2));
            for_each_path(ops)
            {
                struct decoded strict = decode(ops, bytes, is_g2, compressed, true);
                struct decoded loose = decode(ops, bytes, is_g2, compressed, false);
                bool valid = strcmp(verdict, "valid") == 0;
                bool on_curve = valid || strcmp(verdict, "not in the subgroup") == 0;
                /* (0, +-2) is on G1's curve, of order three; blst refuses it before it asks for
                 * the subgroup, we then. */
                bool order_three = !is_g2 && (bytes[0] & 0xdf) == 0x80 && is_zero(bytes + 1, 47);
                if ((strict.status == CUZK_OK) != valid ||
                    (loose.status == CUZK_OK) != (on_curve || order_three))
                    fail_msg("%s, %s, %s: %s, decoded as %d and %d", ops->name, kind, value,
                             verdict, strict.status, loose.status);
                if (!on_curve)
                    continue;
                if ((bytes[0] & 0x80) != 0 && !compressed) { /* read from its first half */
                    compressed = true;
                    size /= 2;
                }
                uint8_t again[192];
                if (is_g2)
                    ops->g2_encode(again, &loose.g2, 1, compressed);
                else
                    ops->g1_encode(again, &loose.g1, 1, compressed);
                assert_memory_equal(again, bytes, size);
            }
        }
    }
    fclose(file);
    assert_int_equal(count, 212);
}

/* A batch names the first bad point, and leaves nothing of the good ones. */
static void test_batch(void **state)
{
    (void)state;
    for_each_path(ops)
    {
        struct bls12_381_g1_affine points[5], zero[5] = {0};
        uint8_t bytes[5 * 96];
        for (int i = 0; i < 5; i++)
            points[i] = g1_generator;
        ops->g1_encode(bytes, points, 5, false);
        size_t bad = 99;
        struct cuzk_error err;
        assert_ok(ops->g1_decode(points, bytes, 5, false, true, &bad, &err), err);
        assert_int_equal(bad, 99);
        bytes[3 * 96 + 95] ^= 1;
        assert_int_equal(ops->g1_decode(points, bytes, 5, false, true, &bad, &err), CUZK_E_POINT);
        assert_int_equal(bad, 3);
        assert_memory_equal(points, zero, sizeof zero);
        memset(bytes + 96, 0xff, 48);
        bytes[96] = 0x1f;
        assert_int_equal(ops->g1_decode(points, bytes, 5, false, true, &bad, &err), CUZK_E_RANGE);
        assert_int_equal(bad, 1);
        assert_ok(ops->g1_decode(points, bytes, 0, false, true, &bad, &err), err);
    }
}

/* Both roots of a decompression: the generator's and its negative's encodings differ in one bit. */
static void test_roots(void **state)
{
    (void)state;
    for_each_path(ops)
    {
        struct bls12_381_g2 p;
        struct bls12_381_g2_affine a, b;
        uint8_t first[96], second[96];
        ops->g2_from_affine(&p, &g2_generator);
        ops->g2_neg(&p, &p);
        ops->g2_to_affine(&a, &p);
        ops->g2_encode(first, &g2_generator, 1, true);
        ops->g2_encode(second, &a, 1, true);
        assert_int_equal(first[0] ^ second[0], 0x20);
        assert_memory_equal(first + 1, second + 1, 95);
        assert_ok(ops->g2_decode(&b, second, 1, true, true, NULL, NULL), (struct cuzk_error){0});
        assert_memory_equal(&a, &b, sizeof a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_vectors), cmocka_unit_test(test_batch),
                                       cmocka_unit_test(test_roots)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
