#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills traced JVMs, and counts what their traces lack.

A program says what it has made; what it said before it was killed has to be in its trace.  With
--container all processes of a PID namespace, in which the JVM is process 1, are killed at once, and
the time is measured by which the trace is short: from the trace's last event to the last line.

    tests/storm/kills.py --build build-gcc --ring memory --count 200 [--container]
"""
import argparse
import json
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", required=True)
    parser.add_argument("--java", default="java")
    parser.add_argument("--ring", default="memory")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--container", action="store_true")
    return parser.parse_args()


def run_until_killed(args, directory, program, delay):
    """What it said it had made last, in objects of its class Counted."""
    build = pathlib.Path(args.build).resolve()
    command = [args.java, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx64m",
               f"-agentpath:{build}/agent/libtracer.so=file=run.step,ring={args.ring}",
               "-cp", str(build / "tests/jvm/classes"), f"facts.{program}"]
    if args.container:
        command = ["unshare", "-pf", "--mount-proc", "--kill-child=KILL", *command]
    made = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          cwd=directory) as process:
        end = None
        for raw in process.stdout:
            word = raw.split()
            if word[0] == b"made":
                made = int(word[1])
            end = end or time.monotonic() + delay
            if time.monotonic() >= end or word[0] == b"waiting":
                break
        process.send_signal(signal.SIGKILL)
        for raw in process.stdout:
            word = raw.split()
            if raw.endswith(b"\n") and word[0] == b"made":
                made = int(word[1])
    return made


def objects_in_trace(args, directory, program):
    tool = pathlib.Path(args.build).resolve() / "converter/steptrace"
    for _ in range(500):
        result = subprocess.run([tool, "stats", "--json", "--top=0", "run.step"], cwd=directory,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if b"still runs" not in result.stderr:
            break
        time.sleep(0.02)
    if result.returncode not in (0, 3):
        raise SystemExit(f"stats ends with {result.returncode}: {result.stderr.decode()}")
    classes = json.loads(result.stdout)["classes"]
    return sum(row["allocated_objects"] for row in classes
               if row["name"] == f"facts/{program}$Counted")


def main():
    args = arguments()
    choose = random.Random(args.seed)
    short, missing, said = 0, [], 0
    for round_ in range(args.count):
        directory = tempfile.mkdtemp(prefix="steptrace-kills.")
        program = "Killed" if round_ % 4 == 0 else "KilledQuiet"
        made = run_until_killed(args, directory, program, choose.uniform(0, 0.2))
        there = objects_in_trace(args, directory, program)
        said += made
        if there < made:
            short += 1
            missing.append(made - there)
            print(f"kill {round_}, {program}: {made - there} of {made} objects are missing")
        shutil.rmtree(directory)
    print(f"ring={args.ring}{', container' if args.container else ''}: {args.count} kills, {short} traces lack "
          f"something, {sum(missing)} of {said} objects, at most {max(missing, default=0)}")
    return short != 0


if __name__ == "__main__":
    sys.exit(main())
