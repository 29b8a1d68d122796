#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# packages.sh [--build-only] [--keep] [DIRECTORY]: builds the Debian packages into DIRECTORY (default:
# build-packages), asks lintian, and tries them in a fresh system (debootstrap, as root): installs them, runs
# the examples of the tutorial and the library's page with them, builds a program against the library, purges them, looks whether
# anything is left, installs them again.  --keep leaves the system in DIRECTORY/root.
# packages.sh --tarball [DIRECTORY]: builds steptrace-VERSION-linux-MACHINE.tar.gz, which needs glibc alone.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/scripts/deps.sh"
build_only='' keep='' tarball=''
while [ $# -gt 0 ]; do
    case $1 in
        --build-only) build_only=1 ;;
        --keep) keep=1 ;;
        --tarball) tarball=1 ;;
        --*) echo "packages.sh: unknown option '$1'" >&2 && exit 2 ;;
        *) break ;;
    esac
    shift
done
out=${1:-$top/build-packages}
mkdir -p "$out"
out=$(realpath "$out")
deps_install build packages

version=$(sed -n '1s/.*(\(.*\)-.*/\1/p' "$top/debian/changelog")
source=$out/steptrace-$version
unpack_source() {
    rm -rf "$source"
    git -C "$top" archive HEAD --prefix="steptrace-$version/" | tar -x -C "$out"
}

# say_minutes PID: a line every 20 s while the process runs.
say_minutes() {
    local started=$SECONDS
    while sleep 20 && kill -0 "$1" 2>/dev/null; do
        echo "  ... building for $((SECONDS - started)) s (the log is $out/build.log)"
    done
}

# build COMMAND...: runs it, its output in the log.
build() {
    local status=0 ticker
    say_minutes $$ &
    ticker=$!
    "$@" >"$out/build.log" 2>&1 || status=$?
    kill "$ticker" 2>/dev/null || true
    wait "$ticker" 2>/dev/null || true
    [ "$status" = 0 ] || { tail -n 30 "$out/build.log" >&2 && exit 1; }
}

# A tree that runs wherever it is unpacked: the command finds the agent by its own place.
tarball() {
    local machine name stage=$out/stage tree=$out/build-tarball commit
    machine=$(dpkg --print-architecture) name=steptrace-$version-linux-$machine commit=$(git -C "$top" rev-parse --short HEAD)
    rm -rf "$tree" "$stage"
    cmake -S "$source" -B "$tree" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSTEPTRACE_TESTS=OFF -DSTEPTRACE_PYTHON=OFF \
        -DSTEPTRACE_STATIC=ON -DSTEPTRACE_COMMIT="$commit" -DCMAKE_INSTALL_LIBDIR=lib
    cmake --build "$tree" -j "$(nproc)"
    local component
    for component in runtime agent java; do
        cmake --install "$tree" --component "$component" --prefix "$stage/$name" --strip
    done
    rm -rf "$stage/$name/share/maven-repo" # the link of a Maven repository of Debian's
    cp "$source/LICENSE" "$source/CHANGELOG.md" "$tree/steptrace.spdx.json" "$stage/$name/"
    tar -C "$stage" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git -C "$top" log -1 --format=%ct)" \
        -cf - "$name" | gzip -9n >"$out/$name.tar.gz"
    rm -rf "$tree" "$stage"
}

unpack_source
if [ -n "$tarball" ]; then
    rm -f "$out"/*.tar.gz
    build tarball
    rm -rf "$source"
    ls "$out"/*.tar.gz
    exit 0
fi
rm -f "$out"/*.deb
packages() (
    cd "$source"
    DEB_BUILD_OPTIONS="nocheck parallel=$(nproc)" PATH=/usr/sbin:/usr/bin:/sbin:/bin dpkg-buildpackage -b -us -uc
)
build packages
rm -rf "$source"
lintian --allow-root --fail-on error,warning "$out"/*.changes
echo "lintian: no errors, no warnings"
ls "$out"/*.deb
[ -z "$build_only" ] || exit 0

root=$out/root
clean() {
    umount "$root/proc" "$root/dev/pts" 2>/dev/null || true
    [ -n "$keep" ] || rm -rf --one-file-system "$root"
}
umount "$root/proc" "$root/dev/pts" 2>/dev/null || true # of a run that was killed
rm -rf --one-file-system "$root"
codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
debootstrap --variant=minbase "$codename" "$root" >"$out/debootstrap.log" 2>&1 ||
    { tail -n 20 "$out/debootstrap.log" && exit 1; }
trap clean EXIT
mount -t proc proc "$root/proc"
mount -t devpts devpts "$root/dev/pts"
cp /etc/resolv.conf "$root/etc/"
mkdir -p "$root/work/scripts"
cp "$out"/*.deb "$root/work/"
rm -f "$root/work/"*-dbgsym_*.deb
cp "$top/docs/tutorial.md" "$top/docs/library.md" "$root/work/"
cp "$top/scripts/readme-examples.py" "$root/work/scripts/"
there() { # in the new system
    chroot "$root" env DEBIAN_FRONTEND=noninteractive DEBCONF_NOWARNINGS=yes PATH=/usr/sbin:/usr/bin:/sbin:/bin \
        sh -euc "cd /work; $*"
}
install='apt-get -qq install -y --no-install-recommends ./*.deb >/dev/null'

there "apt-get -qq update; $install"
there 'apt-get -qq install -y --no-install-recommends openjdk-17-jdk-headless gcc libc6-dev pkgconf perl gawk \
    unzip python3 mawk >/dev/null'
there "mkdir -p /work/examples"
there 'agent=$(steptrace version --agent-path) step=$(pkg-config --cflags --libs steptrace); export agent step
    for page in tutorial library; do python3 scripts/readme-examples.py $page.md /work/examples; done'
there 'apt-get -qq install -y --no-install-recommends python3-numpy >/dev/null'
there 'cd /work/examples; python3 -c "import steptrace; sizes = steptrace.open(\"words.step\").objects(columns=[\"size\"]).read()
print(\"python3-steptrace:\", len(sizes[\"size\"]), \"objects,\", int(sizes[\"size\"].sum()), \"bytes\")"'
there 'steptrace version; man=/usr/share/man; ls $man/man1/steptrace-check.1.gz $man/man7/libtracer.7.gz >/dev/null'
there 'cd examples; java -javaagent:/usr/share/java/steptrace.jar=file=jar.step -version 2>/dev/null; steptrace check jar.step'
packages='python3-steptrace steptrace libsteptrace0 libsteptrace-dev libsteptrace-java libsteptrace-java-agent steptrace-doc'
there "apt-get -qq purge -y $packages >/dev/null"
left=$(find "$root/usr" "$root/etc" "$root/var/lib/dpkg/info" -name '*steptrace*' -o -name 'libtracer*')
[ -z "$left" ] || { echo "left after purging: $left" && exit 1; }
there "$install; steptrace version >/dev/null"
echo "packages: built, installed, examples run, purged without a rest, installed again"
