# SPDX-License-Identifier: Apache-2.0
"""Reading a trace while its JVM writes it, and while that ends."""
import json
import os
import pathlib
import shutil
import threading
import time

from session import Failure, answer, expect_line, shown


def require(condition, text):
    if not condition:
        raise Failure(text)


def read_once(session, states):
    """What check, info, stats and dump say now; nothing of it may be false."""
    check = session.run([session.steptrace, "check", "run.step"])
    text = check.stdout.decode()
    require("rule " not in text and " breaches" not in text, f"breaches while it runs:\n{text[:2000]}")
    whole = text.endswith(": closed\n")
    require(check.returncode == (0 if whole else 3), f"check ends with {check.returncode}: {text}")
    require(whole or "still runs" in text, f"check does not say that it runs:\n{text}"
            + shown(check.stderr))
    info = json.loads(session.step("info", "--json", "run.step", codes=(0, 3)))
    require(info["running"] != info["whole"], f"it is neither running nor whole: {info}")
    require(not whole or info["whole"], "once whole, it is cut again")
    for words in (["stats", "run.step", "--top", "1"], ["dump", "run.step", "--kind", "VS,VI,TB"],
                  ["sql", "run.step", "select count(*) from objects"],
                  ["convert", "run.step", "-o", "run.lake", "--to=parquet", "--table=threads"]):
        shutil.rmtree(session.path("run.lake"), ignore_errors=True)
        result = session.run([session.steptrace, *words])
        errors = result.stderr.decode()
        after = json.loads(session.step("info", "--json", "run.step", codes=(0, 3)))
        require(not info["running"] or not after["running"] or "still runs" in errors,
                f"{words} does not say that it runs: {errors}")
        require(result.returncode == (3 if errors else 0), f"{words} ends with {result.returncode}")
        require("was killed" not in errors and "allocation is missing" not in errors,
                f"{words}: {errors}")
    states.append("whole" if whole else "running")


def running(session):
    """A busy program is read again and again, and while it is being stopped."""
    for events, limit in (("all,include=facts/**", "512k"), ("class+alloc+free+thread", "256k")):
        process = session.start(session.java("Busy", "-Xmx64m", f"file=run.step,events={events},"
                                             f"buffer=4m,limit={limit}"))
        states, faults = [], []
        try:
            expect_line(process, "busy")
            for _ in range(4):
                read_once(session, states)
            require("running" in states, f"it never ran: {states}")
            stopper = threading.Thread(target=stop_later, args=(process, faults))
            stopper.start()
            while process.poll() is None or states[-1] != "whole":
                read_once(session, states)
            stopper.join()
        finally:
            process.kill()
            process.communicate()
        require(not faults and process.returncode == 0, f"it ends with {process.returncode} {faults}")
        session.step("check", "run.step")
        require(not pathlib.Path(session.path("run.step.live")).exists(), "run.step.live is there")


def stop_later(process, faults):
    try:
        time.sleep(0.3)
        answer(process)
    except OSError as fault:
        faults.append(fault)


def own_descriptors(session):
    """A program closes all descriptors and opens files: none of the agent's bytes get into them, and
    the trace goes on."""
    # Some builds read the JDK's classes through a descriptor: without it they crash, traced or not,
    # once they load one that is not in the archive.
    bare = session.run(session.java("Daemon", "-Xshare:off", words=[session.path("own"), "40"]))
    keep = dict(os.environ, FACTS_KEEP_IMAGE="1") if bare.returncode != 0 else None
    for options in ("file=run.step", "file=run.step,events=all,buffer=1m",
                    "file=run.step,start=facts.Daemon.main"):
        prefix = session.path("own")
        bare = session.run(session.java("Daemon", words=[prefix, "40"]), env=keep)
        require(bare.stdout.split() == [b"true"] * 3, shown(bare.stdout) + shown(bare.stderr))
        result = session.run(session.java("Daemon", "", options, [prefix, "40"]), env=keep)
        # The JVM has closed its own class files, too: the agent may say that a class has none.
        said = [line for line in result.stderr.decode().splitlines()
                if line.startswith("steptrace: ") and "cannot be instrumented: not a class file" not in line]
        require((bare.returncode, bare.stdout) == (result.returncode, result.stdout) and not said,
                f"{options}: {shown(result.stdout)} {shown(result.stderr)}")
        session.step("check", "run.step")
        table = json.loads(session.step("stats", "--json", "--top=0", "run.step"))
        made = [row for row in table["classes"] if row["name"] == "facts/Daemon$Made"]
        require(made and made[0]["allocated_objects"] == 1200000, f"{options}: {made}")
        require(not pathlib.Path(session.path("run.step.live")).exists(), "run.step.live is there")


def no_descriptors(session):
    """The program has no descriptor of the agent's, nor a child what its parent left open."""
    process = session.start(session.java("Busy", "-Xmx64m", "file=run.step,events=all"))
    try:
        expect_line(process, "busy")
        links = [os.readlink(link) for link in pathlib.Path(f"/proc/{process.pid}/fd").iterdir()]
        require(not [link for link in links if "run.step" in link], f"{links}")
        answer(process)
        process.communicate(timeout=session.timeout)
    finally:
        process.kill()
    require(process.returncode == 0, f"it ends with {process.returncode}")


TABLE = {function.__name__: function for function in (
    running, own_descriptors, no_descriptors)}
