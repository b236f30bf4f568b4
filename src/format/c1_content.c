/* What the values of a C1 mean: where they go, and what must hold among them.
 *
 * Keys come in any order, so what compares two places of a challenge waits in `struct c1_scratch`
 * until the challenge is complete.
 */
#include "format/c1_reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format/meta.h"

/* --- the form ----------------------------------------------------------------------------- */

static unsigned levels_of_part(const struct c1_reader *r)
{
    if (r->tree == C1_TREE_D)
        return c1_params(r)->data_levels;
    return r->part == 0 ? c1_params(r)->base_levels : 1;
}

static unsigned arity_at(const struct c1_reader *r, unsigned level)
{
    return r->tree == C1_TREE_D ? 2 : cuzk_porep_arity(c1_params(r), level);
}

/* Frame of the path's elements: the level in hand is its index. */
static unsigned level_in_hand(const struct c1_reader *r)
{
    for (unsigned i = r->depth; i-- > 0;)
        if (r->frames[i].node->what == C1_LEVELS)
            return r->part + r->frames[i].index - 1;
    return 0;
}

uint32_t c1_count_of(const struct c1_reader *r, enum c1_what what)
{
    switch (what) {
    case C1_PARTITIONS:
        return c1_params(r)->partitions;
    case C1_CHALLENGES:
        return c1_params(r)->challenges;
    case C1_DRG_PARENTS:
        return CUZK_POREP_DRG;
    case C1_EXP_PARENTS:
        return CUZK_POREP_EXP;
    case C1_LAYERS:
    case C1_LABELS:
        return c1_params(r)->layers;
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

unsigned c1_form_wanted(const struct c1_reader *r)
{
    if (r->tree == C1_TREE_D || c1_params(r)->sub_arity == 0)
        return 0;
    return c1_params(r)->top_arity == 0 ? 1 : 2;
}

static void enter_column(struct c1_reader *r, unsigned number)
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

static void enter_tree(struct c1_reader *r, int tree, struct c1_inclusion *inclusion)
{
    r->tree = tree;
    r->inclusion = inclusion;
    inclusion->node = 0;
}

/* A field begins. */
void c1_enter_field(struct c1_reader *r, enum c1_what what)
{
    switch (what) {
    case C1_DATA_TREE:
        enter_tree(r, C1_TREE_D, &r->scratch.data);
        break;
    case C1_REPLICA_TREE:
        enter_tree(r, C1_TREE_R, &r->scratch.replica);
        break;
    case C1_COLUMN_TREE:
        enter_tree(r, C1_TREE_C, &r->scratch.columns[r->column_number]);
        break;
    case C1_OWN:
        enter_column(r, 0);
        break;
    case C1_BASE:
        r->part = 0;
        break;
    case C1_SUB:
        r->part = c1_params(r)->base_levels;
        break;
    case C1_CROWN:
        r->part = c1_params(r)->base_levels + 1;
        break;
    case C1_ENCODING:
        r->label = C1_LABELS_MAX - 1;
        break;
    default:
        break;
    }
}

/* An element of an array begins. */
void c1_enter_element(struct c1_reader *r, const struct c1_frame *f)
{
    uint32_t i = f->index - 1;
    switch (f->node->what) {
    case C1_CHALLENGES:
        r->challenge =
            &r->sector->challenges[(size_t)(f[-1].index - 1) * c1_params(r)->challenges + i];
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

/* --- leaves ------------------------------------------------------------------------------- */

/* Siblings before a level of the tree in hand. */
static unsigned siblings_before(const struct c1_reader *r, unsigned level)
{
    unsigned n = 0;
    for (unsigned i = 0; i < level; i++)
        n += arity_at(r, i) - 1;
    return n;
}

static int take_root(struct c1_reader *r, const struct bls12_381_fr *value)
{
    static const char *const trees[C1_TREES] = {"tree D", "tree R", "tree C"};
    if (!r->seen_roots[r->tree]) {
        r->seen_roots[r->tree] = true;
        r->roots[r->tree] = *value;
    } else if (!bls12_381_fr_eq(&r->roots[r->tree], value)) {
        return C1_FAIL(r, CUZK_E_INPUT,
                       "another root of %s than the paths before it have; " C1_DAMAGED,
                       trees[r->tree]);
    }
    return 1;
}

int c1_take_fr(struct c1_reader *r, const struct c1_node *node, const struct bls12_381_fr *value)
{
    const struct c1_frame *f = &r->frames[r->depth - 1];
    switch (node->what) {
    case C1_ROOT:
        return take_root(r, value);
    case C1_LEAF:
        if (r->tree == C1_TREE_D)
            r->challenge->data_leaf = *value;
        else if (r->tree == C1_TREE_R)
            r->challenge->replica_leaf = *value;
        else
            r->column->leaf = *value;
        return 1;
    case C1_SIBLING: {
        struct bls12_381_fr *to = r->tree == C1_TREE_D   ? r->challenge->data_siblings
                                  : r->tree == C1_TREE_R ? r->challenge->replica_siblings
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
            return C1_FAIL(r, CUZK_E_RANGE, "zero is no commitment; " C1_DAMAGED);
        *(node->what == C1_COMM_R ? &r->comm_r : &r->comm_d) = *value;
        return 1;
    default:
        return 1;
    }
}

int c1_take_number(struct c1_reader *r, const struct c1_node *node, uint64_t value)
{
    switch (node->what) {
    case C1_DIGIT: {
        unsigned level = level_in_hand(r);
        if (value >= arity_at(r, level))
            return C1_FAIL(r, CUZK_E_RANGE,
                           "%" PRIu64 " is no place among %u siblings and itself; " C1_DAMAGED,
                           value, arity_at(r, level) - 1);
        for (unsigned i = 0; i < level; i++)
            value *= arity_at(r, i);
        r->inclusion->node += value;
        r->inclusion->end = c1_offset(r);
        return 1;
    }
    case C1_COLUMN_INDEX:
        if (value >= c1_params(r)->nodes)
            return C1_FAIL(r, CUZK_E_RANGE,
                           "node %" PRIu64 " of a sector of %" PRIu32 "; " C1_DAMAGED, value,
                           c1_params(r)->nodes);
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

static int check_inclusion(struct c1_reader *r, const struct c1_inclusion *inclusion, uint32_t node,
                           const char *suffix)
{
    if (inclusion->node == node)
        return 1;
    return c1_fail_at(r, CUZK_E_INPUT, inclusion->end, suffix,
                      "the path leads to node %" PRIu64 ", but the column is of node %" PRIu32
                      "; " C1_DAMAGED,
                      inclusion->node, node);
}

static int check_columns(struct c1_reader *r)
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
static int check_label(struct c1_reader *r, unsigned number, uint32_t layer, const char *name)
{
    const struct cuzk_porep_challenge *c = r->challenge;
    char suffix[64];
    if (r->scratch.labels[number].layer != layer) {
        (void)snprintf(suffix, sizeof suffix, "%s.layer_index", name);
        return c1_fail_at(r, CUZK_E_INPUT, c1_offset(r), suffix,
                          "%" PRIu64 " where %" PRIu32 " is expected; " C1_DAMAGED,
                          r->scratch.labels[number].layer, layer);
    }
    if (r->scratch.labels[number].node != c->own.node) {
        (void)snprintf(suffix, sizeof suffix, "%s.node", name);
        return c1_fail_at(r, CUZK_E_INPUT, c1_offset(r), suffix,
                          "%" PRIu64 ", but c_x.column is of node %" PRIu32 "; " C1_DAMAGED,
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
            return c1_fail_at(r, CUZK_E_INPUT, c1_offset(r), suffix,
                              "differs from %s[%u].column.rows[%u]; " C1_DAMAGED,
                              drg ? "drg_parents" : "exp_parents", drg ? k : k - CUZK_POREP_DRG,
                              drg ? layer - 1 : layer - 2);
        }
    }
    return 1;
}

static int finish_challenge(struct c1_reader *r)
{
    r->challenge->node = r->challenge->own.node;
    if (!check_columns(r))
        return 0;
    char name[32];
    for (unsigned i = 0; i < c1_params(r)->layers; i++) {
        (void)snprintf(name, sizeof name, ".labeling_proofs[%u]", i);
        if (!check_label(r, i, i + 1, name))
            return 0;
    }
    return check_label(r, C1_LABELS_MAX - 1, c1_params(r)->layers, ".encoding_proof");
}

/* --- the whole ----------------------------------------------------------------------------- */

/* The key inside vanilla_proofs gives the shape, the registered proof the rest; either may come
 * first. */
int c1_select_params(struct c1_reader *r)
{
    bool known = r->registered[0] != '\0';
    const struct cuzk_porep_params *params = NULL;
    struct cuzk_error err;
    if (known) {
        cuzk_status status = cuzk_porep_select(&params, r->registered, r->circuit, &err);
        if (status != CUZK_OK) {
            r->status =
                cuzk_fail(r->err, status, "%s: %sbyte %" PRIu64 ": %s", r->name,
                          r->inner ? "Phase1Out, decoded, " : "", c1_offset(r), err.message);
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
            return C1_FAIL(r, CUZK_E_FORMAT, "no vanilla proofs of that name; " C1_DAMAGED);
    }
    if (strcmp(params->variant, r->variant) != 0)
        return C1_FAIL(r, CUZK_E_MISMATCH, "vanilla proofs are %s, but %s is %s; " C1_DAMAGED,
                       r->variant, known ? r->registered : params->circuit, params->variant);
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

static int finish_whole(struct c1_reader *r)
{
    struct cuzk_porep_sector *s = r->sector;
    s->replica_id = r->replica_id;
    s->comm_r = r->comm_r;
    s->comm_d = r->comm_d;
    s->comm_r_last = r->roots[C1_TREE_R];
    s->comm_c = r->roots[C1_TREE_C];
    memcpy(s->seed, r->seed, 32);
    memcpy(s->ticket, r->ticket, 32);
    if (!bls12_381_fr_eq(&s->comm_d, &r->roots[C1_TREE_D]))
        return c1_fail_at(r, CUZK_E_INPUT, c1_offset(r), "comm_d",
                          "not the root of the data's paths (comm_d_proofs); %s",
                          bls12_381_fr_eq(&s->comm_r, &r->roots[C1_TREE_D])
                              ? "comm_r is: the two are swapped"
                              : "the C1 is damaged or mixed from two sectors");
    return 1;
}

/* The clients' wrapper. */
static int finish_wrapper(struct c1_reader *r)
{
    const struct cuzk_porep_params *params = c1_params(r);
    const struct cuzk_porep_params *named = cuzk_porep_by_registered(params->registered);
    if (r->wrapper_size != params->sector_size && r->wrapper_size != named->sector_size)
        return c1_fail_at(r, CUZK_E_MISMATCH, c1_offset(r), "SectorSize",
                          "%" PRIu64 ", but Phase1Out is of %s, %" PRIu64 " bytes; " C1_DAMAGED,
                          r->wrapper_size, params->registered, params->sector_size);
    r->sector->wrapped = true;
    r->sector->sector_number = r->wrapper_sector;
    return 1;
}

int c1_finish_object(struct c1_reader *r, const struct c1_frame *f)
{
    uint32_t want = f->node->field_count < 32 ? (UINT32_C(1) << f->node->field_count) - 1 : 0;
    if (f->node->what == C1_TOP)
        want = f->seen & C1_WRAPPER_KEYS ? C1_WRAPPER_KEYS : C1_RAW_KEYS;
    else if (f->node->what == C1_FORM)
        want = UINT32_C(1) << c1_form_wanted(r);
    else if (f->node->what == C1_VARIANT)
        want = 1;
    uint32_t missing = want & ~f->seen;
    if (missing != 0) {
        const char *name = f->node->what == C1_VARIANT
                               ? "StackedDrg…V1"
                               : f->node->fields[__builtin_ctz(missing)].name;
        return C1_FAIL(r, CUZK_E_FORMAT, "%s is missing; " C1_DAMAGED, name);
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
