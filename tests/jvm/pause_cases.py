# SPDX-License-Identifier: Apache-2.0
"""The collections of a trace are the JVM's: its own log says how many there were."""
import re

from session import Failure

COLLECTORS = ("G1", "Serial", "Parallel")
LOG = "-Xlog:gc=info,safepoint=info:file=gc.log"


def stops_of(text):
    """How often the program stood still for collections: one stop may have several pauses of the collector."""
    stops, pauses = 0, 0
    for line in text.splitlines():
        pauses += bool(re.search(r"GC\(\d+\) Pause .*ms$", line))
        if "Safepoint \"" in line:
            stops, pauses = stops + (pauses > 0), 0
    return stops + (pauses > 0)


def counted(session, collector, options="", words=()):
    session.run(session.java("Pauses", f"-Xmx64m -XX:-UseG1GC -XX:+Use{collector}GC {LOG} {options}",
                             "file=run.step,overwrite=yes,stack=4", words))
    with open(session.path("gc.log"), encoding="utf-8") as log:
        stops = stops_of(log.read())
    rows = session.step("sql", "--csv", "run.step", "select freed_objects from collections")
    joined = re.search(rb"joined-collections\s+(\d+)", session.step("info", "run.step"))
    found, joined = len(rows.split()) - 1, int(joined[1]) if joined else 0
    said = f"{collector} {options}: the JVM stopped {stops} times, the trace has {found} collections, {joined} joined"
    if stops < 5:
        raise Failure(said)
    return stops, found, joined, said


def pauses(session):
    """One stop is one collection: all that died in it has one time. Where the machine is too slow to find all dead
    of one before the next begins, the trace says so."""
    for collector in COLLECTORS:
        stops, found, joined, said = counted(session, collector)
        if not stops - joined <= found <= stops:
            raise Failure(said)


def pauses_of_classes(session):
    """Collections for the memory of classes announce their pauses twice; many free nothing but classes."""
    for collector in COLLECTORS:
        stops, found, _, said = counted(session, collector, "-XX:MetaspaceSize=20m -XX:MaxMetaspaceSize=24m", ("loaders",))
        if found > stops:
            raise Failure(said)


TABLE = {function.__name__: function for function in (pauses, pauses_of_classes)}
