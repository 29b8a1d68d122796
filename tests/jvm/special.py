# SPDX-License-Identifier: Apache-2.0
"""Tests that are not one program with its facts: options, bad input, ends that the trace survives
or that it does not, and other readers of the text."""
import hashlib
import json
import os
import pathlib
import re
import signal
import subprocess
import zipfile

import advice_cases
import class_fields
import checked_cases
import corner_cases
import drivers
import eden_cases
import engine_choice_cases
import engine_cases
import escape_cases
import facts
import file_cases
import gentle_cases
import guard_cases
import hang_cases
import hash_cases
import heap_dump_cases
import heap_exports
import jfr_exports
import internals_cases
import jar_cases
import layout_cases
import locality_cases
import memory_cases
import nominal_cases
import other_agent
import other_layout_cases
import pause_cases
import phase_cases
import probe_cases
import reference_cases
import ring_cases
import running_cases
import sampled_cases
import sampled_sets
import sampled_windows
import simulate_cases
import source_cases
import stack_cases
import stamp_cases
import stopped_cases
import trace_text
from session import Failure, Skip, answer, expect_line, finish, shown


def require(condition, text):
    if not condition:
        raise Failure(text)


def traced(session, main, options, vm="", words=()):
    return session.run(session.java(main, vm, options, words))


def read(session, name="run.step", markers=()):
    """The checked text of a trace."""
    session.step("check", name)
    session.step("convert", name, "-o", name + ".zip")
    trace = trace_text.read_zip(session.path(name + ".zip"), markers)
    require(not trace.breaches, "\n".join(trace.breaches))
    return trace


def same_as_untraced(session, main, options, words=()):
    bare = session.run(session.java(main, words=words))
    result = traced(session, main, options, words=words)
    require((bare.returncode, bare.stdout) == (result.returncode, result.stdout),
            f"traced, it ends with {result.returncode}, not {bare.returncode}\n"
            + shown(result.stdout) + shown(result.stderr))
    return result


# Options.

def refused(session, options, *words):
    """The JVM does not start, and stderr has all of these words."""
    result = traced(session, "Scalars", options)
    text = result.stderr.decode(errors="replace")
    require(result.returncode != 0, f"{options}: the JVM starts")
    require(b"1300025000" not in result.stdout, f"{options}: the program ran")
    missing = [word for word in words if word not in text]
    require(not missing, f"{options}: not a word of {missing} in\n{text}")


def unknown_options(session):
    refused(session, "bogus=1,events=alloc+frobnicate,resolution=7parsecs,file=run.step,level=99,"
            "engine=steam,existing=perhaps,limit=-1", "bogus", "frobnicate", "7parsecs", "level",
            "steam", "perhaps", "limit")
    refused(session, "events=free", "free")
    refused(session, "file=", "file")
    refused(session, "fil=run.step", "did you mean 'file'")
    refused(session, "file", "option 'file' has no value")
    refused(session, "options=/no/such/file", "/no/such/file")
    require(not pathlib.Path(session.path("run.step")).exists(), "run.step was made")


def help_option(session):
    result = traced(session, "Scalars", "help")
    text = (result.stdout + result.stderr).decode()
    require(result.returncode == 0, f"help ends with {result.returncode}")
    for key in ("file", "events", "engine", "resolution", "existing", "include", "exclude",
                "overflow", "buffer", "limit", "finish", "options", "method", "start", "stop", "internals"):
        require(key in text, f"help does not tell of {key}:\n{text}")


def options_file(session):
    pathlib.Path(session.path("tracer.options")).write_text(
        "# comments are allowed\nevents=all\ninclude=facts/*\n\nfile=run.step\n")
    same_as_untraced(session, "Methods", "options=tracer.options")
    require(read(session).kinds["MN"] > 100, "no methods")


def file_name(session):
    """%p, and several JVMs at once."""
    command = session.java("Unloading", "-Xmx128m", "file=run-%p-%%.step")
    running = [subprocess.Popen(command, cwd=session.directory, stdout=subprocess.PIPE)
               for _ in range(2)]
    for process in running:
        require(process.wait(session.timeout) == 0, "it fails")
        process.stdout.close()
        trace = read(session, f"run-{process.pid}-%.step")
        require(trace.allocs["facts/Unloaded"] == 600, "objects are missing")


def judge_absence(session, events):
    """What was not recorded is no 0: it is named, and no rule about it passes."""
    absent = {"alloc+thread": ("free", "alive_at_end > 1", "leaked > 1g"),
              "method+thread": ("alloc", "allocated > 1g", "growth > 1g")}
    if events not in absent:
        return
    option, rule, leak_rule = absent[events]
    require(f"not recorded (the agent's option events={option})".encode() in session.step("stats", "run.step"),
            "stats does not say what was not recorded")
    told = json.loads(session.step("stats", "--json", "run.step"))
    require(told["deaths"]["recorded"] is False and ("recorded" in told["objects"]) == (option == "alloc"),
            f"stats --json: {told['deaths']}, {told['objects']}")
    session.step("stats", "-q", f"--fail-if={rule}", "run.step", codes=(3,))
    session.step("leaks", "-q", f"--fail-if={leak_rule}", "run.step", codes=(3,))
    session.step("heap", "-q", "--at=end", "--fail-if=alive > 1g", "run.step", codes=(3,))
    present = "allocated > 1g" if option == "free" else "calls > 1g"
    session.step("stats", "-q", f"--fail-if={present}", "run.step")
    for words in (["heap"], ["leaks"], ["watch", "--json"]):
        told = session.run([session.steptrace, *words, "run.step"])
        require(told.returncode == 0 and f"events={option}".encode() in told.stderr, f"{words}: {shown(told.stderr)}")
    session.step("report", "run.step", "-o", "run.html")
    with open(session.path("run.html"), encoding="utf-8") as page:
        require("were not recorded (the agent" in page.read(), "the page does not say what was not recorded")


def event_sets(session):
    """What was asked for is there, and nothing else."""
    wanted = {"class": "CL", "thread": "TB TE", "alloc": "CL OA", "alloc+thread": "CL OA TB TE",
              "method+thread": "CL TB TE MN MX FP"}
    for events, kinds in wanted.items():
        same_as_untraced(session, "Uncaught", f"file=run.step,events={events}")
        found = set(read(session).kinds) - {"VS", "VI", "VD"}
        missing, extra = set(kinds.split()) - found, found - set(kinds.split()) - {"CL", "TB", "TE"}
        require(not missing, f"events={events} lacks {missing}")
        require(not extra, f"events={events} has {extra}")
        judge_absence(session, events)


def no_existing(session):
    same_as_untraced(session, "Frees", "file=run.step,existing=no")
    trace = read(session)
    require(trace.existing["OA"] < 500, f"{trace.existing['OA']} objects at VI")
    require(trace.frees["facts/Frees$Dropped"] == 60000, "frees are missing")


def resolution(session):
    for text, unit in (("1ns", 1), ("1us", 1000), ("1ms", 1000000)):
        same_as_untraced(session, "Uncaught", f"file=run.step,events=all,resolution={text}")
        read(session)
        unit = unit if session.version() < 21 else min(unit, 1000)
        info = json.loads(session.step("info", "--json", "run.step"))["properties"]
        require(info["resolution-ns"] == str(unit), f"{text}: it is {info['resolution-ns']} ns")
        times = {int(line.split(b":")[1]) for line in session.step("dump", "run.step").splitlines()}
        require(all(time % unit == 0 for time in times), f"a time is no multiple of {text}")
        require(unit > 1 or any(time % 1000 for time in times), "no time has nanoseconds")


def program_with(session, name, options):
    """A program's facts, with other options than its own."""
    program = facts.Program(session.sources, name)
    program.settings["options"] = options
    drivers.plain(session, program)
    program.add_facts(session.path("facts.out"))
    faults = facts.Judge(program, read(session, markers=program.markers()), None)
    program.facts = [fact for fact in program.facts if not fact[0].startswith("threads-")]
    require(not faults.judge(), "\n".join(faults.faults))


def no_times(session):
    """Counted stamps: all facts hold, the order needs no clock, and readers say so."""
    programs = [("Frees", ""), ("Methods", ",include=facts/**"), ("Uncaught", ",engine=jvmti")]
    if session.version() >= 21:
        programs.append(("VirtualHandover", ",include=facts/VirtualHandover*"))
    for name, options in programs:
        program_with(session, name, "resolution=none" + options)
        session.step("convert", "run.step", "-o", "again.step")
        for file in "run.step", "again.step":
            info = json.loads(session.step("info", "--json", file))
            require(info["properties"]["clock"] == "none" and "resolution-ns" not in
                    info["properties"], f"{file} claims to have times: {info['properties']}")
        require(b"not recorded" in session.step("info", "run.step"), "info tells times")
        if name == "Frees":
            last = info["last_ns"]
            dump = session.step("dump", "run.step")
            numbers = {int(line.split(b":")[1]) for line in dump.splitlines()
                       if line.startswith(b"OF")}
            require(2 < last < 10000 and len(numbers) > 1 and max(numbers) <= last,
                    f"{last} ticks, frees in {sorted(numbers)}")
    require(b"(no clock: steps" in session.step("stats", "run.step"), "stats tells nanoseconds")
    stats = json.loads(session.step("stats", "--json", "run.step"))
    require(stats["clock"] is False and stats["lifetime_unit"] == "steps" and
            not any("exclusive_ns" in method for method in stats["methods"]),
            "stats --json tells nanoseconds")
    require(re.search(rb" steps?, ", session.step("heap", "run.step")), "heap tells nanoseconds")
    require("a_second" not in json.loads(session.step("watch", "--once", "--json", "run.step")) and
            b"a second: -" in session.step("watch", "--once", "run.step"), "watch has rates of steps")
    compared = session.step("compare", "run.step", "run.step")
    require(b"allocated" in compared and b"duration" not in compared and b" ns " not in compared,
            "compare tells nanoseconds")
    session.step("compare", "run.step", "run.step", "--fail-if=duration > 1s", codes=(3,))
    session.step("report", "run.step", "-o", "run.html")
    with open(session.path("run.html"), encoding="utf-8") as page:
        require('"clock":false' in page.read(), "the page tells nanoseconds")
    converted = session.run([session.steptrace, "convert", "run.step", "-o", "run.hatf"])
    require(converted.returncode == 0 and b"its times are steps" in converted.stderr,
            f"convert tells nanoseconds: {shown(converted.stderr)}")


def no_times_leaks(session):
    """Survivors and ages without a clock: what SampledLeak.java keeps.  Two collections may be one of the trace."""
    result = session.run(session.java("SampledLeak", agent="file=run.step,resolution=none,stack=16"))
    require(result.returncode == 0, f"it ends with {result.returncode}")
    found = json.loads(session.step("leaks", "--json", "--by=class", "--top=0", "run.step"))
    nodes = {row["class"]: row for row in found["rows"]}["facts/SampledLeak$Node"]
    print(f"{nodes}, {found['collections']} collections")
    require(found["deaths"]["clock"] is False, "leaks --json tells nanoseconds")
    require(40_000 <= nodes["objects"] <= 64_000 and 1 < nodes["mean_age_ns"] < found["collections"] + 3
            and nodes["growth_bytes_per_collection"] > 0, f"leaks: {nodes}")
    heap = json.loads(session.step("heap", "--json", "--at=end", "--top=0", "run.step"))
    nodes = {row["class"]: row for row in heap["rows"]}["facts/SampledLeak$Node"]
    require(nodes["objects"] == 64_000 and nodes["mean_age_ns"] > 1, f"heap: {nodes}")
    # A trace with a clock keeps its ages beside one without.
    result = session.run(session.java("SampledLeak", agent="file=clock.step,stack=16"))
    require(result.returncode == 0, f"it ends with {result.returncode}")
    ages = []
    for words in ([], ["--baseline=run.step"]):
        found = json.loads(session.step("leaks", "--json", "--by=class", "--top=0", *words, "clock.step"))
        require("clock" not in found["deaths"], f"{words}: clock.step has a clock")
        ages.append({row["class"]: row["mean_age_ns"] for row in found["rows"]})
    require(ages[0] == ages[1] and ages[0]["facts/SampledLeak$Node"] > 1e6, f"ages: {ages}")
    told = session.run([session.steptrace, "stats", "--lifetime=<10ms", "run.step"])
    require(told.returncode == 0 and b"times in selections are steps" in told.stderr, "a lifetime is compared with steps")


def small_buffer(session):
    program_with(session, "HotAllocations", "buffer=1m,overflow=block")
    info = json.loads(session.step("info", "--json", "run.step"))["properties"]
    waited, longest = int(info["waited-ns"]), int(info["longest-wait-ns"])
    threads = [[int(number) for number in thread.split(":")] for thread in
               info.get("waits", "").split(",") if thread]
    require(sum(total for _, total, _ in threads) == waited, f"waits are not {waited} ns: {threads}")
    require(max((most for _, _, most in threads), default=0) == longest, f"not {longest}: {threads}")


def overflow_drop(session):
    """The program does not wait; what is lost is counted."""
    same_as_untraced(session, "Fill", "file=run.step,buffer=1m,overflow=drop")
    info = session.step("info", "run.step", codes=(0, 3)).decode()
    require("dropped" in info, f"info does not tell of drops:\n{info}")
    for words in (["check"], ["stats"], ["sql", "select 1 from objects limit 1"]):
        result = session.run([session.steptrace, words[0], "run.step", *words[1:]])
        require(result.returncode == 3 and b"were dropped" in result.stderr and
                b"closed" not in result.stdout, f"{words}: {result.returncode} {shown(result.stderr)}")
    # Calls of objects whose allocation was lost name none, which check takes.
    same_as_untraced(session, "HotAllocations", "file=run.step,buffer=1m,overflow=drop,events=all,"
                     "include=facts/**")
    properties = json.loads(session.step("info", "--json", "run.step", codes=(0, 3)))["properties"]
    session.step("check", "run.step", codes=(0 if properties.get("dropped", "0") == "0" else 3,))
    dropped_and_killed(session)


def dropped_and_killed(session):
    """Whoever reads what a killed JVM left is told of drops, and so is who reads the repaired file."""
    process = session.start(session.java("Killed", "", "file=run.step,buffer=1m,overflow=drop,"
                                         "events=all,include=facts/**"))
    expect_line(process, "made 2000000")
    process.kill()
    process.communicate()
    session.step("recover", "run.step", "-o", "whole.step", codes=(0, 3))
    for name in ("run.step", "whole.step"):
        for verb in ("check", "stats"):
            result = session.run([session.steptrace, verb, name])
            require(result.returncode == 3 and b"were dropped" in result.stderr and
                    b"rule" not in result.stdout, f"{verb} {name}: {result.returncode}, "
                    f"{shown(result.stdout)}{shown(result.stderr)}")


def level(session):
    for number in (1, 12):
        same_as_untraced(session, "Uncaught", f"file=run.step,level={number},events=all")
        read(session)


# Ends.

def no_program(session):
    """Traces with nearly nothing in them."""
    require(traced(session, "-version", "file=run.step").returncode == 0, "java -version fails")
    if pathlib.Path(session.path("run.step")).exists():
        read(session)
    require(traced(session, "NoSuchClass", "file=run.step").returncode == 1, "no such class")
    read(session)


def terminated(session):
    """SIGTERM: the JVM ends in good order, and so does the trace."""
    process = session.start(session.java("KilledQuiet", "", "file=run.step"))
    expect_line(process, "waiting")
    process.send_signal(signal.SIGTERM)
    finish(process)
    require(process.returncode in (143, -15), f"it ends with {process.returncode}")
    require(read(session).allocs["facts/KilledQuiet$Counted"] == 3000, "objects are missing")


def unfinished(session):
    """The program's end waits for nothing: the rest is in the live file, and none of it is lost."""
    result = same_as_untraced(session, "Methods", "file=run.step,finish=0ms,events=all,"
                              "include=facts/**,existing=no")
    require(b"the rest is in run.step.live" in result.stderr, f"not told: {shown(result.stderr)}")
    require(pathlib.Path(session.path("run.step.live")).exists(), "run.step.live is gone")
    session.step("recover", "run.step", "-o", "whole.step")
    for name in ("run.step", "whole.step"):
        trace = read(session, name)
        calls = trace.methods["MN", "facts/Methods", "one"]
        require((calls, trace.kinds["VD"]) == (504, 1), f"{name}: {calls}, {dict(trace.kinds)}")
    os.rename(session.path("run.step.live"), session.path("elsewhere"))
    cut = session.step("check", "run.step", codes=(3,))
    require(b"the trace is cut" in cut, f"without the rest: {shown(cut)}")
    os.rename(session.path("elsewhere"), session.path("run.step.live"))
    session.step("recover", "run.step")
    require(not pathlib.Path(session.path("run.step.live")).exists(), "run.step.live is there")
    require(session.step("dump", "run.step") == session.step("dump", "whole.step"), "it is another")


def limit(session):
    same_as_untraced(session, "Fill", "file=run.step,resolution=1ns,limit=256k", ["500000"])
    size = os.path.getsize(session.path("run.step"))
    require(size < 1 << 20, f"the file has {size} bytes")
    info = session.step("info", "run.step", codes=(0, 3)).decode()
    require("limit" in info, f"info does not tell of the limit:\n{info}")
    session.step("stats", "run.step", "--fail-if", "allocated > 1t", codes=(3,))  # of the rest nothing is known
    session.step("stats", "run.step", "--fail-if", "allocated > 1k", codes=(4,))
    read(session)
    require(not pathlib.Path(session.path("run.step.live")).exists(), "run.step.live is there")
    # Constructors that are open at that moment have their objects, which nobody has made yet.
    same_as_untraced(session, "OpenConstructors", "file=open.step,resolution=1ns,limit=256k,"
                     "events=all,include=facts/**", ["400000"])
    require("limit" in session.step("info", "open.step", codes=(0, 3)).decode(), "open.step: no limit")
    require(read(session, "open.step").allocs["facts/OpenConstructors$Held"] == 2, "not two are held")


def full_disk(session):
    with ring_cases.small_memory(session, "6m") as mount:
        # The mapping and the trace share the disk: the one leaves some room to the other.
        ended = same_as_untraced(session, "Fill", "file=disk/run.step,resolution=1ns,buffer=4m", ["6000000"])
        live = mount / "run.step.live"
        ring_cases.wait_for(session, "the writer's end", lambda: not live.exists() or not ring_cases.is_locked(live))
        for name in os.listdir(mount):
            pathlib.Path(session.path(name)).write_bytes((mount / name).read_bytes())
    info = session.step("info", "run.step", codes=(0, 3)).decode()
    session.step("convert", "run.step", "-o", "run.zip", codes=(0, 3))
    lines = trace_text.read_zip(session.path("run.zip"))
    require(lines.kinds["OA"] > 10000, f"only {lines.kinds['OA']} objects were saved")
    require("disk" in info or "full" in info, f"info does not tell of the disk:\n{info}")
    for words in (["check"], ["stats"], ["sql"]):
        question = ["select count(*) from objects"] if words == ["sql"] else []
        result = session.run([session.steptrace, *words, "run.step", *question])
        # where the room that is kept for the end does not suffice, the rest is in the live file
        named = b"the disk was full" in result.stderr or b"could not be taken" in ended.stderr
        require(result.returncode == 3 and named,
                f"{words}: {shown(result.stderr)}; the program: {shown(ended.stderr)}")


def full_disk_at_start(session):
    """No room for the mapping: the program runs without a trace."""
    with ring_cases.small_memory(session, "64k"):
        result = traced(session, "HotAllocations", "file=disk/run.step")
    require(result.returncode == 0 and b"the program runs untraced" in result.stderr,
            f"it ends with {result.returncode}\n{shown(result.stderr)}")


# Attach.

def attach_faults(session):
    """Bad options, and method events of engine=jvmti after an attach: named, and the program goes on."""
    process = session.start(session.java("Attached", "-XX:+EnableDynamicAgentLoading"))
    try:
        expect_line(process, "attach")
        for options in ("bogus=1", "stop", "file=/no/such/directory/x"):
            require(drivers.load(session, process.pid, options, may_fail=True) != 0,
                    f"{options} is taken")
        drivers.load(session, process.pid, "file=run.step,events=all,engine=jvmti")
        for _ in range(3):
            answer(process)
        rest = finish(process)
    finally:
        process.kill()
    require(process.returncode == 0 and b"held 100" in rest, "the program did not go on")
    errors = pathlib.Path(session.path("stderr")).read_text()
    require("bogus" in errors and "method" in errors, f"not named:\n{errors}")
    require(read(session).allocs["facts/Attached$While"] == 20000, "objects are missing")


# Other readers.

def readers(session):
    """unzip, Python's zipfile and the JDK's two readers find the same text."""
    same_as_untraced(session, "Classes", "file=run.step,events=all,include=facts/**")
    read(session)
    name = session.path("run.step.zip")
    with zipfile.ZipFile(name) as archive:
        digest = hashlib.sha256(archive.read("trace")).hexdigest()
        require(archive.testzip() is None, "zipfile finds it damaged")
    unzip = session.run(["unzip", "-p", name, "trace"])
    require(hashlib.sha256(unzip.stdout).hexdigest() == digest, "unzip finds another text")
    java = session.run(session.java("ReadZip", words=[name]))
    require(java.stdout.decode().split() == ["1", digest, "trace", digest],
            f"the JDK finds {java.stdout.decode()} {shown(java.stderr)}, not {digest}")
    dump = session.step("dump", "run.step")
    require(hashlib.sha256(dump).hexdigest() == digest, "dump prints another text")
    session.step("convert", "run.step.zip", "-o", "back.step")
    session.step("convert", "back.step", "-o", "back.zip")
    with zipfile.ZipFile(session.path("back.zip")) as archive:
        require(hashlib.sha256(archive.read("trace")).hexdigest() == digest,
                "text -> step -> text changes it")


def record(session):
    result = session.run([session.steptrace, "record", "-o", "run.step", "--",
                          *session.java("Uncaught")],
                         env={**os.environ, "STEPTRACE_AGENT": session.tracer})
    require(result.returncode == 1, f"record ends with {result.returncode}\n{shown(result.stderr)}")
    require(read(session).allocs["facts/Uncaught$Failure"] == 1, "objects are missing")


TABLE = {function.__name__: function for function in (
    unknown_options, help_option, options_file, file_name, event_sets, no_existing,
    resolution, no_times, no_times_leaks, small_buffer, overflow_drop, level, no_program, terminated,
    unfinished, limit, full_disk, full_disk_at_start, attach_faults, readers, record, heap_exports.heap_exports, jfr_exports.jfr_exports)}
TABLE.update(engine_cases.TABLE)
TABLE.update(engine_choice_cases.TABLE)
TABLE.update(class_fields.TABLE)
TABLE.update(heap_dump_cases.TABLE)
TABLE.update(reference_cases.TABLE)
TABLE.update(simulate_cases.TABLE)
TABLE.update(advice_cases.TABLE)
TABLE.update(locality_cases.TABLE)
TABLE.update(nominal_cases.TABLE)
TABLE.update(stack_cases.TABLE)
TABLE.update(hash_cases.TABLE)
TABLE.update(ring_cases.TABLE)
TABLE.update(hang_cases.TABLE)
TABLE.update(other_agent.TABLE)
TABLE.update(running_cases.TABLE)
TABLE.update(internals_cases.TABLE)
TABLE.update(corner_cases.TABLE)
TABLE.update(layout_cases.TABLE)
TABLE.update(other_layout_cases.TABLE)
TABLE.update(escape_cases.TABLE)
TABLE.update(source_cases.TABLE)
TABLE.update(stopped_cases.TABLE)
TABLE.update(pause_cases.TABLE)
TABLE.update(checked_cases.TABLE)
TABLE.update(phase_cases.TABLE)
TABLE.update(probe_cases.TABLE)
TABLE.update(eden_cases.TABLE)
TABLE.update(sampled_cases.TABLE)
TABLE.update(sampled_sets.TABLE)
TABLE.update(sampled_windows.TABLE)
TABLE.update(jar_cases.TABLE)
TABLE.update(file_cases.TABLE)
TABLE.update(gentle_cases.TABLE)
TABLE.update(memory_cases.TABLE)
TABLE.update(guard_cases.TABLE)
TABLE.update(stamp_cases.TABLE)
