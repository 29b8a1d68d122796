# SPDX-License-Identifier: Apache-2.0
"""Stamps of some events (resolution=16events): the order of events, waits, and what a killed JVM leaves."""
import json
import struct

from session import Failure, shown

CALLS_OF = "file=run.step,events=method,include=facts/Stamps*,resolution="


def require(condition, text):
    if not condition:
        raise Failure(text)


def recorded(session, options, words):
    result = session.run(session.java("Stamps", "", options, words))
    require(result.returncode == 0 and not result.stderr,
            f"{options}: it ends with {result.returncode} {shown(result.stderr)}")
    session.step("check", "run.step")
    return result.stdout.decode().splitlines()


def calls(session, file="run.step"):
    """The method events of each thread: (kind, method, ns)."""
    threads = {}
    for line in session.step("dump", file, codes=(0, 3)).decode().splitlines():
        word = line.split(":")
        if word[0] in ("MN", "MX", "FP"):
            threads.setdefault(word[2], []).append((word[0], word[4], int(word[1])))
    return threads


def deep(n):
    yield "MN", "deep"
    if n >= 2:
        yield from deep(n - 1)
        yield from deep(n - 2)
    yield "MX", "deep"


def wanted_calls(n):
    once = list(deep(n))
    waited = [("MN", "wait"), *once, ("MN", "rest"), ("MX", "rest"), *once, *once, ("MX", "wait")]
    return [("MN", "main"), *waited * 3, ("MX", "main")]


def stamps(session):
    """The order is that of the program, waits are as long as they were, and objects are allocated before other threads use them."""
    for every in (16, 1000):
        said = recorded(session, f"{CALLS_OF}{every}events", ["12"])
        events, = (found for found in calls(session).values() if len(found) > 2)
        events = [event for event in events if event[1] != "<clinit>"]
        wanted = wanted_calls(12)
        other = next((i for i, (event, want) in enumerate(zip(events, wanted)) if event[:2] != want), None)
        require(other is None and len(events) == len(wanted),
                f"{every}: {len(events)} events, of {len(wanted)}; number {other} is another")
        once = len(list(deep(12)))
        rests = [i for i, want in enumerate(wanted) if want == ("MN", "rest")]
        waits = [(i, i + 1 + once) for i in rests]
        require(len(said) == 2 * len(waits) == 6, f"{every}: it says {said}")
        for i, line in zip((i for both in waits for i in both), said):
            what, ns = line.split()
            require(wanted[i] == (("MN", "rest") if what == "rest" else ("MX", "deep")), f"{line} is not after {wanted[i]}")
            length = events[i + 1][2] - events[i][2]
            require(196_000_000 < length < int(ns) + 500_000_000, f"{every}: {line}, in the trace {length}")
        said = json.loads(session.step("info", "--json", "run.step"))["properties"]
        require(said.get("time-interpolated") == str(every), f"{every}: {said}")
        require(f"read once in {every:,} events".encode() in session.step("stats", "run.step"), "stats does not say so")
        require(json.loads(session.step("stats", "--json", "run.step"))["stamp_events"] == every, "stats --json")
    recorded(session, "file=run.step,events=all,resolution=1000events,include=facts/Stamps*", ["hand"])
    made = json.loads(session.step("stats", "--json", "--top=0", "run.step"))["classes"]
    require([row["allocated_objects"] for row in made if row["name"] == "facts/Stamps$Item"] == [5_000], "objects are missing")
    require(b"birth times" in session.step("lifetimes", "run.step"), "lifetimes does not say so")


# What docs/formats/live.md says, a second time.

SPARED = (1 << 32) - 1
WORDS = {1: 1, 7: 1, 15: 2, 16: 3, 19: 3, 20: 2, 21: 2, 22: 2, 23: 1, 24: 1, 25: 2, 26: 2, 27: 1, 28: 1, 29: 1}
KINDS = {19: "MN", 20: "MX", 21: "FP", 23: "MN", 24: "MX", 29: "FP"}


def chunks(path):
    """The live file's clock, and its chunks: (stream, position) to words."""
    with open(path, "rb") as file:
        data = file.read()
    multiplier, shift, resolution, size = struct.unpack_from("=QIIQ", data, 32)
    found, at = {}, 4096
    while at < min(size, len(data)):
        magic, length, state, _, stream, order, _, _, used = struct.unpack_from("=4sIIIQQQQQ", data, at)
        require(magic == b"CHNK", f"no chunk at {at}")
        if state != 0:
            found[stream, order] = struct.unpack_from(f"={used // 8}Q", data, at + 64)
        at += length
    return (multiplier, shift, resolution), found


def raw_records(words):
    """(kind, ticks since the stamp before or None, stamp or None) of each."""
    at = 0
    while at < len(words):
        kind, payload = words[at] & 31, words[at] >> 5
        require(kind in WORDS, f"a record of kind {kind}")
        at += WORDS[kind]
        is_short = kind in (23, 24, 28, 29)
        yield kind, payload >> 27 if is_short else None, None if is_short or kind in (1, 7, 26, 27) else payload


def events_of(words, clock):
    """The method events of a chunk: (kind, ns)."""
    multiplier, shift, resolution = clock
    found, last, waiting, now = [], 0, [], 0

    def spread(until):
        span = until - last if until is not None else 0
        if span * multiplier >> shift > 2_000_000:
            span = 0
        for place, number in waiting:
            found[place][1] = last + number * (span // (waiting[-1][1] + 1))
        waiting.clear()

    for kind, past, stamp in raw_records(words):
        if past == SPARED:
            waiting.append((len(found), waiting[-1][1] + 1 if waiting else 1))
        elif past == 0 and waiting:
            waiting.append((len(found), waiting[-1][1]))
        elif kind == 1:
            spread(None)
        elif kind != 7:
            now = stamp if past is None else last + past
            spread(now)
            last = now
        if kind in KINDS:
            found.append([KINDS[kind], now])
    spread(None)
    return [(kind, (stamp * multiplier >> shift) // resolution * resolution) for kind, stamp in found]


def kill_after(session, options, word, lines, line):
    """Kills the program once it has printed that many such lines."""
    process = session.start(session.java("Stamps", "", options, [word]))
    try:
        for _ in range(lines):
            require(process.stdout.readline() == line, f"it does not print {line}")
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def stamps_killed(session):
    """The times that every reader gives the events of a killed JVM's live file are those of the page."""
    kill_after(session, f"{CALLS_OF}16events,ring=file", "forever", 200, b"144\n")
    clock, found = chunks(session.path("run.step.live"))
    stream = max((place for place in found if place[0] > 1), key=lambda place: len(found[place]))[0]
    orders = sorted(order for of, order in found if of == stream)
    wanted = [event for order in orders for event in events_of(found[stream, order], clock)]
    spared = sum(past == SPARED for order in orders for _, past, _ in raw_records(found[stream, order]))
    require(spared > len(wanted) / 2 > 10, f"{spared} of {len(wanted)} events without a stamp")
    session.step("recover", "run.step", "-o", "recovered.step")
    for file in "run.step", "recovered.step":
        events = max(calls(session, file).values(), key=len)[-len(wanted):]
        other = next((i for i, (event, want) in enumerate(zip(events, wanted)) if (event[0], event[2]) != want), None)
        require(other is None and len(events) == len(wanted),
                f"{file}: event {other} of {len(wanted)} is {events[other or 0]}, not {wanted[other or 0]}")
        session.step("check", file, codes=(0, 3))


def stamps_of_chunks(session):
    """A chunk's events without a stamp come after one that has it, also where the chunk begins with the object of a
    constructor that waited for it."""
    kill_after(session, "file=run.step,events=all,include=facts/Stamps*,resolution=1000events,ring=file", "construct", 150, b"made\n")
    _, found = chunks(session.path("run.step.live"))
    spared = begun = 0
    for (stream, order), words in found.items():
        records = list(raw_records(words)) if stream > 1 else []
        first = next((i for i, record in enumerate(records) if record[2] is not None), len(records))
        require(all(past is None for _, past, _ in records[:first]), f"chunk {order} of {stream} begins without a stamp")
        spared += sum(past == SPARED for _, past, _ in records)
        begun += bool(records) and records[0][0] == 26
    require(spared > 10_000 and begun > 0, f"{spared} events without a stamp, {begun} chunks that begin with an object")


TABLE = {function.__name__: function for function in (stamps, stamps_killed, stamps_of_chunks)}
