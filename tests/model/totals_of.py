# SPDX-License-Identifier: Apache-2.0
"""Exact totals of classes (docs/engine-sampled.md, Exact totals of classes) and ranges of parts of them (docs/estimates.md,
With exact totals)."""
import collections
import copy
import math

import estimates_of

LEAST = 8
SURE, MANY = 1e15, 1e6


def below(a, b, x):
    """The distribution function of a beta variable, by its series of positive terms."""
    if not 0 < x < 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - below(b, a, 1 - x)
    total = term = 1.0
    k = 0
    while term > 1e-14 * total:
        term *= (a + b + k) / (a + 1 + k) * x
        total += term
        k += 1
    return total * math.exp(a * math.log(x) + b * math.log1p(-x) - math.log(a) - math.lgamma(a) - math.lgamma(b) + math.lgamma(a + b))


def quantile(a, b, wanted):
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if below(a, b, middle) < wanted else (low, middle)
    return low


class Totals:
    """Of a world: `corrected` is a copy of it with corrected weights, whose objects are in the same order."""

    def __init__(self, world):
        self.world, self.corrected = world, copy.copy(world)
        self.ends = [walk[0] for walk in world.walks]
        self.known = [how == 0 and sum(size for _, size in made.values()) >= counted for _, how, counted, made in world.walks]
        self.corrected.objects = [copy.copy(o) for o in world.objects]
        self.of_name = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0, []]))  # name, interval: objects, bytes, samples
        self.rest = collections.defaultdict(list)
        for i, (_, _, _, made) in enumerate(world.walks):
            for kind, (count, size) in made.items() if self.known[i] else ():
                cell = self.of_name[world.class_name(kind)][i]
                cell[0] += count
                cell[1] += size
        for o in self.corrected.objects:
            i = self.interval(o)
            if self.is_known(i):
                self.of_name[world.class_name(o.kind)][i][2].append(o)
            else:
                self.rest[world.class_name(o.kind)].append(o)
        for cells in self.of_name.values():
            self.correct([cells[i] for i in sorted(cells)])

    def interval(self, o):
        return next((i for i, end in enumerate(self.ends) if o.born <= end), len(self.ends))

    def is_known(self, i):
        return i < len(self.known) and self.known[i]

    @staticmethod
    def has_more(cells):
        """Whether the samples of cells have more bytes than the cells."""
        return sum(o.size for _, _, found in cells for o in found) > sum(size for _, size, _ in cells)

    @staticmethod
    def correct(cells):
        groups, last = [], []
        for cell in cells:
            last.append(cell)
            if sum(len(samples) for _, _, samples in last) >= LEAST and not Totals.has_more(last):
                groups.append(last)
                last = []
        if last and groups:
            groups[-1] = groups[-1] + last
        elif last:
            groups.append(last)
        if groups and Totals.has_more(groups[-1]):
            groups = [cells]
        for group in groups:
            samples = [o for _, _, found in group for o in found]
            beyond = sum((o.weight - 1) * o.size for o in samples)
            factor = max(sum(size for _, size, _ in group) - sum(o.size for o in samples), 0) / beyond if beyond > 0 else 1
            for o in samples:
                o.weight = 1 + (o.weight - 1) * factor

    def samples(self, name):
        return [o for _, _, found in self.of_name[name].values() for o in found]

    def sums(self, name):
        cells = self.of_name[name].values()
        return sum(count for count, _, _ in cells), sum(size for _, size, _ in cells)

    def room(self, of_bytes_of_all=False):
        """What may be there without a sample."""
        late = any(self.interval(o) == len(self.ends) for o in self.world.objects)
        unknown = 0 if of_bytes_of_all else sum(counted for known, (_, _, counted, _) in zip(self.known, self.world.walks) if not known)
        return math.inf if late else unknown

    def mean(self):
        return estimates_of.mean_drawn(self.world.objects, self.world.interval)

    def plus(self, known, rest, room):
        value, low, high = rest
        return (known, known, known + room) if not value else (known + value, known + low, known + high)

    def class_objects(self, name):
        known, size = self.sums(name)
        one_size = not name.startswith("[") and name != "java/lang/Class" and known
        room = min(self.room(), estimates_of.NONE * self.mean()) / (size / known if one_size else estimates_of.SMALLEST)
        return self.plus(known, estimates_of.of_objects(self.world, self.rest[name], self.world.objects, name), room)

    def class_bytes(self, name):
        room = min(self.room(), estimates_of.NONE * self.mean())
        return self.plus(self.sums(name)[1], estimates_of.of_bytes(self.rest[name]), room)

    def all_objects(self):
        rest = [o for found in self.rest.values() for o in found]
        room = min(self.room(), estimates_of.NONE * self.mean()) / estimates_of.SMALLEST
        return self.plus(sum(self.sums(name)[0] for name in self.of_name), estimates_of.of_objects(self.world, rest, self.world.objects), room)

    def all_bytes(self):
        late = [o for o in self.world.objects if self.interval(o) == len(self.ends)]
        room = min(self.room(True), estimates_of.NONE * self.mean())
        return self.plus(sum(counted for _, _, counted, _ in self.world.walks), estimates_of.of_bytes(late), room)

    def is_share(self, name):
        return not self.rest[name] and self.room() <= 0 and sum(o.size * o.weight for o in self.samples(name)) > 0

    def part_bytes(self, name, objects):
        """Of a part of a class."""
        if not objects or not self.is_share(name):
            return estimates_of.of_bytes(objects)
        everything = self.samples(name)
        part, total = (sum(o.size * o.weight for o in found) for found in (objects, everything))
        of_part, of_all = (sum(o.size ** 2 * o.weight * (o.weight - 1) for o in found) for found in (objects, everything))
        beyond, own = (sum(o.size * (o.weight - 1) for o in found) for found in (everything, objects))
        r = min(max(own / beyond, 0), 1) if beyond > 0 else 0
        variance = max((1 - 2 * r) * of_part + r * r * of_all, 0)
        share = min(part / total, 1)
        if len(objects) == len(everything):
            count = total ** 2 / of_all if of_all else math.inf
            return (part, part, part) if not count < SURE else (part, total * quantile(count, 1, 0.025), total)
        count = share * (1 - share) * total ** 2 / variance if variance else math.inf
        if not count < SURE:
            return part, part, part
        if count > MANY:
            half = estimates_of.Z * math.sqrt(variance)
            return part, max(part - half, 0), min(part + half, total)
        inside, outside = count * share, count * (1 - share)
        return part, total * quantile(inside, outside + 1, 0.025), total * quantile(inside + 1, outside, 0.975)

    def part_objects(self, name, objects):
        if objects and self.is_share(name) and not name.startswith("[") and name != "java/lang/Class":
            size = sum(o.size * o.weight for o in objects) / sum(o.weight for o in objects)
            return tuple(value / size for value in self.part_bytes(name, objects))
        value, low, high = estimates_of.of_objects(self.corrected, objects, self.world.objects, name)
        if objects and self.is_share(name) and high > self.sums(name)[0]:
            high = max(self.sums(name)[0], value)
        return value, low, high
