#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the STEP paper's table 1 of real traces, as a Markdown page on standard output.

  step_table.py [--java JAVA] [--trace NAME=FILE.step]... [WORKLOAD]...

Each workload (a script by its path, or a built-in one: see run_bench.py) is run once with the agent,
unless its trace is given; step_table and `steptrace pack` measure that.
"""
import argparse
import concurrent.futures
import datetime
import pathlib
import shutil
import subprocess
import tempfile

import run_bench
import workloads

MB = 1e6


def measure(args, trace, directory):
    """Bytes by form, of the allocations and frees without times, and of the whole trace."""
    out = subprocess.run([args.table, trace], check=True, capture_output=True, text=True).stdout
    sizes = {name: int(value) for name, value in (line.split() for line in out.splitlines())}
    packed = directory / f"{trace.stem}-packed.step"
    subprocess.run([args.steptrace, "pack", trace, "-o", packed], check=True,
                   stderr=subprocess.DEVNULL)
    info = subprocess.run([args.steptrace, "info", trace], check=True, capture_output=True,
                          text=True).stdout
    sizes["events"] = next(int(line.split()[1].replace(",", "")) for line in info.splitlines()
                           if line.startswith("events ") and line.split()[1][0].isdigit())
    sizes["trace"] = trace.stat().st_size
    sizes["trace-packed"] = packed.stat().st_size
    return sizes


def cells(sizes, stored, gzipped=None):
    """Size, bytes a record, compressed size and bytes a record, percent of raw."""
    last = sizes[gzipped or stored]
    row = [f"{sizes[stored] / MB:.2f}", f"{sizes[stored] / sizes['records']:.3f}"]
    if gzipped:
        row += [f"{last / MB:.2f}", f"{last / sizes['records']:.3f}"]
    return row + [f"{100 * last / sizes['raw']:.2f}"]


def print_table(title, heads, rows):
    print(f"\n### {title}\n")
    print("| benchmark | " + " | ".join(heads) + " |")
    print("|---|" + "---:|" * len(heads))
    for name, row in rows:
        print(f"| {name} | " + " | ".join(row) + " |")


def report(measured):
    print("# The STEP paper's table 1, for our workloads\n")
    print("Made by `tests/bench/step_table.py` on " + datetime.date.today().isoformat()
          + "; sizes in MB (10^6 bytes), B/r is bytes a record. The records are all allocations and\n"
          "frees of one run; the raw form has the fields of the paper's figure 2, 22 bytes an\n"
          "allocation and 9 a free, one after the other in the trace's order.")
    stored = ["raw", "B/r", "raw.gz", "B/r", "% of raw"]
    step = ["STEP", "B/r", "STEP.gz", "B/r", "% of raw"]
    print_table("Raw", ["records", *stored],
                [(n, [f"{s['records']:,}", *cells(s, "raw", "raw.gz")]) for n, s in measured])
    print("\n## Without times, as in the paper")
    print_table("Rows, the attributes of figure 2, one stream, gzip", step,
                [(n, cells(s, "paper", "paper.gz")) for n, s in measured])
    print_table("Rows, our attributes (size given class, ids by stride), one stream, gzip", step,
                [(n, cells(s, "rows", "rows.gz")) for n, s in measured])
    print_table("Columns, as the agent records: its streams and blocks, zstd",
                ["STEP", "B/r", "% of raw"], [(n, cells(s, "columns")) for n, s in measured])
    print_table("Packed, as `steptrace pack` writes", ["STEP", "B/r", "% of raw"],
                [(n, cells(s, "packed")) for n, s in measured])
    print("\n## With times of 1 us, and all other events")
    print_table("The trace as recorded, and packed",
                ["events", "recorded", "bytes an event", "packed", "bytes an event"],
                [(n, [f"{s['events']:,}", f"{s['trace'] / MB:.2f}",
                      f"{s['trace'] / s['events']:.3f}", f"{s['trace-packed'] / MB:.2f}",
                      f"{s['trace-packed'] / s['events']:.3f}"]) for n, s in measured])
    print("\nThe paper's own figures: raw 16.9 to 20 bytes a record, STEP 6 to 17.8, STEP and gzip 3.5 to"
          "\n8.2 percent of raw.")


def main():
    build = pathlib.Path("build")
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--java", default=shutil.which("java"))
    parser.add_argument("--agent", default=build / "agent/libtracer.so", type=pathlib.Path)
    parser.add_argument("--steptrace", default=build / "converter/steptrace", type=pathlib.Path)
    parser.add_argument("--table", default=build / "tests/bench/step_table", type=pathlib.Path)
    parser.add_argument("--trace", action="append", default=[], metavar="NAME=FILE.step")
    parser.add_argument("workload", nargs="*")
    args = parser.parse_args()
    args.agent_options = None
    for name in ("agent", "steptrace", "table"):
        setattr(args, name, getattr(args, name).absolute())
    measured = []
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        given = [trace.split("=", 1) for trace in args.trace]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            sizes = pool.map(lambda pair: measure(args, pathlib.Path(pair[1]), directory), given)
            measured += zip((label for label, _ in given), sizes)
        for workload in args.workload:
            trace = run_bench.record(args, workload, "1us", directory)
            measured.append((workloads.name(workload), measure(args, trace, directory)))
            trace.unlink()
    report(measured)


if __name__ == "__main__":
    main()
