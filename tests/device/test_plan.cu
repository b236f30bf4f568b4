// The plans of multi-exponentiations (kernels/msm.cuh), of any size and both kinds of scalars, hold
// what the kernels take for granted: without a device, for a plan is host code.
#include <limits.h>

#include "cuda_test.h"
#include "device/cuda/kernels/msm.cuh"

using namespace cuzk;

static constexpr size_t most_points = (size_t)1 << 29, most_elements = (size_t)1 << 27;

#define HOLDS(condition)                                                                           \
    test_result(condition, "%s: %zu points of %d bits, at most %zu elements", #condition, n, bits, \
                elements)

static void check_windows(const msm_plan &p, size_t n, int bits, size_t elements)
{
    const window_plan &w = p.windows;
    const int capacity = (int)(sizeof w.bits / sizeof *w.bits);
    HOLDS(w.windows >= 2 && w.windows <= max_windows && w.windows <= capacity);
    int covered = 0, narrowest = 99;
    size_t buckets = 0;
    for (int k = 0; k < w.windows; k++) {
        // Digits are cut by shifts of 32 bits; a window's buckets are whole tiles.
        HOLDS(w.bits[k] > 0 && w.bits[k] <= 30);
        const int log2_size = log2_buckets(w, k);
        HOLDS(((size_t)1 << log2_size) % tile_buckets == 0);
        covered += w.bits[k];
        narrowest = log2_size < narrowest ? log2_size : narrowest;
        buckets += (size_t)1 << log2_size;
    }
    HOLDS(covered == bits);
    HOLDS(p.buckets == buckets);
    // The reduction cuts every window into whole blocks, and the host has room for their sums.
    HOLDS(p.low >= 0 && p.high >= p.low && p.low + p.high == narrowest);
    HOLDS(p.block0[0] == 0 && p.block0[w.windows] == p.blocks);
    for (int k = 0; k < w.windows; k++) {
        const size_t blocks = p.block0[k + 1] - p.block0[k];
        HOLDS(blocks << narrowest == (size_t)1 << log2_buckets(w, k));
    }
    HOLDS(4 * p.blocks * sizeof(jacobian<fp2>) <= results_bytes);
    HOLDS(p.blocks << p.high <= UINT32_MAX);
}

static void check_groups(const msm_plan &p, size_t n, int bits, size_t elements)
{
    const window_plan &w = p.windows;
    size_t group_buckets = 0, group_elements = 0, bucket0 = 0;
    HOLDS(p.groups >= 1 && p.groups <= w.windows);
    HOLDS(p.group[0].begin == 0 && p.group[p.groups - 1].end == w.windows);
    for (int g = 0; g < p.groups; g++) {
        const msm_group &x = p.group[g];
        HOLDS(x.begin < x.end && (g == 0 || x.begin == p.group[g - 1].end));
        HOLDS(x.bucket0 == bucket0);
        size_t inside = 0;
        for (int k = x.begin; k < x.end; k++) {
            HOLDS(w.first[k] == inside);
            inside += (size_t)1 << log2_buckets(w, k);
        }
        HOLDS(x.buckets == inside);
        const size_t count = (size_t)(x.end - x.begin) * n;
        HOLDS(x.end - x.begin == 1 || count <= elements);
        group_buckets = x.buckets > group_buckets ? x.buckets : group_buckets;
        group_elements = count > group_elements ? count : group_elements;
        bucket0 += x.buckets;
    }
    HOLDS(bucket0 == p.buckets);
    HOLDS(p.group_buckets == group_buckets && p.group_elements == group_elements);
    // The sort counts in int; its keys, bucket numbers from 1 on, stay below the signs' bit and
    // within the bits that its scratch was asked for.
    HOLDS(group_elements <= INT_MAX);
    HOLDS(log2_floor(group_buckets) + 1 <= 30);
}

static void check_levels(const msm_plan &p, size_t n, int bits, size_t elements)
{
    // All points in one bucket have the deepest tree; where one level has no pairs, none above has.
    int levels = 0;
    for (size_t left = n; left > 1; left = (left + 1) / 2)
        levels++;
    HOLDS(levels <= p.levels && p.levels <= max_levels);
    // Operands are numbers of points below 2^29, where nodes begin; both fit in 30 bits.
    HOLDS(p.group_elements <= id_mask + (size_t)1 - most_points);
}

static void check(size_t n, int bits, size_t elements)
{
    msm_plan p;
    plan_msm(&p, n, bits, elements);
    HOLDS(p.n == n);
    check_windows(p, n, bits, elements);
    check_groups(p, n, bits, elements);
    check_levels(p, n, bits, elements);
}

// As a call whose scratch never fits: groups become smaller until each is a window.
static void shrink(size_t n, int bits)
{
    msm_plan p;
    size_t elements = most_elements;
    plan_msm(&p, n, bits, elements);
    while (p.groups < p.windows.windows) {
        const size_t before = p.group_elements;
        elements = before / 2;
        check(n, bits, elements);
        plan_msm(&p, n, bits, elements);
        HOLDS(p.group_elements < before);
        if (p.group_elements >= before)
            return;
    }
    // A later part, with fewer points, is planned with the elements that were left.
    for (size_t part = n; part > 1; part = (part + 1) / 2)
        check(part, bits, elements);
}

int main(void)
{
    const char *seed = getenv("CUZK_TEST_SEED");
    if (seed != NULL)
        test_state = strtoull(seed, NULL, 0);
    printf("CUZK_TEST_SEED=%llu\n", (unsigned long long)test_state);
    for (int kind = 0; kind < 2; kind++) {
        const int bits = kind == 0 ? full_bits : short_bits;
        const char *const name = kind == 0 ? "scalars of all bits" : "short scalars";
        printf("%s\n", name);
        for (size_t n = 1; n <= 5000; n++)
            check(n, bits, most_elements);
        test_fold("up to 5000 points");
        for (size_t power = 2; power <= most_points; power *= 2)
            for (size_t n = power - 1; n <= power + 1 && n < most_points; n++) {
                check(n, bits, most_elements);
                shrink(n, bits);
            }
        test_fold("about powers of two");
        for (int i = 0; i < 2000; i++) {
            const size_t below = most_points >> test_random() % 29;
            const size_t n = 1 + test_random() % (below - 1);
            check(n, bits, most_elements);
            shrink(n, bits);
        }
        test_fold("random numbers of points");
    }
    return test_end();
}
