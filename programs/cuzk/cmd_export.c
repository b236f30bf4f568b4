/* cuzk export: verifying key, proof and public inputs as the JSON of snarkjs. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "circuits.h"
#include "format/params.h"
#include "format/proof.h"
#include "format/snarkjs.h"
#include "options.h"

/* Writes the tree to DIR/NAME, frees it, and notes the file in the output. */
static cuzk_status write_file(struct output *out, struct cuzk_json *j, const char *dir,
                              const char *name, struct cuzk_error *err)
{
    char path[4096];
    int n = snprintf(path, sizeof path, "%s/%s", dir, name);
    cuzk_status status = n < 0 || (size_t)n >= sizeof path
                             ? cuzk_fail(err, CUZK_E_ARGUMENT, "%s: too long a path", dir)
                             : cuzk_json_write(j, path, err);
    cuzk_json_free(j);
    if (status == CUZK_OK)
        output_text(out, NULL, path);
    return status;
}

static cuzk_status export_vk(struct output *out, const char *path, const char *dir,
                             struct cuzk_error *err)
{
    struct cuzk_vk vk;
    struct cuzk_json j;
    cuzk_status status = cuzk_vk_read(&vk, path, err);
    if (status == CUZK_E_TRAILING) { /* a .params will do */
        struct cuzk_params *params;
        status = cuzk_params_open(&params, path, err);
        if (status != CUZK_OK)
            return status;
        vk = params->vk;
        params->vk = (struct cuzk_vk){0};
        cuzk_params_close(params);
    }
    if (status != CUZK_OK)
        return status;
    cuzk_json_init(&j);
    cuzk_snarkjs_vk(&j, &vk);
    cuzk_vk_destroy(&vk);
    return write_file(out, &j, dir, "verification_key.json", err);
}

/* `only` is the one partition wanted, where one is. */
static cuzk_status export_proof(struct output *out, const char *path, const char *dir,
                                const struct option_number *only, struct cuzk_error *err)
{
    struct cuzk_proof *proofs;
    size_t count;
    cuzk_status status = cuzk_proof_read(&proofs, &count, path, err);
    if (status == CUZK_OK && only->given && only->value >= count)
        status = cuzk_fail(err, CUZK_E_ARGUMENT, "%s: no partition %llu, it has %zu", path,
                           (unsigned long long)only->value, count);
    for (size_t i = 0; status == CUZK_OK && i < count; i++) {
        struct cuzk_json j;
        char name[64];
        if (only->given && only->value != i)
            continue;
        (void)snprintf(name, sizeof name, "proof-%zu.json", i);
        cuzk_json_init(&j);
        cuzk_snarkjs_proof(&j, &proofs[i]);
        status = write_file(out, &j, dir, name, err);
    }
    cuzk_free(proofs);
    return status;
}

static cuzk_status export_public(struct output *out, const struct input_source *source,
                                 const char *dir, const struct option_number *only,
                                 struct cuzk_error *err)
{
    struct public_inputs inputs;
    cuzk_status status = public_inputs_read(&inputs, source, err);
    if (status == CUZK_OK && only->given && only->value >= inputs.count)
        status = cuzk_fail(err, CUZK_E_ARGUMENT, "no partition %llu: the statement has %u",
                           (unsigned long long)only->value, inputs.count);
    for (uint32_t i = 0; status == CUZK_OK && i < inputs.count; i++) {
        struct cuzk_json j;
        char name[64];
        if (only->given && only->value != i)
            continue;
        (void)snprintf(name, sizeof name, "public-%u.json", i);
        cuzk_json_init(&j);
        cuzk_snarkjs_public(&j, inputs.values + (size_t)i * inputs.each, inputs.each);
        status = write_file(out, &j, dir, name, err);
    }
    public_inputs_free(&inputs);
    return status;
}

static int run(const struct command *self, int argc, char **argv)
{
    const char *vk = NULL, *proof = NULL, *dir = NULL;
    struct input_source source = {0};
    struct option_number partition = {0};
    const struct option_spec options[] = {
        {"vk", "KEY.vk", OPTION_TEXT, &vk, "export a verifying key (a .params will do)"},
        {"proof", "PROOF.bin", OPTION_TEXT, &proof, "export a proof, one file a partition"},
        {"c1", "C1.json", OPTION_TEXT, &source.c1, "export public inputs, of a C1 output"},
        {"statement", "META.json", OPTION_TEXT, &source.statement, "the same, of a statement"},
        {"r1cs", "FILE", OPTION_TEXT, &source.r1cs, "the same, of a dump's witness"},
        {"circuit", "NAME", OPTION_TEXT, &source.circuit,
         "porep-mini32, where the file says 32 GiB"},
        {"partition", "N", OPTION_NUMBER, &partition, "this partition only, from 0"},
        {"out", "DIR", OPTION_TEXT, &dir, "an existing folder for the files"},
    };
    const struct usage usage = {
        NULL, 0, 0,
        "Writes DIR/verification_key.json, DIR/proof-N.json and DIR/public-N.json, for\n"
        "    snarkjs groth16 verify verification_key.json public-0.json proof-0.json",
        OPTIONS(options)};
    struct output out;
    int code;
    if (!options_parse(&code, self, &usage, &argc, argv, &out))
        return code;
    int sources = (source.c1 != NULL) + (source.statement != NULL) + (source.r1cs != NULL);
    if (dir == NULL)
        return usage_error(&out, self, "--out is needed");
    if (sources > 1)
        return usage_error(&out, self, "only one of --c1, --statement and --r1cs");
    if (vk == NULL && proof == NULL && sources == 0)
        return usage_error(&out, self, "nothing to export: give --vk, --proof or a statement");

    struct cuzk_error err;
    cuzk_status status = CUZK_OK;
    output_array(&out, "files");
    if (vk != NULL)
        status = export_vk(&out, vk, dir, &err);
    if (status == CUZK_OK && proof != NULL)
        status = export_proof(&out, proof, dir, &partition, &err);
    if (status == CUZK_OK && sources != 0)
        status = export_public(&out, &source, dir, &partition, &err);
    if (status != CUZK_OK)
        return output_fail(&out, &err, EXIT_FAILED);
    output_array_end(&out);
    return output_finish(&out, EXIT_DONE);
}

const struct command command_export = {"export", "Export keys, proofs and inputs to snarkjs", run};
