# SPDX-License-Identifier: Apache-2.0
"""Traces without a clock (docs/formats/java.md, Without times): a time is a number of a step, which goes on with each collection."""
import collections

import heaps
from figures import rows_of
from moments import Moment, totals
from registry import check, rule_status
from world import World


class ClocklessWorld(World):
    """The frees of a collection have the number that its end ended: births of a step and its deaths are of one time."""

    def __init__(self, seed):
        super().__init__(seed)
        times = self.collections()
        step = {time: 2 + sum(t < time for t in times) for time in range(self.end + 1)}
        for o in self.objects:
            o.born = 1 if o.existing else step[o.born]
            o.died = None if o.died is None else step[o.died]
        for call in self.calls:
            call.entry, call.leave = step[call.entry], None if call.leave is None else step[call.leave]
        for lines in self.scripts.values():
            lines[:] = [" ".join([words[0], str(step[int(words[1])]), *words[2:]]) for words in map(str.split, lines)]
        self.start, self.end = 1, step[self.end]

    def lines(self):
        for line in super().lines():
            yield "property clock none" if line.startswith("property resolution-ns") else line


def clockless_case(case):
    case.world = ClocklessWorld(case.seed)
    case.trace = case.make(case.world, "clockless.step")
    return not case.world.same_tick


@check
def clockless_stats(case):
    if not clockless_case(case):
        return False
    world = case.world
    found = case.json("stats", "--json", "--top=0", case.trace)
    case.same("clock", found["clock"], False)
    dead = [o for o in world.objects if o.died is not None]
    for name, group in (("allocated", [o for o in world.objects if not o.existing]), ("existing", [o for o in world.objects if o.existing]), ("freed", dead)):
        case.same(name, (found["objects"][f"{name}_objects"], found["objects"][f"{name}_bytes"]), totals(group))
    if dead:
        case.same("unit of lifetimes", found.get("lifetime_unit"), "steps")
        lives = found["objects"]["lifetimes"]
        case.near("mean lifetime", lives["mean"], sum(o.died - o.born for o in dead) / len(dead), 1e-5, 1e-6)
        case.same("longest lifetime", lives["most"], max(o.died - o.born for o in dead))
    rows = {(row["class"], row["method"], row["descriptor"]): row["calls"] for row in found["methods"] if row["calls"]}
    wanted = collections.Counter()
    for call in world.calls:
        owner, name, number = world.methods[call.method - 1]
        wanted[world.class_name(owner), name, f"({'I' * number})V"] += 1
    case.same("calls", rows, dict(wanted))


@check
def clockless_heap(case):
    if not clockless_case(case) or case.world.loaders:
        return False
    world = case.world
    count = len(world.collections())
    moment = case.chance.choice(["end", *[f"gc:{i + 1}" for i in range(count)]])
    axes = case.chance.choice([("class",), ("thread",)])
    found = case.json("heap", "--json", "--top=0", f"--at={moment}", "--by=" + "+".join(axes), "--alive", case.trace)
    at = Moment(world, moment)
    case.same("time", found["moment"]["time_ns"], at.time)
    case.same("collections", found["moment"]["collections"], at.collections)
    wanted = {heaps.shown_key(key, axes)[0]: (*totals(objects), sum(at.time - o.born for o in objects) / len(objects))
              for key, objects in heaps.grouped(world, at.living, axes).items()}
    rows = {row.get(axes[0], 0): row for row in found["rows"]}
    case.same("rows", sorted(rows, key=repr), sorted(wanted, key=repr))
    for key, (objects, size, _) in wanted.items():
        case.same(f"{key}", (rows[key]["objects"], rows[key]["bytes"]), (objects, size))


@check
def clockless_survivors(case):
    """An object that is born in the step of a collection has seen it."""
    if not clockless_case(case):
        return False
    world = case.world
    times = world.collections()
    wanted = [(o.number, sum(t >= o.born and (o.died is None or t < o.died) for t in times)) for o in world.objects]
    case.same("survived", sorted(rows_of(case, "select object, survived from objects")), sorted(wanted))


@check
def clockless_gates(case):
    """Amounts are judged; what is a time is not there."""
    if not clockless_case(case) or not any(not o.existing for o in case.world.objects):
        return False
    size = sum(o.size for o in case.world.objects if o.died is None)
    limit = max(0, size + case.chance.choice([-1, 0, 1]))
    case.run("stats", "-q", f"--fail-if=alive_at_end > {limit}", case.trace, status=(rule_status(">", size, limit),))
    case.run("stats", "-q", "--fail-if=duration > 1ns", case.trace, status=(3,))
    case.run("check", case.trace)
