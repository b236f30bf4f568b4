/* Three steps in three threads, with a slot of one between them. */
#include "pipeline.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

struct slot {
    bool full;
    uint32_t item;
    void *what;
};

struct pipeline {
    const struct pipeline_steps *steps;
    void *context;
    uint32_t count;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* any of the below */
    struct slot made, started;
    bool finishing; /* an item is being finished: the next waits to be handed over */
    bool stop;      /* a failure: threads end at their next step */
    uint32_t failed_item;
    struct cuzk_error failure; /* of the least item */
};

static void fail(struct pipeline *p, uint32_t item, const struct cuzk_error *err)
{
    (void)pthread_mutex_lock(&p->lock);
    if (!p->stop || item < p->failed_item) {
        p->failed_item = item;
        p->failure = *err;
    }
    p->stop = true;
    (void)pthread_cond_broadcast(&p->changed);
    (void)pthread_mutex_unlock(&p->lock);
}

/* Waits for room and puts; false, and nothing put, when all has stopped. */
static bool put(struct pipeline *p, struct slot *slot, const bool *busy, uint32_t item, void *what)
{
    (void)pthread_mutex_lock(&p->lock);
    while (!p->stop && (slot->full || (busy != NULL && *busy)))
        (void)pthread_cond_wait(&p->changed, &p->lock);
    bool ok = !p->stop;
    if (ok)
        *slot = (struct slot){true, item, what};
    (void)pthread_cond_broadcast(&p->changed);
    (void)pthread_mutex_unlock(&p->lock);
    return ok;
}

/* Waits for an item and takes it; false when all has stopped. */
static bool take(struct pipeline *p, struct slot *slot, bool *busy, void **what)
{
    (void)pthread_mutex_lock(&p->lock);
    while (!p->stop && !slot->full)
        (void)pthread_cond_wait(&p->changed, &p->lock);
    bool ok = !p->stop;
    if (ok) {
        *what = slot->what;
        *slot = (struct slot){0};
        if (busy != NULL)
            *busy = true;
    }
    (void)pthread_cond_broadcast(&p->changed);
    (void)pthread_mutex_unlock(&p->lock);
    return ok;
}

static void *make_all(void *argument)
{
    struct pipeline *p = argument;
    for (uint32_t i = 0; i < p->count; i++) {
        struct cuzk_error err;
        void *made = NULL;
        if (p->steps->make(p->context, i, &made, &err) != CUZK_OK) {
            fail(p, i, &err);
            break;
        }
        if (!put(p, &p->made, NULL, i, made)) {
            p->steps->drop_made(made);
            break;
        }
    }
    return NULL;
}

static void *finish_all(void *argument)
{
    struct pipeline *p = argument;
    for (uint32_t i = 0; i < p->count; i++) {
        struct cuzk_error err;
        void *started;
        if (!take(p, &p->started, &p->finishing, &started))
            break;
        cuzk_status status = p->steps->finish(p->context, i, started, &err);
        if (status != CUZK_OK) {
            fail(p, i, &err);
            break;
        }
        (void)pthread_mutex_lock(&p->lock);
        p->finishing = false;
        (void)pthread_cond_broadcast(&p->changed);
        (void)pthread_mutex_unlock(&p->lock);
    }
    return NULL;
}

static void start_all(struct pipeline *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        struct cuzk_error err;
        void *made, *started = NULL;
        if (!take(p, &p->made, NULL, &made))
            return;
        cuzk_status status = p->steps->start(p->context, i, &made, &started, &err);
        p->steps->drop_made(made);
        if (status != CUZK_OK) {
            fail(p, i, &err);
            return;
        }
        if (!put(p, &p->started, &p->finishing, i, started)) {
            p->steps->drop_started(started);
            return;
        }
    }
}

static cuzk_status in_sequence(const struct pipeline_steps *steps, void *context, uint32_t count,
                               struct cuzk_error *err)
{
    cuzk_status status = CUZK_OK;
    for (uint32_t i = 0; status == CUZK_OK && i < count; i++) {
        void *made = NULL, *started = NULL;
        status = steps->make(context, i, &made, err);
        if (status == CUZK_OK)
            status = steps->start(context, i, &made, &started, err);
        steps->drop_made(made);
        if (status == CUZK_OK)
            status = steps->finish(context, i, started, err);
    }
    return status;
}

cuzk_status pipeline_run(const struct pipeline_steps *steps, void *context, uint32_t count,
                         bool overlap, struct cuzk_error *err)
{
    if (!overlap || count < 2)
        return in_sequence(steps, context, count, err);
    struct pipeline p = {.steps = steps,
                         .context = context,
                         .count = count,
                         .lock = PTHREAD_MUTEX_INITIALIZER,
                         .changed = PTHREAD_COND_INITIALIZER};
    pthread_t maker, finisher;
    if (pthread_create(&maker, NULL, make_all, &p) != 0)
        return cuzk_fail(err, CUZK_E_MEMORY, "no thread can be started");
    if (pthread_create(&finisher, NULL, finish_all, &p) != 0) {
        struct cuzk_error none;
        (void)cuzk_fail(&none, CUZK_E_MEMORY, "no thread can be started");
        fail(&p, 0, &none);
    } else {
        start_all(&p);
        (void)pthread_join(finisher, NULL);
    }
    (void)pthread_join(maker, NULL);
    if (p.made.full)
        steps->drop_made(p.made.what);
    if (p.started.full)
        steps->drop_started(p.started.what);
    (void)pthread_cond_destroy(&p.changed);
    (void)pthread_mutex_destroy(&p.lock);
    if (!p.stop)
        return CUZK_OK;
    if (err != NULL)
        *err = p.failure;
    return p.failure.status;
}
