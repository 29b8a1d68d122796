# SPDX-License-Identifier: Apache-2.0
"""Attaching gently: loaded classes are changed in slices, and the trace is complete from VM init on."""
import json
import pathlib
import re
import subprocess
import time

import trace_text
from session import Failure, answer, expect_line, finish, shown

THREADS = 4


def require(condition, text):
    if not condition:
        raise Failure(text)


def attach(session, process, name, *words):
    session.step("attach", f"--agent={session.tracer}", "-o", name, "-O", "overwrite=yes",
                 "-O", "events=all,include=facts/**", *words, str(process.pid))


def trace_round(session, process, name, *words):
    """The program makes 5,000 objects in as many calls between its lines."""
    attach(session, process, name, *words)
    answer(process)
    expect_line(process, "stop")
    session.step("attach", "--stop", str(process.pid))
    answer(process)


def dry_run(session, pid):
    """The JVM's own count of its classes, and no agent."""
    said = session.step("attach", "--dry-run", str(pid)).decode()
    counted = session.run([session.tool("jcmd"), str(pid), "VM.metaspace"]).stdout.decode()
    classes = int(re.search(r"^classes +(\d+) loaded", said)[1])
    truth = int(re.search(r"Total Usage - .* loaders, (\d+) classes", counted)[1])
    require(0 <= truth - classes < 100, f"{classes} classes, {truth} a little later")
    require(re.search(r"^pauses +.*, the longest \d+ to \d+ ms", said, re.M), said)
    maps = pathlib.Path(f"/proc/{pid}/maps").read_text()
    require("libtracer" not in maps, "a dry run loads the agent")


def judge(session, name, held, gentle):
    session.step("check", name)
    session.step("convert", name, "-o", name + ".zip")
    trace = trace_text.read_zip(session.path(name + ".zip"))
    require(not trace.breaches, "\n".join(trace.breaches))
    made = {which: trace.allocs[f"facts/Gentle${which}"]
            for which in ("Held", "First", "Second", "Third", "While")}
    require(made["While"] == 5000 and made["Held"] == held, f"{name}: {made}")
    # Each turn makes one First and one Second: fewer of one than of the other would be a class that
    # got its probes later.
    require(made["First"] > 0 and abs(made["First"] - made["Second"]) <= 2 * THREADS,
            f"{name}: {made}")
    properties = json.loads(session.step("info", "--json", name))["properties"]
    said = re.fullmatch(r"(\d+) classes in (\d+) slices, [\d.]+ s", properties.get("gentle", ""))
    require((said is not None) == gentle, f"{name}: gentle: {properties.get('gentle')}")
    if gentle:
        require(int(said[1]) > 300 and int(said[2]) > 4, f"{name}: gentle: {said[0]}")
    require(properties["existing"] == ("yes" if held else "no"), f"{name}: {properties['existing']}")


def attached_gently(session):
    """Three traces of one JVM: gently, gently with what exists, and at once; the program's own
    counts say what is in each."""
    process = session.start(session.java("Gentle", "-XX:+EnableDynamicAgentLoading"))
    try:
        expect_line(process, "attach")
        dry_run(session, process.pid)
        trace_round(session, process, "gentle.step", "--gentle")
        expect_line(process, "attach")
        trace_round(session, process, "held.step", "--gentle", "-O", "existing=yes")
        expect_line(process, "attach")
        trace_round(session, process, "once.step")
        expect_line(process, "end")
        answer(process)
        rest = finish(process)
    finally:
        process.kill()
    require(process.returncode == 0 and b"held 100" in rest, f"the program changed: {shown(rest)}")
    judge(session, "gentle.step", 0, True)
    judge(session, "held.step", 100, True)
    judge(session, "once.step", 100, False)


def ended_in_slices(session):
    """The JVM ends while slices are changed: it ends as without an agent, and leaves no trace or a
    right one."""
    process = session.start(session.java("Gentle", "-XX:+EnableDynamicAgentLoading"))
    try:
        for _ in range(3):
            expect_line(process, "attach")
            answer(process)
            expect_line(process, "stop")
            answer(process)
        expect_line(process, "end")
        attaching = subprocess.Popen([session.steptrace, "attach", f"--agent={session.tracer}",
                                      "--gentle", "-o", "late.step", str(process.pid)],
                                     cwd=session.directory, stderr=subprocess.DEVNULL)
        while not pathlib.Path(session.path("late.step")).exists() and attaching.poll() is None:
            time.sleep(0.001)
        answer(process)
        rest = finish(process)
        attaching.wait(timeout=session.timeout)
    finally:
        process.kill()
    require(process.returncode == 0 and b"held 100" in rest,
            f"it ends with {process.returncode}: {shown(rest)}")
    if pathlib.Path(session.path("late.step")).exists():
        session.step("check", "late.step")


TABLE = {function.__name__: function for function in (attached_gently, ended_in_slices)}
