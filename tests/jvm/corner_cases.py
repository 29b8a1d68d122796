# SPDX-License-Identifier: Apache-2.0
"""Tests of JVMs in corners: virtual threads below their own methods; archives of classes; the
agent coming and going many times."""
import json
import os
import pathlib
import re
import zipfile

import drivers
import trace_text
from session import Failure, Skip, answer, expect_line, finish, shown


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


def hidden_frames(session):
    """Methods of a virtual thread that changes its carrier are seen by probes and hidden by the JVM:
    none may be taken for the one below it, which its object shows."""
    if session.version() < 21:
        raise Skip("no virtual threads")
    result = session.run(session.java("VirtualMethods", "",
                                      "file=run.step,events=all,existing=no,include=java/lang/**"
                                      "+facts/VirtualMethods*"))
    require((result.returncode, result.stdout) == (0, b"done\n"),
            f"it ends with {result.returncode} {shown(result.stdout)} {shown(result.stderr)}")
    session.step("check", "run.step")
    lines = session.step("dump", "run.step").decode().splitlines()
    classes = {line.split(":")[-1]: line.split(":")[2] for line in lines if line.startswith("OA:")}
    calls = [line.split(":") for line in lines if line.startswith("MN:")]
    others = {(call[3], classes[call[5]]) for call in calls
              if "$$Lambda" in call[3] and classes.get(call[5], call[3]) != call[3]}
    require(not others, f"of another's object: {sorted(others)[:5]}")


# Archives of classes.

def jar_of_classes(session):
    """Archives take classes from jars only."""
    with zipfile.ZipFile(session.path("facts.jar"), "w") as jar:
        for path in sorted(pathlib.Path(session.classes, "facts").glob("*.class")):
            jar.write(path, f"facts/{path.name}")


def run_jar(session, vm, agent="", main="Methods"):
    agents = [f"-agentpath:{session.tracer}=file=run.step,overwrite=yes,{agent}"] if agent else []
    result = session.run([session.tool("java"), *agents, *vm.split(), "-cp", "facts.jar",
                          f"facts.{main}"])
    require(result.returncode == 0, f"{vm}: it ends with {result.returncode} "
            + shown(result.stdout) + shown(result.stderr))
    return result


def engine_of(session):
    return json.loads(session.step("info", "--json", "run.step"))["properties"]["engine"]


def counts(session):
    """The calls of the program's methods and its objects, as many as there are of each."""
    session.step("check", "run.step")
    session.step("convert", "run.step", "-o", "run.zip")
    trace = trace_text.read_zip(session.path("run.zip"))
    own = {key: count for key, count in trace.methods.items() if "$$Lambda" not in key[1]}
    own.update((name, count) for name, count in trace.allocs.items()
               if name.startswith("facts/") and "$$Lambda" not in name)
    require(own[("MN", "facts/Methods", "one")] == 504, f"counts are {own}")
    return own


def fillers(session):
    """Objects by which a collector fills gaps of the heap are none of the program."""
    result = session.run(session.java("Frees", "", "file=run.step"))
    require(result.returncode == 0, f"it ends with {result.returncode} {shown(result.stderr)}")
    told = json.loads(session.step("stats", "--json", "--top=0", "run.step"))["classes"]
    found = [row["name"] for row in told
             if "jdk/internal/vm/Filler" in row["name"] and row["allocated_objects"] > 0]
    require(not found, f"objects of {found}")
    require(len(told) > 100, f"{len(told)} classes")


def aot_cache(session):
    """Whoever makes a cache is traced by JVMTI, its child is not; whoever uses it has all events."""
    if session.version() < 25:
        raise Skip("no AOT cache in one step")
    jar_of_classes(session)
    options = "events=all,include=facts/**"
    run_jar(session, "", options)
    wanted = counts(session)
    bare = run_jar(session, "-XX:AOTCacheOutput=bare.aot")
    made = run_jar(session, "-XX:AOTCacheOutput=run.aot", options)
    require(made.stdout.splitlines()[0] == bare.stdout.splitlines()[0], "it says other things")
    told = made.stderr.decode().count("it is traced with engine=jvmti")
    require(told == 1, f"told {told} times: {shown(made.stderr)}")
    require(engine_of(session) == "jvmti", "it was not traced with engine=jvmti")
    require(counts(session) == wanted, "counts differ while the cache is made")
    for name in ("bare.aot", "run.aot"):
        used = run_jar(session, f"-XX:AOTCache={name} -XX:AOTMode=on", options)
        require(not used.stderr, f"{name}: {shown(used.stderr)}")
        require(engine_of(session) == "bytecode", f"{name}: traced with another engine")
        require(counts(session) == wanted, f"{name}: counts differ")
    refused = run_jar(session, "-XX:AOTCacheOutput=run.aot", f"{options},stop=facts.Methods.one")
    require(b"it is not traced" in refused.stderr, f"not told: {shown(refused.stderr)}")


def archive_at_exit(session):
    """The agent comes to a JVM that makes an archive when it ends: JVMTI again."""
    jar_of_classes(session)
    process = session.start([session.tool("java"), "-XX:+EnableDynamicAgentLoading",
                             "-XX:ArchiveClassesAtExit=run.jsa", "-cp", "facts.jar",
                             "facts.Attached"])
    try:
        expect_line(process, "attach")
        drivers.load(session, process.pid, "file=run.step")
        for _ in range(3):
            answer(process)
        finish(process)
    finally:
        process.kill()
    errors = pathlib.Path(session.path("stderr")).read_text()
    require(process.returncode == 0, f"it ends with {process.returncode}\n{errors}")
    require("ArchiveClassesAtExit): it is traced with engine=jvmti" in errors, f"told:\n{errors}")
    require(engine_of(session) == "jvmti", "it was not traced with engine=jvmti")
    run_jar(session, "", "events=all,include=facts/**")
    wanted = counts(session)
    run_jar(session, "-XX:SharedArchiveFile=run.jsa -Xshare:on", "events=all,include=facts/**")
    require(engine_of(session) == "bytecode", "traced with another engine")
    require(counts(session) == wanted, "counts differ where the archive is used")


# Many sessions in one JVM.

def pool_growth(text):
    """By how many constants each class grew, each time it was redefined."""
    old = [int(size) for size in re.findall(r"old_cp_len=(\d+)", text)]
    merged = [int(size) for size in re.findall(r"\bmerge_cp_len=(\d+), index_map", text)]
    require(len(old) == len(merged), f"{len(old)} and {len(merged)} lines of constant pools")
    return [after - before for before, after in zip(old, merged)]


def resident_kib(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", text)[1])


def metaspace_kib(session, pid):
    """What classes take, and what was freed of it: that the JVM keeps, and uses little of it again."""
    text = session.run([session.tool("jcmd"), str(pid), "VM.metaspace"]).stdout.decode()
    found = re.search(r"Both:.*?([\d.]+) (KB|MB) \([^)]*\) used,.*blocks with ([\d.]+) (KB|MB)", text)
    require(found is not None, f"jcmd VM.metaspace: {text[:300]}")
    size = {"KB": 1, "MB": 1024}
    used, freed = (float(found[i]) * size[found[i + 1]] for i in (1, 3))
    return used - freed, freed


def one_round(session, pid, first):
    start = "" if first else "start,"
    drivers.load(session, pid, f"{start}file=run.step,events=alloc+method,existing=no,"
                               "include=java/**")
    drivers.load(session, pid, "stop")


def many_rounds(session):
    """A session leaves no constants behind that the next does not use again, but for one for each
    NaN; STEPTRACE_ROUNDS=1000 runs longer, and asks what lives in the JVM's metaspace, too."""
    rounds = int(os.environ.get("STEPTRACE_ROUNDS", "8"))
    log = pathlib.Path(session.path("pools.log"))
    process = session.start(session.java("Rounds", "-XX:+EnableDynamicAgentLoading -Xmx64m "
                                         f"-Xlog:redefine+class+constantpool=info:file={log}"
                                         "::filecount=0"))
    resident, metaspace = [], []
    try:
        expect_line(process, "attach")
        for done in range(rounds):
            if done == rounds - 2:
                before = log.stat().st_size
            one_round(session, process.pid, done == 0)
            resident.append(resident_kib(process.pid))
            if done in (rounds // 4, rounds - 1):
                metaspace.append(metaspace_kib(session, process.pid))
        answer(process)
        require(finish(process) == b"true\n", "the program changed")
    finally:
        process.kill()
    text = log.read_text()
    require("overflow" not in text, "a constant pool is full")
    growth = pool_growth(text[before:])
    require(len(growth) > 100 and max(growth) <= 8 and sum(growth) < 100,
            f"{len(growth)} redefinitions added {sum(growth)} constants, one {max(growth)}")
    session.step("check", "run.step")
    quarter = resident[rounds // 4]
    print(f"{rounds} rounds: {resident[0]}, {quarter}, {resident[-1]} KiB resident")
    (early, _), (late, freed) = metaspace
    print(f"metaspace: {early:.0f} and {late:.0f} KiB live, {freed:.0f} KiB freed")
    require(rounds < 100 or late - early < 16 * rounds,
            f"from {early:.0f} to {late:.0f} KiB of metaspace live after {rounds} rounds")


UNLOADED = 3000


def weak_references(session, process):
    """Those of the whole JVM: the agent has one for each class that it keeps."""
    dump = session.run([session.tool("jstack"), str(process.pid)]).stdout.decode()
    return int(re.search(r"JNI global refs: \d+, weak refs: (\d+)", dump).group(1))


def loads(session, name):
    lines = session.step("dump", name, "--kind", "CL").decode().split("\n")
    return [sum(line.endswith(f":facts/{which}") for line in lines)
            for which in ("First", "Second", "Third")]


def unloaded_classes(session):
    """What is kept of a class goes when a trace begins after its unloading; its number is used for
    another class, which is not taken for it."""
    process = session.start(session.java("Unloads", "-XX:+EnableDynamicAgentLoading -Xmx64m"))
    left = []
    try:
        for trace in ("first", "second", "third"):
            expect_line(process, "unloaded")
            drivers.load(session, process.pid, f"file={trace}.step,events=class")
            left.append(weak_references(session, process))
            answer(process)
            expect_line(process, "made")
            drivers.load(session, process.pid, "stop")
            answer(process)
        finish(process)
    finally:
        process.kill()
    require(max(left) < left[0] + UNLOADED // 2, f"weak references at each start: {left}")
    for trace, wanted in (("first", [UNLOADED, 0, 0]), ("second", [0, UNLOADED, 0]),
                          ("third", [0, 0, UNLOADED])):
        session.step("check", f"{trace}.step")
        found = loads(session, f"{trace}.step")
        require(found == wanted, f"{trace}: classes loaded {found}, not {wanted}")


LONGEST_NAME = 65536  # bytes


def name_in_trace(name):
    """A name that is too long is cut before a character that does not fit, and ends with dots."""
    if len(name.encode()) <= LONGEST_NAME:
        return name
    return name.encode()[:LONGEST_NAME - 3].decode(errors="ignore") + "..."


def thread_names(session):
    """Threads keep their names, however long."""
    wanted = {name_in_trace(text * length) for text in "L\u00e9\u20ac\U0001d11e"
              for length in (1000, 1023, 1024, 5000, 40000)}
    for engine in ("bytecode", "jvmti"):
        result = session.run(session.java("ThreadNames", "", f"file=run.step,engine={engine}"))
        require(result.returncode == 0, f"{engine}: {shown(result.stderr)}")
        session.step("check", "run.step")
        stats = json.loads(session.step("stats", "--json", "--top=0", "run.step"))
        names = {row["name"] for row in stats["threads"] if len(row["name"]) >= 1000}
        require(names == wanted, f"{engine}: {sorted(map(len, names))}, "
                f"not {sorted(map(len, wanted))} characters")


TABLE = {function.__name__: function for function in (
    carriers, hidden_frames, fillers, aot_cache, archive_at_exit, many_rounds, unloaded_classes, thread_names)}
