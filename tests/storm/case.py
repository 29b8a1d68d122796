# SPDX-License-Identifier: Apache-2.0
"""A case: one scenario in one JVM with its own random numbers and directory; what scenarios do with it:
command lines, runs with and without the agent, and the comparison of both."""
import random
import re

import choices
import machines
import runs
from runs import Fault, Skip

# Messages of the JVM have process ids and times: they go to stderr, which is not compared.
QUIET = ["-XX:+DisplayVMOutputToStderr", "-Xlog:disable", "-Xlog:all=error:stderr",
         "-XX:-CreateCoredumpOnCrash"]


# A trace that is to be closed is waited for, however slow the machine.
PATIENT = ",finish=10min"


UNTRACED_SECONDS = 60  # for a JVM that hangs by itself; one that works gets more


class Case:
    def __init__(self, kit, machine, scenario, seed, directory):
        self.kit, self.machine, self.scenario = kit, machine, scenario
        self.directory, self.timeout = directory, kit.timeout
        self.rng = random.Random(f"{seed}/{machine.name}/{scenario}")
        self.collector = self.rng.choice(
            [name for name in machine.collectors if name not in ("Epsilon",)])
        self.notes = []

    def scale(self, short, full):
        """How much of something: in minutes for each change, or in the hour."""
        return full if self.kit.is_full else short

    def path(self, name):
        return str(self.directory / name)

    def options(self, only=None):
        """Random options of the agent, named in what a failure says."""
        words = choices.agent(self.rng, only)
        self.notes.append("agent: " + words)
        return words

    def agent(self, options, name="run.step"):
        return f"-agentpath:{self.kit.tracer}=file={name},overwrite=yes" + ("," + options if options else "") \
            + ("" if "finish=" in options else PATIENT)

    def java(self, program, words=(), vm=(), options=None, collector=None):
        """The command line; `options` are the agent's, None runs without it."""
        command = [self.machine.tool("java"), *self.machine.flags, *QUIET]
        if options is not None:
            command.append(self.agent(options))
        command += machines.COLLECTORS[collector or self.collector].split()
        if not any(word.startswith("-Xmx") for word in vm):
            command.append("-Xmx256m")
        main = program if "." in program else f"storm.{program}"
        return command + [*vm, f"-Dfacts.library={self.kit.facts_library}",
                          f"-Dfacts.out={self.path('facts.out')}", "-cp", self.kit.classes, main,
                          *words]

    def start(self, command, limits=None):
        self.notes.append(" ".join(command))
        return runs.start(command, self.directory, limits)

    def finish(self, process, text=b""):
        return runs.finish(process, self.machine, self.directory, self.timeout, text)

    def run(self, command, limits=None):
        return self.finish(self.start(command, limits), b"\n\n\n")

    def trace(self, name="run.step"):
        return runs.Trace(self.kit.steptrace, self.path(name))

    def bare(self, program, words=(), vm=(), expected=0, limits=None, collector=None):
        """What the program says untraced; a JVM that cannot run it so is none of ours."""
        process = self.start(self.java(program, words, vm, collector=collector), limits)
        try:
            outcome = runs.finish(process, self.machine, self.directory, min(self.timeout, UNTRACED_SECONDS), b"\n\n\n")
        except Fault as fault:
            raise Skip(f"untraced: {fault}") from fault
        if outcome.status != expected and expected is not None:
            raise Skip(f"untraced it ends with {outcome.status}: {outcome.tail()[:300]}")
        return outcome

    def compare(self, program, words=(), vm=(), options="", expected=0, limits=None, closed=True,
                collector=None, but=None):
        """Runs it without the agent and with it: same status, same output (but for what matches
        `but`), a true trace."""
        bare = self.bare(program, words, vm, expected, limits, collector)
        traced = self.run(self.java(program, words, vm, options, collector), limits)
        self.require_same(bare, traced, but)
        self.require_trace(options, closed)
        return traced

    def require_trace(self, options, closed=True):
        """A true trace; closed, unless these options of the agent leave events out."""
        trace = self.trace()
        trace.require_true()
        if closed and "limit=" not in options and "drop" not in options:
            trace.require_closed()

    def require_same(self, bare, traced, but=None):
        if traced.status != bare.status:
            raise Fault(f"traced, it ends with {traced.status}, not {bare.status}\n{traced.tail()}")
        said = [re.sub(but, b"", one.out) if but else one.out for one in (bare, traced)]
        if said[0] != said[1]:
            raise Fault(f"traced, it says\n{runs.shown(traced.out)}\nnot\n{runs.shown(bare.out)}\n"
                        + runs.shown(traced.err))


def expect(process, wanted):
    """Reads lines up to this one; what came before it, and it."""
    lines = b""
    for raw in process.stdout:
        lines += raw
        if raw.decode(errors="replace").strip() == wanted:
            return lines
    raise Fault(f"it ended without saying {wanted!r}: {runs.shown(lines)}")
