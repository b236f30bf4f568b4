/* Plans, orders and the quotient; ntt_kernels.c does the work. */
#include "poly/ntt.h"

#include "base/alloc.h"
#include "field/isa.h"
#include "poly/ntt_kernels.h"

typedef struct bls12_381_fr fr;

static void make_tables(struct cuzk_ntt *ntt, unsigned log2)
{
    for (int inverse = 0; inverse < 2; inverse++) {
        fr *natural = ntt->table[inverse ? NTT_NATURAL_INVERSE : NTT_NATURAL];
        fr *reversed = ntt->table[inverse ? NTT_REVERSED_INVERSE : NTT_REVERSED];
        for (unsigned l = 0; l < log2; l++) {
            size_t count = (size_t)1 << l;
            fr power = bls12_381_fr_one;
            for (size_t j = 0; j < count; j++) {
                natural[count + j] = power;
                reversed[count + ntt_reverse(j, l)] = power;
                bls12_381_fr_mul(&power, &power, &ntt->root[inverse][l + 1]);
            }
        }
    }
}

cuzk_status cuzk_ntt_create(struct cuzk_ntt **out, unsigned log2_size, const struct cuzk_run *run,
                            struct cuzk_error *err)
{
    *out = NULL;
    if (log2_size > BLS12_381_FR_TWO_ADICITY)
        return cuzk_fail(err, CUZK_E_ARGUMENT,
                         "a transform of 2^%u points: the field has roots of unity of order 2^%d "
                         "at most",
                         log2_size, BLS12_381_FR_TWO_ADICITY);
    struct cuzk_ntt *ntt = cuzk_calloc(1, sizeof *ntt);
    if (ntt == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "out of memory for the plan of a transform");
    unsigned log2 = log2_size < NTT_ROW_LOG2 ? log2_size : NTT_ROW_LOG2;
    size_t length = (size_t)1 << log2;
    ntt->log2_size = log2_size;
    ntt->budget = run != NULL ? run->budget : NULL;
    ntt->bytes = NTT_TABLES * length * sizeof(fr);
    void *memory;
    cuzk_status status = cuzk_budget_alloc(ntt->budget, &memory, CUZK_PURPOSE_NTT, ntt->bytes, err);
    if (status != CUZK_OK) {
        cuzk_free(ntt);
        return status;
    }
    for (int i = 0; i < NTT_TABLES; i++)
        ntt->table[i] = (fr *)memory + (size_t)i * length;
    ntt->root[0][BLS12_381_FR_TWO_ADICITY] = (fr){{BLS12_381_FR_ROOT_OF_UNITY}};
    ntt->root[1][BLS12_381_FR_TWO_ADICITY] = (fr){{BLS12_381_FR_ROOT_OF_UNITY_INVERSE}};
    for (int inverse = 0; inverse < 2; inverse++)
        for (unsigned k = BLS12_381_FR_TWO_ADICITY; k-- > 0;)
            bls12_381_fr_sqr(&ntt->root[inverse][k], &ntt->root[inverse][k + 1]);
    make_tables(ntt, log2);
    ntt->kernels = CUZK_ISA_SELECT(cuzk_isa_name(), &ntt_kernels_portable, &ntt_kernels_x86_64_adx);
    *out = ntt;
    return CUZK_OK;
}

void cuzk_ntt_destroy(struct cuzk_ntt *ntt)
{
    if (ntt == NULL)
        return;
    cuzk_budget_free(ntt->budget, ntt->table[0], CUZK_PURPOSE_NTT, ntt->bytes);
    cuzk_free(ntt);
}

/* ---- natural order on both sides: an exchange in tiles, which only callers that ask for it pay
 * for; the networks have one side reversed ---- */

struct exchange {
    fr *a;
    unsigned k;
};

static void read_tile(fr *tile, const fr *a, unsigned top, size_t middle)
{
    for (size_t high = 0; high < NTT_TILE; high++)
        for (size_t low = 0; low < NTT_TILE; low++)
            tile[ntt_reverse(low, NTT_TILE_LOG2) * NTT_TILE + ntt_reverse(high, NTT_TILE_LOG2)] =
                a[high << top | middle << NTT_TILE_LOG2 | low];
}

static void write_tile(fr *a, const fr *tile, unsigned top, size_t middle)
{
    for (size_t row = 0; row < NTT_TILE; row++)
        memcpy(&a[row << top | middle << NTT_TILE_LOG2], &tile[row * NTT_TILE],
               NTT_TILE * sizeof *tile);
}

static void exchange_tile(void *context, size_t middle, unsigned worker)
{
    (void)worker;
    const struct exchange *e = context;
    unsigned top = e->k - NTT_TILE_LOG2;
    size_t partner = ntt_reverse(middle, top - NTT_TILE_LOG2);
    if (partner < middle)
        return; /* done with its partner */
    fr tile[NTT_TILE * NTT_TILE], other[NTT_TILE * NTT_TILE];
    read_tile(tile, e->a, top, middle);
    read_tile(other, e->a, top, partner);
    write_tile(e->a, tile, top, partner);
    if (partner != middle)
        write_tile(e->a, other, top, middle);
}

static void exchange(fr *a, unsigned k, struct cuzk_threads *threads)
{
    if (k >= 2 * NTT_TILE_LOG2) {
        struct exchange e = {.a = a, .k = k};
        cuzk_threads_for(threads, (size_t)1 << (k - 2 * NTT_TILE_LOG2), exchange_tile, &e);
        return;
    }
    for (size_t i = 0; i < (size_t)1 << k; i++) {
        size_t j = ntt_reverse(i, k);
        if (i < j) {
            fr t = a[i];
            a[i] = a[j];
            a[j] = t;
        }
    }
}

void cuzk_ntt_forward(const struct cuzk_ntt *ntt, struct bls12_381_fr *a, enum cuzk_order out_order,
                      const struct bls12_381_fr *shift, const struct cuzk_run *run)
{
    struct cuzk_threads *threads = run != NULL ? run->threads : NULL;
    ntt->kernels->x_forward(ntt, a, ntt->log2_size, shift, threads);
    if (out_order == CUZK_ORDER_NATURAL)
        exchange(a, ntt->log2_size, threads);
}

void cuzk_ntt_inverse(const struct cuzk_ntt *ntt, struct bls12_381_fr *a, enum cuzk_order in_order,
                      const struct bls12_381_fr *shift, const struct cuzk_run *run)
{
    struct cuzk_threads *threads = run != NULL ? run->threads : NULL;
    fr inverse;
    if (shift != NULL) {
        bls12_381_fr_inv(&inverse, shift);
        shift = &inverse;
    }
    if (in_order == CUZK_ORDER_NATURAL)
        exchange(a, ntt->log2_size, threads);
    ntt->kernels->x_inverse(ntt, a, ntt->log2_size, shift, ntt->log2_size, threads);
}

/* All in network y: values stay in natural order, coefficients in reversed order, and the last
 * difference puts h where it belongs. Divisions by n are put off: c holds n·C, the product
 * n^2·(a'b') is divided by n^2, its inverse transform gives n·P, and h = (n·C - n·P)/2n. */
void cuzk_ntt_quotient(const struct cuzk_ntt *ntt, struct bls12_381_fr *a, struct bls12_381_fr *b,
                       struct bls12_381_fr *c, const struct cuzk_run *run)
{
    struct cuzk_threads *threads = run != NULL ? run->threads : NULL;
    const struct ntt_kernels *kernels = ntt->kernels;
    unsigned k = ntt->log2_size;
    const fr *zeta = &ntt->root[0][k + 1], *zeta_inverse = &ntt->root[1][k + 1];
    kernels->multiply(c, a, b, k, 0, threads);
    kernels->y_inverse(ntt, a, k, NULL, 0, threads);
    kernels->y_inverse(ntt, b, k, NULL, 0, threads);
    kernels->y_inverse(ntt, c, k, NULL, 0, threads);
    kernels->y_forward(ntt, a, k, zeta, threads);
    kernels->y_forward(ntt, b, k, zeta, threads);
    kernels->multiply(b, a, b, k, 2 * k, threads);
    kernels->y_inverse(ntt, b, k, zeta_inverse, 0, threads);
    kernels->subtract_reversed(a, c, b, k, k + 1, threads);
}
