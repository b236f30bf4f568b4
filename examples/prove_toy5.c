/* The smallest user of libcuzk: setup, proof and verification of a circuit in a file.
 *
 *     cc prove_toy5.c -o prove_toy5 $(pkg-config --cflags --libs cuzk)
 *     ./prove_toy5 toy5.r1cs.zst /tmp/toy5.params
 *
 * The circuit's file brings its witness. The key is a development key: its waste is random and
 * wiped, but only a ceremony of many people makes keys that strangers may trust.
 */
#include <cuzk/groth16.h>

#include <stdio.h>
#include <stdlib.h>

static void check(cuzk_status status, const struct cuzk_error *err)
{
    if (status != CUZK_OK) {
        (void)fprintf(stderr, "prove_toy5: %s (%s)\n", err->message, cuzk_status_name(status));
        exit(1);
    }
}

int main(int argc, char **argv)
{
    struct cuzk_error err;
    struct cuzk_context *context;
    struct cuzk_relation *relation;
    struct cuzk_relation_info info;
    struct cuzk_witness *witness;
    struct cuzk_key *key;
    struct cuzk_verifier *verifier;
    struct cuzk_prove_report report;
    uint8_t proof[CUZK_PROOF_BYTES];

    if (argc != 3) {
        (void)fprintf(stderr, "usage: prove_toy5 CIRCUIT.r1cs.zst KEY.params\n");
        return 2;
    }
    /* All processors, all the memory the machine allows, and the best device there is. */
    check(cuzk_context_create(&context, NULL, &err), &err);
    (void)printf("device: %s (%s)\n", cuzk_device_describe(cuzk_context_device(context))->name,
                 cuzk_device_why(cuzk_context_device(context)));

    check(cuzk_relation_open(&relation, &witness, context, argv[1], &err), &err);
    cuzk_relation_describe(&info, relation);
    (void)printf("circuit: %u constraints, %u inputs\n", info.rows, info.inputs - 1);
    if (witness == NULL) {
        (void)fprintf(stderr, "prove_toy5: %s brings no witness\n", argv[1]);
        return 1;
    }
    check(cuzk_setup(relation, argv[2], NULL, NULL, &err), &err);

    /* The public inputs are what a verifier is told; the rest of the witness stays secret. */
    size_t count = info.inputs - 1;
    uint8_t *inputs = malloc(count * CUZK_FIELD_BYTES + 1);
    if (inputs == NULL)
        return 1;
    cuzk_witness_inputs(inputs, witness);

    check(cuzk_key_open(&key, relation, argv[2], CUZK_KEY_STREAMED, &err), &err);
    check(cuzk_prove(key, &witness, NULL, proof, &report, &err), &err);
    (void)printf("proof: ");
    for (size_t i = 0; i < sizeof proof; i++)
        (void)printf("%02x", proof[i]);
    (void)printf("\n%.3f s, %llu bytes at the peak\n", report.seconds,
                 (unsigned long long)report.memory_peak);

    check(cuzk_verifier_open(&verifier, argv[2], &err), &err);
    check(cuzk_verify(verifier, proof, sizeof proof, inputs, count, 1, &err), &err);
    (void)printf("valid\n");

    proof[100] ^= 1;
    if (cuzk_verify(verifier, proof, sizeof proof, inputs, count, 1, &err) != CUZK_E_PROOF)
        return 1;
    (void)printf("and with one bit flipped: %s\n", err.message);

    free(inputs);
    cuzk_verifier_free(verifier);
    cuzk_key_close(key);
    cuzk_relation_free(relation);
    cuzk_context_free(context);
    return 0;
}
