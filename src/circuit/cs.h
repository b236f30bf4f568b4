/* What a gadget is described in: bits and numbers with their values, allocation, rows.
 *
 * A description runs in one of two modes. Recording, its rows go to a template and values mean
 * nothing; evaluating, its allocations go to a witness and rows cost nothing. It is the same code
 * with the same allocations either way, so that rows and witness cannot drift apart. Local variable
 * 0 is the constant one, the ports follow, then what the gadget allocates. Where a gadget knows a
 * faster way to the same values it takes it if `fast` is set; a test holds both ways together.
 *
 * A failure (memory, mostly) sticks in the cs; calls after it do nothing.
 */
#ifndef CUZK_CIRCUIT_CS_H
#define CUZK_CIRCUIT_CS_H

#include "circuit/build.h"

typedef struct bls12_381_fr fr;

enum { CS_ONE = 0, CS_MAX_OUTPUTS = 320 };

struct cs_term {
    uint32_t variable;
    fr coefficient;
};

/* A linear combination, for recording: terms in any order, not merged. Zero-initialised is empty;
 * freed by cs_lc_free. */
struct cs_lc {
    struct cs_term *terms;
    uint32_t count, room;
};

/* What the evaluation of one instance takes from outside beside its ports. */
struct cs_advice {
    const fr *values; /* in the order in which the gadget allocates them */
    uint64_t number;  /* an index, a challenge */
};

struct cuzk_cs {
    bool recording, fast;
    uint32_t ports;     /* the constant one among them */
    uint32_t allocated; /* own variables so far */
    fr power[256];      /* 2^i */
    cuzk_status status;
    struct cuzk_error error;

    /* recording */
    struct cuzk_builder *builder;
    uint64_t *boolean; /* own bits; CUZK_TEMPLATE_VARIABLES of them */
    uint32_t *place;   /* of each local variable in the combination at hand + 1 */
    struct cuzk_term *row[3];
    uint32_t row_room[3];
    struct cs_lc merge;
    uint16_t outputs[CS_MAX_OUTPUTS];
    uint32_t output_count;

    /* evaluating */
    const struct cuzk_circuit *circuit;
    struct cuzk_witness *witness;
    const uint32_t *tags; /* of the ports */
    uint32_t next_aux, next_dense;
    struct cs_advice advice;
    bool breach; /* an equality does not hold */
};

/* A truth value: constant, a variable, or a variable's negation. `value` is the bit's own. */
enum bit_form { BIT_CONSTANT, BIT_IS, BIT_NOT };
struct bit {
    uint32_t variable;
    uint8_t form;
    bool value;
};
struct num {
    uint32_t variable;
    fr value;
};

cuzk_status cs_create(struct cuzk_cs **out, struct cuzk_error *err);
void cs_destroy(struct cuzk_cs *cs);
void cs_fail(struct cuzk_cs *cs, cuzk_status status, const char *what);

/* Port i (0 is the first after the constant one) as a bit or a number, and the public input that
 * port i is: evaluating sets its value. */
struct bit cs_port_bit(const struct cuzk_cs *cs, uint32_t i);
struct num cs_port_num(const struct cuzk_cs *cs, uint32_t i);
void cs_port_input(struct cuzk_cs *cs, uint32_t i, const fr *value);
/* The next value of the advice; zero when recording. */
fr cs_advice_value(struct cuzk_cs *cs);
/* The next n bits of the advice's number, least significant first. */
uint64_t cs_advice_bits(struct cuzk_cs *cs, unsigned n);

/* Allocation. A bit is boolean by construction: a row, the gadget's or the caller's, forces it. */
uint32_t cs_alloc_bit(struct cuzk_cs *cs, bool value);
struct num cs_alloc_num(struct cuzk_cs *cs, const fr *value);
/* n ≤ 64 bits at once, evaluating only. */
void cs_put_bits(struct cuzk_cs *cs, uint64_t bits, unsigned n);
/* n numbers at once, evaluating only: where to write them. */
fr *cs_put_nums(struct cuzk_cs *cs, uint32_t n);
/* Names a variable that others will use. */
void cs_output(struct cuzk_cs *cs, uint32_t variable);

/* Combinations; nothing happens when evaluating. */
void cs_lc_free(struct cs_lc *lc);
void cs_lc_add(struct cuzk_cs *cs, struct cs_lc *lc, uint32_t variable, const fr *coefficient);
void cs_lc_add_bit(struct cuzk_cs *cs, struct cs_lc *lc, struct bit bit, const fr *coefficient);
void cs_lc_add_lc(struct cuzk_cs *cs, struct cs_lc *lc, const struct cs_lc *other,
                  const fr *coefficient);
/* Merges equal variables and drops zeros. */
void cs_lc_merge(struct cuzk_cs *cs, struct cs_lc *lc);

/* The row a · b = c; NULL is an empty combination. */
void cs_enforce(struct cuzk_cs *cs, const struct cs_lc *a, const struct cs_lc *b,
                const struct cs_lc *c);

/* Rows of a few terms with small coefficients (|k| ≤ 2), which nearly all are: up to four a
 * combination, ended by k = 0. */
struct cs_small {
    uint32_t variable;
    int k;
};
enum { CS_SMALL = 6 };
void cs_enforce_small(struct cuzk_cs *cs, const struct cs_small a[CS_SMALL],
                      const struct cs_small b[CS_SMALL], const struct cs_small c[CS_SMALL]);

/* a · 1 = b; evaluating, a breach is noted if it does not hold. */
void cs_equal(struct cuzk_cs *cs, const struct num *a, const struct num *b);

#endif
