/* A whole sector on one device: circuit and key made there, every partition proved, verified, and
 * held against what tau says.
 *
 * The waste is fixed, so each proof's points have known logarithms: with a, b, c the circuit's
 * polynomials over the witness and a', b', c' their part from the public inputs (all at tau),
 *     A = alpha + a + r·delta
 *     B = beta + b + s·delta
 *     C = (beta(a - a') + alpha(b - b') + (c - c') + a·b - c)/delta + s·A + r·B - r·s·delta
 * times the generators (Groth 2016). a, b and c at tau are sums over rows of Lagrange values times
 * A·w, B·w, C·w: no multi-exponentiation, no transform, nothing of the device.
 *
 * Every round of --repeat must give the first one's bytes, and the memory of device and host must
 * stay as it was after a few proofs. On a CUDA device the account plus what the driver had in use
 * at the start is held against what the driver says: after each proof, and with --watch at the
 * highest moment of the run.
 *
 * Prints a table of stages and memory, then `N passed, N failed`. Exit 77 without the device.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zstd.h>

#include "base/alloc.h"
#include "base/os.h"
#include "circuit/porep_circuit.h"
#include "device/cuda/backend.h"
#include "device/qap.h"
#include "format/c1.h"
#include "groth16/groth16.h"
#include "watch.h"

typedef struct bls12_381_fr fr;

struct run {
    const char *device, *circuit, *c1, *key, *setup, *proofs;
    unsigned partitions, repeat, threads;
    uint64_t device_memory;
    bool tau, stream, watch, refused;
};

static unsigned passed, failed;

static void check(bool ok, const char *what)
{
    if (ok)
        passed++;
    else
        failed++;
    if (!ok)
        printf("FAILED: %s\n", what);
}

static int die(const struct cuzk_error *err)
{
    printf("FAILED: %s: %s\n%u passed, %u failed\n", cuzk_status_name(err->status), err->message,
           passed, failed + 1);
    return 1;
}

static void fixed_waste(struct cuzk_waste *w)
{
    fr *secrets[] = {&w->alpha, &w->beta, &w->gamma, &w->delta, &w->tau, &w->r, &w->s};
    for (uint64_t i = 0; i < 7; i++) {
        fr x;
        bls12_381_fr_from_u64(&x, 1000003 + i);
        bls12_381_fr_pow_u64(secrets[i], &x, 0x123456789abcd + i);
    }
    w->has_rs = true;
}

/* The same as a file, in the form that --insecure-waste reads. */
static bool write_waste(const char *path, const struct cuzk_waste *w)
{
    const struct {
        const char *name;
        const fr *value;
    } members[] = {{"alpha", &w->alpha},
                   {"beta", &w->beta},
                   {"gamma", &w->gamma},
                   {"delta", &w->delta},
                   {"tau", &w->tau}};
    FILE *f = fopen(path, "w");
    if (f == NULL)
        return false;
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        uint8_t bytes[CUZK_FIELD_BYTES];
        bls12_381_fr_to_le(bytes, members[i].value);
        (void)fprintf(f, "%s\"%s\": \"", i == 0 ? "{" : ", ", members[i].name);
        for (size_t k = 0; k < sizeof bytes; k++)
            (void)fprintf(f, "%02x", bytes[k]);
        (void)fputc('"', f);
    }
    (void)fputs("}\n", f);
    return fclose(f) == 0;
}

/* sum over rows of L_row(tau)·(M·w)_row, in chunks over the threads. */
enum { CHUNK = 1 << 14 };
struct at_tau {
    const struct cuzk_circuit *circuit;
    const struct cuzk_witness *witness;
    int matrix;
    fr root, tau, factor; /* w, tau, (tau^n - 1)/n */
    fr *sums;             /* one a chunk */
};

static void lagrange_run(fr *out, const struct at_tau *t, uint64_t first, uint32_t count)
{
    /* L_i = factor·w^i/(tau - w^i), one inversion a run */
    fr power, product = bls12_381_fr_one, inverse;
    fr *up = malloc(2 * count * sizeof *up), *denominator = up + count;
    bls12_381_fr_pow_u64(&power, &t->root, first);
    for (uint32_t i = 0; i < count; i++) {
        bls12_381_fr_sub(&denominator[i], &t->tau, &power);
        up[i] = product;
        bls12_381_fr_mul(&product, &product, &denominator[i]);
        bls12_381_fr_mul(&out[i], &power, &t->factor);
        bls12_381_fr_mul(&power, &power, &t->root);
    }
    bls12_381_fr_inv(&inverse, &product);
    for (uint32_t i = count; i-- > 0;) {
        fr x;
        bls12_381_fr_mul(&x, &inverse, &up[i]);
        bls12_381_fr_mul(&out[i], &out[i], &x);
        bls12_381_fr_mul(&inverse, &inverse, &denominator[i]);
    }
    free(up);
}

static void at_tau_chunk(void *context, size_t i, unsigned worker)
{
    (void)worker;
    const struct at_tau *t = context;
    uint32_t rows = t->circuit->rows, all = rows + t->circuit->inputs;
    uint32_t first = (uint32_t)i * CHUNK, count = all - first < CHUNK ? all - first : CHUNK;
    fr *lagrange = malloc(2 * count * sizeof *lagrange), *values = lagrange + count;
    fr sum = bls12_381_fr_zero, x;
    memset(values, 0, count * sizeof *values);
    lagrange_run(lagrange, t, first, count);
    if (first < rows)
        cuzk_circuit_multiply(values, t->circuit, t->witness, t->matrix, first,
                              rows - first < count ? rows - first : count, NULL);
    if (t->matrix == CUZK_A)
        for (uint32_t k = 0; k < count; k++)
            if (first + k >= rows)
                values[k] = t->witness->inputs[first + k - rows];
    for (uint32_t k = 0; k < count; k++) {
        bls12_381_fr_mul(&x, &lagrange[k], &values[k]);
        bls12_381_fr_add(&sum, &sum, &x);
    }
    t->sums[i] = sum;
    free(lagrange);
}

static void at_tau(fr out[3], const struct cuzk_qap *qap, const struct cuzk_witness *witness,
                   const fr *tau, struct cuzk_threads *threads)
{
    struct at_tau t = {.circuit = qap->circuit,
                       .witness = witness,
                       .tau = *tau,
                       .root = {{BLS12_381_FR_ROOT_OF_UNITY}}};
    fr n;
    for (unsigned i = qap->log2_domain; i < BLS12_381_FR_TWO_ADICITY; i++)
        bls12_381_fr_sqr(&t.root, &t.root);
    bls12_381_fr_pow_u64(&t.factor, tau, (uint64_t)1 << qap->log2_domain);
    bls12_381_fr_sub(&t.factor, &t.factor, &bls12_381_fr_one);
    bls12_381_fr_from_u64(&n, (uint64_t)1 << qap->log2_domain);
    bls12_381_fr_inv(&n, &n);
    bls12_381_fr_mul(&t.factor, &t.factor, &n);
    size_t chunks = (qap->rows + (size_t)CHUNK - 1) / CHUNK;
    t.sums = calloc(chunks, sizeof *t.sums);
    for (t.matrix = 0; t.matrix < 3; t.matrix++) {
        cuzk_threads_for(threads, chunks, at_tau_chunk, &t);
        out[t.matrix] = bls12_381_fr_zero;
        for (size_t i = 0; i < chunks; i++)
            bls12_381_fr_add(&out[t.matrix], &out[t.matrix], &t.sums[i]);
    }
    free(t.sums);
}

/* The logarithms of A, B and C. */
static void expected(fr log[3], const struct cuzk_qap *qap, struct cuzk_witness *witness,
                     const struct cuzk_waste *w, struct cuzk_threads *threads)
{
    fr full[3], inputs[3], x, y, inverse;
    at_tau(full, qap, witness, &w->tau, threads);
    memset(witness->bits, 0, ((size_t)witness->aux_count + 63) / 64 * 8);
    memset(witness->values, 0, witness->dense_count * sizeof *witness->values);
    at_tau(inputs, qap, witness, &w->tau, threads);
    bls12_381_fr_mul(&x, &w->r, &w->delta);
    bls12_381_fr_add(&log[0], &w->alpha, &full[0]);
    bls12_381_fr_add(&log[0], &log[0], &x);
    bls12_381_fr_mul(&y, &w->s, &w->delta);
    bls12_381_fr_add(&log[1], &w->beta, &full[1]);
    bls12_381_fr_add(&log[1], &log[1], &y);
    fr c;
    bls12_381_fr_mul(&c, &full[0], &full[1]);
    bls12_381_fr_sub(&c, &c, &full[2]);
    const fr *factors[3] = {&w->beta, &w->alpha, &bls12_381_fr_one};
    for (int m = 0; m < 3; m++) {
        bls12_381_fr_sub(&x, &full[m], &inputs[m]);
        bls12_381_fr_mul(&x, &x, factors[m]);
        bls12_381_fr_add(&c, &c, &x);
    }
    bls12_381_fr_inv(&inverse, &w->delta);
    bls12_381_fr_mul(&c, &c, &inverse);
    bls12_381_fr_mul(&x, &w->s, &log[0]);
    bls12_381_fr_add(&c, &c, &x);
    bls12_381_fr_mul(&x, &w->r, &log[1]);
    bls12_381_fr_add(&c, &c, &x);
    bls12_381_fr_mul(&x, &w->r, &w->s);
    bls12_381_fr_mul(&x, &x, &w->delta);
    bls12_381_fr_sub(&log[2], &c, &x);
}

static void bytes_of(uint8_t out[CUZK_PROOF_BYTES], const fr log[3])
{
    static const struct bls12_381_g1_affine g1 = {{{BLS12_381_G1_GENERATOR_X}},
                                                  {{BLS12_381_G1_GENERATOR_Y}}};
    static const struct bls12_381_g2_affine g2 = {
        {{{BLS12_381_G2_GENERATOR_X_C0}}, {{BLS12_381_G2_GENERATOR_X_C1}}},
        {{{BLS12_381_G2_GENERATOR_Y_C0}}, {{BLS12_381_G2_GENERATOR_Y_C1}}}};
    const struct bls12_381_ops *curve = bls12_381_ops(NULL);
    struct bls12_381_g1 p, q;
    struct bls12_381_g2 u, v;
    struct bls12_381_g1_affine a;
    struct bls12_381_g2_affine b;
    curve->g1_from_affine(&p, &g1);
    curve->g2_from_affine(&u, &g2);
    curve->g1_mul(&q, &p, &log[0]);
    curve->g1_to_affine(&a, &q);
    curve->g1_encode(out, &a, 1, true);
    curve->g2_mul(&v, &u, &log[1]);
    curve->g2_to_affine(&b, &v);
    curve->g2_encode(out + 48, &b, 1, true);
    curve->g1_mul(&q, &p, &log[2]);
    curve->g1_to_affine(&a, &q);
    curve->g1_encode(out + 144, &a, 1, true);
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

/* ---- memory ---- */

static double mib(uint64_t bytes)
{
    return (double)bytes / 1048576.0;
}

static struct watch watch;

static struct cuzk_cuda *cuda_device(const struct cuzk_context *context)
{
    if (strcmp(context->devices[0]->ops->backend, "cuda") != 0)
        return NULL;
    return cuda_of(context->devices[0])->cuda;
}

static void agree(uint64_t account, uint64_t driver, const char *when)
{
    bool ok = watch_agrees(account, driver);
    check(ok, "the account and the baseline are what the driver says");
    if (!ok)
        printf("        %s: account and baseline %.1f MiB, driver %.1f MiB (other processes on the "
               "device count too: run alone)\n",
               when, mib(account), mib(driver));
}

static void memory_watch(const struct cuzk_context *context)
{
    struct cuzk_cuda *device = cuda_device(context);
    if (device != NULL)
        watch_start(&watch, device);
}

/* After a proof: pool and budget agree, and with the baseline they are what the driver says. */
static void memory_check(const struct cuzk_context *context, struct cuzk_cuda_account *a)
{
    struct cuzk_cuda *device = cuda_device(context);
    struct cuzk_account account;
    struct cuzk_error err;
    memset(a, 0, sizeof *a);
    if (device == NULL)
        return;
    cuzk_budget_read(context->devices[0]->memory, &account);
    if (cuzk_cuda_account_read(device, a, &err) != CUZK_OK) {
        check(false, err.message);
        return;
    }
    check(a->used == account.used, "the account is charged with what the pool has handed out");
    agree(a->held + a->baseline, a->driver, "after a proof");
}

static void memory_report(const struct run *run, const struct cuzk_context *context)
{
    struct cuzk_cuda *device = cuda_device(context);
    struct cuzk_cuda_account a;
    struct cuzk_error err;
    watch_stop(&watch);
    if (device == NULL)
        return;
    if (cuzk_cuda_account_read(device, &a, &err) != CUZK_OK) {
        check(false, err.message);
        return;
    }
    printf("memory of %-8s pool: handed out %.1f MiB, held %.1f; at the highest %.1f, %.1f; "
           "baseline %.1f; driver %.1f now",
           context->devices[0]->info.name, mib(a.used), mib(a.held), mib(a.peak_used),
           mib(a.peak_held), mib(a.baseline), mib(a.driver));
    if (run->watch) {
        uint64_t highest = atomic_load(&watch.highest);
        printf(", %.1f at the highest (%" PRIu64 " samples)", mib(highest),
               atomic_load(&watch.samples));
        check(atomic_load(&watch.samples) > 0, "the driver was asked while the device worked");
        agree(a.peak_held + a.baseline, highest, "at the highest");
        if (run->device_memory != 0)
            check(highest <= a.baseline + run->device_memory + run->device_memory / 100 * 3 +
                                 ((uint64_t)64 << 20),
                  "the device never held more than its budget");
    }
    printf("\n");
}

/* What one proof leaves, on the device and on the host. */
struct level {
    struct cuzk_cuda_account device;
    uint64_t used, anon;
};

static void level_read(struct level *level, const struct cuzk_context *context)
{
    struct cuzk_account account;
    struct cuzk_os_memory host;
    memory_check(context, &level->device);
    cuzk_budget_read(context->devices[0]->memory, &account);
    cuzk_os_memory_read(&host);
    level->used = account.used;
    level->anon = host.anon;
}

/* From the warm-up's level to the last one's. */
static void check_flat(const struct level *warm, const struct level *last, unsigned proofs)
{
    const uint64_t few = (uint64_t)8 << 20;
    printf("memory over %u proofs after the warm-up: device used %+.1f MiB, held %+.1f, driver "
           "%+.1f; host anonymous %+.1f\n",
           proofs, mib(last->used) - mib(warm->used),
           mib(last->device.held) - mib(warm->device.held),
           mib(last->device.driver) - mib(warm->device.driver), mib(last->anon) - mib(warm->anon));
    check(last->device.held <= warm->device.held, "the pool is flat from proof to proof");
    check(last->device.driver <= warm->device.driver + few,
          "the driver's count is flat from proof to proof (other processes disturb it: run alone)");
    check(last->anon <= warm->anon + few, "the host's memory is flat from proof to proof");
}

static int prove_all(const struct run *run, struct cuzk_relation *relation, struct cuzk_key *key,
                     const struct cuzk_porep_sector *sector, const struct cuzk_waste *waste,
                     struct cuzk_error *err)
{
    struct cuzk_context *context = relation->context;
    struct cuzk_insecure_rs rs;
    bls12_381_fr_to_le(rs.r, &waste->r);
    bls12_381_fr_to_le(rs.s, &waste->s);
    double total = 0;
    const unsigned proofs = run->partitions * run->repeat;
    const unsigned warm_up = proofs / 4 < 20 ? proofs / 4 : 20;
    struct level first = {0}, warm = {0}, now = {0};
    uint8_t(*bytes)[CUZK_PROOF_BYTES] = calloc(run->partitions, sizeof *bytes);
    if (bytes == NULL)
        return 1;
    for (unsigned p = 0; p < proofs; p++) {
        struct cuzk_porep_vanilla vanilla;
        struct cuzk_witness *witness = NULL;
        struct cuzk_prove_report report;
        uint8_t proof[CUZK_PROOF_BYTES], want[CUZK_PROOF_BYTES];
        double start = cuzk_os_seconds();
        cuzk_porep_partition(&vanilla, sector, p % run->partitions);
        cuzk_status status =
            cuzk_porep_witness(&witness, relation->circuit, &vanilla, context->host, err);
        double made = cuzk_os_seconds();
        if (status == CUZK_OK)
            status = cuzk_prove(key, &witness, &rs, proof, &report, err);
        cuzk_witness_free(witness);
        if (status != CUZK_OK) {
            free(bytes);
            return die(err);
        }
        double done = cuzk_os_seconds();
        total += done - start;
        passed++; /* cuzk_prove has verified it */
        if (p < run->partitions)
            memcpy(bytes[p], proof, sizeof proof);
        else
            check(memcmp(bytes[p % run->partitions], proof, sizeof proof) == 0,
                  "a repeated proof has the first one's bytes");
        if (p < run->partitions) {
            printf("partition %2u  %7.3f s: witness %.3f", p, done - start, made - start);
            for (size_t i = 0; i < report.stage_count; i++)
                printf("  %s %.3f", report.stages[i].name, report.stages[i].seconds);
            printf("\n");
        }
        if (run->tau && p < run->partitions) {
            fr log[3];
            cuzk_porep_partition(&vanilla, sector, p);
            status = cuzk_porep_witness(&witness, relation->circuit, &vanilla, context->host, err);
            if (status != CUZK_OK) {
                free(bytes);
                return die(err);
            }
            expected(log, relation->qap, witness, waste, context->threads);
            cuzk_witness_free(witness);
            bytes_of(want, log);
            check(memcmp(want, proof, sizeof want) == 0, "the proof is what tau says");
        }
        level_read(&now, context);
        if (p == 0)
            first = now;
        if (p + 1 == warm_up)
            warm = now;
        check(now.used == first.used, "the device's account is flat from proof to proof");
        (void)fflush(stdout);
    }
    printf("%u proofs in %.3f s, %.4f s each%s\n", proofs, total, total / proofs,
           run->tau ? ", each partition held against tau" : "");
    if (warm_up != 0)
        check_flat(&warm, &now, proofs - warm_up);
    if (run->proofs != NULL) {
        FILE *f = fopen(run->proofs, "wb");
        check(f != NULL && fwrite(bytes, sizeof *bytes, run->partitions, f) == run->partitions,
              "the proofs are written");
        check(f != NULL && fclose(f) == 0, "the proofs are written");
    }
    free(bytes);
    return 0;
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
        if (!write_waste(path, waste))
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

static void print_memory(const struct run *run, const struct cuzk_context *context)
{
    struct cuzk_os_memory used;
    print_account(context->devices[0]->info.name, context->devices[0]->memory);
    print_account("host", context->host);
    memory_report(run, context);
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
    fixed_waste(&waste);
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
        printf("FAILED: the proof was made; a refusal was expected\n%u passed, 1 failed\n", passed);
        return 1;
    }
    const char *p = err->message;
    unsigned numbers = 0; /* of bytes */
    for (; *p != '\0'; p++)
        if (*p >= '1' && *p <= '9') {
            numbers += strspn(p, "0123456789") >= 6;
            p += strspn(p, "0123456789") - 1;
        }
    passed = failed = 0;
    check(err->status == CUZK_E_BUDGET || err->status == CUZK_E_DEVICE_MEMORY,
          "the refusal is one for want of memory");
    check((strstr(err->message, "required") != NULL || strstr(err->message, "needed") != NULL) &&
              strstr(err->message, "available") != NULL && numbers >= 2,
          "the refusal names the bytes required and available");
    printf("refused as expected; %u passed, %u failed\n", passed, failed);
    return failed != 0;
}

static int main_with(const struct run *run)
{
    struct cuzk_error err = {0};
    struct cuzk_context *context = NULL;
    struct parts parts = {0};
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
    printf("device      %s, %s\n", context->devices[0]->info.model, context->devices[0]->why);
    if (run->watch)
        memory_watch(context);
    int code = run_parts(&parts, run, context, params, &err);
    print_memory(run, context);
    cuzk_key_close(parts.key);
    cuzk_porep_sector_destroy(parts.sector);
    cuzk_relation_free(parts.relation);
    struct cuzk_account left;
    cuzk_budget_read(context->host, &left);
    check(left.used == 0, "nothing stays charged to the host");
    cuzk_context_free(context);
    if (run->refused)
        return refused(code, &err);
    if (code == 0)
        printf("%u passed, %u failed\n", passed, failed);
    return code != 0 ? code : failed != 0;
}

int main(int argc, char **argv)
{
    static const char usage[] =
        "Usage: sector --c1 FILE [--circuit NAME] [--device NAME] [--partitions N] [--repeat N]\n"
        "              [--key KEY.params | --setup KEY.params] [--stream] [--no-tau]\n"
        "              [--device-memory BYTES [--refused]] [--threads N] [--watch] "
        "[--proofs FILE]\n"
        "Proves a sector with a key made on the device from a fixed waste and holds each partition "
        "against\n"
        "the polynomials at tau. C1 may end in .zst. --setup writes the key to a file and proves "
        "with that;\n"
        "--key takes a file that --setup wrote (--no-tau: any). --refused: memory must not "
        "suffice. --proofs\n"
        "writes the partitions' proofs one behind the other.";
    static const struct option options[] = {
        {"device", 1, NULL, 'd'},  {"circuit", 1, NULL, 'c'},       {"c1", 1, NULL, '1'},
        {"key", 1, NULL, 'k'},     {"partitions", 1, NULL, 'p'},    {"repeat", 1, NULL, 'r'},
        {"no-tau", 0, NULL, 'n'},  {"device-memory", 1, NULL, 'm'}, {"stream", 0, NULL, 's'},
        {"threads", 1, NULL, 't'}, {"setup", 1, NULL, 'S'},         {"watch", 0, NULL, 'w'},
        {"refused", 0, NULL, 'R'}, {"proofs", 1, NULL, 'o'},        {"help", 0, NULL, 'h'},
        {NULL, 0, NULL, 0}};
    struct run run = {.device = "cuda", .circuit = "porep-2KiB", .repeat = 1, .tau = true};
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
            run.tau = false;
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
