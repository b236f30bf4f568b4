/* JSON output into a growing buffer. */
#include "format/json_out.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/os.h"

void cuzk_json_init(struct cuzk_json *j)
{
    *j = (struct cuzk_json){0};
}

void cuzk_json_free(struct cuzk_json *j)
{
    cuzk_free(j->text);
    *j = (struct cuzk_json){0};
}

static void put(struct cuzk_json *j, const char *text, size_t size)
{
    if (j->failed)
        return;
    if (size >= j->capacity - j->size) {
        size_t capacity = j->capacity == 0 ? 1024 : j->capacity;
        while (size >= capacity - j->size) {
            if (capacity > SIZE_MAX / 2) {
                j->failed = true;
                return;
            }
            capacity *= 2;
        }
        char *grown = cuzk_realloc(j->text, capacity, 1);
        if (grown == NULL) {
            j->failed = true;
            return;
        }
        j->text = grown;
        j->capacity = capacity;
    }
    memcpy(j->text + j->size, text, size);
    j->size += size;
    j->text[j->size] = '\0';
}

static void puts_json(struct cuzk_json *j, const char *text)
{
    put(j, text, strlen(text));
}

/* Bytes of the UTF-8 sequence at p (which has n > 0 bytes), 0 if it is none: no overlong forms, no
 * surrogates, nothing above U+10FFFF. */
static size_t utf8_length(const unsigned char *p, size_t n)
{
    size_t length = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    if (length == 0 || length > n || p[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
        (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
        return 0;
    return length;
}

static void put_string(struct cuzk_json *j, const char *value)
{
    const unsigned char *p = (const unsigned char *)value;
    size_t left = strlen(value);
    put(j, "\"", 1);
    while (left != 0) {
        size_t n = utf8_length(p, left);
        char escape[8];
        if (n == 0) {
            n = 1;
            puts_json(j, "\xef\xbf\xbd");
        } else if (*p == '"' || *p == '\\') {
            escape[0] = '\\';
            escape[1] = (char)*p;
            put(j, escape, 2);
        } else if (*p < 0x20 || *p == 0x7f) {
            (void)snprintf(escape, sizeof escape, "\\u%04x", (unsigned)*p);
            puts_json(j, escape);
        } else {
            put(j, (const char *)p, n);
        }
        p += n;
        left -= n;
    }
    put(j, "\"", 1);
}

static void newline(struct cuzk_json *j)
{
    put(j, "\n", 1);
    for (unsigned i = 0; i < j->depth; i++)
        put(j, "  ", 2);
}

/* Comma, new line and key of a value. */
static void start(struct cuzk_json *j, const char *key)
{
    if (j->depth != 0) {
        if (j->any[j->depth])
            put(j, ",", 1);
        newline(j);
    }
    j->any[j->depth] = true;
    if (key != NULL) {
        put_string(j, key);
        put(j, ": ", 2);
    }
}

static void open_level(struct cuzk_json *j, const char *key, const char *bracket)
{
    start(j, key);
    put(j, bracket, 1);
    if (j->depth == CUZK_JSON_OUT_DEPTH) {
        j->failed = true;
        return;
    }
    j->depth++;
    j->any[j->depth] = false;
}

static void close_level(struct cuzk_json *j, const char *bracket)
{
    if (j->depth == 0) {
        j->failed = true;
        return;
    }
    bool any = j->any[j->depth];
    j->depth--;
    if (any)
        newline(j);
    put(j, bracket, 1);
}

void cuzk_json_object(struct cuzk_json *j, const char *key)
{
    open_level(j, key, "{");
}
void cuzk_json_object_end(struct cuzk_json *j)
{
    close_level(j, "}");
}
void cuzk_json_array(struct cuzk_json *j, const char *key)
{
    open_level(j, key, "[");
}
void cuzk_json_array_end(struct cuzk_json *j)
{
    close_level(j, "]");
}

void cuzk_json_string(struct cuzk_json *j, const char *key, const char *value)
{
    start(j, key);
    if (value == NULL)
        puts_json(j, "null");
    else
        put_string(j, value);
}

void cuzk_json_u64(struct cuzk_json *j, const char *key, uint64_t value)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%" PRIu64, value);
    start(j, key);
    puts_json(j, text);
}

void cuzk_json_double(struct cuzk_json *j, const char *key, double value, int decimals)
{
    char text[64];
    start(j, key);
    if (!isfinite(value) || fabs(value) > 1e40) {
        puts_json(j, "null");
        return;
    }
    (void)snprintf(text, sizeof text, "%.*f", decimals, value);
    puts_json(j, text);
}

void cuzk_json_bool(struct cuzk_json *j, const char *key, bool value)
{
    start(j, key);
    puts_json(j, value ? "true" : "false");
}

void cuzk_json_null(struct cuzk_json *j, const char *key)
{
    start(j, key);
    puts_json(j, "null");
}

void cuzk_json_hex(struct cuzk_json *j, const char *key, const uint8_t *bytes, size_t size)
{
    start(j, key);
    put(j, "\"", 1);
    for (size_t i = 0; i < size; i++) {
        char text[3];
        (void)snprintf(text, sizeof text, "%02x", (unsigned)bytes[i]);
        put(j, text, 2);
    }
    put(j, "\"", 1);
}

cuzk_status cuzk_json_text(struct cuzk_json *j, const char **text, size_t *size,
                           struct cuzk_error *err)
{
    *text = NULL;
    *size = 0;
    if (!j->failed && (j->depth != 0 || j->size == 0))
        return cuzk_fail(err, CUZK_E_INTERNAL, "JSON output is not complete");
    if (j->text == NULL || j->text[j->size - 1] != '\n')
        put(j, "\n", 1);
    if (j->failed)
        return cuzk_fail(err, CUZK_E_MEMORY, "out of memory for JSON output");
    *text = j->text;
    *size = j->size;
    return CUZK_OK;
}

cuzk_status cuzk_json_write(struct cuzk_json *j, const char *path, struct cuzk_error *err)
{
    const char *text;
    size_t size;
    struct cuzk_writer *w = NULL;
    cuzk_status status = cuzk_json_text(j, &text, &size, err);
    if (status != CUZK_OK)
        return cuzk_fail_prefix(err, status, "%s", path);
    status = cuzk_os_writer_open(&w, path, err);
    if (status != CUZK_OK)
        return status;
    status = cuzk_os_writer_write(w, text, size, err);
    if (status != CUZK_OK) {
        cuzk_os_writer_abort(w);
        return status;
    }
    return cuzk_os_writer_commit(w, err);
}
