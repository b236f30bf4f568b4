/* See porep_graph.h. Both versions of the graph differ in two places: where the immediate
 * predecessor stands among the DRG parents (last in V1, first since V1_1, so that hashing cannot
 * begin early), and in V1 an expander index of a 64-bit domain cut to 32 bits.
 */
#include "circuit/porep_graph.h"

#include <string.h>

#include <openssl/evp.h>
#include <openssl/sha.h>

#include "circuit/chacha.h"

enum { FEISTEL_ROUNDS = 3 };

static cuzk_status domain_seed(uint8_t out[32], const char *tag, const uint8_t porep_id[32],
                               struct cuzk_error *err)
{
    uint8_t buffer[64];
    size_t n = strlen(tag);
    memcpy(buffer, tag, n);
    memcpy(buffer + n, porep_id, 32);
    if (SHA256(buffer, n + 32, out) == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "SHA-256 of libcrypto failed");
    return CUZK_OK;
}

cuzk_status cuzk_porep_graph_init(struct cuzk_porep_graph *out,
                                  const struct cuzk_porep_params *params, struct cuzk_error *err)
{
    memset(out, 0, sizeof *out);
    out->params = params;
    uint8_t seed[32];
    cuzk_status status = domain_seed(seed, "Filecoin_DRSample", params->porep_id, err);
    if (status != CUZK_OK)
        return status;
    memcpy(out->drg_seed, seed, sizeof out->drg_seed);
    status = domain_seed(seed, "Filecoin_Feistel", params->porep_id, err);
    if (status != CUZK_OK)
        return status;
    for (int i = 0; i < FEISTEL_ROUNDS; i++)
        for (int j = 7; j >= 0; j--)
            out->feistel_keys[i] = out->feistel_keys[i] << 8 | seed[8 * i + j];

    uint64_t domain = (uint64_t)params->nodes * CUZK_POREP_EXP;
    out->half_bits = 1;
    while (UINT64_C(1) << (2 * out->half_bits) < domain)
        out->half_bits++;

    out->digest = EVP_MD_CTX_new();
    out->method = EVP_MD_fetch(NULL, "BLAKE2B-512", NULL);
    if (out->digest == NULL || out->method == NULL) {
        cuzk_porep_graph_clear(out);
        return cuzk_fail(err, CUZK_E_MEMORY, "BLAKE2b of libcrypto is not available");
    }
    return CUZK_OK;
}

void cuzk_porep_graph_clear(struct cuzk_porep_graph *graph)
{
    EVP_MD_CTX_free(graph->digest);
    EVP_MD_free(graph->method);
    memset(graph, 0, sizeof *graph);
}

static void drg_parents(uint32_t *out, const struct cuzk_porep_graph *graph, uint32_t node)
{
    enum { SAMPLED = CUZK_POREP_DRG - 1 };
    if (node <= 1) {
        memset(out, 0, CUZK_POREP_DRG * sizeof *out);
        return;
    }
    uint8_t key[32];
    memcpy(key, graph->drg_seed, 28);
    for (int i = 0; i < 4; i++)
        key[28 + i] = (uint8_t)(node >> (8 * i));
    /* two 64-bit draws a parent, low word first; ten draws are twenty words, two blocks */
    uint32_t words[32];
    for (uint32_t block = 0; block < 2; block++) {
        const uint32_t tail[4] = {block};
        chacha_block(words + 16 * block, key, tail, 8);
    }

    /* Distances are sampled on a metagraph with five nodes for each node, in buckets that double:
     * [2, 2], [2, 4], [4, 8] … up to the node itself. */
    uint64_t meta = (uint64_t)node * SAMPLED;
    uint64_t buckets = 64 - (uint64_t)__builtin_clzll(meta - 1); /* ceil(log2(meta)) */
    uint32_t *sampled = graph->params->api_minor == 0 ? out : out + 1;
    const uint32_t *draw = words;
    for (int i = 0; i < SAMPLED; i++, draw += 4) {
        uint64_t bucket = ((uint64_t)draw[1] << 32 | draw[0]) % buckets + 1;
        uint64_t largest = UINT64_C(1) << bucket < meta ? UINT64_C(1) << bucket : meta;
        uint64_t smallest = largest >> 1 > 2 ? largest >> 1 : 2;
        uint64_t distance =
            smallest + ((uint64_t)draw[3] << 32 | draw[2]) % (largest - smallest + 1);
        uint32_t parent = (uint32_t)((meta - distance) / SAMPLED);
        sampled[i] = parent == node ? node - 1 : parent;
    }
    out[graph->params->api_minor == 0 ? SAMPLED : 0] = node - 1;
}

static cuzk_status feistel_round(uint64_t *out, const struct cuzk_porep_graph *graph,
                                 uint64_t right, uint64_t key, struct cuzk_error *err)
{
    uint8_t data[16], hash[EVP_MAX_MD_SIZE];
    for (int i = 0; i < 8; i++) {
        data[i] = (uint8_t)(right >> (56 - 8 * i));
        data[8 + i] = (uint8_t)(key >> (56 - 8 * i));
    }
    if (EVP_DigestInit_ex2(graph->digest, graph->method, NULL) != 1 ||
        EVP_DigestUpdate(graph->digest, data, sizeof data) != 1 ||
        EVP_DigestFinal_ex(graph->digest, hash, NULL) != 1)
        return cuzk_fail(err, CUZK_E_MEMORY, "BLAKE2b of libcrypto failed");
    uint64_t x = 0;
    for (int i = 0; i < 8; i++)
        x = x << 8 | hash[i];
    *out = x & ((UINT64_C(1) << graph->half_bits) - 1);
    return CUZK_OK;
}

static cuzk_status expander_parent(uint32_t *out, const struct cuzk_porep_graph *graph,
                                   uint64_t index, struct cuzk_error *err)
{
    const uint32_t half = graph->half_bits;
    const uint64_t mask = (UINT64_C(1) << half) - 1;
    const uint64_t domain = (uint64_t)graph->params->nodes * CUZK_POREP_EXP;
    uint64_t x = index;
    /* the cipher's domain is a power of four: walk the cycle until it is back inside ours */
    do {
        uint64_t left = x >> half & mask, right = x & mask;
        for (int i = 0; i < FEISTEL_ROUNDS; i++) {
            uint64_t f = 0;
            cuzk_status status = feistel_round(&f, graph, right, graph->feistel_keys[i], err);
            if (status != CUZK_OK)
                return status;
            uint64_t t = left ^ f;
            left = right;
            right = t;
        }
        x = left << half | right;
    } while (x >= domain);
    *out = graph->params->api_minor == 0 ? (uint32_t)x / CUZK_POREP_EXP
                                         : (uint32_t)(x / CUZK_POREP_EXP);
    return CUZK_OK;
}

cuzk_status cuzk_porep_parents(uint32_t out[CUZK_POREP_PARENTS],
                               const struct cuzk_porep_graph *graph, uint32_t node,
                               struct cuzk_error *err)
{
    drg_parents(out, graph, node);
    for (uint32_t i = 0; i < CUZK_POREP_EXP; i++) {
        uint64_t index = (uint64_t)node * CUZK_POREP_EXP + i;
        cuzk_status status = expander_parent(&out[CUZK_POREP_DRG + i], graph, index, err);
        if (status != CUZK_OK)
            return status;
    }
    return CUZK_OK;
}
