# SPDX-License-Identifier: Apache-2.0
"""Formats that `steptrace convert` writes, each read by a reader of its own and compared with the program."""
import collections
import csv
import gzip
import json
import re
import struct
import zipfile

import hatf_reader
import heaps
import heaptrack_reader
import native_reader
import otlp_reader
import parquet_reader
from commands import choose_options, words_of
from moments import Moment, peak_of
from protobuf_reader import packed, tables
from registry import check, choose_moment
from selection import Selection
from world import TICK


@check
def lifetimes_csv(case):
    """Numbers of allocations."""
    case.run("convert", case.trace, "-o", case.path("out.lifetimes.csv"))
    with open(case.path("out.lifetimes.csv"), newline="", encoding="utf-8") as file:
        found = [tuple(row.values()) for row in csv.DictReader(file)]
    world = case.world
    births = sorted(world.objects, key=world.birth)
    wanted = [(str(i + 1), "" if o.died is None else str(sum(1 for other in births if other.born <= o.died)), str(o.size), world.class_name(o.kind))
              for i, o in enumerate(births)]
    case.same_rows("objects", found, wanted)


@check
def hatf(case):
    case.run("convert", case.trace, "-o", case.path("out.hatf"), "--attributes=class", *case.chance.choice([[], ["--encoding=best"], ["--encoding=naive"]]))
    records = list(hatf_reader.records(case.path("out.hatf")))
    found = []
    for record in records:
        if record.tag == hatf_reader.ALLOC:
            size, address, thread, _, time, name = record.values
            found.append(("alloc", size, address, thread, time, name.decode()))
        elif record.tag == hatf_reader.FREE:
            found.append(("free", record.values[0], record.values[3]))
    wanted = [("alloc", o.size, o.number, o.thread, o.born * TICK, case.world.class_name(o.kind)) for o in case.world.objects]
    wanted += [("free", o.number, o.died * TICK) for o in case.world.objects if o.died is not None]
    case.same_rows("records", found, wanted)
    threads = [(r.tag, r.values[0]) for r in records if r.tag in (hatf_reader.CREATE_THREAD, hatf_reader.DESTROY_THREAD)]
    case.same_rows("threads", threads, [(hatf_reader.CREATE_THREAD, i + 1) for i in range(len(case.world.threads))] +
                   [(hatf_reader.DESTROY_THREAD, number) for number in case.world.ended])


@check
def text(case):
    """The zipped text has each birth and death, and what is read back gives the same text."""
    case.run("convert", case.trace, "-o", case.path("out.zip"))
    with zipfile.ZipFile(case.path("out.zip")) as archive:
        lines = archive.read("trace").decode().splitlines()
    world = case.world
    wanted = [f"OA:{o.born * TICK}:{world.class_name(o.kind)}:{o.number}" for o in world.objects]
    wanted += [f"OF:{o.died * TICK}:{world.class_name(o.kind)}:{o.number}" for o in world.objects if o.died is not None]
    case.same_rows("lines", [line for line in lines if line[:2] in ("OA", "OF")], wanted)
    case.run("convert", case.path("out.zip"), "-o", case.path("back.step"))
    case.same("text of what was read back", case.run("dump", case.path("back.step")).splitlines(), case.run("dump", case.path("out.zip")).splitlines())


@check
def collapsed(case):
    moment, allocated = choose_moment(case), case.chance.random() < 0.3
    case.run("convert", case.trace, "-o", case.path("out.collapsed"), f"--at={moment}", *["--allocated"] * allocated)
    found = collections.Counter()
    with open(case.path("out.collapsed"), encoding="utf-8") as file:
        for line in file:
            stack, amount = line.rstrip("\n").rsplit(" ", 1)
            found[stack] += int(amount)
    at, wanted = Moment(case.world, moment), collections.Counter()
    for o in at.allocated if allocated else at.living:
        frames = [heaps.frame_text(f) for f in reversed(case.world.derived_stack(o))]
        wanted[";".join(f.replace(";", ",") for f in frames + [case.world.class_name(o.kind)])] += o.size
    case.same("stacks", dict(found), dict(wanted))


def heap_stacks(world, objects):
    """(class, frames from the innermost out) -> objects."""
    found = collections.defaultdict(list)
    for o in objects:
        found[world.class_name(o.kind), tuple(world.derived_stack(o))].append(o)
    return found


def of_moment(case):
    moment, allocated = choose_moment(case), case.chance.random() < 0.3
    at = Moment(case.world, moment)
    return [f"--at={moment}", *["--allocated"] * allocated], at, at.allocated if allocated else at.living


def counts(pairs):
    found = collections.Counter()
    for name, amount in pairs:
        found[name] += amount
    return +found


@check
def speedscope(case):
    words, _, objects = of_moment(case)
    case.run("convert", case.trace, "-o", case.path("out.speedscope.json"), *words)
    with open(case.path("out.speedscope.json"), encoding="utf-8") as file:
        content = json.load(file)
    names = [frame["name"] for frame in content["shared"]["frames"]]
    [profile] = content["profiles"]
    found = counts((tuple(names[i] for i in sample), weight) for sample, weight in zip(profile["samples"], profile["weights"]))
    wanted = counts(((*map(heaps.frame_text, reversed(frames)), name), sum(o.size for o in group))
                    for (name, frames), group in heap_stacks(case.world, objects).items())
    case.same("stacks", found, wanted)
    case.same("end value", profile["endValue"], sum(o.size for o in objects))


@check
def pprof(case):
    moment = choose_moment(case)
    case.run("convert", case.trace, "-o", case.path("out.pb.gz"), f"--at={moment}")
    with gzip.open(case.path("out.pb.gz")) as file:
        top = tables(file.read())
    text = [t.decode() for t in top[6]]
    functions = {t[1][0]: text[t[2][0]] for t in map(tables, top[5])}
    locations = {}
    for location in map(tables, top[4]):
        line = tables(location[4][0])
        locations[location[1][0]] = (functions[line[1][0]], line.get(2, [0])[0])
    found = [collections.Counter() for _ in range(4)]
    for sample in map(tables, top[2]):
        label = tables(sample[3][0])
        stack = tuple(locations[i] for i in (packed(sample[1][0]) if 1 in sample else []))
        for sums, value in zip(found, packed(sample[2][0])):
            sums[text[label[2][0]], stack] += value
    at = Moment(case.world, moment)
    for sums, objects, weight in ((found[0], at.allocated, False), (found[1], at.allocated, True), (found[2], at.living, False), (found[3], at.living, True)):
        case.same("samples", +sums, counts((key, sum(o.size if weight else 1 for o in group)) for key, group in heap_stacks(case.world, objects).items()))
    case.same("types", [[text[v[0]] for v in tables(t).values()] for t in top[1]],
              [["alloc_objects", "count"], ["alloc_space", "bytes"], ["inuse_objects", "count"], ["inuse_space", "bytes"]])


@check
def otlp(case):
    """Lines are not looked at: the reader gives functions."""
    moment = choose_moment(case)
    case.run("convert", case.trace, "-o", case.path("out.otlp"), f"--at={moment}")
    with open(case.path("out.otlp"), "rb") as file:
        found = otlp_reader.amounts(file.read())
    at = Moment(case.world, moment)
    for kind, objects, weight in (("allocated_objects", at.allocated, False), ("allocated_space", at.allocated, True),
                                  ("inuse_objects", at.living, False), ("inuse_space", at.living, True)):
        wanted = counts(((name, *(f for f, _ in reversed(frames))), sum(o.size if weight else 1 for o in group))
                        for (name, frames), group in heap_stacks(case.world, objects).items())
        case.same(kind, +found[kind], wanted)


@check
def callgrind(case):
    """What a class costs, and what is called where: (caller, line, class) -> bytes, objects."""
    words, _, objects = of_moment(case)
    case.run("convert", case.trace, "-o", case.path("out.callgrind"), *words)
    names, own, calls, caller, callee = {}, collections.Counter(), collections.Counter(), None, None
    files, file_names, place = collections.Counter(), {}, None  # of the lines at which classes cost something
    with open(case.path("out.callgrind"), encoding="utf-8") as file:
        for line in file.read().splitlines():
            entry = re.fullmatch(r"(c?fn)=\((\d+)\)(?: (.*))?", line)
            if entry:
                if entry[3] is not None:
                    names[entry[2]] = entry[3]
                caller, callee = (names[entry[2]], None) if entry[1] == "fn" else (caller, names[entry[2]])
            elif line.startswith(("fl=", "fi=", "cfi=")):
                _, number, name = re.fullmatch(r"(c?f[li])=\((\d+)\)(?: (.*))?", line).groups()
                file_names.setdefault(number, name)
                place = place if line.startswith("cfi") else file_names[number]
            elif re.fullmatch(r"\d+ \d+ \d+", line) and caller:
                _, size, number = map(int, line.split())
                if callee is None:
                    own[caller] += size
                    own[caller, "objects"] += number
                    files[place, caller] += size
                else:
                    calls[caller, callee] += size
                callee = None
            elif line.startswith("summary:"):
                case.same("summary", line, f"summary: {sum(o.size for o in objects)} {len(objects)}")
    wanted = counts((name, sum(o.size for o in group)) for (name, _), group in heap_stacks(case.world, objects).items())
    case.same("classes", +collections.Counter({k: v for k, v in own.items() if isinstance(k, str)}), wanted)
    wanted = collections.Counter()
    for (name, frames), group in heap_stacks(case.world, objects).items():
        if frames:
            wanted[frames[0][0], name] += sum(o.size for o in group)
    wanted_files = collections.Counter()  # without source files a class stands for its methods'
    for (name, frames), group in heap_stacks(case.world, objects).items():
        wanted_files[frames[0][0].rsplit(".", 1)[0] if frames else name, name] += sum(o.size for o in group)
    case.same("files", +files, +wanted_files)
    classes = {name for name, _ in case.world.classes}
    found = collections.Counter()
    for (first, second), size in calls.items():
        if second in classes:
            found[first.split("(")[0], second] += size
    case.same("who allocates", +found, +wanted)


@check
def dhat(case):
    case.run("convert", case.trace, "-o", case.path("out.dhat.json"))
    with open(case.path("out.dhat.json"), encoding="utf-8") as file:
        content = json.load(file)
    world, fields = case.world, ("tb", "tbk", "gb", "gbk", "eb", "ebk")
    found, wanted = {}, {}
    for point in content["pps"]:
        row = found.setdefault(tuple(content["ftbl"][i] for i in point["fs"]), [0] * 6)
        for i, name in enumerate(fields):
            row[i] += point[name]
    most, _ = peak_of(world)
    dead = {id(o) for _, is_death, _, o in world.events()[:most] if is_death}
    born = {id(o) for _, is_death, _, o in world.events()[:most] if not is_death}
    lives, found_lives = collections.Counter(), collections.Counter()
    for point in content["pps"]:
        found_lives[content["ftbl"][point["fs"][0]]] += point["tl"]
    for (name, frames), group in heap_stacks(world, world.objects).items():
        row = wanted.setdefault((name, *map(heaps.frame_text, frames)), [0] * 6)
        for i, part in enumerate((group, [o for o in group if id(o) in born and id(o) not in dead], [o for o in group if o.died is None])):
            row[2 * i] += sum(o.size for o in part)
            row[2 * i + 1] += len(part)
        lives[name] += sum((world.end if o.died is None else o.died) - o.born for o in group)
    case.same("points", found, wanted)
    case.same("lifetimes", +found_lives, +lives)


@check
def massif(case):
    case.run("convert", case.trace, "-o", case.path("out.massif"))
    with open(case.path("out.massif"), encoding="utf-8") as file:
        text = file.read()
    sizes = [int(n) for n in re.findall(r"^mem_heap_B=(\d+)$", text, re.M)]
    _, peak = peak_of(case.world), Moment(case.world, "peak")
    case.same("most", max(sizes, default=0), sum(o.size for o in peak.living))
    case.same("last", sizes[-1] if sizes else 0, sum(o.size for o in Moment(case.world, "end").living))


@check
def heaptrack(case):
    """Sums, and those of call stacks; the peak is that of what is selected, which is looked at if all is."""
    options = choose_options(case, ("alive-at",))
    case.run("convert", case.trace, "-o", case.path("out.heaptrack"), "--to=heaptrack", *words_of(options))
    with open(case.path("out.heaptrack"), "rb") as file:
        found = heaptrack_reader.File(file.read())
    objects = Selection(case.world, options).objects()
    case.same("sums", (found.allocations, found.allocated, found.live),
              (len(objects), sum(o.size for o in objects), sum(o.size for o in objects if o.died is None)))
    if not options:
        case.same("peak", found.peak, sum(o.size for o in Moment(case.world, "peak").living))
    stacks, wanted = collections.Counter(), collections.Counter()
    for node, sums in found.by_stack.items():
        stacks[tuple(frame[0] for frame in found.stack(node)[1:])] += sums[1]
    for o in objects:
        wanted[tuple(name for name, _ in case.world.derived_stack(o))] += o.size
    case.same("stacks", +stacks, +wanted)


@check
def hatf_forms(case):
    """The text, packed and split forms of HATF read back are the same records."""
    plain = case.run("convert", case.trace, "-o", "-", "--to=hatf.txt")
    for name, *words in case.chance.sample([("a.hatf.gz",), ("b.hatf.zst",), ("c.hatf.zip",), ("d.hatf.zip", "--split=fields"), ("e.hatf.zip", "--split=address"),
                                            ("f.hatf", "--encoding=best"), ("g.hatf", "--encoding=optimal"), ("h.hatf", "--encoding=stride"), ("i.mtf",),
                                            ("j.hatf", "--encoding=best-base-offset")], 2):
        case.run("convert", case.trace, "-o", case.path(name), *words)
        if name.endswith("mtf"):
            case.same("Meta-TF", case.run("dump", case.path(name)), case.run("dump", case.trace))
        else:
            case.same(name, case.run("convert", case.path(name), "-o", "-", "--to=hatf.txt"), plain)


@check
def hatf_addresses(case):
    """--addresses=bump: the next free place of a heap that is never collected, and 8 bytes its alignment."""
    if case.world.same_tick or case.world.big_sizes:
        return False
    case.run("convert", case.trace, "-o", case.path("out.hatf"), "--addresses=bump")
    records = [r for r in hatf_reader.records(case.path("out.hatf")) if r.tag in (hatf_reader.ALLOC, hatf_reader.FREE)]
    places, at = {}, None
    events = case.world.events()
    case.same("records", len(records), len(events))
    for record, (_, is_death, _, o) in zip(records, events):
        if is_death:
            case.same(f"address of the free of {o.number}", record.values[0], places[o.number])
            continue
        size, address = record.values[:2]
        case.same(f"size and place of {o.number}", (size, address % 8), (o.size, 0))
        if at is not None:
            case.same(f"address of {o.number}", address, at)
        places[o.number], at = address, address + (size + 7) // 8 * 8


@check
def simple_forms(case):
    """memory_replay's text and the paper's binary have each birth and death."""
    case.run("convert", case.trace, "-o", case.path("out.txt"), "--to=memory-replay")
    with open(case.path("out.txt"), encoding="utf-8") as file:
        found = [line for line in file.read().splitlines() if "alloc" in line or "free" in line]
    wanted = [f"{o.thread}: malloc {o.number:#x} {o.size}" for o in case.world.objects] + [f"0: free {o.number:#x}" for o in case.world.objects if o.died is not None]
    case.same_rows("lines", found, wanted)


@check
def chrome_trace(case):
    case.run("convert", case.trace, "-o", case.path("out.trace.json"))
    with open(case.path("out.trace.json"), encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    world = case.world
    begins = [(e["tid"], round(e["ts"] * 1000), e["name"]) for e in events if e["ph"] == "B"]
    case.same_rows("begins", begins, [(c.thread, c.entry * TICK, world.method_path(c.method)) for c in world.calls])
    ends = [(e["tid"], round(e["ts"] * 1000), bool(e.get("args", {}).get("exception"))) for e in events if e["ph"] == "E"]
    closed = [(c.thread, c.leave * TICK, c.exception) for c in world.calls if c.leave is not None]
    case.same_rows("ends", [e for e in ends if e in closed or e[1] != world.end * TICK], closed)
    freed = [(round(e["ts"] * 1000), e["args"]["freed"]) for e in events if e.get("name") == "collection"]
    case.same("collections", freed, [(t * TICK, sum(o.died == t for o in world.objects)) for t in world.collections()])


@check
def speedscope_calls(case):
    if not case.world.calls:
        return False
    case.run("convert", case.trace, "-o", case.path("out.calls.speedscope.json"))
    with open(case.path("out.calls.speedscope.json"), encoding="utf-8") as file:
        content = json.load(file)
    frames = [f["name"] for f in content["shared"]["frames"]]
    found = []
    for profile in content["profiles"]:
        opened = []
        for event in profile["events"]:
            if event["type"] == "O":
                opened.append((frames[event["frame"]], event["at"]))
            else:
                name, at = opened.pop()
                case.same("nesting", frames[event["frame"]], name)
                found.append((profile["name"], name, at, event["at"]))
    wanted = [(f"{c.thread} {case.world.thread_name(c.thread)}", case.world.method_path(c.method), c.entry * TICK,
               (case.world.end if c.leave is None else c.leave) * TICK) for c in case.world.calls]
    case.same_rows("calls", found, wanted)


@check
def lake(case):
    """Parquet and ClickHouse's Native."""
    world = case.world
    wanted = [(o.number, world.class_name(o.kind), o.thread, o.size, o.born * TICK, None if o.died is None else o.died * TICK, o.site or None) for o in world.objects]
    if not wanted:
        return False
    case.run("convert", case.trace, "-o", case.path("out.parquet"), "--to=parquet", "--table=objects")
    case.run("convert", case.trace, "-o", case.path("out.native"), "--to=clickhouse-native", "--table=objects")
    for name, (names, columns) in (("Parquet", parquet_reader.read(case.path("out.parquet"))[:2]), ("Native", native_reader.read(case.path("out.native")))):
        found = [columns[names.index(c)] for c in ("object", "class", "thread", "size", "born", "died", "site")]
        case.same_rows(name, list(zip(*found)), wanted)


@check
def records(case):
    """CSV and JSON lines of records."""
    world = case.world
    case.run("convert", case.trace, "-o", case.path("out.csv"), "--record=ObjectAlloc")
    with open(case.path("out.csv"), newline="", encoding="utf-8") as file:
        found = [(int(r["time"]), json.loads(r["class"])["$id"], int(r["size"]), int(r["object"])) for r in csv.DictReader(file)]
    case.same_rows("csv", found, [(o.born, o.kind, o.size, o.number) for o in world.objects])
    case.run("convert", case.trace, "-o", case.path("out.jsonl"), "--record=ObjectFree")
    with open(case.path("out.jsonl"), encoding="utf-8") as file:
        found = [(r["time"], r["object"]) for r in map(json.loads, file)]
    case.same_rows("jsonl", found, [(o.died, o.number) for o in world.objects if o.died is not None])


@check
def simple_binary(case):
    """Four numbers a record: tag, size, address, 0; and of threads the tag, 0, the thread, 0."""
    case.run("convert", case.trace, "-o", case.path("out.simple.bin"))
    with open(case.path("out.simple.bin"), "rb") as file:
        numbers = [n for n, in struct.iter_unpack(">Q", file.read())]
    found = [tuple(numbers[i:i + 4]) for i in range(0, len(numbers), 4)]
    wanted = [(0, o.size, o.number, 0) for o in case.world.objects] + [(1, 0, o.number, 0) for o in case.world.objects if o.died is not None]
    case.same_rows("records", [r for r in found if r[0] < 2], wanted)


@check
def memory_infra(case):
    """Each entry has the sums of its stack and all below; those without a type and a stack are the whole."""
    moment = choose_moment(case)
    case.run("convert", case.trace, "-o", case.path("out.memory-infra.json"), "--least=0", f"--at={moment}")
    with open(case.path("out.memory-infra.json"), encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    heap = next(e["args"]["dumps"]["heaps"]["java_heap"] for e in events if e["ph"] == "v")
    living = Moment(case.world, moment).living
    by_type = {entry.get("type"): (int(entry["count"], 16), int(entry["size"], 16)) for entry in heap["entries"] if entry["bt"] == ""}
    case.same("all", by_type.pop(None, (0, 0)), (len(living), sum(o.size for o in living)))
    wanted = [(len(group), sum(o.size for o in group)) for group in by_class(living).values()]
    case.same_rows("classes", list(by_type.values()), wanted)


def by_class(objects):
    """Classes of one name from two loaders are two."""
    found = collections.defaultdict(list)
    for o in objects:
        found[o.kind].append(o)
    return found
