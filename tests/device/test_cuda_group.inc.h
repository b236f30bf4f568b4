/* Tests of group operations on the device for one group. Parameters: GROUP (g1 or g2), GENERATOR.
 */
#ifndef GROUP
#error "define GROUP: g1 or g2"
#endif
#define NAME_(prefix, group, suffix) prefix##group##suffix
#define NAME(prefix, group, suffix) NAME_(prefix, group, suffix)
#define POINT struct NAME(bls12_381_, GROUP, )
#define AFFINE struct NAME(bls12_381_, GROUP, _affine)
#define OP(name) ops->NAME(, GROUP, name)
#define GROUP_TEXT_(group) #group
#define GROUP_TEXT(group) GROUP_TEXT_(group)

static bool NAME(is_multiple_, GROUP, )(const POINT *p, const struct bls12_381_fr *k)
{
    static const AFFINE generator = GENERATOR;
    POINT g;
    AFFINE want, got;
    OP(_from_affine)(&g, &generator);
    OP(_mul)(&g, &g, k);
    OP(_to_affine)(&want, &g);
    OP(_to_affine)(&got, p);
    return memcmp(&want, &got, sizeof want) == 0;
}

/* k_i G on the device; returns its address */
static void *NAME(multiples_, GROUP, )(const struct bls12_381_fr *k, size_t n)
{
    static const AFFINE generator = GENERATOR;
    void *d = upload(k, n * sizeof *k), *points;
    TEST_OK(cuzk_cuda_alloc(device, &points, CUZK_PURPOSE_OTHER, n * sizeof(AFFINE), err));
    TEST_OK(NAME(cuzk_cuda_fixed_base_, GROUP, )(device, points, &generator, d, n, err));
    cuzk_cuda_free(device, d);
    return points;
}

static void NAME(test_fixed_base_, GROUP, )(size_t n)
{
    struct bls12_381_fr *k = allocate(n * sizeof *k);
    AFFINE *got = allocate(n * sizeof *got);
    for (size_t i = 0; i < n; i++)
        k[i] = test_edge_fr(i);
    void *points = NAME(multiples_, GROUP, )(k, n);
    TEST_OK(cuzk_cuda_download(device, got, points, n * sizeof *got, err));
    size_t wrong = 0, step = n > 512 ? n / 256 : 1;
    for (size_t i = 0; i < n; i += step) {
        POINT p;
        OP(_from_affine)(&p, &got[i]);
        wrong += !NAME(is_multiple_, GROUP, )(&p, &k[i]);
    }
    test_result(wrong == 0, GROUP_TEXT(GROUP) " fixed base of %zu: %zu wrong", n, wrong);
    cuzk_cuda_free(device, points);
    free(k);
    free(got);
}

/* Points of one pattern, reused for all scalars. BIG: of the largest sums. */
enum {
    NAME(POINTS_PLAIN_, GROUP, ),
    NAME(POINTS_EDGE_, GROUP, ),
    NAME(POINTS_FEW_, GROUP, ),
    NAME(BIG_LOG2_, GROUP, ) = sizeof(AFFINE) == sizeof(struct bls12_381_g1_affine) ? 20 : 18
};

static struct bls12_381_fr *NAME(point_logs_, GROUP, )(size_t n, int pattern)
{
    struct bls12_381_fr *k = allocate(n * sizeof *k);
    for (size_t i = 0; i < n; i++) {
        k[i] = test_random_fr();
        if (pattern ==
            NAME(POINTS_EDGE_, GROUP, )) { /* infinity, repetitions, pairs of opposites */
            uint64_t t = test_random() % 8;
            if (t == 0)
                k[i] = bls12_381_fr_zero;
            else if (t < 3 && i > 0)
                k[i] = k[test_random() % i];
            else if (t < 5 && i > 0)
                bls12_381_fr_neg(&k[i], &k[test_random() % i]);
        } else if (pattern == NAME(POINTS_FEW_, GROUP, ) && i >= 3) {
            k[i] = k[i % 3];
        }
    }
    return k;
}

static struct bls12_381_fr NAME(scalar_, GROUP, )(size_t i, int pattern,
                                                  const struct bls12_381_fr *same)
{
    struct bls12_381_fr s = bls12_381_fr_zero;
    switch (pattern) {
    case 0:
        return test_random_fr();
    case 1:
        return test_edge_fr(i);
    case 2:
        return bls12_381_fr_zero;
    case 3:
        return bls12_381_fr_one;
    case 4:
        bls12_381_fr_neg(&s, &bls12_381_fr_one);
        return s;
    case 5:
        return *same;
    case 6: /* small */
        bls12_381_fr_from_u64(&s, test_random() % 1000);
        return s;
    case 7: /* of few values */
        bls12_381_fr_from_u64(&s, 1 + i % 3);
        return i % 7 == 0 ? *same : s;
    default: /* of each class, and at the ends of the short one, with both signs */
        switch (test_random() % 8) {
        case 0:
            return bls12_381_fr_zero;
        case 1:
        case 2:
            return bls12_381_fr_one;
        case 3:
            bls12_381_fr_from_u64(&s, UINT32_MAX - test_random() % 2);
            break;
        case 4:
            bls12_381_fr_from_u64(&s, ((uint64_t)1 << 32) + test_random() % 2);
            break;
        case 5:
            return test_random_fr();
        default:
            bls12_381_fr_from_u64(&s, test_random() >> 32);
        }
        if (test_random() % 2)
            bls12_381_fr_neg(&s, &s);
        return s;
    }
}

static void NAME(test_msm_, GROUP, )(size_t n, int pattern, int scalars, bool indexed)
{
    const size_t points_n = indexed ? n / 2 + 1 : n;
    struct bls12_381_fr *k = NAME(point_logs_, GROUP, )(points_n, pattern),
                        *s = allocate(n * sizeof *s);
    struct bls12_381_fr same = test_random_fr(), sum = bls12_381_fr_zero, t;
    uint32_t *index = allocate(n * sizeof *index);
    void *points = NAME(multiples_, GROUP, )(k, points_n);
    for (size_t i = 0; i < n; i++) {
        s[i] = NAME(scalar_, GROUP, )(i, scalars, &same);
        index[i] = indexed ? (uint32_t)(test_random() % points_n) : (uint32_t)i;
        bls12_381_fr_mul(&t, &s[i], &k[index[i]]);
        bls12_381_fr_add(&sum, &sum, &t);
    }
    void *ds = upload(s, n * sizeof *s), *di = upload(index, n * sizeof *index);
    POINT got;
    TEST_OK(NAME(cuzk_cuda_msm_, GROUP, )(device, &got, points, indexed ? di : NULL, ds, n, err));
    test_result(NAME(is_multiple_, GROUP, )(&got, &sum),
                GROUP_TEXT(GROUP) " msm of %zu, points %d, scalars %d, index %d", n, pattern,
                scalars, indexed);
    TEST_OK(
        NAME(cuzk_cuda_msm_mixed_, GROUP, )(device, &got, points, indexed ? di : NULL, ds, n, err));
    test_result(NAME(is_multiple_, GROUP, )(&got, &sum),
                GROUP_TEXT(GROUP) " mixed msm of %zu, points %d, scalars %d, index %d", n, pattern,
                scalars, indexed);
    cuzk_cuda_free(device, points);
    cuzk_cuda_free(device, ds);
    cuzk_cuda_free(device, di);
    free(k);
    free(s);
    free(index);
}

static void NAME(test_bit_sum_, GROUP, )(size_t n, int pattern, int density)
{
    struct bls12_381_fr *k = NAME(point_logs_, GROUP, )(n, pattern), sum = bls12_381_fr_zero;
    void *points = NAME(multiples_, GROUP, )(k, n);
    size_t words = n / 64 + 1;
    uint64_t *bits = allocate(words * sizeof *bits);
    for (size_t w = 0; w < words; w++) /* bits behind n are set too: they must be ignored */
        bits[w] = density == 0   ? 0
                  : density == 1 ? test_random() & test_random() & test_random()
                  : density == 2 ? test_random()
                                 : UINT64_MAX;
    for (size_t i = 0; i < n; i++)
        if (bits[i / 64] >> (i % 64) & 1)
            bls12_381_fr_add(&sum, &sum, &k[i]);
    void *db = upload(bits, words * sizeof *bits);
    POINT got;
    TEST_OK(NAME(cuzk_cuda_bit_sum_, GROUP, )(device, &got, points, db, n, err));
    test_result(NAME(is_multiple_, GROUP, )(&got, &sum),
                GROUP_TEXT(GROUP) " bit sum of %zu, points %d, density %d", n, pattern, density);
    cuzk_cuda_free(device, points);
    cuzk_cuda_free(device, db);
    free(k);
    free(bits);
}

static void NAME(test_group_, GROUP, )(bool quick)
{
    NAME(test_fixed_base_, GROUP, )(1);
    NAME(test_fixed_base_, GROUP, )(300);
    NAME(test_fixed_base_, GROUP, )(quick ? 5000 : 100000);
    static const size_t sizes[] = {0,   1,   2,    3,    31,   32,    33,    511,
                                   512, 513, 4095, 4096, 4097, 65535, 65536, 65537};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (quick && sizes[i] > 600)
            break;
        for (int pattern = 0; pattern < 3; pattern++) {
            if (sizes[i] == 0 && pattern > 0)
                continue;
            for (int scalars = 0; scalars < 9; scalars++) {
                if (sizes[i] > 5000 && pattern != 1 && scalars > 1)
                    continue;
                if (quick && sizes[i] > 33 && scalars > 1 && scalars < 8)
                    continue;
                NAME(test_msm_, GROUP, )(sizes[i], pattern, scalars, (scalars + pattern) % 3 == 2);
            }
            for (int density = 0; density < 4; density++)
                NAME(test_bit_sum_, GROUP, )(sizes[i], pattern, density);
        }
    }
    if (quick)
        return;
    /* every kind of scalars (uniform; 0, 1, -1, 2 among them; one value for all: one bucket a
     * window; small; of few values; of each class) over points with infinity, repetitions and
     * opposites, then uniform ones over plain points and over three */
    const size_t big = (size_t)1 << NAME(BIG_LOG2_, GROUP, );
    for (int scalars = 0; scalars < 9; scalars++)
        NAME(test_msm_, GROUP, )(big, NAME(POINTS_EDGE_, GROUP, ), scalars, scalars >= 7);
    NAME(test_msm_, GROUP, )((size_t)1 << 20, NAME(POINTS_PLAIN_, GROUP, ), 0, false);
    NAME(test_msm_, GROUP, )(big, NAME(POINTS_FEW_, GROUP, ), 0, true);
    NAME(test_msm_, GROUP, )(big, NAME(POINTS_FEW_, GROUP, ), 5, false);
    for (int density = 1; density < 4; density++)
        NAME(test_bit_sum_, GROUP, )(big + 77, NAME(POINTS_EDGE_, GROUP, ), density);
}

#undef NAME_
#undef NAME
#undef POINT
#undef AFFINE
#undef OP
#undef GROUP_TEXT_
#undef GROUP_TEXT
#undef GROUP
#undef GENERATOR
