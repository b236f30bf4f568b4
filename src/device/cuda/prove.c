/* A proof on a CUDA device.
 *
 * Start: the compact witness is copied (megabytes), A·w and B·w come from templates in bit-reversed
 * order, six transforms give h in natural order, and h's multi-exponentiation ends what a proof
 * needs of the vectors, which go back. Finish: the four sums over the witness, each a sum of points
 * chosen by a bitmap plus a multi-exponentiation over the values that are not bits.
 */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/os.h"
#include "device/cuda/backend.h"

struct cuda_pending {
    struct cuzk_pending base;
    struct bls12_381_g1 h;
    enum cuzk_fault fault;
};

/* A query's scalars squeezed on the host, in memory that is wiped. */
struct squeezed {
    void *bits, *values;
    uint64_t bit_bytes, value_bytes;
};

static struct squeezed squeezed_sizes(const struct cuzk_query *query)
{
    return (struct squeezed){.bit_bytes = 8 * (uint64_t)cuzk_words(query->count),
                             .value_bytes = sizeof(struct bls12_381_fr) * (uint64_t)query->dense};
}

/* What a proof needs of the device at once, in no smaller pieces: three vectors, and the table of
 * the transforms, which stays. */
static uint64_t vector_bytes(const struct cuzk_qap *qap)
{
    return 3 * sizeof(struct bls12_381_fr) << qap->log2_domain;
}
static uint64_t table_bytes(const struct cuzk_qap *qap)
{
    return (uint64_t)64 << qap->log2_domain;
}

void cuzk_cuda_prove_needs(const struct cuzk_device_circuit *circuit,
                           const struct cuzk_device_key *key, uint64_t bytes[2])
{
    (void)key;
    const struct cuzk_qap *qap = circuit->qap;
    const struct squeezed a = squeezed_sizes(&qap->a), b = squeezed_sizes(&qap->b);
    bytes[0] = a.bit_bytes + a.value_bytes + b.bit_bytes + b.value_bytes;
    /* A multi-exponentiation cuts itself to what is left. */
    bytes[1] = vector_bytes(qap) + table_bytes(qap) + ((uint64_t)512 << 20);
}

/* Flips a bit of device memory, for tests. */
static cuzk_status flip(struct cuda_device *device, bool wanted, void *p, struct cuzk_error *err)
{
    uint64_t word;
    if (!wanted)
        return CUZK_OK;
    cuzk_status status = cuzk_cuda_download(device->cuda, &word, p, sizeof word, err);
    word ^= 1;
    return status == CUZK_OK ? cuzk_cuda_upload(device->cuda, p, &word, sizeof word, err) : status;
}

/* Refuses as a whole what would fail halfway. */
static cuzk_status vectors_fit(struct cuda_device *device, const struct cuzk_qap *qap,
                               struct cuzk_error *err)
{
    const uint64_t table = table_bytes(qap);
    struct cuzk_account a;
    cuzk_budget_read(device->base.memory, &a);
    const uint64_t kept = a.used_by[CUZK_PURPOSE_NTT]; /* the table, if there is one */
    const uint64_t needed = vector_bytes(qap) + (kept < table ? table - kept : 0);
    const uint64_t available = a.limit > a.used ? a.limit - a.used : 0;
    if (needed <= available)
        return CUZK_OK;
    return cuzk_fail(
        err, CUZK_E_DEVICE_MEMORY,
        "%" PRIu64 " bytes of device memory required for the vectors of a proof, %" PRIu64
        " of %" PRIu64 " available; raise the device's limit, or do not keep the key there",
        needed, available, a.limit);
}

/* h's coefficients in *out, device memory charged to CUZK_PURPOSE_ABC. */
static cuzk_status quotient(void **out, struct cuda_device *device, struct cuda_pending *pending,
                            struct cuzk_stages *stages, struct cuzk_error *err)
{
    const struct cuda_circuit *circuit = (const struct cuda_circuit *)pending->base.circuit;
    const unsigned lg = circuit->base.qap->log2_domain;
    struct cuzk_layout_witness witness;
    void *buffer = NULL, *v[3] = {NULL, NULL, NULL};
    double start = cuzk_os_seconds();
    cuzk_status status = vectors_fit(device, circuit->base.qap, err);
    if (status == CUZK_OK)
        status = cuzk_cuda_witness_upload(device, &buffer, &witness, pending->base.witness, err);
    for (int m = 0; m < 3 && status == CUZK_OK; m++)
        status = cuzk_cuda_alloc(device->cuda, &v[m], CUZK_PURPOSE_ABC,
                                 sizeof(struct bls12_381_fr) << lg, err);
    for (int m = CUZK_A; m <= CUZK_B && status == CUZK_OK; m++)
        status =
            cuzk_cuda_multiply(device->cuda, v[m], &circuit->layout, &witness, m, (int)lg, err);
    double middle = cuzk_os_seconds();
    if (status == CUZK_OK)
        status = flip(device, pending->fault == CUZK_FAULT_NTT, v[CUZK_A], err);
    if (status == CUZK_OK)
        status = cuzk_cuda_quotient(device->cuda, v[CUZK_A], v[CUZK_B], v[CUZK_C], lg, err);
    if (status == CUZK_OK)
        status = flip(device, pending->fault == CUZK_FAULT_H, v[CUZK_A], err);
    stages->seconds[CUZK_STAGE_MULTIPLY] += middle - start;
    stages->seconds[CUZK_STAGE_QUOTIENT] += cuzk_os_seconds() - middle;
    cuzk_cuda_free(device->cuda, buffer);
    cuzk_cuda_free(device->cuda, v[CUZK_C]);
    cuzk_cuda_free(device->cuda, v[CUZK_B]);
    if (status != CUZK_OK) {
        cuzk_cuda_free(device->cuda, v[CUZK_A]);
        return status;
    }
    *out = v[CUZK_A];
    return CUZK_OK;
}

/* The scalars of a query on the device: bits, then values. */
struct scalars {
    void *buffer;
    const uint64_t *bits;
    const void *values;
};

static cuzk_status upload_scalars(struct cuda_device *device, struct scalars *out,
                                  const uint64_t *bits, const struct bls12_381_fr *values,
                                  const struct cuda_query *query, struct cuzk_error *err)
{
    const uint64_t bit_bytes = 8 * (uint64_t)cuzk_words(query->count);
    const uint64_t value_bytes = sizeof *values * (uint64_t)query->dense;
    cuzk_status status = cuzk_cuda_alloc(device->cuda, &out->buffer, CUZK_PURPOSE_WITNESS,
                                         value_bytes + bit_bytes, err);
    char *p = out->buffer;
    if (status == CUZK_OK)
        status = cuzk_cuda_upload(device->cuda, p, values, value_bytes, err);
    if (status == CUZK_OK)
        status = cuzk_cuda_upload(device->cuda, p + value_bytes, bits, bit_bytes, err);
    out->values = p;
    out->bits = p == NULL ? NULL : (const uint64_t *)(const void *)(p + value_bytes);
    return status;
}

/* A sum over one section. */
struct sum {
    enum cuzk_section section;
    struct bls12_381_g1 g1;
    struct bls12_381_g2 g2;
};

static bool is_g2(const struct sum *sum)
{
    return sum->section == CUZK_QUERY_B2;
}

/* Adds scalars times points (points[index[i]] where index is not NULL). h's coefficients are
 * uniform; a witness's values, which come with an index, may be small. */
static cuzk_status add_dense(struct cuda_device *device, struct sum *sum, const void *points,
                             const uint32_t *index, const void *scalars, size_t n,
                             struct cuzk_error *err)
{
    const struct bls12_381_ops *curve = device->base.config.curve;
    struct cuzk_cuda *cuda = device->cuda;
    struct bls12_381_g1 g1;
    struct bls12_381_g2 g2;
    cuzk_status status;
    if (is_g2(sum))
        status = cuzk_cuda_msm_mixed_g2(cuda, &g2, points, index, scalars, n, err);
    else if (index != NULL)
        status = cuzk_cuda_msm_mixed_g1(cuda, &g1, points, index, scalars, n, err);
    else
        status = cuzk_cuda_msm_g1(cuda, &g1, points, index, scalars, n, err);
    if (status == CUZK_OK && is_g2(sum))
        curve->g2_add(&sum->g2, &sum->g2, &g2);
    else if (status == CUZK_OK)
        curve->g1_add(&sum->g1, &sum->g1, &g1);
    return status;
}

static cuzk_status add_bits(struct cuda_device *device, struct sum *sum, const void *points,
                            const uint64_t *bits, size_t n, struct cuzk_error *err)
{
    const struct bls12_381_ops *curve = device->base.config.curve;
    struct bls12_381_g1 g1;
    struct bls12_381_g2 g2;
    cuzk_status status = is_g2(sum) ? cuzk_cuda_bit_sum_g2(device->cuda, &g2, points, bits, n, err)
                                    : cuzk_cuda_bit_sum_g1(device->cuda, &g1, points, bits, n, err);
    if (status == CUZK_OK && is_g2(sum))
        curve->g2_add(&sum->g2, &sum->g2, &g2);
    else if (status == CUZK_OK)
        curve->g1_add(&sum->g1, &sum->g1, &g1);
    return status;
}

/* Values among points [from, to) that are not bits; from is a multiple of 64. */
static size_t count_dense(const uint64_t *is_bit, size_t from, size_t to)
{
    size_t bits = 0;
    for (size_t w = from / 64; w < cuzk_words(to); w++)
        bits += (size_t)__builtin_popcountll(is_bit[w]);
    return to - from - bits;
}

/* What is summed with a section: scalars for all points, or a query's. */
struct weights {
    const void *all;
    const struct cuda_query *query;
    const struct scalars *scalars;
};

/* Points [first, first + n) of the section stand at `points`: adds their part. *before: the values
 * that pieces before this one have used. */
static cuzk_status add_piece(struct cuda_device *device, struct sum *sum, const void *points,
                             const struct weights *w, size_t first, size_t n, size_t *before,
                             struct cuzk_error *err)
{
    const size_t element = sizeof(struct bls12_381_fr);
    if (w->query == NULL)
        return add_dense(device, sum, points, NULL, (const char *)w->all + first * element, n, err);
    const size_t dense =
        n == w->query->count ? w->query->dense : count_dense(w->query->is_bit, first, first + n);
    cuzk_status status = CUZK_OK;
    if (dense != n)
        status = add_bits(device, sum, points, w->scalars->bits + first / 64, n, err);
    if (status == CUZK_OK && dense != 0) {
        /* the numbers count from the section's start, so the base goes back by the piece's place */
        const void *base =
            (const void *)((uintptr_t)points - first * cuda_point_bytes(sum->section));
        status = add_dense(device, sum, base, w->query->index + *before,
                           (const char *)w->scalars->values + *before * element, dense, err);
    }
    *before += dense;
    return status;
}

/* A streamed section comes in pieces of at most a third of the memory that is free: a sum over a
 * piece needs room too. */
static size_t piece_points(const struct cuda_device *device, enum cuzk_section section)
{
    const uint64_t most = (uint64_t)1 << 30, least = (uint64_t)8 << 20;
    struct cuzk_account account;
    cuzk_budget_read(device->base.memory, &account);
    uint64_t bytes = account.limit > account.used ? (account.limit - account.used) / 3 : 0;
    if (bytes > most)
        bytes = most;
    if (bytes < least)
        bytes = least;
    return (size_t)(bytes / cuda_point_bytes(section)) / 64 * 64;
}

/* The whole sum; its time goes to the section's stage. The caller holds the lock. */
static cuzk_status section_sum(struct cuda_device *device, struct sum *sum,
                               const struct cuda_key *key, enum cuzk_section section,
                               const struct weights *w, struct cuzk_stages *stages,
                               struct cuzk_error *err)
{
    static const enum cuzk_stage stage_of[CUZK_SECTIONS] = {[CUZK_H] = CUZK_STAGE_MSM_H,
                                                            [CUZK_L] = CUZK_STAGE_MSM_L,
                                                            [CUZK_QUERY_A] = CUZK_STAGE_MSM_A,
                                                            [CUZK_QUERY_B1] = CUZK_STAGE_MSM_B1,
                                                            [CUZK_QUERY_B2] = CUZK_STAGE_MSM_B2};
    const size_t count = key->count[section], size = (size_t)cuda_point_bytes(section);
    const double start = cuzk_os_seconds();
    size_t before = 0;
    cuzk_status status = CUZK_OK;
    memset(sum, 0, sizeof *sum); /* z = 0: infinity */
    sum->section = section;
    if (key->points[section] != NULL) {
        status = add_piece(device, sum, key->points[section], w, 0, count, &before, err);
    } else if (count != 0) {
        size_t piece = piece_points(device, section);
        void *points = NULL;
        if (piece > count)
            piece = count;
        status = cuzk_cuda_alloc(device->cuda, &points, CUZK_PURPOSE_SRS, piece * size, err);
        for (size_t first = 0; first < count && status == CUZK_OK; first += piece) {
            const size_t n = count - first < piece ? count - first : piece;
            status = cuzk_cuda_key_read(device, points, key->base.params, section, first, n, err);
            if (status == CUZK_OK)
                status = add_piece(device, sum, points, w, first, n, &before, err);
        }
        cuzk_cuda_free(device->cuda, points);
    }
    stages->seconds[stage_of[section]] += cuzk_os_seconds() - start;
    return status;
}

cuzk_status cuzk_cuda_prove_start(struct cuzk_device *base, struct cuzk_pending **out,
                                  const struct cuzk_device_key *key,
                                  const struct cuzk_device_circuit *circuit,
                                  struct cuzk_witness *witness, struct cuzk_stages *stages,
                                  struct cuzk_error *err)
{
    *out = NULL;
    struct cuda_device *device = cuda_of(base);
    const struct cuda_key *cuda_key = (const struct cuda_key *)key;
    struct cuda_pending *pending = cuzk_calloc(1, sizeof *pending);
    struct sum sum = {0};
    void *h = NULL;
    if (pending == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "%s: out of memory", circuit->qap->circuit->name);
    pending->base =
        (struct cuzk_pending){.device = base, .circuit = circuit, .key = key, .witness = witness};
    pending->fault = (enum cuzk_fault)atomic_exchange(&device->fault, CUZK_FAULT_NONE);
    (void)pthread_mutex_lock(&device->lock);
    cuzk_status status = quotient(&h, device, pending, stages, err);
    const struct weights w = {.all = h};
    if (status == CUZK_OK)
        status = section_sum(device, &sum, cuda_key, CUZK_H, &w, stages, err);
    cuzk_cuda_free(device->cuda, h);
    (void)pthread_mutex_unlock(&device->lock);
    pending->h = sum.g1;
    if (status != CUZK_OK) {
        cuzk_free(pending);
        return status;
    }
    *out = &pending->base;
    return CUZK_OK;
}

static cuzk_status squeeze(struct squeezed *out, const struct cuzk_pending *pending,
                           const struct cuzk_query *query, struct cuzk_budget *host,
                           struct cuzk_error *err)
{
    *out = squeezed_sizes(query);
    cuzk_status status =
        cuzk_budget_alloc(host, &out->bits, CUZK_PURPOSE_WITNESS, out->bit_bytes, err);
    if (status == CUZK_OK)
        status = cuzk_budget_alloc(host, &out->values, CUZK_PURPOSE_WITNESS, out->value_bytes, err);
    if (status == CUZK_OK)
        cuzk_query_gather(out->bits, out->values, pending->circuit->qap, query, pending->witness);
    return status;
}

static void drop(struct squeezed *s, struct cuzk_budget *host)
{
    if (s->values != NULL)
        cuzk_wipe(s->values, s->value_bytes);
    cuzk_budget_free(host, s->bits, CUZK_PURPOSE_WITNESS, s->bit_bytes);
    cuzk_budget_free(host, s->values, CUZK_PURPOSE_WITNESS, s->value_bytes);
    *s = (struct squeezed){0};
}

/* The sums of `count` sections over one query's scalars, which go to the device for it. The caller
 * holds the lock. */
static cuzk_status query_sums(struct cuda_device *device, struct sum *sums,
                              const struct cuda_key *key, const enum cuzk_section *sections,
                              size_t count, const uint64_t *bits, const struct bls12_381_fr *values,
                              const struct cuda_query *query, struct cuzk_stages *stages,
                              struct cuzk_error *err)
{
    struct scalars s = {0};
    const struct weights w = {.query = query, .scalars = &s};
    cuzk_status status = upload_scalars(device, &s, bits, values, query, err);
    for (size_t i = 0; i < count && status == CUZK_OK; i++)
        status = section_sum(device, &sums[i], key, sections[i], &w, stages, err);
    cuzk_cuda_free(device->cuda, s.buffer);
    return status;
}

cuzk_status cuzk_cuda_prove_finish(struct cuzk_pending *base, struct cuzk_sums *out,
                                   struct cuzk_stages *stages, struct cuzk_error *err)
{
    static const enum cuzk_section sections[] = {CUZK_L, CUZK_QUERY_A, CUZK_QUERY_B1,
                                                 CUZK_QUERY_B2};
    struct cuda_pending *pending = (struct cuda_pending *)base;
    struct cuda_device *device = cuda_of(base->device);
    const struct cuda_circuit *circuit = (const struct cuda_circuit *)base->circuit;
    const struct cuda_key *key = (const struct cuda_key *)base->key;
    const struct cuzk_qap *qap = base->circuit->qap;
    struct cuzk_budget *host = device->base.config.host;
    struct squeezed a = {0}, b = {0};
    struct sum sum[4] = {{0}};
    memset(out, 0, sizeof *out);
    /* The host's part first, beside another proof's start: the device then does not wait for it. */
    cuzk_status status = squeeze(&a, base, &qap->a, host, err);
    if (status == CUZK_OK)
        status = squeeze(&b, base, &qap->b, host, err);
    (void)pthread_mutex_lock(&device->lock);
    if (status == CUZK_OK)
        status = query_sums(device, sum, key, sections, 1, base->witness->bits,
                            base->witness->values, &circuit->l, stages, err);
    if (status == CUZK_OK)
        status = query_sums(device, sum + 1, key, sections + 1, 1, a.bits, a.values, &circuit->a,
                            stages, err);
    if (status == CUZK_OK)
        status = query_sums(device, sum + 2, key, sections + 2, 2, b.bits, b.values, &circuit->b,
                            stages, err);
    (void)pthread_mutex_unlock(&device->lock);
    drop(&a, host);
    drop(&b, host);
    struct cuzk_sums sums = {
        .h = pending->h, .l = sum[0].g1, .a = sum[1].g1, .b1 = sum[2].g1, .b2 = sum[3].g2};
    if (pending->fault == CUZK_FAULT_BUCKET)
        sums.l.x.l[0] ^= 1;
    if (status == CUZK_OK)
        *out = sums;
    return status;
}

void cuzk_cuda_pending_free(struct cuzk_pending *pending)
{
    if (pending == NULL)
        return;
    cuzk_witness_destroy(pending->witness);
    cuzk_free(pending);
}
