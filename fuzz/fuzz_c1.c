/* C1: whatever the bytes, the reader ends with a sector or an error that names a byte; a sector can
 * be checked. The first byte, if it is 'm', asks for the development miniature. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "circuit/porep_statement.h"
#include "format/c1.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct cuzk_porep_params *circuit = NULL;
    if (size != 0 && data[0] == 'm') {
        circuit = cuzk_porep_by_circuit("porep-mini32");
        data++;
        size--;
    }
    struct cuzk_error err = {0};
    struct cuzk_porep_sector *sector;
    if (cuzk_c1_parse(&sector, "c1.json", data, size, circuit, NULL, &err) == CUZK_OK) {
        (void)cuzk_porep_check(sector, &err);
        cuzk_porep_sector_destroy(sector);
    } else if (sector != NULL || strncmp(err.message, "c1.json: ", 9) != 0 ||
               strstr(err.message, "byte ") == NULL) {
        abort();
    }
    return 0;
}
