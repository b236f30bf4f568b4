/* Circuits by name or file, and public inputs from each kind of file. */
#include "circuits.h"

#include <string.h>

#include "base/alloc.h"
#include "circuit/dump.h"
#include "circuit/porep_circuit.h"
#include "format/c1.h"
#include "format/network_keys.h"
#include "format/snarkjs.h"

/* A circuit's name wins over a file's: a file called porep-2KiB is ./porep-2KiB. */
static cuzk_status absent(const char *circuit, struct cuzk_error *err)
{
    return cuzk_fail(err, CUZK_E_NOT_FOUND,
                     "%s: neither a circuit (porep-2KiB, porep-8MiB, porep-512MiB, porep-32GiB, "
                     "porep-64GiB, porep-mini32) nor a file",
                     circuit);
}

cuzk_status open_circuit(struct cuzk_circuit **out, const char *circuit, struct cuzk_error *err)
{
    const struct cuzk_porep_params *params = cuzk_porep_by_circuit(circuit);
    cuzk_status status = params != NULL ? cuzk_porep_circuit(out, params, NULL, err)
                                        : cuzk_dump_read(out, NULL, circuit, NULL, err);
    return status == CUZK_E_NOT_FOUND ? absent(circuit, err) : status;
}

cuzk_status open_relation(struct cuzk_relation **out, struct cuzk_witness **witness,
                          struct cuzk_context *context, const char *circuit, struct cuzk_error *err)
{
    cuzk_status status = cuzk_relation_open(out, witness, context, circuit, err);
    return status == CUZK_E_NOT_FOUND ? absent(circuit, err) : status;
}

cuzk_status network_key_path(char *out, size_t size, const struct cuzk_porep_params *params,
                             bool vk, struct cuzk_error *err)
{
    const struct cuzk_network_key *key =
        params != NULL ? cuzk_network_key_porep(params->sector_size) : NULL;
    if (key == NULL || strcmp(params->circuit, "porep-mini32") == 0)
        return cuzk_fail(err, CUZK_E_ARGUMENT,
                         "--%s is needed: the network has no key for this circuit",
                         vk ? "vk" : "params");
    return cuzk_network_key_path(out, size, key, vk, err);
}

cuzk_status read_sector(struct cuzk_porep_sector **out, const char *c1,
                        const struct cuzk_porep_params *circuit, struct cuzk_budget *budget,
                        struct cuzk_error *err)
{
    cuzk_status status = cuzk_c1_read(out, c1, circuit, budget, err);
    if (status != CUZK_OK)
        return status;
    status = cuzk_porep_check(*out, err);
    if (status != CUZK_OK) {
        cuzk_porep_sector_destroy(*out);
        *out = NULL;
        return cuzk_fail_prefix(err, status, "%s", c1);
    }
    return CUZK_OK;
}

cuzk_status check_owner(const struct cuzk_porep_sector *sector, const char *c1, uint64_t miner,
                        uint64_t number, struct cuzk_error *err)
{
    uint8_t prover[32];
    cuzk_porep_prover_id(prover, miner);
    cuzk_status status = cuzk_porep_check_owner(sector, prover, number, err);
    return status == CUZK_OK ? status : cuzk_fail_prefix(err, status, "%s", c1);
}

cuzk_status copy_witness(struct cuzk_witness **out, const struct cuzk_circuit *circuit,
                         const struct cuzk_witness *witness, struct cuzk_budget *budget,
                         struct cuzk_error *err)
{
    cuzk_status status = cuzk_witness_create(out, circuit, budget, err);
    if (status != CUZK_OK)
        return status;
    struct cuzk_witness *w = *out;
    memcpy(w->inputs, witness->inputs, w->input_count * sizeof *w->inputs);
    memcpy(w->bits, witness->bits, ((size_t)w->aux_count + 63) / 64 * sizeof *w->bits);
    memcpy(w->values, witness->values, w->dense_count * sizeof *w->values);
    return CUZK_OK;
}

void public_inputs_free(struct public_inputs *inputs)
{
    cuzk_free(inputs->values);
    *inputs = (struct public_inputs){0};
}

/* The inputs that a statement gives, partition by partition. */
static cuzk_status from_statement(struct public_inputs *out,
                                  const struct cuzk_porep_statement *statement,
                                  struct cuzk_error *err)
{
    uint32_t each = cuzk_porep_inputs(statement->params), count = statement->params->partitions;
    struct bls12_381_fr *values = cuzk_calloc((size_t)each * count, sizeof *values);
    if (values == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "out of memory for %u public inputs", each * count);
    for (uint32_t p = 0; p < count; p++) {
        cuzk_status status = cuzk_porep_public_inputs(values + (size_t)p * each, statement, p, err);
        if (status != CUZK_OK) {
            cuzk_free(values);
            return status;
        }
    }
    out->values = values;
    out->count = count;
    out->each = each;
    out->params = statement->params;
    return CUZK_OK;
}

const struct cuzk_porep_params *circuit_params(const char *circuit, struct cuzk_error *err)
{
    const struct cuzk_porep_params *params = cuzk_porep_by_circuit(circuit);
    if (params == NULL)
        (void)cuzk_fail(err, CUZK_E_ARGUMENT,
                        "--circuit %s: no such circuit; porep-mini32 is the one that files cannot "
                        "name themselves",
                        circuit);
    return params;
}

static cuzk_status from_meta(struct public_inputs *out, const struct input_source *source,
                             const struct cuzk_porep_params *circuit, struct cuzk_error *err)
{
    struct cuzk_meta meta;
    struct cuzk_porep_statement statement;
    uint8_t prover[32];
    cuzk_status status = cuzk_meta_read(&meta, source->statement, circuit, err);
    if (status != CUZK_OK)
        return status;
    if (source->miner_given) {
        cuzk_porep_prover_id(prover, source->miner);
        out->of_another = memcmp(prover, meta.prover_id, sizeof prover) != 0 ||
                          source->sector != meta.sector_number;
        if (memcmp(prover, meta.prover_id, sizeof prover) != 0)
            return cuzk_fail(err, CUZK_E_MISMATCH, "%s: prover_id is not that of miner %llu",
                             source->statement, (unsigned long long)source->miner);
        if (source->sector != meta.sector_number)
            return cuzk_fail(err, CUZK_E_MISMATCH, "%s: sector_number is %llu, not %llu",
                             source->statement, (unsigned long long)meta.sector_number,
                             (unsigned long long)source->sector);
    }
    status = cuzk_meta_statement(&statement, &meta, err);
    if (status == CUZK_OK)
        status = from_statement(out, &statement, err);
    if (status == CUZK_OK)
        out->owner_checked = true;
    return status;
}

static cuzk_status from_c1(struct public_inputs *out, const struct input_source *source,
                           const struct cuzk_porep_params *circuit, struct cuzk_error *err)
{
    struct cuzk_porep_sector *sector;
    struct cuzk_porep_statement statement;
    cuzk_status status = read_sector(&sector, source->c1, circuit, NULL, err);
    if (status != CUZK_OK)
        return status;
    if (source->miner_given) {
        status = check_owner(sector, source->c1, source->miner, source->sector, err);
        out->of_another = status == CUZK_E_MISMATCH;
    }
    if (status == CUZK_OK) {
        cuzk_porep_statement_of(&statement, sector);
        status = from_statement(out, &statement, err);
        out->owner_checked = source->miner_given;
    }
    cuzk_porep_sector_destroy(sector);
    return status;
}

static cuzk_status from_dump(struct public_inputs *out, const char *path, struct cuzk_error *err)
{
    struct cuzk_circuit *circuit;
    struct cuzk_witness *witness;
    cuzk_status status = cuzk_dump_read(&circuit, &witness, path, NULL, err);
    if (status != CUZK_OK)
        return status;
    if (witness == NULL) {
        status = cuzk_fail(err, CUZK_E_FORMAT, "%s: holds no witness, so no public inputs", path);
    } else {
        uint32_t each = circuit->inputs - 1;
        struct bls12_381_fr *values = cuzk_calloc(each, sizeof *values);
        if (values == NULL) {
            status = cuzk_fail(err, CUZK_E_MEMORY, "out of memory for %u public inputs", each);
        } else {
            memcpy(values, witness->inputs + 1, each * sizeof *values);
            *out = (struct public_inputs){.values = values, .count = 1, .each = each};
        }
    }
    cuzk_witness_destroy(witness);
    cuzk_circuit_destroy(circuit);
    return status;
}

cuzk_status public_inputs_read(struct public_inputs *out, const struct input_source *source,
                               struct cuzk_error *err)
{
    *out = (struct public_inputs){0};
    const struct cuzk_porep_params *circuit = NULL;
    if (source->circuit != NULL && (circuit = circuit_params(source->circuit, err)) == NULL)
        return CUZK_E_ARGUMENT;
    if (source->c1 != NULL)
        return from_c1(out, source, circuit, err);
    if (source->statement != NULL)
        return from_meta(out, source, circuit, err);
    if (source->r1cs != NULL)
        return from_dump(out, source->r1cs, err);
    size_t count;
    cuzk_status status = cuzk_snarkjs_public_read(&out->values, &count, source->public_json, err);
    out->count = status == CUZK_OK;
    out->each = (uint32_t)count;
    return status;
}
