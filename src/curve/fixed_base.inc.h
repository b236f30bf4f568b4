/* Many multiples of one point, for setup, as a template over the group. Included last of
 * batch_add.inc.h, msm.inc.h and this, with the parameters of the first, which it undefines.
 *
 * A table holds j·2^(ci)·base for each digit i and 1 <= j <= 2^(c-1). Thousands of scalars advance
 * together, one digit at a time, so that each step is one batched addition into as many sums; a
 * step touches one window of the table. With c = 16 a product costs 16 affine additions.
 *
 * Variable time: the scalars of a real setup are secret, and the time tells about them only what a
 * cache observer on the same machine can see; run setups on a machine of one's own.
 */
#define FIXED GN(_fixed_state)
#define FIXED_TABLE_BYTES ((uint64_t)64 << 20)
#define FIXED_AHEAD 8

struct FIXED {
    struct AFFINE *out;
    const struct GS *scalars;
    size_t n;
    unsigned c, windows;
    size_t window_points;               /* 2^(c-1) */
    struct GN(_recoded) bias, *recoded; /* capacity/2 for each worker */
    struct AFFINE *table;               /* windows × window_points: j·2^(ci)·base at j - 1 */
    struct BATCH *batch;                /* one for each worker */
};

/* Fills a window whose first point is there: from j = 1 … m to m + 1 … 2m by adding the m-th. */
CUZK_MAYBE void GN(_fixed_window)(void *context, size_t window, unsigned worker)
{
    struct FIXED *f = context;
    struct BATCH *s = &f->batch[worker];
    struct AFFINE *t = f->table + window * f->window_points;
    size_t half = s->capacity / 2;
    for (size_t m = 1; m < f->window_points; m *= 2)
        for (size_t i = 0; i < m; i += half) {
            size_t count = m - i < half ? m - i : half;
            memcpy(s->p, t + i, count * sizeof *t);
            for (size_t j = 0; j < count; j++)
                s->p[half + j] = t[m - 1];
            GN(_batch_add)(s, s->p, NULL, half, count);
            memcpy(t + m + i, s->p, count * sizeof *t);
        }
}

CUZK_MAYBE void GN(_fixed_batch)(void *context, size_t index, unsigned worker)
{
    struct FIXED *f = context;
    struct BATCH *s = &f->batch[worker];
    size_t half = s->capacity / 2, first = index * half;
    size_t count = f->n - first < half ? f->n - first : half;
    struct GN(_recoded) *recoded = f->recoded + worker * half;
    struct AFFINE *sum = s->p, *term = s->p + half;
    for (size_t i = 0; i < count; i++)
        GN(_recode)(&recoded[i], &f->scalars[first + i], &f->bias);
    memset(sum, 0, count * sizeof *sum);
    for (unsigned w = 0; w < f->windows; w++) {
        const struct AFFINE *table = f->table + w * f->window_points;
        for (size_t i = 0; i < count; i++) {
            if (i + FIXED_AHEAD < count) {
                int32_t next = GN(_digit)(&recoded[i + FIXED_AHEAD], w, f->c);
                const char *at = (const char *)&table[next < 0 ? -next - 1 : next - (next != 0)];
                for (size_t line = 0; line < sizeof *table; line += 64)
                    __builtin_prefetch(at + line);
            }
            int32_t digit = GN(_digit)(&recoded[i], w, f->c);
            if (digit == 0)
                term[i].x = term[i].y = FN(_zero);
            else if (digit > 0)
                term[i] = table[digit - 1];
            else
                GN(_affine_neg)(&term[i], &table[-digit - 1]);
        }
        GN(_batch_add)(s, sum, NULL, half, count);
    }
    memcpy(f->out + first, sum, count * sizeof *sum);
}

/* The digits of least cost: sums for each scalar, and the table's own points. */
CUZK_MAYBE unsigned GN(_fixed_digit_bits)(size_t n)
{
    unsigned best = 1;
    double least = 0;
    for (unsigned c = 1; c <= 18 && c <= GS_BITS; c++) {
        uint64_t points = (uint64_t)GN(_digit_count)(c) << (c - 1);
        double cost = (double)GN(_digit_count)(c) * (double)n + (double)points;
        if (c > 1 && (cost >= least || points * sizeof(struct AFFINE) > FIXED_TABLE_BYTES))
            continue;
        best = c;
        least = cost;
    }
    return best;
}

CUZK_MAYBE cuzk_status GN(_fixed_base)(struct AFFINE *out, const struct AFFINE *base,
                                       const struct GS *scalars, size_t n,
                                       const struct cuzk_run *run, struct cuzk_error *err)
{
    struct cuzk_threads *threads = run != NULL ? run->threads : NULL;
    struct cuzk_budget *budget = run != NULL ? run->budget : NULL;
    unsigned workers = cuzk_threads_count(threads);
    if (n == 0)
        return CUZK_OK;
    struct FIXED f = {.out = out, .scalars = scalars, .n = n};
    f.c = GN(_fixed_digit_bits)(n);
    f.windows = GN(_digit_count)(f.c);
    f.window_points = (size_t)1 << (f.c - 1);
    GN(_bias)(&f.bias, f.c);
    size_t capacity = 64;
    while (capacity < BATCH_POINTS && capacity < 2 * n)
        capacity *= 2;
    uint64_t table = f.windows * f.window_points * sizeof(struct AFFINE);
    uint64_t recoded = (uint64_t)workers * (capacity / 2) * sizeof(struct GN(_recoded));
    uint64_t each = (BATCH_BYTES(capacity) + 63) / 64 * 64;
    uint64_t bytes = table + recoded + workers * (each + sizeof(struct BATCH));
    void *memory;
    cuzk_status status = cuzk_budget_alloc(budget, &memory, CUZK_PURPOSE_MSM, bytes, err);
    if (status != CUZK_OK)
        return status;
    uint8_t *at = memory;
    f.table = (struct AFFINE *)memory;
    f.recoded = (struct GN(_recoded) *)(void *)(at + table);
    at += table + recoded;
    f.batch = (struct BATCH *)(void *)(at + workers * each);
    for (unsigned i = 0; i < workers; i++)
        (void)GN(_batch_carve)(&f.batch[i], at + i * each, capacity);

    struct G point;
    GN(_from_affine)(&point, base);
    for (unsigned w = 0; w < f.windows; w++) {
        GN(_to_affine)(&f.table[w * f.window_points], &point);
        for (unsigned i = 0; i < f.c; i++)
            GN(_double)(&point, &point);
    }
    cuzk_threads_for(threads, f.windows, GN(_fixed_window), &f);
    cuzk_threads_for(threads, (n + capacity / 2 - 1) / (capacity / 2), GN(_fixed_batch), &f);
    cuzk_wipe(f.recoded, recoded);
    cuzk_budget_free(budget, memory, CUZK_PURPOSE_MSM, bytes);
    return CUZK_OK;
}

#undef FIXED
#undef FIXED_TABLE_BYTES
#undef FIXED_AHEAD
#undef GN
#undef FN
#undef SN
#undef AFFINE
#undef BATCH
#undef BATCH_POINTS
#undef BATCH_BYTES
#undef RECODED_NEGATIVE
#undef G
#undef GF
#undef GS
#undef GS_LIMBS
#undef GS_BITS
#undef GS_ORDER
