#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""try_jfr.py STEPTRACE DATA: `convert --to=jfr` beside `steptrace stats`, without a JDK.

A reader that goes by the recording's own metadata has to come to the same sums: Java traces, heap traces, hostile
names, selections, chunks and intervals of all sizes.  tests/jvm/jfr_exports.py has the JDK's own readers.
"""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import jfr_reader  # noqa: E402

STEPTRACE, DATA = sys.argv[1], pathlib.Path(sys.argv[2])


def run(*words, codes=(0,)):
    done = subprocess.run([STEPTRACE, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    assert done.returncode in codes, (words, done.returncode, done.stderr.decode())
    return done.stdout


def sums_of(data):
    """Bytes by class, thread and stack; the lifetimes' amounts; the number of chunks."""
    sums = {"class": collections.Counter(), "thread": collections.Counter(), "stack": collections.Counter(),
            "all": collections.Counter(), "chunks": 0}
    starts = []
    for chunk in jfr_reader.chunks(data):
        sums["chunks"] += 1
        starts.append(chunk.start_ticks)
        for kind, fields in chunk.events:
            if kind == "jdk.ObjectAllocationSample":
                name = chunk.class_name(fields["objectClass"])
                sums["class"][name] += fields["weight"]
                sums["thread"][chunk.thread_name(fields["eventThread"])] += fields["weight"]
                sums["stack"][name, *chunk.frames(fields["stackTrace"])] += fields["weight"]
            elif kind == "steptrace.ObjectLifetime":
                for key in ("objects", "bytes", "deadObjects", "deadBytes"):
                    sums["all"][key] += fields[key]
            elif kind == "jdk.GarbageCollection":
                sums["all"]["freed"] += fields["freedObjects"]
            elif kind == "jdk.MethodTiming":
                sums["all"]["invocations"] += fields["invocations"]
            elif kind == "jdk.MethodTrace":
                sums["all"]["calls"] += 1
    assert starts == sorted(set(starts)), starts
    return sums


def compare(trace, *options, codes=(0,)):
    sums = sums_of(run("convert", trace, "-o", "-", "--to=jfr", *options, codes=codes))
    stats = json.loads(run("stats", trace, "--json", "--top=0", *options, codes=codes))
    objects = stats["objects"]
    wanted = collections.Counter()
    for row in stats["classes"]:
        wanted[row["name"]] += row["allocated_bytes"]
    assert +sums["class"] == +wanted, (trace, options, sums["class"], wanted)
    assert sum(sums["thread"].values()) == objects["allocated_bytes"]
    assert sums["all"]["invocations"] == stats["kinds"].get("MN", 0), (trace, sums["all"], stats["kinds"])
    assert (sums["all"]["objects"], sums["all"]["bytes"]) == (objects["allocated_objects"], objects["allocated_bytes"])
    if not options:
        assert (sums["all"]["deadObjects"], sums["all"]["deadBytes"]) == (
            objects["freed_objects"], objects["freed_bytes"]), (trace, sums["all"], objects)
    return sums


def compare_options(trace):
    """Chunks and intervals change no sum; a selection holds for all that is written."""
    whole = compare(trace)
    for option, more_chunks in (("--interval=1ns", False), ("--chunk=40k", True)):
        sums = sums_of(run("convert", trace, "-o", "-", "--to=jfr", option))
        assert all(sums[key] == whole[key] for key in ("class", "thread", "stack", "all")), option
        assert sums["chunks"] > whole["chunks"] or not more_chunks, option
    names = [name for name, count in whole["class"].items() if count > 0]
    compare(trace, f"--class={names[0]}")
    compare(trace, "--from-time=20ms", "--to-time=90ms")
    compare(trace, "--thread=1")


def odd_calls():
    """An exit without its entry, one that ends the call within, and a call that is open at the end."""
    lines = ("VS:0", "VI:0", "TB:0:1", "CL:0:a/B", "MX:1:1:a/B:lost", "MN:2:1:a/B:outer:0", "MN:3:1:a/B:outer:0",
             "MN:4:1:a/B:inner:0", "FP:9:1:a/B:outer", "VD:20")
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, "odd.txt")
        path.write_text("".join(f"{line}\n" for line in lines))
        data = run("convert", path, "-o", "-", "--to=jfr", "--calls")
    events = [event for chunk in jfr_reader.chunks(data) for event in chunk.events]
    keys = "invocations", "minimum", "maximum", "exceptions", "inclusive", "exclusive"
    timing = [[fields[key] for key in keys] for kind, fields in events if kind == "jdk.MethodTiming"]
    assert sorted(timing) == [[1, 5, 5, 0, 5, 5], [2, 6, 18, 1, 18, 13]], timing
    traced = [(fields["startTime"], fields["duration"]) for kind, fields in events if kind == "jdk.MethodTrace"]
    assert traced == [(4, 5), (3, 6), (2, 18)], traced


def main():
    compare(DATA / "closed.txt")
    compare(DATA / "heap.hatf.txt")
    weights = sums_of(run("convert", DATA / "traces/sums_wrap.step", "-o", "-", "--to=jfr"))["class"]
    total = json.loads(run("stats", DATA / "traces/sums_wrap.step", "--json"))["objects"]["allocated_bytes"]
    assert sum(weights.values()) % (1 << 64) == total, weights  # whose sum no number of 64 bits holds
    for name in ("names", "deep300k", "class_4294967290", "thread_4294967290", "first3e9"):
        compare(DATA / f"hostile/{name}.step", codes=(0, 3))
    compare_options(DATA / "traces/shop-1.step")
    whole = compare(DATA / "traces/shop-2.step")
    sums = sums_of(run("convert", DATA / "traces/shop-2.step", "-o", "-", "--to=jfr", "--calls", "--chunk=40k"))
    assert sums["all"]["calls"] == whole["all"]["invocations"] > 0 and sums["class"] == whole["class"], sums["all"]
    odd_calls()


main()
