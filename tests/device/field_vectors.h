/* Long vectors of Fr on the host for what checks a device: pseudorandom ones, and polynomials at a
 * point, straight from coefficients (sums of a_i x^i) or from values (Lagrange): no transform in
 * it. All by chunks over a pool's threads; 2^27 elements take about a second on sixteen.
 */
#ifndef CUZK_TESTS_DEVICE_FIELD_VECTORS_H
#define CUZK_TESTS_DEVICE_FIELD_VECTORS_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/threads.h"
#include "curve/bls12_381/ops.h"

enum { VECTOR_CHUNK_LOG2 = 11, VECTOR_CHUNK = 1 << VECTOR_CHUNK_LOG2, VECTOR_POINTS = 3 };

static inline void *vector_allocate(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size);
    if (p == NULL) {
        printf("FAILED: no host memory for %zu elements of %zu bytes\n", count, size);
        exit(1);
    }
    return p;
}

static inline uint64_t vector_mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* uniform below r: the first of a sequence of 255-bit words that is */
static inline struct bls12_381_fr vector_element(uint64_t seed, uint64_t i)
{
    struct bls12_381_fr r;
    for (uint64_t t = 0;; t++) {
        for (uint64_t j = 0; j < 4; j++)
            r.l[j] =
                vector_mix(seed + i * 0x9e3779b97f4a7c15u + (t * 4 + j + 1) * 0xd1342543de82ef95u);
        r.l[3] >>= 1;
        if (bls12_381_fr_limbs_in_range(r.l))
            return r;
    }
}

static inline uint64_t vector_reversed(uint64_t k, unsigned bits)
{
    uint64_t r = 0;
    for (unsigned i = 0; i < bits; i++)
        r |= (k >> i & 1) << (bits - 1 - i);
    return r;
}

/* w, a primitive root of order 2^lg; with lg + 1 the shift of the device's coset */
static inline struct bls12_381_fr vector_root(unsigned lg)
{
    struct bls12_381_fr w = {{BLS12_381_FR_ROOT_OF_UNITY}};
    for (unsigned i = lg; i < BLS12_381_FR_TWO_ADICITY; i++)
        bls12_381_fr_sqr(&w, &w);
    return w;
}

struct vector_work {
    struct bls12_381_fr *out, *sums;
    const struct bls12_381_fr *a, *b, *x, *powers;
    const struct bls12_381_ops *ops;
    struct bls12_381_fr root;
    size_t n;
    uint64_t seed;
    unsigned points, lg;
};

static inline size_t vector_chunks(size_t n)
{
    return (n + VECTOR_CHUNK - 1) / VECTOR_CHUNK;
}
static inline size_t vector_end(size_t chunk, size_t n)
{
    return (chunk + 1) * VECTOR_CHUNK < n ? (chunk + 1) * VECTOR_CHUNK : n;
}

static void vector_fill_body(void *context, size_t i, unsigned worker)
{
    const struct vector_work *v = context;
    (void)worker;
    for (size_t j = i * VECTOR_CHUNK, end = vector_end(i, v->n); j < end; j++)
        v->out[j] = vector_element(v->seed, j);
}

/* n pseudorandom elements; the caller frees (free) */
static inline struct bls12_381_fr *vector_random(struct cuzk_threads *threads, size_t n,
                                                 uint64_t seed)
{
    struct vector_work v = {.n = n, .seed = seed};
    v.out = vector_allocate(n, sizeof *v.out);
    cuzk_threads_for(threads, vector_chunks(n), vector_fill_body, &v);
    return v.out;
}

static inline struct bls12_381_fr vector_sum(const struct bls12_381_fr *a, size_t n)
{
    struct bls12_381_fr sum = bls12_381_fr_zero;
    for (size_t j = 0; j < n; j++)
        bls12_381_fr_add(&sum, &sum, &a[j]);
    return sum;
}

static void vector_evaluate_body(void *context, size_t i, unsigned worker)
{
    const struct vector_work *v = context;
    const size_t first = i * VECTOR_CHUNK, count = vector_end(i, v->n) - first;
    struct bls12_381_fr t[VECTOR_CHUNK];
    (void)worker;
    for (unsigned p = 0; p < v->points; p++) {
        v->ops->fr_mul_vector(t, &v->a[first], &v->powers[p * VECTOR_CHUNK], count);
        v->sums[i * v->points + p] = vector_sum(t, count);
    }
}

/* out[p] = sum of a[i] x[p]^i, i < n, for at most VECTOR_POINTS points */
static inline void vector_evaluate(struct bls12_381_fr *out, struct cuzk_threads *threads,
                                   const struct bls12_381_fr *a, size_t n,
                                   const struct bls12_381_fr *x, unsigned points)
{
    struct vector_work v = {.a = a, .n = n, .points = points, .ops = bls12_381_ops(NULL)};
    const size_t chunks = vector_chunks(n);
    struct bls12_381_fr *powers = vector_allocate(VECTOR_POINTS * VECTOR_CHUNK, sizeof *powers);
    for (unsigned p = 0; p < points; p++) {
        struct bls12_381_fr power = bls12_381_fr_one;
        for (size_t j = 0; j < VECTOR_CHUNK; j++) {
            powers[p * VECTOR_CHUNK + j] = power;
            bls12_381_fr_mul(&power, &power, &x[p]);
        }
    }
    v.powers = powers;
    v.sums = vector_allocate(chunks * points, sizeof *v.sums);
    cuzk_threads_for(threads, chunks, vector_evaluate_body, &v);
    for (unsigned p = 0; p < points; p++) { /* chunks are joined by Horner's rule */
        struct bls12_381_fr step;
        bls12_381_fr_pow_u64(&step, &x[p], VECTOR_CHUNK);
        out[p] = bls12_381_fr_zero;
        for (size_t i = chunks; i-- > 0;) {
            bls12_381_fr_mul(&out[p], &out[p], &step);
            bls12_381_fr_add(&out[p], &out[p], &v.sums[i * points + p]);
        }
    }
    free(powers);
    free(v.sums);
}

/* Values stand in bit-reversed order: place j has that at w^reversed(j), which is the chunk's power
 * times one of a table. One inversion a chunk. */
static void vector_lagrange_body(void *context, size_t i, unsigned worker)
{
    const struct vector_work *v = context;
    const unsigned chunk_lg = v->lg < VECTOR_CHUNK_LOG2 ? v->lg : VECTOR_CHUNK_LOG2;
    const size_t count = (size_t)1 << chunk_lg;
    const struct bls12_381_fr *a = &v->a[i * count], *b = &v->b[i * count];
    struct bls12_381_fr root[VECTOR_CHUNK], at[VECTOR_CHUNK], t[VECTOR_CHUNK], base;
    (void)worker;
    bls12_381_fr_pow_u64(&base, &v->root, vector_reversed(i, v->lg - chunk_lg));
    v->ops->fr_scale_vector(root, v->powers, &base, count);
    for (size_t j = 0; j < count; j++)
        bls12_381_fr_sub(&at[j], v->x, &root[j]);
    v->ops->fr_invert_vector(at, t, count);
    v->ops->fr_mul_vector(at, at, root, count);
    v->ops->fr_mul_vector(t, at, b, count);
    v->sums[3 * i + 1] = vector_sum(t, count);
    v->ops->fr_mul_vector(at, at, a, count);
    v->sums[3 * i] = vector_sum(at, count);
    v->ops->fr_mul_vector(at, at, b, count);
    v->sums[3 * i + 2] = vector_sum(at, count);
}

/* The polynomials of degree below n = 2^lg with values a, b and a∘b (bit-reversed order), at x:
 * out = A(x), B(x), C(x). x must lie outside of the domain.
 *     A(x) = (x^n - 1)/n · sum of a_i w^i/(x - w^i) */
static inline void vector_lagrange(struct bls12_381_fr out[3], struct cuzk_threads *threads,
                                   const struct bls12_381_fr *a, const struct bls12_381_fr *b,
                                   unsigned lg, const struct bls12_381_fr *x)
{
    struct vector_work v = {
        .a = a, .b = b, .x = x, .lg = lg, .root = vector_root(lg), .ops = bls12_381_ops(NULL)};
    const unsigned chunk_lg = lg < VECTOR_CHUNK_LOG2 ? lg : VECTOR_CHUNK_LOG2;
    const size_t count = (size_t)1 << chunk_lg, chunks = (size_t)1 << (lg - chunk_lg);
    struct bls12_381_fr step = vector_root(chunk_lg), power = bls12_381_fr_one, factor, n;
    struct bls12_381_fr *powers = vector_allocate(count, sizeof *powers);
    for (size_t j = 0; j < count; j++) {
        powers[vector_reversed(j, chunk_lg)] = power;
        bls12_381_fr_mul(&power, &power, &step);
    }
    v.powers = powers;
    v.sums = vector_allocate(3 * chunks, sizeof *v.sums);
    cuzk_threads_for(threads, chunks, vector_lagrange_body, &v);
    bls12_381_fr_pow_u64(&factor, x, (uint64_t)1 << lg);
    bls12_381_fr_sub(&factor, &factor, &bls12_381_fr_one);
    bls12_381_fr_from_u64(&n, (uint64_t)1 << lg);
    bls12_381_fr_inv(&n, &n);
    bls12_381_fr_mul(&factor, &factor, &n);
    for (unsigned p = 0; p < 3; p++) {
        out[p] = bls12_381_fr_zero;
        for (size_t i = 0; i < chunks; i++)
            bls12_381_fr_add(&out[p], &out[p], &v.sums[3 * i + p]);
        bls12_381_fr_mul(&out[p], &out[p], &factor);
    }
    free(powers);
    free(v.sums);
}

/* Whether h is the quotient of a and b (values in bit-reversed order): at x,
 * h(x)·(x^n - 1) = A(x)·B(x) - C(x). h has n coefficients, the last one 0. */
static inline bool vector_is_quotient(struct cuzk_threads *threads, const struct bls12_381_fr *h,
                                      const struct bls12_381_fr *a, const struct bls12_381_fr *b,
                                      unsigned lg, const struct bls12_381_fr *x)
{
    const size_t n = (size_t)1 << lg;
    struct bls12_381_fr at[3], left, z;
    vector_lagrange(at, threads, a, b, lg, x);
    vector_evaluate(&left, threads, h, n, x, 1);
    bls12_381_fr_pow_u64(&z, x, n);
    bls12_381_fr_sub(&z, &z, &bls12_381_fr_one);
    bls12_381_fr_mul(&left, &left, &z);
    bls12_381_fr_mul(&at[0], &at[0], &at[1]);
    bls12_381_fr_sub(&at[0], &at[0], &at[2]);
    return bls12_381_fr_eq(&left, &at[0]) && bls12_381_fr_is_zero(&h[n - 1]);
}

/* Whether `values` (bit-reversed order) are those of the polynomial with the coefficients, at
 * places 1 and n - 1 of the domain (or of its coset) and at pseudorandom ones. */
static inline bool vector_is_transform(struct cuzk_threads *threads,
                                       const struct bls12_381_fr *values,
                                       const struct bls12_381_fr *coefficients, unsigned lg,
                                       bool coset, uint64_t seed)
{
    const size_t n = (size_t)1 << lg;
    struct bls12_381_fr x[VECTOR_POINTS], y[VECTOR_POINTS];
    struct bls12_381_fr w = vector_root(lg), shift = vector_root(lg + 1);
    uint64_t place[VECTOR_POINTS];
    bool same = true;
    for (unsigned p = 0; p < VECTOR_POINTS; p++) {
        place[p] = p == 0 ? 1 % n : p == 1 ? n - 1 : vector_mix(seed + p) % n;
        bls12_381_fr_pow_u64(&x[p], &w, place[p]);
        if (coset)
            bls12_381_fr_mul(&x[p], &x[p], &shift);
    }
    vector_evaluate(y, threads, coefficients, n, x, VECTOR_POINTS);
    for (unsigned p = 0; p < VECTOR_POINTS; p++)
        same = same && bls12_381_fr_eq(&y[p], &values[vector_reversed(place[p], lg)]);
    return same;
}

#endif
