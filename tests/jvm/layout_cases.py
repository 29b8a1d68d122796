# SPDX-License-Identifier: Apache-2.0
"""Objects in all layouts that a JVM has: sizes and counts as the JVM itself says them."""
import json
import pathlib

import facts
import hatf_reader
from session import Failure, LOG_PREFIX, Skip, shown

LAYOUTS = ("-XX:ObjectAlignmentInBytes=16", "-XX:ObjectAlignmentInBytes=32", "-XX:-UseCompressedOops",
           "-XX:-UseCompressedClassPointers", "-XX:+UseCompactObjectHeaders", "-XX:-UseCompactObjectHeaders",
           "-XX:+UseCompactObjectHeaders -XX:ObjectAlignmentInBytes=16",
           "-XX:-UseCompressedOops -XX:-UseCompressedClassPointers -XX:ObjectAlignmentInBytes=16")


def require(condition, text):
    if not condition:
        raise Failure(text)


def has_layout(session, flags):
    """Whether the JVM knows the flags, and takes them."""
    result = session.run([session.tool("java"), *flags.split(), "-version"])
    said = result.stdout + result.stderr
    return result.returncode == 0 and b"ignor" not in said and b"support was removed" not in said


def judge(session, program):
    """The bytes that a thread allocated are those that the JVM counted: an object that is missing, or has
    another size, changes the sum."""
    session.step("check", "run.step")
    session.step("convert", "run.step", "-o", "run.hatf", "--attributes=class")
    heap = hatf_reader.Heap(session.path("run.hatf"))
    program.facts.clear()
    program.add_facts(session.path("facts.out"))
    require(program.facts, "the program states no fact")
    return heap.breaches + facts.Judge(program, None, heap).judge()


def check_layout(session, flags, engine):
    program = facts.Program(session.sources, "ThreadBytes")
    pathlib.Path(session.path("facts.out")).unlink(missing_ok=True)
    # -Xlog:disable: JVMs print that the archive has another layout
    result = session.run(session.java("ThreadBytes", flags + " -Xlog:disable", f"file=run.step,engine={engine}"))
    require(result.returncode == 0 and LOG_PREFIX.encode() not in result.stderr, f"{flags}: {shown(result.stderr)}")
    faults = judge(session, program)
    properties = json.loads(session.step("info", "--json", "run.step"))["properties"]
    if engine == "bytecode" and "headers" not in properties["internals"].partition(";")[0].split():
        faults.append(f"headers are not read: {properties['internals']}")
    return faults


def layouts(session):
    """With each, the bytes of a thread that makes objects and arrays of all kinds."""
    checked, faults = 0, []
    for flags in LAYOUTS:
        if not has_layout(session, flags):
            continue
        checked += 1
        for engine in ("bytecode", "jvmti")[:1 + ("Alignment" in flags)]:  # JVMTI itself states sizes
            faults += [f"{flags}, {engine}: {fault}" for fault in check_layout(session, flags, engine)]
    if checked == 0:
        raise Skip("it has one layout only")
    require(not faults, "\n".join(faults))


TABLE = {function.__name__: function for function in (layouts,)}
