// Transforms and the quotient: tables, passes by size.
#include "kernels/ntt.cuh"

#include "device.cuh"

using namespace cuzk;

namespace {

// roots[b]: primitive root of order 2^(b + 2), as W[2^b] is
void bit_roots(struct bls12_381_fr *roots, int count)
{
    struct bls12_381_fr w = {{BLS12_381_FR_ROOT_OF_UNITY}};
    for (int order = BLS12_381_FR_TWO_ADICITY; order >= 2; order--) {
        if (order - 2 < count)
            roots[order - 2] = w;
        bls12_381_fr_mul(&w, &w, &w);
    }
}

// table[i] = W[i << shift], i < 2^bits
void bit_products(struct bls12_381_fr *table, int bits, const struct bls12_381_fr *roots, int shift)
{
    table[0] = bls12_381_fr_one;
    for (int b = 0; b < bits; b++)
        for (size_t i = 0; i < (size_t)1 << b; i++)
            bls12_381_fr_mul(&table[((size_t)1 << b) + i], &table[i], &roots[b + shift]);
}

cuzk_status factors_of(struct cuzk_cuda *device, uint4 *to, const struct bls12_381_fr *values,
                       int count, struct cuzk_error *err)
{
    scratch memory(device, CUZK_PURPOSE_NTT);
    uint4 *plain;
    CUZK_TRY(memory.get(&plain, 2 * (size_t)count, err));
    CUZK_TRY(cuzk_cuda_upload(device, plain, values, (uint64_t)count * sizeof *values, err));
    make_factors<<<1, 128, 0, device->main>>>(to, plain, NULL, 20, (u32)count);
    CUZK_LAUNCHED(make_factors);
    CUZK_CUDA(cudaStreamSynchronize(device->main));
    memory.finished = true;
    return CUZK_OK;
}

cuzk_status make_table(struct cuzk_cuda *device, unsigned lg, struct cuzk_error *err)
{
    if (device->twiddles != NULL && device->twiddle_log2 >= lg)
        return CUZK_OK;
    cuzk_cuda_free(device, device->twiddles);
    device->twiddles = NULL;
    const int low_bits = lg < 13 ? (int)lg : 13, high_bits = (int)lg - low_bits;
    const size_t lows = (size_t)1 << low_bits, highs = (size_t)1 << high_bits;
    struct bls12_381_fr roots[BLS12_381_FR_TWO_ADICITY - 1];
    bit_roots(roots, BLS12_381_FR_TWO_ADICITY - 1);
    struct bls12_381_fr *table = (struct bls12_381_fr *)cuzk_malloc((lows + highs) * sizeof *table);
    if (table == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "no memory for the table of twiddles");
    bit_products(table, low_bits, roots, 0);
    bit_products(table + lows, high_bits, roots, low_bits);
    scratch memory(device, CUZK_PURPOSE_NTT);
    uint4 *plain = NULL;
    void *twiddles = NULL;
    cuzk_status status = memory.get(&plain, 2 * (lows + highs), err);
    if (status == CUZK_OK)
        status = cuzk_cuda_upload(device, plain, table, (lows + highs) * sizeof *table, err);
    cuzk_free(table);
    CUZK_TRY(status);
    CUZK_TRY(cuzk_cuda_alloc(device, &twiddles, CUZK_PURPOSE_NTT,
                             (((uint64_t)1 << lg) + ntt_extra) * sizeof(fr_factor), err));
    device->twiddles = twiddles; // charged now, freed by close or the next size
    device->twiddle_log2 = 0;
    make_factors<<<(unsigned)(8 * device->multiprocessors), 128, 0, device->main>>>(
        (uint4 *)twiddles, plain, plain + 2 * lows, low_bits, 1u << lg);
    CUZK_LAUNCHED(make_factors);
    // Behind it what the inverse reads for block 0: -1 | W[1], -1 | W[2], W[3], W[1], -1
    struct bls12_381_fr W[4], extra[ntt_extra], minus_one;
    bit_products(W, 2, roots, 0);
    bls12_381_fr_neg(&minus_one, &bls12_381_fr_one);
    const struct bls12_381_fr behind[ntt_extra] = {minus_one, W[1], minus_one, W[2],
                                                   W[3],      W[1], minus_one, minus_one};
    memcpy(extra, behind, sizeof extra);
    CUZK_TRY(factors_of(device, (uint4 *)twiddles + 4 * ((size_t)1 << lg), extra, ntt_extra, err));
    CUZK_CUDA(cudaStreamSynchronize(device->main));
    memory.finished = true;
    device->twiddle_log2 = lg;
    return CUZK_OK;
}

template <bool FORWARD, int LEVELS, bool FIRST, bool LAST, bool ROOT>
cuzk_status launch_pass(struct cuzk_cuda *device, const ntt_pass &a, unsigned lg,
                        struct cuzk_error *err)
{
    constexpr int T = LAST ? 64 : 128, BLOCKS = LAST ? 6 : FORWARD && !FIRST ? 4 : 3;
    ntt_levels<FORWARD, LEVELS, FIRST, LAST, ROOT, BLOCKS>
        <<<1u << (lg - (LAST ? 9 : 10)), T, 0, device->main>>>(a);
    CUZK_LAUNCHED(ntt_levels);
    return CUZK_OK;
}

// Leaving out the products by 1 is worth its code at the sizes of PoRep (2^24, 2^27).
template <bool FORWARD, int LEVELS, bool SPARES>
cuzk_status launch_first(struct cuzk_cuda *device, const ntt_pass &a, unsigned lg,
                         struct cuzk_error *err)
{
    if (SPARES && a.first_block == 0)
        return launch_pass<FORWARD, LEVELS, true, false, SPARES>(device, a, lg, err);
    return launch_pass<FORWARD, LEVELS, true, false, false>(device, a, lg, err);
}

template <bool FORWARD>
cuzk_status launch_levels(struct cuzk_cuda *device, const ntt_pass &a, unsigned lg, int levels,
                          bool first, bool last, struct cuzk_error *err)
{
    if (last)
        return launch_pass<FORWARD, 9, false, true, false>(device, a, lg, err);
    if (!first)
        return launch_pass<FORWARD, 9, false, false, false>(device, a, lg, err);
    switch (levels) {
    case 3:
        return launch_first<FORWARD, 3, false>(device, a, lg, err);
    case 6:
        return launch_first<FORWARD, 6, true>(device, a, lg, err);
    case 9:
        return launch_first<FORWARD, 9, true>(device, a, lg, err);
    default:
        return cuzk_fail(err, CUZK_E_INTERNAL, "no pass of %d levels", levels);
    }
}

// The inverse's scale: 1/n, then -1/n W[K]^-1 for the blocks K of level `levels` - 1.
cuzk_status make_scale(struct cuzk_cuda *device, uint4 *scale, unsigned lg, int levels, bool coset,
                       struct cuzk_error *err)
{
    struct bls12_381_fr half = {{BLS12_381_FR_TWO_INVERSE}}, roots[4], W[8], values[8];
    bit_roots(roots, 4);
    bit_products(W, 3, roots, 0);
    values[0] = bls12_381_fr_one;
    for (unsigned i = 0; i < lg; i++)
        bls12_381_fr_mul(&values[0], &values[0], &half);
    int count = 1 << (levels - 1);
    for (int q = 0; q < count; q++) {
        int K = coset ? count + q : q;
        if (K == 0) {
            bls12_381_fr_neg(&values[1], &values[0]);
            continue;
        }
        int highest = 1 << log2_floor((uint64_t)K);
        bls12_381_fr_mul(&values[1 + q], &values[0], &W[K ^ (highest - 1)]);
    }
    return factors_of(device, scale, values, 1 + count, err);
}

cuzk_status transform(struct cuzk_cuda *device, void *data, unsigned lg, bool forward, bool coset,
                      struct cuzk_error *err)
{
    CUZK_TRY(make_current(device, err));
    if (lg > BLS12_381_FR_TWO_ADICITY - 1)
        return cuzk_fail(err, CUZK_E_ARGUMENT, "a transform of 2^%u elements; the limit is 2^%d",
                         lg, BLS12_381_FR_TWO_ADICITY - 1);
    if (lg == 0)
        return CUZK_OK;
    CUZK_TRY(make_table(device, lg < 3 ? 3 : lg, err));
    // Small sizes go level by level; others by a first pass of 3, 6 or 9 levels where that leaves
    // a multiple of 9, one or two single levels, and passes of 9.
    struct {
        int levels, done;
    } steps[32];
    int count = 0, done = 0;
    auto append = [&](int levels) {
        steps[count].levels = levels;
        steps[count++].done = done;
        done += levels;
    };
    const int small = (int)lg < 12 ? (int)lg : 0;
    int single = small ? small : (int)lg % 3, first = small ? 0 : ((int)lg - single) % 9;
    if (!small && first == 0 && single == 0)
        first = 9; // the root's products by 1 are worth code of their own
    if (first != 0)
        append(first);
    while (single-- > 0)
        append(1);
    while (done < (int)lg)
        append(9);
    scratch memory(device, CUZK_PURPOSE_NTT);
    ntt_pass a = {};
    a.data = (uint4 *)data;
    a.W = (const uint4 *)device->twiddles;
    a.table_end = 1u << device->twiddle_log2;
    if (!forward) {
        uint4 *scale;
        CUZK_TRY(memory.get(&scale, 4 * 8, err));
        CUZK_TRY(make_scale(device, scale, lg, steps[0].levels == 1 ? 1 : 3, coset, err));
        a.scale = scale;
    }
    for (int i = 0; i < count; i++) {
        const int n = forward ? i : count - 1 - i, levels = steps[n].levels;
        const bool first_step = n == 0, last_step = n == count - 1;
        a.first_block = coset ? 1u << steps[n].done : 0;
        a.column_bits = (int)lg - steps[n].done - levels;
        a.stages = levels / 3;
        if (levels == 1) {
            const unsigned blocks = blocks_for((uint64_t)1 << (lg - 1), 128);
            if (forward)
                ntt_level<true>
                    <<<blocks, 128, 0, device->main>>>(a, (int)lg, steps[n].done, last_step);
            else
                ntt_level<false>
                    <<<blocks, 128, 0, device->main>>>(a, (int)lg, steps[n].done, first_step);
            CUZK_LAUNCHED(ntt_level);
        } else if (forward) {
            CUZK_TRY(launch_levels<true>(device, a, lg, levels, first_step, last_step, err));
        } else {
            CUZK_TRY(launch_levels<false>(device, a, lg, levels, first_step, last_step, err));
        }
    }
    CUZK_CUDA(cudaStreamSynchronize(device->main));
    memory.finished = true;
    return CUZK_OK;
}

} // namespace

extern "C" cuzk_status cuzk_cuda_ntt_forward(struct cuzk_cuda *device, void *data,
                                             unsigned log2_size, bool coset, struct cuzk_error *err)
{
    return transform(device, data, log2_size, true, coset, err);
}

extern "C" cuzk_status cuzk_cuda_ntt_inverse(struct cuzk_cuda *device, void *data,
                                             unsigned log2_size, bool coset, struct cuzk_error *err)
{
    return transform(device, data, log2_size, false, coset, err);
}

// On zeta * domain, X^n = -1, so a b = h X^n + c' takes the values of c - 2h (DESIGN: six
// transforms).
extern "C" cuzk_status cuzk_cuda_quotient(struct cuzk_cuda *device, void *a, void *b, void *c,
                                          unsigned log2_size, struct cuzk_error *err)
{
    CUZK_TRY(make_current(device, err));
    const size_t n = (size_t)1 << log2_size;
    const unsigned blocks = blocks_for(n, 256);
    scratch running(device, CUZK_PURPOSE_NTT); // a failure waits for the kernels on the vectors
    multiply_vectors<<<blocks, 256, 0, device->main>>>((uint4 *)c, (const uint4 *)a,
                                                       (const uint4 *)b, n);
    CUZK_LAUNCHED(multiply_vectors);
    CUZK_TRY(transform(device, c, log2_size, false, false, err));
    CUZK_TRY(transform(device, a, log2_size, false, false, err));
    CUZK_TRY(transform(device, b, log2_size, false, false, err));
    CUZK_TRY(transform(device, a, log2_size, true, true, err));
    CUZK_TRY(transform(device, b, log2_size, true, true, err));
    multiply_vectors<<<blocks, 256, 0, device->main>>>((uint4 *)a, (const uint4 *)a,
                                                       (const uint4 *)b, n);
    CUZK_LAUNCHED(multiply_vectors);
    CUZK_TRY(transform(device, a, log2_size, false, true, err));
    half_difference<<<blocks, 256, 0, device->main>>>((uint4 *)a, (const uint4 *)c, n);
    CUZK_LAUNCHED(half_difference);
    CUZK_CUDA(cudaStreamSynchronize(device->main));
    running.finished = true;
    return CUZK_OK;
}
