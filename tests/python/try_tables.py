# SPDX-License-Identifier: Apache-2.0
"""try_tables.py STEPTRACE: the Python package on made-up traces, value by value."""
import ctypes
import gc
import json
import pathlib
import pickle
import subprocess
import sys
import tempfile
import threading
import warnings

import made_trace

try:
    import numpy
    import pandas
except ImportError as error:
    print(f"skipped: {error} (python3-pandas)")
    sys.exit(77)
import steptrace

STEPTRACE = sys.argv[1]
SAMPLED = pathlib.Path(__file__).parent.parent / "cli" / "data" / "sampled-leak.bin"
MANY = 30000


def check_rows(rows, known):
    assert len(rows) == len(known)
    frame = rows.pandas().set_index("object").sort_index()
    assert list(frame.index) == sorted(known)
    assert list(frame["class"]) == [known[n][0] for n in frame.index]
    assert list(frame["born"]) == [known[n][1] for n in frame.index]
    assert [None if d is pandas.NA else d for d in frame["died"]] == [known[n][2] for n in frame.index]
    assert list(frame["alive"]) == [known[n][2] is None for n in frame.index]
    assert frame["class"].dtype == "category" and str(frame["died"].dtype) == "Int64"


def check_numpy(trace, known):
    rows = trace.objects().read()
    assert rows["object"].dtype == numpy.uint64 and rows["born"].dtype == numpy.int64
    assert rows["alive"].dtype == bool and rows["site"].mask.all()
    assert not rows["object"].base is None  # over the memory that was read
    died = dict(zip(rows["object"].tolist(), rows["died"].tolist()))
    assert died == {n: row[2] for n, row in known.items()}
    names = rows.names("class")
    assert [names[c] for c in rows.codes("class")] == rows["class"].tolist()
    assert sorted(names) == sorted(made_trace.CLASSES)
    born = rows["born"]
    del rows
    gc.collect()
    assert int(born.max()) == max(row[1] for row in known.values())
    none = trace.objects(where={"size": (1 << 40, None)})
    assert len(none.read()) == 0
    assert list(map(str, none.pandas().dtypes)) == list(map(str, trace.objects().pandas().dtypes))
    assert none.pandas().shape == (0, 11) and len(list(none.batches())) == 0
    assert trace.classes().read()["class"].tolist()[:2] == made_trace.CLASSES[:2]
    assert trace.threads(["name", "ended"]).read().keys() == ["name", "ended"]
    assert trace.sites(["stack"]).read()["stack"].tolist() == []


def check_choices(trace, known):
    half = sorted(row[1] for row in known.values())[len(known) // 2]
    wanted = {n for n, row in known.items() if 5000 <= row[1] < half and row[0].startswith("java/")}
    got = trace.objects(["object"], time=(5000, half), classes="java.**").read()["object"]
    assert set(got.tolist()) == wanted and len(got) == len(wanted)
    assert trace.objects(["size"], where={"object": 7}).count() == 1
    assert trace.objects(where={"object": (10, 20)}).count() == 10
    assert trace.objects(where={"object": (20, 10)}).count() == 0
    assert trace.objects(where={"object": (-5, 3.5)}).count() == 3
    for a, b in (("5m", "300s"), ("5min", "300s"), ("1.5 min", "90s"), ("1h", "60m")):
        assert steptrace._choice.nanoseconds(a) == steptrace._choice.nanoseconds(b), a
    assert trace.objects(time=("1us", "2us")).count() == \
        sum(1 for row in known.values() if 1000 <= row[1] < 2000)
    thread = trace.allocations(["thread"]).read()["thread"][0]
    assert trace.allocations(threads=int(thread)).count() > 0
    assert trace.allocations(threads=[77]).count() == 0 == trace.allocations(threads=[]).count()
    assert trace.allocations(threads="no such thread").count() == 0


def check_pieces(trace, known):
    whole = trace.objects(["object", "died"]).read()
    died = dict(zip(whole["object"].tolist(), whole["died"].tolist()))
    parts = trace.objects(["object", "died"]).parts(4000)
    assert sum(p.rows for p in parts) == len(known) and len(parts) > 1, parts
    found = {}
    for query in trace.objects(["object", "died"]).partitions(4000):
        rows = query.read()
        found.update(zip(rows["object"].tolist(), rows["died"].tolist()))
    assert found == died
    sizes, found = [], []
    for rows in trace.objects(["object", "class", "died"]).batches(777):
        sizes.append(len(rows))
        found += zip(rows["object"].tolist(), rows["class"].tolist(), rows["died"].tolist())
    assert set(sizes[:-1]) == {777} and sum(sizes) == len(known)
    assert {n: [c, d] for n, c, d in found} == {n: [r[0], r[2]] for n, r in known.items()}
    # pieces in which some batches are put in place and others are not
    every, at = trace.objects().read(), 0
    for rows in trace.objects().batches(9001):
        for name in every.keys():
            if every._columns[name][0].type != "name":
                assert (rows.values(name) == every.values(name)[at:at + len(rows)]).all(), name
        at += len(rows)
    assert at == len(every)


def check_rows_of_query(trace, known):
    died = {row["object"]: row["died"] for row in trace.objects(["object", "died"])}
    assert died == {n: row[2] for n, row in known.items()}
    row = next(iter(trace.objects(["class", "site", "alive", "size"])))
    assert list(row) == ["class", "site", "alive", "size"]
    assert [type(value) for value in row.values()] == [str, type(None), bool, int], row
    assert sum(1 for _ in trace.objects([])) == len(known)


def check_closing(path, known):
    with steptrace.open(path) as trace:
        query, table = trace.objects(["object"]), trace["threads"]
        scan = query.batches(10)
        first = next(scan)["object"].tolist()
    assert first + [n for rows in scan for n in rows["object"].tolist()] == query_numbers(path)
    for ask in (query.count, query.read, table, trace.stats, lambda: trace.info, lambda: trace.objects(["x"])):
        try:
            ask()
        except ValueError as fault:
            assert "closed" in str(fault), fault
        else:
            assert ask is table  # reads nothing
    assert len(repr(trace)) < 400, repr(trace)


def query_numbers(path):
    return steptrace.open(path).objects(["object"]).read()["object"].tolist()


def check_names(trace):
    for ask, words in ((lambda: trace["objcts"], "did you mean objects?"),
                       (lambda: trace.objects(["sizee"]), "did you mean size?"),
                       (lambda: trace.objects(where={"bron": 1}), "did you mean born?"),
                       (lambda: trace.collections(classes="x"), "there is no column")):
        try:
            ask()
        except steptrace.UnknownName as fault:
            assert words in str(fault), fault
        else:
            raise AssertionError(words)
    for ask in (lambda: trace.sites(time=(1, 2)), lambda: trace.objects(where={"class": 1}),
                lambda: trace.objects(time=("1 day", None))):
        try:
            ask()
        except ValueError:
            continue
        raise AssertionError("a ValueError is expected")


def check_threads(trace, known):
    """Several threads, one trace: they take turns, and end scans while others read."""
    found = []

    def read():
        for _ in range(3):
            scan = trace.objects(["object"]).batches(1000)
            next(scan)
            del scan
            found.append(len(trace.objects(["object", "died"]).read()))
    workers = [threading.Thread(target=read) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert found == [len(known)] * 12
    assert pickle.loads(pickle.dumps(trace)).objects().count() == len(known)


def check_stats(trace, path):
    said = made_trace.stats(STEPTRACE, path)
    told = trace.stats()
    said.pop("trace"), told.pop("trace"), said.pop("findings")
    assert told == said
    frame = trace.objects(["class", "size"]).pandas().groupby("class")["size"].agg(["count", "sum"])
    for row in said["classes"]:
        mine = frame.loc[row["name"]]
        assert (mine["count"], mine["sum"]) == (row["allocated_objects"], row["allocated_bytes"])
    info = trace.info
    assert info["records"]["java.ObjectAlloc"] == MANY and info["whole"] and info["damage"] is None
    assert info["properties"]["resolution-ns"] and info["blocks"] >= 1


class ArrowSchema(ctypes.Structure):
    pass


class ArrowArray(ctypes.Structure):
    pass


class ArrowArrayStream(ctypes.Structure):
    pass


def pointers(kind):
    return ctypes.POINTER(ctypes.POINTER(kind))


ArrowSchema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64), ("children", pointers(ArrowSchema)),
    ("dictionary", ctypes.POINTER(ArrowSchema)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrowSchema))), ("private", ctypes.c_void_p)]
ArrowArray._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)), ("children", pointers(ArrowArray)),
    ("dictionary", ctypes.POINTER(ArrowArray)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrowArray))), ("private", ctypes.c_void_p)]
ArrowArrayStream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ArrowArrayStream),
                                    ctypes.POINTER(ArrowSchema))),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ArrowArrayStream),
                                  ctypes.POINTER(ArrowArray))),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(ArrowArrayStream))),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrowArrayStream))),
    ("private", ctypes.c_void_p)]


def items(array, buffer, kind, count):
    data = ctypes.cast(array.buffers[buffer], ctypes.POINTER(kind))
    return [data[i] for i in range(count)]


def arrow_column(schema, array):
    """The values of a column, by the specification."""
    count, form = array.length, schema.format
    assert array.offset == 0
    valid = [True] * count
    if array.null_count:
        bits = items(array, 0, ctypes.c_uint8, count // 8 + 1)
        valid = [bits[i // 8] >> i % 8 & 1 == 1 for i in range(count)]
        assert schema.flags & 2 and valid.count(False) == array.null_count
    if form == b"b":
        bits = items(array, 1, ctypes.c_uint8, count // 8 + 1)
        values = [bits[i // 8] >> i % 8 & 1 == 1 for i in range(count)]
    elif form == b"i":
        names = array.dictionary.contents
        ends = items(names, 1, ctypes.c_int32, names.length + 1)
        text = ctypes.string_at(names.buffers[2], ends[-1])
        words = [text[a:b].decode() for a, b in zip(ends, ends[1:])]
        values = [words[c] if ok else None
                  for c, ok in zip(items(array, 1, ctypes.c_int32, count), valid)]
    elif form == b"U":
        ends = items(array, 1, ctypes.c_int64, count + 1)
        text = ctypes.string_at(array.buffers[2], ends[-1])
        values = [text[a:b].decode() for a, b in zip(ends, ends[1:])]
    else:
        values = items(array, 1, {b"L": ctypes.c_uint64, b"l": ctypes.c_int64, b"g": ctypes.c_double}[form], count)
    return [v if ok else None for v, ok in zip(values, valid)]


def arrow_rows(capsule):
    """Columns by name of all batches; every struct is released."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    stream = ctypes.cast(pointer(capsule, b"arrow_array_stream"), ctypes.POINTER(ArrowArrayStream))
    schema = ArrowSchema()
    assert stream.contents.get_schema(stream, schema) == 0 and schema.format == b"+s"
    children = [schema.children[i].contents for i in range(schema.n_children)]
    out, batches = {child.name.decode(): [] for child in children}, 0
    while True:
        array = ArrowArray()
        assert stream.contents.get_next(stream, array) == 0, stream.contents.get_last_error(stream)
        if not array.release:
            break
        batches += 1
        for i, child in enumerate(children):
            out[child.name.decode()] += arrow_column(child, array.children[i].contents)
        array.release(array)
        assert not array.release
    schema.release(schema)
    stream.contents.release(stream)
    return out, batches


def check_arrow(trace, known):
    query = trace.objects(["object", "class", "born", "died", "alive", "site"])
    query.BATCH_ROWS = 7000
    rows, batches = arrow_rows(query.__arrow_c_stream__())
    assert batches == -(-len(known) // 7000), batches
    assert {n: [c, b, d] for n, c, b, d in
            zip(rows["object"], rows["class"], rows["born"], rows["died"])} == known
    assert rows["alive"] == [d is None for d in rows["died"]] and set(rows["site"]) == {None}
    rows, _ = arrow_rows(trace.methods().__arrow_c_stream__())
    assert rows["method"] == []
    rows, _ = arrow_rows(trace.threads(["name"]).__arrow_c_stream__())
    assert rows["name"] == trace.threads().read()["name"].tolist()
    trace.objects().__arrow_c_stream__()  # never taken
    gc.collect()


def check_rotated(directory):
    """The files of one recording, by the directory and by their name: what steptrace sql says."""
    ring = pathlib.Path(directory) / "ring"
    ring.mkdir()
    for file in (SAMPLED.parent / "ring").glob("*.bin"):
        (ring / f"{file.stem}.step").write_bytes(file.read_bytes())
    for path in (ring, ring / "run.step"):
        frame = steptrace.open(path).objects(["alive", "weight", "life_weight"]).read().pandas()
        assert len(frame) == 479 and round(frame["weight"].sum()) == 106319, (path, len(frame))
        assert round(frame["life_weight"][frame["alive"]].sum()) == 22066, path
    try:
        steptrace.open(ring / "none.step")
        raise AssertionError("there is no such file")
    except FileNotFoundError:
        pass


def check_sampled():
    """A row is a sample; its weight is 1 / (1 - exp(-size / interval))."""
    trace = steptrace.open(str(SAMPLED))
    rows = trace.objects().read()
    sizes, weights = rows["size"].astype(float), rows["weight"]
    assert weights.dtype == numpy.float64 and len(rows) == 662
    assert numpy.allclose(weights, -1 / numpy.expm1(-sizes / 262144), rtol=1e-12)
    told = json.loads(subprocess.run([STEPTRACE, "stats", "--json", SAMPLED], stdout=subprocess.PIPE, check=True).stdout)
    assert round((sizes * weights).sum()) == told["objects"]["allocated_bytes"]["estimate"]
    frame = trace.allocations(["class", "weight"]).read().pandas()
    assert round(frame["weight"].sum()) == told["objects"]["allocated_objects"]["estimate"]
    columns, _ = arrow_rows(trace.objects(["weight"]).__arrow_c_stream__())
    assert columns["weight"] == trace.objects(["weight"]).read()["weight"].tolist()
    try:
        trace.stats()
        raise AssertionError("stats of all objects from a sample")
    except steptrace.Error as error:
        assert "engine=sampled" in str(error)


def check_damage(path, known, work):
    with open(path, "rb") as file:
        data = file.read()
    cut = f"{work}/cut.step"
    with open(cut, "wb") as file:
        file.write(data[:len(data) * 2 // 3])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        trace = steptrace.open(cut)
        rows = trace.allocations().read()
    assert [w.category for w in told] == [steptrace.DamageWarning], told
    assert "cut.step" in str(told[0].message) and trace.damage and not trace.info["whole"]
    assert 0 < len(rows) < len(known)
    for number, time in zip(rows["object"].tolist(), rows["time"].tolist()):
        assert known[number][1] == time
    broken = f"{work}/broken.step"
    with open(broken, "wb") as file:
        half = len(data) // 2
        file.write(data[:half] + bytes(b ^ 0x55 for b in data[half:half + 8]) + data[half + 8:])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        rows, _ = arrow_rows(steptrace.open(broken).allocations().__arrow_c_stream__())
    assert steptrace.DamageWarning in [w.category for w in told], told
    assert len(rows["object"]) < len(known)
    for make, wanted in ((lambda: steptrace.open(f"{work}/none.step"), FileNotFoundError),
                         (lambda: steptrace.open(__file__), steptrace.Error)):
        try:
            make()
        except wanted as fault:
            assert str(fault)
        else:
            raise AssertionError(wanted)


def check_memory(path):
    """No scan, buffer or trace stays behind."""
    def once():
        trace = steptrace.open(path)
        for _ in trace.objects().batches(3000):
            pass
        arrow_rows(trace.objects(["class"]).__arrow_c_stream__())
        trace.stats()

    def size():
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1])
    for _ in range(3):
        once()
    before = size()
    for _ in range(10):
        once()
    assert size() - before < 5000, (before, size())  # pages: half of what one trace's rows take


def main():
    with tempfile.TemporaryDirectory() as work:
        path = f"{work}/made.step"
        known = made_trace.make(STEPTRACE, path, MANY, 14)
        trace = steptrace.open(path)
        check_rows(trace.objects().read(), known)
        check_numpy(trace, known)
        check_choices(trace, known)
        check_pieces(trace, known)
        check_rows_of_query(trace, known)
        check_closing(path, known)
        check_names(trace)
        check_threads(trace, known)
        check_stats(trace, path)
        check_arrow(trace, known)
        check_sampled()
        check_rotated(work)
        check_damage(path, known, work)
        check_memory(path)
    print(f"{len(known)} objects: the same in numpy, pandas and Arrow, as a whole and in pieces")


main()
