/* Circuits in the dump format: read, satisfied, written again to the same bytes; bad files refused.
 */
#include "unit/test.h"

#include <unistd.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/os.h"
#include "circuit/dump.h"

/* The unpacked bytes of a file; freed by the caller. */
static uint8_t *unpack(const char *path, size_t *size)
{
    struct cuzk_error err;
    uint8_t *packed;
    size_t packed_size;
    assert_ok(cuzk_os_read_file(&packed, &packed_size, path, 1 << 26, &err), err);
    *size = 1 << 25;
    uint8_t *out = malloc(*size);
    *size = ZSTD_decompress(out, *size, packed, packed_size);
    assert_false(ZSTD_isError(*size));
    cuzk_free(packed);
    return out;
}

static char scratch[] = "/tmp/cuzk-test-dump-XXXXXX";

static void write_file(const uint8_t *data, size_t size)
{
    FILE *f = fopen(scratch, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static cuzk_status try_read(struct cuzk_error *err)
{
    struct cuzk_circuit *c;
    struct cuzk_witness *w;
    cuzk_status status = cuzk_dump_read(&c, &w, scratch, NULL, err);
    if (status == CUZK_OK) {
        cuzk_witness_destroy(w);
        cuzk_circuit_destroy(c);
    } else {
        assert_null(c);
        assert_null(w);
    }
    return status;
}

static void read_check_write(const char *path, uint32_t inputs, uint32_t aux, uint32_t rows)
{
    struct cuzk_error err;
    struct cuzk_circuit *c;
    struct cuzk_witness *w;
    struct cuzk_budget *budget;
    struct cuzk_account account;
    uint32_t row;
    assert_ok(cuzk_budget_create(&budget, "test", UINT64_MAX, NULL, &err), err);
    assert_ok(cuzk_dump_read(&c, &w, path, budget, &err), err);
    assert_int_equal(c->inputs, inputs);
    assert_int_equal(c->aux, aux);
    assert_int_equal(c->dense, aux);
    assert_int_equal(c->rows, rows);
    assert_ok(cuzk_circuit_check(c, w, &row, NULL, &err), err);
    w->values[aux / 2].l[0] ^= 1;
    assert_int_equal(cuzk_circuit_check(c, w, &row, NULL, &err), CUZK_E_UNSATISFIED);
    assert_true(row < rows);
    w->values[aux / 2].l[0] ^= 1;

    assert_ok(cuzk_dump_write(scratch, c, w, &err), err);
    size_t size, written_size;
    uint8_t *expected = unpack(path, &size), *written;
    assert_ok(cuzk_os_read_file(&written, &written_size, scratch, 1 << 26, &err), err);
    assert_int_equal(size, written_size);
    assert_memory_equal(expected, written, size);
    free(expected);
    cuzk_free(written);

    cuzk_witness_destroy(w);
    cuzk_circuit_destroy(c);
    cuzk_budget_read(budget, &account);
    assert_int_equal(account.used, 0);
    assert_true(account.peak > 0);
    cuzk_budget_destroy(budget);
}

static void test_toys(void **state)
{
    (void)state;
    read_check_write(CUZK_VECTORS_DIR "/keys/toy5.r1cs.zst", 3, 7, 8);
    read_check_write(CUZK_VECTORS_DIR "/keys/toy3000.r1cs.zst", 3, 4000, 4001);
}

static void test_bad_files(void **state)
{
    (void)state;
    struct cuzk_error err;
    size_t size;
    uint8_t *good = unpack(CUZK_VECTORS_DIR "/keys/toy5.r1cs.zst", &size);
    uint8_t *bad = malloc(size + 1);
    write_file(good, size);
    assert_ok(try_read(&err), err);
    for (size_t n = 0; n < size; n++) {
        write_file(good, n);
        assert_int_equal(try_read(&err), CUZK_E_TRUNCATED);
    }
    memcpy(bad, good, size);
    bad[size] = 0;
    write_file(bad, size + 1);
    assert_int_equal(try_read(&err), CUZK_E_TRAILING);
    bad[0] = 'r';
    write_file(bad, size);
    assert_int_equal(try_read(&err), CUZK_E_FORMAT);
    /* counts of 2^32 - 1, one after another */
    for (size_t at = 8; at < 28; at += 4) {
        memcpy(bad, good, size);
        memset(bad + at, 0xff, 4);
        write_file(bad, size);
        assert_int_not_equal(try_read(&err), CUZK_OK);
    }
    /* a coefficient and a witness value above the modulus */
    memcpy(bad, good, size);
    memset(bad + 28, 0xff, 32);
    write_file(bad, size);
    assert_int_equal(try_read(&err), CUZK_E_RANGE);
    memcpy(bad, good, size);
    memset(bad + size - 32, 0xff, 32);
    write_file(bad, size);
    assert_int_equal(try_read(&err), CUZK_E_RANGE);
    /* every byte changed: an error or a circuit, never more */
    for (size_t at = 0; at < size; at++) {
        memcpy(bad, good, size);
        bad[at] ^= 0x41;
        write_file(bad, size);
        (void)try_read(&err);
    }
    free(good);
    free(bad);
}

static void test_each_allocation_fails(void **state)
{
    (void)state;
    struct cuzk_error err;
    size_t size;
    uint8_t *good = unpack(CUZK_VECTORS_DIR "/keys/toy5.r1cs.zst", &size);
    write_file(good, size);
    cuzk_alloc_fail_at(0);
    assert_ok(try_read(&err), err);
    uint64_t count = cuzk_alloc_count();
    assert_true(count > 10);
    for (uint64_t n = 1; n <= count; n++) {
        cuzk_alloc_fail_at(n);
        cuzk_status status = try_read(&err);
        assert_true(status == CUZK_E_MEMORY || status == CUZK_OK); /* a cut to size may fail */
    }
    cuzk_alloc_fail_at(0);
    free(good);
}

static int make_scratch(void **state)
{
    (void)state;
    return mkstemp(scratch) < 0;
}

static int drop_scratch(void **state)
{
    (void)state;
    return unlink(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_toys),
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_each_allocation_fails),
    };
    return cmocka_run_group_tests(tests, make_scratch, drop_scratch);
}
