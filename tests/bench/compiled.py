#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What probes add to C2's work, from the JVM's own log (-XX:+LogCompilation): bytes of code, inlined bytecode and wall
time of the methods that C2 compiled in each way.  JVMs that people use do not say how many nodes there were.

  compiled.py --agent build-gcc/agent/libtracer.so --java /usr/lib/jvm/temurin-25-jdk-amd64/bin/java \\
      --way default: --way stack16:stack=16 WORKLOAD.sh...

A workload is what run_bench.py takes: a script that runs $JAVA $JAVA_ARGS PROGRAM in $WORK_DIR.  Of a method that was
compiled more than once the last compilation counts, code for loops that run (OSR) does not.  Methods that not all ways
compiled are left out of the sums; `alone` says how much code of a way that is.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ATTRIBUTE = re.compile(r"(\w+)='([^']*)'")
NUMBERS = ("code bytes", "inlined bytes", "ms")


def attributes(line):
    return dict(ATTRIBUTE.findall(line))


def numbers_of(task, done):
    """Of one compilation, by the attributes of its begin and end."""
    return {"code bytes": int(done["nmsize"]), "inlined bytes": int(done.get("inlined_bytes", 0)),
            "ms": 1000 * (float(done["stamp"]) - float(task["stamp"]))}


def by_c2(words):
    return words.get("level", "4") == "4" and words.get("compile_kind") != "osr"


def compiled(log):
    """The numbers of each method, by its name."""
    found, task = {}, None
    for line in log:
        line = line.strip()
        if line.startswith("<task "):
            words = attributes(line)
            task = words if by_c2(words) else None
        elif task is not None and line.startswith("<task_done "):
            done = attributes(line)
            if done["success"] == "1" and "nmsize" in done:
                found[task["method"]] = numbers_of(task, done)
            task = None
    return found


def run(args, workload, options):
    """The methods that C2 compiled in a run."""
    with tempfile.TemporaryDirectory(prefix="steptrace-compiled-") as work:
        java = f"-XX:+UseG1GC -XX:+UnlockDiagnosticVMOptions -XX:+LogCompilation -XX:LogFile={work}/log.xml"
        if options is not None:
            java += f" -agentpath:{args.agent}=file={work}/run.step,overwrite=yes,finish=60min,{options}"
        environment = dict(os.environ, JAVA=args.java, JAVA_ARGS=java.rstrip(","), WORK_DIR=work)
        subprocess.run(["bash", workload], env=environment, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.PIPE)
        with open(f"{work}/log.xml", encoding="utf-8", errors="replace") as log:
            return compiled(log)


def report(name, methods, common, base):
    sums = {number: sum(methods[method][number] for method in common) for number in NUMBERS}
    code = sum(numbers["code bytes"] for numbers in methods.values())
    alone = 1 - sums["code bytes"] / code if code else 0
    cells = [f"{sums[number]:.0f} ({sums[number] / base[number]:.2f})" if base and base[number] else f"{sums[number]:.0f}"
             for number in NUMBERS]
    print(f"| {name} | {len(methods)} | {' | '.join(cells)} | {100 * alone:.0f} % |", flush=True)
    return sums


def measure(args, workload):
    ways = [("untraced", None)] + [tuple(way.split(":", 1)) for way in args.way]
    results = {name: run(args, workload, options) for name, options in ways}
    common = set.intersection(*(set(methods) for methods in results.values()))
    print(f"\n{pathlib.Path(workload).stem}: {len(common)} methods that all ways compiled\n")
    print(f"| way | methods | {' | '.join(NUMBERS)} | alone |\n|---|--:|{'--:|' * len(NUMBERS)}--:|")
    base = None
    for name, _ in ways:
        sums = report(name, results[name], common, base)
        base = base or sums


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agent", required=True, type=os.path.abspath)
    parser.add_argument("--java", required=True)
    parser.add_argument("--way", action="append", default=[], metavar="NAME:OPTIONS")
    parser.add_argument("workload", nargs="+")
    args = parser.parse_args()
    for workload in args.workload:
        measure(args, workload)
    return 0


if __name__ == "__main__":
    sys.exit(main())
