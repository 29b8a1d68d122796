#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""read_traces.py STEPTRACE MUTATE_STEP FILE...: what an independent reader finds in a trace is what StepTrace
exports as JSON lines, of a copy of each file by columns that is not compressed.

  TRANSFORMS:FILE   of the file itself as well: it has these transforms (numbers, with commas)
"""
import json
import os
import subprocess
import sys
import tempfile

from step_file import Trace


def number(field, value):
    return value if field.is_unsigned() or value < 1 << 63 else value - (1 << 64)


def as_json(trace, field, depth, value, in_entry):
    if depth < field.depth:
        return [as_json(trace, field, depth + 1, item, in_entry) for item in value]
    if field.kind == 'int':
        return number(field, value)
    if field.kind == 'string':
        return value.decode('utf-8', 'replace')
    if field.kind == 'data':
        return {'hex': value.hex()}
    if field.is_identifier():
        if in_entry or value == 0:
            return value if in_entry else None
        entry = trace.entries.get((field.kind.number, value))
        return {'$id': value, **(record_as_json(trace, *entry, True) if entry else {})}
    named = {'$record': value[0].name} if len(value) == 3 else {}
    return {**named, **record_as_json(trace, *value[:2], in_entry)}


def record_as_json(trace, record, values, in_entry=False):
    return {field.name: as_json(trace, field, 0, value, in_entry) for field, value in zip(record.fields, values)}


def compare(steptrace, path, wanted):
    subprocess.run([steptrace, 'convert', path, '-o', 'trace.jsonl'], check=True)
    with open('trace.jsonl', encoding='utf-8') as lines:
        theirs = [json.loads(line) for line in lines]
    trace = Trace(path)
    ours = [{'$record': record.name, **record_as_json(trace, record, values)}
            for _, records in sorted(trace.streams.items()) for record, values in records]
    if len(trace.streams) > 1:  # which merge is not looked at here
        ours.sort(key=json.dumps)
        theirs.sort(key=json.dumps)
    for i, (mine, other) in enumerate(zip(ours, theirs)):
        assert mine == other, f'{path}, record {i}: {mine} is {other}'
    assert len(ours) == len(theirs), f'{path}: {len(ours)} records are {len(theirs)}'
    assert wanted <= trace.used, f'{path} has the transforms {sorted(trace.used)} alone'
    print(f'{os.path.basename(path)}: {len(ours)} records, transforms {sorted(trace.used)}')


def main():
    steptrace, mutate = (os.path.realpath(path) for path in sys.argv[1:3])
    paths = [argument.rpartition(':') for argument in sys.argv[3:]]
    paths = [(os.path.realpath(path), {int(word) for word in words.split(',') if word}) for words, _, path in paths]
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        for path, wanted in paths:
            if wanted:
                compare(steptrace, path, wanted)
            subprocess.run([mutate, 'plain', path, 'columns.step'], check=True)
            compare(steptrace, 'columns.step', set())


if __name__ == '__main__':
    main()
