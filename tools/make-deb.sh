#!/bin/bash
# make-deb.sh BUILD-DIR [OUTPUT-DIR]: a Debian package that installs rssmon alone, from a configured
# build directory. Needs dpkg-deb and dpkg-shlibdeps (dpkg-dev).
set -euo pipefail
[ $# -ge 1 ] || { echo "usage: make-deb.sh BUILD-DIR [OUTPUT-DIR]" >&2; exit 2; }
build=$(realpath "$1")
source=$(realpath "$(dirname "$0")/..")
output=$(realpath "${2:-$build}")
version=$(sed -n 's/^project(cuzk VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
architecture=$(dpkg --print-architecture)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

cmake --build "$build" --target rssmon >/dev/null
DESTDIR=$root/pkg cmake --install "$build" --component rssmon --prefix /usr --strip >/dev/null
{
    printf 'rssmon is part of cuzk, under either of the two licences below.\n\n'
    cat "$source/LICENSE-MIT" "$source/LICENSE-APACHE"
} >"$root/pkg/usr/share/doc/rssmon/copyright"
gzip -9n "$root"/pkg/usr/share/man/man1/rssmon.1

# what the program's libraries are called here
mkdir -p "$root/debian" "$root/pkg/DEBIAN"
printf 'Source: rssmon\n\nPackage: rssmon\nArchitecture: any\n' >"$root/debian/control"
depends=$(cd "$root" && dpkg-shlibdeps -O pkg/usr/bin/rssmon 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
cat >"$root/pkg/DEBIAN/control" <<CONTROL
Package: rssmon
Version: $version
Architecture: $architecture
Maintainer: cuzk maintainers <maintainers@localhost>
Installed-Size: $(du -sk "$root/pkg/usr" | cut -f1)
Depends: $depends
Section: utils
Priority: optional
Description: watch the memory of a process and say how it ended
 Follows the resident memory of a process, its children or a cgroup, with a
 bound on the error of its peak; writes a log of plain lines that survives
 whatever kills the monitor; names how the target died, also when it was the
 kernel's OOM killer; draws, reports and compares logs.
CONTROL
(cd "$root/pkg" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/pkg/DEBIAN/md5sums"
package=$output/rssmon_${version}_$architecture.deb
dpkg-deb --root-owner-group --build "$root/pkg" "$package" >/dev/null
echo "$package"
