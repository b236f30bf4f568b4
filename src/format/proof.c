/* Proof bytes: encode, decode, and files of partitions. */
#include "format/proof.h"

#include <string.h>

#include "base/alloc.h"
#include "base/os.h"

enum { OFFSET_A = 0, OFFSET_B = 48, OFFSET_C = 144 };

void cuzk_proof_encode(uint8_t out[CUZK_PROOF_BYTES], const struct cuzk_proof *proof)
{
    const struct bls12_381_ops *ops = bls12_381_ops(NULL);
    ops->g1_encode(out + OFFSET_A, &proof->a, 1, true);
    ops->g2_encode(out + OFFSET_B, &proof->b, 1, true);
    ops->g1_encode(out + OFFSET_C, &proof->c, 1, true);
}

cuzk_status cuzk_proof_decode(struct cuzk_proof *out, const uint8_t in[CUZK_PROOF_BYTES],
                              struct cuzk_error *err)
{
    const struct bls12_381_ops *ops = bls12_381_ops(NULL);
    static const struct cuzk_proof zero;
    struct cuzk_proof proof;
    size_t bad;
    const char *what = "A at offset 0";
    cuzk_status status = ops->g1_decode(&proof.a, in + OFFSET_A, 1, true, true, &bad, err);
    if (status == CUZK_OK) {
        what = "B at offset 48";
        status = ops->g2_decode(&proof.b, in + OFFSET_B, 1, true, true, &bad, err);
    }
    if (status == CUZK_OK) {
        what = "C at offset 144";
        status = ops->g1_decode(&proof.c, in + OFFSET_C, 1, true, true, &bad, err);
    }
    if (status != CUZK_OK) {
        *out = zero;
        return cuzk_fail_prefix(err, status, "%s", what);
    }
    if (memcmp(&proof.a, &zero.a, sizeof zero.a) == 0)
        what = "A at offset 0";
    else if (memcmp(&proof.b, &zero.b, sizeof zero.b) == 0)
        what = "B at offset 48";
    else if (memcmp(&proof.c, &zero.c, sizeof zero.c) == 0)
        what = "C at offset 144";
    else {
        *out = proof;
        return CUZK_OK;
    }
    *out = zero;
    return cuzk_fail(err, CUZK_E_POINT, "%s: infinity, which no proof holds", what);
}

cuzk_status cuzk_proof_read(struct cuzk_proof **proofs, size_t *count, const char *path,
                            struct cuzk_error *err)
{
    *proofs = NULL;
    *count = 0;
    uint8_t *data = NULL;
    struct cuzk_proof *list = NULL;
    size_t size;
    cuzk_status status = cuzk_os_read_file(
        &data, &size, path, (size_t)CUZK_PROOF_BYTES * CUZK_PROOF_MAX_PARTITIONS, err);
    if (status != CUZK_OK)
        return status;
    if (size == 0 || size % CUZK_PROOF_BYTES != 0) {
        status = cuzk_fail(err, size < CUZK_PROOF_BYTES ? CUZK_E_TRUNCATED : CUZK_E_FORMAT,
                           "%s: %zu bytes; a proof has %d for each partition (1,920 for a 32 GiB "
                           "sector): give the raw bytes, not hex or JSON",
                           path, size, CUZK_PROOF_BYTES);
        goto done;
    }
    size_t n = size / CUZK_PROOF_BYTES;
    list = cuzk_calloc(n, sizeof *list);
    if (list == NULL) {
        status = cuzk_fail(err, CUZK_E_MEMORY, "%s: out of memory for %zu proofs", path, n);
        goto done;
    }
    for (size_t i = 0; i < n; i++) {
        status = cuzk_proof_decode(&list[i], data + i * CUZK_PROOF_BYTES, err);
        if (status != CUZK_OK) {
            status = cuzk_fail_prefix(err, status, "%s: partition %zu (from offset %zu)", path, i,
                                      i * CUZK_PROOF_BYTES);
            goto done;
        }
    }
    *proofs = list;
    *count = n;
    list = NULL;
done:
    cuzk_free(list);
    cuzk_free(data);
    return status;
}

cuzk_status cuzk_proof_write(const char *path, const struct cuzk_proof *proofs, size_t count,
                             struct cuzk_error *err)
{
    struct cuzk_writer *w = NULL;
    cuzk_status status = cuzk_os_writer_open(&w, path, err);
    if (status != CUZK_OK)
        return status;
    for (size_t i = 0; status == CUZK_OK && i < count; i++) {
        uint8_t bytes[CUZK_PROOF_BYTES];
        cuzk_proof_encode(bytes, &proofs[i]);
        status = cuzk_os_writer_write(w, bytes, sizeof bytes, err);
    }
    if (status != CUZK_OK) {
        cuzk_os_writer_abort(w);
        return status;
    }
    return cuzk_os_writer_commit(w, err);
}
