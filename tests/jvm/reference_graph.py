# SPDX-License-Identifier: Apache-2.0
"""The graph of a trace's stores, and that of its snapshots: edge for edge.

   reference_graph.py STEPTRACE TRACE     compares them at the last snapshot
"""
import json
import subprocess
import sys

STATIC = 0x8


class Graph:
    """Edges as {(holder, field or index): target}; statics as {field: target}."""

    def __init__(self):
        self.objects = {}   # holder -> {place: target}
        self.statics = {}
        self.unknown = 0    # stores whose holder or field is not known

    def field(self, holder, field, target):
        if field is None:
            self.unknown += 1
        elif field["modifiers"] & STATIC:
            self._put(self.statics, field["$id"], target)
        elif holder == 0:
            self.unknown += 1
        else:
            self._put(self.objects.setdefault(holder, {}), ("field", field["$id"]), target)

    def element(self, holder, index, target):
        if holder == 0:
            self.unknown += 1
        else:
            self._put(self.objects.setdefault(holder, {}), ("element", index), target)

    def copy(self, source, first, holder, index, length):
        row = self.objects.get(source, {})
        values = [row.get(("element", first + i), 0) for i in range(length)]
        for i, value in enumerate(values):
            self.element(holder, index + i, value)

    def clone(self, source, holder):
        self.objects[holder] = dict(self.objects.get(source, {}))

    def free(self, holder):
        self.objects.pop(holder, None)

    @staticmethod
    def _put(row, place, target):
        if target == 0:
            row.pop(place, None)
        else:
            row[place] = target

    def edges(self):
        for field, target in self.statics.items():
            yield 0, ("static", field), target
        for holder, row in self.objects.items():
            for place, target in row.items():
                yield holder, place, target


def records(steptrace, trace):
    """All events, in the order of their times."""
    process = subprocess.Popen([steptrace, "dump", "--json", "--record", "java.Event", trace],
                               stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        yield json.loads(line)
    if process.wait() != 0:
        raise SystemExit(f"dump of {trace} failed")


class Replay:
    """Reads a trace: the first snapshot is where it begins, later ones are compared."""

    def __init__(self):
        self.graph = None
        self.classes = {}       # of objects
        self.class_names = {}
        self.fields = {}
        self.walks = []         # of each later snapshot: edges, missing, superfluous
        self._walk = None
        self.counts = {}

    def run(self, steptrace, trace):
        for record in records(steptrace, trace):
            kind = record["$record"].split(".")[1]
            self.counts[kind] = self.counts.get(kind, 0) + 1
            take = getattr(self, "_" + kind, None)
            if take is not None:
                take(record)
        return self

    def _ClassLoad(self, r):
        self.class_names[r["class"]["$id"]] = r["class"].get("name")

    _ClassExisting = _ClassLoad

    def _ObjectAlloc(self, r):
        self.classes[r["object"]] = r["class"]["$id"]

    _ObjectExisting = _ObjectAllocAt = _ObjectAlloc

    def _ObjectFree(self, r):
        if self.graph is not None:
            self.graph.free(r["object"])

    def _field(self, r):
        field = r["field"]
        if field is not None:
            self.fields.setdefault(field["$id"], field)
            return self.fields[field["$id"]]
        return None

    def _FieldStore(self, r):
        field = self._field(r)
        if self.graph is not None:
            self.graph.field(r["holder"], field, r["target"])

    def _ElementStore(self, r):
        if self.graph is not None:
            self.graph.element(r["holder"], r["index"], r["target"])

    def _RangeStore(self, r):
        if self.graph is not None:
            self.graph.copy(r["source"], r["source_index"], r["holder"], r["index"], r["length"])

    def _CloneStore(self, r):
        if self.graph is not None:
            self.graph.clone(r["source"], r["holder"])

    def _Snapshot(self, r):
        self._walk = Graph()

    def _FieldReference(self, r):
        self._walk.field(r["holder"], self._field(r), r["target"])

    def _ElementReference(self, r):
        self._walk.element(r["holder"], r["index"], r["target"])

    def _SnapshotEnd(self, r):
        walk, self._walk = self._walk, None
        if self.graph is None:
            self.graph = walk
            return
        replayed = {(holder, place): target for holder, place, target in self.graph.edges()}
        edges, missing = 0, []
        for holder, place, target in walk.edges():
            edges += 1
            if replayed.get((holder, place)) != target:
                missing.append((holder, place, target, replayed.get((holder, place))))
        self.walks.append((edges, missing, walk))

    def name(self, holder, place):
        if place[0] == "element":
            return f"{self.class_names.get(self.classes.get(holder))}[]"
        field = self.fields[place[1]]
        return f"{self.class_names.get(field['class'])}.{field['name']}"


def main():
    replay = Replay().run(*sys.argv[1:3])
    for edges, missing, _ in replay.walks:
        names = {}
        for holder, place, _, _ in missing:
            name = replay.name(holder, place)
            names[name] = names.get(name, 0) + 1
        share = 100 * (edges - len(missing)) / max(edges, 1)
        print(f"{edges} edges, {len(missing)} not replayed ({share:.4f} % are)")
        for name, count in sorted(names.items(), key=lambda row: -row[1])[:40]:
            print(f"{count:8} {name}")
    print({kind: count for kind, count in replay.counts.items() if "Store" in kind},
          "stores not known", replay.graph.unknown)


if __name__ == "__main__":
    main()
