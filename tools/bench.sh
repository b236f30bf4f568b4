#!/bin/bash
# bench.sh BUILD-DIR [PEER-LIBRARY]: runs each program of bench/ in turn. Where a peer's shared library
# is given (bench/peer.h says which functions it must have), speeds are printed as ratios against it.
set -euo pipefail
shopt -s nullglob
build=$1 peer=${2:-}
for b in "$build"/bench/bench_*; do
    [ -x "$b" ] && [ -f "$b" ] || continue
    echo "== $(basename "$b") =="
    if [ -n "$peer" ]; then "$b" --peer "$peer"; else "$b"; fi
done
