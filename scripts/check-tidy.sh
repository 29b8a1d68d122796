#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check-tidy.sh BUILD_DIR [JOBS]: clang-tidy, with the list in .clang-tidy, over the sources of the
# library, the agent and the converter.
set -euo pipefail
build=$(readlink -f "$1")
jobs=${2:-$(nproc)}
cd "$(dirname "$0")/.."
find agent capture compilers converter format -name '*.c' -print0 |
    xargs -0 -r -n 4 -P "$jobs" clang-tidy --quiet -p "$build" 2>&1 |
    { grep -vE '^[0-9]+ warnings? generated|^Suppressed|^Use -header-filter' || true; }
