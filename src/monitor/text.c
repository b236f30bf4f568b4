/* See text.h. */
#include "monitor/text.h"

#include <math.h>
#include <string.h>

void rssmon_text_init(struct rssmon_text *t, char *storage, size_t capacity)
{
    *t = (struct rssmon_text){.data = storage, .capacity = capacity};
    if (capacity > 0)
        storage[0] = '\0';
}

void rssmon_text_bytes(struct rssmon_text *t, const char *s, size_t n)
{
    if (t->overflow || n >= t->capacity - t->length) {
        t->overflow = 1;
        return;
    }
    memcpy(t->data + t->length, s, n);
    t->length += n;
    t->data[t->length] = '\0';
}

void rssmon_text_string(struct rssmon_text *t, const char *s)
{
    rssmon_text_bytes(t, s, strlen(s));
}

void rssmon_text_u64(struct rssmon_text *t, uint64_t v)
{
    char digits[20];
    size_t n = sizeof digits;
    do
        digits[--n] = (char)('0' + v % 10);
    while ((v /= 10) != 0);
    rssmon_text_bytes(t, digits + n, sizeof digits - n);
}

void rssmon_text_i64(struct rssmon_text *t, int64_t v)
{
    if (v < 0)
        rssmon_text_bytes(t, "-", 1);
    rssmon_text_u64(t, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

static void decimals(struct rssmon_text *t, uint64_t v, unsigned count)
{
    char digits[10];
    for (unsigned i = count; i-- > 0; v /= 10)
        digits[i] = (char)('0' + v % 10);
    rssmon_text_bytes(t, ".", 1);
    rssmon_text_bytes(t, digits, count);
}

void rssmon_text_seconds(struct rssmon_text *t, int64_t ns)
{
    uint64_t us = (ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns) / 1000;
    if (ns < 0)
        rssmon_text_bytes(t, "-", 1);
    rssmon_text_u64(t, us / 1000000);
    decimals(t, us % 1000000, 6);
}

void rssmon_text_fixed3(struct rssmon_text *t, double v)
{
    if (!isfinite(v))
        v = 0;
    if (v > 9e15)
        v = 9e15;
    if (v < -9e15)
        v = -9e15;
    int64_t m = (int64_t)(v * 1000 + (v < 0 ? -0.5 : 0.5));
    uint64_t a = m < 0 ? 0 - (uint64_t)m : (uint64_t)m;
    if (m < 0)
        rssmon_text_bytes(t, "-", 1);
    rssmon_text_u64(t, a / 1000);
    decimals(t, a % 1000, 3);
}

/* Length of the valid UTF-8 sequence at s (at least 2 bytes), or 0. Overlong forms, surrogates and
 * values beyond U+10FFFF are not valid. */
static size_t utf8_length(const unsigned char *s)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : s[0] >= 0xc2 ? 2 : 0;
    if (n == 0 || s[0] > 0xf4)
        return 0;
    uint32_t c = s[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (s[i] & 0x3fu);
    }
    return c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : n;
}

void rssmon_text_json(struct rssmon_text *t, const char *s)
{
    static const char hex[] = "0123456789abcdef";
    rssmon_text_bytes(t, "\"", 1);
    for (const unsigned char *p = (const unsigned char *)s; *p != 0; p++) {
        size_t n = utf8_length(p);
        if (n != 0) {
            rssmon_text_bytes(t, (const char *)p, n);
            p += n - 1;
        } else if (*p == '"' || *p == '\\') {
            char two[2] = {'\\', (char)*p};
            rssmon_text_bytes(t, two, 2);
        } else if (*p < 0x20 || *p >= 0x7f) {
            char six[6] = {'\\', 'u', '0', '0', hex[*p >> 4], hex[*p & 15]};
            rssmon_text_bytes(t, six, 6);
        } else {
            rssmon_text_bytes(t, (const char *)p, 1);
        }
    }
    rssmon_text_bytes(t, "\"", 1);
}

void rssmon_text_plain(char *s)
{
    for (unsigned char *p = (unsigned char *)s; *p != 0;) {
        size_t n = utf8_length(p);
        /* U+0080 to U+009F are controls too: U+009B begins a sequence as ESC [ does */
        if (n == 0 ? *p < 0x20 || *p >= 0x7f : n == 2 && p[0] == 0xc2 && p[1] < 0xa0)
            memset(p, '?', n != 0 ? n : 1);
        p += n != 0 ? n : 1;
    }
}

void rssmon_text_size(struct rssmon_text *t, uint64_t bytes)
{
    static const char *const names[] = {" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
    unsigned u = 0;
    while (u < 6 && bytes >> (10 * (u + 1)) != 0)
        u++;
    if (u == 0) {
        rssmon_text_u64(t, bytes);
    } else {
        /* tenths, rounded to nearest; 1023.96 MiB stays in its unit as 1024.0 */
        unsigned shift = 10 * u;
        uint64_t whole = bytes >> shift, rest = bytes & ((UINT64_C(1) << shift) - 1);
        uint64_t tenths = ((rest >> (shift - 10)) * 10 + 512) >> 10;
        rssmon_text_u64(t, whole + tenths / 10);
        decimals(t, tenths % 10, 1);
    }
    rssmon_text_string(t, names[u]);
}

/* Digits with an optional fraction: value * scale in *out, and where it stopped; -1 if no digit or
 * no room. */
static const char *parse_decimal(const char *s, uint64_t *whole, uint64_t *billionths)
{
    const char *p = s;
    *whole = *billionths = 0;
    for (; *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(*whole, 10, whole) ||
            __builtin_add_overflow(*whole, (uint64_t)(*p - '0'), whole))
            return NULL;
    if (p == s)
        return NULL;
    if (*p == '.') {
        uint64_t unit = 100000000;
        for (p++; *p >= '0' && *p <= '9'; p++, unit /= 10)
            *billionths += unit * (uint64_t)(*p - '0');
    }
    return p;
}

int rssmon_parse_size(const char *s, uint64_t *bytes)
{
    uint64_t whole, part, total;
    const char *p = parse_decimal(s, &whole, &part);
    if (p == NULL)
        return -1;
    unsigned shift = 0;
    if (*p != '\0' && *p != 'B') {
        static const char units[] = "KMGTP";
        const char *u = strchr(units, *p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p);
        if (u == NULL)
            return -1;
        shift = 10 * (unsigned)(u - units + 1);
        p++;
        if (*p == 'i')
            p++;
    }
    if (*p == 'B')
        p++;
    if (*p != '\0' || (shift == 0 && part != 0))
        return -1;
    if (__builtin_mul_overflow(whole, UINT64_C(1) << shift, &total) ||
        __builtin_add_overflow(
            total, (uint64_t)((double)part * 1e-9 * (double)(UINT64_C(1) << shift)), &total))
        return -1;
    *bytes = total;
    return 0;
}

int rssmon_parse_duration(const char *s, int64_t *ns)
{
    static const struct {
        const char *name;
        int64_t ns;
    } units[] = {{"", 1000000000},   {"s", 1000000000},    {"ms", 1000000},      {"us", 1000},
                 {"m", 60000000000}, {"h", 3600000000000}, {"d", 86400000000000}};
    uint64_t whole, part;
    const char *p = parse_decimal(s, &whole, &part);
    if (p == NULL)
        return -1;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        int64_t v;
        if (strcmp(p, units[i].name) != 0)
            continue;
        if (whole > INT64_MAX || __builtin_mul_overflow((int64_t)whole, units[i].ns, &v) ||
            __builtin_add_overflow(v, (int64_t)((double)part * 1e-9 * (double)units[i].ns), &v))
            return -1;
        *ns = v;
        return 0;
    }
    return -1;
}

int rssmon_parse_u64(const char *s, uint64_t *v)
{
    uint64_t part;
    const char *p = parse_decimal(s, v, &part);
    return p != NULL && *p == '\0' && strchr(s, '.') == NULL ? 0 : -1;
}

uint32_t rssmon_crc32c(uint32_t crc, const void *data, size_t n)
{
    /* four bits a step: 64 bytes of table, quick enough for lines of some hundred bytes */
    static const uint32_t table[16] = {0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1,
                                       0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
                                       0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
                                       0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75};
    const unsigned char *p = data;
    crc = ~crc;
    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}
