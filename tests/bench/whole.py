#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole traces of workloads, as `steptrace check` judges them: one row for each workload and JVM, for
docs/results/storm.md.

  whole.py --jdk 17 --jdk 25 /path/of/workload.sh ...
  whole.py --options events=all,include=** --jdk 17 javac

Workloads are those of run_bench.py; a script has its inputs in $BENCH_HOME.  Build first: cmake --build
build-gcc --target tracer steptrace.  Each trace is deleted when it is judged, but not where it has a
breach.  Exit status 1: one has, or a run failed.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import workloads

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "storm"))
import machines  # noqa: E402  (its folder is no package)


def run(args, workload, machine, directory):
    """Its words for the row, and whether all is right."""
    trace, work = directory / "run.step", directory / "work"
    work.mkdir()
    java = machine.tool("java")
    java_args = f"-agentpath:{args.tracer}=file={trace},overwrite=yes,{args.options},finish=60min"
    env = dict(os.environ, JAVA=java, JAVA_ARGS=java_args, WORK_DIR=str(work))
    begin = time.monotonic()
    try:
        done = subprocess.run(workloads.command(workload, java, java_args, work, args.work),
                              env=env, cwd=work, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, timeout=args.timeout, check=False)
    except subprocess.TimeoutExpired:
        return [f"no end in {args.timeout:.0f} s"], False
    traced = time.monotonic() - begin
    if done.returncode != 0 or not trace.exists():
        return [f"it ends with {done.returncode}: {done.stderr.decode(errors='replace')[-300:]}"], False
    size = trace.stat().st_size
    begin = time.monotonic()
    check = subprocess.run([args.steptrace, "check", trace], stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, check=False)
    text = check.stdout.decode(errors="replace")
    events = re.search(r"^(\d+) events: (?:(\d+) breaches)?", text, re.MULTILINE)
    if events is None:
        return [f"check ends with {check.returncode}: {text[-300:]}"], False
    breaches = int(events[2] or 0)
    if breaches:
        print(text, file=sys.stderr)
    is_right = breaches == 0 and text.endswith(": closed\n")
    return [f"{int(events[1]):,}", str(breaches) if is_right else f"{breaches}: {text[-100:].strip()}",
            f"{size / 1e6:,.1f}", f"{traced:.0f}", f"{time.monotonic() - begin:.0f}"], is_right


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build-gcc"))
    parser.add_argument("--jdk", action="append", required=True, help="17, 25, 17-zero")
    parser.add_argument("--options", default="events=all", help="of the agent")
    parser.add_argument("--timeout", type=float, default=1800, help="seconds that one run may take")
    parser.add_argument("--directory", help="where the traces go")
    parser.add_argument("workload", nargs="+")
    args = parser.parse_args()
    args.tracer = args.build.resolve() / "agent" / "libtracer.so"
    args.steptrace = args.build.resolve() / "converter" / "steptrace"
    return args


def main():
    args = arguments()
    args.work = pathlib.Path(tempfile.mkdtemp(prefix="whole-", dir=args.directory))
    known = {machine.name: machine for machine in machines.find([])}
    faults = 0
    print("| workload | JDK | events | breaches | MB | s, traced | s, check |\n"
          "|---|---|--:|--:|--:|--:|--:|", flush=True)
    for workload in args.workload:
        for jdk in args.jdk:
            place = args.work / f"{workloads.name(workload)}-{jdk}"
            place.mkdir()
            words, is_right = run(args, workload, known[jdk], place)
            faults += not is_right
            print("| " + " | ".join([workloads.name(workload), jdk, *words]) + " |", flush=True)
            if is_right:
                shutil.rmtree(place)
    if not faults:
        shutil.rmtree(args.work)
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
