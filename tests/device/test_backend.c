/* Whole proofs on a CUDA device against bellperson's bytes: keys of the toy circuits from the
 * vectors' waste, proofs for the given r and s with the key streamed and resident, products of the
 * matrices, and faults that must be caught.
 */
#include "toy.h"

#include "device/cuda/account.h"
#include "device/cuda/backend.h"

#include <unistd.h>

static const char *vectors = CUZK_VECTORS_DIR;
static struct cuzk_context *context;

static bool same_file(const char *a, const char *b)
{
    size_t n, m;
    char *x = toy_slurp(a, &n), *y = toy_slurp(b, &m);
    bool same = n == m && memcmp(x, y, n) == 0;
    free(x);
    free(y);
    return same;
}

static void test_toy(const char *name)
{
    char made[64];
    struct toy toy;
    uint8_t proof[CUZK_PROOF_BYTES];
    toy_read(&toy, vectors, name);
    (void)snprintf(made, sizeof made, "/tmp/cuzk-test-backend-%ld", (long)getpid());

    struct cuzk_relation *relation;
    struct cuzk_witness *witness;
    struct cuzk_setup_options options = {.insecure_waste = toy.waste};
    TEST_OK(cuzk_relation_open(&relation, &witness, context, toy.circuit, err));
    TEST_OK(cuzk_setup(relation, made, NULL, &options, err));
    test_result(same_file(toy.params, made), "%s: the key's bytes", name);
    (void)unlink(made);

    /* products by templates against the processor's */
    struct cuzk_device *device = context->devices[0];
    struct bls12_381_fr *x = malloc((relation->circuit->rows + 1) * sizeof *x);
    struct bls12_381_fr *y = malloc((relation->circuit->rows + 1) * sizeof *y);
    for (int m = 0; m < 3 && x != NULL && y != NULL; m++) {
        TEST_OK(device->ops->multiply(device, x, relation->loaded[0], witness, m, err));
        cuzk_circuit_multiply(y, relation->circuit, witness, m, 0, relation->circuit->rows, NULL);
        test_result(memcmp(x, y, relation->circuit->rows * sizeof *x) == 0, "%s: matrix %d", name,
                    m);
    }
    free(x);
    free(y);
    cuzk_witness_free(witness);
    cuzk_relation_free(relation);

    for (int fault = CUZK_FAULT_NONE; fault <= CUZK_FAULT_BUCKET; fault++) {
        for (int mode = CUZK_KEY_STREAMED; mode <= CUZK_KEY_DECODED; mode++) {
            struct cuzk_key *key;
            struct cuzk_error record;
            TEST_OK(cuzk_relation_open(&relation, &witness, context, toy.circuit, err));
            TEST_OK(cuzk_key_open(&key, relation, toy.params, (enum cuzk_key_mode)mode, err));
            device->ops->fault(device, (enum cuzk_fault)fault);
            cuzk_status status = cuzk_prove(key, &witness, &toy.rs, proof, NULL, &record);
            if (fault == CUZK_FAULT_NONE)
                test_result(status == CUZK_OK && memcmp(proof, toy.proof, sizeof proof) == 0,
                            "%s: proof, mode %d: %s", name, mode,
                            status == CUZK_OK ? "bytes" : record.message);
            else
                test_result(status == CUZK_E_DEVICE, "%s: fault %d gave %s", name, fault,
                            cuzk_status_name(status));
            cuzk_key_close(key);
            cuzk_relation_free(relation);
        }
    }
    struct cuzk_account account;
    cuzk_budget_read(device->memory, &account);
    test_result(
        account.used_by[CUZK_PURPOSE_SRS] == 0 && account.used_by[CUZK_PURPOSE_WITNESS] == 0 &&
            account.used_by[CUZK_PURPOSE_ABC] == 0 && account.used_by[CUZK_PURPOSE_MSM] == 0 &&
            account.used_by[CUZK_PURPOSE_SHAPE] == 0,
        "%s: %llu bytes stay charged", name, (unsigned long long)account.used);
}

int main(int argc, char **argv)
{
    struct cuzk_options options = {.device = "cuda"};
    bool tiny = false; /* for compute-sanitizer */
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--tiny") == 0)
            tiny = true;
        else
            vectors = argv[i];
    }
    if (cuzk_cuda_count() == 0) {
        printf("no CUDA device: skipped\n");
        return 77;
    }
    TEST_OK(cuzk_context_create(&context, &options, err));
    printf("%s\n", cuzk_device_why(cuzk_context_device(context)));
    struct cuzk_cuda *device = cuda_of(context->devices[0])->cuda;
    struct cuzk_cuda_account memory;
    if (!tiny)
        cuzk_cuda_guard(device);
    test_toy("toy5");
    if (!tiny)
        test_toy("toy3000");
    TEST_OK(cuzk_cuda_account_read(device, &memory, err));
    test_result(memory.overrun == 0, "%llu buffers have been overrun",
                (unsigned long long)memory.overrun);
    cuzk_context_free(context);
    return test_end();
}
