#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""determinism.py [--times N] [--rounds N] [--jdk HOME]... BUILD: do counts of the same work differ?

Runs Determinism.java with each JDK in ways that compile and collect differently, so many rounds of new JVMs, each measuring each
piece of work N times.  What a call allocates may depend on its number in its JVM and on the JDK, and on nothing else: of each
piece, all JVMs of one JDK must have the same sequence.  Only what a piece's first call loads and links may differ, as a JDK
may have archived some of it for some collectors.  Prints the sequences of each piece by JDK; the exit status is 1 if any call
but the first differed.
"""
import argparse
import collections
import pathlib
import subprocess
import sys
import tempfile

WAYS = {"default": [], "interpreter": ["-Xint"], "C1": ["-XX:TieredStopAtLevel=1"], "C2": ["-XX:-TieredCompilation"],
        "no escape analysis": ["-XX:-DoEscapeAnalysis"], "Serial": ["-XX:+UseSerialGC"], "Parallel": ["-XX:+UseParallelGC"]}


def run(jdk, options, build, classes, times):
    """(piece, sequence) of one JVM."""
    version = (pathlib.Path(jdk) / "release").read_text().split('JAVA_VERSION="')[1].split(".")[0]
    access = ["--enable-native-access=ALL-UNNAMED"] if int(version) >= 24 else []
    out = subprocess.run([f"{jdk}/bin/java", *access, *options, f"-Dsteptrace.command={build}/converter/steptrace", "-cp",
                          f"{build}/java/steptrace.jar:{classes}", "Determinism", str(times)],
                         check=True, capture_output=True, text=True).stdout
    return [tuple(line.split("\t", 1)) for line in out.splitlines()]


def later_calls(sequence, times):
    """The sequence without its first call, if that is one of its own."""
    return "\t".join(part for part in sequence.split("\t") if "(1: 1..1)" not in part or times == 1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", metavar="BUILD")
    parser.add_argument("--times", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--jdk", action="append")
    at = parser.parse_args()
    jdks = at.jdk or sorted(str(home) for home in pathlib.Path("/usr/lib/jvm").iterdir()
                            if not home.is_symlink() and (home / "bin/javac").exists())
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    source = pathlib.Path(__file__).parent / "Determinism.java"
    with tempfile.TemporaryDirectory() as classes:
        subprocess.run([f"{jdks[0]}/bin/javac", "--release", "17", "-cp", f"{at.build}/java/steptrace.jar", "-d", classes, source],
                       check=True)
        for jdk in jdks:
            for way, options in WAYS.items():
                for _ in range(at.rounds):
                    for piece, sequence in run(jdk, options, at.build, classes, at.times):
                        found[jdk, piece][sequence].append(way)
    differ = 0
    for (jdk, piece), sequences in found.items():
        differ += len({later_calls(sequence, at.times) for sequence in sequences}) > 1
        for sequence, ways in sequences.items():
            where = "" if len(sequences) == 1 else f"   <- {', '.join(ways)}"
            print(f"{pathlib.Path(jdk).name} {piece}: {sequence.replace(chr(9), '; ')}{where}")
    measured = at.times * at.rounds * len(WAYS) * len(found)
    print(f"{measured} measurements, {differ} of {len(found)} pieces differed after their first call")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
