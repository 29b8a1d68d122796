#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""nominal.py STEPTRACE TRACE [PHASE]: computes DaCapo's nominal statistics from the trace's tables and records, as the
suite's scripts do, and compares them with what `steptrace nominal` writes, which a YAML reader reads."""
import csv
import io
import json
import math
import subprocess
import sys

import yaml

KEYS = "ALD AOA AOL AOM AOS ARA BAS BUF GLK GMD GMU GTO".split()
MARKS = ("exact", "bound, at least", "bound, at most", "estimate", "unknown")
MIB = 1 << 20
RUN_US, HEAP_MB = 7, 3
CALLED_BY_VM = ("<clinit>", "loadClass", "checkPackageAccess")


class Trace:
    def __init__(self, steptrace, path):
        self.steptrace, self.path = steptrace, path

    def rows(self, query):
        # stderr says which tables have no rows
        out = subprocess.run([self.steptrace, "sql", "--csv", self.path, query], capture_output=True, check=True).stdout
        return list(csv.DictReader(io.StringIO(out.decode(errors="replace"))))

    def count_records(self, name):
        out = subprocess.run([self.steptrace, "dump", "--json", "--records", self.path], stdout=subprocess.PIPE, check=True).stdout
        return sum(json.loads(line)["$record"] == name for line in out.splitlines())

    def yaml(self, *options):
        out = subprocess.run([self.steptrace, "nominal", self.path, *options], stdout=subprocess.PIPE, check=True).stdout
        return yaml.safe_load(out)


def percentile(sizes, share):
    """The suite's: the first size at which the running count reaches a share of all."""
    counts, below = {}, 0
    for size in sizes:
        counts[size] = counts.get(size, 0) + 1
    for size in sorted(counts):
        below += counts[size]
        if below >= share * len(sizes):
            return size
    return None


def phases_of(trace, phase):
    return [row for row in trace.rows("select * from phases where program and ended is not null order by ended")
            if phase is None or row["phase"] == phase]


def moments(objects):
    """Births and deaths in order; the deaths of a tick come last."""
    for row in objects:
        yield int(row["born"]), 0, int(row["object"]), int(row["size"])
        if row["died"] != "":
            yield int(row["died"]), 1, int(row["object"]), -int(row["size"])


def most_live(objects, until=None):
    living = most = 0
    for time, is_death, _, size in sorted(moments(objects)):
        if until is not None and time > until:
            break
        living += size
        most = max(most, living) if not is_death else most
    return most


def leak(trace, objects):
    ends = [int(row["ended"]) for row in phases_of(trace, None) if row["phase"] in ("warmup", "measure") and row["depth"] == "1"]
    if len(ends) < 10:
        return None
    return int(100 * (most_live(objects, ends[9]) / most_live(objects, ends[0]) - 1))


def gini(lives):
    """Of [(lifetime, bytes)]: half of the mean difference between two bytes, divided by the mean."""
    total = weight = differences = 0
    for life, size in sorted(lives):
        differences += size * (life * weight - total)
        weight, total = weight + size, total + size * life
    return differences / (weight * total)


def dispersion(objects, counted, frees):
    """The least coefficient that lifetimes with a lower bound allow: the shortest of them are as long as each other.  Objects
    live from before their own allocation on, in bytes.  The coefficient falls and then rises with that length."""
    clock, born, known, bounds = 0, {}, [], []
    is_new = {int(row["object"]): row["existing"] == "0" for row in objects}
    for _, is_death, key, size in sorted(moments(objects)):
        if not is_death:
            born[key] = (clock, size)
            clock += size if is_new[key] else 0
        elif key in counted:
            (bounds if frees[key] == "1" else known).append((clock - born[key][0], -size))
            del born[key]
    bounds += [(clock - birth, size) for key, (birth, size) in born.items() if key in counted]
    levels = sorted({life for life, _ in known + bounds})
    level = lambda i: gini(known + [(max(life, levels[i]), size) for life, size in bounds])
    low, high = 0, len(levels) - 1
    while bounds and low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if level(middle) > level(middle + 1) else (low, middle)
    return 100 * level(low), bool(bounds)


def judge_dispersion(trace, objects, counted, row):
    """The histogram's error is below one per cent, as are events of one tick, of which the tables have no order."""
    frees = {int(row["object"]): row["how"] for row in trace.rows("select object, how from frees where object is not null")}
    value, has_bounds = dispersion(objects, counted, frees)
    late = any(how in ("", "2") for how in frees.values())
    mark = "unknown" if not frees else "estimate" if late else "bound, at least" if has_bounds else "exact"
    told = row[6].partition("; ")[2]
    if told.startswith("bound, at least: lifetimes are in a histogram"):
        mark = "bound, at least"
    good = row[1] is None if not frees else row[1] is not None and -0.001 <= value - row[1] < 2
    return [] if good and told.startswith(mark) else [f"ALD: {row}, of the tables {value}, {mark}"]


def call_sites(trace):
    frames = {row["site"]: row for row in trace.rows("select s.site, s.parent, s.method_id, s.line, s.bytecode, m.name "
                                                      "from sites s left join methods m on m.method_id = s.method_id")}
    callers = [frames[row["parent"]] for row in frames.values() if row["parent"] and row["name"] not in CALLED_BY_VM]
    return len({(row["method_id"], row["line"], row["bytecode"]) for row in callers if row["line"] or row["bytecode"]})


def computed(trace, phase):
    objects = trace.rows("select object, size, born, died, existing from objects")
    spans = [(int(row["started"]), int(row["ended"])) for row in phases_of(trace, phase)] if phase else [(0, math.inf)]
    counted = {int(row["object"]): int(row["size"]) for row in objects if row["existing"] == "0" and
               any(first <= int(row["born"]) <= last for first, last in spans)}
    sizes = list(counted.values())
    stores = trace.count_records("java.ElementStore")
    frees = trace.rows("select count(*) as n, sum(how = 1) as early, sum(how = 2 or how is null) as late from frees")[0]
    sites = call_sites(trace)
    heap = math.ceil(most_live(objects) / MIB)
    late = int(frees["late"] or 0) > 0
    has_existing = any(row["existing"] == "1" for row in objects)
    bound = "bound, at least" if not late else "bound, at most" if has_existing else "estimate"
    rate = int(sum(sizes) / len(spans) / RUN_US)
    values = {"AOA": (sum(sizes) // len(sizes), "exact"), "ARA": (rate, "exact"),
              "AOL": (percentile(sizes, 0.9), "exact"), "AOM": (percentile(sizes, 0.5), "exact"),
              "AOS": (percentile(sizes, 0.1), "exact"),
              "BAS": (stores // RUN_US, "estimate") if stores and not phase else (None, "unknown"),
              "BUF": (sites // 1000, "bound, at least") if sites and not phase else (None, "unknown"),
              "GLK": (leak(trace, objects), "estimate"), "GMD": (heap, bound),
              "GMU": (math.ceil((2 if late else 1) * most_live(objects) / MIB), bound),
              "GTO": (sum(sizes) // len(spans) // (HEAP_MB * MIB), "exact")}
    return objects, counted, {key: (value, mark if value is not None else "unknown") for key, (value, mark) in values.items()}


def main(steptrace, path, phase=None):
    trace = Trace(steptrace, path)
    options = [f"--run-time={RUN_US}us", f"--min-heap={HEAP_MB}m"] + ([f"--phase={phase}"] if phase else [])
    found = trace.yaml(*options)
    wrong = [] if list(found) == KEYS else [f"keys: {list(found)}"]
    for key, row in found.items():
        described, _, told = row[6].partition("; ")
        mark = told.split(":")[0]
        if len(row) != 7 or not described.startswith("nominal ") or mark not in MARKS or (row[1] is None) != (mark == "unknown"):
            wrong.append(f"{key}: {row}")
        if (mark != "exact") != (":" in told):
            wrong.append(f"{key}: no reason, or one too many: {row}")
    objects, counted, values = computed(trace, phase)
    wrong += judge_dispersion(trace, objects, counted, found["ALD"])
    for key, (value, mark) in values.items():
        told = found[key][6].partition("; ")[2]
        if found[key][1] != value or not told.startswith(mark):
            wrong.append(f"{key}: {found[key]}, of the tables {value}, {mark}")
    print("\n".join(wrong) or f"{len(found)} statistics as the tables have them")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
