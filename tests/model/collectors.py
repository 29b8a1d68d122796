# SPDX-License-Identifier: Apache-2.0
"""`steptrace simulate --young`: HotSpot's Serial with two generations (docs/simulate.md)."""
import collections

from registry import check
from world import World

UNIT, XMX_UNIT = 64 << 10, 2 << 20


class LargeWorld(World):
    scale = 100


class Serial:
    """`overflows`: from the first one on the page says how bytes are shared out, not which objects go: only what does not depend on it is right."""

    def __init__(self, world, young, ratio, most_age, target):
        self.make_spaces(young // UNIT * UNIT, ratio)
        self.most_age, self.target, self.threshold = most_age, target, most_age
        self.collections = self.survived = self.copied = self.promoted = self.overflows = self.peak = 0
        self.in_eden, self.ages, self.old, self.dead, self.used = [], {}, set(), set(), [0, 0, 0]  # of eden, survivors, old
        for _, is_death, _, o in world.events():
            if is_death:
                self.dead.add(o.number)
            else:
                self.put(o)
        self.dead_old = sum(o.size for o in world.objects if o.number in self.old and o.number in self.dead)

    def make_spaces(self, young, ratio):
        self.survivor = max(young // (ratio + 2) // UNIT * UNIT, UNIT)
        self.eden = self.largest = young - 2 * self.survivor

    def put(self, o):
        if o.size > self.largest:
            self.old.add(o.number)
            self.used[2] += o.size
        else:
            if self.used[0] + o.size > self.eden:
                self.collect()
            self.in_eden.append(o)
            self.used[0] += o.size
        self.peak = max(self.peak, sum(self.used))

    def collect(self):
        self.collections += 1
        young = [(o, 0) for o in self.in_eden] + list(self.ages.values())
        living = [(o, age) for o, age in young if o.number not in self.dead]
        self.survived += sum(o.size for o, age in living if age == 0)
        kept = [(o, age + 1) for o, age in living if age < self.threshold]
        table = collections.Counter()
        for o, age in kept:
            table[age] += o.size
        for o, age in living:
            if age >= self.threshold:
                self.promoted += o.size
                self.used[2] += o.size
                self.old.add(o.number)
        size = sum(table.values())
        self.overflows += size > self.survivor
        self.copied += size
        self.ages = {o.number: (o, age) for o, age in kept}
        self.in_eden, self.used[0], self.used[1] = [], 0, size
        total = 0
        for age in range(1, 17):
            total += table[age]
            if total > self.survivor * self.target // 100:
                break
        self.threshold = min(age, self.most_age)


class Regions(Serial):
    """The same with regions, as G1's: survivors take whole ones, the others are eden; what is larger than half a region is born old."""

    def __init__(self, world, young, region, ratio, most_age, target):
        self.region, self.count = region, young // region
        self.most_survivors = -(-self.count // ratio)
        super().__init__(world, young, ratio, most_age, target)

    def make_spaces(self, _young, _ratio):
        self.survivor, self.eden, self.largest = self.most_survivors * self.region, self.count * self.region, self.region // 2

    def collect(self):
        super().collect()
        self.eden = (self.count - min(-(-self.used[1] // self.region), self.most_survivors)) * self.region


def least_heap(world, young, eden):
    """What lives and the next object have room in the old generation and eden; larger objects than eden in the old one."""
    most = living = 0
    for _, is_death, _, o in world.events():
        living += -o.size if is_death else o.size
        most = max(most, living)
    large = max((o.size for o in world.objects if o.size > eden), default=0)
    heap = XMX_UNIT
    while heap <= young or heap - young + eden < most or heap - young < large:
        heap += XMX_UNIT
    return heap


@check
def simulated_generations(case):
    world = case.world = LargeWorld(case.seed)
    if world.same_tick or world.big_sizes or not world.objects:
        return False
    case.trace = case.make(world, "large.step")
    young, ratio = case.chance.randint(4, 40) * UNIT, case.chance.choice([1, 3, 8])
    most_age, target = case.chance.choice([15, 2, 1]), case.chance.choice([50, 90])
    words = ["simulate", "--json", f"--young={young}", f"--survivor-ratio={ratio}", f"--max-tenuring={most_age}", f"--target-survivor={target}", case.trace]
    found = case.json(*words)
    case.same("options", (found["options"]["survivor_ratio"], found["options"]["max_tenuring"], found["options"]["target_survivor"]), (ratio, most_age, target))
    case.same("allocated", (found["trace"], found["objects"], found["allocated"]),
              (case.trace, sum(not o.existing for o in world.objects), sum(o.size for o in world.objects if not o.existing)))
    case.same("late deaths", (found["is_exact"], found["is_upper_bound"], found["deaths"]["dated"]), (False, True, False))
    [row] = found["generations"]
    model = Serial(world, young, ratio, most_age, target)
    case.same("spaces", (row["young"], row["eden"], row["survivor"], row["is_coarse"]), (young, model.eden, model.survivor, True))
    case.same("collections and what survived", (row["collections"], row["survived"]), (model.collections, model.survived))
    case.same("it overflows", row["overflows"] > 0, model.overflows > 0)
    case.same("least heap", row["least_heap"], least_heap(world, young, model.eden))
    if not model.overflows:
        case.same("bytes", (row["copied"], row["promoted"], row["dead_old"], row["peak"]), (model.copied, model.promoted, model.dead_old, model.peak))
        case.near("mark/cons", row["mark_cons"], (model.copied + model.promoted) / max(found["allocated"], 1), 1e-4, 1e-6)
    [limited] = case.json(*words, "--heap=1g")["generations"]
    for name in ("collections", "survived", "copied", "promoted", "dead_old", "peak"):
        case.same(f"{name} in a heap of 1 GiB", limited[name], row[name])
    case.same("full collections", (limited["heap"], limited["full_collections"]), (1 << 30, 0))


class HugeWorld(World):
    scale = 2000


@check
def simulated_regions(case):
    world = case.world = HugeWorld(case.seed)
    if world.same_tick or world.big_sizes or not world.objects:
        return False
    case.trace = case.make(world, "huge.step")
    region, ratio = case.chance.choice([1, 2]) << 20, case.chance.choice([2, 4, 8])
    young, most_age = region * case.chance.randint(3, 8), case.chance.choice([15, 2, 1])
    found = case.json("simulate", "--json", f"--young-regions={young}", f"--region-size={region}", f"--survivor-ratio={ratio}", f"--max-tenuring={most_age}", case.trace)
    case.same("region", found["options"]["region"], region)
    [row] = found["regions"]
    model = Regions(world, young, region, ratio, most_age, 50)
    case.same("it overflows", row["overflows"] > 0, model.overflows > 0)
    if not model.overflows:  # what is promoted early leaves more regions to eden
        case.same("collections and bytes", (row["collections"], row["survived"], row["copied"], row["promoted"], row["dead_old"], row["peak"]),
                  (model.collections, model.survived, model.copied, model.promoted, model.dead_old, model.peak))
