/* The registered proofs, and the allocation that holds a sector's vanilla proof (see porep.h).
 *
 * The table is written by size and by family: a registered proof is a size with the graph and the
 * challenges of its family, and its number counts up in that order.
 */
#include "circuit/porep.h"

#include <stdio.h>
#include <string.h>

/* size, bytes, log2(nodes), layers, levels of arity 8, sub, top, challenges a partition,
 * partitions */
#define SIZES(X, family, first, minor, feature)                                                    \
    X(2KiB, 11, 2, 2, 0, 0, 2, 1, family, first + 0, minor, feature)                               \
    X(8MiB, 23, 2, 6, 0, 0, 2, 1, family, first + 1, minor, feature)                               \
    X(512MiB, 29, 2, 8, 0, 0, 2, 1, family, first + 2, minor, feature)                             \
    X(32GiB, 35, 11, 9, 8, 0, 18, 10, family, first + 3, minor, feature)                           \
    X(64GiB, 36, 11, 9, 8, 2, 18, 10, family, first + 4, minor, feature)

#define ENTRY(size, log_bytes, layers_, levels, sub, top, challenges_, partitions_, family, id,    \
              minor, feature_)                                                                     \
    {.registered = "StackedDrg" #size family,                                                      \
     .circuit = "porep-" #size,                                                                    \
     .variant = "StackedDrg" #size "V1",                                                           \
     .number = id,                                                                                 \
     .feature = feature_,                                                                          \
     .api_minor = minor,                                                                           \
     .porep_id = {id},                                                                             \
     .sector_size = UINT64_C(1) << log_bytes,                                                      \
     .nodes = UINT32_C(1) << (log_bytes - 5),                                                      \
     .layers = layers_,                                                                            \
     .data_levels = log_bytes - 5,                                                                 \
     .base_levels = levels,                                                                        \
     .base_arity = 8,                                                                              \
     .sub_arity = sub,                                                                             \
     .top_arity = top,                                                                             \
     .challenges = challenges_,                                                                    \
     .partitions = partitions_},

/* Synthetic challenges came with version 1.2, though their names say 1_1. The counts of the
 * non-interactive proofs (more partitions) are not given: they are refused by name. */
static const struct cuzk_porep_params table[] = {
    SIZES(ENTRY, "V1", 0, 0, CUZK_POREP_INTERACTIVE)
        SIZES(ENTRY, "V1_1", 5, 1, CUZK_POREP_INTERACTIVE)
            SIZES(ENTRY, "V1_1_Feat_SyntheticPoRep", 10, 2, CUZK_POREP_SYNTHETIC)
                SIZES(ENTRY, "V1_2_Feat_NonInteractivePoRep", 15, 2,
                      CUZK_POREP_NON_INTERACTIVE){.registered = "StackedDrg32GiBV1_1",
                                                  .circuit = "porep-mini32",
                                                  .variant = "StackedDrg32GiBV1",
                                                  .number = 8,
                                                  .feature = CUZK_POREP_INTERACTIVE,
                                                  .api_minor = 1,
                                                  .porep_id = {8},
                                                  .sector_size = 16384,
                                                  .nodes = 512,
                                                  .layers = 11,
                                                  .data_levels = 9,
                                                  .base_levels = 2,
                                                  .base_arity = 8,
                                                  .sub_arity = 8,
                                                  .challenges = 2,
                                                  .partitions = 1},
};
enum { TABLE = sizeof table / sizeof table[0], REGISTERED = TABLE - 1 };

const struct cuzk_porep_params *cuzk_porep_table(size_t *count)
{
    if (count != NULL)
        *count = TABLE;
    return table;
}

const struct cuzk_porep_params *cuzk_porep_by_circuit(const char *name)
{
    for (size_t i = 0; i < TABLE; i++)
        if (table[i].api_minor == 1 && strcmp(table[i].circuit, name) == 0)
            return &table[i];
    return NULL;
}

const struct cuzk_porep_params *cuzk_porep_by_registered(const char *name)
{
    for (size_t i = 0; i < REGISTERED; i++)
        if (strcmp(table[i].registered, name) == 0)
            return &table[i];
    return NULL;
}

uint32_t cuzk_porep_levels(const struct cuzk_porep_params *params)
{
    return params->base_levels + (params->sub_arity != 0) + (params->top_arity != 0);
}

uint32_t cuzk_porep_arity(const struct cuzk_porep_params *params, uint32_t level)
{
    if (level < params->base_levels)
        return params->base_arity;
    return level == params->base_levels ? params->sub_arity : params->top_arity;
}

uint32_t cuzk_porep_siblings(const struct cuzk_porep_params *params)
{
    uint32_t n = 0;
    for (uint32_t level = 0; level < cuzk_porep_levels(params); level++)
        n += cuzk_porep_arity(params, level) - 1;
    return n;
}

void cuzk_porep_digits(uint8_t *out, const struct cuzk_porep_params *params, uint32_t node)
{
    for (uint32_t level = 0; level < cuzk_porep_levels(params); level++) {
        uint32_t arity = cuzk_porep_arity(params, level);
        out[level] = (uint8_t)(node % arity);
        node /= arity;
    }
}

uint32_t cuzk_porep_inputs(const struct cuzk_porep_params *params)
{
    return 3 + CUZK_POREP_CHALLENGE_INPUTS * params->challenges;
}

static void take_column(struct cuzk_porep_column *column, struct bls12_381_fr **slab,
                        const struct cuzk_porep_params *params)
{
    column->rows = *slab;
    *slab += params->layers;
    column->siblings = *slab;
    *slab += cuzk_porep_siblings(params);
}

cuzk_status cuzk_porep_sector_create(struct cuzk_porep_sector **out,
                                     const struct cuzk_porep_params *params,
                                     struct cuzk_budget *budget, struct cuzk_error *err)
{
    *out = NULL;
    uint32_t count = params->partitions * params->challenges;
    uint32_t siblings = cuzk_porep_siblings(params);
    uint64_t elements = params->data_levels + siblings +
                        (1 + CUZK_POREP_PARENTS) * (uint64_t)(params->layers + siblings);
    uint64_t head = sizeof(struct cuzk_porep_sector) + count * sizeof(struct cuzk_porep_challenge);
    uint64_t bytes = head + count * elements * sizeof(struct bls12_381_fr);

    void *memory;
    cuzk_status status = cuzk_budget_alloc(budget, &memory, CUZK_PURPOSE_JSON, bytes, err);
    if (status != CUZK_OK)
        return status;
    struct cuzk_porep_sector *sector = memory;
    sector->params = params;
    sector->budget = budget;
    sector->charged = bytes;
    sector->challenge_count = count;
    sector->challenges = (struct cuzk_porep_challenge *)(sector + 1);
    struct bls12_381_fr *slab = (struct bls12_381_fr *)(sector->challenges + count);
    for (uint32_t i = 0; i < count; i++) {
        struct cuzk_porep_challenge *c = &sector->challenges[i];
        c->data_siblings = slab;
        slab += params->data_levels;
        c->replica_siblings = slab;
        slab += siblings;
        take_column(&c->own, &slab, params);
        for (int j = 0; j < CUZK_POREP_DRG; j++)
            take_column(&c->drg[j], &slab, params);
        for (int j = 0; j < CUZK_POREP_EXP; j++)
            take_column(&c->exp[j], &slab, params);
    }
    *out = sector;
    return CUZK_OK;
}

void cuzk_porep_sector_destroy(struct cuzk_porep_sector *sector)
{
    if (sector != NULL)
        cuzk_budget_free(sector->budget, sector, CUZK_PURPOSE_JSON, sector->charged);
}

void cuzk_porep_partition(struct cuzk_porep_vanilla *out, const struct cuzk_porep_sector *sector,
                          uint32_t partition)
{
    *out = (struct cuzk_porep_vanilla){
        .params = sector->params,
        .partition = partition,
        .replica_id = sector->replica_id,
        .comm_d = sector->comm_d,
        .comm_r = sector->comm_r,
        .comm_r_last = sector->comm_r_last,
        .comm_c = sector->comm_c,
        .challenges = sector->challenges + (size_t)partition * sector->params->challenges,
    };
}

const char *cuzk_porep_json_path(char out[CUZK_POREP_PATH_SIZE],
                                 const struct cuzk_porep_params *params, uint32_t partition,
                                 uint32_t challenge)
{
    (void)snprintf(out, CUZK_POREP_PATH_SIZE, "vanilla_proofs.%s[%u][%u]", params->variant,
                   partition, challenge);
    return out;
}
