#!/bin/bash
# test.sh JOBS: everything `make test` does after the packages are there: lint, the build as it is
# shipped (with CUDA for sm_90 where nvcc is found), the tests, the same under AddressSanitizer and
# UBSan, the engine's tests under ThreadSanitizer. Ends with `N passed, N failed`.
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=${1:-2}
fail=0
tools/lint.sh || fail=1

build() { # build PRESET: quiet unless it fails
    local log
    log=$(mktemp)
    if ! { cmake --preset "$1" && cmake --build "build/$1" -j"$jobs"; } >"$log" 2>&1; then
        grep -E 'error|FAILED|warning' "$log" | head -40
        tail -20 "$log"
        echo "build of preset $1 failed"
        rm -f "$log"
        echo "0 passed, 1 failed"
        exit 1
    fi
    grep -E '^-- CUDA' "$log" || true
    rm -f "$log"
}
for preset in ci asan tsan; do
    echo "building $preset"
    build $preset
done
export CUZK_TEST_JOBS=$jobs
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
tools/run-tests.sh unit build/ci build/asan build/tsan | tee build/test.log || fail=1
if [ $fail -ne 0 ]; then
    # a failed lint counts as a failure in the closing line too
    line=$(tail -1 build/test.log)
    p=${line%% passed*} f=${line#* passed, }
    [ "${f%% failed*}" -gt 0 ] || echo "$p passed, 1 failed"
    exit 1
fi
