#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A storm over traced JVMs: each scenario in each JVM, with random options; every run has to end as it
ends untraced, with a true trace, and never in a crash.  The seed is printed: with it, --only and --jdk
a run comes again as it was."""
import argparse
import concurrent.futures
import pathlib
import random
import re
import resource
import shutil
import sys
import tempfile
import time
import traceback

import machines
import scenarios
from case import Case
from runs import Fault, Skip

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77


class Kit:
    """What all cases share: the build's files and how much is asked."""

    def __init__(self, args):
        tests = args.build.resolve() / "tests"
        self.tracer = str(args.build.resolve() / "agent" / "libtracer.so")
        self.steptrace = str(args.build.resolve() / "converter" / "steptrace")
        self.natives = str(tests / "storm" / "libstormnatives.so")
        self.sampler = str(tests / "storm" / "libstormsampler.so")
        self.own_classes = tests / "storm" / "classes"
        self.classes = f"{self.own_classes}:{tests / 'jvm' / 'classes'}"
        self.facts_library = str(tests / "jvm" / "libnativecalls.so")
        self.sources = str(HERE.parent.parent / "java-tests")
        self.programs = [str(path.resolve()) for path in args.program]
        self.is_full = args.minutes is not None
        self.timeout = args.timeout


def run_case(kit, machine, name, seed, directory):
    """None if it was right, else what was wrong; and why it was skipped."""
    path = directory / f"{machine.name}-{name}-{seed.replace('/', '-')}"
    path.mkdir(parents=True)
    case = Case(kit, machine, name, seed, path)
    fault = skip = None
    try:
        scenarios.TABLE[name](case)
    except Skip as reason:
        skip = str(reason)
    except Fault as reason:
        fault = str(reason)
    except Exception:  # pylint: disable=broad-except
        fault = traceback.format_exc()
    if fault is None:
        shutil.rmtree(path, ignore_errors=True)
        return None, skip
    (path / "fault.txt").write_text(f"{fault}\n" + "\n".join(case.notes))
    return f"{fault}\n  in {path}, {case.collector}\n  " + "\n  ".join(case.notes[-3:]), None


class Storm:
    def __init__(self, args):
        self.args, self.kit = args, Kit(args)
        self.seed = args.seed if args.seed is not None else random.SystemRandom().randrange(1 << 31)
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="storm-", dir=args.directory))
        self.start = time.monotonic()
        self.machines = [machine for machine in machines.find(args.home)
                         if re.fullmatch(args.jdk, machine.name)]
        self.faults, self.right, self.skips = [], 0, {}

    def jobs(self, number):
        """What a round has to do."""
        names = [name for name in scenarios.TABLE
                 if re.fullmatch(self.args.only, name) and not re.fullmatch(self.args.but, name)]
        wanted = [(machine, name) for name in names for machine in self.machines
                  if machine.version >= scenarios.NEEDS_VERSION.get(name, 0)]
        if number > 0:
            random.Random(f"{self.seed}/{number}").shuffle(wanted)
        return wanted

    def is_over(self):
        return self.args.minutes is not None and \
            time.monotonic() - self.start > self.args.minutes * 60

    def take(self, machine, name, seed):
        if self.is_over():
            return
        begin = time.monotonic()
        fault, skip = run_case(self.kit, machine, name, seed, self.directory)
        seconds = time.monotonic() - begin
        word = "FAULT" if fault else "skip" if skip else "ok"
        self.right += word == "ok"
        print(f"{word:5} {machine.name:8} {name:22} {seconds:6.1f} s"
              + (f"  {' '.join(skip.split())[:110]}" if skip else ""), flush=True)
        if fault:
            again = f"scripts/storm.sh --seed {seed} --only {name} --jdk {machine.name}" + \
                (" --minutes 1" if self.kit.is_full else "")
            self.faults.append(f"{machine.name} {name}: {fault}\n  again: {again}")
            print(self.faults[-1], flush=True)

    def run_round(self, number):
        seed = str(self.seed) if number == 0 else f"{self.seed}/{number}"
        with concurrent.futures.ThreadPoolExecutor(self.args.jobs) as pool:
            for done in [pool.submit(self.take, machine, name, seed)
                         for machine, name in self.jobs(number)]:
                done.result()

    def run(self):
        print(f"seed {self.seed}, JVMs " + ", ".join(machine.name for machine in self.machines)
              + f", in {self.directory}", flush=True)
        number = 0
        self.run_round(number)
        while self.args.minutes is not None and not self.is_over() and not self.args.once:
            number += 1
            self.run_round(number)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"{self.right} right, {len(self.faults)} faults, {number + 1} rounds, "
              f"{time.monotonic() - self.start:.0f} s, {used.ru_utime + used.ru_stime:.0f} s of "
              "processor time")
        if not self.faults:
            shutil.rmtree(self.directory, ignore_errors=True)
        return bool(self.faults)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, prog="storm.sh",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build-gcc"))
    parser.add_argument("--seed", help="of the random numbers; default: any")
    parser.add_argument("--minutes", type=float, help="storm for so long, with the large sizes; "
                        "default: each scenario once, with the small ones")
    parser.add_argument("--once", action="store_true", help="one round only")
    parser.add_argument("--only", default=".*", help="the scenarios of these names (a pattern)")
    parser.add_argument("--but", default="", help="none of these")
    parser.add_argument("--jdk", default=".*", help="the JVMs of these names, such as 25, 17-zero")
    parser.add_argument("--home", action="append", default=[], help="one more JDK")
    parser.add_argument("--program", type=pathlib.Path, action="append", default=[],
                        help="a script that starts $JAVA with $JAVA_ARGS, for `others`")
    parser.add_argument("--jobs", type=int, default=2, help="how many runs at once")
    parser.add_argument("--timeout", type=float, default=300, help="seconds that one run may take")
    parser.add_argument("--directory", help="where the runs' files go; what failed stays")
    parser.add_argument("--list", action="store_true", help="name the scenarios")
    return parser.parse_args()


def main():
    args = arguments()
    if args.list:
        print("\n".join(scenarios.TABLE))
        return 0
    if shutil.which("jattach") is None:
        print("skipped: no jattach")
        return SKIPPED
    storm = Storm(args)
    if not storm.machines:
        print("skipped: no such JVM")
        return SKIPPED
    return storm.run()


if __name__ == "__main__":
    sys.exit(main())
