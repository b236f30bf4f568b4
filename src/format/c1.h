/* C1: the output of commit phase 1, as filecoin-proofs-api serialises it to JSON, raw or in the
 * clients' wrapper {"SectorNum": n, "Phase1Out": base64, "SectorSize": bytes}. doc/formats/c1.md.
 *
 * Read as a stream, keys in any order: beyond the sector that it yields (8 MB for 32 GiB), reading
 * takes some tens of kilobytes; the file itself is mapped. A wrapper's base64 is decoded as it is
 * read (one with escapes in it, which no client writes, is unescaped as a whole first). Nothing in
 * the file sizes an allocation: all counts follow from the registered proof.
 *
 * Checked while reading: every count and length, every field element below r, unknown, duplicate
 * and missing keys, path digits against column indices, roots against each other and comm_d,
 * labeling and encoding proofs against the columns that they repeat. Not checked here: hashes (the
 * witness does) and challenges (cuzk_porep_check). Errors give the file, the byte, the JSON path
 * and the remedy.
 */
#ifndef CUZK_FORMAT_C1_H
#define CUZK_FORMAT_C1_H

#include "circuit/porep.h"

/* circuit: NULL, or the circuit that is asked for (cuzk_porep_by_circuit); the miniature is read
 * only if it is asked for. The sector's params are those of the registered proof. */
cuzk_status cuzk_c1_read(struct cuzk_porep_sector **out, const char *path,
                         const struct cuzk_porep_params *circuit, struct cuzk_budget *budget,
                         struct cuzk_error *err);
/* The same of text in memory; `name` stands for the file in errors. */
cuzk_status cuzk_c1_parse(struct cuzk_porep_sector **out, const char *name, const uint8_t *data,
                          size_t size, const struct cuzk_porep_params *circuit,
                          struct cuzk_budget *budget, struct cuzk_error *err);

/* Writes a sector as filecoin-proofs-api would: the same bytes for the same sector. */
cuzk_status cuzk_c1_write(const struct cuzk_porep_sector *sector, const char *path,
                          struct cuzk_error *err);

#endif
