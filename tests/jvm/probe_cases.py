# SPDX-License-Identifier: Apache-2.0
"""engine=sampled: what a listener of the probes otel_memory:alloc and otel_memory:free hears is what the trace has."""
import json
import math
import os
import pathlib

from drivers import load
from sampled_cases import await_file, require
from session import Skip, answer, expect_line, finish, shown
from uprobes import Listener, probes_of

ALLOC, FREE = "otel_memory:alloc", "otel_memory:free"
ID_BITS = 48


def probes(session):
    found = probes_of(session.tracer)
    if not found:
        raise Skip("the agent was built without <sys/sdt.h>")
    require(sorted(found) == [ALLOC, FREE], f"there are {sorted(found)}")
    require([len(found[name].operands) for name in (ALLOC, FREE)] == [3, 1], "they have other arguments")
    require(all(probe.semaphore for probe in found.values()), "no semaphore")
    if os.uname().machine == "x86_64":
        require(found[ALLOC].operands == ["8@%rdi", "8@%rsi", "8@%rdx"], f"{found[ALLOC].operands}")
    return found


def ids(events, name):
    """The objects that events of this probe are of."""
    return {words[0] & (1 << ID_BITS) - 1 for probe, words in events if probe == name}


def rows(session, trace, query):
    return json.loads(session.step("sql", "--json", trace, query))


def judge_allocs(events, objects):
    """An event for each sample, with its size, and with its weight in bytes, from the page's formula."""
    heard = [words for name, words in events if name == ALLOC]
    told = {pointer & (1 << ID_BITS) - 1: (size, weighted) for pointer, size, weighted in heard}
    count = len(heard)
    require(count == len(told) == len(objects), f"{count} events of {len(told)} objects, {len(objects)} samples")
    for row in objects:
        size, weighted = told[row["object"]]
        exact = size / -math.expm1(-size / row["interval"])
        require(size == row["size"] and abs(weighted - exact) < 1 + 1e-9 * exact, f"{row}: {size}, {weighted}, not {exact}")
    total, truth = sum(weighted for _, weighted in told.values()), sum(row["size"] * row["weight"] for row in objects)
    print(f"{count} samples, {total} bytes, {truth} by the trace")
    require(abs(total - truth) <= 5.5 * math.sqrt(count / 12), f"{total} bytes, {truth} by the trace")


def judge_frees(events, dead, kept):
    """One event for each that died, and, where the trace ended before the JVM, for each that it gave up."""
    names = [pointer for name, (pointer, *_) in events if name == FREE]
    told = {pointer & (1 << ID_BITS) - 1 for pointer in names}
    require(len(told) == len(names), f"{len(names)} events of {len(told)} objects")
    print(f"{len(told)} ends, {len(dead)} died, {len(kept)} lived")
    require(dead <= told <= dead | kept, f"not heard: {len(dead - told)}; heard without a cause: {len(told - dead - kept)}")
    return told


def objects_of(session, trace, interval):
    """All samples; those of another interval have it in a record of their own."""
    found = rows(session, trace, "select object, size, weight, alive from objects")
    for row in found:
        row["interval"] = interval
    return found


def probe_sums(session):
    with Listener(session.tracer, probes(session).values()) as listener:
        process = session.start(session.java("Sampled", agent="file=run.step,engine=sampled,sample=32k"))
        finish(process)
        events = listener.events(process.pid)
    require(process.returncode == 0, f"it ends with {process.returncode}")
    require(json.loads(session.step("info", "--json", "run.step"))["properties"]["memory-probes"] == "otel_memory", "the property")
    objects = objects_of(session, "run.step", 32 << 10)
    judge_allocs(events, objects)
    alive = {row["object"] for row in objects if row["alive"]}
    judge_frees(events, {row["object"] for row in objects} - alive, alive)


def probe_few_awaited(session):
    """With live=, objects are given up: a listener hears of their end, or it would think that they live."""
    with Listener(session.tracer, probes(session).values()) as listener:
        process = session.start(session.java("Sampled", agent="file=few.step,engine=sampled,sample=32k,live=100"))
        finish(process)
        events = listener.events(process.pid)
    ends = [words[0] for name, words in events if name == FREE]
    births = len(ids(events, ALLOC))
    print(f"live=100: {births} births, {len(ends)} ends")
    require(len(set(ends)) == len(ends) and births - 100 <= len(ends) <= births, f"{births} births, {len(ends)} ends")


def semaphores(process, library, found):
    """The numbers of listeners, as the process has them."""
    [line] = [line.split() for line in pathlib.Path(f"/proc/{process}/maps").read_text(encoding="utf-8").splitlines()
              if line.endswith(os.path.realpath(library)) and " r-xp " in line]
    base = int(line[0].split("-")[0], 16) - int(line[2], 16) + found[ALLOC].offset - found[ALLOC].address
    with open(f"/proc/{process}/mem", "rb", buffering=0) as memory:
        return [int.from_bytes(os.pread(memory.fileno(), 2, base + found[name].semaphore), "little") for name in (ALLOC, FREE)]


def probe_ring(session):
    """A listener that comes late and hears a ring of files, which it outlives: before it and after it, nobody listens."""
    found = probes(session)
    ring = pathlib.Path(session.path("ring"))
    ring.mkdir(exist_ok=True)
    for path in ring.iterdir():
        path.unlink()
    process = session.start(session.java("SampledHeld", "-XX:+EnableDynamicAgentLoading", "file=ring/run.step,engine=sampled,sample=64,rotate=1s"))
    try:
        expect_line(process, "attach")
        require(semaphores(process.pid, session.tracer, found) == [0, 0], "somebody listens")
        with Listener(session.tracer, found.values()) as listener:
            processors = len(listener.rings) // 2
            listeners = semaphores(process.pid, session.tracer, found)
            require(min(listeners) >= 1, f"{listeners} listeners of {processors} events")
            answer(process)
            expect_line(process, "made")
            await_file(session, "run.000003.step")
            events = listener.events(process.pid)
            load(session, process.pid, "stop")
            last = listener.events(process.pid)
        require(semaphores(process.pid, session.tracer, found) == [0, 0], "the listener has not left")
        answer(process)
        expect_line(process, "stopped")
        answer(process)
        finish(process)
    finally:
        process.kill()
    require(process.returncode == 0, shown(pathlib.Path(session.path("stderr")).read_bytes()))
    kept = rows(session, "ring", "select object from objects where class = 'facts/SampledHeld$Kept' and alive")
    births, ends = ids(events, ALLOC), ids(events, FREE)
    kept = {row["object"] for row in kept} & births
    print(f"{len(births)} births, {len(ends)} ends, {len(kept)} live")
    awaited = ids(last, ALLOC) - ids(last, FREE)  # an end may be of an object that was made before
    require(births <= ids(last, ALLOC) and not awaited, f"{len(awaited)} objects of a trace that has ended are still awaited")
    print(f"{len(ids(last, FREE) - ids(last, ALLOC))} objects were made before anybody listened")
    require(len(kept) > 5_000 and not ends & kept, "objects that live through changes of the file have ended")


def sampled_probes(session):
    probe_sums(session)
    probe_few_awaited(session)
    probe_ring(session)


TABLE = {function.__name__: function for function in (sampled_probes,)}
