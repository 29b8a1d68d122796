#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""snapshot_model.py STEPTRACE TRACE...: the lines that a snapshot has of these traces, as docs/gates.md describes them, made of
`heap --phase` and `info`, a phase at a time.
"""
import collections
import csv
import json
import re
import subprocess
import sys

ONCE = ("java.lang.ClassLoader.loadClass", "java.lang.invoke.MethodHandleNatives.*", "**.$jacocoInit")
PRIMITIVES = dict(zip("ZBCSIJFD", "boolean byte char short int long float double".split()))


def run(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout.decode()


def source_name(name):
    name = name.replace("/", ".")
    dimensions = name.rfind("[") + 1
    element = name[dimensions:]
    if dimensions:
        element = element[1:-1] if element[0] == "L" else PRIMITIVES[element]
    name = re.sub(r"\$\$Lambda[^\[ ]*", "$$Lambda", element + "[]" * dimensions)
    return re.sub(r" \(loader \d+\)", "", re.sub(r"[./]0x[0-9a-f]+", "", name))


def counts(steptrace, trace, phase):
    pattern = re.sub(r"([*?[])", r"[\1]", phase)
    pattern = pattern if not pattern.startswith("!") else "[!]" + pattern[1:]
    words = [word for once in ONCE for word in ("--site", "!" + once)]
    table = run(steptrace, "heap", trace, "--at", "end", "--allocated", "--csv", "--top", "0", "--phase", pattern, *words)
    objects, sizes = collections.Counter(), collections.Counter()
    for row in list(csv.reader(table.splitlines()))[1:]:
        name = source_name(row[2])
        objects[name] += int(row[0])
        sizes[name] += int(row[1])
    largest = sorted(sizes, key=lambda name: (-sizes[name], name))[:3]
    total = sum(objects.values())
    text = f"{total} object{'s' * (total != 1)}, {sum(sizes.values())} bytes"
    return text + (": " if largest else "") + ", ".join(f"{objects[name]} {name}" for name in largest)


def phases(steptrace, trace):
    table = run(steptrace, "sql", trace, "--json", "select distinct phase from phases")
    return [row["phase"] for row in json.loads(table)]


def main(steptrace, *traces):
    lines = collections.defaultdict(set)
    for trace in traces:
        jdk = int(re.search(r"java-vm-version (\d+)", run(steptrace, "info", trace))[1])
        for phase in phases(steptrace, trace):
            if re.fullmatch(r"[\w. ]+", phase, re.ASCII) and phase[0] != " ":
                lines[phase, counts(steptrace, trace, phase)].add(jdk)
    for name, text in sorted(lines, key=lambda key: (key[0], min(lines[key]))):
        print(f"{name} [{' '.join(map(str, sorted(lines[name, text])))}]: {text}")


if __name__ == "__main__":
    main(*sys.argv[1:])
