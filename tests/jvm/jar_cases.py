# SPDX-License-Identifier: Apache-2.0
"""steptrace.jar: -javaagent loads the agent that lies in it, and what it does where it cannot."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import zipfile

import engine_cases
import phase_cases
from session import Failure, Skip, answer, expect_line, finish, shown

LIBRARY = re.compile(r"native/linux-\w+/libtracer\.so$")
OPTIONS = "file=run.step,overwrite=yes"


def require(condition, text):
    if not condition:
        raise Failure(text)


def command(session, jar, options, main, words=()):
    """The command line of a traced program that unpacks into the directory tmp."""
    vm = f"-javaagent:{jar}={options} -Djava.io.tmpdir={session.path('tmp')}"
    if session.version() >= 24:
        vm += " --enable-native-access=ALL-UNNAMED"
    return session.java(main, vm, words=words)


def run(session, jar, options, main="Phases"):
    result = session.run(command(session, jar, options, main))
    left = list(pathlib.Path(session.path("tmp")).iterdir())
    require(not left, f"unpacked, and not removed: {left}")
    return result


def damaged(session, name, change):
    """A copy of the JAR file whose entries go through change(name, bytes)."""
    with zipfile.ZipFile(session.jar) as old, zipfile.ZipFile(session.path(name), "w") as new:
        for entry in old.namelist():
            content = change(entry, old.read(entry))
            if content is not None:
                new.writestr(entry, content)
    return session.path(name)


def another_bit(name, content):
    return content[:5000] + bytes([content[5000] ^ 1]) + content[5001:] if LIBRARY.search(name) else content


def without_library(name, content):
    return None if LIBRARY.search(name) else content


def untraced(session, jar, options, reason):
    """The program runs as ever, and one line says why there is no trace."""
    pathlib.Path(session.path("run.step")).unlink(missing_ok=True)
    result = run(session, jar, options)
    errors = result.stderr.decode()
    require(result.returncode == 0 and b"count " in result.stdout, f"{reason}: it did not run:\n{errors}")
    require(reason in errors and "the program runs untraced" in errors, f"no {reason!r} in:\n{errors}")
    require(not pathlib.Path(session.path("run.step")).exists(), f"{reason}: a trace")
    must = session.run(command(session, jar, options + ",required=yes", "Phases"))
    require(must.returncode == 1 and must.stdout == b"", f"{reason}, required=yes: {must.returncode}")


def faults(session):
    untraced(session, damaged(session, "bit.jar", another_bit), OPTIONS, "its SHA-256 is not")
    untraced(session, damaged(session, "less.jar", without_library), OPTIONS, "steptrace.jar has no native/")
    untraced(session, session.jar, "nonsense=1", "the agent refuses")
    shutil.rmtree(session.path("tmp"))
    pathlib.Path(session.path("tmp")).touch()
    result = session.run(command(session, session.jar, OPTIONS, "Phases"))
    require(result.returncode == 0 and b"the program runs untraced" in result.stderr, shown(result.stderr))
    pathlib.Path(session.path("tmp")).unlink()


def stopped(session):
    """The library's file is gone, and the trace can still be ended."""
    process = session.start(command(session, session.jar, "file=early.step,overwrite=yes",
                                    "Phases", ["wait"]))
    try:
        expect_line(process, "attach")
        session.step("attach", "--stop", str(process.pid))
        session.step("check", "early.step")
        answer(process)
        finish(process)
    finally:
        process.kill()


def replaced(session):
    """Another user may make the library's directory again once it is gone: what lies there then must never be run."""
    marker = pathlib.Path(session.path("run-by-the-jvm"))
    process = session.start(command(session, session.jar, "file=early.step,overwrite=yes", "Phases", ["wait"]))
    try:
        expect_line(process, "attach")
        library = path_of_library(process.pid)
        require("/tmp/steptrace-" in library and not os.path.exists(library), f"not unpacked and removed: {library}")
        pathlib.Path(library).parent.mkdir()
        trap = pathlib.Path(session.path("trap.c"))
        trap.write_text('#include <fcntl.h>\nint main(void) { return open("%s", O_CREAT, 0600) < 0; }\n' % marker)
        subprocess.run(["gcc", "-pie", "-fPIE", "-o", library, str(trap)], check=True)
        session.step("attach", "--stop", str(process.pid))
        session.step("attach", "-d", "100ms", "-o", session.path("late.step"), str(process.pid))
        session.step("check", "late.step")
        answer(process)
        finish(process)
        errors = pathlib.Path(session.path("stderr")).read_bytes()
        require(b"not possible" not in errors, shown(errors))
        shutil.rmtree(pathlib.Path(library).parent)  # the agent removes what it made, and nothing else
    finally:
        process.kill()
    require(not marker.exists(), "what lay in the library's place was run")


def path_of_library(process):
    """The agent's file as the JVM has mapped it."""
    with open(f"/proc/{process}/maps", encoding="utf-8") as maps:
        found = [line.split(maxsplit=5)[5].strip() for line in maps if "libtracer.so" in line]
    return found[0].removesuffix(" (deleted)") if found else ""


def loaded_later(session):
    """A tool of the JDK loads the JAR file into a JVM that runs."""
    process = session.start(session.java("Phases", "-XX:+EnableDynamicAgentLoading", words=["wait"]))
    try:
        expect_line(process, "attach")
        options = f"file={session.path('run.step')},overwrite=yes,{phase_cases.PHASES}"
        result = session.run([session.tool("jcmd"), str(process.pid), "JVMTI.agent_load", session.jar,
                              f"'{options}'"])
        require(b"return code: 0" in result.stdout, shown(result.stdout) + shown(result.stderr))
        answer(process)
        phase_cases.judge(session, finish(process))
    finally:
        process.kill()


def jar(session):
    """A program that counts for itself, under -javaagent; faults."""
    if not session.jar:
        raise Skip("there is no steptrace.jar")
    tmp = pathlib.Path(session.path("tmp"))
    tmp.mkdir()
    result = run(session, session.jar, f"{OPTIONS},{phase_cases.PHASES}")
    require(result.returncode == 0 and b"WARNING" not in result.stderr and
            b"untraced" not in result.stderr, shown(result.stderr))
    phase_cases.judge(session, result.stdout)
    stopped(session)
    replaced(session)
    loaded_later(session)
    faults(session)


def allocated(session, name, phase, of_class):
    """The objects of a class that were allocated in a phase, or in the whole trace; -1: there is no such phase."""
    words = ["heap", f"{name}.step", "--at", "end", "--allocated", "--by", "class", "--csv", "--top", "0"]
    result = session.run([session.steptrace, *words, *(["--phase", phase] if phase != "-" else [])])
    if b"no phase matches" in result.stderr:
        return -1
    require(result.returncode == 0, f"{words}: {shown(result.stderr)}")
    rows = [line.split(",") for line in result.stdout.decode().splitlines()]
    return sum(int(row[0]) for row in rows
               if row[2].strip('"').partition(" (loader")[0] == of_class.replace(".", "/"))


def kept_probes(session):
    """Traces of one JVM, most of which leave the probes for the next one: each has what the program says, and no less."""
    if not session.jar:
        raise Skip("there is no steptrace.jar")
    pathlib.Path(session.path("Huge.class")).write_bytes(engine_cases.huge_class())
    command_line = session.java("KeptProbes")
    at = command_line.index("-cp") + 1
    command_line[at] = f"{session.jar}:{command_line[at]}:{session.directory}"
    if session.version() >= 24:
        command_line.insert(1, "--enable-native-access=ALL-UNNAMED")
    result = session.run(command_line)
    require(result.returncode == 0, shown(result.stdout) + shown(result.stderr))
    expected = [line.split() for line in result.stdout.decode().splitlines()]
    require(len(expected) == 12, f"it said {expected}")
    for name, phase, of_class, objects in expected:
        session.step("check", f"{name}.step")
        found = allocated(session, name, phase, of_class)
        require(found == int(objects), f"{name}: {found} objects of {of_class} in {phase}, not {objects}")
    session.step("check", "sampled.step")
    session.step("check", "jvmti.step")
    for name in ("loaded", "again", "after", "kept", "last"):  # a class without probes is in each trace's list
        told = json.loads(session.step("info", "--json", f"{name}.step"))["not_probed"]
        found = [(row["class"], row["method"]) for row in told]
        require(found == [("Huge", "arrays")], f"{name} tells of {told}")


TABLE = {function.__name__: function for function in (jar, kept_probes)}
