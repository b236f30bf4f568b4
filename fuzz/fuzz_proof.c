/* A proof: an error, or one that encodes to the same bytes. */
#include <stdlib.h>
#include <string.h>

#include "format/proof.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cuzk_proof proof;
    struct cuzk_error err;
    uint8_t in[CUZK_PROOF_BYTES] = {0}, back[CUZK_PROOF_BYTES];
    memcpy(in, data, size < sizeof in ? size : sizeof in);
    if (cuzk_proof_decode(&proof, in, &err) != CUZK_OK)
        return 0;
    cuzk_proof_encode(back, &proof);
    if (memcmp(in, back, sizeof in) != 0)
        abort();
    return 0;
}
