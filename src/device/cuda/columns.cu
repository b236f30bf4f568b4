// The transposed matrices times a vector (setup_vectors.h): one block an instance, one thread a
// column. Own variables belong to one instance alone and are stored; what comes to ports is kept
// apart, and summed run by run in order of the variables (sorted once), so nothing is added
// atomically and the result is the same in every run.
#include <cub/device/device_radix_sort.cuh>

#include "device/cuda/device.cuh"
#include "device/cuda/kernels/fr.cuh"
#include "device/cuda/setup_vectors.h"

using namespace cuzk;

namespace {

struct column_entry { // a term: row of the template, number of its coefficient
    u32 row, coefficient;
};
struct column_template {
    u32 ports, own;
    u32 start[3], entry[3]; // by matrix, into starts and entries
};

constexpr int column_threads = 256;

__global__ void __launch_bounds__(column_threads)
    columns(uint4 *out, uint4 *port_sums, const column_template *templates, const u32 *all_starts,
            const column_entry *entries, const cuzk_layout_instance *instances,
            const uint4 *coefficients, const uint4 *at, u32 inputs, int which)
{
    const cuzk_layout_instance instance = instances[blockIdx.x];
    const column_template t = templates[instance.template_number];
    const u32 *starts = all_starts + t.start[which];
    const column_entry *list = entries + t.entry[which];
    for (u32 v = threadIdx.x; v < t.ports + t.own; v += column_threads) {
        fr sum = fr_zero();
        for (u32 k = starts[v], end = starts[v + 1]; k < end; k++) {
            fr x = load_fr(at + 2 * (size_t)(instance.first_row + list[k].row));
            sum = add(sum, mul(x, load_fr(coefficients + 2 * (size_t)list[k].coefficient)));
        }
        uint4 *to = v < t.ports ? port_sums + 2 * (size_t)(instance.first_port + v)
                                : out + 2 * ((size_t)inputs + instance.first_aux + (v - t.ports));
        store_fr(to, canonical(sum));
    }
}

__global__ void count_up(u32 *out, u32 n)
{
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = i;
}

// Sorted by tag: the first of each run adds the run to its variable.
__global__ void add_ports(uint4 *out, const uint4 *port_sums, const u32 *tags, const u32 *order,
                          u32 n, u32 inputs)
{
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || (i > 0 && tags[i - 1] == tags[i]))
        return;
    u32 tag = tags[i];
    size_t slot = (tag & 1) ? (size_t)inputs + (tag >> 1) : tag >> 1;
    fr sum = load_fr(out + 2 * slot);
    for (; i < n && tags[i] == tag; i++)
        sum = add(sum, load_fr(port_sums + 2 * (size_t)order[i]));
    store_fr(out + 2 * slot, canonical(sum));
}

// The host's arrays while they are put together.
struct packing {
    column_template *templates = nullptr;
    u32 *starts = nullptr;
    column_entry *entries = nullptr;
    u64 start_count = 0, entry_count = 0;
    ~packing()
    {
        cuzk_free(templates);
        cuzk_free(starts);
        cuzk_free(entries);
    }
};

cuzk_status pack(packing *p, const struct cuzk_circuit *circuit, struct cuzk_error *err)
{
    p->templates =
        (column_template *)cuzk_calloc(circuit->template_count + 1, sizeof *p->templates);
    if (p->templates == nullptr)
        return cuzk_fail(err, CUZK_E_MEMORY, "%s: out of memory for its columns", circuit->name);
    for (u32 i = 0; i < circuit->template_count; i++) {
        const struct cuzk_template *t = &circuit->templates[i];
        p->templates[i].ports = t->ports;
        p->templates[i].own = t->own;
        for (int m = 0; m < 3; m++) {
            p->templates[i].start[m] = (u32)p->start_count;
            p->templates[i].entry[m] = (u32)p->entry_count;
            p->start_count += (u64)t->ports + t->own + 1;
            p->entry_count += t->start[m][t->rows];
        }
    }
    p->starts = (u32 *)cuzk_calloc(p->start_count + 1, sizeof *p->starts);
    p->entries = (column_entry *)cuzk_calloc(p->entry_count + 1, sizeof *p->entries);
    if (p->starts == nullptr || p->entries == nullptr)
        return cuzk_fail(err, CUZK_E_MEMORY, "%s: out of memory for its columns", circuit->name);
    for (u32 i = 0; i < circuit->template_count; i++)
        for (int m = 0; m < 3; m++) {
            const struct cuzk_template *t = &circuit->templates[i];
            u32 *s = p->starts + p->templates[i].start[m], locals = t->ports + t->own;
            column_entry *e = p->entries + p->templates[i].entry[m];
            for (u32 k = 0; k < t->start[m][t->rows]; k++)
                s[t->terms[m][k].variable + 1]++;
            for (u32 v = 0; v < locals; v++)
                s[v + 1] += s[v];
            // filling moves each start to its end; a shift brings them back
            for (u32 row = 0; row < t->rows; row++)
                for (u32 k = t->start[m][row]; k < t->start[m][row + 1]; k++)
                    e[s[t->terms[m][k].variable]++] = {row, t->terms[m][k].coefficient};
            memmove(s + 1, s, locals * sizeof *s);
            s[0] = 0;
        }
    return CUZK_OK;
}

} // namespace

struct cuzk_cuda_columns {
    struct cuzk_cuda *device;
    const struct cuzk_circuit *circuit;
    const struct cuzk_layout *layout;
    void *buffers[5]; // templates, starts, entries, tags sorted, their ports' numbers
};

extern "C" void cuzk_cuda_columns_destroy(struct cuzk_cuda_columns *c)
{
    if (c == nullptr)
        return;
    for (void *p : c->buffers)
        cuzk_cuda_free(c->device, p);
    cuzk_free(c);
}

static cuzk_status load_columns(struct cuzk_cuda_columns *c, struct cuzk_error *err)
{
    struct cuzk_cuda *device = c->device;
    const u32 ports = c->circuit->port_count;
    packing p;
    CUZK_TRY(make_current(device, err));
    CUZK_TRY(pack(&p, c->circuit, err));
    const struct {
        const void *data;
        u64 bytes;
    } arrays[5] = {{p.templates, c->circuit->template_count * sizeof *p.templates},
                   {p.starts, p.start_count * sizeof *p.starts},
                   {p.entries, p.entry_count * sizeof *p.entries},
                   {nullptr, ports * sizeof(u32)},
                   {nullptr, ports * sizeof(u32)}};
    for (int i = 0; i < 5; i++) {
        CUZK_TRY(cuzk_cuda_alloc(device, &c->buffers[i], CUZK_PURPOSE_SETUP,
                                 arrays[i].bytes != 0 ? arrays[i].bytes : 16, err));
        if (arrays[i].data != nullptr && arrays[i].bytes != 0)
            CUZK_TRY(cuzk_cuda_upload(device, c->buffers[i], arrays[i].data, arrays[i].bytes, err));
    }
    if (ports == 0)
        return CUZK_OK;
    scratch memory(device, CUZK_PURPOSE_SETUP);
    u32 *numbers = nullptr, *tags = (u32 *)c->buffers[3], *order = (u32 *)c->buffers[4];
    uint8_t *space = nullptr;
    size_t bytes = 0;
    CUZK_TRY(memory.get(&numbers, ports, err));
    CUZK_CUDA(cub::DeviceRadixSort::SortPairs(nullptr, bytes, c->layout->ports, tags, numbers,
                                              order, (int)ports));
    CUZK_TRY(memory.get(&space, bytes, err));
    count_up<<<blocks_for(ports, 256), 256, 0, device->main>>>(numbers, ports);
    CUZK_LAUNCHED(count_up);
    CUZK_CUDA(cub::DeviceRadixSort::SortPairs(space, bytes, c->layout->ports, tags, numbers, order,
                                              (int)ports, 0, 32, device->main));
    CUZK_CUDA(cudaStreamSynchronize(device->main));
    memory.finished = true;
    return CUZK_OK;
}

extern "C" cuzk_status cuzk_cuda_columns_create(struct cuzk_cuda_columns **out,
                                                struct cuzk_cuda *device,
                                                const struct cuzk_circuit *circuit,
                                                const struct cuzk_layout *layout,
                                                struct cuzk_error *err)
{
    *out = nullptr;
    struct cuzk_cuda_columns *c = (struct cuzk_cuda_columns *)cuzk_calloc(1, sizeof *c);
    if (c == nullptr)
        return cuzk_fail(err, CUZK_E_MEMORY, "%s: out of memory", circuit->name);
    c->device = device;
    c->circuit = circuit;
    c->layout = layout;
    cuzk_status status = load_columns(c, err);
    if (status != CUZK_OK) {
        cuzk_cuda_columns_destroy(c);
        return status;
    }
    *out = c;
    return CUZK_OK;
}

extern "C" cuzk_status cuzk_cuda_columns_multiply(struct cuzk_cuda *device, void *out,
                                                  const struct cuzk_cuda_columns *c, const void *at,
                                                  int which, struct cuzk_error *err)
{
    const struct cuzk_circuit *k = c->circuit;
    CUZK_TRY(make_current(device, err));
    scratch memory(device, CUZK_PURPOSE_SETUP);
    uint4 *port_sums = nullptr;
    CUZK_TRY(memory.get(&port_sums, 2 * ((u64)k->port_count + 1), err));
    CUZK_CUDA(cudaMemsetAsync(out, 0, ((u64)k->inputs + k->aux) * sizeof(struct bls12_381_fr),
                              device->main));
    if (k->instance_count != 0) {
        columns<<<k->instance_count, column_threads, 0, device->main>>>(
            (uint4 *)out, port_sums, (const column_template *)c->buffers[0],
            (const u32 *)c->buffers[1], (const column_entry *)c->buffers[2], c->layout->instances,
            (const uint4 *)c->layout->coefficients, (const uint4 *)at, k->inputs, which);
        CUZK_LAUNCHED(columns);
    }
    if (k->port_count != 0) {
        add_ports<<<blocks_for(k->port_count, 128), 128, 0, device->main>>>(
            (uint4 *)out, port_sums, (const u32 *)c->buffers[3], (const u32 *)c->buffers[4],
            k->port_count, k->inputs);
        CUZK_LAUNCHED(add_ports);
    }
    CUZK_CUDA(cudaStreamSynchronize(device->main));
    memory.finished = true;
    return CUZK_OK;
}
