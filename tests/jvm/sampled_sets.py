# SPDX-License-Identifier: Apache-2.0
"""engine=sampled with rotate=: the files of a recording as one trace, and exact windows among them."""
import json
import os
import pathlib
import time

from drivers import load
from sampled_cases import (await_file, judge_set_tables, near, records, require, ring_files, set_rows,
                           weak_references)
from session import Failure, answer, expect_line, finish, shown

SET_MADE = 20_000  # as SampledSet.java makes them


def record_set(session, options):
    """Objects are made in the second file, others in the third, where the first ones die, and some more in
    the fourth: each time a file has just begun. Returns the number of files."""
    ring = pathlib.Path(session.path("ring"))
    ring.mkdir(exist_ok=True)
    for path in ring.iterdir():
        path.unlink()
    process = session.start(session.java(
        "SampledSet", agent=f"file=ring/run.step,engine=sampled,sample=64,rotate=2s,{options}"))
    try:
        for stage in ("begin", "made", "both", "fewer", "last"):
            expect_line(process, stage)
            if stage in ("begin", "made", "fewer"):
                await_file(session, next_file(session))
                await_begin(session, process)
            answer(process)
        finish(process)
    finally:
        process.kill()
    require(process.returncode == 0, f"it ends with {process.returncode}")
    return len([name for name in ring_files(session) if name.endswith(".step")])


def await_begin(session, process):
    """A file is there before its trace begins. A flush fails until then."""
    for _ in range(6_000):
        if load(session, process.pid, "flush", may_fail=True) == 0:
            return
        time.sleep(0.01)
    raise Failure("no trace begins")


def next_file(session):
    numbers = [int(name.split(".")[1]) for name in ring_files(session) if name.endswith(".step")]
    return f"run.{max(numbers, default=0) + 1:06}.step"


def judge_estimate(row, key, truth):
    """Within 5.5 standard deviations (a chance of 4e-8); what is not there is surely not there."""
    told = row[key]
    room = 5.5 / 1.96 * max(told["high"] - told["estimate"], told["estimate"] - told["low"]) if truth > 0 else 0
    print(f"{row['name']} {key}: {told}, {truth} in truth")
    require(abs(told["estimate"] - truth) <= room, f"{row['name']}: {key} {told}, not {truth}")


def judge_set(session):
    """All files as one: each object is counted once, and its death found in whichever file has it."""
    rows = set_rows(session, "stats", "ring")
    for name, made, freed in (("Early", 1, 1), ("Late", 1, 0), ("Dropped", 3, 3)):
        for key, wanted in (("allocated_objects", made), ("freed_objects", freed), ("live_objects", made - freed)):
            judge_estimate(rows[name], key, wanted * SET_MADE)


def sampled_set(session):
    """Files of one recording as one trace."""
    files = record_set(session, "keep=100")
    require(files >= 3, f"{files} files")
    judge_set(session)
    for name in ("ring", "ring/run.step", "ring/run.000002.step"):
        session.step("check", name)
        judge_set_tables(session, name)
    properties = json.loads(session.step("info", "--json", "ring"))["properties"]
    require(properties["file-numbers"] == f"1 to {files}" and "file-set-gaps" not in properties, f"{properties}")
    [threads] = json.loads(session.step("sql", "--json", "ring",
                                        "select count(*) as n from threads where name = 'main'"))
    require(threads["n"] == 1, f"{threads['n']} threads are 'main'")
    near(set_rows(session, "heap", "--by=class", "--at=end", "ring")["Late"], "objects", SET_MADE)
    session.step("compare", "ring", "ring/run.step")
    session.step("leaks", "ring")
    session.step("report", "ring", "-o", "ring.html")
    for number, code, text in ((2, 3, b"file 2 is missing"), (1, 0, b"earlier files were removed")):
        os.unlink(session.path(f"ring/run.{number:06}.step"))
        result = session.run([session.steptrace, "stats", "ring"])
        require(result.returncode == code and text in result.stderr, shown(result.stderr))
    record_set(session, "keep=100,live=1000")
    require(records(session, "ObjectGivenUp", "ring") > 0, "no object was given up")
    judge_set(session)
    judge_set_tables(session, "ring")


def await_engine(session, name, engine):
    """Waits until that file's trace is being recorded."""
    await_file(session, name)
    for _ in range(6_000):
        result = session.run([session.steptrace, "info", "--json", f"ring/{name}"])
        if result.stdout and json.loads(result.stdout)["properties"].get("engine") == engine:
            return
        time.sleep(0.05)
    raise Failure(f"{name} is not of {engine}")


def judge_window(session):
    """The window alone is exact; with the other files, its objects stand for themselves."""
    for name, freed in (("Late", 0), ("Dropped", 1)):
        [row] = [row for row in json.loads(session.step("stats", "--json", "--top=0", "ring/run.000002.step"))["classes"]
                 if row["name"] == f"facts/SampledSet${name}"]
        print(f"the window alone: {row}")
        require(row["allocated_objects"] == SET_MADE, f"{name}: {row}")
        require(freed or row["freed_objects"] == 0, f"{name}: {row}")
    rows = set_rows(session, "stats", "ring")
    for name, key, made in (("Early", "allocated_objects", 1), ("Early", "freed_objects", 1),
                            ("Dropped", "allocated_objects", 3), ("Late", "live_objects", 0)):
        judge_estimate(rows[name], key, made * SET_MADE)
    require(rows["Late"]["allocated_objects"]["estimate"] == SET_MADE, f"{rows['Late']}")
    judge_set_tables(session, "ring")
    result = session.run([session.steptrace, "stats", "ring"])
    require(result.returncode == 0 and b"outlived" in result.stderr, shown(result.stderr))
    session.step("check", "ring")
    for number in range(1, len([name for name in ring_files(session) if name.endswith(".step")]) + 1):
        session.step("check", f"ring/run.{number:06}.step")


def sampled_window(session):
    """All objects for one call of a method, between two files of samples; afterwards nothing is left."""
    ring = pathlib.Path(session.path("ring"))
    ring.mkdir(exist_ok=True)
    for path in ring.iterdir():
        path.unlink()
    process = session.start(session.java("SampledSet", "-XX:+EnableDynamicAgentLoading"))
    try:
        expect_line(process, "begin")
        require(load(session, process.pid, "start,window=1s", may_fail=True) != 0, "a window without a sample")
        load(session, process.pid, "file=ring/run.step,engine=sampled,sample=64,rotate=60min")
        answer(process)
        expect_line(process, "made")
        load(session, process.pid, "start,window=60min,stop=facts.SampledSet.drop")
        await_engine(session, "run.000002.step", "bytecode")
        await_begin(session, process)
        require(load(session, process.pid, "start,window=1s", may_fail=True) != 0, "two windows at a time")
        answer(process)
        expect_line(process, "both")
        await_engine(session, "run.000003.step", "sampled")
        await_begin(session, process)
        answer(process)
        for stage in ("fewer", "last"):
            expect_line(process, stage)
            if stage == "last":
                load(session, process.pid, "start,window=60min")
                await_engine(session, "run.000004.step", "bytecode")
                await_begin(session, process)
                load(session, process.pid, "stop")
                require(weak_references(session, process) < 2_000, "weak references are left")
            answer(process)
        finish(process)
    finally:
        process.kill()
    require(process.returncode == 0, f"it ends with {process.returncode}")
    judge_window(session)


TABLE = {function.__name__: function for function in (sampled_set, sampled_window)}
