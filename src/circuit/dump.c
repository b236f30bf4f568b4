/* See dump.h. Both ways are streams: memory is a few hundred kilobytes beside what they yield. */
#include "circuit/dump.h"

#include <string.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/os.h"
#include "circuit/build.h"

static const char magic[8] = "R1CSREC1";

/* A template's limits: small enough that threads share the work, and far below 65,536. */
enum { TEMPLATE_ROWS = 4096, TEMPLATE_PORTS = 32768, TABLE = 131072 };

/* The unpacked bytes of a mapped file. */
struct source {
    const char *path;
    struct cuzk_mapping file;
    ZSTD_DStream *zstd; /* NULL: the file is not packed */
    ZSTD_inBuffer in;
    uint8_t *buffer;
    size_t room, used, at;
    uint64_t offset; /* of buffer[0] in the unpacked stream */
    bool frame_done;
};

static cuzk_status source_open(struct source *s, const char *path, struct cuzk_error *err)
{
    *s = (struct source){.path = path, .room = 1 << 17};
    cuzk_status status = cuzk_os_map(&s->file, path, err);
    if (status != CUZK_OK)
        return status;
    static const uint8_t packed[4] = {0x28, 0xb5, 0x2f, 0xfd};
    s->buffer = cuzk_malloc(s->room);
    s->in = (ZSTD_inBuffer){s->file.data, (size_t)s->file.size, 0};
    bool is_packed = s->file.size >= 4 && memcmp(s->file.data, packed, 4) == 0;
    if (is_packed)
        s->zstd = ZSTD_createDStream();
    if (s->buffer == NULL || (is_packed && s->zstd == NULL))
        return cuzk_fail(err, CUZK_E_MEMORY, "%s: no memory to read it", path);
    return CUZK_OK;
}

static void source_close(struct source *s)
{
    ZSTD_freeDStream(s->zstd);
    cuzk_free(s->buffer);
    cuzk_os_unmap(&s->file);
}

/* Refills the buffer; used = 0 afterwards: the end. */
static cuzk_status source_fill(struct source *s, struct cuzk_error *err)
{
    s->offset += s->used;
    s->used = s->at = 0;
    if (s->zstd == NULL) {
        size_t left = s->in.size - s->in.pos;
        s->used = left < s->room ? left : s->room;
        if (s->used != 0)
            memcpy(s->buffer, (const uint8_t *)s->in.src + s->in.pos, s->used);
        s->in.pos += s->used;
        return CUZK_OK;
    }
    ZSTD_outBuffer out = {s->buffer, s->room, 0};
    while (out.pos == 0 && (s->in.pos < s->in.size || !s->frame_done)) {
        size_t before = s->in.pos;
        size_t result = ZSTD_decompressStream(s->zstd, &out, &s->in);
        if (ZSTD_isError(result))
            return cuzk_fail(err, CUZK_E_FORMAT, "%s: byte %zu: zstd: %s", s->path, s->in.pos,
                             ZSTD_getErrorName(result));
        s->frame_done = result == 0;
        if (out.pos == 0 && s->in.pos == before && !s->frame_done)
            break; /* the file ends within a frame: no more comes */
    }
    s->used = out.pos;
    return CUZK_OK;
}

static cuzk_status source_read(struct source *s, void *to, size_t size, struct cuzk_error *err)
{
    uint8_t *out = to;
    while (size != 0) {
        if (s->at == s->used) {
            cuzk_status status = source_fill(s, err);
            if (status != CUZK_OK)
                return status;
            if (s->used == 0)
                return cuzk_fail(err, CUZK_E_TRUNCATED,
                                 "%s: ends at byte %llu, in the middle of its content", s->path,
                                 (unsigned long long)s->offset);
        }
        size_t n = s->used - s->at < size ? s->used - s->at : size;
        memcpy(out, s->buffer + s->at, n);
        out += n;
        s->at += n;
        size -= n;
    }
    return CUZK_OK;
}

static unsigned long long position(const struct source *s)
{
    return (unsigned long long)(s->offset + s->at);
}

static cuzk_status read_u32(struct source *s, uint32_t *out, struct cuzk_error *err)
{
    uint8_t b[4];
    cuzk_status status = source_read(s, b, 4, err);
    *out = (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    return status;
}

/* LEB128 of 32 bits. */
static cuzk_status read_varint(struct source *s, uint32_t *out, struct cuzk_error *err)
{
    uint64_t x = 0;
    for (int shift = 0; shift < 35; shift += 7) {
        uint8_t b;
        if (s->at < s->used) {
            b = s->buffer[s->at++];
        } else {
            cuzk_status status = source_read(s, &b, 1, err);
            if (status != CUZK_OK)
                return status;
        }
        x |= (uint64_t)(b & 0x7f) << shift;
        if ((b & 0x80) == 0) {
            *out = (uint32_t)x;
            if (x <= UINT32_MAX)
                return CUZK_OK;
            break;
        }
    }
    return cuzk_fail(err, CUZK_E_RANGE, "%s: byte %llu: a number is over 32 bits", s->path,
                     position(s));
}

static cuzk_status read_fr(struct source *s, struct bls12_381_fr *out, struct cuzk_error *err)
{
    uint8_t b[32];
    cuzk_status status = source_read(s, b, 32, err);
    if (status == CUZK_OK && !bls12_381_fr_from_le(out, b))
        status =
            cuzk_fail(err, CUZK_E_RANGE, "%s: byte %llu: a field element is not below the modulus",
                      s->path, position(s) - 32);
    return status;
}

/* Rows being collected for the next template: tags to local variables by a hash table. */
struct cut {
    uint32_t *slot;  /* TABLE of local variable + 1 */
    uint32_t *ports; /* tags, TEMPLATE_PORTS and the longest row more */
    uint32_t port_count, port_room, rows;
    struct cuzk_term *terms[3];
    uint32_t room[3];
};

static void cut_free(struct cut *cut)
{
    cuzk_free(cut->slot);
    cuzk_free(cut->ports);
    for (int m = 0; m < 3; m++)
        cuzk_free(cut->terms[m]);
}

static cuzk_status cut_flush(struct cut *cut, struct cuzk_builder *b, struct cuzk_error *err)
{
    uint32_t number, first;
    cuzk_status status =
        cuzk_builder_end(b, &number, "rows of a file", cut->port_count, 0, NULL, err);
    if (status == CUZK_OK)
        status = cuzk_builder_instance(b, &first, number, cut->ports, err);
    cut->port_count = cut->rows = 0;
    memset(cut->slot, 0, TABLE * sizeof *cut->slot);
    return status;
}

/* The local variable of a tag; UINT32_MAX when the table is full. */
static uint32_t cut_variable(struct cut *cut, uint32_t tag)
{
    uint32_t at = tag * 0x9e3779b1 >> 15 & (TABLE - 1);
    for (; cut->slot[at] != 0; at = (at + 1) & (TABLE - 1))
        if (cut->ports[cut->slot[at] - 1] == tag)
            return cut->slot[at] - 1;
    if (cut->port_count == CUZK_TEMPLATE_VARIABLES)
        return UINT32_MAX;
    cut->ports[cut->port_count] = tag;
    cut->slot[at] = ++cut->port_count;
    return cut->port_count - 1;
}

struct header {
    uint32_t inputs, aux, rows, coefficients, has_witness;
};

static cuzk_status read_rows(struct source *s, struct cut *cut, struct cuzk_builder *b,
                             const struct header *h, const uint32_t *numbers,
                             struct cuzk_error *err)
{
    cuzk_status status = CUZK_OK;
    for (uint32_t row = 0; row < h->rows && status == CUZK_OK; row++) {
        uint32_t counts[3];
        if (cut->rows == 0)
            status = cuzk_builder_begin(b, err);
        for (int m = 0; m < 3 && status == CUZK_OK; m++) {
            status = read_varint(s, &counts[m], err);
            if (status == CUZK_OK && counts[m] > TEMPLATE_PORTS)
                return cuzk_fail(err, CUZK_E_UNSUPPORTED,
                                 "%s: byte %llu: constraint %u has a combination of %u terms, more "
                                 "than %d",
                                 s->path, position(s), row, counts[m], TEMPLATE_PORTS);
            if (status == CUZK_OK && counts[m] > cut->room[m]) {
                struct cuzk_term *p = cuzk_realloc(cut->terms[m], counts[m] + 64, sizeof *p);
                if (p == NULL)
                    return cuzk_fail(err, CUZK_E_MEMORY, "%s: no memory for a row", s->path);
                cut->terms[m] = p;
                cut->room[m] = counts[m] + 64;
            }
            for (uint32_t i = 0; i < counts[m] && status == CUZK_OK; i++) {
                uint32_t tag = 0, coefficient = 0;
                status = read_varint(s, &tag, err);
                if (status == CUZK_OK)
                    status = read_varint(s, &coefficient, err);
                if (status != CUZK_OK)
                    break;
                if (tag / 2 >= (tag & 1 ? h->aux : h->inputs) || coefficient >= h->coefficients)
                    return cuzk_fail(err, CUZK_E_RANGE,
                                     "%s: byte %llu: constraint %u names a variable or coefficient "
                                     "that is not there",
                                     s->path, position(s), row);
                uint32_t v = cut_variable(cut, tag);
                if (v == UINT32_MAX)
                    return cuzk_fail(err, CUZK_E_UNSUPPORTED,
                                     "%s: constraint %u has too many variables", s->path, row);
                cut->terms[m][i] = (struct cuzk_term){(uint16_t)v, (uint16_t)numbers[coefficient]};
            }
        }
        if (status != CUZK_OK)
            return status;
        const struct cuzk_term *terms[3] = {cut->terms[0], cut->terms[1], cut->terms[2]};
        status = cuzk_builder_row(b, terms, counts, err);
        if (status != CUZK_OK)
            return cuzk_fail_prefix(err, status, "%s: byte %llu: constraint %u", s->path,
                                    position(s), row);
        cut->rows++;
        if (cut->rows == TEMPLATE_ROWS || cut->port_count >= TEMPLATE_PORTS)
            status = cut_flush(cut, b, err);
    }
    if (status == CUZK_OK && cut->rows != 0)
        status = cut_flush(cut, b, err);
    return status;
}

static cuzk_status read_header(struct source *s, struct header *h, struct cuzk_error *err)
{
    char found[8];
    cuzk_status status = source_read(s, found, 8, err);
    if (status != CUZK_OK)
        return status;
    if (memcmp(found, magic, 8) != 0)
        return cuzk_fail(err, CUZK_E_FORMAT, "%s: does not begin with R1CSREC1: no circuit dump",
                         s->path);
    uint32_t *fields[5] = {&h->inputs, &h->aux, &h->rows, &h->coefficients, &h->has_witness};
    for (int i = 0; i < 5; i++) {
        status = read_u32(s, fields[i], err);
        if (status != CUZK_OK)
            return status;
    }
    if (h->inputs == 0 || h->inputs > UINT32_MAX / 2 || h->aux > UINT32_MAX / 2 ||
        h->has_witness > 1)
        return cuzk_fail(err, CUZK_E_RANGE,
                         "%s: byte 8: %u inputs, %u auxiliaries, witness flag %u: out of range",
                         s->path, h->inputs, h->aux, h->has_witness);
    if (h->coefficients > 65536)
        return cuzk_fail(err, CUZK_E_UNSUPPORTED,
                         "%s: byte 20: %u distinct coefficients, more than 65,536", s->path,
                         h->coefficients);
    return CUZK_OK;
}

static cuzk_status read_witness(struct source *s, struct cuzk_witness **out,
                                const struct cuzk_circuit *circuit, struct cuzk_budget *budget,
                                struct cuzk_error *err)
{
    /* Memory is taken for what a file can hold, not for what its header says: zstd makes at most
     * 2^15 bytes of one (a block of 2^17 repeated bytes takes four), and some are under way in it.
     */
    uint64_t said = 32 * ((uint64_t)circuit->inputs + circuit->aux);
    uint64_t most = s->used - s->at + (s->in.size - s->in.pos);
    if (s->zstd != NULL)
        most = ((uint64_t)s->in.size << 15) + s->room;
    if (said > most)
        return cuzk_fail(err, CUZK_E_TRUNCATED,
                         "%s: byte %llu: %llu bytes of witness should follow, and at most %llu do",
                         s->path, position(s), (unsigned long long)said, (unsigned long long)most);
    cuzk_status status = cuzk_witness_create(out, circuit, budget, err);
    for (uint32_t i = 0; i < circuit->inputs && status == CUZK_OK; i++)
        status = read_fr(s, &(*out)->inputs[i], err);
    if (status == CUZK_OK && !bls12_381_fr_is_one(&(*out)->inputs[0]))
        status = cuzk_fail(err, CUZK_E_FORMAT, "%s: the witness's input 0 is not one", s->path);
    for (uint32_t i = 0; i < circuit->aux && status == CUZK_OK; i++)
        status = read_fr(s, &(*out)->values[i], err);
    return status;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

cuzk_status cuzk_dump_read(struct cuzk_circuit **circuit, struct cuzk_witness **witness,
                           const char *path, struct cuzk_budget *budget, struct cuzk_error *err)
{
    struct source s;
    struct header h = {0};
    struct cut cut = {0};
    struct cuzk_builder *b = NULL;
    uint32_t *numbers = NULL;
    struct cuzk_circuit *made = NULL;
    struct cuzk_witness *filled = NULL;
    uint64_t length = 0, start;
    *circuit = NULL;
    if (witness != NULL)
        *witness = NULL;
    cuzk_status status = source_open(&s, path, err);
    if (status == CUZK_OK)
        status = read_header(&s, &h, err);
    if (status == CUZK_OK)
        status = cuzk_builder_create(&b, base_name(path), budget, err);
    if (status != CUZK_OK)
        goto done;
    cut.slot = cuzk_calloc(TABLE, sizeof *cut.slot);
    cut.ports = cuzk_calloc(CUZK_TEMPLATE_VARIABLES, sizeof *cut.ports);
    numbers = cuzk_calloc(h.coefficients, sizeof *numbers);
    if (cut.slot == NULL || cut.ports == NULL || numbers == NULL) {
        status = cuzk_fail(err, CUZK_E_MEMORY, "%s: no memory to read it", path);
        goto done;
    }
    for (uint32_t i = 0; i < h.coefficients && status == CUZK_OK; i++) {
        struct bls12_381_fr x;
        status = read_fr(&s, &x, err);
        if (status == CUZK_OK && bls12_381_fr_is_zero(&x))
            status = cuzk_fail(err, CUZK_E_FORMAT, "%s: byte %llu: coefficient %u is zero", path,
                               position(&s) - 32, i);
        if (status == CUZK_OK)
            status = cuzk_builder_coefficient(b, &numbers[i], &x, err);
    }
    if (status == CUZK_OK)
        status = cuzk_builder_inputs(b, h.inputs - 1, err);
    if (status == CUZK_OK)
        status = cuzk_builder_aux(b, h.aux, err);
    for (int i = 0; i < 8 && status == CUZK_OK; i++) {
        uint8_t byte = 0;
        status = source_read(&s, &byte, 1, err);
        length |= (uint64_t)byte << (8 * i);
    }
    start = position(&s);
    if (status == CUZK_OK)
        status = read_rows(&s, &cut, b, &h, numbers, err);
    if (status == CUZK_OK && position(&s) - start != length)
        status = cuzk_fail(err, CUZK_E_FORMAT,
                           "%s: byte %llu: the rows take %llu bytes, but the file says %llu", path,
                           (unsigned long long)start, position(&s) - (unsigned long long)start,
                           (unsigned long long)length);
    if (status == CUZK_OK)
        status = cuzk_builder_finish(&made, b, err);
    if (status == CUZK_OK && h.has_witness && witness != NULL)
        status = read_witness(&s, &filled, made, budget, err);
    if (status == CUZK_OK && (witness != NULL || !h.has_witness)) {
        if (s.at == s.used)
            status = source_fill(&s, err);
        if (status == CUZK_OK && s.at != s.used)
            status = cuzk_fail(err, CUZK_E_TRAILING, "%s: byte %llu: more follows the end", path,
                               position(&s));
    }
done:
    if (status == CUZK_OK) {
        *circuit = made;
        if (witness != NULL)
            *witness = filled;
    } else {
        cuzk_witness_destroy(filled);
        cuzk_circuit_destroy(made);
    }
    cuzk_free(numbers);
    cut_free(&cut);
    cuzk_builder_destroy(b);
    source_close(&s);
    return status;
}

struct sink {
    struct cuzk_writer *writer;
    ZSTD_CStream *zstd;
    uint8_t *buffer, *packed;
    size_t room, used, packed_room;
};

static cuzk_status sink_flush(struct sink *s, bool last, struct cuzk_error *err)
{
    cuzk_status status = CUZK_OK;
    if (s->zstd == NULL) {
        status = cuzk_os_writer_write(s->writer, s->buffer, s->used, err);
    } else {
        ZSTD_inBuffer in = {s->buffer, s->used, 0};
        size_t left = 1;
        while (status == CUZK_OK && (in.pos < in.size || (last && left != 0))) {
            ZSTD_outBuffer out = {s->packed, s->packed_room, 0};
            left = ZSTD_compressStream2(s->zstd, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
            if (ZSTD_isError(left))
                return cuzk_fail(err, CUZK_E_MEMORY, "zstd: %s", ZSTD_getErrorName(left));
            status = cuzk_os_writer_write(s->writer, s->packed, out.pos, err);
        }
    }
    s->used = 0;
    return status;
}

static cuzk_status sink_write(struct sink *s, const void *data, size_t size, struct cuzk_error *err)
{
    if (s->used + size > s->room) {
        cuzk_status status = sink_flush(s, false, err);
        if (status != CUZK_OK)
            return status;
    }
    memcpy(s->buffer + s->used, data, size);
    s->used += size;
    return CUZK_OK;
}

static size_t put_varint(uint8_t *to, uint32_t x)
{
    size_t n = 0;
    for (; x >= 0x80; x >>= 7)
        to[n++] = (uint8_t)(x | 0x80);
    to[n++] = (uint8_t)x;
    return n;
}

/* Rows are walked twice: to number the coefficients by first use and to measure, then to write. */
struct dump_rows {
    struct sink *sink;
    uint32_t *number; /* by the circuit's: file's number + 1 */
    uint32_t *order;  /* by the file's number: the circuit's */
    uint32_t used;
    uint64_t length;
};

static cuzk_status dump_row(void *context, uint32_t row, const struct cuzk_row_term *const terms[3],
                            const uint32_t counts[3], struct cuzk_error *err)
{
    (void)row;
    struct dump_rows *d = context;
    for (int m = 0; m < 3; m++) {
        uint8_t b[10];
        size_t n = put_varint(b, counts[m]);
        cuzk_status status = d->sink != NULL ? sink_write(d->sink, b, n, err) : CUZK_OK;
        d->length += n;
        for (uint32_t i = 0; i < counts[m] && status == CUZK_OK; i++) {
            uint32_t *number = &d->number[terms[m][i].coefficient];
            if (*number == 0) {
                d->order[d->used] = terms[m][i].coefficient;
                *number = ++d->used;
            }
            n = put_varint(b, terms[m][i].tag);
            n += put_varint(b + n, *number - 1);
            d->length += n;
            if (d->sink != NULL)
                status = sink_write(d->sink, b, n, err);
        }
        if (status != CUZK_OK)
            return status;
    }
    return CUZK_OK;
}

static cuzk_status write_all(struct sink *s, const struct cuzk_circuit *c,
                             const struct cuzk_witness *witness, struct dump_rows *d,
                             struct cuzk_error *err)
{
    uint8_t b[32];
    cuzk_status status = cuzk_circuit_rows(c, 0, c->rows, dump_row, d, err);
    if (status == CUZK_OK)
        status = sink_write(s, magic, sizeof magic, err);
    const uint32_t fields[5] = {c->inputs, c->aux, c->rows, d->used, witness != NULL};
    for (int i = 0; i < 5 && status == CUZK_OK; i++) {
        for (int j = 0; j < 4; j++)
            b[j] = (uint8_t)(fields[i] >> (8 * j));
        status = sink_write(s, b, 4, err);
    }
    for (uint32_t i = 0; i < d->used && status == CUZK_OK; i++) {
        bls12_381_fr_to_le(b, &c->coefficients[d->order[i]]);
        status = sink_write(s, b, 32, err);
    }
    if (status == CUZK_OK) {
        for (int j = 0; j < 8; j++)
            b[j] = (uint8_t)(d->length >> (8 * j));
        status = sink_write(s, b, 8, err);
    }
    d->sink = s;
    if (status == CUZK_OK)
        status = cuzk_circuit_rows(c, 0, c->rows, dump_row, d, err);
    if (witness == NULL)
        return status;
    for (uint32_t i = 0; i < c->inputs && status == CUZK_OK; i++) {
        bls12_381_fr_to_le(b, &witness->inputs[i]);
        status = sink_write(s, b, 32, err);
    }
    for (uint32_t i = 0; i < c->aux && status == CUZK_OK; i++) {
        struct bls12_381_fr x;
        cuzk_witness_get(&x, witness, c, 2 * i + 1);
        bls12_381_fr_to_le(b, &x);
        status = sink_write(s, b, 32, err);
    }
    return status;
}

cuzk_status cuzk_dump_write(const char *path, const struct cuzk_circuit *circuit,
                            const struct cuzk_witness *witness, struct cuzk_error *err)
{
    struct sink s = {.room = 1 << 17};
    struct dump_rows d = {0};
    size_t length = strlen(path);
    bool pack = length > 4 && strcmp(path + length - 4, ".zst") == 0;
    cuzk_status status = cuzk_os_writer_open(&s.writer, path, err);
    if (status != CUZK_OK)
        return status;
    s.buffer = cuzk_malloc(s.room);
    d.number = cuzk_calloc(circuit->coefficient_count, sizeof *d.number);
    d.order = cuzk_calloc(circuit->coefficient_count, sizeof *d.order);
    if (pack) {
        s.zstd = ZSTD_createCStream();
        s.packed_room = ZSTD_CStreamOutSize();
        s.packed = cuzk_malloc(s.packed_room);
    }
    if (s.buffer == NULL || d.number == NULL || d.order == NULL ||
        (pack && (s.zstd == NULL || s.packed == NULL)))
        status = cuzk_fail(err, CUZK_E_MEMORY, "%s: no memory to write it", path);
    if (status == CUZK_OK)
        status = write_all(&s, circuit, witness, &d, err);
    if (status == CUZK_OK)
        status = sink_flush(&s, true, err);
    if (status == CUZK_OK)
        status = cuzk_os_writer_commit(s.writer, err);
    else
        cuzk_os_writer_abort(s.writer);
    ZSTD_freeCStream(s.zstd);
    if (s.buffer != NULL)
        cuzk_wipe(s.buffer, s.room);
    cuzk_free(s.buffer);
    cuzk_free(s.packed);
    cuzk_free(d.number);
    cuzk_free(d.order);
    return status;
}
