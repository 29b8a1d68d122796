# SPDX-License-Identifier: Apache-2.0
"""A reader of zipped text that shares nothing with the project's own, and every rule that a trace
has to keep.  It counts on the way what the facts ask for."""
import collections
import io
import re
import zipfile

FIELDS = {"VS": 2, "VI": 2, "VD": 2, "CL": 3, "OA": 4, "OF": 4, "TB": 3, "TE": 3, "MN": 6, "MX": 5,
          "FP": 5}
ENDS = {"VS", "VI", "VD"}
ESCAPE = re.compile(r"\\u(?:003a|005c|000a|000d|d[89a-f][0-9a-f]{2})")
MAX_BREACHES = 20


def is_number(text):
    """Decimal digits without a leading zero."""
    return text.isdecimal() and text.isascii() and (text[0] != "0" or text == "0")


class Section:
    """What happened between the first and the second object of a class."""

    def __init__(self):
        self.state = "before"
        self.allocs = collections.Counter()
        self.frees = collections.Counter()
        self.starts = self.ends = 0


class Trace:
    """Reads lines in order; afterwards `breaches` names what is wrong."""

    def __init__(self, markers=(), own="facts/"):
        self.own = own
        self.breaches = []
        self.lines = 0
        self.kinds = collections.Counter()
        self.allocs = collections.Counter()      # by class name
        self.frees = collections.Counter()
        self.loads = collections.Counter()
        self.methods = collections.Counter()     # by (kind, class, method)
        self.sequences = collections.defaultdict(list)  # by thread: (kind, class, method) of our own
        self.receivers = collections.defaultdict(list)  # by class of <init>: the objects' classes
        self.sections = {name: Section() for name in markers}
        self.existing = collections.Counter()
        self._open = []
        self._object_class = {}
        self._dead = set()
        self._begun, self._ended = set(), set()
        self._stacks = {}
        self._time = 0
        self._init_time = None

    def breach(self, text):
        if len(self.breaches) < MAX_BREACHES:
            self.breaches.append(f"line {self.lines}: {text}")
        elif len(self.breaches) == MAX_BREACHES:
            self.breaches.append("... and more")

    def live(self):
        """Class name -> objects alive at the end."""
        return self.allocs - self.frees

    def read(self, stream):
        handlers = {name: (count, getattr(self, "_on_" + name.lower()))
                    for name, count in FIELDS.items()}
        unknown = (0, None)
        for line in io.TextIOWrapper(stream, encoding="utf-8", newline="\n"):
            self.lines += 1
            if line[-1] != "\n":
                self.breach("no line feed at the end")
            word = line[:-1].split(":")
            kind = word[0]
            count, handler = handlers.get(kind, unknown)
            if count != len(word):
                self.breach(f"not a line of a trace: {line!r}")
                continue
            if not is_number(word[1]):
                self.breach(f"not a time: {line!r}")
                continue
            time = int(word[1])
            if time != self._time:
                if time < self._time:
                    self.breach(f"time goes back from {self._time} to {time}")
                self._time = time
            self.kinds[kind] += 1
            if kind in ENDS or self.lines <= 2 or "VD" in self.kinds:
                self._place(kind)
            handler(time, word)
        return self

    def _place(self, kind):
        """VS is the first line, VI the second, VD the last."""
        if (kind == "VS") != (self.lines == 1) or (kind == "VI") != (self.lines == 2):
            self.breach(f"{kind} is line {self.lines}")
        if "VD" in self.kinds and (kind != "VD" or self.kinds["VD"] > 1):
            self.breach(f"{kind} after VD")

    def finish(self, killed=False):
        """The rules that only the end shows."""
        if (self.kinds["VD"] == 1) == killed:
            self.breach("VD is there" if killed else "VD is missing")
        if self.kinds["VS"] != 1 or self.kinds["VI"] != 1:
            self.breach("VS or VI is missing")
        return self

    def _on_vs(self, time, word):
        if time != 0:
            self.breach("VS is not at time 0")

    def _on_vi(self, time, word):
        self._init_time = time

    def _on_vd(self, time, word):
        pass

    def _class(self, name):
        if name not in self.loads:
            self.breach(f"class {name} has no CL before")
            self.loads[name] = 0

    def _object(self, text):
        if not is_number(text):
            self.breach(f"not an object id: {text}")
            return 0
        return int(text)

    def _on_cl(self, time, word):
        name = word[2]
        self.loads[name] += 1
        if time == self._init_time:
            self.existing["CL"] += 1
        if "\\" in ESCAPE.sub("", name) or not name:
            self.breach(f"a wrong escape in {name!r}")

    def _on_oa(self, time, word):
        name, number = word[2], self._object(word[3])
        if name not in self.loads:
            self._class(name)
        if number in self._object_class or number == 0:
            self.breach(f"object {number} has an OA already")
        self._object_class[number] = name
        if time == self._init_time:
            self.existing["OA"] += 1
        if name in self.sections:
            self._mark(self.sections[name])
        self.allocs[name] += 1
        if self._open:
            for section in self._open:
                section.allocs[name] += 1

    def _mark(self, section):
        if section.state == "before":
            section.state = "open"
            self._open.append(section)
        elif section.state == "open":
            section.state = "after"
            self._open.remove(section)

    def _on_of(self, time, word):
        name, number = word[2], self._object(word[3])
        if self._object_class.get(number) != name:
            self.breach(f"OF of object {number}, {name}, whose OA says "
                        f"{self._object_class.get(number)}")
        if number in self._dead:
            self.breach(f"object {number} is freed twice")
        self._dead.add(number)
        self.frees[name] += 1
        for section in self._open:
            section.frees[name] += 1

    def _on_tb(self, time, word):
        thread = self._object(word[2])
        if thread in self._begun or thread == 0:
            self.breach(f"thread {thread} has a TB already")
        self._begun.add(thread)
        if time == self._init_time:
            self.existing["TB"] += 1
        for section in self._open:
            section.starts += 1

    def _on_te(self, time, word):
        thread = self._object(word[2])
        self._thread(thread)
        self._ended.add(thread)
        for section in self._open:
            section.ends += 1

    def _thread(self, thread):
        if thread not in self._begun:
            self.breach(f"thread {thread} has no TB before")
            self._begun.add(thread)
        if thread in self._ended:
            self.breach(f"an event of thread {thread} after its TE")

    def _method(self, word):
        thread = self._object(word[2])
        if thread not in self._begun or thread in self._ended:
            self._thread(thread)
        if word[3] not in self.loads:
            self._class(word[3])
        method = word[4].split("(")[0]
        self.methods[word[0], word[3], method] += 1
        if word[3].startswith(self.own):
            self.sequences[thread].append((word[0], word[3], method))
        return thread, method

    def _on_mn(self, time, word):
        thread, method = self._method(word)
        number = self._object(word[5])
        self._stacks.setdefault(thread, []).append((word[3], word[4]))
        if number != 0 and number not in self._object_class:
            self.breach(f"object {number} has no OA before its method's MN")
        elif number != 0 and number in self._dead:
            self.breach(f"object {number} was freed before its method's MN")
        if method == "<init>" and self.allocs:
            self.receivers[word[3]].append(self._object_class.get(number))
            if number == 0:
                self.breach("a constructor without its object")
        if method == "<clinit>" and number != 0:
            self.breach("a class initializer with an object")

    def _leave(self, time, word):
        thread, _ = self._method(word)
        stack = self._stacks.get(thread)
        if not stack:
            self.breach(f"{word[0]} of {word[3]}.{word[4]}: thread {thread} has no open frame")
        elif stack[-1] != (word[3], word[4]):
            self.breach(f"{word[0]} of {word[3]}.{word[4]} in thread {thread} closes "
                        f"{'.'.join(stack[-1])}")
        else:
            stack.pop()

    _on_mx = _on_fp = _leave


def read_zip(path, markers=(), killed=False):
    """The checked trace of a zip file, which has to be as the format's page says."""
    trace = Trace(markers)
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
        if [entry.filename for entry in entries] != ["trace"]:
            trace.breach(f"the entries are {[entry.filename for entry in entries]}")
        if entries[0].compress_type != zipfile.ZIP_DEFLATED:
            trace.breach("the entry is not deflated")
        with archive.open("trace") as stream:
            trace.read(stream)
    return trace.finish(killed)
