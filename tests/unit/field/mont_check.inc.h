/* Every function of mont.inc.h for one field on one path, against GMP, on all pairs of edge values
 * and on random ones. Parameters: F and C as mont.inc.h has them.
 */
#define FN(name) CUZK_GLUE(F, name)
#define N CUZK_GLUE(C, _LIMBS)
#define BITS CUZK_GLUE(C, _BITS)

static void FN(_to_gmp)(mpz_t out, const uint64_t *words, size_t count)
{
    mpz_import(out, count, -1, 8, 0, 0, words);
}

static void FN(_from_gmp)(uint64_t *words, size_t count, const mpz_t in)
{
    memset(words, 0, count * sizeof *words);
    mpz_export(words, NULL, -1, 8, 0, 0, in);
}

/* Fails unless words are `want`, exactly: reduced where want is. */
static void FN(_expect)(const char *what, const uint64_t *words, size_t count, const mpz_t want)
{
    uint64_t expected[2 * N];
    FN(_from_gmp)(expected, count, want);
    if (memcmp(words, expected, count * sizeof *words) != 0) {
        gmp_printf("%s wants %Zx\n", what, want);
        for (size_t i = count; i-- > 0;)
            printf("%016llx", (unsigned long long)words[i]);
        printf("\n");
        fail_msg("%s", what);
    }
}

static void FN(_check_pair)(const struct F *a, const struct F *b, const mpz_t p, const mpz_t r_inv,
                            const mpz_t pr)
{
    mpz_t x, y, t, u;
    mpz_inits(x, y, t, u, NULL);
    FN(_to_gmp)(x, a->l, N);
    FN(_to_gmp)(y, b->l, N);
    struct F r;
    struct FN(_wide) w, v;

#define EXPECT(what, value) FN(_expect)(what, (value)->l, sizeof *(value) / 8, t)
    mpz_add(t, x, y);
    FN(_add_plain)(&r, a, b);
    EXPECT("add_plain", &r);
    mpz_mod(t, t, p);
    FN(_add)(&r, a, b);
    EXPECT("add", &r);
    mpz_sub(t, x, y);
    mpz_mod(t, t, p);
    FN(_sub)(&r, a, b);
    EXPECT("sub", &r);
    r = *a; /* aliases */
    FN(_sub)(&r, &r, b);
    EXPECT("sub in place", &r);
    r = *b;
    FN(_sub)(&r, a, &r);
    EXPECT("sub in place of b", &r);
    mpz_mul(t, x, y);
    FN(_mul_wide)(&w, a, b);
    EXPECT("mul_wide", &w);
    mpz_mul(t, t, r_inv);
    mpz_mod(t, t, p);
    FN(_mul)(&r, a, b);
    EXPECT("mul", &r);
    FN(_redc)(&r, &w);
    EXPECT("redc", &r);
    r = *b;
    FN(_mul)(&r, a, &r);
    EXPECT("mul in place", &r);

#if 64 * N - BITS >= 3 /* (2a) b, the unreduced operand that the quadratic extension uses */
    struct F twice;
    FN(_add_plain)(&twice, a, a);
    mpz_mul_2exp(t, x, 1);
    mpz_mul(t, t, y);
    mpz_mul(t, t, r_inv);
    mpz_mod(t, t, p);
    FN(_mul)(&r, &twice, b);
    EXPECT("mul of an unreduced a", &r);
    FN(_mul)(&r, b, &twice);
    EXPECT("mul of an unreduced b", &r);
#endif

    /* wide sums of w = ab and v = (p - 1 - a)(p - 1), near p R where the operands are large */
    struct F top = FN(_zero), rest;
    top.l[0] = 1;
    FN(_neg)(&top, &top);
    FN(_sub)(&rest, &top, a);
    FN(_mul_wide)(&v, &rest, &top);
    memcpy(v.l + N, rest.l, sizeof rest); /* the high half anything below p */
    FN(_to_gmp)(u, v.l, (size_t)(2 * N));
    mpz_mul(x, x, y);
    mpz_add(t, x, u);
    mpz_mod(t, t, pr);
    struct FN(_wide) s;
    FN(_wide_add_mod)(&s, &w, &v);
    EXPECT("wide_add_mod", &s);
    s = w;
    FN(_wide_add_mod)(&s, &s, &v);
    EXPECT("wide_add_mod in place", &s);
    FN(_redc)(&r, &s);
    mpz_mul(t, t, r_inv);
    mpz_mod(t, t, p);
    EXPECT("redc of a sum", &r);
    mpz_sub(t, x, u);
    int sign = mpz_sgn(t);
    mpz_mod(t, t, pr);
    FN(_wide_sub)(&s, &w, &v);
    EXPECT("wide_sub", &s);
    s = v;
    FN(_wide_sub)(&s, &w, &s);
    EXPECT("wide_sub in place", &s);
    if (sign >= 0) {
        FN(_wide_sub_plain)(&s, &w, &v);
        EXPECT("wide_sub_plain", &s);
    }
    mpz_sub(t, u, x);
    mpz_mod(t, t, pr);
    FN(_wide_sub)(&s, &v, &w);
    EXPECT("wide_sub turned", &s);
    mpz_mul_2exp(t, x, 1);
    if (mpz_cmp(t, pr) < 0) {
        FN(_wide_add)(&s, &w, &w);
        EXPECT("wide_add", &s);
    }
    mpz_clears(x, y, t, u, NULL);
}

static void FN(_check_one)(const struct F *a, const mpz_t p, const mpz_t r_inv)
{
    mpz_t x, t, u;
    mpz_inits(x, t, u, NULL);
    FN(_to_gmp)(x, a->l, N);
    struct F r;
    FN(_neg)(&r, a);
    mpz_neg(t, x);
    mpz_mod(t, t, p);
    EXPECT("neg", &r);
    FN(_dbl)(&r, a);
    mpz_mul_2exp(t, x, 1);
    mpz_mod(t, t, p);
    EXPECT("dbl", &r);
    FN(_sqr)(&r, a);
    mpz_mul(t, x, x);
    mpz_mul(t, t, r_inv);
    mpz_mod(t, t, p);
    EXPECT("sqr", &r);
    FN(_halve)(&r, a);
    FN(_dbl)(&r, &r);
    mpz_set(t, x);
    EXPECT("halve", &r);

    /* the number itself, and its encodings */
    mpz_mul(t, x, r_inv);
    mpz_mod(t, t, p);
    uint64_t words[N];
    FN(_to_limbs)(words, a);
    FN(_expect)("to_limbs", words, N, t);
    uint8_t bytes[8 * N], want[8 * N] = {0};
    FN(_to_le)(bytes, a);
    mpz_export(want, NULL, -1, 1, 0, 0, t);
    assert_memory_equal(bytes, want, sizeof bytes);
    assert_true(FN(_from_le)(&r, bytes) && FN(_eq)(&r, a));
    FN(_to_be)(bytes, a);
    for (int i = 0; i < 8 * N; i++)
        assert_int_equal(bytes[i], want[8 * N - 1 - i]);
    assert_true(FN(_from_be)(&r, bytes) && FN(_eq)(&r, a));
    mpz_mul_2exp(u, t, 1);
    assert_int_equal(FN(_is_larger)(a), mpz_cmp(u, p) > 0);
    assert_int_equal(FN(_is_zero)(a), mpz_sgn(x) == 0);
    assert_int_equal(FN(_is_one)(a), mpz_cmp_ui(t, 1) == 0);

    /* inverse: of the number, so R^2 over the words */
    if (mpz_invert(u, t, p) == 0)
        mpz_set_ui(u, 0);
    FN(_inv)(&r, a);
    FN(_to_limbs)(words, &r);
    FN(_expect)("inv", words, N, u);
    mpz_powm_ui(u, t, 1000003, p);
    FN(_pow_u64)(&r, a, 1000003);
    FN(_to_limbs)(words, &r);
    FN(_expect)("pow", words, N, u);
    mpz_clears(x, t, u, NULL);
}
#undef EXPECT

static void FN(_test)(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    mpz_t p, r_inv, pr, t;
    mpz_inits(p, r_inv, pr, t, NULL);
    FN(_to_gmp)(p, FN(_modulus), N);
    mpz_setbit(r_inv, 64 * N);
    mpz_mul(pr, p, r_inv);
    assert_true(mpz_invert(r_inv, r_inv, p) != 0);

    /* Numbers beside 0, p, p/2, every word's end, and all ones in the low words. */
    struct F edge[8 + 4 * N];
    size_t edges = 0;
    for (int k = -2; k <= 2; k++) {
        mpz_set_si(t, k);
        mpz_mod(t, t, p);
        FN(_from_gmp)(edge[edges++].l, N, t);
    }
    mpz_tdiv_q_2exp(t, p, 1);
    FN(_from_gmp)(edge[edges++].l, N, t);
    mpz_add_ui(t, t, 1);
    FN(_from_gmp)(edge[edges++].l, N, t);
    edge[edges++] = FN(_one);
    for (int i = 1; i < N; i++) {
        mpz_set_ui(t, 0);
        mpz_setbit(t, (mp_bitcnt_t)(64 * i));
        FN(_from_gmp)(edge[edges++].l, N, t);
        mpz_sub_ui(t, t, 1);
        FN(_from_gmp)(edge[edges++].l, N, t);
        mpz_sub(t, p, t);
        FN(_from_gmp)(edge[edges++].l, N, t);
    }
    for (size_t i = 0; i < edges; i++) {
        FN(_check_one)(&edge[i], p, r_inv);
        for (size_t j = 0; j < edges; j++)
            FN(_check_pair)(&edge[i], &edge[j], p, r_inv, pr);
    }
    for (int i = 0; i < 3000; i++) {
        struct F v[2];
        for (int j = 0; j < 2; j++) {
            for (int k = 0; k < N; k++) { /* one word in four all ones or zeros */
                uint64_t x = test_random(&random);
                v[j].l[k] = x % 8 == 0 ? 0 : x % 8 == 1 ? UINT64_MAX : test_random(&random);
            }
            FN(_to_gmp)(t, v[j].l, N);
            mpz_mod(t, t, p);
            FN(_from_gmp)(v[j].l, N, t);
        }
        FN(_check_pair)(&v[0], &v[1], p, r_inv, pr);
        if (i < 300)
            FN(_check_one)(&v[0], p, r_inv);
    }

    /* Out of range: p, p + 1, all ones. */
    uint64_t words[N];
    struct F r;
    memcpy(words, FN(_modulus), sizeof words);
    assert_false(FN(_from_limbs)(&r, words));
    assert_true(FN(_is_zero)(&r));
    words[0]++;
    assert_false(FN(_from_limbs)(&r, words));
    memset(words, 0xff, sizeof words);
    assert_false(FN(_from_limbs)(&r, words));
    uint8_t bytes[8 * N];
    memset(bytes, 0xff, sizeof bytes);
    assert_false(FN(_from_le)(&r, bytes));
    assert_false(FN(_from_be)(&r, bytes));
    mpz_clears(p, r_inv, pr, t, NULL);
}

#undef FN
#undef N
#undef BITS
#undef F
#undef C
