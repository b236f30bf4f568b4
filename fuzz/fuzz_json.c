/* Small JSON files: the scanner with bounded paths and depth, and each reader that stands on it. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "format/json_in.h"
#include "format/key_check.h"
#include "format/snarkjs.h"
#include "format/waste.h"

static cuzk_status visit(void *context, const char *path, const struct cuzk_json_value *value,
                         struct cuzk_error *err)
{
    uint64_t number;
    uint8_t bytes[32];
    struct bls12_381_fr element;
    char text[8];
    if (strlen(path) >= 512)
        abort();
    (void)cuzk_json_as_u64(&number, value, err);
    (void)cuzk_json_as_hex(bytes, sizeof bytes, value, err);
    (void)cuzk_json_as_fr(&element, value, err);
    if (cuzk_json_as_text(text, sizeof text, value, err) == CUZK_OK && strlen(text) >= sizeof text)
        abort();
    ++*(size_t *)context;
    return CUZK_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cuzk_error err;
    struct cuzk_waste waste;
    struct cuzk_key_report report;
    struct bls12_381_fr *inputs;
    size_t leaves = 0, count;
    if (cuzk_json_scan("fuzz.json", data, size, visit, &leaves, &err) == CUZK_OK && leaves == 0)
        abort();
    (void)cuzk_waste_parse(&waste, "fuzz.json", data, size, &err);
    (void)cuzk_key_note_parse(&report, "fuzz.json", data, size, &err);
    (void)cuzk_snarkjs_public_parse(&inputs, &count, "fuzz.json", data, size, &err);
    cuzk_free(inputs);
    return 0;
}
