/* META.json: the reader ends with a statement, whose inputs can be computed, or with an error. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/meta.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cuzk_error err = {0};
    struct cuzk_meta meta;
    struct cuzk_porep_statement statement;
    uint32_t nodes[CUZK_POREP_MAX_CHALLENGES];
    if (cuzk_meta_parse(&meta, "meta.json", data, size, NULL, &err) == CUZK_OK) {
        if (cuzk_meta_statement(&statement, &meta, &err) != CUZK_OK ||
            cuzk_porep_challenges(nodes, &statement, 0, &err) != CUZK_OK)
            abort();
    } else if (strncmp(err.message, "meta.json: ", 11) != 0) {
        abort();
    }
    return 0;
}
