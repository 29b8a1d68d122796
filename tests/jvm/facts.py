# SPDX-License-Identifier: Apache-2.0
"""The facts that stand in a program's first comments, and whether a trace has them.

  // TEST: key=value ...                  how it is run: see Program
  // FACT: alloc CLASS N                  objects made; `*` in a class name is anything
  // FACT: freed CLASS N                  objects freed by the end
  // FACT: loads CLASS N                  classes loaded by this name
  // FACT: between MARK alloc CLASS N     made between the two objects of facts/PROGRAM$MARK
  // FACT: frees-between MARK CLASS N     not with engine=jvmti, where the JVM tells of them when it comes to it
  // FACT: starts-between CLASS N         threads started, ended, between two objects of the class
  // FACT: ends-between CLASS N
  // FACT: calls|exits|pops CLASS METHOD N
  // FACT: receivers CLASS BASE           BASE's constructors ran for objects of CLASS too
  // FACT: threads-allocating CLASS N     threads that made objects of the class
  // FACT: threads-ended CLASS            all of those have ended
  // FACT: bytes-between CLASS CLASS N    bytes that the thread allocated between these objects
  // FACT: site CLASS N FRAME <- ...      allocated where the stack begins with these frames; a frame
                                       CLASS.METHOD:LINE may be cut short
  // FACT: thread-sequences N CLASS EVENT...   that many threads did exactly this
  // SEQUENCE: METHOD, then EVENT...      what the thread that calls METHOD does from there on

N is a number, >=N or N..M.  In names {003a} stands for the text's \\u003a, {_} for a space.  An
event is +METHOD (entry), -METHOD (exit) or !METHOD (left by an exception); METHOD is that of the
program's class, or Nested.METHOD; 3*( ... ) repeats.  Frames of lambda classes and of
facts/Support are left out.
"""
import re

SIGNS = {"MN": "+", "MX": "-", "FP": "!"}


class Program:
    """What the comments of java-tests/facts/NAME.java say."""

    def __init__(self, directory, name):
        self.name = name
        self.settings = {"collectors": "G1", "events": "class+alloc+free+thread", "driver": "plain",
                         "options": "", "vm": "", "exit": "0", "jdk": "17", "timeout": "300"}
        self.facts, self.sequence = [], []
        with open(f"{directory}/facts/{name}.java", encoding="utf-8") as file:
            for line in file:
                key, _, value = line.partition(": ")
                if key == "// TEST":
                    for word in value.split():
                        setting, _, text = word.partition("=")
                        self.settings[setting] = text
                elif key == "// FACT":
                    self.facts.append(value.split())
                elif key == "// SEQUENCE":
                    self.sequence.append(value.strip())

    def add_facts(self, path):
        """Those that the program told when it ran."""
        try:
            with open(path, encoding="utf-8") as file:
                self.facts += [line.split() for line in file]
        except FileNotFoundError:
            pass

    def markers(self):
        names = set()
        for fact in self.facts:
            if fact[0] in ("between", "frees-between"):
                names.add(f"facts/{self.name}${fact[1]}")
            if fact[0] in ("starts-between", "ends-between"):
                names.add(fact[1])
        return names

    def needs_sites(self):
        return any(fact[0] == "site" for fact in self.facts)

    def needs_threads(self):
        return any(fact[0] in ("threads-allocating", "threads-ended", "bytes-between")
                   for fact in self.facts)


def fits(count, wanted):
    if wanted.startswith(">="):
        return count >= int(wanted[2:])
    first, _, last = wanted.partition("..")
    return int(first) <= count <= int(last or first)


def spell(name):
    name = name.replace("{_}", " ")
    return re.sub(r"\{([0-9a-f]{4})\}", r"\\u\1", name)


def total(counter, pattern):
    """The sum over the class names that match."""
    name = spell(pattern)
    if "*" not in name:
        return counter[name]
    matcher = re.compile(".*".join(re.escape(part) for part in name.split("*")), re.DOTALL)
    return sum(count for key, count in counter.items() if matcher.fullmatch(key))


def expand(words, program):
    """The events of a sequence, repetitions written out."""
    text = " ".join(words)
    repeat = re.compile(r"(\d+)\*\(([^()]*)\)")
    while repeat.search(text):
        text = repeat.sub(lambda m: " ".join([m.group(2)] * int(m.group(1))), text)
    events = []
    for word in text.split():
        owner, _, method = word[1:].rpartition(".")
        events.append(word[0] + (f"facts/{program}${owner}" if owner else f"facts/{program}") +
                      "." + method)
    return events


def observed(events):
    return [f"{SIGNS[kind]}{owner}.{method}" for kind, owner, method in events
            if "$$Lambda" not in owner and owner != "facts/Support"]


def difference(got, wanted):
    for i, (a, b) in enumerate(zip(got, wanted)):
        if a != b:
            return f"event {i} is {a}, not {b}; before it {' '.join(got[max(0, i - 4):i])}"
    return f"{len(got)} events, not {len(wanted)}; then {(got + wanted)[min(len(got), len(wanted))]}"


class Judge:
    """Says which facts a trace, and its HATF export where needed, does not have."""

    def __init__(self, program, trace, heap, sites=()):
        self.program, self.trace, self.heap, self.sites = program, trace, heap, sites
        self.faults = []

    def judge(self):
        for fact in self.program.facts:
            getattr(self, "_" + fact[0].replace("-", "_"))(fact)
        if self.program.sequence:
            self._sequence()
        return self.faults

    def _count(self, fact, count, wanted):
        if not fits(count, wanted):
            self.faults.append(f"{' '.join(fact)}: it is {count}")

    def _alloc(self, fact):
        self._count(fact, total(self.trace.allocs, fact[1]), fact[2])

    def _freed(self, fact):
        self._count(fact, total(self.trace.frees, fact[1]), fact[2])

    def _loads(self, fact):
        self._count(fact, total(self.trace.loads, fact[1]), fact[2])

    def _section(self, fact, name):
        section = self.trace.sections[name]
        if section.state != "after":
            self.faults.append(f"{' '.join(fact)}: the section is {section.state}")
        return section

    def _between(self, fact):
        section = self._section(fact, f"facts/{self.program.name}${fact[1]}")
        self._count(fact, total(section.allocs, fact[3]), fact[4])

    def _frees_between(self, fact):
        section = self._section(fact, f"facts/{self.program.name}${fact[1]}")
        self._count(fact, total(section.frees, fact[2]), fact[3])

    def _starts_between(self, fact):
        self._count(fact, self._section(fact, fact[1]).starts, fact[2])

    def _ends_between(self, fact):
        self._count(fact, self._section(fact, fact[1]).ends, fact[2])

    def _methods(self, fact, kind):
        counter = {owner: 0 for _, owner, _ in self.trace.methods}
        for (which, owner, method), count in self.trace.methods.items():
            if which == kind and fact[2] in ("*", method):
                counter[owner] += count
        counter.setdefault(fact[1], 0)
        self._count(fact, total(counter, fact[1]), fact[3])

    def _calls(self, fact):
        self._methods(fact, "MN")

    def _exits(self, fact):
        self._methods(fact, "MX")

    def _pops(self, fact):
        self._methods(fact, "FP")

    def _receivers(self, fact):
        own, base = self.trace.receivers[fact[1]], self.trace.receivers[fact[2]]
        if not own or set(own) != {fact[1]} or fact[1] not in base:
            self.faults.append(f"{' '.join(fact)}: {own[:5]} {base[:5]}")

    def _threads_allocating(self, fact):
        threads = self.heap.threads[fact[1]]
        self._count(fact, len(threads), fact[2])
        if not threads <= self.heap.started:
            self.faults.append(f"{' '.join(fact)}: {threads - self.heap.started} did not start")

    def _threads_ended(self, fact):
        running = self.heap.threads[fact[1]] - self.heap.ended
        if running:
            self.faults.append(f"{' '.join(fact)}: {len(running)} did not end")

    def _bytes_between(self, fact):
        self._count(fact, self.heap.bytes_between.get((fact[1], fact[2]), -1), fact[3])

    def _site(self, fact):
        wanted = " ".join(fact[3:]).split(" <- ")
        count = sum(row["objects"] for row in self.sites
                    if row["class"] == fact[1] and len(row["site"]) >= len(wanted) and
                    all(have.startswith(want) for have, want in zip(row["site"], wanted)))
        self._count(fact, count, fact[2])

    def _thread_sequences(self, fact):
        wanted = expand(fact[3:], self.program.name)
        start = wanted[0]
        matching = 0
        for events in self.trace.sequences.values():
            got = observed(events)
            if got and got[0] == start:
                matching += 1
                if got != wanted:
                    self.faults.append(f"thread-sequences: {difference(got, wanted)}")
        self._count(fact[:3], matching, fact[1])

    def _sequence(self):
        start = f"+facts/{self.program.name}.{self.program.sequence[0]}"
        wanted = expand(self.program.sequence[1:], self.program.name)
        for events in self.trace.sequences.values():
            got = observed(events)
            if start in got:
                at = got.index(start)
                got = got[at:at + len(wanted)] if self.program.sequence[0] != "main" else got[at:]
                if got != wanted:
                    self.faults.append(f"sequence: {difference(got, wanted)}")
                return
        self.faults.append(f"sequence: no thread calls {start[1:]}")
