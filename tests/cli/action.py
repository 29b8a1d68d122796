#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""action.py STEPTRACE ACTION DATA: the steps of action.yml, run as GitHub documents it: a file for each step, `bash --noprofile --norc
-eo pipefail`, the variables GITHUB_... and RUNNER_TEMP, and what a step writes to GITHUB_PATH and GITHUB_OUTPUT.  No runner is needed.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile


def steps_of(text):
    """The steps of a composite action that is laid out as ours."""
    for part in re.split(r"^    - ", text.split("\n  steps:\n")[1], flags=re.M)[1:]:
        script = re.search(r"^      run: \|\n((?:        .*\n|\n)*)", part, re.M)[1]
        environment = re.search(r"^      env:\n((?:        .*\n)*)", part, re.M)
        yield {"name": re.search(r"^name: (.*)", part)[1], "id": (re.search(r"^      id: (.*)", part, re.M) or [None, None])[1],
               "env": dict(re.findall(r"^        (\w+): (.*)$", environment[1], re.M)), "shell": re.search(r"^      shell: (.*)", part, re.M)[1],
               "run": re.sub(r"^        ", "", script, flags=re.M)}


def defaults_of(text):
    inputs = text.split("\ninputs:\n")[1].split("\noutputs:\n")[0]
    return {name: value.strip('"') for name, value in re.findall(r"^  (\w+):\n(?:    (?!default).*\n)*    default: (.*)$", inputs, re.M)}


class Runner:
    """A workspace, and what steps leave behind."""

    def __init__(self, action, workspace, temporary, **variables):
        self.text = pathlib.Path(action).read_text(encoding="utf-8")
        self.workspace, self.temporary, self.path, self.outputs, self.log = workspace, temporary, [], {}, ""
        self.files = {name: temporary / name for name in ("GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_STEP_SUMMARY")}
        self.variables = dict(os.environ, CI="true", GITHUB_ACTIONS="true", GITHUB_WORKSPACE=str(workspace), RUNNER_TEMP=str(temporary),
                              **{"GITHUB_BASE_REF": "", **variables})

    def value(self, text, inputs):
        return re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: inputs[found[1]], text)

    def run(self, **given):
        """The status of the first step that fails, or 0."""
        inputs = {**defaults_of(self.text), **given}
        for step in steps_of(self.text):
            assert step["shell"] == "bash" and "${{" not in step["run"], step["name"]
            for path in self.files.values():
                path.touch()
            script = self.temporary / "step.sh"
            script.write_text(step["run"], encoding="utf-8")
            environment = {**self.variables, **{name: str(path) for name, path in self.files.items()},
                           **{name: self.value(text, inputs) for name, text in step["env"].items()},
                           "PATH": ":".join([*reversed(self.path), self.variables["PATH"]])}
            done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", script], cwd=self.workspace, env=environment,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=120)
            self.log += done.stdout.decode(errors="replace")
            self.path += self.files["GITHUB_PATH"].read_text().splitlines()
            self.outputs.update(line.split("=", 1) for line in self.files["GITHUB_OUTPUT"].read_text().splitlines())
            self.files["GITHUB_PATH"].write_text("")
            if done.returncode != 0:
                return done.returncode
        return 0

    def commands(self):
        return [line for line in self.log.splitlines() if line.lstrip().startswith("::") or "##[" in line]


def git(directory, *words):
    subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main", *words], cwd=directory,
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Test:
    def __init__(self, steptrace, action, data, scratch):
        self.steptrace, self.action, self.data, self.scratch = steptrace, action, pathlib.Path(data).resolve(), scratch
        self.faults = []
        self.tarball = scratch / "with blank.tar.gz"
        with tarfile.open(self.tarball, "w:gz") as file:
            file.add(steptrace, "steptrace-1/bin/steptrace")
        self.origin = scratch / "origin"
        self.origin.mkdir()
        git(self.origin, "init", "-q")
        self.commit("phases-17.step", "--phase=Phases.*")

    def commit(self, trace, *options):
        subprocess.run([self.steptrace, "gate", self.data / trace, "--snapshot=allocations.snap", "--update", "-q", *options], check=True,
                       cwd=self.origin)
        git(self.origin, "add", "-A")
        git(self.origin, "commit", "-qm", "snapshot")

    def case(self, name, trace, status, base="", **inputs):
        """A clone in which the action runs."""
        workspace, temporary = self.scratch / f"{name} work", self.scratch / f"{name} temp"
        git(self.scratch, "clone", "-q", self.origin, workspace)
        temporary.mkdir()
        runner = Runner(self.action, workspace, temporary, **({"GITHUB_BASE_REF": base} if base else {}))
        shutil.copy(self.data / trace, temporary / "recorded")
        found = runner.run(**{"tarball": str(self.tarball), "run": f"cp '{temporary}/recorded' run.step\ntest -e run.step",
                              "options": "--phase=Phases.*", **inputs})
        if found != status:
            self.faults.append(f"{name}: status {found}, not {status}: {runner.log}")
        return runner

    def expect(self, name, what, holds, shown):
        if not holds:
            self.faults.append(f"{name}: {what}: {shown}")

    def run(self):
        same = self.case("same", "phases-17.step", 0)
        self.expect("same", "a command", not same.commands(), same.log)
        comment = pathlib.Path(same.outputs["comment"]).read_text()
        self.expect("same", "the comment", "4 of 4 pass" in comment and "base branch" not in comment, comment)
        self.expect("same", "the SARIF", '"results": []' in pathlib.Path(same.outputs["sarif"]).read_text(), same.outputs)

        more = self.case("more", "phases-17-more.step", 4, base="main")
        self.expect("more", "annotations", len(more.commands()) == 1 and re.match(
            r"::error file=allocations.snap,line=2,title=Phases.checkout::  \+3 objects, \+48 bytes%0A", more.commands()[0]), more.log)
        comment = pathlib.Path(more.outputs["comment"]).read_text()
        self.expect("more", "the comment", comment.count("+3 objects") == 2 and "base branch" in comment, comment)
        summary = more.files["GITHUB_STEP_SUMMARY"].read_text()
        self.expect("more", "the summary", summary.count("3 of 4 pass") == 1, summary)

        git(self.origin, "checkout", "-qb", "change")
        self.commit("phases-17-more.step", "--phase=Phases.*")
        meant = self.case("meant", "phases-17-more.step", 0, base="main")
        comment = pathlib.Path(meant.outputs["comment"]).read_text()
        self.expect("meant", "the comment", "4 of 4 pass" in comment and comment.count("+3 objects") == 1, comment)
        self.expect("meant", "annotations", not meant.commands(), meant.log)

        hostile = self.case("hostile", "phases-25.step", 4, options="")
        self.expect("hostile", "annotations", len(hostile.commands()) == 10 and all(
            line.startswith("::error file=allocations.snap,line=") for line in hostile.commands()), hostile.log)
        self.case("damaged", "../bad_line.txt", 3)
        self.case("tolerant", "phases-17.step", 0, options="--phase=Phases.*\n--objects=3\n--bytes=48\n")
        self.case("no trace", "phases-17.step", 1, traces="none*.step")
        self.case("hostile inputs", "phases-17.step", 1, traces="$(touch owned)\n-q; touch owned")
        self.case("failing", "phases-17.step", 7, run="exit 7")
        self.case("failing early", "phases-17.step", 1, run="false\ntrue")
        self.case("option", "phases-17.step", 2, options="--nonsense $(touch owned)")
        self.case("no base", "phases-17.step", 4, base="-none $(touch owned)")
        self.expect("hostile inputs", "owned", not list(self.scratch.rglob("owned")), "")


def main(steptrace, action, data):
    with tempfile.TemporaryDirectory() as scratch:
        test = Test(os.path.realpath(steptrace), action, data, pathlib.Path(scratch))
        test.run()
    print(*test.faults, f"{len(test.faults)} faults", sep="\n")
    return 1 if test.faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
