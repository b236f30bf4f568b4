/* Putting a circuit together: a table of coefficients, templates with their rows, instances. What
 * makes templates from gadgets is gadget.h; what reads them from files is dump.h; both end here.
 *
 * A failure sticks: after one, every call does nothing and reports it again, and finish returns it.
 * Owner: the caller; one thread.
 */
#ifndef CUZK_CIRCUIT_BUILD_H
#define CUZK_CIRCUIT_BUILD_H

#include "circuit/circuit.h"

struct cuzk_builder;

/* Most local variables (ports and own) of a template. */
enum { CUZK_TEMPLATE_VARIABLES = 65536 };

cuzk_status cuzk_builder_create(struct cuzk_builder **out, const char *name,
                                struct cuzk_budget *budget, struct cuzk_error *err);
void cuzk_builder_destroy(struct cuzk_builder *b); /* tolerates NULL */

/* The coefficient's number: that of an equal one, or the next. */
cuzk_status cuzk_builder_coefficient(struct cuzk_builder *b, uint32_t *number,
                                     const struct bls12_381_fr *value, struct cuzk_error *err);

/* One template at a time: begin, its rows in order, end. A row's terms may come in any order;
 * variables must be distinct and coefficients not zero. Ports are the local variables [0, ports),
 * own ones follow; both numbers are given at the end, when they are known. `name` is copied.
 * `boolean` has a bit for each own variable, NULL: none. */
cuzk_status cuzk_builder_begin(struct cuzk_builder *b, struct cuzk_error *err);
cuzk_status cuzk_builder_row(struct cuzk_builder *b, const struct cuzk_term *terms[3],
                             const uint32_t counts[3], struct cuzk_error *err);
cuzk_status cuzk_builder_end(struct cuzk_builder *b, uint32_t *number, const char *name,
                             uint32_t ports, uint32_t own, const uint64_t *boolean,
                             struct cuzk_error *err);
/* Names what makes the template's witness, and the own variables that it gives to others. */
cuzk_status cuzk_builder_set_gadget(struct cuzk_builder *b, uint32_t number,
                                    const struct cuzk_gadget *gadget, uint64_t parameter,
                                    const uint16_t *outputs, uint32_t output_count,
                                    struct cuzk_error *err);
/* The template that this gadget and parameter made, if there is one. */
bool cuzk_builder_find(const struct cuzk_builder *b, uint32_t *number,
                       const struct cuzk_gadget *gadget, uint64_t parameter);
/* Valid until the next template ends. */
const struct cuzk_template *cuzk_builder_template(const struct cuzk_builder *b, uint32_t number);

/* Appends an instance; ports has the tags, distinct. *first_aux: where its own variables begin. */
cuzk_status cuzk_builder_instance(struct cuzk_builder *b, uint32_t *first_aux, uint32_t number,
                                  const uint32_t *ports, struct cuzk_error *err);
/* Appends an input and gives its number. */
cuzk_status cuzk_builder_input(struct cuzk_builder *b, uint32_t *number, struct cuzk_error *err);
/* Many at once, whatever a file says: costs nothing by their number. */
cuzk_status cuzk_builder_inputs(struct cuzk_builder *b, uint32_t count, struct cuzk_error *err);
/* Appends auxiliaries that are not boolean and belong to no instance (a file's; its templates have
 * ports only). */
cuzk_status cuzk_builder_aux(struct cuzk_builder *b, uint32_t count, struct cuzk_error *err);

/* Hands over the circuit; the builder is empty then and only to be destroyed. */
cuzk_status cuzk_builder_finish(struct cuzk_circuit **out, struct cuzk_builder *b,
                                struct cuzk_error *err);

#endif
