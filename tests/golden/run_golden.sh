#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run_golden.sh STEPTRACE GOLDEN_TRACE DIRECTORY: every canonical form of the small trace, byte by
# byte.  With UPDATE=1 in the environment the golden files are written anew: look at the difference.
set -eu
steptrace=$1
golden_trace=$2
directory=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

# expect FORMAT/NAME: $work/NAME must be the golden file of this name, tests/formats/FORMAT/NAME.
expect() {
    if [ "${UPDATE:-}" = 1 ]; then
        cp "$work/${1#*/}" "$directory/../formats/$1"
    elif ! diff -u "$directory/../formats/$1" "$work/${1#*/}"; then
        echo "golden: $1 differs"
        failures=1
    fi
}

# same A B WHAT
same() {
    if ! cmp "$1" "$2"; then
        echo "golden: $3"
        failures=1
    fi
}

hex() {
    od -A d -v -t x1 "$1" > "$2"
}

"$golden_trace" "$work/trace.step"
"$steptrace" dump "$work/trace.step" > "$work/trace.txt"
expect text/trace.txt

# Text there and back again.
"$steptrace" convert "$work/trace.step" -o "$work/trace.zip"
"$steptrace" convert "$work/trace.zip" -o "$work/again.step"
"$steptrace" convert "$work/again.step" -o "$work/again.zip"
"$steptrace" convert "$work/again.zip" -o "$work/again.txt"
same "$work/trace.txt" "$work/again.txt" "step -> text -> step -> text gives other text"
same "$work/trace.zip" "$work/again.zip" "the same lines give other ZIP files"

# HATF: from the trace, and the same from a copy of it.
"$steptrace" convert "$work/trace.step" -o "$work/copy.step"
"$steptrace" dump "$work/copy.step" > "$work/copy.txt"
same "$work/trace.txt" "$work/copy.txt" "step -> step gives other events"
for how in id bump; do
    "$steptrace" convert "$work/trace.step" --addresses=$how -o "$work/$how.hatf"
    hex "$work/$how.hatf" "$work/trace-$how.hatf.hex"
    expect hatf/trace-$how.hatf.hex
    "$steptrace" convert "$work/copy.step" --addresses=$how -o "$work/copy.hatf"
    same "$work/$how.hatf" "$work/copy.hatf" "a copy gives other HATF"
done
"$steptrace" convert "$work/trace.step" --attributes=class -o "$work/class.hatf"
hex "$work/class.hatf" "$work/trace-class.hatf.hex"
expect hatf/trace-class.hatf.hex
"$steptrace" convert "$work/trace.step" -o "$work/id.hatf.gz"
gzip -dc "$work/id.hatf.gz" > "$work/unpacked.hatf"
same "$work/id.hatf" "$work/unpacked.hatf" "the packed HATF is another"
exit $failures
