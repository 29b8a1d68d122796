# SPDX-License-Identifier: Apache-2.0
"""Another agent that replaces functions of JNI's table, loaded and unloaded before, within and after
traces: it keeps its functions, and a trace has each object once."""
import json
import pathlib

from drivers import load
from session import Failure, answer, expect_line, finish, shown

EACH = 100  # objects, and arrays of bytes, that a round of the program makes


class Program:
    """A run of NativeRounds, beside which agents are loaded."""

    def __init__(self, session, rounds):
        self.session, self.round = session, 0
        self.process = session.start(session.java(
            "NativeRounds", "-XX:+EnableDynamicAgentLoading", words=[str(rounds)]))
        expect_line(self.process, "round 0")

    def other(self, options):
        result = self.session.run(["jattach", str(self.process.pid), "load",
                                   self.session.other_agent, "true", options])
        if result.returncode != 0:
            raise Failure(f"the other agent refuses {options}: {shown(result.stdout)}")

    def run_round(self):
        self.round += 1
        answer(self.process)
        line = self.process.stdout.readline().decode().split()
        if not line:
            raise Failure("the program has ended: " +
                          pathlib.Path(self.session.path("stderr")).read_text(encoding="utf-8"))

    def start(self, name):
        load(self.session, self.process.pid, f"file={name},engine=bytecode,events=class+alloc,existing=no")

    def stop(self):
        load(self.session, self.process.pid, "stop")

    def state(self):
        """Whether the other's functions are in the table, and how often they were called."""
        self.other(self.session.path("state"))
        state, calls = pathlib.Path(self.session.path("state")).read_text(encoding="utf-8").split()
        return state, int(calls)

    def expect(self, wanted):
        state, _ = self.state()
        if state != wanted:
            raise Failure(f"round {self.round}: the other agent's functions are {state}")

    def run_seen_round(self):
        """The other agent sees each call once; a few are our own."""
        _, before = self.state()
        self.run_round()
        state, calls = self.state()
        if state != "mine" or not 2 * EACH <= calls - before < 3 * EACH:
            raise Failure(f"round {self.round}: {state}, {calls - before} calls")

    def expect_objects(self, name, rounds):
        self.session.step("check", name)
        table = json.loads(self.session.step("stats", "--json", "--top=0", name))
        made = [row["allocated_objects"] for row in table["classes"]
                if row["name"] == "facts/NativeRounds$Made"]
        if made != [rounds * EACH]:
            raise Failure(f"{name} has {made} objects, not {rounds * EACH}")

    def end(self):
        answer(self.process)
        finish(self.process)
        if self.process.returncode != 0:
            raise Failure(f"the program ends with {self.process.returncode}")


def run(session, rounds, steps):
    program = Program(session, rounds)
    try:
        steps(program)
        program.end()
    finally:
        program.process.kill()


def after(program):
    """A trace begins, then comes the other agent, which stays and goes."""
    program.start("a.step")
    program.run_round()
    program.other("on")
    program.run_seen_round()
    program.stop()
    program.expect_objects("a.step", 2)
    program.run_seen_round()
    program.start("b.step")
    program.expect("lost")  # ours is before it
    program.run_round()
    program.stop()
    program.expect_objects("b.step", 1)
    program.run_seen_round()
    program.other("off")
    program.run_round()
    program.start("c.step")
    program.run_round()
    program.stop()
    program.expect_objects("c.step", 1)
    program.expect("lost")


def before(program):
    """The other agent is there first; it goes while there is a trace, and comes back."""
    program.other("on")
    program.start("a.step")
    program.run_round()
    program.stop()
    program.expect_objects("a.step", 1)
    program.run_seen_round()
    program.start("b.step")
    program.run_round()
    program.other("off")
    program.run_round()
    program.stop()
    program.expect_objects("b.step", 1)  # the other put back a table without ours
    program.expect("lost")
    program.other("on")
    program.start("c.step")
    program.run_round()
    program.stop()
    program.expect_objects("c.step", 1)
    program.run_seen_round()


def other_agent_after(session):
    run(session, 7, after)


def other_agent_before(session):
    run(session, 6, before)


TABLE = {function.__name__: function for function in (other_agent_after, other_agent_before)}
