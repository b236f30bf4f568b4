/* Small allocations of the engine. Every one can fail, and a test makes each fail in turn: the
 * hook counts calls and refuses the one it was told to. Buffers that grow with the circuit belong
 * to budget.h instead, which charges them first.
 */
#ifndef CUZK_BASE_ALLOC_H
#define CUZK_BASE_ALLOC_H

#include <stddef.h>
#include <stdint.h>

/* Uninitialised, zeroed, resized; NULL when memory is out, the product overflows, or the hook says
 * so. count = 0 or size = 0 gives a pointer that may be freed. Freed by cuzk_free (NULL is fine).
 */
void *cuzk_malloc(size_t size);
void *cuzk_calloc(size_t count, size_t size);
void *cuzk_realloc(void *old, size_t count, size_t size);
void cuzk_free(void *p);
char *cuzk_strdup(const char *s);

/* Wipes memory that held a secret; not removed by the optimiser. */
void cuzk_wipe(void *p, size_t size);

/* Tests only: the n-th allocation from now (1 = the next; budget.h's count too) fails, once;
 * 0 switches the hook off. cuzk_alloc_count counts allocations since the last call of _fail_at. */
void cuzk_alloc_fail_at(uint64_t n);
uint64_t cuzk_alloc_count(void);

/* For budget.c: true when the hook refuses this allocation. */
int cuzk_alloc_refused(void);

#endif
