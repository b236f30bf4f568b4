/* The field tables of the records; see record.h. The order here is the order in a line. */
#include "monitor/record.h"

#include <math.h>
#include <string.h>

#define AT(path) offsetof(struct rssmon_record, u.path)
/* clang-format off */
#define U(kind, f) {#f, AT(kind.f), RSSMON_U64}
#define S(kind, f) {#f, AT(kind.f), RSSMON_STRING}
#define T(kind, f) {#f "_s", AT(kind.f##_ns), RSSMON_NS}
#define D(kind, f) {#f, AT(kind.f), RSSMON_DOUBLE}
/* clang-format on */

static const struct rssmon_field header_fields[] = {
    U(header, version),      S(header, tool),           S(header, log_id),
    U(header, segment),      S(header, unit),           S(header, kernel),
    S(header, arch),         S(header, host),           S(header, boot_id),
    U(header, cpus),         U(header, page_size),      U(header, mem_total),
    U(header, swap_total),   U(header, mono_ns),        U(header, boot_ns),
    U(header, utc_offset_s), S(header, scope),          S(header, name),
    U(header, pid),          U(header, start_ticks),    U(header, uid),
    S(header, exe),          S(header, command),        S(header, pid_namespace),
    S(header, cgroup),       U(header, cgroup_version), U(header, monitor_pid),
    S(header, control),      S(header, counter),        S(header, error_model),
    U(header, error_bytes),  U(header, interval_us)};

static const struct rssmon_field sample_fields[] = {
    U(sample, rss),           U(sample, low),         U(sample, high),
    U(sample, looks),         U(sample, rss_sum),     U(sample, hwm),
    U(sample, anon),          U(sample, file),        U(sample, shmem),
    U(sample, swap),          U(sample, page_tables), U(sample, hugetlb),
    U(sample, locked),        U(sample, pss),         U(sample, vsize),
    U(sample, processes),     U(sample, threads),     U(sample, cg_current),
    U(sample, cg_peak),       U(sample, cg_anon),     U(sample, cg_file),
    U(sample, cg_shmem),      U(sample, cg_kernel),   U(sample, cg_swap),
    U(sample, cg_oom_kill),   U(sample, psi_some_us), U(sample, psi_full_us),
    U(sample, mem_available), U(sample, gpu),         U(sample, gpu_unattributed),
    U(sample, cpu_us),        S(sample, state)};

static const struct rssmon_field ring_fields[] = {S(ring, why)};

static const struct rssmon_field peak_fields[] = {
    U(peak, rss),      S(peak, source),      T(peak, at),      T(peak, from),       T(peak, to),
    U(peak, rss_from), U(peak, rss_to),      U(peak, anon),    U(peak, file),       U(peak, shmem),
    U(peak, swap),     U(peak, page_tables), U(peak, hugetlb), U(peak, cg_current), U(peak, gpu),
    U(peak, rss_sum),  U(peak, processes)};

static const struct rssmon_field mark_fields[] = {S(mark, label), S(mark, action), S(mark, source),
                                                  S(mark, text)};

static const struct rssmon_field gap_fields[] = {S(gap, cause), T(gap, from), T(gap, length)};

static const struct rssmon_field proc_fields[] = {
    S(proc, event), U(proc, pid),     U(proc, ppid),    U(proc, start_ticks),
    U(proc, uid),   S(proc, name),    S(proc, command), U(proc, rss),
    U(proc, peak),  U(proc, anon),    U(proc, file),    U(proc, shmem),
    U(proc, swap),  U(proc, threads), S(proc, death),   U(proc, code)};

static const struct rssmon_field state_fields[] = {U(state, pid), S(state, state), S(state, text)};

static const struct rssmon_field generation_fields[] = {
    U(generation, generation), U(generation, pid), U(generation, start_ticks), S(generation, exe),
    S(generation, command)};

static const struct rssmon_field segment_fields[] = {U(segment, segment), S(segment, next)};

static const struct rssmon_field alert_fields[] = {
    S(alert, limit), U(alert, value), U(alert, bound), S(alert, action), U(alert, code)};

static const struct rssmon_field account_fields[] = {U(account, total), U(account, high),
                                                     S(account, source)};

static const struct rssmon_field note_fields[] = {S(note, topic), S(note, text), U(note, count)};

static const struct rssmon_field phase_fields[] = {
    S(phase, label), T(phase, from),    T(phase, to),    U(phase, peak),
    U(phase, mean),  U(phase, cg_peak), U(phase, looks), S(phase, source)};

static const struct rssmon_field verdict_fields[] = {U(verdict, peak),
                                                     U(verdict, peak_error),
                                                     S(verdict, peak_source),
                                                     T(verdict, peak_at),
                                                     U(verdict, mean),
                                                     D(verdict, slope),
                                                     T(verdict, duration),
                                                     U(verdict, looks),
                                                     U(verdict, samples),
                                                     U(verdict, over),
                                                     T(verdict, over),
                                                     S(verdict, death),
                                                     U(verdict, code),
                                                     S(verdict, evidence),
                                                     U(verdict, victim_pid),
                                                     S(verdict, victim),
                                                     T(verdict, monitor_cpu),
                                                     U(verdict, monitor_rss),
                                                     U(verdict, monitor_wakeups),
                                                     U(verdict, look_median_ns),
                                                     U(verdict, look_p99_ns),
                                                     U(verdict, lost),
                                                     U(verdict, generation)};

/* clang-format off */
#define KIND(name) {#name, name##_fields, sizeof name##_fields / sizeof name##_fields[0]}
/* clang-format on */
static const struct {
    const char *name;
    const struct rssmon_field *fields;
    size_t count;
} kinds[RSSMON_KINDS] = {KIND(header), KIND(sample),  KIND(ring),  KIND(peak),       KIND(mark),
                         KIND(gap),    KIND(proc),    KIND(state), KIND(generation), KIND(segment),
                         KIND(alert),  KIND(account), KIND(note),  KIND(phase),      KIND(verdict)};

const char *rssmon_kind_name(enum rssmon_kind kind)
{
    return (unsigned)kind < RSSMON_KINDS ? kinds[kind].name : "unknown";
}

enum rssmon_kind rssmon_kind_of_name(const char *name)
{
    for (unsigned k = 0; k < RSSMON_KINDS; k++)
        if (strcmp(kinds[k].name, name) == 0)
            return (enum rssmon_kind)k;
    return RSSMON_KINDS;
}

const struct rssmon_field *rssmon_fields(enum rssmon_kind kind, size_t *count)
{
    *count = kinds[kind].count;
    return kinds[kind].fields;
}

void rssmon_record_init(struct rssmon_record *r, enum rssmon_kind kind)
{
    memset(r, 0, sizeof *r);
    r->kind = kind;
    for (size_t i = 0; i < kinds[kind].count; i++) {
        const struct rssmon_field *f = &kinds[kind].fields[i];
        char *at = (char *)r + f->offset;
        if (f->type == RSSMON_U64)
            *(uint64_t *)(void *)at = RSSMON_UNKNOWN;
        else if (f->type == RSSMON_NS)
            *(int64_t *)(void *)at = RSSMON_NO_TIME;
        else if (f->type == RSSMON_DOUBLE)
            *(double *)(void *)at = NAN;
    }
}
