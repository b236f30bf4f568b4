/* The reader of META.json. */
#include "format/meta.h"

#include <string.h>

#include "format/json_in.h"
#include "format/json_out.h"

enum field {
    REGISTERED,
    PROVER,
    SECTOR,
    TICKET,
    SEED,
    COMM_D,
    COMM_R,
    POREP_ID,
    ACTOR,
    CIRCUIT,
    SIZE,
    FIELDS
};
static const char *const names[FIELDS] = {
    "registered_proof", "prover_id", "sector_number", "ticket",  "seed",       "comm_d",
    "comm_r",           "porep_id",  "actor_id",      "circuit", "sector_size"};

struct reader {
    struct cuzk_meta meta;
    char registered[64], circuit[32];
    uint8_t porep_id[32];
    uint64_t sector_size;
    bool seen[FIELDS];
};

cuzk_status cuzk_porep_select(const struct cuzk_porep_params **out, const char *registered,
                              const struct cuzk_porep_params *circuit, struct cuzk_error *err)
{
    *out = NULL;
    if (registered == NULL) {
        if (circuit == NULL)
            return cuzk_fail(err, CUZK_E_FORMAT,
                             "registered_proof: missing, and no circuit is given by name");
        *out = circuit;
        return CUZK_OK;
    }
    const struct cuzk_porep_params *found = cuzk_porep_by_registered(registered);
    if (found == NULL)
        return cuzk_fail(err, CUZK_E_FORMAT,
                         "registered_proof: no registered proof of that name; known are "
                         "StackedDrg{2KiB,8MiB,512MiB,32GiB,64GiB}{V1,V1_1,"
                         "V1_1_Feat_SyntheticPoRep}");
    cuzk_status status = cuzk_porep_supported(found, err);
    if (status != CUZK_OK)
        return cuzk_fail_prefix(err, status, "registered_proof");
    /* a circuit that keeps its own registered name (the miniature) stands for itself */
    if (circuit != NULL && strcmp(found->circuit, circuit->circuit) != 0) {
        if (cuzk_porep_by_registered(circuit->registered) == circuit ||
            strcmp(circuit->registered, registered) != 0)
            return cuzk_fail(err, CUZK_E_MISMATCH,
                             "registered_proof: %s is proved by the circuit %s, but %s is asked "
                             "for",
                             registered, found->circuit, circuit->circuit);
        found = circuit;
    }
    *out = found;
    return CUZK_OK;
}

static cuzk_status read_commitment(struct bls12_381_fr *out, const struct cuzk_json_value *value,
                                   struct cuzk_error *err)
{
    cuzk_status status = cuzk_json_as_fr(out, value, err);
    if (status == CUZK_OK && bls12_381_fr_is_zero(out))
        status = cuzk_fail(err, CUZK_E_RANGE, "zero is no commitment");
    return status;
}

static cuzk_status visit(void *context, const char *path, const struct cuzk_json_value *value,
                         struct cuzk_error *err)
{
    struct reader *r = context;
    if (path[0] == '\0')
        return value->type == CUZK_JSON_OBJECT
                   ? CUZK_OK
                   : cuzk_fail(err, CUZK_E_FORMAT, "expected an object");
    for (int i = 0; i < FIELDS; i++) {
        if (strcmp(path, names[i]) != 0)
            continue;
        if (r->seen[i])
            return cuzk_fail(err, CUZK_E_FORMAT, "given twice");
        r->seen[i] = true;
        switch ((enum field)i) {
        case REGISTERED:
            return cuzk_json_as_text(r->registered, sizeof r->registered, value, err);
        case PROVER:
            return cuzk_json_as_hex(r->meta.prover_id, 32, value, err);
        case SECTOR:
            return cuzk_json_as_u64(&r->meta.sector_number, value, err);
        case TICKET:
            return cuzk_json_as_hex(r->meta.ticket, 32, value, err);
        case SEED:
            return cuzk_json_as_hex(r->meta.seed, 32, value, err);
        case COMM_D:
            return read_commitment(&r->meta.comm_d, value, err);
        case COMM_R:
            return read_commitment(&r->meta.comm_r, value, err);
        case POREP_ID:
            return cuzk_json_as_hex(r->porep_id, 32, value, err);
        case ACTOR:
            return cuzk_json_as_u64(&r->meta.actor_id, value, err);
        case CIRCUIT:
            return cuzk_json_as_text(r->circuit, sizeof r->circuit, value, err);
        case SIZE:
            return cuzk_json_as_u64(&r->sector_size, value, err);
        case FIELDS:
            break;
        }
    }
    return CUZK_OK;
}

static cuzk_status finish(struct cuzk_meta *out, struct reader *r, const char *name,
                          const struct cuzk_porep_params *circuit, struct cuzk_error *err)
{
    if (r->seen[CIRCUIT]) {
        const struct cuzk_porep_params *named = cuzk_porep_by_circuit(r->circuit);
        if (named == NULL)
            return cuzk_fail(err, CUZK_E_FORMAT, "%s: circuit: no circuit of that name", name);
        if (circuit != NULL && named != circuit)
            return cuzk_fail(err, CUZK_E_MISMATCH, "%s: circuit: %s, but %s is asked for", name,
                             named->circuit, circuit->circuit);
        circuit = named;
    }
    cuzk_status status = cuzk_porep_select(
        &r->meta.params, r->seen[REGISTERED] ? r->registered : NULL, circuit, err);
    if (status != CUZK_OK)
        return cuzk_fail_prefix(err, status, "%s", name);
    for (int i = PROVER; i <= COMM_R; i++)
        if (!r->seen[i])
            return cuzk_fail(err, CUZK_E_FORMAT,
                             "%s: %s is missing; a statement has registered_proof, prover_id, "
                             "sector_number, ticket, seed, comm_d and comm_r",
                             name, names[i]);
    if (r->seen[POREP_ID] && memcmp(r->porep_id, r->meta.params->porep_id, 32) != 0)
        return cuzk_fail(err, CUZK_E_MISMATCH, "%s: porep_id: not that of %s", name,
                         r->meta.params->registered);
    if (r->seen[SIZE] && r->sector_size != r->meta.params->sector_size)
        return cuzk_fail(err, CUZK_E_MISMATCH, "%s: sector_size: not that of %s", name,
                         r->meta.params->circuit);
    uint8_t prover_id[32];
    cuzk_porep_prover_id(prover_id, r->meta.actor_id);
    if (r->seen[ACTOR] && memcmp(prover_id, r->meta.prover_id, 32) != 0)
        return cuzk_fail(err, CUZK_E_MISMATCH, "%s: prover_id: not that of actor_id", name);
    r->meta.has_actor_id = r->seen[ACTOR];
    *out = r->meta;
    return CUZK_OK;
}

cuzk_status cuzk_meta_parse(struct cuzk_meta *out, const char *name, const uint8_t *data,
                            size_t size, const struct cuzk_porep_params *circuit,
                            struct cuzk_error *err)
{
    struct reader r = {0};
    cuzk_status status = cuzk_json_scan(name, data, size, visit, &r, err);
    return status != CUZK_OK ? status : finish(out, &r, name, circuit, err);
}

cuzk_status cuzk_meta_read(struct cuzk_meta *out, const char *path,
                           const struct cuzk_porep_params *circuit, struct cuzk_error *err)
{
    struct reader r = {0};
    cuzk_status status = cuzk_json_scan_file(path, visit, &r, err);
    return status != CUZK_OK ? status : finish(out, &r, path, circuit, err);
}

void cuzk_meta_of(struct cuzk_meta *out, const struct cuzk_porep_sector *sector, uint64_t miner,
                  uint64_t sector_number)
{
    *out = (struct cuzk_meta){
        .params = sector->params,
        .sector_number = sector_number,
        .comm_d = sector->comm_d,
        .comm_r = sector->comm_r,
        .has_actor_id = true,
        .actor_id = miner,
    };
    cuzk_porep_prover_id(out->prover_id, miner);
    memcpy(out->ticket, sector->ticket, 32);
    memcpy(out->seed, sector->seed, 32);
}

static void put_fr(struct cuzk_json *j, const char *key, const struct bls12_381_fr *value)
{
    uint8_t bytes[32];
    bls12_381_fr_to_le(bytes, value);
    cuzk_json_hex(j, key, bytes, sizeof bytes);
}

cuzk_status cuzk_meta_write(const struct cuzk_meta *meta, const char *note, const char *path,
                            struct cuzk_error *err)
{
    struct cuzk_porep_statement statement;
    uint8_t digest[32];
    cuzk_status status = cuzk_meta_statement(&statement, meta, err);
    if (status == CUZK_OK)
        status = cuzk_porep_inputs_digest(digest, &statement, err);
    if (status != CUZK_OK)
        return status;
    struct cuzk_json j;
    cuzk_json_init(&j);
    cuzk_json_object(&j, NULL);
    cuzk_json_string(&j, names[REGISTERED], meta->params->registered);
    cuzk_json_string(&j, names[CIRCUIT], meta->params->circuit);
    cuzk_json_u64(&j, names[SIZE], meta->params->sector_size);
    if (meta->has_actor_id)
        cuzk_json_u64(&j, names[ACTOR], meta->actor_id);
    cuzk_json_hex(&j, names[PROVER], meta->prover_id, 32);
    cuzk_json_u64(&j, names[SECTOR], meta->sector_number);
    cuzk_json_hex(&j, names[TICKET], meta->ticket, 32);
    cuzk_json_hex(&j, names[SEED], meta->seed, 32);
    put_fr(&j, names[COMM_D], &meta->comm_d);
    put_fr(&j, names[COMM_R], &meta->comm_r);
    cuzk_json_hex(&j, names[POREP_ID], meta->params->porep_id, 32);
    cuzk_json_hex(&j, "public_inputs_sha256", digest, sizeof digest);
    if (note != NULL)
        cuzk_json_string(&j, "note", note);
    cuzk_json_object_end(&j);
    status = cuzk_json_write(&j, path, err);
    cuzk_json_free(&j);
    return status;
}

cuzk_status cuzk_meta_statement(struct cuzk_porep_statement *out, const struct cuzk_meta *meta,
                                struct cuzk_error *err)
{
    out->params = meta->params;
    out->comm_d = meta->comm_d;
    out->comm_r = meta->comm_r;
    memcpy(out->seed, meta->seed, sizeof out->seed);
    return cuzk_porep_replica_id(&out->replica_id, meta->params, meta->prover_id,
                                 meta->sector_number, meta->ticket, &meta->comm_d, err);
}

cuzk_status cuzk_meta_match(const struct cuzk_meta *meta, const struct cuzk_porep_sector *sector,
                            struct cuzk_error *err)
{
    const char *path = NULL;
    if (meta->params != sector->params)
        path = "registered_proof";
    else if (!bls12_381_fr_eq(&meta->comm_d, &sector->comm_d))
        path = "comm_d";
    else if (!bls12_381_fr_eq(&meta->comm_r, &sector->comm_r))
        path = "comm_r";
    else if (memcmp(meta->ticket, sector->ticket, 32) != 0)
        path = "ticket";
    else if (memcmp(meta->seed, sector->seed, 32) != 0)
        path = "seed";
    if (path != NULL)
        return cuzk_fail(err, CUZK_E_MISMATCH,
                         "%s: C1 and statement differ; they are of two sectors or two challenges",
                         path);
    return cuzk_porep_check_owner(sector, meta->prover_id, meta->sector_number, err);
}
