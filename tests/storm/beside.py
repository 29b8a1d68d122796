# SPDX-License-Identifier: Apache-2.0
"""Scenarios with someone else in the same JVM: profilers, debuggers, other agents, diagnostic commands,
archives of classes."""
import os
import pathlib
import socket
import subprocess
import zipfile

from case import QUIET, expect
from runs import Fault, Skip, finish

JACOCO = "/usr/share/java/org.jacoco.agent.jar"
NOT_ASKED = ("help", "JVMTI.agent_load", "ManagementAgent.start", "ManagementAgent.stop", "VM.cds")
ARGUMENTS = {"GC.heap_dump": "heap.hprof", "Thread.dump_to_file": "threads.txt",
             "GC.class_histogram": "-all", "VM.stringtable": "-verbose",
             "VM.symboltable": "-verbose",
             "JFR.start": "name=storm", "JFR.stop": "name=storm",
             "Compiler.perfmap": "perf.map", "VM.set_flag": "MinHeapFreeRatio 30"}
ORDER = ("JFR.start", "JFR.dump", "JFR.check", "JFR.stop")


def numbers(case):
    return [case.scale("160", "1600"), "2"]


def flight_recorder(case):
    vm = [f"-XX:StartFlightRecording=filename={case.path('run.jfr')},settings=profile"]
    options = case.options("events=all,include=storm/**")
    case.compare("Mix", numbers(case), vm, options)


def jacoco(case):
    if not os.path.exists(JACOCO):
        raise Skip("no libjacoco-java")
    if case.machine.version > 17:
        raise Skip("this JaCoCo is older than the JDK")
    with zipfile.ZipFile(JACOCO) as archive:
        archive.extract("jacocoagent.jar", case.directory)
    vm = [f"-javaagent:jacocoagent.jar=destfile={case.path('run.exec')}", "-Xverify:all"]
    case.compare("Mix", numbers(case), vm, case.options("events=all,include=storm/**"))


def sampler(case):
    """AsyncGetCallTrace from a timer's signal handler, in the midst of anything."""
    options = case.options(case.rng.choice(("", "events=all,include=storm/**", "stack=16")))
    case.compare("Mix", [case.scale("800", "8000"), "3"], [f"-agentpath:{case.kit.sampler}"],
                 options)


def redefinition(case):
    jar = case.path("changer.jar")
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF",
                         "Premain-Class: storm.Changer\nCan-Redefine-Classes: true\n"
                         "Can-Retransform-Classes: true\n")
    options = case.options("events=all,include=storm/**")
    case.compare("Swapped", [case.scale("12", "300"), "yes"], [f"-javaagent:{jar}"], options)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def debugged(case, options):
    port = free_port()
    vm = ["-agentlib:jdwp=transport=dt_socket,server=y,suspend=y,quiet=y,"
          f"address=127.0.0.1:{port}"]
    process = case.start(case.java("Swapped", [case.scale("8", "100"), "no"], vm, options))
    command = [case.machine.tool("java"), "-XX:TieredStopAtLevel=1", *QUIET, "-cp",
               case.kit.classes, "storm.Debugger", str(port)]
    try:
        debugger = subprocess.run(command, cwd=case.directory, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, timeout=case.timeout, check=False)
    except subprocess.TimeoutExpired:
        finish(process, case.machine, case.directory, 1)
        raise
    outcome = case.finish(process)
    outcome.out += debugger.stdout
    outcome.err += debugger.stderr
    return outcome


def debugger(case):
    """Breakpoints, stacks, steps and hot swap."""
    bare = debugged(case, None)
    if bare.status != 0 or b"turns" not in bare.out:
        raise Skip(f"untraced it ends with {bare.status}: {bare.tail()[:300]}")
    options = case.options("events=all,include=storm/**")
    traced = debugged(case, options)
    if traced.out != bare.out and debugged(case, None).out != bare.out:
        raise Skip("two untraced runs differ")  # seen with JDK 25: the swapped code did not run
    case.require_same(bare, traced)
    case.require_trace(options)


def ask(case, process, words):
    return subprocess.run(["jattach", str(process.pid), "jcmd", words], cwd=case.directory,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                          timeout=case.timeout).stdout.decode(errors="replace")


def diagnostic_commands(case):
    """All that `jcmd PID help` lists, one after the other, while it works."""
    options = case.options("")
    process = case.start(case.java("Waiting", options=options))
    said = expect(process, "ready")
    lines = ask(case, process, "help").split("available:")[-1].split("\n\n")[0].splitlines()
    names = [line.strip() for line in lines if line.strip() and " " not in line.strip()]
    names = [name for name in ORDER if name in names] + \
        [name for name in names if name not in ORDER and name not in NOT_ASKED]
    if len(names) < 20:
        raise Fault(f"only these commands: {names}")
    for name in names:
        case.notes.append(name)
        if process.poll() is None:
            argument = ARGUMENTS.get(name, "")
            ask(case, process, f"{name} {argument}".strip())
    outcome = case.finish(process)
    if (outcome.status, said + outcome.out) != (0, b"ready\ndone\n"):
        raise Fault(f"it ends with {outcome.status}\n{outcome.tail()}")
    case.require_trace(options)


def make_jar(case):
    """Archives of classes take jars only, and in a fixed place."""
    jar = case.path("storm.jar")
    with zipfile.ZipFile(jar, "w") as archive:
        for path in sorted(case.kit.own_classes.rglob("*.class")):
            archive.write(path, path.relative_to(case.kit.own_classes))
    return jar


def archived(case, jar, vm, options=None):
    command = case.java("Mix", numbers(case), vm, options)
    command[command.index("-cp") + 1] = jar
    return case.run(command)


def with_archive(make, use, is_traced_when_made):
    """An archive of classes is made, then used; with the agent at one of the two."""
    def run(case):
        jar = make_jar(case)
        case.collector = "G1"  # archives of objects are for few others
        bare = archived(case, jar, [])
        options = case.options("" if is_traced_when_made else None)
        made = archived(case, jar, [make], options if is_traced_when_made else None)
        if is_traced_when_made and made.status == 1 and any(words in made.err for words in REFUSALS):
            return
        case.require_same(bare, made)
        if not is_traced_when_made:
            case.require_same(bare, archived(case, jar, [use], options))
            case.trace().require_true()
        elif pathlib.Path(case.path("run.step")).exists():
            case.trace().require_true()
    return run


# What the JVM says where it makes no archive with any native agent.
REFUSALS = (b"CDS dumping does not support native JVMTI agent",
            b"JVMTI agents are not allowed when dumping CDS archives")  # JDK 26
DYNAMIC = ("-XX:ArchiveClassesAtExit=own.jsa", "-XX:SharedArchiveFile=own.jsa")
AOT = ("-XX:AOTCacheOutput=own.aot", "-XX:AOTCache=own.aot")
TABLE = {
    "flight-recorder": flight_recorder,
    "jacoco": jacoco,
    "sampler": sampler,
    "redefinition": redefinition,
    "debugger": debugger,
    "diagnostic-commands": diagnostic_commands,
    "cds-archive": with_archive(*DYNAMIC, False),
    "cds-dump": with_archive(*DYNAMIC, True),
    "aot-cache": with_archive(*AOT, False),
    "aot-dump": with_archive(*AOT, True),
}
