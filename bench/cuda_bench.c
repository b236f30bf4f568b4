/* Speeds of the CUDA backend, data resident, results checked. One row a measurement: best and
 * median milliseconds of several calls, and the highest device memory so far beside inputs. Prints
 * the table last.
 *
 *     cuda_bench [--quick] [--only WORD] [--peer FILE.so]
 *
 * Points are multiples k_i G made on the device from pseudorandom k_i, scalars s_i are pseudorandom
 * and uniform below r; each sum is held against (sum s_i k_i) G, a transform against the
 * polynomial's values at a few points and as a whole there and back, the quotient against its
 * equality at a point, the multiples against single multiplications and, all of them, by the sum
 * with random coefficients. No check is within a time.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../tests/device/field_vectors.h"
#include "base/os.h"
#include "base/threads.h"
#include "curve/bls12_381/ops.h"
#include "device/cuda/cuda.h"
#include "peer_cuda.h"

static struct cuzk_cuda *device;
static struct cuzk_budget *budget;
static struct cuzk_threads *threads;
static const struct bls12_381_ops *ops;
static const char *only;
static struct peer_cuda peer;
static char table[16384];
static size_t table_length;
static unsigned wrong;

#define OK(call)                                                                                   \
    do {                                                                                           \
        struct cuzk_error record, *err = &record;                                                  \
        if ((call) != CUZK_OK) {                                                                   \
            printf("%s: %s\n%s", #call, record.message, table);                                    \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static void row(const char *format, ...) CUZK_PRINTF(1, 2);
static void row(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(table + table_length, sizeof table - table_length, format, args);
    va_end(args);
    printf("%s", table + table_length);
    fflush(stdout);
    table_length += (size_t)n;
}

static void *take(size_t bytes)
{
    void *p;
    OK(cuzk_cuda_alloc(device, &p, CUZK_PURPOSE_OTHER, bytes, err));
    return p;
}

static void *upload(const void *data, size_t bytes)
{
    void *p = take(bytes);
    OK(cuzk_cuda_upload(device, p, data, bytes, err));
    return p;
}

/* sum of s_i k_i, or of the k_i whose bit is set */
struct dot {
    const struct bls12_381_fr *s, *k;
    const uint64_t *bits;
    size_t n, part;
    struct bls12_381_fr *sums;
};
static void dot_body(void *context, size_t i, unsigned worker)
{
    struct dot *d = context;
    struct bls12_381_fr sum = bls12_381_fr_zero, t;
    (void)worker;
    for (size_t j = i * d->part; j < (i + 1) * d->part && j < d->n; j++) {
        if (d->bits != NULL) {
            if (d->bits[j / 64] >> (j % 64) & 1)
                bls12_381_fr_add(&sum, &sum, &d->k[j]);
            continue;
        }
        bls12_381_fr_mul(&t, &d->s[j], &d->k[j]);
        bls12_381_fr_add(&sum, &sum, &t);
    }
    d->sums[i] = sum;
}
static struct bls12_381_fr dot(const struct bls12_381_fr *s, const struct bls12_381_fr *k,
                               const uint64_t *bits, size_t n)
{
    struct dot d = {s, k, bits, n, 65536, NULL};
    size_t parts = n / d.part + 1;
    struct bls12_381_fr sum = bls12_381_fr_zero;
    d.sums = calloc(parts, sizeof *d.sums);
    if (d.sums == NULL)
        exit(1);
    cuzk_threads_for(threads, parts, dot_body, &d);
    for (size_t i = 0; i < parts; i++)
        bls12_381_fr_add(&sum, &sum, &d.sums[i]);
    free(d.sums);
    return sum;
}

static const struct bls12_381_g1_affine g1_generator = {{{BLS12_381_G1_GENERATOR_X}},
                                                        {{BLS12_381_G1_GENERATOR_Y}}};
static const struct bls12_381_g2_affine g2_generator = {
    {{{BLS12_381_G2_GENERATOR_X_C0}}, {{BLS12_381_G2_GENERATOR_X_C1}}},
    {{{BLS12_381_G2_GENERATOR_Y_C0}}, {{BLS12_381_G2_GENERATOR_Y_C1}}}};

static bool g1_is(const struct bls12_381_g1 *p, const struct bls12_381_fr *k)
{
    struct bls12_381_g1 g;
    struct bls12_381_g1_affine a, b;
    ops->g1_from_affine(&g, &g1_generator);
    ops->g1_mul(&g, &g, k);
    ops->g1_to_affine(&a, &g);
    ops->g1_to_affine(&b, p);
    return memcmp(&a, &b, sizeof a) == 0;
}
static bool g2_is(const struct bls12_381_g2 *p, const struct bls12_381_fr *k)
{
    struct bls12_381_g2 g;
    struct bls12_381_g2_affine a, b;
    ops->g2_from_affine(&g, &g2_generator);
    ops->g2_mul(&g, &g, k);
    ops->g2_to_affine(&a, &g);
    ops->g2_to_affine(&b, p);
    return memcmp(&a, &b, sizeof a) == 0;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Times `call` `times` after one warm-up. `scratch` is the device memory of sums, transforms (their
 * twiddles) and fixed bases at each one's highest so far: it grows along the table. */
#define MEASURE(times, call)                                                                       \
    double ms[16];                                                                                 \
    struct cuzk_account after;                                                                     \
    for (int run = -1; run < (times); run++) {                                                     \
        double begin = cuzk_os_seconds();                                                          \
        OK(call);                                                                                  \
        if (run >= 0)                                                                              \
            ms[run] = (cuzk_os_seconds() - begin) * 1e3;                                           \
    }                                                                                              \
    cuzk_budget_read(budget, &after);                                                              \
    qsort(ms, (size_t)(times), sizeof *ms, by_value);                                              \
    const double best = ms[0], median = ms[(times) / 2];                                           \
    const double scratch =                                                                         \
        (double)(after.peak_by[CUZK_PURPOSE_MSM] + after.peak_by[CUZK_PURPOSE_NTT] +               \
                 after.peak_by[CUZK_PURPOSE_SETUP]) /                                              \
        1e9

/* The same by the peer, its own row; call is of the peer's kind (0: done). */
#define MEASURE_PEER(times, call)                                                                  \
    double ms[16];                                                                                 \
    bool done = true;                                                                              \
    for (int run = -1; run < (times); run++) {                                                     \
        double begin = cuzk_os_seconds();                                                          \
        done = done && (call) == 0;                                                                \
        if (run >= 0)                                                                              \
            ms[run] = (cuzk_os_seconds() - begin) * 1e3;                                           \
    }                                                                                              \
    qsort(ms, (size_t)(times), sizeof *ms, by_value);                                              \
    const double best = ms[0], median = ms[(times) / 2]

static bool wanted(const char *name)
{
    return only == NULL || strstr(name, only) != NULL;
}

static void report_as(const char *what, unsigned lg, double best, double median, double input,
                      double scratch, const char *verdict)
{
    row("| %-28s | 2^%-2u | %9.2f | %9.2f | %7.2f | %7.2f | %-5s |\n", what, lg, best, median,
        input, scratch, verdict);
}

static void report(const char *what, unsigned lg, double best, double median, double input,
                   double scratch, bool ok)
{
    report_as(what, lg, best, median, input, scratch, ok ? "ok" : "WRONG");
    wrong += !ok;
}

/* ---- multiples ---- */

struct multiples {
    const struct bls12_381_g1_affine *points;
    const struct bls12_381_fr *k;
    const uint64_t *place;
    _Atomic unsigned wrong;
};
static void multiple_body(void *context, size_t i, unsigned worker)
{
    struct multiples *m = context;
    struct bls12_381_g1 p;
    (void)worker;
    ops->g1_from_affine(&p, &m->points[i]);
    m->wrong += !g1_is(&p, &m->k[m->place[i]]);
}

/* Some of the multiples by themselves, the first and the last among them, then all of them: their
 * sum with the coefficients s. */
static bool are_multiples(const void *points, const struct bls12_381_fr *k,
                          const struct bls12_381_fr *s, const void *scalars, size_t n)
{
    enum { SOME = 512 };
    struct bls12_381_g1_affine some[SOME];
    uint64_t place[SOME];
    for (size_t i = 0; i < SOME; i++) {
        place[i] = i == 0 ? 0 : i == 1 ? n - 1 : vector_mix(77 + i) % n;
        OK(cuzk_cuda_download(device, &some[i],
                              (const struct bls12_381_g1_affine *)points + place[i], sizeof some[i],
                              err));
    }
    struct multiples m = {.points = some, .k = k, .place = place};
    cuzk_threads_for(threads, SOME, multiple_body, &m);
    struct bls12_381_g1 sum;
    OK(cuzk_cuda_msm_g1(device, &sum, points, NULL, scalars, n, err));
    const struct bls12_381_fr want = dot(s, k, NULL, n);
    return m.wrong == 0 && g1_is(&sum, &want);
}

/* ---- sums ---- */

static void bench_peer_g1(const struct bls12_381_fr *want, const void *points, const void *scalars,
                          unsigned lg)
{
    struct bls12_381_g1 got;
    MEASURE_PEER(3, peer.msm_g1(&got, points, scalars, (size_t)1 << lg));
    report("  the peer's", lg, best, median, (double)((size_t)128 << lg) / 1e9, 0,
           done && g1_is(&got, want));
}

static void bench_msm_g1(const struct bls12_381_fr *k, const struct bls12_381_fr *s,
                         const void *points, const void *scalars, unsigned lg)
{
    const size_t n = (size_t)1 << lg;
    struct bls12_381_g1 got;
    MEASURE(lg > 25 ? 5 : 9, cuzk_cuda_msm_g1(device, &got, points, NULL, scalars, n, err));
    struct bls12_381_fr want = dot(s, k, NULL, n);
    report("MSM G1, uniform scalars", lg, best, median, (double)n * 128 / 1e9, scratch,
           g1_is(&got, &want));
    if (peer.library != NULL && lg >= 20)
        bench_peer_g1(&want, points, scalars, lg);
}

static void bench_peer_g2(const struct bls12_381_fr *want, const void *points, const void *scalars,
                          unsigned lg)
{
    struct bls12_381_g2 got;
    MEASURE_PEER(2, peer.msm_g2(&got, points, scalars, (size_t)1 << lg));
    report("  the peer's", lg, best, median, (double)((size_t)224 << lg) / 1e9, 0,
           done && g2_is(&got, want));
}

/* ---- transforms ---- */

/* data: s on the device, before and after. values: what our transform makes of it. Transforms whose
 * roots differ from ours are as good, but then only there and back can be checked. */
static void bench_peer_ntt(void *data, const struct bls12_381_fr *s,
                           const struct bls12_381_fr *values, struct bls12_381_fr *host,
                           unsigned lg)
{
    const size_t bytes = sizeof *s << lg;
    bool works = peer.ntt(data, lg, 0) == 0;
    OK(cuzk_cuda_download(device, host, data, bytes, err));
    const bool same = works && memcmp(host, values, bytes) == 0;
    double times[2][2];
    for (int inverse = 0; inverse < 2; inverse++) {
        MEASURE_PEER(4, peer.ntt(data, lg, inverse));
        times[inverse][0] = best;
        times[inverse][1] = median;
        works = works && done;
    }
    works = works && peer.ntt(data, lg, 1) == 0; /* as often back as forth */
    OK(cuzk_cuda_download(device, host, data, bytes, err));
    works = works && memcmp(host, s, bytes) == 0;
    for (int inverse = 0; inverse < 2; inverse++)
        report_as(inverse ? "  the peer's inverse" : "  the peer's forward", lg, times[inverse][0],
                  times[inverse][1], (double)bytes / 1e9, 0,
                  !works ? "WRONG"
                  : same ? "ok"
                         : "back");
    wrong += !works;
    if (!works)
        OK(cuzk_cuda_upload(device, data, s, bytes, err));
}

/* data: s on the device, before and after. */
static void bench_ntt(void *data, const struct bls12_381_fr *s, unsigned lg)
{
    const size_t n = (size_t)1 << lg, bytes = n * sizeof *s;
    struct bls12_381_fr *values = vector_allocate(n, sizeof *values);
    struct bls12_381_fr *host = vector_allocate(n, sizeof *host);
    for (int coset = 1; coset >= 0; coset--) {
        OK(cuzk_cuda_ntt_forward(device, data, lg, coset, err));
        OK(cuzk_cuda_download(device, values, data, bytes, err));
        const bool right = vector_is_transform(threads, values, s, lg, coset, 5);
        {
            MEASURE(6, cuzk_cuda_ntt_forward(device, data, lg, coset, err));
            report(coset ? "coset NTT forward" : "NTT forward", lg, best, median,
                   (double)bytes / 1e9, scratch, right);
        }
        MEASURE(6, cuzk_cuda_ntt_inverse(device, data, lg, coset, err));
        OK(cuzk_cuda_ntt_inverse(device, data, lg, coset, err)); /* as often back as forth */
        OK(cuzk_cuda_download(device, host, data, bytes, err));
        const bool back = memcmp(host, s, bytes) == 0;
        report(coset ? "coset NTT inverse" : "NTT inverse", lg, best, median, (double)bytes / 1e9,
               scratch, right && back);
        if (!back)
            OK(cuzk_cuda_upload(device, data, s, bytes, err));
    }
    if (peer.library != NULL)
        bench_peer_ntt(data, s, values, host, lg);
    free(values);
    free(host);
}

static void bench_quotient(const struct bls12_381_fr *k, const struct bls12_381_fr *s, unsigned lg)
{
    const size_t n = (size_t)1 << lg, bytes = n * sizeof *k;
    void *a = upload(k, bytes), *b = upload(s, bytes), *c = take(bytes);
    struct bls12_381_fr *h = vector_allocate(n, sizeof *h);
    const struct bls12_381_fr x = vector_element(3, n);
    OK(cuzk_cuda_quotient(device, a, b, c, lg, err));
    OK(cuzk_cuda_download(device, h, a, bytes, err));
    const bool right = vector_is_quotient(threads, h, k, s, lg, &x);
    MEASURE(3, cuzk_cuda_quotient(device, a, b, c, lg, err)); /* of what is left there */
    report("quotient, six transforms", lg, best, median, (double)n * 96 / 1e9, scratch, right);
    cuzk_cuda_free(device, a);
    cuzk_cuda_free(device, b);
    cuzk_cuda_free(device, c);
    free(h);
}

/* 98 % of the scalars are 0 or 1, as bits; every 50th is a value. */
static cuzk_status mixed(struct bls12_381_g1 *out, const void *points, const void *bits,
                         const void *index, const void *values, size_t dense, size_t n,
                         struct cuzk_error *err)
{
    struct bls12_381_g1 ones, sum;
    cuzk_status status = cuzk_cuda_bit_sum_g1(device, &ones, points, bits, n, err);
    if (status == CUZK_OK)
        status = cuzk_cuda_msm_g1(device, &sum, points, index, values, dense, err);
    if (status == CUZK_OK)
        ops->g1_add(out, &ones, &sum);
    return status;
}

/* The same scalars as one vector of elements, told apart on the device. */
static void bench_classified(const struct bls12_381_fr *want, const struct bls12_381_fr *s,
                             const void *points, const uint64_t *bits, unsigned lg)
{
    const size_t n = (size_t)1 << lg;
    struct bls12_381_fr *all = calloc(n, sizeof *all);
    if (all == NULL)
        exit(1);
    for (size_t i = 0; i < n; i++)
        if (i % 50 == 0)
            all[i] = s[i / 50];
        else if (bits[i / 64] >> (i % 64) & 1)
            all[i] = bls12_381_fr_one;
    void *scalars = upload(all, n * sizeof *all);
    free(all);
    struct bls12_381_g1 got;
    MEASURE(3, cuzk_cuda_msm_mixed_g1(device, &got, points, NULL, scalars, n, err));
    report("MSM G1, the same as scalars", lg, best, median, (double)n * 128 / 1e9, scratch,
           g1_is(&got, want));
    cuzk_cuda_free(device, scalars);
}

static void bench_mixed(const struct bls12_381_fr *k, const struct bls12_381_fr *s,
                        const void *points, const void *values, unsigned lg)
{
    const size_t n = (size_t)1 << lg, dense = (n + 49) / 50;
    uint64_t *bits = calloc(n / 64, sizeof *bits);
    uint32_t *index = malloc(dense * sizeof *index);
    if (bits == NULL || index == NULL)
        exit(1);
    for (size_t w = 0; w < n / 64; w++)
        bits[w] = vector_mix(w * 3 + 1);
    struct bls12_381_fr want = bls12_381_fr_zero, t;
    for (size_t i = 0; i < dense; i++) {
        index[i] = (uint32_t)(50 * i);
        bits[50 * i / 64] &= ~((uint64_t)1 << (50 * i % 64));
        bls12_381_fr_mul(&t, &k[50 * i], &s[i]);
        bls12_381_fr_add(&want, &want, &t);
    }
    t = dot(NULL, k, bits, n);
    bls12_381_fr_add(&want, &want, &t);
    void *db = upload(bits, n / 8), *di = upload(index, dense * sizeof *index);
    struct bls12_381_g1 got;
    MEASURE(5, mixed(&got, points, db, di, values, dense, n, err));
    report("MSM G1, 98 % bits + values", lg, best, median, (double)n * 96 / 1e9, scratch,
           g1_is(&got, &want));
    cuzk_cuda_free(device, db);
    cuzk_cuda_free(device, di);
    free(index);
    bench_classified(&want, s, points, bits, lg);
    free(bits);
}

int main(int argc, char **argv)
{
    bool quick = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0) {
            quick = true;
        } else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
            only = argv[++i];
        } else if (strcmp(argv[i], "--peer") == 0 && i + 1 < argc) {
            if (!peer_cuda_open(&peer, argv[++i]))
                return 1;
        } else {
            printf(
                "usage: cuda_bench [--quick] [--only msm|g2|bits|ntt|quotient] [--peer FILE.so]\n");
            return strcmp(argv[i], "--help") != 0;
        }
    }
    if (cuzk_cuda_count() == 0) {
        printf("no CUDA device\n");
        return 77;
    }
    struct cuzk_cuda_description d;
    uint64_t free_bytes;
    OK(cuzk_cuda_describe(&d, 0, err));
    OK(cuzk_cuda_free_memory(&free_bytes, 0, err));
    OK(cuzk_budget_create(&budget, "cuda:0", UINT64_MAX, NULL, err));
    OK(cuzk_threads_create(&threads, 0, err));
    OK(cuzk_cuda_open(&device, 0, budget, err));
    ops = bls12_381_ops(NULL);
    row("%s, sm_%d%d, %.1f GB free of %.1f\n", d.name, d.major, d.minor, (double)free_bytes / 1e9,
        (double)d.memory / 1e9);
    row("| %-28s | %-4s | %9s | %9s | %7s | %7s | %s |\n|---|---|---|---|---|---|---|\n", "what",
        "n", "best ms", "median ms", "in GB", "peak GB", "check");
    const unsigned top = quick ? 22 : 27;
    const size_t n = (size_t)1 << top;
    double t0 = cuzk_os_seconds();
    struct bls12_381_fr *k = vector_random(threads, n, 1), *s = vector_random(threads, n, 2);
    void *scalars = upload(k, n * sizeof *k),
         *points = take(n * sizeof(struct bls12_381_g1_affine));
    double t1 = cuzk_os_seconds();
    OK(cuzk_cuda_fixed_base_g1(device, points, &g1_generator, scalars, n, err));
    double t2 = cuzk_os_seconds();
    OK(cuzk_cuda_upload(device, scalars, s, n * sizeof *s, err));
    report("fixed base G1 (one call)", top, (t2 - t1) * 1e3, (t2 - t1) * 1e3, (double)n * 32 / 1e9,
           0, are_multiples(points, k, s, scalars, n));
    printf("inputs made and checked in %.1f s\n", cuzk_os_seconds() - t0);
    if (wanted("msm"))
        for (unsigned lg = 16; lg <= top; lg += lg < 24 ? 2 : lg == 24 ? 2 : 1)
            bench_msm_g1(k, s, points, scalars, lg);
    if (wanted("bits")) {
        uint64_t *bits = malloc(n / 8);
        if (bits == NULL)
            return 1;
        for (int density = 0; density < 3; density++) {
            static const char *const names[] = {"bit sum G1, 1/8 set", "bit sum G1, 1/2 set",
                                                "bit sum G1, all set"};
            for (size_t w = 0; w < n / 64; w++) {
                uint64_t x = vector_mix(w * 3 + 1), y = vector_mix(w * 3 + 2),
                         z = vector_mix(w * 3 + 3);
                bits[w] = density == 0 ? x & y & z : density == 1 ? x : UINT64_MAX;
            }
            void *db = upload(bits, n / 8);
            struct bls12_381_g1 got;
            MEASURE(5, cuzk_cuda_bit_sum_g1(device, &got, points, db, n, err));
            struct bls12_381_fr want = dot(NULL, k, bits, n);
            report(names[density], top, best, median, (double)n * 96 / 1e9, scratch,
                   g1_is(&got, &want));
            cuzk_cuda_free(device, db);
        }
        free(bits);
        bench_mixed(k, s, points, scalars, top);
    }
    cuzk_cuda_free(device, points);
    if (wanted("g2")) {
        const unsigned lg = quick ? 18 : 22;
        const size_t m = (size_t)1 << lg;
        void *points2 = take(m * sizeof(struct bls12_381_g2_affine)),
             *dk = upload(k, m * sizeof *k);
        struct bls12_381_g2 got;
        OK(cuzk_cuda_fixed_base_g2(device, points2, &g2_generator, dk, m, err));
        for (unsigned l = lg - 2; l <= lg; l += 2) {
            MEASURE(5, cuzk_cuda_msm_g2(device, &got, points2, NULL, scalars, (size_t)1 << l, err));
            struct bls12_381_fr want = dot(s, k, NULL, (size_t)1 << l);
            report("MSM G2, uniform scalars", l, best, median, (double)((size_t)224 << l) / 1e9,
                   scratch, g2_is(&got, &want));
            if (peer.library != NULL)
                bench_peer_g2(&want, points2, scalars, l);
        }
        cuzk_cuda_free(device, points2);
        cuzk_cuda_free(device, dk);
    }
    if (wanted("ntt"))
        for (unsigned lg = quick ? 20 : 22; lg <= top; lg += lg == 24 ? 3 : 2)
            bench_ntt(scalars, s, lg);
    if (wanted("quotient"))
        bench_quotient(k, s, top);
    struct cuzk_cuda_memory memory;
    cuzk_cuda_memory_read(device, &memory);
    row("pool held %.2f GB at the end\n", (double)memory.held / 1e9);
    cuzk_cuda_close(device);
    printf("\n%s%u wrong\n", table, wrong);
    return wrong != 0;
}
