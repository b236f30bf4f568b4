/* Chunk digests on their way from the circuit library: lines of a file, and progress. */
#ifndef CUZK_PROGRAM_CHUNKS_H
#define CUZK_PROGRAM_CHUNKS_H

#include "base/os.h"
#include "circuit/digest.h"
#include "progress.h"

struct chunks {
    struct cuzk_writer *writer; /* NULL: no file is wanted */
    struct progress *progress;
    uint64_t done, total; /* chunks in all, over several vectors */
};

/* A cuzk_chunk_visitor; context is a struct chunks. */
cuzk_status chunk_line(void *context, const uint8_t digest[CUZK_SHA256_SIZE],
                       struct cuzk_error *err);
/* Begins a file (path = NULL: none); ends it, kept if status is CUZK_OK, and returns the first
 * failure. */
cuzk_status chunks_open(struct chunks *c, const char *path, struct cuzk_error *err);
cuzk_status chunks_close(struct chunks *c, cuzk_status status, struct cuzk_error *err);

#endif
