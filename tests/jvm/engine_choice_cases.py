# SPDX-License-Identifier: Apache-2.0
"""Classes of the JDK that cannot have probes: another engine, an incomplete trace, or no program."""
import json
import os
import pathlib
import re

import facts
import trace_text
from session import Failure, Skip, shown


def require(condition, text):
    if not condition:
        raise Failure(text)


def run(session, options, classes, ours_first):
    """With class files of these classes of an unknown version, shown to our agent or made of what it
    made, as long as they are loaded; gives the result and what the trace's `info` says."""
    damage = f"-agentpath:{session.versions}={classes}:80"
    ours = f"-agentpath:{session.tracer}=file=run.step,finish=10min{options}"
    command = session.java("Allocations")
    command[1:1] = [ours, damage] if ours_first else [damage, ours]
    for name in ("run.step", "facts.out"):
        if os.path.exists(session.path(name)):
            os.unlink(session.path(name))
    result = session.run(command)
    properties = {}
    if os.path.exists(session.path("run.step")):
        properties = json.loads(session.step("info", "--json", "run.step", codes=(0, 3)))["properties"]
    return result, properties


def judge(session):
    """The program's facts."""
    session.step("convert", "run.step", "-o", "run.zip")
    program = facts.Program(session.sources, "Allocations")
    trace = trace_text.read_zip(session.path("run.zip"), program.markers())
    program.add_facts(session.path("facts.out"))
    faults = trace.breaches + facts.Judge(program, trace, None).judge()
    require(not faults, "\n".join(faults))


def engine_fallback(session):
    """The trace is of engine=jvmti, exact, and says why; the program notices nothing."""
    for ours_first in (False, True):
        result, properties = run(session, "", "java/util/HashMap", ours_first)
        said = result.stderr.decode()
        require(result.returncode == 0, f"it ends with {result.returncode}: {shown(result.stderr)}")
        require(len(re.findall("^steptrace: ", said, re.M)) == 1 and "engine=jvmti" in said, f"it says {said}")
        require(properties["engine"] == "jvmti", f"the trace is of {properties['engine']}")
        require("HashMap" in properties["engine-reason"], f"because of {properties['engine-reason']}")
        session.step("check", "run.step")
        judge(session)
    result, properties = run(session, "", "java/util/LinkedHashMap$Entry", False)
    require(properties["engine"] == "bytecode", "one class of the JDK is no reason for another engine")
    require(b"1 classes and 0 methods have no probes" in session.step("check", "run.step"), "check does not count it")


def engine_incomplete(session):
    """Where engine=bytecode was asked for, or is needed, the trace says that it misses most; with
    required=yes there is no program and no trace."""
    for options in (",engine=bytecode", ",events=reference", ",start=facts.Allocations.main"):
        for ours_first in (False, True):
            result, properties = run(session, options, "java/util/HashMap", ours_first)
            require(result.returncode == 0, f"{options}: it ends with {result.returncode} {shown(result.stderr)}")
            require("HashMap" in properties["incomplete"], f"{options}: {properties}")
            said = json.loads(session.step("check", "--json", "run.step", codes=(3,)))
            require(said["verdict"] == "incomplete" and "HashMap" in said["incomplete"], f"{options}: check says {said}")
            require(b"the trace is incomplete" in session.step("check", "run.step", codes=(3,)), "check says nothing")
            session.step("stats", "run.step", "--fail-if", "allocated > 1g", codes=(3,))
            result, properties = run(session, options + ",required=yes", "java/util/HashMap", ours_first)
            require(result.returncode == 1 and result.stdout == b"", f"{options}: it runs: {shown(result.stdout)}")
            require(not properties, f"{options}: there is a trace: {properties}")


def value_classes(session):
    """Where objects may have no identity, what needs it is not traced; allocations are."""
    if session.version() < 28:
        raise Skip("it has no value classes")
    for events in ("reference", "alloc+method"):
        command = session.java("Allocations", "--enable-preview", f"file=run.step,events={events}")
        result = session.run(command)
        require(result.returncode == 0 and b"value classes" in result.stderr, f"{events}: {shown(result.stderr)}")
        require(not os.path.exists(session.path("run.step")), f"{events}: there is a trace")
    result = session.run(session.java("Allocations", "--enable-preview", "file=run.step"))
    require(result.returncode == 0 and result.stderr == b"", f"it says {shown(result.stderr)}")
    session.step("check", "run.step")
    judge(session)
    result = session.run(session.java("Allocations", "--enable-preview", "file=run.step,engine=jvmti"))
    require(result.returncode == 0 and b"incomplete" in result.stderr, f"engine=jvmti: {shown(result.stderr)}")
    said = json.loads(session.step("check", "--json", "run.step", codes=(3,)))
    require("value classes" in said["incomplete"], f"engine=jvmti: check says {said}")
    check_value_objects(session)


VALUES = """
public class Values {
    static value class Point {
        final int x, y;
        Point(int a, boolean b) {
            if (b) x = a; else x = -a;
            y = a > 3 ? 5 : 6;
        }
    }
    static abstract value class Base {
        final int base;
        Base(int a) { base = a > 0 ? a : -a; }
    }
    static value class Sub extends Base {
        final Point point; final long l;
        Sub(int a) {
            l = a > 100 ? 7L : 8L;
            Point made;
            try {
                made = new Point(Integer.parseInt("" + a), a > 2);
            } catch (NumberFormatException e) {
                made = null;
            }
            point = made;
            super(a);
        }
    }
    static Object sink;
    public static void main(String[] words) {
        long sum = 0;
        for (int i = 0; i < 1000; i++) {
            Sub sub = new Sub(i - 500);
            sink = sub;
            sum += sub.base + sub.point.x + sub.point.y + sub.l;
        }
        System.out.println(sum);
    }
}
"""


def check_value_objects(session):
    """Constructors with strict fields, whose stack maps list those that are not set yet: all have probes,
    with all kinds of probes, and the verifier takes them."""
    pathlib.Path(session.path("Values.java")).write_text(VALUES, encoding="utf-8")
    compiler = [session.tool("javac"), "--enable-preview", "--release", str(session.version()), "Values.java"]
    require(session.run(compiler).returncode == 0, "javac fails")
    program = ["--enable-preview", "-Xverify:all", "-cp", ".", "Values"]
    bare = session.run([session.tool("java"), *program])
    for events in ("alloc", "method,include=Values*"):
        agent = f"-agentpath:{session.tracer}=file=run.step,overwrite=yes,finish=10min,events={events}"
        traced = session.run([session.tool("java"), agent, *program])
        require((traced.returncode, traced.stdout) == (0, bare.stdout), f"{events}: {shown(traced.stderr)}")
        require(traced.stderr == bare.stderr, f"{events}: it says {shown(traced.stderr)}")
        require(b"no probes" not in session.step("check", "run.step"), f"{events}: something has no probes")
        session.step("convert", "run.step", "-o", "run.zip")
        trace = trace_text.read_zip(session.path("run.zip"))
        made = [trace.allocs[f"Values${name}"] for name in ("Point", "Sub")] if events == "alloc" else \
            [trace.methods[("MN", f"Values${name}", "<init>")] for name in ("Point", "Sub")]
        require(made == [1000, 1000], f"{events}: {made} of each")


TABLE = {function.__name__: function for function in (engine_fallback, engine_incomplete, value_classes)}
