#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What survives collections by engine=walk, against programs that know it (facts.Survivors, facts.Crowded of
java-tests): each collector of each JDK with options that change headers, ages and where survivors go.

  walk_survivors.py --java 17=/usr/lib/jvm/java-17-openjdk-amd64/bin/java --seconds 5

Prints a line for each run: rounds of the program, how many the trace has as known, as null because a pause of marking
has divided them, and wrong ones. The exit status is 1 if any is wrong, or a program fails.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

COLLECTORS = ("G1", "Serial", "Parallel")
PLAIN = ("", "-XX:MaxTenuringThreshold=0", "-XX:MaxTenuringThreshold=2", "-XX:SurvivorRatio=90", "-XX:+AlwaysTenure", "-XX:+NeverTenure",
         "-Xint", "-XX:-UseCompressedOops", "-XX:-UseTLAB", "-XX:+ZeroTLAB", "-XX:ObjectAlignmentInBytes=16", "-XX:ParallelGCThreads=4",
         "-XX:-UsePerfData", "-Xmn3m")
OF_VERSION = {17: ("-XX:+UseBiasedLocking -XX:BiasedLockingStartupDelay=0", "-XX:-UseCompressedClassPointers"),
              21: ("-XX:+UnlockExperimentalVMOptions -XX:LockingMode=2", "-XX:+UnlockExperimentalVMOptions -XX:LockingMode=0"),
              25: ("-XX:LockingMode=1", "-XX:LockingMode=0", "-XX:+UnlockDiagnosticVMOptions -XX:+UseObjectMonitorTable",
                   "-XX:+UseCompactObjectHeaders")}
CROWDED = (("-Xmx40m", "2 2500", "false"), ("-Xmx64m", "3 4000", "true"), ("-Xmx64m -Xmn6m -XX:MaxTenuringThreshold=2", "2 6000", "false"),
           ("-Xmx48m -XX:MaxTenuringThreshold=0", "2 4000", "true"))
OF_G1 = "-XX:InitiatingHeapOccupancyPercent=20 -XX:G1HeapWastePercent=0 -XX:G1HeapRegionSize=1m"


def runs(version, seconds):
    for collector in COLLECTORS:
        for vm in PLAIN + OF_VERSION.get(version, ()):
            yield collector, f"-Xmx96m -Xmn16m {vm}", "facts.Survivors"
        for vm, others, humongous in CROWDED:
            yield collector, f"{vm} {OF_G1 if collector == 'G1' else ''}", f"facts.Crowded {others} {seconds} {humongous}"


def judge(rounds, rows):
    """Returns how many are known and divided, and those that are wrong."""
    known, divided, wrong = 0, 0, []
    for name, objects, survived in rounds:
        of_class = [row for row in rows.get(name, []) if row["objects"] > 1] # making the class makes one
        whole = [row for row in of_class if row["objects"] == int(objects)]
        if not whole and all(row["survived"] is None for row in of_class) and \
                sum(row["objects"] for row in of_class) in (int(objects) - 1, int(objects), int(objects) + 1):
            divided += 1
        elif len(whole) != 1 or whole[0]["survived"] not in (None, int(survived)):
            wrong.append(f"{name}: {of_class}, not {survived} of {objects}")
        else:
            known += whole[0]["survived"] is not None
    return known, divided, wrong


def run(java, collector, vm, program, args):
    """Returns the line, and whether it is good."""
    trace, facts = args.work / "walk.step", args.work / "facts.out"
    command = [*java.split(), f"-XX:+Use{collector}GC", *vm.split(), f"-agentpath:{args.agent}=file={trace},overwrite=yes,engine=walk,share=100,finish=10min",
               f"-Dfacts.out={facts}", "-cp", args.classes, *program.split()]
    done = subprocess.run(command, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if done.returncode != 0 or not trace.exists():
        return f"exit {done.returncode}: {done.stderr.decode(errors='replace').strip()[:200]}", False
    rows = {}
    found = subprocess.run([args.steptrace, "sql", "--json", trace, "select class, objects, survived from eden_classes where class like '%facts/%'"],
                           check=True, stdout=subprocess.PIPE)
    for row in json.loads(found.stdout):
        rows.setdefault(row["class"], []).append(row)
    lines = [line.split() for line in facts.read_text(encoding="utf-8").splitlines()]
    rounds = [line[1:] for line in lines if line[0] == "round"]
    known, divided, wrong = judge(rounds, rows)
    return f"{len(rounds)} rounds, {known} known, {divided} divided, {len(wrong)} wrong {wrong[:1] or ''}", not wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build-gcc"))
    parser.add_argument("--java", action="append", required=True, metavar="VERSION=COMMAND", help="a JVM; the command may have arguments")
    parser.add_argument("--seconds", type=int, default=5, help="of each run in a crowded heap")
    args = parser.parse_args()
    args.steptrace = str((args.build / "converter" / "steptrace").resolve())
    args.agent = (args.build / "agent" / "libtracer.so").resolve()
    args.classes = str((args.build / "tests" / "jvm" / "classes").resolve())
    args.work = pathlib.Path(tempfile.mkdtemp(prefix="walk-survivors-"))
    faults = 0
    try:
        for version, java in (pair.split("=", 1) for pair in args.java):
            for collector, vm, program in runs(int(version), args.seconds):
                line, is_good = run(java, collector, vm, program, args)
                faults += not is_good
                print(f"{version} {collector} {vm.strip()} {program}: {line}", flush=True)
    finally:
        shutil.rmtree(args.work, ignore_errors=True)
    return faults != 0


if __name__ == "__main__":
    sys.exit(main())
