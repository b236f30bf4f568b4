/* Which device of a context the next proof goes to.
 *
 * The one with the fewest unfinished proofs; among those, the one with the fewest that are being
 * started, since a device starts one at a time while it may finish another beside; then the first.
 * A device that was lost (CUZK_E_DEVICE_LOST) gets no more proofs. One lock guards the counts, so
 * that threads that start proofs at once see each other's.
 */
#include <pthread.h>

#include "base/alloc.h"
#include "groth16/groth16.h"

struct load {
    unsigned unfinished; /* from the start to the end of the pending proof */
    unsigned starting;   /* of them */
    bool lost;
};

struct cuzk_dispatch {
    pthread_mutex_t lock; /* guards all loads */
    size_t count;
    struct load of[];
};

cuzk_status cuzk_dispatch_create(struct cuzk_dispatch **out, size_t count, struct cuzk_error *err)
{
    *out = NULL;
    struct cuzk_dispatch *d = cuzk_calloc(1, sizeof *d + count * sizeof d->of[0]);
    if (d == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "out of memory for the loads of %zu devices", count);
    if (pthread_mutex_init(&d->lock, NULL) != 0) {
        cuzk_free(d);
        return cuzk_fail(err, CUZK_E_MEMORY, "no lock can be made");
    }
    d->count = count;
    *out = d;
    return CUZK_OK;
}

void cuzk_dispatch_destroy(struct cuzk_dispatch *d)
{
    if (d == NULL)
        return;
    (void)pthread_mutex_destroy(&d->lock);
    cuzk_free(d);
}

static bool before(const struct load *a, const struct load *b)
{
    return a->unfinished != b->unfinished ? a->unfinished < b->unfinished
                                          : a->starting < b->starting;
}

bool cuzk_dispatch_begin(struct cuzk_dispatch *d, size_t *device)
{
    struct load *best = NULL;
    (void)pthread_mutex_lock(&d->lock);
    for (size_t i = 0; i < d->count; i++)
        if (!d->of[i].lost && (best == NULL || before(&d->of[i], best)))
            best = &d->of[i];
    if (best != NULL) {
        best->unfinished++;
        best->starting++;
        *device = (size_t)(best - d->of);
    }
    (void)pthread_mutex_unlock(&d->lock);
    return best != NULL;
}

static void lose_if(struct load *load, cuzk_status status)
{
    if (status == CUZK_E_DEVICE_LOST)
        load->lost = true;
}

void cuzk_dispatch_started(struct cuzk_dispatch *d, size_t device, cuzk_status status)
{
    struct load *load = &d->of[device];
    (void)pthread_mutex_lock(&d->lock);
    load->starting--;
    if (status != CUZK_OK)
        load->unfinished--;
    lose_if(load, status);
    (void)pthread_mutex_unlock(&d->lock);
}

void cuzk_dispatch_end(struct cuzk_dispatch *d, size_t device, cuzk_status status)
{
    struct load *load = &d->of[device];
    (void)pthread_mutex_lock(&d->lock);
    load->unfinished--;
    lose_if(load, status);
    (void)pthread_mutex_unlock(&d->lock);
}
