/* Lines for people, or JSON. */
#include "output.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command.h"

void output_init(struct output *out, const char *command)
{
    *out = (struct output){.command = command};
    cuzk_json_init(&out->tree);
    cuzk_json_object(&out->tree, NULL);
}

void output_free(struct output *out)
{
    cuzk_json_free(&out->tree);
}

const char *format_bytes(char *text, size_t size, uint64_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double v = (double)bytes;
    unsigned u = 0;
    while (v >= 1024 && u < 4) {
        v /= 1024;
        u++;
    }
    if (u == 0)
        (void)snprintf(text, size, "%" PRIu64 " bytes", bytes);
    else
        (void)snprintf(text, size, "%.*f %s", v < 10 ? 2 : v < 100 ? 1 : 0, v, units[u]);
    return text;
}

const char *format_seconds(char *text, size_t size, double seconds)
{
    if (seconds < 0.001)
        (void)snprintf(text, size, "%.0f us", seconds * 1e6);
    else if (seconds < 1)
        (void)snprintf(text, size, "%.1f ms", seconds * 1e3);
    else if (seconds < 120)
        (void)snprintf(text, size, "%.2f s", seconds);
    else if (seconds < 7200)
        (void)snprintf(text, size, "%.0f min %.0f s", (double)((uint64_t)seconds / 60),
                       (double)((uint64_t)seconds % 60));
    else
        (void)snprintf(text, size, "%.1f h", seconds / 3600);
    return text;
}

/* The start of a line for people. */
static void line(const struct output *out, const char *key)
{
    printf("%*s%s%s", (int)(2 * out->depth), "", key != NULL ? key : "-", key != NULL ? ": " : " ");
}

void output_text(struct output *out, const char *key, const char *value)
{
    if (out->json) {
        cuzk_json_string(&out->tree, key, value);
        return;
    }
    line(out, key);
    (void)puts(value);
}

void output_number(struct output *out, const char *key, uint64_t value)
{
    if (out->json) {
        cuzk_json_u64(&out->tree, key, value);
        return;
    }
    line(out, key);
    printf("%" PRIu64 "\n", value);
}

void output_bytes(struct output *out, const char *key, uint64_t bytes)
{
    char text[32];
    if (out->json) {
        cuzk_json_u64(&out->tree, key, bytes);
        return;
    }
    line(out, key);
    (void)puts(format_bytes(text, sizeof text, bytes));
}

void output_seconds(struct output *out, const char *key, double seconds)
{
    char text[32];
    if (out->json) {
        cuzk_json_double(&out->tree, key, seconds, 6);
        return;
    }
    line(out, key);
    (void)puts(format_seconds(text, sizeof text, seconds));
}

void output_bool(struct output *out, const char *key, bool value)
{
    if (out->json) {
        cuzk_json_bool(&out->tree, key, value);
        return;
    }
    line(out, key);
    (void)puts(value ? "yes" : "no");
}

void output_hex(struct output *out, const char *key, const uint8_t *bytes, size_t size)
{
    if (out->json) {
        cuzk_json_hex(&out->tree, key, bytes, size);
        return;
    }
    line(out, key);
    for (size_t i = 0; i < size; i++)
        printf("%02x", (unsigned)bytes[i]);
    (void)putchar('\n');
}

void output_fr(struct output *out, const char *key, const struct bls12_381_fr *value)
{
    uint8_t bytes[BLS12_381_FR_BYTES];
    bls12_381_fr_to_le(bytes, value);
    output_hex(out, key, bytes, sizeof bytes);
}

void output_numbers(struct output *out, const char *key, const uint64_t *values, size_t n)
{
    if (out->json) {
        cuzk_json_array(&out->tree, key);
        for (size_t i = 0; i < n; i++)
            cuzk_json_u64(&out->tree, NULL, values[i]);
        cuzk_json_array_end(&out->tree);
        return;
    }
    line(out, key);
    for (size_t i = 0; i < n; i++)
        printf("%s%" PRIu64, i == 0 ? "" : ", ", values[i]);
    (void)putchar('\n');
}

static void open_level(struct output *out, const char *key)
{
    if (!out->json)
        printf("%*s%s\n", (int)(2 * out->depth), "", key != NULL ? key : "-");
    out->depth++;
}

void output_object(struct output *out, const char *key)
{
    if (out->json)
        cuzk_json_object(&out->tree, key);
    open_level(out, key);
}
void output_object_end(struct output *out)
{
    if (out->json)
        cuzk_json_object_end(&out->tree);
    out->depth--;
}
void output_array(struct output *out, const char *key)
{
    if (out->json)
        cuzk_json_array(&out->tree, key);
    open_level(out, key);
}
void output_array_end(struct output *out)
{
    if (out->json)
        cuzk_json_array_end(&out->tree);
    out->depth--;
}

static bool print_tree(struct output *out)
{
    const char *text;
    size_t size;
    struct cuzk_error err;
    cuzk_json_object_end(&out->tree);
    if (cuzk_json_text(&out->tree, &text, &size, &err) != CUZK_OK) {
        (void)fprintf(stderr, "cuzk %s: %s\n", out->command, err.message);
        return false;
    }
    return fwrite(text, 1, size, stdout) == size;
}

int output_finish(struct output *out, int code)
{
    bool ok = !out->json || print_tree(out);
    if (fflush(stdout) != 0 || ferror(stdout))
        ok = false;
    if (!ok)
        (void)fprintf(stderr, "cuzk %s: cannot write the result\n", out->command);
    output_free(out);
    return ok ? code : EXIT_FAILED;
}

int output_fail(struct output *out, const struct cuzk_error *err, int code)
{
    if (code == EXIT_NO && !out->json)
        output_text(out, "verdict", "not valid");
    (void)fflush(stdout);
    (void)fprintf(stderr, "cuzk%s%s: %s\n", out->command[0] != '\0' ? " " : "", out->command,
                  err->message);
    if (out->json) {
        struct output error;
        output_init(&error, out->command);
        error.json = true;
        if (code == EXIT_NO)
            output_text(&error, "verdict", "not valid");
        output_object(&error, "error");
        output_text(&error, "status", cuzk_status_name(err->status));
        output_number(&error, "number", (uint64_t)err->status);
        output_text(&error, "meaning", cuzk_status_meaning(err->status));
        output_text(&error, "message", err->message);
        output_object_end(&error);
        (void)print_tree(&error);
        (void)fflush(stdout);
        output_free(&error);
    }
    output_free(out);
    return code;
}
