/* Digests of circuits and witnesses, in the form of the reference's: items are hashed in chunks of
 * 65,536, and the whole is the SHA-256 of the chunks' digests one after another, so that a
 * difference can be found by its chunk.
 */
#ifndef CUZK_CIRCUIT_DIGEST_H
#define CUZK_CIRCUIT_DIGEST_H

#include "circuit/circuit.h"

enum { CUZK_CHUNK = 65536, CUZK_SHA256_SIZE = 32 };

/* Is told each chunk's digest as it comes; may stop the work by its status. */
typedef cuzk_status cuzk_chunk_visitor(void *context, const uint8_t digest[CUZK_SHA256_SIZE],
                                       struct cuzk_error *err);

/* A row is hashed as its A, B and C in turn, each: number of terms (u32, little endian), then for
 * each term in canonical order the tag (u32) and the coefficient (32 bytes). Densities count
 * auxiliaries and, for B, inputs; their digests are of the bitmaps as 64-bit words. */
struct cuzk_shape {
    uint32_t inputs, aux, rows, coefficients; /* coefficients: distinct ones in use */
    uint64_t terms[3];
    uint32_t longest[3];
    uint32_t a_aux_density, b_aux_density, b_input_density;
    uint8_t a_aux_sha256[CUZK_SHA256_SIZE], b_aux_sha256[CUZK_SHA256_SIZE];
    uint8_t b_input_sha256[CUZK_SHA256_SIZE], rows_sha256[CUZK_SHA256_SIZE];
};
/* visit may be NULL. Memory: the density's bitmaps. */
cuzk_status cuzk_circuit_shape(struct cuzk_shape *out, const struct cuzk_circuit *circuit,
                               cuzk_chunk_visitor *visit, void *context, struct cuzk_error *err);

/* The auxiliaries, or M·w on the circuit's rows; an item is a value of 32 bytes. */
cuzk_status cuzk_witness_aux_digest(uint8_t out[CUZK_SHA256_SIZE],
                                    const struct cuzk_circuit *circuit,
                                    const struct cuzk_witness *witness, cuzk_chunk_visitor *visit,
                                    void *context, struct cuzk_error *err);
cuzk_status cuzk_witness_product_digest(uint8_t out[CUZK_SHA256_SIZE],
                                        const struct cuzk_circuit *circuit,
                                        const struct cuzk_witness *witness, int matrix,
                                        struct cuzk_threads *threads, cuzk_chunk_visitor *visit,
                                        void *context, struct cuzk_error *err);

/* Auxiliaries that are zero and that are one. */
void cuzk_witness_count(const struct cuzk_circuit *circuit, const struct cuzk_witness *witness,
                        uint32_t *zeros, uint32_t *ones);

#endif
