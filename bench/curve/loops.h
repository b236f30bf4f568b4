/* Loops of field operations for bench_curve, one table for each instruction-set path: each runs n
 * operations, every one on the result of the one before. */
#ifndef CUZK_BENCH_CURVE_LOOPS_H
#define CUZK_BENCH_CURVE_LOOPS_H

#include <stddef.h>

struct curve_loops {
    void (*fp_mul)(void *r, const void *a, size_t n);
    void (*fp_mul_16)(void *r, const void *a, size_t n); /* sixteen independent chains */
    void (*fp_sqr)(void *r, const void *a, size_t n);
    void (*fp_inv)(void *r, const void *a, size_t n);
    void (*fr_mul)(void *r, const void *a, size_t n);
    void (*fr_inv)(void *r, const void *a, size_t n);
    void (*fp2_mul)(void *r, const void *a, size_t n);
    void (*fp2_sqr)(void *r, const void *a, size_t n);
    void (*fp12_mul)(void *r, const void *a, size_t n);
    void (*fp12_sqr)(void *r, const void *a, size_t n);
    void (*fp12_cyclotomic_sqr)(void *r, const void *a, size_t n);
};

extern const struct curve_loops curve_loops_portable, curve_loops_x86_64_adx;

#endif
