/* The network's published keys: what they are called, which digests they have, where they lie.
 *
 * A key is the network's if its digest is in the published list, whatever its name; a file with a
 * published name and another digest is a fake or damaged. Names carry a version, the circuit, the
 * arities of the trees and a hash of the circuit's parameters, so that a sector size has exactly
 * one PoRep key.
 */
#ifndef CUZK_FORMAT_NETWORK_KEYS_H
#define CUZK_FORMAT_NETWORK_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuzk/errors.h"

struct cuzk_network_key {
    const char *stem;                      /* file name without .params or .vk */
    uint64_t sector_size;                  /* bytes */
    const char *params_digest, *vk_digest; /* BLAKE2b-512 of the file, first 16 bytes, hex */
};

const struct cuzk_network_key *cuzk_network_keys(size_t *count);

/* By the last part of a path; *is_vk says which of the two files the name is of. NULL if none. */
const struct cuzk_network_key *cuzk_network_key_by_name(const char *path, bool *is_vk);
/* By digest, 32 hex digits. */
const struct cuzk_network_key *cuzk_network_key_by_digest(const char *digest, bool *is_vk);
/* The PoRep key of a sector size. */
const struct cuzk_network_key *cuzk_network_key_porep(uint64_t sector_size);

/* "stacked-proof-of-replication" …: the circuit in the name. Returns out. */
const char *cuzk_network_key_circuit(const struct cuzk_network_key *key, char *out, size_t size);

/* Where the file should lie: FIL_PROOFS_PARAMETER_CACHE, or /var/tmp/filecoin-proof-parameters.
 * CUZK_E_RANGE if it does not fit. Whether it is there is for the caller to see. */
cuzk_status cuzk_network_key_path(char *out, size_t size, const struct cuzk_network_key *key,
                                  bool vk, struct cuzk_error *err);

#endif
