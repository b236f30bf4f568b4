/* JSON in and out: what is written is read again; what is wrong is named by offset or path; each
 * allocation fails in turn. */

#include "unit/test.h"

#include "base/alloc.h"
#include "format/json_in.h"
#include "format/json_out.h"
#include "format/waste.h"

static struct cuzk_error err;

static void build(struct cuzk_json *j)
{
    cuzk_json_init(j);
    cuzk_json_object(j, NULL);
    cuzk_json_string(j, "text", "a\"b\\c\n\xc3\xa9 \xff\xed\xa0\x80.");
    cuzk_json_string(j, "nothing", NULL);
    cuzk_json_u64(j, "big", UINT64_MAX);
    cuzk_json_double(j, "real", -1.25, 3);
    cuzk_json_double(j, "nan", (double)__builtin_nanf(""), 3);
    cuzk_json_bool(j, "yes", true);
    cuzk_json_hex(j, "hex", (const uint8_t *)"\x00\xff\x7f", 3);
    cuzk_json_array(j, "list");
    cuzk_json_object(j, NULL);
    cuzk_json_object_end(j);
    cuzk_json_array(j, NULL);
    cuzk_json_array_end(j);
    cuzk_json_null(j, NULL);
    cuzk_json_array_end(j);
    cuzk_json_object_end(j);
}

static void test_out(void **state)
{
    (void)state;
    struct cuzk_json j;
    const char *text;
    size_t size;
    build(&j);
    assert_ok(cuzk_json_text(&j, &text, &size, &err), err);
    assert_string_equal(text, "{\n"
                              "  \"text\": \"a\\\"b\\\\c\\u000a\xc3\xa9 \xef\xbf\xbd\xef\xbf\xbd"
                              "\xef\xbf\xbd\xef\xbf\xbd.\",\n"
                              "  \"nothing\": null,\n"
                              "  \"big\": 18446744073709551615,\n"
                              "  \"real\": -1.250,\n"
                              "  \"nan\": null,\n"
                              "  \"yes\": true,\n"
                              "  \"hex\": \"00ff7f\",\n"
                              "  \"list\": [\n"
                              "    {},\n"
                              "    [],\n"
                              "    null\n"
                              "  ]\n"
                              "}\n");
    assert_int_equal(size, strlen(text));
    cuzk_json_free(&j);

    /* unbalanced output is refused */
    cuzk_json_init(&j);
    cuzk_json_object(&j, NULL);
    assert_int_equal(cuzk_json_text(&j, &text, &size, &err), CUZK_E_INTERNAL);
    assert_null(text);
    cuzk_json_free(&j);

    cuzk_json_init(&j);
    cuzk_alloc_fail_at(1);
    cuzk_json_object(&j, NULL);
    cuzk_json_object_end(&j);
    assert_int_equal(cuzk_json_text(&j, &text, &size, &err), CUZK_E_MEMORY);
    cuzk_alloc_fail_at(0);
    cuzk_json_free(&j);
}

/* Every event as a line. */
struct log {
    char text[4096];
    size_t size;
};

static cuzk_status record(void *context, const char *path, const struct cuzk_json_value *v,
                          struct cuzk_error *e)
{
    struct log *l = context;
    static const char *const names[] = {"null", "bool", "number", "string", "object", "array"};
    int n = snprintf(l->text + l->size, sizeof l->text - l->size, "%s=%s:%.*s\n", path,
                     names[v->type], (int)v->size, v->text != NULL ? v->text : "");
    l->size += (size_t)n;
    if (strcmp(path, "stop") == 0)
        return cuzk_fail(e, CUZK_E_RANGE, "too much");
    return CUZK_OK;
}

static cuzk_status scan(struct log *l, const char *text)
{
    *l = (struct log){0};
    err = (struct cuzk_error){0};
    return cuzk_json_scan("file.json", (const uint8_t *)text, strlen(text), record, l, &err);
}

static void test_in(void **state)
{
    (void)state;
    static struct log l;
    assert_ok(scan(&l, "{\"a\": {\"b\": [1, [true, \"x\\n\"], {}]}, \"c.d\": null, \"\": -2.5e3}"),
              err);
    assert_string_equal(l.text, "=object:\na=object:\na.b=array:\na.b[0]=number:1\na.b[1]=array:\n"
                                "a.b[1][0]=bool:\na.b[1][1]=string:x\n\n"
                                "a.b[2]=object:\n[\"c.d\"]=null:\n[\"\"]=number:-2.5e3\n");
    assert_ok(scan(&l, " 7 "), err);
    assert_string_equal(l.text, "=number:7\n");

    static const struct {
        const char *text;
        cuzk_status status;
        const char *says;
    } bad[] = {
        {"", CUZK_E_TRUNCATED, "offset 0"},
        {"{\"a\": [1, 2", CUZK_E_TRUNCATED, "offset 11"},
        {"{\"a\": \"xyz", CUZK_E_TRUNCATED, "offset 10"},
        {"{\"a\": 1}}", CUZK_E_FORMAT, "offset 9"},
        {"{\"a\": 1,}", CUZK_E_FORMAT, "offset"},
        {"{\"a\" 1}", CUZK_E_FORMAT, "offset"},
        {"{\"a\": \"\xff\"}", CUZK_E_FORMAT, "offset"},
        {"[01]", CUZK_E_FORMAT, "offset"},
        {"nul", CUZK_E_FORMAT, "offset"},
        {"{\"x\": [0, {\"stop\": 1}]}", CUZK_OK, ""},
        {"{\"stop\": 1, \"after\": 2}", CUZK_E_RANGE, "file.json: stop: too much"},
        {"[[[[[[[[[[[[[[[[[0]]]]]]]]]]]]]]]]]", CUZK_E_FORMAT, "deeper than 16"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cuzk_status status = scan(&l, bad[i].text);
        if (status != bad[i].status || strstr(err.message, bad[i].says) == NULL)
            fail_msg("%s: status %d, message \"%s\"", bad[i].text, (int)status, err.message);
    }
    assert_null(strstr(l.text, "after"));

    /* a hundred thousand open brackets cost no memory; a long key does not overrun the path */
    size_t n = 100000;
    char *deep = malloc(n + 1);
    memset(deep, '[', n);
    deep[n] = '\0';
    assert_int_equal(scan(&l, deep), CUZK_E_FORMAT);
    memset(deep, 'k', n);
    memcpy(deep, "{\"", 2);
    memcpy(deep + n - 4, "\":1}", 4);
    assert_ok(scan(&l, deep), err);
    free(deep);
}

static void test_leaves(void **state)
{
    (void)state;
#define NUMBER(t)                                                                                  \
    &(struct cuzk_json_value){.type = CUZK_JSON_NUMBER, .text = (t), .size = strlen(t)}
#define STRING(t)                                                                                  \
    &(struct cuzk_json_value)                                                                      \
    {                                                                                              \
        .type = CUZK_JSON_STRING, .text = (t), .size = strlen(t)                                   \
    }
    uint64_t v = 0;
    assert_ok(cuzk_json_as_u64(&v, NUMBER("18446744073709551615"), &err), err);
    assert_true(v == UINT64_MAX);
    assert_int_equal(cuzk_json_as_u64(&v, NUMBER("18446744073709551616"), &err), CUZK_E_RANGE);
    assert_int_equal(cuzk_json_as_u64(&v, NUMBER("99999999999999999999999"), &err), CUZK_E_RANGE);
    assert_int_equal(cuzk_json_as_u64(&v, NUMBER("-1"), &err), CUZK_E_FORMAT);
    assert_int_equal(cuzk_json_as_u64(&v, NUMBER("1.0"), &err), CUZK_E_FORMAT);
    assert_int_equal(cuzk_json_as_u64(&v, STRING("1"), &err), CUZK_E_FORMAT);
    assert_true(v == UINT64_MAX);

    uint8_t b[2];
    assert_ok(cuzk_json_as_hex(b, 2, STRING("fF0a"), &err), err);
    assert_memory_equal(b, "\xff\x0a", 2);
    assert_int_equal(cuzk_json_as_hex(b, 2, STRING("fF0"), &err), CUZK_E_FORMAT);
    assert_int_equal(cuzk_json_as_hex(b, 2, STRING("fF0a0"), &err), CUZK_E_FORMAT);
    assert_int_equal(cuzk_json_as_hex(b, 2, STRING("fF0x"), &err), CUZK_E_FORMAT);

    struct bls12_381_fr f;
    assert_ok(
        cuzk_json_as_fr(
            &f, STRING("00000000fffffffffe5bfeff02a4bd5305d8a10908d83933487d9d2953a7ed73"), &err),
        err); /* r - 1 */
    assert_int_equal(
        cuzk_json_as_fr(
            &f, STRING("01000000fffffffffe5bfeff02a4bd5305d8a10908d83933487d9d2953a7ed73"), &err),
        CUZK_E_RANGE); /* r */

    char text[4];
    assert_ok(cuzk_json_as_text(text, sizeof text, STRING("abc"), &err), err);
    assert_int_equal(cuzk_json_as_text(text, sizeof text, STRING("abcd"), &err), CUZK_E_RANGE);
    assert_int_equal(cuzk_json_as_text(text, sizeof text, NUMBER("1"), &err), CUZK_E_FORMAT);
}

#define ELEMENT "0200000000000000000000000000000000000000000000000000000000000000"

static cuzk_status waste(struct cuzk_waste *w, const char *text)
{
    return cuzk_waste_parse(w, "waste.json", (const uint8_t *)text, strlen(text), &err);
}

static void test_waste(void **state)
{
    (void)state;
    struct cuzk_waste w;
    assert_ok(cuzk_waste_read(&w, CUZK_VECTORS_DIR "/keys/toy5.proof.json", &err), err);
    assert_true(w.has_rs);
    uint8_t tau[32];
    bls12_381_fr_to_le(tau, &w.tau);
    assert_memory_equal(tau, "\x15\x24\x3e\x53\x1d\x1b\x12\x28", 8);

    const char *five =
        "{\"alpha\": \"" ELEMENT "\", \"beta\": \"" ELEMENT "\", \"gamma\": \"" ELEMENT
        "\", \"delta\": \"" ELEMENT "\", \"tau\": \"" ELEMENT "\"}";
    assert_ok(waste(&w, five), err);
    assert_false(w.has_rs);
    struct bls12_381_fr two;
    bls12_381_fr_from_u64(&two, 2);
    assert_memory_equal(&w.delta, &two, sizeof two);

    assert_int_equal(waste(&w, "{\"alpha\": \"" ELEMENT "\"}"), CUZK_E_FORMAT);
    assert_non_null(strstr(err.message, "beta is missing"));
    assert_int_equal(waste(&w, "{\"alpha\": \"" ELEMENT "\", \"alpha\": \"" ELEMENT "\"}"),
                     CUZK_E_FORMAT);
    assert_non_null(strstr(err.message, "twice"));
    assert_int_equal(waste(&w,
                           "{\"waste\": {\"tau\": \"00000000000000000000000000000000000000000000"
                           "00000000000000000000\"}}"),
                     CUZK_E_RANGE);
    assert_non_null(strstr(err.message, "waste.json: waste.tau: zero"));
    assert_int_equal(waste(&w, "{\"waste\": {\"encoding\": \"big-endian\"}}"), CUZK_E_UNSUPPORTED);
    static const struct cuzk_waste zero;
    assert_memory_equal(&w, &zero, sizeof w);

    /* escapes make the parser allocate: each allocation fails in turn */
    const char *escaped = "{\"x\\u0041\": \"\\n\\t\\u1234\", \"alpha\": \"" ELEMENT "\"}";
    cuzk_alloc_fail_at(0);
    assert_int_equal(waste(&w, escaped), CUZK_E_FORMAT);
    uint64_t n = cuzk_alloc_count();
    assert_true(n > 2);
    for (uint64_t i = 1; i <= n; i++) {
        cuzk_alloc_fail_at(i);
        assert_int_equal(waste(&w, escaped), CUZK_E_MEMORY);
    }
    cuzk_alloc_fail_at(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_out),
        cmocka_unit_test(test_in),
        cmocka_unit_test(test_leaves),
        cmocka_unit_test(test_waste),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
