#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# demo.sh: installs what is missing, builds StepTrace, and traces a real Java program that everybody
# has: javac, compiling the programs in java-tests.  What it makes stays in build/demo.
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

build() {
    mkdir -p "$out"
    if ! { cmake --preset release -DSTEPTRACE_TESTS=OFF && cmake --build build; } >"$log" 2>&1; then
        tail -n 40 "$log" >&2
        echo "The build failed; all of it is in $log" >&2
        exit 1
    fi
}

# javac_sources: lists in $out/sources what this JDK compiles by itself.  A file that it has an
# error to say of (written for a later JDK, or to be compiled apart) is left out.
javac_sources() {
    local round
    find java-tests -name '*.java' | LC_ALL=C sort >"$out/sources"
    for round in 1 2 3 4 5; do
        rm -rf "$out/classes"
        "$jdk/bin/javac" -encoding UTF-8 -nowarn -proc:none -Xmaxerrs 10000 -d "$out/classes" @"$out/sources" \
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

title 'Installing what is missing, and building'
deps_install build demo
jdk=$(find_jdk)
if [ -z "$jdk" ]; then
    echo "No JDK of version 17 or later in /usr/lib/jvm" >&2
    exit 1
fi
build
steptrace=$(find build -name steptrace -type f -perm -u+x | head -n 1)
agent=$(find build -name libtracer.so -type f | head -n 1)
echo "$steptrace, the command, and $agent, the agent, are built."
echo "JDK: $jdk"

title 'Tracing javac: every object, class and thread'
javac_sources
rm -rf "$out/classes" "$out"/run.*
show "$jdk/bin/javac -J-agentpath:$agent=file=$out/run.step -encoding UTF-8 -nowarn -proc:none -d $out/classes \
@$out/sources"

title 'What is in the trace'
show "$steptrace info $out/run.step"
title 'Who allocated what'
show "$steptrace stats --top 10 $out/run.step"

title 'Tracing methods too: a small program, with all events'
cat >"$out/Hello.java" <<'END'
import java.util.stream.IntStream;

public class Hello {
    record Point(int x, int y) {}

    public static void main(String[] args) {
        System.out.println(IntStream.range(0, 1000).mapToObj(i -> new Point(i, i * i)).toList().size());
    }
}
END
"$jdk/bin/javac" -d "$out/classes" "$out/Hello.java"
show "$jdk/bin/java -agentpath:$agent=file=$out/hello.step,overwrite=yes,events=all -cp $out/classes Hello"
show "$steptrace dump --class 'Hello*' $out/hello.step | head -n 12"

title 'The same trace in other formats'
show "$steptrace convert $out/run.step -o $out/run.zip"
show "$steptrace convert $out/run.step -o $out/run.hatf"
show "unzip -p $out/run.zip trace | head -n 12"
show "wc -c $out/run.step $out/run.zip $out/run.hatf"
echo "The text has $(unzip -l "$out/run.zip" trace | awk '$4 == "trace" { print $1 }') bytes unpacked."

title 'Your own program'
cat <<END
  java -agentpath:$PWD/$agent=file=run.step -jar your-program.jar
  $steptrace stats run.step
  $steptrace convert run.step -o run.zip      # zipped text: unzip -p run.zip trace | less
  $steptrace convert run.step -o run.hatf     # HATF

  events=all traces methods as well; java -agentpath:$PWD/$agent=help lists all options.
END
