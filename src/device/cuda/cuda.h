/* One CUDA device as the engine's C code sees it: memory, transforms, multi-exponentiations.
 *
 * Field elements and points have the host's layout (curve/bls12_381/points.h): Montgomery form,
 * affine infinity (0, 0). Device memory comes from a pool (pool.cu), is charged to the device's
 * budget by purpose, and goes back to the driver cleared; what a freed buffer held stays until then
 * or until it is used again. All calls are synchronous for the caller
 * and use streams of the device inside; the device overlaps what it can.
 *
 * Owner: whoever opens it. One thread at a time a device; several devices may be used from several
 * threads. After CUZK_E_DEVICE_LOST every call gives the same until the device is closed and opened
 * again. Closing a lost device destroys the process's context on it, so all who have it open must
 * close it; a driver that takes the whole process for damaged refuses the opening, and then the
 * program must be started anew.
 */
#ifndef CUZK_DEVICE_CUDA_CUDA_H
#define CUZK_DEVICE_CUDA_CUDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "base/budget.h"
#include "curve/bls12_381/points.h"
#include "cuzk/errors.h"
#include "device/cuda/circuit_layout.h"

struct cuzk_cuda;

struct cuzk_cuda_description {
    char name[128];
    char uuid[48]; /* "GPU-…" as nvidia-smi prints it */
    int index, major, minor;
    int multiprocessors;
    uint64_t memory; /* bytes */
};

/* Devices that the driver shows. None, and *absent says why, where there is no driver or no device;
 * a driver that is there and fails, or is too old for this build, is an error. Counting and
 * describing start no device; asking for the free memory makes a context on it, which takes
 * some hundreds of megabytes of that memory and of milliseconds. */
cuzk_status cuzk_cuda_find(int *count, char absent[120], struct cuzk_error *err);
int cuzk_cuda_count(void); /* 0 in all of these cases */
cuzk_status cuzk_cuda_describe(struct cuzk_cuda_description *out, int index,
                               struct cuzk_error *err);
cuzk_status cuzk_cuda_free_memory(uint64_t *bytes, int index, struct cuzk_error *err);

/* budget is the device's; NULL charges nobody. It must outlive the device. Close tolerates NULL and
 * returns all of the device's memory. */
cuzk_status cuzk_cuda_open(struct cuzk_cuda **out, int index, struct cuzk_budget *budget,
                           struct cuzk_error *err);
void cuzk_cuda_close(struct cuzk_cuda *device);

/* Memory of the device, 512-byte aligned, not zeroed. CUZK_E_BUDGET or CUZK_E_DEVICE_MEMORY when
 * there is none, with required and available bytes. Free tolerates NULL. Upload and download go
 * through pinned staging of fixed size. */
cuzk_status cuzk_cuda_alloc(struct cuzk_cuda *device, void **out, enum cuzk_purpose purpose,
                            uint64_t bytes, struct cuzk_error *err);
void cuzk_cuda_free(struct cuzk_cuda *device, void *p);
cuzk_status cuzk_cuda_upload(struct cuzk_cuda *device, void *to, const void *from, uint64_t bytes,
                             struct cuzk_error *err);
cuzk_status cuzk_cuda_download(struct cuzk_cuda *device, void *to, const void *from, uint64_t bytes,
                               struct cuzk_error *err);
/* How uploads copy into the staging: `copy` in place of memcpy, from the calling thread, for 1 MiB
 * or more. context must outlive the device. */
typedef void cuzk_cuda_copy(void *context, void *to, const void *from, size_t bytes);
void cuzk_cuda_copy_with(struct cuzk_cuda *device, cuzk_cuda_copy *copy, void *context);
/* Host memory that an open device holds pinned. */
uint64_t cuzk_cuda_pinned_bytes(void);
cuzk_status cuzk_cuda_clear(struct cuzk_cuda *device, void *p, uint64_t bytes,
                            struct cuzk_error *err);

/* Bytes that the pool holds from the driver, and how many of them are handed out. */
struct cuzk_cuda_memory {
    uint64_t held, used;
};
void cuzk_cuda_memory_read(const struct cuzk_cuda *device, struct cuzk_cuda_memory *out);
/* Gives back to the driver what is not handed out, by whole chunks of the pool. */
void cuzk_cuda_trim(struct cuzk_cuda *device);

/* In place over 2^log2_size elements of Fr. Forward: coefficients in natural order to values in
 * bit-reversed order; inverse: back, divided by 2^log2_size. coset: the values are those on
 * ζ·domain, ζ the primitive 2^(log2_size+1)-th root whose square is the domain's. log2_size up to
 * 31 less the memory's limit; the table of twiddles is kept, 64 bytes an element of the largest
 * size so far. */
cuzk_status cuzk_cuda_ntt_forward(struct cuzk_cuda *device, void *data, unsigned log2_size,
                                  bool coset, struct cuzk_error *err);
cuzk_status cuzk_cuda_ntt_inverse(struct cuzk_cuda *device, void *data, unsigned log2_size,
                                  bool coset, struct cuzk_error *err);

/* The quotient h = (a∘b - c) / (X^n - 1) in six transforms. a and b: values of A·w and B·w on the
 * domain in bit-reversed order; c: scratch of the same size. On return a holds h's coefficients in
 * natural order, the last one 0; b and c are destroyed. */
cuzk_status cuzk_cuda_quotient(struct cuzk_cuda *device, void *a, void *b, void *c,
                               unsigned log2_size, struct cuzk_error *err);

/* *out = sum of scalars[i] * points[index ? index[i] : i], i < n. points: affine points on the
 * device; index: 32-bit numbers on the device or NULL; scalars: Fr on the device. Any scalars, any
 * repetition; skew costs no more than a constant factor. Scratch is charged to CUZK_PURPOSE_MSM;
 * when it does not fit, the sum is cut into parts that do. n < 2^29 for G1, 2^28 for
 * G2, and so the numbers in index. */
cuzk_status cuzk_cuda_msm_g1(struct cuzk_cuda *device, struct bls12_381_g1 *out, const void *points,
                             const uint32_t *index, const void *scalars, size_t n,
                             struct cuzk_error *err);
cuzk_status cuzk_cuda_msm_g2(struct cuzk_cuda *device, struct bls12_381_g2 *out, const void *points,
                             const uint32_t *index, const void *scalars, size_t n,
                             struct cuzk_error *err);

/* The same for scalars of which many may be 0, 1 or short (s or -s below 2^32): they are told apart
 * first and each class goes the way that is cheapest for it. For uniform ones it costs a few
 * percent. */
cuzk_status cuzk_cuda_msm_mixed_g1(struct cuzk_cuda *device, struct bls12_381_g1 *out,
                                   const void *points, const uint32_t *index, const void *scalars,
                                   size_t n, struct cuzk_error *err);
cuzk_status cuzk_cuda_msm_mixed_g2(struct cuzk_cuda *device, struct bls12_381_g2 *out,
                                   const void *points, const uint32_t *index, const void *scalars,
                                   size_t n, struct cuzk_error *err);

/* *out = sum of the points[i] whose bit i of `bits` is set (64-bit words on the device), i < n. */
cuzk_status cuzk_cuda_bit_sum_g1(struct cuzk_cuda *device, struct bls12_381_g1 *out,
                                 const void *points, const uint64_t *bits, size_t n,
                                 struct cuzk_error *err);
cuzk_status cuzk_cuda_bit_sum_g2(struct cuzk_cuda *device, struct bls12_381_g2 *out,
                                 const void *points, const uint64_t *bits, size_t n,
                                 struct cuzk_error *err);

/* points[i] = scalars[i] * base, affine, all on the device but base. */
cuzk_status cuzk_cuda_fixed_base_g1(struct cuzk_cuda *device, void *points,
                                    const struct bls12_381_g1_affine *base, const void *scalars,
                                    size_t n, struct cuzk_error *err);
cuzk_status cuzk_cuda_fixed_base_g2(struct cuzk_cuda *device, void *points,
                                    const struct bls12_381_g2_affine *base, const void *scalars,
                                    size_t n, struct cuzk_error *err);

/* Points as a key file holds them (uncompressed, big endian: 96 or 192 bytes) to the device's form;
 * raw and out are on the device. Checked: no flag bits, coordinates below p, on the curve. *bad is
 * the first that fails, n when all are good. */
cuzk_status cuzk_cuda_decode_g1(struct cuzk_cuda *device, void *out, const void *raw, size_t n,
                                size_t *bad, struct cuzk_error *err);
cuzk_status cuzk_cuda_decode_g2(struct cuzk_cuda *device, void *out, const void *raw, size_t n,
                                size_t *bad, struct cuzk_error *err);

/* out = M·w for matrix M (0, 1, 2: A, B, C), one element a row of the circuit. With log2_size >= 0
 * row i goes to place i with its log2_size bits reversed, the other places of the 2^log2_size are
 * 0, and A has Groth16's rows of inputs behind the circuit's; with -1 rows lie in order. */
cuzk_status cuzk_cuda_multiply(struct cuzk_cuda *device, void *out,
                               const struct cuzk_layout *circuit,
                               const struct cuzk_layout_witness *witness, int matrix, int log2_size,
                               struct cuzk_error *err);

#ifdef __cplusplus
}
#endif
#endif
