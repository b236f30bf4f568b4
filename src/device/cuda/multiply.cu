// The matrix products of a proof.
#include "kernels/multiply.cuh"

#include "device.cuh"

using namespace cuzk;

extern "C" cuzk_status cuzk_cuda_multiply(struct cuzk_cuda *device, void *out,
                                          const struct cuzk_layout *circuit,
                                          const struct cuzk_layout_witness *witness, int matrix,
                                          int log2_size, struct cuzk_error *err)
{
    CUZK_TRY(make_current(device, err));
    if (log2_size >= 0)
        CUZK_CUDA(cudaMemsetAsync(out, 0, sizeof(fr) << log2_size, device->main));
    if (circuit->item_count > 0) {
        multiply_rows<<<circuit->item_count, CUZK_LAYOUT_ROWS, 0, device->main>>>(
            (uint4 *)out, *circuit, *witness, matrix, log2_size);
        CUZK_LAUNCHED(multiply_rows);
    }
    if (log2_size >= 0 && matrix == 0) {
        input_rows<<<blocks_for(circuit->inputs, 128), 128, 0, device->main>>>(
            (uint4 *)out, (const uint4 *)witness->inputs, circuit->inputs, circuit->rows,
            log2_size);
        CUZK_LAUNCHED(input_rows);
    }
    CUZK_CUDA(cudaStreamSynchronize(device->main));
    return CUZK_OK;
}
