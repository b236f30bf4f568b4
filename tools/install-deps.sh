#!/bin/sh
# Installs from Debian what building and testing cuzk needs and is not there yet. doc/dependencies.md
# says what each is for. Does nothing, quickly, when all is there; says what to install by hand where
# this is no Debian or we are not root.
set -eu

packages="build-essential cmake ninja-build pkg-config git ca-certificates zstd jq python3 nodejs npm
clang clang-format clang-tidy libclang-rt-14-dev
libssl-dev libzstd-dev libyajl-dev libcairo2-dev libsqlite3-dev libcmocka-dev libgmp-dev"

command -v dpkg-query >/dev/null 2>&1 || {
    echo "install-deps: not a Debian system; install the equivalents of:" $packages >&2
    exit 0
}
missing=""
for p in $packages; do
    case $p in # a tool that came from elsewhere will do
    nodejs) command -v node >/dev/null 2>&1 && continue ;;
    npm | jq | zstd | git | clang | cmake | python3) command -v "$p" >/dev/null 2>&1 && continue ;;
    esac
    dpkg-query -W -f '${db:Status-Status}\n' "$p" 2>/dev/null | grep -qx installed || missing="$missing $p"
done
[ -n "$missing" ] || exit 0
echo "install-deps: installing$missing"
sudo=""
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null 2>&1 || {
        echo "install-deps: run as root:  apt-get install$missing" >&2
        exit 1
    }
    sudo=sudo
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
{ $sudo apt-get update && $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing; } \
    >"$log" 2>&1 || {
    tail -20 "$log" >&2
    echo "install-deps: apt-get failed; install by hand:$missing" >&2
    exit 1
}
