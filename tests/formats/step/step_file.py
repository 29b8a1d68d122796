# SPDX-License-Identifier: Apache-2.0
"""STEP files with blocks in columns, read as docs/formats/step.md says: written from that page alone.

No checksums (XXH3 is not in Python's library), nor zstd, trees and the transform `live`.
"""
import lzma
import struct
import zlib

from step_language import parse
from step_transforms import Bytes, read_form, undo

HEADER, FOLLOWS = 96, (5, 9, 10, 11, 15, 16)  # the transforms that go by other columns


def decompress(method, content, length):
    if method == 0:
        return content
    if method == 2:
        return zlib.decompress(content)
    assert method == 3, f'compression {method}'
    size = min(max(length, 4096), 64 << 20)
    return lzma.decompress(content, lzma.FORMAT_RAW, filters=[
        {'id': lzma.FILTER_LZMA2, 'dict_size': size, 'lc': 4, 'lp': 0, 'pb': 0}])


class Node:
    """A field's value: `kind` and the leaf of its column, and what is in it."""

    def __init__(self, kind, owner, leaf=None, children=(), record=None):
        self.kind, self.owner, self.leaf, self.children, self.record = kind, owner, leaf, children, record

    def name(self, further=0):
        return (*self.owner, self.leaf + further)


class Plan:
    """The columns of each record's fields, by record and field."""

    def __init__(self, records):
        self.records, self.nodes = records, {}
        for record in records:
            for index, field in enumerate(record.fields):
                shared = field.declared is not record and not field.modified
                owner = (field.declared.number if shared else record.number, index)
                if owner not in self.nodes:
                    self.leaf, self.owner = 0, owner
                    self.nodes[owner] = self.build(field, 0, [], False)
                self.nodes[record.number, index] = self.nodes[owner]

    def next_leaf(self):
        self.leaf += 1
        return self.leaf - 1

    def is_numbered(self, field, depth, outer):
        """`outer`: of the records by value around it, what is said of the whole."""
        path = '.'.join(['element'] * depth)
        keys = [key for key, _ in field.rules(path)] if not path or path in field.parts else []
        whole = outer if not path else []
        is_usual = any(key in ('default', 'constant') for key in keys + whole)
        return 'numbered' in keys or (depth < field.depth and is_usual)

    def build(self, field, depth, outer, in_numbered):
        compound = depth < field.depth or (not isinstance(field.kind, str) and not field.is_identifier())
        if compound and not in_numbered and self.is_numbered(field, depth, outer):
            value = self.build(field, depth, outer, True)
            return Node('numbered', self.owner, self.next_leaf(), [value])
        if depth < field.depth:
            leaf = self.next_leaf()
            return Node('array', self.owner, leaf, [self.build(field, depth + 1, outer, False)])
        if field.kind == 'int' or field.is_identifier():
            if field.kind in ('string', 'data'):
                return self.build_bytes()
            return Node('value', self.owner, self.next_leaf())
        if field.kind in ('string', 'data'):
            return self.build_bytes()
        inner = [key for key, _ in field.rules()] if depth == 0 else []
        inner = inner + (outer if depth == 0 else [])
        if not field.is_variant():
            return self.build_record(field.kind, inner)
        leaf = self.next_leaf()
        types = [record for record in self.records if record.extends(field.kind)]
        return Node('variant', self.owner, leaf, [self.build_record(record, inner) for record in types])

    def build_bytes(self):
        leaf = self.next_leaf()
        self.next_leaf()
        return Node('bytes', self.owner, leaf)

    def build_record(self, record, outer):
        return Node('record', self.owner, None, [self.build(field, 0, outer, False) for field in record.fields],
                    record)

    def single(self, record, index):
        node = self.nodes.get((record, index))
        return node if node is not None and node.kind == 'value' else None


class Block:
    """A block in columns; `records()` are its records, as (type, [values])."""

    def __init__(self, plan, header, payload):
        self.plan, self.used = plan, []
        content = Bytes(payload)
        pairs = content.varint()
        self.types = [tuple(content.varints(2)) for _ in range(pairs)]
        assert content.at == header['summary'] and sum(n for _, n in self.types) == header['records']
        directory = Bytes(content.take(content.varint()))
        numbers = self.coding(directory, content)
        self.columns, self.values, self.counts = {}, {}, {}
        for _ in range(directory.varint()):
            name = tuple(directory.varints(3))
            self.columns[name] = self.coding(directory, content)
        directory.end()
        content.end()
        self.sequence = [0] * header['records']
        if len(self.types) > 1:
            self.sequence = self.decode(numbers, header['records'], None)
        for record, count in self.types:
            for node in {id(node): node for node in self.nodes_of(record)}.values():
                self.counts[id(node)] = self.counts.get(id(node), 0) + count

    def coding(self, directory, content):
        """Transforms, form, its parameters, the bytes before the form."""
        transforms = []
        for _ in range(directory.varint()):
            number = directory.varint()
            transforms.append((number, directory.varints(directory.varint())))
        form = directory.varint()
        parameters = directory.varints(directory.varint())
        method, length, stored = directory.varints(3)
        raw = decompress(method, content.take(stored), length)
        assert len(raw) == length
        return transforms, form, parameters, raw

    def nodes_of(self, record):
        return [self.plan.nodes[record, i] for i in range(len(self.plan.records[record].fields))]

    def decode(self, coding, count, series):
        transforms, form, parameters, raw = coding
        values = read_form(form, parameters, raw, count)
        for number, given in reversed(transforms):
            self.used.append(number)
            values = undo(number, given, values, series)
        return values

    def column(self, name, count):
        """The values of a column of numbers, each once decoded."""
        if name not in self.values:
            coding, series = self.columns[name], None
            self.values[name] = None  # a circle would find it
            for number, parameters in coding[0]:
                if number in FOLLOWS:
                    series = self.linked(name, count, parameters) if number >= 15 else \
                        self.series(name, count, number, parameters[0])
            self.values[name] = self.decode(coding, count, series)
        assert self.values[name] is not None and len(self.values[name]) == count
        return self.values[name]

    def own_node(self, name):
        """The node whose only column that is: a single value of a record."""
        node = self.plan.nodes[name[:2]]
        return node if node.kind == 'value' and node.name() == name else None

    def single_values(self, node):
        return iter(self.column(node.name(), self.counts[id(node)])) if id(node) in self.counts else iter(())

    def series(self, name, count, transform, parameter):
        if transform in (5, 9) and parameter & 1:
            return self.column((*name[:2], parameter >> 1), count)
        mine = self.own_node(name)
        if mine is None:  # nested: no latest value, and nothing is pushed
            return [0] * count
        if transform == 10:
            pushing = self.plan.records[parameter]
            return [record.extends(pushing) for record in self.sequence_records() if self.has(record, mine)]
        if transform == 11:
            other = self.plan.nodes[parameter >> 24, parameter & 0xffffff]
            return self.latest(mine, other)
        found, out = {}, []
        for record in self.sequence_records():
            other = self.plan.single(record.number, parameter >> 1)
            if other is None:
                continue
            if id(other) not in found:
                found[id(other)] = self.single_values(other)
            key = next(found[id(other)])
            if self.has(record, mine):
                out.append(key)
        return out

    def linked(self, name, count, parameters):
        """For each value: key, holder, newest; 0 for what there is not."""
        holder, newest = parameters[0] >> 24, parameters[1]
        nothing = [0] * count
        return list(zip(self.series(name, count, 5, 2 * (parameters[0] & 0xffffff)),
                        self.series(name, count, 5, 2 * (holder - 1)) if holder else nothing,
                        self.series(name, count, 11, newest - 1) if newest else nothing))

    def latest(self, mine, other):
        values = self.single_values(other) if other.name() in self.columns else iter(())
        last, out = 0, []
        for record in self.sequence_records():
            if self.has(record, mine):
                out.append(last)
            if self.has(record, other) and other.name() in self.columns:
                last = next(values)
        return out

    def has(self, record, node):
        return any(other is node for other in self.nodes_of(record.number))

    def sequence_records(self):
        return [self.plan.records[self.types[local][0]] for local in self.sequence]

    def read(self, node, count):
        """The values of a node, one after the other."""
        return getattr(self, 'read_' + node.kind)(node, count)

    def read_value(self, node, count):
        return self.column(node.name(), count)

    def read_bytes(self, node, count):
        lengths = self.column(node.name(), count)
        transforms, form, _, raw = self.columns[node.name(1)]
        assert form == 0 and all(number == 14 for number, _ in transforms)
        flags = transforms[0][1][0] if transforms else 0
        self.used += [14] if flags else []
        content, out, given = Bytes(raw), [], []
        numbers = content.varints(count) if flags & 1 else [0] * count
        shared = content.varints(numbers.count(0)) if flags & 2 else [0] * count
        for number, length in zip(numbers, lengths):
            if number == 0:
                start = given[-1][:shared[len(given)]] if given else b''
                given.append(start + content.take(length - len(start)))
            out.append(given[number - 1])
            assert len(out[-1]) == length
        content.end()
        return out

    def read_array(self, node, count):
        lengths = self.column(node.name(), count)
        elements = iter(self.read(node.children[0], sum(lengths)))
        return [[next(elements) for _ in range(length)] for length in lengths]

    def read_record(self, node, count):
        columns = [self.read(child, count) for child in node.children]
        return [(node.record, list(values)) for values in zip(*columns)] if columns else [(node.record, [])] * count

    def read_variant(self, node, count):
        types = self.column(node.name(), count)
        values = {child.record.number: iter(self.read(child, types.count(child.record.number)))
                  for child in node.children}
        return [next(values[number]) + ('variant',) for number in types]

    def read_numbered(self, node, count):
        value = node.children[0]
        if node.name() not in self.columns:
            return self.read(value, count)
        numbers, seen, out = self.column(node.name(), count), 0, []
        given = self.read(value, numbers.count(0))
        for number in numbers:
            assert number <= seen
            seen += number == 0
            out.append(given[number - 1 if number else seen - 1])
        return out

    def records(self):
        values = {}
        for local in self.sequence:
            record = self.types[local][0]
            out = []
            for node in self.nodes_of(record):
                if id(node) not in values:
                    values[id(node)] = iter(self.read(node, self.counts[id(node)]))
                out.append(next(values[id(node)]))
            yield self.plan.records[record], out


class Trace:
    """`entries` by (record number, id); `streams`: records in order, by stream; `used`: transforms."""

    def __init__(self, path):
        with open(path, 'rb') as file:
            content = file.read()
        assert content[:8] == b'\x9eSTP\r\n\x1a\n' and content[8:14] == b'\1\0\0\0\x20\0'
        self.entries, self.streams, self.used, self.records = {}, {}, set(), None
        at = 32
        while content[at:at + 4] == b'\xb5\x62\xd3\x0c':
            kind, layout, summary, _, length = struct.unpack_from('<BB2xIIQ', content, at + 4)
            records, stream, first = struct.unpack_from('<3Q', content, at + 32)
            payload = content[at + HEADER:at + HEADER + length]
            self.block(kind, layout, {'summary': summary, 'records': records}, stream, first, payload)
            at += HEADER + length

    def block(self, kind, layout, header, stream, first, payload):
        if kind == 1 and self.records is None:
            content = Bytes(payload)
            method, length = content.varints(2)
            text = decompress(method, payload[content.at:], length)
            self.records = parse(text.decode())
            self.plan = Plan(self.records)
        if kind not in (3, 4):
            return
        assert layout == 1, 'only columns are read here'
        block = Block(self.plan, header, payload)
        for number, record in enumerate(block.records()):
            if kind == 3:
                self.entries[stream, first + number + 1] = record
            else:
                self.streams.setdefault(stream, []).append(record)
        self.used.update(block.used)
