#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check-tidy.sh BUILD_DIR [JOBS]: clang-tidy, with the list in .clang-tidy, over all C sources that
# the build compiles.
set -euo pipefail
build=$(readlink -f "$1")
jobs=${2:-$(nproc)}
cd "$(dirname "$0")/.."
# Where all C stands; check-format.sh has the same list.
find agent analyses capture compilers converter examples format java-tests malloc-recorder tests -name '*.c' |
    while read -r source; do
        if grep -qF "$PWD/$source\"" "$build/compile_commands.json"; then
            printf '%s\0' "$source"
        else
            echo "not in this build: $source" >&2
        fi
    done |
    xargs -0 -r -n 16 -P "$jobs" clang-tidy --quiet -p "$build" 2>&1 |
    { grep -vE '^[0-9]+ warnings? generated|^Suppressed|^Use -header-filter' || true; }
