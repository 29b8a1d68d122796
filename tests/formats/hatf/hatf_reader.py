# SPDX-License-Identifier: Apache-2.0
"""A small reader of HATF 1.0, written from the format's description alone."""
import collections

SIZE, ADDRESS, TIME, THREAD, HEAP, ATTRIBUTES = range(6)
ALLOC, FREE = 0, 1
CREATE_THREAD, DESTROY_THREAD = 8, 9
COMMENT, METADATA = 10, 11
LAYOUTS = {
    0: (SIZE, ADDRESS, THREAD, HEAP, TIME, ATTRIBUTES),
    1: (ADDRESS, THREAD, HEAP, TIME, ATTRIBUTES),
    **{tag: (SIZE, ADDRESS, ADDRESS, THREAD, HEAP, TIME, ATTRIBUTES) for tag in (2, 3, 4, 5)},
    6: (HEAP, THREAD, TIME, ATTRIBUTES), 7: (HEAP, THREAD, TIME, ATTRIBUTES),
    8: (THREAD, TIME, ATTRIBUTES), 9: (THREAD, TIME, ATTRIBUTES),
}
NONE, DEFAULT, BASE_OFFSET, DELTA, STRIDE = range(5)
MASK = (1 << 64) - 1
Record = collections.namedtuple("Record", "tag values")


class Field:
    def __init__(self, width, interpretation):
        self.width, self.remembered = width, width
        self.interpretation = interpretation
        self.value = self.stride = 0

    def read(self, data, at):
        width = self.width
        raw = data[at:at + width]
        if len(raw) != width:
            raise ValueError(f"a record is cut short at byte {at}")
        kind = self.interpretation
        if kind == NONE:
            self.value = int.from_bytes(raw, "big")
        elif kind == BASE_OFFSET:
            return (self.base + int.from_bytes(raw, "big", signed=True)) & MASK, at + width
        elif kind == DELTA:
            self.value = (self.value + int.from_bytes(raw, "big", signed=True)) & MASK
        elif kind == STRIDE:
            self.value = (self.value + self.stride) & MASK
        return self.value, at + width

    def set_width(self, code):
        if code not in (0, 1, 2, 4, 8, 9, 10):
            raise ValueError(f"width {code}")
        if code != 0:
            self.remembered = code
        if self.interpretation not in (DEFAULT, STRIDE):
            self.width = code

    def set_interpretation(self, kind, values):
        self.interpretation = kind
        if kind in (DEFAULT, DELTA, STRIDE):
            self.value = values[0]
        if kind == BASE_OFFSET:
            self.base = values[0]
        if kind == STRIDE:
            self.stride = values[1] - (1 << 64) if values[1] >> 63 else values[1]
        self.width = 0 if kind in (DEFAULT, STRIDE) else self.remembered


def attributes(field, data, at):
    if field.width in (9, 10):
        size = field.width - 8
        length = int.from_bytes(data[at:at + size], "big")
        at += size
    else:
        length = field.width
    if at + length > len(data):
        raise ValueError(f"attributes are cut short at byte {at}")
    return data[at:at + length], at + length


def metadata(fields, data, at):
    operation, number, argument = data[at:at + 3]
    at += 3
    if operation == 1:
        fields[number].set_width(argument)
    elif operation == 2:
        count = {NONE: 0, DEFAULT: 1, BASE_OFFSET: 1, DELTA: 1, STRIDE: 2}[argument]
        values = [int.from_bytes(data[at + 8 * i:at + 8 * i + 8], "big") for i in range(count)]
        at += 8 * count
        fields[number].set_interpretation(argument, values)
    else:
        raise ValueError(f"metadata operation {operation} at byte {at - 3}")
    return at


def records(path):
    """Each record's tag and values; addresses twice where it has two; comments as bytes."""
    with open(path, "rb") as file:
        data = file.read()
    fields = [Field(4, NONE), Field(4, NONE), Field(0, DEFAULT), Field(0, DEFAULT),
              Field(0, DEFAULT), Field(0, NONE)]
    at = 0
    while at < len(data):
        tag = data[at]
        at += 1
        if tag == COMMENT:
            length = int.from_bytes(data[at:at + 2], "big")
            yield Record(tag, [data[at + 2:at + 2 + length]])
            at += 2 + length
        elif tag == METADATA:
            at = metadata(fields, data, at)
        else:
            values = []
            for number in LAYOUTS[tag]:
                if number == ATTRIBUTES:
                    value, at = attributes(fields[number], data, at)
                else:
                    value, at = fields[number].read(data, at)
                values.append(value)
            yield Record(tag, values)


class Heap:
    """What the facts ask of a HATF file that has the class names as attributes."""

    def __init__(self, path):
        self.threads = collections.defaultdict(set)  # by class: the threads that made its objects
        self.started, self.ended = set(), set()
        self.bytes_between = {}                      # by (first, second class): of the thread
        self.live, self.breaches = set(), []
        self._bytes = collections.Counter()
        self._marks = {}
        for number, record in enumerate(records(path)):
            if number == 0 and not (record.tag == COMMENT and
                                    record.values[0].startswith(b"HATF 1.0")):
                self.breaches.append("the first record is not the comment HATF 1.0")
            if record.tag == ALLOC:
                self._alloc(*record.values)
            elif record.tag == FREE:
                if record.values[0] not in self.live:
                    self.breaches.append(f"record {number}: {record.values[0]} is freed, not live")
                self.live.discard(record.values[0])
            elif record.tag == CREATE_THREAD:
                self.started.add(record.values[0])
            elif record.tag == DESTROY_THREAD:
                self.ended.add(record.values[0])

    def _alloc(self, size, address, thread, heap, time, name):
        if address in self.live:
            self.breaches.append(f"object {address} is made twice")
        self.live.add(address)
        self.threads[name.decode("utf-8")].add(thread)
        if name.startswith(b"facts/") and thread:
            self._marks[name.decode("utf-8")] = (thread, self._bytes[thread] + size)
            for other, (owner, before) in self._marks.items():
                if owner == thread:
                    self.bytes_between[other, name.decode("utf-8")] = self._bytes[thread] - before
        self._bytes[thread] += size
