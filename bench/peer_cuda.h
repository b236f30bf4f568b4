/* The peer that the CUDA benchmark compares with: a shared library, built elsewhere and loaded at
 * run time from the file that --peer names, which wraps another implementation's
 * multi-exponentiation and transform over data in device memory. Nothing of it is part of this
 * project; this is the whole interface. Points are affine (x, y), scalars and elements Fr, all in
 * Montgomery form as ours; a function returns 0 or an error of its own.
 */
#ifndef CUZK_BENCH_PEER_CUDA_H
#define CUZK_BENCH_PEER_CUDA_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct peer_cuda {
    void *library;
    /* *out is Jacobian (144 or 288 bytes of host memory) */
    int (*msm_g1)(void *out, const void *points, const void *scalars, size_t n);
    int (*msm_g2)(void *out, const void *points, const void *scalars, size_t n);
    /* in place; forward: natural to bit-reversed order, inverse: back */
    int (*ntt)(void *data, unsigned log2_size, int inverse);
};

static inline bool peer_cuda_open(struct peer_cuda *peer, const char *path)
{
    peer->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (peer->library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return false;
    }
    *(void **)&peer->msm_g1 = dlsym(peer->library, "peer_msm_g1");
    *(void **)&peer->msm_g2 = dlsym(peer->library, "peer_msm_g2");
    *(void **)&peer->ntt = dlsym(peer->library, "peer_ntt");
    return peer->msm_g1 != NULL && peer->msm_g2 != NULL && peer->ntt != NULL;
}

#endif
