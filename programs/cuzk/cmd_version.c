/* cuzk version: what this build is, and which of its paths this machine can take. */
#include "base/os.h"
#include "curve/bls12_381/ops.h"
#include "cuzk/device.h"
#include "cuzk/groth16.h"
#include "options.h"

static int run(const struct command *self, int argc, char **argv)
{
    struct output out;
    int code;
    const struct usage usage = {NULL, 0, 0, NULL, NULL, 0};
    if (!options_parse(&code, self, &usage, &argc, argv, &out))
        return code;
    struct cuzk_os_cpu cpu;
    cuzk_os_cpu_read(&cpu);
    output_text(&out, "version", cuzk_version());
    output_text(&out, "isa", cuzk_isa_name());
    output_text(&out, "cuda", cuzk_device_built_with_cuda() ? "built in" : "not built in");
    output_text(&out, "processor", cpu.model);
    output_number(&out, "processors", cuzk_os_processors());
    output_bytes(&out, "memory_limit", cuzk_os_memory_limit());
    return output_finish(&out, EXIT_DONE);
}

const struct command command_version = {"version",
                                        "Print the version, and the instruction sets in use", run};
