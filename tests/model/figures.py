# SPDX-License-Identifier: Apache-2.0
"""Rules, tables of `sql`, trees, changes, growth, lifetimes by site and simulated collectors, each against the model."""
import collections
import math
import re

import heaps
import leaks_of
import statistics_of
from commands import choose_options, words_of
from moments import Moment, allocated_of, totals
from registry import BUCKET, SIGNS, check, choose_moment, rule_status
from selection import Selection, class_matches, frame_matches
from world import TICK, World


def is_named(world, axis):
    """Some name of the trace is one that the rule means; a method has one where a frame or a call is of it."""
    kind, _, pattern = axis.partition(":")
    if kind == "class":
        return any(class_matches(pattern, name) for name, _ in world.classes)
    used = {method for _, method, _ in world.frames} | {call.method for call in world.calls}
    return kind != "site" or any(frame_matches(pattern, (world.method_path(method), 0)) for method in used)


def try_rule(case, verb, axis, metric, value, unit=1, is_judged=True):
    """The gate fails exactly if the rule holds of the model's value; it is not judged where the trace cannot have one, nor, but for rules that ask for
    absence, where it names nothing and does not hold."""
    limit = max(0, value + case.chance.choice([-unit, 0, 0, unit]))
    sign = case.chance.choice(list(SIGNS))
    status = rule_status(sign, value, limit)
    asks_for_absence = (sign in (">", "!=") and limit == 0) or (sign == ">=" and limit == 1)
    if status == 0 and not asks_for_absence and not is_named(case.world, axis):
        status = 3
    case.run(*verb, "-q", f"--fail-if={axis} {metric} {sign} {limit}{'ns' if unit == TICK else ''}", case.trace,
             status=(status if is_judged or status == 2 else 3,))


@check
def gates_heap(case):
    moment = choose_moment(case)
    axis = case.chance.choice(["", "class:a.**", "site:a.**", "class:java/lang/Object"])
    selection = Selection(case.world, [axis.split(":")] if axis else [])
    number, size = totals([o for o in Moment(case.world, moment).living if selection.takes(o)])
    metric, value = case.chance.choice([("alive", size), ("alive_objects", number)])
    try_rule(case, ["heap", f"--at={moment}"], axis, metric, value)


@check
def gates_unsized(case):
    """Bytes are not judged where one selected object has no size; objects, and a part whose objects all have one, are."""
    world = case.world
    if not world.objects:
        return False
    some = case.chance.choice(world.objects)
    lines = world.text().splitlines()
    found = [i for i, words in enumerate(map(str.split, lines)) if words[6:] and words[1] in ("alloc", "at", "existing") and int(words[6]) == some.number]
    words = lines[found[0]].split()
    words[5] = "0"
    lines[found[0]] = " ".join(words)
    path = case.make_text("\n".join(lines) + "\n", "unsized.step")
    limit = 1 << 62
    for words, metric in ((("stats",), "allocated"), (("heap", "--at=end", "--allocated"), "alive"), (("stats", "--size=<8"), "freed"), (("leaks", "--existing", "--survived=0"), "leaked")):
        case.run(*words, "-q", f"--fail-if={metric} > {limit}", path, status=(3,))
        case.same("says why", "objects without sizes" in case.errors, True)
    case.run("stats", "-q", f"--fail-if=allocated_objects > {limit}", path)
    case.run("stats", "-q", "--size=>0", f"--fail-if=allocated > {limit}", path)


@check
def gates_leaks(case):
    if case.world.same_tick:
        return False
    axis, least = case.chance.choice(["", "class:a.**", "class:java/lang/Object"]), case.chance.choice([1, 2, 3])
    selection = Selection(case.world, [axis.split(":")] if axis else [])
    _, kept, _ = leaks_of.rows(case.world, selection, least, ("class",))
    number, size = totals(kept)
    metric, value = case.chance.choice([("leaked", size), ("leaked_objects", number)])
    try_rule(case, ["leaks", f"--survived={least}"], axis, metric, value, is_judged=len(case.world.collections()) >= least)


@check
def gates_calls(case):
    world = case.world
    if not world.calls:
        return False
    method = case.chance.choice(world.calls).method
    path = world.method_path(method)
    chosen = [c for c in world.calls if world.method_path(c.method) == path]
    metric, value = case.chance.choice([("calls", len(chosen)), ("exceptions", sum(c.exception for c in chosen))])
    try_rule(case, ["stats"], "method:" + path.replace("/", "."), metric, value)


@check
def gates_call_times(case):
    """Of a method all of whose calls ended: the time in it, and with what it called; of recursion only the outermost call counts."""
    world = case.world
    open_paths = {world.method_path(c.method) for c in world.calls if c.leave is None}
    methods = [m for m in range(1, len(world.methods) + 1) if sum(world.method_path(n) == world.method_path(m) for n in range(1, len(world.methods) + 1)) == 1
               and world.method_path(m) not in open_paths and any(c.method == m for c in world.calls)]
    if world.same_tick or not methods:
        return False
    method = case.chance.choice(methods)
    ended = [c for c in world.calls if c.leave is not None]
    within = lambda c, d: c is not d and c.thread == d.thread and d.entry < c.entry and c.leave <= d.leave  # noqa: E731
    own = whole = 0
    for call in (c for c in ended if c.method == method):
        inner = [c for c in ended if within(c, call)]
        own += call.leave - call.entry - sum(c.leave - c.entry for c in inner if not any(within(c, d) for d in inner))
        whole += 0 if any(c.method == method and within(call, c) for c in ended) else call.leave - call.entry
    metric, value = case.chance.choice([("own_time", own), ("time", whole)])
    try_rule(case, ["stats"], "method:" + world.method_path(method).replace("/", "."), metric, value * TICK, TICK)


@check
def gates_any(case):
    """With `any` one row is enough for which the rule holds."""
    world = case.world
    if not world.objects:
        return False
    sizes = collections.Counter()
    for o in world.objects:
        sizes[world.class_name(o.kind)] += 0 if o.existing else o.size
    limit = case.chance.choice(list(sizes.values()))
    sign = case.chance.choice([">", ">=", "<", "="] if limit > 0 else [">", ">=", "="])  # nothing is below 0: such a rule is refused
    holds = any(SIGNS[sign](size, limit) for size in sizes.values())
    case.run("stats", "-q", f"--fail-if=any class:** allocated {sign} {limit}", case.trace, status=(4 if holds and not any(n.startswith("[") for n in sizes) else 0, 4 if holds else 0))


@check
def gates_times(case):
    world = case.world
    lives = [(o.died - o.born) * TICK for o in world.objects if o.died is not None]
    metric, value = "duration", world.end * TICK
    if lives and case.chance.random() < 0.5 and sum(lives) % len(lives) == 0:
        metric, value = "lifetime", sum(lives) // len(lives)
    try_rule(case, ["stats"], "", metric, value, TICK)
    kinds = {case.world.class_name(o.kind) for o in world.objects}
    immortal = sorted(kinds - {world.class_name(o.kind) for o in world.objects if o.died is not None})
    for name in immortal[:1]:  # no mean life: neither below nor above anything
        for sign in "<>":
            case.run("stats", "-q", f"--fail-if=class:{name} lifetime {sign} {value}ns", case.trace, status=(3,))


def rows_of(case, query):
    return [tuple(row.values()) for row in case.json("sql", "--json", case.trace, query)]


@check
def sql_births_and_deaths(case):
    world = case.world
    case.same_rows("allocations", rows_of(case, "select time, thread, class, class_id, object, size, site, existing from allocations"),
                   [(o.born * TICK, o.thread, world.class_name(o.kind), o.kind, o.number, o.size, o.site or None, int(o.existing)) for o in world.objects])
    times = world.collections()
    case.same_rows("frees", rows_of(case, "select time, object, collection from frees"),
                   [(o.died * TICK, o.number, times.index(o.died) + 1) for o in world.objects if o.died is not None])
    wanted = []
    for i, time in enumerate(times):
        living = Moment(world, f"gc:{i + 1}").living
        wanted.append((i + 1, time * TICK, *totals([o for o in world.objects if o.died == time]), *totals(living)))
    case.same_rows("collections", rows_of(case, "select * from collections"), wanted)


@check
def sql_names(case):
    world = case.world
    case.same_rows("classes", rows_of(case, "select class_id, class, loader, loaded from classes"),
                   [(i + 1, name, loader, world.start * TICK) for i, (name, loader) in enumerate(world.classes)])
    case.same_rows("methods", rows_of(case, "select method_id, method, class_id, name, descriptor from methods"),
                   [(i + 1, world.method_path(i + 1), owner, name, f"({'I' * n})V") for i, (owner, name, n) in enumerate(world.methods)])
    case.same_rows("threads", rows_of(case, "select thread, name, started, ended from threads"),
                   [(i + 1, name, world.start * TICK, world.end * TICK if i + 1 in world.ended else None) for i, name in enumerate(world.threads)])
    wanted = []
    for i, (parent, method, line) in enumerate(world.frames):
        stack = world.stack(i + 1)
        wanted.append((i + 1, parent or None, world.method_path(method), method, line or None, len(stack), " <- ".join(map(heaps.frame_text, stack))))
    case.same_rows("sites", rows_of(case, "select site, parent, method, method_id, line, depth, stack from sites"), wanted)


@check
def sql_calls(case):
    """Times of calls, and of the calls that they made."""
    world = case.world
    if world.same_tick or not world.calls:
        return False
    wanted = []
    for call in world.calls:
        same = [c for c in world.calls if c.thread == call.thread and c is not call]
        depth = sum(c.entry < call.entry and (c.leave is None or c.leave > call.entry) for c in same)
        leave = None if call.leave is None else call.leave * TICK
        inner = [c for c in same if call.entry < c.entry and c.leave is not None and call.leave is not None and c.leave <= call.leave]
        made = sum(c.leave - c.entry for c in inner if not any(d is not c and d.entry < c.entry and d.leave >= c.leave for d in inner))
        wanted.append((call.thread, world.method_path(call.method), depth, call.entry * TICK, leave, None if leave is None else leave - call.entry * TICK,
                       None if leave is None else leave - (call.entry + made) * TICK,
                       "open" if leave is None else "exception" if call.exception else "return"))
    case.same_rows("calls", rows_of(case, "select thread, method, depth, entry, exit, duration, self, ended from calls"), wanted)


def byte_lifetimes(world, objects):
    """Bytes that the program allocated from an object's birth, its own included, to its death."""
    return sorted(sum(p.size for p in world.objects if not p.existing and p.order >= o.order and p.born <= o.died) for o in objects if o.died is not None)


def ranked(values, share):
    return values[max(math.ceil(share * len(values)) - 1, 0)]


@check
def lifetimes_by_site(case):
    world = case.world
    found = {(row[0], row[1]): row[2:] for row in rows_of(case, "select class_id, site, most_living, p50_bytes, p90_bytes, p50_time, p90_time from lifetimes")}
    groups = collections.defaultdict(list)
    for o in world.objects:
        if not o.existing:
            groups[o.kind, o.site or None].append(o)
    case.same("sites", sorted(found, key=repr), sorted(groups, key=repr))
    for name, group in groups.items():
        living = most = 0
        for _, is_death, _, o in world.events():
            if o in group:
                living += -1 if is_death else 1
                most = max(most, living)
        row = found[name]
        case.same(f"most living of {name}", row[0], most)
        times = sorted((o.died - o.born) * TICK for o in group if o.died is not None)
        case.same(f"{name} has lifetimes", row[3] is not None, bool(times))
        if times:
            for column, share in ((3, 0.5), (4, 0.9)):
                case.near(f"time of {name}", row[column], ranked(times, share), BUCKET, 1)
        if times and not world.same_tick:
            sizes = byte_lifetimes(world, group)
            for column, share in ((1, 0.5), (2, 0.9)):
                case.near(f"bytes of {name}", row[column], ranked(sizes, share), BUCKET, 1)


def line_through(values):
    """Slope and R squared of a straight line."""
    n = len(values)
    xm, ym = (n - 1) / 2, sum(values) / n
    xx, yy = sum((x - xm) ** 2 for x in range(n)), sum((y - ym) ** 2 for y in values)
    xy = sum((x - xm) * (y - ym) for x, y in enumerate(values))
    return (xy / xx, xy * xy / (xx * yy) if yy else 0.0) if n > 1 else (0.0, 0.0)


@check
def leaks_growth(case):
    """The live bytes of each class after each collection, the fit of their line, and what limits the slope."""
    world = case.world
    count = len(world.collections())
    if world.same_tick or world.loaders or not 3 <= count <= 32:
        return False
    found = case.json("leaks", "--json", "--top=0", "--depth=0", "--survived=1", "--older-than=0", "--by=class", "--existing", case.trace)
    after = [Moment(world, f"gc:{i + 1}").living for i in range(count)]
    case.same("after_collections", found["after_collections"], list(range(1, count + 1)))
    for row in found["rows"]:
        series = [sum(o.size for o in living if world.class_name(o.kind) == row["class"]) for living in after]
        case.same(f"live bytes of {row['class']}", row["live"], series)
        slope, fit = line_through(series[-max(count // 2, 4):])
        if slope and fit > 1e-6 and (count <= 8 or count % 2 == 0):
            case.near(f"fit of {row['class']}", row["fit"], fit, 1e-4, 1e-5)
        if row["growth_bytes_per_collection"] > max(slope, 0) + 1e-4 * abs(slope):
            case.same(f"growth of {row['class']} is at most the slope", row["growth_bytes_per_collection"], slope)
        times = world.collections()
        spans = {sum(t < o.born for t in times) for o in world.objects if o.died is None and world.class_name(o.kind) == row["class"]}
        if len(spans) == 1:
            growth = max(row["growth_bytes_per_collection"], 0)  # others of the class may have died
            case.near(f"growth of {row['class']}, which was born between two collections", growth, 0, 0, 1e-9)


@check
def leaks_baseline(case):
    if case.world.same_tick:
        return False
    other = World(case.seed + 1000003)
    if other.same_tick:
        return False
    path = case.make(other, "baseline.step")
    found = case.json("leaks", "--json", "--top=0", "--survived=1", "--older-than=0", "--by=class", f"--baseline={path}", case.trace)
    sums = []
    for world in (other, case.world):
        sums.append(collections.Counter())
        for o in leaks_of.rows(world, Selection(world), 1, ("class",))[1]:
            sums[-1][world.class_name(o.kind)] += o.size
    rows = {row["class"]: (row["before_bytes"], row["bytes"]) for row in found["baseline"]["changes"]}
    wanted = {name: (sums[0][name], sums[1][name]) for name in set(sums[0]) | set(sums[1]) if sums[0][name] != sums[1][name]}
    case.same("changes", {k: v for k, v in rows.items() if v[0] != v[1]}, wanted)


@check
def compare_axes(case):
    """By thread and by site, whose frames are told apart by lines only with --lines; of all or of a part."""
    options = choose_options(case, ("alive-at",))
    other, lines = World(case.seed + 1000003), case.chance.random() < 0.5
    path = case.make(other, "other.step")
    found = case.json("compare", "--json", "--by=" + case.chance.choice(["site", "thread"]), "--depth=0", "--exact",
                                *["--lines"] * lines, *words_of(options), case.trace, path)
    axis = "sites" if "sites" in found else "threads"
    if axis not in found or not case.world.objects or not other.objects:
        return False
    sums = []
    for world in (case.world, other):
        sums.append(collections.Counter())
        for o in allocated_of(Selection(world, options).objects()):
            if axis == "threads":
                sums[-1][f"{o.thread} {world.thread_name(o.thread)}" if o.thread else ""] += o.size
            else:
                sums[-1][tuple(heaps.frame_text(f) if lines else f[0] for f in world.derived_stack(o))] += o.size
    rows = {}
    for row in found[axis]:
        if "allocated" not in row:  # of a thread that only called
            continue
        name = tuple(row["site"]) if axis == "sites" else row["thread"]
        rows[name] = (row["allocated"]["before"], row["allocated"]["after"])
    wanted = {name: (sums[0][name], sums[1][name]) for name in set(sums[0]) | set(sums[1])}
    unknown = {"": "(the VM, or not known)", (): ("(no stack)",)}
    wanted = {unknown.get(name, name): change for name, change in wanted.items()}
    case.same(axis, {name: v for name, v in rows.items() if v[0] != v[1]}, {name: v for name, v in wanted.items() if v[0] != v[1]})

UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "PiB": 1 << 50, "EiB": 1 << 60}


def tree_of(world):
    """Path of methods, outermost first -> bytes allocated there and below."""
    found = collections.Counter()
    for o in allocated_of(world.objects):
        path = [name for name, _ in reversed(world.derived_stack(o))] or ["(no stack)"]
        for depth in range(len(path) + 1):
            found[tuple(path[:depth])] += o.size
    return found


def moved_below(*worlds):
    """Path -> the sizes of the changes of all call stacks there and below, whatever their sign."""
    changes, found = collections.Counter(), collections.Counter()
    for world, sign in zip(worlds, (-1, 1)):
        for o in allocated_of(world.objects):
            changes[tuple(name for name, _ in reversed(world.derived_stack(o))) or ("(no stack)",)] += sign * o.size
    for path, change in changes.items():
        for depth in range(len(path) + 1):
            found[path[:depth]] += abs(change)
    return found


@check
def compare_tree(case):
    """Frames in which more or less was allocated, with what is below them: those that have 1 % of all changes."""
    other = World(case.seed + 1000003)
    path = case.make(other, "other.step")
    lines = case.run("compare", "--tree", path, case.trace).splitlines()
    if "were not recorded with the same events" in case.errors:
        return False
    shown, names = {}, []
    row = re.compile(r" *([\d.]+) (\w+) +([\d.]+) (\w+) +[-+]?[\d.]+ \w+  ( *)(.*)$")
    for line in lines[1:]:
        before, unit, after, after_unit, indent, name = row.match(line).groups()
        names[len(indent) // 2:] = [name]
        shown[tuple(names[1:])] = (float(before) * UNITS[unit], float(after) * UNITS[after_unit])
    trees = tree_of(other), tree_of(case.world)
    moved = moved_below(other, case.world)
    for node, change in moved.items():
        case.same(f"{node} is shown", node in shown, change > 0 and change >= 0.01 * moved[()])
    for node, values in shown.items():
        for tree, value in zip(trees, values):
            case.near(f"{node}", value, tree[node], 0.006, 0.5)


@check
def heap_tree(case):
    """Sums of each frame and all that it called, from the outermost frames in."""
    moment, down = choose_moment(case), case.chance.random() < 0.5
    text = case.run("heap", "--tree=" + ("top-down" if down else "bottom-up"), "--least=0", "--by=site", f"--at={moment}", case.trace)
    path, found = [], collections.defaultdict(lambda: (0, 0))  # overloads have nodes of one name
    for objects, size, indent, name in re.findall(r"^ *(\d+) +(\d+) +[\d.]+  ( *)(\S.*)$", text, re.M):
        depth = len(indent)
        path[depth:] = [name]
        number, total = found[tuple(path)]
        found[tuple(path)] = (number + int(objects), total + int(size))
    wanted = collections.defaultdict(lambda: [0, 0])
    for o in Moment(case.world, moment).living:
        frames = [heaps.frame_text(f) for f in case.world.derived_stack(o)]
        frames = frames[::-1] if down else frames
        for n in range(len(frames) + 1):
            row = wanted[tuple(frames[:n])]
            row[0], row[1] = row[0] + 1, row[1] + o.size
    if not wanted:
        return False
    offset = {key[1:] if key and key[0] == "(all)" else key: value for key, value in found.items() if "<self>" not in key and "<other>" not in key}
    case.same("nodes", sorted(offset.items()), sorted((key, tuple(value)) for key, value in wanted.items()))


def collected(world, capacity):
    """A space that is collected when an object does not fit; None where one does not fit after that either."""
    used = living = number = work = peak = 0
    for _, is_death, _, o in world.events():
        if is_death:
            living -= o.size
            continue
        if used + o.size > capacity:
            number, work, used = number + 1, work + living, living
            if used + o.size > capacity:
                return None
        used, living = used + o.size, living + o.size
        peak = max(peak, used)
    return number, work, peak


@check
def simulated_spaces(case):
    world = case.world
    most = statistics_of.live(world)["peak_bytes"]
    if not most or world.same_tick:
        return False
    size = (int(most * case.chance.uniform(0.9, 3)) + 15) // 16 * 16
    found = case.json("simulate", "--json", f"--semi-space={size}", f"--mark-compact={size}", case.trace)
    for model, capacity, work in (("semi_space", size // 2, "copied"), ("mark_compact", size, "marked")):
        [row] = found[model]
        wanted = collected(world, capacity)
        case.same(f"{model} fits", row["fits"], wanted is not None)
        if wanted:
            case.same(f"{model} of {size}", (row["collections"], row[work], row["peak"]), wanted)


@check
def watch(case):
    found = case.json("watch", "--once", "--json", case.trace)
    for name, value in statistics_of.amounts(case.world.objects, case.world).items():
        if name != "lifetimes" and not name.startswith("existing"):
            case.same(name, found["total"][name], value)
    case.same("calls", found["total"]["calls"], len(case.world.calls))


@check
def nominal(case):
    """Sizes of objects by rank, and the mean."""
    sizes = sorted(o.size for o in case.world.objects if not o.existing)
    if not sizes or case.world.big_sizes:
        return False
    found = {row["key"]: row["value"] for row in case.json("nominal", "--json", case.trace)["statistics"]}
    case.near("AOA", found["AOA"], sum(sizes) / len(sizes), 0, 1)
    for key, share in (("AOS", 0.1), ("AOM", 0.5), ("AOL", 0.9)):
        case.same(key, found[key], ranked(sizes, share))


@check
def advise(case):
    """Sites of which at least 16 objects, and 90 % of the bytes, survived two collections, get `pretenure`; others do not."""
    world = case.world
    if world.same_tick:
        return False
    found = case.json("advise", "--json", "--least=0", "--top=0", "--depth=0", case.trace)
    groups = collections.defaultdict(list)
    for o in world.objects:
        if not o.existing:
            groups[world.classes[o.kind - 1], o.site].append(o)
    for row in found["advice"]:
        if row["advice"] == "pretenure":
            case.same("a site of 16 objects", any(world_class[0] == row["class"] and len(group) >= 16 for (world_class, _), group in groups.items()), True)


@check
def cut(case):
    """A file that ends early: exit status 3, a part of the lines, and the sums of that part."""
    with open(case.trace, "rb") as file:
        content = file.read()
    whole = collections.Counter(case.run("dump", case.trace).splitlines())
    for _ in range(3):
        with open(case.path("cut.step"), "wb") as file:
            file.write(content[:case.chance.randrange(len(content))])
        text = case.run("dump", case.path("cut.step"), status=(3,))
        lines = collections.Counter(text.splitlines())
        # A free or an exit whose names are lost has others.
        surplus = [line for line in (lines - whole) if line[:3] in ("OA:", "CL:", "TB:", "MN:")]
        case.same("lines that the whole trace lacks", [line for line in surplus if ":?" not in line], [])
        if text:
            found = case.json("stats", "--json", case.path("cut.step"), status=(3,))
            kinds = collections.Counter(line[:2] for line in lines.elements())
            case.same("kinds", {k: v for k, v in found["kinds"].items() if v}, dict(kinds))


@check
def round_trips(case):
    """Formats that are read give the same events when they come back."""
    wanted = case.run("dump", case.trace)
    name = case.chance.choice(["a.zip", "b.txt", "c.mtf", "d.step"])
    case.run("convert", case.trace, "-o", case.path(name))
    case.same(name, case.run("dump", case.path(name)), wanted)
    case.run("convert", case.path(name), "-o", case.path("back.step"))
    case.same(f"{name} and back", case.run("dump", case.path("back.step")), wanted)
    case.run("pack", case.path("back.step"), "-o", case.path("packed.step"))
    case.same(f"{name}, back and packed", case.run("dump", case.path("packed.step")), wanted)


@check
def split(case):
    """Slices of time have together what the whole has."""
    middle = TICK * case.chance.randint(case.world.start, case.world.end)
    whole = case.run("dump", case.trace).splitlines()
    first = case.run("dump", f"--to-time={middle}ns", case.trace).splitlines()
    last = case.run("dump", f"--from-time={middle + 1}ns", case.trace).splitlines()
    case.same_rows("lines of two slices", first + last, whole)


@check
def compare_sets(case):
    """Of several traces the middle one counts, by each number."""
    before = [case.world] + [World(case.seed + 1000003 * i) for i in (1, 2)]
    after = [World(case.seed + 1000003 * i) for i in (3, 4, 5)]
    if not all(w.objects for w in before + after):
        return False
    sides = []
    for name, worlds in (("before", before), ("after", after)):
        sides.append(",".join(case.make(world, f"{name}-{i}.step") for i, world in enumerate(worlds)))
    found = case.json("compare", "--json", "--by=class", *sides)["program"]
    for metric, amount in (("allocated", lambda w: totals(allocated_of(w.objects))[1]), ("allocated_objects", lambda w: len(allocated_of(w.objects))),
                           ("alive_at_end", lambda w: totals([o for o in w.objects if o.died is None])[1]), ("duration", lambda w: w.end * TICK)):
        if metric in found:
            middle = tuple(sorted(map(amount, worlds))[1] for worlds in (before, after))
            case.same(metric, (found[metric]["before"], found[metric]["after"]), middle)


@check
def stats_lifetimes_in_bytes(case):
    world = case.world
    if world.same_tick:
        return False
    found = case.json("stats", "--json", "--top=0", "--lifetimes=bytes", case.trace)["objects"].get("lifetimes")
    sizes = byte_lifetimes(world, [o for o in world.objects if not world.existing])
    if not sizes:
        return False
    case.same("count and most", (found["count"], found["most"]), (len(sizes), sizes[-1]))
    case.near("mean", found["mean"], sum(sizes) / len(sizes), 1e-5, 1)
    for name, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
        case.near(name, found[name], ranked(sizes, share), BUCKET, 1)
