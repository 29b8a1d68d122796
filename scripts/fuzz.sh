#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fuzz.sh [MINUTES [SEED]]: changed files of every format through every verb (tests/fuzz/verbs), in a
# build with AddressSanitizer and UBSan, and then the libFuzzer targets; the time is divided evenly.
# What fails is kept in build-asan/found.  Exit code 0: nothing did.
#
# CTest runs the same with fixed seeds: fuzz_verbs for seconds, each libFuzzer target for 3.
set -euo pipefail
cd "$(dirname "$0")/.."
minutes=${1:-10} seed=${2:-$(date +%s)}
unrandomized=()
if setarch "$(uname -m)" -R true 2>/dev/null; then
    unrandomized=(setarch "$(uname -m)" -R)
fi

cmake --preset asan >/dev/null
targets=$(ninja -C build-asan -t targets all | sed -n 's/^\(fuzz_[a-z_]*\): phony$/\1/p' | grep -v seeds)
"${unrandomized[@]}" cmake --build build-asan --target steptrace mutate_step fuzz_seeds_live $targets

echo "seed $seed"
failed=0
"${unrandomized[@]}" tests/fuzz/verbs/verbs.py build-asan/converter/steptrace \
    build-asan/tests/fuzz/mutate_step tests/cli/data --pairs=tests/fuzz/corpus/live_pair \
    --pairs=build-asan/tests/fuzz/seeds_made/live_pair --definitions=format/definitions \
    --minutes="$((minutes / 2 > 0 ? minutes / 2 : 1))" --seed="$seed" --keep=build-asan/found || failed=1
seconds=$((minutes * 30 / $(wc -w <<<"$targets") + 1))
for target in $targets; do
    found=build-asan/found/$target
    mkdir -p "$found"
    corpus=''
    for place in tests/fuzz/corpus build-asan/tests/fuzz/seeds_made; do
        [ ! -d "$place/${target#fuzz_}" ] || corpus+=" $place/${target#fuzz_}"
    done
    echo "$target, $seconds s"
    "${unrandomized[@]}" "build-asan/tests/fuzz/$target" -seed=$((seed % 4294967295)) -max_total_time=$seconds -timeout=20 -rss_limit_mb=2048 \
        -max_len=65536 -verbosity=0 -print_final_stats=1 -artifact_prefix="$found/" "$found" $corpus || failed=1
done
exit $failed
