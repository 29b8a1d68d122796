#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""jvms.py [--build DIRECTORY] [--update]: traces a small program in each JVM of this computer, in each of its
ways, with both engines, and prints what came of it as a table (--update: into docs/jvms.md): what `steptrace
check` says, and which of the JVM's insides were used (`steptrace info`, property internals).
"""
import argparse
import glob
import json
import os
import pathlib
import re
import subprocess
import tempfile

TOP = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = """
import java.util.*;
public class Ways {
    public static void main(String[] words) throws Exception {
        Map<String, Integer> counts = new HashMap<>();
        Thread thread = new Thread(() -> counts.put("thread", new int[10].length));
        thread.start();
        thread.join();
        for (int i = 0; i < 30000; i++)
            counts.merge("word" + i % 100, 1, Integer::sum);
        System.gc();
        System.out.println(counts.size());
    }
}
"""
WAYS = [  # flags, what is another by them; "" is the JVM as it starts
    "", "-Xint", "-Xcomp", "-XX:TieredStopAtLevel=1", "-Xshare:off", "-XX:-UseCompressedOops",
    "-XX:-UseCompressedClassPointers", "-XX:+UseCompactObjectHeaders", "-XX:ObjectAlignmentInBytes=16",
    "-XX:+UseSerialGC", "-XX:+UseParallelGC", "-XX:+UseZGC", "-XX:+UseShenandoahGC", "-zero", "-zero -Xshare:off",
]


def jvms():
    for home in sorted({os.path.realpath(h) for h in glob.glob("/usr/lib/jvm/*")}):
        java = home + "/bin/java"
        if os.path.exists(java) and os.path.exists(home + "/release"):
            with open(home + "/release", encoding="utf-8") as file:
                version = re.search(r'JAVA_VERSION="(\d+)', file.read())
            if version and int(version[1]) >= 17:
                yield java


def run(command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300,
                          check=False, **more)


def vm_of(java, flags):
    """What -version says the VM is, or None where it does not take the flags."""
    done = run([java, *flags, "-version"])
    return done.stderr.splitlines() if done.returncode == 0 else None


def verdict(steptrace, trace):
    done = run([steptrace, "check", "--json", trace])
    try:
        said = json.loads(done.stdout)
    except ValueError:
        return "no trace", ""
    said_of = json.loads(run([steptrace, "info", "--json", trace]).stdout)
    return f"{said['verdict']}, {said['count']:,} events", said_of["properties"].get("internals", "")


def lines(text):
    """What was printed; the JVM's own log (which it prints on standard output) without its uptime."""
    return [re.sub(r"^\[\d+\.\d+s\]", "[uptime]", line) for line in text.splitlines()]


def compared(untraced, traced):
    """How the traced run's output differs."""
    if (traced.returncode, lines(traced.stdout)) != (untraced.returncode, lines(untraced.stdout)):
        return f"another: {traced.stdout.strip()[:60]}"
    more = len(lines(traced.stderr)) - len(lines(untraced.stderr))
    return "same" if lines(traced.stderr) == lines(untraced.stderr) else f"same, and {more} line on stderr"


def rows(build, work):
    steptrace, agent = str(build / "converter/steptrace"), str(build / "agent/libtracer.so")
    (work / "Ways.java").write_text(PROGRAM, encoding="utf-8")
    for java in jvms():
        subprocess.run([os.path.dirname(java) + "/javac", "-d", str(work), str(work / "Ways.java")], check=True)
        for way in WAYS:
            flags = way.split()
            version = vm_of(java, flags)
            if version is None or any("ignoring" in line for line in version):
                continue
            untraced = run([java, *flags, "-cp", str(work), "Ways"])
            name = re.search(r'version "([^"]+)"', "\n".join(version))[1]
            vm = next((line for line in version if " VM " in line and "warning" not in line), "?").split(" (")[0]
            for engine in ("bytecode", "jvmti"):
                trace = str(work / "run.step")
                pathlib.Path(trace).unlink(missing_ok=True)
                done = run([java, *flags, f"-agentpath:{agent}=file={trace},engine={engine},finish=10min,stack=4", "-cp",
                            str(work), "Ways"])
                said, internals = verdict(steptrace, trace)
                yield f"| {name}, {vm} | `{way or '(none)'}` | {engine} | {compared(untraced, done)} | {said} | {internals} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=TOP / "build")
    parser.add_argument("--update", action="store_true")
    args = parser.parse_args()
    head = ["| JVM | flags | engine | output | `steptrace check` | internals |", "|---|---|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as work:
        table = "\n".join(head + list(rows(args.build.resolve(), pathlib.Path(work)))) + "\n"
    print(table, end="")
    if args.update:
        page = TOP / "docs/jvms.md"
        text = page.read_text(encoding="utf-8")
        page.write_text(re.sub(r"\| JVM \| flags.*?\n(?!\|)", table, text, flags=re.S), encoding="utf-8")


if __name__ == "__main__":
    main()
