# SPDX-License-Identifier: Apache-2.0
"""DaCapo's nominal statistics of a program that knows its own: from its trace, from the trace's tables, and from the JVM."""
import json
import pathlib
import sys

from session import Failure, shown

OPTIONS = "file=run.step,events=class+alloc+free+reference,snapshot=start,stack=4"
ORACLE = pathlib.Path(__file__).resolve().parent.parent / "cli" / "nominal.py"
# An iteration's arrays: 2000 of 1000 bytes, 10 of 200,000.
ITERATION = {"objects": 2010, "bytes": 4000000, "AOA": 1990, "AOS": 1000, "AOM": 1000, "AOL": 1000}
KEPT_MB = 10 * 10 * 200000 / (1 << 20)


def require(condition, text):
    if not condition:
        raise Failure(text)


def run(session, options, vm):
    command = session.java("Nominal", "", options)
    serial = [word for word in command if not (word.startswith("-XX:+Use") and word.endswith("GC"))]
    serial[1:1] = ["-XX:+UseSerialGC", *vm.split()]
    return session.run(serial)


def values_of(session, trace, *options):
    report = json.loads(session.step("nominal", "--json", trace, *options))
    return report, {row["key"]: (row["value"], row["mark"]) for row in report["statistics"]}


def judge_iteration(session, trace):
    """The measured iteration alone, with a time and a heap that are given."""
    report, values = values_of(session, trace, "--phase=measure", "--run-time=2ms", "--min-heap=1m")
    found = {"objects": report["objects"], "bytes": report["bytes"], **{key: values[key][0] for key in ("AOA", "AOS", "AOM", "AOL")}}
    near = {key: abs(found[key] - value) <= value // 100 for key, value in ITERATION.items()}
    require(all(near.values()), f"{trace}: {found} instead of {ITERATION}")
    require(all(values[key][1] == "exact" for key in ("AOA", "AOS", "AOM", "AOL", "ARA", "GTO")), f"{trace}: {values}")
    require(values["ARA"][0] in (2000, 2001) and values["GTO"][0] == 3, f"{trace}: {values}")


def judge_stores(session, trace):
    """The program's array has a hundred elements, each stored once; BAS counts all stores of elements."""
    lines = session.step("dump", "--json", "--record=java.ElementStore", trace).splitlines()
    stores = [json.loads(line) for line in lines]
    of_holder = {}
    for store in stores:
        of_holder.setdefault(store["holder"], []).append(store["index"])
    require(list(range(100)) in of_holder.values(), f"{trace}: no array with the program's hundred stores")
    _, values = values_of(session, trace, "--run-time=1us")
    require(values["BAS"] == (len(stores), "estimate"), f"{trace}: {values['BAS']} instead of {len(stores)} stores")


def judge_heap(session, trace, mark):
    """Ten iterations keep ten times as much as the first."""
    report, values = values_of(session, trace)
    require(report["iterations"] == 10, f"{trace}: {report['iterations']} iterations")
    heap, found_mark = values["GMD"]
    require(found_mark == mark and KEPT_MB < heap < KEPT_MB + 24, f"{trace}: {values}")
    require(values["GMU"][1] == mark and values["GMU"][0] >= heap, f"{trace}: {values}")
    require(values["GLK"][0] > 100 and values["GLK"][1] == "estimate", f"{trace}: {values}")
    return heap


def nominal(session):
    """The program's own numbers, the tables' in another implementation, and a JVM without the heap that GMD says it needs."""
    result = run(session, OPTIONS, "-Xms256m -Xmx256m -Xmn100m")
    require((result.returncode, result.stdout) == (0, b"true\n"), shown(result.stderr))
    session.step("deaths", "run.step", "-o", "exact.step")
    for trace, phase in (("run.step", []), ("exact.step", ["measure"])):
        judge_iteration(session, trace)
        result = session.run([sys.executable, str(ORACLE), session.steptrace, trace, *phase])
        require(result.returncode == 0, f"{trace} {phase}: {shown(result.stdout)}{shown(result.stderr)}")
    judge_stores(session, "run.step")
    judge_heap(session, "run.step", "bound, at most")
    least = judge_heap(session, "exact.step", "bound, at least")
    result = run(session, None, f"-Xmx{least - 4}m")
    require(result.returncode != 0 and b"OutOfMemoryError" in result.stderr, f"it runs in {least - 4} MB: {shown(result.stderr)}")
    result = run(session, None, f"-Xmx{2 * least + 8}m")
    require(result.returncode == 0, f"it does not run in {2 * least + 8} MB: {shown(result.stderr)}")


TABLE = {"nominal": nominal}
