/* Verification: one product of pairings.
 *
 * A proof is valid when e(A, B) = e(alpha, beta)·e(IC, gamma)·e(C, delta), IC = ic_0 + Σ x_i·ic_i.
 * Many proofs over one key are valid, but for a chance below 2^-128, when for random 128-bit z_j
 *     Π e(z_j·A_j, B_j) · e(−Z·alpha, beta) · e(−Σ z_j·IC_j, gamma) · e(−Σ z_j·C_j, delta) = 1
 * with Z = Σ z_j. With one proof and z = 1 that is the equation itself. All points are in their
 * subgroups: proofs and keys are decoded so.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/os.h"
#include "groth16/groth16.h"

typedef struct bls12_381_fr fr;
typedef struct bls12_381_g1_affine g1_affine;
typedef struct bls12_381_g2_affine g2_affine;

/* 128 random bits, not zero. */
static cuzk_status random_weight(fr *out, struct cuzk_error *err)
{
    uint64_t limbs[4] = {0};
    cuzk_status status = cuzk_os_random(limbs, 16, err);
    limbs[0] |= 1;
    (void)bls12_381_fr_from_limbs(out, limbs);
    return status;
}

static void negate(const struct bls12_381_ops *curve, g1_affine *out, struct bls12_381_g1 *p)
{
    curve->g1_neg(p, p);
    curve->g1_to_affine(out, p);
}

/* The equation over proofs [0, count); *holds says whether. */
static cuzk_status equation(bool *holds, const struct cuzk_vk *vk, const struct cuzk_proof *proofs,
                            const fr *inputs, size_t count, struct cuzk_error *err)
{
    const struct bls12_381_ops *curve = bls12_381_ops(NULL);
    const struct cuzk_run alone = {0};
    size_t terms = vk->ic_count, per = terms - 1;
    *holds = false;
    fr *z = cuzk_calloc(count, sizeof *z);
    fr *sums = cuzk_calloc(terms, sizeof *sums); /* Σ_j z_j·x_ji, with x_j0 = 1 */
    g1_affine *g1 = cuzk_calloc(count + 3, sizeof *g1);
    g2_affine *g2 = cuzk_calloc(count + 3, sizeof *g2);
    cuzk_status status = CUZK_OK;
    if (z == NULL || sums == NULL || g1 == NULL || g2 == NULL)
        status = cuzk_fail(err, CUZK_E_MEMORY, "out of memory to verify %zu proofs", count);
    for (size_t j = 0; status == CUZK_OK && j < count; j++) {
        if (count == 1)
            z[j] = bls12_381_fr_one;
        else
            status = random_weight(&z[j], err);
    }
    if (status != CUZK_OK)
        goto done;

    struct bls12_381_g1 alpha, ic, c, t;
    memset(&c, 0, sizeof c);
    for (size_t j = 0; j < count; j++) {
        bls12_381_fr_add(&sums[0], &sums[0], &z[j]);
        for (size_t i = 0; i < per; i++) {
            fr x;
            bls12_381_fr_mul(&x, &z[j], &inputs[j * per + i]);
            bls12_381_fr_add(&sums[i + 1], &sums[i + 1], &x);
        }
        g1[j] = proofs[j].a;
        g2[j] = proofs[j].b;
        curve->g1_from_affine(&t, &proofs[j].c);
        if (count > 1) {
            curve->g1_mul(&t, &t, &z[j]);
            curve->g1_add(&c, &c, &t);
            curve->g1_from_affine(&t, &proofs[j].a);
            curve->g1_mul(&t, &t, &z[j]);
            curve->g1_to_affine(&g1[j], &t);
        } else {
            c = t;
        }
    }
    struct bls12_381_g1_source source = {.points = vk->ic};
    struct bls12_381_scalars scalars = {.values = sums};
    status = curve->g1_msm(&ic, &source, &scalars, terms, &alone, err);
    if (status != CUZK_OK)
        goto done;
    curve->g1_from_affine(&alpha, &vk->alpha_g1);
    curve->g1_mul(&alpha, &alpha, &sums[0]);
    negate(curve, &g1[count], &alpha);
    negate(curve, &g1[count + 1], &ic);
    negate(curve, &g1[count + 2], &c);
    g2[count] = vk->beta_g2;
    g2[count + 1] = vk->gamma_g2;
    g2[count + 2] = vk->delta_g2;
    *holds = curve->pairing_is_one(g1, g2, count + 3);
done:
    cuzk_free(z);
    cuzk_free(sums);
    cuzk_free(g1);
    cuzk_free(g2);
    return status;
}

cuzk_status cuzk_proofs_verify(const struct cuzk_vk *vk, const struct cuzk_proof *proofs,
                               const fr *inputs, size_t count, struct cuzk_error *err)
{
    bool holds = false;
    if (count == 0)
        return cuzk_fail(err, CUZK_E_PROOF, "there is no proof to verify");
    cuzk_status status = equation(&holds, vk, proofs, inputs, count, err);
    if (status != CUZK_OK || holds)
        return status;
    for (size_t j = 0; count > 1 && j < count; j++) {
        status = equation(&holds, vk, &proofs[j], inputs + j * (vk->ic_count - 1), 1, err);
        if (status != CUZK_OK)
            return status;
        if (!holds)
            return cuzk_fail(err, CUZK_E_PROOF,
                             "proof %zu of %zu is not valid for its public inputs and this key",
                             j + 1, count);
    }
    return cuzk_fail(err, CUZK_E_PROOF,
                     "the proof is not valid for these public inputs and this "
                     "key");
}

cuzk_status cuzk_verifier_open(struct cuzk_verifier **out, const char *path, struct cuzk_error *err)
{
    *out = NULL;
    struct cuzk_verifier *verifier = cuzk_calloc(1, sizeof *verifier);
    if (verifier == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "%s: out of memory", path);
    struct cuzk_mapping file;
    uint64_t used = 0;
    cuzk_status status = cuzk_os_map(&file, path, err);
    if (status == CUZK_OK) {
        status = cuzk_vk_parse(&verifier->vk, file.data, file.size, &used, path, err);
        /* behind the key there is nothing, or a whole .params */
        bool more = status == CUZK_OK && used != file.size;
        cuzk_os_unmap(&file);
        if (more) {
            struct cuzk_params *params;
            status = cuzk_params_open(&params, path, err);
            cuzk_params_close(params);
        }
    }
    if (status != CUZK_OK) {
        cuzk_verifier_free(verifier);
        return status;
    }
    *out = verifier;
    return CUZK_OK;
}

cuzk_status cuzk_verifier_of_key(struct cuzk_verifier **out, const struct cuzk_key *key,
                                 struct cuzk_error *err)
{
    *out = NULL;
    struct cuzk_verifier *verifier = cuzk_calloc(1, sizeof *verifier);
    g1_affine *ic = cuzk_calloc(key->vk->ic_count, sizeof *ic);
    if (verifier == NULL || ic == NULL) {
        cuzk_free(verifier);
        cuzk_free(ic);
        return cuzk_fail(err, CUZK_E_MEMORY, "out of memory for a verifying key");
    }
    memcpy(ic, key->vk->ic, key->vk->ic_count * sizeof *ic);
    verifier->vk = *key->vk;
    verifier->vk.ic = ic;
    *out = verifier;
    return CUZK_OK;
}

cuzk_status cuzk_verifier_write(const struct cuzk_verifier *verifier, const char *path,
                                struct cuzk_error *err)
{
    return cuzk_vk_write(path, &verifier->vk, err);
}

void cuzk_verifier_free(struct cuzk_verifier *verifier)
{
    if (verifier == NULL)
        return;
    cuzk_vk_destroy(&verifier->vk);
    cuzk_free(verifier);
}

uint32_t cuzk_verifier_inputs(const struct cuzk_verifier *verifier)
{
    return verifier->vk.ic_count - 1;
}

cuzk_status cuzk_verify(const struct cuzk_verifier *verifier, const uint8_t *proofs,
                        size_t proof_bytes, const uint8_t *inputs, size_t input_count, size_t count,
                        struct cuzk_error *err)
{
    size_t per = cuzk_verifier_inputs(verifier);
    if (count == 0 || count > CUZK_PROOF_MAX_PARTITIONS)
        return cuzk_fail(err, CUZK_E_ARGUMENT, "%zu proofs to verify; 1 to %d are possible", count,
                         CUZK_PROOF_MAX_PARTITIONS);
    if (input_count != count * per)
        return cuzk_fail(err, CUZK_E_MISMATCH,
                         "%zu public inputs for %zu proofs; this key takes %zu a proof: it is the "
                         "key of another circuit",
                         input_count, count, per);
    if (proof_bytes != count * CUZK_PROOF_BYTES)
        return cuzk_fail(err, CUZK_E_PROOF, "%zu bytes, not %zu: %zu proofs of %d bytes",
                         proof_bytes, count * CUZK_PROOF_BYTES, count, CUZK_PROOF_BYTES);
    fr *values = cuzk_calloc(input_count, sizeof *values);
    struct cuzk_proof *decoded = cuzk_calloc(count, sizeof *decoded);
    cuzk_status status = CUZK_OK;
    if (values == NULL || decoded == NULL)
        status = cuzk_fail(err, CUZK_E_MEMORY, "out of memory to verify %zu proofs", count);
    for (size_t i = 0; status == CUZK_OK && i < input_count; i++)
        if (!bls12_381_fr_from_le(&values[i], inputs + i * CUZK_FIELD_BYTES))
            status = cuzk_fail(err, CUZK_E_RANGE,
                               "public input %zu of proof %zu is not below the order of the group",
                               i % per + 1, i / per + 1);
    for (size_t j = 0; status == CUZK_OK && j < count; j++) {
        status = cuzk_proof_decode(&decoded[j], proofs + j * CUZK_PROOF_BYTES, err);
        if (status != CUZK_OK) {
            if (status == CUZK_E_POINT || status == CUZK_E_RANGE || status == CUZK_E_FORMAT)
                status = CUZK_E_PROOF;
            if (count > 1)
                (void)cuzk_fail_prefix(err, status, "proof %zu of %zu", j + 1, count);
            else if (err != NULL)
                err->status = status;
        }
    }
    if (status == CUZK_OK)
        status = cuzk_proofs_verify(&verifier->vk, decoded, values, count, err);
    cuzk_free(values);
    cuzk_free(decoded);
    return status;
}
