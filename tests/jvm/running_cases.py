# SPDX-License-Identifier: Apache-2.0
"""Reading a trace while its JVM writes it, and while that ends."""
import json
import pathlib
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
    for words in (["stats", "--top", "1"], ["dump", "--kind", "VS,VI,TB"]):
        result = session.run([session.steptrace, *words, "run.step"])
        errors = result.stderr.decode()
        require(result.returncode == (3 if errors else 0), f"{words} ends with {result.returncode}")
        require("was killed" not in errors and "allocation is not there" not in errors,
                f"{words}: {errors}")
    states.append("whole" if whole else "running")


def running(session):
    """A busy program is read again and again, and while it is being stopped."""
    for events in ("all,include=facts/**", "class+alloc+free+thread"):
        process = session.start(session.java("Busy", "-Xmx64m", f"file=run.step,events={events},"
                                             "buffer=4m,limit=60m"))
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


TABLE = {function.__name__: function for function in (running,)}
