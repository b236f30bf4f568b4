/* The peer that curve benchmarks compare with: a shared library that exports the C interface of
 * blst, loaded at run time from the file that --peer names. Nothing of it is part of this project:
 * only the functions called are declared here, by the interface that the library publishes.
 *
 * Its field elements are words of 64 bits, least significant first, in Montgomery form with the
 * same R as ours; points are (x, y) or Jacobian (x, y, z); so ours can be passed as they are.
 */
#ifndef CUZK_BENCH_PEER_H
#define CUZK_BENCH_PEER_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* name, result, arguments */
#define PEER_FUNCTIONS(X)                                                                          \
    X(fp_mul, void, (void *r, const void *a, const void *b))                                       \
    X(fp_sqr, void, (void *r, const void *a))                                                      \
    X(fp_inverse, void, (void *r, const void *a))                                                  \
    X(fr_mul, void, (void *r, const void *a, const void *b))                                       \
    X(fp2_mul, void, (void *r, const void *a, const void *b))                                      \
    X(fp2_sqr, void, (void *r, const void *a))                                                     \
    X(fp12_mul, void, (void *r, const void *a, const void *b))                                     \
    X(fp12_sqr, void, (void *r, const void *a))                                                    \
    X(fp12_cyclotomic_sqr, void, (void *r, const void *a))                                         \
    X(fp12_is_one, bool, (const void *a))                                                          \
    X(p1_add_or_double, void, (void *r, const void *a, const void *b))                             \
    X(p1_add_or_double_affine, void, (void *r, const void *a, const void *b))                      \
    X(p1_double, void, (void *r, const void *a))                                                   \
    X(p2_add_or_double, void, (void *r, const void *a, const void *b))                             \
    X(p1_mult, void, (void *r, const void *a, const uint8_t *k, size_t bits))                      \
    X(p2_mult, void, (void *r, const void *a, const uint8_t *k, size_t bits))                      \
    X(p1_affine_in_g1, bool, (const void *a))                                                      \
    X(p2_affine_in_g2, bool, (const void *a))                                                      \
    X(p1_uncompress, int, (void *r, const uint8_t *in))                                            \
    X(p2_uncompress, int, (void *r, const uint8_t *in))                                            \
    X(miller_loop, void, (void *r, const void *q, const void *p))                                  \
    X(miller_loop_n, void, (void *r, const void *const *q, const void *const *p, size_t n))        \
    X(final_exp, void, (void *r, const void *f))                                                   \
    X(p1s_mult_pippenger_scratch_sizeof, size_t, (size_t n))                                       \
    X(p1s_mult_pippenger, void,                                                                    \
      (void *r, const void *const *points, size_t n, const uint8_t *const *scalars, size_t bits,   \
       uint64_t *scratch))                                                                         \
    X(p2s_mult_pippenger_scratch_sizeof, size_t, (size_t n))                                       \
    X(p2s_mult_pippenger, void,                                                                    \
      (void *r, const void *const *points, size_t n, const uint8_t *const *scalars, size_t bits,   \
       uint64_t *scratch))

struct peer {
    void *library;
#define PEER_X(name, result, arguments) result(*name) arguments;
    PEER_FUNCTIONS(PEER_X)
#undef PEER_X
};

/* False, with a sentence on stderr, if the file is no such library. */
static inline bool peer_open(struct peer *peer, const char *path)
{
    memset(peer, 0, sizeof *peer);
    peer->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (peer->library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return false;
    }
#define PEER_X(name, result, arguments)                                                            \
    *(void **)&peer->name = dlsym(peer->library, "blst_" #name);                                   \
    if (peer->name == NULL) {                                                                      \
        fprintf(stderr, "%s: no function blst_" #name "\n", path);                                 \
        return false;                                                                              \
    }
    PEER_FUNCTIONS(PEER_X)
#undef PEER_X
    return true;
}

/* Seconds of this thread's processor time: what others do on the machine counts little. */
static inline double peer_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
