#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""watch.py STEPTRACE AGENT JAVA_HOME: watches a JVM that runs: by its number, as JSON, and on a terminal (tmux; without
it that part is left out): keys, other sizes, no colours, and a JVM that is killed meanwhile.  A program of two phases
makes a class in the first only: later looks have its exact sums, no sum of any look falls or exceeds the trace's.
--phase selects what a phase of the program has while it is open and after it."""
import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

STEPTRACE, AGENT, HOME = (os.path.abspath(path) for path in sys.argv[1:4])
HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = """
public class Ticker {
    static java.util.List<byte[]> kept = new java.util.ArrayList<>();
    static Object made;
    public static void main(String[] arguments) throws Exception {
        for (;;) {
            for (int i = 0; i < 500; i++)
                made = new byte[24];
            if (kept.size() < 5000)
                kept.add(new byte[1000]);
            Thread.sleep(2);
        }
    }
}
"""
PHASES = """
public class Phases {
    static final class A { long x; }
    static final class B { long x; }
    static volatile Object made;
    static volatile boolean ends;
    public static void main(String[] arguments) throws Exception {
        System.in.read();
        for (int i = 0; i < 6000000; i++)
            made = new A();
        made = null;
        System.gc();
        System.out.println("second");
        Thread maker = new Thread(() -> {
            while (!ends) {
                for (int i = 0; i < 1000; i++)
                    made = new B();
                java.util.concurrent.locks.LockSupport.parkNanos(4000000);
            }
        });
        maker.start();
        System.in.read();
        ends = true;
        maker.join();
    }
}
"""
MARKED = """
public class Marked {
    static final class A { long x; }
    static final class B { long x; }
    static volatile Object made;
    static void first() {
        for (int i = 0; i < 300000; i++)
            made = new A();
    }
    static void second() throws Exception {
        Thread maker = new Thread(() -> {
            for (int i = 0; i < 300000; i++)
                made = new B();
        });
        maker.start();
        maker.join();
        System.out.println("made");
        System.in.read();
    }
    public static void main(String[] arguments) throws Exception {
        first();
        second();
        made = new A();
    }
}
"""
SUMS = ("allocated_objects", "allocated_bytes", "freed_objects", "freed_bytes")
failures = []


def expect(what, good, seen=""):
    if not good:
        failures.append(what)
        print(f"{what}: {seen}")


def wait_for(what, ask, seconds=120):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        seen = ask()
        if seen:
            return seen
        time.sleep(0.1)
    expect(what, False, "did not come")
    return None


def steptrace(*arguments, code=0):
    done = subprocess.run([STEPTRACE, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=400)
    expect(f"exit code of {arguments}", done.returncode == code, f"{done.returncode} {done.stderr}")
    return done


def look(what, code=0):
    text = steptrace("watch", "--json", "--interval=300ms", "--top=5", what, code=code).stdout
    schema = os.path.join(HERE, "../../docs/schemas/watch.schema.json")
    valid = subprocess.run([os.path.join(HERE, "validate.py"), schema], input=text, stdout=subprocess.PIPE, text=True)
    expect("schema", valid.returncode == 0, valid.stdout)
    return json.loads(text)


def is_at_work(told):
    """The program itself has made most of what lives, and some of it has died."""
    first = {rows: told[rows][0]["name"] for rows in ("classes", "sites") if told[rows]}
    is_its = first.get("classes") == "[B" and first.get("sites", "").startswith("Ticker.main(Ticker.java:")
    return told if is_its and told["total"]["freed_objects"] > 0 else None


def goes_on(before, now):
    return (now["time_ns"] > before["time_ns"] and now["a_second"]["allocated_objects"] > 0 and
            now["total"]["allocated_objects"] > before["total"]["allocated_objects"])


def check_numbers(pid):
    told = wait_for("a collection, of the program's objects", lambda: is_at_work(look(str(pid))))
    expect("state", told["state"] == "running" and told["process"] == pid, told["state"])
    expect("what lives", 0 < told["total"]["live_objects"] < told["total"]["allocated_objects"], told["total"])
    wait_for("it goes on", lambda: goes_on(told, look("run.step")))


class Terminal:
    count = 0

    def __init__(self, command, width=80, height=24, environment=()):
        Terminal.count += 1  # the server before may not have ended yet
        self.socket = f"steptrace-{os.getpid()}-{Terminal.count}"
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(width), "-y", str(height),
                  # (a shell that is not bash ends with the program at a C-c)
                  "trap : INT; " + " ".join(["env", "LC_ALL=C.UTF-8", *environment, *command]) + "; echo code $?; sleep 60")

    def tmux(self, *arguments):
        return subprocess.run(["tmux", "-L", self.socket, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True).stdout

    def text(self, *options):
        return self.tmux("capture-pane", "-p", *options)

    def shows(self, text):
        wait_for(f"on the terminal: {text}", lambda: text in self.text())
        if text not in self.text():
            print(self.text())

    def stands(self, seconds):
        before = self.text()
        time.sleep(seconds)
        return self.text() == before

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def close(self):
        self.tmux("kill-server")


def check_terminal(jvm):
    terminal = Terminal([STEPTRACE, "watch", "--interval=200ms", "run.step"])
    terminal.shows("running")
    terminal.shows("[1 classes]")
    wait_for("colours", lambda: "\x1b[36m" in terminal.text("-e"))
    expect("no more than the screen", len(terminal.text().splitlines()) <= 24)
    terminal.keys("2")
    terminal.shows("Ticker.main(Ticker.java:")
    terminal.keys("m")
    terminal.shows("since the mark")
    terminal.keys("/")
    terminal.keys("-l", "zebra")
    terminal.keys("Enter")
    terminal.shows("no such name")
    terminal.keys("/", *["BSpace"] * 5, "Enter", "Space")
    terminal.shows("[frozen]")
    wait_for("frozen", lambda: terminal.stands(0.6))  # the first look may be at half a screen
    terminal.keys("Space", "1", "f")
    terminal.keys("-l", "class=java.**")
    terminal.keys("Enter")
    terminal.shows("only class=java.**")
    terminal.keys("f", *["BSpace"] * 13)
    terminal.keys("-l", "clas=foo")
    terminal.keys("Enter")
    terminal.shows("column 1: class=")
    expect("no title of a bad selection", "only clas=foo" not in terminal.text().replace("only clas=foo_", ""), terminal.text())
    terminal.keys(*["BSpace"] * 13, "Enter")
    terminal.tmux("resize-window", "-x", "20", "-y", "5")
    wait_for("20x5", lambda: len(terminal.text().rstrip().splitlines()) <= 5 and "live" in terminal.text() and "[B" in terminal.text())
    terminal.tmux("resize-window", "-x", "100", "-y", "40")
    terminal.shows("q quit")
    jvm.kill()
    jvm.wait()
    terminal.shows("cut: its process did not end it")
    terminal.keys("q")
    terminal.shows("code 3")
    terminal.close()
    terminal = Terminal([STEPTRACE, "watch", "run.step"], environment=["NO_COLOR=1"])
    terminal.shows("cut")
    expect("no colours", "\x1b[36m" not in terminal.text("-e"), terminal.text("-e"))
    terminal.keys("C-c")
    terminal.shows("code 3")
    terminal.close()


def check_early():
    """Watched before the trace names its resolution: times are right all the same."""
    jvm = subprocess.Popen([HOME + "/bin/java", "-Xmx32m", f"-agentpath:{AGENT}=file=early.step", "Ticker"])
    try:
        while not os.path.exists("early.step"):
            time.sleep(0.01)
        terminal = Terminal([STEPTRACE, "watch", "--interval=200ms", "early.step"])
        wait_for("seconds", lambda: re.search(r"running, [\d.]+ s", terminal.text()), 30)
        terminal.close()
    finally:
        jvm.kill()
        jvm.wait()


def check_end():
    told = look("run.step", code=3)
    stats = json.loads(steptrace("stats", "--json", "--top=0", "run.step", code=3).stdout)["objects"]
    for key in ("allocated_objects", "allocated_bytes", "freed_objects", "freed_bytes", "live_objects", "live_bytes"):
        expect(key, told["total"][key] == stats[key], (told["total"][key], stats[key]))
    expect("exact", told["exact"] and told["state"] == "cut", told["state"])


def rows_of(told):
    return {row["name"]: row for row in told["classes"]}


def expect_no_fall(before, now):
    for name, row in rows_of(before).items():
        later = rows_of(now).get(name, dict.fromkeys(SUMS, 0))
        for key in SUMS:
            expect(f"{name}: {key} does not fall", later[key] >= row[key], (row[key], later[key]))


def all_a_died(told):
    row = rows_of(told).get("Phases$A")
    return told if row is not None and row["live_objects"] == 0 else None


def look_at_all():
    def ask():
        told = json.loads(steptrace("watch", "--json", "--interval=200ms", "--top=0", "phases.step").stdout)
        return told if told["exact"] else None
    return wait_for("an exact look", ask)


def check_phases(jvm):
    jvm.stdin.write("x")
    jvm.stdin.flush()
    expect("the second phase", jvm.stdout.readline() == "second\n")
    looks = [wait_for("all A died", lambda: all_a_died(look_at_all()))]
    for _ in range(3):
        looks.append(look_at_all())
        expect_no_fall(looks[-2], looks[-1])
    jvm.stdin.write("x")
    jvm.stdin.flush()
    jvm.wait(300)
    ended = look_at_all()
    stats = {row["name"]: row for row in json.loads(steptrace("stats", "--json", "--top=0", "phases.step").stdout)["classes"]}
    for key in SUMS:
        expect(f"A: {key}", {rows_of(seen)["Phases$A"][key] for seen in [*looks, ended]} == {stats["Phases$A"][key]},
               [rows_of(seen)["Phases$A"][key] for seen in [*looks, ended]])
    expect("A's number", stats["Phases$A"]["allocated_objects"] == 6000000, stats["Phases$A"])
    expect("ended", ended["state"] == "ended" and ended["exact"] and ended["behind_ns"] == 0, ended["state"])
    expect_no_fall(looks[-1], ended)


def check_busy():
    jvm = subprocess.Popen([HOME + "/bin/java", "-Xmx64m", f"-agentpath:{AGENT}=file=phases.step,stack=4", "Phases"],
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        check_phases(jvm)
    finally:
        jvm.kill()
        jvm.wait()


def made_in(phase, code=0):
    """The objects of A and B in the phase, as they are known now."""
    text = steptrace("watch", "--json", "--interval=200ms", "--top=0", f"--phase={phase}", "marked.step", code=code).stdout
    told = json.loads(text)
    rows = rows_of(told)
    return told, [rows.get(f"Marked${name}", {}).get("allocated_objects", 0) for name in "AB"]


def has_most_of_b():
    told, made = made_in("Marked.second")
    return told if made[0] == 0 and made[1] > 200000 else None


def check_marked(jvm):
    """The begin of the phase is in a thread that rests, so only the live file has it."""
    expect("all are made", jvm.stdout.readline() == "made\n")
    told = wait_for("objects of a phase that is open", has_most_of_b)
    expect("a band", [(row["name"], row["program"]) for row in told["phases"]] == [("Marked.second", True)], told["phases"])
    expect("the others", made_in("!Marked.second")[1][1] == 0)
    jvm.stdin.write("x")
    jvm.stdin.flush()
    jvm.wait(300)
    expect("A and B in the phase", made_in("Marked.second")[1] == [0, 300000], made_in("Marked.second")[1])
    expect("A and B outside", made_in("!*second")[1] == [300001, 0], made_in("!*second")[1])
    for glob in ("Marked.second", "!Marked.second"):
        stats = json.loads(steptrace("stats", "--json", f"--phase={glob}", "marked.step").stdout)["objects"]
        total = made_in(glob)[0]["total"]
        expect(f"sums of {glob}", all(total[key] == stats[key] for key in SUMS), (total, stats))


def check_selected_phases():
    options = f"-agentpath:{AGENT}=file=marked.step,phase=program:Marked.second"
    jvm = subprocess.Popen([HOME + "/bin/java", "-Xmx64m", options, "Marked"], stdin=subprocess.PIPE,
                           stdout=subprocess.PIPE, text=True)
    try:
        check_marked(jvm)
    finally:
        jvm.kill()
        jvm.wait()


def check_refusals():
    sleeper = subprocess.Popen(["sleep", "60"])
    told = steptrace("watch", str(sleeper.pid), code=1).stderr
    expect("not recorded", f"steptrace attach -o run.step {sleeper.pid}" in told, told)
    sleeper.kill()
    sleeper.wait()
    told = steptrace("watch", str(sleeper.pid), code=1).stderr
    expect("no process", "there is no process" in told, told)


def check_dumb():
    """A terminal whose cursor cannot be moved is refused."""
    child, terminal = pty.fork()
    if child == 0:
        os.execve(STEPTRACE, [STEPTRACE, "watch", "run.step"], dict(os.environ, TERM="dumb"))
    said, end = b"", time.monotonic() + 60
    while time.monotonic() < end and b"\n" not in said:
        try:
            said += os.read(terminal, 4096) if select.select([terminal], [], [], 1)[0] else b""
        except OSError:  # it has ended
            break
    os.close(terminal)
    os.waitpid(child, 0)
    expect("TERM=dumb", b"(TERM=dumb) cannot be used" in said, said)


def main():
    work = tempfile.mkdtemp()
    os.chdir(work)
    for name, source in (("Ticker.java", SOURCE), ("Phases.java", PHASES), ("Marked.java", MARKED)):
        with open(name, "w", encoding="utf-8") as file:
            file.write(source)
        subprocess.run([HOME + "/bin/javac", name], check=True)
    jvm = subprocess.Popen([HOME + "/bin/java", "-Xmx32m", f"-agentpath:{AGENT}=file=run.step,stack=4", "Ticker"])
    try:
        wait_for("the trace", lambda: os.path.exists("run.step.live") and os.path.getsize("run.step") > 0)
        time.sleep(1)
        check_numbers(jvm.pid)
        if shutil.which("tmux"):
            check_terminal(jvm)
            check_early()
        else:
            print("no tmux: nothing was tried on a terminal")
    finally:
        jvm.kill()
        jvm.wait()
    check_end()
    check_dumb()
    check_refusals()
    check_selected_phases()
    check_busy()
    shutil.rmtree(work)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
