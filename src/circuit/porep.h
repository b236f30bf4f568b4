/* Proof-of-Replication: what the registered proofs are, and the vanilla proof of a sector (what
 * commit phase 1 opens) as the circuit consumes it.
 *
 * A sector has `nodes` nodes of 32 bytes and `layers` layers of labels. A challenged node opens
 * - its data in tree D (SHA-256, binary, root comm_d),
 * - its replica in tree R (Poseidon, root comm_r_last),
 * - its column, the labels of all layers, and the columns of its six DRG and eight expander
 *   parents, each in tree C (Poseidon over column hashes, root comm_c).
 * comm_r is Poseidon of comm_c and comm_r_last. Labels and the encoding key are recomputed from
 * the opened columns, so C1's labeling and encoding proofs, which repeat them, are compared with
 * the columns by the parser (format/c1.h) and not kept.
 *
 * Trees R and C have one to three parts: levels of arity base_arity, then one level of sub_arity
 * and one of top_arity where those are not zero. A path has no index of its own: its digits are
 * those of the node, lowest level first, in this mixed radix.
 *
 * Source of the numbers: rust-fil-proofs 19 (filecoin-proofs/src/constants.rs, parameters.rs) and
 * rust-filecoin-proofs-api 19 (src/registry.rs).
 */
#ifndef CUZK_CIRCUIT_POREP_H
#define CUZK_CIRCUIT_POREP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/budget.h"
#include "curve/bls12_381/fields.h"
#include "cuzk/errors.h"

enum {
    CUZK_POREP_DRG = 6,            /* parents of a node in its own layer */
    CUZK_POREP_EXP = 8,            /* parents in the layer before */
    CUZK_POREP_PARENTS = 14,       /* both */
    CUZK_POREP_LABEL_PARENTS = 37, /* hashed for a label: the parents over and over */
    CUZK_POREP_MAX_LAYERS = 11,
    CUZK_POREP_MAX_CHALLENGES = 18,  /* a partition */
    CUZK_POREP_MAX_LEVELS = 31,      /* of tree D */
    CUZK_POREP_MAX_ARITY = 8,        /* of trees R and C */
    CUZK_POREP_CHALLENGE_INPUTS = 18 /* public inputs a challenge */
};

enum cuzk_porep_feature {
    CUZK_POREP_INTERACTIVE,
    CUZK_POREP_SYNTHETIC,
    CUZK_POREP_NON_INTERACTIVE /* known by name, refused */
};

struct cuzk_porep_params {
    const char *registered; /* "StackedDrg32GiBV1_1" */
    const char *circuit;    /* "porep-32GiB": shared by all registered proofs of a size */
    const char *variant;    /* "StackedDrg32GiBV1": the key inside C1's vanilla_proofs */
    uint32_t number;        /* of the registered proof */
    enum cuzk_porep_feature feature;
    uint8_t api_minor; /* of version 1.x; 0 is the older graph */
    uint8_t porep_id[32];
    uint64_t sector_size; /* bytes */
    uint32_t nodes;       /* sector_size / 32 */
    uint32_t layers;
    uint32_t data_levels; /* of tree D: log2(nodes) */
    uint32_t base_levels; /* of trees R and C: levels of base_arity */
    uint32_t base_arity, sub_arity, top_arity;
    uint32_t challenges; /* a partition */
    uint32_t partitions;
};

/* All registered proofs in the network's order, then the development miniature; count may be NULL.
 */
const struct cuzk_porep_params *cuzk_porep_table(size_t *count);

/* NULL when there is no such name. A circuit's name ("porep-2KiB" … "porep-64GiB",
 * "porep-mini32") gives the V1_1 interactive proof of that size; a registered name never gives
 * the miniature, whose C1 says StackedDrg32GiBV1_1: it is chosen by circuit name alone. */
const struct cuzk_porep_params *cuzk_porep_by_circuit(const char *name);
const struct cuzk_porep_params *cuzk_porep_by_registered(const char *name);

/* Shape of a path in trees R and C: levels, arity of a level (0 is next to the leaf), siblings in
 * all. */
uint32_t cuzk_porep_levels(const struct cuzk_porep_params *params);
uint32_t cuzk_porep_arity(const struct cuzk_porep_params *params, uint32_t level);
uint32_t cuzk_porep_siblings(const struct cuzk_porep_params *params);

/* The node's digit at each of cuzk_porep_levels levels: its place among its siblings. */
void cuzk_porep_digits(uint8_t *out, const struct cuzk_porep_params *params, uint32_t node);

/* Public inputs of one partition, the constant one not counted: 3 + 18·challenges. */
uint32_t cuzk_porep_inputs(const struct cuzk_porep_params *params);

/* A column and its place in tree C. */
struct cuzk_porep_column {
    uint32_t node;
    struct bls12_381_fr leaf;      /* the column's hash as C1 claims it: unchecked here */
    struct bls12_381_fr *rows;     /* layers: the node's label in layer 1, 2 … */
    struct bls12_381_fr *siblings; /* of tree C: (arity - 1) a level, leaf's level first, in order
                                      of place with the path's own node left out */
};

struct cuzk_porep_challenge {
    uint32_t node;                         /* also own.node */
    struct bls12_381_fr data_leaf;         /* the node's data */
    struct bls12_381_fr *data_siblings;    /* of tree D: data_levels, leaf's level first */
    struct bls12_381_fr replica_leaf;      /* the encoded node */
    struct bls12_381_fr *replica_siblings; /* of tree R, shaped as in a column */
    struct cuzk_porep_column own;
    struct cuzk_porep_column drg[CUZK_POREP_DRG]; /* in the graph's order: labels depend on it */
    struct cuzk_porep_column exp[CUZK_POREP_EXP];
};

/* What commit phase 1 says of a whole sector. All field elements in Montgomery form.
 * Owner: the creator; read only once filled, then any thread may read it. */
struct cuzk_porep_sector {
    const struct cuzk_porep_params *params;
    struct bls12_381_fr replica_id, comm_d, comm_r, comm_r_last, comm_c;
    uint8_t seed[32], ticket[32];
    bool wrapped;                            /* C1 came in the clients' wrapper … */
    uint64_t sector_number;                  /* … which gave this number; else 0 */
    struct cuzk_porep_challenge *challenges; /* partition by partition */
    uint32_t challenge_count;                /* partitions · challenges */
    struct cuzk_budget *budget;              /* charged (CUZK_PURPOSE_JSON) */
    uint64_t charged;
};

/* A sector of the params' shape, all zero, its pointers set into one allocation: 45 KB a challenge
 * of 32 GiB, 8 MB in all. Destroy tolerates NULL. */
cuzk_status cuzk_porep_sector_create(struct cuzk_porep_sector **out,
                                     const struct cuzk_porep_params *params,
                                     struct cuzk_budget *budget, struct cuzk_error *err);
void cuzk_porep_sector_destroy(struct cuzk_porep_sector *sector);

/* One partition, as the circuit consumes it: a view into a sector, which must outlive it. */
struct cuzk_porep_vanilla {
    const struct cuzk_porep_params *params;
    uint32_t partition;
    struct bls12_381_fr replica_id, comm_d, comm_r, comm_r_last, comm_c;
    const struct cuzk_porep_challenge *challenges; /* params->challenges */
};
void cuzk_porep_partition(struct cuzk_porep_vanilla *out, const struct cuzk_porep_sector *sector,
                          uint32_t partition);

/* Where a challenge stands in C1, for error messages: writes
 * "vanilla_proofs.StackedDrg32GiBV1[3][7]" (params.variant, partition, challenge) and returns out.
 * Inside are comm_d_proofs, comm_r_last_proof, replica_column_proofs.{c_x, drg_parents[i],
 * exp_parents[i]}.{column.rows[layer - 1], inclusion_proof}. */
enum { CUZK_POREP_PATH_SIZE = 64 };
const char *cuzk_porep_json_path(char out[CUZK_POREP_PATH_SIZE],
                                 const struct cuzk_porep_params *params, uint32_t partition,
                                 uint32_t challenge);

#endif
