/* Keys and proofs: bellperson's own files are read and written back byte for byte; every way to
 * damage one is refused with file, section and offset; each allocation fails in turn. */

#include "unit/test.h"

#include <unistd.h>

#include "base/alloc.h"
#include "base/os.h"
#include "format/json_in.h"
#include "format/params.h"
#include "format/proof.h"

#define KEYS CUZK_VECTORS_DIR "/keys/"

static struct cuzk_error err;
static char path[] = "/tmp/cuzk-test-params-XXXXXX";

struct bytes {
    uint8_t *data;
    size_t size;
};

static struct bytes load(const char *name)
{
    struct bytes b;
    assert_ok(cuzk_os_read_file(&b.data, &b.size, name, (size_t)8 << 20, &err), err);
    return b;
}

static void store(const void *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static int setup(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 || close(fd) != 0;
}

static int teardown(void **state)
{
    (void)state;
    return unlink(path);
}

static void test_read_back(void **state)
{
    (void)state;
    const struct bls12_381_ops *ops = bls12_381_ops(NULL);
    static const struct {
        const char *params, *vk;
        uint32_t ic, count[CUZK_SECTIONS];
    } keys[] = {
        {KEYS "toy5.params", KEYS "toy5.vk", 3, {15, 7, 9, 8, 8}},
        {KEYS "toy3000.params", KEYS "toy3000.vk", 3, {0}},
    };
    for (size_t k = 0; k < 2; k++) {
        struct bytes file = load(keys[k].params), vk_file = load(keys[k].vk);
        struct cuzk_params *p;
        assert_ok(cuzk_params_open(&p, keys[k].params, &err), err);
        assert_int_equal(p->vk.ic_count, keys[k].ic);
        uint64_t at = cuzk_vk_bytes(p->vk.ic_count);
        uint8_t *back = malloc(file.size);
        cuzk_vk_encode(back, &p->vk);
        for (enum cuzk_section s = 0; s < CUZK_SECTIONS; s++) {
            uint32_t n = p->count[s];
            if (k == 0)
                assert_int_equal(n, keys[k].count[s]);
            assert_true(p->offset[s] == at + 4);
            memcpy(back + at, file.data + at, 4);
            at += 4;
            if (s == CUZK_QUERY_B2) {
                struct bls12_381_g2_affine *g2 = calloc(n, sizeof *g2);
                assert_ok(cuzk_params_g2(p, g2, 0, n, &err), err);
                ops->g2_encode(back + at, g2, n, false);
                struct bls12_381_g2_affine one;
                assert_ok(cuzk_params_g2(p, &one, n - 1, 1, &err), err);
                assert_memory_equal(&one, &g2[n - 1], sizeof one);
                free(g2);
                at += (uint64_t)n * CUZK_G2_BYTES;
            } else {
                struct bls12_381_g1_affine *g1 = calloc(n, sizeof *g1);
                assert_ok(cuzk_params_g1(p, s, g1, 0, n, &err), err);
                ops->g1_encode(back + at, g1, n, false);
                struct bls12_381_g1_affine one;
                assert_ok(cuzk_params_g1(p, s, &one, n - 1, 1, &err), err);
                assert_memory_equal(&one, &g1[n - 1], sizeof one);
                assert_int_equal(cuzk_params_g1(p, s, &one, n, 1, &err), CUZK_E_RANGE);
                assert_int_equal(cuzk_params_g1(p, s, &one, 0, (size_t)n + 1, &err), CUZK_E_RANGE);
                assert_int_equal(cuzk_params_g1(p, s, &one, SIZE_MAX, 2, &err), CUZK_E_RANGE);
                assert_ok(cuzk_params_g1(p, s, &one, n, 0, &err), err);
                free(g1);
                at += (uint64_t)n * CUZK_G1_BYTES;
            }
        }
        assert_int_equal(at, file.size);
        assert_memory_equal(back, file.data, file.size);

        struct cuzk_vk vk;
        assert_ok(cuzk_vk_read(&vk, keys[k].vk, &err), err);
        assert_memory_equal(vk.ic, p->vk.ic, vk.ic_count * sizeof *vk.ic);
        assert_memory_equal(&vk.delta_g2, &p->vk.delta_g2, sizeof vk.delta_g2);
        assert_ok(cuzk_vk_write(path, &vk, &err), err);
        struct bytes written = load(path);
        assert_int_equal(written.size, vk_file.size);
        assert_memory_equal(written.data, vk_file.data, vk_file.size);
        cuzk_free(written.data);
        cuzk_vk_destroy(&vk);
        free(back);
        cuzk_params_close(p);
        cuzk_free(file.data);
        cuzk_free(vk_file.data);
    }
    assert_int_equal(cuzk_params_g1(NULL, CUZK_QUERY_B2, NULL, 0, 0, &err), CUZK_E_ARGUMENT);
}

/* Opens `path` and decodes every point, as a prover would. */
static cuzk_status read_all(void)
{
    struct cuzk_params *p;
    err = (struct cuzk_error){0};
    cuzk_status status = cuzk_params_open(&p, path, &err);
    if (status != CUZK_OK) {
        assert_null(p);
        return status;
    }
    for (enum cuzk_section s = 0; status == CUZK_OK && s < CUZK_SECTIONS; s++) {
        void *out = calloc(p->count[s] + 1u, sizeof(struct bls12_381_g2_affine));
        status = s == CUZK_QUERY_B2 ? cuzk_params_g2(p, out, 0, p->count[s], &err)
                                    : cuzk_params_g1(p, s, out, 0, p->count[s], &err);
        free(out);
    }
    cuzk_params_close(p);
    return status;
}

static void expect(cuzk_status want, const char *says)
{
    cuzk_status status = read_all();
    if (status != want || strstr(err.message, says) == NULL ||
        strncmp(err.message, path, strlen(path)) != 0)
        fail_msg("status %d instead of %d, message \"%s\" instead of \"%s\"", (int)status,
                 (int)want, err.message, says);
}

static void put_count(uint8_t *at, uint32_t count)
{
    at[0] = (uint8_t)(count >> 24);
    at[1] = (uint8_t)(count >> 16);
    at[2] = (uint8_t)(count >> 8);
    at[3] = (uint8_t)count;
}

static void test_cut_and_extended(void **state)
{
    (void)state;
    struct bytes f = load(KEYS "toy5.params");
    /* every length shorter than the whole fails, at the structure and not at a point */
    for (size_t n = 0; n < f.size; n += n < 1200 || n > 6400 ? 1 : 37) {
        store(f.data, n);
        expect(CUZK_E_TRUNCATED, n < 868 ? "bytes, but a verifying key has at least 868" : "");
    }
    uint8_t *more = calloc(1, f.size + 5000);
    memcpy(more, f.data, f.size);
    for (size_t extra = 1; extra <= 5000; extra += 4999) {
        store(more, f.size + extra);
        expect(CUZK_E_TRAILING, "bytes follow the last section, which ends at offset 6456");
    }
    free(more);

    /* a .vk is told from a .params and the other way round */
    struct bytes vk = load(KEYS "toy5.vk");
    store(vk.data, vk.size);
    expect(CUZK_E_TRUNCATED, "may be a .vk");
    struct cuzk_vk out;
    assert_int_equal(cuzk_vk_read(&out, KEYS "toy5.params", &err), CUZK_E_TRAILING);
    assert_non_null(strstr(err.message, "give the .vk"));
    for (size_t n = 0; n < vk.size; n++) {
        store(vk.data, n);
        assert_int_equal(cuzk_vk_read(&out, path, &err), CUZK_E_TRUNCATED);
        assert_null(out.ic);
    }
    assert_int_equal(cuzk_vk_read(&out, "/nonexistent/x.vk", &err), CUZK_E_NOT_FOUND);
    assert_int_equal(cuzk_vk_read(&out, "/tmp", &err), CUZK_E_IO);
    cuzk_free(vk.data);
    cuzk_free(f.data);
}

static void test_counts(void **state)
{
    (void)state;
    struct bytes f = load(KEYS "toy5.params");
    const size_t ic = 864, h = 1156, l = h + 4 + 15 * 96, a = l + 4 + 7 * 96, b1 = a + 4 + 9 * 96,
                 b2 = b1 + 4 + 8 * 96;
    static const uint32_t wrong[] = {UINT32_MAX, 0x80000000, 44739243, 1000};
    const struct {
        size_t at;
        const char *says;
    } counts[] = {{ic, "ic at offset 864"},       {h, "section h at offset 1156"},
                  {l, "section l at offset"},     {a, "section a at offset"},
                  {b1, "section b_g1 at offset"}, {b2, "section b_g2 at offset"}};
    for (size_t c = 0; c < 6; c++) {
        for (size_t w = 0; w < 4; w++) {
            uint8_t old[4];
            memcpy(old, f.data + counts[c].at, 4);
            put_count(f.data + counts[c].at, wrong[w]);
            store(f.data, f.size);
            expect(CUZK_E_TRUNCATED, counts[c].says);
            memcpy(f.data + counts[c].at, old, 4);
        }
    }
    /* the largest count in a file of the least size: refused without memory for it */
    uint8_t small[868];
    memcpy(small, f.data, sizeof small);
    put_count(small + ic, UINT32_MAX);
    store(small, sizeof small);
    cuzk_alloc_fail_at(0);
    expect(CUZK_E_TRUNCATED, "counts 4294967295 points, 412316860320 bytes, but 0 follow");
    put_count(small + ic, 0);
    store(small, sizeof small);
    expect(CUZK_E_TRUNCATED, "before section h");

    put_count(f.data + ic, 0);
    store(f.data, f.size);
    assert_int_not_equal(read_all(), CUZK_OK);
    struct cuzk_vk vk;
    assert_int_equal(cuzk_vk_read(&vk, path, &err), CUZK_E_FORMAT);
    put_count(f.data + ic, 3);

    /* counts that fit the size and not each other: one point moves between sections */
    memmove(f.data + l - 96, f.data + l, f.size - l); /* h loses its last */
    put_count(f.data + h, 14);
    store(f.data, f.size - 96);
    expect(CUZK_E_FORMAT, "not a power of two");
    cuzk_free(f.data);

    f = load(KEYS "toy5.params");
    memmove(f.data + b1 - 96 * 7, f.data + b1, f.size - b1);
    put_count(f.data + a, 2);
    store(f.data, f.size - 96 * 7);
    expect(CUZK_E_FORMAT, "section a has 2 points; 3 inputs");
    cuzk_free(f.data);

    f = load(KEYS "toy5.params");
    put_count(f.data + b2, 7);
    store(f.data, f.size - 192);
    expect(CUZK_E_FORMAT, "b_g1 and b_g2 have 8 and 7");
    cuzk_free(f.data);
}

static void test_points(void **state)
{
    (void)state;
    struct bytes f = load(KEYS "toy5.params");
    const struct {
        size_t at;
        const char *what;
    } points[] = {{0, "alpha_g1"},
                  {96, "beta_g1"},
                  {192, "beta_g2"},
                  {384, "gamma_g2"},
                  {576, "delta_g1"},
                  {672, "delta_g2"},
                  {868 + 96, "ic, point 1 at offset 964"},
                  {1160, "h, point 0 at offset 1160"},
                  {1160 + 14 * 96, "h, point 14 at offset 2504"},
                  {2604 + 96, "l, point 1 at offset 2700"},
                  {6456 - 192, "b_g2, point 7 at offset 6264"}};
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        uint8_t *p = f.data + points[i].at, old[192];
        size_t n = strstr(points[i].what, "g2") != NULL ? 192 : 96;
        memcpy(old, p, n);
        p[n - 1] ^= 1; /* off the curve */
        store(f.data, f.size);
        expect(CUZK_E_POINT, points[i].what);
        memcpy(p, old, n);
        p[0] |= 0x80; /* the flag of a compressed point */
        store(f.data, f.size);
        expect(CUZK_E_POINT, points[i].what);
        memset(p, 0, n);
        p[0] = 0x40; /* infinity */
        store(f.data, f.size);
        expect(CUZK_E_POINT, points[i].what);
        memset(p, 0xff, n);
        p[0] = 0x1f; /* a coordinate above p */
        store(f.data, f.size);
        assert_int_not_equal(read_all(), CUZK_OK);
        assert_non_null(strstr(err.message, points[i].what));
        memcpy(p, old, n);
    }
    store(f.data, f.size);
    assert_ok(read_all(), err);

    /* points of the curve outside of the subgroup: the key's own are refused at once, the others
     * are for the full check, since each costs a multiplication */
    const struct bls12_381_ops *ops = bls12_381_ops(NULL);
    struct bytes list = load(CUZK_VECTORS_DIR "/curve/bls12_381-encodings.json");
    uint8_t outside[96];
    bool found = false;
    for (char *at = (char *)list.data; !found && (at = strstr(at, "\"bytes\": \"")) != NULL; at++) {
        const char *end = strchr(at, '}');
        const char *kind = strstr(at, "\"g1_compressed\"");
        const char *verdict = strstr(at, "\"not in the subgroup\"");
        uint8_t compressed[48];
        struct bls12_381_g1_affine point;
        if (kind == NULL || kind > end || verdict == NULL || verdict > end)
            continue;
        assert_true(cuzk_hex_decode(compressed, 48, at + strlen("\"bytes\": \""), 96));
        assert_ok(ops->g1_decode(&point, compressed, 1, true, false, NULL, &err), err);
        ops->g1_encode(outside, &point, 1, false);
        found = true;
    }
    assert_true(found);
    uint8_t old[96];
    memcpy(old, f.data + 868, 96);
    memcpy(f.data + 868, outside, 96);
    store(f.data, f.size);
    expect(CUZK_E_POINT, "ic, point 0 at offset 868");
    memcpy(f.data + 868, old, 96);
    memcpy(f.data + 1160, outside, 96);
    store(f.data, f.size);
    assert_ok(read_all(), err);
    cuzk_free(list.data);
    cuzk_free(f.data);
}

/* One random bit of the file: an error or a point of the curve, never anything else. */
static void test_flips(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    struct bytes f = load(KEYS "toy5.params");
    for (int i = 0; i < 300; i++) {
        uint64_t bit = test_random(&seed) % (8 * f.size);
        f.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        store(f.data, f.size);
        if (read_all() == CUZK_OK)
            fail_msg("bit %llu of the key went unnoticed", (unsigned long long)bit);
        f.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    cuzk_free(f.data);
}

static void test_allocations(void **state)
{
    (void)state;
    struct cuzk_params *p;
    cuzk_alloc_fail_at(0);
    assert_ok(cuzk_params_open(&p, KEYS "toy5.params", &err), err);
    cuzk_params_close(p);
    uint64_t n = cuzk_alloc_count();
    assert_true(n >= 3);
    for (uint64_t i = 1; i <= n; i++) {
        cuzk_alloc_fail_at(i);
        assert_int_equal(cuzk_params_open(&p, KEYS "toy5.params", &err), CUZK_E_MEMORY);
        assert_null(p);
    }
    cuzk_alloc_fail_at(0);
    cuzk_params_close(NULL);
    cuzk_vk_destroy(&(struct cuzk_vk){0});
}

/* The proofs of the vectors, as bytes. */
struct found {
    uint8_t proof[CUZK_PROOF_BYTES];
};
static cuzk_status find_proof(void *context, const char *at, const struct cuzk_json_value *v,
                              struct cuzk_error *e)
{
    struct found *f = context;
    return strcmp(at, "proof") == 0 ? cuzk_json_as_hex(f->proof, sizeof f->proof, v, e) : CUZK_OK;
}

static void test_proof(void **state)
{
    (void)state;
    struct found f[2];
    assert_ok(cuzk_json_scan_file(KEYS "toy5.proof.json", find_proof, &f[0], &err), err);
    assert_ok(cuzk_json_scan_file(KEYS "toy3000.proof.json", find_proof, &f[1], &err), err);
    struct cuzk_proof *proofs, single;
    size_t count;
    store(f, sizeof f);
    assert_ok(cuzk_proof_read(&proofs, &count, path, &err), err);
    assert_int_equal(count, 2);
    uint8_t back[CUZK_PROOF_BYTES];
    for (size_t i = 0; i < 2; i++) {
        cuzk_proof_encode(back, &proofs[i]);
        assert_memory_equal(back, f[i].proof, sizeof back);
    }
    assert_ok(cuzk_proof_write(path, proofs, count, &err), err);
    struct bytes written = load(path);
    assert_int_equal(written.size, sizeof f);
    assert_memory_equal(written.data, f, sizeof f);
    cuzk_free(written.data);
    cuzk_free(proofs);

    static const struct cuzk_proof zero;
    for (size_t n = 0; n < sizeof f; n++) {
        if (n == CUZK_PROOF_BYTES)
            continue;
        store(f, n);
        assert_int_equal(cuzk_proof_read(&proofs, &count, path, &err),
                         n < CUZK_PROOF_BYTES ? CUZK_E_TRUNCATED : CUZK_E_FORMAT);
        assert_null(proofs);
    }
    static const struct {
        unsigned at;
        const char *says;
    } points[] = {{0, "A at offset 0"}, {48, "B at offset 48"}, {144, "C at offset 144"}};
    for (size_t i = 0; i < 3; i++) {
        struct found bad = f[1];
        bad.proof[points[i].at] ^= 0x80; /* not marked as compressed */
        struct found two[2] = {f[0], bad};
        store(two, sizeof two);
        assert_int_not_equal(cuzk_proof_read(&proofs, &count, path, &err), CUZK_OK);
        assert_non_null(strstr(err.message, points[i].says));
        assert_non_null(strstr(err.message, "partition 1 (from offset 192)"));
        memset(bad.proof + points[i].at, 0, i == 1 ? 96 : 48);
        bad.proof[points[i].at] = 0xc0; /* infinity */
        single = (struct cuzk_proof){.a = {.x = {{1}}}};
        assert_int_equal(cuzk_proof_decode(&single, bad.proof, &err), CUZK_E_POINT);
        assert_non_null(strstr(err.message, points[i].says));
        assert_memory_equal(&single, &zero, sizeof zero);
    }
    uint8_t *big = calloc(CUZK_PROOF_MAX_PARTITIONS + 1, CUZK_PROOF_BYTES);
    store(big, (size_t)(CUZK_PROOF_MAX_PARTITIONS + 1) * CUZK_PROOF_BYTES);
    assert_int_equal(cuzk_proof_read(&proofs, &count, path, &err), CUZK_E_RANGE);
    free(big);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_back), cmocka_unit_test(test_cut_and_extended),
        cmocka_unit_test(test_counts),    cmocka_unit_test(test_points),
        cmocka_unit_test(test_flips),     cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_proof),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
