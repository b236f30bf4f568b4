/* See porep_mock.h. The order of making: identity and seed, thus replica id and challenges, thus
 * the opened nodes; labels layer by layer; then trees C and R bottom-up over the opened nodes
 * alone.
 *
 * A sparse tree keeps, for each level, the nodes that lie on an opened path, sorted; any other node
 * is a pseudorandom element that its level and index determine, so all paths agree on it.
 */
#include "circuit/porep_mock.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/sha.h>

#include "base/alloc.h"
#include "circuit/chacha.h"
#include "circuit/porep_graph.h"
#include "circuit/porep_statement.h"
#include "circuit/poseidon.h"

enum { MINER = 1000 };

/* What a pseudorandom block is for; part of its input. */
enum use { IDENTITY, LABEL, TREE_C, TREE_R };

struct column {
    uint32_t node;
    bool challenged;
    struct bls12_381_fr rows[CUZK_POREP_MAX_LAYERS];
};

struct level {
    uint32_t count;
    uint32_t *nodes; /* ascending */
    struct bls12_381_fr *values;
};

struct tree {
    enum use use;
    struct level levels[CUZK_POREP_MAX_LEVELS + 1]; /* 0: leaves; the last: the root */
};

struct mock {
    const struct cuzk_porep_params *params;
    struct cuzk_porep_sector *sector;
    struct cuzk_porep_graph graph;
    uint8_t key[32];
    uint32_t column_count, challenge_count;
    struct column *columns; /* each opened node once, ascending */
    struct tree c, r;
};

static void random_words(uint32_t out[16], const struct mock *m, enum use use, uint32_t level,
                         uint32_t index)
{
    const uint32_t tail[4] = {index, level, use, 0};
    chacha_block(out, m->key, tail, 8);
}

static void random_bytes(uint8_t out[32], const struct mock *m, enum use use, uint32_t level,
                         uint32_t index)
{
    uint32_t words[16];
    random_words(words, m, use, level, index);
    for (int i = 0; i < 32; i++)
        out[i] = (uint8_t)(words[i / 4] >> (8 * (i % 4)));
}

/* 254 random bits: below r, as labels are. */
static void random_fr(struct bls12_381_fr *out, const struct mock *m, enum use use, uint32_t level,
                      uint32_t index)
{
    uint8_t bytes[32];
    random_bytes(bytes, m, use, level, index);
    bytes[31] &= 0x3f;
    (void)bls12_381_fr_from_le(out, bytes);
}

static cuzk_status sha_to_fr(struct bls12_381_fr *out, const uint8_t *data, size_t size,
                             struct cuzk_error *err)
{
    uint8_t hash[32];
    if (SHA256(data, size, hash) == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "SHA-256 of libcrypto failed");
    hash[31] &= 0x3f;
    (void)bls12_381_fr_from_le(out, hash);
    return CUZK_OK;
}

/* --- identity, challenges, opened nodes ------------------------------------------------------ */

/* Tree D of zeros: the same sibling at a level for every node. */
static cuzk_status zero_data(struct mock *m, struct cuzk_error *err)
{
    struct bls12_381_fr at[CUZK_POREP_MAX_LEVELS + 1] = {bls12_381_fr_zero};
    for (uint32_t level = 0; level < m->params->data_levels; level++) {
        uint8_t pair[64];
        bls12_381_fr_to_le(pair, &at[level]);
        memcpy(pair + 32, pair, 32);
        cuzk_status status = sha_to_fr(&at[level + 1], pair, sizeof pair, err);
        if (status != CUZK_OK)
            return status;
    }
    m->sector->comm_d = at[m->params->data_levels];
    for (uint32_t i = 0; i < m->challenge_count; i++)
        memcpy(m->sector->challenges[i].data_siblings, at, m->params->data_levels * sizeof at[0]);
    return CUZK_OK;
}

static cuzk_status identify(struct mock *m, struct cuzk_porep_owner *owner, uint64_t seed,
                            struct cuzk_error *err)
{
    uint8_t text[64] = "cuzk mock sector";
    for (int i = 0; i < 8; i++)
        text[16 + i] = (uint8_t)(seed >> (8 * i));
    memcpy(text + 24, m->params->circuit, strlen(m->params->circuit));
    if (SHA256(text, sizeof text, m->key) == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "SHA-256 of libcrypto failed");
    uint32_t words[16];
    random_words(words, m, IDENTITY, 0, 0);
    owner->miner = MINER;
    owner->sector_number = words[0] % 1000000;
    random_bytes(m->sector->ticket, m, IDENTITY, 0, 1);
    random_bytes(m->sector->seed, m, IDENTITY, 0, 2);

    cuzk_status status = zero_data(m, err);
    uint8_t prover_id[32];
    cuzk_porep_prover_id(prover_id, owner->miner);
    if (status == CUZK_OK)
        status =
            cuzk_porep_replica_id(&m->sector->replica_id, m->params, prover_id,
                                  owner->sector_number, m->sector->ticket, &m->sector->comm_d, err);
    return status;
}

static int by_node(const void *a, const void *b)
{
    uint32_t x = ((const struct column *)a)->node, y = ((const struct column *)b)->node;
    return x < y ? -1 : x > y;
}

static struct column *find_column(const struct mock *m, uint32_t node)
{
    uint32_t low = 0, high = m->column_count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (m->columns[mid].node < node)
            low = mid + 1;
        else
            high = mid;
    }
    return &m->columns[low];
}

/* Challenges, their parents, and the list of all nodes whose columns are opened. */
static cuzk_status open_nodes(struct mock *m, struct cuzk_error *err)
{
    const struct cuzk_porep_params *params = m->params;
    struct cuzk_porep_statement statement;
    cuzk_porep_statement_of(&statement, m->sector);
    uint32_t n = 0;
    for (uint32_t k = 0; k < params->partitions; k++) {
        uint32_t nodes[CUZK_POREP_MAX_CHALLENGES];
        cuzk_status status = cuzk_porep_challenges(nodes, &statement, k, err);
        if (status != CUZK_OK)
            return status;
        for (uint32_t i = 0; i < params->challenges; i++) {
            struct cuzk_porep_challenge *c = &m->sector->challenges[k * params->challenges + i];
            uint32_t parents[CUZK_POREP_PARENTS];
            status = cuzk_porep_parents(parents, &m->graph, nodes[i], err);
            if (status != CUZK_OK)
                return status;
            c->node = c->own.node = nodes[i];
            m->columns[n++] = (struct column){.node = nodes[i], .challenged = true};
            for (int j = 0; j < CUZK_POREP_PARENTS; j++) {
                m->columns[n++].node = parents[j];
                if (j < CUZK_POREP_DRG)
                    c->drg[j].node = parents[j];
                else
                    c->exp[j - CUZK_POREP_DRG].node = parents[j];
            }
        }
    }
    qsort(m->columns, n, sizeof m->columns[0], by_node);
    m->column_count = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (m->column_count != 0 && m->columns[m->column_count - 1].node == m->columns[i].node)
            m->columns[m->column_count - 1].challenged |= m->columns[i].challenged;
        else
            m->columns[m->column_count++] = m->columns[i];
    }
    return CUZK_OK;
}

/* --- labels ----------------------------------------------------------------------------------- */

/* SHA-256 of replica id, layer, node and 37 labels of parents (create_label in rust-fil-proofs). */
static cuzk_status compute_label(struct mock *m, struct column *column, uint32_t layer,
                                 const uint32_t parents[CUZK_POREP_PARENTS], struct cuzk_error *err)
{
    uint8_t data[64 + 32 * CUZK_POREP_LABEL_PARENTS] = {0};
    bls12_381_fr_to_le(data, &m->sector->replica_id);
    for (int i = 0; i < 4; i++) {
        data[32 + i] = (uint8_t)(layer >> (24 - 8 * i));
        data[40 + i] = (uint8_t)(column->node >> (24 - 8 * i)); /* 64 bits, big-endian */
    }
    uint32_t count = layer == 1 ? CUZK_POREP_DRG : CUZK_POREP_PARENTS;
    for (uint32_t i = 0; i < CUZK_POREP_LABEL_PARENTS; i++) {
        uint32_t k = i % count;
        const struct column *parent = find_column(m, parents[k]);
        bls12_381_fr_to_le(data + 64 + (size_t)32 * i,
                           &parent->rows[k < CUZK_POREP_DRG ? layer - 1 : layer - 2]);
    }
    return sha_to_fr(&column->rows[layer - 1], data, sizeof data, err);
}

/* Layer by layer, nodes ascending: a DRG parent is below its child, an expander parent in the layer
 * before, so each label is there when it is hashed. */
static cuzk_status make_labels(struct mock *m, struct cuzk_error *err)
{
    for (uint32_t layer = 1; layer <= m->params->layers; layer++) {
        for (uint32_t i = 0; i < m->column_count; i++) {
            struct column *column = &m->columns[i];
            if (!column->challenged) {
                random_fr(&column->rows[layer - 1], m, LABEL, layer, column->node);
                continue;
            }
            uint32_t parents[CUZK_POREP_PARENTS];
            cuzk_status status = cuzk_porep_parents(parents, &m->graph, column->node, err);
            if (status == CUZK_OK)
                status = compute_label(m, column, layer, parents, err);
            if (status != CUZK_OK)
                return status;
        }
    }
    return CUZK_OK;
}

/* --- sparse trees ------------------------------------------------------------------------------
 */

static void free_tree(struct tree *tree)
{
    for (int i = 0; i <= CUZK_POREP_MAX_LEVELS; i++) {
        cuzk_free(tree->levels[i].nodes);
        cuzk_free(tree->levels[i].values);
    }
}

static cuzk_status create_level(struct level *level, uint32_t capacity, struct cuzk_error *err)
{
    level->nodes = cuzk_calloc(capacity, sizeof *level->nodes);
    level->values = cuzk_calloc(capacity, sizeof *level->values);
    if (level->nodes == NULL || level->values == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "out of memory for the trees of a mock sector");
    return CUZK_OK;
}

static void tree_node(struct bls12_381_fr *out, const struct mock *m, const struct tree *tree,
                      uint32_t level, uint32_t node)
{
    const struct level *l = &tree->levels[level];
    uint32_t low = 0, high = l->count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (l->nodes[mid] < node)
            low = mid + 1;
        else
            high = mid;
    }
    if (low < l->count && l->nodes[low] == node)
        *out = l->values[low];
    else
        random_fr(out, m, tree->use, level, node);
}

/* Leaves are set; the levels above them, to the root. */
static cuzk_status hash_tree(struct bls12_381_fr *root, const struct mock *m, struct tree *tree,
                             struct cuzk_error *err)
{
    uint32_t levels = cuzk_porep_levels(m->params);
    for (uint32_t level = 0; level < levels; level++) {
        const struct level *below = &tree->levels[level];
        struct level *above = &tree->levels[level + 1];
        cuzk_status status = create_level(above, below->count, err);
        if (status != CUZK_OK)
            return status;
        uint32_t arity = cuzk_porep_arity(m->params, level);
        const struct cuzk_poseidon *poseidon = cuzk_poseidon(arity);
        if (poseidon == NULL)
            return cuzk_fail(err, CUZK_E_INTERNAL, "no Poseidon of arity %u", arity);
        for (uint32_t i = 0; i < below->count; i++) {
            uint32_t parent = below->nodes[i] / arity;
            if (above->count != 0 && above->nodes[above->count - 1] == parent)
                continue;
            struct bls12_381_fr children[CUZK_POREP_MAX_ARITY];
            for (uint32_t j = 0; j < arity; j++)
                tree_node(&children[j], m, tree, level, parent * arity + j);
            above->nodes[above->count] = parent;
            cuzk_poseidon_hash(&above->values[above->count], poseidon, children);
            above->count++;
        }
    }
    *root = tree->levels[levels].values[0];
    return CUZK_OK;
}

static void open_path(struct bls12_381_fr *siblings, const struct mock *m, const struct tree *tree,
                      uint32_t node)
{
    for (uint32_t level = 0; level < cuzk_porep_levels(m->params); level++) {
        uint32_t arity = cuzk_porep_arity(m->params, level), first = node - node % arity;
        for (uint32_t j = 0; j < arity; j++)
            if (first + j != node)
                tree_node(siblings++, m, tree, level, first + j);
        node /= arity;
    }
}

static cuzk_status make_trees(struct mock *m, struct cuzk_error *err)
{
    const struct cuzk_poseidon *hash = cuzk_poseidon(m->params->layers), *two = cuzk_poseidon(2);
    if (hash == NULL || two == NULL)
        return cuzk_fail(err, CUZK_E_INTERNAL, "no Poseidon of arity %u", m->params->layers);
    m->c.use = TREE_C;
    m->r.use = TREE_R;
    struct level *c = &m->c.levels[0], *r = &m->r.levels[0];
    cuzk_status status = create_level(c, m->column_count, err);
    if (status == CUZK_OK)
        status = create_level(r, m->column_count, err);
    if (status != CUZK_OK)
        return status;
    for (uint32_t i = 0; i < m->column_count; i++) {
        const struct column *column = &m->columns[i];
        c->nodes[c->count] = column->node;
        cuzk_poseidon_hash(&c->values[c->count++], hash, column->rows);
        if (column->challenged) {
            /* the encoded node is the last label plus the data, zero here */
            r->nodes[r->count] = column->node;
            r->values[r->count++] = column->rows[m->params->layers - 1];
        }
    }
    status = hash_tree(&m->sector->comm_c, m, &m->c, err);
    if (status == CUZK_OK)
        status = hash_tree(&m->sector->comm_r_last, m, &m->r, err);
    if (status != CUZK_OK)
        return status;
    const struct bls12_381_fr both[2] = {m->sector->comm_c, m->sector->comm_r_last};
    cuzk_poseidon_hash(&m->sector->comm_r, two, both);
    return CUZK_OK;
}

static void open_column(struct cuzk_porep_column *out, const struct mock *m)
{
    const struct column *column = find_column(m, out->node);
    memcpy(out->rows, column->rows, m->params->layers * sizeof column->rows[0]);
    out->leaf = m->c.levels[0].values[column - m->columns];
    open_path(out->siblings, m, &m->c, out->node);
}

static void open_challenges(struct mock *m)
{
    for (uint32_t i = 0; i < m->challenge_count; i++) {
        struct cuzk_porep_challenge *c = &m->sector->challenges[i];
        tree_node(&c->replica_leaf, m, &m->r, 0, c->node);
        open_path(c->replica_siblings, m, &m->r, c->node);
        open_column(&c->own, m);
        for (int j = 0; j < CUZK_POREP_DRG; j++)
            open_column(&c->drg[j], m);
        for (int j = 0; j < CUZK_POREP_EXP; j++)
            open_column(&c->exp[j], m);
    }
}

static cuzk_status make(struct mock *m, struct cuzk_porep_owner *owner, uint64_t seed,
                        struct cuzk_budget *budget, struct cuzk_error *err)
{
    cuzk_status status = cuzk_porep_sector_create(&m->sector, m->params, budget, err);
    if (status != CUZK_OK)
        return status;
    m->challenge_count = m->sector->challenge_count;
    m->columns =
        cuzk_calloc((size_t)m->challenge_count * (1 + CUZK_POREP_PARENTS), sizeof m->columns[0]);
    if (m->columns == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "out of memory for the columns of a mock sector");
    status = cuzk_porep_graph_init(&m->graph, m->params, err);
    if (status == CUZK_OK)
        status = identify(m, owner, seed, err);
    if (status == CUZK_OK)
        status = open_nodes(m, err);
    if (status == CUZK_OK)
        status = make_labels(m, err);
    if (status == CUZK_OK)
        status = make_trees(m, err);
    if (status == CUZK_OK)
        open_challenges(m);
    return status;
}

cuzk_status cuzk_porep_mock(struct cuzk_porep_sector **out, struct cuzk_porep_owner *owner,
                            const struct cuzk_porep_params *params, uint64_t seed,
                            struct cuzk_budget *budget, struct cuzk_error *err)
{
    *out = NULL;
    if (params->feature != CUZK_POREP_INTERACTIVE)
        return cuzk_fail(err, CUZK_E_UNSUPPORTED,
                         "%s: a mock sector has interactive challenges; choose StackedDrg…V1_1",
                         params->registered);
    struct mock m = {.params = params};
    cuzk_status status = make(&m, owner, seed, budget, err);
    if (status == CUZK_OK)
        *out = m.sector;
    else
        cuzk_porep_sector_destroy(m.sector);
    free_tree(&m.c);
    free_tree(&m.r);
    cuzk_free(m.columns);
    cuzk_porep_graph_clear(&m.graph);
    return status;
}
