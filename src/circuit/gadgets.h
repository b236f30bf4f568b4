/* Pieces that several gadgets are made of. Inside this folder only. */
#ifndef CUZK_CIRCUIT_GADGETS_H
#define CUZK_CIRCUIT_GADGETS_H

#include "circuit/cs.h"

/* A bit from outside: 1 row, (1 - b)·b = 0. */
struct bit gadget_bit(struct cuzk_cs *cs, bool value);
/* The sum of 2^i·bit i is the public input that `port` is: 1 row, n ≤ 254. */
void gadget_pack_input(struct cuzk_cs *cs, const struct bit *bits, uint32_t n, uint32_t port);
/* e at place b among x[0 … arity - 2]; arity 2, 4 or 8, log2(arity) bits. */
void gadget_insert(struct cuzk_cs *cs, struct num *out, uint32_t arity, const struct num *e,
                   const struct bit *b, const struct num *x);
uint32_t gadget_log2(uint64_t arity);

/* SHA-256 (FIPS 180-4): round constants and initial state; the message of a block by its parameter:
 * each bit constant or variable. */
extern const uint32_t gadget_sha256_constant[64], gadget_sha256_state[8];
enum gadget_pattern { PATTERN_ZERO, PATTERN_ONE, PATTERN_VARIABLE };
void gadget_sha256_pattern(uint8_t out[512], uint64_t parameter);
/* A block's allocations word by word; evaluating only, and not for a block without any port. */
void gadget_sha256_words(struct cuzk_cs *cs, bool constant_state, const uint8_t pattern[512]);

#endif
