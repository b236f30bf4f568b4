/* cuzk devices: where proofs can be computed. */
#include "cuzk/device.h"
#include "options.h"

static int run(const struct command *self, int argc, char **argv)
{
    struct output out;
    int code;
    const char *about = "Names are what `cuzk prove --device` takes; several are separated by "
                        "commas. A card's UUID\nnames it too, and cuda:all every CUDA device.";
    const struct usage usage = {NULL, 0, 0, about, NULL, 0};
    if (!options_parse(&code, self, &usage, &argc, argv, &out))
        return code;
    struct cuzk_error err;
    struct cuzk_device_info *list;
    size_t n;
    if (cuzk_device_list(&list, &n, &err) != CUZK_OK)
        return output_fail(&out, &err, EXIT_FAILED);
    output_array(&out, "devices");
    for (size_t i = 0; i < n; i++) {
        output_object(&out, NULL);
        output_text(&out, "name", list[i].name);
        output_text(&out, "model", list[i].model);
        if (list[i].uuid[0] != '\0')
            output_text(&out, "uuid", list[i].uuid);
        output_bytes(&out, "memory_total", list[i].memory_total);
        output_bytes(&out, "memory_free", list[i].memory_free);
        output_number(&out, "processors", list[i].processors);
        output_object_end(&out);
    }
    output_array_end(&out);
    cuzk_device_list_free(list);
    char note[160];
    if (cuzk_device_cuda_note(note, &err) != CUZK_OK)
        return output_fail(&out, &err, EXIT_FAILED);
    output_text(&out, "cuda", note);
    return output_finish(&out, EXIT_DONE);
}

const struct command command_devices = {"devices", "List the devices that can prove", run};
