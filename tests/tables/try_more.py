# SPDX-License-Identifier: Apache-2.0
"""try_more.py STEPTRACE: tables of a native program, Parquet in several files and by the clock, and rows that
SQLite gets grouped."""
import csv
import io
import json
import os
import random
import sys
import tempfile

import try_doors  # finds the readers of formats
from try_doors import parquet_reader, run

# ---- a native program ----

HEAP_TABLES = {
    "allocations": "time,thread,object,address,size,heap",
    "frees": "time,thread,object,address,heap",
    "reallocs": "time,thread,object,address,new_address,size,old_size,heap,kind",
    "objects": "object,thread,heap,address,size,born,died,alive,moved",
}


class Heap:
    """A program that allocates, as text, and the rows that its tables have to have."""

    def __init__(self, steps):
        self.chance = random.Random(steps)
        self.lines = ["createThread 0 0 0 1 0 10", "createThread 0 0 0 2 0 10"]
        self.rows = {name: [] for name in HEAP_TABLES}
        self.live, self.time, self.objects, self.next_address = {}, 100, 0, 1 << 20
        for _ in range(steps):
            self.time += self.chance.randrange(3) * 7
            self.thread = 1 + self.chance.randrange(2)
            self.chance.choice([self.alloc, self.alloc, self.free, self.grow, self.move, self.fail,
                                self.unknown, self.of_nothing, self.to_nothing])()
        for address, (number, thread, size, born, moved) in self.live.items():
            self.rows["objects"].append([number, thread, 0, address, size, born, None, 1, moved])

    def line(self, tag, *fields):
        self.lines.append(f"{tag} {' '.join(map(str, fields))} {self.time}")

    def address(self):
        self.next_address += 16 * self.chance.randrange(1, 5)
        return self.next_address

    def begin(self, address, size, moved):
        self.objects += 1
        self.line("alloc", address, size, 0, self.thread, 0)
        self.live[address] = (self.objects, self.thread, size, self.time, moved)
        self.rows["allocations"].append([self.time, self.thread, self.objects, address, size, 0])

    def end(self, address):
        number, thread, size, born, moved = self.live.pop(address)
        self.line("free", address, 0, 0, self.thread, 0)
        self.rows["frees"].append([self.time, self.thread, number, address, 0])
        self.rows["objects"].append([number, thread, 0, address, size, born, self.time, 0, moved])

    def realloc(self, tag, address, size, new, kind):
        number, _, old, *_ = self.live.get(address, (None, 0, None))
        self.line("realloc/" + tag, address, size, new, self.thread, 0)
        self.rows["reallocs"].append([self.time, self.thread, number, address, new, size, old, 0, kind])

    def any(self):
        if not self.live:
            self.begin(self.address(), 8, 0)
        return self.chance.choice(list(self.live))

    def alloc(self):
        self.begin(self.address(), self.chance.randrange(1, 900), 0)

    def free(self):
        self.end(self.any())

    def grow(self):
        address, size = self.any(), self.chance.randrange(1, 900)
        self.realloc("none", address, size, address, "in place")
        number, thread, _, born, moved = self.live[address]
        self.live[address] = (number, thread, size, born, moved)

    def move(self):
        address, new, size = self.any(), self.address(), self.chance.randrange(1, 900)
        self.realloc("both", address, size, new, "move")
        self.begin(new, size, 1)
        self.end(address)

    def fail(self):
        """No memory: all stays as it is."""
        self.realloc("none", self.any(), 1 << 60, 0, "in place")

    def unknown(self):
        address = self.address()
        self.line("free", address, 0, 0, self.thread, 0)
        self.rows["frees"].append([self.time, self.thread, None, address, 0])

    def of_nothing(self):
        new, size = self.address(), self.chance.randrange(1, 900)
        self.realloc("alloc", 0, size, new, "alloc")
        self.begin(new, size, 0)

    def to_nothing(self):
        address = self.any()
        self.realloc("free", address, 0, 0, "free")
        self.end(address)


def table_of(steptrace, trace, query):
    text, _ = run(steptrace, "sql", "--csv", trace, query)
    rows = list(csv.reader(io.StringIO(text.decode())))[1:]
    return [[None if v == "" else int(v) if v.lstrip("-").isdigit() else v for v in r] for r in rows]


def check_heap(steptrace, work):
    heap, trace = Heap(6000), f"{work}/heap.step"
    with open(f"{work}/heap.hatf.txt", "w", encoding="utf-8") as file:
        file.write("# HATF 1.0\n" + "\n".join(heap.lines) + "\n")
    run(steptrace, "convert", f"{work}/heap.hatf.txt", "-o", trace)
    for name, columns in HEAP_TABLES.items():
        found = table_of(steptrace, trace, f"select {columns} from {name}")
        key = str
        assert sorted(found, key=key) == sorted(heap.rows[name], key=key), name
    end, = table_of(steptrace, trace, "select objects, bytes from live order by time desc limit 1")
    assert end == [len(heap.live), sum(o[2] for o in heap.live.values())], end
    some = table_of(steptrace, trace, "select object from objects where size between 100 and 200 "
                    "and thread = 2 and not alive")
    assert sorted(r[0] for r in some) == sorted(
        r[0] for r in heap.rows["objects"] if 100 <= r[4] <= 200 and r[1] == 2 and not r[7])
    print(f"a native program: {', '.join(f'{len(r)} {n}' for n, r in heap.rows.items())}")


# ---- Parquet ----

def check_parts(steptrace, trace, known, work):
    """Several files: all rows once, none of an earlier export left."""
    folder = f"{work}/parts/table=objects/run=one"
    for most, files in ((15000, 2), (5000, 4), (100000, 1)):
        run(steptrace, "convert", trace, "-o", f"{work}/parts", "--to=parquet", "--table=objects",
            f"--part-rows={most}")
        names = sorted(os.listdir(folder))
        rows = {}
        for name in names:
            columns, values, _ = parquet_reader.read(f"{folder}/{name}")
            part = try_doors.rows_of(columns, values)
            assert not rows.keys() & part.keys()
            rows.update(part)
        try_doors.check_rows(rows, known)
        assert len(names) >= min(files, len(known) // most) and names[0] == "part-0.parquet", names
        assert len(names) == 1 or most < 100000, names
    print("Parquet in several files: each row once")


def check_clock(steptrace, trace, work):
    """Times of the clock are those since the start, and when that was."""
    shop = os.path.join(os.path.dirname(__file__), "../cli/data/traces/shop-1.step")
    start = int(json.loads(run(steptrace, "info", "--json", shop)[0])["properties"]["start-time-ns"])
    times = {}
    for words in ([], ["--clock"]):
        run(steptrace, "convert", shop, "-o", f"{work}/clock.parquet", "--to=parquet",
            "--table=objects", "--columns=object,born,died,size", *words)
        names, columns, _ = parquet_reader.read(f"{work}/clock.parquet")
        times[len(words)] = {r[0]: r[1:] for r in zip(*columns)}
        assert names == ["object", "born", "died", "size"]
    assert times[1] == {n: (born + start, None if died is None else died + start, size)
                        for n, (born, died, size) in times[0].items()} and times[1]
    _, fault = run(steptrace, "convert", trace, "-o", f"{work}/no.parquet", "--to=parquet",
                   "--table=objects", "--clock", code=2)
    assert "does not contain its start time" in fault, fault
    print("times of the clock")


# ---- groups ----

QUERIES = [  # {0}: before the column's name; a plus, with which SQLite sorts by itself, or nothing
    "select {0}class, count(*), sum(size), min(born), max(died), count(died) from objects group by 1",
    "select {0}class_id, count(*), count(distinct died) from objects where object > 70 group by 1",
    "select {0}class_id c, {0}alive a, count(*), sum(survived) from objects group by c, a",
    "select {0}alive a, {0}class c, {0}survived s, {0}thread t, count(*) from objects group by a, c, s, t",
    "select distinct {0}survived from objects",
    "select distinct {0}class, {0}alive from objects where class glob 'java/*'",
    "select {0}site, count(*) from objects group by 1",
    "select {0}class c, count(*) n from objects group by c having n > 3 order by n desc limit 3",
    "select {0}collection, count(*), min(object) from frees group by 1",
    "select {0}class, group_concat(name) from methods group by 1",
    "select c.class, count(*) from objects o join classes c using (class_id) group by {0}o.class_id",
    "select count(*) from (select {0}class from objects where size < 0 group by 1)",
    "select {0}survived, count(*) from objects where " +
    " and ".join(f"object > {i}" for i in range(20)) + " group by 1",
    "select (select count(*) from (select {0}p.class from objects p where p.object < m.object group by 1))"
    " from (select 5 object union all select 50) m",
]



def check_groups(steptrace, trace):
    for query in QUERIES:
        mine, other = (sorted(run(steptrace, "sql", "--csv", trace,
                                  query.format(plus))[0].decode().splitlines()[1:])
                       for plus in ("", "+"))
        assert mine == other and (mine or "methods" in query), (query, mine[:5], other[:5])
    plan, _ = run(steptrace, "sql", trace, "explain query plan " + QUERIES[0].format(""))
    assert b"TEMP B-TREE" not in plan, plan
    plan, _ = run(steptrace, "sql", trace,
                  "explain query plan select object, count(*) from objects group by object")
    assert b"TEMP B-TREE" in plan, plan  # too many groups: SQLite sorts
    print(f"{len(QUERIES)} queries: the same, grouped by the trace and sorted by SQLite")


def main():
    steptrace = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as work:
        trace = f"{work}/one.step"
        known = try_doors.make_trace(f"{work}/one.txt", 20000)
        run(steptrace, "convert", "--from=lines", f"{work}/one.txt", "-o", trace)
        check_heap(steptrace, work)
        check_parts(steptrace, trace, known, work)
        check_clock(steptrace, trace, work)
        check_groups(steptrace, trace)


if __name__ == "__main__":
    main()
