# SPDX-License-Identifier: Apache-2.0
"""Commands that go by references, each compared with the model: retained sizes, paths to roots, deaths."""
import collections
import json

import graph_of
import heaps
import statistics_of
from graph_world import FIELDS, GraphWorld
from heaps import frame_text
from moments import totals
from registry import check
from world import TICK


def graph_case(case, *arguments):
    case.world = GraphWorld(case.seed, *arguments)
    case.trace = case.make(case.world, "graph.step")
    return case.world


def choose_graph(case):
    """A moment's words for the command, and its graph."""
    world = case.world
    count, snapshots = len(world.collections()), [r.time for r in world.records if r.kind == "snapshot"]
    times = [case.chance.randint(world.start, world.end), *snapshots]
    name = case.chance.choice(["end", "end", *[f"gc:{n + 1}" for n in range(count)][-3:], *[f"{TICK * t}ns" for t in times]])
    time = world.end if name == "end" else world.collections()[int(name[3:]) - 1] if name.startswith("gc") else int(name[:-2]) // TICK
    if graph_of.graph_time(world, time) is None:
        case.run("paths", "--class=**", f"--at={name}", case.trace, status=(1,))
        return None, None
    return f"--at={name}", graph_of.Graph(world, time, name == "end")


def choose_case(case):
    """Most programs have stores, some only snapshots."""
    graph_case(case, case.chance.random() < 0.75)
    return choose_graph(case)


def says_moment(case, found, moment, what):
    """The moment is that of the last record of the graph; collections are those until then."""
    world, at = case.world, found["moment"]
    case.same("head", (found["trace"], found["what"]), (case.trace, what))
    has_stores = any(r.kind in graph_of.STORES for r in world.records)
    case.same("graph", at["graph"], "stores" if has_stores else "snapshot")
    name = moment.removeprefix("--at=")
    if not name.endswith("ns"):
        case.same("name", at["at"], name)
    time = world.end if name == "end" else world.collections()[int(name[3:]) - 1] if name.startswith("gc") else int(name[:-2]) // TICK
    time = graph_of.graph_time(world, time)
    times = [r.time for r in world.records if r.time <= time and r.kind not in ("entry", "exit", "pop")]
    case.same("time", at["time_ns"], max(times, default=0) * TICK)
    case.same("collections", at["collections"], sum(c <= time for c in world.collections()))


@check
def retained(case):
    moment, graph = choose_case(case)
    if graph is None:
        return False
    world, by = case.world, case.chance.choice(["class", "site", "object"])
    if by == "site" and not world.frames:
        return False
    names = {"class": lambda o: world.class_name(o.kind), "object": lambda o: o.number}
    found = case.json("heap", "--retained", "--json", "--top=0", "--depth=0", f"--by={by}", moment, case.trace)
    case.same("reached", (found["objects"], found["bytes"]), (len(graph.reached), graph.size(graph.reached)))
    says_moment(case, found, moment, "retained")
    case.same("by", found["by"], by)
    left = graph.objects - graph.reached
    case.same("not reached", (found["unreached_objects"], found["unreached_bytes"]), (len(left), graph.size(left)))
    rows = [(tuple(row[by]) if by == "site" else row[by], row["retained_bytes"], row["bytes"], row["objects"]) for row in found["rows"]]
    if by == "site":  # of overloads and of frames of one text
        rows, wanted = joined(rows), joined([(name, *row) for name, row in graph.retained(lambda o: o.site).items()],
                                            lambda site: tuple(map(frame_text, world.stack(site))))
        case.same_rows("sites", rows, wanted)
        return
    case.same_rows(by, rows, [(name, *row) for name, row in graph.retained(names[by]).items()])


def joined(rows, name_of=lambda name: name):
    sums = collections.defaultdict(lambda: [0, 0, 0])
    for name, *values in rows:
        sums[name_of(name)] = [a + b for a, b in zip(sums[name_of(name)], values)]
    return [(name, *values) for name, values in sums.items()]


def field_text(world, number):
    of, name, _, _ = FIELDS[number - 1]
    return f"{world.class_name(of)}.{name}"


UNKNOWN = ("frame", "no known holder: not collected yet")  # the second at the end of a program


@check
def paths(case):
    """Each object is in one path, as long as the shortest that there is."""
    moment, graph = choose_case(case)
    if graph is None:
        return False
    world, lengths = case.world, graph.lengths()  # what is not collected yet has a path, too
    pattern = case.chance.choice(["**", "t.Node", "a.Pair", "[Lt.Node;"])
    of = {"**": None, "t.Node": "t/Node", "a.Pair": "a/Pair", "[Lt.Node;": "[Lt/Node;"}[pattern]
    taken = {o for o in graph.objects if of in (None, world.class_name(world.by_number[o].kind))}
    if not taken:
        return False
    found = case.json("paths", "--json", "--top=0", f"--class={pattern}", moment, case.trace)
    says_moment(case, found, moment, "paths")
    case.same("objects", (found["objects"], found["bytes"]), (len(taken), graph.size(taken)))
    case.same("not reached", found["unreached_objects"], len(taken - set(lengths)))
    case.same("in paths", sum(path["objects"] for path in found["paths"]), len(taken & set(lengths)))
    case.same("bytes in paths", sum(path["bytes"] for path in found["paths"]), graph.size(taken & set(lengths)))
    for path in found["paths"]:
        example = path["example"]
        case.same(f"steps to {example}", path["steps"], lengths[example])
        case.same(f"root of {example}", path["path"][0] == UNKNOWN[graph.uncollected], example not in graph.kept)
        case.same(f"class of {example}", path["path"][-1], world.class_name(world.by_number[example].kind))
        follow(case, graph, path)
    for example in case.chance.sample(sorted(taken & set(lengths)), min(2, len(taken & set(lengths)))):
        one = case.json("paths", "--json", moment, case.trace, example)
        case.same(f"steps to {example} alone", [path["steps"] for path in one["paths"]], [lengths[example]])


def follow(case, graph, path):
    """The fields of the path lead from such a root to the example."""
    world, steps = case.world, path["path"][1:-1]
    root = path["path"][0]
    if root.startswith("static field "):
        at = {t for key, t in graph.replay.edges[0].items() if t in graph.objects and field_text(world, key[1]) == root[13:]}
    else:
        at = graph.frames if root in UNKNOWN else graph.known
    for step in steps:
        text, repeats = step.removesuffix("+"), step.endswith("+")
        reached, front = set(), at
        while front:
            front = {t for o in front for key, t in graph.replay.edges[o].items() if t in graph.objects and step_text(world, o, key) == text} - reached
            reached |= front
            if not repeats:
                break
        at = reached
    case.same(f"{path['path']} leads to {path['example']}", path["example"] in at, True)


def step_text(world, holder, key):
    return field_text(world, key[1]) if key[0] == "field" else f"{world.class_name(world.by_number[holder].kind)} []"


def dated(case):
    """The trace with computed deaths, and the model's."""
    world = graph_case(case)
    case.told = case.json("deaths", "--json", case.trace, "-o", case.path("dated.step"))
    return graph_of.deaths(world)


@check
def deaths(case):
    wanted, unsure = dated(case)
    records = [json.loads(line) for line in case.run("dump", "--record", "ObjectDeath", "--json", case.path("dated.step")).splitlines()]
    found = {r["object"]: (r["time"], r["how"], r["collected"]) for r in records}
    case.same_rows("times", [(o, when, by) for o, (when, _, by) in found.items()], [(o, when, by) for o, (when, _, by) in wanted.items()])
    case.same("how", {o: row[1] for o, row in found.items() if o not in unsure}, {o: row[1] for o, row in wanted.items() if o not in unsure})
    case.same("counts", tuple(case.told["deaths"].values()), tuple(sum(row[1] == how for row in found.values()) for how in range(3)))
    world = case.world
    case.same("files", (case.told["input"], case.told["output"]), (case.trace, case.path("dated.step")))
    stores = any(r.kind in graph_of.STORES for r in world.records)
    case.same("what there is", (case.told["has_references"], case.told["has_calls"]), (stores, any(r.kind == "entry" for r in world.records)))
    case.same("what nothing is known of", set(case.told["unknown"].values()), {0})
    case.same("living", case.told["living"], sum(o.died is None for o in case.world.objects))
    case.same("collections", case.told["collections"], len(case.world.collections()))
    case.same("snapshots", case.told["snapshots"], case.world.snapshots)
    case.same("stores", case.told["stores"], sum(r.kind in ("store", "range", "clone") for r in case.world.records))


@check
def deaths_elsewhere(case):
    """Lifetimes go by the computed time; what survived and what is temporary by the collection that found the object dead."""
    wanted, _ = dated(case)
    world, path = case.world, case.path("dated.step")
    before, after = (case.json("stats", "--json", "--top=0", "--temporary", trace)["objects"] for trace in (case.trace, path))
    for name in before:
        if name != "lifetimes":
            case.same(f"temporary {name}", after[name], before[name])
    survived = "select object, survived from objects order by object"
    case.same("survived", case.run("sql", "--json", path, survived), case.run("sql", "--json", case.trace, survived))
    for o in world.objects:
        o.died = wanted[o.number][0] if o.number in wanted else None
    found = case.json("stats", "--json", "--top=0", path)["objects"]
    lives = statistics_of.lifetimes(world.objects, world)
    case.same("count and most", (found["lifetimes"]["count"], found["lifetimes"]["most"]) if lives else None, (lives["count"], lives["most"]) if lives else None)
    if lives:
        case.near("mean", found["lifetimes"]["mean"], lives["mean"], 1e-5, 1)
    times = sorted({row[2] for row in wanted.values()})
    if times:
        number = case.chance.randint(1, len(times))
        rows = case.json("heap", "--json", "--top=0", f"--at=gc:{number}", path)["rows"]
        living = [o for o in world.objects if o.born <= times[number - 1] and (o.died is None or o.died > times[number - 1])]
        wanted_rows = {heaps.shown_key(key, ("class",))[0]: totals(group) for key, group in heaps.grouped(world, living, ("class",)).items()}
        case.same(f"live after gc:{number}", {row["class"]: (row["objects"], row["bytes"]) for row in rows}, wanted_rows)
