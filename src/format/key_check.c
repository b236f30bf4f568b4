/* The full check of a key, and its memory beside the file.
 *
 * The file goes by in windows. Within a window one task feeds the digests while the others decode
 * runs of points; then its pages are given back, so that memory stays at a window whatever the
 * size of the key. A fault ends the point checks but not the digests: whether the bytes are the
 * published ones is worth knowing in any case.
 */
#include "format/key_check.h"

#include <inttypes.h>
#include <openssl/evp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "format/json_in.h"
#include "format/json_out.h"
#include "format/params.h"

#define WINDOW ((uint64_t)8 << 20)
enum { RUN = 256 }; /* points a task */

struct digests {
    EVP_MD_CTX *blake2b, *sha256;
    bool failed;
};

static bool digests_open(struct digests *d)
{
    *d = (struct digests){EVP_MD_CTX_new(), EVP_MD_CTX_new(), false};
    return d->blake2b != NULL && d->sha256 != NULL &&
           EVP_DigestInit_ex(d->blake2b, EVP_blake2b512(), NULL) == 1 &&
           EVP_DigestInit_ex(d->sha256, EVP_sha256(), NULL) == 1;
}

static void digests_feed(struct digests *d, const uint8_t *data, size_t size)
{
    if (size != 0 && (EVP_DigestUpdate(d->blake2b, data, size) != 1 ||
                      EVP_DigestUpdate(d->sha256, data, size) != 1))
        d->failed = true;
}

static void hex(char *out, const uint8_t *in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        (void)snprintf(out + 2 * i, 3, "%02x", (unsigned)in[i]);
}

static bool digests_close(struct digests *d, struct cuzk_key_report *report)
{
    uint8_t blake2b[EVP_MAX_MD_SIZE], sha256[EVP_MAX_MD_SIZE];
    bool ok = !d->failed && EVP_DigestFinal_ex(d->blake2b, blake2b, NULL) == 1 &&
              EVP_DigestFinal_ex(d->sha256, sha256, NULL) == 1;
    if (ok) {
        hex(report->blake2b, blake2b, 16);
        hex(report->sha256, sha256, 32);
    }
    return ok;
}

/* A run of points of one section. */
struct run {
    enum cuzk_section section;
    uint32_t first, count;
};

struct check {
    const struct cuzk_mapping *file;
    const struct cuzk_params *params; /* NULL: nothing but the digests is left to do */
    struct digests digests;
    uint64_t from, to; /* the window */
    struct run *runs;
    size_t run_count;
    atomic_size_t fault;       /* the first run with one so far; later runs are skipped */
    struct cuzk_error *faults; /* one a run */
};

static void task(void *context, size_t i, unsigned worker)
{
    struct check *c = context;
    (void)worker;
    if (i == 0) {
        digests_feed(&c->digests, c->file->data + c->from, (size_t)(c->to - c->from));
        return;
    }
    i--;
    const struct run *r = &c->runs[i];
    struct cuzk_error *fault = &c->faults[i];
    fault->status = CUZK_OK;
    if (i > atomic_load_explicit(&c->fault, memory_order_relaxed))
        return;
    union {
        struct bls12_381_g1_affine g1[RUN];
        struct bls12_381_g2_affine g2[RUN];
    } points;
    cuzk_status status =
        r->section == CUZK_QUERY_B2
            ? cuzk_params_g2_checked(c->params, points.g2, r->first, r->count, true, fault)
            : cuzk_params_g1_checked(c->params, r->section, points.g1, r->first, r->count, true,
                                     fault);
    size_t first = atomic_load(&c->fault);
    while (status != CUZK_OK && i < first && !atomic_compare_exchange_weak(&c->fault, &first, i))
        ;
}

/* The runs of points that begin in the window. */
static void list_runs(struct check *c)
{
    c->run_count = 0;
    if (c->params == NULL)
        return;
    for (enum cuzk_section s = 0; s < CUZK_SECTIONS; s++) {
        uint64_t bytes = s == CUZK_QUERY_B2 ? CUZK_G2_BYTES : CUZK_G1_BYTES;
        uint64_t start = c->params->offset[s];
        uint64_t first = c->from > start ? (c->from - start + bytes - 1) / bytes : 0;
        uint64_t end = c->to > start ? (c->to - start + bytes - 1) / bytes : 0;
        if (end > c->params->count[s])
            end = c->params->count[s];
        for (; first < end; first += RUN) {
            uint32_t count = end - first < RUN ? (uint32_t)(end - first) : RUN;
            c->runs[c->run_count++] = (struct run){s, (uint32_t)first, count};
        }
    }
}

static cuzk_status run_windows(struct check *c, struct cuzk_key_report *report,
                               struct cuzk_threads *threads, cuzk_progress *progress, void *context,
                               struct cuzk_error *err)
{
    uint64_t size = c->file->size;
    for (c->from = 0; c->from < size; c->from = c->to) {
        c->to = size - c->from < WINDOW ? size : c->from + WINDOW;
        list_runs(c);
        cuzk_os_map_want(c->file, c->to, WINDOW);
        atomic_store(&c->fault, SIZE_MAX);
        cuzk_threads_for(threads, c->run_count + 1, task, c);
        size_t first = atomic_load(&c->fault);
        if (first != SIZE_MAX) {
            report->verdict = c->faults[first].status;
            (void)snprintf(report->fault, sizeof report->fault, "%s", c->faults[first].message);
            c->params = NULL;
        }
        cuzk_os_map_drop(c->file, c->from, c->to - c->from);
        if (progress != NULL && !progress(context, c->to, size))
            return cuzk_fail(err, CUZK_E_CANCELLED, "cancelled at %" PRIu64 " of %" PRIu64 " bytes",
                             c->to, size);
    }
    return CUZK_OK;
}

cuzk_status cuzk_key_check(struct cuzk_key_report *out, const char *path, bool vk,
                           struct cuzk_threads *threads, cuzk_progress *progress, void *context,
                           struct cuzk_error *err)
{
    memset(out, 0, sizeof *out);
    struct cuzk_key_report report = {0};
    struct cuzk_params *params = NULL;
    struct cuzk_mapping file = {0};
    struct cuzk_vk key = {0};
    struct cuzk_error fault = {0};
    struct check c = {0};
    struct cuzk_os_identity after;
    bool opened = false;
    cuzk_status status = cuzk_os_identify(&report.file, path, err);
    if (status == CUZK_OK)
        status = cuzk_os_map(&file, path, err);
    if (status != CUZK_OK)
        return status;
    c.file = &file;
    report.verdict =
        vk ? cuzk_vk_read(&key, path, &fault) : cuzk_params_open(&params, path, &fault);
    if (report.verdict == CUZK_E_MEMORY || report.verdict == CUZK_E_IO ||
        report.verdict == CUZK_E_NOT_FOUND) {
        status = cuzk_fail(err, report.verdict, "%s", fault.message);
        goto done;
    }
    if (report.verdict != CUZK_OK)
        (void)snprintf(report.fault, sizeof report.fault, "%s", fault.message);
    else if (!vk)
        c.params = params;
    const size_t most = WINDOW / (RUN * CUZK_G1_BYTES) + 2 * CUZK_SECTIONS + 1;
    c.runs = cuzk_calloc(most, sizeof *c.runs);
    c.faults = cuzk_calloc(most, sizeof *c.faults);
    opened = true;
    if (!digests_open(&c.digests) || c.runs == NULL || c.faults == NULL) {
        status = cuzk_fail(err, CUZK_E_MEMORY, "%s: out of memory for the check", path);
        goto done;
    }
    status = run_windows(&c, &report, threads, progress, context, err);
    if (status != CUZK_OK) {
        status = cuzk_fail_prefix(err, status, "%s", path);
        goto done;
    }
    if (!digests_close(&c.digests, &report)) {
        status = cuzk_fail(err, CUZK_E_INTERNAL, "%s: libcrypto has no BLAKE2b or SHA-256", path);
        goto done;
    }
    status = cuzk_os_identify(&after, path, err);
    if (status == CUZK_OK && memcmp(&after, &report.file, sizeof after) != 0)
        status =
            cuzk_fail(err, CUZK_E_IO, "%s: changed while it was checked; check it again", path);
    if (status == CUZK_OK)
        *out = report;
done:
    if (opened) {
        EVP_MD_CTX_free(c.digests.blake2b);
        EVP_MD_CTX_free(c.digests.sha256);
    }
    cuzk_free(c.runs);
    cuzk_free(c.faults);
    cuzk_vk_destroy(&key);
    cuzk_params_close(params);
    cuzk_os_unmap(&file);
    return status;
}

static char *note_path(const char *path)
{
    static const char suffix[] = ".cuzk.json";
    size_t n = strlen(path);
    char *name = cuzk_malloc(n + sizeof suffix);
    if (name != NULL) {
        memcpy(name, path, n);
        memcpy(name + n, suffix, sizeof suffix);
    }
    return name;
}

#define NOTE_FORMAT "cuzk key check 1"

cuzk_status cuzk_key_remember(const struct cuzk_key_report *report, const char *path,
                              struct cuzk_error *err)
{
    char *name = note_path(path);
    if (name == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "%s: out of memory", path);
    struct cuzk_json j;
    cuzk_json_init(&j);
    cuzk_json_object(&j, NULL);
    cuzk_json_string(&j, "format", NOTE_FORMAT);
    cuzk_json_u64(&j, "size", report->file.size);
    cuzk_json_u64(&j, "inode", report->file.inode);
    cuzk_json_u64(&j, "device", report->file.device);
    cuzk_json_u64(&j, "changed_ns", report->file.changed_ns);
    cuzk_json_string(&j, "blake2b", report->blake2b);
    cuzk_json_string(&j, "sha256", report->sha256);
    cuzk_json_u64(&j, "verdict", (uint64_t)report->verdict);
    cuzk_json_string(&j, "fault", report->fault);
    cuzk_json_object_end(&j);
    cuzk_status status = cuzk_json_write(&j, name, err);
    cuzk_json_free(&j);
    cuzk_free(name);
    return status;
}

struct note {
    struct cuzk_key_report report;
    bool format;
    unsigned fields;
};

static cuzk_status visit_note(void *context, const char *path, const struct cuzk_json_value *value,
                              struct cuzk_error *err)
{
    struct note *n = context;
    struct cuzk_key_report *r = &n->report;
    uint64_t verdict = 0;
    const struct {
        const char *key;
        uint64_t *number;
        char *text;
        size_t size;
    } fields[] = {
        {"size", &r->file.size, NULL, 0},
        {"inode", &r->file.inode, NULL, 0},
        {"device", &r->file.device, NULL, 0},
        {"changed_ns", &r->file.changed_ns, NULL, 0},
        {"blake2b", NULL, r->blake2b, sizeof r->blake2b},
        {"sha256", NULL, r->sha256, sizeof r->sha256},
        {"verdict", &verdict, NULL, 0},
        {"fault", NULL, r->fault, sizeof r->fault},
    };
    if (strcmp(path, "format") == 0)
        n->format = value->size == strlen(NOTE_FORMAT) &&
                    memcmp(value->text, NOTE_FORMAT, value->size) == 0;
    for (unsigned i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (strcmp(path, fields[i].key) != 0)
            continue;
        n->fields |= 1u << i;
        cuzk_status status = fields[i].number != NULL
                                 ? cuzk_json_as_u64(fields[i].number, value, err)
                                 : cuzk_json_as_text(fields[i].text, fields[i].size, value, err);
        if (status == CUZK_OK && verdict > UINT8_MAX)
            return cuzk_fail(err, CUZK_E_RANGE, "no such status");
        if (fields[i].number == &verdict)
            r->verdict = (cuzk_status)verdict;
        return status;
    }
    return CUZK_OK;
}

cuzk_status cuzk_key_note_parse(struct cuzk_key_report *out, const char *name, const uint8_t *data,
                                size_t size, struct cuzk_error *err)
{
    memset(out, 0, sizeof *out);
    struct note n = {0};
    cuzk_status status = cuzk_json_scan(name, data, size, visit_note, &n, err);
    if (status != CUZK_OK)
        return status;
    if (!n.format || n.fields != 0xff ||
        strcmp(cuzk_status_name(n.report.verdict), "unknown") == 0 ||
        strlen(n.report.blake2b) != 32 || strlen(n.report.sha256) != 64)
        return cuzk_fail(err, CUZK_E_FORMAT, "%s: not a note of a key's check", name);
    *out = n.report;
    return CUZK_OK;
}

cuzk_status cuzk_key_recall(struct cuzk_key_report *out, const char *path, struct cuzk_error *err)
{
    memset(out, 0, sizeof *out);
    struct cuzk_os_identity now;
    struct cuzk_key_report report;
    uint8_t *data = NULL;
    size_t size;
    cuzk_status status = cuzk_os_identify(&now, path, err);
    if (status != CUZK_OK)
        return status;
    char *name = note_path(path);
    if (name == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "%s: out of memory", path);
    status = cuzk_os_read_file(&data, &size, name, 4096, err);
    if (status == CUZK_OK)
        status = cuzk_key_note_parse(&report, name, data, size, err);
    cuzk_free(data);
    cuzk_free(name);
    if (status == CUZK_E_MEMORY)
        return status;
    if (status != CUZK_OK || memcmp(&report.file, &now, sizeof now) != 0)
        return cuzk_fail(err, CUZK_E_NOT_FOUND,
                         "%s: not checked in full as it is now; `cuzk inspect --full` does it",
                         path);
    *out = report;
    return CUZK_OK;
}
