/* The circuit of one partition of a Proof-of-Replication, and its witness.
 *
 * The circuit depends on the size alone: its params' layers, tree shapes and number of challenges.
 * Public inputs in order: replica id, comm_d, comm_r; then for each challenge its index in tree D,
 * of its fourteen parents in tree C (DRG, then expander), the challenge, its index in tree R, its
 * index in tree C. Constraints, variables and their order are those of storage-proofs-porep 19
 * (stacked/circuit), so that the network's keys fit.
 */
#ifndef CUZK_CIRCUIT_POREP_CIRCUIT_H
#define CUZK_CIRCUIT_POREP_CIRCUIT_H

#include "circuit/circuit.h"
#include "circuit/porep.h"

/* Charged to CUZK_PURPOSE_SHAPE: some 10 MB for 2 KiB, 50 MB for 32 GiB. Destroyed by
 * cuzk_circuit_destroy. */
cuzk_status cuzk_porep_circuit(struct cuzk_circuit **out, const struct cuzk_porep_params *params,
                               struct cuzk_budget *budget, struct cuzk_error *err);

/* The partition's witness. Every equality of the circuit that depends on the proof is checked on
 * the way: comm_r is the hash of comm_c and comm_r_last, paths lead to their roots, leaves of tree
 * C are the hashes of the columns, the challenged column's rows are the labels that the parents
 * give, the replica's node is the data plus the last label. The first that does not hold gives
 * CUZK_E_INPUT and its JSON path in C1. That the public inputs are those of the statement is for
 * the caller to compare: they are in (*out)->inputs. One thread; no device. */
cuzk_status cuzk_porep_witness(struct cuzk_witness **out, const struct cuzk_circuit *circuit,
                               const struct cuzk_porep_vanilla *vanilla, struct cuzk_budget *budget,
                               struct cuzk_error *err);

#endif
