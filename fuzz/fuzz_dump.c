/* A circuit dump, plain or packed: an error, or a circuit whose every row and witness value can be
 * visited. */
#include "circuit/dump.h"
#include "file.h"

static cuzk_status visit(void *context, uint32_t row, const struct cuzk_row_term *const terms[3],
                         const uint32_t counts[3], struct cuzk_error *err)
{
    const struct cuzk_circuit *c = context;
    (void)err;
    if (row >= c->rows)
        abort();
    for (int m = 0; m < 3; m++)
        for (uint32_t i = 0; i < counts[m]; i++) {
            uint32_t tag = terms[m][i].tag;
            if (tag / 2 >= (tag % 2 == 0 ? c->inputs : c->aux))
                abort();
        }
    return CUZK_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cuzk_error err;
    struct cuzk_budget *budget;
    struct cuzk_circuit *circuit;
    struct cuzk_witness *witness;
    if (cuzk_budget_create(&budget, "fuzz", (uint64_t)512 << 20, NULL, &err) != CUZK_OK)
        return 0;
    if (cuzk_dump_read(&circuit, &witness, fuzz_file(data, size), budget, &err) == CUZK_OK) {
        if (cuzk_circuit_rows(circuit, 0, circuit->rows, visit, circuit, &err) != CUZK_OK)
            abort();
        if (witness != NULL) {
            uint32_t row;
            (void)cuzk_circuit_check(circuit, witness, &row, NULL, &err);
        }
        cuzk_witness_destroy(witness);
        cuzk_circuit_destroy(circuit);
    }
    struct cuzk_account account;
    cuzk_budget_read(budget, &account);
    if (account.used != 0)
        abort();
    cuzk_budget_destroy(budget);
    return 0;
}
