/* Everything about one toy group: all points, all pairs, all scalars, through the templates that
 * the real curve uses. Parameters: T, TB, TX, TY, TORDER as toy.inc.h has them.
 *
 * Multiple k of the generator is known by a table made with the textbook's chord and tangent, one
 * inversion each; every other way to reach it is held against that.
 */
#include "curve/toy/toy.inc.h"

#define TN(name) CUZK_GLUE(T, name)
#define AFFINE TN(_affine)

static struct AFFINE TN(_multiple)[TORDER];

static struct AFFINE TN(_textbook_add)(const struct AFFINE *a, const struct AFFINE *b)
{
    const struct AFFINE infinity = {{{0}}, {{0}}};
    struct bls12_381_fp n, d, t;
    if (TN(_affine_is_infinity)(a) || TN(_affine_is_infinity)(b))
        return TN(_affine_is_infinity)(a) ? *b : *a;
    bls12_381_fp_add(&t, &a->y, &b->y);
    if (bls12_381_fp_eq(&a->x, &b->x)) {
        if (bls12_381_fp_is_zero(&t))
            return infinity;
        bls12_381_fp_mul(&n, &a->x, &a->x);
        bls12_381_fp_add(&d, &n, &n);
        bls12_381_fp_add(&n, &n, &d);
        d = t;
    } else {
        bls12_381_fp_sub(&n, &a->y, &b->y);
        bls12_381_fp_sub(&d, &a->x, &b->x);
    }
    bls12_381_fp_inv(&d, &d);
    bls12_381_fp_mul(&n, &n, &d);
    struct AFFINE r;
    bls12_381_fp_mul(&r.x, &n, &n);
    bls12_381_fp_sub(&r.x, &r.x, &a->x);
    bls12_381_fp_sub(&r.x, &r.x, &b->x);
    bls12_381_fp_sub(&t, &a->x, &r.x);
    bls12_381_fp_mul(&r.y, &n, &t);
    bls12_381_fp_sub(&r.y, &r.y, &a->y);
    return r;
}

static void TN(_make_table)(void)
{
    memset(&TN(_multiple)[0], 0, sizeof TN(_multiple)[0]);
    for (unsigned k = 1; k < TORDER; k++) {
        TN(_multiple)
        [k] = TN(_textbook_add)(&TN(_multiple)[k - 1], &TN(_generator));
        assert_true(TN(_affine_on_curve)(&TN(_multiple)[k]));
        for (unsigned j = 0; j < k; j++)
            assert_false(TN(_affine_eq)(&TN(_multiple)[j], &TN(_multiple)[k]));
    }
    struct AFFINE last = TN(_textbook_add)(&TN(_multiple)[TORDER - 1], &TN(_generator));
    assert_true(TN(_affine_is_infinity)(&last));
}

/* Multiple k with Z = z; infinity with any X and Y where z = 0. */
static struct T TN(_projective)(unsigned k, uint64_t z)
{
    struct T r;
    struct bls12_381_fp f, ff;
    TN(_from_affine)(&r, &TN(_multiple)[k]);
    bls12_381_fp_from_u64(&f, z);
    bls12_381_fp_mul(&ff, &f, &f);
    bls12_381_fp_mul(&r.x, &r.x, &ff);
    bls12_381_fp_mul(&ff, &ff, &f);
    bls12_381_fp_mul(&r.y, &r.y, &ff);
    bls12_381_fp_mul(&r.z, &r.z, &f);
    return r;
}

/* Fails unless p is multiple k, by its own comparison and by its affine form. */
static void TN(_is)(const char *what, const struct T *p, unsigned k)
{
    struct T want;
    struct AFFINE a;
    TN(_from_affine)(&want, &TN(_multiple)[k % TORDER]);
    TN(_to_affine)(&a, p);
    if (!TN(_eq)(p, &want) || !TN(_affine_eq)(&a, &TN(_multiple)[k % TORDER]))
        fail_msg("%s in the group of order %d: not multiple %u", what, TORDER, k % TORDER);
}

static void TN(_test_pairs)(void **state)
{
    (void)state;
    TN(_make_table)();
    const uint64_t zs[] = {1, 7, 0xfedcba9876543210};
    for (unsigned i = 0; i < TORDER; i++) {
        for (unsigned s = 0; s < 3; s++) {
            struct T p = TN(_projective)(i, zs[s]), r;
            TN(_is)("itself", &p, i);
            TN(_double)(&r, &p);
            TN(_is)("double", &r, 2 * i);
            TN(_neg)(&r, &p);
            TN(_is)("neg", &r, TORDER - i);
            TN(_add)(&r, &r, &p);
            TN(_is)("add of the negative", &r, 0);
            r = p;
            TN(_add)(&r, &r, &r);
            TN(_is)("add to itself in place", &r, 2 * i);
            r = p;
            TN(_double)(&r, &r);
            TN(_is)("double in place", &r, 2 * i);
            struct AFFINE negative;
            TN(_affine_neg)(&negative, &TN(_multiple)[i]);
            assert_true(TN(_affine_eq)(&negative, &TN(_multiple)[(TORDER - i) % TORDER]));
            for (unsigned j = 0; j < TORDER; j++) {
                struct T q = TN(_projective)(j, zs[(s + j) % 3]);
                assert_int_equal(TN(_eq)(&p, &q), i == j);
                TN(_add)(&r, &p, &q);
                TN(_is)("add", &r, i + j);
                r = q;
                TN(_add)(&r, &p, &r);
                TN(_is)("add in place", &r, i + j);
                TN(_add_affine)(&r, &p, &TN(_multiple)[j]);
                TN(_is)("add_affine", &r, i + j);
            }
        }
    }
}

static void TN(_test_scalars)(void **state)
{
    (void)state;
    TN(_make_table)();
    uint64_t random = test_seed();
    for (unsigned i = 0; i < TORDER; i++) {
        struct T p = TN(_projective)(i, 7), r;
        for (uint64_t k = 0; k < 3 * TORDER; k++) {
            TN(_mul_limbs)(&r, &p, &k, 1);
            TN(_is)("mul_limbs", &r, (unsigned)(k * i % TORDER));
            TN(_mul_sparse)(&r, &p, k);
            TN(_is)("mul_sparse", &r, (unsigned)(k * i % TORDER));
        }
        for (int turn = 0; turn < 20; turn++) {
            uint64_t k[4];
            cuzk_u128 mod = 0;
            for (int j = 0; j < 4; j++)
                k[j] = turn == 0 ? UINT64_MAX : test_random(&random);
            for (int j = 3; j >= 0; j--)
                mod = (mod << 64 | k[j]) % TORDER;
            r = p;
            TN(_mul_limbs)(&r, &r, k, 4);
            TN(_is)("mul_limbs of four words", &r, (unsigned)mod * i);
        }
    }
}

static void TN(_test_batches)(void **state)
{
    (void)state;
    TN(_make_table)();
    static struct T in[TORDER * TORDER];
    static struct AFFINE out[2 * TORDER * TORDER];
    const size_t pairs = TORDER * TORDER;
    for (size_t n = 0; n <= pairs; n = n < 5 ? n + 1 : 3 * n) {
        for (size_t i = 0; i < n; i++)
            in[i] = TN(_projective)((unsigned)(i % TORDER), i + 1);
        TN(_batch_to_affine)(out, in, n);
        for (size_t i = 0; i < n; i++)
            assert_true(TN(_affine_eq)(&out[i], &TN(_multiple)[i % TORDER]));
    }
    /* every sum of two points in one batch */
    size_t capacity = 2 * pairs;
    uint8_t *memory = test_malloc(capacity * 400);
    struct TN(_batch) batch;
    TN(_batch_carve)(&batch, memory, capacity);
    for (size_t i = 0; i < pairs; i++) {
        out[i] = TN(_multiple)[i / TORDER];
        out[pairs + i] = TN(_multiple)[i % TORDER];
    }
    TN(_batch_add)(&batch, out, NULL, pairs, pairs);
    for (size_t i = 0; i < pairs; i++)
        assert_true(TN(_affine_eq)(&out[i], &TN(_multiple)[(i / TORDER + i % TORDER) % TORDER]));
    test_free(memory);
}

static unsigned TN(_msm_of)(const struct AFFINE *points, const struct TN(_scalars) * scalars,
                            size_t n)
{
    struct TN(_source) source = {.points = points};
    struct cuzk_error err;
    struct T sum;
    struct AFFINE a;
    assert_ok(TN(_msm)(&sum, &source, scalars, n, NULL, &err), err);
    TN(_to_affine)(&a, &sum);
    for (unsigned k = 0; k < TORDER; k++)
        if (TN(_affine_eq)(&a, &TN(_multiple)[k]))
            return k;
    fail_msg("a sum in the group of order %d is not in it", TORDER);
    return 0;
}

static void TN(_test_msm)(void **state)
{
    (void)state;
    TN(_make_table)();
    struct AFFINE points[4];
    struct TN(_scalar) values[4];
    struct TN(_scalars) scalars = {.values = values};
    /* one product: every point, every scalar */
    for (unsigned i = 0; i < TORDER; i++)
        for (unsigned k = 0; k < TORDER; k++) {
            points[0] = TN(_multiple)[i];
            values[0].l[0] = k;
            assert_int_equal(TN(_msm_of)(points, &scalars, 1), i * k % TORDER);
        }
    /* two, where they are few enough */
    for (unsigned i = 0; i < TORDER && TORDER <= 11; i++)
        for (unsigned j = 0; j < TORDER; j++)
            for (unsigned k = 0; k < TORDER; k++)
                for (unsigned l = 0; l < TORDER; l++) {
                    points[0] = TN(_multiple)[i];
                    points[1] = TN(_multiple)[j];
                    values[0].l[0] = k;
                    values[1].l[0] = l;
                    assert_int_equal(TN(_msm_of)(points, &scalars, 2), (i * k + j * l) % TORDER);
                }
    /* all products in one sum, in sizes that cut through them, and with bits among them */
    const size_t all = TORDER * TORDER;
    static struct AFFINE many[TORDER * TORDER];
    static struct TN(_scalar) each[TORDER * TORDER], dense[TORDER * TORDER];
    static uint64_t is_bit[(TORDER * TORDER + 63) / 64], bits[(TORDER * TORDER + 63) / 64];
    for (size_t i = 0; i < all; i++) {
        many[i] = TN(_multiple)[i / TORDER];
        each[i].l[0] = i % TORDER;
    }
    for (size_t n = 0; n <= all; n = n < 70 ? n + 1 : n + 997) {
        struct TN(_scalars) s = {.values = each};
        unsigned want = 0, want_bits = 0;
        size_t values_left = 0;
        memset(is_bit, 0, sizeof is_bit);
        memset(bits, 0, sizeof bits);
        for (size_t i = 0; i < n; i++) {
            unsigned point = (unsigned)(i / TORDER), k = (unsigned)(i % TORDER);
            want = (want + point * k) % TORDER;
            if (i % 3 != 0) {
                is_bit[i / 64] |= (uint64_t)1 << (i % 64);
                bits[i / 64] |= (uint64_t)(i % 5 < 3) << (i % 64);
                want_bits = (want_bits + (i % 5 < 3 ? point : 0)) % TORDER;
            } else {
                dense[values_left++].l[0] = k;
                want_bits = (want_bits + point * k) % TORDER;
            }
        }
        assert_int_equal(TN(_msm_of)(many, &s, n), want);
        s = (struct TN(_scalars)){.is_bit = is_bit, .bits = bits, .values = dense};
        assert_int_equal(TN(_msm_of)(many, &s, n), want_bits);
    }
    /* multiples of every point by every scalar */
    for (unsigned i = 0; i < TORDER; i++) {
        struct cuzk_error err;
        assert_ok(TN(_fixed_base)(many, &TN(_multiple)[i], each, TORDER, NULL, &err), err);
        for (unsigned k = 0; k < TORDER; k++)
            assert_true(TN(_affine_eq)(&many[k], &TN(_multiple)[i * k % TORDER]));
    }
}

#undef TN
#undef AFFINE
#undef T
#undef TORDER
