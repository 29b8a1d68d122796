#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check-exports.sh LIBRARY INCLUDE_DIR...: does the shared library export what the headers there
# declare, in C and in C++, nothing else, and only names that begin with step_, hatf_ or metatf_?
set -euo pipefail
library=$1
shift
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
include=("${@/#/-I}")
status=0
# complain WHAT: the names on standard input, if there are any.
complain() {
    local name
    while read -r name; do
        echo "$1: $name"
        status=1
    done
}

nm -D --defined-only "$library" | awk '{ print $3 }' | LC_ALL=C sort >"$scratch/exported"
[ -s "$scratch/exported" ] || { echo "$library exports nothing" && exit 1; }
complain "not a name of ours" < <(grep -vE '^(step|hatf|metatf)_' "$scratch/exported")

for directory in "$@"; do
    for header in "$directory"/steptrace/*.h; do
        echo "#include <steptrace/$(basename "$header")>"
    done
done >"$scratch/all.h"
# A statement a line; without functions that are defined there, types, and what those call.
"${CC:-cc}" -std=c11 -E -P "${include[@]}" -x c "$scratch/all.h" |
    sed 's/^#.*//; s/__attribute__((format(.*)))//' | tr '\n' ' ' | sed 's/[;{}]/\n/g' |
    grep -vE '^ *(typedef|static|return|if|else|for|while)\b|=' >"$scratch/statements"
sed -nE 's/^ *extern [a-z_ ]*[ *]((step|hatf|metatf)_\w+) *$/\1/p
    s/^ *[a-zA-Z_][a-zA-Z0-9_ *]*[ *]((step|hatf|metatf)_\w+)\(.*$/\1/p' "$scratch/statements" |
    LC_ALL=C sort -u >"$scratch/declared"
complain "declared but not exported" < <(LC_ALL=C comm -23 "$scratch/declared" "$scratch/exported")
complain "exported but not declared" < <(LC_ALL=C comm -13 "$scratch/declared" "$scratch/exported")

# A program that uses each, linked with the library alone.
{
    cat "$scratch/all.h"
    echo 'extern void *const all[];'
    sed 's/.*/    (void *) \&&,/; 1i void *const all[] = {' "$scratch/exported"
    echo '}; int main(void) { return all[0] == 0; }'
} >"$scratch/all.c"
cp "$scratch/all.c" "$scratch/all.cc"
"${CC:-cc}" -std=gnu11 "${include[@]}" -o "$scratch/c" "$scratch/all.c" "$library" || status=1
if command -v "${CXX:-c++}" >/dev/null; then
    "${CXX:-c++}" -std=gnu++17 "${include[@]}" -o "$scratch/cc" "$scratch/all.cc" "$library" || status=1
fi
echo "$(wc -l <"$scratch/exported") names exported, $(wc -l <"$scratch/declared") declared"
exit $status
