# SPDX-License-Identifier: Apache-2.0
"""What lived at a moment (docs/answers/what-allocates.md, Moments)."""


class Moment:
    """`name` is peak, end, gc:N, or a time in nanoseconds, as "5000ns"."""

    def __init__(self, world, name):
        self.world = world
        events = world.events()
        if name == "peak":
            count, self.time = peak_of(world)
        elif name == "end":
            count, self.time = len(events), world.end
        elif name.startswith("gc:"):
            self.time = world.collections()[int(name[3:]) - 1]
            count = sum(1 for e in events if e[0] <= self.time)
        else:
            self.time = int(name.removesuffix("ns")) // 1000
            count = sum(1 for e in events if e[0] <= self.time)
        self.allocated, self.existing, self.living = [], [], []
        dead = {id(e[3]) for e in events[:count] if e[1]}
        for _, is_death, _, o in events[:count]:
            if not is_death:
                (self.existing if o.existing else self.allocated).append(o)
                if id(o) not in dead:
                    self.living.append(o)
        self.collections = len({e[0] for e in events[:count] if e[1]})


def allocated_of(objects):
    return [o for o in objects if not o.existing]


def peak_of(world):
    """The most bytes; of several moments the one with the most objects, then the first."""
    best, count, at = (0, 0), 0, 0
    size = number = 0
    for i, (time, is_death, _, o) in enumerate(world.events()):
        size += -o.size if is_death else o.size
        number += -1 if is_death else 1
        if (size, number) > best:
            best, count, at = (size, number), i + 1, time
    return count, at


def totals(objects):
    return len(objects), sum(o.size for o in objects)
