#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# aarch64.sh [--all]: builds for AArch64 on another machine and tries it under qemu: the golden tests and the unit
# tests (--all: those too that take minutes there), whether files are the same byte for byte as those of
# this machine's build, and the agent in Debian's JDK 17 for arm64, both engines.  Debian's packages for
# arm64 go to build-sysroot-arm64 (300 MB); nothing of them is installed.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/deps.sh
slow='metatf_bad|step_(file|damage|strategies|hostile)|hatf_(encoder|forms)'
[ "${1:-}" != --all ] || slow='^$'
sysroot=$PWD/build-sysroot-arm64
native=build-gcc

deps_install build test aarch64
[ -e "$sysroot/usr/lib/jvm" ] ||
    scripts/sysroot.sh arm64 "$sysroot" libc6-dev zlib1g-dev libzstd-dev liblzma-dev libminizip-dev \
        libsqlite3-dev libncurses-dev libdw-dev libxxhash-dev systemtap-sdt-dev libcunit1-dev openjdk-17-jdk-headless
for preset in gcc aarch64; do
    mkdir -p "build-$preset"
    { cmake --preset "$preset" && cmake --build "build-$preset" -j "$(nproc)"; } >"build-$preset/build.log" 2>&1 ||
        { tail -n 30 "build-$preset/build.log" && exit 1; }
    echo "built: $preset"
done

qemu=(qemu-aarch64-static -L "$sysroot")
here=$PWD/$native/converter/steptrace
there=("${qemu[@]}" "$PWD/build-aarch64/converter/steptrace")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The agent, in a real JVM of that machine.
java=$sysroot/usr/lib/jvm/java-17-openjdk-arm64/bin/java
cat >"$work/Hi.java" <<'END'
public class Hi {
    public static void main(String[] words) {
        long sum = 0;
        for (int i = 0; i < 50000; i++)
            sum += new String("x" + i).length();
        System.out.println(sum);
    }
}
END
javac -d "$work" "$work/Hi.java"
for engine in bytecode jvmti; do
    "${qemu[@]}" "$java" "-agentpath:$PWD/build-aarch64/agent/libtracer.so=file=$work/$engine.step,overwrite=yes,engine=$engine,finish=10min,stack=8" \
        -cp "$work" Hi >"$work/out"
    [ "$(cat "$work/out")" = 288890 ] || { echo "$engine: printed $(cat "$work/out")" && exit 1; }
    echo "JDK 17 for arm64, engine=$engine: $("$here" check "$work/$engine.step")"
done

# What one writes the other reads, and both write the same.
"${qemu[@]}" build-aarch64/tests/golden/golden_trace "$work/golden-there.step"
"$native/tests/golden/golden_trace" "$work/golden-here.step"
cmp "$work/golden-there.step" "$work/golden-here.step"
for trace in "$work/bytecode.step" "$work/golden-here.step"; do
    for form in zip hatf hatf.zst hatf.txt mtf memory-infra.json pb.gz step; do
        "$here" convert "$trace" -o "$work/here.$form" && "${there[@]}" convert "$trace" -o "$work/there.$form"
        cmp "$work/here.$form" "$work/there.$form"
    done
    "$here" pack "$trace" -o "$work/here.step" 2>/dev/null && "${there[@]}" pack "$trace" -o "$work/there.step" 2>/dev/null
    cmp "$work/here.step" "$work/there.step"
    for verb in dump 'stats --json' check; do
        cmp <("$here" $verb "$trace") <("${there[@]}" $verb "$trace")
    done
done
echo "the same bytes here and there: STEP, packed STEP, text, HATF, Meta-TF, memory-infra, pprof"

# The golden tests call programs by themselves: through a wrapper each.
for program in converter/steptrace tests/golden/golden_trace; do
    printf '#!/bin/sh\nexec %s "%s" "$@"\n' "${qemu[*]}" "$PWD/build-aarch64/$program" >"$work/$(basename "$program")"
    chmod +x "$work/$(basename "$program")"
done
tests/golden/run_golden.sh "$work/steptrace" "$work/golden_trace" tests/golden
tests/golden/run_versions.sh "$work/steptrace" tests/golden
echo "golden files: the same"

ctest --test-dir build-aarch64 -j "$(nproc)" -L unit -E "$slow" --timeout 900 --output-on-failure | tail -n 5
