/* The system's edge: files that are there, missing, empty, directories; the writer's promise that a
 * path holds the old content or the whole new one; clocks, limits, processors; error texts. */
#include "unit/test.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os.h"

static char dir[64];

static int setup(void **state)
{
    (void)state;
    (void)snprintf(dir, sizeof dir, "/tmp/cuzk-test-os-XXXXXX");
    return mkdtemp(dir) == NULL;
}

static int teardown(void **state)
{
    (void)state;
    char command[128];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", dir);
    return system(command);
}

static const char *in_dir(const char *name)
{
    static char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static void test_writer_and_readers(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct cuzk_writer *w;
    static uint8_t block[100000];
    for (size_t i = 0; i < sizeof block; i++)
        block[i] = (uint8_t)(i * 7);
    assert_ok(cuzk_os_writer_open(&w, in_dir("f"), &err), err);
    for (size_t i = 0; i < 100; i++)
        assert_ok(cuzk_os_writer_write(w, block + i, 7, &err), err);
    assert_ok(cuzk_os_writer_write(w, block, sizeof block, &err), err);
    assert_int_equal(access(in_dir("f"), F_OK), -1); /* nothing at the path before the commit */
    assert_ok(cuzk_os_writer_commit(w, &err), err);

    struct cuzk_mapping m;
    assert_ok(cuzk_os_map(&m, in_dir("f"), &err), err);
    assert_int_equal(m.size, 700 + sizeof block);
    assert_memory_equal(m.data + 693, block + 99, 7);
    assert_memory_equal(m.data + 700, block, sizeof block);
    cuzk_os_map_want(&m, 5, 10000);
    cuzk_os_map_drop(&m, 0, m.size);
    cuzk_os_map_drop(&m, m.size + 5, 1);
    assert_memory_equal(m.data + 700, block, sizeof block);
    cuzk_os_unmap(&m);
    cuzk_os_unmap(&m);

    uint8_t *data;
    size_t size;
    assert_ok(cuzk_os_read_file(&data, &size, in_dir("f"), 1 << 20, &err), err);
    assert_int_equal(size, 700 + sizeof block);
    assert_memory_equal(data + 700, block, sizeof block);
    cuzk_free(data);
    assert_int_equal(cuzk_os_read_file(&data, &size, in_dir("f"), 1000, &err), CUZK_E_RANGE);
    assert_null(data);

    /* an aborted rewrite leaves the old content, and no temporary */
    assert_ok(cuzk_os_writer_open(&w, in_dir("f"), &err), err);
    assert_ok(cuzk_os_writer_write(w, "new", 3, &err), err);
    cuzk_os_writer_abort(w);
    cuzk_os_writer_abort(NULL);
    struct stat st;
    assert_int_equal(stat(in_dir("f"), &st), 0);
    assert_int_equal(st.st_size, 700 + sizeof block);
    char command[160];
    (void)snprintf(command, sizeof command, "test $(ls -A '%s' | wc -l) = 1", dir);
    assert_int_equal(system(command), 0);
}

static void f_write(const char *name, const char *text)
{
    FILE *f = fopen(in_dir(name), "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void test_bad_paths(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct cuzk_mapping m;
    struct cuzk_writer *w;
    uint8_t *data;
    size_t size;
    assert_int_equal(cuzk_os_map(&m, in_dir("none"), &err), CUZK_E_NOT_FOUND);
    assert_non_null(strstr(err.message, "none: cannot open: No such file"));
    assert_null(m.data);
    assert_int_equal(cuzk_os_map(&m, dir, &err), CUZK_E_IO);
    assert_non_null(strstr(err.message, "not a regular file"));
    assert_int_equal(cuzk_os_read_file(&data, &size, "/dev/zero", 10, &err), CUZK_E_IO);
    assert_int_equal(cuzk_os_writer_open(&w, in_dir("no/dir"), &err), CUZK_E_IO);
    assert_null(w);
    for (int i = 0; i < 3; i++) { /* whose place no file may take */
        const char *const not_files[] = {dir, "/dev/null", "/"};
        assert_int_equal(cuzk_os_writer_open(&w, not_files[i], &err), CUZK_E_IO);
        assert_null(w);
        assert_non_null(strstr(err.message, i == 1 ? "not a regular file" : "a folder"));
        assert_int_equal(cuzk_os_writer_check(not_files[i], &err), CUZK_E_IO);
    }
    char link[128];
    (void)snprintf(link, sizeof link, "%s/link", dir);
    assert_int_equal(symlink("target", link), 0);
    assert_ok(cuzk_os_writer_check(link, &err), err);
    assert_int_equal(access(link, F_OK), -1); /* a check leaves nothing behind */
    f_write("target", "old");
    assert_ok(cuzk_os_writer_open(&w, link, &err), err);
    assert_ok(cuzk_os_writer_write(w, "newer", 5, &err), err);
    assert_ok(cuzk_os_writer_commit(w, &err), err);
    struct stat st;
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_ok(cuzk_os_read_file(&data, &size, in_dir("target"), 9, &err), err);
    assert_int_equal(size, 5);
    cuzk_free(data);

    assert_true(cuzk_os_same_path(link, in_dir("target")));
    assert_true(cuzk_os_same_path(in_dir("new"), in_dir("new")));
    char other[160];
    (void)snprintf(other, sizeof other, "%s/../%s/./new", dir, dir + strlen("/tmp/"));
    assert_true(cuzk_os_same_path(other, in_dir("new")));
    assert_false(cuzk_os_same_path(other, in_dir("target")));
    assert_false(cuzk_os_same_path(other, in_dir("no/new")));
    assert_true(cuzk_os_same_path("nothing", "./nothing"));
    assert_false(cuzk_os_same_path("nothing", "./nothing2"));
    FILE *f = fopen(in_dir("empty"), "w");
    assert_non_null(f);
    assert_int_equal(fclose(f), 0);
    assert_ok(cuzk_os_map(&m, in_dir("empty"), &err), err);
    assert_null(m.data);
    assert_int_equal(m.size, 0);
    assert_ok(cuzk_os_read_file(&data, &size, in_dir("empty"), 0, &err), err);
    assert_int_equal(size, 0);
    cuzk_free(data);
}

static void test_failed_allocations(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct cuzk_writer *w;
    uint8_t *data;
    size_t size;
    cuzk_alloc_fail_at(1);
    assert_int_equal(cuzk_os_writer_open(&w, in_dir("g"), &err), CUZK_E_MEMORY);
    assert_null(w);
    cuzk_alloc_fail_at(1);
    assert_int_equal(cuzk_os_read_file(&data, &size, in_dir("empty"), 9, &err), CUZK_E_MEMORY);
    cuzk_alloc_fail_at(0);
    assert_int_equal(access(in_dir("g"), F_OK), -1);
    assert_null(cuzk_realloc(NULL, SIZE_MAX / 2, 3)); /* the product overflows */
}

static void test_system(void **state)
{
    (void)state;
    struct cuzk_error err;
    uint8_t a[64] = {0}, b[64] = {0};
    assert_ok(cuzk_os_random(a, sizeof a, &err), err);
    assert_ok(cuzk_os_random(b, sizeof b, &err), err);
    assert_memory_not_equal(a, b, sizeof a);
    assert_in_range(cuzk_os_processors(), 1, 65536);
    assert_in_range(cuzk_os_memory_limit(), 1 << 20, (uint64_t)1 << 50);
    double t = cuzk_os_seconds(), c = cuzk_os_thread_cpu_seconds();
    while (cuzk_os_thread_cpu_seconds() - c < 0.01)
        ;
    assert_true(cuzk_os_seconds() - t >= 0.009);
    assert_true(cuzk_os_process_cpu_seconds() >= cuzk_os_thread_cpu_seconds() - 0.001);

    struct cuzk_os_memory before, after;
    cuzk_os_memory_read(&before);
    assert_true(before.rss != 0 && before.peak_rss >= before.rss / 2);
    uint64_t size = 32 << 20;
    uint8_t *p = cuzk_os_pages_alloc(size);
    assert_non_null(p);
    memset(p, 1, size);
    cuzk_os_memory_read(&after);
    assert_true(after.anon >= before.anon + size - (4 << 20));
    cuzk_os_pages_free(p, size);
    assert_null(cuzk_os_pages_alloc(UINT64_MAX));
}

static void test_errors(void **state)
{
    (void)state;
    struct cuzk_error err;
    assert_int_equal(cuzk_fail(&err, CUZK_E_IO, "offset %d", 7), CUZK_E_IO);
    assert_string_equal(err.message, "offset 7");
    assert_int_equal(cuzk_fail_prefix(&err, CUZK_E_FORMAT, "file %s", "k"), CUZK_E_FORMAT);
    assert_string_equal(err.message, "file k: offset 7");
    assert_int_equal(err.status, CUZK_E_FORMAT);
    char big[2000];
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    (void)cuzk_fail(&err, CUZK_E_IO, "%s", big);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
    (void)cuzk_fail_prefix(&err, CUZK_E_IO, "%s", big);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
    assert_int_equal(cuzk_fail(NULL, CUZK_E_IO, "x"), CUZK_E_IO);
    assert_string_equal(cuzk_status_name(CUZK_E_POINT), "point");
    assert_string_equal(cuzk_status_name((cuzk_status)999), "unknown");
    assert_string_equal(cuzk_status_meaning(CUZK_OK), "success");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_writer_and_readers),
        cmocka_unit_test(test_bad_paths),
        cmocka_unit_test(test_failed_allocations),
        cmocka_unit_test(test_system),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
