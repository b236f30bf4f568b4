/* Lanes of three threads, with a slot of one between the steps. */
#include "pipeline.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/alloc.h"

struct slot {
    bool full;
    bool closed; /* nothing more will be put */
    uint64_t item;
    void *what;
};

struct pipeline {
    const struct pipeline_steps *steps;
    void *context;
    uint64_t count;
    pthread_mutex_t lock;   /* guards what follows, and the lanes */
    pthread_cond_t changed; /* any of it */
    uint64_t next;          /* the item that the next maker takes */
    bool stop;              /* a failure: threads end at their next step */
    uint64_t failed_item;
    struct cuzk_error failure; /* of the least item */
};

enum { STEPS = 3 };
struct lane {
    struct pipeline *pipeline;
    struct slot made, started;
    bool finishing; /* an item is being finished: the next waits to be handed over */
    pthread_t threads[STEPS];
    unsigned running; /* of them */
};

static void fail(struct pipeline *p, uint64_t item, const struct cuzk_error *err)
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

/* The next item to make; false when there is none, or all has stopped. */
static bool draw(struct pipeline *p, uint64_t *item)
{
    (void)pthread_mutex_lock(&p->lock);
    bool ok = !p->stop && p->next < p->count;
    if (ok)
        *item = p->next++;
    (void)pthread_mutex_unlock(&p->lock);
    return ok;
}

/* Waits for room and puts; false, and nothing put, when all has stopped. */
static bool put(struct pipeline *p, struct slot *slot, const bool *busy, uint64_t item, void *what)
{
    (void)pthread_mutex_lock(&p->lock);
    while (!p->stop && (slot->full || (busy != NULL && *busy)))
        (void)pthread_cond_wait(&p->changed, &p->lock);
    bool ok = !p->stop;
    if (ok)
        *slot = (struct slot){.full = true, .item = item, .what = what};
    (void)pthread_cond_broadcast(&p->changed);
    (void)pthread_mutex_unlock(&p->lock);
    return ok;
}

static void close_slot(struct pipeline *p, struct slot *slot)
{
    (void)pthread_mutex_lock(&p->lock);
    slot->closed = true;
    (void)pthread_cond_broadcast(&p->changed);
    (void)pthread_mutex_unlock(&p->lock);
}

/* Waits for an item and takes it; false when none will come, or all has stopped. */
static bool take(struct pipeline *p, struct slot *slot, bool *busy, uint64_t *item, void **what)
{
    (void)pthread_mutex_lock(&p->lock);
    while (!p->stop && !slot->full && !slot->closed)
        (void)pthread_cond_wait(&p->changed, &p->lock);
    bool ok = !p->stop && slot->full;
    if (ok) {
        *item = slot->item;
        *what = slot->what;
        slot->full = false;
        slot->what = NULL;
        if (busy != NULL)
            *busy = true;
    }
    (void)pthread_cond_broadcast(&p->changed);
    (void)pthread_mutex_unlock(&p->lock);
    return ok;
}

static void *make_all(void *argument)
{
    struct lane *lane = argument;
    struct pipeline *p = lane->pipeline;
    uint64_t item;
    while (draw(p, &item)) {
        struct cuzk_error err;
        void *made = NULL;
        if (p->steps->make(p->context, item, &made, &err) != CUZK_OK) {
            fail(p, item, &err);
            break;
        }
        if (!put(p, &lane->made, NULL, item, made)) {
            p->steps->drop_made(made);
            break;
        }
    }
    close_slot(p, &lane->made);
    return NULL;
}

static void *start_all(void *argument)
{
    struct lane *lane = argument;
    struct pipeline *p = lane->pipeline;
    uint64_t item;
    void *made;
    while (take(p, &lane->made, NULL, &item, &made)) {
        struct cuzk_error err;
        void *started = NULL;
        cuzk_status status = p->steps->start(p->context, item, &made, &started, &err);
        p->steps->drop_made(made);
        if (status != CUZK_OK) {
            fail(p, item, &err);
            break;
        }
        if (!put(p, &lane->started, &lane->finishing, item, started)) {
            p->steps->drop_started(started);
            break;
        }
    }
    close_slot(p, &lane->started);
    return NULL;
}

static void *finish_all(void *argument)
{
    struct lane *lane = argument;
    struct pipeline *p = lane->pipeline;
    uint64_t item;
    void *started;
    while (take(p, &lane->started, &lane->finishing, &item, &started)) {
        struct cuzk_error err;
        if (p->steps->finish(p->context, item, started, &err) != CUZK_OK) {
            fail(p, item, &err);
            break;
        }
        (void)pthread_mutex_lock(&p->lock);
        lane->finishing = false;
        (void)pthread_cond_broadcast(&p->changed);
        (void)pthread_mutex_unlock(&p->lock);
    }
    return NULL;
}

static cuzk_status in_sequence(const struct pipeline_steps *steps, void *context, uint64_t count,
                               struct cuzk_error *err)
{
    cuzk_status status = CUZK_OK;
    for (uint64_t i = 0; status == CUZK_OK && i < count; i++) {
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

/* Starts a lane's threads; without all of them nothing would be carried through, so all stops. */
static void start_lane(struct lane *lane, struct pipeline *p)
{
    void *(*const bodies[STEPS])(void *) = {make_all, start_all, finish_all};
    lane->pipeline = p;
    for (; lane->running < STEPS; lane->running++)
        if (pthread_create(&lane->threads[lane->running], NULL, bodies[lane->running], lane) != 0) {
            struct cuzk_error none;
            (void)cuzk_fail(&none, CUZK_E_MEMORY, "no thread can be started");
            fail(p, 0, &none);
            return;
        }
}

cuzk_status pipeline_run(const struct pipeline_steps *steps, void *context, uint64_t count,
                         unsigned lanes, struct cuzk_error *err)
{
    if (lanes == 0 || count < 2)
        return in_sequence(steps, context, count, err);
    if (lanes > count)
        lanes = (unsigned)count;
    struct lane *lane = cuzk_calloc(lanes, sizeof *lane);
    if (lane == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "out of memory for %u lanes", lanes);
    struct pipeline p = {.steps = steps,
                         .context = context,
                         .count = count,
                         .lock = PTHREAD_MUTEX_INITIALIZER,
                         .changed = PTHREAD_COND_INITIALIZER};
    for (unsigned i = 0; i < lanes; i++)
        start_lane(&lane[i], &p);
    for (unsigned i = 0; i < lanes; i++)
        for (unsigned t = 0; t < lane[i].running; t++)
            (void)pthread_join(lane[i].threads[t], NULL);
    for (unsigned i = 0; i < lanes; i++) {
        if (lane[i].made.full)
            steps->drop_made(lane[i].made.what);
        if (lane[i].started.full)
            steps->drop_started(lane[i].started.what);
    }
    (void)pthread_cond_destroy(&p.changed);
    (void)pthread_mutex_destroy(&p.lock);
    cuzk_free(lane);
    if (!p.stop)
        return CUZK_OK;
    if (err != NULL)
        *err = p.failure;
    return p.failure.status;
}
