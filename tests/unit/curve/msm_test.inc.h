/* Tests of multi-exponentiation and of fixed-base products over one group: GT is g1 or g2, BIG the
 * largest size. Points have known logarithms to the generator, so that one product checks a sum of
 * any size; small sizes are also held against the naive sum.
 */
#define GT_GLUE_(a, b) a##b
#define GT_GLUE(a, b) GT_GLUE_(a, b)
#define BLS(name) GT_GLUE(GT_GLUE(bls12_381_, GT), name)
#define T(name) GT_GLUE(GT_GLUE(GT, _), name)
#define OP(name) GT_GLUE(GT_GLUE(GT, _), name)
#define POINT struct BLS()
#define AFFINE struct BLS(_affine)
#define SOURCE struct BLS(_source)

struct T(points) {
    AFFINE *points;
    fr *logs;
    size_t n;
};

/* Points (first + i·step)·generator. */
static struct T(points) T(make)(const struct bls12_381_ops *ops, size_t n, uint64_t *state)
{
    struct T(points) p = {calloc(n + 1, sizeof *p.points), calloc(n + 1, sizeof *p.logs), n};
    assert_non_null(p.points);
    assert_non_null(p.logs);
    fr log = random_fr(state), step = random_fr(state);
    POINT generator, point, increment;
    ops->OP(from_affine)(&generator, &GT_GLUE(GT, _generator));
    ops->OP(mul)(&point, &generator, &log);
    ops->OP(mul)(&increment, &generator, &step);
    for (size_t i = 0; i < n; i++) {
        ops->OP(to_affine)(&p.points[i], &point);
        p.logs[i] = log;
        ops->OP(add)(&point, &point, &increment);
        bls12_381_fr_add(&log, &log, &step);
    }
    return p;
}

static void T(release)(struct T(points) * p)
{
    free(p->points);
    free(p->logs);
}

static void T(assert_multiple)(const struct bls12_381_ops *ops, const POINT *got, const fr *log)
{
    POINT want;
    AFFINE a, b;
    ops->OP(from_affine)(&want, &GT_GLUE(GT, _generator));
    ops->OP(mul)(&want, &want, log);
    ops->OP(to_affine)(&a, got);
    ops->OP(to_affine)(&b, &want);
    assert_memory_equal(&a, &b, sizeof a);
}

/* A source that computes what it gives, and fails from call `fail` on. */
struct T(fetcher) {
    const AFFINE *points;
    size_t n;
    _Atomic uint64_t calls;
    uint64_t fail;
};

static cuzk_status T(fetch)(void *context, AFFINE *out, size_t first, size_t count,
                            struct cuzk_error *err)
{
    struct T(fetcher) *f = context;
    if (first > f->n || count > f->n - first || count == 0)
        return cuzk_fail(err, CUZK_E_INTERNAL, "fetch of [%zu, %zu)", first, first + count);
    if (f->fail != 0 && ++f->calls >= f->fail)
        return cuzk_fail(err, CUZK_E_POINT, "point %zu is bad", first);
    memcpy(out, f->points + first, count * sizeof *out);
    return CUZK_OK;
}

static void T(check)(const struct bls12_381_ops *ops, const struct T(points) * p, const fr *values,
                     const struct cuzk_run *run, bool naive)
{
    struct cuzk_error err;
    fr log = bls12_381_fr_zero, t;
    for (size_t i = 0; i < p->n; i++) {
        bls12_381_fr_mul(&t, &values[i], &p->logs[i]);
        bls12_381_fr_add(&log, &log, &t);
    }
    SOURCE source = {.points = p->points};
    struct bls12_381_scalars scalars = {.values = values};
    POINT sum;
    assert_ok(ops->OP(msm)(&sum, &source, &scalars, p->n, run, &err), err);
    T(assert_multiple)(ops, &sum, &log);
    struct T(fetcher) fetcher = {.points = p->points, .n = p->n};
    SOURCE fetched = {.fetch = T(fetch), .context = &fetcher};
    assert_ok(ops->OP(msm)(&sum, &fetched, &scalars, p->n, run, &err), err);
    T(assert_multiple)(ops, &sum, &log);
    if (!naive)
        return;
    POINT total, term;
    ops->OP(from_affine)(&total, &(AFFINE){0});
    for (size_t i = 0; i < p->n; i++) {
        ops->OP(from_affine)(&term, &p->points[i]);
        ops->OP(mul)(&term, &term, &values[i]);
        ops->OP(add)(&total, &total, &term);
    }
    T(assert_multiple)(ops, &total, &log);
}

/* Every kind of scalars over p. */
static void T(check_kinds)(const struct bls12_381_ops *ops, const struct T(points) * p,
                           const struct cuzk_run *run, uint64_t *state)
{
    fr *values = calloc(p->n + 1, sizeof *values);
    assert_non_null(values);
    fr one = bls12_381_fr_one, minus_one, same = random_fr(state);
    bls12_381_fr_neg(&minus_one, &one);
    for (int kind = 0; kind < 8; kind++) {
        for (size_t i = 0; i < p->n; i++) {
            fr r = random_fr(state);
            switch (kind) {
            case 0:
                values[i] = r;
                break;
            case 1:
                values[i] = bls12_381_fr_zero;
                break;
            case 2:
                values[i] = one;
                break;
            case 3:
                values[i] = minus_one;
                break;
            case 4:
                values[i] = same;
                break;
            case 5: /* k, -k, k, -k … */
                values[i] = same;
                if (i % 2 == 1)
                    bls12_381_fr_neg(&values[i], &same);
                break;
            case 6: /* small */
                bls12_381_fr_from_u64(&values[i], r.l[0] & 0xffffff);
                break;
            default: /* around (r - 1)/2, where recoding changes sides, and powers of two */
                values[i] = (fr){{BLS12_381_FR_TWO_INVERSE}};
                if (i % 3 == 1)
                    bls12_381_fr_sub(&values[i], &values[i], &one);
                if (i % 3 == 2) {
                    fr two;
                    bls12_381_fr_from_u64(&two, 2);
                    bls12_381_fr_pow_u64(&values[i], &two, r.l[0] % 256);
                }
                break;
            }
        }
        T(check)(ops, p, values, run, p->n <= 33);
    }
    free(values);
}

static void T(test_sizes)(void **unused)
{
    (void)unused;
    uint64_t state = test_seed();
    static const size_t sizes[] = {0, 1, 2, 3, 31, 32, 33, 511, 512, 513};
    struct cuzk_run run = {0};
    struct cuzk_error err;
    assert_ok(cuzk_threads_create(&run.threads, 3, &err), err);
    for_each_path(ops)
    {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            struct T(points) p = T(make)(ops, sizes[i], &state);
            T(check_kinds)(ops, &p, &run, &state);
            T(release)(&p);
        }
    }
    cuzk_threads_destroy(run.threads);
}

struct T(compact) {
    uint64_t *is_bit, *bits;
    fr *values;
    fr log;
};

/* n positions, one in `every` a value (0: none), every second bit set. */
static struct T(compact) T(make_compact)(const struct T(points) * p, size_t every, uint64_t *state)
{
    size_t words = p->n / 64 + 1, count = 0;
    struct T(compact) c = {calloc(words, 8), calloc(words, 8), calloc(p->n + 1, sizeof(fr)), {{0}}};
    assert_true(c.is_bit != NULL && c.bits != NULL && c.values != NULL);
    for (size_t i = 0; i < p->n; i++) {
        uint64_t r = test_random(state);
        fr k = bls12_381_fr_zero, t;
        if (every != 0 && r % every == 0) {
            k = c.values[count++] = r & 1024 ? random_fr(state) : bls12_381_fr_one;
        } else {
            c.is_bit[i / 64] |= (uint64_t)1 << (i % 64);
            if (r >> 40 & 1) {
                c.bits[i / 64] |= (uint64_t)1 << (i % 64);
                k = bls12_381_fr_one;
            }
        }
        bls12_381_fr_mul(&t, &k, &p->logs[i]);
        bls12_381_fr_add(&c.log, &c.log, &t);
    }
    return c;
}

static void T(test_big_sizes)(void **unused)
{
    (void)unused;
    uint64_t state = test_seed();
    struct cuzk_run run = {0};
    struct cuzk_error err;
    assert_ok(cuzk_threads_create(&run.threads, 2, &err), err);
    const struct bls12_381_ops *ops = bls12_381_ops(NULL);
    struct T(points) p = T(make)(ops, BIG + 1, &state);
    fr *values = calloc(BIG + 1, sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < BIG + 1; i++)
        values[i] = random_fr(&state);
    for (p.n = BIG - 1; p.n <= BIG + 1; p.n++)
        T(check)(ops, &p, values, p.n == BIG ? &run : NULL, false);
    p.n = BIG;
    for (size_t i = 0; i < BIG; i++)
        values[i] = values[0];
    T(check)(ops, &p, values, &run, false);
    free(values);
    T(release)(&p);
    /* More than a chunk of values among bits, some in every window and some in the first alone. */
    p = T(make)(ops, 2 * BIG + BIG / 4, &state);
    struct T(compact) c = T(make_compact)(&p, 2, &state);
    struct T(fetcher) fetcher = {.points = p.points, .n = p.n};
    SOURCE fetched = {.fetch = T(fetch), .context = &fetcher};
    struct bls12_381_scalars scalars = {c.is_bit, c.bits, c.values};
    POINT sum;
    assert_ok(ops->OP(msm)(&sum, &fetched, &scalars, p.n, &run, &err), err);
    T(assert_multiple)(ops, &sum, &c.log);
    free(c.is_bit);
    free(c.bits);
    free(c.values);
    T(release)(&p);
    cuzk_threads_destroy(run.threads);
}

/* Equal points, opposite ones and infinities side by side. */
static void T(test_awkward_points)(void **unused)
{
    (void)unused;
    uint64_t state = test_seed();
    for_each_path(ops)
    {
        for (int kind = 0; kind < 5; kind++) {
            struct T(points) p = T(make)(ops, 700, &state);
            for (size_t i = 0; i < p.n; i++) {
                size_t other = i - i % 7;
                bool infinite = kind == 3 || (kind == 4 && i % 5 == 0);
                if (kind == 0)
                    other = 0;
                p.points[i] = p.points[other];
                p.logs[i] = p.logs[other];
                if ((kind == 1 && i % 2 == 1) || (kind == 4 && i % 3 == 0)) {
                    POINT t;
                    ops->OP(from_affine)(&t, &p.points[i]);
                    ops->OP(neg)(&t, &t);
                    ops->OP(to_affine)(&p.points[i], &t);
                    bls12_381_fr_neg(&p.logs[i], &p.logs[i]);
                }
                if (infinite) {
                    p.points[i] = (AFFINE){0};
                    p.logs[i] = bls12_381_fr_zero;
                }
            }
            T(check_kinds)(ops, &p, NULL, &state);
            T(release)(&p);
        }
    }
}

static void T(test_compact)(void **unused)
{
    (void)unused;
    uint64_t state = test_seed();
    struct cuzk_error err;
    static const size_t sizes[] = {1, 2, 63, 64, 65, 500, 8191, 8193, 20000};
    static const size_t everies[] = {0, 1, 2, 50};
    struct cuzk_run run = {0};
    assert_ok(cuzk_threads_create(&run.threads, 3, &err), err);
    for_each_path(ops)
    {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes && sizes[i] <= BIG; i++) {
            struct T(points) p = T(make)(ops, sizes[i], &state);
            for (size_t j = 0; j < sizeof everies / sizeof *everies; j++) {
                struct T(compact) c = T(make_compact)(&p, everies[j], &state);
                struct T(fetcher) fetcher = {.points = p.points, .n = p.n};
                SOURCE source = {.points = p.points};
                SOURCE fetched = {.fetch = T(fetch), .context = &fetcher};
                struct bls12_381_scalars scalars = {c.is_bit, c.bits, c.values};
                POINT sum;
                assert_ok(ops->OP(msm)(&sum, &source, &scalars, p.n, NULL, &err), err);
                T(assert_multiple)(ops, &sum, &c.log);
                assert_ok(ops->OP(msm)(&sum, &fetched, &scalars, p.n, &run, &err), err);
                T(assert_multiple)(ops, &sum, &c.log);
                free(c.is_bit);
                free(c.bits);
                free(c.values);
            }
            T(release)(&p);
        }
    }
    cuzk_threads_destroy(run.threads);
}

static void T(test_threads_give_the_same_bytes)(void **unused)
{
    (void)unused;
    uint64_t state = test_seed();
    struct cuzk_error err;
    const struct bls12_381_ops *ops = bls12_381_ops(NULL);
    struct T(points) p = T(make)(ops, 3000, &state);
    struct T(compact) c = T(make_compact)(&p, 3, &state);
    SOURCE source = {.points = p.points};
    struct bls12_381_scalars scalars = {c.is_bit, c.bits, c.values};
    AFFINE first, a;
    for (unsigned threads = 1; threads <= 5; threads++) {
        struct cuzk_run run = {0};
        assert_ok(cuzk_threads_create(&run.threads, threads, &err), err);
        POINT sum;
        assert_ok(ops->OP(msm)(&sum, &source, &scalars, p.n, &run, &err), err);
        ops->OP(to_affine)(&a, &sum);
        if (threads == 1)
            first = a;
        assert_memory_equal(&a, &first, sizeof a);
        cuzk_threads_destroy(run.threads);
    }
    free(c.is_bit);
    free(c.bits);
    free(c.values);
    T(release)(&p);
}

static void T(test_fixed_base)(void **unused)
{
    (void)unused;
    uint64_t state = test_seed();
    struct cuzk_error err;
    static const size_t sizes[] = {0, 1, 2, 31, 33, 1000, 5000};
    struct cuzk_run run = {0};
    assert_ok(cuzk_threads_create(&run.threads, 3, &err), err);
    for_each_path(ops)
    {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            size_t n = sizes[i];
            fr *k = calloc(n + 1, sizeof *k);
            AFFINE *out = calloc(n + 1, sizeof *out);
            assert_true(k != NULL && out != NULL);
            for (size_t j = 0; j < n; j++) {
                k[j] = random_fr(&state);
                if (j % 7 == 1)
                    bls12_381_fr_from_u64(&k[j], j / 7);
                if (j % 7 == 2) {
                    bls12_381_fr_from_u64(&k[j], j / 7);
                    bls12_381_fr_neg(&k[j], &k[j]);
                }
            }
            assert_ok(
                ops->OP(fixed_base)(out, &GT_GLUE(GT, _generator), k, n, i % 2 ? &run : NULL, &err),
                err);
            for (size_t j = 0; j<n; j += n> 1000 ? 13 : 1) {
                POINT got;
                ops->OP(from_affine)(&got, &out[j]);
                T(assert_multiple)(ops, &got, &k[j]);
            }
            AFFINE nothing = {0}; /* multiples of infinity */
            assert_ok(ops->OP(fixed_base)(out, &nothing, k, n, NULL, &err), err);
            for (size_t j = 0; j < n; j++)
                assert_memory_equal(&out[j], &nothing, sizeof nothing);
            free(k);
            free(out);
        }
    }
    cuzk_threads_destroy(run.threads);
}

static void T(test_failures)(void **unused)
{
    (void)unused;
    uint64_t state = test_seed();
    struct cuzk_error err;
    const struct bls12_381_ops *ops = bls12_381_ops(NULL);
    struct T(points) p = T(make)(ops, 3000, &state);
    AFFINE *out = calloc(p.n, sizeof *out);
    assert_non_null(out);
    struct cuzk_run run = {0};
    assert_ok(cuzk_threads_create(&run.threads, 3, &err), err);
    for (size_t every = 0; every < 4; every++) {
        struct T(compact) c = T(make_compact)(&p, every, &state);
        struct bls12_381_scalars scalars = {c.is_bit, c.bits, c.values};
        struct T(fetcher) fetcher = {.points = p.points, .n = p.n};
        SOURCE source = {.fetch = T(fetch), .context = &fetcher};
        struct cuzk_account account;
        POINT sum;
        /* A budget that does not suffice. */
        assert_ok(cuzk_budget_create(&run.budget, "test", 20000, NULL, &err), err);
        assert_int_equal(ops->OP(msm)(&sum, &source, &scalars, p.n, &run, &err), CUZK_E_BUDGET);
        assert_int_equal(
            ops->OP(fixed_base)(out, &GT_GLUE(GT, _generator), p.logs, p.n, &run, &err),
            CUZK_E_BUDGET);
        cuzk_budget_read(run.budget, &account);
        assert_int_equal(account.used, 0);
        cuzk_budget_destroy(run.budget);
        /* Each allocation refused in turn. */
        assert_ok(cuzk_budget_create(&run.budget, "test", UINT64_MAX, NULL, &err), err);
        uint64_t failed = 0;
        for (cuzk_status status = CUZK_E_MEMORY; status != CUZK_OK; failed++) {
            cuzk_alloc_fail_at(failed + 1);
            status = ops->OP(msm)(&sum, &source, &scalars, p.n, &run, &err);
            cuzk_alloc_fail_at(0);
            assert_true(status == CUZK_OK || status == CUZK_E_MEMORY);
        }
        assert_true(failed >= 2);
        T(assert_multiple)(ops, &sum, &c.log);
        cuzk_alloc_fail_at(1);
        assert_int_equal(
            ops->OP(fixed_base)(out, &GT_GLUE(GT, _generator), p.logs, p.n, &run, &err),
            CUZK_E_MEMORY);
        cuzk_alloc_fail_at(0);
        /* A source that fails, early and late: its own status and words arrive. */
        for (uint64_t fail = 1; fail <= 3; fail++) {
            struct T(fetcher) bad = {.points = p.points, .n = p.n, .fail = fail};
            SOURCE broken = {.fetch = T(fetch), .context = &bad};
            assert_int_equal(ops->OP(msm)(&sum, &broken, &scalars, p.n, &run, &err), CUZK_E_POINT);
            assert_non_null(strstr(err.message, "is bad"));
            assert_int_equal(ops->OP(msm)(&sum, &broken, &scalars, p.n, &run, NULL), CUZK_E_POINT);
        }
        cuzk_budget_read(run.budget, &account);
        assert_int_equal(account.used, 0);
        assert_true(account.peak_by[CUZK_PURPOSE_MSM] > 0);
        cuzk_budget_destroy(run.budget);
        run.budget = NULL;
        free(c.is_bit);
        free(c.bits);
        free(c.values);
    }
    cuzk_threads_destroy(run.threads);
    free(out);
    T(release)(&p);
}

#define UNIT(name)                                                                                 \
    {                                                                                              \
#name, T(name), NULL, NULL, NULL                                                           \
    }
static const struct CMUnitTest T(tests)[] = {
    UNIT(test_sizes),
    UNIT(test_big_sizes),
    UNIT(test_awkward_points),
    UNIT(test_compact),
    UNIT(test_threads_give_the_same_bytes),
    UNIT(test_fixed_base),
    UNIT(test_failures),
};

#undef GT_GLUE_
#undef GT_GLUE
#undef BLS
#undef T
#undef UNIT
#undef OP
#undef POINT
#undef AFFINE
#undef SOURCE
#undef GT
#undef BIG
