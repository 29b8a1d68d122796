# SPDX-License-Identifier: Apache-2.0
"""Running programs: what a test knows of its JDK, its agent and its directory, and how it fails."""
import os
import pathlib
import subprocess

COLLECTORS = {"Serial": "-XX:+UseSerialGC", "Parallel": "-XX:+UseParallelGC",
              "G1": "-XX:+UseG1GC", "Z": "-XX:+UseZGC", "Shenandoah": "-XX:+UseShenandoahGC"}
RARE_COLLECTORS = ("Z", "Shenandoah")
LOG_PREFIX = "steptrace: "


class Failure(Exception):
    """What is wrong, one thing a line."""


class Skip(Exception):
    """Why this test cannot be run here."""


class Session:
    def __init__(self, args):
        self.tracer, self.steptrace = args.tracer, args.steptrace
        self.jdk, self.collector = pathlib.Path(args.jdk), args.collector
        self.classes, self.sources, self.library = args.classes, args.sources, args.library
        self.engine, self.thinner = args.engine, args.thinner
        self.jar, self.as_service = args.jar, args.as_service
        self.other_agent, self.versions = args.other_agent, args.versions
        self.directory = pathlib.Path(args.directory)
        self.timeout = 300
        for name in ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"):
            os.environ.pop(name, None)
        os.environ["LC_ALL"] = "C.UTF-8"

    def path(self, name):
        return str(self.directory / name)

    def tool(self, name):
        return str(self.jdk / "bin" / name)

    def version(self):
        for line in (self.jdk / "release").read_text().splitlines():
            if line.startswith("JAVA_VERSION="):
                return int(line.split('"')[1].split(".")[0].split("-")[0].split("+")[0])
        raise Failure(f"{self.jdk} has no version")

    def require_collector(self):
        """Each JDK has the collectors that are not asked for here: a JVM's start per test is saved."""
        if self.collector not in RARE_COLLECTORS:
            return
        probe = self.run([self.tool("java"), COLLECTORS[self.collector], "-version"])
        if probe.returncode != 0:
            raise Skip(f"no {self.collector} in {self.jdk}")

    def java(self, main, vm="", agent=None, words=()):
        """The command line that runs a program, with these options of the agent or without it."""
        command = [self.tool("java")]
        if agent is not None:
            agent += "" if "engine=" in agent else f",engine={self.engine}"
            agent += "" if "finish=" in agent else ",finish=10min"  # a slow machine is no fault
            agent += "" if "overwrite=" in agent else ",overwrite=yes"  # tests record run.step again
            command.append(f"-agentpath:{self.tracer}={agent}")
        command += [COLLECTORS[self.collector], *vm.split(), f"-Dfacts.library={self.library}",
                    f"-Dfacts.out={self.path('facts.out')}", "-cp", self.classes]
        return command + [main if main.startswith("-") else f"facts.{main}", *words]

    def run(self, command, text="", **extra):
        """Runs to the end; stdin is this text."""
        try:
            return subprocess.run(command, input=text.encode(), stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, timeout=self.timeout,
                                  cwd=self.directory, **extra)
        except subprocess.TimeoutExpired as late:
            raise Failure(f"no end after {self.timeout} s: {' '.join(command)}\n"
                          f"{(late.stderr or b'').decode(errors='replace')}") from late

    def start(self, command):
        """A program to talk to; its stderr goes to the file of that name."""
        with open(self.path("stderr"), "wb") as errors:
            return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                    stderr=errors, cwd=self.directory)

    def step(self, *words, codes=(0,)):
        """Runs steptrace and gives its stdout."""
        result = self.run([self.steptrace, *words])
        if result.returncode not in codes:
            raise Failure(f"steptrace {' '.join(words)} ends with {result.returncode}:\n"
                          + shown(result.stdout) + shown(result.stderr))
        return result.stdout


def shown(data):
    text = data.decode(errors="replace")
    return text if len(text) < 3000 else text[:1500] + "\n...\n" + text[-1500:]


def expect_line(process, wanted):
    """Reads lines up to this one."""
    for raw in process.stdout:
        if raw.decode().strip() == wanted:
            return
    raise Failure(f"the program ended without saying {wanted!r}")


def answer(process):
    process.stdin.write(b"\n")
    process.stdin.flush()


def finish(process, timeout=300):
    """The rest of stdout, once the program has ended by itself."""
    try:
        rest, _ = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired as late:
        process.kill()
        raise Failure("the program does not end") from late
    return rest
