#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""watch.py STEPTRACE AGENT JAVA_HOME: watches a JVM that runs: by its number, as JSON, and on a terminal (tmux; without
it that part is left out): keys, other sizes, no colours, and a JVM that is killed meanwhile."""
import json
import os
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
    done = subprocess.run([STEPTRACE, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
    expect(f"exit code of {arguments}", done.returncode == code, f"{done.returncode} {done.stderr}")
    return done


def look(what, code=0):
    text = steptrace("watch", "--json", "--interval=300ms", "--top=5", what, code=code).stdout
    schema = os.path.join(HERE, "../../docs/schemas/watch.schema.json")
    valid = subprocess.run([os.path.join(HERE, "validate.py"), schema], input=text, stdout=subprocess.PIPE, text=True)
    expect("schema", valid.returncode == 0, valid.stdout)
    return json.loads(text)


def died_in(told):
    return told if told["total"]["freed_objects"] > 0 else None


def goes_on(before, now):
    return (now["time_ns"] > before["time_ns"] and now["a_second"]["allocated_objects"] > 0 and
            now["total"]["allocated_objects"] > before["total"]["allocated_objects"])


def check_numbers(pid):
    told = wait_for("a collection", lambda: died_in(look(str(pid))))
    expect("state", told["state"] == "running" and told["process"] == pid, told["state"])
    expect("class", told["classes"][0]["name"] == "[B", told["classes"])
    expect("site", told["sites"][0]["name"].startswith("Ticker.main:"), told["sites"])
    expect("what lives", 0 < told["total"]["live_objects"] < told["total"]["allocated_objects"], told["total"])
    wait_for("it goes on", lambda: goes_on(told, look("run.step")))


class Terminal:
    count = 0

    def __init__(self, command, width=80, height=24, environment=()):
        Terminal.count += 1  # the server before may not have ended yet
        self.socket = f"steptrace-{os.getpid()}-{Terminal.count}"
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(width), "-y", str(height),
                  " ".join(["env", "LC_ALL=C.UTF-8", *environment, *command]) + "; echo code $?; sleep 60")

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
    terminal.shows("Ticker.main:")
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
    terminal.keys("f", *["BSpace"] * 13, "Enter")
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


def check_end():
    told = look("run.step", code=3)
    stats = json.loads(steptrace("stats", "--json", "--top=0", "run.step", code=3).stdout)["objects"]
    for key in ("allocated_objects", "allocated_bytes", "freed_objects", "freed_bytes", "live_objects", "live_bytes"):
        expect(key, told["total"][key] == stats[key], (told["total"][key], stats[key]))
    expect("exact", told["exact"] and told["state"] == "cut", told["state"])


def check_refusals():
    sleeper = subprocess.Popen(["sleep", "60"])
    told = steptrace("watch", str(sleeper.pid), code=1).stderr
    expect("not recorded", f"steptrace attach -o run.step {sleeper.pid}" in told, told)
    sleeper.kill()
    sleeper.wait()
    told = steptrace("watch", str(sleeper.pid), code=1).stderr
    expect("no process", "there is no process" in told, told)


def main():
    work = tempfile.mkdtemp()
    os.chdir(work)
    with open("Ticker.java", "w", encoding="utf-8") as file:
        file.write(SOURCE)
    subprocess.run([HOME + "/bin/javac", "Ticker.java"], check=True)
    jvm = subprocess.Popen([HOME + "/bin/java", "-Xmx32m", f"-agentpath:{AGENT}=file=run.step,stack=4", "Ticker"])
    try:
        wait_for("the trace", lambda: os.path.exists("run.step.live") and os.path.getsize("run.step") > 0)
        time.sleep(1)
        check_numbers(jvm.pid)
        if shutil.which("tmux"):
            check_terminal(jvm)
        else:
            print("no tmux: nothing was tried on a terminal")
    finally:
        jvm.kill()
        jvm.wait()
    check_end()
    check_refusals()
    shutil.rmtree(work)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
