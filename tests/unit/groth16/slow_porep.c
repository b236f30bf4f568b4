/* A real sector of 2 KiB, the whole way: the 1.1 GB key from the given waste has bellperson's
 * SHA-256, the proofs of three sectors for the given r and s are its bytes, and memory stays in its
 * bounds, by our account and by the kernel's. With CUZK_TEST_DEVICE=cuda the same on a card, whose
 * driver takes host memory of its own: memory is then held by the account alone.
 */
#include "unit/groth16/groth.h"

#include <openssl/evp.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/os.h"
#include "circuit/porep_circuit.h"
#include "format/c1.h"

#define MOST_ANONYMOUS 500000000u /* bytes during a proof */

static char key_path[256];

static void test_setup(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct cuzk_context *context = make_context(0, NULL);
    struct cuzk_relation *relation;
    struct scratch vk = scratch_path("2KiB.vk");
    struct cuzk_setup_options options = {.insecure_waste = KEYS "porep-2KiB-dev.json"};
    double start = cuzk_os_seconds();
    assert_ok(cuzk_relation_open(&relation, NULL, context, "porep-2KiB", &err), err);
    assert_ok(cuzk_setup(relation, key_path, vk.path, &options, &err), err);
    struct cuzk_account account;
    cuzk_budget_read(context->host, &account);
    print_message("setup: %.1f s, %.1f s of processors, %llu bytes\n", cuzk_os_seconds() - start,
                  cuzk_os_process_cpu_seconds(), (unsigned long long)account.peak);
    assert_same_file(KEYS "porep-2KiB-dev.vk", vk.path);
    (void)unlink(vk.path);

    struct cuzk_mapping file;
    uint8_t digest[32], expected[32];
    unsigned length;
    yajl_val json = vector_json("keys/porep-2KiB-dev.json");
    vector_hex(expected, sizeof expected, vector_text(json, "params_sha256"));
    assert_ok(cuzk_os_map(&file, key_path, &err), err);
    assert_int_equal(file.size, YAJL_GET_INTEGER(vector_get(json, "params_bytes")));
    assert_int_equal(EVP_Digest(file.data, file.size, digest, &length, EVP_sha256(), NULL), 1);
    assert_memory_equal(digest, expected, sizeof digest);
    cuzk_os_unmap(&file);
    yajl_tree_free(json);
    cuzk_relation_free(relation);
    cuzk_context_free(context);
}

/* Samples the process's anonymous memory until it is told to stop. */
struct sampler {
    pthread_t thread;
    atomic_bool stop;
    uint64_t highest;
};

static void *sample(void *arg)
{
    struct sampler *s = arg;
    while (!s->stop) {
        struct cuzk_os_memory m;
        cuzk_os_memory_read(&m);
        if (m.anon + m.shmem > s->highest)
            s->highest = m.anon + m.shmem;
        (void)usleep(5000);
    }
    return NULL;
}

static void test_prove(void **state)
{
    (void)state;
    struct cuzk_error err;
    yajl_val json = vector_json("keys/porep-2KiB-dev.json");
    yajl_val proofs = vector_get(json, "proofs");
    struct toy t;
    vector_hex(t.rs.r, 32, vector_text(vector_get(json, "waste"), "r"));
    vector_hex(t.rs.s, 32, vector_text(vector_get(json, "waste"), "s"));
    struct cuzk_os_memory baseline;
    for (size_t i = 0; i < YAJL_GET_ARRAY(proofs)->len; i++) {
        yajl_val entry = YAJL_GET_ARRAY(proofs)->values[i];
        const char *sector_name = vector_text(entry, "c1");
        uint8_t expected[CUZK_PROOF_BYTES], proof[CUZK_PROOF_BYTES];
        vector_hex(expected, sizeof expected, vector_text(entry, "proof"));
        char path[96];
        size_t size;
        (void)snprintf(path, sizeof path, "sectors/%s/c1.json.zst", sector_name);
        uint8_t *c1 = vector_read(path, &size);
        cuzk_os_memory_read(&baseline);

        struct sampler sampler = {.stop = false};
        struct cuzk_context *context = make_context(0, NULL);
        struct cuzk_relation *relation;
        struct cuzk_key *key;
        struct cuzk_porep_sector *sector;
        struct cuzk_porep_vanilla vanilla;
        struct cuzk_witness *witness;
        struct cuzk_prove_report report;
        struct cuzk_account opened, account;
        cuzk_budget_read(context->host, &opened); /* a card's staging */
        assert_int_equal(pthread_create(&sampler.thread, NULL, sample, &sampler), 0);
        assert_ok(cuzk_relation_open(&relation, NULL, context, "porep-2KiB", &err), err);
        assert_ok(cuzk_c1_parse(&sector, path, c1, size, NULL, context->host, &err), err);
        cuzk_porep_partition(&vanilla, sector, 0);
        assert_ok(cuzk_porep_witness(&witness, relation->circuit, &vanilla, context->host, &err),
                  err);
        assert_ok(cuzk_key_open(&key, relation, key_path, CUZK_KEY_STREAMED, &err), err);
        assert_ok(cuzk_prove(key, &witness, &t.rs, proof, &report, &err), err);
        sampler.stop = true;
        (void)pthread_join(sampler.thread, NULL);
        assert_memory_equal(proof, expected, sizeof proof);

        uint64_t kernel = sampler.highest - (baseline.anon + baseline.shmem);
        uint64_t ours = report.memory_peak;
        print_message("%s: %.1f s, peak %llu bytes by our account, %llu by the kernel's\n",
                      sector_name, report.seconds, (unsigned long long)ours,
                      (unsigned long long)kernel);
        for (size_t s = 0; s < report.stage_count; s++)
            print_message("  %-10s %8.3f s\n", report.stages[s].name, report.stages[s].seconds);
        uint64_t bound, device;
        cuzk_key_proof_memory(key, &bound, &device);
        assert_true(ours <= opened.used + bound + ((uint64_t)16 << 20)); /* circuit and witness */
        assert_true(ours <= MOST_ANONYMOUS);
        if (strcmp(test_device(), "cpu") == 0) {
            uint64_t slack = ours * 3 / 100 + ((uint64_t)64 << 20);
            assert_true(sampler.highest <= MOST_ANONYMOUS);
            assert_true(kernel <= ours + slack && ours <= kernel + slack);
        }

        free(c1);
        cuzk_porep_sector_destroy(sector);
        cuzk_key_close(key);
        cuzk_relation_free(relation);
        cuzk_budget_read(context->host, &account);
        assert_int_equal(account.used, opened.used);
        cuzk_context_free(context);
    }
    yajl_tree_free(json);
}

static int prepare(void **state)
{
    (void)state;
    const char *folder = getenv("TMPDIR");
    (void)snprintf(key_path, sizeof key_path, "%s/cuzk-test-%ld-2KiB.params",
                   folder != NULL ? folder : "/tmp", (long)getpid());
    return 0;
}

static int clean(void **state)
{
    (void)state;
    (void)unlink(key_path);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_setup),
        cmocka_unit_test(test_prove),
    };
    return cmocka_run_group_tests(tests, prepare, clean);
}
