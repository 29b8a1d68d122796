# SPDX-License-Identifier: Apache-2.0
"""What `steptrace simulate` says of a trace, against what Serial did in runs without the agent."""
import json
import re

from session import Failure, shown

SERIAL = "-XX:+UseSerialGC -Xms512m -Xmx512m"
G1 = ["-XX:-UseSerialGC", "-XX:+UseG1GC", "-XX:ParallelGCThreads=1", "-XX:G1HeapRegionSize=1m"]
REGIONS = 1 << 20  # bytes: the old generation's last region is counted as full
WORKLOADS = {"window": 500000, "queue": 500000, "trees": 700}
YOUNG = (4, 8, 16)  # MiB
KEPT = 400000  # arrays of workload `peak`: half of them live at the end
HEAP_STEP = 2  # MiB: -Xmx is rounded to that
START = 512 * 1024  # bytes: what the JVM itself promotes beyond what a trace has of its start
# Kinds of traces: how deaths are found, and whether they are dated afterwards.
FOUND = "events=class+alloc+free,collect=128k"
DATED = "events=class+alloc+free+reference,snapshot=start,collect=1m"


def require(condition, text):
    if not condition:
        raise Failure(text)


def run(session, vm, agent, workload, count):
    command = session.java("Simulated", "", agent, (workload, str(count)))
    serial = [word for word in command if not (word.startswith("-XX:+Use") and word.endswith("GC"))]
    serial[1:1] = [*SERIAL.split(), *vm]
    return session.run(serial)


def program(session, vm, agent, workload):
    result = run(session, vm, agent, workload, WORKLOADS[workload])
    require(result.returncode == 0, shown(result.stderr))
    return result.stdout


def logged(session, workload, young):
    """Of the JVM's log: collections, bytes copied to survivor spaces, bytes promoted, bytes in the old generation before."""
    log = f"gc-{workload}-{young}.log"
    program(session, [f"-Xmn{young}m", f"-Xlog:gc*,gc+age=trace:file={session.path(log)}"], None, workload)
    with open(session.path(log), encoding="utf-8") as lines:
        text = lines.read()
    require("Pause Full" not in text, f"{log}: a full collection")
    copied = sum(int(size) for size in re.findall(r"- age +\d+: +(\d+) bytes", text))
    tenured = re.findall(r"Tenured: (\d+)K\(\d+K\)->(\d+)K", text)
    promoted = sum(int(after) - int(before) for before, after in tenured) * 1024
    return len(tenured), copied, promoted, int(tenured[0][0]) * 1024


def simulated(session, trace, archived):
    """Newer JDKs begin with archived objects in the old generation."""
    sizes = ",".join(f"{young}m" for young in YOUNG)
    answer = json.loads(session.step("simulate", "--young", sizes, "--json", trace,
                                     *(["--existing-old"] if archived else [])))
    return {model["young"] >> 20: model for model in answer["generations"]}


def judge(name, model, log):
    """Deaths that collections found are bounds; on JDKs whose ObjectFree events are late they are no more than that."""
    collections, copied, promoted, archived = log
    slack = START + archived  # an agent turns a part of the archive off
    said = f"{name}: {model} against {log}"
    require(collections >= 2, said)
    require(abs(model["collections"] - collections) <= max(1, 0.03 * collections), said)
    require(promoted <= model["survived"] + slack, said)
    if archived and "found" in name:
        return
    require(abs(model["copied"] - copied) <= max(slack, 0.1 * copied), said)
    require(abs(model["promoted"] - promoted) <= max(slack, 0.1 * promoted), said)


def regions(session):
    """The same for G1, whose young generation has regions of 1 MiB."""
    for young in YOUNG:
        log = session.path(f"g1-{young}.log")
        program(session, [*G1, f"-Xmn{young}m", f"-Xlog:gc*,gc+age=trace:file={log}"], None, "window")
    program(session, [*G1, "-Xmn4m"], f"file=regions.step,{DATED}", "window")
    session.step("deaths", "regions.step", "-o", "dated.step")
    answer = json.loads(session.step("simulate", "--json", "--existing-old", "--young-regions",
                                     ",".join(f"{young}m" for young in YOUNG), "dated.step"))
    for model in answer["regions"]:
        young = model["young"] >> 20
        with open(session.path(f"g1-{young}.log"), encoding="utf-8") as lines:
            text = lines.read()
        copied = sum(int(size) for size in re.findall(r"- age +\d+: +(\d+) bytes", text))
        old = [int(after) - int(before) for before, after in re.findall(r"Old regions: (\d+)->(\d+)", text)]
        print(f"regions {young}m: {model}, logged {len(old)} {copied} {sum(old)} regions")
        judge(f"regions {young}m", model, (len(old), copied, sum(old) << 20, REGIONS))


def least_heap(session):
    """The program runs in the heap that `simulate` says is the least, and ends for lack of memory in one of two steps less."""
    result = run(session, ["-XX:SoftRefLRUPolicyMSPerMB=0"], "file=peak.step,events=class+alloc+free,collect=512k", "peak", KEPT)
    require(result.returncode == 0, shown(result.stderr))
    answer = json.loads(session.step("simulate", "--young", "4m,8m", "--json", "peak.step"))
    heaps = [(answer["least_heap"], [])] + [(model["least_heap"], [f"-Xmn{model['young']}"]) for model in answer["generations"]]
    for heap, vm in heaps:
        mib = heap >> 20
        print(f"least heap {vm}: {mib} MiB, {answer['minimum_heap']} bytes lived")
        for limit, is_enough in ((mib, True), (mib - 2 * HEAP_STEP, False)):
            result = run(session, [*vm, "-Xms8m", f"-Xmx{limit}m"], None, "peak", KEPT)
            require((result.returncode == 0) == is_enough, f"{vm} -Xmx{limit}m: {result.returncode}, {shown(result.stderr)}")
            require(is_enough or b"OutOfMemoryError" in result.stderr + result.stdout, shown(result.stderr))


def simulate(session):
    """Collections within 3 %, copied and promoted bytes within 10 %, for each workload and size."""
    regions(session)
    least_heap(session)
    for workload in WORKLOADS:
        logs = {young: logged(session, workload, young) for young in YOUNG}
        for name, options in (("found", FOUND), ("dated", DATED)):
            program(session, [], f"file=run.step,{options}", workload)
            trace = "run.step"
            if name == "dated":
                session.step("deaths", "run.step", "-o", "dated.step")
                trace = "dated.step"
            models = simulated(session, trace, logs[YOUNG[0]][3])
            for young in YOUNG:
                print(f"{workload} {name} {young}m: {models[young]['collections']} "
                      f"{models[young]['copied']} {models[young]['promoted']}, logged {logs[young]}")
                judge(f"{workload} {name} {young}m", models[young], logs[young])


TABLE = {"simulate": simulate}
