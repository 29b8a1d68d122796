#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often the 95 % intervals of engine=sampled contain what a program itself has counted (Coverage.java): allocated
objects and bytes, those that died, those that live, and the mean lifetime of the dead, by class and by site.  For
docs/results/sampled-accuracy.md

  coverage.py --build build-gcc --jdk /usr/lib/jvm/temurin-25-jdk-amd64 --runs 20
  coverage.py --jdks /work/jdks --jdk /usr/lib/jvm/java-21-openjdk-amd64 --options sample=256k  # in that root, no totals

No command prints a range of the mean lifetime by site: that is computed here from the weights, as docs/engine-sampled.md
says.  Programs know the ends of collections with G1; otherwise there are no lifetimes.

Escape analysis is off, so that the program knows what is allocated.  A row without a line, for which nothing was
sampled and no total is known, does not count as an interval; their number is printed.  Widths are medians, as a share of
the truth, of intervals that are no exact numbers; --reader BUILD (more than once) compares steptrace of several builds on
the same runs.
"""
import argparse
import collections
import json
import math
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "model"))
import estimates_of  # noqa: E402  pylint: disable=wrong-import-position

SCENARIOS = ["mix-1", "mix-10", "mix-150", "sizes", "three-sizes", "threads", "short-threads", "huge", "rare", "bursts", "phases",
             "recursion", "site-mix", "site-bias", "site-few", "medium"]
COLUMNS = ("objects", "bytes", "live objects", "live bytes", "freed objects", "freed bytes", "mean lifetime")


class Counts:
    """Intervals that were judged, those with the truth, and rows without one."""

    def __init__(self):
        self.judged = self.hits = self.absent = 0
        self.error = 0.0
        self.widths = []

    def add(self, interval, truth):
        if interval is None:
            self.absent += 1
            return
        value, low, high = interval
        self.judged += 1
        self.hits += low <= truth <= high
        self.error += abs(value - truth) / truth if truth else 0
        if truth and high > low:
            self.widths.append((high - low) / truth)

    def text(self):
        if not self.judged:
            return f"- | - | - | {self.absent}"
        width = f"{100 * statistics.median(self.widths):.0f} %" if self.widths else "0"
        return (f"{self.hits} of {self.judged} ({100 * self.hits / self.judged:.1f} %) | "
                f"{100 * self.error / self.judged:.1f} % | {width} | {self.absent}")


def steptrace(reader, *words):
    done = subprocess.run([f"{reader}/converter/steptrace", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=True)
    return json.loads(done.stdout)


def interval_of(value):
    """Value and bounds of a number of `stats --json`, which is an object if it is an estimate."""
    if not isinstance(value, dict):
        return value, value, value
    return value["estimate"], value["low"], value.get("high", float("inf"))


def members_of(row, name):
    """The same of a number of `heap --json`, whose bounds are members beside it."""
    return row[name], row.get(f"{name}_low", row[name]), row.get(f"{name}_high", row[name])


def by_class(reader, file):
    names = ("allocated_objects", "allocated_bytes", "live_objects", "live_bytes", "freed_objects", "freed_bytes", "mean_lifetime_ns")
    rows = steptrace(reader, "stats", file, "--json", "--top=0")["classes"]
    return {row["name"]: {column: interval_of(row[name]) for column, name in zip(COLUMNS, names) if name in row}
            for row in rows}


def by_site(reader, file):
    found = collections.defaultdict(dict)
    for prefix, more in (("", ["--allocated"]), ("live ", [])):
        rows = steptrace(reader, "heap", file, "--at", "end", "--by", "site", "--top", "0", "--json", *more)["rows"]
        for row in rows:
            site = re.match(r"Coverage\.(\w+)", row["site"][0]) if row["site"] else None
            if site:
                for name in ("objects", "bytes"):
                    found[site[1]][prefix + name] = members_of(row, name)
    for site, samples in lives_by_site(reader, file).items():
        value, low, high = estimates_of.mean_life(samples)
        found[site]["mean lifetime"] = value, low, math.inf if high is None else high
    return found


def lives_by_site(reader, file):
    found = collections.defaultdict(list)
    for row in steptrace(reader, "sql", "--json", file, "select stack, life_weight, died - born as life from objects join sites using (site) "
                                                      "where not alive and life_weight > 0"):
        site = re.match(r"Coverage\.(\w+)", row["stack"])
        if site:
            found[site[1]].append((row["life_weight"], row["life"]))
    return found


def run(args, scenario, directory):
    """One run: the truth, and the file."""
    file = f"{directory}/run.step"
    java = [f"{args.jdk}/bin/java", "-Xmx400m", *args.java_options.split(), "-XX:-DoEscapeAnalysis",
            f"-agentpath:{args.build}/agent/libtracer.so=file={file},overwrite=yes,engine=sampled,stack=1,{args.options}",
            "-cp", args.classes, "Coverage", scenario]
    inside = [str(HERE.parent.parent / "scripts/jdks.sh"), "run", args.jdks] if args.jdks else []
    done = subprocess.run(inside + java, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=directory, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{scenario}: {done.stderr}")
    truth = {"class": {}, "site": {}}
    for line in done.stdout.splitlines():
        kind, name, *numbers = line.split()
        if kind == "life":
            truth[name][numbers[0]]["mean lifetime"] = int(numbers[1])
            continue
        objects, size, live, live_bytes = map(int, numbers)
        truth[kind][name] = dict(zip(COLUMNS, (objects, size, live, live_bytes, objects - live, size - live_bytes)))
    return truth, file


def judge(args, scenario, directory, counts):
    truth, file = run(args, scenario, directory)
    for reader in args.reader:
        for axis, found in (("class", by_class(reader, file)), ("site", by_site(reader, file))):
            for name, numbers in truth[axis].items():
                judge_row(args, (reader, scenario, axis, name), numbers, found.get(name), counts)


def judge_row(args, key, numbers, row, counts):
    reader, scenario, axis, name = key
    for column, number in numbers.items():
        if axis == "site" and column.startswith("freed"):
            continue
        interval = row.get(column) if row else None
        if interval is None and number == 0:
            continue
        counts[reader, scenario, axis, column].add(interval, number)
        if args.misses and interval and not interval[1] <= number <= interval[2]:
            print(f"{scenario}: {axis} {name}: {number} {column}, not {interval[0]} ({interval[1]} to {interval[2]})", flush=True)


def sum_of(counts, keys):
    total = Counts()
    for key in keys:
        for member in vars(total):
            setattr(total, member, getattr(total, member) + getattr(counts[key], member))
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build-gcc", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--reader", action="append", type=lambda path: str(pathlib.Path(path).resolve()),
                        help="build whose steptrace reads the traces; default: that of --build")
    parser.add_argument("--jdk", required=True, help="home of the JDK")
    parser.add_argument("--jdks", help="root directory with that JDK (scripts/jdks.sh)")
    parser.add_argument("--java-options", default="")
    parser.add_argument("--runs", type=int, default=10, help="of each scenario")
    parser.add_argument("--options", default="sample=256k,totals=walk,share=100")
    parser.add_argument("--misses", action="store_true", help="print each interval without the truth")
    parser.add_argument("--least", type=float, default=0.93, help="share of the intervals that must contain the truth")
    parser.add_argument("--scenario", action="append", choices=SCENARIOS, help="default: all")
    args = parser.parse_args()
    args.reader = args.reader or [args.build]
    scenarios = args.scenario or SCENARIOS
    counts = collections.defaultdict(Counts)
    with tempfile.TemporaryDirectory() as directory:
        args.classes = f"{directory}/classes"
        subprocess.run(["javac", "--release", "17", "-d", args.classes, HERE / "Coverage.java"], check=True)
        for _ in range(args.runs):
            for scenario in scenarios:
                judge(args, scenario, directory, counts)
    print(f"{args.jdk} {args.java_options}, {args.options}: {args.runs} runs of {len(scenarios)} programs\n")
    good = [print_counts(args, reader, scenarios, counts) for reader in args.reader]
    sys.exit(0 if all(good) else 1)


HEADS = "intervals with the truth | mean error | width | no row |\n|---|---|---|---|---|---|"


def print_counts(args, reader, scenarios, counts):
    """Returns whether all of them have the truth often enough."""
    good = True
    if len(args.reader) > 1:
        print(f"{reader}:\n")
    print(f"| by | number | {HEADS}")
    for axis in ("class", "site"):
        for column in COLUMNS:
            total = sum_of(counts, [key for key in counts if key[0] == reader and key[2:] == (axis, column)])
            if total.judged:
                print(f"| {axis} | {column} | {total.text()} |")
                good &= total.hits >= args.least * total.judged
    print(f"\n| program | by | {HEADS}")
    for scenario in scenarios:
        for axis in ("class", "site"):
            total = sum_of(counts, [key for key in counts if key[:3] == (reader, scenario, axis)])
            print(f"| {scenario} | {axis} | {total.text()} |")
            good &= total.hits >= args.least * total.judged
    print()
    return good


if __name__ == "__main__":
    main()
