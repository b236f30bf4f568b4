/* A whole proof of a 2 KiB sector and the setup of its key, as multiples of the time that the peer
 * takes for one multi-exponentiation over 2^22 points of G1.
 *
 *     bench_prove [--peer LIBRARY] [--circuit NAME] [--threads N] [--params FILE] [--no-setup]
 *
 * The sector is a mock one; the key goes to FILE (default: bench_prove.params in $TMPDIR, removed
 * at the end), and --no-setup takes the one that is there. Seconds are of the wall and, in
 * brackets, of all processors: on a busy machine the latter are what to compare. The peer's points
 * are the key's own, its scalars random, its work cut in as many parts as there are threads.
 */
#include "peer.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os.h"
#include "circuit/porep_circuit.h"
#include "circuit/porep_mock.h"
#include "groth16/groth16.h"

enum { PEER_LOG2 = 22 };

struct times {
    double wall, processors;
};

static struct times now(void)
{
    return (struct times){cuzk_os_seconds(), cuzk_os_process_cpu_seconds()};
}

static struct times since(struct times start)
{
    struct times t = now();
    return (struct times){t.wall - start.wall, t.processors - start.processors};
}

static void must(cuzk_status status, const struct cuzk_error *err)
{
    if (status == CUZK_OK)
        return;
    (void)fprintf(stderr, "bench_prove: %s\n", err->message);
    exit(1);
}

static void *need(size_t count, size_t size)
{
    void *p = cuzk_calloc(count, size);
    if (p == NULL) {
        (void)fprintf(stderr, "bench_prove: out of memory\n");
        exit(1);
    }
    return p;
}

struct part {
    const struct peer *peer;
    const struct bls12_381_g1_affine *points;
    const uint8_t *scalars;
    size_t n;
    uint64_t *scratch;
    struct bls12_381_g1 sum;
};

static void *peer_part(void *context)
{
    struct part *p = context;
    const void *points[2] = {p->points, NULL};
    const uint8_t *scalars[2] = {p->scalars, NULL};
    p->peer->p1s_mult_pippenger(&p->sum, points, p->n, scalars, 255, p->scratch);
    return NULL;
}

/* The peer's multi-exponentiation over points of the key's section h, repeated as needed. */
static struct times run_peer(const struct peer *peer, const struct cuzk_params *params,
                             unsigned threads)
{
    struct cuzk_error err;
    size_t n = (size_t)1 << PEER_LOG2, have = params->count[CUZK_H];
    struct bls12_381_g1_affine *points = need(n, sizeof *points);
    uint8_t *scalars = need(n, 32);
    struct part *parts = need(threads, sizeof *parts);
    pthread_t *ids = need(threads, sizeof *ids);
    for (size_t done = 0; done < n;) {
        size_t count = n - done < have ? n - done : have;
        must(cuzk_params_g1(params, CUZK_H, points + done, 0, count, &err), &err);
        done += count;
    }
    must(cuzk_os_random(scalars, 32 * n, &err), &err);
    for (size_t i = 0; i < n; i++)
        scalars[32 * i + 31] &= 0x3f;
    for (unsigned i = 0; i < threads; i++) {
        size_t first = n * i / threads, end = n * (i + 1) / threads;
        size_t bytes = peer->p1s_mult_pippenger_scratch_sizeof(end - first);
        parts[i] = (struct part){peer,        points + first, scalars + 32 * first,
                                 end - first, need(1, bytes), {{{0}}, {{0}}, {{0}}}};
        memset(parts[i].scratch, 1, bytes); /* pages are there before the clock starts */
    }
    struct times start = now();
    for (unsigned i = 1; i < threads; i++)
        if (pthread_create(&ids[i], NULL, peer_part, &parts[i]) != 0)
            exit(1);
    (void)peer_part(&parts[0]);
    for (unsigned i = 1; i < threads; i++)
        (void)pthread_join(ids[i], NULL);
    struct times took = since(start);
    for (unsigned i = 0; i < threads; i++)
        cuzk_free(parts[i].scratch);
    cuzk_free(points);
    cuzk_free(scalars);
    cuzk_free(parts);
    cuzk_free(ids);
    return took;
}

static void row(const char *name, struct times t, const struct times *peer)
{
    (void)printf("%-12s %8.2f s  (%8.2f)", name, t.wall, t.processors);
    if (peer != NULL)
        (void)printf("   %5.2f x the peer's 2^%d  (%5.2f)", t.wall / peer->wall, PEER_LOG2,
                     t.processors / peer->processors);
    (void)printf("\n");
    (void)fflush(stdout);
}

int main(int argc, char **argv)
{
    struct cuzk_error err;
    struct cuzk_options options = {.device = "cpu"};
    const char *library = NULL, *name = "porep-2KiB", *key_path = NULL;
    bool setup = true;
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (more && strcmp(argv[i], "--peer") == 0) {
            library = argv[++i];
        } else if (more && strcmp(argv[i], "--circuit") == 0) {
            name = argv[++i];
        } else if (more && strcmp(argv[i], "--threads") == 0) {
            options.threads = (unsigned)strtoul(argv[++i], NULL, 10);
        } else if (more && strcmp(argv[i], "--params") == 0) {
            key_path = argv[++i];
        } else if (strcmp(argv[i], "--no-setup") == 0) {
            setup = false;
        } else {
            (void)fprintf(stderr, "usage: bench_prove [--peer LIBRARY] [--circuit NAME] "
                                  "[--threads N] [--params FILE] [--no-setup]\n");
            return 2;
        }
    }
    struct peer peer;
    if (library != NULL && !peer_open(&peer, library))
        return 1;
    const struct cuzk_porep_params *porep = cuzk_porep_by_circuit(name);
    if (porep == NULL) {
        (void)fprintf(stderr, "bench_prove: %s is no PoRep circuit\n", name);
        return 2;
    }
    char scratch[4096];
    const char *folder = getenv("TMPDIR");
    (void)snprintf(scratch, sizeof scratch, "%s/bench_prove.params",
                   folder != NULL ? folder : "/tmp");

    struct cuzk_context *context;
    struct cuzk_relation *relation;
    struct cuzk_porep_sector *sector;
    struct cuzk_porep_owner owner;
    struct cuzk_porep_vanilla vanilla;
    struct cuzk_witness *witness;
    struct cuzk_key *key;
    struct cuzk_prove_report report;
    struct cuzk_account account;
    uint8_t proof[CUZK_PROOF_BYTES];
    must(cuzk_context_create(&context, &options, &err), &err);
    must(cuzk_relation_open(&relation, NULL, context, name, &err), &err);
    must(cuzk_porep_mock(&sector, &owner, porep, 1, context->host, &err), &err);
    cuzk_porep_partition(&vanilla, sector, 0);
    struct times took_setup = {0, 0}, took_peer = {0, 0};
    if (setup) {
        struct times start = now();
        must(cuzk_setup(relation, key_path != NULL ? key_path : scratch, NULL, NULL, &err), &err);
        took_setup = since(start);
        cuzk_budget_read(context->host, &account);
    }
    must(cuzk_key_open(&key, relation, key_path != NULL ? key_path : scratch, CUZK_KEY_STREAMED,
                       &err),
         &err);
    if (library != NULL) {
        took_peer = run_peer(&peer, key->params, cuzk_threads_count(context->threads));
        row("peer", took_peer, NULL);
    }
    const struct times *against = library != NULL ? &took_peer : NULL;
    if (setup) {
        row("setup", took_setup, against);
        (void)printf("  peak %.0f MB\n", (double)account.peak * 1e-6);
    }
    must(cuzk_porep_witness(&witness, relation->circuit, &vanilla, context->host, &err), &err);
    struct times start = now();
    must(cuzk_prove(key, &witness, NULL, proof, &report, &err), &err);
    row("proof", since(start), against);
    (void)printf("  peak %.0f MB%s\n", (double)report.memory_peak * 1e-6,
                 setup ? " (of setup and proof)" : "");
    for (size_t i = 0; i < report.stage_count; i++)
        (void)printf("  %-10s %8.3f s\n", report.stages[i].name, report.stages[i].seconds);
    cuzk_key_close(key);
    cuzk_porep_sector_destroy(sector);
    cuzk_relation_free(relation);
    cuzk_context_free(context);
    if (setup && key_path == NULL)
        (void)unlink(scratch);
    return 0;
}
