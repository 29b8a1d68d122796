#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""jvms.py [--build DIRECTORY] [--jdks DIRECTORY] [--only 26,27] [--ways REGEX] [--update]: traces small programs in
each JVM of this computer, and in those of a directory that scripts/jdks.sh made, and prints two tables (--update: into
docs/jvms.md, where the rows of other JDKs and ways stay):

- objects: a program with known counts of objects, new ones each time (--seed N), with each collector and both engines;
- ways: a program in each of the ways that a JVM has, with both engines: what `steptrace check` says, and which of the
  JVM's insides were used (`steptrace info`, property internals).
"""
import argparse
import glob
import json
import os
import pathlib
import random
import re
import subprocess
import tempfile
import zipfile

TOP = pathlib.Path(__file__).resolve().parent.parent
WAYS_PROGRAM = """
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
# Of each class as many objects as its word says, made in as many ways; half of the last one are dropped and collected.
KNOWN_PROGRAM = """
import java.lang.invoke.*;
import java.lang.ref.WeakReference;
import java.util.*;
public class Known {
    static class Plain { int a; }
    static class Copied implements Cloneable { long b; Copied copy() throws Exception { return (Copied) super.clone(); } }
    static class Reflected { public Reflected() {} }
    static class Handled { public Handled() {} }
    static class Threaded { Object c; }
    static class Thrown extends RuntimeException {}
    static class Element {}
    static class Kept { int d, e; }
    static class Dropped { int f, g; }
    record Point(int x, int y) {}
    static volatile Object sink;
    static final List<Object> kept = new ArrayList<>();

    static void some(int[] n) throws Throwable {
        for (int i = 0; i < n[0]; i++)
            sink = new Plain();
        Copied first = new Copied();
        for (int i = 1; i < n[1]; i++)
            sink = first.copy();
        var constructor = Reflected.class.getConstructor();
        for (int i = 0; i < n[2]; i++)
            sink = constructor.newInstance();
        MethodHandle handle = MethodHandles.lookup().findConstructor(Handled.class, MethodType.methodType(void.class));
        for (int i = 0; i < n[3]; i++)
            sink = (Handled) handle.invokeExact();
        for (int i = 0; i < n[5]; i++)
            try {
                throw new Thrown();
            } catch (Thrown thrown) {
                sink = thrown;
            }
        for (int i = 0; i < n[6]; i++)
            sink = new Element[i % 7];
        for (int i = 0; i < n[7]; i++)
            sink = new Element[2][3][i % 5];
        int sum = 0;
        for (int i = 0; i < n[8]; i++) {
            Point point = new Point(i, 1);
            sink = point;
            sum += point.x() + point.y();
        }
        System.out.println(sum);
    }

    static void die(int count, List<Object> list) {
        for (int i = 0; i < count; i++)
            list.add(list == kept ? new Kept() : new Dropped());
    }

    public static void main(String[] words) throws Throwable {
        int[] n = Arrays.stream(words).mapToInt(Integer::parseInt).toArray();
        Thread[] threads = new Thread[4];
        for (int t = 0; t < threads.length; t++) {
            threads[t] = new Thread(() -> {
                for (int i = 0; i < n[4]; i++)
                    sink = new Threaded();
            });
            threads[t].start();
        }
        some(n);
        for (Thread thread : threads)
            thread.join();
        die(n[9], kept);
        die(n[10], new ArrayList<>());
        sink = null;
        WeakReference<Object> last = new WeakReference<>(new int[3]);
        for (int round = 0; round < 4; round++) {
            while (round == 0 && !last.refersTo(null))
                System.gc();
            System.gc();
            Thread.sleep(50);
        }
        System.out.println(kept.size());
    }
}
"""
# The class, its factor of objects a number on the command line, and which number it is.
KNOWN = [("Known$Plain", 1, 0), ("Known$Copied", 1, 1), ("Known$Reflected", 1, 2), ("Known$Handled", 1, 3),
         ("Known$Threaded", 4, 4), ("Known$Thrown", 1, 5), ("[LKnown$Element;", 6, 7), ("[[LKnown$Element;", 2, 7),
         ("[[[LKnown$Element;", 1, 7), ("Known$Point", 1, 8), ("Known$Kept", 1, 9), ("Known$Dropped", 1, 10)]
COLLECTORS = ("Serial", "Parallel", "G1", "Z", "Shenandoah")
AOT = "-XX:AOTCache=made.aot -XX:AOTMode=on"
WAYS = [  # flags, what is another by them; "" is the JVM as it starts
    "", "-Xint", "-Xcomp", "-XX:TieredStopAtLevel=1", "-Xshare:off", "-XX:-UseCompressedOops",
    "-XX:-UseCompressedClassPointers", "-XX:+UseCompactObjectHeaders", "-XX:-UseCompactObjectHeaders",
    "-XX:ObjectAlignmentInBytes=16", "-XX:ObjectAlignmentInBytes=32", "-XX:+UseSerialGC", "-XX:+UseParallelGC",
    "-XX:+UseZGC", "-XX:+UseZGC -XX:+ZGenerational", "-XX:+UseShenandoahGC",
    "-XX:+UnlockExperimentalVMOptions -XX:+UseShenandoahGC -XX:ShenandoahGCMode=generational",
    "-XX:AOTMode=record -XX:AOTConfiguration=run.conf", "-XX:AOTCacheOutput=run.aot", AOT,
    f"{AOT} -XX:+UnlockDiagnosticVMOptions -XX:+AOTStubCaching -XX:+AOTAdapterCaching",
    "--sun-misc-unsafe-memory-access=deny", "-zero", "-zero -Xshare:off",
]


class Jvm:
    """A JDK, the command that runs a command where it lies, and what `release` says its version is."""

    def __init__(self, prefix, home, version):
        self.prefix, self.home, self.version = prefix, home, version

    def tool(self, name):
        return [*self.prefix, f"{self.home}/bin/{name}"]


def jvms(directory):
    """Each feature version once; those in /usr/lib/jvm come first."""
    found = {}
    for base, prefix in [("", [])] + ([(directory, [str(TOP / "scripts/jdks.sh"), "run", directory])] if directory else []):
        for home in sorted({os.path.realpath(h) for h in glob.glob(base + "/usr/lib/jvm/*")}):
            if os.path.exists(home + "/bin/javac") and os.path.exists(home + "/release"):
                with open(home + "/release", encoding="utf-8") as file:
                    version = re.search(r'JAVA_VERSION="(\d+)', file.read())
                if version and int(version[1]) >= 17:
                    found.setdefault(int(version[1]), Jvm(prefix, home[len(base):], int(version[1])))
    return [found[version] for version in sorted(found)]


def run(command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300,
                          check=False, **more)


def vm_of(jvm, flags, work):
    """What -version says the VM is, or None where it does not take the flags."""
    done = run([*jvm.tool("java"), *flags, "-cp", "programs.jar", "-version"], cwd=work)
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
    """What was printed; the JVM's own log (which it prints on standard output) without its uptime, and without the
    command line of the JVM that makes an AOT cache, which has the agent in it, and the cache's size."""
    return [re.sub(r"^\[\d+\.\d+s\]", "[uptime]", re.sub(r" \d+ bytes$", "", line)) for line in text.splitlines()
            if not line.startswith(("Launching child process", "Picked up JAVA_TOOL_OPTIONS", "NOTE: Picked up"))]


def compared(untraced, traced):
    """How the traced run's output differs."""
    if (traced.returncode, lines(traced.stdout)) != (untraced.returncode, lines(untraced.stdout)):
        return f"another: {traced.stdout.strip()[:60]!r}"
    more = len(lines(traced.stderr)) - len(lines(untraced.stderr))
    return "same" if lines(traced.stderr) == lines(untraced.stderr) else f"same, and {more} line on stderr"


def prepare(jvm, work):
    """The programs as this JDK compiles them, in a jar; an AOT cache, where it makes any."""
    for name, text in (("Ways", WAYS_PROGRAM), ("Known", KNOWN_PROGRAM)):
        (work / f"{name}.java").write_text(text, encoding="utf-8")
    for file in work.glob("*.class"):
        file.unlink()
    subprocess.run([*jvm.tool("javac"), "-Xlint:none", "Ways.java", "Known.java"], cwd=work, check=True)
    with zipfile.ZipFile(work / "programs.jar", "w") as jar:
        for path in sorted(work.glob("*.class")):
            jar.write(path, path.name)
    (work / "made.aot").unlink(missing_ok=True)
    run([*jvm.tool("java"), "-XX:AOTCacheOutput=made.aot", "-cp", "programs.jar", "Ways"], cwd=work)


def rows_of_ways(jvm, build, work, wanted):
    steptrace, agent = str(build / "converter/steptrace"), str(build / "agent/libtracer.so")
    trace = work / "run.step"
    for way in WAYS:
        flags = way.split()
        if not re.search(wanted, way):
            continue
        version = vm_of(jvm, flags, work)
        if version is None or any("ignor" in line for line in version):
            continue
        untraced = run([*jvm.tool("java"), *flags, "-cp", "programs.jar", "Ways"], cwd=work)
        name = re.search(r'version "([^"]+)"', "\n".join(version))[1]
        vm = next((line for line in version if " VM " in line and "warning" not in line), "?").split(" (")[0]
        for engine in ("bytecode", "jvmti"):
            trace.unlink(missing_ok=True)
            done = run([*jvm.tool("java"), *flags,
                        f"-agentpath:{agent}=file={trace},engine={engine},finish=10min,stack=4", "-cp",
                        "programs.jar", "Ways"], cwd=work)
            said, internals = verdict(steptrace, str(trace))
            yield f"| {name}, {vm} | `{way or '(none)'}` | {engine} | {compared(untraced, done)} | {said} | {internals} |"


def faults_of(steptrace, trace, numbers):
    """Of which classes the trace has more or less objects than there were, or other deaths."""
    done = run([steptrace, "check", trace])
    if done.returncode != 0:
        return [f"check: status {done.returncode}"]
    classes = {row["name"]: row for row in json.loads(run([steptrace, "stats", "--json", "--top=0", trace]).stdout)["classes"]}
    faults = []
    for name, factor, which in KNOWN:
        row = classes.get(name, {"allocated_objects": 0, "freed_objects": 0})
        wanted = factor * numbers[which] + (numbers[6] if name == "[LKnown$Element;" else 0)
        dead = {"Known$Kept": 0, "Known$Dropped": wanted}.get(name, row["freed_objects"])
        if (row["allocated_objects"], row["freed_objects"]) != (wanted, dead):
            faults.append(f"{row['allocated_objects']} `{name}`, not {wanted}; {row['freed_objects']} freed")
    return faults


def row_of_objects(jvm, collector, build, work, numbers):
    steptrace, agent = str(build / "converter/steptrace"), str(build / "agent/libtracer.so")
    flags = [f"-XX:+Use{collector}GC", "-Xmx256m"]
    if vm_of(jvm, flags, work) is None:
        return None
    words = [str(number) for number in numbers]
    bare = run([*jvm.tool("java"), *flags, "-cp", "programs.jar", "Known", *words], cwd=work)
    cells = []
    for engine in ("bytecode", "jvmti"):
        trace = work / "run.step"
        trace.unlink(missing_ok=True)
        done = run([*jvm.tool("java"), *flags, f"-agentpath:{agent}=file={trace},engine={engine},finish=10min", "-cp",
                    "programs.jar", "Known", *words], cwd=work)
        faults = faults_of(steptrace, str(trace), numbers)
        if (done.returncode, done.stdout) != (bare.returncode, bare.stdout):
            faults.append(f"exit status {done.returncode}")
        cells.append("exact" if not faults else "wrong: " + ", ".join(faults))
    return f"| {jvm.version} | {collector} | {cells[0]} | {cells[1]} |"


def objects_of(jvm, chance, build, work):
    for collector in COLLECTORS:
        numbers = [chance.randrange(1, 20000) for _ in range(11)]
        numbers[5] %= 500
        row = row_of_objects(jvm, collector, build, work, numbers)
        if row is not None:
            yield row


def shown(rows):
    """The rows, each printed as soon as it is known."""
    for row in rows:
        print(row, flush=True)
        yield row


def key_of(row):
    """The JDK, and the place of the way or collector among all: the order of rows, and what a row is replaced by."""
    cells = row.split(" | ")
    way = cells[1].strip("`").replace("(none)", "")
    places = [*COLLECTORS, *WAYS]
    return int(re.match(r"\| (\d+)", row)[1]), places.index(way) if way in places else len(places), row.count("| jvmti |")


def put_rows(text, head, rows):
    """The page with these rows in the table that begins so; rows of other JDKs and ways stay."""
    table = re.search(re.escape(head) + r"[^\n]*\n\|[-|]*\n((?:\|[^\n]*\n)*)", text)
    merged = {key_of(row): row for row in [*table[1].splitlines(), *rows]}
    return text[:table.start(1)] + "".join(merged[key] + "\n" for key in sorted(merged)) + text[table.end(1):]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=TOP / "build")
    parser.add_argument("--jdks", default=os.environ.get("STEPTRACE_JDKS", ""), help="made by scripts/jdks.sh")
    parser.add_argument("--only", default="", help="JDKs, by their feature versions")
    parser.add_argument("--ways", default="", help="those that this regular expression finds")
    parser.add_argument("--seed", type=int, default=None, help="of the counts of objects")
    parser.add_argument("--update", action="store_true")
    args = parser.parse_args()
    build, chance, page = args.build.resolve(), random.Random(args.seed), TOP / "docs/jvms.md"
    for jvm in jvms(args.jdks):
        if args.only and str(jvm.version) not in args.only.split(","):
            continue
        with tempfile.TemporaryDirectory(prefix="steptrace-jvms.") as name:
            work = pathlib.Path(name)
            prepare(jvm, work)
            for head, rows in (("| JDK | collector", objects_of(jvm, chance, build, work)),
                               ("| JVM | flags", rows_of_ways(jvm, build, work, args.ways))):
                known = list(shown(rows))
                if args.update:
                    page.write_text(put_rows(page.read_text(encoding="utf-8"), head, known), encoding="utf-8")


if __name__ == "__main__":
    main()
