# SPDX-License-Identifier: Apache-2.0
"""Source files: frames as the JVM itself prints them in stack traces, and lines by a source map."""
import json
import pathlib
import re
import shutil
import struct

from session import Failure, shown

# Lines 21 and 22 are lines 7 and 8 of another file; 23 is in no range.
MAP = "SMAP\nSources.java\nKotlin\n*S Kotlin\n*F\n+ 1 Inlined.kt\nfacts/Inlined\n*L\n7#1,2:{first}\n*E\n"


def require(condition, text):
    if not condition:
        raise Failure(text)


def with_map(data, text):
    """A class file with the attribute SourceDebugExtension: a name in the pool, and the attribute at the end."""
    count, = struct.unpack_from(">H", data, 8)
    at, index = 10, 1
    while index < count:
        tag = data[at]
        at += 3 + struct.unpack_from(">H", data, at + 1)[0] if tag == 1 else {3: 5, 4: 5, 5: 9, 6: 9, 7: 3, 8: 3, 15: 4, 16: 3, 19: 3, 20: 3}.get(tag, 5)
        index += 2 if tag in (5, 6) else 1
    name, pool_end = b"SourceDebugExtension", at
    interfaces, = struct.unpack_from(">H", data, at + 6)
    at += 8 + 2 * interfaces
    for _ in range(2):  # fields, methods
        members, = struct.unpack_from(">H", data, at)
        at += 2
        for _ in range(members):
            attributes, = struct.unpack_from(">H", data, at + 6)
            at += 8
            for _ in range(attributes):
                at += 6 + struct.unpack_from(">I", data, at + 2)[0]
    attributes, = struct.unpack_from(">H", data, at)
    return (data[:8] + struct.pack(">H", count + 1) + data[10:pool_end] + b"\x01" + struct.pack(">H", len(name)) + name
            + data[pool_end:at] + struct.pack(">H", attributes + 1) + data[at + 2:]
            + struct.pack(">HI", count, len(text)) + text.encode())


def markers(session, *words):
    rows = json.loads(session.step("heap", "run.step", "--allocated", "--by", "class+site", "--top", "0", "--json",
                                   "--class=facts/Sources$Marker", *words))["rows"]
    return sorted(tuple(row["site"]) for row in rows for _ in range(row["objects"]))


def printed(stdout):
    """The frames that the program printed, with slashes in the classes' names as the trace has them."""
    frames = [line.split()[1:] for line in stdout.decode().splitlines() if line.startswith("at ")]
    require(len(frames) == 5, shown(stdout))
    return sorted(tuple(re.sub(r"^(.*)\((.*)", lambda found: found[1].replace("facts.", "facts/") + "(" + found[2], frame)
                        for frame in stack) for stack in frames)


def record(session):
    result = session.run(session.java("Sources", "", "file=run.step,stack=16"))
    require(result.returncode == 0, shown(result.stderr))
    session.step("check", "run.step")
    return result.stdout


def source_files(session):
    stdout = record(session)
    require(markers(session) == printed(stdout), f"{markers(session)}\nis not\n{printed(stdout)}")
    selected(session)
    mapped(session)
    sources(session)


def selected(session):
    """A frame can be selected as it is printed, and tables have the file."""
    wanted = markers(session)
    rows = session.step("sql", "run.step", "--csv", "select file from classes where class='facts/Sources$Mapped'")
    require(rows.decode().split() == ["file", "Sources.java"], shown(rows))
    one = wanted[0][0]
    require(len(markers(session, "--site", one)) >= 1, f"--site {one} selects nothing")


def mapped(session):
    """The class with a source map, before the others on the class path."""
    directory = pathlib.Path(session.path("mapped/facts"))
    directory.mkdir(parents=True, exist_ok=True)
    of = pathlib.Path(session.classes, "facts", "Sources$Mapped.class")
    first = min(int(re.search(r":(\d+)\)$", stack[0])[1]) for stack in markers(session) if "Mapped" in stack[0])
    (directory / of.name).write_bytes(with_map(of.read_bytes(), MAP.format(first=first)))
    command = session.java("Sources", "", "file=run.step,stack=16")
    command[command.index("-cp") + 1] = f"{directory.parent}:{session.classes}"
    result = session.run(command)
    require(result.returncode == 0, shown(result.stderr))
    session.step("check", "run.step")
    frames = [stack[0] for stack in markers(session) if "Mapped" in stack[0]]
    wanted = ["facts/Sources$Mapped.make(Inlined.kt:7)", "facts/Sources$Mapped.make(Inlined.kt:8)",
              f"facts/Sources$Mapped.make(Sources.java:{first + 2})"]
    require(sorted(frames) == wanted, f"{frames}, not {wanted}")
    require(len(markers(session, "--site", wanted[0])) == 1, "--site with a line of the source map")


def sources(session):
    """callgrind_annotate finds the sources below a directory of packages, and prints the lines."""
    session.step("convert", "run.step", "-o", "run.callgrind", "--allocated", "--class=facts/Sources$Marker")
    if shutil.which("callgrind_annotate") is None:
        return
    below = pathlib.Path(session.path("src/facts"))
    below.mkdir(parents=True, exist_ok=True)
    shutil.copy(pathlib.Path(session.sources, "facts", "Sources.java"), below)
    result = session.run(["callgrind_annotate", "--auto=yes", "--inclusive=yes", "--threshold=100", "--show=Objects",
                          f"--include={below.parent}", "run.callgrind"])
    text = result.stdout.decode()
    require(re.search(r"Auto-annotated source: .*facts/Sources\.java\n", text), text)
    lines = re.findall(r"^1 \([0-9.]+%\) +sink = new Marker", text, re.MULTILINE)
    require(len(lines) == 3, f"{len(lines)} lines are annotated\n{text}")


TABLE = {"source_files": source_files}
