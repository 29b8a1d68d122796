# SPDX-License-Identifier: Apache-2.0
"""The option internals: what is switched off, what must prove itself, and what the trace says of
it."""
import json
import os
import pathlib
import shutil
import signal

import drivers
import facts
import trace_text
from hash_cases import ALL_HASHED, TAGS_DRAW
from session import Failure, Skip, answer, expect_line, finish, shown

NAMES = ("frames", "archive", "tan", "sight", "hash", "natives", "define", "reflect", "slots", "headers",
         "recycle", "boxes")
WRITES = {"tan", "sight", "hash", "natives", "recycle"}
PROGRAMS = ("Methods", "Allocations", "Frees", "Clones", "Throwing")


def require(condition, text):
    if not condition:
        raise Failure(text)


def told(session, name="run.step", codes=(0,)):
    """The property: what was used, and what was not with the reasons."""
    info = json.loads(session.step("info", "--json", name, codes=codes))
    text = info["properties"].get("internals", "")
    used, _, refused = text.partition("; not ")
    return set(used.split()) - {"none"}, refused


def judged(session, name, internals):
    """A program's facts with this option; without `define` hidden classes have no method events."""
    program = facts.Program(session.sources, name)
    own = program.settings["options"]
    program.settings["options"] = (own + "," if own else "") + f"internals={internals}"
    drivers.plain(session, program)
    program.add_facts(session.path("facts.out"))
    session.step("check", "run.step")
    session.step("convert", "run.step", "-o", "run.zip")
    trace = trace_text.read_zip(session.path("run.zip"), program.markers())
    program.facts = [fact for fact in program.facts if not fact[0].startswith("threads-") and
                     ("define" in internals or "$$Lambda" not in " ".join(map(str, fact)))]
    faults = trace.breaches + facts.Judge(program, trace, None).judge()
    require(not faults, f"{name}, internals={internals}:\n" + "\n".join(faults))


def internals_none(session):
    """Without any the traces are as exact."""
    for name in PROGRAMS:
        judged(session, name, "none")
        used, refused = told(session)
        require(not used, f"{used} were used")
        require(all(f"{name} (option internals)" in refused for name in NAMES), refused)


def attached_internals(session, name, *options):
    """What `steptrace attach` uses with these options; its trace is checked."""
    process = session.start(session.java("Rounds", "-XX:+EnableDynamicAgentLoading -Xmx64m"))
    try:
        expect_line(process, "attach")
        session.step("attach", f"--agent={session.tracer}", "-o", name, "-d", "1s",
                     *options, str(process.pid))
        answer(process)
        require(finish(process) == b"true\n", "the program changed")
    finally:
        process.kill()
    session.step("check", name)
    return told(session, name)


def internals_safe(session):
    """Nothing that writes into the JVM: the default of `steptrace attach`; traces are as exact."""
    for name in PROGRAMS:
        judged(session, name, "safe")
        used, refused = told(session)
        require(not used & WRITES, f"{used} were used")
        require(all(f"{word} (option internals)" in refused for word in WRITES), refused)
    used, refused = attached_internals(session, "safe.step")
    require("slots" in used and not used & WRITES, f"attached: {used}, not {refused}")
    require(all(f"{word} (option internals)" in refused for word in WRITES), refused)
    _, refused = attached_internals(session, "auto.step", "-O", "internals=auto")
    require("(option internals)" not in refused, f"attached, auto: not {refused}")


def unboxed_late(session):
    """Code that C2 compiled without boxes before the trace has them in it, with what attach may do to a service."""
    process = session.start(session.java("UnboxedLate", "-XX:+EnableDynamicAgentLoading -XX:-BackgroundCompilation"))
    try:
        expect_line(process, "attach")
        session.step("attach", f"--agent={session.tracer}", "-o", "late.step", str(process.pid))
        answer(process)
        require(finish(process) == b"true\n", "the program changed")
    finally:
        process.kill()
    used, refused = told(session, "late.step")
    require("boxes" in used, f"{used}, not {refused}")
    classes = json.loads(session.step("stats", "--json", "--top=0", "--thread=main", "late.step"))
    boxes = [row["allocated_objects"] for row in classes["classes"] if row["name"] == "java/lang/Integer"]
    require(boxes == [200_000], f"{boxes} boxes")


def internals_listed(session):
    """Each alone, and only it."""
    for name in NAMES:
        judged(session, "Methods", name + "+" + name)
        used, refused = told(session)
        require(used <= {name}, f"{used} were used, not {name} alone")
        require(name not in ("hash", "slots", "define", "tan") or used == {name},
                f"{name} was not used: {refused}")


def internals_proven(session):
    """As on a JDK that was not tested: interpreter, C1 and C2 show that no call is lost."""
    for vm in ("", "-Xint", "-XX:-TieredCompilation", "-Xcomp"):
        result = session.run(session.java("Methods", vm, "file=run.step,events=all,include=facts/**,"
                                          "internals=proven"))
        require(result.returncode == 0, shown(result.stderr))
        session.step("check", "run.step")
        used, refused = told(session)
        wanted = {"tan", "hash", "define", "slots"}
        if not TAGS_DRAW <= session.version() < ALL_HASHED:
            wanted.add("archive")
        require(wanted <= used, f"{vm}: {used}, not {refused}")
        require(vm == "-Xcomp" or "sight" in used, f"{vm}: {used}, not {refused}")
    result = session.run(session.java("Frees", "", "file=run.step,stack=4,internals=proven"))
    require(result.returncode == 0, shown(result.stderr))
    used, refused = told(session)
    require({"frames", "recycle"} <= used, f"{used}, not {refused}")
    # Where C2 makes no code it cannot be asked.
    session.run(session.java("Methods", "-XX:TieredStopAtLevel=1",
                             "file=run.step,events=all,internals=proven"))
    require("tan (no compiled code" in told(session)[1], told(session)[1])


def internals_kept(session):
    """A trace that finds the probes of an earlier one uses what these use: it says so, or restores the classes."""
    process = session.start(session.java("Trickle", "-XX:+EnableDynamicAgentLoading -Xmx64m", "file=first.step,probes=keep"))
    try:
        expect_line(process, "trickles")
        for options in ("file=second.step,probes=keep", "file=none.step,probes=keep,internals=none", "file=last.step"):
            drivers.load(session, process.pid, "stop")
            drivers.load(session, process.pid, options)
        answer(process)
        require(finish(process) == b"done true\n", "the program changed")
    finally:
        process.kill()
    for name in "first", "second":
        used, refused = told(session, f"{name}.step")
        require({"boxes", "define"} <= used, f"{name}: {used}, not {refused}")
    used, refused = told(session, "none.step")
    require(not used and "boxes (option internals)" in refused, f"none: {used}, not {refused}")
    used, refused = told(session, "last.step")
    require("define" in used and "boxes (classes keep probes" in refused, f"last: {used}, not {refused}")


def internals_crash(session):
    """After a crash of the JVM the trace tells what was on when it came."""
    process = session.start(session.java("KilledQuiet", "-XX:-CreateCoredumpOnCrash",
                                         "file=run.step,events=all,include=facts/**"))
    expect_line(process, "waiting")
    process.send_signal(signal.SIGSEGV)
    process.communicate(timeout=session.timeout)
    require(process.returncode not in (0, None), "it lives")
    require(list(pathlib.Path(session.directory).glob("hs_err*")), "no hs_err file")
    used, refused = told(session, codes=(0, 3))
    require({"tan", "sight", "hash", "define", "slots"} <= used, f"{used}, not {refused}")


def internals_zero(session):
    """Another VM of the same JDK: what is of HotSpot's machine code is left alone."""
    if session.run([session.tool("java"), "-zero", "-version"]).returncode != 0:
        raise Skip("no Zero VM")
    bare = session.run(session.java("Methods", "-zero"))
    result = session.run(session.java("Methods", "-zero", "file=run.step,events=all,stack=4,"
                                      "walk=jvmti,include=facts/**"))
    require((bare.returncode, bare.stdout) == (result.returncode, result.stdout),
            shown(result.stdout) + shown(result.stderr))
    session.step("check", "run.step")
    used, refused = told(session)
    require(not used & {"frames", "tan"}, f"{used} were used")
    require("tan (the JVM does not publish" in refused, refused)


def internals_unknown(session):
    for text in ("tangent", "none+tan", "tan+", ""):
        result = session.run(session.java("Scalars", "", f"file=run.step,internals={text}"))
        require(result.returncode != 0 and b"internals" in result.stderr,
                f"internals={text}: {shown(result.stderr)}")


def copied_jdk(session):
    """A copy of the JDK with a libjvm.so of its own: links, but for what says where it is."""
    home = pathlib.Path(session.path("jdk"))
    shutil.rmtree(home, ignore_errors=True)
    for folder in ("bin", "lib/server"):
        (home / folder).mkdir(parents=True)
    own = ("bin/java", "lib/libjli.so", "lib/server/libjvm.so")
    for folder in ("", "bin", "lib", "lib/server"):
        for entry in (session.jdk / folder).iterdir():
            name = str(pathlib.Path(folder, entry.name))
            if name in own:
                shutil.copy(entry, home / name)
            elif not (home / name).exists():
                (home / name).symlink_to(entry.resolve())
    return home, home / "lib/server/libjvm.so"


def asks_for_stacks(session, old, new, unused):
    """In a JVM altered so, one line names the way that is used in place of frames, and the trace is
    exact."""
    session.jdk, library = copied_jdk(session)
    code = library.read_bytes()
    require(old in code and len(old) == len(new), f"libjvm.so has no {old}")
    library.write_bytes(code.replace(old, new))
    try:
        judged(session, "Allocations", "auto")
        result = session.run(session.java("Frees", "", "file=run.step,stack=4"))
        require(result.returncode == 0, shown(result.stderr))
        said = [line for line in result.stderr.decode().splitlines() if "steptrace:" in line]
        require(len(said) == 1 and "falling back to JVMTI" in said[0], f"it says {said}")
        session.step("check", "run.step")
        used, refused = told(session)
        require("slots" in used and not used & unused, f"{used}, not {refused}")
        require(all(f"{name} (" in refused for name in unused & {"frames", "archive"}), refused)
    finally:
        shutil.rmtree(session.jdk)


def no_tables(session):
    """A JVM that exports no tables for debuggers."""
    asks_for_stacks(session, b"\0gHotSpotVMStructs\0", b"\0xHotSpotVMStructs\0",
                    {"frames", "archive", "headers", "recycle"})


def unknown_vm(session):
    """A VM of another name; what has a self-test is used, and proven."""
    asks_for_stacks(session, b"64-Bit Server VM", b"64-Bit Sirver VM", {"frames"})


def used_by(session):
    """What a run with stacks uses and refuses."""
    result = session.run(session.java("Frees", "", "file=run.step,overwrite=yes,stack=4"))
    require((result.returncode, result.stderr) == (0, b""), shown(result.stderr))
    session.step("check", "run.step")
    return told(session)


def stripped(session):
    """A JVM without debug symbols is traced like any other."""
    if shutil.which("strip") is None:
        raise Skip("no strip")
    whole = used_by(session)
    session.jdk, library = copied_jdk(session)
    size = library.stat().st_size
    try:
        require(session.run(["strip", "--strip-all", str(library)]).returncode == 0, "strip fails")
        require(library.stat().st_size < size, "it had no symbols")
        require(used_by(session) == whole, f"{used_by(session)} instead of {whole}")
        judged(session, "Allocations", "auto")
    finally:
        shutil.rmtree(session.jdk)


FAULT = "an object moved in a pause that was not announced"


def faulty(session, program, options, **environment):
    """Runs it with the agent that does not hear of all collections."""
    tracer, session.tracer = session.tracer, faulty_tracer(session)
    try:
        return session.run(session.java(program, "-Xmx64m", options),
                           env={**os.environ, **environment})
    finally:
        session.tracer = tracer


def faulty_tracer(session):
    return str(pathlib.Path(session.library).with_name("libfaultytracer.so"))


def canary_in_process(session):
    """What was switched off stays so in the sessions to come."""
    session.tracer, tracer = faulty_tracer(session), session.tracer
    os.environ["STEPTRACE_ANNOUNCED"] = "3"
    process = session.start(session.java("Rounds", "-XX:+EnableDynamicAgentLoading -Xmx64m"))
    try:
        expect_line(process, "attach")
        drivers.load(session, process.pid, "file=run.step,events=alloc+free")
        errors = pathlib.Path(session.path("stderr"))
        for _ in range(200):
            session.run([session.tool("jcmd"), str(process.pid), "GC.run"])
            if FAULT in errors.read_text():
                break
        drivers.load(session, process.pid, "stop")
        drivers.load(session, process.pid, "start,file=second.step,events=all")
        drivers.load(session, process.pid, "stop")
        answer(process)
        require(finish(process) == b"true\n", "the program changed")
    finally:
        session.tracer = tracer
        del os.environ["STEPTRACE_ANNOUNCED"]
        process.kill()
    require(FAULT in errors.read_text(), "not noticed in 200 collections")
    for name in ("run.step", "second.step"):
        used, refused = told(session, name)
        require(not used & WRITES and f"recycle ({FAULT})" in refused,
                f"{name}: {used}, not {refused}")


def session_numbers(session):
    """Tags hold twelve bits of a session's number: what session 1 tagged is not of session 4097."""
    session.tracer, tracer = faulty_tracer(session), session.tracer
    os.environ["STEPTRACE_SESSIONS"] = "4096"
    process = session.start(session.java("Rounds", "-XX:+EnableDynamicAgentLoading -Xmx64m"))
    try:
        expect_line(process, "attach")
        for command in ("file=run.step,events=class+alloc+free", "stop",
                        "start,file=second.step,events=class+alloc+free", "stop"):
            drivers.load(session, process.pid, command)
        answer(process)
        require(finish(process) == b"true\n", "the program changed")
    finally:
        session.tracer = tracer
        del os.environ["STEPTRACE_SESSIONS"]
        process.kill()
    existing = []
    for name in ("run.step", "second.step"):
        session.step("check", name)
        stats = json.loads(session.step("stats", "--json", "--top=0", name))
        existing.append(sum(row["existing_objects"] for row in stats["classes"]))
    require(existing[0] > 1000 and existing[1] > existing[0] / 2, f"existing objects: {existing}")


def canary(session):
    """A collection that is not announced is noticed; the program and the JVM go on as they would."""
    options = "file=run.step,events=all,include=facts/**"
    bare = session.run(session.java("Frees", "-Xmx64m"))
    result = faulty(session, "Frees", options)
    require(result.stdout == bare.stdout and FAULT.encode() not in result.stderr,
            f"without a fault: {shown(result.stderr)}")
    require("recycle" in told(session)[0], f"without a fault: {told(session)}")
    session.step("check", "run.step")
    result = faulty(session, "Frees", options, STEPTRACE_ANNOUNCED="4")
    require((result.returncode, result.stdout) == (bare.returncode, bare.stdout),
            f"it ends with {result.returncode}: {shown(result.stdout)}{shown(result.stderr)}")
    require(result.stderr.count(FAULT.encode()) == 1, f"not told once: {shown(result.stderr)}")
    used, refused = told(session)
    require(not used & WRITES, f"{used} are on")
    require(all(f"{name} ({FAULT})" in refused for name in WRITES), refused)
    check = session.run([session.steptrace, "check", "run.step"])
    require(check.returncode == 3 and FAULT.encode() in check.stderr,
            f"check ends with {check.returncode}: {shown(check.stderr)}")
    canary_in_process(session)


def collector_note(session):
    """Generational ZGC, and only with deaths: said once on stderr, and by info."""
    zgc = "-XX:-UseG1GC -XX:+UseZGC"
    generational = session.version() >= 24
    for vm, events, noted in ((zgc, "alloc+free", generational), (zgc, "class+alloc", False),
                              (zgc, "alloc+free,engine=sampled", generational),
                              ("", "alloc+free", False)):
        result = session.run(session.java("Scalars", vm, f"file=run.step,events={events}"))
        require(result.returncode == 0, shown(result.stderr))
        require(result.stderr.count(b"generational ZGC") == noted, shown(result.stderr))
        require((b"the sampled ones" in result.stderr) == (noted and "sampled" in events), shown(result.stderr))
        info = json.loads(session.step("info", "--json", "run.step"))
        require(("collector-note" in info["properties"]) == noted, f"{vm} {events}: {info}")


TABLE = {function.__name__: function for function in (
    internals_none, internals_listed, internals_proven, internals_kept, internals_crash, internals_zero,
    internals_unknown, internals_safe, unboxed_late, no_tables, unknown_vm, stripped, canary, collector_note,
    session_numbers)}
