# SPDX-License-Identifier: Apache-2.0
"""A recording of JDK Flight Recorder, made of a trace: read by the JDK's own API and by its tool `jfr`, with the sums
of `steptrace stats`, `heap` and of collapsed stacks."""
import collections
import json
import pathlib
import re
import struct

from session import Failure, Skip, shown

READER = pathlib.Path(__file__).with_name("JfrSums.java")
HOSTILE = pathlib.Path(__file__).parents[1] / "cli/data/hostile/names.step"


def require(condition, text):
    if not condition:
        raise Failure(text)


def jfr_exports(session):
    if not pathlib.Path(session.tool("jfr")).exists():
        raise Skip("this JDK has no tool jfr")
    result = session.run(session.java("Sites", "-Xmx32m -Xmn1m", "file=run.step,stack=16"))
    require(result.returncode == 0, shown(result.stderr))
    stats = json.loads(session.step("stats", "run.step", "--json", "--top=0"))
    session.step("convert", "run.step", "-o", "run.jfr")
    sums = read(session, "run.jfr")
    check_classes(sums, stats)
    check_threads(sums, stats)
    check_sites(session, sums)
    check_lifetimes(sums, stats)
    check_collections(session, sums, stats)
    check_chunks(session, sums)
    check_views(session)
    check_hostile(session)
    check_calls(session)


def read(session, name):
    """What the JDK's API finds: amounts by kind and name."""
    result = session.run([session.tool("java"), str(READER), session.path(name)])
    require(result.returncode == 0, "the JDK's reader: " + shown(result.stderr))
    sums = collections.defaultdict(dict)
    for line in result.stdout.decode().splitlines():
        kind, key, *amounts = line.split("\t")
        sums[kind][key] = [int(amount) for amount in amounts]
    return sums


def by_name(rows, *keys):
    """Sums of rows by name: classes of several loaders can have one name."""
    found = collections.defaultdict(lambda: [0] * len(keys))
    for row in rows:
        for i, key in enumerate(keys):
            found[row["name"].replace("/", ".")][i] += row[key]
    return {name: amounts for name, amounts in found.items() if any(amounts)}


def check_classes(sums, stats):
    wanted = by_name(stats["classes"], "allocated_bytes")
    require(sums["class"] == wanted, "jfr: bytes by class: "
            f"{set(map(str, sums['class'].items())) ^ set(map(str, wanted.items()))}")
    total = sum(amounts[0] for amounts in sums["class"].values())
    require(total == stats["objects"]["allocated_bytes"], f"jfr: {total} bytes")


def check_threads(sums, stats):
    wanted = collections.Counter()
    for thread in stats["threads"]:
        wanted[thread["name"] if thread["thread"] != 0 else ""] += thread["allocated_bytes"]
    require(collections.Counter({name: amounts[0] for name, amounts in sums["thread"].items()}) == +wanted,
            f"jfr: threads {sums['thread']}, not {wanted}")
    ends = sum(amounts[0] for amounts in sums["jdk.ThreadEnd"].values())
    require(ends == stats["kinds"]["TE"], f"jfr: {ends} ends of threads")
    starts = sum(amounts[0] for amounts in sums["jdk.ThreadStart"].values())
    require(0 < starts <= stats["kinds"]["TB"], f"jfr: {starts} starts of threads")
    require(0 < len(sums["jdk.ClassLoad"]) <= stats["kinds"]["CL"], "jfr: loaded classes")


def check_sites(session, sums):
    """Stacks with lines are those of collapsed stacks."""
    session.step("convert", "run.step", "-o", "all.collapsed", "--allocated", "--at", "end")
    wanted, found = collections.Counter(), collections.Counter()
    for line in pathlib.Path(session.path("all.collapsed")).read_text().splitlines():
        stack, _, weight = line.rpartition(" ")
        *frames, name = stack.replace("/", ".").split(";")
        frames = [] if frames == ["(no stack)"] else frames
        lines = [re.sub(r"\(.*:(\d+)\)$", r":\1", frame) for frame in reversed(frames)]
        wanted[";".join([name, *(re.sub(r"@\d+$", "", place) for place in lines)])] += int(weight)
    for key, (weight,) in sums["site"].items():
        name, *frames = key.replace(":-1", "").split("|")
        found[";".join([name.replace(";", ","), *frames])] += weight  # as collapsed stacks write [Lx;
    require(+found == +wanted, f"jfr: sites: {list((+found - +wanted).items())[:3]}, "
            f"not {list((+wanted - +found).items())[:3]}")


def check_lifetimes(sums, stats):
    wanted = by_name(stats["classes"], "allocated_bytes", "allocated_objects", "freed_bytes", "freed_objects")
    require({name: amounts[:4] for name, amounts in sums["lifetime"].items()} == wanted,
            "jfr: the dead by class")
    lived = sum(amounts[4] for amounts in sums["lifetime"].values())
    life = stats["objects"]["lifetimes"]
    require(abs(lived - life["mean"] * life["count"] / 1000) <= life["count"],  # each to a microsecond
            f"jfr: {lived} us, not {life}")


def check_collections(session, sums, stats):
    objects = stats["objects"]
    require(sums["freed"][""] == [objects["freed_bytes"], objects["freed_objects"]], f"jfr: freed {sums['freed']}")
    after, number = 0, sums["events"]["jdk.GarbageCollection"][0]
    for gc in range(1, number + 1):
        moment = json.loads(session.step("heap", "run.step", "--at", f"gc:{gc}", "--top=1", "--json"))["moment"]
        after += moment["live_bytes"]
    require(sums["heap"] == {"After GC": [after], "Before GC": [after + objects["freed_bytes"]]},
            f"jfr: the heap after {number} collections: {sums['heap']}, not {after}")


def jfr(session, *words):
    result = session.run([session.tool("jfr"), *words])
    require(result.returncode == 0, f"jfr {words[0]}: " + shown(result.stdout + result.stderr))
    return result.stdout.decode()


def starts_of_chunks(data):
    starts, at = [], 0
    while at < len(data):
        magic, size, start = struct.unpack_from(">IxxxxQ16xQ", data, at)
        require(magic == 0x464c5200 and size >= 68, f"jfr: no chunk at {at}")
        starts.append(start)
        at += size
    return starts


def check_chunks(session, sums):
    """Smaller chunks and intervals have the same sums; taken apart and put together, the file is the same."""
    session.step("convert", "run.step", "-o", "chunks.jfr", "--chunk=100k", "--interval=10us")
    again = read(session, "chunks.jfr")
    require(again["events"]["jdk.ObjectAllocationSample"] > sums["events"]["jdk.ObjectAllocationSample"],
            "jfr: --interval changes nothing")
    for part in (*again, *sums):
        require(part == "events" or again[part] == sums[part], f"jfr: another {part} in small chunks")
    chunks = int(re.search(r"Chunks: (\d+)", jfr(session, "summary", "chunks.jfr")).group(1))
    starts = starts_of_chunks(pathlib.Path(session.path("chunks.jfr")).read_bytes())
    require(len(starts) == chunks > 1 and starts == sorted(set(starts)),  # JMC drops chunks of one time
            f"jfr: chunks begin at {starts}")
    parts = pathlib.Path(session.path("parts"))
    parts.mkdir()
    jfr(session, "disassemble", "--max-chunks", "1", "--output", str(parts), "chunks.jfr")
    require(len(list(parts.iterdir())) == chunks, f"jfr: {chunks} chunks")
    jfr(session, "assemble", str(parts), "again.jfr")
    ours, theirs = (pathlib.Path(session.path(name)).read_bytes() for name in ("chunks.jfr", "again.jfr"))
    require(ours == theirs, "jfr: assembled, it is another file")


def check_views(session):
    samples = json.loads(jfr(session, "print", "--json", "--events", "jdk.ObjectAllocationSample", "run.jfr"))
    require(len(samples["recording"]["events"]) > 100, "jfr print: few samples")
    if session.version() < 21:
        return
    text = jfr(session, "view", "allocation-by-class", "run.jfr")
    first = [line for line in text.splitlines() if "%" in line][0]
    require(first.startswith("facts.Sites$Hot "), f"jfr view: {first}")
    require("N/A" in jfr(session, "view", "gc", "run.jfr"), "jfr view gc: a pause that nobody recorded")


def check_hostile(session):
    """Names that obey no rule: `jfr print` takes them apart, and nothing is missing."""
    trace = str(HOSTILE)
    session.step("convert", trace, "-o", "hostile.jfr", codes=(0, 3))
    jfr(session, "print", "--stack-depth", "100", "hostile.jfr")
    objects = json.loads(session.step("stats", trace, "--json", codes=(0, 3)))["objects"]
    found = read(session, "hostile.jfr")["lifetime"].values()
    require([sum(amounts[i] for amounts in found) for i in range(2)] ==
            [objects["allocated_bytes"], objects["allocated_objects"]], f"jfr: hostile names: {found}")


def check_calls(session):
    """Totals of methods, of a trace that counts calls and of one that has them; with --calls an event for each."""
    for options in ("method=count", "resolution=1us"):
        result = session.run(session.java("Sites", "", f"file=calls.step,events=method+class,{options},include=facts/Sites,overwrite=yes"))
        require(result.returncode == 0, shown(result.stderr))
        session.step("convert", "calls.step", "-o", "calls.jfr", "--calls")
        wanted = collections.defaultdict(lambda: [0] * 4)
        for row in json.loads(session.step("stats", "calls.step", "--json", "--top=0"))["methods"]:
            for i, key in enumerate(("calls", "exceptions", "inclusive_ns", "exclusive_ns")):
                wanted[f"{row['class']}.{row['method']}".replace("/", ".")][i] += row[key]
        sums = read(session, "calls.jfr")
        require(len(wanted) > 3 and sums["calls"] == wanted, f"jfr: calls {sums['calls']}, not {dict(wanted)}")
    require({name: amounts[0] for name, amounts in sums["traced"].items()} ==
            {name: amounts[0] for name, amounts in wanted.items()}, f"jfr: traced calls {sums['traced']}")
    if session.version() >= 25:
        for view in "method-calls", "method-timing":
            require("facts.Sites." in jfr(session, "view", view, "calls.jfr"), f"jfr view {view}")
