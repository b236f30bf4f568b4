/* See alloc.h. The hook is two atomics: free when unused, exact when several threads allocate. */
#include "base/alloc.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static _Atomic uint64_t hook_count;
static _Atomic uint64_t hook_fail_at;

void cuzk_alloc_fail_at(uint64_t n)
{
    atomic_store(&hook_count, 0);
    atomic_store(&hook_fail_at, n);
}

uint64_t cuzk_alloc_count(void)
{
    return atomic_load(&hook_count);
}

int cuzk_alloc_refused(void)
{
    uint64_t n = atomic_fetch_add_explicit(&hook_count, 1, memory_order_relaxed) + 1;
    return n == atomic_load_explicit(&hook_fail_at, memory_order_relaxed);
}

void *cuzk_malloc(size_t size)
{
    if (cuzk_alloc_refused())
        return NULL;
    return malloc(size != 0 ? size : 1);
}

void *cuzk_calloc(size_t count, size_t size)
{
    if (cuzk_alloc_refused())
        return NULL;
    return calloc(count != 0 ? count : 1, size != 0 ? size : 1);
}

void *cuzk_realloc(void *old, size_t count, size_t size)
{
    size_t bytes;
    if (cuzk_alloc_refused() || __builtin_mul_overflow(count, size, &bytes))
        return NULL;
    return realloc(old, bytes != 0 ? bytes : 1);
}

void cuzk_free(void *p)
{
    free(p);
}

char *cuzk_strdup(const char *s)
{
    size_t n = strlen(s) + 1;
    char *copy = cuzk_malloc(n);
    if (copy != NULL)
        memcpy(copy, s, n);
    return copy;
}

void cuzk_wipe(void *p, size_t size)
{
    if (size != 0)
        explicit_bzero(p, size);
}
