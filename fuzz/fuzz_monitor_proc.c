/* The parsers of /proc, the kernel log and marker lines: the first byte chooses. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/death.h"
#include "monitor/marks.h"
#include "monitor/text.h"
#include "monitor/tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    size_t n = size - 1;
    char *text = malloc(n + 1);
    if (text == NULL)
        return 0;
    memcpy(text, data + 1, n);
    text[n] = '\0';
    switch (data[0] % 8) {
    case 0: {
        struct rssmon_stat stat;
        if (rssmon_stat_parse(text, n, &stat) == 0 && strlen(stat.comm) >= sizeof stat.comm)
            abort();
        break;
    }
    case 1: {
        struct rssmon_statm statm;
        (void)rssmon_statm_parse(text, n, &statm);
        break;
    }
    case 2: {
        struct rssmon_status_file status;
        (void)rssmon_status_parse(text, n, &status);
        break;
    }
    case 3: {
        struct rssmon_extent extent;
        if (rssmon_maps_line(text, n, &extent) >= 0 && extent.to <= extent.from)
            abort();
        break;
    }
    case 4: {
        static struct rssmon_evidence evidence;
        memset(&evidence, 0, sizeof evidence);
        (void)rssmon_evidence_line(&evidence, text);
        break;
    }
    case 5: {
        struct rssmon_record record;
        rssmon_record_init(&record, RSSMON_MARK);
        if (rssmon_mark_parse(text, &record) == 0 && record.u.mark.label[0] == '\0')
            abort();
        break;
    }
    case 6: {
        uint64_t v;
        int64_t ns;
        (void)rssmon_parse_size(text, &v);
        (void)rssmon_parse_duration(text, &ns);
        (void)rssmon_line_value(text, "Pss:", &v);
        break;
    }
    default: { /* a JSON string written comes back as it was */
        static char out[1 << 16];
        struct rssmon_text t;
        if (strlen(text) > 8000)
            break;
        rssmon_text_init(&t, out, sizeof out);
        rssmon_text_json(&t, text);
        if (t.overflow)
            abort();
    }
    }
    free(text);
    return 0;
}
