/* The vanilla proof checked with plain hashes, as the network's own verifier does it; what a mock
 * sector must pass as sealed ones do. */
#ifndef CUZK_TESTS_UNIT_CIRCUIT_VANILLA_H
#define CUZK_TESTS_UNIT_CIRCUIT_VANILLA_H

#include "unit/test.h"

#include <openssl/sha.h>

#include "circuit/porep.h"
#include "circuit/poseidon.h"

static inline void vanilla_sha(struct bls12_381_fr *out, const uint8_t *data, size_t size)
{
    uint8_t hash[32];
    assert_non_null(SHA256(data, size, hash));
    hash[31] &= 0x3f;
    assert_true(bls12_381_fr_from_le(out, hash));
}

static inline void vanilla_root(struct bls12_381_fr *root, const struct cuzk_porep_params *p,
                                const struct bls12_381_fr *leaf,
                                const struct bls12_381_fr *siblings, uint32_t node)
{
    *root = *leaf;
    for (uint32_t level = 0; level < cuzk_porep_levels(p); level++) {
        uint32_t arity = cuzk_porep_arity(p, level), place = node % arity;
        struct bls12_381_fr children[CUZK_POREP_MAX_ARITY];
        for (uint32_t i = 0; i < arity; i++)
            children[i] = i == place ? *root : *siblings++;
        cuzk_poseidon_hash(root, cuzk_poseidon(arity), children);
        node /= arity;
    }
}

static inline void vanilla_data_root(struct bls12_381_fr *root, const struct cuzk_porep_params *p,
                                     const struct cuzk_porep_challenge *c)
{
    *root = c->data_leaf;
    for (uint32_t level = 0; level < p->data_levels; level++) {
        uint8_t pair[64];
        bool right = c->node >> level & 1;
        bls12_381_fr_to_le(pair + (right ? 32 : 0), root);
        bls12_381_fr_to_le(pair + (right ? 0 : 32), &c->data_siblings[level]);
        vanilla_sha(root, pair, sizeof pair);
    }
}

static inline void vanilla_column(const struct cuzk_porep_sector *s,
                                  const struct cuzk_porep_column *column)
{
    struct bls12_381_fr hash, root;
    cuzk_poseidon_hash(&hash, cuzk_poseidon(s->params->layers), column->rows);
    assert_true(bls12_381_fr_eq(&hash, &column->leaf));
    vanilla_root(&root, s->params, &hash, column->siblings, column->node);
    assert_true(bls12_381_fr_eq(&root, &s->comm_c));
}

static inline void vanilla_labels(const struct cuzk_porep_sector *s,
                                  const struct cuzk_porep_challenge *c)
{
    for (uint32_t layer = 1; layer <= s->params->layers; layer++) {
        uint8_t data[64 + 32 * CUZK_POREP_LABEL_PARENTS] = {0};
        bls12_381_fr_to_le(data, &s->replica_id);
        data[35] = (uint8_t)layer;
        for (int i = 0; i < 4; i++)
            data[40 + i] = (uint8_t)(c->node >> (24 - 8 * i));
        uint32_t count = layer == 1 ? CUZK_POREP_DRG : CUZK_POREP_PARENTS;
        for (uint32_t i = 0; i < CUZK_POREP_LABEL_PARENTS; i++) {
            uint32_t k = i % count;
            bls12_381_fr_to_le(data + 64 + (size_t)32 * i,
                               k < CUZK_POREP_DRG ? &c->drg[k].rows[layer - 1]
                                                  : &c->exp[k - CUZK_POREP_DRG].rows[layer - 2]);
        }
        struct bls12_381_fr label;
        vanilla_sha(&label, data, sizeof data);
        assert_true(bls12_381_fr_eq(&label, &c->own.rows[layer - 1]));
    }
}

/* Every challenge of a small sector, every seventeenth of a big one (so all
 * places in a partition occur). */
static inline void vanilla_verify(const struct cuzk_porep_sector *s)
{
    const uint32_t step = s->challenge_count > 20 ? 17 : 1;
    struct bls12_381_fr root;
    const struct bls12_381_fr both[2] = {s->comm_c, s->comm_r_last};
    cuzk_poseidon_hash(&root, cuzk_poseidon(2), both);
    assert_true(bls12_381_fr_eq(&root, &s->comm_r));
    for (uint32_t i = 0; i < s->challenge_count; i += step) {
        const struct cuzk_porep_challenge *c = &s->challenges[i];
        vanilla_data_root(&root, s->params, c);
        assert_true(bls12_381_fr_eq(&root, &s->comm_d));
        vanilla_root(&root, s->params, &c->replica_leaf, c->replica_siblings, c->node);
        assert_true(bls12_381_fr_eq(&root, &s->comm_r_last));
        assert_int_equal(c->own.node, c->node);
        vanilla_column(s, &c->own);
        for (int j = 0; j < CUZK_POREP_DRG; j++)
            vanilla_column(s, &c->drg[j]);
        for (int j = 0; j < CUZK_POREP_EXP; j++)
            vanilla_column(s, &c->exp[j]);
        vanilla_labels(s, c);
        bls12_381_fr_add(&root, &c->own.rows[s->params->layers - 1], &c->data_leaf);
        assert_true(bls12_381_fr_eq(&root, &c->replica_leaf));
    }
}

#endif
