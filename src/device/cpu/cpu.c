/* The processor behind device.h: opening, keys, and the single operations. A proof is in prove.c,
 * setup in setup.c.
 */
#include "device/cpu/cpu.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "poly/ntt.h"

static cuzk_status cpu_list(struct cuzk_device_info **out, size_t *count, char absent[120],
                            struct cuzk_error *err)
{
    *out = NULL;
    *count = 0;
    absent[0] = '\0';
    struct cuzk_device_info *info = cuzk_calloc(1, sizeof *info);
    if (info == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "out of memory for the list of devices");
    struct cuzk_os_cpu cpu;
    struct cuzk_os_memory memory;
    cuzk_os_cpu_read(&cpu);
    cuzk_os_memory_read(&memory);
    (void)snprintf(info->name, sizeof info->name, "cpu");
    (void)snprintf(info->model, sizeof info->model, "%s",
                   cpu.model[0] != '\0' ? cpu.model : "processor");
    info->memory_total = cuzk_os_memory_limit();
    info->memory_free = info->memory_total > memory.rss ? info->memory_total - memory.rss : 0;
    info->processors = cuzk_os_processors();
    *out = info;
    *count = 1;
    return CUZK_OK;
}

static void cpu_close(struct cuzk_device *device)
{
    cuzk_free(device);
}

static cuzk_status cpu_circuit_load(struct cuzk_device *device, struct cuzk_device_circuit **out,
                                    const struct cuzk_qap *qap, struct cuzk_error *err)
{
    *out = NULL;
    struct cuzk_device_circuit *circuit = cuzk_calloc(1, sizeof *circuit);
    if (circuit == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "%s: out of memory", qap->circuit->name);
    circuit->device = device;
    circuit->qap = qap;
    *out = circuit;
    return CUZK_OK;
}

static void cpu_circuit_free(struct cuzk_device_circuit *circuit)
{
    cuzk_free(circuit);
}

static uint64_t section_bytes(const struct cpu_key *key, enum cuzk_section section)
{
    size_t size = section == CUZK_QUERY_B2 ? sizeof(struct bls12_381_g2_affine)
                                           : sizeof(struct bls12_381_g1_affine);
    return (uint64_t)size * key->count[section];
}

cuzk_status cuzk_cpu_key_section(struct cpu_key *key, enum cuzk_section section,
                                 struct cuzk_error *err)
{
    void *points;
    uint64_t bytes = section_bytes(key, section);
    cuzk_status status =
        cuzk_budget_alloc(key->base.device->config.host, &points, CUZK_PURPOSE_SRS, bytes, err);
    if (status != CUZK_OK)
        return status;
    if (section == CUZK_QUERY_B2)
        key->g2 = points;
    else
        key->g1[section] = points;
    key->base.resident += bytes;
    return CUZK_OK;
}

void cuzk_cpu_key_free(struct cuzk_device_key *base)
{
    if (base == NULL)
        return;
    struct cpu_key *key = (struct cpu_key *)base;
    for (int s = 0; s < CUZK_SECTIONS; s++) {
        void *points = s == CUZK_QUERY_B2 ? (void *)key->g2 : (void *)key->g1[s];
        cuzk_budget_free(base->device->config.host, points, CUZK_PURPOSE_SRS,
                         section_bytes(key, (enum cuzk_section)s));
    }
    cuzk_free(key);
}

/* Decoding a section in pieces over the threads. */
enum { DECODE_CHUNK = 4096 };
struct decode {
    struct cpu_key *key;
    enum cuzk_section section;
    _Atomic int failed; /* the first to fail writes err */
    cuzk_status status;
    struct cuzk_error error;
};

static void decode_chunk(void *context, size_t i, unsigned worker)
{
    (void)worker;
    struct decode *d = context;
    const struct cuzk_params *params = d->key->base.params;
    size_t first = i * DECODE_CHUNK, count = params->count[d->section] - first;
    if (count > DECODE_CHUNK)
        count = DECODE_CHUNK;
    struct cuzk_error error;
    cuzk_status status = d->section == CUZK_QUERY_B2
                             ? cuzk_params_g2(params, d->key->g2 + first, first, count, &error)
                             : cuzk_params_g1(params, d->section, d->key->g1[d->section] + first,
                                              first, count, &error);
    if (status != CUZK_OK && atomic_exchange(&d->failed, 1) == 0) {
        d->status = status;
        d->error = error;
    }
}

static cuzk_status cpu_key_load(struct cuzk_device *device, struct cuzk_device_key **out,
                                const struct cuzk_params *params, enum cuzk_residency residency,
                                struct cuzk_error *err)
{
    *out = NULL;
    struct cpu_key *key = cuzk_calloc(1, sizeof *key);
    if (key == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "%s: out of memory", params->path);
    key->base.device = device;
    key->base.params = params;
    memcpy(key->count, params->count, sizeof key->count);
    cuzk_status status = CUZK_OK;
    for (int s = 0; residency == CUZK_KEY_RESIDENT && s < CUZK_SECTIONS; s++) {
        enum cuzk_section section = (enum cuzk_section)s;
        status = cuzk_cpu_key_section(key, section, err);
        if (status != CUZK_OK)
            goto fail;
        struct decode d = {.key = key, .section = section};
        cuzk_threads_for(device->config.threads,
                         (params->count[s] + (size_t)DECODE_CHUNK - 1) / DECODE_CHUNK, decode_chunk,
                         &d);
        if (d.failed) {
            status = d.status;
            if (err != NULL)
                *err = d.error;
            goto fail;
        }
    }
    *out = &key->base;
    return CUZK_OK;
fail:
    cuzk_cpu_key_free(&key->base);
    return cuzk_fail_prefix(err, status, "key kept decoded in memory");
}

static cuzk_status cpu_msm_g1(struct cuzk_device *device, struct bls12_381_g1 *out,
                              const struct bls12_381_g1_affine *points,
                              const struct bls12_381_scalars *scalars, size_t n,
                              struct cuzk_error *err)
{
    struct cuzk_run run = cpu_run(device);
    struct bls12_381_g1_source source = {.points = points};
    return device->config.curve->g1_msm(out, &source, scalars, n, &run, err);
}

static cuzk_status cpu_msm_g2(struct cuzk_device *device, struct bls12_381_g2 *out,
                              const struct bls12_381_g2_affine *points,
                              const struct bls12_381_scalars *scalars, size_t n,
                              struct cuzk_error *err)
{
    struct cuzk_run run = cpu_run(device);
    struct bls12_381_g2_source source = {.points = points};
    return device->config.curve->g2_msm(out, &source, scalars, n, &run, err);
}

static cuzk_status cpu_ntt(struct cuzk_device *device, struct bls12_381_fr *a, unsigned log2_size,
                           bool inverse, const struct bls12_381_fr *shift, struct cuzk_error *err)
{
    struct cuzk_run run = cpu_run(device);
    struct cuzk_ntt *ntt;
    cuzk_status status = cuzk_ntt_create(&ntt, log2_size, &run, err);
    if (status != CUZK_OK)
        return status;
    if (inverse)
        cuzk_ntt_inverse(ntt, a, CUZK_ORDER_NATURAL, shift, &run);
    else
        cuzk_ntt_forward(ntt, a, CUZK_ORDER_NATURAL, shift, &run);
    cuzk_ntt_destroy(ntt);
    return CUZK_OK;
}

static cuzk_status cpu_quotient(struct cuzk_device *device, struct bls12_381_fr *a,
                                struct bls12_381_fr *b, unsigned log2_size, struct cuzk_error *err)
{
    struct cuzk_run run = cpu_run(device);
    struct cuzk_ntt *ntt;
    uint64_t bytes = sizeof *a << log2_size;
    void *c;
    cuzk_status status = cuzk_budget_alloc(run.budget, &c, CUZK_PURPOSE_ABC, bytes, err);
    if (status != CUZK_OK)
        return status;
    status = cuzk_ntt_create(&ntt, log2_size, &run, err);
    if (status == CUZK_OK) {
        cuzk_ntt_quotient(ntt, a, b, c, &run);
        cuzk_ntt_destroy(ntt);
    }
    cuzk_budget_free(run.budget, c, CUZK_PURPOSE_ABC, bytes);
    return status;
}

static cuzk_status cpu_multiply(struct cuzk_device *device, struct bls12_381_fr *out,
                                const struct cuzk_device_circuit *circuit,
                                const struct cuzk_witness *witness, int matrix,
                                struct cuzk_error *err)
{
    (void)err;
    cuzk_circuit_multiply(out, circuit->qap->circuit, witness, matrix, 0,
                          circuit->qap->circuit->rows, device->config.threads);
    return CUZK_OK;
}

static void cpu_fault(struct cuzk_device *device, enum cuzk_fault place)
{
    atomic_store(&((struct cpu_device *)device)->fault, (int)place);
}

static const struct cuzk_device_ops cpu_ops = {
    .backend = "cpu",
    .close = cpu_close,
    .circuit_load = cpu_circuit_load,
    .circuit_free = cpu_circuit_free,
    .key_load = cpu_key_load,
    .key_free = cuzk_cpu_key_free,
    .prove_needs = cuzk_cpu_prove_needs,
    .prove_start = cuzk_cpu_prove_start,
    .prove_finish = cuzk_cpu_prove_finish,
    .pending_free = cuzk_cpu_pending_free,
    .setup_start = cuzk_cpu_setup_start,
    .setup_inputs = cuzk_cpu_setup_inputs,
    .setup_g1 = cuzk_cpu_setup_g1,
    .setup_g2 = cuzk_cpu_setup_g2,
    .setup_key = cuzk_cpu_setup_key,
    .setup_end = cuzk_cpu_setup_end,
    .msm_g1 = cpu_msm_g1,
    .msm_g2 = cpu_msm_g2,
    .ntt = cpu_ntt,
    .quotient = cpu_quotient,
    .multiply = cpu_multiply,
    .fault = cpu_fault,
};

static cuzk_status cpu_open(struct cuzk_device **out, size_t index,
                            const struct cuzk_device_config *config, struct cuzk_error *err)
{
    (void)index;
    *out = NULL;
    struct cuzk_device_info *info;
    size_t count;
    char absent[120];
    cuzk_status status = cpu_list(&info, &count, absent, err);
    if (status != CUZK_OK)
        return status;
    struct cpu_device *cpu = cuzk_calloc(1, sizeof *cpu);
    if (cpu == NULL) {
        cuzk_free(info);
        return cuzk_fail(err, CUZK_E_MEMORY, "out of memory for the processor's device");
    }
    cpu->base = (struct cuzk_device){
        .ops = &cpu_ops, .info = *info, .config = *config, .memory = config->host};
    cpu->base.info.processors = cuzk_threads_count(config->threads);
    cuzk_free(info);
    *out = &cpu->base;
    return CUZK_OK;
}

const struct cuzk_backend cuzk_backend_cpu = {.name = "cpu", .list = cpu_list, .open = cpu_open};
