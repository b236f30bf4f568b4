/* Chunk digests: lines of a file, and progress. */
#include "chunks.h"

#include <stdio.h>

cuzk_status chunk_line(void *context, const uint8_t digest[CUZK_SHA256_SIZE],
                       struct cuzk_error *err)
{
    struct chunks *c = context;
    progress_update(c->progress, ++c->done, c->total);
    if (c->writer == NULL)
        return CUZK_OK;
    char line[2 * CUZK_SHA256_SIZE + 2];
    for (unsigned i = 0; i < CUZK_SHA256_SIZE; i++)
        (void)snprintf(line + 2 * i, 3, "%02x", (unsigned)digest[i]);
    line[2 * CUZK_SHA256_SIZE] = '\n';
    return cuzk_os_writer_write(c->writer, line, 2 * CUZK_SHA256_SIZE + 1, err);
}

cuzk_status chunks_open(struct chunks *c, const char *path, struct cuzk_error *err)
{
    c->writer = NULL;
    return path != NULL ? cuzk_os_writer_open(&c->writer, path, err) : CUZK_OK;
}

cuzk_status chunks_close(struct chunks *c, cuzk_status status, struct cuzk_error *err)
{
    struct cuzk_writer *w = c->writer;
    c->writer = NULL;
    if (w != NULL && status == CUZK_OK)
        return cuzk_os_writer_commit(w, err);
    cuzk_os_writer_abort(w);
    return status;
}
