# SPDX-License-Identifier: Apache-2.0
"""engine=sampled: exact windows that begin when a method is entered, windows of a sample without rotate=, and
what is asked at the wrong time."""
import json
import os
import pathlib
import time

from drivers import load
from sampled_cases import require, weak_references
from sampled_sets import await_begin
from session import COLLECTORS, Failure, Skip, answer, expect_line, finish, shown

INSIDE, OUTSIDE = 10_000, 20_000  # a round, as SampledStart.java makes them
CALL = "facts.SampledStart.request"
NEVER = "facts.SampledStart.never"


def attach(session, process, *words, code=0):
    os.environ["STEPTRACE_AGENT"] = session.tracer
    result = session.run([session.steptrace, "attach", *words, str(process.pid)])
    require(result.returncode == code, f"attach {words} ends with {result.returncode}: {shown(result.stderr)}")
    return (result.stdout + result.stderr).decode()


def errors(session):
    return pathlib.Path(session.path("stderr")).read_text(encoding="utf-8")


def await_true(condition, text):
    for _ in range(1_200):
        if condition():
            return
        time.sleep(0.05)
    raise Failure(text)


def await_status(session, process, *texts):
    def has_all():
        result = session.run([session.steptrace, "attach", "--status", str(process.pid)])
        return all(text in result.stdout.decode() for text in texts)
    await_true(has_all, f"the status never has {texts}: {errors(session)}")


def start(session, rounds, agent, vm=""):
    directory = pathlib.Path(session.path("ring"))
    directory.mkdir(exist_ok=True)
    for path in directory.iterdir():
        path.unlink()
    process = session.start(session.java("SampledStart", vm + " -XX:+EnableDynamicAgentLoading", agent, [str(rounds)]))
    expect_line(process, "begin")
    return process


def next_round(process):
    """Microseconds until the method ran, and in it."""
    answer(process)
    times = None
    for raw in process.stdout:
        words = raw.decode().split()
        if words[:1] == ["us"]:
            times = int(words[1]), int(words[2])
        if words == ["round"]:
            return times
    raise Failure("the program has ended")


def call_in_window(session, process):
    """A round whose call begins a window. The agent lets it go on after 10 s, and says so."""
    times = next_round(process)
    if "not delayed any longer" in errors(session):
        process.kill()
        raise Skip("the machine is so busy that the call did not wait for its window")
    return times


def end(session, process, code=0):
    try:
        answer(process)
        finish(process)
    finally:
        process.kill()
    require(process.returncode == code, f"it ends with {process.returncode}: {errors(session)}")


def classes(session, name):
    rows = json.loads(session.step("stats", "--json", "--top=0", name))["classes"]
    return {row["name"].removeprefix("facts/SampledStart$"): row for row in rows}


def properties(session, name):
    return json.loads(session.step("info", "--json", name))["properties"]


def numbered(number):
    return f"ring/run.{number:06}.step"


def judge_call(session, number):
    """The file of one call has all of its objects, and none of outside."""
    rows, found = classes(session, numbered(number)), properties(session, numbered(number))
    require(rows["Inside"]["allocated_objects"] == INSIDE and "Outside" not in rows, f"file {number}: {rows}")
    require(found["window"] == "exact" and 0 < int(found["start-wait-ns"]) < 10_000_000_000, f"{found}")
    return int(found["start-wait-ns"])


def judge_sum(row, truth):
    """Within 5.5 standard deviations and 2 %: with this interval, the JVM's own error is 1 %, without windows, too."""
    told = row["allocated_objects"]
    room = 5.5 / 1.96 * max(told["high"] - told["estimate"], told["estimate"] - told["low"]) + truth / 50
    print(f"{row['name']}: {told}, {truth} in truth")
    require(abs(told["estimate"] - truth) <= room, f"{row['name']}: {told}, not {truth}")


def judge_all(session, name, exact, rounds=0):
    """All files as one: the objects of windows are exact. `rounds`: and the sums of all rounds, if none was made
    while a file changed."""
    rows = classes(session, name)
    if rounds:
        judge_sum(rows["Outside"], rounds * OUTSIDE)
        judge_sum(rows["Inside"], rounds * INSIDE)
    require(rows["Inside"]["allocated_objects"]["low"] >= exact * INSIDE, f"{rows['Inside']}")
    require(properties(session, name)["file-set-windows"] == str(exact), f"{properties(session, name)}")
    session.step("check", name)


def window_of_call(session, collector):
    """A window waits through a change of files, is asked for anew, and begins and ends with the call."""
    session.collector = collector
    process = start(session, 4, "file=ring/run.step,engine=sampled,sample=64,rotate=1s,keep=1000")
    try:
        next_round(process)
        attach(session, process, "--window=60min", "-O", f"start={NEVER}")
        await_status(session, process, "sampled", f"waits for start={NEVER}")
        told = attach(session, process, "--window=60min", "-O", f"start={CALL},stop={CALL}")
        require("when a method of start= is entered" in told, told)
        require("no method of start= was entered" in errors(session), errors(session))
        require(load(session, process.pid, "start,file=other.step", may_fail=True) != 0, "a trace beside it")
        load(session, process.pid, "status")
        require("an exact window waits" in errors(session), errors(session))
        files = len(list(pathlib.Path(session.path("ring")).glob("*.step")))
        await_true(lambda: os.path.exists(session.path(numbered(files + 1))), "no file follows while the window waits")
        await_status(session, process, "sampled", f"waits for start={CALL}")
        waited, _ = call_in_window(session, process)
        await_status(session, process, "sampled")
        require("waits" not in attach(session, process, "--status"), "the window still waits")
        next_round(process)
        attach(session, process, "--window=60min", "-O", f"start={NEVER}")
        attach(session, process, "--stop")
        require(weak_references(session, process) < 2_000, "weak references are left")
        attach(session, process, "--stop", code=1)
        next_round(process)
        end(session, process)
    finally:
        process.kill()
    require(errors(session).count("no method of start= was entered") == 2, errors(session))
    windows = [number for number in range(1, 1 + len(list(pathlib.Path(session.path("ring")).glob("*.step"))))
               if "window" in properties(session, numbered(number))]
    require(len(windows) == 1, f"windows: {windows}")
    wait_ns = judge_call(session, windows[0])
    print(f"{collector}: the call waits {waited} us, the trace says {wait_ns / 1000}")
    require(wait_ns <= waited * 1000 + 1000, f"the call waits {waited} us, the trace says {wait_ns} ns")
    judge_all(session, "ring/run.step", 1)


def sampled_start(session):
    window_of_call(session, "G1")
    if session.run([session.tool("java"), COLLECTORS["Z"], "-version"]).returncode == 0:
        window_of_call(session, "Z")


STORM = 20


def sampled_storm(session):
    """One file until the first window, and many windows; the JVM ends while one waits."""
    process = start(session, STORM + 3, "file=ring/run.step,engine=sampled,sample=64", "-Xms64m -Xmx64m")
    try:
        next_round(process)
        occupied = pathlib.Path(session.path(numbered(1)))
        occupied.write_text("not ours", encoding="utf-8")
        require(load(session, process.pid, "start,window=1s", may_fail=True) != 0, "a file is to be replaced")
        require("which exists" in errors(session), errors(session))
        occupied.unlink()
        sizes = []
        for number in range(1, STORM + 1):
            load(session, process.pid, f"start,window=60min,start={CALL},stop={CALL}")
            call_in_window(session, process)
            await_true(lambda last=numbered(2 * number + 1): os.path.exists(session.path(last)), "no sample follows")
            await_begin(session, process)
            sizes.append(resident_kb(process))
        print(f"resident: {sizes} KB, {weak_references(session, process)} weak references")
        require(sizes[-1] < sizes[3] + (24 << 10), f"memory grows: {sizes}")
        next_round(process)
        load(session, process.pid, f"start,window=60min,start={NEVER}")
        next_round(process)
        end(session, process)
    finally:
        process.kill()
    require("no method of start= was entered" in errors(session), errors(session))
    names = sorted(path.name for path in pathlib.Path(session.path("ring")).iterdir())
    require(names == [f"run.{number:06}.step" for number in range(1, 2 * STORM + 2)], f"{names}")
    for number in range(1, 2 * STORM + 2):
        session.step("check", numbered(number))
    for number in range(2, 2 * STORM + 1, 2):
        judge_call(session, number)
    judge_all(session, "ring/run.step", STORM, STORM + 3)


def resident_kb(process):
    for line in pathlib.Path(f"/proc/{process.pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise Failure("no VmRSS")


def sampled_window_refused(session):
    """Without a sample, with another engine, and at the wrong time."""
    process = start(session, 2, "file=ring/run.step")
    try:
        attach(session, process, "--window=0", code=2)
        told = attach(session, process, "--window=1s", code=1)
        require("the agent refuses" in told and "no sample is being recorded" in errors(session), told)
        attach(session, process, "--window=1s", "-O", f"start={CALL}", code=1)
        next_round(process)
        next_round(process)
        end(session, process)
    finally:
        process.kill()
    session.step("check", "ring/run.step")
    process = start(session, 2, "file=ring/run.step,engine=sampled,sample=64")
    try:
        load(session, process.pid, "start,window=60min")
        await_status(session, process, "bytecode", "exact")
        await_begin(session, process)
        require(load(session, process.pid, "start,window=1s", may_fail=True) != 0, "two windows at a time")
        require(load(session, process.pid, f"start,window=1s,start={CALL}", may_fail=True) != 0, "two windows at a time")
        require(errors(session).count("another window is being recorded") == 2, errors(session))
        next_round(process)
        next_round(process)
        attach(session, process, "--stop")
        end(session, process)
    finally:
        process.kill()
    judge_all(session, "ring/run.step", 1, 2)
    require(classes(session, numbered(2))["Inside"]["allocated_objects"] == 2 * INSIDE, "the window is not exact")


TABLE = {function.__name__: function for function in (sampled_start, sampled_storm, sampled_window_refused)}
