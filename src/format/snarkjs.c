/* Export as snarkjs JSON. */
#include "format/snarkjs.h"

#include <string.h>

/* Decimal of a number of n 64-bit words, least significant first; size is enough for its bits. */
static const char *decimal(char *out, size_t size, const uint64_t *words, int n)
{
    uint64_t w[BLS12_381_FP_LIMBS];
    char *p = out + size - 1;
    memcpy(w, words, (size_t)n * sizeof *w);
    *p = '\0';
    for (;;) { /* nine digits a pass, by division of 32-bit halves */
        uint64_t rest = 0, any = 0;
        for (int i = n - 1; i >= 0; i--) {
            uint64_t high = rest << 32 | w[i] >> 32;
            rest = high % 1000000000;
            uint64_t low = rest << 32 | (w[i] & 0xffffffff);
            rest = low % 1000000000;
            w[i] = (high / 1000000000) << 32 | low / 1000000000;
            any |= w[i];
        }
        for (int d = 0; d < 9 && (any != 0 || rest != 0); d++) {
            *--p = (char)('0' + rest % 10);
            rest /= 10;
        }
        if (any == 0)
            break;
    }
    if (*p == '\0')
        *--p = '0';
    return p;
}

static void coordinate(struct cuzk_json *j, const struct bls12_381_fp *a)
{
    uint64_t words[BLS12_381_FP_LIMBS];
    char text[128];
    bls12_381_fp_to_limbs(words, a);
    cuzk_json_string(j, NULL, decimal(text, sizeof text, words, BLS12_381_FP_LIMBS));
}

static void coordinate2(struct cuzk_json *j, const struct bls12_381_fp2 *a)
{
    cuzk_json_array(j, NULL);
    coordinate(j, &a->c0);
    coordinate(j, &a->c1);
    cuzk_json_array_end(j);
}

static void g1(struct cuzk_json *j, const char *key, const struct bls12_381_g1_affine *p)
{
    cuzk_json_array(j, key);
    coordinate(j, &p->x);
    coordinate(j, &p->y);
    cuzk_json_string(j, NULL, "1");
    cuzk_json_array_end(j);
}

static void g2(struct cuzk_json *j, const char *key, const struct bls12_381_g2_affine *p)
{
    cuzk_json_array(j, key);
    coordinate2(j, &p->x);
    coordinate2(j, &p->y);
    cuzk_json_array(j, NULL);
    cuzk_json_string(j, NULL, "1");
    cuzk_json_string(j, NULL, "0");
    cuzk_json_array_end(j);
    cuzk_json_array_end(j);
}

void cuzk_snarkjs_vk(struct cuzk_json *j, const struct cuzk_vk *vk)
{
    cuzk_json_object(j, NULL);
    cuzk_json_string(j, "protocol", "groth16");
    cuzk_json_string(j, "curve", "bls12381");
    cuzk_json_u64(j, "nPublic", vk->ic_count - 1);
    g1(j, "vk_alpha_1", &vk->alpha_g1);
    g2(j, "vk_beta_2", &vk->beta_g2);
    g2(j, "vk_gamma_2", &vk->gamma_g2);
    g2(j, "vk_delta_2", &vk->delta_g2);
    cuzk_json_array(j, "IC");
    for (uint32_t i = 0; i < vk->ic_count; i++)
        g1(j, NULL, &vk->ic[i]);
    cuzk_json_array_end(j);
    cuzk_json_object_end(j);
}

void cuzk_snarkjs_proof(struct cuzk_json *j, const struct cuzk_proof *proof)
{
    cuzk_json_object(j, NULL);
    g1(j, "pi_a", &proof->a);
    g2(j, "pi_b", &proof->b);
    g1(j, "pi_c", &proof->c);
    cuzk_json_string(j, "protocol", "groth16");
    cuzk_json_string(j, "curve", "bls12381");
    cuzk_json_object_end(j);
}

void cuzk_snarkjs_public(struct cuzk_json *j, const struct bls12_381_fr *inputs, size_t n)
{
    cuzk_json_array(j, NULL);
    for (size_t i = 0; i < n; i++) {
        uint64_t words[BLS12_381_FR_LIMBS];
        char text[96];
        bls12_381_fr_to_limbs(words, &inputs[i]);
        cuzk_json_string(j, NULL, decimal(text, sizeof text, words, BLS12_381_FR_LIMBS));
    }
    cuzk_json_array_end(j);
}
