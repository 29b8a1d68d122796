# SPDX-License-Identifier: Apache-2.0
"""Rules without a model: one trace in two forms has the same numbers."""
import collections
import csv
import io
import re

from graphs import choose_graph, graph_case
from moments import totals
from registry import check, choose_moment
from world import World


def same_of(case, commands, before, after):
    for words in commands:
        wanted, found = (case.run(words[0], trace, *words[1:]) for trace in (before, after))
        case.same(f"{words} of the other form", found.replace(after, before), wanted)


@check
def pack_of_references(case):
    """A packed trace has the same graph, deaths and distances."""
    graph_case(case)
    case.run("pack", case.trace, "-o", case.path("packed.step"))
    moment, graph = choose_graph(case)
    if graph is None:
        return False
    commands = [("heap", "--retained", "--json", "--top=0", f"--by={by}", moment) for by in ("class", "object")]
    if graph.objects:
        commands.append(("paths", "--class=**", "--json", "--top=0", moment))
    if any(r.kind == "store" for r in case.world.records):
        commands.append(("locality", "--json", "--top=0"))
    same_of(case, commands, case.trace, case.path("packed.step"))
    records = []
    for trace in (case.trace, case.path("packed.step")):
        case.run("deaths", trace, "-o", case.path("dated.step"))
        records.append(sorted(case.run("dump", "--record=ObjectDeath", case.path("dated.step")).splitlines()))
    case.same("deaths of what is packed", *records)


@check
def pack_of_numbers(case):
    """The rest of the commands."""
    case.run("pack", case.trace, "-o", case.path("packed.step"))
    same_of(case, [("heap", "--json", "--top=0", "--by=class+site"), ("simulate", "--json", "--young=1m", "--mark-compact=1g"), ("nominal", "--json"),
                   ("advise", "--json"), ("sql", "select * from objects order by object"), ("sql", "select * from calls order by call")],
            case.trace, case.path("packed.step"))


class EachSampled(World):
    """The same program as of engine=sampled, with an interval of one byte: each object is in the sample."""

    def lines(self):
        yield "property engine sampled"
        yield "property sample 1"
        yield "property sample-repeats 0"
        yield "property java-vm-version 25.0.1+8-LTS"
        for line in super().lines():
            words = line.split()
            if len(words) > 6 and words[0].isdigit() and words[1] in ("alloc", "at"):
                site = words[8] if words[1] == "at" else 0
                line = f"{words[0]} sampled {' '.join(words[2:7])} 0 {site} 0"
            yield line


@check
def sampled_by_one(case):
    """Estimates of a sample of all objects are what the exact trace has, and so are their bounds."""
    exact = case.world
    if exact.existing or not exact.objects or exact.loaders:
        return False
    world = EachSampled(case.seed)
    case.trace = case.make(world, "each.step")
    found = case.json("stats", "--json", "--top=0", case.trace)
    names = ("allocated", "freed", "live")
    groups = {None: exact.objects, **{exact.class_name(o.kind): [p for p in exact.objects if p.kind == o.kind] for o in exact.objects}}
    rows = {None: found["objects"], **{row["name"]: row for row in found["classes"]}}
    for name, objects in groups.items():
        parts = (objects, [o for o in objects if o.died is not None], [o for o in objects if o.died is None])
        for part, group in zip(names, parts):
            for unit, value in zip(("objects", "bytes"), totals(group)):
                told = rows[name][f"{part}_{unit}"]
                case.near(f"{part} {unit} of {name}", told["estimate"], value, 1e-6)
                if value:
                    case.near(f"low of {part} {unit} of {name}", told["low"], value, 1e-4, 1)
                    if unit == "bytes":  # a number has room for objects that are too small to be in a sample
                        case.near(f"high of {part} {unit} of {name}", told["high"], value, 1e-4, 1)


@check
def joined_slices(case):
    """`stats` of two slices of time adds up to that of the whole, but for what the second frees of the first."""
    world = case.world
    cut = case.chance.randint(world.start, world.end)
    first = case.json("stats", "--json", "--top=0", f"--to-time={cut * 1000}ns", case.trace)
    last = case.json("stats", "--json", "--top=0", f"--from-time={cut * 1000 + 1}ns", case.trace)
    whole = case.json("stats", "--json", "--top=0", case.trace)
    case.same("events", first["events"] + last["events"], whole["events"])
    for name in ("allocated_objects", "allocated_bytes"):
        case.same(name, first["objects"][name] + last["objects"][name], whole["objects"][name])
    # a free is selected with its allocation, so what lives at the cut is freed in neither (docs/selection.md)
    across = sum(o.born <= cut and o.died is not None and o.died > cut for o in world.objects)
    case.same("freed_objects", first["objects"]["freed_objects"] + last["objects"]["freed_objects"] + across, whole["objects"]["freed_objects"])
    # a call that is open at the cut counts in both (docs/selection.md)
    open_calls = sum(call.entry <= cut and (call.leave is None or call.leave > cut) for call in world.calls)
    calls = [sum(row["calls"] for row in part["methods"]) for part in (first, last, whole)]
    case.same("calls", calls[0] + calls[1] - open_calls, calls[2])


@check
def text_and_back(case):
    """What text can hold has the same numbers after it was read back, whatever way it took."""
    ways = {"zip": ("a.zip",), "mtf": ("a.mtf",), "step": ("a.step",), "two": ("a.zip", "b.mtf", "c.zip")}
    at = case.trace
    for name in ways[case.chance.choice(list(ways))]:
        case.run("convert", at, "-o", case.path(f"way-{name}"))
        at = case.path(f"way-{name}")
    case.run("convert", at, "-o", case.path("back.step"))
    found, wanted = (case.json("stats", "--json", "--top=0", trace) for trace in (case.path("back.step"), case.trace))
    case.same("kinds", dict(found["kinds"]), dict(wanted["kinds"]))
    sums = [{(row["name"]): (row["allocated_objects"] + row["existing_objects"], row["freed_objects"]) for row in part["classes"]} for part in (found, wanted)]
    if not case.world.loaders:
        case.same("classes", *({k: v for k, v in part.items() if any(v)} for part in sums))
    case.same("calls", sum(row["calls"] for row in found["methods"]), sum(row["calls"] for row in wanted["methods"]))


@check
def csv_and_text(case):
    """The forms of a table have the same rows: JSON, CSV, where names of two classes have their loaders, and the numbers of the text."""
    axes, moment = case.chance.choice(["class", "class+site", "site", "thread"]), choose_moment(case)
    words = ("heap", "--top=0", "--depth=0", f"--by={axes}", f"--at={moment}", case.trace)
    rows = case.json(*words, "--json")["rows"]
    loaders = collections.defaultdict(set)
    for row in rows if "class" in axes else []:
        loaders[row["class"]].add(row["loader"])

    def shown(row):
        return f"{row['class']} (loader {row['loader']})" if len(loaders[row["class"]]) > 1 else row["class"]

    def of_csv(name):
        bare = re.sub(r" \(loader \d+\)$", "", name)
        return name if len(loaders[bare]) > 1 else bare

    wanted = [(row["objects"], row["bytes"], *([shown(row)] if "class" in axes else []), *([";".join(row["site"])] if "site" in axes else [])) for row in rows]
    found = [(int(row["objects"]), int(row["bytes"]), *([of_csv(row["class"])] if "class" in axes else []), *([row["site"]] if "site" in axes else []))
             for row in csv.DictReader(io.StringIO(case.run(*words, "--csv")))]
    if "site" in axes:  # (no stack) of CSV is no frame
        found, wanted = ([(*row[:-1], "" if row[-1] in ("(no stack)", "") else row[-1]) for row in part] for part in (found, wanted))
    case.same_rows("CSV", found, wanted)
    text = [(int(objects), int(size)) for objects, size in re.findall(r"^ *(\d+) +(\d+) +[\d.]+  ", case.run(*words), re.M)]
    case.same_rows("text", text, [row[:2] for row in wanted])


@check
def csv_of_sql(case):
    query = case.chance.choice(["select * from objects", "select * from frees", "select * from collections", "select * from sites", "select * from calls"])
    rows = case.json("sql", "--json", case.trace, query + " order by 1")
    found = list(csv.reader(io.StringIO(case.run("sql", "--csv", case.trace, query + " order by 1"))))
    wanted = [["" if value is None else str(value) for value in row.values()] for row in rows]
    case.same("rows", found[1:], wanted)
    if rows:
        case.same("columns", found[0], list(rows[0]))
