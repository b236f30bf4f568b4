#!/bin/bash
# lint.sh: what is held of the sources without running them: the form, the arrows between folders,
# generated files, links to nothing outside of the project. Each check names the file and the remedy.
set -uo pipefail
cd "$(dirname "$0")/.."
fail=0
note() { echo "lint: $*"; fail=1; }

mapfile -t sources < <(git ls-files '*.c' '*.h' | grep -v '/constants\.h$' | grep -v 'generated')
if command -v clang-format >/dev/null; then
    bad=$(clang-format --dry-run "${sources[@]}" 2>&1 | grep -o '^[^:]*' | sort -u)
    [ -z "$bad" ] || note "not in the project's form (run make format): $(echo $bad)"
else
    note "clang-format is not installed (tools/install-deps.sh)"
fi
tools/check-arrows || fail=1
tools/gen_constants.py --check || fail=1
git grep -nE '[.][.]/shared|/wor[k]/' -- . && note "names a path outside of the project"
size=$(git ls-files -z tests/vectors | xargs -0 -r stat -c %s 2>/dev/null | awk '{t += $1} END {print int(t / 1e6)}')
[ "${size:-0}" -le 30 ] || note "tests/vectors holds $size MB; at most 30"
git ls-files -z '*.cpp' '*.cc' '*.cxx' '*.hpp' | grep -qz . && note "C++ on the host side: C17 only (.cu excepted)"
[ $fail -eq 0 ] && echo "lint: ok"
exit $fail
