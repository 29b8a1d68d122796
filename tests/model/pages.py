# SPDX-License-Identifier: Apache-2.0
"""The data within the pages of `report` and `compare --html` (docs/report.md), against the model and against what other commands print."""
import collections
import json
import re

from commands import METRICS, choose_options, measured, words_of
from members import living_steps
from moments import Moment, allocated_of, peak_of, totals
from registry import check, choose_moment
from selection import Selection
from world import TICK, World


def data_of(path):
    with open(path, encoding="utf-8") as file:
        return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', file.read(), re.S)[1])


def report(case, *words):
    case.run("report", case.trace, "-o", case.path("page.html"), *words)
    return data_of(case.path("page.html"))


@check
def report_summary(case):
    world = case.world
    moment = case.chance.choice(["peak", choose_moment(case)])
    page = report(case, f"--at={moment}")
    _, peak_time = peak_of(world)
    existing, dead = [o for o in world.objects if o.existing], [o for o in world.objects if o.died is not None]
    wanted = {"last_ns": world.end * TICK, "peak_ns": peak_time * TICK, "collections": len(world.collections()), "calls": len(world.calls)}
    for name, objects in (("allocated", allocated_of(world.objects)), ("existing", existing), ("freed", dead), ("live", [o for o in world.objects if o.died is None]),
                          ("peak", Moment(world, "peak").living)):
        wanted[f"{name}_objects"], wanted[f"{name}_bytes"] = totals(objects)
    case.same("summary", {name: page["summary"][name] for name in wanted}, wanted)
    at = Moment(world, moment)
    case.same("moment", (page["moment"]["time_ns"], page["moment"]["live_objects"], page["moment"]["live_bytes"]), (at.time * TICK, *totals(at.living)))
    threads = {row["number"]: (row["allocated_objects"], row["allocated_bytes"], row["calls"]) for row in page["threads"] if row["number"]}
    case.same("threads", {n: row for n, row in threads.items() if any(row)},
              {n: row for n in range(1, len(world.threads) + 1)
               if any(row := (*totals([o for o in allocated_of(world.objects) if o.thread == n]), sum(c.thread == n for c in world.calls)))})
    classes = collections.Counter()
    places = [3 + [head[0] for head in page["class_columns"]].index(key) for key in ("allocated_objects", "allocated_bytes")] if page["classes"] else []
    for name, number, size in ((row[0], *(row[i] for i in places)) for row in page["classes"]):
        classes[name] += size
        classes[name, "objects"] += number
    wanted = collections.Counter()
    for o in allocated_of(world.objects):
        wanted[world.class_name(o.kind)] += o.size
        wanted[world.class_name(o.kind), "objects"] += 1
    case.same("classes", +classes, +wanted)


@check
def report_selected(case):
    """The page of a part: its sums, and what of it lives."""
    options = choose_options(case)
    objects = Selection(case.world, options).objects()
    page = report(case, *words_of(options))
    wanted = {}
    for name, part in (("allocated", allocated_of(objects)), ("existing", [o for o in objects if o.existing]), ("freed", [o for o in objects if o.died is not None]),
                       ("live", [o for o in objects if o.died is None])):
        wanted[f"{name}_objects"], wanted[f"{name}_bytes"] = totals(part)
    case.same("summary", {name: page["summary"][name] for name in wanted}, wanted)


@check
def report_timeline(case):
    """The live heap by steps: bytes, objects and the most within; those of classes; collections at their steps."""
    world = case.world
    if world.same_tick or not world.objects:
        return False
    line = report(case)["timeline"]
    step, count = line["step_ns"], len(line["live"])
    wanted = living_steps(world, [(i + 1) * step for i in range(count)])
    case.same("steps", list(zip(line["most"], line["live"], line["objects"])), wanted)
    freed = [(time * TICK // step, *totals([o for o in world.objects if o.died == time])) for time in world.collections()]
    case.same("collections", sum(row[2] for row in line["collections"]), sum(row[2] for row in freed))
    case.same("places of collections", {row[0] for row in line["collections"]}, {row[0] for row in freed})
    for row in line["classes"]:
        part = [o for o in world.objects if world.class_name(o.kind) == row["name"]]
        last = [sum(o.size for o in part if o.died is None), row["bytes"][-1]]
        if sum(other["name"] == row["name"] for other in line["classes"]) == 1 and not world.loaders:
            case.same(f"{row['name']} at the end", last[1], last[0])


def tree_sums(sites, *columns):
    """Path of names from the outermost in -> what the nodes have themselves."""
    found = collections.defaultdict(lambda: [0] * len(columns))
    paths = [()]
    for i in range(1, len(sites["parent"])):
        name = sites["names"][sites["name"][i]] if "name" in sites else sites["names"][i]
        paths.append(paths[sites["parent"][i]] + (name,))
    for i, path in enumerate(paths):
        for column, name in enumerate(columns):
            found[path][column] += sites[name][i]
    return {path: tuple(row) for path, row in found.items() if any(row)}


@check
def report_flames(case):
    """The flame graph: what each call stack allocated, and what of it lives at the moment; of a part, at the end."""
    world, options = case.world, choose_options(case, ("alive-at", "lifetime"))
    moment = "end" if options else choose_moment(case)
    page = report(case, f"--at={moment}", *words_of(options))
    selection, wanted = Selection(world, options), collections.defaultdict(lambda: [0] * 4)
    living = [o for o in Moment(world, moment).living if selection.takes(o)]
    for first, objects in ((0, living), (2, allocated_of(selection.objects()))):
        for o in objects:
            row = wanted[tuple(name for name, _ in reversed(world.derived_stack(o)))]
            row[first], row[first + 1] = row[first] + o.size, row[first + 1] + 1
    found = collections.defaultdict(lambda: [0] * 4)
    for path, row in tree_sums(page["sites"], "live_bytes", "live_objects", "allocated_bytes", "allocated_objects").items():
        path = tuple(re.sub(r":\d+$", "", name) for name in path)
        found[path] = [a + b for a, b in zip(found[path], row)]
    case.same("nodes", {path: row for path, row in found.items() if any(row)}, {path: row for path, row in wanted.items() if any(row)})


@check
def compare_page(case):
    """`compare --html` has the figures of `compare --json`, and its flame graph those of each side."""
    other = World(case.seed + 1000003)
    path = case.make(other, "other.step")
    case.run("compare", f"--html={case.path('page.html')}", case.trace, path)
    page = data_of(case.path("page.html"))
    for metric in METRICS[:-1]:
        both = tuple(measured(w, metric, lambda o: True) for w in (case.world, other))
        row = page["program"].get(metric)
        case.same(metric, (row["before"], row["after"]) if row else None, both if row or 0 not in both else None)
    if "were not recorded with the same events" in case.errors:
        return False
    for i, (side, world) in enumerate((("before", case.world), ("after", other))):
        run = page["runs"][i]
        case.same(f"last time {side}", run["last_ns"], world.end * TICK)
        if not world.same_tick and world.objects:
            ends = [(n + 1) * run["step_ns"] for n in range(len(run["live"]))]
            case.same(f"curve {side}", list(zip(run["most"], run["live"])), [row[:2] for row in living_steps(world, ends)])
        wanted = collections.Counter()
        for o in allocated_of(world.objects):
            wanted[tuple(name for name, _ in reversed(world.derived_stack(o))) or ("(no stack)",)] += o.size
        found = {path: row[0] for path, row in tree_sums(page["sites"], f"allocated_{side}").items()}
        case.same(f"allocated {side}", found, dict(wanted))
