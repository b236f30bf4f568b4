/* A sector that nobody sealed, of any size, in a second: zero data, so comm_d is the network's own
 * zero commitment; pseudorandom labels where nothing is opened and computed ones where a challenge
 * is; trees of which only the opened paths exist, everything beside them pseudorandom; the graph's
 * real parents. All equalities that the circuit demands hold, so its circuits are satisfied. It
 * proves nothing about storage: its prover made up the replica.
 */
#ifndef CUZK_CIRCUIT_POREP_MOCK_H
#define CUZK_CIRCUIT_POREP_MOCK_H

#include "circuit/porep.h"

/* Whose sector it is. */
struct cuzk_porep_owner {
    uint64_t miner, sector_number;
};

/* Everything follows from params and seed. CUZK_E_UNSUPPORTED for a registered proof that is not
 * interactive: synthetic challenges depend on comm_r, which here depends on them. The sector is
 * destroyed by the caller. */
cuzk_status cuzk_porep_mock(struct cuzk_porep_sector **out, struct cuzk_porep_owner *owner,
                            const struct cuzk_porep_params *params, uint64_t seed,
                            struct cuzk_budget *budget, struct cuzk_error *err);

#endif
