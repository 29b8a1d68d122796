# SPDX-License-Identifier: Apache-2.0
"""Reads recordings of JDK Flight Recorder by what their own metadata says, and by nothing else."""
import struct

PRIMITIVES = {"boolean", "byte", "char", "short", "int", "long", "float", "double"}
MISSING = -1 << 63


class Bad(Exception):
    pass


def require(condition, text):
    if not condition:
        raise Bad(text)


class Cursor:
    def __init__(self, data, at, end):
        self.data, self.at, self.end = data, at, end

    def byte(self):
        require(self.at < self.end, f"it is cut at {self.at}")
        self.at += 1
        return self.data[self.at - 1]

    def number(self):
        value = 0
        for shift in range(0, 56, 7):
            byte = self.byte()
            value |= (byte & 0x7f) << shift
            if byte < 0x80:
                return value
        value |= self.byte() << 56
        return value - (1 << 64) if value >> 63 else value

    def text(self):
        encoding = self.byte()
        if encoding in (0, 1):
            return None if encoding == 0 else ""
        require(encoding == 3, f"a text of encoding {encoding} at {self.at}")
        length = self.number()
        require(length <= self.end - self.at, f"a text of {length} bytes at {self.at}")
        self.at += length
        return self.data[self.at - length:self.at].decode()


class Element:
    def __init__(self, cursor, strings):
        self.name = strings[cursor.number()]
        self.attributes = {}
        for _ in range(cursor.number()):
            key = strings[cursor.number()]
            require(key not in self.attributes, f"{key} stands twice")
            self.attributes[key] = strings[cursor.number()]
        self.children = [Element(cursor, strings) for _ in range(cursor.number())]

    def named(self, name):
        return [child for child in self.children if child.name == name]


class Chunk:
    """`events` are pairs of a type's name and its fields; constants are looked up when they are used."""

    def __init__(self, data, at):
        (magic, major, _, self.size, pools, metadata, self.start_ns, self.duration_ns, self.start_ticks, self.frequency,
         flags) = struct.unpack_from(">IHHQQQQQQQI", data, at)
        require(magic == 0x464c5200 and major == 2 and flags == 1, f"no chunk at {at}")
        require(self.size <= len(data) - at, f"the chunk at {at} is cut")
        self.data, self.base = data, at
        self.types, self.constants = {}, {}
        self.read_metadata(self.event_at(metadata, 0))
        self.read_pools(self.event_at(pools, 1))
        self.events = list(self.read_events())

    def cursor(self, at):
        return Cursor(self.data, self.base + at, self.base + self.size)

    def event_at(self, at, wanted):
        cursor = self.cursor(at)
        size = cursor.number()
        cursor.end = self.base + at + size
        require(size > 0 and cursor.end <= self.base + self.size, f"an event of {size} bytes at {at}")
        require(cursor.number() == wanted, f"the event at {at} is not of type {wanted}")
        return cursor

    def read_metadata(self, cursor):
        cursor.number(), cursor.number(), cursor.number()
        strings = [cursor.text() for _ in range(cursor.number())]
        root = Element(cursor, strings)
        require(cursor.at == cursor.end, "the metadata has more bytes")
        for kind in root.named("metadata")[0].named("class"):
            number = int(kind.attributes["id"])
            require(number not in self.types, f"type {number} stands twice")
            self.types[number] = kind
        for kind in self.types.values():
            for part in kind.named("field") + kind.named("annotation"):
                require(int(part.attributes["class"]) in self.types, f"a type is not declared: {part.attributes}")

    def read_pools(self, cursor):
        for _ in range(3):  # time, duration, distance to another
            require(cursor.number() == 0, "pools elsewhere")
        cursor.byte()
        for _ in range(cursor.number()):
            pool = self.constants.setdefault(cursor.number(), {})
            for _ in range(cursor.number()):
                key = cursor.number()
                require(key != 0 and key not in pool, f"constant {key} stands twice")
                pool[key] = None
                kind = next(number for number, known in self.constants.items() if known is pool)
                pool[key] = self.fields(cursor, self.types[kind])
        require(cursor.at == cursor.end, "the pools have more bytes")

    def fields(self, cursor, kind):
        values = {}
        for field in kind.named("field"):
            number = int(field.attributes["class"])
            if field.attributes.get("dimension") == "1":
                values[field.attributes["name"]] = [self.value(cursor, field, number) for _ in range(cursor.number())]
            else:
                values[field.attributes["name"]] = self.value(cursor, field, number)
        return values

    def value(self, cursor, field, number):
        kind = self.types[number]
        if field.attributes.get("constantPool") == "true":
            return (number, cursor.number())
        if kind.attributes["name"] == "java.lang.String":
            return cursor.text()
        if kind.attributes["name"] == "boolean":
            return cursor.byte() != 0
        if kind.attributes["name"] in PRIMITIVES:
            return cursor.number()
        return self.fields(cursor, kind)

    def constant(self, reference):
        """The constant that a field names, or its only field where the type is simple; None: null."""
        number, key = reference
        if key == 0:
            return None
        require(key in self.constants.get(number, {}), f"constant {key} of type {number} is missing")
        fields = self.constants[number][key]
        return next(iter(fields.values())) if self.types[number].attributes.get("simpleType") == "true" else fields

    def read_events(self):
        at = 68
        while at < self.size:
            cursor = self.cursor(at)
            size = cursor.number()
            require(0 < size <= self.size - at, f"an event of {size} bytes at {at}")
            number = cursor.number()
            if number > 1:
                kind = self.types[number]
                require(kind.attributes.get("superType") == "jdk.jfr.Event", f"type {number} is no event")
                yield kind.attributes["name"], self.fields(cursor, kind)
                require(cursor.at == self.base + at + size, f"the event at {at} has another size")
            at += size

    # what events name

    def class_name(self, reference):
        return self.constant(self.constant(reference)["name"])

    def thread_name(self, reference):
        thread = self.constant(reference)
        return thread["javaName"] if thread else ""

    def frames(self, reference):
        """(class, method, line) from the innermost frame out."""
        stack = self.constant(reference)
        for frame in stack["frames"] if stack else []:
            method = self.constant(frame["method"])
            require(self.constant(method["descriptor"]).startswith("("), "no descriptor")
            yield self.class_name(method["type"]), self.constant(method["name"]), frame["lineNumber"]


def chunks(data):
    at = 0
    while at < len(data):
        chunk = Chunk(data, at)
        yield chunk
        at += chunk.size
