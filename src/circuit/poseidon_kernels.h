/* What poseidon.c asks of an instruction-set path. Inside this folder only. */
#ifndef CUZK_CIRCUIT_POSEIDON_KERNELS_H
#define CUZK_CIRCUIT_POSEIDON_KERNELS_H

#include "circuit/poseidon.h"
#include "field/isa.h"

struct poseidon_kernels {
    /* s: width elements, s[1 ...] the preimage, s[1] the hash afterwards; out: NULL or room for
     * cuzk_poseidon_witness_size values. */
    void (*permute)(struct bls12_381_fr *s, const struct cuzk_poseidon *p,
                    struct bls12_381_fr *out);
};

extern const struct poseidon_kernels poseidon_kernels_portable, poseidon_kernels_x86_64_adx;

#endif
