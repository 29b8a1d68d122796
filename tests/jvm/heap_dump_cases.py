# SPDX-License-Identifier: Apache-2.0
"""The arrays of a converted heap dump, against the JVM's own dump of the same program."""
import collections
import os

from hprof_reader import Dump
from layout_cases import has_layout
from session import Failure, shown

FLAGS = ("", "-XX:-UseCompressedOops -XX:ObjectAlignmentInBytes=16", "-XX:+UseCompactObjectHeaders")
NOTE = b"the lengths of"


def require(condition, text):
    if not condition:
        raise Failure(text)


def arrays(path, of_jvm):
    """How often each field of a Held has an array of which type and length."""
    dump = Dump(path, of_jvm)
    found = collections.Counter()
    for of, values in dump.instances.values():
        if dump.class_names[of] == "facts/HeapDump$Held":
            for field, array in values.items():
                if array in dump.primitives:
                    found[(field, *dump.primitives[array])] += 1
                elif array:
                    of, elements = dump.arrays[array]
                    held = tuple(i for i, element in enumerate(elements) if element)
                    found[field, dump.class_names[of], len(elements), held] += 1
    return found


def record(session, flags, more):
    """The JVM's arrays, those of the trace, and what convert said."""
    for name in ("own.hprof", "run.hprof"):
        if os.path.exists(session.path(name)):
            os.remove(session.path(name))
    events = "events=class+alloc+free+thread+reference"
    result = session.run(session.java("HeapDump", flags, f"file=run.step,{events}{more}", [session.path("own.hprof")]))
    require((result.returncode, result.stdout) == (0, b"41\n"), shown(result.stderr))
    result = session.run([session.steptrace, "convert", "run.step", "-o", "run.hprof", "--at", "end"])
    require(result.returncode == 0, shown(result.stderr))
    return arrays(session.path("own.hprof"), True), arrays(session.path("run.hprof"), False), result.stderr


def heap_dump(session):
    """With layout=yes all lengths are the JVM's; without it they are said to be estimates."""
    for flags in FLAGS:
        if not has_layout(session, flags):
            continue
        own, found, note = record(session, flags, ",layout=yes")
        require(sum(own.values()) == 410 and found == own, f"{flags}:\n{found - own}\nare not\n{own - found}")
        require(NOTE not in note, f"{flags}: {note}")
    own, found, note = record(session, "-XX:-UseCompressedOops", "")
    require(NOTE in note and b"8 bytes a reference" in note and b"layout=yes" in note, f"no estimates: {note}")
    words = [{key: n for key, n in of.items() if key[0] in ("objects", "rows", "longs", "doubles")} for of in (own, found)]
    require(len(words[0]) == 164 and words[0] == words[1], f"{words[1]}\nare not\n{words[0]}")


TABLE = {"heap_dump": heap_dump}
