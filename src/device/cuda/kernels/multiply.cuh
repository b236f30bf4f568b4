// Sparse matrix times compact witness, from templates: a block takes 256 rows of one instance, a
// thread one of them. A term whose variable is a bit costs nothing or an addition, others a
// product. Templates and coefficients are a few megabytes and stay in L2.
#ifndef CUZK_CUDA_MULTIPLY_CUH
#define CUZK_CUDA_MULTIPLY_CUH

#include "device/cuda/circuit_layout.h"
#include "fr.cuh"

namespace cuzk {

CUZK_DEV bool bit_of(const u64 *words, u32 i)
{
    return words[i >> 6] >> (i & 63) & 1;
}

// Non-boolean auxiliaries before j: counted by 512, then by words.
CUZK_DEV u32 dense_before(const cuzk_layout &c, u32 j)
{
    u32 rank = c.aux_rank[j >> 9];
    for (u32 w = j >> 9 << 3; w < j >> 6; w++)
        rank += (u32)__popcll(~c.aux_boolean[w]);
    return rank + (u32)__popcll(~c.aux_boolean[j >> 6] & (((u64)1 << (j & 63)) - 1));
}

// 0, 1, or where the value is (through `value`)
CUZK_DEV int look_up(const uint4 **value, const cuzk_layout &c, const cuzk_layout_witness &w,
                     const cuzk_layout_template &t, const cuzk_layout_instance &in, u32 variable)
{
    if (variable < t.ports) {
        const u32 tag = c.ports[in.first_port + variable], j = tag >> 1;
        if (tag == 0)
            return 1;
        if ((tag & 1) == 0) {
            *value = (const uint4 *)w.inputs + 2 * (size_t)j;
            return 2;
        }
        if (bit_of(c.aux_boolean, j))
            return bit_of(w.bits, j);
        *value = (const uint4 *)w.values + 2 * (size_t)dense_before(c, j);
        return 2;
    }
    const u32 i = variable - t.ports;
    const u64 boolean = c.booleans[t.boolean + (i >> 6)];
    if (boolean >> (i & 63) & 1)
        return bit_of(w.bits, in.first_aux + i);
    const u32 rank =
        c.ranks[t.rank + (i >> 6)] + (u32)__popcll(~boolean & (((u64)1 << (i & 63)) - 1));
    *value = (const uint4 *)w.values + 2 * (size_t)(in.first_dense + rank);
    return 2;
}

CUZK_DEV size_t place(u32 row, int log2_size)
{
    return log2_size > 0 ? __brev(row) >> (32 - log2_size) : row;
}

static __global__ void __launch_bounds__(CUZK_LAYOUT_ROWS)
    multiply_rows(uint4 *out, cuzk_layout c, cuzk_layout_witness w, int matrix, int log2_size)
{
    const cuzk_layout_item item = c.items[blockIdx.x];
    const cuzk_layout_instance in = c.instances[item.instance];
    const cuzk_layout_template t = c.templates[in.template_number];
    const u32 row = item.row + threadIdx.x;
    if (row >= t.rows)
        return;
    const u32 *start = c.starts + t.start[matrix] + row, *terms = c.terms + t.terms[matrix];
    fr sum = fr_zero();
    for (u32 i = start[0]; i < start[1]; i++) {
        const u32 term = terms[i];
        const uint4 *value = NULL;
        const int kind = look_up(&value, c, w, t, in, term & 0xffff);
        if (kind == 0)
            continue;
        fr x = load_fr((const uint4 *)c.coefficients + 2 * (size_t)(term >> 16));
        if (kind == 2)
            x = mul(x, load_fr(value));
        sum = add(sum, x);
    }
    store_fr(out + 2 * place(in.first_row + row, log2_size), canonical(sum));
}

static __global__ void input_rows(uint4 *out, const uint4 *inputs, u32 count, u32 first_row,
                                  int log2_size)
{
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        store_fr(out + 2 * place(first_row + i, log2_size), load_fr(inputs + 2 * (size_t)i));
}

} // namespace cuzk
#endif
