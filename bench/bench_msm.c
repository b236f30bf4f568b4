/* Speeds of multi-exponentiation and of fixed-base products, as ratios against a peer.
 *
 *     bench_msm [--peer LIBRARY] [--isa NAME] [--threads N] [--log2 K]… [--g2] [--repeat N]
 * [--wall]
 *
 * Processor time of all threads, divided by their number; ours and the peer's in turn, best of N.
 * With --wall the wall's time, for a machine that does nothing else. The peer gets its points in as
 * many parts as there are threads. Points are
 * random multiples of the generator; scalars are random; "2%" has one random scalar in 50 and bits
 * elsewhere, a witness' shape.
 */
#include "peer.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/os.h"
#include "curve/bls12_381/ops.h"

struct options {
    const char *isa;
    unsigned threads, repeat;
    bool g2;
    unsigned log2[16];
    unsigned sizes;
};

struct input {
    size_t n;
    struct bls12_381_g1_affine *g1;
    struct bls12_381_g2_affine *g2;
    struct bls12_381_fr *k;
    uint8_t *bytes; /* k, 32 bytes little endian each */
    uint64_t *is_bit, *bits;
};

static bool by_the_wall;

static double clock_of(unsigned threads)
{
    return by_the_wall ? cuzk_os_seconds() : cuzk_os_process_cpu_seconds() / threads;
}

static void *need(size_t count, size_t size)
{
    void *p = cuzk_calloc(count, size);
    if (p == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return p;
}

static void must(cuzk_status status, const struct cuzk_error *err)
{
    if (status == CUZK_OK)
        return;
    fprintf(stderr, "%s\n", err->message);
    exit(1);
}

static struct bls12_381_fr random_fr(void)
{
    static uint64_t state = 1;
    uint64_t words[4];
    struct bls12_381_fr r;
    for (int i = 0; i < 4; i++) {
        uint64_t z = state += 0x9e3779b97f4a7c15;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
        z = (z ^ z >> 27) * 0x94d049bb133111eb;
        words[i] = z ^ z >> 31;
    }
    words[3] &= 0x7fffffffffffffff;
    return bls12_381_fr_from_limbs(&r, words) ? r : random_fr();
}

struct part {
    const struct peer *peer;
    const struct input *in;
    size_t first, n;
    bool g2;
    struct bls12_381_g2 sum; /* or a g1 in its beginning */
    uint64_t *scratch;
};

static void *peer_part(void *context)
{
    struct part *p = context;
    const uint8_t *scalars[2] = {p->in->bytes + 32 * p->first, NULL};
    if (p->g2) {
        const void *points[2] = {p->in->g2 + p->first, NULL};
        p->peer->p2s_mult_pippenger(&p->sum, points, p->n, scalars, 255, p->scratch);
    } else {
        const void *points[2] = {p->in->g1 + p->first, NULL};
        p->peer->p1s_mult_pippenger(&p->sum, points, p->n, scalars, 255, p->scratch);
    }
    return NULL;
}

/* The sum in *out, the seconds as result. */
static double run_peer(void *out, const struct peer *peer, const struct bls12_381_ops *ops,
                       const struct input *in, bool g2, unsigned threads)
{
    struct part *parts = need(threads, sizeof *parts);
    pthread_t *ids = need(threads, sizeof *ids);
    for (unsigned i = 0; i < threads; i++) {
        size_t first = in->n * i / threads, end = in->n * (i + 1) / threads;
        parts[i] =
            (struct part){.peer = peer, .in = in, .first = first, .n = end - first, .g2 = g2};
        size_t bytes = g2 ? peer->p2s_mult_pippenger_scratch_sizeof(parts[i].n)
                          : peer->p1s_mult_pippenger_scratch_sizeof(parts[i].n);
        parts[i].scratch = need(1, bytes);
        memset(parts[i].scratch, 1, bytes); /* pages are there before the clock starts */
    }
    double start = clock_of(threads);
    for (unsigned i = 1; i < threads; i++)
        if (pthread_create(&ids[i], NULL, peer_part, &parts[i]) != 0)
            exit(1);
    peer_part(&parts[0]);
    for (unsigned i = 1; i < threads; i++)
        pthread_join(ids[i], NULL);
    for (unsigned i = 1; i < threads; i++)
        if (g2)
            ops->g2_add(&parts[0].sum, &parts[0].sum, &parts[i].sum);
        else
            ops->g1_add((struct bls12_381_g1 *)&parts[0].sum, (struct bls12_381_g1 *)&parts[0].sum,
                        (struct bls12_381_g1 *)&parts[i].sum);
    double seconds = clock_of(threads) - start;
    memcpy(out, &parts[0].sum, g2 ? sizeof(struct bls12_381_g2) : sizeof(struct bls12_381_g1));
    for (unsigned i = 0; i < threads; i++)
        cuzk_free(parts[i].scratch);
    cuzk_free(parts);
    cuzk_free(ids);
    return seconds;
}

static double run_ours(void *out, const struct bls12_381_ops *ops, const struct input *in, bool g2,
                       bool compact, const struct cuzk_run *run)
{
    struct cuzk_error err;
    struct bls12_381_scalars scalars = {.values = in->k};
    if (compact) {
        scalars.is_bit = in->is_bit;
        scalars.bits = in->bits;
    }
    struct bls12_381_g1_source s1 = {.points = in->g1};
    struct bls12_381_g2_source s2 = {.points = in->g2};
    unsigned threads = cuzk_threads_count(run->threads);
    double start = clock_of(threads);
    must(g2 ? ops->g2_msm(out, &s2, &scalars, in->n, run, &err)
            : ops->g1_msm(out, &s1, &scalars, in->n, run, &err),
         &err);
    return clock_of(threads) - start;
}

static bool same(const struct bls12_381_ops *ops, const void *a, const void *b, bool g2)
{
    struct bls12_381_g2_affine x, y;
    if (g2) {
        ops->g2_to_affine(&x, a);
        ops->g2_to_affine(&y, b);
        return memcmp(&x, &y, sizeof x) == 0;
    }
    ops->g1_to_affine((struct bls12_381_g1_affine *)&x, a);
    ops->g1_to_affine((struct bls12_381_g1_affine *)&y, b);
    return memcmp(&x, &y, sizeof(struct bls12_381_g1_affine)) == 0;
}

static void row(const char *name, unsigned log2, double ours, double peer, uint64_t scratch)
{
    printf("%-16s 2^%-4u %9.1f ms %8.1f k/s", name, log2, 1e3 * ours,
           (double)((size_t)1 << log2) / ours * 1e-3);
    if (peer != 0)
        printf("   peer %9.1f ms   %5.2f x", 1e3 * peer, peer / ours);
    if (scratch != 0)
        printf("   %.1f MB scratch", (double)scratch * 1e-6);
    printf("\n");
    fflush(stdout);
}

static void bench_size(const struct options *o, const struct bls12_381_ops *ops,
                       const struct peer *peer, unsigned log2, struct cuzk_run *run)
{
    static const struct bls12_381_g1_affine generator1 = {{{BLS12_381_G1_GENERATOR_X}},
                                                          {{BLS12_381_G1_GENERATOR_Y}}};
    static const struct bls12_381_g2_affine generator2 = {
        {{{BLS12_381_G2_GENERATOR_X_C0}}, {{BLS12_381_G2_GENERATOR_X_C1}}},
        {{{BLS12_381_G2_GENERATOR_Y_C0}}, {{BLS12_381_G2_GENERATOR_Y_C1}}}};
    struct cuzk_error err;
    size_t n = (size_t)1 << log2;
    struct input in = {.n = n, .k = need(n, 32), .bytes = need(n, 32)};
    in.is_bit = need(n / 64 + 1, 8);
    in.bits = need(n / 64 + 1, 8);
    for (size_t i = 0; i < n; i++)
        in.k[i] = random_fr();
    double start = clock_of(o->threads);
    if (o->g2) {
        in.g2 = need(n, sizeof *in.g2);
        must(ops->g2_fixed_base(in.g2, &generator2, in.k, n, run, &err), &err);
    } else {
        in.g1 = need(n, sizeof *in.g1);
        must(ops->g1_fixed_base(in.g1, &generator1, in.k, n, run, &err), &err);
    }
    row(o->g2 ? "g2 fixed base" : "g1 fixed base", log2, clock_of(o->threads) - start, 0, 0);
    for (size_t i = 0; i < n; i++) {
        in.k[i] = random_fr();
        bls12_381_fr_to_le(in.bytes + 32 * i, &in.k[i]);
        if (in.k[i].l[0] % 50 != 0) {
            in.is_bit[i / 64] |= (uint64_t)1 << (i % 64);
            in.bits[i / 64] |= (in.k[i].l[1] & 1) << (i % 64);
        }
    }
    struct bls12_381_g2 sum, other;
    double ours = 0, theirs = 0, compact = 0;
    struct cuzk_account account;
    must(cuzk_budget_create(&run->budget, "bench", UINT64_MAX, NULL, &err), &err);
    for (unsigned i = 0; i < o->repeat; i++) {
        double t = run_ours(&sum, ops, &in, o->g2, false, run);
        ours = i == 0 || t < ours ? t : ours;
        if (peer == NULL)
            continue;
        t = run_peer(&other, peer, ops, &in, o->g2, o->threads);
        theirs = i == 0 || t < theirs ? t : theirs;
        if (!same(ops, &sum, &other, o->g2)) {
            fprintf(stderr, "ours and the peer's sums differ\n");
            exit(1);
        }
    }
    cuzk_budget_read(run->budget, &account);
    row(o->g2 ? "g2 random" : "g1 random", log2, ours, theirs, account.peak);
    for (unsigned i = 0; i < o->repeat; i++) {
        double t = run_ours(&sum, ops, &in, o->g2, true, run);
        compact = i == 0 || t < compact ? t : compact;
    }
    row(o->g2 ? "g2 2%" : "g1 2%", log2, compact, 0, 0);
    cuzk_budget_destroy(run->budget);
    run->budget = NULL;
    cuzk_free(in.g1);
    cuzk_free(in.g2);
    cuzk_free(in.k);
    cuzk_free(in.bytes);
    cuzk_free(in.is_bit);
    cuzk_free(in.bits);
}

int main(int argc, char **argv)
{
    struct options o = {.threads = 1, .repeat = 2};
    const char *library = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--g2") == 0) {
            o.g2 = true;
            continue;
        }
        if (strcmp(argv[i], "--wall") == 0) {
            by_the_wall = true;
            continue;
        }
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (value != NULL && strcmp(argv[i], "--peer") == 0)
            library = value;
        else if (value != NULL && strcmp(argv[i], "--isa") == 0)
            o.isa = value;
        else if (value != NULL && strcmp(argv[i], "--threads") == 0)
            o.threads = (unsigned)strtoul(value, NULL, 10);
        else if (value != NULL && strcmp(argv[i], "--repeat") == 0)
            o.repeat = (unsigned)strtoul(value, NULL, 10);
        else if (value != NULL && strcmp(argv[i], "--log2") == 0 && o.sizes < 16)
            o.log2[o.sizes++] = (unsigned)strtoul(value, NULL, 10);
        else {
            fprintf(stderr,
                    "usage: %s [--peer LIBRARY] [--isa NAME] [--threads N] [--log2 K]… "
                    "[--g2] [--repeat N] [--wall]\n",
                    argv[0]);
            return 2;
        }
        i++;
    }
    struct peer peer;
    struct cuzk_error err;
    struct cuzk_run run = {0};
    const struct bls12_381_ops *ops = bls12_381_ops(o.isa);
    if (ops == NULL || o.threads == 0 || o.repeat == 0) {
        fprintf(stderr, "no such instruction set, or no threads or rounds\n");
        return 2;
    }
    if (library != NULL && !peer_open(&peer, library))
        return 1;
    if (o.sizes == 0) {
        o.sizes = 2;
        o.log2[0] = o.g2 ? 14 : 16;
        o.log2[1] = o.g2 ? 16 : 18;
    }
    must(cuzk_threads_create(&run.threads, o.threads, &err), &err);
    printf("%s, %u thread%s, %s time\n", ops->name, o.threads, o.threads == 1 ? "" : "s",
           by_the_wall ? "wall" : "processor");
    fflush(stdout);
    for (unsigned i = 0; i < o.sizes; i++)
        bench_size(&o, ops, library != NULL ? &peer : NULL, o.log2[i], &run);
    cuzk_threads_destroy(run.threads);
    return 0;
}
