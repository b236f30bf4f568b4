/* The extension fields with MULX and ADX. */
#ifdef CUZK_ISA_HAVE_X86_64_ADX
#define CUZK_ISA_X86_64_ADX
#endif
#include "test_tower.c"
