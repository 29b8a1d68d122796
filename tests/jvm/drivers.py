# SPDX-License-Identifier: Apache-2.0
"""How a program is run under the agent: one function a driver; each leaves run.step behind and
says whether the JVM was killed."""
import json
import pathlib
import re
import signal
import time

import trace_text
from session import Failure, LOG_PREFIX, answer, expect_line, finish, shown

# Where generational ZGC collects: tests/jvm/internals_cases.py.
COLLECTOR_NOTE = "young collections of generational ZGC"


def agent_options(program, file="run.step"):
    options = f"file={file},events={program.settings['events']}"
    return options + ("," + program.settings["options"] if program.settings["options"] else "")


def plain(session, program):
    """Twice: without the agent, and with it.  Output and exit code have to be the same."""
    vm = program.settings["vm"]
    bare = session.run(session.java(program.name, vm), "\n\n\n")
    facts = pathlib.Path(session.path("facts.out"))
    facts.unlink(missing_ok=True)
    traced = session.run(session.java(program.name, vm, agent_options(program)), "\n\n\n")
    faults = []
    if bare.returncode != int(program.settings["exit"]):
        faults.append(f"untraced, it ends with {bare.returncode}:\n{shown(bare.stderr)}")
    if traced.returncode != bare.returncode:
        faults.append(f"traced, it ends with {traced.returncode}, not {bare.returncode}")
    if traced.stdout != bare.stdout:
        faults.append(f"traced, it says\n{shown(traced.stdout)}not\n{shown(bare.stdout)}")
    errors = traced.stderr.decode(errors="replace")
    if LOG_PREFIX in errors.replace(LOG_PREFIX + COLLECTOR_NOTE, ""):
        faults.append("the agent has something to say")
    if faults:
        raise Failure("\n".join(faults) + "\n" + shown(traced.stderr))
    return False


ENOUGH = 200_000  # objects of one thread, many of the buffers that a kill may cut


def kill(session, program):
    """SIGKILL after some lines `made N`: the trace must have at least the last N."""
    command = session.java(program.name, program.settings["vm"], agent_options(program))
    process = session.start(command)
    made, wait_until = 0, None
    for raw in process.stdout:
        word = raw.decode().split()
        wait_until = wait_until or time.monotonic() + 0.1
        if word[0] == "waiting":
            break
        made = int(word[1])
        if made >= ENOUGH or time.monotonic() > wait_until:
            break
    process.send_signal(signal.SIGKILL)
    for raw in process.stdout:
        word = raw.decode().split()
        if raw.endswith(b"\n") and word[0] == "made":
            made = int(word[1])
    process.wait()
    process.stdin.close()
    if made == 0:
        raise Failure("it was killed before it made anything\n" +
                      pathlib.Path(session.path("stderr")).read_text())
    program.facts.append(["alloc", f"facts/{program.name}$Counted", f">={made}"])
    for verb in (["info"], ["stats"], ["dump", "--kind", "VS,VI"]):
        session.step(*verb, "run.step", codes=(0, 3))
    return True


def compare_recovered(session, ours):
    """`recover` makes one whole file of what every reader takes together by itself, `ours`."""
    session.step("recover", "run.step", "-o", "recovered.step")
    session.step("check", "recovered.step", codes=(0, 3))
    session.step("convert", "recovered.step", "-o", "recovered.zip")
    theirs = trace_text.read_zip(session.path("recovered.zip"), killed=True)
    if ours.kinds != theirs.kinds:
        raise Failure(f"recovered: {dict(theirs.kinds)}, not {dict(ours.kinds)}")


def attach(session, program):
    """The agent is loaded into the running program, and stopped, and started once more."""
    process = session.start(session.java(program.name, program.settings["vm"] +
                                         " -XX:+EnableDynamicAgentLoading"))
    try:
        expect_line(process, "attach")
        load(session, process.pid, f"{agent_options(program)},engine={session.engine}")
        load(session, process.pid, "status")
        answer(process)
        expect_line(process, "stop")
        load(session, process.pid, "flush")
        load(session, process.pid, "stop")
        if load(session, process.pid, "stop", may_fail=True) == 0:
            raise Failure("a second stop is accepted")
        answer(process)
        expect_line(process, "again")
        load_by_jcmd(session, process.pid,
                     f"{agent_options(program, 'second.step')},engine={session.engine}")
        answer(process)
        finish(process)
    finally:
        process.kill()
    if process.returncode != 0:
        raise Failure(f"it ends with {process.returncode}")
    check_second(session)
    return False


def load(session, pid, options, may_fail=False):
    options += ",overwrite=yes" if "file=" in options else ""
    result = session.run(["jattach", str(pid), "load", session.tracer, "true", options])
    if result.returncode != 0 and not may_fail:
        raise Failure(f"jattach {options}: {shown(result.stdout)}{shown(result.stderr)}" +
                      pathlib.Path(session.path("stderr")).read_text())
    return result.returncode


def load_by_jcmd(session, pid, options):
    """jcmd ends with 0 even where the agent refuses: its words tell."""
    words = f'"overwrite=yes,{options.replace("file=", f"file={session.directory}/")}"'
    result = session.run([session.tool("jcmd"), str(pid), "JVMTI.agent_load", session.tracer, words])
    if b"return code: 0" not in result.stdout:
        raise Failure(f"jcmd: {shown(result.stdout)}{shown(result.stderr)}")


def check_second(session):
    session.step("check", "second.step")
    session.step("convert", "second.step", "-o", "second.zip")
    trace = trace_text.read_zip(session.path("second.zip"))
    worked = trace.allocs["facts/Attached$Worked"]
    if trace.breaches or not 1000 <= worked <= 1001 or trace.allocs["facts/Attached$Held"] != 100:
        raise Failure(f"the second trace: {worked} objects\n" + "\n".join(trace.breaches))


HISTOGRAM_LINE = re.compile(r"\s*\d+:\s+(\d+)\s+(\d+)\s+(\S+)")


def histogram(session, program):
    """jmap says what lives; own classes exactly, all objects roughly."""
    process = session.start(session.java(program.name, program.settings["vm"],
                                         agent_options(program)))
    try:
        expect_line(process, "ready")
        listing = session.run([session.tool("jmap"), "-histo:live", str(process.pid)])
        answer(process)
        finish(process)
    finally:
        process.kill()
    session.step("convert", "run.step", "-o", "run.zip")
    live = trace_text.read_zip(session.path("run.zip")).live()
    compare_live(live, listing.stdout.decode())
    compare_heap(session, listing.stdout.decode())
    return False


def compare_heap(session, listing):
    """`heap` has the same objects, and bytes, of the program's own classes."""
    table = json.loads(session.step("heap", "run.step", "--at", "end", "--class", "**facts/**",
                                    "--top", "0", "--json"))
    ours = {row["class"]: (row["objects"], row["bytes"]) for row in table["rows"]}
    theirs = {}
    for line in listing.splitlines():
        match = HISTOGRAM_LINE.match(line)
        if match and "facts." in match.group(3):
            theirs[match.group(3).replace(".", "/")] = (int(match.group(1)), int(match.group(2)))
    if not ours or ours != theirs:
        raise Failure(f"heap --at end: {sorted(ours.items())}, jmap {sorted(theirs.items())}")


def compare_live(live, listing):
    counted, total = {}, 0
    for line in listing.splitlines():
        match = HISTOGRAM_LINE.match(line)
        if match:
            total += int(match.group(1))
            counted[match.group(3).replace(".", "/")] = int(match.group(1))
    names = {name for name in live | counted if "facts/" in name}
    if not names:
        raise Failure("jmap counts nothing:\n" + listing[:1000])
    faults = [f"{name}: jmap counts {counted.get(name, 0)}, the trace {live[name]}"
              for name in sorted(names) if counted.get(name, 0) != live[name]]
    traced = sum(live.values())
    if not 0.95 * total < traced < 1.1 * total:
        faults.append(f"all objects: jmap counts {total}, the trace {traced}")
    if faults:
        raise Failure("\n".join(faults))


TABLE = {"plain": plain, "kill": kill, "attach": attach, "histogram": histogram}
