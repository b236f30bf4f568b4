#!/bin/bash
# package.sh BUILD-DIR: makes the Debian package, unpacks it, and runs what it holds.
set -euo pipefail
tools=$(realpath "$(dirname "$0")/../../tools")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
package=$("$tools/make-deb.sh" "$1" "$work")
dpkg-deb -x "$package" "$work/root"
fail() { echo "package: $*"; exit 1; }
[ "$(dpkg-deb -f "$package" Package)" = rssmon ] || fail "wrong name"
dpkg-deb -f "$package" Depends | grep -q 'libc6' || fail "no dependency on libc6"
find "$work/root" -type f | grep -vE '/(rssmon|rssmon\.1\.gz|rssmon-log\.md|copyright|_rssmon|rssmon\.fish)$' && fail "installs more than rssmon"
"$work/root/usr/bin/rssmon" -q --no-gpu -l "$work/a.log" -- true || fail "what it installs does not run"
"$work/root/usr/bin/rssmon" report "$work/a.log" | grep -q 'exit code 0' || fail "no report"
gzip -dc "$work/root/usr/share/man/man1/rssmon.1.gz" | grep -q '^.Dt RSSMON 1' || fail "no manual"
bash -n "$work/root/usr/share/bash-completion/completions/rssmon" || fail "completion does not parse"
echo "1 passed, 0 failed"
