/* What setup computes on the device: the transposed matrices times the Lagrange values at tau, and
 * vectors of Fr. All buffers are device memory.
 */
#ifndef CUZK_DEVICE_CUDA_SETUP_VECTORS_H
#define CUZK_DEVICE_CUDA_SETUP_VECTORS_H

#include "circuit/circuit.h"
#include "device/cuda/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The templates' terms by column, and the instances' ports in order of their variables. Owner: the
 * creator, who frees it (NULL is fine); circuit and layout outlive it. */
struct cuzk_cuda_columns;
cuzk_status cuzk_cuda_columns_create(struct cuzk_cuda_columns **out, struct cuzk_cuda *device,
                                     const struct cuzk_circuit *circuit,
                                     const struct cuzk_layout *layout, struct cuzk_error *err);
void cuzk_cuda_columns_destroy(struct cuzk_cuda_columns *columns);

/* out[i] = sum over rows of coefficient·at[row] for matrix `which`, inputs first, then auxiliaries;
 * at has an element for each row of the circuit. Groth16's input rows are the caller's. */
cuzk_status cuzk_cuda_columns_multiply(struct cuzk_cuda *device, void *out,
                                       const struct cuzk_cuda_columns *columns, const void *at,
                                       int which, struct cuzk_error *err);

/* out[reverse of i's log2_size bits] = x^i */
cuzk_status cuzk_cuda_powers_reversed(struct cuzk_cuda *device, void *out,
                                      const struct bls12_381_fr *x, unsigned log2_size,
                                      struct cuzk_error *err);
/* out[i] = k·x^(first + i) */
cuzk_status cuzk_cuda_powers(struct cuzk_cuda *device, void *out, const struct bls12_381_fr *x,
                             const struct bls12_381_fr *k, uint64_t first, size_t n,
                             struct cuzk_error *err);
/* c[i] += p·a[i] + q·b[i] */
cuzk_status cuzk_cuda_combine(struct cuzk_cuda *device, void *c, const void *a, const void *b,
                              const struct bls12_381_fr *p, const struct bls12_381_fr *q, size_t n,
                              struct cuzk_error *err);
/* out[i] = k·a[i] */
cuzk_status cuzk_cuda_scale(struct cuzk_cuda *device, void *out, const void *a,
                            const struct bls12_381_fr *k, size_t n, struct cuzk_error *err);
/* a[i] += b[i] */
cuzk_status cuzk_cuda_add(struct cuzk_cuda *device, void *a, const void *b, size_t n,
                          struct cuzk_error *err);
/* The elements of a that are not zero, in order, into out (another buffer of n); *kept: how many.
 */
cuzk_status cuzk_cuda_squeeze(struct cuzk_cuda *device, void *out, const void *a, size_t n,
                              size_t *kept, struct cuzk_error *err);
/* *index: of the first zero element, n when there is none. */
cuzk_status cuzk_cuda_find_zero(struct cuzk_cuda *device, const void *a, size_t n, size_t *index,
                                struct cuzk_error *err);

#ifdef __cplusplus
}
#endif
#endif
