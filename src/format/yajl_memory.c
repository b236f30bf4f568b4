/* See yajl_memory.h. Blocks are wiped when freed: the strings of secret files pass through here. */
#include "format/yajl_memory.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"

struct yajl_memory_block {
    struct yajl_memory_block *next, **link; /* link: what points here */
    size_t size;
    _Alignas(16) unsigned char data[];
};

static struct yajl_memory_block *block_of(void *p)
{
    return (struct yajl_memory_block *)(void *)((char *)p -
                                                offsetof(struct yajl_memory_block, data));
}

static void *take(void *context, size_t size)
{
    struct yajl_memory *memory = context;
    if (memory->limit != 0 && size > memory->limit - memory->used) {
        memory->over_limit = true;
        longjmp(memory->out_of_memory, 1);
    }
    struct yajl_memory_block *b = size > SIZE_MAX / 2 ? NULL : cuzk_malloc(sizeof *b + size);
    if (b == NULL)
        longjmp(memory->out_of_memory, 1);
    b->size = size;
    memory->used += size;
    b->link = &memory->blocks;
    b->next = memory->blocks;
    if (b->next != NULL)
        b->next->link = &b->next;
    memory->blocks = b;
    return b->data;
}

static void give(void *context, void *p)
{
    struct yajl_memory *memory = context;
    if (p == NULL)
        return;
    struct yajl_memory_block *b = block_of(p);
    memory->used -= b->size;
    *b->link = b->next;
    if (b->next != NULL)
        b->next->link = b->link;
    cuzk_wipe(b->data, b->size);
    cuzk_free(b);
}

static void *retake(void *context, void *old, size_t size)
{
    void *grown = take(context, size);
    if (old != NULL) {
        size_t have = block_of(old)->size;
        memcpy(grown, old, have < size ? have : size);
        give(context, old);
    }
    return grown;
}

yajl_alloc_funcs yajl_memory_funcs(struct yajl_memory *memory)
{
    return (yajl_alloc_funcs){.malloc = take, .realloc = retake, .free = give, .ctx = memory};
}

void yajl_memory_free(struct yajl_memory *memory)
{
    while (memory->blocks != NULL)
        give(memory, memory->blocks->data);
}
