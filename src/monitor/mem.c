/* See mem.h. */
#include "monitor/mem.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static _Atomic uint64_t hook_count;
static _Atomic uint64_t hook_fail_at;

void rssmon_alloc_fail_at(uint64_t n)
{
    atomic_store(&hook_count, 0);
    atomic_store(&hook_fail_at, n);
}

uint64_t rssmon_alloc_count(void)
{
    return atomic_load(&hook_count);
}

static int refused(void)
{
    uint64_t n = atomic_fetch_add_explicit(&hook_count, 1, memory_order_relaxed) + 1;
    return n == atomic_load_explicit(&hook_fail_at, memory_order_relaxed);
}

void *rssmon_calloc(size_t count, size_t size)
{
    if (refused())
        return NULL;
    return calloc(count != 0 ? count : 1, size != 0 ? size : 1);
}

void *rssmon_realloc(void *old, size_t count, size_t size)
{
    size_t bytes;
    if (refused() || __builtin_mul_overflow(count, size, &bytes))
        return NULL;
    return realloc(old, bytes != 0 ? bytes : 1);
}

char *rssmon_strdup(const char *s)
{
    size_t n = strlen(s) + 1;
    char *copy = rssmon_calloc(n, 1);
    if (copy != NULL)
        memcpy(copy, s, n);
    return copy;
}

void rssmon_free(void *p)
{
    free(p);
}

int rssmon_grow(void *array, size_t *capacity, size_t need, size_t size)
{
    if (need <= *capacity)
        return 0;
    size_t grown = *capacity < 16 ? 16 : *capacity;
    while (grown < need) {
        if (grown > SIZE_MAX / 2)
            return -1;
        grown *= 2;
    }
    void *old;
    memcpy(&old, array, sizeof old);
    void *p = rssmon_realloc(old, grown, size);
    if (p == NULL)
        return -1;
    memcpy(array, &p, sizeof p);
    *capacity = grown;
    return 0;
}
