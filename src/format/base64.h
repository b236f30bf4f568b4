/* Base64 (RFC 4648 §4: the standard alphabet, padded, no blanks), decoded in pieces. */
#ifndef CUZK_FORMAT_BASE64_H
#define CUZK_FORMAT_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuzk/errors.h"

/* Takes pieces of some tens of kilobytes in order; `last` with the last one. */
typedef cuzk_status cuzk_base64_sink(void *context, const uint8_t *data, size_t size, bool last);

/* False, and the number of the character at fault, if the text (which may not be empty) is not
 * base64; the sink may have had pieces before that. Otherwise true, and the sink's status: it is
 * not called again after a failure. */
bool cuzk_base64_decode(cuzk_status *status, size_t *bad, const unsigned char *text, size_t size,
                        cuzk_base64_sink *sink, void *context);

#endif
