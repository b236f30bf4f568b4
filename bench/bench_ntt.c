/* Speeds of transforms over Fr and of the quotient.
 *
 *     bench_ntt [--isa NAME] [--threads N] [--log2 K]… [--repeat N]
 *
 * Best of N; one thread: processor time, more: the wall's. Beside each the share that the
 * n/2·log2(n) products of a transform alone would take, measured in the same run: what a better
 * order of the work could still win.
 */
#include "peer.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/os.h"
#include "poly/ntt.h"

typedef struct bls12_381_fr fr;

static double clock_of(unsigned threads)
{
    return threads == 1 ? peer_seconds() : cuzk_os_seconds();
}

static fr *vector(size_t n)
{
    fr *v = cuzk_calloc(n, sizeof *v);
    if (v == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return v;
}

static double product_seconds(const struct bls12_381_ops *ops)
{
    enum { LENGTH = 256, ROUNDS = 4000 };
    fr a[LENGTH];
    for (int i = 0; i < LENGTH; i++)
        bls12_381_fr_from_u64(&a[i], (uint64_t)i + 3);
    double start = peer_seconds();
    for (int i = 0; i < ROUNDS; i++)
        ops->fr_mul_vector(a, a, a, LENGTH);
    return (peer_seconds() - start) / (LENGTH * (double)ROUNDS);
}

static void row(const char *name, unsigned log2, double seconds, double transforms, double product,
                unsigned threads)
{
    double alone = transforms * (double)log2 * (double)((size_t)1 << log2) / 2 * product / threads;
    printf("%-18s 2^%-3u %9.2f ms   products alone %9.2f ms, %3.0f %%\n", name, log2, 1e3 * seconds,
           1e3 * alone, 100 * alone / seconds);
    fflush(stdout);
}

static void bench_size(unsigned log2, unsigned repeat, unsigned threads, double product,
                       const struct cuzk_run *run)
{
    size_t n = (size_t)1 << log2;
    struct cuzk_error err;
    struct cuzk_ntt *ntt;
    if (cuzk_ntt_create(&ntt, log2, run, &err) != CUZK_OK) {
        fprintf(stderr, "%s\n", err.message);
        exit(1);
    }
    fr *a = vector(n), *b = vector(n), *c = vector(n), shift = {{BLS12_381_FR_GENERATOR}};
    for (size_t i = 0; i < n; i++) {
        bls12_381_fr_from_u64(&a[i], i + 1);
        bls12_381_fr_from_u64(&b[i], i + 2);
        c[i] = a[i];
    }
    double best[6] = {0};
    for (unsigned r = 0; r < repeat; r++) {
        for (int what = 0; what < 6; what++) {
            double start = clock_of(threads);
            if (what == 0)
                cuzk_ntt_forward(ntt, a, CUZK_ORDER_REVERSED, NULL, run);
            else if (what == 1)
                cuzk_ntt_inverse(ntt, a, CUZK_ORDER_REVERSED, NULL, run);
            else if (what == 2)
                cuzk_ntt_forward(ntt, a, CUZK_ORDER_REVERSED, &shift, run);
            else if (what == 3)
                cuzk_ntt_forward(ntt, a, CUZK_ORDER_NATURAL, NULL, run);
            else if (what == 4)
                cuzk_ntt_inverse(ntt, a, CUZK_ORDER_NATURAL, NULL, run);
            else
                cuzk_ntt_quotient(ntt, a, b, c, run);
            double t = clock_of(threads) - start;
            best[what] = r == 0 || t < best[what] ? t : best[what];
        }
    }
    static const char *const names[] = {"forward, reversed", "inverse, reversed", "forward, coset",
                                        "forward, natural",  "inverse, natural",  "quotient"};
    for (int what = 0; what < 6; what++)
        row(names[what], log2, best[what], what == 5 ? 6 : 1, product, threads);
    cuzk_ntt_destroy(ntt);
    cuzk_free(a);
    cuzk_free(b);
    cuzk_free(c);
}

int main(int argc, char **argv)
{
    unsigned threads = 1, repeat = 2, sizes = 0, log2[16];
    const char *isa = NULL;
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (value != NULL && strcmp(argv[i], "--isa") == 0)
            isa = value;
        else if (value != NULL && strcmp(argv[i], "--threads") == 0)
            threads = (unsigned)strtoul(value, NULL, 10);
        else if (value != NULL && strcmp(argv[i], "--repeat") == 0)
            repeat = (unsigned)strtoul(value, NULL, 10);
        else if (value != NULL && strcmp(argv[i], "--log2") == 0 && sizes < 16)
            log2[sizes++] = (unsigned)strtoul(value, NULL, 10);
        else {
            fprintf(stderr, "usage: %s [--isa NAME] [--threads N] [--log2 K]… [--repeat N]\n",
                    argv[0]);
            return 2;
        }
    }
    struct cuzk_error err;
    struct cuzk_run run = {0};
    if (threads == 0 || repeat == 0 || cuzk_isa_force(isa, &err) != CUZK_OK) {
        fprintf(stderr, "no such instruction set, or no threads or rounds\n");
        return 2;
    }
    if (cuzk_threads_create(&run.threads, threads, &err) != CUZK_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    const struct bls12_381_ops *ops = bls12_381_ops(NULL);
    double product = product_seconds(ops);
    printf("%s, %u thread%s, %.1f ns a product\n", ops->name, threads, threads == 1 ? "" : "s",
           1e9 * product);
    if (sizes == 0) {
        log2[sizes++] = 12;
        log2[sizes++] = 18;
        log2[sizes++] = 20;
    }
    for (unsigned i = 0; i < sizes; i++)
        bench_size(log2[i], repeat, threads, product, &run);
    cuzk_threads_destroy(run.threads);
    return 0;
}
