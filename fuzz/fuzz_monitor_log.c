/* The log reader: any bytes, read as a log. Whatever record comes out can be written again and
 * comes back the same kind.
 */
#include <stdint.h>
#include <stdlib.h>

#include "monitor/log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char line[1 << 17];
    struct rssmon_log_reader *reader;
    struct rssmon_record record;
    if (rssmon_log_open_memory(&reader, data, size, NULL) != RSSMON_OK)
        return 0;
    uint64_t records = 0;
    while (rssmon_log_next(reader, &record, NULL) == RSSMON_OK) {
        struct rssmon_log_reader *again;
        struct rssmon_record back;
        records++;
        if (record.t_ns == RSSMON_NO_TIME)
            record.t_ns = 0;
        if (record.wall_ns == RSSMON_NO_TIME)
            record.wall_ns = 0;
        size_t n = rssmon_record_line(&record, RSSMON_JSONL, line, sizeof line);
        if (n == 0)
            continue; /* a line longer than a writer's */
        if (rssmon_log_open_memory(&again, line, n, NULL) != RSSMON_OK ||
            rssmon_log_next(again, &back, NULL) != RSSMON_OK || back.kind != record.kind)
            abort();
        rssmon_log_close_read(again);
    }
    if (rssmon_log_statistics(reader)->records != records)
        abort();
    rssmon_log_close_read(reader);
    return 0;
}
