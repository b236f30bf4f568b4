/* See poseidon.h: the constants, and which path runs the permutation. */
#include "circuit/poseidon.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "circuit/poseidon_kernels.h"
#include "curve/bls12_381/ops.h"

typedef struct bls12_381_fr fr;
enum { MAX = CUZK_POSEIDON_MAX_WIDTH };
typedef fr matrix[MAX][MAX];

/* ---- round numbers ---- */

/* The least number of full rounds that is secure beside `partial` ones, at 128 bits. The field
 * counts as 256 bits, and the arithmetic is in single precision, as the network's parameters were
 * found. */
static int full_rounds_needed(int width, int partial)
{
    float t = (float)width, p = (float)partial, n = 256, m = 128;
    float statistical = m <= (n - 3) * (t + 1) ? 6 : 10;
    float bounds[4] = {statistical, 0.43F * m + log2f(t) - p, 0.21F * n - p,
                       (0.14F * n - 1 - p) / (t - 1)};
    int most = 0;
    for (int i = 0; i < 4; i++)
        if ((int)ceilf(bounds[i]) > most)
            most = (int)ceilf(bounds[i]);
    return most;
}

static void round_numbers(int width, int *full, int *partial)
{
    int best = 1 << 30;
    *full = *partial = 0;
    for (int rf = 2; rf <= 200; rf += 2)
        for (int rp = 4; rp < 200; rp++) {
            if (rf < full_rounds_needed(width, rp))
                continue;
            int f = rf + 2, p = (int)ceilf(1.075F * (float)rp);
            int boxes = width * f + p;
            if (boxes < best || (boxes == best && f < *full)) {
                best = boxes;
                *full = f;
                *partial = p;
            }
        }
}

/* ---- round constants ---- */

/* Grain: 80 bits, b[i + 80] = b[i + 62] + b[i + 51] + b[i + 38] + b[i + 23] + b[i + 13] + b[i]. */
struct grain {
    uint8_t bits[80];
    int at;
};

static int grain_step(struct grain *g)
{
    static const int taps[6] = {62, 51, 38, 23, 13, 0};
    uint8_t bit = 0;
    for (int i = 0; i < 6; i++)
        bit ^= g->bits[(g->at + taps[i]) % 80];
    g->bits[g->at] = bit;
    g->at = (g->at + 1) % 80;
    return bit;
}

/* Bits come in pairs; the second counts where the first is one. */
static int grain_bit(struct grain *g)
{
    while (grain_step(g) == 0)
        grain_step(g);
    return grain_step(g);
}

static void grain_start(struct grain *g, int width, int full, int partial)
{
    /* field: prime; S-box: x^5 (alpha); bits of the field, width, rounds; then ones */
    const struct {
        int bits;
        uint32_t value;
    } fields[7] = {{2, 1},
                   {4, 1},
                   {12, BLS12_381_FR_BITS},
                   {12, (uint32_t)width},
                   {10, (uint32_t)full},
                   {10, (uint32_t)partial},
                   {30, 0x3fffffff}};
    int n = 0;
    for (int i = 0; i < 7; i++)
        for (int b = fields[i].bits - 1; b >= 0; b--)
            g->bits[n++] = fields[i].value >> b & 1;
    g->at = 0;
    for (int i = 0; i < 160; i++)
        grain_step(g);
}

/* The next 255 bits, most significant first, that are a number below the modulus. */
static void grain_element(struct grain *g, fr *out)
{
    uint64_t limbs[4];
    do {
        memset(limbs, 0, sizeof limbs);
        for (int i = BLS12_381_FR_BITS - 1; i >= 0; i--)
            limbs[i / 64] |= (uint64_t)grain_bit(g) << (i % 64);
    } while (!bls12_381_fr_limbs_in_range(limbs));
    bls12_381_fr_from_limbs(out, limbs);
}

/* ---- matrices ---- */

/* Inverse of the lower right part of m that begins at row and column `first`; the matrices here
 * are known to be invertible. */
static void invert(matrix out, matrix m, uint32_t first, uint32_t n)
{
    matrix a;
    memcpy(a, m, sizeof a);
    memset(out, 0, sizeof a);
    for (uint32_t i = first; i < n; i++)
        out[i][i] = bls12_381_fr_one;
    for (uint32_t c = first; c < n; c++) {
        uint32_t pivot = c;
        while (bls12_381_fr_is_zero(&a[pivot][c]))
            pivot++;
        for (uint32_t j = first; j < n && pivot != c; j++) {
            fr t = a[c][j];
            a[c][j] = a[pivot][j];
            a[pivot][j] = t;
            t = out[c][j];
            out[c][j] = out[pivot][j];
            out[pivot][j] = t;
        }
        fr scale;
        bls12_381_fr_inv(&scale, &a[c][c]);
        for (uint32_t j = first; j < n; j++) {
            bls12_381_fr_mul(&a[c][j], &a[c][j], &scale);
            bls12_381_fr_mul(&out[c][j], &out[c][j], &scale);
        }
        for (uint32_t i = first; i < n; i++) {
            fr k = a[i][c], t;
            if (i == c || bls12_381_fr_is_zero(&k))
                continue;
            for (uint32_t j = first; j < n; j++) {
                bls12_381_fr_mul(&t, &k, &a[c][j]);
                bls12_381_fr_sub(&a[i][j], &a[i][j], &t);
                bls12_381_fr_mul(&t, &k, &out[c][j]);
                bls12_381_fr_sub(&out[i][j], &out[i][j], &t);
            }
        }
    }
}

/* out = m·v over the rows from `first`. */
static void apply(fr *out, matrix m, const fr *v, uint32_t first, uint32_t n)
{
    for (uint32_t i = first; i < n; i++) {
        fr sum = bls12_381_fr_zero, t;
        for (uint32_t j = first; j < n; j++) {
            bls12_381_fr_mul(&t, &m[i][j], &v[j]);
            bls12_381_fr_add(&sum, &sum, &t);
        }
        out[i] = sum;
    }
}

/* A matrix M is M'·M'' with M' = [1 0; 0 M^] and M'' = [m00 v; M^^-1 w, 1], M^ the minor, v and w
 * the rest of M's first row and column. M' leaves the first element alone, so it may be done before
 * the single S-box, in the round before: from the last partial round to the first. */
static void make_sparse(struct cuzk_poseidon *p)
{
    uint32_t n = p->width;
    matrix current, inverse, next;
    memcpy(current, p->mds, sizeof current);
    for (uint32_t k = p->partial; k-- > 0;) {
        fr w[MAX];
        for (uint32_t i = 0; i < n; i++)
            w[i] = current[i][0];
        invert(inverse, current, 1, n);
        p->column[k][0] = current[0][0];
        apply(p->column[k], inverse, w, 1, n);
        memcpy(p->row[k], current[0], sizeof p->row[k]);
        memset(next, 0, sizeof next);
        for (uint32_t i = 0; i < n; i++) {
            next[i][0] = p->mds[i][0];
            for (uint32_t j = 1; j < n; j++)
                for (uint32_t l = 1; l < n; l++) {
                    fr t;
                    bls12_381_fr_mul(&t, &p->mds[i][l], &current[l][j]);
                    bls12_381_fr_add(&next[i][j], &next[i][j], &t);
                }
        }
        memcpy(current, next, sizeof current);
    }
    memcpy(p->pre_sparse, current, sizeof current);
}

/* Round constants brought behind the S-boxes before them: through the matrix by its inverse, and in
 * the partial rounds all but the first element further back, to the round before. */
static void make_keys(struct cuzk_poseidon *p)
{
    uint32_t n = p->width, half = CUZK_POSEIDON_FULL / 2;
    static fr plain[CUZK_POSEIDON_FULL + CUZK_POSEIDON_MAX_PARTIAL][MAX]; /* under the lock */
    matrix inverse;
    struct grain grain;
    grain_start(&grain, (int)n, CUZK_POSEIDON_FULL, (int)p->partial);
    for (uint32_t r = 0; r < CUZK_POSEIDON_FULL + p->partial; r++)
        for (uint32_t i = 0; i < n; i++)
            grain_element(&grain, &plain[r][i]);
    invert(inverse, p->mds, 0, n);

    fr *key = p->keys;
    memcpy(key, plain[0], n * sizeof *key);
    key += n;
    for (uint32_t r = 1; r < half; r++, key += n)
        apply(key, inverse, plain[r], 0, n);
    fr carried[MAX], back[MAX];
    fr *partial = key + n;
    memcpy(carried, plain[half + p->partial], sizeof carried);
    for (uint32_t k = p->partial; k-- > 0;) {
        apply(back, inverse, carried, 0, n);
        partial[k] = back[0];
        carried[0] = plain[half + k][0];
        for (uint32_t i = 1; i < n; i++)
            bls12_381_fr_add(&carried[i], &plain[half + k][i], &back[i]);
    }
    apply(key, inverse, carried, 0, n);
    key = partial + p->partial;
    for (uint32_t r = 1; r < half; r++, key += n)
        apply(key, inverse, plain[half + p->partial + r], 0, n);
}

static void make(struct cuzk_poseidon *p, uint32_t arity)
{
    int full, partial;
    round_numbers((int)arity + 1, &full, &partial);
    p->arity = arity;
    p->width = arity + 1;
    p->partial = (uint32_t)partial;
    bls12_381_fr_from_u64(&p->tag, ((uint64_t)1 << arity) - 1);
    for (uint32_t i = 0; i < p->width; i++)
        for (uint32_t j = 0; j < p->width; j++) {
            bls12_381_fr_from_u64(&p->mds[i][j], i + p->width + j);
            bls12_381_fr_inv(&p->mds[i][j], &p->mds[i][j]);
        }
    make_keys(p);
    make_sparse(p);
    fr x, x4;
    bls12_381_fr_add(&x, &p->tag, &p->keys[0]);
    bls12_381_fr_sqr(&x4, &x);
    bls12_381_fr_sqr(&x4, &x4);
    bls12_381_fr_mul(&x, &x, &x4);
    bls12_381_fr_add(&p->first_box, &x, &p->keys[p->width]);
}

const struct cuzk_poseidon *cuzk_poseidon(unsigned arity)
{
    static const unsigned arities[4] = {2, 4, 8, 11};
    static struct cuzk_poseidon made[4];
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    for (int i = 0; i < 4; i++) {
        if (arities[i] != arity)
            continue;
        pthread_mutex_lock(&lock);
        if (made[i].width == 0)
            make(&made[i], arity);
        pthread_mutex_unlock(&lock);
        return &made[i];
    }
    return NULL;
}

static const struct poseidon_kernels *kernels(void)
{
    return CUZK_ISA_SELECT(cuzk_isa_name(), &poseidon_kernels_portable,
                           &poseidon_kernels_x86_64_adx);
}

void cuzk_poseidon_hash(fr *out, const struct cuzk_poseidon *p, const fr *in)
{
    fr s[MAX];
    memcpy(s + 1, in, p->arity * sizeof *s);
    kernels()->permute(s, p, NULL);
    *out = s[1];
}

uint32_t cuzk_poseidon_witness_size(const struct cuzk_poseidon *p)
{
    /* the first round's boxes make three values each, the others four; and the hash */
    return 3 * p->arity + 4 * (CUZK_POSEIDON_FULL - 1) * p->width + 4 * p->partial + 1;
}

void cuzk_poseidon_witness(fr *out, const struct cuzk_poseidon *p, const fr *in)
{
    fr s[MAX];
    memcpy(s + 1, in, p->arity * sizeof *s);
    kernels()->permute(s, p, out);
}
