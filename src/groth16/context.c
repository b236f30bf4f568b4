/* Contexts, relations and keys: making, references, and the check of a key against a circuit. */
#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/os.h"
#include "circuit/dump.h"
#include "circuit/porep_circuit.h"
#include "groth16/groth16.h"

const char *cuzk_version(void)
{
    return CUZK_VERSION;
}

static void retain(_Atomic unsigned *references)
{
    (void)atomic_fetch_add_explicit(references, 1, memory_order_relaxed);
}

/* True for the last one, who frees. */
static bool release(_Atomic unsigned *references)
{
    return atomic_fetch_sub_explicit(references, 1, memory_order_acq_rel) == 1;
}

void cuzk_context_retain(struct cuzk_context *context)
{
    retain(&context->references);
}

void cuzk_relation_retain(struct cuzk_relation *relation)
{
    retain(&relation->references);
}

void cuzk_key_retain(struct cuzk_key *key)
{
    retain(&key->references);
}

cuzk_status cuzk_context_create(struct cuzk_context **out, const struct cuzk_options *options,
                                struct cuzk_error *err)
{
    static const struct cuzk_options defaults;
    *out = NULL;
    if (options == NULL)
        options = &defaults;
    struct cuzk_context *context = cuzk_calloc(1, sizeof *context);
    if (context == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "out of memory for a context");
    context->references = 1;
    /* The path is one for the process: transforms and decoders choose by it too. */
    cuzk_status status = options->isa != NULL ? cuzk_isa_force(options->isa, err) : CUZK_OK;
    if (status == CUZK_OK)
        status = cuzk_threads_create(&context->threads, options->threads, err);
    if (status == CUZK_OK)
        status = cuzk_budget_create(
            &context->host, "host",
            options->memory_limit != 0 ? options->memory_limit : cuzk_os_memory_limit(), NULL, err);
    if (status == CUZK_OK) {
        struct cuzk_device_config config = {.threads = context->threads,
                                            .host = context->host,
                                            .device_limit = options->device_memory_limit};
        status = cuzk_devices_open(&context->devices, &context->device_count, options->device,
                                   &config, err);
    }
    if (status == CUZK_OK)
        status = cuzk_dispatch_create(&context->dispatch, context->device_count, err);
    if (status != CUZK_OK) {
        cuzk_context_free(context);
        return status;
    }
    *out = context;
    return CUZK_OK;
}

void cuzk_context_free(struct cuzk_context *context)
{
    if (context == NULL || !release(&context->references))
        return;
    cuzk_devices_close(context->devices, context->device_count);
    cuzk_dispatch_destroy(context->dispatch);
    cuzk_budget_destroy(context->host);
    cuzk_threads_destroy(context->threads);
    cuzk_free(context);
}

const struct cuzk_device *cuzk_context_device(const struct cuzk_context *context)
{
    return context->devices[0];
}

size_t cuzk_context_device_count(const struct cuzk_context *context)
{
    return context->device_count;
}

const struct cuzk_device *cuzk_context_device_at(const struct cuzk_context *context, size_t i)
{
    return i < context->device_count ? context->devices[i] : NULL;
}

/* One device's call, in a thread of its own if there is one. */
struct call {
    cuzk_device_body *body;
    void *argument;
    size_t device;
    pthread_t thread;
    bool threaded;
    cuzk_status status;
    struct cuzk_error error;
};

static void *call_body(void *argument)
{
    struct call *call = argument;
    call->status = call->body(call->argument, call->device, &call->error);
    return NULL;
}

cuzk_status cuzk_on_each_device(const struct cuzk_context *context, cuzk_device_body *body,
                                void *argument, struct cuzk_error *err)
{
    const size_t count = context->device_count;
    if (count == 1)
        return body(argument, 0, err);
    struct call *calls = cuzk_calloc(count, sizeof *calls);
    if (calls == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "out of memory for %zu devices", count);
    for (size_t i = 0; i < count; i++) {
        struct call *call = &calls[i];
        *call = (struct call){.body = body, .argument = argument, .device = i};
        call->threaded = i + 1 < count && pthread_create(&call->thread, NULL, call_body, call) == 0;
        if (!call->threaded)
            (void)call_body(call);
    }
    cuzk_status status = CUZK_OK;
    for (size_t i = 0; i < count; i++) {
        struct call *call = &calls[i];
        if (call->threaded)
            (void)pthread_join(call->thread, NULL);
        if (call->status == CUZK_OK || status != CUZK_OK)
            continue;
        status =
            cuzk_fail_prefix(&call->error, call->status, "on %s", context->devices[i]->info.name);
        if (err != NULL)
            *err = call->error;
    }
    cuzk_free(calls);
    return status;
}

static cuzk_status load_circuit(void *argument, size_t i, struct cuzk_error *err)
{
    struct cuzk_relation *relation = argument;
    struct cuzk_device *device = relation->context->devices[i];
    return device->ops->circuit_load(device, &relation->loaded[i], relation->qap, err);
}

cuzk_status cuzk_relation_create(struct cuzk_relation **out, struct cuzk_context *context,
                                 struct cuzk_circuit *circuit, struct cuzk_error *err)
{
    *out = NULL;
    struct cuzk_relation *relation =
        cuzk_calloc(1, sizeof *relation + context->device_count * sizeof relation->loaded[0]);
    if (relation == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "%s: out of memory", circuit->name);
    relation->references = 1;
    relation->context = context;
    cuzk_context_retain(context);
    cuzk_status status = cuzk_qap_create(&relation->qap, circuit, context->host, err);
    if (status == CUZK_OK)
        status = cuzk_on_each_device(context, load_circuit, relation, err);
    if (status != CUZK_OK) {
        cuzk_relation_free(relation);
        return status;
    }
    relation->circuit = circuit;
    *out = relation;
    return CUZK_OK;
}

cuzk_status cuzk_relation_open(struct cuzk_relation **out, struct cuzk_witness **witness,
                               struct cuzk_context *context, const char *name,
                               struct cuzk_error *err)
{
    struct cuzk_circuit *circuit = NULL;
    struct cuzk_witness *values = NULL;
    *out = NULL;
    if (witness != NULL)
        *witness = NULL;
    const struct cuzk_porep_params *porep = cuzk_porep_by_circuit(name);
    cuzk_status status = porep != NULL ? cuzk_porep_circuit(&circuit, porep, context->host, err)
                                       : cuzk_dump_read(&circuit, witness != NULL ? &values : NULL,
                                                        name, context->host, err);
    if (status == CUZK_E_NOT_FOUND)
        status = cuzk_fail(err, status,
                           "%s: neither a circuit (porep-2KiB, porep-8MiB, porep-512MiB, "
                           "porep-32GiB, porep-64GiB, porep-mini32) nor a file",
                           name);
    if (status == CUZK_OK)
        status = cuzk_relation_create(out, context, circuit, err);
    if (status != CUZK_OK) {
        cuzk_witness_destroy(values);
        cuzk_circuit_destroy(circuit);
        return status;
    }
    if (witness != NULL)
        *witness = values;
    return CUZK_OK;
}

void cuzk_relation_free(struct cuzk_relation *relation)
{
    if (relation == NULL || !release(&relation->references))
        return;
    for (size_t i = 0; i < relation->context->device_count; i++)
        if (relation->loaded[i] != NULL)
            relation->loaded[i]->device->ops->circuit_free(relation->loaded[i]);
    cuzk_qap_destroy(relation->qap);
    cuzk_circuit_destroy(relation->circuit);
    cuzk_context_free(relation->context);
    cuzk_free(relation);
}

void cuzk_relation_describe(struct cuzk_relation_info *out, const struct cuzk_relation *relation)
{
    const struct cuzk_qap *qap = relation->qap;
    uint64_t h = ((uint64_t)1 << qap->log2_domain) - 1;
    *out = (struct cuzk_relation_info){.name = relation->circuit->name,
                                       .inputs = relation->circuit->inputs,
                                       .aux = relation->circuit->aux,
                                       .rows = relation->circuit->rows,
                                       .log2_domain = qap->log2_domain,
                                       .h = (uint32_t)h,
                                       .l = relation->circuit->aux,
                                       .a = qap->a.count,
                                       .b = qap->b.count};
    out->params_bytes = cuzk_vk_bytes(out->inputs) + 4 * (uint64_t)CUZK_SECTIONS +
                        CUZK_G1_BYTES * ((uint64_t)out->h + out->l + out->a + out->b) +
                        CUZK_G2_BYTES * (uint64_t)out->b;
}

void cuzk_witness_free(struct cuzk_witness *witness)
{
    cuzk_witness_destroy(witness);
}

void cuzk_witness_inputs(uint8_t *out, const struct cuzk_witness *witness)
{
    for (uint32_t i = 1; i < witness->input_count; i++)
        bls12_381_fr_to_le(out + (size_t)CUZK_FIELD_BYTES * (i - 1), &witness->inputs[i]);
}

/* A key is of a circuit only if every count agrees: inputs, domain, auxiliaries, and how many
 * variables are in A and in B. */
static cuzk_status check_counts(const struct cuzk_params *params, const struct cuzk_qap *qap,
                                struct cuzk_error *err)
{
    const struct cuzk_circuit *circuit = qap->circuit;
    const struct {
        const char *what;
        uint64_t key, circuit;
    } pairs[] = {
        {"inputs (ic)", params->vk.ic_count, circuit->inputs},
        {"points of h", params->count[CUZK_H], ((uint64_t)1 << qap->log2_domain) - 1},
        {"points of l", params->count[CUZK_L], circuit->aux},
        {"points of a", params->count[CUZK_QUERY_A], qap->a.count},
        {"points of b_g1", params->count[CUZK_QUERY_B1], qap->b.count},
        {"points of b_g2", params->count[CUZK_QUERY_B2], qap->b.count},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (pairs[i].key != pairs[i].circuit)
            return cuzk_fail(
                err, CUZK_E_MISMATCH,
                "%s: a key of another circuit: it has %" PRIu64 " %s, %s needs %" PRIu64
                "; give the key that was made for this circuit",
                params->path, pairs[i].key, pairs[i].what, circuit->name, pairs[i].circuit);
    return CUZK_OK;
}

struct cuzk_key *cuzk_key_create(struct cuzk_relation *relation)
{
    struct cuzk_key *key =
        cuzk_calloc(1, sizeof *key + relation->context->device_count * sizeof key->loaded[0]);
    if (key == NULL)
        return NULL;
    key->references = 1;
    key->relation = relation;
    cuzk_relation_retain(relation);
    return key;
}

struct key_load {
    struct cuzk_key *key;
    enum cuzk_residency residency;
};

static cuzk_status load_key(void *argument, size_t i, struct cuzk_error *err)
{
    const struct key_load *load = argument;
    struct cuzk_key *key = load->key;
    struct cuzk_device *device = key->relation->context->devices[i];
    return device->ops->key_load(device, &key->loaded[i], key->params, load->residency, err);
}

cuzk_status cuzk_key_open(struct cuzk_key **out, struct cuzk_relation *relation, const char *path,
                          enum cuzk_key_mode mode, struct cuzk_error *err)
{
    *out = NULL;
    struct cuzk_key *key = cuzk_key_create(relation);
    if (key == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "%s: out of memory", path);
    cuzk_status status = cuzk_params_open(&key->params, path, err);
    if (status == CUZK_OK)
        status = check_counts(key->params, relation->qap, err);
    if (status == CUZK_OK) {
        struct key_load load = {key,
                                mode == CUZK_KEY_DECODED ? CUZK_KEY_RESIDENT : CUZK_KEY_STREAM};
        status = cuzk_on_each_device(relation->context, load_key, &load, err);
    }
    if (status != CUZK_OK) {
        cuzk_key_close(key);
        return status;
    }
    key->vk = &key->params->vk;
    *out = key;
    return CUZK_OK;
}

void cuzk_key_close(struct cuzk_key *key)
{
    if (key == NULL || !release(&key->references))
        return;
    for (size_t i = 0; i < key->relation->context->device_count; i++)
        if (key->loaded[i] != NULL)
            key->loaded[i]->device->ops->key_free(key->loaded[i]);
    cuzk_params_close(key->params);
    cuzk_vk_destroy(&key->made);
    cuzk_relation_free(key->relation);
    cuzk_free(key);
}

void cuzk_key_proof_memory(const struct cuzk_key *key, uint64_t *host, uint64_t *device)
{
    const struct cuzk_relation *relation = key->relation;
    *host = 0;
    *device = 0;
    for (size_t i = 0; i < relation->context->device_count; i++) {
        uint64_t bytes[2];
        key->loaded[i]->device->ops->prove_needs(relation->loaded[i], key->loaded[i], bytes);
        *host = bytes[0] > *host ? bytes[0] : *host;
        *device = bytes[1] > *device ? bytes[1] : *device;
    }
}
