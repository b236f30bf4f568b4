/* See qap.h. Squeezing a bitmap by a mask goes 64 variables at a time: each word of the mask moves
 * its chosen bits to the bottom (the parallel-suffix compress of Warren, Hacker's Delight, 7-4),
 * and they are appended to the output as one piece.
 */
#include "device/qap.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"

/* Bits are appended one piece after another; a piece is at most 64 bits. */
struct bit_writer {
    uint64_t *words;
    size_t at; /* bits written */
};

static void append(struct bit_writer *w, uint64_t bits, unsigned n)
{
    if (n == 0)
        return;
    size_t word = w->at / 64;
    unsigned shift = (unsigned)(w->at % 64);
    if (shift == 0)
        w->words[word] = bits;
    else
        w->words[word] |= bits << shift;
    if (shift + n > 64)
        w->words[word + 1] = bits >> (64 - shift);
    w->at += n;
}

static uint64_t compress(uint64_t x, uint64_t mask)
{
    if (mask == UINT64_MAX)
        return x;
    x &= mask;
    uint64_t below = ~mask << 1; /* zeros of the mask below each bit: they are to be counted */
    for (unsigned i = 0; i < 6; i++) {
        uint64_t parity = below;
        for (unsigned s = 1; s < 64; s *= 2)
            parity ^= parity << s;
        uint64_t move = parity & mask;
        mask = (mask ^ move) | move >> (1u << i);
        uint64_t t = x & move;
        x = (x ^ t) | t >> (1u << i);
        below &= ~parity;
    }
    return x;
}

static unsigned popcount(uint64_t x)
{
    return (unsigned)__builtin_popcountll(x);
}

static void squeeze_aux(struct bit_writer *w, const uint64_t *bits, const uint64_t *mask, size_t n)
{
    for (size_t i = 0; i < cuzk_words(n); i++)
        append(w, compress(bits[i], mask[i]), popcount(mask[i]));
}

static cuzk_status query_create(struct cuzk_query *q, const struct cuzk_qap *qap,
                                const uint64_t *in_inputs, const uint64_t *in_aux, uint32_t inputs,
                                uint32_t aux, struct cuzk_error *err)
{
    const struct cuzk_circuit *circuit = qap->circuit;
    *q = (struct cuzk_query){.in_inputs = in_inputs,
                             .in_aux = in_aux,
                             .inputs = inputs,
                             .aux = aux,
                             .count = inputs + aux};
    void *p;
    cuzk_status status = cuzk_budget_alloc(qap->budget, &p, CUZK_PURPOSE_SHAPE,
                                           8 * (uint64_t)cuzk_words(q->count), err);
    if (status != CUZK_OK)
        return status;
    q->is_bit = p;
    struct bit_writer w = {.words = q->is_bit};
    for (uint32_t i = 0; i < inputs; i++)
        append(&w, 0, 1);
    squeeze_aux(&w, circuit->boolean, in_aux, circuit->aux);
    uint32_t bits = 0;
    for (size_t i = 0; i < cuzk_words(q->count); i++)
        bits += popcount(q->is_bit[i]);
    q->dense = q->count - bits;
    return CUZK_OK;
}

static void query_destroy(const struct cuzk_qap *qap, struct cuzk_query *q)
{
    cuzk_budget_free(qap->budget, q->is_bit, CUZK_PURPOSE_SHAPE,
                     8 * (uint64_t)cuzk_words(q->count));
}

cuzk_status cuzk_qap_create(struct cuzk_qap **out, const struct cuzk_circuit *circuit,
                            struct cuzk_budget *budget, struct cuzk_error *err)
{
    *out = NULL;
    uint64_t rows = (uint64_t)circuit->rows + circuit->inputs;
    if (circuit->inputs == 0)
        return cuzk_fail(err, CUZK_E_ARGUMENT, "%s: a circuit needs the constant one as input 0",
                         circuit->name);
    /* the quotient takes a root of order 2n, and the field has one of order 2^32 */
    if (rows > (uint64_t)1 << (BLS12_381_FR_TWO_ADICITY - 1) ||
        (uint64_t)circuit->inputs + circuit->aux > UINT32_MAX)
        return cuzk_fail(err, CUZK_E_ARGUMENT,
                         "%s: %" PRIu64 " rows and %" PRIu64
                         " variables; at most 2^31 and 2^32 - 1 are possible",
                         circuit->name, rows, (uint64_t)circuit->inputs + circuit->aux);
    struct cuzk_qap *q = cuzk_calloc(1, sizeof *q);
    if (q == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "%s: out of memory", circuit->name);
    q->circuit = circuit;
    q->budget = budget;
    q->rows = (uint32_t)rows;
    while (((uint64_t)1 << q->log2_domain) < rows)
        q->log2_domain++;
    struct cuzk_density *d = &q->density;
    cuzk_status status = cuzk_circuit_density(d, circuit, budget, err);
    if (status == CUZK_OK)
        status =
            query_create(&q->a, q, d->a_inputs, d->a_aux, d->a_inputs_total, d->a_aux_total, err);
    if (status == CUZK_OK)
        status =
            query_create(&q->b, q, d->b_inputs, d->b_aux, d->b_inputs_total, d->b_aux_total, err);
    if (status != CUZK_OK) {
        cuzk_qap_destroy(q);
        return status;
    }
    *out = q;
    return CUZK_OK;
}

void cuzk_qap_destroy(struct cuzk_qap *qap)
{
    if (qap == NULL)
        return;
    query_destroy(qap, &qap->a);
    query_destroy(qap, &qap->b);
    cuzk_density_destroy(&qap->density);
    cuzk_free(qap);
}

void cuzk_query_gather(uint64_t *bits, struct bls12_381_fr *values, const struct cuzk_qap *qap,
                       const struct cuzk_query *query, const struct cuzk_witness *witness)
{
    const struct cuzk_circuit *circuit = qap->circuit;
    struct bit_writer w = {.words = bits};
    size_t k = 0, dense = 0;
    for (uint32_t i = 0; i < circuit->inputs; i++) {
        if (query->in_inputs[i / 64] >> (i % 64) & 1) {
            values[k++] = witness->inputs[i];
            append(&w, 0, 1);
        }
    }
    squeeze_aux(&w, witness->bits, query->in_aux, circuit->aux);
    for (size_t i = 0; i < cuzk_words(circuit->aux); i++) {
        uint64_t left = ~circuit->boolean[i];
        if (i == circuit->aux / 64)
            left &= ((uint64_t)1 << (circuit->aux % 64)) - 1;
        for (; left != 0; left &= left - 1) {
            if (query->in_aux[i] >> __builtin_ctzll(left) & 1)
                values[k++] = witness->values[dense];
            dense++;
        }
    }
}
