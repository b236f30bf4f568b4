/* A device whose context dies in the middle of the work. A kernel breaks it on purpose while proofs
 * run: the proof in flight must end with CUZK_E_DEVICE_LOST, later calls with the same, closing
 * must work and leave nothing charged to the host. Opening it again in the same process must give
 * right proofs, or be refused: a driver need not grant that.
 *
 * Each kind of break is a process of its own; the one that waits for them never starts CUDA.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "toy.h"
#include "trap.h"

static const char *vectors = CUZK_VECTORS_DIR;
static struct toy toy;

struct session {
    struct cuzk_context *context;
    struct cuzk_relation *relation;
    struct cuzk_key *key;
    uint64_t opened; /* charged to the host by the device itself */
};

static cuzk_status session_open(struct session *s, struct cuzk_error *record)
{
    const struct cuzk_options options = {.device = "cuda:0"};
    struct cuzk_witness *witness = NULL;
    memset(s, 0, sizeof *s);
    struct cuzk_account account;
    cuzk_status status = cuzk_context_create(&s->context, &options, record);
    if (status == CUZK_OK) {
        cuzk_budget_read(s->context->host, &account);
        s->opened = account.used;
        status = cuzk_relation_open(&s->relation, &witness, s->context, toy.circuit, record);
    }
    cuzk_witness_free(witness);
    if (status == CUZK_OK)
        status = cuzk_key_open(&s->key, s->relation, toy.params, CUZK_KEY_DECODED, record);
    return status;
}

/* A proof of the toy's witness; false in *right where the call succeeds with other bytes. */
static cuzk_status prove(const struct session *s, bool *right, struct cuzk_error *record)
{
    struct cuzk_relation *again = NULL;
    struct cuzk_witness *witness = NULL;
    uint8_t proof[CUZK_PROOF_BYTES];
    const struct cuzk_options cpu = {.device = "cpu"};
    struct cuzk_context *context = NULL;
    *right = true;
    /* the witness stands in the circuit's file, which is read without the device */
    TEST_OK(cuzk_context_create(&context, &cpu, err));
    TEST_OK(cuzk_relation_open(&again, &witness, context, toy.circuit, err));
    cuzk_status status = cuzk_prove(s->key, &witness, &toy.rs, proof, NULL, record);
    cuzk_witness_free(witness);
    cuzk_relation_free(again);
    cuzk_context_free(context);
    if (status == CUZK_OK)
        *right = memcmp(proof, toy.proof, sizeof proof) == 0;
    return status;
}

static void session_close(struct session *s, const char *when)
{
    struct cuzk_account account = {0};
    cuzk_key_close(s->key);
    cuzk_relation_free(s->relation);
    if (s->context != NULL)
        cuzk_budget_read(s->context->host, &account);
    test_result(account.used == s->opened, "%s: %llu bytes stay charged to the host, not %llu",
                when, (unsigned long long)account.used, (unsigned long long)s->opened);
    cuzk_context_free(s->context);
}

static int break_device(int kind)
{
    struct session s;
    struct cuzk_error record = {0};
    bool right;
    if (cuzk_cuda_count() == 0)
        return 77;
    (void)alarm(120);
    TEST_OK(session_open(&s, err));
    TEST_OK(prove(&s, &right, err));
    test_result(right, "the proof before has other bytes");

    test_result(test_trap(0, kind, 3000000) == 0, "the kernel that breaks the context starts");
    cuzk_status status = CUZK_OK;
    unsigned proofs = 0;
    for (; proofs < 10000 && status == CUZK_OK; proofs++) {
        status = prove(&s, &right, &record);
        test_result(right, "a proof beside the breaking kernel has other bytes");
    }
    printf("kind %d: proof %u after the break: %s: %s\n", kind, proofs, cuzk_status_name(status),
           record.message);
    test_result(status == CUZK_E_DEVICE_LOST, "the proof in flight gave %s",
                cuzk_status_name(status));
    for (int i = 0; i < 2; i++) {
        status = prove(&s, &right, &record);
        test_result(status == CUZK_E_DEVICE_LOST, "a proof afterwards gave %s",
                    cuzk_status_name(status));
    }
    struct bls12_381_fr x[16] = {0};
    struct cuzk_device *device = s.context->devices[0];
    status = device->ops->ntt(device, x, 4, false, NULL, &record);
    test_result(status == CUZK_E_DEVICE_LOST, "a transform afterwards gave %s",
                cuzk_status_name(status));
    session_close(&s, "after the break");

    status = session_open(&s, &record);
    if (status == CUZK_OK)
        status = prove(&s, &right, &record);
    printf("kind %d: opened again in the same process: %s%s%s\n", kind, cuzk_status_name(status),
           status == CUZK_OK ? "" : ": ", status == CUZK_OK ? "" : record.message);
    test_result(status == CUZK_OK || status == CUZK_E_DEVICE_LOST || status == CUZK_E_DEVICE,
                "opening again gave %s", cuzk_status_name(status));
    test_result(right, "the proof after opening again has other bytes");
    session_close(&s, "after opening again");
    return test_end();
}

int main(int argc, char **argv)
{
    bool skipped = true;
    if (argc > 1)
        vectors = argv[1];
    toy_read(&toy, vectors, "toy5");
    for (int kind = 0; kind < TEST_TRAPS; kind++) {
        int status = 1;
        (void)fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            const int code = break_device(kind);
            (void)fflush(stdout);
            _exit(code);
        }
        const bool ended = child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status);
        if (ended && WEXITSTATUS(status) == 77)
            continue;
        skipped = false;
        test_result(ended && WEXITSTATUS(status) == 0, "kind %d: its process ended with %d", kind,
                    status);
    }
    if (skipped) {
        printf("no CUDA device: skipped\n");
        return 77;
    }
    return test_end();
}
