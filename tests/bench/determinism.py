#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""determinism.py [--times N] [--rounds N] [--load N] [--jdks DIRECTORY] [--jdk VERSION]... [--way WAY]... BUILD: do counts of the same work differ?

Runs Determinism.java with each JDK in ways that compile and collect differently, so many rounds of new JVMs, each measuring each
piece of work N times.  What a call allocates may depend on its number in its JVM and on the JDK, and on nothing else: of each
piece, all JVMs of one JDK must have the same sequence.  Only what a piece's first call loads and links may differ, as a JDK
may have archived some of it for some collectors.  In all of them exceptions of the JVM are new objects each time
(-XX:-OmitStackTraceInFastThrow), which C2 else decides.  Prints the sequences of each piece by JDK; the exit status is 1 if any call
but the first differed.

The JDKs are those of /usr/lib/jvm and of a directory that scripts/jdks.sh made; --jdk and --way choose.  --load keeps so many
processors busy meanwhile.  SIGTERM ends it early, with the results so far.
"""
import argparse
import collections
import contextlib
import itertools
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
WAYS = {"default": [], "interpreter": ["-Xint"], "C1": ["-XX:TieredStopAtLevel=1"], "C2": ["-XX:-TieredCompilation"],
        "no escape analysis": ["-XX:-DoEscapeAnalysis"], "compiled at once": ["-Xcomp"], "Serial": ["-XX:+UseSerialGC"],
        "Parallel": ["-XX:+UseParallelGC"]}


class Jdk:
    """A JDK of this computer, or of the root directory that scripts/jdks.sh made."""

    def __init__(self, version, home, directory=None):
        self.version, self.home = int(version), home
        self.before = [str(TOP / "scripts/jdks.sh"), "run", directory] if directory else []

    def measure(self, options, build, classes, times):
        """(piece, sequence) of one JVM."""
        access = ["--enable-native-access=ALL-UNNAMED"] if self.version >= 24 else []
        command = [*self.before, f"{self.home}/bin/java", *access, *options, "-XX:-OmitStackTraceInFastThrow", f"-Dsteptrace.command={build}/converter/steptrace", "-cp",
                   f"{build}/java/steptrace.jar:{classes}", "Determinism", str(times)]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)} ends with {done.returncode}:\n{done.stdout}{done.stderr}")
        return [tuple(line.split("\t", 1)) for line in done.stdout.splitlines()]


def found_jdks(at):
    homes = sorted(home for home in pathlib.Path("/usr/lib/jvm").iterdir()
                   if not home.is_symlink() and (home / "bin/javac").exists())
    jdks = [Jdk(re.search(r'JAVA_VERSION="(\d+)', (home / "release").read_text())[1], home) for home in homes]
    if at.jdks:
        listed = subprocess.run([TOP / "scripts/jdks.sh", "list", at.jdks], check=True, capture_output=True, text=True).stdout
        jdks += [Jdk(*line.split("\t"), at.jdks) for line in listed.splitlines()]
    return sorted((jdk for jdk in jdks if not at.jdk or jdk.version in at.jdk), key=lambda jdk: jdk.version)


@contextlib.contextmanager
def busy(processes):
    """So many processes that do nothing but use a processor."""
    started = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


def later_calls(sequence, times):
    """The sequence without its first call, if that is one of its own."""
    return "\t".join(part for part in sequence.split("\t") if "(1: 1..1)" not in part or times == 1)


def judge(found, times, out):
    """Prints the sequences of each piece; how many pieces differed after their first call."""
    differ = 0
    for (version, piece), sequences in sorted(found.items()):
        differ += len({later_calls(sequence, times) for sequence in sequences}) > 1
        for sequence, ways in sequences.items():
            where = "" if len(sequences) == 1 else f"   <- {', '.join(f'{way} {ways.count(way)}' for way in dict.fromkeys(ways))}"
            print(f"{version} {piece}: {sequence.replace(chr(9), '; ')}{where}", file=out)
    return differ


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", metavar="BUILD", type=os.path.abspath)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--load", type=int, default=0)
    parser.add_argument("--jdks")
    parser.add_argument("--jdk", action="append", type=int)
    parser.add_argument("--way", action="append", choices=list(WAYS), help="only these ways")
    at = parser.parse_args()
    jdks = found_jdks(at)
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    began, load = time.time(), []
    with tempfile.TemporaryDirectory() as classes, busy(at.load):
        subprocess.run([*jdks[0].before, f"{jdks[0].home}/bin/javac", "--release", "17", "-cp", f"{at.build}/java/steptrace.jar",
                        "-d", classes, TOP / "tests/bench/Determinism.java"], check=True)
        with contextlib.suppress(KeyboardInterrupt):
            for _, way, jdk in itertools.product(range(at.rounds), at.way or WAYS, jdks):
                for piece, sequence in jdk.measure(WAYS[way], at.build, classes, at.times):
                    found[jdk.version, piece][sequence].append(way)
                load.append(os.getloadavg()[0])
                print(f"{time.time() - began:.0f} s: {jdk.version} {way}", file=sys.stderr, flush=True)
    differ = judge(found, at.times, sys.stdout)
    measured = at.times * sum(len(ways) for sequences in found.values() for ways in sequences.values())
    print(f"{measured} measurements in {len(load)} JVMs and {time.time() - began:.0f} s, load average {min(load):.1f} to {max(load):.1f}; "
          f"{differ} of {len(found)} pieces differed after their first call")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
