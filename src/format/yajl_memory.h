/* Memory for yajl, which asks for more when a string has escapes or nesting grows, and takes a NULL
 * for memory. What it gets is kept in a list here, and a refused allocation leaves the parser by
 * longjmp; then the list is freed whole, the parser with it.
 *
 *     struct yajl_memory memory = {0};
 *     if (setjmp(memory.out_of_memory) == 0) {
 *         yajl_alloc_funcs funcs = yajl_memory_funcs(&memory);
 *         parser = yajl_alloc(&callbacks, &funcs, context); yajl_parse(…) …
 *     }
 *     yajl_memory_free(&memory);       (instead of yajl_free)
 */
#ifndef CUZK_FORMAT_YAJL_MEMORY_H
#define CUZK_FORMAT_YAJL_MEMORY_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <yajl/yajl_parse.h>

struct yajl_memory_block;

struct yajl_memory {
    struct yajl_memory_block *blocks;
    size_t used, limit; /* bytes; a limit of 0 is none */
    bool over_limit;    /* why there was no memory: a token of the text is too long */
    jmp_buf out_of_memory;
};

yajl_alloc_funcs yajl_memory_funcs(struct yajl_memory *memory);
void yajl_memory_free(struct yajl_memory *memory);

#endif
