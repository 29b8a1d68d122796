# SPDX-License-Identifier: Apache-2.0
"""The call stacks that the agent knows by the machine's frames are those that the JVM tells: with
walk=check each is found both ways."""
import json
import os
import pathlib
import re
import zipfile

import drivers
from session import COLLECTORS, Failure, Skip, answer, expect_line, finish, shown

COUNTS = re.compile(rb"call stacks: (\d+) known ones compared, (\d+) different, (\d+) asked for, "
                    rb"(\d+) of them not walked; (\d+) new ones composed")

# What runs the program: options of the JVM, of the agent, rounds, and the least share of stacks
# that must have been known.
WAYS = (
    ("", "stack=16", 1600, 0.9),
    ("-Xint", "stack=16", 150, 0.7),
    ("-XX:TieredStopAtLevel=1", "stack=5", 1000, 0.9),
    ("-XX:-TieredCompilation", "stack=64", 1600, 0.8),
    ("-Xcomp -XX:CompileOnly=facts.StackShapes*::*,java.util.*::*", "stack=16", 150, 0.5),
    ("-XX:+UseZGC", "stack=16", 500, 0.8),
    ("-XX:+UseShenandoahGC", "stack=16", 500, 0.8),
    ("-XX:ReservedCodeCacheSize=4m -XX:+UseCodeCacheFlushing", "stack=16", 500, 0.8),
    ("", "stack=16,engine=jvmti", 500, 0.8),
)


def run(session, vm, options, rounds):
    collector = COLLECTORS[session.collector]
    command = session.java("StackShapes", vm, f"file=run.step,{options}", [str(rounds)])
    if "-XX:+Use" in vm and "GC" in vm:
        command.remove(collector)
    result = session.run(command)
    if result.returncode != 0 or b"done" not in result.stdout:
        raise Failure(f"{vm} {options}: it ends with {result.returncode}\n"
                      + shown(result.stdout) + shown(result.stderr))
    return result.stderr


def stack_walk(session):
    """No difference, whatever compiles and collects."""
    for vm, options, rounds, least in WAYS:
        errors = run(session, vm, f"{options},walk=check", rounds)
        counts = COUNTS.search(errors)
        if counts is None:
            raise Failure(f"{vm} {options}: no counts in\n{shown(errors)}")
        compared, different, asked, _, composed = (int(count) for count in counts.groups())
        print(f"{vm} {options}: {counts.group().decode()}")
        if different != 0 or compared < least * (compared + asked) or composed == 0:
            raise Failure(f"{vm} {options}: {shown(errors)}")
    session.step("check", "run.step")


def stack_walk_virtual(session):
    """Nor where virtual threads change their carriers."""
    if session.version() < 21:
        raise Skip("no virtual threads")
    for program in ("VirtualThreads", "VirtualMethods", "VirtualHandover"):
        result = session.run(session.java(program, "", "file=run.step,stack=16,walk=check"))
        counts = COUNTS.search(result.stderr)
        if result.returncode != 0 or counts is None:
            raise Failure(f"{program}: it ends with {result.returncode}\n{shown(result.stderr)}")
        compared, different, _, unknown, _ = (int(count) for count in counts.groups())
        if different != 0 or compared == 0 or unknown == 0:
            raise Failure(f"{program}: {shown(result.stderr)}")
        session.step("check", "run.step")


def stack_walk_off(session):
    """Where frames cannot be walked the JVM is asked, and the agent says why."""
    errors = run(session, "-XX:-UsePerfData", "stack=4", 50)
    if errors.count(b"falling back to JVMTI") != 1 or b"UsePerfData" not in errors:
        raise Failure(f"-XX:-UsePerfData: {shown(errors)}")
    errors = run(session, "", "stack=4,walk=jvmti", 50)
    if b"steptrace:" in errors:
        raise Failure(f"walk=jvmti: {shown(errors)}")


def frames_of(session):
    info = json.loads(session.step("info", "--json", "run.step", codes=(0, 3)))
    return info["properties"]["internals"]


MISREAD = b"a call stack differed from the JVM's"


def stack_walk_proof(session):
    """Stacks of the program are the self-test, of new ones on each JDK, of known ones where it was not tested: a fault
    ends the walking at once, and a late one marks the trace."""
    errors = run(session, "", "stack=16,internals=proven", 300)
    if b"steptrace:" in errors or "frames" not in frames_of(session).partition(";")[0].split():
        raise Failure(f"without a fault: {frames_of(session)}, {shown(errors)}")
    session.tracer = str(pathlib.Path(session.library).with_name("libfaultytracer.so"))
    for fault, options, first, codes in (("MISREAD", "internals=proven", 0, (0,)), ("MISREAD", "internals=proven", 20000, (3,)),
                                         ("MISCOMPOSED", "internals=auto", 1000, (0, 3))):
        os.environ["STEPTRACE_" + fault] = str(first)
        try:
            errors = run(session, "", f"stack=16,{options}", 300)
        finally:
            del os.environ["STEPTRACE_" + fault]
        if errors.count(MISREAD) != 1 or f"frames ({MISREAD.decode()})" not in frames_of(session):
            raise Failure(f"{fault} from walk {first} on: {frames_of(session)}, {shown(errors)}")
        session.step("check", "run.step", codes=codes)


# What the JVM makes for itself while it loads and resolves classes; engine=jvmti alone sees it.
OF_VM = re.compile(r"java/lang/(Class|String),|\[(B|I|Ljava/lang/Object;|Ljava/lang/String;),")


def places_of(session, options):
    """The bytecode indexes of Bare's frames, and at which of them objects of which class were made."""
    result = session.run(session.java("-cp", "", f"file=run.step,stack=8,{options}", [session.path("."), "Bare"]))
    if result.returncode != 0:
        raise Failure(f"{options}: {shown(result.stderr)}")
    return indexes(session)


def indexes(session):
    made = "select distinct o.class, s.method, s.bytecode from objects o join sites s using(site) where s.method like 'Bare%'"
    frames = "select distinct method, bytecode from sites where method like 'Bare%'"
    return [set(session.step("sql", "--csv", "run.step", query).decode().split("\n")[1:-1]) for query in (made, frames)]


def disassembled(session):
    """The indexes of javap's instructions."""
    listing = session.run([session.tool("javap"), "-c", "-p", "-cp", session.path("."), "Bare", "Bare$Heir"]).stdout.decode()
    return set(re.findall(r"^ +(\d+): [a-z]", listing, re.M))


def places_without_lines(session):
    """Without line numbers a frame has its bytecode index: javap's, whatever probes the code has."""
    source = pathlib.Path(__file__).with_name("Bare.java")
    built = session.run([session.tool("javac"), "-g:none", "-d", session.path("."), str(source)])
    if built.returncode != 0:
        raise Failure(shown(built.stderr))
    wanted = places_of(session, "engine=jvmti")
    known = disassembled(session)
    if len(wanted[0]) < 20 or not {row.rsplit(",", 1)[1] for row in wanted[0]} <= known:
        raise Failure(f"javap has instructions at {sorted(known)}; engine=jvmti has {sorted(wanted[0])}")
    for options in ("events=alloc+free+class+thread", "events=all", "events=all+reference", "walk=jvmti",
                    "internals=none", "events=all,internals=none"):
        places = places_of(session, f"engine=bytecode,{options}")
        missing = {row for row in wanted[0] - places[0] if not OF_VM.match(row)}
        besides = (places[0] - wanted[0]) | (places[1] - wanted[1] - {"Bare.main,0"})  # main's own probe
        if missing or besides or len(places[1]) < 30:
            raise Failure(f"{options}: missing {sorted(missing)}, besides {sorted(besides)}")


def stacks_afterwards(session):
    """The probes of a session without call stacks, some of which are in Java, are in no stack of the next."""
    process = session.start(session.java("Attached", "-XX:+EnableDynamicAgentLoading"))
    try:
        expect_line(process, "attach")
        drivers.load(session, process.pid, "file=run.step,existing=no,internals=auto")
        answer(process)
        expect_line(process, "stop")
        drivers.load(session, process.pid, "stop")
        answer(process)
        expect_line(process, "again")
        drivers.load_by_jcmd(session, process.pid, "start,file=second.step,existing=no,stack=3,internals=auto")
        answer(process)
        finish(process)
    finally:
        process.kill()
    rows = session.step("sql", "--csv", "second.step", "select s.method, count(*) from objects o join sites s using(site) "
                        "where o.class = 'facts/Attached$Worked' group by s.method").decode().split()
    if rows[1:] != ["facts/Attached.main,1000"]:
        raise Failure(f"the objects were made in {rows}")


def redefined_lines(session):
    """What another agent redefines has its new lines at once, in stacks that were known before, too."""
    with zipfile.ZipFile(session.path("agent.jar"), "w") as jar:
        jar.writestr("META-INF/MANIFEST.MF",
                     "Manifest-Version: 1.0\nPremain-Class: facts.Redefined\nCan-Redefine-Classes: true\n")
    source = pathlib.Path(session.sources, "facts", "Redefined.java").read_text(encoding="utf-8").split("\n")
    lines = [i + 1 for i, line in enumerate(source) if line.strip() == "sink = new Item();"]
    rounds = 12
    wanted = {line: 400 * rounds + (200 if line == lines[0] else 0) for line in lines}
    for options in ("walk=check", "walk=jvmti", "engine=jvmti,walk=jvmti"):
        result = session.run(session.java("Redefined", f"-javaagent:{session.path('agent.jar')}",
                                          f"file=run.step,stack=8,{options}", [str(rounds)]))
        if result.returncode != 0 or b"done" not in result.stdout or b"fall" in result.stderr:
            raise Failure(f"{options}: {shown(result.stdout)} {shown(result.stderr)}")
        rows = session.step("sql", "--csv", "run.step", "select s.line, count(*) from objects o join sites s using(site) "
                            "where o.class = 'facts/Redefined$Item' group by s.line").decode().split()[1:]
        found = {int(line): int(count) for line, count in (row.split(",") for row in rows)}
        counts = COUNTS.search(result.stderr)
        if found != wanted or (counts is not None and counts.group(2) != b"0"):
            raise Failure(f"{options}: {found}, not {wanted}; {shown(result.stderr)}")


def constructors(session):
    """A stack begins where its object is created, in a constructor of the same class, too, and has as many frames as were
    asked for, however many constructors make the object."""
    source = pathlib.Path(session.sources, "facts", "Nested.java").read_text(encoding="utf-8").split("\n")
    made = {name: [i + 1 for i, line in enumerate(source) if f"new {name}(" in line] for name in ("Node", "Pair", "Ladder")}
    wanted = {("Node", made["Node"][0]): 700, ("Node", made["Node"][1]): 700, ("Node", made["Node"][2]): 100,
              ("Pair", made["Pair"][0]): 100, ("Pair", made["Pair"][1]): 100, ("Ladder", made["Ladder"][0]): 100}
    for options in ("stack=16,events=all", "stack=1,walk=jvmti"):
        result = session.run(session.java("Nested", "", f"file=run.step,{options}"))
        if result.returncode != 0 or b"done" not in result.stdout:
            raise Failure(f"{options}: {shown(result.stdout)} {shown(result.stderr)}")
        rows = session.step("sql", "--csv", "run.step", "select substr(o.class, 14) as name, s.line, count(*) as number, min(s.depth) as least, max(s.depth) as most "
                            "from objects o join sites s using(site) where o.class like 'facts/Nested$%' "
                            "group by o.class, s.line").decode().split()[1:]
        found = {(name, int(line)): int(count) for name, line, count, _, _ in (row.split(",") for row in rows)}
        depths = {depth for row in rows for depth in row.split(",")[3:]}
        if found != wanted or depths != {"1" if "stack=1," in options + "," else "16"}:
            raise Failure(f"{options}: {found}, not {wanted}; depths {depths}")


def long_stacks(session):
    """Joins find the texts of stacks, however many bytes all of them take."""
    result = session.run(session.java("Nested", "", "file=run.step,stack=200,events=alloc+class", ["paths"]))
    if result.returncode != 0:
        raise Failure(shown(result.stderr))
    rows = session.step("sql", "--csv", "run.step", "select count(*), count(distinct s.stack), min(length(s.stack)) > 4000 "
                        "from objects o join sites s using(site) where o.class = 'facts/Nested$Leaf'").decode().split()
    if rows[-1] != "4096,4096,1":
        raise Failure(f"of 4,096 objects with different stacks: {rows}")


TABLE = {function.__name__: function
         for function in (stack_walk, stack_walk_virtual, stack_walk_off, stack_walk_proof, places_without_lines,
                          redefined_lines, constructors, long_stacks, stacks_afterwards)}
