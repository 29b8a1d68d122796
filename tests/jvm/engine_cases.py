# SPDX-License-Identifier: Apache-2.0
"""Tests of what only engine=bytecode has: methods that it leaves alone."""
import json
import pathlib
import struct

from session import Failure, shown


def require(condition, text):
    if not condition:
        raise Failure(text)


# Methods that are too large for probes.

def text_constant(text):
    return b"\x01" + struct.pack(">H", len(text)) + text.encode()


def method(name, descriptor, code, stack):
    """A static method; the constant `Code` is number 1."""
    attribute = struct.pack(">HHI", stack, 1, len(code)) + code + bytes(4)
    return struct.pack(">HHHHHI", 9, name, descriptor, 1, 1, len(attribute)) + attribute


def huge_class():
    """Class Huge: arrays() makes 16,000 arrays in 64,001 bytes, wide() is 65,530 times nothing."""
    pool = [text_constant("Code"), text_constant("Huge"), b"\x07\0\x02",
            text_constant("java/lang/Object"), b"\x07\0\x04", text_constant("main"),
            text_constant("([Ljava/lang/String;)V"), text_constant("arrays"), text_constant("()V"),
            text_constant("wide"), b"\x0c\0\x08\0\x09", b"\x0c\0\x0a\0\x09",
            b"\x0a\0\x03\0\x0b", b"\x0a\0\x03\0\x0c"]
    methods = [method(6, 7, b"\xb8\0\x0d\xb8\0\x0e\xb1", 1),
               method(8, 9, b"\x04\xbc\x08\x57" * 16000 + b"\xb1", 1),
               method(10, 9, bytes(65530) + b"\xb1", 0)]
    return (struct.pack(">IHHH", 0xCAFEBABE, 0, 52, len(pool) + 1) + b"".join(pool) +
            struct.pack(">HHHHHH", 0x21, 3, 5, 0, 0, len(methods)) + b"".join(methods) + bytes(2))


def not_probed(session):
    """What is too large for probes runs as it is; the trace names it, and what is missing."""
    pathlib.Path(session.path("Huge.class")).write_bytes(huge_class())
    agent = f"-agentpath:{session.tracer}=file=run.step,events=all,include=Huge"
    result = session.run([session.tool("java"), agent, "-cp", ".", "Huge"])
    require(result.returncode == 0, f"it ends with {result.returncode} {shown(result.stderr)}")
    require(result.stderr.count(b"has no probes") == 1, f"not told once: {shown(result.stderr)}")
    wanted = {("Huge", "arrays", 1), ("Huge", "arrays", 2), ("Huge", "wide", 1)}
    session.step("check", "run.step")
    session.step("convert", "run.step", "-o", "copy.step")
    session.step("pack", "run.step", "-o", "packed.step")
    for name in ("run.step", "copy.step", "packed.step"):
        told = json.loads(session.step("info", "--json", name))["not_probed"]
        found = {(row["class"], row["method"], row["missing"]) for row in told}
        require(found == wanted and len(told) == 3, f"{name} tells of {told}")
        require(all("65535" in row["reason"] for row in told), f"reasons: {told}")
    text = session.step("dump", "--record", "NotProbed", "run.step").decode()
    require(text.count("arrays") == 2 and text.count("wide") == 1, f"dump has\n{text}")
    text = session.step("info", "run.step").decode()
    require("Huge.wide()V (method events: " in text, f"info has\n{text}")
    stats = json.loads(session.step("stats", "--json", "--top=0", "run.step"))
    require(stats["not_probed"] == 3, f"stats tells of {stats['not_probed']}")
    calls = {row["method"]: row["calls"] for row in stats["methods"]}
    require(calls == {"main": 1}, f"calls of {calls}")


TABLE = {function.__name__: function for function in (not_probed,)}
