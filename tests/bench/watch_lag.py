#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""watch_lag.py STEPTRACE [--rate N] [--seconds N] [--interval TIME]: how old is what the screen of `watch` shows?

Ticker.java allocates at a rate and notes how many arrays there are when; `watch` runs on a terminal of its own, and each
number on its screen is looked up in these notes. Beside it the age of the newest record in the trace file itself, without
the live file: whoever reads the file alone is as late.
"""
import argparse
import bisect
import fcntl
import json
import os
import pty
import re
import select
import signal
import statistics
import struct
import subprocess
import tempfile
import termios
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOKEN = re.compile(r"\x1b\[([?\d;]*)([A-Za-z])|\x1b[()].|\x1b.|\r|\n|\x08|.", re.S)
WIDTH, HEIGHT = 120, 24
SETTLED_NS = 3_000_000_000  # the start of a JVM is not measured


class Screen:
    """As much of a vt100 as the terminal's library uses."""

    def __init__(self):
        self.rows = [[" "] * WIDTH for _ in range(HEIGHT)]
        self.y = self.x = 0

    def control(self, values, letter):
        first = values[0] if values else 0
        if letter in "Hf":
            self.y, self.x = max(first, 1) - 1, max(values[1] if len(values) > 1 else 0, 1) - 1
        elif letter in "ABCD":
            self.y += {"A": -1, "B": 1}.get(letter, 0) * max(first, 1)
            self.x += {"C": 1, "D": -1}.get(letter, 0) * max(first, 1)
        elif letter == "K":
            begin, end = {0: (self.x, WIDTH), 1: (0, self.x + 1)}.get(first, (0, WIDTH))
            self.rows[self.y][begin:end] = [" "] * (end - begin)
        elif letter == "J":
            for row in range(self.y if first == 0 else 0, HEIGHT):
                self.rows[row] = [" "] * WIDTH

    def put(self, text):
        for found in TOKEN.finditer(text):
            if found[2]:
                self.control([int(value) if value.isdigit() else 0 for value in found[1].split(";")], found[2])
            elif found[0] == "\r":
                self.x = 0
            elif found[0] == "\n":
                self.y += 1
            elif found[0] == "\x08":
                self.x -= 1
            elif found[0] >= " ":
                if self.y < HEIGHT and self.x < WIDTH:
                    self.rows[self.y][self.x] = found[0]
                self.x += 1

    def allocated(self):
        found = re.search(r"allocated .* in ([\d,]+) objects", "\n".join("".join(row) for row in self.rows))
        return int(found[1].replace(",", "")) if found else None


def record(options, agent):
    subprocess.run(["javac", "-d", ".", os.path.join(HERE, "Ticker.java")], check=True)
    return subprocess.Popen(["java", "-Xmx256m", f"-agentpath:{agent}=file=run.step", "Ticker", str(options.rate), str(options.seconds), "ticks"])


def watch(options):
    process, terminal = pty.fork()
    if process == 0:
        os.environ.update(TERM="vt100", LC_ALL="C", LINES=str(HEIGHT), COLUMNS=str(WIDTH))
        os.execv(options.steptrace, [options.steptrace, "watch", "--class", "[B", f"--interval={options.interval}", "run.step"])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", HEIGHT, WIDTH, 0, 0))
    return process, terminal


def observe(options, java, terminal):
    """What the terminal got when, and what the file had when, until the program ends."""
    shown, files, next_look = [], [], 0.0
    while java.poll() is None:
        if select.select([terminal], [], [], 0.05)[0]:
            shown.append((time.monotonic_ns(), os.read(terminal, 65536).decode("latin1")))
        if time.monotonic() > next_look:
            next_look, now = time.monotonic() + 1.4, time.monotonic_ns()
            about = subprocess.run([options.steptrace, "info", "--json", "run.step"], capture_output=True, check=False).stdout
            files.append((now, json.loads(about)["kinds"]["OA"]))
    return shown, files


def say(name, ages):
    print(f"{name}: median {statistics.median(ages) / 1e6:,.0f} ms, most {max(ages) / 1e6:,.0f} ms, of {len(ages)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("steptrace", type=os.path.abspath)
    parser.add_argument("--rate", type=int, default=10000)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--interval", default="1s")
    options = parser.parse_args()
    agent = subprocess.run([options.steptrace, "version", "--agent-path"], capture_output=True, text=True, check=True).stdout.strip()
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        java = record(options, agent)
        time.sleep(2)
        process, terminal = watch(options)
        shown, files = observe(options, java, terminal)
        os.kill(process, signal.SIGTERM)
        report(options, shown, files)


def report(options, shown, files):
    with open("ticks", encoding="ascii") as file:
        times, counts = zip(*(map(int, line.split()) for line in file))
    stats = json.loads(subprocess.run([options.steptrace, "stats", "--json", "--class", "[B", "run.step"], capture_output=True, check=True).stdout)
    others = stats["objects"]["allocated_objects"] - counts[-1]  # byte arrays of the JVM's own, nearly all at its start

    def made_at(count):
        return times[min(bisect.bisect_left(counts, max(count - others, 0)), len(times) - 1)]

    screen, ages, waits, last = Screen(), [], [], None
    for now, text in shown:
        screen.put(text)
        count = screen.allocated()
        if count is None or count == last or not times[0] + SETTLED_NS < now < times[-1]:
            continue
        if last is not None:
            waits.append(now - made_at(last + 1))
        ages.append(now - made_at(count))
        last = count
    say("newest event on the screen, when it is drawn", ages)
    say("from an event to the screen, the latest of each look", waits)
    say("newest event in the file, without the live file", [now - made_at(count) for now, count in files if times[0] + SETTLED_NS < now < times[-1]])


if __name__ == "__main__":
    main()
