/* Look-ups in the table of published keys. */
#include "format/network_keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/network_keys_table.h"

static const struct cuzk_network_key keys[] = {
#define CUZK_X(stem, size, params, vk) {stem, size, params, vk},
    CUZK_NETWORK_KEYS(CUZK_X)
#undef CUZK_X
};
enum { KEYS = sizeof keys / sizeof keys[0] };

const struct cuzk_network_key *cuzk_network_keys(size_t *count)
{
    *count = KEYS;
    return keys;
}

const struct cuzk_network_key *cuzk_network_key_by_name(const char *path, bool *is_vk)
{
    const char *name = strrchr(path, '/');
    name = name != NULL ? name + 1 : path;
    const char *dot = strrchr(name, '.');
    if (dot == NULL || (strcmp(dot, ".params") != 0 && strcmp(dot, ".vk") != 0))
        return NULL;
    for (size_t i = 0; i < KEYS; i++) {
        if (strlen(keys[i].stem) == (size_t)(dot - name) &&
            memcmp(keys[i].stem, name, (size_t)(dot - name)) == 0) {
            *is_vk = strcmp(dot, ".vk") == 0;
            return &keys[i];
        }
    }
    return NULL;
}

const struct cuzk_network_key *cuzk_network_key_by_digest(const char *digest, bool *is_vk)
{
    for (size_t i = 0; i < KEYS; i++) {
        *is_vk = strcmp(keys[i].vk_digest, digest) == 0;
        if (*is_vk || strcmp(keys[i].params_digest, digest) == 0)
            return &keys[i];
    }
    return NULL;
}

static const char porep[] = "stacked-proof-of-replication";

const struct cuzk_network_key *cuzk_network_key_porep(uint64_t sector_size)
{
    for (size_t i = 0; i < KEYS; i++)
        if (keys[i].sector_size == sector_size && strstr(keys[i].stem, porep) != NULL)
            return &keys[i];
    return NULL;
}

const char *cuzk_network_key_circuit(const struct cuzk_network_key *key, char *out, size_t size)
{
    const char *from = strchr(key->stem, '-'); /* behind the version */
    from = from != NULL ? from + 1 : key->stem;
    const char *to = strstr(from, "-merkletree");
    int n = to != NULL ? (int)(to - from) : (int)strlen(from);
    (void)snprintf(out, size, "%.*s", n, from);
    return out;
}

cuzk_status cuzk_network_key_path(char *out, size_t size, const struct cuzk_network_key *key,
                                  bool vk, struct cuzk_error *err)
{
    const char *dir = getenv("FIL_PROOFS_PARAMETER_CACHE");
    if (dir == NULL || dir[0] == '\0')
        dir = "/var/tmp/filecoin-proof-parameters";
    int n = snprintf(out, size, "%s/%s.%s", dir, key->stem, vk ? "vk" : "params");
    if (n < 0 || (size_t)n >= size)
        return cuzk_fail(err, CUZK_E_RANGE, "FIL_PROOFS_PARAMETER_CACHE is too long a path");
    return CUZK_OK;
}
