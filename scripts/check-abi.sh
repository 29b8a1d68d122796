#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check-abi.sh [--update] LIBRARY: do programs that were linked with the last release (tests/abi) run with
# this library?  What is new is welcome; what is gone or changed needs another soname (format/CMakeLists.txt),
# and then a new baseline, which --update makes.  Skipped where abigail-tools is missing.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
update=
[ "${1:-}" != --update ] || { update=1 && shift; }
library=$1
baseline=$top/tests/abi/libsteptrace-0.2.abi.xz
command -v abidiff >/dev/null || { echo "abigail-tools is not installed: skipped" && exit 77; }
if [ -n "$update" ]; then
    abidw --no-corpus-path --no-comp-dir-path --headers-dir "$top/format/include" "$library" | xz -9 >"$baseline"
    exit
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
xz -dc "$baseline" >"$scratch/release.abi"
code=0
abidiff --no-added-syms --headers-dir2 "$top/format/include" "$scratch/release.abi" "$library" >"$scratch/changes" || code=$?
# bits: 1 and 2 failures, 4 a change, 8 one that breaks programs
[ $((code & 11)) = 0 ] || { cat "$scratch/changes" && exit 1; }
echo "ABI of the last release is kept"
