#!/bin/bash
# run-tests.sh LABEL BUILD-DIR…: runs the tests of some builds with ctest and adds their cases up.
# LABEL is `unit` (everything that is not slow) or `slow`. Prints each failure's output, and last the
# line `N passed, N failed` (with `, N skipped` behind it where there are some, each named): single
# cases where a test program counts them (cmocka, or our own `N passed, N failed`), else one a program.
# Exit 1 if anything failed, did not run, or nothing ran.
set -uo pipefail
label=$1
shift
passed=0 failed=0 skipped=0
for build in "$@"; do
    log=$(mktemp)
    case $label in
    slow) select=(-L slow) ;;
    *) select=(-LE slow) ;;
    esac
    echo "== $(basename "$build") =="
    ctest --test-dir "$build" "${select[@]}" -j "${CUZK_TEST_JOBS:-2}" --no-tests=error -V >"$log" 2>&1
    rc=$?
    read -r p f s < <(python3 - "$log" <<'PY'
import re, sys

text = open(sys.argv[1], errors="replace").read()
cases = {}      # test number -> [passed, failed] counted inside
result = {}     # test number -> ctest's own verdict
for line in text.splitlines():
    m = re.match(r"\s*(\d+): (?:\[  PASSED  \] (\d+) test\(s\)|\[  FAILED  \] (\d+) test\(s\)|(?:\w+: )?(\d+) passed, (\d+) failed)", line)
    if m:
        c = cases.setdefault(m[1], [0, 0])
        c[0] += int(m[2] or m[4] or 0)
        c[1] += int(m[3] or m[5] or 0)
    m = re.match(r"\s*\d+/\d+ Test\s+#(\d+): (\S+) \.*\s*(.*)$", line)
    if m:
        result[m[1]] = (m[3], m[2])
p = f = s = 0
for number, (verdict, name) in result.items():
    inside = cases.get(number, [0, 0])
    if "Skipped" in verdict:
        s += 1
        print(f"skipped: {name} (no device of its kind here)", file=sys.stderr)
    elif "Passed" in verdict:
        p += max(inside[0], 1)
        f += inside[1]
    else:
        p += inside[0]
        f += max(inside[1], 1)
print(p, f, s)
PY
    )
    passed=$((passed + p))
    failed=$((failed + f))
    skipped=$((skipped + s))
    if [ $rc -ne 0 ]; then
        [ "$f" -gt 0 ] || failed=$((failed + 1))
        grep -E 'FAILED|\*\*\*|error:|ERROR|Assertion|runtime error|Sanitizer|rror: ' "$log" | head -60
        echo "-- the end of the log --"
        tail -40 "$log"
    else
        grep -E 'tests passed|Total Test time' "$log"
    fi
    rm -f "$log"
done
tail=""
[ "$skipped" -eq 0 ] || tail=", $skipped skipped"
echo "$passed passed, $failed failed$tail"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
