/* What PoRep's circuits cost: built, filled with a witness, multiplied, and hashed row by row.
 *
 *     bench_circuit [--isa NAME] [--repeat N] [--shape] [CIRCUIT]…
 *
 * One thread, processor time, best of N; the sector is a mock one. --shape hashes the rows too, 20
 * s for 32 GiB. Without a circuit: porep-2KiB and porep-mini32. Beside each time the peak of
 * resident memory so far.
 */
#include "peer.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/os.h"
#include "circuit/digest.h"
#include "circuit/porep_circuit.h"
#include "circuit/porep_mock.h"
#include "circuit/poseidon.h"
#include "curve/bls12_381/ops.h"

static void die(const struct cuzk_error *err)
{
    fprintf(stderr, "%s\n", err->message);
    exit(1);
}

static void row(const char *circuit, const char *what, double seconds)
{
    struct cuzk_os_memory memory;
    cuzk_os_memory_read(&memory);
    printf("%-14s %-12s %10.3f ms   peak RSS %5.0f MB\n", circuit, what, 1e3 * seconds,
           (double)memory.peak_rss / 1e6);
    (void)fflush(stdout);
}

static void bench_poseidon(void)
{
    static const unsigned arities[] = {2, 4, 8, 11};
    for (int i = 0; i < 4; i++) {
        const struct cuzk_poseidon *p = cuzk_poseidon(arities[i]);
        struct bls12_381_fr in[11] = {{{0}}};
        double best = 1;
        for (int round = 0; round < 5; round++) {
            enum { HASHES = 200 };
            double start = peer_seconds();
            for (int j = 0; j < HASHES; j++)
                cuzk_poseidon_hash(&in[0], p, in);
            double t = (peer_seconds() - start) / HASHES;
            best = t < best ? t : best;
        }
        printf("poseidon %-5u %23.2f us\n", arities[i], 1e6 * best);
    }
}

static void bench_circuit(const char *name, unsigned repeat, bool shape)
{
    struct cuzk_error err;
    struct cuzk_circuit *circuit;
    struct cuzk_porep_sector *sector;
    struct cuzk_porep_owner owner;
    struct cuzk_porep_vanilla vanilla;
    const struct cuzk_porep_params *params = cuzk_porep_by_circuit(name);
    if (params == NULL) {
        fprintf(stderr, "%s: no such circuit\n", name);
        exit(2);
    }
    double start = peer_seconds();
    if (cuzk_porep_circuit(&circuit, params, NULL, &err) != CUZK_OK)
        die(&err);
    row(name, "circuit", peer_seconds() - start);
    if (cuzk_porep_mock(&sector, &owner, params, 1, NULL, &err) != CUZK_OK)
        die(&err);
    cuzk_porep_partition(&vanilla, sector, 0);
    double best = 0;
    for (unsigned i = 0; i < repeat; i++) {
        struct cuzk_witness *witness;
        start = peer_seconds();
        if (cuzk_porep_witness(&witness, circuit, &vanilla, NULL, &err) != CUZK_OK)
            die(&err);
        double t = peer_seconds() - start;
        best = i == 0 || t < best ? t : best;
        cuzk_witness_destroy(witness);
    }
    row(name, "witness", best);
    if (shape) {
        struct cuzk_shape digests;
        start = peer_seconds();
        if (cuzk_circuit_shape(&digests, circuit, NULL, NULL, &err) != CUZK_OK)
            die(&err);
        row(name, "shape", peer_seconds() - start);
    }
    cuzk_porep_sector_destroy(sector);
    cuzk_circuit_destroy(circuit);
}

int main(int argc, char **argv)
{
    const char *circuits[16] = {"porep-2KiB", "porep-mini32"}, *isa = NULL;
    unsigned count = 0, repeat = 5;
    bool shape = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--shape") == 0)
            shape = true;
        else if (strcmp(argv[i], "--isa") == 0 && i + 1 < argc)
            isa = argv[++i];
        else if (strcmp(argv[i], "--repeat") == 0 && i + 1 < argc)
            repeat = (unsigned)strtoul(argv[++i], NULL, 10);
        else if (argv[i][0] != '-' && count < 16)
            circuits[count++] = argv[i];
        else {
            fprintf(stderr, "usage: %s [--isa NAME] [--repeat N] [--shape] [CIRCUIT]…\n", argv[0]);
            return 2;
        }
    }
    struct cuzk_error err;
    if (repeat == 0 || (isa != NULL && cuzk_isa_force(isa, &err) != CUZK_OK)) {
        fprintf(stderr, "no such instruction set, or no rounds\n");
        return 2;
    }
    printf("%s\n", cuzk_isa_name());
    bench_poseidon();
    for (unsigned i = 0; i < (count != 0 ? count : 2); i++)
        bench_circuit(circuits[i], repeat, shape);
    return 0;
}
