/* The form of a C1 as a table: what c1.c's stack of frames walks. Private to the reader. */
#ifndef CUZK_FORMAT_C1_FORM_H
#define CUZK_FORMAT_C1_FORM_H

enum c1_kind { C1_OBJECT, C1_ARRAY, C1_FR, C1_BYTES, C1_NUMBER, C1_STRING, C1_NOTHING };

/* what a value is, or what entering it sets; the order of fields within a table is the order in
 * which filecoin-proofs-api writes them */
enum c1_what {
    C1_PLAIN,
    /* containers */
    C1_TOP,
    C1_VARIANT,
    C1_CHALLENGE,
    C1_DATA_TREE,
    C1_REPLICA_TREE,
    C1_COLUMN_TREE,
    C1_OWN,
    C1_DRG,
    C1_EXP,
    C1_FORM,
    C1_BASE,
    C1_SUB,
    C1_CROWN,
    C1_LABELING,
    C1_ENCODING,
    /* arrays, by what their length is */
    C1_PARTITIONS,
    C1_CHALLENGES,
    C1_DRG_PARENTS,
    C1_EXP_PARENTS,
    C1_LAYERS,
    C1_LABELS,
    C1_LABEL_PARENTS,
    C1_LEVELS,
    C1_SIBLINGS,
    /* leaves */
    C1_ROOT,
    C1_LEAF,
    C1_SIBLING,
    C1_DIGIT,
    C1_ROW,
    C1_COLUMN_INDEX,
    C1_LABEL_PARENT,
    C1_LAYER_INDEX,
    C1_LABEL_NODE,
    C1_REGISTERED,
    C1_COMM_R,
    C1_COMM_D,
    C1_REPLICA_ID,
    C1_SEED,
    C1_TICKET,
    C1_SECTOR_NUM,
    C1_PHASE1,
    C1_SECTOR_SIZE
};

struct c1_node;
struct c1_field {
    const char *name;
    const struct c1_node *node;
    enum c1_what enter; /* PLAIN: nothing to set */
};
struct c1_node {
    enum c1_kind kind;
    enum c1_what what;
    const struct c1_field *fields; /* of an object */
    unsigned field_count;
    const struct c1_node *item; /* of an array */
};

/* Bits of the whole's fields: those of a C1, and those of the clients' wrapper. */
enum { C1_RAW_KEYS = 0x7f, C1_WRAPPER_KEYS = 0x380 };

extern const struct c1_node cuzk_c1_form; /* the whole */

#endif
