/* cuzk verify: is this proof valid for this statement and key? 0 yes, 1 no, 2 could not tell. */
#include "base/alloc.h"
#include "base/os.h"
#include "circuits.h"
#include "format/key_check.h"
#include "format/network_keys.h"
#include "format/proof.h"
#include "options.h"

/* A verifying key taken by its published name must be the published one: its digest costs nothing,
 * and whoever wants another says so with --vk. */
static cuzk_status check_published(const char *path, struct cuzk_error *err)
{
    struct cuzk_key_report report;
    bool named_vk, digest_vk;
    cuzk_status status = cuzk_key_check(&report, path, true, NULL, NULL, NULL, err);
    if (status != CUZK_OK)
        return status;
    if (cuzk_network_key_by_digest(report.blake2b, &digest_vk) !=
        cuzk_network_key_by_name(path, &named_vk))
        return cuzk_fail(err, CUZK_E_DIGEST,
                         "%s: not the network's key: its digest is %s, another one is published; "
                         "fetch it again, or name it with --vk",
                         path, report.blake2b);
    return CUZK_OK;
}

/* CUZK_OK: valid. */
static cuzk_status check(struct output *out, const char *vk, const char *proof,
                         const struct input_source *source, struct cuzk_error *err)
{
    struct cuzk_verifier *verifier = NULL;
    struct public_inputs inputs = {0};
    uint8_t *bytes = NULL, *encoded = NULL;
    size_t size = 0;
    char path[4096];
    cuzk_status status = cuzk_os_read_file(
        &bytes, &size, proof, (size_t)CUZK_PROOF_BYTES * CUZK_PROOF_MAX_PARTITIONS, err);
    if (status == CUZK_OK) {
        status = public_inputs_read(&inputs, source, err);
        if (inputs.of_another) /* an answer: not valid for the sector that was asked about */
            status = CUZK_E_PROOF;
    }
    if (status == CUZK_OK && vk == NULL) {
        status = network_key_path(path, sizeof path, inputs.params, true, err);
        if (status == CUZK_OK)
            status = check_published(path, err);
        vk = path;
    }
    if (status == CUZK_OK)
        status = cuzk_verifier_open(&verifier, vk, err);
    if (status != CUZK_OK)
        goto done;
    if (inputs.each != cuzk_verifier_inputs(verifier)) {
        status = cuzk_fail(err, CUZK_E_ARGUMENT,
                           "%s: a key for %u public inputs, but the statement has %u: it is of "
                           "another circuit",
                           vk, cuzk_verifier_inputs(verifier), inputs.each);
        goto done;
    }
    size_t n = (size_t)inputs.count * inputs.each;
    encoded = cuzk_calloc(n, CUZK_FIELD_BYTES);
    if (encoded == NULL) {
        status = cuzk_fail(err, CUZK_E_MEMORY, "out of memory for %zu public inputs", n);
        goto done;
    }
    for (size_t i = 0; i < n; i++)
        bls12_381_fr_to_le(encoded + i * CUZK_FIELD_BYTES, &inputs.values[i]);
    status = cuzk_verify(verifier, bytes, size, encoded, n, inputs.count, err);
    if (status != CUZK_OK) {
        status = cuzk_fail_prefix(err, status, "%s", proof);
        goto done;
    }
    output_text(out, "verdict", "valid");
    output_text(out, "vk", vk);
    if (inputs.params != NULL)
        output_text(out, "registered_proof", inputs.params->registered);
    output_number(out, "partitions", inputs.count);
    output_number(out, "public_inputs", inputs.each);
    if (inputs.params != NULL) {
        output_bool(out, "miner_and_sector_checked", inputs.owner_checked);
        if (!inputs.owner_checked && !out->json)
            output_text(out, "note",
                        "miner and sector were not checked: give --miner and --sector");
    }
done:
    cuzk_free(encoded);
    cuzk_free(bytes);
    public_inputs_free(&inputs);
    cuzk_verifier_free(verifier);
    return status;
}

static int run(const struct command *self, int argc, char **argv)
{
    const char *vk = NULL, *proof = NULL;
    struct input_source source = {0};
    struct option_number miner = {0}, sector = {0};
    const struct option_spec options[] = {
        {"vk", "KEY.vk", OPTION_TEXT, &vk,
         "the verifying key (a .params will do; default: the network's)"},
        {"proof", "PROOF.bin", OPTION_TEXT, &proof, "the proof: 192 bytes a partition"},
        {"c1", "C1.json", OPTION_TEXT, &source.c1, "take the statement from a C1 output"},
        {"statement", "META.json", OPTION_TEXT, &source.statement, "take it from a statement"},
        {"public", "PUBLIC.json", OPTION_TEXT, &source.public_json,
         "take the public inputs from a file of snarkjs"},
        {"r1cs", "FILE", OPTION_TEXT, &source.r1cs, "take them from a dump's witness"},
        {"circuit", "NAME", OPTION_TEXT, &source.circuit,
         "porep-mini32, where the file says 32 GiB"},
        {"miner", "ID", OPTION_NUMBER, &miner, "the miner's actor id, to check the replica id"},
        {"sector", "N", OPTION_NUMBER, &sector, "the sector's number, with --miner"},
    };
    const struct usage usage = {NULL, 0, 0,
                                "Exit codes: 0 valid, 1 not valid, 2 could not tell.\n"
                                "With --miner and --sector, a statement of another miner or sector "
                                "is not valid.",
                                OPTIONS(options)};
    struct output out;
    int code;
    if (!options_parse(&code, self, &usage, &argc, argv, &out))
        return code;
    int sources = (source.c1 != NULL) + (source.statement != NULL) + (source.public_json != NULL) +
                  (source.r1cs != NULL);
    if (proof == NULL)
        return usage_error(&out, self, "--proof is needed");
    if (sources != 1)
        return usage_error(&out, self,
                           "exactly one of --c1, --statement, --public and --r1cs is needed");
    if (miner.given != sector.given)
        return usage_error(&out, self, "--miner and --sector come together");
    if (miner.given && (source.public_json != NULL || source.r1cs != NULL))
        return usage_error(&out, self, "--miner needs --c1 or --statement");
    source.miner_given = source.sector_given = miner.given;
    source.miner = miner.value;
    source.sector = sector.value;

    struct cuzk_error err;
    switch (check(&out, vk, proof, &source, &err)) {
    case CUZK_OK:
        return output_finish(&out, EXIT_DONE);
    case CUZK_E_PROOF:
        return output_fail(&out, &err, EXIT_NO);
    default:
        return output_fail(&out, &err, EXIT_FAILED);
    }
}

const struct command command_verify = {"verify", "Verify a proof: 0 valid, 1 not, 2 cannot tell",
                                       run};
