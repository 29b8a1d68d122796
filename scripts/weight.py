#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weight.py [--update]: how many lines each feature has in the product, in tests and in docs, and who asked for it.

Prints the table of docs/weight.md; --update puts it there.  A file counts for the first feature that names it;
what none names is in the last row, so the sums are those of the tree.
"""
import fnmatch
import os
import subprocess
import sys

PAGE = "docs/weight.md"
BEGIN, END = "<!-- weight: begin -->\n", "<!-- weight: end -->\n"
SOURCE = (".c", ".h", ".y", ".l", ".py", ".sh", ".js", ".css", ".html", ".java", ".step", ".cmake", "CMakeLists.txt", ".md", ".1", ".7")
# name, who asked for it, patterns of paths (fnmatch: * matches / too)
FEATURES = (
    ("STEP files, STEP-DL, stepc", "the STEP papers", "format/step/* format/codec/* format/language/* format/core/* format/io/* format/include/* "
     "format/CMakeLists.txt format/exports.map compilers/stepc/* compilers/*.[ch] tests/formats/step/* tests/unit/format/codec/* tests/unit/format/language/* "
     "tests/unit/format/core/* tests/formats/step/* tests/golden/* docs/formats/step* docs/man/stepc* tests/fuzz/step/* tests/fuzz/codec/* tests/fuzz/language/*"),
    ("Meta-TF and metatfc", "the Meta-TF paper", "*metatf* *dtd*"),
    ("HATF, simple-binary, memory-replay", "the HATF paper, allocator studies", "*hatf* *simple_binary*"),
    ("definitions of JVM entities, JVMPI, JVMTI, bytecode", "the STEP papers", "format/definitions/* tests/unit/format/definitions/* docs/formats/java.md"),
    ("memory-infra: written and read", "the HATF paper (heap dumps of Chromium)", "*memory_infra* *memory-infra*"),
    ("text formats", "the papers, scripts", "format/text/* converter/formats/text/* tests/formats/text/* docs/formats/text* tests/fuzz/text/*"),
    ("HPROF, heaptrack, CTF, pprof, Valgrind, collapsed, speedscope, Chrome trace", "users of those tools", "*hprof* *heaptrack* *ctf* *pprof* *callgrind* *dhat* *massif* *valgrind* *collapsed* *speedscope* "
     "*chrome* tests/formats/*.c tests/formats/CMakeLists.txt"),
    ("agent: engine=bytecode and the rewriter", "the STEP papers (cost)", "agent/bytecode/* agent/rewriter/* agent/class_bytes/* agent/deaths/* tests/rewriter/* tests/unit/agent/rewriter/* "
     "tests/unit/agent/bytecode/* tests/unit/agent/deaths/* tests/fuzz/rewriter/* docs/engine-bytecode.md"),
    ("agent: internals of HotSpot", "JVM engineers (cost, stacks)", "agent/hotspot/* tests/unit/agent/hotspot/* docs/hotspot-internals.md tests/jvm/internals*"),
    ("agent: call stacks", "users of profilers", "agent/stacks/* tests/unit/agent/stacks/* docs/stack-walking.md tests/jvm/stack*"),
    ("agent: references and snapshots", "Merlin, leak hunters", "agent/references/* agent/records/snapshot* tests/jvm/reference* tests/unit/agent/references/*"),
    ("agent: the rest", "the STEP papers", "agent/* tests/unit/agent/* tests/jvm/* java-tests/* docs/man/libtracer* docs/jvms.md scripts/jvms.py scripts/jdks.sh cmake/jdks.cmake"),
    ("capture, live files, recovery, peeking", "services: a killed JVM loses nothing", "capture/* format/live/* tests/unit/capture/* tests/unit/format/live/* tests/fuzz/live/* docs/formats/live*"),
    ("native programs: recorder and drain", "the HATF paper, allocator studies", "malloc-recorder/* tests/malloc-recorder/* tests/unit/malloc-recorder/*"),
    ("replay", "allocator studies", "converter/replay/* *replay*"),
    ("exact deaths, retained sizes, paths", "the papers on object lifetimes, leak hunters", "converter/graph/* tests/graph/* tests/unit/converter/graph/* docs/answers/how-long-objects-live.md docs/answers/what-keeps-it-alive.md docs/results/deaths.md"),
    ("heap, leaks, compare, gates, statistics", "performance engineers, builds", "converter/heap/* converter/numbers/* tests/unit/converter/heap/* tests/unit/converter/numbers/* "
     "docs/answers/what-allocates.md docs/answers/what-changed.md docs/gates.md"),
    ("tables: SQL, Parquet, ClickHouse, Python, Arrow", "data engineers", "converter/tables/* converter/formats/tables/* python/* tests/tables/* tests/formats/parquet/* tests/formats/clickhouse_native/* tests/python/* tests/unit/converter/tables/* "
     "docs/tables.md docs/answers/sql-and-python.md docs/python.md docs/answers/many-machines.md docs/results/tables.md setup.py"),
    ("report page", "everybody's first look", "converter/report/* tests/report/* tests/unit/converter/report/* docs/report.md"),
    ("watch", "services", "converter/watch/* *watch*"),
    ("mcp", "users of assistants", "converter/mcp/* *mcp*"),
    ("attach", "services, containers", "converter/attach/* tests/unit/converter/attach/* *attach*"),
    ("storm and fuzzing", "trust", "tests/storm/* tests/fuzz/* docs/results/storm.md docs/results/fuzz.md scripts/storm.sh"),
    ("benchmarks", "cost", "tests/bench/* docs/results/*"),
    ("verbs, registry of formats, models of traces", "the command line", "converter/* tests/cli/* tests/unit/converter/* docs/man/*"),
    ("the rest: build, packages, examples, pages", "", "*"),
)


def kind(path):
    if path.startswith(("tests/", "java-tests/")):
        return 1
    return 2 if path.startswith("docs/") or path.endswith(".md") else 0


def table():
    rows = [[0, 0, 0] for _ in FEATURES]
    files = subprocess.run(["git", "ls-files"], check=True, text=True, stdout=subprocess.PIPE).stdout.split("\n")
    for path in files:
        if not path.endswith(SOURCE) or os.path.islink(path) or "/data/" in path or path == PAGE or not os.path.isfile(path):
            continue
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = sum(1 for _ in file)
        for row, (_, _, patterns) in zip(rows, FEATURES):
            if any(fnmatch.fnmatch(path, pattern) for pattern in patterns.split()):
                row[kind(path)] += lines
                break
    text = "| feature | who asks for it | product | tests | docs |\n|---|---|--:|--:|--:|\n"
    for (name, who, _), row in zip(FEATURES, rows):
        text += f"| {name} | {who} | " + " | ".join(f"{n:,}" for n in row) + " |\n"
    sums = [sum(column) for column in zip(*rows)]
    return text + "| **all** | | " + " | ".join(f"**{n:,}**" for n in sums) + " |\n"


def main():
    os.chdir(os.path.dirname(os.path.abspath(__file__)) + "/..")
    text = table()
    if sys.argv[1:] == ["--update"]:
        with open(PAGE, encoding="utf-8") as file:
            page = file.read()
        head, rest = page.split(BEGIN)
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(head + BEGIN + text + END + rest.split(END)[1])
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
