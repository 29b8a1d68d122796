# SPDX-License-Identifier: Apache-2.0
"""docs/escape.md: objects in the source's sense against those that the machine makes, and what the JVM itself counts."""
import json
import os
import pathlib
import re

from session import Failure, shown

ROUNDS = 300000
POINTS, ARRAYS = 2 * ROUNDS, ROUNDS
ARRAY_BYTES = 16 + 64 * 4
EVENTS = "events=class+alloc,stack=4,existing=no"


def require(condition, text):
    if not condition:
        raise Failure(text)


def program(session, vm, agent):
    if session.version() >= 27:  # there compact headers are the default
        vm += " -XX:-UseCompactObjectHeaders"
    result = session.run(session.java("Escapes", f"-Xbatch {vm}", agent, (str(ROUNDS),)))
    require(result.returncode == 0, shown(result.stderr))
    return int(result.stdout)


def compared(session, vm):
    """Objects and bytes by class, (bytecode, jvmti), of the program's own method."""
    for engine in ("bytecode", "jvmti"):
        program(session, vm, f"file={engine}.step,engine={engine},{EVENTS}")
    report = json.loads(session.step("compare", "bytecode.step", "jvmti.step", "--json", "--site", "facts/Escapes.work"))
    rows = {row["class"]: row for row in report["classes"]}
    return rows, report["program"]


def side(row, metric, name):
    return row.get(metric, {}).get(name, 0)


def escape(session):
    """Within 1 % of the thread's bytes in an untraced run; without escape analysis no object differs."""
    counted = program(session, "", None)
    rows, total = compared(session, "")
    source, machine = side(total, "allocated", "before"), side(total, "allocated", "after")
    require(abs(machine - counted) <= 0.01 * counted, f"engine=jvmti: {machine} bytes, the JVM: {counted}")
    require(source == POINTS * 24 + ARRAYS * ARRAY_BYTES, f"engine=bytecode: {source} bytes")
    points = rows["facts/Escapes$Point"]
    require(side(points, "allocated_objects", "before") == POINTS, f"{points}")
    require(side(points, "allocated_objects", "after") < POINTS / 10, f"{points}")
    rows, total = compared(session, "-XX:-DoEscapeAnalysis")
    require("facts/Escapes$Point" not in rows and "[I" not in rows, f"{rows}")
    require(abs(side(total, "allocated", "change")) < 4096, f"{total}")


OWN = 16384  # bytes of the thread for measuring them, at most: 6,608 and 5,664 on 17 and 25
LOG = "-XX:+UnlockDiagnosticVMOptions -XX:+LogCompilation -XX:LogFile="


def joined(session, log):
    return json.loads(session.step("escape", "places.step", "--jit-log", log, "--json", "--top=0"))


def jit_log(session):
    """The log of an untraced run: bytes within 1 % of what the JVM counts; without escape analysis nothing is removed."""
    made = POINTS * 24 + ARRAYS * ARRAY_BYTES
    program(session, "-XX:TieredStopAtLevel=1", f"file=places.step,engine=jvmti,places=bytecode,{EVENTS}")
    counted = program(session, f"{LOG}{session.path('jit.log')}", None)
    report = joined(session, "jit.log")
    rows = [row for row in report["sites"] if row["class"] == "facts/Escapes$Point"]
    require(len(rows) == 2 and all(row["objects"] == ROUNDS and row["removed_at_most"] == ROUNDS and
                                   row["compilations"] == row["removed"] > 0 for row in rows), f"{rows}")
    require(rows[0]["line"] == rows[1]["line"] and rows[0]["bytecode"] != rows[1]["bytecode"], f"{rows}")
    arrays = [row for row in report["sites"] if row["class"] == "[I" and row["objects"] == ARRAYS]
    require(len(arrays) == 1 and arrays[0]["removed_at_most"] == 0, f"{arrays}")
    require(not report["is_lower_bound"] and report["log_is_complete"], f"{report}")
    left = made - sum(row["removed_about"] * 24 for row in rows)
    require(abs(left - counted) <= 0.01 * counted, f"estimate {left}, the JVM: {counted}")
    require(made - POINTS * 24 <= counted <= made + OWN, f"{counted}")
    counted = program(session, f"-XX:-DoEscapeAnalysis {LOG}{session.path('none.log')}", None)
    require(joined(session, "none.log")["removed_at_most"] == 0, "removed without escape analysis")
    require(0 <= counted - made < OWN, f"{counted} bytes, in the source {made}")
    bad_logs(session)


def bad_logs(session):
    """Cut, damaged, no log at all: an answer and exit code 3, or a refusal."""
    def write(name, data):
        with open(session.path(name), "wb") as out:
            out.write(data)
        return name

    def refused(log, code, trace="places.step"):
        session.step("escape", trace, "--jit-log", log, codes=(code,))

    with open(session.path("jit.log"), "rb") as log:
        whole = log.read()
    refused(write("cut.log", whole[:len(whole) * 2 // 3]), 3)
    refused(write("text.log", b"no log\n" * 1000), 3)
    refused(write("empty.log", b""), 3)
    head, end = whole.split(b"\n", 2)[:2], b"</hotspot_log>\n"
    start = b"\n".join(head) + b"\n"
    task = b"<task compile_id='1' method='A m ()V' iicount='99999999999999999999999'>\n"
    removal = b"<eliminate_allocation type='4000000000'>\n<jvms bci='-1' method='5'/>\n"
    hostile = start + b"<parse>" * 300000 + b"\n" + task + b"<klass id='1' name='" + b"x" * 1000000 + b"'/>\n" + \
        removal * 1000 + b"<task_done success='1'/>\n" + b"<jvms\n<task>\n<task_done success='1'/>\n\0\n" + end
    refused(write("hostile.log", hostile), 3)
    os.mkfifo(session.path("fifo.log"))
    refused("fifo.log", 3)
    refused("there_is_none.log", 1)
    program(session, "", f"file=lines.step,engine=jvmti,{EVENTS}")
    refused("jit.log", 3, "lines.step")


# ---- what advise calls scalar, beside what C2 removes ----

REMOVALS = 100000
NOT_INLINED = "-XX:CompileCommand=quiet -XX:CompileCommand=dontinline,facts/Removals.opaque"
STORES = "events=class+alloc+reference,snapshot=start,stack=4"


def run_removals(session, vm, agent):
    result = session.run(session.java("Removals", f"-Xbatch {vm}", agent, (str(REMOVALS),)))
    require(result.returncode == 0, shown(result.stderr))


def known_removals(session):
    """line -> (what advise says, what C2 does), of the comments."""
    source = pathlib.Path(session.sources, "facts", "Removals.java").read_text(encoding="utf-8")
    return {line: match.groups() for line, text in enumerate(source.split("\n"), 1)
            if (match := re.search(r"// ADVICE: (\w+), (\w+)$", text))}


def removals(session):
    """`scalar` is where no reference was ever stored; of these sites, C2 makes only what it cannot see the end of."""
    known = known_removals(session)
    require(len(known) == 8, f"{known}")
    run_removals(session, "", f"file=stores.step,{STORES}")
    advice = json.loads(session.step("advise", "stores.step", "--json", "--top=0", "--least=1k"))
    scalar = {int(re.search(r"Removals\.java:(\d+)\)$", row["site"][0])[1]) for row in advice["advice"]
              if row["advice"] == "scalar" and row["site"][0].startswith("facts/Removals.") and
              row["bytes"] in (16 * REMOVALS, 24 * REMOVALS)}
    require(scalar == {line for line, (word, _) in known.items() if word == "scalar"}, f"scalar: {sorted(scalar)}, planted {known}")
    run_removals(session, "-XX:TieredStopAtLevel=1", f"file=places.step,engine=jvmti,places=bytecode,{EVENTS}")
    run_removals(session, f"{NOT_INLINED} {LOG}{session.path('removals.log')}", None)
    rows = {row["line"]: row for row in joined(session, "removals.log")["sites"] if row["class"].startswith("facts/Removals$")}
    removed = {line for line, row in rows.items() if row["removed_at_most"] == REMOVALS and row["compilations"] == row["removed"]}
    require(set(known) <= set(rows), f"{sorted(rows)}")
    told = {line for line, (_, word) in known.items() if word == "removed" or (word == "either" and line in removed)}
    require(removed == told, f"removed: {sorted(removed)}, planted {known}: {rows}")


TABLE = {"escape": escape, "jit_log": jit_log, "removals": removals}
