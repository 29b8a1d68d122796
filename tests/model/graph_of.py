# SPDX-License-Identifier: Apache-2.0
"""The graph of references at a moment, what roots reach, retained sizes (docs/answers/what-keeps-it-alive.md), and deaths by Merlin
(docs/answers/how-long-objects-live.md)."""
import collections

from graph_world import GLOBAL, JNI_LOCAL, LOCAL, MONITOR, OF_JVM, REFERENT, SYSTEM_CLASS, THREAD

HELD = (GLOBAL, SYSTEM_CLASS, THREAD, OF_JVM)  # roots that hold until the next snapshot
EXACT, BOUND, COLLECTION = range(3)


class Replay:
    """References as the records tell of them, one record after the other."""

    def __init__(self, world):
        self.world = world
        self.edges, self.roots, self.snapshot_at = {0: {}}, [], None

    def put(self, record):
        """Object -> whether the record shows it in a frame (BOUND), or only cuts a reference to it (EXACT)."""
        touched = {}
        getattr(self, "put_" + record.kind)(touched, record.time, *record.values)
        return touched

    def touch(self, touched, how, *objects):
        for o in objects:
            if o in self.edges and o:
                touched[o] = max(how, touched.get(o, EXACT))

    def set(self, touched, holder, key, target):
        before = self.edges[holder].get(key, 0)
        if before != target:
            self.touch(touched, EXACT, before)
        self.touch(touched, BOUND, holder, target)
        self.edges[holder][key] = target

    def put_alloc(self, touched, _time, o):
        self.edges[o.number] = {}
        if not o.existing:
            self.touch(touched, BOUND, o.number)

    def put_store(self, touched, _time, holder, key, target):
        self.set(touched, holder, key, target)

    def put_range(self, touched, _time, source, first, holder, at, count):
        moved = [self.edges[source].get(("element", first + i), 0) for i in range(count)]
        for i, target in enumerate(moved):
            self.set(touched, holder, ("element", at + i), target)
        self.touch(touched, BOUND, source, holder)

    def put_clone(self, touched, _time, source, holder):
        for key, target in self.edges[source].items():
            self.set(touched, holder, key, target)
        self.touch(touched, BOUND, source, holder)

    def put_entry(self, touched, _time, _method, receiver):
        self.touch(touched, BOUND, receiver)

    put_exit = put_pop = put_entry

    def put_free(self, _touched, _time, number):
        del self.edges[number]

    def put_snapshot(self, touched, time, _number, _reason, references, roots):
        reached = {target for target, _, _ in roots} | {target for _, _, target in references}
        self.snapshot_reached = reached
        for holder in [0, *reached]:
            self.edges[holder] = {}
        for holder, key, target in references:
            self.edges[holder][key] = target
        self.roots, self.snapshot_at = roots, time
        self.touch(touched, BOUND, *reached)

    def targets(self, o):
        """What it keeps."""
        return [t for key, t in self.edges[o].items() if t in self.edges and t and key != REFERENT]


STORES = ("store", "range", "clone")


def graph_time(world, time):
    """Of a trace without stores the last snapshot by then is the graph; None if there is none."""
    if any(r.kind in STORES for r in world.records):
        return time
    return max((r.time for r in world.records if r.kind == "snapshot" and r.time <= time), default=None)


class Graph:
    """At a time in ticks; `at_end`: that of the program, after which no frame holds anything if the trace knows what the JVM held."""

    def __init__(self, world, time, at_end):
        self.world, self.replay = world, Replay(world)
        records = [r for r in world.records if r.time <= graph_time(world, time)]
        for record in records:
            self.replay.put(record)
        replay = self.replay
        self.objects = {o for o in replay.edges if o}
        # A snapshot knows the locals until something else happens to the graph, and what it did not reach no frame holds.
        at_snapshot = replay.snapshot_at is not None and all(r.time <= replay.snapshot_at or r.kind in ("entry", "exit", "pop") for r in records)
        kinds = HELD + ((LOCAL, JNI_LOCAL, MONITOR) if at_snapshot else ())
        self.rooted = [(kind, target) for target, kind, _ in replay.roots if kind in kinds and target in self.objects]
        self.known = set(replay.targets(0)) | {target for _, target in self.rooted}
        held = {t for o in replay.edges for t in replay.targets(o)}
        self.kept = self.reach(self.known)
        unknown = self.objects & replay.snapshot_reached if at_snapshot else self.objects
        self.frames = unknown - held - self.known
        self.uncollected = at_end and world.ended_by_vm and replay.snapshot_at is not None and not at_snapshot  # what frames would hold
        self.reached = self.kept if self.uncollected else self.kept | self.reach(self.frames)

    def reach(self, starts, without=()):
        seen, todo = set(), [s for s in starts if s not in without]
        while todo:
            at = todo.pop()
            if at not in seen:
                seen.add(at)
                todo += [t for t in self.replay.targets(at) if t not in without]
        return seen

    def dominated(self, o):
        """What goes with it: found by taking it away.  A frame takes nothing from what known roots keep."""
        if o in self.kept:
            return self.kept - self.reach(self.known, {o})
        return self.reach(self.frames) - self.kept - self.reach(self.frames, {o})

    def size(self, objects):
        return sum(self.world.by_number[o].size for o in objects)

    def retained(self, key):
        """Name -> retained, bytes, objects: of those that no other of the name dominates."""
        groups = collections.defaultdict(set)
        for o in self.reached:
            groups[key(self.world.by_number[o])].add(o)
        below = {o: self.dominated(o) for o in self.reached}
        rows = {}
        for name, objects in groups.items():
            tops = [o for o in objects if not any(o in below[other] for other in objects if other != o)]
            rows[name] = (sum(self.size(below[o]) for o in tops), self.size(objects), len(objects))
        return rows

    def lengths(self):
        """Object -> references from the nearest root: of a known one, or else of a frame."""
        found = {}
        for roots in (self.known, self.frames):
            at, length = roots - set(found), 1
            while at:
                found.update(dict.fromkeys(at, length))
                at, length = {t for o in at for t in self.replay.targets(o)} - set(found), length + 1
        return found


def deaths(world):
    """Object -> (time, how, collected); and the objects of which it is not sure how."""
    replay, last, found, unsure = Replay(world), {}, {}, set()
    records = world.records
    at = 0
    while at < len(records):
        if records[at].kind != "free":
            for o, how in replay.put(records[at]).items():
                last[o] = (records[at].time, at, how)
            at += 1
            continue
        end = at
        while end < len(records) and records[end].kind == "free" and records[end].time == records[at].time:
            end += 1
        collect(world, replay, {r.values[0] for r in records[at:end]}, records[at].time, last, found, unsure)
        for record in records[at:end]:
            replay.put(record)
        at = end
    return found, unsure


def collect(world, replay, dead, time, last, found, unsure):
    """Visits the dead from the latest time to the earliest, each of which passes its time on to what it refers to."""
    living = [o for o in replay.edges if o not in dead]
    held, todo = set(), [t for o in living for t in replay.targets(o) if t in dead]
    while todo:
        at = todo.pop()
        if at not in held:
            held.add(at)
            todo += [t for t in replay.targets(at) if t in dead]
    weakly = {edges.get(REFERENT) for edges in replay.edges.values()} & dead
    todo = list(weakly)
    while todo:
        at = todo.pop()
        if at not in unsure:
            unsure.add(at)
            todo += replay.targets(at)
    start = (world.start, -1, BOUND)
    waiting = {o: last.get(o, start) for o in dead - held}
    while waiting:
        o = max(waiting, key=lambda name: waiting[name])
        when = waiting.pop(o)
        found[o] = (when[0], when[2], time)
        for target in replay.targets(o):
            if target in waiting:
                waiting[target] = max(waiting[target], when)
            elif target not in dead and when > last.get(target, start):
                last[target] = when
    for o in held:
        found[o] = (time, COLLECTION, time)
