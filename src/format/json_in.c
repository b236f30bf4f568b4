/* The scanner of small JSON files, over yajl (with memory that can run out: yajl_memory.h). */
#include "format/json_in.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/os.h"
#include "format/yajl_memory.h"

#define PATH_BYTES 512

struct level {
    bool array;
    size_t index; /* of the next element */
    size_t path;  /* length of the path that leads to the container */
};

struct scanner {
    const char *name;
    cuzk_json_visitor *visit;
    void *context;
    struct cuzk_error *err;
    cuzk_status status;
    struct yajl_memory memory;
    unsigned depth;
    struct level level[CUZK_JSON_DEPTH + 1];
    char path[PATH_BYTES];
    size_t path_size; /* of the leaf in hand, or of the container while none is */
};

static int stop(struct scanner *s, cuzk_status status)
{
    s->status = status;
    return 0;
}

/* Appends to the path; what does not fit ends in "…", which only shortens messages: a visitor's
 * paths are short, so a cut one matches none of them. */
static void path_add(struct scanner *s, const char *text, size_t size)
{
    static const char ellipsis[] = "\xe2\x80\xa6";
    if (s->path_size + size + sizeof ellipsis > PATH_BYTES) {
        if (s->path_size + sizeof ellipsis <= PATH_BYTES) {
            memcpy(s->path + s->path_size, ellipsis, sizeof ellipsis);
            s->path_size = PATH_BYTES; /* nothing more */
        }
        return;
    }
    memcpy(s->path + s->path_size, text, size);
    s->path_size += size;
    s->path[s->path_size] = '\0';
}

/* In an array, the path of the next element. */
static void next_element(struct scanner *s)
{
    struct level *l = &s->level[s->depth];
    if (s->depth == 0 || !l->array)
        return;
    char text[32];
    int n = snprintf(text, sizeof text, "[%zu]", l->index++);
    s->path_size = l->path;
    path_add(s, text, (size_t)n);
}

static int leaf(struct scanner *s, const struct cuzk_json_value *value)
{
    next_element(s);
    cuzk_status status = s->visit(s->context, s->path, value, s->err);
    if (status != CUZK_OK)
        return stop(s, cuzk_fail_prefix(s->err, status, "%s: %s", s->name,
                                        s->path_size == 0 ? "(the whole)" : s->path));
    return 1;
}

static int on_null(void *context)
{
    return leaf(context, &(struct cuzk_json_value){.type = CUZK_JSON_NULL});
}

static int on_boolean(void *context, int value)
{
    return leaf(context, &(struct cuzk_json_value){.type = CUZK_JSON_BOOL, .boolean = value != 0});
}

static int on_number(void *context, const char *text, size_t size)
{
    return leaf(context,
                &(struct cuzk_json_value){.type = CUZK_JSON_NUMBER, .text = text, .size = size});
}

static int on_string(void *context, const unsigned char *text, size_t size)
{
    return leaf(context, &(struct cuzk_json_value){
                             .type = CUZK_JSON_STRING, .text = (const char *)text, .size = size});
}

static int open_level(struct scanner *s, bool array)
{
    if (!leaf(s, &(struct cuzk_json_value){.type = array ? CUZK_JSON_ARRAY : CUZK_JSON_OBJECT}))
        return 0;
    if (s->depth == CUZK_JSON_DEPTH)
        return stop(s, cuzk_fail(s->err, CUZK_E_FORMAT, "%s: %s: nested deeper than %d levels",
                                 s->name, s->path, CUZK_JSON_DEPTH));
    s->level[++s->depth] = (struct level){.array = array, .path = s->path_size};
    return 1;
}

static int on_start_map(void *context)
{
    return open_level(context, false);
}
static int on_start_array(void *context)
{
    return open_level(context, true);
}

static int on_end(void *context)
{
    struct scanner *s = context;
    s->path_size = s->level[s->depth].path;
    if (s->path_size < PATH_BYTES)
        s->path[s->path_size] = '\0';
    s->depth--;
    return 1;
}

static int on_key(void *context, const unsigned char *key, size_t size)
{
    struct scanner *s = context;
    bool plain = size != 0;
    for (size_t i = 0; plain && i < size; i++)
        plain = (key[i] >= 'a' && key[i] <= 'z') || (key[i] >= 'A' && key[i] <= 'Z') ||
                (key[i] >= '0' && key[i] <= '9') || key[i] == '_' || key[i] == '-';
    s->path_size = s->level[s->depth].path;
    if (s->path_size < PATH_BYTES)
        s->path[s->path_size] = '\0';
    if (plain) {
        if (s->path_size != 0)
            path_add(s, ".", 1);
        path_add(s, (const char *)key, size);
        return 1;
    }
    path_add(s, "[\"", 2);
    for (size_t i = 0; i < size; i++) { /* a control character must not reach a terminal */
        char c = (char)key[i];
        if (key[i] < 0x20 || key[i] == 0x7f)
            c = '?';
        path_add(s, &c, 1);
    }
    path_add(s, "\"]", 2);
    return 1;
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_start_map = on_start_map,
    .yajl_map_key = on_key,
    .yajl_end_map = on_end,
    .yajl_start_array = on_start_array,
    .yajl_end_array = on_end,
};

/* What yajl says of a syntax error, without the excerpt of the file that it draws below. */
static cuzk_status syntax_error(struct scanner *s, yajl_handle parser, size_t at,
                                struct cuzk_error *err)
{
    unsigned char *text = yajl_get_error(parser, 0, NULL, 0);
    char what[128] = "not valid JSON";
    if (text != NULL) {
        (void)snprintf(what, sizeof what, "%.*s", (int)strcspn((char *)text, "\n"), (char *)text);
        yajl_free_error(parser, text);
    }
    bool truncated = strstr(what, "premature") != NULL;
    return cuzk_fail(err, truncated ? CUZK_E_TRUNCATED : CUZK_E_FORMAT, "%s: offset %zu: %s%s%s",
                     s->name, at, what,
                     s->path_size != 0 && s->path_size < PATH_BYTES ? ", after " : "",
                     s->path_size != 0 && s->path_size < PATH_BYTES ? s->path : "");
}

static cuzk_status run(struct scanner *s, const uint8_t *data, size_t size, struct cuzk_error *err)
{
    if (setjmp(s->memory.out_of_memory) != 0)
        return cuzk_fail(err, CUZK_E_MEMORY, "%s: out of memory while reading JSON", s->name);
    yajl_alloc_funcs funcs = yajl_memory_funcs(&s->memory);
    yajl_handle parser = yajl_alloc(&callbacks, &funcs, s);
    yajl_status result = yajl_parse(parser, data, size);
    size_t at = yajl_get_bytes_consumed(parser);
    if (result == yajl_status_ok) {
        at = size;
        result = yajl_complete_parse(parser);
    }
    if (result == yajl_status_client_canceled)
        return s->status;
    if (result != yajl_status_ok)
        return syntax_error(s, parser, at, err);
    return CUZK_OK;
}

cuzk_status cuzk_json_scan(const char *name, const uint8_t *data, size_t size,
                           cuzk_json_visitor *visit, void *context, struct cuzk_error *err)
{
    struct scanner *s = cuzk_calloc(1, sizeof *s);
    if (s == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "%s: out of memory", name);
    s->name = name;
    s->visit = visit;
    s->context = context;
    s->err = err;
    cuzk_status status = run(s, data, size, err);
    yajl_memory_free(&s->memory);
    cuzk_free(s);
    return status;
}

cuzk_status cuzk_json_scan_file(const char *path, cuzk_json_visitor *visit, void *context,
                                struct cuzk_error *err)
{
    uint8_t *data;
    size_t size;
    cuzk_status status = cuzk_os_read_file(&data, &size, path, CUZK_JSON_SMALL_FILE, err);
    if (status != CUZK_OK)
        return status;
    status = cuzk_json_scan(path, data, size, visit, context, err);
    cuzk_wipe(data, size);
    cuzk_free(data);
    return status;
}

cuzk_status cuzk_json_as_u64(uint64_t *out, const struct cuzk_json_value *value,
                             struct cuzk_error *err)
{
    if (value->type != CUZK_JSON_NUMBER)
        return cuzk_fail(err, CUZK_E_FORMAT, "expected a whole number");
    uint64_t v = 0;
    for (size_t i = 0; i < value->size; i++) {
        char c = value->text[i];
        if (c < '0' || c > '9')
            return cuzk_fail(err, CUZK_E_FORMAT, "expected a whole number from 0 to 2^64 - 1");
        unsigned digit = (unsigned)(c - '0');
        if (v > (UINT64_MAX - digit) / 10)
            return cuzk_fail(err, CUZK_E_RANGE, "expected a whole number from 0 to 2^64 - 1");
        v = 10 * v + digit;
    }
    *out = v;
    return CUZK_OK;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

bool cuzk_hex_decode(uint8_t *out, size_t size, const char *text, size_t length)
{
    if (length / 2 != size || length % 2 != 0)
        return false;
    for (size_t i = 0; i < size; i++) {
        int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        out[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

cuzk_status cuzk_json_as_hex(uint8_t *out, size_t size, const struct cuzk_json_value *value,
                             struct cuzk_error *err)
{
    if (value->type != CUZK_JSON_STRING || !cuzk_hex_decode(out, size, value->text, value->size))
        return cuzk_fail(err, CUZK_E_FORMAT, "expected %zu bytes as a string of %zu hex digits",
                         size, 2 * size);
    return CUZK_OK;
}

cuzk_status cuzk_json_as_fr(struct bls12_381_fr *out, const struct cuzk_json_value *value,
                            struct cuzk_error *err)
{
    uint8_t bytes[BLS12_381_FR_BYTES];
    cuzk_status status = cuzk_json_as_hex(bytes, sizeof bytes, value, err);
    if (status == CUZK_OK && !bls12_381_fr_from_le(out, bytes))
        status = cuzk_fail(err, CUZK_E_RANGE,
                           "not below the order r of the field (32 bytes, little-endian)");
    cuzk_wipe(bytes, sizeof bytes);
    return status;
}

cuzk_status cuzk_json_as_text(char *out, size_t capacity, const struct cuzk_json_value *value,
                              struct cuzk_error *err)
{
    if (value->type != CUZK_JSON_STRING)
        return cuzk_fail(err, CUZK_E_FORMAT, "expected a string");
    if (value->size >= capacity || memchr(value->text, 0, value->size) != NULL)
        return cuzk_fail(err, CUZK_E_RANGE, "expected a string of at most %zu characters",
                         capacity - 1);
    memcpy(out, value->text, value->size);
    out[value->size] = '\0';
    return CUZK_OK;
}
