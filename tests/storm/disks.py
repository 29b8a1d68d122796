# SPDX-License-Identifier: Apache-2.0
"""Scenarios of disks: full ones and read-only ones, small file systems in memory that root may mount."""
import contextlib
import pathlib
import subprocess

from case import expect
from runs import Fault, Skip


@contextlib.contextmanager
def mounted(case, options):
    disk = pathlib.Path(case.path("disk"))
    disk.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(disk)],
                          stderr=subprocess.DEVNULL, check=False)
    if made.returncode != 0:
        raise Skip("no file system can be mounted here")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=False)


def full(case):
    """A disk too small for the trace: it ends early, and the program does not notice."""
    size = case.rng.choice(("3m", "6m"))
    case.notes.append(f"disk of {size}")
    words = [case.scale("4000", "20000"), "2"]
    with mounted(case, f"size={size}"):
        bare = case.bare("Mix", words)
        options = case.scale("", "events=all,include=storm/**,") + "resolution=1ns,buffer=1m"
        traced = case.java("Mix", words)
        traced.insert(1 + len(case.machine.flags),
                     case.agent(options, "disk/run.step"))
        case.require_same(bare, case.run(traced))
        case.trace("disk/run.step").require_true()


def read_only(case):
    """No trace can be made: a JVM runs untraced, with a line that says so; a running one goes on."""
    with mounted(case, "size=1m,ro"):
        untraced = case.java("Mix", ["1", "1"])
        untraced.insert(1 + len(case.machine.flags), case.agent("", "disk/run.step"))
        outcome = case.run(untraced)
        if outcome.status != 0 or b"disk/run.step" not in outcome.err or b"the program runs untraced" not in outcome.err:
            raise Fault(f"it ends with {outcome.status}\n{outcome.tail()}")
        process = case.start(case.java("Waiting", vm=["-XX:+EnableDynamicAgentLoading"]
                                       if case.machine.version >= 21 else []))
        expect(process, "ready")
        attach = subprocess.run(["jattach", str(process.pid), "load", case.kit.tracer, "true",
                                 f"file={case.path('disk/run.step')},overwrite=yes"], check=False,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        outcome = case.finish(process)
        if attach.returncode == 0:
            raise Fault("it was attached")
        if (outcome.status, outcome.out) != (0, b"done\n"):
            raise Fault(f"it ends with {outcome.status}\n{outcome.tail()}")


TABLE = {"full-disk": full, "read-only-disk": read_only}
