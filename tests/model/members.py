# SPDX-License-Identifier: Apache-2.0
"""Members of JSON, columns and options that go beyond the sums: times, steps, rates, histograms, distances, parts by time."""
import collections
import re

import graph_of
import heaps
from commands import choose_options, words_of
from figures import byte_lifetimes, ranked, rows_of
from graphs import dated, graph_case
from moments import Moment, allocated_of, totals
from recordings import by_method, call_times
from registry import BUCKET, check, choose_moment
from selection import Selection
from world import TICK, World


@check
def stats_times(case):
    """Events, the first and the last time, threads, times of methods."""
    world = case.world
    found = case.json("stats", "--json", "--top=0", case.trace)
    lines = case.run("dump", case.trace).splitlines()
    kinds = collections.Counter(line[:2] for line in lines)
    case.same("events", (found["events"], {k: n for k, n in found["kinds"].items() if n}), (len(lines), dict(kinds)))
    case.same("times", (found["first_ns"], found["last_ns"]), (0, world.end * TICK))
    case.same("trace", (found["trace"].endswith("trace.step"), found["not_probed"], found["unmatched_exits"]), (True, 0, 0))
    deaths = sum(o.died is not None for o in world.objects)
    case.same("deaths", [found["deaths"][name] for name in ("dated", "exact", "bound", "by_collection", "by_free")], [False, 0, 0, 0, deaths])
    threads = {row["thread"]: (row["name"], row["daemon"], row["virtual"], row.get("start_ns"), row.get("end_ns")) for row in found["threads"] if row["thread"]}
    case.same("threads", threads, {i + 1: (name, False, False, world.start * TICK, world.end * TICK if i + 1 in world.ended else None)
                                   for i, name in enumerate(world.threads)})
    rows = {(f"{row['class']}.{row['method']}", row["descriptor"]): (row["calls"], row["exceptions"], row["inclusive_ns"], row["exclusive_ns"])
            for row in found["methods"] if row["calls"]}
    case.same("times of methods", rows, {name: (*row[:2], row[2] * TICK, row[3] * TICK) for name, row in by_method(world, call_times(world)).items()})


def living_steps(world, ends_ns):
    """Of each step the most bytes within it, bytes and objects at its end; the last has the events of its end, too."""
    found, events, at, size, number = [], world.events(), 0, 0, 0
    for i, end in enumerate(ends_ns):
        most = size
        while at < len(events) and events[at][0] * TICK < end + (i == len(ends_ns) - 1):
            _, is_death, _, o = events[at]
            size, number, at = size + (-o.size if is_death else o.size), number + (-1 if is_death else 1), at + 1
            most = max(most, size)
        found.append((most, size, number))
    return found


@check
def live_steps(case):
    world = case.world
    if world.same_tick or not world.objects:
        return False
    live = case.json("stats", "--json", case.trace)["live"]
    wanted = living_steps(world, [(i + 1) * live["step_ns"] for i in range(len(live["steps"]))])
    case.same("steps", [(row["most_bytes"], row["bytes"], row["objects"]) for row in live["steps"]], wanted)
    case.same("they reach the end", live["step_ns"] * (len(live["steps"]) - 1) <= world.end * TICK < live["step_ns"] * (len(live["steps"]) + 1), True)
    rows = rows_of(case, "select time, objects, bytes, most_bytes from live order by time")
    case.same("table live", [(most, size, objects) for _, objects, size, most in rows], living_steps(world, [row[0] for row in rows]))
    case.same("its steps", sum(step for step, in rows_of(case, "select step from live")), rows[-1][0])


@check
def dated_heads(case):
    """Each command says of a dated trace how many deaths are exact, bounds, or known by the collection only."""
    wanted, _ = dated(case)
    counts = {"dated": bool(wanted), **case.told["deaths"], "by_free": 0}
    path = case.path("dated.step")
    verb = case.chance.choice([("stats",), ("leaks",), ("lifetimes",), ("advise",), ("nominal",), ("compare",), ("heap", "--diff=", "gc:1", "end")])
    if verb[0] == "compare":
        found = case.json("compare", "--json", path, path)
        heads = [found[side][0]["deaths"] for side in ("before", "after")]
    elif verb[0] == "heap":
        found = case.json("heap", "--json", "--at=end", path)
        heads = [found["moment"]["deaths"]]
    else:
        found = case.json(*verb, "--json", path)
        case.same("trace", found["trace"], path)
        heads = [found["deaths"]]
    for head in heads:
        case.same("deaths", dict(head.items()), counts)


@check
def heap_ages(case):
    """Ages of what lives, in powers of two of microseconds; the last line ends at the oldest."""
    moment = choose_moment(case)
    at = Moment(case.world, moment)
    text = case.run("heap", "--ages", f"--at={moment}", case.trace)
    rows = [(int(n), int(size)) for n, size in re.findall(r"^ *(\d+) +(\d+) +[\d.]+  \S", text, re.M)]
    wanted = collections.defaultdict(lambda: [0, 0])
    for o in at.living:
        age = (at.time - o.born) * TICK
        row = wanted[(age // 1000).bit_length()]
        row[0], row[1] = row[0] + 1, row[1] + o.size
    case.same("ages", rows, [tuple(wanted[step]) for step in sorted(wanted)])


@check
def heap_diff_sides(case):
    world, times = case.world, case.world.collections()
    if not times:
        return False
    found = case.json("heap", "--json", "--top=0", "--diff", "gc:1", "end", case.trace)
    for side, name in (("before", "gc:1"), ("after", "end")):
        at, moment = found[side], Moment(world, name)
        case.same(f"{side}", (at["at"], at["time_ns"], at["collections"], at["live_objects"], at["live_bytes"], at["allocated_objects"], at["allocated_bytes"]),
                  (name, moment.time * TICK, moment.collections, *totals(moment.living), *totals(moment.allocated)))
    rows = {(row["class"], row["loader"]): (row["after_objects"], row["after_bytes"]) for row in found["rows"]}
    after = heaps.grouped(world, Moment(world, "end").living, ("class",))
    case.same("after", rows, {name: totals(after.get((name,), [])) for name in rows})


@check
def leaks_heads(case):
    world = case.world
    least, age = case.chance.choice([1, 2, 3]), case.chance.choice([0, 10, 1000]) * TICK
    found = case.json("leaks", "--json", f"--survived={least}", f"--older-than={age}ns", case.trace)
    case.same("limits", (found["trace"], found["least_survived"], found["least_age_ns"]), (case.trace, least, age))
    living = [o for o in world.objects if o.died is None and not o.existing]
    case.same("at end", (found["at_end"]["objects"], found["at_end"]["bytes"]), totals(living))
    case.same("existing", found["existing_left_out"], sum(o.existing for o in world.objects))
    case.same("existing with --existing", case.json("leaks", "--json", "--existing", case.trace)["existing_left_out"], 0)


def power_histogram(values):
    """Pairs of the upper end of a power of two and how many values are below it."""
    found = collections.Counter(1 << value.bit_length() for value in values)
    return sorted(found.items())


@check
def lifetimes_percentiles(case):
    """Of each class and site: mean, percentiles, most, and numbers by powers of two, in time and in bytes."""
    world = case.world
    if world.same_tick:
        return False
    found = case.json("lifetimes", "--json", "--top=0", "--depth=0", "--histogram", case.trace)
    groups = collections.defaultdict(list)
    for o in allocated_of(world.objects):
        groups[world.classes[o.kind - 1], tuple(map(heaps.frame_text, world.stack(o.site)))].append(o)
    texts = collections.Counter(tuple(map(heaps.frame_text, world.stack(site))) for site in range(len(world.frames) + 1))
    case.same("trace", (found["trace"], found["site_count"], found["collections"]), (case.trace, len({(o.kind, o.site) for o in allocated_of(world.objects)}),
                                                                                     len(world.collections())))
    for row in found["sites"]:
        if texts[tuple(row["site"])] > 1:
            continue
        group = groups[(row["class"], row["loader"]), tuple(row["site"])]
        living = most = 0
        for _, is_death, _, o in world.events():
            if o in group:
                living += -1 if is_death else 1
                most = max(most, living)
        case.same("most living", row["most_living"], most)
        for name, values in (("lifetime_ns", sorted((o.died - o.born) * TICK for o in group if o.died is not None)), ("lifetime_bytes", byte_lifetimes(world, group))):
            case.same(f"{row['class']} has {name}", row.get(name) is not None, bool(values))
            if not values:
                continue
            lives = row[name]
            case.near(f"mean {name}", lives["mean"], sum(values) / len(values), 1e-5, 1)
            case.same(f"most {name}", lives["most"], values[-1])
            for key, share in (("p10", 0.1), ("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
                case.near(f"{key} {name}", lives[key], ranked(values, share), BUCKET, 1)
            case.same(f"histogram {name}", [tuple(pair) for pair in lives["histogram"]], power_histogram(values))


@check
def sql_lifetimes(case):
    world, groups = case.world, collections.defaultdict(list)
    for o in allocated_of(world.objects):
        groups[o.kind, o.site or None].append(o)
    found = rows_of(case, "select class, class_id, site, objects, bytes, dead_objects, dead_bytes, old_objects, old_bytes from lifetimes")
    import leaks_of
    wanted = []
    for (kind, site), group in groups.items():
        wanted.append((world.class_name(kind), kind, site, *totals(group), *totals([o for o in group if o.died is not None]),
                       *totals([o for o in group if leaks_of.survived(world, o) >= 2])))
    case.same_rows("lifetimes", found, wanted)
    if not world.same_tick:
        for kind, site, low, high in rows_of(case, "select class_id, site, p10_bytes, p99_bytes from lifetimes"):
            sizes = byte_lifetimes(world, groups[kind, site])
            for value, share in ((low, 0.1), (high, 0.99)):
                case.same(f"{share} of {kind} {site} is there", value is not None, bool(sizes))
                if sizes:
                    case.near(f"{share} of {kind} {site}", value, ranked(sizes, share), BUCKET, 1)


@check
def sql_call_tree(case):
    """Numbers of calls are those of their entries, and each names the call that made it."""
    world = case.world
    if world.same_tick or not world.calls:
        return False
    found = rows_of(case, "select call, parent, method_id, class, object, thread, entry from calls order by call")
    open_calls, wanted = collections.defaultdict(list), []
    for number, call in enumerate(world.calls, 1):
        callers = open_calls[call.thread]
        while callers and callers[-1][1] is not None and callers[-1][1] <= call.entry:
            callers.pop()
        wanted.append((number, callers[-1][0] if callers else None, call.method, world.class_name(world.methods[call.method - 1][0]), None, call.thread,
                       call.entry * TICK))
        callers.append((number, call.leave))
    case.same("calls", found, wanted)


class Distances:
    """What each thread allocated, for docs/locality.md."""

    def __init__(self, world):
        self.place, self.turn = {}, {}  # object -> bytes and objects that its thread allocated before
        sizes, turns = collections.Counter(), collections.Counter()
        for o in world.objects:
            if not o.existing:
                self.place[o.number], self.turn[o.number] = (o.thread, sizes[o.thread]), (o.thread, turns[o.thread])
                sizes[o.thread] += o.size
                turns[o.thread] += 1


def made_references(world):
    """(holder, key, target) of each reference that a store, a copy from another array or a clone makes."""
    replay = graph_of.Replay(world)
    for record in world.records:
        if record.kind == "store":
            holder, key, target = record.values
            if holder and target and replay.edges[holder].get(key, 0) != target:
                yield record.values
        elif record.kind == "clone":
            source, holder = record.values
            yield from ((holder, key, target) for key, target in replay.edges[source].items() if target in replay.edges and target)
        elif record.kind == "range":
            source, first, holder, at, count = record.values
            for i in range(count if source != holder else 0):
                target = replay.edges[source].get(("element", first + i), 0)
                if target in replay.edges and target:
                    yield holder, ("element", at + i), target
        replay.put(record)


@check
def locality(case):
    """References by field or array and class of the target: of one thread, of neighbours, and how far apart."""
    from graphs import field_text
    world = graph_case(case)
    rows, distances = {}, Distances(world)
    for holder, key, target in made_references(world):
        of = world.by_number[holder]
        name = field_text(world, key[1]) if key[0] == "field" else world.class_name(of.kind)
        row = rows.setdefault((name, world.class_name(world.by_number[target].kind)), [0, 0, 0, 0, 0, 0, []])
        row[0] += 1
        if holder not in distances.place or target not in distances.place:
            row[3] += 1
            continue
        (thread, a), (other, b) = distances.place[holder], distances.place[target]
        if thread != other:
            row[2] += 1
            continue
        row[1] += 1
        row[6].append(abs(a - b))
        if abs(distances.turn[holder][1] - distances.turn[target][1]) == 1:
            row[4] += 1
            row[5] += of.size + world.by_number[target].size
    if not rows:
        return False
    found = case.json("locality", "--json", "--top=0", case.trace)
    case.same("head", (found["trace"], found["objects"], found["existing"], found["graph"]),
              (case.trace, len(world.objects), sum(o.existing for o in world.objects), "stores"))
    got = {}
    for row in found["fields"]:
        name = f"{row['holder']}.{row['field']}" if row.get("field") else row["holder"]
        got[name, row["target"]] = (row["references"], row["one_thread"], row["two_threads"], row["unknown"], row["neighbours"], row["neighbour_bytes"])
        wanted = rows.get((name, row["target"]))
        if wanted and wanted[6]:
            values, lives = sorted(wanted[6]), row["distance_bytes"]
            case.near(f"mean of {name}", lives["mean"], sum(values) / len(values), 1e-5, 1)
            case.same(f"most of {name}", lives["most"], values[-1])
            for part, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
                case.near(f"{part} of {name}", lives[part], ranked(values, share), BUCKET, 1)
            known = wanted[1] + wanted[2]
            case.same(f"{name} is a candidate", row["is_candidate"], wanted[0] >= 16 and wanted[4] >= 0.9 * known)
    case.same("rows", got, {name: tuple(row[:6]) for name, row in rows.items()})
    for i, name in enumerate(("references", "one_thread", "two_threads", "unknown", "neighbours")):
        case.same(name, found[name], sum(row[i] for row in rows.values()))


@check
def parts_by_time(case):
    """--time, --from-time and --to-time choose events; what `stats` counts of them."""
    world = case.world
    first, last = sorted(case.chance.randint(world.start, world.end) for _ in range(2))
    form = case.chance.choice(["time", "from", "to"])
    words = {"time": [f"--time={first * TICK}ns..{last * TICK}ns"], "from": [f"--from-time={first * TICK}ns"], "to": [f"--to-time={last * TICK}ns"]}[form]
    low, high = {"time": (first, last), "from": (first, world.end), "to": (0, last)}[form]
    lines = case.run("dump", *words, case.trace).splitlines()
    times = [line for line in case.run("dump", case.trace).splitlines() if low * TICK <= int(line.split(":")[1]) <= high * TICK]
    case.same_rows("lines", lines, times)
    found = case.json("stats", "--json", "--top=0", *words, case.trace)
    born = [o for o in world.objects if low <= o.born <= high]
    case.same("allocated", (found["objects"]["allocated_objects"], found["objects"]["allocated_bytes"]), totals(allocated_of(born)))
    case.same("events", found["events"], len(times))
    rows = case.json("heap", "--json", "--top=0", "--at=end", *words, case.trace)["rows"]
    wanted = heaps.grouped(world, [o for o in born if o.died is None], ("class",))
    case.same("live at the end", {(row["class"], row["loader"]): (row["objects"], row["bytes"]) for row in rows},
              {name[0]: totals(group) for name, group in wanted.items()})


@check
def kinds(case):
    chosen = case.chance.sample(["OA", "OF", "MN", "MX", "TB", "CL"], 2)
    lines = [line for line in case.run("dump", case.trace).splitlines() if line[:2] in chosen]
    case.same_rows("lines", case.run("dump", "--kind=" + ",".join(chosen), case.trace).splitlines(), lines)
    case.same("events", case.json("stats", "--json", "--kind=" + ",".join(chosen), case.trace)["events"], len(lines))


@check
def compare_selected(case):
    """A selection is made on both sides."""
    options = choose_options(case)
    other = World(case.seed + 1000003)
    case.make(other, "other.step")
    found = case.json("compare", "--json", "--top=0", "--exact", "--by=class", *words_of(options), case.trace, case.path("other.step"), status=(0, 3))
    if case.status == 3:
        case.same("a moment that the other does not have", "has no such moment" in case.errors, True)
        return False
    both = [Selection(world, options).objects() for world in (case.world, other)]
    for metric, amount in (("allocated", lambda objects: totals(allocated_of(objects))[1]), ("freed_objects", lambda objects: sum(o.died is not None for o in objects))):
        row, wanted = found["program"].get(metric), tuple(map(amount, both))
        case.same(metric, (row["before"], row["after"]) if row else None, wanted if row or 0 not in wanted else None)


@check
def watch_selected(case):
    """Rows of `watch --once`, and the same of a part."""
    options = choose_options(case, ("lifetime", "temporary", "alive-at", "site", "method"))
    world = case.world
    objects = Selection(world, options).objects()
    found = case.json("watch", "--once", "--json", "--top=0", *words_of(options), case.trace)
    case.same("head", (found["trace"], found["state"], found["time_ns"], found["dropped"], found["damaged"], found["exact"]),
              (case.trace, "ended", world.end * TICK, 0, 0, True))
    for part, name in (("classes", lambda o: world.class_name(o.kind)), ("threads", lambda o: f"{o.thread} {world.thread_name(o.thread)}" if o.thread else "(no thread)")):
        wanted, got = collections.defaultdict(list), collections.defaultdict(lambda: (0, 0, 0, 0))
        for o in objects:
            wanted[name(o)].append(o)
        for row in found[part]:
            values = [row[key] for key in ("allocated_objects", "allocated_bytes", "live_objects", "live_bytes")]
            if any(values):
                got[row["name"]] = tuple(map(sum, zip(got[row["name"]], values)))
        sums = {key: (*totals(allocated_of(group)), *totals([o for o in group if o.died is None])) for key, group in wanted.items()}
        case.same(part, dict(got), {key: values for key, values in sums.items() if any(values)})
    rates = found["a_second"]
    case.near("seconds", rates["seconds"], world.end * TICK / 1e9, 1e-5)
    for name in ("allocated_bytes", "allocated_objects", "freed_objects"):
        case.near(f"{name} a second", rates[name], found["total"][name] / (world.end * TICK / 1e9), 1e-4, 1e-3)


@check
def compare_calls(case):
    """Calls, exceptions and times of the program and of each method; mean lifetimes."""
    other = World(case.seed + 1000003)
    path = case.make(other, "other.step")
    found = case.json("compare", "--json", "--top=0", "--exact", "--by=method", case.trace, path)
    sides, lives = [], []
    for world in (case.world, other):
        rows = by_method(world, call_times(world))
        sides.append({f"{name}{descriptor}": row for (name, descriptor), row in rows.items()})
        ages = [(o.died - o.born) * TICK for o in world.objects if o.died is not None]
        lives.append(sum(ages) / len(ages) if ages else 0)
    program = found["program"]
    if all(sides):
        for i, name in enumerate(("calls", "exceptions")):
            row = program.get(name, {"before": 0, "after": 0})
            case.same(name, (row["before"], row["after"]), tuple(sum(row[i] for row in rows.values()) for rows in sides))
        own = program["own_time"]
        for value, rows in zip((own["before"], own["after"]), sides):
            case.near("own time", value, sum(row[3] for row in rows.values()) * TICK, 1e-6)
    if all(lives):
        for value, wanted in zip((program["lifetime"]["before"], program["lifetime"]["after"]), lives):
            case.near("mean lifetime", value, wanted, 1e-5, 1)
    if not all(sides):
        return False
    for row in found["methods"]:
        for i, name in enumerate(("calls", "exceptions", "time", "own_time")):
            both = tuple(rows.get(row["method"], (0,) * 4)[i] * (TICK if i > 1 else 1) for rows in sides)
            case.same(f"{name} of {row['method']}", (row[name]["before"], row[name]["after"]) if name in row else (0, 0), both)
