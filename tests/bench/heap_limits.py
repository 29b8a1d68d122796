#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The heap that `steptrace simulate` says a program needs beside the one in which the untraced program runs.

  heap_limits.py [--collect 1m] [--dated] [--young 4m] WORKLOAD...      the least -Xmx, by bisection
  heap_limits.py --young 4m --heap 20m,22m,24m WORKLOAD...              young and full collections in these heaps

Serial.  The traced run clears soft references at once, as a JVM does before it gives up.  Without --young the young generation is a third of the heap.  A run that takes longer than --patience seconds
counts as one that fails: near its least heap a program collects all the time.  A workload is a script that runs
$JAVA $JAVA_ARGS PROGRAM in $WORK_DIR, or a built-in one of run_bench.py."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import simulate_logs
import workloads

MIB = 1 << 20
STEP = 2  # MiB: HotSpot rounds -Xmx
NEAR = 0.05
NO_SOFT = "-XX:SoftRefLRUPolicyMSPerMB=0"
OUT_OF_MEMORY = "OutOfMemoryError"


def runs_in(args, workload, mib, directory):
    young = f"-Xmn{args.young}" if args.young else ""
    try:
        is_good, output = simulate_logs.run(args, workload, f"-XX:+UseSerialGC {young} -Xmx{mib}m {args.vm}", directory, args.patience)
    except subprocess.TimeoutExpired:
        print(f"  {workloads.name(workload)}: no end in {args.patience} s in {mib} MiB", file=sys.stderr, flush=True)
        return False
    return is_good and OUT_OF_MEMORY not in output


def least_heap(args, workload, model, directory):
    """By bisection from what the model says; returns MiB."""
    guess = model // MIB // STEP
    low, high = guess - 1, guess
    while low > 0 and runs_in(args, workload, STEP * low, directory):
        low, high = max(0, low - (high - low) * 2), low
    if high == guess:
        while not runs_in(args, workload, STEP * high, directory):
            low, high = high, high + (high - low) * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if runs_in(args, workload, STEP * middle, directory) else (middle, high)
    return STEP * high


def compare_least(args, workload, trace, directory):
    answer = json.loads(simulate_logs.tool(args, "simulate", "--json", "--young", args.young or "4m", trace))
    model = answer["generations"][0]["least_heap"] if args.young else answer["least_heap"]
    found = least_heap(args, workload, model, directory)
    is_near = abs(model / MIB - found) <= max(NEAR * found, STEP)
    print(f"| {workloads.name(workload)} | {args.young or 'a third'} | {found} | {model // MIB} | {answer['minimum_heap'] / MIB:.1f} "
          f"| {100 * (model / MIB / found - 1):+.1f} % |{'' if is_near else ' not within 5 % or 2 MiB'}", flush=True)


def logged(args, workload, heap, directory):
    """Young collections, full ones, how the run ended."""
    log, end = pathlib.Path(directory) / "gc.log", ""
    log.unlink(missing_ok=True)
    options = f"-XX:+UseSerialGC -Xms{heap} -Xmx{heap} -Xmn{args.young} {args.vm} -Xlog:gc*:file={log}:none"
    try:
        is_good, output = simulate_logs.run(args, workload, options, directory, args.patience)
        if not is_good or OUT_OF_MEMORY in output:
            end = "out of memory"
    except subprocess.TimeoutExpired:
        end = f"stopped after {args.patience:.0f} s"
    text = log.read_text(encoding="utf-8")
    full = len(re.findall(r"Pause Full .*ms$", text, re.MULTILINE))
    return len(re.findall(r"Tenured: \d+K", text)) - full, full, end


def compare_collections(args, workload, trace, directory):
    answer = json.loads(simulate_logs.tool(args, "simulate", "--json", "--young", args.young, "--heap", args.heap, trace))
    for model in answer["generations"]:
        young, full, end = logged(args, workload, f"{model['heap'] >> 20}m", directory)
        said = (f"{model['collections']} | {model['full_collections']}" if model["fits"] else "too small | ")
        print(f"| {workloads.name(workload)} | {model['heap'] >> 20} MiB | {young} | {full} | {said} | {end} |", flush=True)


def main():
    parser = simulate_logs.common_arguments(__doc__)
    parser.add_argument("--young", default="", help="as -Xmn")
    parser.add_argument("--heap", default="", help="count collections in heaps of these sizes")
    parser.add_argument("--trace", help="of the only workload, recorded before")
    parser.add_argument("--patience", type=float, default=120, help="seconds for one run")
    args = simulate_logs.parsed(parser)
    print(f"JDK {args.version}, collect={args.collect}{', dated' if args.dated else ''}{', ' + args.vm if args.vm else ''}")
    if args.heap:
        args.young = args.young or "4m"
        print("| program | heap | young: JVM | full | young: model | full | |\n|---|---|---|---|---|---|---|")
    else:
        print("| program | young | least -Xmx, MiB | model | most that lived | difference |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as directory:
        for workload in args.workloads:
            trace = args.trace or simulate_logs.record(args, workload, directory, vm="" if args.heap else NO_SOFT)
            (compare_collections if args.heap else compare_least)(args, workload, trace, directory)


if __name__ == "__main__":
    main()
