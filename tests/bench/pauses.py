#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long collections stop the program with and without the agent: -Xlog:gc of storm.Pauses with so
many live objects, untraced and traced in turns.  One row for each kind of pause, for
docs/results/storm.md; added: the traced runs' median (longest) over that of the untraced ones.

  pauses.py --jdk 17 --collector G1 --millions 1 --millions 10 --millions 50

JVMs are named as scripts/storm.sh names them.  Build first: cmake --build build-gcc --target tracer
storm_programs.
"""
import argparse
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "storm"))
import machines  # noqa: E402  (its folder is no package)

# Z and Shenandoah tell of their pauses, parts of a collection, on the level of phases only.
PAUSE = re.compile(r"\bPause (\w+)\b.* ([0-9.]+)ms$")
KINDS = {"Young": "young", "Full": "full"}
MEGABYTES_A_MILLION = {"Z": 96, "Shenandoah": 72}  # of heap, with room to breathe
OTHERS = 64


def pauses(text):
    """Milliseconds of each pause, by kind."""
    found = {}
    for line in text.splitlines():
        match = PAUSE.search(line)
        if match:
            found.setdefault(KINDS.get(match[1], "other"), []).append(float(match[2]))
    return found


def run(args, machine, collector, millions, agent, directory):
    log = directory / "gc.log"
    heap = args.heap or f"{512 + millions * MEGABYTES_A_MILLION.get(collector, OTHERS)}m"
    command = [machine.tool("java"), *machine.flags, *([agent] if agent else []),
               *machines.COLLECTORS[collector].split(), f"-Xmx{heap}", f"-Xms{heap}",
               f"-Xlog:gc,gc+phases:file={log}::filecount=0", "-cp", args.classes, "storm.Pauses",
               str(millions * 1000000), str(args.megabytes)]
    log.unlink(missing_ok=True)
    try:
        done = subprocess.run(command, cwd=directory, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=args.timeout, check=False)
    except subprocess.TimeoutExpired:
        return None
    return pauses(log.read_text(encoding="utf-8")) if done.returncode == 0 else None


def added(bare, traced):
    return f"{100 * (traced / bare - 1):+.0f} %" if bare >= 0.05 else "-"


def compared(bare, traced):
    """The columns of two lists of pauses."""
    if not bare or not traced:
        return f"{len(bare)} | {len(traced)} | | | | | | |"
    medians = [statistics.median(bare), statistics.median(traced)]
    longest = [max(bare), max(traced)]
    cells = [str(len(bare)), str(len(traced))]
    for pair in (medians, longest):
        cells += [f"{pair[0]:.2f}", f"{pair[1]:.2f}", added(*pair)]
    return " | ".join(cells) + " |"


def compare(args, machine, collector, millions, directory):
    sums, ends = ({}, {}), []
    begin = time.monotonic()
    for _ in range(args.rounds):
        for ways, agent in zip(sums, ("", f"-agentpath:{args.tracer}=file=run.step,overwrite=yes")):
            found = run(args, machine, collector, millions, agent, directory)
            if found is None:
                ends.append("traced" if agent else "untraced")
            for kind, times in (found or {}).items():
                ways.setdefault(kind, []).extend(times)
    title = f"| {machine.name} | {collector} | {millions} M"
    for kind in sorted({*sums[0], *sums[1]}):
        print(f"{title} | {kind} | {compared(sums[0].get(kind, []), sums[1].get(kind, []))}",
              flush=True)
    if ends:
        print(f"{title}: no end in {args.timeout:.0f} s, or a failure: {', '.join(ends)}", flush=True)
    print(f"{title}: {time.monotonic() - begin:.0f} s", file=sys.stderr)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build-gcc"))
    parser.add_argument("--millions", type=int, action="append", help="of live objects; default: 1")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each of the two")
    parser.add_argument("--heap", help="default: 512 MiB and 64 to 96 for each million")
    parser.add_argument("--megabytes", type=int, default=500, help="short lived, a round")
    parser.add_argument("--jdk", default=".*", help="the JVMs of these names")
    parser.add_argument("--collector", default=".*", help="these collectors")
    parser.add_argument("--timeout", type=float, default=300)
    args = parser.parse_args()
    args.classes = str((args.build / "tests" / "storm" / "classes").resolve())
    args.tracer = (args.build / "agent" / "libtracer.so").resolve()
    return args


def main():
    args = arguments()
    print("| JVM | collector | live | pauses | untraced | traced | median ms | traced | added "
          "| longest ms | traced | added |\n" + "|---" * 4 + "|--:" * 8 + "|", flush=True)
    with tempfile.TemporaryDirectory(prefix="pauses-") as directory:
        for machine in (one for one in machines.find() if re.fullmatch(args.jdk, one.name)):
            for collector in (name for name in machine.collectors
                              if name != "Epsilon" and re.fullmatch(args.collector, name)):
                for millions in args.millions or [1]:
                    compare(args, machine, collector, millions, pathlib.Path(directory))


if __name__ == "__main__":
    sys.exit(main())
