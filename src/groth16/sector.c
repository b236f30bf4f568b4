/* Sectors for users of the library: C1 read and checked, and a witness that says what the statement
 * says. The steps are those of circuit/ and format/; this file puts them in the order in which
 * nothing unchecked gets through.
 */
#include "cuzk/sector.h"

#include <string.h>

#include "base/alloc.h"
#include "circuit/porep_circuit.h"
#include "circuit/porep_statement.h"
#include "format/c1.h"
#include "groth16/groth16.h"

struct cuzk_sector {
    struct cuzk_context *context;
    struct cuzk_porep_sector *porep;
    char *path;
};

cuzk_status cuzk_sector_open(struct cuzk_sector **out, struct cuzk_context *context, const char *c1,
                             const char *circuit, struct cuzk_error *err)
{
    const struct cuzk_porep_params *params = NULL;
    *out = NULL;
    if (circuit != NULL && (params = cuzk_porep_by_circuit(circuit)) == NULL)
        return cuzk_fail(err, CUZK_E_ARGUMENT, "%s is no PoRep circuit", circuit);
    struct cuzk_sector *sector = cuzk_calloc(1, sizeof *sector);
    if (sector == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "%s: out of memory", c1);
    sector->context = context;
    cuzk_context_retain(context);
    cuzk_status status = CUZK_OK;
    sector->path = cuzk_strdup(c1);
    if (sector->path == NULL)
        status = cuzk_fail(err, CUZK_E_MEMORY, "%s: out of memory", c1);
    if (status == CUZK_OK)
        status = cuzk_c1_read(&sector->porep, c1, params, context->host, err);
    if (status == CUZK_OK) {
        status = cuzk_porep_check(sector->porep, err);
        if (status != CUZK_OK)
            (void)cuzk_fail_prefix(err, status, "%s", c1);
    }
    if (status != CUZK_OK) {
        cuzk_sector_free(sector);
        return status;
    }
    *out = sector;
    return CUZK_OK;
}

void cuzk_sector_free(struct cuzk_sector *sector)
{
    if (sector == NULL)
        return;
    cuzk_porep_sector_destroy(sector->porep);
    cuzk_free(sector->path);
    cuzk_context_free(sector->context);
    cuzk_free(sector);
}

const char *cuzk_sector_circuit(const struct cuzk_sector *sector)
{
    return sector->porep->params->circuit;
}

const char *cuzk_sector_registered_proof(const struct cuzk_sector *sector)
{
    return sector->porep->params->registered;
}

uint32_t cuzk_sector_partitions(const struct cuzk_sector *sector)
{
    return sector->porep->params->partitions;
}

uint32_t cuzk_sector_inputs_each(const struct cuzk_sector *sector)
{
    return cuzk_porep_inputs(sector->porep->params);
}

cuzk_status cuzk_sector_check_owner(const struct cuzk_sector *sector, uint64_t miner,
                                    uint64_t sector_number, struct cuzk_error *err)
{
    uint8_t prover[32];
    cuzk_porep_prover_id(prover, miner);
    cuzk_status status = cuzk_porep_check_owner(sector->porep, prover, sector_number, err);
    return status == CUZK_OK ? status : cuzk_fail_prefix(err, status, "%s", sector->path);
}

/* The statement's inputs of a partition in *inputs, freed by cuzk_free. */
static cuzk_status statement_inputs(struct bls12_381_fr **inputs,
                                    const struct cuzk_porep_sector *sector, uint32_t partition,
                                    struct cuzk_error *err)
{
    struct cuzk_porep_statement statement;
    uint32_t n = cuzk_porep_inputs(sector->params);
    *inputs = NULL;
    if (partition >= sector->params->partitions)
        return cuzk_fail(err, CUZK_E_ARGUMENT, "partition %u of %u", partition,
                         sector->params->partitions);
    *inputs = cuzk_calloc(n, sizeof **inputs);
    if (*inputs == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "out of memory for %u public inputs", n);
    cuzk_porep_statement_of(&statement, sector);
    cuzk_status status = cuzk_porep_public_inputs(*inputs, &statement, partition, err);
    if (status != CUZK_OK) {
        cuzk_free(*inputs);
        *inputs = NULL;
    }
    return status;
}

cuzk_status cuzk_partition_witness(struct cuzk_witness **out, const struct cuzk_circuit *circuit,
                                   const struct cuzk_porep_sector *sector, uint32_t partition,
                                   struct cuzk_budget *budget, struct cuzk_error *err)
{
    struct cuzk_porep_vanilla vanilla;
    struct bls12_381_fr *inputs;
    uint32_t n = cuzk_porep_inputs(sector->params);
    *out = NULL;
    cuzk_status status = statement_inputs(&inputs, sector, partition, err);
    if (status != CUZK_OK)
        return status;
    cuzk_porep_partition(&vanilla, sector, partition);
    status = cuzk_porep_witness(out, circuit, &vanilla, budget, err);
    if (status == CUZK_OK && ((*out)->input_count != n + 1 ||
                              memcmp((*out)->inputs + 1, inputs, n * sizeof *inputs) != 0)) {
        cuzk_witness_destroy(*out);
        *out = NULL;
        status =
            cuzk_fail(err, CUZK_E_INPUT, "the opened nodes are not those that the seed challenges");
    }
    cuzk_free(inputs);
    return status;
}

cuzk_status cuzk_sector_inputs(uint8_t *out, const struct cuzk_sector *sector, uint32_t partition,
                               struct cuzk_error *err)
{
    struct bls12_381_fr *inputs;
    cuzk_status status = statement_inputs(&inputs, sector->porep, partition, err);
    if (status != CUZK_OK)
        return cuzk_fail_prefix(err, status, "%s", sector->path);
    for (uint32_t i = 0; i < cuzk_sector_inputs_each(sector); i++)
        bls12_381_fr_to_le(out + (size_t)CUZK_FIELD_BYTES * i, &inputs[i]);
    cuzk_free(inputs);
    return CUZK_OK;
}

cuzk_status cuzk_sector_witness(struct cuzk_witness **out, const struct cuzk_sector *sector,
                                const struct cuzk_relation *relation, uint32_t partition,
                                struct cuzk_error *err)
{
    *out = NULL;
    if (strcmp(relation->circuit->name, cuzk_sector_circuit(sector)) != 0)
        return cuzk_fail(err, CUZK_E_MISMATCH, "%s is a sector of %s, not of %s", sector->path,
                         cuzk_sector_circuit(sector), relation->circuit->name);
    cuzk_status status = cuzk_partition_witness(out, relation->circuit, sector->porep, partition,
                                                sector->context->host, err);
    return status == CUZK_OK
               ? status
               : cuzk_fail_prefix(err, status, "%s: partition %u", sector->path, partition);
}
