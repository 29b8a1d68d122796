#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare.py STEPTRACE GRAPH_TRACE [--seeds A..B | --seconds N] [--keep DIRECTORY]: numbers of made-up programs, against the model.

Each seed makes a program of which everything is known, and its trace.  Some of the commands, other ones for each seed, tell of it,
and the model tells the same.  What differs is printed and kept: the trace, the command, and what both said.  Exit status 1 then.
"""
import argparse
import os
import pathlib
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import checks  # noqa: E402
import coverage  # noqa: E402
import sampled  # noqa: E402
from world import World  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CHECKS_A_SEED = 16

# What random seeds once found, and the fixed ones do not: tried with these.
FOUND = (
    (219043918922, "compare_selected"),  # allocations of several threads in one tick
    (361007073973, "retained"),          # a moment before the first event
)


class Differs(Exception):
    pass


class Case:
    """A program, its trace, and how commands are run on it."""

    def __init__(self, arguments, seed, directory):
        self.steptrace, self.graph_trace, self.seed, self.directory = arguments.steptrace, arguments.graph_trace, seed, directory
        self.world, self.chance = World(seed), random.Random(f"checks {seed}")
        self.trace = self.make(self.world, "trace.step")
        self.last = None

    def make(self, world, name):
        return self.make_text(world.text(), name)

    def make_text(self, text, name):
        path = os.path.join(self.directory, name)
        subprocess.run([self.graph_trace, path], input=text, text=True, check=True, timeout=60)
        return path

    def path(self, name):
        return os.path.join(self.directory, name)

    def run(self, *words, status=(0,)):
        """What the command prints; its exit status has to be one of these."""
        self.last = [self.steptrace, *map(str, words)]
        coverage.note_run(self.last[1:])
        done = subprocess.run(self.last, capture_output=True, timeout=120)
        self.status, self.errors = done.returncode, done.stderr.decode(errors="replace")
        if done.returncode not in status:
            raise Differs(f"exit status {done.returncode}, not {status}: {self.errors}")
        return done.stdout.decode(errors="surrogateescape")

    def json(self, *words, status=(0,)):
        """The same of JSON; what is looked at is noted."""
        return coverage.read_json(words, self.run(*words, status=status))

    def same(self, what, found, wanted):
        if found != wanted:
            raise Differs(f"{what}: {found!r}, and the model says {wanted!r}")

    def near(self, what, found, wanted, share=0.0, least=0.0):
        if found is None or abs(found - wanted) > max(share * abs(wanted), least):
            raise Differs(f"{what}: {found!r}, and the model says {wanted!r}")

    def same_rows(self, what, found, wanted):
        found, wanted = sorted(found, key=repr), sorted(wanted, key=repr)
        if found != wanted:
            raise Differs(f"{what}:\n  only the command: {without(found, wanted)}\n  only the model: {without(wanted, found)}")


def without(rows, others):
    others = list(others)
    left = []
    for row in rows:
        if row in others:
            others.remove(row)
        else:
            left.append(row)
    return left[:10]


def keep(arguments, case, check, fault):
    place = pathlib.Path(arguments.keep) / f"seed-{case.seed}-{check}"
    shutil.copytree(case.directory, place, dirs_exist_ok=True)
    command = shlex.join(case.last or [])
    (place / "world.txt").write_text(case.world.text())
    (place / "README").write_text(f"{command}\n\n{fault}\n")
    print(f"seed {case.seed}: {check}: {command}\n  {fault}\n  kept in {place}", file=sys.stderr)


def try_seed(arguments, seed, counts, check=None):
    with tempfile.TemporaryDirectory() as directory:
        case = Case(arguments, seed, directory)
        # Every check has its turn: some go by the seed, the others by chance.
        names = list(checks.CHECKS)
        chosen = {names[(seed * CHECKS_A_SEED + i) % len(names)] for i in range(CHECKS_A_SEED)}
        if check or arguments.check:
            chosen = {check or arguments.check}
        good = True
        for name in sorted(chosen):
            case.world, case.trace = World(seed), case.path("trace.step")
            try:
                counts[name] = counts.get(name, 0) + (checks.CHECKS[name](case) is not False)
            except Exception as fault:  # what a check does not expect is a difference, too
                keep(arguments, case, name, fault if isinstance(fault, (Differs, subprocess.TimeoutExpired)) else traceback.format_exc())
                good = False
        return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("steptrace")
    parser.add_argument("graph_trace")
    parser.add_argument("--seeds", default="0..199")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--check")
    parser.add_argument("--keep", default="model-faults")
    arguments = parser.parse_args()
    arguments.steptrace, arguments.graph_trace = map(os.path.abspath, (arguments.steptrace, arguments.graph_trace))
    counts, wrong = {}, 0
    if arguments.seconds:
        end = time.monotonic() + arguments.seconds
        seeds = iter(lambda: random.SystemRandom().randrange(1 << 40) if time.monotonic() < end else None, None)
    else:
        first, last = arguments.seeds.split("..")
        seeds = range(int(first), int(last) + 1)
    tried = 0
    for seed in seeds:
        wrong += not try_seed(arguments, seed, counts)
        tried += 1
    if not arguments.seconds and not arguments.check:
        wrong += sum(not try_seed(arguments, seed, counts, check) for seed, check in FOUND)
    print(f"{tried} traces, {wrong} with faults; " + ", ".join(f"{name} {count}" for name, count in sorted(counts.items())))
    if sampled.COVERED[1]:
        print(f"{sampled.COVERED[0]} of {sampled.COVERED[1]} intervals of numbers of objects of mixed sizes have the truth")
    never = [name for name in checks.CHECKS if not counts.get(name)] if tried >= 100 and not arguments.check else []
    if never:
        print(f"never tried: {', '.join(never)}", file=sys.stderr)
    unseen = list(coverage.faults(arguments.steptrace, ROOT)) if tried >= 200 and not arguments.check else []
    print("\n".join(unseen), end="\n" if unseen else "", file=sys.stderr)
    return 1 if wrong or never or unseen else 0


if __name__ == "__main__":
    sys.exit(main())
