#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# readme-examples.sh [--update] [BUILD_DIR [PAGE...]]: runs the commands of pages (see `pages`) with the programs of a
# build (default: build) and checks that they work and that what they print has the shape shown.
# --update puts what they print into the pages.
set -euo pipefail
update=()
[ "${1:-}" != --update ] || { update=(--update) && shift; }
top=$(cd "$(dirname "$0")/.." && pwd)
build=$(readlink -f "${1:-$top/build}")
. "$top/scripts/deps.sh"

steptrace=$(find "$build" -name steptrace -type f -perm -u+x | head -n 1)
agent=$(find "$build" -name libtracer.so -type f | head -n 1)
jdk=$(deps_jdks | awk '$1 >= 17 { print $2; exit }')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

shift $(($# > 0 ? 1 : 0))
pages=(README.md docs/tutorial.md docs/library.md docs/troubleshooting.md docs/phases.md docs/start/*.md docs/answers/*.md docs/python.md)
[ $# -gt 0 ] || set -- "${pages[@]}"

library=$build/format
step="-I$top/format/include -L$library -Wl,-rpath,$library -lsteptrace"
export PATH=$(dirname "$steptrace"):$build/bin:$jdk/bin:$PATH agent step
export shop=$top/examples/shop/WebShop.java # what the pages in docs/answers ask about
export PYTHONPATH=$build/python python=/usr/bin/python3
for page in "$@"; do
    if [ "$page" = docs/python.md ] && ! "$python" -c 'import pandas, steptrace' 2>/dev/null; then
        echo "$page: no pandas (python3-pandas), or the Python package was not built: not run"
        continue
    fi
    mkdir -p "$work/$page"
    python3 "$top/scripts/readme-examples.py" "${update[@]}" "$top/$page" "$work/$page"
done
