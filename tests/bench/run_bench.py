#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the agent and the readers on this machine.

  run_bench.py cost    wall time: untraced, the bare agent, libtracer, one after the other, in rounds
  run_bench.py bars    the same for untraced, allocations, default events, method events
  run_bench.py size    bytes an event at 1 us and at 1 ns
  run_bench.py read    how fast stats, dump and convert read that trace
  run_bench.py startup what the agent adds to a Hello World
  run_bench.py all     these four
  run_bench.py memory  what readers need of memory as a made-up trace gets ten times longer

A workload is a script that runs $JAVA $JAVA_ARGS PROGRAM in $WORK_DIR, given by its path; or one of
the built-in ones, which need nothing but the JDK: javac (compiles generated classes), threads (four
threads build and drop trees and maps), calls (7 million calls of a small method).  Ratios are those of one run's medians: compare no seconds
across runs.
"""
import argparse
import ctypes
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import workloads

MODES = ("untraced", "bare", "traced")


def java_arguments(args, mode, trace=None, resolution="1us", events=None):
    """What goes into JAVA_ARGS for one way to run."""
    if mode == "bare":
        return f"-agentpath:{args.bare}"
    if mode == "traced":
        options = f"file={trace},overwrite=yes,finish=60min,resolution={resolution}"
        if events:
            options += f",events={events}"
        if args.agent_options:
            options += "," + args.agent_options
        return f"-agentpath:{args.agent}={options}"
    return ""


PR_SET_CHILD_SUBREAPER = 36


def orphans_usage():
    """Processor seconds of the processes that the traced ones left behind: those that write traces."""
    seconds = 0
    while True:
        try:
            _, _, usage = os.wait3(0)
        except ChildProcessError:
            return seconds
        seconds += usage.ru_utime + usage.ru_stime


def timed(command, environment, stdout=subprocess.DEVNULL):
    """Wall seconds, processor seconds (with those of the process that writes a trace) and peak MiB of
    one process."""
    start = time.monotonic()
    process = subprocess.Popen(command, env=environment, stdout=stdout, stdin=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{command} ended with {process.returncode}")
    return wall, usage.ru_utime + usage.ru_stime + orphans_usage(), usage.ru_maxrss / 1024


def run_workload(args, workload, java_args, directory):
    """Runs it once in a directory of its own."""
    work = pathlib.Path(tempfile.mkdtemp(dir=directory))
    environment = dict(os.environ, JAVA=args.java, JAVA_ARGS=java_args, WORK_DIR=str(work))
    try:
        return timed(workloads.command(workload, args.java, java_args, work, directory),
                     environment)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def cost_ways(args):
    """What cost compares: a function for each title, which makes Java's arguments for a trace."""
    def traced(options):
        if options.startswith("-"):
            return lambda trace: options.replace("TRACE", str(trace))
        return lambda trace: ",".join(
            filter(None, (java_arguments(args, "traced", trace, args.resolution), options)))

    ways = {mode: lambda trace, mode=mode: java_arguments(args, mode, trace, args.resolution)
            for mode in MODES}
    if args.what == "bars":
        args.way = ["untraced", "alloc:events=alloc+class+thread", "default:", "method:events=method"]
    if not args.way:
        return ways
    chosen = {}
    for way in args.way:
        title, _, options = way.partition(":")
        chosen[title] = ways[title] if title in ways else traced(options)
    return chosen


def measure_cost(args, directory):
    ways = cost_ways(args)
    first = next(iter(ways))
    print(f"cost: wall seconds, median (least) of {args.rounds} rounds; processor seconds after /; "
          f"times the median of {first}; processor time an event, added")
    for workload in args.workload:
        walls = {title: [] for title in ways}
        cpus = {title: [] for title in ways}
        sizes, events = dict.fromkeys(ways, 0), dict.fromkeys(ways, 0)
        for _ in range(args.rounds):
            for title, arguments in ways.items():
                trace = directory / "cost.step"
                wall, cpu, _ = run_workload(args, workload, arguments(trace), directory)
                sizes[title] = trace.stat().st_size if trace.exists() else 0
                events[title] = known_events(args, trace) if trace.exists() else 0
                trace.unlink(missing_ok=True)
                walls[title].append(wall)
                cpus[title].append(cpu)
        base, base_cpu = statistics.median(walls[first]), statistics.median(cpus[first])
        for title in ways:
            median = statistics.median(walls[title])
            added = statistics.median(cpus[title]) - base_cpu
            each = f"{added * 1e9 / events[title]:8.1f} ns an event" if events[title] else ""
            print(f"{workloads.name(workload):16} {title:16}{median:9.2f} ({min(walls[title]):7.2f}) /"
                  f"{statistics.median(cpus[title]):7.1f}{median / base:8.2f} x"
                  f"{sizes[title] / 1e6:10.1f} MB{each}", flush=True)


def known_events(args, trace):
    """As the trace's own counts have them."""
    info = subprocess.run([args.steptrace, "info", "--json", trace], stdout=subprocess.PIPE)
    return sum(json.loads(info.stdout)["kinds"].values()) if info.returncode == 0 else 0


def count_events(args, trace):
    """One event is one line of text."""
    dump = subprocess.Popen([args.steptrace, "dump", trace], stdout=subprocess.PIPE)
    lines = 0
    while chunk := dump.stdout.read(1 << 20):
        lines += chunk.count(b"\n")
    if dump.wait() != 0:
        raise RuntimeError(f"steptrace dump {trace} ended with {dump.returncode}")
    return lines


def record(args, workload, resolution, directory):
    trace = directory / f"{workloads.name(workload)}-{resolution}.step"
    run_workload(args, workload, java_arguments(args, "traced", trace, resolution), directory)
    return trace


def measure_size(args, directory):
    print("size: bytes an event")
    for workload in args.workload:
        for resolution in ("1us", "1ns"):
            trace = record(args, workload, resolution, directory)
            size, events = trace.stat().st_size, count_events(args, trace)
            print(f"{workloads.name(workload):16} {resolution}  {events:12,} events "
                  f"{size:12,} bytes  {size / events:.4f} bytes an event", flush=True)
            trace.unlink()


def read_in_all_ways(args, name, trace, events, directory):
    zipped, hatf, again = (directory / f"read.{ending}" for ending in ("zip", "hatf", "step"))
    commands = {
        "stats": ["stats", trace], "dump": ["dump", trace], "check": ["check", trace],
        "to zip": ["convert", trace, "-o", zipped], "to hatf": ["convert", trace, "-o", hatf],
        "from zip": ["convert", zipped, "-o", again],
    }
    for title in args.ways.split(",") if args.ways else commands:
        arguments = commands[title]
        wall, cpu, peak = timed([args.steptrace, *map(str, arguments)], None)
        print(f"{name:16} {title:9} {events:13,} events {wall:7.2f} s {events / wall / 1e6:7.2f} "
              f"M/s, {events / cpu / 1e6:7.2f} M/s of processor time {peak:7.0f} MiB", flush=True)
    for path in (zipped, hatf, again):
        path.unlink(missing_ok=True)


def measure_read(args, directory):
    print("read: million events a second, and peak memory")
    for workload in args.workload:
        trace = record(args, workload, args.resolution, directory)
        read_in_all_ways(args, workloads.name(workload), trace, count_events(args, trace),
                         directory)
        trace.unlink()


def measure_memory(args, directory):
    print(f"memory: made-up traces in which {args.live:,} objects are alive at any time")
    for events in (args.events // 10, args.events):
        trace = directory / "made.step"
        made = subprocess.run([args.make_trace, str(events), str(args.live), trace], check=True,
                              stdout=subprocess.PIPE)
        read_in_all_ways(args, "made up", trace, int(made.stdout), directory)
        trace.unlink()


def measure_startup(args, directory):
    rounds = max(args.rounds, 5)
    print(f"startup: Hello World, wall seconds, median of {rounds}")
    walls = {mode: [] for mode in MODES}
    for _ in range(rounds):
        for mode in MODES:
            trace = directory / "startup.step"
            walls[mode].append(run_workload(args, "hello", java_arguments(args, mode, trace),
                                            directory)[0])
            trace.unlink(missing_ok=True)
    median = {mode: statistics.median(walls[mode]) for mode in MODES}
    print("  ".join(f"{mode} {median[mode]:.3f}" for mode in MODES)
          + f"  added {median['traced'] - median['untraced']:.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("cost", "bars", "size", "read", "startup", "all", "memory"))
    parser.add_argument("workload", nargs="*", help="a script's path, or javac, threads")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build-gcc"),
                        help="build directory (default: build-gcc)")
    parser.add_argument("--java", default=shutil.which("java"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--resolution", default="1us")
    parser.add_argument("--agent-options", default="", help="more options for libtracer")
    parser.add_argument("--way", action="append", default=[],
                        help="cost: untraced, bare, TITLE:AGENT_OPTIONS or TITLE:-JAVA_OPTIONS (TRACE in "
                             "them is a file's name); several, compared with the first (default: "
                             "untraced, bare, traced)")
    parser.add_argument("--ways", help="read and memory: which, e.g. stats,dump (default: all)")
    parser.add_argument("--events", type=int, default=20_000_000, help="memory: in the longer trace")
    parser.add_argument("--live", type=int, default=100_000, help="memory: objects alive")
    parser.add_argument("--agent", type=pathlib.Path, help="libtracer.so (default: the build's)")
    parser.add_argument("--steptrace", type=pathlib.Path, help="steptrace (default: the build's)")
    parser.add_argument("--work", help="where traces are written (default: a temporary directory)")
    args = parser.parse_intermixed_args()
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    build = args.build.resolve()
    args.agent = (args.agent or build / "agent" / "libtracer.so").resolve()
    args.steptrace = (args.steptrace or build / "converter" / "steptrace").resolve()
    args.bare = build / "tests" / "bench" / "libbareagent.so"
    args.make_trace = build / "tests" / "bench" / "make_trace"
    args.workload = args.workload or ["javac", "threads"]
    kinds = {"cost": measure_cost, "size": measure_size, "read": measure_read,
             "startup": measure_startup}
    with tempfile.TemporaryDirectory(prefix="steptrace-bench-", dir=args.work) as directory:
        for kind in kinds if args.what == "all" else (args.what,):
            {**kinds, "bars": measure_cost, "memory": measure_memory}[kind](args, pathlib.Path(directory))
    return 0


if __name__ == "__main__":
    sys.exit(main())
