/* cuzk witness: digests of the witnesses of a sector's partitions, in the form of the reference's
 * vectors.
 */
#include <stdio.h>

#include "chunks.h"
#include "circuits.h"
#include "groth16/groth16.h"
#include "options.h"

struct job {
    const char *c1, *circuit, *chunks;
    struct option_number partition;
    struct cuzk_threads *threads;
};

/* Digest of one vector; with --chunks its chunks go to PREFIX-P.NAME.chunks. */
static cuzk_status digest(struct output *out, const struct job *job, uint32_t partition,
                          const char *name, int matrix, const struct cuzk_circuit *circuit,
                          const struct cuzk_witness *witness, struct chunks *chunks,
                          struct cuzk_error *err)
{
    uint8_t sha256[CUZK_SHA256_SIZE];
    char path[4096], key[32];
    int n = snprintf(path, sizeof path, "%s-%u.%s.chunks", job->chunks != NULL ? job->chunks : "",
                     partition, name);
    if (n < 0 || (size_t)n >= sizeof path)
        return cuzk_fail(err, CUZK_E_ARGUMENT, "--chunks: too long a path");
    cuzk_status status = chunks_open(chunks, job->chunks != NULL ? path : NULL, err);
    if (status != CUZK_OK)
        return status;
    status = matrix < 0 ? cuzk_witness_aux_digest(sha256, circuit, witness, chunk_line, chunks, err)
                        : cuzk_witness_product_digest(sha256, circuit, witness, matrix,
                                                      job->threads, chunk_line, chunks, err);
    status = chunks_close(chunks, status, err);
    if (status != CUZK_OK)
        return status;
    (void)snprintf(key, sizeof key, "%s_sha256", name);
    output_hex(out, key, sha256, sizeof sha256);
    return CUZK_OK;
}

static cuzk_status partition(struct output *out, const struct job *job, uint32_t p,
                             const struct cuzk_circuit *circuit,
                             const struct cuzk_porep_sector *sector, struct chunks *chunks,
                             struct cuzk_error *err)
{
    static const struct {
        const char *name;
        int matrix;
    } vectors[] = {{"a", CUZK_A}, {"aux", -1}, {"b", CUZK_B}, {"c", CUZK_C}};
    struct cuzk_witness *witness;
    uint32_t zeros, ones;
    double start = cuzk_os_seconds();
    cuzk_status status = cuzk_partition_witness(&witness, circuit, sector, p, NULL, err);
    if (status != CUZK_OK)
        return cuzk_fail_prefix(err, status, "%s: partition %u", job->c1, p);
    double seconds = cuzk_os_seconds() - start;
    output_object(out, NULL);
    output_number(out, "partition", p);
    for (size_t i = 0; status == CUZK_OK && i < 4; i++)
        status =
            digest(out, job, p, vectors[i].name, vectors[i].matrix, circuit, witness, chunks, err);
    cuzk_witness_count(circuit, witness, &zeros, &ones);
    output_array(out, "inputs");
    for (uint32_t i = 0; i < witness->input_count; i++)
        output_fr(out, NULL, &witness->inputs[i]);
    output_array_end(out);
    output_number(out, "ones", ones);
    output_number(out, "zeros", zeros);
    output_seconds(out, "seconds", seconds);
    output_object_end(out);
    cuzk_witness_destroy(witness);
    return status;
}

static cuzk_status all(struct output *out, const struct job *job, struct cuzk_error *err)
{
    struct cuzk_porep_sector *sector = NULL;
    struct cuzk_circuit *circuit = NULL;
    struct progress progress;
    const struct cuzk_porep_params *params = NULL;
    if (job->circuit != NULL && (params = circuit_params(job->circuit, err)) == NULL)
        return CUZK_E_ARGUMENT;
    cuzk_status status = read_sector(&sector, job->c1, params, NULL, err);
    if (status != CUZK_OK)
        return status;
    params = sector->params;
    if (job->partition.given && job->partition.value >= params->partitions)
        status = cuzk_fail(err, CUZK_E_ARGUMENT, "--partition %llu: the proof has %u",
                           (unsigned long long)job->partition.value, params->partitions);
    if (status == CUZK_OK)
        status = open_circuit(&circuit, params->circuit, err);
    if (status == CUZK_OK) {
        uint64_t each = (circuit->aux + 3 * (uint64_t)circuit->rows) / CUZK_CHUNK + 4;
        struct chunks chunks = {.progress = &progress,
                                .total = each * (job->partition.given ? 1 : params->partitions)};
        output_text(out, "registered_proof", params->registered);
        output_text(out, "circuit", circuit->name);
        output_number(out, "aux", circuit->aux);
        output_number(out, "constraints", circuit->rows);
        output_array(out, "witness");
        progress_start(&progress, "hashing the witness", "chunks");
        for (uint32_t p = 0; status == CUZK_OK && p < params->partitions; p++)
            if (!job->partition.given || job->partition.value == p)
                status = partition(out, job, p, circuit, sector, &chunks, err);
        progress_end(&progress);
        output_array_end(out);
    }
    cuzk_circuit_destroy(circuit);
    cuzk_porep_sector_destroy(sector);
    return status;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct job job = {0};
    struct option_number threads = {0};
    const struct option_spec options[] = {
        {"c1", "C1.json", OPTION_TEXT, &job.c1, "the C1 output, raw or wrapped"},
        {"circuit", "NAME", OPTION_TEXT, &job.circuit, "porep-mini32, where the file says 32 GiB"},
        {"partition", "N", OPTION_NUMBER, &job.partition, "this partition only, from 0"},
        {"chunks", "PREFIX", OPTION_TEXT, &job.chunks,
         "write one SHA-256 per 65,536 values to PREFIX-N.aux.chunks, .a., .b., .c."},
        {"threads", "N", OPTION_NUMBER, &threads, "threads to use (default: one a processor)"},
    };
    const struct usage usage = {
        NULL, 0, 0,
        "Prints input values, how many auxiliary variables are zero and one, and digests of the\n"
        "auxiliaries and of A, B, C times the witness. Values themselves are secret and not shown.",
        OPTIONS(options)};
    struct output out;
    struct cuzk_error err;
    int code;
    if (!options_parse(&code, self, &usage, &argc, argv, &out))
        return code;
    if (job.c1 == NULL)
        return usage_error(&out, self, "--c1 is needed");
    if (threads.value > 1024)
        return usage_error(&out, self, "--threads must be at most 1024");
    cuzk_status status = cuzk_threads_create(&job.threads, (unsigned)threads.value, &err);
    if (status == CUZK_OK)
        status = all(&out, &job, &err);
    cuzk_threads_destroy(job.threads);
    if (status != CUZK_OK)
        return output_fail(&out, &err, EXIT_FAILED);
    return output_finish(&out, EXIT_DONE);
}

const struct command command_witness = {"witness", "Print digests of a sector's witnesses", run};
