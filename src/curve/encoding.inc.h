/* Encoding of points as the zcash format has it, as a template over the group.
 *
 * Parameters: G, GF, GB as for group.inc.h (instantiated before), and GSUBGROUP, a function
 * bool (const struct G_affine *) that says whether a point of the curve is in the subgroup.
 *
 * A coordinate is big endian in sizeof(struct GF) bytes (an extension: highest coefficient first).
 * The first byte's three highest bits are flags: 0x80 compressed (x alone), 0x40 infinity (all else
 * zero), 0x20 y is the larger of the two roots (compressed and finite only). Other flags are
 * refused. Where an uncompressed point belongs, one that says it is compressed is read as such and
 * what follows its x is passed over: the network's readers (blst) do so, and a key means the same
 * here.
 */
#ifndef G
#error "define G, the prefix of the group's names"
#endif
#ifndef GF
#error "define GF, the prefix of the coordinate field"
#endif
#ifndef GB
#error "define GB, the curve's b"
#endif
#ifndef GSUBGROUP
#error "define GSUBGROUP, the subgroup's test"
#endif

#define GN(name) CUZK_GLUE(G, name)
#define FN(name) CUZK_GLUE(GF, name)
#define AFFINE GN(_affine)
#define BYTES sizeof(struct GF)

/* One point; CUZK_OK, CUZK_E_POINT or CUZK_E_RANGE, with what is wrong in *why. */
static cuzk_status GN(_decode_one)(struct AFFINE *r, const uint8_t *in, bool compressed,
                                   bool subgroup, const char **why)
{
    uint8_t buffer[2 * BYTES];
    unsigned flags = in[0] & 0xe0;
    if (flags & 0x80) /* in a place for an uncompressed point too: see the top */
        compressed = true;
    size_t size = compressed ? BYTES : 2 * BYTES;
    memcpy(buffer, in, size);
    buffer[0] &= 0x1f;
    *why = "has flags that no encoding has";
    if ((compressed && (flags & 0x80) == 0) || (flags & 0x60) == 0x60 ||
        (!compressed && (flags & 0x20) != 0))
        return CUZK_E_POINT;
    if ((flags & 0x40) != 0) {
        uint8_t all = 0;
        for (size_t i = 0; i < size; i++)
            all |= buffer[i];
        *why = "is marked as infinity but has coordinates";
        if (all != 0)
            return CUZK_E_POINT;
        r->x = FN(_zero);
        r->y = FN(_zero);
        return CUZK_OK;
    }
    struct AFFINE a;
    *why = "has a coordinate that is not below the modulus";
    if (!FN(_from_be)(&a.x, buffer) || (!compressed && !FN(_from_be)(&a.y, buffer + BYTES)))
        return CUZK_E_RANGE;
    *why = "is not on the curve";
    if (compressed) {
        struct GF t;
        FN(_sqr)(&t, &a.x);
        FN(_mul)(&t, &t, &a.x);
        FN(_add)(&t, &t, &GB);
        if (!FN(_sqrt)(&a.y, &t))
            return CUZK_E_POINT;
        bool larger = (flags & 0x20) != 0;
        if (FN(_is_zero)(&a.y) && larger)
            return CUZK_E_POINT;
        if (FN(_is_larger)(&a.y) != larger)
            FN(_neg)(&a.y, &a.y);
    } else if (!GN(_affine_on_curve)(&a) || GN(_affine_is_infinity)(&a)) {
        return CUZK_E_POINT;
    }
    *why = "is not in the subgroup of order r";
    if (subgroup && !GSUBGROUP(&a))
        return CUZK_E_POINT;
    *r = a;
    return CUZK_OK;
}

static cuzk_status GN(_decode)(struct AFFINE *out, const uint8_t *in, size_t n, bool compressed,
                               bool subgroup, size_t *bad, struct cuzk_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const char *why;
        cuzk_status status = GN(_decode_one)(&out[i], in + i * (compressed ? BYTES : 2 * BYTES),
                                             compressed, subgroup, &why);
        if (status != CUZK_OK) {
            memset(out, 0, n * sizeof *out);
            if (bad != NULL)
                *bad = i;
            return cuzk_fail(err, status, "point %zu of %zu %s", i, n, why);
        }
    }
    return CUZK_OK;
}

static void GN(_encode)(uint8_t *out, const struct AFFINE *in, size_t n, bool compressed)
{
    size_t size = compressed ? BYTES : 2 * BYTES;
    for (size_t i = 0; i < n; i++, out += size) {
        if (GN(_affine_is_infinity)(&in[i])) {
            memset(out, 0, size);
            out[0] = 0x40;
        } else {
            FN(_to_be)(out, &in[i].x);
            if (!compressed)
                FN(_to_be)(out + BYTES, &in[i].y);
            else if (FN(_is_larger)(&in[i].y))
                out[0] |= 0x20;
        }
        if (compressed)
            out[0] |= 0x80;
    }
}

#undef GN
#undef FN
#undef AFFINE
#undef BYTES
#undef G
#undef GF
#undef GB
#undef GSUBGROUP
