#!/bin/bash
# rssmon-compare.sh RSSMON: puts rssmon, pidstat, mprof, GNU time and a cgroup's high water mark before
# the same targets (rssmon_target.c) and prints what each said, as Markdown. The tools come from Debian:
# sysstat, python3-memory-profiler, time. One that is missing is said to be.
set -uo pipefail
rssmon=$(realpath "${1:?usage: rssmon-compare.sh RSSMON}")
here=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"; [ -n "${cg:-}" ] && rmdir "$cg" 2>/dev/null' EXIT
cc -O2 -D_GNU_SOURCE -pthread -o "$work/target" "$here/rssmon_target.c" || exit 1
cd "$work" || exit 1
mib() { awk -v b="${1:-}" 'BEGIN { if (b == "") print "—"; else printf "%.1f", b / 1048576 }'; }
truth() { sed -n 's/^truth //p' out; }

# follow PID: CPU seconds of a running tool, its children not counted; into the file `cpu`
follow() {
    while read -r line <"/proc/$1/stat"; do
        set -- "$1" ${line##*) }
        echo "$((${13} + ${14}))" >cpu
        sleep 0.1
    done 2>/dev/null
}
tool_cpu() { awk -v t="$(cat cpu 2>/dev/null || echo 0)" -v h="$(getconf CLK_TCK)" 'BEGIN { printf "%.2f", t / h }'; }

# attach KIND COMMAND…: starts the target, then the tool with @PID@ replaced
attach() {
    local kind=$1 pid tool
    shift
    rm -f cpu tool.out
    ./target "$kind" >out 2>&1 &
    local job=$!
    until pid=$(sed -n 's/^pid //p' out) && [ -n "$pid" ]; do sleep 0.02; done
    # shellcheck disable=SC2086
    "${@//@PID@/$pid}" >tool.out 2>tool.err &
    tool=$!
    follow $tool &
    wait $job 2>/dev/null
    for _ in $(seq 40); do kill -0 $tool 2>/dev/null || break; sleep 0.1; done
    kill -INT $tool 2>/dev/null
    sleep 0.2
    kill -TERM $tool 2>/dev/null
    wait $tool 2>/dev/null
    wait
}

row() { echo "| $1 | $2 | $3 | $4 | $5 |"; }

run_rssmon() {
    rm -f r.log
    attach "$1" "$rssmon" -q --no-gpu ${3:-} -l r.log --pid @PID@
    local json
    json=$("$rssmon" report --json r.log)
    local peak cpu zeros
    peak=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["peak_rss_bytes"])' <<<"$json")
    cpu=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["monitor_cpu_s"])' <<<"$json")
    zeros=$(grep -c '"k":"sample".*"rss":0,' r.log)
    row "rssmon ${3:-}" "$(mib "$peak") MiB" "$(awk -v c="$cpu" 'BEGIN { printf "%.2f", c }') s" "$(stat -c %s r.log)" "$2$zeros zeros; $(grep -o '"death":"[^"]*","code":[0-9]*' r.log | tail -1 | tr -d '"')"
}
run_pidstat() {
    command -v pidstat >/dev/null || { row pidstat "not installed" "" "" ""; return; }
    LC_ALL=C attach "$1" stdbuf -oL pidstat -r -h -p @PID@ 1
    local peak zeros
    # the RSS column, by its name in the header line
    peak=$(awk '/^#/ { for (i = 2; i <= NF; i++) if ($i == "RSS") c = i - 1 } !/^#/ && c && $c > m { m = $c } END { if (m) print m * 1024 }' tool.out)
    zeros=$(awk '/^#/ { for (i = 2; i <= NF; i++) if ($i == "RSS") c = i - 1 } !/^#/ && NF && c && $c == 0' tool.out | grep -c '[0-9]')
    row "pidstat -r -p PID 1" "$(mib "$peak") MiB" "$(tool_cpu) s" "$(stat -c %s tool.out)" "$zeros zeros"
}
run_mprof() {
    local mprof
    mprof=$(command -v python3-mprof || command -v mprof) || { row mprof "not installed" "" "" ""; return; }
    rm -f cpu m.dat
    "$mprof" run ${2:-} -T 0.1 -o m.dat ./target "$1" >out 2>tool.err &
    local tool=$!
    follow $tool &
    wait $tool
    wait
    local peak zeros
    peak=$(awk '$1 == "MEM" && $2 > m { m = $2 } END { if (m) printf "%.0f", m * 1048576 }' m.dat)
    zeros=$(awk '$1 == "MEM" && $2 == 0' m.dat | wc -l)
    row "mprof run ${2:-} -T 0.1" "$(mib "$peak") MiB" "$(tool_cpu) s" "$(stat -c %s m.dat 2>/dev/null || echo 0)" "$zeros zeros"
}
run_time() {
    [ -x /usr/bin/time ] || { row "GNU time" "not installed" "" "" ""; return; }
    /usr/bin/time -o t.out -f 'max %M' ./target "$1" >out 2>/dev/null
    row "GNU time" "$(mib "$(sed -n 's/^max \([0-9]*\)$/\1/p' t.out | awk '{ print $1 * 1024 }')") MiB" "0 s" "—" "after the end only; $(grep -o 'terminated by signal [0-9]*' t.out)"
}
run_cgroup() {
    cg=/sys/fs/cgroup/memory/rssmon-compare-$$ peak_file=memory.max_usage_in_bytes
    if ! mkdir "$cg" 2>/dev/null; then
        cg=/sys/fs/cgroup/rssmon-compare-$$ peak_file=memory.peak
        mkdir "$cg" 2>/dev/null || { row "cgroup high water" "no cgroup can be made here" "" "" ""; cg=; return; }
    fi
    sh -c 'echo $$ >"$0"/cgroup.procs && exec ./target "$1"' "$cg" "$1" >out 2>/dev/null
    row "cgroup $peak_file" "$(mib "$(cat "$cg/$peak_file" 2>/dev/null)") MiB" "0 s" "—" "with page cache, tables and kernel memory"
    sleep 0.2
    rmdir "$cg"
    cg=
}

title() { echo; echo "### $1"; echo; echo "| tool | peak | its CPU time | log, bytes | |"; echo "|---|---|---|---|---|"; }
echo "Linux $(uname -r), $(nproc) CPUs; $("$rssmon" --version); $(pidstat -V 2>&1 | head -1); memory_profiler $(dpkg-query -W -f '${Version}' python3-memory-profiler 2>/dev/null || echo none)"
title "200 MiB and ten transients of 256 MiB"
run_rssmon spikes ""
run_pidstat spikes
run_mprof spikes
run_time spikes
run_cgroup spikes
echo "| **truth**, by the target's own statm | $(mib "$(truth)") MiB | | | |"
title "The leader exited, a thread with 200 MiB lives on"
run_rssmon zombie ""
run_pidstat zombie
run_mprof zombie
run_time zombie
run_cgroup zombie
echo "| **truth** | 200 MiB and a few pages | | | |"
title "256 MiB shared by four forked children"
run_rssmon forks "" --tree
run_pidstat forks
run_mprof forks --include-children
run_time forks
run_cgroup forks
echo "| **truth** | 256 MiB and a few pages | | | |"
title "1 GiB, killed"
run_rssmon large ""
run_pidstat large
run_mprof large
run_time large
run_cgroup large
echo "| **truth** | 1,024 MiB and a few pages; SIGKILL, sent by itself | | | |"
