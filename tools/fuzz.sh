#!/bin/bash
# fuzz.sh SECONDS: builds the libFuzzer targets with clang, AddressSanitizer and UBSan and runs each
# for SECONDS from its committed corpus. New inputs stay in build/fuzz/corpus; a crash is a failure and its
# input is named.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
cmake --preset fuzz >/dev/null
cmake --build build/fuzz -j"$(nproc)"
shopt -s nullglob
passed=0 failed=0
for target in build/fuzz/fuzz/fuzz_*; do
    [ -x "$target" ] && [ -f "$target" ] || continue
    name=$(basename "$target")
    mkdir -p "build/fuzz/corpus/$name"
    seeds=("fuzz/corpus/${name#fuzz_}" "fuzz/corpus/$name")
    dirs=("build/fuzz/corpus/$name")
    for s in "${seeds[@]}"; do [ -d "$s" ] && dirs+=("$s"); done
    echo "== $name, $seconds s =="
    if "$target" -max_total_time="$seconds" -rss_limit_mb=1024 -timeout=20 -print_final_stats=1 \
        -artifact_prefix="build/fuzz/$name-" "${dirs[@]}" 2>"build/fuzz/$name.log"; then
        grep -E 'stat::number_of_executed_units|stat::peak_rss_mb' "build/fuzz/$name.log" || true
        passed=$((passed + 1))
    else
        tail -30 "build/fuzz/$name.log"
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
