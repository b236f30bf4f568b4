/* See threads.h. One loop is one generation: workers sleep until the generation changes, take
 * indices from an atomic counter, and the last one to leave wakes the caller. */
#include "base/threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/os.h"

struct worker {
    struct cuzk_threads *pool;
    pthread_t thread;
    unsigned number;
};

struct cuzk_threads {
    pthread_mutex_t mutex; /* guards generation, active, stop, body, context, count */
    pthread_cond_t start, done;
    uint64_t generation;
    unsigned active; /* workers that have not left the current loop */
    int stop;
    cuzk_threads_body *body;
    void *context;
    size_t count;
    _Atomic size_t next;
    atomic_flag busy;
    unsigned threads, started; /* threads counts the caller, started does not */
    struct worker *workers;
};

static void run(struct cuzk_threads *p, unsigned number)
{
    for (;;) {
        size_t i = atomic_fetch_add_explicit(&p->next, 1, memory_order_relaxed);
        if (i >= p->count)
            return;
        p->body(p->context, i, number);
    }
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    struct cuzk_threads *p = w->pool;
    uint64_t seen = 0;
    (void)pthread_mutex_lock(&p->mutex);
    for (;;) {
        while (!p->stop && p->generation == seen)
            (void)pthread_cond_wait(&p->start, &p->mutex);
        if (p->stop)
            break;
        seen = p->generation;
        (void)pthread_mutex_unlock(&p->mutex);
        run(p, w->number);
        (void)pthread_mutex_lock(&p->mutex);
        if (--p->active == 0)
            (void)pthread_cond_signal(&p->done);
    }
    (void)pthread_mutex_unlock(&p->mutex);
    return NULL;
}

cuzk_status cuzk_threads_create(struct cuzk_threads **out, unsigned threads, struct cuzk_error *err)
{
    *out = NULL;
    if (threads == 0)
        threads = cuzk_os_processors();
    if (threads > 1024)
        return cuzk_fail(err, CUZK_E_ARGUMENT, "%u threads asked for; at most 1024", threads);
    struct cuzk_threads *p = cuzk_calloc(1, sizeof *p);
    struct worker *workers = cuzk_calloc(threads, sizeof *workers);
    if (p == NULL || workers == NULL) {
        cuzk_free(p);
        cuzk_free(workers);
        return cuzk_fail(err, CUZK_E_MEMORY, "out of memory for a pool of %u threads", threads);
    }
    p->threads = threads;
    p->workers = workers;
    atomic_flag_clear(&p->busy);
    (void)pthread_mutex_init(&p->mutex, NULL);
    (void)pthread_cond_init(&p->start, NULL);
    (void)pthread_cond_init(&p->done, NULL);
    for (unsigned i = 1; i < threads; i++) {
        struct worker *w = &workers[p->started];
        *w = (struct worker){.pool = p, .number = i};
        int rc = pthread_create(&w->thread, NULL, worker_main, w);
        if (rc != 0) {
            cuzk_threads_destroy(p);
            return cuzk_fail(err, CUZK_E_MEMORY, "cannot start thread %u of %u: %s", i + 1, threads,
                             strerror(rc));
        }
        p->started++;
    }
    *out = p;
    return CUZK_OK;
}

void cuzk_threads_destroy(struct cuzk_threads *p)
{
    if (p == NULL)
        return;
    (void)pthread_mutex_lock(&p->mutex);
    p->stop = 1;
    (void)pthread_cond_broadcast(&p->start);
    (void)pthread_mutex_unlock(&p->mutex);
    for (unsigned i = 0; i < p->started; i++)
        (void)pthread_join(p->workers[i].thread, NULL);
    (void)pthread_cond_destroy(&p->done);
    (void)pthread_cond_destroy(&p->start);
    (void)pthread_mutex_destroy(&p->mutex);
    cuzk_free(p->workers);
    cuzk_free(p);
}

unsigned cuzk_threads_count(const struct cuzk_threads *pool)
{
    return pool != NULL ? pool->threads : 1;
}

void cuzk_threads_for(struct cuzk_threads *p, size_t count, cuzk_threads_body *body, void *context)
{
    if (p == NULL || p->started == 0 || count < 2 || atomic_flag_test_and_set(&p->busy)) {
        for (size_t i = 0; i < count; i++)
            body(context, i, 0);
        return;
    }
    (void)pthread_mutex_lock(&p->mutex);
    p->body = body;
    p->context = context;
    p->count = count;
    atomic_store(&p->next, 0);
    p->active = p->started;
    p->generation++;
    (void)pthread_cond_broadcast(&p->start);
    (void)pthread_mutex_unlock(&p->mutex);
    run(p, 0);
    (void)pthread_mutex_lock(&p->mutex);
    while (p->active != 0)
        (void)pthread_cond_wait(&p->done, &p->mutex);
    (void)pthread_mutex_unlock(&p->mutex);
    atomic_flag_clear(&p->busy);
}
