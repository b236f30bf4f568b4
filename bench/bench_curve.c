/* Fields, groups and pairing of BLS12-381: nanoseconds an operation, and ratios to a peer's
 * library.
 *
 *     bench_curve [--isa NAME] [--peer LIBRARY.so]
 *
 * Each figure is the least of several short runs, in this thread's processor time; ours and the
 * peer's runs take turns, so that both see the same machine. A ratio below one means we are faster.
 */
#include <stdlib.h>

#include "curve/bls12_381/ops.h"
#include "curve/loops.h"
#include "field/isa.h"
#include "peer.h"

static const struct bls12_381_ops *ops;
static const struct curve_loops *loops;
static struct peer peer;
static bool has_peer;

static struct bls12_381_fr scalar;
static uint8_t scalar_bytes[32];
static struct bls12_381_g1 p1, q1;
static struct bls12_381_g2 p2, q2;
static struct bls12_381_g1_affine a1[4];
static struct bls12_381_g2_affine a2[4];
static uint8_t c1[48], c2[96];
static uint64_t element[72], result[72];

/* ---- what is measured: n operations of ours and of the peer's ---- */

#define LOOP(name, theirs)                                                                         \
    static void our_##name(size_t n)                                                               \
    {                                                                                              \
        loops->name(result, element, n);                                                           \
    }                                                                                              \
    static void peer_##name(size_t n)                                                              \
    {                                                                                              \
        memcpy(result, element, sizeof result);                                                    \
        while (n-- > 0)                                                                            \
            theirs;                                                                                \
    }
LOOP(fp_mul, peer.fp_mul(result, result, element))
LOOP(fp_mul_16, peer.fp_mul(result + 6 * (n % 12), result + 6 * (n % 12), element))
LOOP(fp_sqr, peer.fp_sqr(result, result))
LOOP(fp_inv, peer.fp_inverse(result, result))
LOOP(fr_mul, peer.fr_mul(result, result, element))
LOOP(fp2_mul, peer.fp2_mul(result, result, element))
LOOP(fp2_sqr, peer.fp2_sqr(result, result))
LOOP(fp12_mul, peer.fp12_mul(result, result, element))
LOOP(fp12_sqr, peer.fp12_sqr(result, result))
LOOP(fp12_cyclotomic_sqr, peer.fp12_cyclotomic_sqr(result, result))

#define PAIR(name, ours, theirs)                                                                   \
    static void our_##name(size_t n)                                                               \
    {                                                                                              \
        while (n-- > 0)                                                                            \
            ours;                                                                                  \
    }                                                                                              \
    static void peer_##name(size_t n)                                                              \
    {                                                                                              \
        while (n-- > 0)                                                                            \
            theirs;                                                                                \
    }
PAIR(g1_add, ops->g1_add(&q1, &q1, &p1), peer.p1_add_or_double(&q1, &q1, &p1))
PAIR(g2_add, ops->g2_add(&q2, &q2, &p2), peer.p2_add_or_double(&q2, &q2, &p2))
PAIR(g1_mul, ops->g1_mul(&q1, &q1, &scalar), peer.p1_mult(&q1, &q1, scalar_bytes, 255))
PAIR(g2_mul, ops->g2_mul(&q2, &q2, &scalar), peer.p2_mult(&q2, &q2, scalar_bytes, 255))
PAIR(g1_subgroup, ops->g1_in_subgroup(a1), peer.p1_affine_in_g1(a1))
PAIR(g2_subgroup, ops->g2_in_subgroup(a2), peer.p2_affine_in_g2(a2))
PAIR(g1_decode, ops->g1_decode(a1, c1, 1, true, false, NULL, NULL), peer.p1_uncompress(a1, c1))
PAIR(g2_decode, ops->g2_decode(a2, c2, 1, true, false, NULL, NULL), peer.p2_uncompress(a2, c2))

static void our_pairing(size_t n)
{
    while (n-- > 0)
        ops->pairing_is_one(a1, a2, 1);
}

static void peer_pairing(size_t n)
{
    while (n-- > 0) {
        peer.miller_loop(result, a2, a1);
        peer.final_exp(result, result);
    }
}

static void our_pairing_4(size_t n)
{
    while (n-- > 0)
        ops->pairing_is_one(a1, a2, 4);
}

static void peer_pairing_4(size_t n)
{
    const void *p[4], *q[4];
    for (int i = 0; i < 4; i++) {
        p[i] = &a1[i];
        q[i] = &a2[i];
    }
    while (n-- > 0) {
        peer.miller_loop_n(result, q, p, 4);
        peer.final_exp(result, result);
    }
}

static double seconds(void (*run)(size_t), size_t n)
{
    double start = peer_seconds();
    run(n);
    return peer_seconds() - start;
}

static void measure(const char *name, void (*ours)(size_t), void (*theirs)(size_t))
{
    size_t n = 1;
    while (seconds(ours, n) < 0.004)
        n *= 2;
    double our_best = 1e9, peer_best = 1e9;
    for (int i = 0; i < 9; i++) {
        double t = seconds(ours, n);
        our_best = t < our_best ? t : our_best;
        if (has_peer) {
            t = seconds(theirs, n);
            peer_best = t < peer_best ? t : peer_best;
        }
    }
    double scale = 1e9 / (double)n;
    if (has_peer)
        printf("%-24s %12.1f %12.1f %8.3f\n", name, our_best * scale, peer_best * scale,
               our_best / peer_best);
    else
        printf("%-24s %12.1f\n", name, our_best * scale);
}

int main(int argc, char **argv)
{
    const char *isa = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--isa") == 0 && i + 1 < argc) {
            isa = argv[++i];
        } else if (strcmp(argv[i], "--peer") == 0 && i + 1 < argc) {
            if (!peer_open(&peer, argv[++i]))
                return 2;
            has_peer = true;
        } else {
            fprintf(stderr, "usage: %s [--isa NAME] [--peer LIBRARY.so]\n", argv[0]);
            return 2;
        }
    }
    struct cuzk_error err;
    if (isa != NULL && cuzk_isa_force(isa, &err) != CUZK_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 2;
    }
    ops = bls12_381_ops(NULL);
    loops = CUZK_ISA_SELECT(cuzk_isa_name(), &curve_loops_portable, &curve_loops_x86_64_adx);

    const uint64_t words[4] = {0x0123456789abcdef, 0xfedcba9876543210, 0x1357924680acebdf,
                               0x2badf00d5ca1ab1e};
    bls12_381_fr_from_limbs(&scalar, words);
    bls12_381_fr_to_le(scalar_bytes, &scalar);
    const struct bls12_381_g1_affine g1 = {{{BLS12_381_G1_GENERATOR_X}},
                                           {{BLS12_381_G1_GENERATOR_Y}}};
    const struct bls12_381_g2_affine g2 = {
        {{{BLS12_381_G2_GENERATOR_X_C0}}, {{BLS12_381_G2_GENERATOR_X_C1}}},
        {{{BLS12_381_G2_GENERATOR_Y_C0}}, {{BLS12_381_G2_GENERATOR_Y_C1}}}};
    ops->g1_from_affine(&p1, &g1);
    ops->g2_from_affine(&p2, &g2);
    for (int i = 0; i < 4; i++) {
        ops->g1_mul(&p1, &p1, &scalar);
        ops->g2_mul(&p2, &p2, &scalar);
        ops->g1_to_affine(&a1[i], &p1);
        ops->g2_to_affine(&a2[i], &p2);
    }
    q1 = p1;
    q2 = p2;
    ops->g1_encode(c1, a1, 1, true);
    ops->g2_encode(c2, a2, 1, true);
    for (size_t i = 0; i < 72; i += 6)
        memcpy(element + i, i % 12 == 0 ? &a1[0].x : &a2[0].y.c1, 48);

    printf("%s%s\n%-24s %12s %12s %8s\n", ops->name, has_peer ? " against the peer" : "", "", "ns",
           has_peer ? "peer ns" : "", has_peer ? "ratio" : "");
#define MEASURE(name) measure(#name, our_##name, peer_##name)
    MEASURE(fp_mul);
    MEASURE(fp_mul_16);
    MEASURE(fp_sqr);
    MEASURE(fp_inv);
    MEASURE(fr_mul);
    MEASURE(fp2_mul);
    MEASURE(fp2_sqr);
    MEASURE(fp12_mul);
    MEASURE(fp12_sqr);
    MEASURE(fp12_cyclotomic_sqr);
    MEASURE(g1_add);
    MEASURE(g2_add);
    MEASURE(g1_mul);
    MEASURE(g2_mul);
    MEASURE(g1_subgroup);
    MEASURE(g2_subgroup);
    MEASURE(g1_decode);
    MEASURE(g2_decode);
    MEASURE(pairing);
    MEASURE(pairing_4);
    return 0;
}
