/* The reader of waste files. */
#include "format/waste.h"

#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "base/os.h"
#include "format/json_in.h"

static const struct {
    const char *key;
    size_t offset;
    bool required;
} fields[] = {
    {"alpha", offsetof(struct cuzk_waste, alpha), true},
    {"beta", offsetof(struct cuzk_waste, beta), true},
    {"gamma", offsetof(struct cuzk_waste, gamma), true},
    {"delta", offsetof(struct cuzk_waste, delta), true},
    {"tau", offsetof(struct cuzk_waste, tau), true},
    {"r", offsetof(struct cuzk_waste, r), false},
    {"s", offsetof(struct cuzk_waste, s), false},
};
enum { FIELDS = sizeof fields / sizeof fields[0] };

/* What the numbers must be made of; a file that says otherwise is not read as if it did not. */
static const struct {
    const char *key, *value;
} constants[] = {
    {"encoding", "little-endian, canonical"},
    {"g1", "generator"},
    {"g2", "generator"},
};

struct reader {
    struct cuzk_waste waste;
    bool seen[FIELDS];
};

static cuzk_status visit(void *context, const char *path, const struct cuzk_json_value *value,
                         struct cuzk_error *err)
{
    struct reader *r = context;
    const char *key = strncmp(path, "waste.", 6) == 0 ? path + 6 : path;
    for (size_t i = 0; i < FIELDS; i++) {
        if (strcmp(key, fields[i].key) != 0)
            continue;
        if (r->seen[i])
            return cuzk_fail(err, CUZK_E_FORMAT, "given twice");
        r->seen[i] = true;
        struct bls12_381_fr element;
        cuzk_status status = cuzk_json_as_fr(&element, value, err);
        if (status != CUZK_OK)
            return status;
        if (fields[i].required && bls12_381_fr_is_zero(&element))
            return cuzk_fail(err, CUZK_E_RANGE, "zero makes no key");
        memcpy((char *)&r->waste + fields[i].offset, &element, sizeof element);
        cuzk_wipe(&element, sizeof element);
        return CUZK_OK;
    }
    for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++) {
        size_t n = strlen(constants[i].value);
        if (strcmp(key, constants[i].key) == 0 &&
            (value->type != CUZK_JSON_STRING || value->size != n ||
             memcmp(value->text, constants[i].value, n) != 0))
            return cuzk_fail(err, CUZK_E_UNSUPPORTED, "must be \"%s\"", constants[i].value);
    }
    return CUZK_OK;
}

static cuzk_status finish(struct cuzk_waste *out, struct reader *r, const char *name,
                          struct cuzk_error *err)
{
    for (size_t i = 0; i < FIELDS; i++)
        if (fields[i].required && !r->seen[i])
            return cuzk_fail(err, CUZK_E_FORMAT,
                             "%s: %s is missing; a waste file has alpha, beta, gamma, delta and "
                             "tau, each 32 bytes in hex, little-endian",
                             name, fields[i].key);
    if (r->seen[FIELDS - 2] != r->seen[FIELDS - 1])
        return cuzk_fail(err, CUZK_E_FORMAT, "%s: r and s come together or not at all", name);
    r->waste.has_rs = r->seen[FIELDS - 1];
    *out = r->waste;
    return CUZK_OK;
}

cuzk_status cuzk_waste_parse(struct cuzk_waste *out, const char *name, const uint8_t *data,
                             size_t size, struct cuzk_error *err)
{
    *out = (struct cuzk_waste){0};
    struct reader r = {0};
    cuzk_status status = cuzk_json_scan(name, data, size, visit, &r, err);
    if (status == CUZK_OK)
        status = finish(out, &r, name, err);
    cuzk_wipe(&r, sizeof r);
    return status;
}

cuzk_status cuzk_waste_read(struct cuzk_waste *out, const char *path, struct cuzk_error *err)
{
    *out = (struct cuzk_waste){0};
    struct reader r = {0};
    cuzk_status status = cuzk_json_scan_file(path, visit, &r, err);
    if (status == CUZK_OK)
        status = finish(out, &r, path, err);
    cuzk_wipe(&r, sizeof r);
    return status;
}
