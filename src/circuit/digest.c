/* See digest.h. The hash is most of the time of it, so rows are put into a buffer as they are
 * hashed and nothing else is done for them. */
#include "circuit/digest.h"

#include <openssl/evp.h>
#include <string.h>

#include "base/alloc.h"

enum { BUFFER = 1 << 16 };

struct hasher {
    EVP_MD_CTX *chunk, *all;
    uint8_t *buffer;
    size_t used;
    uint32_t items; /* in the chunk */
    cuzk_chunk_visitor *visit;
    void *context;
};

static cuzk_status broken(struct cuzk_error *err)
{
    return cuzk_fail(err, CUZK_E_INTERNAL, "libcrypto cannot compute SHA-256");
}

static cuzk_status hasher_open(struct hasher *h, cuzk_chunk_visitor *visit, void *context,
                               struct cuzk_error *err)
{
    *h = (struct hasher){.visit = visit, .context = context};
    h->chunk = EVP_MD_CTX_new();
    h->all = EVP_MD_CTX_new();
    h->buffer = cuzk_malloc(BUFFER);
    if (h->chunk == NULL || h->all == NULL || h->buffer == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "no memory to hash");
    if (!EVP_DigestInit_ex(h->chunk, EVP_sha256(), NULL) ||
        !EVP_DigestInit_ex(h->all, EVP_sha256(), NULL))
        return broken(err);
    return CUZK_OK;
}

static void hasher_close(struct hasher *h)
{
    EVP_MD_CTX_free(h->chunk);
    EVP_MD_CTX_free(h->all);
    if (h->buffer != NULL)
        cuzk_wipe(h->buffer, BUFFER);
    cuzk_free(h->buffer);
}

static cuzk_status flush(struct hasher *h, struct cuzk_error *err)
{
    if (!EVP_DigestUpdate(h->chunk, h->buffer, h->used))
        return broken(err);
    h->used = 0;
    return CUZK_OK;
}

static cuzk_status end_chunk(struct hasher *h, struct cuzk_error *err)
{
    uint8_t digest[CUZK_SHA256_SIZE];
    cuzk_status status = flush(h, err);
    if (status != CUZK_OK)
        return status;
    if (!EVP_DigestFinal_ex(h->chunk, digest, NULL) ||
        !EVP_DigestUpdate(h->all, digest, sizeof digest) ||
        !EVP_DigestInit_ex(h->chunk, EVP_sha256(), NULL))
        return broken(err);
    h->items = 0;
    return h->visit != NULL ? h->visit(h->context, digest, err) : CUZK_OK;
}

static cuzk_status hasher_finish(struct hasher *h, uint8_t out[CUZK_SHA256_SIZE],
                                 struct cuzk_error *err)
{
    cuzk_status status = h->items != 0 ? end_chunk(h, err) : CUZK_OK;
    if (status == CUZK_OK && !EVP_DigestFinal_ex(h->all, out, NULL))
        status = broken(err);
    return status;
}

/* Little endian in memory whatever the processor. */
static void put_u32(uint8_t *to, uint32_t x)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(x >> (8 * i));
}

struct shape_rows {
    struct hasher *hasher;
    const uint8_t (*coefficients)[32];
};

static cuzk_status shape_row(void *context, uint32_t row,
                             const struct cuzk_row_term *const terms[3], const uint32_t counts[3],
                             struct cuzk_error *err)
{
    (void)row;
    struct shape_rows *s = context;
    struct hasher *h = s->hasher;
    for (int m = 0; m < 3; m++) {
        for (uint32_t i = 0; i <= counts[m]; i++) {
            if (h->used + 36 > BUFFER) {
                cuzk_status status = flush(h, err);
                if (status != CUZK_OK)
                    return status;
            }
            uint8_t *to = h->buffer + h->used;
            if (i == 0) {
                put_u32(to, counts[m]);
                h->used += 4;
            } else {
                put_u32(to, terms[m][i - 1].tag);
                memcpy(to + 4, s->coefficients[terms[m][i - 1].coefficient], 32);
                h->used += 36;
            }
        }
    }
    return ++h->items == CUZK_CHUNK ? end_chunk(h, err) : CUZK_OK;
}

static cuzk_status bitmap_digest(uint8_t out[CUZK_SHA256_SIZE], const uint64_t *map, uint32_t bits,
                                 struct cuzk_error *err)
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool ok = ctx != NULL && EVP_DigestInit_ex(ctx, EVP_sha256(), NULL);
    for (uint32_t w = 0; ok && w < (bits + 63) / 64; w++) {
        uint8_t b[8];
        put_u32(b, (uint32_t)map[w]);
        put_u32(b + 4, (uint32_t)(map[w] >> 32));
        ok = EVP_DigestUpdate(ctx, b, 8);
    }
    ok = ok && EVP_DigestFinal_ex(ctx, out, NULL);
    EVP_MD_CTX_free(ctx);
    return ok ? CUZK_OK : broken(err);
}

static void count_terms(struct cuzk_shape *out, const struct cuzk_circuit *c)
{
    for (uint32_t i = 0; i < c->instance_count; i++) {
        const struct cuzk_template *t = &c->templates[c->instances[i].template_number];
        for (int m = 0; m < 3; m++)
            out->terms[m] += t->start[m][t->rows];
    }
    for (uint32_t i = 0; i < c->template_count; i++)
        for (int m = 0; m < 3; m++) {
            const struct cuzk_template *t = &c->templates[i];
            for (uint32_t r = 0; r < t->rows; r++)
                if (t->start[m][r + 1] - t->start[m][r] > out->longest[m])
                    out->longest[m] = t->start[m][r + 1] - t->start[m][r];
        }
}

cuzk_status cuzk_circuit_shape(struct cuzk_shape *out, const struct cuzk_circuit *circuit,
                               cuzk_chunk_visitor *visit, void *context, struct cuzk_error *err)
{
    struct hasher h = {0};
    struct cuzk_density density = {0};
    struct cuzk_shape s = {.inputs = circuit->inputs, .aux = circuit->aux, .rows = circuit->rows};
    uint8_t(*coefficients)[32] = cuzk_calloc(circuit->coefficient_count, 32);
    uint8_t *used = cuzk_calloc(circuit->coefficient_count, 1);
    cuzk_status status = CUZK_OK;
    if (coefficients == NULL || used == NULL)
        status = cuzk_fail(err, CUZK_E_MEMORY, "no memory to hash");
    if (status == CUZK_OK)
        status = hasher_open(&h, visit, context, err);
    if (status != CUZK_OK)
        goto done;
    for (uint32_t i = 0; i < circuit->coefficient_count; i++)
        bls12_381_fr_to_le(coefficients[i], &circuit->coefficients[i]);
    count_terms(&s, circuit);
    for (uint32_t i = 0; i < circuit->template_count; i++)
        for (int m = 0; m < 3; m++) {
            const struct cuzk_template *t = &circuit->templates[i];
            for (uint32_t j = 0; j < t->start[m][t->rows]; j++)
                used[t->terms[m][j].coefficient] = 1;
        }
    for (uint32_t i = 0; i < circuit->coefficient_count; i++)
        s.coefficients += used[i];
    struct shape_rows rows = {&h, (const uint8_t(*)[32])coefficients};
    status = cuzk_circuit_rows(circuit, 0, circuit->rows, shape_row, &rows, err);
    if (status == CUZK_OK)
        status = hasher_finish(&h, s.rows_sha256, err);
    if (status == CUZK_OK)
        status = cuzk_circuit_density(&density, circuit, circuit->budget, err);
    if (status == CUZK_OK)
        status = bitmap_digest(s.a_aux_sha256, density.a_aux, circuit->aux, err);
    if (status == CUZK_OK)
        status = bitmap_digest(s.b_aux_sha256, density.b_aux, circuit->aux, err);
    if (status == CUZK_OK)
        status = bitmap_digest(s.b_input_sha256, density.b_inputs, circuit->inputs, err);
    s.a_aux_density = density.a_aux_total;
    s.b_aux_density = density.b_aux_total;
    s.b_input_density = density.b_inputs_total;
    if (status == CUZK_OK)
        *out = s;
done:
    cuzk_density_destroy(&density);
    hasher_close(&h);
    cuzk_free(coefficients);
    cuzk_free(used);
    return status;
}

static cuzk_status put_value(struct hasher *h, const struct bls12_381_fr *value,
                             struct cuzk_error *err)
{
    if (h->used + 32 > BUFFER) {
        cuzk_status status = flush(h, err);
        if (status != CUZK_OK)
            return status;
    }
    if (bls12_381_fr_is_zero(value) || bls12_381_fr_is_one(value)) {
        memset(h->buffer + h->used, 0, 32);
        h->buffer[h->used] = !bls12_381_fr_is_zero(value);
    } else {
        bls12_381_fr_to_le(h->buffer + h->used, value);
    }
    h->used += 32;
    return ++h->items == CUZK_CHUNK ? end_chunk(h, err) : CUZK_OK;
}

cuzk_status cuzk_witness_aux_digest(uint8_t out[CUZK_SHA256_SIZE],
                                    const struct cuzk_circuit *circuit,
                                    const struct cuzk_witness *witness, cuzk_chunk_visitor *visit,
                                    void *context, struct cuzk_error *err)
{
    struct hasher h;
    cuzk_status status = hasher_open(&h, visit, context, err);
    uint32_t dense = 0;
    for (uint32_t j = 0; j < circuit->aux && status == CUZK_OK; j++) {
        const struct bls12_381_fr *value;
        if (circuit->boolean[j / 64] >> (j % 64) & 1)
            value = witness->bits[j / 64] >> (j % 64) & 1 ? &bls12_381_fr_one : &bls12_381_fr_zero;
        else
            value = &witness->values[dense++];
        status = put_value(&h, value, err);
    }
    if (status == CUZK_OK)
        status = hasher_finish(&h, out, err);
    hasher_close(&h);
    return status;
}

cuzk_status cuzk_witness_product_digest(uint8_t out[CUZK_SHA256_SIZE],
                                        const struct cuzk_circuit *circuit,
                                        const struct cuzk_witness *witness, int matrix,
                                        struct cuzk_threads *threads, cuzk_chunk_visitor *visit,
                                        void *context, struct cuzk_error *err)
{
    struct hasher h;
    enum { STEP = 4 * CUZK_CHUNK };
    struct bls12_381_fr *rows = cuzk_calloc(STEP, sizeof *rows);
    cuzk_status status = hasher_open(&h, visit, context, err);
    if (rows == NULL)
        status = cuzk_fail(err, CUZK_E_MEMORY, "no memory to hash");
    for (uint32_t first = 0; first < circuit->rows && status == CUZK_OK; first += STEP) {
        uint32_t count = circuit->rows - first < STEP ? circuit->rows - first : STEP;
        cuzk_circuit_multiply(rows, circuit, witness, matrix, first, count, threads);
        for (uint32_t i = 0; i < count && status == CUZK_OK; i++)
            status = put_value(&h, &rows[i], err);
    }
    if (status == CUZK_OK)
        status = hasher_finish(&h, out, err);
    hasher_close(&h);
    if (rows != NULL)
        cuzk_wipe(rows, STEP * sizeof *rows);
    cuzk_free(rows);
    return status;
}

void cuzk_witness_count(const struct cuzk_circuit *circuit, const struct cuzk_witness *witness,
                        uint32_t *zeros, uint32_t *ones)
{
    *zeros = *ones = 0;
    for (uint32_t w = 0; w < (circuit->aux + 63) / 64; w++)
        *ones += (uint32_t)__builtin_popcountll(witness->bits[w]);
    *zeros = circuit->aux - circuit->dense - *ones;
    for (uint32_t i = 0; i < witness->dense_count; i++) {
        *zeros += bls12_381_fr_is_zero(&witness->values[i]);
        *ones += bls12_381_fr_is_one(&witness->values[i]);
    }
}
