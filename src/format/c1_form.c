/* The form of a C1, from the innermost table out; fields are in the order in which
 * filecoin-proofs-api writes them. */
#include "format/c1_form.h"

#include <stddef.h>

#define FIELDS(table) .fields = table, .field_count = sizeof table / sizeof table[0]

static const struct c1_node root = {C1_FR, C1_ROOT, NULL, 0, NULL};
static const struct c1_node leaf = {C1_FR, C1_LEAF, NULL, 0, NULL};
static const struct c1_node sibling = {C1_FR, C1_SIBLING, NULL, 0, NULL};
static const struct c1_node siblings = {C1_ARRAY, C1_SIBLINGS, NULL, 0, &sibling};
static const struct c1_node digit = {C1_NUMBER, C1_DIGIT, NULL, 0, NULL};
static const struct c1_field element_fields[] = {{"hashes", &siblings, C1_PLAIN},
                                                 {"index", &digit, C1_PLAIN}};
static const struct c1_node element = {C1_OBJECT, C1_PLAIN, FIELDS(element_fields), NULL};
static const struct c1_node levels = {C1_ARRAY, C1_LEVELS, NULL, 0, &element};
static const struct c1_field path_fields[] = {{"path", &levels, C1_PLAIN}};
static const struct c1_node path_node = {C1_OBJECT, C1_PLAIN, FIELDS(path_fields), NULL};

static const struct c1_field single_fields[] = {
    {"root", &root, C1_PLAIN}, {"leaf", &leaf, C1_PLAIN}, {"path", &path_node, C1_BASE}};
static const struct c1_node single = {C1_OBJECT, C1_PLAIN, FIELDS(single_fields), NULL};
static const struct c1_field sub_fields[] = {{"base_proof", &path_node, C1_BASE},
                                             {"sub_proof", &path_node, C1_SUB},
                                             {"root", &root, C1_PLAIN},
                                             {"leaf", &leaf, C1_PLAIN}};
static const struct c1_node sub = {C1_OBJECT, C1_PLAIN, FIELDS(sub_fields), NULL};
static const struct c1_field top_fields[] = {{"base_proof", &path_node, C1_BASE},
                                             {"sub_proof", &path_node, C1_SUB},
                                             {"top_proof", &path_node, C1_CROWN},
                                             {"root", &root, C1_PLAIN},
                                             {"leaf", &leaf, C1_PLAIN}};
static const struct c1_node top = {C1_OBJECT, C1_PLAIN, FIELDS(top_fields), NULL};
static const struct c1_field form_fields[] = {
    {"Single", &single, C1_PLAIN}, {"Sub", &sub, C1_PLAIN}, {"Top", &top, C1_PLAIN}};
static const struct c1_node form = {C1_OBJECT, C1_FORM, FIELDS(form_fields), NULL};
static const struct c1_field proof_fields[] = {{"data", &form, C1_PLAIN}};
static const struct c1_node proof = {C1_OBJECT, C1_PLAIN, FIELDS(proof_fields), NULL};

static const struct c1_node column_index = {C1_NUMBER, C1_COLUMN_INDEX, NULL, 0, NULL};
static const struct c1_node row = {C1_FR, C1_ROW, NULL, 0, NULL};
static const struct c1_node rows = {C1_ARRAY, C1_LAYERS, NULL, 0, &row};
static const struct c1_node nothing = {C1_NOTHING, C1_PLAIN, NULL, 0, NULL};
static const struct c1_field column_fields[] = {
    {"index", &column_index, C1_PLAIN}, {"rows", &rows, C1_PLAIN}, {"_h", &nothing, C1_PLAIN}};
static const struct c1_node column = {C1_OBJECT, C1_PLAIN, FIELDS(column_fields), NULL};
static const struct c1_field column_proof_fields[] = {{"column", &column, C1_PLAIN},
                                                      {"inclusion_proof", &proof, C1_COLUMN_TREE}};
static const struct c1_node column_proof = {C1_OBJECT, C1_PLAIN, FIELDS(column_proof_fields), NULL};
static const struct c1_node drg_parents = {C1_ARRAY, C1_DRG_PARENTS, NULL, 0, &column_proof};
static const struct c1_node exp_parents = {C1_ARRAY, C1_EXP_PARENTS, NULL, 0, &column_proof};
static const struct c1_field columns_fields[] = {{"c_x", &column_proof, C1_OWN},
                                                 {"drg_parents", &drg_parents, C1_DRG},
                                                 {"exp_parents", &exp_parents, C1_EXP}};
static const struct c1_node columns = {C1_OBJECT, C1_PLAIN, FIELDS(columns_fields), NULL};

static const struct c1_node label_parent = {C1_FR, C1_LABEL_PARENT, NULL, 0, NULL};
static const struct c1_node label_parents = {C1_ARRAY, C1_LABEL_PARENTS, NULL, 0, &label_parent};
static const struct c1_node layer_index = {C1_NUMBER, C1_LAYER_INDEX, NULL, 0, NULL};
static const struct c1_node label_node = {C1_NUMBER, C1_LABEL_NODE, NULL, 0, NULL};
static const struct c1_field label_fields[] = {{"parents", &label_parents, C1_PLAIN},
                                               {"layer_index", &layer_index, C1_PLAIN},
                                               {"node", &label_node, C1_PLAIN}};
static const struct c1_node label = {C1_OBJECT, C1_PLAIN, FIELDS(label_fields), NULL};
static const struct c1_node labels = {C1_ARRAY, C1_LABELS, NULL, 0, &label};

static const struct c1_field challenge_fields[] = {{"comm_d_proofs", &proof, C1_DATA_TREE},
                                                   {"comm_r_last_proof", &proof, C1_REPLICA_TREE},
                                                   {"replica_column_proofs", &columns, C1_PLAIN},
                                                   {"labeling_proofs", &labels, C1_LABELING},
                                                   {"encoding_proof", &label, C1_ENCODING}};
static const struct c1_node challenge = {C1_OBJECT, C1_CHALLENGE, FIELDS(challenge_fields), NULL};
static const struct c1_node challenges = {C1_ARRAY, C1_CHALLENGES, NULL, 0, &challenge};
static const struct c1_node partitions = {C1_ARRAY, C1_PARTITIONS, NULL, 0, &challenges};
static const struct c1_node variant = {C1_OBJECT, C1_VARIANT, NULL, 0,
                                       &partitions}; /* one key, by its name */

static const struct c1_node registered = {C1_STRING, C1_REGISTERED, NULL, 0, NULL};
static const struct c1_node comm_r = {C1_FR, C1_COMM_R, NULL, 0, NULL};
static const struct c1_node comm_d = {C1_FR, C1_COMM_D, NULL, 0, NULL};
static const struct c1_node replica_id = {C1_FR, C1_REPLICA_ID, NULL, 0, NULL};
static const struct c1_node seed = {C1_BYTES, C1_SEED, NULL, 0, NULL};
static const struct c1_node ticket = {C1_BYTES, C1_TICKET, NULL, 0, NULL};
static const struct c1_node sector_num = {C1_NUMBER, C1_SECTOR_NUM, NULL, 0, NULL};
static const struct c1_node phase1 = {C1_STRING, C1_PHASE1, NULL, 0, NULL};
static const struct c1_node sector_size = {C1_NUMBER, C1_SECTOR_SIZE, NULL, 0, NULL};
static const struct c1_field whole_fields[] = {
    {"registered_proof", &registered, C1_PLAIN},
    {"vanilla_proofs", &variant, C1_PLAIN},
    {"comm_r", &comm_r, C1_PLAIN},
    {"comm_d", &comm_d, C1_PLAIN},
    {"replica_id", &replica_id, C1_PLAIN},
    {"seed", &seed, C1_PLAIN},
    {"ticket", &ticket, C1_PLAIN},
    {"SectorNum", &sector_num, C1_PLAIN},
    {"Phase1Out", &phase1, C1_PLAIN},
    {"SectorSize", &sector_size, C1_PLAIN},
};
const struct c1_node cuzk_c1_form = {C1_OBJECT, C1_TOP, FIELDS(whole_fields), NULL};
