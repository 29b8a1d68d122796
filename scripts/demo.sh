#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# demo.sh: installs what is missing, builds StepTrace, and records a real Java program that everybody
# has: javac, compiling the programs in java-tests; then a program with a leak.  What it makes stays in build/demo.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/deps.sh

out=build/demo
log=build/demo/build.log

title() {
    printf '\n== %s\n\n' "$1"
}

# show COMMAND: says what it runs, and runs it.
show() {
    printf '$ %s\n' "$1"
    bash -c "$1" </dev/null
    echo
}

# The oldest supported JDK's javac: what the java-tests are written for.
find_jdk() {
    deps_jdks | awk '$1 >= 17 { print $2; exit }'
}

# patiently LOG COMMAND...: its output goes to the log; a line every 5 s says how far it is.
patiently() {
    local log=$1 job started=$SECONDS last=''
    shift
    "$@" >"$log" 2>&1 &
    job=$!
    while kill -0 "$job" 2>/dev/null; do
        sleep 1
        if [ $(((SECONDS - started) % 5)) = 4 ]; then
            last=$(tr '\r' '\n' <"$log" | grep -oE '^\[[0-9]+/[0-9]+\]' | tail -n 1) || true
            printf '  %3d s %s\n' "$((SECONDS - started))" "$last"
        fi
    done
    wait "$job" || {
        tail -n 40 "$log" >&2
        echo "It failed; all of its output is in $log" >&2
        exit 1
    }
}

compile() {
    cmake --preset release && cmake --build build
}

# javac_sources: lists in $out/sources what this JDK compiles, of the first 30 files; javac finds those that
# they need.  A file that it has an error to say of (written for a later JDK, or to be compiled apart) is left out.
javac_sources() {
    local round
    find java-tests/facts -name '*.java' | LC_ALL=C sort | sed -n 1,30p >"$out/sources"
    for round in 1 2 3 4 5; do
        rm -rf "$out/classes"
        "$jdk/bin/javac" -encoding UTF-8 -nowarn -proc:none -sourcepath java-tests -Xmaxerrs 10000 -d "$out/classes" @"$out/sources" \
            >"$out/javac-errors" 2>&1 && return 0
        sed -n 's/^\(java-tests[^:]*\.java\):[0-9]*: error:.*/\1/p' "$out/javac-errors" |
            sort -u >"$out/left-out"
        [ -s "$out/left-out" ] || break
        grep -vxFf "$out/left-out" "$out/sources" >"$out/sources.new" || true
        mv "$out/sources.new" "$out/sources"
    done
    cat "$out/javac-errors" >&2
    echo "javac does not compile java-tests (round $round)" >&2
    exit 1
}

title 'Installing what is missing'
mkdir -p "$out"
patiently "$out/install.log" deps_install build demo
cat "$out/install.log"
jdk=$(find_jdk)
if [ -z "$jdk" ]; then
    echo "No JDK of version 17 or later in /usr/lib/jvm" >&2
    exit 1
fi

title 'Building'
patiently "$log" compile
export PATH=$PWD/build/converter:$jdk/bin:$PATH
echo "Built: build/converter/steptrace, the command, and $(steptrace version --agent-path), the agent. JDK: $jdk"

title 'Recording javac: every object, with its call stack, and a report'
javac_sources
rm -rf "$out/classes" "$out"/*.step "$out"/*.html "$out"/run.*
show "steptrace record --report -o $out/run.step javac -encoding UTF-8 -nowarn -proc:none -sourcepath java-tests -d $out/classes @$out/sources"
echo "Open $PWD/$out/run.html in a browser."

title 'What does javac keep?'
show "steptrace leaks --top 3 --depth 3 $out/run.step"

title 'A program with a leak: sessions that nobody ends'
javac -d "$out/classes" examples/shop/WebShop.java
show "steptrace record --stack=16 -o $out/shop.step java -Xmx16m -cp $out/classes com.acme.shop.WebShop"
show "steptrace leaks --top 3 --depth 1 $out/shop.step"
show "steptrace heap --allocated --at end --by site --top 5 --depth 1 $out/shop.step"

title 'Any other question, in SQL: which threads made the most objects?'
show "steptrace sql $out/shop.step 'select t.name, count(*) as objects, sum(size) as bytes
    from objects join threads t using (thread) group by t.name order by objects desc limit 5'"

title 'The same trace in other formats: zipped text, and HATF'
show "steptrace convert $out/run.step -o $out/run.zip"
show "unzip -p $out/run.zip trace | sed -n '1p;1000,1010p'"
show "steptrace convert $out/run.step -o $out/run.hatf"
show "wc -c $out/run.step $out/run.zip $out/run.hatf"
echo "The text has $(unzip -l "$out/run.zip" trace | awk '$4 == "trace" { print $1 }') bytes unpacked."

title 'Your own program'
cat <<END
  export PATH=$PWD/build/converter:\$PATH
  steptrace record --report java -jar your-program.jar    # writes run.step and run.html
  steptrace attach -d 30s --report PID                    # a JVM that is already running
  steptrace help                                          # all commands
END
