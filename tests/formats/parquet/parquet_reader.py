# SPDX-License-Identifier: Apache-2.0
"""A reader of Parquet files, written from parquet-format's README, Encodings.md and parquet.thrift alone.

read(path) gives (names, rows by column, metadata): every value, None for null.  It checks what the file
says of itself: sizes, counts, statistics, the page index.
"""
import ctypes
import ctypes.util
import struct

ZSTD = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
ZSTD.ZSTD_decompress.restype = ctypes.c_size_t
ZSTD.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]


class Thrift:
    """The compact protocol: structs as dictionaries by field number."""

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def number(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def value(self, kind):
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            return self.byte()
        if kind in (4, 5, 6):
            return self.number()
        if kind == 8:
            length = self.varint()
            self.at += length
            return self.data[self.at - length:self.at]
        if kind == 9:
            head = self.byte()
            count = head >> 4 if head >> 4 < 15 else self.varint()
            kind = head & 15
            return [self.byte() == 1 if kind in (1, 2) else self.value(kind) for _ in range(count)]
        assert kind == 12, kind
        return self.struct()

    def struct(self):
        fields, last = {}, 0
        while True:
            head = self.byte()
            if head == 0:
                return fields
            last = last + (head >> 4) if head >> 4 else self.number()
            fields[last] = self.value(head & 15)


def hybrid(data, at, width, count):
    """Runs and bit-packed groups."""
    out = []
    while len(out) < count:
        head = Thrift(data, at)
        run = head.varint()
        at = head.at
        if run & 1:
            length = (run >> 1) * width
            for group in range(at, at + length, width):
                bits = int.from_bytes(data[group:group + width], "little")
                out += [bits >> i * width & (1 << width) - 1 for i in range(8)]
        else:
            length = (width + 7) // 8
            out += [int.from_bytes(data[at:at + length], "little")] * (run >> 1)
        at += length
    return out[:count]


def deltas(data, at):
    """DELTA_BINARY_PACKED, modulo 2^64."""
    head = Thrift(data, at)
    block, minis, count, value = head.varint(), head.varint(), head.varint(), head.number()
    out = [value % 2**64] if count else []
    while len(out) < count:
        least = head.number()
        widths = [head.byte() for _ in range(minis)]
        for width in widths:
            if len(out) == count:
                break
            length = block // minis * width // 8
            bits = int.from_bytes(data[head.at:head.at + length], "little")
            head.at += length
            for i in range(min(block // minis, count - len(out))):
                value += least + (bits >> i * width & (1 << width) - 1)
                out.append(value % 2**64)
    return out


def plain(data, at, kind, count):
    if kind == 0:
        return [data[at + i // 8] >> i % 8 & 1 == 1 for i in range(count)]
    if kind == 2:
        return list(struct.unpack_from(f"<{count}Q", data, at))
    if kind == 5:
        return list(struct.unpack_from(f"<{count}d", data, at))
    out = []
    for _ in range(count):
        length, = struct.unpack_from("<I", data, at)
        out.append(data[at + 4:at + 4 + length])
        at += 4 + length
    return out


def page_at(data, at, codec):
    """(header, bytes, what follows)."""
    head = Thrift(data, at)
    header = head.struct()
    body = data[head.at:head.at + header[3]]
    assert len(body) == header[3]
    if codec == 6:
        out = ctypes.create_string_buffer(header[2] + 1)
        assert ZSTD.ZSTD_decompress(out, header[2], body, len(body)) == header[2]
        body = out.raw[:header[2]]
    return header, body, head.at + header[3]


def data_page(body, header, kind, optional, dictionary):
    count, encoding = header[5][1], header[5][2]
    at, present = 0, [1] * count
    if optional:
        length, = struct.unpack_from("<I", body, 0)
        present = hybrid(body[4:4 + length], 0, 1, count)
        at = 4 + length
    some = sum(present)
    if encoding == 8:
        values = [dictionary[i] for i in hybrid(body, at + 1, body[at], some)] if some else []
    elif encoding == 5:
        values = deltas(body, at)
    else:
        assert encoding == 0, encoding
        values = plain(body, at, kind, some)
    assert len(values) == some
    values = iter(values)
    return [next(values) if there else None for there in present]


def shown(value, kind, signed):
    """A bound's bytes as a value of the column."""
    if kind != 2:
        return value
    return int.from_bytes(value, "little", signed=signed)


def check_bounds(values, least, most):
    there = [v for v in values if v is not None]
    assert not there or (min(there) == least and max(there) == most), (least, most)


def read_chunk(data, chunk, element, out):
    meta = chunk[3]
    kind, codec, optional = meta[1], meta[4], element[3] == 1
    assert meta[3] == [element[4]] and meta[5] >= 0
    logical = element.get(10, {})
    signed = not (10 in logical and logical[10][2] is False)
    at, end, dictionary = meta.get(11, meta[9]), 0, []
    start = at
    if 11 in meta:
        header, body, at = page_at(data, at, codec)
        assert header[1] == 2 and header[7][2] == 0
        dictionary = plain(body, 0, kind, header[7][1])
    assert at == meta[9]
    column, places = [], []
    while len(column) < meta[5]:
        header, body, end = page_at(data, at, codec)
        assert header[1] == 0
        places.append((at, end - at, len(column)))
        column += data_page(body, header, kind, optional, dictionary)
        at = end
    assert at - start == meta[7] and len(column) == meta[5]
    if kind == 2 and signed:
        column = [v if v is None or v < 2**63 else v - 2**64 for v in column]
    statistics = meta[12]
    assert statistics[3] == sum(v is None for v in column)
    if 5 in statistics:
        check_bounds(column, shown(statistics[6], kind, signed), shown(statistics[5], kind, signed))
    locations = Thrift(data, chunk[4]).struct()[1]
    assert [(p[1], p[2], p[3]) for p in locations] == places
    if 6 in chunk:
        index = Thrift(data, chunk[6]).struct()
        starts = [p[2] for p in places] + [len(column)]
        for i, empty in enumerate(index[1]):
            page = column[starts[i]:starts[i + 1]]
            assert index[5][i] == sum(v is None for v in page)
            assert empty == all(v is None for v in page)
            if not empty:
                check_bounds(page, shown(index[2][i], kind, signed), shown(index[3][i], kind, signed))
    out += [v.decode() if isinstance(v, bytes) and element.get(6) == 0 else v for v in column]


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    assert data[:4] == data[-4:] == b"PAR1"
    length, = struct.unpack_from("<I", data, len(data) - 8)
    meta = Thrift(data, len(data) - 8 - length).struct()
    elements = meta[2][1:]
    columns = [[] for _ in elements]
    for group in meta[4]:
        assert len(group[1]) == len(elements)
        for chunk, element, out in zip(group[1], elements, columns):
            before = len(out)
            read_chunk(data, chunk, element, out)
            assert len(out) - before == group[3]
    assert all(len(c) == meta[3] for c in columns)
    return [e[4].decode() for e in elements], columns, meta
