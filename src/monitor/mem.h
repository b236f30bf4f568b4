/* Allocations of the monitor: each can fail, and a test makes each fail in turn. Nothing is
 * allocated while a lone process is watched; a tree's full look allocates, and does without what it
 * cannot have.
 */
#ifndef RSSMON_MEM_H
#define RSSMON_MEM_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed; NULL when memory is out or count * size overflows. Freed by rssmon_free. */
void *rssmon_calloc(size_t count, size_t size);
void *rssmon_realloc(void *old, size_t count, size_t size);
char *rssmon_strdup(const char *s);
void rssmon_free(void *p);

/* Grows an array to hold `need` items of `size` bytes (capacity doubles). 0, or -1 with *array and
 * *capacity as they were. */
int rssmon_grow(void *array, size_t *capacity, size_t need, size_t size);

/* Tests only: the n-th allocation from now fails, once; 0 switches that off. */
void rssmon_alloc_fail_at(uint64_t n);
uint64_t rssmon_alloc_count(void);

#endif
