#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check-docs.py: is what the pages about the source say still there?

In architecture.md, CONTRIBUTING.md, README.md's source tour and the READMEs of folders, each `path` must be a file
or a folder, each `path:function` must be a function that this file has, each unit_x, fuzz_x and
bench_x a test of the tree (or the beginning of its name); links are check-links.py's.
In a list of `path:function`s, as in architecture.md's journeys, each function is reached from one before it.
X and FOLDER in a path stand for any; a folder's page names its own files without the path.
"""
import os
import re
import subprocess
import sys

from source_calls import Calls

PAGES = ["docs/architecture.md", "docs/README.md", "CONTRIBUTING.md", "README.md"]
TOPS = r"(?:agent|capture|cmake|compilers|converter|docs|examples|format|java-tests|malloc-recorder|python|scripts|tests)"


CALLS_BETWEEN = 4  # at most, from one place of a journey to the next


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def defines(path, name):
    """A definition at the line's start, or `name(` in a table or macro of a header."""
    return re.search(rf"^[A-Za-z].*\b{name}\(|^{name}\(", read(path), re.M) is not None


def tests():
    """The names of unit tests' folders, fuzz targets and benchmarks."""
    names = ["fuzz_verbs"]
    for folder, _, files in os.walk("tests"):
        names += [n[:-2] for n in files if re.match(r"(fuzz|bench)_\w+\.c$", n)]
        for root, name in (("tests/unit/", "unit_"), ("tests/formats/", "unit_format_")):
            if folder.startswith(root):
                names.append(name + re.sub(r"\W", "_", folder[len(root):]))
    return names


def is_test(name, names):
    return any(n.startswith(name) or (n.startswith("unit_") and name.startswith(n)) for n in names)


def journeys(text):
    """The functions of each list whose lines begin with `path:function`."""
    for block in re.findall(rf"(?:^- `{TOPS}/[^\n]*\n(?:  [^\n]*\n)*)+", text, re.M):
        named = re.findall(rf"`{TOPS}/[\w./-]+:(\w+)`", block)
        if block.startswith("- `") and re.match(rf"- `{TOPS}/[\w./-]+:\w+`", block):
            yield named


def not_reached(names, calls):
    reached = set()
    for i, name in enumerate(names):
        if i > 0 and name not in reached:
            yield name
        reached |= calls.reach(name, CALLS_BETWEEN)


def main():
    os.chdir(os.path.dirname(os.path.abspath(__file__)) + "/..")
    tracked = subprocess.run(["git", "ls-files", "*README.md"], check=True, text=True,
                             stdout=subprocess.PIPE).stdout.split()
    pages = PAGES + [p for p in tracked if p not in PAGES and not p.startswith(("tests/", "java-tests"))]
    faults, count, names = [], 0, tests()
    calls = Calls(("agent", "capture", "compilers", "converter", "format", "malloc-recorder"))
    for page in pages:
        text = read(page)
        here = os.path.dirname(page)
        prose = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
        for quoted in re.findall(r"`([^`\n]+)`", prose):
            own = r"|[\w/]+\.[chyl]|[\w]+/" if page.endswith("/README.md") else ""
            found = re.fullmatch(rf"({TOPS}/[\w./-]*|{TOPS}/?|[A-Z][\w.]+\.(?:md|txt|json){own})(?::(\w+))?", quoted)
            if found is None:
                continue
            path, function = found.groups()
            if re.search(r"(?<![A-Za-z])(X|FOLDER)(?![A-Za-z])", path):  # stands for any
                continue
            count += 1
            if not any(os.path.exists(p) for p in (path, os.path.join(here, path))):
                faults.append(f"{page}: {path}: is not there")
            elif function and not defines(path, function):
                faults.append(f"{page}: {path}: has no {function}()")
        for named in journeys(text):
            count += len(named)
            faults += [f"{page}: {name}(): nothing before it in its list leads there" for name in not_reached(named, calls)]
        for name in re.findall(r"\b(?:unit|fuzz|bench)_[a-z]\w*", text):
            count += 1
            if not is_test(name, names):
                faults.append(f"{page}: {name}: no such test")
    print(*faults, f"{len(pages)} pages, {count} places", sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
