# SPDX-License-Identifier: Apache-2.0
"""The ring in memory: what happens to a trace, and to its program, when the disk or a process fails."""
import contextlib
import fcntl
import json
import os
import pathlib
import re
import signal
import struct
import subprocess
import threading
import time

import drivers
from session import Failure, Skip, answer, expect_line, finish, shown

COPIED_STAMP = 88  # where the live file's header has it (steptrace/live.h)


def require(condition, text):
    if not condition:
        raise Failure(text)


def wait_for(session, what, is_so):
    """Polls, for as long as a test may take."""
    end = time.monotonic() + session.timeout
    while not is_so():
        require(time.monotonic() < end, f"waiting in vain for {what}")
        time.sleep(0.01)


def beat(process, count):
    for _ in range(count):
        answer(process)
        line = process.stdout.readline().decode().split()
        require(line[:1] == ["beat"], f"no beat but {line}")


def writers(pid):
    """The processes that write the traces of that one."""
    found = []
    for place in pathlib.Path("/proc").iterdir():
        if place.name.isdigit():
            with contextlib.suppress(OSError):
                words = (place / "cmdline").read_bytes().split(b"\0")
                if f"program={pid}".encode() in words and b"/proc/self/fd/" in words[1]:
                    found.append(int(place.name))
    return found


def allocated(session, name, codes=(0,), file="run.step"):
    table = json.loads(session.step("stats", "--json", "--top=0", file, codes=codes))
    return sum(row["allocated_objects"] for row in table["classes"] if row["name"] == name)


def is_locked(live):
    with open(live, "r+b") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1)
        except OSError:
            return True
        return False


def wait_for_copies(session, live, count=2):
    """Until the live file has been made what the ring is so many times more."""
    def stamp():
        with open(live, "rb") as file:
            return struct.unpack_from("=Q", file.read(128), COPIED_STAMP)[0]
    for _ in range(count):
        before = stamp()
        wait_for(session, "a copy of the ring", lambda: stamp() != before)


def ring_truncated(session):
    """Somebody cuts the live file: the program runs on, and its trace is whole."""
    process = session.start(session.java("Beats", "", "file=run.step,ring=memory"))
    try:
        expect_line(process, "beating")
        for _ in range(5):
            os.truncate(session.path("run.step.live"), 0)
            beat(process, 2)
        finish(process)
    finally:
        process.kill()
    require(process.returncode == 0, f"it ends with {process.returncode}")
    session.step("check", "run.step")
    require(allocated(session, "facts/Beats$Beaten") == 100000, "objects are missing")


@contextlib.contextmanager
def mounted(session, *commands):
    """The directory `disk`, after these commands; the last one mounts, and gets its name."""
    mount = pathlib.Path(session.path("disk"))
    mount.mkdir()
    for command in (*commands[:-1], [*commands[-1], str(mount)]):
        try:
            made = subprocess.run(command, stderr=subprocess.DEVNULL, check=False)
        except FileNotFoundError as missing:
            raise Skip(f"no {command[0]}") from missing
        if made.returncode != 0:
            raise Skip("a file system cannot be mounted here")
    try:
        yield mount
    finally:
        for _ in range(100):  # a process that writes a trace may end after its program
            if subprocess.run(["umount", str(mount)], stderr=subprocess.DEVNULL,
                              check=False).returncode == 0:
                break
            time.sleep(0.1)


def small_memory(session, size):
    return mounted(session, ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs"])


def small_disk(session, megabytes=64):
    """A file system of its own on a file."""
    image = session.path("disk.img")
    with open(image, "wb") as file:
        file.truncate(megabytes << 20)
    return mounted(session, ["mkfs.ext4", "-q", image], ["mount", "-o", "loop", image])


def freeze(mount, does):
    try:
        done = subprocess.run(["fsfreeze", "-f" if does else "-u", str(mount)],
                              stderr=subprocess.DEVNULL, check=False)
    except FileNotFoundError as missing:
        raise Skip("no fsfreeze") from missing
    if does and done.returncode != 0:
        raise Skip("a file system cannot be frozen here")


def ring_frozen(session):
    """The disk hangs: with overflow=drop the program answers and ends meanwhile, and what was
    recorded is there when the disk is back."""
    with small_disk(session) as mount:
        process = session.start(session.java(
            "Beats", "", "file=disk/run.step,ring=memory,overflow=drop,buffer=1m,finish=1s"))
        try:
            expect_line(process, "beating")
            beat(process, 5)
            wait_for_copies(session, mount / "run.step.live")
            least = allocated(session, "facts/Beats$Beaten", (3,), "disk/run.step")
            freeze(mount, True)
            try:
                session.timeout = 120
                beat(process, 20)
                finish(process, timeout=session.timeout)
                require(writers(process.pid), "nobody is left to write the rest")
            finally:
                freeze(mount, False)
            require(process.returncode == 0, f"it ends with {process.returncode}")
            wait_for(session, "the rest", lambda: not writers(process.pid))
            for name in os.listdir(mount):
                if name.startswith("run.step"):
                    pathlib.Path(session.path(name)).write_bytes((mount / name).read_bytes())
        finally:
            process.kill()
            process.wait()
    made = allocated(session, "facts/Beats$Beaten", codes=(0, 3))
    require(least <= made <= 250000, f"{made} objects, {least} before")


def ring_stopped(session):
    """The disk hangs while a trace is stopped, for longer than finish= (which is of the JVM's end): the
    command waits, and nothing is missing."""
    with small_disk(session) as mount:
        process = session.start(session.java("Beats", "-XX:+EnableDynamicAgentLoading"))
        try:
            expect_line(process, "beating")
            drivers.load(session, process.pid, "file=disk/run.step,ring=memory,buffer=8m,finish=1s")
            beat(process, 5)
            freeze(mount, True)
            thaw = threading.Timer(4, freeze, (mount, False))
            thaw.start()
            try:
                drivers.load(session, process.pid, "stop")
            finally:
                thaw.join()
            session.step("check", "disk/run.step")
            finish(process)
            made = allocated(session, "facts/Beats$Beaten", file="disk/run.step")
        finally:
            process.kill()
            process.wait()
    require(made == 50000, f"{made} objects")


def in_container(session, words):
    """The command line in a PID namespace of its own, in which it is process 1."""
    probe = session.run(["unshare", "-pf", "--mount-proc", "true"])
    if probe.returncode != 0:
        raise Skip("a PID namespace cannot be made here")
    return ["unshare", "-pf", "--mount-proc", "--kill-child=KILL", *words]


def ring_container(session):
    """All processes of a container are killed at once: no more than the last 100 ms are missing, and
    that is said; nothing is with ring=file."""
    for ring in "memory", "file":
        name = f"{ring}.step"
        process = session.start(in_container(session, session.java(
            "KilledQuiet", "", f"file={name},ring={ring},events=all,include=facts/**")))
        try:
            expect_line(process, "waiting")
            if ring == "memory":
                wait_for_copies(session, session.path(name + ".live"))
        finally:
            process.send_signal(signal.SIGKILL)
            process.communicate()
        wait_for(session, "the end of all", lambda: not is_locked(session.path(name + ".live")))
        info = session.step("info", "--json", name, codes=(3,))
        properties = json.loads(info)["properties"]
        require(("missing-after-ns" in properties) == (ring == "memory"), f"{ring}: {properties}")
        made = allocated(session, "facts/KilledQuiet$Counted", codes=(3,), file=name)
        require(made == 3000, f"{ring}: {made} objects")
        session.step("recover", name, "-o", "whole.step",
                     codes=(3,) if ring == "memory" else (0,))
        session.step("check", "whole.step", codes=(0, 3))
        made = allocated(session, "facts/KilledQuiet$Counted", codes=(0, 3), file="whole.step")
        require(made == 3000, f"{ring}, recovered: {made} objects")


def ring_writer_killed(session):
    """The process that writes the trace is killed: the program goes on, the trace says what it lacks."""
    process = session.start(session.java("Beats", "", "file=run.step,ring=memory"))
    try:
        expect_line(process, "beating")
        beat(process, 3)
        wait_for_copies(session, session.path("run.step.live"))
        found = writers(process.pid)
        require(len(found) == 1, f"writers: {found}")
        os.kill(found[0], signal.SIGKILL)
        beat(process, 5)
        finish(process)
    finally:
        process.kill()
    require(process.returncode == 0, f"it ends with {process.returncode}")
    said = pathlib.Path(session.path("stderr")).read_text()
    require("was killed" in said, f"nothing is said of it: {said}")
    properties = json.loads(session.step("info", "--json", "run.step", codes=(3,)))["properties"]
    require("missing-after-ns" in properties, f"{properties}")
    made = allocated(session, "facts/Beats$Beaten", codes=(3,))
    require(30000 <= made <= 80000, f"{made} objects")


def ring_given_back(session):
    """Nothing of a trace that was stopped is left in the program, nor a process of it."""
    process = session.start(session.java("Beats", "-XX:+EnableDynamicAgentLoading",
                                         "file=run.step,ring=memory"))
    try:
        expect_line(process, "beating")
        maps = pathlib.Path(f"/proc/{process.pid}/maps")
        for round_ in range(3):
            require("memfd:steptrace-ring" in maps.read_text(), "the ring is not in memory")
            require(len(writers(process.pid)) == 1, "not one process writes")
            beat(process, 1)
            drivers.load(session, process.pid, "stop")
            require(not re.search("memfd:steptrace|run.step", maps.read_text()), "it is mapped")
            wait_for(session, "the writer's end", lambda: not writers(process.pid))
            if round_ < 2:
                drivers.load(session, process.pid, f"file=again{round_}.step,ring=memory")
        finish(process)
    finally:
        process.kill()
    require(process.returncode == 0, f"it ends with {process.returncode}")
    session.step("check", "run.step")


def ring_not_possible(session):
    """No file may be as long as the ring: it is in the live file, and the trace says so."""
    command = ["prlimit", f"--fsize={200 << 20}", *session.java("Uncaught", "", "file=run.step")]
    result = session.run(command)
    require(b"ring=memory is not possible" in result.stderr, shown(result.stderr))
    properties = json.loads(session.step("info", "--json", "run.step"))["properties"]
    require(properties["ring"] == "file", f"{properties}")
    session.step("check", "run.step")


TABLE = {function.__name__: function for function in (
    ring_truncated, ring_frozen, ring_stopped, ring_container, ring_writer_killed, ring_given_back,
    ring_not_possible)}
