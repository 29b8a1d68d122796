#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""coverage.py [--build BUILD] [--functions N]: lines that the tests ran, by folder, and the largest functions that none ran.

BUILD is compiled with --coverage, and its tests have run (docs/testing.md says how).  A line is covered if any object of the build ran it.
What a process ran is known only if it came to its end: counters of killed processes, and of those that end by _exit(), are lost.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
OURS = ("agent", "analyses", "capture", "compilers", "converter", "format", "java", "malloc-recorder", "python")
FILES_A_RUN = 24


def notes(build):
    """The counters of each object, or its notes alone if none of its code ran."""
    for path in sorted(build.rglob("*.gcno")):
        counters = path.with_suffix(".gcda")
        yield counters if counters.exists() else path


def documents(paths):
    """What gcov says of some objects."""
    done = subprocess.run(["gcov", "--json-format", "--stdout", *map(str, paths)], check=True, capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


class Counts:
    def __init__(self):
        self.lines = {}      # (file, line): how often
        self.functions = {}  # (file, first line, name): how often
        self.bodies = collections.defaultdict(set)  # the same: lines

    def put(self, document):
        """An object's; the headers that it includes are in it, too."""
        for part in document["files"]:
            path = os.path.relpath(os.path.join(document["current_working_directory"], part["file"]), ROOT)
            if path.split(os.sep)[0] not in OURS:
                continue
            places = {}
            for function in part["functions"]:
                places[function["name"]] = (path, function["start_line"], function["name"])
                place = places[function["name"]]
                self.functions[place] = self.functions.get(place, 0) + function["execution_count"]
            for line in part["lines"]:
                key = path, line["line_number"]
                self.lines[key] = self.lines.get(key, 0) + line["count"]
                if line.get("function_name") in places:
                    self.bodies[places[line["function_name"]]].add(line["line_number"])

    def folders(self):
        """Of each folder: lines that ran, and all."""
        found = collections.defaultdict(lambda: [0, 0])
        for (path, _), count in self.lines.items():
            row = found["/".join(path.split("/")[:-1][:2])]
            row[0] += count > 0
            row[1] += 1
        return sorted(found.items())

    def never_run(self):
        """(lines, file, first line, name), the largest first."""
        return sorted(((len(self.bodies[place]), *place) for place, count in self.functions.items() if not count), key=lambda row: (-row[0], row))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build-cov")
    parser.add_argument("--functions", type=int, default=20)
    arguments = parser.parse_args()
    paths = list(notes(arguments.build))
    if not any(path.suffix == ".gcda" for path in paths):
        sys.exit(f"coverage.py: {arguments.build}: no counters (a build with --coverage, and its tests)")
    counts = Counts()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(documents, (paths[at:at + FILES_A_RUN] for at in range(0, len(paths), FILES_A_RUN))):
            for document in found:
                counts.put(document)
    print("| folder | lines | run | |\n|---|--:|--:|--:|")
    folders = counts.folders()
    for name, (ran, lines) in folders:
        print(f"| {name} | {lines:,} | {ran:,} | {100 * ran / lines:.0f} % |")
    ran, lines = (sum(row[which] for _, row in folders) for which in (0, 1))
    print(f"| all | {lines:,} | {ran:,} | {100 * ran / lines:.1f} % |\n")
    never = counts.never_run()
    print(f"{len(counts.functions):,} functions, {len(never):,} never run ({sum(row[0] for row in never):,} lines)\n")
    print("| lines | function |\n|--:|---|")
    for size, path, line, name in never[:arguments.functions]:
        print(f"| {size} | `{path}:{line}` `{name}` |")


if __name__ == "__main__":
    main()
