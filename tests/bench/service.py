#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what tracing costs a web service: OrderService (Tomcat and H2) under a closed loop of
four connections, untraced and traced, for docs/results/service.md.

  service.py --jdk /usr/lib/jvm/java-17-openjdk-amd64 --seconds 10

Every answer is compared with the only right one. One table has the latencies, the CPU time of the
JVM a request (/proc/PID/stat) and its resident memory; a second one has what an attach costs: the
JVM's own log of safepoints while it runs, memory before, during and after, and files on the disk.
Needs libtomcat10-embed-java, libtomcat10-java, libh2-java and wrk.  Build first: cmake --build
build-gcc.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
JARS = [pathlib.Path("/usr/share/java", name) for name in
        ("tomcat10-embed-core.jar", "tomcat10-annotations-api.jar", "h2.jar")]
PORT = 18080
SAFEPOINT = re.compile(r'^\[([0-9.]+)s\].*Safepoint "(\w+)".* Total: +(\d+) ns')
TICKS = os.sysconf("SC_CLK_TCK")


def megabytes(process_id, field="VmRSS"):
    text = pathlib.Path(f"/proc/{process_id}/status").read_text(encoding="ascii")
    return int(re.search(rf"^{field}:\s+(\d+) kB", text, re.MULTILINE)[1]) // 1024


def processor_seconds(process_id):
    stat = pathlib.Path(f"/proc/{process_id}/stat").read_text(encoding="utf-8")
    fields = stat.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


class Service:
    """A running OrderService; `agent` is an -agentpath option or None."""

    def __init__(self, args, directory, name, agent=None):
        self.directory = directory / name
        self.directory.mkdir()
        self.log = self.directory / "safepoints.log"
        classes = ":".join(map(str, [directory / "classes", *JARS]))
        command = [args.jdk / "bin/java", f"-Xmx{args.heap}", f"-Xms{args.heap}", f"-XX:+Use{args.collector}GC",
                   f"-Xlog:safepoint:file={self.log}:uptime:filecount=0",
                   *([agent] if agent else []), "-cp", classes, "OrderService", str(PORT),
                   str(self.directory)]
        self.started = time.monotonic()
        with open(self.directory / "output", "w", encoding="utf-8") as output:
            self.process = subprocess.Popen(command, cwd=self.directory, stdout=output,
                                            stderr=subprocess.STDOUT)
        self.wait_until_ready()

    def wait_until_ready(self):
        for _ in range(600):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/order?id=1", timeout=5):
                    return
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                if self.process.poll() is not None:
                    break
                time.sleep(0.2)
        sys.exit(f"the service did not start: see {self.directory}/output")

    def load(self, seconds):
        """One window of load: a dictionary of figures."""
        before, began = processor_seconds(self.process.pid), time.monotonic() - self.started
        done = subprocess.run(["wrk", "-t1", "-c4", f"-d{seconds}s", "--timeout", "30s", "-s",
                               HERE / "check_orders.lua", f"http://127.0.0.1:{PORT}/"],
                              stdout=subprocess.PIPE, text=True, check=True)
        figures = re.search(r"^RESULT (.*)$", done.stdout, re.MULTILINE)[1].split()
        count, micros, right, wrong, half, most, longest = map(int, figures)
        used = processor_seconds(self.process.pid) - before
        return {"count": count, "right": right, "wrong": wrong, "rate": count / (micros / 1e6),
                "p50": half / 1000, "p99": most / 1000, "max": longest / 1000,
                "cpu": 1e6 * used / max(count, 1), "rss": megabytes(self.process.pid),
                "from": began, "to": time.monotonic() - self.started}

    def pauses(self, began, ended):
        """(name, milliseconds) of the safepoints between two times since the start."""
        found = []
        for line in self.log.read_text(encoding="utf-8").splitlines():
            match = SAFEPOINT.match(line)
            if match and began <= float(match[1]) <= ended:
                found.append((match[2], int(match[3]) / 1e6))
        return found

    def stop(self):
        began = time.monotonic()
        self.process.terminate()
        self.process.wait(timeout=120)
        return time.monotonic() - began


def row(name, window):
    return (f"| {name} | {window['count']:,} | {window['wrong']} | {window['rate']:,.0f} "
            f"| {window['p50']:.2f} | {window['p99']:.1f} | {window['max']:.0f} "
            f"| {window['cpu']:.0f} | {window['rss']} |")


def best(windows):
    return min(windows, key=lambda window: window["cpu"])


def disk_kilobytes(directory):
    return sum(file.stat().st_size for file in directory.glob("run*")) // 1024


def measure_agent(args, directory, name, options):
    library = args.build / "agent/libtracer.so"
    agent = None if options is None else \
        f"-agentpath:{library}=file={directory / name / 'run.step'}{options}"
    service = Service(args, directory, name, agent)
    service.load(args.warm)
    windows = [service.load(args.seconds) for _ in range(args.rounds)]
    stopped = service.stop()
    print(row(name, best(windows)) + f" {stopped:.1f} |", flush=True)
    wrong = sum(window["wrong"] for window in windows)
    return wrong


def measure_attach(args, directory, name, options):
    """A row for the table of attaching: figures of the window in which it happens, and around it."""
    service = Service(args, directory, name)
    service.load(args.warm)
    before = service.load(args.seconds)
    trace = service.directory / "run.step"
    command = [args.build / "converter/steptrace", "attach", "-d", f"{args.seconds}s", "-o", trace,
               *options, str(service.process.pid)]
    began = time.monotonic() - service.started
    with open(service.directory / "attach.log", "w", encoding="utf-8") as log:
        attach = subprocess.Popen(command, stdout=log, stderr=log)
    during = service.load(args.seconds + 4)
    status = attach.wait(timeout=120)
    ended = time.monotonic() - service.started
    after = [service.load(args.seconds) for _ in range(2)]
    pauses = service.pauses(began, ended)
    longest = sorted(pauses, key=lambda pause: -pause[1])[:3]
    service.stop()
    wrong = sum(window["wrong"] for window in [before, during, *after])
    print(f"| {name} | {status} | {wrong} | {before['rate']:,.0f} | {during['rate']:,.0f} "
          f"| {after[0]['rate']:,.0f} | {after[1]['rate']:,.0f} | {before['p99']:.0f} "
          f"| {during['p99']:.0f} | {during['max']:.0f} | {before['rss']} | {during['rss']} "
          f"| {after[1]['rss']} | {sum(ms for _, ms in pauses):.0f} | "
          + ", ".join(f"{what} {ms:.0f}" for what, ms in longest)
          + f" | {disk_kilobytes(service.directory)} |", flush=True)
    return wrong + (status != 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build-gcc"))
    parser.add_argument("--jdk", type=pathlib.Path,
                        default=pathlib.Path("/usr/lib/jvm/java-17-openjdk-amd64"))
    parser.add_argument("--heap", default="256m")
    parser.add_argument("--collector", default="G1")
    parser.add_argument("--warm", type=int, default=10, help="seconds of load before measuring")
    parser.add_argument("--seconds", type=int, default=6, help="seconds of a window")
    parser.add_argument("--rounds", type=int, default=3, help="windows; the cheapest is printed")
    args = parser.parse_args()
    args.build = args.build.resolve()
    missing = [str(jar) for jar in JARS if not jar.exists()]
    if missing or not shutil.which("wrk"):
        sys.exit("needs libtomcat10-embed-java, libtomcat10-java, libh2-java and wrk: missing "
                 + ", ".join(missing or ["wrk"]))
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="service.") as name:
        directory = pathlib.Path(name)
        subprocess.run([args.jdk / "bin/javac", "-d", directory / "classes", "-cp",
                        ":".join(map(str, JARS)), HERE / "OrderService.java"], check=True)
        print("| way | requests | wrong | requests/s | p50 ms | p99 ms | max ms | CPU us/request "
              "| RSS MB | stop s |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|", flush=True)
        for way, options in (("untraced", None), ("agent", ""), ("agent-safe", ",internals=safe"),
                             ("agent-stack-16", ",stack=16"), ("untraced-again", None)):
            wrong += measure_agent(args, directory, way, options)
        print("\n| attach | status | wrong | requests/s before | during | after | later | p99 ms "
              "before | during | max ms during | RSS MB before | during | after | safepoints ms "
              "| longest ms | files KB |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:"
              "|---|--:|", flush=True)
        for way, options in (("attach", []), ("attach-auto", ["-O", "internals=auto"]),
                             ("attach-stack-16", ["-O", "stack=16"])):
            wrong += measure_attach(args, directory, way, options)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
