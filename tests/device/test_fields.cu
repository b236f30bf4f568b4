// The device's field and group arithmetic against the processor's, on all pairs of edge values and
// on random ones. Lazy operands are fed too: a + p for a, where the range allows it.
#include "cuda_test.h"

#include "device/cuda/kernels/ntt.cuh"
#include "device/cuda/kernels/xyzz.cuh"

using namespace cuzk;

// op: 0 mul, 1 sqr of a, 2 sub, 3 add, 4 inverse of a, 5 mul by sub_lazy(b, a), 6 negation of a by
// bit
static __global__ void fp_ops(uint4 *out, const uint4 *a, const uint4 *b, int n, int op)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x,
        at = i < n ? i : n - 1; // inverse needs whole warps
    fp x, y, r;
    load(x, a + 3 * at);
    load(y, b + 3 * at);
    switch (op) {
    case 0:
        r = mul(x, y);
        break;
    case 1:
        r = sqr(x);
        break;
    case 2:
        r = sub(x, y);
        break;
    case 3:
        r = add(x, y);
        break;
    case 4:
        r = inverse(x);
        break;
    case 5:
        r = mul(x, sub_lazy(y, x));
        break;
    default:
        r = x;
        negate_if(r, 0x80000000u);
        subtract_2p(r);
        break;
    }
    if (i < n)
        store(out + 3 * i, canonical(r));
}

static __global__ void fp2_ops(uint4 *out, const uint4 *a, const uint4 *b, int n, int op)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, at = i < n ? i : n - 1;
    fp2 x, y, r;
    load(x, a + 6 * at);
    load(y, b + 6 * at);
    r = op == 0   ? mul(x, y)
        : op == 1 ? sqr(x)
        : op == 2 ? sub(x, y)
        : op == 3 ? add(x, y)
                  : inverse(x);
    if (i < n)
        store(out + 6 * i, canonical(r));
}

// op: 0 Montgomery product, 1 product by the factor of b, 2 sub, 3 add
static __global__ void fr_ops(uint4 *out, const uint4 *a, const uint4 *b, uint4 *factors, int n,
                              int op)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    fr x = load_fr(a + 2 * i), y = load_fr(b + 2 * i), r;
    if (op == 1) {
        store_factor(factors + 4 * i, canonical(y));
        __threadfence_block();
        uint4 *p = factors + 4 * i;
        r = mul(x, fr_factor{load_fr(p), load_fr(p + 2)});
    } else {
        r = op == 0 ? mul(canonical(x), y) : op == 2 ? sub(x, y) : add(x, y);
    }
    store_fr(out + 2 * i, canonical(r));
}

static cuzk_cuda *device;

static void *upload(const void *data, size_t bytes)
{
    void *p;
    TEST_OK(cuzk_cuda_alloc(device, &p, CUZK_PURPOSE_OTHER, bytes, err));
    TEST_OK(cuzk_cuda_upload(device, p, data, bytes, err));
    return p;
}
template <class T> static void compare(const char *what, void *out, const T *want, int n)
{
    T *got = (T *)malloc(n * sizeof *got);
    cudaError_t code = cudaDeviceSynchronize();
    if (code != cudaSuccess)
        test_result(false, "%s: %s", what, cudaGetErrorString(code));
    TEST_OK(cuzk_cuda_download(device, got, out, n * sizeof *got, err));
    int bad = 0;
    for (int i = 0; i < n; i++)
        bad += memcmp(&got[i], &want[i], sizeof *got) != 0;
    test_result(bad == 0, "%s: %d of %d wrong", what, bad, n);
    free(got);
}

// Values of edge: 0, 1, -1, 2, (p-1)/2, words of ones …, then random. In Montgomery form as they
// are.
static bls12_381_fp edge_fp(int i)
{
    bls12_381_fp r = bls12_381_fp_zero;
    if (i == 1)
        r = bls12_381_fp_one;
    if (i == 2)
        bls12_381_fp_neg(&r, &bls12_381_fp_one);
    if (i == 3 || i == 4) // the words 1 and p - 1
        r.l[0] = 1;
    if (i == 4)
        bls12_381_fp_neg(&r, &r);
    if (i == 5) // 2^380
        r.l[5] = (uint64_t)1 << 60;
    if (i == 6)
        for (int j = 0; j < 5; j++)
            r.l[j] = UINT64_MAX;
    if (i < 7)
        return r;
    for (int j = 0; j < 6; j++)
        r.l[j] = test_random();
    r.l[5] &= UINT64_MAX >> 4;
    bls12_381_fp_mul(&r, &r, &bls12_381_fp_one);
    return r;
}

static const int edges = 15, n = 4096;

static void test_fp(bool lazy)
{
    static bls12_381_fp a[n], b[n], la[n], lb[n], want[n];
    for (int i = 0; i < n; i++) {
        a[i] = edge_fp(i < edges * edges ? i % edges : 99);
        b[i] = edge_fp(i < edges * edges ? i / edges : 99);
        la[i] = a[i];
        lb[i] = b[i];
        if (lazy) { // a + p and b + p: representatives in [p, 2p)
            unsigned __int128 ca = 0, cb = 0;
            for (int j = 0; j < 6; j++) {
                ca += (unsigned __int128)a[i].l[j] + bls12_381_fp_modulus[j];
                cb += (unsigned __int128)b[i].l[j] + bls12_381_fp_modulus[j];
                la[i].l[j] = (uint64_t)ca;
                lb[i].l[j] = (uint64_t)cb;
                ca >>= 64;
                cb >>= 64;
            }
        }
    }
    uint4 *da = (uint4 *)upload(la, sizeof la), *db = (uint4 *)upload(lb, sizeof lb),
          *out = (uint4 *)upload(a, sizeof a);
    static const char *const names[] = {"fp mul",     "fp sqr",  "fp sub", "fp add",
                                        "fp inverse", "fp lazy", "fp neg"};
    for (int op = 0; op < 7; op++) {
        for (int i = 0; i < n; i++) {
            bls12_381_fp t;
            switch (op) {
            case 0:
                bls12_381_fp_mul(&want[i], &a[i], &b[i]);
                break;
            case 1:
                bls12_381_fp_sqr(&want[i], &a[i]);
                break;
            case 2:
                bls12_381_fp_sub(&want[i], &a[i], &b[i]);
                break;
            case 3:
                bls12_381_fp_add(&want[i], &a[i], &b[i]);
                break;
            case 4:
                bls12_381_fp_inv(&want[i], &a[i]);
                break;
            case 5:
                bls12_381_fp_sub(&t, &b[i], &a[i]);
                bls12_381_fp_mul(&want[i], &a[i], &t);
                break;
            default:
                bls12_381_fp_neg(&want[i], &a[i]);
                break;
            }
        }
        fp_ops<<<n / 64, 64>>>(out, da, db, n, op);
        compare(names[op], out, want, n);
    }
    // Fp2 on pairs of the same values
    static bls12_381_fp2 want2[n / 2];
    static const char *const names2[] = {"fp2 mul", "fp2 sqr", "fp2 sub", "fp2 add", "fp2 inverse"};
    for (int op = 0; op < 5; op++) {
        for (int i = 0; i < n / 2; i++) {
            const bls12_381_fp *x = a + 2 * i, *y = op == 1 ? x : b + 2 * i;
            bls12_381_fp t, u, v;
            bls12_381_fp2 *w = &want2[i];
            if (op < 2) {
                bls12_381_fp_mul(&t, &x[0], &y[0]);
                bls12_381_fp_mul(&u, &x[1], &y[1]);
                bls12_381_fp_sub(&w->c0, &t, &u);
                bls12_381_fp_mul(&t, &x[0], &y[1]);
                bls12_381_fp_mul(&u, &x[1], &y[0]);
                bls12_381_fp_add(&w->c1, &t, &u);
            } else if (op < 4) {
                (op == 2 ? bls12_381_fp_sub : bls12_381_fp_add)(&w->c0, &x[0], &y[0]);
                (op == 2 ? bls12_381_fp_sub : bls12_381_fp_add)(&w->c1, &x[1], &y[1]);
            } else {
                bls12_381_fp_sqr(&t, &x[0]);
                bls12_381_fp_sqr(&u, &x[1]);
                bls12_381_fp_add(&t, &t, &u);
                bls12_381_fp_inv(&v, &t);
                bls12_381_fp_mul(&w->c0, &x[0], &v);
                bls12_381_fp_mul(&w->c1, &x[1], &v);
                bls12_381_fp_neg(&w->c1, &w->c1);
            }
        }
        fp2_ops<<<n / 2 / 64, 64>>>(out, da, db, n / 2, op);
        compare(names2[op], out, want2, n / 2);
    }
    cuzk_cuda_free(device, da);
    cuzk_cuda_free(device, db);
    cuzk_cuda_free(device, out);
}

static bls12_381_fr edge_fr(int i)
{
    bls12_381_fr r = bls12_381_fr_zero;
    if (i == 4 || i == 5)
        r.l[0] = 1;
    if (i == 5)
        bls12_381_fr_neg(&r, &r);
    if (i == 6)
        r.l[3] = (uint64_t)1 << 62;
    if (i == 7)
        r.l[0] = r.l[1] = r.l[2] = UINT64_MAX;
    return i >= 4 && i < 8 ? r : test_edge_fr(i < 4 ? i : 9);
}

static void test_fr(bool lazy)
{
    static bls12_381_fr a[n], b[n], la[n], lb[n], want[n];
    for (int i = 0; i < n; i++) {
        a[i] = edge_fr(i < edges * edges ? i % edges : 99);
        b[i] = edge_fr(i < edges * edges ? i / edges : 99);
        la[i] = a[i];
        lb[i] = b[i];
        unsigned __int128 ca = 0, cb = 0;
        for (int j = 0; lazy && j < 4; j++) {
            ca += (unsigned __int128)a[i].l[j] + bls12_381_fr_modulus[j];
            cb += (unsigned __int128)b[i].l[j] + bls12_381_fr_modulus[j];
            la[i].l[j] = (uint64_t)ca;
            lb[i].l[j] = (uint64_t)cb;
            ca >>= 64;
            cb >>= 64;
        }
    }
    static const char *const names[] = {"fr mul", "fr mul by a factor", "fr sub", "fr add"};
    uint4 *da = (uint4 *)upload(la, sizeof la), *db = (uint4 *)upload(lb, sizeof lb),
          *out = (uint4 *)upload(a, sizeof a);
    void *factors;
    TEST_OK(cuzk_cuda_alloc(device, &factors, CUZK_PURPOSE_OTHER, n * 64, err));
    for (int op = 0; op < 4; op++) {
        for (int i = 0; i < n; i++)
            (op < 2    ? bls12_381_fr_mul
             : op == 2 ? bls12_381_fr_sub
                       : bls12_381_fr_add)(&want[i], &a[i], &b[i]);
        fr_ops<<<n / 64, 64>>>(out, da, db, (uint4 *)factors, n, op);
        compare(names[op], out, want, n);
    }
    cuzk_cuda_free(device, da);
    cuzk_cuda_free(device, db);
    cuzk_cuda_free(device, out);
    cuzk_cuda_free(device, factors);
}

int main()
{
    device = test_open(NULL);
    for (int lazy = 0; lazy < 2; lazy++) {
        test_fp(lazy);
        test_fr(lazy);
    }
    cuzk_cuda_close(device);
    return test_end();
}
