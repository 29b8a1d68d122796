#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A reader and a writer of Meta-TF made from the paper's Appendix B alone, to be compared with ours.

  paper_metatf.py TRACE DTD            prints the records, as `steptrace dump --records` does
  paper_metatf.py --write CLASS ORDER  writes a trace of trains.dtd (below) to standard output

Header and index are the C structs as printed: every int has 4 bytes.
"""
import re
import struct
import sys

TRAINS = """
tag.width = 1; tag.interpretation = none;
time.width = 2; time.interpretation = delta 100;
station.width = 1; station.interpretation = sectionOffset 2;
axle.interpretation = sectionStride 3 2;
begin : (tag, time) { tag.value = 4; }
section traffic 1 {
    passes : (tag, time, station, n*(load, axle)) {
        tag.value = 5;
        n.width = 1; n.interpretation = none;
        load.width = 1; load.interpretation = baseOffset 1000;
    }
    stop : (tag, time, vfield) { tag.value = 4; }
}
section stations 2 { station : (tag, vfield) { tag.value = 4; } }
section axles 3 { }
"""
WORDS = re.compile(r"//[^\n]*|/\*.*?\*/|\s+|(0x[0-9a-fA-F]+|-?\d+|\w+|[(){}:;,.*=])", re.S)


def parse(text):
    """{section number: {tag: (name, fields)}}; a field is (path, properties, repeated fields)."""
    words = [m[1] for m in WORDS.finditer(text) if m[1]]
    at = 0

    def take(expected=None):
        nonlocal at
        at += 1
        assert expected is None or words[at - 1] == expected, words[at - 1:at + 3]
        return words[at - 1]

    def value():
        parts = []
        while words[at] != ";":
            parts.append(take())
        take(";")
        return parts

    def tree():
        if words[at] == "(":
            take("(")
            parts = [tree()]
            while words[at] == ",":
                take(",")
                parts.append(tree())
            take(")")
            return ("group", parts)
        name = take()
        if words[at] == "*":
            take("*")
            return ("repeat", name, tree())
        if words[at] == ":":
            take(":")
            return ("named", name, tree())
        return ("name", name)

    def definitions():
        records, properties, sections = {}, {}, []
        while at < len(words) and words[at] != "}":
            if words[at].lower() == "section" and words[at + 1] != ":":
                take()
                name, number = take(), int(take())
                take("{")
                sections.append((name, number, *definitions()[:2]))
                take("}")
            elif words[at + 1] == ":":
                name = take()
                take(":")
                body, own = tree(), {}
                if at < len(words) and words[at] == "{":
                    take("{")
                    own = definitions()[1]
                    take("}")
                records[name] = (body, own)
            else:
                field = take()
                take(".")
                key = take()
                take("=")
                properties[field, key] = value()
        return records, properties, sections

    records, properties, sections = definitions()
    vfield = (("group", [("name", "length"), ("name", "data")]),
              {("length", "width"): ["1"], ("length", "interpretation"): ["none"],
               ("data", "width"): ["length", ".", "value"], ("data", "interpretation"): ["none"]})

    def flatten(body, scopes, names, prefix):
        if body[0] == "group":
            return [field for part in body[1] for field in flatten(part, scopes, names, prefix)]
        if body[0] == "repeat":
            (count,) = flatten(("name", body[1]), scopes, {}, prefix)
            return [(count[0], count[1], flatten(body[2], scopes, names, prefix))]
        name = body[1]
        kind = body[2][1] if body[0] == "named" else name
        if kind in names:
            inner, own = names[kind]
            return flatten(inner, [own, *scopes], {k: v for k, v in names.items() if k != kind},
                           f"{prefix}{name}.")
        get = lambda key: next((scope[name, key] for scope in scopes if (name, key) in scope), None)
        return [(prefix + name, {"width": get("width"), "interpretation": get("interpretation"),
                                 "name": name}, None)]

    def tables(own, scope):
        names = {**records, **own, "vfield": vfield}
        made = {}
        for group, scopes in ((records, [properties]), (own, [scope, properties])):
            for name, (body, inner) in group.items():
                if ("tag", "value") in inner:
                    tag = int(inner["tag", "value"][0], 0)
                    others = {k: v for k, v in names.items() if k != name}
                    fields = flatten(body, [inner, *scopes], others, "")
                    fields = [field for field in fields if field[0] != "tag"]
                    paths = [field[0] for field in fields]
                    made[tag] = (name, [
                        (path + (str(copies) if copies > 1 else ""), state, repeated)
                        for copies, (path, state, repeated) in
                        ((paths[:i + 1].count(field[0]), field) for i, field in enumerate(fields))])
        return made

    result = {0: ("", tables({}, {}))}
    for name, number, own, scope in sections:
        result[number] = (name, tables(own, scope) if own else None)
    return result


def shown(data):
    text = data.decode("utf-8", "replace")
    return f'"{text}"' if text.isprintable() and "\ufffd" not in text else f"x'{data.hex()}'"


class Trace:
    def __init__(self, data, dtd):
        self.data, self.dtd = data, dtd
        magic, self.bits, order, length = struct.unpack_from("<4sBBB", data)
        assert magic == b"\x7fMTF" and self.bits in (1, 2) and order in (1, 2)
        self.order = "<" if order == 1 else ">"
        count, self.start, self.records = struct.unpack_from(self.order + "3i", data, 16)
        self.index = [struct.unpack_from(self.order + "3i", data, 28 + length + 12 * i)
                      for i in range(count)]
        self.strides = {number: start for number, start, _ in self.index}
        self.previous = {}

    def number(self, at, width, signed=False):
        return int.from_bytes(self.data[at:at + width], "little" if self.order == "<" else "big",
                              signed=signed)

    def field(self, state, key, at):
        words, width = state["interpretation"], state["width"]
        kind = words[0]
        width = 0 if kind in ("default", "stride", "sectionStride") else int(width[0], 0)
        stored = self.number(at, width, kind in ("baseOffset", "delta"))
        if kind == "sectionStride":
            number, stride = int(words[1]), int(words[2])
            value = self.number(self.strides[number], stride)
            self.strides[number] += stride
        elif kind == "default":
            value = int(words[1], 0)
        elif kind == "baseOffset":
            value = int(words[1], 0) + stored
        elif kind == "delta":
            value = self.previous.setdefault(key, int(words[1], 0)) + stored
        elif kind == "stride":
            value = self.previous.setdefault(key, int(words[1], 0)) + int(words[2], 0)
        else:
            value = stored
        self.previous[key] = value % (1 << 64)
        return value % (1 << 64), at + width

    def fields(self, fields, section, at, text, last):
        for path, state, repeated in fields:
            if state["width"] and len(state["width"]) == 3:
                length = last[state["width"][0]]
                text.append(f"{path}={shown(self.data[at:at + length])}")
                at += length
                continue
            value, at = self.field(state, (section, state["name"]), at)
            last[state["name"]] = value
            text.append(f"{path}={value}")
            for _ in range(value if repeated else 0):
                inner = []
                at = self.fields(repeated, section, at, inner, dict(last))
                text.append(f"[{' '.join(inner)}]")
        return at

    def metadata(self, section, at):
        tag, number, what = self.data[at], self.data[at + 1], self.data[at + 2]
        values = [self.number(at + 3 + 4 * i, 4, i == 1) for i in range(2)]
        _, fields = self.dtd[section][1][tag]
        state = fields[number - 1][1]
        words = ["none", "baseOffset", "delta", "default", "sectionOffset", "stride", "sectionStride"]
        if what == 0:
            state["width"] = state["last"] = [str(values[0])]
            return at + 7
        count = 0 if what == 1 else 2 if what >= 6 else 1
        state["interpretation"] = [words[what - 1], *(str(v) for v in values[:count])]
        state["width"] = state.get("last", state["width"] or ["0"])
        if what in (3, 6):
            self.previous[section, state["name"]] = values[0]
        return at + 3 + 4 * count

    def print(self):
        found = 0
        for number, start, size in self.index:
            name, records = self.dtd[number]
            at = start
            while records is not None and at < start + size:
                tag, at = self.data[at], at + 1
                if tag == 1:
                    at += 1 + self.data[at]
                elif tag == 3:
                    at = self.metadata(number, at)
                else:
                    text, found = [], found + 1
                    at = self.fields(records[tag][1], number, at, text, {})
                    print(f"{name}{'.' if name else ''}{records[tag][0]} {' '.join(text)}")
            assert records is None or at == start + size
        assert found == self.records, (found, self.records)


def write(bits, order):
    sign = "<" if order == "little" else ">"
    traffic = b"".join([
        struct.pack(sign + "BhBhB", 4, 20, 3, 0, 0)[:3] + b"\x05hello",       # stop at 120
        struct.pack(sign + "BhBB", 5, -10, 6, 2) + b"\xff\x7f",                # passes at 110: 2 axles
        b"\x03\x05\x01\x00" + struct.pack(sign + "i", 1),                      # time takes 1 byte
        struct.pack(sign + "BbBB", 5, 5, 0, 0)])
    stations = b"\x04\x04Bern\x04\x06Zurich"
    axles = struct.pack(sign + "2H", 7000, 8000)
    start = 28 + 10 + 36
    places = [(1, start, len(traffic)), (2, start + len(traffic), len(stations)),
              (3, start + len(traffic) + len(stations), len(axles))]
    header = b"\x7fMTF" + bytes([bits, 1 if sign == "<" else 2, 10]) + bytes(9)
    header += struct.pack(sign + "3i", 3, start, 5) + b"trains.dtd"
    header += b"".join(struct.pack(sign + "3i", *place) for place in places)
    sys.stdout.buffer.write(header + traffic + stations + axles)


def main():
    if sys.argv[1] == "--write":
        write(int(sys.argv[2]), sys.argv[3])
    elif sys.argv[1] == "--dtd":
        print(TRAINS, end="")
    else:
        dtd = parse(open(sys.argv[2], encoding="utf-8").read())
        Trace(open(sys.argv[1], "rb").read(), dtd).print()


main()
