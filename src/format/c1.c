/* The reader of C1: yajl finds the tokens; the form of the file is a table (c1_form.h), and one
 * stack of frames walks it. A byte array is the only frame that is not in the stack: most of a C1
 * is numbers in byte arrays, and they take a short way.
 */
#include "format/c1.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/os.h"
#include "format/base64.h"
#include "format/c1_reader.h"

#define MAX_FILE (UINT64_C(1) << 30) /* a pretty-printed 64 GiB C1 is a third of this */

/* What yajl may take: it keeps a token that lies in two pieces, or has escapes. Whole, that is the
 * wrapper's base64 at most; inside, every token is short. */
#define WHOLE_LIMIT ((size_t)192 << 20)
#define TOKEN_LIMIT ((size_t)1 << 20)

/* --- errors ------------------------------------------------------------------------------- */

static void write_path(char out[C1_PATH_BYTES], const struct c1_reader *r)
{
    size_t n = 0;
    out[0] = '\0';
    for (unsigned i = 0; i < r->depth && n < C1_PATH_BYTES; i++) {
        const struct c1_frame *f = &r->frames[i];
        int k = 0;
        if (f->node->kind == C1_ARRAY) {
            if (f->index != 0)
                k = snprintf(out + n, C1_PATH_BYTES - n, "[%" PRIu32 "]", f->index - 1);
        } else if (f->node->what == C1_VARIANT) {
            k = snprintf(out + n, C1_PATH_BYTES - n, ".%s", r->variant);
        } else if (f->index < f->node->field_count) {
            k = snprintf(out + n, C1_PATH_BYTES - n, "%s%s", n == 0 ? "" : ".",
                         f->node->fields[f->index].name);
        }
        n += k > 0 ? (size_t)k : 0;
    }
    if (r->bytes != NULL && n < C1_PATH_BYTES)
        (void)snprintf(out + n, C1_PATH_BYTES - n, "[%u]", r->byte_count);
}

uint64_t c1_offset(const struct c1_reader *r)
{
    return r->base + (r->parser != NULL ? yajl_get_bytes_consumed(r->parser) : 0);
}

int c1_fail_at(struct c1_reader *r, cuzk_status status, uint64_t at, const char *suffix,
               const char *format, ...)
{
    char path[C1_PATH_BYTES], text[320];
    write_path(path, r);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    r->status = cuzk_fail(r->err, status, "%s: %sbyte %" PRIu64 ": %s%s%s%s", r->name,
                          r->inner ? "Phase1Out, decoded, " : "", at, path, suffix,
                          path[0] != '\0' || suffix[0] != '\0' ? ": " : "", text);
    return 0;
}

const char *c1_hint(const struct c1_reader *r)
{
    const struct cuzk_porep_params *mini = cuzk_porep_by_circuit("porep-mini32");
    return r->circuit == NULL && strcmp(r->variant, mini->variant) == 0
               ? " (the development miniature is read with the circuit porep-mini32 alone)"
               : "";
}

static int unexpected(struct c1_reader *r, const struct c1_node *node)
{
    static const char *const names[] = {"an object",
                                        "an array",
                                        "an array of 32 numbers from 0 to 255",
                                        "an array of 32 numbers from 0 to 255",
                                        "a whole number",
                                        "a string",
                                        "null"};
    return C1_FAIL(r, CUZK_E_FORMAT, "expected %s; " C1_DAMAGED, names[node->kind]);
}

/* --- the walk ----------------------------------------------------------------------------- */

/* The node of the value that begins now; NULL after a failure. */
static const struct c1_node *next_value(struct c1_reader *r)
{
    if (r->depth == 0)
        return &cuzk_c1_form;
    struct c1_frame *f = &r->frames[r->depth - 1];
    if (f->node->kind == C1_ARRAY) {
        if (f->index == f->count) {
            (void)C1_FAIL(r, CUZK_E_FORMAT,
                          "more than the %" PRIu32 " elements of %s%s; " C1_DAMAGED, f->count,
                          c1_params(r)->circuit, c1_hint(r));
            return NULL;
        }
        f->index++;
        c1_enter_element(r, f);
        return f->node->item;
    }
    if (f->node->what == C1_VARIANT)
        return f->node->item;
    return f->node->fields[f->index].node;
}

static int push(struct c1_reader *r, const struct c1_node *node)
{
    /* the depth of the table bounds the stack, whatever the file nests */
    struct c1_frame *f = &r->frames[r->depth];
    *f = (struct c1_frame){.node = node, .index = node->kind == C1_ARRAY ? 0 : UINT32_MAX};
    if (node->kind == C1_ARRAY)
        f->count = c1_count_of(r, node->what);
    r->depth++;
    return 1;
}

static int finish_bytes(struct c1_reader *r)
{
    const struct c1_node *node = r->bytes;
    if (r->byte_count != 32)
        return C1_FAIL(r, CUZK_E_FORMAT, "%u numbers where 32 are expected; " C1_DAMAGED,
                       r->byte_count);
    r->bytes = NULL;
    if (node->kind == C1_BYTES) {
        memcpy(node->what == C1_SEED ? r->seed : r->ticket, r->buffer, 32);
        return 1;
    }
    struct bls12_381_fr value;
    if (!bls12_381_fr_from_le(&value, r->buffer))
        return C1_FAIL(r, CUZK_E_RANGE, "not below the order r of the field; " C1_DAMAGED);
    return c1_take_fr(r, node, &value);
}

static cuzk_status run(struct c1_reader *r, const uint8_t *data, size_t size);

/* The wrapper's base64 into an inner reader, a piece at a time. */
static int read_phase1(struct c1_reader *r, const unsigned char *text, size_t size);

/* --- yajl's callbacks ----------------------------------------------------------------------- */

static int on_null(void *context)
{
    struct c1_reader *r = context;
    if (r->bytes != NULL)
        return unexpected(r, r->bytes);
    const struct c1_node *node = next_value(r);
    if (node == NULL)
        return 0;
    return node->kind == C1_NOTHING ? 1 : unexpected(r, node);
}

static int on_boolean(void *context, int value)
{
    (void)value;
    struct c1_reader *r = context;
    const struct c1_node *node = r->bytes != NULL ? r->bytes : next_value(r);
    return node == NULL ? 0 : unexpected(r, node);
}

static int on_number(void *context, const char *text, size_t size)
{
    struct c1_reader *r = context;
    uint64_t value = 0;
    bool whole_number = size <= 20;
    for (size_t i = 0; i < size && whole_number; i++) {
        unsigned d = (unsigned char)text[i] - (unsigned)'0';
        whole_number = d <= 9 && value <= (UINT64_MAX - d) / 10;
        value = 10 * value + d;
    }
    if (r->bytes != NULL) {
        if (r->byte_count == 32)
            return C1_FAIL(r, CUZK_E_FORMAT, "more than 32 numbers; " C1_DAMAGED);
        if (!whole_number || value > 255)
            return C1_FAIL(r, CUZK_E_RANGE,
                           "not a byte (a whole number from 0 to 255); " C1_DAMAGED);
        r->buffer[r->byte_count++] = (uint8_t)value;
        return 1;
    }
    const struct c1_node *node = next_value(r);
    if (node == NULL)
        return 0;
    if (node->kind != C1_NUMBER || !whole_number)
        return unexpected(r, node);
    return c1_take_number(r, node, value);
}

static int on_string(void *context, const unsigned char *text, size_t size)
{
    struct c1_reader *r = context;
    const struct c1_node *node = r->bytes != NULL ? r->bytes : next_value(r);
    if (node == NULL)
        return 0;
    if (node->kind != C1_STRING)
        return unexpected(r, node);
    if (node->what == C1_PHASE1)
        return read_phase1(r, text, size);
    if (size == 0 || size >= sizeof r->registered || memchr(text, 0, size) != NULL)
        return C1_FAIL(r, CUZK_E_FORMAT, "no registered proof of that name; " C1_DAMAGED);
    memcpy(r->registered, text, size);
    r->registered[size] = '\0';
    return c1_select_params(r);
}

static int on_start_map(void *context)
{
    struct c1_reader *r = context;
    const struct c1_node *node = r->bytes != NULL ? r->bytes : next_value(r);
    if (node == NULL)
        return 0;
    return node->kind == C1_OBJECT ? push(r, node) : unexpected(r, node);
}

static int on_key(void *context, const unsigned char *key, size_t size)
{
    struct c1_reader *r = context;
    struct c1_frame *f = &r->frames[r->depth - 1];
    const struct c1_node *node = f->node;
    if (node->what == C1_VARIANT) {
        if (f->seen != 0)
            return C1_FAIL(r, CUZK_E_FORMAT, "a second kind of vanilla proofs; " C1_DAMAGED);
        f->seen = 1;
        if (size == 0 || size >= sizeof r->variant || memchr(key, 0, size) != NULL ||
            strncmp((const char *)key, "StackedDrg", 10) != 0)
            return C1_FAIL(r, CUZK_E_FORMAT, "no vanilla proofs of that name; " C1_DAMAGED);
        memcpy(r->variant, key, size);
        r->variant[size] = '\0';
        return c1_select_params(r);
    }
    f->index = UINT32_MAX;
    for (uint32_t i = 0; i < node->field_count; i++) {
        const char *name = node->fields[i].name;
        if (strlen(name) != size || memcmp(name, key, size) != 0)
            continue;
        f->index = i;
        if (f->seen >> i & 1)
            return C1_FAIL(r, CUZK_E_FORMAT, "given twice; " C1_DAMAGED);
        f->seen |= UINT32_C(1) << i;
        if (node->what == C1_FORM && i != c1_form_wanted(r))
            return C1_FAIL(r, CUZK_E_FORMAT, "the path of this tree in %s is \"%s\"%s; " C1_DAMAGED,
                           c1_params(r)->circuit, node->fields[c1_form_wanted(r)].name, c1_hint(r));
        if (node->what == C1_TOP && (f->seen & C1_WRAPPER_KEYS) != 0 &&
            ((f->seen & C1_RAW_KEYS) != 0 || r->inner))
            return C1_FAIL(r, CUZK_E_FORMAT,
                           "keys of a C1 and of its wrapper together; " C1_DAMAGED);
        c1_enter_field(r, node->fields[i].enter);
        return 1;
    }
    char shown[33]; /* printable, so that nothing of the file reaches a terminal */
    size_t n = size < sizeof shown - 1 ? size : sizeof shown - 1;
    for (size_t i = 0; i < n; i++)
        shown[i] = (char)(key[i] > 0x20 && key[i] < 0x7f ? key[i] : '?');
    shown[n] = '\0';
    return C1_FAIL(r, CUZK_E_FORMAT, "unknown key \"%s\"; " C1_DAMAGED, shown);
}

static int on_end_map(void *context)
{
    struct c1_reader *r = context;
    struct c1_frame f = r->frames[r->depth - 1];
    r->frames[r->depth - 1].index = UINT32_MAX; /* its own path, no field's */
    if (f.node->what == C1_VARIANT)
        r->depth--;
    if (!c1_finish_object(r, &f))
        return 0;
    if (f.node->what != C1_VARIANT)
        r->depth--;
    return 1;
}

static int on_start_array(void *context)
{
    struct c1_reader *r = context;
    const struct c1_node *node = r->bytes != NULL ? r->bytes : next_value(r);
    if (node == NULL)
        return 0;
    if (r->bytes == NULL && node->kind == C1_ARRAY)
        return push(r, node);
    if (r->bytes != NULL || (node->kind != C1_FR && node->kind != C1_BYTES))
        return unexpected(r, node);
    r->bytes = node;
    r->byte_count = 0;
    return 1;
}

static int on_end_array(void *context)
{
    struct c1_reader *r = context;
    if (r->bytes != NULL)
        return finish_bytes(r);
    struct c1_frame *f = &r->frames[r->depth - 1];
    if (f->index != f->count) {
        uint32_t got = f->index;
        f->index = 0; /* its own path, no element's */
        return C1_FAIL(r, CUZK_E_FORMAT,
                       "%" PRIu32 " elements where %s has %" PRIu32 "%s; " C1_DAMAGED, got,
                       c1_params(r)->circuit, f->count, c1_hint(r));
    }
    r->depth--;
    return 1;
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_start_map = on_start_map,
    .yajl_map_key = on_key,
    .yajl_end_map = on_end_map,
    .yajl_start_array = on_start_array,
    .yajl_end_array = on_end_array,
};

/* --- running yajl --------------------------------------------------------------------------- */

/* What yajl says of a syntax error, without the excerpt of the file that it draws below. */
static cuzk_status syntax_error(struct c1_reader *r)
{
    unsigned char *text = yajl_get_error(r->parser, 0, NULL, 0);
    char what[96];
    (void)snprintf(what, sizeof what, "%.*s", (int)strcspn((char *)text, "\n"), (char *)text);
    yajl_free_error(r->parser, text);
    cuzk_status status = CUZK_E_FORMAT;
    if (strstr(what, "premature EOF") != NULL)
        status = CUZK_E_TRUNCATED;
    else if (strstr(what, "trailing garbage") != NULL)
        status = CUZK_E_TRAILING;
    (void)C1_FAIL(r, status, "%s; %s", what,
                  status == CUZK_E_TRUNCATED ? "the file is cut short: copy or make it again"
                                             : C1_DAMAGED);
    return status;
}

/* One buffer; `last` asks for the end of the text. */
static cuzk_status feed(struct c1_reader *r, const uint8_t *data, size_t size, bool last)
{
    yajl_status result = yajl_parse(r->parser, data, size);
    if (result == yajl_status_ok && last) {
        /* yajl ends a text with a blank of its own: count ours */
        r->base += size;
        result = yajl_complete_parse(r->parser);
        if (result == yajl_status_error) {
            r->base -= yajl_get_bytes_consumed(r->parser);
            return syntax_error(r);
        }
    }
    if (result == yajl_status_client_canceled)
        return r->status;
    if (result == yajl_status_error)
        return syntax_error(r);
    if (!last)
        r->base += size;
    return CUZK_OK;
}

static void open_parser(struct c1_reader *r)
{
    yajl_alloc_funcs funcs = yajl_memory_funcs(&r->memory);
    r->parser = yajl_alloc(&callbacks, &funcs, r);
}

/* yajl left by its allocator. */
static cuzk_status no_memory(const struct c1_reader *r, const struct c1_reader *at)
{
    if (at->memory.over_limit)
        return cuzk_fail(r->err, CUZK_E_FORMAT,
                         "%s: near %sbyte %" PRIu64 ": a number, string or "
                         "key is longer than any of a C1; " C1_DAMAGED,
                         r->name, at->inner ? "Phase1Out, decoded, " : "", c1_offset(at));
    return cuzk_fail(r->err, CUZK_E_MEMORY, "%s: out of memory while reading JSON", r->name);
}

static cuzk_status run(struct c1_reader *r, const uint8_t *data, size_t size)
{
    r->memory.limit = WHOLE_LIMIT;
    if (setjmp(r->memory.out_of_memory) != 0)
        return no_memory(r, r);
    open_parser(r);
    return feed(r, data, size, true);
}

/* Decoded base64 arrives here in pieces. */
static cuzk_status feed_piece(void *context, const uint8_t *data, size_t size, bool last)
{
    return feed(context, data, size, last);
}

static int run_inner(struct c1_reader *r, struct c1_reader *inner, const unsigned char *text,
                     size_t size)
{
    inner->memory.limit = TOKEN_LIMIT;
    if (setjmp(inner->memory.out_of_memory) != 0) {
        r->status = no_memory(r, inner);
        return 0;
    }
    open_parser(inner);
    size_t bad;
    if (!cuzk_base64_decode(&r->status, &bad, text, size, feed_piece, inner))
        return C1_FAIL(r, CUZK_E_FORMAT, "not base64 at its character %zu; " C1_DAMAGED, bad);
    return r->status == CUZK_OK;
}

static int read_phase1(struct c1_reader *r, const unsigned char *text, size_t size)
{
    struct c1_reader *inner = cuzk_calloc(1, sizeof *inner);
    if (inner == NULL) {
        r->status = cuzk_fail(r->err, CUZK_E_MEMORY, "%s: out of memory", r->name);
        return 0;
    }
    inner->name = r->name;
    inner->err = r->err;
    inner->circuit = r->circuit;
    inner->budget = r->budget;
    inner->inner = true;
    int ok = run_inner(r, inner, text, size);
    yajl_memory_free(&inner->memory);
    r->sector = inner->sector;
    cuzk_free(inner);
    return ok;
}

cuzk_status cuzk_c1_parse(struct cuzk_porep_sector **out, const char *name, const uint8_t *data,
                          size_t size, const struct cuzk_porep_params *circuit,
                          struct cuzk_budget *budget, struct cuzk_error *err)
{
    *out = NULL;
    struct c1_reader *r = cuzk_calloc(1, sizeof *r);
    if (r == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "%s: out of memory", name);
    r->name = name;
    r->err = err;
    r->circuit = circuit;
    r->budget = budget;
    cuzk_status status = run(r, data, size);
    yajl_memory_free(&r->memory);
    if (status == CUZK_OK)
        *out = r->sector;
    else
        cuzk_porep_sector_destroy(r->sector);
    cuzk_free(r);
    return status;
}

cuzk_status cuzk_c1_read(struct cuzk_porep_sector **out, const char *path,
                         const struct cuzk_porep_params *circuit, struct cuzk_budget *budget,
                         struct cuzk_error *err)
{
    *out = NULL;
    struct cuzk_mapping file;
    cuzk_status status = cuzk_os_map(&file, path, err);
    if (status != CUZK_OK)
        return status;
    if (file.size > MAX_FILE)
        status = cuzk_fail(err, CUZK_E_RANGE,
                           "%s: %" PRIu64 " bytes are more than any C1 has (%" PRIu64 ")", path,
                           file.size, MAX_FILE);
    else
        status = cuzk_c1_parse(out, path, file.data, (size_t)file.size, circuit, budget, err);
    cuzk_os_unmap(&file);
    return status;
}
