/* cuzk shape: counts and digests of a circuit, in the form of the reference's vectors. */
#include "chunks.h"
#include "circuits.h"
#include "options.h"

static void print_shape(struct output *out, const struct cuzk_shape *s)
{
    const uint64_t longest[3] = {s->longest[0], s->longest[1], s->longest[2]};
    output_number(out, "a_aux_density", s->a_aux_density);
    output_hex(out, "a_aux_density_sha256", s->a_aux_sha256, CUZK_SHA256_SIZE);
    output_number(out, "aux", s->aux);
    output_number(out, "b_aux_density", s->b_aux_density);
    output_hex(out, "b_aux_density_sha256", s->b_aux_sha256, CUZK_SHA256_SIZE);
    output_number(out, "b_input_density", s->b_input_density);
    output_hex(out, "b_input_density_sha256", s->b_input_sha256, CUZK_SHA256_SIZE);
    output_number(out, "coefficients", s->coefficients);
    output_number(out, "constraints", s->rows);
    output_number(out, "inputs", s->inputs);
    output_numbers(out, "longest", longest, 3);
    output_hex(out, "rows_sha256", s->rows_sha256, CUZK_SHA256_SIZE);
    output_numbers(out, "terms", s->terms, 3);
}

static int run(const struct command *self, int argc, char **argv)
{
    const char *chunks_path = NULL;
    const struct option_spec options[] = {
        {"chunks", "FILE", OPTION_OUTPUT, &chunks_path,
         "write one SHA-256 per 65,536 rows, a line each"},
    };
    const struct usage usage = {
        "CIRCUIT", 1, 1,
        "rows_sha256 is the SHA-256 of the chunks' digests one after another. A row is hashed as\n"
        "its A, B and C in turn: number of terms, then tag and coefficient of each, in order.",
        OPTIONS(options)};
    struct output out;
    int code;
    if (!options_parse(&code, self, &usage, &argc, argv, &out))
        return code;

    struct cuzk_error err;
    struct cuzk_circuit *circuit = NULL;
    struct cuzk_shape shape;
    struct progress progress;
    struct chunks chunks = {.progress = &progress};
    double start = cuzk_os_seconds();
    cuzk_status status = open_circuit(&circuit, argv[1], &err);
    if (status == CUZK_OK)
        status = chunks_open(&chunks, chunks_path, &err);
    if (status == CUZK_OK) {
        chunks.total = ((uint64_t)circuit->rows + CUZK_CHUNK - 1) / CUZK_CHUNK;
        progress_start(&progress, "hashing the rows", "chunks");
        status = cuzk_circuit_shape(&shape, circuit, chunk_line, &chunks, &err);
        progress_end(&progress);
        status = chunks_close(&chunks, status, &err);
    }
    if (status == CUZK_OK) {
        struct cuzk_os_memory used;
        cuzk_os_memory_read(&used);
        output_text(&out, "circuit", circuit->name);
        print_shape(&out, &shape);
        output_number(&out, "templates", circuit->template_count);
        output_number(&out, "instances", circuit->instance_count);
        output_seconds(&out, "seconds", cuzk_os_seconds() - start);
        output_bytes(&out, "peak_rss", used.peak_rss);
        code = output_finish(&out, EXIT_DONE);
    } else {
        code = output_fail(&out, &err, EXIT_FAILED);
    }
    cuzk_circuit_destroy(circuit);
    return code;
}

const struct command command_shape = {"shape", "Print counts and digests of a circuit", run};
