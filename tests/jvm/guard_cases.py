# SPDX-License-Identifier: Apache-2.0
"""Guards: max-cpu=, max-pause=, max-memory= and limit= end the trace, not the program; and a dormant agent, which
does nothing until a command comes."""
import json
import os
import pathlib
import re
import subprocess
import threading
import time

import drivers
from session import Failure, answer, expect_line, finish, shown

STRANGER = 65534  # a user that has no files here


def require(condition, text):
    if not condition:
        raise Failure(text)


class Trickle:
    """A running program that can be told to end, with its agent's messages."""

    def __init__(self, session, name, options, vm="-Xmx64m", under=(), words=()):
        self.session, self.name = session, name
        command = [*under, *session.java("Trickle", vm, options, words)]
        with open(session.path(f"{name}.stderr"), "wb") as errors:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                                            cwd=session.directory)
        expect_line(self.process, "trickles")

    def said(self):
        return pathlib.Path(self.session.path(f"{self.name}.stderr")).read_text()

    def await_words(self, words, seconds=60):
        for _ in range(seconds * 20):
            if words in self.said() or self.process.poll() is not None:
                break
            time.sleep(0.05)
        require(words in self.said(), f"{self.name} does not say {words!r}:\n{self.said()}")

    def await_file(self, name, seconds=60):
        for _ in range(seconds * 20):
            if os.path.exists(self.session.path(name)):
                return
            time.sleep(0.05)
        raise Failure(f"{name} is not there: {self.said()}")

    def end(self):
        """The program ends by itself and as ever."""
        answer(self.process)
        rest = finish(self.process)
        require(self.process.returncode == 0 and rest == b"done true\n",
                f"{self.name} ends with {self.process.returncode}: {shown(rest)} {self.said()}")

    def properties(self, trace):
        text = self.session.step("info", "--json", trace, codes=(0, 3))
        return json.loads(text)["properties"]


def run_together(function):
    threads = [threading.Thread(target=function, args=(i,)) for i in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def threads_of(process):
    return [path.read_text().strip() for path in pathlib.Path(f"/proc/{process.pid}/task").glob("*/comm")]


def guards(session):
    """Each guard is made to trip, in four programs at once; each program goes on."""
    heap = "existing=yes,snapshot=every:100ms,max-pause=1ms"
    programs = [Trickle(session, "cpu", "file=cpu.step,max-cpu=0.01%"),
                Trickle(session, "samples", "file=samples.step,engine=sampled,sample=128,rotate=2s,max-cpu=0.2%"),
                Trickle(session, "pause", f"file=pause.step,{heap}"),
                Trickle(session, "memory", "file=memory.step,max-memory=8m,stack=16,limit=64k")]
    cpu, samples, pause, memory = programs
    try:
        cpu.await_words("the trace ends here: the agent took ")
        samples.await_words("from now on one in ")
        pause.await_words("the trace ends here: a walk of the heap stopped the program for ")
        memory.await_words("the trace ends here: ")
        for program in programs:
            program.end()
    finally:
        for program in programs:
            program.process.kill()
    found = cpu.properties("cpu.step")
    require(found["end"] == "max-cpu" and int(found["guard-cpu-peak"]) > 1, f"{found}")
    require("(max-cpu=0.01 %)" in cpu.said(), cpu.said())
    # The files are shorter than the time over which the share is measured.
    files = [samples.properties(path.name) for path in pathlib.Path(session.directory).glob("samples.*.step")]
    require(len(files) > 1 and [found for found in files if "guard-fewer-samples" in found], f"{files}")
    found = pause.properties("pause.step")
    require(found["end"] == "max-pause" and int(found["guard-pause-ns"]) > 1000000, f"{found}")
    require(memory.properties("memory.step")["end"] in ("memory", "limit"), "memory")
    session.step("stats", "pause.step", codes=(3,))


LIVE = 3_000_000
STOP_MS = 10


def short_ends(session):
    """The end of a sampled file stops the program for moments, whatever lives: one that goes over three million objects
    takes several times as long. Each stop is counted, and no death is missing."""
    program = Trickle(session, "ends", "file=ends.step,engine=sampled,sample=2k,rotate=1s,max-pause=5s",
                      "-Xmx256m -Xlog:safepoint:file=safepoints.log", words=(str(LIVE),))
    try:
        for number in 1, 2, 3:
            program.await_file(f"ends.{number:06}.step")
        program.end()
    finally:
        program.process.kill()
    files = sorted(path.name for path in pathlib.Path(session.directory).glob("ends.*.step"))
    log = pathlib.Path(session.path("safepoints.log")).read_text()
    stops = [int(found) / 1e6 for found in re.findall(r'"HeapWalkOperation".* At safepoint: +(\d+) ns', log)]
    require(len(stops) >= len(files) >= 3 and min(stops) < STOP_MS, f"{len(files)} files, stops of {stops} ms")
    counted = [int(program.properties(name)["guard-pause-ns"]) for name in files]
    require(max(counted) > 0, f"no stop is counted: {counted}")
    rows = json.loads(session.step("stats", "--json", "--top=0", "ends.step"))["classes"]
    drops = next(row for row in rows if row["name"].endswith("$Drop"))
    require(drops["freed_samples"] == drops["samples"] > 100, f"{drops}")


def dormant(session):
    """Nothing is there until attach wakes it; the limits of load time hold, whatever the command says."""
    session.java("Trickle")
    program = Trickle(session, "dormant", "dormant,file=run.step,limit=64k,max-cpu=90%")
    try:
        require(not [name for name in threads_of(program.process) if "StepTrace" in name], "a thread is there")
        require(drivers.load(session, program.process.pid, "dormant", may_fail=True) != 0, "asleep twice")
        drivers.load(session, program.process.pid, "limit=1g,max-cpu=100%,engine=jvmti")
        program.await_words("the trace ends here: limit reached")
        # The next one begins, of two at once; the name of load time is free, since that trace is being replaced.
        codes = []
        run_together(lambda i: codes.append(drivers.load(session, program.process.pid, f"file=two{i}.step,engine=sampled", True)))
        require(sorted(code == 0 for code in codes) == [False, True], f"{codes}")
        drivers.load(session, program.process.pid, "stop")
        program.end()
    finally:
        program.process.kill()
    found = program.properties("run.step")
    require(found["end"] == "limit" and found["engine"] == "jvmti" and found["attached"] == "yes", f"{found}")
    require("WARNING" not in program.said(), program.said())
    session.step("check", "run.step", codes=(0, 3))


def dormant_engines(session):
    """The options of load time are defaults: a command may change one of their engine's, name another engine, and
    ask for an exact window of the sample."""
    program = Trickle(session, "engines", "dormant,file=run.step,max-memory=12m,probes=keep")
    pid = program.process.pid
    try:
        require(drivers.load(session, pid, "engine=sampled", may_fail=True) != 0, "12m is enough for a sample")
        program.await_words("option max-memory: engine=sampled needs 16m at least")
        drivers.load(session, pid, "file=exact.step,engine=jvmti")
        drivers.load(session, pid, "stop")
        program.end()
        require(program.properties("exact.step")["engine"] == "jvmti", "another engine")
        program = Trickle(session, "sample", "dormant,file=run.step,engine=sampled,sample=1k,rotate=60min,max-memory=16m")
        pid = program.process.pid
        drivers.load(session, pid, "rate=100k")
        drivers.load(session, pid, "window=200ms")
        program.await_file("run.000003.step")
        program.end()
    finally:
        program.process.kill()
    found = [program.properties(f"run.00000{number}.step") for number in (1, 2, 3)]
    require([row["engine"] for row in found] == ["sampled", "bytecode", "sampled"], f"{found}")
    require("rate=100k" in found[0]["options"] and "sample=1k" in found[0]["options"], f"{found[0]}")
    require(found[2]["end"] == "vm-death", f"16m is not enough: {found[2]}")


def put(path, text, new="new"):
    """Whole at once, as a shell's mv does it."""
    new = path.with_name(new)
    new.write_text(text)
    new.rename(path)


def refuse(program, path, reason, remove=True):
    program.await_words(f"{path} is not obeyed: {reason}", 10)
    if remove:
        path.unlink()


def wake(session):
    """The file of wake=, in a JVM that takes no attach: hostile ones, an incomplete one, two at once."""
    directory = pathlib.Path(session.path("wake"))
    directory.mkdir(mode=0o700, exist_ok=True)
    path = directory / "command"
    put(path, "file=old.step\n")
    program = Trickle(session, "wake", f"dormant,file=run.step,wake={path}",
                      "-Xmx64m -XX:+DisableAttachMechanism -XX:-EnableDynamicAgentLoading", (session.as_service,))
    try:
        time.sleep(1.5)  # the one of before the start stays
        require(path.exists() and not os.path.exists(session.path("old.step")), "an old command was taken")
        path.unlink()
        (directory / "else").write_text("file=link.step\n")
        path.symlink_to(directory / "else")
        refuse(program, path, "it is a link")
        os.link(directory / "else", path)
        refuse(program, path, "it has another name, too")
        os.mkfifo(path)
        refuse(program, path, "it is no regular file")
        put(path, "x" * 9000)
        refuse(program, path, "it is too long")
        if os.geteuid() == 0:
            new = directory / "new"
            new.write_text("file=stranger.step\n")
            os.chown(new, STRANGER, STRANGER)
            new.rename(path)
            refuse(program, path, "others can write it")
            planted = pathlib.Path(session.path("planted"))
            planted.mkdir(exist_ok=True)
            (planted / "by").symlink_to(directory.parent)
            os.lchown(planted / "by", STRANGER, STRANGER)
            other_path = pathlib.Path(session.path("wake2")) / "command"
            other_path.parent.mkdir(mode=0o700, exist_ok=True)
            other = Trickle(session, "other", f"dormant,file=other.step,wake={planted}/by/wake2/command")
            try:
                time.sleep(0.5)
                put(other_path, "nothing-in-it=1\n")
                other.await_words("is not obeyed: a directory above it is a link that another user has made", 10)
                other.end()
            finally:
                other.process.kill()
            require(other_path.exists(), "a command was taken by a planted link")
        directory.chmod(0o770)
        put(path, "file=group.step\n")
        refuse(program, path, "others can write in its directory", remove=False)
        directory.chmod(0o700)
        put(path, "bogus=1\n")
        program.await_words("option 'bogus' is unknown")
        with open(path, "w", encoding="utf-8") as file:
            file.write("file=half")
            file.flush()
            time.sleep(1.3)
            require(path.exists() and not list(pathlib.Path(session.directory).glob("half*")), "half a command")
            file.write(".step\n")
        program.await_file("half.step")
        put(path, "file=second.step\n")  # that one is being recorded
        program.await_words("this JVM is being recorded already")
        put(path, "stop\n")
        program.await_words(": stop")
        run_together(lambda i: put(path, f"file=both.step,duration={i}s\n", f"new{i}"))
        program.await_file("both.step")
        time.sleep(0.2)
        program.end()
    finally:
        program.process.kill()
    names = {name.name for name in pathlib.Path(session.directory).glob("*.step")}
    require(names <= {"half.step", "both.step"}, f"{names}")
    require(not path.exists(), "a command stays")
    found = program.properties("half.step")
    require(found["end"] == "stopped" and found["attached"] == "yes", f"{found}")


# What the program, its methods and files are called, and what the command line says.
NAMES = ("ThreadNames", "facts", "LLLL", "hunter2", "kind-of")


def redact(session):
    """No name of the program, no command line: the JDK's names stay, and one name has one number in two traces."""
    names = []
    for options in ("redact=names,stack=8,events=all+reference,layout=yes,snapshot=end",
                    "redact=names+command-line,engine=sampled,sample=16"):
        result = session.run(session.java("ThreadNames", "-Dapp.kind-of=hunter2", f"file=run.step,{options}"))
        require(result.returncode == 0, shown(result.stderr))
        text = session.step("dump", "--records", "run.step") + session.step("info", "--json", "run.step")
        told = text.decode(errors="replace")
        found = [name for name in NAMES if name in told]
        require(not found, f"{options}: {found} in {[line for line in told.splitlines() if NAMES[0] in line][:3]}")
        require("java/lang/String" in told and "redacted/c" in told, "the JDK's names are missing")
        properties = json.loads(session.step("info", "--json", "run.step"))["properties"]
        gone = {"command-line", "java-command", "options", "host"} & set(properties)
        require(gone == ({"host"} if "sampled" not in options else set()), f"{gone}")
        require(properties["redact"] == options.split(",")[0].split("=")[1], f"{properties}")
    result = session.run(session.java("PackagesOfJdk", "", "file=run.step,redact=names,stack=8,events=all+reference,layout=yes,snapshot=end"))
    require(result.returncode == 0, shown(result.stderr))
    told = session.step("dump", "--records", "run.step").decode(errors="replace").lower()
    require("hunter2" not in told, f"{[line for line in told.splitlines() if 'hunter2' in line][:3]}")
    program = Trickle(session, "redact", "file=one.step,redact=names")
    try:
        drivers.load(session, program.process.pid, "stop")
        drivers.load(session, program.process.pid, "file=two.step,redact=names,engine=jvmti")
        time.sleep(0.3)
        program.end()
    finally:
        program.process.kill()
    for name in "one.step", "two.step":
        rows = json.loads(session.step("stats", "--json", "--top=0", name, codes=(0, 3)))["classes"]
        names.append({row["name"] for row in rows if row["name"].startswith("redacted/c") and row["allocated_objects"]})
    require(names[0] & names[1], f"{names}")


def guarded_window(session):
    """An exact window has the limits and redacts the names of the sample that it is a part of."""
    program = Trickle(session, "window", "file=run.step,engine=sampled,redact=names+command-line,max-memory=64m")
    try:
        drivers.load(session, program.process.pid, "window=200ms")
        program.await_file("run.000003.step")
        program.end()
    finally:
        program.process.kill()
    info = json.loads(session.step("info", "--json", "run.000002.step"))["properties"]
    require(info["engine"] == "bytecode" and info["redact"] == "names+command-line", f"{info}")
    require(not {"command-line", "java-command", "options", "host"} & set(info), f"{info}")
    told = session.step("dump", "--records", "run.000002.step")
    require(b"Trickle" not in told and b"facts" not in told, "names of the program")


TABLE = {function.__name__: function for function in (guards, short_ends, dormant, dormant_engines, wake, redact, guarded_window)}
