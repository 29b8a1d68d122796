#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""other_ways.py STEPTRACE RUN.step DIRECTORY: objects and bytes by class, in each way that there is.

The user's other way is text (`steptrace dump`), then awk or pandas; ours are SQL, numpy, pandas, Parquet and
ClickHouse's Native of the same trace.  A line for each: processor seconds (user and system, of the process
and what it starts), seconds by the clock, most memory, bytes of files that it reads or leaves.  All sums are compared.
PYTHONPATH=BUILD/python has to lead to the package; what is missing is passed over.
"""
import os
import subprocess
import sys
import time

AWK = """BEGIN { FS = ":" } $1 == "OA" { n[$3]++ } END { for (c in n) print c, n[c] }"""

PANDAS_OF_TEXT = """
import pandas, sys
frames = pandas.read_csv(sys.argv[1], sep=":", header=None, names=["kind", "time", "class", "object"],
                         dtype={"kind": "category", "class": "category"}, chunksize=1 << 20, engine="c",
                         usecols=["kind", "class"])
total = {}
for frame in frames:
    for name, count in frame[frame.kind == "OA"]["class"].value_counts().items():
        if count: total[name] = total.get(name, 0) + count
for name in total: print(name, total[name])
"""
NUMPY = """
import numpy, steptrace, sys
rows = steptrace.open(sys.argv[1]).objects(["class"]).read()
for name, count in zip(rows.names("class"), numpy.bincount(rows.codes("class"))): print(name, count)
"""
PANDAS = """
import steptrace, sys
frame = steptrace.open(sys.argv[1]).objects(["class", "size"]).pandas()
for name, count in frame.groupby("class")["size"].count().items(): print(name, count)
"""
SQL = "select class || ' ' || count(*) from objects group by class"


def measure(words, out=None):
    """(processor seconds, seconds, MiB, output) of a command; None where it fails."""
    began = time.monotonic()
    with subprocess.Popen(words, stdout=out or subprocess.PIPE) as process:
        text = b"" if out else process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        return None
    return (used.ru_utime + used.ru_stime, time.monotonic() - began, used.ru_maxrss // 1024,
            text.decode())


def counts_of(text):
    lines = [line.strip().rsplit(" ", 1) for line in text.splitlines()]
    return {line[0]: int(line[1]) for line in lines if line[-1].isdigit() and int(line[-1]) > 0}


def tell(name, found, size):
    print(f"| {name} | {found[0]:.2f} | {found[1]:.2f} | {found[2]:,} | {size:,} |", flush=True)


def size_of(path):
    return sum(os.path.getsize(os.path.join(folder, name))
               for folder, _, names in os.walk(path) for name in names) or os.path.getsize(path)


def main():
    steptrace, trace, work = sys.argv[1:]
    python, text = "/usr/bin/python3", f"{work}/other_ways.txt"
    print("| way | processor s | s | MiB | bytes |\n|---|---:|---:|---:|---:|")
    with open(text, "wb") as file:
        made = measure([steptrace, "dump", trace], file)
    tell("`dump` to text", made, size_of(text))
    sums = {}
    for name, words, size in (
            ("awk on the text", ["awk", AWK, text], size_of(text)),
            ("pandas on the text", [python, "-c", PANDAS_OF_TEXT, text], size_of(text)),
            ("SQL", [steptrace, "sql", trace, SQL], size_of(trace)),
            ("numpy", [python, "-c", NUMPY, trace], size_of(trace)),
            ("pandas", [python, "-c", PANDAS, trace], size_of(trace))):
        found = measure(words)
        if found is None:
            print(f"| {name} | not to be had here | | | |")
            continue
        sums[name] = counts_of(found[3])
        tell(name, found, size)
    os.remove(text)
    for form, path in (("parquet", f"{work}/other_ways.lake"),
                       ("clickhouse-native", f"{work}/other_ways.native")):
        found = measure([steptrace, "convert", trace, "-o", path, f"--to={form}", "--table=objects"])
        tell(f"`convert --to={form}`, all columns", found, size_of(path))
    first = next(iter(sums.values()))
    for name, found in sums.items():
        if found != first:
            sys.exit(f"{name} says something else")
    print(f"\n{sum(first.values()):,} objects of {len(first):,} classes: the same in each way.")


if __name__ == "__main__":
    main()
