# SPDX-License-Identifier: Apache-2.0
"""Reads CTF 1.8 traces: as much of TSDL and of packets as is in traces of byte-aligned little-endian fields.

Written from the specification (diamon.org/ctf/v1.8.3), without a look at the writer.
"""
import os
import re

TOKEN = re.compile(r'\s+|/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|:=|[A-Za-z_][A-Za-z0-9_]*|-?\d+|[{}()\[\];:=,.<>]', re.S)
MAGIC = 0xC1FC1FC1


class Integer:
    def __init__(self, settings):
        self.size = int(settings["size"])
        self.signed = settings.get("signed") in ("true", "TRUE", "1")
        self.base = {"16": 16, "hex": 16}.get(settings.get("base"), 10)
        self.clock = settings.get("map")
        assert self.size % 8 == 0 and int(settings.get("align", "8")) == 8

    def read(self, data, at, _scope):
        end = at + self.size // 8
        assert end <= len(data), "a field goes past its packet"
        return int.from_bytes(data[at:end], "little", signed=self.signed), end


class String:
    def read(self, data, at, _scope):
        end = data.index(b"\0", at)
        return data[at:end], end + 1


class Enum:
    def __init__(self, integer, labels):
        self.integer, self.labels = integer, labels

    def read(self, data, at, scope):
        value, at = self.integer.read(data, at, scope)
        return (self.labels[value], value), at


class Sequence:
    def __init__(self, element, length):
        self.element, self.length = element, length

    def read(self, data, at, scope):
        values = []
        for _ in range(scope[self.length]):
            value, at = self.element.read(data, at, scope)
            values.append(value)
        return values, at


class Struct:
    def __init__(self, fields):
        self.fields = fields
        assert len({name for name, _ in fields}) == len(fields), "two fields of one name"

    def read(self, data, at, _scope):
        values = {}
        for name, kind in self.fields:
            values[name], at = kind.read(data, at, values)
        return values, at


class Variant:
    def __init__(self, tag, options):
        self.tag, self.options = tag, dict(options)

    def read(self, data, at, scope):
        return self.options[scope[self.tag][0]].read(data, at, scope)


class Metadata:
    """Parses a text of TSDL: `trace`, `clock`, `env`, `streams`, `events` by (stream, id)."""

    def __init__(self, text):
        assert text.startswith("/* CTF 1.8 */")
        self.tokens, end = [], 0
        for match in TOKEN.finditer(text):
            assert match.start() == end, text[end:end + 50]
            end = match.end()
            if not match.group().isspace() and match.group()[:2] not in ("/*", "//"):
                self.tokens.append(match.group())
        assert end == len(text), text[end:end + 50]
        self.at, self.names, self.structs = 0, {"string": String()}, {}
        self.trace, self.clock, self.env, self.streams, self.events = {}, {}, {}, {}, {}
        while self.at < len(self.tokens):
            self.block()

    def take(self, wanted=None):
        token = self.tokens[self.at]
        assert wanted in (None, token), (wanted, self.tokens[self.at - 5:self.at + 5])
        self.at += 1
        return token

    def next_is(self, token):
        if self.tokens[self.at] == token:
            self.at += 1
            return True
        return False

    def block(self):
        word = self.take()
        if word == "typealias":
            kind = self.kind()
            self.take(":=")
            self.names[self.take()] = kind
        elif word == "struct":
            self.at -= 1
            self.kind()
        else:
            found = self.settings()
            if word == "stream":
                self.streams[int(found["id"])] = found
            elif word == "event":
                self.events[int(found["stream_id"]), int(found["id"])] = found
            else:
                setattr(self, word, found)
        self.take(";")

    def settings(self):
        found = {}
        self.take("{")
        while not self.next_is("}"):
            key = self.take()
            while self.next_is("."):
                key += "." + self.take()
            if self.next_is(":="):
                found[key] = self.kind()
            else:
                self.take("=")
                found[key] = self.text()
            self.take(";")
        return found

    def text(self):
        value = self.take()
        while self.next_is("."):
            value += "." + self.take()
        return re.sub(r"\\(.)", r"\1", value[1:-1]) if value[0] == '"' else value

    def kind(self):
        word = self.take()
        if word == "integer":
            return Integer(self.settings())
        if word == "struct":
            name = None if self.tokens[self.at] == "{" else self.take()
            if self.tokens[self.at] == "{":
                kind = Struct(self.declarations())
                if name:
                    assert name not in self.structs
                    self.structs[name] = kind
                return kind
            return self.structs[name]
        if word == "enum":
            return self.enum()
        if word == "variant":
            self.take("<")
            tag = self.take()
            self.take(">")
            return Variant(tag, self.declarations())
        return self.names[word]

    def enum(self):
        self.take(":")
        integer, labels = self.kind(), {}
        self.take("{")
        while not self.next_is("}"):
            name = self.take()
            self.take("=")
            number = int(self.take())
            assert number not in labels and name not in labels.values()
            labels[number] = name
            self.next_is(",")
        return Enum(integer, labels)

    def declarations(self):
        found = []
        self.take("{")
        while not self.next_is("}"):
            kind, name = self.kind(), self.take()
            while self.next_is("["):
                kind = Sequence(kind, self.take())
                self.take("]")
            self.take(";")
            found.append((name, kind))
        return found


class Event:
    def __init__(self, stream, instance, name, identifier, time, fields):
        self.stream, self.instance, self.name, self.id = stream, instance, name, identifier
        self.time, self.fields = time, fields


class Trace:
    def __init__(self, directory):
        with open(os.path.join(directory, "metadata"), encoding="utf-8") as file:
            self.metadata = Metadata(file.read())
        self.files = sorted(name for name in os.listdir(directory) if name != "metadata")
        self.directory = directory
        self.discarded = 0
        assert self.metadata.trace["byte_order"] == "le"

    def packets(self, data):
        """The events' bytes and the stream of each packet; sizes, order and times are checked."""
        at, number, last = 0, 0, 0
        while at < len(data):
            head, end = self.metadata.trace["packet.header"].read(data, at, {})
            assert head["magic"] == MAGIC
            stream = self.metadata.streams[head["stream_id"]]
            context, end = stream["packet.context"].read(data, end, {})
            assert context["packet_size"] >= context["content_size"] > 0 and context["packet_size"] % 8 == 0
            assert context["packet_seq_num"] == number
            if "timestamp_begin" in context:
                assert last <= context["timestamp_begin"] <= context["timestamp_end"]
                last = context["timestamp_end"]
            yield head, context, data[end:at + context["content_size"] // 8]
            at += context["packet_size"] // 8
            number += 1
        assert at == len(data)

    def events(self):
        for name in self.files:
            with open(os.path.join(self.directory, name), "rb") as file:
                data = file.read()
            lost = 0
            for head, context, body in self.packets(data):
                lost = context["events_discarded"]
                yield from self.packet_events(head, context, body)
            self.discarded += lost

    def packet_events(self, head, context, body):
        stream, at, last = self.metadata.streams[head["stream_id"]], 0, context.get("timestamp_begin", 0)
        while at < len(body):
            header, at = stream["event.header"].read(body, at, {})
            identifier = None
            if "event.context" in stream:
                identifier, at = stream["event.context"].read(body, at, {})
                identifier = identifier["id"]
            event = self.metadata.events[head["stream_id"], header["id"]]
            time = header.get("timestamp", 0)
            assert last <= time <= context.get("timestamp_end", 0) or not time
            last = time
            fields, at = event["fields"].read(body, at, {})
            yield Event(head["stream_id"], head["stream_instance_id"], event["name"], identifier, time,
                        (event["fields"], fields))
