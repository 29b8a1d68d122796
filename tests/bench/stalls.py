#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how long an attach stops a program, and what memory it costs: Stalls.java loads so many
classes and measures its own longest stall, while agents are attached and detached by turns.

  stalls.py --classes 3000 --rounds 3 --jdk /usr/lib/jvm/java-17-openjdk-amd64 \\
      --way old:/tmp/old-build --way now:build-gcc --way all:build-gcc:gentle=no

A way is NAME:BUILD[:OPTION[,OPTION]...]. Columns: the longest stall in milliseconds that the program
measures without an agent, while the trace starts, and while it ends; the longest safepoint of the
JVM's own log meanwhile; seconds that the start and the end take; MiB that are resident before,
while the trace is recorded, and after it (smaps_rollup). Medians of the rounds.
"""
import argparse
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import workloads

SAFEPOINT = re.compile(r"^\[([0-9.]+)s\].*Safepoint .* Total: +(\d+) ns")
COLUMNS = ("stall before", "at start", "at end", "safepoint at start", "at end", "start s", "end s",
           "RSS before", "traced", "after")


def resident(process_id):
    """MiB."""
    text = pathlib.Path(f"/proc/{process_id}/smaps_rollup").read_text(encoding="ascii")
    return int(re.search(r"^Rss:\s+(\d+) kB", text, re.MULTILINE)[1]) / 1024


class Program:
    """A running Stalls."""

    def __init__(self, args, java, directory, classes):
        self.log = directory / "safepoints.log"
        self.log.unlink(missing_ok=True)
        self.process = subprocess.Popen(
            [java, f"-Xmx{args.heap}", f"-Xms{args.heap}", *args.jvm_options.split(),
             f"-Xlog:safepoint:file={self.log}:uptime:filecount=0", "-cp", classes, "Stalls",
             str(args.classes)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        self.process.stdout.readline()
        self.lines = 0

    def stall(self):
        """Milliseconds since the last call: the program's own, and the longest safepoint."""
        print(file=self.process.stdin, flush=True)
        own = int(self.process.stdout.readline()) / 1000
        lines = self.log.read_text(encoding="utf-8").splitlines()
        found = [SAFEPOINT.match(line) for line in lines[self.lines:]]
        self.lines = len(lines)
        return own, max((int(match[2]) / 1e6 for match in found if match), default=0.0)

    def end(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)


def timed(program, command):
    """Seconds of a command, and the stalls meanwhile and half a second later."""
    began = time.monotonic()
    done = subprocess.run([*command, str(program.process.pid)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    seconds = time.monotonic() - began
    if done.returncode != 0:
        sys.exit(f"{command} ends with {done.returncode}: {done.stdout}")
    time.sleep(0.5)
    return seconds, *program.stall()


def measure(args, java, directory, classes, way):
    _, build, options = (way.split(":", 2) + [""])[:3]
    attach = [pathlib.Path(build).resolve() / "converter/steptrace", "attach",
              f"--agent={pathlib.Path(build).resolve() / 'agent/libtracer.so'}"]
    words = [word for option in options.split(",") if option for word in ("-O", option)]
    program = Program(args, java, directory, classes)
    time.sleep(args.warm)
    program.stall()
    time.sleep(1)
    before, memory = program.stall(), [resident(program.process.pid)]
    start = timed(program, [*attach, "-o", directory / "run.step", "-O", "overwrite=yes", *words])
    time.sleep(args.seconds)
    memory.append(resident(program.process.pid))
    program.stall()
    end = timed(program, [*attach, "--stop"])
    time.sleep(2)
    memory.append(resident(program.process.pid))
    program.end()
    return [before[0], start[1], end[1], start[2], end[2], start[0], end[0], *memory]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jdk", type=pathlib.Path, action="append", required=True)
    parser.add_argument("--way", action="append", required=True)
    parser.add_argument("--classes", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--heap", default="128m")
    parser.add_argument("--jvm-options", default="-XX:+UseG1GC")
    parser.add_argument("--warm", type=float, default=4, help="seconds before the attach")
    parser.add_argument("--seconds", type=float, default=3, help="seconds that are recorded")
    args = parser.parse_args()
    print("| JDK | way | " + " | ".join(COLUMNS) + " |\n|---|---" + "|--:" * len(COLUMNS) + "|")
    for jdk in args.jdk:
        with tempfile.TemporaryDirectory(prefix="stalls-") as name:
            directory, java = pathlib.Path(name), str(jdk / "bin/java")
            classes = workloads.prepare_program(directory, java, "Stalls")
            found = {way: [] for way in args.way}
            for _ in range(args.rounds):
                for way, rows in found.items():
                    rows.append(measure(args, java, directory, classes, way))
            for way, rows in found.items():
                cells = [f"{statistics.median(column):.1f}" for column in zip(*rows)]
                print(f"| {re.search(r'[0-9]+', jdk.name)[0]} | {way.partition(':')[0]} | " + " | ".join(cells) + " |",
                      flush=True)


if __name__ == "__main__":
    sys.exit(main())
