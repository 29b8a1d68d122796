# SPDX-License-Identifier: Apache-2.0
"""Tests of methods that the bytecode engine leaves alone, of those that begin and end a trace, and of
counts in place of method events, of probes by Math.tan(), and of another agent beside ours."""
import collections
import itertools
import json
import os
import pathlib
import re
import struct
import zipfile

import facts
import trace_text
from drivers import load
from session import Failure, Skip, answer, expect_line, finish, shown


def require(condition, text):
    if not condition:
        raise Failure(text)


# Methods that are too large for probes.

def text_constant(text):
    return b"\x01" + struct.pack(">H", len(text)) + text.encode()


def method(name, descriptor, code, stack):
    """A static method; the constant `Code` is number 1."""
    attribute = struct.pack(">HHI", stack, 1, len(code)) + code + bytes(4)
    return struct.pack(">HHHHHI", 9, name, descriptor, 1, 1, len(attribute)) + attribute


def huge_class():
    """Class Huge: arrays() makes 16,000 arrays in 64,001 bytes, wide() is 65,530 times nothing."""
    pool = [text_constant("Code"), text_constant("Huge"), b"\x07\0\x02",
            text_constant("java/lang/Object"), b"\x07\0\x04", text_constant("main"),
            text_constant("([Ljava/lang/String;)V"), text_constant("arrays"), text_constant("()V"),
            text_constant("wide"), b"\x0c\0\x08\0\x09", b"\x0c\0\x0a\0\x09",
            b"\x0a\0\x03\0\x0b", b"\x0a\0\x03\0\x0c"]
    methods = [method(6, 7, b"\xb8\0\x0d\xb8\0\x0e\xb1", 1),
               method(8, 9, b"\x04\xbc\x08\x57" * 16000 + b"\xb1", 1),
               method(10, 9, bytes(65530) + b"\xb1", 0)]
    return (struct.pack(">IHHH", 0xCAFEBABE, 0, 52, len(pool) + 1) + b"".join(pool) +
            struct.pack(">HHHHHH", 0x21, 3, 5, 0, 0, len(methods)) + b"".join(methods) + bytes(2))


def not_probed(session):
    """What is too large for probes runs as it is; the trace names it, and what is missing."""
    pathlib.Path(session.path("Huge.class")).write_bytes(huge_class())
    agent = f"-agentpath:{session.tracer}=file=run.step,overwrite=yes,events=all,include=Huge"
    result = session.run([session.tool("java"), agent, "-cp", ".", "Huge"])
    require(result.returncode == 0, f"it ends with {result.returncode} {shown(result.stderr)}")
    require(result.stderr.count(b"cannot be instrumented") == 1, f"not told once: {shown(result.stderr)}")
    wanted = {("Huge", "arrays", 1), ("Huge", "arrays", 2), ("Huge", "wide", 1)}
    session.step("check", "run.step")
    session.step("convert", "run.step", "-o", "copy.step")
    session.step("pack", "run.step", "-o", "packed.step")
    for name in ("run.step", "copy.step", "packed.step"):
        told = json.loads(session.step("info", "--json", name))["not_probed"]
        found = {(row["class"], row["method"], row["missing"]) for row in told}
        require(found == wanted and len(told) == 3, f"{name} tells of {told}")
        require(all("65535" in row["reason"] for row in told), f"reasons: {told}")
    text = session.step("dump", "--record", "NotProbed", "run.step").decode()
    require(text.count("arrays") == 2 and text.count("wide") == 1, f"dump has\n{text}")
    text = session.step("info", "run.step").decode()
    require("Huge.wide()V (method events: " in text, f"info has\n{text}")
    stats = json.loads(session.step("stats", "--json", "--top=0", "run.step"))
    require(stats["not_probed"] == 3, f"stats tells of {stats['not_probed']}")
    calls = {row["method"]: row["calls"] for row in stats["methods"]}
    require(calls == {"main": 1}, f"calls of {calls}")


def near_huge_class():
    """Class Huge: arrays() makes 1,500 arrays in 6,001 bytes, table() has 1,200 returns in 7,2xx."""
    pool = [text_constant("Code"), text_constant("Huge"), b"\x07\0\x02",
            text_constant("java/lang/Object"), b"\x07\0\x04", text_constant("main"),
            text_constant("([Ljava/lang/String;)V"), text_constant("arrays"), text_constant("()V"),
            text_constant("table"), b"\x0c\0\x08\0\x09", b"\x0c\0\x0a\0\x09",
            b"\x0a\0\x03\0\x0b", b"\x0a\0\x03\0\x0c"]
    arrays = b"\x04\xbc\x07\x57" * 1500 + b"\xb1"
    table = b"\x04\xbc\x07\x57" + b"\x03\x99\0\x04\xb1" * 1200 + b"\xb1"  # jump over a return
    methods = [method(6, 7, b"\xb8\0\x0d\xb8\0\x0e\xb1", 1), method(8, 9, arrays, 1),
               method(10, 9, table, 1)]
    return (struct.pack(">IHHH", 0xCAFEBABE, 0, 49, len(pool) + 1) + b"".join(pool) +
            struct.pack(">HHHHHH", 0x21, 3, 5, 0, 0, len(methods)) + b"".join(methods) + bytes(2))


def not_compiled(session):
    """A method that probes make too large for the compilers has no events, or is named as slow."""
    pathlib.Path(session.path("Huge.class")).write_bytes(near_huge_class())
    for flag, wanted in (("-XX:+DontCompileHugeMethods", [("table", 1)]),
                         ("-XX:-DontCompileHugeMethods", [])):
        agent = f"-agentpath:{session.tracer}=file=run.step,overwrite=yes,events=all,include=Huge"
        result = session.run([session.tool("java"), flag, agent, "-cp", ".", "Huge"])
        require(result.returncode == 0, f"it ends with {result.returncode} {shown(result.stderr)}")
        session.step("check", "run.step")
        info = json.loads(session.step("info", "--json", "run.step"))
        found = [(row["method"], row["missing"]) for row in info.get("not_probed", ())]
        require(found == wanted, f"{flag}: {found} have no events")
        slow = info["properties"].get("not-compiled", "")
        require(("Huge.arrays()V" in slow) == bool(wanted), f"{flag}: not compiled: {slow}")
        require((b"-DontCompileHugeMethods (" in result.stderr) == bool(wanted),
                f"{flag}: {shown(result.stderr)}")
        stats = json.loads(session.step("stats", "--json", "--top=0", "run.step"))
        calls = {row["method"]: row["calls"] for row in stats["methods"]}
        expected = {"main", "arrays"} if wanted else {"main", "arrays", "table"}
        require(calls == {name: 1 for name in expected}, f"{flag}: calls of {calls}")
        made = [row["allocated_objects"] for row in stats["classes"] if row["name"] == "[D"]
        require(made == [1501], f"{flag}: {made} arrays")


# The part of a run between two calls.

def part(session, options, main="Window"):
    """Runs it; gives the checked text of the trace and its properties."""
    bare = session.run(session.java(main))
    result = session.run(session.java(main, "", f"file=run.step,include=facts/**,{options}"))
    require((bare.returncode, bare.stdout) == (result.returncode, result.stdout),
            f"{options}: it says {shown(result.stdout)} {shown(result.stderr)}")
    session.step("check", "run.step")
    session.step("convert", "run.step", "-o", "run.zip")
    info = json.loads(session.step("info", "--json", "run.step"))
    return trace_text.read_zip(session.path("run.zip")), info["properties"]


def sequence(trace):
    """The method events of the one thread that has some, in short."""
    threads = [facts.observed(events) for events in trace.sequences.values() if events]
    require(len(threads) == 1, f"{len(threads)} threads have method events")
    return [event.replace("facts/Window$", "").replace("facts/Window.", "") for event in threads[0]]


WITHIN = ["+Within.<init>", "+inner", "-inner", "-Within.<init>"]
WINDOW = ["+window", *WITHIN] * 3 + ["-window"] * 3


def same(got, wanted, what):
    require(got == wanted, f"{what}: {' '.join(got)}, not {' '.join(wanted)}")


def start_stop(session):
    """A trace begins with the first entry and ends with the return of its outermost call."""
    both = "events=all,start=facts.Window.{0},stop=facts.Window.{0}"
    trace, properties = part(session, both.format("window"))
    same(sequence(trace), WINDOW, "window")
    require(properties["end"] == "stopped", f"it ended by {properties['end']}")
    require(trace.allocs["facts/Window$Within"] == 3, "objects of window() are missing")
    require(trace.allocs["facts/Window$After"] == 0, "it went on after window()")
    trace, _ = part(session, both.format("thro*"))
    same(sequence(trace), ["+thrown", *WITHIN] * 3 + ["!thrown"] * 3, "an exception ends it")
    trace, _ = part(session, "events=method,start=facts/Window$Within.<init>,"
                             "stop=facts.Window$Within.<init>")
    same(sequence(trace), WITHIN, "a constructor")
    trace, _ = part(session, both.format("beside"))
    require(trace.methods[("MX", "facts/Window", "window")] == 6, "two threads call window()")
    trace, properties = part(session, "events=all,start=facts.Window.after")
    require(properties["end"] == "vm-death", f"it ended by {properties['end']}")
    require(trace.methods[("MN", "facts/Window", "after")] == 2 and
            trace.methods[("MN", "facts/Window", "before")] == 0, "it began elsewhere")
    trace, _ = part(session, "events=alloc,stop=facts.Window.before")
    require((trace.allocs["facts/Window$Before"], trace.allocs["facts/Window$After"]) == (100, 0),
            "it ended elsewhere")


def never_started(session):
    """No trace, no files, and the program does not notice."""
    result = session.run(session.java("Window", "", "file=run.step,start=facts.Window.nothing"))
    require(result.returncode == 0 and b"no trace was made" in result.stderr,
            f"it ends with {result.returncode} {shown(result.stderr)}")
    left = [name for name in os.listdir(session.directory) if name.startswith("run.step")]
    require(not left, f"there is {left}")
    for fault in ("engine=jvmti,start=a.B.c", "start=main", "stop=a.b/c", "events=class,stop=a.b"):
        refused = session.run(session.java("Window", "", f"file=run.step,{fault}"))
        require(refused.returncode != 0 and b"total" not in refused.stdout, f"{fault} is taken")


# Counts in place of events.

def method_rows(session, main, options, vm=""):
    """Calls and exceptions of each method, and its times."""
    result = session.run(session.java(main, vm, f"file=run.step,include=facts/**,{options}"))
    require(result.returncode == session.run(session.java(main, vm)).returncode, shown(result.stderr))
    session.step("check", "run.step")
    rows = json.loads(session.step("stats", "--json", "--top=0", "run.step"))["methods"]
    calls, times = collections.Counter(), {}
    for row in rows:
        name = re.sub(r"[0-9./]*0x[0-9a-f]+", "", row["class"]) + "." + row["method"]
        calls[name, "calls"] += row["calls"]
        calls[name, "exceptions"] += row["exceptions"]
        times[name] = row["inclusive_ns"], row["exclusive_ns"]
    return calls, times


def method_count(session):
    """The counts are those of the events, with both engines; times are no longer than main()'s."""
    mains = ["Methods", "Window", "Threads", "LeafMethods"] + ["VirtualMethods"] * (session.version() >= 21)
    for main in mains:
        wanted, _ = method_rows(session, main, "events=method")
        got, times = method_rows(session, main, "method=count,events=method")
        require(got == wanted, f"{main}: {(got - wanted) + (wanted - got)}")
        longest = times[f"facts/{main}.main"][0]
        for name, (inclusive, exclusive) in times.items():
            require(exclusive <= inclusive and (main != "Methods" or inclusive <= longest),
                    f"{name} took {inclusive} ns, {exclusive} by itself; main() {longest}")
    oracle, _ = method_rows(session, "Methods", "method=count,events=method,engine=jvmti", "-Xint")
    wanted, _ = method_rows(session, "Methods", "events=method,engine=jvmti", "-Xint")
    require(oracle == wanted, f"engine=jvmti: {(oracle - wanted) + (wanted - oracle)}")
    got, times = method_rows(session, "ExitInMethods", "events=method,method=count")
    require(got["facts/ExitInMethods.deep", "calls"] == 20 and
            times["facts/ExitInMethods.deep"][0] > 0, "calls that never return are not there")
    session.step("convert", "run.step", "-o", "copy.step")
    dump = session.step("dump", "--record", "MethodCount", "run.step").count(b"\n")
    require(dump == session.step("dump", "--record", "MethodCount", "copy.step").count(b"\n") > 3,
            "convert loses counts")
    session.step("report", "run.step", "-o", "run.html")
    page = pathlib.Path(session.path("run.html")).read_text(encoding="utf-8")
    require("facts/ExitInMethods.deep" in page, "the report does not show the counts")


def counted(session, output, title):
    """The trace has as many calls and exceptions as the program says."""
    session.step("check", "run.step")
    rows = json.loads(session.step("stats", "--json", "--top=0", "run.step"))["methods"]
    got = {f"{row['class']}.{row['method']}": [row["calls"], row["exceptions"]] for row in rows}
    said = [line.split()[1:] for line in output.decode().splitlines() if line.startswith("calls ")]
    require(len(said) == 11, f"{title}: it says {output}")
    for name, *wanted in said:
        require(got.get(name) == [int(word) for word in wanted], f"{title}: {name} {got.get(name)}, not {wanted}")
    return rows


def counted_while_attached(session, options):
    process = session.start(session.java("CountedCalls", "-XX:+EnableDynamicAgentLoading",
                                         words=("8", "2000", "attach")))
    try:
        expect_line(process, "attach")
        load(session, process.pid, f"file=run.step,method=count,events=method,{options}")
        answer(process)
        expect_line(process, "stop")
        load(session, process.pid, "stop")
        answer(process)
        return finish(process)
    finally:
        process.kill()


def counted_threads(session):
    """Eight threads that call the same methods lose no count, however they are compiled and with the
    fast probes or without; nor does a trace that begins and ends in the middle."""
    ways = [("", "", 20000), ("resolution=none", "", 20000), ("resolution=100ns", "", 4000),
            ("internals=none", "", 2000), ("", "-Xint", 400), ("", "-XX:TieredStopAtLevel=1", 4000),
            ("", "-XX:-TieredCompilation", 4000), ("engine=jvmti", "", 400)]
    agent = "file=run.step,method=count,events=method,include=facts/CountedCalls*"
    for options, vm, rounds in ways:
        for kind in ["platform"] + ["virtual"] * (session.version() >= 21 and not vm):
            words = ["8", str(rounds), kind]
            command = session.java("CountedCalls", vm, f"{agent},{options}".rstrip(","), words)
            result = session.run(command)
            title = f"{options} {vm} {kind}"
            require(not result.stderr, f"{title}: it says {shown(result.stderr)}")
            rows = counted(session, result.stdout, title)
            times = [row.get("inclusive_ns", 0) + row.get("exclusive_ns", 0) for row in rows]
            none = "none" in options.partition("resolution=")[2]
            require(any(times) != none, f"{title}: times {times}")
    for options in ("include=facts/CountedCalls*", "include=facts/CountedCalls*,internals=safe"):
        counted(session, counted_while_attached(session, options), f"attached, {options}")


# Probes that come by Math.tan().

def leaf_calls(session):
    """Math.tan() is what it was, and no call is lost, however it is compiled."""
    modes = {"": 20000, "-Xint": 1000, "-Xcomp": 1000, "-XX:TieredStopAtLevel=1": 20000,
             "-XX:-TieredCompilation": 20000,
             "-XX:+UnlockDiagnosticVMOptions -XX:-UseLibmIntrinsic": 20000}
    for vm, rounds in modes.items():
        bare = session.run(session.java("Tangents", vm) + [str(rounds)])
        agent = "file=run.step,events=method,include=facts/**"
        result = session.run(session.java("Tangents", vm, agent) + [str(rounds)])
        require((bare.returncode, bare.stdout, result.stderr) ==
                (result.returncode, result.stdout, bare.stderr),
                f"{vm}: it says {shown(result.stdout)} {shown(result.stderr)}")
        session.step("check", "run.step")
        rows = json.loads(session.step("stats", "--json", "--top=0", "run.step"))["methods"]
        calls = {row["method"]: row["calls"] for row in rows if row["method"] != "<clinit>"}
        require(calls == {"main": 1, "odd": rounds, "mixed": 16 * rounds}, f"{vm}: {calls}")


def leaf_methods(session):
    """Leaf methods, whose one probe tells of entry and exit, come in the order in which JVMTI has
    them, however they are left; where times are finer, they have two probes."""
    agent = "file=run.step,events=method,include=facts/LeafMethods*"
    wanted = None
    for name, vm in (("engine=jvmti", ""), ("resolution=1us", ""), ("resolution=none", "-Xint"),
                     ("internals=none", "")):
        said = session.run(session.java("LeafMethods", vm, f"{agent},{name}", ["320"])).stdout
        require(said.endswith(b" 120\n"), f"{name} {vm}: it says {shown(said)}")
        session.step("check", "run.step")
        session.step("convert", "run.step", "-o", "run.zip")
        trace = trace_text.read_zip(session.path("run.zip"))
        require(not trace.breaches, "\n".join([f"{name} {vm}", *trace.breaches]))
        require(len(trace.sequences) == 1, f"{name} {vm}: {len(trace.sequences)} threads")
        sequence, = trace.sequences.values()
        wanted = wanted or sequence
        other = next((i for i, pair in enumerate(itertools.zip_longest(sequence, wanted))
                      if pair[0] != pair[1]), None)
        require(other is None, f"{name} {vm}: event {other} is another: "
                f"{sequence[other or 0:][:3]}, not {wanted[other or 0:][:3]}")
        require(trace.methods["FP", "facts/LeafMethods$Node", "after"] == 20, "exceptions are lost")
    rounds = 20000
    for options, vm in (("", "-XX:-TieredCompilation"), (",resolution=1ns", "")):
        result = session.run(session.java("LeafMethods", vm, agent + options, [str(rounds), "deep"]))
        require(result.stdout.endswith(b"deep\n") and not result.stderr, shown(result.stderr))
        session.step("check", "run.step")
        rows = json.loads(session.step("sql", "--json", "run.step", LEAF_CALLS))
        calls, longer = rows[0]["calls"], rows[0]["longer"]
        require(calls == rounds * 3, f"{options} {vm}: {calls} calls")
        said = json.loads(session.step("info", "--json", "run.step"))["properties"]
        require(said.get("leaf-methods") == (None if options else "one time"), f"{options}: {said}")
        # without times, but for those whose records are the first of a chunk
        require(longer > calls / 2 if options else longer < calls / 1000,
                f"{options} {vm}: {longer} of {calls} calls take time")


def named_events(session):
    """The method events of one thread and what they name: objects by the order in which they come
    up."""
    numbers, events = {}, []
    for line in session.step("dump", "run.step").decode().splitlines():
        word = line.split(":")
        if word[0] in ("MN", "MX", "FP"):
            named = word[5] if word[0] == "MN" else "0"
            if named != "0":
                named = numbers.setdefault(named, len(numbers) + 1)
            events.append((word[0], *word[2:5], named))
        elif word[0] == "OA" and "facts/Receivers" in word[2]:
            events.append((word[0], word[2], numbers.setdefault(word[3], len(numbers) + 1)))
    return events


def receivers(session):
    """Method events name the same objects whether probes are native or show them to leaf calls,
    whatever runs them, with collections between."""
    # JVM, rounds, what the option internals is
    for vm, rounds, ways in (("-Xint", 300, ("none", "auto")), ("", 3000, ("none", "auto", "tan"))):
        wanted = None
        for internals in ways:
            agent = ("file=run.step,events=alloc+free+method,include=facts/Receivers*,"
                     f"internals={internals}")
            result = session.run(session.java("Receivers", "-Xmx48m " + vm, agent, [str(rounds)]))
            require(not result.stderr, f"{vm} {internals}: it says {shown(result.stderr)}")
            session.step("check", "run.step")
            used = json.loads(session.step("info", "--json", "run.step"))["properties"]["internals"]
            shows = "sight" in used.partition(";")[0].split()
            require(shows == (internals == "auto"), f"{internals}: {used}")
            events = named_events(session)
            require(len(events) > 20 * rounds, f"{vm} {internals}: {len(events)} events")
            wanted = wanted or events
            other = next((i for i, pair in enumerate(itertools.zip_longest(events, wanted))
                          if pair[0] != pair[1]), None)
            require(other is None, f"{vm} {internals}: event {other} is another: "
                    f"{events[other or 0:][:3]}, not {wanted[other or 0:][:3]}")


LEAF_CALLS = """select count(*) as calls, coalesce(sum(duration > 0), 0) as longer from calls
                where method in ('facts/LeafMethods$Node.made', 'facts/LeafMethods$Node.constant',
                                 'facts/LeafMethods$Node.next')"""


# Another agent that rewrites.

JACOCO = "/usr/share/java/org.jacoco.agent.jar"
JACOCO_TEST = "test"


def coverage(path):
    """What JaCoCo wrote, without the times of its session: classes by their files' checksums, and
    which parts of them ran."""
    data = pathlib.Path(path).read_bytes()
    return data[5 + 1 + 2 + len(JACOCO_TEST) + 16:]


def seen(session, name):
    """Method events and objects of our classes, without what JaCoCo adds."""
    session.step("check", name)
    session.step("convert", name, "-o", name + ".zip")
    trace = trace_text.read_zip(session.path(name + ".zip"))
    found = collections.Counter()
    for (kind, owner, method), count in trace.methods.items():
        if method != "$jacocoInit":
            found[kind, re.sub(r"Lambda.*", "Lambda", owner), method] += count
    for owner, count in trace.allocs.items():
        if owner.startswith("facts/"):
            found[re.sub(r"Lambda.*", "Lambda", owner)] += count
    return found


def second_agent(session):
    """JaCoCo before and after ours: both see what they see alone, and all classes verify."""
    if not os.path.exists(JACOCO):
        raise Skip("no libjacoco-java")
    with zipfile.ZipFile(JACOCO) as archive:
        archive.extract("jacocoagent.jar", session.directory)
    jacoco = f"-javaagent:jacocoagent.jar=destfile={{}},includes=facts.*,sessionid={JACOCO_TEST}"
    ours = f"-agentpath:{session.tracer}=file={{}}.step,overwrite=yes,events=all,include=facts/**"
    orders = {"alone": [ours], "without": [jacoco], "first": [ours, jacoco],
              "second": [jacoco, ours]}
    output, traces = {}, {}
    for name, agents in orders.items():
        command = session.java("Methods", "-Xverify:all")
        command[1:1] = [agent.format(name) for agent in agents]
        result = session.run(command)
        require(result.returncode == 0, f"{name}: it ends with {result.returncode}")
        output[name] = result.stdout
        if ours in agents:
            traces[name] = seen(session, name + ".step")
    require(len(set(output.values())) == 1, f"the program says {output}")
    for name in ("first", "second"):
        missing = (traces[name] - traces["alone"]) + (traces["alone"] - traces[name])
        require(not missing, f"ours {name}: another count of {missing}")
        require(coverage(session.path(name)) == coverage(session.path("without")),
                f"ours {name}: JaCoCo has another coverage")


TABLE = {function.__name__: function
         for function in (not_probed, not_compiled, start_stop, never_started, method_count,
                                  counted_threads, leaf_calls, leaf_methods, receivers, second_agent)}
