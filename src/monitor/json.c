/* See json.h. A decoded string is never longer than its source, and each number takes one byte more
 * (its NUL) where the source has at least a separator, so an arena of n + 1 bytes suffices.
 */
#include "monitor/json.h"

#include <string.h>

#include "monitor/mem.h"
#include "monitor/text.h"

struct scan {
    const char *p, *end;
    char *out;
    struct rssmon_json *json;
};

static void skip(struct scan *s)
{
    while (s->p < s->end && (*s->p == ' ' || *s->p == '\t' || *s->p == '\r'))
        s->p++;
}

static int accept(struct scan *s, char c)
{
    skip(s);
    if (s->p >= s->end || *s->p != c)
        return 0;
    s->p++;
    return 1;
}

static int hex4(const char *p, uint32_t *v)
{
    *v = 0;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        uint32_t d;
        if (c >= '0' && c <= '9')
            d = (uint32_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            d = (uint32_t)(c - 'a' + 10);
        else if (c >= 'A' && c <= 'F')
            d = (uint32_t)(c - 'A' + 10);
        else
            return -1;
        *v = *v << 4 | d;
    }
    return 0;
}

/* After the backslash and 'u'. Values below 0x100 are one byte (see json.h), others UTF-8. */
static int unicode_escape(struct scan *s)
{
    uint32_t c, low;
    if (s->end - s->p < 4 || hex4(s->p, &c) != 0)
        return -1;
    s->p += 4;
    if (c >= 0xd800 && c < 0xdc00) {
        if (s->end - s->p < 6 || s->p[0] != '\\' || s->p[1] != 'u' || hex4(s->p + 2, &low) != 0 ||
            low < 0xdc00 || low > 0xdfff)
            return -1;
        s->p += 6;
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    }
    if (c == 0 || (c >= 0xdc00 && c < 0xe000))
        return -1;
    if (c < 0x100) {
        *s->out++ = (char)c;
    } else if (c < 0x800) {
        *s->out++ = (char)(0xc0 | c >> 6);
        *s->out++ = (char)(0x80 | (c & 63));
    } else if (c < 0x10000) {
        *s->out++ = (char)(0xe0 | c >> 12);
        *s->out++ = (char)(0x80 | (c >> 6 & 63));
        *s->out++ = (char)(0x80 | (c & 63));
    } else {
        *s->out++ = (char)(0xf0 | c >> 18);
        *s->out++ = (char)(0x80 | (c >> 12 & 63));
        *s->out++ = (char)(0x80 | (c >> 6 & 63));
        *s->out++ = (char)(0x80 | (c & 63));
    }
    return 0;
}

static const char *string(struct scan *s)
{
    if (!accept(s, '"'))
        return NULL;
    const char *start = s->out;
    while (s->p < s->end && *s->p != '"') {
        char c = *s->p++;
        if ((unsigned char)c < 0x20)
            return NULL;
        if (c != '\\') {
            *s->out++ = c;
            continue;
        }
        if (s->p >= s->end)
            return NULL;
        static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
        c = *s->p++;
        const char *at = c != '\0' ? strchr(from, c) : NULL;
        if (at != NULL)
            *s->out++ = to[at - from];
        else if (c != 'u' || unicode_escape(s) != 0)
            return NULL;
    }
    if (s->p >= s->end)
        return NULL;
    s->p++;
    *s->out++ = '\0';
    return start;
}

static int scalar(struct scan *s, struct rssmon_json_field *f)
{
    skip(s);
    if (s->p >= s->end)
        return -1;
    if (*s->p == '"') {
        f->type = RSSMON_JSON_STRING;
        f->text = string(s);
        return f->text != NULL ? 0 : -1;
    }
    const char *from = s->p;
    while (s->p < s->end && strchr(",]} \t\r", *s->p) == NULL)
        s->p++;
    size_t n = (size_t)(s->p - from);
    f->text = s->out;
    memcpy(s->out, from, n);
    s->out += n;
    *s->out++ = '\0';
    if (strcmp(f->text, "true") == 0 || strcmp(f->text, "false") == 0) {
        f->type = RSSMON_JSON_BOOL;
        return 0;
    }
    if (strcmp(f->text, "null") == 0) {
        f->type = RSSMON_JSON_NULL;
        return 0;
    }
    f->type = RSSMON_JSON_NUMBER;
    const char *p = f->text + (f->text[0] == '-');
    return *p >= '0' && *p <= '9' && strspn(p, "0123456789.eE+-") == strlen(p) ? 0 : -1;
}

static int push(struct scan *s, const struct rssmon_json_field *f)
{
    struct rssmon_json *j = s->json;
    if (rssmon_grow(&j->fields, &j->capacity, j->count + 1, sizeof *j->fields) != 0)
        return -2;
    j->fields[j->count++] = *f;
    return 0;
}

static int array(struct scan *s, struct rssmon_json_field f)
{
    int rc;
    f.in_array = 1;
    f.index = 0;
    if (accept(s, ']'))
        return 0;
    do {
        if ((rc = scalar(s, &f)) != 0 || (rc = push(s, &f)) != 0)
            return rc;
        f.index++;
    } while (accept(s, ','));
    return accept(s, ']') ? 0 : -1;
}

static int object(struct scan *s, const char *parent)
{
    int rc;
    if (!accept(s, '{'))
        return -1;
    if (accept(s, '}'))
        return 0;
    do {
        struct rssmon_json_field f = {.parent = parent};
        f.key = string(s);
        if (f.key == NULL || !accept(s, ':'))
            return -1;
        skip(s);
        if (s->p < s->end && *s->p == '{') {
            rc = parent == NULL ? object(s, f.key) : -1;
        } else if (accept(s, '[')) {
            rc = array(s, f);
        } else {
            rc = scalar(s, &f);
            if (rc == 0)
                rc = push(s, &f);
        }
        if (rc != 0)
            return rc;
    } while (accept(s, ','));
    return accept(s, '}') ? 0 : -1;
}

int rssmon_json_parse(struct rssmon_json *j, const char *line, size_t n)
{
    j->count = 0;
    if (rssmon_grow(&j->arena, &j->arena_capacity, n + 2, 1) != 0)
        return -2;
    struct scan s = {.p = line, .end = line + n, .out = j->arena, .json = j};
    int rc = object(&s, NULL);
    if (rc == 0) {
        skip(&s);
        if (s.p != s.end)
            rc = -1;
    }
    if (rc != 0)
        j->count = 0;
    return rc;
}

void rssmon_json_clear(struct rssmon_json *j)
{
    rssmon_free(j->fields);
    rssmon_free(j->arena);
    *j = (struct rssmon_json){0};
}

const struct rssmon_json_field *rssmon_json_find(const struct rssmon_json *j, const char *key)
{
    for (size_t i = 0; i < j->count; i++)
        if (j->fields[i].parent == NULL && !j->fields[i].in_array &&
            strcmp(j->fields[i].key, key) == 0)
            return &j->fields[i];
    return NULL;
}

int rssmon_json_u64(const struct rssmon_json_field *f, uint64_t *v)
{
    return f->type == RSSMON_JSON_NUMBER ? rssmon_parse_u64(f->text, v) : -1;
}

int rssmon_json_nano(const struct rssmon_json_field *f, int64_t *v)
{
    if (f->type != RSSMON_JSON_NUMBER)
        return -1;
    int negative = f->text[0] == '-';
    int64_t ns;
    const char *t = f->text + negative;
    if (strspn(t, "0123456789.") != strlen(t) || rssmon_parse_duration(t, &ns) != 0)
        return -1;
    *v = negative ? -ns : ns;
    return 0;
}

int rssmon_json_double(const struct rssmon_json_field *f, double *v)
{
    /* whole part and up to nine decimals: strtod would follow the locale */
    if (f->type != RSSMON_JSON_NUMBER)
        return -1;
    const char *p = f->text;
    double sign = 1, value = 0, unit = 1;
    if (*p == '-') {
        sign = -1;
        p++;
    }
    for (; *p >= '0' && *p <= '9'; p++)
        value = value * 10 + (*p - '0');
    if (*p == '.')
        for (p++; *p >= '0' && *p <= '9'; p++, unit *= 10)
            value = value * 10 + (*p - '0');
    if (*p != '\0' || unit > 1e15)
        return -1;
    *v = sign * value / unit;
    return 0;
}
