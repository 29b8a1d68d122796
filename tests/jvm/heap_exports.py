# SPDX-License-Identifier: Apache-2.0
"""The heap of one real trace in all formats that hold heaps, read by readers of their own: the same
bytes and objects everywhere, and at every node of memory-infra's trees."""
import collections
import csv
import gzip
import json
import os
import pathlib
import shutil
import subprocess

import valgrind_exports
from otlp_reader import amounts
from protobuf_reader import fields, packed
from session import Failure, shown

PACKAGES = ("lighthouse@1.6.5", "gl-matrix@2.3.2")


def require(condition, text):
    if not condition:
        raise Failure(text)


def heap_exports(session):
    result = session.run(session.java("Sites", "-Xmx32m -Xmn1m", "file=run.step,stack=16"))
    require(result.returncode == 0, shown(result.stderr))
    rows = json.loads(session.step("heap", "run.step", "--at", "peak", "--by", "class+site", "--top",
                                   "0", "--json"))
    moment = rows["moment"]
    total = (moment["live_objects"], moment["live_bytes"])
    require(total == (sum(row["objects"] for row in rows["rows"]),
                      sum(row["bytes"] for row in rows["rows"])), "the rows do not add up")
    check_collapsed(session, rows)
    check_speedscope(session, rows)
    check_pprof(session, rows)
    check_otlp(session, rows)
    valgrind_exports.check(session, rows)
    check_memory_infra(session, total, rows)
    check_chrome_trace(session, total)
    check_lifetimes(session)
    check_series(session)
    check_viewer(session, total)


def export(session, name, *options):
    session.step("convert", "run.step", "-o", name, *options)
    return session.path(name)


def sums(rows):
    """Bytes by stack, outermost frame first, and class."""
    found = collections.Counter()
    for row in rows["rows"]:
        found[(*reversed(row["site"]), row["class"])] += row["bytes"]
    return found


def same(what, ours, theirs):
    if ours != theirs:
        key = next(iter((ours - theirs) or (theirs - ours)))
        raise Failure(f"{what}: {theirs[key]} bytes, not {ours[key]}, of {key}")


def check_collapsed(session, rows):
    found = collections.Counter()
    for line in pathlib.Path(export(session, "run.collapsed")).read_text().splitlines():
        stack, _, weight = line.rpartition(" ")
        found[tuple(stack.split(";"))] += int(weight)
    wanted = collections.Counter()
    for key, count in sums(rows).items():
        wanted[tuple(frame.replace(";", ",") for frame in key)] += count
    same("collapsed", wanted, found)


def check_speedscope(session, rows):
    document = json.loads(pathlib.Path(export(session, "run.speedscope.json")).read_text())
    names = [frame["name"] for frame in document["shared"]["frames"]]
    profile, found = document["profiles"][0], collections.Counter()
    for sample, weight in zip(profile["samples"], profile["weights"], strict=True):
        found[tuple(names[frame] for frame in sample)] += weight
    require(profile["endValue"] == sum(profile["weights"]), "speedscope: a wrong end")
    same("speedscope", sums(rows), found)


def check_chrome_trace(session, total):
    """The counter of live bytes: its highest step is the peak."""
    events = json.loads(pathlib.Path(export(session, "run.trace.json")).read_text())["traceEvents"]
    counts = [event for event in events if event["ph"] == "C"]
    require(counts and max(event["args"]["bytes"] for event in counts) == total[1],
            "chrome-trace: the counter's peak")
    times = [event["ts"] for event in counts]
    require(times == sorted(times) and len(set(times)) == len(times), "chrome-trace: the counter's times")


def check_lifetimes(session):
    """Each object has a line; of those that died, as many and as large as SQL counts."""
    with open(export(session, "run.lifetimes.csv"), newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    require([int(row["alloc_seq"]) for row in rows] == list(range(1, len(rows) + 1)), "lifetimes: numbers")
    require(all(int(row["free_at_seq"] or len(rows)) >= int(row["alloc_seq"]) for row in rows),
            "lifetimes: a death before its birth")
    dead = [int(row["size"]) for row in rows if row["free_at_seq"]]
    ours = session.step("sql", "run.step", "--csv", "select count(*), sum(size), count(died), "
                        "sum(case when died is not null then size end) from objects").decode().splitlines()[1]
    require(ours == f"{len(rows)},{sum(int(row['size']) for row in rows)},{len(dead)},{sum(dead)}",
            f"lifetimes: SQL counts {ours}")


def check_pprof(session, rows):
    path = export(session, "run.pb.gz")
    top = collections.defaultdict(list)
    for number, value in fields(gzip.decompress(pathlib.Path(path).read_bytes())):
        top[number].append(value)
    strings = [text.decode() for text in top[6]]
    require(strings[0] == "", "pprof: string 0 is not empty")
    types = [[strings[value] for _, value in fields(message)] for message in top[1]]
    require(types == [["alloc_objects", "count"], ["alloc_space", "bytes"],
                      ["inuse_objects", "count"], ["inuse_space", "bytes"]], f"pprof: {types}")
    functions = {}
    for message in top[5]:
        parts = dict(fields(message))
        functions[parts[1]] = strings[parts[2]], strings[parts.get(4, 0)].rpartition("/")[2]
    places = {}
    for message in top[4]:
        parts = dict(fields(message))
        line = dict(fields(parts[4]))
        name, file = functions[line[1]]
        place = f":{line[2]}" if line.get(2) else ""
        places[parts[1]] = name + (f"({file}{place})" if file and place else place)
    found = collections.Counter()
    for message in top[2]:
        parts = dict(fields(message))
        label = dict(fields(parts[3]))
        require(strings[label[1]] == "class", "pprof: no class")
        stack = [places[location] for location in packed(parts.get(1, b""))]
        found[(*reversed(stack), strings[label[2]])] += packed(parts[2])[3]
    wanted = collections.Counter()
    for key, count in sums(rows).items():
        wanted[tuple(frame.rpartition("@")[0] if "@" in frame else frame for frame in key)] += count
    same("pprof", wanted, found)
    check_with_tools(session, path)


def check_otlp(session, rows):
    """The same rows as `heap`, of which OpenTelemetry's frames have the method only."""
    found = amounts(pathlib.Path(export(session, "run.otlp")).read_bytes())
    wanted = collections.Counter()
    for row in rows["rows"]:
        wanted[(row["class"], *(frame.partition("(")[0].partition("@")[0] for frame in reversed(row["site"])))] += row["bytes"]
    same("otlp", wanted, +found["inuse_space"])
    stats = json.loads(session.step("stats", "--json", "run.step"))["objects"]
    whole = amounts(pathlib.Path(export(session, "run.otlp", "--at", "end")).read_bytes())
    require(sum(whole["allocated_space"].values()) == stats["allocated_bytes"], "otlp: bytes")
    require(sum(whole["allocated_objects"].values()) == stats["allocated_objects"], "otlp: objects")


def check_with_tools(session, path):
    """protoc and Go's pprof, where they are installed."""
    raw = gzip.decompress(pathlib.Path(path).read_bytes())
    if shutil.which("protoc"):
        result = subprocess.run(["protoc", "--decode_raw"], input=raw, capture_output=True,
                                check=False)
        require(result.returncode == 0 and result.stdout.count(b"\n2 {") > 100,
                "protoc: " + shown(result.stderr))
    if shutil.which("go"):
        result = session.run(["go", "tool", "pprof", "-sample_index=alloc_objects", "-top",
                              "-nodecount=3", path],
                             env={**os.environ, "HOME": str(session.directory)})
        require(result.returncode == 0 and b"facts/Sites.hot" in result.stdout,
                "go tool pprof: " + shown(result.stdout + result.stderr))


def check_memory_infra(session, total, rows):
    """Nothing is cut: at each backtrace the children, and the types, add up to it."""
    document = json.loads(pathlib.Path(
        export(session, "run.memory-infra.json", "--least", "0")).read_text())
    events = {event["name"]: event["args"] for event in document["traceEvents"]}
    frames, types = events["stackFrames"]["stackFrames"], events["typeNames"]["typeNames"]
    entries = events["periodic_interval"]["dumps"]["heaps"]["java_heap"]["entries"]
    size = {(entry["bt"], entry.get("type")): int(entry["size"], 16) for entry in entries}
    require(len(size) == len(entries), "memory-infra: an entry stands twice")
    require((int(entries[0]["count"], 16), size["", None]) == total, "memory-infra: the total")
    below, by_type = collections.Counter(), collections.Counter()
    for (backtrace, kind), count in size.items():
        if kind is not None:
            require(kind in types, f"memory-infra: no type {kind}")
            by_type[backtrace] += count
        elif backtrace:
            below[frames[backtrace].get("parent", "")] += count
    for (backtrace, kind), count in size.items():
        if kind is None:
            require(by_type[backtrace] == count, f"memory-infra: the types of {backtrace}")
            require(below[backtrace] in (0, count), f"memory-infra: what {backtrace} calls")
    again = json.loads(session.step("heap", "run.memory-infra.json", "--by", "class+site", "--top",
                                    "0", "--json"))
    same("memory-infra, read again", sums(rows), sums(again))
    export(session, "v2.memory-infra.json", "--v2")
    again = json.loads(session.step("heap", "v2.memory-infra.json", "--by", "class", "--top", "0",
                                    "--json"))
    require((again["moment"]["live_objects"], again["moment"]["live_bytes"]) == total,
            "heaps_v2: the total")


def check_series(session):
    """A dump after each collection, and the last at the end."""
    document = json.loads(pathlib.Path(
        export(session, "gc.memory-infra.json", "--every", "gc")).read_text())
    dumps = [event for event in document["traceEvents"] if event["ph"] == "v"]
    for number, dump in enumerate(dumps, 1):
        at = f"gc:{number}" if number < len(dumps) else "end"
        table = json.loads(session.step("heap", "run.step", "--at", at, "--json"))
        entries = dump["args"]["dumps"]["heaps"]["java_heap"]["entries"]
        require(int(entries[0]["size"], 16) == table["moment"]["live_bytes"],
                f"memory-infra at {at}: {entries[0]}")
    require(len(dumps) >= 2, "no series")


def node_modules():
    """The viewer's importer, fetched once through npm; None, and why, where it cannot be had."""
    if not shutil.which("npm") or not shutil.which("node"):
        return None, "no npm"
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"))
    place = cache / "steptrace-tests" / "viewer-1.6.5"
    if (place / "done").exists():
        return place, ""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for package in PACKAGES:
        name = package.split("@")[0]
        try:
            subprocess.run(["npm", "pack", "--silent", package], cwd=place, timeout=60,
                           capture_output=True, check=True)
            (place / name).mkdir()
            archive = next(place.glob(f"{name}-*.tgz"))
            subprocess.run(["tar", "xzf", archive, "-C", place / name, "--strip-components=1"],
                           check=True)
        except (subprocess.SubprocessError, StopIteration, OSError) as error:
            return None, f"npm pack {package}: {error}"
    (place / "done").touch()
    return place, ""


def check_viewer(session, total):
    """Chromium's own importer: no warning, our totals, and sums at every node."""
    modules, reason = node_modules()
    if modules is None:
        print(f"without Chromium's importer: {reason}")
        return
    script = pathlib.Path(__file__).with_name("viewer.js")
    for name, count in (("run.memory-infra.json", 1), ("gc.memory-infra.json", 2)):
        result = session.run(["node", str(script), str(modules), session.path(name)])
        require(result.returncode == 0, "viewer: " + shown(result.stderr))
        seen = json.loads(result.stdout)
        require(not seen["warnings"], f"viewer: {seen['warnings'][:3]}")
        require(len(seen["dumps"]) >= count, f"viewer: {len(seen['dumps'])} dumps")
        for dump in seen["dumps"]:
            require(dump["allocator"] == dump["total"], "viewer: the allocator's size")
            for node in dump["nodes"]:
                exact = node["children"] in (0, node["size"]) and node["types"] == node["size"]
                least = node["children"] <= node["size"] and node["types"] <= node["size"]
                require(exact if count == 1 else least, f"viewer: {name}: {node}")
        if count == 1:
            require((seen["dumps"][0]["count"], seen["dumps"][0]["total"]) == total,
                    "viewer: another total")
