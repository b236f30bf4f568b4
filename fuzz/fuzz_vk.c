/* A verifying key: an error, or one that encodes to the same bytes. */
#include <stdlib.h>
#include <string.h>

#include "format/params.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cuzk_vk vk;
    struct cuzk_error err;
    uint64_t used;
    if (cuzk_vk_parse(&vk, data, size, &used, "fuzz.vk", &err) != CUZK_OK) {
        if (vk.ic != NULL || err.message[0] == '\0')
            abort();
        return 0;
    }
    uint8_t *back = malloc((size_t)used);
    if (back != NULL) {
        cuzk_vk_encode(back, &vk);
        if (used > size || memcmp(back, data, (size_t)used) != 0)
            abort();
    }
    free(back);
    cuzk_vk_destroy(&vk);
    return 0;
}
