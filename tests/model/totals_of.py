# SPDX-License-Identifier: Apache-2.0
"""Exact totals of classes (docs/engine-sampled.md, Exact totals of classes) and ranges of parts of them (docs/estimates.md,
With exact totals)."""
import collections
import copy
import math

import estimates_of

LEAST = 8
TILT_MOST = 4
LARGE_LEAST = 1400
SURE, MANY = 1e15, 1e6


CLASSES, PROGRAM, NOTHING = "classes", "program", "nothing"


def kind_of_record(walk, number_before):
    _, how, counted, made, number = walk
    if number != number_before + 1:
        return NOTHING  # a record before it is lost
    return CLASSES if how == 0 and sum(size for _, size in made.values()) >= counted else PROGRAM


class Totals:
    """Of a world: `corrected` is a copy of it with corrected weights, whose objects are in the same order."""

    def __init__(self, world):
        self.world, self.corrected = world, copy.copy(world)
        self.ends = [walk[0] for walk in world.walks]
        self.kinds = [kind_of_record(walk, before) for walk, before in zip(world.walks, [0] + [walk[4] for walk in world.walks])]
        self.corrected.objects = [copy.copy(o) for o in world.objects]
        self.of_name = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0, []]))  # name, interval: objects, bytes, samples
        self.of_program = []  # samples
        self.rest = collections.defaultdict(list)
        self.late = []
        for i, (_, _, _, made, _) in enumerate(world.walks):
            for kind, (count, size) in made.items() if self.kinds[i] == CLASSES else ():
                cell = self.of_name[world.class_name(kind)][i]
                cell[0] += count
                cell[1] += size
        for o in self.corrected.objects:
            self.put(o, world.class_name(o.kind))
        self.doubtful = set() if world.is_valid() else self.after_large()
        doubt = {name: self.doubt(name) for name in self.of_name}  # the weights are those of chance yet
        for cells in self.of_name.values():
            self.correct([cells[i] for i in sorted(cells)])
        self.factor = self.scale()
        for o, by_chance in zip(self.corrected.objects, world.objects):
            none = doubt.get(world.class_name(o.kind), 0) * (o.weight - 1) if o.number in self.doubtful else 0
            has_room = self.factor == 1 and not world.is_valid()
            o.fewer = max(o.weight - by_chance.weight, none, 0) if has_room else 0
            o.more = max(by_chance.weight - o.weight, 0) if has_room else 0

    def after_large(self):
        """The samples whose thread has sampled a large object just before."""
        found = set()
        for o in self.world.objects:
            earlier = [(other.born, other.size) for other in self.world.objects if other.thread == o.thread and other.born < o.born]
            if earlier and max(earlier)[1] >= LARGE_LEAST:
                found.add(o.number)
        return found

    def doubt(self, name):
        """How much of what doubtful samples of a class stand for may be none."""
        samples = self.samples(name)
        variance = sum(o.size ** 2 * o.weight * (o.weight - 1) for o in samples) + self.world.interval ** 2
        above = sum(o.size * o.weight for o in samples) - self.sums(name)[1] + estimates_of.Z * math.sqrt(variance)
        doubted = sum(o.size * (o.weight - 1) for o in samples if o.number in self.doubtful)
        return min(max(above / doubted, 0), 1) if doubted else 0

    @staticmethod
    def doubted(estimate, fewer, more, seen):
        """With room for a biased JVM's errors."""
        value, low, high = estimate
        return value, min(max(low - fewer, seen), low) if fewer else low, high if high is None else high + more

    def put(self, o, name):
        i = next((i for i, end in enumerate(self.ends) if o.born <= end), len(self.ends))
        kind = self.kinds[i] if i < len(self.ends) else NOTHING
        if kind == CLASSES:
            self.of_name[name][i][2].append(o)
            return
        self.rest[name].append(o)
        if kind == PROGRAM:
            self.of_program.append(o)
        else:
            self.late.append(o)

    def scale(self):
        """If no class is known, all samples, to the bytes of all; returns the factor."""
        counted = sum(walk[2] for kind, walk in zip(self.kinds, self.world.walks) if kind == PROGRAM)
        by_chance = sum(o.size * o.weight for o in self.of_program)
        if not by_chance or not counted or CLASSES in self.kinds:
            return 1
        for o in self.corrected.objects:
            o.weight *= counted / by_chance
        return counted / by_chance

    def variance(self, objects):
        return max(sum(o.size ** 2 * o.weight * (o.weight - self.factor) for o in objects), 0)

    def of_bytes(self, objects):
        fewer, more, seen = sum(o.size * o.fewer for o in objects), sum(o.size * o.more for o in objects), sum(o.size for o in objects)
        return self.doubted(estimates_of.of_bytes(objects, self.factor), fewer, more, seen)

    def of_objects(self, objects, name=None):
        found = estimates_of.of_objects(self.corrected, objects, self.world.objects, name, self.factor)
        return self.doubted(found, sum(o.fewer for o in objects), sum(o.more for o in objects), len(objects))

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
        others, means = {}, {}  # of samples, by number: what they stand for besides themselves, by the bytes, and the mean of 1 / size, by bytes, of their group
        for group in groups:
            samples = [o for _, _, found in group for o in found]
            beyond = sum((o.weight - 1) * o.size for o in samples)
            factor = max(sum(size for _, size, _ in group) - sum(o.size for o in samples), 0) / beyond if beyond > 0 else 1
            for o in samples:
                others[o.number] = (o.weight - 1) * factor
                means[o.number] = sum(s.weight - 1 for s in samples) / beyond if beyond > 0 else 0
        samples = [o for _, _, found in cells for o in found]
        tilt = Totals.tilt(samples, others, means, *(sum(cell[i] for cell in cells) for i in (0, 1)))
        for o in samples:
            o.weight = 1 + others[o.number] * max(1 + tilt * (1 / o.size - means[o.number]), 0)

    @staticmethod
    def tilt(samples, others, means, objects, size):
        """What makes the samples stand for so many objects, too, or nearly; `size`: their bytes."""
        moved = sum(others[o.number] * (1 / o.size - means[o.number]) for o in samples)
        missing = objects - len(samples) - sum(others.values())
        if len(samples) < LEAST or moved <= 1e-6 * sum(others[o.number] / o.size for o in samples):
            return 0
        if missing > 0 and min(o.size for o in samples) * objects > size:
            return 0
        tilt = missing / moved
        for o in samples:
            distance = 1 / o.size - means[o.number]
            if distance:
                ends = sorted((-1 / distance, (TILT_MOST - 1) / distance))
                tilt = min(max(tilt, ends[0]), ends[1])
        return tilt

    def samples(self, name):
        return [o for _, _, found in self.of_name[name].values() for o in found]

    def sums(self, name):
        cells = self.of_name[name].values()
        return sum(count for count, _, _ in cells), sum(size for _, size, _ in cells)

    def room(self, of_bytes_of_all=False):
        """What may be there without a sample."""
        if self.late or NOTHING in self.kinds:
            return math.inf
        return 0 if of_bytes_of_all else sum(walk[2] for kind, walk in zip(self.kinds, self.world.walks) if kind == PROGRAM)

    def shared(self):
        """All samples, if only the bytes of all classes together are known: all numbers are shares of these."""
        return self.of_program if set(self.kinds) == {PROGRAM} and not self.late else []

    def mean(self):
        return estimates_of.mean_drawn(self.world.objects, self.world.interval)

    def plus(self, known, rest, room):
        value, low, high = rest
        return (known, known, known + room) if not value else (known + value, known + low, known + high)

    def class_objects(self, name):
        known, size = self.sums(name)
        one_size = not name.startswith("[") and name != "java/lang/Class" and known
        room = min(self.room(), estimates_of.NONE * self.mean()) / (size / known if one_size else estimates_of.SMALLEST)
        return self.plus(known, self.part_objects(name, self.rest[name]), room)

    def class_bytes(self, name):
        room = min(self.room(), estimates_of.NONE * self.mean())
        return self.plus(self.sums(name)[1], self.part_bytes(name, self.rest[name]), room)

    def all_objects(self):
        rest = [o for found in self.rest.values() for o in found]
        room = min(self.room(), estimates_of.NONE * self.mean()) / estimates_of.SMALLEST
        return self.plus(sum(self.sums(name)[0] for name in self.of_name), self.of_objects(rest), room)

    def all_bytes(self):
        room = min(self.room(True), estimates_of.NONE * self.mean())
        counted = sum(walk[2] for kind, walk in zip(self.kinds, self.world.walks) if kind != NOTHING)
        return self.plus(counted, self.of_bytes(self.late), room)

    def is_share(self, name):
        return not self.rest[name] and self.room() <= 0 and sum(o.size * o.weight for o in self.samples(name)) > 0

    def part_bytes(self, name, objects):
        """Of a part of a class; without a name, of the program."""
        everything = self.samples(name) if name and self.is_share(name) else self.shared()
        if not objects or not everything:
            return self.of_bytes(objects)
        seen, more = sum(o.size for o in objects), sum(o.size * o.more for o in objects)
        fewer, of_all = (sum(o.size * o.fewer for o in found) for found in (objects, everything))
        value, low, high = self.doubted(self.share_of_bytes(name, objects, everything), fewer, more, seen)
        total, most = sum(o.size * o.weight for o in everything), seen + sum(o.size * (o.weight - 1) for o in everything)
        if len(objects) < len(everything) and of_all > fewer or more:
            others = of_all - fewer if len(objects) < len(everything) else 0
            high = max(min(high * total / (total - others) if others < total else math.inf, most), value)
        return value, low, high

    def share_of_bytes(self, name, objects, everything):
        part, total = (sum(o.size * o.weight for o in found) for found in (objects, everything))
        of_part, of_all = map(self.variance, (objects, everything))
        beyond, own = (sum(o.size * (o.weight - 1) for o in found) for found in (everything, objects))
        of_class = name and self.is_share(name)
        r = part / total if not of_class else own / beyond if beyond > 0 else 0
        r = min(max(r, 0), 1)
        variance = max((1 - 2 * r) * of_part + r * r * of_all, 0) + (0 if of_class else ((1 - 1 / self.factor) * part * (1 - r)) ** 2)
        share = min(part / total, 1)
        if len(objects) == len(everything):
            count = total ** 2 / of_all if of_all else math.inf
            return (part, part, part) if not count < SURE else (part, total * estimates_of.quantile(count, 1, 0.025), total)
        count = share * (1 - share) * total ** 2 / variance if variance else math.inf
        if not count < SURE:
            return part, part, part
        if count > MANY:
            half = estimates_of.Z * math.sqrt(variance)
            return part, max(part - half, 0), min(part + half, total)
        inside, outside = count * share, count * (1 - share)
        return part, total * estimates_of.quantile(inside, outside + 1, 0.025), total * estimates_of.quantile(inside + 1, outside, 0.975)

    def part_objects(self, name, objects):
        one_size = name and not name.startswith("[") and name != "java/lang/Class"
        if objects and one_size and (self.is_share(name) or self.shared()):
            size = sum(o.size * o.weight for o in objects) / sum(o.weight for o in objects)
            return tuple(value / size for value in self.part_bytes(name, objects))
        value, low, high = self.of_objects(objects, name)
        if objects and name and self.is_share(name) and high > self.sums(name)[0]:
            high = max(self.sums(name)[0], value)
        return value, low, high
