/* bellperson's `.params` and `.vk`: a verifying key, then h, l, a, b_g1, b_g2, each a 32-bit
 * big-endian count and uncompressed points (G1 96 bytes, G2 192). doc/formats/params.md.
 *
 * The file is mapped: opening checks structure and counts against the size at once, and the
 * verifying key's points whole; the others are checked (encoding, curve, not infinity) as they are
 * decoded. Their subgroups and the digest are for `inspect --full` (format/inspect.h). The file
 * must not shrink while it is open. Owner: the creator; read only after opening.
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

/* The same from memory: a verifying key at the head of size bytes; *used is its length. `name` is
 * what errors call the file. Trailing bytes are the caller's to judge. */
cuzk_status cuzk_vk_parse(struct cuzk_vk *out, const uint8_t *data, uint64_t size, uint64_t *used,
                          const char *name, struct cuzk_error *err);

/* Bytes of an encoded key with that many inputs, and the encoding, as at the head of a .params. */
#define CUZK_G1_BYTES 96
#define CUZK_G2_BYTES 192
#define CUZK_VK_HEAD_BYTES (3 * CUZK_G1_BYTES + 3 * CUZK_G2_BYTES) /* before the count of ic */
uint64_t cuzk_vk_bytes(uint32_t ic_count);
void cuzk_vk_encode(uint8_t *out, const struct cuzk_vk *vk);
cuzk_status cuzk_vk_write(const char *path, const struct cuzk_vk *vk, struct cuzk_error *err);

/* In the file's order. */
enum cuzk_section { CUZK_H, CUZK_L, CUZK_QUERY_A, CUZK_QUERY_B1, CUZK_QUERY_B2, CUZK_SECTIONS };
const char *cuzk_section_name(enum cuzk_section section); /* "h", "l", "a", "b_g1", "b_g2" */

struct cuzk_params {
    char *path;
    struct cuzk_mapping file;
    struct cuzk_vk vk;
    uint64_t offset[CUZK_SECTIONS]; /* of the first point */
    uint32_t count[CUZK_SECTIONS];
};
cuzk_status cuzk_params_open(struct cuzk_params **out, const char *path, struct cuzk_error *err);
void cuzk_params_close(struct cuzk_params *params);

/* Decodes points [first, first + count) of a section, which must lie within it; the error names
 * file, section and offset. Safe from several threads at once. */
cuzk_status cuzk_params_g1(const struct cuzk_params *params, enum cuzk_section section,
                           struct bls12_381_g1_affine *out, size_t first, size_t count,
                           struct cuzk_error *err);
cuzk_status cuzk_params_g2(const struct cuzk_params *params, struct bls12_381_g2_affine *out,
                           size_t first, size_t count, struct cuzk_error *err);
/* The same, with the subgroup checked where asked: some 40 µs a point. */
cuzk_status cuzk_params_g1_checked(const struct cuzk_params *params, enum cuzk_section section,
                                   struct bls12_381_g1_affine *out, size_t first, size_t count,
                                   bool subgroup, struct cuzk_error *err);
cuzk_status cuzk_params_g2_checked(const struct cuzk_params *params,
                                   struct bls12_381_g2_affine *out, size_t first, size_t count,
                                   bool subgroup, struct cuzk_error *err);

#endif
