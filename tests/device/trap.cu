// Kernels that break the device's context on purpose, for test_lost.c.
#include <cuda_runtime.h>

#include "trap.h"

// The one by an instruction, the other by a write to where nothing is mapped; both after a while,
// so that other work is in flight.
__global__ void break_context(int kind, unsigned long long nanoseconds)
{
    unsigned long long start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    } while (now - start < nanoseconds);
    if (kind == TEST_TRAP_INSTRUCTION)
        asm volatile("trap;");
    else
        *(volatile unsigned *)0x40 = 1;
}

extern "C" int test_trap(int device, int kind, unsigned long long nanoseconds)
{
    cudaStream_t stream;
    if (cudaSetDevice(device) != cudaSuccess ||
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess)
        return -1;
    break_context<<<1, 1, 0, stream>>>(kind, nanoseconds);
    return (int)cudaGetLastError();
}
