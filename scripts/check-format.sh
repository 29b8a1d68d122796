#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check-format.sh [--fix]: is all C source as clang-format has it?  --fix makes it so.  Does each
# source name its licence, and is no line of CMake longer than 99 characters?
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -t sources < <(find agent capture compilers converter examples format \
    java-tests malloc-recorder python tests -name '*.[ch]' | sort)
if [ "${1:-}" = --fix ]; then
    clang-format -i "${sources[@]}"
    exit 0
fi
status=0
for source in "${sources[@]}"; do
    clang-format "$source" | diff -u --label "$source" --label "clang-format $source" "$source" - ||
        status=1
done
[ "$status" = 0 ] || echo "scripts/check-format.sh --fix mends this"

# Definitions (.step, .dtd) go without: their text stands in each trace.
mapfile -t sources < <(find . -type d \( -name .git -o -path './build*' -o -name data -o -name corpus \) -prune -o \
    -type f -regex '.*\.\([chyl1]\|py\|sh\|cmake\|java\|js\|css\|html\|map\|in\)\|.*/CMakeLists\.txt' -print | sort)
awk 'FNR > 3 { nextfile }
    /SPDX-License-Identifier: Apache-2\.0/ { seen[FILENAME] = 1 }
    END {
        for (i = 1; i < ARGC; i++)
            if (!(ARGV[i] in seen))
                bad = print_missing(ARGV[i])
        exit bad
    }
    function print_missing(name) {
        print name ": no SPDX-License-Identifier in its first lines"
        return 1
    }' "${sources[@]}" || status=1
printf '%s\n' "${sources[@]}" | grep -E 'CMakeLists\.txt$|\.cmake$' |
    xargs awk 'length > 99 { print FILENAME ":" FNR ": " length " characters"; bad = 1 } END { exit bad }' || status=1
exit "$status"
