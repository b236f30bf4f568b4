/* msm_finish.h for one group. Parameter: GROUP (g1 or g2). */
#ifndef GROUP
#error "define GROUP: g1 or g2"
#endif
#define NAME_(prefix, group, suffix) prefix##group##suffix
#define NAME(prefix, group, suffix) NAME_(prefix, group, suffix)
#define POINT struct NAME(bls12_381_, GROUP, )
#define ADD ops->NAME(, GROUP, _add)
#define DOUBLE ops->NAME(, GROUP, _double)
#define NEG ops->NAME(, GROUP, _neg)

static void NAME(doublings_, GROUP, )(const struct bls12_381_ops *ops, POINT *a, int n)
{
    while (n-- > 0)
        DOUBLE(a, a);
}

void NAME(cuzk_msm_finish_, GROUP, )(POINT *sum, const struct cuzk_msm_shape *shape,
                                     const POINT *sums)
{
    const struct bls12_381_ops *ops = bls12_381_ops(NULL);
    const size_t blocks = shape->block0[shape->windows];
    POINT total;
    memset(&total, 0, sizeof total);
    for (int k = shape->windows - 1; k >= 0; k--) {
        /* The window's sum over its blocks j is 2^low (R + 2^(high) P) + C: R the rows' weighted
         * less plain sums, C the columns' weighted sums, P = sum of j times the columns' plain sum.
         * Its doublings are shared with those between windows. */
        POINT plain, run;
        memset(&plain, 0, sizeof plain);
        memset(&run, 0, sizeof run);
        for (size_t b = shape->block0[k + 1]; b-- > shape->block0[k] + 1;) {
            ADD(&run, &run, &sums[2 * blocks + 2 * b + 1]);
            ADD(&plain, &plain, &run);
        }
        NAME(doublings_, GROUP, )(ops, &total, shape->bits[k] - shape->low - shape->high);
        ADD(&total, &total, &plain);
        NAME(doublings_, GROUP, )(ops, &total, shape->high);
        for (size_t b = shape->block0[k]; b < shape->block0[k + 1]; b++) {
            POINT t;
            NEG(&t, &sums[2 * b + 1]);
            ADD(&total, &total, &t);
            ADD(&total, &total, &sums[2 * b]);
        }
        NAME(doublings_, GROUP, )(ops, &total, shape->low);
        for (size_t b = shape->block0[k]; b < shape->block0[k + 1]; b++)
            ADD(&total, &total, &sums[2 * blocks + 2 * b]);
    }
    ADD(sum, sum, &total);
}

void NAME(cuzk_sum_blocks_, GROUP, )(POINT *sum, const POINT *sums, size_t blocks)
{
    const struct bls12_381_ops *ops = bls12_381_ops(NULL);
    for (size_t b = 0; b < blocks; b++)
        ADD(sum, sum, &sums[b]);
}

void NAME(cuzk_base_powers_, GROUP, )(struct NAME(bls12_381_, GROUP, _affine) * out,
                                      const struct NAME(bls12_381_, GROUP, _affine) * base,
                                      int count, int bits)
{
    const struct bls12_381_ops *ops = bls12_381_ops(NULL);
    POINT p;
    ops->NAME(, GROUP, _from_affine)(&p, base);
    for (int k = 0; k < count; k++) {
        if (k > 0)
            NAME(doublings_, GROUP, )(ops, &p, bits);
        ops->NAME(, GROUP, _to_affine)(&out[k], &p);
    }
}

#undef NAME_
#undef NAME
#undef POINT
#undef ADD
#undef NEG
#undef DOUBLE
#undef GROUP
