#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weight.py [--update]: how many lines each feature has in the product, in tests and in docs, and who asked for it.

Prints the tables of docs/weight.md; --update puts them there.  A file counts for the first feature that names it;
what none names is in the last row, so the sums are those of the tree.  The second table compares the C sources of the
product with those of an earlier commit (START): a file that a later feature brought counts apart, by the patterns of LATER;
a line that a feature added to another file counts as the product's.
"""
import fnmatch
import os
import subprocess
import sys

PAGE = "docs/weight.md"
START = "fb8682c"
C_SOURCE, NO_PRODUCT = (".c", ".h", ".l", ".y"), ("tests/", "examples/", "java-tests/")
BEGIN, END = "<!-- weight: begin -->\n", "<!-- weight: end -->\n"
SOURCE = (".c", ".h", ".y", ".l", ".py", ".sh", ".js", ".css", ".html", ".java", ".step", ".cmake", "CMakeLists.txt", ".md", ".1", ".7")
# name, who asked for it, patterns of paths (fnmatch: * matches / too)
FEATURES = (
    ("STEP files, STEP-DL, stepc", "the STEP papers", "format/step/* format/codec/* format/language/* format/core/* format/io/* format/include/* "
     "format/CMakeLists.txt format/exports.map compilers/stepc/* compilers/*.[ch] tests/formats/step/* tests/unit/format/codec/* tests/unit/format/language/* "
     "tests/unit/format/core/* tests/formats/step/* tests/golden/* docs/formats/step* docs/man/stepc* tests/fuzz/step/* tests/fuzz/codec/* tests/fuzz/language/*"),
    ("Meta-TF and metatfc", "the Meta-TF paper", "*metatf* *dtd*"),
    ("HATF, simple-binary, memory-replay", "the HATF paper, allocator studies", "*hatf* *simple_binary*"),
    ("definitions of JVM entities, JVMPI, JVMTI, bytecode", "the STEP papers", "examples/definitions/* tests/unit/format/definitions/*"),
    ("memory-infra: written and read", "the HATF paper (heap dumps of Chromium)", "*memory_infra* *memory-infra*"),
    ("text formats", "the papers, scripts", "format/text/* converter/formats/text/* tests/formats/text/* docs/formats/text* tests/fuzz/text/*"),
    ("HPROF, JFR, heaptrack, CTF, pprof, Valgrind, collapsed, speedscope, Chrome trace", "users of those tools", "*hprof* *jfr* *Jfr* *heaptrack* *ctf* *pprof* *callgrind* *dhat* *massif* *valgrind* *collapsed* *speedscope* "
     "*chrome* *otlp* *heapdump* *elephant* *protobuf* tests/formats/*.c tests/formats/CMakeLists.txt"),
    ("engine=sampled and estimates", "production services (async-profiler #1056, #1700)", "*sampled* *estimate* *sample_weights* agent/session/rotation* docs/engine-sampled.md"),
    ("simulate, layout, advise, lifetimes, nominal", "researchers, the DaCapo suite (#278, #352)", "analyses/simulate/* *simulat* converter/layout/* analyses/locality/* *locality* *layout* analyses/sites/* analyses/nominal/* "
     "*nominal* *advi[cs]e* *verb_sites* *site_* tests/unit/analyses/sites/* docs/escape.md"),
    ("agent: engine=bytecode and the rewriter", "the STEP papers (cost)", "agent/bytecode/* agent/rewriter/* agent/deaths/* tests/rewriter/* tests/unit/agent/rewriter/* "
     "tests/unit/agent/bytecode/* tests/unit/agent/deaths/* tests/fuzz/rewriter/* docs/engine-bytecode.md"),
    ("agent: internals of HotSpot", "JVM engineers (cost, stacks)", "agent/hotspot/* tests/unit/agent/hotspot/* docs/hotspot-internals.md tests/jvm/internals*"),
    ("agent: call stacks", "users of profilers", "agent/stacks/* tests/unit/agent/stacks/* docs/stack-walking.md tests/jvm/stack*"),
    ("agent: references and snapshots", "Merlin, leak hunters", "agent/references/* agent/records/snapshot* tests/jvm/reference* tests/unit/agent/references/*"),
    ("agent: the rest", "the STEP papers", "agent/* tests/unit/agent/* tests/jvm/* java-tests/* docs/man/libtracer* docs/jvms.md scripts/jvms.py scripts/jdks.sh cmake/jdks.cmake"),
    ("capture, live files, recovery, peeking", "services: a killed JVM loses nothing", "capture/* format/live/* tests/unit/capture/* tests/unit/format/live/* tests/fuzz/live/* docs/formats/live*"),
    ("native programs: recorder and drain", "the HATF paper, allocator studies", "malloc-recorder/* tests/malloc-recorder/* tests/unit/malloc-recorder/*"),
    ("replay", "allocator studies", "analyses/replay/* *replay*"),
    ("exact deaths, retained sizes, paths", "the papers on object lifetimes, leak hunters", "converter/graph/* tests/graph/* tests/unit/converter/graph/* docs/answers/how-long-objects-live.md docs/answers/what-keeps-it-alive.md docs/results/deaths.md"),
    ("heap, leaks, compare, gates, statistics", "performance engineers, builds", "converter/heap/* converter/statistics/* tests/unit/converter/heap/* tests/unit/converter/statistics/* "
     "docs/answers/what-allocates.md docs/answers/what-changed.md docs/gates.md"),
    ("tables: SQL, Parquet, ClickHouse, Python, Arrow", "data engineers", "analyses/tables/* analyses/tables/formats/* python/* tests/tables/* tests/formats/parquet/* tests/formats/clickhouse_native/* tests/python/* tests/unit/analyses/tables/* "
     "docs/tables.md docs/answers/sql-and-python.md docs/python.md docs/answers/many-machines.md docs/results/tables.md setup.py"),
    ("report page", "everybody's first look", "analyses/report/* tests/report/* tests/unit/analyses/report/* docs/report.md"),
    ("watch", "services", "analyses/watch/* *watch*"),
    ("mcp", "users of assistants", "analyses/mcp/* *mcp*"),
    ("attach", "services, containers", "converter/recorders/* tests/unit/converter/recorders/* *attach*"),
    ("storm and fuzzing", "trust", "tests/storm/* tests/fuzz/* docs/results/storm.md docs/results/fuzz.md scripts/storm.sh"),
    ("benchmarks", "cost", "tests/bench/* docs/results/*"),
    ("verbs, registry of formats, models of traces", "the command line", "converter/* analyses/* tests/cli/* tests/unit/converter/* docs/man/*"),
    ("the rest: build, packages, examples, pages", "", "*"),
)

# what came after START: feature, patterns of the files that it brought
LATER = (
    ("files written by a process of their own; attach across users and containers", "capture/detached.* capture/ring_copy.* capture/ring_memory.c "
     "capture/trace_store.* capture/writer_* agent/session/writer_entry.c converter/recorders/target_*"),
    ("what is missing or does not match is said", "converter/files/trace_gap.* converter/trace/unmatched.* agent/deaths/canary.* converter/output/output_limit.*"),
    ("JDKs 21 to 28", "agent/hotspot/compilations.* agent/bytecode/huge_methods.*"),
    ("waits that have a limit, exceptions that the agent keeps", "agent/base/patience.* agent/base/exceptions.*"),
    ("time of writers and readers: shared pages, threads that compress", "format/step/columns/value_pages.* format/io/output_behind.* format/core/crew.*"),
    ("memory and pauses of the agent", "agent/base/memory.* agent/session/memory_account.* converter/recorders/attach_forecast.* "
     "agent/deaths/reference_blocks.*"),
    ("JFR, Callgrind, DHAT, Massif, OTLP, heapdump.proto, Elephant Tracks", "converter/formats/jfr/* converter/formats/callgrind.c converter/formats/dhat.c "
     "converter/formats/massif.c converter/formats/otlp.c converter/formats/hprof/heapdump_writer.c converter/formats/elephant_* "
     "converter/output/http_post.*"),
    ("source lines, phases, steptrace.jar", "converter/trace/source_map.* agent/bytecode/phase_methods.* agent/records/phases.* "
     "converter/step/phase_spans.* analyses/tables/phase_rows.c converter/trace/open_phases.* analyses/watch/watch_phases.* analyses/report/report_phases.*"),
    ("mcp", "analyses/mcp/* analyses/mcp/verb_mcp.c"),
    ("simulate, layout, advise, lifetimes, nominal", "analyses/simulate/* converter/layout/* analyses/locality/* analyses/sites/* analyses/nominal/* converter/containers/lifetimes.* "
     "converter/output/svg_chart.* analyses/sites/rows/site_rows.c analyses/sites/verb_sites.c "
     "analyses/layout/verb_layout.c analyses/locality/verb_locality.c analyses/simulate/verb_simulate.c analyses/nominal/verb_nominal.c converter/formats/lifetimes_sink.c agent/records/layouts.* "
     "analyses/report/report_advice.* analyses/report/report_collectors.*"),
    ("engine=sampled, estimates, rotation, joined files", "agent/events/engine_sampled.c agent/events/sample* agent/session/rotation.* converter/numbers/estimate* "
     "converter/files/sampled_trace.* converter/trace/sample_weights.* "
     "converter/heap/heap_samples.* analyses/report/sampled_page.* agent/events/draw_repeats.* analyses/watch/watch_amounts.* "
     "converter/files/joined_* converter/files/file_joining.* converter/files/rotated_files.*"),
)


def kind(path):
    if path.startswith(("tests/", "java-tests/")):
        return 1
    return 2 if path.startswith("docs/") or path.endswith(".md") else 0


def git(*command):
    return subprocess.run(["git", *command], check=True, stdout=subprocess.PIPE).stdout.decode(errors="replace")


def tracked(endings):
    """(path, lines) of the working tree's files"""
    for path in git("ls-files").split("\n"):
        if path.endswith(endings) and os.path.isfile(path) and not os.path.islink(path):
            with open(path, "rb") as file:
                yield path, file.read().count(b"\n")


def at_start():
    """Files and lines of START's C sources."""
    counts = git("grep", "-c", "", START, "--", *("*" + ending for ending in C_SOURCE)).splitlines()
    lines = [int(count.rsplit(":", 1)[1]) for count in counts if not count.split(":", 1)[1].startswith(NO_PRODUCT)]
    return len(lines), sum(lines)


def since_start():
    counts = {name: [0, 0] for name, _ in LATER}
    rest = [0, 0]
    for path, lines in tracked(C_SOURCE):
        if not path.startswith(NO_PRODUCT):
            feature = next((name for name, patterns in LATER if any(fnmatch.fnmatch(path, pattern) for pattern in patterns.split())), None)
            row = counts[feature] if feature else rest
            row[0] += 1
            row[1] += lines
    start = at_start()
    text = "| C sources of the product | files | lines |\n|---|--:|--:|\n"
    rows = [(f"at {START}", *start), ("today", rest[0] + sum(row[0] for row in counts.values()), rest[1] + sum(row[1] for row in counts.values()))]
    rows += [(f"of these, files of later features: {name}", *row) for name, row in counts.items()]
    rows += [("**the rest**", *rest)]
    text += "".join(f"| {name} | {files:,} | {lines:,} |\n" for name, files, lines in rows)
    return text + f"| **the rest, compared with {START}** | {rest[0] - start[0]:+,} | {rest[1] - start[1]:+,} |\n"


def table():
    rows = [[0, 0, 0] for _ in FEATURES]
    for path, lines in tracked(SOURCE):
        if "/data/" in path or path == PAGE:
            continue
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
    text = table() + "\n" + since_start()
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
