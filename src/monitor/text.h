/* Text without a locale and without allocation: a bounded buffer, JSON strings, decimal numbers,
 * sizes ("8G"), and CRC-32C. What is written is the same bytes under every LC_ALL.
 */
#ifndef RSSMON_TEXT_H
#define RSSMON_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Appends beyond the capacity are dropped and remembered in `overflow`. Always NUL-terminated. */
struct rssmon_text {
    char *data;
    size_t length, capacity;
    int overflow;
};

void rssmon_text_init(struct rssmon_text *t, char *storage, size_t capacity);
void rssmon_text_bytes(struct rssmon_text *t, const char *s, size_t n);
void rssmon_text_string(struct rssmon_text *t, const char *s);
void rssmon_text_u64(struct rssmon_text *t, uint64_t v);
void rssmon_text_i64(struct rssmon_text *t, int64_t v);
/* Seconds with six decimals from nanoseconds (rounded down). */
void rssmon_text_seconds(struct rssmon_text *t, int64_t ns);
/* Three decimals; not finite is written as 0.000. */
void rssmon_text_fixed3(struct rssmon_text *t, double v);
/* A quoted JSON string. Control bytes and bytes that are not valid UTF-8 become \u00XX, which the
 * reader turns back into the one byte: names of processes are bytes, not text. */
void rssmon_text_json(struct rssmon_text *t, const char *s);
/* For people's eyes, in place: control bytes, which a terminal would obey, and bytes that are not
 * valid UTF-8, which no picture takes, become '?'. */
void rssmon_text_plain(char *s);
/* "666.4 GiB", "12.0 MiB", "512 B" */
void rssmon_text_size(struct rssmon_text *t, uint64_t bytes);

/* "8G", "1.5GiB", "500M", "123" (bytes; suffixes K M G T P, binary, optional iB or B).
 * 0, or -1 when it is no such size or does not fit. */
int rssmon_parse_size(const char *s, uint64_t *bytes);
/* "10", "0.5", "250ms", "2s", "5m", "1h", "1d" to nanoseconds. 0 or -1. */
int rssmon_parse_duration(const char *s, int64_t *ns);
/* Whole decimal number that fits, nothing around it. 0 or -1. */
int rssmon_parse_u64(const char *s, uint64_t *v);

/* CRC-32C (Castagnoli), as in RFC 3720: of "123456789" it is e3069283. Start with crc = 0. */
uint32_t rssmon_crc32c(uint32_t crc, const void *data, size_t n);

#endif
