/* The waste of a setup: the secrets that a key is made from. Whoever knows them can forge proofs,
 * so a waste from a file makes keys for tests only (`--insecure-waste`). doc/formats/waste.md.
 */
#ifndef CUZK_FORMAT_WASTE_H
#define CUZK_FORMAT_WASTE_H

#include <stdbool.h>

#include "curve/bls12_381/fields.h"
#include "cuzk/errors.h"

struct cuzk_waste {
    struct bls12_381_fr alpha, beta, gamma, delta, tau; /* none is zero */
    struct bls12_381_fr r, s;                           /* of a proof, where has_rs */
    bool has_rs;
};

/* Reads {"alpha": …, "beta": …, "gamma": …, "delta": …, "tau": …}, each 32 bytes in hex,
 * little-endian, either the whole file or its member "waste". `out` is secret: wipe it. */
cuzk_status cuzk_waste_read(struct cuzk_waste *out, const char *path, struct cuzk_error *err);
cuzk_status cuzk_waste_parse(struct cuzk_waste *out, const char *name, const uint8_t *data,
                             size_t size, struct cuzk_error *err);

#endif
