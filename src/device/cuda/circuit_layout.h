/* A circuit's templates and instances as they lie in device memory, for C (which packs and uploads
 * them) and for the kernels. Offsets count elements of the array that they point into.
 */
#ifndef CUZK_DEVICE_CUDA_CIRCUIT_LAYOUT_H
#define CUZK_DEVICE_CUDA_CIRCUIT_LAYOUT_H

#include <stdint.h>

enum { CUZK_LAYOUT_ROWS = 256 }; /* rows of a work item: a block's */

struct cuzk_layout_template {
    uint32_t rows, ports;
    uint32_t start[3], terms[3]; /* into starts and terms, by matrix */
    uint32_t boolean, rank;      /* into booleans and ranks */
};

struct cuzk_layout_instance {
    uint32_t template_number, first_row, first_aux, first_dense, first_port;
};

struct cuzk_layout_item {
    uint32_t instance, row; /* row of the template */
};

/* All pointers are device memory. */
struct cuzk_layout {
    const struct cuzk_layout_template *templates;
    const struct cuzk_layout_instance *instances;
    const struct cuzk_layout_item *items;
    const uint32_t *starts, *terms; /* a term: variable, and its coefficient's number << 16 */
    const uint64_t *booleans;
    const uint32_t *ranks;
    const uint32_t *ports;
    const void *coefficients;
    const uint64_t *aux_boolean; /* of the whole circuit, as struct cuzk_circuit's */
    const uint32_t *aux_rank;
    uint32_t item_count, rows, inputs;
};

/* The compact witness in device memory. */
struct cuzk_layout_witness {
    const void *inputs, *values;
    const uint64_t *bits;
};

#endif
