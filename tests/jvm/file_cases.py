# SPDX-License-Identifier: Apache-2.0
"""What becomes of a program whose trace cannot be written, and of a trace whose program does not start."""
import json
import os
import pathlib
import time

import drivers
from session import Failure, answer, expect_line, finish, shown

RINGS = ("memory", "file")
WAIT_SECONDS = 120


def require(condition, text):
    if not condition:
        raise Failure(text)


def empty_directory(session):
    place = pathlib.Path(session.path("place"))
    place.mkdir(exist_ok=True)
    for path in place.iterdir():
        path.rmdir() if path.is_dir() else path.unlink()
    return place


def not_started(session):
    """A JVM that ends before it has started leaves no files, and nothing is said of any."""
    place = empty_directory(session)
    for ring in RINGS:
        for vm in ("--add-modules=no.such.module", "-Djava.system.class.loader=no.Such", "-Xmx1k"):
            result = session.run(session.java("HotAllocations", vm, agent=f"file=place/run.step,overwrite=no,ring={ring}"))
            require(result.returncode == 1, f"{vm}: it ends with {result.returncode}")
            require(not list(place.iterdir()), f"{vm}, ring={ring}: {os.listdir(place)} are left")
            require(b"steptrace:" not in result.stderr, f"{vm}: {shown(result.stderr)}")


def run(session, options):
    return session.run(session.java("HotAllocations", agent=options))


def not_writable(session):
    """One line says that the program runs untraced; with required=yes it does not run."""
    place = empty_directory(session)
    (place / "file").touch()
    for ring in RINGS:
        for name in ("no/such/directory/run.step", "place/file/run.step"):
            result = run(session, f"file={name},ring={ring}")
            lines = [line for line in result.stderr.splitlines() if line.startswith(b"steptrace:")]
            require(result.returncode == 0, f"{name}: it ends with {result.returncode}")
            require(len(lines) == 1 and lines[0].endswith(b"; the program runs untraced"), shown(result.stderr))
            must = run(session, f"file={name},ring={ring},required=yes")
            require(must.returncode == 1 and must.stdout == b"", f"required=yes: {must.returncode}")


def names_taken(session):
    """Whatever has the trace's name stays, and the trace gets another one."""
    for ring in RINGS:
        place = empty_directory(session)
        os.mkfifo(place / "run.step")
        (place / "run.2.step").mkdir()
        (place / "run.3.step.live").mkdir()
        result = run(session, f"file=place/run.step,overwrite=no,ring={ring}")
        require(result.returncode == 0, f"it ends with {result.returncode}: {shown(result.stderr)}")
        session.step("check", "place/run.4.step")
        left = sorted(os.listdir(place))
        require(left == ["run.2.step", "run.3.step.live", "run.4.step", "run.step"], f"there are {left}")


def removed_file(session):
    """A trace that somebody removes meanwhile is lost, and a line at its end says so."""
    for ring in RINGS:
        process = session.start(session.java("Attached", agent=f"file=run.step,ring={ring}"))
        try:
            expect_line(process, "attach")
            os.unlink(session.path("run.step"))
            for _ in range(3):
                answer(process)
            finish(process)
        finally:
            process.kill()
        told = pathlib.Path(session.path("stderr")).read_bytes()
        require(told.count(b"run.step was removed while it was written") == 1, f"ring={ring}: {shown(told)}")
        require(not os.path.exists(session.path("run.step.live")), "the live file stays")


def await_that(session, what, condition):
    until = time.monotonic() + WAIT_SECONDS
    while not condition():
        require(time.monotonic() < until, f"{what}: not after {WAIT_SECONDS} s")
        time.sleep(0.05)


def ring_goes_on(session):
    """A file that cannot be made ends no ring: it goes on when there is room again."""
    place = empty_directory(session)
    stderr = pathlib.Path(session.path("stderr"))
    process = session.start(session.java(
        "SampledHeld", agent="file=place/run.step,engine=sampled,sample=64,rotate=1s,keep=100,overwrite=no"))
    try:
        expect_line(process, "attach")
        await_that(session, "a first file", lambda: (place / "run.000001.step").exists())
        os.mkfifo(place / "run.000002.step")
        await_that(session, "a file beside the FIFO", lambda: (place / "run.000002.2.step").exists())
        place.rename(session.path("aside"))
        await_that(session, "a line", lambda: b"until the next file begins" in stderr.read_bytes())
        place.mkdir()
        await_that(session, "the next file", lambda: any(place.glob("run.*.step")))
        for _ in range(2):
            answer(process)
        answer(process)
        finish(process)
    finally:
        process.kill()
    for path in sorted(place.glob("run.*.step")):
        session.step("check", f"place/{path.name}")


def system_calls(session):
    """A hardened service may kill for a call that no JVM makes: the agent makes none."""
    for options in ("ring=memory", "ring=file", "engine=jvmti", "engine=sampled,sample=64",
                    "engine=sampled,sample=64,ring=file", "events=all,stack=8",
                    "engine=sampled,sample=64,max-cpu=90%,max-pause=5s,redact=names"):
        command = session.java("HotAllocations", agent=f"file=run.step,{options}")
        result = session.run([session.as_service, *command])
        require(result.returncode == 0, f"{options}: it ends with {result.returncode}: {shown(result.stderr)}")
        session.step("check", "run.step")
    for options in ("", "ring=file,", "engine=sampled,sample=64,"):
        process = session.start([session.as_service, *session.java("Attached", "-XX:+EnableDynamicAgentLoading")])
        try:
            expect_line(process, "attach")
            drivers.load(session, process.pid, f"{options}file=run.step")
            for _ in range(3):
                answer(process)
            finish(process)
        finally:
            process.kill()
        require(process.returncode == 0, f"{options} attached: it ends with {process.returncode}")
        session.step("check", "run.step")


def record_anywhere(session):
    """A script is recorded in a directory of any name; a comma, which the agent takes for its own, is refused at once."""
    environment = {**os.environ, "STEPTRACE_AGENT": session.tracer}
    java = ["sh", "-c", '"$@"', "sh", *session.java("HotAllocations")]
    for name in ("o'brien", 'say "x"', "both '\" of them", "with space", "100%", "a,b"):
        place = pathlib.Path(session.path(name))
        place.mkdir()
        result = session.run(["sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", str(place),
                              session.steptrace, "record", "-o", "run.step", "--", *java], env=environment)
        if "," in name:
            require(result.returncode == 1 and b"accepts no comma" in result.stderr and not result.stdout,
                    f"{name}: {result.returncode}, {shown(result.stderr)}")
            continue
        require(result.returncode == 0, f"{name}: it ends with {result.returncode}: {shown(result.stderr)}")
        traces = list(place.glob("run-*.step"))
        require(len(traces) == 1, f"{name}: {os.listdir(place)}")
        session.step("check", str(traces[0]))


def duration(session):
    """duration= ends a trace that began with the JVM, and the next one may begin."""
    process = session.start(session.java("Phases", agent="file=run.step,duration=500ms", words=["wait"]))
    try:
        expect_line(process, "attach")
        await_that(session, "the end of the trace", lambda: not pathlib.Path(session.path("run.step.live")).exists())
        session.step("check", "run.step")
        require(json.loads(session.step("info", "--json", "run.step"))["properties"]["end"] == "stopped", "another end")
        session.step("attach", "-d", "200ms", "-o", session.path("late.step"), str(process.pid), codes=(0, 3))
        session.step("check", "late.step")
        answer(process)
        finish(process)
    finally:
        process.kill()


def secrets(session):
    """What looks like a secret in the command line is in no file that the agent writes."""
    command = session.java("HotAllocations", vm="-Ddb.password=hunter2hunter2", agent="file=run.step",
                           words=["--api-key", "hunter2 -hunter3 x", "http://h/?sig=hunter2a", "Authorization: Bearer hunter2b",
                                  '{"token": "hunter2c"}', "--then", "all"])
    result = session.run(command)
    require(result.returncode == 0, shown(result.stderr))
    properties = json.loads(session.step("info", "--json", "run.step"))["properties"]
    line, java = properties["command-line"], properties["java-command"]
    wanted = 'HotAllocations --api-key *** http://h/?sig=*** Authorization:*** {"token":*** --then all'
    require("-Ddb.password=*** " in line and line.endswith(wanted), line)
    require(java.endswith(wanted), java)
    require(not any(b"hunter2" in path.read_bytes() for path in session.directory.glob("run*")), "a secret in a file")


TABLE = {function.__name__: function for function in (not_started, not_writable, names_taken, removed_file, ring_goes_on, system_calls,
                                                       record_anywhere, duration, secrets)}
