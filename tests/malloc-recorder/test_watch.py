#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_watch.py STEPTRACE PROGRAMS RECORDER: a native program is watched while it waits, at two moments, by number and by
file; at its end, and where it is killed, what was told last is what `stats` tells of the whole trace."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

STEPTRACE, PROGRAMS, RECORDER = (os.path.abspath(path) for path in sys.argv[1:4])
SUMS = ("allocated_objects", "allocated_bytes", "freed_objects", "freed_bytes", "live_objects", "live_bytes")


def told(*arguments):
    done = subprocess.run([STEPTRACE, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=100)
    assert done.returncode == 0, (arguments, done.returncode, done.stderr)
    return json.loads(done.stdout)


def look(what):
    return told("watch", "--json", "--interval=50ms", what)


def wait_for_end(trace):
    """The drain, a process of its own, ends after the program."""
    while subprocess.run([STEPTRACE, "watch", "--json", "--interval=50ms", trace], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True, timeout=100).stdout.find('"running"') >= 0:
        time.sleep(0.05)


def sums(row):
    return {name: row[name] for name in SUMS}


def start(trace, objects, options=""):
    environment = {**os.environ, "LD_PRELOAD": RECORDER, "STEPTRACE_MALLOC": f"file={trace}{options}"}
    return subprocess.Popen([os.path.join(PROGRAMS, "native_watched"), str(objects)], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, env=environment, bufsize=0)


def check_running(program, trace, objects, rounds):
    assert program.stdout.read(1) == b"r"
    seen = look(str(program.pid))
    assert seen["state"] == "running" and seen["exact"], seen
    assert seen["a_second"]["allocated_objects"] == 0, seen["a_second"]
    assert 0 < seen["total"]["live_objects"] <= 512 + 20, seen["total"]
    calls = {row["name"]: row["allocated_objects"] for row in seen["classes"]}
    assert calls["malloc"] + calls["calloc"] >= 3 * objects * rounds, calls
    assert len(seen["threads"]) >= 3 * rounds, seen["threads"]
    assert sums(look(trace)["total"]) == sums(seen["total"])
    calloc = look_of(trace, "calloc")
    assert sums(calloc) == sums(next(row for row in seen["classes"] if row["name"] == "calloc"))
    return sums(seen["total"])


def look_of(trace, name):
    return told("watch", "--json", "--interval=50ms", f"--class={name}", trace)["total"]


def check_end(trace, last):
    wait_for_end(trace)
    seen, stats = look(trace), told("stats", "--json", "--top=0", trace)
    assert seen["state"] == "ended" and seen["exact"], seen["state"]
    assert sums(seen["total"]) == last == {name: stats["objects"][name] for name in SUMS}, (seen["total"], last)
    rows = {row["name"]: sums(row) for row in stats["classes"]}
    assert {row["name"]: sums(row) for row in seen["classes"]} == rows


def check_damage(trace, last):
    with open(trace, "rb") as file:
        content = bytearray(file.read())
    content[len(content) // 2] ^= 0x5a
    with open(trace + ".bad", "wb") as file:
        file.write(content)
    done = subprocess.run([STEPTRACE, "watch", "--json", trace + ".bad"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=100)
    assert done.returncode == 3 and "skipped" in done.stderr, (done.returncode, done.stderr)
    seen = json.loads(done.stdout)
    assert seen["damaged"] > 0 and seen["total"]["allocated_objects"] < last["allocated_objects"], seen["total"]


def main():
    with tempfile.TemporaryDirectory() as folder:
        # few records wait in the live file; then most have reached the trace
        for objects in (300, 60000):
            trace = os.path.join(folder, f"run-{objects}.step")
            program = start(trace, objects)
            check_running(program, trace, objects, 1)
            program.stdin.write(b"x")
            last = check_running(program, trace, objects, 2)
            program.stdin.close()
            assert program.wait(100) == 0
            check_end(trace, last)
        trace = os.path.join(folder, "killed.step")
        program = start(trace, 60000, ",stack=8")
        last = check_running(program, trace, 60000, 1)
        program.send_signal(signal.SIGKILL)
        program.wait(100)
        check_end(trace, last)  # the drain lives on
        check_damage(trace, last)
        sites = look(trace)["sites"]
        assert any("churn" in row["name"] for row in sites), sites


main()
