/* cuzk inputs: the public inputs of a statement, partition by partition, in the form of the
 * reference's vectors.
 */
#include "base/alloc.h"
#include "circuits.h"
#include "options.h"

static void print_partition(struct output *out, const char *key, const struct bls12_381_fr *inputs,
                            uint32_t n)
{
    output_array(out, key);
    for (uint32_t i = 0; i < n; i++)
        output_fr(out, NULL, &inputs[i]);
    output_array_end(out);
}

static cuzk_status print(struct output *out, const char *path, const char *circuit,
                         const struct option_number *partition, struct cuzk_error *err)
{
    const struct cuzk_porep_params *params = NULL;
    struct cuzk_meta meta;
    struct cuzk_porep_statement statement;
    uint8_t sha256[32];
    if (circuit != NULL && (params = circuit_params(circuit, err)) == NULL)
        return CUZK_E_ARGUMENT;
    cuzk_status status = cuzk_meta_read(&meta, path, params, err);
    if (status == CUZK_OK)
        status = cuzk_meta_statement(&statement, &meta, err);
    if (status == CUZK_OK)
        status = cuzk_porep_inputs_digest(sha256, &statement, err);
    if (status != CUZK_OK)
        return status;
    params = meta.params;
    if (partition->given && partition->value >= params->partitions)
        return cuzk_fail(err, CUZK_E_ARGUMENT, "--partition %llu: the proof has %u",
                         (unsigned long long)partition->value, params->partitions);
    uint32_t n = cuzk_porep_inputs(params);
    struct bls12_381_fr *inputs = cuzk_calloc(n, sizeof *inputs);
    if (inputs == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "out of memory for %u public inputs", n);

    output_text(out, "registered_proof", params->registered);
    output_text(out, "circuit", params->circuit);
    output_hex(out, "porep_id", params->porep_id, sizeof params->porep_id);
    output_hex(out, "prover_id", meta.prover_id, sizeof meta.prover_id);
    output_number(out, "sector_number", meta.sector_number);
    output_hex(out, "ticket", meta.ticket, sizeof meta.ticket);
    output_hex(out, "seed", meta.seed, sizeof meta.seed);
    output_fr(out, "comm_d", &meta.comm_d);
    output_fr(out, "comm_r", &meta.comm_r);
    output_fr(out, "replica_id", &statement.replica_id);
    output_number(out, "partitions", params->partitions);
    output_number(out, "inputs_per_partition", n);
    output_hex(out, "sha256_all", sha256, sizeof sha256);
    if (out->json) /* the other name of the same digest, in a sector's META.json */
        output_hex(out, "public_inputs_sha256", sha256, sizeof sha256);
    if (out->json) {
        status = cuzk_porep_public_inputs(inputs, &statement, 0, err);
        print_partition(out, "first_partition", inputs, n);
    }
    output_array(out, "public_inputs");
    for (uint32_t p = 0; status == CUZK_OK && p < params->partitions; p++) {
        if (partition->given && partition->value != p)
            continue;
        status = cuzk_porep_public_inputs(inputs, &statement, p, err);
        print_partition(out, NULL, inputs, n);
    }
    output_array_end(out);
    cuzk_free(inputs);
    return status;
}

static int run(const struct command *self, int argc, char **argv)
{
    const char *circuit = NULL;
    struct option_number partition = {0};
    const struct option_spec options[] = {
        {"circuit", "NAME", OPTION_TEXT, &circuit, "porep-mini32, where the file says 32 GiB"},
        {"partition", "N", OPTION_NUMBER, &partition, "this partition only, from 0"},
    };
    const struct usage usage = {
        "META.json", 1, 1,
        "META.json has registered_proof, prover_id, sector_number, ticket, seed, comm_d and\n"
        "comm_r, in hex. Inputs are 32 bytes each, little-endian; the constant one is left out.\n"
        "sha256_all is over the inputs of all partitions in order.",
        OPTIONS(options)};
    struct output out;
    struct cuzk_error err;
    int code;
    if (!options_parse(&code, self, &usage, &argc, argv, &out))
        return code;
    if (print(&out, argv[1], circuit, &partition, &err) != CUZK_OK)
        return output_fail(&out, &err, EXIT_FAILED);
    return output_finish(&out, EXIT_DONE);
}

const struct command command_inputs = {"inputs", "Print the public inputs of a statement", run};
