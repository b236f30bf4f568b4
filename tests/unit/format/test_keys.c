/* The full check of a key and its note, the network's list, and export as snarkjs JSON. */

#include "unit/test.h"

#include <unistd.h>

#include "base/alloc.h"
#include "base/os.h"
#include "format/json_in.h"
#include "format/key_check.h"
#include "format/network_keys.h"
#include "format/params.h"
#include "format/snarkjs.h"

#define KEYS CUZK_VECTORS_DIR "/keys/"

static struct cuzk_error err;
static char directory[] = "/tmp/cuzk-test-keys-XXXXXX";
static char path[128], note[160];

static int setup(void **state)
{
    (void)state;
    if (mkdtemp(directory) == NULL)
        return 1;
    (void)snprintf(path, sizeof path, "%s/key.params", directory);
    (void)snprintf(note, sizeof note, "%s.cuzk.json", path);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    (void)unlink(path);
    (void)unlink(note);
    return rmdir(directory);
}

/* Copies a key, with one byte changed where at >= 0. */
static void copy(const char *from, long at)
{
    uint8_t *data;
    size_t size;
    assert_ok(cuzk_os_read_file(&data, &size, from, (size_t)8 << 20, &err), err);
    if (at >= 0)
        data[at] ^= 1;
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
    cuzk_free(data);
}

static bool count_progress(void *context, uint64_t done, uint64_t total)
{
    assert_true(done <= total);
    return ++*(unsigned *)context < 1000;
}
static bool cancel(void *context, uint64_t done, uint64_t total)
{
    (void)context;
    (void)done;
    (void)total;
    return false;
}

static void test_check(void **state)
{
    (void)state;
    struct cuzk_key_report r, again;
    struct cuzk_threads *threads;
    assert_ok(cuzk_threads_create(&threads, 3, &err), err);
    unsigned calls = 0;
    assert_ok(cuzk_key_check(&r, KEYS "toy5.params", false, threads, count_progress, &calls, &err),
              err);
    assert_int_equal(r.verdict, CUZK_OK);
    assert_string_equal(r.fault, "");
    assert_true(calls >= 1);
    /* from toy5.proof.json; BLAKE2b by another implementation */
    assert_ok(cuzk_key_check(&r, KEYS "toy5.params", false, NULL, NULL, NULL, &err), err);
    assert_string_equal(r.sha256,
                        "f344dc625e2641595be5c258825fd475e3dcacaf2d42d88f213681c47e72f3ac");
    assert_string_equal(r.blake2b, "727ea02ceb623906f4680492776a60a3");
    assert_int_equal(r.file.size, 6456);
    assert_ok(cuzk_key_check(&r, KEYS "toy5.vk", true, NULL, NULL, NULL, &err), err);
    assert_int_equal(r.verdict, CUZK_OK);
    assert_int_equal(cuzk_key_check(&r, KEYS "toy5.vk", true, NULL, cancel, NULL, &err),
                     CUZK_E_CANCELLED);
    assert_int_equal(cuzk_key_check(&r, "/nonexistent", true, NULL, NULL, NULL, &err),
                     CUZK_E_NOT_FOUND);
    assert_int_equal(cuzk_key_check(&r, "/tmp", true, NULL, NULL, NULL, &err), CUZK_E_IO);

    /* a fault deep in a section is found, with its place, for any number of threads */
    copy(KEYS "toy3000.params", 100000);
    assert_ok(cuzk_key_check(&r, path, false, threads, NULL, NULL, &err), err);
    assert_ok(cuzk_key_check(&again, path, false, NULL, NULL, NULL, &err), err);
    assert_int_equal(r.verdict, CUZK_E_POINT);
    assert_non_null(strstr(r.fault, "is not on the curve"));
    assert_memory_equal(&r, &again, sizeof r);
    cuzk_threads_destroy(threads);

    /* a point outside of the subgroup passes the reader and not the check */
    uint8_t *data;
    size_t size;
    assert_ok(cuzk_os_read_file(&data, &size, KEYS "toy5.params", 1 << 20, &err), err);
    static const char outside[] = "97f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac58"
                                  "6c55e83ff97a1aeffb3af00adb22c6ba";
    uint8_t compressed[48];
    struct bls12_381_g1_affine point;
    const struct bls12_381_ops *ops = bls12_381_ops(NULL);
    assert_true(cuzk_hex_decode(compressed, 48, outside, 96));
    assert_ok(ops->g1_decode(&point, compressed, 1, true, false, NULL, &err), err);
    ops->g1_encode(data + 1160 + 3 * 96, &point, 1, false);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
    cuzk_free(data);
    assert_ok(cuzk_key_check(&r, path, false, NULL, NULL, NULL, &err), err);
    assert_int_equal(r.verdict, CUZK_E_POINT);
    assert_non_null(strstr(r.fault, "h, point 3 at offset 1448 is not in the subgroup"));
}

static void test_note(void **state)
{
    (void)state;
    struct cuzk_key_report r, back;
    copy(KEYS "toy5.params", -1);
    assert_int_equal(cuzk_key_recall(&back, path, &err), CUZK_E_NOT_FOUND);
    assert_non_null(strstr(err.message, "inspect --full"));
    assert_ok(cuzk_key_check(&r, path, false, NULL, NULL, NULL, &err), err);
    assert_ok(cuzk_key_remember(&r, path, &err), err);
    assert_ok(cuzk_key_recall(&back, path, &err), err);
    assert_memory_equal(&r, &back, sizeof r);
    /* the file changes: the note no longer holds */
    copy(KEYS "toy5.params", 3000);
    assert_int_equal(cuzk_key_recall(&back, path, &err), CUZK_E_NOT_FOUND);
    /* a bad verdict is kept too */
    assert_ok(cuzk_key_check(&r, path, false, NULL, NULL, NULL, &err), err);
    assert_int_equal(r.verdict, CUZK_E_POINT);
    assert_ok(cuzk_key_remember(&r, path, &err), err);
    assert_ok(cuzk_key_recall(&back, path, &err), err);
    assert_memory_equal(&r, &back, sizeof r);
    /* a damaged note is no note */
    FILE *f = fopen(note, "wb");
    assert_non_null(f);
    assert_true(fputs("{\"format\": \"cuzk key check 1\"", f) >= 0);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(cuzk_key_recall(&back, path, &err), CUZK_E_NOT_FOUND);
    /* allocations fail in turn */
    cuzk_alloc_fail_at(0);
    assert_ok(cuzk_key_check(&r, path, false, NULL, NULL, NULL, &err), err);
    assert_ok(cuzk_key_remember(&r, path, &err), err);
    uint64_t n = cuzk_alloc_count();
    unsigned failed = 0;
    for (uint64_t i = 1; i <= n; i++) {
        cuzk_alloc_fail_at(i);
        cuzk_status status = cuzk_key_check(&r, path, false, NULL, NULL, NULL, &err);
        if (status == CUZK_OK)
            status = cuzk_key_remember(&r, path, &err);
        failed += status == CUZK_E_MEMORY;
    }
    cuzk_alloc_fail_at(0);
    assert_int_equal(failed, n);
}

static void test_network(void **state)
{
    (void)state;
    size_t count;
    const struct cuzk_network_key *keys = cuzk_network_keys(&count);
    assert_int_equal(count, 22);
    char name[300], circuit[64];
    bool is_vk;
    for (size_t i = 0; i < count; i++) {
        for (int vk = 0; vk < 2; vk++) {
            assert_ok(cuzk_network_key_path(name, sizeof name, &keys[i], vk != 0, &err), err);
            assert_ptr_equal(cuzk_network_key_by_name(name, &is_vk), &keys[i]);
            assert_int_equal(is_vk, vk);
            assert_ptr_equal(
                cuzk_network_key_by_digest(vk ? keys[i].vk_digest : keys[i].params_digest, &is_vk),
                &keys[i]);
            assert_int_equal(is_vk, vk);
        }
    }
    static const uint64_t sizes[] = {2048, 8388608, 536870912, 34359738368, 68719476736};
    for (size_t i = 0; i < 5; i++) {
        const struct cuzk_network_key *key = cuzk_network_key_porep(sizes[i]);
        assert_non_null(key);
        assert_string_equal(cuzk_network_key_circuit(key, circuit, sizeof circuit),
                            "stacked-proof-of-replication");
    }
    assert_null(cuzk_network_key_porep(4096));
    assert_string_equal(cuzk_network_key_porep(34359738368)->params_digest,
                        "6a388072a518cf46ebd661f5cc46900a");
    assert_null(cuzk_network_key_by_name("toy5.params", &is_vk));
    assert_null(cuzk_network_key_by_name("", &is_vk));
    assert_null(cuzk_network_key_by_digest("", &is_vk));

    assert_int_equal(setenv("FIL_PROOFS_PARAMETER_CACHE", "/mnt/keys", 1), 0);
    assert_ok(cuzk_network_key_path(name, sizeof name, &keys[0], true, &err), err);
    assert_int_equal(strncmp(name, "/mnt/keys/v28-", 14), 0);
    assert_int_equal(cuzk_network_key_path(name, 20, &keys[0], true, &err), CUZK_E_RANGE);
    assert_int_equal(unsetenv("FIL_PROOFS_PARAMETER_CACHE"), 0);
    assert_ok(cuzk_network_key_path(name, sizeof name, &keys[0], false, &err), err);
    assert_int_equal(strncmp(name, "/var/tmp/filecoin-proof-parameters/v28-", 39), 0);
}

static void test_snarkjs(void **state)
{
    (void)state;
    struct cuzk_json j;
    const char *text;
    size_t size;
    struct bls12_381_fr inputs[4];
    bls12_381_fr_from_u64(&inputs[0], 0);
    bls12_381_fr_from_u64(&inputs[1], 1000000000);
    bls12_381_fr_from_u64(&inputs[2], UINT64_MAX);
    struct bls12_381_fr one;
    bls12_381_fr_from_u64(&one, 1);
    bls12_381_fr_sub(&inputs[3], &inputs[0], &one);
    cuzk_json_init(&j);
    cuzk_snarkjs_public(&j, inputs, 4);
    assert_ok(cuzk_json_text(&j, &text, &size, &err), err);
    assert_string_equal(
        text,
        "[\n  \"0\",\n  \"1000000000\",\n  \"18446744073709551615\",\n"
        "  \"52435875175126190479447740508185965837690552500527637822603658699938581184512\"\n]\n");
    struct bls12_381_fr *back;
    size_t back_count;
    assert_ok(cuzk_snarkjs_public_parse(&back, &back_count, "public.json", (const uint8_t *)text,
                                        size, &err),
              err);
    assert_int_equal(back_count, 4);
    assert_memory_equal(back, inputs, sizeof inputs);
    cuzk_free(back);
    cuzk_json_free(&j);
    static const char *const bad[] = {
        "{}", "7", "[[\"1\"]]", "[\"\"]", "[\"-1\"]", "[\"01\"]", "[\"1x\"]", "[null]", "[\"1\"",
        /* r, and the longest numbers of 77 and 78 digits */
        "[\"52435875175126190479447740508185965837690552500527637822603658699938581184513\"]",
        "[\"99999999999999999999999999999999999999999999999999999999999999999999999999999\"]",
        "[\"100000000000000000000000000000000000000000000000000000000000000000000000000000\"]"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cuzk_status status = cuzk_snarkjs_public_parse(
            &back, &back_count, "public.json", (const uint8_t *)bad[i], strlen(bad[i]), &err);
        if (status == CUZK_OK || back != NULL || back_count != 0)
            fail_msg("%s was read", bad[i]);
    }
    assert_ok(cuzk_snarkjs_public_parse(&back, &back_count, "x", (const uint8_t *)"[]", 2, &err),
              err);
    assert_int_equal(back_count, 0);
    cuzk_free(back);
    struct cuzk_vk vk;
    assert_ok(cuzk_vk_read(&vk, KEYS "toy5.vk", &err), err);
    cuzk_json_init(&j);
    cuzk_snarkjs_vk(&j, &vk);
    assert_ok(cuzk_json_text(&j, &text, &size, &err), err);
    assert_non_null(strstr(text, "\"nPublic\": 2"));
    assert_non_null(strstr(text, "\"292708628058952247044888933443728630587837536220357511912123044"
                                 "5398524350505529255941385893088383858266038754952994\""));
    cuzk_json_free(&j);
    cuzk_vk_destroy(&vk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_note),
        cmocka_unit_test(test_network),
        cmocka_unit_test(test_snarkjs),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
