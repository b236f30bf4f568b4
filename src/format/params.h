/* bellperson's `.params` and `.vk`: a verifying key, then h, l, a, b_g1, b_g2, each a 32-bit
 * big-endian count and uncompressed points (G1 96 bytes, G2 192). doc/formats/params.md.
 *
 * The file is mapped: opening checks structure and counts against the size at once; points are
 * checked (encoding, curve) as they are decoded. Subgroups and the digest are for
 * `inspect --full`. Owner: the creator; read only after opening.
 */
#ifndef CUZK_FORMAT_PARAMS_H
#define CUZK_FORMAT_PARAMS_H

#include "base/os.h"
#include "curve/bls12_381/ops.h"

struct cuzk_vk {
    struct bls12_381_g1_affine alpha_g1, beta_g1, delta_g1;
    struct bls12_381_g2_affine beta_g2, gamma_g2, delta_g2;
    struct bls12_381_g1_affine *ic; /* ic_count, one for each input (the constant one first) */
    uint32_t ic_count;
};

/* All its points are checked, subgroup included: a verifying key is small. */
cuzk_status cuzk_vk_read(struct cuzk_vk *out, const char *path, struct cuzk_error *err);
void cuzk_vk_destroy(struct cuzk_vk *vk); /* tolerates a zeroed one */

enum cuzk_section { CUZK_H, CUZK_L, CUZK_QUERY_A, CUZK_QUERY_B1, CUZK_QUERY_B2, CUZK_SECTIONS };

struct cuzk_params {
    char *path;
    struct cuzk_mapping file;
    struct cuzk_vk vk;
    uint64_t offset[CUZK_SECTIONS]; /* of the first point */
    uint32_t count[CUZK_SECTIONS];
};
cuzk_status cuzk_params_open(struct cuzk_params **out, const char *path, struct cuzk_error *err);
void cuzk_params_close(struct cuzk_params *params);

/* Decodes points [first, first + count) of a section; the error names file, section and offset. */
cuzk_status cuzk_params_g1(const struct cuzk_params *params, enum cuzk_section section,
                           struct bls12_381_g1_affine *out, size_t first, size_t count,
                           struct cuzk_error *err);
cuzk_status cuzk_params_g2(const struct cuzk_params *params, struct bls12_381_g2_affine *out,
                           size_t first, size_t count, struct cuzk_error *err);

#endif
