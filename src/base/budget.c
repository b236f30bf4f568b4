/* See budget.h. A mutex and plain counters: charges come with large buffers, some thousand a proof,
 * so exactness (the split at the very moment of the peak) is worth more than a lock-free path. */
#include "base/budget.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/os.h"

struct cuzk_budget {
    pthread_mutex_t mutex; /* guards account */
    struct cuzk_account account;
    struct cuzk_budget *parent;
    char name[32];
};

const char *cuzk_purpose_name(enum cuzk_purpose purpose)
{
    static const char *const names[] = {
#define CUZK_X(id, name) name,
        CUZK_PURPOSE_LIST(CUZK_X)
#undef CUZK_X
    };
    return (unsigned)purpose < CUZK_PURPOSE_COUNT ? names[purpose] : "unknown";
}

cuzk_status cuzk_budget_create(struct cuzk_budget **out, const char *name, uint64_t limit,
                               struct cuzk_budget *parent, struct cuzk_error *err)
{
    *out = NULL;
    struct cuzk_budget *b = cuzk_calloc(1, sizeof *b);
    if (b == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "out of memory for the budget of %s", name);
    if (pthread_mutex_init(&b->mutex, NULL) != 0) {
        cuzk_free(b);
        return cuzk_fail(err, CUZK_E_MEMORY, "cannot create a mutex for the budget of %s", name);
    }
    b->account.limit = limit;
    b->parent = parent;
    (void)snprintf(b->name, sizeof b->name, "%s", name);
    *out = b;
    return CUZK_OK;
}

void cuzk_budget_destroy(struct cuzk_budget *budget)
{
    if (budget == NULL)
        return;
    (void)pthread_mutex_destroy(&budget->mutex);
    cuzk_free(budget);
}

cuzk_status cuzk_budget_reserve(struct cuzk_budget *budget, enum cuzk_purpose purpose,
                                uint64_t bytes, struct cuzk_error *err)
{
    if (budget == NULL)
        return CUZK_OK;
    cuzk_status status = cuzk_budget_reserve(budget->parent, purpose, bytes, err);
    if (status != CUZK_OK)
        return status;
    (void)pthread_mutex_lock(&budget->mutex);
    struct cuzk_account *a = &budget->account;
    uint64_t used = a->used, limit = a->limit;
    int fits = used <= limit && bytes <= limit - used;
    if (fits) {
        a->used += bytes;
        a->used_by[purpose] += bytes;
        if (a->used_by[purpose] > a->peak_by[purpose])
            a->peak_by[purpose] = a->used_by[purpose];
        if (a->used > a->peak) {
            a->peak = a->used;
            memcpy(a->at_peak, a->used_by, sizeof a->at_peak);
        }
    }
    (void)pthread_mutex_unlock(&budget->mutex);
    if (fits)
        return CUZK_OK;
    cuzk_budget_release(budget->parent, purpose, bytes);
    return cuzk_fail(err, CUZK_E_BUDGET,
                     "%s memory: %" PRIu64 " bytes needed for %s, %" PRIu64 " of %" PRIu64
                     " bytes available; raise the memory limit or lower the "
                     "number of jobs at once",
                     budget->name, bytes, cuzk_purpose_name(purpose), limit - used, limit);
}

void cuzk_budget_release(struct cuzk_budget *budget, enum cuzk_purpose purpose, uint64_t bytes)
{
    for (; budget != NULL; budget = budget->parent) {
        (void)pthread_mutex_lock(&budget->mutex);
        budget->account.used -= bytes;
        budget->account.used_by[purpose] -= bytes;
        (void)pthread_mutex_unlock(&budget->mutex);
    }
}

void cuzk_budget_read(const struct cuzk_budget *budget, struct cuzk_account *out)
{
    struct cuzk_budget *b = (struct cuzk_budget *)(uintptr_t)budget; /* the mutex is not content */
    (void)pthread_mutex_lock(&b->mutex);
    *out = b->account;
    (void)pthread_mutex_unlock(&b->mutex);
}

cuzk_status cuzk_budget_alloc(struct cuzk_budget *budget, void **out, enum cuzk_purpose purpose,
                              uint64_t bytes, struct cuzk_error *err)
{
    *out = NULL;
    cuzk_status status = cuzk_budget_reserve(budget, purpose, bytes, err);
    if (status != CUZK_OK)
        return status;
    void *p = cuzk_alloc_refused() ? NULL : cuzk_os_pages_alloc(bytes);
    if (p == NULL) {
        cuzk_budget_release(budget, purpose, bytes);
        return cuzk_fail(err, CUZK_E_MEMORY, "out of memory: %" PRIu64 " bytes for %s", bytes,
                         cuzk_purpose_name(purpose));
    }
    *out = p;
    return CUZK_OK;
}

void cuzk_budget_free(struct cuzk_budget *budget, void *p, enum cuzk_purpose purpose,
                      uint64_t bytes)
{
    if (p == NULL)
        return;
    cuzk_os_pages_free(p, bytes);
    cuzk_budget_release(budget, purpose, bytes);
}
