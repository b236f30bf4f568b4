/* What a proof must be when the waste is known, without any multi-exponentiation or transform.
 *
 * With a, b, c the circuit's polynomials over the witness and a', b', c' their part from the public
 * inputs (all at tau), a proof's points are these multiples of the generators (Groth 2016):
 *     A = alpha + a + r·delta
 *     B = beta + b + s·delta
 *     C = (beta(a - a') + alpha(b - b') + (c - c') + a·b - c)/delta + s·A + r·B - r·s·delta
 * a, b and c at tau are sums over rows of Lagrange values times A·w, B·w, C·w, on the host.
 */
#ifndef CUZK_TESTS_DEVICE_TAU_H
#define CUZK_TESTS_DEVICE_TAU_H

#include <string.h>

#include "base/alloc.h"
#include "device/qap.h"
#include "field_vectors.h"
#include "format/proof.h"
#include "format/waste.h"

typedef struct bls12_381_fr fr;

static inline void tau_fixed_waste(struct cuzk_waste *w)
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
static inline bool tau_write_waste(const char *path, const struct cuzk_waste *w)
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

/* sums over rows of L_row(tau)·(M·w)_row for the three matrices, in chunks over the threads. */
enum { TAU_CHUNK = 1 << 12 };
struct at_tau {
    const struct cuzk_circuit *circuit;
    const struct cuzk_witness *witness;
    const struct bls12_381_ops *ops;
    fr root, tau; /* w, tau */
    fr *powers;   /* w^i, i < TAU_CHUNK */
    fr *sums;     /* three a chunk */
};

static void at_tau_chunk(void *context, size_t i, unsigned worker)
{
    (void)worker;
    const struct at_tau *t = context;
    uint32_t rows = t->circuit->rows, all = rows + t->circuit->inputs;
    uint32_t first = (uint32_t)i * TAU_CHUNK,
             count = all - first < TAU_CHUNK ? all - first : TAU_CHUNK;
    fr *lagrange = vector_allocate(3 * TAU_CHUNK, sizeof *lagrange);
    fr *root = lagrange + TAU_CHUNK, *values = root + TAU_CHUNK, base;
    /* w^i/(tau - w^i) */
    bls12_381_fr_pow_u64(&base, &t->root, first);
    t->ops->fr_scale_vector(root, t->powers, &base, count);
    for (uint32_t k = 0; k < count; k++)
        bls12_381_fr_sub(&lagrange[k], &t->tau, &root[k]);
    t->ops->fr_invert_vector(lagrange, values, count);
    t->ops->fr_mul_vector(lagrange, lagrange, root, count);
    for (int matrix = 0; matrix < 3; matrix++) {
        memset(values, 0, count * sizeof *values);
        if (first < rows)
            cuzk_circuit_multiply(values, t->circuit, t->witness, matrix, first,
                                  rows - first < count ? rows - first : count, NULL);
        if (matrix == CUZK_A)
            for (uint32_t k = 0; k < count; k++)
                if (first + k >= rows)
                    values[k] = t->witness->inputs[first + k - rows];
        t->ops->fr_mul_vector(values, values, lagrange, count);
        t->sums[3 * i + (size_t)matrix] = vector_sum(values, count);
    }
    free(lagrange);
}

static inline void at_tau(fr out[3], const struct cuzk_qap *qap, const struct cuzk_witness *witness,
                          const fr *tau, struct cuzk_threads *threads)
{
    const unsigned lg = qap->log2_domain;
    const size_t chunks = (qap->rows + (size_t)TAU_CHUNK - 1) / TAU_CHUNK;
    struct at_tau t = {.circuit = qap->circuit,
                       .witness = witness,
                       .ops = bls12_381_ops(NULL),
                       .tau = *tau,
                       .root = vector_root(lg)};
    fr factor, n, power = bls12_381_fr_one; /* (tau^n - 1)/n */
    bls12_381_fr_pow_u64(&factor, tau, (uint64_t)1 << lg);
    bls12_381_fr_sub(&factor, &factor, &bls12_381_fr_one);
    bls12_381_fr_from_u64(&n, (uint64_t)1 << lg);
    bls12_381_fr_inv(&n, &n);
    bls12_381_fr_mul(&factor, &factor, &n);
    t.powers = vector_allocate(TAU_CHUNK, sizeof *t.powers);
    t.sums = vector_allocate(3 * chunks, sizeof *t.sums);
    for (size_t i = 0; i < TAU_CHUNK; i++) {
        t.powers[i] = power;
        bls12_381_fr_mul(&power, &power, &t.root);
    }
    cuzk_threads_for(threads, chunks, at_tau_chunk, &t);
    for (size_t matrix = 0; matrix < 3; matrix++) {
        out[matrix] = bls12_381_fr_zero;
        for (size_t i = 0; i < chunks; i++)
            bls12_381_fr_add(&out[matrix], &out[matrix], &t.sums[3 * i + matrix]);
        bls12_381_fr_mul(&out[matrix], &out[matrix], &factor);
    }
    free(t.powers);
    free(t.sums);
}

/* The logarithms of A, B and C. */
static inline void tau_logarithms(fr log[3], const struct cuzk_qap *qap,
                                  struct cuzk_witness *witness, const struct cuzk_waste *w,
                                  struct cuzk_threads *threads)
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

static inline void tau_proof(uint8_t out[CUZK_PROOF_BYTES], const fr log[3])
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

#endif
