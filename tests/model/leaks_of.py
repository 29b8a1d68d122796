# SPDX-License-Identifier: Apache-2.0
"""`steptrace leaks` (docs/answers/what-leaks.md)."""
from heaps import grouped, shown_key
from moments import totals
from selection import class_matches, frame_matches


def survived(world, o):
    """Collections that an object has seen: a death of its own tick comes after its birth."""
    return sum(1 for c in world.collections() if c >= o.born and (o.died is None or c < o.died))


def rows(world, selection, least, axes, existing=False, older=0, suppressed=()):
    found = [o for o in world.objects if o.died is None and survived(world, o) >= least and (existing or not o.existing) and
             (world.end - o.born) * 1000 >= older and selection.takes(o)]
    kept = [o for o in found if not any(is_suppressed(world, o, line) for line in suppressed)]
    out = []
    for name, objects in grouped(world, kept, axes).items():
        age = sum(world.end - o.born for o in objects) * 1000 / len(objects)
        out.append((shown_key(name, axes), *totals(objects), age))
    return found, kept, out


def is_suppressed(world, o, line):
    axis, pattern = line.split(":", 1)
    if axis == "class":
        return class_matches(pattern, world.class_name(o.kind))
    return any(frame_matches(pattern, frame) for frame in world.derived_stack(o))
