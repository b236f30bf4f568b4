/* The transforms themselves, compiled once for each instruction-set path.
 *
 * A transform of n = R·S points, seen as a matrix of R rows of S, is one pass over the columns
 * (R points each, gathered a few columns at a time into a buffer that stays in the second-level
 * cache) and one over the rows. Rows longer than 2^NTT_ROW_LOG2 are split again. So a vector of
 * 2^22 is read and written twice a transform, and never permuted.
 *
 * Instead of multiplying by twiddles between the passes, the second pass transforms on a shifted
 * domain: row j of network x evaluates at d·w^rev(j)·(w^R)^e, column s of network y at
 * d·w^s·(w^S)^e. A shift d scales level l's twiddles by d^(size/2^(l+1)), so a row's or column's
 * table costs one product an element: that and the shift of a coset come together, and no table is
 * longer than a row.
 */
#include "poly/ntt_kernels.h"

#include "field/isa.h"

typedef struct bls12_381_fr fr;

/* Columns in flight: 128 bytes of each row. */
#define WIDTH 4

/* a / 2^s for s <= 32, not by a product but by adding the multiple of p that makes the number
 * divisible, which is -a mod 2^s because p = 1 mod 2^32. */
static inline void fr_shift_down(fr *r, const fr *a, unsigned s)
{
    _Static_assert((BLS12_381_FR_INV & 0xffffffff) == 0xffffffff, "p = 1 mod 2^32");
    if (s == 0) {
        *r = *a;
        return;
    }
    uint64_t m = (0 - a->l[0]) & (((uint64_t)1 << s) - 1), low[5];
    cuzk_u128 x = 0;
    for (int i = 0; i < 4; i++) {
        x += (cuzk_u128)m * bls12_381_fr_modulus[i] + a->l[i];
        low[i] = (uint64_t)x;
        x >>= 64;
    }
    low[4] = (uint64_t)x;
    for (int i = 0; i < 4; i++)
        r->l[i] = low[i] >> s | low[i + 1] << (64 - s);
}

/* For any s <= 64. */
static inline void fr_shift_down_far(fr *r, const fr *a, unsigned s)
{
    unsigned first = s < 32 ? s : 32;
    fr_shift_down(r, a, first);
    fr_shift_down(r, r, s - first);
}

/* ---- butterflies over `width` columns that lie side by side ---- */

/* (a, b) = (a + t b, a - t b) */
static inline void butterfly(fr *a, fr *b, const fr *t)
{
    fr u;
    bls12_381_fr_mul(&u, b, t);
    bls12_381_fr_sub(b, a, &u);
    bls12_381_fr_add(a, a, &u);
}

/* Its inverse without the factor 2: (a, b) = (a + b, t (a - b)) */
static inline void butterfly_inverse(fr *a, fr *b, const fr *t)
{
    fr u;
    bls12_381_fr_sub(&u, a, b);
    bls12_381_fr_add(a, a, b);
    bls12_381_fr_mul(b, &u, t);
}

/* Twiddle j of a level whose table begins at t: one for all columns, or one for each. */
#define TWIDDLE(t, j, column, own) (&(t)[(own) ? (j) * (own) + (column) : (j)])

/* The four networks on 2^k points: point i of column c is a[i·width + c]; own = 0 when `table`
 * serves every column, else width. */
CUZK_INLINE void network_x_forward(fr *a, unsigned k, size_t width, const fr *table, size_t own)
{
    for (unsigned l = 0; l < k; l++) {
        size_t half = (size_t)1 << (k - l - 1), blocks = (size_t)1 << l;
        const fr *t = table + blocks * (own ? own : 1);
        for (size_t j = 0; j < blocks; j++)
            for (size_t i = 2 * half * j; i < 2 * half * j + half; i++)
                for (size_t c = 0; c < width; c++)
                    butterfly(&a[i * width + c], &a[(i + half) * width + c], TWIDDLE(t, j, c, own));
    }
}

CUZK_INLINE void network_x_inverse(fr *a, unsigned k, size_t width, const fr *table, size_t own)
{
    for (unsigned l = k; l-- > 0;) {
        size_t half = (size_t)1 << (k - l - 1), blocks = (size_t)1 << l;
        const fr *t = table + blocks * (own ? own : 1);
        for (size_t j = 0; j < blocks; j++)
            for (size_t i = 2 * half * j; i < 2 * half * j + half; i++)
                for (size_t c = 0; c < width; c++)
                    butterfly_inverse(&a[i * width + c], &a[(i + half) * width + c],
                                      TWIDDLE(t, j, c, own));
    }
}

CUZK_INLINE void network_y_forward(fr *a, unsigned k, size_t width, const fr *table, size_t own)
{
    for (unsigned l = 0; l < k; l++) {
        size_t half = (size_t)1 << l, n = (size_t)1 << k;
        const fr *t = table + half * (own ? own : 1);
        for (size_t first = 0; first < n; first += 2 * half)
            for (size_t j = 0; j < half; j++)
                for (size_t c = 0; c < width; c++)
                    butterfly(&a[(first + j) * width + c], &a[(first + half + j) * width + c],
                              TWIDDLE(t, j, c, own));
    }
}

CUZK_INLINE void network_y_inverse(fr *a, unsigned k, size_t width, const fr *table, size_t own)
{
    for (unsigned l = k; l-- > 0;) {
        size_t half = (size_t)1 << l, n = (size_t)1 << k;
        const fr *t = table + half * (own ? own : 1);
        for (size_t first = 0; first < n; first += 2 * half)
            for (size_t j = 0; j < half; j++)
                for (size_t c = 0; c < width; c++)
                    butterfly_inverse(&a[(first + j) * width + c],
                                      &a[(first + half + j) * width + c], TWIDDLE(t, j, c, own));
    }
}

/* Column `column` (of `stride`) of a table for 2^k points shifted by d. */
CUZK_INLINE void shift_table(fr *out, size_t stride, size_t column, const fr *table, unsigned k,
                             const fr *d)
{
    fr e = *d;
    for (unsigned l = k; l-- > 0;) {
        size_t count = (size_t)1 << l;
        for (size_t j = count; j < 2 * count; j++)
            bls12_381_fr_mul(&out[j * stride + column], &table[j], &e);
        bls12_381_fr_sqr(&e, &e);
    }
}

/* ---- passes ---- */

struct pass {
    const struct cuzk_ntt *ntt;
    fr *a;
    unsigned rows_log2, columns_log2;
    const fr *d;     /* shift (inverse transforms: its inverse), NULL: 1 */
    const fr *table; /* of the side that has one for all its lines */
    unsigned halvings;
};

/* d·w^e, w of order 2^k or its inverse */
static void line_shift(fr *r, const struct pass *p, bool inverse, size_t e)
{
    bls12_381_fr_pow_u64(r, &p->ntt->root[inverse][p->rows_log2 + p->columns_log2], e);
    if (p->d != NULL)
        bls12_381_fr_mul(r, r, p->d);
}

static void gather(fr *buffer, const fr *a, size_t rows, size_t stride)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t c = 0; c < WIDTH; c++)
            buffer[i * WIDTH + c] = a[i * stride + c];
}

static void scatter(fr *a, const fr *buffer, size_t rows, size_t stride, unsigned halvings)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t c = 0; c < WIDTH; c++)
            fr_shift_down(&a[i * stride + c], &buffer[i * WIDTH + c], halvings);
}

#define COLUMN_BUFFER(name) fr name[WIDTH << NTT_COLUMN_LOG2] __attribute__((aligned(64)))

static void x_forward_columns(void *context, size_t block, unsigned worker)
{
    (void)worker;
    const struct pass *p = context;
    COLUMN_BUFFER(buffer);
    size_t rows = (size_t)1 << p->rows_log2, stride = (size_t)1 << p->columns_log2;
    gather(buffer, p->a + block * WIDTH, rows, stride);
    network_x_forward(buffer, p->rows_log2, WIDTH, p->table, 0);
    scatter(p->a + block * WIDTH, buffer, rows, stride, 0);
}

static void x_inverse_columns(void *context, size_t block, unsigned worker)
{
    (void)worker;
    const struct pass *p = context;
    COLUMN_BUFFER(buffer);
    size_t rows = (size_t)1 << p->rows_log2, stride = (size_t)1 << p->columns_log2;
    gather(buffer, p->a + block * WIDTH, rows, stride);
    network_x_inverse(buffer, p->rows_log2, WIDTH, p->table, 0);
    scatter(p->a + block * WIDTH, buffer, rows, stride, p->halvings);
}

static void y_columns(const struct pass *p, size_t block, bool inverse)
{
    COLUMN_BUFFER(buffer);
    COLUMN_BUFFER(table);
    size_t rows = (size_t)1 << p->rows_log2, stride = (size_t)1 << p->columns_log2;
    fr d;
    line_shift(&d, p, inverse, block * WIDTH);
    for (size_t c = 0; c < WIDTH; c++) {
        shift_table(table, WIDTH, c, p->ntt->table[inverse ? NTT_NATURAL_INVERSE : NTT_NATURAL],
                    p->rows_log2, &d);
        bls12_381_fr_mul(&d, &d, &p->ntt->root[inverse][p->rows_log2 + p->columns_log2]);
    }
    gather(buffer, p->a + block * WIDTH, rows, stride);
    if (inverse)
        network_y_inverse(buffer, p->rows_log2, WIDTH, table, WIDTH);
    else
        network_y_forward(buffer, p->rows_log2, WIDTH, table, WIDTH);
    scatter(p->a + block * WIDTH, buffer, rows, stride, 0);
}

static void y_forward_columns(void *context, size_t block, unsigned worker)
{
    (void)worker;
    y_columns(context, block, false);
}

static void y_inverse_columns(void *context, size_t block, unsigned worker)
{
    (void)worker;
    y_columns(context, block, true);
}

static void x_forward(const struct cuzk_ntt *ntt, fr *a, unsigned k, const fr *d,
                      struct cuzk_threads *threads);
static void x_inverse(const struct cuzk_ntt *ntt, fr *a, unsigned k, const fr *d, unsigned halvings,
                      struct cuzk_threads *threads);
static void y_forward(const struct cuzk_ntt *ntt, fr *a, unsigned k, const fr *d,
                      struct cuzk_threads *threads);
static void y_inverse(const struct cuzk_ntt *ntt, fr *a, unsigned k, const fr *d, unsigned halvings,
                      struct cuzk_threads *threads);

static void x_forward_row(void *context, size_t row, unsigned worker)
{
    (void)worker;
    const struct pass *p = context;
    fr d;
    line_shift(&d, p, false, ntt_reverse(row, p->rows_log2));
    x_forward(p->ntt, p->a + (row << p->columns_log2), p->columns_log2, &d, NULL);
}

static void x_inverse_row(void *context, size_t row, unsigned worker)
{
    (void)worker;
    const struct pass *p = context;
    fr d;
    line_shift(&d, p, true, ntt_reverse(row, p->rows_log2));
    x_inverse(p->ntt, p->a + (row << p->columns_log2), p->columns_log2, &d, 0, NULL);
}

/* Rows of network y share their table when they are short enough to have one. */
static void y_forward_row(void *context, size_t row, unsigned worker)
{
    (void)worker;
    const struct pass *p = context;
    fr *a = p->a + (row << p->columns_log2);
    if (p->table != NULL)
        network_y_forward(a, p->columns_log2, 1, p->table, 0);
    else
        y_forward(p->ntt, a, p->columns_log2, p->d, NULL);
}

static void halve_row(fr *a, unsigned k, unsigned halvings)
{
    if (halvings != 0)
        for (size_t i = 0; i < (size_t)1 << k; i++)
            fr_shift_down(&a[i], &a[i], halvings);
}

static void y_inverse_row(void *context, size_t row, unsigned worker)
{
    (void)worker;
    const struct pass *p = context;
    fr *a = p->a + (row << p->columns_log2);
    if (p->table != NULL) {
        network_y_inverse(a, p->columns_log2, 1, p->table, 0);
        halve_row(a, p->columns_log2, p->halvings);
    } else {
        y_inverse(p->ntt, a, p->columns_log2, p->d, p->halvings, NULL);
    }
}

/* ---- transforms ---- */

#define ROW_TABLE(name) fr name[(size_t)1 << NTT_ROW_LOG2] __attribute__((aligned(64)))

/* The table for 2^k points shifted by d: the plan's own where d is 1, else made in memory. */
static const fr *table_for(const struct cuzk_ntt *ntt, enum ntt_table which, unsigned k,
                           const fr *d, fr *memory)
{
    if (d == NULL)
        return ntt->table[which];
    shift_table(memory, 1, 0, ntt->table[which], k, d);
    return memory;
}

/* One row, in an own function so that its table is not on the stack while rows are split. */
static __attribute__((noinline)) void whole_row(const struct cuzk_ntt *ntt, fr *a, unsigned k,
                                                const fr *d, enum ntt_table which)
{
    ROW_TABLE(memory);
    const fr *table = table_for(ntt, which, k, d, memory);
    switch (which) {
    case NTT_NATURAL:
        network_y_forward(a, k, 1, table, 0);
        break;
    case NTT_REVERSED:
        network_x_forward(a, k, 1, table, 0);
        break;
    case NTT_NATURAL_INVERSE:
        network_y_inverse(a, k, 1, table, 0);
        break;
    default:
        network_x_inverse(a, k, 1, table, 0);
        break;
    }
}

static void split(struct pass *p, unsigned k)
{
    p->rows_log2 = k / 2 < NTT_COLUMN_LOG2 ? k / 2 : NTT_COLUMN_LOG2;
    p->columns_log2 = k - p->rows_log2;
}

static const fr *power_of_two(fr *memory, const fr *d, unsigned log2)
{
    if (d == NULL)
        return NULL;
    *memory = *d;
    for (unsigned i = 0; i < log2; i++)
        bls12_381_fr_sqr(memory, memory);
    return memory;
}

static __attribute__((noinline)) void x_columns(struct pass *p, enum ntt_table which,
                                                cuzk_threads_body *body,
                                                struct cuzk_threads *threads)
{
    fr memory[(size_t)1 << NTT_COLUMN_LOG2], shift;
    p->table =
        table_for(p->ntt, which, p->rows_log2, power_of_two(&shift, p->d, p->columns_log2), memory);
    cuzk_threads_for(threads, ((size_t)1 << p->columns_log2) / WIDTH, body, p);
}

static __attribute__((noinline)) void y_rows(const struct pass *p, enum ntt_table which,
                                             cuzk_threads_body *body, struct cuzk_threads *threads)
{
    ROW_TABLE(memory);
    fr shift;
    struct pass rows = *p;
    rows.d = power_of_two(&shift, p->d, p->rows_log2);
    rows.table = p->columns_log2 <= NTT_ROW_LOG2
                     ? table_for(p->ntt, which, p->columns_log2, rows.d, memory)
                     : NULL;
    cuzk_threads_for(threads, (size_t)1 << p->rows_log2, body, &rows);
}

static void x_forward(const struct cuzk_ntt *ntt, fr *a, unsigned k, const fr *d,
                      struct cuzk_threads *threads)
{
    if (k <= NTT_ROW_LOG2) {
        whole_row(ntt, a, k, d, NTT_REVERSED);
        return;
    }
    struct pass p = {.ntt = ntt, .a = a, .d = d};
    split(&p, k);
    x_columns(&p, NTT_REVERSED, x_forward_columns, threads);
    cuzk_threads_for(threads, (size_t)1 << p.rows_log2, x_forward_row, &p);
}

static void x_inverse(const struct cuzk_ntt *ntt, fr *a, unsigned k, const fr *d, unsigned halvings,
                      struct cuzk_threads *threads)
{
    if (k <= NTT_ROW_LOG2) {
        whole_row(ntt, a, k, d, NTT_REVERSED_INVERSE);
        halve_row(a, k, halvings);
        return;
    }
    struct pass p = {.ntt = ntt, .a = a, .d = d, .halvings = halvings};
    split(&p, k);
    cuzk_threads_for(threads, (size_t)1 << p.rows_log2, x_inverse_row, &p);
    x_columns(&p, NTT_REVERSED_INVERSE, x_inverse_columns, threads);
}

static void y_forward(const struct cuzk_ntt *ntt, fr *a, unsigned k, const fr *d,
                      struct cuzk_threads *threads)
{
    if (k <= NTT_ROW_LOG2) {
        whole_row(ntt, a, k, d, NTT_NATURAL);
        return;
    }
    struct pass p = {.ntt = ntt, .a = a, .d = d};
    split(&p, k);
    y_rows(&p, NTT_NATURAL, y_forward_row, threads);
    cuzk_threads_for(threads, ((size_t)1 << p.columns_log2) / WIDTH, y_forward_columns, &p);
}

static void y_inverse(const struct cuzk_ntt *ntt, fr *a, unsigned k, const fr *d, unsigned halvings,
                      struct cuzk_threads *threads)
{
    if (k <= NTT_ROW_LOG2) {
        whole_row(ntt, a, k, d, NTT_NATURAL_INVERSE);
        halve_row(a, k, halvings);
        return;
    }
    struct pass p = {.ntt = ntt, .a = a, .d = d, .halvings = halvings};
    split(&p, k);
    cuzk_threads_for(threads, ((size_t)1 << p.columns_log2) / WIDTH, y_inverse_columns, &p);
    y_rows(&p, NTT_NATURAL_INVERSE, y_inverse_row, threads);
}

/* ---- elementwise ---- */

#define CHUNK_LOG2 12

struct elementwise {
    fr *r;
    const fr *a, *b;
    unsigned k, halvings;
};

static void multiply_chunk(void *context, size_t chunk, unsigned worker)
{
    (void)worker;
    const struct elementwise *e = context;
    size_t first = chunk << CHUNK_LOG2, end = first + ((size_t)1 << CHUNK_LOG2);
    size_t n = (size_t)1 << e->k;
    for (size_t i = first; i < end && i < n; i++) {
        fr t;
        bls12_381_fr_mul(&t, &e->a[i], &e->b[i]);
        fr_shift_down_far(&e->r[i], &t, e->halvings);
    }
}

static void multiply(fr *r, const fr *a, const fr *b, unsigned k, unsigned halvings,
                     struct cuzk_threads *threads)
{
    struct elementwise e = {.r = r, .a = a, .b = b, .k = k, .halvings = halvings};
    size_t chunks = k > CHUNK_LOG2 ? (size_t)1 << (k - CHUNK_LOG2) : 1;
    cuzk_threads_for(threads, chunks, multiply_chunk, &e);
}

/* Tile `middle`: indices high·2^(k-q) + middle·2^q + low go to low'·2^(k-q) + middle'·2^q + high',
 * reversed each for itself. */
static void subtract_tile(void *context, size_t middle, unsigned worker)
{
    (void)worker;
    const struct elementwise *e = context;
    unsigned top = e->k - NTT_TILE_LOG2;
    fr tile[NTT_TILE * NTT_TILE], t;
    for (size_t high = 0; high < NTT_TILE; high++) {
        size_t from = high << top | middle << NTT_TILE_LOG2,
               column = ntt_reverse(high, NTT_TILE_LOG2);
        for (size_t low = 0; low < NTT_TILE; low++) {
            bls12_381_fr_sub(&t, &e->a[from + low], &e->b[from + low]);
            fr_shift_down_far(&tile[ntt_reverse(low, NTT_TILE_LOG2) * NTT_TILE + column], &t,
                              e->halvings);
        }
    }
    size_t to = ntt_reverse(middle, top - NTT_TILE_LOG2) << NTT_TILE_LOG2;
    for (size_t row = 0; row < NTT_TILE; row++)
        memcpy(&e->r[row << top | to], &tile[row * NTT_TILE], NTT_TILE * sizeof(fr));
}

static void subtract_reversed(fr *r, const fr *a, const fr *b, unsigned k, unsigned halvings,
                              struct cuzk_threads *threads)
{
    struct elementwise e = {.r = r, .a = a, .b = b, .k = k, .halvings = halvings};
    if (k >= 2 * NTT_TILE_LOG2) {
        cuzk_threads_for(threads, (size_t)1 << (k - 2 * NTT_TILE_LOG2), subtract_tile, &e);
        return;
    }
    for (size_t i = 0; i < (size_t)1 << k; i++) {
        fr t;
        bls12_381_fr_sub(&t, &a[i], &b[i]);
        fr_shift_down_far(&r[ntt_reverse(i, k)], &t, halvings);
    }
}

const struct ntt_kernels CUZK_ISA_FN(ntt_kernels) = {
    .x_forward = x_forward,
    .x_inverse = x_inverse,
    .y_forward = y_forward,
    .y_inverse = y_inverse,
    .multiply = multiply,
    .subtract_reversed = subtract_reversed,
};
