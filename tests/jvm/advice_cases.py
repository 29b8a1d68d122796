# SPDX-License-Identifier: Apache-2.0
"""What `steptrace advise` finds in a program with planted patterns, and what `lifetimes` says of its sites."""
import json
import pathlib
import re

from session import Failure, shown

OPTIONS = "file=run.step,events=class+alloc+free+reference,snapshot=start,stack=8,collect=8k,layout=yes"
SERIAL = "-XX:+UseSerialGC -Xms256m -Xmx256m -Xmn160m"  # no collections but the agent's
YOUNG = "--young=500k"  # of 2.5 MiB
PROGRAM = "facts/Planted."


# Of the collections that grow: the lengths of the arrays that are replaced, and what is used of the last ones.
LENGTHS = {"facts/Planted$Row": (8, 16, 32, 64, 128), "facts/Planted$Slots": (8, 16, 32, 64),
           "java/util/ArrayList": (10, 15, 22, 33, 49, 73)}
ELEMENTS = ("last_arrays", "capacity", "used", "used_most", "last_primitive_arrays", "primitive_capacity", "is_capacity_exact")
USED = {"facts/Planted$Row": [0, 0, 0, 0, 200, 200 * 256, True],
        "facts/Planted$Slots": [200, 200 * 128, 200 * 70, 200 * 100, 0, 0, True],
        "java/util/ArrayList": [200, 200 * 109, 200 * 100, 200 * 100, 0, 0, True]}


def require(condition, text):
    if not condition:
        raise Failure(text)


def planted(session):
    """The lines with a comment that says what is found there."""
    source = pathlib.Path(session.sources, "facts", "Planted.java").read_text(encoding="utf-8")
    return {(match.group(1), line) for line, text in enumerate(source.split("\n"), 1)
            if (match := re.search(r"// ADVICE: (\w+)$", text))}


def line_of(row):
    return int(re.search(r"Planted\.java:(\d+)\)$", row["site"][0]).group(1))


def own_rows(rows):
    return [row for row in rows if row["site"] and row["site"][0].startswith(PROGRAM)]


def found(session, trace, *options, unknown=()):
    answer = json.loads(session.step("advise", "--json", "--top=0", trace, *options))
    require(answer["unknown"] == list(unknown), f"{trace}: unknown: {answer['unknown']}")
    rows = own_rows(answer["advice"])
    require(not any(row["is_estimate"] for row in rows), f"{trace}: estimates: {rows}")
    return {(row["advice"], line_of(row)): row for row in rows}


def check_bytes(rows, trace):
    """What the program's own numbers say: arrays of 100 and 500 longs, points, collections of a known growth."""
    stake = {advice: row["bytes"] for (advice, _), row in sorted(rows.items(), reverse=True) if advice != "presize"}
    require(stake["pretenure"] == 400 * (16 + 800), f"{trace}: {stake}")
    require(stake["duplicate"] == 39 * (16 + 4000), f"{trace}: {stake}")
    require(stake["scalar"] == 5000 * 24, f"{trace}: {stake}")
    require(stake["reuse"] == sum(16 + 4000 + 16 * (i % 7) for i in range(56)), f"{trace}: {stake}")
    grown = {row["class"]: row for (advice, _), row in rows.items() if advice == "presize"}
    for name, lengths in LENGTHS.items():
        stake, wanted = grown[name]["bytes"], 200 * sum(-(-(16 + 4 * length) // 8 * 8) for length in lengths)
        require(stake == wanted, f"{trace}: {name}: {stake}, not {wanted}")
        used = [grown[name]["evidence"][key] for key in ELEMENTS]
        require(used == USED[name], f"{trace}: {name}: {used}, not {USED[name]}")


def check_lifetimes(session, trace, is_exact):
    """An array of again() lives while nothing else is allocated; those of buffers() for four births."""
    answer = json.loads(session.step("lifetimes", "--json", "--top=0", trace))
    rows = {(row["class"], row["objects"]): row for row in own_rows(answer["sites"])}
    again, buffers = rows["[J", 40], rows["[B", 60]
    require(again["dead_objects"] == 40 and buffers["dead_objects"] == 56, f"{trace}: {again} {buffers}")
    require(again["lifetime_bytes"]["most"] <= 4016 + (0 if is_exact else 10100), f"{trace}: {again}")
    most = 5 * 4112 if is_exact else 8 * 4112
    require(4 * 4016 <= buffers["lifetime_bytes"]["p50"] <= 1.016 * most, f"{trace}: {buffers}")
    wanted = "exact" if is_exact else "upper_bound"
    require((again["lifetimes"], buffers["lifetimes"]) == (wanted, wanted), f"{trace}: {again} {buffers}")


def check_tables(session, trace):
    """The table has the advice that the verb gives with its defaults; the sums of all sites are those of all objects."""
    own = json.loads(session.step("sql", "--json", trace, "select a.advice, a.bytes, s.line from advice a join sites s on "
                                  "s.site = a.site where s.method like 'facts/Planted.%'"))
    wanted = sorted((word, line, row["bytes"]) for (word, line), row in found(session, trace).items())
    found_there = sorted((row["advice"], row["line"], row["bytes"]) for row in own)
    require(found_there == wanted, f"{trace}: the table has {found_there}, advise {wanted}")
    sums = json.loads(session.step("sql", "--json", trace, "select sum(objects) as objects, sum(bytes) as bytes, sum(dead_objects) as dead "
                                   "from lifetimes"))
    objects = json.loads(session.step("sql", "--json", trace, "select count(*) as objects, sum(size) as bytes, sum(alive = 0) as dead "
                                      "from objects where existing = 0"))
    require(sums == objects, f"{trace}: {sums}, not {objects}")


def advice(session):
    """Each pattern is found at its line and nothing else is, with deaths that collections found and with exact ones."""
    command = session.java("Planted", "", OPTIONS)
    serial = [word for word in command if not (word.startswith("-XX:+Use") and word.endswith("GC"))]
    serial[1:1] = SERIAL.split()
    result = session.run(serial)
    require((result.returncode, result.stdout) == (0, b"true\n"), shown(result.stderr))
    session.step("deaths", "run.step", "-o", "exact.step")
    wanted = planted(session)
    require(len(wanted) == 8, f"planted: {wanted}")
    for trace in ("run.step", "exact.step"):
        rows = found(session, trace, YOUNG)
        require(set(rows) == wanted, f"{trace}: found {sorted(rows)}, planted {sorted(wanted)}")
        check_bytes(rows, trace)
        check_lifetimes(session, trace, trace == "exact.step")
        check_tables(session, trace)
    rare = found(session, "exact.step", "--young=1g", unknown=("pretenure",))
    require(set(rare) == {row for row in wanted if row[0] != "pretenure"}, f"--young=1g: found {sorted(rare)}")


TABLE = {"advice": advice}
