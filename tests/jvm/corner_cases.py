# SPDX-License-Identifier: Apache-2.0
"""Tests of JVMs in corners: virtual threads below their own methods."""
from session import Failure, Skip, shown


def require(condition, text):
    if not condition:
        raise Failure(text)


def entries(session, method):
    """The threads that enter it, each as often as it does."""
    lines = session.step("dump", "run.step").decode().splitlines()
    return [line.split(":")[2] for line in lines
            if line.startswith("MN:") and f":{method}:" in line]


def carriers(session):
    """What a carrier does between two virtual threads is its own: no virtual thread has it."""
    if session.version() < 21:
        raise Skip("no virtual threads")
    options = "file=run.step,events=method,include=java/lang/VirtualThread+facts/VirtualMethods*"
    result = session.run(session.java("VirtualMethods", "", options))
    require((result.returncode, result.stdout) == (0, b"done\n"),
            f"it ends with {result.returncode} {shown(result.stdout)} {shown(result.stderr)}")
    session.step("check", "run.step")
    carried = entries(session, "facts/VirtualMethods:run")
    carrying = entries(session, "java/lang/VirtualThread:runContinuation")
    require(len(set(carried)) == 100, f"{len(set(carried))} threads were carried")
    require(len(carrying) > 100, f"{len(carrying)} times one was carried")
    both = set(carried) & set(carrying)
    require(not both, f"threads {sorted(both)} carry and are carried")


TABLE = {function.__name__: function for function in (carriers,)}
