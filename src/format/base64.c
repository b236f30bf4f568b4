/* See base64.h. A group of four characters is three bytes; '=' may stand for the last one or two of
 * the text, and the bits that then belong to no byte must be zero. */
#include "format/base64.h"

enum { PADDING = 64, OTHER = 65 };

static unsigned digit(unsigned char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - (unsigned)'A';
    if (c >= 'a' && c <= 'z')
        return c - (unsigned)'a' + 26;
    if (c >= '0' && c <= '9')
        return c - (unsigned)'0' + 52;
    if (c == '=')
        return PADDING;
    return c == '+' ? 62 : c == '/' ? 63 : OTHER;
}

bool cuzk_base64_decode(cuzk_status *status, size_t *bad, const unsigned char *text, size_t size,
                        cuzk_base64_sink *sink, void *context)
{
    uint8_t out[3 << 13];
    size_t n = 0;
    *status = CUZK_OK;
    *bad = size;
    if (size == 0 || size % 4 != 0)
        return false;
    for (size_t i = 0; i < size; i += 4) {
        const bool last = i + 4 == size;
        size_t padding = 0;
        uint32_t bits = 0;
        for (size_t j = 0; j < 4; j++) {
            unsigned d = digit(text[i + j]);
            padding += d == PADDING;
            /* padding only at the end, at most two, and nothing behind it */
            if (d == OTHER || (padding != 0 && (!last || j < 2 || d != PADDING))) {
                *bad = i + j;
                return false;
            }
            bits = bits << 6 | (d & 63);
        }
        if ((bits & ((UINT32_C(1) << (8 * padding)) - 1)) != 0) {
            *bad = i + 3 - padding;
            return false;
        }
        for (size_t j = 0; j < 3 - padding; j++)
            out[n++] = (uint8_t)(bits >> (16 - 8 * j));
        if (last || n + 3 > sizeof out) {
            *status = sink(context, out, n, last);
            if (*status != CUZK_OK)
                return true;
            n = 0;
        }
    }
    return true;
}
