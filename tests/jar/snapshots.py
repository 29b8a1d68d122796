#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""snapshots.py JDK JAR CLASSES CLASS_PATH: @AllocationSnapshot, as a project uses it: no file, the file written,
compared, changed, of another JDK, damaged; what a reviewer sees under GitHub Actions.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import junit_limits

EXACT = "limits.Snapshots.exact"
VARYING = "limits.Snapshots.varying"


class Project:
    """A directory with a snapshot, and the tests."""

    def __init__(self, arguments, scratch):
        self.arguments, self.scratch = arguments, scratch
        self.snapshot = scratch / "allocations.snap"
        self.summary = scratch / "summary"
        source = scratch / "src/test/java/limits/Snapshots.java"
        source.parent.mkdir(parents=True)
        source.touch()
        self.faults = []

    def run(self, *words, reviewed=False):
        """Messages of tests by name (None: passed), and what the JVM printed."""
        reports = pathlib.Path(tempfile.mkdtemp(dir=self.scratch))
        (reports / "tmp").mkdir()
        environment = dict(os.environ, GITHUB_ACTIONS="true" if reviewed else "false", GITHUB_STEP_SUMMARY=str(self.summary),
                           GITHUB_WORKSPACE=str(self.scratch.parent))
        run = subprocess.run([*junit_limits.command(*self.arguments, reports, *words), "-c", "limits.Snapshots"],
                             capture_output=True, text=True, check=False, cwd=self.scratch, env=environment, timeout=300)
        if not (reports / "TEST-junit-jupiter.xml").exists():
            sys.exit(f"JUnit did not run: {run.stdout}{run.stderr}")
        return dict(junit_limits.outcomes(reports)), run.stdout

    def expect(self, what, results, **wanted):
        """A part of the message by test; all others pass."""
        for name, message in results.items():
            part = wanted.get(name)
            if (message is None) != (part is None) or (part is not None and part not in message):
                self.faults.append(f"{what}: {name}: {message}, not {part!r}")


def try_all(project):
    fresh = dict.fromkeys(("exact", "repeated", "overloaded", "inherited", "nothing", "lambda", "varying", "tolerant"), "there is no allocations.snap")
    project.expect("no file", project.run()[0], **fresh)
    project.expect("written", project.run("-Dsteptrace.update=true")[0], varying="a second call differs: 3, then 4 java.lang.Object")
    text = project.snapshot.read_text()
    lines = text.splitlines()
    jdk = re.search(r"exact \[(\d+)\]", text)[1]
    wanted = [f"{EXACT} [{jdk}]: 4 objects, 104 bytes: 1 int[], 3 java.lang.Object",
              f"limits.Snapshots.nothing [{jdk}]: 0 objects, 0 bytes",
              f"limits.Snapshots.lambda [{jdk}]: 1 object, 16 bytes: 1 limits.Snapshots$$Lambda",
              f"limits.Snapshots.overloaded [{jdk}]: 1 object, 16 bytes: 1 java.lang.Object",
              f"limits.Snapshots.overloaded(int)#1 [{jdk}]: 2 objects, 32 bytes: 2 java.lang.Object",
              f"limits.Snapshots.inherited [{jdk}]: 1 object, 16 bytes: 1 java.lang.Object",
              f"limits.Snapshots.repeated#1 [{jdk}]: 1 object, 16 bytes: 1 java.lang.Object"]
    project.faults += [f"no {line!r} in\n{text}" for line in wanted if line not in lines]
    if lines[1:] != sorted(lines[1:]) or len(lines) != 11:
        project.faults.append(f"not sorted, or not 10 lines:\n{text}")
    results, output = project.run()
    project.expect("compared", results, **({"varying": "allocates"} if results["varying"] else {}))
    if "::error" in output:
        project.faults.append("an annotation without GitHub Actions")
    first = project.scratch / "first"
    os.link(project.snapshot, first)
    project.snapshot.chmod(0o640)
    again = project.run("-Dsteptrace.update=true")
    if first.read_text() != text or project.snapshot.stat().st_mode & 0o777 != 0o640:
        project.faults.append("a new line is written into the old file, which an end of the JVM would lose, or the mode changes")
    stable = [line for line in project.snapshot.read_text().splitlines() if "varying" not in line and "tolerant" not in line]
    if stable != [line for line in lines if "varying" not in line and "tolerant" not in line]:
        project.faults.append(f"written again, it differs:\n{project.snapshot.read_text()}\n{again}")
    reviewed(project)
    hostile(project)
    other_jdks(project, jdk)


def reviewed(project):
    """One object more: the message, the annotation and the summary."""
    results, output = project.run("-Dsnapshots.objects=4", reviewed=True)
    message = "allocates 5 objects, 120 bytes: 4 java.lang.Object, 1 int[]"
    if message not in (results["exact"] or "") or "has 4 objects, 104 bytes" not in results["exact"]:
        project.faults.append(f"one object more: {results['exact']}")
    if not re.search(r"^::error file=module/src/test/java/limits/Snapshots.java,line=\d+,title=limits.Snapshots.exact::.*%0A", output,
                     re.MULTILINE):
        project.faults.append(f"no annotation in\n{output}")
    if message not in project.summary.read_text():
        project.faults.append(f"the summary has {project.summary.read_text()}")


def other_jdks(project, jdk):
    """A line of other JDKs holds for this one, unless there are two; a damaged line is a fault."""
    def change(new):
        text = project.snapshot.read_text()
        project.snapshot.write_text(re.sub(r"limits.Snapshots.exact .*\n", new, text))
        return project.run()[0]["exact"]

    one = f"{EXACT} [8]: 4 objects, 104 bytes: 1 int[], 3 java.lang.Object\n"
    if change(one) is not None:
        project.faults.append("the line of another JDK does not hold")
    two = one + one.replace("[8]", "[9]").replace("104", "105")
    if "and none of JDK" not in (change(two) or ""):
        project.faults.append("two lines of other JDKs hold")
    project.run("-Dsteptrace.update=true")
    if f"{EXACT} [8 {jdk}]: 4 objects, 104" not in project.snapshot.read_text():
        project.faults.append(f"the JDK is not with its line:\n{project.snapshot.read_text()}")
    if "allocations.snap:2: not a line" not in (change(f"{EXACT} [x]: nonsense\n") or ""):
        project.faults.append(f"a damaged line: {change('')}")
    if "a second line of limits.Snapshots.exact for JDK 8" not in (change(one + one.replace("104", "105")) or ""):
        project.faults.append("two lines of a JDK are taken")
    if "JDK 8 twice" not in (change(one.replace("[8]", "[8 8]")) or ""):
        project.faults.append("a JDK twice in a line is taken")


def hostile(project):
    """Line ends of another system pass; what is no file is refused, and a test never waits for it."""
    project.snapshot.write_bytes(project.snapshot.read_bytes().replace(b"\n", b"\r\n"))
    results, _ = project.run()
    if results["exact"] is not None:
        project.faults.append(f"with CR: {results['exact']}")
    text = project.snapshot.read_text()
    project.snapshot.unlink()
    os.mkfifo(project.snapshot)
    for words in ((), ("-Dsteptrace.update=true",)):
        results, _ = project.run(*words)
        if "no regular file" not in (results["exact"] or ""):
            project.faults.append(f"a FIFO: {results['exact']}")
    project.snapshot.unlink()
    project.snapshot.write_text(text)


def main(arguments):
    with tempfile.TemporaryDirectory() as scratch:
        module = pathlib.Path(scratch, "module")
        module.mkdir()
        project = Project(arguments, module)
        try_all(project)
    print(*project.faults, f"{len(project.faults)} faults", sep="\n")
    return 1 if project.faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
