/* See cs.h. */
#include "circuit/cs.h"

#include <string.h>

#include "base/alloc.h"

cuzk_status cs_create(struct cuzk_cs **out, struct cuzk_error *err)
{
    *out = NULL;
    struct cuzk_cs *cs = cuzk_calloc(1, sizeof *cs);
    if (cs != NULL) {
        cs->boolean = cuzk_calloc(CUZK_TEMPLATE_VARIABLES / 64, sizeof *cs->boolean);
        cs->place = cuzk_calloc(CUZK_TEMPLATE_VARIABLES, sizeof *cs->place);
    }
    if (cs == NULL || cs->boolean == NULL || cs->place == NULL) {
        cs_destroy(cs);
        return cuzk_fail(err, CUZK_E_MEMORY, "no memory to run a gadget");
    }
    cs->power[0] = bls12_381_fr_one;
    for (int i = 1; i < 256; i++)
        bls12_381_fr_dbl(&cs->power[i], &cs->power[i - 1]);
    *out = cs;
    return CUZK_OK;
}

void cs_destroy(struct cuzk_cs *cs)
{
    if (cs == NULL)
        return;
    cuzk_free(cs->boolean);
    cuzk_free(cs->place);
    for (int m = 0; m < 3; m++)
        cuzk_free(cs->row[m]);
    cs_lc_free(&cs->merge);
    cuzk_free(cs);
}

void cs_fail(struct cuzk_cs *cs, cuzk_status status, const char *what)
{
    if (cs->status == CUZK_OK)
        cs->status = cuzk_fail(&cs->error, status, "%s", what);
}

static void port_value(fr *out, const struct cuzk_cs *cs, uint32_t i)
{
    if (cs->recording)
        *out = bls12_381_fr_zero;
    else
        cuzk_witness_get(out, cs->witness, cs->circuit, cs->tags[i + 1]);
}

struct bit cs_port_bit(const struct cuzk_cs *cs, uint32_t i)
{
    struct bit bit = {i + 1, BIT_IS, false};
    if (!cs->recording) {
        uint32_t j = cs->tags[i + 1] / 2; /* bits are auxiliaries */
        bit.value = cs->witness->bits[j / 64] >> (j % 64) & 1;
    }
    return bit;
}

struct num cs_port_num(const struct cuzk_cs *cs, uint32_t i)
{
    struct num num = {.variable = i + 1};
    port_value(&num.value, cs, i);
    return num;
}

void cs_port_input(struct cuzk_cs *cs, uint32_t i, const fr *value)
{
    if (!cs->recording)
        cs->witness->inputs[cs->tags[i + 1] / 2] = *value;
}

fr cs_advice_value(struct cuzk_cs *cs)
{
    return cs->recording ? bls12_381_fr_zero : *cs->advice.values++;
}

uint64_t cs_advice_bits(struct cuzk_cs *cs, unsigned n)
{
    if (cs->recording)
        return 0;
    uint64_t bits = n < 64 ? cs->advice.number & (((uint64_t)1 << n) - 1) : cs->advice.number;
    cs->advice.number = n < 64 ? cs->advice.number >> n : 0;
    return bits;
}

/* Numbers an own variable when recording. */
static uint32_t own(struct cuzk_cs *cs, bool boolean)
{
    uint32_t i = cs->allocated++, v = cs->ports + i;
    if (v >= CUZK_TEMPLATE_VARIABLES) {
        cs_fail(cs, CUZK_E_INTERNAL, "a gadget has more than 65,536 variables");
        cs->allocated--;
        return 0;
    }
    if (boolean)
        cs->boolean[i / 64] |= (uint64_t)1 << (i % 64);
    else
        cs->boolean[i / 64] &= ~((uint64_t)1 << (i % 64));
    return v;
}

uint32_t cs_alloc_bit(struct cuzk_cs *cs, bool value)
{
    if (cs->recording)
        return own(cs, true);
    uint32_t j = cs->next_aux++;
    cs->witness->bits[j / 64] |= (uint64_t)value << (j % 64);
    return cs->ports + cs->allocated++;
}

struct num cs_alloc_num(struct cuzk_cs *cs, const fr *value)
{
    struct num num = {.value = *value};
    if (cs->recording) {
        num.variable = own(cs, false);
    } else {
        cs->witness->values[cs->next_dense++] = *value;
        cs->next_aux++;
        num.variable = cs->ports + cs->allocated++;
    }
    return num;
}

void cs_put_bits(struct cuzk_cs *cs, uint64_t bits, unsigned n)
{
    uint32_t j = cs->next_aux, shift = j % 64;
    uint64_t *to = cs->witness->bits + j / 64;
    to[0] |= bits << shift;
    if (shift + n > 64)
        to[1] |= bits >> (64 - shift);
    cs->next_aux += n;
    cs->allocated += n;
}

fr *cs_put_nums(struct cuzk_cs *cs, uint32_t n)
{
    fr *to = cs->witness->values + cs->next_dense;
    cs->next_dense += n;
    cs->next_aux += n;
    cs->allocated += n;
    return to;
}

void cs_output(struct cuzk_cs *cs, uint32_t variable)
{
    if (!cs->recording)
        return;
    if (cs->output_count == CS_MAX_OUTPUTS || variable < cs->ports)
        cs_fail(cs, CUZK_E_INTERNAL, "a gadget gives too much, or what is not its own");
    else
        cs->outputs[cs->output_count++] = (uint16_t)(variable - cs->ports);
}

void cs_lc_free(struct cs_lc *lc)
{
    cuzk_free(lc->terms);
    *lc = (struct cs_lc){0};
}

static bool reserve(struct cuzk_cs *cs, struct cs_lc *lc, uint32_t more)
{
    if (cs->status != CUZK_OK)
        return false;
    if (lc->count + more <= lc->room)
        return true;
    uint32_t room = lc->room + lc->room / 2 + more + 16;
    struct cs_term *p = cuzk_realloc(lc->terms, room, sizeof *p);
    if (p == NULL) {
        cs_fail(cs, CUZK_E_MEMORY, "no memory for a linear combination");
        return false;
    }
    lc->terms = p;
    lc->room = room;
    return true;
}

void cs_lc_add(struct cuzk_cs *cs, struct cs_lc *lc, uint32_t variable, const fr *coefficient)
{
    if (cs->recording && reserve(cs, lc, 1))
        lc->terms[lc->count++] = (struct cs_term){variable, *coefficient};
}

void cs_lc_add_bit(struct cuzk_cs *cs, struct cs_lc *lc, struct bit bit, const fr *coefficient)
{
    if (!cs->recording)
        return;
    fr negative;
    switch (bit.form) {
    case BIT_CONSTANT:
        if (bit.value)
            cs_lc_add(cs, lc, CS_ONE, coefficient);
        break;
    case BIT_IS:
        cs_lc_add(cs, lc, bit.variable, coefficient);
        break;
    default:
        bls12_381_fr_neg(&negative, coefficient);
        cs_lc_add(cs, lc, CS_ONE, coefficient);
        cs_lc_add(cs, lc, bit.variable, &negative);
    }
}

void cs_lc_add_lc(struct cuzk_cs *cs, struct cs_lc *lc, const struct cs_lc *other,
                  const fr *coefficient)
{
    if (!cs->recording || !reserve(cs, lc, other->count))
        return;
    for (uint32_t i = 0; i < other->count; i++) {
        struct cs_term *t = &lc->terms[lc->count++];
        t->variable = other->terms[i].variable;
        bls12_381_fr_mul(&t->coefficient, &other->terms[i].coefficient, coefficient);
    }
}

void cs_lc_merge(struct cuzk_cs *cs, struct cs_lc *lc)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < lc->count; i++) {
        struct cs_term t = lc->terms[i];
        uint32_t *place = &cs->place[t.variable];
        if (*place == 0) {
            lc->terms[n] = t;
            *place = ++n;
        } else {
            fr *sum = &lc->terms[*place - 1].coefficient;
            bls12_381_fr_add(sum, sum, &t.coefficient);
        }
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        cs->place[lc->terms[i].variable] = 0;
        if (!bls12_381_fr_is_zero(&lc->terms[i].coefficient))
            lc->terms[kept++] = lc->terms[i];
    }
    lc->count = kept;
}

static bool row_room(struct cuzk_cs *cs, int m, uint32_t count)
{
    if (count <= cs->row_room[m])
        return true;
    struct cuzk_term *p = cuzk_realloc(cs->row[m], count + 64, sizeof *p);
    if (p == NULL) {
        cs_fail(cs, CUZK_E_MEMORY, "no memory for a row");
        return false;
    }
    cs->row[m] = p;
    cs->row_room[m] = count + 64;
    return true;
}

static void put_row(struct cuzk_cs *cs, const uint32_t counts[3])
{
    const struct cuzk_term *terms[3] = {cs->row[0], cs->row[1], cs->row[2]};
    if (cs->status == CUZK_OK)
        cs->status = cuzk_builder_row(cs->builder, terms, counts, &cs->error);
}

void cs_enforce(struct cuzk_cs *cs, const struct cs_lc *a, const struct cs_lc *b,
                const struct cs_lc *c)
{
    if (!cs->recording || cs->status != CUZK_OK)
        return;
    const struct cs_lc *given[3] = {a, b, c};
    uint32_t counts[3] = {0};
    for (int m = 0; m < 3; m++) {
        if (given[m] == NULL)
            continue;
        cs->merge.count = 0;
        cs_lc_add_lc(cs, &cs->merge, given[m], &bls12_381_fr_one);
        cs_lc_merge(cs, &cs->merge);
        counts[m] = cs->merge.count;
        if (!row_room(cs, m, counts[m]))
            return;
        for (uint32_t i = 0; i < counts[m]; i++) {
            uint32_t number;
            cuzk_builder_coefficient(cs->builder, &number, &cs->merge.terms[i].coefficient, NULL);
            cs->row[m][i] =
                (struct cuzk_term){(uint16_t)cs->merge.terms[i].variable, (uint16_t)number};
        }
    }
    put_row(cs, counts);
}

static void small_coefficient(fr *out, int k)
{
    bls12_381_fr_from_u64(out, (uint64_t)(k < 0 ? -k : k));
    if (k < 0)
        bls12_381_fr_neg(out, out);
}

void cs_enforce_small(struct cuzk_cs *cs, const struct cs_small a[CS_SMALL],
                      const struct cs_small b[CS_SMALL], const struct cs_small c[CS_SMALL])
{
    if (!cs->recording || cs->status != CUZK_OK)
        return;
    const struct cs_small *given[3] = {a, b, c};
    uint32_t counts[3] = {0};
    for (int m = 0; m < 3; m++) {
        struct cs_small sum[CS_SMALL];
        uint32_t n = 0;
        if (!row_room(cs, m, CS_SMALL))
            return;
        for (int i = 0; i < CS_SMALL && given[m][i].k != 0; i++) {
            uint32_t j = 0;
            while (j < n && sum[j].variable != given[m][i].variable)
                j++;
            if (j == n)
                sum[n++] = given[m][i];
            else
                sum[j].k += given[m][i].k;
        }
        for (uint32_t j = 0; j < n; j++) {
            uint32_t number;
            fr value;
            if (sum[j].k == 0)
                continue;
            small_coefficient(&value, sum[j].k);
            cuzk_builder_coefficient(cs->builder, &number, &value, NULL);
            cs->row[m][counts[m]++] =
                (struct cuzk_term){(uint16_t)sum[j].variable, (uint16_t)number};
        }
    }
    put_row(cs, counts);
}

void cs_equal(struct cuzk_cs *cs, const struct num *a, const struct num *b)
{
    if (cs->recording)
        cs_enforce_small(cs, (struct cs_small[CS_SMALL]){{a->variable, 1}},
                         (struct cs_small[CS_SMALL]){{CS_ONE, 1}},
                         (struct cs_small[CS_SMALL]){{b->variable, 1}});
    else if (!bls12_381_fr_eq(&a->value, &b->value))
        cs->breach = true;
}
