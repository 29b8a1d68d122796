# SPDX-License-Identifier: Apache-2.0
"""Reads what docs/formats/otlp.md describes."""
import collections

from protobuf_reader import packed, tables

KINDS = ["allocated_objects", "allocated_space", "inuse_objects", "inuse_space"]


def amounts(data):
    """Sums by kind, and of each kind by (class, outermost frame, ..., innermost frame)."""
    top = tables(data)
    [resources], [words] = top[1], top[2]
    words = tables(words)
    text = [value.decode() for value in words[5]]
    assert text[0] == "" and all(not words[table][0] for table in (1, 2, 3, 6, 7)), "no zero values"
    assert tables(words[4][0]) == {1: [bytes(16)], 2: [bytes(8)]}, "the zero link"
    functions = [text[tables(value).get(1, [0])[0]] for value in words[3]]
    lines = [tables(tables(value).get(3, [b""])[0]) for value in words[2]]
    frames = [functions[line.get(1, [0])[0]] for line in lines]
    stacks = [[frames[at] for at in packed(tables(value).get(1, [b""])[0])] for value in words[7]]
    classes = [tables(tables(value).get(2, [b""])[0]).get(1, [b""])[0].decode() for value in words[6]]
    keys = [text[tables(value).get(1, [0])[0]] for value in words[6]]
    assert set(keys) <= {"", "class", "profile.frame.type"}, set(keys)
    [scope] = tables(resources)[2]
    found = {}
    for profile in tables(scope)[2]:
        parts = tables(profile)
        kind = [text[value[0]] for value in tables(parts[1][0]).values()]
        assert kind[1] == ("bytes" if "space" in kind[0] else "count"), kind
        sums = found[kind[0]] = collections.Counter()
        for sample in parts[2]:
            of = tables(sample)
            [attribute], [value] = packed(of[2][0]), packed(of[4][0])
            sums[(classes[attribute], *reversed(stacks[of[1][0]]))] += value
    assert list(found) == KINDS, list(found)
    return found
