/* Encodings of points: every path says the same of them, and what decodes encodes to its own bytes.
 * The input's first byte chooses the kind (bit 0: G2, bit 1: compressed, bit 2: subgroup). */
#include <stdlib.h>
#include <string.h>

#include "curve/bls12_381/ops.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

union point {
    struct bls12_381_g1_affine g1;
    struct bls12_381_g2_affine g2;
};

static cuzk_status decode(const struct bls12_381_ops *ops, unsigned kind, union point *p,
                          const uint8_t *in)
{
    bool compressed = (kind & 2) != 0, subgroup = (kind & 4) != 0;
    memset(p, 0, sizeof *p);
    return (kind & 1) != 0 ? ops->g2_decode(&p->g2, in, 1, compressed, subgroup, NULL, NULL)
                           : ops->g1_decode(&p->g1, in, 1, compressed, subgroup, NULL, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    unsigned kind = data[0];
    size_t need = ((kind & 1) != 0 ? 96u : 48u) * ((kind & 2) != 0 ? 1u : 2u);
    uint8_t *in = malloc(need); /* exactly, so that a sanitizer sees what is read beyond */
    if (in == NULL)
        return 0;
    memset(in, 0, need);
    memcpy(in, data + 1, size - 1 < need ? size - 1 : need);

    const struct bls12_381_ops *portable = bls12_381_ops("portable"), *best = bls12_381_ops(NULL);
    union point p, q;
    cuzk_status status = decode(portable, kind, &p, in);
    if (decode(best, kind, &q, in) != status || memcmp(&p, &q, sizeof p) != 0)
        abort();
    if (status == CUZK_OK) {
        uint8_t out[192];
        bool compressed = (in[0] & 0x80) != 0; /* may say so in an uncompressed one's place */
        if ((kind & 1) != 0)
            best->g2_encode(out, &p.g2, 1, compressed);
        else
            best->g1_encode(out, &p.g1, 1, compressed);
        if (memcmp(out, in, compressed && (kind & 2) == 0 ? need / 2 : need) != 0)
            abort();
    }
    free(in);
    return 0;
}
