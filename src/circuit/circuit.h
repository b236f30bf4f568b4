/* A compiled circuit: templates, and the list of their instances. Rows are generated, hashed,
 * multiplied or set up from it, never stored.
 *
 * Variables have tags as bellperson numbers them: 2·i for input i (input 0 is the constant one),
 * 2·j + 1 for auxiliary variable j; inputs and auxiliaries count up in order of allocation.
 *
 * A template is a run of rows over local variables: first its ports (variables of others, the
 * constant one and inputs among them, by order of first use), then its own auxiliaries in order of
 * allocation. An instance gives the tags of the ports; its own variables and its rows follow those
 * of the instance before it. Which own variables are boolean by construction is known from the
 * template, so a witness keeps them as single bits. The ports of one instance are distinct, so that
 * the terms of a row are, too.
 *
 * Owner: the creator; read only once built, then any thread may read it. Memory is charged to
 * CUZK_PURPOSE_SHAPE (circuit) and CUZK_PURPOSE_WITNESS (witness).
 */
#ifndef CUZK_CIRCUIT_CIRCUIT_H
#define CUZK_CIRCUIT_CIRCUIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/budget.h"
#include "base/threads.h"
#include "curve/bls12_381/fields.h"
#include "cuzk/errors.h"

enum { CUZK_A = 0, CUZK_B = 1, CUZK_C = 2 };

/* var: local variable; coefficient: number in the circuit's table of coefficients. Both fit 16 bits
 * since a template has at most 65,536 local variables; a bigger run of rows is cut in two. */
struct cuzk_term {
    uint16_t variable;
    uint16_t coefficient;
};

struct cuzk_gadget;

struct cuzk_template {
    char name[48]; /* "sha256 block", "poseidon 11" … */
    uint32_t rows, ports, own;
    uint32_t own_dense;         /* own variables that are not boolean by construction */
    uint32_t *start[3];         /* rows + 1 offsets into terms[m], for A, B, C */
    struct cuzk_term *terms[3]; /* equal variables merged, no zero coefficient */
    uint64_t *boolean;          /* own bits: boolean by construction */
    uint32_t *rank;             /* per 64 own variables: non-boolean ones before them */
    /* What made it (gadget.h): run again to make an instance's witness. NULL: read from a file. */
    const struct cuzk_gadget *gadget;
    uint64_t parameter;
    uint16_t *outputs; /* own variables that it gives to other gadgets */
    uint32_t output_count;
};

struct cuzk_instance {
    uint32_t template_number;
    uint32_t first_row, first_aux;
    uint32_t first_dense; /* non-boolean auxiliaries before first_aux */
    uint32_t first_port;  /* into cuzk_circuit.ports */
};

struct cuzk_circuit {
    char name[64];              /* "porep-2KiB" … or the file's name */
    uint32_t inputs, aux, rows; /* rows without the x·0 = 0 that Groth16 appends, one an input */
    uint32_t dense;             /* auxiliaries that are not boolean by construction */
    uint32_t template_count, instance_count, port_count, coefficient_count;
    struct cuzk_template *templates;
    struct cuzk_instance *instances;
    uint32_t *ports;                   /* tags */
    struct bls12_381_fr *coefficients; /* Montgomery form */
    uint64_t *boolean;                 /* aux bits, the templates' put together */
    uint32_t *rank;                    /* per 512 auxiliaries: non-boolean ones before them */
    struct cuzk_budget *budget;        /* charged; NULL: nobody */
    uint64_t charged;                  /* bytes */
};

/* Frees the circuit and all it owns; tolerates NULL. */
void cuzk_circuit_destroy(struct cuzk_circuit *circuit);

/* The compact witness: 130 million variables of a 32 GiB partition in 70 MB. */
struct cuzk_witness {
    struct bls12_381_fr *inputs; /* circuit.inputs, [0] is one */
    uint64_t *bits;              /* aux bits; zero where the variable is not boolean */
    struct bls12_381_fr *values; /* circuit.dense, in order of allocation */
    uint32_t input_count, aux_count, dense_count;
    struct cuzk_budget *budget;
    uint64_t charged;
};

/* Zeroed, of the circuit's size, input 0 set to one. Destroy wipes the values (they are secret) and
 * tolerates NULL. */
cuzk_status cuzk_witness_create(struct cuzk_witness **out, const struct cuzk_circuit *circuit,
                                struct cuzk_budget *budget, struct cuzk_error *err);
void cuzk_witness_destroy(struct cuzk_witness *witness);

/* The value of one variable. */
void cuzk_witness_get(struct bls12_381_fr *out, const struct cuzk_witness *witness,
                      const struct cuzk_circuit *circuit, uint32_t tag);

/* out[i] = (M·w)[first_row + i] for i < count, M one of CUZK_A, CUZK_B, CUZK_C. The circuit's rows
 * only: the caller appends Groth16's input rows (A: x_i, B and C: 0). */
void cuzk_circuit_multiply(struct bls12_381_fr *out, const struct cuzk_circuit *circuit,
                           const struct cuzk_witness *witness, int matrix, uint32_t first_row,
                           uint32_t count, struct cuzk_threads *threads);

/* A·w ∘ B·w = C·w on every row; if not, *row is the first that fails and CUZK_E_UNSATISFIED names
 * its template. */
cuzk_status cuzk_circuit_check(const struct cuzk_circuit *circuit,
                               const struct cuzk_witness *witness, uint32_t *row,
                               struct cuzk_threads *threads, struct cuzk_error *err);

/* Setup: adds, for each variable, the sum over rows of coefficient·at[row] to out[m], for the three
 * matrices; out[m] has inputs first, then auxiliaries. at has `rows` elements (Lagrange values). */
void cuzk_circuit_transpose_multiply(struct bls12_381_fr *out[3],
                                     const struct cuzk_circuit *circuit,
                                     const struct bls12_381_fr *at, struct cuzk_threads *threads);

/* Which variables have a term in A or B. Bitmaps of inputs and of auxiliaries, 64-bit words, bit i
 * of word i/64; Groth16's input rows give every input an A term, and are counted here. */
struct cuzk_density {
    uint64_t *a_inputs, *a_aux, *b_inputs, *b_aux;
    uint32_t a_inputs_total, a_aux_total, b_inputs_total, b_aux_total;
    struct cuzk_budget *budget;
    uint64_t charged;
};
cuzk_status cuzk_circuit_density(struct cuzk_density *out, const struct cuzk_circuit *circuit,
                                 struct cuzk_budget *budget, struct cuzk_error *err);
void cuzk_density_destroy(struct cuzk_density *density);

/* The rows one after another in the canonical form that is hashed and dumped (terms sorted: inputs
 * first, then auxiliaries, each ascending; equal ones merged, zeros dropped). Visits rows
 * [first_row, first_row + count); a visitor's failure ends it. */
struct cuzk_row_term {
    uint32_t tag;
    uint32_t coefficient; /* number in the circuit's table */
};
typedef cuzk_status cuzk_row_visitor(void *context, uint32_t row,
                                     const struct cuzk_row_term *const terms[3],
                                     const uint32_t counts[3], struct cuzk_error *err);
cuzk_status cuzk_circuit_rows(const struct cuzk_circuit *circuit, uint32_t first_row,
                              uint32_t count, cuzk_row_visitor *visit, void *context,
                              struct cuzk_error *err);

#endif
