/* One source, compiled once for each instruction-set path.
 *
 * A file whose inner loops are field products (the curve's instance, the NTT, Poseidon) is listed
 * in its folder's CMakeLists.txt by
 *
 *     cuzk_isa_sources(cuzk_poly ntt_kernels.c)
 *
 * which compiles it once for each path: "portable" everywhere, and "x86_64-adx" (MULX and ADX) on
 * x86-64. The file includes this header and the curve's fields.h as usual: under the same names the
 * products are then the path's own, inlined. All it gives to other files must be named per path:
 *
 *     const struct ntt_kernels CUZK_ISA_FN(ntt_kernels) = {…};   ntt_kernels_portable, …_x86_64_adx
 *
 * and a file compiled once picks by the name in force, with what CUZK_ISA_SELECT makes of it:
 *
 *     extern const struct ntt_kernels ntt_kernels_portable, ntt_kernels_x86_64_adx;
 *     const struct ntt_kernels *k = CUZK_ISA_SELECT(cuzk_isa_name(), &ntt_kernels_portable,
 *                                                   &ntt_kernels_x86_64_adx);
 *
 * where the second symbol need not exist on other processors. Keep such tables at the level of
 * vectors: a call through a table for every product costs more than the faster product gives.
 */
#ifndef CUZK_FIELD_ISA_H
#define CUZK_FIELD_ISA_H

#include <string.h>

#define CUZK_ISA_GLUE_(name, isa) name##_##isa
#define CUZK_ISA_GLUE(name, isa) CUZK_ISA_GLUE_(name, isa)
#ifdef CUZK_ISA_X86_64_ADX
#define CUZK_ISA_FN(name) CUZK_ISA_GLUE(name, x86_64_adx)
#define CUZK_ISA_NAME "x86_64-adx"
#else
#define CUZK_ISA_FN(name) CUZK_ISA_GLUE(name, portable)
#define CUZK_ISA_NAME "portable"
#endif

/* CUZK_ISA_HAVE_X86_64_ADX: this build has that path (the processor may still lack it). */
#ifdef CUZK_ISA_HAVE_X86_64_ADX
#define CUZK_ISA_SELECT(name, portable, x86_64_adx)                                                \
    (strcmp((name), "x86_64-adx") == 0 ? (x86_64_adx) : (portable))
#else
#define CUZK_ISA_SELECT(name, portable, x86_64_adx) (portable)
#endif

#endif
