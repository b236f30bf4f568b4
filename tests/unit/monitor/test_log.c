/* The log: what is written comes back, in both forms and under damage of every kind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/log.h"
#include "monitor/mem.h"
#include "monitor/text.h"

static char folder[] = "/tmp/rssmon-test-XXXXXX";
static char path[128];

static const char odd_name[] = "a) R 1\n(b\xff \"\\ \xc3\xa9";

static void make_header(struct rssmon_record *r)
{
    static const struct rssmon_name_value tags[] = {{"j", "2"}, {"note", "a,b\n\"c\""}};
    rssmon_record_init(r, RSSMON_HEADER);
    r->wall_ns = 1764444000123456000;
    r->u.header.version = RSSMON_LOG_VERSION;
    r->u.header.tool = "rssmon test";
    r->u.header.log_id = "0123456789abcdef";
    r->u.header.segment = 1;
    r->u.header.name = odd_name;
    r->u.header.pid = 4194304;
    r->u.header.mem_total = UINT64_C(5000) << 30;
    r->u.header.tags = tags;
    r->u.header.tag_count = 2;
}

static void make_sample(struct rssmon_record *r, uint64_t i)
{
    rssmon_record_init(r, RSSMON_SAMPLE);
    r->t_ns = (int64_t)i * 1000000000 + 1000;
    r->wall_ns = 1764444000123456000 + r->t_ns;
    r->suspended_ns = i % 3 == 2 ? 7000000000 : 0;
    r->u.sample.rss = (UINT64_C(400) << 30) + i;
    r->u.sample.low = i;
    r->u.sample.high = UINT64_MAX - 1;
    r->u.sample.threads = 0;
    r->u.sample.state = i % 2 ? "stopped" : NULL;
}

static void check_sample(const struct rssmon_record *r, uint64_t i)
{
    struct rssmon_record want;
    make_sample(&want, i);
    assert_int_equal(r->kind, RSSMON_SAMPLE);
    assert_true(r->t_ns == want.t_ns && r->wall_ns == want.wall_ns);
    assert_true(r->suspended_ns == want.suspended_ns);
    assert_true(r->u.sample.rss == want.u.sample.rss && r->u.sample.low == i);
    assert_true(r->u.sample.high == UINT64_MAX - 1 && r->u.sample.threads == 0);
    assert_true(r->u.sample.hwm == RSSMON_UNKNOWN && r->u.sample.gpu == RSSMON_UNKNOWN);
    if (i % 2)
        assert_string_equal(r->u.sample.state, "stopped");
    else
        assert_null(r->u.sample.state);
}

static void write_log(enum rssmon_format format, uint64_t segment_bytes, uint64_t samples)
{
    struct rssmon_log *log;
    struct rssmon_record r;
    struct rssmon_error err;
    struct rssmon_log_options options = {
        .format = format, .segment_bytes = segment_bytes, .overwrite = 1};
    make_header(&r);
    assert_int_equal(rssmon_log_create(&log, path, &options, &r, &err), RSSMON_OK);
    for (uint64_t i = 0; i < samples; i++) {
        make_sample(&r, i);
        assert_int_equal(rssmon_log_append(log, &r, &err), RSSMON_OK);
    }
    rssmon_log_close(log);
}

static void check_header(const struct rssmon_record *r)
{
    assert_non_null(r);
    assert_int_equal(r->kind, RSSMON_HEADER);
    assert_string_equal(r->u.header.name, odd_name);
    assert_true(r->u.header.mem_total == UINT64_C(5000) << 30);
    assert_int_equal(r->u.header.pid, 4194304);
    assert_int_equal(r->u.header.tag_count, 2);
    assert_string_equal(r->u.header.tags[1].value, "a,b\n\"c\"");
    assert_null(r->u.header.exe);
}

static void test_round_trip(void **state)
{
    (void)state;
    for (int format = RSSMON_JSONL; format <= RSSMON_CSV; format++) {
        struct rssmon_log_reader *reader;
        struct rssmon_record r;
        struct rssmon_error err;
        write_log((enum rssmon_format)format, 0, 100);
        assert_int_equal(rssmon_log_open_read(&reader, path, &err), RSSMON_OK);
        assert_int_equal(rssmon_log_next(reader, &r, &err), RSSMON_OK);
        check_header(&r);
        for (uint64_t i = 0; i < 100; i++) {
            assert_int_equal(rssmon_log_next(reader, &r, &err), RSSMON_OK);
            check_sample(&r, i);
        }
        assert_int_equal(rssmon_log_next(reader, &r, &err), RSSMON_END);
        check_header(rssmon_log_header(reader));
        assert_int_equal(rssmon_log_statistics(reader)->damaged, 0);
        assert_int_equal(rssmon_log_statistics(reader)->torn_bytes, 0);
        rssmon_log_close_read(reader);
    }
}

/* Every field of every kind, each with a value of its own: the tables serve both directions. */
static void test_every_field(void **state)
{
    (void)state;
    static char line[1 << 16];
    for (unsigned k = 0; k < RSSMON_KINDS; k++) {
        struct rssmon_record r, back;
        struct rssmon_error err;
        struct rssmon_log_reader *reader;
        size_t count;
        const struct rssmon_field *f = rssmon_fields((enum rssmon_kind)k, &count);
        char names[64][24];
        rssmon_record_init(&r, (enum rssmon_kind)k);
        r.t_ns = 5000;
        assert_true(count <= 64);
        for (size_t i = 0; i < count; i++) {
            void *at = (char *)&r + f[i].offset;
            (void)snprintf(names[i], sizeof names[i], "v%zu", i);
            if (f[i].type == RSSMON_U64)
                *(uint64_t *)at = 1000 + i;
            else if (f[i].type == RSSMON_NS)
                *(int64_t *)at = -(int64_t)i * 1000000 - 1000;
            else if (f[i].type == RSSMON_DOUBLE)
                *(double *)at = -0.125 - (double)i;
            else
                *(const char **)at = names[i];
        }
        int64_t times[] = {1000, 2000};
        uint64_t values[] = {0, 99};
        struct rssmon_name_bytes purposes[] = {{"srs", 17}};
        if (k == RSSMON_RING) {
            r.u.ring.t_ns = times;
            r.u.ring.rss = values;
            r.u.ring.count = 2;
        } else if (k == RSSMON_ACCOUNT) {
            r.u.account.purposes = purposes;
            r.u.account.purpose_count = 1;
        }
        size_t n = rssmon_record_line(&r, RSSMON_JSONL, line, sizeof line);
        assert_true(n > 0);
        assert_int_equal(rssmon_log_open_memory(&reader, line, n, &err), RSSMON_OK);
        assert_int_equal(rssmon_log_next(reader, &back, &err), RSSMON_OK);
        assert_int_equal(back.kind, k);
        for (size_t i = 0; i < count; i++) {
            const void *a = (char *)&r + f[i].offset, *b = (char *)&back + f[i].offset;
            if (f[i].type == RSSMON_STRING)
                assert_string_equal(*(const char *const *)a, *(const char *const *)b);
            else
                assert_memory_equal(a, b, 8);
        }
        if (k == RSSMON_RING) {
            assert_int_equal(back.u.ring.count, 2);
            assert_memory_equal(back.u.ring.t_ns, times, sizeof times);
            assert_memory_equal(back.u.ring.rss, values, sizeof values);
        } else if (k == RSSMON_ACCOUNT) {
            assert_int_equal(back.u.account.purpose_count, 1);
            assert_string_equal(back.u.account.purposes[0].name, "srs");
            assert_int_equal(back.u.account.purposes[0].bytes, 17);
        }
        assert_int_equal(rssmon_log_next(reader, &back, &err), RSSMON_END);
        rssmon_log_close_read(reader);
    }
}

static char *slurp(size_t *n)
{
    static char data[1 << 20];
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    *n = fread(data, 1, sizeof data, f);
    fclose(f);
    return data;
}

/* Cut after every byte: exactly the whole lines before the cut come back. */
static void test_every_truncation(void **state)
{
    (void)state;
    for (int format = RSSMON_JSONL; format <= RSSMON_CSV; format++) {
        size_t size;
        write_log((enum rssmon_format)format, 0, 5);
        char *data = slurp(&size);
        for (size_t cut = 0; cut <= size; cut++) {
            struct rssmon_log_reader *reader;
            struct rssmon_record r;
            struct rssmon_error err;
            uint64_t lines = 0, records = 0, samples = 0;
            size_t torn = 0;
            for (size_t i = 0; i < cut; i++) {
                torn++;
                if (data[i] == '\n') {
                    lines++;
                    torn = 0;
                }
            }
            if (format == RSSMON_CSV && lines >= 2)
                lines--; /* the column names are no record */
            assert_int_equal(rssmon_log_open_memory(&reader, data, cut, &err), RSSMON_OK);
            while (rssmon_log_next(reader, &r, &err) == RSSMON_OK) {
                records++;
                if (r.kind == RSSMON_SAMPLE)
                    check_sample(&r, samples++);
            }
            assert_int_equal(records, lines);
            assert_int_equal(rssmon_log_statistics(reader)->torn_bytes, torn);
            assert_int_equal(rssmon_log_statistics(reader)->damaged, 0);
            rssmon_log_close_read(reader);
        }
    }
}

/* Any one byte changed costs at most the lines it touches. */
static void test_every_byte_damaged(void **state)
{
    (void)state;
    for (int format = RSSMON_JSONL; format <= RSSMON_CSV; format++) {
        size_t size, header = 0;
        write_log((enum rssmon_format)format, 0, 5);
        char *data = slurp(&size);
        while (data[header++] != '\n')
            ;
        if (format == RSSMON_CSV) /* a damaged line of column names costs the file's rows */
            while (data[header++] != '\n')
                ;
        for (size_t at = header; at < size; at++) {
            struct rssmon_log_reader *reader;
            struct rssmon_record r;
            struct rssmon_error err;
            uint64_t records = 0;
            data[at] ^= 1;
            assert_int_equal(rssmon_log_open_memory(&reader, data, size, &err), RSSMON_OK);
            while (rssmon_log_next(reader, &r, &err) == RSSMON_OK)
                records++;
            assert_in_range(records, 4, 5); /* a lost newline takes two lines */
            const struct rssmon_log_statistics *s = rssmon_log_statistics(reader);
            assert_true(s->damaged > 0 || s->torn_bytes > 0);
            rssmon_log_close_read(reader);
            data[at] ^= 1;
        }
    }
}

static void test_segments(void **state)
{
    (void)state;
    struct rssmon_log_reader *reader;
    struct rssmon_record r;
    struct rssmon_error err;
    for (int format = RSSMON_JSONL; format <= RSSMON_CSV; format++) {
        uint64_t i = 0, headers = 0, ends = 0;
        write_log((enum rssmon_format)format, 4000, 200);
        assert_int_equal(rssmon_log_open_read(&reader, path, &err), RSSMON_OK);
        while (rssmon_log_next(reader, &r, &err) == RSSMON_OK) {
            if (r.kind == RSSMON_SAMPLE)
                check_sample(&r, i++);
            if (r.kind == RSSMON_HEADER) {
                check_header(&r);
                assert_int_equal(r.u.header.segment, ++headers);
            }
            ends += r.kind == RSSMON_SEGMENT;
        }
        assert_int_equal(i, 200);
        assert_true(headers > 3 && ends == headers - 1);
        assert_int_equal(rssmon_log_statistics(reader)->segments, headers);
        rssmon_log_close_read(reader);
        for (uint64_t k = 1; k < headers; k++) {
            char closed[160];
            (void)snprintf(closed, sizeof closed, "%s.%04u", path, (unsigned)k);
            assert_int_equal(unlink(closed), 0);
        }
    }
}

static void test_not_a_log(void **state)
{
    (void)state;
    static const char *const texts[] = {"hello\n", "\177ELF\n", "{\"a\":1}\n", "{}\n",
                                        "\n\nhello\n"};
    struct rssmon_log_reader *reader;
    struct rssmon_record r;
    struct rssmon_error err;
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(rssmon_log_open_memory(&reader, texts[i], strlen(texts[i]), &err),
                         RSSMON_E_FORMAT);
        assert_null(reader);
    }
    assert_int_equal(rssmon_log_open_memory(&reader, "", 0, &err), RSSMON_OK);
    assert_int_equal(rssmon_log_next(reader, &r, &err), RSSMON_END);
    assert_null(rssmon_log_header(reader));
    rssmon_log_close_read(reader);
    assert_int_equal(rssmon_log_open_read(&reader, "/nonexistent/log", &err), RSSMON_E_NOT_FOUND);
    assert_non_null(strstr(err.message, "/nonexistent/log"));
    assert_int_equal(rssmon_log_open_read(&reader, folder, &err), RSSMON_E_IO);
}

/* A program's account needs no CRC; a sample does. */
static void test_account(void **state)
{
    (void)state;
    static const char text[] =
        "{\"k\":\"account\", \"w\":1764444000.125, \"total\":30, \"later\":[1,\"x\"],"
        " \"purposes\":{\"srs\":10,\"witness\":20}}\n"
        "{\"k\":\"sample\",\"t\":1.0,\"w\":1.0,\"rss\":5}\n"
        "{\"k\":\"account\",\"total\":-1}\n"
        "{\"k\":\"mark\",\"w\":5.5,\"label\":\"synth\",\"action\":\"begin\"}\n";
    struct rssmon_log_reader *reader;
    struct rssmon_record r;
    struct rssmon_error err;
    assert_int_equal(rssmon_log_open_memory(&reader, text, sizeof text - 1, &err), RSSMON_OK);
    assert_int_equal(rssmon_log_next(reader, &r, &err), RSSMON_OK);
    assert_int_equal(r.kind, RSSMON_ACCOUNT);
    assert_true(r.t_ns == RSSMON_NO_TIME && r.wall_ns == 1764444000125000000);
    assert_true(r.u.account.total == 30 && r.u.account.high == RSSMON_UNKNOWN);
    assert_int_equal(r.u.account.purpose_count, 2);
    assert_string_equal(r.u.account.purposes[1].name, "witness");
    assert_int_equal(r.u.account.purposes[1].bytes, 20);
    assert_int_equal(rssmon_log_next(reader, &r, &err), RSSMON_OK);
    assert_int_equal(r.kind, RSSMON_MARK);
    assert_string_equal(r.u.mark.label, "synth");
    assert_int_equal(rssmon_log_next(reader, &r, &err), RSSMON_END);
    assert_int_equal(rssmon_log_statistics(reader)->damaged, 2);
    rssmon_log_close_read(reader);
}

static void test_existing_file(void **state)
{
    (void)state;
    struct rssmon_log *log;
    struct rssmon_record r;
    struct rssmon_error err;
    struct rssmon_log_options options = {0};
    struct rssmon_log_reader *reader;
    write_log(RSSMON_JSONL, 0, 3);
    make_header(&r);
    assert_int_equal(rssmon_log_create(&log, path, &options, &r, &err), RSSMON_E_ARGUMENT);
    assert_non_null(strstr(err.message, "--append"));
    assert_null(log);
    assert_int_equal(rssmon_log_create(&log, "/nonexistent/x", &options, &r, &err),
                     RSSMON_E_NOT_FOUND);
    /* appended to a torn file, both runs are whole */
    size_t size;
    slurp(&size);
    assert_int_equal(truncate(path, (off_t)size - 10), 0);
    options.append = 1;
    assert_int_equal(rssmon_log_create(&log, path, &options, &r, &err), RSSMON_OK);
    make_sample(&r, 7);
    assert_int_equal(rssmon_log_append(log, &r, &err), RSSMON_OK);
    rssmon_log_close(log);
    uint64_t records = 0;
    assert_int_equal(rssmon_log_open_read(&reader, path, &err), RSSMON_OK);
    while (rssmon_log_next(reader, &r, &err) == RSSMON_OK)
        records++;
    assert_int_equal(records, 1 + 2 + 1 + 1);
    assert_int_equal(rssmon_log_statistics(reader)->damaged, 1);
    rssmon_log_close_read(reader);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    struct rssmon_log *log;
    struct rssmon_log_reader *reader;
    struct rssmon_record r;
    struct rssmon_error err;
    struct rssmon_log_options options = {.overwrite = 1};
    uint64_t failures = 0;
    for (uint64_t n = 1;; n++) {
        make_header(&r);
        rssmon_alloc_fail_at(n);
        rssmon_status status = rssmon_log_create(&log, path, &options, &r, &err);
        rssmon_log_close(log);
        if (status == RSSMON_OK)
            break;
        assert_int_equal(status, RSSMON_E_MEMORY);
        failures++;
    }
    rssmon_alloc_fail_at(0);
    assert_true(failures >= 4);
    write_log(RSSMON_JSONL, 0, 5);
    for (uint64_t n = 1;; n++) {
        rssmon_alloc_fail_at(n);
        rssmon_status status = rssmon_log_open_read(&reader, path, &err);
        if (status == RSSMON_OK)
            while ((status = rssmon_log_next(reader, &r, &err)) == RSSMON_OK)
                ;
        rssmon_log_close_read(reader);
        if (status == RSSMON_END)
            break;
        assert_int_equal(status, RSSMON_E_MEMORY);
    }
    rssmon_alloc_fail_at(0);
}

static void test_text(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes;
        int bad;
    } sizes[] = {{"0", 0, 0},
                 {"8G", UINT64_C(8) << 30, 0},
                 {"1.5GiB", 3 << 29, 0},
                 {"500M", 500 << 20, 0},
                 {"12kB", 12 << 10, 0},
                 {"7B", 7, 0},
                 {"", 0, 1},
                 {"G", 0, 1},
                 {"-1", 0, 1},
                 {"1.5", 0, 1},
                 {"1X", 0, 1},
                 {"1GG", 0, 1},
                 {"99999999999P", 0, 1},
                 {"18446744073709551616", 0, 1},
                 {"1 G", 0, 1}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uint64_t v = 1234;
        assert_int_equal(rssmon_parse_size(sizes[i].text, &v), sizes[i].bad ? -1 : 0);
        if (!sizes[i].bad)
            assert_true(v == sizes[i].bytes);
    }
    int64_t ns;
    assert_int_equal(rssmon_parse_duration("250ms", &ns), 0);
    assert_int_equal(ns, 250000000);
    assert_int_equal(rssmon_parse_duration("0.5", &ns), 0);
    assert_int_equal(ns, 500000000);
    assert_int_equal(rssmon_parse_duration("1y", &ns), -1);
    assert_int_equal(rssmon_parse_duration("99999999999d", &ns), -1);
    assert_int_equal(rssmon_crc32c(0, "123456789", 9), 0xe3069283);
    struct rssmon_text t;
    char out[40];
    rssmon_text_init(&t, out, sizeof out);
    rssmon_text_size(&t, UINT64_C(715546282394)); /* 666.4 GiB */
    assert_string_equal(out, "666.4 GiB");
    rssmon_text_init(&t, out, sizeof out);
    rssmon_text_size(&t, UINT64_MAX);
    assert_string_equal(out, "16.0 EiB");
    rssmon_text_init(&t, out, sizeof out);
    rssmon_text_seconds(&t, -1500000);
    rssmon_text_fixed3(&t, -0.0625);
    assert_string_equal(out, "-0.001500-0.063");
    rssmon_text_init(&t, out, 4);
    rssmon_text_string(&t, "abcd");
    assert_true(t.overflow);
}

static int setup(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    (void)snprintf(path, sizeof path, "%s/a.log", folder);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    (void)unlink(path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_every_field),
        cmocka_unit_test(test_every_truncation),
        cmocka_unit_test(test_every_byte_damaged),
        cmocka_unit_test(test_segments),
        cmocka_unit_test(test_not_a_log),
        cmocka_unit_test(test_account),
        cmocka_unit_test(test_existing_file),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
