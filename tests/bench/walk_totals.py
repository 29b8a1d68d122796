#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Totals of engine=walk against the JVM's counters: each program with each collector of each JDK,
once. What the walks of eden found by class is summed up here from the records, and compared with what
the JVM has counted for its threads, which is in other records; a table of Markdown.

  walk_totals.py --java 17=/usr/lib/jvm/java-17-openjdk-amd64/bin/java facts.Eden javac path/to/workload.sh

PROGRAM: facts.NAME of java-tests, or a workload as run_bench.py takes it. The exit status is 1 if a trace is
missing, if classes and unknown bytes are not what was counted, or if a collection was not walked.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import workloads

COLLECTORS = ("G1", "Serial", "Parallel")


def fields_of(steptrace, trace, record):
    dump = subprocess.run([steptrace, "dump", "--record", record, trace], check=True, stdout=subprocess.PIPE)
    for line in dump.stdout.decode(errors="replace").splitlines():
        yield dict(word.split("=", 1) for word in line.split() if "=" in word)


def command_of(program, java, arguments, work, args):
    if program.startswith("facts."):
        return [java, *arguments.split(), "-Xmx64m", f"-Dfacts.out={work}/facts.out", "-cp", args.classes, program]
    return workloads.command(program, java, arguments, work, args.directory)


def run(program, java, collector, args):
    """Returns collections, bytes counted, in classes, unknown; or why there is no row."""
    work = pathlib.Path(tempfile.mkdtemp(dir=args.directory))
    trace = str(work / "walk.step")
    arguments = f"-XX:+Use{collector}GC -agentpath:{args.agent}=file={trace},engine=walk,share=100,finish=10min"
    done = subprocess.run(command_of(program, java, arguments, work, args), cwd=work, check=False,
                          env=dict(os.environ, JAVA=java, JAVA_ARGS=arguments, WORK_DIR=str(work)),
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = [line for line in done.stderr.decode(errors="replace").splitlines() if line.startswith("steptrace: ")]
    try:
        if said or not os.path.exists(trace):
            return f"exit {done.returncode}: {' '.join(said)}"
        walks = list(fields_of(args.steptrace, trace, "EdenWalk"))
        classes = list(fields_of(args.steptrace, trace, "EdenClass"))
        eden = json.loads(subprocess.run([args.steptrace, "stats", "--json", trace], check=True,
                                         stdout=subprocess.PIPE).stdout)["eden"]
    finally:
        shutil.rmtree(work, ignore_errors=True)
    known = sum(int(row["bytes"]) for row in classes if int(row["objects"]) > 0)
    unknown = sum(int(row["bytes"]) for row in classes if int(row["objects"]) == 0)
    counted = sum(int(walk["counted"]) for walk in walks)
    if (eden["counted_bytes"], eden["unknown_bytes"]) != (counted, unknown):
        return f"stats says {eden}, the records {counted} and {unknown}"
    if known + unknown != counted:
        return f"{known} and {unknown} bytes, {counted} counted"
    odd = [walk for walk in walks if walk["how"] != "0"]
    return f"not walked: {odd[:2]}" if odd else (len(walks), counted, known, unknown)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build-gcc"))
    parser.add_argument("--java", action="append", required=True, metavar="NAME=COMMAND",
                        help="a JVM; the command may be a script that runs one elsewhere")
    parser.add_argument("--collector", action="append", choices=COLLECTORS)
    parser.add_argument("programs", nargs="+", metavar="PROGRAM")
    args = parser.parse_args()
    args.steptrace = str((args.build / "converter" / "steptrace").resolve())
    args.agent = (args.build / "agent" / "libtracer.so").resolve()
    args.classes = str((args.build / "tests" / "jvm" / "classes").resolve())
    args.directory = pathlib.Path(tempfile.mkdtemp(prefix="walk-totals-"))
    faults = 0
    print("| program | JDK | collector | collections | bytes counted | in classes | unknown | unknown, % |")
    print("|---|---|---|--:|--:|--:|--:|--:|")
    try:
        for program in args.programs:
            for name, java in (pair.split("=", 1) for pair in args.java):
                for collector in args.collector or COLLECTORS:
                    found = run(program, java, collector, args)
                    faults += isinstance(found, str)
                    cells = found if isinstance(found, str) else \
                        " | ".join(f"{value:,}" for value in found) + f" | {100 * found[3] / found[1]:.4f}"
                    shown = program if program.startswith("facts.") else workloads.name(program)
                    print(f"| {shown} | {name} | {collector} | {cells} |", flush=True)
    finally:
        shutil.rmtree(args.directory, ignore_errors=True)
    return faults != 0


if __name__ == "__main__":
    sys.exit(main())
