/* Which instruction-set path runs: what the processor has, or what --isa forces. */
#include "curve/bls12_381/ops.h"

#include <stdatomic.h>

#include "field/isa.h"

#ifdef CUZK_ISA_HAVE_X86_64_ADX
#include <cpuid.h>
#endif

extern const struct bls12_381_ops bls12_381_ops_portable;
#ifdef CUZK_ISA_HAVE_X86_64_ADX
extern const struct bls12_381_ops bls12_381_ops_x86_64_adx;

static bool has_mulx_and_adx(void)
{
    unsigned a, b, c, d;
    const unsigned both = 1u << 8 | 1u << 19; /* BMI2 and ADX in leaf 7's EBX */
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & both) == both;
}
#endif

static _Atomic(const struct bls12_381_ops *) forced;

static const struct bls12_381_ops *fastest(void)
{
#ifdef CUZK_ISA_HAVE_X86_64_ADX
    if (has_mulx_and_adx())
        return &bls12_381_ops_x86_64_adx;
#endif
    return &bls12_381_ops_portable;
}

const struct bls12_381_ops *bls12_381_ops(const char *name)
{
    if (name == NULL) {
        const struct bls12_381_ops *ops = atomic_load(&forced);
        if (ops == NULL) { /* asked once: CPUID traps under a hypervisor */
            static _Atomic(const struct bls12_381_ops *) best;
            ops = atomic_load(&best);
            if (ops == NULL)
                atomic_store(&best, ops = fastest());
        }
        return ops;
    }
    if (strcmp(name, bls12_381_ops_portable.name) == 0)
        return &bls12_381_ops_portable;
    const struct bls12_381_ops *ops = fastest();
    return strcmp(name, ops->name) == 0 ? ops : NULL;
}

cuzk_status cuzk_isa_force(const char *name, struct cuzk_error *err)
{
    const struct bls12_381_ops *ops = name != NULL ? bls12_381_ops(name) : NULL;
    if (name != NULL && ops == NULL)
        return cuzk_fail(err, CUZK_E_UNSUPPORTED,
                         "instruction set '%s': this processor or build does not have it; use "
                         "'portable' or '%s'",
                         name, fastest()->name);
    atomic_store(&forced, ops);
    return CUZK_OK;
}

const char *cuzk_isa_name(void)
{
    return bls12_381_ops(NULL)->name;
}
