/* The reader of C1, shared by its two halves: c1.c walks the form (tokens, frames, errors),
 * c1_content.c knows what the values mean. Private to them. */
#ifndef CUZK_FORMAT_C1_READER_H
#define CUZK_FORMAT_C1_READER_H

#include "circuit/porep.h"
#include "format/c1_form.h"
#include "format/yajl_memory.h"

#define C1_DAMAGED "the file is damaged or not a C1: make it again with commit phase 1"

enum {
    C1_FRAMES = 24,
    C1_PATH_BYTES = 256,
    C1_TREES = 3,
    C1_LABELS_MAX = CUZK_POREP_MAX_LAYERS + 1
};
enum { C1_TREE_D, C1_TREE_R, C1_TREE_C };

struct c1_frame {
    const struct c1_node *node;
    uint32_t seen;  /* of an object: bits of its fields */
    uint32_t index; /* of an array: elements begun; of an object: its present field */
    uint32_t count; /* of an array: how many there must be */
};

/* One inclusion proof of the challenge in hand. */
struct c1_inclusion {
    uint64_t node; /* from the digits of its path */
    uint64_t end;  /* byte behind it */
};

struct c1_scratch {
    struct c1_inclusion data, replica, columns[1 + CUZK_POREP_PARENTS];
    struct {
        struct bls12_381_fr parents[CUZK_POREP_LABEL_PARENTS];
        uint64_t layer, node;
    } labels[C1_LABELS_MAX]; /* the last of them is the encoding */
};

struct c1_reader {
    const char *name;
    struct cuzk_error *err;
    cuzk_status status;
    const struct cuzk_porep_params *circuit; /* asked for, or NULL */
    struct cuzk_budget *budget;
    struct cuzk_porep_sector *sector;
    char registered[64];
    char variant[32];
    uint64_t wrapper_sector, wrapper_size;
    bool inner, seen_roots[C1_TREES];
    struct bls12_381_fr roots[C1_TREES];
    struct bls12_381_fr replica_id, comm_r, comm_d;
    uint8_t seed[32], ticket[32];

    yajl_handle parser;
    struct yajl_memory memory;
    uint64_t base; /* bytes before the present buffer */
    unsigned depth;
    struct c1_frame frames[C1_FRAMES];
    const struct c1_node *bytes; /* the byte array in hand, or NULL */
    unsigned byte_count;
    uint8_t buffer[32];

    /* where the stack of frames stands */
    struct cuzk_porep_challenge *challenge;
    struct cuzk_porep_column *column;
    struct c1_inclusion *inclusion;
    int tree;
    unsigned column_number; /* 0: own, then DRG, then expander parents */
    unsigned part;          /* level of the path in hand at which this part of it begins */
    unsigned label;
    struct c1_scratch scratch;
};

/* --- c1.c: functions for yajl return 0, which stops it, after a failure ---------------------- */

/* Fails at the present path (with `suffix` behind it) and at byte `at`; returns 0. */
int c1_fail_at(struct c1_reader *r, cuzk_status status, uint64_t at, const char *suffix,
               const char *format, ...) CUZK_PRINTF(5, 6);
#define C1_FAIL(r, status, ...) c1_fail_at(r, status, c1_offset(r), "", __VA_ARGS__)
uint64_t c1_offset(const struct c1_reader *r); /* bytes read */
/* What a wrong count may come from, or "". */
const char *c1_hint(const struct c1_reader *r);

/* --- c1_content.c ----------------------------------------------------------------------------- */

static inline const struct cuzk_porep_params *c1_params(const struct c1_reader *r)
{
    return r->sector->params;
}
uint32_t c1_count_of(const struct c1_reader *r, enum c1_what what); /* elements of an array */
unsigned c1_form_wanted(const struct c1_reader *r); /* Single, Sub or Top, by field number */
void c1_enter_field(struct c1_reader *r, enum c1_what what);
void c1_enter_element(struct c1_reader *r, const struct c1_frame *f);
int c1_take_fr(struct c1_reader *r, const struct c1_node *node, const struct bls12_381_fr *value);
int c1_take_number(struct c1_reader *r, const struct c1_node *node, uint64_t value);
int c1_select_params(struct c1_reader *r);
int c1_finish_object(struct c1_reader *r, const struct c1_frame *f);

#endif
