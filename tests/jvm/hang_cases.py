# SPDX-License-Identifier: Apache-2.0
"""Programs in which a thread would wait for the agent, or the agent for a thread, for good: methods
that the agent's own start runs begin and end traces, a class is being initialized when a trace ends,
threads are suspended inside probes."""
import json
import pathlib
import signal

from drivers import load
from session import Failure, answer, expect_line, finish, shown

ROUNDS = 5
IN_PROBES = "stack=64,internals=none"  # threads that allocate are in probes most of their time


def require(condition, text):
    if not condition:
        raise Failure(text)


def rest_of(process):
    return finish(process, timeout=120)


def errors_of(session):
    return pathlib.Path(session.path("stderr")).read_text(encoding="utf-8", errors="replace")


def triggers_of_the_agent(session):
    """Methods of start= and stop= that the thread enters which arms, begins or ends a trace."""
    for triggers in ("start=**.<init>", "start=java.lang.Thread.<init>,stop=java.lang.Thread.<init>",
                     "start=java.lang.Object.<init>,stop=java.lang.String.<init>",
                     "start=facts.Window.window,stop=java.lang.Thread.<init>"):
        bare = session.run(session.java("Window"))
        traced = session.run(session.java("Window", "", f"file=run.step,events=all,{triggers}"))
        require((bare.returncode, bare.stdout) == (traced.returncode, traced.stdout),
                f"{triggers}: {traced.returncode} {shown(traced.stdout)}{shown(traced.stderr)}")
        if pathlib.Path(session.path("run.step")).exists():  # a method of start= was entered
            session.step("check", "run.step")
            pathlib.Path(session.path("run.step")).unlink()
        require("start=**" not in triggers or b"no trace was made" not in traced.stderr,
                f"{triggers}: no trace: {shown(traced.stderr)}")


def check_initializing(session):
    session.step("check", "run.step")
    table = json.loads(session.step("stats", "--json", "--top=0", "run.step"))
    rows = {row["name"]: row for row in table["classes"]}
    one = rows["facts/Initializing$One"]
    size = 40 if session.version() >= 27 else 48  # there compact headers are the default
    require((one["allocated_objects"], one["allocated_bytes"]) == (1, size), f"the object is {one}")


def initializing(session):
    """A constructor is open, its object unknown, and its class is being initialized by that thread."""
    process = session.start(session.java("Initializing", "", "file=run.step,events=all"))
    try:
        expect_line(process, "waiting")
        process.send_signal(signal.SIGTERM)
        rest_of(process)
    finally:
        process.kill()
    require(process.returncode == 143, f"SIGTERM: {process.returncode} {errors_of(session)}")
    check_initializing(session)
    process = session.start(session.java("Initializing", "-XX:+EnableDynamicAgentLoading",
                                         "file=run.step,events=all"))
    try:
        expect_line(process, "waiting")
        load(session, process.pid, "stop")
        check_initializing(session)
        answer(process)
        require(rest_of(process) == b"true\n", "the program does not go on")
    finally:
        process.kill()


def properties(session):
    return json.loads(session.step("info", "--json", "run.step", codes=(0, 3)))["properties"]


def suspended_once(session):
    """Threads are suspended when the trace is stopped, and when the JVM ends; returns how many of
    them were in probes."""
    process = session.start(session.java("Suspended", "-XX:+EnableDynamicAgentLoading",
                                         "file=run.step,finish=4s," + IN_PROBES))
    try:
        expect_line(process, "busy")
        answer(process)
        expect_line(process, "suspended true")
        load(session, process.pid, "stop")
        session.step("check", "run.step")
        stuck = int(properties(session).get("threads-in-probes", "0"))
        second = f"file=second.step,{IN_PROBES}"
        code = load(session, process.pid, second, may_fail=True)
        require((code != 0) == (stuck != 0), f"{stuck} in probes, a second start ends with {code}")
        if code == 0:
            load(session, process.pid, "stop")
        answer(process)
        expect_line(process, "resumed true")
        load(session, process.pid, second)
        answer(process)
        rest_of(process)
    finally:
        process.kill()
    require(process.returncode == 0, f"it ends with {process.returncode} {errors_of(session)}")
    session.step("check", "second.step")
    return stuck


def suspended_at_end(session):
    process = session.start(session.java("Suspended", "",
                                         "file=run.step,finish=60s," + IN_PROBES))
    try:
        expect_line(process, "busy")
        answer(process)
        expect_line(process, "suspended true")
        process.send_signal(signal.SIGTERM)
        rest_of(process)
    finally:
        process.kill()
    require(process.returncode == 143, f"it ends with {process.returncode} {errors_of(session)}")
    session.step("check", "run.step")
    return int(properties(session).get("threads-in-probes", "0"))


def suspended(session):
    """The trace ends, the program goes on or ends, and says how many threads it did not wait for."""
    for once in (suspended_once, suspended_at_end):
        require(any(once(session) for _ in range(ROUNDS)), "no thread was ever in a probe")


def suspended_reaper_once(session):
    """Returns why the trace is incomplete."""
    run = session.run(session.java("Suspended", "", "file=run.step,finish=2s", ["StepTrace reaper"]))
    require((run.returncode, run.stdout) == (0, b"suspended true\n"), f"{run.returncode} {shown(run.stdout)}{shown(run.stderr)}")
    reason = properties(session).get("incomplete", "")
    session.step("check", "run.step", codes=(3 if reason else 0,))
    require((reason.encode() in run.stderr) == (reason != ""), f"not told: {reason}")
    return reason


def suspended_reaper(session):
    """The thread that finds the dead does not end its search: the JVM ends nevertheless, and the trace says what it lacks."""
    require(any("last search for dead objects was left out" in suspended_reaper_once(session) for _ in range(ROUNDS)),
            "the reaper was never in a search")


TABLE = {function.__name__: function for function in (
    triggers_of_the_agent, initializing, suspended, suspended_reaper)}
