#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""try_ctf.py STEPTRACE DATA MAKE_RECORDS SOURCE: `convert --to=ctf`, value by value.

An independent reader has to find in a CTF trace what `convert --to=jsonl` says of the STEP trace, dictionaries
included; babeltrace2, where it is installed, has to print the same values: a Java trace, a heap trace, all definitions
of the project and odd ones, parts, damaged and cut traces.
"""
import collections
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import ctf_reader  # noqa: E402

STEPTRACE, DATA, MAKE_RECORDS, SOURCE = sys.argv[1:5]
HERE = os.path.dirname(os.path.abspath(__file__))


def run(*words, code=0):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    assert done.returncode == code, (words, done.returncode, done.stderr.decode())
    return done.stdout.decode("utf-8", "surrogateescape")


# ---- beside jsonl ----

def plain(kind, value):
    """A value of CTF as jsonl has it, identifiers as numbers; lengths are dropped."""
    if isinstance(kind, ctf_reader.Struct):
        names = [name for name, _ in kind.fields]
        if names == ["tag", "value"]:
            return any_plain(kind, value)
        if names[:1] == ["length"]:
            return sequence_plain(kind.fields[1], value)
        lengths = {field.length for _, field in kind.fields if isinstance(field, ctf_reader.Sequence)}
        return {name[1:]: plain(field, value[name]) if not isinstance(field, ctf_reader.Sequence)
                else sequence_plain((name, field), value) for name, field in kind.fields if name not in lengths}
    if isinstance(kind, ctf_reader.String):
        text = value.replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogateescape")
        return json.loads(text) if text.startswith('{"$record"') else text
    return value


def any_plain(kind, value):
    label, number = value["tag"]
    if label == "none":
        return None
    option = dict(kind.fields)["value"].options[label]
    return {"$record": number, **plain(option, value["value"])}


def sequence_plain(field, values):
    name, kind = field
    element = kind.element
    if isinstance(element, ctf_reader.Integer) and element.size == 8:
        return {"hex": bytes(values[name]).hex()}
    return [plain(element, value) for value in values[name]]


def numbers(value, types):
    """jsonl's value with identifiers as numbers, types as numbers."""
    if isinstance(value, dict):
        if "$id" in value:
            return value["$id"]
        return {key: types[inner] if key == "$record" else numbers(inner, types) for key, inner in value.items()}
    if isinstance(value, list):
        return [numbers(inner, types) for inner in value]
    return value


def settle(value, types):
    """Types of JSON texts as numbers; an identifier that is none is null in jsonl."""
    if isinstance(value, dict):
        return {key: types.get(inner, inner) if key == "$record" else settle(inner, types)
                for key, inner in value.items()}
    if isinstance(value, list):
        return [settle(inner, types) for inner in value]
    return 0 if value is None else value


def key_of(name, value):
    return name + json.dumps(value, sort_keys=True)


def entries_of(value, found):
    """What jsonl shows of dictionary entries: number -> fields, of any type."""
    if isinstance(value, dict):
        if "$id" in value and len(value) > 1:
            found.add((value["$id"], json.dumps({k: v for k, v in value.items() if k != "$id"}, sort_keys=True)))
        for inner in value.values():
            entries_of(inner, found)
    elif isinstance(value, list):
        for inner in value:
            entries_of(inner, found)


def compare(trace, directory, *options, code=0):
    """Gives how many events of which name there are, and the reader."""
    lines = run(STEPTRACE, "convert", trace, "--to=jsonl", "-o", "-", *options, code=code).splitlines()
    reader = ctf_reader.Trace(directory)
    types = {event["name"]: int(event["id"]) for (stream, _), event in reader.metadata.events.items() if stream == 0}
    wanted, entries = collections.Counter(), set()
    for line in lines:
        record = json.loads(line)
        entries_of(record, entries)
        name = record.pop("$record")
        wanted[key_of(name, settle(numbers(record, types), types))] += 1
    found, counts, known = collections.Counter(), collections.Counter(), set()
    for event in reader.events():
        value = plain(*event.fields)
        if event.stream == 0:
            found[key_of(event.name, settle(value, types))] += 1
            counts[event.name] += 1
        else:
            known.add((event.id, json.dumps(value, sort_keys=True)))
    assert found == wanted, ([*(found - wanted)][:3], [*(wanted - found)][:3])
    missing = [entry for entry in entries if entry not in known and "$record" not in entry[1]]
    assert not missing, missing[:3]
    return counts, reader


# ---- beside babeltrace2 ----

def shown(kind, value):
    """A value as babeltrace2 prints it."""
    if isinstance(kind, ctf_reader.Struct):
        parts = []
        for name, field in kind.fields:
            label = name[1:] if name[0] == "_" else name
            if isinstance(field, ctf_reader.Sequence):
                items = ", ".join(f"[{i}] = {shown(field.element, v)}" for i, v in enumerate(value[name]))
                parts.append(f"{label} = [ {items} ]" if items else f"{label} = [ ]")
            elif isinstance(field, ctf_reader.Variant):
                parts.append(f"{label} = {{ {shown(field.options[value[field.tag][0]], value[name])} }}")
            else:
                parts.append(f"{label} = {shown(field, value[name])}")
        return "{ " + ", ".join(parts) + " }" if parts else "{ }"
    if isinstance(kind, ctf_reader.Enum):
        return f'( "{value[0]}" : container = {value[1]} )'
    if isinstance(kind, ctf_reader.Integer):
        return f"0x{value:X}" if kind.base == 16 else str(value)
    text = value.decode("utf-8", "surrogateescape").replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


def compare_with_babeltrace(directory, reader):
    """babeltrace2 2.0.4 prints in place of an empty text the one before it (mended in 2.0.5)."""
    if not shutil.which("babeltrace2"):
        return
    text = run("babeltrace2", "--no-delta", "--clock-cycles", directory)
    found = collections.Counter(line for line in text.split("\n") if line)
    wanted = collections.Counter()
    for event in reader.events():
        stamp = f"[{event.time:020}] " if reader.metadata.clock else ""
        context = f"{{ id = {event.id} }}, " if event.stream == 1 else ""
        wanted[f"{stamp}{event.name}: {context}{shown(*event.fields)}"] += 1
    known = wanted if "2.0.4" not in run("babeltrace2", "--version") else \
        collections.Counter({line: count for line, count in wanted.items() if ' = ""' not in line})
    assert not known - found, [*(known - found)][:3]
    found, wanted = (collections.Counter(map(without_texts, side.elements())) for side in (found, wanted))
    assert found == wanted, ([*(found - wanted)][:3], [*(wanted - found)][:3])


def without_texts(line):
    return re.sub(r'"(?:\\.|[^"\\])*"', '""', line)


def check(work, name, trace, *options, bt=True):
    directory = f"{work}/{name}.ctf"
    run(STEPTRACE, "convert", trace, "-o", directory, *options)
    counts, reader = compare(trace, directory, *options)
    if bt:
        compare_with_babeltrace(directory, reader)
    return counts, reader


# ---- what is tried ----

def check_definitions(work):
    for name, path, count in (("all", f"{SOURCE}/tests/unit/format/definitions/all.step", "4"),
                              ("words", f"{HERE}/words.step", "40"), ("syntax", f"{DATA}/all_of_it.step", "40")):
        run(MAKE_RECORDS, path, f"{work}/{name}.step", count, f"{SOURCE}/format/definitions",
            f"{SOURCE}/examples/definitions")
        counts, reader = check(work, name, f"{work}/{name}.step")
        assert counts and max(counts.values()) == int(count), (name, counts)
        assert len(counts) > len(reader.metadata.events) // 2 * 9 // 10, (name, len(counts))
        assert all(reader.metadata.events[1, i] for _, i in reader.metadata.events)
    faults = subprocess.run([STEPTRACE, "stats", f"{work}/all.step"], capture_output=True, check=False).stderr.decode()
    assert "the heap's model" in faults and str(2**64 - 1) not in faults, faults  # of no place: none is told
    for name in ("nested_age", "strategies", "numbered_rows", "age_circle"):
        shutil.copy(f"{DATA}/{name}.bin", f"{work}/{name}.step")
        check(work, name, f"{work}/{name}.step", bt=name == "nested_age")


def check_traces(work):
    shop = f"{DATA}/traces/shop-1.step"
    counts, reader = check(work, "shop", shop, bt=False)
    stats = json.loads(run(STEPTRACE, "stats", "--json", shop))
    assert sum(counts.values()) == stats["events"]
    clock, env = reader.metadata.clock, reader.metadata.env
    start = int(env["step_start_time_ns"])
    assert clock["freq"] == "1000000" and clock["absolute"] == "TRUE"
    assert (int(clock["offset_s"]), int(clock["offset"])) == (start // 10**9, start % 10**9 // 1000)
    assert env["step_java_command"] == "Shop 1"
    assert {event.instance for event in reader.events()} == {0, 1, 2, 3}
    _, reader = check(work, "part", shop, "--time=100ms..150ms", "--record=ObjectAlloc,ThreadStart")
    run(STEPTRACE, "convert", f"{DATA}/heap.hatf.txt", "-o", f"{work}/heap.step")
    counts, _ = check(work, "heap", f"{work}/heap.step")
    assert counts["heap.HeapCreate"] == 1 and sum(counts.values()) > 20, counts
    told = json.loads(run(STEPTRACE, "convert", shop, "--json", "-o", f"{work}/shop.ctf"))
    assert told["format"] == "ctf" and told["whole"], told


def check_damage(work):
    """What is whole is there, and what is known to be lost is told."""
    with open(f"{DATA}/traces/shop-1.step", "rb") as file:
        data = bytearray(file.read())
    whole, _ = compare(f"{DATA}/traces/shop-1.step", f"{work}/shop.ctf")
    for name, start, end in (("cut", 0, 30000), ("damaged", 45000, 45010)):
        broken = data[:end] if name == "cut" else data[:start] + b"\x55" * (end - start) + data[end:]
        with open(f"{work}/{name}.step", "wb") as file:
            file.write(broken)
        run(STEPTRACE, "convert", f"{work}/{name}.step", "-o", f"{work}/{name}.ctf", code=3)
        counts, reader = compare(f"{work}/{name}.step", f"{work}/{name}.ctf", code=3)
        assert 0 < sum(counts.values()) < sum(whole.values()), (name, counts)
        if name == "damaged":
            assert sum(counts.values()) + reader.discarded == sum(whole.values()), (counts, reader.discarded)
        compare_with_babeltrace(f"{work}/{name}.ctf", reader)
    for name, content in (("empty", b""), ("other", b"something else"), ("headless", bytes(data[:40]))):
        with open(f"{work}/{name}.step", "wb") as file:
            file.write(content)
        run(STEPTRACE, "convert", f"{work}/{name}.step", "-o", f"{work}/{name}.ctf", code=3)
        assert not os.path.exists(f"{work}/{name}.ctf")


def check_directories(work):
    """The name appears when all is there; an earlier export is replaced, nothing else is."""
    shop, out = f"{DATA}/traces/shop-1.step", f"{work}/d/x.ctf"
    os.mkdir(f"{work}/d")
    run(STEPTRACE, "convert", shop, "-o", out + "/")
    with open(f"{out}/stream-99", "wb") as file:
        file.write(b"old")
    os.mkdir(f"{work}/d/empty")
    run(STEPTRACE, "convert", shop, "-o", out)
    run(STEPTRACE, "convert", shop, "--to=ctf", "-o", f"{work}/d/empty")
    assert not os.path.exists(f"{out}/stream-99") and os.path.exists(f"{work}/d/empty/metadata")
    with open(f"{out}/notes", "wb") as file:
        file.write(b"mine")
    run(STEPTRACE, "convert", shop, "-o", out, code=1)
    run(STEPTRACE, "convert", shop, "-o", f"{out}/notes", "--to=ctf", code=1)
    run(STEPTRACE, "convert", shop, "-o", "-", "--to=ctf", code=2)
    run(STEPTRACE, "convert", shop, "-o", f"{work}/d/y.ctf", "--class=Shop", code=2)
    assert sorted(os.listdir(f"{work}/d")) == ["empty", "x.ctf"] and os.path.exists(f"{out}/notes")
    run(MAKE_RECORDS, f"{HERE}/words.step", f"{work}/large.step", "20000", ".")
    with subprocess.Popen([STEPTRACE, "convert", f"{work}/large.step", "-o", f"{work}/d/z.ctf"]) as running:
        while running.poll() is None and len(os.listdir(f"{work}/d")) < 3:
            time.sleep(0.001)
        running.send_signal(signal.SIGTERM)
        assert running.wait() in (0, -signal.SIGTERM)
    left = sorted(os.listdir(f"{work}/d"))
    assert left in (["empty", "x.ctf"], ["empty", "x.ctf", "z.ctf"]), left


with tempfile.TemporaryDirectory() as folder:
    check_definitions(folder)
    check_traces(folder)
    check_damage(folder)
    check_directories(folder)
print("babeltrace2 agrees" if shutil.which("babeltrace2") else "no babeltrace2 here")
