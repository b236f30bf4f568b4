/* Uniform field elements from the kernel's random bytes, by rejection: 255 bits are drawn until the
 * number is below r and not zero, which takes 2.2 draws on average.
 */
#include "base/alloc.h"
#include "base/os.h"
#include "groth16/groth16.h"

cuzk_status cuzk_random_fr(struct bls12_381_fr *out, struct cuzk_error *err)
{
    uint8_t bytes[BLS12_381_FR_BYTES];
    cuzk_status status;
    do {
        status = cuzk_os_random(bytes, sizeof bytes, err);
        bytes[sizeof bytes - 1] &= 0x7f;
    } while (status == CUZK_OK && (!bls12_381_fr_from_le(out, bytes) || bls12_381_fr_is_zero(out)));
    cuzk_wipe(bytes, sizeof bytes);
    if (status != CUZK_OK)
        *out = bls12_381_fr_zero;
    return status;
}
