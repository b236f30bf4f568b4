/* cuzk mock-sector: the C1 output of a sector that nobody sealed, to try and measure with. */
#include "base/os.h"
#include "circuit/porep_mock.h"
#include "circuits.h"
#include "format/c1.h"
#include "options.h"

#define NOTE "mock: zero data, sparse trees, nobody sealed it; every circuit is satisfied"

static int run(const struct command *self, int argc, char **argv)
{
    const char *c1 = NULL, *statement = NULL;
    struct option_number seed = {0};
    const struct option_spec options[] = {
        {"seed", "N", OPTION_NUMBER, &seed, "everything about the sector follows from it"},
        {"out", "C1.json", OPTION_OUTPUT, &c1, "where the C1 output goes"},
        {"statement", "META.json", OPTION_OUTPUT, &statement, "where its statement goes"},
    };
    const struct usage usage = {
        "CIRCUIT", 1, 1,
        "Zero data, pseudorandom labels where nothing is opened and computed ones where a\n"
        "challenge is, the graph's real parents. Its circuits are satisfied; it proves nothing.",
        OPTIONS(options)};
    struct output out;
    int code;
    if (!options_parse(&code, self, &usage, &argc, argv, &out))
        return code;
    const struct cuzk_porep_params *params = cuzk_porep_by_circuit(argv[1]);
    if (params == NULL)
        return usage_error(&out, self, "no circuit \"%s\"", argv[1]);
    if (!seed.given)
        return usage_error(&out, self, "--seed is needed");
    if (c1 == NULL)
        return usage_error(&out, self, "--out is needed");

    struct cuzk_error err;
    struct cuzk_porep_sector *sector = NULL;
    struct cuzk_porep_owner owner;
    double start = cuzk_os_seconds();
    cuzk_status status = cuzk_porep_mock(&sector, &owner, params, seed.value, NULL, &err);
    if (status == CUZK_OK)
        status = cuzk_c1_write(sector, c1, &err);
    if (status == CUZK_OK && statement != NULL) {
        struct cuzk_meta meta;
        cuzk_meta_of(&meta, sector, owner.miner, owner.sector_number);
        status = cuzk_meta_write(&meta, NOTE, statement, &err);
    }
    if (status == CUZK_OK) {
        struct cuzk_os_memory used;
        cuzk_os_memory_read(&used);
        output_text(&out, "registered_proof", params->registered);
        output_number(&out, "miner", owner.miner);
        output_number(&out, "sector", owner.sector_number);
        output_fr(&out, "comm_d", &sector->comm_d);
        output_fr(&out, "comm_r", &sector->comm_r);
        output_number(&out, "partitions", params->partitions);
        output_text(&out, "c1", c1);
        if (statement != NULL)
            output_text(&out, "statement", statement);
        output_seconds(&out, "seconds", cuzk_os_seconds() - start);
        output_bytes(&out, "peak_rss", used.peak_rss);
        code = output_finish(&out, EXIT_DONE);
    } else {
        code = output_fail(&out, &err, EXIT_FAILED);
    }
    cuzk_porep_sector_destroy(sector);
    return code;
}

const struct command command_mock_sector = {"mock-sector", "Make a sector that nobody sealed", run};
