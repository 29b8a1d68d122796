# SPDX-License-Identifier: Apache-2.0
"""A reader of ClickHouse's format Native, of the types that tables have."""
import struct


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def text(data, at):
    length, at = varint(data, at)
    return data[at:at + length], at + length


def column(data, at, kind, rows):
    if kind.startswith("Nullable("):
        nulls = data[at:at + rows]
        values, at = column(data, at + rows, kind[9:-1], rows)
        return [None if null else value for null, value in zip(nulls, values)], at
    if kind == "String":
        out = []
        for _ in range(rows):
            value, at = text(data, at)
            out.append(value.decode())
        return out, at
    code, size = {"UInt64": ("Q", 8), "Int64": ("q", 8), "UInt8": ("B", 1)}[kind]
    return list(struct.unpack_from(f"<{rows}{code}", data, at)), at + rows * size


def read(path):
    """(names, rows by column)."""
    with open(path, "rb") as file:
        data = file.read()
    at, names, columns = 0, [], []
    while at < len(data):
        count, at = varint(data, at)
        rows, at = varint(data, at)
        names = []
        for i in range(count):
            name, at = text(data, at)
            kind, at = text(data, at)
            names.append(name.decode())
            values, at = column(data, at, kind.decode(), rows)
            if i == len(columns):
                columns.append([])
            columns[i] += values
    return names, columns
