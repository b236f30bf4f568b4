/* Sums of scalars times points, as a template over the group. Included after batch_add.inc.h with
 * the same parameters, which it undefines; and
 *
 *     GSCALARS, the tag of the struct of scalars (see bls12_381_scalars in bls12_381/ops.h);
 *     struct G_source (see bls12_381_g1_source) is declared by the includer.
 *
 * Two sums. Points whose scalar is a bit are selected by the bitmap and added in a tree, each
 * thread keeping a batch of its own that it halves when it is full. Points with full scalars go
 * through Pippenger's buckets: a chunk of them at a time is made or fetched, each once; for each
 * window their indices are sorted by digit (a counting sort), and then blocks of buckets are
 * summed, each bucket's points and its old value as a segment of a batch whose levels are batched
 * additions. So buckets are walked in order and nothing ever waits for a conflict; a digit that all
 * scalars share is one long segment, and zeros cost nothing. Last, each window's buckets are
 * weighted by running sums over many short segments side by side, and the windows are put together.
 *
 * Variable time.
 */
#ifndef GSCALARS
#error "define GSCALARS, the tag of the struct of scalars"
#endif

#define MSM GN(_msm_state)
#define SOURCE GN(_source)

/* Points of a chunk for up to eight workers (6 MB of G1: gathered from a near cache; more workers
 * get larger ones, so that each has blocks to sum); positions of a task over the bitmap; points of
 * a task that loads or recodes. */
#define MSM_CHUNK ((size_t)1 << 16)
#define MSM_CHUNK_MOST ((size_t)1 << 20)
#define MSM_SPAN ((size_t)1 << 13)
#define MSM_LOAD ((size_t)1 << 10)
/* Memory that buckets may take, and the segments a window's buckets are weighted in. */
#define MSM_BUCKET_BYTES ((uint64_t)128 << 20)
#define MSM_SEGMENTS 512
#define MSM_AHEAD 12

/* Owner: the calling thread; in loops, workers write only what their task or number owns, and the
 * error, whose first writer `failed` decides. */
struct MSM {
    const struct SOURCE *source;
    const struct GSCALARS *scalars;
    size_t n;
    struct BATCH *batch; /* one for each worker */
    _Atomic int status;  /* a cuzk_status */
    struct cuzk_error *err;
    atomic_flag failed;

    unsigned c, windows;
    size_t buckets_each; /* 2^(c-1) */
    struct GN(_recoded) bias, *recoded;
    struct AFFINE *buckets; /* windows × buckets_each: digit d at d - 1 */
    struct G *sums;         /* of the windows */
    uint8_t *used;          /* of the windows: 1 where a bucket may hold a point */
    size_t chunk, count;    /* capacity of a chunk, points in the present one */
    size_t first_value;     /* index in scalars->values of the chunk's first */
    uint32_t *position;     /* of the chunk's points; NULL: first_value + i */
    struct AFFINE *loaded;  /* NULL: points are read where they are */
    const struct AFFINE *points;
    uint32_t *order;  /* windows × chunk: index << 1 | negative, by digit */
    uint32_t *starts; /* windows × (buckets_each + 1), into order */
    struct GN(_block) {
        uint32_t window, first, end;
    } * blocks;
    size_t block_count;
};

CUZK_MAYBE void GN(_msm_fail)(struct MSM *m, cuzk_status status, const struct cuzk_error *err)
{
    if (atomic_flag_test_and_set(&m->failed))
        return;
    if (m->err != NULL)
        *m->err = *err;
    atomic_store(&m->status, (int)status);
}

/* Reads points [first, first + count); false when the source failed. */
CUZK_MAYBE bool GN(_msm_read)(struct MSM *m, struct AFFINE *out, size_t first, size_t count)
{
    if (m->source->points != NULL) {
        memcpy(out, m->source->points + first, count * sizeof *out);
        return true;
    }
    struct cuzk_error err = {0};
    cuzk_status status = m->source->fetch(m->source->context, out, first, count, &err);
    if (status != CUZK_OK)
        GN(_msm_fail)(m, status, &err);
    return status == CUZK_OK;
}

CUZK_INLINE bool GN(_msm_ok)(struct MSM *m)
{
    return atomic_load_explicit(&m->status, memory_order_relaxed) == CUZK_OK;
}

/* ---- the sum over bits ---- */

CUZK_MAYBE void GN(_msm_bits_span)(void *context, size_t span, unsigned worker)
{
    struct MSM *m = context;
    struct BATCH *s = &m->batch[worker];
    size_t word = span * (MSM_SPAN / 64), words = (m->n + 63) / 64;
    size_t end = word + MSM_SPAN / 64 < words ? word + MSM_SPAN / 64 : words;
    for (; word < end && GN(_msm_ok)(m); word++) {
        uint64_t bits = m->scalars->bits[word] & m->scalars->is_bit[word];
        if (m->n - word * 64 < 64)
            bits &= ((uint64_t)1 << (m->n - word * 64)) - 1;
        while (bits != 0) { /* runs of ones, so that a source is asked for whole runs */
            unsigned low = (unsigned)__builtin_ctzll(bits);
            uint64_t rest = ~(bits >> low);
            unsigned run = rest != 0 ? (unsigned)__builtin_ctzll(rest) : 64;
            if (run > s->capacity - s->filled)
                run = (unsigned)(s->capacity - s->filled);
            if (!GN(_msm_read)(m, &s->p[s->filled], word * 64 + low, run))
                return;
            s->filled += run;
            if (s->filled == s->capacity)
                GN(_batch_shrink)(s, s->capacity / 2);
            bits = run + low < 64 ? bits >> (run + low) << (run + low) : 0;
        }
    }
}

CUZK_MAYBE void GN(_msm_bits_end)(void *context, size_t worker, unsigned unused)
{
    (void)unused;
    struct MSM *m = context;
    GN(_batch_shrink)(&m->batch[worker], 1);
}

/* ---- a chunk of points with full scalars ---- */

CUZK_INLINE size_t GN(_msm_position)(const struct MSM *m, size_t i)
{
    return m->position != NULL ? m->position[i] : m->first_value + i;
}

/* Takes up to a chunk of positions that are not bits, from *word and *rest of the bitmap on. */
CUZK_MAYBE void GN(_msm_next_chunk)(struct MSM *m, size_t *word, uint64_t *rest)
{
    m->first_value += m->count;
    m->count = 0;
    size_t words = (m->n + 63) / 64;
    while (m->count < m->chunk) {
        while (*rest == 0) {
            if (*word == words)
                return;
            *rest = ~m->scalars->is_bit[*word];
            if (m->n - *word * 64 < 64)
                *rest &= ((uint64_t)1 << (m->n - *word * 64)) - 1;
            (*word)++;
        }
        m->position[m->count++] = (uint32_t)((*word - 1) * 64 + (unsigned)__builtin_ctzll(*rest));
        *rest &= *rest - 1;
    }
}

/* Loads the points of a task and recodes their scalars. */
CUZK_MAYBE void GN(_msm_load)(void *context, size_t task, unsigned worker)
{
    (void)worker;
    struct MSM *m = context;
    size_t i = task * MSM_LOAD, end = i + MSM_LOAD < m->count ? i + MSM_LOAD : m->count;
    for (size_t j = i; j < end; j++)
        GN(_recode)(&m->recoded[j], &m->scalars->values[m->first_value + j], &m->bias);
    if (m->loaded == NULL)
        return;
    while (i < end && GN(_msm_ok)(m)) {
        size_t first = GN(_msm_position)(m, i), run = 1;
        while (i + run < end && GN(_msm_position)(m, i + run) == first + run)
            run++;
        if (!GN(_msm_read)(m, &m->loaded[i], first, run))
            return;
        i += run;
    }
}

/* Sorts the chunk's indices by the size of their digit in one window. */
CUZK_MAYBE void GN(_msm_sort)(void *context, size_t window, unsigned worker)
{
    (void)worker;
    struct MSM *m = context;
    uint32_t *order = m->order + window * m->chunk;
    uint32_t *starts = m->starts + window * (m->buckets_each + 1);
    memset(starts, 0, (m->buckets_each + 1) * sizeof *starts);
    for (size_t i = 0; i < m->count; i++) {
        int32_t digit = GN(_digit)(&m->recoded[i], (unsigned)window, m->c);
        if (digit != 0)
            starts[(digit < 0 ? -digit : digit) - 1]++;
    }
    uint32_t sum = 0;
    for (size_t b = 0; b <= m->buckets_each; b++) { /* first places, then they move to the ends */
        uint32_t size = starts[b];
        starts[b] = sum;
        sum += size;
    }
    for (size_t i = 0; i < m->count; i++) {
        int32_t digit = GN(_digit)(&m->recoded[i], (unsigned)window, m->c);
        if (digit != 0)
            order[starts[(digit < 0 ? -digit : digit) - 1]++] = (uint32_t)(i << 1 | (digit < 0));
    }
    memmove(starts + 1, starts, m->buckets_each * sizeof *starts);
    starts[0] = 0;
}

/* Cuts the windows' buckets into blocks of about half a batch, to be summed by any worker. */
CUZK_MAYBE void GN(_msm_cut)(struct MSM *m)
{
    size_t target = m->batch->capacity / 2;
    m->block_count = 0;
    for (unsigned w = 0; w < m->windows; w++) {
        const uint32_t *starts = m->starts + w * (m->buckets_each + 1);
        size_t first = 0;
        for (size_t b = 1; b <= m->buckets_each; b++) {
            if (starts[b] - starts[first] < target && b < m->buckets_each)
                continue;
            if (starts[b] != starts[first]) {
                m->used[w] = 1;
                m->blocks[m->block_count++] =
                    (struct GN(_block)){.window = w, .first = (uint32_t)first, .end = (uint32_t)b};
            }
            first = b;
        }
    }
}

CUZK_INLINE void GN(_msm_put)(struct BATCH *s, const struct MSM *m, uint32_t entry)
{
    const struct AFFINE *from = &m->points[entry >> 1];
    struct AFFINE *to = &s->p[s->filled++];
    to->x = from->x;
    if (entry & 1)
        FN(_neg)(&to->y, &from->y);
    else
        to->y = from->y;
}

/* Sums the segments held, each into its bucket. Item i of a segment is at start + i; at level l
 * those at multiples of 2^l are left. */
CUZK_MAYBE void GN(_msm_flush)(struct BATCH *s, size_t segments, struct AFFINE *buckets)
{
    s->start[segments] = (uint32_t)s->filled;
    for (size_t distance = 1;; distance *= 2) {
        size_t pairs = 0;
        for (size_t g = 0; g < segments; g++)
            for (size_t i = s->start[g]; i + distance < s->start[g + 1]; i += 2 * distance)
                s->left[pairs++] = (uint32_t)i;
        if (pairs == 0)
            break;
        GN(_batch_add)(s, s->p, s->left, distance, pairs);
    }
    for (size_t g = 0; g < segments; g++)
        buckets[s->bucket[g]] = s->p[s->start[g]];
    s->filled = 0;
}

/* Sums one bucket whose points need not fit into the batch. */
CUZK_MAYBE void GN(_msm_long)(struct BATCH *s, const struct MSM *m, struct AFFINE *bucket,
                              const uint32_t *order, size_t count)
{
    s->p[0] = *bucket;
    s->filled = 1;
    for (size_t i = 0; i < count; i++) {
        if (i + MSM_AHEAD < count)
            __builtin_prefetch(&m->points[order[i + MSM_AHEAD] >> 1]);
        GN(_msm_put)(s, m, order[i]);
        if (s->filled == s->capacity)
            GN(_batch_shrink)(s, s->capacity / 2);
    }
    GN(_batch_shrink)(s, 1);
    *bucket = s->p[0];
    s->filled = 0;
}

CUZK_MAYBE void GN(_msm_block)(void *context, size_t index, unsigned worker)
{
    struct MSM *m = context;
    struct BATCH *s = &m->batch[worker];
    const struct GN(_block) *block = &m->blocks[index];
    const uint32_t *order = m->order + block->window * m->chunk;
    const uint32_t *starts = m->starts + block->window * (m->buckets_each + 1);
    struct AFFINE *buckets = m->buckets + block->window * m->buckets_each;
    size_t segments = 0, ahead = starts[block->first];
    for (size_t b = block->first; b < block->end; b++) {
        size_t count = starts[b + 1] - starts[b];
        if (count == 0)
            continue;
        if (segments + 2 > s->capacity || s->filled + count + 1 > s->capacity) {
            GN(_msm_flush)(s, segments, buckets);
            segments = 0;
        }
        if (count + 1 > s->capacity) {
            GN(_msm_long)(s, m, &buckets[b], order + starts[b], count);
            continue;
        }
        s->start[segments] = (uint32_t)s->filled;
        s->bucket[segments++] = (uint32_t)b;
        if (!GN(_batch_infinity)(&buckets[b]))
            s->p[s->filled++] = buckets[b];
        for (size_t i = starts[b]; i < starts[b + 1]; i++) {
            for (; ahead < i + MSM_AHEAD && ahead < starts[block->end]; ahead++) {
                const char *next = (const char *)&m->points[order[ahead] >> 1];
                for (size_t line = 0; line < sizeof(struct AFFINE); line += 64)
                    __builtin_prefetch(next + line);
            }
            GN(_msm_put)(s, m, order[i]);
        }
    }
    GN(_msm_flush)(s, segments, buckets);
}

/* ---- from buckets to the sum ---- */

/* sum of (b + 1)·bucket b over one window: in G segments of L buckets, each with its sum T and the
 * sum S of its buckets weighted 1 … L, all advancing together; then sum of S + L·sum of g·T. */
CUZK_MAYBE void GN(_msm_weigh)(void *context, size_t window, unsigned worker)
{
    struct MSM *m = context;
    struct BATCH *s = &m->batch[worker];
    GN(_set_infinity)(&m->sums[window]);
    if (!m->used[window])
        return;
    size_t segments = m->buckets_each < MSM_SEGMENTS ? m->buckets_each : MSM_SEGMENTS;
    size_t length = m->buckets_each / segments;
    const struct AFFINE *buckets = m->buckets + window * m->buckets_each;
    struct AFFINE *weighted = s->p, *plain = weighted + segments, *next = plain + segments;
    memset(weighted, 0, 2 * segments * sizeof *weighted);
    for (size_t i = length; i-- > 0;) {
        for (size_t g = 0; g < segments; g++)
            next[g] = buckets[g * length + i];
        GN(_batch_add)(s, plain, NULL, segments, segments);
        GN(_batch_add)(s, weighted, NULL, segments, segments);
    }
    struct G sum, running, offsets;
    GN(_set_infinity)(&running);
    GN(_set_infinity)(&offsets);
    for (size_t g = segments; g-- > 1;) {
        GN(_add_affine)(&running, &running, &plain[g]);
        GN(_add)(&offsets, &offsets, &running);
    }
    for (size_t l = length; l > 1; l /= 2)
        GN(_double)(&offsets, &offsets);
    s->filled = segments;
    GN(_batch_shrink)(s, 1);
    s->filled = 0;
    GN(_from_affine)(&sum, &weighted[0]);
    GN(_add)(&m->sums[window], &sum, &offsets);
}

/* ---- the whole ---- */

/* The window of least cost for n points, in additions: each point once a window, each bucket two
 * and a little for its share of smaller batches. A wider one, whose buckets take twice the memory,
 * must save two hundredths. */
CUZK_MAYBE unsigned GN(_msm_window)(size_t n)
{
    unsigned best = 1;
    double least = 0;
    for (unsigned c = 1; c <= 18 && c <= GS_BITS; c++) {
        uint64_t buckets = (uint64_t)GN(_digit_count)(c) << (c - 1);
        double cost = (double)GN(_digit_count)(c) * (double)n + 2.2 * (double)buckets;
        if (c > 1 && (cost >= 0.98 * least || buckets * sizeof(struct AFFINE) > MSM_BUCKET_BYTES))
            continue;
        best = c;
        least = cost;
    }
    return best;
}

CUZK_MAYBE void GN(_msm_values)(struct MSM *m, size_t values, struct cuzk_threads *threads)
{
    size_t word = 0;
    uint64_t rest = 0;
    m->first_value = m->count = 0;
    while (m->first_value + m->count < values && GN(_msm_ok)(m)) {
        if (m->position != NULL) {
            GN(_msm_next_chunk)(m, &word, &rest);
        } else {
            m->first_value += m->count;
            m->count = values - m->first_value < m->chunk ? values - m->first_value : m->chunk;
        }
        m->points = m->loaded != NULL ? m->loaded : m->source->points + m->first_value;
        cuzk_threads_for(threads, (m->count + MSM_LOAD - 1) / MSM_LOAD, GN(_msm_load), m);
        if (!GN(_msm_ok)(m))
            return;
        cuzk_threads_for(threads, m->windows, GN(_msm_sort), m);
        GN(_msm_cut)(m);
        cuzk_threads_for(threads, m->block_count, GN(_msm_block), m);
    }
    cuzk_threads_for(threads, m->windows, GN(_msm_weigh), m);
}

CUZK_MAYBE size_t GN(_msm_count_values)(const struct GSCALARS *scalars, size_t n)
{
    if (scalars->is_bit == NULL)
        return n;
    size_t bits = 0;
    for (size_t word = 0; word * 64 < n; word++) {
        uint64_t is_bit = scalars->is_bit[word];
        if (n - word * 64 < 64)
            is_bit &= ((uint64_t)1 << (n - word * 64)) - 1;
        bits += (size_t)__builtin_popcountll(is_bit);
    }
    return n - bits;
}

/* Carves all scratch from memory; NULL gives the size alone. */
CUZK_MAYBE uint64_t GN(_msm_carve)(struct MSM *m, uint8_t *memory, size_t values, unsigned workers)
{
    uint64_t at = 0;
#define CARVE(pointer, type, number)                                                               \
    do {                                                                                           \
        if (memory != NULL)                                                                        \
            (pointer) = (type *)(void *)(memory + at);                                             \
        at += ((uint64_t)(number) * sizeof(type) + 63) / 64 * 64;                                  \
    } while (0)
    size_t capacity = 256;
    while (capacity < BATCH_POINTS && capacity < m->n)
        capacity *= 2;
    if (values != 0) {
        m->c = GN(_msm_window)(values);
        m->windows = GN(_digit_count)(m->c);
        m->buckets_each = (size_t)1 << (m->c - 1);
        size_t chunk = MSM_CHUNK;
        for (unsigned i = 8; i < workers && chunk < MSM_CHUNK_MOST; i *= 2)
            chunk *= 2;
        m->chunk = values < chunk ? values : chunk;
        while (capacity < 3 * m->buckets_each && capacity < 3 * MSM_SEGMENTS)
            capacity *= 2;
        GN(_bias)(&m->bias, m->c);
        CARVE(m->buckets, struct AFFINE, m->windows * m->buckets_each);
        CARVE(m->sums, struct G, m->windows);
        CARVE(m->used, uint8_t, m->windows);
        CARVE(m->recoded, struct GN(_recoded), m->chunk);
        CARVE(m->order, uint32_t, m->windows * m->chunk);
        CARVE(m->starts, uint32_t, m->windows * (m->buckets_each + 1));
        CARVE(m->blocks, struct GN(_block), m->windows * (m->chunk / (capacity / 2) + 1));
        if (m->scalars->is_bit != NULL)
            CARVE(m->position, uint32_t, m->chunk);
        if (m->scalars->is_bit != NULL || m->source->points == NULL)
            CARVE(m->loaded, struct AFFINE, m->chunk);
    }
    CARVE(m->batch, struct BATCH, workers);
    for (unsigned i = 0; i < workers; i++) {
        if (memory != NULL)
            (void)GN(_batch_carve)(&m->batch[i], memory + at, capacity);
        at += (BATCH_BYTES(capacity) + 63) / 64 * 64;
    }
#undef CARVE
    return at;
}

CUZK_MAYBE cuzk_status GN(_msm)(struct G *out, const struct SOURCE *source,
                                const struct GSCALARS *scalars, size_t n,
                                const struct cuzk_run *run, struct cuzk_error *err)
{
    struct cuzk_threads *threads = run != NULL ? run->threads : NULL;
    struct cuzk_budget *budget = run != NULL ? run->budget : NULL;
    unsigned workers = cuzk_threads_count(threads);
    struct G sum;
    GN(_set_infinity)(&sum);
    GN(_set_infinity)(out);
    if (n == 0)
        return CUZK_OK;
    if (n > INT32_MAX)
        return cuzk_fail(err, CUZK_E_ARGUMENT,
                         "a multi-exponentiation over %zu points: at most 2^31 - 1", n);
    struct MSM m = {.source = source, .scalars = scalars, .n = n, .err = err};
    atomic_flag_clear(&m.failed);
    size_t values = GN(_msm_count_values)(scalars, n);
    uint64_t bytes = GN(_msm_carve)(&m, NULL, values, workers);
    void *memory;
    cuzk_status status = cuzk_budget_alloc(budget, &memory, CUZK_PURPOSE_MSM, bytes, err);
    if (status != CUZK_OK)
        return status;
    (void)GN(_msm_carve)(&m, memory, values, workers);
    if (values < n) {
        cuzk_threads_for(threads, (n + MSM_SPAN - 1) / MSM_SPAN, GN(_msm_bits_span), &m);
        cuzk_threads_for(threads, workers, GN(_msm_bits_end), &m);
        for (unsigned i = 0; i < workers; i++)
            if (m.batch[i].filled != 0)
                GN(_add_affine)(&sum, &sum, &m.batch[i].p[0]);
        for (unsigned i = 0; i < workers; i++)
            m.batch[i].filled = 0;
    }
    if (values != 0 && GN(_msm_ok)(&m)) {
        GN(_msm_values)(&m, values, threads);
        struct G total;
        GN(_set_infinity)(&total);
        for (unsigned w = m.windows; w-- > 0 && GN(_msm_ok)(&m);) {
            for (unsigned i = 0; i < m.c; i++)
                GN(_double)(&total, &total);
            GN(_add)(&total, &total, &m.sums[w]);
        }
        GN(_add)(&sum, &sum, &total);
    }
    status = (cuzk_status)atomic_load(&m.status);
    if (status == CUZK_OK)
        *out = sum;
    cuzk_budget_free(budget, memory, CUZK_PURPOSE_MSM, bytes);
    return status;
}

#undef MSM
#undef SOURCE
#undef MSM_CHUNK
#undef MSM_CHUNK_MOST
#undef MSM_SPAN
#undef MSM_LOAD
#undef MSM_BUCKET_BYTES
#undef MSM_SEGMENTS
#undef MSM_AHEAD
#undef GSCALARS
