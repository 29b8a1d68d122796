# SPDX-License-Identifier: Apache-2.0
"""Sampled traces: what the commands estimate, which intervals they say are valid, and how often those have the truth."""
import collections
import math
import os

import estimates_of
import heaps
import leaks_of
from figures import rows_of
from moments import Moment
from registry import SIGNS, check
from sampled_world import LARGE, SampledWorld
from totals_of import CLASSES, Totals
from world import TICK

COVERED = [0, 0]  # intervals that had the truth, of how many


def sampled_case(case, **options):
    case.world = SampledWorld(case.seed, **options)
    case.trace = case.make(case.world, "sampled.step")
    return case.world


WIDER = 0.15


def close(case, what, found, wanted, loose=False):
    """Estimates are whole numbers, and sums of rounded ones; of an interval that changes the page does not say
    which mean is the longer to the last digit.  Variances of what lives are differences of large sums: an interval is wider
    where rounding took a small one."""
    value, low, high = wanted
    case.near(f"{what}: estimate", found[0], value, 1e-6, 2)
    is_wider = "live" in what and found[1] < low
    case.near(f"{what}: low", found[1], low, WIDER if is_wider else 1e-3, 4 if is_wider else 2)
    if high is None:
        case.same(f"{what}: no upper bound", found[2], None)
    elif loose:
        case.same(f"{what}: high {found[2]} of about {high}", value <= found[2] + 2 and found[2] <= (1.05 if loose is True else loose) * high + 2, True)
    else:
        case.near(f"{what}: high", found[2], high, (WIDER if found[2] > high else 2e-3) if "live" in what else 1e-4, 2)


def told(row, name):
    return (row[name]["estimate"], row[name]["low"], row[name].get("high"))


def members(row, name):
    return (row[name], row[f"{name}_low"], row.get(f"{name}_high"))


def is_loose(world):
    return any(o.interval != world.interval for o in world.objects)


def compare_kinds(case, what, row, kinds, name=None):
    world = case.world
    for kind, objects in kinds.items():
        close(case, f"{what} {kind}_objects", told(row, f"{kind}_objects"), estimates_of.of_objects(world, objects, world.objects, name), is_loose(world))
        close(case, f"{what} {kind}_bytes", told(row, f"{kind}_bytes"), estimates_of.of_bytes(objects))


def kinds_of(objects):
    return {"allocated": objects, "freed": [o for o in objects if o.died is not None], "live": [o for o in objects if o.died is None]}


def says_valid(case, found):
    case.same("interval_valid", found["interval_valid"], case.world.is_valid())
    case.same("interval_fault", "interval_fault" in found, not case.world.is_valid())
    case.same("stderr says the bias", "samples with a bias" in case.errors, not case.world.is_valid())


def compare_stats(case, found, objects):
    world = case.world
    says_valid(case, found)
    case.same("sample_interval_bytes", found["sample_interval_bytes"], world.interval)
    compare_kinds(case, "objects", found["objects"], kinds_of(objects))
    by_class = collections.defaultdict(list)
    for o in objects:
        by_class[world.classes[o.kind - 1]].append(o)
    rows = classes = {(row["name"], row["loader"]): row for row in found["classes"] if row["samples"]}
    case.same("classes", sorted(rows), sorted(by_class))
    for key, group in by_class.items():
        case.same(f"samples of {key}", rows[key]["samples"], len(group))
        compare_kinds(case, str(key), rows[key], kinds_of(group), key[0])
    by_thread = collections.defaultdict(list)
    for o in objects:
        by_thread[o.thread].append(o)
    rows = {row["thread"]: row for row in found["threads"] if row["samples"]}
    case.same("threads", sorted(rows), sorted(by_thread))
    for number, group in by_thread.items():
        compare_kinds(case, f"thread {number}", rows[number], {"allocated": group})
    dead = [o for o in objects if o.died is not None]
    if dead:
        judge_life(case, "all", found["objects"], dead)
    for key, group in by_class.items():
        dead = [o for o in group if o.died is not None]
        if dead:
            judge_life(case, key, classes[key], dead)


def judge_life(case, what, row, dead):
    mean, low, high = estimates_of.mean_life([(o.weight, (o.died - o.born) * TICK) for o in dead])
    told_mean, told_low, told_high = told(row, "mean_lifetime_ns")
    case.near(f"mean lifetime of {what}", told_mean, mean, 1e-6, 1)
    case.near(f"mean lifetime of {what}: low", told_low, low, 1e-3, 1e-4 * mean + 2)
    if high is None or told_high is None:
        case.same(f"mean lifetime of {what}: no upper bound", told_high, high)
    else:
        case.near(f"mean lifetime of {what}: high", told_high, high, 1e-3, 2)


@check
def sampled_stats(case):
    world = sampled_case(case)
    found = case.json("stats", "--json", "--top=0", case.trace)
    case.same("not_recorded_ns", found["not_recorded_ns"], 0)
    compare_stats(case, found, world.objects)
    text = case.run("stats", case.trace)
    case.same("95 % in the words", "(95 %" in text, world.is_valid())


@check
def sampled_heap(case):
    world = sampled_case(case)
    axes = case.chance.choice([("class",), ("site",), ("thread",), ("class", "site")])
    if world.loaders and "class" in axes:
        return False
    times = world.collections()
    moment = case.chance.choice(["end", f"{TICK * case.chance.randint(world.start, world.end)}ns"] + [f"gc:{i + 1}" for i in range(len(times))])
    allocated = case.chance.random() < 0.4
    found = case.json("heap", "--json", "--top=0", "--depth=0", f"--at={moment}", "--by=" + "+".join(axes), *["--allocated"] * allocated, case.trace)
    at = Moment(world, moment)
    says_valid(case, found["moment"])
    for kind, objects in (("live", at.living), ("allocated", at.allocated)):
        case.same(f"{kind} samples", found["moment"][f"{kind}_samples"], len(objects))
        close(case, f"{kind} objects", members(found["moment"], f"{kind}_objects"), estimates_of.of_objects(world, objects, world.objects), is_loose(world))
        close(case, f"{kind} bytes", members(found["moment"], f"{kind}_bytes"), estimates_of.of_bytes(objects))
    groups = heaps.grouped(world, at.allocated if allocated else at.living, axes)
    rows = collections.defaultdict(list)
    for row in found["rows"]:
        rows[tuple(tuple(row.get("site", [])) if axis == "site" else row.get(axis, 0) for axis in axes)].append(row)
    for key, objects in groups.items():
        shown = tuple(tuple(map(heaps.frame_text, part)) if axis == "site" else part for part, axis in zip(heaps.shown_key(key, axes), axes))
        same = [row for row in rows[shown] if row["samples"] == len(objects)]
        if len(rows[shown]) > 1:
            continue  # frames of one text
        case.same(f"rows of {shown}", len(same), 1)
        name = shown[0] if axes[0] == "class" else None
        close(case, f"{shown} objects", members(same[0], "objects"), estimates_of.of_objects(world, objects, world.objects, name), is_loose(world))
        close(case, f"{shown} bytes", members(same[0], "bytes"), estimates_of.of_bytes(objects))
        if allocated:
            continue
        age = sum(o.weight * (at.time - o.born) for o in objects) / sum(o.weight for o in objects)
        case.near(f"{shown} age", same[0]["mean_age_ns"], age * TICK, 1e-5, TICK)


@check
def sampled_weights(case):
    """Tables: a weight of each sample, and of what is known of its life."""
    world = sampled_case(case)
    rows = rows_of(case, "select object, size, weight, life_weight, alive from objects")
    case.same("rows", sorted((row[0], row[1], row[4]) for row in rows), [(o.number, o.size, int(o.died is None)) for o in world.objects])
    by_number = {o.number: o for o in world.objects}
    for number, _, weight, life_weight, _ in rows:
        case.near(f"weight of {number}", weight, by_number[number].weight, 1e-9)
        case.near(f"life_weight of {number}", life_weight, by_number[number].weight, 1e-6)


@check
def sampled_gates(case):
    """A rule holds only of the whole interval; of a biased JVM none is judged."""
    world = sampled_case(case, changes=False)
    once = [name for name, count in collections.Counter(name for name, _ in world.classes).items() if count == 1]  # classes of one name have several sizes
    name = case.chance.choice(["", *[name for name in once if "$" not in name and "[" not in name]])
    objects = [o for o in world.objects if not name or world.class_name(o.kind) == name]
    metric, kind = case.chance.choice([("allocated", "allocated"), ("allocated_objects", "allocated"), ("freed", "freed"),
                                       ("freed_objects", "freed"), ("alive_at_end", "live"), ("alive_at_end_objects", "live")])
    objects = kinds_of(objects)[kind]
    if not objects:
        return False
    counts = metric.endswith("_objects")
    value, low, high = estimates_of.of_objects(world, objects, world.objects, name) if counts else estimates_of.of_bytes(objects)
    limit = max(1, round(case.chance.choice([value, low * 0.99, low * 1.01, high * 0.99, high * 1.01])))
    if min(abs(limit - low), abs(limit - high)) <= 3 + 1e-5 * high:
        return False
    sign = case.chance.choice([">", ">=", "<", "<=", "!="])
    holds = low > limit or high < limit if sign == "!=" else SIGNS[sign](low, limit) and SIGNS[sign](high, limit)
    axis = f"class:{name}" if name else ""
    case.run("stats", "-q", f"--fail-if={axis} {metric} {sign} {limit}", case.trace, status=(3 if not world.is_valid() else 4 if holds else 0,))


@check
def sampled_compare(case):
    """The change of two samples, with its interval."""
    other = SampledWorld(case.seed + 1000003, changes=False)
    before = case.make(other, "before.step")
    world = sampled_case(case, changes=False)
    if other.interval != world.interval:
        return False
    found = case.json("compare", "--json", "--by=class", before, case.trace)
    case.same("valid", [found[side][0]["interval_valid"] for side in ("before", "after")], [other.is_valid(), world.is_valid()])
    for metric, kind in (("allocated", "allocated"), ("freed", "freed"), ("alive_at_end", "live")):
        sides = [kinds_of(w.objects)[kind] for w in (other, world)]
        if not all(sides):
            continue
        wanted = estimates_of.difference(*[estimates_of.of_bytes(objects) for objects in reversed(sides)])
        row = found["program"][metric]
        for part, value in zip(("change", "change_low", "change_high"), wanted):
            case.near(f"{metric} {part}", row[part], value, 1e-5, 100)
        wanted = estimates_of.difference(*[estimates_of.of_objects(w, objects, w.objects) for w, objects in zip((world, other), reversed(sides))])
        row = found["program"][f"{metric}_objects"]
        for part, value in zip(("change", "change_low", "change_high"), wanted):
            case.near(f"{metric}_objects {part}", row[part], value, 1e-5, 100)


def least_hits(count):
    """So few of `count` intervals of 95 % have the truth with a probability of at most 1e-9."""
    below, hits = 0.0, 0
    while True:
        below += math.comb(count, hits) * 0.95 ** hits * 0.05 ** (count - hits)
        if below > 1e-9:
            return hits
        hits += 1


@check
def sampled_coverage(case):
    """Of many classes of the same mixture of sizes the intervals have the truth as often as they say."""
    world = sampled_case(case, changes=case.chance.random() < 0.5, twins=60)
    found = case.json("stats", "--json", "--top=0", case.trace)
    rows = {row["name"]: row for row in found["classes"]}
    hits = {"allocated_objects": [0, 0], "live_objects": [0, 0], "allocated_bytes": [0, 0]}
    for kind, truth in world.truth.items():
        row = rows.get(world.class_name(kind), {})
        for (name, count), wanted in zip(hits.items(), truth):
            _, low, high = told(row, name) if name in row else (0, 0, None)
            hit = low <= wanted and (high is None or wanted <= high)
            count[0], count[1] = count[0] + hit, count[1] + 1
    for name, (hit, count) in hits.items():
        if name != "allocated_bytes":
            COVERED[0], COVERED[1] = COVERED[0] + hit, COVERED[1] + count
            case.same(f"{hit} of {count} intervals of {name} have the truth", hit >= least_hits(count), True)


@check
def sampled_ring(case):
    """Files of a ring as one trace: each object once, its death in whichever file, and what is in none."""
    world = case.world = SampledWorld(case.seed)
    texts, pauses, span = world.files()
    ring = case.path("ring")
    os.mkdir(ring)
    for i, text in enumerate(texts):
        case.make_text(text, os.path.join("ring", f"run.{i + 1:06}.step"))
    name = case.chance.choice([ring, os.path.join(ring, "run.step")])
    found = case.json("stats", "--json", "--top=0", name)
    case.same("not_recorded_ns", found["not_recorded_ns"], pauses * TICK)
    case.same("stderr says what is not recorded", "not recorded: " in case.errors, pauses > 0)
    compare_stats(case, found, world.objects)
    properties = case.json("info", "--json", name)["properties"]
    case.same("span", properties["file-set-span-ns"], str(span * TICK))
    rows = rows_of_path(case, name)
    case.same("objects", sorted(rows), sorted((o.size, o.born * TICK, -1 if o.died is None else o.died * TICK) for o in world.objects))


def rows_of_path(case, name):
    found = case.json("sql", "--json", name, "select size, born, coalesce(died, -1) as died from objects")
    return [tuple(row.values()) for row in found]


@check
def sampled_leaks(case):
    """What survived, by class: samples, and what they stand for."""
    world, least = sampled_case(case), case.chance.choice([1, 2, 3])
    found = case.json("leaks", "--json", "--top=0", f"--survived={least}", "--older-than=0", "--by=class", case.trace)
    says_valid(case, found)
    living = [o for o in world.objects if o.died is None and not o.existing]
    kept = [o for o in living if leaks_of.survived(world, o) >= least]
    for name, objects in (("at_end", living), ("survived", kept)):
        case.same(f"{name} samples", found[name]["samples"], len(objects))
        close(case, f"{name} live objects", members(found[name], "objects"), estimates_of.of_objects(world, objects, world.objects), is_loose(world))
        close(case, f"{name} live bytes", members(found[name], "bytes"), estimates_of.of_bytes(objects))
    for (name,), objects in heaps.grouped(world, kept, ("class",)).items():
        [row] = [row for row in found["rows"] if (row["class"], row["loader"]) == name]
        case.same(f"samples of {name}", row["samples"], len(objects))
        close(case, f"{name} live objects", members(row, "objects"), estimates_of.of_objects(world, objects, world.objects, name[0]), is_loose(world))
        close(case, f"{name} live bytes", members(row, "bytes"), estimates_of.of_bytes(objects))


def judge_totals(case, totals, by_class):
    """Of each class: what was allocated, and the parts of it that died and live."""
    found = case.json("stats", "--json", "--top=0", case.trace)
    says_valid(case, found)
    close(case, "bytes", told(found["objects"], "allocated_bytes"), totals.all_bytes())
    case.same("unknown bytes", found["eden"]["unknown_bytes"], sum(counted - sum(size for _, size in made.values()) for _, _, counted, made, _ in case.world.walks))
    close(case, "objects", told(found["objects"], "allocated_objects"), totals.all_objects(), is_loose(case.world))
    rows = {(row["name"], row["loader"]): row for row in found["classes"]}
    several = collections.Counter(name for name, _ in case.world.classes)
    for key in case.world.classes:
        name, objects = key[0], by_class[key]
        if not objects and (several[name] > 1 or not totals.sums(name)[0]):
            continue
        if several[name] > 1:
            wanted = totals.part_objects(name, objects), totals.part_bytes(name, objects)
        else:
            wanted = totals.class_objects(name), totals.class_bytes(name)
        loose = is_loose(case.world) and 1.2  # the interval of a row is not known to the last digit
        close(case, f"{key} allocated_objects", told(rows[key], "allocated_objects"), wanted[0], loose)
        close(case, f"{key} allocated_bytes", told(rows[key], "allocated_bytes"), wanted[1])
        for kind, part in list(kinds_of(objects).items())[1:]:
            if part:
                close(case, f"{key} {kind}_objects (live)", told(rows[key], f"{kind}_objects"), totals.part_objects(name, part), loose)
                close(case, f"{key} {kind}_bytes (live)", told(rows[key], f"{kind}_bytes"), totals.part_bytes(name, part))


@check
def sampled_totals(case):
    """Exact totals of classes: what they are, and what they make of the samples."""
    world = sampled_case(case, totals=True)
    if not world.walks:
        return False
    totals = Totals(world)
    by_class = collections.defaultdict(list)
    for o in totals.corrected.objects:
        by_class[world.classes[o.kind - 1]].append(o)
    judge_totals(case, totals, by_class)
    weights = {o.number: o.weight for o in totals.corrected.objects}
    for number, weight, life_weight in rows_of(case, "select object, weight, life_weight from objects"):
        case.near(f"weight of {number}", weight, weights[number], 1e-9)
        case.near(f"life_weight of {number}", life_weight, weights[number], 1e-6)
    found = case.json("heap", "--json", "--top=0", "--depth=0", "--at=end", "--by=class", "--allocated", case.trace)
    close(case, "heap: bytes", members(found["moment"], "allocated_bytes"), totals.all_bytes())
    if not world.loaders:
        for row in found["rows"]:
            close(case, f"heap: {row['class']}", members(row, "bytes"), totals.class_bytes(row["class"]))
    judge_threads(case, totals)


def judge_threads(case, totals):
    """Rows of several classes: shares of the program's bytes, if these alone are known."""
    axes, corrected = ("thread",), totals.corrected.objects
    found = case.json("heap", "--json", "--top=0", "--depth=0", "--at=end", "--by=thread", "--allocated", case.trace)
    rows = {row["thread"]: row for row in found["rows"]}
    for key, objects in heaps.grouped(case.world, corrected, axes).items():
        row = rows[heaps.shown_key(key, axes)[0]]
        close(case, f"thread {key}: bytes", members(row, "bytes"), totals.part_bytes(None, objects))
        close(case, f"thread {key}: objects", members(row, "objects"), totals.part_objects(None, objects), is_loose(case.world) and 1.2)


@check
def sampled_totals_coverage(case):
    """Totals are what the program made, and the ranges of what lives have the truth as often as they say."""
    world = sampled_case(case, changes=False, twins=60, totals=True)
    rows = {row["name"]: row for row in case.json("stats", "--json", "--top=0", case.trace)["classes"]}
    hits, is_exact = [0, 0], set(Totals(world).kinds) == {CLASSES} and len(world.walks) == len(world.rounds)
    for kind, (count, alive, size) in world.truth.items():
        row = rows.get(world.class_name(kind), {})
        for name, wanted, exact in (("allocated_objects", count, True), ("allocated_bytes", size, True), ("live_objects", alive, False)):
            _, low, high = told(row, name) if name in row else (0, 0, None)
            hit = low - 1 <= wanted and (high is None or wanted <= high + 1)
            if exact and is_exact:
                case.same(f"{name} of kind {kind}", (low, high), (wanted, wanted))
            elif name != "allocated_bytes" or (world.counters_only and world.interval > LARGE):  # else each large object is a sample
                hits = [hits[0] + hit, hits[1] + 1]
    case.same(f"{hits[0]} of {hits[1]} ranges have the truth", hits[0] >= least_hits(hits[1]), True)
