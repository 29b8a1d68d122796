# SPDX-License-Identifier: Apache-2.0
"""The option internals: what is switched off, what must prove itself, and what the trace says of
it."""
import json
import pathlib
import signal

import drivers
import facts
import trace_text
from session import Failure, Skip, expect_line, shown

NAMES = ("frames", "archive", "tan", "sight", "hash", "natives", "define", "reflect", "slots", "headers",
         "recycle")
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
        require({"tan", "hash", "define", "slots"} <= used, f"{vm}: {used}, not {refused}")
        require("archive (it cannot be proven)" in refused, f"{vm}: {refused}")
    # Where C2 makes no code it cannot be asked.
    session.run(session.java("Methods", "-XX:TieredStopAtLevel=1",
                             "file=run.step,events=all,internals=proven"))
    require("tan (no compiled code" in told(session)[1], told(session)[1])


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
    require(not used & {"frames", "archive", "tan"}, f"{used} were used")
    require("archive (not on this JVM)" in refused and "tan (the JVM does not tell" in refused,
            refused)


def internals_unknown(session):
    for text in ("tangent", "none+tan", "tan+", ""):
        result = session.run(session.java("Scalars", "", f"file=run.step,internals={text}"))
        require(result.returncode != 0 and b"internals" in result.stderr,
                f"internals={text}: {shown(result.stderr)}")


TABLE = {function.__name__: function for function in (
    internals_none, internals_listed, internals_proven, internals_crash, internals_zero,
    internals_unknown)}
