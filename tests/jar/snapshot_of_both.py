#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""snapshot_of_both.py JDK STEPTRACE JAR CLASSES CLASS_PATH: one snapshot, read and written by @AllocationSnapshot and by `steptrace gate`.

JUnit keeps the trace of a test that fails; of it both must say the same, and write the same file.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

import snapshots

TEST = "limits.Snapshots.exact"
MORE = "-Dsnapshots.objects=4"


def run(project, *words):
    """The shortest way to the tests' end."""
    return project.run("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", *words)


def lines(text):
    """Without tests whose counts vary."""
    return [line for line in text.splitlines() if ".varying" not in line and ".tolerant" not in line]


def gate(steptrace, project, *words):
    ended = subprocess.run([steptrace, "gate", *words, "--snapshot", project.snapshot.name, "--phase", TEST], capture_output=True,
                           text=True, check=False, cwd=project.scratch, timeout=60)
    return ended.returncode, ended.stdout + ended.stderr


def try_both(project, steptrace):
    run(project, "-Dsteptrace.update=true")
    first = project.snapshot.read_text()
    message = run(project, MORE)[0]["exact"]
    seen, known, kept = re.search(rf"{TEST} allocates (.*?)\s+allocations.snap has (.*?); -D.*trace: (\S+)", message, re.S).groups()
    whole = subprocess.run([steptrace, "gate", kept, "--snapshot", "whole.snap", "--whole=x", "--update"], capture_output=True, text=True,
                           check=False, cwd=project.scratch, timeout=60)
    if whole.returncode != 3 or "missed=no" not in whole.stderr:
        yield f"a trace of a phase alone is taken for the whole program: {whole}"
    code, said = gate(steptrace, project, kept)
    if code != 4 or f"  - {known}\n  + {seen}\n" not in said:
        yield f"gate ends with {code} and says {said}; JUnit {message}"
    code, said = gate(steptrace, project, kept, "--update")
    by_gate = project.snapshot.read_text()
    if code != 0 or by_gate == first or f": {seen}\n" not in by_gate:
        yield f"gate --update ends with {code}, says {said} and writes\n{by_gate}"
    if gate(steptrace, project, kept)[0] != 0:
        yield f"gate refuses what it wrote:\n{by_gate}"
    found = run(project, MORE)[0]["exact"]
    if found is not None:
        yield f"JUnit refuses what gate wrote: {found}"
    project.snapshot.write_text(first)
    run(project, MORE, "-Dsteptrace.update=true")
    by_junit = project.snapshot.read_text()
    if lines(by_junit) != lines(by_gate):
        yield f"gate writes\n{by_gate}and JUnit\n{by_junit}"
    code, said = gate(steptrace, project, kept)
    if code != 0:
        yield f"gate ends with {code} on what JUnit wrote: {said}"


def main(arguments):
    with tempfile.TemporaryDirectory() as scratch:
        module = pathlib.Path(scratch, "module")
        module.mkdir()
        project = snapshots.Project([arguments[0], *arguments[2:]], module)
        faults = [*try_both(project, arguments[1]), *project.faults]
    print(*faults, f"{len(faults)} faults", sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
