#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hostile_texts.py STEPTRACE HOSTILE_TEXTS DATA [--in-turn]: texts of a trace reach no terminal, page or table as they are.

Traces of all kinds get hostile strings and properties; every verb that reads one prints them as text, JSON and CSV.
Nothing on stdout or stderr may be a control character, a turn of direction or bytes that are no UTF-8, no line may
begin in the midst of a text, JSON and CSV keep their form, and a page has as many tags as that of the trace before.
A verb that is neither below nor in NOT_HERE is a fault.  With --in-turn each verb prints a trace in one form, the
next trace in the next form: what a build with sanitizers, which is slow, has time for.
"""
import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile

CONTROLS = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xd8\x9c|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]")
TRACES = ["traces/shop-1.step", "traces/layouts.step", "sampled-leak.bin", "sampled.bin", "linked.bin", "escape.bin",
          "strategies.bin", "listed.bin", "../../golden/versions/step-1-heap.step"]
FORMS = ["", "--json", "--csv"]
NOT_HERE = {
    "record": "reads no trace", "record-malloc": "reads no trace",
    "attach": "texts of a process: attach_hostile.py", "mcp": "runs the other verbs: mcp.py",
    "help": "reads no trace", "version": "reads no trace",
}
QUERIES = [f"select * from {table} limit 50" for table in
           ("classes", "methods", "threads", "frames", "sites", "objects", "calls", "properties", "phases", "events")]
VERBS = {
    "info": [[], ["--definition"]],
    "check": [["--limit=50"]],
    "stats": [[], ["--top=0"]],
    "dump": [[], ["--records"], ["--records", "--entries"]],
    "heap": [["--by", by] for by in ("class", "site", "thread", "class,site")] +
            [["--by", "site", "--tree=top-down"], ["--by", "site", "--tree=bottom-up"], ["--retained", "--by", "site"]],
    "paths": [["--class", "**", "--at", "end"]],
    "deaths": [["-o", "o.step"]],
    "sql": [[query] for query in QUERIES],
    "compare": [["IN"], ["IN", "--by", "all"], ["IN", "--tree"], ["OTHER"], ["OTHER", "--by", "all"]],
    "gate": [["--update", "--snapshot=o.snap"], ["--update", "--snapshot=p.snap", "--whole=x"]],
    "leaks": [["--survived=1", "--existing"], ["--survived=1", "--by=class+site"]],
    "lifetimes": [["--top=0"]],
    "advise": [["--least=0", "--top=0"]],
    "escape": [["--jit-log=LOG"]],
    "nominal": [[]],
    "layout": [["--top=0"]],
    "locality": [[]],
    "simulate": [[]],
    "watch": [["--once"], ["--once", "--by=site"], ["--once", "--by=thread"]],
    "report": [["-o", "-"]],
    "pack": [["-o", "o.step"]],
    "replay": [["--allocator=libc"]],
    "recover": [["-o", "o.step"]],
    "convert": [["--to=" + name, "-o", "o.out"] for name in ("text", "hatf.txt", "collapsed", "csv", "jsonl", "hprof", "jfr")],
}


class Test:
    def __init__(self, steptrace, make, data, in_turn):
        self.steptrace, self.make, self.data = map(os.path.realpath, (steptrace, make, data))
        self.in_turn = in_turn
        self.faults = []
        self.runs = self.printed = 0

    def run(self, *words):
        return subprocess.run([self.steptrace, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, check=False, timeout=120)

    def judge(self, what, text):
        text = text.replace(b"\r\n", b"\n")
        found = CONTROLS.search(text)
        if found:
            self.faults.append(f"{what}: {text[max(0, found.start() - 40):found.end() + 20]!r}")
        if re.search(rb"^FORGED", text, re.M):
            self.faults.append(f"{what}: a text begins a line")
        try:
            text.decode()
        except UnicodeDecodeError as error:
            self.faults.append(f"{what}: is not UTF-8: {error}")

    def judge_form(self, what, form, text):
        try:
            if form == "--json" and "dump" in what:
                for line in text.splitlines():
                    json.loads(line)
            elif form == "--json" and "--definition" not in what:
                json.loads(text)
            elif form == "--csv" and "sql" in what:
                if len({len(row) for row in csv.reader(io.StringIO(text.decode(), newline=""))}) > 1:
                    self.faults.append(f"{what}: rows of different lengths")
        except ValueError as error:
            self.faults.append(f"{what}: {error}")

    def page(self, trace, hostile):
        before, after = (self.run("report", path, "-o", "-").stdout for path in (trace, hostile))
        for tag in (b"<script", b"</script", b"<!--", b"<img"):
            if before.count(tag) != after.count(tag):
                self.faults.append(f"report of {trace}: {tag!r}: {after.count(tag)}, not {before.count(tag)}")

    def forms(self, trace, words):
        return [FORMS[(trace + words) % len(FORMS)]] if self.in_turn else FORMS

    def trace(self, number, name):
        path = os.path.join(self.data, name)
        hostile = "t.step"
        subprocess.run([self.make, path, hostile], check=True)
        names = {"IN": hostile, "OTHER": path, "LOG": os.path.join(self.data, "escape-jit.xml")}
        for verb, all_words in VERBS.items():
            for turn, words in enumerate(all_words):
                for form in self.forms(number, turn):
                    given = [names.get(word, word.replace("=LOG", "=" + names["LOG"])) for word in words]
                    done = self.run(verb, hostile, *given, *([form] if form else []))
                    what = f"{verb} {' '.join(words)} {form} of {name}"
                    if done.returncode not in (0, 1, 2, 3):
                        self.faults.append(f"{what}: status {done.returncode}: {done.stderr[-300:]!r}")
                    self.judge(what, done.stdout)
                    self.judge(what + ", stderr", done.stderr)
                    if done.returncode == 0:
                        self.judge_form(what, form, done.stdout)
                    self.runs += 1
                    self.printed += b"OWNED" in done.stdout
        self.page(path, hostile)

    def verbs(self):
        known = set(VERBS) | set(NOT_HERE)
        for verb in re.findall(r"^  ([a-z][a-z-]+) ", self.run("help").stdout.decode(), re.M):
            if verb not in known:
                self.faults.append(f"{verb}: is not in VERBS")


def main():
    test = Test(*sys.argv[1:4], "--in-turn" in sys.argv[4:])
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        test.verbs()
        for number, name in enumerate(TRACES):
            test.trace(number, name)
    print(*test.faults, f"{test.runs} runs, {test.printed} with hostile texts, {len(test.faults)} faults", sep="\n")
    least = 200 // (len(FORMS) if test.in_turn else 1)
    return 1 if test.faults or test.printed < least else 0


if __name__ == "__main__":
    sys.exit(main())
