/* The reader of `.params` and `.vk`, and the writer of `.vk`.
 *
 * One pass over the counts, without touching a point, says whether the file can be a key at all:
 * each count is held against the bytes that are left before anything is allocated, so a count of
 * 2^32 - 1 in a short file costs nothing. The counts must also agree with each other: h belongs to
 * a domain of a power of two, a has every input (Groth16's input rows see to it), b_g1 and b_g2 are
 * one query in two groups.
 */
#include "format/params.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

#define DAMAGED "the file is incomplete or damaged: copy or make it again"

static uint32_t read_be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void write_be32(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 24);
    p[1] = (uint8_t)(v >> 16);
    p[2] = (uint8_t)(v >> 8);
    p[3] = (uint8_t)v;
}

const char *cuzk_section_name(enum cuzk_section section)
{
    static const char *const names[CUZK_SECTIONS] = {"h", "l", "a", "b_g1", "b_g2"};
    return (unsigned)section < CUZK_SECTIONS ? names[section] : "unknown";
}

static uint64_t point_bytes(enum cuzk_section section)
{
    return section == CUZK_QUERY_B2 ? CUZK_G2_BYTES : CUZK_G1_BYTES;
}

/* Where a batch of points stands, for its errors. */
struct place {
    const char *name; /* of the file */
    const char *what; /* the section, or the key's single point */
    uint64_t first;  /* index of the batch's first point in its section; UINT64_MAX: a single one */
    uint64_t offset; /* of it in the file */
};

static cuzk_status point_failed(struct cuzk_error *err, cuzk_status status, const char *why,
                                const struct place *at, size_t index, size_t bytes)
{
    if (at->first == UINT64_MAX)
        return cuzk_fail(err, status, "%s: %s at offset %" PRIu64 " %s; " DAMAGED, at->name,
                         at->what, at->offset, why);
    return cuzk_fail(err, status, "%s: %s, point %" PRIu64 " at offset %" PRIu64 " %s; " DAMAGED,
                     at->name, at->what, at->first + index, at->offset + index * bytes, why);
}

/* What the decoder says of point `bad`, without its own count of the batch. */
static const char *decoder_says(const struct cuzk_error *inner, size_t bad, size_t count)
{
    char prefix[80];
    int n = snprintf(prefix, sizeof prefix, "point %zu of %zu ", bad, count);
    return strncmp(inner->message, prefix, (size_t)n) == 0 ? inner->message + n : inner->message;
}

/* Both decoders: a point marked as compressed is refused (the decoder would take it and leave half
 * of its bytes unread), infinity too. */
static cuzk_status decode_g1(struct bls12_381_g1_affine *out, const uint8_t *in, size_t count,
                             bool subgroup, const struct place *at, struct cuzk_error *err)
{
    static const struct bls12_381_g1_affine infinity;
    struct cuzk_error inner;
    size_t bad = 0;
    for (size_t i = 0; i < count; i++)
        if ((in[i * CUZK_G1_BYTES] & 0x80) != 0)
            return point_failed(err, CUZK_E_POINT, "is compressed in an uncompressed place", at, i,
                                CUZK_G1_BYTES);
    cuzk_status status =
        bls12_381_ops(NULL)->g1_decode(out, in, count, false, subgroup, &bad, &inner);
    if (status != CUZK_OK)
        return point_failed(err, status, decoder_says(&inner, bad, count), at, bad, CUZK_G1_BYTES);
    for (size_t i = 0; i < count; i++)
        if (memcmp(&out[i], &infinity, sizeof infinity) == 0)
            return point_failed(err, CUZK_E_POINT, "is infinity, which no key holds", at, i,
                                CUZK_G1_BYTES);
    return CUZK_OK;
}

static cuzk_status decode_g2(struct bls12_381_g2_affine *out, const uint8_t *in, size_t count,
                             bool subgroup, const struct place *at, struct cuzk_error *err)
{
    static const struct bls12_381_g2_affine infinity;
    struct cuzk_error inner;
    size_t bad = 0;
    for (size_t i = 0; i < count; i++)
        if ((in[i * CUZK_G2_BYTES] & 0x80) != 0)
            return point_failed(err, CUZK_E_POINT, "is compressed in an uncompressed place", at, i,
                                CUZK_G2_BYTES);
    cuzk_status status =
        bls12_381_ops(NULL)->g2_decode(out, in, count, false, subgroup, &bad, &inner);
    if (status != CUZK_OK)
        return point_failed(err, status, decoder_says(&inner, bad, count), at, bad, CUZK_G2_BYTES);
    for (size_t i = 0; i < count; i++)
        if (memcmp(&out[i], &infinity, sizeof infinity) == 0)
            return point_failed(err, CUZK_E_POINT, "is infinity, which no key holds", at, i,
                                CUZK_G2_BYTES);
    return CUZK_OK;
}

/* Where the verifying key keeps its single points. */
enum { ALPHA_G1 = 0, BETA_G1 = 96, BETA_G2 = 192, GAMMA_G2 = 384, DELTA_G1 = 576, DELTA_G2 = 672 };
_Static_assert(DELTA_G2 + CUZK_G2_BYTES == CUZK_VK_HEAD_BYTES, "six points before the count");

uint64_t cuzk_vk_bytes(uint32_t ic_count)
{
    return CUZK_VK_HEAD_BYTES + 4 + (uint64_t)ic_count * CUZK_G1_BYTES;
}

cuzk_status cuzk_vk_parse(struct cuzk_vk *out, const uint8_t *data, uint64_t size, uint64_t *used,
                          const char *name, struct cuzk_error *err)
{
    *out = (struct cuzk_vk){0};
    if (size < CUZK_VK_HEAD_BYTES + 4)
        return cuzk_fail(err, CUZK_E_TRUNCATED,
                         "%s: %" PRIu64 " bytes, but a verifying key has at least %d; " DAMAGED,
                         name, size, CUZK_VK_HEAD_BYTES + 4);
    uint32_t count = read_be32(data + CUZK_VK_HEAD_BYTES);
    if (count == 0)
        return cuzk_fail(err, CUZK_E_FORMAT,
                         "%s: ic at offset %d has no points; a key has one for the constant input",
                         name, CUZK_VK_HEAD_BYTES);
    if (cuzk_vk_bytes(count) > size)
        return cuzk_fail(err, CUZK_E_TRUNCATED,
                         "%s: ic at offset %d counts %" PRIu32 " points, %" PRIu64
                         " bytes, but %" PRIu64 " follow; " DAMAGED,
                         name, CUZK_VK_HEAD_BYTES, count, (uint64_t)count * CUZK_G1_BYTES,
                         size - CUZK_VK_HEAD_BYTES - 4);

    struct cuzk_vk vk = {.ic_count = count};
    vk.ic = cuzk_calloc(count, sizeof *vk.ic);
    if (vk.ic == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "%s: out of memory for %" PRIu32 " points", name,
                         count);
    const struct {
        struct bls12_381_g1_affine *g1;
        struct bls12_381_g2_affine *g2;
        const char *what;
        unsigned offset;
    } points[] = {
        {&vk.alpha_g1, NULL, "alpha_g1", ALPHA_G1}, {&vk.beta_g1, NULL, "beta_g1", BETA_G1},
        {NULL, &vk.beta_g2, "beta_g2", BETA_G2},    {NULL, &vk.gamma_g2, "gamma_g2", GAMMA_G2},
        {&vk.delta_g1, NULL, "delta_g1", DELTA_G1}, {NULL, &vk.delta_g2, "delta_g2", DELTA_G2},
    };
    cuzk_status status = CUZK_OK;
    for (size_t i = 0; status == CUZK_OK && i < sizeof points / sizeof points[0]; i++) {
        const uint8_t *in = data + points[i].offset;
        struct place at = {name, points[i].what, UINT64_MAX, points[i].offset};
        status = points[i].g1 != NULL ? decode_g1(points[i].g1, in, 1, true, &at, err)
                                      : decode_g2(points[i].g2, in, 1, true, &at, err);
    }
    if (status == CUZK_OK)
        status = decode_g1(vk.ic, data + CUZK_VK_HEAD_BYTES + 4, count, true,
                           &(struct place){name, "ic", 0, CUZK_VK_HEAD_BYTES + 4}, err);
    if (status != CUZK_OK) {
        cuzk_vk_destroy(&vk);
        return status;
    }
    *out = vk;
    *used = cuzk_vk_bytes(count);
    return CUZK_OK;
}

cuzk_status cuzk_vk_read(struct cuzk_vk *out, const char *path, struct cuzk_error *err)
{
    *out = (struct cuzk_vk){0};
    struct cuzk_mapping file;
    cuzk_status status = cuzk_os_map(&file, path, err);
    if (status != CUZK_OK)
        return status;
    uint64_t used = 0;
    status = cuzk_vk_parse(out, file.data, file.size, &used, path, err);
    if (status == CUZK_OK && used != file.size) {
        status = cuzk_fail(err, CUZK_E_TRAILING,
                           "%s: %" PRIu64 " bytes follow the verifying key's %" PRIu64
                           "; give the .vk, not the .params, or cut the rest",
                           path, file.size - used, used);
        cuzk_vk_destroy(out);
    }
    cuzk_os_unmap(&file);
    return status;
}

void cuzk_vk_destroy(struct cuzk_vk *vk)
{
    cuzk_free(vk->ic);
    *vk = (struct cuzk_vk){0};
}

void cuzk_vk_encode(uint8_t *out, const struct cuzk_vk *vk)
{
    const struct bls12_381_ops *ops = bls12_381_ops(NULL);
    ops->g1_encode(out + ALPHA_G1, &vk->alpha_g1, 1, false);
    ops->g1_encode(out + BETA_G1, &vk->beta_g1, 1, false);
    ops->g2_encode(out + BETA_G2, &vk->beta_g2, 1, false);
    ops->g2_encode(out + GAMMA_G2, &vk->gamma_g2, 1, false);
    ops->g1_encode(out + DELTA_G1, &vk->delta_g1, 1, false);
    ops->g2_encode(out + DELTA_G2, &vk->delta_g2, 1, false);
    write_be32(out + CUZK_VK_HEAD_BYTES, vk->ic_count);
    ops->g1_encode(out + CUZK_VK_HEAD_BYTES + 4, vk->ic, vk->ic_count, false);
}

cuzk_status cuzk_vk_write(const char *path, const struct cuzk_vk *vk, struct cuzk_error *err)
{
    size_t size = (size_t)cuzk_vk_bytes(vk->ic_count);
    uint8_t *data = cuzk_malloc(size);
    if (data == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "%s: out of memory for %zu bytes", path, size);
    cuzk_vk_encode(data, vk);
    struct cuzk_writer *w = NULL;
    cuzk_status status = cuzk_os_writer_open(&w, path, err);
    if (status == CUZK_OK) {
        status = cuzk_os_writer_write(w, data, size, err);
        if (status == CUZK_OK)
            status = cuzk_os_writer_commit(w, err);
        else
            cuzk_os_writer_abort(w);
    }
    cuzk_free(data);
    return status;
}

/* Counts and offsets of the sections behind the verifying key, held against the file's size. */
static cuzk_status read_sections(struct cuzk_params *p, uint64_t at, struct cuzk_error *err)
{
    uint64_t size = p->file.size;
    for (unsigned s = 0; s < CUZK_SECTIONS; s++) {
        const char *name = cuzk_section_name((enum cuzk_section)s);
        if (size - at < 4)
            return cuzk_fail(err, CUZK_E_TRUNCATED,
                             "%s: ends at %" PRIu64 ", before section %s%s; " DAMAGED, p->path,
                             size, name, s == 0 ? " (this may be a .vk)" : "");
        uint32_t count = read_be32(p->file.data + at);
        uint64_t bytes = count * point_bytes((enum cuzk_section)s);
        if (bytes > size - at - 4)
            return cuzk_fail(err, CUZK_E_TRUNCATED,
                             "%s: section %s at offset %" PRIu64 " counts %" PRIu32
                             " points, %" PRIu64 " bytes, but %" PRIu64 " follow; " DAMAGED,
                             p->path, name, at, count, bytes, size - at - 4);
        p->count[s] = count;
        p->offset[s] = at + 4;
        at += 4 + bytes;
    }
    if (at != size)
        return cuzk_fail(err, CUZK_E_TRAILING,
                         "%s: %" PRIu64 " bytes follow the last section, which ends at offset "
                         "%" PRIu64 "; " DAMAGED,
                         p->path, size - at, at);
    return CUZK_OK;
}

static cuzk_status check_counts(const struct cuzk_params *p, uint32_t inputs,
                                struct cuzk_error *err)
{
    uint64_t domain = (uint64_t)p->count[CUZK_H] + 1;
    uint64_t variables = (uint64_t)inputs + p->count[CUZK_L];
    if ((domain & (domain - 1)) != 0)
        return cuzk_fail(err, CUZK_E_FORMAT,
                         "%s: section h has %" PRIu32
                         " points, which is not a power of two less one; this is no Groth16 key",
                         p->path, p->count[CUZK_H]);
    if (p->count[CUZK_QUERY_A] < inputs || p->count[CUZK_QUERY_A] > variables)
        return cuzk_fail(err, CUZK_E_FORMAT,
                         "%s: section a has %" PRIu32 " points; %" PRIu32 " inputs and %" PRIu32
                         " auxiliary variables allow %" PRIu32 " to %" PRIu64,
                         p->path, p->count[CUZK_QUERY_A], inputs, p->count[CUZK_L], inputs,
                         variables);
    if (p->count[CUZK_QUERY_B1] != p->count[CUZK_QUERY_B2] || p->count[CUZK_QUERY_B1] > variables)
        return cuzk_fail(err, CUZK_E_FORMAT,
                         "%s: sections b_g1 and b_g2 have %" PRIu32 " and %" PRIu32
                         " points; they must be equal and at most %" PRIu64,
                         p->path, p->count[CUZK_QUERY_B1], p->count[CUZK_QUERY_B2], variables);
    return CUZK_OK;
}

cuzk_status cuzk_params_open(struct cuzk_params **out, const char *path, struct cuzk_error *err)
{
    *out = NULL;
    struct cuzk_params *p = cuzk_calloc(1, sizeof *p);
    if (p == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "%s: out of memory", path);
    cuzk_status status;
    p->path = cuzk_strdup(path);
    if (p->path == NULL) {
        status = cuzk_fail(err, CUZK_E_MEMORY, "%s: out of memory", path);
        goto fail;
    }
    status = cuzk_os_map(&p->file, path, err);
    if (status != CUZK_OK)
        goto fail;
    /* Structure first: it costs a few pages, the key's points thousands of squarings. */
    if (p->file.size >= CUZK_VK_HEAD_BYTES + 4) {
        uint32_t inputs = read_be32(p->file.data + CUZK_VK_HEAD_BYTES);
        if (cuzk_vk_bytes(inputs) <= p->file.size) {
            status = read_sections(p, cuzk_vk_bytes(inputs), err);
            if (status == CUZK_OK)
                status = check_counts(p, inputs, err);
            if (status != CUZK_OK)
                goto fail;
        }
    }
    uint64_t used;
    status = cuzk_vk_parse(&p->vk, p->file.data, p->file.size, &used, path, err);
    if (status != CUZK_OK)
        goto fail;
    *out = p;
    return CUZK_OK;
fail:
    cuzk_params_close(p);
    return status;
}

void cuzk_params_close(struct cuzk_params *params)
{
    if (params == NULL)
        return;
    cuzk_vk_destroy(&params->vk);
    cuzk_os_unmap(&params->file);
    cuzk_free(params->path);
    cuzk_free(params);
}

static cuzk_status check_range(const struct cuzk_params *p, enum cuzk_section section, size_t first,
                               size_t count, struct cuzk_error *err)
{
    if (first > p->count[section] || count > p->count[section] - first)
        return cuzk_fail(err, CUZK_E_RANGE,
                         "%s: points %zu to %zu asked of section %s, which has %" PRIu32, p->path,
                         first, first + count, cuzk_section_name(section), p->count[section]);
    return CUZK_OK;
}

cuzk_status cuzk_params_g1_checked(const struct cuzk_params *params, enum cuzk_section section,
                                   struct bls12_381_g1_affine *out, size_t first, size_t count,
                                   bool subgroup, struct cuzk_error *err)
{
    if ((unsigned)section >= CUZK_QUERY_B2)
        return cuzk_fail(err, CUZK_E_ARGUMENT, "section %s does not hold points of G1",
                         cuzk_section_name(section));
    cuzk_status status = check_range(params, section, first, count, err);
    if (status != CUZK_OK)
        return status;
    struct place at = {params->path, cuzk_section_name(section), first,
                       params->offset[section] + (uint64_t)first * CUZK_G1_BYTES};
    return decode_g1(out, params->file.data + at.offset, count, subgroup, &at, err);
}

cuzk_status cuzk_params_g2_checked(const struct cuzk_params *params,
                                   struct bls12_381_g2_affine *out, size_t first, size_t count,
                                   bool subgroup, struct cuzk_error *err)
{
    cuzk_status status = check_range(params, CUZK_QUERY_B2, first, count, err);
    if (status != CUZK_OK)
        return status;
    struct place at = {params->path, cuzk_section_name(CUZK_QUERY_B2), first,
                       params->offset[CUZK_QUERY_B2] + (uint64_t)first * CUZK_G2_BYTES};
    return decode_g2(out, params->file.data + at.offset, count, subgroup, &at, err);
}

cuzk_status cuzk_params_g1(const struct cuzk_params *params, enum cuzk_section section,
                           struct bls12_381_g1_affine *out, size_t first, size_t count,
                           struct cuzk_error *err)
{
    return cuzk_params_g1_checked(params, section, out, first, count, false, err);
}

cuzk_status cuzk_params_g2(const struct cuzk_params *params, struct bls12_381_g2_affine *out,
                           size_t first, size_t count, struct cuzk_error *err)
{
    return cuzk_params_g2_checked(params, out, first, count, false, err);
}
