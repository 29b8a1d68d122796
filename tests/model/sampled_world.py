# SPDX-License-Identifier: Apache-2.0
"""Made-up programs of which a trace has a sample: each object is in it with the probability 1 - exp(-size / interval)
(docs/engine-sampled.md); what the whole program made is known, too."""
import collections
import math

from world import Object, World

SIZES = (16, 24, 40, 136, 1016, 5000)
LARGE = 100016


class SampledWorld(World):
    """`changes`: the interval may change from round to round; `twins`: so many array classes of the same mixture; `totals`:
    walks of eden say what each round made of each class, or counters what it made in all; a record may be lost."""

    def __init__(self, seed, changes=True, twins=0, totals=False):
        self.changes, self.twins, self.totals, self.walks = changes, twins, totals, []
        super().__init__(seed)

    def make_names(self):
        self.existing = self.same_tick = self.calls_traced = self.big_ids = self.big_sizes = False
        super().make_names()
        if self.twins:
            self.loaders = False
            self.classes = [("a/X", 0)] + [(f"[La/C{i};", 0) for i in range(self.twins)]
            self.methods = [(1, "f", 0)]
            self.frames = []

    def sizes_of(self, name):
        chance = self.chance
        if name.startswith("[") or name == "java/lang/Class":
            return chance.sample(SIZES, chance.randint(1, 3)) + [LARGE] * (chance.random() < 0.4)
        return [8 * chance.randint(2, 20)]

    def make_program(self):
        chance = self.chance
        self.interval = chance.choice([1024, 8192, 65536, 524288])
        self.version = chance.choice(["25.0.3+9-LTS", "26+35", "25+36-LTS", "17.0.15+6-Debian-1deb12u1", "21.0.5+11-LTS", "24.0.2+12"])
        if self.twins:
            self.version = "25.0.3+9-LTS"
        self.objects, self.calls, self.open_calls = [], [], {}
        self.scripts = {t: [] for t in range(1, len(self.threads) + 1)}
        self.truth = collections.defaultdict(lambda: [0, 0, 0])  # of a class: allocated, alive, allocated bytes
        self.rounds, self.order, self.walks = [], 0, []
        self.counters_only = self.totals and chance.random() < 0.4
        self.start = now = chance.randint(1, 50)
        mixture = self.mixture()
        living = []
        rounds = chance.choice([1, 2, 4, 8])
        for number in range(1, rounds + 1):
            begun, now = now, self.make_round(now, mixture, living)
            late = chance.choice([0, 0, 2, 20]) if self.totals and number < rounds and not (self.twins and self.counters_only) else 0  # the round's last samples are reported after its walk
            self.walk(max(now - late, begun), mixture)
            now += chance.randint(1, 20)
            keep = chance.choice([0.1, 0.5, 0.9])
            for kind, o in living:
                if chance.random() > keep:
                    self.truth[kind][1] -= 1
                    if o is not None:
                        o.died = now
                else:
                    self.rounds[-1].append((kind, o))
            living = self.rounds[-1]
            self.rounds[-1] = now
        self.end, self.ended = now + chance.randint(1, 30), []
        if self.totals and chance.random() < 0.2:
            self.walks.pop()
        if self.walks and not self.twins and chance.random() < 0.15:
            self.walks.remove(chance.choice(self.walks))

    def walk(self, now, mixture):
        """At the end of a round; the last one is missing if the program was killed."""
        chance, made = self.chance, collections.defaultdict(lambda: [0, 0])
        for (kind, size), count in mixture.items():
            made[kind][0] += count
            made[kind][1] += count * size
        counted = sum(size for _, size in made.values())
        how = 4 if self.counters_only else chance.choice([0, 0, 0, 0, 0, 0, 1, 2, 3]) if self.totals else 0
        if how == 0 and made and chance.random() < 0.1:
            del made[chance.choice(sorted(made))]  # of no known class
        self.walks.append((now, how, counted, made if how == 0 else {}, len(self.rounds)))

    def walk_lines(self):
        for time, how, counted, made, number in self.walks:
            for kind, (count, size) in made.items():
                yield f"0 eden-class {time} 0 {number} {kind} {count} {size}"
            known = sum(size for _, size in made.values())
            if known < counted:
                yield f"0 eden-class {time} 0 {number} 0 0 {counted - known}"
            yield f"0 eden-walk {time} 0 {number} {how} {counted} {known} 0 1000"

    def mixture(self):
        """(class, size) -> how many a round makes."""
        chance = self.chance
        if self.twins:
            sizes = [(24, chance.choice([0.2, 0.5, 1, 2, 4])), (1016, chance.choice([0, 0.5, 3])), (LARGE, chance.choice([0, 3, 10]))]
            return {(kind, size): round(share * self.interval / size) if size < LARGE else round(share)
                    for kind in range(2, len(self.classes) + 1) for size, share in sizes}
        found = {}
        for kind, (name, _) in enumerate(self.classes, 1):
            for size in self.sizes_of(name):
                found[kind, size] = min(round(chance.choice([0.1, 0.5, 2, 10]) * self.interval / size) + chance.choice([0, 1, 2, 9]), 20000)
        return found

    def make_round(self, now, mixture, living):
        """Objects that are not sampled have no more than a class."""
        chance, interval = self.chance, self.interval
        self.rounds.append([])
        if self.changes:
            interval *= chance.choice([1, 1, 1, 2, 8])
        for (kind, size), count in mixture.items():
            share = -math.expm1(-size / interval)
            self.truth[kind][0] += count
            self.truth[kind][1] += count
            self.truth[kind][2] += count * size
            sampled = 0
            at = 0
            while True:
                at += 1 if share == 1 else 1 + int(math.log(1 - chance.random()) / math.log1p(-share))
                if at > count:
                    break
                sampled += 1
                now += chance.randint(1, 3)
                living.append((kind, self.make_sample(kind, size, now, interval)))
            living.extend([(kind, None)] * (count - sampled))
        return now

    def make_sample(self, kind, size, now, interval):
        chance = self.chance
        self.order += 1
        thread, site = chance.randint(1, len(self.threads)), chance.randint(0, len(self.frames)) if self.frames else 0
        made = Object(self.order, kind, size, thread, site, now, self.order)
        made.interval, made.weight = interval, -1 / math.expm1(-size / interval)
        self.objects.append(made)
        if interval != self.interval:
            line = f"sampled {now} {thread} {kind} {size} {self.order} 0 {site} {interval}"
        elif site:
            line = f"at {now} {thread} {kind} {size} {self.order} 0 {site}"
        else:
            line = f"alloc {now} {thread} {kind} {size} {self.order}"
        self.scripts[thread].append(line)
        return made

    def is_valid(self):
        return int(self.version.split(".")[0].split("+")[0]) >= 25

    def properties(self):
        yield "property engine sampled"
        yield f"property sample {self.interval}"
        yield f"property java-vm-version {self.version}"
        yield "property sample-repeats 0"
        if self.totals:
            yield f"property totals {'threads' if self.counters_only else 'walk'}"

    def lines(self):
        yield from self.properties()
        *lines, end = super().lines()
        yield from lines
        if self.totals:
            yield from self.walk_lines()
        yield end

    def files(self):
        """The same as files of a ring: the text of each, and the ticks between them that are in none."""
        cuts = [0, *sorted(self.chance.sample(self.rounds[:-1], self.chance.randint(0, min(3, len(self.rounds) - 1)))), self.end]
        out, pauses, ended = [], 0, None
        for number, (after, last) in enumerate(zip(cuts, cuts[1:]), 1):
            born = [o for o in self.objects if after < o.born <= last]
            times = [o.born for o in born] + [o.died for o in self.objects if o.died is not None and after < o.died <= last]
            begin = self.start if number == 1 else self.chance.randint(after, min(times or [last]))
            ending = max(times + [begin]) if last != self.end else self.end
            if ended is not None:
                pauses += max(begin - ended, 0)
            ended = ending
            out.append("".join(line + "\n" for line in self.file_lines(number, born, begin, ending, after, last)))
        return out, pauses, ended - self.start

    def file_lines(self, number, born, begin, ending, after, last):
        first = 1 + sum(o.born <= after for o in self.objects)
        yield from self.properties()
        yield from ("property file-set 4711-1-1", f"property file-number {number}", f"property first-object {first}",
                    f"property next-object {first + len(born)}", "property file-set-repeats 0")
        chosen = {o.number for o in born}
        for line in super().lines():
            words = line.split()
            if words[0].isdigit() and words[1] in ("alloc", "at", "sampled"):
                if int(words[6]) in chosen:
                    yield line
            elif words[0].isdigit() and words[1] == "free":
                if after < int(words[2]) <= last:
                    yield line if int(words[4]) in chosen else line.replace("free", "earlier")
            elif words[0].isdigit() and words[1] in ("init", "load", "thread"):
                yield " ".join([*words[:2], str(begin), *words[3:]])
            elif words[0].isdigit() and words[1] == "end":
                yield f"0 end {ending} 0"
            else:
                yield line


