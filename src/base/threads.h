/* A pool of threads for parallel loops. The caller takes part in the work, so a pool of n threads
 * keeps n - 1 of its own. Results of our algorithms never depend on n: work is cut by size, not by
 * the number of threads.
 *
 * Owner: whoever creates it. One loop at a time a pool: a loop started while another runs on the
 * same pool (nested, or from another thread) runs on the calling thread alone, which is slower but
 * never wrong and never blocks.
 */
#ifndef CUZK_BASE_THREADS_H
#define CUZK_BASE_THREADS_H

#include <stddef.h>
#include <stdint.h>

#include "cuzk/errors.h"

struct cuzk_threads;

/* threads = 0 takes one for each processor; at most 1024. Destroy tolerates NULL. */
cuzk_status cuzk_threads_create(struct cuzk_threads **out, unsigned threads,
                                struct cuzk_error *err);
void cuzk_threads_destroy(struct cuzk_threads *pool);
unsigned cuzk_threads_count(const struct cuzk_threads *pool); /* 1 for NULL */

/* Calls body(context, i, worker) for i in [0, count), each once, in any order, and returns when all
 * are done. worker < cuzk_threads_count is the number of the running thread, for scratch of its
 * own. pool = NULL runs on the calling thread. */
typedef void cuzk_threads_body(void *context, size_t i, unsigned worker);
void cuzk_threads_for(struct cuzk_threads *pool, size_t count, cuzk_threads_body *body,
                      void *context);

#endif
