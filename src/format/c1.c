/* The reader of C1. yajl finds the tokens; the form of the file is a table (`struct c1_node`), and
 * one stack of frames walks it. A byte array is the only frame that is not in the stack: most of a
 * C1 is numbers in byte arrays, and they take a short way.
 *
 * Keys come in any order, so what compares two places of a challenge waits in `struct scratch`
 * until the challenge is complete.
 */
#include "format/c1.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/os.h"
#include "format/base64.h"
#include "format/c1_form.h"
#include "format/meta.h"
#include "format/yajl_memory.h"

#define DAMAGED "the file is damaged or not a C1: make it again with commit phase 1"
#define MAX_FILE (UINT64_C(1) << 30) /* a pretty-printed 64 GiB C1 is a third of this */

/* What yajl may take: it keeps a token that lies in two pieces, or has escapes. Whole, that is the
 * wrapper's base64 at most; inside, every token is short. */
#define WHOLE_LIMIT ((size_t)192 << 20)
#define TOKEN_LIMIT ((size_t)1 << 20)

enum { FRAMES = 24, PATH_BYTES = 256, TREES = 3, LABELS_MAX = CUZK_POREP_MAX_LAYERS + 1 };
enum { TREE_D, TREE_R, TREE_C };

struct frame {
    const struct c1_node *node;
    uint32_t seen;  /* of an object: bits of its fields */
    uint32_t index; /* of an array: elements begun; of an object: its present field */
    uint32_t count; /* of an array: how many there must be */
};

/* One inclusion proof of the challenge in hand. */
struct inclusion {
    uint64_t node; /* from the digits of its path */
    uint64_t end;  /* byte behind it */
};

struct scratch {
    struct inclusion data, replica, columns[1 + CUZK_POREP_PARENTS];
    struct {
        struct bls12_381_fr parents[CUZK_POREP_LABEL_PARENTS];
        uint64_t layer, node;
    } labels[LABELS_MAX]; /* the last of them is the encoding */
};

struct reader {
    const char *name;
    struct cuzk_error *err;
    cuzk_status status;
    const struct cuzk_porep_params *circuit; /* asked for, or NULL */
    struct cuzk_budget *budget;
    struct cuzk_porep_sector *sector;
    char registered[64];
    char variant[32];
    uint64_t wrapper_sector, wrapper_size;
    bool inner, wrapped, seen_roots[TREES];
    struct bls12_381_fr roots[TREES];
    struct bls12_381_fr replica_id, comm_r, comm_d;
    uint8_t seed[32], ticket[32];

    yajl_handle parser;
    struct yajl_memory memory;
    uint64_t base; /* bytes before the present buffer */
    unsigned depth;
    struct frame frames[FRAMES];
    const struct c1_node *bytes; /* the byte array in hand, or NULL */
    unsigned byte_count;
    uint8_t buffer[32];

    /* where the stack of frames stands */
    struct cuzk_porep_challenge *challenge;
    struct cuzk_porep_column *column;
    struct inclusion *inclusion;
    int tree;
    unsigned column_number; /* 0: own, then DRG, then expander parents */
    unsigned part;          /* level of the path in hand at which this part of it begins */
    unsigned label;
    struct scratch scratch;
};

/* --- errors ------------------------------------------------------------------------------- */

static void write_path(char out[PATH_BYTES], const struct reader *r)
{
    size_t n = 0;
    out[0] = '\0';
    for (unsigned i = 0; i < r->depth && n < PATH_BYTES; i++) {
        const struct frame *f = &r->frames[i];
        int k = 0;
        if (f->node->kind == C1_ARRAY) {
            if (f->index != 0)
                k = snprintf(out + n, PATH_BYTES - n, "[%" PRIu32 "]", f->index - 1);
        } else if (f->node->what == C1_VARIANT) {
            k = snprintf(out + n, PATH_BYTES - n, ".%s", r->variant);
        } else if (f->index < f->node->field_count) {
            k = snprintf(out + n, PATH_BYTES - n, "%s%s", n == 0 ? "" : ".",
                         f->node->fields[f->index].name);
        }
        n += k > 0 ? (size_t)k : 0;
    }
    if (r->bytes != NULL && n < PATH_BYTES)
        (void)snprintf(out + n, PATH_BYTES - n, "[%u]", r->byte_count);
}

static uint64_t offset_of(const struct reader *r)
{
    return r->base + (r->parser != NULL ? yajl_get_bytes_consumed(r->parser) : 0);
}

/* Fails at the present path (with `suffix` behind it) and at byte `at`; returns 0, which stops
 * yajl. */
static int fail_at(struct reader *r, cuzk_status status, uint64_t at, const char *suffix,
                   const char *format, ...) CUZK_PRINTF(5, 6);
static int fail_at(struct reader *r, cuzk_status status, uint64_t at, const char *suffix,
                   const char *format, ...)
{
    char path[PATH_BYTES], text[320];
    write_path(path, r);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    r->status = cuzk_fail(r->err, status, "%s: %sbyte %" PRIu64 ": %s%s%s%s", r->name,
                          r->inner ? "Phase1Out, decoded, " : "", at, path, suffix,
                          path[0] != '\0' || suffix[0] != '\0' ? ": " : "", text);
    return 0;
}
#define FAIL(r, status, ...) fail_at(r, status, offset_of(r), "", __VA_ARGS__)

static const char *hint(const struct reader *r)
{
    const struct cuzk_porep_params *mini = cuzk_porep_by_circuit("porep-mini32");
    return r->circuit == NULL && strcmp(r->variant, mini->variant) == 0
               ? " (the development miniature is read with the circuit porep-mini32 alone)"
               : "";
}

static int unexpected(struct reader *r, const struct c1_node *node)
{
    static const char *const names[] = {"an object",
                                        "an array",
                                        "an array of 32 numbers from 0 to 255",
                                        "an array of 32 numbers from 0 to 255",
                                        "a whole number",
                                        "a string",
                                        "null"};
    return FAIL(r, CUZK_E_FORMAT, "expected %s; " DAMAGED, names[node->kind]);
}

/* --- the form ----------------------------------------------------------------------------- */

static const struct cuzk_porep_params *params_of(const struct reader *r)
{
    return r->sector->params;
}

static unsigned levels_of_part(const struct reader *r)
{
    if (r->tree == TREE_D)
        return params_of(r)->data_levels;
    return r->part == 0 ? params_of(r)->base_levels : 1;
}

static unsigned arity_at(const struct reader *r, unsigned level)
{
    return r->tree == TREE_D ? 2 : cuzk_porep_arity(params_of(r), level);
}

/* Frame of the path's elements: the level in hand is its index. */
static unsigned level_in_hand(const struct reader *r)
{
    for (unsigned i = r->depth; i-- > 0;)
        if (r->frames[i].node->what == C1_LEVELS)
            return r->part + r->frames[i].index - 1;
    return 0;
}

static uint32_t count_of(const struct reader *r, enum c1_what what)
{
    switch (what) {
    case C1_PARTITIONS:
        return params_of(r)->partitions;
    case C1_CHALLENGES:
        return params_of(r)->challenges;
    case C1_DRG_PARENTS:
        return CUZK_POREP_DRG;
    case C1_EXP_PARENTS:
        return CUZK_POREP_EXP;
    case C1_LAYERS:
    case C1_LABELS:
        return params_of(r)->layers;
    case C1_LABEL_PARENTS:
        return CUZK_POREP_LABEL_PARENTS;
    case C1_LEVELS:
        return levels_of_part(r);
    case C1_SIBLINGS:
        return arity_at(r, level_in_hand(r)) - 1;
    default:
        return 0;
    }
}

static unsigned form_wanted(const struct reader *r)
{
    if (r->tree == TREE_D || params_of(r)->sub_arity == 0)
        return 0;
    return params_of(r)->top_arity == 0 ? 1 : 2;
}

static void enter_column(struct reader *r, unsigned number)
{
    struct cuzk_porep_challenge *c = r->challenge;
    r->column_number = number;
    if (number == 0)
        r->column = &c->own;
    else if (number <= CUZK_POREP_DRG)
        r->column = &c->drg[number - 1];
    else
        r->column = &c->exp[number - 1 - CUZK_POREP_DRG];
}

static void enter_tree(struct reader *r, int tree, struct inclusion *inclusion)
{
    r->tree = tree;
    r->inclusion = inclusion;
    inclusion->node = 0;
}

/* A field begins. */
static void enter_field(struct reader *r, enum c1_what what)
{
    switch (what) {
    case C1_DATA_TREE:
        enter_tree(r, TREE_D, &r->scratch.data);
        break;
    case C1_REPLICA_TREE:
        enter_tree(r, TREE_R, &r->scratch.replica);
        break;
    case C1_COLUMN_TREE:
        enter_tree(r, TREE_C, &r->scratch.columns[r->column_number]);
        break;
    case C1_OWN:
        enter_column(r, 0);
        break;
    case C1_BASE:
        r->part = 0;
        break;
    case C1_SUB:
        r->part = params_of(r)->base_levels;
        break;
    case C1_CROWN:
        r->part = params_of(r)->base_levels + 1;
        break;
    case C1_ENCODING:
        r->label = LABELS_MAX - 1;
        break;
    default:
        break;
    }
}

/* An element of an array begins. */
static void enter_element(struct reader *r, const struct frame *f)
{
    uint32_t i = f->index - 1;
    switch (f->node->what) {
    case C1_CHALLENGES:
        r->challenge =
            &r->sector->challenges[(size_t)(f[-1].index - 1) * params_of(r)->challenges + i];
        break;
    case C1_DRG_PARENTS:
        enter_column(r, 1 + i);
        break;
    case C1_EXP_PARENTS:
        enter_column(r, 1 + CUZK_POREP_DRG + i);
        break;
    case C1_LABELS:
        r->label = i;
        break;
    default:
        break;
    }
}

/* The node of the value that begins now; NULL after a failure. */
static const struct c1_node *next_value(struct reader *r)
{
    if (r->depth == 0)
        return &cuzk_c1_form;
    struct frame *f = &r->frames[r->depth - 1];
    if (f->node->kind == C1_ARRAY) {
        if (f->index == f->count) {
            (void)FAIL(r, CUZK_E_FORMAT, "more than the %" PRIu32 " elements of %s%s; " DAMAGED,
                       f->count, params_of(r)->circuit, hint(r));
            return NULL;
        }
        f->index++;
        enter_element(r, f);
        return f->node->item;
    }
    if (f->node->what == C1_VARIANT)
        return f->node->item;
    return f->node->fields[f->index].node;
}

static int push(struct reader *r, const struct c1_node *node)
{
    /* the depth of the table bounds the stack, whatever the file nests */
    struct frame *f = &r->frames[r->depth];
    *f = (struct frame){.node = node, .index = node->kind == C1_ARRAY ? 0 : UINT32_MAX};
    if (node->kind == C1_ARRAY)
        f->count = count_of(r, node->what);
    r->depth++;
    return 1;
}

/* --- leaves ------------------------------------------------------------------------------- */

/* Siblings before a level of the tree in hand. */
static unsigned siblings_before(const struct reader *r, unsigned level)
{
    unsigned n = 0;
    for (unsigned i = 0; i < level; i++)
        n += arity_at(r, i) - 1;
    return n;
}

static int take_root(struct reader *r, const struct bls12_381_fr *value)
{
    static const char *const trees[TREES] = {"tree D", "tree R", "tree C"};
    if (!r->seen_roots[r->tree]) {
        r->seen_roots[r->tree] = true;
        r->roots[r->tree] = *value;
    } else if (!bls12_381_fr_eq(&r->roots[r->tree], value)) {
        return FAIL(r, CUZK_E_INPUT, "another root of %s than the paths before it have; " DAMAGED,
                    trees[r->tree]);
    }
    return 1;
}

static int take_fr(struct reader *r, const struct c1_node *node, const struct bls12_381_fr *value)
{
    const struct frame *f = &r->frames[r->depth - 1];
    switch (node->what) {
    case C1_ROOT:
        return take_root(r, value);
    case C1_LEAF:
        if (r->tree == TREE_D)
            r->challenge->data_leaf = *value;
        else if (r->tree == TREE_R)
            r->challenge->replica_leaf = *value;
        else
            r->column->leaf = *value;
        return 1;
    case C1_SIBLING: {
        struct bls12_381_fr *to = r->tree == TREE_D   ? r->challenge->data_siblings
                                  : r->tree == TREE_R ? r->challenge->replica_siblings
                                                      : r->column->siblings;
        to[siblings_before(r, level_in_hand(r)) + f->index - 1] = *value;
        return 1;
    }
    case C1_ROW:
        r->column->rows[f->index - 1] = *value;
        return 1;
    case C1_LABEL_PARENT:
        r->scratch.labels[r->label].parents[f->index - 1] = *value;
        return 1;
    case C1_REPLICA_ID:
        r->replica_id = *value;
        return 1;
    case C1_COMM_R:
    case C1_COMM_D:
        if (bls12_381_fr_is_zero(value))
            return FAIL(r, CUZK_E_RANGE, "zero is no commitment; " DAMAGED);
        *(node->what == C1_COMM_R ? &r->comm_r : &r->comm_d) = *value;
        return 1;
    default:
        return 1;
    }
}

static int finish_bytes(struct reader *r)
{
    const struct c1_node *node = r->bytes;
    if (r->byte_count != 32)
        return FAIL(r, CUZK_E_FORMAT, "%u numbers where 32 are expected; " DAMAGED, r->byte_count);
    r->bytes = NULL;
    if (node->kind == C1_BYTES) {
        memcpy(node->what == C1_SEED ? r->seed : r->ticket, r->buffer, 32);
        return 1;
    }
    struct bls12_381_fr value;
    if (!bls12_381_fr_from_le(&value, r->buffer))
        return FAIL(r, CUZK_E_RANGE, "not below the order r of the field; " DAMAGED);
    return take_fr(r, node, &value);
}

static int take_number(struct reader *r, const struct c1_node *node, uint64_t value)
{
    switch (node->what) {
    case C1_DIGIT: {
        unsigned level = level_in_hand(r);
        if (value >= arity_at(r, level))
            return FAIL(r, CUZK_E_RANGE,
                        "%" PRIu64 " is no place among %u siblings and itself; " DAMAGED, value,
                        arity_at(r, level) - 1);
        for (unsigned i = 0; i < level; i++)
            value *= arity_at(r, i);
        r->inclusion->node += value;
        r->inclusion->end = offset_of(r);
        return 1;
    }
    case C1_COLUMN_INDEX:
        if (value >= params_of(r)->nodes)
            return FAIL(r, CUZK_E_RANGE, "node %" PRIu64 " of a sector of %" PRIu32 "; " DAMAGED,
                        value, params_of(r)->nodes);
        r->column->node = (uint32_t)value;
        return 1;
    case C1_LAYER_INDEX:
        r->scratch.labels[r->label].layer = value;
        return 1;
    case C1_LABEL_NODE:
        r->scratch.labels[r->label].node = value;
        return 1;
    case C1_SECTOR_NUM:
        r->wrapper_sector = value;
        return 1;
    case C1_SECTOR_SIZE:
        r->wrapper_size = value;
        return 1;
    default:
        return 1;
    }
}

/* --- what waits until a challenge is complete ---------------------------------------------- */

static int check_inclusion(struct reader *r, const struct inclusion *inclusion, uint32_t node,
                           const char *suffix)
{
    if (inclusion->node == node)
        return 1;
    return fail_at(r, CUZK_E_INPUT, inclusion->end, suffix,
                   "the path leads to node %" PRIu64 ", but the column is of node %" PRIu32
                   "; " DAMAGED,
                   inclusion->node, node);
}

static int check_columns(struct reader *r)
{
    const struct cuzk_porep_challenge *c = r->challenge;
    char suffix[96];
    if (!check_inclusion(r, &r->scratch.data, c->own.node, ".comm_d_proofs") ||
        !check_inclusion(r, &r->scratch.replica, c->own.node, ".comm_r_last_proof") ||
        !check_inclusion(r, &r->scratch.columns[0], c->own.node,
                         ".replica_column_proofs.c_x.inclusion_proof"))
        return 0;
    for (unsigned i = 0; i < CUZK_POREP_PARENTS; i++) {
        bool drg = i < CUZK_POREP_DRG;
        unsigned k = drg ? i : i - CUZK_POREP_DRG;
        (void)snprintf(suffix, sizeof suffix, ".replica_column_proofs.%s[%u].inclusion_proof",
                       drg ? "drg_parents" : "exp_parents", k);
        if (!check_inclusion(r, &r->scratch.columns[1 + i], drg ? c->drg[k].node : c->exp[k].node,
                             suffix))
            return 0;
    }
    return 1;
}

/* Labeling proofs repeat the columns' rows, and the encoding proof repeats the last of them. */
static int check_label(struct reader *r, unsigned number, uint32_t layer, const char *name)
{
    const struct cuzk_porep_challenge *c = r->challenge;
    char suffix[64];
    if (r->scratch.labels[number].layer != layer) {
        (void)snprintf(suffix, sizeof suffix, "%s.layer_index", name);
        return fail_at(r, CUZK_E_INPUT, offset_of(r), suffix,
                       "%" PRIu64 " where %" PRIu32 " is expected; " DAMAGED,
                       r->scratch.labels[number].layer, layer);
    }
    if (r->scratch.labels[number].node != c->own.node) {
        (void)snprintf(suffix, sizeof suffix, "%s.node", name);
        return fail_at(r, CUZK_E_INPUT, offset_of(r), suffix,
                       "%" PRIu64 ", but c_x.column is of node %" PRIu32 "; " DAMAGED,
                       r->scratch.labels[number].node, c->own.node);
    }
    unsigned parents = layer == 1 ? CUZK_POREP_DRG : CUZK_POREP_PARENTS;
    for (unsigned i = 0; i < CUZK_POREP_LABEL_PARENTS; i++) {
        unsigned k = i % parents;
        bool drg = k < CUZK_POREP_DRG;
        const struct bls12_381_fr *expected =
            drg ? &c->drg[k].rows[layer - 1] : &c->exp[k - CUZK_POREP_DRG].rows[layer - 2];
        if (!bls12_381_fr_eq(expected, &r->scratch.labels[number].parents[i])) {
            (void)snprintf(suffix, sizeof suffix, "%s.parents[%u]", name, i);
            return fail_at(r, CUZK_E_INPUT, offset_of(r), suffix,
                           "differs from %s[%u].column.rows[%u]; " DAMAGED,
                           drg ? "drg_parents" : "exp_parents", drg ? k : k - CUZK_POREP_DRG,
                           drg ? layer - 1 : layer - 2);
        }
    }
    return 1;
}

static int finish_challenge(struct reader *r)
{
    r->challenge->node = r->challenge->own.node;
    if (!check_columns(r))
        return 0;
    char name[32];
    for (unsigned i = 0; i < params_of(r)->layers; i++) {
        (void)snprintf(name, sizeof name, ".labeling_proofs[%u]", i);
        if (!check_label(r, i, i + 1, name))
            return 0;
    }
    return check_label(r, LABELS_MAX - 1, params_of(r)->layers, ".encoding_proof");
}

/* --- the whole ----------------------------------------------------------------------------- */

/* The key inside vanilla_proofs gives the shape, the registered proof the rest; either may come
 * first. */
static int select_params(struct reader *r)
{
    bool known = r->registered[0] != '\0';
    const struct cuzk_porep_params *params = NULL;
    struct cuzk_error err;
    if (known) {
        cuzk_status status = cuzk_porep_select(&params, r->registered, r->circuit, &err);
        if (status != CUZK_OK) {
            r->status =
                cuzk_fail(r->err, status, "%s: %sbyte %" PRIu64 ": %s", r->name,
                          r->inner ? "Phase1Out, decoded, " : "", offset_of(r), err.message);
            return 0;
        }
    }
    if (r->variant[0] == '\0')
        return 1;
    if (!known && r->circuit != NULL) {
        params = r->circuit;
    } else if (!known) {
        size_t count;
        const struct cuzk_porep_params *table = cuzk_porep_table(&count);
        for (size_t i = 0; i < count && params == NULL; i++)
            if (table[i].api_minor == 1 && strcmp(table[i].variant, r->variant) == 0)
                params = &table[i];
        if (params == NULL)
            return FAIL(r, CUZK_E_FORMAT, "no vanilla proofs of that name; " DAMAGED);
    }
    if (strcmp(params->variant, r->variant) != 0)
        return FAIL(r, CUZK_E_MISMATCH, "vanilla proofs are %s, but %s is %s; " DAMAGED, r->variant,
                    known ? r->registered : params->circuit, params->variant);
    if (r->sector == NULL) {
        cuzk_status status = cuzk_porep_sector_create(&r->sector, params, r->budget, r->err);
        if (status != CUZK_OK) {
            r->status = cuzk_fail_prefix(r->err, status, "%s", r->name);
            return 0;
        }
    }
    r->sector->params = params;
    return 1;
}

static int finish_whole(struct reader *r)
{
    struct cuzk_porep_sector *s = r->sector;
    s->replica_id = r->replica_id;
    s->comm_r = r->comm_r;
    s->comm_d = r->comm_d;
    s->comm_r_last = r->roots[TREE_R];
    s->comm_c = r->roots[TREE_C];
    memcpy(s->seed, r->seed, 32);
    memcpy(s->ticket, r->ticket, 32);
    if (!bls12_381_fr_eq(&s->comm_d, &r->roots[TREE_D]))
        return fail_at(r, CUZK_E_INPUT, offset_of(r), "comm_d",
                       "not the root of the data's paths (comm_d_proofs); %s",
                       bls12_381_fr_eq(&s->comm_r, &r->roots[TREE_D])
                           ? "comm_r is: the two are swapped"
                           : "the C1 is damaged or mixed from two sectors");
    return 1;
}

/* The clients' wrapper. */
static int finish_wrapper(struct reader *r)
{
    const struct cuzk_porep_params *params = params_of(r);
    const struct cuzk_porep_params *named = cuzk_porep_by_registered(params->registered);
    if (r->wrapper_size != params->sector_size && r->wrapper_size != named->sector_size)
        return fail_at(r, CUZK_E_MISMATCH, offset_of(r), "SectorSize",
                       "%" PRIu64 ", but Phase1Out is of %s, %" PRIu64 " bytes; " DAMAGED,
                       r->wrapper_size, params->registered, params->sector_size);
    r->sector->wrapped = true;
    r->sector->sector_number = r->wrapper_sector;
    return 1;
}

static int finish_object(struct reader *r, const struct frame *f)
{
    uint32_t want = f->node->field_count < 32 ? (UINT32_C(1) << f->node->field_count) - 1 : 0;
    if (f->node->what == C1_TOP)
        want = f->seen & C1_WRAPPER_KEYS ? C1_WRAPPER_KEYS : C1_RAW_KEYS;
    else if (f->node->what == C1_FORM)
        want = UINT32_C(1) << form_wanted(r);
    else if (f->node->what == C1_VARIANT)
        want = 1;
    uint32_t missing = want & ~f->seen;
    if (missing != 0) {
        const char *name = f->node->what == C1_VARIANT
                               ? "StackedDrg…V1"
                               : f->node->fields[__builtin_ctz(missing)].name;
        return FAIL(r, CUZK_E_FORMAT, "%s is missing; " DAMAGED, name);
    }
    switch (f->node->what) {
    case C1_CHALLENGE:
        return finish_challenge(r);
    case C1_TOP:
        return want == C1_WRAPPER_KEYS ? finish_wrapper(r) : finish_whole(r);
    default:
        return 1;
    }
}

static cuzk_status run(struct reader *r, const uint8_t *data, size_t size);

/* The wrapper's base64 into an inner reader, a piece at a time. */
static int read_phase1(struct reader *r, const unsigned char *text, size_t size);

/* --- yajl's callbacks ----------------------------------------------------------------------- */

static int on_null(void *context)
{
    struct reader *r = context;
    if (r->bytes != NULL)
        return unexpected(r, r->bytes);
    const struct c1_node *node = next_value(r);
    if (node == NULL)
        return 0;
    return node->kind == C1_NOTHING ? 1 : unexpected(r, node);
}

static int on_boolean(void *context, int value)
{
    (void)value;
    struct reader *r = context;
    const struct c1_node *node = r->bytes != NULL ? r->bytes : next_value(r);
    return node == NULL ? 0 : unexpected(r, node);
}

static int on_number(void *context, const char *text, size_t size)
{
    struct reader *r = context;
    uint64_t value = 0;
    bool whole_number = size <= 20;
    for (size_t i = 0; i < size && whole_number; i++) {
        unsigned d = (unsigned char)text[i] - (unsigned)'0';
        whole_number = d <= 9 && value <= (UINT64_MAX - d) / 10;
        value = 10 * value + d;
    }
    if (r->bytes != NULL) {
        if (r->byte_count == 32)
            return FAIL(r, CUZK_E_FORMAT, "more than 32 numbers; " DAMAGED);
        if (!whole_number || value > 255)
            return FAIL(r, CUZK_E_RANGE, "not a byte (a whole number from 0 to 255); " DAMAGED);
        r->buffer[r->byte_count++] = (uint8_t)value;
        return 1;
    }
    const struct c1_node *node = next_value(r);
    if (node == NULL)
        return 0;
    if (node->kind != C1_NUMBER || !whole_number)
        return unexpected(r, node);
    return take_number(r, node, value);
}

static int on_string(void *context, const unsigned char *text, size_t size)
{
    struct reader *r = context;
    const struct c1_node *node = r->bytes != NULL ? r->bytes : next_value(r);
    if (node == NULL)
        return 0;
    if (node->kind != C1_STRING)
        return unexpected(r, node);
    if (node->what == C1_PHASE1)
        return read_phase1(r, text, size);
    if (size == 0 || size >= sizeof r->registered || memchr(text, 0, size) != NULL)
        return FAIL(r, CUZK_E_FORMAT, "no registered proof of that name; " DAMAGED);
    memcpy(r->registered, text, size);
    r->registered[size] = '\0';
    return select_params(r);
}

static int on_start_map(void *context)
{
    struct reader *r = context;
    const struct c1_node *node = r->bytes != NULL ? r->bytes : next_value(r);
    if (node == NULL)
        return 0;
    return node->kind == C1_OBJECT ? push(r, node) : unexpected(r, node);
}

static int on_key(void *context, const unsigned char *key, size_t size)
{
    struct reader *r = context;
    struct frame *f = &r->frames[r->depth - 1];
    const struct c1_node *node = f->node;
    if (node->what == C1_VARIANT) {
        if (f->seen != 0)
            return FAIL(r, CUZK_E_FORMAT, "a second kind of vanilla proofs; " DAMAGED);
        f->seen = 1;
        if (size == 0 || size >= sizeof r->variant || memchr(key, 0, size) != NULL ||
            strncmp((const char *)key, "StackedDrg", 10) != 0)
            return FAIL(r, CUZK_E_FORMAT, "no vanilla proofs of that name; " DAMAGED);
        memcpy(r->variant, key, size);
        r->variant[size] = '\0';
        return select_params(r);
    }
    f->index = UINT32_MAX;
    for (uint32_t i = 0; i < node->field_count; i++) {
        const char *name = node->fields[i].name;
        if (strlen(name) != size || memcmp(name, key, size) != 0)
            continue;
        f->index = i;
        if (f->seen >> i & 1)
            return FAIL(r, CUZK_E_FORMAT, "given twice; " DAMAGED);
        f->seen |= UINT32_C(1) << i;
        if (node->what == C1_FORM && i != form_wanted(r))
            return FAIL(r, CUZK_E_FORMAT, "the path of this tree in %s is \"%s\"%s; " DAMAGED,
                        params_of(r)->circuit, node->fields[form_wanted(r)].name, hint(r));
        if (node->what == C1_TOP && (f->seen & C1_WRAPPER_KEYS) != 0 &&
            ((f->seen & C1_RAW_KEYS) != 0 || r->inner))
            return FAIL(r, CUZK_E_FORMAT, "keys of a C1 and of its wrapper together; " DAMAGED);
        enter_field(r, node->fields[i].enter);
        return 1;
    }
    char shown[33]; /* printable, so that nothing of the file reaches a terminal */
    size_t n = size < sizeof shown - 1 ? size : sizeof shown - 1;
    for (size_t i = 0; i < n; i++)
        shown[i] = (char)(key[i] > 0x20 && key[i] < 0x7f ? key[i] : '?');
    shown[n] = '\0';
    return FAIL(r, CUZK_E_FORMAT, "unknown key \"%s\"; " DAMAGED, shown);
}

static int on_end_map(void *context)
{
    struct reader *r = context;
    struct frame f = r->frames[r->depth - 1];
    r->frames[r->depth - 1].index = UINT32_MAX; /* its own path, no field's */
    if (f.node->what == C1_VARIANT)
        r->depth--;
    if (!finish_object(r, &f))
        return 0;
    if (f.node->what != C1_VARIANT)
        r->depth--;
    return 1;
}

static int on_start_array(void *context)
{
    struct reader *r = context;
    const struct c1_node *node = r->bytes != NULL ? r->bytes : next_value(r);
    if (node == NULL)
        return 0;
    if (r->bytes == NULL && node->kind == C1_ARRAY)
        return push(r, node);
    if (r->bytes != NULL || (node->kind != C1_FR && node->kind != C1_BYTES))
        return unexpected(r, node);
    r->bytes = node;
    r->byte_count = 0;
    return 1;
}

static int on_end_array(void *context)
{
    struct reader *r = context;
    if (r->bytes != NULL)
        return finish_bytes(r);
    struct frame *f = &r->frames[r->depth - 1];
    if (f->index != f->count) {
        uint32_t got = f->index;
        f->index = 0; /* its own path, no element's */
        return FAIL(r, CUZK_E_FORMAT, "%" PRIu32 " elements where %s has %" PRIu32 "%s; " DAMAGED,
                    got, params_of(r)->circuit, f->count, hint(r));
    }
    r->depth--;
    return 1;
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_start_map = on_start_map,
    .yajl_map_key = on_key,
    .yajl_end_map = on_end_map,
    .yajl_start_array = on_start_array,
    .yajl_end_array = on_end_array,
};

/* --- running yajl --------------------------------------------------------------------------- */

/* What yajl says of a syntax error, without the excerpt of the file that it draws below. */
static cuzk_status syntax_error(struct reader *r)
{
    unsigned char *text = yajl_get_error(r->parser, 0, NULL, 0);
    char what[96];
    (void)snprintf(what, sizeof what, "%.*s", (int)strcspn((char *)text, "\n"), (char *)text);
    yajl_free_error(r->parser, text);
    cuzk_status status = CUZK_E_FORMAT;
    if (strstr(what, "premature EOF") != NULL)
        status = CUZK_E_TRUNCATED;
    else if (strstr(what, "trailing garbage") != NULL)
        status = CUZK_E_TRAILING;
    (void)FAIL(r, status, "%s; %s", what,
               status == CUZK_E_TRUNCATED ? "the file is cut short: copy or make it again"
                                          : DAMAGED);
    return status;
}

/* One buffer; `last` asks for the end of the text. */
static cuzk_status feed(struct reader *r, const uint8_t *data, size_t size, bool last)
{
    yajl_status result = yajl_parse(r->parser, data, size);
    if (result == yajl_status_ok && last) {
        /* yajl ends a text with a blank of its own: count ours */
        r->base += size;
        result = yajl_complete_parse(r->parser);
        if (result == yajl_status_error) {
            r->base -= yajl_get_bytes_consumed(r->parser);
            return syntax_error(r);
        }
    }
    if (result == yajl_status_client_canceled)
        return r->status;
    if (result == yajl_status_error)
        return syntax_error(r);
    if (!last)
        r->base += size;
    return CUZK_OK;
}

static void open_parser(struct reader *r)
{
    yajl_alloc_funcs funcs = yajl_memory_funcs(&r->memory);
    r->parser = yajl_alloc(&callbacks, &funcs, r);
}

/* yajl left by its allocator. */
static cuzk_status no_memory(const struct reader *r, const struct reader *at)
{
    if (at->memory.over_limit)
        return cuzk_fail(r->err, CUZK_E_FORMAT,
                         "%s: near %sbyte %" PRIu64 ": a number, string or "
                         "key is longer than any of a C1; " DAMAGED,
                         r->name, at->inner ? "Phase1Out, decoded, " : "", offset_of(at));
    return cuzk_fail(r->err, CUZK_E_MEMORY, "%s: out of memory while reading JSON", r->name);
}

static cuzk_status run(struct reader *r, const uint8_t *data, size_t size)
{
    r->memory.limit = WHOLE_LIMIT;
    if (setjmp(r->memory.out_of_memory) != 0)
        return no_memory(r, r);
    open_parser(r);
    return feed(r, data, size, true);
}

/* Decoded base64 arrives here in pieces. */
static cuzk_status feed_piece(void *context, const uint8_t *data, size_t size, bool last)
{
    return feed(context, data, size, last);
}

static int run_inner(struct reader *r, struct reader *inner, const unsigned char *text, size_t size)
{
    inner->memory.limit = TOKEN_LIMIT;
    if (setjmp(inner->memory.out_of_memory) != 0) {
        r->status = no_memory(r, inner);
        return 0;
    }
    open_parser(inner);
    size_t bad;
    if (!cuzk_base64_decode(&r->status, &bad, text, size, feed_piece, inner))
        return FAIL(r, CUZK_E_FORMAT, "not base64 at its character %zu; " DAMAGED, bad);
    return r->status == CUZK_OK;
}

static int read_phase1(struct reader *r, const unsigned char *text, size_t size)
{
    struct reader *inner = cuzk_calloc(1, sizeof *inner);
    if (inner == NULL) {
        r->status = cuzk_fail(r->err, CUZK_E_MEMORY, "%s: out of memory", r->name);
        return 0;
    }
    inner->name = r->name;
    inner->err = r->err;
    inner->circuit = r->circuit;
    inner->budget = r->budget;
    inner->inner = true;
    int ok = run_inner(r, inner, text, size);
    yajl_memory_free(&inner->memory);
    r->sector = inner->sector;
    cuzk_free(inner);
    return ok;
}

cuzk_status cuzk_c1_parse(struct cuzk_porep_sector **out, const char *name, const uint8_t *data,
                          size_t size, const struct cuzk_porep_params *circuit,
                          struct cuzk_budget *budget, struct cuzk_error *err)
{
    *out = NULL;
    struct reader *r = cuzk_calloc(1, sizeof *r);
    if (r == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "%s: out of memory", name);
    r->name = name;
    r->err = err;
    r->circuit = circuit;
    r->budget = budget;
    cuzk_status status = run(r, data, size);
    yajl_memory_free(&r->memory);
    if (status == CUZK_OK)
        *out = r->sector;
    else
        cuzk_porep_sector_destroy(r->sector);
    cuzk_free(r);
    return status;
}

cuzk_status cuzk_c1_read(struct cuzk_porep_sector **out, const char *path,
                         const struct cuzk_porep_params *circuit, struct cuzk_budget *budget,
                         struct cuzk_error *err)
{
    *out = NULL;
    struct cuzk_mapping file;
    cuzk_status status = cuzk_os_map(&file, path, err);
    if (status != CUZK_OK)
        return status;
    if (file.size > MAX_FILE)
        status = cuzk_fail(err, CUZK_E_RANGE,
                           "%s: %" PRIu64 " bytes are more than any C1 has (%" PRIu64 ")", path,
                           file.size, MAX_FILE);
    else
        status = cuzk_c1_parse(out, path, file.data, (size_t)file.size, circuit, budget, err);
    cuzk_os_unmap(&file);
    return status;
}
