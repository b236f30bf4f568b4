/* See porep_statement.h. Challenges are 256-bit numbers modulo nodes - 1, plus one. Interactive
 * ones are SHA-256 of replica id, seed and their number; synthetic ones are a selection, by the
 * seed, of the up to 2^18 challenges that replica id and comm_r fix when the sector is sealed.
 */
#include "circuit/porep_statement.h"

#include <inttypes.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/sha.h>

#include "circuit/chacha.h"
#include "circuit/porep_graph.h"
#include "circuit/poseidon.h"

enum { SYNTHETIC_CHALLENGES = 1 << 18 };

void cuzk_porep_prover_id(uint8_t out[32], uint64_t miner)
{
    memset(out, 0, 32);
    int n = 0;
    for (; miner >= 0x80; miner >>= 7)
        out[n++] = (uint8_t)(miner | 0x80);
    out[n] = (uint8_t)miner;
}

cuzk_status cuzk_porep_replica_id(struct bls12_381_fr *out, const struct cuzk_porep_params *params,
                                  const uint8_t prover_id[32], uint64_t sector_number,
                                  const uint8_t ticket[32], const struct bls12_381_fr *comm_d,
                                  struct cuzk_error *err)
{
    uint8_t data[32 + 8 + 32 + 32 + 32], hash[32];
    memcpy(data, prover_id, 32);
    for (int i = 0; i < 8; i++)
        data[32 + i] = (uint8_t)(sector_number >> (56 - 8 * i));
    memcpy(data + 40, ticket, 32);
    bls12_381_fr_to_le(data + 72, comm_d);
    memcpy(data + 104, params->porep_id, 32);
    if (SHA256(data, sizeof data, hash) == NULL)
        return cuzk_fail(err, CUZK_E_MEMORY, "SHA-256 of libcrypto failed");
    hash[31] &= 0x3f;
    (void)bls12_381_fr_from_le(out, hash);
    return CUZK_OK;
}

cuzk_status cuzk_porep_supported(const struct cuzk_porep_params *params, struct cuzk_error *err)
{
    if (params->feature == CUZK_POREP_NON_INTERACTIVE)
        return cuzk_fail(err, CUZK_E_UNSUPPORTED,
                         "%s: non-interactive PoRep is not proved by this version; seal with an "
                         "interactive or synthetic registered proof",
                         params->registered);
    return CUZK_OK;
}

void cuzk_porep_statement_of(struct cuzk_porep_statement *out,
                             const struct cuzk_porep_sector *sector)
{
    out->params = sector->params;
    out->replica_id = sector->replica_id;
    out->comm_d = sector->comm_d;
    out->comm_r = sector->comm_r;
    memcpy(out->seed, sector->seed, sizeof out->seed);
}

/* A 256-bit number, words from the least significant, to a node that is not the first. */
static uint32_t challenged_node(const uint32_t words[8], uint32_t nodes)
{
    uint64_t rest = 0;
    for (int i = 7; i >= 0; i--)
        rest = (rest << 32 | words[i]) % (nodes - 1);
    return (uint32_t)rest + 1;
}

static uint32_t read_le32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static cuzk_status interactive(uint32_t *out, const struct cuzk_porep_statement *statement,
                               uint32_t partition, struct cuzk_error *err)
{
    uint8_t data[32 + 32 + 4], hash[32];
    bls12_381_fr_to_le(data, &statement->replica_id);
    memcpy(data + 32, statement->seed, 32);
    for (uint32_t i = 0; i < statement->params->challenges; i++) {
        uint32_t number = partition * statement->params->challenges + i;
        for (int j = 0; j < 4; j++)
            data[64 + j] = (uint8_t)(number >> (8 * j));
        if (SHA256(data, sizeof data, hash) == NULL)
            return cuzk_fail(err, CUZK_E_MEMORY, "SHA-256 of libcrypto failed");
        uint32_t words[8];
        for (int j = 0; j < 8; j++)
            words[j] = read_le32(hash + 4 * j);
        out[i] = challenged_node(words, statement->params->nodes);
    }
    return CUZK_OK;
}

/* ChaCha20 key: BLAKE2b-256 keyed with the purpose. */
static cuzk_status synthetic_key(uint8_t out[32], const char *purpose, const uint8_t first[32],
                                 const uint8_t second[32], struct cuzk_error *err)
{
    cuzk_status status = CUZK_OK;
    EVP_MAC *method = EVP_MAC_fetch(NULL, "BLAKE2BMAC", NULL);
    EVP_MAC_CTX *mac = method != NULL ? EVP_MAC_CTX_new(method) : NULL;
    size_t size = 32;
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_size_t(OSSL_MAC_PARAM_SIZE, &size),
                                 OSSL_PARAM_construct_end()};
    if (mac == NULL ||
        EVP_MAC_init(mac, (const unsigned char *)purpose, strlen(purpose), params) != 1 ||
        EVP_MAC_update(mac, first, 32) != 1 || EVP_MAC_update(mac, second, 32) != 1 ||
        EVP_MAC_final(mac, out, &size, 32) != 1)
        status = cuzk_fail(err, CUZK_E_MEMORY, "keyed BLAKE2b of libcrypto failed");
    EVP_MAC_CTX_free(mac);
    EVP_MAC_free(method);
    return status;
}

static void synthetic_block(uint32_t out[16], const uint8_t key[32], uint32_t block)
{
    /* the 96-bit nonce is the text "synth-porep" and a zero */
    const uint32_t tail[4] = {block, 0x746e7973, 0x6f702d68, 0x00706572};
    chacha_block(out, key, tail, 20);
}

static cuzk_status synthetic(uint32_t *out, const struct cuzk_porep_statement *statement,
                             uint32_t partition, struct cuzk_error *err)
{
    const struct cuzk_porep_params *params = statement->params;
    uint8_t replica_id[32], comm_r[32], generation[32], selection[32];
    bls12_381_fr_to_le(replica_id, &statement->replica_id);
    bls12_381_fr_to_le(comm_r, &statement->comm_r);
    cuzk_status status = synthetic_key(generation, "filecoin.io|PoRep|1|Synthetic|1|Generation",
                                       replica_id, comm_r, err);
    if (status == CUZK_OK)
        status = synthetic_key(selection, "filecoin.io|PoRep|1|Synthetic|1|Selection", replica_id,
                               statement->seed, err);
    if (status != CUZK_OK)
        return status;
    uint32_t count =
        params->nodes < SYNTHETIC_CHALLENGES ? params->nodes : (uint32_t)SYNTHETIC_CHALLENGES;
    for (uint32_t i = 0; i < params->challenges; i++) {
        /* the i-th draw is one word of the selecting stream, a challenge eight of the other */
        uint32_t draw = partition * params->challenges + i, words[16];
        synthetic_block(words, selection, draw / 16);
        uint32_t chosen = words[draw % 16] % count;
        synthetic_block(words, generation, chosen / 2);
        out[i] = challenged_node(words + 8 * (chosen % 2), params->nodes);
    }
    return CUZK_OK;
}

cuzk_status cuzk_porep_challenges(uint32_t *out, const struct cuzk_porep_statement *statement,
                                  uint32_t partition, struct cuzk_error *err)
{
    cuzk_status status = cuzk_porep_supported(statement->params, err);
    if (status != CUZK_OK)
        return status;
    if (partition >= statement->params->partitions)
        return cuzk_fail(err, CUZK_E_ARGUMENT, "partition %u of %s, which has %u", partition,
                         statement->params->registered, statement->params->partitions);
    if (statement->params->feature == CUZK_POREP_SYNTHETIC)
        return synthetic(out, statement, partition, err);
    return interactive(out, statement, partition, err);
}

static cuzk_status partition_inputs(struct bls12_381_fr *out,
                                    const struct cuzk_porep_statement *statement,
                                    const struct cuzk_porep_graph *graph, uint32_t partition,
                                    struct cuzk_error *err)
{
    uint32_t nodes[CUZK_POREP_MAX_CHALLENGES];
    cuzk_status status = cuzk_porep_challenges(nodes, statement, partition, err);
    if (status != CUZK_OK)
        return status;
    *out++ = statement->replica_id;
    *out++ = statement->comm_d;
    *out++ = statement->comm_r;
    for (uint32_t i = 0; i < statement->params->challenges; i++) {
        uint32_t parents[CUZK_POREP_PARENTS];
        status = cuzk_porep_parents(parents, graph, nodes[i], err);
        if (status != CUZK_OK)
            return status;
        bls12_381_fr_from_u64(out++, nodes[i]);
        for (int j = 0; j < CUZK_POREP_PARENTS; j++)
            bls12_381_fr_from_u64(out++, parents[j]);
        for (int j = 0; j < 3; j++)
            bls12_381_fr_from_u64(out++, nodes[i]);
    }
    return CUZK_OK;
}

cuzk_status cuzk_porep_public_inputs(struct bls12_381_fr *out,
                                     const struct cuzk_porep_statement *statement,
                                     uint32_t partition, struct cuzk_error *err)
{
    struct cuzk_porep_graph graph;
    cuzk_status status = cuzk_porep_graph_init(&graph, statement->params, err);
    if (status != CUZK_OK)
        return status;
    status = partition_inputs(out, statement, &graph, partition, err);
    cuzk_porep_graph_clear(&graph);
    return status;
}

cuzk_status cuzk_porep_inputs_digest(uint8_t out[32], const struct cuzk_porep_statement *statement,
                                     struct cuzk_error *err)
{
    enum { MOST = 3 + CUZK_POREP_CHALLENGE_INPUTS * CUZK_POREP_MAX_CHALLENGES };
    struct bls12_381_fr inputs[MOST];
    struct cuzk_porep_graph graph;
    cuzk_status status = cuzk_porep_graph_init(&graph, statement->params, err);
    if (status != CUZK_OK)
        return status;
    EVP_MD_CTX *digest = EVP_MD_CTX_new();
    bool ok = digest != NULL && EVP_DigestInit_ex2(digest, EVP_sha256(), NULL) == 1;
    for (uint32_t k = 0; ok && status == CUZK_OK && k < statement->params->partitions; k++) {
        status = partition_inputs(inputs, statement, &graph, k, err);
        for (uint32_t i = 0; ok && status == CUZK_OK && i < cuzk_porep_inputs(statement->params);
             i++) {
            uint8_t bytes[32];
            bls12_381_fr_to_le(bytes, &inputs[i]);
            ok = EVP_DigestUpdate(digest, bytes, sizeof bytes) == 1;
        }
    }
    if (status == CUZK_OK && (!ok || EVP_DigestFinal_ex(digest, out, NULL) != 1))
        status = cuzk_fail(err, CUZK_E_MEMORY, "SHA-256 of libcrypto failed");
    EVP_MD_CTX_free(digest);
    cuzk_porep_graph_clear(&graph);
    return status;
}

/* Parents of one challenge against the graph. */
static cuzk_status check_challenge(const struct cuzk_porep_sector *sector,
                                   const struct cuzk_porep_graph *graph, uint32_t partition,
                                   uint32_t i, uint32_t expected, struct cuzk_error *err)
{
    const struct cuzk_porep_params *params = sector->params;
    const struct cuzk_porep_challenge *c =
        &sector->challenges[(size_t)partition * params->challenges + i];
    char path[CUZK_POREP_PATH_SIZE];
    if (c->node != expected)
        return cuzk_fail(err, CUZK_E_INPUT,
                         "%s.replica_column_proofs.c_x.column.index: node %" PRIu32
                         " is opened, but %s challenge node %" PRIu32
                         "; this C1 was made for another seed or sector, make it again",
                         cuzk_porep_json_path(path, params, partition, i), c->node,
                         params->feature == CUZK_POREP_SYNTHETIC ? "replica_id, comm_r and seed"
                                                                 : "replica_id and seed",
                         expected);
    uint32_t parents[CUZK_POREP_PARENTS];
    cuzk_status status = cuzk_porep_parents(parents, graph, c->node, err);
    if (status != CUZK_OK)
        return status;
    for (int j = 0; j < CUZK_POREP_PARENTS; j++) {
        bool drg = j < CUZK_POREP_DRG;
        int k = drg ? j : j - CUZK_POREP_DRG;
        uint32_t node = drg ? c->drg[k].node : c->exp[k].node;
        if (node != parents[j])
            return cuzk_fail(err, CUZK_E_INPUT,
                             "%s.replica_column_proofs.%s[%d].column.index: node %" PRIu32
                             " is opened, but that parent of node %" PRIu32 " is %" PRIu32
                             " in the graph of %s; the C1 is of another registered proof, or "
                             "damaged",
                             cuzk_porep_json_path(path, params, partition, i),
                             drg ? "drg_parents" : "exp_parents", k, node, c->node, parents[j],
                             params->registered);
    }
    return CUZK_OK;
}

static cuzk_status check_comm_r(const struct cuzk_porep_sector *sector, struct cuzk_error *err)
{
    const struct cuzk_poseidon *two = cuzk_poseidon(2);
    if (two == NULL)
        return cuzk_fail(err, CUZK_E_INTERNAL, "no Poseidon of arity 2");
    const struct bls12_381_fr roots[2] = {sector->comm_c, sector->comm_r_last};
    struct bls12_381_fr hash;
    cuzk_poseidon_hash(&hash, two, roots);
    if (!bls12_381_fr_eq(&hash, &sector->comm_r))
        return cuzk_fail(err, CUZK_E_INPUT,
                         "comm_r: not the hash of the roots of trees C and R that the paths of "
                         "vanilla_proofs.%s have; the C1 is damaged or mixed from two sectors",
                         sector->params->variant);
    return CUZK_OK;
}

cuzk_status cuzk_porep_check(const struct cuzk_porep_sector *sector, struct cuzk_error *err)
{
    const struct cuzk_porep_params *params = sector->params;
    struct cuzk_porep_statement statement;
    cuzk_porep_statement_of(&statement, sector);
    struct cuzk_porep_graph graph;
    cuzk_status status = cuzk_porep_graph_init(&graph, params, err);
    for (uint32_t k = 0; status == CUZK_OK && k < params->partitions; k++) {
        uint32_t nodes[CUZK_POREP_MAX_CHALLENGES];
        status = cuzk_porep_challenges(nodes, &statement, k, err);
        for (uint32_t i = 0; status == CUZK_OK && i < params->challenges; i++)
            status = check_challenge(sector, &graph, k, i, nodes[i], err);
    }
    cuzk_porep_graph_clear(&graph);
    return status != CUZK_OK ? status : check_comm_r(sector, err);
}

cuzk_status cuzk_porep_check_owner(const struct cuzk_porep_sector *sector,
                                   const uint8_t prover_id[32], uint64_t sector_number,
                                   struct cuzk_error *err)
{
    struct bls12_381_fr expected;
    cuzk_status status = cuzk_porep_replica_id(&expected, sector->params, prover_id, sector_number,
                                               sector->ticket, &sector->comm_d, err);
    if (status == CUZK_OK && !bls12_381_fr_eq(&expected, &sector->replica_id))
        status = cuzk_fail(err, CUZK_E_MISMATCH,
                           "replica_id: not that of this miner and sector (number %" PRIu64
                           "), this ticket and comm_d; give the miner and sector that the C1 was "
                           "made for, or that sector's C1",
                           sector_number);
    if (status == CUZK_OK && sector->wrapped && sector->sector_number != sector_number)
        status = cuzk_fail(err, CUZK_E_MISMATCH,
                           "SectorNum: the wrapper says %" PRIu64 ", but its C1 is of sector "
                           "%" PRIu64 "; the wrapper is of another sector",
                           sector->sector_number, sector_number);
    return status;
}
