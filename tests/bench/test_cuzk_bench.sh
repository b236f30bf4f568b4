#!/bin/bash
# Runs cuzk-bench against commands whose time, memory and failures are known by construction.
set -u
bench=$1 rssmon=$2 cuzk=$3 keys=$4
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
passed=0 failed=0
check() { # check NAME CONDITION…: the condition is a command
    local name=$1
    shift
    if "$@" >check.out 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $name"
        sed 's/^/    /' check.out | head -20
    fi
}
exits() { # exits CODE COMMAND…
    local want=$1
    shift
    "$@" >out 2>err
    local rc=$?
    cat out err
    [ $rc -eq "$want" ]
}
json() { # json FILTER FILE: jq's truth
    jq -e "$1" "$2"
}
run() { "$bench" run --rssmon "$rssmon" --revision "$rev" "$@"; }
rev=aaa

# figures: times and memory that differ by construction, warm-up apart, cells interleaved
run --db a.db --name known --proofs 3 --warmup 1 --set size=20,60 --json -- \
    sh -c 'head -c {size}000000 /dev/zero | tail -n 1 | wc -c' >a.json 2>a.err
check "two cells of three runs each" json '.cells | length == 2 and all(.seconds_per_proof.n == 3)' a.json
check "the larger one has the larger peak" json \
    '[.cells[] | {(.settings): .peak_rss_bytes.mean}] | add | .["size=60"] > .["size=20"] + 30e6' a.json
check "the peak is the data's size within 12 MB" json \
    '[.cells[] | {(.settings): .peak_rss_bytes.mean}] | add | .["size=60"] > 60e6 and .["size=60"] < 72e6' a.json
check "proofs an hour a GiB follow from the two" json \
    '.cells[0] | (3600 / .seconds_per_proof.mean / (.peak_rss_bytes.mean / 1073741824) / .proofs_per_hour_per_gib - 1) | fabs < 1e-3' a.json
check "a log for each run, named for its settings" test "$(ls a.logs/*known-size=20-*.log | wc -l)" -eq 4
check "the log names the run's peak" bash -c '"$1" report --json a.logs/*known-size=60-0.log | jq -e ".peak_rss_bytes > 60e6"' _ "$rssmon"
check "rounds take the cells in turn" bash -c 'grep -oE "size=[0-9]+ +run +[0-9]" a.err | tr -s " " | paste -sd" " | grep -qE "size=20 run 1.*size=20 run 2|size=60 run 1.*size=60 run 2"'
check "copies at once count as proofs" bash -c '
    "$1" run --rssmon "$2" --revision x --db j.db --proofs 2 --warmup 0 --set j=1,3 --json -- sleep 0.4 2>/dev/null |
    jq -e "[.cells[] | {(.settings): .seconds_per_proof.mean}] | add | .[\"j=1\"] > 0.38 and .[\"j=3\"] < 0.3"' _ "$bench" "$rssmon"

# comparisons
run --db a.db --name known --tag second --proofs 3 --set size=20,60 -- sh -c 'head -c {size}000000 /dev/zero | tail -n 1 | wc -c' >/dev/null 2>&1
check "the same twice compares" exits 0 "$bench" compare --db a.db 1 2
check "its memory did not grow by half" exits 0 "$bench" compare --db a.db --max-increase 50 1 second
check "an experiment with itself is refused" exits 4 "$bench" compare --db a.db 1 1
run --db a.db --name other --proofs 4 --set size=20 -- sh -c 'head -c {size}1000000 /dev/zero | tail -n 1 | wc -c' >/dev/null 2>&1
check "another command is refused" exits 4 "$bench" compare --db a.db 1 other
check "and says that it is the command" grep -q "the command of A is" err
check "--force compares, and finds the growth" exits 1 "$bench" compare --db a.db --force --max-increase 50 1 other
echo key >k1; echo other >k2
run --db a.db --name key-one --key k1 --proofs 1 -- true >/dev/null 2>&1
run --db a.db --name key-two --key k2 --proofs 1 -- true >/dev/null 2>&1
check "another key is refused" exits 4 "$bench" compare --db a.db key-one key-two
check "and says that it is the key" grep -q "the key of A is" err

# interruption: killed between two runs, then resumed; nothing twice, nothing lost
(run --db r.db --name long --proofs 4 --warmup 1 -- sleep 0.3 >/dev/null 2>&1 & echo $! >pid; wait) &
sleep 0.9
kill -TERM "$(cat pid)" 2>/dev/null; pkill -TERM -f -- "--name long" 2>/dev/null
wait
before=$("$bench" list --db r.db --json | jq '.[0].runs')
check "some runs were recorded before the interruption, not all" test "$before" -ge 1 -a "$before" -lt 4
check "--resume does what is missing" exits 0 run --db r.db --name long --proofs 4 --warmup 1 --resume -- sleep 0.3
check "one experiment, four runs" json 'length == 1 and .[0].runs == 4' <("$bench" list --db r.db --json)
check "--resume with nothing missing" exits 0 run --db r.db --name long --proofs 4 --warmup 1 --resume -- sleep 0.3
check "runs nothing" bash -c '! grep -qE " run +[0-9]" err' _
rev=bbb
check "--resume with other sources is refused" exits 4 run --db r.db --name long --proofs 4 --warmup 1 --resume -- sleep 0.3
rev=aaa
check "--resume of what is not there" exits 3 run --db r.db --name none --resume -- true

# failures and bad input
check "a command that fails ends the experiment" exits 5 run --db f.db --proofs 2 -- sh -c 'exit 7'
check "the failure is in the file" json '.cells[0].failed == 2' <(run --db g.db --proofs 2 --warmup 0 --keep-going --json -- sh -c 'exit 7' 2>/dev/null)
check "with --keep-going too the end says so" exits 5 run --db g.db --proofs 2 --warmup 0 --keep-going -- sh -c 'exit 7'
check "a peak that is not known is called so" exits 5 run --db g.db --proofs 1 --warmup 0 -- ./none
check "by that word" grep -q "peak unknown" err
check "an answer that is lost" exits 6 bash -c '"$0" list --db r.db >/dev/full' "$bench"
check "a command that is not there" exits 5 run --db f.db --proofs 1 -- ./none
check "no command" exits 2 run --db f.db
check "a setting without values" exits 2 run --db f.db --set x= -- true
check "a setting twice" exits 2 run --db f.db --set x=1 --set x=2 -- true
check "copies that are no number" exits 2 run --db f.db --set j=many -- true
check "no such results file" exits 3 "$bench" report --db none.db
echo "not a database, but long enough to be looked at as one" >bad.db
check "a file that is no results file" exits 6 "$bench" report --db bad.db
check "no such experiment" exits 3 "$bench" report --db a.db 99
check "rows cannot be deleted" bash -c '! python3 -c "import sqlite3; sqlite3.connect(\"a.db\").execute(\"DELETE FROM run\")"'
check "unknown command" exits 2 "$bench" dance
check "sweep names a knee and draws" exits 0 "$bench" sweep --db a.db -o s.svg 1
check "the picture is one" grep -q "</svg>" s.svg
check "sweep as JSON" json '.knee == "size=20" and (.front | length) >= 1' <("$bench" sweep --db a.db --json 1)
check "smoke" exits 0 "$bench" smoke
"$cuzk" setup "$keys/toy5.r1cs.zst" --out toy5.params --vk toy5.vk >/dev/null
check "smoke on proofs of a toy circuit" exits 0 "$bench" --smoke -- "$cuzk" prove --params "$dir/toy5.params" \
    --r1cs "$keys/toy5.r1cs.zst" --out "$dir/toy5.bin" --threads '{size}' --json
check "the last proof of it is valid" exits 0 "$cuzk" verify --vk toy5.vk --proof toy5.bin --r1cs "$keys/toy5.r1cs.zst"
check "help" exits 0 "$bench" --help
check "version" exits 0 "$bench" --version
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
