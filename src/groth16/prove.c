/* A proof: start and finish on the device, assembly with r and s, verification, and who is to
 * blame where that fails.
 *
 * What is verified is the bytes that are returned, decoded anew, so that a fault anywhere on the
 * way shows. Only a witness that satisfies the circuit counts against the device: C·w is held
 * against A·w ∘ B·w first.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/os.h"
#include "groth16/groth16.h"

cuzk_status cuzk_prove_start(struct cuzk_pending_proof **out, struct cuzk_key *key,
                             struct cuzk_witness **witness, struct cuzk_error *err)
{
    *out = NULL;
    const struct cuzk_relation *relation = key->relation;
    const struct cuzk_circuit *circuit = relation->circuit;
    const struct cuzk_context *context = relation->context;
    if (*witness == NULL)
        return cuzk_fail(err, CUZK_E_ARGUMENT, "%s: no witness to prove", circuit->name);
    if ((*witness)->input_count != circuit->inputs || (*witness)->aux_count != circuit->aux ||
        (*witness)->dense_count != circuit->dense)
        return cuzk_fail(err, CUZK_E_MISMATCH,
                         "the witness has %u inputs and %u auxiliaries, %s has %u and %u",
                         (*witness)->input_count, (*witness)->aux_count, circuit->name,
                         circuit->inputs, circuit->aux);
    struct cuzk_pending_proof *pending = cuzk_calloc(1, sizeof *pending);
    if (pending == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "%s: out of memory", circuit->name);
    size_t i;
    if (!cuzk_dispatch_begin(context->dispatch, &i)) {
        cuzk_free(pending);
        return cuzk_fail(err, CUZK_E_DEVICE_LOST,
                         "%s: %s%s lost by earlier errors; create the context again", circuit->name,
                         context->devices[0]->info.name,
                         context->device_count > 1 ? " and all other devices were" : " was");
    }
    struct cuzk_device *device = context->devices[i];
    cuzk_status status =
        device->ops->prove_start(device, &pending->pending, key->loaded[i], relation->loaded[i],
                                 *witness, &pending->stages, err);
    cuzk_dispatch_started(context->dispatch, i, status);
    if (status != CUZK_OK) {
        cuzk_free(pending);
        return cuzk_fail_prefix(err, status, "%s on %s", circuit->name, device->info.name);
    }
    *witness = NULL;
    pending->device = i;
    pending->key = key;
    cuzk_key_retain(key);
    *out = pending;
    return CUZK_OK;
}

/* Frees it; `status` is what became of it. */
static void end(struct cuzk_pending_proof *pending, cuzk_status status)
{
    pending->pending->device->ops->pending_free(pending->pending);
    cuzk_dispatch_end(pending->key->relation->context->dispatch, pending->device, status);
    cuzk_key_close(pending->key);
    cuzk_free(pending);
}

void cuzk_prove_abandon(struct cuzk_pending_proof *pending)
{
    if (pending != NULL)
        end(pending, CUZK_OK);
}

const struct cuzk_device *cuzk_prove_device(const struct cuzk_pending_proof *pending)
{
    return pending->pending->device;
}

void cuzk_proof_assemble(struct cuzk_proof *out, const struct cuzk_vk *vk,
                         const struct cuzk_sums *sums, const struct bls12_381_fr *r,
                         const struct bls12_381_fr *s)
{
    const struct bls12_381_ops *curve = bls12_381_ops(NULL);
    struct bls12_381_g1 delta, a, b1, c, t;
    struct bls12_381_g2 delta2, b2, t2;
    struct bls12_381_fr rs;

    curve->g1_from_affine(&delta, &vk->delta_g1);
    curve->g1_from_affine(&t, &vk->alpha_g1);
    curve->g1_add(&a, &sums->a, &t);
    curve->g1_mul(&t, &delta, r);
    curve->g1_add(&a, &a, &t);

    curve->g2_from_affine(&delta2, &vk->delta_g2);
    curve->g2_from_affine(&t2, &vk->beta_g2);
    curve->g2_add(&b2, &sums->b2, &t2);
    curve->g2_mul(&t2, &delta2, s);
    curve->g2_add(&b2, &b2, &t2);

    curve->g1_from_affine(&t, &vk->beta_g1);
    curve->g1_add(&b1, &sums->b1, &t);
    curve->g1_mul(&t, &delta, s);
    curve->g1_add(&b1, &b1, &t);

    curve->g1_add(&c, &sums->h, &sums->l);
    curve->g1_mul(&t, &a, s);
    curve->g1_add(&c, &c, &t);
    curve->g1_mul(&t, &b1, r);
    curve->g1_add(&c, &c, &t);
    bls12_381_fr_mul(&rs, r, s);
    curve->g1_mul(&t, &delta, &rs);
    curve->g1_neg(&t, &t);
    curve->g1_add(&c, &c, &t);
    cuzk_wipe(&rs, sizeof rs);

    curve->g1_to_affine(&out->a, &a);
    curve->g2_to_affine(&out->b, &b2);
    curve->g1_to_affine(&out->c, &c);
}

static cuzk_status randomness(struct bls12_381_fr *r, struct bls12_381_fr *s,
                              const struct cuzk_insecure_rs *rs, struct cuzk_error *err)
{
    if (rs != NULL) {
        if (!bls12_381_fr_from_le(r, rs->r) || !bls12_381_fr_from_le(s, rs->s))
            return cuzk_fail(err, CUZK_E_RANGE, "r or s is not below the order of the group");
        return CUZK_OK;
    }
    cuzk_status status = cuzk_random_fr(r, err);
    return status == CUZK_OK ? cuzk_random_fr(s, err) : status;
}

/* The proof failed: whose fault is it? */
static cuzk_status blame(const struct cuzk_pending_proof *pending, struct cuzk_error *err)
{
    const struct cuzk_relation *relation = pending->key->relation;
    const struct cuzk_device *device = pending->pending->device;
    uint32_t row;
    cuzk_status status = cuzk_circuit_check(relation->circuit, pending->pending->witness, &row,
                                            relation->context->threads, err);
    if (status != CUZK_OK)
        return status;
    const struct cuzk_params *params = pending->key->params;
    return cuzk_fail(err, CUZK_E_DEVICE,
                     "%s: the proof that %s computed is not valid, though the witness satisfies "
                     "the circuit: the device erred%s%s%s; try again, or another device",
                     relation->circuit->name, device->info.name, params != NULL ? ", or " : "",
                     params != NULL ? params->path : "",
                     params != NULL ? " is damaged (cuzk inspect --full tells)" : "");
}

static cuzk_status verify_bytes(const struct cuzk_vk *vk, const uint8_t bytes[CUZK_PROOF_BYTES],
                                const struct cuzk_witness *witness, struct cuzk_error *err)
{
    struct cuzk_proof decoded;
    cuzk_status status = cuzk_proof_decode(&decoded, bytes, err);
    if (status == CUZK_E_POINT || status == CUZK_E_RANGE || status == CUZK_E_FORMAT)
        return CUZK_E_PROOF;
    if (status != CUZK_OK)
        return status;
    return cuzk_proofs_verify(vk, &decoded, witness->inputs + 1, 1, err);
}

static void fill_report(struct cuzk_prove_report *report, const struct cuzk_pending_proof *pending)
{
    static const char *const names[] = {
#define CUZK_X(id, name) name,
        CUZK_STAGE_LIST(CUZK_X)
#undef CUZK_X
    };
    _Static_assert(CUZK_STAGE_COUNT <= 16 && CUZK_PURPOSE_COUNT <= 16, "report's arrays");
    struct cuzk_account account;
    cuzk_budget_read(pending->key->relation->context->host, &account);
    *report = (struct cuzk_prove_report){.stage_count = CUZK_STAGE_COUNT,
                                         .memory_count = CUZK_PURPOSE_COUNT,
                                         .memory_peak = account.peak};
    for (size_t i = 0; i < CUZK_STAGE_COUNT; i++) {
        report->stages[i] = (struct cuzk_report_stage){names[i], pending->stages.seconds[i]};
        report->seconds += pending->stages.seconds[i];
    }
    for (size_t i = 0; i < CUZK_PURPOSE_COUNT; i++)
        report->memory[i] = (struct cuzk_report_memory){cuzk_purpose_name((enum cuzk_purpose)i),
                                                        account.peak_by[i], account.at_peak[i]};
}

cuzk_status cuzk_prove_finish(struct cuzk_pending_proof **pending_in,
                              const struct cuzk_insecure_rs *rs, uint8_t proof[CUZK_PROOF_BYTES],
                              struct cuzk_prove_report *report, struct cuzk_error *err)
{
    struct cuzk_pending_proof *pending = *pending_in;
    *pending_in = NULL;
    memset(proof, 0, CUZK_PROOF_BYTES);
    const struct cuzk_relation *relation = pending->key->relation;
    const struct cuzk_device *device = pending->pending->device;
    const struct cuzk_vk *vk = pending->key->vk;
    double *seconds = pending->stages.seconds;
    struct bls12_381_fr r, s;
    struct cuzk_sums sums;
    struct cuzk_proof points;
    uint8_t bytes[CUZK_PROOF_BYTES];
    cuzk_status status = randomness(&r, &s, rs, err);
    if (status == CUZK_OK) {
        status = device->ops->prove_finish(pending->pending, &sums, &pending->stages, err);
        if (status != CUZK_OK)
            (void)cuzk_fail_prefix(err, status, "%s on %s", relation->circuit->name,
                                   device->info.name);
    }
    if (status == CUZK_OK) {
        double start = cuzk_os_seconds();
        cuzk_proof_assemble(&points, vk, &sums, &r, &s);
        cuzk_proof_encode(bytes, &points);
        seconds[CUZK_STAGE_ASSEMBLE] += cuzk_os_seconds() - start;
        start = cuzk_os_seconds();
        status = verify_bytes(vk, bytes, pending->pending->witness, err);
        if (status == CUZK_E_PROOF)
            status = blame(pending, err);
        seconds[CUZK_STAGE_VERIFY] += cuzk_os_seconds() - start;
    }
    cuzk_wipe(&r, sizeof r);
    cuzk_wipe(&s, sizeof s);
    if (status == CUZK_OK)
        memcpy(proof, bytes, sizeof bytes);
    if (status == CUZK_OK && report != NULL)
        fill_report(report, pending);
    end(pending, status);
    return status;
}

cuzk_status cuzk_prove(struct cuzk_key *key, struct cuzk_witness **witness,
                       const struct cuzk_insecure_rs *rs, uint8_t proof[CUZK_PROOF_BYTES],
                       struct cuzk_prove_report *report, struct cuzk_error *err)
{
    struct cuzk_pending_proof *pending;
    memset(proof, 0, CUZK_PROOF_BYTES);
    if (report != NULL)
        memset(report, 0, sizeof *report);
    cuzk_status status = cuzk_prove_start(&pending, key, witness, err);
    return status == CUZK_OK ? cuzk_prove_finish(&pending, rs, proof, report, err) : status;
}
