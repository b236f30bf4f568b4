/* cuzk inspect: what a file is, whether it is whole, and its first fault if not. */
#include <inttypes.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/os.h"
#include "circuit/dump.h"
#include "circuits.h"
#include "format/c1.h"
#include "format/json_in.h"
#include "format/key_check.h"
#include "format/network_keys.h"
#include "format/params.h"
#include "format/proof.h"
#include "format/waste.h"
#include "groth16/groth16.h"
#include "options.h"
#include "progress.h"

struct job {
    const char *path;
    const struct cuzk_porep_params *circuit; /* what --circuit says, or NULL */
    bool full;
    struct cuzk_threads *threads;
};

/* A handler says what the file is and returns CUZK_OK, or the file's first fault. */
typedef cuzk_status handler(struct output *out, const struct job *job, struct cuzk_error *err);

static bool show(void *context, uint64_t done, uint64_t total)
{
    progress_update(context, done, total);
    return true;
}

/* ---- keys ---- */

/* What is known of the file's digest: from a full check now or remembered. */
static cuzk_status key_report(struct cuzk_key_report *report, bool *known, const struct job *job,
                              bool vk, struct cuzk_error *err)
{
    struct cuzk_error ignored;
    struct progress progress;
    *known = cuzk_key_recall(report, job->path, &ignored) == CUZK_OK;
    if (*known || !job->full)
        return CUZK_OK;
    progress_start(&progress, "checking the key", "bytes");
    cuzk_status status = cuzk_key_check(report, job->path, vk, job->threads, show, &progress, err);
    progress_end(&progress);
    if (status != CUZK_OK)
        return status;
    *known = true;
    if (cuzk_key_remember(report, job->path, &ignored) != CUZK_OK)
        (void)fprintf(stderr, "cuzk inspect: the outcome is not remembered: %s\n", ignored.message);
    return CUZK_OK;
}

static void print_network_key(struct output *out, const struct cuzk_network_key *key)
{
    char circuit[64];
    output_text(out, "network_key", key->stem);
    output_text(out, "network_circuit", cuzk_network_key_circuit(key, circuit, sizeof circuit));
    output_bytes(out, "sector_size", key->sector_size);
}

/* Network or development, from the digest where it is known, else from the name. */
static cuzk_status print_origin(struct output *out, const struct job *job, bool vk,
                                struct cuzk_error *err)
{
    struct cuzk_key_report report;
    bool known, named_vk = false, digest_vk = false;
    const struct cuzk_network_key *named = cuzk_network_key_by_name(job->path, &named_vk);
    cuzk_status status = key_report(&report, &known, job, vk, err);
    if (status != CUZK_OK)
        return status;
    if (!known) {
        output_text(out, "origin",
                    named != NULL ? "named as a network key; the digest was not checked"
                                  : "not known: the digest was not checked");
        output_text(out, "points", vk ? "checked" : "the verifying key's checked, others not");
        if (named != NULL)
            print_network_key(out, named);
        if (!out->json)
            output_text(out, "note", "`cuzk inspect --full` checks digest and every point");
        return CUZK_OK;
    }
    const struct cuzk_network_key *key = cuzk_network_key_by_digest(report.blake2b, &digest_vk);
    output_text(out, "origin", key != NULL ? "network key" : "development key");
    output_text(out, "points", report.verdict == CUZK_OK ? "all checked" : "faulty");
    output_text(out, "blake2b", report.blake2b);
    output_text(out, "sha256", report.sha256);
    if (key != NULL)
        print_network_key(out, key);
    if (report.verdict != CUZK_OK)
        return cuzk_fail(err, report.verdict, "%s", report.fault);
    if (named != NULL && key != named)
        return cuzk_fail(err, CUZK_E_DIGEST,
                         "%s: has the name of a network key and another digest (%s, published "
                         "%s): fetch it again",
                         job->path, report.blake2b,
                         named_vk ? named->vk_digest : named->params_digest);
    return CUZK_OK;
}

static cuzk_status inspect_params(struct output *out, const struct job *job, struct cuzk_error *err)
{
    struct cuzk_params *params;
    output_text(out, "kind", "proving key");
    cuzk_status status = cuzk_params_open(&params, job->path, err);
    if (status != CUZK_OK)
        return status;
    output_number(out, "inputs", params->vk.ic_count);
    output_number(out, "domain", (uint64_t)params->count[CUZK_H] + 1);
    for (enum cuzk_section s = 0; s < CUZK_SECTIONS; s++)
        output_number(out, cuzk_section_name(s), params->count[s]);
    cuzk_params_close(params);
    return print_origin(out, job, false, err);
}

static cuzk_status inspect_vk(struct output *out, const struct job *job, struct cuzk_error *err)
{
    struct cuzk_vk vk;
    output_text(out, "kind", "verifying key");
    cuzk_status status = cuzk_vk_read(&vk, job->path, err);
    if (status != CUZK_OK)
        return status;
    output_number(out, "inputs", vk.ic_count);
    cuzk_vk_destroy(&vk);
    return print_origin(out, job, true, err);
}

/* ---- proofs and circuits ---- */

static cuzk_status inspect_proof(struct output *out, const struct job *job, struct cuzk_error *err)
{
    struct cuzk_proof *proofs;
    size_t count;
    output_text(out, "kind", "proof");
    cuzk_status status = cuzk_proof_read(&proofs, &count, job->path, err);
    if (status != CUZK_OK)
        return status;
    output_number(out, "partitions", count);
    cuzk_free(proofs);
    return CUZK_OK;
}

static void print_templates(struct output *out, const struct cuzk_circuit *c)
{
    uint32_t *instances = cuzk_calloc(c->template_count, sizeof *instances);
    if (instances == NULL)
        return;
    for (uint32_t i = 0; i < c->instance_count; i++)
        instances[c->instances[i].template_number]++;
    if (!out->json)
        printf("templates\n  %-28s %8s %8s %8s %8s %8s %9s %8s\n", "name", "rows", "terms", "ports",
               "own", "dense", "instances", "of rows");
    else
        output_array(out, "template_list");
    for (uint32_t i = 0; i < c->template_count; i++) {
        const struct cuzk_template *t = &c->templates[i];
        uint64_t terms = 0;
        for (int m = 0; m < 3; m++)
            terms += t->start[m][t->rows];
        double share = c->rows != 0 ? (double)t->rows * instances[i] / c->rows : 0;
        if (!out->json) {
            printf("  %-28s %8u %8" PRIu64 " %8u %8u %8u %9u %6.1f %%\n", t->name, t->rows, terms,
                   t->ports, t->own, t->own_dense, instances[i], 100 * share);
            continue;
        }
        output_object(out, NULL);
        output_text(out, "name", t->name);
        output_number(out, "rows", t->rows);
        output_number(out, "terms", terms);
        output_number(out, "ports", t->ports);
        output_number(out, "own", t->own);
        output_number(out, "own_dense", t->own_dense);
        output_number(out, "instances", instances[i]);
        output_object_end(out);
    }
    if (out->json)
        output_array_end(out);
    cuzk_free(instances);
}

static void print_circuit(struct output *out, const struct cuzk_circuit *c)
{
    uint64_t terms = 0;
    for (uint32_t i = 0; i < c->template_count; i++)
        for (int m = 0; m < 3; m++)
            terms += c->templates[i].start[m][c->templates[i].rows];
    output_number(out, "inputs", c->inputs);
    output_number(out, "aux", c->aux);
    output_number(out, "not_boolean", c->dense);
    output_number(out, "constraints", c->rows);
    output_number(out, "coefficients", c->coefficient_count);
    output_number(out, "templates", c->template_count);
    output_number(out, "instances", c->instance_count);
    output_number(out, "template_terms", terms);
    output_bytes(out, "memory", c->charged);
}

static cuzk_status inspect_dump(struct output *out, const struct job *job, struct cuzk_error *err)
{
    struct cuzk_circuit *circuit;
    struct cuzk_witness *witness;
    uint32_t row;
    output_text(out, "kind", "circuit dump");
    cuzk_status status = cuzk_dump_read(&circuit, &witness, job->path, NULL, err);
    if (status != CUZK_OK)
        return status;
    print_circuit(out, circuit);
    output_bool(out, "has_witness", witness != NULL);
    if (witness != NULL) {
        status = cuzk_circuit_check(circuit, witness, &row, job->threads, err);
        if (status != CUZK_OK)
            status = cuzk_fail_prefix(err, status, "%s", job->path);
        output_bool(out, "satisfied", status == CUZK_OK);
    }
    cuzk_witness_destroy(witness);
    cuzk_circuit_destroy(circuit);
    return status;
}

static cuzk_status inspect_circuit(struct output *out, const struct cuzk_porep_params *params,
                                   struct cuzk_error *err)
{
    struct cuzk_circuit *circuit;
    cuzk_status status = open_circuit(&circuit, params->circuit, err);
    if (status != CUZK_OK)
        return status;
    output_text(out, "kind", "circuit");
    output_text(out, "circuit", circuit->name);
    output_bytes(out, "sector_size", params->sector_size);
    output_number(out, "partitions", params->partitions);
    output_number(out, "challenges_per_partition", params->challenges);
    print_circuit(out, circuit);
    print_templates(out, circuit);
    cuzk_circuit_destroy(circuit);
    return CUZK_OK;
}

/* ---- JSON ---- */

static cuzk_status inspect_c1(struct output *out, const struct job *job, struct cuzk_error *err)
{
    struct cuzk_porep_sector *sector;
    output_text(out, "kind", "C1 output");
    cuzk_status status = read_sector(&sector, job->path, job->circuit, NULL, err);
    if (status != CUZK_OK)
        return status;
    output_text(out, "registered_proof", sector->params->registered);
    output_text(out, "circuit", sector->params->circuit);
    output_number(out, "partitions", sector->params->partitions);
    output_number(out, "challenges", sector->challenge_count);
    output_fr(out, "replica_id", &sector->replica_id);
    output_fr(out, "comm_d", &sector->comm_d);
    output_fr(out, "comm_r", &sector->comm_r);
    output_hex(out, "ticket", sector->ticket, sizeof sector->ticket);
    output_hex(out, "seed", sector->seed, sizeof sector->seed);
    if (job->full) { /* hashes too, as the circuit demands them */
        struct cuzk_circuit *circuit;
        status = open_circuit(&circuit, sector->params->circuit, err);
        for (uint32_t p = 0; status == CUZK_OK && p < sector->params->partitions; p++) {
            struct cuzk_witness *witness;
            status = cuzk_partition_witness(&witness, circuit, sector, p, NULL, err);
            cuzk_witness_destroy(witness);
            if (status != CUZK_OK)
                status = cuzk_fail_prefix(err, status, "%s: partition %u", job->path, p);
        }
        if (status == CUZK_OK)
            output_text(out, "hashes", "all hold");
        cuzk_circuit_destroy(circuit);
    }
    cuzk_porep_sector_destroy(sector);
    return status;
}

static cuzk_status inspect_meta(struct output *out, const struct job *job, struct cuzk_error *err)
{
    struct cuzk_meta meta;
    output_text(out, "kind", "statement");
    cuzk_status status = cuzk_meta_read(&meta, job->path, job->circuit, err);
    if (status != CUZK_OK)
        return status;
    output_text(out, "registered_proof", meta.params->registered);
    output_text(out, "circuit", meta.params->circuit);
    output_hex(out, "prover_id", meta.prover_id, sizeof meta.prover_id);
    output_number(out, "sector_number", meta.sector_number);
    output_fr(out, "comm_d", &meta.comm_d);
    output_fr(out, "comm_r", &meta.comm_r);
    return CUZK_OK;
}

static cuzk_status inspect_waste(struct output *out, const struct job *job, struct cuzk_error *err)
{
    struct cuzk_waste waste;
    output_text(out, "kind", "waste of a setup: secret, and insecure as soon as it is shared");
    cuzk_status status = cuzk_waste_read(&waste, job->path, err);
    output_bool(out, "has_rs", waste.has_rs);
    cuzk_wipe(&waste, sizeof waste);
    return status;
}

static cuzk_status inspect_snarkjs_vk(struct output *out, const struct job *job,
                                      struct cuzk_error *err)
{
    (void)job;
    (void)err;
    output_text(out, "kind", "snarkjs verifying key");
    return CUZK_OK;
}

static cuzk_status inspect_snarkjs_proof(struct output *out, const struct job *job,
                                         struct cuzk_error *err)
{
    (void)job;
    (void)err;
    output_text(out, "kind", "snarkjs proof");
    return CUZK_OK;
}

static cuzk_status inspect_note(struct output *out, const struct job *job, struct cuzk_error *err)
{
    (void)job;
    (void)err;
    output_text(out, "kind", "outcome of an earlier `cuzk inspect --full`");
    return CUZK_OK;
}

/* The first key that belongs to one kind only decides. */
static cuzk_status recognise(void *context, const char *path, const struct cuzk_json_value *value,
                             struct cuzk_error *err)
{
    static const struct {
        const char *key;
        handler *inspect;
    } keys[] = {
        {"vanilla_proofs", inspect_c1}, {"Phase1Out", inspect_c1},
        {"prover_id", inspect_meta},    {"alpha", inspect_waste},
        {"tau", inspect_waste},         {"waste", inspect_waste},
        {"IC", inspect_snarkjs_vk},     {"pi_a", inspect_snarkjs_proof},
        {"changed_ns", inspect_note},
    };
    (void)value;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (strcmp(path, keys[i].key) == 0) {
            *(handler **)context = keys[i].inspect;
            return cuzk_fail(err, CUZK_E_CANCELLED, "found");
        }
    }
    return CUZK_OK;
}

static cuzk_status inspect_json(struct output *out, const struct job *job,
                                const struct cuzk_mapping *file, struct cuzk_error *err)
{
    /* C1 nests deeper than small files do: the scan may end there, after its key was seen */
    handler *inspect = NULL;
    cuzk_status status =
        cuzk_json_scan(job->path, file->data, (size_t)file->size, recognise, &inspect, err);
    if (inspect != NULL)
        return inspect(out, job, err);
    output_text(out, "kind", "JSON");
    if (status != CUZK_OK)
        return status;
    return cuzk_fail(err, CUZK_E_FORMAT,
                     "%s: JSON of no kind that cuzk knows (C1, statement, waste, snarkjs)",
                     job->path);
}

/* ---- what is it ---- */

static bool ends_in(const char *path, const char *end)
{
    size_t n = strlen(path), m = strlen(end);
    return n >= m && strcmp(path + n - m, end) == 0;
}

/* Content first, then the name, so that a damaged file is still judged as what it was. */
static cuzk_status inspect_file(struct output *out, const struct job *job,
                                const struct cuzk_mapping *file, struct cuzk_error *err)
{
    const uint8_t *p = file->data;
    uint64_t n = file->size, blank = 0;
    if (n == 0)
        return cuzk_fail(err, CUZK_E_TRUNCATED, "%s: empty", job->path);
    while (blank < n &&
           (p[blank] == ' ' || p[blank] == '\n' || p[blank] == '\r' || p[blank] == '\t'))
        blank++;
    if (n >= 8 && (memcmp(p, "R1CSREC1", 8) == 0 || memcmp(p, "\x28\xb5\x2f\xfd", 4) == 0))
        return inspect_dump(out, job, err);
    if (ends_in(job->path, ".json") || (blank < n && (p[blank] == '{' || p[blank] == '[')))
        return inspect_json(out, job, file, err);
    if (ends_in(job->path, ".params"))
        return inspect_params(out, job, err);
    if (ends_in(job->path, ".vk"))
        return inspect_vk(out, job, err);
    if (n % CUZK_PROOF_BYTES == 0 && n <= CUZK_PROOF_BYTES * (uint64_t)CUZK_PROOF_MAX_PARTITIONS &&
        (p[0] & 0x80) != 0)
        return inspect_proof(out, job, err);
    if (n >= CUZK_VK_HEAD_BYTES + 4 && (p[0] & 0xe0) == 0) {
        uint32_t ic = (uint32_t)p[CUZK_VK_HEAD_BYTES] << 24 |
                      (uint32_t)p[CUZK_VK_HEAD_BYTES + 1] << 16 |
                      (uint32_t)p[CUZK_VK_HEAD_BYTES + 2] << 8 | p[CUZK_VK_HEAD_BYTES + 3];
        return cuzk_vk_bytes(ic) >= n ? inspect_vk(out, job, err) : inspect_params(out, job, err);
    }
    if (ends_in(job->path, ".bin") || ends_in(job->path, ".proof"))
        return inspect_proof(out, job, err);
    return cuzk_fail(err, CUZK_E_FORMAT,
                     "%s: no kind of file that cuzk knows (key, proof, circuit dump, JSON)",
                     job->path);
}

#define SMALL ((uint64_t)64 << 20) /* whose digest costs less than a second */

static int run(const struct command *self, int argc, char **argv)
{
    struct job job = {0};
    const char *circuit = NULL;
    struct option_number threads = {0};
    const struct option_spec options[] = {
        {"full", NULL, OPTION_FLAG, &job.full,
         "keys: digest and subgroup of every point, remembered; C1: every hash"},
        {"circuit", "NAME", OPTION_TEXT, &circuit, "porep-mini32, where the file says 32 GiB"},
        {"threads", "N", OPTION_NUMBER, &threads, "threads to use (default: one a processor)"},
    };
    const struct usage usage = {
        "FILE", 1, 1,
        "FILE is a key (.params, .vk), a proof, a circuit dump, a C1 output, a statement, a "
        "waste,\n"
        "an export; or the name of a circuit, whose templates are listed.\n"
        "Exit codes: 0 sound, 1 the file has a fault (the first is named), 2 could not tell.\n"
        "The outcome of --full on a key is kept in FILE.cuzk.json for as long as FILE stays.",
        OPTIONS(options)};
    struct output out;
    struct cuzk_error err;
    int code;
    if (!options_parse(&code, self, &usage, &argc, argv, &out))
        return code;
    if (threads.value > 1024)
        return usage_error(&out, self, "--threads must be at most 1024");
    if (circuit != NULL && (job.circuit = circuit_params(circuit, &err)) == NULL)
        return output_fail(&out, &err, EXIT_FAILED);
    const struct cuzk_porep_params *named = cuzk_porep_by_circuit(argv[1]);
    if (named != NULL) {
        if (inspect_circuit(&out, named, &err) != CUZK_OK)
            return output_fail(&out, &err, EXIT_FAILED);
        return output_finish(&out, EXIT_DONE);
    }

    struct cuzk_mapping file;
    job.path = argv[1];
    cuzk_status status = cuzk_os_map(&file, job.path, &err);
    if (status == CUZK_OK)
        status = cuzk_threads_create(&job.threads, (unsigned)threads.value, &err);
    if (status != CUZK_OK) {
        cuzk_os_unmap(&file);
        return output_fail(&out, &err, EXIT_FAILED);
    }
    output_text(&out, "file", job.path);
    output_bytes(&out, "size", file.size);
    status = inspect_file(&out, &job, &file, &err);
    if (file.size <= SMALL) {
        uint8_t sha256[SHA256_DIGEST_LENGTH];
        (void)SHA256(file.data != NULL ? file.data : sha256, (size_t)file.size, sha256);
        output_hex(&out, "file_sha256", sha256, sizeof sha256);
    }
    cuzk_threads_destroy(job.threads);
    cuzk_os_unmap(&file);
    switch (status) {
    case CUZK_OK:
        output_text(&out, "verdict", job.full ? "sound" : "no fault found");
        return output_finish(&out, EXIT_DONE);
    case CUZK_E_MEMORY:
    case CUZK_E_BUDGET:
    case CUZK_E_IO:
    case CUZK_E_CANCELLED:
    case CUZK_E_INTERNAL:
        return output_fail(&out, &err, EXIT_FAILED);
    default: /* the file's own fault is the answer */
        output_text(&out, "verdict", "faulty");
        output_object(&out, "fault");
        output_text(&out, "status", cuzk_status_name(status));
        output_text(&out, "message", err.message);
        output_object_end(&out);
        return output_finish(&out, EXIT_NO);
    }
}

const struct command command_inspect = {"inspect", "Say what a file is, and its first fault", run};
