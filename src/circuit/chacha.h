/* One block of the ChaCha stream (RFC 8439 §2.3, with the number of rounds free): the network
 * draws DRG parents from ChaCha8 and synthetic challenges from ChaCha20. Words 12 to 15 are the
 * caller's: a 64-bit counter and a 64-bit stream, or a 32-bit counter and a 96-bit nonce.
 */
#ifndef CUZK_CIRCUIT_CHACHA_H
#define CUZK_CIRCUIT_CHACHA_H

#include <stdint.h>

static inline uint32_t chacha_rotl(uint32_t x, int n)
{
    return x << n | x >> (32 - n);
}

static inline void chacha_quarter(uint32_t *a, uint32_t *b, uint32_t *c, uint32_t *d)
{
    *a += *b;
    *d = chacha_rotl(*d ^ *a, 16);
    *c += *d;
    *b = chacha_rotl(*b ^ *c, 12);
    *a += *b;
    *d = chacha_rotl(*d ^ *a, 8);
    *c += *d;
    *b = chacha_rotl(*b ^ *c, 7);
}

static inline void chacha_block(uint32_t out[16], const uint8_t key[32], const uint32_t tail[4],
                                int rounds)
{
    uint32_t in[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    for (int i = 0; i < 8; i++)
        in[4 + i] = (uint32_t)key[4 * i] | (uint32_t)key[4 * i + 1] << 8 |
                    (uint32_t)key[4 * i + 2] << 16 | (uint32_t)key[4 * i + 3] << 24;
    for (int i = 0; i < 4; i++)
        in[12 + i] = tail[i];
    uint32_t x[16];
    for (int i = 0; i < 16; i++)
        x[i] = in[i];
    for (int round = 0; round < rounds; round += 2) {
        for (int i = 0; i < 4; i++)
            chacha_quarter(&x[i], &x[4 + i], &x[8 + i], &x[12 + i]);
        for (int i = 0; i < 4; i++)
            chacha_quarter(&x[i], &x[4 + (i + 1) % 4], &x[8 + (i + 2) % 4], &x[12 + (i + 3) % 4]);
    }
    for (int i = 0; i < 16; i++)
        out[i] = x[i] + in[i];
}

#endif
