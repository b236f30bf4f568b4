/* Circuits from files: the dump format "R1CSREC1" (doc/formats/r1csrec1.md), plain or zstd.
 *
 * "R1CSREC1"; u32 inputs, auxiliaries, constraints, coefficients, has_witness; the coefficients, 32
 * bytes each; u64 length of the rows; for A, B, C of each constraint a varint (LEB128) number of
 * terms, then per term varint tag and varint coefficient number; if has_witness, the inputs and the
 * auxiliaries, 32 bytes each. All little endian, field elements canonical.
 */
#ifndef CUZK_CIRCUIT_DUMP_H
#define CUZK_CIRCUIT_DUMP_H

#include "circuit/circuit.h"

/* The circuit is cut into templates that have ports only, so every auxiliary is dense. *witness is
 * NULL where the file has none; `witness` itself may be NULL. The caller destroys both. Fails with
 * CUZK_E_FORMAT, _RANGE, _TRUNCATED or _TRAILING and names the byte (of the unpacked stream) where
 * the file is wrong. */
cuzk_status cuzk_dump_read(struct cuzk_circuit **circuit, struct cuzk_witness **witness,
                           const char *path, struct cuzk_budget *budget, struct cuzk_error *err);

/* Writes a circuit, with the witness if it is not NULL; packed where the path ends in ".zst". */
cuzk_status cuzk_dump_write(const char *path, const struct cuzk_circuit *circuit,
                            const struct cuzk_witness *witness, struct cuzk_error *err);

#endif
