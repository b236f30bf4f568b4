#!/bin/bash
# gpu-check.sh quick|bench|sector [BUILD-DIR]: the CUDA backend on a machine with a GPU, one stage a call,
# each under 8 minutes, its table last. Uses the programs in BUILD-DIR (default: build/gpu) if they are
# there, else builds them, for the architecture of the GPU alone.
#   quick   correctness on small and middle sizes, compute-sanitizer on the smallest where it is installed
#   bench   speeds, checked; the table also goes to $OUT/bench.txt where OUT is set. PEER names a library of
#           bench/peer_cuda.h's interface to be timed in the same run
#   sector  whole proofs
set -uo pipefail
cd "$(dirname "$0")/.."
stage=${1:-}
build=${2:-build/gpu}
case $stage in
quick | bench | sector) ;;
*)
    sed -n '2,8s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
esac
find_program() { # NAME: its path in the build tree
    find "$build" -name "$1" -type f -perm -u+x 2>/dev/null | head -1
}
if [ -z "$(find_program device_test_cuda)" ]; then
    arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d .)
    cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DCUZK_CUDA=ON -DCUZK_CUDA_ARCHS="${arch:-90}" >/dev/null &&
        cmake --build "$build" -j "$(nproc)" --target device_test_cuda \
            device_test_fields device_test_finish device_test_backend device_sector cuda_bench || exit 1
fi
failed=0
run() { # LIMIT COMMAND…
    local limit=$1
    shift
    timeout "$limit" "$@"
    local rc=$?
    [ $rc -eq 0 ] || { echo "exit $rc: $*"; failed=1; }
}
nvidia-smi --query-gpu=name,uuid,driver_version,clocks.sm,power.draw,memory.used --format=csv,noheader
case $stage in
quick)
    for name in device_test_fields device_test_finish device_test_backend; do
        echo "== $name =="
        run 60 "$(find_program $name)"
    done
    if command -v compute-sanitizer >/dev/null; then
        for tool in memcheck racecheck initcheck; do
            echo "== $tool =="
            run 100 compute-sanitizer --tool $tool --error-exitcode 9 --print-limit 5 \
                "$(find_program device_test_cuda)" --tiny
        done
    fi
    run 200 "$(find_program device_test_cuda)"
    ;;
bench)
    # run's verdict must not be lost in a pipeline
    run 400 "$(find_program cuda_bench)" ${PEER:+--peer "$PEER"} > >(tee "${OUT:-/tmp}/bench.txt")
    wait $! 2>/dev/null
    ;;
sector)
    # proofs by the hundred at 2 KiB and 2^24, each held against tau; a key streamed with little memory; a
    # whole 32 GiB sector. MINI and BIG name the C1 files that are too large for the tree's tests.
    sector=$(find_program device_sector)
    small=$(mktemp)
    zstd -dqf tests/vectors/sectors/v11-101/c1.json.zst -o "$small"
    run 120 "$sector" --circuit porep-2KiB --c1 "$small" --repeat 200
    rm -f "$small"
    [ -z "${MINI:-}" ] || run 120 "$sector" --circuit porep-mini32 --c1 "$MINI" --repeat 100
    [ -z "${BIG:-}" ] || run 240 "$sector" --circuit porep-32GiB --c1 "$BIG" --partitions "${PARTITIONS:-10}"
    ;;
esac
exit $failed
