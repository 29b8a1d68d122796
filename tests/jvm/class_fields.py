# SPDX-License-Identifier: Apache-2.0
"""What only fields of java.lang.Class objects hold, in snapshots, sums and heap dumps."""
import json

from hprof_reader import Dump
from session import Failure, shown

HELD = {"facts/ClassValues$Held": "java/lang/Class.classValueMap",
        "facts/ClassValues$HeldByPrimitive": "java/lang/Class.classValueMap",
        "facts/ClassValues$Colour": None}
SETS = [("class+alloc+free+thread+reference", snapshot) for snapshot in ("start", "start+end", "end")]
SETS.append(("class+alloc+free+thread", "end"))


def require(condition, text):
    if not condition:
        raise Failure(text)


def asked(session, *words):
    return json.loads(session.step(*words, "--json", "run.step"))


def paths_are_found(session, what, mirrors):
    """`mirrors`: all classes are objects of the trace, so that their fields are steps."""
    for name, step in HELD.items():
        out = asked(session, "paths", "--top=0", "--class", name)
        require(out["objects"] >= 2 and out["unreached_objects"] == 0, f"{what}: {name}: {out}")
        ways = [path["path"] for path in out["paths"]]
        require(step is None or all(step in way for way in ways) or not mirrors, f"{what}: {name}: {ways}")
        require(all("JNI local" not in way[0] for way in ways), f"{what}: {name}: {ways}")


def sums_are_whole(session, what):
    """What is reached and what is not is what lives, as another verb counts it."""
    for by in "class", "site", "object":
        out = asked(session, "heap", "--retained", "--at", "end", "--by", by, "--top=0")
        live = asked(session, "heap", "--at", f'{out["moment"]["time_ns"]}ns')["moment"]
        require(out["objects"] + out["unreached_objects"] == live["live_objects"] and
                out["bytes"] + out["unreached_bytes"] == live["live_bytes"],
                f"{what}, by {by}: {out['objects']} + {out['unreached_objects']}, live {live}")
        require(sum(row["objects"] for row in out["rows"]) == out["objects"], f"{what}, by {by}")
        require(by != "object" or all(row["object"] for row in out["rows"]), f"{what}: object 0")


def no_lock(session, what):
    """HotSpot's initialisation locks in Class.componentType are no values of that field."""
    for record in ("java.FieldStore", "java.FieldReference"):
        for line in session.step("dump", "--json", "--record", record, "run.step").splitlines():
            row = json.loads(line)
            field = row["field"]
            if field and field["name"] == "componentType" and row["target"] in session.int_arrays:
                raise Failure(f"{what}: {line}")


def dump_has_them(session, what):
    session.step("convert", "run.step", "-o", "run.hprof")
    dump = Dump(session.path("run.hprof"))
    maps = [values["classValueMap"] for of, values in dump.instances.values()
            if dump.class_names[of] == "java/lang/Class" and values.get("classValueMap")]
    require(len(maps) >= 2 and all(number in dump.instances for number in maps),
            f"{what}: the heap dump has {len(maps)} ClassValue maps")


def class_values(session):
    """200 objects in a ClassValue of a class, 200 in one of long.class, with each snapshot."""
    for events, snapshot in SETS:
        what = f"{events}, snapshot={snapshot}"
        result = session.run(session.java("ClassValues", "",
                                          f"file=run.step,events={events},snapshot={snapshot}"))
        require((result.returncode, result.stdout) == (0, b"true\n"), shown(result.stderr))
        session.step("check", "run.step")
        rows = json.loads(session.step("sql", "run.step", "--json",
                                       "select object from objects where class = '[I'"))
        session.int_arrays = {row["object"] for row in rows}
        paths_are_found(session, what, "reference" in events)
        sums_are_whole(session, what)
        no_lock(session, what)
        if "reference" in events:
            dump_has_them(session, what)


TABLE = {"class_values": class_values}
