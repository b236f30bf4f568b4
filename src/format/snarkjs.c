/* Export as snarkjs JSON. */
#include "format/snarkjs.h"

#include <string.h>

#include "base/alloc.h"
#include "format/json_in.h"

/* Decimal of a number of n 64-bit words, least significant first; size is enough for its bits. */
static const char *decimal(char *out, size_t size, const uint64_t *words, int n)
{
    uint64_t w[BLS12_381_FP_LIMBS];
    char *p = out + size - 1;
    memcpy(w, words, (size_t)n * sizeof *w);
    *p = '\0';
    for (;;) { /* nine digits a pass, by division of 32-bit halves */
        uint64_t rest = 0, any = 0;
        for (int i = n - 1; i >= 0; i--) {
            uint64_t high = rest << 32 | w[i] >> 32;
            rest = high % 1000000000;
            uint64_t low = rest << 32 | (w[i] & 0xffffffff);
            rest = low % 1000000000;
            w[i] = (high / 1000000000) << 32 | low / 1000000000;
            any |= w[i];
        }
        for (int d = 0; d < 9 && (any != 0 || rest != 0); d++) {
            *--p = (char)('0' + rest % 10);
            rest /= 10;
        }
        if (any == 0)
            break;
    }
    if (*p == '\0')
        *--p = '0';
    return p;
}

static void coordinate(struct cuzk_json *j, const struct bls12_381_fp *a)
{
    uint64_t words[BLS12_381_FP_LIMBS];
    char text[128];
    bls12_381_fp_to_limbs(words, a);
    cuzk_json_string(j, NULL, decimal(text, sizeof text, words, BLS12_381_FP_LIMBS));
}

static void coordinate2(struct cuzk_json *j, const struct bls12_381_fp2 *a)
{
    cuzk_json_array(j, NULL);
    coordinate(j, &a->c0);
    coordinate(j, &a->c1);
    cuzk_json_array_end(j);
}

static void g1(struct cuzk_json *j, const char *key, const struct bls12_381_g1_affine *p)
{
    cuzk_json_array(j, key);
    coordinate(j, &p->x);
    coordinate(j, &p->y);
    cuzk_json_string(j, NULL, "1");
    cuzk_json_array_end(j);
}

static void g2(struct cuzk_json *j, const char *key, const struct bls12_381_g2_affine *p)
{
    cuzk_json_array(j, key);
    coordinate2(j, &p->x);
    coordinate2(j, &p->y);
    cuzk_json_array(j, NULL);
    cuzk_json_string(j, NULL, "1");
    cuzk_json_string(j, NULL, "0");
    cuzk_json_array_end(j);
    cuzk_json_array_end(j);
}

void cuzk_snarkjs_vk(struct cuzk_json *j, const struct cuzk_vk *vk)
{
    cuzk_json_object(j, NULL);
    cuzk_json_string(j, "protocol", "groth16");
    cuzk_json_string(j, "curve", "bls12381");
    cuzk_json_u64(j, "nPublic", vk->ic_count - 1);
    g1(j, "vk_alpha_1", &vk->alpha_g1);
    g2(j, "vk_beta_2", &vk->beta_g2);
    g2(j, "vk_gamma_2", &vk->gamma_g2);
    g2(j, "vk_delta_2", &vk->delta_g2);
    cuzk_json_array(j, "IC");
    for (uint32_t i = 0; i < vk->ic_count; i++)
        g1(j, NULL, &vk->ic[i]);
    cuzk_json_array_end(j);
    cuzk_json_object_end(j);
}

void cuzk_snarkjs_proof(struct cuzk_json *j, const struct cuzk_proof *proof)
{
    cuzk_json_object(j, NULL);
    g1(j, "pi_a", &proof->a);
    g2(j, "pi_b", &proof->b);
    g1(j, "pi_c", &proof->c);
    cuzk_json_string(j, "protocol", "groth16");
    cuzk_json_string(j, "curve", "bls12381");
    cuzk_json_object_end(j);
}

void cuzk_snarkjs_public(struct cuzk_json *j, const struct bls12_381_fr *inputs, size_t n)
{
    cuzk_json_array(j, NULL);
    for (size_t i = 0; i < n; i++) {
        uint64_t words[BLS12_381_FR_LIMBS];
        char text[96];
        bls12_381_fr_to_limbs(words, &inputs[i]);
        cuzk_json_string(j, NULL, decimal(text, sizeof text, words, BLS12_381_FR_LIMBS));
    }
    cuzk_json_array_end(j);
}

struct reader {
    struct bls12_381_fr *values;
    size_t count, capacity;
    bool array;
};

/* A decimal number below r, without sign or leading zeros. */
static bool from_decimal(struct bls12_381_fr *out, const char *text, size_t size)
{
    uint64_t words[BLS12_381_FR_LIMBS] = {0};
    if (size == 0 || size > 77 || (text[0] == '0' && size != 1)) /* r has 77 digits */
        return false;
    for (size_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        uint64_t carry = (uint64_t)(text[i] - '0');
        for (int w = 0; w < BLS12_381_FR_LIMBS; w++) {
            uint64_t low = (words[w] & 0xffffffff) * 10 + carry;
            uint64_t high = (words[w] >> 32) * 10 + (low >> 32);
            words[w] = high << 32 | (low & 0xffffffff);
            carry = high >> 32;
        }
        if (carry != 0)
            return false;
    }
    return bls12_381_fr_from_limbs(out, words);
}

static cuzk_status visit(void *context, const char *path, const struct cuzk_json_value *value,
                         struct cuzk_error *err)
{
    struct reader *r = context;
    if (path[0] == '\0' && value->type == CUZK_JSON_ARRAY) {
        r->array = true;
        return CUZK_OK;
    }
    if (!r->array || (value->type != CUZK_JSON_STRING && value->type != CUZK_JSON_NUMBER))
        return cuzk_fail(err, CUZK_E_FORMAT,
                         "expected an array of decimal numbers in strings, as snarkjs has it");
    if (r->count == CUZK_SNARKJS_MAX_PUBLIC)
        return cuzk_fail(err, CUZK_E_RANGE, "more than %u public inputs", CUZK_SNARKJS_MAX_PUBLIC);
    if (r->count == r->capacity) {
        size_t capacity = r->capacity == 0 ? 64 : 2 * r->capacity;
        struct bls12_381_fr *grown = cuzk_realloc(r->values, capacity, sizeof *grown);
        if (grown == NULL)
            return cuzk_fail(err, CUZK_E_MEMORY, "out of memory");
        r->values = grown;
        r->capacity = capacity;
    }
    if (!from_decimal(&r->values[r->count], value->text, value->size))
        return cuzk_fail(err, CUZK_E_RANGE, "expected a decimal number below the order r");
    r->count++;
    return CUZK_OK;
}

static cuzk_status finish(struct bls12_381_fr **inputs, size_t *count, struct reader *r,
                          cuzk_status status)
{
    if (status != CUZK_OK) {
        cuzk_free(r->values);
        return status;
    }
    *inputs = r->values;
    *count = r->count;
    return CUZK_OK;
}

cuzk_status cuzk_snarkjs_public_parse(struct bls12_381_fr **inputs, size_t *count, const char *name,
                                      const uint8_t *data, size_t size, struct cuzk_error *err)
{
    *inputs = NULL;
    *count = 0;
    struct reader r = {0};
    return finish(inputs, count, &r, cuzk_json_scan(name, data, size, visit, &r, err));
}

cuzk_status cuzk_snarkjs_public_read(struct bls12_381_fr **inputs, size_t *count, const char *path,
                                     struct cuzk_error *err)
{
    *inputs = NULL;
    *count = 0;
    struct reader r = {0};
    return finish(inputs, count, &r, cuzk_json_scan_file(path, visit, &r, err));
}
