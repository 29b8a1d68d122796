#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""junit_limits.py JDK JAR CLASSES CLASS_PATH Limits.java: runs the tests of Limits.java with JUnit's console,
whose XML report has to say of each what its name and its comment say.  CLASSES has the compiled tests.
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
import zipfile

METHOD = re.compile(r"^    +(?:void|List<DynamicTest>) ((passes|fails)\w+)\(")
COMMENT = re.compile(r"^    +// (.*)$")


def expectations(source):
    """The tests by name, with the lines that their messages have to contain; none for one that passes."""
    tests, lines = {}, []
    for line in pathlib.Path(source).read_text().splitlines():
        if COMMENT.match(line):
            lines.append(COMMENT.match(line)[1].rstrip())
        elif METHOD.match(line):
            name = METHOD.match(line)[1]
            tests[name] = [line for line in lines if name.startswith("fails")]
            lines = []
        elif line == "":
            lines = []
    return tests


def command(jdk, jar, classes, class_path, reports, *words):
    """JUnit's console with the tests; `words` are of the JVM."""
    version = re.search(r'JAVA_VERSION="(\d+)', (pathlib.Path(jdk) / "release").read_text())[1]
    if int(version) >= 24:
        words = (*words, "--enable-native-access=ALL-UNNAMED")
    return [f"{jdk}/bin/java", f"-Djava.io.tmpdir={reports}/tmp", *words, f"-Dsteptrace.traces={reports}/kept", "-cp", f"{jar}:{classes}:{class_path}",
            "org.junit.platform.console.ConsoleLauncher", "--disable-banner", "--disable-ansi-colors",
            "--details=none", f"--reports-dir={reports}"]


def outcomes(reports):
    """(name, message) of each test that was run; the message is None if it passed."""
    for case in xml.etree.ElementTree.parse(f"{reports}/TEST-junit-jupiter.xml").iter("testcase"):
        bad = [entry for entry in case if entry.tag in ("failure", "error")]
        yield case.get("name").split("(")[0], bad[0].get("message") if bad else None


def faults_of(tests, results):
    for name in sorted(tests.keys() - {name for name, _ in results}):
        yield f"{name}: was not run"
    for name, message in results:
        if name not in tests or (message is not None) != name.startswith("fails"):
            yield f"{name}: {message or 'passed'}"
        else:
            if "at org.junit" in (message or ""):
                yield f"{name}: frames of JUnit's in\n{message}"
            yield from (f"{name}: no {line!r} in\n{message}" for line in tests[name] if line not in message)


def one_fault(arguments, scratch, words, wanted):
    """With these words for the JVM, a test with a limit fails and says why; others run."""
    pathlib.Path(scratch).mkdir()
    pathlib.Path(scratch, "tmp").mkdir()
    run = subprocess.run([*command(*arguments[:4], scratch, *words),
                          "-m", "limits.Limits#passesWithoutAllocation", "-m", "limits.Limits#passesWithoutALimit"],
                         capture_output=True, text=True, check=False)
    results = dict(outcomes(scratch))
    if results["passesWithoutALimit"] is not None or wanted not in (results["passesWithoutAllocation"] or ""):
        yield f"{words}: {results}\n{run.stderr}"


def other_agent(arguments, scratch):
    """The agent of -agentpath has the probes."""
    with zipfile.ZipFile(arguments[1]) as jar:
        library = next(name for name in jar.namelist() if name.endswith("libtracer.so"))
        words = [f"-agentpath:{jar.extract(library, scratch)}=file={scratch}/run.step,engine=bytecode"]
    return one_fault(arguments, f"{scratch}/agent", words, "this JVM has another copy of the agent already")


def two_agents(arguments, scratch):
    """The second copy in a JVM says why it records nothing, and prints no stack trace."""
    words = []
    for copy in ("first", "second"):
        with zipfile.ZipFile(arguments[1]) as jar:
            library = next(name for name in jar.namelist() if name.endswith("libtracer.so"))
            words.append(f"-agentpath:{jar.extract(library, f'{scratch}/{copy}')}=file={scratch}/{copy}.step,engine=bytecode")
    run = subprocess.run([f"{arguments[0]}/bin/java", *words, "-version"], capture_output=True, text=True, check=False)
    said = [line for line in run.stderr.splitlines() if "openjdk" not in line.lower()]
    if run.returncode != 0 or said[0] != "steptrace: this JVM has another copy of the agent already" or "\tat " in run.stderr:
        yield f"two copies of the agent: exit status {run.returncode}\n{run.stderr}"


def other_jar(arguments, scratch, wanted, change):
    """A JAR file whose command is missing or damaged; its name and content go through change()."""
    pathlib.Path(scratch).mkdir()
    other = f"{scratch}/other.jar"
    with zipfile.ZipFile(arguments[1]) as jar, zipfile.ZipFile(other, "w") as changed:
        for name in jar.namelist():
            content = jar.read(name)
            if name.endswith("/steptrace"):
                name, content = change(name, content)
            changed.writestr(name, content)
    return one_fault([arguments[0], other, *arguments[2:]], f"{scratch}/run", [], wanted)


def main(arguments):
    tests = expectations(arguments[4])
    with tempfile.TemporaryDirectory() as scratch:
        pathlib.Path(scratch, "tmp").mkdir()
        run = subprocess.run([*command(*arguments[:4], scratch), "-c", "limits.Limits"],
                             capture_output=True, text=True, check=False)
        results = list(outcomes(scratch))
        faults = list(faults_of(tests, results))
        wanted = "steptrace: limits.Limits.passesAtNoSite: of what was allocated, no method matches 'limits.Limits$Parser.parze'; did you mean 'limits.Limits$Parser.parse'?"
        if "WARNING" in run.stderr or [line for line in run.stderr.splitlines() if line.startswith("steptrace:")] != [wanted]:
            faults.append(f"on stderr: {run.stderr}")
        left = [path.name for path in pathlib.Path(scratch, "tmp").iterdir()]
        if left:
            faults.append(f"left behind: {left}")
        kept = len(list(pathlib.Path(scratch, "kept").iterdir()))
        judged = sum("trace: " in (message or "") for _, message in results)
        if kept != judged:
            faults.append(f"{kept} traces kept of {judged} tests that exceed their limits")
        faults += one_fault(arguments, f"{scratch}/other", ["-Dsteptrace.command=/nowhere/steptrace"], "/nowhere/steptrace")
        faults += other_agent(arguments, scratch)
        faults += two_agents(arguments, scratch)
        faults += other_jar(arguments, f"{scratch}/missing", "it was not built for this machine; -Dsteptrace.command=FILE",
                            lambda name, content: (f"{name}-of-another", content))
        faults += other_jar(arguments, f"{scratch}/damaged", "its SHA-256 is not",
                            lambda name, content: (name, content[:1000] + b"!" + content[1001:]))
    print(*faults, f"{len(results)} tests, {len(faults)} faults", sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
