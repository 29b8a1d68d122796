# SPDX-License-Identifier: Apache-2.0
"""The JVMs of this computer: each JDK, and the Zero VM where a JDK has it, with their collectors."""
import glob
import os
import pathlib
import subprocess

OLDEST = 17
COLLECTORS = {
    "Serial": "-XX:+UseSerialGC", "Parallel": "-XX:+UseParallelGC", "G1": "-XX:+UseG1GC",
    "Z": "-XX:+UseZGC", "Shenandoah": "-XX:+UseShenandoahGC",
    "Epsilon": "-XX:+UnlockExperimentalVMOptions -XX:+UseEpsilonGC",
    "GenShen": "-XX:+UseShenandoahGC -XX:+UnlockExperimentalVMOptions "
               "-XX:ShenandoahGCMode=generational",
    "GenZ": "-XX:+UseZGC -XX:+ZGenerational"}


class Machine:
    """One JVM: a JDK's home and the words that choose the VM in it."""

    def __init__(self, home, version, flags=()):
        self.home, self.version, self.flags = pathlib.Path(home), version, list(flags)
        self.name = str(version) + "".join(flags)
        self.is_zero = "-zero" in self.flags
        self.collectors = [name for name, words in COLLECTORS.items()
                           if self.accepts(words.split())]

    def tool(self, name):
        return str(self.home / "bin" / name)

    def accepts(self, words):
        """Whether it starts with these options."""
        command = [self.tool("java"), *self.flags, *words, "-Xmx64m", "-Xshare:auto", "-version"]
        return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              check=False).returncode == 0


def feature_version(home):
    for line in (pathlib.Path(home) / "release").read_text(encoding="utf-8").splitlines():
        if line.startswith("JAVA_VERSION="):
            return int(line.split('"')[1].split(".")[0].split("-")[0].split("+")[0])
    return 0


def machines_of(home):
    """The VMs of one JDK."""
    version = feature_version(home)
    found = []
    if os.path.exists(f"{home}/lib/server/libjvm.so"):
        found.append(Machine(home, version))
    if os.path.exists(f"{home}/lib/zero/libjvm.so"):
        found.append(Machine(home, version, ["-zero"]))
    return found


def find(more_homes=()):
    """One JVM for each version and kind."""
    found = {}
    for home in [*sorted(glob.glob("/usr/lib/jvm/*")), *more_homes]:
        home = os.path.realpath(home)
        if not os.path.exists(f"{home}/release") or not os.path.exists(f"{home}/bin/java"):
            continue
        if feature_version(home) >= OLDEST:
            for machine in machines_of(home):
                found.setdefault(machine.name, machine)
    return list(found.values())
