#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""try_heaptrack.py STEPTRACE DATA: `convert --to=heaptrack` beside `steptrace stats` and `heap`.

An independent reader, and Debian's heaptrack_print where it is installed, have to come to the same totals: Java
traces with stacks, with method events and without either, heap traces with recorded stacks and without, cut files.
"""
import csv
import gzip
import io
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import heaptrack_reader  # noqa: E402

STEPTRACE, DATA = sys.argv[1:3]


def run(*words, code=0):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    assert done.returncode == code, (words, done.returncode, done.stderr.decode())
    return done.stdout


def make_heap(path, count):
    """A heap trace with stacks as the recorder writes them, reallocs, and numbers of all sizes."""
    chance = random.Random(count)
    lines, live, now = ["createThread 0 0 0 1 0 1000", "createHeap 0 0 0 1 7 1100"], [], 2000
    stacks = ["malloc;make prog.c:%d;main prog.c:9", "new;operator new(unsigned long);libfoo.so+0x1f%d;main prog.c:9",
              "calloc;f(int, char const*) a\\x20b.cc:%d", "malloc", "", "realloc;grow:%d"]
    for number in range(count):
        now += chance.randrange(2000000)
        address = 4096 + number * (1 << 20)
        text = chance.choice(stacks).replace("%d", str(chance.randrange(3)))
        if live and chance.randrange(3) == 0:
            lines.append(f"free {live.pop(chance.randrange(len(live)))} 0 0 1 0 {now}")
        elif live and chance.randrange(5) == 0:
            old = live.pop()
            lines.append(f"realloc/none {old} {1 + number} {address} 1 0 {now} {text.replace(' ', chr(92) + 'x20')}")
            live.append(address)
        else:
            lines.append(f"alloc {address} {chance.choice([0, 1, 16, 1 << 19])} 0 1 0 {now} "
                         + text.replace(" ", "\\x20"))
            live.append(address)
    with open(path, "w", encoding="utf-8") as file:
        file.write("# HATF 1.0, made by a test\n" + "\n".join(line.rstrip() for line in lines) + "\n")


def printed(path, work):
    """heaptrack_print's exact sums: of its stacks by cost, and the numbers of its summary."""
    sums = {}
    for cost in ("allocations", "leaked", "peak"):
        summary = run("heaptrack_print", "--disable-builtin-suppressions", "-f", path, "-p0", "-a0", "-T0",
                      "-F", f"{work}/stacks", "--flamegraph-cost-type", cost).decode()
        with open(f"{work}/stacks", encoding="utf-8", errors="surrogateescape") as file:
            sums[cost] = sum(int(line.rsplit(" ", 1)[1]) for line in file)
    for line in summary.splitlines():
        if line.startswith("temporary memory allocations: "):
            sums["temporary"] = int(line.split(": ")[1].split(" ")[0])
    return sums


def check(name, trace, work, *options, code=0, theirs=True):
    """Converts; both readers agree with stats.  Gives the independent reader's file."""
    out = f"{work}/{name}.heaptrack"
    run(STEPTRACE, "convert", trace, "-o", out, *options, code=code)
    with open(out, "rb") as file:
        read = heaptrack_reader.File(file.read())
    totals = json.loads(run(STEPTRACE, "stats", "--json", trace, *options, code=code))["objects"]
    assert read.allocations == totals["allocated_objects"], (name, read.allocations, totals)
    assert (read.allocated, read.live) == (totals["allocated_bytes"], totals["live_bytes"]), (name, totals)
    assert read.allocations - read.freed == totals["live_objects"], (name, totals)
    if theirs and shutil.which("heaptrack_print"):
        theirs = printed(out, work)
        mine = {"allocations": read.allocations, "leaked": read.live, "peak": read.peak,
                "temporary": read.temporary}
        assert theirs == mine, (name, theirs, mine)
    return read


def check_classes(trace, read):
    """A Java trace's innermost frames are its classes."""
    for amount, first in (("--allocated", 0), ("--alive", 2)):
        table = run(STEPTRACE, "heap", "--csv", amount, "--at=end", "--top=0", trace).decode()
        for row in csv.DictReader(io.StringIO(table)):
            mine = read.by_innermost().get(row["class"], [0] * 4)
            assert [int(row["objects"]), int(row["bytes"])] == mine[first:first + 2], (row, mine)


def check_java(work):
    trace = f"{DATA}/traces/shop-1.step"
    read = check("shop", trace, work)
    check_classes(trace, read)
    peak = json.loads(run(STEPTRACE, "heap", "--json", trace))
    assert read.peak == peak["moment"]["live_bytes"], (read.peak, peak["moment"])
    frames = [frame for node in read.by_stack for frame in read.stack(node)]
    assert any(f == "Shop.main" and file == "Shop" and line > 0 and module == "java"
               for f, file, line, module in frames), "Shop.main has no line"
    assert all(module in ("java", "class") for *_, module in frames)
    check("selected", trace, work, "--class=java/lang/*", theirs=False)
    check("methods", f"{DATA}/closed.txt", work)
    with open(f"{work}/nothing.txt", "w", encoding="utf-8") as file:
        file.write("VS:0\nVI:0\nVD:0\n")
    check("nothing", f"{work}/nothing.txt", work)
    with open(trace, "rb") as whole, open(f"{work}/cut.step", "wb") as cut:
        cut.write(whole.read()[:40000])
    check("cut", f"{work}/cut.step", work, code=3, theirs=False)


def check_heaps(work):
    make_heap(f"{work}/made.hatf.txt", 4000)
    read = check("made", f"{work}/made.hatf.txt", work)
    frames = {frame for node in read.by_stack for frame in read.stack(node)}
    for wanted in (("make", "prog.c", 2, None), ("operator new(unsigned long)", None, 0, None),
                   ("libfoo.so+0x1f1", None, 0, "libfoo.so"), ("main", "prog.c", 9, None),
                   ("malloc", None, 0, "class")):
        assert wanted in frames, (wanted, sorted(map(str, frames)))
    check("heap", f"{DATA}/heap.hatf.txt", work)


def check_packing(work):
    """The same bytes in all packings, chosen by ending or by name."""
    trace = f"{DATA}/traces/shop-1.step"
    with open(f"{work}/shop.heaptrack", "rb") as file:
        plain = file.read()
    run(STEPTRACE, "convert", trace, "-o", f"{work}/p.heaptrack.gz")
    run(STEPTRACE, "convert", trace, "--to=heaptrack", "-o", f"{work}/heaptrack.shop.1.gz")
    for name in ("p.heaptrack.gz", "heaptrack.shop.1.gz"):
        with gzip.open(f"{work}/{name}") as file:
            assert file.read() == plain, name
    assert run(STEPTRACE, "convert", trace, "--to=heaptrack", "-o", "-") == plain
    done = subprocess.run([STEPTRACE, "convert", trace, "-o", f"{work}/p.heaptrack.zst"], check=False,
                          stderr=subprocess.PIPE)
    if done.returncode == 0 and shutil.which("zstd"):
        assert run("zstd", "-dc", f"{work}/p.heaptrack.zst") == plain
    assert sorted(n for n in os.listdir(work) if n.startswith("p.heaptrack.gz")) == ["p.heaptrack.gz"]


with tempfile.TemporaryDirectory() as folder:
    check_java(folder)
    check_heaps(folder)
    check_packing(folder)
print("heaptrack_print agrees" if shutil.which("heaptrack_print") else "no heaptrack_print here")
