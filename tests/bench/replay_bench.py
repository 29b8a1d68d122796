#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes docs/results/replay.md: `steptrace replay` against a plain replayer (plain_replay.c), on the same
traces and allocators, run by turns; of each the least CPU time of so many rounds.

  replay_bench.py --build build-gcc --trace NAME=FILE... [--allocators glibc,...] [--rounds N]
  replay_bench.py --program dot --out -      records programs of heap_programs.py itself, and prints the page
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import heap_programs

DIRECTORIES = ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib", "/usr/lib64")
PAGE = """# Replay: against a plain replayer

Made by `tests/bench/replay_bench.py` (it says how to run it); {machine}.
*plain* is `tests/bench/plain_replay.c`: it reads records of four numbers, looks each address up in a table of
its own and makes the call; the same loop without an allocator is taken off. `steptrace replay` turns addresses into
slots before the clock runs and looks ahead, so that its driver takes less, and less of the cache away from
the allocator. CPU time, the least of {rounds} rounds, by turns; both write to the first byte of each block.

| trace | calls | allocator | replay ns/call | its driver | plain ns/call | its loop | peak RSS replay / plain, MiB |
| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |
{rows}
The calls are the same in both ({same}).
"""


def library(name):
    if name == "glibc":
        return ""
    found = [path for directory in DIRECTORIES for path in
             sorted(pathlib.Path(directory).glob(f"lib{name}*.so.*")) if "debug" not in path.name]
    return str(found[0]) if found else None


def plain(args, trace, preload):
    env = dict(os.environ, LD_PRELOAD=preload) if preload else os.environ
    words = subprocess.run([args.build / "tests/bench/plain_replay", trace], env=env, check=True,
                           capture_output=True, text=True).stdout.split()
    return [int(word) for word in words]


def ours(args, trace, name):
    done = subprocess.run([args.build / "converter/steptrace", "replay", trace, "-a", name, "--json"],
                          check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def measure(args, name, path, work):
    rows, same = [], True
    binary = work / f"{name}.simple.bin"
    subprocess.run([args.build / "converter/steptrace", "convert", path, "-o", binary], check=True)
    for allocator in args.allocators.split(","):
        preload = library(allocator)
        if preload is None:
            continue
        plains, replays = [], []
        for _ in range(args.rounds):
            replays.append(ours(args, path, preload or "glibc"))
            plains.append(plain(args, binary, preload))
        best = min(replays, key=lambda result: result["allocators"][0]["allocator_ns"])
        calls, _, loop, _ = plains[0]
        loop = min(row[2] for row in plains)
        spent = min(row[1] for row in plains)
        result = best["allocators"][0]
        same = same and calls == best["calls"]
        rows.append(f"| {name} | {calls:,} | {allocator} | {result['ns_per_call']:.1f} | "
                    f"{best['driver_ns_per_call']:.1f} | {(spent - loop) / calls:.1f} | {loop / calls:.1f} | "
                    f"{result['peak_resident_bytes'] / 2**20:.1f} / "
                    f"{min(row[3] for row in plains) / 2**20:.1f} |")
    binary.unlink()
    return rows, same


def machine():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return f"{os.cpu_count()} processors, {line.split(':', 1)[1].strip()}"
    return f"{os.cpu_count()} processors"


def recorded(args, name, work):
    """The trace of a program of heap_programs.py."""
    command, environment = heap_programs.prepare(name, work)
    trace = work / f"{name}.step"
    subprocess.run([args.build / "converter/steptrace", "record-malloc", "-o", trace, "--", *command], check=True,
                   env={**os.environ, **environment}, stdout=subprocess.DEVNULL)
    return trace


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    here = pathlib.Path(__file__).resolve().parents[2]
    parser.add_argument("--build", type=pathlib.Path, default=here / "build-gcc")
    parser.add_argument("--out", type=pathlib.Path, default=here / "docs/results/replay.md")
    parser.add_argument("--trace", action="append", default=[], help="NAME=FILE")
    parser.add_argument("--program", action="append", default=[], help="to be recorded: one of " +
                        ", ".join(heap_programs.PROGRAMS))
    parser.add_argument("--allocators", default="glibc,jemalloc,tcmalloc_minimal,mimalloc")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    rows, same = [], True
    with tempfile.TemporaryDirectory() as work:
        traces = [pair.split("=", 1) for pair in args.trace]
        traces += [(name, recorded(args, name, pathlib.Path(work))) for name in args.program]
        for name, path in traces:
            more, is_same = measure(args, name, path, pathlib.Path(work))
            rows += more
            same = same and is_same
    page = PAGE.format(machine=machine(), rounds=args.rounds, rows="\n".join(rows) + "\n",
                       same="checked" if same else "NOT so")
    if str(args.out) == "-":
        sys.stdout.write(page)
    else:
        args.out.write_text(page)
        print(args.out)
    return 0 if same else 1


if __name__ == "__main__":
    raise SystemExit(main())
