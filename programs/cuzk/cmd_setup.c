/* cuzk setup: makes a development key for a circuit. */
#include "base/os.h"
#include "circuits.h"
#include "options.h"
#include "progress.h"

static int show(void *context, uint64_t done, uint64_t total)
{
    progress_update(context, done, total);
    return 0;
}

static int run(const struct command *self, int argc, char **argv)
{
    const char *params = NULL, *vk = NULL, *waste = NULL, *isa = NULL, *device = "cpu";
    struct option_number threads = {0}, memory = {0};
    const struct option_spec options[] = {
        {"out", "KEY.params", OPTION_OUTPUT, &params, "where the proving key goes"},
        {"vk", "KEY.vk", OPTION_OUTPUT, &vk, "where the verifying key goes"},
        {"insecure-waste", "FILE.json", OPTION_INPUT, &waste,
         "take the waste from a file: for tests, whoever knows it can forge"},
        {"threads", "N", OPTION_NUMBER, &threads, "threads to use (default: one a processor)"},
        {"memory", "BYTES", OPTION_BYTES, &memory, "most host memory to use, as 12GiB"},
        {"isa", "NAME", OPTION_TEXT, &isa, "instruction set path (see `cuzk version`)"},
        {"device", "NAME", OPTION_TEXT, &device, "where to compute: one device (default: cpu)"},
    };
    const struct usage usage = {
        "CIRCUIT", 1, 1,
        "The key is for development and tests: whoever runs the setup could have kept its waste.\n"
        "The waste is random from the system and wiped. Files appear whole or not at all.",
        OPTIONS(options)};
    struct output out;
    int code;
    if (!options_parse(&code, self, &usage, &argc, argv, &out))
        return code;
    if (params == NULL && vk == NULL)
        return usage_error(&out, self, "--out or --vk is needed");
    if (threads.value > 1024)
        return usage_error(&out, self, "--threads must be at most 1024");

    struct cuzk_error err;
    struct cuzk_context *context = NULL;
    struct cuzk_relation *relation = NULL;
    struct progress progress;
    struct cuzk_options settings = {.threads = (unsigned)threads.value,
                                    .memory_limit = memory.value,
                                    .isa = isa,
                                    .device = device};
    progress_start(&progress, "setting up", "points");
    struct cuzk_setup_options setup = {
        .insecure_waste = waste, .progress = show, .progress_context = &progress};
    double start = cuzk_os_seconds();
    cuzk_status status = cuzk_context_create(&context, &settings, &err);
    if (status == CUZK_OK && cuzk_context_device_count(context) != 1)
        status =
            cuzk_fail(&err, CUZK_E_ARGUMENT, "--device %s: a setup runs on one device", device);
    if (status == CUZK_OK)
        status = open_relation(&relation, NULL, context, argv[1], &err);
    if (status == CUZK_OK)
        status = cuzk_setup(relation, params, vk, &setup, &err);
    progress_end(&progress);
    if (status == CUZK_OK) {
        struct cuzk_relation_info info;
        struct cuzk_os_memory used;
        cuzk_relation_describe(&info, relation);
        cuzk_os_memory_read(&used);
        output_text(&out, "circuit", info.name);
        output_bool(&out, "insecure", waste != NULL);
        if (params != NULL)
            output_text(&out, "params", params);
        if (vk != NULL)
            output_text(&out, "vk", vk);
        output_number(&out, "inputs", info.inputs);
        output_number(&out, "aux", info.aux);
        output_number(&out, "constraints", info.rows);
        output_bytes(&out, "params_bytes", info.params_bytes);
        output_seconds(&out, "seconds", cuzk_os_seconds() - start);
        output_bytes(&out, "peak_rss", used.peak_rss);
        code = output_finish(&out, EXIT_DONE);
    } else {
        code = output_fail(&out, &err, EXIT_FAILED);
    }
    cuzk_relation_free(relation);
    cuzk_context_free(context);
    return code;
}

const struct command command_setup = {"setup", "Make a development key for a circuit", run};
