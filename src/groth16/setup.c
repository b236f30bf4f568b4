/* Setup of development keys: the waste, the verifying key, and the key file written in order.
 *
 * The device keeps the circuit's polynomials at tau and makes the points of a section chunk by
 * chunk; each chunk is encoded and written before the next, so memory does not grow with the file.
 * The bytes are those of bellperson's generator for the same waste.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/os.h"
#include "groth16/groth16.h"

enum { CHUNK = 1 << 17, ENCODE_CHUNK = 4096 };

struct writing {
    struct cuzk_relation *relation;
    struct cuzk_device_setup *setup;
    struct cuzk_writer *file;
    const struct cuzk_setup_options *options;
    uint64_t done, total;
    /* One chunk: points as the device gives them, and encoded. Charged to CUZK_PURPOSE_SETUP. The
     * buffers hold `chunk` points of G1 or half as many of G2, which are twice as large. */
    size_t chunk;
    void *points, *bytes;
};

struct encode {
    const struct writing *w;
    bool g2;
    size_t count;
};

static void encode_chunk(void *context, size_t index, unsigned worker)
{
    (void)worker;
    const struct encode *e = context;
    const struct bls12_381_ops *curve = bls12_381_ops(NULL);
    size_t first = index * ENCODE_CHUNK, count = e->count - first;
    if (count > ENCODE_CHUNK)
        count = ENCODE_CHUNK;
    uint8_t *out = e->w->bytes;
    if (e->g2)
        curve->g2_encode(out + first * CUZK_G2_BYTES,
                         (const struct bls12_381_g2_affine *)e->w->points + first, count, false);
    else
        curve->g1_encode(out + first * CUZK_G1_BYTES,
                         (const struct bls12_381_g1_affine *)e->w->points + first, count, false);
}

static cuzk_status progress(const struct writing *w, struct cuzk_error *err)
{
    if (w->options->progress != NULL &&
        w->options->progress(w->options->progress_context, w->done, w->total) != 0)
        return cuzk_fail(err, CUZK_E_CANCELLED, "setup stopped on demand");
    return CUZK_OK;
}

static cuzk_status write_section(struct writing *w, enum cuzk_section section,
                                 struct cuzk_error *err)
{
    const struct cuzk_device_ops *ops = w->setup->device->ops;
    bool g2 = section == CUZK_QUERY_B2;
    size_t total = w->setup->count[section], chunk = g2 ? w->chunk / 2 : w->chunk;
    size_t size = g2 ? CUZK_G2_BYTES : CUZK_G1_BYTES;
    const uint8_t head[4] = {(uint8_t)(total >> 24), (uint8_t)(total >> 16), (uint8_t)(total >> 8),
                             (uint8_t)total};
    cuzk_status status = cuzk_os_writer_write(w->file, head, sizeof head, err);
    for (size_t first = 0; status == CUZK_OK && first < total; first += chunk) {
        size_t count = total - first < chunk ? total - first : chunk;
        status = g2 ? ops->setup_g2(w->setup, w->points, first, count, err)
                    : ops->setup_g1(w->setup, w->points, section, first, count, err);
        if (status != CUZK_OK)
            return status;
        struct encode e = {w, g2, count};
        cuzk_threads_for(w->relation->context->threads, (count + ENCODE_CHUNK - 1) / ENCODE_CHUNK,
                         encode_chunk, &e);
        status = cuzk_os_writer_write(w->file, w->bytes, count * size, err);
        w->done += count;
        if (status == CUZK_OK)
            status = progress(w, err);
    }
    return status;
}

static cuzk_status write_params(struct writing *w, const struct cuzk_vk *vk, const char *path,
                                struct cuzk_error *err)
{
    struct cuzk_budget *host = w->relation->context->host;
    uint64_t head_bytes = cuzk_vk_bytes(vk->ic_count);
    uint8_t *head = cuzk_malloc(head_bytes);
    cuzk_status status = CUZK_OK;
    if (head == NULL)
        status = cuzk_fail(err, CUZK_E_MEMORY, "%s: out of memory", path);
    size_t largest = 2; /* in points of G1; at least one of G2 */
    for (int s = 0; s < CUZK_SECTIONS; s++) {
        size_t count = (size_t)w->setup->count[s] * (s == CUZK_QUERY_B2 ? 2 : 1);
        w->total += w->setup->count[s];
        if (count > largest)
            largest = count;
    }
    w->chunk = largest < CHUNK ? largest : CHUNK;
    uint64_t points_bytes = (uint64_t)w->chunk * sizeof(struct bls12_381_g1_affine);
    uint64_t encoded_bytes = (uint64_t)w->chunk * CUZK_G1_BYTES;
    if (status == CUZK_OK)
        status = cuzk_budget_alloc(host, &w->points, CUZK_PURPOSE_SETUP, points_bytes, err);
    if (status == CUZK_OK)
        status = cuzk_budget_alloc(host, &w->bytes, CUZK_PURPOSE_SETUP, encoded_bytes, err);
    if (status == CUZK_OK)
        status = cuzk_os_writer_open(&w->file, path, err);
    if (status == CUZK_OK) {
        cuzk_vk_encode(head, vk);
        status = cuzk_os_writer_write(w->file, head, head_bytes, err);
    }
    if (status == CUZK_OK)
        status = progress(w, err);
    for (int s = 0; status == CUZK_OK && s < CUZK_SECTIONS; s++)
        status = write_section(w, (enum cuzk_section)s, err);
    if (status == CUZK_OK)
        status = cuzk_os_writer_commit(w->file, err);
    else
        cuzk_os_writer_abort(w->file);
    w->file = NULL;
    cuzk_budget_free(host, w->points, CUZK_PURPOSE_SETUP, points_bytes);
    cuzk_budget_free(host, w->bytes, CUZK_PURPOSE_SETUP, encoded_bytes);
    cuzk_free(head);
    return status;
}

/* The generators times alpha, beta, gamma, delta, and ic: (beta·A_i + alpha·B_i + C_i)/gamma. */
static cuzk_status make_vk(struct cuzk_vk *vk, struct cuzk_device_setup *setup,
                           const struct cuzk_waste *waste, struct cuzk_error *err)
{
    static const struct bls12_381_g1_affine g1 = {{{BLS12_381_G1_GENERATOR_X}},
                                                  {{BLS12_381_G1_GENERATOR_Y}}};
    static const struct bls12_381_g2_affine g2 = {
        {{{BLS12_381_G2_GENERATOR_X_C0}}, {{BLS12_381_G2_GENERATOR_X_C1}}},
        {{{BLS12_381_G2_GENERATOR_Y_C0}}, {{BLS12_381_G2_GENERATOR_Y_C1}}}};
    const struct bls12_381_ops *curve = bls12_381_ops(NULL);
    const struct cuzk_run run = {.threads = setup->device->config.threads,
                                 .budget = setup->device->config.host};
    uint32_t inputs = setup->qap->circuit->inputs;
    struct bls12_381_fr s1[3] = {waste->alpha, waste->beta, waste->delta};
    struct bls12_381_fr s2[3] = {waste->beta, waste->gamma, waste->delta}, inverse;
    struct bls12_381_g1_affine p1[3];
    struct bls12_381_g2_affine p2[3];
    struct bls12_381_fr *scalars = cuzk_calloc(inputs, sizeof *scalars);
    memset(vk, 0, sizeof *vk);
    vk->ic = cuzk_calloc(inputs, sizeof *vk->ic);
    vk->ic_count = inputs;
    cuzk_status status = CUZK_OK;
    if (scalars == NULL || vk->ic == NULL)
        status = cuzk_fail(err, CUZK_E_MEMORY, "out of memory for a verifying key");
    if (status == CUZK_OK)
        status = setup->device->ops->setup_inputs(setup, scalars, err);
    if (status == CUZK_OK) {
        bls12_381_fr_inv(&inverse, &waste->gamma);
        curve->fr_scale_vector(scalars, scalars, &inverse, inputs);
        for (uint32_t i = 0; i < inputs && status == CUZK_OK; i++)
            if (bls12_381_fr_is_zero(&scalars[i]))
                status = cuzk_fail(err, CUZK_E_ARGUMENT,
                                   "setup: the polynomial of input %u vanishes at tau; choose "
                                   "another",
                                   i);
    }
    if (status == CUZK_OK)
        status = curve->g1_fixed_base(vk->ic, &g1, scalars, inputs, &run, err);
    if (status == CUZK_OK)
        status = curve->g1_fixed_base(p1, &g1, s1, 3, &run, err);
    if (status == CUZK_OK)
        status = curve->g2_fixed_base(p2, &g2, s2, 3, &run, err);
    if (status == CUZK_OK) {
        vk->alpha_g1 = p1[0];
        vk->beta_g1 = p1[1];
        vk->delta_g1 = p1[2];
        vk->beta_g2 = p2[0];
        vk->gamma_g2 = p2[1];
        vk->delta_g2 = p2[2];
    } else {
        cuzk_vk_destroy(vk);
        memset(vk, 0, sizeof *vk);
    }
    if (scalars != NULL)
        cuzk_wipe(scalars, inputs * sizeof *scalars);
    cuzk_wipe(s1, sizeof s1);
    cuzk_wipe(s2, sizeof s2);
    cuzk_wipe(&inverse, sizeof inverse);
    cuzk_free(scalars);
    return status;
}

/* The key on one device; the first also makes the verifying key, which is the key's. */
struct key_make {
    struct cuzk_key *key;
    const struct cuzk_waste *waste;
};

static cuzk_status make_on_device(void *argument, size_t i, struct cuzk_error *err)
{
    const struct key_make *make = argument;
    const struct cuzk_waste *waste = make->waste;
    struct cuzk_key *key = make->key;
    struct cuzk_device *device = key->relation->context->devices[i];
    struct cuzk_device_setup *setup = NULL;
    if (device->ops->setup_key == NULL)
        return cuzk_fail(err, CUZK_E_UNSUPPORTED, "%s makes no keys in memory", device->info.name);
    cuzk_status status =
        device->ops->setup_start(device, &setup, key->relation->loaded[i], waste, err);
    if (status == CUZK_OK && i == 0)
        status = make_vk(&key->made, setup, waste, err);
    if (status == CUZK_OK)
        status = device->ops->setup_key(setup, &key->loaded[i], err);
    device->ops->setup_end(setup);
    return status;
}

/* A key that never sees a file, the same on every device. */
static cuzk_status make_key(struct cuzk_key **out, struct cuzk_relation *relation,
                            const struct cuzk_waste *waste, struct cuzk_error *err)
{
    *out = NULL;
    struct cuzk_key *key = cuzk_key_create(relation);
    if (key == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "%s: out of memory", relation->circuit->name);
    key->vk = &key->made;
    struct key_make make = {key, waste};
    cuzk_status status = cuzk_on_each_device(relation->context, make_on_device, &make, err);
    if (status != CUZK_OK) {
        cuzk_key_close(key);
        return status;
    }
    *out = key;
    return CUZK_OK;
}

cuzk_status cuzk_setup_write(struct cuzk_relation *relation, const char *params_path,
                             const char *vk_path, const struct cuzk_waste *waste,
                             const struct cuzk_setup_options *options, struct cuzk_error *err)
{
    static const struct cuzk_setup_options defaults;
    struct cuzk_device *device = relation->context->devices[0];
    struct writing w = {.relation = relation, .options = options != NULL ? options : &defaults};
    struct cuzk_vk vk = {0};
    cuzk_status status =
        device->ops->setup_start(device, &w.setup, relation->loaded[0], waste, err);
    if (status != CUZK_OK)
        return status;
    status = make_vk(&vk, w.setup, waste, err);
    if (status == CUZK_OK && params_path != NULL)
        status = write_params(&w, &vk, params_path, err);
    device->ops->setup_end(w.setup);
    if (status == CUZK_OK && vk_path != NULL)
        status = cuzk_vk_write(vk_path, &vk, err);
    cuzk_vk_destroy(&vk);
    return status;
}

static cuzk_status random_waste(struct cuzk_waste *out, struct cuzk_error *err)
{
    struct bls12_381_fr *secrets[5] = {&out->alpha, &out->beta, &out->gamma, &out->delta,
                                       &out->tau};
    memset(out, 0, sizeof *out);
    cuzk_status status = CUZK_OK;
    for (int i = 0; i < 5 && status == CUZK_OK; i++)
        status = cuzk_random_fr(secrets[i], err);
    return status;
}

static cuzk_status get_waste(struct cuzk_waste *out, const char *insecure, struct cuzk_error *err)
{
    return insecure != NULL ? cuzk_waste_read(out, insecure, err) : random_waste(out, err);
}

cuzk_status cuzk_key_make(struct cuzk_key **out, struct cuzk_relation *relation,
                          const char *insecure_waste, struct cuzk_error *err)
{
    struct cuzk_waste waste;
    *out = NULL;
    cuzk_status status = get_waste(&waste, insecure_waste, err);
    if (status == CUZK_OK)
        status = make_key(out, relation, &waste, err);
    cuzk_wipe(&waste, sizeof waste);
    return status;
}

cuzk_status cuzk_setup(struct cuzk_relation *relation, const char *params_path, const char *vk_path,
                       const struct cuzk_setup_options *options, struct cuzk_error *err)
{
    struct cuzk_waste waste;
    cuzk_status status = get_waste(&waste, options != NULL ? options->insecure_waste : NULL, err);
    if (status == CUZK_OK)
        status = cuzk_setup_write(relation, params_path, vk_path, &waste, options, err);
    cuzk_wipe(&waste, sizeof waste);
    return status;
}
