/* A proving key: whatever the bytes, an error or points of the curve; what is read has the counts
 * that fit the file. */
#include "file.h"
#include "format/params.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cuzk_params *p;
    struct cuzk_error err;
    if (cuzk_params_open(&p, fuzz_file(data, size), &err) != CUZK_OK)
        return 0;
    for (enum cuzk_section s = 0; s < CUZK_SECTIONS; s++) {
        union {
            struct bls12_381_g1_affine g1[16];
            struct bls12_381_g2_affine g2[16];
        } points;
        for (size_t first = 0; first < p->count[s]; first += 16) {
            size_t n = p->count[s] - first < 16 ? p->count[s] - first : 16;
            cuzk_status status = s == CUZK_QUERY_B2
                                     ? cuzk_params_g2(p, points.g2, first, n, &err)
                                     : cuzk_params_g1(p, s, points.g1, first, n, &err);
            if (status != CUZK_OK && status != CUZK_E_POINT && status != CUZK_E_RANGE)
                abort();
        }
    }
    cuzk_params_close(p);
    return 0;
}
