/* The stacked graph: a node's six DRG parents (bucket sampling, in its own layer) and its eight
 * expander parents (a Feistel permutation, in the layer before), computed on demand.
 *
 * Source: rust-fil-proofs 19, storage-proofs-core/src/drgraph.rs and crypto/feistel.rs,
 * storage-proofs-porep/src/stacked/vanilla/graph.rs.
 */
#ifndef CUZK_CIRCUIT_POREP_GRAPH_H
#define CUZK_CIRCUIT_POREP_GRAPH_H

#include "circuit/porep.h"

/* Owner: the creator, one thread at a time (it holds a hash context). */
struct cuzk_porep_graph {
    const struct cuzk_porep_params *params;
    uint8_t drg_seed[28];
    uint64_t feistel_keys[3];
    uint32_t half_bits; /* of the permutation's domain, 4^half_bits >= 8·nodes */
    void *digest;       /* OpenSSL's context and method for BLAKE2b-512 */
    void *method;
};

/* Clear tolerates a zeroed graph. */
cuzk_status cuzk_porep_graph_init(struct cuzk_porep_graph *out,
                                  const struct cuzk_porep_params *params, struct cuzk_error *err);
void cuzk_porep_graph_clear(struct cuzk_porep_graph *graph);

/* node < params->nodes. DRG parents first, then expander parents, in the order in which labels are
 * hashed. Node 0 has itself as its DRG parents, node 1 node 0. */
cuzk_status cuzk_porep_parents(uint32_t out[CUZK_POREP_PARENTS],
                               const struct cuzk_porep_graph *graph, uint32_t node,
                               struct cuzk_error *err);

#endif
