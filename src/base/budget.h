/* The memory account. Every buffer that grows with the circuit is charged to a purpose before it
 * exists. One budget stands for the host, one for each device; a budget of a job may have the
 * host's as its parent, and then each charge goes to both or to neither.
 *
 * Owner: whoever creates it; all functions are safe to call from any thread.
 */
#ifndef CUZK_BASE_BUDGET_H
#define CUZK_BASE_BUDGET_H

#include <stddef.h>
#include <stdint.h>

#include "cuzk/errors.h"

/* purpose, name as --json and the account print it */
#define CUZK_PURPOSE_LIST(X)                                                                       \
    X(CUZK_PURPOSE_BASELINE, "baseline")                                                           \
    X(CUZK_PURPOSE_SRS, "srs")                                                                     \
    X(CUZK_PURPOSE_SHAPE, "shape")                                                                 \
    X(CUZK_PURPOSE_WITNESS, "witness")                                                             \
    X(CUZK_PURPOSE_ABC, "abc")                                                                     \
    X(CUZK_PURPOSE_NTT, "ntt")                                                                     \
    X(CUZK_PURPOSE_MSM, "msm")                                                                     \
    X(CUZK_PURPOSE_JSON, "json")                                                                   \
    X(CUZK_PURPOSE_STAGING, "staging")                                                             \
    X(CUZK_PURPOSE_SETUP, "setup")                                                                 \
    X(CUZK_PURPOSE_OTHER, "other")

enum cuzk_purpose {
#define CUZK_X(id, name) id,
    CUZK_PURPOSE_LIST(CUZK_X)
#undef CUZK_X
        CUZK_PURPOSE_COUNT
};
const char *cuzk_purpose_name(enum cuzk_purpose purpose);

struct cuzk_budget;

struct cuzk_account {
    uint64_t limit;                       /* bytes; UINT64_MAX when unlimited */
    uint64_t used, peak;                  /* bytes now and at the highest */
    uint64_t used_by[CUZK_PURPOSE_COUNT]; /* bytes now, by purpose */
    uint64_t peak_by[CUZK_PURPOSE_COUNT]; /* each purpose's own highest */
    uint64_t at_peak[CUZK_PURPOSE_COUNT]; /* the split at the moment of the peak */
};

/* name is for messages ("host", "cuda:0"); it is copied. parent may be NULL and must outlive the
 * budget. Freed by cuzk_budget_destroy, which tolerates NULL. */
cuzk_status cuzk_budget_create(struct cuzk_budget **out, const char *name, uint64_t limit,
                               struct cuzk_budget *parent, struct cuzk_error *err);
void cuzk_budget_destroy(struct cuzk_budget *budget);

/* Charges bytes or fails with CUZK_E_BUDGET and a message with both numbers; nothing is charged
 * then. budget = NULL charges nobody (tests, tools). */
cuzk_status cuzk_budget_reserve(struct cuzk_budget *budget, enum cuzk_purpose purpose,
                                uint64_t bytes, struct cuzk_error *err);
void cuzk_budget_release(struct cuzk_budget *budget, enum cuzk_purpose purpose, uint64_t bytes);
void cuzk_budget_read(const struct cuzk_budget *budget, struct cuzk_account *out);

/* Charged and page-backed memory: zeroed, 64-byte aligned, large pages where the kernel gives
 * them; returned to the kernel when freed. `bytes` at the free must be those of the allocation. */
cuzk_status cuzk_budget_alloc(struct cuzk_budget *budget, void **out, enum cuzk_purpose purpose,
                              uint64_t bytes, struct cuzk_error *err);
void cuzk_budget_free(struct cuzk_budget *budget, void *p, enum cuzk_purpose purpose,
                      uint64_t bytes);

#endif
