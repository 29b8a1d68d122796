# SPDX-License-Identifier: Apache-2.0
"""The scenarios: what is done to a traced JVM, one function each, and the table of them."""
import os
import pathlib
import resource
import signal
import subprocess
import time

import beside
import choices
import disks
from case import PATIENT, expect
from runs import Fault, Skip, shown

HEADER_BYTES = 32  # of a trace file, before its definition


def mix(case, vm=(), options="", **more):
    words = [case.scale("160", "1600"), case.scale("2", "4")]
    return case.compare("Mix", words, vm, options, **more)


# How the JVM is run.

def with_flags(words, only=None):
    def run(case):
        if not case.machine.accepts(words.split()):
            raise Skip(f"it does not take {words}")
        mix(case, words.split(), case.options(only))
    return run


def with_collector(name):
    def run(case):
        if name not in case.machine.collectors:
            raise Skip(f"no {name}")
        heap = ["-Xmx1g"] if name == "Epsilon" else ["-Xmx64m"]
        mix(case, heap, case.options(), collector=name)
    return run


def compiled(case):
    """All code is compiled before it runs: all of it in the hour, else that of some packages."""
    only = "storm.*::*", "java.util.*::*", "java.lang.Object::*"
    some = [f"-XX:CompileCommand=compileonly,{name}" for name in only]
    vm = ["-Xcomp"] + case.scale(["-XX:CompileCommand=quiet", *some], [])
    mix(case, vm, case.options("events=all,include=storm/**+java/util/**"))


def anything(case):
    """A random program with random options of the JVM and of the agent."""
    programs = [("storm." + name, words, []) for name, words in choices.OWN]
    programs += [(name, [], vm) for name, vm in
                 choices.facts_programs(case.kit.sources, case.machine)]
    name, words, vm = case.rng.choice(programs)
    vm = vm + choices.vm(case.rng, case.machine)
    if name.endswith(("OutOfMemory", "Hunger")):
        vm += ["-Xmx48m"]
    if name.endswith("Overflow") and "-Xint" in vm:
        vm.remove("-Xint")
    bare = case.run(case.java(name, words, vm))
    if bare.status not in range(10):
        raise Skip(f"untraced it ends with {bare.status}: {bare.tail()[:300]}")
    traced = case.run(case.java(name, words, vm, case.options()))
    case.require_same(bare, traced, lost_by(case) if name.endswith("Overflow") else None)
    case.trace().require_true()


def object_constructor(case):
    """Object's constructor, with probes, in the compilers, where one class has a finalizer."""
    case.compare("Finalized", [case.scale("300000", "3000000")],
                 options="events=all,include=**,existing=no" if case.kit.is_full
                 else "events=method,include=java/lang/Object")


# Ends.

def ends(how, expected):
    def run(case):
        words = [how, "100", case.scale("50", "5")]
        options = case.options() + case.rng.choice((",finish=0ms", ",finish=1s", ",finish=5s"))
        case.compare("Ends", words, options=options, expected=expected, closed=False)
    return run


def terminated(case):
    outcomes = []
    own = case.options()
    for options in (None, own):
        process = case.start(case.java("Ends", ["wait", "100", case.scale("50", "5")], options=options))
        said = expect(process, "ready")
        process.send_signal(signal.SIGTERM)
        outcome = case.finish(process)
        outcome.out = said + outcome.out
        outcomes.append(outcome)
    case.require_same(*outcomes)
    case.require_trace(own)


def killed(case):
    """SIGKILL at any moment, also before there is a trace: what is there must be true."""
    for _ in range(case.scale(2, 6)):
        for name in ("run.step", "run.step.live"):
            pathlib.Path(case.path(name)).unlink(missing_ok=True)
        process = case.start(case.java("Mix", ["100000", "3"], options=case.options()))
        seconds = case.rng.choice((0.05, 0.3, 1, 2)) * (0.5 + case.rng.random())
        case.notes.append(f"killed after {seconds:.3f} s")
        time.sleep(seconds)
        process.kill()
        case.finish(process)
        if not pathlib.Path(case.path("run.step")).exists():
            continue
        # killed before the definition was written: a trace that has not begun
        if pathlib.Path(case.path("run.step")).stat().st_size > HEADER_BYTES:
            case.trace().require_true()


def hunger(words, vm, expected=0):
    def run(case):
        case.compare("Hunger", words.split(), ["-Xmx24m", *vm.split()], case.options(), expected,
                     closed=expected == 0)
    return run


def lost_by(case):
    """Zero's frames are the compiler's, and its interpreter has no room set aside for a `finally`: some
    of them are lost untraced, too, and which depends on the depth."""
    return rb"uneven -?\d+" if case.machine.name.endswith("zero") else None


def overflows(case, dives, options):
    case.compare("Overflow", [dives], options=options, but=lost_by(case))


def overflow(case):
    overflows(case, case.scale("12", "200"), "events=method")


def overflow_everywhere(case):
    overflows(case, case.scale("3", "60"), case.options("events=all,include=**,existing=no"))


# Threads.

def virtual(case):
    options = case.options(case.rng.choice(("events=all,include=storm/**", "")))
    case.compare("Virtual", [case.scale("2000", "100000")], ["-Xmx512m"], options)


def virtual_everywhere(case):
    case.compare("Virtual", [case.scale("1000", "20000")], ["-Xmx512m"],
                 case.options("events=all,include=**,existing=no"))


def reattach(virtual_threads):
    """Attach, stop, attach again in a busy JVM of many classes; the last trace is read."""
    def run(case):
        rounds = case.scale(6, 100)
        case.timeout *= case.scale(1, 8)  # the JVM itself takes 3 s for 10,000 classes, twice a round
        words = [case.scale("100", "10000" if not virtual_threads else "500"), str(rounds), "30",
                 str(virtual_threads)]
        vm = ["-Djdk.attach.allowAttachSelf=true", "-Xmx512m"]
        if case.machine.version >= 21:
            vm += ["-XX:+EnableDynamicAgentLoading"]
        bare = case.bare("Reattach", words, vm)
        options = case.rng.choice(("events=all", "", "events=all,include=storm/**"))
        case.notes.append(f"agent: {options}")
        traced = case.run(case.java("Reattach", [*words, case.kit.tracer,
                                                 f"file={case.path('run.step')},overwrite=yes,{options}{PATIENT}"],
                                    vm))
        case.require_same(bare, traced)
        case.trace().require_closed()
    return run


def deaths(case):
    """A session's end while the JVM tells of dead objects, amid collections."""
    words = [case.scale("6", "60"), "100000"]
    vm = ["-Djdk.attach.allowAttachSelf=true", "-Xmx256m"]
    if case.machine.version >= 21:
        vm += ["-XX:+EnableDynamicAgentLoading"]
    bare = case.bare("Deaths", words, vm)
    options = "events=alloc+free,engine=" + case.scale("jvmti", case.rng.choice(("jvmti", "bytecode")))
    case.notes.append(f"agent: {options}")
    words += [case.kit.tracer, f"file={case.path('run.step')},overwrite=yes,{options}{PATIENT}"]
    case.require_same(bare, case.run(case.java("Deaths", words, vm)))
    case.trace().require_closed()


def natives(how):
    def run(case):
        case.compare("Natives", [how, case.kit.natives], options=case.options(),
                     closed=how != "closed")
    return run


# Limits.

def limited(limit, value, vm=(), times=1):
    def run(case):
        for _ in range(times):
            case.compare("Mix", [case.scale("160", "1600"), "2"] if times == 1 else ["1", "1"], vm,
                         "resolution=1ns,events=all,include=storm/**,stack=16",
                         limits={limit: value}, closed=False, collector="Serial")
    return run


# Programs of others.

def others(case):
    """A script of the benchmarks: it starts $JAVA with $JAVA_ARGS, its output is in $WORK_DIR."""
    if not case.kit.programs:
        raise Skip("no --program")
    script = case.rng.choice(case.kit.programs)
    outcomes = []
    for options in (None, case.options()):
        work = case.path("traced" if options is not None else "bare")
        pathlib.Path(work).mkdir()
        args = [*case.machine.flags] + ([] if options is None else
                                            [case.agent(options, case.path("run.step"))])
        case.notes.append(f"{script}: JAVA_ARGS={' '.join(args)}")
        env = dict(os.environ, JAVA=case.machine.tool("java"), JAVA_ARGS=" ".join(args),
                   WORK_DIR=work)
        result = subprocess.run([script], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                cwd=work, check=False, timeout=case.timeout * 10)
        outcomes.append((result.returncode, pathlib.Path(work, "stdout.txt").stat().st_size,
                         result.stderr))
    if outcomes[0][0] != outcomes[1][0]:
        raise Fault(f"{script} ends with {outcomes[1][0]}, not {outcomes[0][0]}\n"
                    + shown(outcomes[1][2]))
    if list(pathlib.Path(case.directory).rglob("hs_err*")):
        raise Fault(f"{script}: the JVM crashed")
    case.trace().require_true()


TABLE = {
    "mix": lambda case: mix(case, options=case.options("events=all,include=storm/**")),
    "interpreted": with_flags("-Xint"),
    "compiled": compiled,
    "c1": with_flags("-XX:TieredStopAtLevel=1"),
    "no-compressed-oops": with_flags("-XX:-UseCompressedOops"),
    "no-compressed-classes": with_flags("-XX:-UseCompressedClassPointers"),
    "compact-headers": with_flags("-XX:+UseCompactObjectHeaders"),
    "no-sharing": with_flags("-Xshare:off"),
    "everything": with_flags("-Xmx256m", "events=all,include=**,existing=no"),
    "Serial": with_collector("Serial"),
    "Parallel": with_collector("Parallel"),
    "G1": with_collector("G1"),
    "Z": with_collector("Z"),
    "GenZ": with_collector("GenZ"),
    "Shenandoah": with_collector("Shenandoah"),
    "GenShen": with_collector("GenShen"),
    "Epsilon": with_collector("Epsilon"),
    "random": anything,
    "object-constructor": object_constructor,
    "exit": ends("exit", 7),
    "halt": ends("halt", 9),
    "terminated": terminated,
    "uncaught": ends("throw", 1),
    "killed": killed,
    "hungry": hunger("objects array together", ""),
    "hungry-exit": hunger("objects", "-XX:+ExitOnOutOfMemoryError", 3),
    "hungry-metadata": hunger("metadata", "-XX:MaxMetaspaceSize=20m"),
    "overflow": overflow,
    "overflow-everywhere": overflow_everywhere,
    "virtual": virtual,
    "virtual-everywhere": virtual_everywhere,
    "reattach": reattach(0),
    "reattach-virtual": reattach(6),
    "deaths": deaths,
    "native-threads": natives("threads"),
    "forks": natives("forks"),
    "closed-descriptors": natives("closed"),
    "limit-f": limited(resource.RLIMIT_FSIZE, 3 << 20, ["-XX:-UsePerfData"]),
    # The live file cannot take its first chunk: the trace ends while it begins.
    "limit-f-at-start": limited(resource.RLIMIT_FSIZE, 1 << 20, ["-XX:-UsePerfData"], 8),
    "limit-n": limited(resource.RLIMIT_NOFILE, 24),
    "limit-v": limited(resource.RLIMIT_AS, 4 << 30, ["-Xmx64m"]),
    **disks.TABLE,
    **beside.TABLE,
    "others": others,
}
NEEDS_VERSION = {"virtual": 21, "virtual-everywhere": 21, "reattach-virtual": 21, "aot-cache": 25,
                 "aot-dump": 25, "compact-headers": 24}
