# SPDX-License-Identifier: Apache-2.0
"""JFR and CTF: recordings of events, each read by a reader of its own (docs/formats/jfr.md, ctf.md)."""
import collections

import ctf_reader
import jfr_reader
from commands import choose_options, words_of
from moments import Moment, totals
from registry import check
from selection import Selection
from world import TICK


UNKNOWN_LINE = 0xffffffff  # -1 of 32 bits


def recorded(case, *words):
    """The events of each type: fields, and the chunk that knows what they name."""
    case.run("convert", case.trace, "-o", case.path("out.jfr"), *words)
    with open(case.path("out.jfr"), "rb") as file:
        found = collections.defaultdict(list)
        for chunk in jfr_reader.chunks(file.read()):
            for name, fields in chunk.events:
                found[name].append((fields, chunk))
        return found


def stack_of(chunk, fields):
    return tuple((f"{name.replace('.', '/')}.{method}", 0 if line in (-1, UNKNOWN_LINE) else line) for name, method, line in chunk.frames(fields["stackTrace"]))


def class_of(chunk, fields):
    return chunk.class_name(fields["objectClass"]).replace(".", "/")


@check
def jfr(case):
    options = choose_options(case, ("alive-at",))
    world, selection = case.world, Selection(case.world, options)
    events = recorded(case, *words_of(options))
    found, wanted = collections.Counter(), collections.Counter()
    for fields, chunk in events["jdk.ObjectAllocationSample"]:
        found[class_of(chunk, fields), chunk.thread_name(fields["eventThread"]) or "", stack_of(chunk, fields)] += fields["weight"]
    lives = {}
    for o in selection.objects():
        key = world.class_name(o.kind), tuple(world.derived_stack(o))
        row = lives.setdefault(key, [0] * 5)
        if not o.existing:
            wanted[key[0], world.thread_name(o.thread), key[1]] += o.size
            row[0], row[1] = row[0] + 1, row[1] + o.size
        if o.died is not None:
            row[2], row[3], row[4] = row[2] + 1, row[3] + o.size, row[4] + (o.died - o.born) * TICK
    case.same("samples", found, wanted)
    rows = {}
    for fields, chunk in events["steptrace.ObjectLifetime"]:
        row = rows.setdefault((class_of(chunk, fields), stack_of(chunk, fields)), [0] * 5)
        for i, name in enumerate(("objects", "bytes", "deadObjects", "deadBytes", "lifetimes")):
            row[i] += fields[name]
    case.same("lifetimes", rows, {key: row for key, row in lives.items() if any(row)})


@check
def jfr_collections(case):
    world = case.world
    events = recorded(case)
    times = world.collections()
    freed = [[o for o in world.objects if o.died == time] for time in times]
    found = [(fields["gcId"], fields["startTime"], fields["freedObjects"], fields["freedBytes"]) for fields, _ in events["jdk.GarbageCollection"]]
    case.same("collections", found, [(n + 1, time * TICK, *totals(freed[n])) for n, time in enumerate(times)])
    heap = collections.defaultdict(list)
    for fields, chunk in events["jdk.GCHeapSummary"]:
        heap[fields["gcId"]].append(fields["heapUsed"])
    after = [totals(Moment(world, f"gc:{n + 1}").living)[1] for n in range(len(times))]
    case.same("heap before and after", {n: sorted(used) for n, used in heap.items()},
              {n + 1: [after[n], after[n] + totals(freed[n])[1]] for n in range(len(times))})
    case.same("threads that end", len(events["jdk.ThreadEnd"]), len(world.ended))


def call_times(world):
    """Method -> calls, exceptions, inclusive and exclusive time in ticks; a call that is open ends with the trace."""
    found = {}
    for lines in world.scripts.values():
        open_calls = []  # method, entry, what its callees took

        def leave(time, exception):
            method, entry, callees = open_calls.pop()
            row = found[method]
            row[1] += exception
            row[2] += 0 if any(method == other[0] for other in open_calls) else time - entry
            row[3] += time - entry - callees
            if open_calls:
                open_calls[-1][2] += time - entry

        for words in map(str.split, lines):
            if words[0] == "entry":
                open_calls.append([int(words[3]), int(words[1]), 0])
                found.setdefault(int(words[3]), [0, 0, 0, 0])[0] += 1
            elif words[0] in ("exit", "pop"):
                leave(int(words[1]), words[0] == "pop")
        while open_calls:
            leave(world.end, False)
    return found


def by_method(world, rows):
    """Overloads of one path are joined: (class.method, descriptor) -> values."""
    found = {}
    for method, values in rows.items():
        _, _, number = world.methods[method - 1]
        found[world.method_path(method), f"({'I' * number})V"] = tuple(values)
    return found


@check
def jfr_calls(case):
    world, found, calls = case.world, {}, collections.Counter()
    events = recorded(case, "--calls")
    for fields, chunk in events["jdk.MethodTiming"]:
        method = chunk.constant(fields["method"])
        name = f"{chunk.class_name(method['type']).replace('.', '/')}.{chunk.constant(method['name'])}", chunk.constant(method["descriptor"])
        found[name] = fields["invocations"], fields["exceptions"], fields["inclusive"], fields["exclusive"]
    wanted = {name: (*row[:2], row[2] * TICK, row[3] * TICK) for name, row in by_method(world, call_times(world)).items()}
    case.same("times of calls", {name: row for name, row in found.items() if row[0]}, wanted)
    for fields, chunk in events["jdk.MethodTrace"]:
        method = chunk.constant(fields["method"])
        calls[chunk.class_name(method["type"]).replace(".", "/") + "." + chunk.constant(method["name"]), chunk.thread_name(fields["eventThread"]),
              fields["startTime"], fields["duration"]] += 1
    case.same("calls", calls, collections.Counter((world.method_path(c.method), world.thread_name(c.thread), c.entry * TICK,
                                                   ((world.end if c.leave is None else c.leave) - c.entry) * TICK) for c in world.calls))


def plain(value):
    """A value of CTF as `dump --json` has it, without the underscores before names."""
    if isinstance(value, dict):
        return {name.removeprefix("_"): plain(part) for name, part in value.items()}
    return value.decode() if isinstance(value, bytes) else value


@check
def ctf(case):
    """All records of objects, calls and threads, with their times, and the names of the dictionaries."""
    world = case.world
    case.run("convert", case.trace, "-o", case.path("out.ctf"))
    found, names = collections.defaultdict(list), {}
    for event in ctf_reader.Trace(case.path("out.ctf")).events():
        fields = plain(event.fields[1])
        if event.stream == 1:
            names[event.name, event.id] = fields
        else:
            found[event.name.removeprefix("java.")].append((fields, event.time))
    births = [(f["time"], f["thread"], f["class"], f["size"], f["object"], f.get("stack", 0)) for name in ("ObjectAlloc", "ObjectAllocAt", "ObjectExisting")
              for f, _ in found[name]]
    case.same_rows("births", births, [(o.born, o.thread, o.kind, o.size, o.number, o.site) for o in world.objects])
    case.same_rows("deaths", [(f["time"], f["object"]) for f, _ in found["ObjectFree"]], [(o.died, o.number) for o in world.objects if o.died is not None])
    case.same_rows("entries", [(f["time"], f["thread"], f["method"]) for f, _ in found["MethodEntry"]], [(c.entry, c.thread, c.method) for c in world.calls])
    leaves = [(f["time"], f["thread"], f["method"], name == "FramePop") for name in ("MethodExit", "FramePop") for f, _ in found[name]]
    case.same_rows("exits", leaves, [(c.leave, c.thread, c.method, c.exception) for c in world.calls if c.leave is not None])
    case.same("classes", [names["java.Class", i + 1] for i in range(len(world.classes))], [{"name": name, "loader": loader} for name, loader in world.classes])
    case.same("frames", [(f["parent"], f["method"], f["line"]) for f in (names["java.Frame", i + 1] for i in range(len(world.frames)))], world.frames)
    case.same("timestamps", [time for rows in found.values() for fields, time in rows if time != fields["time"]], [])
