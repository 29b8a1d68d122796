# SPDX-License-Identifier: Apache-2.0
"""Exceptions that another thread throws into one that is in a probe: the program gets each."""
import os
import pathlib

from session import Failure, shown

# Options, and the fewest groups of the agent's calls in which threads are stopped.
WAYS = (("events=all", 4), ("internals=safe", 1), ("internals=none", 1),
        ("events=all+reference,stack=16", 4), ("internals=none,events=all+reference", 4),
        ("engine=jvmti,events=all", 0))
EACH = 5  # stops in each group


def numbers(text, *words):
    """What the text says behind each of these words."""
    parts = text.decode().split()
    return [int(parts[parts.index(word) + 1]) if word in parts else 0 for word in words]


def stopped_threads(session):
    """No stop is lost, whichever of the agent's calls it comes in."""
    session.tracer = str(pathlib.Path(session.library).with_name("libfaultytracer.so"))
    for options, fewest in WAYS:
        result = session.run(session.java("Stopped", "", f"file=run.step,overwrite=yes,{options}", ["200"]),
                             env={**os.environ, "STEPTRACE_STOPS": str(EACH)})
        caught, = numbers(result.stdout, "caught")
        stops, groups = numbers(result.stderr, "stops", "groups")
        if result.returncode != 0 or caught != stops or groups < fewest:
            raise Failure(f"{options}: {caught} of {stops} stops in {groups} groups arrived, "
                          f"it ends with {result.returncode}\n"
                          + shown(result.stdout) + shown(result.stderr))
        session.step("check", "run.step")


TABLE = {function.__name__: function for function in (stopped_threads,)}
