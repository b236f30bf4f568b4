#!/bin/sh
# Installs libcuzk to a scratch prefix, builds the example against it by pkg-config, runs it.
# usage: try-installed.sh CMAKE BUILD-FOLDER CC LIBDIR
set -eu
cmake=$1 build=$2 cc=$3 libdir=$4
here=$(cd "$(dirname "$0")" && pwd)
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
"$cmake" --install "$build" --prefix "$prefix" --component libcuzk >/dev/null
export PKG_CONFIG_PATH="$prefix/$libdir/pkgconfig"
# shellcheck disable=SC2046
"$cc" -std=c17 -Wall -Werror "$here/prove_toy5.c" -o "$prefix/shared" $(pkg-config --cflags --libs cuzk)
# shellcheck disable=SC2046
"$cc" -std=c17 -Wall -Werror "$here/prove_toy5.c" -o "$prefix/static" $(pkg-config --cflags cuzk) \
    "$prefix/$libdir/libcuzk.a" $(pkg-config --libs --static cuzk | sed 's/-lcuzk//')
circuit=$here/../tests/vectors/keys/toy5.r1cs.zst
LD_LIBRARY_PATH="$prefix/$libdir" "$prefix/shared" "$circuit" "$prefix/toy5.params"
"$prefix/static" "$circuit" "$prefix/toy5.params"
# nothing but the interface is exported
for name in $(nm -D --defined-only "$prefix/$libdir/libcuzk.so" | cut -d' ' -f3); do
    if ! grep -qw "$name" "$prefix"/include/cuzk/*.h; then
        echo "try-installed: libcuzk.so exports $name, which no header declares" >&2
        exit 1
    fi
done
