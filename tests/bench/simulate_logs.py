#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `steptrace simulate` says of a program's trace beside what the JVM's log says of untraced runs:

  simulate_logs.py [--collector g1] [--collect 256k] [--dated] [--young 4m,8m,16m,32m] [--vm=OPTION] WORKLOAD...

heap_limits.py has the heaps in which the program runs at all.
A workload is a script that runs $JAVA $JAVA_ARGS PROGRAM in $WORK_DIR, or a built-in one of
run_bench.py.  The counts depend on the program, not on the machine's speed."""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import workloads

COLLECTORS = {
    "serial": ("-XX:+UseSerialGC", "--young", "generations"),
    "g1": ("-XX:+UseG1GC -XX:ParallelGCThreads=1 -XX:G1HeapRegionSize=1m", "--young-regions", "regions"),
}
MIB = 1 << 20


def common_arguments(text):
    """What heap_limits.py takes as well."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build-gcc")
    parser.add_argument("--java", default=shutil.which("java"))
    parser.add_argument("--collect", default="256k", help="the agent's option")
    parser.add_argument("--dated", action="store_true", help="record references, and date deaths")
    parser.add_argument("--methods", default="", metavar="PATTERNS", help="with --dated: calls of these methods (the agent's\n"
                        "option include, as com.acme.**), which show what frames hold")
    parser.add_argument("--vm", default="", help="options of the logged runs, as -XX:-DoEscapeAnalysis: objects that the\n"
                        "compiler removes are in a trace")
    parser.add_argument("--memory", default="1g", help="the heap of the traced run, and of logged ones without a limit")
    parser.add_argument("workloads", nargs="+")
    return parser


def parsed(parser):
    args = parser.parse_args()
    args.build_path = str(pathlib.Path(args.build).resolve())
    text = subprocess.run([args.java, "-version"], stderr=subprocess.PIPE, check=True).stderr.decode()
    args.version = int(re.search(r'version "(\d+)', text).group(1))
    return args


def run(args, workload, java_arguments, directory, patience=None):
    """Returns whether the program succeeded, and what it printed."""
    work = pathlib.Path(directory) / "work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    command = workloads.command(workload, args.java, java_arguments, work, pathlib.Path(directory))
    done = subprocess.run(command, cwd=work, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=patience,
                          env={**os.environ, "JAVA": args.java, "JAVA_ARGS": java_arguments, "WORK_DIR": str(work)})
    return done.returncode == 0, done.stdout.decode(errors="replace")


def must_run(args, workload, java_arguments, directory):
    is_good, output = run(args, workload, java_arguments, directory)
    if not is_good:
        sys.exit(f"{workload} with {java_arguments} fails:\n{output[-2000:]}")


def logged(args, workload, young, directory):
    """Collections, copied bytes, promoted bytes, and whether the old generation was collected."""
    log = pathlib.Path(directory) / "gc.log"
    must_run(args, workload, f"{COLLECTORS[args.collector][0]} -Xms{args.memory} -Xmx{args.memory} -Xmn{young} {args.vm} "
             f"-Xlog:gc*,gc+age=trace:file={log}", directory)
    text = log.read_text()
    copied = sum(int(size) for size in re.findall(r"- age +\d+: +(\d+) bytes", text))
    if args.collector == "g1":
        old = [(int(after) - int(before)) * MIB for before, after in re.findall(r"Old regions: (\d+)->(\d+)", text)]
    else:
        old = [(int(after) - int(before)) * 1024 for before, after in re.findall(r"Tenured: (\d+)K\(\d+K\)->(\d+)K", text)]
    return len(old), copied, sum(old), "Pause Full" in text or "Pause Young (Mixed)" in text


def record(args, workload, directory, collector="serial", vm=""):
    """Returns the trace, with dated deaths if they are wanted."""
    trace = pathlib.Path(directory) / "run.step"
    events = "class+alloc+free" + ("+reference" if args.dated else "") + ("+method" if args.methods else "")
    agent = (f"-agentpath:{args.build_path}/agent/libtracer.so=file={trace},overwrite=yes,finish=60min,"
             f"events={events},collect={args.collect}" + (",snapshot=start" if args.dated else "")
             + (f",include={args.methods}" if args.methods else ""))
    must_run(args, workload, f"{COLLECTORS[collector][0]} {vm} -Xmx{args.memory} {agent}", directory)
    if not args.dated:
        return trace
    dated = pathlib.Path(directory) / "dated.step"
    tool(args, "deaths", trace, "-o", dated)
    return dated


def tool(args, *words):
    done = subprocess.run([f"{args.build_path}/converter/steptrace", *map(str, words)], stdout=subprocess.PIPE, check=False)
    if done.returncode not in (0, 3):
        sys.exit(f"steptrace {words} ends with {done.returncode}")
    return done.stdout


def simulated(args, trace):
    _, option, name = COLLECTORS[args.collector]
    old = ["--existing-old"] if args.collector == "g1" or args.version > 17 else []
    return {model["young"]: model for model in
            json.loads(tool(args, "simulate", "--json", option, args.young, *old, trace))[name]}


def compare(args, workload, directory):
    models = simulated(args, record(args, workload, directory, args.collector))
    for size, model in sorted(models.items()):
        collections, copied, promoted, is_collected = logged(args, workload, f"{size >> 20}m", directory)
        print(f"| {workloads.name(workload)} | {size >> 20} MiB | {collections} | {model['collections']} "
              f"| {copied / MIB:.2f} | {model['copied'] / MIB:.2f} | {promoted / MIB:.2f} "
              f"| {model['promoted'] / MIB:.2f} |{' old collected' if is_collected else ''}", flush=True)


def main():
    parser = common_arguments(__doc__)
    parser.add_argument("--collector", choices=COLLECTORS, default="serial")
    parser.add_argument("--young", default="4m,8m,16m,32m")
    args = parsed(parser)
    print(f"JDK {args.version}, {args.collector}, collect={args.collect}{', dated' if args.dated else ''}{', ' + args.vm if args.vm else ''}")
    print("| program | young | collections: JVM | model | copied MiB: JVM | model | promoted MiB: JVM | model |\n"
          "|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as directory:
        for workload in args.workloads:
            compare(args, workload, directory)


if __name__ == "__main__":
    main()
