#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""limits.py [--jdk HOME] [--tests N] [--classes N] BUILD...: what a limit costs a test of JUnit.

Makes classes of tests with a limit each, that do little, and the same ones without limits; runs both with JUnit's console
(Debian's junit5) and the steptrace.jar of each build (and its command, where the JAR file has none), and prints how long a test took: least, median, longest.  The first
test of a JVM with a limit pays for the probes of all classes.  Builds take turns, ROUNDS times; each row is of the round with
the least median.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile
import xml.etree.ElementTree

ROUNDS = 3
JARS = ("junit-jupiter-api junit-platform-commons opentest4j apiguardian-api junit-platform-console junit-platform-launcher "
        "junit-platform-engine junit-platform-reporting junit-jupiter-engine junit-jupiter-params "
        "opentest4j-reporting-events opentest4j-reporting-schema picocli univocity-parsers").split()


def source(name, tests, limit):
    body = "".join(f"""
    @org.junit.jupiter.api.Test {limit}
    void test{i}() {{ for (int i = 0; i < {i + 1}; i++) sink = new Object(); }}""" for i in range(tests))
    return f"class {name} {{ static Object sink; {body}\n}}\n"


def run(jdk, build, classes, class_path, scratch):
    """Seconds of each test."""
    jar = f"{build}/java/steptrace.jar"
    reports = tempfile.mkdtemp(dir=scratch)
    names = [word for path in sorted(classes.glob("*.class")) for word in ("-c", path.stem)]
    subprocess.run([f"{jdk}/bin/java", "-cp", f"{jar}:{classes}:{class_path}",
                    "org.junit.platform.console.ConsoleLauncher", "--disable-banner", "--details=none",
                    f"--reports-dir={reports}", *names], check=True, capture_output=True,
                   env=dict(os.environ, PATH=f"{build}/converter:{os.environ['PATH']}"))
    report = xml.etree.ElementTree.parse(f"{reports}/TEST-junit-jupiter.xml")
    return [float(case.get("time")) for case in report.iter("testcase")]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("builds", nargs="+", metavar="BUILD")
    parser.add_argument("--jdk", default="/usr/lib/jvm/java-17-openjdk-amd64")
    parser.add_argument("--tests", type=int, default=20)
    parser.add_argument("--classes", type=int, default=10)
    at = parser.parse_args()
    class_path = ":".join(f"/usr/share/java/{jar}.jar" for jar in JARS)
    with tempfile.TemporaryDirectory() as scratch:
        ways = {}
        for build in at.builds:
            for word, limit in (("limits", "@steptrace.junit.MaxAllocated(objects = 500)"), ("without", "")):
                folder = pathlib.Path(tempfile.mkdtemp(dir=scratch))
                sources = []
                for i in range(at.classes):
                    sources.append(folder / f"T{i}.java")
                    sources[-1].write_text(source(f"T{i}", at.tests, limit))
                subprocess.run([f"{at.jdk}/bin/javac", "-cp", f"{build}/java/steptrace.jar:{class_path}", "-d", folder,
                                *sources], check=True)
                ways[build, word] = folder, []
        for _ in range(ROUNDS):
            for (build, _), (folder, rounds) in ways.items():
                rounds.append(run(at.jdk, build, folder, class_path, scratch))
    for (build, word), (_, rounds) in ways.items():
        best = min(rounds, key=statistics.median)
        print(f"{build} {word}: {len(best)} tests, least {min(best) * 1e3:.0f} ms, median "
              f"{statistics.median(best) * 1e3:.0f} ms, longest {max(best) * 1e3:.0f} ms, together {sum(best):.1f} s")


if __name__ == "__main__":
    main()
