#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check-headers.sh BUILD_DIR: does each public header, and each that stepc and metatfc make, compile
# alone, as C11 and as C++17?
set -euo pipefail
build=$(readlink -f "$1")
cd "$(dirname "$0")/.."
include=(-I format/include -I "$build/format/generated")
shopt -s nullglob
headers=(format/include/steptrace/*.h "$build"/format/generated/steptrace/*.h "$build"/examples/*_trace.h)
status=0
# try LANGUAGE COMPILER FLAG...
try() {
    local language=$1 header
    shift
    for header in "${headers[@]}"; do
        "$@" -Wall -Wextra -Wpedantic -Werror -fsyntax-only "${include[@]}" -include "$header" /dev/null ||
            { echo "not $language: $header" && status=1; }
    done
    echo "$language: ${#headers[@]} headers"
}
try C11 "${CC:-cc}" -std=c11 -x c
if command -v "${CXX:-c++}" >/dev/null; then
    try C++17 "${CXX:-c++}" -std=c++17 -x c++
fi
exit $status
