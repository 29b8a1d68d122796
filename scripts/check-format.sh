#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check-format.sh [--fix]: is all C source as clang-format has it?  --fix makes it so.  Is no line of
# CMake longer than 99 characters?
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -t sources < <(find agent analyses capture compilers converter examples format \
    java-tests malloc-recorder python tests -name '*.[ch]' | sort)
if [ "${1:-}" = --fix ]; then
    clang-format -i "${sources[@]}"
    exit 0
fi
status=0
# One call for many files, which is much quicker; only those that it names are compared again.
mapfile -t faulty < <(printf '%s\0' "${sources[@]}" | xargs -0 -n 64 clang-format --dry-run 2>&1 |
    sed -n 's/^\([^:]*\):[0-9]*:[0-9]*: warning: .*/\1/p' | sort -u)
for source in "${faulty[@]}"; do
    clang-format "$source" | diff -u --label "$source" --label "clang-format $source" "$source" - ||
        status=1
done
[ "$status" = 0 ] || echo "scripts/check-format.sh --fix mends this"

git ls-files '*CMakeLists.txt' '*.cmake' |
    xargs awk 'length > 99 { print FILENAME ":" FNR ": " length " characters"; bad = 1 } END { exit bad }' || status=1
exit "$status"
