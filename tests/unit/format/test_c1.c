/* C1: the sectors' files read, written again byte for byte, and every way of being wrong. */
#include "unit/vectors.h"

#include <unistd.h>

#include "base/alloc.h"
#include "circuit/porep_statement.h"
#include "format/c1.h"
#include "format/meta.h"

static struct cuzk_porep_sector *read_vector(const char *path, const char *circuit)
{
    struct cuzk_error err;
    struct cuzk_porep_sector *sector;
    size_t size;
    uint8_t *text = vector_read(path, &size);
    assert_ok(cuzk_c1_parse(&sector, path, text, size,
                            circuit != NULL ? cuzk_porep_by_circuit(circuit) : NULL, NULL, &err),
              err);
    free(text);
    return sector;
}

/* The file that the sector is written to, whole. */
static uint8_t *written(const struct cuzk_porep_sector *sector, size_t *size)
{
    struct cuzk_error err;
    char path[] = "/tmp/cuzk-test-c1-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    (void)close(fd);
    assert_ok(cuzk_c1_write(sector, path, &err), err);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    (void)fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    uint8_t *text = malloc(*size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, *size, f), *size);
    (void)fclose(f);
    (void)unlink(path);
    return text;
}

static const struct {
    const char *sector, *circuit, *registered;
} sectors[] = {
    {"v11-101", NULL, "StackedDrg2KiBV1_1"},
    {"v11-102", "porep-2KiB", "StackedDrg2KiBV1_1"},
    {"v1-201", NULL, "StackedDrg2KiBV1"},
    {"syn-301", NULL, "StackedDrg2KiBV1_1_Feat_SyntheticPoRep"},
    {"mini32-501", "porep-mini32", "StackedDrg32GiBV1_1"},
    {"mock32-3201", NULL, "StackedDrg32GiBV1_1"},
};

/* Nothing of the file is lost: writing what was read gives the file again. The statement is the
 * one in meta.json, and challenges and parents are those of the seed and the graph. */
static void test_sectors(void **state)
{
    (void)state;
    struct cuzk_error err;
    for (size_t i = 0; i < sizeof sectors / sizeof sectors[0]; i++) {
        char path[512];
        (void)snprintf(path, sizeof path, "sectors/%s/c1.json.zst", sectors[i].sector);
        struct cuzk_porep_sector *sector = read_vector(path, sectors[i].circuit);
        assert_string_equal(sector->params->registered, sectors[i].registered);
        assert_false(sector->wrapped);
        size_t size, expected_size;
        uint8_t *text = written(sector, &size), *expected = vector_read(path, &expected_size);
        assert_int_equal(size, expected_size);
        assert_memory_equal(text, expected, size);
        free(text);
        free(expected);

        assert_ok(cuzk_porep_check(sector, &err), err);
        struct cuzk_meta meta;
        (void)snprintf(path, sizeof path, "%s/sectors/%s/meta.json", CUZK_VECTORS_DIR,
                       sectors[i].sector);
        assert_ok(cuzk_meta_read(&meta, path, NULL, &err), err);
        assert_ok(cuzk_meta_match(&meta, sector, &err), err);
        assert_int_equal(
            cuzk_porep_check_owner(sector, meta.prover_id, meta.sector_number + 1, &err),
            CUZK_E_MISMATCH);
        assert_int_equal(strncmp(err.message, "replica_id: ", 12), 0);
        cuzk_porep_sector_destroy(sector);
    }
}

static void assert_same(const struct cuzk_porep_sector *a, const struct cuzk_porep_sector *b)
{
    size_t size_a, size_b;
    uint8_t *text_a = written(a, &size_a), *text_b = written(b, &size_b);
    assert_int_equal(size_a, size_b);
    assert_memory_equal(text_a, text_b, size_a);
    free(text_a);
    free(text_b);
}

static void test_other_forms(void **state)
{
    (void)state;
    struct cuzk_porep_sector *raw = read_vector("sectors/v11-101/c1.json.zst", NULL);
    struct cuzk_porep_sector *wrapped = read_vector("sectors/v11-101/c1-wrapped.json.zst", NULL);
    assert_true(wrapped->wrapped);
    assert_int_equal(wrapped->sector_number, 32627);
    assert_same(raw, wrapped);
    cuzk_porep_sector_destroy(raw);
    cuzk_porep_sector_destroy(wrapped);

    /* printed for people: a line each number */
    struct cuzk_error err;
    struct cuzk_porep_sector *pretty;
    size_t size, n = 0;
    uint8_t *text = vector_read("sectors/v11-102/c1.json.zst", &size), *blank = malloc(6 * size);
    assert_non_null(blank);
    for (size_t i = 0; i < size; i++) {
        blank[n++] = text[i];
        if (strchr(",:[{", text[i]) != NULL) {
            memcpy(blank + n, "\r\n\t ", 4);
            n += 4;
        }
    }
    raw = read_vector("sectors/v11-102/c1.json.zst", NULL);
    assert_ok(cuzk_c1_parse(&pretty, "c1.json", blank, n, NULL, NULL, &err), err);
    assert_same(raw, pretty);
    cuzk_porep_sector_destroy(pretty);
    free(blank);
    free(text);

    struct cuzk_porep_sector *sorted = read_vector("sectors/v11-102/c1-sorted-keys.json.zst", NULL);
    assert_same(raw, sorted);
    cuzk_porep_sector_destroy(raw);
    cuzk_porep_sector_destroy(sorted);
}

/* --- changed texts ------------------------------------------------------------------------- */

/* The text with its n-th (from 0) `from` replaced; the caller frees. */
static char *replaced(const char *text, const char *from, unsigned nth, const char *to)
{
    const char *at = text;
    for (;;) {
        at = strstr(at, from);
        if (at == NULL)
            fail_msg("the text has no %u-th %s", nth, from);
        if (nth-- == 0)
            break;
        at += strlen(from);
    }
    size_t before = (size_t)(at - text), n = strlen(text) - strlen(from) + strlen(to);
    char *out = malloc(n + 1);
    assert_non_null(out);
    memcpy(out, text, before);
    memcpy(out + before, to, strlen(to));
    memcpy(out + before + strlen(to), at + strlen(from), n - before - strlen(to) + 1);
    return out;
}

static void assert_refused(const char *text, size_t size, cuzk_status status, const char *says)
{
    struct cuzk_error err = {0};
    struct cuzk_porep_sector *sector = (void *)&err;
    cuzk_status got =
        cuzk_c1_parse(&sector, "c1.json", (const uint8_t *)text, size, NULL, NULL, &err);
    if (got != status || strstr(err.message, says) == NULL)
        fail_msg("wanted %s with \"%s\", got %s: %s", cuzk_status_name(status), says,
                 cuzk_status_name(got), err.message);
    assert_null(sector);
    assert_int_equal(strncmp(err.message, "c1.json: ", 9), 0);
    assert_non_null(strstr(err.message, "byte "));
}

#define P "vanilla_proofs.StackedDrg2KiBV1[0][0]"

static void test_refused(void **state)
{
    (void)state;
    size_t size;
    char *text = (char *)vector_read("sectors/v11-101/c1.json.zst", &size);
    const struct {
        const char *from;
        unsigned nth;
        const char *to;
        cuzk_status status;
        const char *says;
    } cases[] = {
        /* the whole */
        {"\"comm_r\":", 0, "\"comm_x\":", CUZK_E_FORMAT, "unknown key \"comm_x\""},
        {"\"comm_r\":", 0, "\"comm_d\":", CUZK_E_FORMAT, "comm_d: given twice"},
        {"\"seed\":", 0, "\"Phase1Out\":\"\",\"seed\":", CUZK_E_FORMAT, "wrapper together"},
        {"\"StackedDrg2KiBV1_1\"", 0, "7", CUZK_E_FORMAT, "registered_proof: expected a string"},
        {"\"StackedDrg2KiBV1_1\"", 0, "\"StackedDrg4KiBV1_1\"", CUZK_E_FORMAT,
         "registered_proof: no registered proof"},
        {"\"StackedDrg2KiBV1_1\"", 0, "\"StackedDrg2KiBV1_2_Feat_NonInteractivePoRep\"",
         CUZK_E_UNSUPPORTED, "StackedDrg2KiBV1_2_Feat_NonInteractivePoRep: non-interactive"},
        {"\"StackedDrg2KiBV1_1\"", 0, "\"StackedDrg8MiBV1_1\"", CUZK_E_MISMATCH,
         "vanilla_proofs.StackedDrg2KiBV1"},
        {"\"StackedDrg2KiBV1\":", 0, "\"StackedDrg8MiBV1\":", CUZK_E_MISMATCH,
         "vanilla_proofs.StackedDrg8MiBV1"},
        {"{\"StackedDrg2KiBV1\":", 0, "{\"StackedDrg2KiBV1\":[],\"StackedDrg2KiBV1\":",
         CUZK_E_FORMAT, "vanilla_proofs.StackedDrg2KiBV1: 0 elements where porep-2KiB has 1"},
        {"[[{\"comm_d_proofs\"", 0, "[[],[{\"comm_d_proofs\"", CUZK_E_FORMAT,
         "vanilla_proofs.StackedDrg2KiBV1[0]: 0 elements where porep-2KiB has 2"},
        {"}]]},\"comm_r\"", 0, "},{}]]},\"comm_r\"", CUZK_E_FORMAT,
         "vanilla_proofs.StackedDrg2KiBV1[0][1]: more than the 2 elements"},
        {"}]]},\"comm_r\"", 0, "}],[]]},\"comm_r\"", CUZK_E_FORMAT,
         "vanilla_proofs.StackedDrg2KiBV1[0]: more than the 1 elements"},
        {"[[{\"comm_d_proofs\"", 0, "[[null,{\"comm_d_proofs\"", CUZK_E_FORMAT,
         P ": expected an object"},
        /* byte arrays */
        {"\"seed\":[", 0, "\"seed\":[1,", CUZK_E_FORMAT, "seed[32]: more than 32 numbers"},
        {"\"seed\":[66,", 0, "\"seed\":[", CUZK_E_FORMAT, "seed[31]: 31 numbers where 32"},
        {"\"seed\":[66,", 0, "\"seed\":[256,", CUZK_E_RANGE, "seed[0]: not a byte"},
        {"\"seed\":[66,", 0, "\"seed\":[-1,", CUZK_E_RANGE, "seed[0]: not a byte"},
        {"\"seed\":[66,", 0, "\"seed\":[6.5,", CUZK_E_RANGE, "seed[0]: not a byte"},
        {"\"seed\":[66,", 0, "\"seed\":[1e1,", CUZK_E_RANGE, "seed[0]: not a byte"},
        {"\"seed\":[66,", 0, "\"seed\":[18446744073709551682,", CUZK_E_RANGE,
         "seed[0]: not a byte"},
        {"\"seed\":[66,", 0, "\"seed\":[\"66\",", CUZK_E_FORMAT, "seed[0]: expected an array of"},
        {"\"seed\":[66,", 0, "\"seed\":[[66],", CUZK_E_FORMAT, "seed[0]: expected an array of"},
        {"\"seed\":[66,", 0, "\"seed\":[true,", CUZK_E_FORMAT, "seed[0]: expected an array of"},
        {"\"seed\":[66,", 0, "\"seed\":[066,", CUZK_E_FORMAT, "seed[1]: "},
        {"\"seed\":[", 0, "\"seed\":{},\"ticket\":[", CUZK_E_FORMAT, "seed: expected an array of"},
        {"\"comm_r\":[24,", 0, "\"comm_r\":[24,24,", CUZK_E_FORMAT, "comm_r[32]: more than"},
        /* paths */
        {"\"Single\"", 0, "\"Sub\"", CUZK_E_FORMAT,
         P ".comm_d_proofs.data.Sub: the path of this tree in porep-2KiB is \"Single\""},
        {"\"Single\"", 1, "\"Top\"", CUZK_E_FORMAT, P ".comm_r_last_proof.data.Top: the path"},
        {"\"leaf\":", 0, "\"lief\":", CUZK_E_FORMAT, "data.Single: unknown key \"lief\""},
        {"\"index\":1}", 0, "\"index\":2}", CUZK_E_RANGE,
         P ".comm_d_proofs.data.Single.path.path[0].index: 2 is no place among 1 siblings"},
        {"\"index\":1}", 0, "\"index\":0}", CUZK_E_INPUT,
         P ".comm_d_proofs: the path leads to node 44, but the column is of node 45"},
        {"\"index\":1}", 0, "\"index\":null}", CUZK_E_FORMAT, "index: expected a whole number"},
        {",\"index\":1}", 0, "}", CUZK_E_FORMAT,
         P ".comm_d_proofs.data.Single.path.path[0]: index is missing"},
        {"\"hashes\":[[", 0, "\"hashes\":[[1],[", CUZK_E_FORMAT,
         P ".comm_d_proofs.data.Single.path.path[0].hashes[0][1]: 1 numbers"},
        {"\"index\":5}", 0, "\"index\":8}", CUZK_E_RANGE,
         P ".comm_r_last_proof.data.Single.path.path[0].index: 8 is no place among 7"},
        {"\"index\":5}", 0, "\"index\":4}", CUZK_E_INPUT,
         P ".comm_r_last_proof: the path leads to node 44"},
        /* columns */
        {"\"index\":45", 0, "\"index\":64", CUZK_E_RANGE,
         P ".replica_column_proofs.c_x.column.index: node 64 of a sector of 64"},
        {"\"index\":45", 0, "\"index\":46", CUZK_E_INPUT, P ".comm_d_proofs: the path leads to"},
        {"\"_h\":null", 0, "\"_h\":0", CUZK_E_FORMAT,
         P ".replica_column_proofs.c_x.column._h: expected null"},
        {",\"_h\":null", 0, "", CUZK_E_FORMAT,
         P ".replica_column_proofs.c_x.column: _h is missing"},
        {"\"drg_parents\":[", 0, "\"drg_parents\":[[],", CUZK_E_FORMAT,
         P ".replica_column_proofs.drg_parents[0]: expected an object"},
        {"\"index\":44", 0, "\"index\":43", CUZK_E_INPUT,
         P ".replica_column_proofs.drg_parents[0].inclusion_proof: the path leads to node 44"},
        /* labels */
        {"\"layer_index\":1", 0, "\"layer_index\":2", CUZK_E_INPUT,
         P ".labeling_proofs[0].layer_index: 2 where 1"},
        {"\"node\":45", 1, "\"node\":44", CUZK_E_INPUT,
         P ".labeling_proofs[1].node: 44, but c_x.column is of node 45"},
        {"\"layer_index\":2,\"node\":45", 1, "\"layer_index\":1,\"node\":45", CUZK_E_INPUT,
         P ".encoding_proof.layer_index: 1 where 2"},
        {"\"parents\":[[209,", 0, "\"parents\":[[208,", CUZK_E_INPUT,
         P ".labeling_proofs[0].parents[0]: differs from drg_parents[0].column.rows[0]"},
        /* the text */
        {"\"seed\":[", 0, "\"seed\":[[", CUZK_E_FORMAT, "seed[0]: "},
        {"\"seed\":[66,", 0, "\"seed\":[66,,", CUZK_E_FORMAT, "seed[1]: "},
        {"\"seed\"", 0, "\"s\x01", CUZK_E_FORMAT, "byte "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *changed = replaced(text, cases[i].from, cases[i].nth, cases[i].to);
        assert_refused(changed, strlen(changed), cases[i].status, cases[i].says);
        free(changed);
    }
    free(text);
}

/* A key of each object taken away. */
static void test_missing(void **state)
{
    (void)state;
    size_t size;
    char *text = (char *)vector_read("sectors/v11-102/c1-sorted-keys.json.zst", &size);
    /* vanilla_proofs is last there: cut it off */
    char *at = strstr(text, ",\"vanilla_proofs\"");
    if (at == NULL)
        at = strstr(text, ", \"vanilla_proofs\"");
    assert_non_null(at);
    at[0] = '}';
    assert_refused(text, (size_t)(at - text) + 1, CUZK_E_FORMAT, "vanilla_proofs is missing");
    assert_refused("{\"vanilla_proofs\":{}}", 21, CUZK_E_FORMAT,
                   "vanilla_proofs: StackedDrg…V1 is missing");
    assert_refused("{}", 2, CUZK_E_FORMAT, "registered_proof is missing");
    assert_refused("{\"SectorNum\":1}", 15, CUZK_E_FORMAT, "Phase1Out is missing");
    assert_refused("[]", 2, CUZK_E_FORMAT, "expected an object");
    assert_refused("null", 4, CUZK_E_FORMAT, "expected an object");
    assert_refused("", 0, CUZK_E_TRUNCATED, "byte 0: ");
    free(text);
}

static void test_truncated_and_trailing(void **state)
{
    (void)state;
    size_t size;
    char *text = (char *)vector_read("sectors/v11-101/c1.json.zst", &size);
    for (size_t n = 0; n < size; n += 1 + n / 50 + (n > 400 ? 997 : 0))
        assert_refused(text, n, CUZK_E_TRUNCATED, "cut short");
    assert_refused(text, size - 1, CUZK_E_TRUNCATED, "cut short");
    char *longer = malloc(size + 3);
    assert_non_null(longer);
    memcpy(longer, text, size);
    memcpy(longer + size, " \n1", 3);
    assert_refused(longer, size + 3, CUZK_E_TRAILING, "trailing");
    /* blanks may follow */
    struct cuzk_error err;
    struct cuzk_porep_sector *sector;
    assert_ok(cuzk_c1_parse(&sector, "c1.json", (uint8_t *)longer, size + 2, NULL, NULL, &err),
              err);
    cuzk_porep_sector_destroy(sector);
    free(longer);
    free(text);

    /* a million brackets cost no memory */
    enum { DEEP = 1000000 };
    char *deep = malloc(DEEP);
    assert_non_null(deep);
    memset(deep, '[', DEEP);
    assert_refused(deep, DEEP, CUZK_E_FORMAT, "expected an object");
    free(deep);
}

static void test_elements_in_range(void **state)
{
    (void)state;
    /* r itself and 2^256 - 1 are refused, r - 1 is read: it fails later, as a wrong root */
    static const char *const r =
        "1,0,0,0,255,255,255,255,254,91,254,255,2,164,189,83,5,216,161,9,8,"
        "216,57,51,72,125,157,41,83,167,237,115";
    size_t size;
    char *text = (char *)vector_read("sectors/v11-101/c1.json.zst", &size);
    char *at = strstr(text, "\"root\":["), *end = strchr(at, ']');
    for (int k = 0; k < 3; k++) {
        char *changed = malloc(size + 256), ones[200] = "255";
        assert_non_null(changed);
        for (int i = 1; i < 32; i++)
            strcat(ones, ",255");
        int n = snprintf(changed, size + 256, "%.*s%s%s%s", (int)(at - text) + 8, text,
                         k == 0 ? "0" : "", k == 2 ? ones : r + (k == 0), end);
        assert_true(n > 0);
        assert_refused(changed, (size_t)n, k == 0 ? CUZK_E_INPUT : CUZK_E_RANGE,
                       k == 0 ? "[0][1].comm_d_proofs.data.Single.root: another root"
                              : P ".comm_d_proofs.data.Single.root: not below");
        free(changed);
    }
    free(text);
}

static void test_mixed_up(void **state)
{
    (void)state;
    size_t size;
    char *text = (char *)vector_read("sectors/v11-101/c1.json.zst", &size);
    /* swapped commitments: exchange the keys */
    char *r = strstr(text, "\"comm_r\":"), *d = strstr(text, "\"comm_d\":");
    r[6] = 'd';
    d[6] = 'r';
    assert_refused(text, size, CUZK_E_INPUT, "comm_d: not the root of the data's paths");
    assert_refused(text, size, CUZK_E_INPUT, "the two are swapped");
    r[6] = 'r';
    d[6] = 'd';

    /* another seed gives other challenges */
    struct cuzk_error err;
    struct cuzk_porep_sector *sector;
    char *other = replaced(text, "\"seed\":[66,", 0, "\"seed\":[67,");
    assert_ok(cuzk_c1_parse(&sector, "c1.json", (uint8_t *)other, size, NULL, NULL, &err), err);
    assert_int_equal(cuzk_porep_check(sector, &err), CUZK_E_INPUT);
    assert_non_null(strstr(err.message, P ".replica_column_proofs.c_x.column.index: node 45"));
    free(other);

    /* statements of other sectors and of none */
    struct cuzk_meta meta;
    assert_ok(cuzk_meta_read(&meta, CUZK_VECTORS_DIR "/sectors/v11-101/meta.json", NULL, &err),
              err);
    assert_int_equal(cuzk_meta_match(&meta, sector, &err), CUZK_E_MISMATCH);
    assert_int_equal(strncmp(err.message, "seed: ", 6), 0);
    cuzk_porep_sector_destroy(sector);
    sector = read_vector("sectors/v11-102/c1.json.zst", NULL);
    assert_int_equal(cuzk_meta_match(&meta, sector, &err), CUZK_E_MISMATCH);
    assert_int_equal(strncmp(err.message, "comm_d: ", 8), 0);
    cuzk_porep_sector_destroy(sector);
    sector = read_vector("sectors/v1-201/c1.json.zst", NULL);
    assert_int_equal(cuzk_meta_match(&meta, sector, &err), CUZK_E_MISMATCH);
    assert_int_equal(strncmp(err.message, "registered_proof: ", 18), 0);
    cuzk_porep_sector_destroy(sector);

    /* V1 and V1_1 have one form, and other parents */
    other = replaced(text, "\"StackedDrg2KiBV1_1\"", 0, "\"StackedDrg2KiBV1\"");
    assert_ok(cuzk_c1_parse(&sector, "c1.json", (uint8_t *)other, size - 2, NULL, NULL, &err), err);
    assert_int_equal(cuzk_porep_check(sector, &err), CUZK_E_INPUT);
    assert_non_null(strstr(err.message, "drg_parents[0].column.index"));
    cuzk_porep_sector_destroy(sector);
    free(other);

    free(text);

    /* a circuit that is not the file's */
    text = (char *)vector_read("sectors/v11-101/c1.json.zst", &size);
    assert_int_equal(cuzk_c1_parse(&sector, "c1.json", (uint8_t *)text, size,
                                   cuzk_porep_by_circuit("porep-8MiB"), NULL, &err),
                     CUZK_E_MISMATCH);
    assert_non_null(strstr(err.message, "porep-8MiB"));
    free(text);
    text = (char *)vector_read("sectors/mini32-501/c1.json.zst", &size);
    assert_refused(text, size, CUZK_E_FORMAT, "circuit porep-mini32");
    free(text);
}

static void test_wrapper_refused(void **state)
{
    (void)state;
    size_t size;
    char *text = (char *)vector_read("sectors/v11-101/c1-wrapped.json.zst", &size);
    const struct {
        const char *from, *to;
        cuzk_status status;
        const char *says;
    } cases[] = {
        {"\"SectorSize\": 2048", "\"SectorSize\": 2049", CUZK_E_MISMATCH, "SectorSize: 2049"},
        {", \"SectorSize\": 2048", "", CUZK_E_FORMAT, "SectorSize is missing"},
        {"\"SectorNum\": 32627", "\"SectorNum\": \"1\"", CUZK_E_FORMAT, "SectorNum: expected"},
        {"\"Phase1Out\": \"ey", "\"Phase1Out\": \"e-", CUZK_E_FORMAT,
         "Phase1Out: not base64 at its character 1"},
        {"\"Phase1Out\": \"ey", "\"Phase1Out\": \"e", CUZK_E_FORMAT, "Phase1Out: not base64"},
        {"\"Phase1Out\": \"ey", "\"Phase1Out\": \"e==y", CUZK_E_FORMAT, "Phase1Out: not base64"},
        {"XX0=\"", "XX0\"", CUZK_E_FORMAT, "Phase1Out: not base64"},
        {"XX0=\"", "XX1=\"", CUZK_E_FORMAT, "Phase1Out: not base64"},
        {"xXX0=\"", "x===\"", CUZK_E_FORMAT, "Phase1Out: not base64"},
        {"xXX0=\"", "x\"", CUZK_E_TRUNCATED, "cut short"},
        {"Phase1Out\": \"ey", "Phase1Out\": \"fy", CUZK_E_FORMAT, "Phase1Out, decoded, byte"},
        {"}", "} 1", CUZK_E_TRAILING, "trailing"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (strstr(text, cases[i].from) == NULL)
            fail_msg("%s", cases[i].from);
        char *changed = replaced(text, cases[i].from, 0, cases[i].to);
        assert_refused(changed, strlen(changed), cases[i].status, cases[i].says);
        free(changed);
    }
    /* the content cut short, still base64 */
    char *at = strstr(text, "Phase1Out\": \"") + 13, *end = strchr(at, '"');
    char *cut = malloc(size + 1);
    assert_non_null(cut);
    int n = snprintf(cut, size + 1, "%.*s%s", (int)(at - text) + 4000, text, end);
    assert_refused(cut, (size_t)n, CUZK_E_TRUNCATED, "Phase1Out, decoded, byte 3000");
    /* a wrapper in a wrapper ({"Phase1Out":"e30="}), and nothing in it */
    const char *nested = "{\"Phase1Out\":\"eyJQaGFzZTFPdXQiOiJlMzA9In0=\"}";
    assert_refused(nested, strlen(nested), CUZK_E_FORMAT, "wrapper together");
    assert_refused("{\"Phase1Out\":\"\"}", 16, CUZK_E_FORMAT, "not base64");
    /* slashes may be escaped */
    struct cuzk_error err;
    struct cuzk_porep_sector *sector;
    n = 0;
    char *escaped = malloc(2 * size);
    assert_non_null(escaped);
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '/')
            escaped[n++] = '\\';
        escaped[n++] = *p;
    }
    assert_ok(cuzk_c1_parse(&sector, "c1.json", (uint8_t *)escaped, (size_t)n, NULL, NULL, &err),
              err);
    cuzk_porep_sector_destroy(sector);
    free(escaped);
    free(cut);
    free(text);
}

/* A token without end takes bounded memory: 3 MB of digits in the wrapper. */
static void test_long_token(void **state)
{
    (void)state;
    enum { GROUPS = 1000000 };
    static const char head[] = "{\"Phase1Out\":\"";
    char *text = malloc(sizeof head + 4 * GROUPS + 64);
    assert_non_null(text);
    strcpy(text, head);
    size_t n = sizeof head - 1;
    memcpy(text + n, "eyJ2YW5pbGxhX3Byb29mcyI6", 24); /* {"vanilla_proofs": */
    n += 24;
    for (int i = 0; i < GROUPS; i++, n += 4)
        memcpy(text + n, "MTEx", 4);
    memcpy(text + n, "\"}", 3);
    assert_refused(text, n + 2, CUZK_E_FORMAT, "longer than any of a C1");
    free(text);
}

/* A sector of 32 GiB within 9 MiB, charged; nothing of it stays behind. */
static void test_account(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct cuzk_budget *budget;
    struct cuzk_porep_sector *sector;
    struct cuzk_account account;
    size_t size;
    uint8_t *text = vector_read("sectors/mock32-3201/c1.json.zst", &size);
    assert_ok(cuzk_budget_create(&budget, "host", 9 << 20, NULL, &err), err);
    assert_ok(cuzk_c1_parse(&sector, "c1.json", text, size, NULL, budget, &err), err);
    cuzk_budget_read(budget, &account);
    assert_int_equal(account.used_by[CUZK_PURPOSE_JSON], sector->charged);
    assert_true(sector->charged < size / 4);
    cuzk_porep_sector_destroy(sector);
    cuzk_budget_read(budget, &account);
    assert_int_equal(account.used, 0);
    cuzk_budget_destroy(budget);
    free(text);
}

/* Every allocation fails in turn, the budget's among them. */
static void test_memory_out(void **state)
{
    (void)state;
    const char *const files[] = {"sectors/v11-101/c1.json.zst",
                                 "sectors/v11-101/c1-wrapped.json.zst"};
    for (int k = 0; k < 2; k++) {
        struct cuzk_error err;
        size_t size;
        uint8_t *text = vector_read(files[k], &size);
        struct cuzk_budget *budget;
        assert_ok(cuzk_budget_create(&budget, "host", 1 << 20, NULL, &err), err);
        uint64_t n = 1;
        for (;; n++) {
            struct cuzk_porep_sector *sector;
            cuzk_alloc_fail_at(n);
            cuzk_status status = cuzk_c1_parse(&sector, "c1.json", text, size, NULL, budget, &err);
            cuzk_alloc_fail_at(0);
            if (status == CUZK_OK) {
                cuzk_porep_sector_destroy(sector);
                break;
            }
            assert_int_equal(status, CUZK_E_MEMORY);
            assert_null(sector);
            struct cuzk_account account;
            cuzk_budget_read(budget, &account);
            assert_int_equal(account.used, 0);
        }
        assert_true(n > 5);
        cuzk_budget_destroy(budget);

        struct cuzk_porep_sector *sector;
        assert_ok(cuzk_budget_create(&budget, "host", 10000, NULL, &err), err);
        assert_int_equal(cuzk_c1_parse(&sector, "c1.json", text, size, NULL, budget, &err),
                         CUZK_E_BUDGET);
        cuzk_budget_destroy(budget);
        free(text);
    }
}

static void test_files(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct cuzk_porep_sector *sector;
    assert_int_equal(cuzk_c1_read(&sector, "/nonexistent/c1.json", NULL, NULL, &err),
                     CUZK_E_NOT_FOUND);
    assert_non_null(strstr(err.message, "/nonexistent/c1.json"));
    char path[] = "/tmp/cuzk-test-c1-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(cuzk_c1_read(&sector, path, NULL, NULL, &err), CUZK_E_TRUNCATED);
    assert_non_null(strstr(err.message, path));
    /* a hole of more bytes than any C1 has */
    assert_int_equal(ftruncate(fd, (off_t)(1 << 30) + 1), 0);
    assert_int_equal(cuzk_c1_read(&sector, path, NULL, NULL, &err), CUZK_E_RANGE);
    (void)close(fd);
    (void)unlink(path);
    sector = read_vector("sectors/v11-101/c1.json.zst", NULL);
    assert_int_not_equal(cuzk_c1_write(sector, "/nonexistent/c1.json", &err), CUZK_OK);
    assert_non_null(strstr(err.message, "/nonexistent/"));
    cuzk_porep_sector_destroy(sector);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sectors),
        cmocka_unit_test(test_other_forms),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_truncated_and_trailing),
        cmocka_unit_test(test_elements_in_range),
        cmocka_unit_test(test_mixed_up),
        cmocka_unit_test(test_wrapper_refused),
        cmocka_unit_test(test_long_token),
        cmocka_unit_test(test_account),
        cmocka_unit_test(test_memory_out),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
