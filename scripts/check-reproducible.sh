#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check-reproducible.sh [DIRECTORY]: builds the last commit twice, in directories of other names and lengths, at
# another time zone, language and mask, and compares what both install, byte by byte. Without ccache, so it takes
# twice a build: .ci/run does not call it, a release does (CONTRIBUTING.md).
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-$top/build-reproducible}
mkdir -p "$out"
out=$(realpath "$out")
rm -rf "$out"/*
SOURCE_DATE_EPOCH=$(git -C "$top" log -1 --format=%ct)
commit=$(git -C "$top" rev-parse --short HEAD)
export SOURCE_DATE_EPOCH CCACHE_DISABLE=1

# build TREE: into TREE/stage.
build() (
    mkdir -p "$1/source"
    git -C "$top" archive HEAD | tar -x -C "$1/source"
    cmake -S "$1/source" -B "$1/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSTEPTRACE_TESTS=OFF \
        -DSTEPTRACE_PYTHON=OFF -DSTEPTRACE_STATIC="${STEPTRACE_STATIC:-OFF}" -DSTEPTRACE_COMMIT="$commit" \
        -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_INSTALL_PREFIX=/usr
    cmake --build "$1/build" -j "${JOBS:-$(nproc)}"
    DESTDIR=$1/stage cmake --install "$1/build" --strip
)

log=$out/build.log
(umask 022 && TZ=UTC LC_ALL=C build "$out/a") >"$log" 2>&1 || { tail -n 20 "$log" >&2 && exit 1; }
(umask 077 && TZ=Asia/Tokyo LC_ALL=C.UTF-8 build "$out/another-directory/with a blank") >>"$log" 2>&1 ||
    { tail -n 20 "$log" >&2 && exit 1; }

cd "$out"
diff -r a/stage "another-directory/with a blank/stage" || { echo 'check-reproducible: these differ' >&2 && exit 1; }
count=$(find a/stage -type f | wc -l)
[ "$count" -gt 100 ] || { echo "check-reproducible: only $count files" >&2 && exit 1; }
(cd a/stage && find . -type f -print0 | sort -z | xargs -0 sha256sum) >sums
echo "reproducible: $count files of commit $commit are equal; $(find a/stage -type f -name libtracer.so -exec sha256sum {} + | cut -c1-16) is libtracer.so"
