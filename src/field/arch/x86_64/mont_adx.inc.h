/* The inner products of mont.inc.h for x86-64 with MULX and ADX, 4 and 6 limbs. Included by it,
 * with its macros, in place of the portable ones; every function gives the same words as those do.
 *
 * A row multiplies all limbs of one operand by one limb of the other: MULX leaves the flags alone,
 * so the low halves are added along the carry flag (ADCX) and the high halves along the overflow
 * flag (ADOX), two independent chains. Registers rotate by name from row to row, nothing is moved.
 * Statements that write through a pointer are volatile and clobber memory: their outputs are
 * scratch. The products of six limbs are functions, about a kilobyte each, so that the point
 * formulas stay in the instruction cache; those of four limbs are inlined.
 */

#ifndef CUZK_MONT_ADX
#define CUZK_MONT_ADX

/* t0 += low, t1 += high of rdx * memory. */
#define ADX_STEP(source, t0, t1)                                                                   \
    "mulxq " source ", %[lo], %[hi]\n\tadcxq %[lo], " t0 "\n\tadoxq %[hi], " t1 "\n\t"
/* The last step of a row: top = high + both carries. */
#define ADX_LAST(source, t0, top)                                                                  \
    "mulxq " source ", %[lo], " top "\n\tadcxq %[lo], " t0                                         \
    "\n\tmovl $0, %k[lo]\n\tadcxq %[lo], " top "\n\tadoxq %[lo], " top "\n\t"
#define ADX_CLEAR "xorl %k[lo], %k[lo]\n\t"
#define ADX_M(t0) "movq " t0 ", %%rdx\n\timulq %[inv], %%rdx\n\t"

/* (t0 … t5, top) = a * b[i]; without and with (t0 … t5) added. */
#define ADX_FIRST6(i, t0, t1, t2, t3, t4, t5, top)                                                 \
    "movq " i "(%[b]), %%rdx\n\t"                                                                  \
    "mulxq (%[a]), " t0 ", " t1 "\n\t"                                                             \
    "mulxq 8(%[a]), %[lo], " t2 "\n\taddq %[lo], " t1 "\n\t"                                       \
    "mulxq 16(%[a]), %[lo], " t3 "\n\tadcq %[lo], " t2 "\n\t"                                      \
    "mulxq 24(%[a]), %[lo], " t4 "\n\tadcq %[lo], " t3 "\n\t"                                      \
    "mulxq 32(%[a]), %[lo], " t5 "\n\tadcq %[lo], " t4 "\n\t"                                      \
    "mulxq 40(%[a]), %[lo], " top "\n\tadcq %[lo], " t5 "\n\tadcq $0, " top "\n\t"
#define ADX_ROW6(i, t0, t1, t2, t3, t4, t5, top)                                                   \
    "movq " i "(%[b]), %%rdx\n\t" ADX_CLEAR ADX_STEP("(%[a])", t0, t1) ADX_STEP("8(%[a])", t1, t2) \
        ADX_STEP("16(%[a])", t2, t3) ADX_STEP("24(%[a])", t3, t4) ADX_STEP("32(%[a])", t4, t5)     \
            ADX_LAST("40(%[a])", t5, top)
/* Adds m p with m = -t0/p mod 2^64: t0 becomes zero, the value is (t1 … t5, top). */
#define ADX_REDUCE6(t0, t1, t2, t3, t4, t5, top)                                                   \
    ADX_M(t0)                                                                                      \
    ADX_CLEAR ADX_STEP("%[p]", t0, t1) ADX_STEP("8+%[p]", t1, t2) ADX_STEP("16+%[p]", t2, t3)      \
        ADX_STEP("24+%[p]", t3, t4) ADX_STEP("32+%[p]", t4, t5)                                    \
            ADX_STEP("40+%[p]", t5, top) "movl $0, %k[lo]\n\tadcxq %[lo], " top "\n\t"
/* The same where nothing lies above t5: the value is (t1 … t5, t0). */
#define ADX_REDUCE_LOW6(t0, t1, t2, t3, t4, t5)                                                    \
    ADX_M(t0)                                                                                      \
    ADX_CLEAR ADX_STEP("%[p]", t0, t1) ADX_STEP("8+%[p]", t1, t2) ADX_STEP("16+%[p]", t2, t3)      \
        ADX_STEP("24+%[p]", t3, t4) ADX_STEP("32+%[p]", t4, t5) ADX_LAST("40+%[p]", t5, t0)

#define ADX_FIRST4(i, t0, t1, t2, t3, top)                                                         \
    "movq " i "(%[b]), %%rdx\n\t"                                                                  \
    "mulxq (%[a]), " t0 ", " t1 "\n\t"                                                             \
    "mulxq 8(%[a]), %[lo], " t2 "\n\taddq %[lo], " t1 "\n\t"                                       \
    "mulxq 16(%[a]), %[lo], " t3 "\n\tadcq %[lo], " t2 "\n\t"                                      \
    "mulxq 24(%[a]), %[lo], " top "\n\tadcq %[lo], " t3 "\n\tadcq $0, " top "\n\t"
#define ADX_ROW4(i, t0, t1, t2, t3, top)                                                           \
    "movq " i "(%[b]), %%rdx\n\t" ADX_CLEAR ADX_STEP("(%[a])", t0, t1) ADX_STEP("8(%[a])", t1, t2) \
        ADX_STEP("16(%[a])", t2, t3) ADX_LAST("24(%[a])", t3, top)
#define ADX_REDUCE4(t0, t1, t2, t3, top)                                                           \
    ADX_M(t0)                                                                                      \
    ADX_CLEAR ADX_STEP("%[p]", t0, t1) ADX_STEP("8+%[p]", t1, t2) ADX_STEP("16+%[p]", t2, t3)      \
        ADX_STEP("24+%[p]", t3, top) "movl $0, %k[lo]\n\tadcxq %[lo], " top "\n\t"
#define ADX_REDUCE_LOW4(t0, t1, t2, t3)                                                            \
    ADX_M(t0)                                                                                      \
    ADX_CLEAR ADX_STEP("%[p]", t0, t1) ADX_STEP("8+%[p]", t1, t2) ADX_STEP("16+%[p]", t2, t3)      \
        ADX_LAST("24+%[p]", t3, t0)

/* r = (t…) less p if that is not negative; s… are scratch. */
#define ADX_SELECT6(t0, t1, t2, t3, t4, t5, s0, s1, s2, s3, s4, s5)                                \
    "movq " t0 ", " s0 "\n\tsubq %[p], " s0 "\n\tmovq " t1 ", " s1 "\n\tsbbq 8+%[p], " s1          \
    "\n\tmovq " t2 ", " s2 "\n\tsbbq 16+%[p], " s2 "\n\tmovq " t3 ", " s3 "\n\tsbbq 24+%[p], " s3  \
    "\n\tmovq " t4 ", " s4 "\n\tsbbq 32+%[p], " s4 "\n\tmovq " t5 ", " s5 "\n\tsbbq 40+%[p], " s5  \
    "\n\tcmovcq " t0 ", " s0 "\n\tcmovcq " t1 ", " s1 "\n\tcmovcq " t2 ", " s2 "\n\tcmovcq " t3    \
    ", " s3 "\n\tcmovcq " t4 ", " s4 "\n\tcmovcq " t5 ", " s5 "\n\tmovq " s0                       \
    ", (%[r])\n\tmovq " s1 ", 8(%[r])\n\tmovq " s2 ", 16(%[r])\n\tmovq " s3                        \
    ", 24(%[r])\n\tmovq " s4 ", 32(%[r])\n\tmovq " s5 ", 40(%[r])\n\t"
#define ADX_SELECT4(t0, t1, t2, t3, s0, s1, s2, s3)                                                \
    "movq " t0 ", " s0 "\n\tsubq %[p], " s0 "\n\tmovq " t1 ", " s1 "\n\tsbbq 8+%[p], " s1          \
    "\n\tmovq " t2 ", " s2 "\n\tsbbq 16+%[p], " s2 "\n\tmovq " t3 ", " s3 "\n\tsbbq 24+%[p], " s3  \
    "\n\tcmovcq " t0 ", " s0 "\n\tcmovcq " t1 ", " s1 "\n\tcmovcq " t2 ", " s2 "\n\tcmovcq " t3    \
    ", " s3 "\n\tmovq " s0 ", (%[r])\n\tmovq " s1 ", 8(%[r])\n\tmovq " s2 ", 16(%[r])\n\tmovq " s3 \
    ", 24(%[r])\n\t"

#define T0 "%[t0]"
#define T1 "%[t1]"
#define T2 "%[t2]"
#define T3 "%[t3]"
#define T4 "%[t4]"
#define T5 "%[t5]"
#define T6 "%[t6]"
#endif

/* The modulus and -1/p as memory operands: an array of the struct's type for the "m" constraint. */
static const uint64_t FN(_adx_inv) = FC(_INV);
#define MODULUS [p] "m"(*(const struct F *)FN(_modulus)), [inv] "m"(FN(_adx_inv))

#if N == 6

#define ADX_FUNCTION static __attribute__((unused, noinline))
#define ACCUMULATORS                                                                               \
    [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [t4] "=&r"(t4), [t5] "=&r"(t5)

ADX_FUNCTION void FN(_mul)(struct F *r, const struct F *a, const struct F *b)
{
    uint64_t t0, t1, t2, t3, t4, t5, t6, lo, hi;
    const struct F *pa = a, *pb = b;
    /* clang-format off */
    __asm__ volatile(ADX_FIRST6("0", T0, T1, T2, T3, T4, T5, T6)
            ADX_REDUCE6(T0, T1, T2, T3, T4, T5, T6)
            ADX_ROW6("8", T1, T2, T3, T4, T5, T6, T0)
            ADX_REDUCE6(T1, T2, T3, T4, T5, T6, T0)
            ADX_ROW6("16", T2, T3, T4, T5, T6, T0, T1)
            ADX_REDUCE6(T2, T3, T4, T5, T6, T0, T1)
            ADX_ROW6("24", T3, T4, T5, T6, T0, T1, T2)
            ADX_REDUCE6(T3, T4, T5, T6, T0, T1, T2)
            ADX_ROW6("32", T4, T5, T6, T0, T1, T2, T3)
            ADX_REDUCE6(T4, T5, T6, T0, T1, T2, T3)
            ADX_ROW6("40", T5, T6, T0, T1, T2, T3, T4)
            ADX_REDUCE6(T5, T6, T0, T1, T2, T3, T4)
            ADX_SELECT6(T6, T0, T1, T2, T3, T4, "%[a]", "%[b]", "%[lo]", "%[hi]", "%%rdx", T5)
            : ACCUMULATORS, [t6] "=&r"(t6), [lo] "=&r"(lo), [hi] "=&r"(hi), [a] "+&r"(pa),
              [b] "+&r"(pb)
            : [r] "r"(r), MODULUS
            : "rdx", "cc", "memory");
    /* clang-format on */
}

ADX_FUNCTION void FN(_mul_wide)(struct FN(_wide) * r, const struct F *a, const struct F *b)
{
    uint64_t t0, t1, t2, t3, t4, t5, t6, lo, hi;
#define STORE(i, t) "movq " t ", " i "(%[r])\n\t"
    /* clang-format off */
    __asm__ volatile(ADX_FIRST6("0", T0, T1, T2, T3, T4, T5, T6) STORE("0", T0)
            ADX_ROW6("8", T1, T2, T3, T4, T5, T6, T0) STORE("8", T1)
            ADX_ROW6("16", T2, T3, T4, T5, T6, T0, T1) STORE("16", T2)
            ADX_ROW6("24", T3, T4, T5, T6, T0, T1, T2) STORE("24", T3)
            ADX_ROW6("32", T4, T5, T6, T0, T1, T2, T3) STORE("32", T4)
            ADX_ROW6("40", T5, T6, T0, T1, T2, T3, T4) STORE("40", T5)
            STORE("48", T6) STORE("56", T0) STORE("64", T1) STORE("72", T2) STORE("80", T3)
            STORE("88", T4)
            : ACCUMULATORS, [t6] "=&r"(t6), [lo] "=&r"(lo), [hi] "=&r"(hi)
            : [r] "r"(r), [a] "r"(a), [b] "r"(b)
            : "rdx", "cc", "memory");
    /* clang-format on */
#undef STORE
}

/* The low half alone is reduced (to at most p), the high half, below p, is added then. */
ADX_FUNCTION void FN(_redc)(struct F *r, const struct FN(_wide) * w)
{
    uint64_t t0, t1, t2, t3, t4, t5, lo, hi, s0, s1;
    const struct FN(_wide) *pw = w;
    /* clang-format off */
    __asm__ volatile("movq (%[w]), " T0 "\n\tmovq 8(%[w]), " T1 "\n\tmovq 16(%[w]), " T2
            "\n\tmovq 24(%[w]), " T3 "\n\tmovq 32(%[w]), " T4 "\n\tmovq 40(%[w]), " T5 "\n\t"
            ADX_REDUCE_LOW6(T0, T1, T2, T3, T4, T5)
            ADX_REDUCE_LOW6(T1, T2, T3, T4, T5, T0)
            ADX_REDUCE_LOW6(T2, T3, T4, T5, T0, T1)
            ADX_REDUCE_LOW6(T3, T4, T5, T0, T1, T2)
            ADX_REDUCE_LOW6(T4, T5, T0, T1, T2, T3)
            ADX_REDUCE_LOW6(T5, T0, T1, T2, T3, T4)
            "addq 48(%[w]), " T0 "\n\tadcq 56(%[w]), " T1 "\n\tadcq 64(%[w]), " T2
            "\n\tadcq 72(%[w]), " T3 "\n\tadcq 80(%[w]), " T4 "\n\tadcq 88(%[w]), " T5 "\n\t"
            ADX_SELECT6(T0, T1, T2, T3, T4, T5, "%[w]", "%[s0]", "%[lo]", "%[hi]", "%%rdx", "%[s1]")
            : ACCUMULATORS, [lo] "=&r"(lo), [hi] "=&r"(hi), [s0] "=&r"(s0), [s1] "=&r"(s1),
              [w] "+&r"(pw)
            : [r] "r"(r), MODULUS
            : "rdx", "cc", "memory");
    /* clang-format on */
}

/* The square of twice the words: the fifteen products above the diagonal, doubled, and the
 * diagonal. Words 1 … 10 are in (t1 … t6, s0 … s3) as far as they are open at one time; what is
 * finished is stored. */
CUZK_INLINE void FN(_sqr_wide)(struct FN(_wide) * r, const struct F *a)
{
    uint64_t t0, t1, t2, t3, t4, t5, t6, s0, s1, lo, hi;
#define CROSS(i, t0, t1)                                                                           \
    "mulxq " i "(%[a]), %[lo], %[hi]\n\tadcxq %[lo], " t0 "\n\tadoxq %[hi], " t1 "\n\t"
/* (low, high) words of 2 w + a_i^2, in place; CF carries the square's sum, OF the doubling's. */
#define DIAGONAL(i, low, high)                                                                     \
    "movq " i "(%[a]), %%rdx\n\tmulxq %%rdx, %[lo], %[hi]\n\tadoxq " low ", " low                  \
    "\n\tadcxq %[lo], " low "\n\tadoxq " high ", " high "\n\tadcxq %[hi], " high "\n\t"
#define STORE(i, t) "movq " t ", " i "(%[r])\n\t"
#define RELOAD(i, t) "movq " i "(%[r]), " t "\n\t"
    /* clang-format off */
    __asm__ volatile(
            /* a0 a1 … a0 a5: words 1 … 6 in t1 … t6 */
            "movq (%[a]), %%rdx\n\t"
            "mulxq 8(%[a]), " T1 ", " T2 "\n\t"
            "mulxq 16(%[a]), %[lo], " T3 "\n\taddq %[lo], " T2 "\n\t"
            "mulxq 24(%[a]), %[lo], " T4 "\n\tadcq %[lo], " T3 "\n\t"
            "mulxq 32(%[a]), %[lo], " T5 "\n\tadcq %[lo], " T4 "\n\t"
            "mulxq 40(%[a]), %[lo], " T6 "\n\tadcq %[lo], " T5 "\n\tadcq $0, " T6 "\n\t"
            STORE("8", T1) STORE("16", T2)
            /* a1 a2 … a1 a5: from word 3; t1 becomes word 7 */
            "movq 8(%[a]), %%rdx\n\t" ADX_CLEAR
            CROSS("16", T3, T4) CROSS("24", T4, T5) CROSS("32", T5, T6)
            "mulxq 40(%[a]), %[lo], " T1 "\n\tadcxq %[lo], " T6 "\n\tmovl $0, %k[lo]\n\t"
            "adcxq %[lo], " T1 "\n\tadoxq %[lo], " T1 "\n\t"
            STORE("24", T3) STORE("32", T4)
            /* a2 a3 … a2 a5: from word 5; t2 becomes word 8 */
            "movq 16(%[a]), %%rdx\n\t" ADX_CLEAR
            CROSS("24", T5, T6) CROSS("32", T6, T1)
            "mulxq 40(%[a]), %[lo], " T2 "\n\tadcxq %[lo], " T1 "\n\tmovl $0, %k[lo]\n\t"
            "adcxq %[lo], " T2 "\n\tadoxq %[lo], " T2 "\n\t"
            /* a3 a4, a3 a5: from word 7; t3 becomes word 9 */
            "movq 24(%[a]), %%rdx\n\t" ADX_CLEAR
            CROSS("32", T1, T2)
            "mulxq 40(%[a]), %[lo], " T3 "\n\tadcxq %[lo], " T2 "\n\tmovl $0, %k[lo]\n\t"
            "adcxq %[lo], " T3 "\n\tadoxq %[lo], " T3 "\n\t"
            /* a4 a5: words 9 and 10 */
            "movq 32(%[a]), %%rdx\n\tmulxq 40(%[a]), %[lo], " T4 "\n\taddq %[lo], " T3
            "\n\tadcq $0, " T4 "\n\t"
            /* twice that, and the squares */
            "xorl %k[t0], %k[t0]\n\t"
            "movq (%[a]), %%rdx\n\tmulxq %%rdx, %[lo], %[hi]\n\t" STORE("0", "%[lo]")
            RELOAD("8", "%[s0]") "adoxq %[s0], %[s0]\n\tadcxq %[hi], %[s0]\n\t" STORE("8", "%[s0]")
            RELOAD("16", "%[s0]") RELOAD("24", "%[s1]")
            DIAGONAL("8", "%[s0]", "%[s1]") STORE("16", "%[s0]") STORE("24", "%[s1]")
            RELOAD("32", "%[s0]") DIAGONAL("16", "%[s0]", T5) STORE("32", "%[s0]") STORE("40", T5)
            DIAGONAL("24", T6, T1) STORE("48", T6) STORE("56", T1)
            DIAGONAL("32", T2, T3) STORE("64", T2) STORE("72", T3)
            "movq 40(%[a]), %%rdx\n\tmulxq %%rdx, %[lo], %[hi]\n\t"
            "adoxq " T4 ", " T4 "\n\tadcxq %[lo], " T4 "\n\t" STORE("80", T4)
            "adoxq %[t0], %[hi]\n\tadcxq %[t0], %[hi]\n\t" STORE("88", "%[hi]")
            : ACCUMULATORS, [t6] "=&r"(t6), [s0] "=&r"(s0), [s1] "=&r"(s1), [lo] "=&r"(lo),
              [hi] "=&r"(hi)
            : [r] "r"(r), [a] "r"(a)
            : "rdx", "cc", "memory");
    /* clang-format on */
#undef CROSS
#undef DIAGONAL
#undef STORE
#undef RELOAD
}

ADX_FUNCTION void FN(_sqr)(struct F *r, const struct F *a)
{
    struct FN(_wide) w;
    FN(_sqr_wide)(&w, a);
    FN(_redc)(r, &w);
}

#define CUZK_ARCH_WIDE_SUMS /* the wide sums too are here */

/* ---- sums: chains of ADC and SBB, which compilers break up ---- */

/* (t0 … t5) becomes r, less p if that is not negative. */
CUZK_INLINE void FN(_adx_select)(struct F *r, uint64_t t0, uint64_t t1, uint64_t t2, uint64_t t3,
                                 uint64_t t4, uint64_t t5)
{
    uint64_t s0 = t0, s1 = t1, s2 = t2, s3 = t3, s4 = t4, s5 = t5;
    __asm__("subq %[p], %[s0]\n\tsbbq 8+%[p], %[s1]\n\tsbbq 16+%[p], %[s2]\n\t"
            "sbbq 24+%[p], %[s3]\n\tsbbq 32+%[p], %[s4]\n\tsbbq 40+%[p], %[s5]\n\t"
            "cmovcq %[t0], %[s0]\n\tcmovcq %[t1], %[s1]\n\tcmovcq %[t2], %[s2]\n\t"
            "cmovcq %[t3], %[s3]\n\tcmovcq %[t4], %[s4]\n\tcmovcq %[t5], %[s5]"
            : [s0] "+&r"(s0), [s1] "+&r"(s1), [s2] "+&r"(s2), [s3] "+&r"(s3), [s4] "+&r"(s4),
              [s5] "+&r"(s5)
            : [t0] "r"(t0), [t1] "r"(t1), [t2] "r"(t2), [t3] "r"(t3), [t4] "r"(t4), [t5] "r"(t5),
              MODULUS
            : "cc");
    r->l[0] = s0;
    r->l[1] = s1;
    r->l[2] = s2;
    r->l[3] = s3;
    r->l[4] = s4;
    r->l[5] = s5;
}

#define LOAD(source)                                                                               \
    uint64_t t0 = source[0], t1 = source[1], t2 = source[2], t3 = source[3], t4 = source[4],       \
             t5 = source[5]
#define IN_OUT                                                                                     \
    [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3), [t4] "+&r"(t4), [t5] "+&r"(t5)

CUZK_INLINE void FN(_add)(struct F *r, const struct F *a, const struct F *b)
{
    LOAD(a->l);
    __asm__("addq (%[b]), %[t0]\n\tadcq 8(%[b]), %[t1]\n\tadcq 16(%[b]), %[t2]\n\t"
            "adcq 24(%[b]), %[t3]\n\tadcq 32(%[b]), %[t4]\n\tadcq 40(%[b]), %[t5]"
            : IN_OUT
            : [b] "r"(b), "m"(*b)
            : "cc");
    FN(_adx_select)(r, t0, t1, t2, t3, t4, t5);
}

CUZK_INLINE void FN(_add_plain)(struct F *r, const struct F *a, const struct F *b)
{
    LOAD(a->l);
    __asm__("addq (%[b]), %[t0]\n\tadcq 8(%[b]), %[t1]\n\tadcq 16(%[b]), %[t2]\n\t"
            "adcq 24(%[b]), %[t3]\n\tadcq 32(%[b]), %[t4]\n\tadcq 40(%[b]), %[t5]"
            : IN_OUT
            : [b] "r"(b), "m"(*b)
            : "cc");
    r->l[0] = t0;
    r->l[1] = t1;
    r->l[2] = t2;
    r->l[3] = t3;
    r->l[4] = t4;
    r->l[5] = t5;
}

/* r = (t0 … t5) + (p & mask). */
CUZK_INLINE void FN(_adx_correct)(struct F *r, uint64_t t0, uint64_t t1, uint64_t t2, uint64_t t3,
                                  uint64_t t4, uint64_t t5, uint64_t mask)
{
    const uint64_t *p = FN(_modulus);
    __asm__("addq %[s0], %[t0]\n\tadcq %[s1], %[t1]\n\tadcq %[s2], %[t2]\n\t"
            "adcq %[s3], %[t3]\n\tadcq %[s4], %[t4]\n\tadcq %[s5], %[t5]"
            : IN_OUT
            : [s0] "r"(p[0] & mask), [s1] "r"(p[1] & mask), [s2] "r"(p[2] & mask),
              [s3] "r"(p[3] & mask), [s4] "r"(p[4] & mask), [s5] "r"(p[5] & mask)
            : "cc");
    r->l[0] = t0;
    r->l[1] = t1;
    r->l[2] = t2;
    r->l[3] = t3;
    r->l[4] = t4;
    r->l[5] = t5;
}

CUZK_INLINE void FN(_sub)(struct F *r, const struct F *a, const struct F *b)
{
    uint64_t mask;
    LOAD(a->l);
    __asm__("subq (%[b]), %[t0]\n\tsbbq 8(%[b]), %[t1]\n\tsbbq 16(%[b]), %[t2]\n\t"
            "sbbq 24(%[b]), %[t3]\n\tsbbq 32(%[b]), %[t4]\n\tsbbq 40(%[b]), %[t5]\n\t"
            "sbbq %[mask], %[mask]"
            : IN_OUT, [mask] "=&r"(mask)
            : [b] "r"(b), "m"(*b)
            : "cc");
    FN(_adx_correct)(r, t0, t1, t2, t3, t4, t5, mask);
}

#define LOW(first, next)                                                                           \
    "movq (%[a]), %[s]\n\t" first " (%[b]), %[s]\n\tmovq %[s], (%[r])\n\t"                         \
    "movq 8(%[a]), %[s]\n\t" next " 8(%[b]), %[s]\n\tmovq %[s], 8(%[r])\n\t"                       \
    "movq 16(%[a]), %[s]\n\t" next " 16(%[b]), %[s]\n\tmovq %[s], 16(%[r])\n\t"                    \
    "movq 24(%[a]), %[s]\n\t" next " 24(%[b]), %[s]\n\tmovq %[s], 24(%[r])\n\t"                    \
    "movq 32(%[a]), %[s]\n\t" next " 32(%[b]), %[s]\n\tmovq %[s], 32(%[r])\n\t"                    \
    "movq 40(%[a]), %[s]\n\t" next " 40(%[b]), %[s]\n\tmovq %[s], 40(%[r])\n\t"
#define HIGH(next)                                                                                 \
    next " 48(%[b]), %[t0]\n\t" next " 56(%[b]), %[t1]\n\t" next " 64(%[b]), %[t2]\n\t" next       \
         " 72(%[b]), %[t3]\n\t" next " 80(%[b]), %[t4]\n\t" next " 88(%[b]), %[t5]\n\t"

CUZK_INLINE void FN(_wide_add)(struct FN(_wide) * r, const struct FN(_wide) * a,
                               const struct FN(_wide) * b)
{
    uint64_t s;
    LOAD((a->l + 6));
    __asm__ volatile(LOW("addq", "adcq") HIGH("adcq")
                     : IN_OUT, [s] "=&r"(s)
                     : [r] "r"(r), [a] "r"(a), [b] "r"(b)
                     : "cc", "memory");
    r->l[6] = t0;
    r->l[7] = t1;
    r->l[8] = t2;
    r->l[9] = t3;
    r->l[10] = t4;
    r->l[11] = t5;
}

ADX_FUNCTION void FN(_wide_add_mod)(struct FN(_wide) * r, const struct FN(_wide) * a,
                                    const struct FN(_wide) * b)
{
    uint64_t s;
    LOAD((a->l + 6));
    __asm__ volatile(LOW("addq", "adcq") HIGH("adcq")
                     : IN_OUT, [s] "=&r"(s)
                     : [r] "r"(r), [a] "r"(a), [b] "r"(b)
                     : "cc", "memory");
    FN(_adx_select)((struct F *)(r->l + 6), t0, t1, t2, t3, t4, t5);
}

CUZK_INLINE void FN(_wide_sub_plain)(struct FN(_wide) * r, const struct FN(_wide) * a,
                                     const struct FN(_wide) * b)
{
    uint64_t s;
    LOAD((a->l + 6));
    __asm__ volatile(LOW("subq", "sbbq") HIGH("sbbq")
                     : IN_OUT, [s] "=&r"(s)
                     : [r] "r"(r), [a] "r"(a), [b] "r"(b)
                     : "cc", "memory");
    r->l[6] = t0;
    r->l[7] = t1;
    r->l[8] = t2;
    r->l[9] = t3;
    r->l[10] = t4;
    r->l[11] = t5;
}

ADX_FUNCTION void FN(_wide_sub)(struct FN(_wide) * r, const struct FN(_wide) * a,
                                const struct FN(_wide) * b)
{
    uint64_t s;
    LOAD((a->l + 6));
    __asm__ volatile(LOW("subq", "sbbq") HIGH("sbbq") "sbbq %[s], %[s]"
                     : IN_OUT, [s] "=&r"(s)
                     : [r] "r"(r), [a] "r"(a), [b] "r"(b)
                     : "cc", "memory");
    FN(_adx_correct)((struct F *)(r->l + 6), t0, t1, t2, t3, t4, t5, s);
}

#undef LOW
#undef HIGH
#undef LOAD
#undef IN_OUT
#undef ADX_FUNCTION
#undef ACCUMULATORS

#elif N == 4

#define ACCUMULATORS [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3)

CUZK_INLINE void FN(_mul)(struct F *r, const struct F *a, const struct F *b)
{
    uint64_t t0, t1, t2, t3, t4, lo, hi;
    /* clang-format off */
    __asm__ volatile(ADX_FIRST4("0", T0, T1, T2, T3, T4)
            ADX_REDUCE4(T0, T1, T2, T3, T4)
            ADX_ROW4("8", T1, T2, T3, T4, T0)
            ADX_REDUCE4(T1, T2, T3, T4, T0)
            ADX_ROW4("16", T2, T3, T4, T0, T1)
            ADX_REDUCE4(T2, T3, T4, T0, T1)
            ADX_ROW4("24", T3, T4, T0, T1, T2)
            ADX_REDUCE4(T3, T4, T0, T1, T2)
            ADX_SELECT4(T4, T0, T1, T2, "%[lo]", "%[hi]", "%%rdx", T3)
            : ACCUMULATORS, [t4] "=&r"(t4), [lo] "=&r"(lo), [hi] "=&r"(hi)
            : [r] "r"(r), [a] "r"(a), [b] "r"(b), MODULUS
            : "rdx", "cc", "memory");
    /* clang-format on */
}

CUZK_INLINE void FN(_mul_wide)(struct FN(_wide) * r, const struct F *a, const struct F *b)
{
    uint64_t t0, t1, t2, t3, t4, lo, hi;
#define STORE(i, t) "movq " t ", " i "(%[r])\n\t"
    /* clang-format off */
    __asm__ volatile(ADX_FIRST4("0", T0, T1, T2, T3, T4) STORE("0", T0)
            ADX_ROW4("8", T1, T2, T3, T4, T0) STORE("8", T1)
            ADX_ROW4("16", T2, T3, T4, T0, T1) STORE("16", T2)
            ADX_ROW4("24", T3, T4, T0, T1, T2) STORE("24", T3)
            STORE("32", T4) STORE("40", T0) STORE("48", T1) STORE("56", T2)
            : ACCUMULATORS, [t4] "=&r"(t4), [lo] "=&r"(lo), [hi] "=&r"(hi)
            : [r] "r"(r), [a] "r"(a), [b] "r"(b)
            : "rdx", "cc", "memory");
    /* clang-format on */
#undef STORE
}

CUZK_INLINE void FN(_redc)(struct F *r, const struct FN(_wide) * w)
{
    uint64_t t0, t1, t2, t3, lo, hi, s0;
    /* clang-format off */
    __asm__ volatile("movq (%[w]), " T0 "\n\tmovq 8(%[w]), " T1 "\n\tmovq 16(%[w]), " T2
            "\n\tmovq 24(%[w]), " T3 "\n\t"
            ADX_REDUCE_LOW4(T0, T1, T2, T3)
            ADX_REDUCE_LOW4(T1, T2, T3, T0)
            ADX_REDUCE_LOW4(T2, T3, T0, T1)
            ADX_REDUCE_LOW4(T3, T0, T1, T2)
            "addq 32(%[w]), " T0 "\n\tadcq 40(%[w]), " T1 "\n\tadcq 48(%[w]), " T2
            "\n\tadcq 56(%[w]), " T3 "\n\t"
            ADX_SELECT4(T0, T1, T2, T3, "%[lo]", "%[hi]", "%%rdx", "%[s0]")
            : ACCUMULATORS, [lo] "=&r"(lo), [hi] "=&r"(hi), [s0] "=&r"(s0)
            : [r] "r"(r), [w] "r"(w), MODULUS
            : "rdx", "cc", "memory");
    /* clang-format on */
}

CUZK_INLINE void FN(_sqr)(struct F *r, const struct F *a)
{
    FN(_mul)(r, a, a);
}

CUZK_INLINE void FN(_add)(struct F *r, const struct F *a, const struct F *b)
{
    uint64_t t0 = a->l[0], t1 = a->l[1], t2 = a->l[2], t3 = a->l[3], s0, s1, s2, s3;
    __asm__("addq (%[b]), %[t0]\n\tadcq 8(%[b]), %[t1]\n\tadcq 16(%[b]), %[t2]\n\t"
            "adcq 24(%[b]), %[t3]\n\tmovq %[t0], %[s0]\n\tmovq %[t1], %[s1]\n\t"
            "movq %[t2], %[s2]\n\tmovq %[t3], %[s3]\n\tsubq %[p], %[s0]\n\t"
            "sbbq 8+%[p], %[s1]\n\tsbbq 16+%[p], %[s2]\n\tsbbq 24+%[p], %[s3]\n\t"
            "cmovcq %[t0], %[s0]\n\tcmovcq %[t1], %[s1]\n\tcmovcq %[t2], %[s2]\n\t"
            "cmovcq %[t3], %[s3]"
            : [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3), [s0] "=&r"(s0),
              [s1] "=&r"(s1), [s2] "=&r"(s2), [s3] "=&r"(s3)
            : [b] "r"(b), "m"(*b), MODULUS
            : "cc");
    r->l[0] = s0;
    r->l[1] = s1;
    r->l[2] = s2;
    r->l[3] = s3;
}

CUZK_INLINE void FN(_sub)(struct F *r, const struct F *a, const struct F *b)
{
    uint64_t t0 = a->l[0], t1 = a->l[1], t2 = a->l[2], t3 = a->l[3], mask;
    __asm__("subq (%[b]), %[t0]\n\tsbbq 8(%[b]), %[t1]\n\tsbbq 16(%[b]), %[t2]\n\t"
            "sbbq 24(%[b]), %[t3]\n\tsbbq %[mask], %[mask]"
            : [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3), [mask] "=&r"(mask)
            : [b] "r"(b), "m"(*b)
            : "cc");
    const uint64_t *p = FN(_modulus);
    __asm__(
        "addq %[s0], %[t0]\n\tadcq %[s1], %[t1]\n\tadcq %[s2], %[t2]\n\tadcq %[s3], %[t3]"
        : [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3)
        : [s0] "r"(p[0] & mask), [s1] "r"(p[1] & mask), [s2] "r"(p[2] & mask), [s3] "r"(p[3] & mask)
        : "cc");
    r->l[0] = t0;
    r->l[1] = t1;
    r->l[2] = t2;
    r->l[3] = t3;
}

#undef ACCUMULATORS

#else
#error "mont_adx.inc.h has products of 4 and 6 limbs only"
#endif

#undef MODULUS
