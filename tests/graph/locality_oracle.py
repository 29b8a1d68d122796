#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How far apart objects that refer to each other were allocated, by `steptrace dump` alone, and what
`steptrace locality` says of the same trace.

   locality_oracle.py STEPTRACE TRACE.step"""
import collections
import json
import math
import re
import subprocess
import sys

ERROR = 0.016  # of a percentile: buckets of a 32nd of a power of two


def records(steptrace, trace, name):
    process = subprocess.Popen([steptrace, "dump", "--json", "--record", name, trace], stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        yield json.loads(line)
    if process.wait() not in (0, 3):
        raise SystemExit(f"dump of {trace} failed")


def class_names(steptrace, trace):
    text = subprocess.run([steptrace, "dump", "--record", "java.Class", "--entries", trace], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    return {int(number): name for number, name in re.findall(r'^java\.Class#(\d+) name="([^"]*)"', text, re.MULTILINE)}


class Row:
    """The references from one field, or from the elements of one class of arrays, to one class."""

    def __init__(self):
        self.unknown = self.between = self.neighbours = self.neighbour_bytes = 0
        self.distances = []

    @property
    def references(self):
        return self.unknown + self.between + len(self.distances)


class Oracle:
    """All places of all objects, as a dictionary of dictionaries; nothing is forgotten but edges that are overwritten."""

    def __init__(self, steptrace, trace):
        self.born = {}       # object -> (thread, how many before, bytes before), or None
        self.size, self.of = {}, {}
        self.rows = collections.defaultdict(Row)
        self.edges = collections.defaultdict(dict)
        self.alive = set()
        self.described = self.reached = None  # in a snapshot
        self.class_names = class_names(steptrace, trace)
        self.read_births(records(steptrace, trace, "java.ObjectAlloc"))
        events = list(records(steptrace, trace, "java.Event"))
        stores = ("FieldStore", "ElementStore", "RangeStore", "CloneStore")
        self.has_stores = any(r["$record"].split(".")[1] in stores for r in events)
        for record in events:
            take = getattr(self, "_" + record["$record"].split(".")[1], None)
            if take is not None:
                take(record)

    def read_births(self, allocations):
        before = collections.defaultdict(lambda: [0, 0])
        for r in allocations:
            thread = r["thread"]["$id"] if r["thread"] else 0
            number, size = r["object"], r["size"]
            self.size[number], self.of[number] = size, r["class"]["name"]
            if r["$record"] == "java.ObjectExisting":
                self.born[number] = None
                continue
            self.born[number] = (thread, *before[thread]) if thread else None
            before[thread][0] += 1
            before[thread][1] += size

    # ---- references ----

    def count(self, holder, place, target):
        row = self.rows[(*self.name(holder, place), self.of[target])]
        a, b = self.born[holder], self.born[target]
        if a is None or b is None:
            row.unknown += 1
        elif a[0] != b[0]:
            row.between += 1
        else:
            row.distances.append(abs(a[2] - b[2]))
            if abs(a[1] - b[1]) == 1:
                row.neighbours += 1
                row.neighbour_bytes += self.size[holder] + self.size[target]

    def name(self, holder, place):
        return (place[1], place[2]) if isinstance(place, tuple) else (self.of[holder], None)

    def put(self, holder, place, target, counts, is_copy=False):
        """A copy makes each reference anew, a store does not if the place has it already."""
        if holder not in self.alive:
            return
        before = self.edges[holder].get(place, 0)
        self.edges[holder][place] = target
        if counts and target in self.alive and (is_copy or target != before):
            self.count(holder, place, target)

    def field(self, r):
        field = r["field"]
        return None if field is None else (field["$id"], self.class_names[field["class"]], field["name"])

    # ---- events ----

    def _ObjectAlloc(self, r):
        self.alive.add(r["object"])

    _ObjectExisting = _ObjectAllocAt = _ObjectAlloc

    def _ObjectFree(self, r):
        self.alive.discard(r["object"])
        self.edges.pop(r["object"], None)

    _ObjectFreeUnknown = _ObjectDeath = _ObjectFree

    def _FieldStore(self, r):
        if self.field(r) is not None and r["holder"] != 0:
            self.put(r["holder"], self.field(r), r["target"], True)

    def _ElementStore(self, r):
        self.put(r["holder"], r["index"], r["target"], True)

    def _RangeStore(self, r):
        source = self.edges.get(r["source"], {})
        values = [source.get(r["source_index"] + i, 0) for i in range(r["length"])]
        for i, value in enumerate(values):
            self.put(r["holder"], r["index"] + i, value if value in self.alive else 0, r["source"] != r["holder"], True)

    def _CloneStore(self, r):
        for place, target in list(self.edges.get(r["source"], {}).items()):
            if target != 0 and r["source"] != r["holder"]:
                self.put(r["holder"], place, target, True)

    # ---- snapshots ----

    def _Snapshot(self, _):
        self.described, self.reached = set(), set()
        if not self.has_stores:
            self.rows.clear()

    def _Root(self, r):
        self.reached.add(r["target"])

    def refer(self, r, place):
        self.reached.add(r["target"])
        if r["holder"] not in self.described:
            self.described.add(r["holder"])
            self.edges.pop(r["holder"], None)
        if r["holder"] != 0 and r["target"] in self.alive:
            self.put(r["holder"], place, r["target"], not self.has_stores)

    def _FieldReference(self, r):
        self.refer(r, self.field(r))

    def _ElementReference(self, r):
        self.refer(r, r["index"])

    def _OtherReference(self, r):
        self.refer({**r, "target": 0}, None)
        self.reached.add(r["target"])

    def _SnapshotEnd(self, _):
        for number in self.reached - self.described:
            self.edges.pop(number, None)


def percentile_fits(found, distances, share):
    """One of a bucket's values; the bucket is that of the value which `share` of them do not exceed."""
    exact = sorted(distances)[max(0, math.ceil(share * len(distances)) - 1)]
    return abs(found - exact) <= max(1, ERROR * exact)


def compare(answer, oracle):
    """Raises an AssertionError where the answer of `locality --json` is not what the oracle counts."""
    found = collections.defaultdict(list)
    for row in answer["fields"]:
        found[row["holder"], row["field"], row["target"]].append(row)
    assert set(found) == set(oracle.rows), set(found) ^ set(oracle.rows)
    for key, wanted in oracle.rows.items():
        rows = found[key]
        sums = [sum(row[name] for row in rows) for name in
                ("references", "one_thread", "two_threads", "unknown", "neighbours", "neighbour_bytes")]
        assert sums == [wanted.references, len(wanted.distances), wanted.between, wanted.unknown, wanted.neighbours,
                        wanted.neighbour_bytes], (key, rows, vars(wanted))
        if len(rows) > 1:  # classes of one name, of several loaders
            continue
        distance, known = rows[0]["distance_bytes"], wanted.references - wanted.unknown
        assert rows[0]["is_candidate"] == (wanted.neighbours >= 16 and wanted.neighbours >= 0.9 * known), (key, rows)
        assert (distance is None) == (not wanted.distances), (key, rows)
        if distance is not None:
            assert distance["most"] == max(wanted.distances), (key, rows)
            mean = sum(wanted.distances) / len(wanted.distances)
            assert math.isclose(distance["mean"], mean, rel_tol=1e-5), (key, rows, mean)
            assert all(percentile_fits(distance[f"p{share}"], wanted.distances, share / 100) for share in (50, 90, 99)), (key, rows)
    for name in ("references", "one_thread", "two_threads", "unknown", "neighbours"):
        assert answer[name] == sum(row[name] for row in answer["fields"]), name
    assert answer["objects"] == len(oracle.born)
    return len(found), answer["references"]


def main():
    steptrace, trace = sys.argv[1:]
    answer = json.loads(subprocess.run([steptrace, "locality", "--json", trace], check=True, stdout=subprocess.PIPE).stdout)
    print("{} fields, {} references: equal".format(*compare(answer, Oracle(steptrace, trace))))


if __name__ == "__main__":
    main()
