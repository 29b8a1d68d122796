# SPDX-License-Identifier: Apache-2.0
"""`steptrace heap`: rows of a moment and of the difference of two."""
import collections

from moments import Moment, totals


def frame_text(frame):
    name, line = frame
    return f"{name}:{line}" if line else name


def key(world, o, axes):
    """A row's key, as the JSON has its members."""
    parts = []
    for axis in axes:
        if axis == "class":
            parts.append(world.classes[o.kind - 1])
        elif axis == "thread":
            parts.append(o.thread)
        else:
            parts.append(tuple(world.derived_stack(o)))
    return tuple(parts)


def grouped(world, objects, axes):
    rows = collections.defaultdict(list)
    for o in objects:
        rows[key(world, o, axes)].append(o)
    return rows


def shown_key(found, axes):
    """The loader is left out: rows of two classes of one name are compared as a set."""
    return tuple(part[0] if axis == "class" else part for part, axis in zip(found, axes))


def rows(world, selection, moment, axes, allocated):
    at = Moment(world, moment)
    pool = at.allocated if allocated else at.living
    taken = [o for o in pool if selection.takes(o)]
    out = []
    for found, objects in grouped(world, taken, axes).items():
        age = sum(at.time - o.born for o in objects) * 1000 / len(objects)
        out.append((shown_key(found, axes), *totals(objects), age))
    return at, taken, out


def difference(world, before, after, axes):
    """Changes from one moment to another; rows without any are left out."""
    a = grouped(world, Moment(world, before).living, axes)
    b = grouped(world, Moment(world, after).living, axes)
    out = []
    for found in set(a) | set(b):
        then, now = totals(a.get(found, [])), totals(b.get(found, []))
        if then != now:
            out.append((shown_key(found, axes), now[0] - then[0], now[1] - then[1]))
    return out
