# SPDX-License-Identifier: Apache-2.0
"""Tests of stores of references, of snapshots and of collections after so many bytes."""
import bisect
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "graph"))
from death_oracle import Oracle, date, judged, records, share  # noqa: E402
from elephant_reader import Elephant
from protobuf_reader import tables
from reference_graph import Replay
from session import COLLECTORS, Failure, Skip, answer, expect_line, finish, shown

NODE, NODES, STORES = "Stores$Node", "[Stores$Node", "Stores"

SYSTEM_ROOTS = (22, 27)  # JVMTI's system class, and other: since JDK 26 constants of classes are others
OPTIONS = "file=run.step,events=class+alloc+free+thread+reference,snapshot=start+end"

# What facts/Stores does: where, and what is stored there.
WANTED = (
    # plain()
    f"{NODE}.next {NODE}", f"{NODE}.next null", f"{NODE}.first {NODE}", f"{STORES}.kept {NODE}",
    # arrays()
    f"{NODES}[1] {NODE}", f"{NODES}[2] {NODE}", f"{STORES}.all {NODES}",
    f"{NODES}[3..4] of {NODES}[1..]", f"{NODES}[4..5] of {NODES}[3..]", f"clone {NODES}",
    f"{NODES}[0..3] of {NODES}[0..]", f"{NODES}[0..1] of {NODES}[1..]",
    f"[{NODES}[0] {NODES}", f"[{NODES}[1] {NODES}", f"{NODES}[0] {NODE}", f"clone {NODE}",
    # new Inner()
    f"Stores$Inner.this$0 {STORES}", f"Stores$Inner.mine {NODES}",
    # handles()
    f"{NODE}.value {NODE}", f"{NODE}.value {NODE}", f"{NODE}.value {NODE}", f"{NODE}.value {NODE}",
    f"{NODE}.value {NODE}", f"{NODES}[3] {NODE}", f"{NODE}.value {NODE}", f"{NODE}.value {NODE}",
    f"{NODE}.next {NODE}", f"{NODE}.next {NODE}", f"{NODE}.first {NODE}",
    # saved()
    "Stores$Saved.other Stores$Saved", "Stores$Saved.other Stores$Saved",
)


def require(condition, text):
    if not condition:
        raise Failure(text)


class Listing(Replay):
    """The stores of the program's own objects and classes, as WANTED has them."""

    def __init__(self, program=STORES):
        super().__init__()
        self.program = program
        self.found = []
        self.system_roots = set()

    def _Root(self, r):
        if r["kind"] in SYSTEM_ROOTS:
            self.system_roots.add(r["target"])

    def class_of(self, holder):
        name = self.class_names.get(self.classes.get(holder), "?")
        return name.replace("facts/", "").replace("[L", "[").rstrip(";") if holder else "null"

    def _FieldStore(self, r):
        super()._FieldStore(r)
        field = self._field(r)
        owner = self.class_names.get(field["class"], "?").replace("facts/", "")
        if owner.startswith(self.program) and not field["name"].isupper():
            self.found.append(f"{owner}.{field['name']} {self.class_of(r['target'])}")

    def _ElementStore(self, r):
        super()._ElementStore(r)
        if self.program in self.class_of(r["holder"]):
            self.found.append(
                f"{self.class_of(r['holder'])}[{r['index']}] {self.class_of(r['target'])}")

    def _RangeStore(self, r):
        super()._RangeStore(r)
        if self.program in self.class_of(r["holder"]):
            last = r["index"] + r["length"] - 1
            self.found.append(f"{self.class_of(r['holder'])}[{r['index']}..{last}] of "
                              f"{self.class_of(r['source'])}[{r['source_index']}..]")

    def _CloneStore(self, r):
        super()._CloneStore(r)
        if self.program in self.class_of(r["holder"]):
            self.found.append(f"clone {self.class_of(r['holder'])}")


# The JVM sets it when it loads a class from the archive: no probe and no event tells of that until
# the class is linked, and never of an array's class.
OF_JVM, OF_JVM_MOST = "java/lang/Class.module", 40


def compared(replay, trace):
    """Of all edges, those that no store told of are constants that classes have resolved: in arrays
    that roots of the JVM's own have, and no object; and some modules of classes."""
    require(replay.walks, f"{trace}: no snapshot to compare with")
    for edges, missing, walk in replay.walks:
        held = {target for _, _, target in walk.edges()}
        wrong = [row for row in missing if row[0] in held or row[0] not in replay.system_roots or
                 row[1][0] != "element"]
        of_jvm = [row for row in wrong if replay.name(row[0], row[1]) == OF_JVM]
        wrong = [row for row in wrong if row not in of_jvm]
        require(edges > 1000 and not wrong and len(of_jvm) < OF_JVM_MOST and len(missing) < 200,
                f"{trace}: {edges} edges, not replayed: " +
                ", ".join(f"{replay.name(row[0], row[1])} {row}" for row in wrong[:9]))
    require(replay.graph.unknown == 0, f"{trace}: {replay.graph.unknown} stores of unknown holders")


def references(session):
    """Each store is there, once; replayed, they give the graph that the JVM finds at the end."""
    result = session.run(session.java("Stores", "", OPTIONS))
    require((result.returncode, result.stdout) == (0, b"true\n"), shown(result.stderr))
    listing = Listing().run(session.steptrace, session.path("run.step"))
    require(tuple(listing.found) == WANTED, "\n".join(
        f"{a} | {b}" for a, b in zip(list(WANTED) + [""] * 99, listing.found)))
    compared(listing, "run.step")
    (found,), ((edges, missing, _),) = graph_of(session), listing.walks
    require((found["references"], found["missing"] + found["other"]) == (edges, len(missing)),
            f"check --graph finds {found}, not {edges} and {len(missing)}")
    session.step("convert", "run.step", "-o", "copy.step")
    require(session.step("dump", "--record", "ReferenceStore", "copy.step") ==
            session.step("dump", "--record", "ReferenceStore", "run.step"), "convert loses stores")
    same_exports(session, listing)
    result = session.run(session.java("Stores", "", OPTIONS.replace(",snap", "+method,snap")))
    require((result.returncode, result.stdout) == (0, b"true\n"), shown(result.stderr))
    same_graph(session, "with method events")


def same_exports(session, listing):
    """Elephant Tracks' lines lead to the same references; MMTk's dump has the live objects."""
    stats = json.loads(session.step("stats", "--json", "run.step"))["objects"]
    session.step("convert", "run.step", "-o", "run.et")
    tracks = Elephant(session.path("run.et/trace"))
    living = tracks.living()
    require((len(living) - 1, len(tracks.dead)) == (stats["live_objects"], stats["freed_objects"]),
            f"elephant-tracks: {len(living)} objects live, {len(tracks.dead)} died, not {stats}")
    found = {(holder, place, target) for holder, row in living.items() for place, target in row.items()}
    wanted = {(holder, place[1], target) for holder, place, target in listing.graph.edges()
              if holder in living and target in living}
    # the replay begins at the snapshot: what was stored before it, in objects that it does not reach, it does not have
    more = {row for row in found - wanted if row[0] in listing.graph.objects}
    require(len(wanted) > 1000 and not wanted - found and not more and len(found - wanted) < 200,
            f"elephant-tracks: {len(found)} references, {len(wanted)} wanted: {list(wanted ^ found)[:9]}")
    session.step("convert", "run.step", "-o", "run.binpb", "--at", "end")
    dump = tables(pathlib.Path(session.path("run.binpb")).read_bytes())
    require(len(dump[1]) == stats["live_objects"], f"heapdump: {len(dump[1])} objects, not {stats}")


def graph_of(session):
    """The snapshots of run.step as `check --graph` compares them with the stores."""
    session.step("check", "run.step")
    out = json.loads(session.step("check", "--graph", "--json", "--limit=1000", "run.step"))
    require(out["snapshots"], "no snapshot to compare with")
    return out["snapshots"]


def same_graph(session, what):
    """But for what classes have resolved, and modules, stores and snapshot are one graph."""
    for snapshot in graph_of(session):
        wrong = [place for place in snapshot["places"] if place["missing"] + place["other"] > 0]
        of_jvm = sum(place["missing"] for place in wrong if place.get("field") == OF_JVM)
        require(snapshot["complete"] and snapshot["references"] > 1000 and snapshot["other"] == 0
                and snapshot["missing"] == snapshot["constants"] + of_jvm and of_jvm < OF_JVM_MOST,
                f"{what}: {snapshot['references']} references, not replayed: {wrong[:9]}")


# In fields and elements of: stores by JNI, in the order of native_calls.c.
NATIVE = ("NativeStores$Node.next NativeStores$Node", "NativeStores$Sub.own NativeStores$Node",
          "NativeStores$Node.next null", "NativeStores$Node.first NativeStores$Node",
          "NativeStores$Node.first NativeStores$Node", "[NativeStores$Node[1] NativeStores$Node",
          "[NativeStores$Node[2] null", "[NativeStores$Node[0] NativeStores$Node",
          "[NativeStores$Node[1] NativeStores$Node")


def references_native(session):
    """JNI's functions that store references, and an array that it makes full."""
    result = session.run(session.java("NativeStores", "", OPTIONS))
    require((result.returncode, result.stdout) == (0, b"true\n"), shown(result.stderr))
    same_graph(session, "NativeStores")
    listing = Listing("NativeStores").run(session.steptrace, session.path("run.step"))
    require(tuple(listing.found) == NATIVE, "\n".join(
        f"{a} | {b}" for a, b in zip(list(NATIVE) + [""] * 9, listing.found)))
    info = json.loads(session.step("info", "--json", "run.step"))
    require(info["properties"]["snapshots"] == "2", f"{info['properties']}")


def references_collectors(session):
    """The same graph with each collector of this JDK."""
    for collector in set(COLLECTORS) - {"G1"}:
        session.collector = collector
        if session.run([session.tool("java"), COLLECTORS[collector], "-version"]).returncode != 0:
            continue
        result = session.run(session.java("Stores", "", OPTIONS))
        require((result.returncode, result.stdout) == (0, b"true\n"), shown(result.stderr))
        same_graph(session, collector)


def references_virtual(session):
    """Virtual threads, on their carriers and ended: what they hold and what holds them."""
    if session.version() < 21:
        raise Skip("no virtual threads")
    result = session.run(session.java("VirtualThreads", "", OPTIONS))
    require((result.returncode, result.stdout) == (0, b"some moved: true\n"), shown(result.stderr))
    same_graph(session, "VirtualThreads")


def references_refused(session):
    """What cannot be is said."""
    for options, word in (("events=reference,engine=jvmti", b"engine=bytecode"),
                          ("events=class,snapshot=end", b"snapshot"), ("collect=x", b"collect"),
                          ("snapshot=perhaps", b"perhaps"), ("collect=0,engine=jvmti", b"collect")):
        result = session.run(session.java("Scalars", "", "file=run.step," + options))
        require(result.returncode != 0 and word in result.stderr, f"{options}: {shown(result.stderr)}")


def collections_of(session):
    """How often there were dead, and the bytes allocated after the start of the trace."""
    times, size = set(), 0
    for line in session.step("dump", "--json", "--record", "java.Event", "run.step").splitlines():
        record = json.loads(line)
        if record["$record"] == "java.ObjectFree":
            times.add(record["time"])
        elif record["$record"] == "java.ObjectAlloc":
            size += record["size"]
    return len(times), size


def collect(session):
    """With collect=SIZE the JVM collects that often; with 0 after each object, while it is traced."""
    each = 1 << 16
    result = session.run(session.java("Stores", "", f"file=run.step,collect={each}"))
    require((result.returncode, result.stdout) == (0, b"true\n"), shown(result.stderr))
    session.step("check", "run.step")
    count, size = collections_of(session)
    require(count >= size // each - 1 and count > 2, f"{count} collections for {size} bytes")
    method = "facts/Stores.arrays"
    result = session.run(session.java("Stores", "",
                                      f"file=run.step,start={method},stop={method},collect=0"))
    require((result.returncode, result.stdout) == (0, b"true\n"), shown(result.stderr))
    count, size = collections_of(session)
    require(count >= 5, f"{count} collections found dead, of {size} bytes")


def nodes_at_end(session, options, vm=""):
    """How many nodes the heap has at the end, its line of totals, and what the agent said."""
    result = session.run(session.java("Garbage", vm, f"file=run.step,overwrite=yes,{options}"))
    require((result.returncode, result.stdout) == (0, b"true\n"), shown(result.stderr))
    table = session.step("heap", "--at", "end", "--top", "0", "run.step").decode()
    nodes = re.search(r"^ *(\d+) .* facts[./]Garbage\$Node$", table, re.M)
    return int(nodes[1]), re.search("^live .*", table, re.M)[0], result.stderr.decode()


def end_collected(session):
    """end=collect: the heap at the end has what is reachable, unless the JVM's end would be late for it."""
    for collector in ("Serial", "Parallel", "G1"):
        for engine in ("bytecode", "jvmti"):
            vm = f"-XX:-UseG1GC -XX:+Use{collector}GC"
            nodes, line, said = nodes_at_end(session, f"end=collect,engine={engine}", vm)
            session.step("check", "run.step")
            refuses = session.version() >= 26
            require(nodes == 104_000 and "makes none once it ends" in said if refuses else
                    nodes == 4_000 and line.endswith("as a collection at the end left them"),
                    f"{collector}, {engine}: {nodes} nodes, {line}\n{said}")
    for options, vm, reason in (("end=collect,finish=1ms", "", "finish= sets the limit"),
                                ("end=collect", "-XX:-UseG1GC -XX:+UseZGC", "makes none once it ends")):
        nodes, line, said = nodes_at_end(session, options, vm)
        require(nodes == 104_000 and reason in said and line.endswith("not collected yet"),
                f"{options}: {nodes} nodes, {line}\n{said}")


def snapshots(session):
    """One each on command, by the option, and at the end."""
    process = session.start(session.java("Attached", "-XX:+EnableDynamicAgentLoading",
                                         "file=run.step,snapshot=end+every:1s"))
    try:
        expect_line(process, "attach")
        session.step("attach", "--snapshot", "x", codes=(2,))
        session.step("attach", "--snapshot", f"--agent={session.tracer}", str(process.pid))
        for _ in range(3):
            answer(process)
        finish(process)
    finally:
        process.kill()
    require(process.returncode == 0, f"it ends with {process.returncode}")
    session.step("check", "run.step")
    rows = [json.loads(line) for line in
            session.step("dump", "--json", "--record", "java.Snapshot", "run.step").splitlines()]
    reasons = [row["reason"] for row in rows]
    require(reasons.count("command") == 1 and reasons[-1] == "end", f"{reasons}")
    require([row["number"] for row in rows] == list(range(1, len(rows) + 1)), f"{rows}")
    ends = [json.loads(line) for line in
            session.step("dump", "--json", "--record", "java.SnapshotEnd", "run.step").splitlines()]
    require(len(ends) == len(rows) and all(row["references"] > 1000 and row["roots"] > 10
                                           for row in ends), f"{ends}")


# What facts/Deaths lets go: class, and how many marks there were before.
LET_GO = {"Field": [1], "Below": [1], "Element": [3], "Circle": [5, 5], "Static": [7], "Weak": [9], "Phantom": [9],
          "Local": [11], "Value": [13], "Captured": [15], "OfThread": [16], "Moved": [18], "Copied": [20]}
NOT_EXACT = ("Weak", "Phantom", "Local")


def deaths(session):
    """Each object dies between the calls that it should, and between the collections that it did."""
    steptrace = session.steptrace
    options = "events=class+alloc+free+thread+reference+method,snapshot=start,resolution=1ns,"
    result = session.run(session.java("Deaths", "", f"file=run.step,{options}"
                                      "start=facts/Deaths.run,stop=facts/Deaths.run,collect=0"))
    require((result.returncode, result.stdout) == (0, b"true\n"), shown(result.stderr))
    session.step("check", "run.step")
    trace, dated = session.path("run.step"), session.path("dated.step")
    # as computed, all collections but the last not known
    date(steptrace, trace, dated, session.thinner, 1 << 30)
    oracle = Oracle(steptrace, trace)
    marks = [time for time, method in records(steptrace, trace, "java.MethodEntry", "time", "method")
             if method and method["name"] == "mark"]
    found = {}
    for time, number, how in records(steptrace, dated, "java.ObjectDeath", "time", "object", "how"):
        name = oracle.classes.get(number, "").removeprefix("facts/Deaths$")
        if name in LET_GO:
            low, high = oracle.interval(number, 1)
            found.setdefault(name, []).append(bisect.bisect_left(marks, time))
            require(how == (name in NOT_EXACT) and low <= time <= high, f"{name}: {how}, {low} {time} {high}")
    require(found == LET_GO and len(marks) == 21, f"{len(marks)} marks, {found}")
    # -Xbatch: code is compiled when it is hot, not when a compiler's thread comes to it
    result = session.run(session.java("Deaths", "-Xbatch",
                                      f"file=run.step,{options}include=**,collect=4k"))
    require((result.returncode, result.stdout) == (0, b"true\n"), shown(result.stderr))
    oracle, (found, _) = judged(steptrace, trace, session.thinner, 1 << 30)
    # What the interpreter's frames hold beyond its last use dies "early".
    require(len(oracle.times) > 20 and share(found["exact"] + found["bound"]) > 70
            and not found["exact"]["late"] and not found["bound"]["late"], f"{found}")
    print(f"{share(found['exact'] + found['bound']):.1f} % in their interval, {found}")


TABLE = {"deaths": deaths, "references": references, "references_native": references_native,
         "references_collectors": references_collectors, "references_virtual": references_virtual,
         "references_refused": references_refused, "collect": collect,
         "end_collected": end_collected, "snapshots": snapshots}
