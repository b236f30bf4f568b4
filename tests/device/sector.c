/* A whole sector on one device: circuit and key made there, every partition proved, verified, and
 * held against what tau says.
 *
 * The waste is fixed, so each proof's points have known logarithms (tau.h).
 *
 * Every round of --repeat must give the first one's bytes, and the memory of device and host must
 * stay as it was after a few proofs. On a CUDA device the account plus what the driver had in use
 * at the start is held against what the driver says: after each proof, and with --watch at the
 * highest moment of the run.
 *
 * Prints a table of stages and memory, then `N passed, N failed`. Exit 77 without the device.
 */
#include <getopt.h>
#include <limits.h>
#include <unistd.h>

#include <zstd.h>

#include "cuda_test.h"
#include "memory.h"
#include "tau.h"

#include "base/alloc.h"
#include "base/os.h"
#include "circuit/porep_circuit.h"
#include "device/qap.h"
#include "format/c1.h"
#include "groth16/groth16.h"

struct run {
    const char *device, *circuit, *c1, *key, *setup, *proofs;
    unsigned partitions, repeat, threads;
    uint64_t device_memory;
    unsigned tau; /* partitions that are held against tau */
    bool stream, watch, refused;
};

static bool refusal_wanted;

static int die(const struct cuzk_error *err)
{
    if (refusal_wanted)
        printf("refused: %s: %s\n", cuzk_status_name(err->status), err->message);
    else
        printf("FAILED: %s: %s\n%u passed, %u failed\n", cuzk_status_name(err->status),
               err->message, test_passed, test_failed + 1);
    return 1;
}

static void print_account(const char *name, const struct cuzk_budget *budget)
{
    struct cuzk_account a;
    cuzk_budget_read(budget, &a);
    printf("memory of %-8s peak %8.2f GiB:", name, (double)a.peak / 1073741824.0);
    for (int i = 0; i < CUZK_PURPOSE_COUNT; i++)
        if (a.at_peak[i] != 0)
            printf(" %s %.2f", cuzk_purpose_name((enum cuzk_purpose)i),
                   (double)a.at_peak[i] / 1073741824.0);
    printf("\n");
}

/* ---- proving ---- */

struct prover {
    const struct run *run;
    struct cuzk_relation *relation;
    struct cuzk_key *key;
    const struct cuzk_porep_sector *sector;
    struct cuzk_insecure_rs rs;
};

/* One proof, and what it took. */
struct made {
    const struct prover *prover;
    unsigned number;
    cuzk_status status;
    struct cuzk_error err;
    uint8_t proof[CUZK_PROOF_BYTES];
    struct cuzk_prove_report report;
    const struct cuzk_device *device;
    double witness, seconds;
};

static void prove_one(void *context, size_t i, unsigned worker)
{
    struct made *made = (struct made *)context + i;
    const struct prover *prover = made->prover;
    const struct cuzk_relation *relation = prover->relation;
    struct cuzk_porep_vanilla vanilla;
    struct cuzk_witness *witness = NULL;
    struct cuzk_pending_proof *pending = NULL;
    const double start = cuzk_os_seconds();
    (void)worker;
    cuzk_porep_partition(&vanilla, prover->sector, made->number % prover->run->partitions);
    made->status = cuzk_porep_witness(&witness, relation->circuit, &vanilla,
                                      relation->context->host, &made->err);
    made->witness = cuzk_os_seconds() - start;
    if (made->status == CUZK_OK)
        made->status = cuzk_prove_start(&pending, prover->key, &witness, &made->err);
    if (made->status == CUZK_OK) {
        made->device = cuzk_prove_device(pending);
        made->status =
            cuzk_prove_finish(&pending, &prover->rs, made->proof, &made->report, &made->err);
    }
    cuzk_witness_free(witness);
    made->seconds = cuzk_os_seconds() - start;
}

static void print_made(const struct made *made)
{
    printf("partition %2u  %7.3f s: witness %.3f", made->number, made->seconds, made->witness);
    for (size_t i = 0; i < made->report.stage_count; i++)
        printf("  %s %.3f", made->report.stages[i].name, made->report.stages[i].seconds);
    printf("\n");
}

static cuzk_status hold_against_tau(const struct made *made, const struct cuzk_waste *waste,
                                    struct cuzk_error *err)
{
    const struct prover *prover = made->prover;
    const struct cuzk_relation *relation = prover->relation;
    struct cuzk_porep_vanilla vanilla;
    struct cuzk_witness *witness = NULL;
    uint8_t want[CUZK_PROOF_BYTES];
    fr log[3];
    cuzk_porep_partition(&vanilla, prover->sector, made->number);
    cuzk_status status =
        cuzk_porep_witness(&witness, relation->circuit, &vanilla, relation->context->host, err);
    if (status != CUZK_OK)
        return status;
    tau_logarithms(log, relation->qap, witness, waste, relation->context->threads);
    cuzk_witness_free(witness);
    tau_proof(want, log);
    test_result(memcmp(want, made->proof, sizeof want) == 0, "partition %u is not what tau says",
                made->number);
    return CUZK_OK;
}

/* All proofs, as many at once as the context has devices. bytes: one proof a partition. */
static cuzk_status prove_rounds(const struct prover *prover, uint8_t (*bytes)[CUZK_PROOF_BYTES],
                                struct made *made, struct cuzk_threads *at_once,
                                const struct cuzk_waste *waste, struct cuzk_error *err)
{
    const struct run *run = prover->run;
    const struct cuzk_context *context = prover->relation->context;
    const unsigned proofs = run->partitions * run->repeat,
                   devices = (unsigned)context->device_count;
    unsigned on[TEST_DEVICES] = {0};
    struct memory memory;
    double total = 0;
    memory_start(&memory, proofs);
    for (unsigned p = 0; p < proofs; p += devices) {
        const unsigned now = proofs - p < devices ? proofs - p : devices;
        for (unsigned i = 0; i < now; i++)
            made[i] = (struct made){.prover = prover, .number = p + i};
        const double start = cuzk_os_seconds();
        cuzk_threads_for(at_once, now, prove_one, made);
        total += cuzk_os_seconds() - start;
        for (unsigned i = 0; i < now; i++) {
            const unsigned partition = (p + i) % run->partitions;
            if (made[i].status != CUZK_OK) {
                *err = made[i].err;
                return err->status;
            }
            test_passed++; /* cuzk_prove_finish has verified it */
            for (unsigned d = 0; d < devices && d < TEST_DEVICES; d++)
                on[d] += made[i].device == context->devices[d];
            if (p + i >= run->partitions) {
                test_result(memcmp(bytes[partition], made[i].proof, sizeof bytes[0]) == 0,
                            "proof %u has other bytes than the first of its partition", p + i);
                continue;
            }
            memcpy(bytes[partition], made[i].proof, sizeof bytes[0]);
            print_made(&made[i]);
            if (p + i < run->tau) {
                cuzk_status status = hold_against_tau(&made[i], waste, err);
                if (status != CUZK_OK)
                    return status;
            }
        }
        memory_after(&memory, context, p + now);
        (void)fflush(stdout);
    }
    printf("%u proofs in %.3f s, %.4f s each", proofs, total, total / proofs);
    for (unsigned d = 0; d < devices && d < TEST_DEVICES; d++) {
        printf(", %u on %s", on[d], context->devices[d]->info.name);
        test_result(on[d] != 0 || proofs < devices, "%s made no proof",
                    context->devices[d]->info.name);
    }
    printf("; %u partitions held against tau\n",
           run->tau < run->partitions ? run->tau : run->partitions);
    memory_flat(&memory);
    return CUZK_OK;
}

static int prove_all(const struct run *run, struct cuzk_relation *relation, struct cuzk_key *key,
                     const struct cuzk_porep_sector *sector, const struct cuzk_waste *waste,
                     struct cuzk_error *err)
{
    struct prover prover = {.run = run, .relation = relation, .key = key, .sector = sector};
    const unsigned devices = (unsigned)relation->context->device_count;
    uint8_t(*bytes)[CUZK_PROOF_BYTES] = vector_allocate(run->partitions, sizeof *bytes);
    struct made *made = vector_allocate(devices, sizeof *made);
    struct cuzk_threads *at_once = NULL;
    bls12_381_fr_to_le(prover.rs.r, &waste->r);
    bls12_381_fr_to_le(prover.rs.s, &waste->s);
    cuzk_status status = cuzk_threads_create(&at_once, devices, err);
    if (status == CUZK_OK)
        status = prove_rounds(&prover, bytes, made, at_once, waste, err);
    cuzk_threads_destroy(at_once);
    if (status == CUZK_OK && run->proofs != NULL) {
        FILE *f = fopen(run->proofs, "wb");
        bool written =
            f != NULL && fwrite(bytes, sizeof *bytes, run->partitions, f) == run->partitions;
        written = f != NULL && fclose(f) == 0 && written;
        test_result(written, "%s: the proofs cannot be written", run->proofs);
    }
    free(bytes);
    free(made);
    return status != CUZK_OK ? die(err) : 0;
}

/* A C1 file, unpacked where it ends in .zst. */
static cuzk_status read_c1(struct cuzk_porep_sector **out, const char *path,
                           const struct cuzk_porep_params *params, struct cuzk_budget *host,
                           struct cuzk_error *err)
{
    const size_t most = (size_t)1 << 28, length = strlen(path);
    if (length < 4 || strcmp(path + length - 4, ".zst") != 0)
        return cuzk_c1_read(out, path, params, host, err);
    uint8_t *packed = NULL, *text = NULL;
    size_t size = 0;
    cuzk_status status = cuzk_os_read_file(&packed, &size, path, most, err);
    unsigned long long whole = ZSTD_CONTENTSIZE_ERROR;
    if (status == CUZK_OK) {
        whole = ZSTD_getFrameContentSize(packed, size);
        if (whole < most)
            text = malloc((size_t)whole + 1);
        if (text == NULL || ZSTD_decompress(text, (size_t)whole, packed, size) != whole)
            status = cuzk_fail(err, CUZK_E_FORMAT, "%s: damaged, or a frame without a size", path);
    }
    if (status == CUZK_OK)
        status = cuzk_c1_parse(out, path, text, (size_t)whole, params, host, err);
    free(text);
    cuzk_free(packed);
    return status;
}

/* The key that the run asks for: made and kept, from a file, or written to a file first. */
static cuzk_status open_key(struct cuzk_key **out, const struct run *run,
                            struct cuzk_relation *relation, const struct cuzk_waste *waste,
                            struct cuzk_error *err)
{
    char path[64];
    const char *key = run->key;
    cuzk_status status = CUZK_OK;
    if (key == NULL) {
        (void)snprintf(path, sizeof path, "/tmp/cuzk-sector-%ld.json", (long)getpid());
        const struct cuzk_setup_options options = {.insecure_waste = path};
        const double start = cuzk_os_seconds();
        if (!tau_write_waste(path, waste))
            status = cuzk_fail(err, CUZK_E_IO, "%s: cannot write", path);
        else if (run->setup == NULL)
            status = cuzk_key_make(out, relation, path, err);
        else
            status = cuzk_setup(relation, run->setup, NULL, &options, err);
        (void)remove(path);
        if (run->setup == NULL || status != CUZK_OK)
            return status;
        printf("setup       wrote %s in %.3f s\n", run->setup, cuzk_os_seconds() - start);
        key = run->setup;
    }
    return cuzk_key_open(out, relation, key, run->stream ? CUZK_KEY_STREAMED : CUZK_KEY_DECODED,
                         err);
}

static struct watch watches[TEST_DEVICES];

static void print_memory(const struct run *run, const struct cuzk_context *context)
{
    struct cuzk_os_memory used;
    for (size_t i = 0; i < context->device_count; i++)
        print_account(context->devices[i]->info.name, context->devices[i]->memory);
    print_account("host", context->host);
    memory_report(context, watches, run->device_memory);
    cuzk_os_memory_read(&used);
    printf("host peak RSS %.2f GiB\n", (double)used.peak_rss / 1073741824.0);
}

/* Circuit, sector, key, proofs; what was made is freed by the caller. */
struct parts {
    struct cuzk_relation *relation;
    struct cuzk_key *key;
    struct cuzk_porep_sector *sector;
};

static int run_parts(struct parts *parts, const struct run *run, struct cuzk_context *context,
                     const struct cuzk_porep_params *params, struct cuzk_error *err)
{
    struct cuzk_circuit *circuit = NULL;
    struct cuzk_waste waste = {0};
    struct run plan = *run;
    tau_fixed_waste(&waste);
    double start = cuzk_os_seconds();
    cuzk_status status = cuzk_porep_circuit(&circuit, params, context->host, err);
    if (status == CUZK_OK)
        status = cuzk_relation_create(&parts->relation, context, circuit, err);
    if (status != CUZK_OK)
        return die(err);
    printf("circuit     %s: %u rows, domain 2^%u, made and loaded in %.3f s\n", circuit->name,
           circuit->rows, parts->relation->qap->log2_domain, cuzk_os_seconds() - start);
    start = cuzk_os_seconds();
    if (read_c1(&parts->sector, run->c1, params, context->host, err) != CUZK_OK)
        return die(err);
    printf("c1          read in %.3f s\n", cuzk_os_seconds() - start);
    start = cuzk_os_seconds();
    if (open_key(&parts->key, run, parts->relation, &waste, err) != CUZK_OK)
        return die(err);
    double seconds = cuzk_os_seconds() - start;
    const double resident = (double)parts->key->loaded[0]->resident / 1e9;
    printf("key         %s in %.3f s, %.2f GB on the device (%.2f GB/s)\n",
           run->key != NULL ? "opened" : "made", seconds, resident, resident / seconds);
    (void)fflush(stdout);
    if (plan.partitions == 0 || plan.partitions > params->partitions)
        plan.partitions = params->partitions;
    return prove_all(&plan, parts->relation, parts->key, parts->sector, &waste, err);
}

/* With too little memory: the error must say what is needed and what there is. */
static int refused(int code, const struct cuzk_error *err)
{
    if (code == 0) {
        printf("FAILED: the proof was made; a refusal was expected\n%u passed, 1 failed\n",
               test_passed);
        return 1;
    }
    const char *p = err->message;
    unsigned numbers = 0; /* of bytes */
    for (; *p != '\0'; p++)
        if (*p >= '1' && *p <= '9') {
            numbers += strspn(p, "0123456789") >= 6;
            p += strspn(p, "0123456789") - 1;
        }
    test_result(err->status == CUZK_E_BUDGET || err->status == CUZK_E_DEVICE_MEMORY,
                "refused with %s, not for want of memory", cuzk_status_name(err->status));
    test_result(
        (strstr(err->message, "required") != NULL || strstr(err->message, "needed") != NULL) &&
            strstr(err->message, "available") != NULL && numbers >= 2,
        "the refusal does not name the bytes required and available");
    return test_end();
}

static int main_with(const struct run *run)
{
    struct cuzk_error err = {0};
    struct cuzk_context *context = NULL;
    struct parts parts = {0};
    refusal_wanted = run->refused;
    const struct cuzk_options options = {
        .device = run->device, .threads = run->threads, .device_memory_limit = run->device_memory};
    const struct cuzk_porep_params *params = cuzk_porep_by_circuit(run->circuit);
    if (params == NULL) {
        printf("no circuit %s\n", run->circuit);
        return 2;
    }
    if (cuzk_context_create(&context, &options, &err) != CUZK_OK) {
        if (err.status == CUZK_E_UNSUPPORTED || strstr(err.message, "no CUDA device") != NULL) {
            printf("skipped: %s\n", err.message);
            return 77;
        }
        return die(&err);
    }
    struct cuzk_account opened;
    cuzk_budget_read(context->host, &opened);
    for (size_t i = 0; i < context->device_count; i++) {
        printf("device      %s, %s\n", context->devices[i]->info.model, context->devices[i]->why);
        if (run->watch && memory_cuda(context, i) != NULL)
            watch_start(&watches[i], memory_cuda(context, i));
    }
    int code = run_parts(&parts, run, context, params, &err);
    print_memory(run, context);
    cuzk_key_close(parts.key);
    cuzk_porep_sector_destroy(parts.sector);
    cuzk_relation_free(parts.relation);
    struct cuzk_account left;
    cuzk_budget_read(context->host, &left);
    test_result(left.used == opened.used,
                "%" PRIu64 " bytes stay charged to the host, %" PRIu64 " of them the devices' own",
                left.used, opened.used);
    cuzk_context_free(context);
    if (run->refused)
        return refused(code, &err);
    return code != 0 ? code : test_end();
}

int main(int argc, char **argv)
{
    static const char usage[] =
        "Usage: sector --c1 FILE [--circuit NAME] [--device NAME] [--partitions N] [--repeat N]\n"
        "              [--key KEY.params | --setup KEY.params] [--stream] [--tau N | --no-tau]\n"
        "              [--device-memory BYTES [--refused]] [--threads N] [--watch] "
        "[--proofs FILE]\n"
        "Proves a sector with a key made on the device from a fixed waste and holds each partition "
        "against\n"
        "the polynomials at tau. C1 may end in .zst. --setup writes the key to a file and proves "
        "with that;\n"
        "--key takes a file that --setup wrote (--no-tau: any). --refused: memory must not "
        "suffice. --proofs\n"
        "writes the partitions' proofs one behind the other.";
    static const struct option options[] = {{"device", 1, NULL, 'd'},
                                            {"circuit", 1, NULL, 'c'},
                                            {"c1", 1, NULL, '1'},
                                            {"key", 1, NULL, 'k'},
                                            {"partitions", 1, NULL, 'p'},
                                            {"repeat", 1, NULL, 'r'},
                                            {"no-tau", 0, NULL, 'n'},
                                            {"device-memory", 1, NULL, 'm'},
                                            {"stream", 0, NULL, 's'},
                                            {"threads", 1, NULL, 't'},
                                            {"setup", 1, NULL, 'S'},
                                            {"watch", 0, NULL, 'w'},
                                            {"refused", 0, NULL, 'R'},
                                            {"tau", 1, NULL, 'T'},
                                            {"proofs", 1, NULL, 'o'},
                                            {"help", 0, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    struct run run = {.device = "cuda", .circuit = "porep-2KiB", .repeat = 1, .tau = UINT_MAX};
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (c) {
        case 'd':
            run.device = optarg;
            break;
        case 'c':
            run.circuit = optarg;
            break;
        case '1':
            run.c1 = optarg;
            break;
        case 'k':
            run.key = optarg;
            break;
        case 'S':
            run.setup = optarg;
            break;
        case 'w':
            run.watch = true;
            break;
        case 'R':
            run.refused = true;
            break;
        case 'o':
            run.proofs = optarg;
            break;
        case 'p':
            run.partitions = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 'r':
            run.repeat = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 'm':
            run.device_memory = strtoull(optarg, NULL, 10);
            break;
        case 't':
            run.threads = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 'n':
            run.tau = 0;
            break;
        case 'T':
            run.tau = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 's':
            run.stream = true;
            break;
        default:
            puts(usage);
            return c == 'h' ? 0 : 2;
        }
    }
    if (run.c1 == NULL || run.repeat == 0) {
        puts(usage);
        return 2;
    }
    return main_with(&run);
}
