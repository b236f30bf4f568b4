/* Gadgets, and the composer that puts a circuit together from them or fills its witness.
 *
 * One walk over a circuit's gadgets serves both: building, the composer records each (gadget,
 * parameter) once as a template and appends instances; filling, it goes through the instances that
 * were built and runs the same descriptions for their values. A walk must make the same calls both
 * times; the composer checks that it does.
 */
#ifndef CUZK_CIRCUIT_GADGET_H
#define CUZK_CIRCUIT_GADGET_H

#include "circuit/cs.h"

struct cuzk_gadget {
    const char *name;
    void (*run)(struct cuzk_cs *cs, uint64_t parameter);
    /* The name with the parameter's meaning; NULL: the name says all. */
    void (*label)(char *out, size_t size, uint64_t parameter);
};

/* ---- the gadgets; ports, own values (advice) and outputs in this order ---- */

/* n numbers from outside. Parameter: n. Advice: n values. Outputs: n. No rows. */
extern const struct cuzk_gadget cuzk_gadget_numbers;
/* A number from outside that is made a public input. Port: the input. Output: the number. */
extern const struct cuzk_gadget cuzk_gadget_public_number;
/* Two numbers are equal (1 row). Ports: both. */
extern const struct cuzk_gadget cuzk_gadget_equal;
/* A number's 255 bits, least significant first (256 rows); that they are below the modulus is not
 * enforced. Port: the number. Outputs: 255 bits. */
extern const struct cuzk_gadget cuzk_gadget_num_to_bits;
/* n ≤ 254 bits, least significant first, as a number (1 row). Parameter: n. Output: the number. */
extern const struct cuzk_gadget cuzk_gadget_pack_bits;
/* n ≤ 254 bits as a public input (1 row). Parameter: n. Ports: the bits, the input. */
extern const struct cuzk_gadget cuzk_gadget_pack_input;
/* Bits from outside, n ≤ 64 (n rows). Parameter: n. Advice: number. Outputs: least significant
 * first. */
extern const struct cuzk_gadget cuzk_gadget_bits;
/* A 64-bit number from outside: 64 bits and a public input of it (65 rows). Advice: number. Port:
 * the input. Outputs: 64 bits, least significant first. */
extern const struct cuzk_gadget cuzk_gadget_uint64_input;
/* Sum of key and data (1 row). Ports: both. Output: the replica's node. */
extern const struct cuzk_gadget cuzk_gadget_encode;

/* A number put among its siblings at the index that bits say. Parameter: arity 2, 4 or 8. Ports:
 * the number, log2(arity) bits, the siblings. Outputs: arity numbers. */
extern const struct cuzk_gadget cuzk_gadget_insert;
/* The same with the bits and siblings from outside: a level of a binary Merkle path, before its
 * hash. Port: the number. Advice: number (the bit), a sibling. Outputs: the bit, left, right. */
extern const struct cuzk_gadget cuzk_gadget_insert_level;

/* One SHA-256 block. Ports: the state's 256 bits where it is variable, then the message's variable
 * bits; a word's bits most significant first. Outputs: the new state's 256 bits. State or message
 * must have a variable bit. The message: `variable` bits from the start, of which those at 248 and
 * 504 are the constant zero where numbers of 255 bits are hashed (`numbers`); behind them, in the
 * block where the message of `total` bits ends, the standard's padding. A label's first block has
 * the replica id (255 bits), the layer's number and 64 bits of the node. */
struct cuzk_sha256_block {
    bool constant_state;
    bool numbers;
    bool padded;       /* the message ends before this block's end */
    uint32_t variable; /* 0 … 512 */
    uint32_t total;    /* bits of the whole message, if padded; below 2^32 */
    uint32_t layer;    /* not 0: a label's first block; the rest but constant_state is ignored */
};
uint64_t cuzk_sha256_parameter(const struct cuzk_sha256_block *block);
uint32_t cuzk_sha256_ports(uint64_t parameter); /* the constant one not counted */
extern const struct cuzk_gadget cuzk_gadget_sha256_block;

/* Poseidon. Parameter: arity. Ports: the preimage. Output: the hash. */
extern const struct cuzk_gadget cuzk_gadget_poseidon;
/* A column from outside and its hash. Parameter: layers (2 or 11). Advice: labels. Outputs: the
 * hash, then the labels. */
extern const struct cuzk_gadget cuzk_gadget_column;
/* A whole path of a Poseidon tree: from a leaf to a root that must be the given one, its index a
 * public input. Ports: leaf, root, input. Advice: number (the leaf's index), siblings. */
struct cuzk_path_shape {
    uint32_t base_arity, base_levels, sub_arity, top_arity;
};
uint64_t cuzk_path_parameter(const struct cuzk_path_shape *shape);
extern const struct cuzk_gadget cuzk_gadget_path;

/* ---- the composer ---- */

struct cuzk_composer;

/* Exactly one of builder and witness is given; circuit with witness. They outlive the composer. */
cuzk_status cuzk_composer_create(struct cuzk_composer **out, struct cuzk_builder *builder,
                                 const struct cuzk_circuit *circuit, struct cuzk_witness *witness,
                                 struct cuzk_error *err);
void cuzk_composer_destroy(struct cuzk_composer *k);
/* Tests: take no faster ways. */
void cuzk_composer_slow(struct cuzk_composer *k);

/* Runs the gadget. ports: tags, the constant one not counted. advice may be NULL where the gadget
 * takes none, and when building. outputs: NULL, or room for output_count tags, as many as the
 * gadget gives. */
cuzk_status cuzk_compose(struct cuzk_composer *k, const struct cuzk_gadget *gadget,
                         uint64_t parameter, const uint32_t *ports, uint32_t port_count,
                         const struct cs_advice *advice, uint32_t *outputs, uint32_t output_count,
                         struct cuzk_error *err);
/* The tag of a new public input. */
cuzk_status cuzk_compose_input(struct cuzk_composer *k, uint32_t *tag, struct cuzk_error *err);

/* Filling: an equality did not hold in the gadget that ran last. */
bool cuzk_composer_breach(const struct cuzk_composer *k);
/* Filling: the value of a tag that has been given. */
void cuzk_composer_value(const struct cuzk_composer *k, fr *out, uint32_t tag);
bool cuzk_composer_filling(const struct cuzk_composer *k);
/* Filling: all of the circuit has been filled. */
bool cuzk_composer_done(const struct cuzk_composer *k);

#endif
