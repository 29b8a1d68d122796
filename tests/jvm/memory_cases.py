# SPDX-License-Identifier: Apache-2.0
"""The account of the agent's memory by part, and the ceiling memory=."""
import json
import pathlib

from session import Failure, shown

PARTS = ("weak-references", "tables", "stacks", "rings", "drain")


def require(condition, text):
    if not condition:
        raise Failure(text)


def properties_of(session):
    return json.loads(session.step("info", "--json", "run.step", codes=(0, 3)))["properties"]


def run(session, options):
    bare = session.run(session.java("HotAllocations", "-Xmx128m"))
    result = session.run(session.java("HotAllocations", "-Xmx128m", f"file=run.step,{options}"))
    require((result.returncode, result.stdout) == (bare.returncode, bare.stdout),
            f"{options}: it ends with {result.returncode}: {shown(result.stderr)}")
    session.step("check", "run.step", codes=(0, 3))
    return properties_of(session), result.stderr.decode()


def memory_account(session):
    """Each part has its peak, and the ceiling ends the trace, not the program."""
    found, _ = run(session, "stack=8")
    parts = {name: int(found[f"memory-{name}"]) for name in PARTS}
    # 16 bytes an entry, at least as many as one young collection leaves
    require(min(parts.values()) > 0 and parts["rings"] >= 1 << 20, f"{parts}")
    require(max(parts.values()) <= int(found["memory-peak"]) <= sum(parts.values()),
            f"{found['memory-peak']} in all of {parts}")
    require(found["end"] == "vm-death", found["end"])
    # the class of the program makes more than 400,000 objects; 1 MiB of buffers is the least
    found, told = run(session, "memory=8m,stack=8")
    require(int(found["memory-rings"]) < parts["rings"] or parts["rings"] < 8 << 20,
            f"the ring is not smaller: {found['memory-rings']}, {parts}")
    if found["end"] == "memory":
        require("needs more than memory=8m (weak-references " in told, told)
        require(int(found["memory-peak"]) > 8 << 20, found["memory-peak"])
    else:
        require(found["end"] == "vm-death" and int(found["memory-peak"]) <= 16 << 20, f"{found}")
    require(not pathlib.Path(session.path("run.step.live")).exists(), "run.step.live is there")


TABLE = {function.__name__: function for function in (memory_account,)}
