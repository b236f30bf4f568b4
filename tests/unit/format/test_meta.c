/* META.json and base64: good and bad ones. */
#include "unit/vectors.h"

#include "base/alloc.h"
#include "format/base64.h"
#include "format/meta.h"

#define ID "\"8ae5040000000000000000000000000000000000000000000000000000000000\""
#define B32 "\"0100000000000000000000000000000000000000000000000000000000000000\""
#define REST                                                                                       \
    "\"prover_id\":" ID ",\"sector_number\":18446744073709551615,\"ticket\":" B32 ",\"seed\":" B32 \
    ",\"comm_d\":" B32 ",\"comm_r\":" B32
#define GOOD "{\"registered_proof\":\"StackedDrg2KiBV1_1\"," REST "}"

static cuzk_status parse(struct cuzk_meta *out, const char *text, const char *circuit,
                         struct cuzk_error *err)
{
    return cuzk_meta_parse(out, "meta.json", (const uint8_t *)text, strlen(text),
                           circuit != NULL ? cuzk_porep_by_circuit(circuit) : NULL, err);
}

static void test_good(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct cuzk_meta meta;
    assert_ok(parse(&meta, GOOD, NULL, &err), err);
    assert_string_equal(meta.params->registered, "StackedDrg2KiBV1_1");
    assert_true(meta.sector_number == UINT64_MAX);
    assert_int_equal(meta.ticket[0], 1);
    assert_true(bls12_381_fr_is_one(&meta.comm_d));
    assert_false(meta.has_actor_id);
    assert_ok(parse(&meta, GOOD, "porep-2KiB", &err), err);
    /* the circuit stands for a missing name; the miniature is chosen by circuit alone */
    assert_ok(parse(&meta, "{" REST "}", "porep-64GiB", &err), err);
    assert_string_equal(meta.params->registered, "StackedDrg64GiBV1_1");
    assert_ok(parse(&meta, "{\"circuit\":\"porep-mini32\"," REST "}", NULL, &err), err);
    assert_int_equal(meta.params->nodes, 512);
    assert_ok(parse(&meta,
                    "{\"circuit\":\"porep-mini32\",\"registered_proof\":\"StackedDrg32GiBV1_1\","
                    "\"sector_size\":16384," REST "}",
                    NULL, &err),
              err);
    assert_int_equal(meta.params->nodes, 512);
    /* an older proof of the circuit that is asked for */
    assert_ok(
        parse(&meta, "{\"registered_proof\":\"StackedDrg32GiBV1\"," REST "}", "porep-32GiB", &err),
        err);
    assert_int_equal(meta.params->api_minor, 0);
    /* unknown keys of any kind, the optional ones where they agree */
    assert_ok(parse(&meta,
                    "{\"registered_proof\":\"StackedDrg2KiBV1_1\",\"actor_id\":78474,"
                    "\"note\":[{\"seed\":1}],\"more\":null," REST "}",
                    NULL, &err),
              err);
    assert_true(meta.has_actor_id);
    assert_int_equal(meta.actor_id, 78474);
}

static void test_bad(void **state)
{
    (void)state;
    const struct {
        const char *text, *circuit;
        cuzk_status status;
        const char *says;
    } cases[] = {
        {"", NULL, CUZK_E_TRUNCATED, "meta.json"},
        {"[]", NULL, CUZK_E_FORMAT, "expected an object"},
        {"{}", NULL, CUZK_E_FORMAT, "registered_proof: missing"},
        {"{" REST "}", NULL, CUZK_E_FORMAT, "registered_proof: missing"},
        {"{\"registered_proof\":\"StackedDrg2KiBV1_1\"}", NULL, CUZK_E_FORMAT,
         "prover_id is missing"},
        {"{\"registered_proof\":\"StackedDrg3KiBV1_1\"," REST "}", NULL, CUZK_E_FORMAT,
         "no registered proof of that name"},
        {"{\"registered_proof\":\"StackedDrg32GiBV1_2_Feat_NonInteractivePoRep\"," REST "}", NULL,
         CUZK_E_UNSUPPORTED, "StackedDrg32GiBV1_2_Feat_NonInteractivePoRep: non-interactive"},
        {GOOD, "porep-8MiB", CUZK_E_MISMATCH, "StackedDrg2KiBV1_1 is proved by the circuit "},
        {"{\"registered_proof\":\"StackedDrg32GiBV1\"," REST "}", "porep-mini32", CUZK_E_MISMATCH,
         "porep-32GiB"},
        {"{\"circuit\":\"porep-mini32\"," REST "}", "porep-32GiB", CUZK_E_MISMATCH,
         "circuit: porep-mini32"},
        {"{\"circuit\":\"porep-1KiB\"," REST "}", NULL, CUZK_E_FORMAT, "circuit: no circuit"},
        {"{\"registered_proof\":\"StackedDrg2KiBV1_1\",\"sector_size\":2049," REST "}", NULL,
         CUZK_E_MISMATCH, "sector_size"},
        {"{\"registered_proof\":\"StackedDrg2KiBV1_1\",\"porep_id\":" B32 "," REST "}", NULL,
         CUZK_E_MISMATCH, "porep_id"},
        {"{\"registered_proof\":\"StackedDrg2KiBV1_1\",\"actor_id\":78475," REST "}", NULL,
         CUZK_E_MISMATCH, "prover_id: not that of actor_id"},
        {"{\"registered_proof\":\"StackedDrg2KiBV1_1\",\"seed\":" B32 "," REST "}", NULL,
         CUZK_E_FORMAT, "seed: given twice"},
        {"{\"seed\":\"00\"}", NULL, CUZK_E_FORMAT, "seed: expected 32 bytes"},
        {"{\"seed\":17}", NULL, CUZK_E_FORMAT, "seed: expected 32 bytes"},
        {"{\"sector_number\":-1}", NULL, CUZK_E_FORMAT, "sector_number: "},
        {"{\"sector_number\":18446744073709551616}", NULL, CUZK_E_RANGE, "sector_number: "},
        {"{\"comm_d\":\"0000000000000000000000000000000000000000000000000000000000000000\"}", NULL,
         CUZK_E_RANGE, "comm_d: zero is no commitment"},
        {"{\"comm_r\":\"01000000fffffffffe5bfeff02a4bd5305d8a10908d83933487d9d2953a7ed73\"}", NULL,
         CUZK_E_RANGE, "comm_r: not below"},
        {GOOD " 1", NULL, CUZK_E_FORMAT, "trailing"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cuzk_error err = {0};
        struct cuzk_meta meta;
        cuzk_status status = parse(&meta, cases[i].text, cases[i].circuit, &err);
        if (status != cases[i].status || strstr(err.message, cases[i].says) == NULL)
            fail_msg("case %zu: wanted %s with \"%s\", got %s: %s", i,
                     cuzk_status_name(cases[i].status), cases[i].says, cuzk_status_name(status),
                     err.message);
        assert_int_equal(strncmp(err.message, "meta.json", 9), 0);
    }
}

/* --- base64 --------------------------------------------------------------------------------- */

struct sink {
    uint8_t *data;
    size_t size, pieces;
    bool ended;
    cuzk_status answer;
};

static cuzk_status take(void *context, const uint8_t *data, size_t size, bool last)
{
    struct sink *s = context;
    assert_false(s->ended);
    memcpy(s->data + s->size, data, size);
    s->size += size;
    s->pieces++;
    s->ended = last;
    return s->answer;
}

static void test_base64(void **state)
{
    (void)state;
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    enum { MOST = 100000 };
    uint64_t seed = test_seed();
    uint8_t *data = malloc(MOST), *back = malloc(MOST);
    char *text = malloc(MOST * 2);
    assert_true(data != NULL && back != NULL && text != NULL);
    for (size_t i = 0; i < MOST; i++)
        data[i] = (uint8_t)test_random(&seed);
    const size_t sizes[] = {1, 2, 3, 4, 5, 24574, 24575, 24576, 24577, 49152, MOST};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        size_t size = sizes[k], n = 0;
        for (size_t i = 0; i < size; i += 3) {
            uint32_t bits = (uint32_t)data[i] << 16;
            bits |= i + 1 < size ? (uint32_t)data[i + 1] << 8 : 0;
            bits |= i + 2 < size ? data[i + 2] : 0;
            for (int j = 0; j < 4; j++)
                text[n++] = i + (size_t)j > size ? '=' : alphabet[bits >> (18 - 6 * j) & 63];
        }
        struct sink sink = {.data = back};
        cuzk_status status;
        size_t bad;
        assert_true(cuzk_base64_decode(&status, &bad, (unsigned char *)text, n, take, &sink));
        assert_int_equal(status, CUZK_OK);
        assert_int_equal(sink.size, size);
        assert_true(sink.ended);
        assert_int_equal(sink.pieces, (size + 24575) / 24576);
        assert_memory_equal(back, data, size);
    }
    /* a sink that refuses is not asked again */
    struct sink sink = {.data = back, .answer = CUZK_E_IO};
    cuzk_status status;
    size_t bad;
    assert_true(cuzk_base64_decode(&status, &bad, (unsigned char *)text, 65536, take, &sink));
    assert_int_equal(status, CUZK_E_IO);
    assert_int_equal(sink.pieces, 1);

    const struct {
        const char *text;
        size_t bad;
    } wrong[] = {{"", 0},     {"A", 1},    {"AA", 2},       {"AAA", 3},  {"AA-A", 2},
                 {"A===", 1}, {"====", 0}, {"AAA=AAAA", 3}, {"AA=A", 3}, {"AAAAA===", 5},
                 {"AB==", 1}, {"AAB=", 2}, {"AA A", 2},     {"AA\nA", 2}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        sink = (struct sink){.data = back};
        bad = 99;
        if (cuzk_base64_decode(&status, &bad, (const unsigned char *)wrong[i].text,
                               strlen(wrong[i].text), take, &sink))
            fail_msg("%s is taken", wrong[i].text);
        if (bad != wrong[i].bad)
            fail_msg("%s: at %zu, not %zu", wrong[i].text, bad, wrong[i].bad);
    }
    free(data);
    free(back);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_base64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
