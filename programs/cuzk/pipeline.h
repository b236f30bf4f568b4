/* Items that go through three steps, each in a thread of its own: make (a witness), start (what
 * the device's critical path needs), finish (the rest). While one item is finished the next may be
 * started and the one after it made. One such row of three threads is a lane; several lanes, one
 * for each device, draw their items from one count. In a lane at most one made item waits, and one
 * is finished at a time, so memory is that of a few items a lane however many there are.
 */
#ifndef CUZK_PROGRAM_PIPELINE_H
#define CUZK_PROGRAM_PIPELINE_H

#include <stdint.h>

#include "cuzk/errors.h"

struct pipeline_steps {
    cuzk_status (*make)(void *context, uint64_t item, void **made, struct cuzk_error *err);
    /* Takes *made when it succeeds (and sets it to NULL); what is left there is dropped. */
    cuzk_status (*start)(void *context, uint64_t item, void **made, void **started,
                         struct cuzk_error *err);
    /* Frees *started in every case. */
    cuzk_status (*finish)(void *context, uint64_t item, void *started, struct cuzk_error *err);
    void (*drop_made)(void *made); /* takes NULL */
    void (*drop_started)(void *started);
};

/* Items 0 … count - 1, each once. lanes = 0: one after another on the calling thread. With one lane
 * a step takes them in order and is never called twice at once, but different steps are; with
 * several, lanes take them in order and a step may be called by as many threads as there are lanes.
 * The first failure ends all; the error is that of the least item that failed. */
cuzk_status pipeline_run(const struct pipeline_steps *steps, void *context, uint64_t count,
                         unsigned lanes, struct cuzk_error *err);

#endif
