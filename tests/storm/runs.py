# SPDX-License-Identifier: Apache-2.0
"""One run of a program: its end is waited for, its output kept; a JVM that hangs tells where, one
that crashed is found out; and what its trace is worth."""
import dataclasses
import os
import pathlib
import resource
import subprocess
import time

DUMP_SECONDS = 20
LOOK_SECONDS = 30
AT_WORK = 0.007  # processors: less has a JVM that hangs
MOST_PATIENCE = 10


class Fault(Exception):
    """What is wrong."""


class Skip(Exception):
    """Why this cannot be run here."""


@dataclasses.dataclass
class Outcome:
    status: int
    out: bytes
    err: bytes

    def tail(self):
        return shown(self.out) + shown(self.err)


def shown(data):
    text = data.decode(errors="replace")
    return text if len(text) < 2400 else text[:1200] + "\n...\n" + text[-1200:]


def limiter(limits):
    """Sets limits in the child, as `ulimit` does; no run leaves a core file."""
    def apply():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for limit, value in limits.items():
            resource.setrlimit(limit, (value, value))
    return apply


def start(command, directory, limits=None, env=None):
    """Runs a program with stdin and stdout to talk to; stderr goes to the file of that name."""
    with open(pathlib.Path(directory) / "stderr", "wb") as errors:
        return subprocess.Popen(command, bufsize=0, stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=errors, cwd=directory, env=env,
                                preexec_fn=limiter(limits or {}))


def dump_threads(machine, process, directory):
    """Where a JVM hangs, as far as it answers; then its native stacks, as far as the kernel tells."""
    report = []
    for command in ([machine.tool("jstack"), "-l", str(process.pid)],
                    ["jattach", str(process.pid), "threaddump"]):
        try:
            report.append(subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                         timeout=DUMP_SECONDS, check=False).stdout)
        except (subprocess.TimeoutExpired, FileNotFoundError) as odd:
            report.append(f"{command}: {odd}\n".encode())
    for task in sorted(pathlib.Path(f"/proc/{process.pid}/task").glob("*")):
        try:
            report.append(f"{task.name} {(task / 'comm').read_text().strip()} "
                          f"{(task / 'wchan').read_text()}\n".encode())
        except OSError:
            continue
    path = pathlib.Path(directory) / "hang.txt"
    path.write_bytes(b"\n".join(report))
    return path


def processor_seconds(process):
    try:
        fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait(process, timeout, text):
    """What it says until its end.  On a machine that has little time for it, it gets more, as long as
    it is at work and has not had the processor for those seconds yet."""
    end = time.monotonic() + MOST_PATIENCE * timeout
    try:
        return process.communicate(text, timeout=timeout)[0]
    except subprocess.TimeoutExpired as late:
        used = processor_seconds(process)
        while used < timeout and time.monotonic() < end:
            try:
                return process.communicate(timeout=LOOK_SECONDS)[0]
            except subprocess.TimeoutExpired:
                before, used = used, processor_seconds(process)
                if used - before < AT_WORK * LOOK_SECONDS:
                    break
        raise late


def finish(process, machine, directory, timeout, text=b""):
    """Its outcome, once it has ended by itself."""
    begin = time.monotonic()
    try:
        out = wait(process, timeout, text)
    except subprocess.TimeoutExpired as late:
        path = dump_threads(machine, process, directory)
        used = processor_seconds(process)
        process.kill()
        process.communicate()
        raise Fault(f"no end after {time.monotonic() - begin:.0f} s, {used:.1f} s of them at work: "
                    f"{path} tells of its threads\n"
                    + shown((pathlib.Path(directory) / "stderr").read_bytes())) from late
    outcome = Outcome(process.returncode, out, (pathlib.Path(directory) / "stderr").read_bytes())
    refuse_crash(directory)
    return outcome


def refuse_crash(directory):
    """A crash leaves its report: what crashed, and in which frames."""
    frames = ("Current thread", "Current CompileTask", "C  ", "V  ", "J ", "j ", "C2:", "C1:")
    for path in pathlib.Path(directory).glob("hs_err*"):
        lines = path.read_text(errors="replace").splitlines()
        raise Fault("\n".join([f"the JVM crashed, {path}", *lines[3:9],
                               *[line for line in lines if line.startswith(frames)][:24]]))


class Trace:
    """The trace of a run, as `steptrace check` judges it."""

    def __init__(self, steptrace, path):
        self.path = pathlib.Path(path)
        result = subprocess.run([steptrace, "check", str(path)], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, check=False, timeout=600)
        self.status, self.words = result.returncode, (result.stdout + result.stderr).decode()
        self.is_closed = self.status == 0 and result.stdout.endswith(b": closed\n")
        self.is_true = self.is_closed or self.status == 3 and self.is_only_cut(result.stdout)

    @staticmethod
    def is_only_cut(said):
        """Nothing is wrong but that it ends early."""
        return b": no breach in the part that could be read" in said

    def require_closed(self):
        if not self.is_closed:
            raise Fault(f"{self.path} is not closed:\n{shown(self.words.encode())}")

    def require_true(self):
        """Closed, or cut and saying so, without a breach."""
        if not self.is_true:
            raise Fault(f"{self.path}, check ends with {self.status}:\n"
                        f"{shown(self.words.encode())}")
