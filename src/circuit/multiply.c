/* Matrix products of a circuit: M·w for the prover, Mᵀ·x for the setup, and the check that names a
 * row that fails.
 *
 * Both products go instance by instance. For M·w the instance's variables are first brought to one
 * byte each: 0, 1, or "a field element", since nearly all are bits: a term then costs nothing, an
 * addition, or (for the few dense ones) a multiplication.
 */
#include "circuit/circuit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"

enum { KIND_ZERO, KIND_ONE, KIND_VALUE };

/* One instance's variables. */
struct locals {
    const struct cuzk_circuit *circuit;
    const struct cuzk_witness *witness;
    const struct cuzk_template *t;
    const struct cuzk_instance *instance;
    uint8_t kind[65536];
};

static void load(struct locals *l, const struct cuzk_circuit *circuit,
                 const struct cuzk_witness *witness, uint32_t number)
{
    const struct cuzk_instance *instance = &circuit->instances[number];
    const struct cuzk_template *t = &circuit->templates[instance->template_number];
    l->circuit = circuit;
    l->witness = witness;
    l->instance = instance;
    l->t = t;
    const uint32_t *ports = circuit->ports + instance->first_port;
    for (uint32_t i = 0; i < t->ports; i++) {
        uint32_t j = ports[i] / 2;
        if (ports[i] == 0)
            l->kind[i] = KIND_ONE;
        else if ((ports[i] & 1) != 0 && (circuit->boolean[j / 64] >> (j % 64) & 1) != 0)
            l->kind[i] = witness->bits[j / 64] >> (j % 64) & 1;
        else
            l->kind[i] = KIND_VALUE;
    }
    for (uint32_t i = 0; i < t->own; i++) {
        uint32_t j = instance->first_aux + i;
        if (t->boolean[i / 64] >> (i % 64) & 1)
            l->kind[t->ports + i] = witness->bits[j / 64] >> (j % 64) & 1;
        else
            l->kind[t->ports + i] = KIND_VALUE;
    }
}

static void value(struct bls12_381_fr *out, const struct locals *l, uint32_t variable)
{
    const struct cuzk_template *t = l->t;
    if (variable < t->ports) {
        cuzk_witness_get(out, l->witness, l->circuit,
                         l->circuit->ports[l->instance->first_port + variable]);
        return;
    }
    uint32_t i = variable - t->ports;
    uint64_t below = ((uint64_t)1 << (i % 64)) - 1;
    uint32_t rank = t->rank[i / 64] + (uint32_t)__builtin_popcountll(~t->boolean[i / 64] & below);
    *out = l->witness->values[l->instance->first_dense + rank];
}

/* Row `row` of the instance's template. */
static void combine(struct bls12_381_fr *out, const struct locals *l, int matrix, uint32_t row)
{
    const struct cuzk_term *terms = l->t->terms[matrix];
    const struct bls12_381_fr *coefficients = l->circuit->coefficients;
    struct bls12_381_fr sum = bls12_381_fr_zero;
    for (uint32_t i = l->t->start[matrix][row]; i < l->t->start[matrix][row + 1]; i++) {
        const struct bls12_381_fr *coefficient = &coefficients[terms[i].coefficient];
        uint8_t kind = l->kind[terms[i].variable];
        if (kind == KIND_ONE) {
            bls12_381_fr_add(&sum, &sum, coefficient);
        } else if (kind == KIND_VALUE) {
            struct bls12_381_fr x;
            value(&x, l, terms[i].variable);
            if (!bls12_381_fr_is_one(coefficient))
                bls12_381_fr_mul(&x, &x, coefficient);
            bls12_381_fr_add(&sum, &sum, &x);
        }
    }
    *out = sum;
}

/* The instance that holds the row: the last that does not begin behind it. */
static uint32_t find_instance(const struct cuzk_circuit *circuit, uint32_t row)
{
    uint32_t low = 0, high = circuit->instance_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (circuit->instances[middle].first_row <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

struct multiply {
    struct bls12_381_fr *out;
    const struct cuzk_circuit *circuit;
    const struct cuzk_witness *witness;
    int matrix;
    uint32_t first_instance, first_row, end_row;
};

static void multiply_instance(void *context, size_t i, unsigned worker)
{
    (void)worker;
    const struct multiply *p = context;
    struct locals l;
    uint32_t number = p->first_instance + (uint32_t)i;
    load(&l, p->circuit, p->witness, number);
    uint32_t begin = l.instance->first_row, end = begin + l.t->rows;
    uint32_t from = begin > p->first_row ? begin : p->first_row;
    uint32_t to = end < p->end_row ? end : p->end_row;
    for (uint32_t row = from; row < to; row++)
        combine(&p->out[row - p->first_row], &l, p->matrix, row - begin);
}

void cuzk_circuit_multiply(struct bls12_381_fr *out, const struct cuzk_circuit *circuit,
                           const struct cuzk_witness *witness, int matrix, uint32_t first_row,
                           uint32_t count, struct cuzk_threads *threads)
{
    if (count == 0)
        return;
    struct multiply p = {
        out,       circuit,          witness, matrix, find_instance(circuit, first_row),
        first_row, first_row + count};
    uint32_t last = find_instance(circuit, first_row + count - 1);
    cuzk_threads_for(threads, last - p.first_instance + 1, multiply_instance, &p);
}

struct check {
    const struct cuzk_circuit *circuit;
    const struct cuzk_witness *witness;
    _Atomic uint32_t row; /* first that fails */
};

static void check_instance(void *context, size_t i, unsigned worker)
{
    (void)worker;
    struct check *p = context;
    uint32_t first = p->circuit->instances[i].first_row;
    if (atomic_load(&p->row) < first)
        return;
    struct locals l;
    load(&l, p->circuit, p->witness, (uint32_t)i);
    for (uint32_t r = 0; r < l.t->rows; r++) {
        struct bls12_381_fr a, b, c;
        combine(&a, &l, CUZK_A, r);
        combine(&b, &l, CUZK_B, r);
        combine(&c, &l, CUZK_C, r);
        bls12_381_fr_mul(&a, &a, &b);
        if (!bls12_381_fr_eq(&a, &c)) {
            uint32_t row = first + r, seen = atomic_load(&p->row);
            while (row < seen && !atomic_compare_exchange_weak(&p->row, &seen, row))
                ;
            return;
        }
    }
}

cuzk_status cuzk_circuit_check(const struct cuzk_circuit *circuit,
                               const struct cuzk_witness *witness, uint32_t *row,
                               struct cuzk_threads *threads, struct cuzk_error *err)
{
    struct check p = {.circuit = circuit, .witness = witness, .row = UINT32_MAX};
    cuzk_threads_for(threads, circuit->instance_count, check_instance, &p);
    *row = atomic_load(&p.row);
    if (*row == UINT32_MAX)
        return CUZK_OK;
    uint32_t number = find_instance(circuit, *row);
    const struct cuzk_instance *instance = &circuit->instances[number];
    return cuzk_fail(err, CUZK_E_UNSATISFIED,
                     "circuit %s: constraint %u does not hold (row %u of \"%s\", instance %u)",
                     circuit->name, *row, *row - instance->first_row,
                     circuit->templates[instance->template_number].name, number);
}

/* Setup. Sums of one instance are made in memory of the worker's own, then added to the shared
 * vectors under one of many locks, each for a range of variables. */
enum { LOCKS = 64, LOCK_SHIFT = 14 };

struct transpose {
    struct bls12_381_fr **out;
    const struct cuzk_circuit *circuit;
    const struct bls12_381_fr *at;
    pthread_mutex_t lock[LOCKS];
};

static void add_run(struct transpose *p, int m, size_t first, const struct bls12_381_fr *sums,
                    uint32_t count)
{
    for (uint32_t i = 0; i < count;) {
        size_t stripe = (first + i) >> LOCK_SHIFT;
        size_t end = (stripe + 1) << LOCK_SHIFT;
        uint32_t stop = end - first < count ? (uint32_t)(end - first) : count;
        pthread_mutex_lock(&p->lock[stripe % LOCKS]);
        for (; i < stop; i++)
            bls12_381_fr_add(&p->out[m][first + i], &p->out[m][first + i], &sums[i]);
        pthread_mutex_unlock(&p->lock[stripe % LOCKS]);
    }
}

static void transpose_block(struct transpose *p, const struct cuzk_instance *instance,
                            const struct cuzk_template *t, int m, uint32_t low, uint32_t high)
{
    /* Sums for the local variables [low, high), 4,096 at most: 128 KiB of stack, so that this
     * cannot fail. */
    struct bls12_381_fr sums[4096];
    const struct bls12_381_fr *coefficients = p->circuit->coefficients;
    const struct cuzk_circuit *circuit = p->circuit;
    bool any = false;
    memset(sums, 0, (high - low) * sizeof *sums);
    for (uint32_t r = 0; r < t->rows; r++) {
        const struct bls12_381_fr *at = &p->at[instance->first_row + r];
        for (uint32_t i = t->start[m][r]; i < t->start[m][r + 1]; i++) {
            uint32_t v = t->terms[m][i].variable;
            if (v < low || v >= high)
                continue;
            const struct bls12_381_fr *coefficient = &coefficients[t->terms[m][i].coefficient];
            any = true;
            if (bls12_381_fr_is_one(coefficient)) {
                bls12_381_fr_add(&sums[v - low], &sums[v - low], at);
            } else {
                struct bls12_381_fr x;
                bls12_381_fr_mul(&x, coefficient, at);
                bls12_381_fr_add(&sums[v - low], &sums[v - low], &x);
            }
        }
    }
    if (!any)
        return;
    for (uint32_t v = low; v < high && v < t->ports; v++) {
        uint32_t tag = circuit->ports[instance->first_port + v];
        size_t index = tag & 1 ? circuit->inputs + (size_t)tag / 2 : tag / 2;
        if (!bls12_381_fr_is_zero(&sums[v - low]))
            add_run(p, m, index, &sums[v - low], 1);
    }
    uint32_t first = low > t->ports ? low : t->ports;
    if (first < high)
        add_run(p, m, (size_t)circuit->inputs + instance->first_aux + (first - t->ports),
                &sums[first - low], high - first);
}

static void transpose_instance(void *context, size_t i, unsigned worker)
{
    (void)worker;
    struct transpose *p = context;
    const struct cuzk_instance *instance = &p->circuit->instances[i];
    const struct cuzk_template *t = &p->circuit->templates[instance->template_number];
    uint32_t locals = t->ports + t->own;
    for (int m = 0; m < 3; m++)
        for (uint32_t low = 0; low < locals; low += 4096)
            transpose_block(p, instance, t, m, low, low + 4096 < locals ? low + 4096 : locals);
}

void cuzk_circuit_transpose_multiply(struct bls12_381_fr *out[3],
                                     const struct cuzk_circuit *circuit,
                                     const struct bls12_381_fr *at, struct cuzk_threads *threads)
{
    struct transpose p = {.out = out, .circuit = circuit, .at = at};
    for (int i = 0; i < LOCKS; i++)
        pthread_mutex_init(&p.lock[i], NULL);
    cuzk_threads_for(threads, circuit->instance_count, transpose_instance, &p);
    for (int i = 0; i < LOCKS; i++)
        pthread_mutex_destroy(&p.lock[i]);
}
