#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check-layers.py [BUILD]: do the includes of each folder keep to the layers that its CMakeLists.txt names?

An include "a/b/c.h" uses the folder a/b.  It must be named under USES of the folder's
steptrace_layer(), or come with one of those.
No folders may use each other in a circle, and inside a folder no more than three files.
With a BUILD: in its objects no files of a folder may call each other in a circle.  A function is where it belongs
if what it calls lies below it; a file that has two layers in it is two files.
One file of the agent clears exceptions: another could clear one of the program's.
"""
import os
import re
import subprocess
import sys

TOPS = ("format", "compilers", "capture", "agent", "converter", "malloc-recorder")
EVERYBODYS = ("format/include/steptrace", "converter/replay/driver", "malloc-recorder/drain")
CLEARS_EXCEPTIONS = "agent/base/exceptions"  # nothing else in the agent does
INLINE = ("format/core/grow.h", "format/core/hash.h", "format/core/nearest_word.h")  # without a symbol: everybody's as well

KNOWN_CIRCLES = {  # of calls, each with the reason
    "malloc-recorder: interpose_heaps process recording":
        "whichever function in front of the program's is called first starts the recording, which sets up the others",
}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def words(text, key):
    found = re.search(rf"\b{key}\s+(.*?)(?=\s[A-Z]{{4,}}\s|\))", text, re.S)
    return found[1].split() if found else []


def circles(graph):
    """Groups of nodes that reach each other, of two or more."""
    def reach(node):
        seen, todo = set(), [node]
        while todo:
            for other in graph.get(todo.pop(), ()):
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        return seen
    reached = {node: reach(node) for node in graph}
    groups = {frozenset([a, *(b for b in reached[a] if a in reached.get(b, ()))]) for a in graph}
    return [sorted(group) for group in groups if len(group) > 1]


def calls(archive, exports):
    """Which object of the archive calls functions of which; those of `exports` stand for the C library's."""
    defined, wanted = {}, {}
    listed = subprocess.run(["nm", "-A", "-P", archive], check=True, text=True, stdout=subprocess.PIPE).stdout
    for member, symbol, kind in re.findall(r"\[(\w[\w.-]*)\.[cS]\.o\]: (\S+) (\w)", listed):
        if kind in "TW" and symbol not in exports:
            defined[symbol] = member
        elif kind == "U":
            wanted.setdefault(member, set()).add(symbol)
    return {member: {defined[s] for s in symbols if s in defined} - {member} for member, symbols in wanted.items()}


def circles_of_calls(build, folders):
    for folder, target in sorted(folders.items()):
        exports = f"{folder}/exports.map"
        names = re.findall(r"\w+", read(exports)) if os.path.exists(exports) else ()
        for circle in circles(calls(f"{build}/{folder}/lib{target}.a", set(names))):
            yield f"{folder}: {' '.join(circle)}"


def main():
    os.chdir(os.path.dirname(os.path.abspath(__file__)) + "/..")
    uses, targets, files = {}, {}, {}
    for top in TOPS:
        for folder, _, names in os.walk(top):
            files[folder] = [n for n in names if re.search(r"\.[chyl]$", n)]
            text = read(folder + "/CMakeLists.txt") if "CMakeLists.txt" in names else ""
            layer = re.search(r"^steptrace_layer\((\w+)(.*?)\)$", text, re.S | re.M)
            if layer:
                targets[layer[1]] = folder
                uses[folder] = words(layer[0], "USES")
    folders = lambda names: {targets[n] for n in names if n in targets}

    def closure(folder):
        seen, todo = set(), [folder]
        while todo:
            new = folders(uses.get(todo.pop(), ())) - seen
            seen |= new
            todo += new
        return seen

    faults = []
    for folder in uses:
        allowed, inner = closure(folder), {}
        for name in files[folder]:
            stem = name.rsplit(".", 1)[0]
            for line in re.findall(r'^\s*#\s*include "([^"]+)"', read(f"{folder}/{name}"), re.M):
                where, other = os.path.split(line)
                if where == folder:
                    inner.setdefault(stem, set()).add(other.rsplit(".", 1)[0])
                elif (where in targets.values() and where not in allowed
                      and where not in EVERYBODYS and line not in INLINE):
                    faults.append(f"{folder}/{name}: {line}: not among the layer's USES")
                elif not where:
                    faults.append(f'{folder}/{name}: "{line}": no path from the root')
            if folder.startswith("agent/") and f"{folder}/{stem}" != CLEARS_EXCEPTIONS and \
                    "ExceptionClear" in read(f"{folder}/{name}"):
                faults.append(f"{folder}/{name}: ExceptionClear: see {CLEARS_EXCEPTIONS}.h")
        for circle in circles(inner):
            if len(circle) > 3:
                faults.append(f"{folder}: a circle of {len(circle)} files: {' '.join(circle)}")
    for circle in circles({folder: folders(uses[folder]) for folder in uses}):
        faults.append("a circle of folders: " + " ".join(circle))
    if len(sys.argv) > 1:
        found = set(circles_of_calls(sys.argv[1], {folder: name for name, folder in targets.items()}))
        faults += [f"a circle of calls in {circle}" for circle in sorted(found - set(KNOWN_CIRCLES))]
        faults += [f"no circle of calls any more in {circle}" for circle in sorted(set(KNOWN_CIRCLES) - found)]
    print(*faults, f"{len(uses)} layers, {len(faults)} faults", sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
