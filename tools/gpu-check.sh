#!/bin/bash
# gpu-check.sh quick|bench|sector|two [BUILD-DIR]: the CUDA backend on a machine with a GPU, one stage a
# call, each under 8 minutes, its table last. Uses the programs in BUILD-DIR (default: build/gpu) if they
# are there, built here or elsewhere, else builds them, for the architecture of the GPU alone. Nobody else
# may use the GPU: device memory is held against what the driver says.
#   quick   correctness on all sizes, a lost device, compute-sanitizer on the smallest sizes where it is
#           installed (or where SANITIZER says)
#   bench   speeds, checked. PEER names a library of bench/peer_cuda.h's interface to be timed in the
#           same run
#   sector  whole proofs: by the hundred at 2 KiB and 2^24, with little device memory, a 32 GiB sector
#   two     the same proofs on two GPUs at once, one a process and both in one context: 77 with one GPU
# Logs and tables go to OUT (default: /tmp), big temporary files to TMPDIR (5 GB in sector and two). VECTORS
# is the directory of test vectors (default: tests/vectors), MINI and BIG other C1 files for the miniature
# and the 32 GiB sector, REPEAT the rounds of proofs.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
stage=${1:-}
build=${2:-build/gpu}
case $stage in
quick | bench | sector | two) ;;
*)
    sed -n '2,16s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
esac
if ! nvidia-smi -L 2>/dev/null | grep -q '^GPU'; then
    echo "no GPU: skipped"
    exit 77
fi
if [ -f "$build/CMakeCache.txt" ] && ! grep -q '^CUZK_CUDA:STRING=ON' "$build/CMakeCache.txt"; then
    echo "$build: a build tree without CUZK_CUDA=ON: name another" >&2
    exit 2
fi
out=${OUT:-/tmp}
vectors=${VECTORS:-tests/vectors}
# One run at a time a user, wherever its logs go: two would hold each other's memory against themselves.
exec 9>>"${TMPDIR:-/tmp}/gpu-check.$UID.lock" || exit 1
if command -v flock >/dev/null && ! flock -n 9; then
    echo "gpu-check.sh runs already" >&2
    exit 1
fi
table=$out/$stage.table
if ! mkdir -p "$out" || ! : >"$table"; then
    echo "gpu-check.sh: no tables can be written to $out; set OUT" >&2
    exit 1
fi
scratch=$(mktemp -d "${TMPDIR:-/tmp}/gpu-check.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
failed=0 # 1 if anything failed, else 77 if anything was skipped
find_program() { # NAME: its path in the build tree
    find "$build" -name "$1" -type f -perm -u+x 2>/dev/null | head -1
}
if [ -z "$(find_program device_test_cuda)" ]; then
    arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -1 | tr -d .)
    cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DCUZK_CUDA=ON -DCUZK_CUDA_ARCHS="${arch:-90}" >/dev/null &&
        cmake --build "$build" -j "$(nproc)" --target device_test_cuda device_test_fields \
            device_test_finish device_test_pool device_test_plan device_test_backend device_test_lost \
            device_sector cuda_bench groth16_slow_porep || exit 1
fi

row() { # NAME RC SECONDS LOG: a row of the table
    local verdict=ok
    case $2 in
    0) ;;
    77) verdict=skipped ;;
    124 | 137) verdict="TIMED OUT" ;;
    *) verdict="FAILED ($2)" ;;
    esac
    case $2 in
    0) ;;
    77) [ $failed -ne 0 ] || failed=77 ;;
    *) failed=1 ;;
    esac
    printf '| %-34s | %-11s | %4d s | %s |\n' "$1" "$verdict" "$3" \
        "$(grep -E '[0-9]+ passed, [0-9]+ failed|\[  (PASSED|FAILED)  \]|ERROR SUMMARY|proofs in|refused|[0-9]+ wrong|skipped' "$4" |
            tail -2 | sed 's/^=* *//' | paste -sd';')" >>"$table"
}
run() { # NAME LIMIT COMMAND…: runs it, shows its output, adds a row
    local name=$1 limit=$2 start=$SECONDS rc
    shift 2
    local log=$out/$stage.${name// /_}.log
    echo "== $name =="
    timeout -k 5 "$limit" "$@" 2>&1 | tee "$log"
    rc=${PIPESTATUS[0]}
    row "$name" "$rc" $((SECONDS - start)) "$log"
    return "$rc"
}
# The same for several at once: start NAME LIMIT COMMAND…, then finish.
names=() pids=()
start() {
    local name=$1 limit=$2
    shift 2
    timeout -k 5 "$limit" "$@" >"$out/$stage.${name// /_}.log" 2>&1 &
    pids+=($!)
    names+=("$name")
}
finish() {
    local begin=$SECONDS i rc log
    for i in "${!pids[@]}"; do
        wait "${pids[$i]}"
        rc=$?
        log=$out/$stage.${names[$i]// /_}.log
        echo "== ${names[$i]} =="
        tail -40 "$log"
        row "${names[$i]}" "$rc" $((SECONDS - begin)) "$log"
    done
    names=() pids=()
}

nvidia-smi --query-gpu=name,uuid,driver_version,clocks.sm,power.draw,memory.used --format=csv,noheader 2>/dev/null |
    tee "$out/$stage.gpus"
sector=$(find_program device_sector)
mini=${MINI:-$vectors/sectors/mini32-501/c1.json.zst}
big=${BIG:-$vectors/sectors/mock32-3201/c1.json.zst}
small=$vectors/sectors/v11-101/c1.json.zst

case $stage in
quick)
    run fields 40 "$(find_program device_test_fields)"
    run finish 20 "$(find_program device_test_finish)"
    run pool 20 "$(find_program device_test_pool)"
    run plan 20 "$(find_program device_test_plan)"
    run backend 60 "$(find_program device_test_backend)" "$vectors"
    run lost 50 "$(find_program device_test_lost)" "$vectors"
    sanitizer=${SANITIZER:-$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)}
    if [ -x "$sanitizer" ]; then
        options=(--error-exitcode 9 --print-limit 20)
        for tool in memcheck racecheck initcheck synccheck; do
            start "$tool" 110 "$sanitizer" --tool $tool "${options[@]}" "$(find_program device_test_cuda)" --tiny
        done
        for tool in memcheck initcheck; do
            start "$tool of a proof" 110 "$sanitizer" --tool $tool "${options[@]}" \
                "$(find_program device_test_backend)" --tiny "$vectors"
        done
        # initcheck must find fault with what reads memory that was never written
        start "initcheck sees the pool" 110 bash -c '"$@"; [ $? -eq 9 ]' - "$sanitizer" --tool initcheck \
            "${options[@]}" "$(find_program device_test_cuda)" --unset
        finish
    else
        echo "compute-sanitizer is not installed: skipped"
        printf '| %-34s | %-11s |        | |\n' compute-sanitizer "not there" >>"$table"
        [ $failed -ne 0 ] || failed=77
    fi
    run cuda 170 "$(find_program device_test_cuda)"
    ;;
bench)
    run bench 450 "$(find_program cuda_bench)" ${PEER:+--peer "$PEER"}
    sed -n '/^$/,$p' "$out/bench.bench.log" >"$out/bench.txt" # the table alone
    cat "$out/bench.txt" >>"$table"
    ;;
sector)
    # Each key is made from one fixed waste, so that proofs can be held against tau. Speeds without a
    # watch on the driver's memory, then fewer proofs with one.
    run "2 KiB as bellperson" 60 env CUZK_TEST_DEVICE=cuda "$(find_program groth16_slow_porep)"
    run "2 KiB" 60 "$sector" --circuit porep-2KiB --c1 "$small" --repeat "${REPEAT:-200}"
    run "2^24" 80 "$sector" --circuit porep-mini32 --c1 "$mini" --repeat "${REPEAT:-200}"
    run "2^24 watched" 40 "$sector" --circuit porep-mini32 --c1 "$mini" --repeat 10 --watch
    key=$scratch/mini32.params
    if run "2^24 key to a file" 60 "$sector" --circuit porep-mini32 --c1 "$mini" --setup "$key" --watch; then
        gib=$((1 << 30))
        for budget in 6 3; do
            run "2^24 in $budget GiB" 40 "$sector" --circuit porep-mini32 --c1 "$mini" --key "$key" --stream \
                --device-memory $((budget * gib)) --repeat 4 --watch
        done
        run "2^24 refused in 1.5 GiB" 20 "$sector" --circuit porep-mini32 --c1 "$mini" --key "$key" --stream \
            --device-memory $((3 * gib / 2)) --refused
    fi
    rm -f "$key"
    run "32 GiB" 120 "$sector" --circuit porep-32GiB --c1 "$big" --partitions "${PARTITIONS:-10}" --tau 2 --watch
    ;;
two)
    if [ "$(wc -l <"$out/two.gpus")" -lt 2 ]; then
        echo "one GPU or none: skipped"
        exit 77
    fi
    for circuit in porep-2KiB porep-mini32; do
        c1=$small
        [ $circuit = porep-2KiB ] || c1=$mini
        proofs=()
        for gpu in 0 1; do
            proofs+=("$scratch/$circuit.$gpu")
            start "$circuit on $gpu" 100 env CUDA_VISIBLE_DEVICES=$gpu "$sector" --circuit $circuit --c1 "$c1" \
                --repeat "${REPEAT:-100}" --proofs "$scratch/$circuit.$gpu"
        done
        finish
        proofs+=("$scratch/$circuit.both")
        run "$circuit on both" 100 "$sector" --circuit $circuit --c1 "$c1" --device cuda:0,cuda:1 \
            --repeat "${REPEAT:-100}" --proofs "$scratch/$circuit.both"
        for file in "${proofs[@]:1}"; do
            run "$circuit $(basename "$file") same" 5 cmp "${proofs[0]}" "$file"
        done
    done
    ;;
esac
echo
cat "$table"
exit $failed
