#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test.sh: installs what is missing, builds the project in several ways, and runs all tests under
# one ctest, whose summary ends the output.  The exit status is 0 where everything passed.
#
#   gcc      RelWithDebInfo: all tests, on every JDK found
#   asan     Clang, AddressSanitizer and UBSan: the unit, golden and cli tests, and with libFuzzer
#            each fuzz target for some seconds
#   tsan     Clang, ThreadSanitizer: the tests with the label tsan
#   heart    GCC, no analysis, and no library but zlib, minizip and xxHash: what the heart's commands
#            do, and the unit tests of what packs and unpacks
#
# The builds stay in build-NAME, logs and junit.xml in build-test.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/deps.sh

usage() {
    cat <<'END'
usage: scripts/test.sh [--quick] [-L LABEL_REGEX] [-j JOBS]
  --quick   the GCC build and its unit, golden and cli tests only
  -L REGEX  the GCC build (and that with Clang, if REGEX matches "fuzz"), and those tests
            of it that have a matching label: unit, golden, cli, jvm, storm, malloc-recorder, fuzz, check, fresh
  -j JOBS   how many at once (default: one a processor, and one test more, since many wait)
END
}

quick='unit|golden|cli'
labels=
jobs=$(nproc)
tests_at_once=$((jobs + 1))
builds=(gcc asan tsan heart)
while [ $# -gt 0 ]; do
    case $1 in
        --quick) labels="$quick" builds=(gcc) ;;
        -L) labels=${2:?-L needs a regular expression} builds=(gcc) && shift ;;
        -L*) labels=${1#-L} builds=(gcc) ;;
        -j) jobs=${2:?-j needs a number} tests_at_once=$2 && shift ;;
        -j*) jobs=${1#-j} tests_at_once=${1#-j} ;;
        -h | --help) usage && exit 0 ;;
        *) usage >&2 && exit 2 ;;
    esac
    shift
done
if [ "$labels" != "$quick" ] && [ -n "$labels" ] && [[ fuzz =~ $labels ]]; then
    builds+=(asan)
fi

out=$PWD/build-test
rm -rf "$out"
mkdir -p "$out"

# labelled BUILD LABEL: the build's tests that have the label, each of which is a target.
labelled() {
    ctest --test-dir "build-$1" -N -L "^$2\$" | sed -n 's/^ *Test *#[0-9]*: //p'
}

# What a build makes, where that is less than all.
build_targets() {
    case $1 in
        tsan) labelled tsan tsan ;;
        heart)
            printf '%s\n' steptrace stepc metatfc golden_trace
            labelled heart packing
            echo examples/all
            ;;
    esac
}

# unrandomized COMMAND...: the sanitizers of Clang 14 do not know the address space layout of
# kernels with more random bits than Debian 12's.
unrandomized=()
if setarch "$(uname -m)" -R true 2>/dev/null; then
    unrandomized=(setarch "$(uname -m)" -R)
fi

build() {
    local wanted=()
    "${unrandomized[@]}" cmake --preset "$1" || return
    mapfile -t wanted < <(build_targets "$1")
    "${unrandomized[@]}" cmake --build "build-$1" -j "$jobs" ${wanted[0]:+--target "${wanted[@]}"}
}

# merge ARG...: adds to the list of tests that the final ctest runs.
merge() {
    python3 scripts/merge-tests.py "$out/CTestTestfile.cmake" "$@"
}

# The tests of a build: in what way it is run, and which.
merge_build() {
    case $1 in
        gcc) merge tests gcc build-gcc ;;
        tsan) merge tests tsan build-tsan --prefix tsan. --label tsan \
            --wrap "${unrandomized[*]}" ;;
        heart) merge tests heart build-heart --prefix heart. --label '^(packing|golden|heart)$' ;;
        asan) merge tests asan build-asan --prefix asan. --label "$quick|fuzz" \
            --wrap "${unrandomized[*]}" ;;
    esac
}

say_jdks() {
    local version home
    while IFS=$'\t' read -r version home; do
        if [ "$version" -ge 17 ]; then
            echo "JDK $version: found, $home"
        else
            echo "JDK $version: skipped (17 is the oldest supported), $home"
        fi
    done < <(deps_jdks)
    [ ! -d "${STEPTRACE_JDKS:-}" ] || scripts/jdks.sh list "$STEPTRACE_JDKS" |
        while IFS=$'\t' read -r version home; do
            echo "JDK $version: found, $home in $STEPTRACE_JDKS"
        done
    for version in 17 21 25 26 27 28; do
        { deps_jdks; [ ! -d "${STEPTRACE_JDKS:-}" ] || scripts/jdks.sh list "$STEPTRACE_JDKS"; } |
            grep -q "^$version	" ||
            echo "JDK $version: skipped, neither in /usr/lib/jvm nor in STEPTRACE_JDKS (scripts/jdks.sh)"
    done
}

deps_install build test
deps_install optional || echo "Going on without them; the tests that need them are skipped" >&2
say_jdks

failed=()
for name in "${builds[@]}"; do
    printf 'Building %s ... ' "$name"
    started=$SECONDS status=0
    build "$name" >"$out/build-$name.log" 2>&1 || status=$?
    [ "$status" = 0 ] || printf 'FAILED, '
    echo "$((SECONDS - started)) s"
    merge command "build.$name" "$quick" \
        scripts/show-build.sh "$out/build-$name.log" "$status"
    if [ "$status" = 0 ]; then
        merge_build "$name"
    else
        failed+=("$name")
    fi
done

merge command check.format check scripts/check-format.sh
layers_build=build-gcc
[[ " ${failed[*]} " != *" gcc "* ]] || layers_build=
merge command check.layers check scripts/check-layers.py $layers_build
merge command check.licences check scripts/check-licences.sh
merge command check.docs check scripts/check-docs.py
merge command check.words check scripts/check-words.py
merge command check.release check scripts/check-release.sh
if [[ " ${failed[*]} " != *" gcc "* ]]; then
    merge command check.tree check scripts/check-tree.py build-gcc
    merge command --property COST=1000 check.readme check scripts/readme-examples.sh build-gcc
    merge command check.readme_tables check scripts/readme-tables.py build-gcc
    merge command --property COST=1000 check.tidy check scripts/check-tidy.sh build-gcc "$jobs"
fi
merge command --property TIMEOUT=1200 --property COST=1000 check.left_out check scripts/check-left-out.sh
merge command check.manual check scripts/check-manual.sh
# An empty machine has nothing that this one happens to have: the first test to begin, since it is the longest.
merge command --property TIMEOUT=2400 --property SKIP_RETURN_CODE=77 --property COST=10000 \
    check.fresh fresh scripts/fresh.sh tarball packages cmake demo

echo
status=0
ctest --test-dir "$out" -j "$tests_at_once" ${labels:+-L "$labels"} --output-on-failure \
    --no-tests=error --timeout 900 --output-junit "$out/junit.xml" </dev/null || status=$?
[ ${#failed[@]} = 0 ] || exit 1
exit "$status"
