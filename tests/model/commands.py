# SPDX-License-Identifier: Apache-2.0
"""The commands of `steptrace`, each compared with the model: a function a check."""
import collections

import heaps
import leaks_of
import statistics_of
from moments import Moment, allocated_of, totals
from registry import BUCKET, check, choose_moment, rule_status
from selection import Selection
from world import TICK, World



def every_option(case, without=()):
    """Pairs of an option and its value; the value None is none."""
    world, chance = case.world, case.chance
    some = chance.choice(world.objects) if world.objects else None
    options = [("size", chance.choice([">=64", "<100", "16..128", "=24", ">1099511627776"])),
               ("class", chance.choice(["a.**", "!a.**", "a/X", "X", "java/lang/*", "[B", "com.acme.Order", "a/b/Y*", "[*"])),
               ("thread", str(chance.randint(1, len(world.threads)))), ("thread", "pool-*"),
               ("lifetime", chance.choice([f"<{TICK * 1000}ns", f">{TICK * 20}ns", f">={TICK * 3000}ns", f"{TICK}ns..{TICK * 5000}ns"])),
               ("temporary", None), ("alive-at", choose_moment(case)),
               ("site", chance.choice(["a.**", "java.lang.Object.*", "a.X", "**/run", "!a.**"])),
               ("method", chance.choice(["a.**", "java.lang.Object.*", "a.X", "**/run", "!a.**"]))]
    if not world.same_tick and not world.existing:
        options.append(("temporary", str(chance.choice([1, 3, 20]))))
    return [o for o in options if o[0] not in without and some is not None]


def choose_options(case, without=()):
    options, chance = every_option(case, without), case.chance
    if chance.random() < 0.35 or not options:
        return []
    picked = chance.sample(options, chance.randint(1, 2))
    return picked if len({name for name, _ in picked}) == len(picked) else picked[:1]


def words_of(options):
    return [f"--{name}" if value is None else f"--{name}={value}" for name, value in options]


def compare_amounts(case, what, found, wanted):
    for name, value in wanted.items():
        if name != "lifetimes":
            case.same(f"{what} {name}", found[name], value)
    lives = wanted["lifetimes"]
    case.same(f"{what} has lifetimes", "lifetimes" in found, lives is not None)
    for name, value in (lives or {}).items():
        exact = name in ("count", "most", "mean")
        case.near(f"{what} lifetimes {name}", found["lifetimes"][name], value, 1e-5 if exact else BUCKET, 1e-6 if exact else 1)


@check
def stats(case):
    for options in [choose_options(case), *([option] for option in every_option(case))]:
        compare_stats(case, options)


def compare_stats(case, options):
    found = case.json("stats", "--json", "--top=0", *words_of(options), case.trace)
    world, objects = case.world, Selection(case.world, options).objects()
    compare_amounts(case, "objects", found["objects"], statistics_of.amounts(objects, world))
    wanted = statistics_of.classes(world, objects)
    rows = {(row["name"], row["loader"]): row for row in found["classes"] if row["allocated_objects"] + row["existing_objects"]}
    case.same("classes", sorted(rows), sorted(wanted))
    for name, amounts in wanted.items():
        compare_amounts(case, f"class {name}", rows[name], amounts)
    wanted = statistics_of.threads(world, objects)
    rows = {row["thread"]: (row["allocated_objects"], row["allocated_bytes"]) for row in found["threads"] if row["allocated_objects"]}
    case.same("threads", rows, wanted)


@check
def stats_live_and_calls(case):
    found = case.json("stats", "--json", "--top=0", case.trace)
    for name, value in statistics_of.live(case.world).items():
        case.same(f"live {name}", found["live"][name], value)
    rows = {(row["class"], row["method"], row["descriptor"]): (row["calls"], row["exceptions"]) for row in found["methods"] if row["calls"]}
    wanted = collections.defaultdict(lambda: (0, 0))
    for method, counts in statistics_of.methods(case.world).items():
        owner, name, number = case.world.methods[method - 1]
        key = (case.world.class_name(owner), name, f"({'I' * number})V")
        wanted[key] = tuple(map(sum, zip(wanted[key], counts)))
    case.same("methods", rows, dict(wanted))
    case.same("open calls", found["open_calls"], sum(c.leave is None for c in case.world.calls))


def choose_axes(case):
    return case.chance.choice([("class",), ("site",), ("thread",), ("class", "site"), ("class", "thread"), ("class", "site", "thread")])


def row_key(row, axes):
    """A member that a row lacks is none: no thread, no call stack."""
    return tuple(tuple(row.get("site", [])) if axis == "site" else row.get(axis, 0) for axis in axes)


def model_key(key, axes):
    return tuple(tuple(map(heaps.frame_text, part)) if axis == "site" else part for part, axis in zip(key, axes))


def merged(rows):
    """Rows of one name added up: lines of a call stack, for one, can be those of two frames."""
    sums = collections.defaultdict(lambda: [0, 0, 0.0])
    for key, objects, size, *age in rows:
        row = sums[key]
        row[0], row[1], row[2] = row[0] + objects, row[1] + size, row[2] + (age[0] * objects if age else 0)
    return {key: (row[0], row[1], row[2] / row[0] if row[0] else 0.0) for key, row in sums.items()}


def compare_rows(case, what, found, wanted, with_age=True):
    found, wanted = merged(found), merged(wanted)
    case.same(f"{what}: names", sorted(found, key=repr), sorted(wanted, key=repr))
    for key, (objects, size, age) in wanted.items():
        case.same(f"{what}: {key}", found[key][:2], (objects, size))
        if with_age:
            case.near(f"{what}: age of {key}", found[key][2], age, 1e-5, TICK)


@check
def heap(case):
    axes, moment, options = choose_axes(case), choose_moment(case), choose_options(case)
    allocated = case.chance.random() < 0.3
    words = ["heap", "--json", "--top=0", "--depth=0", f"--at={moment}", "--by=" + "+".join(axes), *words_of(options)]
    words.append("--allocated" if allocated else "--alive")
    found = case.json(*words, case.trace)
    at, taken, rows = heaps.rows(case.world, Selection(case.world, options), moment, axes, allocated)
    case.same("time", found["moment"]["time_ns"], at.time * TICK)
    case.same("collections", found["moment"]["collections"], at.collections)
    name = "allocated" if allocated else "live"
    case.same(name, (found["moment"][name + "_objects"], found["moment"][name + "_bytes"]), totals(taken))
    if not options:
        case.same("existing", (found["moment"]["existing_objects"], found["moment"]["existing_bytes"]), totals(at.existing))
    compare_rows(case, "rows", [(row_key(r, axes), r["objects"], r["bytes"], r.get("mean_age_ns") or 0) for r in found["rows"]],
                 [(model_key(k, axes), *rest) for k, *rest in rows], with_age=not allocated)


@check
def heap_diff(case):
    axes, first, last = choose_axes(case), choose_moment(case), choose_moment(case)
    if Moment(case.world, first).time > Moment(case.world, last).time:
        first, last = last, first
    found = case.json("heap", "--json", "--top=0", "--depth=0", "--by=" + "+".join(axes), "--diff", first, last, case.trace)
    rows = [(row_key(r, axes), r["objects"], r["bytes"]) for r in found["rows"]]
    wanted = [(model_key(k, axes), *rest) for k, *rest in heaps.difference(case.world, first, last, axes)]
    found, wanted = merged(rows), merged(wanted)
    case.same("rows", {k: v[:2] for k, v in found.items() if any(v[:2])}, {k: v[:2] for k, v in wanted.items() if any(v[:2])})


@check
def leaks(case):
    least, options = case.chance.choice([0, 1, 2, 3]), choose_options(case)
    axes = case.chance.choice([("class",), ("class", "site")])
    words = ["leaks", "--json", "--top=0", "--depth=0", f"--survived={least}", "--older-than=0", "--by=" + "+".join(axes), *words_of(options)]
    suppressed = []
    if case.chance.random() < 0.3:
        suppressed = case.chance.sample(["class:a.**", "class:[B", "site:a.**", "class:java/lang/Object"], 2)
        with open(case.path("suppressed"), "w") as file:
            file.write("# known\n" + "\n".join(suppressed) + "\n")
        words.append("--suppress=" + case.path("suppressed"))
    existing = case.chance.random() < 0.3
    found = case.json(*words, *["--existing"] * existing, case.trace)
    selection = Selection(case.world, options)
    all_rows, kept, rows = leaks_of.rows(case.world, selection, least, axes, existing, 0, suppressed)
    case.same("collections", found["collections"], len(case.world.collections()))
    case.same("existing left out", found["existing_left_out"], 0 if existing else sum(o.existing for o in selection.objects()))
    case.same("survived", (found["survived"]["objects"], found["survived"]["bytes"]), totals(all_rows))
    case.same("suppressed", (found["suppressed"]["objects"], found["suppressed"]["bytes"]), totals([o for o in all_rows if o not in kept]))
    compare_rows(case, "rows", [(row_key(r, axes), r["objects"], r["bytes"], r["mean_age_ns"]) for r in found["rows"]],
                 [(model_key(k, axes), *rest) for k, *rest in rows])
    _, _, living = leaks_of.rows(case.world, selection, 0, axes, existing, 0, suppressed)
    living, listed = [model_key(k, axes) + tuple(rest[:2]) for k, *rest in living], collections.Counter(row_key(r, axes) for r in found["rows"])
    paths = [case.world.method_path(n + 1) for n in range(len(case.world.methods))]
    for row in found["rows"] if len(set(paths)) == len(paths) else []:  # of equal names, as of two loaders or overloads, one may have no survivors
        if listed[row_key(row, axes)] == 1 and sum(key[:-2] == row_key(row, axes) for key in living) == 1:
            case.same("all at end", row_key(row, axes) + (row["at_end_objects"], row["at_end_bytes"]) in living, True)


@check
def sql_objects(case):
    found = case.json("sql", "--json", case.trace, "select object, class, class_id, thread, site, size, born, died, alive, survived, existing from objects")
    world = case.world
    wanted = [(o.number, world.class_name(o.kind), o.kind, o.thread, o.site or None, o.size, o.born * TICK, None if o.died is None else o.died * TICK,
               int(o.died is None), leaks_of.survived(world, o), int(o.existing)) for o in world.objects]
    rows = [tuple(row.values()) for row in found]
    case.same_rows("objects", rows, wanted)


@check
def pack(case):
    """A packed trace has the same events and numbers."""
    case.run("pack", case.trace, "-o", case.path("packed.step"))
    for words in (["dump"], ["stats", "--json", "--top=0"], ["leaks", "--json", "--survived=1"], ["lifetimes", "--json"]):
        before = case.run(*words, case.trace)
        case.same(f"{words} of what is packed", case.run(*words, case.path("packed.step")).replace("packed.step", "trace.step"), before)


METRICS = ["allocated", "allocated_objects", "freed", "freed_objects", "alive_at_end", "alive_at_end_objects", "alive_at_peak", "alive_at_peak_objects", "collections"]


def measured(world, metric, takes):
    objects = [o for o in world.objects if takes(o)]
    if metric == "collections":
        return len(world.collections())
    if metric.startswith("alive_at_peak"):
        living = Moment(world, "peak").living
        objects = [o for o in objects if o in living]
    elif metric.startswith("alive_at_end"):
        objects = [o for o in objects if o.died is None]
    elif metric.startswith("freed"):
        objects = [o for o in objects if o.died is not None]
    else:
        objects = allocated_of(objects)
    return totals(objects)[0 if metric.endswith("_objects") else 1]


@check
def gates(case):
    world, chance = case.world, case.chance
    metric = chance.choice(METRICS)
    axis = chance.choice(["", "", "class:a.**", "class:java/lang/Object", "site:a.**", "method:a.**"]) if metric != "collections" else ""
    if axis:
        name, pattern = axis.split(":")
        selection = Selection(world, [(name, pattern)])
        value = measured(world, metric, selection.takes)
    else:
        value = measured(world, metric, lambda o: True)
    limit = max(0, value + chance.choice([-1, 0, 0, 1]))
    sign = chance.choice([">", ">=", "<", "<=", "=", "!="])
    if not world.objects:
        case.run("stats", "-q", f"--fail-if={axis} {metric} {sign} {limit}", case.trace, status=(2, 3) if metric != "collections" else (0, 2, 3, 4))
        return
    # Of a method only its calls are measured; a rule of anything else is refused.
    status = 2 if axis.startswith("method:") else rule_status(sign, value, limit)
    # What matches nothing may have no name in the trace; then the rule is not judged.
    is_lost = axis and status == 0 and not any(selection.takes(o) for o in world.objects)
    case.run("stats", "-q", f"--fail-if={axis} {metric} {sign} {limit}", case.trace, status=(0, 3) if is_lost else (status,))


def compare_lives(case, found, other):
    """Where nothing died there is no mean life, and no change of it."""
    for row in [found["program"]] + found["classes"]:
        if "lifetime" not in row:
            continue
        dead = [sum(o.died is not None and row.get("class", w.class_name(o.kind)) == w.class_name(o.kind) for o in w.objects)
                for w in (case.world, other)]
        lives = row["lifetime"]
        case.same("lifetimes that are there", [lives[key] is not None for key in ("before", "after", "change")],
                  [dead[0] > 0, dead[1] > 0, min(dead) > 0])


@check
def compare(case):
    other = World(case.seed + 1000003)
    case.make(other, "other.step")
    found = case.json("compare", "--json", "--by=class", "--exact", case.trace, case.path("other.step"))
    for metric in METRICS[:-1]:
        both = tuple(measured(w, metric, lambda o: True) for w in (case.world, other))
        row = found["program"].get(metric)
        if row is None:  # what one of the traces has none of is left out
            case.same(f"{metric} is left out", 0 in both, True)
        else:
            case.same(metric, (row["before"], row["after"], row["change"]), (*both, both[1] - both[0]))
        for row in found["classes"]:
            name = row["class"]
            both = tuple(measured(w, metric, lambda o, w=w: w.class_name(o.kind) == name) for w in (case.world, other))
            if metric in row:
                case.same(f"{metric} of {name}", (row[metric]["before"], row[metric]["after"]), both)
            else:
                case.same(f"{metric} of {name} is left out", 0 in both, True)
    case.same("duration", found["program"]["duration"]["after"], other.end * TICK)
    compare_lives(case, found, other)


@check
def lifetimes(case):
    found = case.json("lifetimes", "--json", "--top=0", "--depth=0", case.trace)
    world = case.world
    recorded = [o for o in world.objects if not o.existing]
    case.same("objects", (found["objects"], found["bytes"]), totals(recorded))
    case.same("existing", (found["existing_objects"], found["existing_bytes"]), totals([o for o in world.objects if o.existing]))
    wanted = collections.defaultdict(lambda: [0] * 6)
    for o in recorded:
        row = wanted[world.class_name(o.kind), tuple(map(heaps.frame_text, world.stack(o.site)))]
        row[0], row[1] = row[0] + 1, row[1] + o.size
        if o.died is not None:
            row[2], row[3] = row[2] + 1, row[3] + o.size
        if leaks_of.survived(world, o) >= 2:
            row[4], row[5] = row[4] + 1, row[5] + o.size
    names, got = ["objects", "bytes", "dead_objects", "dead_bytes", "old_objects", "old_bytes"], collections.defaultdict(lambda: [0] * 6)
    for site in found["sites"]:
        row = got[site["class"], tuple(site["site"])]
        for i, name in enumerate(names):
            row[i] += site[name]
    case.same_rows("sites", list(got.items()), list(wanted.items()))


@check
def minimum_heap(case):
    """`simulate`: no collector needs less than the most bytes that lived at one time."""
    found = case.json("simulate", "--json", "--mark-compact=1g", case.trace)
    case.same("minimum heap", found["minimum_heap"], statistics_of.live(case.world)["peak_bytes"])
    case.same("existing", found["existing"], totals([o for o in case.world.objects if o.existing])[1])
