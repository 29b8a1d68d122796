# SPDX-License-Identifier: Apache-2.0
"""engine=walk: what the program counted by class and the JVM by thread is what the walks of eden
found, with each collector that has one; what cannot be walked, and says why."""
import json

from session import Failure, shown

WALKED = ("G1", "Serial", "Parallel")


def require(condition, text):
    if not condition:
        raise Failure(text)


def with_collector(session, collector, act, *arguments):
    own = session.collector
    session.collector = collector
    try:
        act(session, *arguments)
    finally:
        session.collector = own


def query(session, words):
    return json.loads(session.step("sql", "--json", "run.step", words))


def traced(session, main, options, vm=""):
    run = session.run(session.java(main, vm, f"file=run.step,engine=walk,{options}"))
    require(run.returncode == 0, f"the program ends with {run.returncode}:\n" + shown(run.stderr))
    return run.stderr.decode()


def counted_classes(session):
    """What the program counted: class, objects, bytes."""
    lines = [line.split() for line in open(session.path("facts.out"), encoding="utf-8")]
    return [(name, int(objects), int(counted)) for word, name, objects, counted in (line for line in lines if line[0] == "class")]


def judge_classes(session, rows):
    """Objects exactly; of the bytes, what starting a loop makes besides is in those that the thread
    counted."""
    for name, objects, counted in rows:
        found = query(session, "select sum(objects) as objects, sum(bytes) as bytes from eden_classes "
                               f"where class = '{name}'")[0]
        require(found["objects"] == objects, f"{name}: {found['objects']} objects, not {objects}")
        require(counted == 0 or "Final" in name or 0 <= counted - found["bytes"] <= 8192,
                f"{name}: {found['bytes']} bytes, the thread counted {counted}")
        require(counted == 0 or found["bytes"] % objects == 0 or name.startswith("["),
                f"{name}: {found['bytes']} bytes of {objects} objects")


def records_of_walks(session):
    lines = session.step("dump", "--record", "EdenWalk", "run.step").decode().splitlines()
    return [dict(word.split("=") for word in line.split() if "=" in word) for line in lines]


def judge_sums(session, of_thread):
    """In each collection the classes and what has none are what the JVM counted; all collections
    together are at least what the main thread allocated."""
    walks = records_of_walks(session)
    require(len(walks) > 3, f"{len(walks)} walks")
    require(all(walk["how"] == "0" for walk in walks), str(walks))
    sums = {row["collection"]: row["bytes"] for row in query(
        session, "select collection, sum(bytes) as bytes from eden_classes group by collection")}
    for walk in walks:
        require(sums.get(int(walk["collection"]), 0) == int(walk["counted"]), f"{walk}: {sums}")
    counted = sum(int(walk["counted"]) for walk in walks)
    require(counted >= of_thread, f"{counted} bytes, the main thread has {of_thread}")
    stats = json.loads(session.step("stats", "--json", "run.step"))
    require(stats["eden"]["counted_bytes"] == counted == stats["objects"]["allocated_bytes"], str(stats["eden"]))
    print(f"{session.collector}: {len(walks)} walks, {counted} bytes, {stats['eden']['unknown_bytes']} unknown")
    return stats["eden"]["unknown_bytes"], counted


def judge(session, vm):
    traced(session, "Eden", "share=100", f"-Xmx64m {vm}")
    lines = [line.split() for line in open(session.path("facts.out"), encoding="utf-8")]
    judge_classes(session, counted_classes(session))
    unknown, counted = judge_sums(session, next(int(line[1]) for line in lines if line[0] == "thread"))
    # before JDK 20 int[] may be fillers, and are unknown where a thread was just leaving
    require(unknown <= (0 if session.version() >= 20 else counted // 50), f"{unknown} of {counted} bytes are unknown")


def eden_totals(session):
    for collector in WALKED:
        with_collector(session, collector, judge, "")


def eden_headers(session):
    """Headers of other layouts."""
    judge(session, "-XX:-UseCompressedOops" if session.version() < 25 else
          "-XX:+UnlockExperimentalVMOptions -XX:+UseCompactObjectHeaders")


def eden_full_buffers(session):
    """Before JDK 20: without room for a filler full buffers have none, and with ZeroTLAB fillers are not counted, so no
    number of int[] is known."""
    for collector, vm in zip(WALKED, ("-XX:+ZeroTLAB", "-XX:ObjectAlignmentInBytes=16 -XX:TieredStopAtLevel=1", "-XX:+ZeroTLAB")):
        with_collector(session, collector, traced, "Classes", "share=100", vm)
        sums = query(session, "select sum(bytes) filter (where class = '[I') as ints, "
                              "sum(bytes) filter (where class is null) as unknown, sum(bytes) as sum from eden_classes")[0]
        is_unknown = not sums["ints"] and sums["unknown"] and sums["unknown"] < sums["sum"]
        require(is_unknown if session.version() < 20 else not sums["unknown"], f"{collector}: {sums}")


def facts_of(session, word):
    lines = [line.split() for line in open(session.path("facts.out"), encoding="utf-8")]
    return [line[1:] for line in lines if line[0] == word]


def judge_rounds(session):
    """How many survived is exactly what the program kept, or null. Returns the classes where it is known."""
    judge_stats(session)
    known, found = [], {}
    for row in query(session, "select class, objects, bytes, survived, survived_bytes from eden_classes where class like '%facts/Survivors$%'"):
        found.setdefault(row["class"], []).append(row)
    for name, objects, survived in facts_of(session, "round"):
        rows = found.get(name, [])
        require(len(rows) == 1 and rows[0]["objects"] == int(objects), f"{name}: {rows}, not {objects} objects")
        row = rows[0]
        require(row["survived"] in (None, int(survived)), f"{name}: {row}, not {survived}")
        require((row["survived"] is None) == (row["survived_bytes"] is None), f"{name}: {row}")
        if row["survived"] is not None:
            require(row["survived_bytes"] * row["objects"] == row["bytes"] * row["survived"], f"{name}: {row}")
            known.append(name)
    for name, objects in facts_of(session, "full"):
        require([(row["objects"], row["survived"]) for row in found[name]] == [(int(objects), None)], f"{name}: {found[name]}")
    return known


def judge_stats(session):
    """The sums of `stats` are those of the rows where survivors are known."""
    sums = {}
    for row in query(session, "select class, class_id, objects, bytes, survived, survived_bytes from eden_classes where survived is not null"):
        of_class = sums.setdefault((row["class"], row["class_id"]), [0] * 4)
        for i, column in enumerate(("survived", "survived_bytes", "objects", "bytes")):
            of_class[i] += row[column]
    stats = json.loads(session.step("stats", "--json", "--top=0", "run.step"))
    members = ("objects", "bytes", "of_objects", "of_bytes")
    found = [(row["name"], [row["survived"][member] for member in members]) for row in stats["classes"] if "survived" in row]
    wanted = [(name, row) for (name, _), row in sums.items()]
    require(sorted(found) == sorted(wanted), f"{sorted(found)[:9]}, not {sorted(wanted)[:9]}")
    total = [stats["objects"]["survived"][member] for member in members]
    require(total == [sum(row[i] for row in sums.values()) for i in range(4)], f"{total} in all")


def judge_ages(session):
    """In the survivor space, each age is what the program kept so long."""
    found = {}
    for row in query(session, 'select c.class, age, objects from "java.EdenAge" a join classes c on c.class_id = a.class'):
        found.setdefault((row["class"], row["age"]), []).append(row["objects"])
    return [(name, age, found.get((name, int(age)), []), int(objects)) for name, age, objects in facts_of(session, "age")]


def survivors_of(session, collector, vm, options="share=100"):
    with_collector(session, collector, lambda session: traced(session, "Survivors", options, f"-Xmx96m -Xmn16m {vm}"))
    return judge_rounds(session)


def eden_survivors(session):
    """Objects that survive their first collection, in the survivor space, and how old they become there."""
    for collector in WALKED:
        known = survivors_of(session, collector, "-XX:-UseAdaptiveSizePolicy -XX:InitialTenuringThreshold=15")
        require(len(known) >= 11, f"{collector}: {known}")
        ages = judge_ages(session)
        require(len(ages) >= 30, f"{collector}: {ages}")
        for name, age, found, objects in ages:
            require(found == [objects] or (not found and objects == 0), f"{collector}: {name} of age {age}: {found}, not {objects}")


def eden_promoted(session):
    """The same of objects that a collection moves into the old space at once."""
    for collector, vm in (("G1", "-XX:MaxTenuringThreshold=0"), ("Parallel", "-XX:MaxTenuringThreshold=0"), ("Serial", "-XX:SurvivorRatio=150")):
        known = survivors_of(session, collector, vm)
        require(len(known) >= 11, f"{collector} {vm}: {known}")


AGES_LOST = "objects have lost their ages"


def eden_ages_lost(session):
    """On JDK 17 an agent that follows references takes the ages of objects away: from then on nothing is said of survivors."""
    log = traced(session, "Steady", "share=100", f"-Xmx96m -Xmn8m -agentpath:{session.other_agent}=follow")
    rows = query(session, "select objects, survived from eden_classes where class = 'facts/Steady$Item' and survived is not null")
    require(all(abs(row["survived"] - row["objects"] / 100) <= 2 for row in rows), str(rows))
    require((AGES_LOST in log) == (session.version() < 20), log)
    require(len(rows) > 0 or AGES_LOST in log, f"no survivors are known\n{log}")


def refused(session, reason, options, vm=""):
    """No trace, one line that says why, and a program that runs."""
    log = traced(session, "-version", options, vm)
    require(reason in log and "no trace is made" in log, log)
    require(session.run(["ls", "run.step"]).returncode != 0, "there is a trace")


def eden_refused(session):
    refused(session, "does not allow `eden`", "internals=none")
    refused(session, "does not allow `eden`", "internals=slots+headers+counters")
    refused(session, "`slots`, `headers` and `counters`", "internals=eden")
    with_collector(session, "Z", refused, "no eden that can be walked", "overwrite=yes")
    if session.version() >= 21:
        refused(session, "the JVM does not count what threads allocate", "overwrite=yes", "-XX:+UnlockExperimentalVMOptions -XX:-VMContinuations")
    run = session.run(session.java("-version", "", "file=run.step,engine=walk,internals=none,required=yes"))
    require(run.returncode == 1, f"required=yes: {run.returncode}")


def judge_share(session, share):
    """After each walk the program has the rest of the hundred; the last one is at the trace's end."""
    walked = [walk for walk in records_of_walks(session) if walk["how"] == "0"][:-1]
    require(len(walked) > 0, "no collection was walked")
    for walk, later in zip(walked, walked[1:]):
        between = 1000 * (int(later["time"]) - int(walk["time"]) + 1)
        require(share * between >= (100 - share) * int(walk["took"]), f"{share} %: after {walk} follows {later}")


def eden_left_out(session):
    """With share=1 collections are left out: the trace says so, and rules refuse its totals."""
    traced(session, "Eden", "share=1", "-Xmx64m")
    eden = json.loads(session.step("stats", "--json", "run.step"))["eden"]
    require(eden["left_out"] > 0 and eden["unknown_bytes"] > 0, str(eden))
    judge_share(session, 1)
    require(b"collections (the agent's option share): objects and classes are partial" in
            session.step("stats", "run.step"), "stats does not say so")
    for words, reason in (([], b"its totals are partial"), (["--class=facts/*"], b"none of a selection")):
        run = session.run([session.steptrace, "compare", *words, "run.step", "run.step"])
        require(run.returncode == 3 and reason in run.stderr, f"{words}: {run.returncode}, {shown(run.stderr)}")
    for verb in ("simulate", "lifetimes", "advise"):
        run = session.run([session.steptrace, verb, "run.step"])
        require(b"has no allocations" in run.stderr, f"{verb}: {shown(run.stderr)}")
    traced(session, "Eden", "share=10,overwrite=yes", "-Xmx64m")
    judge_share(session, 10)


TABLE = {"eden_ages_lost": eden_ages_lost, "eden_survivors": eden_survivors, "eden_promoted": eden_promoted, "eden_totals": eden_totals, "eden_headers": eden_headers, "eden_full_buffers": eden_full_buffers, "eden_refused": eden_refused,
         "eden_left_out": eden_left_out}
