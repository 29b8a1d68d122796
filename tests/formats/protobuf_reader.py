# SPDX-License-Identifier: Apache-2.0
"""Messages of Protocol Buffers, read by their encoding alone."""
import collections


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    """Pairs of a field's number and its value: an int, or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 1:
            value, at = int.from_bytes(data[at:at + 8], "little"), at + 8
        else:
            value, at = varint(data, at)
        if key & 7 == 2:
            assert at + value <= len(data), "a field is cut"
            value, at = data[at:at + value], at + value
        elif key & 7 not in (0, 1):
            raise AssertionError(f"wire type {key & 7}")
        yield key >> 3, value
    assert at == len(data), "a message is cut"


def tables(data):
    """Lists of values by the number of their field."""
    found = collections.defaultdict(list)
    for number, value in fields(data):
        found[number].append(value)
    return found


def packed(data):
    at, values = 0, []
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values
