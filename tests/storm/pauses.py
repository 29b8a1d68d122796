#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long collections take with and without the agent: -Xlog:gc of storm.Pauses with so many live
objects, for each collector.  One row each, for docs/results/storm.md.

  pauses.py --millions 1 --millions 10
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

import machines

PAUSE = re.compile(r"\bPause\b.* ([0-9.]+)ms$")


class Collections:
    """What -Xlog:gc said in one run; milliseconds."""

    def __init__(self, text):
        self.pauses = [float(match[1]) for line in text.splitlines()
                       if (match := PAUSE.search(line))]

    def row(self):
        count, total = len(self.pauses), sum(self.pauses)
        return f"{count} | {total:.0f} | {max(self.pauses, default=0):.1f}"


def run(args, machine, collector, millions, agent, directory):
    # Z and Shenandoah tell of pauses within a collection on the level of phases only.
    log = directory / "gc.log"
    command = [machine.tool("java"), *machine.flags, *([agent] if agent else []),
               *machines.COLLECTORS[collector].split(), f"-Xmx{args.heap}", f"-Xms{args.heap}",
               f"-Xlog:gc,gc+phases:file={log}::filecount=0", "-cp", args.classes, "storm.Pauses",
               str(millions * 1000000), str(args.megabytes)]
    log.unlink(missing_ok=True)
    try:
        done = subprocess.run(command, cwd=directory, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=args.timeout, check=False)
    except subprocess.TimeoutExpired:
        return None
    return Collections(log.read_text(encoding="utf-8")) if done.returncode == 0 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build-gcc"))
    parser.add_argument("--millions", type=int, action="append", help="of live objects; default: 1")
    parser.add_argument("--heap", default="2g")
    parser.add_argument("--megabytes", type=int, default=500, help="short lived, a round")
    parser.add_argument("--jdk", default=".*", help="the JVMs of these names")
    parser.add_argument("--timeout", type=float, default=300)
    args = parser.parse_args()
    args.classes = str((args.build / "tests" / "storm" / "classes").resolve())
    tracer = (args.build / "agent" / "libtracer.so").resolve()
    print("| JVM | collector | live objects | agent | pauses | ms in all | longest ms |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="pauses-") as directory:
        directory = pathlib.Path(directory)
        for machine in (one for one in machines.find() if re.fullmatch(args.jdk, one.name)):
            for collector in (name for name in machine.collectors if name != "Epsilon"):
                for millions in args.millions or [1]:
                    for agent in (None, f"-agentpath:{tracer}=file=run.step"):
                        found = run(args, machine, collector, millions, agent, directory)
                        print(f"| {machine.name} | {collector} | {millions} million | "
                              f"{'yes' if agent else 'no'} | "
                              f"{found.row() if found else 'no end | | '} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
