/* The inner loop of inversion by divsteps, for every field; see invert.inc.h. */
#ifndef CUZK_FIELD_DIVSTEPS_H
#define CUZK_FIELD_DIVSTEPS_H

#include <stdint.h>

__extension__ typedef __int128 cuzk_i128;

#define CUZK_DIVSTEPS 62 /* a call; also the bits of a limb */

/* 2^62 (f', g') = (u f + v g, q f + r g) for what 62 steps make of (f, g); |u| + |v| and |q| + |r|
 * are at most 2^62. */
struct cuzk_divsteps {
    int64_t u, v, q, r;
};

/* Runs 62 steps on the low words of f (odd) and g; returns the new eta. A step halves g where it is
 * even; else it first adds f to make it even, and exchanges the two beforehand if eta < 0. Runs of
 * zeros and up to six additions are taken at once: w = -g/f mod 2^6. */
static inline int64_t cuzk_divsteps(int64_t eta, uint64_t f, uint64_t g, struct cuzk_divsteps *out)
{
    uint64_t u = 1, v = 0, q = 0, r = 1;
    for (int left = CUZK_DIVSTEPS;;) {
        int zeros = __builtin_ctzll(g | UINT64_MAX << left);
        g >>= zeros;
        u <<= zeros;
        v <<= zeros;
        eta -= zeros;
        left -= zeros;
        if (left == 0)
            break;
        if (eta < 0) {
            uint64_t t = f;
            eta = -eta;
            f = g;
            g = 0 - t;
            t = u;
            u = q;
            q = 0 - t;
            t = v;
            v = r;
            r = 0 - t;
        }
        /* Until eta is negative, or the steps are done, f stays: that many zeros may be made. */
        int64_t most = eta + 1 < left ? eta + 1 : left;
        uint64_t mask = most < 6 ? (1u << most) - 1 : 63;
        uint64_t w = g * f * (f * f - 2) & mask;
        g += w * f;
        q += w * u;
        r += w * v;
    }
    *out = (struct cuzk_divsteps){(int64_t)u, (int64_t)v, (int64_t)q, (int64_t)r};
    return eta;
}

#endif
