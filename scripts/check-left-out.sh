#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check-left-out.sh [BUILD]: leaves out each analysis in turn, in a build directory of its own, and links `steptrace`:
# it has to build without that folder, and to say of its commands that it has none.  Those that need it are left out with it.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build-left-out}
all=$(sed -n '/^set(all_analyses/,/)/p' analyses/CMakeLists.txt | tr -d '()' | sed 's/set all_analyses//; s/setall_analyses//' | tr -s ' \n' ' ')
[ "$(wc -w <<<"$all")" -gt 10 ] || { echo "analyses/CMakeLists.txt: no list of analyses" >&2; exit 1; }

# make_without ANALYSIS: configures and links.
make_without() {
    local list
    list=$(printf '%s\n' $all | grep -vx "$1" | paste -sd ';')
    cmake --preset heart -B "$build" -DSTEPTRACE_TESTS=OFF "-DSTEPTRACE_ANALYSES=$list" >"$build.log" 2>&1 &&
        cmake --build "$build" --target steptrace >>"$build.log" 2>&1 || {
        grep -m 5 "error\|undefined" "$build.log" || tail -n 5 "$build.log"
        echo "without $1: it does not build" >&2
        return 1
    }
}

failed=0
for analysis in $all; do
    make_without "$analysis" || { failed=1 && continue; }
    listed=$("$build/converter/steptrace" help)
    verbs=$(grep -rhoP "^steptrace_verb\(\K[a-z-]+" "analyses/$analysis" || true)
    for verb in $verbs; do
        code=0
        said=$("$build/converter/steptrace" "$verb" 2>&1) || code=$?
        if [ $code -ne 2 ] || [[ $said != *"this build has no command \`$verb\`"* ]] || grep -q "^  $verb " <<<"$listed"; then
            echo "without $analysis: \`steptrace $verb\` is still there, or does not say that it is not" >&2
            failed=1
        fi
    done
    echo "without $analysis: $(grep -c '^  [a-z]' <<<"$listed") commands"
done
exit $failed
