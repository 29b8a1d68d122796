# SPDX-License-Identifier: Apache-2.0
"""The collections of a trace are the JVM's: its own log says how many there were."""
import re

from session import Failure

COLLECTORS = ("G1", "Serial", "Parallel")


def pauses(session):
    """One pause is one collection: all that died in it has one time. A pause that freed nothing is none,
    and where the machine is slow two pauses may be seen as one."""
    for collector in COLLECTORS:
        session.run(session.java("Pauses", f"-Xmx64m -XX:-UseG1GC -XX:+Use{collector}GC -Xlog:gc:file=gc.log",
                                 "file=run.step,overwrite=yes,stack=4"))
        with open(session.path("gc.log"), encoding="utf-8") as log:
            made = len(re.findall(r"GC\(\d+\) Pause.*ms$", log.read(), re.MULTILINE))
        rows = session.step("sql", "--csv", "run.step", "select freed_objects from collections")
        found = len(rows.split()) - 1
        if not made / 3 < found <= made or made < 10:
            raise Failure(f"{collector}: the JVM made {made} collections, the trace has {found}")


TABLE = {function.__name__: function for function in (pauses,)}
