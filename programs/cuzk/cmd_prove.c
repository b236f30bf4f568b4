/* cuzk prove: proofs of a sector's partitions, or of a dump's witness. Each is verified before it
 * is written.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/os.h"
#include "circuits.h"
#include "format/json_in.h"
#include "format/key_check.h"
#include "format/network_keys.h"
#include "groth16/groth16.h"
#include "options.h"
#include "pipeline.h"
#include "progress.h"

/* "R,S", each 32 bytes in hex, little-endian, below r. */
static cuzk_status parse_rs(struct cuzk_insecure_rs *out, const char *text, struct cuzk_error *err)
{
    struct bls12_381_fr element;
    if (strlen(text) != 4 * CUZK_FIELD_BYTES + 1 || text[2 * CUZK_FIELD_BYTES] != ',' ||
        !cuzk_hex_decode(out->r, CUZK_FIELD_BYTES, text, 2 * CUZK_FIELD_BYTES) ||
        !cuzk_hex_decode(out->s, CUZK_FIELD_BYTES, text + 2 * CUZK_FIELD_BYTES + 1,
                         2 * CUZK_FIELD_BYTES))
        return cuzk_fail(err, CUZK_E_ARGUMENT,
                         "--insecure-rs: expected R,S, each 64 hex digits, little-endian");
    if (!bls12_381_fr_from_le(&element, out->r) || !bls12_381_fr_from_le(&element, out->s))
        return cuzk_fail(err, CUZK_E_RANGE, "--insecure-rs: R and S must be below the order r");
    return CUZK_OK;
}

/* One of the repeats: what it took, summed over its partitions. */
struct one_run {
    struct cuzk_prove_report report; /* stages added up, memory of the last */
    double witness_seconds;
    double begun, ended; /* its first witness, its last proof */
    uint32_t done;       /* partitions */
};

static void add(struct one_run *run, const struct cuzk_prove_report *r)
{
    struct cuzk_prove_report sum = *r;
    for (size_t i = 0; i < sum.stage_count; i++)
        for (size_t k = 0; k < run->report.stage_count; k++)
            if (strcmp(sum.stages[i].name, run->report.stages[k].name) == 0)
                sum.stages[i].seconds += run->report.stages[k].seconds;
    sum.seconds += run->report.seconds;
    run->report = sum;
}

static void print_run(struct output *out, const struct one_run *run)
{
    const struct cuzk_prove_report *r = &run->report;
    struct cuzk_os_memory used;
    cuzk_os_memory_read(&used);
    output_object(out, NULL);
    output_object(out, "seconds");
    output_seconds(out, "witness", run->witness_seconds);
    for (size_t i = 0; i < r->stage_count; i++)
        output_seconds(out, r->stages[i].name, r->stages[i].seconds);
    output_seconds(out, "total", run->ended - run->begun);
    output_object_end(out);
    output_object(out, "memory");
    for (size_t i = 0; i < r->memory_count; i++)
        if (r->memory[i].peak != 0)
            output_bytes(out, r->memory[i].purpose, r->memory[i].peak);
    output_bytes(out, "peak", r->memory_peak);
    output_bytes(out, "peak_rss", used.peak_rss);
    output_bytes(out, "anonymous_now", used.anon);
    output_object_end(out);
    output_object_end(out);
}

struct job {
    const char *params, *c1, *r1cs, *circuit, *proof;
    const char *make_key, *waste; /* a key made in memory: where its verifying key goes; NULL: no */
    bool owner_given;
    uint64_t miner, sector, repeat;
    const struct cuzk_insecure_rs *rs; /* NULL: random */
    struct option_number overlap;
};

/* The key named, or the network's for the circuit. */
static cuzk_status key_path(char *out, size_t size, const struct job *job,
                            const struct cuzk_porep_params *params, struct cuzk_error *err)
{
    if (job->params != NULL) {
        int n = snprintf(out, size, "%s", job->params);
        return n >= 0 && (size_t)n < size
                   ? CUZK_OK
                   : cuzk_fail(err, CUZK_E_ARGUMENT, "--params: too long a path");
    }
    return network_key_path(out, size, params, false, err);
}

struct session {
    struct cuzk_context *context;
    struct cuzk_relation *relation;
    struct cuzk_key *key;
    struct cuzk_witness *witness;     /* a dump's own */
    struct cuzk_porep_sector *sector; /* of C1 */
    uint32_t partitions;
    enum cuzk_key_mode mode; /* of a key from a file */
    bool key_checked;        /* in full, and found sound */
    uint8_t *proofs;
};

static void session_end(struct session *s)
{
    cuzk_free(s->proofs);
    cuzk_witness_free(s->witness);
    cuzk_porep_sector_destroy(s->sector);
    cuzk_key_close(s->key);
    cuzk_relation_free(s->relation);
    cuzk_context_free(s->context);
}

static bool is_processor(const struct cuzk_device *device)
{
    return strcmp(cuzk_device_describe(device)->name, "cpu") == 0;
}

/* A card keeps the key for all partitions; the processor decodes it as it goes, which takes least
 * memory, and so do cards beside it: the key has one form on all devices. */
static enum cuzk_key_mode key_mode(const struct cuzk_context *context)
{
    for (size_t i = 0; i < cuzk_context_device_count(context); i++)
        if (is_processor(cuzk_context_device_at(context, i)))
            return CUZK_KEY_STREAMED;
    return CUZK_KEY_DECODED;
}

/* What an earlier full check found. The digest of a key of 44 GB is too dear to take before each
 * proof; a proof by a wrong key does not verify, so a damaged one cannot do harm. */
static cuzk_status recall_key(const char *path, bool *checked, struct cuzk_error *err)
{
    struct cuzk_key_report report;
    struct cuzk_error ignored;
    bool is_vk;
    *checked = cuzk_key_recall(&report, path, &ignored) == CUZK_OK;
    if (!*checked)
        return CUZK_OK;
    if (report.verdict != CUZK_OK)
        return cuzk_fail(err, report.verdict, "%s (found by `cuzk inspect --full`)", report.fault);
    const struct cuzk_network_key *named = cuzk_network_key_by_name(path, &is_vk);
    if (named != NULL && cuzk_network_key_by_digest(report.blake2b, &is_vk) != named)
        return cuzk_fail(err, CUZK_E_DIGEST,
                         "%s: has the name of a network key and another digest (found by `cuzk "
                         "inspect --full`): fetch it again",
                         path);
    return CUZK_OK;
}

/* Makes a development key in the device's memory and writes its verifying key. */
static cuzk_status make_key(struct session *s, const struct job *job, struct cuzk_error *err)
{
    struct cuzk_verifier *verifier = NULL;
    cuzk_status status = cuzk_key_make(&s->key, s->relation, job->waste, err);
    if (status == CUZK_OK)
        status = cuzk_verifier_of_key(&verifier, s->key, err);
    if (status == CUZK_OK)
        status = cuzk_verifier_write(verifier, job->make_key, err);
    cuzk_verifier_free(verifier);
    return status;
}

/* True where each card has room for a proof's vectors beside the key that it keeps. */
static bool proof_fits(const struct session *s)
{
    uint64_t host, device;
    cuzk_key_proof_memory(s->key, &host, &device);
    for (size_t i = 0; i < s->context->device_count; i++) {
        struct cuzk_account a;
        if (is_processor(s->context->devices[i]))
            continue;
        cuzk_budget_read(s->context->devices[i]->memory, &a);
        if (a.limit - a.used < device)
            return false;
    }
    return true;
}

/* A key that a card cannot keep beside a proof is streamed from its file, proof by proof. */
static cuzk_status open_key(struct session *s, const char *path, struct cuzk_error *err)
{
    s->mode = key_mode(s->context);
    cuzk_status status = cuzk_key_open(&s->key, s->relation, path, s->mode, err);
    if (s->mode == CUZK_KEY_STREAMED ||
        (status != CUZK_OK && status != CUZK_E_DEVICE_MEMORY && status != CUZK_E_BUDGET) ||
        (status == CUZK_OK && proof_fits(s)))
        return status;
    cuzk_key_close(s->key);
    s->key = NULL;
    s->mode = CUZK_KEY_STREAMED;
    return cuzk_key_open(&s->key, s->relation, path, s->mode, err);
}

/* Reads the input, makes the circuit and opens the key. */
static cuzk_status session_start(struct session *s, const struct job *job,
                                 const struct cuzk_options *options, struct cuzk_error *err)
{
    const struct cuzk_porep_params *params = NULL;
    char key[4096];
    cuzk_status status = cuzk_context_create(&s->context, options, err);
    if (status != CUZK_OK)
        return status;
    if (job->circuit != NULL && (params = circuit_params(job->circuit, err)) == NULL)
        return CUZK_E_ARGUMENT;
    if (job->c1 != NULL) {
        status = read_sector(&s->sector, job->c1, params, s->context->host, err);
        if (status == CUZK_OK && job->owner_given)
            status = check_owner(s->sector, job->c1, job->miner, job->sector, err);
        if (status != CUZK_OK)
            return status;
        params = s->sector->params;
    }
    if (job->make_key == NULL) {
        status = key_path(key, sizeof key, job, params, err);
        if (status == CUZK_OK)
            status = recall_key(key, &s->key_checked, err);
    }
    if (status == CUZK_OK)
        status = open_relation(&s->relation, job->c1 == NULL ? &s->witness : NULL, s->context,
                               job->c1 != NULL ? params->circuit : job->r1cs, err);
    if (status == CUZK_OK && job->c1 == NULL && s->witness == NULL)
        status = cuzk_fail(err, CUZK_E_FORMAT, "%s: holds no witness to prove", job->r1cs);
    if (status == CUZK_OK)
        status = job->make_key != NULL ? make_key(s, job, err) : open_key(s, key, err);
    if (status != CUZK_OK)
        return status;
    s->partitions = params != NULL ? params->partitions : 1;
    s->proofs = cuzk_calloc(s->partitions, CUZK_PROOF_BYTES);
    if (s->proofs == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "out of memory");
    return CUZK_OK;
}

/* All repeats over all partitions, as the pipeline's steps see them: item i is partition
 * i % partitions of repeat i / partitions. Steps of different items run beside each other. */
struct proving {
    struct session *session;
    const struct job *job;
    struct output *out;
    struct progress progress;
    pthread_mutex_t lock; /* guards what follows, the session's proofs, out and progress */
    struct one_run *runs; /* job->repeat */
    uint64_t printed;     /* runs, in order */
    uint64_t done;        /* items */
    uint64_t *by_device;  /* of them */
    bool *known;          /* partitions whose proof stands in the session */
};

static void lock(struct proving *run)
{
    (void)pthread_mutex_lock(&run->lock);
}
static void unlock(struct proving *run)
{
    (void)pthread_mutex_unlock(&run->lock);
}
static uint32_t partition_of(const struct proving *run, uint64_t item)
{
    return (uint32_t)(item % run->session->partitions);
}
static struct one_run *run_of(const struct proving *run, uint64_t item)
{
    return &run->runs[item / run->session->partitions];
}

/* Says whose partition it was. */
static cuzk_status of_partition(const struct proving *run, uint64_t item, cuzk_status status,
                                struct cuzk_error *err)
{
    if (status == CUZK_OK)
        return status;
    return run->session->sector != NULL ? cuzk_fail_prefix(err, status, "%s: partition %u",
                                                           run->job->c1, partition_of(run, item))
                                        : cuzk_fail_prefix(err, status, "%s", run->job->r1cs);
}

static cuzk_status make(void *context, uint64_t item, void **made, struct cuzk_error *err)
{
    struct proving *run = context;
    const struct session *s = run->session;
    struct cuzk_witness *witness;
    double start = cuzk_os_seconds();
    cuzk_status status =
        s->sector != NULL
            ? cuzk_partition_witness(&witness, s->relation->circuit, s->sector,
                                     partition_of(run, item), s->context->host, err)
            : copy_witness(&witness, s->relation->circuit, s->witness, s->context->host, err);
    double end = cuzk_os_seconds();
    lock(run);
    struct one_run *of = run_of(run, item);
    of->witness_seconds += end - start;
    if (of->begun == 0 || start < of->begun)
        of->begun = start;
    unlock(run);
    *made = witness;
    return of_partition(run, item, status, err);
}

static cuzk_status start(void *context, uint64_t item, void **made, void **started,
                         struct cuzk_error *err)
{
    struct proving *run = context;
    struct cuzk_witness *witness = *made;
    struct cuzk_pending_proof *pending = NULL;
    cuzk_status status = cuzk_prove_start(&pending, run->session->key, &witness, err);
    *made = witness;
    *started = pending;
    return of_partition(run, item, status, err);
}

/* The session keeps the last repeat's proof of each partition. With fixed randomness the first to
 * be done, whichever it is, and each other must be its bytes. The caller holds the lock. */
static cuzk_status keep(struct proving *run, uint64_t item, const uint8_t *proof,
                        const struct cuzk_device *device, struct cuzk_error *err)
{
    const uint32_t p = partition_of(run, item);
    uint8_t *kept = run->session->proofs + (size_t)p * CUZK_PROOF_BYTES;
    if (run->job->rs != NULL && run->known[p] && memcmp(kept, proof, CUZK_PROOF_BYTES) != 0)
        return cuzk_fail(err, CUZK_E_DEVICE,
                         "%s gave another proof with the same R and S than an earlier run did: a "
                         "device erred; try again, or another device",
                         cuzk_device_describe(device)->name);
    if (run->job->rs != NULL ? !run->known[p]
                             : item / run->session->partitions == run->job->repeat - 1)
        memcpy(kept, proof, CUZK_PROOF_BYTES);
    run->known[p] = true;
    return CUZK_OK;
}

/* One more is done; the caller holds the lock. Runs are printed in order, so one that is done early
 * waits for those before it. */
static void count(struct proving *run, uint64_t item, const struct cuzk_prove_report *report,
                  const struct cuzk_device *device)
{
    const struct session *s = run->session;
    struct one_run *of = run_of(run, item);
    add(of, report);
    of->ended = cuzk_os_seconds();
    of->done++;
    run->done++;
    for (size_t i = 0; i < cuzk_context_device_count(s->context); i++)
        run->by_device[i] += device == cuzk_context_device_at(s->context, i);
    progress_update(&run->progress, run->done, s->partitions * run->job->repeat);
    while (run->printed < run->job->repeat && run->runs[run->printed].done == s->partitions)
        print_run(run->out, &run->runs[run->printed++]);
}

static cuzk_status finish(void *context, uint64_t item, void *started, struct cuzk_error *err)
{
    struct proving *run = context;
    struct cuzk_pending_proof *pending = started;
    const struct cuzk_device *device = cuzk_prove_device(pending);
    struct cuzk_prove_report report;
    uint8_t proof[CUZK_PROOF_BYTES];
    cuzk_status status = cuzk_prove_finish(&pending, run->job->rs, proof, &report, err);
    lock(run);
    if (status == CUZK_OK)
        status = keep(run, item, proof, device, err);
    if (status == CUZK_OK)
        count(run, item, &report, device);
    unlock(run);
    return of_partition(run, item, status, err);
}

static void drop_made(void *made)
{
    cuzk_witness_free(made);
}
static void drop_started(void *started)
{
    cuzk_prove_abandon(started);
}

/* A card computes while the processor makes the next witness and finishes the last proof, and each
 * card has a lane of its own. The processor itself has nothing to gain: its steps share the same
 * cores, and its memory. */
static unsigned lanes(const struct session *s, const struct job *job)
{
    const unsigned devices = (unsigned)cuzk_context_device_count(s->context);
    if (job->overlap.given)
        return job->overlap.value != 0 ? devices : 0;
    return devices == 1 && is_processor(cuzk_context_device(s->context)) ? 0 : devices;
}

/* Where proofs were computed. */
static void print_devices(struct output *out, const struct proving *run)
{
    const struct cuzk_context *context = run->session->context;
    if (cuzk_context_device_count(context) == 1 && !out->json)
        return;
    output_array(out, "proofs_by_device");
    for (size_t i = 0; i < cuzk_context_device_count(context); i++) {
        output_object(out, NULL);
        output_text(out, "device", cuzk_device_describe(cuzk_context_device_at(context, i))->name);
        output_number(out, "proofs", run->by_device[i]);
        output_object_end(out);
    }
    output_array_end(out);
}

/* Everything, printed run by run. */
static cuzk_status prove_all(struct session *s, const struct job *job, struct output *out,
                             struct cuzk_error *err)
{
    static const struct pipeline_steps steps = {make, start, finish, drop_made, drop_started};
    struct proving run = {
        .session = s,
        .job = job,
        .out = out,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .runs = cuzk_calloc(job->repeat, sizeof *run.runs),
        .by_device = cuzk_calloc(cuzk_context_device_count(s->context), sizeof *run.by_device),
        .known = cuzk_calloc(s->partitions, sizeof *run.known)};
    cuzk_status status = CUZK_OK;
    if (run.runs == NULL || run.by_device == NULL || run.known == NULL) {
        status = cuzk_fail(err, CUZK_E_MEMORY, "out of memory for the records of %" PRIu64 " runs",
                           job->repeat);
        goto done;
    }
    const double begun = cuzk_os_seconds();
    output_array(out, "runs");
    progress_start(&run.progress, "proving", "partitions");
    status = pipeline_run(&steps, &run, s->partitions * job->repeat, lanes(s, job), err);
    progress_end(&run.progress);
    if (status != CUZK_OK)
        goto done;
    output_array_end(out);
    output_seconds(out, "proving", cuzk_os_seconds() - begun);
    print_devices(out, &run);
done:
    (void)pthread_mutex_destroy(&run.lock);
    cuzk_free(run.runs);
    cuzk_free(run.by_device);
    cuzk_free(run.known);
    return status;
}

static cuzk_status write_proof(const char *path, const struct session *s, struct cuzk_error *err)
{
    struct cuzk_writer *w;
    cuzk_status status = cuzk_os_writer_open(&w, path, err);
    if (status != CUZK_OK)
        return status;
    status = cuzk_os_writer_write(w, s->proofs, (size_t)s->partitions * CUZK_PROOF_BYTES, err);
    if (status == CUZK_OK)
        return cuzk_os_writer_commit(w, err);
    cuzk_os_writer_abort(w);
    return status;
}

static cuzk_status prove(struct output *out, const struct job *job,
                         const struct cuzk_options *options, struct cuzk_error *err)
{
    struct session s = {0};
    double start = cuzk_os_seconds();
    cuzk_status status = session_start(&s, job, options, err);
    if (status != CUZK_OK)
        goto done;
    output_array(out, "devices");
    for (size_t i = 0; i < cuzk_context_device_count(s.context); i++) {
        const struct cuzk_device *device = cuzk_context_device_at(s.context, i);
        output_object(out, NULL);
        output_text(out, "name", cuzk_device_describe(device)->name);
        output_text(out, "model", cuzk_device_describe(device)->model);
        output_text(out, "why", cuzk_device_why(device));
        output_object_end(out);
    }
    output_array_end(out);
    if (s.sector != NULL) {
        output_text(out, "registered_proof", s.sector->params->registered);
        output_bool(out, "miner_and_sector_checked", job->owner_given);
        if (!job->owner_given && !out->json)
            output_text(out, "note",
                        "miner and sector were not checked: give --miner and --sector");
    }
    output_number(out, "partitions", s.partitions);
    output_bool(out, "insecure_rs", job->rs != NULL);
    if (job->make_key == NULL) {
        output_bool(out, "key_checked_in_full", s.key_checked);
        output_text(out, "key", s.mode == CUZK_KEY_DECODED ? "kept" : "streamed");
    } else {
        output_text(out, "development_key", "made in memory");
        output_bool(out, "insecure_waste", job->waste != NULL);
    }
    output_seconds(out, "opening", cuzk_os_seconds() - start);
    status = prove_all(&s, job, out, err);
    if (status != CUZK_OK)
        goto done;
    status = write_proof(job->proof, &s, err);
    if (status != CUZK_OK)
        goto done;
    output_text(out, "verified", "yes");
    output_text(out, "proof", job->proof);
done:
    session_end(&s);
    return status;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct job job = {0};
    struct cuzk_options settings = {0};
    const char *rs_text = NULL;
    struct option_number miner = {0}, sector = {0}, threads = {0}, memory = {0},
                         device_memory = {0}, repeat = {.value = 1};
    const struct option_spec options[] = {
        {"params", "KEY.params", OPTION_INPUT, &job.params,
         "the proving key (default: the network's, where the parameters are kept)"},
        {"make-key", "KEY.vk", OPTION_OUTPUT, &job.make_key,
         "or a development key, made in the device's memory; its verifying key goes here"},
        {"insecure-waste", "FILE.json", OPTION_INPUT, &job.waste,
         "with --make-key: take the waste from a file: for tests"},
        {"c1", "C1.json", OPTION_INPUT, &job.c1, "the C1 output to prove, raw or wrapped"},
        {"r1cs", "FILE", OPTION_INPUT, &job.r1cs, "or a dump that holds a witness"},
        {"out", "PROOF.bin", OPTION_OUTPUT, &job.proof, "where the proof goes"},
        {"circuit", "NAME", OPTION_TEXT, &job.circuit, "porep-mini32, where the file says 32 GiB"},
        {"miner", "ID", OPTION_NUMBER, &miner, "the miner's actor id, to check the replica id"},
        {"sector", "N", OPTION_NUMBER, &sector, "the sector's number, with --miner"},
        {"insecure-rs", "R,S", OPTION_TEXT, &rs_text,
         "fixed randomness in hex, little-endian: for tests, it gives the witness away"},
        {"threads", "N", OPTION_NUMBER, &threads, "threads to use (default: one a processor)"},
        {"memory", "BYTES", OPTION_BYTES, &memory, "most host memory to use, as 12GiB"},
        {"device-memory", "BYTES", OPTION_BYTES, &device_memory,
         "most memory of each card to use (default: what is free)"},
        {"isa", "NAME", OPTION_TEXT, &settings.isa, "instruction set path (see `cuzk version`)"},
        {"device", "NAMES", OPTION_TEXT, &settings.device,
         "where to prove: A, A,B or cuda:all (see `cuzk devices --help`; default: auto)"},
        {"repeat", "N", OPTION_NUMBER, &repeat, "prove N times, and report each"},
        {"overlap", "0|1", OPTION_NUMBER, &job.overlap,
         "make and start proofs beside others (default: 1 on cards)"},
    };
    const struct usage usage = {
        NULL, 0, 0,
        "Every proof is verified before it is written. Without --miner and --sector the result\n"
        "says that they were not checked. The network's keys are looked for in\n"
        "FIL_PROOFS_PARAMETER_CACHE, or /var/tmp/filecoin-proof-parameters.",
        OPTIONS(options)};
    struct output out;
    struct cuzk_error err;
    struct cuzk_insecure_rs rs;
    int code;
    if (!options_parse(&code, self, &usage, &argc, argv, &out))
        return code;
    if ((job.c1 != NULL) == (job.r1cs != NULL))
        return usage_error(&out, self, "exactly one of --c1 and --r1cs is needed");
    if (job.proof == NULL)
        return usage_error(&out, self, "--out is needed");
    if (job.make_key != NULL && job.params != NULL)
        return usage_error(&out, self, "--params and --make-key exclude each other");
    if (job.waste != NULL && job.make_key == NULL)
        return usage_error(&out, self, "--insecure-waste needs --make-key");
    if (miner.given != sector.given)
        return usage_error(&out, self, "--miner and --sector come together");
    if (miner.given && job.c1 == NULL)
        return usage_error(&out, self, "--miner needs --c1");
    if (repeat.value == 0)
        return usage_error(&out, self, "--repeat must be at least 1");
    if (repeat.value > 1000000)
        return usage_error(&out, self, "--repeat must be at most 1000000");
    if (job.overlap.value > 1)
        return usage_error(&out, self, "--overlap must be 0 or 1");
    if (threads.value > 1024)
        return usage_error(&out, self, "--threads must be at most 1024");
    if (rs_text != NULL) {
        if (parse_rs(&rs, rs_text, &err) != CUZK_OK)
            return output_fail(&out, &err, EXIT_FAILED);
        job.rs = &rs;
    }
    job.owner_given = miner.given;
    job.miner = miner.value;
    job.sector = sector.value;
    job.repeat = repeat.value;
    settings.threads = (unsigned)threads.value;
    settings.memory_limit = memory.value;
    settings.device_memory_limit = device_memory.value;
    cuzk_status status = prove(&out, &job, &settings, &err);
    cuzk_wipe(&rs, sizeof rs);
    if (status != CUZK_OK)
        return output_fail(&out, &err, EXIT_FAILED);
    return output_finish(&out, EXIT_DONE);
}

const struct command command_prove = {"prove", "Prove a sector from its C1 output", run};
