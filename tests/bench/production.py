#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a sample costs a running service, for docs/results/sampled.md: one JVM with OrderService (Tomcat and H2), and
windows of load in which one tool records or none does, in random order.  Each window is compared with the
one without a tool in the same round, so that the machine's changes of speed cancel.

  production.py --jdk /usr/lib/jvm/java-17-openjdk-amd64 --rounds 8 --async /path/to/libasyncProfiler.so

Prints for each way the median and the quartiles, over the rounds, of its processor time a request and its rate of requests,
as multiples of the window without a tool; milliseconds of safepoints a second and the longest one.  async-profiler has the same
interval as the default sample; Java Flight Recorder has settings=profile.  Needs what service.py needs.
"""
import argparse
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

from service import HERE, JARS, Service

STARTED, STOPPED = 1.5, 1.0     # seconds from the start of a tool, and from its end, to a window of load


class Tools:
    """How each way is switched on and off in a running JVM: name to (commands to start, commands to stop)."""

    def __init__(self, args, service):
        steptrace, jcmd = args.build / "converter/steptrace", args.jdk / "bin/jcmd"
        process, directory = str(service.process.pid), service.directory
        attach = [steptrace, "attach", "--sampled", "-O", "overwrite=yes", "-o", directory / "run.step"]
        stop = [[steptrace, "attach", "--stop", process]]
        self.ways = {
            "none": ([], []),
            "none again": ([], []),
            "sampled": ([[*attach, process]], stop),
            "sampled, 64k": ([[*attach, "--sample", "64k", process]], stop),
            "sampled, 64k, no rate": ([[*attach, "--sample", "64k", "-O", "rate=none", process]], stop),
            "Flight Recorder": ([[jcmd, process, "JFR.start", "name=it", "settings=profile"]],
                                [[jcmd, process, "JFR.stop", "name=it", f"filename={directory / 'run.jfr'}"]]),
        }
        if args.asynchronous:
            load = [jcmd, process, "JVMTI.agent_load", args.asynchronous.resolve()]
            file = f"jfr,file={directory / 'async.jfr'}"
            self.ways["async-profiler"] = ([[*load, f"start,event=alloc,alloc=512k,{file}"]],
                                           [[*load, f"stop,{file}"]])

    @staticmethod
    def run(commands):
        for command in commands:
            done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, timeout=60)
            if done.returncode != 0:
                sys.exit(f"{' '.join(map(str, command))}: {done.stdout}")

    def window(self, way, service, seconds):
        start, stop = self.ways[way]
        self.run(start)
        time.sleep(STARTED)
        figures = service.load(seconds)
        self.run(stop)
        time.sleep(STOPPED)
        pauses = [ms for _, ms in service.pauses(figures["from"], figures["to"])]
        figures["pauses"] = sum(pauses) / (figures["to"] - figures["from"])
        figures["longest"] = max(pauses, default=0)
        return figures


def quartiles(values):
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{middle:.3f} ({low:.3f} to {high:.3f})"


def report(rounds, ways):
    print("| way | processor time a request | requests a second | p99, ms | safepoints, ms a second "
          "| longest, ms | RSS, MB |\n|---|---|---|--:|--:|--:|--:|")
    for way in ways:
        windows = [one[way] for one in rounds]
        times = {key: quartiles([one[way][key] / one["none"][key] for one in rounds]) for key in ("cpu", "rate")}
        median = {key: statistics.median(window[key] for window in windows) for key in ("p99", "pauses", "rss")}
        print(f"| {way} | {times['cpu']} | {times['rate']} | {median['p99']:.1f} | {median['pauses']:.1f} "
              f"| {max(window['longest'] for window in windows):.0f} | {median['rss']:.0f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build-gcc"))
    parser.add_argument("--jdk", type=pathlib.Path, default=pathlib.Path("/usr/lib/jvm/java-17-openjdk-amd64"))
    parser.add_argument("--collector", default="G1")
    parser.add_argument("--heap", default="256m")
    parser.add_argument("--warm", type=int, default=30, help="seconds of load before the first round")
    parser.add_argument("--seconds", type=int, default=5, help="seconds of a window")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--async", dest="asynchronous", type=pathlib.Path, help="libasyncProfiler.so")
    args = parser.parse_args()
    args.build = args.build.resolve()
    with tempfile.TemporaryDirectory(prefix="production.") as name:
        directory = pathlib.Path(name)
        subprocess.run([args.jdk / "bin/javac", "-d", directory / "classes", "-cp", ":".join(map(str, JARS)),
                        HERE / "OrderService.java"], check=True)
        service = Service(args, directory, "service")
        service.load(args.warm)
        tools = Tools(args, service)
        rounds = []
        for _ in range(args.rounds):
            order = random.sample(list(tools.ways), len(tools.ways))
            rounds.append({way: tools.window(way, service, args.seconds) for way in order})
        service.stop()
    report(rounds, tools.ways)
    return 1 if any(window["wrong"] for one in rounds for window in one.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
